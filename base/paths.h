/* base/paths.h - paths: put together, and what stands there. */
#ifndef PATHS_H
#define PATHS_H

#include <stddef.h>

char *file_join(const char *dir, const char *name); /* dir + "/" + name in malloc'ed memory, or NULL */
/* The first of names [n] that is in folder, as `there` (file_exists, file_there) has it: *path malloc'ed, NULL where
 * none is. 0, or -ENOMEM: who takes that for "none" does something else than was asked for. */
int file_find(char **path, const char *folder, const char *const *names, size_t n, int (*there)(const char *path));
int file_has(const char *folder, const char *name); /* 1: file_exists there; needs no memory */
int file_exists(const char *path);           /* 1: something is there that can be opened for reading */
int file_same(const char *a, const char *b); /* 1: both are there, and one file or folder, whatever the names */
int file_is_regular(const char *path);       /* 1: a file, and no folder, pipe or device */
/* 1: something is there, be it a link that leads nowhere or a file one may not read. */
int file_there(const char *path);
/* 1: rc, a negative errno of opening or reading, is of this moment (memory, descriptors, the disk, a signal) and says
 * nothing of the file: who only asks what it is cannot tell. */
int errno_is_passing(int rc);
int text_ends_with(const char *s, const char *tail); /* 1: it does, and is longer */

#endif
