/* model/lora.c - LoRA, arXiv:2106.09685: an adapter says by how much each matrix changes, as a product of two thin
 * ones, W + alpha/r B A. Merged once, it costs nothing a token. In the base's blocks most of it would round away, so
 * what it touches becomes F32. What an adapter file may have beyond that is refused by name. */
#include "lora.h"

#include "base/json.h"
#include "base/paths.h"
#include "model/files/huggingface.h"
#include "model/files/safetensors.h"
#include "model/layers/config.h"
#include "notes.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    Weights *base, file;
    const LayerTraits *traits;
    double alpha, scale; /* alpha 0: the product as it is */
    int root;            /* 1: alpha / sqrt(r), rsLoRA */
    size_t n_merged, bytes;
} Adapter;

/* What a PEFT configuration may not say. pissa, olora, corda and loftq take from the base what A and B began with. */
static const char *unknown_setting(const JsonValue *c) {
    static const char *const keys[] = {"use_dora", "fan_in_fan_out", "lora_bias", "alpha_pattern", "modules_to_save",
                                       "layer_replication", "alora_invocation_tokens", "arrow_config", "use_bdlora"};
    static const char *const beginnings[] = {"gaussian", "eva", "orthogonal", "mica", "lora_ga"};
    const JsonValue *begun = json_typed(c, "init_lora_weights", JSON_STRING);
    int known = begun == NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (json_truth(json_get(c, keys[i]))) return keys[i];
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings && !known; i++) known = json_is(begun, beginnings[i]);
    if (!known) return "init_lora_weights";
    return json_is(json_get(c, "peft_type"), "LORA") ? NULL : "peft_type";
}

static int read_config(Adapter *a, const char *path, char *err, size_t errlen) {
    Json j = {0};
    int rc = json_open(&j, path, err, errlen);
    const char *bad = rc ? NULL : unknown_setting(j.root);
    const JsonValue *alpha = json_typed(j.root, "lora_alpha", JSON_NUMBER);
    if (bad) rc = base_error(err, errlen, -EINVAL, "%s: %s: this kind of adapter cannot be merged", path, bad);
    else if (rc == 0 && !alpha)
        rc = base_error(err, errlen, -EINVAL, "%s: lora_alpha is missing or no number", path);
    if (rc == 0) a->alpha = alpha->number, a->root = json_truth(json_get(j.root, "use_rslora"));
    if (rc == 0 && a->alpha == 0) a->scale = 0; /* PEFT's 0 adds nothing; GGUF's 0 means: not scaled */
    json_free(&j);
    return rc;
}

static int same_word(const MetaValue *a, const MetaValue *b) {
    return a && b && a->type == META_STRING && b->type == META_STRING && a->n == b->n &&
           memcmp(a->data, b->data, a->n) == 0;
}

static int is_word(const MetaValue *v, const char *s) {
    return same_word(v, &(MetaValue){.type = META_STRING, .n = strlen(s), .data = (const uint8_t *)s});
}

static int open_gguf(Adapter *a, const char *path, char *err, size_t errlen) {
    int rc = weights_open(&a->file, path, err, errlen);
    if (rc) return rc;
    if (a->file.format != FORMAT_GGUF || !is_word(weights_meta(&a->file, "general.type"), "adapter") ||
        !is_word(weights_meta(&a->file, "adapter.type"), "lora"))
        return base_error(err, errlen, -EINVAL, "%s: is no LoRA adapter", path);
    if (a->base->format != FORMAT_GGUF)
        return base_error(err, errlen, -EINVAL, "%s: a GGUF adapter is for a GGUF model, which %s is not", path,
                          a->base->path);
    if (!same_word(weights_meta(&a->file, "general.architecture"), weights_meta(a->base, "general.architecture")))
        return base_error(err, errlen, -EINVAL, "%s: is an adapter for another architecture than the model's", path);
    if (!meta_number(weights_meta(&a->file, "adapter.lora.alpha"), &a->alpha))
        return base_error(err, errlen, -EINVAL, "%s: adapter.lora.alpha is missing or no number", path);
    if (!isfinite(a->alpha)) return base_error(err, errlen, -EINVAL, "%s: adapter.lora.alpha is not finite", path);
    if (weights_meta(&a->file, "adapter.alora.invocation_tokens"))
        return base_error(err, errlen, -EINVAL, "%s: adapter.alora.invocation_tokens: an adapter that begins within "
                          "the text cannot be merged", path);
    return 0;
}

/* The configuration stands beside the tensors. */
static int open_peft(Adapter *a, const char *path, char *err, size_t errlen) {
    char *folder = file_folder(path), *config = folder ? file_join(folder, "adapter_config.json") : NULL;
    int rc = config ? 0 : weights_no_memory(path, err, errlen);
    a->file.format = FORMAT_HF;
    a->file.path = weights_keep(&a->file, path, strlen(path));
    if (rc == 0 && !a->file.path) rc = weights_no_memory(path, err, errlen);
    if (rc == 0 && a->base->format != FORMAT_HF)
        rc = base_error(err, errlen, -EINVAL, "%s: a PEFT adapter is for a Hugging Face model, which %s is not: "
                        "convert it with llama.cpp's convert_lora_to_gguf.py", path, a->base->path);
    if (rc == 0) rc = weights_add_file(&a->file, path, err, errlen);
    if (rc == 0) rc = safetensors_read(&a->file, a->file.files[0].data, a->file.files[0].size, path, err, errlen);
    if (rc == 0) rc = weights_finish(&a->file, err, errlen);
    if (rc == 0) rc = read_config(a, config, err, errlen);
    free(folder), free(config);
    return rc;
}

/* The model's tensor that the adapter's, which ends with `tail`, belongs to; NULL: there is none. */
static Tensor *target(const Adapter *a, const char *name, const char *tail) {
    static const char head[] = "base_model.model.";
    char own[2 * TENSOR_NAME], renamed[2 * TENSOR_NAME];
    int hf = a->file.format == FORMAT_HF;
    size_t skip = strncmp(name, head, sizeof head - 1) == 0 ? sizeof head - 1 : 0;
    snprintf(own, sizeof own, "%.*s%s", (int)(strlen(name) - strlen(tail) - skip), name + skip, hf ? ".weight" : "");
    for (int i = 0; hf && i < 2; i++) { /* as the model's were: before and behind its architecture's names */
        if (i && a->traits) layers_name(own, sizeof own, a->traits);
        if (huggingface_name(renamed, sizeof renamed, own)) memcpy(own, renamed, sizeof own);
    }
    const Tensor *t = weights_find(a->base, own);
    return t ? a->base->tensors + (t - a->base->tensors) : NULL;
}

static int is_computed_with(const Tensor *t) {
    const QuantFormat *f = quant_format(t->type);
    return f && f->row;
}

static Matrix matrix_of(const Tensor *t) {
    return (Matrix){.type = (TensorType)t->type, .rows = (size_t)t->shape[0], .cols = (size_t)t->shape[1],
                    .data = t->data, .scales = t->scales, .group = t->group};
}

/* 0 where B A can be added to t. */
static int check(const Adapter *a, const Tensor *t, const Tensor *down, const Tensor *up, char *err, size_t errlen) {
    const Tensor *all[] = {t, down, up};
    int matrices = t->n_dims == 2 && down->n_dims == 2 && up->n_dims == 2;
    if (!matrices || down->shape[0] == 0 || down->shape[0] != up->shape[1] || up->shape[0] != t->shape[0] ||
        down->shape[1] != t->shape[1])
        return base_error(err, errlen, -EINVAL, "%s: tensor %s does not fit the model's %s", a->file.path, down->name,
                          t->name);
    for (int i = 0; i < 3; i++)
        if (!is_computed_with(all[i]))
            return base_error(err, errlen, -EINVAL, "%s: tensor %s has type %s, which is not computed with here",
                              i ? a->file.path : a->base->path, all[i]->name, all[i]->type_name);
    return 0;
}

/* t += by B A, row by row. */
static int merge(Adapter *a, Tensor *t, const Tensor *down, const Tensor *up, char *err, size_t errlen) {
    int rc = check(a, t, down, up, err, errlen);
    if (rc) return rc;
    Matrix w = matrix_of(t), A = matrix_of(down), B = matrix_of(up);
    size_t rank = A.rows, n = w.rows * w.cols;
    double by = a->alpha == 0 ? a->scale : a->scale * a->alpha / (a->root ? sqrt((double)rank) : (double)rank);
    float *out = weights_own(a->base, calloc(n + 1, sizeof *out), free), *thin = calloc(rank + 1, sizeof *thin),
          *rows = calloc(rank * w.cols + 1, sizeof *rows);
    if (out && thin && rows) {
        for (size_t k = 0; k < rank; k++) matrix_row(rows + k * w.cols, &A, k);
        for (size_t r = 0; r < w.rows; r++) {
            float *row = out + r * w.cols;
            matrix_row(row, &w, r);
            matrix_row(thin, &B, r);
            for (size_t k = 0; k < rank; k++) {
                float x = (float)(by * (double)thin[k]);
                for (size_t c = 0; c < w.cols; c++) row[c] += x * rows[k * w.cols + c];
            }
        }
        t->type = TENSOR_F32, t->type_name = "F32", t->data = (const uint8_t *)out, t->size = n * sizeof *out;
        t->scales = NULL, t->group = 0;
        a->n_merged++, a->bytes += t->size;
    }
    rc = out && thin && rows ? 0 : weights_no_memory(a->file.path, err, errlen);
    free(thin), free(rows);
    return rc;
}

/* Each A with its B; nothing may be left over. */
static int merge_all(Adapter *a, char *err, size_t errlen) {
    int gguf = a->file.format == FORMAT_GGUF, rc = 0;
    const char *down = gguf ? ".lora_a" : ".lora_A.weight", *up = gguf ? ".lora_b" : ".lora_B.weight";
    for (size_t i = 0; rc == 0 && i < a->file.n_tensors; i++) {
        const Tensor *t = &a->file.tensors[i];
        char other[TENSOR_NAME + 16];
        int first = text_ends_with(t->name, down);
        if (!first && !text_ends_with(t->name, up))
            return base_error(err, errlen, -EINVAL, "%s: tensor %s: only %s and %s can be merged", a->file.path,
                              t->name, down + 1, up + 1);
        snprintf(other, sizeof other, "%.*s%s", (int)(strlen(t->name) - strlen(first ? down : up)), t->name,
                 first ? up : down);
        const Tensor *b = weights_find(&a->file, other);
        Tensor *w = target(a, t->name, first ? down : up);
        if (!b) rc = base_error(err, errlen, -EINVAL, "%s: tensor %s is missing", a->file.path, other);
        else if (!w)
            rc = base_error(err, errlen, -EINVAL, "%s: tensor %s: the model has none that it belongs to", a->file.path,
                            t->name);
        else if (first) rc = merge(a, w, t, b, err, errlen);
    }
    if (rc == 0 && a->n_merged == 0) rc = base_error(err, errlen, -EINVAL, "%s: has no tensors", a->file.path);
    return rc;
}

/* A folder is PEFT's; of a file its bytes decide. */
static int open_adapter(Adapter *a, const char *path, char *err, size_t errlen) {
    char *inside = file_join(path, "adapter_model.safetensors");
    MappedFile f = {0};
    if (!inside) return weights_no_memory(path, err, errlen);
    int here = file_exists(inside), rc = here ? open_peft(a, inside, err, errlen) : 0;
    free(inside);
    if (here) return rc;
    if (file_is_folder(path))
        return base_error(err, errlen, -ENOENT, "%s: no adapter_model.safetensors in this folder%s", path,
                          file_has(path, "adapter_model.bin") ? ": convert adapter_model.bin to it" : "");
    rc = file_map(&f, path, err, errlen);
    if (rc) return rc;
    int peft = safetensors_is(f.data, f.size);
    file_unmap(&f);
    return peft ? open_peft(a, path, err, errlen) : open_gguf(a, path, err, errlen);
}

int lora_merge(Weights *w, const LayerTraits *traits, const char *spec, char *err, size_t errlen) {
    Adapter a = {.base = w, .traits = traits, .scale = 1};
    const char *colon = strrchr(spec, ':');
    char *end = NULL;
    double scale = colon && colon[1] ? strtod(colon + 1, &end) : 1;
    int scaled = end && *end == 0;
    if (scaled && !(fabs(scale) <= 1e6))
        return base_error(err, errlen, -EINVAL, "%s: a scale must be from -1e6 to 1e6", spec);
    if (scaled) a.scale = scale;
    size_t n = scaled ? (size_t)(colon - spec) : strlen(spec);
    char *path = calloc(n + 1, 1);
    if (path) memcpy(path, spec, n);
    int rc = path ? open_adapter(&a, path, err, errlen) : weights_no_memory(spec, err, errlen);
    if (rc == 0) rc = merge_all(&a, err, errlen);
    if (rc == 0)
        weights_note(w, "%s: merged into %zu matrices, which are F32 now (%.1f MB)", path, a.n_merged,
                     (double)a.bytes / 1e6);
    weights_close(&a.file);
    free(path);
    return rc;
}
