/* model/sampler.h - from logits to an id.
 *
 * The chain, in this order; what is off by its default does nothing. sampler_more.h has more:
 *   1. penalties on ids among the last `window` ids (prompt included): repetition r (logit / r where above 0, else
 *      logit * r), presence p (logit - p once), frequency f (logit - f for each time)
 *   2. temperature T: logits / T, then softmax
 *   3. top-k: the k most probable
 *   4. top-p: of these the smallest set whose probabilities sum to more than p of the whole
 *   5. min-p: of these those at least min_p times as probable as the first
 *   6. one id by chance, in proportion to the probabilities that are left
 * T = 0 is greedy: the largest logit after the penalties, the lowest id among equals; nothing else counts.
 * With 1, 3 and 5 off it draws as llama2.c does, coin for coin: the same seed gives its text. */
#ifndef SAMPLER_H
#define SAMPLER_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    float temperature;        /* >= 0; 1 leaves the distribution alone */
    float top_p;              /* <= 0 or >= 1: off */
    size_t top_k;             /* 0: off */
    float min_p;              /* 0: off */
    float repetition_penalty; /* 1: off; > 0 */
    float presence_penalty, frequency_penalty; /* 0: off */
    size_t window;            /* ids that penalties look back on */
    uint64_t seed;            /* not 0: xorshift stays at 0 for ever */
    const struct SamplerMore *more; /* biases, DRY, XTC (sampler_more.h), the caller's; NULL: off */
} SamplerOptions;

typedef struct { float prob; int id; } SamplerCandidate;

typedef struct {
    SamplerOptions options;
    size_t vocab_size;
    uint64_t rng;                 /* state of xorshift64* */
    float *probs;                 /* [vocab_size] */
    SamplerCandidate *candidates; /* [vocab_size] */
} Sampler;

/* -ENOMEM, or -EINVAL and a line that names the option out of range (NaN is). */
int sampler_init(Sampler *s, size_t vocab_size, const SamplerOptions *o, char *err, size_t errlen);
void sampler_free(Sampler *s); /* accepts a zeroed struct */

/* The next id after logits [vocab_size] (left as they are); ids [n]: the text so far, for the penalties. Where
 * an infinity or NaN is among the logits, or comes of a tiny T, as at T = 0; of those that are all NaN, 0. */
int sampler_next(Sampler *s, const float *logits, const int *ids, size_t n);

/* What steps 1 to 5 leave to draw from: the first so many of s->candidates, with probabilities that add up to *sum; 0
 * where there is nothing to draw: T = 0, or logits that are no numbers; s->probs are then logits after step 1. */
size_t sampler_left(Sampler *s, const float *logits, const int *ids, size_t n, float *sum);

/* Uniform in [0, 1), multiples of 2^-24. xorshift64*: Vigna, arXiv:1402.6246, with llama2.c's constants. */
float sampler_coin(uint64_t *state);

/* Steps 1, 3 and 5 (filters.c), for a program that has them; else NULL, and their options are not looked at. */
typedef struct {
    void (*penalize)(Sampler *s, const int *ids, size_t n); /* s->probs, which are logits still */
    /* Of the first n of s->candidates those that top-k and min-p leave, sorted; how many; *whole: what top-k left. */
    size_t (*leave)(Sampler *s, size_t n, float *whole);
    size_t (*exclude)(Sampler *s, size_t n, float *sum); /* XTC (sampler_more.h), where options.more is not NULL */
} SamplerFilters;
extern const SamplerFilters *const sampler_filters;

int sampler_order(const void *a, const void *b); /* for qsort: candidates, the most probable first, then by id */

#endif
