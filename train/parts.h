/* train/parts.h - the parts of a forward pass and their gradients, for a batch of n tokens at once: [n, d] matrices of
 * floats, a row a token. A gradient of y is called dy: how much the loss grows with each entry of y.
 *
 * All threads of a team call each (work.h). dx is written, unless a name says _add; gradients of parameters (Param.g)
 * are always added to. README.md derives each. None can fail. */
#ifndef PARTS_H
#define PARTS_H

#include "params.h"
#include "rope/rope.h"
#include "work.h"

/* y [n, w->rows] = or += x [n, w->cols] w^T + b; b may be NULL. */
void linear_forward(Work *k, float *y, int add, const float *x, const Param *w, const Param *b, size_t n);
/* And back, of maps of one x: dx [n, w->cols] = or += dy w of each; w->g += dy^T x, b->g += the sum of dy's rows. */
typedef struct {
    const float *dy;
    const Param *w, *b;
} Mapped;
enum { MAPS_MOST = 3 }; /* n_maps, at most */
void linear_backward(Work *k, float *dx, int add, const float *x, const Mapped *maps, size_t n_maps, size_t n);

/* y = x / sqrt(mean(x^2) + eps) * w, row by row. */
void rmsnorm_forward(Work *k, float *y, const float *x, const Param *w, size_t n, float eps);
void rmsnorm_backward_add(Work *k, float *dx, const float *dy, const float *x, const Param *w, size_t n, float eps);
/* y = (x - mean) / sqrt(variance + eps) * w + b, row by row. */
void layernorm_forward(Work *k, float *y, const float *x, const Param *w, const Param *b, size_t n, float eps);
void layernorm_backward(Work *k, float *dx, const float *dy, const float *x, const Param *w, const Param *b, size_t n,
                        float eps);

/* RoPE of n tokens in texts of `length`: token t stands at position t % length, whose row of cos, sin [length, half]
 * it takes. back: by the negative angle, which is what a gradient wants, R being orthogonal. x [n, heads, head_dim]. */
typedef struct {
    const float *cos, *sin;      /* [length, rotary_dim / 2] */
    const float *grow[2];        /* the same: what a query's pair is multiplied by behind its rotation, and a key's;
                                  * NULL: nothing (xPos has it) */
    size_t length, head_dim;
    int rotary_dim;
    RopePairing pairing;
} Turning;
typedef enum { TURNS_QUERY, TURNS_KEY } TurningSide;
void rotate_heads(Work *k, float *x, const Turning *r, TurningSide side, size_t n, size_t heads, int back);
/* How the loss grows with each pair's frequency: g [rotary_dim / 2] += sum over tokens and heads of
 * position * (y x dy), y the rotated pair, dy its gradient, x the cross product. */
void rotate_frequencies(Work *k, double *g, const float *y, const float *dy, const Turning *r, size_t n, size_t heads);

/* h = silu(gate) * up; dgate, dup from dh (they may be where gate and up are not). [n] numbers. */
void swiglu_forward(Work *k, float *h, const float *gate, const float *up, size_t n);
void swiglu_backward(Work *k, float *dgate, float *dup, const float *dh, const float *gate, const float *up, size_t n);
/* h = x Phi(x); dx from dh, which dx may be. */
void gelu_forward(Work *k, float *h, const float *x, size_t n);
void gelu_backward(Work *k, float *dx, const float *dh, const float *x, size_t n);

/* x [n, d] = rows ids[t] of the table; and the table's gradient. */
void embedding_forward(Work *k, float *x, const int *ids, const Param *table, size_t n);
void embedding_backward(Work *k, const float *dx, const int *ids, const Param *table, size_t n);

/* -log softmax(x w^T + b)[target] of tokens with target[t] >= 0; loss [n] gets each one's (0 where there is none),
 * right [n] 1 where no other id had a larger logit, dx [n, d] the gradient of their sum divided by `total`, w->g and
 * b->g theirs; b may be NULL. dx NULL: the loss alone. room [LOSS_ROWS, d + rows of w]. A softmax's gradient is p - (1
 * at the target): LOSS_ROWS tokens' logits at a time are all that is ever held. */
enum { LOSS_ROWS = 256 };
void loss_of(Work *k, double *loss, uint8_t *right, float *dx, const float *x, const int *targets, const Param *w,
             const Param *b, size_t n, size_t total, float *room);
/* What they need, in floats (work.h). */
void parts_reserve(Work *k, size_t n, size_t d);

#endif
