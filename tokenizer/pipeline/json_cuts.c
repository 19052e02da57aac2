/* tokenizer/pipeline/json_cuts.c - tokenizer.json's pre-tokenizers: how a text is cut into words. */
#include "tokenizer_json.h"

#include <errno.h>
#include <string.h>

static int no_memory(const Tokenizer *t, char *err, size_t errlen) {
    return base_error(err, errlen, -ENOMEM, "%s: no memory", t->name);
}

/* A step that cuts at pattern, or at literal where the pattern has no rules. */
static int add_split(Tokenizer *t, const SplitPattern *pattern, const JsonValue *literal, SplitBehavior how, int invert,
                     char *err, size_t errlen) {
    Cut *c;
    if (literal && literal->len > MATCH_MAX)
        return json_refuse(t, "the text that a pre-tokenizer cuts at, longer than 256 bytes,", NULL, err, errlen);
    if (pipeline_add_cut(t->own, CUT_SPLIT, &c)) return no_memory(t, err, errlen);
    if (literal && text_put(&c->text, literal->str, literal->len)) return no_memory(t, err, errlen);
    c->split = (SplitStep){.pattern = *pattern, .behavior = how, .invert = invert, .literal = c->text.p,
                           .literal_len = c->text.n};
    return 0;
}

static int add_named(Tokenizer *t, const char *name, SplitBehavior how, int invert, char *err, size_t errlen) {
    SplitPattern pattern;
    split_named(&pattern, name);
    return add_split(t, &pattern, NULL, how, invert, err, errlen);
}

/* "Removed", or the enumeration's other spelling. */
static int behavior(const Tokenizer *t, const JsonValue *v, SplitBehavior *how, char *err, size_t errlen) {
    static const struct { const char *name; SplitBehavior how; } known[] = {
        {"Removed", SPLIT_REMOVED}, {"Isolated", SPLIT_ISOLATED}, {"MergedWithPrevious", SPLIT_MERGED_WITH_PREVIOUS},
        {"MergedWithNext", SPLIT_MERGED_WITH_NEXT}, {"Contiguous", SPLIT_CONTIGUOUS}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (json_is(v, known[i].name)) return *how = known[i].how, 0;
    return json_refuse(t, "the behavior of a pre-tokenizer", v, err, errlen);
}

/* Split: {"pattern": {"String": ..} or {"Regex": ..}, "behavior": .., "invert": ..} */
static int read_split(Tokenizer *t, const JsonValue *v, char *err, size_t errlen) {
    const JsonValue *pattern = json_get(v, "pattern"), *string = json_get(pattern, "String"),
        *regex = json_get(pattern, "Regex");
    const JsonValue *what = string ? string : regex;
    SplitBehavior how = SPLIT_ISOLATED;
    int rc = behavior(t, json_get(v, "behavior"), &how, err, errlen);
    if (rc) return rc;
    if (!what || what->type != JSON_STRING)
        return json_refuse(t, "the pattern of the pre-tokenizer Split", NULL, err, errlen);
    SplitPattern known = {.n = 0};
    if (!string && !split_pattern(&known, regex->str, regex->len))
        return json_refuse(t, "the regular expression of the pre-tokenizer Split", regex, err, errlen);
    return add_split(t, &known, string, how, json_flag(v, "invert", 0), err, errlen);
}

static int read_bytes(Tokenizer *t, const JsonValue *v, char *err, size_t errlen) {
    Cut *c;
    int rc = 0;
    if (json_flag(v, "add_prefix_space", 1) && pipeline_add_cut(t->own, CUT_SPACE, &c))
        return no_memory(t, err, errlen);
    if (json_flag(v, "use_regex", 1)) rc = add_named(t, "ByteLevel", SPLIT_ISOLATED, 0, err, errlen);
    if (rc == 0 && pipeline_add_cut(t->own, CUT_BYTES, &c)) return no_memory(t, err, errlen);
    return rc;
}

static int read_metaspace(Tokenizer *t, const JsonValue *v, char *err, size_t errlen) {
    const JsonValue *with = json_typed(v, "replacement", JSON_STRING), *scheme = json_get(v, "prepend_scheme");
    static const char usual[] = "\xe2\x96\x81";
    int text = with && with->len;
    Cut *c;
    if (scheme && !json_is(scheme, "always") && !json_is(scheme, "first") && !json_is(scheme, "never"))
        return json_refuse(t, "the prepend_scheme of the pre-tokenizer Metaspace", scheme, err, errlen);
    if (pipeline_add_cut(t->own, CUT_METASPACE, &c) || text_put(&c->text, text ? with->str : usual, text ? with->len
                                                                : 3)) return no_memory(t, err, errlen);
    c->scheme = json_is(scheme, "first") ? PREPEND_FIRST
        : json_is(scheme, "never") || !json_flag(v, "add_prefix_space", 1) ? PREPEND_NEVER : PREPEND_ALWAYS;
    if (!json_flag(v, "split", 1)) return 0;
    const JsonValue mark = {.type = JSON_STRING, .str = text ? with->str : usual, .len = text ? with->len : 3};
    return add_split(t, &(SplitPattern){.n = 0}, &mark, SPLIT_MERGED_WITH_NEXT, 0, err, errlen);
}

static int read_delimiter(Tokenizer *t, const JsonValue *v, char *err, size_t errlen) {
    const JsonValue *d = json_typed(v, "delimiter", JSON_STRING);
    if (!d || d->len == 0) return json_refuse(t, "the delimiter of a pre-tokenizer", NULL, err, errlen);
    return add_split(t, &(SplitPattern){.n = 0}, d, SPLIT_REMOVED, 0, err, errlen);
}

static int read_punctuation(Tokenizer *t, const JsonValue *v, char *err, size_t errlen) {
    SplitBehavior how = SPLIT_ISOLATED;
    int rc = json_get(v, "behavior") ? behavior(t, json_get(v, "behavior"), &how, err, errlen) : 0;
    return rc ? rc : add_named(t, "Punctuation", how, 0, err, errlen);
}

int json_pre_tokenizer(Tokenizer *t, const JsonValue *v, char *err, size_t errlen) {
    const JsonValue *type = json_get(v, "type");
    int rc = 0;
    if (json_absent(v)) return 0;
    if (json_is(type, "Sequence")) {
        const JsonValue *list = json_get(v, "pretokenizers");
        for (const JsonValue *x = list ? list->child : NULL; x && rc == 0; x = x->next)
            rc = json_pre_tokenizer(t, x, err, errlen);
        return rc;
    }
    if (json_is(type, "ByteLevel")) return read_bytes(t, v, err, errlen);
    if (json_is(type, "Metaspace")) return read_metaspace(t, v, err, errlen);
    if (json_is(type, "Split")) return read_split(t, v, err, errlen);
    if (json_is(type, "CharDelimiterSplit")) return read_delimiter(t, v, err, errlen);
    if (json_is(type, "Punctuation")) return read_punctuation(t, v, err, errlen);
    if (json_is(type, "Digits"))
        return add_named(t, "Digits", json_flag(v, "individual_digits", 0) ? SPLIT_ISOLATED : SPLIT_CONTIGUOUS, 0, err,
                         errlen);
    if (json_is(type, "Whitespace")) return add_named(t, "Whitespace", SPLIT_REMOVED, 1, err, errlen);
    if (!json_is(type, "WhitespaceSplit") && !json_is(type, "BertPreTokenizer"))
        return json_refuse(t, "the pre-tokenizer", type, err, errlen);
    rc = add_named(t, "WhitespaceSplit", SPLIT_REMOVED, 0, err, errlen);
    return rc || json_is(type, "WhitespaceSplit") ? rc : add_named(t, "Punctuation", SPLIT_ISOLATED, 0, err, errlen);
}
