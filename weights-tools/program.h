/* weights-tools/program.h - what the programs here have in common: error lines, notes, progress, signals. Only
 * they include it; with them it is all that prints or exits in this folder. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "plan.h"
#include "base/newfile.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

typedef struct {
    const char *name; /* "quantize": before every line */
    int quiet;        /* no notes, no progress */
} Program;

/* The program's name, and the handlers of signals: an interrupt ends the work at its next step, a mapped file that
 * becomes shorter ends the program with a line; either way what was begun is removed. */
void program_begin(Program *p, const char *name);

/* One line on stderr; returns code. Behind a usage error stands where help is. */
int program_fail(const Program *p, int code, const char *fmt, ...) BASE_PRINTF(3, 4);
/* The same of a library's negative errno and its line. */
int program_fail_with(const Program *p, int rc, const char *err);
/* 1: a signal asks the work to end. */
int program_interrupted(void);
/* Notes and progress of p, for the library. */
Report program_report(Program *p);

/* newfile_open, and newfile_close, which a signal that ends the program does not leave out. */
int program_open(NewFile *f, const char *path, char *err, size_t errlen);
int program_close(NewFile *f, int keep, char *err, size_t errlen);

/* word as one of the choices [n] into *out (its place): 1, or 0. */
int program_choose(const char *word, const char *const *choices, int n, int *out);

#endif
