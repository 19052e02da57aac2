/* model/files/formats.c - the formats of model files, a row each; what is none of them; opening by a path alone. */
#include "weights.h"

#include "gguf_fused.h"
#include "gguf_scales.h"
#include "gguf_split.h"
#include "huggingface.h"
#include "llama2c.h"
#include "llama2c_export.h"
#include "quantized.h"

#include <errno.h>
#include <string.h>

static int starts_with(const uint8_t *data, size_t size, const char *what, size_t len) {
    return size >= len && memcmp(data, what, len) == 0;
}

static int any(const uint8_t *data, size_t size) { return (void)data, size > 0; }

/* Nothing we read: say what it looks like, where that helps. -ENOEXEC where somebody else may know it. */
static int refuse(Weights *w, const uint8_t *data, size_t size, char *err, size_t errlen) {
    const char *what = NULL;
    if (starts_with(data, size, "PK\3\4", 4) || (size > 1 && data[0] == 0x80 && data[1] >= 1 && data[1] <= 5))
        return base_error(err, errlen, -ENOEXEC, "%s: a PyTorch pickle, which can run code and is never read here: "
                          "convert it to safetensors or GGUF first", w->path);
    if (starts_with(data, size, "version https://git-lfs", 23))
        what = "a Git LFS pointer, not the file itself: fetch it with `git lfs pull`";
    else if (starts_with(data, size, "ggjt", 4) || starts_with(data, size, "tjgg", 4) ||
             starts_with(data, size, "lmgg", 4) || starts_with(data, size, "fmgg", 4))
        what = "a GGML file from before GGUF: convert the original model again";
    else if (starts_with(data, size, "FUGG", 4))
        what = "a GGUF file with its magic turned round (big-endian): convert it with gguf-convert-endian";
    else if (size > 8 && data[8] == '{')
        what = "looks like safetensors, but its header is longer than the file or than 100,000,000 bytes: it is "
               "damaged or truncated";
    else if (data[0] == '{')
        what = "a JSON file: give the folder it stands in";
    if (what) return base_error(err, errlen, -EINVAL, "%s: %s", w->path, what);
    return base_error(err, errlen, -ENOEXEC, "%s: not a model file: it is neither GGUF, nor safetensors, nor llama2.c "
                      ".bin (v0, v1, v2)", w->path);
}

const WeightsReader weights_readers[] = {
    {gguf_is, gguf_split_open},
    {huggingface_is, huggingface_open},
    {llama2c_export_is, llama2c_export_open},
    {llama2c_is, llama2c_open},
    {any, refuse},
    {0},
};

int weights_open(Weights *w, const char *path, char *err, size_t errlen) {
    return weights_open_memory(w, NULL, 0, path, err, errlen);
}

int weights_index(Weights *w, char *err, size_t errlen) {
    const char *twice;
    if (!(w->by_name = weights_sort(w, w->tensors, w->n_tensors, sizeof *w->tensors, &twice)))
        return weights_no_memory(w->path, err, errlen);
    return twice ? base_error(err, errlen, -EINVAL, "%s: tensor %s stands twice", w->path, twice) : 0;
}

int weights_expand(Weights *w, char *err, size_t errlen) {
    size_t n = w->n_tensors; /* scales go, parts come */
    int rc = quantized_expand(w, err, errlen);
    if (rc == 0) rc = gguf_find_scales(w, err, errlen);
    if (rc == 0) gguf_drop_scales(w);
    if (rc == 0 && w->n_tensors != n) rc = weights_index(w, err, errlen);
    n = w->n_tensors;
    if (rc == 0) rc = gguf_take_apart(w, err, errlen);
    return rc || w->n_tensors == n ? rc : weights_index(w, err, errlen);
}
