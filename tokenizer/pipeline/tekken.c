/* tokenizer/pipeline/tekken.c - Mistral's tekken.json: tiktoken's ranks in base64, the regular expression that cuts a
 * text into words, and special tokens, whose ids come before the ranks'. Source: mistral_common's tekken.py. */
#include "bpe_files.h"
#include "tokenizer_json.h"
#include "base/base.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Files up to version 7 need not name them. */
static const char *const usual_tokens[] = {
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]",
    "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"};
enum { USUAL = sizeof usual_tokens / sizeof *usual_tokens };

/* In a list of objects each says which it is. */
static int has_rank(const JsonValue *v, size_t i) {
    const JsonValue *rank = json_typed(v, "rank", JSON_NUMBER);
    return rank && rank->number == (double)i;
}

/* The first n ids: those that the file names, and <SPECIAL_..> for the rest. */
static int add_special(Tokenizer *t, const JsonValue *list, size_t n, char *err, size_t errlen) {
    if (list && list->type == JSON_NULL) list = NULL;
    if (list && list->type != JSON_ARRAY) return json_refuse(t, "\"special_tokens\"", NULL, err, errlen);
    const JsonValue *v = list ? list->child : NULL;
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        char other[32];
        const JsonValue *text = json_typed(v, "token_str", JSON_STRING);
        if (v && (!text || text->len == 0 || !has_rank(v, i)))
            return base_error(err, errlen, -EINVAL, "%s: special token %zu has no text, or another rank", t->name, i);
        snprintf(other, sizeof other, "<SPECIAL_%zu>", i);
        const char *name = text ? text->str : !list && i < USUAL ? usual_tokens[i] : other;
        rc = pieces_add(t, name, text ? text->len : strlen(name), 0, PIECE_NORMAL, err, errlen);
        if (v) v = v->next;
    }
    if (rc == 0 && v)
        return base_error(err, errlen, -EINVAL, "%s: more special tokens than the %zu of \"config\"", t->name, n);
    return rc;
}

/* The first n of the list of ranks; the file has more. */
static int add_ranks(Tokenizer *t, const JsonValue *list, size_t n, char *err, size_t errlen) {
    const JsonValue *v = list->child;
    Text raw = {.n = 0};
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++, v = v->next) {
        const JsonValue *bytes = v ? json_typed(v, "token_bytes", JSON_STRING) : NULL;
        raw.n = 0;
        rc = bytes && has_rank(v, i) ? base64_decode(bytes->str, bytes->len, &raw) : -EINVAL;
        if (rc == -ENOMEM) base_error(err, errlen, rc, "%s: no memory", t->name);
        else if (rc || raw.n == 0)
            rc = base_error(err, errlen, -EINVAL, "%s: rank %zu is missing, or no piece in base64", t->name, i);
        else rc = rank_add(t, &raw, err, errlen);
        if (rc) break;
    }
    text_release(&raw);
    return rc;
}

/* The words of the regular expression, then their bytes as characters. */
static int add_steps(Tokenizer *t, const JsonValue *regex, char *err, size_t errlen) {
    SplitPattern known;
    Cut *words, *bytes;
    if (!regex || !split_pattern(&known, regex->str, regex->len))
        return json_refuse(t, "the regular expression \"pattern\"", regex, err, errlen);
    if (pipeline_add_cut(t->own, CUT_SPLIT, &words)) return base_error(err, errlen, -ENOMEM, "%s: no memory", t->name);
    words->split = (SplitStep){.pattern = known, .behavior = SPLIT_ISOLATED};
    if (pipeline_add_cut(t->own, CUT_BYTES, &bytes)) return base_error(err, errlen, -ENOMEM, "%s: no memory", t->name);
    return 0;
}

/* How many ids there are, and how many of them come first. */
static int read_sizes(const Tokenizer *t, const JsonValue *config, size_t ranks, size_t *n, size_t *special, char *err,
                      size_t errlen) {
    const JsonValue *all = json_typed(config, "default_vocab_size", JSON_NUMBER),
                    *first = json_typed(config, "default_num_special_tokens", JSON_NUMBER);
    double most = (double)ranks + (first ? first->number : 0);
    if (!all || !first || !(first->number >= 3 && first->number <= 65536) || !(all->number > first->number) ||
        !(all->number <= most))
        return base_error(err, errlen, -EINVAL,
                          "%s: \"config\" does not say how many of its %zu ranks and of special tokens make the "
                          "vocabulary (default_vocab_size, default_num_special_tokens)", t->name, ranks);
    *n = (size_t)all->number;
    *special = (size_t)first->number;
    return 0;
}

int tekken_read(Tokenizer *t, const JsonValue *root, char *err, size_t errlen) {
    const JsonValue *config = json_typed(root, "config", JSON_OBJECT), *vocab = json_typed(root, "vocab", JSON_ARRAY);
    size_t n = 0, special = 0;
    if (!config || !vocab) return json_refuse(t, config ? "\"vocab\"" : "\"config\"", NULL, err, errlen);
    int rc = read_sizes(t, config, vocab->len, &n, &special, err, errlen);
    if (rc == 0) rc = bytes_begin(t, err, errlen);
    if (rc == 0) rc = add_special(t, json_get(root, "special_tokens"), special, err, errlen);
    if (rc == 0) rc = add_ranks(t, vocab, n - special, err, errlen);
    if (rc == 0) rc = pieces_finish_unique(t, err, errlen);
    if (rc == 0) rc = ranks_join(t, special, err, errlen);
    if (rc == 0) rc = add_steps(t, json_typed(config, "pattern", JSON_STRING), err, errlen);
    for (size_t i = 0; i < special && rc == 0; i++)
        rc = pipeline_add_token(t, (AddedToken){.id = (int)i, .special = 1}, err, errlen);
    if (rc) return rc;
    t->kind = "byte-level BPE (tekken.json)";
    t->unk = pieces_find(t, usual_tokens[0], strlen(usual_tokens[0]));
    t->bos = pieces_find(t, usual_tokens[1], strlen(usual_tokens[1]));
    t->eos = pieces_find(t, usual_tokens[2], strlen(usual_tokens[2]));
    t->add_bos = 1;
    pipeline_of(t)->whole = 1;
    return 0;
}
