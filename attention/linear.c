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
    size_t rows = (size_t)linear_rows(c), d = (size_t)c->head_dim, strips = (d + COLUMNS - 1) / COLUMNS, heads, n, bytes;
    memset(s, 0, sizeof *s);
    if (!size_mul((size_t)n_layers, (size_t)n_heads, &heads) || !size_mul(heads, rows * (strips * COLUMNS + 1) + 1, &n) ||
        !size_mul(n, sizeof(double), &bytes))
        return base_error(err, errlen, -EOVERFLOW, "linear attention's state of %d layers and %d heads is too large", n_layers, n_heads);
    double *S = calloc(1, bytes);
    if (!S) return base_error(err, errlen, -ENOMEM, "out of memory: linear attention's state takes %.1f MB", (double)bytes / 1e6);
    *s = (LinearState){.n_layers = n_layers, .n_heads = n_heads, .rows = rows, .head_dim = d, .n_strips = strips, .S = S, .n = n};
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

void linear_features(const LinearConfig *c, const LinearBatch *b, LinearSide side, size_t t, int h, const float *x, const double *cos,
                     const double *sin, int rotary_dim, RopePairing pairing, const Kernels *kernels) {
    size_t d = (size_t)c->head_dim, r = (size_t)linear_features_n(c), rows = (size_t)linear_rows(c), at = ((size_t)h * b->cap + t) * rows;
    double *in_S = (side == LINEAR_KEY ? b->k_num : b->q_num) + at, *in_z = (side == LINEAR_KEY ? b->k_den : b->q_den) + at, y[MAX_DIM];
    for (size_t i = 0; i < d; i++) y[i] = (double)x[i];
    if (c->form->cosine) make_unit(y, d);
    if (c->form->before_phi) rope_rotate64(y, cos, sin, rotary_dim, pairing);
    double left_out = c->phi->map(in_S, y, c, kernels);
    if (side == LINEAR_KEY) b->k_log[(size_t)h * b->cap + t] = left_out; /* a query's is in its denominator too: it cancels */
    if (c->form->cosine) in_S[r] = 1;
    memcpy(in_z, in_S, rows * sizeof *in_z);
    if (c->form->in_numerator) rope_rotate64(in_S, cos, sin, rotary_dim, pairing);
    if (c->form->in_denominator) rope_rotate64(in_z, cos, sin, rotary_dim, pairing);
}

/* FAVOR+: all keys so far are held divided by e^top, top the largest log factor among them. When a key raises it, what was
 * held shrinks by e^(old - new): keep. Numerator and denominator shrink alike, so this changes no weight. */
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

/* 1 / (phi(q) . z + epsilon) */
static double inverse_denominator(const LinearConfig *c, const double *q, const double *z, size_t rows) {
    double den = dot(q, z, rows);
    den += c->form->in_denominator && !c->form->cosine ? copysign(c->epsilon, den) : c->epsilon; /* form both: it may be negative */
    return den == 0 ? 0 : 1 / den; /* no key fits, and epsilon is 0: nothing rather than infinity */
}

void linear_denominators(LinearState *s, const LinearConfig *c, const LinearBatch *b, int l, int h) {
    size_t rows = s->rows, head = (size_t)l * (size_t)s->n_heads + (size_t)h, group = (size_t)(b->n_heads / b->n_kv_heads);
    double *z = s->z + head * rows;
    for (size_t t = 0; t < b->n; t++) {
        size_t at = (size_t)h * b->cap + t;
        double keep = c->phi->projected ? make_room(&s->top[head], b->k_log[at], b->k_num + at * rows, b->k_den + at * rows, rows) : 1;
        b->keep[at] = keep;
        for (size_t i = 0; i < rows; i++) z[i] = z[i] * keep + b->k_den[at * rows + i];
        for (size_t g = (size_t)h * group; b->causal && g < (size_t)(h + 1) * group; g++)
            b->inverse[g * b->cap + t] = inverse_denominator(c, b->q_den + (g * b->cap + t) * rows, z, rows);
    }
    for (size_t g = (size_t)h * group; !b->causal && g < (size_t)(h + 1) * group; g++)
        for (size_t t = 0; t < b->n; t++)
            b->inverse[g * b->cap + t] = inverse_denominator(c, b->q_den + (g * b->cap + t) * rows, z, rows);
}

/* One strip of one head: what steps 3 work on. */
typedef struct {
    double *S;           /* [rows, COLUMNS] */
    size_t rows, stride; /* from one query head's features to the next one's, of the same token */
    size_t first, width; /* columns first .. first+width-1 of a head */
    size_t h, group;     /* its key/value head, and how many query heads share it */
    const LinearBatch *b;
    const Kernels *kernels;
} Strip;

static Strip strip_of(LinearState *s, const LinearBatch *b, int l, int h, size_t i, const Kernels *kernels) {
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

/* Token t's values in the strip's columns; part is room for those of a last strip that is not full. */
static const float *values(const Strip *p, const float *v, size_t t, size_t head_dim, float *part) {
    const float *at = v + (t * (size_t)p->b->n_kv_heads + p->h) * head_dim + p->first;
    if (p->width == COLUMNS) return at;
    memset(part, 0, COLUMNS * sizeof *part);
    memcpy(part, at, p->width * sizeof *part);
    return part;
}

/* o = numerator / denominator, query head g of the group. */
static void write_out(const Strip *p, float *out, size_t t, size_t g, size_t head_dim, const double *num) {
    size_t head = p->h * p->group + g;
    double inverse = p->b->inverse[head * p->b->cap + t];
    float *o = out + (t * (size_t)p->b->n_heads + head) * head_dim + p->first;
    for (size_t j = 0; j < p->width; j++) o[j] = (float)(num[j] * inverse);
}

/* S = keep S + k v^T, and S is read by the queries of token t where out is not NULL. */
static void step(const Strip *p, float *out, const float *v, size_t t, size_t head_dim, int take) {
    enum { AT_ONCE = 8 };
    double num[AT_ONCE * COLUMNS];
    float part[COLUMNS];
    size_t at = p->h * p->b->cap + t;
    const double *key = take ? p->b->k_num + at * p->rows : NULL;
    const float *value = take ? values(p, v, t, head_dim, part) : NULL;
    for (size_t i = 0; take && p->b->keep[at] != 1 && i < p->rows * COLUMNS; i++) p->S[i] *= p->b->keep[at];
    if (!out) p->kernels->att->state_step(NULL, p->S, p->rows, key, value, NULL, 0, 0);
    for (size_t g = 0; out && g < p->group; g += AT_ONCE, key = NULL) {
        size_t n = p->group - g < AT_ONCE ? p->group - g : AT_ONCE;
        const double *q = p->b->q_num + ((p->h * p->group + g) * p->b->cap + t) * p->rows;
        p->kernels->att->state_step(num, p->S, p->rows, key, value, q, n, p->stride);
        for (size_t i = 0; i < n; i++) write_out(p, out, t, g + i, head_dim, num + i * COLUMNS);
    }
}

void linear_numerators(float *out, const float *v, LinearState *s, const LinearBatch *b, int l, int h, size_t i, const Kernels *kernels) {
    Strip p = strip_of(s, b, l, h, i, kernels);
    for (size_t t = 0; t < b->n; t++) step(&p, b->causal ? out : NULL, v, t, s->head_dim, 1);
    for (size_t t = 0; !b->causal && t < b->n; t++) step(&p, out, v, t, s->head_dim, 0);
}

/* ---- the chunked form ---- */

size_t linear_chunk_scratch(size_t C, size_t rows, int n_heads, int n_kv_heads) {
    size_t queries = C * (size_t)(n_heads / n_kv_heads);
    return C + COLUMNS * (queries + 3 * C + COLUMNS + rows);
}

/* A chunk's scratch. "keys" are the COLUMNS keys from `from` on, of which n exist. */
typedef struct {
    double *decay;   /* [C]: query m's product of keep over the tokens from the next strip of keys to m */
    double *num;     /* [group, C, COLUMNS] */
    double *part;    /* [C, COLUMNS] */
    double *mask;    /* [C, COLUMNS]: what query m's weight of a key is multiplied by: 0 where the key is later */
    double *weights; /* [C, COLUMNS] */
    double *keys;    /* [rows, COLUMNS]: their features, transposed */
    double *values;  /* [COLUMNS, COLUMNS] */
} Chunk;

/* The keys from `from` on: transposed features, values, and the mask for queries from..n-1. */
static void gather_keys(const Strip *p, Chunk *k, const float *v, size_t t0, size_t from, size_t n, size_t head_dim) {
    size_t m_keys = n - from < COLUMNS ? n - from : COLUMNS;
    float part[COLUMNS];
    memset(k->keys, 0, p->rows * COLUMNS * sizeof *k->keys);
    memset(k->values, 0, COLUMNS * COLUMNS * sizeof *k->values);
    for (size_t j = 0; j < m_keys; j++) {
        size_t t = t0 + from + j;
        const double *key = p->b->k_num + (p->h * p->b->cap + t) * p->rows;
        const float *value = values(p, v, t, head_dim, part);
        for (size_t i = 0; i < p->rows; i++) k->keys[i * COLUMNS + j] = key[i];
        for (size_t i = 0; i < COLUMNS; i++) k->values[j * COLUMNS + i] = (double)value[i];
    }
    for (size_t m = from; m < n; m++)
        for (size_t j = COLUMNS; j-- > 0;) {
            int seen = j < m_keys && from + j <= m;
            k->mask[m * COLUMNS + j] = seen ? k->decay[m] : 0;
            if (seen) k->decay[m] *= p->b->keep[p->h * p->b->cap + t0 + from + j];
        }
}

/* num += the part that keys from `from` on have in the queries of the chunk that see them. */
static void meet_keys(const Strip *p, Chunk *k, size_t t0, size_t from, size_t n) {
    for (size_t g = 0; g < p->group; g++) {
        const double *q = p->b->q_num + ((p->h * p->group + g) * p->b->cap + t0 + from) * p->rows;
        double *num = k->num + (g * n + from) * COLUMNS, *w = k->weights;
        size_t m = n - from;
        p->kernels->att->state_step(w, k->keys, p->rows, NULL, NULL, q, m, p->rows);            /* q_m . k_n          */
        for (size_t i = 0; i < m * COLUMNS; i++) w[i] *= k->mask[from * COLUMNS + i];      /* n <= m             */
        p->kernels->att->state_step(k->part, k->values, COLUMNS, NULL, NULL, w, m, COLUMNS);    /* sum_n (q_m.k_n) v_n */
        for (size_t i = 0; i < m * COLUMNS; i++) num[i] += k->part[i];
    }
}

void linear_numerators_chunked(float *out, const float *v, LinearState *s, const LinearBatch *b, int l, int h, size_t i, size_t C,
                               double *scratch, const Kernels *kernels) {
    Strip p = strip_of(s, b, l, h, i, kernels);
    Chunk k = {.decay = scratch, .num = scratch + C};
    k.part = k.num + p.group * C * COLUMNS;
    k.mask = k.part + C * COLUMNS;
    k.weights = k.mask + C * COLUMNS;
    k.keys = k.weights + C * COLUMNS;
    k.values = k.keys + p.rows * COLUMNS;
    for (size_t t0 = 0, n; t0 < b->n; t0 += n) {
        n = b->n - t0 < C ? b->n - t0 : C;
        memset(k.num, 0, p.group * n * COLUMNS * sizeof *k.num);
        for (size_t m = 0; m < n; m++) k.decay[m] = 1;
        for (size_t strips = (n + COLUMNS - 1) / COLUMNS; strips-- > 0;) { /* last first: decay grows from a query backwards */
            gather_keys(&p, &k, v, t0, strips * COLUMNS, n, s->head_dim);
            meet_keys(&p, &k, t0, strips * COLUMNS, n);
        }
        for (size_t g = 0; g < p.group; g++) { /* what came before the chunk */
            const double *q = b->q_num + ((p.h * p.group + g) * b->cap + t0) * p.rows;
            double *num = k.num + g * n * COLUMNS;
            kernels->att->state_step(k.part, p.S, p.rows, NULL, NULL, q, n, p.rows);
            for (size_t m = 0; m < n * COLUMNS; m++) num[m] += k.decay[m / COLUMNS] * k.part[m];
            for (size_t m = 0; m < n; m++) write_out(&p, out, t0 + m, g, s->head_dim, num + m * COLUMNS);
        }
        for (size_t t = t0; t < t0 + n; t++) step(&p, NULL, v, t, s->head_dim, 1);
    }
}
