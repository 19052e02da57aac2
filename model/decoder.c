/* model/decoder.c - decoders of the LLaMA family: the tables of decoder.h, and a model read by them. Their forward pass
 * is llama.c's. What differs between architectures is data: a row here. */
#include "decoder.h"

#include "llama.h"
#include "load.h"

#include <stdio.h>
#include <string.h>

const DecoderArch decoder_archs[] = {
    {"llama", 0, 0, 2048, 0, -1, -1, -1, 0, 0, ROPE_INTERLEAVED},
    {"mistral", 8, 0, 131072, 4096, 0, 0, 0, 0, 0, ROPE_INTERLEAVED},
    {"qwen2", 32, 0, 32768, 4096, 1, 0, 0, 0, 1, ROPE_HALF},
    {"qwen3", 32, 128, 32768, 4096, -1, -1, 0, 1, 1, ROPE_HALF},
    {0},
};
static const char *const names[] = {"llama", "mistral", "qwen2", "qwen3", NULL};

#define IN(field) offsetof(Config, field)
const KeyField decoder_keys[] = {
    {"vocab_size", "vocab_size", FIELD_INT, IN(vocab_size), 1, 1 << 30, 1, 0},
    {"context_length", "max_position_embeddings", FIELD_INT64, IN(n_ctx_train), 1, 1e15, 1, 0},
    {"embedding_length", "hidden_size", FIELD_INT, IN(d_model), 1, CONFIG_MAX_DIM, 1, 0},
    {"block_count", "num_hidden_layers", FIELD_INT, IN(n_layers), 1, CONFIG_MAX_LAYERS, 1, 0},
    {"feed_forward_length", "intermediate_size", FIELD_INT, IN(d_ff), 1, CONFIG_MAX_DIM, 1, 0},
    {"attention.head_count", "num_attention_heads", FIELD_INT, IN(n_heads), 1, CONFIG_MAX_DIM, 1, 0},
    {"attention.head_count_kv", "num_key_value_heads", FIELD_INT, IN(n_kv_heads), 1, CONFIG_MAX_DIM, 0, 1},
    {"attention.key_length", "head_dim", FIELD_INT, IN(head_dim), 1, CONFIG_MAX_DIM, 0, 1},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps", FIELD_FLOAT, IN(norm_eps), 0, 0, 0, 0},
};
const size_t n_decoder_keys = sizeof decoder_keys / sizeof *decoder_keys;

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

static void read_config(KeyReader *r, Config *c) {
    const DecoderArch *a = decoder_archs;
    while (strcmp(a->name, c->arch) != 0) a++;
    int hf = c->names == NAMES_HF;
    c->n_kv_heads = hf ? a->kv_heads : 0;
    c->head_dim = hf ? a->head_dim : 0;
    c->n_ctx_train = hf ? a->n_ctx : 0;
    c->norm_eps = hf ? 1e-6f : -1;
    const Tensor *embeddings = weights_find(r->w, "token_embd.weight");
    if (!hf && (!embeddings || embeddings->n_dims != 2))
        key_complain(r, "token_embd.weight", r->w->n_tensors ? "the tensor is missing or not a matrix"
                                                             : "the file holds no tensors (a vocabulary only)");
    else if (!hf) c->vocab_size = (int)key_range(r, "vocab_size", (double)embeddings->shape[0], 1, 1 << 30);
    keys_read(r, decoder_keys + !hf, n_decoder_keys - !hf, c); /* a GGUF's vocabulary is as large as its table says */
    if (r->rc) return;
    if (c->n_kv_heads == 0) c->n_kv_heads = c->n_heads;
    if (c->head_dim == 0) c->head_dim = config_even_split(r, c);
    if (key_int(r, "attention.value_length", NULL, c->head_dim, 1, CONFIG_MAX_DIM) != c->head_dim)
        key_complain(r, r->key, "differs from attention.key_length, which is not known here");
    if (key_int(r, "expert_count", NULL, 0, 0, 1e9) > 0)
        key_complain(r, r->key, "mixtures of experts are not known here");
    r->source->rope(r, c, hf ? ROPE_HALF : a->pairing);
    r->source->window(r, c, a->window, a->window_by_layer);
    int attention = hf ? key_flag(r, NULL, "attention_bias", 0) : -1; /* GGUF has no key: where the tensors are */
    c->qkv_bias = hf && a->qkv_bias >= 0 ? a->qkv_bias : attention;
    c->o_bias = hf && a->o_bias >= 0 ? a->o_bias : attention;
    c->mlp_bias = !hf ? -1 : a->mlp_bias < 0 ? key_flag(r, NULL, "mlp_bias", 0) : a->mlp_bias;
    c->qk_norm = a->qk_norm;
    c->tied = hf ? key_flag(r, NULL, "tie_word_embeddings", 0) : -1;
    char activation[16] = "silu";
    key_word(r, NULL, "hidden_act", activation, sizeof activation);
    if (strcmp(activation, "silu") != 0 && strcmp(activation, "swish") != 0)
        key_complain(r, "hidden_act", "only silu is known here");
    KeyKind quantized = r->source->look(r, NULL, "quantization_config").kind;
    if (quantized != KEY_ABSENT && quantized != KEY_NULL)
        key_complain(r, r->key, "quantized Hugging Face weights are not read; use the original or a GGUF");
    config_read_attention(r, c);
    r->source->ends(r, c);
}

/* ---- the tensors ---- */

size_t decoder_size(const Config *c, char letter) {
    switch (letter) {
    case 'V': return (size_t)c->vocab_size;
    case 'D': return (size_t)c->d_model;
    case 'F': return (size_t)c->d_ff;
    case 'Q': return (size_t)c->n_heads * (size_t)c->head_dim;
    case 'K':
    case 'W': return (size_t)c->n_kv_heads * (size_t)c->head_dim;
    case 'H': return (size_t)c->head_dim;
    default: return 0;
    }
}

int decoder_has(const Config *c, const DecoderTensor *t) {
    if (t->at == OF(lm_head) && t->rows == 'V') return c->tied < 0 ? -1 : !c->tied;
    return t->rows == 'H' ? c->qk_norm : 1;
}

int decoder_has_bias(const Config *c, const DecoderTensor *t) {
    return t->bias == 'a' ? c->qkv_bias : t->bias == 'o' ? c->o_bias : t->bias == 'm' ? c->mlp_bias : 0;
}

const char *decoder_name(char *out, const char *name, int layer, const char *suffix) {
    const char *hash = strchr(name, '#');
    if (!hash) snprintf(out, DECODER_NAME, "%s%s", name, suffix);
    else snprintf(out, DECODER_NAME, "%.*s%d%s%s", (int)(hash - name), name, layer, hash + 1, suffix);
    return out;
}

/* Where wanted (1), or where it is there (-1), the tensor of that name; NULL else. *name gets what the file calls it.
 */
static int wants(Loader *ld, const DecoderTensor *t, int layer, const char *suffix, int wanted, char *name) {
    decoder_name(name, ld->m->config.names == NAMES_HF ? t->hf : t->gguf, layer, suffix);
    return wanted > 0 || (wanted < 0 && weights_find(&ld->m->weights, name));
}

static void load_tensor(Loader *ld, const DecoderTensor *t, int layer, char *base) {
    const Config *c = &ld->m->config;
    size_t rows = decoder_size(c, t->rows), cols = decoder_size(c, t->cols);
    char name[DECODER_NAME];
    MatrixUse use = t->at == OF(tok_emb) && base == (char *)ld->m ? USE_LOOKUP
                    : base == (char *)ld->m                       ? USE_HEAD
                                                                  : USE_TOKEN;
    if (wants(ld, t, layer, ".weight", decoder_has(c, t), name)) {
        const Tensor *found = weights_find(&ld->m->weights, name);
        if (t->cols) load_matrix(ld, (Matrix *)(void *)(base + t->at), found, name, rows, cols, use);
        else *(const float **)(void *)(base + t->at) = load_vector(ld, found, name, rows);
    }
    if (t->bias && wants(ld, t, layer, ".bias", decoder_has_bias(c, t), name))
        *(const float **)(void *)(base + t->bias_at) = load_vector(ld, weights_find(&ld->m->weights, name), name, rows);
}

static void load(Loader *ld) {
    Model *m = ld->m;
    m->lm_head = (Matrix){0};
    for (const DecoderTensor *t = decoder_tensors; t->gguf; t++)
        if (!strchr(t->gguf, '#')) load_tensor(ld, t, -1, (char *)m);
    for (int l = 0; l < m->config.n_layers && ld->rc == 0; l++) {
        m->layers[l].window = m->config.windowed[l] ? (size_t)m->config.window : 0;
        for (const DecoderTensor *t = decoder_tensors; t->gguf; t++)
            if (strchr(t->gguf, '#')) load_tensor(ld, t, l, (char *)&m->layers[l]);
    }
    if (!m->lm_head.data) load_tied(ld, &m->lm_head, &m->tok_emb);
}

const Family family_llama = {
    .architectures = names, .read_config = read_config, .load = load, .forward = llama_forward, .logits = llama_logits};
