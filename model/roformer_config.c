/* model/roformer_config.c - RoFormer's settings: config.json as transformers, JunnYu's RoFormer_pytorch and GAU-alpha write it,
 * and the GGUF keys of weights-tools/README.md. */
#include "roformer_config.h"

#include "roformer_names.h"

#include <stdio.h>
#include <string.h>

const char *const roformer_variant_names[] = {"", "v1", "v2", "gau-alpha", NULL};
const char *const mask_names[] = {"causal", "padding", "unilm", NULL};
const char *const pooler_names[] = {"none", "tanh", "linear", NULL};

int name_index(const char *const *names, const char *word) {
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], word) == 0) return i;
    return -1;
}

int roformer_is_hf(const JsonValue *model_type) { return json_is(model_type, "roformer") || json_is(model_type, "gau_alpha"); }

int roformer_is_gguf(const MetaValue *architecture) {
    return architecture->n == 8 && memcmp(architecture->data, "roformer", 8) == 0;
}

/* The tensor with that GGUF name ("cls.out.weight", layer 0 where it has one), whatever the file calls it; or NULL. */
static const Tensor *find(const Weights *w, TensorNames names, const char *gguf) {
    for (size_t i = 0; i < w->n_tensors; i++) {
        int layer;
        const RoformerName *row = roformer_names_find(names == NAMES_HF ? ROFORMER_IN_TORCH : ROFORMER_IN_GGUF, w->tensors[i].name, &layer);
        if (row && row->gguf && strcmp(row->gguf, gguf) == 0 && layer <= 0) return &w->tensors[i];
    }
    return NULL;
}

static void read_activation(KeyReader *r, RoformerConfig *f, const char *key, const char *word) {
    static const struct {
        const char *word;
        Activation activation;
    } rows[] = {{"gelu", ACTIVATION_GELU},      {"gelu_python", ACTIVATION_GELU},         {"gelu_new", ACTIVATION_GELU_TANH},
                {"relu", ACTIVATION_RELU},      {"gelu_pytorch_tanh", ACTIVATION_GELU_TANH}, {"gelu_fast", ACTIVATION_GELU_TANH},
                {"silu", ACTIVATION_SILU},      {"swish", ACTIVATION_SILU}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].word, word) == 0) {
            f->activation = rows[i].activation;
            return;
        }
    char why[120];
    snprintf(why, sizeof why, "\"%s\" is not known here (gelu, gelu_new, relu and silu are)", word);
    key_complain(r, key, why);
}

/* One of words at key, as it stands among them; or absent. */
static int read_word(KeyReader *r, const char *key, const char *word, const char *const *words, int absent) {
    if (!*word) return absent;
    int i = name_index(words, word);
    if (i < 0) key_complain(r, key, "is a word not known here");
    return i < 0 ? absent : i;
}

/* The variant and the classifier, from the tensors. */
static void look_at_tensors(const Weights *w, Config *c) {
    RoformerConfig *f = &c->roformer;
    int norms = find(w, c->names, "token_embd_norm.weight") || find(w, c->names, "blk.#.attn_output_norm.weight");
    f->variant = find(w, c->names, "blk.#.gau_in.weight") ? ROFORMER_GAU : norms ? ROFORMER_V1 : ROFORMER_V2;
    const Tensor *t;
    if ((t = find(w, c->names, "cls.out.weight"))) f->classifier = CLASSIFIER_SEQUENCE;
    else if ((t = find(w, c->names, "cls.weight"))) f->classifier = CLASSIFIER_TOKEN;
    else if ((t = find(w, c->names, "disc.out.weight"))) f->classifier = CLASSIFIER_REPLACED;
    f->n_labels = t && t->n_dims == 2 && t->shape[0] <= 1 << 20 ? (int)t->shape[0] : 0;
}

static int is_multiple_choice(const JsonValue *root) {
    const JsonValue *a = json_get(root, "architectures");
    for (const JsonValue *e = a && a->type == JSON_ARRAY ? a->child : NULL; e; e = e->next)
        if (e->type == JSON_STRING && strstr(e->str, "MultipleChoice")) return 1;
    return 0;
}

static int hf_size(KeyReader *r, const char *key, int64_t absent) { return (int)hf_int(r, key, absent, 1, CONFIG_MAX_DIM); }

/* JunnYu's RoFormer-Sim has a linear pooler beside its language model: read with the UniLM mask, unless the file says how. */
static Mask hf_mask(KeyReader *r, const Config *c) {
    char word[16] = "";
    hf_word(r, "mask", word, sizeof word); /* ours: convert writes it */
    int absent = hf_bool(r, "is_decoder", 0) ? MASK_CAUSAL : c->roformer.pooler == POOLER_LINEAR ? MASK_UNILM : MASK_PADDING;
    return (Mask)read_word(r, "mask", word, mask_names, absent);
}

void roformer_read_hf(KeyReader *r, Config *c) {
    const JsonValue *root = r->w->config.root;
    RoformerConfig *f = &c->roformer;
    char act[32] = "", pooler[16] = "";
    c->names = NAMES_HF;
    look_at_tensors(r->w, c);
    if (json_is(json_get(root, "model_type"), "gau_alpha")) f->variant = ROFORMER_GAU;
    int gau = f->variant == ROFORMER_GAU;
    c->d_model = hf_size(r, "hidden_size", 0);
    f->d_embed = hf_size(r, "embedding_size", c->d_model);
    c->d_ff = hf_size(r, "intermediate_size", 0);
    c->n_layers = (int)hf_int(r, "num_hidden_layers", 0, 1, CONFIG_MAX_LAYERS);
    c->vocab_size = (int)hf_int(r, "vocab_size", 0, 1, 1 << 30);
    f->n_types = (int)hf_int(r, "type_vocab_size", 2, 1, 65536);
    c->n_heads = c->n_kv_heads = gau ? 1 : hf_size(r, "num_attention_heads", 0);
    if (r->rc) return;
    int head = !key_absent(json_get(root, "attention_head_size")) ? hf_size(r, "attention_head_size", 1) : gau ? 128 : config_even_split(r, c);
    c->head_dim = hf_size(r, "attention_key_size", head); /* bert4keras': of q and k, where it is not v's */
    c->value_dim = gau ? c->d_ff : head;
    c->n_ctx_train = hf_int(r, "max_position_embeddings", gau ? 512 : 1536, 1, 1e15);
    c->norm_eps = (float)hf_number(r, root, "layer_norm_eps", 1e-12);
    f->rotary_value = hf_bool(r, "rotary_value", 0);
    hf_word(r, "hidden_act", act, sizeof act);
    read_activation(r, f, "hidden_act", *act ? act : gau ? "swish" : f->variant == ROFORMER_V2 ? "relu" : "gelu");
    hf_word(r, "pooler_activation", pooler, sizeof pooler);
    f->pooler = !find(r->w, c->names, "pooler.weight") ? POOLER_NONE
                                                        : (Pooler)read_word(r, "pooler_activation", pooler, pooler_names, POOLER_TANH);
    c->tied = hf_bool(r, "tie_word_embeddings", 1);
    if (is_multiple_choice(root)) f->classifier = CLASSIFIER_NONE;
    if (hf_bool(r, "add_cross_attention", 0)) key_complain(r, "add_cross_attention", "cross attention is not known here");
    c->mask = hf_mask(r, c);
    config_hf_rope(r, c, ROPE_INTERLEAVED);
    config_hf_attention(r, c);
    config_hf_eos(r, c);
}

void roformer_read_gguf(KeyReader *r, Config *c) {
    RoformerConfig *f = &c->roformer;
    char key[120], word[32] = "";
    c->names = NAMES_GGUF;
    look_at_tensors(r->w, c);
    c->d_model = (int)gguf_int(r, "embedding_length", -1, 1, CONFIG_MAX_DIM);
    f->d_embed = (int)gguf_int(r, "embedding_length_in", c->d_model, 1, CONFIG_MAX_DIM);
    c->d_ff = (int)gguf_int(r, "feed_forward_length", -1, 1, CONFIG_MAX_DIM);
    c->n_layers = (int)gguf_int(r, "block_count", -1, 1, CONFIG_MAX_LAYERS);
    f->n_types = (int)gguf_int(r, "token_type_count", 2, 1, 65536);
    c->n_heads = c->n_kv_heads = (int)gguf_int(r, "attention.head_count", -1, 1, CONFIG_MAX_DIM);
    c->n_ctx_train = gguf_int(r, "context_length", -1, 1, 1e15);
    const Tensor *emb = weights_find(r->w, "token_embd.weight");
    if (!emb || emb->n_dims != 2) key_complain(r, "token_embd.weight", "the tensor is missing or not a matrix");
    else c->vocab_size = (int)key_range(r, "vocab_size", (double)emb->shape[0], 1, 1 << 30);
    gguf_word(r, "variant", word, sizeof word, key, sizeof key);
    f->variant = (RoformerVariant)read_word(r, key, word, roformer_variant_names, (int)f->variant);
    if (r->rc) return;
    int gau = f->variant == ROFORMER_GAU, given = gguf_get(r, "attention.key_length", key, sizeof key) != NULL;
    c->head_dim = given ? (int)gguf_int(r, "attention.key_length", -1, 1, CONFIG_MAX_DIM) : config_even_split(r, c);
    given = gguf_get(r, "attention.value_length", key, sizeof key) != NULL;
    c->value_dim = given ? (int)gguf_int(r, "attention.value_length", -1, 1, CONFIG_MAX_DIM) : gau ? c->d_ff : config_even_split(r, c);
    c->norm_eps = (float)gguf_number(r, "attention.layer_norm_epsilon", 1e-12);
    f->rotary_value = gguf_flag(r, "rotary_value", 0);
    *word = 0;
    gguf_word(r, "hidden_act", word, sizeof word, key, sizeof key);
    read_activation(r, f, key, *word ? word : gau ? "swish" : f->variant == ROFORMER_V2 ? "relu" : "gelu");
    *word = 0;
    gguf_word(r, "pooler", word, sizeof word, key, sizeof key);
    f->pooler = !weights_find(r->w, "pooler.weight") ? POOLER_NONE : (Pooler)read_word(r, key, word, pooler_names, POOLER_TANH);
    *word = 0;
    gguf_word(r, "mask", word, sizeof word, key, sizeof key);
    c->mask = (Mask)read_word(r, key, word, mask_names, f->pooler == POOLER_LINEAR ? MASK_UNILM : MASK_PADDING);
    c->tied = -1;
    *word = 0;
    gguf_word(r, "classifier.kind", word, sizeof word, key, sizeof key);
    if (strcmp(word, "choice") == 0) f->classifier = CLASSIFIER_NONE;
    config_gguf_rope(r, c, ROPE_INTERLEAVED);
    config_gguf_attention(r, c);
    config_gguf_eos(r, c);
}

void roformer_settle(KeyReader *r, Config *c, const RoformerOverride *o) {
    RoformerConfig *f = &c->roformer;
    if (!f->variant) {
        if (o && (o->variant || o->mask || o->pooler)) key_complain(r, "--arch, --mask and --pooler", "are for RoFormer models");
        return;
    }
    if (o && o->variant) f->variant = o->variant;
    if (o && o->mask) c->mask = *o->mask;
    if (o && o->pooler && *o->pooler != POOLER_NONE && f->pooler == POOLER_NONE) key_complain(r, "--pooler", "the file has no pooler");
    if (o && o->pooler) f->pooler = *o->pooler;
    if (c->rope.scaling->keys == ROPE_KEYS_BY_LENGTH)
        key_complain(r, "rope", "a method that changes with the text's length is not known for RoFormer; name another (--rope)");
    if (f->rotary_value && c->rope.rotary_dim > c->value_dim) key_complain(r, "rotary_value", "more entries turn than a value has");
    if (f->variant == ROFORMER_GAU && c->n_heads != 1) key_complain(r, "n_heads", "a gated attention unit has one head");
    if (f->variant == ROFORMER_GAU && c->linear.form) key_complain(r, "attention", "a gated attention unit has softmax attention only");
    if (c->linear.form && f->rotary_value && linear_features_n(&c->linear) != c->head_dim)
        key_complain(r, "attention", "values turn as keys do (rotary_value), so features must be as many as a head has entries");
    if (f->classifier && (f->n_labels < 1 || f->n_labels > 65536)) key_complain(r, "the classifier", "has no labels, or too many");
    if (c->linear.form && c->value_dim != c->head_dim) key_complain(r, "attention", "linear attention needs keys as wide as values");
}
