/* text/texts.c - lines of text for an encoder, and what one asks of its answers. */
#include "texts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const pooling_names[] = {"cls", "mean", "pooler", "last", NULL};

void texts_init(Texts *x, const Tokenizer *t) { *x = (Texts){.tokenizer = t}; }

void texts_drop(Texts *x, size_t n) {
    while (n--) {
        EncoderText *last = &x->texts[--x->n];
        x->n_tokens -= last->n;
        free((void *)(uintptr_t)last->ids);
        free((void *)(uintptr_t)last->types);
    }
}

void texts_clear(Texts *x) { texts_drop(x, x->n); }

void texts_free(Texts *x) {
    texts_clear(x);
    free(x->texts);
    free(x->first);
    memset(x, 0, sizeof *x);
}

static int grow(Texts *x) {
    size_t cap = x->cap, want = x->cap + 1;
    if (array_reserve(&x->texts, &cap, want, sizeof *x->texts)) return -ENOMEM;
    return array_reserve(&x->first, &x->cap, want, sizeof *x->first);
}

int texts_add(Texts *x, const char *line, size_t len, int split, char *err, size_t errlen) {
    const char *tab = split ? memchr(line, '\t', len) : NULL;
    size_t a = tab ? (size_t)(tab - line) : len, n;
    int *ids, *types, flags = ENCODE_BOS | ENCODE_EOS | (x->special ? ENCODE_SPECIAL : 0);
    if (x->n == x->cap && grow(x)) return base_error(err, errlen, -ENOMEM, "out of memory for a text");
    int rc = tokenizer_encode_pair(x->tokenizer, line, a, tab ? tab + 1 : NULL, tab ? len - a - 1 : 0,
                                   flags, &ids, &types, &n, err, errlen);
    if (rc == 0 && n == 0) {
        rc = base_error(err, errlen, -EINVAL, "a text without a single token");
        free(ids);
        free(types);
    }
    if (rc) return rc;
    x->texts[x->n] = (EncoderText){.ids = ids, .types = types, .n = n};
    x->first[x->n++] = x->n_tokens;
    x->n_tokens += n;
    return 0;
}

/* The ids of one of three stretches behind those before. */
static int append(Texts *x, int **ids, size_t *n, size_t *cap, const char *s, size_t len, int flags, char *err,
                  size_t errlen) {
    int *more = NULL;
    size_t k = 0;
    int rc = tokenizer_encode(x->tokenizer, s, len, flags, &more, &k, err, errlen);
    if (rc == 0 && array_reserve(ids, cap, *n + k + 1, sizeof **ids))
        rc = base_error(err, errlen, -ENOMEM, "out of memory for a text");
    if (rc == 0 && k) memcpy(*ids + *n, more, k * sizeof *more);
    if (rc == 0) *n += k;
    free(more);
    return rc;
}

int texts_add_between(Texts *x, const char *before, const char *line, size_t len, const char *after, char *err,
                      size_t errlen) {
    int *ids = NULL;
    size_t n = 0, cap = 0;
    int rc = x->n == x->cap && grow(x) ? base_error(err, errlen, -ENOMEM, "out of memory for a text") : 0;
    if (rc == 0) rc = append(x, &ids, &n, &cap, before, strlen(before), ENCODE_SPECIAL, err, errlen);
    if (rc == 0) rc = append(x, &ids, &n, &cap, line, len, x->special ? ENCODE_SPECIAL : 0, err, errlen);
    if (rc == 0) rc = append(x, &ids, &n, &cap, after, strlen(after), ENCODE_SPECIAL, err, errlen);
    if (rc == 0 && n == 0) rc = base_error(err, errlen, -EINVAL, "a text without a single token");
    if (rc) {
        free(ids);
        return rc;
    }
    x->texts[x->n] = (EncoderText){.ids = ids, .n = n};
    x->first[x->n++] = x->n_tokens;
    x->n_tokens += n;
    return 0;
}

void texts_pool(const Texts *x, Session *s, size_t i, Pooling how, float *out) {
    size_t d = (size_t)s->model->config.d_model, n = x->texts[i].n;
    if (how == POOLING_POOLER) encoder_pool(s, x->first[i], out);
    else if (how == POOLING_CLS) memcpy(out, encoder_hidden(s, x->first[i]), d * sizeof *out);
    else if (how == POOLING_LAST) memcpy(out, encoder_hidden(s, x->first[i] + n - 1), d * sizeof *out);
    else encoder_mean(s, x->first[i], n, out);
}

static double dot(const float *a, const float *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

void texts_normalize(float *v, size_t n) {
    double length = sqrt(dot(v, v, n));
    for (size_t i = 0; i < n && length > 0; i++) v[i] = (float)((double)v[i] / length);
}

double texts_cosine(const float *a, const float *b, size_t n) {
    double lengths = sqrt(dot(a, a, n)) * sqrt(dot(b, b, n));
    return lengths > 0 ? dot(a, b, n) / lengths : 0;
}

/* Whether a comes before b among the best. While they are gathered, p is the logit. */
static int better(const Candidate *a, const Candidate *b) { return a->p > b->p || (a->p == b->p && a->id < b->id); }

static int by_rank(const void *a, const void *b) { return better(a, b) ? -1 : 1; }

/* heap[i] sinks to where both below it are better: the worst of the k is on top. */
static void sink(Candidate *heap, size_t k, size_t i) {
    for (size_t child; (child = 2 * i + 1) < k; i = child) {
        if (child + 1 < k && better(&heap[child], &heap[child + 1])) child++;
        if (!better(&heap[i], &heap[child])) return;
        Candidate c = heap[i];
        heap[i] = heap[child];
        heap[child] = c;
    }
}

void texts_best(const float *logits, size_t n, Candidate *out, size_t k) {
    double max = -INFINITY, sum = 0;
    for (size_t i = 0; i < k; i++) out[i] = (Candidate){.id = (int)i, .p = (double)logits[i]};
    for (size_t at = k; at-- > 0;) sink(out, k, at);
    for (size_t i = k; i < n; i++) {
        Candidate c = {.id = (int)i, .p = (double)logits[i]};
        if (!better(&c, &out[0])) continue;
        out[0] = c;
        sink(out, k, 0);
    }
    for (size_t i = 0; i < n; i++)
        if ((double)logits[i] > max) max = (double)logits[i];
    qsort(out, k, sizeof *out, by_rank);
    for (size_t i = 0; i < n; i++) sum += exp((double)logits[i] - max);
    for (size_t i = 0; i < k; i++) out[i].p = exp(out[i].p - max) / sum;
}
