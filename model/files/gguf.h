/* model/files/gguf.h - GGUF, one file. */
#ifndef GGUF_H
#define GGUF_H

#include "weights.h"

int gguf_is(const uint8_t *data, size_t size);
/* Append its tensors and keys to w, and finish. 0, or -EINVAL, -ENOMEM and one line. */
int gguf_open(Weights *w, const uint8_t *data, size_t size, char *err, size_t errlen);

/* The same in two steps (gguf_split.c): begin with the first four set. */
typedef struct {
    Weights *w;
    const uint8_t *data;
    size_t size;
    ErrorLine line;
    size_t pos, alignment;
    uint64_t n_tensors;
    int cut; /* something would reach past the file's end */
} Gguf;

int gguf_read_head(Gguf *g);    /* everything before the tensor list; the keys are added to g->w */
int gguf_read_tensors(Gguf *g); /* the rest, to the file's end; the tensors are added to g->w */

#endif
