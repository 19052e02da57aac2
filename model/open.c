/* model/open.c - from a file to a Model: its settings read, every expected tensor looked up, its type and shape
 * checked. */
#include "family.h"
#include "model/files/weights.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void load_refuse(Loader *ld, const char *name, const char *why) {
    if (ld->rc == 0)
        ld->rc = base_error(ld->err, ld->errlen, -EINVAL, "%s: tensor %s %s", ld->m->weights.path, name, why);
}

void load_out_of_memory(Loader *ld) {
    if (ld->rc == 0) ld->rc = base_error(ld->err, ld->errlen, -ENOMEM, "%s: out of memory", ld->m->weights.path);
}

/* 1 where t has that shape (cols 0: a vector of rows entries) and a type that computes; 0 after a complaint. */
static int fits(Loader *ld, const Tensor *t, const char *name, size_t rows, size_t cols) {
    char why[200] = "is missing";
    const QuantFormat *f = t ? quant_format(t->type) : NULL;
    int blocks = t && matrix_group(&(Matrix){.type = (TensorType)t->type, .group = 1}) != 0;
    if (t && (t->n_dims != (cols ? 2 : 1) || t->shape[0] != rows || (cols && t->shape[1] != cols))) {
        int n = snprintf(why, sizeof why, "has shape [");
        for (int i = 0; i < t->n_dims && n < 120; i++)
            n += snprintf(why + n, sizeof why - (size_t)n, "%s%llu", i ? ", " : "", (unsigned long long)t->shape[i]);
        snprintf(why + n, sizeof why - (size_t)n, cols ? "], the model needs [%zu, %zu]" : "], the model needs [%zu]",
                 rows, cols);
    } else if (t && (!f || !f->row || (!cols && blocks))) {
        snprintf(why, sizeof why, "has type %s, which is not computed with here (%s)", t->type_name,
                 cols ? "F32, F16, BF16 and the formats Q and IQ4 are" : "F32, F16 and BF16 are");
    } else if (t) {
        ld->m->n_parameters += rows * (cols ? cols : 1);
        ld->m->used[t - ld->m->weights.tensors] = 1;
        return 1;
    }
    load_refuse(ld, name, why);
    return 0;
}

Matrix load_matrix(Loader *ld, const Tensor *t, const char *name, size_t rows, size_t cols) {
    if (!fits(ld, t, name, rows, cols)) return (Matrix){0};
    Matrix w = {.type = (TensorType)t->type, .group = t->group, .rows = rows, .cols = cols};
    w.data = t->data, w.scales = t->scales;
    int group = matrix_group(&w);
    if (group && (ld->m->min_group == 0 || group < ld->m->min_group)) ld->m->min_group = group;
    return w;
}

const float *load_vector(Loader *ld, const Tensor *t, const char *name, size_t n) {
    if (!fits(ld, t, name, n, 0)) return NULL;
    float *out = ld->m->vectors[t - ld->m->weights.tensors] = malloc(n * sizeof *out);
    if (!out) load_out_of_memory(ld);
    else matrix_row(out, &(Matrix){.type = (TensorType)t->type, .rows = 1, .cols = n, .data = t->data}, 0);
    return out;
}

static int load(Model *m, const ModelOptions *o, char *err, size_t errlen) {
    Loader ld = {.m = m, .err = err, .errlen = errlen};
    int rc = config_read(&m->config, &m->weights, o, err, errlen);
    if (rc) return rc;
    m->kernels = kernels_best();
    if ((size_t)m->config.n_layers > m->weights.n_tensors)
        return base_error(err, errlen, -EINVAL, "%s: %d layers are claimed, but there are only %zu tensors",
                          m->weights.path, m->config.n_layers, m->weights.n_tensors);
    m->layers = calloc((size_t)m->config.n_layers, sizeof *m->layers);
    m->used = calloc(m->weights.n_tensors, 1);
    m->vectors = calloc(m->weights.n_tensors, sizeof *m->vectors);
    m->has_logits = 1;
    if (m->layers && m->used && m->vectors) m->config.family->load(&ld);
    else load_out_of_memory(&ld);
    return ld.rc ? ld.rc : model_more(m, o, err, errlen);
}

/* rc: of the weights' opening. */
static int opened(Model *m, int rc, const ModelOptions *o, char *err, size_t errlen) {
    if (rc == 0) rc = load(m, o, err, errlen);
    if (rc) model_close(m);
    return rc;
}

int model_open(Model *m, const char *path, const ModelOptions *options, char *err, size_t errlen) {
    memset(m, 0, sizeof *m);
    return opened(m, weights_open(&m->weights, path, err, errlen), options, err, errlen);
}

int model_open_memory(Model *m, const void *data, size_t size, const char *name, const ModelOptions *options, char *err,
                      size_t errlen) {
    memset(m, 0, sizeof *m);
    return opened(m, weights_open_memory(&m->weights, data, size, name, err, errlen), options, err, errlen);
}

void model_close(Model *m) {
    for (size_t i = 0; m->vectors && i < m->weights.n_tensors; i++) free(m->vectors[i]);
    free(m->vectors);
    free(m->layers);
    free(m->encoder);
    free(m->used);
    free(m->favor_w);
    model_unpack(m);
    weights_close(&m->weights);
    memset(m, 0, sizeof *m);
}
