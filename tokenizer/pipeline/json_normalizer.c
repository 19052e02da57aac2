/* tokenizer/pipeline/json_normalizer.c - tokenizer.json's normalizers. */
#include "tokenizer_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(const Tokenizer *t, char *err, size_t errlen) {
    return base_error(err, errlen, -ENOMEM, "%s: no memory", t->name);
}

/* Replace: {"pattern": {"String": ..} or {"Regex": ..}, "content": ..} */
static int read_replace(const Tokenizer *t, Normalizer *z, const JsonValue *v, char *err, size_t errlen) {
    const JsonValue *pattern = json_get(v, "pattern"), *content = json_typed(v, "content", JSON_STRING),
                    *string = json_typed(pattern, "String", JSON_STRING),
                    *regex = json_typed(pattern, "Regex", JSON_STRING);
    if (!content) return json_refuse(t, "the content of the normalizer Replace", NULL, err, errlen);
    if (text_put(&z->to, content->str, content->len)) return no_memory(t, err, errlen);
    if (string && string->len > MATCH_MAX)
        return json_refuse(t, "the text of the normalizer Replace, longer than 256 bytes,", NULL, err, errlen);
    if (string) return text_put(&z->from, string->str, string->len) ? no_memory(t, err, errlen) : 0;
    if (!regex) return json_refuse(t, "the pattern of the normalizer Replace", NULL, err, errlen);
    return split_pattern(&z->pattern, regex->str, regex->len) ? 0
        : json_refuse(t, "the regular expression of the normalizer Replace", regex, err, errlen);
}

static int read_prepend(const Tokenizer *t, Normalizer *z, const JsonValue *v, char *err, size_t errlen) {
    const JsonValue *text = json_typed(v, "prepend", JSON_STRING);
    if (!text)
        return json_refuse(t, "what the normalizer Prepend puts in front", NULL, err, errlen);
    return text_put(&z->to, text->str, text->len) ? no_memory(t, err, errlen) : 0;
}

static int read_map(const Tokenizer *t, Normalizer *z, const JsonValue *v, char *err, size_t errlen) {
    const JsonValue *text = json_typed(v, "precompiled_charsmap", JSON_STRING);
    Text map = {.n = 0};
    if (!text) return json_refuse(t, "the normalizer Precompiled's map", NULL, err, errlen);
    int rc = base64_decode(text->str, text->len, &map);
    if (rc == -ENOMEM) no_memory(t, err, errlen);
    else if (rc) base_error(err, errlen, rc, "%s: the normalizer Precompiled's map is not base64", t->name);
    else if (map.n) /* an empty one changes nothing */
        rc = charsmap_open(&z->map, (const uint8_t *)map.p, map.n, t->name, "its normalizer Precompiled", err, errlen);
    text_release(&map);
    return rc;
}

static BertNormalizer read_bert(const JsonValue *v) {
    int lower = json_flag(v, "lowercase", 1);
    return (BertNormalizer){.clean_text = json_flag(v, "clean_text", 1),
                            .handle_chinese_chars = json_flag(v, "handle_chinese_chars", 1),
                            .strip_accents = json_flag(v, "strip_accents", lower), .lowercase = lower};
}

int json_normalizer(Tokenizer *t, const JsonValue *v, char *err, size_t errlen) {
    static const struct { const char *name; NormalizerKind kind; } known[] = {
        {"NFC", NORMALIZE_NFC}, {"NFD", NORMALIZE_NFD}, {"NFKC", NORMALIZE_NFKC}, {"NFKD", NORMALIZE_NFKD},
        {"Lowercase", NORMALIZE_LOWERCASE}, {"Strip", NORMALIZE_STRIP}, {"StripAccents", NORMALIZE_STRIP_ACCENTS},
        {"Prepend", NORMALIZE_PREPEND}, {"Replace", NORMALIZE_REPLACE}, {"Precompiled", NORMALIZE_PRECOMPILED},
        {"Nmt", NORMALIZE_NMT}, {"BertNormalizer", NORMALIZE_BERT}, {"ByteLevel", NORMALIZE_BYTES}};
    const JsonValue *type = json_get(v, "type");
    Normalizer *z;
    size_t i = 0, n = sizeof known / sizeof *known;
    int rc = 0;
    if (json_absent(v)) return 0;
    if (json_is(type, "Sequence")) {
        const JsonValue *list = json_get(v, "normalizers");
        for (const JsonValue *x = list ? list->child : NULL; x && rc == 0; x = x->next)
            rc = json_normalizer(t, x, err, errlen);
        return rc;
    }
    while (i < n && !json_is(type, known[i].name)) i++;
    if (i == n) return json_refuse(t, "the normalizer", type, err, errlen);
    if (pipeline_add_normalizer(t->own, known[i].kind, &z)) return no_memory(t, err, errlen);
    z->left = json_flag(v, "strip_left", 1);
    z->right = json_flag(v, "strip_right", 1);
    if (z->kind == NORMALIZE_REPLACE) return read_replace(t, z, v, err, errlen);
    if (z->kind == NORMALIZE_PREPEND) return read_prepend(t, z, v, err, errlen);
    if (z->kind == NORMALIZE_PRECOMPILED) return read_map(t, z, v, err, errlen);
    if (z->kind == NORMALIZE_BERT) z->bert = read_bert(v);
    return 0;
}
