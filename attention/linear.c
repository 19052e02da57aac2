/* attention/linear.c - linear attention, the reference: the chapter (README.md) in the same order. */
#include "linear.h"

#include "base/base.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIM = 2 * ROPE_MAX_PAIRS, COLUMNS = STATE_COLUMNS };

/* ---- the state ---- */

static void clear_tops(LinearState *s) {
    for (size_t i = 0; i < (size_t)s->n_layers * (size_t)s->n_heads; i++) s->top[i] = -INFINITY;
}

int linear_init(LinearState *s, const LinearConfig *c, int n_layers, int n_heads, char *err, size_t errlen) {
    size_t rows = (size_t)linear_rows(c), d = (size_t)c->head_dim, strips = (d + COLUMNS - 1) / COLUMNS, heads, n,
           bytes;
    memset(s, 0, sizeof *s);
    if (!size_mul((size_t)n_layers, (size_t)n_heads, &heads) ||
        !size_mul(heads, rows * (strips * COLUMNS + 1) + 1, &n) || !size_mul(n, sizeof(double), &bytes))
        return base_error(err, errlen, -EOVERFLOW, "linear attention's state of %d layers and %d heads is too large",
                          n_layers, n_heads);
    double *S = calloc(1, bytes);
    if (!S)
        return base_error(err, errlen, -ENOMEM, "out of memory: linear attention's state takes %.1f MB",
                          (double)bytes / 1e6);
    *s = (LinearState){
        .n_layers = n_layers, .n_heads = n_heads, .rows = rows, .head_dim = d, .n_strips = strips, .S = S, .n = n};
    s->z = S + heads * strips * rows * COLUMNS;
    s->top = s->z + heads * rows;
    clear_tops(s);
    return 0;
}

void linear_free(LinearState *s) {
    free(s->S);
    memset(s, 0, sizeof *s);
}

void linear_clear(LinearState *s) {
    memset(s->S, 0, s->n * sizeof *s->S);
    clear_tops(s);
}

void linear_clear_z(LinearState *s, int l, int h) {
    size_t head = (size_t)l * (size_t)s->n_heads + (size_t)h;
    memset(s->z + head * s->rows, 0, s->rows * sizeof *s->z);
    s->top[head] = -INFINITY;
}

void linear_clear_strip(LinearState *s, int l, int h, size_t i) {
    size_t strip = ((size_t)l * (size_t)s->n_heads + (size_t)h) * s->n_strips + i;
    memset(s->S + strip * s->rows * COLUMNS, 0, s->rows * COLUMNS * sizeof *s->S);
}

/* ---- one batch ---- */

LinearBatch linear_part(const LinearBatch *b, size_t rows, size_t from, size_t n, int causal) {
    LinearBatch p = *b;
    p.n = n;
    p.causal = causal;
    p.q_num += from * rows;
    p.q_den += from * rows;
    p.k_num += from * rows;
    p.k_den += from * rows;
    p.k_log += from;
    p.keep += from;
    p.inverse += from;
    return p;
}

void linear_skip_key(const LinearBatch *b, size_t rows, size_t t, int h) {
    size_t at = (size_t)h * b->cap + t;
    memset(b->k_num + at * rows, 0, rows * sizeof *b->k_num);
    memset(b->k_den + at * rows, 0, rows * sizeof *b->k_den);
    b->k_log[at] = -1e300; /* below every key's, and yet a number: exp of a difference of two of these is 1, not NaN */
}

static void make_unit(double *x, size_t n) {
    double square = 0;
    for (size_t i = 0; i < n; i++) square += x[i] * x[i];
    for (size_t i = 0; i < n && square > 0; i++) x[i] /= sqrt(square); /* a vector of zeroes fits every other equally */
}

void linear_features(const LinearConfig *c, const LinearBatch *b, LinearSide side, size_t t, int h, const float *x,
                     const double *cos, const double *sin, int rotary_dim, RopePairing pairing,
                     const Kernels *kernels) {
    size_t d = (size_t)c->head_dim, r = (size_t)linear_features_n(c), rows = (size_t)linear_rows(c),
           at = ((size_t)h * b->cap + t) * rows;
    double *in_S = (side == LINEAR_KEY ? b->k_num : b->q_num) + at,
           *in_z = (side == LINEAR_KEY ? b->k_den : b->q_den) + at, y[MAX_DIM];
    for (size_t i = 0; i < d; i++) y[i] = (double)x[i];
    if (c->form->cosine) make_unit(y, d);
    if (c->form->before_phi) rope_rotate64(y, cos, sin, rotary_dim, pairing);
    double left_out = c->phi->map(in_S, y, c, kernels);
    if (side == LINEAR_KEY)
        b->k_log[(size_t)h * b->cap + t] = left_out; /* a query's is in its denominator too: it cancels */
    if (c->form->cosine) in_S[r] = 1;
    memcpy(in_z, in_S, rows * sizeof *in_z);
    if (c->form->in_numerator) rope_rotate64(in_S, cos, sin, rotary_dim, pairing);
    if (c->form->in_denominator) rope_rotate64(in_z, cos, sin, rotary_dim, pairing);
}

/* FAVOR+: all keys so far are held divided by e^top, top the largest log factor among them. When a key raises it, what
 * was held shrinks by e^(old - new): keep. Numerator and denominator shrink alike, so this changes no weight. */
static double make_room(double *top, double left_out, double *k_num, double *k_den, size_t rows) {
    double old = *top, take;
    if (left_out > old) *top = left_out;
    take = exp(left_out - *top);
    for (size_t i = 0; i < rows && take != 1; i++) k_num[i] *= take, k_den[i] *= take;
    return *top == old ? 1 : exp(old - *top);
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
static double inverse_denominator(const LinearConfig *c, const double *q, const double *z, size_t rows) {
    double den = dot(q, z, rows);
    den += c->form->in_denominator && !c->form->cosine ? copysign(c->epsilon, den)
                                                       : c->epsilon; /* form both: it may be negative */
    return den == 0 ? 0 : 1 / den; /* no key fits, and epsilon is 0: nothing rather than infinity */
}

void linear_denominators(LinearState *s, const LinearConfig *c, const LinearBatch *b, int l, int h) {
    size_t rows = s->rows, head = (size_t)l * (size_t)s->n_heads + (size_t)h,
           group = (size_t)(b->n_heads / b->n_kv_heads);
    double *z = s->z + head * rows;
    for (size_t t = 0; t < b->n; t++) {
        size_t at = (size_t)h * b->cap + t;
        double keep = c->phi->projected
                          ? make_room(&s->top[head], b->k_log[at], b->k_num + at * rows, b->k_den + at * rows, rows)
                          : 1;
        b->keep[at] = keep;
        for (size_t i = 0; i < rows; i++) z[i] = z[i] * keep + b->k_den[at * rows + i]; /* eq. 19: z = sum phi(k) */
        for (size_t g = (size_t)h * group; b->causal && g < (size_t)(h + 1) * group; g++)
            b->inverse[g * b->cap + t] = inverse_denominator(c, b->q_den + (g * b->cap + t) * rows, z, rows);
    }
    for (size_t g = (size_t)h * group; !b->causal && g < (size_t)(h + 1) * group; g++)
        for (size_t t = 0; t < b->n; t++)
            b->inverse[g * b->cap + t] = inverse_denominator(c, b->q_den + (g * b->cap + t) * rows, z, rows);
}
