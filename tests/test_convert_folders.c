/* tests/test_convert_folders.c - weights-tools/convert of folders as they lie about: other families, shards, a
 * TensorFlow prefix; and the files beside the weights. */
#include "base/json.h"
#include "convert_files.h"
#include "program.h"
#include "test.h"
#include "tokenizer_files.h"
#include "base/paths.h"

#include <stdlib.h>
#include <string.h>

#define GOLDEN CONVERT_GOLDEN
#define V1 CONVERT_V1

/* A config.json without model_type is none of Hugging Face's: convert makes one. */
static void forget_type(const char *path) {
    size_t n = 0;
    char *text = file_read(path, &n), *at = text ? strstr(text, "\"model_type\"") : NULL;
    if (at) at[1] = '_', file_write(path, text, n);
    free(text);
}

/* Names, types and bits as they are; the tied lm_head and the integers stay out; the strides are gone. */
static void llama_is_there(const char *hf) {
    Weights w;
    if (!weights_opened(&w, hf)) return;
    CHECK(w.n_tensors == 11 && !weights_find(&w, "lm_head.weight") &&
          weights_find(&w, "model.layers.0.mlp.down_proj.weight"));
    for (size_t i = 0; i < w.n_tensors; i++)
        CHECK(w.tensors[i].type == TENSOR_BF16 && values_are(&w.tensors[i], w.tensors[i].name));
    CHECK(json_is(json_get(w.config, "model_type"), "llama"));
    weights_close(&w);
}

/* The same as GGUF: what has no heads has its bits, and row 2p + k of q's first head is row k d/2 + p of the
 * checkpoint's. */
static void llama_gguf_is_there(const char *path) {
    Weights w;
    if (!weights_opened(&w, path)) return;
    const Tensor *q = weights_find(&w, "blk.0.attn_q.weight"), *down = weights_find(&w, "blk.0.ffn_down.weight");
    CHECK(w.n_tensors == 11 && q && down && down->type == TENSOR_BF16 &&
          values_are(down, "model.layers.0.mlp.down_proj.weight"));
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
    const char *from = convert_folder("llama"), *shards = convert_folder("llama-shards"),
               *a = convert_folder("llama-a"), *b = convert_folder("llama-b");
    golden_into("llama.bin", from, "pytorch_model.bin");
    golden_into("llama.config.json", from, "config.json");
    file_write(test_in(from, "tokenizer.json"), "{}", 2);
    CHECK(tool("", "convert", "%s %s", from, test_in(a, "model.safetensors")) == 0 &&
          strstr(said, "left out: 1 tensor of integers"));
    llama_is_there(a);
    CHECK(files_in(a) == 3 && files_equal(test_in(a, "tokenizer.json"), test_in(from, "tokenizer.json")));
    CHECK(tool("", "convert", "%s %s -q", from, test_in(b, "m.gguf")) == 1 &&
          said_line("tokenizer.json: JSON, but no tokenizer.json"));
    /* PyTorch's file, GGUF's names and pairs */
    CHECK(tool("", "convert", "%s %s -q --no-tokenizer", from, test_in(a, "m.gguf")) == 0);
    llama_gguf_is_there(test_in(a, "m.gguf"));
    golden_into("llama.bin.index.json", shards, "pytorch_model.bin.index.json");
    golden_into("llama-00001-of-00002.bin", shards, "llama-00001-of-00002.bin");
    golden_into("llama.config.json", shards, "config.json");
    CHECK(tool("", "convert", "%s %s -q", shards, test_in(b, "model.safetensors")) == 1 &&
          said_line("llama-00002-of-00002.bin: No such file"));
    golden_into("llama-00002-of-00002.bin", shards, "llama-00002-of-00002.bin");
    CHECK(tool("", "convert", "%s %s", shards, test_in(b, "model.safetensors")) == 0);
    llama_is_there(b);
    size_t n;
    char *index = file_read(test_in(shards, "pytorch_model.bin.index.json"), &n),
         *at = strstr(index, "model.norm.weight");
    at[0] = 'x';
    file_write(test_in(shards, "pytorch_model.bin.index.json"), index, n);
    CHECK(tool("", "convert", "%s %s -q", shards, test_in(b, "x.safetensors")) == 1 &&
          said_line("does not list tensor model.norm.weight"));
    at = strstr(index, "llama-00001");
    memcpy(at, "../../../00", 11);
    file_write(test_in(shards, "pytorch_model.bin.index.json"), index, n);
    CHECK(tool("", "convert", "%s %s -q", shards, test_in(b, "x.safetensors")) == 1 && said_line("plain name"));
    free(index);
    /* the same tensors in a real file of another model, of Python 2 */
    const char *alex = test_data("checkpoints/alex.pth");
    if (!alex) return;
    CHECK(tool("", "convert", "%s %s -q", alex, test_in(b, "alex.safetensors")) == 0);
    CHECK(checkpoints_equal(alex, test_in(b, "alex.safetensors"), 5));
}

/* What tokenizer_config.json says that the keys do not: other ids would come from the file than from the folder. */
static void words_settings(void) {
    static const struct { const char *config, *says; } rows[] = { /* says: the refusal, or "" and what is noted */
        {"{\"strip_accents\":false}", "strip_accents is false, for which GGUF has no key"},
        {"{\"do_lower_case\":false,\"strip_accents\":true}", "strip_accents is true"},
        {"{\"tokenize_chinese_chars\":false}", "tokenize_chinese_chars is false"},
        {"{\"do_basic_tokenize\":false}", "do_basic_tokenize is false"},
        {"{\"cls_token\":\"[SEP]\"}", "cls_token is \"[SEP]\""},
        {"{\"unk_token\":{\"content\":\"a\"}}", "unk_token is \"a\""},
        {"{\"added_tokens_decoder\":{\"1\":{\"content\":\"[UNK]\"},\"7\":{\"content\":\"x\"}}}", "the added token 7, "},
        {"{\"do_lower_case\":\"no\"}", "do_lower_case is neither true nor false"},
        {"{\"clean_up_tokenization_spaces\":1}", "clean_up_tokenization_spaces is neither true nor false"},
        {"{\"do_lower_case\"", "tokenizer_config.json: line 1"},
        {"[]", "tokenizer_config.json: not an object"},
        {"{\"do_lower_case\":null,\"strip_accents\":null,\"tokenize_chinese_chars\":true,\"mask_token\":\"[MASK]\","
         "\"added_tokens_decoder\":{\"1\":{\"content\":\"[UNK]\"}}}", NULL},
        {"{\"do_lower_case\":false,\"strip_accents\":false}", NULL},
    };
    const char *folder = convert_folder("words");
    golden_into("v1.legacy.bin", folder, "pytorch_model.bin");
    golden_into("v1.config.json", folder, "config.json");
    golden_into("vocab.txt", folder, "vocab.txt");
    for (size_t i = 0; i < COUNT(rows); i++) {
        write_text(test_in(folder, "tokenizer_config.json"), rows[i].config);
        int code = tool("", "convert", "%s %s -q -f", folder, test_in(folder, "m.gguf"));
        int right = rows[i].says ? code == 1 && said_line(rows[i].says) : code == 0 && *said == 0;
        if (!right) printf("    %s: %d, %s\n", rows[i].config, code, said);
        CHECK(right);
    }
    write_text(test_in(folder, "tokenizer_config.json"), "{\"clean_up_tokenization_spaces\":false}"); /* not of ids */
    CHECK(tool("", "convert", "%s %s -f", folder, test_in(folder, "m.gguf")) == 0 &&
          strstr(said, "left out: clean_up_tokenization_spaces"));
    write_text(test_in(folder, "added_tokens.json"), "{\"[MASK]\":4,\"qqq\":24}");
    CHECK(tool("", "convert", "%s %s -q -f", folder, test_in(folder, "m.gguf")) == 1 &&
          said_line("added_tokens.json: the token \"qqq\", for which GGUF has no key"));
    remove(test_in(folder, "added_tokens.json"));
    write_text(test_in(folder, "tokenizer_config.json"), rows[0].config);
    CHECK(tool("", "convert", "%s %s -q -f --no-tokenizer", folder, test_in(folder, "m.gguf")) == 0);
}

/* The forms in which checkpoints lie about: folders of three kinds, a prefix, an index. */
static void folders(void) {
    const char *torch = convert_folder("torch"), *tf = convert_folder("chinese_roformer"),
               *other = convert_folder("other"), *to = convert_folder("folders");
    golden_into("v1.legacy.bin", torch, "pytorch_model.bin");
    golden_into("v1.config.json", torch, "config.json");
    golden_into("vocab.txt", torch, "vocab.txt");
    file_write(test_in(torch, "tokenizer_config.json"), "{\"do_lower_case\": false}", 24);
    CHECK(tool("", "convert", "%s %s", torch, test_in(to, "torch.gguf")) == 0 &&
          gguf_holds(test_in(to, "torch.gguf"), 43, "roformer.", ""));
    keys_are(test_in(to, "torch.gguf"),
             (const Key[]){{"general.name", "torch"}, {"tokenizer.ggml.lower_case", "false"}}, 2);
    golden_into("v1.raw.ckpt.index", tf, "bert_model.ckpt.index");
    golden_into("v1.raw.ckpt.data-00000-of-00001", tf, "bert_model.ckpt.data-00000-of-00001");
    golden_into("v1.bert_config.json", tf, "bert_config.json");
    golden_into("vocab.txt", tf, "vocab.txt");
    static const char *const forms[] = {"", "/", "/bert_model.ckpt", "/bert_model.ckpt.index"};
    for (int i = 0; i < 4; i++) {
        CHECK(tool("", "convert", "%s%s %s", tf, forms[i], test_in(to, "tf.gguf")) == 0 &&
              gguf_holds(test_in(to, "tf.gguf"), 43, "roformer.", ""));
        CHECK(strstr(said, "left out: 3 of an optimizer's tensors"));
        keys_are(test_in(to, "tf.gguf"), (const Key[]){{"general.name", "chinese_roformer"}}, 1);
    }
    CHECK(tool("", "convert", "%s/bert_model.ckpt.data-00000-of-00001 %s", tf, test_in(to, "x.gguf")) == 1 &&
          said_line("give its .index file"));
    golden_into("gau.ckpt.index", other, "one.index");
    golden_into("gau.ckpt.data-00000-of-00001", other, "one.data-00000-of-00001");
    CHECK(tool("", "convert", "--list %s", other) == 0);
    CHECK(strstr(out, "GAU_alpha/encoder/layer_0/gau/i_dense/kernel  [8, 30]  F32  -> blk.0.gau_in.weight\n"));
    golden_into("gau.ckpt.index", other, "two.index");
    CHECK(tool("", "convert", "--list %s", other) == 1 && said_line("several TensorFlow checkpoints"));
    CHECK(tool("", "convert", "--list %s/two", other) == 1 && said_line("two.data-00000-of-00001: No such file"));
    CHECK(tool("", "convert", "--list %s", to) == 1 && said_line("in this folder"));
}

/* A checkpoint with bert_config.json gets the config.json that transformers reads, and gives the same model. */
static void sidecars(void) {
    const char *dir = convert_folder("sidecars"), *sim = convert_folder("sidecars-sim");
    char config[600];
    CHECK(tool("", "convert",
               GOLDEN "v1.snappy.ckpt %s --config " GOLDEN "v1.bert_config.json --vocab " GOLDEN "vocab.txt",
          test_in(dir, "model.safetensors")) == 0);
    Weights w;
    if (weights_opened(&w, dir)) {
        const JsonValue *c = w.config;
        CHECK(json_is(json_get(c, "model_type"), "roformer") && json_get(c, "embedding_size")->number == 4);
        CHECK(json_is(json_get(c, "architectures")->child, "RoFormerForMaskedLM") &&
              json_get(c, "layer_norm_eps")->number == 1e-12);
        CHECK(json_get(c, "hidden_dropout_prob")->number == 0.1 && json_get(c, "rotary_value")->boolean == 0);
        CHECK(json_get(c, "max_position_embeddings")->number == 16 && !json_get(c, "directionality"));
    }
    weights_close(&w);
    snprintf(config, sizeof config, "%s", test_in(dir, "config.json"));
    CHECK(tool("", "convert", "%s %s -q --name m", dir, test_in(dir, "again.gguf")) == 0);
    CHECK(tool("", "convert", GOLDEN "v1.bin %s -q --name m --config %s --vocab " GOLDEN "vocab.txt",
               test_in(dir, "direct.gguf"), config) == 0);
    CHECK(files_equal(test_in(dir, "again.gguf"), test_in(dir, "direct.gguf")));
    CHECK(tool("", "convert",
               GOLDEN "sim.ckpt %s -q --config " GOLDEN "sim.bert_config.json --mask unilm --pooler linear",
          test_in(sim, "model.safetensors")) == 0);
    CHECK(tool("", "convert", "%s %s -q --vocab " GOLDEN "vocab.txt", sim, test_in(sim, "sim.gguf")) == 0 &&
          *said == 0);
    keys_are(test_in(sim, "sim.gguf"), (const Key[]){{"roformer.mask", "unilm"}, {"roformer.pooler", "linear"}}, 2);
    /* nothing of somebody else's is overwritten, and nothing half done is left */
    CHECK(tool("", "convert", GOLDEN "v1.bin %s " CONVERT_V1_FILES, test_in(dir, "other.safetensors")) == 1 &&
          said_line("config.json: is there already and differs"));
    CHECK(!file_exists(test_in(dir, "other.safetensors")) && files_in(dir) == 5);
    const char *same = test_in(sim, "same.safetensors");
    CHECK(tool("", "convert", GOLDEN "v1.bin %s -q --config " GOLDEN "v1.config.json", same) == 1 &&
          said_line("config.json: is there already and differs"));
    /* what is there already is the same, sandbox or not */
    CHECK(tool("", "convert", GOLDEN "sim.ckpt %s -q --config " GOLDEN
               "sim.bert_config.json --mask unilm --pooler linear", same) == 0);
    const char *again = test_in(dir, "model.safetensors");
    CHECK(tool("", "convert", GOLDEN "v1.snappy.ckpt %s -q --config %s", again, config) == 0); /* the same again */
    CHECK(tool("", "convert", "%s %s", dir, test_in(dir, "model.safetensors")) == 1 &&
          said_line("is part of the input"));
    CHECK(tool("", "convert", "%s %s -q", test_in(dir, "model.safetensors"), test_in(dir, "half.safetensors")) == 0 &&
          files_in(dir) == 6);
}

/* The config.json that is made where there is none of Hugging Face's, and what GGUF's keys say of the same. */
static const struct { const char *bin, *config, *from, *to, *options, *has[5], *without; Key keys[4]; } made_rows[] = {
    {"v1.bin", "v1.config.json", "\"use_cache\"", "\"attention_kind\": \"linear\", \"attention_form\": \"both\", "
     "\"attention_feature_map\": \"favor+\", \"attention_favor_seed\": 1099511627776, "
     "\"attention_favor_features\": 8, "
     "\"attention_denominator_epsilon\": 0.001, \"attention_log_scale\": null, \"use_cache\"", "",
     {"\"architectures\": [\"RoFormerForMaskedLM\"]", "\"attention_kind\": \"linear\"",
      "\"attention_favor_seed\": 1099511627776", "\"attention_denominator_epsilon\": 0.001",
      "\"attention_favor_features\": 8"}, "attention_log_scale",
     {{"roformer.attention.favor_seed", "1.09951e+12"}, {"roformer.attention.kind", "linear"},
      {"roformer.attention.denominator_epsilon", "0.001"}, {"roformer.attention.log_scale", "absent"}}},
    {"v1.bin", "v1.config.json", "\"use_cache\"", "\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 2, "
     "\"original_max_position_embeddings\": 8, \"truncate\": true, \"notes\": [null, \"a\", [], {}, false]}, "
     "\"attention_key_size\": 4, \"use_cache\"", "--mask causal",
     {"\"architectures\": [\"RoFormerForCausalLM\"]", "\"is_decoder\": true", "\"attention_key_size\": 4",
      "\"truncate\": true, \"notes\": [null, \"a\", [], {}, false]}"}, "use_bias",
     {{"roformer.rope.scaling.type", "yarn"}, {"roformer.mask", "causal"},
      {"roformer.attention.key_length", "4"}}},
    {"v1.bin", "v1.config.json", "\"is_decoder\": false", "\"is_decoder\": false, \"mask\": \"causal\"", "",
     {"\"is_decoder\": true"}, "\"mask\"", {{"roformer.mask", "causal"}}},
    {"v1.bin", "v1.config.json", "\"is_decoder\": false",
     "\"mask\": \"unilm\", \"alibi\": true, \"alibi_bias_max\": 4", "",
     {"\"is_decoder\": false", "\"mask\": \"unilm\"", "\"position_embedding_type\": \"alibi\"",
      "\"alibi_bias_max\": 4"}, "use_bias",
     {{"roformer.mask", "unilm"}, {"roformer.attention.position", "alibi"},
      {"roformer.attention.max_alibi_bias", "4"}}},
    {"v1.bin", "v1.config.json", "\"is_decoder\": false", "\"is_decoder\": false, \"alibi_bias_max\": 4", "",
     {"\"position_embedding_type\": \"alibi\"", "\"alibi_bias_max\": 4"}, "use_bias",
     {{"roformer.attention.position", "alibi"}, {"roformer.attention.max_alibi_bias", "4"}}},
    {"gau.bin", "gau.config.json", "\"hidden_size\"", "\"attention_head_size\": 2, \"hidden_size\"", "",
     {"\"attention_key_size\": 6"}, "attention_head_size",
     {{"roformer.attention.value_length", "absent"}, {"roformer.attention.key_length", "6"}}},
    {"v1.bin", "v1.config.json", "\"is_decoder\": false", "\"position_embedding_type\": \"rotary\"", "",
     {"\"is_decoder\": false"}, "\"position", {{"roformer.attention.position", "absent"}}},
    {"v1.bin", "v1.config.json", "\"is_decoder\": false", "\"position_embedding_type\": \"absolute\"", "",
     {"\"is_decoder\": false"}, "\"position", {{"roformer.attention.position", "absent"}}},
    {"v2.bin", "v2.config.json", "\"use_bias\": false,", "", "",
     {"\"architectures\": [\"RoFormerForMaskedLM\"]", "\"model_type\": \"roformer\"", "\"use_bias\": false",
      "\"norm_type\": \"rms_norm\""}, "normalization", {{"roformer.variant", "v2"}}},
    {"gau.bin", "gau.config.json", "\"hidden_size\"", "\"hidden_size\"", "",
     {"\"architectures\": [\"GAUAlphaForMaskedLM\"]", "\"model_type\": \"gau_alpha\"",
      "\"normalization\": \"softmax_plus\"", "\"attention_scale\": true", "\"attention_key_size\": 6"},
     "num_attention_heads", {{"roformer.variant", "gau-alpha"}}},
    {"sequence.legacy.bin", "sequence.config.json", "\"0\": \"no\"", "\"0\": 7", "",
     {"\"architectures\": [\"RoFormerModel\"]", "\"embedding_size\": 8"}, "pooler_activation",
     {{"roformer.classifier.labels", "LABEL_0|maybe|yes"}, {"roformer.classifier.problem", "absent"}}},
    {"sequence.legacy.bin", "sequence.config.json", "\"use_cache\"",
     "\"problem_type\": \"single_label_classification\", \"use_cache\"", "",
     {"\"architectures\": [\"RoFormerModel\"]"}, "num_labels",
     {{"roformer.classifier.labels", "no|maybe|yes"},
      {"roformer.classifier.problem", "single_label_classification"}}},
    {"sim.ckpt", "sim.bert_config.json", "\"vocab_size\"", "\"pooler_activation\": \"linear\", \"vocab_size\"", "",
     {"\"pooler_activation\": \"linear\"", "\"mask\": \"unilm\""}, "use_bias",
     {{"roformer.pooler", "linear"}, {"roformer.mask", "unilm"}}},
    {"sim.ckpt", "sim.bert_config.json", "\"max_position_embeddings\": 512",
     "\"is_decoder\": true, \"pooler_activation\": \"linear\", \"max_position_embeddings\": 12000", "",
     {"\"mask\": \"unilm\"", "\"max_position_embeddings\": 12000,"}, "use_bias", {{"roformer.mask", "unilm"}}},
    {"sim.ckpt", "sim.bert_config.json", "\"vocab_size\"", "\"pooler_activation\": \"tanh\", \"vocab_size\"", "",
     {"\"pooler_activation\": \"tanh\""}, "\"mask\"", {{"roformer.pooler", "tanh"}, {"roformer.mask", "padding"}}},
};

static void made_configs(void) {
    const char *dir = convert_folder("made"), *to = convert_folder("made/to");
    char line[200];
    for (size_t i = 0; i < sizeof made_rows / sizeof *made_rows; i++) {
        const char *config = test_in(dir, "c.json"), *made = test_in(to, "config.json");
        size_t n = 0;
        golden_with(config, made_rows[i].config, made_rows[i].from, made_rows[i].to);
        CHECK(tool("", "convert", GOLDEN "%s %s -q --config %s --vocab " GOLDEN "vocab.txt %s", made_rows[i].bin,
                   test_in(dir, "m.gguf"), config, made_rows[i].options) == 0);
        while (n < 4 && made_rows[i].keys[n].key) n++;
        keys_are(test_in(dir, "m.gguf"), made_rows[i].keys, n);
        forget_type(config);
        remove(made);
        int code = tool("", "convert", GOLDEN "%s %s -q --no-tokenizer --config %s %s", made_rows[i].bin,
                        test_in(to, "model.safetensors"), config, made_rows[i].options);
        if (code) printf("    row %zu: %s", i, said);
        CHECK(code == 0);
        char *text = file_read(made, NULL);
        for (int k = 0; text && k < 5 && made_rows[i].has[k]; k++) {
            snprintf(line, sizeof line, "%s", made_rows[i].has[k]);
            if (!strstr(text, line)) printf("    row %zu: no %s in\n%s", i, line, text);
            CHECK(strstr(text, line) != NULL);
        }
        if (text && strstr(text, made_rows[i].without)) printf("    row %zu: %s is there\n", i, made_rows[i].without);
        CHECK(text && !strstr(text, made_rows[i].without));
        /* it says the same model; of a classifier not its labels, which no checkpoint of bert4keras has */
        CHECK(tool("", "convert", "%s %s -q --no-tokenizer --name m", to, test_in(dir, "again.gguf")) == 0);
        CHECK(tool("", "convert", GOLDEN "%s %s -q --no-tokenizer --name m --config %s %s", made_rows[i].bin,
                   test_in(dir, "m.gguf"), config, made_rows[i].options) == 0);
        int same = strstr(made_rows[i].bin, "sequence") ||
                   files_equal(test_in(dir, "again.gguf"), test_in(dir, "m.gguf"));
        if (!same) printf("    row %zu: another model\n", i);
        CHECK(same);
        free(text);
    }
}

const Test tests_convert_folders[] = {
    {"convert/other_family", other_family},
    {"convert/folders", folders},
    {"convert/settings of words", words_settings},
    {"convert/sidecars", sidecars},
    {"convert/made configs", made_configs},
    {0},
};
