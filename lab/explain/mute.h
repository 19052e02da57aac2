/* lab/explain/mute.h - RoPE switched off in parts of a model: their pairs do not turn, wherever a token stands.
 *
 *     Mute mute;
 *     rc = mute_init(&mute, &model, "2,0.1.5", err, errlen);     layer 2; layer 0, head 1, pair 5
 *     TraceOptions o = {.turn = mute_turn, .turn_arg = &mute};
 *     mute_free(&mute);
 *
 * A key is turned once, for all heads that share it: so heads of one group are switched off together. */
#ifndef MUTE_H
#define MUTE_H

#include "model/probe.h"

typedef struct {
    const Model *model; /* not owned */
    uint8_t *off;       /* [n_layers, n_kv_heads, rotary_dim/2] */
    size_t n;           /* how many are off */
} Mute;

/* parts: layers L, heads L.H, pairs L.H.P with commas between, * for all of a kind; NULL: all. Errors: -ENOMEM;
 * -EINVAL (no such part). */
int mute_init(Mute *m, const Model *model, const char *parts, char *err, size_t errlen);
void mute_free(Mute *m); /* accepts a zeroed struct */
void mute_part(Mute *m, int layer, int kv_head, int pair); /* this alone */
void mute_turn(void *arg, const Session *s, int l, size_t t, size_t head, double *cos, double *sin); /* a ProbeTurn */

#endif
