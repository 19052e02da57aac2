/* text/gguf_pieces.c - GGUF metadata to pieces. */
#include "gguf_pieces.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

int vocabulary_wrong(const Weights *w, const char *key, const char *want, char *err, size_t errlen) {
    return base_error(err, errlen, -EINVAL, "%s: %s is not %s", w->path, key, want);
}

int vocabulary_is(const Weights *w, const char *model) {
    const MetaValue *v = weights_meta(w, "tokenizer.ggml.model");
    return v && v->type == META_STRING && v->n == strlen(model) && memcmp(v->data, model, strlen(model)) == 0;
}

int vocabulary_number(int *out, const Weights *w, const char *key, int flag, char *err, size_t errlen) {
    const MetaValue *v = weights_meta(w, key);
    int64_t i;
    if (!v) return 0;
    if (!meta_integer(v, &i) || i < 0 || i > INT32_MAX || flag != (v->type == META_BOOL))
        return vocabulary_wrong(w, key, flag ? "true or false" : "an id", err, errlen);
    *out = (int)i;
    return 0;
}

int vocabulary_numbers(const Weights *w, int *const to[7], char *err, size_t errlen) {
    static const struct { const char *key; int flag; } rows[] = {
        {"tokenizer.ggml.bos_token_id", 0}, {"tokenizer.ggml.eos_token_id", 0}, {"tokenizer.ggml.unknown_token_id", 0},
        {"tokenizer.ggml.add_bos_token", 1}, {"tokenizer.ggml.add_eos_token", 1},
        {"tokenizer.ggml.add_space_prefix", 1}, {"tokenizer.ggml.remove_extra_whitespaces", 1}};
    int rc = 0;
    for (int i = 0; i < 7 && rc == 0; i++) rc = vocabulary_number(to[i], w, rows[i].key, rows[i].flag, err, errlen);
    return rc;
}

/* Texts, scores and types. Without the last two nothing says what a "llama" merges first, or what a byte is. */
int vocabulary_pieces(const Weights *w, AddPiece *add, void *to, char *err, size_t errlen) {
    static const struct { const char *key; MetaType elem, or; } rows[] = {
        {"tokenizer.ggml.tokens", META_STRING, META_STRING}, {"tokenizer.ggml.scores", META_F32, META_F32},
        {"tokenizer.ggml.token_type", META_I32, META_U32}};
    const MetaValue *found[3];
    int needed = vocabulary_is(w, "llama") || vocabulary_is(w, "t5"), rc = 0;
    for (int i = 0; i < 3; i++) {
        const MetaValue *a = found[i] = weights_meta(w, rows[i].key);
        if (a && (a->type != META_ARRAY || (a->elem != rows[i].elem && a->elem != rows[i].or) || a->n != found[0]->n))
            return vocabulary_wrong(w, rows[i].key, i ? "an array as long as tokenizer.ggml.tokens, of the right type"
                                                      : "an array of strings", err, errlen);
        if (a ? a->n == 0 || a->n > INT32_MAX : i == 0 || needed)
            return vocabulary_wrong(w, rows[i].key, "there", err, errlen);
    }
    const uint8_t *at = found[0]->data;
    for (size_t i = 0; i < found[0]->n && rc == 0; i++) {
        MetaValue text;
        meta_next(found[0], &at, &text);
        float score = found[1] ? load_f32(found[1]->data + 4 * i) : 0;
        uint32_t type = found[2] ? load_u32(found[2]->data + 4 * i) : PIECE_NORMAL;
        rc = add(to, (const char *)text.data, (size_t)text.n, score, type > INT_MAX ? 0 : (int)type, err, errlen);
    }
    return rc;
}

int gguf_spm(Tokenizer *t, const void *weights, char *err, size_t errlen) {
    int more = 0, *const numbers[] = {&t->bos, &t->eos, &t->unk, &t->add_bos, &t->add_eos, &t->dummy_prefix, &more};
    if (!vocabulary_is(weights, "llama"))
        return base_error(err, errlen, -EINVAL, "%s: its tokenizer is not SentencePiece's BPE", t->name);
    int rc = vocabulary_pieces(weights, spm_add, t, err, errlen);
    spm_usual(t);
    if (rc == 0) rc = vocabulary_numbers(weights, numbers, err, errlen);
    for (size_t i = 0; i < t->n; i++) more |= t->pieces[i].kind == PIECE_ADDED || t->pieces[i].kind == PIECE_UNUSED;
    if (rc == 0 && more)
        rc = base_error(err, errlen, -EINVAL, "%s: added or unused pieces, or spaces to remove: not read", t->name);
    return rc ? rc : pieces_check_ids(t, err, errlen);
}
