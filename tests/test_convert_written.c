/* tests/test_convert_written.c - weights-tools/convert and quantize: what stands in the new file where the old one is
 * odd but valid. Keys that are its own matter, names that are cut, tensors of many pieces, types side by side. */
#include "base/paths.h"
#include "convert_files.h"
#include "decoder_cases.h"
#include "hostile_files.h"
#include "program.h"
#include "quantize_files.h"
#include "reader_files.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static const BuildShape small = {.d = 32, .ff = 32, .layers = 1, .heads = 2, .kv_heads = 1, .n_ctx = 16};

static void same_weights(const char *one, const char *other) {
    Model a, b;
    if (!model_opened(&a, one)) return;
    if (model_opened(&b, other)) {
        CHECK(same_tensors(&a.weights, &b.weights));
        model_close(&b);
    }
    model_close(&a);
}

/* ---- a GGUF file's keys ---- */

static void key_is(const char *path, const char *key, const char *value) {
    keys_are(path, (const Key[]){{key, value}}, 1);
}

/* Split files' keys are those of the parts; a type is a number that ggml could have; --name is the new one's. */
static void keys_of_its_own(void) {
    char from[4096], to[4096];
    Bytes more = {0};
    snprintf(from, sizeof from, "%s", test_tmp("own-keys.gguf"));
    snprintf(to, sizeof to, "%s", test_tmp("own-keys-new.gguf"));
    build_gguf(from, &small, TENSOR_F32);
    put_key(&more, "split.no", META_U16, 0, 2);
    put_key(&more, "split.count", META_U16, 1, 2);
    put_key(&more, "general.file_type", META_U64, 5000000000, 8);
    put_key(&more, "general.quantization_version", META_I32, 0xffffffff, 4);
    put_key(&more, "general.alignment", META_U32, 32, 4);
    gguf_with(from, from, &more, 5);
    CHECK(tool("", "convert", "%s %s -q", from, to) == 0);
    key_is(to, "split.no", "absent"), key_is(to, "split.count", "absent");
    key_is(to, "general.file_type", "absent"), key_is(to, "general.quantization_version", "absent");
    key_is(to, "general.alignment", "32");
    same_weights(from, to);
    CHECK(tool("", "convert", "%s %s -q --name other", from, to) == 0);
    key_is(to, "general.name", "other");
    CHECK(tool("", "convert", "%s %s -q --type f16", from, to) == 0);
    key_is(to, "general.file_type", "1"), key_is(to, "general.quantization_version", "2");
}

/* .. and where they are no numbers at all, or below 0. */
static void keys_of_no_number(void) {
    static const char *const names[] = {"general.file_type", "general.quantization_version"};
    char from[4096], to[4096];
    snprintf(from, sizeof from, "%s", test_tmp("no-number.gguf"));
    snprintf(to, sizeof to, "%s", test_tmp("no-number-new.gguf"));
    for (int i = 0; i < 4; i++) {
        Bytes more = {0};
        build_gguf(from, &small, TENSOR_F32);
        if (i < 2) bytes_string(&more, names[i]), bytes_u32(&more, META_STRING), bytes_string(&more, "7");
        else put_key(&more, names[i - 2], META_I32, i == 2 ? 0xfffffffe : 1024, 4);
        gguf_with(from, from, &more, 1);
        CHECK(tool("", "convert", "%s %s -q", from, to) == 0);
        key_is(to, names[i % 2], "absent");
    }
}

/* All keys, and no tensor. */
static void keys_alone(void) {
    char path[4096];
    snprintf(path, sizeof path, "%s", test_tmp("keys-alone.gguf"));
    for (int i = 0; i < 3; i++) {
        size_t n = 0, at = 24;
        if (i == 0) build_gguf_vocabulary(path);
        if (i == 1) build_gguf(path, &small, TENSOR_F32);
        if (i == 2) CHECK(tool("", "convert", CONVERT_GOLDEN "v1.bin %s -q " CONVERT_V1, path) == 0);
        char *bytes = file_read(path, &n);
        while (bytes && i && at + 20 < n && memcmp(bytes + at, "token_embd.weight", 17) != 0) at++;
        if (bytes && i) memset(bytes + 8, 0, 8), file_write(path, bytes, at - 8);
        free(bytes);
        CHECK(tool("", "convert", "%s %s -q", path, test_tmp("x.gguf")) == 1 &&
              said_line(i < 2 ? "token_embd.weight: the file holds no tensors (a vocabulary only)"
                              : "token_embd.weight: the tensor is missing or not a matrix"));
    }
}

/* Vectors are F32 whatever they were, as llama.cpp's converter writes them; matrices stay. */
static void vectors(void) {
    char folder[4096], err[300];
    const TensorType types[] = {TENSOR_BF16, TENSOR_F16};
    Weights w;
    for (int i = 0; i < 2; i++) {
        snprintf(folder, sizeof folder, "%s", test_folder(i ? "vectors-f16" : "vectors-bf16"));
        build_hf(folder, &small, types[i], 1);
        CHECK(tool("", "convert", "%s %s -q -f", folder, test_tmp("vectors.gguf")) == 0);
        CHECK(weights_open(&w, test_tmp("vectors.gguf"), err, sizeof err) == 0);
        for (size_t t = 0; t < w.n_tensors; t++) {
            TensorType want = w.tensors[t].n_dims == 1 ? TENSOR_F32 : types[i];
            CHECK((TensorType)w.tensors[t].type == want);
        }
        weights_close(&w);
    }
}

/* What is written is no part of what is read. */
static void parts(void) {
    char first[4096];
    snprintf(first, sizeof first, "%s", test_tmp("part-00001-of-00002.gguf"));
    const char *second = test_tmp("part-00002-of-00002.gguf");
    build_gguf(first, &small, TENSOR_F32);
    CHECK(file_copy(first, second));
    CHECK(tool("", "convert", "%s %s -f", first, second) == 1 && said_line("is the input"));
    CHECK(tool("", "quantize", "%s %s Q8_0 -f", first, second) == 1 && said_line("is the input"));
    CHECK(files_equal(first, second));
}

/* ---- names ---- */

/* general.name is the folder's: as it is called from within and with slashes behind it; none of "." and ".."; cut where
 * a character ends. */
static void names(void) {
    char top[4096], folder[9000], name[200], to[4096], run_path[4096];
    snprintf(top, sizeof top, "%s", test_folder("names"));
    snprintf(to, sizeof to, "%s", test_tmp("names.gguf"));
    snprintf(run_path, sizeof run_path, "%s", test_run_path());
    for (int i = 0; i < 66; i++) memcpy(name + 3 * i, "\xe7\x8c\xab", 4);
    snprintf(folder, sizeof folder, "%s/%s%.9s", top, name, name);
    build_hf(folder, &small, TENSOR_F32, 1);
    CHECK(tool("", "convert", "%s %s -q", folder, to) == 0);
    key_is(to, "general.name", name);
    CHECK(tool("", "convert", "%s// %s -q", folder, to) == 0);
    key_is(to, "general.name", name);
    snprintf(folder, sizeof folder, "%s/plain", top);
    build_hf(folder, &small, TENSOR_F32, 1);
    CHECK(shell("here=$(pwd); case %s in /*) p=%s;; *) p=$here/%s;; esac; cd %s && $p convert -f . %s -q", run_path,
                run_path, run_path, folder, to) == 0);
    key_is(to, "general.name", "plain");
    CHECK(shell("here=$(pwd); case %s in /*) p=%s;; *) p=$here/%s;; esac; mkdir -p %s/in; cd %s/in && "
                "$p convert -f .. %s -q", run_path, run_path, run_path, folder, folder, to) == 0);
    key_is(to, "general.name", "llama");
    CHECK(tool("", "convert", "%s %s -q --name given", folder, to) == 0);
    key_is(to, "general.name", "given");
}

/* ---- tensors ---- */

/* More than a piece of 4 MB, and a row that is one: the values are the same. */
static void pieces(void) {
    const BuildShape wide = {.d = 256, .ff = 4640, .layers = 1, .heads = 2, .kv_heads = 1, .n_ctx = 16};
    char from[4096], half[4096], back[4096];
    snprintf(from, sizeof from, "%s", test_tmp("pieces.gguf"));
    snprintf(half, sizeof half, "%s", test_tmp("pieces-half.gguf"));
    snprintf(back, sizeof back, "%s", test_tmp("pieces-back.gguf"));
    build_gguf(from, &wide, TENSOR_F32);
    CHECK(tool("", "quantize", "%s %s F16 -q", from, half) == 0 && tool("", "convert", "%s %s -q --type f32", half,
                                                                        back) == 0);
    same_weights(from, back);
}

/* What F16 does not hold, and what to do about it. */
static void too_large(void) {
    const Spoil s = {.set = "mlp.down_proj.weight", .value = 70000, .how = SPOIL_SET};
    const char *folder = hf_folder("gqa", "", TENSOR_F32, &s), *to = test_tmp("too-large.gguf");
    CHECK(tool("", "convert", "%s %s -q --no-tokenizer --type f16", folder, to) == 1 &&
          said_line("tensor blk.0.ffn_down.weight holds numbers that are too large for F16: use --type keep"));
    CHECK(!file_exists(to) && tool("", "convert", "%s %s -q --no-tokenizer", folder, to) == 0);
}

/* A reader knows the largest Gemmas by their layers, and takes another scale of scores for them: so it is said. */
static void gemmas_scale(void) {
    const char *to = test_tmp("gemma.gguf");
    CHECK(tool("", "convert", "%s %s -q --no-tokenizer", hf_folder("gemma2", "", TENSOR_F32, &sound), to) == 0);
    key_is(to, "gemma2.attention.scale", "0.288675");
}

/* A bias whose entries change places, in 16 bits: no order was ever lost in it. */
static void halves(void) {
    static DecoderCase g;
    static const TensorType types[] = {TENSOR_F16, TENSOR_BF16};
    if (!case_read(&g, "bias")) return;
    for (int i = 0; i < 2; i++) {
        const char *path = converted("bias", hf_folder("bias", "", types[i], &sound), NULL, 0);
        Weights w;
        CHECK(path && case_distance("bias", path, kernels_best(), &g) < 1e-4);
        if (!path || !weights_opened(&w, path)) continue;
        const Tensor *q = weights_find(&w, "blk.0.attn_q.bias");
        CHECK(q && q->type == (int)types[i]);
        weights_close(&w);
    }
}

/* Experts of two types, which GGUF has in one tensor: none of their bits is lost. */
static void mixed(void) {
    static const char name[] = "model.layers.0.block_sparse_moe.experts.1.w1.weight";
    const char *folder = hf_folder("mixtral", "", TENSOR_BF16, &sound), *to = test_tmp("mixed.gguf");
    safetensors_with(test_in(folder, "model.safetensors"),
                     "\"model.layers.0.block_sparse_moe.experts.1.w1.weight\":{\"dtype\":\"BF16\"",
                     "\"model.layers.0.block_sparse_moe.experts.1.w1.weight\":{\"dtype\":\"F16\"", 0);
    CHECK(tool("", "convert", "%s %s -q --no-tokenizer", folder, to) == 0);
    Weights w;
    if (!weights_opened(&w, to)) return;
    const Tensor *t = weights_find(&w, "blk.0.ffn_gate_exps.weight"),
                 *up = weights_find(&w, "blk.0.ffn_up_exps.weight");
    CHECK(t && t->type == TENSOR_F32 && t->n_dims == 3 && up && up->type == TENSOR_BF16);
    for (uint64_t i = 0; t && t->type == TENSOR_F32 && i < t->shape[1] * t->shape[2]; i++) {
        uint8_t bits[4]; /* BF16's, read as F16 */
        float_encode(bits, (float)name_value(name, i) / 256, TENSOR_BF16);
        CHECK(load_f32(t->data + 4 * (t->shape[1] * t->shape[2] + i)) == f16_to_f32(load_u16(bits)));
    }
    weights_close(&w);
    CHECK(tool("", "quantize", "%s %s BF16 -q --no-tokenizer", folder, to) == 0);
    if (!weights_opened(&w, to)) return;
    CHECK((t = weights_find(&w, "blk.0.ffn_gate_exps.weight")) && t->type == TENSOR_BF16);
    weights_close(&w);
}

/* What llama.cpp's operations read as floats alone. */
static void floats_alone(void) {
    static const char *const rows[][2] = {
        {"lfm2_moe", "blk.0.shortconv.conv.weight"}, {"lfm2_moe", "blk.1.ffn_gate_inp.weight"},
        {"qwen35", "blk.0.ssm_conv1d.weight"}, {"cohere_norms", "blk.0.attn_q_norm.weight"}};
    for (int i = 0; i < 8; i++) {
        const char *name = rows[i / 2][0], *to = test_tmp("floats.gguf");
        const char *folder = hf_folder(name, "", TENSOR_BF16, &sound), *type = i % 2 ? "F16" : "";
        Weights w;
        CHECK(tool("", i % 2 ? "quantize" : "convert", "%s %s %s -q --no-tokenizer", folder, to, type) == 0);
        if (!weights_opened(&w, to)) continue;
        const Tensor *t = weights_find(&w, rows[i / 2][1]), *matrix = weights_find(&w, "blk.0.ffn_up.weight");
        CHECK(t && t->type == TENSOR_F32 && matrix && matrix->type == (i % 2 ? TENSOR_F16 : TENSOR_BF16));
        weights_close(&w);
    }
}

/* ---- safetensors ---- */

/* Matrices become halves and vectors floats; what has no number there is refused, and infinity stays what it is. */
static void to_safetensors(void) {
    char dir[4096];
    snprintf(dir, sizeof dir, "%s", test_folder("written-hf"));
    for (int i = 0; i < 3; i++) {
        const float values[] = {0, 70000, INFINITY};
        const Spoil s = {.set = "mlp.down_proj.weight", .value = values[i], .how = SPOIL_SET};
        int code = tool("", "convert", "%s %s -q --type f16", hf_folder("gqa", "", TENSOR_F32, i ? &s : &sound),
                        test_in(dir, "model.safetensors"));
        if (i == 1) CHECK(code == 1 && said_line("tensor model.layers.0.mlp.down_proj.weight holds numbers too large "
                                                 "for F16: use --type keep"));
        else CHECK(code == 0);
    }
    Weights w;
    if (!weights_opened(&w, dir)) return;
    const Tensor *norm = weights_find(&w, "model.norm.weight"), *down = weights_find(&w, "model.layers.0.mlp.down_proj."
                                                                                         "weight"),
                 *up = weights_find(&w, "model.layers.0.mlp.up_proj.weight");
    CHECK(norm && norm->type == TENSOR_F32 && down && down->type == TENSOR_F16 && load_u16(down->data) == 0x7c00);
    for (size_t i = 0; up && i < up->size / 2; i++)
        CHECK(f16_to_f32(load_u16(up->data + 2 * i)) ==
              (float)name_value("model.layers.0.mlp.up_proj.weight", i) / 256);
    weights_close(&w);
    /* doubles: one that no float holds, and one that does */
    static const char header[] = "{\"w\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]}}";
    const double values[] = {1e300, 0.1};
    for (int i = 0; i < 2; i++) {
        const char *path = test_in(test_folder("written-doubles"), "d.safetensors");
        Bytes f = {0};
        bytes_u64(&f, sizeof header - 1), bytes_put(&f, header, sizeof header - 1), bytes_put(&f, &values[i], 8);
        file_write(path, f.data, f.n);
        free(f.data);
        int code = tool("", "convert", "%s %s -q --type f32", path, test_tmp("floats.safetensors"));
        CHECK(i ? code == 0 : code == 1 && said_line("tensor w holds numbers too large for F32"));
    }
}

/* ---- PyTorch's files ---- */

/* A vector of ones in the place of the last norm's weight, in doubles: they are read, and written as floats. */
static void doubles(void) {
    const char *folder = hf_folder("gqa", "", TENSOR_F32, &sound), *to = test_tmp("doubles.gguf");
    char entry[300];
    size_t size = 0;
    char *bytes = file_read(test_in(folder, "model.safetensors"), &size);
    CHECK(bytes && size > 8);
    size_t data = bytes ? size - 8 - (size_t)load_u64(bytes) : 0;
    free(bytes);
    snprintf(entry, sizeof entry, "\"model.norm.weight\":{\"dtype\":\"F64\",\"shape\":[32],\"data_offsets\":[%zu,%zu]},"
             "\"model.layers.0.self_attn.rotary_emb.inv_freq\"", data, data + 256);
    safetensors_with(test_in(folder, "model.safetensors"), "\"model.norm.weight\"", entry, 256);
    CHECK(tool("", "quantize", "%s %s Q8_0 --no-tokenizer", folder, to) == 0 && strstr(said, "F32"));
    Weights w;
    if (!weights_opened(&w, to)) return;
    const Tensor *t = weights_find(&w, "output_norm.weight");
    CHECK(t && t->type == TENSOR_F32 && t->size == 128 && load_f32(t->data) == 0);
    weights_close(&w);
}

/* Entries that are no tensors are counted; rows of a layered model's matrix must lie one behind the other. */
static void pickles(void) {
    char dir[4096], path[4096];
    snprintf(dir, sizeof dir, "%s", test_folder("written-pickles"));
    snprintf(path, sizeof path, "%s", test_in(dir, "pytorch_model.bin"));
    CHECK(file_copy(test_in(hf_folder("olmo2", "", TENSOR_F32, &sound), "config.json"), test_in(dir, "config.json")));
    Buffer f = zip_of_pickle(with_tensor("U%010", "K%00K%02K%02%86K%01K%02%86"));
    file_write(path, f.data, f.n);
    free(f.data);
    CHECK(tool("", "convert", "%s %s -q --no-tokenizer", dir, test_tmp("x.gguf")) == 1 &&
          said_line("tensor w: its rows do not lie one behind the other: convert it to safetensors first"));
    f = zip_of_pickle("%80%02}(U%05epochK%03U%01wctorch._utils%0A_rebuild_tensor_v2%0A((U%07storagectorch%0A"
                      "FloatStorage%0AU%010U%03cpuK%10tQK%00K%04%85K%01%85%89}tRu.");
    file_write(path, f.data, f.n);
    free(f.data);
    CHECK(tool("", "convert", "%s %s --no-tokenizer", dir, test_tmp("x.gguf")) == 1 &&
          strstr(said, "left out: 1 entry that is no tensor of numbers"));
}

const Test tests_convert_written[] = {
    {"convert/keys of its own", keys_of_its_own},
    {"convert/keys of no number", keys_of_no_number},
    {"convert/keys alone", keys_alone},
    {"convert/vectors", vectors},
    {"convert/parts of the input", parts},
    {"convert/names", names},
    {"convert/pieces", pieces},
    {"convert/too large", too_large},
    {"convert/Gemmas' scale", gemmas_scale},
    {"convert/a bias in halves", halves},
    {"convert/experts of two types", mixed},
    {"convert/floats alone", floats_alone},
    {"convert/safetensors in other types", to_safetensors},
    {"convert/doubles", doubles},
    {"convert/pickles of decoders", pickles},
    {0},
};
