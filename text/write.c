/* text/write.c - see write.h. */
#include "write.h"

#include "ahead.h"
#include "base/base.h"
#include "model/sampler_more.h"
#include "tokenizer/inspect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void text_writer_free(TextWriter *w) {
    free(w->ids);
    free(w->room);
    memset(w, 0, sizeof *w);
}

static int keep(TextWriter *w, int id) {
    size_t recent = sampler_looks_back(&w->sampler->options);
    if (recent < w->keep_least) recent = w->keep_least;
    if (w->n_ids == w->cap_ids && !w->keep_ids && w->n_ids / 2 >= recent) { /* a text without end takes no memory */
        if (recent) memmove(w->ids, w->ids + w->n_ids - recent, recent * sizeof *w->ids);
        w->n_ids = recent;
    }
    if (array_reserve(&w->ids, &w->cap_ids, w->n_ids + 1, sizeof *w->ids)) return -ENOMEM;
    w->ids[w->n_ids++] = id;
    w->n_new++;
    return 0;
}

static int ends_text(TextWriter *w, int id) {
    const Model *m = w->session->model;
    const Config *c = &m->config;
    /* llama2.c's tokenizer names ends that its models were not taught */
    int own = m->weights.format != FORMAT_LLAMA2C;
    int bos = id == c->bos_id || (own && id == tokenizer_bos(w->tokenizer));
    int eos = own && id == tokenizer_eos(w->tokenizer);
    for (int i = 0; i < c->n_eos; i++) eos |= id == c->eos_id[i];
    for (size_t i = 0; i < w->n_ends; i++) eos |= id == w->ends[i];
    w->end = bos ? TEXT_BOS : TEXT_EOS;
    return (bos || eos) && !w->ignore_eos;
}

/* What an id adds to the text, into room; the bytes. */
static size_t spell(TextWriter *w, int id, char *room) {
    size_t n = tokenizer_decode(w->tokenizer, &w->stream, id, room), len = 0;
    for (size_t i = 0; i < w->n_shown; i++) {
        TokenStream fresh = {.begun = 1};
        if (w->shown[i] != id || tokenizer_decode(w->tokenizer, &fresh, id, room + n) > 0) continue; /* text already */
        n += tokenizer_decode_end(w->tokenizer, &w->stream, room + n);
        const char *name = tokenizer_piece(w->tokenizer, id, &len);
        memcpy(room + n, name, len);
        n += len;
    }
    return n;
}

static int context_is_full(const TextWriter *w) {
    const Session *s = w->session;
    return (w->ahead ? ahead_pos(w->ahead) : s->pos) >= s->options.n_ctx;
}

/* An id drawn from logits, its text by way of room. 1 where the text ends: w->end says why; or a negative errno. */
static int take(TextWriter *w, const float *logits, int id, char *room) {
    if (ends_text(w, id)) return 1;
    if (keep(w, id)) return -ENOMEM;
    if (w->drawn) w->drawn(w->drawn_arg, logits, id);
    if (w->piece(w->arg, room, spell(w, id, room))) w->end = TEXT_INTERRUPT;
    else if (w->n_new == w->limit) w->end = TEXT_LENGTH;
    else if (!context_is_full(w) || (w->make_room && w->make_room(w->room_arg))) return 0;
    else w->end = TEXT_CONTEXT;
    return 1;
}

/* The last id, of which it is known that another one follows. */
static int read_last(TextWriter *w, const float **logits, char *err, size_t errlen) {
    const int *id = w->ids + w->n_ids - 1;
    if (!w->ahead) return session_eval(w->session, id, 1, logits, err, errlen);
    return ahead_read(w->ahead, w->sampler, w->ids, w->n_ids, w->limit - w->n_new - 1, logits, err, errlen);
}

int text_begin(TextWriter *w, char *err, size_t errlen) {
    w->n_new = 0;
    w->end = TEXT_LENGTH;
    free(w->room); /* what was held, and a control piece's name */
    w->room = malloc(3 * tokenizer_decode_bound(w->tokenizer));
    return w->room ? 0 : base_error(err, errlen, -ENOMEM, "out of memory");
}

int text_draw(TextWriter *w, const float *logits) {
    return w->n_new < w->limit ? sampler_next(w->sampler, logits, w->ids, w->n_ids) : 0;
}

int text_step(TextWriter *w, const float *logits, int id, char *err, size_t errlen) {
    if (w->n_new == w->limit) return 1;
    int ended = take(w, logits, id, w->room);
    return ended < 0 ? base_error(err, errlen, ended, "out of memory") : ended;
}

void text_end(TextWriter *w) {
    w->piece(w->arg, w->room, tokenizer_decode_end(w->tokenizer, &w->stream, w->room));
    free(w->room);
    w->room = NULL;
}

int text_write(TextWriter *w, const float *logits, char *err, size_t errlen) {
    int rc = text_begin(w, err, errlen), ended = 0;
    while (rc == 0 && !ended) {
        if ((ended = text_step(w, logits, text_draw(w, logits), err, errlen)) < 0) rc = ended;
        else if (!ended) rc = read_last(w, &logits, err, errlen);
    }
    if (w->ahead) { /* whatever ended the text, the session is where it would be without guesses */
        int settled = ahead_settle(w->ahead, rc ? NULL : err, rc ? 0 : errlen);
        if (rc == 0) rc = settled;
    }
    if (rc == -EINTR) w->end = TEXT_INTERRUPT, rc = 0;
    if (rc == 0) text_end(w);
    else free(w->room), w->room = NULL;
    return rc;
}
