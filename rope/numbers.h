/* rope/numbers.h - every number that a method which stretches RoPE can have, by the names a spec (spec.h) gives them.
 */
#ifndef NUMBERS_H
#define NUMBERS_H

#include "rope.h"

enum {
    ROPE_MOST_LAYERS = 1024, /* of a model; CONFIG_MAX_LAYERS */
    ROPE_MOST_SCORES = 5,    /* score methods at a time */
    ROPE_FILE_NAME = 400     /* bytes of a file's name in a spec, its 0 included */
};

/* Of methods that change distances: what relative.c's keys of these names say, whose formulas have their letters.
 * Lengths are in positions. Only the row's own are set. */
typedef struct {
    int64_t window;          /* W: nearer keys stay as they are; string's: the least distance of those that come nearer.
                              * R, L: keys seen */
    int64_t group;           /* self-extend, G: positions that count as one */
    int64_t chunk, local;    /* dca: C, W. infllm: local is N, the last keys */
    int64_t shift;           /* string, S */
    int64_t keep, init;      /* the first keys, always seen: sinks' S, lm-infinite's G; infllm's */
    int64_t block, top;      /* infllm: keys of a block; blocks seen */
    int64_t representatives; /* .. keys that stand for a block */
    int64_t every;           /* .. queries that choose blocks together */
    int64_t at, skip;        /* ms-poe: heads are ranked when so many ids are read; first layers, left as they are */
    double leak;             /* leaky, K: how many times slower distances grow */
    double magnitude;        /* dca: on cos and sin; 0: 1 */
    double min, max;         /* ms-poe: the first and the last head's divisor of positions */
    double c;                /* power, C */
    int heads;               /* of the model, no key */
} RelativeNumbers;

/* Of methods that multiply scores (scores.c). Lengths are in positions. */
typedef struct {
    double temperature;                     /* t, which divides scores */
    double ministral_beta, llama4_scale;    /* what the logarithm is multiplied by */
    int64_t log_original, ministral_original, eabf_original; /* L */
    int64_t log_always;                     /* log-n: 1: also up to L, where it makes scores smaller */
    int64_t llama4_floor;                   /* F: positions of a step */
    int64_t eabf_skip;                      /* the first layers, left as they are */
} ScoreNumbers;

/* What a file or the command line can say. HF's names stand beside ours where they differ. It owns nothing and points
 * to rows alone, so a copy is a copy. */
typedef struct RopeNumbers {
    double factor;                   /* s: how many times longer than trained; 0: not given */
    int64_t n_ctx_original;          /* L, HF original_max_position_embeddings; 0: not given */
    int64_t n_ctx_train;             /* HF max_position_embeddings; 0: not given */
    double attention_factor;         /* on cos and sin, in place of the method's own; 0: not given */
    double attention_multiplier;     /* the same beside the method's own (GGUF attn_factor with yarn); 0: not given */
    double mscale, mscale_all_dim;   /* yarn; 0: not given */
    double beta_fast, beta_slow;     /* yarn; 0: 32 and 1 */
    int64_t no_truncate;             /* yarn: 1 leaves the borders unrounded; HF truncate = false */
    double low_freq_factor, high_freq_factor; /* llama3: full turns within L at the ends of its ramp */
    double beta_0, beta_1, gamma_0, gamma_1;  /* by-parts: full turns at the ends of its two ramps */
    double power;                    /* ntk-mixed: b of exp(-a (i+1)^b) */
    double share;                    /* proportional: of the pairs that turn; HF partial_rotary_factor */
    int64_t clip_pairs, clip_hard;   /* clip: pairs that fade out; 1: they stand still */
    double scale_base;               /* xpos: positions over which a pair changes by its zeta; 0: 512 */
    int n_long, n_short;             /* longrope: entries given, d/2 each */
    double long_factor[ROPE_MAX_PAIRS], short_factor[ROPE_MAX_PAIRS]; /* divisors beyond L, and up to it */
    char long_file[ROPE_FILE_NAME], short_file[ROPE_FILE_NAME]; /* where a spec says they stand; "": elsewhere */
    int n_divisors;                  /* GGUF's rope_freqs tensor: d/2 divisors of the frequencies, or 0 */
    double divisors[ROPE_MAX_PAIRS]; /* [n_divisors] */

    int any_nope;                    /* 1: some layer does not rotate: */
    uint8_t nope[ROPE_MOST_LAYERS];  /* 1: this one */
    const struct RopeRelative *relative; /* a row of relative.c; NULL: distances as they are */
    RelativeNumbers distance;        /* of that row */
    const struct RopeScore *scores[ROPE_MOST_SCORES + 1]; /* rows of scores.c, NULL behind the last */
    ScoreNumbers score;              /* of these rows */

    int64_t n_ctx;                   /* the context that is wanted, for a factor that is not given; 0: not known */
    int64_t n_layers, n_pairs;       /* of the model: layers, d/2 */
    int none_named;                  /* 1: a spec says "none", whatever the file has */
} RopeNumbers;

/* A setting by its name in a spec. */
typedef enum {
    ROPE_NUMBER,   /* a double */
    ROPE_WHOLE,    /* an int64_t */
    ROPE_NOT,      /* an int64_t that is 1 where the spec says 0, and the other way round */
    ROPE_OPTIONAL, /* a double, not printed where it is 0 */
    ROPE_LAYERS,   /* a list of layers: nope */
    ROPE_LIST      /* d/2 doubles, or a file of them: long_factor, short_factor */
} RopeKeyKind;

typedef struct RopeKey {
    const char *name;  /* NULL behind a row's last */
    RopeKeyKind kind;
    size_t at;         /* its offset in RopeNumbers: ROPE_AT */
    double min, max;   /* both allowed */
    double usual;      /* what it is where it is not given .. */
    double (*usually)(const RopeNumbers *n); /* .. or this, where not NULL: of the keys before it, and the model's */
    const char *about; /* what it is, and in brackets what it usually is: a few words */
} RopeKey;

#define ROPE_AT(field) offsetof(RopeNumbers, field)
enum { ROPE_KEY_MOST = 1000000000 }; /* what whole numbers may be: no sum or product of two wraps */

double rope_usual_factor(const RopeNumbers *n);   /* the context wanted over the original one, at least 1 */
double rope_usual_original(const RopeNumbers *n); /* the original context, or the trained one; at least 1 */

const RopeNumbers *rope_numbers(const RopeConfig *c); /* c's own; where it has none, some that are all 0. Never NULL */

#endif
