/* text/write.h - the loop that writes text: draw an id, hand on what it adds to the text, evaluate it.
 *
 *     static int show(void *arg, const char *text, size_t n) { return fwrite(text, 1, n, arg) < n; }
 *     ...
 *     TextWriter w = {.session = &s, .tokenizer = t, .sampler = &sampler, .limit = 200, .piece = show, .arg = stdout};
 *     rc = session_eval(&s, ids, n, &logits, err, sizeof err);  // the prompt
 *     if (rc == 0) rc = text_write(&w, logits, err, sizeof err);
 *     printf("\n%zu tokens\n", w.n_new);
 *     text_writer_free(&w); */
#ifndef TEXT_WRITE_H
#define TEXT_WRITE_H

#include "model/sampler.h"
#include "model/session.h"
#include "tokenizer/tokenizer.h"

typedef enum {
    TEXT_LENGTH,   /* limit ids were drawn */
    TEXT_EOS,      /* the model's end of text, or one of ends */
    TEXT_BOS,      /* a new text would begin: so llama2.c's models end one */
    TEXT_STOP,     /* a stop text, which is no part of the text (stops.h) */
    TEXT_CONTEXT,  /* the session has no position left */
    TEXT_INTERRUPT /* piece said so, or the session's progress did */
} TextEnd;

typedef struct {
    /* The caller's. Not owned. */
    Session *session;
    const Tokenizer *tokenizer;
    Sampler *sampler;
    size_t limit; /* at most so many new ids; SIZE_MAX: no limit */
    int ignore_eos;
    const int *ends; /* [n_ends] ids that end the text beside the model's own */
    size_t n_ends;
    const int *shown; /* [n_shown] ids of control pieces that are text here: their names come in the pieces */
    size_t n_shown;
    /* What an id adds, in whole characters: n may be 0, text is good until the call returns. Called for every id that
     * does not end the text; what is not 0 ends it. At the end once more, with the rest, whatever it said. */
    int (*piece)(void *arg, const char *text, size_t n);
    void *arg;
    /* The context is full, the last of ids is not read yet. 1: room was made, all others are read again. NULL: no. */
    int (*make_room)(void *room_arg);
    void *room_arg;
    /* An id was drawn from these logits [vocab_size], and is part of the text. NULL: nobody asks. */
    void (*drawn)(void *drawn_arg, const float *logits, int id);
    void *drawn_arg;

    struct Ahead *ahead; /* several ids a read (ahead.h); NULL: one. The text is the same */

    /* Both's: the text so far, for the sampler's penalties. Give the prompt's ids, malloc'ed: the writer's then. */
    int *ids; /* [n_ids], room for cap_ids; where keep_ids is 0 only what the sampler looks back on stays */
    size_t n_ids, cap_ids;
    int keep_ids; /* 1 where ahead is given */
    size_t keep_least; /* where keep_ids is 0 so many of the last stay, whatever the sampler needs */
    TokenStream stream; /* {.begun = 1} behind a prompt */

    /* The writer's. */
    char *room; /* from text_begin to text_end */
    size_t n_new; /* ids drawn, the one that ended the text not counted */
    TextEnd end;  /* why it ended */
} TextWriter;

/* Write on from logits [vocab_size], those behind the session's last id. 0 and w->end, or a negative errno (-ENOMEM,
 * the session's) with a line in err; the session is then behind all of w->ids, or all but the last. It may be called
 * again for another text: n_new begins anew. */
int text_write(TextWriter *w, const float *logits, char *err, size_t errlen);

/* Its parts, for who reads the ids in another way: text_begin; then text_draw's id of the logits behind the last id to
 * text_step, until that is not 0: 1, the text is at its end, or negative; where it is 0, the last of w->ids is to be
 * read; text_end. Several writers may draw and step at
 * once, each with a sampler of its own, in threads that then call piece and drawn. */
int text_begin(TextWriter *w, char *err, size_t errlen);
int text_draw(TextWriter *w, const float *logits); /* which are not looked at behind the last id that is wanted */
int text_step(TextWriter *w, const float *logits, int id, char *err, size_t errlen);
void text_end(TextWriter *w);
void text_writer_free(TextWriter *w); /* ids; accepts a zeroed struct */

#endif
