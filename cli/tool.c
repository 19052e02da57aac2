/* cli/tool.c - notes, progress and signals of convert, quantize, inspect and train. */
#include "tool.h"
#include "base/base.h"
#include "base/paths.h"
#include "base/system.h"

#include <errno.h>

static Progress progress;

static void on_signal(int sig) {
    (void)sig;
    interrupted = 1;
}

void tool_begin(void) {
    signal_catch(SIGINT, on_signal, 0);
    signal_catch(SIGTERM, on_signal, 0);
    signal_catch(SIGHUP, on_signal, 0);
}

int tool_fail(int rc, const char *err) {
    progress_clear(&progress);
    fail("%s", err);
    return rc == -EINTR ? EXIT_INTERRUPTED : EXIT_FAILED;
}

static void on_note(void *arg, const char *line) {
    (void)arg;
    progress_clear(&progress);
    note("%s", line);
}

static int on_bytes(void *arg, uint64_t done, uint64_t total) {
    (void)arg;
    if (done == total) progress_clear(&progress);
    else progress_show(&progress, (size_t)done, (size_t)total);
    return interrupted;
}

Report tool_report(const char *what) {
    progress = (Progress){.what = what, .start = clock_seconds(), .unit = "MB", .each = 1e6};
    return (Report){NULL, on_note, on_bytes};
}

int tool_open(NewFile *f, const char *path, char *err, size_t errlen) {
    int rc = newfile_open(f, path, err, errlen);
    if (rc == 0) unfinished = f->temporary;
    return rc;
}

int tool_close(NewFile *f, int keep, char *err, size_t errlen) {
    unfinished = NULL;
    return newfile_close(f, keep, err, errlen);
}

int tool_may_write(const Args *a, const char *path) {
    if (a->tool.force || !file_exists(path)) return 0;
    return fail("%s: is there already, and stays as it is; -f writes over it", path);
}
