/* model/more.c - what a model has beyond the core: more keys, the command line, weights rearranged for fast kernels. */
#include "family.h"

#include "attention/maps.h"
#include "base/json.h"
#include "base/paths.h"
#include "keys_more.h"
#include "model/layers/config.h"
#include "model/layers/tensors.h"
#include "notes.h"
#include "options.h"
#include "position_keys.h"
#include "repack.h"
#include "roformer.h"
#include "roformer_kinds.h"
#include "roformer_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void key_no_memory(KeyReader *r) {
    if (r->line.rc == 0)
        r->line.rc = base_error(r->line.err, r->line.errlen, -ENOMEM, "%s: out of memory", r->line.name);
}

RopeNumbers *key_rope_numbers(KeyReader *r, RopeConfig *rope, int64_t n_ctx_train) {
    RopeNumbers *n = rope->numbers;
    if (n) return n;
    n = rope->numbers = weights_own(r->w, calloc(1, sizeof *n), free);
    if (n) n->n_ctx_train = n_ctx_train;
    else key_no_memory(r);
    return n;
}

/* Linear attention rotates features: where there are not head_dim of them, the same share of them is rotated. */
static void rotate_features(KeyReader *r, Config *c) {
    const LinearForm *form = c->linear.form;
    RopeConfig *rope = &c->rope;
    int rotates = form->before_phi || form->in_numerator || form->in_denominator;
    int features = linear_features_n(&c->linear);
    if (r->line.rc || features == c->head_dim || form->before_phi) return;
    if (rotates && rope_numbers(rope)->n_divisors)
        key_complain(r, "rope_freqs.weight", "is for head_dim entries, but these features are more or fewer");
    rope->rotary_dim = (int)((int64_t)features * rope->rotary_dim / c->head_dim) / 2 * 2;
}

int tensor_is_same(const Tensor *a, const Tensor *b) {
    return a->type == b->type && a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

void config_untie(Config *c, Weights *w) {
    c->own_head = 1;
    weights_note(w, note_untied, "lm_head.weight");
}

/* Is a decoder that its configuration ties tied in the file, too? transformers 5 compares them as well. */
static void look_at_head(KeyReader *r, Config *c) {
    const Tensor *head = weights_find(r->w, "lm_head.weight"),
                 *words = weights_find(r->w, "model.embed_tokens.weight");
    if (r->w->format != FORMAT_HF || c->roformer.variant || c->own_head || !head || !words) return;
    if (!tensor_is_same(head, words)) config_untie(c, r->w);
}

/* What a classifier's numbers are. Hugging Face trains one label without a word as a regression. */
static void read_problem(KeyReader *r, Config *c) {
    RoformerConfig *f = &c->roformer;
    char word[40] = "";
    if (f->classifier == CLASSIFIER_NONE) return;
    if (!key_word(r, "classifier.problem", "problem_type", word, sizeof word)) return;
    f->problem = name_index(problem_names, word);
    if (f->problem < 1) key_complain(r, r->key, "is a word not known here");
}

void config_more(KeyReader *r, Config *c, const ModelOptions *o) {
    char why[400];
    LinearConfig *linear = &c->linear;
    linear->favor_features =
        (int)key_int(r, "attention.favor_features", "attention_favor_features", 128, 2, 2 * ROPE_MAX_PAIRS);
    linear->favor_seed = (uint64_t)key_int(r, "attention.favor_seed", "attention_favor_seed", 1, 0, 9e15);
    if (r->line.rc == 0) position_read(r, c);
    if (r->line.rc == 0) read_problem(r, c);
    if (r->line.rc == 0 && o) config_override(r, c, o);
    if (r->line.rc == 0) look_at_head(r, c); /* as an adapter left it */
    if (r->line.rc == 0 && c->decoder) layers_take_task(r, c, o ? o->task : NULL);
    if (r->line.rc == 0 && c->decoder && c->decoder->traits->latent) layers_latent_scale(c);
    if (r->line.rc == 0 && linear->form && linear_check(linear, why, sizeof why))
        key_complain(r, "linear attention", why);
    if (r->line.rc) return;
    if (linear->form && c->decoder)
        key_complain(r, "attention", "linear attention is for the layers of LLaMA, Mistral, Qwen2 and Qwen3");
    if (linear->form && c->window)
        key_complain(r, "sliding_window", "linear attention cannot forget; it has no window");
    if (r->line.rc == 0 && linear->form) rotate_features(r, c);
    if (r->line.rc == 0 && c->roformer.variant) roformer_settle(r, c, o);
    if (r->line.rc == 0) position_settle(r, c, o ? o->position_extend : NULL);
    if (r->line.rc == 0 && config_check_stretch(c, why, sizeof why)) base_complain(&r->line, "%s", why);
}

int weights_is_other_part(const Weights *w, const char *name) {
    static const char *const decoders[] = {"model.embed_tokens.", "model.layers.", "model.norm.", "lm_head."};
    if (strncmp(name, "mtp.", 4) == 0 || strncmp(name, "model.mtp_", 10) == 0 || strncmp(name, "visual.", 7) == 0 ||
        strstr(name, ".nextn."))
        return 1;
    for (int i = 0; i < 4; i++)
        if (strncmp(name, decoders[i], strlen(decoders[i])) == 0) return 0;
    return w->outer != NULL;
}

static int is_integer(const char *type) {
    return (strchr("IU", type[0]) && strchr("0123456789", type[1])) || strcmp(type, "BOOL") == 0;
}

/* One of those blocks of a file that are no layers of the model: they draft. */
static int is_draft(const Model *m, const char *name) {
    char key[sizeof m->config.arch + 20];
    int64_t blocks = 0;
    int l, end = 0;
    const JsonValue *drafts = json_typed(m->weights.config, "num_nextn_predict_layers", JSON_NUMBER);
    if (m->weights.format == FORMAT_HF && drafts && sscanf(name, "model.layers.%9d.%n", &l, &end) == 1 && end)
        return l >= m->config.n_layers && l < m->config.n_layers + drafts->number;
    snprintf(key, sizeof key, "%s.block_count", m->config.arch);
    return m->weights.format == FORMAT_GGUF && sscanf(name, "blk.%9d.%n", &l, &end) == 1 && end &&
           l >= m->config.n_layers &&
           meta_integer(weights_meta(&m->weights, key), &blocks) && l < blocks;
}

TensorRest model_rest(const Model *m, const Tensor *t) {
    static const char *const heads[] = {"pooler.", "classifier.", "dense_2.", "dense_3."};
    int layer, encoder = m->config.decoder && m->encoder;
    RoformerWorld world = m->weights.format == FORMAT_GGUF ? ROFORMER_IN_GGUF : ROFORMER_IN_TORCH;
    const RoformerName *known = m->config.roformer.variant ? roformer_names_find(world, t->name, &layer) : NULL;
    if (!m->config.own_head && strcmp(t->name, "lm_head.weight") == 0) return REST_TIED;
    if (encoder && strcmp(t->name, "head.bias") == 0) return REST_BIAS; /* layers_rename's */
    if (weights_is_other_part(&m->weights, t->name) || is_draft(m, t->name)) return REST_PART;
    if (m->config.decoder && layer_has_lent(m, t->name)) return REST_LENT;
    if (is_integer(t->type_name) || (known && known->flags & NAME_COMPUTED) ||
        text_ends_with(t->name, "rotary_emb.inv_freq") || text_ends_with(t->name, ".attention.masked_bias"))
        return REST_COMPUTED;
    if (encoder && strstr(t->name, ".lora_")) return REST_ADAPTER;
    for (int i = 0; encoder && i < 4; i++)
        if (strncmp(t->name, heads[i], strlen(heads[i])) == 0) return REST_HEAD;
    return REST_UNKNOWN;
}

/* What no layer asked for: a file of another model, perhaps, or one that was made wrongly. */
static void note_unused(Model *m) {
    const char *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < m->weights.n_tensors; i++) {
        const Tensor *t = &m->weights.tensors[i];
        if (m->used[i] || model_rest(m, t) != REST_UNKNOWN) continue;
        if (n++ == 0) first = t->name;
    }
    if (n == 1) weights_note(&m->weights, "the file has a tensor that this model does not use: %.100s", first);
    else if (n)
        weights_note(&m->weights, "the file has %zu tensors that this model does not use (%.100s ..); -v names them", n,
                     first);
}

/* llama.cpp computes with these wherever they stand, in blocks that draft, too: without them logits would be others.
 * (NVFP4's are its matrices' by now: gguf_scales.h.) */
static int check_unused(const Model *m, char *err, size_t errlen) {
    const Weights *w = &m->weights;
    for (size_t i = 0; i < w->n_tensors && w->format == FORMAT_GGUF; i++) {
        const char *name = w->tensors[i].name;
        if (m->used[i] || (strcmp(name, "output.bias") != 0 && !text_ends_with(name, ".scale"))) continue;
        return base_error(err, errlen, -EINVAL, "%s: tensor %.100s: scales and biases of this kind are not read here",
                          w->path, name);
    }
    return 0;
}

/* 1 where config.json promises a head of its own and the file has none: a model that embeds, stored without it. */
static int is_headless(const Model *m) {
    const Weights *w = &m->weights;
    static const char key[] = "tie_word_embeddings"; /* the outer one counts first, as in keys_hf.c */
    int promised = !json_flag(w->outer, key, 0) && !json_flag(w->config, key, m->config.decoder != NULL);
    return w->format == FORMAT_HF && !m->encoder && promised && !m->config.own_head &&
           !weights_find(w, "lm_head.weight");
}

int model_more(Model *m, const ModelOptions *o, char *err, size_t errlen) {
    /* Tensors that settings were read from. */
    static const char *const names[] = {"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"};
    LinearConfig *linear = &m->config.linear;
    if (o && o->kernels) m->kernels = o->kernels;
    for (int l = 0; l < m->config.n_layers; l++)
        if (m->config.windowed[l]) m->layers[l].window = (size_t)m->config.window;
    for (int i = 0; i < 3; i++) {
        const Tensor *t = weights_find(&m->weights, names[i]);
        if (t) m->used[t - m->weights.tensors] = 1;
    }
    int rc = position_load(m, err, errlen);
    if (rc) return rc;
    if (is_headless(m)) m->has_logits = 0;
    if ((rc = check_unused(m, err, errlen))) return rc;
    note_unused(m);
    if (m->config.roformer.variant && m->weights.format == FORMAT_HF) roformer_check_table(m);
    if (linear->form && linear->phi->projection) {
        linear->favor_w = weights_own(&m->weights, linear->phi->projection(linear), free);
        if (!linear->favor_w) return base_error(err, errlen, -ENOMEM, "%s: out of memory", m->weights.path);
    }
    return model_repack(m, o, err, errlen);
}

int model_open(Model *m, const char *path, const ModelOptions *o, char *err, size_t errlen) {
    return model_open_memory(m, NULL, 0, path, o, err, errlen);
}
