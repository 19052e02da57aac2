/* model/model.c - from named tensors to a Model: every expected tensor looked up, its type and shape checked. */
#include "load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The names of a layer's tensors in both worlds; %d is the layer. */
typedef enum { ATTN_NORM, FFN_NORM, Q_NORM, K_NORM, WQ, WK, WV, WO, W_GATE, W_UP, W_DOWN, N_PARTS } Part;

static const char *const part_names[2][N_PARTS] = {
    [NAMES_GGUF] = {"blk.%d.attn_norm", "blk.%d.ffn_norm", "blk.%d.attn_q_norm", "blk.%d.attn_k_norm", "blk.%d.attn_q", "blk.%d.attn_k",
                    "blk.%d.attn_v", "blk.%d.attn_output", "blk.%d.ffn_gate", "blk.%d.ffn_up", "blk.%d.ffn_down"},
    [NAMES_HF] = {"model.layers.%d.input_layernorm", "model.layers.%d.post_attention_layernorm", "model.layers.%d.self_attn.q_norm",
                  "model.layers.%d.self_attn.k_norm", "model.layers.%d.self_attn.q_proj", "model.layers.%d.self_attn.k_proj",
                  "model.layers.%d.self_attn.v_proj", "model.layers.%d.self_attn.o_proj", "model.layers.%d.mlp.gate_proj",
                  "model.layers.%d.mlp.up_proj", "model.layers.%d.mlp.down_proj"},
};

static const char *part_name(const Loader *ld, Part part, int l, const char *suffix, char *out, size_t outlen) {
    int n = snprintf(out, outlen, part_names[ld->m->config.names][part], l);
    snprintf(out + n, outlen - (size_t)n, ".%s", suffix);
    return out;
}

static Matrix matrix(Loader *ld, const char *name, size_t rows, size_t cols) {
    return load_matrix(ld, weights_find(&ld->m->weights, name), name, rows, cols);
}

static const float *vector(Loader *ld, const char *name, size_t n) { return load_vector(ld, weights_find(&ld->m->weights, name), name, n); }

/* A bias that the config wants (1), does not want (0) or takes where the file has it (-1); NULL where there is none. */
static const float *bias(Loader *ld, Part part, int l, size_t n, int wanted) {
    char name[128];
    part_name(ld, part, l, "bias", name, sizeof name);
    if (wanted == 0 || (wanted < 0 && !weights_find(&ld->m->weights, name))) return NULL;
    return vector(ld, name, n);
}

static void load_layer(Loader *ld, int l) {
    const Config *c = &ld->m->config;
    Layer *y = &ld->m->layers[l];
    size_t d = (size_t)c->d_model, ff = (size_t)c->d_ff, q_dim = (size_t)c->n_heads * (size_t)c->head_dim,
           kv_dim = (size_t)c->n_kv_heads * (size_t)c->head_dim;
    char name[128];
    y->window = c->windowed[l] ? (size_t)c->window : 0;
    y->attn_norm = vector(ld, part_name(ld, ATTN_NORM, l, "weight", name, sizeof name), d);
    y->ffn_norm = vector(ld, part_name(ld, FFN_NORM, l, "weight", name, sizeof name), d);
    if (c->qk_norm) {
        y->q_norm = vector(ld, part_name(ld, Q_NORM, l, "weight", name, sizeof name), (size_t)c->head_dim);
        y->k_norm = vector(ld, part_name(ld, K_NORM, l, "weight", name, sizeof name), (size_t)c->head_dim);
    }
    y->wq = matrix(ld, part_name(ld, WQ, l, "weight", name, sizeof name), q_dim, d);
    y->wk = matrix(ld, part_name(ld, WK, l, "weight", name, sizeof name), kv_dim, d);
    y->wv = matrix(ld, part_name(ld, WV, l, "weight", name, sizeof name), kv_dim, d);
    y->wo = matrix(ld, part_name(ld, WO, l, "weight", name, sizeof name), d, q_dim);
    y->w_gate = matrix(ld, part_name(ld, W_GATE, l, "weight", name, sizeof name), ff, d);
    y->w_up = matrix(ld, part_name(ld, W_UP, l, "weight", name, sizeof name), ff, d);
    y->w_down = matrix(ld, part_name(ld, W_DOWN, l, "weight", name, sizeof name), d, ff);
    y->bq = bias(ld, WQ, l, q_dim, c->qkv_bias);
    y->bk = bias(ld, WK, l, kv_dim, c->qkv_bias);
    y->bv = bias(ld, WV, l, kv_dim, c->qkv_bias);
    y->bo = bias(ld, WO, l, d, c->o_bias);
    y->b_gate = bias(ld, W_GATE, l, ff, c->mlp_bias);
    y->b_up = bias(ld, W_UP, l, ff, c->mlp_bias);
    y->b_down = bias(ld, W_DOWN, l, d, c->mlp_bias);
}

static void llama_load(Loader *ld) {
    Model *m = ld->m;
    const Config *c = &m->config;
    int hf = c->names == NAMES_HF;
    size_t d = (size_t)c->d_model, vocab = (size_t)c->vocab_size;
    const char *head = hf ? "lm_head.weight" : "output.weight";
    int tied = c->tied < 0 ? !weights_find(&m->weights, head) : c->tied;
    m->tok_emb = matrix(ld, hf ? "model.embed_tokens.weight" : "token_embd.weight", vocab, d);
    for (int l = 0; l < c->n_layers && ld->rc == 0; l++) load_layer(ld, l);
    m->final_norm = vector(ld, hf ? "model.norm.weight" : "output_norm.weight", d);
    m->lm_head = tied ? m->tok_emb : matrix(ld, head, vocab, d);
}

static void load_all(Loader *ld) {
    static const char *const read_by_config[] = {"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"};
    if (ld->m->config.roformer.variant) roformer_load(ld);
    else llama_load(ld);
    for (int i = 0; i < 3; i++) load_seen(ld, weights_find(&ld->m->weights, read_by_config[i]));
}

static int model_load(Model *m, const ModelOptions *o, char *err, size_t errlen) {
    int rc = config_read(&m->config, &m->weights, o ? &o->config : NULL, err, errlen);
    if (rc) return rc;
    m->kernels = o && o->kernels ? o->kernels : kernels_best();
    if ((size_t)m->config.n_layers > m->weights.n_tensors)
        return base_error(err, errlen, -EINVAL, "%s: %d layers are claimed, but there are only %zu tensors", m->weights.path,
                          m->config.n_layers, m->weights.n_tensors);
    m->layers = calloc((size_t)m->config.n_layers, sizeof *m->layers);
    m->used = calloc(m->weights.n_tensors, 1);
    if (!m->layers || !m->used) return base_error(err, errlen, -ENOMEM, "%s: out of memory", m->weights.path);
    Loader ld = {.m = m, .err = err, .errlen = errlen};
    load_all(&ld);
    if (ld.rc) return ld.rc;
    m->vectors = malloc(ld.n_room * sizeof *m->vectors);
    if (!m->vectors) return base_error(err, errlen, -ENOMEM, "%s: out of memory", m->weights.path);
    ld = (Loader){.m = m, .room = m->vectors, .err = err, .errlen = errlen};
    load_all(&ld);
    LinearConfig *linear = &m->config.linear;
    if (linear->form && linear->phi->projected) {
        linear->favor_w = m->favor_w = malloc(linear_projection_size(linear) * sizeof *m->favor_w);
        if (!m->favor_w) return base_error(err, errlen, -ENOMEM, "%s: out of memory", m->weights.path);
        linear_projection(m->favor_w, linear);
    }
    return ld.rc ? ld.rc : model_repack(m, o, err, errlen);
}

int model_open(Model *m, const char *path, const ModelOptions *options, char *err, size_t errlen) {
    memset(m, 0, sizeof *m);
    int rc = weights_open(&m->weights, path, err, errlen);
    if (rc == 0) rc = model_load(m, options, err, errlen);
    if (rc) model_close(m);
    return rc;
}

int model_open_memory(Model *m, const void *data, size_t size, const char *name, const ModelOptions *options, char *err, size_t errlen) {
    memset(m, 0, sizeof *m);
    int rc = weights_open_memory(&m->weights, data, size, name, err, errlen);
    if (rc == 0) rc = model_load(m, options, err, errlen);
    if (rc) model_close(m);
    return rc;
}

void model_close(Model *m) {
    free(m->layers);
    free(m->vectors);
    free(m->used);
    free(m->favor_w);
    pages_free(m->panels, m->panels_size);
    weights_close(&m->weights);
    memset(m, 0, sizeof *m);
}

int model_has_logits(const Model *m) { return m->config.roformer.variant == ROFORMER_NONE || m->encoder.has_mlm; }

static void mix_in(uint64_t *hash, const void *data, size_t n) { *hash = hash_bytes(*hash, data, n); }

static void mix_in_text(uint64_t *hash, const char *s) { mix_in(hash, s, strlen(s) + 1); }

static void mix_in_rope(uint64_t *hash, const RopeConfig *c, int64_t length) {
    Rope r;
    rope_init(&r, c, length);
    mix_in_text(hash, c->scaling->name);
    mix_in(hash, &c->n_ctx_original, sizeof c->n_ctx_original); /* longrope's border */
    mix_in(hash, &c->pairing, sizeof c->pairing);
    mix_in(hash, &r.scale, sizeof r.scale);
    mix_in(hash, r.inv_freq, (size_t)r.rotary_dim / 2 * sizeof *r.inv_freq);
}

static void mix_in_tensor(uint64_t *hash, const Tensor *t) {
    enum { SAMPLES = 16, SAMPLE = 256 };
    mix_in_text(hash, t->name);
    mix_in(hash, &t->type, sizeof t->type);
    mix_in(hash, t->shape, (size_t)t->n_dims * sizeof *t->shape);
    if (t->size <= SAMPLES * SAMPLE) mix_in(hash, t->data, t->size);
    else
        for (size_t i = 0; i < SAMPLES; i++) mix_in(hash, t->data + (t->size - SAMPLE) / (SAMPLES - 1) * i, SAMPLE);
}

uint64_t model_fingerprint(const Model *m) {
    const Config *c = &m->config;
    const LinearConfig *linear = &c->linear;
    uint64_t hash = HASH_START;
    const RoformerConfig *f = &c->roformer;
    const int sizes[] = {c->d_model, c->d_ff, c->n_layers, c->n_heads, c->n_kv_heads, c->head_dim, c->vocab_size, (int)c->window,
                         (int)c->mask, (int)f->variant, (int)f->activation, f->rotary_value};
    mix_in_text(&hash, c->arch);
    mix_in(&hash, sizes, sizeof sizes);
    mix_in(&hash, &c->norm_eps, sizeof c->norm_eps);
    mix_in(&hash, c->windowed, (size_t)c->n_layers);
    mix_in_rope(&hash, &c->rope, 1);
    mix_in_rope(&hash, &c->rope, INT64_MAX);
    mix_in_text(&hash, linear->form ? linear->form->name : "softmax");
    if (linear->form) {
        mix_in_text(&hash, linear->phi->name);
        mix_in(&hash, &linear->epsilon, sizeof linear->epsilon);
    }
    if (linear->form && linear->phi->projected) {
        mix_in(&hash, &linear->favor_features, sizeof linear->favor_features);
        mix_in(&hash, &linear->favor_seed, sizeof linear->favor_seed);
    }
    for (size_t i = 0; i < m->weights.n_tensors; i++)
        if (m->used[i]) mix_in_tensor(&hash, &m->weights.tensors[i]);
    return hash;
}
