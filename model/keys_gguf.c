/* model/keys_gguf.c - GGUF's metadata as a source of keys; llama2.c's header is handed out in the same form. */
#include "keys.h"

#include <stdio.h>
#include <string.h>

/* Numbers that layers may have each for itself are a list; if all are one number, it is that number. */
static KeyValue list_value(KeyReader *r, const MetaValue *m) {
    const uint8_t *cursor = m->data;
    int64_t first = 0, v = 0;
    for (uint64_t i = 0; i < m->n; i++) {
        MetaValue e;
        meta_next(m, &cursor, &e);
        if (!meta_integer(&e, &v) || (i && v != first)) {
            key_complain(r, r->key, "differs from layer to layer, which is not known here");
            return (KeyValue){.kind = KEY_OTHER};
        }
        first = v;
    }
    return (KeyValue){.kind = KEY_NUMBER, .number = (double)v};
}

static KeyValue look(KeyReader *r, const char *gguf, const char *hf) {
    (void)hf;
    KeyValue v = {.kind = KEY_ABSENT};
    if (!gguf) return v;
    int whole = strncmp(gguf, "tokenizer.", 10) == 0 || strncmp(gguf, "general.", 8) == 0;
    snprintf(r->key, sizeof r->key, "%s%s%s", whole ? "" : r->arch, whole ? "" : ".", gguf);
    const MetaValue *m = weights_meta(r->w, r->key);
    if (!m) return v;
    if (m->type == META_ARRAY) return list_value(r, m);
    if (m->type == META_STRING) return (KeyValue){.kind = KEY_TEXT, .text = (const char *)m->data, .len = (size_t)m->n};
    v.kind = m->type == META_BOOL ? KEY_FLAG : KEY_NUMBER;
    v.is_float = m->type == META_F32 || m->type == META_F64;
    if (!meta_number(m, &v.number)) v.number = 1e300; /* a u64 beyond every range */
    return v;
}

/* A small float tensor, [n] values, into out [ROPE_MAX_PAIRS]; the count, 0 where there is none. */
static int list_tensor(KeyReader *r, const char *name, double *out) {
    const Tensor *t = weights_find(r->w, name);
    if (!t) return 0;
    if (t->type != TENSOR_F32 || t->n_dims != 1 || t->shape[0] > ROPE_MAX_PAIRS) {
        key_complain(r, name, "must be a list of F32, one for each pair");
        return 0;
    }
    for (uint64_t i = 0; i < t->shape[0]; i++) out[i] = (double)load_f32(t->data + 4 * i);
    return (int)t->shape[0];
}

/* llama.cpp's meanings: no type means linear, no factor means none; attn_factor multiplies yarn's own 1 + 0.1 ln s and
 * stands alone elsewhere; rope_freqs holds llama3's divisors. */
static void rope(KeyReader *r, Config *c, RopePairing pairing) {
    RopeConfig *rope = &c->rope;
    char name[32] = "";
    rope->pairing = pairing;
    rope->theta = key_number(r, "rope.freq_base", NULL, 10000);
    rope->rotary_dim = (int)key_int(r, "rope.dimension_count", NULL, c->head_dim, 1, CONFIG_MAX_DIM);
    rope->factor = key_number(r, "rope.scaling.factor", NULL, key_number(r, "rope.scale_linear", NULL, 0));
    rope->n_ctx_original = key_int(r, "rope.scaling.original_context_length", NULL, (double)c->n_ctx_train, 1, 1e15);
    rope->beta_fast = key_number(r, "rope.scaling.yarn_beta_fast", NULL, 0);
    rope->beta_slow = key_number(r, "rope.scaling.yarn_beta_slow", NULL, 0);
    rope->n_divisors = list_tensor(r, "rope_freqs.weight", rope->divisors);
    rope->n_long = list_tensor(r, "rope_factors_long.weight", rope->long_factor);
    rope->n_short = list_tensor(r, "rope_factors_short.weight", rope->short_factor);
    double attn = key_number(r, "rope.scaling.attn_factor", NULL, 1);
    if (!(attn > 0)) key_complain(r, "rope.scaling.attn_factor", "must be above 0");
    KeyValue type = look(r, "rope.scaling.type", NULL);
    if (type.kind != KEY_ABSENT && type.kind != KEY_TEXT) key_complain(r, r->key, "must be a string");
    snprintf(name, sizeof name, "%.*s", (int)(type.len < sizeof name ? type.len : sizeof name - 1),
             type.text ? type.text : "");
    if (type.kind == KEY_ABSENT)
        snprintf(name, sizeof name, rope->n_long ? "longrope" : rope->factor != 0 ? "linear" : "none");
    if (strcmp(name, "linear") == 0 && rope->factor == 0) snprintf(name, sizeof name, "none");
    if (!(rope->scaling = rope_scaling(name))) {
        char why[100];
        snprintf(why, sizeof why, "rope method \"%s\" is not known here", name);
        key_complain(r, r->key, why);
        rope->scaling = rope_scaling("none");
    }
    if (rope->scaling->own_attention) rope->attention_multiplier = attn;
    else rope->attention_factor = attn;
}

static void window(KeyReader *r, Config *c, int64_t usual, int by_layer) {
    (void)usual, (void)by_layer; /* a file without the key has none */
    c->window = key_int(r, "attention.sliding_window", NULL, 0, 0, 1e15);
    if (c->window == 0) return;
    memset(c->windowed, 1, (size_t)c->n_layers);
    snprintf(r->key, sizeof r->key, "%s.attention.sliding_window_pattern", r->arch);
    const MetaValue *m = weights_meta(r->w, r->key);
    if (!m) return;
    if (m->type != META_ARRAY || m->elem != META_BOOL || m->n != (uint64_t)c->n_layers)
        key_complain(r, r->key, "must be a list of booleans, one for each layer");
    else memcpy(c->windowed, m->data, (size_t)c->n_layers);
}

static int64_t token(KeyReader *r, const char *key) {
    int64_t v;
    return meta_integer(weights_meta(r->w, key), &v) && v >= 0 && v < (1 << 30) ? v : -1;
}

static void ends(KeyReader *r, Config *c) {
    int64_t bos = token(r, "tokenizer.ggml.bos_token_id");
    c->bos_id = bos < c->vocab_size ? (int)bos : -1;
    config_add_end(c, (double)token(r, "tokenizer.ggml.eos_token_id"));
    config_add_end(c, (double)token(r, "tokenizer.ggml.eot_token_id"));
}

const KeySource keys_gguf = {.names = NAMES_GGUF,
                             .architecture = "general.architecture",
                             .missing = "is missing",
                             .look = look,
                             .rope = rope,
                             .window = window,
                             .ends = ends};
