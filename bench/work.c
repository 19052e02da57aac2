/* bench/work.c - counting what an evaluation reads and multiplies. */
#include "work.h"

#include "kernels/codes.h"
#include "model/layers/layers.h"
#include "model/matrices.h"
#include "model/past.h"

#include <math.h>

Work work_sum(Work a, Work b) { return (Work){a.bytes + b.bytes, a.f32 + b.f32, a.int8 + b.int8, a.int4 + b.int4}; }

double work_ops(Work w) { return w.f32 + w.int8 + w.int4; }

/* Eight products with a byte fit 16 bits. Formats that have values beside their codes (IQ4_NL) multiply by those:
 * bytes. */
static int four_bits(const BlockFormat *f) { return f && f->bits <= 4 && !f->values; }

/* The file's bytes, or of codes that take more where they are laid out (panel.h), most of all IQ1 to IQ3, those. */
static double bytes_of(const Matrix *w) {
    const BlockFormat *b = w->panels ? block_format((int)w->type) : NULL;
    if (b) {
        const QuantFormat *f = quant_format((int)w->type);
        int subs = f->block == 256 || b->mini ? f->block / b->sub : 0, bytes = f->block * b->bits / 8;
        int scales = b->mini ? subs : 2 + subs;
        return (double)w->rows * (double)w->cols / f->block * (bytes + (1 + b->minima) * scales);
    }
    double groups = w->type == TENSOR_I8_GROUPS ? (double)w->rows * (double)w->cols / w->group : 0;
    return (double)matrix_bytes(w) + groups * (double)sizeof(float);
}

/* read: the share of it that is read, 1 but for an expert. */
static void add_matrix(Work *work, const Matrix *w, double tokens, double read) {
    const QuantFormat *f = quant_format((int)w->type);
    double ops = 2 * (double)w->rows * (double)w->cols * tokens;
    if (!w->data || tokens == 0) return;
    work->bytes += bytes_of(w) * read;
    if (f->block == 1 && w->type != TENSOR_I8_GROUPS) work->f32 += ops;
    else if (four_bits(block_format(w->type))) work->int4 += ops;
    else work->int8 += ops;
}

Work work_matrices(const Model *m, size_t tokens, size_t heads) {
    Work w = {0};
    MatrixEntry e;
    const Decoder *x = m->config.decoder;
    double chosen = x && x->n_experts ? (double)x->n_used / x->n_experts : 0;
    for (size_t i = 0; model_matrix(m, i, &e); i++)
        if (e.use == USE_TOKEN || e.use == USE_HEAD)
            add_matrix(&w, e.matrix, (double)(e.use == USE_TOKEN ? tokens : heads), 1);
        else if (e.use == USE_EXPERT) /* as often as chance has it that none of the tokens chooses it */
            add_matrix(&w, e.matrix, chosen * (double)tokens, 1 - pow(1 - chosen, (double)tokens));
    w.bytes += bytes_of(&m->tok_emb) / (double)m->tok_emb.rows * (double)tokens;
    return w;
}

/* Linear attention: each head's S [rows, value_dim] takes every key in and is read by every query; it passes through
 * once. */
static Work linear_work(const Session *s, size_t n) {
    const Config *c = &s->model->config;
    double S = (double)linear_rows(&c->linear) * c->value_dim * c->n_layers;
    return (Work){.bytes = (double)(s->past->state.n * sizeof *s->past->state.S),
                  .f32 = 2 * S * (c->n_kv_heads + c->n_heads) * (double)n};
}

/* A delta net's S, read and written: each token fades it, is read from it, added to it, and reads it. */
static Work delta_work(const Decoder *x, size_t n) {
    double S = (double)x->value_heads * x->key_dim * x->value_dim;
    return (Work){.bytes = 2 * S * sizeof(float), .f32 = 7 * S * (double)n};
}

/* Pairs of a token at pos .. pos+n-1 and a position it sees; a mask that is not causal lets each of n see all n. */
static double pairs_seen(size_t pos, size_t n, size_t window, int causal) {
    double seen = 0;
    for (size_t t = pos; t < pos + n; t++) {
        size_t slots = causal ? t + 1 : n;
        seen += (double)(window && window < slots ? window : slots);
    }
    return seen;
}

Work work_attention(const Session *s, size_t pos, size_t n) {
    const Config *c = &s->model->config;
    Work w = {0};
    if (c->linear.form) return linear_work(s, n);
    for (int l = 0; l < c->n_layers; l++) {
        if (c->decoder && c->decoder->kinds[l].mixer == MIXER_DELTA) {
            w = work_sum(w, delta_work(c->decoder, n));
            continue;
        }
        size_t window = s->model->layers[l].window, slots = pos + n;
        if (window && window + n - 1 < slots) slots = window + n - 1;
        const KVCache *cache = past_cache(s, l); /* a position: keys and values of all heads, as they are read */
        double slot = (double)cache->n_kv_heads * ((double)cache->group_bytes / KEY_LANES + (double)cache->row_bytes);
        w.bytes += slot * (double)slots;
        w.f32 += 2 * (double)(cache->head_dim + cache->value_dim) * c->n_heads *
                 pairs_seen(pos, n, window, c->mask == MASK_CAUSAL);
    }
    return w;
}
