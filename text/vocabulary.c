/* text/vocabulary.c - GGUF metadata to a Vocabulary. */
#include "vocabulary.h"

#include "gguf_pieces.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int fill_merges(Vocabulary *v, const Weights *w, const MetaValue *merges, char *err, size_t errlen) {
    Merge *list = merges ? calloc((size_t)merges->n + 1, sizeof *list) : NULL;
    if (!merges) return 0;
    if (!list) return base_error(err, errlen, -ENOMEM, "%s: no memory for its merges", w->path);
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
    if (v->type != META_STRING) return vocabulary_wrong(w, key, "a string", err, errlen);
    char *s = malloc((size_t)v->n + 1);
    if (!s) return base_error(err, errlen, -ENOMEM, "%s: no memory", w->path);
    memcpy(s, v->data, (size_t)v->n);
    s[v->n] = 0;
    *out = s;
    return 0;
}

typedef struct {
    Piece *list; /* [n], malloc'ed */
    size_t n, cap;
    const Weights *w;
} Pieces;

static int add_piece(void *to, const char *text, size_t len, float score, int type, char *err, size_t errlen) {
    Pieces *p = to;
    if (array_reserve(&p->list, &p->cap, p->n + 1, sizeof *p->list))
        return weights_no_memory(p->w->path, err, errlen);
    p->list[p->n++] = (Piece){text, len, score, type};
    return 0;
}

/* No key says that a Phi-3's control pieces take the spaces behind them: llama.cpp goes by the model's name, too. */
static int is_phi3(const Weights *w) {
    static const char *const names[] = {"phi-3", "phi3"};
    const MetaValue *name = weights_meta(w, "general.name");
    for (size_t i = 0; name && name->type == META_STRING && i < name->n; i++)
        for (int k = 0; k < 2; k++) {
            size_t n = strlen(names[k]);
            if (name->n - i >= n && strncasecmp((const char *)name->data + i, names[k], n) == 0) return 1;
        }
    return 0;
}

/* What BERT's files say besides; [SEP] ends a text there, whatever EOS is. */
static int fill_bert(Vocabulary *v, const Weights *w, char *err, size_t errlen) {
    int bert = vocabulary_is(w, "bert"), rc = 0;
    if (v->bos_id < 0) rc = vocabulary_number(&v->bos_id, w, "tokenizer.ggml.cls_token_id", 0, err, errlen);
    if (rc == 0 && (v->eos_id < 0 || bert))
        rc = vocabulary_number(&v->eos_id, w, "tokenizer.ggml.seperator_token_id", 0, err, errlen);
    if (rc == 0 && bert)
        rc = vocabulary_number(&v->lower_case, w, "tokenizer.ggml.normalizer.lowercase", 1, err, errlen);
    if (rc == 0 && bert)
        rc = vocabulary_number(&v->strip_accents, w, "tokenizer.ggml.normalizer.strip_accents", 1, err, errlen);
    return rc;
}

static int fill(Vocabulary *v, const Weights *w, char *err, size_t errlen) {
    const MetaValue *merges = weights_meta(w, "tokenizer.ggml.merges");
    const MetaValue *map = weights_meta(w, "tokenizer.ggml.precompiled_charsmap");
    int *const numbers[] = {&v->bos_id, &v->eos_id, &v->unk_id, &v->add_bos, &v->add_eos, &v->add_space_prefix,
                            &v->remove_extra_whitespaces};
    Pieces pieces = {.w = w};
    for (int i = 0; i < 7; i++) *numbers[i] = -1;
    v->lower_case = v->strip_accents = -1;
    int rc = text_key(w, "tokenizer.ggml.model", &v->model, err, errlen);
    v->strips_behind = is_phi3(w);
    if (rc == 0) rc = vocabulary_pieces(w, add_piece, &pieces, err, errlen);
    v->pieces = pieces.list;
    v->n = pieces.n;
    if (rc == 0) rc = vocabulary_numbers(w, numbers, err, errlen);
    if (rc == 0 && merges && (merges->type != META_ARRAY || merges->elem != META_STRING))
        rc = vocabulary_wrong(w, "tokenizer.ggml.merges", "an array of strings", err, errlen);
    if (rc == 0) rc = fill_merges(v, w, merges, err, errlen);
    if (rc == 0) rc = text_key(w, "tokenizer.ggml.pre", &v->pre, err, errlen);
    if (rc == 0) rc = fill_bert(v, w, err, errlen);
    const MetaValue *whole = weights_meta(w, "tokenizer.huggingface.json");
    if (whole && whole->type == META_STRING) v->json = (const char *)whole->data, v->json_size = (size_t)whole->n;
    if (rc || !map) return rc;
    if (map->type != META_ARRAY || (map->elem != META_U8 && map->elem != META_I8))
        return vocabulary_wrong(w, "tokenizer.ggml.precompiled_charsmap", "an array of bytes", err, errlen);
    v->charsmap = map->data;
    v->charsmap_size = (size_t)map->n;
    return 0;
}

int vocabulary_from_weights(Vocabulary *v, const Weights *w, char *err, size_t errlen) {
    memset(v, 0, sizeof *v);
    if (!weights_meta(w, "tokenizer.ggml.model") || vocabulary_is(w, "none")) /* llama.cpp's word for none */
        return base_error(err, errlen, -ENOENT, "%s: no vocabulary in it (no key tokenizer.ggml.model, or none)",
                          w->path);
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
