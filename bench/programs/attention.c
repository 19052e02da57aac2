/* bench/programs/attention.c - softmax attention by itself: bench-attention [POSITIONS [PROMPT [ROUNDS]]]. One thread;
 * every kernel row and cache, heads of four shapes. A token behind so many positions (8192): positions of a key head a
 * microsecond, bytes of cache a second, beside a plain read of as many; a prompt of so many (512): of the row's FMA
 * peak. All are measured in the same round; medians of so many (9). */
#include "attention/softmax.h"
#include "base/system.h"
#include "bench/ceilings.h"
#include "kernels/peaks.h"
#include "kernels/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 99, MOST_DIM = 128 };

static size_t positions = 8192, prompt_length = 512, rounds = 9;

/* Query heads that share a key head, how many key heads, and their width. */
typedef struct {
    int group, heads, d;
} Shape;

static void fill(float *x, size_t n, unsigned seed) {
    for (size_t i = 0; i < n; i++) seed = seed * 1664525u + 1013904223u, x[i] = (float)(int32_t)seed / 2147483648.0f;
}

static void store(KVCache *c, const Kernels *kernels) {
    float k[MOST_DIM], v[MOST_DIM];
    for (int h = 0; h < c->n_kv_heads; h++)
        for (size_t t = 0; t < positions; t++) {
            fill(k, (size_t)c->head_dim, (unsigned)t * 2 + 1), fill(v, (size_t)c->head_dim, (unsigned)t * 2 + 2);
            cache_store(c, 0, h, t, k, v, kernels);
        }
}

/* Seconds for n tokens, the last of which sees `end` positions, in all heads. */
static double attend(const KVCache *c, const Shape *s, size_t n, size_t end, const float *q, float *out, float *scratch,
                     const Kernels *kernels) {
    size_t tile = ATTENTION_QUERIES / (size_t)s->group, group = (size_t)s->group, d = (size_t)s->d;
    double t0 = clock_seconds();
    for (int h = 0; h < s->heads; h++)
        for (size_t t = 0; t < n; t += tile) {
            size_t m = n - t < tile ? n - t : tile;
            AttentionQuery queries[ATTENTION_QUERIES];
            for (size_t j = 0; j < m * group; j++)
                queries[j] = (AttentionQuery){.q = q + j * d, .out = out + j * d, .end = end - n + t + j / group + 1,
                                              .scale = 1 / sqrtf((float)d)};
            attention_softmax(queries, m * group, c, 0, h, scratch, kernels);
        }
    return clock_seconds() - t0;
}

static double read_rate(const KVCache *c, size_t bytes, const Peaks *peaks) {
    static volatile uint64_t sink;
    double t0 = clock_seconds();
    sink = peaks->read(c->k, bytes / PEAK_READ * PEAK_READ, 4);
    (void)sink;
    return (double)bytes / (clock_seconds() - t0);
}

static double fma_rate(const Peaks *peaks) {
    static volatile float sink;
    const size_t steps = 200000;
    double t0 = clock_seconds();
    sink = peaks->fma.run(steps);
    (void)sink;
    return (double)(steps * peaks->fma.ops) / (clock_seconds() - t0);
}

static int measure(const Kernels *kernels, CacheType type, const Shape *s) {
    const Peaks *peaks = peaks_of(kernels->name);
    size_t floats = attention_scratch(type, s->d, s->d), n = ATTENTION_QUERIES * (size_t)s->d;
    float *q = malloc((2 * n + floats) * sizeof *q), *out = q + n, *scratch = out + n;
    double token[MOST_ROUNDS], prompt[MOST_ROUNDS], read[MOST_ROUNDS], fma[MOST_ROUNDS];
    double n_prompt = (double)prompt_length;
    char err[200];
    KVCache c;
    if (!q || cache_init(&c, type, 1, s->heads, s->d, s->d, positions, err, sizeof err)) return free(q), 1;
    store(&c, kernels);
    fill(q, n, 7);
    size_t bytes = (size_t)s->heads * (c.k_stride + c.v_stride);
    for (size_t i = 0; i < rounds; i++) {
        read[i] = read_rate(&c, bytes, peaks), fma[i] = fma_rate(peaks);
        token[i] = (double)bytes / attend(&c, s, 1, positions, q, out, scratch, kernels) / read[i];
        double ops = 4.0 * s->d * s->group * s->heads * n_prompt * (n_prompt + 1) / 2;
        prompt[i] = ops / attend(&c, s, prompt_length, prompt_length, q, out, scratch, kernels) / fma[i];
    }
    double share = spread_of(token, rounds).median, rate = spread_of(read, rounds).median;
    printf("%-11s %-5s %5d %5d %5d %12.1f %9.1f  %5.0f %%  %9.0f %%\n", kernels->name, cache_formats[type].name,
           s->group, s->heads, s->d, share * rate / 1e6 * (double)positions * s->heads / (double)bytes,
           share * rate / 1e9, 100 * share, 100 * spread_of(prompt, rounds).median);
    cache_free(&c);
    free(q);
    return 0;
}

int main(int argc, char **argv) {
    static const Shape shapes[] = {{8, 4, 64}, {4, 8, 128}, {1, 8, 64}, {1, 8, 128}};
    size_t *const numbers[] = {&positions, &prompt_length, &rounds};
    const Kernels *kernels;
    for (int i = 1; i < argc && i < 4; i++) *numbers[i - 1] = strtoul(argv[i], NULL, 10);
    if (!prompt_length || positions < prompt_length || !rounds || rounds > MOST_ROUNDS)
        return fprintf(stderr, "usage: bench-attention [POSITIONS [PROMPT, no more [ROUNDS, 1 to 99]]]\n"), 2;
    printf("a token behind %zu positions: those of a head a microsecond, GB of cache a second, and of what a plain "
           "read gives; a prompt of %zu: of the FMA peak\n", positions, prompt_length);
    printf("row         cache group heads   dim positions/us      GB/s  of read  of FMA peak\n");
    for (int row = 1; (kernels = kernels_row(row)); row++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            for (int type = CACHE_F32; type <= CACHE_Q8_0; type++)
                if (measure(kernels, (CacheType)type, &shapes[i]))
                    return fprintf(stderr, "bench-attention: out of memory\n"), 1;
    return 0;
}
