/* attention/chunked.c - linear attention in chunks (chunked.h). */
#include "chunked.h"

#include <string.h>

enum { COLUMNS = STATE_COLUMNS };

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
        const float *value = strip_values(p, v, t, head_dim, part);
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
        p->kernels->att->state_step(k->part, k->values, COLUMNS, NULL, NULL, w, m, COLUMNS); /* sum_n (q_m.k_n) v_n */
        for (size_t i = 0; i < m * COLUMNS; i++) num[i] += k->part[i];
    }
}

void linear_numerators_chunked(float *out, const float *v, LinearState *s, const LinearBatch *b, int l, int h, size_t i,
                               size_t C, double *scratch, const Kernels *kernels) {
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
        for (size_t strips = (n + COLUMNS - 1) / COLUMNS;
             strips-- > 0;) { /* last first: decay grows from a query backwards */
            gather_keys(&p, &k, v, t0, strips * COLUMNS, n, s->head_dim);
            meet_keys(&p, &k, t0, strips * COLUMNS, n);
        }
        for (size_t g = 0; g < p.group; g++) { /* what came before the chunk */
            const double *q = b->q_num + ((p.h * p.group + g) * b->cap + t0) * p.rows;
            double *num = k.num + g * n * COLUMNS;
            kernels->att->state_step(k.part, p.S, p.rows, NULL, NULL, q, n, p.rows);
            for (size_t m = 0; m < n * COLUMNS; m++) num[m] += k.decay[m / COLUMNS] * k.part[m];
            for (size_t m = 0; m < n; m++) strip_write(&p, out, t0 + m, g, s->head_dim, num + m * COLUMNS);
        }
        for (size_t t = t0; t < t0 + n; t++) strip_step(&p, NULL, v, t, s->head_dim, 1);
    }
}
