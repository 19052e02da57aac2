/* text/stops.h - stop texts: they end a text, and are no part of it. What may yet become one is held back, between
 * text_write and the caller's own piece function.
 *
 *     TextStops stops = {.texts = {"\nUser:"}, .n_texts = 1, .piece = show, .arg = stdout};
 *     TextWriter w = {.., .piece = text_stops_piece, .arg = &stops};
 *     rc = text_write(&w, logits, err, sizeof err);
 *     if (rc == 0) rc = text_stops_finish(&stops, &w, err, sizeof err);
 *     text_stops_free(&stops); */
#ifndef TEXT_STOPS_H
#define TEXT_STOPS_H

#include "write.h"

enum { STOPS_MOST = 24 };

typedef struct {
    const char *texts[STOPS_MOST]; /* [n_texts], none empty; not owned */
    size_t n_texts;
    int (*piece)(void *arg, const char *text, size_t n); /* as TextWriter's */
    void *arg;
    char *held; /* [n_held] text that is not handed on yet, room for cap_held */
    size_t n_held, cap_held;
    int stopped, failed; /* a stop text has come; there was no memory for what is held */
} TextStops;

int text_stops_piece(void *stops, const char *text, size_t n); /* a TextWriter's piece; its arg is a TextStops */
/* Behind text_write: what is held is handed on; where a stop text ended the text, w->end says so. Another text may be
 * written then. 0, or -ENOMEM and a line. */
int text_stops_finish(TextStops *s, TextWriter *w, char *err, size_t errlen);
void text_stops_free(TextStops *s); /* what is held; the texts stay. Accepts a zeroed struct */

extern const char *const text_end_names[]; /* by TextEnd: "length", "eos", "bos", "stop", "context", "interrupt" */

#endif
