/* tests/test.h - all the test framework there is.
 * A suite is a file test_NAME.c that defines `const Test tests_NAME[]`, rows ended by {0}; nothing else lists it. A
 * test fails at its first CHECK that does not hold but runs on; a NaN is never near anything. */
#ifndef TEST_H
#define TEST_H

#include <math.h>
#include <stddef.h>
#include <stdio.h>

typedef struct {
    const char *name; /* "rope/anchors" */
    void (*run)(void);
} Test;

extern const Test *const test_suites[]; /* NULL behind the last; build/FLAVOUR/tests/suites.c */

void test_fail(const char *file, int line, const char *what);
void test_skip(const char *why); /* mark the running test as skipped, in print */
/* The path of ../shared/data/NAME, or NULL where absent (then the test is marked skipped); four are alive at once. */
const char *test_data(const char *name);
/* A path in this run's own temporary folder; folder/name; a folder there, made if it is not there; and, below, what
 * stands beside the program under test. Of each the last sixteen live. */
const char *test_tmp(const char *name);
const char *test_in(const char *folder, const char *name);
const char *test_folder(const char *name);
const char *test_run_path(void); /* the program under test */
const char *test_beside(const char *name);
/* Run a command in a shell, with "> OUT 2> ERR" behind it; its exit code, 128 + signal where it was killed. *out and
 * *err get what it wrote, NUL-terminated, in malloc'ed memory; what they held before is freed. */
int test_shell(const char *command, char **out, char **err);
extern const int test_sanitized; /* 1 where AddressSanitizer is built in: it takes memory of its own */

#define CHECK(cond) do { if (!(cond)) test_fail(__FILE__, __LINE__, #cond); } while (0)
#define NEAR(a, b, atol, rtol) do { \
    double test_a = (a), test_b = (b); \
    if (!(fabs(test_a - test_b) <= (atol) + (rtol) * fabs(test_b))) { \
        char test_msg[200]; \
        snprintf(test_msg, sizeof test_msg, "%s = %.9g is not near %s = %.9g", #a, test_a, #b, test_b); \
        test_fail(__FILE__, __LINE__, test_msg); \
    } } while (0)

#endif
