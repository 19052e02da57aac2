/* base/base.h - what every folder may use: error lines, checked sizes, mapped files, UTF-8.
 *
 *     MappedFile f;
 *     char err[256];
 *     if (file_map(&f, "model.gguf", err, sizeof err)) { ... err holds one English line ... }
 *     ... f.data[0 .. f.size-1] ...
 *     file_unmap(&f);
 *
 * Every function that can fail returns 0 or a negative errno, and writes one line into err. */
#ifndef BASE_H
#define BASE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__GNUC__)
#define BASE_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define BASE_PRINTF(fmt, args)
#endif

/* Write one line into err and return code: a failing function ends with `return base_error(err, errlen, -EINVAL, ...)`.
 * Control characters of names and file contents become '?'; a line longer than err loses its beginning (a long path), not
 * its end (the reason). */
int base_error(char *err, size_t errlen, int code, const char *fmt, ...) BASE_PRINTF(4, 5);
int base_verror(char *err, size_t errlen, int code, const char *fmt, va_list ap);

/* a * b and a + b into *out; 1 where they fit a size_t, 0 where they would wrap. */
int size_mul(size_t a, size_t b, size_t *out);
int size_add(size_t a, size_t b, size_t *out);

/* Room for `want` elements, each of so many bytes, in an array that grows: array points to the pointer of a malloc'ed block (or
 * NULL) that has room for *cap; 0 or -ENOMEM, and then nothing has changed. Room doubles, so adding one at a time costs O(1).
 *     if (array_reserve(&ids->at, &ids->cap, ids->n + 1, sizeof *ids->at)) return -ENOMEM; */
int array_reserve(void *array, size_t *cap, size_t want, size_t element);

/* FNV-1a, 64 bits, going on from hash; begin with HASH_START. Every step is one-to-one, so one damaged byte always shows. */
#define HASH_START 0xcbf29ce484222325u
uint64_t hash_bytes(uint64_t hash, const void *data, size_t n);

/* Little-endian loads from any address. */
uint16_t load_u16(const void *p);
uint32_t load_u32(const void *p);
uint64_t load_u64(const void *p);
float    load_f32(const void *p);

/* A regular file mapped read-only. data belongs to the mapping; it is never NULL once mapped, an empty
 * file is refused. A file that another program shortens while it is mapped raises SIGBUS: the program
 * (run.c) turns that into an error line. */
typedef struct {
    const uint8_t *data;
    size_t size; /* bytes */
} MappedFile;

int file_map(MappedFile *f, const char *path, char *err, size_t errlen);
void file_unmap(MappedFile *f); /* accepts a zeroed struct */

/* size bytes of zeros for long use, at the start of a page, in large pages where the system has them; NULL: out of memory. */
void *pages_new(size_t size);
void pages_free(void *p, size_t size); /* p may be NULL */
/* A wish: pages from p on in large ones, if size is worth it. Fewer page faults, fewer misses of the TLB. */
void pages_large(void *p, size_t size);
/* The whole pages of a mapped file that lie in data [size] need not stay in memory: read again, they come from the file. */
void pages_drop(const void *data, size_t size);

double clock_seconds(void);  /* of a clock that never goes back */
double thread_seconds(void); /* for which this thread has run on a core */

/* From now on `handler` is called for signal sig; but a hangup that the process was started to ignore stays ignored: nohup. flags:
 * sigaction's. */
void signal_catch(int sig, void (*handler)(int sig), int flags);

/* Bytes of a core's second-level cache: what the system says, from 512 KB to 2 MB; 512 KB where it says nothing. */
size_t cache_second_level(void);

/* A file that appears whole or not at all: written beside its place, and moved there when it is safe on disk.
 *     NewFile f;
 *     if (newfile_open(&f, path, err, errlen)) return ...;
 *     newfile_write(&f, data, n);                          a failure is kept until newfile_close
 *     return newfile_close(&f, keep, err, errlen);         keep 0: nothing appears
 * Refused: a path that is there and is no regular file (a folder, /dev/null) or may not be written; a link that leads
 * nowhere. A link that leads to a file stays, and the file is replaced. */
typedef struct {
    FILE *file;
    char *path, *temporary;
    int rc; /* the first failure, a negative errno */
} NewFile;

int newfile_open(NewFile *f, const char *path, char *err, size_t errlen);
void newfile_write(NewFile *f, const void *data, size_t n);
int newfile_close(NewFile *f, int keep, char *err, size_t errlen); /* 0, or why it did not appear */

/* dir + "/" + name in malloc'ed memory, or NULL. file_folder("a/b.bin") is "a", of "b.bin" ".". */
char *file_join(const char *dir, const char *name);
char *file_folder(const char *path);
int file_exists(const char *path); /* 1: something is there that can be opened for reading */
int file_same(const char *a, const char *b); /* 1: both are there, and one file or folder, whatever the names */
int file_there(const char *path);  /* 1: something is there, be it a link that leads nowhere or a file one may not read */
int file_is_folder(const char *path);

/* The UTF-8 character at s[0 .. n-1], n >= 1: its length 1..4 and the code point in *cp, or 0 where the
 * bytes are not well-formed (RFC 3629: no overlong form, no surrogate, nothing above U+10FFFF). */
int utf8_decode(const char *s, size_t n, uint32_t *cp);
/* How many bytes a character takes whose first byte is c; 0 where c cannot start one. */
int utf8_length(unsigned char c);
/* cp into out[0..3]; the bytes written, 1..4. */
int utf8_encode(uint32_t cp, char out[4]);

#endif
