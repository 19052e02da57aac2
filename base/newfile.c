/* base/newfile.c - a file written without a name or beside its place, and moved there when it is safe on disk. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "newfile.h"

#include "base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PART_NAME = 64 }; /* bytes behind the path */

static void newfile_free(NewFile *f) {
    free(f->path);
    free(f->temporary);
    memset(f, 0, sizeof *f);
}

/* Where path leads to: a link's target, so that the link stays; malloc'ed. Where nothing is there, path itself. NULL
 * and errno: memory is out, or no file can be there. */
static char *newfile_target(const char *path) {
    char *real = realpath(path, NULL);
    return real || errno != ENOENT ? real : strdup(path);
}

/* path.PID-N.part into f->temporary. */
static void newfile_temporary(NewFile *f, int n) {
    snprintf(f->temporary, strlen(f->path) + PART_NAME, "%s.%ld-%d.part", f->path, (long)getpid(), n);
}

/* A descriptor of a new file. */
static int newfile_make(const NewFile *f, const char *path, int flags) {
    return open(path, O_WRONLY | O_CLOEXEC | flags, f->mode);
}

/* What the umask is applied to: all, or the permissions of the file at path that is to be replaced. Another group than
 * that file's is one of the others. */
static mode_t newfile_mode(const char *path) {
    struct stat st;
    if (stat(path, &st)) return 0666;
    mode_t mode = st.st_mode & 0777;
    return st.st_gid == getegid() ? mode : mode & ~(mode_t)(070 & ~(mode << 3));
}

/* path.PID-N.part, which was not there before, as the name of the nameless file, or of a new one, whose descriptor it
 * returns. -1: neither. */
static int newfile_name(NewFile *f) {
    int made = -1;
    for (int i = 0; made < 0 && i < 100 && (i == 0 || errno == EEXIST);
         i++) { /* one may be left over from a process that was killed */
        newfile_temporary(f, i);
        made = *f->nameless ? linkat(AT_FDCWD, f->nameless, AT_FDCWD, f->temporary, AT_SYMLINK_FOLLOW)
                            : newfile_make(f, f->temporary, O_CREAT | O_EXCL);
    }
    if (made < 0) *f->temporary = 0;
    return made;
}

#ifdef O_TMPFILE
/* 1: /proc is there to name it by later, and the name will not be too long. */
static int newfile_can_wait(NewFile *f) {
    newfile_temporary(f, 0);
    int fits = access(f->temporary, F_OK) == 0 || errno != ENAMETOOLONG;
    *f->temporary = 0;
    return fits && access(f->nameless, F_OK) == 0;
}
#endif

/* A descriptor: of a file without a name, which goes with the process however that ends; or, where that is not to be
 * had, of one that has its name already. */
static int newfile_create(NewFile *f) {
#ifdef O_TMPFILE
    char *folder = file_folder(f->path);
    int fd = folder ? newfile_make(f, folder, O_TMPFILE) : -1;
    free(folder);
    snprintf(f->nameless, sizeof f->nameless, "/proc/self/fd/%d", fd);
    if (fd >= 0 && newfile_can_wait(f)) return fd;
    if (fd >= 0) close(fd);
    *f->nameless = 0;
#endif
    return newfile_name(f);
}

int newfile_check(const char *path, char *err, size_t errlen) {
    struct stat st;
    int there = stat(path, &st) == 0;
    if (there && !S_ISREG(st.st_mode))
        return base_error(err, errlen, -EINVAL, "%s: is there and is not a regular file", path);
    if (!there && lstat(path, &st) == 0)
        return base_error(err, errlen, -EINVAL, "%s: is a link that leads nowhere", path);
    if (there && access(path, W_OK) != 0)
        return base_error(err, errlen, -errno, "%s: cannot be written: %s", path, strerror(errno));
    return 0;
}

int newfile_check_begins(const char *path, const char *const *texts, size_t n, const char *what, char *err,
                         size_t errlen) {
    char begin[NEWFILE_BEGIN];
    int rc = newfile_check(path, err, errlen);
    FILE *f = rc ? NULL : fopen(path, "rb");
    if (rc || (!f && errno == ENOENT)) return rc;
    size_t got = f ? fread(begin, 1, sizeof begin, f) : 0;
    int known = got == 0;
    if (!f || ferror(f))
        rc = base_error(err, errlen, errno ? -errno : -EIO, "%s: is there and cannot be read: %s; it stays as it is",
                        path, strerror(errno ? errno : EIO));
    for (size_t i = 0; i < n; i++)
        known |= strlen(texts[i]) <= got && memcmp(begin, texts[i], strlen(texts[i])) == 0;
    if (f) fclose(f);
    if (rc || known) return rc;
    return base_error(err, errlen, -EEXIST, "%s: is there and is not %s; it stays as it is: name another file", path,
                      what);
}

int newfile_open(NewFile *f, const char *path, char *err, size_t errlen) {
    memset(f, 0, sizeof *f);
    int rc = newfile_check(path, err, errlen);
    if (rc) return rc;
    f->mode = newfile_mode(path);
    f->path = newfile_target(path);
    f->temporary = f->path ? calloc(1, strlen(f->path) + PART_NAME) : NULL;
    if (!f->path || !f->temporary) {
        rc = base_error(err, errlen, -errno, "%s: cannot be written: %s", path, strerror(errno));
        newfile_free(f);
        return rc;
    }
    int fd = newfile_create(f);
    f->file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (f->file) return 0;
    rc = base_error(err, errlen, -errno, "%s: cannot be written: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    if (*f->temporary) unlink(f->temporary);
    newfile_free(f);
    return rc;
}

void newfile_write(NewFile *f, const void *data, size_t n) {
    if (n && f->rc == 0 && fwrite(data, 1, n, f->file) != n) f->rc = errno ? -errno : -EIO;
}

/* Where the nameless file, whole and on disk, could not be given a name (no links here): a copy of it that has one. */
static int newfile_copy(NewFile *f) {
    char err[64];
    MappedFile whole;
    int rc = -errno; /* of the link, where it cannot be read again either: in the sandbox */
    if (file_map(&whole, f->nameless, err, sizeof err)) return rc;
    *f->nameless = 0;
    int fd = newfile_name(f);
    FILE *copy = fd < 0 ? NULL : fdopen(fd, "wb");
    int all = copy && fwrite(whole.data, 1, whole.size, copy) == whole.size && fflush(copy) == 0 && fsync(fd) == 0;
    rc = all ? 0 : -errno;
    file_unmap(&whole);
    if (copy) {
        fclose(f->file);
        f->file = copy;
    } else if (fd >= 0) close(fd);
    return rc;
}

int newfile_close(NewFile *f, int keep, char *err, size_t errlen) {
    int rc = f->rc;
    if (rc == 0 && keep && ferror(f->file)) rc = -EIO; /* of a write that nobody asked about, fprintf's */
    if (rc == 0 && keep && (fflush(f->file) != 0 || fsync(fileno(f->file)) != 0)) rc = -errno;
    if (rc == 0 && keep && *f->nameless && newfile_name(f) < 0) rc = newfile_copy(f);
    if (fclose(f->file) != 0 && rc == 0) rc = -errno;
    if (rc == 0 && keep && rename(f->temporary, f->path) != 0) rc = -errno;
    if ((rc || !keep) && *f->temporary) unlink(f->temporary);
    if (rc) base_error(err, errlen, rc, "%s: cannot be written: %s", f->path, strerror(-rc));
    newfile_free(f);
    return rc;
}
