/* model/layers/rows_gemma4.c - Gemma 4, whose layers with a window have heads of another size than the others, and
 * whose last layers may attend to what earlier ones kept. Sources: transformers' modeling_gemma4.py, llama.cpp's
 * gemma4.cpp and its converter. */
#include "rows.h"

#include "base/json.h"
#include "config.h"

#include <stdio.h>
#include <string.h>

static const LayerName names[] = {
    {"ffn_norm.weight", NULL, "pre_feedforward_layernorm.weight"},
    {"ffn_gate_shexp.weight", "ffn_gate.weight", "mlp.gate_proj.weight"}, /* what all tokens ask is the usual network */
    {"ffn_up_shexp.weight", "ffn_up.weight", "mlp.up_proj.weight"},
    {"ffn_down_shexp.weight", "ffn_down.weight", "mlp.down_proj.weight"}, {0}};
static const char *const renames[][2] = {
    {".router.proj.", ".mlp.gate."}, {".router.", ".mlp.gate."}, {".experts.", ".mlp.experts."}, {0}};

enum { PERIOD = 6 };

#define IN(field) offsetof(Decoder, field)
static const KeyField keys[] = {
    {"final_logit_softcapping", "final_logit_softcapping", FIELD_FLOAT, IN(logit_cap), 0, 0, 0},
    {"attention.shared_kv_layers", "num_kv_shared_layers", FIELD_INT, IN(n_borrowers), 0, CONFIG_MAX_LAYERS, 0},
    {"embedding_length_per_layer_input", "hidden_size_per_layer_input", FIELD_INT, IN(per_layer), 0, CONFIG_MAX_DIM, 0},
    {"expert_count", "num_experts", FIELD_INT, IN(n_experts), 0, 4096, 0},
    {"expert_used_count", "top_k_experts", FIELD_INT, IN(n_used), 0, 256, 0},
    {"expert_feed_forward_length", "moe_intermediate_size", FIELD_INT, IN(d_expert), 0, CONFIG_MAX_DIM, 0},
    {0},
};

/* ---- heads of two sizes ---- */

/* What config.json says of the layers that see all: one by one, as transformers 5 writes what differs, or once, and
 * `usual` where it does not. */
static int of_full(KeyReader *r, const char *each, int same, const char *once, int usual, int most) {
    const JsonValue *layers = json_get(r->w->config, "per_layer_config"), *first = layers ? layers->child : NULL;
    const JsonValue *v = first ? json_get(first, each) : NULL;
    if (!layers) return (int)key_int(r, NULL, once, usual, 1, most);
    for (const JsonValue *e = first; e; e = e->next) {
        const JsonValue *other = json_get(e, each);
        if (json_absent(v) != json_absent(other) || (v && other && v->number != other->number))
            key_complain(r, "per_layer_config", "differs among layers of a kind, which is not known here");
    }
    if (json_absent(v)) return same;
    return (int)key_range(r, "per_layer_config", v->type == JSON_NUMBER ? v->number : -1, 1, most);
}

/* As read until here, config.json's sizes are those of layers with a window. */
static void sizes_of_config(KeyReader *r, Config *c) {
    Decoder *x = c->decoder;
    const JsonValue *config = r->w->config, *rope = json_get(config, "rope_parameters");
    const int unified = json_is(json_get(config, "model_type"), "gemma4_unified_text"), kv = c->n_kv_heads;
    x->local_dim = c->head_dim, x->local_kv = kv;
    c->head_dim = c->value_dim = of_full(r, "head_dim", x->local_dim, "global_head_dim", 512, 2 * ROPE_MAX_PAIRS);
    x->k_is_v = key_flag(r, NULL, "attention_k_eq_v", 0);
    if (x->k_is_v || json_get(config, "per_layer_config"))
        c->n_kv_heads = of_full(r, "num_key_value_heads", kv, "num_global_key_value_heads", kv, CONFIG_MAX_DIM);
    x->local.rotary_dim = x->local_dim;
    if (!json_absent(rope) && (!json_get(rope, "full_attention") || !json_get(rope, "sliding_attention")))
        key_complain(r, "rope_parameters", "must have full_attention and sliding_attention");
    if (c->rope.scaling == &rope_none || strcmp(c->rope.scaling->name, "proportional") == 0)
        c->rope.rotary_dim = c->head_dim;
    else key_complain(r, "rope_parameters", "only proportional and default are known here for full_attention");
    if (x->local.scaling != &rope_none) key_complain(r, "rope_parameters", "of sliding_attention must be default");
    x->wide_borrowers = key_flag(r, NULL, "use_double_wide_mlp", 0) && x->n_borrowers > 0;
    const int mixture = key_flag(r, NULL, "enable_moe_block", 0) && !unified;
    if (mixture && !x->n_experts) key_complain(r, "num_experts", r->source->missing);
    if (!mixture) x->n_experts = 0;
    if (unified) x->per_layer = 0;
    else if (!json_get(config, "hidden_size_per_layer_input")) x->per_layer = 256;
    if (key_int(r, NULL, "vocab_size_per_layer_input", c->vocab_size, 1, 1 << 30) != c->vocab_size && x->per_layer)
        key_complain(r, r->key, "differs from vocab_size, which is not known here");
    rows_only(r, "attention_bias", 0);
    if (json_is(json_get(config, "use_bidirectional_attention"), "all"))
        key_complain(r, "use_bidirectional_attention", "of all, where tokens see what follows, is not known here");
}

/* Layer l's of a list that GGUF may have; the one number of all, where it is no list. */
static int64_t of_layer(KeyReader *r, const char *name, int l, int64_t usual) {
    snprintf(r->key, sizeof r->key, "%s.%s", r->arch, name);
    const MetaValue *v = weights_meta(r->w, r->key);
    const uint8_t *at = v ? v->data : NULL;
    MetaValue value;
    int64_t number = usual;
    if (!v || v->type != META_ARRAY) return usual;
    if (v->n <= (uint64_t)l) key_complain(r, r->key, "must have an entry for each layer");
    for (int i = 0; i <= l && v->n > (uint64_t)l; i++) meta_next(v, &at, &value);
    if (v->n > (uint64_t)l && !meta_integer(&value, &number)) number = -1;
    return (int64_t)key_range(r, r->key, (double)number, 1, CONFIG_MAX_DIM);
}

/* GGUF's are those of layers that see all, with lists of what differs. llama.cpp wants to be told which these are, and
 * by what their frequencies are divided. */
static void sizes_of_gguf(KeyReader *r, Config *c) {
    Decoder *x = c->decoder;
    if (!weights_meta(r->w, "gemma4.attention.sliding_window_pattern"))
        key_complain(r, "attention.sliding_window_pattern", r->source->missing);
    if (!weights_find(r->w, "rope_freqs.weight")) key_complain(r, "tensor rope_freqs.weight", r->source->missing);
    static const char heads[] = "attention.head_count_kv", width[] = "feed_forward_length";
    int64_t wide = of_layer(r, width, c->n_layers - 1, c->d_ff);
    int l = 0;
    while (l + 1 < c->n_layers && x->kinds[l].turn != TURN_LOCAL) l++; /* the first with a window */
    x->local_dim = (int)key_int(r, "attention.key_length_swa", NULL, c->head_dim, 1, 2 * ROPE_MAX_PAIRS);
    x->local.rotary_dim = (int)key_int(r, "rope.dimension_count_swa", NULL, x->local_dim, 1, 2 * ROPE_MAX_PAIRS);
    x->local_kv = (int)of_layer(r, heads, l, c->n_kv_heads);
    c->d_ff = c->ff_rows = (int)of_layer(r, width, 0, c->d_ff);
    x->wide_borrowers = x->n_borrowers > 0 && wide == 2 * c->d_ff;
    x->k_is_v = -1;
    for (l = 0; l < c->n_layers && r->line.rc == 0; l++) {
        const Config own = layer_view(c, l);
        if (of_layer(r, heads, l, own.n_kv_heads) != own.n_kv_heads || of_layer(r, width, l, own.d_ff) != own.d_ff)
            key_complain(r, r->key, "differs from layer to layer in a way that is not known here");
    }
}

/* Who borrows does so of the last layer of its kind that does not. llama.cpp takes one of the two in front of the first
 * borrower, which are these in all that were published. */
static void check_lenders(KeyReader *r, const Config *c) {
    int lends[2] = {0}, asks[2] = {0};
    for (int l = 0; l < c->n_layers; l++) (layer_borrows(c, l) ? asks : lends)[c->windowed[l]]++;
    if (!lends[0] || (asks[1] && !lends[1]))
        key_complain(r, "num_kv_shared_layers", "leaves no layer of a kind that keeps keys and values");
}

/* The last layer sees all, whatever layer_types says; where it says nothing every sixth does, whatever else is said. */
static void see_as_in_class(KeyReader *r, Config *c) {
    const int listed = !json_absent(json_get(r->w->config, "layer_types"));
    for (int l = 0; l < c->n_layers; l++) {
        if (!listed) c->windowed[l] = c->window > 0 && (l + 1) % PERIOD != 0;
        if (l + 1 == c->n_layers) c->windowed[l] = 0;
        c->decoder->kinds[l].turn = c->windowed[l] ? TURN_LOCAL : TURN_MAIN;
    }
}

static void gemma4(KeyReader *r, Config *c) {
    Decoder *x = c->decoder;
    const int hf = key_is_hf(r);
    x->score_scale = 1;
    if (hf) see_as_in_class(r, c);
    if (hf) sizes_of_config(r, c);
    else sizes_of_gguf(r, c);
    if (r->line.rc) return;
    for (int l = 0; l < c->n_layers; l++) x->kinds[l].experts = x->n_experts > 0;
    if (x->n_experts) x->d_shared = c->d_ff;
    if (x->wide_borrowers) c->ff_rows = 2 * c->d_ff;
    c->kv_most = x->local_kv * x->local_dim;
    c->qkv_bias = c->o_bias = 0;
    if (x->local_dim > c->head_dim || x->local_dim % 2)
        key_complain(r, hf ? "head_dim" : "attention.key_length_swa", "must be even, and at most that of other layers");
    if (c->n_heads % x->local_kv) key_complain(r, "n_kv_heads", "of layers with a window must divide n_heads");
    if ((int64_t)x->per_layer * c->n_layers > CONFIG_MAX_DIM)
        key_complain(r, "hidden_size_per_layer_input", "times the layers is too large");
    check_lenders(r, c);
}

/* RoPE of a class whose config.json says nothing of it. */
static const char usual_rope[] =
    "{\"sliding_attention\": {\"rope_type\": \"default\", \"rope_theta\": 10000}, \"full_attention\": "
    "{\"rope_type\": \"proportional\", \"partial_rotary_factor\": 0.25, \"rope_theta\": 1000000}}";

static const LayerTraits gemma4_is = {
    .gguf = "gemma4", .norm_in = 1, .norm_out = 1, .qk = QK_HEAD, .gelu = 1, .scaled_embedding = 1, .experts = 1,
    .shared_expert = 2, .period = PERIOD, .others = OTHERS_HAVE_WINDOW, .local_rope = 1, .value_norm = 1,
    .expert_norms = 1, .keys = {keys}, .names = names, .renames = renames, .settle = gemma4};

ROW(gemma4_row, "gemma4", ROPE_HALF, gemma4_is, .n_ctx = 131072, .tied = 1, .local_theta = 1e4);
ROW(gemma4_text_row, "gemma4_text", ROPE_HALF, gemma4_is, .heads = 8, .kv_heads = 4, .head_dim = 256, .n_ctx = 131072,
    .window = 512, .tied = 1, .local_theta = 1e4, .rope = usual_rope);
ROW(gemma4_unified_row, "gemma4_unified_text", ROPE_HALF, gemma4_is, .heads = 8, .kv_heads = 4, .head_dim = 256,
    .n_ctx = 262144, .window = 1024, .tied = 1, .local_theta = 1e4, .rope = usual_rope);
