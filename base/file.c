/* base/file.c - mapped files: the few operating-system calls. */
#define _DEFAULT_SOURCE /* madvise */
#include "file.h"

#include "base.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int map_open_file(MappedFile *f, int fd, const char *path, char *err, size_t errlen) {
    struct stat st;
    if (fstat(fd, &st) != 0) return base_error(err, errlen, -errno, "%s: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode)) return base_error(err, errlen, -EISDIR, "%s: is a folder, not a file", path);
    if (!S_ISREG(st.st_mode))
        return base_error(err, errlen, -EINVAL, "%s: not a regular file, so it cannot be mapped", path);
    if (st.st_size <= 0) return base_error(err, errlen, -EINVAL, "%s: the file is empty", path);
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return base_error(err, errlen, -errno, "%s: cannot map %lld bytes: %s", path, (long long)st.st_size,
                          strerror(errno));
#ifdef MADV_HUGEPAGE /* a wish: where the file system can, what is not in memory yet is read in large pages */
    if (st.st_size >= 2 << 20) madvise(p, (size_t)st.st_size, MADV_HUGEPAGE);
#endif
    *f = (MappedFile){p, (size_t)st.st_size};
    return 0;
}

int file_map(MappedFile *f, const char *path, char *err, size_t errlen) {
    *f = (MappedFile){NULL, 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* O_NONBLOCK: a fifo is refused, not waited for */
    if (fd < 0) return base_error(err, errlen, -errno, "%s: %s", path, strerror(errno));
    int rc = map_open_file(f, fd, path, err, errlen);
    close(fd);
    return rc;
}

void file_unmap(MappedFile *f) {
    if (f->data) munmap((void *)(uintptr_t)f->data, f->size);
    *f = (MappedFile){NULL, 0};
}

char *file_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path)); /* "/model.bin" stands in "/" */
}

int file_is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}
