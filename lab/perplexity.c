/* lab/perplexity.c - the likelihood of a text, window by window. */
#include "perplexity.h"

#include "model/timeline.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double perplexity_mean(const Perplexity *p) { return p->tokens ? p->nll_sum / (double)p->tokens : 0; }

double perplexity_stderr(const Perplexity *p) {
    if (p->tokens < 2) return 0;
    double n = (double)p->tokens, mean = p->nll_sum / n;
    double variance = (p->nll_squares - n * mean * mean) / (n - 1);
    return variance > 0 ? sqrt(variance / n) : 0;
}

/* -ln softmax(logits)[id] = ln(sum exp(logit - max)) + max - logits[id], in double. */
static double nll(const float *logits, size_t vocab_size, int id) {
    float max = logits[0];
    for (size_t i = 1; i < vocab_size; i++)
        if (logits[i] > max) max = logits[i];
    double sum = 0;
    for (size_t i = 0; i < vocab_size; i++) sum += exp((double)logits[i] - (double)max);
    return log(sum) + (double)max - (double)logits[id];
}

typedef struct {
    Perplexity *p;
    const int *ids; /* the window */
    size_t n, vocab_size;
} Window;

/* The logits after id i of the window foretell id i + 1. */
static void score(void *arg, size_t i, const float *logits) {
    Window *w = arg;
    if (i + 1 >= w->n) return;
    double x = nll(logits, w->vocab_size, w->ids[i + 1]);
    w->p->nll_sum += x;
    w->p->nll_squares += x * x;
    w->p->tokens++;
}

int perplexity_add(Perplexity *p, Session *s, const int *ids, size_t n, int bos, size_t window, char *err,
                   size_t errlen) {
    size_t from_bos = bos >= 0, step = window - from_bos; /* ids of the text a window takes */
    int *w = malloc(window * sizeof *w), rc = 0;
    if (!w) return base_error(err, errlen, -ENOMEM, "out of memory");
    for (size_t at = 0; at < n && rc == 0; at += step) {
        size_t m = n - at < step ? n - at : step;
        if (from_bos) w[0] = bos;
        memcpy(w + from_bos, ids + at, m * sizeof *w);
        Window win = {.p = p, .ids = w, .n = m + from_bos, .vocab_size = (size_t)s->model->config.vocab_size};
        p->windows++;
        session_rewind(s, 0);
        if (win.n > 1)
            rc = session_eval_each(s, w, win.n - 1, score, &win, err, errlen); /* nothing follows the last id */
        else if (w[0] < 0 || w[0] >= s->model->config.vocab_size)
            rc = base_error(err, errlen, -EINVAL, "id %d is outside the model's vocabulary", w[0]);
    }
    free(w);
    return rc;
}

/* The next line that holds exactly separator, from `from` on: its start, or NULL. */
static const char *find_separator(const char *from, const char *end, const char *separator) {
    size_t len = strlen(separator);
    for (const char *line = from; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *stop = newline ? newline : end;
        if ((size_t)(stop - line) == len && memcmp(line, separator, len) == 0) return line;
        if (!newline) break;
        line = newline + 1;
    }
    return NULL;
}

int perplexity_document(const char *text, size_t n, const char *separator, size_t *at, const char **doc, size_t *len) {
    if (*at > n || (n == 0 && *at == 0)) return 0;
    const char *start = text + *at, *end = text + n, *line = separator ? find_separator(start, end, separator) : NULL;
    *doc = start;
    if (line) {
        const char *stop = line > start ? line - 1 : line; /* without the newline before the separator */
        *len = (size_t)(stop - start);
        *at = (size_t)(line - text) + strlen(separator) + 1; /* past the separator's own newline, or past the end */
        return 1;
    }
    *len = (size_t)(end - start);
    if (separator && *len && end[-1] == '\n') --*len;
    *at = n + 1;
    return 1;
}
