/* model/reader.h - what weights.c gives to the three readers; nobody else includes it.
 *
 * A reader appends tensors and metadata to a Weights as it meets them, so memory grows with what was found, never with
 * what a header claims, and ends with weights_finish. Where it fails it just returns: weights.c closes what is there. */
#ifndef READER_H
#define READER_H

#include "weights.h"

/* A copy of s[0 .. n-1] with a NUL behind it, owned by w; NULL without memory. */
const char *weights_keep(Weights *w, const char *s, size_t n);

/* Append a copy of *t (*m). 0 or -ENOMEM. */
int weights_add_tensor(Weights *w, const Tensor *t);
int weights_add_meta(Weights *w, const MetaValue *m);

/* Bytes of a GGUF value type; 0 for strings and arrays. type <= META_F64. */
size_t meta_size(MetaType type);

/* Map path as one more file of w: w->files[w->n_files - 1]. */
int weights_add_file(Weights *w, const char *path, char *err, size_t errlen);

/* Sort the index of names; refuse a name that stands twice and tensors that share bytes. */
int weights_finish(Weights *w, char *err, size_t errlen);

/* 1 where s is a name we can print and compare: not empty, UTF-8, no NUL. */
int reader_is_name(const char *s, size_t n);

int reader_no_memory(const char *name, char *err, size_t errlen); /* writes the line, returns -ENOMEM */

/* One safetensors file, from memory: append its tensors. name is what error lines call it. */
int safetensors_read(Weights *w, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen);

#endif
