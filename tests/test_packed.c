/* tests/test_packed.c - Hugging Face's matrices of packed whole numbers and of FP4 (model/files/packed.c, qweight.c),
 * held against what the programs that publish them make of them (tests/oracle/packed.py), bit for bit. */
#include "decoder_files.h"
#include "expanded_files.h"
#include "program.h"
#include "reader_files.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define GOLDEN "tests/golden/packed/"

static const char *const layouts[] = {"w4a16", "w4a16_asym", "w4a16_order", "w8a16", "w8a16_asym", "w3a16_asym",
                                      "w8a8", "w8a8_one", "nvfp4", "mxfp4", "modelopt", "awq", "awq_bf16",
                                      "gptq", "gptq_v2", "gptq_8", "gptq_2", "gptq_3", "gptq_borrows"};

static void test_values(void) {
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) expanded_as_expected(GOLDEN, layouts[i]);
}

static void test_refused(void) {
    static const char file[] = "model.safetensors";
    static const ExpandRefusal rows[] = {
        {"w4a16", file, "a.weight_scale", "a.weight_scalf", "quantized, and no scales beside it"},
        {"w4a16", file, "a.weight_shape", "a.weight_shapf", "packed, and no shape of two numbers (I64) beside it"},
        {"w4a16", file, "\"I64\",\"shape\":[2]", "\"F64\",\"shape\":[2]", "packed, and no shape of two numbers (I64)"},
        {"w4a16", file, "\"I32\",\"shape\":[12,10]", "\"I32\",\"shape\":[6,20]", "not the shape of what is packed"},
        {"w4a16", file, "\"I32\",\"shape\":[12,10]", "\"I32\",\"shape\":[120]", "packed, and no shape of two numbers"},
        {"w4a16", file, "\"BF16\",\"shape\":[12,5]", "\"BF16\",\"shape\":[5,12]", "no scales that fit its matrix"},
        {"w4a16", file, "\"BF16\",\"shape\":[12,5]", "\"I16\",\"shape\":[12,5]", "only scales of F32, F16 and BF16"},
        {"w4a16_asym", file, "\"shape\":[2,5]", "\"shape\":[5,2]", "no zero points that fit its matrix"},
        {"w4a16_asym", file, "\"I32\",\"shape\":[2,5]", "\"F32\",\"shape\":[2,5]", "no zero points that fit"},
        {"w4a16_order", file, "\"I32\",\"shape\":[80]", "\"I32\",\"shape\":[40,2]", "not a group for each column"},
        {"w4a16_order", file, "\"I32\",\"shape\":[80]", "\"F32\",\"shape\":[80]", "not a group for each column"},
        {"w8a8", file, "\"I8\",\"shape\":[12,37]", "\"I8\",\"shape\":[444]", "quantized, and no matrix"},
        {"w8a8", file, "\"I8\",\"shape\":[12,37]", "\"U8\",\"shape\":[12,37]", "has scales beside it, and no type"},
        {"w8a8", file, "\"BF16\",\"shape\":[12,1]", "\"BF16\",\"shape\":[6,2]", "no scales that fit its matrix"},
        {"w8a8_one", file, "a.weight_scale", "a.weight_scalf", "quantized, and no scales beside it"},
        {"w8a8_one", file, "\"I8\",\"shape\":[1]", "\"U8\",\"shape\":[1]", "no zero points that fit its matrix"},
        {"nvfp4", file, "a.weight_global_scale", "a.weight_global_scalf", "NVFP4, and no number for its scales"},
        {"nvfp4", file, "\"shape\":[4,5]", "\"shape\":[5,4]", "no scales of FP4 that fit its matrix"},
        {"nvfp4", file, "\"F8_E4M3\"", "\"F8_E5M2\"", "no scales of FP4 that fit its matrix"},
        {"nvfp4", file, "\"a.input_global_scale\"", "\"a.weight_zero_point\"", "a zero point of FP4"},
        {"mxfp4", file, "\"shape\":[4,2]", "\"shape\":[8]", "no scales of FP4 that fit its matrix"},
        {"modelopt", file, "a.weight_scale_2", "a.weight_scale_3", "NVFP4, and no number for its scales"},
        {"modelopt", file, "\"U8\",\"shape\":[4,40]", "\"U8\",\"shape\":[160]", "quantized, and no matrix"},
        {"awq", file, "a.scales", "a.scalez", "quantized, and no scales beside it"},
        {"awq", file, "a.qzeros", "a.qzeroz", "quantized, and no qzeros beside it"},
        {"awq", file, "\"I32\",\"shape\":[80,2]", "\"I32\",\"shape\":[160]", "quantized, and no matrix"},
        {"awq", file, "\"I32\",\"shape\":[80,2]", "\"I32\",\"shape\":[2,80]", "no scales that fit its matrix"},
        {"awq", file, "\"F16\",\"shape\":[5,16]", "\"F16\",\"shape\":[16,5]", "no scales that fit its matrix"},
        {"awq", file, "\"F16\",\"shape\":[5,16]", "\"I16\",\"shape\":[5,16]", "only scales of F32, F16 and BF16"},
        {"awq", file, "\"I32\",\"shape\":[5,2]", "\"I32\",\"shape\":[2,5]", "no zero points that fit its matrix"},
        {"awq", file, "\"I32\",\"shape\":[5,2]", "\"F32\",\"shape\":[5,2]", "no zero points that fit its matrix"},
        {"gptq", file, "a.qzeros", "a.qzeroz", "quantized, and no qzeros beside it"},
        {"gptq", file, "\"I32\",\"shape\":[12,16]", "\"I32\",\"shape\":[16,12]", "not as many codes as its matrix"},
        {"gptq", file, "\"I32\",\"shape\":[12,16]", "\"I32\",\"shape\":[192]", "quantized, and no matrix"},
        {"gptq", file, "\"I32\",\"shape\":[96]", "\"F32\",\"shape\":[96]", "not a group for each column of its matrix"},
        {"gptq", "config.json", "\"bits\": 4", "\"bits\": 8", "not as many codes as its matrix has columns"},
        {"gptq_8", file, "\"F16\",\"shape\":[3,16]", "\"F16\",\"shape\":[16,3]", "no scales that fit its matrix"},
        {"gptq_8", "config.json", "\"bits\": 8", "\"bits\": 4", "no zero points that fit its matrix"},
        {"gptq_3", "config.json", "\"group_size\": 64", "\"group_size\": 31", "groups that do not share out"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) expanded_refused(GOLDEN, &rows[i]);
}

/* What a configuration says that is not read here: nothing becomes of the codes. */
static void test_other_methods(void) {
    static const char *const others[][3] = {
        {"w4a16", "compressed-tensors", "bitsandbytes"}, {"w4a16", "pack-quantized", "marlin-24"},
        {"w4a16", "\"format\"", "\"transform_config\": {\"a\": 1}, \"format\""},
        {"w4a16", "\"format\"", "\"sparsity_config\": {\"format\": \"sparse-24-bitmask\"}, \"format\""},
        {"modelopt", "\"NVFP4\"", "\"NVFP4_AWQ\""},
        {"awq", "gemm", "gemv"}, {"awq", "\"bits\": 4", "\"bits\": 8"}, {"awq", "\"bits\": 4", "\"bots\": 4"},
        {"gptq", "\"bits\": 4", "\"bits\": 5"}, {"gptq_v2", "gptq_v2", "gptq_p"},
        {"gptq", "\"bits\"", "\"is_marlin_format\": true, \"bits\""},
        {"gptq", "\"bits\"", "\"dynamic\": {\"a\": {}}, \"bits\""}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        expanded_not_read(GOLDEN, others[i][0], others[i][1], others[i][2],
                          i < 4 ? "a.weight_packed" : i < 5 ? "a.weight" : "a.qweight");
}

/* A group that there is not; and -1, which says that columns stand in order. */
static void test_order(void) {
    const char *folder = expanded_copy(GOLDEN, "w4a16_order", "packed-order"),
               *path = test_in(folder, "model.safetensors");
    size_t size = 0;
    char err[300] = "", *data = file_read(path, &size), *entry = data ? strstr(data + 8, "\"a.weight_g_idx\"") : NULL;
    size_t at = entry ? 8 + load_u64((uint8_t *)data) + strtoul(strstr(entry, "offsets\":[") + 10, NULL, 10) : 0;
    Weights w;
    CHECK(at > 0 && at + 4 * 80 <= size);
    if (!at) return;
    data[at + 4 * 79] = 5;
    file_write(path, data, size);
    CHECK(expanded_open(&w, folder, err, sizeof err) != 0 && strstr(err, "a group that its matrix does not have"));
    memset(data + at, 0xff, 4 * 80);
    file_write(path, data, size);
    CHECK(expanded_open(&w, folder, err, sizeof err) == 0 && weights_find(&w, "a.weight"));
    weights_close(&w);
    free(data);
}

static void test_truncated(void) { expanded_cut(GOLDEN, "w4a16_asym"); }

/* ---- a whole model ---- */

static void put(Bytes *header, Bytes *data, const char *name, const char *tail, const char *dtype,
                const uint64_t *shape, int n_dims, const void *values, size_t bytes) {
    Tensor t = {.n_dims = n_dims};
    char full[TENSOR_NAME + 40];
    for (int d = 0; d < n_dims; d++) t.shape[d] = shape[d];
    snprintf(full, sizeof full, "%.*s%s", (int)(strlen(name) - (*tail ? strlen(".weight") : 0)), name, tail);
    bytes_put(data, values, bytes);
    expanded_entry(header, full, dtype, &t, data->n - bytes, bytes);
}

/* A matrix [rows, cols] as four bits a code, of a scale of 1/64 (BF16) for 32 columns. */
static void put_packed(Bytes *header, Bytes *data, const Tensor *t) {
    uint64_t rows = t->shape[0], cols = t->shape[1];
    Bytes codes = {0}, scales = {0}, shape = {0};
    for (uint64_t i = 0; i < rows * cols / 2; i++) bytes_u8(&codes, (unsigned)(name_hash(t->name, i) >> 40 & 255));
    for (uint64_t i = 0; i < rows * cols / 32; i++) bytes_number(&scales, 0x3c80, 2);
    bytes_u64(&shape, rows), bytes_u64(&shape, cols);
    put(header, data, t->name, ".weight_packed", "I32", (uint64_t[]){rows, cols / 8}, 2, codes.data, codes.n);
    put(header, data, t->name, ".weight_scale", "BF16", (uint64_t[]){rows, cols / 32}, 2, scales.data, scales.n);
    put(header, data, t->name, ".weight_shape", "I64", (uint64_t[]){2}, 1, shape.data, shape.n);
    free(codes.data), free(scales.data), free(shape.data);
}

/* w's tensors as a file, each layer's matrices packed where `packed` is set. */
static void write_model(const char *path, const Weights *w, int packed) {
    Bytes header = {0}, data = {0};
    for (size_t i = 0; i < w->n_tensors; i++) {
        const Tensor *t = &w->tensors[i];
        if (packed && strstr(t->name, "_proj")) put_packed(&header, &data, t);
        else put(&header, &data, t->name, "", t->type_name, t->shape, t->n_dims, t->data, t->size);
    }
    expanded_write(path, &header, &data);
}

/* A matrix of GPTQ's [8, 8] and its bias, which is `first` and zeros. */
static void put_gptq(Bytes *header, Bytes *data, const char *name, unsigned first) {
    static const uint8_t zeros[32];
    uint8_t bias[16] = {(uint8_t)first};
    put(header, data, name, ".qweight", "I32", (uint64_t[]){1, 8}, 2, zeros, 32);
    put(header, data, name, ".qzeros", "I32", (uint64_t[]){1, 1}, 2, zeros, 4);
    put(header, data, name, ".scales", "F16", (uint64_t[]){1, 8}, 2, zeros, 16);
    put(header, data, name, ".bias", "F16", (uint64_t[]){8}, 1, bias, 16);
}

/* Biases of zeros that GPTQ's programs added leave, and no others. */
static void test_biases(void) {
    const char *folder = expanded_copy(GOLDEN, "gptq", "packed-biases");
    Bytes header = {0}, data = {0};
    char err[300] = "";
    Weights w;
    put_gptq(&header, &data, "l.0.q.weight", 0), put_gptq(&header, &data, "l.1.q.weight", 1);
    put_gptq(&header, &data, "l.0.o.weight", 0), put_gptq(&header, &data, "l.1.o.weight", 0);
    put(&header, &data, "other.bias", "", "F16", (uint64_t[]){2}, 1, (uint8_t[4]){0}, 4);
    expanded_write(test_in(folder, "model.safetensors"), &header, &data);
    CHECK(expanded_open(&w, folder, err, sizeof err) == 0 && w.n_tensors == 7);
    CHECK(weights_find(&w, "l.0.q.bias") && weights_find(&w, "l.1.q.bias") && weights_find(&w, "other.bias"));
    CHECK(!weights_find(&w, "l.0.o.bias") && weights_find(&w, "l.0.o.weight"));
    weights_close(&w);
}

/* The same logits, and the same file from convert, as from a folder of what was read. */
static void test_model(void) {
    const BuildShape shape = {.d = 32, .ff = 64, .layers = 2, .heads = 4, .kv_heads = 2, .n_ctx = 64};
    const char *from = test_folder("packed-from"), *folder = test_folder("packed-model"), *gguf = test_tmp("p.gguf"),
               *other = test_tmp("q.gguf");
    char err[300], *expected;
    Weights w;
    build_hf(from, &shape, TENSOR_BF16, 1);
    CHECK(weights_open(&w, from, err, sizeof err) == 0);
    write_model(test_in(folder, "model.safetensors"), &w, 1);
    weights_close(&w);
    CHECK(file_copy(test_in(from, "config.json"), test_in(folder, "config.json")));
    CHECK(run("logits %s --ids 1,5,9", folder) == 1); /* no config says what the codes are */
    folder_change(folder, "config.json", "{", "{\"quantization_config\": {\"quant_method\": \"hqq\"},");
    CHECK(run("logits %s --ids 1,5,9", folder) == 1 && said_line("this kind of quantized weights is not read"));
    folder_change(folder, "config.json", "\"hqq\"", "\"compressed-tensors\", \"format\": \"pack-quantized\"");
    CHECK(expanded_open(&w, folder, err, sizeof err) == 0);
    write_model(test_in(from, "model.safetensors"), &w, 0);
    weights_close(&w);
    CHECK(run("logits %s --ids 1,5,9", from) == 0);
    expected = taken_out();
    CHECK(run("logits %s --ids 1,5,9", folder) == 0 && strcmp(out, expected) == 0);
    CHECK(said_line("14 matrices of packed whole numbers are BF16 in memory"));
    free(expected);
    CHECK(tool("", "convert", "%s %s --no-tokenizer --name m", folder, gguf) == 0 && strstr(said, "BF16 in memory"));
    CHECK(tool("", "convert", "%s %s --no-tokenizer --name m", from, other) == 0 && files_equal(gguf, other));
    CHECK(tool("", "convert", "%s %s", folder, test_tmp("p.safetensors")) == 1 && said_line("name OUT.gguf"));
    CHECK(run("inspect %s", folder) == 0 && *said == 0); /* as it is in the file */
    CHECK(strstr(out, "\nmodel          llama: 2 layers, ") && strstr(out, "mlp.up_proj.weight_packed "));
}

extern const Test tests_packed[];
const Test tests_packed[] = {
    {"packed/values", test_values},
    {"packed/refused", test_refused},
    {"packed/other_methods", test_other_methods},
    {"packed/order", test_order},
    {"packed/truncated", test_truncated},
    {"packed/biases", test_biases},
    {"packed/model", test_model},
    {NULL, NULL},
};
