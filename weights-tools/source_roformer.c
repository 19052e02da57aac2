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

/* tokenizer_config.json's do_lower_case, or -1. */
static int lower_case(int *lower, const Source *s, char *err, size_t errlen) {
    Json config;
    int rc = json_open_in(&config, s->checkpoint.folder, "tokenizer_config.json", err, errlen);
    *lower = json_flag(config.root, "do_lower_case", -1);
    json_free(&config);
    return errno_is_passing(rc) ? rc : 0; /* a broken one says nothing */
}

static int read_vocabulary(Source *s, const SourceWish *wish, char *err, size_t errlen) {
    static const char *const vocabs[] = {"vocab.txt"};
    MappedFile vocab = {.data = NULL};
    char *path;
    int lower;
    if (wish->no_tokenizer) return 0;
    if (sidecar_find(&path, wish->tokenizer, s->checkpoint.folder, vocabs, 1)) return source_no_memory(s, err, errlen);
    int rc = path ? file_map(&vocab, path, err, errlen)
                  : base_error(err, errlen, -ENOENT, "%s: no vocab.txt beside it: give one with --vocab", s->path);
    if (rc == 0) rc = lower_case(&lower, s, err, errlen);
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
    return rc ? rc : read_vocabulary(s, wish, err, errlen);
}
