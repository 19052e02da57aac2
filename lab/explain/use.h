/* lab/explain/use.h - which frequencies a model uses: how large its pairs are, and what the loss is without each. */
#ifndef USE_H
#define USE_H

#include "mute.h"
#include "trace.h"

typedef struct {
    int layer, head, pair;  /* head: a key head, and the queries that share it */
    double inv_freq;
    double size;            /* mean over the text of |q_i| times that of |k_i|, of features where attention is linear */
    double cost;            /* loss with the pair not turning less the model's, nats a token */
} PairUse;

/* The sizes of every pair of layer l, into out [n_kv_heads, rotary_dim/2]; costs 0. t has kept the layer. */
void use_sizes(PairUse *out, const Trace *t, int l);
/* The mean loss of ids [n], n >= 2, of a causal model whose muted parts do not turn; mute NULL: as it is. Errors: those
 * of session_init, session_eval. */
int use_loss(double *loss, const Model *m, const int *ids, size_t n, Mute *mute, int threads, char *err, size_t errlen);

#endif
