/* model/decoder.c - decoders of the LLaMA family: their tables, and a model read by them. Their forward pass
 * is llama.c's. What differs between architectures is data: a row of architectures. */
#include "family.h"

#include <stdio.h>
#include <string.h>

#define IN(field) offsetof(Config, field)
const KeyField decoder_keys[] = {
    {"vocab_size", "vocab_size", FIELD_INT, IN(vocab_size), 1, 1 << 30, 1},
    {"context_length", "max_position_embeddings", FIELD_INT64, IN(n_ctx_train), 1, MOST_COUNTED, 1},
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
    {"token_embd.weight", "model.embed_tokens.weight", 'V', 'D', 0, OF(tok_emb)},
    {"blk.#.attn_norm.weight", "model.layers.#.input_layernorm.weight", 'D', 0, 0, EACH(attn_norm)},
    {"blk.#.attn_q.weight", "model.layers.#.self_attn.q_proj.weight", 'Q', 'D', 0, EACH(wq)},
    {"blk.#.attn_q.bias", "model.layers.#.self_attn.q_proj.bias", 'Q', 0, IN(qkv_bias), EACH(bq)},
    {"blk.#.attn_k.weight", "model.layers.#.self_attn.k_proj.weight", 'K', 'D', 0, EACH(wk)},
    {"blk.#.attn_k.bias", "model.layers.#.self_attn.k_proj.bias", 'K', 0, IN(qkv_bias), EACH(bk)},
    {"blk.#.attn_v.weight", "model.layers.#.self_attn.v_proj.weight", 'W', 'D', 0, EACH(wv)},
    {"blk.#.attn_v.bias", "model.layers.#.self_attn.v_proj.bias", 'W', 0, IN(qkv_bias), EACH(bv)},
    {"blk.#.attn_q_norm.weight", "model.layers.#.self_attn.q_norm.weight", 'H', 0, IN(qk_norm), EACH(q_norm)},
    {"blk.#.attn_k_norm.weight", "model.layers.#.self_attn.k_norm.weight", 'H', 0, IN(qk_norm), EACH(k_norm)},
    {"blk.#.attn_output.weight", "model.layers.#.self_attn.o_proj.weight", 'D', 'Q', 0, EACH(wo)},
    {"blk.#.attn_output.bias", "model.layers.#.self_attn.o_proj.bias", 'D', 0, IN(o_bias), EACH(bo)},
    {"blk.#.ffn_norm.weight", "model.layers.#.post_attention_layernorm.weight", 'D', 0, 0, EACH(ffn_norm)},
    {"blk.#.ffn_gate.weight", "model.layers.#.mlp.gate_proj.weight", 'F', 'D', 0, EACH(w_gate)},
    {"blk.#.ffn_gate.bias", "model.layers.#.mlp.gate_proj.bias", 'F', 0, IN(mlp_bias), EACH(b_gate)},
    {"blk.#.ffn_up.weight", "model.layers.#.mlp.up_proj.weight", 'F', 'D', 0, EACH(w_up)},
    {"blk.#.ffn_up.bias", "model.layers.#.mlp.up_proj.bias", 'F', 0, IN(mlp_bias), EACH(b_up)},
    {"blk.#.ffn_down.weight", "model.layers.#.mlp.down_proj.weight", 'D', 'F', 0, EACH(w_down)},
    {"blk.#.ffn_down.bias", "model.layers.#.mlp.down_proj.bias", 'D', 0, IN(mlp_bias), EACH(b_down)},
    {"output_norm.weight", "model.norm.weight", 'D', 0, 0, OF(final_norm)},
    {"output.weight", "lm_head.weight", 'V', 'D', IN(own_head), OF(lm_head)},
    {0},
};

/* ---- the settings ---- */

void decoder_read_config(KeyReader *r, Config *c, const Architecture *a) {
    c->qkv_bias = c->o_bias = c->mlp_bias = c->own_head = -1; /* where the tensors are, unless the file says it */
    r->source->begin(r, c, a);
    keys_read(r, decoder_keys + (c->vocab_size != 0), c); /* a GGUF file's vocabulary is as large as its table */
    if (r->line.rc) return;
    if (c->n_kv_heads == 0) c->n_kv_heads = c->n_heads;
    if (c->head_dim == 0) c->head_dim = config_even_split(r, c);
    c->value_dim = (int)key_int(r, "attention.value_length", NULL, c->head_dim, 1, CONFIG_MAX_DIM);
    if (c->value_dim != c->head_dim && !a->traits)
        key_complain(r, r->key, "differs from attention.key_length, which is not known here");
    c->qk_norm = a->qk_norm;
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
    static const char *const ends[] = {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                                       "tokenizer.ggml.eom_token_id"};
    int64_t id;
    c->rope.scaling = &rope_none;
    c->rope.pairing = a->pairing;
    c->rope.theta = key_number(r, "rope.freq_base", NULL, 10000);
    c->rope.rotary_dim = (int)key_int(r, "rope.dimension_count", NULL, c->head_dim, 1, CONFIG_MAX_DIM);
    if (meta_integer(weights_meta(r->w, "tokenizer.ggml.bos_token_id"), &id) && id >= 0 && id < c->vocab_size)
        c->bos_id = (int)id;
    for (int i = 0; i < 3; i++)
        if (meta_integer(weights_meta(r->w, ends[i]), &id)) config_add_end(c, (double)id);
}

const KeySource keys_gguf = {"is missing", look, begin, finish};

/* ---- the tensors ---- */

size_t decoder_size(const Config *c, char letter) {
    const size_t head = (size_t)c->head_dim, q = (size_t)c->n_heads * head, kv = (size_t)c->n_kv_heads * head,
                 sizes[128] = {['V'] = (size_t)c->vocab_size, ['D'] = (size_t)c->d_model, ['F'] = (size_t)c->d_ff,
                               ['Q'] = q, ['K'] = kv, ['W'] = kv, ['H'] = head};
    return sizes[letter & 127];
}

int decoder_has(const Config *c, const DecoderTensor *t) {
    return t->said ? *(const int *)(const void *)((const char *)c + t->said) : 1;
}

void decoder_load(Loader *ld) {
    Model *m = ld->m;
    const Config *c = &m->config;
    char name[TENSOR_NAME];
    for (int l = -1; l < c->n_layers && ld->line.rc == 0; l++) { /* -1: what is in no layer */
        char *base = l < 0 ? (char *)m : (char *)&m->layers[l];
        for (const DecoderTensor *t = decoder_tensors; t->gguf; t++) {
            if ((strchr(t->gguf, '#') != NULL) != (l >= 0)) continue;
            weights_layer_name(name, m->weights.format == FORMAT_HF ? t->hf : t->gguf, l);
            const Tensor *found = decoder_has(c, t) ? weights_find(&m->weights, name) : NULL;
            size_t rows = decoder_size(c, t->rows), cols = decoder_size(c, t->cols);
            void *to = base + t->at;
            if (!found && decoder_has(c, t) <= 0) continue;
            if (cols) *(Matrix *)to = load_matrix(ld, found, name, rows, cols);
            else *(const float **)to = load_vector(ld, found, name, rows);
        }
    }
    if (!m->lm_head.data) m->lm_head = m->tok_emb;
}
