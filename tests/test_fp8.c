/* tests/test_fp8.c - Hugging Face's matrices of 8 bits with scales (model/files/fp8.c), held against what transformers
 * and compressed-tensors make of them (tests/oracle/fp8.py), bit for bit: both round one product to BF16. */
#include "decoder_files.h"
#include "expanded_files.h"
#include "program.h"
#include "reader_files.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN "tests/golden/fp8/"

static const char *const layouts[] = {"block", "packed_block", "packed_row", "packed_one", "fbgemm", "modelopt",
                                      "codes"};

static void test_values(void) {
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) expanded_as_expected(GOLDEN, layouts[i]);
}

static void test_nan(void) {
    char err[300];
    float v[2];
    Weights w;
    CHECK(expanded_open(&w, GOLDEN "nan", err, sizeof err) == 0);
    const Tensor *t = weights_find(&w, "a.weight");
    CHECK(t && t->type == TENSOR_BF16);
    if (t) matrix_floats(v, &(Matrix){.type = TENSOR_BF16, .rows = 1, .cols = 2, .data = t->data}, 0, 2);
    CHECK(t && isnan(v[0]) && isnan(v[1]));
    weights_close(&w);
}

static void test_refused(void) {
    static const ExpandRefusal rows[] = {
        {"block", "model.safetensors", "a.weight_scale_inv", "a.weight_scales", "F8_E4M3, and no scales beside it"},
        {"block", "model.safetensors", "\"shape\":[3,3]", "\"shape\":[9,1]", "no scales that fit its matrix"},
        {"block", "model.safetensors", "\"shape\":[3,3]", "\"shape\":[9]", "no scales that fit its matrix"},
        {"block", "model.safetensors", "\"shape\":[3,3]", "\"shape\":[3,3,1]", "no scales that fit its matrix"},
        {"block", "config.json", "8,\n   16", "8,\n   -16", "no scales that fit its matrix"},
        {"block", "config.json", "8,\n   16", "8, 16, 1", "no scales that fit its matrix"},
        {"packed_row", "model.safetensors", "\"dtype\":\"F32\",\"shape\":[20,1]", "\"dtype\":\"I32\",\"shape\":[20,1]",
         "only scales of F32, F16 and BF16 are read here"},
        {"packed_row", "model.safetensors", "\"a.input_scale\":{\"dtype\":\"F32\",\"shape\":[1]",
         "\"a.weight_zero_point\":{\"dtype\":\"F8_E4M3\",\"shape\":[4]", "a.weight_zero_point: a zero point of FP8"},
        {"packed_row", "model.safetensors", "a.input_scale", "a.weight_zero_point", "a zero point of FP8"},
        {"codes", "model.safetensors", "\"F8_E4M3\",\"shape\":[16,16]", "\"F8_E4M3\",\"shape\":[256]",
         "F8_E4M3, and no matrix"},
        {"codes", "model.safetensors", "\"F8_E4M3\",\"shape\":[16,16]", "\"F8_E4M3\",\"shape\":[4,8,8]",
         "F8_E4M3, and no matrix"},
        {"codes", "model.safetensors", "\"F8_E4M3\",\"shape\":[16,16]", "\"I8\",\"shape\":[16,16]",
         "has scales beside it, and no type that is read so"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) expanded_refused(GOLDEN, &rows[i]);
}

/* One that is none of those that are known: its matrices stay as they are, which no model is computed with. */
static void test_other_methods(void) {
    static const char *const others[][3] = {
        {"packed_row", "float-quantized", "marlin-24"},
        {"packed_row", "\"format\"", "\"transform_config\": {\"a\": 1}, \"format\""},
        {"modelopt", "\"FP8\"", "\"W4A8_AWQ\""}, {"block", "\"fp8\"", "\"awq\""}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        expanded_not_read(GOLDEN, others[i][0], others[i][1], others[i][2], "a.weight");
}

static void test_truncated(void) { expanded_cut(GOLDEN, "block"); }

/* ---- a whole model ---- */

/* w's tensors as a file: each layer's matrices of 8 bits, with a scale of 1/64, where codes is set. */
static void write_model(const char *path, const Weights *w, int codes) {
    Bytes header = {0}, data = {0};
    for (size_t i = 0; i < w->n_tensors; i++) {
        const Tensor *t = &w->tensors[i], one = {.n_dims = 0};
        char scale[TENSOR_NAME + 16];
        size_t begin = data.n;
        int coded = codes && t->n_dims == 2 && strstr(t->name, "_proj");
        for (size_t k = 0; coded && k < t->size / 2; k++) bytes_u8(&data, (unsigned)(name_hash(t->name, k) % 64 * 2));
        if (!coded) bytes_put(&data, t->data, t->size);
        expanded_entry(&header, t->name, coded ? "F8_E4M3" : t->type_name, t, begin, data.n - begin);
        snprintf(scale, sizeof scale, "%s_scale_inv", t->name);
        if (coded) bytes_f32(&data, 1 / 64.0f), expanded_entry(&header, scale, "F32", &one, data.n - 4, 4);
    }
    expanded_write(path, &header, &data);
}

/* The same logits, from the folder and from what convert makes of it, as from a folder of what was read. */
static void test_model(void) {
    const BuildShape shape = {.d = 32, .ff = 64, .layers = 2, .heads = 4, .kv_heads = 2, .n_ctx = 64};
    const char *from = test_folder("fp8-from"), *folder = test_folder("fp8-model"), *gguf = test_tmp("fp8.gguf");
    char err[300], *expected;
    Weights w;
    build_hf(from, &shape, TENSOR_BF16, 1);
    CHECK(weights_open(&w, from, err, sizeof err) == 0);
    write_model(test_in(folder, "model.safetensors"), &w, 1);
    weights_close(&w);
    CHECK(file_copy(test_in(from, "config.json"), test_in(folder, "config.json")));
    CHECK(run("logits %s --ids 1,5,9", folder) == 1); /* no config says what the scales are */
    folder_change(folder, "config.json", "{", "{\"quantization_config\": {\"quant_method\": \"fp8\"},");
    CHECK(expanded_open(&w, folder, err, sizeof err) == 0);
    write_model(test_in(from, "model.safetensors"), &w, 0);
    weights_close(&w);
    CHECK(run("logits %s --ids 1,5,9", from) == 0);
    expected = taken_out();
    CHECK(run("logits %s --ids 1,5,9", folder) == 0 && strcmp(out, expected) == 0);
    CHECK(said_line("14 matrices of 8 bits (F8_E4M3) are BF16 in memory"));
    CHECK(tool("", "convert", "%s %s --no-tokenizer", folder, gguf) == 0 && strstr(said, "are BF16 in memory"));
    CHECK(run("logits %s --ids 1,5,9 -q", gguf) == 0 && strcmp(out, expected) == 0);
    CHECK(tool("", "convert", "%s %s", folder, test_tmp("fp8.safetensors")) == 1 && said_line("name OUT.gguf"));
    free(expected);
    CHECK(run("inspect %s", folder) == 0 && *said == 0); /* as it is in the file */
    CHECK(strstr(out, "\nmodel          llama: 2 layers, ") && strstr(out, "mlp.up_proj.weight_scale_inv ") &&
          strstr(out, " F8_E4M3      14 tensors, ") && strstr(out, " BF16          1 tensor, "));
    CHECK(run("inspect %s --json", folder) == 0 && strstr(out, "mlp.up_proj.weight\",\"type\":\"F8_E4M3\",\"shape\":"
                                                              "[64,32],\"bytes\":2048}"));
}

extern const Test tests_fp8[];
const Test tests_fp8[] = {
    {"fp8/values", test_values},
    {"fp8/nan", test_nan},
    {"fp8/refused", test_refused},
    {"fp8/other_methods", test_other_methods},
    {"fp8/truncated", test_truncated},
    {"fp8/model", test_model},
    {NULL, NULL},
};
