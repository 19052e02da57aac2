/* tests/program.h - ./run and the tools beside it, run as their users run them.
 *
 *     CHECK(run("%s -t 0 -n 10", path) == 0 && strcmp(out, "..") == 0);
 *     CHECK(tool("", "quantize", "a b.gguf Q9") == 2 && said_line("F32, F16")); */
#ifndef PROGRAM_RUN_H
#define PROGRAM_RUN_H

extern char *out, *said; /* stdout and stderr of the last run */

/* ./run ARGS, with nothing on stdin; its exit code, 128 + signal where it was killed. before: a shell's words in
 * front. */
int run(const char *fmt, ...);
int run_behind(const char *before, const char *fmt, ...);
/* ./run ARGS with input on stdin. */
int piped(const char *input, const char *fmt, ...);
/* As run, with that program of weights-tools/; those beside the program under test are run. convert and quantize with
 * -f, which writes over what an earlier test left. */
int tool(const char *before, const char *name, const char *fmt, ...);
/* Other words for a shell, one command or several; and whether it knows a program of that name. */
int shell(const char *fmt, ...);
int has(const char *program);
/* Before a command: Ctrl-C after so many seconds, once. Otherwise timeout tells the command and then its whole group,
 * and a second Ctrl-C ends a program at once. */
#define INTERRUPT_AFTER "timeout --foreground --preserve-status -s INT "

/* make without what the make that runs the tests was told, which would be handed on: its compiler alone. */
#define MAKE_ANEW "env -u MAKEFLAGS -u FLAVOUR -u CFLAGS -u LDFLAGS -u COVERAGE make -s "
/* shell's, of make with these words, one at a time: two that make the library would write the same files. */
int make_library(const char *words);
/* The last run's stdout, which is the caller's now. */
char *taken_out(void);

/* 1 where stderr was one line that holds this; otherwise what it was is printed. */
int said_line(const char *expected);
int count_lines(const char *text);

#endif
