/* weights-tools/source_roformer.c - a RoFormer's checkpoint (describe.h) with its configuration and its vocab.txt. */
#include "source.h"

#include "model/files/huggingface.h"
#include "model/keys_more.h"
#include "sidecars.h"
#include "vocab.h"
#include "base/base.h"
#include "base/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- tokenizer_config.json: of what it may say a GGUF file of ours has a key for do_lower_case alone ---- */

#define ELSEWHERE "for which GGUF has no key: write the file with --no-tokenizer, and give run this folder with -z"

/* *value as the file has it, or -1 where it says nothing. */
static int flag_of(int *value, const Json *config, const char *key, const char *name, char *err, size_t errlen) {
    const JsonValue *v = json_get(config->root, key);
    *value = json_absent(v) ? -1 : v->boolean;
    if (*value < 0 || v->type == JSON_BOOL) return 0;
    return base_error(err, errlen, -EINVAL, "%s/tokenizer_config.json: %s is neither true nor false", name, key);
}

static int check_flags(const Json *config, int lower, const char *name, char *err, size_t errlen) {
    const struct { const char *key; int usual; } rows[] = {
        {"strip_accents", lower != 0}, {"tokenize_chinese_chars", 1}, {"do_basic_tokenize", 1}};
    int is, rc = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && rc == 0; i++) {
        rc = flag_of(&is, config, rows[i].key, name, err, errlen);
        if (rc == 0 && is >= 0 && is != rows[i].usual)
            rc = base_error(err, errlen, -EINVAL, "%s/tokenizer_config.json: %s is %s, " ELSEWHERE, name, rows[i].key,
                            is ? "true" : "false");
    }
    return rc;
}

static const char *const special[][2] = {{"cls_token", "[CLS]"}, {"sep_token", "[SEP]"}, {"pad_token", "[PAD]"},
                                         {"mask_token", "[MASK]"}, {"unk_token", "[UNK]"}};

static int is_special(const char *text) {
    for (int i = 0; i < 5; i++)
        if (strcmp(text, special[i][1]) == 0) return 1;
    return 0;
}

/* added_tokens.json, which folders are read with, too. */
static int check_added(const char *name, char *err, size_t errlen) {
    Json added;
    int rc = json_open_in(&added, name, "added_tokens.json", err, errlen);
    for (const JsonValue *v = rc == 0 && added.root ? added.root->child : NULL; v && rc == 0; v = v->next)
        if (v->key && !is_special(v->key))
            rc = base_error(err, errlen, -EINVAL, "%s/added_tokens.json: the token \"%.80s\", " ELSEWHERE, name,
                            v->key);
    json_free(&added);
    return rc;
}

/* The special tokens by their names, and those that were added. */
static int check_tokens(const Json *config, const char *name, char *err, size_t errlen) {
    const JsonValue *added = json_typed(config->root, "added_tokens_decoder", JSON_OBJECT);
    for (int i = 0; i < 5; i++) {
        const JsonValue *v = json_get(config->root, special[i][0]), *text = v && v->child ? json_get(v, "content") : v;
        if (text && text->type == JSON_STRING && !json_is(text, special[i][1]))
            return base_error(err, errlen, -EINVAL, "%s/tokenizer_config.json: %s is \"%.80s\", " ELSEWHERE, name,
                              special[i][0], text->str);
    }
    for (const JsonValue *v = added ? added->child : NULL; v; v = v->next) {
        const JsonValue *text = json_typed(v, "content", JSON_STRING);
        if (!text || !is_special(text->str))
            return base_error(err, errlen, -EINVAL, "%s/tokenizer_config.json: the added token %.20s, " ELSEWHERE, name,
                              v->key);
    }
    return 0;
}

/* *lower: do_lower_case, or -1. */
static int read_config(int *lower, const Source *s, const Report *r, char *err, size_t errlen) {
    Json config;
    const char *name = s->checkpoint.folder;
    int clean, rc = json_open_in(&config, name, "tokenizer_config.json", err, errlen);
    if (rc == 0 && config.root && config.root->type != JSON_OBJECT)
        rc = base_error(err, errlen, -EINVAL, "%s/tokenizer_config.json: not an object", name);
    if (rc == 0) rc = flag_of(lower, &config, "do_lower_case", name, err, errlen);
    if (rc == 0) rc = check_flags(&config, *lower, name, err, errlen);
    if (rc == 0) rc = check_tokens(&config, name, err, errlen);
    if (rc == 0) rc = check_added(name, err, errlen);
    if (rc == 0) rc = flag_of(&clean, &config, "clean_up_tokenization_spaces", name, err, errlen);
    if (rc == 0 && clean >= 0) /* transformers writes it beside every model, and no id depends on it */
        report_note(r, "left out: clean_up_tokenization_spaces of tokenizer_config.json, for which GGUF has no key");
    json_free(&config);
    return rc;
}

static int read_vocabulary(Source *s, const SourceWish *wish, const Report *r, char *err, size_t errlen) {
    static const char *const vocabs[] = {"vocab.txt"};
    MappedFile vocab = {.data = NULL};
    char *path;
    int lower;
    if (wish->no_tokenizer) return 0;
    if (sidecar_find(&path, wish->tokenizer, s->checkpoint.folder, vocabs, 1)) return source_no_memory(s, err, errlen);
    int rc = path ? file_map(&vocab, path, err, errlen)
                  : base_error(err, errlen, -ENOENT, "%s: no vocab.txt beside it: give one with --vocab", s->path);
    if (rc == 0) rc = read_config(&lower, s, r, err, errlen);
    if (rc == 0)
        rc = vocab_meta(&s->meta, (const char *)vocab.data, vocab.size, s->roformer.sizes.vocab, lower, path, err,
                        errlen);
    file_unmap(&vocab);
    free(path);
    return rc;
}

static int add_items(Source *s, char *err, size_t errlen) {
    int rc = describe_plan(&s->roformer, &s->plan, ROFORMER_IN_GGUF);
    for (size_t i = 0; i < s->plan.n && rc == 0; i++) {
        const Output *o = &s->plan.items[i];
        Item item = source_item(&o->view);
        rc = source_add(s, o->name, &item);
    }
    return rc ? source_no_memory(s, err, errlen) : 0;
}

/* RoPE as run reads it from config.json, into s->config and the description. */
static int read_rope(Source *s, char *err, size_t errlen) {
    static const Architecture roformer = {.name = "roformer"};
    Config *c = &s->config;
    KeyReader r = {.w = &s->weights, .source = &keys_hf, .arch = c->arch, .line = {s->weights.path, err, errlen, 0}};
    char why[200];
    c->rope.rotary_dim = c->head_dim = (int)s->roformer.key_length;
    c->n_ctx_train = (int64_t)s->roformer.n_ctx;
    c->vocab_size = (int)s->roformer.sizes.vocab;
    keys_hf.finish(&r, c, &roformer);
    if (r.line.rc == 0 && rope_check(&c->rope, why, sizeof why)) key_complain(&r, "rope", why);
    if (r.line.rc == 0 && c->rope.scaling->choice)
        key_complain(&r, "rope", "a method that changes with the text's length is not known for RoFormer");
    s->roformer.rotary_dim = c->rope.rotary_dim;
    s->roformer.rope_theta = c->rope.theta;
    return r.line.rc;
}

int source_roformer(Source *s, const SourceWish *wish, const Report *r, char *err, size_t errlen) {
    static const char *const configs[] = {"config.json", "bert_config.json"};
    char name[200], *path;
    int rc = source_refuse(s, wish, TAKES_CONFIG | TAKES_ROFORMER, err, errlen);
    if (rc) return rc;
    if (sidecar_find(&path, wish->config, s->checkpoint.folder, configs, 2)) return source_no_memory(s, err, errlen);
    rc = path ? huggingface_configs(&s->weights, path, NULL, err, errlen)
              : base_error(err, errlen, -ENOENT,
                    "%s: no config.json or bert_config.json beside it: give one with --config", s->path);
    if (rc == 0)
        rc = describe_open(&s->roformer, &s->checkpoint, s->weights.config, path, &wish->roformer, r, err, errlen);
    s->weights.path = weights_own(&s->weights, path, free);
    if (rc) return rc;
    Config *c = &s->config; /* what a mixture asks for */
    snprintf(c->arch, sizeof c->arch, "roformer");
    c->n_layers = s->roformer.n_layers;
    c->n_heads = c->n_kv_heads = s->roformer.n_heads;
    c->d_model = (int)s->roformer.sizes.d_model;
    rc = read_rope(s, err, errlen);
    if (rc) return rc;
    source_name(wish, s->checkpoint.folder, "roformer", name, sizeof name);
    describe_meta(&s->roformer, &s->meta, name);
    rc = source_rope(s, "roformer", err, errlen);
    if (rc == 0) rc = add_items(s, err, errlen);
    return rc ? rc : read_vocabulary(s, wish, r, err, errlen);
}
