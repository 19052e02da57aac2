/* tests/test_convert.c - weights-tools/convert as its users meet it: every container and model of tests/golden/convert
 * to GGUF and safetensors, every bit compared. */
#include "convert_files.h"
#include "model/encoder.h"
#include "weights-tools/checkpoint/open.h"
#include "weights-tools/plan.h"
#include "program.h"
#include "test.h"
#include "base/newfile.h"
#include "base/paths.h"

#include <stdlib.h>
#include <string.h>

#define GOLDEN CONVERT_GOLDEN
#define V1 CONVERT_V1

/* ---- one model, five containers ---- */

/* The logits of a few ids, [LOGIT_IDS, LOGIT_VOCAB], as the engine has them of that model; zeroes where it does not
 * open. */
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
    CHECK(m.config.vocab_size == LOGIT_VOCAB &&
          session_init(&s, &m, &(SessionOptions){.n_ctx = 16}, err, sizeof err) == 0);
    CHECK(encoder_read(&s, &(EncoderText){.ids = ids, .types = types, .n = LOGIT_IDS}, 1, err, sizeof err) == 0);
    for (size_t t = 0; t < LOGIT_IDS; t++)
        memcpy(out_logits + t * LOGIT_VOCAB, encoder_logits(&s, t), LOGIT_VOCAB * sizeof *out_logits);
    session_free(&s);
    model_close(&m);
}

static const Key v1_keys[] = {
    {"general.architecture", "roformer"}, {"general.name", "m"}, {"general.file_type", "0"},
    {"roformer.variant", "v1"},
    {"roformer.context_length", "16"}, {"roformer.embedding_length", "8"}, {"roformer.embedding_length_in", "4"},
    {"roformer.feed_forward_length", "12"}, {"roformer.block_count", "2"}, {"roformer.token_type_count", "2"},
    {"roformer.attention.head_count", "2"}, {"roformer.attention.key_length", "absent"},
    {"roformer.attention.layer_norm_epsilon", "1e-12"}, {"roformer.rope.freq_base", "10000"},
    {"roformer.rope.dimension_count", "4"}, {"roformer.rotary_value", "false"}, {"roformer.hidden_act", "gelu"},
    {"roformer.mask", "padding"}, {"roformer.pooler", "none"}, {"roformer.classifier.kind", "absent"},
    {"roformer.classifier.labels", "absent"}, {"tokenizer.ggml.model", "wordpiece"},
    {"tokenizer.ggml.tokens",
     "[PAD]|[UNK]|[CLS]|[SEP]|[MASK]|[unused1]|今|天|气|很|好|我|去|公|园|玩|。|##a|b|the|非常|é|xxxxxxxxx|##天"},
    {"tokenizer.ggml.token_type", "3|2|3|3|3|5|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1"},
    {"tokenizer.ggml.cls_token_id", "2"}, {"tokenizer.ggml.seperator_token_id", "3"},
    {"tokenizer.ggml.padding_token_id", "0"},
    {"tokenizer.ggml.mask_token_id", "4"}, {"tokenizer.ggml.unknown_token_id", "1"},
    {"tokenizer.ggml.bos_token_id", "2"},
    {"tokenizer.ggml.eos_token_id", "3"}, {"tokenizer.ggml.lower_case", "absent"},
};

static void containers(void) {
    float first[LOGIT_IDS * LOGIT_VOCAB], logits[LOGIT_IDS * LOGIT_VOCAB];
    static const char *const files[] = {"v1.safetensors", "v1.bin", "v1.legacy.bin", "v1.raw.ckpt", "v1.snappy.ckpt"};
    const char *dir = convert_folder("containers");
    for (int i = 0; i < 5; i++) {
        char name[40], sub[40];
        snprintf(name, sizeof name, "%d.gguf", i);
        snprintf(sub, sizeof sub, "containers/%d", i);
        CHECK(tool("", "convert", GOLDEN "%s %s -q " V1, files[i], test_in(dir, name)) == 0 && *said == 0 && *out == 0);
        CHECK(gguf_holds(test_in(dir, name), 43, "roformer.", ""));
        CHECK(files_equal(test_in(dir, name), test_in(dir, "0.gguf"))); /* bit for bit the same file */
        const char *hf = convert_folder(sub);
        const char *tensors = test_in(hf, "model.safetensors");
        CHECK(tool("", "convert", GOLDEN "%s %s -q " CONVERT_V1_FILES, files[i], tensors) == 0 && *said == 0);
        CHECK(files_in(hf) == 3 && files_equal(test_in(hf, "config.json"), GOLDEN "v1.config.json"));
        CHECK(files_equal(test_in(hf, "vocab.txt"), GOLDEN "vocab.txt"));
        /* the model by its five ways, and each as GGUF and as a folder */
        logits_of(test_in(dir, name), i ? logits : first);
        CHECK(i == 0 ? first[0] != 0 : memcmp(first, logits, sizeof first) == 0);
        logits_of(hf, logits);
        CHECK(memcmp(first, logits, sizeof first) == 0);
        Weights w;
        if (!weights_opened(&w, hf)) continue;
        CHECK(w.format == FORMAT_HF && w.n_tensors == (i < 3 ? 44u : 43u)); /* PyTorch's have a table of sines */
        for (size_t t = 0; t < w.n_tensors; t++) {
            int sines = strcmp(w.tensors[t].name, "roformer.encoder.embed_positions.weight") == 0;
            CHECK((sines && i < 3) || values_are(&w.tensors[t], w.tensors[t].name));
        }
        weights_close(&w);
    }
    keys_are(test_in(dir, "0.gguf"), v1_keys, sizeof v1_keys / sizeof *v1_keys);
}

/* ---- the other models ---- */

static const struct {
    const char *file, *config, *options, *prefix, *heads;
    size_t n;
    Key keys[6];
} model_rows[] = {
    {"v2.bin", "v2.config.json", "", "roformer.", "", 14,
     {{"roformer.variant", "v2"}, {"roformer.hidden_act", "relu"}, {"roformer.embedding_length_in", "8"},
      {"roformer.mask", "padding"}}},
    {"gau.bin", "gau.config.json", "", "gau_alpha.", "", 10,
     {{"roformer.variant", "gau-alpha"}, {"roformer.attention.key_length", "6"},
      {"roformer.rope.dimension_count", "6"},
      {"roformer.attention.head_count", "1"}, {"roformer.hidden_act", "swish"},
      {"roformer.context_length", "512"}}},
    {"gau.ckpt", "gau.bert_config.json", "", "gau_alpha.", "", 10,
     {{"roformer.variant", "gau-alpha"}, {"roformer.attention.key_length", "6"},
      {"roformer.attention.head_count", "1"}}},
    {"sim.ckpt", "sim.bert_config.json", "--pooler linear", "roformer.", "", 27,
     {{"roformer.mask", "unilm"}, {"roformer.pooler", "linear"}, {"roformer.variant", "v1"}}},
    {"sim.ckpt", "sim.bert_config.json", "--mask causal", "roformer.", "", 27,
     {{"roformer.mask", "causal"}, {"roformer.pooler", "tanh"}}},
    {"sequence.legacy.bin", "sequence.config.json", "", "roformer.", "", 24,
     {{"roformer.classifier.kind", "sequence"}, {"roformer.classifier.labels", "no|maybe|yes"},
      {"roformer.pooler", "none"}}},
    {"token.bin", "token.config.json", "", "roformer.", "", 22,
     {{"roformer.classifier.kind", "token"},
      {"roformer.classifier.labels", "LABEL_0|LABEL_1|LABEL_2|LABEL_3|LABEL_4"},
      {"roformer.rotary_value", "true"}}},
    {"discriminator.bin", "discriminator.config.json", "", "", "", 26,
     {{"roformer.rotary_value", "true"}, {"roformer.classifier.kind", "absent"},
      {"roformer.embedding_length_in", "4"}}},
    {"generator.bin", "generator.config.json", "", "electra.", "generator_", 27,
     {{"roformer.embedding_length_in", "4"}}},
};

static void models(void) {
    const char *dir = convert_folder("models");
    for (size_t i = 0; i < sizeof model_rows / sizeof *model_rows; i++) {
        const char *path = test_in(dir, "m.gguf");
        int code = tool("", "convert", GOLDEN "%s %s --config " GOLDEN "%s --vocab " GOLDEN "vocab.txt %s",
                        model_rows[i].file, path, model_rows[i].config, model_rows[i].options);
        CHECK(code == 0);
        if (code) printf("    %s: %s", model_rows[i].file, said);
        int good = code == 0 && gguf_holds(path, model_rows[i].n, model_rows[i].prefix, model_rows[i].heads);
        if (!good) printf("    %s\n", model_rows[i].file);
        CHECK(good);
        size_t n = 0;
        while (n < 6 && model_rows[i].keys[n].key) n++;
        if (code == 0) keys_are(path, model_rows[i].keys, n);
        CHECK(!strstr(said, "left out")); /* its position_ids are known: nothing to say */
        CHECK((strstr(said, "--pooler linear") != NULL) == (model_rows[i].options[0] &&
                                                            !strstr(model_rows[i].options, "pooler")));
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

/* Tensors beside those of v1, and what they lead to. */
static const struct {
    Extra extra[2];
    const char *to; /* instead of the configuration's architecture */
    const char *says;
    int code;
    size_t n; /* tensors of the GGUF file */
    const char *gguf, *kind;
} head_rows[] = {
    {{{"qa_outputs.weight", 2, 8, ELEM_F32}, {"qa_outputs.bias", 2, 0, ELEM_F64}}, "X", "", 0, 45, "qa.bias", "qa"},
    {{{"classifier.weight", 1, 8, ELEM_F32}, {"classifier.bias", 1, 0, ELEM_F32}}, "RoFormerForMultipleChoice", "", 0,
     45,
     "cls.weight", "choice"},
    {{{"cls.seq_relationship.weight", 2, 8, ELEM_F64}, {"cls.seq_relationship.bias", 2, 0, ELEM_F32}}, "X", "", 0, 45,
     "nsp.weight", "absent"},
    {{{"qa_outputs.weight", 2, 8, ELEM_F32}}, "X", "tensor qa_outputs.bias: is missing", 1, 0, NULL, NULL},
    {{{"crf.transitions", 9, 9, ELEM_F32}}, "X",
     "left out: 1 tensor that no RoFormer known here has (crf.transitions ..)",
     0, 43, NULL, "absent"},
    {{{"roformer.encoder.layer.0.adapter.weight", 9, 9, ELEM_F32}}, "X", "no RoFormer known here has it", 1, 0, NULL,
     NULL},
    {{{"roformer.embeddings.position_embeddings.weight", 9, 4, ELEM_F32}}, "X", "a BERT, not a RoFormer", 1, 0, NULL,
     NULL},
    {{{"bert.embeddings.word_embeddings.weight", 24, 4, ELEM_F32}}, "X", "stands twice under different names", 1, 0,
     NULL,
     NULL},
    {{{"cls.predictions.decoder.weight", 24, 4, ELEM_F32}}, "X",
     "has another cls.predictions.decoder.weight: the file's is used", 0, 44, "mlm.decoder.weight", "absent"},
    {{{"cls.predictions.decoder.weight", 24, 4, ELEM_F32}, {"cls.predictions.decoder.bias", 24, 0, ELEM_F32}}, "X",
     "has another cls.predictions.decoder.weight, cls.predictions.decoder.bias: ", 0, 44, "mlm.decoder.weight",
     "absent"},
};

/* A row's file and configuration: what convert makes and says of it. */
static void expect_head(size_t i, const char *source, const char *config, const char *path) {
    char name[TORCH_NAME_MAX];
    with_extras(source, head_rows[i].extra);
    with_config(config, "RoFormerForMaskedLM", head_rows[i].to);
    int code = tool("", "convert", "%s %s --config %s --vocab " GOLDEN "vocab.txt", source, path, config);
    int good = code == head_rows[i].code && strstr(said, head_rows[i].says);
    if (!good) printf("    %s: code %d, %s", head_rows[i].extra[0].name, code, said);
    CHECK(good);
    Weights w;
    if (code || !weights_opened(&w, path)) return;
    const char *gguf = head_rows[i].gguf;
    CHECK(w.n_tensors == head_rows[i].n);
    CHECK(strcmp(meta_text(&w, "roformer.classifier.kind"), head_rows[i].kind) == 0);
    const Tensor *t = gguf ? weights_find(&w, gguf) : NULL;
    if (gguf) torch_name(name, gguf, "roformer.", "");
    CHECK(!gguf || (t && t->type == TENSOR_F32 && values_are(t, name)));
    weights_close(&w);
}

/* Which tensors the heads and the ties of a file lead to, and what is said or refused. */
static void heads(void) {
    const char *dir = convert_folder("heads"), *source = test_in(dir, "x.safetensors");
    const char *config = test_in(dir, "c.json"), *path = test_in(dir, "m.gguf");
    for (size_t i = 0; i < sizeof head_rows / sizeof *head_rows; i++) expect_head(i, source, config, path);
    /* where nothing is tied, the decoder and its own bias count */
    with_extras(source, (const Extra[]){{"cls.predictions.decoder.weight", 24, 4, ELEM_F32},
                                        {"cls.predictions.decoder.bias", 24, 0, ELEM_F32}});
    with_config(config, "\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false");
    CHECK(tool("", "convert", "%s %s --config %s --vocab " GOLDEN "vocab.txt", source, path, config) == 0 &&
          strstr(said, "decoder.bias is kept"));
    Weights w;
    if (!weights_opened(&w, path)) return;
    const Tensor *decoder = weights_find(&w, "mlm.decoder.weight"), *bias = weights_find(&w, "mlm.bias");
    CHECK(w.n_tensors == 44 && decoder && values_are(decoder, "cls.predictions.decoder.weight"));
    CHECK(bias && values_are(bias, "cls.predictions.decoder.bias"));
    weights_close(&w);
}

/* F16 for matrices, F32 for vectors and the small table of token types; and numbers that F16 cannot hold. */
static void types(void) {
    const char *dir = convert_folder("types");
    CHECK(tool("", "convert", GOLDEN "v1.bin %s --type f16 " V1, test_in(dir, "h.gguf")) == 0);
    CHECK(gguf_holds(test_in(dir, "h.gguf"), 43, "roformer.", ""));
    Weights w;
    if (weights_opened(&w, test_in(dir, "h.gguf")))
        for (size_t i = 0; i < w.n_tensors; i++)
            CHECK(w.tensors[i].type == (w.tensors[i].n_dims == 2 && strcmp(w.tensors[i].name, "token_types.weight") != 0
                                            ? TENSOR_F16 : TENSOR_F32));
    CHECK(strcmp(meta_text(&w, "general.file_type"), "1") == 0);
    weights_close(&w);
    /* from TensorFlow the matrices are turned on the way; the same file comes out */
    CHECK(tool("", "convert", GOLDEN "v1.raw.ckpt %s --type f16 " V1, test_in(dir, "t.gguf")) == 0 &&
          files_equal(test_in(dir, "h.gguf"), test_in(dir, "t.gguf")));
    CHECK(tool("", "convert", GOLDEN "llama.bin %s --type f32", test_in(dir, "llama.safetensors")) == 0);
    CHECK(strstr(said, "no config.json"));
    Checkpoint c;
    char err[300];
    CHECK(checkpoint_open(&c, test_in(dir, "llama.safetensors"), err, sizeof err) == 0 && c.n_views == 12);
    for (size_t i = 0; i < c.n_views; i++)
        CHECK(c.views[i].type == ELEM_F32 && (load_u32(c.views[i].data) & 0xffff) == 0);
    checkpoint_close(&c);
    const char *big = test_in(dir, "big.safetensors"); /* one matrix [1, 2] of 1e5 and 1 */
    static const char header[] = "{\"w\":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[0,8]}}";
    char file[200] = {(char)(sizeof header - 1)};
    memcpy(file + 8, header, sizeof header - 1);
    memcpy(file + 8 + sizeof header - 1, (const float[]){1e5f, 1}, 8);
    file_write(big, file, 8 + sizeof header - 1 + 8);
    CHECK(tool("", "convert", "%s %s -q --type f16", big, test_in(dir, "x.safetensors")) == 1 &&
          said_line("w holds numbers too large for F16"));
    memcpy(strstr(file + 8, "F32"), "X32", 3); /* a type that is not known must not be lost in silence */
    file_write(big, file, 8 + sizeof header - 1 + 8);
    CHECK(tool("", "convert", "%s %s -q", big, test_in(dir, "x.safetensors")) == 1 && said_line("X32"));
    /* llama.safetensors has a vocab.txt beside it */
    CHECK(!file_exists(test_in(dir, "x.safetensors")) && files_in(dir) == 5);
}

const Test tests_convert[] = {
    {"convert/containers", containers},
    {"convert/models", models},
    {"convert/heads", heads},
    {"convert/types", types},
    {0},
};
