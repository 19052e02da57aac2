/* model/decoder.c - decoders of the LLaMA family: the tables of decoder.h, and a model read by them. Their forward pass
 * is llama.c's. What differs between architectures is data: a row of architectures. */
#include "decoder.h"

#include <stdio.h>
#include <string.h>

#define IN(field) offsetof(Config, field)
const KeyField decoder_keys[] = {
    {"vocab_size", "vocab_size", FIELD_INT, IN(vocab_size), 1, 1 << 30, 1},
    {"context_length", "max_position_embeddings", FIELD_INT64, IN(n_ctx_train), 1, 1e15, 1},
    {"embedding_length", "hidden_size", FIELD_INT, IN(d_model), 1, CONFIG_MAX_DIM, 1},
    {"block_count", "num_hidden_layers", FIELD_INT, IN(n_layers), 1, CONFIG_MAX_LAYERS, 1},
    {"feed_forward_length", "intermediate_size", FIELD_INT, IN(d_ff), 1, CONFIG_MAX_DIM, 1},
    {"attention.head_count", "num_attention_heads", FIELD_INT, IN(n_heads), 1, CONFIG_MAX_DIM, 1},
    {"attention.head_count_kv", "num_key_value_heads", FIELD_INT, IN(n_kv_heads), 1, CONFIG_MAX_DIM, 0},
    {"attention.key_length", "head_dim", FIELD_INT, IN(head_dim), 1, CONFIG_MAX_DIM, 0},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps", FIELD_FLOAT, IN(norm_eps), 0, 0, 0},
    {0},
};

#define OF(field) offsetof(Model, field)
#define EACH(field) offsetof(Layer, field)
const DecoderTensor decoder_tensors[] = {
    {"token_embd", "model.embed_tokens", 'V', 'D', 0, OF(tok_emb), 0},
    {"blk.#.attn_norm", "model.layers.#.input_layernorm", 'D', 0, 0, EACH(attn_norm), 0},
    {"blk.#.attn_q", "model.layers.#.self_attn.q_proj", 'Q', 'D', 'a', EACH(wq), EACH(bq)},
    {"blk.#.attn_k", "model.layers.#.self_attn.k_proj", 'K', 'D', 'a', EACH(wk), EACH(bk)},
    {"blk.#.attn_v", "model.layers.#.self_attn.v_proj", 'W', 'D', 'a', EACH(wv), EACH(bv)},
    {"blk.#.attn_q_norm", "model.layers.#.self_attn.q_norm", 'H', 0, 0, EACH(q_norm), 0},
    {"blk.#.attn_k_norm", "model.layers.#.self_attn.k_norm", 'H', 0, 0, EACH(k_norm), 0},
    {"blk.#.attn_output", "model.layers.#.self_attn.o_proj", 'D', 'Q', 'o', EACH(wo), EACH(bo)},
    {"blk.#.ffn_norm", "model.layers.#.post_attention_layernorm", 'D', 0, 0, EACH(ffn_norm), 0},
    {"blk.#.ffn_gate", "model.layers.#.mlp.gate_proj", 'F', 'D', 'm', EACH(w_gate), EACH(b_gate)},
    {"blk.#.ffn_up", "model.layers.#.mlp.up_proj", 'F', 'D', 'm', EACH(w_up), EACH(b_up)},
    {"blk.#.ffn_down", "model.layers.#.mlp.down_proj", 'D', 'F', 'm', EACH(w_down), EACH(b_down)},
    {"output_norm", "model.norm", 'D', 0, 0, OF(final_norm), 0},
    {"output", "lm_head", 'V', 'D', 0, OF(lm_head), 0},
    {0},
};

/* ---- the settings ---- */

void decoder_read_config(KeyReader *r, Config *c, const Architecture *a) {
    c->qkv_bias = c->o_bias = c->mlp_bias = c->tied = -1; /* where the tensors are, unless the file says it */
    r->source->begin(r, c, a);
    keys_read(r, decoder_keys + (c->vocab_size != 0), c); /* a GGUF file's vocabulary is as large as its table */
    if (r->line.rc) return;
    if (c->n_kv_heads == 0) c->n_kv_heads = c->n_heads;
    if (c->head_dim == 0) c->head_dim = config_even_split(r, c);
    if (key_int(r, "attention.value_length", NULL, c->head_dim, 1, CONFIG_MAX_DIM) != c->head_dim)
        key_complain(r, r->key, "differs from attention.key_length, which is not known here");
    c->qk_norm = a->qk_norm;
    c->value_dim = c->head_dim;
    c->d_embed = c->d_model;
    c->ff_rows = c->d_ff;
    r->source->finish(r, c, a);
}

/* ---- the settings in GGUF ---- */

static const MetaValue *look(KeyReader *r, const char *gguf, const char *hf) {
    (void)hf;
    if (gguf) snprintf(r->key, sizeof r->key, "%s%s%s", r->arch, *r->arch ? "." : "", gguf);
    return gguf ? weights_meta(r->w, r->key) : NULL;
}

static void begin(KeyReader *r, Config *c, const Architecture *a) {
    const Tensor *t = weights_find(r->w, "token_embd.weight");
    (void)a;
    c->vocab_size = 1;
    if (t && t->n_dims == 2) c->vocab_size = (int)key_range(r, "vocab_size", (double)t->shape[0], 1, 1 << 30);
    else key_complain(r, "token_embd.weight", r->w->n_tensors ? "the tensor is missing or not a matrix"
                                                              : "the file holds no tensors (a vocabulary only)");
}

/* Methods that scale frequencies, and windows: keys_llamacpp.c. */
static void finish(KeyReader *r, Config *c, const Architecture *a) {
    static const char *const ends[] = {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"};
    int64_t id;
    c->rope.scaling = &rope_none;
    c->rope.pairing = a ? a->pairing : ROPE_INTERLEAVED;
    c->rope.theta = key_number(r, "rope.freq_base", NULL, 10000);
    c->rope.rotary_dim = (int)key_int(r, "rope.dimension_count", NULL, c->head_dim, 1, CONFIG_MAX_DIM);
    if (meta_integer(weights_meta(r->w, "tokenizer.ggml.bos_token_id"), &id) && id >= 0 && id < c->vocab_size)
        c->bos_id = (int)id;
    for (int i = 0; i < 2; i++)
        if (meta_integer(weights_meta(r->w, ends[i]), &id)) config_add_end(c, (double)id);
}

const KeySource keys_gguf = {"is missing", 0, look, begin, finish};

/* ---- the tensors ---- */

size_t decoder_size(const Config *c, char letter) {
    const size_t head = (size_t)c->head_dim, q = (size_t)c->n_heads * head, kv = (size_t)c->n_kv_heads * head,
                 sizes[128] = {['V'] = (size_t)c->vocab_size, ['D'] = (size_t)c->d_model, ['F'] = (size_t)c->d_ff,
                               ['Q'] = q, ['K'] = kv, ['W'] = kv, ['H'] = head};
    return sizes[letter & 127];
}

int decoder_has(const Config *c, const DecoderTensor *t) {
    if (t->at == OF(lm_head) && t->rows == 'V') return c->tied < 0 ? -1 : !c->tied;
    return t->rows == 'H' ? c->qk_norm : 1;
}

int decoder_has_bias(const Config *c, const DecoderTensor *t) {
    return t->bias == 'a' ? c->qkv_bias : t->bias == 'o' ? c->o_bias : t->bias == 'm' ? c->mlp_bias : 0;
}

/* t, or with suffix ".bias" the vector beside it, to its place in base, where wanted (1) or where it is there (-1). */
static void load_tensor(Loader *ld, const DecoderTensor *t, int layer, const char *suffix, int wanted, char *to) {
    const Config *c = &ld->m->config;
    char name[TENSOR_NAME];
    weights_layer_name(name, ld->m->weights.format == FORMAT_HF ? t->hf : t->gguf, layer, suffix);
    const Tensor *found = wanted ? weights_find(&ld->m->weights, name) : NULL;
    size_t rows = decoder_size(c, t->rows), cols = suffix[1] == 'w' ? decoder_size(c, t->cols) : 0;
    if (!found && wanted <= 0) return;
    if (cols) *(Matrix *)(void *)to = load_matrix(ld, found, name, rows, cols);
    else *(const float **)(void *)to = load_vector(ld, found, name, rows);
}

void decoder_load(Loader *ld) {
    Model *m = ld->m;
    const Config *c = &m->config;
    for (int l = -1; l < c->n_layers && ld->line.rc == 0; l++) { /* -1: what is in no layer */
        char *base = l < 0 ? (char *)m : (char *)&m->layers[l];
        for (const DecoderTensor *t = decoder_tensors; t->gguf; t++) {
            if ((strchr(t->gguf, '#') != NULL) != (l >= 0)) continue;
            load_tensor(ld, t, l, ".weight", decoder_has(c, t), base + t->at);
            load_tensor(ld, t, l, ".bias", decoder_has_bias(c, t), base + t->bias_at);
        }
    }
    if (!m->lm_head.data) m->lm_head = m->tok_emb;
}
