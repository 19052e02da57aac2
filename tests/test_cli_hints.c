/* tests/test_cli_hints.c - what the program and its tests say to somebody who guessed: the line says what to type. */
#include "program.h"
#include "test.h"

#include <string.h>

/* A name that no test has is no success. The tests' program stands beside ./run. */
static void no_such_test(void) {
    const char *self = test_run_path();
    int folder = (int)(strlen(self) - strlen("run"));
    if (shell("test -x %.*stest%s", folder, self, "") != 0) test_skip("the tests' program is not beside ./run");
    else {
        CHECK(shell("%.*stest nosuch", folder, self) == 1 && strcmp(out, "no test's name holds \"nosuch\"\n") == 0);
        CHECK(shell("%.*stest 'base/no such'", folder, self) == 1);
    }
}

const Test tests_cli_hints[] = {{"cli hints/no such test", no_such_test}, {0}};
