/* base/file.c - mapped files and paths: the few operating-system calls. */
#define _DEFAULT_SOURCE /* madvise */
#include "file.h"

#include "base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A wish: where the file system can, a part that is not in memory yet is read in large pages. */
static void want_large_pages(void *p, size_t size) {
#ifdef MADV_HUGEPAGE
    if (size >= 2 << 20) madvise(p, size, MADV_HUGEPAGE);
#else
    (void)p, (void)size;
#endif
}

int file_map(MappedFile *f, const char *path, char *err, size_t errlen) {
    memset(f, 0, sizeof *f);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* O_NONBLOCK: a fifo is refused below, not waited for */
    if (fd < 0) return base_error(err, errlen, -errno, "%s: %s", path, strerror(errno));
    struct stat st;
    int rc = 0;
    if (fstat(fd, &st) != 0) rc = base_error(err, errlen, -errno, "%s: %s", path, strerror(errno));
    else if (S_ISDIR(st.st_mode)) rc = base_error(err, errlen, -EISDIR, "%s: is a folder, not a file", path);
    else if (!S_ISREG(st.st_mode))
        rc = base_error(err, errlen, -EINVAL, "%s: not a regular file, so it cannot be mapped", path);
    else if (st.st_size <= 0) rc = base_error(err, errlen, -EINVAL, "%s: the file is empty", path);
    if (rc == 0) {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p == MAP_FAILED)
            rc = base_error(err, errlen, -errno, "%s: cannot map %lld bytes: %s", path, (long long)st.st_size,
                            strerror(errno));
        else {
            want_large_pages(p, (size_t)st.st_size);
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
