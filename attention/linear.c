/* attention/linear.c - linear attention, the reference: the chapter (README.md) in the same order. */
#include "linear.h"

#include "base/base.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIM = 2 * ROPE_MAX_PAIRS, COLUMNS = STATE_COLUMNS };

/* ---- the state ---- */

int linear_init(LinearState *s, const LinearConfig *c, int n_layers, int n_heads, char *err, size_t errlen) {
    size_t rows = (size_t)linear_rows(c), d = (size_t)c->head_dim, strips = (d + COLUMNS - 1) / COLUMNS;
    size_t heads, n, bytes;
    memset(s, 0, sizeof *s);
    if (!size_mul((size_t)n_layers, (size_t)n_heads, &heads) ||
        !size_mul(heads, rows * (strips * COLUMNS + 1) + 1, &n) || !size_mul(n, sizeof(double), &bytes))
        return base_error(err, errlen, -EOVERFLOW, "linear attention's state of %d layers and %d heads is too large",
                          n_layers, n_heads);
    double *S = malloc(bytes);
    if (!S)
        return base_error(err, errlen, -ENOMEM, "out of memory: linear attention's state takes %.1f MB",
                          (double)bytes / 1e6);
    double *z = S + heads * strips * rows * COLUMNS;
    *s = (LinearState){.n_layers = n_layers, .n_heads = n_heads, .rows = rows, .head_dim = d, .n_strips = strips,
                       .S = S, .z = z, .top = z + heads * rows, .n = n};
    linear_clear(s);
    return 0;
}

void linear_free(LinearState *s) {
    free(s->S);
    memset(s, 0, sizeof *s);
}

void linear_clear(LinearState *s) {
    memset(s->S, 0, s->n * sizeof *s->S);
    for (double *top = s->top; top < s->S + s->n; top++) *top = -INFINITY;
}

/* ---- features ---- */

void linear_features(const LinearConfig *c, const LinearBatch *b, LinearSide side, size_t t, int h, const float *x,
                     const double *cos, const double *sin, int rotary_dim, RopePairing pairing,
                     const Kernels *kernels) {
    size_t d = (size_t)c->head_dim, rows = (size_t)linear_rows(c), at = (size_t)h * b->cap + t;
    double *in_S = (side == LINEAR_KEY ? b->k_num : b->q_num) + at * rows, y[MAX_DIM];
    double *in_z = (side == LINEAR_KEY ? b->k_den : b->q_den) + at * rows;
    for (size_t i = 0; i < d; i++) y[i] = (double)x[i];
    if (c->form->cosine) c->form->cosine(y, d);
    if (c->form->before_phi) rope_rotate64(y, cos, sin, rotary_dim, pairing);
    double left_out = (side == LINEAR_KEY ? linear_key_map(c) : c->phi)->map(in_S, y, c, kernels);
    if (side == LINEAR_KEY) b->k_log[at] = left_out; /* a query's is in its denominator too: it cancels */
    if (c->form->cosine) in_S[linear_features_n(c)] = 1;
    memcpy(in_z, in_S, rows * sizeof *in_z);
    if (c->form->in_numerator) rope_rotate64(in_S, cos, sin, rotary_dim, pairing);
    if (c->form->in_denominator) rope_rotate64(in_z, cos, sin, rotary_dim, pairing);
}

/* ---- below the line: z ---- */

void linear_take_z(LinearState *s, const LinearConfig *c, const LinearBatch *b, int l, int h, size_t t) {
    size_t rows = s->rows, head = (size_t)l * (size_t)s->n_heads + (size_t)h, at = (size_t)h * b->cap + t;
    double *z = s->z + head * rows, *num = b->k_num + at * rows, *den = b->k_den + at * rows;
    double keep = c->phi->fit ? c->phi->fit(&s->top[head], b->k_log[at], num, den, rows) : 1;
    b->keep[at] = keep;
    for (size_t i = 0; i < rows; i++) z[i] = z[i] * keep + den[i]; /* eq. 19: z = sum phi(k) */
}

/* In four partial sums, which a compiler can keep in vectors. */
static double dot(const double *a, const double *b, size_t n) {
    double lane[4] = {0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t j = 0; j < 4; j++) lane[j] += a[i + j] * b[i + j];
    for (size_t j = 0; i < n; i++, j++) lane[j] += a[i] * b[i];
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

/* What eq. 19 has below its line: 1 / (phi(q) . z + epsilon) */
void linear_read_z(const LinearState *s, const LinearConfig *c, const LinearBatch *b, int l, int h, size_t t) {
    const double *z = s->z + ((size_t)l * (size_t)s->n_heads + (size_t)h) * s->rows;
    size_t group = (size_t)(b->n_heads / b->n_kv_heads);
    int may_be_negative = c->form->in_denominator && !c->form->cosine;
    for (size_t g = (size_t)h * group; g < (size_t)(h + 1) * group; g++) {
        double den = dot(b->q_den + (g * b->cap + t) * s->rows, z, s->rows);
        den += may_be_negative ? copysign(c->epsilon, den) : c->epsilon;
        b->inverse[g * b->cap + t] = den == 0 ? 0 : 1 / den; /* no key fits, and epsilon is 0: 0, not infinity */
    }
}

void linear_denominators(LinearState *s, const LinearConfig *c, const LinearBatch *b, int l, int h) {
    for (size_t t = 0; t < b->n; t++) {
        linear_take_z(s, c, b, l, h, t);
        linear_read_z(s, c, b, l, h, t);
    }
}

/* ---- above the line: S, a strip of columns at a time ---- */

Strip strip_of(LinearState *s, const LinearBatch *b, int l, int h, size_t i, const Kernels *kernels) {
    size_t head = (size_t)l * (size_t)s->n_heads + (size_t)h, first = i * COLUMNS, left = s->head_dim - first;
    return (Strip){.S = s->S + (head * s->n_strips + i) * s->rows * COLUMNS, .rows = s->rows,
                   .stride = b->cap * s->rows, .first = first, .width = left < COLUMNS ? left : COLUMNS,
                   .h = (size_t)h, .group = (size_t)(b->n_heads / b->n_kv_heads), .b = b, .kernels = kernels};
}

const float *strip_values(const Strip *p, const float *v, size_t t, size_t head_dim, float *part) {
    const float *at = v + (t * (size_t)p->b->n_kv_heads + p->h) * head_dim + p->first;
    if (p->width == COLUMNS) return at;
    memset(part, 0, COLUMNS * sizeof *part);
    memcpy(part, at, p->width * sizeof *part);
    return part;
}

void strip_write(const Strip *p, float *out, size_t t, size_t g, size_t head_dim, const double *num) {
    size_t head = p->h * p->group + g;
    double inverse = p->b->inverse[head * p->b->cap + t];
    float *o = out + (t * (size_t)p->b->n_heads + head) * head_dim + p->first;
    for (size_t j = 0; j < p->width; j++) o[j] = (float)(num[j] * inverse);
}

void strip_step(const Strip *p, float *out, const float *v, size_t t, size_t head_dim, int take) {
    enum { AT_ONCE = 8 };
    double num[AT_ONCE * COLUMNS];
    float part[COLUMNS];
    size_t at = p->h * p->b->cap + t;
    const double *key = take ? p->b->k_num + at * p->rows : NULL;
    const float *value = take ? strip_values(p, v, t, head_dim, part) : NULL;
    for (size_t i = 0; take && p->b->keep[at] != 1 && i < p->rows * COLUMNS; i++) p->S[i] *= p->b->keep[at];
    /* eq. 19, above its line: S += (R phi(k)) v^T, and num = (R phi(q))^T S */
    if (!out) p->kernels->att->state_step(NULL, p->S, p->rows, key, value, NULL, 0, 0);
    for (size_t g = 0; out && g < p->group; g += AT_ONCE, key = NULL) {
        size_t n = p->group - g < AT_ONCE ? p->group - g : AT_ONCE;
        const double *q = p->b->q_num + ((p->h * p->group + g) * p->b->cap + t) * p->rows;
        p->kernels->att->state_step(num, p->S, p->rows, key, value, q, n, p->stride);
        for (size_t i = 0; i < n; i++) strip_write(p, out, t, g + i, head_dim, num + i * COLUMNS);
    }
}

void linear_numerators(float *out, const float *v, LinearState *s, const LinearBatch *b, int l, int h, size_t i,
                       const Kernels *kernels) {
    Strip p = strip_of(s, b, l, h, i, kernels);
    for (size_t t = 0; t < b->n; t++) strip_step(&p, out, v, t, s->head_dim, 1);
}
