/* tests/test_killed.c - who writes a file is killed (SIGKILL) at any moment, or finds the disk full at any byte: what
 * was there before stays, or the whole new file is there, and never a part of one.
 *
 * A file-size limit stands for a full disk: a write comes short, the next one fails, wherever the limit lies. */
#include "base/newfile.h"
#include "base/paths.h"
#include "base/system.h"
#include "build.h"
#include "cli_files.h"
#include "program.h"
#include "test.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A command that writes `into`, in the folder `dir`. */
typedef struct {
    const char *name, *tool; /* of weights-tools/; NULL: ./run */
    char args[1600];
    const char *dir, *into;
    int over; /* 1: it writes over any file; states and panels do not */
} Writer;

enum { WRITERS = 5 };

static void writers(Writer *w, const char *folder) {
    static const BuildShape small = {32, 32, 1, 2, 1, 16, NULL, NULL}; /* smaller than the others' */
    CliModel m = cli_model();
    const char *dir = test_folder(folder), *tiny = test_tmp("tiny.gguf");
    build_gguf(tiny, &small, TENSOR_F32);
    file_write(test_tmp("points.csv"), "step,loss\n0,3\n1,2\n2,1\n", 22);
    w[0] = (Writer){.name = "convert", .tool = "convert", .over = 1, .into = test_in(dir, "c.gguf")};
    snprintf(w[0].args, sizeof w[0].args, "%s %s", m.folder, w[0].into);
    w[1] = (Writer){.name = "quantize", .tool = "quantize", .over = 1, .into = test_in(dir, "q.gguf")};
    snprintf(w[1].args, sizeof w[1].args, "%s %s Q8_0", m.gguf, w[1].into);
    w[2] = (Writer){.name = "a state", .into = test_in(dir, "state")};
    snprintf(w[2].args, sizeof w[2].args, "generate %s -i 'the' -n 4 -t 0 -q -j 1 --save-state %s", tiny, w[2].into);
    w[3] = (Writer){.name = "a picture", .over = 1, .into = test_in(dir, "p.svg")};
    snprintf(w[3].args, sizeof w[3].args, "plot %s --svg %s -q", test_tmp("points.csv"), w[3].into);
    w[4] = (Writer){.name = "panels", .into = test_in(dir, "panels")};
    snprintf(w[4].args, sizeof w[4].args, "generate %s -i 'the' -n 3 -t 0 -q -j 1 --panels %s", m.gguf, w[4].into);
    for (int i = 0; i < WRITERS; i++) w[i].dir = dir;
}

static int go(const Writer *w, const char *before) {
    return w->tool ? tool(before, w->tool, "%s", w->args) : run_behind(before, "%s", w->args);
}

/* The same where no file may be longer than `most`; what it said, by a pipe, in `out`. */
static int go_limited(const Writer *w, size_t most) {
    char path[600];
    if (w->tool) snprintf(path, sizeof path, "%s/%s -f", test_beside("weights-tools"), w->tool);
    else snprintf(path, sizeof path, "%s", test_run_path());
    shell("{ prlimit --fsize=%zu %s %s 2>&1 < /dev/null > /dev/null; echo $?; } | cat", most, path, w->args);
    const char *end = out + strlen(out);
    return end - out >= 2 ? end[-2] - '0' : -1;
}

/* Files in the folder; *parts of them are what a killed writer leaves beside, *.part. Where files need no name until
 * they are whole, those are the whole one, killed just before it was moved. */
static int files_in(const char *dir, const char *whole, int *parts) {
    char err[300];
    NewFile new;
    CHECK(newfile_open(&new, test_in(dir, "new"), err, sizeof err) == 0);
    int nameless = *new.nameless != 0, n = 0;
    newfile_close(&new, 0, err, sizeof err);
    DIR *d = opendir(dir);
    *parts = 0;
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.') continue;
        n++;
        if (!text_ends_with(e->d_name, ".part")) continue;
        ++*parts;
        CHECK(!nameless || files_equal(test_in(dir, e->d_name), whole));
    }
    if (d) closedir(d);
    return n;
}

/* The whole file into `whole`, and how long it took. 0: this writer does not write here (no panels in the row). */
static double make_whole(const Writer *w, const char *whole) {
    double t0 = clock_seconds();
    int rc = go(w, "");
    double took = clock_seconds() - t0;
    CHECK(rc == 0);
    if (access(w->into, F_OK) != 0) return 0;
    CHECK(file_copy(w->into, whole));
    unlink(w->into);
    return took;
}

static void at_any_moment(void) {
    enum { ROUNDS = 24 };
    Writer all[WRITERS];
    const char *whole = test_tmp("whole"), old[] = "<svg, or what was there";
    writers(all, "killed");
    for (int k = 0; k < WRITERS; k++) {
        const Writer *w = &all[k];
        int parts, killed = 0;
        double took = make_whole(w, whole);
        for (int i = 0; took > 0 && i < ROUNDS; i++) {
            char before[80];
            unlink(w->into);
            if (w->over && i % 2) file_write(w->into, old, sizeof old);
            snprintf(before, sizeof before, "timeout -s KILL %.4f ", took * (i + 1) / (ROUNDS - 4));
            int rc = go(w, before);
            CHECK(rc == 0 || rc == 137);
            killed += rc == 137;
            size_t n;
            char *now = file_read(w->into, &n);
            CHECK(rc ? !now || (i % 2 && n == sizeof old && memcmp(now, old, n) == 0) || files_equal(w->into, whole)
                     : files_equal(w->into, whole));
            free(now);
        }
        if (took > 0 && killed == 0) printf("    %s was never killed\n", w->name);
        unlink(w->into);
        CHECK(files_in(w->dir, whole, &parts) == parts);
        shell("rm -f %s/*.part", w->dir);
    }
}

/* Up to 4 KB every byte, or every seventh; of longer files 60 places. */
static void at_any_byte(void) {
    Writer all[WRITERS];
    const char *whole = test_tmp("whole"), old[] = "<svg, or what was there";
    if (!has("prlimit")) {
        test_skip("there is no prlimit here");
        return;
    }
    writers(all, "full");
    for (int k = 0; k < WRITERS; k++) {
        const Writer *w = &all[k];
        int parts, is_note = k == 4; /* panels that cannot be kept are none: the text comes all the same */
        size_t n = 0;
        if (make_whole(w, whole) == 0) continue;
        free(file_read(whole, &n));
        for (size_t at = 0, step = n > 4096 ? n / 60 : getenv("EVERY_BYTE") ? 1 : 7; at < n; at += step) {
            if (w->over) file_write(w->into, old, sizeof old);
            int rc = go_limited(w, at);
            CHECK(rc == !is_note && strstr(out, w->into) && count_lines(out) == 2);
            size_t left;
            char *now = file_read(w->into, &left);
            CHECK(!w->over ? !now : now && left == sizeof old && memcmp(now, old, left) == 0);
            free(now);
        }
        unlink(w->into);
        CHECK(files_in(w->dir, whole, &parts) == 0);
    }
}

extern const Test tests_killed[];
const Test tests_killed[] = {
    {"killed/at any moment", at_any_moment},
    {"killed/disk full at any byte", at_any_byte},
    {0},
};
