/* weights-tools/checkpoint/checkpoint.c - the list of windows, and the checks that all containers share. */
#include "checkpoint.h"
#include "model/files/weights.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *container_name(Container container) {
    static const char *const names[] = {"PyTorch (zip)", "PyTorch (legacy)", "TensorFlow V2", "safetensors"};
    return names[container];
}

int checkpoint_add(Checkpoint *c, const View *v, const char *name, size_t n, const char *file, char *err,
                   size_t errlen) {
    View copy = *v;
    if (!weights_is_name(name, n))
        return base_error(err, errlen, -EINVAL, "%s: a tensor's name is empty or no text: the file is damaged", file);
    if (!(copy.name = weights_keep(&c->weights, name, n))) return weights_no_memory(file, err, errlen);
    if (array_reserve(&c->views, &c->cap_views, c->n_views + 1, sizeof *c->views))
        return weights_no_memory(file, err, errlen);
    c->views[c->n_views++] = copy;
    return 0;
}

static int compare_names(const void *a, const void *b) {
    return strcmp((*(const View *const *)a)->name, (*(const View *const *)b)->name);
}

static int refuse_duplicates(const Checkpoint *c, const char *file, char *err, size_t errlen) {
    const View **order = calloc(c->n_views, sizeof *order);
    if (!order) return weights_no_memory(file, err, errlen);
    for (size_t i = 0; i < c->n_views; i++) order[i] = &c->views[i];
    qsort(order, c->n_views, sizeof *order, compare_names);
    int rc = 0;
    for (size_t i = 1; i < c->n_views && rc == 0; i++)
        if (strcmp(order[i - 1]->name, order[i]->name) == 0)
            rc = base_error(err, errlen, -EINVAL, "%s: tensor %.80s stands twice", file, order[i]->name);
    free(order);
    return rc;
}

/* PyTorch's tensors may share bytes, and a few do (tied embeddings); a file whose tensors unfold to a multiple of it is
 * one that means to fill the disk. */
int checkpoint_finish(Checkpoint *c, const char *file, char *err, size_t errlen) {
    size_t total = 0, limit;
    if (c->n_views == 0) return base_error(err, errlen, -EINVAL, "%s: holds no tensors", file);
    if (!size_mul(c->file_bytes, CHECKPOINT_MAX_SHARING, &limit)) limit = SIZE_MAX;
    for (size_t i = 0; i < c->n_views; i++)
        if (!size_add(total, c->views[i].values * elem_bytes(c->views[i].type), &total) || total > limit)
            return base_error(err, errlen, -EINVAL,
                              "%s: its tensors share bytes so often that they are over %d times as long", file,
                              CHECKPOINT_MAX_SHARING);
    return refuse_duplicates(c, file, err, errlen);
}

void checkpoint_close(Checkpoint *c) {
    weights_close(&c->weights);
    free(c->folder);
    free(c->views);
    memset(c, 0, sizeof *c);
}
