/* tests/test_quantize_convert.c - weights-tools/convert of whole decoders: the same weights, text and vocabulary. */
#include "model/files/weights.h"
#include "quantize_files.h"
#include "program.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

/* Kept as they are, in every container: the weights are the same, and the text is. */
static void decoders(void) {
    build_inputs(&quantize_narrow);
    CHECK(tool("", "convert", "%s %s -q", at(inputs[0]), at("kept.gguf")) == 0);
    Model one, other;
    if (!model_opened(&one, at("kept.gguf"))) return;
    for (int i = 0; i < N_INPUTS; i++) {
        CHECK(tool("", "convert", "%s %s -q --type f32 %s", at(inputs[i]), at("c.gguf"), tokenizer_of(i)) == 0 &&
              *said == 0);
        if (!model_opened(&other, at("c.gguf"))) continue;
        CHECK(same_tensors(&one.weights, &other.weights));
        const Config *a = &one.config, *b = &other.config;
        CHECK(a->d_model == b->d_model && a->d_ff == b->d_ff && a->n_layers == b->n_layers && a->n_heads == b->n_heads);
        CHECK(a->n_kv_heads == b->n_kv_heads && a->vocab_size == b->vocab_size && a->n_ctx_train == b->n_ctx_train);
        CHECK(a->norm_eps == b->norm_eps && a->rope.theta == b->rope.theta && a->rope.pairing == b->rope.pairing);
        CHECK(strcmp(a->arch, b->arch) == 0 && a->bos_id == b->bos_id && a->eos_id[0] == b->eos_id[0]);
        model_close(&other);
        CHECK(run("%s -i 'the cat' -n 20 -t 0 --kernels ref", at("kept.gguf")) == 0);
        char *first = taken_out();
        CHECK(run("%s -i 'the cat' -n 20 -t 0 --kernels ref", at("c.gguf")) == 0);
        CHECK(strlen(first) > 5 && strcmp(first, out) == 0);
        free(first);
    }
    model_close(&one);
    CHECK(tool("", "convert", "%s %s -q --type f16", at(inputs[6]), at("half.gguf")) == 0);
    if (model_opened(&other, at("half.gguf"))) {
        int64_t type = 0;
        CHECK(weights_find(&other.weights, "blk.1.ffn_up.weight")->type == TENSOR_F16 &&
              weights_find(&other.weights, "output_norm.weight")->type == TENSOR_F32);
        CHECK(meta_integer(weights_meta(&other.weights, "general.file_type"), &type) && type == 1);
        model_close(&other);
    }
    CHECK(files_equal(at("kept.gguf"), at("kept.gguf")) &&
          tool("", "convert", "%s %s -q", at("kept.gguf"), at("again.gguf")) == 0);
    CHECK(files_equal(at("kept.gguf"), at("again.gguf")));
}

static int logits_of(float *logits, const char *path) {
    static const int ids[] = {1, 260, 17, 280, 99, 5};
    Model m;
    Session s;
    char err[300];
    const float *last = NULL;
    if (!model_opened(&m, path)) return 0;
    int good = session_init(&s, &m, &(SessionOptions){.n_ctx = 16, .threads = 1}, err, sizeof err) == 0;
    good = good && session_eval(&s, ids, 6, &last, err, sizeof err) == 0;
    for (int i = 0; i < BUILD_VOCAB && good; i++) logits[i] = last[i];
    if (good) session_free(&s);
    model_close(&m);
    return good;
}

/* Half of each head turns: only those rows change places. Another order of a head's entries is another order of its
 * sums, so the logits, which are about 1, agree but for rounding; a wrong row would show as 0.1 and more. */
static void partial(void) {
    float before[BUILD_VOCAB], after[BUILD_VOCAB], worst = 0;
    char path[600];
    build_hf(at("part"), &quantize_narrow, TENSOR_F32, 1);
    snprintf(path, sizeof path, "%s/config.json", at("part"));
    char *text = file_read(path, NULL), *brace = text ? strrchr(text, '}') : NULL, *more = malloc(4000);
    CHECK(brace && more);
    if (brace && more) {
        int n = snprintf(more, 4000, "%.*s,\"partial_rotary_factor\":0.5}", (int)(brace - text), text);
        file_write(path, more, (size_t)n);
    }
    free(text), free(more);
    CHECK(tool("", "convert", "%s %s -q", at("part"), at("part.gguf")) == 0);
    if (!logits_of(before, at("part")) || !logits_of(after, at("part.gguf"))) {
        CHECK(!"logits");
        return;
    }
    for (int i = 0; i < BUILD_VOCAB; i++) {
        NEAR(after[i], before[i], 1e-4, 0);
        worst = fmaxf(worst, fabsf(before[i]));
    }
    CHECK(worst > 0.5f);
}

static void same_vocabulary(const Weights *a, const Weights *b) {
    static const char *const arrays[] = {"tokenizer.ggml.tokens", "tokenizer.ggml.scores", "tokenizer.ggml.token_type"};
    for (int i = 0; i < 3; i++) {
        const MetaValue *x = weights_meta(a, arrays[i]), *y = weights_meta(b, arrays[i]);
        CHECK(x && y && x->n == BUILD_VOCAB && y->n == BUILD_VOCAB && x->elem == y->elem);
        MetaValue p, q;
        const uint8_t *c = x ? x->data : NULL, *d = y ? y->data : NULL;
        for (int k = 0; x && y && k < BUILD_VOCAB; k++) {
            meta_next(x, &c, &p);
            meta_next(y, &d, &q);
            CHECK(p.n == q.n && memcmp(p.data, q.data, i ? 4 : (size_t)p.n) == 0);
        }
    }
}

/* The vocabulary that comes out is the one that went in: pieces, scores, kinds; from tokenizer.bin as from
 * tokenizer.model. */
static void vocabularies(void) {
    Weights a, b;
    char err[300];
    build_inputs(&quantize_narrow);
    CHECK(tool("", "convert", "%s %s -q", at(inputs[5]), at("a.gguf")) == 0 &&
          tool("", "convert", "%s %s -q -z %s", at(inputs[3]), at("b.gguf"), at("tok.bin")) == 0);
    if (weights_open(&a, at("a.gguf"), err, sizeof err) || weights_open(&b, at("b.gguf"), err, sizeof err)) {
        CHECK(!"opens");
        return;
    }
    Weights built;
    same_vocabulary(&a, &b);
    if (weights_open(&built, at(inputs[0]), err, sizeof err) == 0) same_vocabulary(&a, &built);
    else CHECK(!"opens");
    weights_close(&built);
    int64_t eot = 0, eos = 0;
    CHECK(meta_integer(weights_meta(&b, "tokenizer.ggml.eot_token_id"), &eot) && eot == 1); /* llama2.c ends at BOS */
    CHECK(meta_integer(weights_meta(&b, "tokenizer.ggml.eos_token_id"), &eos) && eos == 2);
    weights_close(&a);
    weights_close(&b);
    const char *spm = test_data("spm/llama2_tokenizer.model"); /* more pieces than the model has */
    if (spm) CHECK(tool("", "convert", "%s %s -q -z %s", at(inputs[2]), at("x.gguf"), spm) == 1 &&
          said_line("do not belong together"));
    CHECK(tool("", "convert", "%s %s -q -z tests/golden/convert/vocab.txt", at(inputs[2]), at("x.gguf")) == 1);
    char path[600];
    snprintf(path, sizeof path, "%s/tokenizer.model", at(inputs[5]));
    remove(path);
    CHECK(tool("", "convert", "%s %s -q", at(inputs[5]), at("x.gguf")) == 1 && said_line("no tokenizer beside it"));
    snprintf(path, sizeof path, "%s/tokenizer.json", at(inputs[5]));
    file_write(path, "{}", 2);
    CHECK(tool("", "convert", "%s %s -q", at(inputs[5]), at("x.gguf")) == 1 &&
          said_line("tokenizer.json: JSON, but no tokenizer.json"));
    CHECK(tool("", "convert", "%s %s -q --no-tokenizer", at(inputs[5]), at("x.gguf")) == 0);
    remove(path);
}

const Test tests_quantize_convert[] = {
    {"quantize/convert-decoders", decoders},
    {"quantize/convert-partial", partial},
    {"quantize/convert-vocabularies", vocabularies},
    {0},
};
