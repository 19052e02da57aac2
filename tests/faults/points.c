/* tests/faults/points.c - see faults.h: what the linker puts in the place of malloc, open, fopen .. */
#define _GNU_SOURCE /* fopencookie */
#include "faults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <execinfo.h>
typedef off64_t Offset; /* of a stream's seek */
#else
typedef off_t Offset;
#endif

static Faults *faults; /* NULL: nothing counts */

static void frames_take(void **frames) {
#ifdef __GLIBC__
    backtrace(frames, FAULT_FRAMES);
#else
    frames[0] = __builtin_return_address(0);
#endif
}

/* A point of that kind: 1 where it fails, and errno says how. */
static int fails(FaultKind kind, const char *call, int code) {
    if (!faults) return 0;
    size_t n = atomic_fetch_add(&faults->count[kind], 1) + 1;
    int exhausted = kind == FAULT_MEMORY && faults->kind == FAULT_EXHAUSTED;
    if (faults->at == 0 || !(exhausted ? n >= faults->at : kind == faults->kind && n == faults->at)) return 0;
    if (!atomic_exchange(&faults->failed, 1)) {
        faults->call = call;
        frames_take(faults->frames);
    }
    errno = code;
    return 1;
}

static int no_memory(const char *call) { return fails(FAULT_MEMORY, call, ENOMEM); }
static int interrupted(const char *call) { return fails(FAULT_INTERRUPT, call, EINTR); }

/* ---- what is held: a table by address, open, linear; a block that is removed moves up those behind it ---- */

enum { HELD = 1 << 17 };
typedef struct { void *p; const char *call; void *frames[FAULT_FRAMES]; } Held;
static Held held[HELD];
static size_t n_held;
static pthread_mutex_t held_lock = PTHREAD_MUTEX_INITIALIZER;

static size_t home(const void *p) { return (size_t)(((uintptr_t)p >> 4) * 0x9e3779b97f4a7c15u >> 40) % HELD; }

static void *hold(void *p, const char *call) {
    if (!p || !faults) return p;
    pthread_mutex_lock(&held_lock);
    size_t i = home(p);
    while (held[i].p) i = (i + 1) % HELD;
    if (n_held < HELD - 1) {
        held[i].p = p, held[i].call = call;
        if (faults->trace) frames_take(held[i].frames);
        if (++n_held > faults->peak) faults->peak = n_held;
    }
    pthread_mutex_unlock(&held_lock);
    return p;
}

static void *let_go(void *p) {
    if (!p || !faults) return p;
    pthread_mutex_lock(&held_lock);
    size_t i = home(p);
    while (held[i].p && held[i].p != p) i = (i + 1) % HELD;
    if (held[i].p) {
        n_held--;
        for (size_t j = (i + 1) % HELD; held[j].p; j = (j + 1) % HELD)
            if ((j - home(held[j].p) + HELD) % HELD >= (j - i + HELD) % HELD) held[i] = held[j], i = j;
        held[i].p = NULL;
    }
    pthread_mutex_unlock(&held_lock);
    return p;
}

void faults_end(void) {
    Faults *f = faults;
    if (!f) return;
    faults = NULL;
    f->held = n_held;
    f->ended = 1;
    for (size_t i = 0; i < HELD; i++)
        if (held[i].p) {
            f->held_call = held[i].call;
            memcpy(f->held_frames, held[i].frames, sizeof f->held_frames);
            break;
        }
}

/* ---- memory ---- */

/* name: the real one and ours. */
#define WRAP(type, name, ...) type __real_##name(__VA_ARGS__); type __wrap_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__)

WRAP(void *, malloc, size_t n) {
    return no_memory("malloc") ? NULL : hold(__real_malloc(n), "malloc");
}

WRAP(void *, calloc, size_t n, size_t size) {
    return no_memory("calloc") ? NULL : hold(__real_calloc(n, size), "calloc");
}

WRAP(void, free, void *p) { __real_free(let_go(p)); }

WRAP(void *, realloc, void *p, size_t n) {
    if (no_memory("realloc")) return NULL;
    let_go(p);
    void *moved = __real_realloc(p, n);
    hold(moved ? moved : p, "realloc");
    return moved;
}

WRAP(void *, aligned_alloc, size_t to, size_t n) {
    return no_memory("aligned_alloc") ? NULL : hold(__real_aligned_alloc(to, n), "aligned_alloc");
}

WRAP(char *, strdup, const char *s) {
    return no_memory("strdup") ? NULL : hold(__real_strdup(s), "strdup");
}

WRAP(char *, strndup, const char *s, size_t n) {
    return no_memory("strndup") ? NULL : hold(__real_strndup(s, n), "strndup");
}

WRAP(char *, realpath, const char *path, char *to) {
    return no_memory("realpath") ? NULL : hold(__real_realpath(path, to), "realpath");
}

WRAP(void *, mmap, void *at, size_t n, int protection, int flags, int fd, off_t offset) {
    int file = fd >= 0;
    if (file ? no_memory("mmap") || fails(FAULT_READ, "mmap", ENODEV) : no_memory("mmap")) return MAP_FAILED;
    void *p = __real_mmap(at, n, protection, flags, fd, offset);
    if (p != MAP_FAILED) hold(p, "mmap");
    return p;
}

WRAP(int, munmap, void *p, size_t n) { return __real_munmap(let_go(p), n); }

/* ---- files ---- */

/* A descriptor as an address to be held by: above all that malloc may give. */
static void *as_held(int fd) { return (void *)(UINTPTR_MAX - (uintptr_t)fd * 16); }

static int open_fails(int flags, const char *call) {
    if (interrupted(call)) return 1;
    if ((flags & O_ACCMODE) == O_RDONLY) return fails(FAULT_READ, call, EMFILE);
    return fails(FAULT_WRITE, call, ENOSPC);
}

WRAP(int, open, const char *path, int flags, ...) {
    va_list ap;
    va_start(ap, flags);
    int mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(ap, int) : 0;
    va_end(ap);
    if (open_fails(flags, "open")) return -1;
    int fd = __real_open(path, flags, mode);
    if (fd >= 0) hold(as_held(fd), "open");
    return fd;
}

WRAP(int, close, int fd) {
    let_go(as_held(fd));
    return __real_close(fd);
}

WRAP(int, fstat, int fd, struct stat *st) {
    return fd > 2 && fails(FAULT_READ, "fstat", EIO) ? -1 : __real_fstat(fd, st);
}

WRAP(int, ftruncate, int fd, off_t n) {
    return fails(FAULT_WRITE, "ftruncate", EIO) ? -1 : __real_ftruncate(fd, n);
}

WRAP(int, fsync, int fd) {
    return interrupted("fsync") || fails(FAULT_WRITE, "fsync", EIO) ? -1 : __real_fsync(fd);
}

WRAP(int, rename, const char *from, const char *to) {
    return fails(FAULT_WRITE, "rename", EACCES) ? -1 : __real_rename(from, to);
}

WRAP(int, linkat, int from_fd, const char *from, int to_fd, const char *to, int flags) {
    return fails(FAULT_WRITE, "linkat", EMLINK) ? -1 : __real_linkat(from_fd, from, to_fd, to, flags);
}

WRAP(DIR *, opendir, const char *path) {
    if (no_memory("opendir") || fails(FAULT_READ, "opendir", EMFILE)) return NULL;
    return hold(__real_opendir(path), "opendir");
}

WRAP(struct dirent *, readdir, DIR *d) {
    return fails(FAULT_READ, "readdir", EIO) ? NULL : __real_readdir(d);
}

WRAP(int, closedir, DIR *d) { return __real_closedir(let_go(d)); }

WRAP(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg) {
    if (fails(FAULT_THREAD, "pthread_create", EAGAIN)) return EAGAIN;
    return __real_pthread_create(thread, attributes, run, arg);
}

/* ---- streams: of our own making, so that what stdio reads and writes comes through here ---- */

typedef struct { int fd; int wrote; FILE *file; } Stream;
enum { STREAMS = 32 };
static Stream streams[STREAMS];

static ssize_t stream_read(void *cookie, char *buf, size_t n) {
    const Stream *s = cookie;
    if (interrupted("read") || fails(FAULT_READ, "read", EIO)) return -1;
    if (faults && faults->kind == FAULT_SHORT && n > 5) n = 5;
    return read(s->fd, buf, n);
}

/* All of it, as a stream of libc's would; a disk that becomes full takes half. */
static ssize_t stream_write(void *cookie, const char *buf, size_t n) {
    Stream *s = cookie;
    int bad = interrupted("write") || fails(FAULT_WRITE, "write", ENOSPC), code = errno;
    size_t want = bad ? n / 2 : n, done = 0;
    s->wrote = 1;
    while (done < want) {
        ssize_t put = write(s->fd, buf + done, want - done);
        if (put < 0) return 0;
        done += (size_t)put;
    }
    errno = code;
    return bad ? 0 : (ssize_t)n; /* 0: an error */
}

static int stream_seek(void *cookie, Offset *at, int from) {
    const Stream *s = cookie;
    off_t to = lseek(s->fd, (off_t)*at, from);
    if (to < 0) return -1;
    *at = to;
    return 0;
}

static int stream_close(void *cookie) {
    Stream *s = cookie;
    int bad = s->wrote && fails(FAULT_WRITE, "close", EIO), code = errno, rc = __real_close(s->fd);
    let_go(as_held(s->fd));
    *s = (Stream){0};
    if (bad) errno = code;
    return bad ? -1 : rc;
}

static FILE *stream_new(int fd, const char *mode) {
    int i = 0;
    while (i < STREAMS - 1 && streams[i].file) i++;
    streams[i] = (Stream){.fd = fd};
    streams[i].file = fopencookie(&streams[i], mode, (cookie_io_functions_t){stream_read, stream_write, stream_seek,
                                                                             stream_close});
    return streams[i].file;
}

WRAP(FILE *, fdopen, int fd, const char *mode) { return no_memory("fdopen") ? NULL : stream_new(fd, mode); }

WRAP(FILE *, fopen, const char *path, const char *mode) {
    int more = strchr(mode, '+') ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
    int flags = more | (*mode == 'r' ? 0 : O_CREAT | (*mode == 'a' ? O_APPEND : O_TRUNC));
    if (no_memory("fopen") || open_fails(flags, "fopen")) return NULL;
    int fd = __real_open(path, flags, 0666);
    if (fd < 0) return NULL;
    hold(as_held(fd), "fopen");
    return stream_new(fd, mode);
}

WRAP(int, fileno, FILE *f) {
    for (int i = 0; i < STREAMS; i++)
        if (streams[i].file == f) return streams[i].fd;
    return __real_fileno(f);
}

/* Text in memory: each stretch that is written is an allocation of ours. */
typedef struct { char **text; size_t *n; } Memory;
static Memory memories[4];

static ssize_t memory_write(void *cookie, const char *buf, size_t n) {
    Memory *m = cookie;
    char *more = __wrap_realloc(*m->text, *m->n + n + 1);
    if (!more) return 0;
    memcpy(more + *m->n, buf, n);
    *m->text = more;
    *m->n += n;
    more[*m->n] = 0;
    return (ssize_t)n;
}

static int memory_close(void *cookie) {
    *(Memory *)cookie = (Memory){0};
    return 0;
}

WRAP(FILE *, open_memstream, char **text, size_t *n) {
    int i = 0;
    if (no_memory("open_memstream")) return NULL;
    while (i < 3 && memories[i].text) i++;
    memories[i] = (Memory){text, n};
    *n = 0;
    *text = hold(__real_calloc(1, 1), "open_memstream");
    return fopencookie(&memories[i], "w", (cookie_io_functions_t){NULL, memory_write, NULL, memory_close});
}

WRAP(ssize_t, getline, char **line, size_t *cap, FILE *f) {
    if (no_memory("getline")) return -1;
    let_go(*line);
    ssize_t n = __real_getline(line, cap, f);
    hold(*line, "getline");
    return n;
}

void faults_begin(Faults *f) {
#ifdef __GLIBC__ /* elsewhere these two cannot be set, and do not fail */
    stdin = stream_new(0, "r");
    stdout = stream_new(1, "w");
#endif
    faults = f;
}
