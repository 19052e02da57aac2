/* weights-tools/source_keys.c - a decoder's Config as the keys of a GGUF file: the reading of model/decoder.c the other
 * way round. */
#include "source.h"

#include "model/family.h"
#include "model/layers/layers.h"
#include "model/roformer.h"
#include "model/suggested.h"
#include "rope/positions.h"
#include "rope/scaling.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    GgufMeta *meta;
    const char *arch;
    char key[120];
} Keys;

static const char *key(Keys *k, const char *name) {
    snprintf(k->key, sizeof k->key, "%s.%s", k->arch, name);
    return k->key;
}

static void count(Keys *k, const char *name, int64_t v) { gguf_u32(k->meta, key(k, name), (uint32_t)v); }
static void real(Keys *k, const char *name, double v) { gguf_f32(k->meta, key(k, name), (float)v); }
static void word(Keys *k, const char *name, const char *v) { gguf_string(k->meta, key(k, name), v); }

/* What layers have each for itself: nothing, those that do not attend. */
static void by_layer(Keys *k, const KeyField *f, const Config *c) {
    gguf_array(k->meta, key(k, f->gguf), META_I32, (uint64_t)c->n_layers);
    for (int l = 0; l < c->n_layers; l++) {
        const Config own = layer_view(c, l);
        buffer_u32(&k->meta->bytes, c->decoder->kinds[l].mixer == MIXER_SOFTMAX ? (uint32_t)key_field(f, &own) : 0);
    }
}

/* decoder_keys, the other way round. A head's size stands there where heads do not share d_model evenly. */
static void sizes(Keys *k, const Config *c) {
    const Decoder *x = c->decoder;
    const Latent latent = x ? x->traits->latent : LATENT_NOT;
    const int differ = x && x->local_dim, convs = x && x->traits->others == OTHERS_ARE_CONV;
    int even = !latent && !differ && (int64_t)c->head_dim * c->n_heads == c->d_model, whole = latent == LATENT_WHOLE;
    for (const KeyField *f = decoder_keys; f->gguf; f++) {
        int of_head = f->at == offsetof(Config, head_dim);
        if (of_head && even) continue;
        int norm = f->type == FIELD_FLOAT; /* the only one; RMSNorm's, or in an encoder LayerNorm's */
        int rms = c->decoder ? !c->decoder->traits->layernorm : c->mask == MASK_CAUSAL;
        int heads = f->at == offsetof(Config, n_kv_heads);
        if ((heads && convs) || (differ && (heads || f->at == offsetof(Config, d_ff)))) {
            by_layer(k, f, c);
            continue;
        }
        if (norm) real(k, rms ? f->gguf : "attention.layer_norm_epsilon", key_field(f, c));
        else if (whole && of_head) count(k, f->gguf, x->nope_dim + c->rope.rotary_dim);
        else if (whole && heads) count(k, f->gguf, c->n_heads);
        else count(k, f->gguf, (int64_t)key_field(f, c));
        if (of_head) count(k, "attention.value_length", whole ? x->v_dim : c->value_dim);
    }
}

/* Every how many layers one is 0 in others, the last of them (shift 1) or the first (0); 0: not regularly. */
static int period_of(const uint8_t *others, int n, int shift) {
    int period = 1;
    while (period - shift < n && others[period - shift]) period++;
    for (int l = 0; l < n; l++)
        if ((others[l] != 0) != ((l + shift) % period != 0)) return 0;
    return period;
}

static void list_of_layers(Keys *k, const char *name, const uint8_t *flags, int n) {
    gguf_array(k->meta, key(k, name), META_BOOL, (uint64_t)n);
    for (int l = 0; l < n; l++) buffer_fill(&k->meta->bytes, flags[l] != 0, 1);
}

/* Of an encoder the width of both sides, and where that is all a period: the first of so many layers sees all. Where no
 * layer has the window it says that heads are not turned, in some architectures; and where all have it and a reader
 * would take a period of its own, it must be told. */
static void window(Keys *k, const Config *c) {
    const LayerTraits *t = c->decoder ? c->decoder->traits : NULL;
    int some = 0, all = 1, encoder = c->mask != MASK_CAUSAL;
    for (int l = 0; l < c->n_layers; l++) some |= c->windowed[l], all &= c->windowed[l];
    int said = t && (t->nope_on_full || c->decoder->local_dim); /* also where no layer has it */
    if (c->window == 0 || (!some && !said)) return;
    count(k, "attention.sliding_window", encoder ? 2 * c->window : c->window);
    if (all && !(t && t->period)) return;
    int period = encoder && t && t->full_first ? period_of(c->windowed, c->n_layers, 0) : 0;
    if (period) count(k, "attention.sliding_window_pattern", period);
    else list_of_layers(k, "attention.sliding_window_pattern", c->windowed, c->n_layers);
}

static void attention(Keys *k, const LinearConfig *a) {
    if (!a->form) return;
    word(k, "attention.kind", "linear");
    word(k, "attention.feature_map", a->phi->name);
    if (a->phi_key) word(k, "attention.feature_map_key", a->phi_key->name);
    word(k, "attention.form", a->form->name);
    real(k, "attention.denominator_epsilon", a->epsilon);
    if (!a->phi->projection) return;
    count(k, "attention.favor_features", a->favor_features);
    gguf_u64(k->meta, key(k, "attention.favor_seed"), a->favor_seed);
}

/* The reading of model/position_keys.c the other way round. */
static void position(Keys *k, const Config *c) {
    const Positions *p = c->positions;
    if (c->log_scale) count(k, "attention.log_scale", c->log_scale);
    if (!p) return;
    word(k, "attention.position", p->kind->name);
    for (const PositionNumber *n = p->kind->numbers; n && n->gguf; n++) {
        const void *at = (const char *)p + n->at;
        if (n->whole) count(k, n->gguf, *(const int64_t *)at);
        else real(k, n->gguf, *(const double *)at);
    }
}

/* ---- layers that are not LLaMA's ---- */

/* Time, height and width share the turned pairs, were these positions in a picture. */
static void sections(Keys *k, uint32_t pairs) {
    gguf_array(k->meta, key(k, "rope.dimension_sections"), META_I32, 4);
    for (uint32_t i = 0; i < 4; i++) buffer_u32(&k->meta->bytes, i < 3 ? (pairs + 2 - i) / 3 : 0);
}

/* Every so many layers one without a state; else a list. */
static void recurrent(Keys *k, const Config *c) {
    uint8_t delta[CONFIG_MAX_LAYERS];
    for (int l = 0; l < c->n_layers; l++) delta[l] = c->decoder->kinds[l].mixer == MIXER_DELTA;
    int period = period_of(delta, c->n_layers, 1);
    if (period) count(k, "full_attention_interval", period);
    else list_of_layers(k, "attention.recurrent_layers", delta, c->n_layers);
}

/* What an encoder has around its layers. Token types are the tokenizer's matter there; of the classifier llama.cpp
 * knows the labels. */
static void encoder_keys(Keys *k, const Source *s) {
    const Config *c = &s->config;
    static const char *const reads[] = {[CLASSIFIER_READS_FIRST] = "cls", [CLASSIFIER_READS_MEAN] = "mean",
                                        [CLASSIFIER_READS_EACH] = "late", [CLASSIFIER_READS_POOLED] = "cls"};
    const RoformerConfig *f = &c->roformer;
    gguf_bool(k->meta, key(k, "attention.causal"), 0);
    if (f->n_types) gguf_u32(k->meta, "tokenizer.ggml.token_type_count", (uint32_t)f->n_types);
    if (f->classifier == CLASSIFIER_NONE) return;
    word(k, "classifier.kind", f->classifier == CLASSIFIER_TOKEN ? "token" : "sequence");
    word(k, "classifier.pooling", reads[f->reads]);
    if (f->problem) word(k, "classifier.problem", problem_names[f->problem]);
    const Model m = {.config = *c, .weights = s->weights};
    gguf_array(k->meta, key(k, "classifier.output_labels"), META_STRING, (uint64_t)f->n_labels);
    for (int i = 0; i < f->n_labels; i++) {
        char usual[40];
        size_t n;
        const char *label = model_label(&m, i, &n);
        snprintf(usual, sizeof usual, "LABEL_%d", i);
        if (n) gguf_text(k->meta, label, n);
        else gguf_text(k->meta, usual, strlen(usual));
    }
}

/* 1 for a method that goes by the context that the model was trained on at first. */
static int says_length(const RopeConfig *r) {
    return strcmp(r->scaling->name, "yarn") == 0 || strcmp(r->scaling->name, "longrope") == 0;
}

/* How many layers before the first that has experts. */
static int layers_ahead(const Config *c) {
    int l = 0;
    while (l < c->n_layers && !c->decoder->kinds[l].experts) l++;
    return l;
}

/* What is not a number of a Decoder's. */
static void expert_keys(Keys *k, const Config *c) {
    const Decoder *x = c->decoder;
    const LayerTraits *t = x->traits;
    if (t->dense_first) count(k, "leading_dense_block_count", layers_ahead(c));
    if (t->dense_first) count(k, "interleave_moe_layer_step", 1);
    if (x->sigmoid || t->latent) count(k, "expert_gating_func", x->sigmoid ? 2 : 1);
    if (x->n_groups > 1) count(k, "expert_group_count", x->n_groups);
    if (x->n_groups > 1) count(k, "expert_group_used_count", x->groups_used);
    if (t->gguf_shares == SHARES_AS_SAID) gguf_bool(k->meta, key(k, "expert_weights_norm"), x->renormalise);
}

/* Of latent attention: an own head's sizes beside those of the one that the engine sees. llama.cpp wants to be told of
 * experts also where there are none. */
static void latent_keys(Keys *k, const Config *c) {
    const Decoder *x = c->decoder;
    const RopeNumbers *n = rope_numbers(&c->rope);
    if (x->traits->latent == LATENT_WHOLE) return;
    count(k, "attention.key_length_mla", x->nope_dim + c->rope.rotary_dim);
    count(k, "attention.value_length_mla", x->v_dim);
    if (x->temperature > 0) count(k, "attention.temperature_length", x->temperature_n); /* llama.cpp wants it here */
    if (n->mscale_all_dim > 0) real(k, "rope.scaling.yarn_log_multiplier", 0.1 * n->mscale_all_dim);
    if (x->n_experts) return;
    count(k, "leading_dense_block_count", c->n_layers);
    count(k, "expert_feed_forward_length", c->d_ff);
    count(k, "expert_shared_count", 0);
}

/* Of layers with a window. llama.cpp wants to be told of what there is none of. */
static void local_keys(Keys *k, const Decoder *x) {
    count(k, "attention.key_length_swa", x->local_dim);
    count(k, "attention.value_length_swa", x->local_dim);
    count(k, "rope.dimension_count_swa", x->local.rotary_dim);
    if (!x->n_borrowers) count(k, "attention.shared_kv_layers", 0);
    if (!x->per_layer) count(k, "embedding_length_per_layer_input", 0);
}

static void layer_keys(Keys *k, const Config *c) {
    const Decoder *x = c->decoder;
    const LayerTraits *t = x->traits;
    int scaled = 0;
    for (int i = 0; i < LAYER_KEYS && t->keys[i]; i++)
        for (const KeyField *f = t->keys[i]; f->gguf || f->hf; f++) {
            double v = key_field(f, x);
            int divides = f->hf && strcmp(f->hf, "logits_scaling") == 0; /* the key's number, ours multiplies */
            scaled |= f->at == offsetof(Decoder, score_scale);
            if (!f->gguf || v == 0) continue;
            if (f->type == FIELD_FLOAT) real(k, f->gguf, divides ? 1 / v : v);
            else count(k, f->gguf, (int64_t)v);
        }
    int usual = fabs(x->score_scale * sqrt(c->head_dim) - 1) <= 1e-6; /* but of Gemmas with the largest one's layers */
    scaled |= t->latent != LATENT_NOT || x->local_dim; /* by the sizes that latent_keys writes; always 1 */
    if (!scaled && (!usual || strncmp(c->arch, "gemma", 5) == 0)) real(k, "attention.scale", x->score_scale);
    if (layers_turn_apart(c)) real(k, "rope.freq_base_swa", x->local.theta);
    if (x->temperature > 0) real(k, "attention.temperature_scale", x->temperature);
    if (x->temperature > 0 && !says_length(&c->rope))
        count(k, "rope.scaling.original_context_length", x->temperature_n);
    if (t->layernorm) gguf_bool(k->meta, key(k, "use_parallel_residual"), x->parallel != IN_TURN);
    if (x->n_experts) expert_keys(k, c);
    if (t->latent) latent_keys(k, c);
    if (x->local_dim) local_keys(k, x);
    if (!x->value_heads) return;
    count(k, "ssm.inner_size", (int64_t)x->value_heads * x->value_dim);
    recurrent(k, c);
    if (t->tiled) sections(k, (uint32_t)c->rope.rotary_dim / 2);
}

/* Those that llama.cpp takes for granted. */
static int has_minicpm3_scales(const Config *c) {
    const Decoder *x = c->decoder;
    return x->embed_scale == 12 && fabs(x->residual_scale * sqrt(c->n_layers) - 1.4) < 1e-6 &&
           fabs(x->logit_scale * (double)c->d_model - 256) < 1e-3;
}

/* What such a model has and GGUF no key for; NULL: nothing. */
static const char *without_key(const Config *c) {
    const Decoder *x = c->decoder;
    const RopeNumbers *n = rope_numbers(&c->rope);
    int smollm3 = strcmp(c->arch, "smollm3") == 0, ahead = x->traits->dense_first ? layers_ahead(c) : 0;
    for (int l = 0; l < c->n_layers; l++) {
        if (x->n_experts && !x->kinds[l].experts && l >= ahead) return "experts in some layers only";
        if (smollm3 && (x->kinds[l].turn == TURN_NOT) != ((l + 1) % 4 == 0))
            return "layers without RoPE other than every fourth";
    }
    if (x->n_experts && !x->renormalise && x->traits->gguf_shares == SHARES_SUM_TO_1)
        return "experts whose shares do not sum to 1 (norm_topk_prob false)";
    if (x->n_experts && x->renormalise && x->traits->gguf_shares == SHARES_AS_THEY_ARE)
        return "experts of such a model whose shares sum to 1 (norm_topk_prob true)";
    if (x->activation != layers_usual_activation(x->traits)) return "another activation than its own";
    if (strcmp(c->arch, "modern-bert") == 0 && c->roformer.activation != ACTIVATION_GELU)
        return "another activation of a head than its own";
    if (x->traits->gate == GATE_CLAMPED && (x->clamp != 7 || x->alpha != 1.702f))
        return "another SwiGLU than gpt-oss's";
    if (x->traits->sinks && strcmp(c->rope.scaling->name, "yarn") == 0 && !n->no_truncate)
        return "yarn with rounded borders";
    if (x->traits->latent && strcmp(c->rope.scaling->name, "yarn") == 0 &&
        (n->mscale_all_dim == 0 || n->mscale != n->mscale_all_dim))
        return "yarn whose mscale and mscale_all_dim differ";
    if (strcmp(c->arch, "mistral4") == 0 && n->mscale_all_dim > 0 && n->mscale_all_dim != 1)
        return "an mscale other than 1 in a Mistral 4";
    if (x->traits->latent == LATENT_WHOLE && !has_minicpm3_scales(c)) return "scales other than MiniCPM3's own";
    if (x->traits->latent == LATENT_WHOLE && n->mscale_all_dim > 0) return "yarn with an mscale in a MiniCPM3";
    if (x->temperature > 0 && says_length(&c->rope) && x->temperature_n != n->n_ctx_original)
        return "a temperature that goes by another context than RoPE";
    if (x->traits->local_rope && x->local.scaling != &rope_none) return "a rope method in layers with a window";
    return x->traits->local_rope && !x->local_dim && x->local.rotary_dim != c->rope.rotary_dim
               ? "layers with a window that turn more or less of a head" : NULL;
}

/* ---- RoPE ---- */

/* A list of numbers as a tensor of its own, F32; the bytes are kept with the names. */
static int list(Source *s, const char *name, const double *v, int n) {
    Buffer b = {0};
    for (int i = 0; i < n; i++) {
        float f = (float)v[i];
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        buffer_u32(&b, bits);
    }
    const char *kept = b.failed ? NULL : weights_keep(&s->plan.names, (const char *)b.data, b.n);
    Item item = {.n_dims = 1, .shape = {(size_t)n}, .rows = 1, .cols = (size_t)n};
    item.from = (Matrix){.type = TENSOR_F32, .rows = 1, .cols = (size_t)n, .data = kept};
    free(b.data);
    return kept ? source_add(s, name, &item) : -ENOMEM;
}

/* Llama 3's method has no name in GGUF: its frequencies are the plain ones over the divisors of rope_freqs.weight. Nor
 * has the proportional one, whose pairs that stand still have llama.cpp's 1e30. */
static int divisors(Source *s, const Rope *r) {
    const RopeConfig *c = &s->config.rope;
    double v[ROPE_MAX_PAIRS];
    for (int i = 0; i < r->rotary_dim / 2; i++)
        v[i] = r->inv_freq[i] > 0 ? pow(c->theta, -2.0 * i / r->rotary_dim) / r->inv_freq[i] : 1e30;
    return list(s, "rope_freqs.weight", v, r->rotary_dim / 2);
}

/* llama.cpp turns by its own yarn factor 1 + 0.1 ln s times attn_factor; elsewhere attn_factor stands alone. */
static int scaling(Source *s, Keys *k, char *err, size_t errlen) {
    const RopeConfig *c = &s->config.rope;
    const RopeNumbers *n = rope_numbers(c);
    const char *name = c->scaling->name;
    Rope r;
    rope_init(&r, c, 1);
    int divided = s->config.decoder && s->config.decoder->local_dim; /* by 1, if by nothing else: llama.cpp wants it */
    if (strcmp(name, "none") == 0 && n->n_divisors == 0) return divided ? divisors(s, &r) : 0;
    if (strcmp(name, "llama3") == 0 || strcmp(name, "proportional") == 0) return divisors(s, &r);
    int yarn = strcmp(name, "yarn") == 0, longrope = strcmp(name, "longrope") == 0;
    if (strcmp(name, "xpos") == 0) { /* ours: llama.cpp does not have it */
        word(k, "rope.scaling.type", name);
        if (n->scale_base > 0) real(k, "rope.scaling.scale_base", n->scale_base);
        return 0;
    }
    if (!yarn && !longrope && strcmp(name, "linear") != 0)
        return base_error(err, errlen, -EINVAL, "%s: rope method %s has no keys in GGUF", s->path, name);
    if (yarn && n->no_truncate && !(s->config.decoder && s->config.decoder->traits->sinks))
        return base_error(err, errlen, -EINVAL, "%s: yarn with unrounded borders (truncate false) has no key in GGUF",
                          s->path);
    word(k, "rope.scaling.type", name);
    if (!longrope) real(k, "rope.scaling.factor", n->factor);
    if (!yarn && !longrope) return 0;
    count(k, "rope.scaling.original_context_length", n->n_ctx_original);
    double own = yarn ? 1 + 0.1 * log(n->factor) : 1;
    int latent = s->config.decoder && s->config.decoder->traits->latent; /* there llama.cpp takes it back itself */
    if (longrope || (!latent && fabs(r.scale - own) > 1e-9)) real(k, "rope.scaling.attn_factor", r.scale / own);
    if (yarn && n->beta_fast > 0) real(k, "rope.scaling.yarn_beta_fast", n->beta_fast);
    if (yarn && n->beta_slow > 0) real(k, "rope.scaling.yarn_beta_slow", n->beta_slow);
    int rc = longrope ? list(s, "rope_factors_long.weight", n->long_factor, n->n_long) : 0;
    return rc == 0 && longrope ? list(s, "rope_factors_short.weight", n->short_factor, n->n_short) : rc;
}

int source_rope(Source *s, const char *arch, char *err, size_t errlen) {
    Keys k = {.meta = &s->meta, .arch = arch};
    if (rope_numbers(&s->config.rope)->n_ctx_original > UINT32_MAX)
        return base_error(err, errlen, -EINVAL, "%s: a context of 2^32 or more has no key in GGUF", s->path);
    int rc = scaling(s, &k, err, errlen);
    return rc == -ENOMEM ? source_no_memory(s, err, errlen) : rc;
}

/* What generation_config.json suggests of sampling. */
static void sampling(Source *s) {
    double v;
    for (int i = 0; i < SUGGESTED; i++) {
        const SuggestedNumber *n = &suggested_numbers[i];
        if (!suggested_number(&s->weights, (Suggestion)i, &v)) continue;
        if (n->whole) gguf_u32(&s->meta, n->gguf, (uint32_t)v);
        else gguf_f32(&s->meta, n->gguf, (float)v);
    }
}

int source_keys(Source *s, const char *arch, const char *name, char *err, size_t errlen) {
    const Config *c = &s->config;
    Keys k = {.meta = &s->meta, .arch = arch};
    gguf_string(&s->meta, "general.architecture", arch);
    gguf_string(&s->meta, "general.name", name);
    sampling(s);
    sizes(&k, c);
    count(&k, "rope.dimension_count", c->rope.rotary_dim);
    real(&k, "rope.freq_base", c->rope.theta);
    window(&k, c);
    attention(&k, &c->linear);
    position(&k, c);
    if (c->decoder) layer_keys(&k, c);
    if (c->mask != MASK_CAUSAL && c->decoder) encoder_keys(&k, s);
    const char *lost = c->decoder ? without_key(c) : NULL;
    if (lost) return base_error(err, errlen, -EINVAL, "%s: GGUF has no key for %s", s->path, lost);
    if (c->n_ctx_train > UINT32_MAX || c->window > UINT32_MAX / 2)
        return base_error(err, errlen, -EINVAL, "%s: a context of 2^32 or more has no key in GGUF", s->path);
    return source_rope(s, arch, err, errlen);
}
