/* tokenizer/pipeline/tokenizer_json.c - Hugging Face's tokenizer.json into a Pipeline: the model, its vocabulary and
 * merges, the added tokens. Normalizers, pre-tokenizers, decoders and the template are read in json_*.c. What is not
 * known is refused by name. */
#include "tokenizer_json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what JSON says ---- */

int json_refuse(const Tokenizer *t, const char *what, const JsonValue *v, char *err, size_t errlen) {
    if (v && v->type == JSON_STRING)
        return base_error(err, errlen, -EINVAL, "%s: %s \"%.80s\" is not known", t->name, what, v->str);
    return base_error(err, errlen, -EINVAL, "%s: %s is missing or of the wrong type", t->name, what);
}

/* An id of the vocabulary: a whole number below `limit`. */
static int json_id(const JsonValue *v, size_t limit, int *id) {
    if (!v || v->type != JSON_NUMBER || !(v->number >= 0 && v->number < (double)limit) || v->number != floor(v->number))
        return 0;
    *id = (int)v->number;
    return 1;
}

/* ---- the vocabulary ---- */

enum { HOLES = 1 << 16 }; /* ids that no piece has: bounds what a small file can claim */

/* The pieces in the order of their ids. text [n] (JSON values, their key or string the text) and score come from the
 * reader. */
typedef struct {
    const JsonValue **by_id;
    size_t n;
} Order;

/* {"text": id, ..} */
static int order_object(const Tokenizer *t, const JsonValue *vocab, Order *o, char *err, size_t errlen) {
    size_t limit = vocab->len + HOLES;
    int id;
    if (limit > INT32_MAX) return base_error(err, errlen, -EINVAL, "%s: more than %d pieces", t->name, INT32_MAX);
    o->by_id = calloc(limit, sizeof *o->by_id);
    if (!o->by_id) return base_error(err, errlen, -ENOMEM, "%s: no memory for the vocabulary", t->name);
    for (const JsonValue *v = vocab->child; v; v = v->next) {
        if (!json_id(v, limit, &id))
            return base_error(err, errlen, -EINVAL, "%s: the piece \"%.80s\" has no id below %zu", t->name, v->key,
                              limit);
        if (o->by_id[id])
            return base_error(err, errlen, -EINVAL, "%s: \"%.80s\" and \"%.80s\" have the same id %d", t->name,
                              o->by_id[id]->key, v->key, id);
        o->by_id[id] = v;
        if ((size_t)id >= o->n) o->n = (size_t)id + 1;
    }
    return 0;
}

int json_vocabulary(Tokenizer *t, const JsonValue *vocab, char *err, size_t errlen) {
    Order o = {.n = 0};
    if (!vocab || vocab->type != JSON_OBJECT) return json_refuse(t, "the model's vocab", NULL, err, errlen);
    int rc = order_object(t, vocab, &o, err, errlen);
    for (size_t i = 0; i < o.n && rc == 0; i++) {
        const JsonValue *v = o.by_id[i];
        rc = pieces_add(t, v ? v->key : "", v ? v->key_len : 0, 0, v ? PIECE_NORMAL : PIECE_UNUSED, err, errlen);
    }
    free(o.by_id);
    return rc;
}

/* [["text", score], ..] */
static int add_scored(Tokenizer *t, const JsonValue *vocab, char *err, size_t errlen) {
    int rc = 0;
    if (!vocab) return json_refuse(t, "the model's vocab", NULL, err, errlen);
    for (const JsonValue *v = vocab->child; v && rc == 0; v = v->next) {
        const JsonValue *text = v->type == JSON_ARRAY && v->len == 2 ? v->child : NULL;
        if (!text || text->type != JSON_STRING || text->next->type != JSON_NUMBER)
            return base_error(err, errlen, -EINVAL, "%s: piece %zu is no text with a score", t->name, t->n);
        rc = pieces_add(t, text->str, text->len, (float)text->next->number, PIECE_NORMAL, err, errlen);
    }
    return rc;
}

/* ---- added tokens ---- */

/* The token's text as piece id, which may lie beyond the model's; those that stand in the table of pieces are the
 * model's. */
int json_add_token(Tokenizer *t, int id, const char *text, size_t len, AddedToken token, char *err, size_t errlen) {
    int there = pieces_find(t, text, len), rc = 0;
    if (there >= 0) id = there;
    while (t->n <= (size_t)id && rc == 0) rc = pieces_add(t, "", 0, 0, PIECE_UNUSED, err, errlen);
    if (rc) return rc;
    const Entry *e = &t->pieces[id];
    if (there < 0 && e->len && (e->len != len || memcmp(t->bytes + e->start, text, len) != 0))
        return base_error(err, errlen, -EINVAL, "%s: the added token \"%.*s\" has the id %d, which is another piece's",
                          t->name, (int)len, text, id);
    if (there < 0) rc = pieces_rename(t, id, text, len, PIECE_NORMAL, err, errlen);
    token.id = id;
    return rc ? rc : pipeline_add_token(t, token, err, errlen);
}

static int add_tokens(Tokenizer *t, const JsonValue *list, char *err, size_t errlen) {
    size_t limit = t->n + HOLES;
    int id, rc = 0;
    if (!json_absent(list) && list->type != JSON_ARRAY)
        return json_refuse(t, "added_tokens", NULL, err, errlen);
    for (const JsonValue *v = list ? list->child : NULL; v && rc == 0; v = v->next) {
        const JsonValue *text = json_typed(v, "content", JSON_STRING);
        if (!text || text->len == 0 || !json_id(json_get(v, "id"), limit, &id))
            return base_error(err, errlen, -EINVAL, "%s: an added token has no content, or no id below %zu", t->name,
                              limit);
        AddedToken token = {.special = json_flag(v, "special", 0), .single_word = json_flag(v, "single_word", 0),
                            .lstrip = json_flag(v, "lstrip", 0), .rstrip = json_flag(v, "rstrip", 0),
                            .normalized = json_flag(v, "normalized", !json_flag(v, "special", 0))};
        rc = json_add_token(t, id, text->str, text->len, token, err, errlen);
    }
    return rc;
}

/* ---- the model ---- */

/* "a b" or ["a", "b"]. */
static int read_merge(Tokenizer *t, const JsonValue *v, uint32_t rank) {
    Bpe *b = &pipeline_of(t)->bpe;
    if (v->type == JSON_STRING) return bpe_add_line(b, t, v->str, v->len, rank);
    const JsonValue *x = v->type == JSON_ARRAY && v->len == 2 ? v->child : NULL;
    if (!x || x->type != JSON_STRING || x->next->type != JSON_STRING) return -EINVAL;
    return bpe_add_texts(b, t, x->str, x->len, x->next->str, x->next->len, rank);
}

static int read_merges(Tokenizer *t, const JsonValue *merges, char *err, size_t errlen) {
    uint32_t rank = 0;
    int rc = 0;
    if (!merges) return json_refuse(t, "the model's merges", NULL, err, errlen);
    for (const JsonValue *v = merges->child; v && rc == 0; v = v->next) rc = read_merge(t, v, rank++);
    return rc ? bpe_refuse(t, rc, rank - 1, err, errlen) : 0;
}

static int affix(Tokenizer *t, const JsonValue *m, const char *key, char **out, size_t *n, char *err, size_t errlen) {
    const JsonValue *v = json_typed(m, key, JSON_STRING);
    if (!v || v->len == 0) return 0;
    if (v->len > BPE_AFFIX_MAX)
        return base_error(err, errlen, -EINVAL, "%s: the model's %s is longer than %d bytes", t->name, key,
                          BPE_AFFIX_MAX);
    *out = malloc(v->len + 1);
    if (!*out) return base_error(err, errlen, -ENOMEM, "%s: no memory", t->name);
    memcpy(*out, v->str, *n = v->len);
    return 0;
}

static int read_bpe(Tokenizer *t, const JsonValue *m, char *err, size_t errlen) {
    Bpe *b = &pipeline_of(t)->bpe;
    const JsonValue *dropout = json_typed(m, "dropout", JSON_NUMBER);
    if (dropout && dropout->number > 0)
        return base_error(err, errlen, -EINVAL,
                          "%s: its merges drop out by chance (dropout), so no text has certain ids", t->name);
    b->fuse_unk = json_flag(m, "fuse_unk", 0);
    b->byte_fallback = json_flag(m, "byte_fallback", 0);
    b->ignore_merges = json_flag(m, "ignore_merges", 0);
    int rc = affix(t, m, "continuing_subword_prefix", &b->prefix, &b->prefix_len, err, errlen);
    return rc ? rc : affix(t, m, "end_of_word_suffix", &b->suffix, &b->suffix_len, err, errlen);
}

static int read_wordpiece(Tokenizer *t, const JsonValue *m, char *err, size_t errlen) {
    const JsonValue *prefix = json_typed(m, "continuing_subword_prefix", JSON_STRING),
                    *most = json_typed(m, "max_input_chars_per_word", JSON_NUMBER);
    struct Pipeline *p = t->own;
    /* a bound on the work */
    p->max_chars = most && most->number >= 0 ? (size_t)fmin(most->number, 1000) : 100;
    return text_put(&p->prefix, prefix ? prefix->str : "##", prefix ? prefix->len : 2)
        ? base_error(err, errlen, -ENOMEM, "%s: no memory", t->name) : 0;
}

/* Files older than the field "type" are told by what they have. */
static int model_kind(const Tokenizer *t, const JsonValue *m, ModelKind *kind, char *err, size_t errlen) {
    static const char *const names[] = {"BPE", "Unigram", "WordPiece", "WordLevel"};
    const JsonValue *type = json_get(m, "type"), *vocab = json_get(m, "vocab");
    for (int i = 0; i < 4; i++)
        if (json_is(type, names[i])) return *kind = (ModelKind)i, 0;
    if (type || !vocab) return json_refuse(t, "the model", type, err, errlen);
    *kind = vocab->type == JSON_ARRAY ? MODEL_UNIGRAM : json_get(m, "merges") ? MODEL_BPE
        : json_get(m, "max_input_chars_per_word") ? MODEL_WORDPIECE
            : MODEL_WORDLEVEL;
    return 0;
}

/* Byte pieces "<0x41>", where the model falls back to them or the decoders make bytes of them. */
static void mark_bytes(Tokenizer *t) {
    for (size_t i = 0; i < t->n; i++)
        if (pieces_byte_value(t->bytes + t->pieces[i].start, t->pieces[i].len) >= 0) t->pieces[i].kind = PIECE_BYTE;
}

static int read_vocabulary(Tokenizer *t, const JsonValue *m, int bytes, char *err, size_t errlen) {
    struct Pipeline *p = t->own;
    int rc = p->model == MODEL_UNIGRAM ? add_scored(t, json_typed(m, "vocab", JSON_ARRAY), err, errlen)
                                       : json_vocabulary(t, json_get(m, "vocab"), err, errlen);
    if (rc == 0 && p->model == MODEL_BPE) rc = read_bpe(t, m, err, errlen);
    if (rc == 0 && p->model == MODEL_WORDPIECE) rc = read_wordpiece(t, m, err, errlen);
    if (rc == 0 && (bytes || json_flag(m, "byte_fallback", 0))) mark_bytes(t);
    p->bytes_named = !bytes;
    return rc;
}

/* What needs the table of pieces. n_model: the pieces without the added tokens. */
static int finish_model(Tokenizer *t, const JsonValue *m, size_t n_model, char *err, size_t errlen) {
    struct Pipeline *p = t->own;
    const JsonValue *unk = json_get(m, p->model == MODEL_UNIGRAM ? "unk_id" : "unk_token");
    p->bpe.n_model = (int)n_model;
    if (unk && unk->type == JSON_STRING && unk->len) {
        t->unk = pieces_find(t, unk->str, unk->len);
        if (t->unk < 0 && p->model != MODEL_BPE) return json_refuse(t, "the unknown token", unk, err, errlen);
        int own = bpe_find(&p->bpe, t, unk->str, unk->len);
        p->bpe.unk = own < 0 ? BPE_UNK_MISSING : own;
        if (p->model != MODEL_BPE) t->unk = own; /* -1: a text that needs it is refused */
    } else if (unk && unk->type == JSON_NUMBER && !json_id(unk, t->n, &t->unk))
        return json_refuse(t, "unk_id", NULL, err, errlen);
    if (p->model == MODEL_BPE) return read_merges(t, json_typed(m, "merges", JSON_ARRAY), err, errlen);
    if (p->model == MODEL_UNIGRAM) return unigram_build(&p->unigram, t, UNIGRAM_TOKENIZERS, n_model, err, errlen);
    return p->model == MODEL_WORDPIECE ? pipeline_build_words(t, n_model, err, errlen) : 0;
}

static int read_root(Tokenizer *t, const JsonValue *root, char *err, size_t errlen) {
    static const char *const kinds[] = {"BPE (tokenizer.json)", "unigram (tokenizer.json)",
                                        "WordPiece (tokenizer.json)", "words (tokenizer.json)"};
    const JsonValue *m = json_typed(root, "model", JSON_OBJECT);
    int rc = pipeline_begin(t, err, errlen), bytes = 0;
    if (rc) return rc;
    struct Pipeline *p = t->own;
    if (!m) return json_refuse(t, "the model", NULL, err, errlen);
    rc = model_kind(t, m, &p->model, err, errlen);
    if (rc == 0) rc = json_normalizer(t, json_get(root, "normalizer"), err, errlen);
    if (rc == 0) rc = json_pre_tokenizer(t, json_get(root, "pre_tokenizer"), err, errlen);
    if (rc == 0) rc = json_decoder(t, json_get(root, "decoder"), &bytes, err, errlen);
    if (rc == 0) rc = read_vocabulary(t, m, bytes, err, errlen);
    size_t n_model = t->n;
    /* so that tokens find themselves among the model's pieces */
    if (rc == 0) rc = pieces_finish_unique(t, err, errlen);
    if (rc == 0) rc = add_tokens(t, json_get(root, "added_tokens"), err, errlen);
    if (rc == 0) rc = pieces_finish_unique(t, err, errlen);
    if (rc == 0) rc = finish_model(t, m, n_model, err, errlen);
    if (rc == 0) rc = json_template(t, json_get(root, "post_processor"), err, errlen);
    t->kind = kinds[p->model];
    p->whole = 1;
    return rc;
}

int tokenizer_json_is(const uint8_t *data, size_t size) {
    size_t i = 0;
    while (i < size && strchr(" \t\r\n", data[i]) && data[i]) i++;
    return i < size && data[i] == '{';
}

int tokenizer_json_open(Tokenizer *t, const uint8_t *data, size_t size, char *err, size_t errlen) {
    Json j;
    int rc = json_parse(&j, (const char *)data, size, t->name, err, errlen);
    if (rc) return rc;
    const JsonValue *model = json_get(j.root, "model");
    /* in a vocab.json "model" is a piece */
    if (model && model->type != JSON_NUMBER) rc = read_root(t, j.root, err, errlen);
    else if (json_get(j.root, "config") && json_get(j.root, "vocab")) rc = tekken_read(t, j.root, err, errlen);
    else
        rc = base_error(err, errlen, -EINVAL,
                        "%s: JSON, but no tokenizer.json (a vocab.json opens with the folder where merges.txt stands "
                        "beside it)", t->name);
    json_free(&j);
    return rc;
}
