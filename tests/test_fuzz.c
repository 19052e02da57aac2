/* tests/test_fuzz.c - the inputs that fuzzing kept (fuzz/seeds/), each through its target once more; and the mutators
 * of fuzz/ for a moment, without libFuzzer. */
#include "build.h"
#include "fuzz/mutate.h"
#include "fuzz/targets.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 8192, ROUNDS = 100 };

/* What libFuzzer would do: a byte changes, goes, or comes. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) {
    static Mutant m = {.state = 1};
    m.data = data, m.size = size, m.most = most;
    size_t at = size ? chance(&m, (uint32_t)size) : 0;
    uint32_t what = chance(&m, 3);
    uint8_t byte = (uint8_t)chance(&m, 256);
    if (what == 0 && size > 1) splice(&m, at, 1, NULL, 0);
    else if (what == 1 || size == 0) splice(&m, at, 0, &byte, 1);
    else data[at] = byte;
    return m.size;
}

static void run_one(const FuzzTarget *t, const uint8_t *data, size_t n) {
    uint8_t *exact = malloc(n ? n : 1); /* so that sanitizers see one byte too far */
    if (!exact) exit(1);
    memcpy(exact, data, n);
    t->run(exact, n);
    free(exact);
}

/* Inputs behind their lengths, to end; for a target that has a mutator, changed, too. */
static void replay(const FuzzTarget *t, const uint8_t *p, const uint8_t *end) {
    static uint8_t changed[MOST];
    while (end - p >= 2 && end - p >= 2 + load_u16(p)) {
        size_t n = load_u16(p);
        run_one(t, p + 2, n);
        for (unsigned i = 0; t->mutator && n <= MOST && i < ROUNDS; i++) {
            memcpy(changed, p + 2, n);
            run_one(t, changed, t->mutator(changed, n, MOST, i));
        }
        p += 2 + n;
    }
    exit(p != end);
}

static void target(const FuzzTarget *t) {
    char path[100];
    size_t n;
    snprintf(path, sizeof path, "tests/fuzz/seeds/%s", t->name);
    uint8_t *seeds = (uint8_t *)file_read(path, &n);
    int status = 1;
    CHECK(seeds != NULL);
    fflush(stdout);
    pid_t pid = seeds ? fork() : -1;
    if (pid == 0) replay(t, seeds, seeds + n);
    if (pid > 0) waitpid(pid, &status, 0);
    if (status) printf("    fuzz_%s: status %d\n", t->name, status), test_fail(__FILE__, __LINE__, t->name);
    free(seeds);
}

static void seeds(void) {
    for (const FuzzTarget *t = fuzz_targets; t->name; t++) target(t);
}

extern const Test tests_fuzz[];
const Test tests_fuzz[] = {
    {"fuzz/seeds", seeds},
    {0},
};
