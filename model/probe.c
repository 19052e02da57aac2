/* model/probe.c - attention with a window in it (probe.h). It lets q and k come as they are, copies them, rotates them
 * as the forward pass would have, and hands on to the attention of the program. */
#include "probe.h"

#include "base/base.h"
#include "past.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static Probe *probe(const Session *s) { return (Probe *)(uintptr_t)s->options.attention; }

int probe_turns(const Session *s) { return !s->model->config.linear.form && !s->past->stretch; }

static int init(Session *s, char *err, size_t errlen) {
    Probe *p = probe(s);
    const Config *c = &s->model->config;
    if (c->decoder)
        return base_error(err, errlen, -EINVAL, "a look into attention is not known for %s, whose layers are not "
                          "LLaMA's", c->arch);
    int rc = attention_tiles.init(s, err, errlen);
    if (rc) return rc;
    if (p->turn && s->past->stretch)
        return base_error(err, errlen, -EINVAL, "angles cannot be changed where a method rewrites distances");
    s->rotates = 1;
    size_t B = s->options.n_batch, d = (size_t)c->head_dim;
    p->q = calloc(B * (size_t)c->n_heads, d * sizeof *p->q);
    p->k = calloc(B * (size_t)c->n_kv_heads, d * sizeof *p->k);
    return p->q && p->k ? 0 : base_error(err, errlen, -ENOMEM, "out of memory");
}

static void free_all(Session *s) {
    Probe *p = probe(s);
    attention_tiles.free(s);
    free(p->q);
    free(p->k);
    p->q = p->k = NULL;
}

/* Head h of token t by the angles of its position, as turn changes them. */
static void rotate(Session *s, int l, size_t t, size_t h, float *x) {
    const RopeConfig *rope = &s->model->config.rope;
    Probe *p = probe(s);
    size_t half = (size_t)rope->rotary_dim / 2;
    double cos[ROPE_MAX_PAIRS], sin[ROPE_MAX_PAIRS];
    float c[ROPE_MAX_PAIRS], r[ROPE_MAX_PAIRS];
    const Scratch *w = s->scratch;
    if (!p->turn) { /* the batch's own, which step_angles_nowait has made */
        if (s->model->config.linear.form) attend_features(s, t, h, w->cos64 + t * half, w->sin64 + t * half);
        else s->model->kernels->vec->rotate(x, w->cos + t * half, w->sin + t * half, rope->rotary_dim, rope->pairing);
        return;
    }
    rope_row64(&s->rope, (int64_t)s->scratch->tokens[t].pos, cos, sin);
    p->turn(p->turn_arg, s, l, t, h, cos, sin);
    if (s->model->config.linear.form) {
        attend_features(s, t, h, cos, sin);
        return;
    }
    for (size_t i = 0; i < half; i++) c[i] = (float)cos[i], r[i] = (float)sin[i];
    s->model->kernels->vec->rotate(x, c, r, rope->rotary_dim, rope->pairing);
}

static void attend(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    Scratch *w = s->scratch;
    Probe *p = probe(s);
    size_t d = (size_t)c->head_dim, heads = (size_t)c->n_heads, kv = (size_t)c->n_kv_heads;
    for (Share i = team_share(&w->team, n * (heads + kv)); i.at < i.end; i.at++) { /* who wrote them: llama.c */
        size_t t = i.at / (heads + kv), h = i.at % (heads + kv);
        size_t at = (h < heads ? t * heads + h : t * kv + h - heads) * d;
        float *x = (h < heads ? w->q : w->k) + at;
        memcpy((h < heads ? p->q : p->k) + at, x, d * sizeof *x);
        if (!s->past->stretch) rotate(s, l, t, h, x);
    }
    if (c->linear.form) {
        team_wait(&w->team);
        attend_sums(s, l, n);
    } else attention_tiles.attend(s, l, n);
    if (!p->see) return;
    if (team_member() == 0) p->see(p->arg, s, l, n);
    team_wait(&w->team);
}

void probe_init(Probe *p, void *arg, ProbeSee see, ProbeTurn turn) {
    *p = (Probe){.attention = {init, free_all, attend, attention_tiles.begin}, .arg = arg,
                 .turn_arg = arg, .see = see, .turn = turn};
}
