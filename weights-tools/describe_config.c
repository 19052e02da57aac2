/* weights-tools/describe_config.c - config.json or bert_config.json into numbers, each checked; keys that are not there
 * get the defaults of transformers' RoFormerConfig. */
#include "describe_config.h"

#include "model/keys_more.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static int has(const Description *m, const char *gguf, int layer) { return describe_slot(m, gguf, layer, 0) >= 0; }

static void complain(DescribeReader *r, const char *key, const char *why) {
    if (r->rc == 0) r->rc = base_error(r->err, r->errlen, -EINVAL, "%s: %s %s", r->config_name, key, why);
}

static const JsonValue *get(DescribeReader *r, const char *key) {
    const JsonValue *v = json_get(r->config, key);
    return json_absent(v) ? NULL : v;
}

static double number(DescribeReader *r, const char *key, double absent) {
    const JsonValue *v = get(r, key);
    if (!v) return absent;
    if (v->type != JSON_NUMBER) complain(r, key, "must be a number");
    return v->type == JSON_NUMBER ? v->number : absent;
}

/* A count from 1 to max; absent 0: it must be given. */
static size_t count(DescribeReader *r, const char *key, size_t absent, double max) {
    if (!get(r, key) && absent == 0) complain(r, key, "is missing");
    double v = number(r, key, (double)absent);
    if (v >= 1 && v <= max && v == floor(v)) return (size_t)v;
    complain(r, key, "is not a whole number that a model could have");
    return 1;
}

static int boolean(DescribeReader *r, const char *key, int absent) {
    const JsonValue *v = get(r, key);
    if (!v) return absent;
    if (v->type != JSON_BOOL) complain(r, key, "must be true or false");
    return v->boolean;
}

static void check_word(DescribeReader *r, const char *key) {
    const JsonValue *v = get(r, key);
    if (v && (v->type != JSON_STRING || v->len == 0 || strlen(v->str) != v->len)) complain(r, key, "must be a word");
}

static void check_whole(DescribeReader *r, const char *key, double most) {
    double v = number(r, key, 0);
    if (!(v >= 0 && v <= most && v == floor(v))) complain(r, key, "is not a whole number that a model could have");
}

static int is_text(DescribeReader *r, const char *key, const char *text) { return json_is(get(r, key), text); }

static void read_sizes(DescribeReader *r) {
    Description *m = r->m;
    RoformerSizes *s = &m->sizes;
    const double most = 1 << 24;
    s->d_model = count(r, "hidden_size", 0, most);
    s->d_embed = count(r, "embedding_size", s->d_model, most);
    s->d_ff = count(r, "intermediate_size", 0, most);
    s->vocab = count(r, "vocab_size", 0, most);
    s->types = count(r, "type_vocab_size", 2, 65536);
    m->n_layers = (int)count(r, "num_hidden_layers", 0, ROFORMER_MAX_LAYERS);
    m->n_heads = m->variant == ROFORMER_GAU ? 1 : (int)count(r, "num_attention_heads", 0, 65536);
    size_t heads = (size_t)m->n_heads,
           head = count(r, "attention_head_size", s->d_model / heads ? s->d_model / heads : 1, most);
    if (m->variant != ROFORMER_GAU && !get(r, "attention_head_size") && s->d_model % heads)
        complain(r, "num_attention_heads", "does not divide hidden_size");
    m->key_given = get(r, "attention_key_size") != NULL;
    int usual = m->variant == ROFORMER_GAU && !get(r, "attention_head_size"); /* GAU's values are not in heads */
    m->key_length = count(r, "attention_key_size", usual ? 128 : head, most);
    if (m->key_length % 2) complain(r, "the key size of a head", "is odd, and RoPE turns pairs");
    s->keys = heads * m->key_length;
    s->values = m->variant == ROFORMER_GAU ? s->d_model : heads * head;
    s->gau_key = m->key_length;
    s->gau_in = 2 * s->d_ff + m->key_length;
}

static void read_activation(DescribeReader *r) {
    const JsonValue *v = get(r, "hidden_act");
    if (v && (v->type != JSON_STRING || v->len == 0 || v->len >= sizeof r->m->hidden_act || strlen(v->str) != v->len))
        complain(r, "hidden_act", "must be a short text");
    else if (v) memcpy(r->m->hidden_act, v->str, v->len + 1);
    else if (r->m->variant == ROFORMER_V1) memcpy(r->m->hidden_act, "gelu", 5);
    else complain(r, "hidden_act", "is missing");
    if (r->rc == 0 && activation_named(r->m->hidden_act) < 0)
        complain(r, "hidden_act", "is no function that is known here (gelu, gelu_new, relu, silu ..)");
}

/* What the configuration says of the variant must be what the tensors say. */
static void check_variant(DescribeReader *r) {
    int rms = is_text(r, "norm_type", "rms_norm");
    if (get(r, "norm_type") && rms != (r->m->variant != ROFORMER_V1))
        complain(r, "norm_type", "is not what the file's tensors are for");
    if (r->m->variant == ROFORMER_V2 && boolean(r, "use_bias", 0))
        complain(r, "use_bias", "is true, and a v2 that has biases is not read here");
    if (r->m->variant != ROFORMER_GAU) return;
    if (get(r, "normalization") && !is_text(r, "normalization", "softmax_plus"))
        complain(r, "normalization", "must be softmax_plus");
    if (!boolean(r, "attention_scale", 1)) complain(r, "attention_scale", "must be true");
}

int describe_read_position(DescribeReader *r) {
    const JsonValue *v = get(r, "position_embedding_type");
    int flag = boolean(r, "alibi", 0), alibi = flag || number(r, "alibi_bias_max", 0) != 0; /* as run tells */
    const char *word = v && v->type == JSON_STRING ? v->str : alibi ? "alibi" : "rope";
    if (strcmp(word, "absolute") == 0) word = "learned";
    else if (strcmp(word, "rotary") == 0) word = "rope";
    r->m->position = position_kind(word);
    if (!r->m->position || (v && v->type != JSON_STRING))
        complain(r, "position_embedding_type", "is not a kind of position that is known here");
    else if (alibi && strcmp(word, "alibi") != 0)
        complain(r, flag ? "alibi" : "alibi_bias_max", "is ALiBi's, and position_embedding_type says another kind");
    else if (r->m->position->rotates) r->m->position = NULL;
    return r->rc;
}

/* .. and what it needs is there: tables are only taken as slots where it asks for them. */
static void check_position(DescribeReader *r) {
    Description *m = r->m;
    const JsonValue *v = get(r, "position_embedding_type");
    int there = m->position && m->position->table && has(m, m->position->table, -1);
    if (m->position && m->position->table && !there && json_is(v, "absolute")) m->position = NULL;
    m->sizes.places = (size_t)m->n_ctx;
    m->sizes.buckets = count(r, "relative_attention_num_buckets", 32, 1 << 20);
    m->sizes.heads = (size_t)m->n_heads;
}

const DescribeKey describe_keys[] = {
    {"attention_kind", "roformer.attention.kind", META_STRING},
    {"attention_feature_map", "roformer.attention.feature_map", META_STRING},
    {"attention_feature_map_key", "roformer.attention.feature_map_key", META_STRING},
    {"attention_form", "roformer.attention.form", META_STRING},
    {"attention_log_scale", "roformer.attention.log_scale", META_U32},
    {"attention_favor_features", "roformer.attention.favor_features", META_U32},
    {"attention_favor_seed", "roformer.attention.favor_seed", META_U64},
    {"attention_denominator_epsilon", "roformer.attention.denominator_epsilon", META_F32},
    {0}};

/* What is written as it is: only its type is looked at here, its meaning where it is read (model/family.c, more.c,
 * position_keys.c). */
static void check_copied(DescribeReader *r) {
    for (const DescribeKey *k = describe_keys; k->hf; k++)
        if (k->type == META_STRING) check_word(r, k->hf);
        else if (k->type == META_F32) number(r, k->hf, 0);
        else check_whole(r, k->hf, k->type == META_U64 ? 9e15 : UINT32_MAX);
    check_word(r, "problem_type");
    for (const PositionNumber *n = r->m->position ? r->m->position->numbers : NULL; n && n->gguf; n++)
        if (n->whole) check_whole(r, n->hf, UINT32_MAX);
        else number(r, n->hf, 0);
}

int describe_read_config(DescribeReader *r) {
    Description *m = r->m;
    const JsonValue *type = get(r, "model_type");
    if (type && !json_is(type, "roformer") && !json_is(type, "gau_alpha"))
        complain(r, "model_type", "is neither roformer nor gau_alpha: this model converts to .safetensors only");
    m->variant = has(m, "token_embd_norm.weight", -1) ? ROFORMER_V1 : ROFORMER_V2;
    if (has(m, "blk.#.gau_in.weight", 0)) m->variant = ROFORMER_GAU;
    read_sizes(r);
    read_activation(r);
    check_variant(r);
    m->n_ctx = (double)count(r, "max_position_embeddings", m->variant == ROFORMER_GAU ? 512 : 1536, 1 << 30);
    check_position(r);
    m->rope_theta = number(r, "rope_theta", 10000);
    if (!(m->rope_theta > 0)) complain(r, "rope_theta", "must be above 0");
    m->norm_eps = number(r, "layer_norm_eps", 1e-12);
    if (!(m->norm_eps > 0 && m->norm_eps < 1)) complain(r, "layer_norm_eps", "is not a small number above 0");
    m->dropout = number(r, "hidden_dropout_prob", 0.1);
    m->attention_dropout = number(r, "attention_probs_dropout_prob", 0.1);
    m->initializer_range = number(r, "initializer_range", 0.02);
    m->pad_id = (int)fmin(fmax(number(r, "pad_token_id", 0), 0), (double)m->sizes.vocab);
    m->rotary_value = boolean(r, "rotary_value", 0);
    m->tied = boolean(r, "tie_word_embeddings", 1);
    m->mask = boolean(r, "is_decoder", 0) || is_text(r, "mask", "causal") ? "causal"
              : is_text(r, "mask", "unilm")                               ? "unilm"
                                                                          : "padding";
    if (r->wish->mask) m->mask = r->wish->mask;
    if (boolean(r, "add_cross_attention", 0))
        complain(r, "add_cross_attention", "is true, and cross attention is not read");
    m->config = r->config;
    check_copied(r);
    m->labels = get(r, "id2label");
    if (m->labels && m->labels->type != JSON_OBJECT) complain(r, "id2label", "must be an object");
    return r->rc;
}

/* ---- heads ---- */

/* ELECTRA's generator has gelu there, whatever its layers have. */
static void check_generator(DescribeReader *r) {
    long dense = describe_slot(r->m, "mlm.dense.weight", -1, 0);
    if (dense < 0 || strncmp(r->m->slots[dense].view.name, "generator_predictions.", 22) != 0) return;
    if (activation_named(r->m->hidden_act) != ACTIVATION_GELU)
        complain(r, "hidden_act", "is not gelu, which an ELECTRA generator's head has: GGUF has no key for that");
}

/* Of a classifier of one matrix, as run takes it (roformer_config.c). */
static const char *one_matrix(DescribeReader *r) {
    if (json_list_holds(r->config, "architectures", "MultipleChoice")) return "choice";
    if (!json_list_holds(r->config, "architectures", "SequenceClassification")) return "token";
    if (get(r, "summary_type") && !is_text(r, "summary_type", "first"))
        complain(r, "summary_type", "must be first: other summaries are not read here");
    if (get(r, "summary_activation") || boolean(r, "summary_use_proj", 0))
        complain(r, get(r, "summary_activation") ? "summary_activation" : "summary_use_proj",
                 "is there, and a summary by summary_type alone is read here");
    return "sequence";
}

int describe_read_heads(DescribeReader *r) {
    Description *m = r->m;
    long matrix = -1;
    if ((matrix = describe_slot(m, "cls.out.weight", -1, 0)) >= 0) m->classifier = "sequence";
    else if ((matrix = describe_slot(m, "cls.weight", -1, 0)) >= 0)
        m->classifier = one_matrix(r);
    else if ((matrix = describe_slot(m, "qa.weight", -1, 0)) >= 0) m->classifier = "qa";
    check_generator(r);
    m->sizes.labels = matrix < 0 ? 0 : m->slots[matrix].view.shape[0];
    int named = m->classifier && (strcmp(m->classifier, "sequence") == 0 || strcmp(m->classifier, "token") == 0);
    if (!named) m->labels = NULL;
    if (m->labels && m->labels->len != m->sizes.labels)
        complain(r, "id2label", "has not one label for each of the classifier's");
    m->pooler = !has(m, "pooler.weight", -1) ? "none" : r->wish->pooler ? r->wish->pooler : "tanh";
    const JsonValue *p = get(r, "pooler_activation");
    if (m->pooler[0] != 'n' && !r->wish->pooler && p) {
        if (json_is(p, "linear")) m->pooler = "linear";
        else if (!json_is(p, "tanh")) complain(r, "pooler_activation", "must be tanh or linear");
    }
    int mask_open = !r->wish->mask && !get(r, "mask"); /* whatever is_decoder says */
    if (mask_open && strcmp(m->pooler, "linear") == 0) m->mask = "unilm"; /* a RoFormer-Sim */
    if (m->pooler[0] != 'n' && has(m, "mlm.dense.weight", -1) && !p && !r->wish->pooler)
        report_note(r->report, "its pooler is taken as tanh; a RoFormer-Sim needs --pooler linear");
    return r->rc;
}
