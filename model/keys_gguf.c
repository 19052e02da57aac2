/* model/keys_gguf.c - GGUF's metadata as a source of keys; llama2.c's header is handed out in the same form. */
#include "decoder.h"

#include <stdio.h>
#include <string.h>

/* Numbers that layers may have each for itself are a list; if all are one number, it is that number. */
static KeyValue list_value(KeyReader *r, const MetaValue *m) {
    const uint8_t *cursor = m->data;
    int64_t first = 0, v = 0;
    for (uint64_t i = 0; i < m->n; i++, first = v) {
        MetaValue e;
        meta_next(m, &cursor, &e);
        if (meta_integer(&e, &v) && (i == 0 || v == first)) continue;
        key_complain(r, r->key, "differs from layer to layer, which is not known here");
        return (KeyValue){.kind = KEY_OTHER};
    }
    return (KeyValue){.kind = KEY_NUMBER, .number = (double)v};
}

static KeyValue look(KeyReader *r, const char *gguf, const char *hf) {
    (void)hf;
    if (!gguf) return (KeyValue){.kind = KEY_ABSENT};
    int whole = strncmp(gguf, "tokenizer.", 10) == 0 || strncmp(gguf, "general.", 8) == 0;
    snprintf(r->key, sizeof r->key, "%s%s%s", whole ? "" : r->arch, whole ? "" : ".", gguf);
    const MetaValue *m = weights_meta(r->w, r->key);
    if (!m) return (KeyValue){.kind = KEY_ABSENT};
    if (m->type == META_ARRAY) return list_value(r, m);
    if (m->type == META_STRING) return (KeyValue){.kind = KEY_TEXT, .text = (const char *)m->data, .len = (size_t)m->n};
    KeyValue v = {.kind = m->type == META_BOOL ? KEY_FLAG : KEY_NUMBER};
    v.is_float = m->type == META_F32 || m->type == META_F64;
    if (!meta_number(m, &v.number)) v.number = 1e300; /* a u64 beyond every range */
    return v;
}

static void presume(KeyReader *r, Config *c, const DecoderArch *a) {
    const Tensor *t = weights_find(r->w, "token_embd.weight");
    (void)a;
    c->vocab_size = 1;
    if (t && t->n_dims == 2) c->vocab_size = (int)key_range(r, "vocab_size", (double)t->shape[0], 1, 1 << 30);
    else key_complain(r, "token_embd.weight", r->w->n_tensors ? "the tensor is missing or not a matrix"
                                                              : "the file holds no tensors (a vocabulary only)");
}

/* Methods that scale frequencies: keys_llamacpp.c. */
static void rope(KeyReader *r, Config *c, RopePairing pairing) {
    c->rope.scaling = &rope_none;
    c->rope.pairing = pairing;
    c->rope.theta = key_number(r, "rope.freq_base", NULL, 10000);
    c->rope.rotary_dim = (int)key_int(r, "rope.dimension_count", NULL, c->head_dim, 1, CONFIG_MAX_DIM);
}

static void parts(KeyReader *r, Config *c, const DecoderArch *a) {
    if (key_int(r, "attention.value_length", NULL, c->head_dim, 1, CONFIG_MAX_DIM) != c->head_dim)
        key_complain(r, r->key, "differs from attention.key_length, which is not known here");
    rope(r, c, a->pairing);
    c->qkv_bias = c->o_bias = c->mlp_bias = c->tied = -1; /* no keys: where the tensors are */
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

const KeySource keys_gguf = {NAMES_GGUF, "general.architecture", "is missing", look, presume, parts, rope, ends};
