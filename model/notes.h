/* model/notes.h - what was decided while a file was opened that its user should know: lines with the file, which a
 * program prints (cli/engine.c, weights-tools/source.c). */
#ifndef NOTES_H
#define NOTES_H

#include "model/files/weights.h"

typedef struct Note {
    struct Note *next; /* in the order in which they came */
    char line[300];    /* without control characters */
} Note;

/* One more behind w->notes, w's memory; where there is none it is not said. */
void weights_note(Weights *w, const char *fmt, ...) BASE_PRINTF(2, 3);
/* A format: of the tensors, as one word, that differ from what the configuration ties them to. */
extern const char note_untied[];

#endif
