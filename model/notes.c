/* model/notes.c - see notes.h. */
#include "notes.h"

#include <stdlib.h>

const char note_untied[] = "tied by its configuration, but the file has another %s: the file's is used";

void weights_note(Weights *w, const char *fmt, ...) {
    Note **last = &w->notes, *n = weights_own(w, calloc(1, sizeof *n), free);
    if (!n) return;
    va_list ap;
    va_start(ap, fmt);
    base_verror(n->line, sizeof n->line, 0, fmt, ap);
    va_end(ap);
    while (*last) last = &(*last)->next;
    *last = n;
}
