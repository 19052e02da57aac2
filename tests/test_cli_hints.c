/* tests/test_cli_hints.c - what the program and its tests say to somebody who guessed: the line says what to type. */
#include "program.h"
#include "test.h"

#include <stdio.h>
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

/* A text where a model stands, a text without quotes, words in the wrong order: the line says how it is typed. */
static void words_in_the_wrong_place(void) {
    static const struct { const char *words, *line; } rows[] = {
        {"generate 'A dog'", "\"A dog\" is no model: a text stands behind -i, in quotes"},
        {"chat hello there", "\"hello\" is no model: a text stands behind -i"},
        {"score hello", "stands behind --text"},
        {"A dog", "no command and no model A; a text to go on from stands behind -i, in quotes"},
        {"tokenize hello there", "there is no model hello; a text of several words stands in quotes"},
        {"tokenize hello there you", "there is no model hello; a text of several words stands in quotes"},
        {"embed model/tales-1m.gguf a b", "\"b\" is one word too many; a text of several words stands in quotes"},
        {"explain map 'Tom had a dog'", "WHAT stands last: ./run explain [MODEL] TEXT map"},
        {"explain model/tales-1m.gguf map 'Tom had a dog'", "WHAT stands last: ./run explain [MODEL] TEXT map"},
        {"explain Tom nosuch", "there is no \"nosuch\""},
        {"rope model/tales-1m.gguf clock", "WHAT stands first: ./run rope clock [MODEL]"},
        {"rope 1,0 rotate", "WHAT stands first: ./run rope rotate Q POS [MODEL]"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char line[200];
        const char *own = strstr(rows[i].line, "./run"); /* the program says its own name there */
        snprintf(line, sizeof line, "%.*s%s%s", own ? (int)(own - rows[i].line) : 200, rows[i].line,
                 own ? test_run_path() : "", own ? own + strlen("./run") : "");
        CHECK(run("%s", rows[i].words) == 2 && *out == 0 && said_line(line));
    }
    CHECK(run("explain 'heads and turn' map -q") == 0 && run("explain map next -q") == 0); /* a topic as the text */
}

const Test tests_cli_hints[] = {{"cli hints/no such test", no_such_test},
                                {"cli hints/words in the wrong place", words_in_the_wrong_place}, {0}};
