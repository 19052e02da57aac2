/* weights-tools/describe_write.c - the model's numbers as a GGUF file's metadata, and as Hugging Face's config.json. */
#include "describe.h"
#include "describe_config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- GGUF ---- */

/* The label of index i, "LABEL_i" where the configuration names none. */
static void write_label(const Description *m, GgufMeta *meta, size_t i) {
    char key[32], name[40];
    snprintf(key, sizeof key, "%zu", i);
    const JsonValue *v = json_typed(m->labels, key, JSON_STRING);
    snprintf(name, sizeof name, "LABEL_%zu", i);
    if (v) gguf_text(meta, v->str, v->len);
    else gguf_text(meta, name, strlen(name));
}

static void write_classifier(const Description *m, GgufMeta *meta) {
    if (!m->classifier) return;
    gguf_string(meta, "roformer.classifier.kind", m->classifier);
    if (strcmp(m->classifier, "sequence") != 0 && strcmp(m->classifier, "token") != 0) return;
    const JsonValue *problem = json_typed(m->config, "problem_type", JSON_STRING);
    if (problem) gguf_string(meta, "roformer.classifier.problem", problem->str);
    gguf_array(meta, "roformer.classifier.labels", META_STRING, m->sizes.labels);
    for (size_t i = 0; i < m->sizes.labels; i++) write_label(m, meta, i);
}

/* Its keys as they are. */
static void write_attention(const Description *m, GgufMeta *meta) {
    for (const DescribeKey *k = describe_keys; k->hf; k++) {
        const JsonValue *v = json_typed(m->config, k->hf, k->type == META_STRING ? JSON_STRING : JSON_NUMBER);
        if (!v) continue;
        if (k->type == META_STRING) gguf_string(meta, k->gguf, v->str);
        else if (k->type == META_F32) gguf_f32(meta, k->gguf, (float)v->number);
        else if (k->type == META_U64) gguf_u64(meta, k->gguf, (uint64_t)v->number);
        else gguf_u32(meta, k->gguf, (uint32_t)v->number);
    }
}

static void write_position(const Description *m, GgufMeta *meta) {
    if (!m->position) return;
    gguf_string(meta, "roformer.attention.position", m->position->name);
    for (const PositionNumber *n = m->position->numbers; n && n->gguf; n++) {
        char key[80];
        const JsonValue *v = json_typed(m->config, n->hf, JSON_NUMBER);
        snprintf(key, sizeof key, "roformer.%s", n->gguf);
        if (!v) continue;
        if (n->whole) gguf_u32(meta, key, (uint32_t)v->number);
        else gguf_f32(meta, key, (float)v->number);
    }
}

void describe_meta(const Description *m, GgufMeta *meta, const char *model_name) {
    const RoformerSizes *s = &m->sizes;
    size_t even = s->d_model / (size_t)m->n_heads, value_length = s->values / (size_t)m->n_heads;
    gguf_string(meta, "general.architecture", "roformer");
    gguf_string(meta, "general.name", model_name);
    gguf_string(meta, "roformer.variant", roformer_variant_names[m->variant]);
    gguf_u32(meta, "roformer.context_length", (uint32_t)m->n_ctx);
    gguf_u32(meta, "roformer.embedding_length", (uint32_t)s->d_model);
    gguf_u32(meta, "roformer.embedding_length_in", (uint32_t)s->d_embed);
    gguf_u32(meta, "roformer.feed_forward_length", (uint32_t)s->d_ff);
    gguf_u32(meta, "roformer.block_count", (uint32_t)m->n_layers);
    gguf_u32(meta, "roformer.token_type_count", (uint32_t)s->types);
    gguf_u32(meta, "roformer.attention.head_count", (uint32_t)m->n_heads);
    if (m->key_given || m->key_length != even) gguf_u32(meta, "roformer.attention.key_length", (uint32_t)m->key_length);
    if (value_length != even) gguf_u32(meta, "roformer.attention.value_length", (uint32_t)value_length);
    gguf_f32(meta, "roformer.attention.layer_norm_epsilon", (float)m->norm_eps);
    gguf_f32(meta, "roformer.rope.freq_base", (float)m->rope_theta);
    gguf_u32(meta, "roformer.rope.dimension_count", (uint32_t)m->rotary_dim);
    gguf_bool(meta, "roformer.rotary_value", m->rotary_value);
    gguf_string(meta, "roformer.hidden_act", m->hidden_act);
    gguf_string(meta, "roformer.mask", m->mask);
    gguf_string(meta, "roformer.pooler", m->pooler);
    write_classifier(m, meta);
    write_attention(m, meta);
    write_position(m, meta);
}

/* ---- config.json ---- */

/* The shortest decimal that reads back as v; of a whole number no power of ten, which readers take for a float. */
static void shortest(char out[40], double v) {
    if (v == floor(v) && fabs(v) < 1e15) {
        snprintf(out, 40, "%.0f", v);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, 40, "%.*g", digits, v);
        if (strtod(out, NULL) == v) return;
    }
}

static void key(Buffer *b, const char *name) { buffer_print(b, "%s\n  \"%s\": ", b->n > 1 ? "," : "", name); }

static void number(Buffer *b, const char *name, double v) {
    char text[40];
    shortest(text, v);
    key(b, name);
    buffer_print(b, "%s", text);
}

static void text(Buffer *b, const char *name, const char *v) {
    key(b, name);
    buffer_json(b, v, strlen(v));
}

static void boolean(Buffer *b, const char *name, int v) {
    key(b, name);
    buffer_print(b, v ? "true" : "false");
}

/* The class of transformers, of JunnYu's roformer or of gau_alpha that has these tensors. */
static const char *architecture(const Description *m) {
    if (m->variant == ROFORMER_GAU) return "GAUAlphaForMaskedLM";
    if (strcmp(m->mask, "causal") == 0) return "RoFormerForCausalLM";
    int head = m->variant == ROFORMER_V2 || describe_slot(m, "mlm.dense.weight", -1, 0) >= 0;
    return head ? "RoFormerForMaskedLM" : "RoFormerModel";
}

/* A value as it is. */
static void copy(Buffer *b, const JsonValue *v) {
    char number[40];
    int object = v->type == JSON_OBJECT;
    if (v->type == JSON_NULL) buffer_print(b, "null");
    else if (v->type == JSON_BOOL) buffer_print(b, v->boolean ? "true" : "false");
    else if (v->type == JSON_NUMBER) shortest(number, v->number), buffer_print(b, "%s", number);
    else if (v->type == JSON_STRING) buffer_json(b, v->str, v->len);
    else {
        buffer_print(b, object ? "{" : "[");
        for (const JsonValue *e = v->child; e; e = e->next) {
            if (object) buffer_json(b, e->key, e->key_len), buffer_print(b, ": ");
            copy(b, e);
            if (e->next) buffer_print(b, ", ");
        }
        buffer_print(b, object ? "}" : "]");
    }
}

static void copy_key(const Description *m, Buffer *b, const char *name) {
    const JsonValue *v = json_get(m->config, name);
    if (!json_absent(v)) key(b, name), copy(b, v);
}

/* What run reads beside the sizes: RoPE or another kind of position, and attention that is not softmax's. */
static void copy_keys(const Description *m, Buffer *b) {
    static const char *const of_rope[] = {"rope_theta", "rope_scaling", "rope_parameters", "partial_rotary_factor"};
    for (size_t i = 0; i < sizeof of_rope / sizeof *of_rope; i++) copy_key(m, b, of_rope[i]);
    for (const DescribeKey *k = describe_keys; k->hf; k++) copy_key(m, b, k->hf);
    if (m->position) text(b, "position_embedding_type", m->position->name);
    for (const PositionNumber *n = m->position ? m->position->numbers : NULL; n && n->gguf; n++) {
        const JsonValue *v = json_typed(m->config, n->hf, JSON_NUMBER);
        if (v) number(b, n->hf, v->number);
    }
}

void describe_config(const Description *m, Buffer *b) {
    const RoformerSizes *s = &m->sizes;
    int gau = m->variant == ROFORMER_GAU;
    buffer_print(b, "{");
    key(b, "architectures");
    buffer_print(b, "[\"%s\"]", architecture(m));
    text(b, "model_type", gau ? "gau_alpha" : "roformer");
    number(b, "vocab_size", (double)s->vocab);
    number(b, "embedding_size", (double)s->d_embed);
    number(b, "hidden_size", (double)s->d_model);
    number(b, "num_hidden_layers", m->n_layers);
    if (!gau) number(b, "num_attention_heads", m->n_heads);
    if (gau || m->key_given) number(b, "attention_key_size", (double)m->key_length);
    number(b, "intermediate_size", (double)s->d_ff);
    text(b, "hidden_act", m->hidden_act);
    number(b, "hidden_dropout_prob", m->dropout);
    number(b, "attention_probs_dropout_prob", m->attention_dropout);
    number(b, "max_position_embeddings", m->n_ctx);
    number(b, "type_vocab_size", (double)s->types);
    number(b, "initializer_range", m->initializer_range);
    number(b, "layer_norm_eps", m->norm_eps);
    number(b, "pad_token_id", m->pad_id);
    boolean(b, "rotary_value", m->rotary_value);
    boolean(b, "is_decoder", strcmp(m->mask, "causal") == 0);
    boolean(b, "tie_word_embeddings", m->tied);
    if (m->variant != ROFORMER_V1) boolean(b, "use_bias", 0);
    if (m->variant == ROFORMER_V2) text(b, "norm_type", "rms_norm");
    if (gau) text(b, "normalization", "softmax_plus");
    if (gau) boolean(b, "attention_scale", 1);
    if (strcmp(m->pooler, "none") != 0) text(b, "pooler_activation", m->pooler);
    if (strcmp(m->mask, "unilm") == 0) text(b, "mask", m->mask); /* ours: Hugging Face has no key for it */
    copy_keys(m, b);
    buffer_print(b, "\n}\n");
}
