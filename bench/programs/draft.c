/* bench/programs/draft.c - what guesses save where a text is known: bench-draft MODEL TOKENIZER TEXT FROM [DRAFT
 * SHARE]. TEXT's first FROM bytes are a prompt; the rest is written by a model that writes exactly that, whatever its
 * weights are, id by id and then with guesses: of lookup, or of the model DRAFT, SHARE of 100 of whose guesses are made
 * right and the others wrong. Five rounds in turn; the medians, in tokens a second, and what else there is to know. */
#include "base/hash.h"
#include "base/system.h"
#include "bench/ceilings.h"
#include "text/draft_model.h"
#include "text/lookup.h"
#include "text/open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5, GUESSES = 8 };

/* A known text, and who guesses it. */
typedef struct {
    const Model *m, *small;
    const int *ids;
    size_t n, prompt;
    unsigned share; /* of 100; small only */
    char *err;
} Job;

/* A model's guesses, of which so many hold: each takes the time that it takes. */
typedef struct {
    const Job *job;
    Draft inner;
} Forced;

static size_t forced(void *arg, const Sampler *sampler, const int *ids, size_t n, int *guesses, size_t most,
                     int *kind) {
    Forced *f = arg;
    size_t k = f->inner.guess(f->inner.arg, sampler, ids, n, guesses, most, kind);
    for (size_t i = 0; i < k; i++) {
        int right = n + i < f->job->n ? f->job->ids[n + i] : 1;
        guesses[i] = hash_mix(n + i) % 100 < f->job->share ? right : right ? right - 1 : 1;
    }
    return k;
}

static void follow(void *arg, const int *ids, size_t n) {
    Forced *f = arg;
    f->inner.follow(f->inner.arg, ids, n);
}

/* Seconds for the text behind the prompt; < 0 and job->err: it failed. a: NULL: id by id. */
static double write_out(const Job *job, Session *s, Ahead *a, const Sampler *sampler) {
    const float *logits;
    if (session_eval(s, job->ids, job->prompt, &logits, job->err, 300)) return -1;
    double t0 = clock_seconds();
    for (size_t n = job->prompt + 1; n <= job->n; n++)
        if (a ? ahead_read(a, sampler, job->ids, n, job->n - n, &logits, job->err, 300)
              : session_eval(s, job->ids + n - 1, 1, &logits, job->err, 300))
            return -1;
    return clock_seconds() - t0;
}

/* One round, without guesses or with them; what was guessed and held goes to *a. */
static double write_guessing(const Job *job, Session *s, Ahead *a) {
    const SamplerOptions greedy = {.repetition_penalty = 1, .seed = 1};
    Sampler sampler = {0};
    Lookup *lookup = job->small ? NULL : lookup_new();
    DraftModel *small = NULL;
    Forced wrapped = {.job = job};
    Draft draft = {0};
    double took = -1;
    int rc = sampler_init(&sampler, (size_t)job->m->config.vocab_size, &greedy, job->err, 300);
    if (rc == 0 && job->small) rc = draft_model_new(&small, job->small, s->options.n_ctx, 0, &sampler, job->err, 300);
    if (rc == 0 && small) {
        draft = wrapped.inner = draft_model_draft(small);
        draft.guess = forced, draft.follow = follow, draft.arg = &wrapped;
    } else if (rc == 0 && lookup) draft = lookup_draft(lookup);
    if (rc == 0 && ahead_init(a, s, draft, GUESSES, job->err, 300) == 0) took = write_out(job, s, a, &sampler);
    draft_model_free(small);
    lookup_free(lookup);
    sampler_free(&sampler);
    return took;
}

static double write_once(const Job *job, int guessing, size_t *guessed, size_t *held) {
    SessionOptions o = {.n_ctx = job->n + 1, .cache = CACHE_F16, .n_logits = GUESSES + 1};
    Session s;
    Ahead a = {0};
    if (session_init(&s, job->m, &o, job->err, 300)) return -1;
    double took = guessing ? write_guessing(job, &s, &a) : write_out(job, &s, NULL, NULL);
    if (guessing) *guessed = a.n_guessed, *held = a.n_held;
    ahead_free(&a);
    session_free(&s);
    return took;
}

static int compare(const Job *job) {
    double plain[ROUNDS], ahead[ROUNDS], n = (double)(job->n - job->prompt);
    size_t guessed = 0, held = 0;
    for (int i = 0; i < ROUNDS; i++) {
        plain[i] = write_once(job, 0, &guessed, &held), ahead[i] = write_once(job, 1, &guessed, &held);
        if (plain[i] < 0 || ahead[i] < 0) return fprintf(stderr, "bench-draft: %s\n", job->err), 1;
    }
    double one = spread_of(plain, ROUNDS).median, with = spread_of(ahead, ROUNDS).median;
    printf("%zu tokens behind %zu: %.1f tok/s one by one, %.1f with guesses (%zu, %zu held): %.2f times\n",
           job->n - job->prompt, job->prompt, n / one, n / with, guessed, held, one / with);
    return 0;
}

/* The ids of the file's bytes from .. to-1 behind ids [n], which grow. */
static int encode(const Tokenizer *t, const char *text, size_t len, int flags, int **ids, size_t *n, char *err) {
    int *more;
    size_t n_more;
    int rc = tokenizer_encode(t, text, len, flags, &more, &n_more, err, 300);
    if (rc) return rc;
    int *all = realloc(*ids, (*n + n_more) * sizeof *all);
    if (all) memcpy(all + *n, more, n_more * sizeof *all), *ids = all, *n += n_more;
    free(more);
    return all ? 0 : -1;
}

int main(int argc, char **argv) {
    char err[300] = "out of memory";
    Model m, small;
    MappedFile file;
    Tokenizer *t;
    int *ids = NULL;
    if (argc != 5 && argc != 7)
        return fprintf(stderr, "usage: bench-draft MODEL TOKENIZER TEXT FROM [DRAFT SHARE]\n"), 2;
    Job job = {.m = &m, .small = argc > 5 ? &small : NULL, .err = err};
    size_t from = strtoul(argv[4], NULL, 10);
    if (argc > 5) job.share = (unsigned)strtoul(argv[6], NULL, 10);
    if (model_open(&m, argv[1], NULL, err, sizeof err) || file_map(&file, argv[3], err, sizeof err) ||
        vocabulary_open(&t, &m.weights, argv[2], (size_t)m.config.vocab_size, NULL, err, sizeof err) ||
        (job.small && model_open(&small, argv[5], NULL, err, sizeof err)) || from >= file.size ||
        encode(t, (const char *)file.data, from, ENCODE_BOS, &ids, &job.prompt, err))
        return fprintf(stderr, "bench-draft: %s\n", err), 1;
    job.n = job.prompt;
    if (encode(t, (const char *)file.data + from, file.size - from, ENCODE_CONTINUE, &ids, &job.n, err))
        return fprintf(stderr, "bench-draft: %s\n", err), 1;
    job.ids = ids;
    return compare(&job);
}
