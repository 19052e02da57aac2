/* attention/numerators.c - S takes keys and values in and is read by queries, a strip of columns at a time: strips are
 * independent of each other, and one of 16 columns stays in the first-level cache. */
#include "numerators.h"

#include <string.h>

enum { COLUMNS = STATE_COLUMNS };

Strip strip_of(LinearState *s, const LinearBatch *b, int l, int h, size_t i, const Kernels *kernels) {
    size_t head = (size_t)l * (size_t)s->n_heads + (size_t)h, first = i * COLUMNS, left = s->head_dim - first;
    return (Strip){.S = s->S + (head * s->n_strips + i) * s->rows * COLUMNS,
                   .rows = s->rows,
                   .stride = b->cap * s->rows,
                   .first = first,
                   .width = left < COLUMNS ? left : COLUMNS,
                   .h = (size_t)h,
                   .group = (size_t)(b->n_heads / b->n_kv_heads),
                   .b = b,
                   .kernels = kernels};
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
    for (size_t t = 0; t < b->n; t++) strip_step(&p, b->causal ? out : NULL, v, t, s->head_dim, 1);
    for (size_t t = 0; !b->causal && t < b->n; t++) strip_step(&p, out, v, t, s->head_dim, 0);
}
