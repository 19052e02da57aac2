/* model/shift.c - see shift.h. */
#include "shift.h"

#include "attention/cache_bytes.h"
#include "base/base.h"
#include "model/layers/layers.h"
#include "past.h"
#include "rope/positions.h"
#include "rope/relative.h"
#include "rope/scaling.h"
#include "scratch.h"

#include <errno.h>
#include <string.h>

int session_can_shift(const Model *m, size_t keep, size_t n_ctx, char *err, size_t errlen) {
    const Config *c = &m->config;
    const RopeNumbers *n = rope_numbers(&c->rope);
    if (c->linear.form)
        return base_error(err, errlen, -EINVAL, "linear attention has no context to fill: nothing to shift");
    if (c->mask != MASK_CAUSAL || m->encoder)
        return base_error(err, errlen, -EINVAL, "this model does not read from left to right: nothing to shift");
    const char *has = c->decoder ? layers_unstretched(c, n) : NULL;
    if (c->decoder && layers_turn_apart(c)) has = "layers with a RoPE of their own"; /* whose keys it would move */
    if (has) return base_error(err, errlen, -EINVAL, "this model has %s, for which a shift is not known", has);
    if (c->place)
        return base_error(err, errlen, -EINVAL, "this model's positions are %s, and stand in what was read: what a "
                          "shift keeps would keep its old ones", position_kind_of(c->positions)->name);
    if (c->rope.scaling->choice || c->rope.scaling->method->each)
        return base_error(err, errlen, -EINVAL,
                          "rope %s follows the length of a text, which a shift would make shorter; "
                          "name another method (--rope)",
                          c->rope.scaling->name);
    if (n->relative && n->relative->chooses != ROPE_BY_POSITION)
        return base_error(err, errlen, -EINVAL,
                          "rope %s depends on all that was read, of which a shift drops a part; name "
                          "another method (--rope)",
                          n->relative->name);
    if (n_ctx < 2 || keep > n_ctx - 2)
        return base_error(err, errlen, -EINVAL, "a context of %zu that keeps %zu has nothing to drop", n_ctx, keep);
    return 0;
}

/* Keys lie in groups of lanes, and values of bytes as well, so each slot goes by itself. */
static void move_head(Session *s, int l, int h, size_t to, size_t from, size_t end) {
    KVCache *c = &s->past->cache;
    for (size_t slot = from; slot < end; slot++)
        for (int values = 0; values < 2; values++) {
            cache_get(c, l, h, slot, values, s->scratch->k);
            cache_put(c, l, h, to + slot - from, values, s->scratch->k);
        }
}

void session_shift(Session *s, size_t keep) {
    const KVCache *c = &s->past->cache;
    size_t dropped = (s->options.n_ctx - keep) / 2, from = keep + dropped;
    for (int l = 0; l < c->n_layers; l++)
        for (int h = 0; h < c->n_kv_heads; h++) move_head(s, l, h, keep, from, s->pos);
    memmove(s->ids + keep, s->ids + from, (s->pos - from) * sizeof *s->ids);
    s->pos -= dropped;
    s->past->upto = s->pos;
}

int session_eval_shifting(Session *s, size_t keep, const int *ids, size_t n, const float **logits, char *err,
                          size_t errlen) {
    if (logits) *logits = NULL;
    for (size_t room; n > (room = s->options.n_ctx - s->pos); ids += room, n -= room) {
        int rc = room ? session_eval(s, ids, room, NULL, err, errlen) : 0;
        if (rc) return rc;
        if (!s->past->stretch)
            return base_error(err, errlen, -EINVAL,
                              "a context shifts where its session was made so (SessionOptions.shifts)");
        session_shift(s, keep);
    }
    return session_eval(s, ids, n, logits, err, errlen);
}
