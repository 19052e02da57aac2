/* model/sampler_more.h - what a sampler's chain may have that llama2.c and most models' cards do not know: biases, DRY,
 * XTC (filters_more.c). In sampler.h's chain biases stand in front of 1, DRY behind 1, XTC behind 5; T = 0 is greedy
 * after biases and DRY. A program points SamplerOptions.more at one; NULL is all of it off.
 *
 *     SamplerMore m = {.dry_multiplier = 0.8f, .dry_base = 1.75f, .dry_allowed = 2, .dry_window = 4096};
 *     if (sampler_more_init(&m, vocab_size, err, sizeof err)) ... err holds one English line ...
 *     options.more = &m;
 *     ...
 *     sampler_more_free(&m); */
#ifndef SAMPLER_MORE_H
#define SAMPLER_MORE_H

#include "sampler.h"

typedef struct { int id; float bias; } SamplerBias; /* -INFINITY: never drawn */

/* A breaker as ids: a head and at most 20 behind it. */
enum { BREAKER_MOST = 21 };
typedef struct { int n, ids[BREAKER_MOST]; } SamplerBreaker;

typedef struct SamplerMore {
    const SamplerBias *biases; /* [n_biases], the caller's; of one id all count */
    size_t n_biases;
    float dry_multiplier;      /* 0: off */
    float dry_base;            /* >= 1 */
    size_t dry_allowed;        /* >= 1: repeats of so many ids cost the multiplier, each id more the base once more */
    size_t dry_window;         /* ids that DRY looks back on; 0: off */
    SamplerBreaker *breakers;  /* [n_breakers], the caller's; init sorts them */
    size_t n_breakers;
    float xtc_probability;     /* 0: off; the chance, at each id, that anything is left out */
    float xtc_threshold;       /* 0 to 1; above .5 there are never two so probable: off */
    size_t *z;                 /* [dry_window], init's */
} SamplerMore;

/* Check and allocate. -ENOMEM, or -EINVAL and a line that names the option out of range (NaN is), or the id of a bias
 * that is not in a vocabulary of so many. */
int sampler_more_init(SamplerMore *m, size_t vocab_size, char *err, size_t errlen);
void sampler_more_free(SamplerMore *m); /* what init took; accepts a zeroed struct */

/* Of the ids so far the last so many count for what is drawn next. */
size_t sampler_looks_back(const SamplerOptions *o);

/* Where a generator is to begin for seed: llama2.c's text is at stake with its own links alone, so seed itself; else
 * scrambled, for the first draws of adjacent seeds are alike there (their correlation is 0.2). */
uint64_t sampler_seed(const SamplerOptions *o, uint64_t seed);

/* What filters.c calls, where more is not NULL. Both on s->probs, which are logits still. */
void sampler_more_bias(Sampler *s);
void sampler_more_dry(Sampler *s, const int *ids, size_t n);
/* XTC on the first n of s->candidates, of any order, which add up to *sum: how many stay, in their order, and their
 * sum. Draws from s->rng, if it is on. */
size_t sampler_more_exclude(Sampler *s, size_t n, float *sum);

#endif
