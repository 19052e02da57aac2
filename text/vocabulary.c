/* text/vocabulary.c - GGUF metadata to a Vocabulary. */
#include "vocabulary.h"

#include "gguf_pieces.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
    if (v->type != META_STRING) return vocabulary_wrong(w, key, "a string", err, errlen);
    char *s = malloc((size_t)v->n + 1);
    if (!s) return base_error(err, errlen, -ENOMEM, "%s: no memory", w->path ? w->path : "GGUF");
    memcpy(s, v->data, (size_t)v->n);
    s[v->n] = 0;
    *out = s;
    return 0;
}

static int fill(Vocabulary *v, const Weights *w, char *err, size_t errlen) {
    const MetaValue *merges = weights_meta(w, "tokenizer.ggml.merges");
    const MetaValue *map = weights_meta(w, "tokenizer.ggml.precompiled_charsmap");
    int rc = text_key(w, "tokenizer.ggml.model", &v->model, err, errlen);
    if (rc == 0) rc = vocabulary_pieces(v, w, err, errlen);
    if (rc == 0 && merges && (merges->type != META_ARRAY || merges->elem != META_STRING))
        rc = vocabulary_wrong(w, "tokenizer.ggml.merges", "an array of strings", err, errlen);
    if (rc == 0) rc = fill_merges(v, w, merges, err, errlen);
    if (rc == 0) rc = text_key(w, "tokenizer.ggml.pre", &v->pre, err, errlen);
    if (rc == 0 && v->bos_id < 0) rc = vocabulary_number(&v->bos_id, w, "tokenizer.ggml.cls_token_id", 0, err, errlen);
    if (rc == 0 && v->eos_id < 0) rc = vocabulary_number(&v->eos_id, w, "tokenizer.ggml.seperator_token_id", 0, err, errlen);
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

/* ---- the tokenizer of a model ---- */

/* The first of these that is there, in folder, else here; malloc'ed. */
static char *beside(const char *folder) {
    static const char *const names[] = {"tokenizer.bin", "tokenizer.json", "tokenizer.model", "spiece.model", "vocab.txt"};
    for (int place = 0; place < 2; place++)
        for (int i = 0; i < 5; i++) {
            char *path = file_join(place ? "." : folder, names[i]);
            if (path && file_exists(path)) return path;
            free(path);
        }
    return NULL;
}

/* The file's own: a GGUF's metadata, a Hugging Face folder's files. -ENOENT where it has none. */
static int open_own(Tokenizer **t, const Weights *w, const TokenizerOptions *o, char *err, size_t errlen) {
    TokenizerOptions own = *o;
    if (w->format == FORMAT_HF) return tokenizer_open_with(t, w->folder, o, err, errlen);
    if (w->format != FORMAT_GGUF || !weights_meta(w, "tokenizer.ggml.model"))
        return base_error(err, errlen, -ENOENT, "%s: no tokenizer in it, no tokenizer.bin beside it; give one with -z", w->path);
    Vocabulary v;
    int rc = vocabulary_from_weights(&v, w, err, errlen);
    if (rc == 0 && own.lower_case < 0) rc = vocabulary_number(&own.lower_case, w, "tokenizer.ggml.lower_case", 1, err, errlen);
    if (rc == 0) rc = tokenizer_from_vocabulary_with(t, &v, &own, w->path, err, errlen);
    vocabulary_free(&v);
    return rc;
}

int vocabulary_open(Tokenizer **t, const Weights *w, const char *given, size_t vocab_size, const TokenizerOptions *o, char *err,
                    size_t errlen) {
    TokenizerOptions with = o ? *o : (TokenizerOptions){.lower_case = -1};
    *t = NULL;
    if (!with.folder && !given) with.folder = w->folder;
    int rc = given ? tokenizer_open_with(t, given, &with, err, errlen) : open_own(t, w, &with, err, errlen);
    char *path = rc == -ENOENT && !given ? beside(w->folder) : NULL;
    if (path) rc = tokenizer_open_with(t, path, &with, err, errlen);
    free(path);
    if (rc || vocab_size == 0) return rc;
    size_t n = tokenizer_size(*t);
    if (n == vocab_size || (n < vocab_size && w->format != FORMAT_LLAMA2C)) return 0;
    tokenizer_free(*t);
    *t = NULL;
    return base_error(err, errlen, -EINVAL,
                      "the tokenizer has %zu pieces and the model %zu: they do not belong together (-z gives another)", n,
                      vocab_size);
}
