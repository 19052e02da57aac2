/* model/keys_gguf.c - GGUF's metadata as a source of keys; llama2.c's header is handed out in the same form. */
#include "decoder.h"

#include <stdio.h>
#include <string.h>

static KeyValue look(KeyReader *r, const char *gguf, const char *hf) {
    (void)hf;
    if (!gguf) return (KeyValue){.kind = KEY_ABSENT};
    int whole = strncmp(gguf, "tokenizer.", 10) == 0 || strncmp(gguf, "general.", 8) == 0;
    snprintf(r->key, sizeof r->key, "%s%s%s", whole ? "" : r->arch, whole ? "" : ".", gguf);
    const MetaValue *m = weights_meta(r->w, r->key);
    if (!m) return (KeyValue){.kind = KEY_ABSENT};
    if (m->type == META_ARRAY) return (KeyValue){.kind = KEY_OTHER};
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
    r->source->rope(r, c, a->pairing);
    c->qkv_bias = c->o_bias = c->mlp_bias = c->tied = -1; /* no keys: where the tensors are */
}

static void ends(KeyReader *r, Config *c) {
    static const char *const ends_text[] = {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"};
    int64_t id;
    if (meta_integer(weights_meta(r->w, "tokenizer.ggml.bos_token_id"), &id) && id >= 0 && id < c->vocab_size)
        c->bos_id = (int)id;
    for (int i = 0; i < 2; i++)
        if (meta_integer(weights_meta(r->w, ends_text[i]), &id)) config_add_end(c, (double)id);
}

const KeySource keys_gguf = {"general.architecture", "is missing", look, presume, parts, rope, ends};
