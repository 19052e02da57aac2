/* tests/test_chat_cli.c - the command chat as its users meet it: typed into a pseudo-terminal, and from a pipe. */
#include "base/base.h"
#include "model/files/weights.h"
#include "text/open.h"
#include "text/chat_template.h"
#include "build.h"
#include "program.h"
#include "test.h"
#include "typist.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char err[1200];

/* ---- what was read ---- */

static Tokenizer *tales(size_t *vocab) {
    Weights w;
    Tokenizer *t = NULL;
    int rc = weights_open(&w, "model/tales-1m.gguf", err, sizeof err);
    CHECK(rc == 0);
    if (rc) return NULL;
    CHECK(vocabulary_open(&t, &w, NULL, 0, NULL, err, sizeof err) == 0);
    *vocab = t ? tokenizer_size(t) : 0;
    weights_close(&w);
    return t;
}

/* The ids in a saved state (state.c: a header of 40 bytes, a logit for each piece, then the ids); malloc'ed. */
static int *state_ids(const char *path, size_t vocab, size_t *n) {
    size_t size;
    uint8_t *bytes = (uint8_t *)file_read(path, &size);
    int *ids = NULL;
    *n = 0;
    CHECK(bytes && size > 40 + 4 * vocab);
    if (bytes && size > 40 + 4 * vocab) {
        *n = (size_t)load_u64(bytes + 24);
        ids = malloc((*n + 1) * sizeof *ids);
        for (size_t i = 0; ids && i < *n; i++) ids[i] = (int)load_u32(bytes + 40 + 4 * vocab + 4 * i);
    }
    free(bytes);
    return ids;
}

/* Beside the program, within the working folder: chat's /save and /load go no further. */
static void state_path(char *path, size_t room) {
    char name[40];
    snprintf(name, sizeof name, "chat-%ld.state", (long)getpid());
    snprintf(path, room, "%s", test_beside(name));
}

static char *decoded(const Tokenizer *t, const int *ids, size_t n) {
    char *text = calloc(n + 1, tokenizer_decode_bound(t)), *at = text;
    TokenStream s = {0};
    for (size_t i = 0; text && i < n; i++) at += tokenizer_decode(t, &s, ids[i], at);
    return text;
}

/* ---- ten turns ---- */

enum { TURNS = 10 };
static const char *const questions[TURNS] = {"Who are you?", "Tell me about a dog.", "And then?", "Why was it sad?",
                                             "What did the bird say?", "Is it far?", "  spaces  ",
                                             "\xe4\xbd\xa0\xe5\xa5\xbd", "The end?", "One more."};

/* Type them, and keep each answer as it came out, without its newline. */
static void type_turns(Typist *t, char answers[TURNS][600]) {
    for (int i = 0; i < TURNS; i++) {
        size_t before = typist_written(t);
        char line[200];
        if (!typist_sees(t, "> ")) {
            CHECK(!"a prompt sign");
            return;
        }
        snprintf(line, sizeof line, "%s\n", questions[i]);
        typist_types(t, line);
        CHECK(typist_writes(t, before));
        CHECK(typist_sees(t, "\r\n") ); /* the echo */
        if (i + 1 < TURNS) continue;
        CHECK(typist_sees(t, "> "));
    }
    typist_types(t, "/stats\n");
    CHECK(typist_sees(t, "messages"));
    char *all = file_read(t->answers, NULL), *at = all;
    for (int i = 0; i < TURNS && at; i++) { /* answers here are of one line: --stop */
        char *end = strchr(at, '\n');
        CHECK(end && end - at < 600);
        if (!end || end - at >= 600) break;
        snprintf(answers[i], 600, "%.*s", (int)(end - at), at);
        at = end + 1;
    }
    free(all);
}

static const char options[] =
    "-t 0 --max-tokens 14 -c 2048 --chat-template llama3 -y 'You are a storyteller.' --stop '\n'";

/* The conversation rendered at once; malloc'ed ids, and its text where asked for. */
static int *at_once(const Tokenizer *t, char answers[TURNS][600], int n_answers, int generate, size_t *n, char **text) {
    ChatMessage m[2 * TURNS + 1] = {{CHAT_SYSTEM, "You are a storyteller.", 22}};
    size_t n_messages = 1;
    ChatParts p;
    ChatOptions o = {.generate = generate};
    int *ids = NULL;
    for (int i = 0; i < TURNS; i++) {
        m[n_messages++] = (ChatMessage){CHAT_USER, questions[i], strlen(questions[i])};
        if (i < n_answers) m[n_messages++] = (ChatMessage){CHAT_ASSISTANT, answers[i], strlen(answers[i])};
    }
    CHECK(chat_render(&p, chat_template_find("llama3"), m, n_messages, &o, err, sizeof err) == 0);
    CHECK(chat_encode(&p, 0, t, 0, &ids, n, err, sizeof err) == 0);
    if (text) *text = calloc(1, 1 << 16);
    char *at = text ? *text : NULL;
    for (size_t i = 0; at && i < p.n; at += p.parts[i++].len) memcpy(at, p.parts[i].text, p.parts[i].len);
    chat_parts_free(&p);
    return ids;
}

static void ten_turns(void) {
    Typist *t = malloc(sizeof *t);
    static char answers[TURNS][600];
    char state[300], command[400], prompt[300];
    size_t vocab, n, n_want;
    Tokenizer *tokenizer = tales(&vocab);
    state_path(state, sizeof state);
    if (!t || !tokenizer || typist_begin(t, "chat %s", options)) return;
    type_turns(t, answers);
    snprintf(command, sizeof command, "/save %s\n", state);
    typist_types(t, command);
    CHECK(typist_sees(t, "ids saved"));
    typist_types(t, "/quit\n");
    CHECK(typist_ended(t) == 0);

    int *ids = state_ids(state, vocab, &n), *want = at_once(tokenizer, answers, TURNS, 0, &n_want, NULL);
    CHECK(ids && want && n == n_want && memcmp(ids, want, n * sizeof *ids) == 0);
    remove(state);
    free(ids);
    free(want);

    char *text = NULL; /* the last answer once more, by a process that is given the whole history as one text */
    free(at_once(tokenizer, answers, TURNS - 1, 1, &n_want, &text));
    snprintf(prompt, sizeof prompt, "%s", test_tmp("prompt"));
    if (text) strcat(text, "\n"); /* -f leaves a file's last newline out */
    if (text) file_write(prompt, text, strlen(text));
    CHECK(piped("", "generate -f %s -t 0 --max-tokens 14 -c 2048 --no-echo --stop '\n' -q", prompt) == 0);
    size_t len = strlen(out);
    if (len && out[len - 1] == '\n') out[--len] = 0;
    CHECK(strcmp(out + strspn(out, " "), answers[TURNS - 1]) == 0);
    free(text);
    tokenizer_free(tokenizer);
    free(t);
}

/* Drawn by chance, ids often spell a text otherwise than encoding would. What is kept is the text's own ids. */
static void sampled_turns(void) {
    static char answers[TURNS][600];
    char state[300], input[1000] = "";
    size_t vocab, n, n_want;
    Tokenizer *t = tales(&vocab);
    snprintf(state, sizeof state, "%s", test_tmp("sampled.state"));
    for (int i = 0; i < TURNS; i++) snprintf(input + strlen(input), 100, "%s\n", questions[i]);
    CHECK(piped(input, "chat %s -t 1.5 -p 1 -s 11 --save-state %s -q", options, state) == 0 &&
          count_lines(out) == TURNS);
    char *at = out;
    for (int i = 0; i < TURNS && strchr(at, '\n'); i++, at = strchr(at, '\n') + 1)
        snprintf(answers[i], 600, "%.*s", (int)(strchr(at, '\n') - at), at);
    int *ids = state_ids(state, vocab, &n), *want = t ? at_once(t, answers, TURNS, 0, &n_want, NULL) : NULL;
    CHECK(ids && want && n == n_want && memcmp(ids, want, n * sizeof *ids) == 0);
    free(ids);
    free(want);
    tokenizer_free(t);
}

/* ---- commands ---- */

static void typed_commands(void) {
    Typist *t = malloc(sizeof *t);
    if (!t || typist_begin(t, "chat -t 0 --max-tokens 6 --chat-template zephyr")) return;
    CHECK(typist_sees(t, "template zephyr") && typist_sees(t, "> "));
    typist_types(t, "/help\n");
    CHECK(typist_sees(t, "/clear") && typist_sees(t, "/quit") && typist_sees(t, "> "));
    typist_types(t, "/nothing at all\n");
    CHECK(typist_sees(t, "/nothing is no command") && typist_sees(t, "> "));
    typist_types(t, "/system\n");
    CHECK(typist_sees(t, "no system prompt") && typist_sees(t, "> "));
    typist_types(t, "/system Be kind.\n");
    CHECK(typist_sees(t, "system prompt: Be kind.") && typist_sees(t, "> "));
    typist_types(t, "a\\\n");
    CHECK(typist_sees(t, ". "));
    typist_types(t, "b\n");
    CHECK(typist_sees(t, "> "));
    typist_types(t, "\"\"\"\n");
    CHECK(typist_sees(t, ". "));
    typist_types(t, "/help\n");
    CHECK(typist_sees(t, ". "));
    typist_types(t, "\"\"\"\n");
    CHECK(typist_sees(t, "> "));
    typist_types(t, "/stats\n");
    CHECK(typist_sees(t, "4 messages") && typist_sees(t, "6 tokens") && typist_sees(t, "> "));
    typist_types(t, "/clear\n");
    CHECK(typist_sees(t, "the system prompt stays") && typist_sees(t, "> "));
    typist_types(t, "/save\n");
    CHECK(typist_sees(t, "/save needs") && typist_sees(t, "> "));
    typist_types(t, "/load /nowhere/at/all\n");
    CHECK(typist_sees(t, "/nowhere/at/all") && typist_sees(t, "> "));
    typist_types(t, "/stats\n");
    CHECK(typist_sees(t, "0 messages") && typist_sees(t, "> "));
    typist_types(t, "\004");
    CHECK(typist_ended(t) == 0);
    free(t);
}

/* Ctrl-C stops an answer that would go on for a long time; what was said stays; at the prompt it leaves. */
static void interrupts(void) {
    Typist *t = malloc(sizeof *t);
    if (!t || typist_begin(t, "chat --attention linear --ignore-eos --max-tokens 100000000 --chat-template chatml -q"))
        return;
    for (int i = 0; i < 2; i++) {
        size_t before = typist_written(t);
        CHECK(typist_sees(t, "> "));
        typist_types(t, "Tell me a long story.\n");
        CHECK(typist_writes(t, before + 300));
        typist_types(t, "\003");
        CHECK(typist_sees(t, "> "));
        typist_types(t, "/stats\n");
        CHECK(typist_sees(t, i ? "4 messages" : "2 messages") && typist_sees(t, "Ctrl-C\r\n"));
    }
    CHECK(typist_sees(t, "> "));
    typist_types(t, "\003");
    CHECK(typist_ended(t) == 130);
    free(t);
}

/* ---- scripts ---- */

static void scripts(void) {
    CHECK(piped("Hello\n\nAnd then?\n", "chat -t 0 --max-tokens 8 --stop '\n' -q") == 0);
    CHECK(count_lines(out) == 2 && *said == 0);
    char *two = strdup(out);
    CHECK(piped("And then?\n", "chat -t 0 --max-tokens 8 --stop '\n' -q -i Hello") == 0 && strcmp(two, out) == 0);
    CHECK(piped("Hello\\\nthere\n\"\"\"\n/stats\n\nx\n\"\"\"\n/stats\n", "chat --max-tokens 3 -q") == 0);
    CHECK(strstr(said, "4 messages"));
    CHECK(piped("Hello\n/bogus\nAnd then?\n", "chat -t 0 --max-tokens 8 --stop '\n' -q") == 1 && strcmp(two, out) == 0);
    CHECK(strstr(said, "/bogus is no command"));
    CHECK(piped("x", "chat --max-tokens 3 -q --chat-template nothing") == 2 && strstr(said, "chatml") && *out == 0);
    CHECK(piped("x", "chat --json") == 2 && piped("x", "-m chat --json") == 2 && piped("x", "-m talk") == 2);
    CHECK(piped("x", "-y x") == 2);
    CHECK(piped("", "chat -q") == 0 && *out == 0);
    static const char *const leave[] = {"/quit", "/exit", "/bye"}; /* the last two are other programs' */
    for (int i = 0; i < 3; i++) {
        char line[40];
        snprintf(line, sizeof line, "%s\nHello\n", leave[i]);
        CHECK(piped(line, "chat -q --max-tokens 3") == 0 && *out == 0 && *said == 0);
    }
    free(two);
}

/* Answers given again, and turns taken back, are those of the conversation that is left. */
static void again(void) {
    static const char greedy[] = "chat -t 0 --max-tokens 12 --stop '\n' -q";
    static const char drawn[] = "chat -s 5 --max-tokens 30 -q --stop '\n'";
    CHECK(piped("Hello\nAnd then?\n", greedy) == 0);
    char *two = taken_out(), *second = strchr(two, '\n') + 1, line[600];
    CHECK(piped("Hello\n/retry\nAnd then?\n/retry\n", greedy) == 0 && count_lines(out) == 4);
    snprintf(line, sizeof line, "%.*s", (int)(second - two), two);
    CHECK(strncmp(out, line, strlen(line)) == 0 && strncmp(out + strlen(line), two, strlen(two)) == 0);
    CHECK(strcmp(out + strlen(line) + strlen(two), second) == 0);
    CHECK(piped("Hello\nSomething else\n/undo\nAnd then?\n/undo\n/undo\n/undo\nHello\n", greedy) == 1);
    char *last = strstr(out, second);
    CHECK(count_lines(out) == 4 && last && strcmp(last + strlen(second), line) == 0);
    CHECK(piped("Hello\n/retry\n", drawn) == 0 && count_lines(out) == 2);
    char *other = strchr(out, '\n');
    CHECK(other && strncmp(out, other + 1, (size_t)(other - out)) != 0);
    CHECK(piped("/retry\n/undo\n", "chat --max-tokens 3") == 1 && strstr(said, "there is no answer yet"));
    CHECK(piped("Hello\n/retry\n", "chat model/tales-1m-linear.gguf -t 0 --max-tokens 12 -q --stop '\n'") == 0);
    other = strchr(out, '\n');
    CHECK(other && strncmp(out, other + 1, (size_t)(other - out)) == 0);
    free(two);
}

/* /stats tells of the conversation that is left: what was taken back takes no positions, and its answer has no
 * figures. */
static void stats(void) {
    static const char *const models[] = {"", "model/tales-1m-linear.gguf"};
    for (int i = 0; i < 2; i++) {
        CHECK(piped("Hello\n/stats\nAnd then?\n/undo\n/stats\n/clear\n/stats\nHello\n/stats\n",
                    "chat %s -t 0 --max-tokens 8 --chat-template zephyr -q", models[i]) == 0);
        char *at[4] = {strstr(said, "template ")};
        for (int k = 1; k < 4; k++) at[k] = at[k - 1] ? strstr(at[k - 1] + 1, "template ") : NULL;
        if (!at[3]) {
            CHECK(!"four times");
            return;
        }
        int n[4], used[4];
        for (int k = 0; k < 4; k++)
            CHECK(sscanf(at[k], "template zephyr; %d messages, %d", &n[k], &used[k]) == 2);
        CHECK(n[0] == 2 && n[1] == 2 && n[2] == 0 && n[3] == 2 && used[0] > 8 && used[3] == used[0]);
        CHECK(i ? used[1] == 0 /* linear attention reads all again */
                : used[1] >= used[0] && used[1] < used[0] + 8); /* the first answer's end is read by now */
        CHECK(used[2] < 3);
        char *figures = strstr(at[0], "last answer: 8 tokens");
        CHECK(figures && figures < at[1] && (figures = strstr(at[1], "last answer")) && figures > at[3]);
    }
    int n, used = 0; /* ids that were drawn are not always those of the text that they made */
    CHECK(piped("Once\n/stats\n", "chat -s 3 -c 4000 --ignore-eos --max-tokens 100") == 0);
    const char *at = strstr(said, "template plain");
    CHECK(at && sscanf(at, "template plain; %d messages, %d", &n, &used) == 2 && used > 100);
    CHECK(at && strstr(at, "; it ended at the most tokens allowed (-n, --max-tokens)\n"));
    CHECK(piped("Once\n/stats\n", "chat -t 0 -c 100 --ignore-eos") == 0);
    CHECK(strstr(said, "; it ended as the context was full\n"));
}

/* A message that has no room is taken back, and those before it stay. */
static void too_long(void) {
    char input[4200] = "Hello\nAnd then?\n";
    size_t n = strlen(input);
    for (int i = 0; i < 400; i++) n += (size_t)snprintf(input + n, sizeof input - n, "word and ");
    snprintf(input + n, sizeof input - n, "\n/stats\n");
    CHECK(piped(input, "chat -t 0 --max-tokens 5 -c 256") == 1 && strstr(said, "tokens do not fit the context of 256"));
    CHECK(strstr(said, "; 4 messages, ") && !strstr(said, "leave it"));
}

/* On a terminal of 30 columns no word is cut, none is lost, and a line is no longer than it must be. */
static void wrapped(void) {
    char command[900];
    CHECK(piped("Tell me a story\n", "chat -t 0 --max-tokens 120 -q") == 0);
    char *plain = taken_out();
    snprintf(command, sizeof command,
             "script -qec \"stty cols 30 rows 20; %.300s chat -t 0 --max-tokens 120 -q -i 'Tell me a story' "
             "< /dev/null\" /dev/null",
             test_run_path());
    if (test_shell("script -qec true /dev/null", &out, &said) != 0) test_skip("script makes no terminal here");
    else if (plain && test_shell(command, &out, &said) == 0) {
        char *screen = taken_out(), *p = plain;
        size_t column = 0, lines = 0;
        CHECK(screen != NULL);
        for (char *s = screen; s && *s; s++) {
            if (*s == '\r') continue;
            if (*s == '\n' && *p == ' ') { /* a line's end in place of a space: the next word had no room */
                size_t next = strcspn(p + 1, " \n");
                CHECK(column + 1 + next > 30);
                lines++;
            } else CHECK(*s == *p);
            column = *s == '\n' ? 0 : column + 1;
            CHECK(column <= 30);
            if (*p) p++;
        }
        CHECK(screen && *p == 0 && lines > 2);
        free(screen);
    } else CHECK(!"a terminal");
    free(plain);
}

/* A full context: the oldest turns go, the system message stays, and the program says so. */
static void overflow(void) {
    char state[300], input[4000] = "";
    size_t vocab, n;
    Tokenizer *t = tales(&vocab);
    snprintf(state, sizeof state, "%s", test_tmp("overflow.state"));
    for (int i = 0; i < 12; i++) snprintf(input + strlen(input), 100, "This is question %d, said once.\n", i);
    CHECK(piped(input, "chat -t 0 --max-tokens 20 -c 128 --chat-template zephyr -y 'Blue whales.' --save-state %s",
                state) == 0);
    CHECK(strstr(said, "context of 128 positions is full: the oldest"));
    int *ids = state_ids(state, vocab, &n);
    char *text = t && ids ? decoded(t, ids, n) : NULL;
    CHECK(n > 60 && n <= 128);
    CHECK(text && strstr(text, "Blue whales.") && strstr(text, "question 11") && !strstr(text, "question 0"));
    CHECK(text && !strstr(text, "question 5"));
    free(ids);
    free(text);
    memset(input, 'x', 2000); /* one message that does not fit at all */
    snprintf(input + 2000, 100, "\nShort.\n");
    CHECK(piped(input, "chat -t 0 --max-tokens 5 --stop '\n' -c 128 -q") == 1 && strstr(said, "do not fit") &&
          count_lines(out) == 1);
    CHECK(piped("Go on and on\n", "chat -t 0 -c 128 --ignore-eos --chat-template llama3") == 0);
    CHECK(strstr(said, "by this turn alone"));
    tokenizer_free(t);
}

/* In the midst of a long answer the oldest turns go; it is the answer of a process that never had them. */
static void room_in_an_answer(void) {
    CHECK(piped("First question, which will leave.\nSecond question.\n",
                "chat -t 0 -c 160 --max-tokens 40 --ignore-eos --chat-template llama3 -q") == 0);
    CHECK(piped("First\nSecond question.\n",
                "chat -t 0 -c 160 --max-tokens 75 --ignore-eos --chat-template llama3") == 0);
    CHECK(strstr(said, "the oldest 2 messages leave"));
}

/* What is there and is no state, the model in use too, stays as it is; a state is replaced. */
static void save_over(void) {
    char state[300], input[1000];
    state_path(state, sizeof state);
    CHECK(file_copy("model/tales-1m.gguf", state));
    snprintf(input, sizeof input, "/save %s\nOne\n", state);
    CHECK(piped(input, "chat %s -t 0 --max-tokens 3 -q", state) == 1 && count_lines(out) == 1 &&
          said_line("is there and is not a saved state; it stays as it is"));
    CHECK(files_equal(state, "model/tales-1m.gguf"));
    remove(state);
    snprintf(input, sizeof input, "/save %s\nOne\n/save %s\n", state, state);
    for (int there = 0; there < 2; there++) /* --save-state names the same file */
        CHECK(piped(input, "chat -t 0 --max-tokens 3 -q --save-state %s", state) == 0 && *said == 0);
    remove(state);
}

/* What --save-state asked for cannot be written at the end: that is no success, at a terminal neither, whichever way
 * somebody leaves. */
static void save_fails(void) {
    static const char *const leave[] = {"/quit\n", "\003"};
    for (int i = 0; i < 2; i++) {
        Typist *t = malloc(sizeof *t);
        const char *folder = test_folder("chat-gone");
        if (!t || typist_begin(t, "chat -t 0 --max-tokens 3 --save-state %s/x.state -q", folder)) {
            free(t);
            return;
        }
        CHECK(typist_sees(t, "> ") && rmdir(folder) == 0);
        typist_types(t, "/save /nowhere/x\n");
        CHECK(typist_sees(t, "/nowhere/x") && typist_sees(t, "> "));
        typist_types(t, leave[i]);
        CHECK(typist_sees(t, "x.state") && typist_ended(t) == 1);
        free(t);
    }
}

/* A conversation that was saved goes on as if it had never stopped. */
static void save_and_load(void) {
    char state[300], *want;
    state_path(state, sizeof state);
    for (int linear = 0; linear < 2; linear++) {
        char with[300], input[1000];
        snprintf(with, sizeof with, "chat -t 0 --max-tokens 9 --stop '.' --chat-template llama2c -q%s",
                 linear ? " --attention linear" : "");
        CHECK(piped("One\nTwo\nThree\n", "%s", with) == 0);
        want = strdup(out);
        snprintf(input, sizeof input, "One\nTwo\n/save %s\nThree\n", state);
        CHECK(piped(input, "%s", with) == 0 && strcmp(out, want) == 0);
        size_t two = 0;
        for (int k = 0; k < 2; two++) k += want[two] == '\n';
        snprintf(input, sizeof input, "/load %s\nThree\n", state);
        CHECK(piped(input, "%s", with) == 0 && strcmp(out, want + two) == 0);
        CHECK(piped("Three\n", "%s --load-state %s", with, state) == 0 && strcmp(out, want + two) == 0);
        snprintf(input, sizeof input, "Other\n/load %s\n/clear\nOne\n", state);
        CHECK(piped(input, "%s", with) == 0 &&
              strncmp(strchr(out, '\n') + 1, want, (size_t)(strchr(want, '\n') - want)) == 0);
        free(want);
    }
    remove(state);
    CHECK(piped("/load model/tales-1m.gguf\nOne\n", "chat --max-tokens 3 -s 1 -q") == 1 &&
          strstr(said, "is not a saved state") &&
          count_lines(out) == 1);
}

/* Linear attention reads only what is new: the same answers as of a process that is given the whole text. */
static void linear(void) {
    static const char text[] = "User: One\nAssistant:%s\nUser: Two\nAssistant:";
    char prompt[1000];
    CHECK(piped("One\nTwo\n", "chat -t 0 --max-tokens 9 --attention linear --chat-template plain -q") == 0);
    char *two = strdup(out), *second = strchr(two, '\n') ? strchr(two, '\n') + 1 : two;
    CHECK(piped("", "-i 'User: One\nAssistant:' -t 0 --max-tokens 9 --attention linear -q --no-echo") == 0);
    CHECK(strncmp(two, out + 1, strlen(out) - 1) == 0 && count_lines(two) >= 2);
    out[strlen(out) - 1] = 0;
    snprintf(prompt, sizeof prompt, text, out);
    file_write(test_tmp("linear"), prompt, strlen(prompt));
    CHECK(piped("", "-f %s -t 0 --max-tokens 9 --attention linear -q --no-echo", test_tmp("linear")) == 0);
    CHECK(strcmp(second, out + strspn(out, " ")) == 0);
    free(two);
}

/* llama2.c's own way: the prompt that its chat() makes. */
static void llama2c(void) {
    const char *model = test_data("llama2c/stories260K.bin"), *tokenizer = test_data("llama2c/tok512.bin");
    if (!model || !tokenizer) return;
    CHECK(piped("", "%s -z %s -m chat -y 'Be brief.' -i 'Hello there' -t 0 --max-tokens 12 -q", model, tokenizer) == 0);
    char *chat = strdup(out);
    CHECK(piped("", "%s -z %s -t 0 --max-tokens 12 -q --no-echo "
                "-i '[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nHello there [/INST]'",
                model, tokenizer) == 0);
    CHECK(strlen(chat) > 5 && strcmp(chat, out + strspn(out, " \n")) == 0);
    free(chat);
}

const Test tests_chat_cli[] = {{"chat/cli/again", again}, {"chat/cli/stats", stats}, {"chat/cli/wrapped", wrapped},
    {"chat/cli/too long", too_long},
    {"chat/cli/ten turns", ten_turns},
    {"chat/cli/sampled turns", sampled_turns},
    {"chat/cli/commands", typed_commands},
    {"chat/cli/interrupts", interrupts},
    {"chat/cli/scripts", scripts},
    {"chat/cli/overflow", overflow},
    {"chat/cli/room in an answer", room_in_an_answer},
    {"chat/cli/save and load", save_and_load},
    {"chat/cli/save over a file", save_over},
    {"chat/cli/save fails", save_fails},
    {"chat/cli/linear", linear},
    {"chat/cli/llama2.c", llama2c},
    {0},
};
