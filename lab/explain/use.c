/* lab/explain/use.c - see use.h. */
#include "use.h"

#include "lab/perplexity.h"
#include "model/timeline.h"

#include <math.h>

/* Of pair i of a vector before it turns, x; or where attention is linear, of its features f, which turned already: that
 * changes no size. */
static double size_of(const float *x, const double *f, const RopeConfig *c, int i) {
    int halves = c->pairing == ROPE_HALF, a = halves ? i : 2 * i, b = halves ? i + c->rotary_dim / 2 : a + 1;
    return f ? hypot(f[a], f[b]) : hypot((double)x[a], (double)x[b]);
}

/* Token m's row of head h of layer l, of n heads' features. */
static const double *features(const Trace *t, const double *all, int l, int n, int h, size_t m) {
    return all ? all + (((size_t)(l - t->first) * (size_t)n + (size_t)h) * t->n + m) * t->rows : NULL;
}

void use_sizes(PairUse *out, const Trace *t, int l) {
    const Config *c = &t->model->config;
    int half = c->rope.rotary_dim / 2, group = c->n_heads / c->n_kv_heads;
    for (int kv = 0; kv < c->n_kv_heads; kv++)
        for (int i = 0; i < half; i++) {
            double q = 0, k = 0;
            for (size_t m = 0; m < t->n; m++) {
                const double *f = features(t, t->k_num, l, c->n_kv_heads, kv, m);
                k += size_of(trace_k(t, l, kv, m), f, &c->rope, i) / (double)t->n;
                for (int h = kv * group; h < (kv + 1) * group; h++) {
                    f = features(t, t->q_num, l, c->n_heads, h, m);
                    q += size_of(trace_q(t, l, h, m), f, &c->rope, i) / (double)t->n / group;
                }
            }
            out[kv * half + i] =
                (PairUse){.layer = l, .head = kv, .pair = i, .inv_freq = t->rope.inv_freq[i], .size = q * k};
        }
}

typedef struct {
    const int *ids;
    size_t n;
    const Model *model;
    double sum;
} Sum;

static void add(void *arg, size_t i, const float *logits) {
    Sum *w = arg;
    if (i + 1 < w->n) w->sum += perplexity_nll(w->model, logits, w->ids[i + 1]);
}

int use_loss(double *loss, const Model *m, const int *ids, size_t n, Mute *mute, int threads, char *err,
             size_t errlen) {
    Probe probe;
    Session s;
    Sum sum = {.ids = ids, .n = n, .model = m};
    SessionOptions o = {.n_ctx = n, .threads = threads, .n_logits = 16};
    probe_init(&probe, mute, NULL, mute_turn);
    if (mute) o.attention = &probe.attention;
    int rc = session_init(&s, m, &o, err, errlen);
    if (rc == 0) rc = session_eval_each(&s, ids, n, add, &sum, err, errlen);
    session_free(&s);
    *loss = sum.sum / (double)(n - 1);
    return rc;
}
