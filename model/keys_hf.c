/* model/keys_hf.c - Hugging Face's config.json as a source of keys, read as transformers 5 reads it. */
#include "base/json.h"
#include "base/paths.h"
#include "family.h"
#include "keys_more.h"
#include "model/files/quantized.h"
#include "model/layers/layers.h"
#include "notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value at a key, or at the name that older files of nomic-embed, ModernBERT and jina v3 have for it. */
static const JsonValue *at(const JsonValue *config, const char *key) {
    static const char *const older[][2] = {
        {"hidden_size", "n_embd"}, {"num_attention_heads", "n_head"}, {"num_hidden_layers", "n_layer"},
        {"num_hidden_layers", "num_layers"}, {"rms_norm_eps", "layer_norm_epsilon"},
        {"intermediate_size", "n_inner"}, {"max_position_embeddings", "n_positions"}, {"rope_theta", "rotary_emb_base"},
        {"max_position_embeddings", "max_length"}, {"layer_norm_eps", "layer_norm_epsilon"},
        {"layer_norm_eps", "norm_epsilon"}, {"layer_norm_eps", "norm_eps"}, {"partial_rotary_factor", "rotary_pct"},
        {"rms_norm_eps", "norm_eps"}, {"intermediate_size", "block_ff_dim"},
        {"rope_theta", "global_rope_theta"}, {"rope_local_base_freq", "local_rope_theta"},
        {"partial_rotary_factor", "rotary_emb_fraction"}, {"classifier_pooling", "clf_pooling"}};
    const JsonValue *v = json_get(config, key);
    for (size_t i = 0; json_absent(v) && i < sizeof older / sizeof *older; i++)
        if (strcmp(older[i][0], key) == 0) v = json_get(config, older[i][1]);
    return v;
}

static const MetaValue *look(KeyReader *r, const char *gguf, const char *hf) {
    const JsonValue *v = hf ? at(r->w->config, hf) : NULL;
    (void)gguf;
    if (hf) snprintf(r->key, sizeof r->key, "%s", hf);
    if (json_absent(v)) return NULL;
    r->value = (MetaValue){.key = hf, .type = META_ARRAY, .n = 1}; /* an object as well: none reads its elements here */
    if (v->type == JSON_BOOL) r->value.type = META_BOOL, r->value.data = (const uint8_t *)&v->boolean;
    if (v->type == JSON_NUMBER) r->value.type = META_F64, r->value.data = (const uint8_t *)&v->number;
    if (v->type == JSON_STRING)
        r->value.type = META_STRING, r->value.data = (const uint8_t *)v->str, r->value.n = v->len;
    return &r->value;
}

int key_flag(KeyReader *r, const char *gguf, const char *hf, int absent_is) {
    const MetaValue *v = r->source->look(r, gguf, hf);
    if (v && v->type != META_BOOL) key_complain(r, r->key, "must be true or false");
    return v && v->type == META_BOOL ? *v->data : absent_is;
}

void key_check_causal(KeyReader *r, const Architecture *a) {
    if (a->hf && !(a->traits && a->traits->encoder) && !key_flag(r, "attention.causal", "is_causal", 1))
        key_complain(r, r->key, "of false, a decoder that sees what comes, is not known here");
}

/* Of object o. */
static double number(KeyReader *r, const JsonValue *o, const char *key, double otherwise) {
    const JsonValue *v = at(o, key);
    if (json_absent(v)) return otherwise;
    if (v->type != JSON_NUMBER) key_complain(r, key, "must be a number");
    return v->type == JSON_NUMBER ? v->number : otherwise;
}

/* The numbers of a list into out [max]; the count. */
static int list(KeyReader *r, const JsonValue *o, const char *key, double *out, int max) {
    const JsonValue *v = json_get(o, key);
    int n = 0;
    if (json_absent(v)) return 0;
    if (v->type != JSON_ARRAY || v->len > (size_t)max) {
        key_complain(r, key, "must be a list of numbers, one for each pair");
        return 0;
    }
    for (const JsonValue *e = v->child; e; e = e->next) {
        if (e->type != JSON_NUMBER) key_complain(r, key, "must be a list of numbers");
        out[n++] = e->number;
    }
    return n;
}

static int64_t original_context(KeyReader *r, const JsonValue *o, int64_t otherwise) {
    double v = number(r, o, "original_max_position_embeddings", 0);
    return v == 0 ? otherwise : key_range(r, "original_max_position_embeddings", v, 1, 1e15);
}

/* What a method that is not "default" needs, beside theta and the rotated part; o: the object that says so. original:
 * the context that is meant where the top level has none, whatever o says; 0: o's. */
static void read_numbers(KeyReader *r, const Config *c, RopeConfig *rope, const JsonValue *o, int64_t original) {
    RopeNumbers *n = key_rope_numbers(r, rope, c->n_ctx_train);
    if (!n) return;
    n->n_ctx_original = c->n_ctx_train;
    if (strcmp(rope->scaling->name, "dynamic") != 0) /* which goes by max_position_embeddings alone */
        n->n_ctx_original = original_context(
            r, r->w->config, original ? original : original_context(r, o, c->n_ctx_train));
    n->factor = number(r, o, "factor", 0);
    if (rope->scaling->method->factor_from_lengths) {
        if (json_absent(json_get(o, "factor"))) n->factor = (double)c->n_ctx_train / (double)n->n_ctx_original;
        n->attention_factor = number(r, o, "attention_factor", 0);
        if (!json_absent(json_get(o, "attention_factor")) && !(n->attention_factor > 0))
            key_complain(r, "attention_factor", "must be above 0");
    }
    n->share = number(r, o, "partial_rotary_factor", number(r, r->w->config, "partial_rotary_factor", 1));
    n->scale_base = number(r, o, "scale_base", 0);
    n->power = number(r, o, "mixed_b", 0);
    n->mscale = number(r, o, "mscale", 0);
    n->mscale_all_dim = number(r, o, "mscale_all_dim", 0);
    n->beta_fast = number(r, o, "beta_fast", 0);
    n->beta_slow = number(r, o, "beta_slow", 0);
    const JsonValue *truncate = json_get(o, "truncate");
    if (!json_absent(truncate) && truncate->type != JSON_BOOL) key_complain(r, "truncate", "must be true or false");
    n->no_truncate = !json_flag(o, "truncate", 1);
    n->low_freq_factor = number(r, o, "low_freq_factor", 0);
    n->high_freq_factor = number(r, o, "high_freq_factor", 0);
    n->n_long = list(r, o, "long_factor", n->long_factor, ROPE_MAX_PAIRS);
    n->n_short = list(r, o, "short_factor", n->short_factor, ROPE_MAX_PAIRS);
}

/* A factor with no method to give it to is half a setting: running it unscaled would be a guess. */
static void refuse_numbers_without_method(KeyReader *r, const JsonValue *o, const char *where) {
    static const char *const keys[] = {"factor",           "short_factor",     "long_factor", "low_freq_factor",
                                       "high_freq_factor", "attention_factor", "beta_fast",   "beta_slow"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!json_absent(json_get(o, keys[i])))
            key_complain(r, where, "has numbers of a rope method, but no rope_type that names it");
}

static void rope_method(KeyReader *r, RopeConfig *rope, const JsonValue *o, const JsonValue *type, const char *where) {
    if (!json_absent(type) && type->type != JSON_STRING) key_complain(r, where, "rope_type must be a string");
    const char *name = !json_absent(type) && type->type == JSON_STRING ? type->str : "default";
    if (strcmp(name, "yarn") == 0 && json_is(json_get(r->w->config, "model_type"), "phi3")) name = "longrope"; /* was */
    if (strcmp(name, "ntk") == 0 && json_is(json_get(r->w->config, "model_type"), "new")) { /* GTE's is Su's */
        rope->scaling = rope_scaling(json_absent(json_get(o, "mixed_b")) ? "ntk-fixed" : "ntk-mixed");
        return;
    }
    if (strcmp(name, "mrope") == 0) name = "default"; /* a text's three coordinates are equal: plain RoPE */
    if ((rope->scaling = rope_scaling_of_file(name))) return;
    char why[160];
    snprintf(why, sizeof why, "rope method \"%.60s\" is not known here", name);
    key_complain(r, where, why);
    rope->scaling = rope_scaling("none");
}

/* RoPE as o says it (NULL: nothing does); theta and partial_rotary_factor are looked for inside and then at top level.
 * theta, share: what they are where nothing says it; a: its class's defaults, or NULL. */
static void rope_of(KeyReader *r, const Config *c, RopeConfig *rope, const JsonValue *o, const char *where,
                    const DecoderDefaults *a, double theta, double share) {
    const JsonValue *type = json_get(o, "rope_type");
    if (json_absent(type)) type = json_get(o, "type");
    rope_method(r, rope, o, type, where);
    double partial = number(r, o, "partial_rotary_factor", number(r, r->w->config, "partial_rotary_factor", share));
    rope->theta = number(r, o, "rope_theta", theta);
    const char *key = json_get(r->w->config, "rotary_emb_fraction") ? "rotary_emb_fraction" : "partial_rotary_factor";
    if (!(partial > 0 && partial <= 1)) key_complain(r, key, "must be above 0 and at most 1");
    else if (strcmp(rope->scaling->name, "proportional") == 0) rope->rotary_dim = c->head_dim; /* some stand still */
    else rope->rotary_dim = (int)(c->head_dim * partial);
    if (rope->scaling != &rope_none) read_numbers(r, c, rope, o, a ? a->n_ctx_original : 0);
    else if (json_absent(type)) refuse_numbers_without_method(r, o, where);
}

/* rope_scaling (transformers 4) wins over rope_parameters (5) where both stand. */
const JsonValue *key_rope_object(KeyReader *r, const char **where) {
    const JsonValue *root = r->w->config, *o = json_get(root, "rope_scaling");
    *where = "rope_scaling";
    if (json_absent(o) || (o->type == JSON_OBJECT && o->len == 0)) {
        *where = "rope_parameters";
        o = json_get(root, *where);
    }
    if (!json_absent(o) && o->type != JSON_OBJECT) key_complain(r, *where, "must be an object");
    return json_absent(o) || o->type != JSON_OBJECT ? NULL : o;
}

/* Its object may have one for each type of layer; else it is that of layers that see all, and windows have plain RoPE.
 * Beside a flat rope_scaling, rope_parameters still has the theta of the one, and the object of the other. */
static void rope(KeyReader *r, Config *c, const DecoderDefaults *a) {
    const char *where;
    const JsonValue *root = r->w->config, *o = key_rope_object(r, &where), *full, *local = NULL;
    double theta = a && a->theta > 0 ? a->theta : 10000, share = a && a->partial > 0 ? a->partial : 1;
    Json usual = {0};
    if (!o && a && a->rope) {
        if (json_parse(&usual, a->rope, strlen(a->rope), "the usual RoPE", NULL, 0)) key_no_memory(r);
        o = usual.root;
    }
    theta = number(r, root, "rope_theta", theta);
    if ((full = json_get(o, "full_attention")) || json_get(o, "sliding_attention")) {
        local = json_get(o, "sliding_attention"), o = full;
        if (!a || !a->local_theta) key_complain(r, where, "settings by layer type are not known here");
    } else if (a && a->local_theta && strcmp(where, "rope_scaling") == 0) {
        full = json_get(json_get(root, "rope_parameters"), "full_attention");
        local = json_get(json_get(root, "rope_parameters"), "sliding_attention");
        theta = number(r, full, "rope_theta", theta);
    }
    if ((!json_absent(full) && full->type != JSON_OBJECT) || (!json_absent(local) && local->type != JSON_OBJECT))
        key_complain(r, where, "settings of a layer type must be an object");
    rope_of(r, c, &c->rope, o, where, a, theta, share);
    if (a && a->partial == 0 && c->rope.rotary_dim < c->head_dim)
        weights_note(r->w, "partial_rotary_factor: transformers does not read it for a %s; here %d of a head's %d "
                     "entries turn", c->arch, c->rope.rotary_dim, c->head_dim);
    if (c->decoder && a->local_theta) {
        c->decoder->local = (RopeConfig){.pairing = c->rope.pairing};
        rope_of(r, c, &c->decoder->local, local, where, a,
                number(r, root, "rope_local_base_freq", a->local_theta > 0 ? a->local_theta : theta), share);
    }
    json_free(&usual);
}

/* The layers that layer_types names. */
static void windows_by_name(KeyReader *r, Config *c, const JsonValue *types, const char *without) {
    int l = 0;
    if (types->type != JSON_ARRAY || types->len != (size_t)c->n_layers) {
        key_complain(r, "layer_types", "must be a list with an entry for each layer");
        return;
    }
    for (const JsonValue *e = types->child; e; e = e->next) {
        if (!json_is(e, "sliding_attention") && !json_is(e, "full_attention"))
            key_complain(r, "layer_types", "only sliding_attention and full_attention are known here");
        c->windowed[l++] = (uint8_t)json_is(e, "sliding_attention");
        if (c->windowed[l - 1] && !c->window) key_complain(r, without, "gives no window, but layer_types names layers "
                                                           "that have one");
    }
}

/* Which layers have the window: those that layer_types names; else all, or (by layer) those from max_window_layers on.
 * A Mistral with layer_types is what transformers calls a Ministral. */
static void window(KeyReader *r, Config *c, const DecoderDefaults *a) {
    const JsonValue *types = json_get(r->w->config, "layer_types"), *v = json_get(r->w->config, "sliding_window");
    int by_layer = a->window_by_layer, on = by_layer ? key_flag(r, NULL, "use_sliding_window", 0) : 1;
    if (!a->window) return;
    if (on && !(v && v->type == JSON_NULL)) /* null: no window; absent: transformers' default */
        c->window = key_int(r, NULL, "sliding_window", (double)a->window, 1, MOST_COUNTED);
    if (!json_absent(types)) windows_by_name(r, c, types, on ? "sliding_window" : "use_sliding_window");
    else if (c->window) {
        int first = by_layer ? (int)key_int(r, NULL, "max_window_layers", 28, 0, 1e9) : 0;
        for (int l = first; l < c->n_layers; l++) c->windowed[l] = 1;
    }
}

/* transformers' defaults; null says that a size follows from the others. */
static void begin(KeyReader *r, Config *c, const Architecture *a) {
    const JsonValue *kv = json_get(r->w->config, "num_key_value_heads"), *dim = json_get(r->w->config, "head_dim");
    c->n_heads = a->hf->heads;
    c->n_kv_heads = kv && kv->type == JSON_NULL ? 0 : a->hf->kv_heads;
    c->head_dim = dim && dim->type == JSON_NULL ? 0 : a->hf->head_dim;
    c->n_ctx_train = a->hf->n_ctx;
    c->norm_eps = a->hf->eps > 0 ? a->hf->eps : 1e-6f;
}

/* The file has no head, though its configuration promises one. Where the outer one ties it, transformers does so,
 * whatever text_config says. Models that embed are often stored so (e5-mistral: a MistralModel; beside others stands
 * sentence-transformers' modules.json): their logits mean nothing, and nobody asks for them. */
static int lacks_head(const Weights *w) {
    const JsonValue *classes = json_typed(w->config, "architectures", JSON_ARRAY);
    const JsonValue *name = classes ? classes->child : NULL;
    size_t n = name && name->type == JSON_STRING ? name->len : 0;
    if (weights_find(w, "lm_head.weight")) return 0;
    if (json_flag(w->outer, "tie_word_embeddings", 0)) return 1;
    if (n > 5 && strcmp(name->str + n - 5, "Model") == 0) return 1;
    return w->folder && file_has(w->folder, "modules.json");
}

/* What all decoders say alike. */
static void parts(KeyReader *r, Config *c, const DecoderDefaults *a) {
    const JsonValue *tied = json_get(r->w->outer, "tie_word_embeddings");
    int boolean = tied && tied->type == JSON_BOOL;
    if (!json_absent(tied) && !boolean) key_complain(r, "tie_word_embeddings", "must be true or false");
    c->own_head = !key_flag(r, NULL, "tie_word_embeddings", boolean ? tied->boolean : a->tied);
    if (c->own_head && lacks_head(r->w)) c->own_head = 0;
}

static void quantized(KeyReader *r, const DecoderDefaults *a) {
    const JsonValue *blocks = quantized_config(r->w);
    int mxfp4 = a && a->mxfp4 && json_is(json_get(blocks, "quant_method"), "mxfp4");
    if (!json_absent(blocks) && !quantized_is(blocks) && !mxfp4)
        key_complain(r, "quantization_config",
                     "this kind of quantized weights is not read (FP8, compressed-tensors, NVFP4, AWQ's gemm, GPTQ and "
                     "gpt-oss's MXFP4 are); use the original or a GGUF");
}

/* A LLaMA's, Mistral's or Qwen's. */
static void plain_parts(KeyReader *r, Config *c, const DecoderDefaults *a) {
    char activation[16] = "silu";
    window(r, c, a);
    int attention = key_flag(r, NULL, "attention_bias", 0);
    c->qkv_bias = a->qkv_bias >= 0 ? a->qkv_bias : attention;
    c->o_bias = a->o_bias >= 0 ? a->o_bias : attention;
    c->mlp_bias = a->mlp_bias < 0 ? key_flag(r, NULL, "mlp_bias", 0) : a->mlp_bias;
    key_word(r, NULL, "hidden_act", activation, sizeof activation);
    if (strcmp(activation, "silu") != 0 && strcmp(activation, "swish") != 0)
        key_complain(r, "hidden_act", "only silu is known here");
}

static void add_ends(KeyReader *r, Config *c, const JsonValue *root) {
    const JsonValue *v = json_get(root, "eos_token_id");
    if (json_absent(v)) return;
    int list = v->type == JSON_ARRAY;
    for (const JsonValue *e = list ? v->child : v; e; e = list ? e->next : NULL) {
        if (e->type != JSON_NUMBER) key_complain(r, "eos_token_id", "must be an id, or a list of ids");
        else if (config_add_end(c, e->number)) key_complain(r, "eos_token_id", "more than 64 ids that end a text");
    }
}

static void ends(KeyReader *r, Config *c) {
    const JsonValue *bos = json_get(r->w->config, "bos_token_id");
    if (json_absent(bos)) bos = json_get(r->w->outer, "bos_token_id");
    if (bos && bos->type == JSON_NUMBER && bos->number >= 0 && bos->number < c->vocab_size)
        c->bos_id = (int)bos->number;
    add_ends(r, c, r->w->config);
    add_ends(r, c, r->w->outer);
    add_ends(r, c, r->w->generation);
}

static void finish(KeyReader *r, Config *c, const Architecture *a) {
    c->rope.pairing = a->hf && !a->hf->interleaved ? ROPE_HALF : ROPE_INTERLEAVED;
    rope(r, c, a->hf);
    if (a->hf) parts(r, c, a->hf);
    quantized(r, a->hf);
    key_check_causal(r, a);
    if (a->hf && a->hf->gguf) snprintf(c->arch, sizeof c->arch, "%s", a->hf->gguf);
    if (a->hf && !a->traits) plain_parts(r, c, a->hf);
    ends(r, c);
}

const KeySource keys_hf = {"is missing in config.json", look, begin, finish};
