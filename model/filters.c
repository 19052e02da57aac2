/* model/filters.c - what a sampler's chain (sampler.h) has beside temperature and top-p: penalties, top-k, min-p; and
 * where filters_more.c's links stand between them. */
#include "sampler_more.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The window's ids are counted, in the numbers of the candidates, which are not chosen yet; then each gets its penalty
 * where it is met first, and its count is cleared. */
static void penalize_window(Sampler *s, const int *ids, size_t n) {
    const SamplerOptions *o = &s->options;
    size_t first = n > o->window ? n - o->window : 0;
    if (o->repetition_penalty == 1 && o->presence_penalty == 0 && o->frequency_penalty == 0) return;
    for (int pass = 0; pass < 3; pass++) /* clear, count, take */
        for (size_t i = first; i < n; i++) {
            if (ids[i] < 0 || (size_t)ids[i] >= s->vocab_size) continue;
            float *x = &s->probs[ids[i]];
            int *count = &s->candidates[ids[i]].id;
            if (pass == 0) *count = 0;
            if (pass == 1) ++*count;
            if (pass < 2 || *count == 0) continue;
            *x = *x > 0 ? *x / o->repetition_penalty : *x * o->repetition_penalty;
            *x -= o->presence_penalty + (float)*count * o->frequency_penalty;
            *count = 0;
        }
}

static void penalize(Sampler *s, const int *ids, size_t n) {
    if (s->options.more) sampler_more_bias(s);
    penalize_window(s, ids, n);
    if (s->options.more) sampler_more_dry(s, ids, n);
}

/* Floats that are not negative are in the order of their bits, of which the first 12 say the factor of two and its
 * eighth. */
static uint32_t bin_of(SamplerCandidate c) {
    uint32_t bits;
    memcpy(&bits, &c.prob, sizeof bits);
    return bits >> 20;
}

/* A bin in which, with those above it, are k candidates at least, or the sum of enough. Where only k counts and few are
 * wanted, the largest of each RUN candidates stand for all. */
static uint32_t lowest_bin(const SamplerCandidate *c, size_t n, size_t k, double enough) {
    enum { BINS = 1024, BIN_OF_ONE = 0x3f800000 >> 20, RUN = 64 };
    _Static_assert(BIN_OF_ONE < BINS, "probabilities are 1 at most");
    struct { size_t n; double sum; } bins[BINS] = {0};
    size_t run = enough == INFINITY && k < n / RUN / 4 ? RUN : 1, in_front = 0;
    uint32_t last = BINS;
    double sum = 0;
    for (size_t i = 0, end; i < n; i = end) {
        SamplerCandidate most = c[i];
        end = n - i < run ? n : i + run;
        for (size_t j = i + 1; j < end; j++) most.prob = c[j].prob > most.prob ? c[j].prob : most.prob;
        bins[bin_of(most)].n++;
        bins[bin_of(most)].sum += (double)most.prob;
    }
    while (last > 0 && in_front < k && sum <= enough) {
        last--;
        in_front += bins[last].n;
        sum += bins[last].sum;
    }
    return last;
}

/* To the front come the most probable, in whole bins, until they are k or sum to more than enough; how many. */
static size_t most_probable(SamplerCandidate *c, size_t n, size_t k, double enough) {
    uint32_t last = lowest_bin(c, n, k, enough);
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        SamplerCandidate x = c[i];
        if (bin_of(x) < last) continue;
        c[i] = c[left];
        c[left++] = x;
    }
    return left;
}

/* To the front come those at least min_p times as probable as the first; how many. */
static size_t probable_enough(SamplerCandidate *c, size_t n, float min_p) {
    float max = 0;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) max = c[i].prob > max ? c[i].prob : max;
    for (size_t i = 0; i < n; i++) {
        c[kept] = c[i];
        kept += c[i].prob >= min_p * max; /* no branch, as in choose (sampler.c) */
    }
    return kept;
}

/* What min-p cannot keep goes before anything is sorted, where top-k does not count it. What top-p does not come to is
 * not sorted, unless the floats that it adds up come to less than most_probable's doubles. */
static size_t leave(Sampler *s, size_t n, float *whole) {
    const SamplerOptions *o = &s->options;
    SamplerCandidate *c = s->candidates;
    if (!o->top_k && o->min_p > 0) n = probable_enough(c, n, o->min_p);
    size_t k = o->top_k && o->top_k < n ? o->top_k : n, sorted = n;
    float sum = 0;
    if (o->top_k) sorted = most_probable(c, n, k, INFINITY);
    else if (o->top_p > 0 && o->top_p < 1) sorted = most_probable(c, n, n, (double)o->top_p);
    qsort(c, sorted, sizeof *c, sampler_order);
    for (size_t i = 0; i < sorted; i++) sum += c[i].prob;
    if (sorted < k && sum <= o->top_p) {
        sorted = n;
        qsort(c, sorted, sizeof *c, sampler_order);
    }
    n = sorted < k ? sorted : k;
    for (size_t i = 0; o->top_k && i < n; i++) *whole = i ? *whole + c[i].prob : c[i].prob;
    while (n > 0 && o->min_p > 0 && c[n - 1].prob < o->min_p * c[0].prob) n--;
    return n;
}

static const SamplerFilters filters = {.penalize = penalize, .leave = leave, .exclude = sampler_more_exclude};
const SamplerFilters *const sampler_filters = &filters;
