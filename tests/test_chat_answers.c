/* tests/test_chat_answers.c - what of an answer is thought, and the default system message that a template sets. */
#include "text/channels.h"
#include "text/chat_template.h"
#include "program.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static char err[200];

/* ---- channels ---- */

typedef struct { char text[4000]; size_t n; } Shown;

static void take(void *arg, const char *text, size_t n) {
    Shown *s = arg;
    CHECK(n > 0 && s->n + n < sizeof s->text);
    memcpy(s->text + s->n, text, n);
    s->text[s->n += n] = 0;
}

/* What is shown of a text that comes in pieces of so many bytes. */
static const char *shown(const char *text, size_t piece) {
    static Shown s;
    TextChannels c = {.show = take, .arg = &s};
    s.n = 0, s.text[0] = 0;
    text_channels_begin(&c);
    for (size_t i = 0, n = strlen(text); i < n; i += piece)
        text_channels_piece(&c, text + i, n - i < piece ? n - i : piece);
    text_channels_end(&c);
    return s.text;
}

static void channels(void) {
    static const struct { const char *wrote, *shown; } cases[] = {
        {"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hi!",
         "<think>\nHm.\n</think>\n\nHi!"},
        {"<|channel|>final<|message|>Hi <b> | <|", "Hi <b> | <|"},
        {"<|channel|>analysis<|message|>Hm", "<think>\nHm\n</think>\n"},
        {"<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary<|message|>b<|end|>"
         "<|start|>assistant<|channel|>final<|message|>c", "<think>\na\nb\n</think>\n\nc"},
        {"<|channel|>analysis<|message|>a<|channel|>final<|message|>b", "<think>\na\n</think>\n\nb"},
        {" to=functions.x<|channel|>commentary json<|message|>{}", "<think>\n{}\n</think>\n"},
        {"<|channel|>ana", ""},
        {"<|message|>no channel", "no channel"},
        {"no token at all", "no token at all"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t piece = 1; piece < 100; piece += piece < 20 ? 1 : 40)
            if (strcmp(shown(cases[i].wrote, piece), cases[i].shown) != 0)
                test_fail(__FILE__, __LINE__, shown(cases[i].wrote, piece));
    char text[3000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    CHECK(strcmp(shown(text, 7), text) == 0); /* longer than any header */
    static const char *const begins[] = {"<|channel|>", "<|start|>", "<|end|>"};
    for (int i = 0; i < 3; i++) {
        memset(text, 'x', sizeof text - 1);
        memcpy(text, begins[i], strlen(begins[i]));
        CHECK(strcmp(shown(text, 7), text) == 0); /* as one begins, and does not end */
    }
}

/* What the model thought is no part of the conversation; what it said in the last channel is. */
static void history(void) {
    static const struct { const char *answer, *stays; } cases[] = {
        {"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hi!", "Hi!"},
        {"<|channel|>analysis<|message|>Hm.", ""},
        {"Hi <|channel|>!", "Hi <|channel|>!"},
        {"Hi", "Hi"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const ChatMessage m[2] = {{CHAT_USER, "x", 1}, {CHAT_ASSISTANT, cases[i].answer, strlen(cases[i].answer)}};
        char want[300], got[2000] = "";
        ChatParts p;
        ChatOptions o = {.date = "2026-11-05"};
        CHECK(chat_render(&p, chat_template_find("gpt-oss"), m, 2, &o, err, sizeof err) == 0);
        for (size_t k = 0; k < p.n; k++) snprintf(got + strlen(got), sizeof got - strlen(got), "%.*s",
                                                  (int)p.parts[k].len, p.parts[k].text);
        snprintf(want, sizeof want, "<|start|>assistant<|channel|>final<|message|>%s<|end|>", cases[i].stays);
        CHECK(strstr(got, want) && strcmp(strstr(got, want), want) == 0 && strstr(got, "Current date: 2026-11-05\n"));
        chat_parts_free(&p);
    }
}

/* Tokens that tell thoughts from text are tokens again where the answer stays whole. */
static void thoughts_as_tokens(void) {
    const ChatMessage m[2] = {{CHAT_USER, "[THINK]", 7}, {CHAT_ASSISTANT, "[THINK]a[/THINK]b", 17}};
    ChatParts p;
    ChatOptions o = {.bos = "<s>", .eos = "</s>"};
    int controls = 0, contents = 0;
    CHECK(chat_render(&p, chat_template_find("ministral3"), m, 2, &o, err, sizeof err) == 0);
    for (size_t i = 0; i < p.n; i++) {
        controls += p.parts[i].kind == CHAT_CONTROL && p.parts[i].len > 6 &&
                    memcmp(p.parts[i].text + p.parts[i].len - 6, "THINK]", 6) == 0;
        contents += p.parts[i].kind == CHAT_CONTENT;
    }
    CHECK(controls == 2 && contents == 3);
    chat_parts_free(&p);
}

/* Gemma 4's thoughts are left out; what stays is text, also where it spells a token, and where nothing stays. */
static void thoughts_left_out(void) {
    static const struct { const char *answer, *stays; } cases[] = {
        {"<|channel>thought\nHm.\n<channel|>Hi!", "Hi!"},
        {" <|channel>a<channel|> \n<|channel>b<channel|> Hi  <|channel>c<channel|> you <|channel>d", "Hi   you"},
        {"Hi<channel|> you <chan<channel|>nel|>\n<channel|>\n", "Hi you <channel|>"},
        {"<|channel>thought\nHm.", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const ChatMessage m[2] = {{CHAT_USER, "x", 1}, {CHAT_ASSISTANT, cases[i].answer, strlen(cases[i].answer)}};
        char got[100] = "";
        ChatParts p;
        int contents = 0;
        CHECK(chat_render(&p, chat_template_find("gemma4"), m, 2, &(ChatOptions){0}, err, sizeof err) == 0);
        for (size_t k = 0; k < p.n; k++) {
            if (p.parts[k].message != 1 || p.parts[k].kind != CHAT_CONTENT) continue;
            contents++;
            snprintf(got + strlen(got), sizeof got - strlen(got), "%.*s", (int)p.parts[k].len, p.parts[k].text);
        }
        CHECK(contents > 0 && strcmp(got, cases[i].stays) == 0);
        chat_parts_free(&p);
    }
}

/* ---- default system messages ---- */

static void defaults(void) {
    static const struct { const char *jinja, *text; } cases[] = {
        {"{%- set default_system_message = 'It\\'s \\\\ \"x\"\\n.' %}", "It's \\ \"x\"\n."},
        {"{%- set default_system_message = \"a\" ~ 'b' + \"c\" -%}", "abc"},
        {"{%- set today = strftime_now(\"%Y-%m-%d\") %}{% set default_system_message = \"On \" + today + \".\" %}",
         "On {date}."},
        {"{%- set default_system_message = '' %}", ""},
        {"{% set default_system_message = \"On \" + today %}", NULL}, /* whose today? */
        {"{% set default_system_message = 'a' + other %}", NULL},
        {"{% set default_system_message = 'a", NULL},
        {"{% set default_system_message = 'a\\", NULL},
        {"{% set default_system_message = 'a\\x41' %}", NULL},
        {"{% set default_system_message = 'a' 'b' %}", NULL},
        {"{% set default_system_message = ", NULL},
        {"{% set system_message = 'a' %}", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = chat_template_default(cases[i].jinja, strlen(cases[i].jinja));
        CHECK(cases[i].text ? text && strcmp(text, cases[i].text) == 0 : text == NULL);
        free(text);
    }
}

/* The command, on a model that knows nothing of channels: what it writes is shown. */
static void command(void) {
    CHECK(run("chat --chat-template gpt-oss --max-tokens 8 -t 0 -q -i 'Once upon a time'") == 0);
    CHECK(strlen(out) > 4 && !strstr(out, "think"));
    CHECK(run("chat --chat-template smollm3 --max-tokens 2 -t 0 -q -y '/no_think' -i Hi") == 0);
    CHECK(run("chat --chat-template ministral3 --max-tokens 2 -t 0 -q -i Hi") == 0);
    CHECK(run("chat --chat-template gemma4 --max-tokens 2 -t 0 -q -i Hi") == 0);
    CHECK(run("chat --chat-template gemma4-e4b --max-tokens 2 -t 0 -q -i Hi") == 0);
}

const Test tests_chat_answers[] = {
    {"chat/channels", channels},
    {"chat/channels in history", history},
    {"chat/thoughts as tokens", thoughts_as_tokens},
    {"chat/thoughts left out", thoughts_left_out},
    {"chat/default system messages", defaults},
    {"chat/answers by the command", command},
    {0}};
