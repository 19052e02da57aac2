/* tests/test_cli_hints.c - what the program and its tests say to somebody who guessed: the line says what to type. */
#include "build.h"
#include "program.h"
#include "test.h"
#include "typist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A name that no test has is no success. The tests' program stands beside ./run. */
static void no_such_test(void) {
    const char *self = test_beside("test");
    if (shell("test -x %s", self) != 0) test_skip("the tests' program is not beside ./run");
    else {
        CHECK(shell("%s nosuch", self) == 1 && strcmp(out, "no test's name holds \"nosuch\"\n") == 0);
        CHECK(shell("%s 'base/no such'", self) == 1);
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
        {"-j 1 chat", "chat is a command, and stands in front of its options: ./run chat .."},
        {"-j 1 logits model/tales-1m.gguf --ids 1", "logits is a command, and stands in front of its options: ./run"},
        {"-i chat -- chat", "chat is a command"},
        {"model/tales-1m.gguf chat", "chat is a command, and stands in front of its options: ./run chat .."},
        {"model/tales-1m.gguf -ngl 99", "-ngl is not an option of generate"},
        {"chat -sys hello", "-sys is not an option of chat"},
        {"perplexity --longppl -f README.md", "--longppl is not an option of perplexity, but of recall"},
        {"generate -j 1 chat", "\"chat\" is no model"},
        {"embed model/tales-1m.gguf a b", "\"b\" is one word too many; a text of several words stands in quotes"},
        {"recall model/tales-1m.gguf README.md", "\"README.md\" is one word too many: a file of text stands behind -f"},
        {"recall model/tales-1m.gguf README.md -f LICENSE", "\"README.md\" is one word too many; ./run"},
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
    CHECK(shell("cp model/tales-1m.gguf %s && own=$(realpath %s) && cd %s && $own -j 1 chat -n 2 -q", test_tmp("chat"),
                test_run_path(), test_tmp(".")) == 0); /* a file of a command's name is a model */
    static const char *const topics[] = {"map", "heads", "turn", "score", "slide", "shift", "pairing", "use", "state",
                                         "lens", "next"};
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) /* not run.c's fault, whatever is asked of it */
        CHECK(run("explain run.c 'Tom had a dog' %s", topics[i]) == 1 && *out == 0 && said_line("run.c: "));
    CHECK(run("explain 'heads and turn' map -q") == 0 && run("explain map next -q") == 0); /* a topic as the text */
}

/* Where a terminal is waited for, a line says so, unless --quiet. */
static void reads_a_terminal(void) {
    static const struct { const char *words, *typed, *answer; } rows[] = {
        {"tokenize", "Once upon\n\004", "1 435 461 13\n"},
        {"tokenize -f -", "Once upon\n\004", "1 435 461 13\n"},
        {"embed", "Once upon\n\004", ""},
        {"rank 'a dog'", "Once upon\n\004", ""},
        {"fill model/words-1m.gguf", "The [MASK] barked.\n\004", "The dog barked.\n"}};
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        Typist *t = malloc(sizeof *t);
        const char *words = rows[i / 2].words, *answer = rows[i / 2].answer;
        if (!t || typist_begin(t, "%s%s", words, i % 2 ? " -q" : "")) return;
        if (i % 2 == 0) CHECK(typist_sees(t, "reading lines from the terminal; Ctrl-D ends them"));
        typist_types(t, rows[i / 2].typed);
        CHECK(typist_ended(t) == 0 && (i % 2 == 0 || !strstr(t->screen, "reading")));
        char *got = file_read(t->answers, NULL);
        CHECK(got && *got && strncmp(got, answer, strlen(answer)) == 0);
        free(got);
        free(t);
    }
}

/* Why a text ended early: its reader left, the disk is full, Ctrl-C. */
static void why_it_stopped(void) {
    const char *self = test_run_path();
    CHECK(shell("%s -n 0 -c 100000 -s 1 --ignore-eos | head -c 1", self) == 0 && strcmp(out, "O") == 0);
    CHECK(strstr(said, "\nstopped: the reader of the text went away\n") && !strstr(said, "interrupted"));
    CHECK(shell("%s -n 200 -s 1 --ignore-eos > /dev/full", self) == 1);
    CHECK(!strstr(said, "stopped") && strstr(said, "\nrun: cannot write the output: No space left on device\n"));
    CHECK(shell(INTERRUPT_AFTER "1 %s -n 0 -c 200000 --ignore-eos -s 1 > /dev/null", self) == 130);
    CHECK(strstr(said, "\nstopped: interrupted\n"));
}

const Test tests_cli_hints[] = {{"cli hints/no such test", no_such_test},
                                {"cli hints/words in the wrong place", words_in_the_wrong_place},
                                {"cli hints/reads a terminal", reads_a_terminal},
                                {"cli hints/why it stopped", why_it_stopped}, {0}};
