/* model/probe.h - a window into the forward pass: what each layer's attention is given and what it gives, and the right
 * to turn q and k by other angles than the model's own.
 *
 *     Probe probe;
 *     probe_init(&probe, &mine, see, NULL);
 *     session_init(&s, &model, &(SessionOptions){.attention = &probe.attention}, err, sizeof err);
 *     session_eval(..)                  see(&mine, &s, l, n) comes n_layers times for each batch
 *
 * A session made with a probe that turns nothing computes the same bits as one without; a session without pays nothing
 * for it. */
#ifndef PROBE_H
#define PROBE_H

#include "scratch.h"
#include "session.h"

/* Behind layer l's attention of n tokens: one thread calls it, the others wait. Of s->scratch it may read tokens, x
 * (the residual that came into the layer), v, att, and q, k: rotated, if probe_turns(s); else as they were (linear
 * attention, whose features are rotated instead, and methods that rewrite distances). Nothing may be kept: the next
 * layer writes there. */
typedef void (*ProbeSee)(void *arg, const Session *s, int l, size_t n);
/* cos, sin [rotary_dim/2] are those of token t's position: make others of them for this head of layer l. Heads
 * 0 .. n_heads-1 are queries, behind them n_kv_heads keys. Any thread, in any order. */
typedef void (*ProbeTurn)(void *arg, const Session *s, int l, size_t t, size_t head, double *cos, double *sin);

typedef struct Probe {
    Attention attention; /* what the session is made with; the probe must outlive it, and not move */
    void *arg, *turn_arg; /* see's, turn's */
    ProbeSee see;   /* NULL: nobody looks */
    ProbeTurn turn; /* NULL: as the model says */
    float *q, *k;   /* [n_batch, n_heads*head_dim], [n_batch, n_kv_heads*head_dim]: this layer's, before rotation */
} Probe;

/* A session made with it is refused (-EINVAL) where turn is given and the model's RoPE rewrites distances: there each
 * key has several angles. */
void probe_init(Probe *p, void *arg, ProbeSee see, ProbeTurn turn); /* arg: of both */
/* 1: scratch's q and k are rotated when see comes. */
int probe_turns(const Session *s);

#endif
