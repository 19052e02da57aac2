/* rope/scaling.h - methods that stretch RoPE to longer texts by changing its frequencies. Distances: relative.h;
 * scores: scores.h; all of it as one line of text: spec.h. */
#ifndef SCALING_H
#define SCALING_H

#include "numbers.h"

/* A method beyond what rope.h asks of it. */
typedef struct RopeMethod {
    const char *alias;       /* of its name, or NULL */
    int in_files;            /* 1: published files name it; 0: only a spec does */
    int factor_from_lengths; /* 1: a factor not given is n_ctx_train / n_ctx_original; there may be attention_factor */
    int own_attention;       /* 1: GGUF's attn_factor multiplies the method's own factor; 0: it stands alone */
    /* As RopeScaling.fill, of the method alone: returns its own factor on cos and sin, for which attention_factor
     * stands where given. NULL: the frequencies stay. */
    double (*fill)(double *inv_freq, const RopeConfig *c, int64_t choice);
    const RopeKey *keys;
    const char *source;
    /* As RopeScaling.choice, but for each query by the length of the text up to it: it rotates itself and all keys that
     * it sees by that. NULL: all queries of a text have the same frequencies. */
    int64_t (*each)(const RopeConfig *c, int64_t n);
    /* The logarithm of what pair i of a query grows by with each position, and of a key shrinks by; a model learns with
     * it, so a spec cannot ask for it where the file does not have it. NULL: 0. */
    double (*growth)(const RopeConfig *c, int i);
} RopeMethod;

extern const RopeScaling *const rope_scalings[]; /* all rows, rope_none first; NULL after the last */
extern const RopeScaling rope_still; /* of models without RoPE (positions.h): no pair turns; called "none", too */
const RopeScaling *rope_scaling(const char *name); /* the row of that name or alias, or NULL */
const RopeScaling *rope_scaling_of_file(const char *name); /* the same among those that files name */

int rope_still_pairs(const RopeConfig *c); /* pairs that never turn: proportional's, or divided by 1e30 in GGUF */

/* The frequencies of a query that stands at the end of a text of n: rope_init's, but for methods that have `each`. */
void rope_init_each(Rope *r, const RopeConfig *c, int64_t n);

#endif
