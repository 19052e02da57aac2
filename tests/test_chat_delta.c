/* tests/test_chat_delta.c - chat and generate with delta nets (a tiny Qwen3.5) and convolutions (LFM2), whose states
 * cannot go back: what they say is what a fresh session says. */
#include "build.h"
#include "decoder_files.h"
#include "program.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { TURNS = 10 };
static const char *const questions[TURNS] = {"Who are you?", "And then?", "Why was it sad?", "  spaces  ", "Is it far?",
                                             "42", "(a)", "What did it say?", "The end?", "One more."};
static char folder[600];

/* The folder of the model, with a tokenizer whose 96 pieces are the printable bytes and the end of a line. */
static int build_model(const char *name) {
    char text[4000] = "{\"version\":\"1.0\",\"added_tokens\":[],\"normalizer\":null,\"pre_tokenizer\":{\"type\":"
                      "\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":true},"
                      "\"decoder\":{\"type\":\"ByteLevel\"},\"model\":{\"type\":\"BPE\",\"vocab\":{";
    const char *path = hf_folder(name, "", TENSOR_F32, &sound);
    if (!path) return 0;
    snprintf(folder, sizeof folder, "%s", path);
    for (int c = '!'; c <= '~'; c++)
        snprintf(text + strlen(text), 20, c == '"' || c == '\\' ? "\"\\%c\":%d," : "\"%c\":%d,", c, c - '!');
    strcat(text, "\"\xc4\xa0\":94,\"\xc4\x8a\":95},\"merges\":[]}}"); /* how byte-level BPE spells space and newline */
    file_write(test_in(folder, "tokenizer.json"), text, strlen(text));
    return 1;
}

const char *delta_folder(void) { return build_model("qwen35") ? folder : NULL; }
const char *convolution_folder(void) { return build_model("lfm2") ? folder : NULL; }

#define USUAL "-t 0 -q --ignore-eos --max-tokens 12 -c 1000 --stop '\n'"
#define CHAT USUAL " --chat-template plain"

/* Ten answers of one process; each by a process of its own that is given all that was said before as one text. */
static void turns(const char *name, const char *stop) {
    static char answers[TURNS][200];
    char input[1000] = "", history[4000] = "", prompt[300];
    if (!build_model(name)) return;
    for (int i = 0; i < TURNS; i++) snprintf(input + strlen(input), 100, "%s\n", questions[i]);
    CHECK(piped(input, "chat %s " CHAT " --stop '%s'", folder, stop) == 0);
    CHECK(count_lines(out) == TURNS);
    char *at = out;
    for (int i = 0; i < TURNS && strchr(at, '\n'); i++, at = strchr(at, '\n') + 1)
        snprintf(answers[i], sizeof answers[i], "%.*s", (int)(strchr(at, '\n') - at), at);
    snprintf(prompt, sizeof prompt, "%s", test_tmp("prompt"));
    for (int i = 0; i < TURNS; i++) {
        snprintf(history + strlen(history), 300, "%sUser: %s\nAssistant:", i ? "\n" : "", questions[i]);
        file_write(prompt, history, strlen(history));
        CHECK(piped("", "%s -f %s --no-echo " USUAL " --stop '%s'", folder, prompt, stop) == 0);
        size_t len = strlen(out);
        if (len && out[len - 1] == '\n') out[--len] = 0;
        if (strcmp(out + strspn(out, " "), answers[i]) != 0) decoder_fail(answers[i], "is not", out);
        snprintf(history + strlen(history), 300, "%.200s", out); /* as it was written, spaces in front and all */
    }
}

static void ten_turns(void) { turns("qwen35", "impossible"); }
static void ten_turns_convolved(void) { turns("lfm2", "impossible"); }

/* Of what a stop text ends with, something was read that is none of the answer's: all is read again. */
static void taken_back(void) { turns("qwen35", "D_c"); }

/* A conversation that is left and gone on with says what one that was not left says; a state of a prompt, too. */
static void states_of(const char *name) {
    char state[300];
    if (!build_model(name)) return;
    snprintf(state, sizeof state, "%s", test_tmp("delta.state"));
    CHECK(piped("One?\nTwo?\nThree?\nFour?\n", "chat %s " CHAT, folder) == 0 && count_lines(out) == 4);
    char *whole = taken_out();
    CHECK(piped("One?\nTwo?\n", "chat %s " CHAT " --save-state %s", folder, state) == 0);
    char *first = taken_out();
    CHECK(piped("Three?\nFour?\n", "chat %s " CHAT " --load-state %s", folder, state) == 0);
    CHECK(strncmp(whole, first, strlen(first)) == 0 && strcmp(whole + strlen(first), out) == 0);
    free(whole), free(first);
    CHECK(piped("", "%s -i 'Once upon a time' -t 0 -q --ignore-eos --max-tokens 20 -c 100 --no-echo", folder) == 0);
    whole = taken_out();
    CHECK(piped("", "%s -i 'Once upon' -q --max-tokens 0 -c 100 --save-state %s", folder, state) == 0);
    CHECK(piped("", "%s -i ' a time' -t 0 -q --ignore-eos --max-tokens 20 -c 100 --no-echo --load-state %s", folder,
                state) == 0 && strcmp(out, whole) == 0);
    free(whole);
}

static void states(void) { states_of("qwen35"); }
static void states_convolved(void) { states_of("lfm2"); }

/* Some of its layers have a cache: the context ends a text, the oldest turns leave a full one, nothing can be shifted.
 */
static void full_context(void) {
    char input[1000] = "";
    if (!build_model("qwen35")) return;
    CHECK(piped("", "%s -i Once -t 0 --ignore-eos -n 0 -c 40", folder) == 0);
    CHECK(strstr(said, "the context of 40 positions is used up"));
    CHECK(piped("", "%s -i Once -t 0 --ignore-eos -n 0 -c 40 --shift keep=4", folder) == 1 && said_line("--shift: "));
    for (int i = 0; i < TURNS; i++) snprintf(input + strlen(input), 100, "%s\n", questions[i]);
    CHECK(piped(input, "chat %s -t 0 --ignore-eos --max-tokens 12 -c 160 --chat-template plain --stop '\n'",
                folder) == 0);
    CHECK(count_lines(out) == TURNS && strstr(said, "the oldest 2 messages leave it"));
    CHECK(piped("Hi\n", "chat %s -t 0 --ignore-eos -c 60 --chat-template plain", folder) == 0);
    CHECK(strstr(said, "the context of 60 positions is used up by this turn alone"));
}

extern const Test tests_chat_delta[];
const Test tests_chat_delta[] = {
    {"chat/delta nets/ten turns", ten_turns},
    {"chat/delta nets/stop texts", taken_back},
    {"chat/delta nets/states", states},
    {"chat/delta nets/full context", full_context},
    {"chat/convolutions/ten turns", ten_turns_convolved},
    {"chat/convolutions/states", states_convolved},
    {0},
};
