/* cli/tool.h - what convert, quantize, inspect and train share: large files, none of them left half-written. */
#ifndef TOOL_H
#define TOOL_H

#include "cli.h"
#include "base/newfile.h"
#include "weights-tools/source.h"

/* From here on an interrupt, however often it comes, ends the work at its next step: what was begun is removed. */
void tool_begin(void);
/* Notes and progress, for the library; valid until the next call. */
Report tool_report(const char *what);
int tool_fail(int rc, const char *err); /* a library's negative errno and its line; the exit code */

/* The file path, by write: it appears whole or not at all, also where a signal ends the program (SIGBUS, of a file that
 * shrinks). 0, or a negative errno and a line. */
typedef int ToolWrite(void *arg, NewFile *f, char *err, size_t errlen);
int tool_write(const char *path, ToolWrite *write, void *arg, char *err, size_t errlen);
/* s as a GGUF file, which has *bytes of tensors; the same. */
int tool_write_model(const char *path, const Source *s, int threads, const Report *r, uint64_t *bytes, char *err,
                     size_t errlen);
/* 0, or an exit code after saying that path is there and --force was not given. */
int tool_may_write(const Args *a, const char *path);
/* 1: written is in, or a part of the split model that in is a part of. */
int tool_is_input(const char *in, const char *written);

#endif
