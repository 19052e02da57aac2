/* model/keys_llamacpp.c - what llama.cpp's files say beyond a plain model of fixed length: scaled frequencies, windows,
 * experts. */
#include "keys_more.h"
#include "model/layers/layers.h"

#include <stdio.h>
#include <string.h>

/* Numbers that layers may have each for itself are a list; if all are one number, it is that number. Layers of LFM2
 * that do not attend have no heads of keys. Of two lists of Gemma 4's it is the last one's: its row has the others. */
static const MetaValue *look(KeyReader *r, const char *gguf, const char *hf) {
    const MetaValue *v = keys_gguf.look(r, gguf, hf);
    int64_t first = 0, number = 0;
    if (!v || v->type != META_ARRAY || v->n == 0) return v;
    const uint8_t *cursor = v->data;
    int heads = strcmp(gguf, "attention.head_count_kv") == 0;
    int seen = 0, last = strcmp(r->arch, "gemma4") == 0 && (heads || strcmp(gguf, "feed_forward_length") == 0);
    int none = strncmp(r->arch, "lfm2", 4) == 0 && heads;
    MetaValue kept;
    for (uint64_t i = 0; i < v->n; i++) {
        meta_next(v, &cursor, &r->value);
        if (meta_integer(&r->value, &number) && number == 0 && none) continue;
        if (!meta_integer(&r->value, &number) || (seen && number != first && !last)) {
            key_complain(r, r->key, "differs from layer to layer, which is not known here");
            return v;
        }
        first = number, kept = r->value, seen = 1;
    }
    if (seen) r->value = kept;
    return &r->value;
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
static void rope(KeyReader *r, Config *c) {
    RopeConfig *rope = &c->rope;
    char name[32] = "";
    RopeNumbers *n = key_rope_numbers(r, &c->rope, c->n_ctx_train);
    if (!n) return;
    n->factor = key_number(r, "rope.scaling.factor", NULL, key_number(r, "rope.scale_linear", NULL, 0));
    n->n_ctx_original = key_int(r, "rope.scaling.original_context_length", NULL, (double)c->n_ctx_train, 1, 1e15);
    n->scale_base = key_number(r, "rope.scaling.scale_base", NULL, 0); /* xpos, which llama.cpp does not have */
    n->beta_fast = key_number(r, "rope.scaling.yarn_beta_fast", NULL, 0);
    n->beta_slow = key_number(r, "rope.scaling.yarn_beta_slow", NULL, 0);
    n->n_divisors = list_tensor(r, "rope_freqs.weight", n->divisors);
    n->n_long = list_tensor(r, "rope_factors_long.weight", n->long_factor);
    n->n_short = list_tensor(r, "rope_factors_short.weight", n->short_factor);
    int given = r->source->look(r, "rope.scaling.attn_factor", NULL) != NULL; /* else OLMo 3's, instead of yarn's: */
    n->attention_factor = given ? 0 : key_number(r, "rope.scaling.yarn_attn_factor", NULL, 0);
    double attn = key_number(r, "rope.scaling.attn_factor", NULL, 1);
    n->mscale_all_dim = key_number(r, "rope.scaling.yarn_log_multiplier", NULL, 0);
    n->mscale = n->mscale_all_dim != 0;
    if (!(attn > 0)) key_complain(r, "rope.scaling.attn_factor", "must be above 0");
    const MetaValue *type = r->source->look(r, "rope.scaling.type", NULL);
    if (!type) snprintf(name, sizeof name, n->n_long ? "longrope" : n->factor != 0 ? "linear" : "none");
    else if (type->type != META_STRING) key_complain(r, r->key, "must be a string");
    else snprintf(name, sizeof name, "%.*s", (int)(type->n < sizeof name ? type->n : sizeof name - 1), type->data);
    if (strcmp(name, "linear") == 0 && n->factor == 0) snprintf(name, sizeof name, "none");
    if (!(rope->scaling = rope_scaling_of_file(name))) {
        char why[100];
        snprintf(why, sizeof why, "rope method \"%s\" is not known here", name);
        key_complain(r, r->key, why);
        rope->scaling = rope_scaling("none");
    }
    if (rope->scaling->method->own_attention) n->attention_multiplier = attn;
    else n->attention_factor = attn;
}

static void window(KeyReader *r, Config *c) {
    c->window = key_int(r, "attention.sliding_window", NULL, 0, 0, MOST_COUNTED);
    if (c->window == 0) return;
    memset(c->windowed, 1, (size_t)c->n_layers);
    snprintf(r->key, sizeof r->key, "%s.attention.sliding_window_pattern", r->arch);
    const MetaValue *m = weights_meta(r->w, r->key);
    if (!m) return;
    if (m->type != META_ARRAY || m->elem != META_BOOL || m->n != (uint64_t)c->n_layers)
        key_complain(r, r->key, "must be a list of booleans, one for each layer");
    else memcpy(c->windowed, m->data, (size_t)c->n_layers);
}

static void begin(KeyReader *r, Config *c, const Architecture *a) { keys_gguf.begin(r, c, a); }

static void finish(KeyReader *r, Config *c, const Architecture *a) {
    keys_gguf.finish(r, c, a);
    rope(r, c);
    if (a->hf && !a->traits) window(r, c);
    key_check_causal(r, a);
    if (!c->decoder || !a->hf->local_theta) return;
    double usual = a->hf->local_theta > 0 ? a->hf->local_theta : c->rope.theta;
    c->decoder->local = (RopeConfig){.scaling = &rope_none, .pairing = a->pairing, .rotary_dim = c->rope.rotary_dim,
                                     .theta = key_number(r, "rope.freq_base_swa", NULL, usual)};
}

const KeySource keys_llamacpp = {"is missing", look, begin, finish};
