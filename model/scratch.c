/* model/scratch.c - one block, carved. */
#include "scratch.h"

#include "attention/softmax.h"
#include "base/base.h"

#include <errno.h>
#include <stdlib.h>

/* Each array takes the next bytes of the block, from a cache line's start on. With block NULL it only counts. */
typedef struct {
    char *block;
    size_t used;
    int overflow;
} Carver;

static void *carve(Carver *c, size_t n, size_t each) {
    size_t bytes;
    void *p = c->block ? c->block + c->used : NULL;
    if (!size_mul(n, each, &bytes) || !size_add(bytes, 63, &bytes) || !size_add(c->used, bytes & ~(size_t)63, &c->used))
        c->overflow = 1;
    return p;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

size_t scratch_packed_bytes(const Kernels *k, size_t n, size_t d, int group) {
    return n * ((k->mat->packed_bytes(1, d, group) + 63) & ~(size_t)63);
}

static void carve_linear(Scratch *w, Carver *k, const Config *c, const ScratchSizes *z) {
    size_t B = z->n_batch, half = (size_t)c->rope.rotary_dim / 2, rows = (size_t)linear_rows(&c->linear);
    size_t heads = (size_t)c->n_heads, kv_heads = (size_t)c->n_kv_heads, D = sizeof(double);
    LinearBatch *b = &w->batch;
    *b = (LinearBatch){.cap = B, .n_heads = c->n_heads, .n_kv_heads = c->n_kv_heads};
    w->cos64 = carve(k, B * half, D);
    w->sin64 = carve(k, B * half, D);
    b->q_num = carve(k, heads * B * rows, D);
    b->q_den = carve(k, heads * B * rows, D);
    b->inverse = carve(k, heads * B, D);
    b->k_num = carve(k, kv_heads * B * rows, D);
    b->k_den = carve(k, kv_heads * B * rows, D);
    b->k_log = carve(k, kv_heads * B, D);
    b->keep = carve(k, kv_heads * B, D);
    w->chunk_doubles = z->chunk_doubles;
    w->chunk = carve(k, z->chunk_doubles * (size_t)z->threads, D);
}

static void carve_all(Scratch *w, Carver *k, const Model *m, const ScratchSizes *z) {
    const Config *c = &m->config;
    size_t B = z->n_batch, heads = (size_t)c->n_heads, kv_heads = (size_t)c->n_kv_heads, F = sizeof(float);
    size_t hd = (size_t)c->head_dim, vd = (size_t)c->value_dim, half = (size_t)c->rope.rotary_dim / 2;
    size_t width = larger((size_t)c->d_model, (size_t)c->d_embed);      /* of x */
    size_t widest = larger(larger(width, (size_t)c->d_ff), heads * vd); /* of what a matrix meets */
    size_t floats = scratch_packed_bytes(m->kernels, B, widest, 0);
    size_t blocks = m->min_group ? scratch_packed_bytes(m->kernels, B, widest, m->min_group) : 0;
    w->tokens = carve(k, B, sizeof *w->tokens);
    w->x = carve(k, B * width, F);
    w->xn = carve(k, B * width, F);
    w->q = carve(k, B * heads * hd, F);
    w->k = carve(k, B * kv_heads * hd, F);
    w->att = carve(k, B * heads * vd, F);
    w->v = carve(k, B * kv_heads * vd, F);
    w->gate = carve(k, B * (size_t)c->ff_rows, F);
    w->up = carve(k, m->layers[0].w_gate.data ? B * (size_t)c->d_ff : 0, F);
    w->head = carve(k, z->n_logits * (size_t)c->roformer.head_width, F);
    w->packed = carve(k, larger(floats, blocks), 1);
    w->logits = carve(k, z->n_logits * (size_t)c->vocab_size, F);
    if (c->linear.form) carve_linear(w, k, c, z);
    if (c->linear.form && !c->rotary_value) return;
    w->cos = carve(k, B * half, F);
    w->sin = carve(k, B * half, F);
    if (c->linear.form) return;
    w->ids = carve(k, z->n_ctx, sizeof *w->ids);
    w->attend_floats = whole_lanes(attention_scratch(z->cache, c->head_dim, c->value_dim)); /* of 16: cache lines */
    w->attend = carve(k, w->attend_floats * (size_t)z->threads, F);
}

int scratch_init(Scratch **out, const Model *m, const ScratchSizes *z, char *err, size_t errlen) {
    Scratch counted = {0}, *w;
    Carver k = {0};
    *out = NULL;
    carve_all(&counted, &k, m, z);
    if (k.overflow || !size_add(k.used, 63, &counted.bytes))
        return base_error(err, errlen, -ENOMEM,
                          "a context of %zu is too long for this machine; give a smaller one (-c)", z->n_ctx);
    w = calloc(1, sizeof *w);
    if (w) w->block = calloc(1, counted.bytes);
    if (!w || !w->block || team_init(&w->team, z->threads)) {
        if (w) free(w->block);
        free(w);
        return base_error(err, errlen, -ENOMEM,
                          "out of memory: %zu bytes of scratch for a context of %zu; give a smaller one (-c)",
                          counted.bytes, z->n_ctx);
    }
    k = (Carver){.block = (char *)(((uintptr_t)w->block + 63) & ~(uintptr_t)63)};
    carve_all(w, &k, m, z);
    w->bytes = counted.bytes;
    w->piece_bytes = cache_second_level() / 2;
    *out = w;
    return 0;
}

void scratch_free(Scratch *w) {
    if (!w) return;
    team_free(&w->team);
    free(w->block);
    free(w);
}
