/* base/newfile.h - files to write. */
#ifndef NEWFILE_H
#define NEWFILE_H

#include <stddef.h>
#include <stdio.h>

/* A file that appears whole or not at all: it has no name until it is safe on disk, then one beside its place, and is
 * moved there. Where such files are not to be had (NFS, no /proc), it has that name from the start: path.PID-N.part,
 * which stays behind where the process is killed. Where they can be had but not named, a copy gets the name; in
 * the sandbox, which lets nothing be read that was written, newfile_close fails there. Who is killed between the naming
 * and the move leaves the whole file beside its place, under that name.
 *     NewFile f;
 *     if (newfile_open(&f, path, err, errlen)) return ...;
 *     newfile_write(&f, data, n);                          a failure is kept until newfile_close
 *     return newfile_close(&f, keep, err, errlen);         keep 0: nothing appears
 * Refused: a path that is there and is no regular file (a folder, /dev/null) or may not be written; a link that leads
 * nowhere. A link that leads to a file stays, and the file is replaced: the new one belongs to who writes it and is
 * as open as the umask has it, but no more than the old one was. */
typedef struct {
    FILE *file;
    char *path, *temporary; /* temporary: "" as long as it has no name */
    char nameless[32];      /* what leads to a file that began without one, or "" */
    unsigned mode;          /* permissions, before the umask */
    int rc; /* the first failure, a negative errno */
} NewFile;

int newfile_check(const char *path, char *err, size_t errlen); /* 0, or which of these it is, as newfile_open says */
/* The same; and a file that is there, unless it is empty, must begin with one of these texts [n], of at most
 * NEWFILE_BEGIN bytes: else it is not `what`, and not to be written over. -EEXIST, why it cannot be read, or what
 * newfile_check says. */
enum { NEWFILE_BEGIN = 80 };
int newfile_check_begins(const char *path, const char *const *texts, size_t n, const char *what, char *err,
                         size_t errlen);
int newfile_open(NewFile *f, const char *path, char *err, size_t errlen);
void newfile_write(NewFile *f, const void *data, size_t n);
int newfile_close(NewFile *f, int keep, char *err, size_t errlen); /* 0, or why it did not appear */

#endif
