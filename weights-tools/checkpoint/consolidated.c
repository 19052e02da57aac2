/* weights-tools/checkpoint/consolidated.c - matrices of the slices that several files have of them. */
#include "consolidated.h"

#include "base/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void consolidated_name(char name[24], size_t i) { snprintf(name, 24, "consolidated.%02u.pth", (unsigned)i); }

int consolidated_is(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return strncmp(name, "consolidated.", 13) == 0;
}

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

/* The slices of v: its own, and those of the files behind the first; NULL: one is missing, or there is no memory. */
static View *slices_of(Checkpoint *c, const View *v, const size_t *ends, size_t n) {
    View *slices = weights_own(&c->weights, calloc(n, sizeof *slices), free);
    const View *slice = v;
    for (size_t k = 0; slices && slice && k < n; k++) {
        if (k) slice = find(c->views + ends[k - 1], ends[k] - ends[k - 1], v->name);
        if (slice) slices[k] = *slice;
    }
    return slice ? slices : NULL;
}

int consolidated_join(Checkpoint *c, const size_t *ends, size_t n, const char *path, char *err, size_t errlen) {
    const View *norm = find(c->views, ends[0], "norm.weight");
    size_t dim = norm && norm->n_dims ? norm->shape[0] : 0;
    for (size_t i = ends[0]; i < c->n_views; i++)
        if (!find(c->views, ends[0], c->views[i].name))
            return base_error(err, errlen, -EINVAL, "%s: tensor %.80s of a later file is not in the first", path,
                              c->views[i].name);
    for (size_t i = 0; n > 1 && i < ends[0]; i++) {
        View *v = &c->views[i], *slices = v->n_dims == 2 ? slices_of(c, v, ends, n) : NULL;
        if (v->n_dims == 2 && (!slices || !view_join(v, slices, n, axis_of(v, dim))))
            return base_error(err, errlen, -EINVAL, "%s: tensor %.80s: its slices in %zu files do not go together",
                              path, v->name, n);
    }
    c->n_views = ends[0];
    return 0;
}
