/* model/files/open.h - opening a model file by its bytes, never by its name: the table of formats says who reads it. */
#ifndef OPEN_H
#define OPEN_H

#include "weights.h"

/* Open path, a file or a folder: 0, or a negative errno and one line in err that names the file and the reason; nothing
 * is held then. Errors: -ENOENT, -EINVAL (not a model file, truncated, overlapping, unknown type ..), -ENOMEM. A GGUF
 * file with no tensors (a vocabulary) opens too. */
int weights_open(Weights *w, const char *path, char *err, size_t errlen);
/* The same for a file that lies in memory already and outlives w. */
int weights_open_memory(Weights *w, const void *data, size_t size, const char *name, char *err, size_t errlen);

/* A format: a row. w->path and w->folder are set; w->files[0] is the file, where it was not opened from memory. */
typedef struct {
    int (*is)(const uint8_t *data, size_t size); /* do these bytes look like it? size >= 1 */
    int (*open)(Weights *w, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen);
    int (*open_folder)(Weights *w, char *err, size_t errlen); /* w->folder as a model; NULL: it is no folder */
} WeightsReader;
extern const WeightsReader weights_readers[]; /* tried in order; ended by a zeroed row (formats.c) */

#endif
