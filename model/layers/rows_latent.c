/* model/layers/rows_latent.c - the architectures with latent attention (latent.h), as rows.c has the others.
 * Sources: transformers' modeling_*.py and llama.cpp's deepseek2.cpp, mistral4.cpp, minicpm3.cpp. */
#include "rows.h"

#include "base/json.h"
#include "config.h"

#include <math.h>
#include <string.h>

static void required(KeyReader *r, const char *hf) {
    if (key_is_hf(r) && !r->source->look(r, NULL, hf)) key_complain(r, r->key, r->source->missing);
}

/* A flag that null does not leave as it is: it is none of Python's truths. */
static void not_null(KeyReader *r, const char *key) {
    const JsonValue *v = key_is_hf(r) ? json_get(r->w->config, key) : NULL;
    if (v && v->type == JSON_NULL) key_complain(r, key, "must be true or false");
}

/* 1 / sqrt of what an own head's key has. DeepSeek's yarn leaves cos and sin as they are, and scores grow instead. */
void layers_latent_scale(Config *c) {
    Decoder *x = c->decoder;
    const RopeNumbers *n = rope_numbers(&c->rope);
    int grows = c->rope.scaling != &rope_none && n->mscale_all_dim > 0 && n->factor > 1;
    double by = grows ? 1 + 0.1 * n->mscale_all_dim * log(n->factor) : 1;
    x->score_scale = (float)(by * by / sqrt(x->nope_dim + c->rope.rotary_dim));
}

/* The sizes, of which the rest of the engine sees one head of keys. config.json has them by their names; in GGUF files
 * key_length is that head's where key_length_mla is an own head's, and in old ones, and MiniCPM3's, an own head's
 * itself. transformers' classes leave the norms of short vectors the usual epsilon. */
static void sizes(KeyReader *r, Config *c) {
    Decoder *x = c->decoder;
    const int hf = key_is_hf(r), said = r->source->look(r, "attention.value_length", NULL) != NULL;
    int turned = (int)key_int(r, NULL, "qk_rope_head_dim", c->rope.rotary_dim, 1, 2 * ROPE_MAX_PAIRS),
        own = (int)key_int(r, "attention.key_length_mla", NULL, c->head_dim, 1, CONFIG_MAX_DIM),
        value = said ? c->value_dim : c->d_model / c->n_heads;
    x->nope_dim = (int)key_int(r, NULL, "qk_nope_head_dim", own - turned, 1, CONFIG_MAX_DIM);
    x->v_dim = (int)key_int(r, "attention.value_length_mla", "v_head_dim", value, 1, CONFIG_MAX_DIM);
    x->latent_eps = hf ? 1e-6f : c->norm_eps;
    required(r, "qk_rope_head_dim");
    required(r, "qk_nope_head_dim");
    if (x->traits->latent != LATENT_WHOLE) required(r, "v_head_dim"); /* MiniCPM3's may follow from the others */
    if (hf && !json_get(r->w->config, "q_lora_rank")) key_complain(r, "q_lora_rank", r->source->missing);
    if (x->nope_dim < 1 || (int64_t)c->n_heads * (x->nope_dim + turned) > CONFIG_MAX_DIM ||
        (int64_t)c->n_heads * x->v_dim > CONFIG_MAX_DIM)
        key_complain(r, "latent attention's heads", "are too wide, or have nothing that does not turn");
    c->head_dim = turned + x->kv_rank, c->value_dim = x->kv_rank, c->n_kv_heads = 1, c->rope.rotary_dim = turned;
    c->qkv_bias = c->o_bias = c->mlp_bias = 0;
    rows_only(r, "attention_bias", 0);
    rows_only(r, "mlp_bias", 0);
    rows_only(r, "rope_interleave", 1);
    not_null(r, "rope_interleave");
}

/* The one whose scores are no sigmoids; its class never makes shares sum to 1. */
static void deepseek_v2(KeyReader *r, Config *c) {
    char method[32] = "greedy";
    sizes(r, c);
    required(r, "n_shared_experts");
    rows_experts_from(r, c, "first_k_dense_replace", 0, NULL);
    c->decoder->renormalise = 0;
    key_word(r, NULL, "topk_method", method, sizeof method);
    if (strcmp(method, "group_limited_greedy") == 0) rows_groups(r, c, 1, 1, 1);
    else if (strcmp(method, "greedy") != 0)
        key_complain(r, r->key, "only greedy and group_limited_greedy are known here");
}

static void deepseek_v3(KeyReader *r, Config *c) {
    sizes(r, c);
    required(r, "n_shared_experts");
    required(r, "routed_scaling_factor");
    not_null(r, "norm_topk_prob");
    rows_routed(r, c, 1, 3, 8);
}

static void glm4_moe_lite(KeyReader *r, Config *c) {
    const JsonValue *types = json_get(r->w->config, "mlp_layer_types");
    int l = 0;
    sizes(r, c);
    required(r, "n_shared_experts");
    required(r, "routed_scaling_factor");
    rows_routed(r, c, 1, 1, 1);
    if (json_absent(types)) return;
    if (types->type != JSON_ARRAY || types->len != (size_t)c->n_layers)
        key_complain(r, "mlp_layer_types", "must be a list with an entry for each layer");
    else
        for (const JsonValue *e = types->child; e; e = e->next)
            c->decoder->kinds[l++].experts = (uint8_t)json_is(e, "sparse");
}

/* The multiplier is a tenth of mscale_all_dim, in these architectures alone. Without it, and with a factor of attention
 * besides, llama.cpp scales scores in ways that no model has. */
static void yarn_in_gguf(KeyReader *r, Config *c) {
    RopeNumbers *n = key_is_hf(r) ? NULL : key_rope_numbers(r, &c->rope, c->n_ctx_train);
    if (!n) return;
    n->mscale_all_dim *= 10;
    if (r->source->look(r, "rope.scaling.attn_factor", NULL))
        key_complain(r, r->key, "is not known here for this architecture");
    if (strcmp(c->rope.scaling->name, "yarn") == 0 && n->mscale_all_dim == 0)
        key_complain(r, "rope.scaling.yarn_log_multiplier", r->source->missing);
}

/* What llama.cpp must be told, too. */
static void experts_in_gguf(KeyReader *r, Config *c) {
    if (!key_is_hf(r) && c->decoder->n_experts && !r->source->look(r, "expert_shared_count", NULL))
        key_complain(r, r->key, r->source->missing);
}

/* llama.cpp's name of all of them. Files of the first years do not say how experts are scored: GLM 4.7 Flash is known
 * by its sizes there, the others are DeepSeek-V2's. */
static void deepseek2(KeyReader *r, Config *c) {
    Decoder *x = c->decoder;
    int flash = (c->n_layers == 47 || c->n_layers == 48) && c->vocab_size == 154880;
    yarn_in_gguf(r, c);
    if (c->rope.numbers) c->rope.numbers->mscale = c->rope.numbers->mscale_all_dim; /* in llama.cpp as in all models */
    experts_in_gguf(r, c);
    sizes(r, c);
    int64_t function = key_int(r, "expert_gating_func", NULL, flash ? 2 : 1, 0, 255);
    if (function > 2) key_complain(r, r->key, "only 1, a softmax, and 2, a sigmoid, are known here");
    x->sigmoid = function == 2;
    rows_shares(r, c, 0);
    rows_experts_from(r, c, NULL, 0, NULL);
    for (int l = 0; l < c->n_layers && !x->n_experts; l++) x->kinds[l].experts = 0; /* Youtu's */
    rows_groups(r, c, 1, 1, x->sigmoid ? 2 : 1);
    rows_temperature(r, c); /* Mistral Large 3's */
}

static void mistral4(KeyReader *r, Config *c) {
    yarn_in_gguf(r, c);
    experts_in_gguf(r, c);
    sizes(r, c);
    required(r, "n_shared_experts");
    not_null(r, "norm_topk_prob");
    rows_shares(r, c, 1);
    rows_experts_from(r, c, "first_k_dense_replace", 0, NULL);
    rows_groups(r, c, 1, 1, 2);
    if (key_int(r, "expert_gating_func", NULL, 1, 0, 255) > 1)
        key_complain(r, r->key, "only 1, a softmax, is known here for this architecture");
    rows_temperature(r, c);
}

/* null is no scaling. A multiplier of yarn's is nothing to llama.cpp here. */
static void minicpm3(KeyReader *r, Config *c) {
    RopeNumbers *n = key_is_hf(r) ? NULL : key_rope_numbers(r, &c->rope, c->n_ctx_train);
    const JsonValue *depth = json_get(r->w->config, "scale_depth"), *base = json_get(r->w->config, "dim_model_base");
    int deep = depth && depth->type == JSON_NULL, wide = base && base->type == JSON_NULL;
    if (n) n->mscale = n->mscale_all_dim = 0;
    rows_minicpm(r, c, 12, deep ? sqrt(c->n_layers) : 1.4, wide ? c->d_model : 256);
    sizes(r, c);
}

static const char mistral4_rope[] = "{\"rope_type\": \"yarn\", \"rope_theta\": 10000, \"factor\": 128, "
                                    "\"original_max_position_embeddings\": 8192, \"beta_fast\": 32, "
                                    "\"beta_slow\": 1, \"mscale\": 1, \"mscale_all_dim\": 1}";

static const LayerTraits deepseek_v2_is =
    {.gguf = "deepseek2", .norm_in = 1, .latent = LATENT_PARTED, .experts = 1, .shared_expert = 2, .dense_first = 1,
     .gguf_shares = SHARES_AS_SAID, .keys = {layer_latent}, .names = rows_shared_experts, .settle = deepseek_v2},
    deepseek_v3_is =
    {.gguf = "deepseek2", .norm_in = 1, .latent = LATENT_PARTED, .experts = 1, .shared_expert = 2, .sigmoid = 1,
     .correction = CORRECTION, .dense_first = 1, .gguf_shares = SHARES_AS_SAID, .keys = {layer_latent},
     .names = rows_shared_experts, .settle = deepseek_v3},
    glm4_moe_lite_is =
    {.gguf = "deepseek2", .norm_in = 1, .latent = LATENT_PARTED, .experts = 1, .shared_expert = 2, .sigmoid = 1,
     .correction = CORRECTION, .dense_first = 1, .gguf_shares = SHARES_AS_SAID, .keys = {layer_latent},
     .names = rows_shared_experts, .settle = glm4_moe_lite},
    deepseek2_is =
    {.norm_in = 1, .latent = LATENT_PARTED, .experts = 1, .shared_expert = 2, .correction = CORRECTION_IF_THERE,
     .dense_first = 1, .gguf_shares = SHARES_AS_SAID, .keys = {layer_latent}, .names = rows_shared_experts,
     .settle = deepseek2},
    youtu_is = {.gguf = "deepseek2", .norm_in = 1, .latent = LATENT_PARTED, .keys = {layer_latent}, .settle = sizes},
    mistral4_is =
    {.norm_in = 1, .latent = LATENT_PARTED, .experts = 1, .shared_expert = 2, .dense_first = 1,
     .gguf_shares = SHARES_AS_SAID, .keys = {layer_latent}, .names = rows_shared_experts, .settle = mistral4},
    minicpm3_is = {.norm_in = 1, .latent = LATENT_WHOLE, .keys = {layer_scales, layer_latent}, .settle = minicpm3};

ROW(deepseek_v2_row, "deepseek_v2", ROPE_INTERLEAVED, deepseek_v2_is, .head_dim = 64, .n_ctx = 2048, .interleaved = 1);
ROW(deepseek_v3_row, "deepseek_v3", ROPE_INTERLEAVED, deepseek_v3_is, .head_dim = 64, .n_ctx = 4096, .interleaved = 1);
ROW(kimi_k2_row, "kimi_k2", ROPE_INTERLEAVED, deepseek_v3_is, .head_dim = 64, .n_ctx = 131072, .interleaved = 1);
ROW(deepseek2_row, "deepseek2", ROPE_INTERLEAVED, deepseek2_is, .n_ctx = 2048);
ROW(glm4_moe_lite_row, "glm4_moe_lite", ROPE_INTERLEAVED, glm4_moe_lite_is, .head_dim = 64, .n_ctx = 202752,
    .interleaved = 1, .eps = 1e-5f);
ROW(youtu_row, "youtu", ROPE_INTERLEAVED, youtu_is, .head_dim = 64, .n_ctx = 131072, .tied = 1, .interleaved = 1);
ROW(mistral4_row, "mistral4", ROPE_INTERLEAVED, mistral4_is, .head_dim = 128, .n_ctx = 1048576, .interleaved = 1,
    .partial = 1, .rope = mistral4_rope);
ROW(minicpm3_row, "minicpm3", ROPE_HALF, minicpm3_is, .head_dim = 32, .n_ctx = 32768, .tied = 1, .eps = 1e-5f);
