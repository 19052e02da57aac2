/* lab/texts.c - lines of text for an encoder, and what one asks of its answers. */
#include "texts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const pooling_names[] = {"cls", "mean", "pooler", NULL};

void texts_init(Texts *x, const Tokenizer *t) { *x = (Texts){.tokenizer = t}; }

void texts_clear(Texts *x) {
    for (size_t i = 0; i < x->n; i++) {
        free((void *)(uintptr_t)x->texts[i].ids);
        free((void *)(uintptr_t)x->texts[i].types);
    }
    x->n = x->n_tokens = 0;
}

void texts_free(Texts *x) {
    texts_clear(x);
    free(x->texts);
    free(x->first);
    memset(x, 0, sizeof *x);
}

static int grow(Texts *x) {
    size_t cap = x->cap ? 2 * x->cap : 16;
    EncoderText *texts = realloc(x->texts, cap * sizeof *texts);
    if (texts) x->texts = texts;
    size_t *first = texts ? realloc(x->first, cap * sizeof *first) : NULL;
    if (!first) return -ENOMEM;
    x->first = first;
    x->cap = cap;
    return 0;
}

int texts_add(Texts *x, const char *line, size_t len, int split, char *err, size_t errlen) {
    const char *tab = split ? memchr(line, '\t', len) : NULL;
    size_t a = tab ? (size_t)(tab - line) : len, n;
    int *ids, *types;
    if (x->n == x->cap && grow(x)) return base_error(err, errlen, -ENOMEM, "out of memory for a text");
    int rc = tokenizer_encode_pair(x->tokenizer, line, a, tab ? tab + 1 : NULL, tab ? len - a - 1 : 0, ENCODE_BOS | ENCODE_EOS, &ids, &types, &n,
                                   err, errlen);
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

void texts_pool(const Texts *x, Session *s, size_t i, Pooling how, float *out) {
    size_t d = (size_t)s->model->config.d_model, n = x->texts[i].n;
    if (how == POOLING_POOLER) encoder_pool(s, x->first[i], out);
    else if (how == POOLING_CLS) memcpy(out, encoder_hidden(s, x->first[i]), d * sizeof *out);
    else
        for (size_t j = 0; j < d; j++) {
            double sum = 0;
            for (size_t t = 0; t < n; t++) sum += (double)encoder_hidden(s, x->first[i] + t)[j];
            out[j] = (float)(sum / (double)n);
        }
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

void texts_best(const float *logits, size_t n, Candidate *out, size_t k) {
    double max = -INFINITY, sum = 0;
    size_t have = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = have;
        for (; at && (double)logits[i] > out[at - 1].p; at--) /* p is the logit for now */
            if (at < k) out[at] = out[at - 1];
        if (at < k) out[at] = (Candidate){.id = (int)i, .p = (double)logits[i]};
        if (at < k && have < k) have++;
        if ((double)logits[i] > max) max = (double)logits[i];
    }
    for (size_t i = 0; i < n; i++) sum += exp((double)logits[i] - max);
    for (size_t i = 0; i < k; i++) out[i].p = exp(out[i].p - max) / sum;
}
