/* model/open.c - from a file to a Model: its settings read, every expected tensor looked up, its type and shape
 * checked. */
#include "family.h"
#include "load.h"

#include "model/files/weights.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Tensors that the reading of settings takes numbers from. */
static void read_by_config(Loader *ld) {
    static const char *const names[] = {"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"};
    for (int i = 0; i < 3; i++) load_seen(ld, weights_find(&ld->m->weights, names[i]));
}

static int out_of_memory(const Model *m, char *err, size_t errlen) {
    return base_error(err, errlen, -ENOMEM, "%s: out of memory", m->weights.path);
}

static int load_tensors(Model *m, char *err, size_t errlen) {
    Loader ld = {.m = m, .err = err, .errlen = errlen};
    m->family->load(&ld);
    if (ld.rc) return ld.rc;
    m->vectors = malloc(ld.n_room * sizeof *m->vectors);
    m->matrices = malloc(ld.n_matrices * sizeof *m->matrices);
    if (!m->vectors || !m->matrices) return out_of_memory(m, err, errlen);
    ld = (Loader){.m = m, .room = m->vectors, .err = err, .errlen = errlen};
    m->family->load(&ld);
    read_by_config(&ld);
    m->n_matrices = ld.n_matrices;
    return ld.rc;
}

static int load(Model *m, const ModelOptions *o, char *err, size_t errlen) {
    Config *c = &m->config;
    int rc = config_read(c, &m->family, &m->weights, o ? &o->config : NULL, err, errlen);
    if (rc) return rc;
    m->kernels = o && o->kernels ? o->kernels : kernels_best();
    if ((size_t)c->n_layers > m->weights.n_tensors)
        return base_error(err, errlen, -EINVAL, "%s: %d layers are claimed, but there are only %zu tensors",
                          m->weights.path, c->n_layers, m->weights.n_tensors);
    m->layers = calloc((size_t)c->n_layers, sizeof *m->layers);
    m->used = calloc(m->weights.n_tensors, 1);
    if (!m->layers || !m->used) return out_of_memory(m, err, errlen);
    if ((rc = load_tensors(m, err, errlen))) return rc;
    if (c->linear.form && c->linear.phi->projection) {
        c->linear.favor_w = m->favor_w = c->linear.phi->projection(&c->linear);
        if (!m->favor_w) return out_of_memory(m, err, errlen);
    }
    return model_repack(m, o, err, errlen);
}

int model_open(Model *m, const char *path, const ModelOptions *options, char *err, size_t errlen) {
    memset(m, 0, sizeof *m);
    int rc = weights_open(&m->weights, path, err, errlen);
    if (rc == 0) rc = load(m, options, err, errlen);
    if (rc) model_close(m);
    return rc;
}

int model_open_memory(Model *m, const void *data, size_t size, const char *name, const ModelOptions *options, char *err,
                      size_t errlen) {
    memset(m, 0, sizeof *m);
    int rc = weights_open_memory(&m->weights, data, size, name, err, errlen);
    if (rc == 0) rc = load(m, options, err, errlen);
    if (rc) model_close(m);
    return rc;
}

void model_close(Model *m) {
    free(m->layers);
    free(m->vectors);
    free(m->matrices);
    free(m->used);
    free(m->favor_w);
    model_unpack(m);
    weights_close(&m->weights);
    memset(m, 0, sizeof *m);
}

int model_has_logits(const Model *m) { return !m->family->encoder || m->encoder.has_mlm; }
