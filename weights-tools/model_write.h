/* weights-tools/model_write.h - a Source as a GGUF file, one tensor at a time. */
#ifndef MODEL_WRITE_H
#define MODEL_WRITE_H

#include "source.h"
#include "base/newfile.h"

/* Bytes of all tensors in the new file: 0, or -EINVAL and a line that names a tensor whose type cannot be read, cannot
 * be written, or does not divide its rows. To be asked before a file is opened for writing; model_write asks, too. */
int model_bytes(const Source *s, uint64_t *total, char *err, size_t errlen);

/* A GGUF v3 file: s's keys, then its items as their types say, each at a multiple of s->alignment. Rows are read,
 * encoded and written some 4 MB at a time by `threads` threads; the bytes do not depend on how many. Memory: those 4 MB
 * (a row where that is longer), and a row of floats for each thread. r->progress gets bytes. Errors: those of
 * model_bytes; -EINVAL (a number that the type cannot hold), -EINTR, -ENOMEM, each with its line; f->rc, whose line
 * newfile_close writes. */
int model_write(NewFile *f, const Source *s, int threads, const Report *r, char *err, size_t errlen);

#endif
