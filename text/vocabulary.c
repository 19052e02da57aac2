/* text/vocabulary.c - GGUF metadata to a Vocabulary. */
#include "vocabulary.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int wrong(const Weights *w, const char *key, const char *want, char *err, size_t errlen) {
    return base_error(err, errlen, -EINVAL, "%s: %s is not %s", w->path ? w->path : "GGUF", key, want);
}

/* An array of n elements (n == 0: of any number) of one of two types, or NULL where the key is absent or otherwise;
 * then *rc is -EINVAL. */
static const MetaValue *array(const Weights *w, const char *key, MetaType a, MetaType b, uint64_t n, int *rc, char *err,
                              size_t errlen) {
    const MetaValue *v = weights_meta(w, key);
    if (!v || *rc) return NULL;
    if (v->type == META_ARRAY && (v->elem == a || v->elem == b) && (n == 0 || v->n == n)) return v;
    *rc = wrong(w, key, n ? "an array as long as tokenizer.ggml.tokens, of the right type" : "an array of strings", err,
                errlen);
    return NULL;
}

static int id_key(const Weights *w, const char *key, long *out, char *err, size_t errlen) {
    const MetaValue *v = weights_meta(w, key);
    int64_t i;
    *out = -1;
    if (!v) return 0;
    if (!meta_integer(v, &i) || i < 0 || i > INT32_MAX) return wrong(w, key, "an id", err, errlen);
    *out = (long)i;
    return 0;
}

int vocabulary_flag(const Weights *w, const char *key, int *out, char *err, size_t errlen) {
    const MetaValue *v = weights_meta(w, key);
    int64_t i;
    *out = -1;
    if (!v) return 0;
    if (v->type != META_BOOL || !meta_integer(v, &i)) return wrong(w, key, "true or false", err, errlen);
    *out = i != 0;
    return 0;
}

/* n pieces from the arrays; scores and types may be NULL. */
static int fill_pieces(Vocabulary *v, const Weights *w, const MetaValue *tokens, const MetaValue *scores,
                       const MetaValue *types, char *err, size_t errlen) {
    Piece *pieces = malloc(tokens->n * sizeof *pieces);
    if (!pieces)
        return base_error(err, errlen, -ENOMEM, "%s: no memory for a vocabulary of %llu pieces",
                          w->path ? w->path : "GGUF", (unsigned long long)tokens->n);
    v->pieces = pieces;
    v->n = (size_t)tokens->n;
    const uint8_t *token = tokens->data, *score = scores ? scores->data : NULL, *type = types ? types->data : NULL;
    for (size_t i = 0; i < v->n; i++) {
        MetaValue m;
        double s = 0;
        int64_t kind = PIECE_NORMAL;
        meta_next(tokens, &token, &m);
        pieces[i] = (Piece){.text = (const char *)m.data, .len = (size_t)m.n};
        if (scores) {
            meta_next(scores, &score, &m);
            meta_number(&m, &s);
        }
        if (types) {
            meta_next(types, &type, &m);
            meta_integer(&m, &kind);
        }
        pieces[i].score = (float)s;
        pieces[i].type = kind < 0 || kind > INT_MAX ? 0 : (int)kind;
    }
    return 0;
}

static int fill_merges(Vocabulary *v, const Weights *w, const MetaValue *merges, char *err, size_t errlen) {
    Merge *list = merges && merges->n ? malloc((size_t)merges->n * sizeof *list) : NULL;
    if (!merges || merges->n == 0) return 0;
    if (!list) return base_error(err, errlen, -ENOMEM, "%s: no memory for its merges", w->path ? w->path : "GGUF");
    const uint8_t *at = merges->data;
    v->merges = list;
    v->n_merges = (size_t)merges->n;
    for (size_t i = 0; i < v->n_merges; i++) {
        MetaValue m;
        meta_next(merges, &at, &m);
        list[i] = (Merge){.text = (const char *)m.data, .len = (size_t)m.n};
    }
    return 0;
}

/* A string as malloc'ed text, NULL where the key is absent. */
static int text_key(const Weights *w, const char *key, const char **out, char *err, size_t errlen) {
    const MetaValue *v = weights_meta(w, key);
    if (!v) return 0;
    if (v->type != META_STRING) return wrong(w, key, "a string", err, errlen);
    char *s = malloc((size_t)v->n + 1);
    if (!s) return base_error(err, errlen, -ENOMEM, "%s: no memory", w->path ? w->path : "GGUF");
    memcpy(s, v->data, (size_t)v->n);
    s[v->n] = 0;
    *out = s;
    return 0;
}

static int fill(Vocabulary *v, const Weights *w, char *err, size_t errlen) {
    int rc = 0;
    rc = text_key(w, "tokenizer.ggml.model", &v->model, err, errlen);
    if (rc) return rc;
    const MetaValue *tokens = array(w, "tokenizer.ggml.tokens", META_STRING, META_STRING, 0, &rc, err, errlen);
    if (rc) return rc;
    if (!tokens || tokens->n == 0 || tokens->n > INT32_MAX)
        return wrong(w, "tokenizer.ggml.tokens", "there", err, errlen);
    const MetaValue *scores = array(w, "tokenizer.ggml.scores", META_F32, META_F32, tokens->n, &rc, err, errlen);
    const MetaValue *types = array(w, "tokenizer.ggml.token_type", META_I32, META_U32, tokens->n, &rc, err, errlen);
    if (rc) return rc;
    const MetaValue *merges = array(w, "tokenizer.ggml.merges", META_STRING, META_STRING, 0, &rc, err, errlen);
    if (rc) return rc;
    int scored = strcmp(v->model, "llama") == 0 || strcmp(v->model, "t5") == 0;
    if (scored && (!scores || !types)) /* without them nothing says what merges first, or what a byte is */
        return wrong(w, scores ? "tokenizer.ggml.token_type" : "tokenizer.ggml.scores", "there", err, errlen);
    rc = fill_pieces(v, w, tokens, scores, types, err, errlen);
    if (rc == 0) rc = fill_merges(v, w, merges, err, errlen);
    if (rc == 0) rc = text_key(w, "tokenizer.ggml.pre", &v->pre, err, errlen);
    if (rc == 0) rc = id_key(w, "tokenizer.ggml.bos_token_id", &v->bos_id, err, errlen);
    if (rc == 0) rc = id_key(w, "tokenizer.ggml.eos_token_id", &v->eos_id, err, errlen);
    if (rc == 0 && v->bos_id < 0) rc = id_key(w, "tokenizer.ggml.cls_token_id", &v->bos_id, err, errlen);
    if (rc == 0 && v->eos_id < 0) rc = id_key(w, "tokenizer.ggml.seperator_token_id", &v->eos_id, err, errlen);
    if (rc == 0) rc = id_key(w, "tokenizer.ggml.unknown_token_id", &v->unk_id, err, errlen);
    if (rc == 0) rc = vocabulary_flag(w, "tokenizer.ggml.add_bos_token", &v->add_bos, err, errlen);
    if (rc == 0) rc = vocabulary_flag(w, "tokenizer.ggml.add_eos_token", &v->add_eos, err, errlen);
    if (rc == 0) rc = vocabulary_flag(w, "tokenizer.ggml.add_space_prefix", &v->add_space_prefix, err, errlen);
    if (rc == 0)
        rc = vocabulary_flag(w, "tokenizer.ggml.remove_extra_whitespaces", &v->remove_extra_whitespaces, err, errlen);
    const MetaValue *map = rc ? NULL : weights_meta(w, "tokenizer.ggml.precompiled_charsmap");
    if (!map) return rc;
    if (map->type != META_ARRAY || (map->elem != META_U8 && map->elem != META_I8))
        return wrong(w, "tokenizer.ggml.precompiled_charsmap", "an array of bytes", err, errlen);
    v->charsmap = map->data;
    v->charsmap_size = (size_t)map->n;
    return 0;
}

/* llama.cpp's word for a file without a vocabulary. */
static int is_none(const MetaValue *model) {
    return model->type == META_STRING && model->n == 4 && memcmp(model->data, "none", 4) == 0;
}

int vocabulary_from_weights(Vocabulary *v, const Weights *w, char *err, size_t errlen) {
    memset(v, 0, sizeof *v);
    const MetaValue *model = weights_meta(w, "tokenizer.ggml.model");
    if (!model || is_none(model))
        return base_error(err, errlen, -ENOENT, "%s: no vocabulary in it (no key tokenizer.ggml.model, or none)",
                          w->path ? w->path : "GGUF");
    int rc = fill(v, w, err, errlen);
    if (rc) vocabulary_free(v);
    return rc;
}

void vocabulary_free(Vocabulary *v) {
    free((void *)(uintptr_t)v->pieces);
    free((void *)(uintptr_t)v->model);
    free((void *)(uintptr_t)v->pre);
    free((void *)(uintptr_t)v->merges);
    memset(v, 0, sizeof *v);
}
