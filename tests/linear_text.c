/* tests/linear_text.c - texts for test_linear.c: inputs by formula, the engine's steps with NaN all around, the
 * definition. */
#include "linear_text.h"
#include "attention/maps.h"
#include "attention/reference.h"
#include "build.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { LAYERS = 2, LAYER = 1 };

/* ---- inputs ---- */

void *text_allocate(size_t n, size_t size) {
    void *p = calloc(n, size);
    if (!p) abort();
    return p;
}

float *text_input(const char *name, int head_dim, size_t n, int per) {
    char full[40];
    float *x = text_allocate(n, sizeof *x);
    snprintf(full, sizeof full, "%s %d", name, head_dim);
    for (size_t i = 0; i < n; i++) x[i] = (float)name_value(full, i) / (float)per;
    return x;
}

static double *input_W(int features, int head_dim, double scale) {
    double *W = text_allocate((size_t)features * (size_t)head_dim, sizeof *W);
    float *w = text_input("W", head_dim, (size_t)features * (size_t)head_dim, 128);
    for (int i = 0; i < features * head_dim; i++) W[i] = scale * (double)w[i];
    free(w);
    return W;
}

Text text_of(Text x) {
    size_t d = (size_t)x.head_dim;
    if (!x.heads) x.heads = x.kv_heads = 1;
    if (!x.rotary_dim) x.rotary_dim = x.head_dim;
    x.q = text_input("q", x.head_dim, x.n * (size_t)x.heads * d, 64);
    x.k = text_input("k", x.head_dim, x.n * (size_t)x.kv_heads * d, 64);
    x.v = text_input("v", x.head_dim, x.n * (size_t)x.kv_heads * d, 128);
    if (x.features) x.W = input_W(x.features, x.head_dim, 1);
    return x;
}

void text_free(Text *x) {
    free((void *)x->q);
    free((void *)x->k);
    free((void *)x->v);
    free((void *)x->W);
}

static int is_favor(const Text *x) { return strcmp(x->phi, "favor+") == 0; }
static int is_cosine(const Text *x) { return strncmp(x->form, "cosine", 6) == 0; }
static int turns_first(const Text *x) { return strcmp(x->form, "before-phi") == 0; }
static int turns_below(const Text *x) { return strcmp(x->form, "both") == 0 || strcmp(x->form, "cosine") == 0; }
static int turns_above(const Text *x) { return strcmp(x->form, "numerator") == 0 || turns_below(x); }

/* How much of what is turned turns: of a head, or of FAVOR+'s features where they are not as many. */
static int turned_dim(const Text *x) {
    return is_favor(x) && !turns_first(x) && x->features != x->head_dim ? x->features : x->rotary_dim;
}

/* ---- the steps of linear.h, poisoned ---- */

typedef struct {
    double *at, *block; /* [n], with a guard before and behind */
    size_t n;
} Field;

enum { Q_NUM, Q_DEN, K_NUM, K_DEN, K_LOG, KEEP, INVERSE, SCRATCH, N_FIELDS };
static const double GUARD = 7.25;

static void poison(double *x, size_t n) {
    for (size_t i = 0; i < n; i++) x[i] = NAN;
}

static Field field_new(size_t n) {
    Field f = {.block = text_allocate(n + 2, sizeof(double)), .n = n};
    f.at = f.block + 1;
    f.block[0] = f.at[n] = GUARD;
    poison(f.at, n);
    return f;
}

static void field_free(Field *f) {
    CHECK(f->block[0] == GUARD && f->at[f->n] == GUARD);
    free(f->block);
}

typedef struct {
    const Text *x;
    const Kernels *kernels;
    LinearConfig c;
    LinearState s;
    LinearBatch b;
    Field fields[N_FIELDS];
    double *W;
    float *v, *out; /* [batch, kv_heads, head_dim]; [batch, heads, head_dim] */
    size_t chunk;   /* 0: the recurrent form */
} Run;

static void run_init(Run *r, const Text *x, const Kernels *kernels, size_t batch, size_t chunk) {
    char err[200] = "";
    size_t cap = batch + 3;
    *r = (Run){.x = x, .kernels = kernels, .chunk = chunk};
    r->c = (LinearConfig){.phi = feature_map(x->phi), .form = linear_form(x->form), .epsilon = x->epsilon,
                          .head_dim = x->head_dim, .favor_features = x->features};
    if (linear_check(&r->c, err, sizeof err)) test_fail(__FILE__, __LINE__, err);
    if (is_favor(x)) {
        r->W = text_allocate(linear_projection_size(&r->c), sizeof(double));
        linear_projection_set(r->W, &r->c, x->W);
        r->c.favor_w = r->W;
    }
    if (linear_init(&r->s, &r->c, LAYERS, x->kv_heads, err, sizeof err)) test_fail(__FILE__, __LINE__, err);
    size_t rows = r->s.rows, heads = (size_t)x->heads, kv = (size_t)x->kv_heads;
    poison(r->s.S, kv * r->s.n_strips * rows * STATE_COLUMNS); /* layer 0 */
    poison(r->s.z, kv * rows);
    poison(r->s.top, kv);
    const size_t sizes[N_FIELDS] = {heads * cap * rows, heads * cap * rows, kv * cap * rows, kv * cap * rows, kv * cap,
                                    kv * cap,
                                    heads * cap, chunk ? linear_chunk_scratch(chunk, rows, x->heads, x->kv_heads) : 0};
    for (int f = 0; f < N_FIELDS; f++) r->fields[f] = field_new(sizes[f]);
    r->b = (LinearBatch){.cap = cap, .n_heads = x->heads, .n_kv_heads = x->kv_heads,
                         .q_num = r->fields[Q_NUM].at, .q_den = r->fields[Q_DEN].at, .k_num = r->fields[K_NUM].at,
                         .k_den = r->fields[K_DEN].at, .k_log = r->fields[K_LOG].at, .keep = r->fields[KEEP].at,
                         .inverse = r->fields[INVERSE].at};
    r->v = text_allocate(batch * kv * (size_t)x->head_dim, sizeof(float));
    r->out = text_allocate(batch * heads * (size_t)x->head_dim + 1, sizeof(float));
}

static void run_free(Run *r) {
    size_t kv = (size_t)r->x->kv_heads, n_z = kv * r->s.rows, n_S = n_z * r->s.n_strips * STATE_COLUMNS;
    for (size_t i = 0; i < n_z; i++) CHECK(isnan(r->s.z[i]));
    for (size_t i = 0; i < n_S; i++) CHECK(isnan(r->s.S[i]));
    for (size_t i = 0; i < kv; i++) CHECK(isnan(r->s.top[i]));
    for (size_t i = n_S; i < 2 * n_S; i++) { /* columns beyond head_dim stay 0: they are part of a saved state */
        size_t strip = i / (r->s.rows * STATE_COLUMNS) % r->s.n_strips;
        CHECK(strip * STATE_COLUMNS + i % STATE_COLUMNS < r->s.head_dim || r->s.S[i] == 0);
    }
    for (int f = 0; f < N_FIELDS; f++) field_free(&r->fields[f]);
    linear_free(&r->s);
    free(r->W);
    free(r->v);
    free(r->out);
}

/* Step 1 for head h of side, tokens t0 .. of the text. */
static void make_features(Run *r, LinearSide side, size_t t0, int h) {
    const Text *x = r->x;
    size_t d = (size_t)x->head_dim, heads = (size_t)(side == LINEAR_QUERY ? x->heads : x->kv_heads);
    int turned = turned_dim(x);
    double cosine[MAX_ROWS / 2], sine[MAX_ROWS / 2];
    for (size_t t = 0; t < r->b.n; t++) {
        for (int i = 0; i < turned / 2; i++) {
            double angle = x->theta > 0 ? (double)(x->start + (long)(t0 + t)) * pow(x->theta, -2.0 * i / turned) : 0;
            cosine[i] = cos(angle), sine[i] = sin(angle);
        }
        const float *vector = (side == LINEAR_QUERY ? x->q : x->k) + ((t0 + t) * heads + (size_t)h) * d;
        linear_features(&r->c, &r->b, side, t, h, vector, cosine, sine, turned, x->pairing, r->kernels);
    }
}

/* All steps of key/value head h; of the values only its own are there. */
static void run_head(Run *r, size_t t0, int h) {
    const Text *x = r->x;
    int group = x->heads / x->kv_heads;
    size_t d = (size_t)x->head_dim, kv = (size_t)x->kv_heads, n = r->b.n, n_z = LAYERS * kv * r->s.rows;
    for (int f = 0; f < N_FIELDS; f++) poison(r->fields[f].at, r->fields[f].n);
    make_features(r, LINEAR_KEY, t0, h);
    for (int g = h * group; g < (h + 1) * group; g++) make_features(r, LINEAR_QUERY, t0, g);
    if (!x->full) linear_denominators(&r->s, &r->c, &r->b, LAYER, h);
    for (size_t t = 0; x->full && t < n; t++) linear_take_z(&r->s, &r->c, &r->b, LAYER, h, t);
    for (size_t t = 0; x->full && t < n; t++) linear_read_z(&r->s, &r->c, &r->b, LAYER, h, t);

    double *z = text_allocate(n_z, sizeof *z);
    memcpy(z, r->s.z, n_z * sizeof *z);
    poison(r->s.z, n_z); /* S is read without z, without what went into it, without the keys' log factors */
    poison(r->b.q_den, r->fields[Q_DEN].n);
    poison(r->b.k_den, r->fields[K_DEN].n);
    poison(r->b.k_log, r->fields[K_LOG].n);
    for (size_t i = 0; i < n * kv * d; i++) r->v[i] = i / d % kv == (size_t)h ? x->v[t0 * kv * d + i] : NAN;
    for (size_t i = r->s.n_strips; i-- > 0;)
        if (x->full) {
            Strip p = strip_of(&r->s, &r->b, LAYER, h, i, r->kernels);
            for (size_t t = 0; t < n; t++) strip_step(&p, NULL, r->v, t, d, 1);
            for (size_t t = 0; t < n; t++) strip_step(&p, r->out, r->v, t, d, 0);
        } else if (!r->chunk) linear_numerators(r->out, r->v, &r->s, &r->b, LAYER, h, i, r->kernels);
        else linear_numerators_chunked(r->out, r->v, &r->s, &r->b, LAYER, h, i, r->chunk, r->fields[SCRATCH].at,
                                       r->kernels);
    memcpy(r->s.z, z, n_z * sizeof *z);
    free(z);
}

void text_run(float *out, const Text *x, const Kernels *kernels, Way way, double *end) {
    Run r;
    size_t piece = way.piece ? way.piece : x->n;
    run_init(&r, x, kernels, piece, way.chunk);
    size_t d = (size_t)x->head_dim, width = (size_t)x->heads * d, kv = (size_t)x->kv_heads;
    size_t n_z = kv * r.s.rows, n_S = n_z * r.s.n_strips * STATE_COLUMNS;
    for (size_t t0 = 0; t0 < x->n; t0 += piece) {
        r.b.n = x->n - t0 < piece ? x->n - t0 : piece;
        for (size_t i = 0; i < piece * width; i++) r.out[i] = NAN;
        r.out[piece * width] = (float)GUARD;
        for (int h = x->kv_heads; h-- > 0;) {
            run_head(&r, t0, h);
            for (size_t i = 0; i < piece * width; i++) { /* heads run from the last to the first */
                int done = i / width < r.b.n && i % width / d >= (size_t)h * (size_t)(x->heads / x->kv_heads);
                if (!done && !isnan(r.out[i])) CHECK(!"an output of another head or token stays as it is");
            }
        }
        CHECK(r.out[piece * width] == (float)GUARD);
        memcpy(out + t0 * width, r.out, r.b.n * width * sizeof *out);
    }
    if (end) {
        memcpy(end, r.s.S + LAYER * n_S, n_S * sizeof *end);
        memcpy(end + n_S, r.s.z + LAYER * n_z, n_z * sizeof *end);
    }
    run_free(&r);
}

/* ---- the definition: every query meets every key, in long double ---- */

typedef long double Wide;

static void turn(Wide *y, const Text *x, size_t t) {
    int dim = turned_dim(x), step = x->pairing == ROPE_INTERLEAVED ? 2 : 1,
        gap = x->pairing == ROPE_INTERLEAVED ? 1 : dim / 2;
    for (int i = 0; i < dim / 2 && x->theta > 0; i++) {
        Wide angle = (Wide)(x->start + (long)t) * powl((Wide)x->theta, -2.0L * i / dim);
        Wide a = y[i * step], b = y[i * step + gap], c = cosl(angle), s = sinl(angle);
        y[i * step] = a * c - b * s;
        y[i * step + gap] = a * s + b * c;
    }
}

static Wide dot(const Wide *a, const Wide *b, int n) {
    Wide sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* phi(y) into f, its largest exponent left out and returned (FAVOR+). */
static Wide phi_of(Wide *f, const Text *x, const Wide *y) {
    int d = x->head_dim;
    Wide sum = 0, top = -INFINITY, half = dot(y, y, d) / sqrtl(d) / 2;
    for (int i = 0; i < d; i++) sum += expl(y[i]);
    for (int i = 0; i < d; i++)
        f[i] = strcmp(x->phi, "elu+1") == 0   ? (y[i] > 0 ? y[i] + 1 : expl(y[i]))
               : strcmp(x->phi, "relu") == 0  ? (y[i] > 0 ? y[i] : 0)
               : strcmp(x->phi, "relu2") == 0 ? (y[i] > 0 ? y[i] * y[i] : 0)
               : strcmp(x->phi, "exp") == 0   ? expl(y[i])
               : strcmp(x->phi, "softmax") == 0 ? expl(y[i]) / sum
                                                : y[i];
    if (!is_favor(x)) return 0;
    for (int j = 0; j < x->features; j++) {
        Wide u = 0;
        for (int i = 0; i < d; i++) u += (Wide)x->W[j * d + i] * y[i];
        f[j] = u / sqrtl(sqrtl(d)) - half;
        top = fmaxl(top, f[j]);
    }
    for (int j = 0; j < x->features; j++) f[j] = expl(f[j] - top) / sqrtl(x->features);
    return top;
}

/* What a vector at token t is above and below the fraction bar, [MAX_ROWS] each; the cosine forms' 1 is added
 * elsewhere. */
static Wide sides(Wide *above, Wide *below, const Text *x, const float *vector, size_t t) {
    Wide y[MAX_ROWS];
    for (int i = 0; i < x->head_dim; i++) y[i] = (Wide)vector[i];
    Wide norm = sqrtl(dot(y, y, x->head_dim));
    for (int i = 0; i < x->head_dim && is_cosine(x) && norm > 0; i++) y[i] /= norm;
    if (turns_first(x)) turn(y, x, t);
    Wide left_out = phi_of(above, x, y);
    memcpy(below, above, MAX_ROWS * sizeof *below);
    if (turns_above(x)) turn(above, x, t);
    if (turns_below(x)) turn(below, x, t);
    return left_out;
}

Key *text_keys(const Text *x, int h) {
    Key *keys = text_allocate(x->n, sizeof *keys);
    size_t d = (size_t)x->head_dim, kv = (size_t)x->kv_heads;
    for (size_t t = 0; t < x->n; t++)
        keys[t].left_out = sides(keys[t].above, keys[t].below, x, x->k + (t * kv + (size_t)h) * d, t);
    return keys;
}

double text_pairwise(double *out, const Text *x, const Key *keys, int g, size_t m) {
    static Wide above[MAX_ROWS], below[MAX_ROWS];
    Wide num[MAX_DIM] = {0}, den = 0, magnitude = 0, top = -INFINITY;
    int rows = is_favor(x) ? x->features : x->head_dim, h = g / (x->heads / x->kv_heads);
    size_t d = (size_t)x->head_dim, n = x->full ? x->n : m + 1;
    sides(above, below, x, x->q + (m * (size_t)x->heads + (size_t)g) * d, m);
    for (size_t t = 0; t < n; t++) top = fmaxl(top, keys[t].left_out);
    for (size_t t = 0; t < n; t++) {
        Wide size = expl(keys[t].left_out - top), w = size * (dot(above, keys[t].above, rows) + is_cosine(x));
        Wide below_it = size * (dot(below, keys[t].below, rows) + is_cosine(x));
        for (size_t i = 0; i < d; i++) num[i] += w * (Wide)x->v[(t * (size_t)x->kv_heads + (size_t)h) * d + i];
        den += below_it;
        magnitude += fabsl(below_it);
    }
    double health = magnitude > 0 ? (double)(fabsl(den) / magnitude) : 1;
    den += turns_below(x) ? copysignl(x->epsilon, den) : x->epsilon;
    for (size_t i = 0; i < d; i++) out[i] = den == 0 ? 0 : (double)(num[i] / den);
    return health;
}

void text_reference(double *out, const Text *x) {
    size_t d = (size_t)x->head_dim, heads = (size_t)x->heads, kv = (size_t)x->kv_heads, n_q = x->n * heads,
           n_k = x->n * kv;
    double *q = text_allocate(2 * (n_q + n_k) * d, sizeof *q), *rq = q + n_q * d, *k = rq + n_q * d, *rk = k + n_k * d;
    double *v = text_allocate(n_k * d, sizeof *v);
    for (size_t i = 0; i < n_q + n_k; i++) { /* every query's vector, then every key's */
        int is_key = i >= n_q;
        size_t at = is_key ? i - n_q : i;
        Wide above[MAX_ROWS], below[MAX_ROWS];
        sides(above, below, x, (is_key ? x->k : x->q) + at * d, at / (is_key ? kv : heads));
        for (size_t j = 0; j < d; j++) {
            (is_key ? rk : rq)[at * d + j] = (double)above[j];
            (is_key ? k : q)[at * d + j] = (double)below[j];
        }
    }
    for (size_t i = 0; i < n_k * d; i++) v[i] = (double)x->v[i];
    const AttentionShape a = {x->n, heads, kv, d, d, .causal = !x->full};
    attention_reference_linear(out, rq, rk, q, k, v, &a, x->epsilon);
    free(q);
    free(v);
}

/* ---- comparing ---- */

/* Everything is summed in double, and only the result is a float: off by 6e-8 of itself in each column. The rest is for
 * rows in which values cancel. */
const double text_tolerance = 1e-6;
/* Doubles are off by 1e-16 of the terms of a denominator, so by 1e-12 of it at this bound; angles at position 10^6 by
 * 1e-10, so by 1e-6. Only signed weights ever come near it. */
const double text_healthy = 1e-4;

static double worst;

void text_print_worst(void) {
    if (getenv("LINEAR_PRINT")) printf("    worst row: off by %.2e\n", worst);
    worst = 0;
}

double text_distance(const float *a, const double *b, int n) {
    double difference = 0, size = 0;
    for (int i = 0; i < n; i++) {
        difference += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
        size += b[i] * b[i];
    }
    return difference == 0 ? 0 : sqrt(difference) / sqrt(size);
}

void text_expect_row(const float *got, const double *want, const Text *x, size_t m, const Kernels *k, Way way) {
    double d = text_distance(got, want, x->head_dim);
    if (!(d <= worst)) worst = d; /* a NaN stays */
    if (d <= text_tolerance) return;
    char line[240];
    snprintf(line, sizeof line,
             "%s, %s, head_dim %d, row %zu of %zu from %ld (pieces %zu, chunks %zu, kernels %s): off by %.2e",
             x->form, x->phi, x->head_dim, m, x->n, x->start, way.piece, way.chunk, k->name, d);
    test_fail(__FILE__, __LINE__, line);
}

size_t text_out_size(const Text *x) { return x->n * (size_t)x->heads * (size_t)x->head_dim * sizeof(float); }
float *text_out(const Text *x) { return text_allocate(text_out_size(x), 1); }

int text_expect_pairs(const Text *x, const Kernels *k, const Way *ways, int n_ways) {
    float *out[8];
    size_t d = (size_t)x->head_dim;
    int compared = 0, group = x->heads / x->kv_heads;
    for (int w = 0; w < n_ways; w++) text_run(out[w] = text_out(x), x, k, ways[w], NULL);
    for (int h = 0; h < x->kv_heads; h++) {
        Key *keys = text_keys(x, h);
        for (size_t m = 0; m < x->n; m += 1 + m / 4)
            for (int g = h * group; g < (h + 1) * group; g++) {
                double want[MAX_DIM];
                if (text_pairwise(want, x, keys, g, m) <= text_healthy) continue;
                compared++;
                for (int w = 0; w < n_ways; w++)
                    text_expect_row(out[w] + (m * (size_t)x->heads + (size_t)g) * d, want, x, m, k, ways[w]);
            }
        free(keys);
    }
    for (int w = 0; w < n_ways; w++) free(out[w]);
    return compared;
}
