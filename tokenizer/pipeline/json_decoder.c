/* tokenizer/pipeline/json_decoder.c - tokenizer.json's decoders, and what its post-processor puts around a text. */
#include "tokenizer_json.h"

#include <errno.h>
#include <string.h>

static int no_memory(const Tokenizer *t, char *err, size_t errlen) {
    return base_error(err, errlen, -ENOMEM, "%s: no memory", t->name);
}

static int text_of(const Tokenizer *t, const JsonValue *v, const char *key, const char *otherwise, Text *out, char *err,
                   size_t errlen) {
    const JsonValue *x = json_get(v, key);
    if (!x && otherwise) return text_put(out, otherwise, strlen(otherwise)) ? no_memory(t, err, errlen) : 0;
    if (!x || x->type != JSON_STRING || x->len == 0) return json_refuse(t, "a setting of a decoder", NULL, err, errlen);
    return text_put(out, x->str, x->len) ? no_memory(t, err, errlen) : 0;
}

static int read_replace(const Tokenizer *t, Decoder *d, const JsonValue *v, char *err, size_t errlen) {
    const JsonValue *pattern = json_get(v, "pattern"), *to = json_typed(v, "content", JSON_STRING);
    if (!json_get(pattern, "String"))
        return json_refuse(t, "the pattern of the decoder Replace", json_get(pattern, "Regex"), err, errlen);
    int rc = text_of(t, pattern, "String", NULL, &d->from, err, errlen);
    if (rc == 0 && to && text_put(&d->to, to->str, to->len))
        return no_memory(t, err, errlen);
    if (rc == 0 && d->to.n > d->from.n)
        return json_refuse(t, "the decoder Replace, where text grows longer,", NULL, err, errlen);
    return rc;
}

static int read_strip(const Tokenizer *t, Decoder *d, const JsonValue *v, int fused, char *err, size_t errlen) {
    const JsonValue *start = json_typed(v, "start", JSON_NUMBER), *stop = json_typed(v, "stop", JSON_NUMBER);
    if (!start || !(start->number >= 0 && start->number < 1000))
        return json_refuse(t, "the decoder Strip's start", NULL, err, errlen);
    if (stop && stop->number != 0)
        return json_refuse(t, "the decoder Strip with a stop", NULL, err, errlen);
    d->strip = (int)start->number;
    d->first = fused;
    return text_of(t, v, "content", " ", &d->from, err, errlen);
}

static int read_one(Tokenizer *t, const JsonValue *v, DecoderKind kind, int fused, char *err, size_t errlen) {
    Decoder *d;
    if (pipeline_add_decoder(t->own, kind, &d)) return no_memory(t, err, errlen);
    switch (kind) {
    case DECODE_BYTES:
        pipeline_of(t)->spells_bytes = 1;
        return 0;
    case DECODE_REPLACE: return read_replace(t, d, v, err, errlen);
    case DECODE_STRIP: return read_strip(t, d, v, fused, err, errlen);
    case DECODE_SUFFIX: return text_of(t, v, "suffix", "</w>", &d->from, err, errlen);
    case DECODE_WORDPIECE:
        d->cleanup = json_flag(v, "cleanup", 1);
        return text_of(t, v, "prefix", "##", &d->from, err, errlen);
    case DECODE_METASPACE:
        d->first = !json_is(json_get(v, "prepend_scheme"), "never") && json_flag(v, "add_prefix_space", 1);
        if (text_put(&d->to, " ", 1)) return no_memory(t, err, errlen);
        return text_of(t, v, "replacement", "\xe2\x96\x81", &d->from, err, errlen);
    }
    return 0;
}

static int read_decoder(Tokenizer *t, const JsonValue *v, int *fused, int *bytes, char *err, size_t errlen) {
    static const struct { const char *name; DecoderKind kind; } known[] = {
        {"ByteLevel", DECODE_BYTES}, {"Replace", DECODE_REPLACE}, {"Metaspace", DECODE_METASPACE},
        {"WordPiece", DECODE_WORDPIECE}, {"BPEDecoder", DECODE_SUFFIX}, {"Strip", DECODE_STRIP}};
    const JsonValue *type = json_get(v, "type");
    int rc = 0;
    if (json_is(type, "Sequence")) {
        const JsonValue *list = json_get(v, "decoders");
        for (const JsonValue *x = list ? list->child : NULL; x && rc == 0; x = x->next)
            rc = read_decoder(t, x, fused, bytes, err, errlen);
        return rc;
    }
    if (json_is(type, "Fuse")) *fused = 1;
    if (json_is(type, "ByteFallback")) *bytes = 1;
    if (json_is(type, "Fuse") || json_is(type, "ByteFallback")) return 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (json_is(type, known[i].name)) return read_one(t, v, known[i].kind, *fused, err, errlen);
    return json_refuse(t, "the decoder", type, err, errlen);
}

int json_decoder(Tokenizer *t, const JsonValue *v, int *bytes, char *err, size_t errlen) {
    int fused = 0;
    pipeline_of(t)->joins = json_absent(v);
    return pipeline_of(t)->joins ? 0 : read_decoder(t, v, &fused, bytes, err, errlen);
}

/* ---- post-processors ---- */

static int item_token(const Tokenizer *t, const JsonValue *name, Template *out, int type, char *err, size_t errlen) {
    int id = name ? pieces_find(t, name->str, name->len) : -1;
    if (id < 0) return json_refuse(t, "a token of the post-processor", name, err, errlen);
    return template_add(out, id, type) ? no_memory(t, err, errlen) : 0;
}

/* TemplateProcessing's token: its ids stand in the list special_tokens. */
static int special_token(const Tokenizer *t, const JsonValue *root, const JsonValue *name, Template *out, int type,
                         char *err, size_t errlen) {
    const JsonValue *ids = name ? json_get(json_get(json_get(root, "special_tokens"), name->str), "ids") : NULL;
    for (const JsonValue *v = ids ? ids->child : NULL; v; v = v->next) {
        if (v->type != JSON_NUMBER || !(v->number >= 0 && v->number < (double)t->n))
            return json_refuse(t, "an id of the post-processor", NULL, err, errlen);
        if (template_add(out, (int)v->number, type)) return no_memory(t, err, errlen);
    }
    return ids && ids->child ? 0 : item_token(t, name, out, type, err, errlen);
}

enum { TEXTS_MAX = 8 }; /* texts in a template: each is encoded anew */

static int read_template(const Tokenizer *t, const JsonValue *root, const char *key, Template *out, char *err,
                         size_t errlen) {
    const JsonValue *list = json_get(root, key);
    int rc = 0, texts = 0;
    for (const JsonValue *v = list ? list->child : NULL; v && rc == 0; v = v->next) {
        const JsonValue *token = json_get(v, "SpecialToken"), *text = json_get(v, "Sequence"),
            *type = json_typed(token ? token : text, "type_id", JSON_NUMBER);
        if (!token && text && ++texts > TEXTS_MAX)
            return base_error(err, errlen, -EINVAL, "%s: the post-processor repeats its texts more than %d times",
                              t->name, TEXTS_MAX);
        int type_id = type && type->number >= 0 && type->number < 1000 ? (int)type->number : 0;
        if (token) rc = special_token(t, root, json_typed(token, "id", JSON_STRING), out, type_id, err, errlen);
        else if (text)
            rc = template_add(out, json_is(json_get(text, "id"), "B") ? TEMPLATE_B : TEMPLATE_A, type_id)
                ? no_memory(t, err, errlen) : 0;
        else rc = json_refuse(t, "an item of the post-processor", NULL, err, errlen);
    }
    return rc;
}

/* BertProcessing [CLS] A [SEP] B [SEP], RobertaProcessing <s> A </s></s> B </s>. */
static int read_pair(Tokenizer *t, const JsonValue *v, int roberta, char *err, size_t errlen) {
    const JsonValue *cls = json_get(v, "cls"), *sep = json_get(v, "sep");
    Template *one = &pipeline_of(t)->single, *two = &pipeline_of(t)->pair;
    int second = !roberta, c = -1, s = -1;
    if (cls && cls->child && cls->child->type == JSON_STRING) c = pieces_find(t, cls->child->str, cls->child->len);
    if (sep && sep->child && sep->child->type == JSON_STRING) s = pieces_find(t, sep->child->str, sep->child->len);
    if (c < 0 || s < 0) return json_refuse(t, "a token of the post-processor", NULL, err, errlen);
    if (template_add(one, c, 0) || template_add(one, TEMPLATE_A, 0) || template_add(one, s, 0))
        return no_memory(t, err, errlen);
    if (template_add(two, c, 0) || template_add(two, TEMPLATE_A, 0) || template_add(two, s, 0) ||
        (roberta && template_add(two, s, 0)) ||
        template_add(two, TEMPLATE_B, second) || template_add(two, s, second))
        return no_memory(t, err, errlen);
    return 0;
}

int json_template(Tokenizer *t, const JsonValue *v, char *err, size_t errlen) {
    const JsonValue *type = json_get(v, "type");
    struct Pipeline *p = t->own;
    int rc = 0;
    if (json_absent(v) || json_is(type, "ByteLevel")) return 0;
    if (json_is(type, "Sequence")) {
        const JsonValue *list = json_get(v, "processors");
        for (const JsonValue *x = list ? list->child : NULL; x && rc == 0; x = x->next)
            rc = json_template(t, x, err, errlen);
        return rc;
    }
    if (json_is(type, "BertProcessing") || json_is(type, "RobertaProcessing"))
        return read_pair(t, v, json_is(type, "RobertaProcessing"), err, errlen);
    if (!json_is(type, "TemplateProcessing")) return json_refuse(t, "the post-processor", type, err, errlen);
    rc = read_template(t, v, "single", &p->single, err, errlen);
    return rc ? rc : read_template(t, v, "pair", &p->pair, err, errlen);
}
