/* tests/soak/soak.h - the same for a long time: what a process holds must not grow, and what it computes at the end
 * must have the bits of a fresh process. Each part is a command of the program `soak` (main.c), with its numbers as
 * words: few in `make test`, many in `make soak`. */
#ifndef SOAK_H
#define SOAK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a process holds: resident memory (but for pages of files, which the system takes and gives as it likes), open
 * files, mappings, threads; of Linux's /proc. */
typedef struct { long kb, files, maps, threads; } Held;
Held held_by(pid_t pid);
Held held_here(void); /* by this one, once malloc has given back what is free at the heap's end: it does so by chance */

/* Its growth from `was`, when the process had warmed up, to `is`, `steps` steps later: 0, or 1 and a line. Flat is: no
 * file, thread or mapping more, and less than SOAK_KB more memory, by which malloc's free lists move. Over 7,500 turns
 * that is 17 bytes a turn, less than the smallest block of malloc takes; over 750 opens 174. */
enum { SOAK_KB = 128 };
int held_grew(const char *what, Held was, Held is, size_t steps);
void held_say(const char *what, size_t step, Held h); /* a line, where steps are 10, 100, 1000 .. or the last */

/* 1, and it is said, where something does not hold. */
int soak_bad(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void soak_progress(const char *what, size_t done, size_t all, double began); /* on a terminal */
extern int soak_measures; /* 0: memory is not compared (sanitizers keep what was freed) */

/* clear: a new conversation after so many turns; 0: never. */
int soak_chat(const char *run, const char *model, const char *folder, size_t turns, size_t clear);
int soak_tokens(const char *model, const char *folder, size_t n);
int soak_loaded(const char *model, const char *state); /* the fresh process of soak_tokens: a line on stdout */
int soak_opens(const char *model, size_t times);

#endif
