/* tests/test_kernels_attention.c - attention's kernels: every row against float64, over awkward sizes, with NaN around
 * every buffer and in every slot that must not be looked at.
 *
 * A float sum of n products rounds to at most about n * 2^-24 of the sum of magnitudes, and sqrt(n) of that where
 * roundings go either way: TOL = 1e-6 holds for n <= 130 here, and any wrong product shows at 1/130. */
#include "emulated/rows.h"
#include "kernels/cache_kernels.h"
#include "kernels/kernels.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { PAD = 16 };
static const double TOL = 1e-6;

static uint64_t rng = 88172645463325252ull;
static uint32_t random_u32(void) {
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (uint32_t)(rng >> 16);
}
static float random_float(void) { return (float)(random_u32() % 2001) / 1000.0f - 1.0f; }

/* n floats with NaN before and behind; freed by poisoned_free. */
static float *poisoned(size_t n) {
    float *p = malloc((n + 2 * PAD) * sizeof *p);
    for (size_t i = 0; i < n + 2 * PAD; i++) p[i] = NAN;
    for (size_t i = 0; i < n; i++) p[PAD + i] = random_float();
    return p + PAD;
}
static void check_margins(const float *p, size_t n) {
    for (int i = 1; i <= PAD; i++) CHECK(isnan(p[-i]));
    for (int i = 0; i < PAD; i++) CHECK(isnan(p[n + (size_t)i]));
}
static void poisoned_free(float *p) { free(p - PAD); }

/* What each of n queries sees of a block, now and then nothing; *lo, *hi: what anybody sees. */
static void random_spans(Span *spans, Running *run, size_t n, int shift, int *lo, int *hi) {
    *lo = KEY_BLOCK, *hi = 0;
    for (size_t j = 0; j < n; j++) {
        int a = (int)(random_u32() % 20), b = (int)(random_u32() % 40) + shift;
        spans[j] = (Span){.lo = a, .hi = b > a ? b : 0};
        run[j] = (Running){.shrink = b > a ? 0.5f : 1};
        if (b > a) *lo = a < *lo ? a : *lo, *hi = b > *hi ? b : *hi;
    }
}

/* Attention's products of one block: n queries against groups of keys, and their weights against values as wide or
 * wider than a group; floats and half floats; NaN in every slot outside the spans. */
static void product(const Kernels *k, size_t d, size_t n, int half) {
    size_t groups = 1 + d % 5, width = whole_lanes(d), lda = width + 3;
    size_t nk = groups * d * KEY_LANES, nv = KEY_BLOCK * width;
    float *q = poisoned(n * d), *key = poisoned(nk), *v = poisoned(nv), *s = poisoned(n * SCORE_ROW);
    float *acc = poisoned(n * lda), *before = poisoned(n * lda);
    uint16_t *key16 = malloc(nk * sizeof *key16), *v16 = malloc(nv * sizeof *v16);
    Span spans[20];
    Running run[20];
    int lo, hi;
    random_spans(spans, run, n, d % 2 ? 0 : 25, &lo, &hi);
    for (size_t i = 0; i < nv; i++)
        if ((int)(i / width) < lo || (int)(i / width) >= hi) v[i] = NAN; /* slots that nobody sees */
    if (half) kernels_ref.cache->narrow(key16, key, nk), kernels_ref.cache->widen(key, key16, nk);
    if (half) kernels_ref.cache->narrow(v16, v, nv), kernels_ref.cache->widen(v, v16, nv);
    memcpy(before, acc, n * lda * sizeof *acc);
    k->att->scores(s, q, n, (Numbers){half ? (const void *)key16 : key, half}, d, groups, (Soon){key, nk});
    for (size_t j = 0; j < n; j++)
        for (size_t t = 0; t < groups * KEY_LANES; t++) {
            double sum = 0, size = 0;
            for (size_t i = 0; i < d; i++) {
                double x = (double)q[j * d + i] * (double)key[(t / KEY_LANES * d + i) * KEY_LANES + t % KEY_LANES];
                sum += x, size += fabs(x);
            }
            NEAR(s[j * SCORE_ROW + t], sum, TOL * size, 0);
        }
    check_margins(s, n * SCORE_ROW);
    for (size_t i = 0; i < n * SCORE_ROW; i++) {
        int t = (int)(i % SCORE_ROW);
        s[i] = t >= spans[i / SCORE_ROW].lo && t < spans[i / SCORE_ROW].hi ? random_float() : NAN;
    }
    k->att->mix(acc, lda, s, spans, run, n, (Numbers){half ? (const void *)v16 : v, half}, width, width, (Soon){0});
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < width; i++) {
            double sum = (double)run[j].shrink * (double)before[j * lda + i], size = fabs(sum);
            for (int t = spans[j].lo; t < spans[j].hi; t++) {
                double x = (double)s[j * SCORE_ROW + (size_t)t] * (double)v[(size_t)t * width + i];
                sum += x, size += fabs(x);
            }
            NEAR(acc[j * lda + i], sum, TOL * 3 * size, 0); /* one lane: up to 62 roundings */
        }
    for (size_t i = 0; i < n * lda; i++) CHECK(i % lda < width || acc[i] == before[i]);
    check_margins(acc, n * lda);
    poisoned_free(q), poisoned_free(key), poisoned_free(v), poisoned_free(s), poisoned_free(acc), poisoned_free(before);
    free(key16), free(v16);
}

static void scores_and_mix(void) {
    const Kernels *k;
    for (int i = 0; (k = kernels_row(i)); i++)
        for (size_t d = 1; d <= 130; d += d < 34 ? 1 : 12)
            for (size_t n = 1; n <= 20; n += n < 9 ? 1 : 5)
                for (int half = 0; half < 2; half++) product(k, d, n, half);
}

/* A block after a block, with other spans, against the direct softmax: weights times what shrinks after them, and the
 * sum. Scores are up to +-1e4 where spread is 1e4: exp of them would overflow, and a difference of two is off by 2^-24
 * of that. */
static void running_softmax(void) {
    enum { BLOCKS = 5 };
    const Kernels *k;
    for (int i = 0; (k = kernels_row(i)); i++)
        for (int spread = 1; spread <= 10000; spread *= 100)
            for (int z = 0; z < 200; z++) {
                Span span[BLOCKS];
                Running r = {.scale = 0.5f, .max = -3.4e38f, .shrink = 7};
                double x[BLOCKS][KEY_BLOCK], weight[BLOCKS][KEY_BLOCK] = {{0}}, max = -INFINITY, sum = 0;
                for (int b = 0; b < BLOCKS; b++) {
                    float *s = poisoned(SCORE_ROW);
                    span[b] = (Span){.lo = (int)(random_u32() % 64), .hi = (int)(random_u32() % 65)};
                    if (z % 4 == 0) span[b] = (Span){.lo = 0, .hi = KEY_BLOCK};
                    for (int t = 0; t < SCORE_ROW; t++) {
                        if (t < span[b].lo || t >= span[b].hi) s[t] = NAN;
                        else x[b][t] = 0.5 * (double)(s[t] *= (float)spread), max = fmax(max, x[b][t]);
                    }
                    k->att->softmax(s, &span[b], &r, 1);
                    check_margins(s, SCORE_ROW);
                    if (span[b].lo >= span[b].hi) CHECK(r.shrink == 1);
                    for (int c = 0; c < b; c++)
                        for (int t = 0; t < KEY_BLOCK; t++) weight[c][t] *= (double)r.shrink;
                    for (int t = span[b].lo; t < span[b].hi; t++) weight[b][t] = s[t];
                    poisoned_free(s);
                }
                for (int b = 0; b < BLOCKS; b++)
                    for (int t = span[b].lo; t < span[b].hi; t++) {
                        sum += exp(x[b][t] - max);
                        NEAR(weight[b][t], exp(x[b][t] - max), 1e-30, 1e-6 + 1e-7 * spread);
                    }
                if (max > -INFINITY) NEAR(r.max, max, 0, 0);
                NEAR(r.sum, sum, 0, 1e-6 + 1e-7 * spread);
            }
}

/* exp as the softmax has it: every 997th float from -87.33 to 0, or, with ROFORMER_EXHAUSTIVE=1, all 1.1e9 of them; in
 * units of the last place of the result. */
static void exp_ulp(void) {
    int all = getenv("ROFORMER_EXHAUSTIVE") != NULL;
    const Kernels *k;
    for (int i = 0; (k = kernels_row(i)); i++) {
        double worst = 0;
        for (uint32_t bits = 0x80000000u; bits < 0xc2aea8f6u;) {
            float x[KEY_BLOCK] = {0}, s[SCORE_ROW];
            for (int t = 1; t < KEY_BLOCK; t++, bits += all ? 1 : 997) memcpy(x + t, &bits, 4);
            memcpy(s, x, sizeof x);
            Running r = {.scale = 1, .max = -3.4e38f};
            k->att->softmax(s, &(Span){0, KEY_BLOCK}, &r, 1);
            CHECK(s[0] == 1);
            for (int t = 1; t < KEY_BLOCK; t++) {
                double want = exp((double)x[t]), ulp = ldexp(1, ilogb(want) - 23);
                double off = x[t] < -87.33f ? 0 : fabs((double)s[t] - want) / ulp;
                if (!(off <= worst)) worst = off;
            }
        }
        if (all) printf("    %s: %.3f ulp\n", k->name, worst);
        CHECK(worst < 0.95);
    }
}

/* All halves; and floats at the middle between two, where ties go to even, and on either side of it. */
static void halves(void) {
    const Kernels *k;
    for (int i = 0; (k = kernels_row(i)); i++)
        for (uint32_t h = 0; h < 0x10000; h++) {
            uint16_t half = (uint16_t)h, back[5];
            float x[5];
            k->cache->widen(x, &half, 1);
            float want = f16_to_f32(half);
            CHECK(memcmp(x, &want, 4) == 0 || (isnan(x[0]) && isnan(want)));
            k->cache->narrow(back, x, 1);
            CHECK(back[0] == half || (isnan(want) && isnan(f16_to_f32(back[0]))));
            if ((h & 0x7fff) >= 0x7c00) continue;
            double next = (h & 0x7fff) != 0x7bff ? (double)f16_to_f32((uint16_t)(h + 1)) : h & 0x8000 ? -65536 : 65536;
            float middle = (float)(((double)want + next) / 2);
            x[0] = middle;
            x[1] = x[3] = nextafterf(middle, want);
            x[2] = x[4] = nextafterf(middle, (float)next);
            k->cache->narrow(back, x, 5);
            CHECK(back[0] == half + (h & 1));
            CHECK(back[1] == half && back[2] == half + 1 && back[3] == half && back[4] == half + 1);
        }
}

/* Groups of KEY_LANES slots of n entries in bytes: any bytes, and scales up to 0.02. `bytes` of a slot. */
static uint8_t *random_groups(size_t groups, size_t n, size_t bytes) {
    size_t head = 2 * KEY_LANES * scale_blocks(n), all = head + KEY_LANES * bytes;
    uint8_t *p = malloc(groups * all);
    for (size_t i = 0; i < groups * all; i++) p[i] = (uint8_t)random_u32();
    for (size_t g = 0; g < groups; g++)
        for (size_t i = 0; i < head; i += 2) {
            uint16_t scale = f32_to_f16(fabsf(random_float()) / 50);
            memcpy(p + g * all + i, &scale, 2);
        }
    return p;
}

/* Keys of bytes as floats: ref's bits. */
static void bytes_widened(void) {
    const Kernels *k;
    for (int i = 0; (k = kernels_row(i)); i++)
        for (size_t d = 1; d <= 130; d++) {
            uint8_t *group = random_groups(1, d, key_line_bytes(d));
            float *out = poisoned(d * KEY_LANES), *want = poisoned(d * KEY_LANES);
            k->cache->widen_keys(out, group, d);
            kernels_ref.cache->widen_keys(want, group, d);
            CHECK(memcmp(out, want, d * KEY_LANES * sizeof *out) == 0);
            check_margins(out, d * KEY_LANES);
            free(group), poisoned_free(out), poisoned_free(want);
        }
}

/* The row whose bits k's sums of bytes have: avx2 of avxvnni; NULL: none is known. */
static const Kernels *twin_of(const Kernels *k) {
    return strcmp(k->name, "avxvnni") == 0 ? row_named("avx2") : NULL;
}

/* Scores of bytes against float64. Sums of bytes are exact, so that what rounds is one product and one sum for each
 * block of 32: five blocks of |q| |k| <= 1 * 127 * 0.02 * 32. */
static void scores_of_bytes(const Kernels *k, size_t d, size_t n) {
    size_t groups = 1 + d % 5, blocks = scale_blocks(d), bytes = key_line_bytes(d);
    uint8_t *keys = random_groups(groups, d, bytes);
    QueryBlock *q = calloc(n * blocks, sizeof *q);
    float *s = poisoned(n * SCORE_ROW), *key = poisoned(groups * d * KEY_LANES);
    for (size_t j = 0; j < n * blocks; j++) {
        q[j].scale = fabsf(random_float()) / 127;
        for (size_t i = 0; i < Q_BLOCK && j % blocks * Q_BLOCK + i < d; i++)
            q[j].sum += q[j].q[i] = (int8_t)((int)(random_u32() % 255) - 127);
    }
    for (size_t g = 0; g < groups; g++)
        kernels_ref.cache->widen_keys(key + g * d * KEY_LANES, keys + g * KEY_LANES * (2 * blocks + bytes), d);
    k->cache->scores_q8(s, q, n, keys, d, groups, (Soon){keys, groups * KEY_LANES * (2 * blocks + bytes)});
    for (size_t j = 0; j < n; j++)
        for (size_t t = 0; t < SCORE_ROW; t++) {
            double want = 0;
            if (t >= groups * KEY_LANES) break;
            for (size_t i = 0; i < d; i++) {
                const QueryBlock *b = &q[j * blocks + i / Q_BLOCK];
                want += (double)b->scale * b->q[i % Q_BLOCK] *
                        (double)key[(t / KEY_LANES * d + i) * KEY_LANES + t % KEY_LANES];
            }
            NEAR(s[j * SCORE_ROW + t], want, 5 * 82 * 1.2e-7, 0);
        }
    check_margins(s, n * SCORE_ROW);
    const Kernels *twin = twin_of(k);
    float *same = poisoned(n * SCORE_ROW);
    if (twin) twin->cache->scores_q8(same, q, n, keys, d, groups, (Soon){0});
    for (size_t j = 0; twin && j < n; j++)
        CHECK(memcmp(same + j * SCORE_ROW, s + j * SCORE_ROW, groups * KEY_LANES * sizeof *s) == 0);
    free(keys), free(q), poisoned_free(s), poisoned_free(key), poisoned_free(same);
}

/* Weights by values of bytes: ref's but for the rounding of six products and sums of at most 0.5 * 127 * 0.02 * 32 * 2.
 * Slots that nobody sees have a scale that is NaN, and their weights are NaN as well. */
static void values_of_bytes(const Kernels *k, size_t d, size_t n, size_t first) {
    size_t width = whole_lanes(d), groups = (first + KEY_BLOCK + KEY_LANES - 1) / KEY_LANES, blocks = scale_blocks(d);
    size_t group = KEY_LANES * (2 * blocks + width);
    uint8_t *v = random_groups(groups, width, width);
    float *p = poisoned(n * SCORE_ROW), *acc = poisoned(n * width), *want = poisoned(n * width),
          *same = poisoned(n * width);
    const Kernels *twin = twin_of(k);
    Span spans[20];
    Running run[20];
    int lo, hi;
    random_spans(spans, run, n, (int)(first % 3 * 12), &lo, &hi);
    memcpy(want, acc, n * width * sizeof *acc);
    memcpy(same, acc, n * width * sizeof *acc);
    for (int t = 0; t < KEY_BLOCK; t++) {
        size_t slot = first + (size_t)t;
        uint16_t *scale = (uint16_t *)(void *)(v + slot / KEY_LANES * group) + slot % KEY_LANES;
        for (size_t b = 0; (t < lo || t >= hi) && b < blocks; b++) scale[b * KEY_LANES] = 0x7e00;
        for (size_t j = 0; j < n; j++) {
            p[j * SCORE_ROW + (size_t)t] = fabsf(p[j * SCORE_ROW + (size_t)t]) / 2;
            if (t < spans[j].lo || t >= spans[j].hi) p[j * SCORE_ROW + (size_t)t] = NAN;
        }
    }
    k->cache->mix_q8(acc, p, spans, run, n, v, first, width, (Soon){v, groups * group});
    kernels_ref.cache->mix_q8(want, p, spans, run, n, v, first, width, (Soon){0});
    for (size_t i = 0; i < n * width; i++) NEAR(acc[i], want[i], 82 * 6 * 6e-8, 0);
    if (twin) twin->cache->mix_q8(same, p, spans, run, n, v, first, width, (Soon){0});
    CHECK(!twin || memcmp(same, acc, n * width * sizeof *acc) == 0);
    check_margins(acc, n * width);
    free(v), poisoned_free(p), poisoned_free(acc), poisoned_free(want), poisoned_free(same);
}

/* Whole blocks, and queries side by side whose weights are none, too small for a scale, ordinary, very large,
 * infinite and NaN: none has a part in what its neighbour gets. Queries that ref makes NaN are NaN. */
static void unusual_weights(const Kernels *k, size_t n, size_t first) {
    enum { WIDTH = 48 };
    static const float of[] = {1, 0, 1e-33f, 1e30f, INFINITY, 1, NAN};
    uint8_t *v = random_groups(5, WIDTH, WIDTH);
    float *p = poisoned(n * SCORE_ROW), *acc = poisoned(n * WIDTH), *want = poisoned(n * WIDTH);
    Span spans[20];
    Running run[20];
    for (size_t j = 0; j < n; j++) {
        float each = of[(j + first) % (sizeof of / sizeof *of)], once = isfinite(each) ? each : 1;
        spans[j] = (Span){0, KEY_BLOCK}, run[j] = (Running){.shrink = 1};
        for (size_t t = 0; t < KEY_BLOCK; t++) p[j * SCORE_ROW + t] = fabsf(random_float()) / 2 * once;
        if (!isfinite(each)) p[j * SCORE_ROW + 40] = each;
        for (size_t i = 0; i < WIDTH; i++) acc[j * WIDTH + i] = want[j * WIDTH + i] = 0;
    }
    k->cache->mix_q8(acc, p, spans, run, n, v, first, WIDTH, (Soon){0});
    kernels_ref.cache->mix_q8(want, p, spans, run, n, v, first, WIDTH, (Soon){0});
    for (size_t i = 0; i < n * WIDTH; i++)
        if (isnan(want[i])) CHECK(isnan(acc[i]));
        else NEAR(acc[i], want[i], 82 * 6 * 6e-8 * fmax(1, of[(i / WIDTH + first) % (sizeof of / sizeof *of)]), 0);
    check_margins(acc, n * WIDTH);
    free(v), poisoned_free(p), poisoned_free(acc), poisoned_free(want);
}

static void weights_of_neighbours(void) {
    const Kernels *k;
    for (int i = 0; (k = row_to_test(i)); i++)
        for (size_t n = 1; n <= 20; n++)
            for (size_t first = 0; first < KEY_LANES; first++) unusual_weights(k, n, first);
}

static void bytes_multiplied(void) {
    const Kernels *k;
    for (int i = 0; (k = row_to_test(i)); i++)
        for (size_t d = 1; d <= 130; d += d < 40 ? 1 : 9)
            for (size_t n = 1; n <= 20; n += n < 9 ? 1 : 11) {
                scores_of_bytes(k, d, n);
                values_of_bytes(k, d, n, (d + n) % KEY_LANES);
            }
}

/* The weights of ref's products of bytes are those of a sum in float64, but for half a step of each block's largest:
 * of weights below 0.5 that is 0.5 / 254, in 40 slots or fewer, of bytes by 0.02. */
static void weights_as_bytes(void) {
    enum { D = 40, WIDTH = 48, GROUPS = 5 };
    for (size_t first = 0; first < KEY_LANES; first++) {
        size_t group = KEY_LANES * (2 * 2 + WIDTH);
        uint8_t *v = random_groups(GROUPS, WIDTH, WIDTH);
        float p[SCORE_ROW], acc[WIDTH] = {0};
        Span span = {.lo = 5, .hi = 45};
        Running run = {.shrink = 1};
        for (int t = 0; t < KEY_BLOCK; t++) p[t] = fabsf(random_float()) / 2;
        kernels_ref.cache->mix_q8(acc, p, &span, &run, 1, v, first, WIDTH, (Soon){0});
        for (size_t i = 0; i < D; i++) {
            double want = 0;
            for (int t = span.lo; t < span.hi; t++) {
                const uint8_t *of = v + (first + (size_t)t) / KEY_LANES * group;
                size_t lane = (first + (size_t)t) % KEY_LANES;
                uint16_t scale;
                memcpy(&scale, of + 2 * (i / Q_BLOCK * KEY_LANES + lane), 2);
                want += (double)p[t] * (double)f16_to_f32(scale) *
                        (int8_t)of[2 * KEY_LANES * 2 + (lane / 4 * WIDTH + i) * 4 + lane % 4];
            }
            NEAR(acc[i], want, 40 * (0.5 / 254) * 0.02 * 128 / 4, 0); /* errors go either way: a quarter of all */
        }
        free(v);
    }
}

/* Keys rotated where they lie, each by its own angles: rope_rotate of each; floats and half floats, part of a head,
 * both pairings, from any group of angles on. A product and a sum of two: within 2^-23 of the larger. */
static void rotated(const Kernels *k, size_t d, int rotary_dim, RopePairing pairing, int half) {
    enum { GROUPS = 3, FIRST = 2 };
    size_t n = GROUPS * d * KEY_LANES, pairs = (size_t)rotary_dim / 2, angles = (FIRST + GROUPS) * pairs * KEY_LANES;
    float *key = poisoned(n), *out = poisoned(n), *c = poisoned(angles), *s = poisoned(angles);
    uint16_t *key16 = malloc(n * sizeof *key16);
    float head[64], cosines[32], sines[32];
    const KeyAngles a = {.cos = c, .sin = s, .rotary_dim = rotary_dim, .pairing = pairing};
    if (half) kernels_ref.cache->narrow(key16, key, n), kernels_ref.cache->widen(key, key16, n);
    k->att->rotate(out, half ? (Numbers){key16, 1} : (Numbers){.at = key}, d, &a, FIRST, GROUPS);
    for (size_t t = 0; t < GROUPS * KEY_LANES; t++) {
        size_t at = t / KEY_LANES * d * KEY_LANES + t % KEY_LANES;
        size_t row = (FIRST + t / KEY_LANES) * pairs * KEY_LANES + t % KEY_LANES;
        for (size_t i = 0; i < d; i++) head[i] = key[at + i * KEY_LANES];
        for (size_t i = 0; i < pairs; i++) cosines[i] = c[row + i * KEY_LANES], sines[i] = s[row + i * KEY_LANES];
        rope_rotate(head, cosines, sines, rotary_dim, pairing);
        for (size_t i = 0; i < d; i++) CHECK(fabs((double)out[at + i * KEY_LANES] - (double)head[i]) < 2.5e-7);
    }
    check_margins(out, n);
    free(key16);
    poisoned_free(key), poisoned_free(out), poisoned_free(c), poisoned_free(s);
}

static void rotate_rows(void) {
    static const int dims[][2] = {{2, 2}, {6, 4}, {16, 16}, {20, 6}, {64, 64}};
    const Kernels *k;
    for (int row = 0; (k = kernels_row(row)); row++)
        for (size_t i = 0; i < sizeof dims / sizeof *dims; i++)
            for (int way = 0; way < 4; way++)
                rotated(k, (size_t)dims[i][0], dims[i][1], way & 1 ? ROPE_HALF : ROPE_INTERLEAVED, way / 2);
}

extern const Test tests_kernels_attention[];
const Test tests_kernels_attention[] = {
    {"kernels/scores and mix", scores_and_mix},
    {"kernels/running softmax", running_softmax},
    {"kernels/exp's last places", exp_ulp},
    {"kernels/half floats", halves},
    {"kernels/keys of bytes as floats", bytes_widened},
    {"kernels/products of bytes", bytes_multiplied},
    {"kernels/weights as bytes", weights_as_bytes},
    {"kernels/weights of neighbours", weights_of_neighbours},
    {"kernels/keys rotated where they lie", rotate_rows},
    {0},
};
