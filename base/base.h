/* base/base.h - what every folder may use: error lines, checked sizes, growing arrays, loads, UTF-8, mapped files.
 *
 *     char err[256];
 *     if (size_mul(n, 4, &bytes)) ... else return base_error(err, sizeof err, -EINVAL, "%s: too large", path);
 *
 * Every function that can fail returns 0 or a negative errno, and writes one line into err. */
#ifndef BASE_H
#define BASE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "big-endian machines are not supported");
#define BASE_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define MOST_COUNTED (SIZE_MAX > UINT32_MAX ? 1e15 : 2e9) /* the most that is counted of ids and positions */

/* One line into err; returns code. One too long for err keeps its front, the file, and its end, the reason. */
int base_error(char *err, size_t errlen, int code, const char *fmt, ...) BASE_PRINTF(4, 5);
int base_verror(char *err, size_t errlen, int code, const char *fmt, va_list ap);
/* Control characters, of names and files' contents, become '?', but those of keep; an error line has none. */
void text_harmless(char *s, const char *keep);

/* Of the complaints about a file the first stays: "name: what is wrong" in err, -EINVAL in rc. Returns rc. */
typedef struct { const char *name; char *err; size_t errlen; int rc; } ErrorLine;
int base_complain(ErrorLine *line, const char *fmt, ...) BASE_PRINTF(2, 3);

/* a * b and a + b into *out; 1 where they fit a size_t, 0 where they would wrap. */
int size_mul(size_t a, size_t b, size_t *out);
int size_add(size_t a, size_t b, size_t *out);

/* Room for `want` elements, each of so many bytes, in an array that grows: array points to the pointer of a malloc'ed
 * block (or NULL) with room for *cap. 0, or -ENOMEM: nothing has changed. Room doubles: one more costs O(1).
 *     if (array_reserve(&ids->at, &ids->cap, ids->n + 1, sizeof *ids->at)) return -ENOMEM; */
int array_reserve(void *array, size_t *cap, size_t want, size_t element);

static const double TURN = 6.28318530717958647692; /* 2 pi: once around, in radians */

/* Little-endian loads from any address. */
uint16_t load_u16(const void *p);
uint32_t load_u32(const void *p);
uint64_t load_u64(const void *p);
float    load_f32(const void *p);

/* The UTF-8 character at s[0 .. n-1], n >= 1: its length 1..4 and the code point in *cp, or 0 where the bytes are not
 * well-formed (RFC 3629: no overlong form, no surrogate, nothing above U+10FFFF). */
int utf8_decode(const char *s, size_t n, uint32_t *cp);
int utf8_length(unsigned char c); /* bytes of a character whose first is c; 0 where c cannot start one */

/* A regular file mapped read-only. data belongs to the mapping and is never NULL once mapped: an empty file is refused.
 * A file that another program shortens meanwhile raises SIGBUS: the program (run.c) turns that into an error line. */
typedef struct { const uint8_t *data; size_t size; } MappedFile; /* size: bytes */
int file_map(MappedFile *f, const char *path, char *err, size_t errlen);
void file_unmap(MappedFile *f); /* accepts a zeroed struct */

char *file_folder(const char *path); /* of "a/b.bin" "a", of "b.bin" ".": malloc'ed, or NULL; paths.h has more */
int file_is_folder(const char *path);

#endif
