/* model/files/gguf.h - GGUF, one file. */
#ifndef GGUF_H
#define GGUF_H

#include "weights.h"

int gguf_is(const uint8_t *data, size_t size);
/* Append its tensors and keys to w, and finish. 0, or -EINVAL, -ENOMEM and one line. */
int gguf_open(Weights *w, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen);

/* The same in two steps: begin with the first six set. */
typedef struct {
    Weights *w;
    const uint8_t *data;
    size_t size;
    const char *name;
    char *err;
    size_t errlen;
    size_t pos;
    uint64_t n_tensors, n_meta;
    size_t first_meta; /* this file's keys are w->meta[first_meta ..] */
    size_t alignment;
} Gguf;

int gguf_read_head(Gguf *g);    /* everything before the tensor list; the keys stay in w->meta */
int gguf_read_tensors(Gguf *g); /* the rest, to the file's end */
const MetaValue *gguf_find(const Gguf *g, const char *key); /* a key of this file, or NULL */

#endif
