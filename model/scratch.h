/* model/scratch.h - what a forward pass works with: a batch of tokens, the arrays it fills for them, its threads. One
 * block, taken when a session is made (session.c). */
#ifndef SCRATCH_H
#define SCRATCH_H

#include "base/threads.h"
#include "model.h"

typedef struct Session Session; /* session.h */

/* A token of a batch: where it stands, and the keys that it sees. */
typedef struct {
    int id, type;      /* type: RoFormer's token type, 0 for decoders */
    size_t pos;        /* in its text: the angle */
    size_t slot;       /* where its key and value go; TOKEN_PADDING: nowhere */
    size_t first, end; /* the slots it sees, before a layer's window */
} Token;
#define TOKEN_PADDING SIZE_MAX

/* B = n_batch, vd = value_dim: head_dim but for GAU-alpha. */
typedef struct Scratch {
    Team team;              /* the threads that compute a batch */
    Token *tokens;          /* [B] */
    float *x, *xn;          /* [B, d_model or d_embed, the wider]: residual; what is made of it, or added */
    float *q, *k;           /* [B, n_heads*head_dim], [B, n_kv_heads*head_dim] */
    float *att, *v;         /* [B, n_heads*vd], [B, n_kv_heads*vd] */
    float *gate, *up;       /* [B, ff_rows] x 2; a RoFormer has no up */
    float *head;            /* encoders: [n_logits, head_width]: the language model head's own layer */
    float *cos, *sin;       /* [B, rotary_dim/2]: each token's angles */
    double *cos64, *sin64;  /* the same in double: linear attention */
    uint8_t *packed;        /* [n_batch, scratch_packed_bytes]: activations as matmul wants them */
    size_t piece_bytes;     /* of packed activations that stay in a core's second-level cache */
    struct LayerScratch *more; /* a family's own (Family.carve) */
    void *block;            /* owns them all, and Session's ids and logits: */
    size_t bytes;
} Scratch;

/* A way to attend. */
typedef struct Attention {
    /* s->past, for s->options as settled; the scratch is not there yet, so n_batch may still grow. 0, or -ENOMEM,
     * -EINVAL and a line: free comes then, too. */
    int (*init)(Session *s, char *err, size_t errlen);
    void (*free)(Session *s);
    /* att = attention of layer l for the n tokens, from q, k, v, normalised where the model does so. Softmax: q and k
     * are rotated, by the team_share of n * (n_heads + n_kv_heads) heads; linear attention rotates their features
     * itself. Every thread of the team calls it; a step (steps.h). */
    void (*attend)(Session *s, int l, size_t n);
    /* Before n more ids: 1 where those that are kept must be read again. NULL: never. */
    int (*begin)(Session *s, const int *ids, size_t n);
} Attention;
extern const Attention attention_plain;          /* plain.c: decoders that see all of their past, eq. 19 */
extern const Attention *const session_attention; /* the program's (families.c) */

/* Arrays of one block, each from a cache line's start on. With block NULL it only counts. */
typedef struct Carver { char *block; size_t used; int overflow; } Carver;

static inline void *scratch_carve(Carver *c, uint64_t n, size_t each) { /* n: 32 bits may not hold it */
    size_t bytes;
    void *p = c->block ? c->block + c->used : NULL;
    if (n > SIZE_MAX || !size_mul((size_t)n, each, &bytes) || !size_add(bytes, 63, &bytes) ||
        !size_add(c->used, bytes & ~(size_t)63, &c->used))
        c->overflow = 1;
    return p;
}

/* The bytes that a token, no wider than d, takes packed for matrices of that group (matrix_group). */
static inline size_t scratch_packed_bytes(const Kernels *k, size_t d, int group) {
    return (k->mat->packed_bytes(1, d, group) + 63) & ~(size_t)63;
}

#endif
