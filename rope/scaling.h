/* rope/scaling.h - methods that stretch RoPE to longer texts, for who reads or writes their settings. */
#ifndef SCALING_H
#define SCALING_H

#include "rope.h"

/* What a file or the command line can say of a method. HF's names stand beside ours where they differ. */
typedef struct RopeNumbers {
    double factor;                   /* s: how many times longer than trained; 0: not given */
    int64_t n_ctx_original;          /* HF original_max_position_embeddings; 0: not given */
    int64_t n_ctx_train;             /* HF max_position_embeddings; 0: not given */
    double attention_factor;         /* on cos and sin, in place of the method's own; 0: not given */
    double attention_multiplier;     /* the same beside the method's own (GGUF attn_factor with yarn); 0: not given */
    double mscale, mscale_all_dim;   /* yarn; 0: not given */
    double beta_fast, beta_slow;     /* yarn; 0: 32 and 1 */
    int no_truncate;                 /* yarn: 1 leaves the borders unrounded; HF truncate = false */
    double low_freq_factor, high_freq_factor; /* llama3 */
    int n_long, n_short;             /* longrope: entries given, d/2 each */
    double long_factor[ROPE_MAX_PAIRS], short_factor[ROPE_MAX_PAIRS];
    int n_divisors;                  /* GGUF's rope_freqs tensor: d/2 divisors of the frequencies, or 0 */
    double divisors[ROPE_MAX_PAIRS];
} RopeNumbers;

/* A method beyond what rope.h asks of it. */
typedef struct RopeMethod {
    const char *alias;       /* of its name, or NULL */
    int factor_from_lengths; /* 1: a factor not given is n_ctx_train / n_ctx_original; there may be attention_factor */
    int own_attention;       /* 1: GGUF's attn_factor multiplies the method's own factor; 0: it stands alone */
    /* As RopeScaling.fill, of the method alone: returns its own factor on cos and sin, for which attention_factor
     * stands where given. NULL: the frequencies stay. */
    double (*fill)(double *inv_freq, const RopeConfig *c, int64_t choice);
} RopeMethod;

extern const RopeScaling *const rope_scalings[]; /* all rows, rope_none first; NULL after the last */
const RopeScaling *rope_scaling(const char *name); /* the row of that name or alias, or NULL */

const RopeNumbers *rope_numbers(const RopeConfig *c); /* its numbers; all 0 where it has none */

#endif
