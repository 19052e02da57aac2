/* model/load.c - one tensor of a file into a Model. */
#include "load.h"

#include <errno.h>
#include <stdio.h>

void load_refuse(Loader *ld, const char *name, const char *why) {
    if (ld->rc == 0)
        ld->rc = base_error(ld->err, ld->errlen, -EINVAL, "%s: tensor %s %s", ld->m->weights.path, name, why);
}

void load_seen(Loader *ld, const Tensor *t) {
    if (t) ld->m->used[t - ld->m->weights.tensors] = 1;
}

/* t, where it has that shape (cols 0: a vector of rows entries) and a type that computes; NULL after a complaint. */
static const Tensor *check(Loader *ld, const Tensor *t, const char *name, size_t rows, size_t cols) {
    char why[200];
    if (!t) {
        load_refuse(ld, name, "is missing");
        return NULL;
    }
    int n_dims = cols ? 2 : 1;
    if (t->n_dims != n_dims || t->shape[0] != rows || (cols && t->shape[1] != cols)) {
        int n = snprintf(why, sizeof why, "has shape [");
        for (int i = 0; i < t->n_dims && n < 120; i++)
            n += snprintf(why + n, sizeof why - (size_t)n, "%s%llu", i ? ", " : "", (unsigned long long)t->shape[i]);
        snprintf(why + n, sizeof why - (size_t)n, cols ? "], the model needs [%zu, %zu]" : "], the model needs [%zu]",
                 rows, cols);
        load_refuse(ld, name, why);
        return NULL;
    }
    const QuantFormat *f = quant_format(t->type);
    if (!f || !f->computes || (!cols && matrix_group(&(Matrix){.type = (TensorType)t->type, .group = 1}))) {
        snprintf(why, sizeof why, "has type %s, which is not computed with here (%s)", t->type_name,
                 cols ? "F32, F16, BF16 and the formats Q and IQ4 are" : "F32, F16 and BF16 are");
        load_refuse(ld, name, why);
        return NULL;
    }
    if (!ld->room) ld->m->n_parameters += rows * (cols ? cols : 1);
    load_seen(ld, t);
    return t;
}

static void use_matrix(Loader *ld, Matrix *to, MatrixUse use) {
    if (ld->room) ld->m->matrices[ld->n_matrices] = (MatrixEntry){to, use};
    ld->n_matrices++;
}

void load_matrix(Loader *ld, Matrix *to, const Tensor *t, const char *name, size_t rows, size_t cols, MatrixUse use) {
    *to = (Matrix){0};
    if (!(t = check(ld, t, name, rows, cols))) return;
    *to = (Matrix){.type = (TensorType)t->type,
                   .group = t->group,
                   .rows = rows,
                   .cols = cols,
                   .data = t->data,
                   .scales = t->scales};
    int group = matrix_group(to);
    if (group && (ld->m->min_group == 0 || group < ld->m->min_group)) ld->m->min_group = group;
    use_matrix(ld, to, use);
}

void load_tied(Loader *ld, Matrix *to, const Matrix *from) {
    *to = *from;
    use_matrix(ld, to, USE_HEAD);
}

static float *take(Loader *ld, size_t n) {
    float *out = ld->room ? ld->room + ld->n_room : NULL;
    ld->n_room += n;
    return out;
}

const float *load_vector(Loader *ld, const Tensor *t, const char *name, size_t n) {
    float *out = take(ld, n);
    t = check(ld, t, name, n, 0);
    if (t && out) matrix_row(out, &(Matrix){.type = (TensorType)t->type, .rows = 1, .cols = n, .data = t->data}, 0);
    return out;
}

const float *load_constant(Loader *ld, size_t n, float value) {
    float *out = take(ld, n);
    for (size_t i = 0; out && i < n; i++) out[i] = value;
    return out;
}
