/* tests/main.c - runs the tests. The list of suites is made by the Makefile, from the names of the files.
 *     make test            all
 *     make test F=rope     those whose name holds "rope" */
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

#include <stdlib.h>
#include <string.h>
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

int main(int argc, char **argv) {
    const char *filter = argc > 1 ? argv[1] : "";
    if (argc > 2) run_path = argv[2];
    if (getenv("ROFORMER_DATA")) data_dir = getenv("ROFORMER_DATA");
    setvbuf(stdout, NULL, _IOLBF, 0);
    snprintf(tmp_dir, sizeof tmp_dir, "/tmp/roformer-test-%ld", (long)getpid());
    mkdir(tmp_dir, 0700);
    int passed = 0, failed = 0, n_skipped = 0;
    for (const Test *const *s = test_suites; *s; s++)
        for (const Test *t = *s; t->name; t++) {
            if (!strstr(t->name, filter)) continue;
            failures = 0;
            skipped = NULL;
            t->run();
            if (failures) failed++;
            else if (skipped) n_skipped++;
            else passed++;
            printf("%-7s %s%s%s\n", failures ? "FAILED" : skipped ? "skipped" : "ok", t->name, skipped ? ": " : "",
                   skipped ? skipped : "");
        }
    char cmd[100];
    snprintf(cmd, sizeof cmd, "rm -rf %s", tmp_dir);
    if (system(cmd) != 0) printf("%s is left behind\n", tmp_dir);
    printf("%d passed, %d failed, %d skipped\n", passed, failed, n_skipped);
    return failed != 0;
}
