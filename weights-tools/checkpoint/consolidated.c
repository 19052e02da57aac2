/* weights-tools/checkpoint/consolidated.c - matrices of the slices that several files have of them. */
#include "consolidated.h"

#include "base/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void consolidated_name(char name[24], size_t i) { snprintf(name, 24, "consolidated.%02u.pth", (unsigned)i); }

static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int consolidated_is(const char *path) {
    const char *name = name_of(path);
    return strlen(name) == 19 && strncmp(name, "consolidated.", 13) == 0 && strspn(name + 13, "0123456789") == 2 &&
           strcmp(name + 15, ".pth") == 0;
}

int consolidated_is_mistrals(const char *path) { return strcmp(name_of(path), "consolidated.safetensors") == 0; }

/* dim: the model's width. LLaMA 1 and 2 slice embeddings by their entries, LLaMA 3 by words. */
static int axis_of(const View *v, size_t dim) {
    if (strcmp(v->name, "tok_embeddings.weight") == 0) return v->shape[1] != dim;
    return text_ends_with(v->name, ".attention.wo.weight") || text_ends_with(v->name, ".feed_forward.w2.weight");
}

static const View *find(const View *views, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(views[i].name, name) == 0) return &views[i];
    return NULL;
}

/* The slices of v, a matrix, its own and those of the files behind the first; a vector has to be the same in these. */
static int join(Checkpoint *c, View *v, const size_t *ends, size_t n, size_t dim, const char *path, char *err,
                size_t errlen) {
    View *slices = weights_own(&c->weights, calloc(n, sizeof *slices), free);
    int fits = v->n_dims <= 2;
    if (!slices) return weights_no_memory(path, err, errlen);
    slices[0] = *v;
    for (size_t k = 1; fits && k < n; k++) {
        const View *slice = find(c->views + ends[k - 1], ends[k] - ends[k - 1], v->name);
        if (slice) slices[k] = *slice;
        fits = v->n_dims == 2 ? slice != NULL : !slice || view_equal(slice, v);
    }
    if (fits && v->n_dims == 2) fits = view_join(v, slices, n, axis_of(v, dim));
    return fits ? 0 : base_error(err, errlen, -EINVAL, "%s: tensor %.80s: its slices in %zu files do not go together",
                                 path, v->name, n);
}

int consolidated_join(Checkpoint *c, const size_t *ends, size_t n, const char *path, char *err, size_t errlen) {
    const View *norm = find(c->views, ends[0], "norm.weight");
    size_t dim = norm && norm->n_dims ? norm->shape[0] : 0;
    int rc = 0;
    for (size_t i = ends[0]; i < c->n_views; i++)
        if (!find(c->views, ends[0], c->views[i].name))
            return base_error(err, errlen, -EINVAL, "%s: tensor %.80s of a later file is not in the first", path,
                              c->views[i].name);
    for (size_t i = 0; rc == 0 && n > 1 && i < ends[0]; i++)
        rc = join(c, &c->views[i], ends, n, dim, path, err, errlen);
    c->n_views = ends[0];
    return rc;
}
