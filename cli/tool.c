/* cli/tool.c - notes, progress and signals of convert, quantize, inspect and train. */
#include "tool.h"
#include "base/base.h"
#include "weights-tools/model_write.h"
#include "base/paths.h"
#include "base/system.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Progress progress;

void tool_begin(void) { hear_interrupts(0); }

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

/* newfile_open, and newfile_close, which a signal that ends the program does not leave out. */
static int open_new(NewFile *f, const char *path, char *err, size_t errlen) {
    int rc = newfile_open(f, path, err, errlen);
    if (rc == 0) unfinished = f->temporary;
    return rc;
}

static int close_new(NewFile *f, int keep, char *err, size_t errlen) {
    unfinished = NULL;
    return newfile_close(f, keep, err, errlen);
}

int tool_write(const char *path, ToolWrite *write, void *arg, char *err, size_t errlen) {
    NewFile f;
    int rc = open_new(&f, path, err, errlen);
    if (rc) return rc;
    rc = write(arg, &f, err, errlen);
    int closed = close_new(&f, rc == 0, err, errlen);
    return rc ? rc : closed;
}

typedef struct { const Source *s; int threads; const Report *r; } ModelWrite;

static int write_model(void *arg, NewFile *f, char *err, size_t errlen) {
    const ModelWrite *m = arg;
    return model_write(f, m->s, m->threads, m->r, err, errlen);
}

int tool_write_model(const char *path, const Source *s, int threads, const Report *r, uint64_t *bytes, char *err,
                     size_t errlen) {
    int rc = model_bytes(s, bytes, err, errlen);
    return rc ? rc : tool_write(path, write_model, &(ModelWrite){s, threads, r}, err, errlen);
}

int tool_is_input(const char *in, const char *written) {
    enum { NUMBER = sizeof "00001-of-00003.gguf" - 1 };
    size_t n = strlen(in);
    int same = 0;
    if (file_same(in, written)) return 1;
    if (n < NUMBER || memcmp(in + n - NUMBER + 5, "-of-", 4) != 0) return 0;
    char *path = strdup(in), number[32], *end;
    long parts = strtol(in + n - NUMBER + 9, &end, 10);
    for (long part = 1; path && end == in + n - 5 && part <= parts && !same; part++) {
        snprintf(number, sizeof number, "%05ld", part);
        memcpy(path + n - NUMBER, number, 5);
        same = file_same(path, written);
    }
    free(path);
    return same;
}

int tool_may_write(const Args *a, const char *path) {
    if (a->tool.force || !file_there(path)) return 0;
    return fail("%s: is there already, and stays as it is; -f writes over it", path);
}
