/* text/gguf_pieces.c - GGUF metadata to pieces. */
#include "gguf_pieces.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int vocabulary_wrong(const Weights *w, const char *key, const char *want, char *err, size_t errlen) {
    return base_error(err, errlen, -EINVAL, "%s: %s is not %s", w->path ? w->path : "GGUF", key, want);
}

int vocabulary_is(const Weights *w, const char *model) {
    const MetaValue *v = weights_meta(w, "tokenizer.ggml.model");
    return v && v->type == META_STRING && v->n == strlen(model) && memcmp(v->data, model, strlen(model)) == 0;
}

int vocabulary_number(int *out, const Weights *w, const char *key, int flag, char *err, size_t errlen) {
    const MetaValue *v = weights_meta(w, key);
    int64_t i = -1;
    if (v && (!meta_integer(v, &i) || i < 0 || i > INT32_MAX || (flag && v->type != META_BOOL)))
        return vocabulary_wrong(w, key, flag ? "true or false" : "an id", err, errlen);
    *out = (int)i;
    return 0;
}

/* Texts, scores and types. Without the last two nothing says what a "llama" merges first, or what a byte is. */
static int arrays(const MetaValue *found[3], const Weights *w, char *err, size_t errlen) {
    static const struct { const char *key; MetaType elem, or; } rows[] = {
        {"tokenizer.ggml.tokens", META_STRING, META_STRING}, {"tokenizer.ggml.scores", META_F32, META_F32},
        {"tokenizer.ggml.token_type", META_I32, META_U32}};
    for (int i = 0; i < 3; i++) {
        const MetaValue *a = found[i] = weights_meta(w, rows[i].key);
        if (a && (a->type != META_ARRAY || (a->elem != rows[i].elem && a->elem != rows[i].or) || a->n != found[0]->n))
            return vocabulary_wrong(w, rows[i].key, i ? "an array as long as tokenizer.ggml.tokens, of the right type"
                                                      : "an array of strings", err, errlen);
        if (a ? a->n == 0 || a->n > INT32_MAX : i == 0 || vocabulary_is(w, "llama") || vocabulary_is(w, "t5"))
            return vocabulary_wrong(w, rows[i].key, "there", err, errlen);
    }
    return 0;
}

int vocabulary_pieces(Vocabulary *v, const Weights *w, char *err, size_t errlen) {
    const struct { const char *key; int flag, *to; } numbers[] = {
        {"tokenizer.ggml.bos_token_id", 0, &v->bos_id}, {"tokenizer.ggml.eos_token_id", 0, &v->eos_id},
        {"tokenizer.ggml.unknown_token_id", 0, &v->unk_id}, {"tokenizer.ggml.add_bos_token", 1, &v->add_bos},
        {"tokenizer.ggml.add_eos_token", 1, &v->add_eos}, {"tokenizer.ggml.add_space_prefix", 1, &v->add_space_prefix},
        {"tokenizer.ggml.remove_extra_whitespaces", 1, &v->remove_extra_whitespaces}};
    const MetaValue *found[3];
    int rc = arrays(found, w, err, errlen);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && rc == 0; i++)
        rc = vocabulary_number(numbers[i].to, w, numbers[i].key, numbers[i].flag, err, errlen);
    if (rc) return rc;
    v->n = (size_t)found[0]->n;
    Piece *p = malloc(v->n * sizeof *p);
    v->pieces = p;
    if (!p) return weights_no_memory(w->path ? w->path : "GGUF", err, errlen);
    const uint8_t *at = found[0]->data;
    for (size_t i = 0; i < v->n; i++) {
        MetaValue text;
        meta_next(found[0], &at, &text);
        uint32_t type = found[2] ? load_u32(found[2]->data + 4 * i) : PIECE_NORMAL;
        p[i] = (Piece){(const char *)text.data, (size_t)text.n, found[1] ? load_f32(found[1]->data + 4 * i) : 0,
                       type > INT_MAX ? 0 : (int)type};
    }
    return 0;
}
