/* base/file.h - files to read, mapped. (paths.h: more of paths.)
 *
 *     MappedFile f;
 *     if (file_map(&f, "model.gguf", err, sizeof err)) ... err holds one English line ...
 *     ... f.data[0 .. f.size-1] ...
 *     file_unmap(&f); */
#ifndef FILE_H
#define FILE_H

#include <stddef.h>
#include <stdint.h>

/* A regular file mapped read-only. data belongs to the mapping and is never NULL once mapped: an empty file is refused.
 * A file that another program shortens meanwhile raises SIGBUS: the program (run.c) turns that into an error line. */
typedef struct {
    const uint8_t *data;
    size_t size; /* bytes */
} MappedFile;

int file_map(MappedFile *f, const char *path, char *err, size_t errlen);
void file_unmap(MappedFile *f); /* accepts a zeroed struct */

char *file_folder(const char *path); /* of "a/b.bin" "a", of "b.bin" ".": malloc'ed, or NULL */
int file_is_folder(const char *path);

#endif
