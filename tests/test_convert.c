/* tests/test_convert.c - weights-tools/convert as its users meet it: every container and model of tests/golden/convert to GGUF
 * and safetensors, opened by the engine's own reader, every bit compared.
 *
 * tests/oracle/checkpoints.py made the goldens; a weight's value comes from its name and index (value_of here and there). */
#include "model/encoder.h"
#include "model/roformer_names.h"
#include "model/weights.h"
#include "weights-tools/checkpoint/open.h"
#include "weights-tools/plan.h"
#include "build.h"
#include "test.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GOLDEN "tests/golden/convert/"
#define V1 "--name m --config " GOLDEN "v1.config.json --vocab " GOLDEN "vocab.txt"

/* ---- running it ---- */

static char *out, *said; /* stdout and stderr of the last run */

/* The converter stands beside the program under test: build/release/run and build/release/weights-tools/convert. */
static int shell(const char *before, const char *args) {
    char cmd[6000];
    int folder = (int)(strlen(test_run_path()) - strlen("run"));
    snprintf(cmd, sizeof cmd, "%s%.*sweights-tools/convert %s < /dev/null", before, folder, test_run_path(), args);
    return test_shell(cmd, &out, &said);
}

static int convert(const char *fmt, ...) {
    char args[4000];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(args, sizeof args, fmt, ap);
    va_end(ap);
    int code = shell("", args);
    if (code > 2) printf("    exit code %d: %s\n", code, args);
    return code;
}

/* Refused: exit code 1 and one line that says why. */
static int fails(const char *expected) {
    const char *newline = strchr(said, '\n');
    int good = strstr(said, expected) && newline && newline[1] == 0;
    if (!good) printf("    expected \"%s\", got \"%s\"\n", expected, said);
    return good;
}

/* A new folder NAME in a folder of this suite's own; ten paths live at once. */
static const char *folder(const char *name) {
    static char paths[10][512];
    static int turn;
    char *p = paths[turn++ % 10];
    mkdir(test_tmp("convert"), 0700);
    snprintf(p, sizeof paths[0], "%s/%s", test_tmp("convert"), name);
    mkdir(p, 0700);
    return p;
}

static const char *in(const char *dir, const char *name) {
    static char paths[10][600];
    static int turn;
    char *p = paths[turn++ % 10];
    snprintf(p, sizeof paths[0], "%s/%s", dir, name);
    return p;
}

static void copy(const char *golden, const char *dir, const char *name) {
    size_t n;
    char path[300];
    snprintf(path, sizeof path, GOLDEN "%s", golden);
    char *bytes = file_read(path, &n);
    CHECK(bytes != NULL);
    if (bytes) file_write(in(dir, name), bytes, n);
    free(bytes);
}

static int files_in(const char *dir) {
    int n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) n += e->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}

static int same_files(const char *a, const char *b) {
    size_t n, m;
    char *x = file_read(a, &n), *y = file_read(b, &m);
    int same = x && y && n == m && memcmp(x, y, n) == 0;
    free(x), free(y);
    return same;
}

/* ---- what must be in it ---- */

/* FNV-1a of the name, splitmix64 of that and the index; the upper 32 bits as a signed integer / 2^32, rounded to float. */
static float value_of(const char *name, size_t i) {
    return (float)((double)(int32_t)(uint32_t)(name_hash(name, i) >> 32) / 4294967296.0);
}

/* t's values are those of `name`: exactly (F32), to half a step of F16 (2^-11 of the value; 2^-25 below 2^-14), or the upper
 * halves of the floats (BF16). */
static int values_are(const Tensor *t, const char *name) {
    size_t n = t->size / (t->type == TENSOR_F32 ? 4 : 2);
    int good = n > 0;
    for (size_t i = 0; i < n && good; i++) {
        float v = value_of(name, i);
        uint32_t bits;
        memcpy(&bits, &v, 4);
        if (t->type == TENSOR_F32) good = load_u32(t->data + 4 * i) == bits;
        else if (t->type == TENSOR_F16)
            good = fabs((double)f16_to_f32(load_u16(t->data + 2 * i)) - v) <= fmax(fabs(v) * 0x1p-11, 0x1p-25);
        else good = t->type == TENSOR_BF16 && load_u16(t->data + 2 * i) == bits >> 16;
    }
    if (!good) printf("    %s: not the values of %s\n", t->name, name);
    return good;
}

/* The name under which the oracle made a tensor's values: PyTorch's, with the body's prefix; of a head with several PyTorch
 * names, the one that begins with `heads`. */
static void source_name(char *name, const char *gguf, const char *prefix, const char *heads) {
    int layer;
    const RoformerName *row = roformer_names_find(ROFORMER_IN_GGUF, gguf, &layer);
    name[0] = 0;
    if (!row) return;
    for (size_t i = 0; roformer_names_row(i); i++) {
        const RoformerName *r = roformer_names_row(i);
        if (r->flags & NAME_ALIAS && strcmp(r->gguf, row->gguf) == 0 && strncmp(r->torch, heads, strlen(heads)) == 0 &&
            *heads)
            row = r;
    }
    char full[ROFORMER_NAME_MAX];
    roformer_names_write(full, row, ROFORMER_IN_TORCH, layer, 0);
    if (row->flags & NAME_BODY) snprintf(name, ROFORMER_NAME_MAX + 16, "%s%s", prefix, full + strlen("roformer."));
    else snprintf(name, ROFORMER_NAME_MAX + 16, "%s", full);
}

static int opens(Weights *w, const char *path) {
    char err[400] = "";
    int rc = weights_open(w, path, err, sizeof err);
    if (rc) printf("    %s\n", err);
    CHECK(rc == 0);
    return rc == 0;
}

/* A GGUF file with n tensors, every one of which holds what its name says. */
static int gguf_holds(const char *path, size_t n, const char *prefix, const char *heads) {
    Weights w;
    char name[ROFORMER_NAME_MAX + 16];
    if (!opens(&w, path)) return 0;
    int good = w.format == FORMAT_GGUF && w.n_tensors == n;
    if (!good) printf("    %zu tensors, not %zu\n", w.n_tensors, n);
    for (size_t i = 0; i < w.n_tensors && good; i++) {
        source_name(name, w.tensors[i].name, prefix, heads);
        good = values_are(&w.tensors[i], name);
    }
    weights_close(&w);
    return good;
}

/* A key's value as text: numbers, true and false, strings; an array's elements with | between. */
static const char *meta_text(const Weights *w, const char *key) {
    static char text[2000];
    const MetaValue *v = weights_meta(w, key);
    double d;
    text[0] = 0;
    if (!v) return "absent";
    const uint8_t *cursor = v->data;
    MetaValue e = *v;
    for (uint64_t i = 0; i < (v->type == META_ARRAY ? v->n : 1); i++) {
        size_t at = strlen(text);
        if (v->type == META_ARRAY) meta_next(v, &cursor, &e);
        if (i > 0) text[at++] = '|';
        if (e.type == META_STRING) snprintf(text + at, sizeof text - at, "%.*s", (int)e.n, (const char *)e.data);
        else if (e.type == META_BOOL) snprintf(text + at, sizeof text - at, e.data[0] ? "true" : "false");
        else if (meta_number(&e, &d)) snprintf(text + at, sizeof text - at, "%.6g", d);
    }
    return text;
}

typedef struct { const char *key, *value; } Key;

static void keys_are(const char *path, const Key *keys, size_t n) {
    Weights w;
    if (!opens(&w, path)) return;
    for (size_t i = 0; i < n; i++) {
        int good = strcmp(meta_text(&w, keys[i].key), keys[i].value) == 0;
        if (!good) printf("    %s is %s, not %s\n", keys[i].key, meta_text(&w, keys[i].key), keys[i].value);
        CHECK(good);
    }
    weights_close(&w);
}

/* ---- one model, five containers ---- */

/* The logits of a few ids, [LOGIT_IDS, LOGIT_VOCAB], as the engine has them of that model; zeroes where it does not open. */
enum { LOGIT_IDS = 5, LOGIT_VOCAB = 24 };

static void logits_of(const char *path, float *out_logits) {
    static const int ids[LOGIT_IDS] = {2, 6, 4, 9, 3}, types[LOGIT_IDS] = {0, 0, 0, 1, 1};
    Model m;
    Session s;
    char err[300] = "";
    memset(out_logits, 0, LOGIT_IDS * LOGIT_VOCAB * sizeof *out_logits);
    if (model_open(&m, path, NULL, err, sizeof err)) {
        test_fail(__FILE__, __LINE__, err);
        return;
    }
    CHECK(m.config.vocab_size == LOGIT_VOCAB && session_init(&s, &m, &(SessionOptions){.n_ctx = 16}, err, sizeof err) == 0);
    CHECK(encoder_read(&s, &(EncoderText){.ids = ids, .types = types, .n = LOGIT_IDS}, 1, err, sizeof err) == 0);
    for (size_t t = 0; t < LOGIT_IDS; t++) memcpy(out_logits + t * LOGIT_VOCAB, encoder_logits(&s, t), LOGIT_VOCAB * sizeof *out_logits);
    session_free(&s);
    model_close(&m);
}

static void containers(void) {
    float first[LOGIT_IDS * LOGIT_VOCAB], logits[LOGIT_IDS * LOGIT_VOCAB];
    static const char *const files[] = {"v1.safetensors", "v1.bin", "v1.legacy.bin", "v1.raw.ckpt", "v1.snappy.ckpt"};
    const char *dir = folder("containers");
    for (int i = 0; i < 5; i++) {
        char name[40], sub[40];
        snprintf(name, sizeof name, "%d.gguf", i);
        snprintf(sub, sizeof sub, "containers/%d", i);
        CHECK(convert(GOLDEN "%s %s -q " V1, files[i], in(dir, name)) == 0 && *said == 0 && *out == 0);
        CHECK(gguf_holds(in(dir, name), 43, "roformer.", ""));
        CHECK(same_files(in(dir, name), in(dir, "0.gguf"))); /* bit for bit the same file */
        const char *hf = folder(sub);
        CHECK(convert(GOLDEN "%s %s -q " V1, files[i], in(hf, "model.safetensors")) == 0 && *said == 0);
        CHECK(files_in(hf) == 3 && same_files(in(hf, "config.json"), GOLDEN "v1.config.json"));
        CHECK(same_files(in(hf, "vocab.txt"), GOLDEN "vocab.txt"));
        logits_of(in(dir, name), i ? logits : first); /* the model by its five ways, and each as GGUF and as a folder */
        CHECK(i == 0 ? first[0] != 0 : memcmp(first, logits, sizeof first) == 0);
        logits_of(hf, logits);
        CHECK(memcmp(first, logits, sizeof first) == 0);
        Weights w;
        if (!opens(&w, hf)) continue;
        CHECK(w.format == FORMAT_HF && w.n_tensors == (i < 3 ? 44u : 43u)); /* PyTorch's have a table of sines */
        for (size_t t = 0; t < w.n_tensors; t++) {
            int sines = strcmp(w.tensors[t].name, "roformer.encoder.embed_positions.weight") == 0;
            CHECK((sines && i < 3) || values_are(&w.tensors[t], w.tensors[t].name));
        }
        weights_close(&w);
    }
    static const Key keys[] = {
        {"general.architecture", "roformer"}, {"general.name", "m"}, {"general.file_type", "0"}, {"roformer.variant", "v1"},
        {"roformer.context_length", "16"}, {"roformer.embedding_length", "8"}, {"roformer.embedding_length_in", "4"},
        {"roformer.feed_forward_length", "12"}, {"roformer.block_count", "2"}, {"roformer.token_type_count", "2"},
        {"roformer.attention.head_count", "2"}, {"roformer.attention.key_length", "absent"},
        {"roformer.attention.layer_norm_epsilon", "1e-12"}, {"roformer.rope.freq_base", "10000"},
        {"roformer.rope.dimension_count", "4"}, {"roformer.rotary_value", "false"}, {"roformer.hidden_act", "gelu"},
        {"roformer.mask", "padding"}, {"roformer.pooler", "none"}, {"roformer.classifier.kind", "absent"},
        {"roformer.classifier.labels", "absent"}, {"tokenizer.ggml.model", "wordpiece"},
        {"tokenizer.ggml.tokens", "[PAD]|[UNK]|[CLS]|[SEP]|[MASK]|[unused1]|今|天|气|很|好|我|去|公|园|玩|。|##a|b|the|非常|é|xxxxxxxxx|##天"},
        {"tokenizer.ggml.token_type", "3|2|3|3|3|5|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1"},
        {"tokenizer.ggml.cls_token_id", "2"}, {"tokenizer.ggml.seperator_token_id", "3"},
        {"tokenizer.ggml.padding_token_id", "0"},
        {"tokenizer.ggml.mask_token_id", "4"}, {"tokenizer.ggml.unknown_token_id", "1"}, {"tokenizer.ggml.bos_token_id", "2"},
        {"tokenizer.ggml.eos_token_id", "3"}, {"tokenizer.ggml.lower_case", "absent"},
    };
    keys_are(in(dir, "0.gguf"), keys, sizeof keys / sizeof *keys);
}

/* ---- the other models ---- */

static void models(void) {
    static const struct {
        const char *file, *config, *options, *prefix, *heads;
        size_t n;
        Key keys[6];
    } rows[] = {
        {"v2.bin", "v2.config.json", "", "roformer.", "", 14,
         {{"roformer.variant", "v2"}, {"roformer.hidden_act", "relu"}, {"roformer.embedding_length_in", "8"},
          {"roformer.mask", "padding"}}},
        {"gau.bin", "gau.config.json", "", "gau_alpha.", "", 10,
         {{"roformer.variant", "gau-alpha"}, {"roformer.attention.key_length", "6"}, {"roformer.rope.dimension_count", "6"},
          {"roformer.attention.head_count", "1"}, {"roformer.hidden_act", "swish"}, {"roformer.context_length", "512"}}},
        {"gau.ckpt", "gau.bert_config.json", "", "gau_alpha.", "", 10,
         {{"roformer.variant", "gau-alpha"}, {"roformer.attention.key_length", "6"}, {"roformer.attention.head_count", "1"}}},
        {"sim.ckpt", "sim.bert_config.json", "--mask unilm --pooler linear", "roformer.", "", 27,
         {{"roformer.mask", "unilm"}, {"roformer.pooler", "linear"}, {"roformer.variant", "v1"}}},
        {"sim.ckpt", "sim.bert_config.json", "--mask causal", "roformer.", "", 27,
         {{"roformer.mask", "causal"}, {"roformer.pooler", "tanh"}}},
        {"sequence.legacy.bin", "sequence.config.json", "", "roformer.", "", 24,
         {{"roformer.classifier.kind", "sequence"}, {"roformer.classifier.labels", "no|maybe|yes"}, {"roformer.pooler", "none"}}},
        {"token.bin", "token.config.json", "", "roformer.", "", 22,
         {{"roformer.classifier.kind", "token"}, {"roformer.classifier.labels", "LABEL_0|LABEL_1|LABEL_2|LABEL_3|LABEL_4"},
          {"roformer.rotary_value", "true"}}},
        {"discriminator.bin", "discriminator.config.json", "", "", "", 26,
         {{"roformer.rotary_value", "true"}, {"roformer.classifier.kind", "absent"}, {"roformer.embedding_length_in", "4"}}},
        {"generator.bin", "generator.config.json", "", "electra.", "generator_", 27, {{"roformer.embedding_length_in", "4"}}},
    };
    const char *dir = folder("models");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *path = in(dir, "m.gguf");
        int code = convert(GOLDEN "%s %s --config " GOLDEN "%s --vocab " GOLDEN "vocab.txt %s", rows[i].file, path,
                           rows[i].config, rows[i].options);
        CHECK(code == 0);
        if (code) printf("    %s: %s", rows[i].file, said);
        int good = code == 0 && gguf_holds(path, rows[i].n, rows[i].prefix, rows[i].heads);
        if (!good) printf("    %s\n", rows[i].file);
        CHECK(good);
        size_t n = 0;
        while (n < 6 && rows[i].keys[n].key) n++;
        if (code == 0) keys_are(path, rows[i].keys, n);
        CHECK(!strstr(said, "left out")); /* its position_ids are known: nothing to say */
        CHECK((strstr(said, "--pooler linear") != NULL) == (rows[i].options[0] && !strstr(rows[i].options, "pooler")));
    }
}

/* ---- tensors that the goldens do not have ---- */

typedef struct {
    const char *name;
    size_t rows, cols; /* cols 0: a vector */
    ElemType type;     /* F32, F64 */
} Extra;

/* v1.safetensors with one or two tensors more, each with the values of its name. */
static void with_extras(const char *path, const Extra *extra) {
    Checkpoint c;
    Plan p = {0};
    Report quiet = {0};
    NewFile f;
    char err[300];
    uint8_t data[2][8 * 24 * 8];
    CHECK(checkpoint_open(&c, GOLDEN "v1.safetensors", err, sizeof err) == 0);
    for (size_t i = 0; i < c.n_views; i++) CHECK(plan_add(&p, c.views[i].name, &c.views[i]) == 0);
    for (int e = 0; e < 2 && extra[e].name; e++) {
        View v = {.type = extra[e].type, .n_dims = extra[e].cols ? 2 : 1, .shape = {extra[e].rows, extra[e].cols},
                  .data = data[e]};
        CHECK(view_init(&v) && v.values * elem_bytes(v.type) <= sizeof data[e]);
        for (size_t i = 0; i < v.values; i++) {
            float single = value_of(extra[e].name, i);
            double twice = single;
            if (v.type == ELEM_F64) memcpy(data[e] + 8 * i, &twice, 8);
            else memcpy(data[e] + 4 * i, &single, 4);
        }
        CHECK(plan_add(&p, extra[e].name, &v) == 0);
    }
    CHECK(newfile_open(&f, path, err, sizeof err) == 0 && safetensors_write(&f, &p, &quiet, err, sizeof err) == 0);
    CHECK(newfile_close(&f, 1, err, sizeof err) == 0);
    plan_free(&p);
    checkpoint_close(&c);
}

/* v1.config.json with the first `from` replaced, at path. */
static void with_config(const char *path, const char *from, const char *to) {
    char text[3000], *config = file_read(GOLDEN "v1.config.json", NULL);
    const char *at = config ? strstr(config, from) : NULL;
    CHECK(at != NULL);
    if (!at) return;
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - config), config, to, at + strlen(from));
    file_write(path, text, strlen(text));
    free(config);
}

/* Which tensors the heads and the ties of a file lead to, and what is said or refused. */
static void heads(void) {
    static const struct {
        Extra extra[2];
        const char *to; /* instead of the configuration's architecture */
        const char *says;
        int code;
        size_t n; /* tensors of the GGUF file */
        const char *gguf, *kind;
    } rows[] = {
        {{{"qa_outputs.weight", 2, 8, ELEM_F32}, {"qa_outputs.bias", 2, 0, ELEM_F64}}, "X", "", 0, 45, "qa.bias", "qa"},
        {{{"classifier.weight", 1, 8, ELEM_F32}, {"classifier.bias", 1, 0, ELEM_F32}}, "RoFormerForMultipleChoice", "", 0, 45,
         "cls.weight", "choice"},
        {{{"cls.seq_relationship.weight", 2, 8, ELEM_F64}, {"cls.seq_relationship.bias", 2, 0, ELEM_F32}}, "X", "", 0, 45,
         "nsp.weight", "absent"},
        {{{"qa_outputs.weight", 2, 8, ELEM_F32}}, "X", "tensor qa_outputs.bias: is missing", 1, 0, NULL, NULL},
        {{{"crf.transitions", 9, 9, ELEM_F32}}, "X", "left out: 1 tensors that no RoFormer known here has (crf.transitions ..)",
         0, 43, NULL, "absent"},
        {{{"roformer.encoder.layer.0.adapter.weight", 9, 9, ELEM_F32}}, "X", "no RoFormer known here has it", 1, 0, NULL, NULL},
        {{{"roformer.embeddings.position_embeddings.weight", 9, 4, ELEM_F32}}, "X", "a BERT, not a RoFormer", 1, 0, NULL, NULL},
        {{{"bert.embeddings.word_embeddings.weight", 24, 4, ELEM_F32}}, "X", "stands twice under different names", 1, 0, NULL,
         NULL},
        {{{"cls.predictions.decoder.weight", 24, 4, ELEM_F32}}, "X",
         "left out: a decoder that differs from the word embeddings", 0, 43, NULL, "absent"},
        {{{"cls.predictions.decoder.bias", 24, 0, ELEM_F32}}, "X", "one of two biases of the head (bias is kept)", 0, 43,
         "mlm.bias", "absent"},
    };
    const char *dir = folder("heads"), *source = in(dir, "x.safetensors"), *config = in(dir, "c.json"), *path = in(dir, "m.gguf");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[ROFORMER_NAME_MAX + 16];
        with_extras(source, rows[i].extra);
        with_config(config, "RoFormerForMaskedLM", rows[i].to);
        int code = convert("%s %s --config %s --vocab " GOLDEN "vocab.txt", source, path, config);
        int good = code == rows[i].code && strstr(said, rows[i].says);
        if (!good) printf("    %s: code %d, %s", rows[i].extra[0].name, code, said);
        CHECK(good);
        Weights w;
        if (code || !opens(&w, path)) continue;
        CHECK(w.n_tensors == rows[i].n && strcmp(meta_text(&w, "roformer.classifier.kind"), rows[i].kind) == 0);
        const Tensor *t = rows[i].gguf ? weights_find(&w, rows[i].gguf) : NULL;
        if (rows[i].gguf) source_name(name, rows[i].gguf, "roformer.", "");
        CHECK(!rows[i].gguf || (t && t->type == TENSOR_F32 && values_are(t, name)));
        weights_close(&w);
    }
    /* where nothing is tied, the decoder and its own bias count */
    with_extras(source, (const Extra[]){{"cls.predictions.decoder.weight", 24, 4, ELEM_F32},
                                        {"cls.predictions.decoder.bias", 24, 0, ELEM_F32}});
    with_config(config, "\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false");
    CHECK(convert("%s %s --config %s --vocab " GOLDEN "vocab.txt", source, path, config) == 0 &&
          strstr(said, "decoder.bias is kept"));
    Weights w;
    if (!opens(&w, path)) return;
    const Tensor *decoder = weights_find(&w, "mlm.decoder.weight"), *bias = weights_find(&w, "mlm.bias");
    CHECK(w.n_tensors == 44 && decoder && values_are(decoder, "cls.predictions.decoder.weight"));
    CHECK(bias && values_are(bias, "cls.predictions.decoder.bias"));
    weights_close(&w);
}

/* F16 for matrices, F32 for vectors; and numbers that F16 cannot hold. */
static void types(void) {
    const char *dir = folder("types");
    CHECK(convert(GOLDEN "v1.bin %s --type f16 " V1, in(dir, "h.gguf")) == 0);
    CHECK(gguf_holds(in(dir, "h.gguf"), 43, "roformer.", ""));
    Weights w;
    if (opens(&w, in(dir, "h.gguf")))
        for (size_t i = 0; i < w.n_tensors; i++) CHECK(w.tensors[i].type == (w.tensors[i].n_dims == 2 ? TENSOR_F16 : TENSOR_F32));
    CHECK(strcmp(meta_text(&w, "general.file_type"), "1") == 0);
    weights_close(&w);
    /* from TensorFlow the matrices are turned on the way; the same file comes out */
    CHECK(convert(GOLDEN "v1.raw.ckpt %s --type f16 " V1, in(dir, "t.gguf")) == 0 &&
          same_files(in(dir, "h.gguf"), in(dir, "t.gguf")));
    CHECK(convert(GOLDEN "llama.bin %s --type f32", in(dir, "llama.safetensors")) == 0);
    CHECK(strstr(said, "no config.json"));
    Checkpoint c;
    char err[300];
    CHECK(checkpoint_open(&c, in(dir, "llama.safetensors"), err, sizeof err) == 0 && c.n_views == 12);
    for (size_t i = 0; i < c.n_views; i++) CHECK(c.views[i].type == ELEM_F32 && (load_u32(c.views[i].data) & 0xffff) == 0);
    checkpoint_close(&c);
    const char *big = in(dir, "big.safetensors"); /* one matrix [1, 2] of 1e5 and 1 */
    static const char header[] = "{\"w\":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[0,8]}}";
    char file[200] = {(char)(sizeof header - 1)};
    memcpy(file + 8, header, sizeof header - 1);
    memcpy(file + 8 + sizeof header - 1, (const float[]){1e5f, 1}, 8);
    file_write(big, file, 8 + sizeof header - 1 + 8);
    CHECK(convert("%s %s -q --type f16", big, in(dir, "x.safetensors")) == 1 && fails("w holds numbers too large for F16"));
    memcpy(strstr(file + 8, "F32"), "X32", 3); /* a type that is not known must not be lost in silence */
    file_write(big, file, 8 + sizeof header - 1 + 8);
    CHECK(convert("%s %s -q", big, in(dir, "x.safetensors")) == 1 && fails("X32"));
    CHECK(!file_exists(in(dir, "x.safetensors")) && files_in(dir) == 5); /* llama.safetensors has a vocab.txt beside it */
}

/* ---- other families, folders, sidecars ---- */

/* Names, types and bits as they are; the tied lm_head and the integers stay out; the strides are gone. */
static void llama_is_there(const char *hf) {
    Weights w;
    if (!opens(&w, hf)) return;
    CHECK(w.n_tensors == 11 && !weights_find(&w, "lm_head.weight") && weights_find(&w, "model.layers.0.mlp.down_proj.weight"));
    for (size_t i = 0; i < w.n_tensors; i++)
        CHECK(w.tensors[i].type == TENSOR_BF16 && values_are(&w.tensors[i], w.tensors[i].name));
    CHECK(json_is(json_get(w.config.root, "model_type"), "llama"));
    weights_close(&w);
}

/* The same as GGUF: what has no heads has its bits, and row 2p + k of q's first head is row k d/2 + p of the checkpoint's. */
static void llama_gguf_is_there(const char *path) {
    Weights w;
    if (!opens(&w, path)) return;
    const Tensor *q = weights_find(&w, "blk.0.attn_q.weight"), *down = weights_find(&w, "blk.0.ffn_down.weight");
    CHECK(w.n_tensors == 11 && q && down && down->type == TENSOR_BF16 && values_are(down, "model.layers.0.mlp.down_proj.weight"));
    int64_t heads = 0;
    CHECK(meta_integer(weights_meta(&w, "llama.attention.head_count"), &heads) && heads > 1);
    size_t cols = q ? (size_t)q->shape[1] : 0, hd = q && heads ? (size_t)q->shape[0] / (size_t)heads : 0;
    for (size_t r = 0; r < hd; r++)
        for (size_t c = 0; c < cols; c++) {
            float v = value_of("model.layers.0.self_attn.q_proj.weight", (r % 2 * (hd / 2) + r / 2) * cols + c);
            uint32_t bits;
            memcpy(&bits, &v, 4);
            CHECK(load_u16(q->data + 2 * (r * cols + c)) == bits >> 16);
        }
    CHECK(strcmp(meta_text(&w, "tokenizer.ggml.model"), "none") == 0);
    weights_close(&w);
}

static void other_family(void) {
    const char *from = folder("llama"), *shards = folder("llama-shards"), *a = folder("llama-a"), *b = folder("llama-b");
    copy("llama.bin", from, "pytorch_model.bin");
    copy("llama.config.json", from, "config.json");
    file_write(in(from, "tokenizer.json"), "{}", 2);
    CHECK(convert("%s %s", from, in(a, "model.safetensors")) == 0 && strstr(said, "left out: 1 tensors of integers"));
    llama_is_there(a);
    CHECK(files_in(a) == 3 && same_files(in(a, "tokenizer.json"), in(from, "tokenizer.json")));
    CHECK(convert("%s %s -q", from, in(b, "m.gguf")) == 1 && fails("tokenizer.json: JSON, but no tokenizer.json"));
    CHECK(convert("%s %s -q --no-tokenizer", from, in(a, "m.gguf")) == 0); /* PyTorch's file, GGUF's names and pairs */
    llama_gguf_is_there(in(a, "m.gguf"));
    copy("llama.bin.index.json", shards, "pytorch_model.bin.index.json");
    copy("llama-00001-of-00002.bin", shards, "llama-00001-of-00002.bin");
    copy("llama.config.json", shards, "config.json");
    CHECK(convert("%s %s -q", shards, in(b, "model.safetensors")) == 1 && fails("llama-00002-of-00002.bin: No such file"));
    copy("llama-00002-of-00002.bin", shards, "llama-00002-of-00002.bin");
    CHECK(convert("%s %s", shards, in(b, "model.safetensors")) == 0);
    llama_is_there(b);
    size_t n;
    char *index = file_read(in(shards, "pytorch_model.bin.index.json"), &n), *at = strstr(index, "model.norm.weight");
    at[0] = 'x';
    file_write(in(shards, "pytorch_model.bin.index.json"), index, n);
    CHECK(convert("%s %s -q", shards, in(b, "x.safetensors")) == 1 && fails("does not list tensor model.norm.weight"));
    at = strstr(index, "llama-00001");
    memcpy(at, "../../../00", 11);
    file_write(in(shards, "pytorch_model.bin.index.json"), index, n);
    CHECK(convert("%s %s -q", shards, in(b, "x.safetensors")) == 1 && fails("plain name"));
    free(index);
    /* the same tensors in a real file of another model, of Python 2 */
    const char *alex = test_data("checkpoints/alex.pth");
    if (!alex) return;
    CHECK(convert("%s %s -q", alex, in(b, "alex.safetensors")) == 0);
    Checkpoint x, y;
    char err[300];
    CHECK(checkpoint_open(&x, alex, err, sizeof err) == 0);
    CHECK(checkpoint_open(&y, in(b, "alex.safetensors"), err, sizeof err) == 0);
    CHECK(x.n_views == 5 && y.n_views == 5);
    for (size_t i = 0; i < x.n_views; i++)
        for (size_t k = 0; k < y.n_views; k++)
            if (strcmp(x.views[i].name, y.views[k].name) == 0) CHECK(view_equal(&x.views[i], &y.views[k]));
    checkpoint_close(&x);
    checkpoint_close(&y);
}

/* The forms in which checkpoints lie about: folders of three kinds, a prefix, an index. */
static void folders(void) {
    const char *torch = folder("torch"), *tf = folder("chinese_roformer"), *other = folder("other"), *to = folder("folders");
    copy("v1.legacy.bin", torch, "pytorch_model.bin");
    copy("v1.config.json", torch, "config.json");
    copy("vocab.txt", torch, "vocab.txt");
    file_write(in(torch, "tokenizer_config.json"), "{\"do_lower_case\": false}", 24);
    CHECK(convert("%s %s", torch, in(to, "torch.gguf")) == 0 && gguf_holds(in(to, "torch.gguf"), 43, "roformer.", ""));
    keys_are(in(to, "torch.gguf"), (const Key[]){{"general.name", "torch"}, {"tokenizer.ggml.lower_case", "false"}}, 2);
    copy("v1.raw.ckpt.index", tf, "bert_model.ckpt.index");
    copy("v1.raw.ckpt.data-00000-of-00001", tf, "bert_model.ckpt.data-00000-of-00001");
    copy("v1.bert_config.json", tf, "bert_config.json");
    copy("vocab.txt", tf, "vocab.txt");
    static const char *const forms[] = {"", "/", "/bert_model.ckpt", "/bert_model.ckpt.index"};
    for (int i = 0; i < 4; i++) {
        CHECK(convert("%s%s %s", tf, forms[i], in(to, "tf.gguf")) == 0 && gguf_holds(in(to, "tf.gguf"), 43, "roformer.", ""));
        CHECK(strstr(said, "left out: 3 of an optimizer's tensors"));
        keys_are(in(to, "tf.gguf"), (const Key[]){{"general.name", "chinese_roformer"}}, 1);
    }
    CHECK(convert("%s/bert_model.ckpt.data-00000-of-00001 %s", tf, in(to, "x.gguf")) == 1 && fails("give its .index file"));
    copy("gau.ckpt.index", other, "one.index");
    copy("gau.ckpt.data-00000-of-00001", other, "one.data-00000-of-00001");
    CHECK(convert("--list %s", other) == 0);
    CHECK(strstr(out, "GAU_alpha/encoder/layer_0/gau/i_dense/kernel  [8, 30]  F32  -> blk.0.gau_in.weight\n"));
    copy("gau.ckpt.index", other, "two.index");
    CHECK(convert("--list %s", other) == 1 && fails("several TensorFlow checkpoints"));
    CHECK(convert("--list %s/two", other) == 1 && fails("two.data-00000-of-00001: No such file"));
    CHECK(convert("--list %s", to) == 1 && fails("in this folder"));
}

/* A checkpoint with bert_config.json gets the config.json that transformers reads, and gives the same model. */
static void sidecars(void) {
    const char *dir = folder("sidecars"), *sim = folder("sidecars-sim");
    char config[600];
    CHECK(convert(GOLDEN "v1.snappy.ckpt %s --config " GOLDEN "v1.bert_config.json --vocab " GOLDEN "vocab.txt",
          in(dir, "model.safetensors")) == 0);
    Weights w;
    if (opens(&w, dir)) {
        const JsonValue *c = w.config.root;
        CHECK(json_is(json_get(c, "model_type"), "roformer") && json_get(c, "embedding_size")->number == 4);
        CHECK(json_is(json_get(c, "architectures")->child, "RoFormerForMaskedLM") &&
              json_get(c, "layer_norm_eps")->number == 1e-12);
        CHECK(json_get(c, "hidden_dropout_prob")->number == 0.1 && json_get(c, "rotary_value")->boolean == 0);
        CHECK(json_get(c, "max_position_embeddings")->number == 16 && !json_get(c, "directionality"));
    }
    weights_close(&w);
    snprintf(config, sizeof config, "%s", in(dir, "config.json"));
    CHECK(convert("%s %s -q --name m", dir, in(dir, "again.gguf")) == 0);
    CHECK(convert(GOLDEN "v1.bin %s -q --name m --config %s --vocab " GOLDEN "vocab.txt", in(dir, "direct.gguf"), config) == 0);
    CHECK(same_files(in(dir, "again.gguf"), in(dir, "direct.gguf")));
    CHECK(convert(GOLDEN "sim.ckpt %s -q --config " GOLDEN "sim.bert_config.json --mask unilm --pooler linear",
          in(sim, "model.safetensors")) == 0);
    CHECK(convert("%s %s -q --vocab " GOLDEN "vocab.txt", sim, in(sim, "sim.gguf")) == 0 && *said == 0);
    keys_are(in(sim, "sim.gguf"), (const Key[]){{"roformer.mask", "unilm"}, {"roformer.pooler", "linear"}}, 2);
    /* nothing of somebody else's is overwritten, and nothing half done is left */
    CHECK(convert(GOLDEN "v1.bin %s " V1, in(dir, "other.safetensors")) == 1 &&
          fails("config.json: is there already and differs"));
    CHECK(!file_exists(in(dir, "other.safetensors")) && files_in(dir) == 5);
    CHECK(convert(GOLDEN "v1.snappy.ckpt %s -q --config %s", in(dir, "model.safetensors"), config) == 0); /* the same again */
    CHECK(convert("%s %s", dir, in(dir, "model.safetensors")) == 1 && fails("is part of the input"));
    CHECK(convert("%s %s -q", in(dir, "model.safetensors"), in(dir, "half.safetensors")) == 0 && files_in(dir) == 6);
}

/* ---- refusals ---- */

/* A configuration with one thing changed. */
static void configs_refused(void) {
    static const struct { const char *from, *to, *expected; } rows[] = {
        {"\"hidden_size\": 8", "\"hidden_size\": 12", "has the shape [8, 4], the configuration asks for [12, 4] (as [out, in])"},
        {"\"hidden_size\": 8", "\"hidden_size\": 7", "num_attention_heads does not divide"},
        {"\"hidden_size\": 8", "\"hidden_size\": 6", "is odd"},
        {"\"hidden_size\": 8", "\"hidden_size\": 8.5", "hidden_size is not a whole number"},
        {"\"hidden_size\": 8", "\"hidden_size\": \"8\"", "hidden_size must be a number"},
        {"\"hidden_size\": 8", "\"x\": 8", "hidden_size is missing"},
        {"\"hidden_size\": 8", "\"hidden_size\": 0", "hidden_size is not"},
        {"\"hidden_size\": 8", "\"hidden_size\": 1e300", "hidden_size is not"},
        {"\"vocab_size\": 24", "\"vocab_size\": 23", "asks for [23, 4]"},
        {"\"embedding_size\": 4", "\"embedding_size\": 8", "asks for [24, 8]"},
        {"\"embedding_size\": 4", "\"embedding_size\": 5", "asks for [24, 5]"},
        {"\"intermediate_size\": 12", "\"intermediate_size\": 13", "asks for [13"},
        {"\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3",
         "tensor roformer.encoder.layer.2.attention.self.query.weight: is missing"},
        {"\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1", "layer that the configuration does not have"},
        {"\"num_hidden_layers\": 2", "\"num_hidden_layers\": 100000", "num_hidden_layers is not"},
        {"\"num_attention_heads\": 2", "\"num_attention_heads\": -2", "num_attention_heads is not"},
        {"\"type_vocab_size\": 2", "\"type_vocab_size\": 3", "asks for [3, 4]"},
        {"\"layer_norm_eps\": 1e-12", "\"layer_norm_eps\": 0", "layer_norm_eps"},
        {"\"rotary_value\": false", "\"rotary_value\": 0", "rotary_value must be true or false"},
        {"\"model_type\": \"roformer\"", "\"model_type\": \"bert\"", "model_type is neither"},
        {"\"hidden_act\": \"gelu\"", "\"hidden_act\": 1", "hidden_act"},
        {"\"hidden_act\": \"gelu\"", "\"hidden_act\": \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"", "hidden_act"},
        {"\"use_cache\": true", "\"norm_type\": \"rms_norm\"", "norm_type is not"},
        {"\"add_cross_attention\": false", "\"add_cross_attention\": true", "cross attention"},
        {"\"vocab_size\": 24", "\"vocab_size\": 24, \"vocab_size\": 24", "stands twice"},
        {"{", "[", "line"},
    };
    const char *dir = folder("configs");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        with_config(in(dir, "c.json"), rows[i].from, rows[i].to);
        int code = convert(GOLDEN "v1.bin %s -q --config %s --vocab " GOLDEN "vocab.txt", in(dir, "m.gguf"), in(dir, "c.json"));
        CHECK(code == 1 && fails(rows[i].expected));
    }
    file_write(in(dir, "c.json"), "[]", 2);
    CHECK(convert(GOLDEN "v1.bin %s --config %s", in(dir, "m.gguf"), in(dir, "c.json")) == 1 && fails("not a JSON object"));
    CHECK(convert(GOLDEN "v1.bin %s -q", in(dir, "m.gguf")) == 1 && fails("no config.json or bert_config.json"));
    CHECK(files_in(dir) == 1);
}

/* Tensors and configurations that do not belong together. */
static void models_refused(void) {
    const char *dir = folder("refused");
    static const char *const rows[][3] = {
        {"v2.bin", "gau.config.json", "num_attention_heads"},
        {"v1.bin", "v2.config.json", "norm_type is not what"},
        {"gau.bin", "gau.bert_config.json", ""},
        {"sequence.legacy.bin", "token.config.json", "id2label has not one label for each"},
        {"llama.bin", "v1.config.json", "the configuration is a RoFormer's"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int code = convert(GOLDEN "%s %s -q --vocab " GOLDEN "vocab.txt --config " GOLDEN "%s", rows[i][0],
                           in(dir, "m.gguf"), rows[i][1]);
        CHECK(*rows[i][2] ? code == 1 && fails(rows[i][2]) : code == 0);
    }
    static const struct { const char *text, *expected; } vocabs[] = {
        {"[UNK]\na\n\xff\n", "line 3 is not UTF-8"}, {"a\nb\n", "no token [UNK]"},
        {"[UNK]\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n", "more tokens than the model's 24"}, {"", "empty"},
    };
    for (size_t i = 0; i < sizeof vocabs / sizeof *vocabs; i++) {
        file_write(in(dir, "v.txt"), vocabs[i].text, strlen(vocabs[i].text));
        CHECK(convert(GOLDEN "v1.bin %s -q --config " GOLDEN "v1.config.json --vocab %s", in(dir, "x.gguf"),
              in(dir, "v.txt")) == 1);
        CHECK(fails(vocabs[i].expected) && !file_exists(in(dir, "x.gguf")));
    }
    /* a short vocabulary is filled up; lines may end as Windows' do */
    file_write(in(dir, "v.txt"), "[UNK]\r\na\r\n\r\nb", 13);
    CHECK(convert(GOLDEN "v1.bin %s -q --config " GOLDEN "v1.config.json --vocab %s", in(dir, "x.gguf"), in(dir, "v.txt")) == 0);
    Weights w;
    if (opens(&w, in(dir, "x.gguf"))) {
        CHECK(strncmp(meta_text(&w, "tokenizer.ggml.tokens"), "[UNK]|a||b|[PAD4]|[PAD5]|", 25) == 0);
        CHECK(strncmp(meta_text(&w, "tokenizer.ggml.token_type"), "2|1|1|1|5|5", 11) == 0);
        CHECK(strcmp(meta_text(&w, "tokenizer.ggml.cls_token_id"), "absent") == 0);
    }
    weights_close(&w);
}

static void usage(void) {
    static const char *const wrong[] = {"", "a", "--list", "a b c", "a b.gguf c.gguf", "--type", "a b.gguf --type f8",
                                        "a b.gguf --mask x", "a b.gguf --pooler x", "a b.gguf --bogus", "--list a b.gguf",
                                        "a b.gguf --config"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int code = convert("%s", wrong[i]);
        CHECK(code == 2 && fails("convert: ") && *out == 0);
    }
    CHECK(convert(GOLDEN "v1.bin out.bin") == 2 && fails("must end in .gguf or .safetensors"));
    CHECK(convert("--help") == 0 && strstr(out, "usage: ") && strstr(out, "examples:") && *said == 0);
    CHECK(convert("not-there %s", test_tmp("x.gguf")) == 1 && fails("not-there: No such file"));
    CHECK(convert("tests/test.h %s", test_tmp("x.gguf")) == 1 && fails("neither a PyTorch file"));
    CHECK(convert("model/tales-1m.gguf %s", test_tmp("x.safetensors")) == 1 && fails("a GGUF file already"));
    CHECK(convert(GOLDEN "v1.bin /not-there/x.gguf -q " V1) == 1 && fails("cannot be written: No such file"));
    CHECK(convert("--list " GOLDEN "v1.bin -q") == 0 && *said == 0);
    CHECK(strstr(out, "roformer.encoder.layer.1.output.dense.weight  [8, 12]  F32  -> blk.1.ffn_down.weight\n"));
    const char *dir = folder("full");
    char args[2000];
    snprintf(args, sizeof args, GOLDEN "v1.bin %s -q " V1, in(dir, "x.gguf"));
    CHECK(shell("ulimit -f 4; ", args) == 1 && fails("cannot be written: File too large")); /* no room; LLVM's OpenMP takes a kilobyte for itself */
    CHECK(files_in(dir) == 0); /* nothing is left behind */
}

/* Files that would run something, or take all memory: refused in a line, within 200 MB, and nothing was run. */
static void hostile(void) {
    const char *dir = folder("hostile");
    char command[600], args[2000];
    snprintf(command, sizeof command, "touch %s", in(dir, "pwned"));
    Buffer b = {0};
    static const uint8_t magic[] = {0x80, 2, 0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, '.',
                                    0x80, 2, 'M', 0xe9, 3, '.'};
    buffer_bytes(&b, magic, sizeof magic);
    buffer_bytes(&b, "\x80\2}U\15little_endian\x88s.\x80\2cos\nsystem\n(X", 37);
    buffer_u32(&b, (uint32_t)strlen(command));
    buffer_bytes(&b, command, strlen(command));
    buffer_bytes(&b, "tR.", 3);
    file_write(in(dir, "evil.bin"), b.data, b.n);
    free(b.data);
    CHECK(convert("%s %s", in(dir, "evil.bin"), in(dir, "x.safetensors")) == 1 && fails("asks for os.system"));
    CHECK(!file_exists(in(dir, "pwned")) && files_in(dir) == 1);
    /* a megabyte of opcodes that make values, and a memo index of 2^32 - 1 */
    char *bomb = malloc(1 << 20);
    memset(bomb, '}', 1 << 20);
    memcpy(bomb, magic, sizeof magic);
    memcpy(bomb + sizeof magic, "\x80\2}r\xff\xff\xff\xff", 8);
    file_write(in(dir, "memo.bin"), bomb, 1 << 20);
    memset(bomb + sizeof magic + 2, ')', 6);
    file_write(in(dir, "values.bin"), bomb, 1 << 20);
    free(bomb);
    const char *limit = test_sanitized ? "" : "ulimit -v 200000; "; /* the sanitizer's shadow takes terabytes of address space */
    snprintf(args, sizeof args, "--list %s", in(dir, "memo.bin"));
    CHECK(shell(limit, args) == 1 && fails("memo index"));
    snprintf(args, sizeof args, "--list %s", in(dir, "values.bin"));
    CHECK(shell(limit, args) == 1 && fails("ends too early"));
}

const Test tests_convert[] = {
    {"convert/containers", containers},
    {"convert/models", models},
    {"convert/heads", heads},
    {"convert/types", types},
    {"convert/other_family", other_family},
    {"convert/folders", folders},
    {"convert/sidecars", sidecars},
    {"convert/configs_refused", configs_refused},
    {"convert/models_refused", models_refused},
    {"convert/usage", usage},
    {"convert/hostile", hostile},
    {0},
};
