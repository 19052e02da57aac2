/* tests/test_inspect_models.c - weights-tools/inspect of models that are not plain LLaMAs: what stretches RoPE,
 * windows, linear attention; and of keys and numbers at the ends of what a file may hold. */
#include "build.h"
#include "convert_files.h"
#include "decoder_files.h"
#include "program.h"
#include "reader_files.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static int says(const char *words) {
    if (strstr(out, words)) return 1;
    printf("    \"%s\" is not in:\n%.900s\n", words, out);
    return 0;
}

/* ---- what the model is ---- */

/* A golden case, its config changed, and of the report a part of its text and of its JSON. gguf: the file of that
 * format, which may say the same in another way. */
static const struct { const char *name; int gguf; const char *from, *to, *text, *json; } models[] = {
    {"yarn", 0, NULL, NULL, "yarn, theta 100, factor 4 of a context of 16\npairs          16 of a head's 16 entries",
     "\"rope\":{\"method\":\"yarn\",\"theta\":100,\"rotary_dim\":16,\"pairing\":\"half\",\"factor\":4,"
     "\"n_ctx_original\":16}"},
    {"linear", 0, NULL, NULL, "linear, theta 10000, factor 4 of a context of 64\n",
     "\"pairing\":\"half\",\"factor\":4,\"n_ctx_original\":64}"},
    {"llama3", 0, NULL, NULL, "llama3, theta 500, factor 8 of a context of 16\n", "\"n_ctx_original\":16}"},
    {"llama3", 1, NULL, NULL, "not stretched, theta 500, frequencies divided by rope_freqs.weight\n",
     "\"method\":\"none\",\"theta\":500,\"rotary_dim\":16,\"pairing\":\"interleaved\",\"n_ctx_original\":64,"
     "\"attention_factor\":1,\"divisors\":8}"},
    {"longrope", 0, NULL, NULL,
     "longrope, theta 10000, factor 2 of a context of 32, 8 long and 8 short factors\n",
     "\"n_ctx_original\":32,\"long_factors\":8}"},
    {"mistral", 0, NULL, NULL, "softmax, causal, window 8\n", "\"mask\":\"causal\",\"window\":8,\"attention\":"},
    {"linear_favor", 0, NULL, NULL, "linear, feature map favor+, form numerator, causal\n",
     "\"attention\":\"linear\",\"feature_map\":\"favor+\",\"form\":\"numerator\","},
    {"linear_relu", 0, "\"attention_feature_map\"",
     "\"attention_feature_map_key\": \"elu+1\", \"attention_feature_map\"",
     "linear, feature map relu, of keys elu+1, form numerator, causal\n",
     "\"feature_map\":\"relu\",\"feature_map_key\":\"elu+1\",\"form\":\"numerator\","},
};

static void kinds(void) {
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        const Spoil s = {.from = models[i].from, .to = models[i].to};
        const char *path = models[i].gguf ? gguf_file(models[i].name, TENSOR_F32, &s)
                                          : hf_folder(models[i].name, "", TENSOR_F32, &s);
        CHECK(path && tool("", "inspect", "%s -s", path) == 0 && *said == 0 && says(models[i].text));
        CHECK(tool("", "inspect", "%s --json", path) == 0 && *said == 0 && says(models[i].json));
    }
}

/* ---- keys at the ends of what a file may hold ---- */

static const BuildShape shape = {.d = 64, .ff = 96, .layers = 2, .heads = 4, .kv_heads = 2, .n_ctx = 32};

static void keys(void) {
    char name[4096], letters[301];
    Bytes more = {0};
    snprintf(name, sizeof name, "%s", test_tmp("inspect-keys.gguf"));
    memset(letters, 'a', 300), letters[300] = 0;
    bytes_string(&more, "x.long"), bytes_u32(&more, META_STRING), bytes_string(&more, letters);
    put_key(&more, "x.most", META_U64, UINT64_MAX, 8);
    put_key(&more, "x.nan", META_F32, 0x7fc00000, 4);
    put_key(&more, "x.inf", META_F64, 0xfff0000000000000, 8);
    put_key(&more, "x.least", META_I64, 0x8000000000000000, 8);
    put_key(&more, "x.half", META_F64, 0x3fe0000000000000, 8);
    put_key(&more, "x.yes", META_BOOL, 1, 1);
    put_array(&more, "x.none", META_F32, 0);
    put_array(&more, "x.two", META_U64, 2), bytes_u64(&more, 3), bytes_u64(&more, UINT64_MAX);
    build_gguf(name, &shape, TENSOR_F16);
    gguf_with(name, name, &more, 9);
    CHECK(tool("", "inspect", "%s -s --keys", name) == 0 && *said == 0);
    snprintf(letters + 200, 100, " .. (300 bytes)\n");
    CHECK(says(letters) && says("x.most = a number too large\n") && says("x.nan = nan\n") && says("x.inf = -inf\n"));
    CHECK(says("x.least = -9223372036854775808\n") && says("x.half = 0.5\n") && says("x.none = []\n"));
    CHECK(says("x.yes = true\n") && says("x.two = [3, a number too large]\n"));
    CHECK(tool("", "inspect", "%s -s --json", name) == 0 && *said == 0);
    CHECK(says("{\"key\":\"x.most\",\"value\":18446744073709551615}") && says("{\"key\":\"x.nan\",\"value\":null}"));
    CHECK(says("{\"key\":\"x.inf\",\"value\":null}") && says("\"x.none\",\"n\":0,\"value\":[]}"));
    CHECK(says("\"x.two\",\"n\":2,\"value\":[3,18446744073709551615]}"));
}

/* What has no keys has no list of them; and what is as large as another type stands by its name. */
static void without_keys(void) {
    const char *folder = test_tmp("inspect-no-keys"), *path = test_tmp("inspect-types.gguf");
    build_hf(folder, &shape, TENSOR_F16, 1);
    CHECK(tool("", "inspect", "%s -s --keys", folder) == 0 && says("tokenizer ") && !strstr(out, "\nkeys\n"));
    CHECK(tool("", "inspect", CONVERT_GOLDEN "v1.bin -s --keys") == 0 && says("weights ") && !strstr(out, "\nkeys\n"));
    Bytes f = {0};
    put_gguf(&f, 3, 2, 0);
    put_tensor(&f, "a", 1, 16, 0, TENSOR_F16, 0);
    put_tensor(&f, "b", 1, 16, 0, TENSOR_BF16, 32);
    bytes_pad(&f, 32);
    for (int i = 0; i < 64; i++) bytes_u8(&f, 0);
    file_write(path, f.data, f.n);
    free(f.data);
    CHECK(tool("", "inspect", "%s -s --keys", path) == 0 && says("not one that ./run opens: ") &&
          says("16.00 bits each\n               BF16          1 tensor, 32 bytes\n               F16 ") &&
          says("tokenizer      none\n") && !strstr(out, "\nkeys\n"));
}

/* ---- the tokenizer ---- */

static void tokenizers(void) {
    char from[4096], path[4096];
    snprintf(from, sizeof from, "%s", test_tmp("inspect-tokenizer"));
    snprintf(path, sizeof path, "%s", test_tmp("inspect-tokenizer.gguf"));
    build_hf(from, &shape, TENSOR_F16, 1);
    CHECK(tool("", "convert", "%s %s -q --no-tokenizer", from, path) == 0);
    CHECK(tool("", "inspect", "%s -s", path) == 0 && says("tokenizer      none\n"));
    CHECK(tool("", "inspect", "%s --json", path) == 0 && says("\"tokenizer\":null,\"values\""));
    build_gguf(path, &shape, TENSOR_F32);
    size_t n = 0;
    char *bytes = file_read(path, &n), *at = NULL;
    for (size_t i = 0; bytes && i + 40 < n && !at; i++)
        if (memcmp(bytes + i, "tokenizer.ggml.model", 20) == 0) at = bytes + i;
    CHECK(at != NULL);
    if (at) memcpy(at + 32, "llamb", 5);
    if (bytes) file_write(path, bytes, n);
    free(bytes);
    CHECK(tool("", "inspect", "%s -s", path) == 0 && says("tokenizer      not opened: "));
    CHECK(tool("", "inspect", "%s --json", path) == 0 && says("\"tokenizer\":null,\"tokenizer_refused\":\""));
    /* one of a kind that is not read, beside the weights; ranks are not a llama2.c model's */
    remove(test_in(from, "tokenizer.model"));
    file_write(test_in(from, "sentencepiece.bpe.model"), "{}", 2);
    CHECK(tool("", "inspect", "%s -s", from) == 0 &&
          says("its tokenizer is sentencepiece.bpe.model: this kind is not read yet"));
    build_llama2c(test_in(from, "model.bin"), &shape, 0, 0);
    file_write(test_in(from, "x.tiktoken"), "YQ== 0\n", 7);
    CHECK(tool("", "inspect", "%s -s", test_in(from, "model.bin")) == 0 && says("tokenizer      none\n"));
    /* ids that a text begins and ends with are not everybody's */
    const char *delta = delta_folder();
    CHECK(delta && tool("", "inspect", "%s --json", delta) == 0 && says("\"tokenizer\":{\"kind\":\"BPE"));
    CHECK(tool("", "convert", CONVERT_GOLDEN "v1.bin %s -q " CONVERT_V1, path) == 0);
    CHECK(tool("", "inspect", "%s -s", path) == 0 && says("tokenizer      not opened: ") &&
          says("its 1 Chinese words need jieba's dictionary"));
}

const Test tests_inspect_models[] = {
    {"inspect/rope, windows, linear attention", kinds},
    {"inspect/keys at their ends", keys},
    {"inspect/without keys", without_keys},
    {"inspect/tokenizers", tokenizers},
    {0},
};
