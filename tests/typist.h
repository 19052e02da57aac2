/* tests/typist.h - somebody who types: the program with a pseudo-terminal for stdin and stderr, and a file for
 * stdout. */
#ifndef TYPIST_H
#define TYPIST_H

#include <stddef.h>
#include <sys/types.h>

typedef struct {
    int fd; /* our end of the terminal */
    pid_t pid;
    char screen[1 << 16]; /* what the terminal shows: echo, prompt signs, notes */
    size_t n, at;         /* bytes of it; what was waited for up to here */
    char answers[200];    /* the file that stdout goes to */
} Typist;

extern const char *typist_term; /* its TERM: dumb, which has no line editor, unless a test says otherwise */

/* Start ./run with these arguments. 0, or -1 where there is no pseudo-terminal: the test is marked skipped. */
int typist_begin(Typist *t, const char *fmt, ...);
int typist_sees(Typist *t, const char *text); /* wait until the screen shows text, behind what was waited for before */
void typist_types(Typist *t, const char *text);
size_t typist_written(const Typist *t);           /* bytes on stdout so far */
int typist_writes(const Typist *t, size_t n);     /* wait until they are more than n */
int typist_ended(Typist *t);                      /* the exit code, 128 + signal where it was killed */

#endif
