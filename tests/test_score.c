/* tests/test_score.c - log-probabilities as score and generate print them: perplexity's, and the logits' own. */
#include "cli_files.h"
#include "base/json.h"
#include "model/files/weights.h"
#include "program.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

/* The number behind a key, the last of that name in stdout. */
static double number(const char *key) {
    char name[60];
    const char *at = out, *last = NULL;
    snprintf(name, sizeof name, "\"%s\":", key);
    while ((at = strstr(at, name))) last = at += strlen(name);
    CHECK(last);
    return last ? strtod(last, NULL) : NAN;
}

/* A text's log-probability after BOS is perplexity's sum; after a prompt, what is left of it. */
static void sums(void) {
    CliModel m = cli_model();
    const char *text = "the sand and the water";
    file_write(test_tmp("score.txt"), text, strlen(text));
    CHECK(run("perplexity %s -f %s --json -q", m.gguf, test_tmp("score.txt")) == 0);
    double whole = -number("nll_sum");
    CHECK(run("score %s --text '%s'", m.gguf, text) == 0);
    NEAR(strtod(strrchr(out, '\n') - out > 0 ? strstr(out, " in ") - 8 : out, NULL), whole, 1e-3, 0);
    CHECK(run("score %s -i 'the sand' --text ' and the water' --json", m.gguf) == 0);
    double after = strtod(strstr(out, "\"logprob\":") + 10, NULL);
    CHECK(run("score %s --text 'the sand' --json", m.gguf) == 0);
    NEAR(after + strtod(strstr(out, "\"logprob\":") + 10, NULL), whole, 1e-5, 0);
}

static void several(void) {
    CliModel m = cli_model();
    CHECK(run("score %s -i 'the ' --text 'sand' --text 'water'", m.gguf) == 0);
    CHECK(count_lines(out) == 2 && strstr(out, ": sand\n") && strstr(out, ": water\n"));
    CHECK(run("score %s -i 'the ' --text 'sand' --text 'water' --json --logprobs 2", m.gguf) == 0);
    Json j;
    char err[200];
    CHECK(json_parse(&j, out, strlen(out), "stdout", err, sizeof err) == 0);
    json_free(&j);
    CHECK(strstr(out, "\"prompt\":\"the \"") && strstr(out, "\"top\":[{"));
}

/* A model so sure that what comes second has a probability of no double: its logarithm is one. */
static void sure(void) {
    CliModel m = cli_model();
    const char *path = test_tmp("sure.gguf");
    char err[300];
    Weights w;
    size_t n = 0;
    char *bytes = file_read(m.gguf, &n);
    if (!bytes || weights_open(&w, m.gguf, err, sizeof err)) {
        CHECK(0);
        free(bytes);
        return;
    }
    const Tensor *t = weights_find(&w, "output_norm.weight");
    for (size_t i = 0; i < t->size; i += 4) {
        float x;
        char *at = bytes + (t->data - w.files[0].data) + i;
        memcpy(&x, at, 4);
        x *= 1e7f;
        memcpy(at, &x, 4);
    }
    file_write(path, bytes, n);
    weights_close(&w);
    free(bytes);
    CHECK(run("score %s --text sand --logprobs 3 --json", path) == 0 && strstr(out, "\"top\":[{"));
    double second = strtod(strstr(strstr(strstr(out, "\"top\"") + 9, "},") + 9, "\"logprob\":") + 10, NULL);
    CHECK(second < -800 && isfinite(second));
    CHECK(run("score %s --text sand --logprobs 3", path) == 0 && !strstr(out, "inf"));
}

/* The prompt is read once for all texts, which changes no digit: beside each by itself, with frequencies that depend on
 * the length, with a state in place of a past. */
static void prompt_read_once(void) {
    static const char *const models[] = {"model/tales-1m.gguf", "model/tales-1m.gguf --rope dynamic:original=8",
                                         "model/tales-1m-linear.gguf"};
    static const char *const texts[] = {"girl who", "dog that was running in the park and saw a cat", "a"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        CHECK(run("score %s -i 'Once there was a little ' --text '%s' --text '%s' --text '%s' --json", models[m],
                  texts[0], texts[1], texts[2]) == 0);
        char *together = taken_out();
        for (int i = 0; i < 3; i++) {
            CHECK(run("score %s -i 'Once there was a little ' --text '%s' --json", models[m], texts[i]) == 0);
            char *alone = strstr(out, "{\"text\""), *end = strstr(alone, "]}\n");
            *end = 0;
            CHECK(strstr(together, alone));
        }
        free(together);
    }
}

/* What generate says of the ids it drew is what score says of their text; and the text does not change by it. */
static void of_what_was_written(void) {
    CHECK(run("-n 9 -s 3 -q") == 0);
    char *text = taken_out();
    CHECK(run("-n 9 -s 3 -q --logprobs 3") == 0);
    CHECK(strcmp(text, out) == 0 && count_lines(said) == 9 && strstr(said, "   of   -"));
    double sum = 0;
    for (char *line = said; *line; line = strchr(line, '\n') + 1) sum += strtod(line, NULL);
    text[strcspn(text, "\n")] = 0;
    CHECK(run("score model/tales-1m.gguf --text '%s' --json", text) == 0);
    NEAR(strtod(strstr(out, "\"logprob\":") + 10, NULL), sum, 9 * 5e-5 + 1e-6, 0); /* four places are printed */
    free(text);
}

static void wrong_use(void) {
    CliModel m = cli_model();
    CHECK(run("score %s", m.gguf) == 2 && said_line("needs a text"));
    CHECK(run("score %s --text ''", m.gguf) == 2 && said_line("the text is empty"));
    CHECK(run("score %s --text a --logprobs 101", m.gguf) == 2 && said_line("out of range"));
    CHECK(run("score %s --text 'the sand and the water' -c 2", m.gguf) == 1 && said_line("context"));
    CHECK(run("score %s --json --text a --text 'the sand and the water' -c 2", m.gguf) == 1 && *out == 0 &&
          said_line("text 2 has"));
}

const Test tests_score[] = {{"score/sums", sums},
                            {"score/several texts", several},
                            {"score/sure", sure},
                            {"score/prompt read once", prompt_read_once},
                            {"score/of what was written", of_what_was_written},
                            {"score/wrong use", wrong_use},
                            {0}};
