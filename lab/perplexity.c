/* lab/perplexity.c - the likelihood of a text, window by window. */
#include "perplexity.h"

#include "kernels/train_kernels.h"
#include "model/timeline.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double perplexity_mean(const Perplexity *p) {
    if (p->weight > 0) return p->weighted_sum / p->weight;
    return p->tokens ? p->nll_sum / (double)p->tokens : 0;
}

/* Of the mean of n numbers, from their sum and that of their squares. */
static double standard_error(double n, double sum, double squares) {
    double mean = sum / n, variance = (squares - n * mean * mean) / (n - 1);
    return variance > 0 ? sqrt(variance / n) : 0;
}

double perplexity_stderr(const Perplexity *p) {
    if (p->alike_squares > 0)
        return p->weight < 2 ? 0 : standard_error(p->weight, p->weighted_sum, p->alike_squares);
    return p->tokens < 2 ? 0 : standard_error((double)p->tokens, p->nll_sum, p->nll_squares);
}

/* -ln softmax(logits)[id] = ln(sum exp(logit - max)) + max - logits[id], in double. */
double perplexity_nll(const Model *m, const float *logits, int id) {
    enum { LOT = 256, LANES = 8 };
    double lot[LOT], lane[LANES] = {0}, sum = 0;
    size_t vocab_size = (size_t)m->config.vocab_size;
    double max = (double)m->kernels->train->largest(logits, vocab_size);
    for (size_t from = 0, n; from < vocab_size; from += n) {
        n = vocab_size - from < LOT ? vocab_size - from : LOT;
        for (size_t i = 0; i < n; i++) lot[i] = (double)logits[from + i] - max;
        m->kernels->vec->exp64(lot, n);
        for (size_t i = n; i < LOT; i++) lot[i] = 0;
        for (size_t i = 0; i < LOT; i += LANES)
            for (size_t j = 0; j < LANES; j++) lane[j] += lot[i + j];
    }
    for (size_t j = 0; j < LANES; j++) sum += lane[j];
    return log(sum) + max - (double)logits[id];
}

int perplexity_read(Session *s, const int *ids, size_t n, size_t first, SessionEach *each, void *arg, size_t before,
                    size_t total, char *err, size_t errlen) {
    size_t last = n - 1, from = first - 1; /* nothing follows the last id; logits stand before what they foretell */
    session_rewind(s, 0);
    int rc = session_begin(s, ids, s->model->config.rope.scaling->choice ? n : last, 1, err, errlen);
    for (size_t done = 0, b; rc == 0 && done < last; done += b) {
        b = last - done < s->options.n_batch ? last - done : s->options.n_batch;
        size_t skip = from > done ? from - done : 0;
        session_batch(s, ids + done, b, 0);
        if (skip < b) session_hand_out(s, skip, b - skip, done + skip, each, arg);
        rc = session_progress(s, before + done + b, total, err, errlen);
    }
    return rc;
}

typedef struct {
    Perplexity *p;
    PerplexityBins *by; /* or NULL */
    const int *ids;     /* the window */
    const Model *model;
} Window;

void perplexity_count(Perplexity *p, double x) {
    p->nll_sum += x;
    p->nll_squares += x * x;
    p->tokens++;
}

/* The logits after id i of the window foretell id i + 1. */
static void score(void *arg, size_t i, const float *logits) {
    Window *w = arg;
    size_t at = i + 1;
    double x = perplexity_nll(w->model, logits, w->ids[at]);
    perplexity_count(w->p, x);
    if (w->by) perplexity_count(&w->by->at[at / w->by->width < w->by->n ? at / w->by->width : w->by->n - 1], x);
}

static int check_ids(const int *ids, size_t n, int vocab_size, char *err, size_t errlen) {
    for (size_t i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= vocab_size)
            return base_error(err, errlen, -EINVAL, "id %d is outside the model's vocabulary", ids[i]);
    return 0;
}

int perplexity_window(Perplexity *p, Session *s, const int *ids, const Cut *cut, const CutWindow *w,
                      PerplexityBins *by, char *err, size_t errlen) {
    size_t front = cut->convention->bos == CUT_BOS_IN_FRONT && cut->bos >= 0, m = w->end - w->begin;
    int rc = check_ids(ids + w->begin, m, s->model->config.vocab_size, err, errlen);
    if (rc) return rc;
    p->windows++;
    if (w->first >= w->end) return 0;
    int *read = calloc(m + front, sizeof *read);
    if (!read) return base_error(err, errlen, -ENOMEM, "out of memory");
    memcpy(read + front, ids + w->begin, m * sizeof *read);
    if (cut->bos >= 0 && cut->convention->bos != CUT_BOS_ONCE) read[0] = cut->bos;
    Perplexity one = {0};
    Window win = {.p = &one, .by = by, .ids = read, .model = s->model};
    m += front;
    rc = perplexity_read(s, read, m, w->first - w->begin + front, score, &win, 0, m - 1, err, errlen);
    free(read);
    p->nll_sum += one.nll_sum;
    p->nll_squares += one.nll_squares;
    p->tokens += one.tokens;
    if (cut->convention->mean == CUT_MEAN_IDS || rc) return rc;
    double mean = one.nll_sum / (double)one.tokens;
    p->weight += w->weight;
    p->weighted_sum += w->weight * mean;
    if (cut->convention->mean == CUT_MEAN_WINDOWS) p->alike_squares += mean * mean;
    return 0;
}

int perplexity_add(Perplexity *p, Session *s, const int *ids, size_t n, int bos, size_t window, char *err,
                   size_t errlen) {
    Cut cut;
    int rc = cut_init(&cut, &(CutOptions){.window = window}, window, bos, err, errlen);
    for (CutWindow w = {0}; rc == 0 && cut_next(&cut, n, &w);)
        rc = perplexity_window(p, s, ids, &cut, &w, NULL, err, errlen);
    return rc;
}

int perplexity_bins_init(PerplexityBins *b, size_t window, size_t width, char *err, size_t errlen) {
    *b = (PerplexityBins){.window = window, .width = width ? width : window < 16 ? 1 : window / 16};
    if (b->width > window)
        return base_error(err, errlen, -EINVAL, "bins of %zu positions are wider than the window of %zu", width,
                          window);
    b->n = (window + b->width - 1) / b->width;
    b->at = calloc(b->n, sizeof *b->at);
    return b->at ? 0 : base_error(err, errlen, -ENOMEM, "out of memory");
}

void perplexity_bins_free(PerplexityBins *b) {
    free(b->at);
    memset(b, 0, sizeof *b);
}
