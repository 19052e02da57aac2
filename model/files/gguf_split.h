/* model/files/gguf_split.h - GGUF, one file or the parts of a split one. */
#ifndef GGUF_SPLIT_H
#define GGUF_SPLIT_H

#include "gguf.h"

/* gguf_open; where the file says that it is a part, all parts, which must stand in one folder under their own names. */
int gguf_split_open(Weights *w, const uint8_t *data, size_t size, char *err, size_t errlen);

#endif
