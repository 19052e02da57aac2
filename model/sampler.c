/* model/sampler.c - the chain of sampler.h: temperature, top-p, chance; filters.c has the rest. */
#include "sampler.h"

#include "base/base.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int sampler_init(Sampler *s, size_t vocab_size, const SamplerOptions *o, char *err, size_t errlen) {
    const struct { const char *name; float value, min, max; } limits[] = {
        {"temperature", o->temperature, 0, 1e6f},
        {"top-p", o->top_p, 0, 1},
        {"min-p", o->min_p, 0, 1},
        {"repetition penalty", o->repetition_penalty, 1e-6f, 1e6f},
        {"presence penalty", o->presence_penalty, -1e6f, 1e6f},
        {"frequency penalty", o->frequency_penalty, -1e6f, 1e6f},
    };
    *s = (Sampler){.options = *o, .vocab_size = vocab_size, .rng = o->seed ? o->seed : 1};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (!(limits[i].value >= limits[i].min && limits[i].value <= limits[i].max)) /* NaN fails both */
            return base_error(err, errlen, -EINVAL, "%s must be from %g to %g", limits[i].name, (double)limits[i].min,
                              (double)limits[i].max);
    s->probs = calloc(vocab_size, sizeof *s->probs);
    s->candidates = calloc(vocab_size, sizeof *s->candidates);
    if (s->probs && s->candidates) return 0;
    sampler_free(s);
    return base_error(err, errlen, -ENOMEM, "out of memory");
}

void sampler_free(Sampler *s) {
    free(s->probs);
    free(s->candidates);
    memset(s, 0, sizeof *s);
}

float sampler_coin(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    uint32_t r = (uint32_t)((*state * 0x2545F4914F6CDD1Dull) >> 32);
    return (float)(r >> 8) / 16777216.0f;
}

static int largest(const float *x, size_t n) {
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (!(x[i] <= x[best]) && !isnan(x[i])) best = i; /* larger, or x[best] is NaN */
    return (int)best;
}

/* Plain sums from left to right: llama2.c's rounding is part of what the same seed must reproduce. */
static void softmax(float *x, size_t n) {
    float max = x[largest(x, n)], sum = 0;
    for (size_t i = 0; i < n; i++) {
        x[i] = expf(x[i] - max);
        sum += x[i];
    }
    for (size_t i = 0; i < n; i++) x[i] /= sum;
}

int sampler_order(const void *a, const void *b) {
    const SamplerCandidate *x = a, *y = b;
    if (x->prob != y->prob) return x->prob > y->prob ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* The candidates in order, as far as steps 3 to 5 leave them; how many, and their sum. Where these are off: all, by id.
 * What top-p can never keep is left out before sorting: of n probabilities those below (1-p)/n sum to less than 1-p. */
static size_t choose(Sampler *s, float *sum) {
    const SamplerOptions *o = &s->options;
    int use_p = o->top_p > 0 && o->top_p < 1;
    float cutoff = use_p && o->top_k == 0 ? (1.0f - o->top_p) / (float)s->vocab_size : 0, whole = 1;
    size_t n = 0;
    for (size_t i = 0; i < s->vocab_size; i++) {
        s->candidates[n] = (SamplerCandidate){s->probs[i], (int)i};
        n += s->probs[i] >= cutoff; /* no branch that nobody can foretell */
    }
    *sum = 1;
    if (!use_p && o->top_k == 0 && o->min_p == 0) return n; /* nothing to sort for */
    if (sampler_filters) n = sampler_filters->leave(s, n, &whole);
    else qsort(s->candidates, n, sizeof *s->candidates, sampler_order);
    *sum = 0;
    for (size_t i = 0; i < n; i++) {
        *sum += s->candidates[i].prob;
        if (use_p && *sum > o->top_p * whole) return i + 1;
    }
    return n;
}

size_t sampler_left(Sampler *s, const float *logits, const int *ids, size_t n_ids, float *sum) {
    for (int greedy = s->options.temperature == 0 || s->vocab_size == 1;; greedy = 1) {
        memcpy(s->probs, logits, s->vocab_size * sizeof *s->probs);
        if (sampler_filters) sampler_filters->penalize(s, ids, n_ids);
        if (greedy) return 0;
        for (size_t i = 0; i < s->vocab_size; i++) s->probs[i] /= s->options.temperature;
        softmax(s->probs, s->vocab_size);
        if (!isnan(s->probs[0])) return choose(s, sum); /* else an infinity or NaN was among them */
    }
}

int sampler_next(Sampler *s, const float *logits, const int *ids, size_t n_ids) {
    float cdf = 0, sum;
    size_t n = sampler_left(s, logits, ids, n_ids, &sum);
    if (n == 0) return largest(s->probs, s->vocab_size); /* they are logits still */
    if (sampler_filters && s->options.more) n = sampler_filters->exclude(s, n, &sum);
    float coin = sampler_coin(&s->rng);
    for (size_t i = 0; i < n; i++) {
        cdf += s->candidates[i].prob;
        if (coin * sum < cdf) return s->candidates[i].id;
    }
    return s->candidates[n - 1].id; /* rounding */
}
