/* tokenizer/folder.c - a Hugging Face folder: which file holds the vocabulary, and what the JSON files beside it change.
 *
 *   tokenizer_config.json   add_bos_token, add_eos_token, add_prefix_space; bos_token, eos_token; added_tokens_decoder
 *                           of WordPiece: do_lower_case, strip_accents, tokenize_chinese_chars, do_basic_tokenize,
 *                           clean_up_tokenization_spaces; cls_token, sep_token, unk_token, pad_token, mask_token
 *   added_tokens.json       {"<text>": id}, the older way to say the same; nothing here says which are special, so none is */
#include "wordpiece.h"

#include "../base/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ADDED = 65536 }; /* ids that added tokens may reach beyond the model's: bounds what a JSON file can allocate */

char *folder_first(const char *folder, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++) {
        char *path = file_join(folder, names[i]);
        if (path && file_exists(path)) return path;
        free(path);
    }
    return NULL;
}

char *folder_find(const char *folder, const char **other) {
    static const char *const known[] = {"tokenizer.model", "spiece.model", "tokenizer.bin", "vocab.txt"};
    static const char *const later[] = {"tokenizer.json", "vocab.json", "sentencepiece.bpe.model", "tekken.json"};
    *other = NULL;
    char *path = folder_first(folder, known, sizeof known / sizeof *known);
    for (size_t i = 0; i < sizeof later / sizeof *later && !path && !*other; i++) {
        char *there = folder_first(folder, &later[i], 1);
        if (there) *other = later[i];
        free(there);
    }
    return path;
}

static int piece_is(const Tokenizer *t, size_t id, const char *text, size_t len) {
    const Entry *e = &t->pieces[id];
    return e->len == len && memcmp(t->bytes + e->start, text, len) == 0;
}

/* Token text takes id. Ids beyond the model's pieces grow the vocabulary; an id among them gets another text. */
static int add_token(Tokenizer *t, size_t n_model, double id, const char *text, size_t len, int special, const char *name,
                     char *err, size_t errlen) {
    if (!(id >= 0) || id != floor(id) || id >= (double)n_model + MAX_ADDED || id >= INT32_MAX)
        return base_error(err, errlen, -EINVAL, "%s: an added token has the id %g, where the model has %zu pieces", name, id, n_model);
    if (len == 0) return base_error(err, errlen, -EINVAL, "%s: the added token %g is empty", name, id);
    int kind = special ? PIECE_CONTROL : PIECE_ADDED;
    size_t i = (size_t)id;
    while (t->n <= i) {
        int rc = pieces_add(t, "", 0, 0, PIECE_ADDED, err, errlen);
        if (rc) return rc;
    }
    if (i < n_model && piece_is(t, i, text, len) && t->pieces[i].kind != PIECE_NORMAL) return 0; /* the model knows better what it is */
    return pieces_rename(t, (int)i, text, len, kind, err, errlen);
}

static int boolean_setting(const JsonValue *root, const char *key, int *out, const char *name, char *err, size_t errlen) {
    const JsonValue *v = json_get(root, key);
    if (!v || v->type == JSON_NULL) return 0;
    if (v->type != JSON_BOOL) return base_error(err, errlen, -EINVAL, "%s: %s is neither true nor false", name, key);
    *out = v->boolean;
    return 0;
}

/* "bos_token": "<s>", or an object whose content says so. */
static void token_setting(const Tokenizer *t, const JsonValue *root, const char *key, int *id) {
    const JsonValue *v = json_get(root, key);
    if (v && v->type == JSON_OBJECT) v = json_get(v, "content");
    if (!v || v->type != JSON_STRING || v->len == 0) return;
    int found = pieces_named(t, v->str, v->len);
    if (found >= 0) *id = found;
}

static int decoder_tokens(Tokenizer *t, size_t n_model, const JsonValue *root, const char *name, char *err, size_t errlen) {
    const JsonValue *all = json_get(root, "added_tokens_decoder");
    if (!all || all->type != JSON_OBJECT) return 0;
    for (const JsonValue *v = all->child; v; v = v->next) {
        const JsonValue *content = json_get(v, "content"), *special = json_get(v, "special");
        char *end;
        double id = strtod(v->key, &end);
        if (*end || end == v->key || !content || content->type != JSON_STRING)
            return base_error(err, errlen, -EINVAL, "%s: added_tokens_decoder: \"%s\" is no id or has no content", name, v->key);
        int rc = add_token(t, n_model, id, content->str, content->len, special && special->type == JSON_BOOL && special->boolean,
                           name, err, errlen);
        if (rc) return rc;
    }
    return 0;
}

static int wordpiece_settings(Tokenizer *t, const JsonValue *root, const char *name, char *err, size_t errlen) {
    struct WordPiece *w = t->wordpiece;
    int rc = boolean_setting(root, "do_lower_case", &w->do_lower_case, name, err, errlen);
    if (rc == 0) rc = boolean_setting(root, "strip_accents", &w->strip_accents, name, err, errlen);
    if (rc == 0) rc = boolean_setting(root, "tokenize_chinese_chars", &w->tokenize_chinese_chars, name, err, errlen);
    if (rc == 0) rc = boolean_setting(root, "do_basic_tokenize", &w->do_basic_tokenize, name, err, errlen);
    if (rc == 0) rc = boolean_setting(root, "clean_up_tokenization_spaces", &w->clean_up, name, err, errlen);
    if (rc) return rc;
    token_setting(t, root, "cls_token", &t->bos);
    token_setting(t, root, "sep_token", &t->eos);
    token_setting(t, root, "unk_token", &t->unk);
    token_setting(t, root, "pad_token", &w->pad);
    token_setting(t, root, "mask_token", &w->mask);
    return 0;
}

static int config_settings(Tokenizer *t, const char *path, size_t n_model, char *err, size_t errlen) {
    Json j;
    int rc = json_open(&j, path, err, errlen);
    if (rc) return rc;
    rc = decoder_tokens(t, n_model, j.root, path, err, errlen);
    if (rc == 0 && t->wordpiece) {
        rc = wordpiece_settings(t, j.root, path, err, errlen);
        json_free(&j);
        return rc;
    }
    if (rc == 0) rc = boolean_setting(j.root, "add_bos_token", &t->add_bos, path, err, errlen);
    if (rc == 0) rc = boolean_setting(j.root, "add_eos_token", &t->add_eos, path, err, errlen);
    if (rc == 0) rc = boolean_setting(j.root, "add_prefix_space", &t->dummy_prefix, path, err, errlen);
    if (rc == 0) {
        token_setting(t, j.root, "bos_token", &t->bos);
        token_setting(t, j.root, "eos_token", &t->eos);
    }
    json_free(&j);
    return rc;
}

static int added_settings(Tokenizer *t, const char *path, size_t n_model, char *err, size_t errlen) {
    Json j;
    int rc = json_open(&j, path, err, errlen);
    if (rc) return rc;
    if (j.root->type != JSON_OBJECT) rc = base_error(err, errlen, -EINVAL, "%s: not an object", path);
    for (const JsonValue *v = rc ? NULL : j.root->child; v && rc == 0; v = v->next) {
        if (v->type != JSON_NUMBER) rc = base_error(err, errlen, -EINVAL, "%s: \"%s\" has no id", path, v->key);
        else if (!(v->number >= 0 && v->number < (double)t->n && piece_is(t, (size_t)v->number, v->key, v->key_len)))
            rc = add_token(t, n_model, v->number, v->key, v->key_len, 0, path, err, errlen);
    }
    json_free(&j);
    return rc;
}

typedef int Apply(Tokenizer *t, const char *path, size_t n_model, char *err, size_t errlen);

static int apply(Tokenizer *t, const char *folder, const char *file, size_t n_model, Apply *f, char *err, size_t errlen) {
    char *path = file_join(folder, file);
    if (!path) return base_error(err, errlen, -ENOMEM, "%s: no memory", folder);
    int rc = file_exists(path) ? f(t, path, n_model, err, errlen) : 0;
    free(path);
    return rc;
}

int folder_settings(Tokenizer *t, const char *folder, char *err, size_t errlen) {
    size_t n_model = t->n;
    int rc = apply(t, folder, "added_tokens.json", n_model, added_settings, err, errlen);
    return rc ? rc : apply(t, folder, "tokenizer_config.json", n_model, config_settings, err, errlen);
}
