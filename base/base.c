/* base/base.c - error lines, checked sizes, arrays that grow, little-endian loads, UTF-8, mapped files. */
#define _DEFAULT_SOURCE /* madvise */
#include "base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int base_error(char *err, size_t errlen, int code, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    base_verror(err, errlen, code, fmt, ap);
    va_end(ap);
    return code;
}

int base_verror(char *err, size_t errlen, int code, const char *fmt, va_list ap) {
    if (!err || errlen == 0) return code;
    char line[4096 + 512]; /* a path of PATH_MAX and a reason */
    if (vsnprintf(line, sizeof line, fmt, ap) < 0) *line = 0;
    size_t len = strlen(line), most = errlen - 1, front = most / 3;
    if (len <= most) memcpy(err, line, len + 1);
    else { /* the file in front, the reason behind */
        memcpy(err, line, front);
        memcpy(err + front, line + len - (most - front), most - front + 1);
        if (most - front > 3) memcpy(err + front, "...", 3);
    }
    text_harmless(err, "");
    return code;
}

void text_harmless(char *s, const char *keep) {
    for (unsigned char *p = (unsigned char *)s; *p; p++) {
        if ((*p < 0x20 && !strchr(keep, *p)) || *p == 0x7f) *p = '?';
        if (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0) p[0] = p[1] = '?'; /* C1 */
    }
}

int base_complain(ErrorLine *line, const char *fmt, ...) {
    char what[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    if (line->rc == 0) line->rc = base_error(line->err, line->errlen, -EINVAL, "%s: %s", line->name, what);
    return line->rc;
}

int size_mul(size_t a, size_t b, size_t *out) {
    int fits = a == 0 || b <= SIZE_MAX / a;
    if (fits) *out = a * b;
    return fits;
}

int size_add(size_t a, size_t b, size_t *out) {
    int fits = b <= SIZE_MAX - a;
    if (fits) *out = a + b;
    return fits;
}

int array_reserve(void *array, size_t *cap, size_t want, size_t element) {
    size_t room = *cap ? *cap : 16, bytes;
    void *p;
    if (want <= *cap) return 0;
    while (room < want)
        if (!size_mul(room, 2, &room)) return -ENOMEM;
    memcpy(&p, array, sizeof p); /* whatever it points to, a pointer is a pointer on every POSIX system */
    if (!size_mul(room, element, &bytes) || !(p = realloc(p, bytes))) return -ENOMEM;
    memcpy(array, &p, sizeof p);
    *cap = room;
    return 0;
}

uint16_t load_u16(const void *p) {
    const uint8_t *b = p;
    return (uint16_t)(b[0] | b[1] << 8);
}

uint32_t load_u32(const void *p) {
    const uint8_t *b = p;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

uint64_t load_u64(const void *p) {
    return load_u32(p) | (uint64_t)load_u32((const uint8_t *)p + 4) << 32;
}

float load_f32(const void *p) {
    return (union { uint32_t bits; float value; }){load_u32(p)}.value;
}

int utf8_length(unsigned char c) {
    if (c < 0xc2) return c < 0x80; /* a continuation byte, or an overlong two-byte form, starts none */
    return c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
}

int utf8_decode(const char *s, size_t n, uint32_t *cp) {
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *b = (const unsigned char *)s;
    int len = n ? utf8_length(b[0]) : 0;
    if (len == 0 || (size_t)len > n) return 0;
    uint32_t c = len == 1 ? b[0] : b[0] & (0xffu >> (len + 1));
    for (int i = 1; i < len; i++) {
        if ((b[i] & 0xc0) != 0x80) return 0;
        c = c << 6 | (b[i] & 0x3fu);
    }
    if (c < smallest[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) return 0;
    *cp = c;
    return len;
}

static int map_open_file(MappedFile *f, int fd, const char *path, char *err, size_t errlen) {
    struct stat st;
    if (fstat(fd, &st) != 0) return base_error(err, errlen, -errno, "%s: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode)) return base_error(err, errlen, -EISDIR, "%s: is a folder, not a file", path);
    if (!S_ISREG(st.st_mode))
        return base_error(err, errlen, -EINVAL, "%s: not a regular file, so it cannot be mapped", path);
    if (st.st_size <= 0) return base_error(err, errlen, -EINVAL, "%s: the file is empty", path);
    if (st.st_size > PTRDIFF_MAX)
        return base_error(err, errlen, -EFBIG, "%s: its %lld MB are more than a program of %d bits can map; a build of "
                          "64 bits can", path, (long long)st.st_size >> 20, (int)sizeof(size_t) * 8);
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
