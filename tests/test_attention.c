/* tests/test_attention.c - softmax attention against float64, with NaN in every place of the cache it must not look at. */
#include "../attention/attention.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 2, HEADS = 3, N_CTX = 50 };

static float value(int a, int b, int c) { return (float)sin(a * 12.9898 + b * 78.233 + c * 37.719); }

/* Head dims that fill vectors and that do not, values as wide as keys and not; windows from one position to more than there are. */
static void against_float64(void) {
    static const int dims[] = {2, 6, 8, 16, 20, 64, 130}, positions[] = {0, 1, 7, 8, 31, 49};
    static const size_t windows[] = {0, 1, 5, 8, 50, 1000};
    const Kernels *k;
    for (int row = 0; (k = kernels_row(row)); row++)
        for (int z = 0; z < 7; z++) {
            int d = dims[z], vd = z % 2 ? dims[6 - z] : d;
            KVCache c;
            char err[200];
            CHECK(cache_init(&c, CACHE_F32, LAYERS, HEADS, d, vd, N_CTX, err, sizeof err) == 0);
            CHECK(cache_bytes(&c) == (size_t)(d + vd) * LAYERS * HEADS * N_CTX * sizeof(float));
            for (int p = 0; p < 6; p++)
                for (int w = 0; w < 6; w++) {
                    int pos = positions[p], first = windows[w] && pos + 1 > (int)windows[w] ? pos + 1 - (int)windows[w] : 0;
                    for (size_t i = 0; i < cache_bytes(&c) / sizeof(float); i++) c.k[i] = NAN; /* k and v lie behind each other */
                    float key[HEADS * 130], val[HEADS * 130], q[130], out[130 + 1], scores[N_CTX];
                    for (int j = first; j <= pos; j++) {
                        for (int i = 0; i < HEADS * d; i++) key[i] = value(j, i, 1);
                        for (int i = 0; i < HEADS * vd; i++) val[i] = value(j, i, 2);
                        for (int h = 0; h < HEADS; h++) cache_store(&c, 1, h, (size_t)j, key + h * d, val + h * vd);
                    }
                    for (int i = 0; i < d; i++) q[i] = 3 * value(pos, i, 3);
                    for (int h = 0; h < HEADS; h++) {
                        double s[N_CTX], sum = 0, want[130] = {0}, max = -1e300;
                        out[vd] = 7;
                        attention_softmax(out, q, &c, 1, h, (size_t)first, (size_t)pos + 1, 0.5f, scores, k);
                        for (int j = first; j <= pos; j++) {
                            s[j] = 0;
                            for (int i = 0; i < d; i++) s[j] += 0.5 * (double)q[i] * (double)value(j, h * d + i, 1);
                            max = fmax(max, s[j]);
                        }
                        for (int j = first; j <= pos; j++) sum += s[j] = exp(s[j] - max);
                        for (int j = first; j <= pos; j++)
                            for (int i = 0; i < vd; i++) want[i] += s[j] / sum * (double)value(j, h * vd + i, 2);
                        for (int i = 0; i < vd; i++) NEAR(out[i], want[i], 2e-5, 0); /* scores of up to 100 in float: 6e-6 of the exponent */
                        CHECK(out[vd] == 7);
                        attention_softmax(out, q, &c, 1, h, 5, 5, 0.5f, scores, k); /* no key at all */
                        for (int i = 0; i < vd; i++) CHECK(out[i] == 0);
                    }
                }
            cache_free(&c);
        }
}

/* linear-attention.md 5.4, "softmax causal": five tokens, one head of 4, theta 10000, interleaved pairs; v has two columns there.
 * q and k are floats here and so are the scores: 1e-6. */
static void facts(void) {
    static const double want[10] = {.5, .5, .5892161779, .5446080890, .9304663851, .7152331926,
                                     1.1481805481, .8240902741, 1.4546562016, .9773281008};
    const RopeConfig config = {.scaling = rope_scaling("none"), .pairing = ROPE_INTERLEAVED, .rotary_dim = 4, .theta = 10000};
    const Kernels *kernels;
    Rope rope;
    rope_init(&rope, &config, 1);
    for (int row = 0; (kernels = kernels_row(row)); row++) {
        KVCache c;
        char err[200];
        CHECK(cache_init(&c, CACHE_F32, 1, 1, 4, 2, 5, err, sizeof err) == 0);
        for (int i = 0; i < 5; i++) {
            float q[4], k[4], v[2], out[2], cosine[2], sine[2], scores[5];
            for (int j = 0; j < 4; j++) q[j] = (float)sin(1 + 4 * i + j), k[j] = (float)cos(2 + 4 * i + j);
            for (int j = 0; j < 2; j++) v[j] = 0.5f * (float)(i + 1) - 0.25f * (float)(i * j);
            rope_row(&rope, i, cosine, sine);
            kernels->rotate(q, cosine, sine, 4, ROPE_INTERLEAVED);
            kernels->rotate(k, cosine, sine, 4, ROPE_INTERLEAVED);
            cache_store(&c, 0, 0, (size_t)i, k, v);
            attention_softmax(out, q, &c, 0, 0, 0, (size_t)i + 1, 0.5f, scores, kernels); /* 1 / sqrt(4) */
            for (int j = 0; j < 2; j++) NEAR(out[j], want[2 * i + j], 1e-6, 0);
        }
        cache_free(&c);
    }
}

static void cache_refuses(void) {
    KVCache c;
    char err[200] = "";
    CHECK(cache_init(&c, CACHE_F32, 1000, 1000, 1000, 1000, SIZE_MAX / 1000, err, sizeof err) == -EOVERFLOW && *err && !c.k);
    cache_free(&c);
}

extern const Test tests_attention[];
const Test tests_attention[] = {
    {"attention/softmax, windows, poisoned cache", against_float64},
    {"attention/facts", facts},
    {"attention/cache too long", cache_refuses},
    {0},
};
