/* model/roformer_config.c - RoFormer's settings: config.json as transformers, JunnYu's RoFormer_pytorch and GAU-alpha
 * write it, and the GGUF keys of weights-tools/README.md. */
#include "roformer.h"

#include "base/json.h"
#include "kernels/encoder_kernels.h"
#include "keys_more.h"
#include "options.h"
#include "roformer_names.h"

#include <stdio.h>
#include <string.h>

/* The tensor with that GGUF name ("cls.out.weight", layer 0 where it has one), whatever the file calls it; or NULL. */
static const Tensor *find(const Weights *w, const char *gguf) {
    RoformerWorld world = w->format == FORMAT_HF ? ROFORMER_IN_TORCH : ROFORMER_IN_GGUF;
    for (size_t i = 0; i < w->n_tensors; i++) {
        int layer;
        const RoformerName *row = roformer_names_find(world, w->tensors[i].name, &layer);
        if (row && row->gguf && strcmp(row->gguf, gguf) == 0 && layer <= 0) return &w->tensors[i];
    }
    return NULL;
}

static void read_activation(KeyReader *r, RoformerConfig *f) {
    char word[32] = "gelu";
    if (f->variant == ROFORMER_GAU) strcpy(word, "swish");
    else if (f->variant == ROFORMER_V2) strcpy(word, "relu");
    key_word(r, "hidden_act", "hidden_act", word, sizeof word);
    f->activation = (int)key_activation(r, word);
}

/* One of words at a key, as it stands among them; or absent. */
static int read_word(KeyReader *r, const char *gguf, const char *hf, const char *const *words, int absent) {
    char word[32];
    if (!key_word(r, gguf, hf, word, sizeof word)) return absent;
    int i = name_index(words, word);
    if (i < 0) key_complain(r, r->key, "is a word not known here");
    return i < 0 ? absent : i;
}

/* A classifier of one matrix: of the tokens, but in a GAUAlphaForSequenceClassification, where transformers'
 * SequenceSummary says what of the text it reads. */
static Classifier one_matrix(KeyReader *r) {
    char kind[32] = "", word[32] = "first";
    key_word(r, "classifier.kind", NULL, kind, sizeof kind);
    int of_text = json_list_holds(r->w->config, "architectures", "SequenceClassification");
    if (!of_text && strcmp(kind, "sequence") != 0) return CLASSIFIER_TOKEN;
    key_word(r, NULL, "summary_type", word, sizeof word);
    if (strcmp(word, "first") != 0) key_complain(r, r->key, "must be first: other summaries are not read here");
    if (key_word(r, NULL, "summary_activation", word, sizeof word) || key_flag(r, NULL, "summary_use_proj", 0))
        key_complain(r, r->key, "is there, and a summary by summary_type alone is read here");
    return CLASSIFIER_SEQUENCE;
}

/* The variant and the classifier, from the tensors. */
static void look_at_tensors(KeyReader *r, Config *c) {
    const Weights *w = r->w;
    RoformerConfig *f = &c->roformer;
    int norms = find(w, "token_embd_norm.weight") || find(w, "blk.#.attn_output_norm.weight");
    f->variant = find(w, "blk.#.gau_in.weight") ? ROFORMER_GAU : norms ? ROFORMER_V1 : ROFORMER_V2;
    const Tensor *t;
    if ((t = find(w, "cls.out.weight"))) f->classifier = CLASSIFIER_SEQUENCE;
    else if ((t = find(w, "cls.weight"))) f->classifier = one_matrix(r);
    else if ((t = find(w, "disc.out.weight"))) f->classifier = CLASSIFIER_REPLACED;
    f->n_labels = t && t->n_dims == 2 && t->shape[0] <= 1 << 20 ? (int)t->shape[0] : 0;
}

/* Its classifier is none of ours. */
static int is_multiple_choice(KeyReader *r) {
    char kind[32] = "";
    key_word(r, "classifier.kind", NULL, kind, sizeof kind);
    return strcmp(kind, "choice") == 0 || json_list_holds(r->w->config, "architectures", "MultipleChoice");
}

#define IN(field) offsetof(Config, field)
static const KeyField keys[] = {
    {"embedding_length", "hidden_size", FIELD_INT, IN(d_model), 1, CONFIG_MAX_DIM, 1},
    {"embedding_length_in", "embedding_size", FIELD_INT, IN(d_embed), 1, CONFIG_MAX_DIM, 0},
    {"feed_forward_length", "intermediate_size", FIELD_INT, IN(d_ff), 1, CONFIG_MAX_DIM, 1},
    {"block_count", "num_hidden_layers", FIELD_INT, IN(n_layers), 1, CONFIG_MAX_LAYERS, 1},
    {NULL, "vocab_size", FIELD_INT, IN(vocab_size), 1, 1 << 30, 1},
    {"token_type_count", "type_vocab_size", FIELD_INT, IN(roformer.n_types), 1, 65536, 0},
    {"attention.head_count", "num_attention_heads", FIELD_INT, IN(n_heads), 1, CONFIG_MAX_DIM, 1},
    {"context_length", "max_position_embeddings", FIELD_INT64, IN(n_ctx_train), 1, MOST_COUNTED, 1},
    {0},
};

/* Of q and k, and of v, where they differ (bert4keras' attention_key_size). */
static void read_heads(KeyReader *r, Config *c, int gau) {
    int hf = r->w->format == FORMAT_HF;
    double none = 0;
    if (hf) {
        int head = (int)key_int(r, NULL, "attention_head_size", none, 1, CONFIG_MAX_DIM);
        if (!head) head = gau ? 128 : config_even_split(r, c);
        c->head_dim = (int)key_int(r, NULL, "attention_key_size", head, 1, CONFIG_MAX_DIM);
        c->value_dim = gau ? c->d_ff : head;
        return;
    }
    c->head_dim = (int)key_int(r, "attention.key_length", NULL, none, 1, CONFIG_MAX_DIM);
    c->value_dim = (int)key_int(r, "attention.value_length", NULL, none, 1, CONFIG_MAX_DIM);
    if (!c->head_dim) c->head_dim = config_even_split(r, c);
    if (!c->value_dim) c->value_dim = gau ? c->d_ff : config_even_split(r, c);
}

/* JunnYu's RoFormer-Sim has a linear pooler beside its language model: read with the UniLM mask, also where is_decoder
 * is set (his code does so and sees both sides of the first text), unless the file says how. */
static void read_mask(KeyReader *r, Config *c) {
    int decoder = r->w->format == FORMAT_HF && key_flag(r, NULL, "is_decoder", 0);
    Mask mask = c->roformer.pooler == POOLER_LINEAR ? MASK_UNILM : decoder ? MASK_CAUSAL : MASK_PADDING;
    c->mask = (Mask)read_word(r, "mask", "mask", mask_names, (int)mask);
}

void roformer_read_config(KeyReader *r, Config *c, const Architecture *a) {
    RoformerConfig *f = &c->roformer;
    int hf = r->w->format == FORMAT_HF;
    look_at_tensors(r, c);
    if (strcmp(c->arch, "gau_alpha") == 0) f->variant = ROFORMER_GAU;
    snprintf(c->arch, sizeof c->arch, "roformer");
    f->variant = (RoformerVariant)read_word(r, "variant", NULL, roformer_variant_names, (int)f->variant);
    int gau = f->variant == ROFORMER_GAU;
    f->n_types = 2;
    if (hf && gau) c->n_heads = 1;
    if (hf) c->n_ctx_train = gau ? 512 : 1536;
    const Tensor *emb = weights_find(r->w, "token_embd.weight");
    if (!hf && (!emb || emb->n_dims != 2))
        key_complain(r, "token_embd.weight", "the tensor is missing or not a matrix");
    else if (!hf) c->vocab_size = (int)key_range(r, "vocab_size", (double)emb->shape[0], 1, 1 << 30);
    keys_read(r, keys, c);
    if (r->line.rc) return;
    if (hf && gau) c->n_heads = 1;
    if (!c->d_embed) c->d_embed = c->d_model;
    c->n_kv_heads = c->n_heads;
    read_heads(r, c, gau);
    c->ff_rows = gau ? 2 * c->d_ff + c->head_dim : c->d_ff;
    c->log_scale = gau ? 512 : 0; /* attention_normalize of bert4keras, "softmax_plus" */
    c->norm_eps = (float)key_number(r, "attention.layer_norm_epsilon", "layer_norm_eps", 1e-12);
    c->rotary_value = key_flag(r, "rotary_value", "rotary_value", 0);
    read_activation(r, f);
    if (find(r->w, "pooler.weight"))
        f->pooler = (Pooler)read_word(r, "pooler", "pooler_activation", pooler_names, POOLER_TANH);
    read_mask(r, c);
    c->own_head = hf ? !key_flag(r, NULL, "tie_word_embeddings", 1) : -1;
    if (is_multiple_choice(r)) f->classifier = CLASSIFIER_NONE;
    if (key_flag(r, NULL, "add_cross_attention", 0)) key_complain(r, r->key, "cross attention is not known here");
    r->source->finish(r, c, a);
}

void roformer_settle(KeyReader *r, Config *c, const ModelOptions *all) {
    RoformerConfig *f = &c->roformer;
    const RoformerOverride *o = all ? &all->roformer : NULL;
    if ((int64_t)c->n_heads * c->value_dim > CONFIG_MAX_DIM)
        key_complain(r, "n_heads", "n_heads x value_dim is too large");
    if (o && o->variant) f->variant = o->variant;
    if (o && o->mask) c->mask = *o->mask;
    if (o && o->pooler && *o->pooler != POOLER_NONE && f->pooler == POOLER_NONE)
        key_complain(r, "--pooler", "the file has no pooler");
    if (o && o->pooler) f->pooler = *o->pooler;
    if (c->rope.scaling->choice)
        key_complain(r, "rope",
                     "a method that changes with the text's length is not known for RoFormer; name another (--rope)");
    if (c->rotary_value && c->rope.rotary_dim > c->value_dim)
        key_complain(r, "rotary_value", "more entries turn than a value has");
    if (f->variant == ROFORMER_GAU && c->n_heads != 1)
        key_complain(r, "n_heads", "a gated attention unit has one head");
    if (f->variant == ROFORMER_GAU && c->linear.form)
        key_complain(r, "attention", "a gated attention unit has softmax attention only");
    if (c->linear.form && c->rotary_value && linear_features_n(&c->linear) != c->head_dim)
        key_complain(r, "attention",
                     "values turn as keys do (rotary_value), so features must be as many as a head has entries");
    if (f->classifier && (f->n_labels < 1 || f->n_labels > 65536))
        key_complain(r, "the classifier", "has no labels, or too many");
    if (c->linear.form && c->value_dim != c->head_dim)
        key_complain(r, "attention", "linear attention needs keys as wide as values");
}
