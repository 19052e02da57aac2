/* library/embed.c - a text as a vector, as `run embed` makes it (text/sentence.h). */
#include "library.h"

#include "base/base.h"
#include "model/roformer_kinds.h"
#include "text/sentence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_CONTEXT = 4096 };

struct RoformerEmbedder {
    Sentence sentence;
    Session session;
    Texts texts;
    size_t dimensions;
    char *prompt; /* what stands in front of a text; NULL: nothing */
    int pairs;    /* 1: a tab parts two texts (RoFormer's) */
};

static int take_task(RoformerEmbedder *e, const char *task, char *err, size_t errlen) {
    char known[600];
    const char *prompt = sentence_prompt(&e->sentence, task);
    sentence_tasks(&e->sentence, known, sizeof known);
    if (!prompt && !task)
        return base_error(err, errlen, -EINVAL, "the model's usual task \"%s\" has no prompt", e->sentence.usual);
    if (!prompt)
        return base_error(err, errlen, -EINVAL, "task: there is no \"%s\"; this model has %s", task,
                          *known ? known : "none");
    e->prompt = strdup(prompt);
    return e->prompt ? 0 : base_error(err, errlen, -ENOMEM, "out of memory");
}

static int take_options(RoformerEmbedder *e, const Model *m, const RoformerEmbedOptions *o, char *err, size_t errlen) {
    Sentence *x = &e->sentence;
    int how = o->pooling ? name_index(pooling_names, o->pooling) : (int)x->pooling;
    if (how < 0)
        return base_error(err, errlen, -EINVAL, "pooling: there is no \"%s\"; cls, mean, pooler and last are known",
                          o->pooling);
    if (x->unpooled && !o->pooling)
        return base_error(err, errlen, -EINVAL, "modules.json has no Pooling: pooling must be named");
    if (how == POOLING_POOLER && !(m->encoder && m->config.roformer.pooler != POOLER_NONE))
        return base_error(err, errlen, -EINVAL, "pooling: this model has no pooler; cls, mean and last need none");
    if (o->dimensions > x->width)
        return base_error(err, errlen, -EINVAL, "dimensions: this model's vectors have %zu entries, not %zu", x->width,
                          o->dimensions);
    x->pooling = (Pooling)how;
    if (o->normalize) x->normalize = 1;
    e->dimensions = o->dimensions ? o->dimensions : x->width;
    e->pairs = m->config.roformer.variant != ROFORMER_NONE;
    return take_task(e, o->task, err, errlen);
}

static int make(RoformerEmbedder *e, const RoformerModel *m, const RoformerEmbedOptions *o, char *err, size_t errlen) {
    int rc = library_needs_tokenizer(m, err, errlen);
    if (rc == 0) rc = library_threads(o->threads, err, errlen);
    if (rc == 0) rc = sentence_open(&e->sentence, &m->model, err, errlen);
    if (rc == 0) rc = take_options(e, &m->model, o, err, errlen);
    if (rc) return rc;
    size_t room = (size_t)m->model.config.n_ctx_train;
    if (!m->model.encoder && room > USUAL_CONTEXT) room = USUAL_CONTEXT;
    if (o->n_ctx) room = o->n_ctx;
    SessionOptions so = {.n_ctx = room, .n_batch = room, .threads = o->threads,
                         .cache = session_usual_cache(&m->model)};
    texts_init(&e->texts, m->tokenizer);
    e->texts.special = m->model.encoder != NULL; /* as transformers reads an encoder's */
    return session_init(&e->session, &m->model, &so, err, errlen);
}

int roformer_embedder_new(RoformerEmbedder **embedder, const RoformerModel *m, const RoformerEmbedOptions *options,
                          char *err, size_t errlen) {
    RoformerEmbedOptions o;
    *embedder = NULL;
    int rc = options_take(&o, sizeof o, options, err, errlen);
    RoformerEmbedder *e = rc ? NULL : calloc(1, sizeof *e);
    if (!e) return rc ? rc : base_error(err, errlen, -ENOMEM, "out of memory");
    Numerals n = numerals_begin();
    rc = make(e, m, &o, err, errlen);
    numerals_end(&n);
    if (rc) roformer_embedder_free(e);
    else *embedder = e;
    return rc;
}

void roformer_embedder_free(RoformerEmbedder *e) {
    if (!e) return;
    session_free(&e->session);
    texts_free(&e->texts);
    sentence_close(&e->sentence);
    free(e->prompt);
    free(e);
}

size_t roformer_width(const RoformerEmbedder *e) { return e->dimensions; }

/* The text behind the task's prompt, as one that is read. */
static int add_text(RoformerEmbedder *e, const char *text, size_t len, char *err, size_t errlen) {
    size_t n = strlen(e->prompt), all;
    char *whole = size_add(n, len, &all) && size_add(all, 1, &all) ? malloc(all) : NULL;
    if (!whole) return base_error(err, errlen, -ENOMEM, "out of memory");
    memcpy(whole, e->prompt, n);
    if (len) memcpy(whole + n, text, len);
    int rc = texts_add(&e->texts, whole, n + len, e->pairs, err, errlen);
    free(whole);
    return rc;
}

int roformer_embed(RoformerEmbedder *e, const char *text, size_t len, float *out, char *err, size_t errlen) {
    int rc = add_text(e, text, len, err, errlen);
    size_t n = rc ? 0 : e->texts.texts[0].n;
    if (rc == 0 && n > e->session.options.n_ctx)
        rc = base_error(err, errlen, -ENOSPC, "the text has %zu tokens, more than the context of %zu", n,
                        e->session.options.n_ctx);
    if (rc == 0) rc = encoder_read(&e->session, e->texts.texts, 1, err, errlen);
    if (rc == 0) sentence_vector(&e->sentence, &e->session, &e->texts, 0, e->dimensions, out);
    texts_clear(&e->texts);
    return rc;
}
