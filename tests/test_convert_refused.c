/* tests/test_convert_refused.c - what weights-tools/convert refuses: configurations, models, words, and files that mean
 * harm. */
#include "convert_files.h"
#include "weights-tools/buffer.h"
#include "program.h"
#include "test.h"
#include "base/paths.h"

#include <stdlib.h>
#include <string.h>

#define GOLDEN CONVERT_GOLDEN
#define V1 CONVERT_V1

/* A configuration with one thing changed. */
static const struct { const char *from, *to, *expected; } configs[] = {
    {"\"hidden_size\": 8", "\"hidden_size\": 12",
     "has the shape [8, 4], the configuration asks for [12, 4] (as [out, in])"},
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
    {"\"hidden_act\": \"gelu\"", "\"hidden_act\": \"selu\"", "hidden_act is no function that is known here"},
    {"\"hidden_act\": \"gelu\"", "\"hidden_act\": \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"", "hidden_act"},
    {"\"use_cache\": true", "\"norm_type\": \"rms_norm\"", "norm_type is not"},
    {"\"add_cross_attention\": false", "\"add_cross_attention\": true", "cross attention"},
    {"\"hidden_act\": \"gelu\"", "\"hidden_act\": \"\"", "hidden_act must be a short text"},
    {"\"hidden_act\": \"gelu\"", "\"hidden_act\": \"gelu\\u0000\"", "hidden_act must be a short text"},
    {"\"layer_norm_eps\": 1e-12", "\"layer_norm_eps\": 1", "layer_norm_eps is not a small number above 0"},
    {"\"use_cache\": true", "\"rope_theta\": 0", "rope_theta must be above 0"},
    {"\"use_cache\": true", "\"rope_theta\": 1e39", "a number of its configuration is too large for GGUF's F32"},
    {"\"use_cache\": true", "\"alibi\": true, \"alibi_bias_max\": 1e39", "is too large for GGUF's F32"},
    {"\"use_cache\": true", "\"alibi_bias_max\": 8, \"position_embedding_type\": \"nope\"",
     "alibi_bias_max is ALiBi's, and position_embedding_type says another kind"},
    {"\"use_cache\": true", "\"alibi\": true, \"position_embedding_type\": \"rope\"",
     "alibi is ALiBi's, and position_embedding_type says another kind"},
    {"\"use_cache\": true", "\"rope_scaling\": {\"type\": \"linear\", \"factor\": 0.5}", "factor must be at least"},
    {"\"use_cache\": true", "\"id2label\": []", "id2label must be an object"},
    {"\"use_cache\": true", "\"attention_kind\": 7", "attention_kind must be a word"},
    {"\"use_cache\": true", "\"attention_form\": \"both\\u0000\"", "attention_form must be a word"},
    {"\"use_cache\": true", "\"attention_kind\": \"\"", "attention_kind must be a word"},
    {"\"use_cache\": true", "\"problem_type\": []", "problem_type must be a word"},
    {"\"use_cache\": true", "\"attention_log_scale\": -1", "attention_log_scale is not a whole number"},
    {"\"use_cache\": true", "\"attention_log_scale\": 1.5", "attention_log_scale is not a whole number"},
    {"\"use_cache\": true", "\"attention_favor_features\": \"8\"", "attention_favor_features must be a number"},
    {"\"use_cache\": true", "\"attention_favor_seed\": 1e16", "attention_favor_seed is not a whole number"},
    {"\"use_cache\": true", "\"attention_denominator_epsilon\": true", "denominator_epsilon must be a number"},
    {"\"use_cache\": true", "\"position_embedding_type\": 7", "is not a kind of position that is known here"},
    {"\"use_cache\": true", "\"position_embedding_type\": \"spiral\"", "is not a kind of position that is known"},
    {"\"use_cache\": true", "\"alibi\": 1", "alibi must be true or false"},
    {"\"use_cache\": true", "\"alibi\": true, \"alibi_bias_max\": \"8\"", "alibi_bias_max must be a number"},
    {"\"use_cache\": true", "\"relative_attention_num_buckets\": 0", "num_buckets is not a whole number"},
    {"\"use_cache\": true", "\"position_embedding_type\": \"learned\"", "position_embeddings.weight: is missing"},
    {"\"vocab_size\": 24", "\"vocab_size\": 24, \"vocab_size\": 24", "stands twice"},
    {"{", "[", "line"},
};

static void configs_refused(void) {
    const char *dir = convert_folder("configs");
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        with_config(test_in(dir, "c.json"), configs[i].from, configs[i].to);
        int code = tool("", "convert", GOLDEN "v1.bin %s -q --config %s --vocab " GOLDEN "vocab.txt",
                        test_in(dir, "m.gguf"), test_in(dir, "c.json"));
        CHECK(code == 1 && said_line(configs[i].expected));
    }
    file_write(test_in(dir, "c.json"), "[]", 2);
    CHECK(tool("", "convert", GOLDEN "v1.bin %s --config %s", test_in(dir, "m.gguf"), test_in(dir, "c.json")) == 1 &&
          said_line("not a JSON object"));
    CHECK(tool("", "convert", GOLDEN "v1.bin %s -q", test_in(dir, "m.gguf")) == 1 &&
          said_line("no config.json or bert_config.json"));
    CHECK(files_in(dir) == 1);
}

/* .. of other models. */
static void others_refused(void) {
    static const struct { const char *bin, *config, *from, *to, *expected; } rows[] = {
        {"v2.bin", "v2.config.json", "\"use_bias\": false", "\"use_bias\": true", "use_bias is true, and a v2 that"},
        {"v2.bin", "v2.config.json", "\"hidden_act\": \"relu\",", "", "hidden_act is missing"},
        {"generator.bin", "generator.config.json", "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"relu\"",
         "hidden_act is not gelu, which an ELECTRA generator's head has: GGUF has no key for that"},
        {"gau.ckpt", "gau.bert_config.json", "\"vocab_size\"", "\"normalization\": \"softmax\", \"vocab_size\"",
         "normalization must be softmax_plus"},
        {"gau.ckpt", "gau.bert_config.json", "\"vocab_size\"", "\"attention_scale\": false, \"vocab_size\"",
         "attention_scale must be true"},
        {"sim.ckpt", "sim.bert_config.json", "\"vocab_size\"", "\"pooler_activation\": \"conv\", \"vocab_size\"",
         "pooler_activation must be tanh or linear"},
        {"sequence.legacy.bin", "sequence.config.json", "\"2\": \"yes\"", "\"2\": \"yes\", \"3\": \"no\"",
         "id2label has not one label for each"},
        {"sequence.legacy.bin", "sequence.config.json", "\"embedding_size\": 8", "\"embedding_size\": 4",
         "asks for [24, 4]"},
    };
    const char *dir = convert_folder("others");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        golden_with(test_in(dir, "c.json"), rows[i].config, rows[i].from, rows[i].to);
        int code = tool("", "convert", GOLDEN "%s %s -q --config %s --vocab " GOLDEN "vocab.txt", rows[i].bin,
                        test_in(dir, "m.gguf"), test_in(dir, "c.json"));
        CHECK(code == 1 && said_line(rows[i].expected));
    }
    CHECK(files_in(dir) == 1);
}

/* Tensors and configurations that do not belong together. */
static void models_refused(void) {
    const char *dir = convert_folder("refused");
    static const char *const rows[][3] = {
        {"v2.bin", "gau.config.json", "num_attention_heads"},
        {"v1.bin", "v2.config.json", "norm_type is not what"},
        {"gau.bin", "gau.bert_config.json", ""},
        {"sequence.legacy.bin", "token.config.json", "id2label has not one label for each"},
        {"llama.bin", "v1.config.json", "the configuration is a RoFormer's"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int code = tool("", "convert", GOLDEN "%s %s -q --vocab " GOLDEN "vocab.txt --config " GOLDEN "%s", rows[i][0],
                           test_in(dir, "m.gguf"), rows[i][1]);
        CHECK(*rows[i][2] ? code == 1 && said_line(rows[i][2]) : code == 0);
    }
    static const struct { const char *text, *expected; } vocabs[] = {
        {"[UNK]\na\n\xff\n", "line 3 is not UTF-8"}, {"a\nb\n", "no token [UNK]"},
        {"[UNK]\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n", "more tokens than the model's 24"}, {"", "empty"},
    };
    for (size_t i = 0; i < sizeof vocabs / sizeof *vocabs; i++) {
        file_write(test_in(dir, "v.txt"), vocabs[i].text, strlen(vocabs[i].text));
        CHECK(tool("", "convert", GOLDEN "v1.bin %s -q --config " GOLDEN "v1.config.json --vocab %s",
                   test_in(dir, "x.gguf"),
              test_in(dir, "v.txt")) == 1);
        CHECK(said_line(vocabs[i].expected) && !file_exists(test_in(dir, "x.gguf")));
    }
    /* a short vocabulary is filled up; lines may end as Windows' do */
    file_write(test_in(dir, "v.txt"), "[UNK]\r\na\r\n\r\nb", 13);
    CHECK(tool("", "convert", GOLDEN "v1.bin %s -q --config " GOLDEN "v1.config.json --vocab %s",
               test_in(dir, "x.gguf"), test_in(dir, "v.txt")) == 0);
    Weights w;
    if (weights_opened(&w, test_in(dir, "x.gguf"))) {
        CHECK(strncmp(meta_text(&w, "tokenizer.ggml.tokens"), "[UNK]|a||b|[PAD4]|[PAD5]|", 25) == 0);
        CHECK(strncmp(meta_text(&w, "tokenizer.ggml.token_type"), "2|1|1|1|5|5", 11) == 0);
        CHECK(strcmp(meta_text(&w, "tokenizer.ggml.cls_token_id"), "absent") == 0);
    }
    weights_close(&w);
}

static void usage(void) {
    static const char *const wrong[] = {"", "a", "--list", "a b c", "a b.gguf c.gguf", "--type", "a b.gguf --type f8",
                                        "a b.gguf --mask x", "a b.gguf --pooler x", "a b.gguf --bogus",
                                        "--list a b.gguf",
                                        "a b.gguf --config"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int code = tool("", "convert", "%s", wrong[i]);
        CHECK(code == 2 && said_line("run: ") && *out == 0);
    }
    CHECK(tool("", "convert", "a b.gguf --type q4_k_m") == 2 && said_line("./run quantize IN OUT.gguf Q4_K_M"));
    CHECK(tool("", "convert", GOLDEN "v1.bin out.bin") == 2 && said_line("must end in .gguf or .safetensors"));
    CHECK(tool("", "convert", "--help") == 0 && strstr(out, "usage: ") && strstr(out, "examples:") && *said == 0);
    CHECK(tool("", "convert", "not-there %s", test_tmp("x.gguf")) == 1 && said_line("not-there: No such file"));
    CHECK(tool("", "convert", "tests/test.h %s", test_tmp("x.gguf")) == 1 && said_line("neither a PyTorch file"));
    CHECK(tool("", "convert", "model/tales-1m.gguf %s", test_tmp("x.safetensors")) == 1 &&
          said_line("is not turned into safetensors: "));
    CHECK(tool("", "convert", "--list model/tales-1m.gguf") == 1 && said_line("inspect lists it") && *out == 0);
    CHECK(tool("", "convert", GOLDEN "v1.bin /not-there/x.gguf -q " V1) == 1 &&
          said_line("cannot be written: No such file"));
    CHECK(tool("", "convert", "--list " GOLDEN "v1.bin -q") == 0 && *said == 0);
    CHECK(strstr(out, "roformer.encoder.layer.1.output.dense.weight  [8, 12]  F32  -> blk.1.ffn_down.weight\n"));
    const char *dir = convert_folder("full");
    /* no room; LLVM's OpenMP takes a kilobyte for itself */
    CHECK(tool("ulimit -f 4; ", "convert", GOLDEN "v1.bin %s -q " V1, test_in(dir, "x.gguf")) == 1);
    CHECK(said_line("cannot be written: File too large"));
    CHECK(files_in(dir) == 0); /* nothing is left behind */
}

/* Files that would run something, or take all memory: refused in a line, within 200 MB, and nothing was run. */
static void hostile(void) {
    const char *dir = convert_folder("hostile");
    char command[600];
    snprintf(command, sizeof command, "touch %s", test_in(dir, "pwned"));
    Buffer b = {0};
    static const uint8_t magic[] = {0x80, 2, 0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, '.',
                                    0x80, 2, 'M', 0xe9, 3, '.'};
    buffer_bytes(&b, magic, sizeof magic);
    buffer_bytes(&b, "\x80\2}U\15little_endian\x88s.\x80\2cos\nsystem\n(X", 37);
    buffer_u32(&b, (uint32_t)strlen(command));
    buffer_bytes(&b, command, strlen(command));
    buffer_bytes(&b, "tR.", 3);
    file_write(test_in(dir, "evil.bin"), b.data, b.n);
    free(b.data);
    CHECK(tool("", "convert", "%s %s", test_in(dir, "evil.bin"), test_in(dir, "x.safetensors")) == 1 &&
          said_line("asks for os.system"));
    CHECK(!file_exists(test_in(dir, "pwned")) && files_in(dir) == 1);
    /* a megabyte of opcodes that make values, and a memo index of 2^32 - 1 */
    char *bomb = malloc(1 << 20);
    memset(bomb, '}', 1 << 20);
    memcpy(bomb, magic, sizeof magic);
    memcpy(bomb + sizeof magic, "\x80\2}r\xff\xff\xff\xff", 8);
    file_write(test_in(dir, "memo.bin"), bomb, 1 << 20);
    memset(bomb + sizeof magic + 2, ')', 6);
    file_write(test_in(dir, "values.bin"), bomb, 1 << 20);
    free(bomb);
    /* the sanitizer's shadow takes terabytes of address space */
    const char *limit = test_sanitized ? "" : "ulimit -v 200000; ";
    CHECK(tool(limit, "convert", "--list %s", test_in(dir, "memo.bin")) == 1 && said_line("memo index"));
    CHECK(tool(limit, "convert", "--list %s", test_in(dir, "values.bin")) == 1 && said_line("ends too early"));
}

/* Files that are no checkpoint, by name or by what is in them, and lists of shards. */
static void strange(void) {
    static const struct { const char *name, *text; size_t n; const char *says; } rows[] = {
        {"pickle.bin", "\x80\2}.", 4, "a pickle, but not one that torch.save wrote"},
        {"later.bin", "\x80\6}.", 4, "neither a PyTorch file, nor a TensorFlow index, nor safetensors"},
        {"short.bin", "GGUF", 4, "neither a PyTorch file, nor a TensorFlow index, nor safetensors"},
        {"x.index", "no table", 8, "x.index"},
        {"x.safetensors", "no header", 9, "x.safetensors"},
        {"x.data-00000-of-00001", "x", 1, "give its .index file"},
        {"x.bin.index.json", "{", 1, "x.bin.index.json: line 1"},
        {"x.bin.index.json", "{}", 2, "has no weight_map that names shards"},
        {"x.bin.index.json", "{\"weight_map\":[]}", 17, "has no weight_map that names shards"},
        {"x.bin.index.json", "{\"weight_map\":{}}", 17, "has no weight_map that names shards"},
        {"x.bin.index.json", "{\"weight_map\":{\"w\":7}}", 22, "weight_map entry w: a shard must be the plain name"},
        {"x.bin.index.json", "{\"weight_map\":{\"w\":\"\"}}", 23, "weight_map entry w: a shard must be the plain name"},
        {"x.bin.index.json", "{\"weight_map\":{\"w\":\"..\"}}", 25, "weight_map entry w: a shard must be the plain"},
        {"x.bin.index.json", "{\"weight_map\":{\"w\":\"a/b\"}}", 26, "weight_map entry w: a shard must be the plain"},
        {"x.bin.index.json", "{\"weight_map\":{\"w\":\"none\"}}", 27, "none: No such file"},
    };
    const char *dir = convert_folder("strange");
    char tar[600] = "weights";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        file_write(test_in(dir, rows[i].name), rows[i].text, rows[i].n);
        CHECK(tool("", "convert", "--list %s", test_in(dir, rows[i].name)) == 1 && said_line(rows[i].says));
        CHECK(strstr(said, dir) != NULL);
    }
    memcpy(tar + 257, "ustar", 5);
    file_write(test_in(dir, "old.bin"), tar, sizeof tar);
    CHECK(tool("", "convert", "--list %s", test_in(dir, "old.bin")) == 1 && said_line("a tar archive, as PyTorch"));
    const char *named = test_in(dir, "pytorch_model.bin"); /* a folder's name for it counts, and inspect tells why */
    file_write(named, "\2\0\0\0\0\0\0\0{}", 10);
    CHECK(tool("", "convert", "--list %s", dir) == 1 && said_line("safetensors by another name: rename it"));
    CHECK(run("inspect %s", dir) == 1 && said_line("safetensors by another name: rename it"));
    remove(named);
    /* a list with a tensor too many, in its folder and by its name */
    golden_into("llama-00001-of-00002.bin", dir, "llama-00001-of-00002.bin");
    golden_into("llama-00002-of-00002.bin", dir, "llama-00002-of-00002.bin");
    char *index = file_read(GOLDEN "llama.bin.index.json", NULL), more[6000],
         *at = index ? strstr(index, "\"weight_map\"") : NULL, *brace = at ? strchr(at, '{') : NULL;
    CHECK(brace != NULL);
    if (!brace) return;
    snprintf(more, sizeof more, "%.*s\"another\": \"llama-00001-of-00002.bin\", %s", (int)(brace + 1 - index), index,
             brace + 1);
    free(index);
    const char *list = test_in(dir, "llama.bin.index.json");
    file_write(list, more, strlen(more));
    CHECK(tool("", "convert", "--list %s", list) == 1 && said_line("tensors, the shards hold "));
    CHECK(file_copy(GOLDEN "llama.bin.index.json", list) && tool("", "convert", "--list %s", list) == 0 &&
          strstr(out, "lm_head.weight"));
}

const Test tests_convert_refused[] = {
    {"convert/configs_refused", configs_refused},
    {"convert/others_refused", others_refused},
    {"convert/models_refused", models_refused},
    {"convert/usage", usage},
    {"convert/hostile", hostile},
    {"convert/strange", strange},
    {0},
};
