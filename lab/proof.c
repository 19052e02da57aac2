/* lab/proof.c - see proof.h. */
#include "proof.h"

#include "base/base.h"
#include "model/past.h"
#include "model/timeline.h"
#include "perplexity.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 16 }; /* ids that both sessions read in turn */

typedef struct {
    Proof *p;
    const int *ids;
    size_t n, vocab, first; /* the id that the batch begins with */
    float *rows;            /* [AT_ONCE, vocab]: what the first session expects */
    const Model *model;
} Work;

static void keep(void *arg, size_t i, const float *logits) {
    Work *w = arg;
    memcpy(w->rows + i * w->vocab, logits, w->vocab * sizeof *logits);
}

static void compare(void *arg, size_t i, const float *logits) {
    Work *w = arg;
    const float *a = w->rows + i * w->vocab;
    double off = 0;
    float largest = 0;
    for (size_t v = 0; v < w->vocab; v++) {
        double by = fabs((double)a[v] - (double)logits[v]);
        if (isnan(by)) by = INFINITY; /* no number is no agreement */
        off = by > off ? by : off; /* with fmax gcc 12 for arm64 stops: "internal compiler error" */
        largest = fmaxf(largest, fabsf(a[v]));
    }
    float ulp = nextafterf(largest, INFINITY) - largest;
    w->p->logit_off = fmax(w->p->logit_off, off);
    w->p->logit_ulps = fmax(w->p->logit_ulps, off / (double)ulp);
    w->p->tokens++;
    if (w->first + i + 1 >= w->n) return;
    double x = perplexity_nll(w->model, a, w->ids[w->first + i + 1]);
    double y = perplexity_nll(w->model, logits, w->ids[w->first + i + 1]);
    w->p->nll[0] += x, w->p->nll[1] += y;
    w->p->nll_off = fmax(w->p->nll_off, fabs(x - y));
}

/* A session of m that begins at the place; view is m with its angles. */
static int begin(Session *s, Model *view, const Model *m, ProofPlace at, size_t n, int threads, char *err,
                 size_t errlen) {
    SessionOptions o = {.n_ctx = n, .threads = threads, .n_logits = AT_ONCE, .origin = at.origin};
    *view = *m;
    view->config.rope.angle = at.angles ? at.angles->angle : NULL;
    if ((double)at.origin > 0x1p40)
        return base_error(err, errlen, -EINVAL, "position %zu is farther than a double tells angles apart", at.origin);
    int rc = session_init(s, view, &o, err, errlen);
    if (rc == 0 && at.angles && at.angles->angle && s->past->stretch) {
        session_free(s);
        return base_error(err, errlen, -EINVAL,
                          "angles %s: where a method rewrites distances, keys are turned by angles "
                          "in double only",
                          at.angles->name);
    }
    if (rc == 0 && at.angles && at.angles->geometric && !rope_geometric(&s->rope)) {
        session_free(s);
        return base_error(err, errlen, -EINVAL, "angles %s are those of frequencies in a geometric series; this rope "
                          "method has others", at.angles->name);
    }
    return rc;
}

int proof_run(Proof *p, const Model *m, ProofPlace a, ProofPlace b, const int *ids, size_t n, int threads,
              int (*progress)(void *arg, size_t done, size_t total), void *arg, char *err, size_t errlen) {
    Model views[2];
    Session s[2] = {{0}, {0}};
    Work w = {.p = p, .ids = ids, .n = n, .vocab = (size_t)m->config.vocab_size, .model = m};
    *p = (Proof){0};
    w.rows = calloc(AT_ONCE * w.vocab, sizeof *w.rows);
    int rc = w.rows ? 0 : base_error(err, errlen, -ENOMEM, "out of memory");
    if (rc == 0) rc = begin(&s[0], &views[0], m, a, n, threads, err, errlen);
    if (rc == 0) rc = begin(&s[1], &views[1], m, b, n, threads, err, errlen);
    for (size_t k; rc == 0 && w.first < n; w.first += k) {
        k = n - w.first < AT_ONCE ? n - w.first : AT_ONCE;
        if (progress && progress(arg, w.first, n)) rc = base_error(err, errlen, -EINTR, "interrupted");
        if (rc) break;
        rc = session_eval_each(&s[0], ids + w.first, k, keep, &w, err, errlen);
        if (rc == 0) rc = session_eval_each(&s[1], ids + w.first, k, compare, &w, err, errlen);
    }
    for (int i = 0; i < 2; i++) p->nll[i] /= n > 1 ? (double)(n - 1) : 1;
    session_free(&s[0]);
    session_free(&s[1]);
    free(w.rows);
    return rc;
}
