/* base/paths.h - paths: put together, and what stands there. */
#ifndef PATHS_H
#define PATHS_H

char *file_join(const char *dir, const char *name); /* dir + "/" + name in malloc'ed memory, or NULL */
int file_exists(const char *path);           /* 1: something is there that can be opened for reading */
int file_same(const char *a, const char *b); /* 1: both are there, and one file or folder, whatever the names */
int file_is_regular(const char *path);       /* 1: a file, and no folder, pipe or device */
/* 1: something is there, be it a link that leads nowhere or a file one may not read. */
int file_there(const char *path);
int text_ends_with(const char *s, const char *tail); /* 1: it does, and is longer */

#endif
