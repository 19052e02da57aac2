/* lab/explain/trace.h - a text through a model once, and everything that its attention was given and gave.
 *
 *     Trace t;
 *     rc = trace_read(&t, &model, ids, n, &(TraceOptions){.threads = 2}, err, sizeof err);
 *     const float *q = trace_q(&t, layer, head, m), *rk = trace_rk(&t, layer, head / group, j);
 *     trace_weights(&t, layer, head, weights);              [n, n]
 *     trace_free(&t);
 *
 * What stands in it are the forward pass's own numbers, copied while it ran (model/probe.h); weights are computed from
 * them once more, in double. It takes trace_bytes(): for a text of 2,000 tokens and a large model gigabytes, so a layer
 * may be asked for alone. */
#ifndef TRACE_H
#define TRACE_H

#include "model/encoder.h"
#include "model/probe.h"

typedef struct {
    int threads, layer_given;
    int layer;      /* the only one kept, where layer_given */
    size_t origin;  /* position of the first id; 0 for an encoder */
    ProbeTurn turn; /* other angles, or NULL */
    void *turn_arg;
    int (*progress)(void *arg, size_t done, size_t total);
    void *progress_arg;
} TraceOptions;

typedef struct {
    const Model *model; /* not owned; must outlive it */
    Rope rope;          /* the frequencies that the text was read with */
    int *ids;           /* [n] */
    size_t n, origin;
    int first, n_layers; /* layers first .. first + n_layers - 1 are kept */
    Token *tokens;      /* [n]: pos, and the slots first .. end - 1 that each sees (before a layer's window) */
    double *nll;        /* [n]: loss of id i after those before it; NaN for the first, and where a mask shows it */
    float *logits;      /* [vocab_size] after the last id; encoders: NULL */
    /* Kept layers, by token, by head; k and v by key head. rq, rk: rotated; NULL for linear attention. */
    float *x;           /* [n_layers, n, d_model]: the residual as it comes into the layer */
    float *q, *k, *rq, *rk, *v, *att;
    /* Linear attention: features as eq. 19 has them above and below the line, [n_layers, heads, n, rows], by key head
     * for k; k_log [n_layers, n_kv_heads, n]: the logarithm of what was left out of a key's (FAVOR+), else 0. */
    double *q_num, *q_den, *k_num, *k_den, *k_log;
    size_t rows;
    double **owned;     /* all of the above */
    size_t n_owned;
} Trace;

/* The bytes that a trace of n ids takes, beside the session that reads them. */
double trace_bytes(const Model *m, size_t n, const TraceOptions *o);
/* Errors: -ENOMEM; -EINVAL (no ids, an id out of range, a RoPE whose keys are turned where they are read, by several
 * angles: rewritten distances, nope, dynamic-each); -EINTR (progress said stop); *t is zeroed then. */
int trace_read(Trace *t, const Model *m, const int *ids, size_t n, const TraceOptions *o, char *err, size_t errlen);
void trace_free(Trace *t); /* accepts a zeroed struct */

/* Vectors [head_dim] (v, att: [value_dim]) of layer l, which is kept; head h of token m, key head h of token j. */
const float *trace_q(const Trace *t, int l, int h, size_t m);
const float *trace_k(const Trace *t, int l, int h, size_t j);
const float *trace_rq(const Trace *t, int l, int h, size_t m); /* softmax only */
const float *trace_rk(const Trace *t, int l, int h, size_t j);

int trace_sees(const Trace *t, int l, size_t m, size_t j); /* does the query at m see the key at j? */
/* What its scores are multiplied by before softmax: attention_scale. */
double trace_scale(const Trace *t, int l, size_t m);
/* The weights of head h, [n, n], row m the query; NaN where it does not see. Softmax: they sum to one. Linear: what
 * eq. 19 multiplies v by; they may be negative. */
void trace_weights(const Trace *t, int l, int h, double *out);

#endif
