/* lab/recall.c - see recall.h. */
#include "recall.h"

#include "base/base.h"
#include "model/timeline.h"
#include "perplexity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

size_t recall_length(const RecallCut *c, int bos) { return (bos >= 0) + 3 * c->span + c->between; }

typedef struct {
    RecallTrial *out;
    const int *ids;
    size_t n, span, begin[2]; /* where the span's two readings begin */
    const Model *model;
} Work;

/* The logits behind id i foretell id i + 1. */
static void score(void *arg, size_t i, const float *logits) {
    Work *w = arg;
    for (int time = 0; time < 2; time++) {
        if (i + 1 < w->begin[time] || i + 1 >= w->begin[time] + w->span) continue;
        size_t best = 0;
        for (size_t v = 1; v < (size_t)w->model->config.vocab_size; v++)
            if (logits[v] > logits[best]) best = v;
        w->out->nll[time] += perplexity_nll(w->model, logits, w->ids[i + 1]) / (double)w->span;
        w->out->right[time] += ((int)best == w->ids[i + 1]) / (double)w->span;
    }
}

int recall_trial(RecallTrial *out, Session *s, const int *ids, size_t n, int bos, const RecallCut *c, char *err,
                 size_t errlen) {
    size_t length = recall_length(c, bos), to = 0;
    if (c->span == 0 || c->at < c->span || c->at + c->span > n || c->other > n || c->between > n - c->other)
        return base_error(err, errlen, -EINVAL,
                          "a text of %zu ids is too short for a span of %zu at %zu and %zu ids from "
                          "%zu on",
                          n, c->span, c->at, c->between, c->other);
    int *read = calloc(length, sizeof *read);
    if (!read) return base_error(err, errlen, -ENOMEM, "out of memory");
    if (bos >= 0) read[to++] = bos;
    memcpy(read + to, ids + c->at - c->span, 2 * c->span * sizeof *ids); /* what leads in, and the span behind it */
    Work w = {.out = out, .ids = read, .n = length, .span = c->span, .begin[0] = to + c->span,
              .model = s->model};
    memcpy(read + to + 2 * c->span, ids + c->other, c->between * sizeof *ids);
    w.begin[1] = to + 2 * c->span + c->between;
    memcpy(read + w.begin[1], ids + c->at, c->span * sizeof *ids);
    *out = (RecallTrial){0};
    session_rewind(s, 0);
    int rc = session_eval_each(s, read, length - 1, score, &w, err, errlen);
    free(read);
    return rc;
}

/* ---- LongPPL ---- */

double recall_long_nll(const double *whole, const double *brief, size_t n, double easier, double below, size_t *keys) {
    double sum = 0;
    *keys = 0;
    for (size_t i = 0; i < n; i++)
        if (brief[i] - whole[i] > easier && whole[i] < below) sum += whole[i], ++*keys;
    return *keys ? sum / (double)*keys : 0;
}

typedef struct {
    double *to;           /* loss of the text's id i at to[i] */
    const int *ids;
    size_t from, bos, least, n; /* the call's first id of the text; ids scored from `least` on */
    const Model *model;
} Losses;

static void lose(void *arg, size_t i, const float *logits) {
    Losses *w = arg;
    size_t id = w->from + i + 1 - w->bos; /* what this row foretells */
    if (id >= w->least && id < w->n) w->to[id] = perplexity_nll(w->model, logits, w->ids[id]);
}

/* One reading: BOS and the ids from .. end-1, losses of those from `least` on. */
static int read_window(Losses *w, Session *s, int bos, size_t from, size_t end, char *err, size_t errlen) {
    size_t n = end - from + w->bos;
    int *read = calloc(n + 1, sizeof *read);
    if (!read) return base_error(err, errlen, -ENOMEM, "out of memory");
    if (w->bos) read[0] = bos;
    memcpy(read + w->bos, w->ids + from, (end - from) * sizeof *read);
    w->from = from, w->n = end;
    session_rewind(s, 0);
    int rc = n > 1 ? session_eval_each(s, read, n - 1, lose, w, err, errlen) : 0;
    free(read);
    return rc;
}

int recall_losses(double *whole, double *brief, Session *s, const int *ids, size_t n, int bos, size_t n_short,
                  char *err, size_t errlen) {
    Losses w = {.to = whole, .ids = ids, .bos = bos >= 0, .least = 1, .model = s->model};
    size_t step = n_short / 4 ? n_short / 4 : 1;
    int rc = read_window(&w, s, bos, 0, n, err, errlen);
    w.to = brief;
    for (size_t at = 1, end; rc == 0 && at < n; at = end) { /* the last quarter of each window */
        end = at == 1 ? (n_short < n ? n_short : n) : at + step < n ? at + step : n;
        w.least = at;
        rc = read_window(&w, s, bos, end > n_short ? end - n_short : 0, end, err, errlen);
    }
    return rc;
}
