/* tests/program.c - command lines for a shell. */
#include "program.h"
#include "build.h"
#include "test.h"

#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

char *out, *said;

static int run_program(const char *before, const char *path, const char *fmt, va_list ap) {
    char args[4000], command[6000];
    vsnprintf(args, sizeof args, fmt, ap);
    snprintf(command, sizeof command, "%s%s %s < /dev/null", before, path, args);
    return test_shell(command, &out, &said);
}

int run(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    int code = run_program("", test_run_path(), fmt, ap);
    va_end(ap);
    return code;
}

int piped(const char *input, const char *fmt, ...) {
    char args[1500], command[3000];
    const char *path = test_tmp("input");
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(args, sizeof args, fmt, ap);
    va_end(ap);
    file_write(path, input, strlen(input));
    snprintf(command, sizeof command, "%s %s < %s", test_run_path(), args, path);
    return test_shell(command, &out, &said);
}

int run_behind(const char *before, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    int code = run_program(before, test_run_path(), fmt, ap);
    va_end(ap);
    return code;
}

/* The tools stand beside the program under test: build/release/run and build/release/weights-tools/convert. */
int tool(const char *before, const char *name, const char *fmt, ...) {
    char path[600];
    const char *force = strcmp(name, "convert") == 0 || strcmp(name, "quantize") == 0 ? " -f" : "";
    va_list ap;
    snprintf(path, sizeof path, "%s/%s%s", test_beside("weights-tools"), name, force);
    va_start(ap, fmt);
    int code = run_program(before, path, fmt, ap);
    va_end(ap);
    if (code > 2 && code != 130 && code != 137) printf("    exit code %d of %s\n", code, name);
    return code;
}

int shell(const char *fmt, ...) {
    char command[6000], whole[6100];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(command, sizeof command, fmt, ap);
    va_end(ap);
    snprintf(whole, sizeof whole, "(%s)", command);
    return test_shell(whole, &out, &said);
}

int make_library(const char *words) {
    int fd = open("build/library.lock", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    int rc = fd < 0 || lockf(fd, F_LOCK, 0) ? -1 : shell(MAKE_ANEW "%s", words);
    if (fd >= 0) close(fd);
    return rc;
}

int has(const char *program) { return shell("command -v %s", program) == 0; }

char *taken_out(void) {
    char *text = out;
    out = NULL;
    return text;
}

int said_line(const char *expected) {
    const char *newline = strchr(said, '\n');
    int good = strstr(said, expected) && newline && newline[1] == 0;
    if (!good) printf("    expected one line with \"%s\", got \"%s\"\n", expected, said);
    return good;
}

int count_lines(const char *text) {
    int n = 0;
    for (; *text; text++) n += *text == '\n';
    return n;
}
