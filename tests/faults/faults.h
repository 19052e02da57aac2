/* tests/faults/faults.h - calls that fail on purpose: the N-th of a kind, in our code alone (libc's own calls stay).
 *
 * The linker gives each call below to a function of points.c (--wrap), which counts it as a point of its kind and, at
 * the one that was asked for, fails as the system would. It also keeps account of what is held: at the end of a run
 * nothing may be left. Streams read and write through points of their own, so that what stdio does fails, too. */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdatomic.h>
#include <stddef.h>

typedef enum {
    FAULT_MEMORY,    /* ENOMEM: malloc and its like, mmap, and where libc allocates for us: fopen, opendir .. */
    FAULT_EXHAUSTED, /* the same point, and all behind it */
    FAULT_READ,      /* EIO, EMFILE: open, fstat, mmap of a file, read, opendir, readdir */
    FAULT_WRITE,     /* ENOSPC, behind half of what a write had: open for writing, write, ftruncate, fsync, rename .. */
    FAULT_INTERRUPT, /* EINTR: open, read, write, fsync */
    FAULT_THREAD,    /* EAGAIN: pthread_create */
    FAULT_SHORT,     /* no point: all reads give 5 bytes at most */
    FAULT_KINDS
} FaultKind;

enum { FAULT_FRAMES = 10 };

/* What a run, a process of its own, shares with the one that looks on. */
typedef struct {
    FaultKind kind;
    size_t at;                       /* the point that fails, from 1; 0: none */
    int trace;                       /* who took what is held is kept, which takes time */
    atomic_size_t count[FAULT_KINDS];
    atomic_int failed;               /* it was reached */
    const char *call;                /* its function's name */
    void *frames[FAULT_FRAMES];      /* and who called it */
    int ended;                       /* the run came to its end, and then: */
    size_t held;                     /* blocks, mappings, files that nobody gave back */
    const char *held_call;           /* the first one's function */
    void *held_frames[FAULT_FRAMES];
    size_t peak;                     /* blocks at once */
} Faults;

/* From here on calls count; faults is shared memory. */
void faults_begin(Faults *faults);
/* From here on no call fails any more; what is held goes into the Faults. */
void faults_end(void);

/* What is linked with it: the program's name, as its error lines have it, and jobs beside its commands, whose exit
 * codes are theirs; {0} ends them. library.c: ./run and the library; core.c: ./core. */
typedef struct {
    const char *name;
    int (*run)(const char *model, const char *folder); /* NULL where the command line gives none */
} FaultJob;

extern const char *const fault_program;
extern const FaultJob fault_jobs[];

#endif
