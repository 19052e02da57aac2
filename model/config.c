/* model/config.c - one Config from any file's keys: llama2.c's header, GGUF's metadata, Hugging Face's config.json. */
#include "roformer_config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAVOR_FEATURES = 128, FAVOR_SEED = 1 }; /* where a file does not say */

/* Architectures of decoder we run. What a config.json leaves out has these values (transformers' defaults). */
typedef struct {
    const char *name;
    int default_kv_heads;     /* 0: n_heads */
    int default_head_dim;     /* 0: d_model / n_heads */
    int64_t default_n_ctx;
    int64_t default_window;
    int qkv_bias;             /* 1 always, 0 never, -1 as attention_bias says */
    int o_bias;               /* the same */
    int mlp_bias;             /* 0 never, -1 as mlp_bias says */
    int qk_norm;
    int window_by_layer;      /* use_sliding_window, max_window_layers, layer_types */
    RopePairing gguf_pairing;
} Arch;

static const Arch archs[] = {
    {"llama", 0, 0, 2048, 0, -1, -1, -1, 0, 0, ROPE_INTERLEAVED},
    {"mistral", 8, 0, 131072, 4096, 0, 0, 0, 0, 0, ROPE_INTERLEAVED},
    {"qwen2", 32, 0, 32768, 4096, 1, 0, 0, 0, 1, ROPE_HALF},
    {"qwen3", 32, 128, 32768, 4096, -1, -1, 0, 1, 1, ROPE_HALF},
};

static const Arch *arch_find(const char *name, size_t len) {
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
        if (strlen(archs[i].name) == len && memcmp(archs[i].name, name, len) == 0) return &archs[i];
    return NULL;
}

static void unknown_arch(KeyReader *r, const char *key, const char *name, size_t len) {
    char why[160];
    snprintf(why, sizeof why, "architecture \"%.*s\" is not known here (llama, mistral, qwen2, qwen3 and roformer are)",
             len > 60 ? 60 : (int)len, name);
    key_complain(r, key, why);
}

/* What head_dim is where the file does not give it. */
int config_even_split(KeyReader *r, const Config *c) {
    if (c->d_model % c->n_heads) key_complain(r, "head_dim", "is not given, and the heads do not divide the model's width");
    return c->d_model / c->n_heads;
}

/* What a file says about its attention: empty words and absent numbers where it says nothing. */
typedef struct {
    char kind[32], phi[32], form[32];
    double epsilon;
    int64_t favor_features, favor_seed;
} AttentionWords;

static void unknown_word(KeyReader *r, const char *key, const char *word, const char *known) {
    char why[300];
    snprintf(why, sizeof why, "\"%s\" is not known here (%s are)", word, known);
    key_complain(r, key, why);
}

/* What a form takes where no map is named; the cosine forms take no other. */
static const FeatureMap *usual_map(const LinearForm *form) { return feature_map(form->cosine ? "identity" : "elu+1"); }

/* "a, b, c" of the rows' names, into out [200]. */
static const char *known_maps(char *out) {
    for (int i = 0, n = 0; feature_map_row(i); i++) n += snprintf(out + n, 200 - (size_t)n, "%s%s", i ? ", " : "", feature_map_row(i)->name);
    return out;
}

static const char *known_forms(char *out) {
    for (int i = 0, n = 0; linear_form_row(i); i++) n += snprintf(out + n, 200 - (size_t)n, "%s%s", i ? ", " : "", linear_form_row(i)->name);
    return out;
}

static void settle_attention(KeyReader *r, Config *c, const AttentionWords *w, const char *const keys[3]) {
    char known[200];
    if (*w->kind && strcmp(w->kind, "softmax") != 0 && strcmp(w->kind, "linear") != 0)
        unknown_word(r, keys[0], w->kind, "softmax and linear");
    const FeatureMap *phi = *w->phi ? feature_map(w->phi) : NULL;
    const LinearForm *form = linear_form(*w->form ? w->form : "numerator");
    if (*w->phi && !phi) unknown_word(r, keys[1], w->phi, known_maps(known));
    if (!form) unknown_word(r, keys[2], w->form, known_forms(known));
    if (r->rc) return;
    c->file_form = form;
    c->linear = (LinearConfig){.form = strcmp(w->kind, "linear") == 0 ? form : NULL,
                               .phi = phi ? phi : usual_map(form),
                               .epsilon = w->epsilon,
                               .favor_features = (int)w->favor_features,
                               .favor_seed = (uint64_t)w->favor_seed};
}

/* ---- Hugging Face's config.json ---- */

/* The numbers of a list into out [max]; the count. */
static int hf_list(KeyReader *r, const JsonValue *o, const char *key, double *out, int max) {
    const JsonValue *v = json_get(o, key);
    int n = 0;
    if (key_absent(v)) return 0;
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

static int64_t hf_original_context(KeyReader *r, const JsonValue *o, int64_t absent) {
    double v = hf_number(r, o, "original_max_position_embeddings", 0);
    return v == 0 ? absent : key_range(r, "original_max_position_embeddings", v, 1, 1e15);
}

/* What a method that is not "default" needs, beside theta and the rotated part. */
static void hf_rope_numbers(KeyReader *r, Config *c, const JsonValue *o) {
    RopeConfig *rope = &c->rope;
    const JsonValue *root = r->w->config.root;
    rope->factor = hf_number(r, o, "factor", 0);
    rope->n_ctx_original = hf_original_context(r, root, hf_original_context(r, o, c->n_ctx_train));
    if (rope->scaling->factor_from_lengths) {
        if (key_absent(json_get(o, "factor"))) rope->factor = (double)c->n_ctx_train / (double)rope->n_ctx_original;
        rope->attention_factor = hf_number(r, o, "attention_factor", 0);
        if (!key_absent(json_get(o, "attention_factor")) && !(rope->attention_factor > 0)) key_complain(r, "attention_factor", "must be above 0");
    }
    rope->mscale = hf_number(r, o, "mscale", 0);
    rope->mscale_all_dim = hf_number(r, o, "mscale_all_dim", 0);
    rope->beta_fast = hf_number(r, o, "beta_fast", 0);
    rope->beta_slow = hf_number(r, o, "beta_slow", 0);
    const JsonValue *truncate = json_get(o, "truncate");
    rope->no_truncate = !key_absent(truncate) && truncate->type == JSON_BOOL && !truncate->boolean;
    rope->low_freq_factor = hf_number(r, o, "low_freq_factor", 0);
    rope->high_freq_factor = hf_number(r, o, "high_freq_factor", 0);
    rope->n_long = hf_list(r, o, "long_factor", rope->long_factor, ROPE_MAX_PAIRS);
    rope->n_short = hf_list(r, o, "short_factor", rope->short_factor, ROPE_MAX_PAIRS);
}

/* A factor with no method to give it to is half a setting: running it unscaled would be a guess. */
static void refuse_numbers_without_method(KeyReader *r, const JsonValue *o, const char *where) {
    static const char *const keys[] = {"factor",           "short_factor",     "long_factor", "low_freq_factor",
                                       "high_freq_factor", "attention_factor", "beta_fast",   "beta_slow"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!key_absent(json_get(o, keys[i]))) key_complain(r, where, "has numbers of a rope method, but no rope_type that names it");
}

/* rope_scaling (transformers 4) wins over rope_parameters (5) where both stand; rope_theta and partial_rotary_factor are
 * looked for inside and then at top level. As transformers 5 reads them. */
void config_hf_rope(KeyReader *r, Config *c, RopePairing pairing) {
    const JsonValue *root = r->w->config.root, *o = json_get(root, "rope_scaling");
    const char *where = "rope_scaling";
    if (key_absent(o) || (o->type == JSON_OBJECT && o->len == 0)) o = json_get(root, "rope_parameters"), where = "rope_parameters";
    if (!key_absent(o) && o->type != JSON_OBJECT) key_complain(r, where, "must be an object");
    if (json_get(o, "full_attention") || json_get(o, "sliding_attention")) key_complain(r, where, "settings by layer type are not known here");

    RopeConfig *rope = &c->rope;
    const JsonValue *type = json_get(o, "rope_type");
    if (key_absent(type)) type = json_get(o, "type");
    if (!key_absent(type) && type->type != JSON_STRING) key_complain(r, where, "rope_type must be a string");
    rope->scaling = rope_scaling(!key_absent(type) && type->type == JSON_STRING ? type->str : "default");
    if (!rope->scaling) {
        char why[160];
        snprintf(why, sizeof why, "rope method \"%.60s\" is not known here", type->str);
        key_complain(r, where, why);
        rope->scaling = rope_scaling("none");
    }
    rope->pairing = pairing;
    rope->theta = hf_number(r, o, "rope_theta", hf_number(r, root, "rope_theta", 10000));
    double partial = hf_number(r, o, "partial_rotary_factor", hf_number(r, root, "partial_rotary_factor", 1));
    if (!(partial > 0 && partial <= 1)) key_complain(r, "partial_rotary_factor", "must be above 0 and at most 1");
    else rope->rotary_dim = (int)(c->head_dim * partial);
    if (rope->scaling->check) hf_rope_numbers(r, c, o);
    else if (key_absent(type)) refuse_numbers_without_method(r, o, where);
}
/* Which layers have the window. layer_types says it, or (use_sliding_window) every layer from max_window_layers on. */
static void hf_window(KeyReader *r, Config *c, const Arch *arch) {
    const JsonValue *root = r->w->config.root, *types = json_get(root, "layer_types"), *v = json_get(root, "sliding_window");
    int on = arch->window_by_layer ? hf_bool(r, "use_sliding_window", 0) : arch->default_window > 0;
    if (!on || (v && v->type == JSON_NULL)) return; /* null: no window; absent: transformers' default */
    c->window = hf_int(r, "sliding_window", arch->default_window, 1, 1e15);
    if (!arch->window_by_layer) {
        memset(c->windowed, 1, (size_t)c->n_layers);
    } else if (key_absent(types)) {
        int first = (int)hf_int(r, "max_window_layers", 28, 0, 1e9);
        for (int l = first; l < c->n_layers; l++) c->windowed[l] = 1;
    } else if (types->type != JSON_ARRAY || types->len != (size_t)c->n_layers) {
        key_complain(r, "layer_types", "must be a list with an entry for each layer");
    } else {
        int l = 0;
        for (const JsonValue *e = types->child; e; e = e->next) {
            if (!json_is(e, "sliding_attention") && !json_is(e, "full_attention"))
                key_complain(r, "layer_types", "only sliding_attention and full_attention are known here");
            c->windowed[l++] = (uint8_t)json_is(e, "sliding_attention");
        }
    }
}

static void add_eos(Config *c, double id) {
    for (int i = 0; i < c->n_eos; i++)
        if (c->eos_id[i] == id) return;
    if (id >= 0 && id < c->vocab_size && c->n_eos < CONFIG_MAX_EOS) c->eos_id[c->n_eos++] = (int)id;
}

static void hf_add_eos(Config *c, const JsonValue *root) {
    const JsonValue *v = json_get(root, "eos_token_id");
    if (!v) return;
    if (v->type == JSON_NUMBER) add_eos(c, v->number);
    for (const JsonValue *e = v->type == JSON_ARRAY ? v->child : NULL; e; e = e->next)
        if (e->type == JSON_NUMBER) add_eos(c, e->number);
}

void config_hf_eos(KeyReader *r, Config *c) {
    const JsonValue *root = r->w->config.root, *bos = json_get(root, "bos_token_id");
    if (bos && bos->type == JSON_NUMBER && bos->number >= 0 && bos->number < c->vocab_size) c->bos_id = (int)bos->number;
    hf_add_eos(c, root);
    hf_add_eos(c, r->w->generation.root);
}

void config_hf_attention(KeyReader *r, Config *c) {
    AttentionWords w = {.epsilon = hf_number(r, r->w->config.root, "attention_denominator_epsilon", 1e-6)};
    hf_word(r, "attention_kind", w.kind, sizeof w.kind);
    hf_word(r, "attention_feature_map", w.phi, sizeof w.phi);
    hf_word(r, "attention_form", w.form, sizeof w.form);
    w.favor_features = hf_int(r, "attention_favor_features", FAVOR_FEATURES, 2, 2 * ROPE_MAX_PAIRS);
    w.favor_seed = hf_int(r, "attention_favor_seed", FAVOR_SEED, 0, 9e15);
    settle_attention(r, c, &w, (const char *const[]){"attention_kind", "attention_feature_map", "attention_form"});
}

static void read_hf(KeyReader *r, Config *c) {
    const JsonValue *root = r->w->config.root, *type = json_get(root, "model_type");
    if (key_absent(type) || type->type != JSON_STRING) {
        key_complain(r, "model_type", "is missing in config.json");
        return;
    }
    const Arch *arch = arch_find(type->str, type->len);
    if (roformer_is_hf(type)) {
        snprintf(c->arch, sizeof c->arch, "roformer");
        roformer_read_hf(r, c);
        return;
    }
    if (!arch) {
        unknown_arch(r, "model_type", type->str, type->len);
        return;
    }
    snprintf(c->arch, sizeof c->arch, "%s", arch->name);
    c->names = NAMES_HF;
    c->d_model = (int)hf_int(r, "hidden_size", 0, 1, CONFIG_MAX_DIM);
    c->d_ff = (int)hf_int(r, "intermediate_size", 0, 1, CONFIG_MAX_DIM);
    c->n_layers = (int)hf_int(r, "num_hidden_layers", 0, 1, CONFIG_MAX_LAYERS);
    c->n_heads = (int)hf_int(r, "num_attention_heads", 0, 1, CONFIG_MAX_DIM);
    c->vocab_size = (int)hf_int(r, "vocab_size", 0, 1, 1 << 30);
    if (r->rc) return;
    const JsonValue *kv = json_get(root, "num_key_value_heads"); /* null means n_heads; absent means the default */
    c->n_kv_heads = kv && kv->type == JSON_NULL
                        ? c->n_heads
                        : (int)hf_int(r, "num_key_value_heads", arch->default_kv_heads ? arch->default_kv_heads : c->n_heads, 1,
                                      CONFIG_MAX_DIM);
    const JsonValue *hd = json_get(root, "head_dim"); /* null means the even split */
    c->head_dim = !key_absent(hd)                    ? (int)hf_int(r, "head_dim", 0, 1, CONFIG_MAX_DIM)
                  : !hd && arch->default_head_dim ? arch->default_head_dim
                                                  : config_even_split(r, c);
    c->n_ctx_train = hf_int(r, "max_position_embeddings", arch->default_n_ctx, 1, 1e15);
    c->norm_eps = (float)hf_number(r, root, "rms_norm_eps", 1e-6);
    config_hf_rope(r, c, ROPE_HALF);
    hf_window(r, c, arch);
    int attention_bias = hf_bool(r, "attention_bias", 0);
    c->qkv_bias = arch->qkv_bias < 0 ? attention_bias : arch->qkv_bias;
    c->o_bias = arch->o_bias < 0 ? attention_bias : arch->o_bias;
    c->mlp_bias = arch->mlp_bias < 0 ? hf_bool(r, "mlp_bias", 0) : arch->mlp_bias;
    c->qk_norm = arch->qk_norm;
    c->tied = hf_bool(r, "tie_word_embeddings", 0);
    const JsonValue *act = json_get(root, "hidden_act");
    if (!key_absent(act) && !json_is(act, "silu") && !json_is(act, "swish")) key_complain(r, "hidden_act", "only silu is known here");
    if (!key_absent(json_get(root, "quantization_config")))
        key_complain(r, "quantization_config", "quantized Hugging Face weights are not read; use the original or a GGUF");
    config_hf_attention(r, c);
    config_hf_eos(r, c);
}

/* ---- GGUF's metadata ---- */

/* A small float tensor, [n] values, into out [ROPE_MAX_PAIRS]; the count, 0 where there is none. */
static int gguf_list(KeyReader *r, const char *name, double *out) {
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
void config_gguf_rope(KeyReader *r, Config *c, RopePairing pairing) {
    RopeConfig *rope = &c->rope;
    char key[120], name[32] = "";
    rope->pairing = pairing;
    rope->theta = gguf_number(r, "rope.freq_base", 10000);
    rope->rotary_dim = (int)gguf_int(r, "rope.dimension_count", c->head_dim, 1, CONFIG_MAX_DIM);
    rope->factor = gguf_number(r, "rope.scaling.factor", gguf_number(r, "rope.scale_linear", 0));
    rope->n_ctx_original = gguf_int(r, "rope.scaling.original_context_length", c->n_ctx_train, 1, 1e15);
    rope->n_divisors = gguf_list(r, "rope_freqs.weight", rope->divisors);
    rope->n_long = gguf_list(r, "rope_factors_long.weight", rope->long_factor);
    rope->n_short = gguf_list(r, "rope_factors_short.weight", rope->short_factor);

    const MetaValue *type = gguf_get(r, "rope.scaling.type", key, sizeof key);
    if (type && type->type != META_STRING) key_complain(r, key, "must be a string");
    else if (type && type->n < sizeof name) memcpy(name, type->data, type->n);
    else if (type) memcpy(name, type->data, sizeof name - 1);
    if (!type) snprintf(name, sizeof name, "%s", rope->n_long ? "longrope" : rope->factor != 0 ? "linear" : "none");
    if (strcmp(name, "linear") == 0 && rope->factor == 0) snprintf(name, sizeof name, "none");
    rope->scaling = rope_scaling(name);
    if (!rope->scaling) {
        char why[100];
        snprintf(why, sizeof why, "rope method \"%s\" is not known here", name);
        key_complain(r, key, why);
        rope->scaling = rope_scaling("none");
    }
    double attn = gguf_number(r, "rope.scaling.attn_factor", 1);
    if (!(attn > 0)) key_complain(r, "rope.scaling.attn_factor", "must be above 0");
    if (rope->scaling->own_attention) rope->attention_multiplier = attn;
    else rope->attention_factor = attn;
    rope->beta_fast = gguf_number(r, "rope.scaling.yarn_beta_fast", 0);
    rope->beta_slow = gguf_number(r, "rope.scaling.yarn_beta_slow", 0);
}

static void gguf_window(KeyReader *r, Config *c) {
    char key[120];
    c->window = gguf_int(r, "attention.sliding_window", 0, 0, 1e15);
    const MetaValue *m = gguf_get(r, "attention.sliding_window_pattern", key, sizeof key);
    if (c->window == 0) return;
    memset(c->windowed, 1, (size_t)c->n_layers);
    if (!m) return;
    if (m->type != META_ARRAY || m->elem != META_BOOL || m->n != (uint64_t)c->n_layers)
        key_complain(r, key, "must be a list of booleans, one for each layer");
    else memcpy(c->windowed, m->data, (size_t)c->n_layers);
}

void config_gguf_attention(KeyReader *r, Config *c) {
    AttentionWords w = {.epsilon = gguf_number(r, "attention.denominator_epsilon", 1e-6)};
    char kind[120], phi[120], form[120];
    gguf_word(r, "attention.kind", w.kind, sizeof w.kind, kind, sizeof kind);
    gguf_word(r, "attention.feature_map", w.phi, sizeof w.phi, phi, sizeof phi);
    gguf_word(r, "attention.form", w.form, sizeof w.form, form, sizeof form);
    w.favor_features = gguf_int(r, "attention.favor_features", FAVOR_FEATURES, 2, 2 * ROPE_MAX_PAIRS);
    w.favor_seed = gguf_int(r, "attention.favor_seed", FAVOR_SEED, 0, 9e15);
    settle_attention(r, c, &w, (const char *const[]){kind, phi, form});
}

static int64_t gguf_token(KeyReader *r, const char *key, int absent) {
    int64_t v;
    const MetaValue *m = weights_meta(r->w, key);
    return m && meta_integer(m, &v) && v >= 0 && v < (1 << 30) ? v : absent;
}

void config_gguf_eos(KeyReader *r, Config *c) {
    c->bos_id = (int)gguf_token(r, "tokenizer.ggml.bos_token_id", -1);
    if (c->bos_id >= c->vocab_size) c->bos_id = -1;
    add_eos(c, (double)gguf_token(r, "tokenizer.ggml.eos_token_id", -1));
    add_eos(c, (double)gguf_token(r, "tokenizer.ggml.eot_token_id", -1));
}

static void read_gguf(KeyReader *r, Config *c) {
    const MetaValue *name = weights_meta(r->w, "general.architecture");
    if (!name || name->type != META_STRING) {
        key_complain(r, "general.architecture", "is missing");
        return;
    }
    const Arch *arch = arch_find((const char *)name->data, name->n);
    if (roformer_is_gguf(name)) {
        snprintf(c->arch, sizeof c->arch, "roformer");
        r->arch = c->arch;
        roformer_read_gguf(r, c);
        return;
    }
    if (!arch) {
        unknown_arch(r, "general.architecture", (const char *)name->data, name->n);
        return;
    }
    snprintf(c->arch, sizeof c->arch, "%s", arch->name);
    r->arch = c->arch;
    c->names = NAMES_GGUF;
    c->d_model = (int)gguf_int(r, "embedding_length", -1, 1, CONFIG_MAX_DIM);
    c->d_ff = (int)gguf_int(r, "feed_forward_length", -1, 1, CONFIG_MAX_DIM);
    c->n_layers = (int)gguf_int(r, "block_count", -1, 1, CONFIG_MAX_LAYERS);
    c->n_heads = (int)gguf_int(r, "attention.head_count", -1, 1, CONFIG_MAX_DIM);
    c->n_kv_heads = (int)gguf_int(r, "attention.head_count_kv", c->n_heads, 1, CONFIG_MAX_DIM);
    char key[120];
    c->head_dim = gguf_get(r, "attention.key_length", key, sizeof key)
                      ? (int)gguf_int(r, "attention.key_length", -1, 1, CONFIG_MAX_DIM)
                      : config_even_split(r, c);
    if (gguf_int(r, "attention.value_length", c->head_dim, 1, CONFIG_MAX_DIM) != c->head_dim)
        key_complain(r, "attention.value_length", "differs from attention.key_length, which is not known here");
    c->n_ctx_train = gguf_int(r, "context_length", -1, 1, 1e15);
    const Tensor *emb = weights_find(r->w, "token_embd.weight");
    if (!emb || emb->n_dims != 2)
        key_complain(r, "token_embd.weight",
                 r->w->n_tensors ? "the tensor is missing or not a matrix" : "the file holds no tensors (a vocabulary only)");
    else c->vocab_size = (int)key_range(r, "vocab_size", (double)emb->shape[0], 1, 1 << 30);
    c->norm_eps = (float)gguf_number(r, "attention.layer_norm_rms_epsilon", -1);
    if (gguf_int(r, "expert_count", 0, 0, 1e9) > 0) key_complain(r, "expert_count", "mixtures of experts are not known here");
    if (r->rc) return;
    config_gguf_attention(r, c);
    config_gguf_rope(r, c, arch->gguf_pairing);
    gguf_window(r, c);
    c->qkv_bias = c->o_bias = c->mlp_bias = c->tied = -1;
    c->qk_norm = arch->qk_norm;
    config_gguf_eos(r, c);
}

/* ---- llama2.c's header ---- */

static void read_llama2c(Config *c, const Weights *w) {
    const Llama2cHeader *h = &w->llama2c;
    snprintf(c->arch, sizeof c->arch, "llama");
    c->names = NAMES_GGUF; /* the reader names its tensors so */
    c->d_model = h->dim;
    c->d_ff = h->hidden_dim;
    c->n_layers = h->n_layers;
    c->n_heads = h->n_heads;
    c->n_kv_heads = h->n_kv_heads;
    c->head_dim = h->dim / h->n_heads;
    c->vocab_size = h->vocab_size;
    c->n_ctx_train = h->seq_len;
    c->norm_eps = 1e-5f; /* llama2.c has these two in its code, not in its file */
    c->rope = (RopeConfig){.scaling = rope_scaling("none"), .pairing = ROPE_INTERLEAVED, .rotary_dim = c->head_dim, .theta = 10000};
    c->file_form = linear_form("numerator");
    c->linear = (LinearConfig){.phi = usual_map(c->file_form), .epsilon = 1e-6, .favor_features = FAVOR_FEATURES, .favor_seed = FAVOR_SEED};
    c->tied = h->shared_classifier;
    c->bos_id = 1;
    add_eos(c, 1); /* llama2.c ends a text at BOS, not at EOS */
}

/* ---- all of them ---- */

static void override_rope(KeyReader *r, Config *c, const RopeOverride *o) {
    RopeConfig *rope = &c->rope;
    if (o->scaling) {
        if (o->scaling != rope->scaling) { /* another method: what the file said for its own does not hold */
            rope->factor = rope->attention_factor = rope->attention_multiplier = 0;
            rope->mscale = rope->mscale_all_dim = rope->beta_fast = rope->beta_slow = 0;
            rope->no_truncate = 0;
            rope->low_freq_factor = 1; /* Llama 3.1's */
            rope->high_freq_factor = 4;
        }
        rope->n_divisors = 0;
        rope->scaling = o->scaling;
        if (rope->n_ctx_original == 0) rope->n_ctx_original = c->n_ctx_train;
    }
    if (o->theta > 0) rope->theta = o->theta;
    if ((o->factor > 0 || o->n_ctx_original > 0) && !rope->scaling->check && r->rc == 0)
        r->rc = base_error(r->err, r->errlen, -EINVAL, "%s: no method to give it to; add --rope linear or another",
                           o->factor > 0 ? "--rope-factor" : "--rope-original-context");
    if (o->factor > 0 && o->factor != rope->factor) {
        rope->factor = o->factor;
        rope->attention_factor = rope->attention_multiplier = 0; /* they belonged to the old one */
    }
    if (o->n_ctx_original > 0) rope->n_ctx_original = o->n_ctx_original;
}

static void override_attention(KeyReader *r, Config *c, const AttentionOverride *a) {
    LinearConfig *linear = &c->linear;
    const LinearConfig was = *linear;
    if (a->kind == ATTENTION_SOFTMAX) linear->form = NULL;
    if (a->kind == ATTENTION_LINEAR && !linear->form) { /* a window is softmax's: a sum cannot forget */
        linear->form = c->file_form;
        c->window = 0;
        memset(c->windowed, 0, sizeof c->windowed);
    }
    if (!linear->form) {
        c->attention_changed = was.form != NULL;
        if (r->rc == 0 && (a->phi || a->form || a->epsilon || a->favor_features || a->favor_seed))
            r->rc = base_error(r->err, r->errlen, -EINVAL, "%s: --phi, --form, --epsilon and --favor-.. are for linear attention, and this model's is softmax; add --attention linear",
                               r->w->path);
        return;
    }
    if (a->form) linear->form = a->form;
    if (linear->form->cosine != c->file_form->cosine) linear->phi = usual_map(linear->form);
    if (a->phi) linear->phi = a->phi;
    if (a->epsilon) linear->epsilon = *a->epsilon;
    if (r->rc == 0 && (a->favor_features || a->favor_seed) && !linear->phi->projected)
        r->rc = base_error(r->err, r->errlen, -EINVAL, "%s: --favor-features and --favor-seed are for --phi favor+", r->w->path);
    if (a->favor_features) linear->favor_features = a->favor_features;
    if (a->favor_seed) linear->favor_seed = *a->favor_seed;
    c->attention_changed = linear->form != was.form || linear->phi != was.phi || linear->epsilon != was.epsilon ||
                           linear->favor_features != was.favor_features || linear->favor_seed != was.favor_seed;
}

/* Linear attention turns features: where there are not head_dim of them, the same share of them turns. */
static void check_linear(KeyReader *r, Config *c) {
    LinearConfig *linear = &c->linear;
    RopeConfig *rope = &c->rope;
    char why[200];
    linear->head_dim = c->head_dim;
    if (linear_check(linear, why, sizeof why)) key_complain(r, "linear attention", why);
    if (c->window) key_complain(r, "sliding_window", "linear attention cannot forget; it has no window");
    int turns = linear->form->before_phi || linear->form->in_numerator || linear->form->in_denominator;
    if (turns && rope->scaling->keys == ROPE_KEYS_BY_LENGTH) {
        snprintf(why, sizeof why, "method %s changes with the text's length, and linear attention keeps no keys to turn anew; name another (--rope)",
                 rope->scaling->name);
        key_complain(r, "rope", why);
    }
    int features = linear_features_n(linear);
    if (r->rc || features == c->head_dim || linear->form->before_phi) return;
    if (turns && rope->n_divisors) key_complain(r, "rope_freqs.weight", "is for head_dim entries, but these features are more or fewer");
    rope->rotary_dim = (int)((int64_t)features * rope->rotary_dim / c->head_dim) / 2 * 2;
}

int config_read(Config *c, const Weights *w, const ConfigOverride *o, char *err, size_t errlen) {
    KeyReader r = {.w = w, .arch = "", .err = err, .errlen = errlen};
    memset(c, 0, sizeof *c);
    c->bos_id = -1;
    if (w->format == FORMAT_HF) read_hf(&r, c);
    else if (w->format == FORMAT_GGUF) read_gguf(&r, c);
    else read_llama2c(c, w);
    if (r.rc) return r.rc;
    if (c->value_dim == 0) c->value_dim = c->head_dim;
    key_range(&r, "d_model", c->d_model, 1, CONFIG_MAX_DIM); /* llama2.c's reader allows more */
    key_range(&r, "d_ff", c->d_ff, 1, CONFIG_MAX_DIM);
    key_range(&r, "n_layers", c->n_layers, 1, CONFIG_MAX_LAYERS);
    if (c->n_heads % c->n_kv_heads) key_complain(&r, "n_kv_heads", "must divide n_heads");
    if (c->head_dim < 2 || c->head_dim % 2 || c->head_dim > 2 * ROPE_MAX_PAIRS) key_complain(&r, "head_dim", "must be even, from 2 to 1024");
    if ((int64_t)c->n_heads * c->head_dim > CONFIG_MAX_DIM) key_complain(&r, "n_heads", "n_heads x head_dim is too large");
    if ((int64_t)c->n_heads * c->value_dim > CONFIG_MAX_DIM) key_complain(&r, "n_heads", "n_heads x value_dim is too large");
    if (!(c->norm_eps >= 0 && c->norm_eps < 1)) key_complain(&r, c->roformer.variant ? "layer_norm_eps" : "rms_norm_eps", "is missing or out of range");
    c->rope.n_ctx_train = c->n_ctx_train;
    if (o) override_rope(&r, c, &o->rope);
    if (r.rc) return r.rc;
    if (c->rope.rotary_dim > c->head_dim) key_complain(&r, "rotary_dim", "is larger than head_dim");
    if (o) override_attention(&r, c, &o->attention);
    if (c->linear.form) check_linear(&r, c);
    roformer_settle(&r, c, o ? &o->roformer : NULL);
    char why[200];
    if (r.rc == 0 && rope_check(&c->rope, why, sizeof why)) key_complain(&r, "rope", why);
    return r.rc;
}
