/* text/write.c - see write.h. */
#include "write.h"

#include "base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const text_end_names[] = {"length", "eos", "bos", "stop", "context", "interrupt", NULL};

void text_writer_free(TextWriter *w) {
    free(w->ids);
    free(w->held);
    memset(w, 0, sizeof *w);
}

/* Where the first stop text begins, or, where none stands there whole, what may be the beginning of one; else n_held.
 * *stopped: one stands there whole. */
static size_t settled(const TextWriter *w, int *stopped) {
    size_t n = w->n_held, cut = n;
    for (size_t i = 0; i < w->n_stops; i++) {
        size_t at = find_bytes(w->held, 0, n, w->stops[i]);
        if (at < cut) cut = at;
    }
    *stopped = cut < n;
    for (size_t i = 0; i < w->n_stops && !*stopped; i++) {
        size_t len = strlen(w->stops[i]);
        for (size_t at = n > len - 1 ? n - (len - 1) : 0; at < cut; at++)
            if (memcmp(w->held + at, w->stops[i], n - at) == 0) cut = at;
    }
    return cut;
}

/* Hand on what is known to stay, at the end all. 1: a stop text ended the text; 2: the caller did. */
static int hand_on(TextWriter *w, int last) {
    int stopped;
    size_t cut = settled(w, &stopped);
    if (last && !stopped) cut = w->n_held;
    int enough = w->piece(w->arg, w->held, cut);
    memmove(w->held, w->held + cut, w->n_held - cut);
    w->n_held -= cut;
    return stopped ? 1 : enough ? 2 : 0;
}

/* Room for what one more id decodes to. */
static int reserve(TextWriter *w) {
    return array_reserve(&w->held, &w->cap_held, w->n_held + tokenizer_decode_bound(w->tokenizer), 1);
}

/* One more id, and its text where it goes. */
static int keep(TextWriter *w, int id) {
    size_t recent = w->sampler->options.window;
    if (w->n_ids == w->cap_ids && !w->keep_ids && w->n_ids >= 2 * recent) { /* a text without end takes no memory */
        if (recent) memmove(w->ids, w->ids + w->n_ids - recent, recent * sizeof *w->ids);
        w->n_ids = recent;
    }
    if (array_reserve(&w->ids, &w->cap_ids, w->n_ids + 1, sizeof *w->ids) || reserve(w)) return -ENOMEM;
    w->ids[w->n_ids++] = id;
    w->n_held += tokenizer_decode(w->tokenizer, &w->stream, id, w->held + w->n_held);
    w->n_new++;
    return 0;
}

static int ends_text(const TextWriter *w, int id, TextEnd *end) {
    const Model *m = w->session->model;
    const Config *c = &m->config;
    /* llama2.c's tokenizer names ends that its models were not taught */
    int own = m->weights.format != FORMAT_LLAMA2C;
    int bos = id == c->bos_id || (own && id == tokenizer_bos(w->tokenizer));
    int eos = own && id == tokenizer_eos(w->tokenizer);
    for (int i = 0; i < c->n_eos; i++) eos |= id == c->eos_id[i];
    for (size_t i = 0; i < w->n_ends; i++) eos |= id == w->ends[i];
    *end = bos ? TEXT_BOS : TEXT_EOS;
    return (bos || eos) && !w->ignore_eos;
}

/* One id. 1 where the text ends with it: w->end says why; a negative errno. */
static int take(TextWriter *w, int id) {
    const Session *s = w->session;
    if (ends_text(w, id, &w->end)) return 1;
    if (keep(w, id)) return -ENOMEM;
    int told = hand_on(w, 0);
    if (told) w->end = told == 1 ? TEXT_STOP : TEXT_INTERRUPT;
    else if (w->n_new == w->limit) w->end = TEXT_LENGTH;
    else if (s->pos < s->options.n_ctx || (w->make_room && w->make_room(w->arg))) return 0;
    else w->end = TEXT_CONTEXT;
    return 1;
}

/* The end of the text: nothing is held back any more. */
static int finish(TextWriter *w) {
    if (w->end == TEXT_STOP) return 0;
    if (reserve(w)) return -ENOMEM;
    w->n_held += tokenizer_decode_end(w->tokenizer, &w->stream, w->held + w->n_held);
    if (hand_on(w, 1) == 1) w->end = TEXT_STOP;
    return 0;
}

int text_write(TextWriter *w, const float *logits, char *err, size_t errlen) {
    int rc = 0, ended = w->limit == 0;
    w->n_new = w->n_held = 0;
    w->end = TEXT_LENGTH;
    while (rc == 0 && !ended) {
        int id = sampler_next(w->sampler, logits, w->ids, w->n_ids);
        w->last_s = clock_seconds();
        if (w->n_new == 0) w->first_s = w->last_s;
        if ((ended = take(w, id)) < 0) return base_error(err, errlen, ended, "out of memory");
        if (!ended) rc = session_eval(w->session, &id, 1, &logits, err, errlen);
    }
    if (rc == -EINTR) w->end = TEXT_INTERRUPT;
    else if (rc) return rc;
    return finish(w) ? base_error(err, errlen, -ENOMEM, "out of memory") : 0;
}
