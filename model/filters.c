/* model/filters.c - what a sampler's chain (sampler.h) has beside temperature and top-p: penalties, top-k, min-p; and
 * where filters_more.c's links stand between them. */
#include "sampler_more.h"

#include <stdlib.h>

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

/* The k < n most probable to the front, in any order (Hoare's selection). */
static void select_most(SamplerCandidate *c, size_t n, size_t k) {
    for (size_t lo = 0, hi = n; hi - lo > 1;) {
        SamplerCandidate pivot = c[lo + (hi - 1 - lo) / 2]; /* not the last, or nothing might be cut off */
        size_t i = lo, j = hi - 1;
        for (;; i++, j--) {
            while (sampler_order(&c[i], &pivot) < 0) i++;
            while (sampler_order(&pivot, &c[j]) < 0) j--;
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

/* What min-p cannot keep goes before sorting, where top-k does not count it. */
static size_t leave(Sampler *s, size_t n, float *whole) {
    const SamplerOptions *o = &s->options;
    SamplerCandidate *c = s->candidates;
    if (o->top_k && o->top_k < n) select_most(c, n, o->top_k), n = o->top_k;
    else if (!o->top_k && o->min_p > 0) {
        float max = 0;
        size_t all = n;
        for (size_t i = 0; i < all; i++) max = c[i].prob > max ? c[i].prob : max;
        n = 0;
        for (size_t i = 0; i < all; i++)
            if (c[i].prob >= o->min_p * max) c[n++] = c[i];
    }
    qsort(c, n, sizeof *c, sampler_order);
    for (size_t i = 0; o->top_k && i < n; i++) *whole = i ? *whole + c[i].prob : c[i].prob;
    while (n > 0 && o->min_p > 0 && c[n - 1].prob < o->min_p * c[0].prob) n--;
    return n;
}

static const SamplerFilters filters = {.penalize = penalize, .leave = leave, .exclude = sampler_more_exclude};
const SamplerFilters *const sampler_filters = &filters;
