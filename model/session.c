/* model/session.c - one timeline: its memory, and the rule that logits do not depend on how the ids came in. */
#include "session.h"

#include "base/base.h"
#include "family.h"
#include "scratch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* 192 tokens, or as many as 32 MB of scratch hold, at least one. Float weights are transposed for each batch
 * (kernels/README.md), which pays for longer ones: 512 and 96 MB. */
static size_t usual_batch(const Model *m) {
    const Config *c = &m->config;
    size_t features = c->linear.form ? (size_t)linear_rows(&c->linear) : 0;
    uint64_t heads = (uint64_t)c->n_heads; /* many of them with many features: 32 bits do not hold it */
    uint64_t floats = 4 * (size_t)c->d_model + heads * (4 * (size_t)c->head_dim + 8 * features) + 3 * (size_t)c->d_ff;
    uint64_t most = m->min_group ? 192 : 512, bytes = (uint64_t)(m->min_group ? 32 : 96) << 20;
    uint64_t n = bytes / (floats * sizeof(float));
    return n < 1 ? 1 : (size_t)(n < most ? n : most);
}

/* Options as in force: no zeroes left. */
static void settle(SessionOptions *o, const Model *m, int causal, int endless) {
    if (endless) o->n_ctx = SIZE_MAX / 2;
    if (o->n_ctx == 0) o->n_ctx = (size_t)m->config.n_ctx_train;
    if (o->threads <= 0) o->threads = threads_most();
    if (o->threads > TEAM_MOST) o->threads = TEAM_MOST;
    if (o->grain == 0) o->grain = 2000000;
    if (!o->attention) o->attention = session_attention;
    if (o->n_batch == 0) o->n_batch = usual_batch(m);
    if (o->n_batch > o->n_ctx || !causal) o->n_batch = o->n_ctx;
    if (o->n_logits == 0) o->n_logits = 1;
}

/* ---- the scratch ---- */

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static void carve_all(Carver *k, Session *s) {
    const Model *m = s->model;
    const Config *c = &m->config;
    const SessionOptions *o = &s->options;
    Scratch *w = s->scratch;
    uint64_t B = o->n_batch; /* B times a width may be more than 32 bits hold: scratch_carve looks */
    size_t heads = (size_t)c->n_heads, kv_heads = (size_t)c->n_kv_heads, F = sizeof(float);
    size_t hd = (size_t)c->head_dim, vd = (size_t)c->value_dim, half = (size_t)c->rope.rotary_dim / 2;
    size_t width = larger((size_t)c->d_model, (size_t)c->d_embed);      /* of x */
    size_t widest = larger(larger(width, (size_t)c->d_ff), heads * vd); /* of what a matrix meets */
    if (c->family->carve) widest = larger(widest, c->family->carve(k, s));
    size_t floats = scratch_packed_bytes(m->kernels, widest, 0);
    size_t blocks = m->min_group ? scratch_packed_bytes(m->kernels, widest, m->min_group) : 0;
    w->tokens = scratch_carve(k, B, sizeof *w->tokens);
    w->x = scratch_carve(k, B * width, F);
    w->xn = scratch_carve(k, B * width, F);
    w->q = scratch_carve(k, B * heads * hd, F);
    w->k = scratch_carve(k, B * larger(kv_heads * hd, (size_t)c->kv_most), F);
    w->att = scratch_carve(k, B * heads * vd, F);
    w->v = scratch_carve(k, B * larger(kv_heads * vd, (size_t)c->kv_most), F);
    w->gate = scratch_carve(k, B * (size_t)c->ff_rows, F);
    w->up = scratch_carve(k, c->roformer.variant ? 0 : B * (size_t)c->ff_rows, F);
    w->head = scratch_carve(k, o->n_logits * (uint64_t)c->roformer.head_width, F);
    w->packed = scratch_carve(k, B * larger(floats, blocks), 1);
    s->logits = scratch_carve(k, o->n_logits * (uint64_t)c->vocab_size, F);
    if (c->linear.form) {
        w->cos64 = scratch_carve(k, B * half, sizeof *w->cos64);
        w->sin64 = scratch_carve(k, B * half, sizeof *w->sin64);
    } else s->ids = scratch_carve(k, o->n_ctx, sizeof *s->ids);
    if (c->linear.form && !c->rotary_value) return;
    w->cos = scratch_carve(k, B * half, F);
    w->sin = scratch_carve(k, B * half, F);
}

static int init_scratch(Session *s, char *err, size_t errlen) {
    Scratch *w = s->scratch = calloc(1, sizeof *w);
    Carver k = {0};
    if (w) carve_all(&k, s);
    if (k.overflow || !size_add(k.used, 63, &k.used))
        return base_error(err, errlen, -ENOMEM,
                          "a context of %zu is too long for this machine; give a smaller one (-c)", s->options.n_ctx);
    if (!w || !(w->block = calloc(1, w->bytes = k.used)) || team_init(&w->team, s->options.threads))
        return base_error(err, errlen, -ENOMEM,
                          "out of memory: %zu bytes of scratch for a context of %zu; give a smaller one (-c)", k.used,
                          s->options.n_ctx);
    k = (Carver){.block = (char *)(((uintptr_t)w->block + 63) & ~(uintptr_t)63)};
    carve_all(&k, s);
    w->piece_bytes = cache_second_level() / 2;
    s->options.threads = w->team.most;
    return 0;
}

/* ---- a session ---- */

int session_init(Session *s, const Model *m, const SessionOptions *options, char *err, size_t errlen) {
    const Config *c = &m->config;
    *s = (Session){.model = m};
    if (options) s->options = *options;
    SessionOptions *o = &s->options;
    int causal = c->mask == MASK_CAUSAL, endless = c->linear.form && causal, rc;
    settle(o, m, causal, endless);
    rope_init(&s->rope, &c->rope, 1);
    if (!endless && o->n_ctx > ((uint64_t)1 << 31) / (size_t)o->threads) /* widths are below 2^29: 64 bits hold it */
        rc = base_error(err, errlen, -ENOMEM, "a context of %zu is too long for this machine; give a smaller one (-c)",
                        o->n_ctx);
    else rc = o->attention->init(s, err, errlen);
    if (rc == 0) rc = init_scratch(s, err, errlen); /* for the batch that attention has left */
    if (rc) session_free(s);
    return rc;
}

void session_free(Session *s) {
    if (s->options.attention) s->options.attention->free(s);
    if (s->scratch) {
        team_free(&s->scratch->team);
        free(s->scratch->block);
    }
    free(s->scratch);
    memset(s, 0, sizeof *s);
}

CacheType session_usual_cache(const Model *m) {
    const Config *c = &m->config;
    double floats = (double)c->n_layers * c->n_kv_heads * ((double)c->head_dim + c->value_dim) * (double)c->n_ctx_train;
    int f32 = (m->layers->wk.data ? m->layers->wk : m->layers->wo).type == TENSOR_F32; /* a delta net has no keys */
    return m->encoder || f32 || 4 * floats <= 4e6 ? CACHE_F32 : CACHE_F16; /* small, it stays near: half gains none */
}

/* ---- reading ids ---- */

void session_batch(Session *s, const int *ids, size_t n, size_t n_last) {
    Scratch *w = s->scratch;
    int type = s->model->config.mask == MASK_UNILM; /* the second segment of a pair */
    for (size_t t = 0, pos = s->pos; t < n; t++, pos++) /* each sees all before it, and itself */
        w->tokens[t] = (Token){.id = ids[t], .type = type, .pos = pos + s->options.origin, .slot = pos, .end = pos + 1};
    if (s->ids) memmove(s->ids + s->pos, ids, n * sizeof *ids); /* ids may be s->ids itself */
    s->model->config.family->forward(s, n, n_last);
    s->pos += n;
    s->has_logits = n_last > 0;
}

static int check(const Session *s, const int *ids, size_t n, int wants_logits, char *err, size_t errlen) {
    const Family *f = s->model->config.family;
    const char *why = f->refuses ? f->refuses(s->model) : NULL;
    int vocab = s->model->config.vocab_size;
    if (!why && wants_logits && !s->model->has_logits) why = "this model has no head for logits";
    if (n == 0) why = "no ids to evaluate";
    if (why) return base_error(err, errlen, -EINVAL, "%s", why);
    for (size_t i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= vocab)
            return base_error(err, errlen, -EINVAL, "id %d is outside the model's vocabulary of %d", ids[i], vocab);
    size_t places = s->model->config.n_places, at = s->options.origin + s->pos;
    if (places && (at > places || n > places - at))
        return base_error(err, errlen, -ENOSPC, "position %zu is beyond the %zu that this model has learned "
                          "(--position-extend hierarchical makes more of them)", at + n - 1, places);
    if (n > s->options.n_ctx - s->pos)
        return base_error(err, errlen, -ENOSPC,
                          "the context is full: %zu positions are in use, %zu more do not fit into %zu; give a longer "
                          "one (-c)", s->pos, n, s->options.n_ctx);
    return 0;
}

int session_begin(Session *s, const int *ids, size_t n, int wants_logits, char *err, size_t errlen) {
    int rc = check(s, ids, n, wants_logits, err, errlen);
    size_t kept = s->pos;
    const RopeConfig *rope = &s->model->config.rope;
    int again = s->ids && rope_choice(rope, (int64_t)(kept + n)) != s->rope.choice; /* no ids: nothing turns */
    if (rc == 0 && s->options.attention->begin) again |= s->options.attention->begin(s, ids, n);
    if (rc || !again) return rc;
    rope_init(&s->rope, rope, (int64_t)(kept + n));
    s->pos = 0; /* other frequencies change every hidden state: read it all again */
    while (s->pos < kept) {
        size_t b = kept - s->pos < s->options.n_batch ? kept - s->pos : s->options.n_batch;
        session_batch(s, s->ids + s->pos, b, 0);
    }
    return 0;
}

int session_progress(Session *s, size_t done, size_t total, char *err, size_t errlen) {
    const SessionOptions *o = &s->options;
    int stop = done < total && o->progress && o->progress(o->progress_arg, done, total);
    return stop ? base_error(err, errlen, -EINTR, "interrupted") : 0;
}

int session_eval(Session *s, const int *ids, size_t n, const float **logits, char *err, size_t errlen) {
    int rc = session_begin(s, ids, n, logits != NULL, err, errlen);
    for (size_t done = 0, b; rc == 0 && done < n; done += b) {
        b = n - done < s->options.n_batch ? n - done : s->options.n_batch;
        session_batch(s, ids + done, b, logits && done + b == n);
        rc = session_progress(s, done + b, n, err, errlen);
    }
    if (logits) *logits = rc ? NULL : s->logits;
    return rc;
}
