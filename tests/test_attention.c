/* tests/test_attention.c - softmax attention against float64, with NaN in every place of the cache it must not look
 * at. */
#include "kernels/rows.h"
#include "attention/cache_bytes.h"
#include "attention/reference.h"
#include "attention/softmax.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 2, HEADS = 2, N_CTX = 215, LONG_CTX = 2 * ATTENTION_PART + 300, MOST_DIM = 130 };

static float value(int a, int b, int c) { return (float)sin(a * 12.9898 + b * 78.233 + c * 37.719); }

/* A cache of one layer too many and one head too many, all of it NaN but the slots from `first` on of one head; and
 * what was stored there, as the cache gives it back. Scratch begins as NaN too. */
typedef struct {
    KVCache c;
    int d, vd;
    float *k, *v;       /* [n, d], [n, vd]: as stored, of all n slots */
    double *k64, *v64;  /* as kept */
    float *scratch;
    size_t n_scratch;
} Past;

static void poison(KVCache *c) { /* 0xff..: NaN as float, as half float and as a scale; -1 as int8 */
    memset(c->k, 0xff, (size_t)c->n_layers * (size_t)c->n_kv_heads * c->k_stride);
    memset(c->v, 0xff, (size_t)c->n_layers * (size_t)c->n_kv_heads * c->v_stride);
}

/* What is kept of x [n], from a slot's bytes: the layout as the header says, read by other code than the cache's. */
static void kept(double *out, const KVCache *c, size_t slot, int values, size_t n) {
    uint8_t bytes[4 * MOST_DIM];
    cache_get(c, 1, 1, slot, values, bytes);
    size_t scales = c->type == CACHE_Q8_0 ? (n + 31) / 32 : 0;
    CHECK(cache_slot_bytes(c,
                           values) == (c->type == CACHE_F32 ? 4 * n : c->type == CACHE_F16 ? 2 * n : n + 2 * scales));
    for (size_t i = 0; i < n; i++) {
        float f;
        if (c->type == CACHE_F32) memcpy(&f, bytes + 4 * i, 4), out[i] = f;
        else if (c->type == CACHE_F16) out[i] = f16_to_f32((uint16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8));
        else
            out[i] = (double)f16_to_f32((uint16_t)(bytes[i / 32 * 2] | bytes[i / 32 * 2 + 1] << 8)) *
                     (int8_t)bytes[2 * scales + i];
    }
}

static void past_of(Past *p, int n, CacheType type, int d, int vd, size_t first, const Kernels *kernels) {
    char err[200];
    *p = (Past){.d = d, .vd = vd, .n_scratch = attention_scratch(type, d, vd)};
    CHECK(cache_init(&p->c, type, LAYERS, HEADS, d, vd, (size_t)n, err, sizeof err) == 0);
    poison(&p->c);
    p->k = malloc((size_t)(d + vd) * (size_t)n * sizeof *p->k), p->v = p->k + d * n;
    p->k64 = malloc((size_t)(d + vd) * (size_t)n * sizeof *p->k64), p->v64 = p->k64 + d * n;
    for (int t = (int)first; t < n; t++) {
        for (int i = 0; i < d; i++) p->k[t * d + i] = value(t, i, 1);
        for (int i = 0; i < vd; i++) p->v[t * vd + i] = value(t, i, 2);
        cache_store(&p->c, 1, 1, (size_t)t, p->k + t * d, p->v + t * vd, kernels);
        kept(p->k64 + t * d, &p->c, (size_t)t, 0, (size_t)d);
        kept(p->v64 + t * vd, &p->c, (size_t)t, 1, (size_t)vd);
    }
    p->scratch = malloc((p->n_scratch + 1) * sizeof *p->scratch);
    for (size_t i = 0; i <= p->n_scratch; i++) p->scratch[i] = NAN;
}

static void past_make(Past *p, CacheType type, int d, int vd, size_t first, const Kernels *kernels) {
    past_of(p, N_CTX, type, d, vd, first, kernels);
}

static void past_free(Past *p) {
    CHECK(isnan(p->scratch[p->n_scratch]));
    cache_free(&p->c);
    free(p->k), free(p->k64), free(p->scratch);
}

/* Slots from `end` on become NaN. */
static void forget(Past *p, size_t end) {
    static const float nan[MOST_DIM] = {NAN};
    float all[MOST_DIM];
    for (int i = 0; i < MOST_DIM; i++) all[i] = nan[0];
    for (size_t t = end; t < p->c.n_ctx; t++) cache_store(&p->c, 1, 1, t, all, all, &kernels_ref);
}

/* The reference's softmax of what is kept: out [vd]. Result: the largest magnitude of a score's sum, |q| . |k| * scale.
 */
static double direct(double *out, const Past *p, const float *q, size_t first, size_t end, double scale) {
    size_t d = (size_t)p->d, vd = (size_t)p->vd;
    double magnitude = 0, q64[MOST_DIM];
    for (size_t i = 0; i < d; i++) q64[i] = (double)q[i];
    for (size_t at = 0; p->c.type == CACHE_Q8_0 && at < d; at += Q_BLOCK) { /* meets keys of bytes as bytes */
        size_t n = d - at < Q_BLOCK ? d - at : Q_BLOCK;
        int8_t bytes[Q_BLOCK];
        float each;
        kernels_ref.mat->quantize(bytes, &each, q + at, n, (int)n);
        for (size_t i = 0; i < n; i++) q64[at + i] = (double)each * bytes[i];
    }
    for (size_t t = first; t < end; t++) {
        double size = 0;
        for (size_t i = 0; i < d; i++) size += fabs(q64[i] * p->k64[t * d + i]);
        magnitude = fmax(magnitude, size * scale);
    }
    attend_reference(out, q64, p->k64 + first * d, d, p->v64 + first * vd, vd, end - first, d, vd, scale);
    return magnitude;
}

/* A score's sum of d products is off by some roundings of its magnitude, and so is, relatively, its weight; then
 * come sums over n keys. d and n roundings of 2^-24 each, going either way: sqrt(d) + sqrt(n) of them, and values
 * below 1. */
static double allowed(double magnitude, int d, size_t n) {
    return 6e-8 * (4 + 2 * magnitude * sqrt(d) + 2 * sqrt((double)n));
}

/* What weights as bytes may add to entry i: of each 32 slots half a step, 1/254 of the largest weight times its
 * value's scale, by bytes; a tenth more, for the weights here are those of a q that is no bytes. */
static double allowed_bytes(const Past *p, const AttentionQuery *x, int i) {
    double weights[LONG_CTX], scales[LONG_CTX], q64[MOST_DIM], max = -1e300, sum = 0, off = 0;
    if (p->c.type != CACHE_Q8_0 || x->first >= x->end) return 0;
    for (int j = 0; j < p->d; j++) q64[j] = (double)x->q[j];
    for (size_t t = x->first; t < x->end; t++) {
        CacheSlot slot = cache_slot(&p->c, 1, 1, t, 1);
        scales[t] = (double)f16_to_f32(slot.scales[i / Q_BLOCK * KEY_LANES]);
        weights[t] = 0;
        for (size_t j = 0; j < (size_t)p->d; j++) weights[t] += q64[j] * p->k64[t * (size_t)p->d + j];
        weights[t] *= (double)x->scale;
        max = fmax(max, weights[t]);
    }
    for (size_t t = x->first; t < x->end; t++) sum += weights[t] = exp(weights[t] - max);
    for (size_t b = x->text; b < x->end; b += Q_BLOCK) {
        double top = 0, bytes = 0;
        for (size_t t = b > x->first ? b : x->first; t < x->end && t < b + Q_BLOCK; t++) {
            top = fmax(top, weights[t] * scales[t]);
            bytes += scales[t] > 0 ? fabs(p->v64[t * (size_t)p->vd + (size_t)i]) / scales[t] : 0;
        }
        off += top / 254 * bytes;
    }
    return 1.1 * off / sum;
}

static void check_query(const Past *p, const AttentionQuery *x) {
    double want[MOST_DIM], magnitude = direct(want, p, x->q, x->first, x->end, (double)x->scale);
    for (int i = 0; i < p->vd; i++)
        NEAR(x->out[i], want[i], allowed(magnitude, p->d, x->end - x->first) + allowed_bytes(p, x, i), 0);
    CHECK(x->out[p->vd] == 7);
}

/* Every head size, with values as wide and not, every cache: one query at a time over n keys that begin and end
 * anywhere, against the direct softmax of what the cache has kept, everything that it must not look at being NaN. */
static void against_float64(void) {
    static const size_t spans[][2] = {{0, 1}, {0, 7}, {5, 6}, {0, 16}, {3, 20}, {15, 17}, {0, 64}, {63, 65}, {64, 128},
                                      {17, 63},
                                      {1, 129}, {100, 200}, {0, 215}};
    const Kernels *kernels;
    for (int row = 0; (kernels = kernels_row(row)); row++)
        for (int type = CACHE_F32; type <= CACHE_Q8_0; type++)
            for (int d = 1; d <= MOST_DIM; d += d < 20 ? 1 : d % 2 ? 4 : 13)
                for (size_t z = 0; z < sizeof spans / sizeof *spans; z++) {
                    Past p;
                    int vd = z % 3 == 0 ? d : z % 3 == 1 ? MOST_DIM - d + 1 : (d + 16) % MOST_DIM + 1;
                    float q[MOST_DIM], out[MOST_DIM + 1];
                    past_make(&p, (CacheType)type, d, vd, spans[z][0], kernels);
                    forget(&p, spans[z][1]);
                    for (int i = 0; i < d; i++) q[i] = 3 * value(d, i, 3);
                    out[vd] = 7;
                    AttentionQuery x = {.q = q, .out = out, .first = spans[z][0], .end = spans[z][1],
                                        .scale = 1 / sqrtf((float)d)};
                    attention_softmax(&x, 1, &p.c, 1, 1, p.scratch, kernels);
                    check_query(&p, &x);
                    x.first = x.end;
                    attention_softmax(&x, 1, &p.c, 1, 1, p.scratch, kernels); /* no key at all */
                    for (int i = 0; i < vd; i++) CHECK(out[i] == 0);
                    past_free(&p);
                }
}

/* A text of grouped heads, causal or not, with a window or none, head by head through the cache: the specification. */
static void specification(void) {
    enum { N = 40, QUERIES = 6, KEYS = 2, D = 12, VD = 9 };
    static double q[N * QUERIES * D], k[N * KEYS * D], v[N * KEYS * VD], want[N * QUERIES * VD];
    static float q32[N * QUERIES * D], k32[N * KEYS * D], v32[N * KEYS * VD];
    for (int i = 0; i < N * QUERIES * D; i++) q[i] = q32[i] = 2 * value(i, 1, 7);
    for (int i = 0; i < N * KEYS * D; i++) k[i] = k32[i] = 2 * value(i, 2, 7);
    for (int i = 0; i < N * KEYS * VD; i++) v[i] = v32[i] = value(i, 3, 7);
    for (int z = 0; z < 6; z++) {
        const AttentionShape a = {N, QUERIES, KEYS, D, VD, .causal = z % 2, .window = (size_t[]){0, 1, 7}[z / 2]};
        float *scratch = malloc(attention_scratch(CACHE_F32, D, VD) * sizeof *scratch), out[VD];
        char err[100];
        KVCache c;
        CHECK(cache_init(&c, CACHE_F32, 1, KEYS, D, VD, N, err, sizeof err) == 0);
        for (size_t i = 0; i < N * KEYS; i++)
            cache_store(&c, 0, (int)(i % KEYS), i / KEYS, k32 + i * D, v32 + i * VD, &kernels_ref);
        attention_reference(want, q, k, v, &a);
        for (size_t i = 0; i < N * QUERIES; i++) {
            size_t end = a.causal ? i / QUERIES + 1 : N, first = a.window && end > a.window ? end - a.window : 0;
            AttentionQuery x = {.q = q32 + i * D, .out = out, .first = first, .end = end, .scale = 1 / sqrtf(D)};
            attention_softmax(&x, 1, &c, 0, (int)(i % QUERIES / (QUERIES / KEYS)), scratch, &kernels_ref);
            for (size_t j = 0; j < VD; j++) NEAR(out[j], want[i * VD + j], 1e-6, 0); /* 12 products of at most 4 */
        }
        cache_free(&c);
        free(scratch);
    }
}

/* As many queries as there may be, of any spans: each has the bits that it has alone, with NaN in all slots that it
 * does not see. */
static void one_or_many(void) {
    static const int dims[] = {1, 7, 16, 33, 64, 130};
    static const size_t counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 20, ATTENTION_QUERIES};
    static float q[ATTENTION_QUERIES][MOST_DIM], out[ATTENTION_QUERIES][MOST_DIM + 1];
    const Kernels *kernels;
    for (int row = 0; (kernels = kernels_row(row)); row++)
        for (int z = 0; z < 3 * 6 * 12 * 3; z++) {
            int type = z % 3, d = dims[z / 3 % 6], kind = z / 18 % 3;
            size_t n = counts[z / 54];
            Past p;
            AttentionQuery x[ATTENTION_QUERIES];
            past_make(&p, (CacheType)type, d, (d * 3 + kind) % MOST_DIM + 1, 0, kernels);
            for (size_t j = 0; j < n; j++) {
                for (int i = 0; i < d; i++) q[j][i] = 4 * value((int)j, i, 4);
                size_t a = (size_t)(fabsf(value((int)j, z, 5)) * N_CTX),
                       b = (size_t)(fabsf(value((int)j, z, 6)) * (N_CTX + 1));
                x[j] = (AttentionQuery){.q = q[j], .out = out[j], .scale = 0.3f + 0.01f * (float)j};
                if (kind == 0) x[j].first = a < b ? a : b, x[j].end = a < b ? b : a; /* any */
                if (kind == 1) x[j].first = 0, x[j].end = N_CTX - n + j + 1; /* causal */
                if (kind == 2) /* three texts side by side */
                    x[j].text = j * 3 / n * 71, x[j].first = x[j].text + j % 3, x[j].end = x[j].text + 68;
                out[j][p.vd] = 7;
            }
            attention_softmax(x, n, &p.c, 1, 1, p.scratch, kernels);
            for (size_t j = 0; j < n; j++) check_query(&p, &x[j]);
            for (size_t j = 0; j < n; j += 1 + n / 7) {
                float alone[MOST_DIM + 1];
                Past own;
                AttentionQuery y = x[j];
                past_make(&own, (CacheType)type, d, p.vd, y.first, kernels);
                forget(&own, y.end);
                y.out = alone;
                attention_softmax(&y, 1, &own.c, 1, 1, own.scratch, kernels);
                CHECK(memcmp(alone, out[j], (size_t)p.vd * sizeof *alone) == 0);
                past_free(&own);
            }
            past_free(&p);
        }
}

enum { IN_PARTS = 8, PARTS = (LONG_CTX + ATTENTION_PART - 1) / ATTENTION_PART };
typedef float PartSums[IN_PARTS][PARTS * 64]; /* of values of up to 48 */

/* All parts' sums, the last one's first. */
static void sum_parts(PartSums sums, AttentionQuery x[IN_PARTS], const Past *p, const Kernels *kernels) {
    for (size_t part = PARTS; part-- > 0;) {
        AttentionQuery y[IN_PARTS];
        for (size_t j = 0; j < IN_PARTS; j++) y[j] = x[j], y[j].out = sums[j] + part * attention_sums(&p->c);
        attention_part(y, IN_PARTS, part, &p->c, 1, 1, p->scratch, kernels);
    }
}

/* A sink's share of all weight is what it takes of the values. */
static double beside_sink(const Past *p, const AttentionQuery *x) {
    double sum = 0;
    for (size_t t = x->first; x->sink && t < x->end; t++) {
        double score = 0;
        for (int i = 0; i < p->d; i++) score += (double)x->q[i] * p->k64[t * (size_t)p->d + (size_t)i];
        sum += exp((double)x->scale * score);
    }
    return x->sink ? sum / (sum + exp((double)*x->sink)) : 1;
}

/* Of the parts of a longer text, made each by itself and joined from the first or from where the query begins to look,
 * come the bits of all at once, which it has alone too, and they are right; with a sink for every other query. A NaN in
 * the second part's last slot shows where it is seen. */
static void parts_joined(void) {
    static const size_t spans[IN_PARTS][2] = {{0, LONG_CTX}, {0, 1}, {1023, 1025}, {1024, 2048}, {100, 1024},
                                              {1500, LONG_CTX}, {2047, 2049}, {3, 2047}};
    static float q[IN_PARTS][MOST_DIM], whole[IN_PARTS][MOST_DIM], out[MOST_DIM], nan[MOST_DIM];
    static PartSums sums, kept_sums;
    static const float sink = 0.7f;
    const Kernels *kernels;
    for (int i = 0; i < MOST_DIM; i++) nan[i] = NAN;
    for (int row = 0; (kernels = kernels_row(row)); row++)
        for (size_t z = 0; z < 3 * 2; z++) {
            enum { D = 20, VD = 35 };
            size_t text = z / 3 * 37;
            Past p;
            AttentionQuery x[IN_PARTS];
            past_of(&p, LONG_CTX, (CacheType)(z % 3), D, VD, text, kernels);
            for (size_t j = 0; j < IN_PARTS; j++) {
                for (int i = 0; i < D; i++) q[j][i] = 4 * value((int)j, i, 8);
                size_t end = spans[j][1] + text;
                x[j] = (AttentionQuery){.q = q[j], .out = whole[j], .text = text, .first = spans[j][0] + text,
                                        .end = end < LONG_CTX ? end : LONG_CTX, .scale = 0.2f,
                                        .sink = j % 2 ? &sink : NULL};
            }
            attention_softmax(x, IN_PARTS, &p.c, 1, 1, p.scratch, kernels);
            sum_parts(sums, x, &p, kernels);
            memcpy(kept_sums, sums, sizeof sums);
            for (size_t j = 0; j < IN_PARTS; j++) {
                double want[MOST_DIM], magnitude = direct(want, &p, x[j].q, x[j].first, x[j].end, 0.2);
                double off = allowed(magnitude, D, x[j].end - x[j].first), share = beside_sink(&p, &x[j]);
                for (int i = 0; i < VD && (z % 3 < CACHE_Q8_0 || !x[j].sink); i++)
                    NEAR(whole[j][i], share * want[i], off + allowed_bytes(&p, &x[j], i), 0);
                size_t first = spans[j][0] / ATTENTION_PART, step = attention_sums(&p.c);
                AttentionQuery alone = x[j];
                alone.out = out;
                attention_softmax(&alone, 1, &p.c, 1, 1, p.scratch, kernels);
                CHECK(memcmp(out, whole[j], VD * sizeof *out) == 0);
                attention_join(out, sums[j] + first * step, PARTS - first, &p.c);
                CHECK(memcmp(out, whole[j], VD * sizeof *out) == 0);
                attention_join(out, kept_sums[j], PARTS, &p.c);
                CHECK(memcmp(out, whole[j], VD * sizeof *out) == 0);
            }
            cache_store(&p.c, 1, 1, text + 2047, nan, nan, kernels);
            sum_parts(sums, x, &p, kernels);
            for (size_t j = 0; j < IN_PARTS; j++) {
                attention_join(out, sums[j], PARTS, &p.c);
                if (spans[j][0] <= 2047 && spans[j][1] > 2047) CHECK(isnan(out[0]) && isnan(out[VD - 1]));
                else CHECK(memcmp(out, whole[j], VD * sizeof *out) == 0);
            }
            past_free(&p);
        }
}

/* A text has the same bits wherever it lies in the cache. */
static void anywhere(void) {
    enum { D = 20, LONG = 130 };
    const Kernels *kernels;
    for (int row = 0; (kernels = kernels_row(row)); row++)
        for (int type = CACHE_F32; type <= CACHE_Q8_0; type++) {
            Past p;
            float out[2][D + 1], q[D];
            past_make(&p, (CacheType)type, D, D, 0, kernels);
            for (int i = 0; i < D; i++) q[i] = 4 * value(1, i, 7);
            for (size_t at = 0; at + LONG <= N_CTX; at++) {
                poison(&p.c);
                for (size_t t = 0; t < LONG; t++) cache_store(&p.c, 1, 1, at + t, p.k + t * D, p.v + t * D, kernels);
                AttentionQuery x = {.q = q, .out = out[at > 0], .text = at, .first = at + 3, .end = at + LONG - 5,
                                    .scale = 0.5f};
                attention_softmax(&x, 1, &p.c, 1, 1, p.scratch, kernels);
                CHECK(isfinite(out[0][0]) && memcmp(out[0], out[at > 0], D * sizeof **out) == 0);
            }
            past_free(&p);
        }
}

/* Scores of 1e4 and 1e30 do not overflow: the largest takes all. Infinite and NaN keys stay visible where they are
 * seen. */
static void huge_scores(void) {
    const Kernels *kernels;
    for (int row = 0; (kernels = kernels_row(row)); row++)
        for (int type = CACHE_F32; type <= CACHE_Q8_0; type++)
            for (int sign = -1; sign <= 1; sign += 2) {
                Past p;
                float q[8], out[9];
                double want[8];
                past_make(&p, (CacheType)type, 8, 8, 0, kernels);
                for (int big = 0; big < 2; big++) {
                    for (int i = 0; i < 8; i++) q[i] = (float)sign * (big ? 1e30f : 1e4f) * value(3, i, 3);
                    AttentionQuery x = {.q = q, .out = out, .first = 2, .end = 150, .scale = 1};
                    attention_softmax(&x, 1, &p.c, 1, 1, p.scratch, kernels);
                    direct(want, &p, q, 2, 150, 1);
                    for (int i = 0; i < 8; i++) CHECK(isfinite(out[i]));
                    /* scores of 1e4 are off by 4e-3 */
                    for (int i = 0; i < 8; i++) NEAR(out[i], want[i], big ? 1e-6 : 2e-2, 0);
                }
                float bad[8] = {1, 2, 3, 4, 5, 6, 7, sign < 0 ? NAN : INFINITY};
                cache_store(&p.c, 1, 1, 77, bad, bad, kernels);
                for (int i = 0; i < 8; i++) q[i] = 1;
                AttentionQuery seen = {.q = q, .out = out, .end = 78, .scale = 1}, before = seen;
                before.end = 77;
                attention_softmax(&seen, 1, &p.c, 1, 1, p.scratch, kernels);
                for (int i = 0; i < 8; i++) CHECK(isnan(out[i]));
                attention_softmax(&before, 1, &p.c, 1, 1, p.scratch, kernels);
                for (int i = 0; i < 8; i++) CHECK(isfinite(out[i]));
                past_free(&p);
            }
}

/* What the types lose: f16 half an ulp, 2^-11 of a number; q8_0 half a step of amax / 127, and 2^-11 of it for the
 * scale's own rounding. All rows keep the same bytes; put gives back what get took. */
static void what_is_kept(void) {
    const Kernels *kernels;
    for (int d = 1; d <= MOST_DIM; d++)
        for (int type = CACHE_F32; type <= CACHE_Q8_0; type++) {
            uint8_t first[4 * MOST_DIM], bytes[4 * MOST_DIM];
            for (int row = 0; (kernels = kernels_row(row)); row++) {
                Past p;
                past_make(&p, (CacheType)type, d, d, N_CTX - 30, kernels);
                size_t slot = N_CTX - 20;
                for (int values = 0; values < 2; values++)
                    for (int i = 0; i < d; i++) {
                        const float *x = (values ? p.v : p.k) + slot * (size_t)d;
                        double amax = 0, got = (values ? p.v64 : p.k64)[slot * (size_t)d + (size_t)i];
                        for (int j = i / 32 * 32; j < d && j < i / 32 * 32 + 32; j++)
                            amax = fmax(amax, fabs((double)x[j]));
                        double half = fabs((double)x[i]) / 2048 + 3e-8, byte = amax * (0.5 / 127 + 1.0 / 2048 + 1e-6);
                        NEAR(got, x[i], type == CACHE_F32 ? 0 : type == CACHE_F16 ? half : byte, 0);
                    }
                cache_get(&p.c, 1, 1, slot, 0, bytes);
                if (row == 0) memcpy(first, bytes, sizeof first);
                CHECK(memcmp(first, bytes, cache_slot_bytes(&p.c, 0)) == 0);
                cache_put(&p.c, 0, 1, 3, 0, bytes);
                memset(bytes, 0, sizeof bytes);
                cache_get(&p.c, 0, 1, 3, 0, bytes);
                CHECK(memcmp(first, bytes, cache_slot_bytes(&p.c, 0)) == 0);
                past_free(&p);
            }
        }
}

/* linear-attention.md 5.4, "softmax causal": five tokens, one head of 4, theta 10000, interleaved pairs; v has two
 * columns there. q and k are floats here and so are the scores: 1e-6. */
static void facts(void) {
    static const double want[10] = {.5, .5, .5892161779, .5446080890, .9304663851, .7152331926,
                                     1.1481805481, .8240902741, 1.4546562016, .9773281008};
    const RopeConfig config = {.scaling = &rope_none, .pairing = ROPE_INTERLEAVED, .rotary_dim = 4,
                               .theta = 10000};
    const Kernels *kernels;
    Rope rope;
    rope_init(&rope, &config, 1);
    for (int row = 0; (kernels = kernels_row(row)); row++) {
        KVCache c;
        char err[200];
        CHECK(cache_init(&c, CACHE_F32, 1, 1, 4, 2, 5, err, sizeof err) == 0);
        for (int i = 0; i < 5; i++) {
            float q[4], k[4], v[2], out[2], cosine[2], sine[2], scratch[ATTENTION_QUERIES * (16 + SCORE_ROW + 48) + 32];
            for (int j = 0; j < 4; j++) q[j] = (float)sin(1 + 4 * i + j), k[j] = (float)cos(2 + 4 * i + j);
            for (int j = 0; j < 2; j++) v[j] = 0.5f * (float)(i + 1) - 0.25f * (float)(i * j);
            rope_row(&rope, i, cosine, sine);
            kernels->vec->rotate(q, cosine, sine, 4, ROPE_INTERLEAVED);
            kernels->vec->rotate(k, cosine, sine, 4, ROPE_INTERLEAVED);
            cache_store(&c, 0, 0, (size_t)i, k, v, kernels);
            AttentionQuery x = {.q = q, .out = out, .end = (size_t)i + 1, .scale = 0.5f}; /* 1 / sqrt(4) */
            CHECK(attention_scratch(CACHE_F32, 4, 2) <= sizeof scratch / sizeof *scratch);
            attention_softmax(&x, 1, &c, 0, 0, scratch, kernels);
            for (int j = 0; j < 2; j++) NEAR(out[j], want[2 * i + j], 1e-6, 0);
        }
        cache_free(&c);
    }
}

static void cache_refuses(void) {
    KVCache c;
    char err[200] = "";
    CHECK(cache_init(&c, CACHE_F32, 1000, 1000, 1000, 1000, SIZE_MAX / 1000, err, sizeof err) == -EOVERFLOW && *err &&
          !c.k);
    cache_free(&c);
    CHECK(cache_init(&c, CACHE_Q8_0, 3, 2, 65, 33, 50, err, sizeof err) == 0);
    /* 4 groups of 16 slots; keys of whole fours, values of whole vectors */
    CHECK(cache_bytes(&c) == 3 * 2 * 4u * 16 * (68 + 3 * 2 + 48 + 2 * 2));
    cache_free(&c);
}

/* 64 KB, and enough for large pages: zeros everywhere, and what is stored at the end comes back. */
static void cache_of_any_size(void) {
    for (size_t n = 64; n <= 64 << 9; n <<= 9) {
        KVCache c;
        char err[200];
        float k[64] = {0}, v[64] = {0}, out[64];
        CHECK(cache_init(&c, CACHE_F32, 1, 2, 64, 64, n, err, sizeof err) == 0);
        CHECK((c.pages > 0) == (n > 64) && cache_bytes(&c) == n * 2 * 64 * 2 * sizeof(float));
        CHECK(c.k[0] == 0 && !memcmp(c.k, c.k + 1, cache_bytes(&c) - 1));
        k[0] = 1, v[63] = 2;
        cache_store(&c, 0, 1, n - 1, k, v, &kernels_ref);
        cache_floats(&c, 0, 1, n - 1, 0, out);
        CHECK(!memcmp(out, k, sizeof k));
        cache_floats(&c, 0, 1, n - 1, 1, out);
        CHECK(!memcmp(out, v, sizeof v));
        cache_free(&c);
        CHECK(!c.block);
    }
}

extern const Test tests_attention[];
const Test tests_attention[] = {
    {"attention/a cache of any size", cache_of_any_size},
    {"attention/softmax, every size, poisoned cache", against_float64},
    {"attention/the specification", specification},
    {"attention/one query or many", one_or_many},
    {"attention/a text in parts", parts_joined},
    {"attention/a text anywhere in the cache", anywhere},
    {"attention/huge scores", huge_scores},
    {"attention/what the cache keeps", what_is_kept},
    {"attention/facts", facts},
    {"attention/cache too long", cache_refuses},
    {0},
};
