/* base/file.c - mapped files and paths: the few operating-system calls. */
#include "base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int file_map(MappedFile *f, const char *path, char *err, size_t errlen) {
    memset(f, 0, sizeof *f);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* O_NONBLOCK: a fifo is refused below, not waited for */
    if (fd < 0) return base_error(err, errlen, -errno, "%s: %s", path, strerror(errno));
    struct stat st;
    int rc = 0;
    if (fstat(fd, &st) != 0) rc = base_error(err, errlen, -errno, "%s: %s", path, strerror(errno));
    else if (S_ISDIR(st.st_mode)) rc = base_error(err, errlen, -EISDIR, "%s: is a folder, not a file", path);
    else if (!S_ISREG(st.st_mode)) rc = base_error(err, errlen, -EINVAL, "%s: not a regular file, so it cannot be mapped", path);
    else if (st.st_size <= 0) rc = base_error(err, errlen, -EINVAL, "%s: the file is empty", path);
    if (rc == 0) {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p == MAP_FAILED)
            rc = base_error(err, errlen, -errno, "%s: cannot map %lld bytes: %s", path, (long long)st.st_size, strerror(errno));
        else {
            pages_large(p, (size_t)st.st_size); /* where the file system can: a part that is not in memory yet is read in large pages */
            *f = (MappedFile){.data = p, .size = (size_t)st.st_size};
        }
    }
    close(fd);
    return rc;
}

void file_unmap(MappedFile *f) {
    if (f->data) munmap((void *)(uintptr_t)f->data, f->size);
    memset(f, 0, sizeof *f);
}

static void newfile_free(NewFile *f) {
    free(f->path);
    free(f->temporary);
    memset(f, 0, sizeof *f);
}

/* Where path leads to: a link's target, so that the link stays; malloc'ed. Where nothing is there, path itself. */
static char *newfile_target(const char *path) {
    char *real = realpath(path, NULL);
    return real || errno != ENOENT ? real : strdup(path);
}

/* path.PID-N.part, which was not there before: a descriptor, or -1. */
static int newfile_create(const char *path, char *temporary, size_t n) {
    int fd = -1;
    for (int i = 0; fd < 0 && i < 100 && (i == 0 || errno == EEXIST); i++) { /* one may be left over from a process that was killed */
        snprintf(temporary, n, "%s.%ld-%d.part", path, (long)getpid(), i);
        fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    return fd;
}

int newfile_open(NewFile *f, const char *path, char *err, size_t errlen) {
    struct stat st;
    memset(f, 0, sizeof *f);
    int there = stat(path, &st) == 0;
    if (there && !S_ISREG(st.st_mode)) return base_error(err, errlen, -EINVAL, "%s: is there and is not a regular file", path);
    if (!there && lstat(path, &st) == 0) return base_error(err, errlen, -EINVAL, "%s: is a link that leads nowhere", path);
    if (there && access(path, W_OK) != 0) return base_error(err, errlen, -errno, "%s: cannot be written: %s", path, strerror(errno));
    f->path = newfile_target(path);
    size_t n = f->path ? strlen(f->path) + 64 : 0;
    f->temporary = malloc(n);
    if (!f->path || !f->temporary) {
        newfile_free(f);
        return base_error(err, errlen, -ENOMEM, "%s: out of memory", path);
    }
    int fd = newfile_create(f->path, f->temporary, n);
    f->file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (f->file) return 0;
    int rc = base_error(err, errlen, -errno, "%s: cannot be written: %s", path, strerror(errno));
    if (fd >= 0) close(fd), unlink(f->temporary);
    newfile_free(f);
    return rc;
}

void newfile_write(NewFile *f, const void *data, size_t n) {
    if (n && f->rc == 0 && fwrite(data, 1, n, f->file) != n) f->rc = errno ? -errno : -EIO;
}

int newfile_close(NewFile *f, int keep, char *err, size_t errlen) {
    int rc = f->rc;
    if (rc == 0 && keep && (fflush(f->file) != 0 || fsync(fileno(f->file)) != 0)) rc = -errno;
    if (fclose(f->file) != 0 && rc == 0) rc = -errno;
    if (rc == 0 && keep && rename(f->temporary, f->path) != 0) rc = -errno;
    if (rc || !keep) unlink(f->temporary);
    if (rc) base_error(err, errlen, rc, "%s: cannot be written: %s", f->path, strerror(-rc));
    newfile_free(f);
    return rc;
}

char *file_join(const char *dir, const char *name) {
    size_t a = strlen(dir), b = strlen(name);
    char *s = malloc(a + b + 2);
    if (!s) return NULL;
    memcpy(s, dir, a);
    s[a] = '/';
    memcpy(s + a + 1, name, b + 1);
    return s;
}

char *file_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 1;
    if (slash && n == 0) n = 1; /* "/model.bin" stands in "/" */
    char *s = malloc(n + 1);
    if (!s) return NULL;
    memcpy(s, slash ? path : ".", n);
    s[n] = 0;
    return s;
}

int file_exists(const char *path) { return access(path, R_OK) == 0; }

int file_same(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

int file_there(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0;
}

int file_is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}
