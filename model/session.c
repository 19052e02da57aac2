/* model/session.c - one timeline: its memory, and the rule that a text's logits do not depend on how its ids came in.
 */
#include "session.h"

#include "family.h"
#include "scratch.h"

#include <errno.h>
#include <string.h>

/* 192 tokens, or as many as 32 MB of scratch hold, at least one. Float weights are transposed for each batch
 * (kernels/README.md), which pays for longer ones: 512 and 96 MB. */
static size_t usual_batch(const Model *m) {
    const Config *c = &m->config;
    size_t heads = (size_t)c->n_heads * (size_t)c->head_dim;
    size_t floats = 4 * (size_t)c->d_model + 4 * heads + 3 * (size_t)c->d_ff; /* roughly */
    if (c->linear.form)
        floats += 8 * (size_t)c->n_heads * (size_t)linear_rows(&c->linear); /* four features, in double */
    size_t most = m->min_group ? 192 : 512, n = ((size_t)(m->min_group ? 32 : 96) << 20) / (floats * sizeof(float));
    return n < 1 ? 1 : n < most ? n : most;
}

/* Options as in force: no zeroes left. */
static void settle(SessionOptions *o, const Model *m) {
    const Config *c = &m->config;
    int causal = c->mask == MASK_CAUSAL;
    if (c->linear.form && causal) o->n_ctx = INT64_MAX; /* it has no end */
    if (o->n_ctx == 0) o->n_ctx = (size_t)c->n_ctx_train;
    if (o->threads <= 0) o->threads = threads_most();
    if (o->threads > TEAM_MOST) o->threads = TEAM_MOST;
    if (o->grain == 0) o->grain = 2000000;
    if (!o->chunks) o->chunk = 0;
    if (o->n_batch == 0) o->n_batch = usual_batch(m);
    if (o->chunk > o->n_batch) o->n_batch = o->chunk;
    if (o->n_batch > o->n_ctx || !causal) o->n_batch = o->n_ctx;
    if (o->n_logits == 0) o->n_logits = 1;
}

/* A state is a fraction of the weights that make it, but where features are many (favor+): sizes that a file of a
 * megabyte may claim. */
static int plausible_state(const Model *m) {
    const Config *c = &m->config;
    double bytes = 8.0 * c->n_layers * c->n_kv_heads * linear_rows(&c->linear) * c->head_dim;
    return bytes < 64e6 || bytes < 16.0 * (double)m->weights.file_bytes;
}

static int init_past(Session *s, char *err, size_t errlen) {
    const Config *c = &s->model->config;
    int layers = c->mask == MASK_PADDING
                     ? 1
                     : c->n_layers; /* nothing follows such a text: a layer may take the last one's place */
    if (!c->linear.form)
        return cache_init(&s->cache, s->options.cache, layers, c->n_kv_heads, c->head_dim, c->value_dim,
                          s->options.n_ctx, err, errlen);
    if (!plausible_state(s->model))
        return base_error(err, errlen, -EINVAL,
                          "%s: linear attention's state would take many times as much memory as the whole file",
                          s->model->weights.path);
    return linear_init(&s->state, &c->linear, c->n_layers, c->n_kv_heads, err, errlen);
}

int session_init(Session *s, const Model *m, const SessionOptions *options, char *err, size_t errlen) {
    memset(s, 0, sizeof *s);
    s->model = m;
    if (options) s->options = *options;
    SessionOptions *o = &s->options;
    settle(o, m);
    rope_init(&s->rope, &m->config.rope, 1);
    const Config *c = &m->config;
    ScratchSizes z = {
        .n_ctx = o->n_ctx, .n_batch = o->n_batch, .n_logits = o->n_logits, .threads = o->threads, .cache = o->cache};
    if (o->chunk)
        z.chunk_doubles = o->chunks->scratch(o->chunk, (size_t)linear_rows(&c->linear), c->n_heads, c->n_kv_heads);
    int endless = c->linear.form && c->mask == MASK_CAUSAL, rc;
    if (!endless && o->n_ctx > ((size_t)1 << 32) / (size_t)o->threads) /* widths are below 2^29: no product wraps */
        rc = base_error(err, errlen, -ENOMEM, "a context of %zu is too long for this machine; give a smaller one (-c)",
                        o->n_ctx);
    else rc = init_past(s, err, errlen);
    if (rc == 0) rc = scratch_init(&s->scratch, m, &z, err, errlen);
    if (rc) {
        session_free(s);
        return rc;
    }
    o->threads = s->scratch->team.most;
    s->ids = s->scratch->ids;
    s->logits = s->scratch->logits;
    return 0;
}

void session_free(Session *s) {
    cache_free(&s->cache);
    linear_free(&s->state);
    scratch_free(s->scratch);
    memset(s, 0, sizeof *s);
}

size_t session_bytes(const Session *s) {
    return s->scratch->bytes + cache_bytes(&s->cache) + s->state.n * sizeof *s->state.S;
}

CacheType session_usual_cache(const Model *m) {
    const Config *c = &m->config;
    double floats = (double)c->n_layers * c->n_kv_heads * ((double)c->head_dim + c->value_dim) * (double)c->n_ctx_train;
    if (m->encoder || m->layers[0].wk.type == TENSOR_F32) return CACHE_F32;
    return 4 * floats <= 4e6 ? CACHE_F32
                             : CACHE_F16; /* it stays in the processor's own caches: half of it is no faster */
}

void session_set_pos(Session *s, size_t pos) {
    s->pos = pos;
    s->has_logits = 0;
}

int session_rewind(Session *s, size_t pos) {
    if (pos >= s->pos) return 0;
    if (s->state.S && pos) return -EINVAL;
    if (s->state.S) linear_clear(&s->state);
    session_set_pos(s, pos);
    return 0;
}

/* ---- reading ids ---- */

/* What a call wants beside having its ids read. */
typedef struct {
    int last;          /* the logits of the last id, in s->logits */
    SessionEach *each; /* those of every id, one by one */
    void *arg;
    int progress;      /* to be told of it, and asked */
} Wish;

void session_hand_out(Session *s, size_t t, size_t n, size_t first, SessionEach *each, void *arg) {
    size_t vocab = (size_t)s->model->config.vocab_size;
    for (size_t i = 0, rows; i < n; i += rows) {
        rows = n - i < s->options.n_logits ? n - i : s->options.n_logits;
        s->model->config.family->logits(s, t + i, rows);
        for (size_t r = 0; r < rows; r++) each(arg, first + i + r, s->logits + r * vocab);
        memmove(s->logits, s->logits + (rows - 1) * vocab, vocab * sizeof *s->logits);
    }
}

/* The next n ids as tokens: each sees all before it, and itself. */
static void take_tokens(Session *s, const int *ids, size_t n) {
    Scratch *w = s->scratch;
    int type = s->model->config.mask == MASK_UNILM; /* the second segment of a pair */
    for (size_t t = 0; t < n; t++)
        w->tokens[t] =
            (Token){.id = ids[t], .type = type, .pos = s->pos + t, .slot = s->pos + t, .end = s->pos + t + 1};
    w->blocks[0] = (Block){.n = n, .causal = 1};
    w->n_blocks = 1;
    if (s->ids) memmove(s->ids + s->pos, ids, n * sizeof *ids); /* ids may be s->ids itself */
}

/* Evaluate ids from s->pos on, a batch at a time. */
static int eval_batches(Session *s, const int *ids, size_t n, Wish wish) {
    for (size_t done = 0; done < n;) {
        size_t b = n - done < s->options.n_batch ? n - done : s->options.n_batch;
        take_tokens(s, ids + done, b);
        s->model->config.family->forward(s, b, wish.last && done + b == n);
        s->pos += b;
        if (wish.each) session_hand_out(s, 0, b, done, wish.each, wish.arg);
        done += b;
        s->has_logits = wish.each || (wish.last && done == n);
        if (done < n && wish.progress && s->options.progress && s->options.progress(s->options.progress_arg, done, n))
            return -EINTR;
    }
    return 0;
}

static int check(const Session *s, const int *ids, size_t n, Wish wish, char *err, size_t errlen) {
    const Config *c = &s->model->config;
    if (n == 0) return base_error(err, errlen, -EINVAL, "no ids to evaluate");
    if (c->mask == MASK_PADDING)
        return base_error(err, errlen, -EINVAL,
                          "this encoder reads a text whole, not id by id (its mask is not causal)");
    if (c->mask == MASK_UNILM && c->roformer.n_types < 2)
        return base_error(err, errlen, -EINVAL, "this model knows one token type only");
    if ((wish.last || wish.each) && !s->model->has_logits)
        return base_error(err, errlen, -EINVAL, "this model has no head for logits");
    for (size_t i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= c->vocab_size)
            return base_error(err, errlen, -EINVAL, "id %d is outside the model's vocabulary of %d", ids[i],
                              c->vocab_size);
    if (n > s->options.n_ctx - s->pos)
        return base_error(
            err, errlen, -ENOSPC,
            "the context is full: %zu positions are in use, %zu more do not fit into %zu; give a longer one (-c)",
            s->pos, n, s->options.n_ctx);
    return 0;
}

static int eval(Session *s, const int *ids, size_t n, Wish wish, char *err, size_t errlen) {
    int rc = check(s, ids, n, wish, err, errlen);
    if (rc) return rc;
    const RopeConfig *rope = &s->model->config.rope;
    int64_t length = (int64_t)(s->pos + n);
    /* other frequencies change every hidden state: read it all again */
    if (rope_choice(rope, length) != s->rope.choice) {
        size_t kept = s->pos;
        rope_init(&s->rope, rope, length);
        s->pos = 0;
        eval_batches(s, s->ids, kept, (Wish){0});
    }
    rc = eval_batches(s, ids, n, wish);
    return rc ? base_error(err, errlen, rc, "interrupted") : 0;
}

int session_eval(Session *s, const int *ids, size_t n, const float **logits, char *err, size_t errlen) {
    int rc = eval(s, ids, n, (Wish){.last = logits != NULL, .progress = 1}, err, errlen);
    if (logits) *logits = rc ? NULL : s->logits;
    return rc;
}

int session_eval_each(Session *s, const int *ids, size_t n, SessionEach *each, void *arg, char *err, size_t errlen) {
    return eval(s, ids, n, (Wish){.each = each, .arg = arg, .progress = 1}, err, errlen);
}
