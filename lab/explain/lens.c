/* lab/explain/lens.c - see lens.h. */
#include "lens.h"

#include "base/base.h"
#include "model/encoder.h"
#include "model/timeline.h"

#include <errno.h>

typedef struct {
    Candidate *to;
    size_t k, vocab;
} Taker;

static void take(void *arg, size_t i, const float *logits) {
    const Taker *w = arg;
    texts_best(logits, w->vocab, w->to + i * w->k, w->k);
}

static int read_layers(Session *s, const int *ids, size_t n, Taker *w, char *err, size_t errlen) {
    EncoderText text = {.ids = ids, .n = n};
    if (s->model->config.mask == MASK_CAUSAL) return session_eval_each(s, ids, n, take, w, err, errlen);
    int rc = encoder_read(s, &text, 1, err, errlen);
    if (rc == 0) encoder_logits_each(s, 0, n, take, w);
    return rc;
}

int lens_read(Candidate *best, size_t k, const Model *m, const int *ids, size_t n, int threads,
              int (*progress)(void *arg, size_t done, size_t total), void *arg, char *err, size_t errlen) {
    int rc = 0;
    if (!m->has_logits) return base_error(err, errlen, -EINVAL, "this model has no head for logits");
    for (int l = 0; rc == 0 && l < m->config.n_layers; l++) {
        Model view = *m;
        Session s;
        Taker w = {best + (size_t)l * n * k, k, (size_t)m->config.vocab_size};
        view.config.n_layers = l + 1;
        if (progress && progress(arg, (size_t)l, (size_t)m->config.n_layers))
            return base_error(err, errlen, -EINTR, "interrupted");
        rc = session_init(&s, &view, &(SessionOptions){.n_ctx = n, .threads = threads, .n_logits = 8}, err, errlen);
        if (rc == 0) rc = read_layers(&s, ids, n, &w, err, errlen);
        session_free(&s);
    }
    return rc;
}
