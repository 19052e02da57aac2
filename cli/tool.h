/* cli/tool.h - what convert, quantize, inspect and train share: large files, none of them left half-written. */
#ifndef TOOL_H
#define TOOL_H

#include "cli.h"
#include "base/newfile.h"
#include "weights-tools/plan.h"

/* From here on an interrupt, however often it comes, ends the work at its next step: what was begun is removed. */
void tool_begin(void);
/* Notes and progress, for the library; valid until the next call. */
Report tool_report(const char *what);
int tool_fail(int rc, const char *err); /* a library's negative errno and its line; the exit code */

/* newfile_open, and newfile_close, which a file that shrinks under the program does not leave out (SIGBUS). 0, or a
 * negative errno and a line. */
int tool_open(NewFile *f, const char *path, char *err, size_t errlen);
int tool_close(NewFile *f, int keep, char *err, size_t errlen);
/* 0, or an exit code after saying that path is there and --force was not given. */
int tool_may_write(const Args *a, const char *path);

#endif
