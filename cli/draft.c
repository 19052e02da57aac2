/* cli/draft.c - --draft: who guesses what comes next, for generate and chat. */
#include "generation.h"

#include "base/paths.h"
#include "model/options.h"
#include "text/draft_model.h"
#include "text/lookup.h"
#include "text/open.h"
#include "text/vocabulary.h"

#include <stdlib.h>
#include <string.h>

typedef struct Drafting {
    Ahead ahead;
    Lookup *lookup;
    Model model; /* where it is a model that guesses */
    DraftModel *guesser;
} Drafting;

size_t draft_logits(const Args *a) { return a->sampling.draft ? (size_t)a->sampling.draft_most + 1 : 1; }

const Ahead *drafting_ahead(const Generation *g) { return g->drafting ? &g->drafting->ahead : NULL; }

void drafting_free(Drafting *d) {
    if (!d) return;
    ahead_free(&d->ahead);
    lookup_free(d->lookup);
    draft_model_free(d->guesser);
    model_close(&d->model);
    free(d);
}

/* The model at path, whose ids mean what the other's mean. An exit code. */
static int open_model(Drafting *d, Generation *g, const Args *a, const char *path) {
    Engine *e = &g->e;
    Tokenizer *t = NULL;
    TokenizerOptions to;
    ModelOptions o = {.threads = (int)a->machine.threads, .kernels = e->model.kernels};
    int code = tokenizer_options(&to, a), same = 0;
    if (code) return code;
    if (model_open(&d->model, path, &o, e->err, sizeof e->err)) return fail("--draft: %s", e->err);
    if (d->model.config.mask != MASK_CAUSAL) return fail("--draft: %s: does not write text (mask causal)", path);
    size_t vocab = (size_t)d->model.config.vocab_size;
    if (vocabulary_open(&t, &d->model.weights, a->tokenizer.file, vocab, &to, e->err, sizeof e->err))
        return fail("--draft: %s", e->err);
    same = same_vocabulary(e->tokenizer, t);
    tokenizer_free(t);
    if (!same) return fail("--draft: %s: its vocabulary is another one than the model's", path);
    size_t n_ctx = e->session.options.n_ctx;
    if (n_ctx >= SIZE_MAX / 2) n_ctx = (size_t)d->model.config.n_ctx_train; /* a state has no end, a cache has */
    int rc = draft_model_new(&d->guesser, &d->model, n_ctx, (int)a->machine.threads, &g->sampler, e->err,
                             sizeof e->err);
    return rc ? fail("--draft: %s", e->err) : 0;
}

int drafting_init(Generation *g, const Args *a) {
    const char *how = a->sampling.draft;
    Drafting *d;
    if (!how) return 0;
    if (!(d = g->drafting = calloc(1, sizeof *d))) return fail("out of memory");
    Draft draft;
    if (strcmp(how, "lookup") == 0) {
        if (!(d->lookup = lookup_new())) return fail("out of memory");
        draft = lookup_draft(d->lookup);
    } else {
        if (!file_there(how)) return fail("--draft: there is no file %s; lookup guesses from the text itself", how);
        int code = open_model(d, g, a, how);
        if (code) return code;
        draft = draft_model_draft(d->guesser);
    }
    if (ahead_init(&d->ahead, &g->e.session, draft, (size_t)a->sampling.draft_most, g->e.err, sizeof g->e.err))
        return fail("--draft: %s", g->e.err);
    g->w.ahead = &d->ahead;
    g->w.keep_ids = 1;
    return 0;
}
