/* model/timeline.c - see timeline.h. */
#include "timeline.h"

#include "attention/cache_bytes.h"
#include "bias.h"
#include "choose.h"
#include "family.h"
#include "model/layers/delta.h"
#include "past.h"
#include "steps.h"
#include "stretch.h"

#include <errno.h>
#include <string.h>

size_t session_bytes(const Session *s) {
    const Past *p = s->past;
    size_t more = (p->stretch ? p->stretch->bytes : 0) + (p->chooser ? p->chooser->bytes : 0) +
                  (p->bias ? p->bias->bytes : 0) + (p->delta ? p->delta->bytes : 0);
    more += cache_bytes(&p->cache) + cache_bytes(&p->local);
    return s->scratch->bytes + p->bytes + p->state.n * sizeof *p->state.S + more;
}

void session_set_pos(Session *s, size_t pos) {
    s->pos = pos;
    s->has_logits = 0;
}

int session_rewind(Session *s, size_t pos) {
    if (pos >= s->pos) return 0;
    if ((s->past->state.S || s->past->delta) && pos) return -EINVAL;
    if (s->past->state.S) linear_clear(&s->past->state);
    session_set_pos(s, pos);
    return 0;
}

size_t session_mark_bytes(const Session *s) {
    const Past *p = s->past;
    return p->state.n * sizeof *p->state.S + (p->delta ? p->delta->bytes : 0);
}

void session_mark(const Session *s, void *mark) {
    const Past *p = s->past;
    size_t n = p->state.n * sizeof *p->state.S;
    if (n) memcpy(mark, p->state.S, n);
    if (p->delta) memcpy((char *)mark + n, p->delta->block, p->delta->bytes);
}

void session_return(Session *s, const void *mark, size_t pos) {
    Past *p = s->past;
    size_t n = p->state.n * sizeof *p->state.S;
    if (n) memcpy(p->state.S, mark, n);
    if (p->delta) memcpy(p->delta->block, (const char *)mark + n, p->delta->bytes);
    session_set_pos(s, pos);
}

size_t session_together(const Session *s, size_t n, size_t most) {
    const RopeConfig *rope = &s->model->config.rope;
    size_t end = s->pos + n;
    if (s->past->chooser) return 0;
    while (most && rope_choice(rope, (int64_t)(end + most)) != rope_choice(rope, (int64_t)end)) most--;
    return most;
}

/* logits = lm_head xn */
static void decoder_logits(void *arg) {
    const Batch *b = arg;
    const Model *m = b->s->model;
    size_t d = (size_t)m->config.d_model;
    Packed a = step_pack(b->s, b->s->scratch->xn + b->t * d, b->n, d, &m->lm_head);
    step_linear_nowait(b->s, b->s->logits, &a, &m->lm_head, NULL);
}

static void logits(Session *s, size_t t, size_t n) {
    const Matrix *w = &s->model->lm_head;
    if (s->model->config.family->logits) s->model->config.family->logits(s, t, n);
    else step_run(s, n * w->rows * w->cols, decoder_logits, (Batch){.t = t, .n = n});
}

void session_hand_out(Session *s, size_t t, size_t n, size_t first, SessionEach *each, void *arg) {
    size_t vocab = (size_t)s->model->config.vocab_size;
    for (size_t i = 0, rows; i < n; i += rows) {
        rows = n - i < s->options.n_logits ? n - i : s->options.n_logits;
        logits(s, t + i, rows);
        for (size_t r = 0; r < rows; r++) each(arg, first + i + r, s->logits + r * vocab);
        memmove(s->logits, s->logits + (rows - 1) * vocab, vocab * sizeof *s->logits);
    }
}

int session_eval_each(Session *s, const int *ids, size_t n, SessionEach *each, void *arg, char *err, size_t errlen) {
    int rc = session_begin(s, ids, n, 1, err, errlen);
    for (size_t done = 0, b; rc == 0 && done < n; done += b) {
        b = n - done < s->options.n_batch ? n - done : s->options.n_batch;
        session_batch(s, ids + done, b, 0);
        session_hand_out(s, 0, b, done, each, arg);
        s->has_logits = 1;
        rc = session_progress(s, done + b, n, err, errlen);
    }
    return rc;
}
