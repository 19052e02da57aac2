/* tests/soak/main.c - see soak.h.
 *
 *     soak [-u] chat RUN MODEL FOLDER TURNS CLEAR   a conversation by the program RUN, which works in FOLDER
 *     soak [-u] tokens MODEL FOLDER N               a session of linear attention that reads N ids
 *     soak [-u] opens MODEL TIMES                   a model opened, used and closed by roformer.h
 *
 * -u: memory is not compared. Exit code 1 where something grew, or bits differ. */
#include "soak.h"
#include "base/system.h"

#include <dirent.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int soak_measures = 1;

int soak_bad(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
    return 1;
}

void soak_progress(const char *what, size_t done, size_t all, double began) {
    static double last;
    double now = clock_seconds(), took = now - began;
    if (!isatty(2) || (done < all && now - last < 0.2)) return;
    last = now;
    if (done == all) fprintf(stderr, "\r\033[K");
    else fprintf(stderr, "\r%s: %zu of %zu, %.0f s left\033[K", what, done, all,
                 took / (double)(done + !done) * (double)(all - done));
}

/* ---- what a process holds ---- */

static long count_entries(pid_t pid, const char *name) {
    char path[60];
    long n = 0;
    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) n += *e->d_name != '.';
    if (d) closedir(d);
    return n;
}

static FILE *open_proc(pid_t pid, const char *name) {
    char path[60];
    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
    return fopen(path, "r");
}

Held held_by(pid_t pid) {
    Held h = {.files = count_entries(pid, "fd"), .threads = count_entries(pid, "task")};
    FILE *f = open_proc(pid, "statm");
    long of_files;
    if (f && fscanf(f, "%*d %ld %ld", &h.kb, &of_files) == 2) h.kb = (h.kb - of_files) * (sysconf(_SC_PAGESIZE) / 1024);
    if (f) fclose(f);
    f = open_proc(pid, "maps");
    for (int c; f && (c = getc(f)) != EOF;) h.maps += c == '\n';
    if (f) fclose(f);
    return h;
}

Held held_here(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
    return held_by(getpid());
}

static int said_at(size_t step) {
    while (step >= 100 && step % 10 == 0) step /= 10;
    return step == 10;
}

void held_say(const char *what, size_t step, Held h) {
    if (soak_measures && said_at(step))
        printf("    %s %zu: %ld KB, %ld files, %ld mappings, %ld threads\n", what, step, h.kb, h.files, h.maps,
               h.threads);
}

int held_grew(const char *what, Held was, Held is, size_t steps) {
    if (!soak_measures) return 0;
    if (was.kb == 0 || is.kb == 0) return soak_bad("%s: /proc says nothing", what);
    if (is.kb - was.kb < SOAK_KB && is.files <= was.files && is.maps <= was.maps && is.threads <= was.threads) return 0;
    return soak_bad("%s: in %zu steps %+ld KB, %+ld files, %+ld mappings, %+ld threads", what, steps, is.kb - was.kb,
                    is.files - was.files, is.maps - was.maps, is.threads - was.threads);
}

/* ---- */

static size_t number(const char *word) { return strtoull(word, NULL, 10); }

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "-u") == 0) soak_measures = 0, argc--, argv++;
    const char *what = argc > 1 ? argv[1] : "";
    if (argc == 7 && strcmp(what, "chat") == 0)
        return soak_chat(argv[2], argv[3], argv[4], number(argv[5]), number(argv[6]));
    if (argc == 5 && strcmp(what, "tokens") == 0) return soak_tokens(argv[2], argv[3], number(argv[4]));
    if (argc == 4 && strcmp(what, "loaded") == 0) return soak_loaded(argv[2], argv[3]);
    if (argc == 4 && strcmp(what, "opens") == 0) return soak_opens(argv[2], number(argv[3]));
    fprintf(stderr, "soak [-u] chat RUN MODEL FOLDER TURNS CLEAR | tokens MODEL FOLDER N | opens MODEL TIMES\n");
    return 2;
}
