/* rope/rope.h - rotary position embedding: which angle each pair of a head turns by, and the rotation itself.
 *
 *     RopeConfig c = {.scaling = &rope_none, .rotary_dim = 128, .theta = 10000};
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
typedef struct Rope Rope;

/* HF's names stand beside ours where they differ. */
typedef struct {
    const RopeScaling *scaling;  /* HF rope_type: a row of scaling.c; the core has rope_none alone */
    RopePairing pairing;
    int rotary_dim;              /* even, <= head_dim; HF int(head_dim * partial_rotary_factor) */
    double theta;                /* HF rope_theta, GGUF rope.freq_base: the base, 10000 in the paper */
    struct RopeNumbers *numbers; /* of the method (scaling.h), not owned; NULL: none is given */
    double (*angle)(const Rope *r, int64_t pos, int i); /* as others round it (angles.h); NULL: pos * inv_freq[i] */
} RopeConfig;

/* A scaling method. */
struct RopeScaling {
    const char *name;
    /* 0, or -EINVAL and a line naming what is missing or out of range. NULL: nothing to check. */
    int (*check)(const RopeConfig *c, char *err, size_t errlen);
    /* Which frequencies a text of n positions takes; equal numbers mean equal frequencies, another re-evaluates the
     * kept ids. NULL: the same for all lengths, so a key's angle never changes. */
    int64_t (*choice)(const RopeConfig *c, int64_t n);
    /* inv_freq [rotary_dim/2], theta^(-2i/d), becomes the method's for that choice; returns what cos and sin are
     * multiplied by. NULL: nothing changes. */
    double (*fill)(double *inv_freq, const RopeConfig *c, int64_t choice);
    const struct RopeMethod *method; /* scaling.h */
};
extern const RopeScaling rope_none; /* the paper's own */

/* Everything of c in range and the method's own numbers complete? 0, or -EINVAL and one line that names the method. */
int rope_check(const RopeConfig *c, char *err, size_t errlen);

/* The frequencies in use. */
struct Rope {
    int rotary_dim;
    int64_t choice;                   /* RopeScaling.choice of the length it was made for */
    double scale;                     /* on cos and sin; scores grow by its square */
    double inv_freq[ROPE_MAX_PAIRS];  /* [rotary_dim/2] */
    double (*angle)(const Rope *r, int64_t pos, int i); /* RopeConfig's */
};

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
