/* tests/test_inspect.c - weights-tools/inspect: what it says of every kind of file, and its JSON through the project's
 * own reader. */
#include "base/json.h"
#include "weights-tools/inspection.h"
#include "build.h"
#include "decoder_files.h"
#include "program.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const BuildShape shape = {.d = 64, .ff = 96, .layers = 2, .heads = 4, .kv_heads = 2, .n_ctx = 32};

static int inspect(const char *path, const char *options) { return tool("", "inspect", "%s %s", path, options); }

static int says(const char *words) {
    if (strstr(out, words)) return 1;
    printf("    \"%s\" is not in:\n%s\n", words, out);
    return 0;
}

/* The report as JSON of path; sum: bytes of all tensors. */
static int reads(Json *j, const char *path, double *sum) {
    char err[300];
    *sum = 0;
    CHECK(inspect(path, "--json") == 0 && *said == 0);
    int rc = json_parse(j, out, strlen(out), "inspect", err, sizeof err);
    if (rc) printf("    %s\n", err);
    CHECK(rc == 0);
    const JsonValue *tensors = rc ? NULL : json_get(j->root, "tensors");
    for (const JsonValue *t = tensors ? tensors->child : NULL; t; t = t->next) *sum += json_get(t, "bytes")->number;
    return rc == 0;
}

static double number(const JsonValue *v, const char *key) {
    v = json_get(v, key);
    return v && v->type == JSON_NUMBER ? v->number : NAN;
}

static void gguf(void) {
    Json j;
    double sum;
    const char *path = test_tmp("inspect.gguf");
    build_gguf(path, &shape, TENSOR_Q8_0);
    CHECK(inspect(path, "") == 0 && *said == 0);
    CHECK(says("llama: 2 layers, width 64, feed-forward 96, vocabulary 300, context 32\n"));
    CHECK(says("heads          4 of 16 on 2 of keys and values\n"));
    CHECK(says("not stretched, theta 10000\n") && says("16 of a head's 16 entries, (2i, 2i + 1): interleaved\n"));
    CHECK(says("SentencePiece BPE (GGUF), 300 pieces, bos 1, eos 2\n") && says("softmax, causal\n") &&
          says("[300, 64]\n"));
    CHECK(inspect(path, "--summary --keys") == 0 && says("general.architecture = llama\n") &&
          !strstr(out, "[300, 64]"));
    if (!reads(&j, path, &sum)) return;
    const JsonValue *config = json_get(j.root, "config"), *rope = json_get(j.root,
          "rope"), *q8 = json_get(json_get(j.root, "types"), "Q8_0");
    CHECK(json_is(json_get(j.root, "format"), "GGUF") && json_is(json_get(j.root, "architecture"), "llama"));
    CHECK(number(config, "n_layers") == 2 && number(config, "n_kv_heads") == 2 && number(config, "head_dim") == 16);
    CHECK(json_is(json_get(rope, "pairing"), "interleaved") && json_is(json_get(rope, "method"), "none") &&
          number(rope, "theta") == 10000);
    CHECK(number(json_get(j.root, "tokenizer"), "pieces") == 300);
    CHECK(q8 && number(q8, "tensors") == 15 && number(q8, "bytes") + number(json_get(json_get(j.root, "types"), "F32"),
          "bytes") == sum);
    const JsonValue *keys = json_get(j.root, "keys");
    CHECK(keys && keys->len > 10 && json_is(json_get(keys->child, "key"), "general.architecture") &&
          json_is(json_get(keys->child, "value"), "llama"));
    json_free(&j);
}

static void others(void) {
    Json j;
    double sum;
    const char *folder = test_tmp("inspect-hf"), *bin = test_tmp("inspect.bin");
    build_hf(folder, &shape, TENSOR_BF16, 2);
    CHECK(inspect(folder, "") == 0 && says("safetensors") && says("in 2 files") && says("half-split") &&
          says("SentencePiece BPE, 300 pieces"));
    if (reads(&j, folder, &sum)) {
        CHECK(json_is(json_get(json_get(j.root, "rope"), "pairing"), "half") && number(j.root, "files") == 2 &&
              !json_get(j.root, "keys"));
        CHECK(sum < number(j.root, "bytes") && sum > number(j.root, "bytes") / 2);
        json_free(&j);
    }
    build_llama2c(bin, &shape, 2, 32);
    CHECK(inspect(bin, "-s") == 0 && says("llama2.c version 2") && says("I8_GROUPS") && says("tokenizer      none\n"));
    if (reads(&j, bin, &sum)) {
        CHECK(json_get(j.root, "tokenizer")->type == JSON_NULL && sum < number(j.root, "bytes") &&
              sum + 300 > number(j.root, "bytes"));
        json_free(&j);
    }
    build_gguf_vocabulary(bin);
    CHECK(inspect(bin, "") == 0 && says("not one that ./run opens") && says("300 pieces"));
    CHECK(inspect("tests/golden/convert/v1.bin", "") == 0 && says("PyTorch (zip)") &&
          says("roformer.encoder.layer.1.output.dense.weight"));
    CHECK(inspect("tests/golden/convert/gau.ckpt", "") == 0 && says("TensorFlow"));
    if (reads(&j, "tests/golden/convert/v1.legacy.bin", &sum)) {
        CHECK(!json_get(j.root, "architecture") && json_get(j.root, "refused") &&
              json_get(j.root, "tensors")->len > 40);
        json_free(&j);
    }
}

/* What a file spells must neither move a cursor nor break the JSON. */
static void hostile(void) {
    Buffer b = {0};
    Json j;
    double sum;
    char err[300];
    const char nasty[] = "a\x1b[2J\n\xff\xc2\x9b\"\\\xe7\x8c\xab";
    buffer_clean(&b, nasty, sizeof nasty - 1);
    CHECK(b.n == strlen("a?[2J?\xef\xbf\xbd?\"\\\xe7\x8c\xab") &&
          memcmp(b.data, "a?[2J?\xef\xbf\xbd?\"\\\xe7\x8c\xab", b.n) == 0);
    free(b.data);
    size_t n = 0;
    const char *path = test_tmp("inspect-nasty.gguf");
    build_gguf(path, &shape, TENSOR_F32);
    char *bytes = file_read(path, &n), *at = NULL;
    for (size_t i = 0; bytes && i + 20 < n && !at; i++)
        if (memcmp(bytes + i, "blk.0.attn_q.weight", 19) == 0) at = bytes + i;
    CHECK(at != NULL);
    if (at) memcpy(at, "\x1b]0;\"\\\n", 7);
    if (bytes) file_write(path, bytes, n);
    CHECK(inspect(path, "") == 0 && says("?]0;\"\\?ttn_q.weight") && !strchr(out, 27));
    if (reads(&j, path, &sum)) json_free(&j);
    for (size_t cut = n; bytes && cut > 0; cut = cut * 2 / 3) {
        file_write(path, bytes, cut - 1);
        int code = inspect(path, "--json");
        CHECK(code == 1 && *out == 0 && strncmp(said, "run: ", 5) == 0);
    }
    free(bytes);
    Inspection i;
    CHECK(inspection_open(&i, path, err, sizeof err) < 0 && i.n_tensors == 0 && i.tensors == NULL);
    inspection_close(&i);
}

static void usage(void) {
    static const char *const wrong[] = {"", "--bogus", "a b"};
    for (int i = 0; i < 3; i++) CHECK(inspect(wrong[i], "") == 2 && strncmp(said, "run: ", 5) == 0 && *out == 0);
    CHECK(inspect("--help", "") == 0 && strstr(out, "usage: ") && strstr(out, "examples:") && *said == 0);
    CHECK(inspect("not-there", "") == 1 && strstr(said, "No such file"));
    CHECK(inspect("tests/test.h", "") == 1 && strstr(said, "not a model file"));
    CHECK(inspect("tests", "") == 1);
    CHECK(inspect("tests/golden/convert/v1.raw.ckpt.index", "") == 0 && strstr(out, "TensorFlow"));
}

/* The trained models' pairs are as their files say; random weights do not care, and are told apart all the same. */
static void layout(void) {
    CHECK(inspect("model/tales-1m.gguf", "--check-layout") == 0 && says("interleaved (2i, 2i+1)"));
    CHECK(says("; the file says so; the weights want it\n") && says("the file is right"));
    CHECK(inspect("model/tales-1m-linear.gguf", "--check-layout") == 0);
    CHECK(inspect("model/tales-1m.gguf", "-z x") == 2);
    if (!test_data("llama2c/tok512.bin")) return;
    char options[300];
    snprintf(options, sizeof options, "--check-layout -z %s", test_data("llama2c/tok512.bin"));
    CHECK(inspect(test_data("llama2c/stories260K.bin"), options) == 0 && says("the file is right"));
}

/* Of a model that nobody trained either order may be the better one; what is said is what the numbers say. */
static void layouts(void) {
    int wants[2] = {0};
    const char *path = test_tmp("layouts.gguf");
    for (int i = 0; i < 8; i++) {
        const BuildShape s = {.d = 16 + 16 * i, .ff = 32, .layers = 1 + i % 3, .heads = 2, .kv_heads = 2, .n_ctx = 512};
        double loss[2];
        build_gguf(path, &s, TENSOR_F32);
        int code = inspect(path, "--check-layout");
        CHECK(sscanf(out, "interleaved (2i, 2i+1) %lf", &loss[0]) == 1 && strstr(out, "half-split"));
        CHECK(sscanf(strstr(out, "half-split"), "half-split (i, i + d/2) %lf", &loss[1]) == 1);
        int half = loss[1] < loss[0];
        wants[half]++;
        CHECK(code == half && (strstr(out, "the file is right") != NULL) == !half);
        CHECK(says(half ? "; the weights want it\nthe file's rows of q and k seem to be in the other order\n"
                        : "; the file says so; the weights want it\n"));
    }
    CHECK(wants[0] && wants[1]);
    const BuildShape two = {.d = 8, .ff = 8, .layers = 1, .heads = 4, .kv_heads = 4, .n_ctx = 512};
    build_gguf(path, &two, TENSOR_F32);
    CHECK(inspect(path, "--check-layout") == 1 && said_line("turns two entries of a head, which are one pair in"));
    CHECK(inspect("not-there.gguf", "--check-layout") == 1 && said_line("not-there.gguf: No such file"));
    CHECK(inspect(hf_folder("nomic", "", TENSOR_F32, &sound), "--check-layout") == 1 &&
          said_line("does not read from left to right: there is no loss to go by"));
    CHECK(inspect(hf_folder("gqa", "", TENSOR_F32, &sound), "--check-layout") == 1 &&
          said_line("no tokenizer in this folder"));
}

const Test tests_inspect[] = {
    {"inspect/which entries are a pair", layout},
    {"inspect/layouts", layouts},
    {"inspect/gguf", gguf},
    {"inspect/others", others},
    {"inspect/hostile", hostile},
    {"inspect/usage", usage},
    {0},
};
