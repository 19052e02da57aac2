/* model/session.c - one timeline: its memory, and the rule that a text's logits do not depend on how its ids came in. */
#include "llama.h"
#include "steps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Carving: each array takes the next bytes of the block, from a cache line's start on. With block NULL it only counts. */
typedef struct {
    char *block;
    size_t used;
    int overflow;
} Carver;

static void *carve(Carver *c, size_t n, size_t each) {
    size_t bytes;
    void *p = c->block ? c->block + c->used : NULL;
    if (!size_mul(n, each, &bytes) || !size_add(bytes, 63, &bytes) || !size_add(c->used, bytes & ~(size_t)63, &c->used)) c->overflow = 1;
    return p;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* Of x and xn: a RoFormer's embeddings may be wider than its layers. */
static size_t x_width(const Config *c) { return larger((size_t)c->d_model, (size_t)c->roformer.d_embed); }

/* Of what a feed-forward network's first matrix makes; a gated attention unit's holds its values and q and k as well. */
static size_t gate_width(const Config *c) {
    return c->roformer.variant == ROFORMER_GAU ? 2 * (size_t)c->d_ff + (size_t)c->head_dim : (size_t)c->d_ff;
}

/* Of what a matrix may meet. */
static size_t widest(const Config *c) {
    return larger(larger(x_width(c), (size_t)c->d_ff), (size_t)c->n_heads * (size_t)c->value_dim);
}

static void carve_linear(Session *s, Carver *k) {
    const Config *c = &s->model->config;
    size_t B = s->options.n_batch, half = (size_t)c->rope.rotary_dim / 2, rows = (size_t)linear_rows(&c->linear), D = sizeof(double);
    size_t heads = (size_t)c->n_heads, kv_heads = (size_t)c->n_kv_heads;
    LinearBatch *b = &s->batch;
    *b = (LinearBatch){.cap = B, .n_heads = c->n_heads, .n_kv_heads = c->n_kv_heads, .causal = 1};
    s->cos64 = carve(k, B * half, D);
    s->sin64 = carve(k, B * half, D);
    b->q_num = carve(k, heads * B * rows, D);
    b->q_den = carve(k, heads * B * rows, D);
    b->inverse = carve(k, heads * B, D);
    b->k_num = carve(k, kv_heads * B * rows, D);
    b->k_den = carve(k, kv_heads * B * rows, D);
    b->k_log = carve(k, kv_heads * B, D);
    b->keep = carve(k, kv_heads * B, D);
    s->chunk_doubles = s->options.chunk ? linear_chunk_scratch(s->options.chunk, rows, c->n_heads, c->n_kv_heads) : 0;
    s->chunk = carve(k, s->chunk_doubles * (size_t)s->options.threads, D);
}

static void carve_all(Session *s, Carver *k) {
    const Config *c = &s->model->config;
    size_t B = s->options.n_batch, heads = (size_t)c->n_heads, kv_heads = (size_t)c->n_kv_heads, F = sizeof(float);
    size_t hd = (size_t)c->head_dim, vd = (size_t)c->value_dim, half = (size_t)c->rope.rotary_dim / 2;
    int encoder = c->roformer.variant != ROFORMER_NONE;
    s->tokens = carve(k, B, sizeof *s->tokens);
    s->blocks = carve(k, encoder ? B : 1, sizeof *s->blocks);
    s->x = carve(k, B * x_width(c), F);
    s->xn = carve(k, B * x_width(c), F);
    s->q = carve(k, B * heads * hd, F);
    s->k = carve(k, B * kv_heads * hd, F);
    s->att = carve(k, B * heads * vd, F);
    s->v = carve(k, B * kv_heads * vd, F);
    s->gate = carve(k, B * gate_width(c), F);
    s->up = carve(k, encoder ? 0 : B * (size_t)c->d_ff, F);
    s->head = carve(k, s->options.n_logits * (size_t)c->roformer.d_embed, F);
    size_t floats = step_packed_bytes(s->model->kernels, B, widest(c), 0), blocks = s->model->min_group ? step_packed_bytes(s->model->kernels, B, widest(c), s->model->min_group) : 0;
    s->packed = carve(k, larger(floats, blocks), 1);
    s->logits = carve(k, s->options.n_logits * (size_t)c->vocab_size, F);
    if (c->linear.form) carve_linear(s, k);
    if (c->linear.form && !c->roformer.rotary_value) return;
    s->cos = carve(k, B * half, F);
    s->sin = carve(k, B * half, F);
    if (c->linear.form) return;
    s->ids = carve(k, s->options.n_ctx, sizeof *s->ids);
    s->attend_floats = (attention_scratch(s->options.cache, c->head_dim, c->value_dim) + 15) & ~(size_t)15; /* whole cache lines: no thread writes into another's */
    s->attend = carve(k, s->attend_floats * (size_t)s->options.threads, F);
}

/* 192 tokens, or as many as 32 MB of scratch hold, at least one. Float weights are turned for each batch (kernels/README.md), which
 * pays for longer ones: 512 and 96 MB. */
static size_t usual_batch(const Model *m) {
    const Config *c = &m->config;
    size_t floats = 4 * (size_t)c->d_model + 4 * (size_t)c->n_heads * (size_t)c->head_dim + 3 * (size_t)c->d_ff; /* roughly */
    if (c->linear.form) floats += 8 * (size_t)c->n_heads * (size_t)linear_rows(&c->linear); /* four features, in double */
    size_t most = m->min_group ? 192 : 512, n = ((size_t)(m->min_group ? 32 : 96) << 20) / (floats * sizeof(float));
    return n < 1 ? 1 : n < most ? n : most;
}

/* A state is a fraction of the weights that make it, but where features are many (favor+). */
static int plausible_state(const Model *m) {
    const Config *c = &m->config;
    double bytes = 8.0 * c->n_layers * c->n_kv_heads * linear_rows(&c->linear) * c->head_dim;
    return bytes < 64e6 || bytes < 16.0 * (double)m->weights.file_bytes;
}

int session_init(Session *s, const Model *m, const SessionOptions *options, char *err, size_t errlen) {
    memset(s, 0, sizeof *s);
    const Config *c = &m->config;
    s->model = m;
    if (options) s->options = *options;
    SessionOptions *o = &s->options;
    if (o->n_ctx == 0) o->n_ctx = (size_t)c->n_ctx_train;
    if (o->threads <= 0) o->threads = threads_most();
    if (o->threads > TEAM_MOST) o->threads = TEAM_MOST;
    if (o->grain == 0) o->grain = 2000000;
    s->piece_bytes = cache_second_level() / 2;
    if (o->n_batch == 0) o->n_batch = usual_batch(m);
    if (o->chunk > o->n_batch) o->n_batch = o->chunk;
    int endless = c->linear.form && c->mask == MASK_CAUSAL;
    if (endless) o->n_ctx = INT64_MAX;
    if (o->n_batch > o->n_ctx || c->mask != MASK_CAUSAL) o->n_batch = o->n_ctx;
    if (o->n_logits == 0) o->n_logits = 1;
    rope_init(&s->rope, &c->rope, 1);

    Carver count = {0};
    int layers_kept = c->mask == MASK_PADDING ? 1 : c->n_layers; /* nothing follows such a text: a layer may take the one before's place */
    if (!endless && o->n_ctx > ((size_t)1 << 32) / (size_t)o->threads) count.overflow = 1; /* widths are below 2^29: no product wraps */
    else carve_all(s, &count);
    int rc = -ENOMEM;
    if (count.overflow) base_error(err, errlen, rc, "a context of %zu is too long for this machine; give a smaller one (-c)", o->n_ctx);
    else if (c->linear.form && !plausible_state(m)) /* sizes that a file of a megabyte may claim */
        rc = base_error(err, errlen, -EINVAL, "%s: linear attention's state would take many times as much memory as the whole file", m->weights.path);
    else if (c->linear.form) rc = linear_init(&s->state, &c->linear, c->n_layers, c->n_kv_heads, err, errlen);
    else rc = cache_init(&s->cache, o->cache, layers_kept, c->n_kv_heads, c->head_dim, c->value_dim, o->n_ctx, err, errlen);
    if (rc == 0) {
        s->block = calloc(1, count.used + 63);
        if (!s->block)
            rc = base_error(err, errlen, -ENOMEM, "out of memory: %zu bytes of scratch for a context of %zu; give a smaller one (-c)", count.used, o->n_ctx);
    }
    if (rc == 0 && team_init(&s->team, o->threads)) rc = base_error(err, errlen, -ENOMEM, "out of memory for threads");
    if (rc) {
        session_free(s);
        return rc;
    }
    Carver k = {.block = (char *)(((uintptr_t)s->block + 63) & ~(uintptr_t)63)};
    carve_all(s, &k);
    s->block_bytes = k.used;
    return 0;
}

void session_free(Session *s) {
    cache_free(&s->cache);
    linear_free(&s->state);
    team_free(&s->team);
    free(s->block);
    memset(s, 0, sizeof *s);
}

size_t session_bytes(const Session *s) {
    return s->block_bytes + cache_bytes(&s->cache) + s->state.n * sizeof *s->state.S;
}

CacheType session_usual_cache(const Model *m) {
    const Config *c = &m->config;
    double floats = (double)c->n_layers * c->n_kv_heads * ((double)c->head_dim + c->value_dim) * (double)c->n_ctx_train;
    if (c->roformer.variant || m->layers[0].wk.type == TENSOR_F32) return CACHE_F32;
    return 4 * floats <= 4e6 ? CACHE_F32 : CACHE_F16; /* it stays in the processor's own caches: half of it is no faster */
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

/* What a call wants beside having its ids read. */
typedef struct {
    int last;          /* the logits of the last id, in s->logits */
    SessionEach *each; /* those of every id, one by one */
    void *arg;
    int progress;      /* to be told of it, and asked */
} Wish;

static void forward(Session *s, size_t n, size_t n_last) {
    if (s->model->config.roformer.variant) roformer_forward(s, n, n_last);
    else llama_forward(s, n, n_last);
}

void session_hand_out(Session *s, size_t t, size_t n, size_t first, SessionEach *each, void *arg) {
    size_t vocab = (size_t)s->model->config.vocab_size;
    for (size_t i = 0, rows; i < n; i += rows) {
        rows = n - i < s->options.n_logits ? n - i : s->options.n_logits;
        if (s->model->config.roformer.variant) roformer_logits(s, t + i, rows);
        else llama_logits(s, t + i, rows);
        for (size_t r = 0; r < rows; r++) each(arg, first + i + r, s->logits + r * vocab);
        memmove(s->logits, s->logits + (rows - 1) * vocab, vocab * sizeof *s->logits);
    }
}

/* The next n ids as tokens: each sees all before it, and itself. */
static void take_tokens(Session *s, const int *ids, size_t n) {
    int type = s->model->config.mask == MASK_UNILM; /* the second segment of a pair */
    for (size_t t = 0; t < n; t++)
        s->tokens[t] = (Token){.id = ids[t], .type = type, .pos = s->pos + t, .slot = s->pos + t, .end = s->pos + t + 1};
    s->blocks[0] = (Block){.n = n, .causal = 1};
    s->n_blocks = 1;
    if (s->ids) memmove(s->ids + s->pos, ids, n * sizeof *ids); /* ids may be s->ids itself */
}

/* Evaluate ids from s->pos on, a batch at a time. */
static int eval_batches(Session *s, const int *ids, size_t n, Wish wish) {
    for (size_t done = 0; done < n;) {
        size_t b = n - done < s->options.n_batch ? n - done : s->options.n_batch;
        take_tokens(s, ids + done, b);
        forward(s, b, wish.last && done + b == n);
        s->pos += b;
        if (wish.each) session_hand_out(s, 0, b, done, wish.each, wish.arg);
        done += b;
        s->has_logits = wish.each || (wish.last && done == n);
        if (done < n && wish.progress && s->options.progress && s->options.progress(s->options.progress_arg, done, n)) return -EINTR;
    }
    return 0;
}

static int eval(Session *s, const int *ids, size_t n, Wish wish, char *err, size_t errlen) {
    const Config *c = &s->model->config;
    if (n == 0) return base_error(err, errlen, -EINVAL, "no ids to evaluate");
    if (c->mask == MASK_PADDING) return base_error(err, errlen, -EINVAL, "this encoder reads a text whole, not id by id (its mask is not causal)");
    if (c->mask == MASK_UNILM && c->roformer.n_types < 2) return base_error(err, errlen, -EINVAL, "this model knows one token type only");
    if ((wish.last || wish.each) && !model_has_logits(s->model)) return base_error(err, errlen, -EINVAL, "this model has no head for logits");
    for (size_t i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= c->vocab_size)
            return base_error(err, errlen, -EINVAL, "id %d is outside the model's vocabulary of %d", ids[i], c->vocab_size);
    if (n > s->options.n_ctx - s->pos)
        return base_error(err, errlen, -ENOSPC,
                          "the context is full: %zu positions are in use, %zu more do not fit into %zu; give a longer one (-c)",
                          s->pos, n, s->options.n_ctx);
    int64_t length = (int64_t)(s->pos + n);
    if (rope_choice(&c->rope, length) != s->rope.choice) { /* other frequencies change every hidden state: read it all again */
        size_t kept = s->pos;
        rope_init(&s->rope, &c->rope, length);
        s->pos = 0;
        eval_batches(s, s->ids, kept, (Wish){0});
    }
    int rc = eval_batches(s, ids, n, wish);
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
