/* text/ahead.c - see ahead.h. */
#include "ahead.h"

#include "base/base.h"
#include "base/system.h"
#include "model/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ahead_init(Ahead *a, Session *s, Draft draft, size_t most, char *err, size_t errlen) {
    *a = (Ahead){.session = s, .draft = draft, .most = most, .next = -1, .base = s->pos};
    memcpy(a->holds, draft.usual, sizeof a->holds);
    if (most > AHEAD_MOST || most >= s->options.n_logits)
        return base_error(err, errlen, -EINVAL, "%zu guesses are more than the session has logits for", most);
    size_t bytes = session_mark_bytes(s);
    if (bytes && !(a->mark = malloc(bytes))) return base_error(err, errlen, -ENOMEM, "out of memory");
    return 0;
}

void ahead_free(Ahead *a) {
    free(a->mark);
    memset(a, 0, sizeof *a);
}

size_t ahead_pos(const Ahead *a) { return a->n_ids > a->n_text ? a->base + a->n_text : a->session->pos; }

/* ---- what pays ---- */

/* Seconds of n ids at once. Where that was never seen, from the largest smaller number that was: each further id is
 * thought to take a tenth of the first, until it is measured. */
static double batch_seconds(const Ahead *a, size_t n) {
    double one = a->seconds[1] > 0 ? a->seconds[1] : 1;
    for (size_t m = n; m > 0; m--)
        if (a->seconds[m] > 0) return a->seconds[m] + (double)(n - m) * one / 10;
    return one * (1 + (double)(n - 1) / 10);
}

static void took(Ahead *a, size_t n, double seconds) {
    enum { FIRST = 3, RECENT = 8 }; /* the least of the first ones: others were disturbed */
    double *mean = &a->seconds[n];
    if (a->n_seen[n]++ < FIRST) *mean = *mean == 0 || seconds < *mean ? seconds : *mean;
    else *mean += ((seconds < 2 * *mean ? seconds : 2 * *mean) - *mean) / RECENT;
}

static void seen(Ahead *a, int kind, int held) {
    enum { RECENT = 32, PRIOR = 4 };
    size_t n = ++a->n_tried[kind] + PRIOR;
    a->holds[kind] += (held - a->holds[kind]) / (double)(n < RECENT ? n : RECENT);
}

/* How many of at most k guesses give the most ids a second, where the first `before` ids of the batch are known anyway.
 * A gain of 3 % is the least that counts: costs are measured no better. */
static size_t worth(const Ahead *a, int kind, size_t before, size_t k) {
    double most = 1.03 / batch_seconds(a, before), expected = 1, each = 1;
    size_t best = 0;
    if (a->always) return k;
    for (size_t i = 1; i <= k; i++) {
        each *= a->holds[kind];
        expected += each;
        double rate = expected / (batch_seconds(a, before + i) + (double)i * a->guess_seconds);
        if (rate > most) most = rate, best = i;
    }
    return best;
}

/* A guess that costs is tried now and then although it did not pay: a text changes. */
enum { TRY_AFTER = 64 };

/* The guesses behind the batch's `before` ids, to a->ids; how many of them are read. */
static size_t guess(Ahead *a, const Sampler *sampler, const int *ids, size_t n, size_t before, size_t most) {
    Draft *d = &a->draft;
    int guesses[AHEAD_MOST], kind = 0;
    size_t k = d->follow ? worth(a, 0, before, most) : most;
    if (d->follow && k == 0 && most && a->since >= TRY_AFTER) k = 1;
    a->next = -1;
    if (k == 0) return 0;
    if (d->follow) d->follow(d->arg, ids, n);
    double began = clock_seconds();
    size_t found = d->guess(d->arg, sampler, ids, n, guesses, k, &kind);
    if (found == 0) return 0;
    double each = (clock_seconds() - began) / (double)found;
    if (d->follow) a->guess_seconds += (each - a->guess_seconds) / (a->guess_seconds > 0 ? 8 : 1);
    else found = worth(a, kind, before, found);
    a->kind = kind, a->next = guesses[0];
    memcpy(a->ids + before, guesses, found * sizeof *guesses);
    return found;
}

/* ---- reading ---- */

/* Behind a guess that did not hold: the session is where the text is, or where its mark is; then the batch begins with
 * ids that the text has. How many. */
static size_t go_back(Ahead *a) {
    Session *s = a->session;
    size_t again = 0;
    if (a->n_ids > a->n_text) {
        if (a->mark) session_return(s, a->mark, a->base), again = a->n_text;
        else session_rewind(s, a->base + a->n_text);
    }
    a->n_ids = a->n_text = 0;
    return again;
}

static const float *row(const Ahead *a, size_t id) {
    return a->session->logits + (id - a->first_row) * (size_t)a->session->model->config.vocab_size;
}

/* The first `before` ids of a->ids, known, and guesses behind them. */
static int read_batch(Ahead *a, const Sampler *sampler, const int *ids, size_t n, size_t before, size_t room,
                      char *err, size_t errlen) {
    Session *s = a->session;
    size_t most = a->most < room ? a->most : room, all = s->options.n_ctx - s->pos;
    if (s->options.n_batch < all) all = s->options.n_batch;
    most = all <= before ? 0 : all - before < most ? all - before : most;
    if (before > a->most) most = 0; /* so many are read again that they are to be behind a mark */
    size_t k = guess(a, sampler, ids, n, before, session_together(s, before, most));
    a->base = s->pos;
    int rc = session_begin(s, a->ids, before + k, 1, err, errlen);
    if (rc) return rc;
    if (a->mark && k) session_mark(s, a->mark);
    double began = clock_seconds();
    session_batch(s, a->ids, before + k, k + 1);
    took(a, before + k, clock_seconds() - began);
    a->n_ids = before + k, a->n_text = before, a->first_row = before - 1;
    a->n_guessed += k;
    a->since = k ? 0 : a->since + 1;
    return 0;
}

int ahead_read(Ahead *a, const Sampler *sampler, const int *ids, size_t n, size_t room, const float **logits,
               char *err, size_t errlen) {
    int id = ids[n - 1], rc = 0, ahead = a->n_ids > a->n_text;
    if (a->next >= 0) seen(a, a->kind, id == a->next);
    if (ahead && a->ids[a->n_text] == id) {
        a->n_held++;
        a->n_text++;
        a->next = a->n_ids > a->n_text ? a->ids[a->n_text] : -1;
    } else {
        size_t again = go_back(a);
        a->ids[again] = id;
        rc = read_batch(a, sampler, ids, n, again + 1, room, err, errlen);
    }
    *logits = rc ? NULL : row(a, a->n_text - 1);
    return rc;
}

int ahead_settle(Ahead *a, char *err, size_t errlen) {
    Session *s = a->session;
    size_t n = a->n_text, ahead = a->n_ids > n;
    int rc = 0;
    a->next = -1;
    if (n && !(ahead && a->mark))
        memmove(s->logits, row(a, n - 1), (size_t)s->model->config.vocab_size * sizeof *s->logits);
    size_t again = go_back(a);
    if (again) rc = session_eval(s, a->ids, again, &(const float *){NULL}, err, errlen);
    else if (ahead) s->has_logits = 1;
    return rc;
}
