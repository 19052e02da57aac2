/* weights-tools/program.c - how the programs here speak to a terminal and take signals. */
#include "program.h"
#include "base/newfile.h"
#include "base/system.h"
#include "base/base.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;
static const char *volatile temporary; /* removed where a signal ends the program */
static const char *volatile program;

int program_fail(const Program *p, int code, const char *fmt, ...) {
    char line[1024];
    va_list ap;
    va_start(ap, fmt);
    base_verror(line, sizeof line, 0, fmt, ap);
    va_end(ap);
    fprintf(stderr, "%s: %s", p->name, line);
    if (code == EXIT_USAGE) fprintf(stderr, "; weights-tools/%s --help shows what there is", p->name);
    fputc('\n', stderr);
    return code;
}

int program_fail_with(const Program *p, int rc, const char *err) {
    return program_fail(p, rc == -EINTR ? EXIT_INTERRUPTED : EXIT_FAILED, "%s", err);
}

static void on_note(void *arg, const char *line) {
    const Program *p = arg;
    if (!p->quiet) fprintf(stderr, "%s: %s\n", p->name, line);
}

/* A line that is drawn over, on a terminal only, from the second second on. */
static int on_progress(void *arg, uint64_t done, uint64_t total) {
    static double start, drawn;
    const Program *p = arg;
    double now = clock_seconds();
    if (start == 0) start = now;
    if (p->quiet || !isatty(2)) return interrupted;
    if (done == total && drawn > 0) fputs("\r\033[K", stderr);
    else if (done < total && now - start > 1 && now - drawn > 0.2) {
        drawn = now;
        double left = (now - start) / (double)done * (double)(total - done);
        fprintf(stderr, "\r%.0f of %.0f MB, %.0f s to go \033[K", (double)done / 1e6, (double)total / 1e6, left);
    }
    return interrupted;
}

int program_interrupted(void) { return interrupted; }

Report program_report(Program *p) { return (Report){p, on_note, on_progress}; }

static void on_interrupt(int sig) {
    (void)sig;
    interrupted = 1;
}

/* A mapped file that another program shortens raises SIGBUS where it is read next. */
static void on_bus_error(int sig) {
    static const char line[] = ": a file became shorter while it was being read\n";
    (void)sig;
    if (temporary) unlink(temporary);
    ssize_t ignored = program ? write(2, program, strlen(program)) : 0;
    ignored = write(2, line, sizeof line - 1);
    (void)ignored;
    _exit(EXIT_FAILED);
}

void program_begin(Program *p, const char *name) {
    signal_catch(SIGINT, on_interrupt, 0);
    signal_catch(SIGTERM, on_interrupt, 0);
    signal_catch(SIGHUP, on_interrupt, 0);
    signal_catch(SIGBUS, on_bus_error, 0);
    signal_catch(SIGXFSZ, SIG_IGN, 0); /* then writing fails with a reason, and what was written is removed */
    signal_catch(SIGPIPE, SIG_IGN, 0);
    p->name = program = name;
}

int program_open(NewFile *f, const char *path, char *err, size_t errlen) {
    int rc = newfile_open(f, path, err, errlen);
    if (rc == 0) temporary = f->temporary;
    return rc;
}

int program_close(NewFile *f, int keep, char *err, size_t errlen) {
    temporary = NULL;
    return newfile_close(f, keep, err, errlen);
}

int program_choose(const char *word, const char *const *choices, int n, int *out) {
    for (*out = 0; *out < n; ++*out)
        if (strcmp(word, choices[*out]) == 0) return 1;
    return 0;
}
