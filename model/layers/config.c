/* model/layers/config.c - the settings of models in layers, of GGUF's keys or config.json. */
#include "config.h"

#include "base/json.h"
#include "model/files/huggingface.h"
#include "rope/relative.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int key_is_hf(const KeyReader *r) { return r->w->format == FORMAT_HF; }

static const JsonValue *in_config(const KeyReader *r, const char *key) {
    return key_is_hf(r) ? json_get(r->w->config, key) : NULL;
}

/* ---- numbers, by what an architecture has ---- */

#define IN(field) offsetof(Decoder, field)
const KeyField layer_scales[] = {
    {"embedding_scale", "embedding_multiplier", FIELD_FLOAT, IN(embed_scale), 0, 0, 0},
    {"residual_scale", "residual_multiplier", FIELD_FLOAT, IN(residual_scale), 0, 0, 0},
    {"logit_scale", "logits_scaling", FIELD_FLOAT, IN(logit_scale), 0, 0, 0},
    {"attention.scale", "attention_multiplier", FIELD_FLOAT, IN(score_scale), 0, 0, 0},
    {0},
};
const KeyField layer_caps[] = {
    {"attn_logit_softcapping", "attn_logit_softcapping", FIELD_FLOAT, IN(score_cap), 0, 0, 0},
    {"final_logit_softcapping", "final_logit_softcapping", FIELD_FLOAT, IN(logit_cap), 0, 0, 0},
    {0},
};
const KeyField layer_logits[] = {{"logit_scale", "logit_scale", FIELD_FLOAT, IN(logit_scale), 0, 0, 0}, {0}};
const KeyField layer_clip[] = {{"attention.clamp_kqv", "clip_qkv", FIELD_FLOAT, IN(clip), 0, 0, 0}, {0}};
const KeyField layer_experts[] = {
    {"expert_count", "num_experts", FIELD_INT, IN(n_experts), 1, 4096, 0},
    {NULL, "num_local_experts", FIELD_INT, IN(n_experts), 1, 4096, 0},
    {"expert_used_count", "num_experts_per_tok", FIELD_INT, IN(n_used), 1, 256, 1},
    {"expert_feed_forward_length", "moe_intermediate_size", FIELD_INT, IN(d_expert), 1, CONFIG_MAX_DIM, 0},
    {"expert_shared_feed_forward_length", "shared_expert_intermediate_size", FIELD_INT, IN(d_shared), 0, CONFIG_MAX_DIM,
     0},
    {NULL, "shared_intermediate_size", FIELD_INT, IN(d_shared), 0, CONFIG_MAX_DIM, 0},
    {0},
};
const KeyField layer_ernie_experts[] = {
    {"expert_count", "moe_num_experts", FIELD_INT, IN(n_experts), 1, 4096, 1},
    {"expert_used_count", "moe_k", FIELD_INT, IN(n_used), 1, 256, 1},
    {"expert_feed_forward_length", "moe_intermediate_size", FIELD_INT, IN(d_expert), 1, CONFIG_MAX_DIM, 1},
    {"expert_shared_count", "moe_num_shared_experts", FIELD_INT, IN(n_shared), 0, 256, 0},
    {"expert_shared_feed_forward_length", NULL, FIELD_INT, IN(d_shared), 0, CONFIG_MAX_DIM, 0},
    {0},
};
const KeyField layer_routed_experts[] = {
    {"expert_count", "n_routed_experts", FIELD_INT, IN(n_experts), 1, 4096, 1},
    {"expert_used_count", "num_experts_per_tok", FIELD_INT, IN(n_used), 1, 256, 1},
    {"expert_feed_forward_length", "moe_intermediate_size", FIELD_INT, IN(d_expert), 1, CONFIG_MAX_DIM, 1},
    {"expert_shared_count", "n_shared_experts", FIELD_INT, IN(n_shared), 1, 256, 1},
    {"expert_weights_scale", "routed_scaling_factor", FIELD_FLOAT, IN(share_scale), 0, 0, 0},
    {0},
};
const KeyField layer_latent[] = {
    {"expert_count", "n_routed_experts", FIELD_INT, IN(n_experts), 0, 4096, 0},
    {"expert_used_count", "num_experts_per_tok", FIELD_INT, IN(n_used), 0, 256, 0},
    {"expert_feed_forward_length", "moe_intermediate_size", FIELD_INT, IN(d_expert), 1, CONFIG_MAX_DIM, 0},
    {"expert_shared_count", "n_shared_experts", FIELD_INT, IN(n_shared), 0, 256, 0},
    {"expert_weights_scale", "routed_scaling_factor", FIELD_FLOAT, IN(share_scale), 0, 0, 0},
    {"attention.q_lora_rank", "q_lora_rank", FIELD_INT, IN(q_rank), 0, CONFIG_MAX_DIM, 0},
    {"attention.kv_lora_rank", "kv_lora_rank", FIELD_INT, IN(kv_rank), 1, 2 * ROPE_MAX_PAIRS, 1},
    {0},
};
const KeyField layer_delta[] = {
    {"ssm.conv_kernel", "linear_conv_kernel_dim", FIELD_INT, IN(conv), 1, 64, 1},
    {"ssm.state_size", "linear_key_head_dim", FIELD_INT, IN(key_dim), 1, 2 * ROPE_MAX_PAIRS, 1},
    {"ssm.group_count", "linear_num_key_heads", FIELD_INT, IN(key_heads), 1, CONFIG_MAX_DIM, 1},
    {"ssm.time_step_rank", "linear_num_value_heads", FIELD_INT, IN(value_heads), 1, CONFIG_MAX_DIM, 1},
    {NULL, "linear_value_head_dim", FIELD_INT, IN(value_dim), 1, 2 * ROPE_MAX_PAIRS, 0},
    {0},
};

const KeyField layer_conv[] = {{"shortconv.l_cache", "conv_L_cache", FIELD_INT, IN(conv), 1, 64, 1}, {0}};

/* 1 or 0 where the key says so; -1 where it is not there: then the tensors say it. */
int key_said(KeyReader *r, const char *hf) {
    const MetaValue *v = key_is_hf(r) ? r->source->look(r, NULL, hf) : NULL;
    return v ? key_flag(r, NULL, hf, 0) : -1;
}

/* ---- which layers are what ---- */

/* A list with an entry for each layer: 1 for those that do not see all. */
static void of_types(KeyReader *r, const Config *c, const JsonValue *types, uint8_t *others) {
    static const char *const words[] = {"full_attention", "sliding_attention", "linear_attention", "conv"};
    int l = 0, its = c->decoder->traits->others;
    if (types->type != JSON_ARRAY || types->len != (size_t)c->n_layers) {
        key_complain(r, "layer_types", "must be a list with an entry for each layer");
        return;
    }
    for (const JsonValue *e = types->child; e; e = e->next, l++) {
        others[l] = (uint8_t)!json_is(e, words[0]);
        if (others[l] && !json_is(e, words[its]))
            key_complain(r, "layer_types", "has a word that is not known here for this architecture");
        if (others[l] && its == OTHERS_HAVE_WINDOW && !c->window)
            key_complain(r, "sliding_window", "gives no window, but layer_types names layers that have one");
    }
}

static void by_period(const Config *c, int64_t period, uint8_t *others) {
    int shift = !c->decoder->traits->full_first;
    for (int l = 0; l < c->n_layers; l++) others[l] = (uint8_t)(period < 1 || (l + shift) % period != 0);
}

/* GGUF: a list of booleans, or the period. The list counts layers that draft, too. */
static void of_pattern(KeyReader *r, const Config *c, const char *key, int64_t usual, uint8_t *others) {
    int64_t all = c->n_layers + key_int(r, "nextn_predict_layers", NULL, 0, 0, CONFIG_MAX_LAYERS);
    snprintf(r->key, sizeof r->key, "%s.%s", r->arch, key); /* look would make a number of a list that is all alike */
    const MetaValue *v = weights_meta(r->w, r->key);
    if (!v || v->type != META_ARRAY) by_period(c, key_int(r, key, NULL, (double)usual, 0, CONFIG_MAX_LAYERS), others);
    else if (v->elem != META_BOOL || (v->n != (uint64_t)c->n_layers && v->n != (uint64_t)all))
        key_complain(r, r->key, "must be a list of booleans, one for each layer, or a number");
    else memcpy(others, v->data, (size_t)c->n_layers);
}

/* layer_types, where the architecture goes by it; or NULL. */
static const JsonValue *types_of(const KeyReader *r, const LayerTraits *t) {
    const JsonValue *types = t->alike ? NULL : in_config(r, "layer_types");
    return json_absent(types) ? NULL : types;
}

/* LLLG is 4: windows, and behind them a layer that sees all. */
static int64_t period_of_word(KeyReader *r, const char *key, const JsonValue *v) {
    size_t windows = strspn(v->str, "L");
    if (windows + 1 != v->len || v->str[windows] != 'G') key_complain(r, key, "must be a number, or a word like LLLG");
    return (int64_t)v->len;
}

/* Which layers attend: config.json lists their numbers, GGUF gives the others no heads of keys. */
static void attending(KeyReader *r, const Config *c, uint8_t *others) {
    const JsonValue *list = in_config(r, "full_attn_idxs");
    snprintf(r->key, sizeof r->key, "%s.attention.head_count_kv", r->arch);
    const MetaValue *v = key_is_hf(r) ? NULL : weights_meta(r->w, r->key);
    const uint8_t *at = v ? v->data : NULL;
    MetaValue value;
    int64_t heads = 0;
    if (!json_absent(list) && list->type != JSON_ARRAY) key_complain(r, "full_attn_idxs", "must be a list of layers");
    else if (!json_absent(list)) {
        memset(others, 1, (size_t)c->n_layers);
        for (const JsonValue *e = list->child; e; e = e->next)
            if (e->type != JSON_NUMBER) key_complain(r, "full_attn_idxs", "must be a list of layers");
            else if (e->number >= 0 && e->number < c->n_layers) others[(int)e->number] = 0;
    }
    if (!v || v->type != META_ARRAY) return;
    if (v->n < (uint64_t)c->n_layers) key_complain(r, r->key, "must have an entry for each layer");
    for (uint64_t l = 0; l < v->n && l < (uint64_t)c->n_layers; l++) {
        meta_next(v, &at, &value);
        others[l] = (uint8_t)(meta_integer(&value, &heads) && heads == 0);
    }
}

/* The layers that do not see all, or whose mixer is another. */
static void read_others(KeyReader *r, Config *c, uint8_t *others) {
    const LayerTraits *t = c->decoder->traits;
    const JsonValue *types = types_of(r, t);
    int delta = t->others == OTHERS_ARE_DELTA;
    int64_t period = t->period;
    if (t->others == OTHERS_SEE_ALL) return;
    if (types) of_types(r, c, types, others);
    else if (t->others == OTHERS_ARE_CONV) attending(r, c, others);
    else if (key_is_hf(r)) {
        const char *key = delta ? "full_attention_interval" : t->full_first ? "global_attn_every_n_layers"
                                                                            : "sliding_window_pattern";
        const JsonValue *v = in_config(r, key); /* EXAONE's may be the word LLLG */
        if (v && v->type == JSON_STRING) period = period_of_word(r, key, v);
        else if (period) period = key_int(r, NULL, key, (double)period, 1, CONFIG_MAX_LAYERS);
        by_period(c, period, others);
    } else if (!delta) of_pattern(r, c, "attention.sliding_window_pattern", period, others);
    else {
        period = key_int(r, "full_attention_interval", NULL, (double)period, 1, CONFIG_MAX_LAYERS);
        of_pattern(r, c, "attention.recurrent_layers", period, others);
    }
}

/* transformers' class has a window where config.json says nothing; null says that there is none. What layer_types names
 * has it, whatever use_sliding_window says. */
static int64_t read_window(KeyReader *r, const Architecture *a) {
    const JsonValue *v = in_config(r, "sliding_window");
    double usual = key_is_hf(r) && !v ? (double)a->hf->window : 0;
    int asks = key_is_hf(r) && a->hf->window_by_layer && !types_of(r, a->traits);
    if (asks && key_said(r, "use_sliding_window") != 1) return 0;
    return key_int(r, "attention.sliding_window", "sliding_window", usual, 0, MOST_COUNTED);
}

void layer_window_sides(KeyReader *r, Config *c, const char *hf) {
    if (c->window == 1) key_complain(r, hf, "of 1 leaves a token nothing but itself, which is not known here");
    c->window /= 2;
}

static void read_kinds(KeyReader *r, Config *c, const Architecture *a) {
    Decoder *x = c->decoder;
    const LayerTraits *t = x->traits;
    uint8_t others[CONFIG_MAX_LAYERS] = {0};
    c->window = t->others == OTHERS_HAVE_WINDOW ? read_window(r, a) : 0;
    read_others(r, c, others);
    for (int l = 0; l < c->n_layers; l++) {
        int mixer = !others[l] || t->others == OTHERS_HAVE_WINDOW ? MIXER_SOFTMAX
                    : t->others == OTHERS_ARE_DELTA ? MIXER_DELTA : MIXER_CONV;
        int windowed = mixer == MIXER_SOFTMAX && others[l] && c->window > 0;
        int unturned = mixer != MIXER_SOFTMAX || (t->nope_on_full && c->window > 0 && !windowed);
        int turn = unturned ? TURN_NOT : windowed && t->local_rope ? TURN_LOCAL : TURN_MAIN;
        c->windowed[l] = (uint8_t)windowed;
        x->kinds[l] = (LayerKind){.mixer = (uint8_t)mixer, .turn = (uint8_t)turn,
                                  .experts = x->n_experts > 0};
        if (mixer != MIXER_SOFTMAX) x->n_states++;
    }
}

int layers_turn_apart(const Config *c) {
    int local = 0;
    for (int l = 0; l < c->n_layers; l++) local |= c->decoder->kinds[l].turn == TURN_LOCAL;
    return local;
}

const char *layers_unstretched(const Config *c, const RopeNumbers *n) {
    const Decoder *x = c->decoder;
    if (x->score_cap > 0) return "a soft cap on scores";
    if (x->traits->sinks) return "sink logits";
    if (x->traits->qk_after) return "norms behind the rotation";
    if (x->n_states) return x->traits->others == OTHERS_ARE_CONV ? "layers of convolutions" : "delta nets";
    if (layers_turn_apart(c) && !n->relative && !n->any_nope) return "layers with a RoPE of their own";
    return n->relative && n->relative->chooses != ROPE_BY_POSITION ? "layers that are not LLaMA's" : NULL;
}

Config layer_view(const Config *c, int l) {
    const Decoder *x = c->decoder;
    Config own = *c;
    if (l < 0) return own;
    own.head_dim = layer_head_dim(c, l), own.value_dim = layer_value_dim(c, l), own.n_kv_heads = layer_kv_heads(c, l);
    if (layer_borrows(c, l) && x->wide_borrowers) own.d_ff *= 2;
    return own;
}

/* ---- all of it ---- */

/* A file that has both keys means hidden_activation; but the first Gemma's class asks hidden_act alone, whose gelu is
 * the tanh form there. The later ones leave theirs, which is old. */
static void read_activation(KeyReader *r, Decoder *x) {
    const LayerTraits *t = x->traits;
    char word[32];
    int first = json_is(in_config(r, "model_type"), "gemma");
    int said = !first && key_word(r, "hidden_activation", "hidden_activation", word, sizeof word);
    if (first || (!said && !t->scaled_embedding)) said = key_word(r, NULL, "hidden_act", word, sizeof word);
    if (first && said && strcmp(word, "gelu") == 0) said = 0;
    x->activation = said ? key_activation(r, word) : layers_usual_activation(t);
    if (t->gate == GATE_CLAMPED && x->activation != ACTIVATION_SILU)
        key_complain(r, r->key, "only silu is known here for this architecture");
}

static void check(KeyReader *r, Config *c) {
    Decoder *x = c->decoder;
    char why[200];
    for (int l = 0; l < c->n_layers; l++)
        if (x->kinds[l].experts && !x->n_experts) key_complain(r, "the number of experts", r->source->missing);
    const float scales[] = {x->embed_scale, x->residual_scale, x->logit_scale, x->score_scale};
    for (int i = 0; i < 4; i++)
        if (!(scales[i] > 0 && scales[i] < 1e30f))
            key_complain(r, "a scale", "of embeddings, residuals, logits or scores is out of range");
    if (!(x->share_scale > 0 && x->share_scale < 1e30f)) key_complain(r, "a scale", "of experts is out of range");
    if (!(x->score_cap >= 0 && x->score_cap < 1e30f && x->logit_cap >= 0 && x->logit_cap < 1e30f))
        key_complain(r, "a soft cap", "must be 0 or more");
    if (!(x->clip >= 0 && x->clip < 1e30f)) key_complain(r, "clip_qkv", "must be 0 or more");
    if (x->n_experts && (x->n_used > x->n_experts || x->n_used < 1))
        key_complain(r, "expert_used_count", "is more than there are experts, or none");
    if (x->key_heads && (x->value_heads % x->key_heads || (int64_t)x->value_heads * x->value_dim > CONFIG_MAX_DIM ||
                       (int64_t)x->key_heads * x->key_dim > CONFIG_MAX_DIM))
        key_complain(r, "linear attention's heads", "do not divide, or are too many");
    if (x->traits->local_rope && rope_check(&x->local, why, sizeof why)) key_complain(r, "rope of windows", why);
    if (x->traits->local_rope && x->local.scaling->choice)
        key_complain(r, "rope of windows", "changes with the length, which is not known here");
    if (x->traits->local_rope && x->local.rotary_dim > (x->local_dim ? x->local_dim : c->head_dim))
        key_complain(r, "rope of windows", "rotates more than a head has");
}

/* What follows from the numbers of experts. */
static void read_experts(KeyReader *r, Config *c) {
    Decoder *x = c->decoder;
    const LayerTraits *t = x->traits;
    if (t->shared_expert && t->gguf_shares == SHARES_AS_THEY_ARE && !key_is_hf(r) && x->n_used) { /* old qwen2moe's */
        if (!x->d_expert) x->d_expert = c->d_ff / x->n_used;
        if (!x->d_shared) x->d_shared = c->d_ff;
    }
    if (x->n_experts && !x->d_expert) x->d_expert = c->d_ff;
    if (x->n_shared) x->d_shared = (int)key_range(r, "the shared expert's width", (double)x->n_shared * x->d_expert, 1,
                                                  CONFIG_MAX_DIM);
    if (x->d_shared > c->ff_rows) c->ff_rows = x->d_shared;
    if (x->share_scale == 0 && !key_is_hf(r)) x->share_scale = 1; /* llama.cpp's none */
}

static void read_delta(KeyReader *r, Config *c) {
    Decoder *x = c->decoder;
    if (!x->value_heads || r->line.rc) return;
    if (!key_is_hf(r)) {
        int64_t inner = key_int(r, "ssm.inner_size", NULL, 0, 1, CONFIG_MAX_DIM);
        if (inner % x->value_heads) key_complain(r, r->key, "is no multiple of the value heads");
        x->value_dim = (int)(inner / x->value_heads);
    }
    if (x->value_dim < 1) key_complain(r, key_is_hf(r) ? "linear_value_head_dim" : r->key, r->source->missing);
}

/* Hugging Face's names as parts.c has them: rules that begin with '.' hold anywhere, the others at the beginning. */
void layers_name(char *name, size_t size, const LayerTraits *t) {
    char next[2 * TENSOR_NAME];
    for (const char *const(*rules)[2] = t->renames; rules && (*rules)[0]; rules++) {
        const char *from = (*rules)[0], *at = *from == '.' ? strstr(name, from) : name;
        if (!at || strncmp(at, from, strlen(from)) != 0) continue;
        snprintf(next, sizeof next, "%.*s%s%s", (int)(at - name), name, (*rules)[1], at + strlen(from));
        snprintf(name, size, "%s", next);
    }
}

static int renamed(Weights *w, Tensor *tensor, const LayerTraits *t) {
    char name[2 * TENSOR_NAME];
    snprintf(name, sizeof name, "%s", tensor->name);
    layers_name(name, sizeof name, t);
    if (strcmp(name, tensor->name) == 0) return 1;
    tensor->name = weights_keep(w, name, strlen(name));
    return tensor->name != NULL;
}

/* Where a head has two biases, the same or not tied, it is the matrix's own that counts. The other one gets a name that
 * nobody asks for (model_rest). */
static void set_aside(Weights *w) {
    static const char *const pairs[][2] = {{"cls.predictions.decoder.bias", "cls.predictions.bias"},
                                           {"lm_head.decoder.bias", "lm_head.bias"}};
    for (int i = 0; i < 2; i++) {
        const Tensor *other = weights_find(w, pairs[i][0]) ? weights_find(w, pairs[i][1]) : NULL;
        if (other) w->tensors[other - w->tensors].name = "head.bias";
    }
}

int layers_rename(Weights *w, const LayerTraits *t, char *err, size_t errlen) {
    if (!t->renames || w->format != FORMAT_HF || w->n_tensors == 0) return 0;
    set_aside(w);
    for (size_t i = 0; i < w->n_tensors; i++)
        if (!renamed(w, &w->tensors[i], t)) return weights_no_memory(w->path, err, errlen);
    int rc = huggingface_rename(w, w->tensors, w->n_tensors, sizeof *w->tensors, err, errlen);
    return rc ? rc : weights_index(w, err, errlen);
}

/* jina's name of a task of n bytes, which may be the short one. */
static const char *task_name(const char *task, size_t n) {
    static const char *const names[][2] = {{"query", "retrieval.query"}, {"document", "retrieval.passage"}};
    for (int i = 0; i < 2; i++)
        if (n == strlen(names[i][0]) && memcmp(task, names[i][0], n) == 0) return names[i][1];
    return task;
}

/* convert --task has merged this task's adapter. */
static int is_merged(const KeyReader *r, const char *task) {
    const MetaValue *v = weights_meta(r->w, "sentence.usual_prompt");
    if (!v || v->type != META_STRING) return 0;
    const char *own = (const char *)v->data, *name = task_name(own, (size_t)v->n);
    size_t n = name == own ? (size_t)v->n : strlen(name);
    return n == strlen(task) && memcmp(name, task, n) == 0;
}

void layers_take_task(KeyReader *r, Config *c, const char *task) {
    const JsonValue *names = in_config(r, "lora_adaptations");
    Decoder *x = c->decoder;
    char known[200] = "", line[300];
    int i = 0, n = 0;
    if (!task) return;
    task = task_name(task, strlen(task));
    if (!key_is_hf(r) && strcmp(c->arch, "jina-bert-v3") == 0 && !is_merged(r, task))
        key_complain(r, "the task", "needs adapters, which llama.cpp keeps in files of their own: not read here");
    if (json_absent(names)) return;
    if (names->type != JSON_ARRAY) key_complain(r, "lora_adaptations", "must be a list of tasks");
    for (const JsonValue *e = names->child; e; e = e->next, i++) {
        if (json_is(e, task)) x->adapter = i;
        if (e->type == JSON_STRING && n < (int)sizeof known)
            n += snprintf(known + n, sizeof known - (size_t)n, "%s%s", n ? ", " : "", e->str);
    }
    double alpha = key_number(r, NULL, "lora_alpha", 0), rank = key_number(r, NULL, "lora_rank", 0);
    x->adapter_scale = (float)(alpha / rank);
    if (!(x->adapter_scale > 0 && x->adapter_scale < 1e6f))
        key_complain(r, alpha > 0 && alpha < 1e6 ? "lora_rank" : "lora_alpha", "is missing or out of range");
    snprintf(line, sizeof line, "there is no adapter \"%.60s\"; its are %s", task, known);
    if (x->adapter < 0) key_complain(r, "lora_adaptations", line);
}

void layers_read_config(KeyReader *r, Config *c, const Architecture *a) {
    const LayerTraits *t = a->traits;
    r->line.rc = layers_rename(r->w, t, r->line.err, r->line.errlen);
    if (r->line.rc) return;
    Decoder *x = c->decoder =
        weights_own(r->w, calloc(1, sizeof *x + CONFIG_MAX_LAYERS * sizeof *x->kinds), free);
    if (!x) {
        key_no_memory(r);
        return;
    }
    x->traits = t;
    x->embed_scale = x->residual_scale = x->logit_scale = x->share_scale = 1;
    x->renormalise = 1, x->adapter = -1;
    if (t->gguf && key_is_hf(r)) snprintf(c->arch, sizeof c->arch, "%s", t->gguf);
    if (t->experts) /* a model of experts alone has no other feed-forward network */
        c->d_ff = (int)key_int(r, "expert_feed_forward_length", "moe_intermediate_size", 0, 1, CONFIG_MAX_DIM);
    decoder_read_config(r, c, a);
    if (!t->latent && key_int(r, "attention.value_length", NULL, c->head_dim, 1, CONFIG_MAX_DIM) != c->head_dim)
        key_complain(r, r->key, "differs from attention.key_length, which is not known here");
    if (r->line.rc) return;
    c->n_layers -= (int)key_int(r, "nextn_predict_layers", NULL, 0, 0, c->n_layers - 1); /* they draft */
    if (t->layernorm)
        c->norm_eps = (float)key_number(r, "attention.layer_norm_epsilon", "layer_norm_eps",
                                        key_is_hf(r) && a->hf->eps > 0 ? (double)a->hf->eps : 1e-5);
    if (t->encoder) c->mask = MASK_PADDING;
    c->qk_norm = t->qk != QK_PLAIN;
    x->score_scale = (float)key_number(r, "attention.scale", NULL, 1 / sqrt(c->head_dim));
    x->tiled = t->tiled && !key_is_hf(r);
    x->sigmoid = t->sigmoid;
    for (const KeyField *const *k = t->keys; *k; k++) keys_read(r, *k, x); /* NULL ends them */
    read_experts(r, c);
    if (t->scaled_embedding) x->embed_scale = sqrtf((float)c->d_model);
    read_delta(r, c);
    read_activation(r, x);
    if (r->line.rc) return;
    x->first_borrower = c->n_layers - x->n_borrowers;
    read_kinds(r, c, a);
    if (t->settle) t->settle(r, c);
    check(r, c);
}
