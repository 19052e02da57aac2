/* model/layers/rows.c - the architectures in layers, a row each: what it is beyond LLaMA, transformers' defaults, its
 * own names for tensors. Sources: transformers' modeling_*.py and llama.cpp's files of the same names. */
#include "rows.h"

#include "base/json.h"
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- names ---- */

/* Norms on both sides of a branch. */
static const LayerName gemma_names[] = {
    {"ffn_norm.weight", NULL, "pre_feedforward_layernorm.weight"}, {0}};
/* Where GGUF calls LLaMA's second norm so. */
static const LayerName post_attention_names[] = {{"ffn_norm.weight", "post_attention_norm.weight", NULL},
                                                 {0}};
static const LayerName glm4_names[] = {
    {"post_attention_norm.weight", NULL, "post_self_attn_layernorm.weight"},
    {"post_ffw_norm.weight", NULL, "post_mlp_layernorm.weight"}, {0}};
static const LayerName hunyuan_names[] = {
    {"attn_q_norm.weight", NULL, "self_attn.query_layernorm.weight"},
    {"attn_k_norm.weight", NULL, "self_attn.key_layernorm.weight"}, {0}};
static const LayerName stablelm_names[] = {
    {"attn_q_norm.weight", NULL, "self_attn.q_layernorm.norms.@.weight"},
    {"attn_k_norm.weight", NULL, "self_attn.k_layernorm.norms.@.weight"}, {0}};
static const LayerName mixtral_names[] = {
    {"ffn_gate_inp.weight", NULL, "block_sparse_moe.gate.weight"},
    {"ffn_gate_exps.weight", NULL, "block_sparse_moe.experts.@.w1.weight"},
    {"ffn_up_exps.weight", NULL, "block_sparse_moe.experts.@.w3.weight"},
    {"ffn_down_exps.weight", NULL, "block_sparse_moe.experts.@.w2.weight"}, {0}};
static const LayerName phi_names[] = {
    {"attn_output.weight", NULL, "self_attn.dense.weight"}, {"attn_output.bias", NULL, "self_attn.dense.bias"},
    {"ffn_up.weight", NULL, "mlp.fc1.weight"}, {"ffn_up.bias", NULL, "mlp.fc1.bias"},
    {"ffn_down.weight", NULL, "mlp.fc2.weight"}, {"ffn_down.bias", NULL, "mlp.fc2.bias"},
    {"output_norm.weight", NULL, "model.final_layernorm.weight"},
    {"output_norm.bias", NULL, "model.final_layernorm.bias"}, {0}};
static const LayerName starcoder2_names[] = {
    {"ffn_up.weight", NULL, "mlp.c_fc.weight"}, {"ffn_up.bias", NULL, "mlp.c_fc.bias"},
    {"ffn_down.weight", NULL, "mlp.c_proj.weight"}, {"ffn_down.bias", NULL, "mlp.c_proj.bias"}, {0}};
static const char *const gpt_neox_renames[][2] = {
    {"gpt_neox.", "model."}, {".embed_in.", ".embed_tokens."}, {".final_layer_norm.", ".norm."},
    {"embed_out.", "lm_head."}, {".attention.query_key_value.", ".self_attn.qkv_proj."},
    {".attention.dense.", ".self_attn.o_proj."}, {".mlp.dense_h_to_4h.", ".mlp.up_proj."},
    {".mlp.dense_4h_to_h.", ".mlp.down_proj."}, {0}};
static const char *const internlm2_renames[][2] = {
    {"model.tok_embeddings.", "model.embed_tokens."}, {"output.", "lm_head."},
    {".attention.wqkv.", ".self_attn.qkv_proj."}, {".attention.wo.", ".self_attn.o_proj."},
    {".attention_norm.", ".input_layernorm."}, {".ffn_norm.", ".post_attention_layernorm."},
    {".feed_forward.w1.", ".mlp.gate_proj."}, {".feed_forward.w3.", ".mlp.up_proj."},
    {".feed_forward.w2.", ".mlp.down_proj."}, {0}};
static const LayerName lfm2_names[] = {
    {"attn_norm.weight", NULL, "operator_norm.weight"}, {"ffn_norm.weight", NULL, "ffn_norm.weight"},
    {"attn_q_norm.weight", NULL, "self_attn.q_layernorm.weight"},
    {"attn_k_norm.weight", NULL, "self_attn.k_layernorm.weight"},
    {"attn_output.weight", NULL, "self_attn.out_proj.weight"}, {"ffn_gate.weight", NULL, "feed_forward.w1.weight"},
    {"ffn_up.weight", NULL, "feed_forward.w3.weight"}, {"ffn_down.weight", NULL, "feed_forward.w2.weight"},
    {"ffn_gate_inp.weight", NULL, "feed_forward.gate.weight"}, {"exp_probs_b.bias", NULL, "feed_forward.expert_bias"},
    {"ffn_gate_exps.weight", NULL, "feed_forward.experts.@.w1.weight"},
    {"ffn_up_exps.weight", NULL, "feed_forward.experts.@.w3.weight"},
    {"ffn_down_exps.weight", NULL, "feed_forward.experts.@.w2.weight"},
    {"output_norm.weight", "token_embd_norm.weight", "model.embedding_norm.weight"}, {0}};
static const char *const exaone_renames[][2] = {
    {"transformer.wte.", "model.embed_tokens."}, {"transformer.ln_f.", "model.norm."},
    {"transformer.h.", "model.layers."}, {".attn.attention.out_proj.", ".self_attn.o_proj."},
    {".attn.attention.", ".self_attn."}, {".ln_1.", ".input_layernorm."}, {".ln_2.", ".post_attention_layernorm."},
    {".mlp.c_fc_0.", ".mlp.gate_proj."}, {".mlp.c_fc_1.", ".mlp.up_proj."}, {".mlp.c_proj.", ".mlp.down_proj."}, {0}};
/* As transformers 5 calls it, where experts are in one tensor. */
static const char *const mixtral_renames[][2] = {{".mlp.gate.", ".block_sparse_moe.gate."}, {0}};
static const LayerName gpt_oss_names[] = {
    {"ffn_norm.weight", "post_attention_norm.weight", NULL},
    {"ffn_gate_inp.weight", NULL, "mlp.router.weight"},
    {"ffn_gate_inp.bias", NULL, "mlp.router.bias"}, {0}};
#define SHARED_EXPERTS                                                      \
    {"ffn_gate_shexp.weight", NULL, "mlp.shared_experts.gate_proj.weight"}, \
    {"ffn_up_shexp.weight", NULL, "mlp.shared_experts.up_proj.weight"},     \
    {"ffn_down_shexp.weight", NULL, "mlp.shared_experts.down_proj.weight"}
const LayerName rows_shared_experts[] = {SHARED_EXPERTS, {0}};
static const LayerName glm4_moe_names[] = {
    {"ffn_norm.weight", "post_attention_norm.weight", NULL},
    SHARED_EXPERTS, {0}};
static const LayerName ernie_moe_names[] = {
    {"exp_probs_b.bias", NULL, "mlp.moe_statics.e_score_correction_bias"},
    SHARED_EXPERTS, {0}};
static const char *const ernie_moe_renames[][2] = {{".mlp.gate.moe_statics.", ".mlp.moe_statics."}, {0}};
static const char *const granite_moe_renames[][2] = {
    {".block_sparse_moe.input_linear.weight", ".mlp.experts.gate_up_proj"},
    {".block_sparse_moe.output_linear.weight", ".mlp.experts.down_proj"},
    {".block_sparse_moe.router.layer.", ".mlp.gate."}, {".block_sparse_moe.router.", ".mlp.gate."},
    {".block_sparse_moe.experts.", ".mlp.experts."},
    {".shared_mlp.input_linear.", ".mlp.shared_expert.gate_up_proj."},
    {".shared_mlp.output_linear.", ".mlp.shared_expert.down_proj."}, {0}};

static const char *const granite_hybrid_renames[][2] = {
    {".shared_mlp.input_linear.", ".mlp.gate_up_proj."}, {".shared_mlp.output_linear.", ".mlp.down_proj."}, {0}};

/* ---- keys in ways of their own ---- */

/* o's value at a key, which must be of that type; NULL: it has none. */
static const JsonValue *of_type(KeyReader *r, const JsonValue *o, const char *key, JsonType type) {
    const JsonValue *v = json_get(o, key);
    if (v && v->type == type) return v;
    if (!json_absent(v)) key_complain(r, key, type == JSON_NUMBER ? "must be a number" : "must be a list");
    return NULL;
}

void rows_only(KeyReader *r, const char *key, int value) {
    if (key_flag(r, NULL, key, value) != value)
        key_complain(r, key, value ? "of false is not known here" : "of true is not known here");
}

/* Scores by query_pre_attn_scalar, which GGUF does not have: there the largest of each kind is known by its layers. */
static void gemma(KeyReader *r, Config *c, int layers_of_27b) {
    Decoder *x = c->decoder;
    double scalar = c->n_layers == layers_of_27b ? (double)c->d_model / c->n_heads : (double)c->head_dim;
    if (key_is_hf(r)) scalar = key_number(r, NULL, "query_pre_attn_scalar", 256);
    x->score_scale = (float)key_number(r, "attention.scale", NULL, 1 / sqrt(scalar));
    if (key_said(r, "use_bidirectional_attention") == 1) { /* EmbeddingGemma */
        c->mask = MASK_PADDING;
        snprintf(c->arch, sizeof c->arch, "gemma-embedding");
    }
    if (c->mask == MASK_PADDING) layer_window_sides(r, c, "sliding_window");
}

/* A Gemma 2 whose file does not speak of caps has them, in llama.cpp as well; config.json's null is none. */
static void gemma2(KeyReader *r, Config *c) {
    static const char scores[] = "attn_logit_softcapping", logits[] = "final_logit_softcapping";
    Decoder *x = c->decoder;
    int hf = key_is_hf(r);
    gemma(r, c, 46);
    if (hf ? !json_get(r->w->config, scores) : !r->source->look(r, scores, NULL)) x->score_cap = 50;
    if (hf ? !json_get(r->w->config, logits) : !r->source->look(r, logits, NULL)) x->logit_cap = 30;
}

static void gemma3(KeyReader *r, Config *c) { gemma(r, c, 62); }

/* Granite's logits are divided. */
static void granite(KeyReader *r, Config *c) {
    Decoder *x = c->decoder;
    if (key_is_hf(r) && !r->source->look(r, NULL, "attention_multiplier")) x->score_scale = 1;
    x->logit_scale = 1 / x->logit_scale;
}

/* 1 in the list: this layer has RoPE. GGUF has no list. */
static void smollm3(KeyReader *r, Config *c) {
    const JsonValue *list = key_is_hf(r) ? json_get(r->w->config, "no_rope_layers") : NULL;
    int l = 0, period = (int)key_int(r, NULL, "no_rope_layer_interval", 4, 1, CONFIG_MAX_LAYERS);
    LayerKind *kinds = c->decoder->kinds;
    int listed = list && list->type == JSON_ARRAY && list->len == (size_t)c->n_layers;
    if (!json_absent(list) && !listed)
        key_complain(r, "no_rope_layers", "must be a list with an entry for each layer");
    for (l = 0; l < c->n_layers; l++) kinds[l].turn = (l + 1) % period == 0 ? TURN_NOT : TURN_MAIN;
    l = 0;
    for (const JsonValue *e = listed ? list->child : NULL; e; e = e->next)
        kinds[l++].turn = e->type == JSON_NUMBER && e->number != 0 ? TURN_MAIN : TURN_NOT;
    const JsonValue *types = key_is_hf(r) ? json_get(r->w->config, "layer_types") : NULL;
    int said = !json_absent(types) || weights_meta(r->w, "smollm3.attention.sliding_window_pattern");
    for (l = 0; l < c->n_layers && !said; l++) /* the window is theirs */
        c->windowed[l] = c->window > 0 && kinds[l].turn == TURN_NOT;
}

/* RoPE of a class whose config.json says nothing of it. */
static const char ministral3_rope[] = "{\"rope_type\": \"yarn\", \"rope_theta\": 1000000, \"factor\": 16, "
                                      "\"original_max_position_embeddings\": 16384, \"beta_fast\": 32, "
                                      "\"beta_slow\": 1, \"mscale\": 1, \"mscale_all_dim\": 1}",
                  gpt_oss_rope[] = "{\"rope_type\": \"yarn\", \"factor\": 32, \"beta_fast\": 32, \"beta_slow\": 1, "
                                   "\"truncate\": false, \"original_max_position_embeddings\": 4096}";

void rows_temperature(KeyReader *r, Config *c) {
    Decoder *x = c->decoder;
    const char *where;
    const JsonValue *o = key_is_hf(r) ? key_rope_object(r, &where) : NULL,
                    *beta = of_type(r, o, "llama_4_scaling_beta", JSON_NUMBER),
                    *length = of_type(r, o, "original_max_position_embeddings", JSON_NUMBER);
    const RopeNumbers *n = rope_numbers(&c->rope);
    x->temperature = (float)(beta ? beta->number : key_number(r, "attention.temperature_scale", NULL,
                                                               key_is_hf(r) && !o ? 0.1 : 0));
    x->temperature_n = length && length->number >= 1 && length->number < 1e15
                           ? (int64_t)length->number
                           : key_int(r, "attention.temperature_length", NULL, (double)n->n_ctx_original, 0, 1e15);
    if (!(x->temperature >= 0 && x->temperature < 1e6f)) key_complain(r, "the temperature", "is out of range");
    if (x->temperature > 0 && x->temperature_n < 1)
        key_complain(r, "the temperature", "needs rope's original_max_position_embeddings");
}

/* Granite 4's small models: of a class for layers of Mamba and experts, without either. Their network is what would
 * be the shared expert. */
static void granite_hybrid(KeyReader *r, Config *c) {
    const JsonValue *types = of_type(r, r->w->config, "layer_types", JSON_ARRAY);
    const JsonValue *position = json_get(r->w->config, "position_embedding_type");
    int attend = types && types->len == (size_t)c->n_layers;
    for (const JsonValue *e = attend ? types->child : NULL; e; e = e->next)
        attend &= json_is(e, "attention") || json_is(e, "full_attention");
    if (!attend) key_complain(r, "layer_types", "only layers that all attend are known here; others are Mamba's");
    if (key_int(r, NULL, "num_local_experts", 8, 0, 4096))
        key_complain(r, "num_local_experts", "of 0 alone is known here for this architecture");
    if (!json_is(position, "rope")) key_complain(r, "position_embedding_type", "only rope is known here");
    c->d_ff = c->ff_rows = (int)key_int(r, NULL, "shared_intermediate_size", 1024, 1, CONFIG_MAX_DIM);
    granite(r, c);
    c->qkv_bias = c->o_bias = key_said(r, "attention_bias");
}

void rows_minicpm(KeyReader *r, Config *c, double words, double depth, double base) {
    Decoder *x = c->decoder;
    const int hf = key_is_hf(r);
    words = hf ? key_number(r, NULL, "scale_emb", words) : 12;
    depth = hf ? key_number(r, NULL, "scale_depth", depth) : 1.4;
    base = hf ? key_number(r, NULL, "dim_model_base", base) : 256;
    granite(r, c);
    if (hf) x->score_scale = (float)(1 / sqrt(c->head_dim));
    if (hf || !r->source->look(r, "embedding_scale", NULL)) x->embed_scale = (float)words;
    if (hf || !r->source->look(r, "residual_scale", NULL)) x->residual_scale = (float)(depth / sqrt(c->n_layers));
    if (hf || !r->source->look(r, "logit_scale", NULL)) x->logit_scale = (float)(base / c->d_model);
}

static void minicpm(KeyReader *r, Config *c) { rows_minicpm(r, c, 1, 1, 1); }

void rows_shares(KeyReader *r, Config *c, int usual) {
    Decoder *x = c->decoder;
    const Shares in = x->traits->gguf_shares;
    x->renormalise = key_flag(r, in == SHARES_AS_SAID ? "expert_weights_norm" : NULL, "norm_topk_prob",
                              key_is_hf(r) ? usual : in == SHARES_SUM_TO_1);
}

void rows_experts_from(KeyReader *r, Config *c, const char *hf_first, int usual, const char *hf_step) {
    int first = (int)key_int(r, "leading_dense_block_count", hf_first, key_is_hf(r) ? usual : 0, 0, CONFIG_MAX_LAYERS),
        step = (int)key_int(r, "interleave_moe_layer_step", hf_step, 1, 1, CONFIG_MAX_LAYERS);
    for (int l = 0; l < c->n_layers; l++) c->decoder->kinds[l].experts = l >= first && (l + 1) % step == 0;
}

static void qwen3_moe(KeyReader *r, Config *c) {
    Decoder *x = c->decoder;
    const JsonValue *dense = key_is_hf(r) ? of_type(r, r->w->config, "mlp_only_layers", JSON_ARRAY) : NULL;
    int step = (int)key_int(r, NULL, "decoder_sparse_step", 1, 1, CONFIG_MAX_LAYERS);
    rows_shares(r, c, 0);
    for (int l = 0; l < c->n_layers; l++) x->kinds[l].experts = x->n_experts > 0 && (l + 1) % step == 0;
    for (const JsonValue *e = dense ? dense->child : NULL; e; e = e->next)
        if (e->type != JSON_NUMBER) key_complain(r, "mlp_only_layers", "must be a list of layers");
        else if (e->number >= 0 && e->number < c->n_layers) x->kinds[(int)e->number].experts = 0;
    c->qkv_bias = c->o_bias = key_said(r, "attention_bias");
}

static void qwen35(KeyReader *r, Config *c) {
    c->qkv_bias = c->o_bias = key_said(r, "attention_bias");
}

static void qwen3_next(KeyReader *r, Config *c) {
    qwen3_moe(r, c);
    rows_shares(r, c, 1);
}

/* Without layer_types every other layer below max_window_layers has the window, where one is used. */
static void qwen2_moe(KeyReader *r, Config *c) {
    int hf = key_is_hf(r), listed = hf && !json_absent(json_get(r->w->config, "layer_types"));
    int l = (int)key_int(r, NULL, "max_window_layers", 28, 0, 1e9);
    qwen3_moe(r, c);
    c->qkv_bias = hf ? key_flag(r, NULL, "qkv_bias", 1) : -1;
    c->o_bias = hf ? 0 : -1;
    for (; hf && !listed && l < c->n_layers; l++) c->windowed[l] = 0;
}

static void olmoe(KeyReader *r, Config *c) {
    rows_shares(r, c, 0);
    c->qkv_bias = c->o_bias = key_said(r, "attention_bias");
}

static void ernie_moe(KeyReader *r, Config *c) {
    int hf = key_is_hf(r), last;
    rows_experts_from(r, c, "moe_layer_start_index", 1, "moe_layer_interval");
    last = (int)key_int(r, NULL, "moe_layer_end_index", -1, -1, CONFIG_MAX_LAYERS);
    for (int l = last + 1; last >= 0 && l < c->n_layers; l++) c->decoder->kinds[l].experts = 0;
    c->qkv_bias = c->o_bias = c->mlp_bias = hf ? 0 : -1;
    if (key_said(r, "use_bias") == 1) key_complain(r, "use_bias", "of true is not known here beside experts");
    if (hf && !r->source->look(r, NULL, "moe_num_shared_experts")) key_complain(r, r->key, r->source->missing);
    if (key_number(r, NULL, "moe_norm_min", 1e-12) != 1e-12) key_complain(r, r->key, "only 1e-12 is known here");
}

void rows_groups(KeyReader *r, Config *c, int n, int used, int best) {
    Decoder *x = c->decoder;
    const int hf = key_is_hf(r);
    x->group_best = best;
    x->groups_used = (int)key_int(r, "expert_group_used_count", "topk_group", hf ? used : 0, hf, LAYER_GROUPS);
    x->n_groups = (int)key_int(r, "expert_group_count", "n_group", hf ? n : 1, hf, LAYER_GROUPS);
    if (x->n_groups <= 1 || r->line.rc) return;
    const int each = x->n_experts / x->n_groups;
    if (x->n_experts % x->n_groups || each < best || x->groups_used < 1 || x->groups_used > x->n_groups ||
        x->n_used > x->groups_used * each)
        key_complain(r, r->key, "does not fit the numbers of experts, of those that are asked and of groups");
}

void rows_routed(KeyReader *r, Config *c, int sum_to_1, int dense, int n_groups) {
    char word[32] = "sigmoid";
    rows_shares(r, c, sum_to_1);
    rows_experts_from(r, c, "first_k_dense_replace", dense, NULL);
    rows_groups(r, c, n_groups, n_groups > 1 ? n_groups / 2 : 1, 2);
    int64_t function = key_int(r, "expert_gating_func", NULL, 0, 0, 255);
    if (function != 0 && function != 2)
        key_complain(r, r->key, "only 2, a sigmoid, is known here for this architecture");
    if (key_word(r, NULL, "scoring_func", word, sizeof word) && strcmp(word, "sigmoid") != 0 &&
        strcmp(word, "noaux_tc") != 0) /* which dots.llm1's files call the same */
        key_complain(r, r->key, "only sigmoid is known here for this architecture");
}

static void lfm2_moe(KeyReader *r, Config *c) {
    rows_shares(r, c, 1);
    rows_experts_from(r, c, "num_dense_layers", 2, NULL);
    if (key_number(r, "expert_weights_scale", "routed_scaling_factor", 1) != 1)
        key_complain(r, r->key, "only 1 is known here for this architecture");
    rows_only(r, "conv_bias", 0);
    rows_only(r, "use_expert_bias", 1);
}

/* Without layer_types the layers from max_window_layers on have the window. */
static void dots1(KeyReader *r, Config *c) {
    int listed = !json_absent(json_get(r->w->config, "layer_types"));
    int64_t first = key_int(r, NULL, "max_window_layers", 62, 0, 1e9);
    rows_routed(r, c, 0, 0, 1);
    c->qkv_bias = c->o_bias = key_said(r, "attention_bias");
    for (int l = 0; key_is_hf(r) && !listed && l < c->n_layers && l < first; l++) c->windowed[l] = 0;
}

static void glm4_moe(KeyReader *r, Config *c) {
    int hf = key_is_hf(r);
    rows_routed(r, c, 1, 1, 1);
    c->qk_norm = hf ? key_flag(r, NULL, "use_qk_norm", 0) : -1;
    c->qkv_bias = hf ? key_flag(r, NULL, "attention_bias", 0) : -1;
    c->o_bias = hf ? 0 : -1;
}

static void ernie(KeyReader *r, Config *c) { c->qkv_bias = c->o_bias = c->mlp_bias = key_said(r, "use_bias"); }

static void seed_oss(KeyReader *r, Config *c) {
    c->qkv_bias = key_said(r, "attention_bias");
    c->o_bias = key_said(r, "attention_out_bias");
    c->mlp_bias = key_said(r, "mlp_bias");
}

/* What is called dynamic, with an alpha, makes the base larger, once and for all. */
static void hunyuan(KeyReader *r, Config *c) {
    const char *where;
    if (!key_is_hf(r) || strcmp(c->rope.scaling->name, "dynamic") != 0) return;
    const JsonValue *alpha = of_type(r, key_rope_object(r, &where), "alpha", JSON_NUMBER);
    if (!alpha || alpha->number == 0) return;
    if (!(alpha->number > 0)) key_complain(r, "alpha", "must be above 0");
    c->rope.theta *= pow(alpha->number, c->head_dim / (c->head_dim - 2.0));
    c->rope.scaling = &rope_none;
}

static void stablelm(KeyReader *r, Config *c) {
    c->qk_norm = key_said(r, "qk_layernorm");
    c->qkv_bias = key_said(r, "use_qkv_bias");
    c->o_bias = c->mlp_bias = 0;
    /* GGUF's key is true where config.json had none; the second norm's absence tells */
    c->decoder->parallel = key_is_hf(r) ? key_flag(r, NULL, "use_parallel_residual", 0)
                                        : !weights_find(r->w, "blk.0.ffn_norm.weight");
}

static void gpt_neox(KeyReader *r, Config *c) {
    c->decoder->parallel = key_flag(r, "use_parallel_residual", "use_parallel_residual", 1) ? OWN_NORMS : IN_TURN;
    c->qkv_bias = c->o_bias = key_said(r, "attention_bias");
    c->n_kv_heads = c->n_heads; /* whatever its config.json says */
}

static void phi(KeyReader *r, Config *c) {
    c->decoder->parallel = SHARED_NORM;
    rows_only(r, "qk_layernorm", 0);
}

/* Some say what they were trained on by another key than max_position_embeddings. */
static void cohere(KeyReader *r, Config *c) {
    Decoder *x = c->decoder;
    x->parallel = SHARED_NORM;
    c->n_ctx_train = key_int(r, NULL, "model_max_length", (double)c->n_ctx_train, 1, MOST_COUNTED);
    c->qk_norm = key_is_hf(r) ? key_flag(r, NULL, "use_qk_norm", 0) : -1;
    c->qkv_bias = c->o_bias = key_said(r, "attention_bias");
    if (key_is_hf(r) && !r->source->look(r, NULL, "logit_scale")) x->logit_scale = 0.0625f;
}

/* A third less than the file says, times a factor, rounded up. */
static void lfm2(KeyReader *r, Config *c) {
    if (!key_is_hf(r)) return;
    rows_only(r, "conv_bias", 0);
    int64_t ff = key_int(r, NULL, "block_ff_dim", (double)c->d_ff, 1, CONFIG_MAX_DIM),
            multiple = key_int(r, NULL, "block_multiple_of", 256, 1, CONFIG_MAX_DIM);
    if (key_flag(r, NULL, "block_auto_adjust_ff_dim", 1)) {
        double factor = key_number(r, NULL, "block_ffn_dim_multiplier", 1);
        if (!(factor > 0 && factor < 1000)) key_complain(r, "block_ffn_dim_multiplier", "is out of range");
        else ff = ((int64_t)(factor * (double)(2 * ff / 3)) + multiple - 1) / multiple * multiple;
    }
    if (ff < 1 || ff > CONFIG_MAX_DIM) key_complain(r, "block_ff_dim", "gives a width that is out of range");
    else c->d_ff = c->ff_rows = (int)ff;
}

static void nemotron(KeyReader *r, Config *c) {
    c->qkv_bias = c->o_bias = key_said(r, "attention_bias");
    c->mlp_bias = key_said(r, "mlp_bias");
}

static void gpt_oss(KeyReader *r, Config *c) {
    Decoder *x = c->decoder;
    RopeNumbers *n = key_rope_numbers(r, &c->rope, c->n_ctx_train);
    if (n && !key_is_hf(r)) n->no_truncate = 1; /* yarn's ramp, for which GGUF has no key */
    x->clamp = (float)key_number(r, NULL, "swiglu_limit", 7);
    x->alpha = (float)key_number(r, NULL, "swiglu_alpha", 1.702);
    c->qkv_bias = c->o_bias = key_said(r, "attention_bias");
    if (!(x->clamp > 0)) key_complain(r, "swiglu_limit", "must be above 0");
}

/* ---- rows ---- */

static const LayerTraits gemma_is = {.norm_in = 1, .plus_one = 1, .gelu = 1, .scaled_embedding = 1},
    gemma2_is = {.norm_in = 1, .norm_out = 1, .plus_one = 1, .gelu = 1, .scaled_embedding = 1, .period = 2,
                 .others = OTHERS_HAVE_WINDOW, .keys = {layer_caps}, .names = gemma_names, .settle = gemma2},
    gemma3_is = {.gguf = "gemma3", .norm_in = 1, .norm_out = 1, .plus_one = 1, .qk = QK_HEAD, .gelu = 1,
                 .scaled_embedding = 1, .period = 6, .others = OTHERS_HAVE_WINDOW, .local_rope = 1,
                 .keys = {layer_caps}, .names = gemma_names, .settle = gemma3},
    gemma_embedding_is = {.gguf = "gemma-embedding", .norm_in = 1, .norm_out = 1, .plus_one = 1, .qk = QK_HEAD,
                          .gelu = 1, .encoder = 1, .scaled_embedding = 1, .period = 6, .others = OTHERS_HAVE_WINDOW,
                          .local_rope = 1, .keys = {layer_caps}, .names = gemma_names, .settle = gemma3},
    phi3_is = {.norm_in = 1, .fused_gate_up = 1, .others = OTHERS_HAVE_WINDOW, .alike = 1},
    smollm3_is = {.norm_in = 1, .others = OTHERS_HAVE_WINDOW, .settle = smollm3},
    olmo2_is = {.gguf = "olmo2", .norm_out = 1, .qk = QK_WHOLE, .period = 4, .others = OTHERS_HAVE_WINDOW,
                .local_rope = 1},
    granite_is = {.norm_in = 1, .keys = {layer_scales}, .settle = granite},
    granite_hybrid_is = {.gguf = "granite", .norm_in = 1, .keys = {layer_scales}, .renames = granite_hybrid_renames,
                         .settle = granite_hybrid},
    minicpm_is = {.norm_in = 1, .keys = {layer_scales}, .settle = minicpm},
    internlm2_is = {.norm_in = 1, .fused_heads = FUSED_HEADS_IN_HF, .renames = internlm2_renames},
    internlm3_is = {.gguf = "llama", .norm_in = 1},
    exaone_is = {.norm_in = 1, .renames = exaone_renames},
    ministral_is = {.gguf = "llama", .norm_in = 1, .others = OTHERS_HAVE_WINDOW},
    ministral3_is = {.gguf = "mistral3", .norm_in = 1, .others = OTHERS_HAVE_WINDOW, .alike = 1,
                     .settle = rows_temperature},
    qwen3_moe_is = {.gguf = "qwen3moe", .norm_in = 1, .qk = QK_HEAD, .experts = 1, .others = OTHERS_HAVE_WINDOW,
                    .alike = 1, .keys = {layer_experts}, .settle = qwen3_moe},
    mixtral_is = {.gguf = "llama", .norm_in = 1, .experts = 1, .others = OTHERS_HAVE_WINDOW, .alike = 1,
                  .keys = {layer_experts}, .names = mixtral_names, .renames = mixtral_renames},
    qwen35_is = {.gguf = "qwen35", .norm_in = 1, .plus_one = 1, .qk = QK_HEAD, .gated_output = 1, .tiled = 1,
                 .period = 4, .others = OTHERS_ARE_DELTA, .keys = {layer_delta}, .names = post_attention_names,
                 .settle = qwen35},
    qwen35_moe_is = {.gguf = "qwen35moe", .norm_in = 1, .plus_one = 1, .qk = QK_HEAD, .gated_output = 1, .tiled = 1,
                     .experts = 1, .shared_expert = 1, .period = 4, .others = OTHERS_ARE_DELTA,
                     .keys = {layer_delta, layer_experts}, .names = post_attention_names, .settle = qwen35},
    qwen3_next_is = {.gguf = "qwen3next", .norm_in = 1, .plus_one = 1, .qk = QK_HEAD, .gated_output = 1, .experts = 1,
                     .shared_expert = 1, .period = 4, .others = OTHERS_ARE_DELTA,
                     .keys = {layer_delta, layer_experts}, .names = post_attention_names, .settle = qwen3_next},
    ernie_is = {.norm_in = 1, .settle = ernie},
    exaone4_is = {.norm_out = 1, .qk = QK_HEAD, .period = 4, .others = OTHERS_HAVE_WINDOW, .nope_on_full = 1},
    seed_oss_is = {.norm_in = 1, .names = post_attention_names, .settle = seed_oss},
    hunyuan_is = {.gguf = "hunyuan-dense", .norm_in = 1, .qk = QK_HEAD, .qk_after = 1, .names = hunyuan_names,
                  .settle = hunyuan},
    stablelm_is = {.norm_in = 1, .layernorm = 1, .qk = QK_EACH, .names = stablelm_names, .settle = stablelm},
    glm4_is = {.norm_in = 1, .norm_out = 1, .fused_gate_up = 1, .names = glm4_names},
    arcee_is = {.norm_in = 1, .gate = GATE_NONE},
    gpt_neox_is = {.gguf = "gptneox", .norm_in = 1, .layernorm = 1, .gate = GATE_NONE, .gelu = 2,
                   .fused_heads = FUSED_HEADS_IN_HF, .renames = gpt_neox_renames, .settle = gpt_neox},
    phi_is = {.gguf = "phi2", .norm_in = 1, .layernorm = 1, .gate = GATE_NONE, .gelu = 1, .names = phi_names,
              .settle = phi},
    starcoder2_is = {.norm_in = 1, .layernorm = 1, .gate = GATE_NONE, .gelu = 1, .others = OTHERS_HAVE_WINDOW,
                     .alike = 1, .names = starcoder2_names, .settle = ernie},
    cohere_is = {.gguf = "command-r", .norm_in = 1, .layernorm = 1, .qk = QK_EACH, .keys = {layer_logits},
                 .settle = cohere},
    cohere2_is = {.norm_in = 1, .layernorm = 1, .period = 4, .others = OTHERS_HAVE_WINDOW, .nope_on_full = 1,
                  .keys = {layer_logits}, .settle = cohere},
    lfm2_is = {.norm_in = 1, .qk = QK_HEAD, .others = OTHERS_ARE_CONV, .keys = {layer_conv}, .names = lfm2_names,
               .settle = lfm2},
    olmo_is = {.norm_in = 1, .layernorm = 1, .bare_norms = 1, .keys = {layer_clip}},
    nemotron_is = {.norm_in = 1, .layernorm = 1, .plus_one = 1, .gate = GATE_NONE, .settle = nemotron},
    gpt_oss_is = {.gguf = "gpt-oss", .norm_in = 1, .gate = GATE_CLAMPED, .sinks = 1, .experts = 1, .period = 2,
                  .others = OTHERS_HAVE_WINDOW, .keys = {layer_experts}, .names = gpt_oss_names, .settle = gpt_oss};

static const LayerTraits olmoe_is = {.norm_in = 1, .qk = QK_WHOLE, .experts = 1, .gguf_shares = SHARES_AS_THEY_ARE,
                                     .keys = {layer_experts, layer_clip}, .settle = olmoe},
    qwen2_moe_is = {.gguf = "qwen2moe", .norm_in = 1, .experts = 1, .shared_expert = 1,
                    .gguf_shares = SHARES_AS_THEY_ARE, .period = 2, .others = OTHERS_HAVE_WINDOW,
                    .keys = {layer_experts}, .settle = qwen2_moe},
    granite_moe_is = {.gguf = "granitemoe", .norm_in = 1, .experts = 1, .shared_expert = 2,
                      .keys = {layer_scales, layer_experts}, .renames = granite_moe_renames, .settle = granite},
    ernie_moe_is = {.gguf = "ernie4_5-moe", .norm_in = 1, .experts = 1, .shared_expert = 2, .correction = CORRECTION,
                    .dense_first = 1, .keys = {layer_ernie_experts}, .names = ernie_moe_names,
                    .renames = ernie_moe_renames, .settle = ernie_moe},
    lfm2_moe_is = {.gguf = "lfm2moe", .norm_in = 1, .qk = QK_HEAD, .experts = 1, .sigmoid = 1, .correction = CORRECTION,
                   .sum_more = 1e-6f, .dense_first = 1, .others = OTHERS_ARE_CONV, .keys = {layer_conv, layer_experts},
                   .names = lfm2_names, .settle = lfm2_moe},
    dots1_is = {.norm_in = 1, .qk = QK_HEAD, .experts = 1, .shared_expert = 2, .sigmoid = 1, .correction = CORRECTION,
                .dense_first = 1, .gguf_shares = SHARES_AS_SAID, .others = OTHERS_HAVE_WINDOW,
                .keys = {layer_routed_experts}, .names = rows_shared_experts, .settle = dots1},
    glm4_moe_is = {.gguf = "glm4moe", .norm_in = 1, .qk = QK_HEAD, .experts = 1, .shared_expert = 2, .sigmoid = 1,
                   .correction = CORRECTION, .dense_first = 1, .gguf_shares = SHARES_AS_SAID,
                   .keys = {layer_routed_experts}, .names = glm4_moe_names, .settle = glm4_moe};

/* In config.json's names; in GGUF's where these differ. */
ROW(gemma_row, "gemma", ROPE_HALF, gemma_is, .heads = 16, .kv_heads = 16, .head_dim = 256, .n_ctx = 8192, .tied = 1);
ROW(gemma2_row, "gemma2", ROPE_HALF, gemma2_is, .heads = 8, .kv_heads = 4, .head_dim = 256, .n_ctx = 8192,
    .window = 4096, .tied = 1);
ROW(gemma3_row, "gemma3", ROPE_HALF, gemma3_is, .heads = 8, .kv_heads = 4, .head_dim = 256, .n_ctx = 131072,
    .window = 4096, .tied = 1, .theta = 1e6, .local_theta = 1e4);
ROW(gemma3_text_row, "gemma3_text", ROPE_HALF, gemma3_is, .heads = 8, .kv_heads = 4, .head_dim = 256, .n_ctx = 131072,
    .window = 4096, .tied = 1, .theta = 1e6, .local_theta = 1e4);
ROW(gemma_embedding_row, "gemma-embedding", ROPE_HALF, gemma_embedding_is, .n_ctx = 2048, .tied = 1,
    .local_theta = 1e4);
ROW(phi3_row, "phi3", ROPE_HALF, phi3_is, .n_ctx = 4096, .n_ctx_original = 4096, .partial = 1, .eps = 1e-5f);
ROW(smollm3_row, "smollm3", ROPE_INTERLEAVED, smollm3_is, .kv_heads = 4, .n_ctx = 32768, .window_by_layer = 1,
    .tied = 1, .theta = 2e6);
ROW(olmo2_row, "olmo2", ROPE_HALF, olmo2_is, .n_ctx = 2048, .local_theta = -1, .eps = 1e-5f);
ROW(olmo3_row, "olmo3", ROPE_HALF, olmo2_is, .n_ctx = 2048, .window = 4096, .theta = 5e5, .local_theta = -1,
    .eps = 1e-5f);
ROW(granite_row, "granite", ROPE_INTERLEAVED, granite_is, .n_ctx = 2048);
ROW(granite_hybrid_row, "granitemoehybrid", ROPE_INTERLEAVED, granite_hybrid_is, .n_ctx = 2048);
ROW(ministral_row, "ministral", ROPE_HALF, ministral_is, .kv_heads = 8, .n_ctx = 131072, .window = 4096);
ROW(ministral3_row, "ministral3", ROPE_INTERLEAVED, ministral3_is, .kv_heads = 8, .head_dim = 128, .n_ctx = 262144,
    .eps = 1e-5f, .rope = ministral3_rope);
ROW(mistral3_row, "mistral3", ROPE_INTERLEAVED, ministral3_is, .kv_heads = 8, .head_dim = 128, .n_ctx = 262144,
    .eps = 1e-5f, .rope = ministral3_rope);
ROW(qwen3_moe_row, "qwen3_moe", ROPE_HALF, qwen3_moe_is, .kv_heads = 4, .n_ctx = 32768, .window_by_layer = 1);
ROW(qwen3moe_row, "qwen3moe", ROPE_HALF, qwen3_moe_is, .n_ctx = 32768);
ROW(qwen3vlmoe_row, "qwen3vlmoe", ROPE_HALF, qwen3_moe_is, .n_ctx = 128000);
ROW(qwen35_text_row, "qwen3_5_text", ROPE_HALF, qwen35_is, .kv_heads = 4, .head_dim = 256, .n_ctx = 32768,
    .partial = 0.25);
ROW(qwen35_row, "qwen35", ROPE_HALF, qwen35_is, .n_ctx = 32768);
ROW(qwen35_moe_text_row, "qwen3_5_moe_text", ROPE_HALF, qwen35_moe_is, .kv_heads = 2, .head_dim = 256, .n_ctx = 32768,
    .partial = 0.25);
ROW(qwen35moe_row, "qwen35moe", ROPE_HALF, qwen35_moe_is, .n_ctx = 32768);
ROW(qwen3_next_row, "qwen3_next", ROPE_HALF, qwen3_next_is, .kv_heads = 2, .head_dim = 256, .n_ctx = 32768,
    .partial = 0.25);
ROW(qwen3next_row, "qwen3next", ROPE_HALF, qwen3_next_is, .n_ctx = 32768);
ROW(ernie_row, "ernie4_5", ROPE_INTERLEAVED, ernie_is, .kv_heads = 2, .head_dim = 128, .n_ctx = 131072, .tied = 1,
    .interleaved = 1, .theta = 5e5, .eps = 1e-5f);
ROW(exaone4_row, "exaone4", ROPE_HALF, exaone4_is, .kv_heads = 32, .n_ctx = 2048, .window = 4096, .eps = 1e-5f);
ROW(seed_oss_row, "seed_oss", ROPE_HALF, seed_oss_is, .kv_heads = 8, .head_dim = 128, .n_ctx = 524288);
ROW(hunyuan_row, "hunyuan_v1_dense", ROPE_HALF, hunyuan_is, .n_ctx = 2048, .eps = 1e-5f);
ROW(hunyuan_gguf_row, "hunyuan-dense", ROPE_HALF, hunyuan_is, .n_ctx = 2048);
ROW(stablelm_row, "stablelm", ROPE_HALF, stablelm_is, .kv_heads = 32, .n_ctx = 4096, .partial = 0.25);
ROW(glm4_row, "glm4", ROPE_INTERLEAVED, glm4_is, .kv_heads = 2, .head_dim = 128, .n_ctx = 131072, .interleaved = 1,
    .partial = 0.5, .eps = 1.5625e-7f);
ROW(arcee_row, "arcee", ROPE_INTERLEAVED, arcee_is, .n_ctx = 4096, .eps = 1e-5f);
ROW(gpt_oss_row, "gpt_oss", ROPE_HALF, gpt_oss_is, .kv_heads = 8, .head_dim = 64, .n_ctx = 131072, .window = 128,
    .mxfp4 = 1, .theta = 150000, .eps = 1e-5f, .rope = gpt_oss_rope);
ROW(gpt_oss_gguf_row, "gpt-oss", ROPE_HALF, gpt_oss_is, .n_ctx = 131072);
ROW(mixtral_row, "mixtral", ROPE_INTERLEAVED, mixtral_is, .kv_heads = 8, .n_ctx = 131072, .theta = 1e6, .eps = 1e-5f);
ROW(gpt_neox_row, "gpt_neox", ROPE_HALF, gpt_neox_is, .n_ctx = 2048, .partial = 0.25, .eps = 1e-5f);
ROW(gptneox_row, "gptneox", ROPE_HALF, gpt_neox_is, .n_ctx = 2048);
ROW(phi_row, "phi", ROPE_HALF, phi_is, .n_ctx = 2048, .partial = 0.5, .eps = 1e-5f);
ROW(phi2_row, "phi2", ROPE_HALF, phi_is, .n_ctx = 2048);
ROW(starcoder2_row, "starcoder2", ROPE_HALF, starcoder2_is, .kv_heads = 2, .n_ctx = 4096, .tied = 1, .eps = 1e-5f);
ROW(cohere_row, "cohere", ROPE_INTERLEAVED, cohere_is, .n_ctx = 8192, .tied = 1, .interleaved = 1, .theta = 5e5,
    .eps = 1e-5f);
ROW(command_r_row, "command-r", ROPE_INTERLEAVED, cohere_is, .n_ctx = 8192, .tied = 1);
ROW(cohere2_row, "cohere2", ROPE_INTERLEAVED, cohere2_is, .n_ctx = 8192, .window = 4096, .tied = 1, .interleaved = 1,
    .eps = 1e-5f);
ROW(olmo_row, "olmo", ROPE_INTERLEAVED, olmo_is, .n_ctx = 2048, .eps = 1e-5f);
ROW(nemotron_row, "nemotron", ROPE_HALF, nemotron_is, .n_ctx = 4096, .partial = 0.5, .eps = 1e-5f);
ROW(internlm2_row, "internlm2", ROPE_INTERLEAVED, internlm2_is, .n_ctx = 2048);
ROW(internlm3_row, "internlm3", ROPE_INTERLEAVED, internlm3_is, .kv_heads = 2, .head_dim = 128, .n_ctx = 32768,
    .eps = 1e-5f);
ROW(minicpm_row, "minicpm", ROPE_INTERLEAVED, minicpm_is, .n_ctx = 2048, .tied = 1);
ROW(exaone_row, "exaone", ROPE_HALF, exaone_is, .kv_heads = 8, .n_ctx = 4096, .theta = 5e5, .eps = 1e-5f);
ROW(lfm2_row, "lfm2", ROPE_HALF, lfm2_is, .heads = 32, .kv_heads = 8, .n_ctx = 128000, .tied = 1, .theta = 1e6,
    .eps = 1e-5f);
ROW(olmoe_row, "olmoe", ROPE_HALF, olmoe_is, .n_ctx = 4096, .eps = 1e-5f);
ROW(qwen2_moe_row, "qwen2_moe", ROPE_HALF, qwen2_moe_is, .kv_heads = 16, .n_ctx = 32768, .window = 4096,
    .window_by_layer = 1);
ROW(qwen2moe_row, "qwen2moe", ROPE_HALF, qwen2_moe_is, .n_ctx = 32768);
ROW(granite_moe_row, "granitemoe", ROPE_INTERLEAVED, granite_moe_is, .n_ctx = 2048);
ROW(granite_moe_shared_row, "granitemoeshared", ROPE_INTERLEAVED, granite_moe_is, .n_ctx = 2048);
ROW(ernie_moe_row, "ernie4_5_moe", ROPE_INTERLEAVED, ernie_moe_is, .kv_heads = 4, .n_ctx = 131072, .tied = 1,
    .interleaved = 1, .theta = 5e5, .eps = 1e-5f);
ROW(ernie_moe_gguf_row, "ernie4_5-moe", ROPE_INTERLEAVED, ernie_moe_is, .n_ctx = 131072);
ROW(lfm2_moe_row, "lfm2_moe", ROPE_HALF, lfm2_moe_is, .heads = 32, .kv_heads = 8, .n_ctx = 128000, .tied = 1,
    .theta = 1e6, .eps = 1e-5f);
ROW(lfm2moe_row, "lfm2moe", ROPE_HALF, lfm2_moe_is, .n_ctx = 128000, .tied = 1);
ROW(dots1_row, "dots1", ROPE_HALF, dots1_is, .kv_heads = 32, .n_ctx = 2048, .window = 4096);
ROW(glm4_moe_row, "glm4_moe", ROPE_HALF, glm4_moe_is, .kv_heads = 8, .n_ctx = 131072, .partial = 0.5, .eps = 1e-5f);
ROW(glm4moe_row, "glm4moe", ROPE_HALF, glm4_moe_is, .n_ctx = 131072);
