/* tests/test_convert_models.c - weights-tools/convert of decoders whose files are odd: tensors that are missing,
 * double, or of another shape or type; names; types that differ within one tensor. */
#include "base/paths.h"
#include "convert_files.h"
#include "decoder_cases.h"
#include "program.h"
#include "reader_files.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is refused ---- */

/* A case, its config and its tensors' header changed, and what convert says. */
static const struct { const char *name, *from, *to, *head_from, *head_to, *line; } refusals[] = {
    {"gqa", NULL, NULL, "\"model.norm.weight\"", "\"model.nurm.weight\"", "tensor model.norm.weight is missing"},
    {"gqa", NULL, NULL, "\"model.norm.weight\":{\"dtype\":\"F32\"", "\"model.norm.weight\":{\"dtype\":\"I32\"",
     "tensor model.norm.weight: its shape or type is not what the configuration asks for: [32] of floats"},
    {"gqa", NULL, NULL, "\"model.norm.weight\":{\"dtype\":\"F32\",\"shape\":[32]",
     "\"model.norm.weight\":{\"dtype\":\"F32\",\"shape\":[32,1]",
     "tensor model.norm.weight: its shape or type is not what the configuration asks for: [32] of floats"},
    {"gqa", "\"vocab_size\": 96", "\"vocab_size\": 95", "", "",
     "tensor model.embed_tokens.weight: its shape or type is not what the configuration asks for: [95, 32] of floats"},
    {"gqa", "\"hidden_size\": 32", "\"hidden_size\": 64", "", "",
     "tensor model.embed_tokens.weight: its shape or type is not what the configuration asks for: [96, 64] of floats"},
    {"gqa", NULL, NULL, "\"lm_head.weight\"", "\"lm_head.wait\"", "tensor lm_head.weight is missing"},
    {"gqa", NULL, NULL, "\"model.embed_tokens.weight\"", "\"embeddings\"",
     "tensor model.embed_tokens.weight is missing"},
    {"gqa", "\"model_type\"", "\"model_typo\"", "", "",
     "no RoFormer's tensors, and its configuration has no model_type"},
    {"linear_favor", NULL, NULL, "", "",
     "feature map favor+ projects a head in the order of its entries, and GGUF's \"llama\" has another order"},
};

static void refused_models(void) {
    const char *gguf = test_tmp("models.gguf");
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const Spoil s = {.from = refusals[i].from, .to = refusals[i].to};
        const char *folder = hf_folder(refusals[i].name, "", TENSOR_F32, &s);
        safetensors_with(test_in(folder, "model.safetensors"), refusals[i].head_from, refusals[i].head_to, 0);
        remove(gguf);
        CHECK(tool("", "convert", "%s %s -q --no-tokenizer", folder, gguf) == 1 && said_line(refusals[i].line));
        CHECK(!file_exists(gguf));
    }
}

/* One more tensor of 32 floats, all 0, in the file of this folder. */
static void put_tensor_into(const char *path, const char *name, const char *type) {
    char entry[300];
    size_t size = 0;
    char *bytes = file_read(path, &size);
    CHECK(bytes && size > 8);
    if (!bytes) return;
    size_t data = size - 8 - (size_t)load_u64(bytes);
    snprintf(entry, sizeof entry, "{\"%s\":{\"dtype\":\"%s\",\"shape\":[32],\"data_offsets\":[%zu,%zu]},", name, type,
             data, data + 128);
    free(bytes);
    safetensors_with(path, "{", entry, 128);
}

/* What old files carry along is left out, and a line says so; the same without it, byte for byte. */
static void left_out(void) {
    static const char *const names[] = {"gqa", "olmo2"};
    char plain[4096], odd[4096], path[4096];
    snprintf(plain, sizeof plain, "%s", test_tmp("plain.gguf"));
    snprintf(odd, sizeof odd, "%s", test_tmp("odd.gguf"));
    for (int i = 0; i < 2; i++) {
        const char *folder = hf_folder(names[i], "", TENSOR_F32, &sound);
        snprintf(path, sizeof path, "%s", test_in(folder, "model.safetensors"));
        CHECK(tool("", "convert", "%s %s -q --no-tokenizer", folder, plain) == 0);
        put_tensor_into(path, "model.layers.0.self_attn.rotary_emb.inv_freq", "F32");
        CHECK(tool("", "convert", "%s %s --no-tokenizer", folder, odd) == 0 &&
              strstr(said, "left out: 1 tensor of frequencies or integers, which the engine computes"));
        CHECK(files_equal(plain, odd));
    }
}

/* A lone file, with its configuration elsewhere: what Hugging Face's folders are refused for, it is, too. */
static void lone_files(void) {
    static const char *const names[] = {"gqa", "olmo2"};
    char alone[4096], config[4096], gguf[4096];
    snprintf(alone, sizeof alone, "%s", test_in(test_folder("alone"), "one.safetensors"));
    snprintf(gguf, sizeof gguf, "%s", test_tmp("lone.gguf"));
    for (int i = 0; i < 2; i++) {
        const char *folder = hf_folder(names[i], "", TENSOR_F32, &sound);
        snprintf(config, sizeof config, "%s", test_in(folder, "config.json"));
        CHECK(file_copy(test_in(folder, "model.safetensors"), alone));
        CHECK(tool("", "convert", "%s %s -q --no-tokenizer", alone, gguf) == 1 &&
              said_line("no RoFormer's tensors, and no config.json beside it that says what it is: give one with"));
        CHECK(tool("", "convert", "%s %s -q --no-tokenizer --config %s", alone, gguf, config) == 0);
        put_tensor_into(alone, "language_model.model.norm.weight", "F32");
        CHECK(tool("", "convert", "%s %s -q --no-tokenizer --config %s", alone, gguf, config) == 1 &&
              said_line("tensor model.norm.weight stands twice"));
    }
}

/* ---- RoFormers ---- */

/* v1's tensors' header changed, and what convert says. */
static const struct { const char *from, *to, *line; } roformers[] = {
    {"\"shape\":[8]", "\"shape\":[4,2]", "has the shape [4, 2], the configuration asks for [8] (as [out, in])"},
    {"\"shape\":[8]", "\"shape\":[2,2,2]", "has the shape [2, 2, 2], the configuration asks for [8] (as [out, in])"},
    {"\"shape\":[8]", "\"shape\":[2,2,2,1]", "has the shape [2, 2, 2, ..], the configuration asks for [8]"},
    {"\"shape\":[24,4]", "\"shape\":[1,24,4]", "has the shape [1, 24, 4], the configuration asks for [24, 4]"},
    {"roformer.embeddings.word_embeddings.weight", "roformer_embeddings.word_embeddings.weight",
     "the configuration is a RoFormer's, the tensors are not"},
    {"roformer.encoder.layer.0.attention.self.query.bias", "roformer.encoder.layer.0.gau.q_scaleoffset.weight",
     "has no place beside the others: no v1, v2 or GAU-alpha has them all"},
    {"cls.predictions.bias", "roformer.encoder.layer.0.attention.self.odd.bias", "no RoFormer known here has it"},
};

static void refused_roformers(void) {
    char path[4096];
    snprintf(path, sizeof path, "%s", test_in(test_folder("roformers"), "m.safetensors"));
    for (size_t i = 0; i < sizeof roformers / sizeof *roformers; i++) {
        CHECK(file_copy(CONVERT_GOLDEN "v1.safetensors", path));
        safetensors_with(path, roformers[i].from, roformers[i].to, 0);
        int code = tool("", "convert", "%s %s -q " CONVERT_V1, path, test_tmp("models.gguf"));
        CHECK(code == 1 && said_line(roformers[i].line));
    }
}

/* Types and paths that no checkpoint has. */
static void strange_checkpoints(void) {
    static const char header[] = "{\"w\":{\"dtype\":\"F8_E4M3\",\"shape\":[8],\"data_offsets\":[0,8]}}";
    const char *dir = test_folder("strange-checkpoints"), *path = test_in(dir, "w.safetensors");
    Bytes f = {0};
    safetensors_file(&f, header, sizeof header - 1, 8);
    file_write(path, f.data, f.n);
    free(f.data);
    CHECK(tool("", "convert", "--list %s", path) == 1 && said_line("tensor w: its type F8_E4M3 is not read here"));
    file_write(test_in(dir, "model.safetensors.index.json"), "{}", 2);
    CHECK(tool("", "convert", "--list %s", path) == 1 && said_line("strange-checkpoints/model.safetensors.index.json: "
                                                                       "has no weight_map that names shards"));
    char *name = malloc(5001);
    memset(name, 'a', 5000), name[5000] = 0;
    CHECK(tool("", "convert", "--list %s", name) == 1 && said_line("File name too long"));
    free(name);
    /* a list of shards with more entries than look-ups are good for */
    Bytes list = {0};
    bytes_put(&list, "{\"weight_map\":{", 15);
    for (int i = 0; i <= 20000; i++) {
        char entry[40];
        int n = snprintf(entry, sizeof entry, "%s\"w%d\":\"s.bin\"", i ? "," : "", i);
        bytes_put(&list, entry, (size_t)n);
    }
    bytes_put(&list, "}}", 2);
    file_write(test_in(dir, "x.bin.index.json"), list.data, list.n);
    free(list.data);
    CHECK(tool("", "convert", "--list %s", test_in(dir, "x.bin.index.json")) == 1 &&
          said_line("x.bin.index.json: weight_map names 20001 tensors, and at most 20000 are read"));
}

/* ---- options of other models ---- */

/* An option that this kind of input leaves nothing open for. */
static const struct { const char *in, *out, *options, *line; } unread[] = {
    {"m.gguf", "x.gguf", "--config tests/test.h", "--config: this file says itself what it holds"},
    {"m.gguf", "x.gguf", "--pre qwen2", "--pre: its tokenizer says itself how a text is cut"},
    {"m.gguf", "x.gguf", "--task query", "--task: this model has no adapters"},
    {"m.gguf", "x.gguf", "--mask causal", "--mask: is for RoFormer models"},
    {"m.gguf", "x.gguf", "--pooler tanh", "--pooler: is for RoFormer models"},
    {"m.gguf", "x.gguf", "--no-tokenizer", "a GGUF file keeps its own tokenizer"},
    {"m.gguf", "x.gguf", "-z tests/test.h", "a GGUF file keeps its own tokenizer"},
    {"m.bin", "x.gguf", "--no-tokenizer --config tests/test.h", "--config: this file says itself what it holds"},
    {"m.bin", "x.gguf", "--no-tokenizer --mask causal", "--mask: is for RoFormer models"},
    {"hf", "x.gguf", "--no-tokenizer --pooler tanh", "--pooler: is for RoFormer models"},
    {"hf", "x.gguf", "--no-tokenizer --task query", "--task: this model has no adapters"},
    {"olmo2", "x.gguf", "--no-tokenizer --task query", "--task: this model has no adapters"},
    {"roformer.safetensors", "x.gguf", CONVERT_V1 " --task query", "--task: this model has no adapters"},
    {"roformer.safetensors", "x.gguf", CONVERT_V1 " --pre qwen2", "--pre: its tokenizer says itself"},
    {"roformer.safetensors", "x.safetensors", "--config " CONVERT_GOLDEN "v1.config.json --mask causal",
     "--mask and --pooler: no config.json is made that could say them"},
    {"roformer.safetensors", "x.safetensors", "--pre qwen2", "--pre goes with OUT.gguf"},
    {"roformer.safetensors", "x.safetensors", "--task query", "--task goes with OUT.gguf"},
    {"roformer.safetensors", "x.safetensors", "--name Lily", "--name goes with OUT.gguf"},
    {"roformer.safetensors", "x.safetensors", "-z tests/test.h", "-z tests/test.h: is copied beside OUT.safetensors"},
};

static const BuildShape small = {.d = 32, .ff = 32, .layers = 1, .heads = 2, .kv_heads = 1, .n_ctx = 16};

static void options_refused(void) {
    char dir[4096];
    snprintf(dir, sizeof dir, "%s", test_folder("options"));
    build_gguf(test_in(dir, "m.gguf"), &small, TENSOR_F32);
    build_llama2c(test_in(dir, "m.bin"), &small, 0, 0);
    build_hf(test_in(dir, "hf"), &small, TENSOR_F32, 1);
    CHECK(shell("rm -rf %s/olmo2 && cp -R %s %s/olmo2", dir, hf_folder("olmo2", "", TENSOR_F32, &sound), dir) == 0);
    CHECK(file_copy(CONVERT_GOLDEN "v1.safetensors", test_in(dir, "roformer.safetensors")));
    for (size_t i = 0; i < sizeof unread / sizeof *unread; i++) {
        int code = tool("", "convert", "%s/%s %s/%s -q %s", dir, unread[i].in, dir, unread[i].out, unread[i].options);
        CHECK(code == (strstr(unread[i].line, "OUT.") ? 2 : 1) && said_line(unread[i].line));
        CHECK(!file_exists(test_in(dir, unread[i].out)));
    }
    CHECK(tool("", "quantize", "%s/m.gguf %s/x.gguf Q8_0 -q --config tests/test.h", dir, dir) == 1 &&
          said_line("--config: this file says itself what it holds"));
}

/* A tokenizer that is given goes beside a safetensors file by its own name. */
static void tokenizer_beside(void) {
    static const char *const names[][2] = {{"tekken.json", "tekken.json"}, {"words.txt", "vocab.txt"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *given = test_tmp(names[i][0]), *to = test_folder(i ? "words" : "tekken");
        CHECK(file_copy("tests/golden/tekken/tekken.json", given));
        CHECK(tool("", "convert", CONVERT_GOLDEN "v1.safetensors %s/x.safetensors -q -z %s", to, given) == 0);
        CHECK(files_equal(test_in(to, names[i][1]), given) && files_in(to) == 2);
    }
}

const Test tests_convert_models[] = {
    {"convert/decoders refused", refused_models},
    {"convert/decoders, tensors left out", left_out},
    {"convert/decoders, lone files", lone_files},
    {"convert/RoFormers' tensors refused", refused_roformers},
    {"convert/strange checkpoints", strange_checkpoints},
    {"convert/options that nothing reads", options_refused},
    {"convert/a tokenizer beside safetensors", tokenizer_beside},
    {0},
};
