/* tests/main.c - runs the tests. The list of suites is made by the Makefile, from the names of the files.
 *     make test            all
 *     make test F=rope     those whose name holds "rope"
 *     TEST_JOBS=1 make test   in one process, one after the other */
#include "test.h"

#include "build.h"

#if defined(__has_feature) /* clang */
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
const int test_sanitized = 1;
#else
const int test_sanitized = 0;
#endif

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures; /* of the running test */
static const char *skipped;
static const char *data_dir = "../shared/data", *run_path = "./run";
static char tmp_dir[64];

void test_fail(const char *file, int line, const char *what) {
    if (failures++ < 5) printf("    %s:%d: %s\n", file, line, what);
}

void test_skip(const char *why) { skipped = why; }

const char *test_data(const char *name) {
    static char path[4][512];
    static int next;
    char *p = path[next++ & 3];
    snprintf(p, sizeof path[0], "%s/%s", data_dir, name);
    if (access(p, R_OK) == 0) return p;
    test_skip("../shared/data is not here");
    return NULL;
}

/* The last sixteen paths of a kind. */
typedef struct {
    char path[16][1024];
    int next;
} Paths;

static const char *join(Paths *p, const char *folder, const char *name) {
    char *path = p->path[p->next++ & 15];
    snprintf(path, sizeof p->path[0], "%s/%s", folder, name);
    return path;
}

const char *test_in(const char *folder, const char *name) {
    static Paths paths;
    return join(&paths, folder, name);
}

const char *test_tmp(const char *name) {
    static Paths paths;
    return join(&paths, tmp_dir, name);
}

const char *test_folder(const char *name) {
    static Paths paths;
    const char *path = join(&paths, tmp_dir, name);
    mkdir(path, 0700);
    return path;
}

const char *test_run_path(void) { return run_path; }

const char *test_beside(const char *name) {
    static Paths paths;
    char folder[512] = ".";
    const char *end = strrchr(run_path, '/');
    if (end) snprintf(folder, sizeof folder, "%.*s", (int)(end - run_path), run_path);
    return join(&paths, folder, name);
}

int test_shell(const char *command, char **out, char **err) {
    char line[8000], out_path[512], err_path[512];
    snprintf(out_path, sizeof out_path, "%s/stdout", tmp_dir);
    snprintf(err_path, sizeof err_path, "%s/stderr", tmp_dir);
    snprintf(line, sizeof line, "%s > %s 2> %s", command, out_path, err_path);
    int status = system(line);
    free(*out), free(*err);
    *out = file_read(out_path, NULL);
    *err = file_read(err_path, NULL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- running them: suites are shared out among processes, each with a folder and a state of its own ---- */

enum { MOST_WORKERS = 4 };

typedef struct {
    atomic_int next; /* suite */
    struct { int passed, failed, skipped; char test[100]; } of[MOST_WORKERS]; /* each worker's; what it runs */
} Shared;

static void run_test(const Test *t, Shared *s, int worker) {
    failures = 0;
    skipped = NULL;
    snprintf(s->of[worker].test, sizeof s->of[worker].test, "%s", t->name);
    t->run();
    if (failures) s->of[worker].failed++;
    else if (skipped) s->of[worker].skipped++;
    else s->of[worker].passed++;
    printf("%-7s %s%s%s\n", failures ? "FAILED" : skipped ? "skipped" : "ok", t->name, skipped ? ": " : "",
           skipped ? skipped : "");
    fflush(stdout); /* a test's lines together */
}

/* Suites from s->next on, below end. */
static void work(Shared *s, int worker, const char *filter, int end) {
    int i;
    snprintf(tmp_dir, sizeof tmp_dir, "/tmp/roformer-test-%ld", (long)getpid());
    mkdir(tmp_dir, 0700);
    while ((i = atomic_fetch_add(&s->next, 1)) < end)
        for (const Test *t = test_suites[i]; t->name; t++)
            if (strstr(t->name, filter)) run_test(t, s, worker);
    char cmd[100];
    snprintf(cmd, sizeof cmd, "rm -rf %s", tmp_dir);
    if (system(cmd) != 0) printf("%s is left behind\n", tmp_dir);
}

/* As many as there are processors, unless TEST_JOBS says. */
static int n_workers(void) {
    const char *said = getenv("TEST_JOBS");
    long n = said ? strtol(said, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > MOST_WORKERS ? MOST_WORKERS : (int)n;
}

static void start(Shared *s, int workers, const char *filter, int end) {
    pid_t pid[MOST_WORKERS];
    for (int i = 0; i < workers; i++)
        if ((pid[i] = fork()) == 0) {
            work(s, i, filter, end);
            fflush(stdout);
            _exit(0);
        }
    for (int i = 0; i < workers; i++) {
        int status = 1;
        if (pid[i] > 0) waitpid(pid[i], &status, 0);
        if (status == 0) continue;
        printf("FAILED  %s ended the tests that came after it\n", s->of[i].test);
        s->of[i].failed++;
    }
    atomic_store(&s->next, end);
}

int main(int argc, char **argv) {
    const char *filter = argc > 1 ? argv[1] : "";
    int passed = 0, failed = 0, n_skipped = 0, workers = n_workers();
    if (argc > 2) run_path = argv[2];
    if (getenv("ROFORMER_DATA")) data_dir = getenv("ROFORMER_DATA");
    if (!freopen("/dev/null", "r", stdin)) return 1; /* the program takes a pipe's text */
    FILE *shared = tmpfile();
    if (!shared || ftruncate(fileno(shared), sizeof(Shared))) return 1;
    Shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(shared), 0);
    if (s == MAP_FAILED) return 1;
    setvbuf(stdout, NULL, workers > 1 ? _IOFBF : _IOLBF, 1 << 16);
    int n = 0;
    while (test_suites[n]) n++;
    if (workers > 1) {
        start(s, 1, filter, 1); /* base: what threads do there wants the processors for itself */
        start(s, workers, filter, n);
    } else work(s, 0, filter, n);
    for (int i = 0; i < workers; i++)
        passed += s->of[i].passed, failed += s->of[i].failed, n_skipped += s->of[i].skipped;
    int none = passed + failed + n_skipped == 0;
    if (none) printf("no test's name holds \"%s\"\n", filter);
    else printf("%d passed, %d failed, %d skipped\n", passed, failed, n_skipped);
    return failed != 0 || none;
}
