/* tokenizer/folder.c - a Hugging Face folder: which file holds the vocabulary, and what the JSON files beside it
 * change.
 *
 *   tokenizer_config.json   add_bos_token, add_eos_token, add_prefix_space; bos_token, eos_token; added_tokens_decoder
 *                           of WordPiece: do_lower_case, strip_accents, tokenize_chinese_chars, do_basic_tokenize,
 *                           clean_up_tokenization_spaces; cls_token, sep_token, unk_token, pad_token, mask_token
 *                           of a pipeline: bos_token, eos_token, and where it has no template add_bos_token,
 *                           add_eos_token; where no tokenizer.json says it all: added_tokens_decoder,
 *                           add_prefix_space, tokenizer_class
 *                           of SentencePiece: tokenizer_class, for what it adds, and a T5's extra_ids
 *   special_tokens_map.json bos_token, eos_token of SentencePiece, which outrank the other's where that has no
 *                           added_tokens_decoder, as in transformers
 *   added_tokens.json       {"<text>": id}, the older way to say the same; nothing here says which are special, so none
 *   is */
#include "folder.h"

#include "names.h"
#include "special.h"
#include "tokenizer/pipeline/tokenizer_json.h"
#include "tokenizer/wordpiece/wordpiece.h"
#include "base/base.h"
#include "base/paths.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ids that added tokens may reach beyond the model's: bounds what a JSON file can allocate */
enum { MAX_ADDED = 65536 };

/* The first file of that ending: *path malloc'ed, or NULL. 0 or a negative errno. */
static int ending_with(char **path, const char *folder, const char *ending) {
    DIR *d = opendir(folder);
    struct dirent *e = NULL;
    char best[sizeof e->d_name] = "";
    int rc = d || !errno_is_passing(-errno) ? 0 : -errno;
    *path = NULL;
    while (d && (errno = 0, e = readdir(d)))
        if (text_ends_with(e->d_name, ending) && (!*best || strcmp(best, e->d_name) > 0))
            memcpy(best, e->d_name, strlen(e->d_name) + 1);
    if (d && errno) rc = -errno;
    if (d) closedir(d);
    if (rc == 0 && *best && !(*path = file_join(folder, best))) rc = -ENOMEM;
    return rc;
}

/* A vocab.txt counts where it is WordPiece's. */
static int vocab_txt(char **path, const char *folder) {
    static const char *const name[] = {"vocab.txt"};
    MappedFile f;
    int rc = file_find(path, folder, name, 1, file_there), is = 0;
    if (rc == 0 && *path && (rc = file_map(&f, *path, NULL, 0)) == 0) {
        is = wordpiece_vocab_is(f.data, f.size);
        file_unmap(&f);
    }
    if (!is) free(*path), *path = NULL;
    return errno_is_passing(rc) ? rc : 0;
}

/* *is = 1 where this JSON file of the folder says a RoFormer's name under key. 0, or an errno_is_passing. */
static int names_roformer(int *is, const char *folder, const char *file, const char *key) {
    Json j;
    int rc = json_open_in(&j, folder, file, NULL, 0);
    const JsonValue *v = json_typed(j.root, key, JSON_STRING);
    if (v && (strncmp(v->str, "roformer", 8) == 0 || strncmp(v->str, "RoFormer", 8) == 0)) *is = 1;
    json_free(&j);
    return errno_is_passing(rc) ? rc : 0;
}

/* A tokenizer.json beside vocab.txt says more, and is what transformers reads; but of jieba's words it knows nothing:
 * those of a RoFormer, or where the dictionary lies beside. */
static int prefer_json(char **path, const char *folder) {
    static const char *const name[] = {"tokenizer.json"};
    char *json, *dictionary = NULL;
    int roformer = 0, rc = file_find(&json, folder, name, 1, file_there);
    if (json) rc = file_find(&dictionary, folder, jieba_names, 3, file_there);
    if (json && rc == 0) rc = names_roformer(&roformer, folder, "config.json", "model_type");
    if (json && rc == 0) rc = names_roformer(&roformer, folder, "tokenizer_config.json", "tokenizer_class");
    if (json && rc == 0 && !roformer && !dictionary) {
        free(*path);
        *path = json;
    } else free(json);
    free(dictionary);
    return rc;
}

/* Jieba cuts a RoFormerTokenizer's words, but what it saves as tokenizer.json has BERT's cuts in that place;
 * transformers puts jieba back. */
static int refuse_placeholder(FolderFiles *f, const char *folder) {
    int roformer = 0, rc = 0;
    if (f->vocabulary && text_ends_with(f->vocabulary, "tokenizer.json"))
        rc = names_roformer(&roformer, folder, "tokenizer_config.json", "tokenizer_class");
    if (!roformer) return rc;
    free(f->vocabulary);
    f->vocabulary = NULL;
    f->other = "a RoFormerTokenizer's tokenizer.json, which leaves out jieba (put the model's vocab.txt beside it)";
    return rc;
}

static int find_files(FolderFiles *f, const char *folder, int words) {
    static const char *const single[] = {"tokenizer.json", "tokenizer.model", "spiece.model", "tokenizer.bin",
                                         "tekken.json"};
    static const char *const pairs[][2] = {{"vocab.json", "merges.txt"}, {"encoder.json", "vocab.bpe"}};
    static const char *const later[] = {"vocab.txt", "vocab.json", "sentencepiece.bpe.model"};
    int rc = vocab_txt(&f->vocabulary, folder);
    if (rc == 0 && f->vocabulary && !words) rc = prefer_json(&f->vocabulary, folder);
    if (rc == 0 && !f->vocabulary)
        rc = file_find(&f->vocabulary, folder, single, sizeof single / sizeof *single, file_there);
    if (rc == 0) rc = refuse_placeholder(f, folder);
    if (rc || f->other) return rc;
    for (size_t i = 0; i < 2 && rc == 0 && !f->vocabulary; i++) {
        rc = file_find(&f->merges, folder, &pairs[i][1], 1, file_there);
        if (rc == 0 && f->merges) rc = file_find(&f->vocabulary, folder, &pairs[i][0], 1, file_there);
        if (!f->vocabulary) free(f->merges), f->merges = NULL;
    }
    if (rc == 0 && !f->vocabulary) rc = ending_with(&f->vocabulary, folder, ".tiktoken");
    for (size_t i = 0; i < sizeof later / sizeof *later && rc == 0 && !f->vocabulary && !f->other; i++) {
        char *there;
        rc = file_find(&there, folder, &later[i], 1, file_there);
        if (there) f->other = later[i];
        free(there);
    }
    return rc;
}

int folder_find(FolderFiles *f, const char *folder, int words) {
    *f = (FolderFiles){.merges = NULL};
    int rc = find_files(f, folder, words);
    if (rc) folder_files_free(f);
    return rc;
}

void folder_files_free(FolderFiles *f) {
    free(f->vocabulary);
    free(f->merges);
    *f = (FolderFiles){.merges = NULL};
}

static int piece_is(const Tokenizer *t, size_t id, const char *text, size_t len) {
    const Entry *e = &t->pieces[id];
    return e->len == len && memcmp(t->bytes + e->start, text, len) == 0;
}

/* An added token's id and text, where the model has so many pieces. */
static int check_token(double id, size_t len, size_t n_model, const char *name, char *err, size_t errlen) {
    double end = fmin((double)n_model + MAX_ADDED, INT32_MAX);
    if (!(id >= 0 && id == floor(id) && id < end))
        return base_error(err, errlen, -EINVAL,
                          "%s: an added token has the id %.17g, where the model has %zu pieces and whole numbers below "
                          "%.0f are read", name, id, n_model, end);
    return len ? 0 : base_error(err, errlen, -EINVAL, "%s: the added token %.0f is empty", name, id);
}

/* A token beside vocab.json and merges.txt, with its attributes (v may be NULL). */
static int pipeline_token(Tokenizer *t, size_t n_model, double id, const char *text, size_t len, const JsonValue *v,
                          const char *name, char *err, size_t errlen) {
    int rc = check_token(id, len, n_model, name, err, errlen);
    if (rc) return rc;
    int there = pieces_find(t, text, len);
    /* another file named it */
    if (there >= 0 && (t->pieces[there].kind == PIECE_CONTROL || t->pieces[there].kind == PIECE_ADDED)) return 0;
    AddedToken token = {.special = json_flag(v, "special", 0), .single_word = json_flag(v, "single_word", 0),
                        .lstrip = json_flag(v, "lstrip", 0), .rstrip = json_flag(v, "rstrip", 0),
                        .normalized = json_flag(v, "normalized", 0)};
    return json_add_token(t, (int)id, text, len, token, err, errlen);
}

/* Token text takes id. Ids beyond the model's pieces grow the vocabulary; an id among them gets another text. */
static int add_token(Tokenizer *t, size_t n_model, double id, const char *text, size_t len, int special,
                     const char *name, char *err, size_t errlen) {
    int kind = special ? PIECE_CONTROL : PIECE_ADDED, rc = check_token(id, len, n_model, name, err, errlen);
    size_t i = rc ? 0 : (size_t)id;
    while (rc == 0 && t->n <= i) rc = pieces_add(t, "", 0, 0, PIECE_ADDED, err, errlen);
    if (rc) return rc;
    /* the model knows better what it is */
    if (i < n_model && piece_is(t, i, text, len) && t->pieces[i].kind != PIECE_NORMAL) return 0;
    return pieces_rename(t, (int)i, text, len, kind, err, errlen);
}

static int boolean_setting(const JsonValue *root, const char *key, int *out, const char *name, char *err,
                           size_t errlen) {
    const JsonValue *v = json_get(root, key);
    if (json_absent(v)) return 0;
    if (v->type != JSON_BOOL) return base_error(err, errlen, -EINVAL, "%s: %s is neither true nor false", name, key);
    *out = v->boolean;
    return 0;
}

/* "bos_token": "<s>", or an object whose content says so; or NULL. */
static const JsonValue *token_text(const JsonValue *root, const char *key) {
    const JsonValue *object = json_typed(root, key, JSON_OBJECT),
                    *v = json_typed(object ? object : root, object ? "content" : key, JSON_STRING);
    return v && v->len ? v : NULL;
}

static void token_setting(const Tokenizer *t, const JsonValue *root, const char *key, int *id) {
    const JsonValue *v = token_text(root, key);
    int found = v ? pieces_named(t, v->str, v->len) : -1;
    if (found >= 0) *id = found;
}

/* What a token asks of the text around it, where only a pipeline's tokens are found so; or NULL. That a token takes the
 * spaces around it changes nothing for WordPiece, whose words end there. */
static const char *asks(const Tokenizer *t, const JsonValue *v) {
    static const char *const keys[] = {"single_word", "lstrip", "rstrip"};
    for (int i = 0; i < (wordpiece_of(t) ? 1 : 3); i++)
        if (json_flag(v, keys[i], 0)) return keys[i];
    return NULL;
}

static int decoder_tokens(Tokenizer *t, size_t n_model, const JsonValue *root, const char *name, char *err,
                          size_t errlen) {
    const JsonValue *all = json_get(root, "added_tokens_decoder");
    if (!json_absent(all) && all->type != JSON_OBJECT)
        return base_error(err, errlen, -EINVAL, "%s: added_tokens_decoder is no object", name);
    for (const JsonValue *v = all ? all->child : NULL; v; v = v->next) {
        const JsonValue *content = json_typed(v, "content", JSON_STRING);
        double id = strtod(v->key, NULL);
        if (v->key_len == 0 || strspn(v->key, "0123456789") != v->key_len || !content)
            return base_error(err, errlen, -EINVAL, "%s: added_tokens_decoder: \"%.80s\" is no id or has no content",
                              name, v->key);
        const char *key = pipeline_of(t) ? NULL : asks(t, v);
        if (key)
            return base_error(err, errlen, -EINVAL,
                              "%s: the added token \"%.80s\" says %s, which is read of tokenizer.json only", name,
                              content->str, key);
        int rc = pipeline_of(t) ? pipeline_token(t, n_model, id, content->str, content->len, v, name, err, errlen)
                             : add_token(t, n_model, id, content->str, content->len, json_flag(v, "special", 0), name,
                                         err, errlen);
        if (rc) return rc;
    }
    return 0;
}

static int wordpiece_settings(Tokenizer *t, const JsonValue *root, const char *name, char *err, size_t errlen) {
    struct WordPiece *w = t->own;
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

/* What a tokenizer.json says by its template and its pre-tokenizer, other files of its kind leave to this one. */
static int pipeline_settings(Tokenizer *t, const JsonValue *root, const char *name, char *err, size_t errlen) {
    struct Pipeline *p = t->own;
    int space = 0, rc = boolean_setting(root, "add_bos_token", &t->add_bos, name, err, errlen);
    if (rc == 0) rc = boolean_setting(root, "add_eos_token", &t->add_eos, name, err, errlen);
    if (rc == 0 && !p->whole) rc = boolean_setting(root, "add_prefix_space", &space, name, err, errlen);
    if (rc == 0 && space && pipeline_space_first(p)) rc = base_error(err, errlen, -ENOMEM, "%s: no memory", name);
    if (rc) return rc;
    token_setting(t, root, "bos_token", &t->bos);
    token_setting(t, root, "eos_token", &t->eos);
    return 0;
}

/* ---- of SentencePiece ---- */

/* These put ids in front of the model's, behind them, or around a text; no file says so, transformers' code does. */
static int refuse_class(const JsonValue *class, const char *name, char *err, size_t errlen) {
    static const char *const other[] = {"Pegasus", "XLNet", "BigBird", "FNet", "Reformer", "BertGeneration", "GPTSw3"};
    for (size_t i = 0; class && i < sizeof other / sizeof *other; i++) {
        size_t n = strlen(other[i]);
        if (strncmp(class->str, other[i], n) == 0 && strncmp(class->str + n, "Tokenizer", 9) == 0)
            return base_error(err, errlen, -EINVAL,
                              "%s: tokenizer_class %.80s gives other ids than its model's file: this kind is not read "
                              "yet", name, class->str);
    }
    return 0;
}

/* A T5's <extra_id_0> .. stand behind the model's pieces, the last of them first; 100 where nothing is said. */
static int extra_ids(Tokenizer *t, size_t n_model, const JsonValue *root, const char *name, char *err, size_t errlen) {
    const JsonValue *class = json_typed(root, "tokenizer_class", JSON_STRING), *v = json_get(root, "extra_ids");
    if (!json_is(class, "T5Tokenizer") && !json_is(class, "T5TokenizerFast")) return 0;
    if (v && v->type != JSON_NUMBER) return base_error(err, errlen, -EINVAL, "%s: extra_ids is no number", name);
    double n = v ? v->number : 100;
    int rc = 0;
    for (int i = 0; i < n && rc == 0; i++) {
        char text[40];
        int len = snprintf(text, sizeof text, "<extra_id_%d>", i);
        rc = add_token(t, n_model, (double)n_model + n - 1 - i, text, (size_t)len, 1, name, err, errlen);
    }
    return rc;
}

/* BOS or EOS. One that no piece spells would get an id behind all others, of which the model knows nothing. */
static int end_token(const Tokenizer *t, const JsonValue *root, const char *key, int *id, char *err, size_t errlen) {
    const JsonValue *v = token_text(root, key);
    int found = v ? pieces_named(t, v->str, v->len) : *id;
    if (v && found < 0)
        return base_error(err, errlen, -EINVAL, "%s: no piece is \"%.80s\", the %s of the JSON files beside it",
                          t->name, v->str, key);
    *id = found;
    return 0;
}

/* map: special_tokens_map.json where it counts, else NULL. */
static int model_settings(Tokenizer *t, size_t n_model, const JsonValue *root, const JsonValue *map, const char *name,
                          char *err, size_t errlen) {
    const JsonValue *bos = json_get(map, "bos_token") ? map : root, *eos = json_get(map, "eos_token") ? map : root;
    int rc = refuse_class(json_typed(root, "tokenizer_class", JSON_STRING), name, err, errlen);
    if (rc == 0 && !json_typed(root, "added_tokens_decoder", JSON_OBJECT))
        rc = extra_ids(t, n_model, root, name, err, errlen);
    if (rc == 0) rc = boolean_setting(root, "add_bos_token", &t->add_bos, name, err, errlen);
    if (rc == 0) rc = boolean_setting(root, "add_eos_token", &t->add_eos, name, err, errlen);
    if (rc == 0) rc = boolean_setting(root, "add_prefix_space", &t->dummy_prefix, name, err, errlen);
    if (rc == 0) rc = end_token(t, bos, "bos_token", &t->bos, err, errlen);
    return rc ? rc : end_token(t, eos, "eos_token", &t->eos, err, errlen);
}

/* ---- the files ---- */

/* Which pre-tokenizer a class of transformers has, of those that come with vocab.json and merges.txt. */
static const char *pre_of_class(const JsonValue *class) {
    static const char *const known[][2] = {
        {"GPT2Tokenizer", "gpt-2"}, {"CodeGenTokenizer", "gpt-2"}, {"WhisperTokenizer", "gpt-2"},
        {"Qwen2Tokenizer", "qwen2"}, {"Qwen3_5Tokenizer", "qwen35"}, {"GPTNeoXTokenizer", "gpt-2"},
        {"CohereTokenizer", "command-r"}};
    for (size_t i = 0; class && i < sizeof known / sizeof *known; i++) {
        size_t n = strlen(known[i][0]);
        if (strncmp(class->str, known[i][0], n) == 0 && (!class->str[n] || strcmp(class->str + n, "Fast") == 0))
            return known[i][1];
    }
    return NULL;
}

int folder_class(const char *folder, const char **pre, char *err, size_t errlen) {
    Json j;
    int rc = json_open_in(&j, folder, "tokenizer_config.json", err, errlen);
    *pre = pre_of_class(json_typed(j.root, "tokenizer_class", JSON_STRING));
    json_free(&j);
    return rc;
}

/* A folder's file, which holds an object: 0 and j->root NULL where there is none. *path: malloc'ed; free it, and j, in
 * any case. */
static int open_object(Json *j, char **path, const char *folder, const char *file, char *err, size_t errlen) {
    int rc = json_open_in(j, folder, file, err, errlen);
    *path = file_join(folder, file);
    if (rc == 0 && !*path) rc = base_error(err, errlen, -ENOMEM, "%s: no memory", folder);
    if (rc || !j->root || j->root->type == JSON_OBJECT) return rc;
    return base_error(err, errlen, -EINVAL, "%s: not an object", *path);
}

static int config_settings(Tokenizer *t, const char *folder, size_t n_model, char *err, size_t errlen) {
    Json j, map = {.root = NULL};
    char *path, *map_path = NULL;
    const struct Pipeline *p = pipeline_of(t);
    int words = wordpiece_of(t) != NULL, rc = open_object(&j, &path, folder, "tokenizer_config.json", err, errlen);
    if (rc == 0 && !(p && p->whole)) rc = decoder_tokens(t, n_model, j.root, path, err, errlen);
    if (rc == 0 && !p && !words && !json_typed(j.root, "added_tokens_decoder", JSON_OBJECT))
        rc = open_object(&map, &map_path, folder, "special_tokens_map.json", err, errlen);
    if (rc == 0)
        rc = p ? pipeline_settings(t, j.root, path, err, errlen)
           : words ? wordpiece_settings(t, j.root, path, err, errlen)
           : model_settings(t, n_model, j.root, map.root, path, err, errlen);
    json_free(&j);
    json_free(&map);
    free(path);
    free(map_path);
    return rc;
}

static int added_settings(Tokenizer *t, const char *folder, size_t n_model, char *err, size_t errlen) {
    Json j;
    char *path;
    int rc = open_object(&j, &path, folder, "added_tokens.json", err, errlen);
    for (const JsonValue *v = j.root && rc == 0 ? j.root->child : NULL; v && rc == 0; v = v->next) {
        if (v->type != JSON_NUMBER) rc = base_error(err, errlen, -EINVAL, "%s: \"%.80s\" has no id", path, v->key);
        else if (!(v->number >= 0 && v->number < (double)t->n && piece_is(t, (size_t)v->number, v->key, v->key_len)))
            rc = pipeline_of(t) ? pipeline_token(t, n_model, v->number, v->key, v->key_len, NULL, path, err, errlen)
                             : add_token(t, n_model, v->number, v->key, v->key_len, 0, path, err, errlen);
    }
    json_free(&j);
    free(path);
    return rc;
}

int folder_settings(Tokenizer *t, const char *folder, char *err, size_t errlen) {
    size_t n_model = t->n;
    const struct Pipeline *p = pipeline_of(t);
    int rc = p ? 0 : added_settings(t, folder, n_model, err, errlen);
    if (rc == 0) rc = config_settings(t, folder, n_model, err, errlen);
    if (rc || !p || p->whole) return rc;
    /* a pipeline's tokens are first those of tokenizer_config.json, which knows their attributes */
    if (p->n_added) rc = special_finish(t, err, errlen); /* so that the next file's find themselves among them */
    if (rc == 0) rc = added_settings(t, folder, n_model, err, errlen);
    return rc || p->n_added == 0 ? rc : special_finish(t, err, errlen); /* some may be longer than every piece */
}
