/* base/file.h - files to read: mapped, and paths to them.
 *
 *     MappedFile f;
 *     if (file_map(&f, "model.gguf", err, sizeof err)) ... err holds one English line ...
 *     ... f.data[0 .. f.size-1] ...
 *     file_unmap(&f); */
#ifndef FILE_H
#define FILE_H

#include <stddef.h>
#include <stdint.h>

/* A regular file mapped read-only. data belongs to the mapping; it is never NULL once mapped, an empty
 * file is refused. A file that another program shortens while it is mapped raises SIGBUS: the program
 * (run.c) turns that into an error line. */
typedef struct {
    const uint8_t *data;
    size_t size; /* bytes */
} MappedFile;

int file_map(MappedFile *f, const char *path, char *err, size_t errlen);
void file_unmap(MappedFile *f); /* accepts a zeroed struct */

/* dir + "/" + name in malloc'ed memory, or NULL. file_folder("a/b.bin") is "a", of "b.bin" ".". */
char *file_join(const char *dir, const char *name);
char *file_folder(const char *path);
int file_exists(const char *path); /* 1: something is there that can be opened for reading */
int file_same(const char *a, const char *b); /* 1: both are there, and one file or folder, whatever the names */
int file_there(
    const char *path); /* 1: something is there, be it a link that leads nowhere or a file one may not read */
int file_is_folder(const char *path);

#endif
