/* tests/test_quantize.c - weights-tools/quantize as its users meet it; the mixture against what llama.cpp's own
 * quantizer chose. */
#include "quantize_files.h"
#include "kernels/encode.h"
#include "weights-tools/mixture.h"
#include "program.h"
#include "test.h"
#include "base/paths.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the mixture ---- */

/* What llama-quantize of llama.cpp (llama-cpp-python 0.3.36) gave models of random_model.c with rows of 256: a digit
 * for the bits of attn_v and ffn_down in each layer. */
static const char more_24[] = "666??6??6??6??6??6??6666", more_8[] = "6??6??66";
static const char more_80[] = "6666666666??6??6??6??6??6??6??6??6??6??6??6??6??6??6??6??6??6??6??6??66666666666";

typedef struct {
    const char *mixture, *arch;
    int layers, heads, kv_heads, tied;
    int v, down, other, embedding, output; /* v and down: the type where the pattern has a '?' */
    const char *pattern;                   /* NULL: all alike */
} Choice;

static const Choice choices[] = {
    {"Q4_K_M", "llama", 24, 4, 2, 0, TENSOR_Q4_K, TENSOR_Q4_K, TENSOR_Q4_K, TENSOR_Q4_K, TENSOR_Q6_K, more_24},
    {"Q5_K_M", "llama", 24, 4, 2, 0, TENSOR_Q5_K, TENSOR_Q5_K, TENSOR_Q5_K, TENSOR_Q5_K, TENSOR_Q6_K, more_24},
    {"Q4_K_M", "llama", 8, 8, 8, 1, TENSOR_Q4_K, TENSOR_Q4_K, TENSOR_Q4_K, TENSOR_Q6_K, 0, more_8},
    {"Q4_K_M", "llama", 80, 4, 2, 0, TENSOR_Q5_K, TENSOR_Q4_K, TENSOR_Q4_K, TENSOR_Q4_K, TENSOR_Q6_K, more_80},
    {"Q4_K_M", "llama", 80, 4, 4, 0, TENSOR_Q4_K, TENSOR_Q4_K, TENSOR_Q4_K, TENSOR_Q4_K, TENSOR_Q6_K, more_80},
    {"Q5_K_M", "llama", 80, 4, 2, 0, TENSOR_Q5_K, TENSOR_Q5_K, TENSOR_Q5_K, TENSOR_Q5_K, TENSOR_Q6_K, more_80},
    {"q4_0", "llama", 24, 4, 2, 0, TENSOR_Q4_0, TENSOR_Q4_0, TENSOR_Q4_0, TENSOR_Q4_0, TENSOR_Q6_K, NULL},
    {"Q4_0", "llama", 8, 8, 8, 1, TENSOR_Q4_0, TENSOR_Q4_0, TENSOR_Q4_0, TENSOR_Q6_K, 0, NULL},
    {"Q6_K", "llama", 24, 4, 2, 0, TENSOR_Q6_K, TENSOR_Q6_K, TENSOR_Q6_K, TENSOR_Q6_K, TENSOR_Q6_K, NULL},
    {"Q8_0", "llama", 8, 8, 8, 1, TENSOR_Q8_0, TENSOR_Q8_0, TENSOR_Q8_0, TENSOR_Q8_0, 0, NULL},
    {"F16", "llama", 8, 8, 8, 1, TENSOR_F16, TENSOR_F16, TENSOR_F16, TENSOR_F16, 0, NULL},
    {"BF16", "roformer", 8, 8, 8, 1, TENSOR_BF16, TENSOR_BF16, TENSOR_BF16, TENSOR_BF16, 0, NULL},
};

static void add(Source *s, const char *name, int layer, int n_dims) {
    static const float zeros[512];
    char full[80];
    snprintf(full, sizeof full, name, layer);
    Item i = {.n_dims = n_dims, .shape = {n_dims > 1 ? 2 : 256, 256}, .rows = n_dims > 1 ? 2 : 1, .cols = 256};
    i.from = (Matrix){.type = TENSOR_F32, .rows = i.rows, .cols = 256, .data = zeros};
    CHECK(source_add(s, full, &i) == 0);
}

static void check_choice(const Choice *c) {
    Source s = {.is_gguf = 1, .config = {.n_layers = c->layers, .n_heads = c->heads, .n_kv_heads = c->kv_heads}};
    const Report quiet = {0};
    snprintf(s.config.arch, sizeof s.config.arch, "%s", c->arch);
    add(&s, "token_embd.weight", 0, 2);
    add(&s, "token_types.weight", 0, 2);
    if (!c->tied) add(&s, "output.weight", 0, 2);
    for (int l = 0; l < c->layers; l++) {
        static const char *const names[] = {"blk.%d.attn_norm.weight",   "blk.%d.attn_q.weight", "blk.%d.attn_v.weight",
                                            "blk.%d.ffn_down.weight",    "blk.%d.attn_v.bias",
                                            "blk.%d.attn_output.weight", "blk.%d.ffn_up.weight"};
        for (int k = 0; k < 7; k++) add(&s, names[k], l, k == 0 || k == 4 ? 1 : 2);
    }
    const Mixture *m = mixture_find(c->mixture);
    CHECK(m && mixture_apply(m, &s, &quiet) == 0);
    for (size_t i = 0; m && i < s.n_items; i++) {
        const Item *t = &s.items[i];
        int layer = 0, want = c->other;
        int more = sscanf(t->name, "blk.%d.", &layer) == 1 && c->pattern && c->pattern[layer] == '6';
        if (strcmp(t->name, "token_embd.weight") == 0) want = c->embedding;
        else if (strcmp(t->name, "output.weight") == 0) want = c->output;
        else if (t->n_dims == 1 || strcmp(t->name, "token_types.weight") == 0) want = TENSOR_F32;
        else if (strstr(t->name, "attn_v.weight")) want = more ? TENSOR_Q6_K : c->v;
        else if (strstr(t->name, "ffn_down")) want = more ? TENSOR_Q6_K : c->down;
        if (t->type != want)
            printf("    %s of %d layers: %s is %s\n", c->mixture, c->layers, t->name, quant_format(t->type)->name);
        CHECK(t->type == want);
    }
    source_close(&s);
}

static void mixtures(void) {
    CHECK(strlen(more_24) == 24 && strlen(more_80) == 80 && strlen(more_8) == 8);
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) check_choice(&choices[i]);
    CHECK(!mixture_find("Q4_K") && !mixture_find("") && !mixture_find("Q8_00") &&
          mixture_find("q4_k_m") == mixture_find("Q4_K_M"));
    for (int i = 0; mixture_row(i); i++) CHECK(mixture_find(mixture_row(i)->name) == mixture_row(i));
}

/* ---- every type from every format ---- */

static void formats(void) {
    Model one, other, copied;
    build_inputs(&quantize_wide);
    if (!model_opened(&copied, at(inputs[1]))) return;
    for (int t = 0; mixture_row(t); t++) {
        const char *type = mixture_row(t)->name;
        CHECK(tool("", "quantize", "%s %s %s -q", at(inputs[0]), at("one.gguf"), type) == 0 && *said == 0 && *out == 0);
        if (!model_opened(&one, at("one.gguf"))) continue;
        const Tensor *k = weights_find(&one.weights, "blk.0.attn_k.weight");
        const Tensor *v = weights_find(&one.weights, "blk.2.attn_v.weight");
        int64_t file_type = -1;
        const Mixture *m = mixture_row(t);
        CHECK(k && v && k->type == m->type &&
              v->type == (m->more ? m->more : m->early > 2 ? m->early_v : m->v ? m->v : m->type));
        CHECK(meta_integer(weights_meta(&one.weights, "general.file_type"), &file_type) &&
              file_type == mixture_row(t)->file_type);
        for (int i = 1; i < N_INPUTS && t % 3 == 0; i++) { /* which input it was the encoder does not know */
            CHECK(tool("", "quantize", "%s %s %s -q %s", at(inputs[i]), at("other.gguf"), type, tokenizer_of(i)) == 0 &&
                  *said == 0);
            if (!model_opened(&other, at("other.gguf"))) continue;
            /* Q8_0 stays what it was: its blocks have the scale 1/256, which is not always their largest value's */
            int same = same_tensors(i == 1 && m->type == TENSOR_Q8_0 ? &copied.weights : &one.weights, &other.weights);
            if (!same) printf("    %s from %s\n", type, inputs[i]);
            CHECK(same);
            model_close(&other);
        }
        model_close(&one);
    }
    model_close(&copied);
    CHECK(leftovers() == 0);
}

/* A row of the new file is quant_encode's of the old one's row. */
static void rows(void) {
    Weights a, b;
    char err[300];
    float x[256];
    uint8_t bytes[1024];
    build_gguf(at("m.gguf"), &quantize_wide, TENSOR_F32);
    CHECK(tool("", "quantize", "%s %s Q4_K_M", at("m.gguf"), at("q.gguf")) == 0 && said_line("7 F32, 19 Q4_K, 3 Q6_K"));
    if (weights_open(&a, at("m.gguf"), err, sizeof err) || weights_open(&b, at("q.gguf"), err, sizeof err)) {
        CHECK(!"opens");
        return;
    }
    for (size_t i = 0; i < a.n_tensors; i++) {
        const Tensor *t = &a.tensors[i], *q = weights_find(&b, t->name);
        if (!q || t->n_dims < 2) continue;
        Matrix m = {.type = TENSOR_F32, .rows = (size_t)t->shape[0], .cols = 256, .data = t->data};
        size_t row = q->size / m.rows;
        for (size_t r = 0; r < m.rows; r += 37) {
            matrix_row(x, &m, r);
            CHECK(quant_encode(q->type, bytes, x, 256) == 0 && memcmp(bytes, q->data + r * row, row) == 0);
        }
    }
    weights_close(&a);
    weights_close(&b);
}

/* Every key of a GGUF file is there again, byte for byte, but the two that say what the tensors are. */
static void keys(void) {
    Weights a, b;
    char err[300];
    const char *from = "model/tales-1m.gguf";
    CHECK(tool("", "quantize", "%s %s Q4_0 -q", from, at("q.gguf")) == 0);
    if (weights_open(&a, from, err, sizeof err) || weights_open(&b, at("q.gguf"), err, sizeof err)) {
        CHECK(!"opens");
        return;
    }
    int64_t type = 0, version = 0;
    CHECK(meta_integer(weights_meta(&b, "general.file_type"), &type) && type == 2);
    CHECK(meta_integer(weights_meta(&b, "general.quantization_version"), &version) && version == 2);
    CHECK(a.n_meta == b.n_meta && a.n_meta > 20);
    for (size_t i = 0; i < a.n_meta; i++) {
        const MetaValue *x = &a.meta[i], *y = weights_meta(&b, x->key), *next = i + 1 < a.n_meta ? x + 1 : NULL;
        if (strcmp(x->key, "general.file_type") == 0 || !next) continue;
        /* at least: the next one's head may be longer */
        size_t n = (size_t)(next->data - x->data) - strlen(next->key) - 8 - 4;
        if (next->type == META_STRING || next->type == META_ARRAY) n -= next->type == META_ARRAY ? 12 : 8;
        CHECK(y && x->type == y->type && x->n == y->n && memcmp(x->data, y->data, n) == 0);
    }
    weights_close(&a);
    weights_close(&b);
}

/* Rows that a block does not divide: the types llama.cpp falls back to, each said. */
static void fallbacks(void) {
    static const struct { const char *type, *name, *line; int expected; } cases[] = {
        {"Q4_K_M", "blk.0.attn_q.weight", "more: rows of 64 are no whole blocks of Q4_K: Q5_0 instead\n", TENSOR_Q5_0},
        {"Q5_K_M", "blk.0.ffn_down.weight", ": rows of 96 are no whole blocks of Q5_K: Q5_1 instead\n", TENSOR_Q5_1},
        {"Q4_K_M", "blk.1.attn_v.weight", ": rows of 64 are no whole blocks of Q6_K: Q8_0 instead\n", TENSOR_Q8_0},
        {"Q6_K", "blk.1.attn_k.weight", "more: rows of 64 are no whole blocks of Q6_K: Q8_0 instead\n", TENSOR_Q8_0},
        {"Q6_K", "token_embd.weight", "", TENSOR_Q8_0}, /* the output, which is this one too: Q8_0 at once */
        {"Q4_0", "token_embd.weight", "token_embd.weight: rows of 64 are no whole blocks of Q6_K: Q8_0 instead\n",
         TENSOR_Q8_0},
        {"Q4_0", "blk.1.attn_k.weight", "", TENSOR_Q4_0},
    };
    Model m;
    build_gguf(at("m.gguf"), &quantize_narrow, TENSOR_F32);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(tool("", "quantize", "%s %s %s", at("m.gguf"), at("q.gguf"), cases[i].type) == 0 &&
              strstr(said, cases[i].line) && count_lines(said) <= 6); /* a line a kind */
        CHECK(*cases[i].line || !strstr(said, cases[i].name));
        if (!model_opened(&m, at("q.gguf"))) continue;
        const Tensor *t = weights_find(&m.weights, cases[i].name);
        CHECK(t && t->type == cases[i].expected);
        model_close(&m);
    }
    const BuildShape odd = {.d = 40, .ff = 72, .layers = 1, .heads = 2, .kv_heads = 1, .n_ctx = 16};
    build_llama2c(at("odd.bin"), &odd, 0, 0);
    CHECK(tool("", "quantize", "%s %s Q8_0 --no-tokenizer", at("odd.bin"), at("q.gguf")) == 0);
    CHECK(strstr(said, "more: rows of 40 are no whole blocks of Q8_0: F16 instead\n"));
    if (model_opened(&m, at("q.gguf"))) {
        CHECK(weights_find(&m.weights, "blk.0.ffn_down.weight")->type == TENSOR_F16);
        model_close(&m);
    }
}

/* From one block format to another, and a RoFormer, whose embeddings are its output, too. */
static void others(void) {
    static const char *const types[] = {"Q4_K_M", "Q6_K", "Q5_K_M", "Q8_0"};
    Model m;
    build_gguf(at("a.gguf"), &quantize_wide, TENSOR_F16);
    for (int i = 0; i < 4; i++) {
        CHECK(tool("", "quantize", "%s %s %s -q", at(i % 2 ? "b.gguf" : "a.gguf"), at(i % 2 ? "a.gguf" : "b.gguf"),
              types[i]) == 0);
        if (model_opened(&m, at(i % 2 ? "a.gguf" : "b.gguf"))) model_close(&m);
    }
    /* over itself: what it lost would be lost for good */
    CHECK(tool("", "quantize", "%s %s Q4_0 -q", at("a.gguf"), at("a.gguf")) == 1);
    if (model_opened(&m, at("a.gguf"))) model_close(&m);
    mkdir(at("roformer"), 0700);
    CHECK(file_copy("tests/golden/convert/v1.safetensors", at("roformer/model.safetensors")));
    CHECK(file_copy("tests/golden/convert/v1.config.json", at("roformer/config.json")));
    CHECK(file_copy("tests/golden/convert/vocab.txt", at("roformer/vocab.txt")));
    /* rows of 8 */
    CHECK(tool("", "quantize", "%s %s Q8_0", at("roformer"), at("r.gguf")) == 0 && strstr(said, "F16 instead"));
    if (model_opened(&m, at("r.gguf"))) {
        CHECK(m.config.roformer.variant == ROFORMER_V1 &&
              weights_find(&m.weights, "token_types.weight")->type == TENSOR_F32);
        model_close(&m);
    }
}

/* ---- threads, errors ---- */

static void threads(void) {
    build_hf(at("hf"), &quantize_wide, TENSOR_F32, 1);
    static const char *const types[] = {"Q8_0", "Q6_K", "Q4_K_M", "IQ4_XS", "Q4_0", "Q2_K"}; /* each way to encode */
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const char *type = types[t];
        CHECK(tool("", "quantize", "%s %s %s -q -j 1", at("hf"), at("one.gguf"), type) == 0);
        CHECK(tool("", "quantize", "%s %s %s -q -j 2", at("hf"), at("two.gguf"), type) == 0);
        CHECK(tool("", "quantize", "%s %s %s -q --threads 7", at("hf"), at("seven.gguf"), type) == 0);
        CHECK(files_equal(at("one.gguf"), at("two.gguf")) && files_equal(at("one.gguf"), at("seven.gguf")));
    }
}

static void usage(void) {
    static const char *const wrong[] = {"", "a", "a b.gguf", "a b.gguf Q9", "a b.gguf Q8_0 c", "a b.bin Q8_0",
                                        "a b.gguf Q8_0 -j", "a b.gguf Q8_0 -j 0", "a b.gguf Q8_0 -j x",
                                        "a b.gguf Q8_0 --bogus", "a b.gguf Q8_0 -z"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(tool("", "quantize", "%s", wrong[i]) == 2 && said_line("run: ") && *out == 0);
    CHECK(tool("", "quantize", "--help") == 0 && strstr(out, "usage: ") && strstr(out, "examples:") && *said == 0);
    CHECK(tool("", "quantize", "a b.gguf Q9") == 2 &&
          said_line("Q4_1, Q4_0, Q3_K_L, Q3_K_M, Q3_K_S, Q2_K are)"));
}

/* Whatever fails leaves the old file as it was, and nothing beside it. */
static void failures(void) {
    const char *old = "the file that was there before\n";
    build_gguf(at("m.gguf"), &quantize_wide, TENSOR_F32);
    file_write(at("old.gguf"), old, strlen(old));
    CHECK(tool("", "quantize", "%s %s Q8_0 -q", at("not-there.gguf"), at("old.gguf")) == 1 &&
          said_line("No such file"));
    size_t n = 0;
    char *bytes = file_read(at("m.gguf"), &n);
    for (size_t cut = n - 100; bytes && cut > 1000; cut /= 3) {
        file_write(at("cut.gguf"), bytes, cut);
        CHECK(tool("", "quantize", "%s %s Q8_0 -q", at("cut.gguf"), at("old.gguf")) == 1 && said_line("cut.gguf: "));
    }
    Model m;
    if (bytes && model_opened(&m, at("m.gguf"))) {
        const Tensor *t = weights_find(&m.weights, "blk.1.ffn_up.weight");
        float nan = NAN, large = 1e5f;
        char *number = bytes + (t->data - m.weights.files[0].data) + 4 * 12345;
        memcpy(number, &large, 4);
        file_write(at("large.gguf"), bytes, n);
        memcpy(number, &nan, 4);
        file_write(at("nan.gguf"), bytes, n);
        model_close(&m);
    }
    CHECK(tool("", "quantize", "%s %s Q8_0 -q", at("nan.gguf"), at("old.gguf")) == 1 &&
          said_line("too large for Q8_0, or not finite"));
    CHECK(tool("", "quantize", "%s %s F16 -q", at("large.gguf"), at("old.gguf")) == 1 &&
          said_line("too large for F16: use --type keep (quantize: BF16)"));
    CHECK(tool("", "quantize", "%s %s BF16 -q", at("large.gguf"), at("b.gguf")) == 0);
    CHECK(tool("", "quantize", "%s %s Q4_K_M -q -j 2", at("nan.gguf"), at("old.gguf")) == 1 && said_line("not finite"));
    free(bytes);
    CHECK(tool("ulimit -f 100; ", "quantize", "%s %s Q8_0 -q", at("m.gguf"), at("old.gguf")) == 1 &&
          said_line("cannot be written: File too large"));
    CHECK(symlink("m.gguf", at("same.gguf")) == 0);
    CHECK(tool("", "quantize", "%s %s Q8_0 -q", at("m.gguf"), at("same.gguf")) == 1 &&
          said_line("is the input: write under another name"));
    CHECK(tool("", "quantize", "%s /not-there/x.gguf Q8_0 -q", at("m.gguf")) == 1 &&
          said_line("cannot be written: No such file"));
    CHECK(tool("", "quantize", "%s %s Q8_0 -q -z %s", at("m.gguf"), at("old.gguf"), at("m.gguf")) == 1 &&
          said_line("keeps its own tokenizer"));
    build_gguf_vocabulary(at("vocabulary.gguf"));
    CHECK(tool("", "quantize", "%s %s Q8_0 -q", at("vocabulary.gguf"), at("old.gguf")) == 1 &&
          said_line("vocabulary only"));
    build_llama2c(at("plain.bin"), &quantize_narrow, 0, 0);
    CHECK(tool("", "quantize", "%s %s Q8_0 -q", at("plain.bin"), at("old.gguf")) == 1 && said_line("no tokenizer"));
    CHECK(leftovers() == 0);
    char *after = file_read(at("old.gguf"), NULL);
    CHECK(after && strcmp(after, old) == 0);
    free(after);
}

/* An interrupt in the middle of a long file ends it with 130 and nothing behind. */
static void interrupt(void) {
    const BuildShape large = {.d = 512, .ff = 2048, .layers = 8, .heads = 4, .kv_heads = 4, .n_ctx = 32};
    build_gguf(at("large.gguf"), &large, TENSOR_F16);
    int code = tool(INTERRUPT_AFTER "0.1 ", "quantize", "%s %s Q4_K_M -q -j 1", at("large.gguf"),
                    at("interrupted.gguf"));
    CHECK(code == 130 || (code == 0 && file_exists(at("interrupted.gguf")))); /* 0: this machine was faster than that */
    CHECK(code == 0 || (said_line("interrupted") && !file_exists(at("interrupted.gguf"))));
    CHECK(leftovers() == 0);
}

const Test tests_quantize[] = {
    {"quantize/mixtures", mixtures},
    {"quantize/formats", formats},
    {"quantize/rows", rows},
    {"quantize/keys", keys},
    {"quantize/fallbacks", fallbacks},
    {"quantize/others", others},
    {"quantize/threads", threads},
    {"quantize/usage", usage},
    {"quantize/failures", failures},
    {"quantize/interrupt", interrupt},
    {0},
};
