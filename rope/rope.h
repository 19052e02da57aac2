/* rope/rope.h - rotary position embedding: which angle each pair of a head turns by, and the rotation itself.
 *
 *     RopeConfig c = {.scaling = rope_scaling("none"), .rotary_dim = 128, .theta = 10000};
 *     char err[256];
 *     if (rope_check(&c, err, sizeof err)) ...        once, when a file or an option has set it
 *     Rope r;
 *     rope_init(&r, &c, n);                           frequencies, for a text of n positions
 *     rope_row(&r, pos, cos, sin);                    one row a position, shared by all layers and heads
 *     rope_rotate(head, cos, sin, r.rotary_dim, ROPE_INTERLEAVED);
 *
 * Symbols: d = rotary_dim, i = pair 0 .. d/2-1, theta_i of the paper = inv_freq[i], radians a position. */
#ifndef ROPE_H
#define ROPE_H

#include <stddef.h>
#include <stdint.h>

enum { ROPE_MAX_PAIRS = 512 }; /* a head of up to 1024 entries */

/* Which two entries of a head make a pair (d = rotary_dim):
 *   ROPE_INTERLEAVED  (2i, 2i+1)      Meta, llama2.c, RoFormer, GGUF "llama"
 *   ROPE_HALF         (i, i + d/2)    GPT-NeoX, Hugging Face's LLaMA and Qwen, GGUF "qwen2", "qwen3" */
typedef enum { ROPE_INTERLEAVED, ROPE_HALF } RopePairing;

typedef struct RopeScaling RopeScaling;

/* Everything a file or the command line can say about RoPE. HF's names stand beside ours where they differ. */
typedef struct {
    const RopeScaling *scaling;      /* a row of scaling.c; HF rope_type */
    RopePairing pairing;
    int rotary_dim;                  /* even, <= head_dim; HF int(head_dim * partial_rotary_factor) */
    double theta;                    /* HF rope_theta, GGUF rope.freq_base: the base, 10000 in the paper */
    double factor;                   /* s: how many times longer than trained; 0: not given */
    int64_t n_ctx_original;          /* HF original_max_position_embeddings; 0: not given */
    int64_t n_ctx_train;             /* HF max_position_embeddings; 0: not given */
    double attention_factor;         /* on cos and sin, in place of the method's own; 0: not given */
    double attention_multiplier;     /* the same beside the method's own (GGUF attn_factor with yarn); 0: not given */
    double mscale, mscale_all_dim, beta_fast, beta_slow; /* yarn; 0: not given; 0: 32 and 1 */
    int no_truncate;                 /* yarn: 1 leaves the borders unrounded; HF truncate = false */
    double low_freq_factor, high_freq_factor; /* llama3 */
    int n_long, n_short;             /* longrope: entries given, d/2 each */
    double long_factor[ROPE_MAX_PAIRS], short_factor[ROPE_MAX_PAIRS];
    int n_divisors;                  /* GGUF's rope_freqs tensor: d/2 divisors of the frequencies, or 0 */
    double divisors[ROPE_MAX_PAIRS];
} RopeConfig;

/* One scaling method: a row of the table in scaling.c. */
struct RopeScaling {
    const char *name, *alias; /* rope_type in HF's config; alias may be NULL */
    int factor_from_lengths;  /* 1: a factor not given is n_ctx_train / n_ctx_original; there may be attention_factor */
    int own_attention;        /* 1: GGUF's attn_factor multiplies the method's own factor; 0: it stands alone */
    /* 0, or -EINVAL and a line naming what is missing or out of range. NULL: nothing to check. */
    int (*check)(const RopeConfig *c, char *err, size_t errlen);
    /* Which frequencies a text of n positions takes; equal numbers mean equal frequencies, another re-evaluates the
     * kept ids. NULL: the same for all lengths, so a key's angle never changes. */
    int64_t (*choice)(const RopeConfig *c, int64_t n);
    /* inv_freq [rotary_dim/2], theta^(-2i/d), becomes the method's for that choice; returns the method's own factor on
     * cos and sin, for which attention_factor stands where given. NULL: nothing changes. */
    double (*fill)(double *inv_freq, const RopeConfig *c, int64_t choice);
};

extern const RopeScaling *const rope_scalings[]; /* all rows; NULL after the last (scaling.c) */
extern const RopeScaling rope_none;              /* the paper's own */
const RopeScaling *rope_scaling(const char *name); /* the row of that name or alias, or NULL */

/* Everything of c in range and the method's own numbers complete? 0, or -EINVAL and one line that names the method. */
int rope_check(const RopeConfig *c, char *err, size_t errlen);

/* The frequencies in use. */
typedef struct {
    int rotary_dim;
    int64_t choice;                   /* RopeScaling.choice of the length it was made for */
    double scale;                     /* on cos and sin; scores grow by its square */
    double inv_freq[ROPE_MAX_PAIRS];  /* [rotary_dim/2] */
} Rope;

/* Frequencies for a text of n positions. c has passed rope_check. Cannot fail. */
void rope_init(Rope *r, const RopeConfig *c, int64_t n);
/* The choice rope_init would make for n positions; compare with r->choice. */
int64_t rope_choice(const RopeConfig *c, int64_t n);

/* cos, sin [rotary_dim/2]: of angle = pos * inv_freq[i], times scale. The angle is taken in double: within 3e-7 rad for
 * |pos| <= 2^31. Source: RoFormer eq. 15. Cannot fail. */
void rope_row(const Rope *r, int64_t pos, float *cos, float *sin);
/* Before it is rounded to float: for linear attention, which sums over a whole text (attention/README.md). */
void rope_row64(const Rope *r, int64_t pos, double *cos, double *sin);

/* Rotate one head in place by its position's angle.
 * x    [>= rotary_dim]  the head; only the first rotary_dim entries turn
 * c, s [rotary_dim/2]   the row of its position (rope_row)
 * Source: RoFormer eq. 34 (interleaved); half-split pairing as in GPT-NeoX. Cannot fail. */
void rope_rotate(float *x, const float *c, const float *s, int rotary_dim, RopePairing pairing);
void rope_rotate64(double *x, const double *c, const double *s, int rotary_dim, RopePairing pairing);

#endif
