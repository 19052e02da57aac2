/* model/files/gguf_scales.c - see gguf_scales.h. */
#include "gguf_scales.h"

#include "base/base.h"
#include "base/paths.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char weight[] = ".weight", scale[] = ".scale", input_scale[] = ".input_scale";

/* The tensor whose name has `to` where this one ends with `from`; NULL: it does not, or there is none. */
static const Tensor *beside(const Weights *w, const char *name, const char *from, const char *to) {
    char other[TENSOR_NAME];
    size_t stem = strlen(name) - (text_ends_with(name, from) ? strlen(from) : 0);
    if (!name[stem] || stem + strlen(to) >= sizeof other) return NULL;
    snprintf(other, sizeof other, "%.*s%s", (int)stem, name, to);
    return weights_find(w, other);
}

const Tensor *gguf_scaled(const Weights *w, const char *name) {
    const Tensor *t = beside(w, name, scale, weight);
    if (!t) t = beside(w, name, input_scale, weight);
    return t && w->format == FORMAT_GGUF && t->type == TENSOR_NVFP4 ? t : NULL;
}

int gguf_find_scales(Weights *w, char *err, size_t errlen) {
    for (size_t i = 0; w->format == FORMAT_GGUF && i < w->n_tensors; i++) {
        Tensor *t = &w->tensors[i];
        const Tensor *s = t->type == TENSOR_NVFP4 ? beside(w, t->name, weight, scale) : NULL;
        uint64_t n = t->n_dims == 3 ? t->shape[0] : 1, rows = t->n_dims < 2 ? 0 : t->shape[t->n_dims - 2];
        if (!s) continue;
        if (s->type != TENSOR_F32 || s->n_dims > 1 || s->size / 4 != n || t->n_dims > 3 || rows < 1 || rows > INT_MAX)
            return base_error(err, errlen, -EINVAL, "%s: tensor %.100s: not a number of F32 for each matrix", w->path,
                              s->name);
        t->scales = s->data;
        t->group = (int)rows;
    }
    return 0;
}

void gguf_drop_scales(Weights *w) {
    size_t kept = 0;
    for (size_t i = 0; i < w->n_tensors; i++) /* names are looked up while all stand in their places */
        if (gguf_scaled(w, w->tensors[i].name)) w->tensors[i].n_dims = -1;
    for (size_t i = 0; i < w->n_tensors; i++)
        if (w->tensors[i].n_dims >= 0) w->tensors[kept++] = w->tensors[i];
    w->n_tensors = kept;
}
