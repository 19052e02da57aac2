/* model/sampler.c - the chain of sampler.h, step by step. */
#include "sampler.h"

#include "base/base.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sampler_init(Sampler *s, size_t vocab_size, const SamplerOptions *o, char *err, size_t errlen) {
    memset(s, 0, sizeof *s);
    const struct { const char *name; float value, min, max;
    } limits[] = {
        {"temperature", o->temperature, 0, 1e6f},
        {"top-p", o->top_p, 0, 1},
        {"min-p", o->min_p, 0, 1},
        {"repetition penalty", o->repetition_penalty, 1e-6f, 1e6f},
        {"presence penalty", o->presence_penalty, -1e6f, 1e6f},
        {"frequency penalty", o->frequency_penalty, -1e6f, 1e6f},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (!(limits[i].value >= limits[i].min && limits[i].value <= limits[i].max)) /* NaN fails both */
            return base_error(err, errlen, -EINVAL, "%s must be from %g to %g", limits[i].name, (double)limits[i].min,
                              (double)limits[i].max);
    s->options = *o;
    s->vocab_size = vocab_size;
    s->rng = o->seed ? o->seed : 1;
    s->probs = malloc(vocab_size * sizeof *s->probs);
    s->candidates = malloc(vocab_size * sizeof *s->candidates);
    s->counts = calloc(vocab_size, sizeof *s->counts);
    if (s->probs && s->candidates && s->counts) return 0;
    sampler_free(s);
    return base_error(err, errlen, -ENOMEM, "out of memory");
}

void sampler_free(Sampler *s) {
    free(s->probs);
    free(s->candidates);
    free(s->counts);
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
        if (x[i] > x[best] || (isnan(x[best]) && !isnan(x[i]))) best = i;
    return (int)best;
}

static int penalizes(const SamplerOptions *o) {
    return o->repetition_penalty != 1 || o->presence_penalty != 0 || o->frequency_penalty != 0;
}

/* Count the window's ids, then give each its penalty where it is met first, and clear its count. */
static void penalize(Sampler *s, const int *ids, size_t n) {
    const SamplerOptions *o = &s->options;
    size_t first = n > o->window ? n - o->window : 0;
    for (size_t i = first; i < n; i++)
        if (ids[i] >= 0 && (size_t)ids[i] < s->vocab_size) s->counts[ids[i]]++;
    for (size_t i = first; i < n; i++) {
        if (ids[i] < 0 || (size_t)ids[i] >= s->vocab_size || s->counts[ids[i]] == 0) continue;
        float *x = &s->probs[ids[i]];
        *x = *x > 0 ? *x / o->repetition_penalty : *x * o->repetition_penalty;
        *x -= o->presence_penalty + (float)s->counts[ids[i]] * o->frequency_penalty;
        s->counts[ids[i]] = 0;
    }
}

/* Plain sums from left to right: llama2.c's rounding is part of what the same seed must reproduce. */
static void softmax(float *x, size_t n) {
    float max = x[0], sum = 0;
    for (size_t i = 1; i < n; i++)
        if (x[i] > max) max = x[i];
    for (size_t i = 0; i < n; i++) {
        x[i] = expf(x[i] - max);
        sum += x[i];
    }
    for (size_t i = 0; i < n; i++) x[i] /= sum;
}

static int more_probable(const void *a, const void *b) {
    const SamplerCandidate *x = a, *y = b;
    if (x->prob != y->prob) return x->prob > y->prob ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* One of n candidates, in proportion to their probabilities, whose sum is total. */
static int draw(const SamplerCandidate *c, size_t n, float coin, float total) {
    float r = coin * total, cdf = 0;
    for (size_t i = 0; i < n; i++) {
        cdf += c[i].prob;
        if (r < cdf) return c[i].id;
    }
    return c[n - 1].id; /* rounding */
}

/* The k < n most probable to the front, in any order (Hoare's selection). */
static void select_most(SamplerCandidate *c, size_t n, size_t k) {
    for (size_t lo = 0, hi = n; hi - lo > 1;) {
        SamplerCandidate pivot = c[lo + (hi - 1 - lo) / 2]; /* not the last, or nothing might be cut off */
        size_t i = lo, j = hi - 1;
        for (;; i++, j--) {
            while (more_probable(&c[i], &pivot) < 0) i++;
            while (more_probable(&pivot, &c[j]) < 0) j--;
            if (i >= j) break;
            SamplerCandidate x = c[i];
            c[i] = c[j];
            c[j] = x;
        }
        if (k <= j) hi = j + 1; /* c[lo .. j] come before c[j + 1 ..] */
        else lo = j + 1;
        if (k == j + 1) return;
    }
}

/* Candidates into s->candidates, the most probable first; the count, at least 1. What top-p or min-p can never keep is
 * left out before sorting: of n probabilities, those below (1-p)/(n-1) sum to less than 1-p. */
static size_t candidates(Sampler *s, size_t top_k, float top_p, float min_p) {
    size_t n = 0;
    float cutoff = top_p > 0 && top_p < 1 && top_k == 0 ? (1.0f - top_p) / (float)(s->vocab_size - 1) : 0;
    float least = top_k == 0 ? min_p * s->probs[largest(s->probs, s->vocab_size)] : 0;
    if (least > cutoff) cutoff = least;
    for (size_t i = 0; i < s->vocab_size; i++)
        if (s->probs[i] >= cutoff) s->candidates[n++] = (SamplerCandidate){s->probs[i], (int)i};
    if (top_k && top_k < n) select_most(s->candidates, n, top_k), n = top_k;
    qsort(s->candidates, n, sizeof *s->candidates, more_probable);
    return n;
}

int sampler_next(Sampler *s, const float *logits, const int *ids, size_t n_ids) {
    const SamplerOptions *o = &s->options;
    int greedy = o->temperature == 0 || s->vocab_size == 1;
    if (greedy && !penalizes(o)) return largest(logits, s->vocab_size);
    memcpy(s->probs, logits, s->vocab_size * sizeof *s->probs);
    if (penalizes(o)) penalize(s, ids, n_ids);
    if (greedy) return largest(s->probs, s->vocab_size);
    for (size_t i = 0; i < s->vocab_size; i++) s->probs[i] /= o->temperature;
    softmax(s->probs, s->vocab_size);
    float coin = sampler_coin(&s->rng);
    int use_p = o->top_p > 0 && o->top_p < 1;
    if (isnan(s->probs[0])) return largest(logits, s->vocab_size); /* an infinity or NaN among the logits */

    if (!use_p && o->top_k == 0 && o->min_p == 0) { /* nothing to sort for */
        float cdf = 0;
        for (size_t i = 0; i < s->vocab_size; i++) {
            cdf += s->probs[i];
            if (coin < cdf) return (int)i;
        }
        return (int)s->vocab_size - 1;
    }
    size_t n = candidates(s, o->top_k, o->top_p, o->min_p), kept = n;
    if (n == 0) return largest(logits, s->vocab_size);
    float kept_sum = 0, sum = 0;
    for (size_t i = 0; i < n; i++) kept_sum += s->candidates[i].prob;
    float limit = o->top_k ? o->top_p * kept_sum : o->top_p; /* p of what top-k left */
    for (size_t i = 0; i < n; i++) {
        if (o->min_p > 0 && s->candidates[i].prob < o->min_p * s->candidates[0].prob) {
            kept = i;
            break;
        }
        sum += s->candidates[i].prob;
        if (use_p && sum > limit) {
            kept = i + 1;
            break;
        }
    }
    return draw(s->candidates, kept, coin, sum);
}
