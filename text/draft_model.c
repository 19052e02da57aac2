/* text/draft_model.c - see draft_model.h. */
#include "draft_model.h"

#include "base/base.h"
#include "model/timeline.h"
#include "tokenizer/inspect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct DraftModel {
    Session session;
    Sampler sampler;
    int *ids;                 /* [n]: what the session has read, with room for cap */
    size_t n, cap, marked;    /* marked: how many of them the mark knows */
    size_t vocab;             /* of who draws */
    void *mark;               /* where session_rewind goes back to nothing alone; else NULL */
};

int draft_model_new(DraftModel **draft, const Model *m, size_t n_ctx, int threads, const Sampler *sampler, char *err,
                    size_t errlen) {
    DraftModel *d = *draft = calloc(1, sizeof *d);
    if (!d) return base_error(err, errlen, -ENOMEM, "out of memory");
    SessionOptions o = {.n_ctx = n_ctx, .threads = threads, .cache = session_usual_cache(m)};
    int rc = session_init(&d->session, m, &o, err, errlen);
    size_t bytes = rc ? 0 : session_mark_bytes(&d->session);
    SamplerOptions so = sampler->options;
    d->vocab = sampler->vocab_size;
    if ((size_t)m->config.vocab_size != d->vocab) so.more = NULL; /* its arrays are as long as the vocabulary */
    if (rc == 0) rc = sampler_init(&d->sampler, (size_t)m->config.vocab_size, &so, err, errlen);
    if (rc == 0 && bytes && !(d->mark = malloc(bytes))) rc = base_error(err, errlen, -ENOMEM, "out of memory");
    if (rc == 0) return 0;
    draft_model_free(d);
    *draft = NULL;
    return rc;
}

void draft_model_free(DraftModel *d) {
    if (!d) return;
    session_free(&d->session);
    sampler_free(&d->sampler);
    free(d->ids);
    free(d->mark);
    free(d);
}

/* The session has read the first n of the ids that it has, or fewer. */
static void go_back(DraftModel *d, size_t n) {
    if (n >= d->n) return;
    if (session_rewind(&d->session, n) == 0) {
        d->n = n;
    } else if (n >= d->marked && d->marked) {
        session_return(&d->session, d->mark, d->marked);
        d->n = d->marked;
    } else {
        session_rewind(&d->session, 0);
        d->n = d->marked = 0;
    }
}

/* Read on, to the first n of ids. 0, or negative. */
static int read_to(DraftModel *d, const int *ids, size_t n, const float **logits) {
    char err[300];
    if (n > d->session.options.n_ctx || array_reserve(&d->ids, &d->cap, n, sizeof *ids)) return -ENOSPC;
    memmove(d->ids + d->n, ids + d->n, (n - d->n) * sizeof *ids); /* ids may be d's own */
    int rc = session_eval(&d->session, ids + d->n, n - d->n, logits, err, sizeof err);
    if (rc) session_rewind(&d->session, 0), d->n = d->marked = 0;
    else d->n = n;
    return rc;
}

static size_t common(const DraftModel *d, const int *ids, size_t n) {
    size_t same = 0;
    while (same < n && same < d->n && d->ids[same] == ids[same]) same++;
    return same;
}

/* A prompt, or what came while there were no guesses. */
static void model_follow(void *arg, const int *ids, size_t n) {
    enum { MANY = 8 };
    DraftModel *d = arg;
    go_back(d, common(d, ids, n - 1));
    if (n - d->n > MANY && read_to(d, ids, n - 1, &(const float *){NULL}) == 0 && d->mark)
        session_mark(&d->session, d->mark), d->marked = d->n;
}

static size_t model_guess(void *arg, const Sampler *sampler, const int *ids, size_t n, int *guesses, size_t most,
                          int *kind) {
    DraftModel *d = arg;
    const float *logits;
    size_t k = 0;
    *kind = 0;
    go_back(d, common(d, ids, n - 1)); /* the last id once more, for its logits */
    if (read_to(d, ids, n, &logits)) return 0;
    if (d->mark) session_mark(&d->session, d->mark), d->marked = n;
    if (array_reserve(&d->ids, &d->cap, n + most, sizeof *ids)) return 0;
    d->sampler.rng = sampler->rng;
    for (;;) {
        d->ids[n + k] = guesses[k] = sampler_next(&d->sampler, logits, d->ids, n + k);
        if ((size_t)guesses[k] >= d->vocab) return k; /* its table is the longer one */
        if (++k == most || read_to(d, d->ids, n + k, &logits)) return k;
    }
}

Draft draft_model_draft(DraftModel *d) {
    return (Draft){.guess = model_guess, .follow = model_follow, .arg = d, .usual = {0.7}};
}

int same_vocabulary(const Tokenizer *a, const Tokenizer *b) {
    size_t n = tokenizer_size(a) < tokenizer_size(b) ? tokenizer_size(a) : tokenizer_size(b);
    for (size_t i = 0; i < n; i++) {
        size_t n_a = 0, n_b = 0;
        const char *x = tokenizer_piece(a, (int)i, &n_a), *y = tokenizer_piece(b, (int)i, &n_b);
        if (!x != !y || n_a != n_b || (x && memcmp(x, y, n_a) != 0)) return 0;
    }
    return n > 0;
}
