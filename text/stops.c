/* text/stops.c - see stops.h. */
#include "stops.h"

#include "base/base.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const text_end_names[] = {"length", "eos", "bos", "stop", "context", "interrupt", NULL};

/* Where the first stop text begins, or, where none stands there whole, what may be the beginning of one; else n_held.
 * s->stopped: one stands there whole. */
static size_t settled(TextStops *s) {
    size_t n = s->n_held, cut = n;
    for (size_t i = 0; i < s->n_texts; i++) {
        size_t at = find_bytes(s->held, 0, n, s->texts[i]);
        if (at < cut) cut = at;
    }
    s->stopped = cut < n;
    for (size_t i = 0; i < s->n_texts && !s->stopped; i++) {
        size_t len = strlen(s->texts[i]);
        for (size_t at = n > len - 1 ? n - (len - 1) : 0; at < cut; at++)
            if (memcmp(s->held + at, s->texts[i], n - at) == 0) cut = at;
    }
    return cut;
}

int text_stops_piece(void *stops, const char *text, size_t n) {
    TextStops *s = stops;
    if (s->stopped || s->failed) return 1;
    if (array_reserve(&s->held, &s->cap_held, s->n_held + n + 1, 1)) return s->failed = 1;
    memcpy(s->held + s->n_held, text, n);
    s->n_held += n;
    size_t cut = settled(s);
    int enough = s->piece(s->arg, s->held, cut);
    memmove(s->held, s->held + cut, s->n_held - cut);
    s->n_held -= cut;
    return s->stopped || enough;
}

int text_stops_finish(TextStops *s, TextWriter *w, char *err, size_t errlen) {
    int failed = s->failed;
    if (s->stopped) w->end = TEXT_STOP;
    else if (!failed) s->piece(s->arg, s->held, s->n_held);
    s->n_held = 0;
    s->stopped = s->failed = 0;
    return failed ? base_error(err, errlen, -ENOMEM, "out of memory") : 0;
}

void text_stops_free(TextStops *s) {
    free(s->held);
    s->held = NULL;
    s->n_held = s->cap_held = 0;
    s->stopped = s->failed = 0;
}
