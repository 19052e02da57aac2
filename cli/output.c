/* cli/output.c - saying things: error lines, notes, progress on stderr; text and JSON on stdout. */
#include "cli.h"
#include "terminal.h"
#include "wrap.h"
#include "base/base.h"
#include "base/paths.h"
#include "base/system.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

double started;
atomic_int interrupted;
int quiet;
const char *command_name = "", *called = "./run";
const char *volatile unfinished;

char *as_called(const char *text) {
    size_t n = 0, len = strlen(called), own = strlen("./run");
    for (const char *at = text; (at = strstr(at, "./run")); at += own) n++;
    char *copy = malloc(strlen(text) + n * len + 1), *to = copy;
    while (copy && *text) {
        int here = strncmp(text, "./run", own) == 0;
        memcpy(to, here ? called : text, here ? len : 1);
        to += here ? len : 1;
        text += here ? own : 1;
    }
    if (copy) *to = 0;
    return copy;
}

static void on_interrupt(int sig) {
    (void)sig;
    interrupted = 1;
}

void hear_interrupts(int flags) {
    signal_catch(SIGINT, on_interrupt, flags);
    signal_catch(SIGTERM, on_interrupt, flags);
    signal_catch(SIGHUP, on_interrupt, flags);
}

/* Ours on stderr, and the end of its last line; on a terminal words are not cut. */
static void stderr_line(char *text) {
    if (isatty(2)) wrap_lines(text, terminal_width(NULL));
    fprintf(stderr, "%s\n", text);
}

/* One line, no control characters, whatever a name holds. */
static void error_line(const char *fmt, va_list ap, int hint) {
    char line[1400], whole[6000], *own = as_called(fmt);
    base_verror(line, sizeof line, 0, own ? own : fmt, ap);
    free(own);
    int n = snprintf(whole, sizeof whole, "%.200s: %s", file_name(called), line);
    if (hint)
        snprintf(whole + n, sizeof whole - (size_t)n, "; %.4000s %s%s--help shows what there is", called, command_name,
                 *command_name ? " " : "");
    stderr_line(whole);
}

int fail(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    error_line(fmt, ap, 0);
    va_end(ap);
    return EXIT_FAILED;
}

int usage(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    error_line(fmt, ap, 1);
    va_end(ap);
    return EXIT_USAGE;
}

int option_refused(int rc, const char *before, const char *err) {
    return rc == 0 ? 0 : errno_is_passing(rc) ? fail("%s%s", before, err) : usage("%s%s", before, err);
}

/* Whatever its length; malloc'ed, NULL without memory. */
static char *formatted(const char *fmt, va_list ap) {
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *text = n < 0 ? NULL : malloc((size_t)n + 1);
    if (text) vsnprintf(text, (size_t)n + 1, fmt, ap);
    return text;
}

/* A line of what is to be known, without the control characters that a file's name or a text in it may have. */
static void remark(const char *fmt, va_list ap) {
    char *own = as_called(fmt), *line = own ? formatted(own, ap) : NULL;
    free(own);
    if (!line) return;
    text_harmless(line, "\n\t");
    stderr_line(line);
    free(line);
}

void note(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    if (!quiet) remark(fmt, ap);
    va_end(ap);
}

void answer_line(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    remark(fmt, ap);
    va_end(ap);
}

void progress_line(const char *fmt, ...) {
    char line[200];
    int width = (int)terminal_width(NULL) - 1; /* the last column would move the cursor on */
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    if (width >= (int)sizeof line) width = (int)sizeof line - 1;
    if (terminal_moves()) fprintf(stderr, "\r%.*s\033[K", width, line);
    else fprintf(stderr, "\r%-*.*s\r", width, width, line);
}

void progress_wipe(void) {
    progress_line("%s", "");
    fputc('\r', stderr);
}

void progress_show(Progress *p, size_t done, size_t total) {
    double t = clock_seconds();
    if (quiet || !isatty(2) || t - p->start < 2 || t - p->drawn < 0.2 || done == 0) return;
    p->drawn = t;
    p->on_screen = 1;
    double each = p->unit ? p->each : 1, left = (t - p->start) / (double)done * (double)(total - done);
    progress_line("%s: %.0f of %.0f %s, %.0f s to go ", p->what, (double)done / each, (double)total / each,
                  p->unit ? p->unit : "tokens", left);
}

void progress_clear(Progress *p) {
    if (p->on_screen) progress_wipe();
    p->on_screen = 0;
}

int on_progress(void *arg, size_t done, size_t total) {
    progress_show(arg, done, total);
    return interrupted;
}

int on_batch(void *arg, size_t done, size_t total) {
    (void)arg, (void)done, (void)total;
    return interrupted;
}

Out out;

static void out_check(int bad) {
    if (!bad || out.gone || out.broken) return;
    if (errno == EPIPE) out.gone = 1;
    else out.broken = errno ? errno : EIO;
}

/* A Ctrl-C that comes while a terminal takes its time waits until the text is out: stdio forgets what a write that was
 * broken off had. */
static void hold_interrupts(int how) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    if (out.whole) pthread_sigmask(how, &set, NULL);
}

void out_bytes(const char *s, size_t n) {
    if (!n || out.gone || out.broken) return;
    hold_interrupts(SIG_BLOCK);
    out_check(fwrite(s, 1, n, stdout) != n);
    hold_interrupts(SIG_UNBLOCK);
}

void out_own(const char *text) {
    static const char own[] = "./run";
    for (const char *at; (at = strstr(text, own)); text = at + sizeof own - 1)
        out_bytes(text, (size_t)(at - text)), out_bytes(called, strlen(called));
    out_bytes(text, strlen(text));
}

void out_flush(void) {
    if (out.gone || out.broken) return;
    hold_interrupts(SIG_BLOCK);
    out_check(fflush(stdout) != 0);
    hold_interrupts(SIG_UNBLOCK);
}

int out_room(void) {
    struct pollfd f = {.fd = STDOUT_FILENO, .events = POLLOUT};
    while (!interrupted && poll(&f, 1, 200) == 0) {}
    return !interrupted;
}

void out_text(const char *s, size_t n) {
    for (size_t i = 0, start = 0; out.terminal && i <= n; i++) {
        unsigned char c = i < n ? (unsigned char)s[i] : 0, next = i + 1 < n ? (unsigned char)s[i + 1] : 0;
        int c1 = c == 0xc2 && next >= 0x80 && next < 0xa0;
        if (i < n && !c1 && c != 0x7f && (c >= 0x20 || c == '\n' || c == '\t')) continue;
        out_bytes(s + start, i - start);
        i += (size_t)c1;
        start = i + 1;
    }
    if (!out.terminal) out_bytes(s, n);
}

int out_end(int code) {
    out_flush();
    if (!out.broken || code == EXIT_FAILED) return code; /* one line says why */
    if (out.broken == EINTR && interrupted) return EXIT_INTERRUPTED;
    return fail("cannot write the output: %s", strerror(out.broken));
}

int close_written(FILE *f) {
    int failed = ferror(f) != 0; /* before f is gone */
    return fclose(f) != 0 || failed;
}

void out_printf(const char *fmt, ...) {
    if (out.gone || out.broken) return;
    va_list ap;
    va_start(ap, fmt);
    out_check(vfprintf(stdout, fmt, ap) < 0);
    va_end(ap);
}

void prose(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    char *text = formatted(fmt, ap);
    va_end(ap);
    if (!text) {
        out.broken = ENOMEM;
        return;
    }
    for (char *s = text; out.terminal && (s = strchr(s, '\n'));) *s = ' ';
    wrap_lines(text, (size_t)line_room());
    out_text(text, strlen(text));
    out_bytes("\n", 1);
    free(text);
}

void json_string(const char *s, size_t n) {
    out_bytes("\"", 1);
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        int len = utf8_decode(s + i, n - i, &cp);
        if (len == 0) out_printf("\\ufffd");
        else if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0)) out_printf("\\u%04x", (unsigned)cp); /* a terminal obeys C1 */
        else if (cp == '"' || cp == '\\') out_printf("\\%c", (int)cp);
        else out_bytes(s + i, (size_t)len);
        i += len ? (size_t)len : 1;
    }
    out_bytes("\"", 1);
}

void json_text(const char *key, const char *s) {
    out_printf("\"%s\":", key);
    if (s) json_string(s, strlen(s));
    else out_printf("null");
    out_printf(",");
}

void csv_field(const char *s) {
    int quotes = strpbrk(s, ",\"\r\n") != NULL;
    if (quotes) out_bytes("\"", 1);
    for (const char *at; (at = strchr(s, '"')); s = at + 1) {
        out_text(s, (size_t)(at - s));
        out_bytes("\"\"", 2);
    }
    out_text(s, strlen(s));
    if (quotes) out_bytes("\"", 1);
}

void json_number(double v) { out_printf(isfinite(v) ? "%.9g" : "null", v); }

void json_ids(const char *key, const int *ids, size_t n) {
    out_printf("\"%s\":[", key);
    for (size_t i = 0; i < n; i++) out_printf("%s%d", i ? "," : "", ids[i]);
    out_printf("],");
}
