/* cli/chat.c - the command chat: turns are read, answers go out as they come, and what begins with / is a command.
 * Answers are on stdout; prompt signs and everything else on stderr, signs only where somebody types. */
#include "chat.h"
#include "terminal.h"
#include "text/chat.h"
#include "base/system.h"
#include "base/base.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { USUAL_CONTEXT = 4096 }; /* where -c does not say: a model may be trained on more than memory holds */

static volatile sig_atomic_t leaving; /* a signal that ends programs came */

static void on_signal(int sig) {
    interrupted = 1;
    if (sig != SIGINT) leaving = 1;
}

/* Ctrl-C is an event here, any number of times. Without SA_RESTART: it wakes a read. */
static void catch_signals(const Chat *c) {
    out.whole = c->terminal;
    signal_catch(SIGINT, on_signal, 0);
    signal_catch(SIGTERM, on_signal, 0);
    signal_catch(SIGHUP, on_signal, 0);
}

/* ---- an answer ---- */

/* How it ended, by TextEnd, behind "it ended". */
static const char *const endings[] = {
    [TEXT_LENGTH] = "at the most tokens allowed (-n, --max-tokens)", [TEXT_EOS] = "as the model ended it",
    [TEXT_BOS] = "as the model began another text", [TEXT_STOP] = "at a stop text",
    [TEXT_CONTEXT] = "as the context was full", [TEXT_INTERRUPT] = "by Ctrl-C"};

static size_t answer_limit(const Chat *c) {
    const Args *a = c->a;
    if (a->sampling.max_given) return (size_t)a->sampling.max_tokens;
    if (a->sampling.n_given && a->sampling.n > 0) return (size_t)a->sampling.n;
    int endless = c->g.e.session.model->config.linear.form != NULL; /* no context ends it */
    return endless ? (size_t)c->g.e.model.config.n_ctx_train : SIZE_MAX;
}

/* The last id drawn may not have been read: the text ended with it. */
static void note_pending(Chat *c, size_t pos) {
    const Generation *g = &c->g;
    c->has_pending = g->w.n_new > 0 && g->e.session.pos < pos + g->w.n_new;
    if (c->has_pending) c->pending = g->w.ids[g->w.n_ids - 1];
    if (g->w.end == TEXT_STOP) c->stale = 1; /* a stop text was read, and is none of the answer's */
}

/* Ctrl-C was heard: the conversation goes on, a script or a program that is to end does not. An exit code. */
static int heard_interrupt(Chat *c) {
    if (leaving || !c->terminal) return EXIT_INTERRUPTED;
    interrupted = 0;
    return 0;
}

/* The answer to the last message, and its place in the conversation. An exit code. */
static int answer(Chat *c) {
    Generation *g = &c->g;
    const float *logits;
    int rc = chat_fit(c, 0);
    chat_say_left(c);
    if (rc == -ENOSPC) { /* this message can be taken back, and the next one may be shorter */
        c->code = fail("%s", g->e.err);
        chat_drop_last(c);
        return 0;
    }
    double t0 = clock_seconds();
    if (rc == 0) rc = chat_read(c, 1, NULL, 0, &logits);
    g->prompt_s = clock_seconds() - t0;
    if (rc == -EINTR) {
        note("stopped before the answer; the message is taken back");
        chat_drop_last(c);
        return heard_interrupt(c);
    }
    if (rc) return fail("%s", g->e.err);
    size_t pos = g->e.session.pos;
    g->n_text = 0;
    g->w.stream = (TokenStream){.tight = 1, .begun = 1};
    g->tidy = 1;
    int code = generation_run(g, logits, answer_limit(c));
    if (code) return code;
    out_bytes("\n", 1);
    out_flush();
    chat_say_left(c);
    note_pending(c, pos);
    if (chat_add(c, CHAT_ASSISTANT, g->text ? g->text : "", g->n_text)) return fail("%s", g->e.err);
    c->n_read = c->n;
    if (g->w.end == TEXT_CONTEXT)
        note("the context of %zu positions is used up by this turn alone; -c makes room for more",
             g->e.session.options.n_ctx);
    if (c->a->show.verbose)
        note("%zu tokens at %.1f tok/s; it ended %s", g->w.n_new, generation_rate(g), endings[g->w.end]);
    return interrupted ? heard_interrupt(c) : 0; /* heard too late for this answer, it was still meant for it */
}

static int say(Chat *c, const char *text, size_t n) {
    if (chat_add(c, CHAT_USER, text, n)) return fail("%s", c->g.e.err);
    return answer(c);
}

/* ---- commands ---- */

/* What a command does with its argument ("" where there is none): an exit code, or -1 to leave. */
typedef struct {
    const char *name, *help;
    int needs; /* an argument */
    int (*run)(Chat *c, const char *argument);
} Word;

/* To somebody who typed a command, also with -q; to a script not then. */
typedef void Saying(const char *fmt, ...) BASE_PRINTF(1, 2);
static Saying *reply(const Chat *c) { return c->terminal ? answer_line : note; }

static int word_clear(Chat *c, const char *argument) {
    (void)argument;
    chat_clear(c);
    c->g.answered = 0;
    reply(c)("a new conversation%s", c->messages[0].text ? "; the system prompt stays" : "");
    return 0;
}

static int word_system(Chat *c, const char *argument) {
    const char *now_is = c->messages[0].text;
    if (!*argument) {
        answer_line(now_is ? "system prompt: %s" : "no system prompt%s", now_is ? now_is : "");
        return 0;
    }
    if (c->t->place == CHAT_NOWHERE) {
        reply(c)("the template %s has no place for a system prompt: it would be left out", c->t->name);
        return 0;
    }
    if (chat_add(c, CHAT_SYSTEM, argument, strlen(argument))) return fail("%s", c->g.e.err);
    c->system_behind = 1;
    reply(c)("system prompt: %s", argument);
    if (c->n) reply(c)("the conversation is read again with it");
    return 0;
}

/* The last turn's answer, or with `whole` the turn itself, taken back; 0 after saying that there is none. */
static int take_back(Chat *c, int whole) {
    if (c->n < 2 || c->messages[c->n].role != CHAT_ASSISTANT) return c->code = fail("there is no answer yet"), 0;
    chat_drop_last(c);
    if (whole) chat_drop_last(c);
    c->g.answered = 0;
    return 1;
}

static int word_retry(Chat *c, const char *argument) {
    (void)argument;
    if (!take_back(c, 0)) return 0;
    if (c->a->sampling.temperature == 0) reply(c)("at -t 0 the answer is the same again");
    return answer(c);
}

static int word_undo(Chat *c, const char *argument) {
    (void)argument;
    if (take_back(c, 1)) reply(c)("the last message and its answer are taken back");
    return 0;
}

/* An exit code; Ctrl-C was heard, or a line said why or where. */
static int save(Chat *c, const char *path) {
    int asked = c->a->context.save && strcmp(path, c->a->context.save) == 0; /* --save-state: checked at the start */
    int rc = asked ? 0 : state_may_write(path, c->g.e.err, sizeof c->g.e.err);
    if (rc == 0) rc = chat_save(c, path);
    if (rc == -EINTR) return EXIT_INTERRUPTED;
    if (rc) fail("%s", c->g.e.err), confined_note(rc);
    else reply(c)("%zu ids saved to %s", c->g.e.session.pos, path);
    return rc ? EXIT_FAILED : 0;
}

static int word_save(Chat *c, const char *path) {
    int code = save(c, path);
    if (code == EXIT_INTERRUPTED) return heard_interrupt(c);
    if (code) c->code = code;
    return 0;
}

static int word_load(Chat *c, const char *path) {
    size_t before = c->loaded;
    int rc = chat_load(c, path);
    if (c->n == 0) c->g.answered = 0;
    if (rc) c->code = fail("%s", c->g.e.err), confined_note(rc);
    if (rc && before && !c->loaded) reply(c)("what was loaded before is forgotten, too");
    if (rc == 0) reply(c)("%zu ids from %s; the conversation goes on behind them", c->loaded, path);
    return 0;
}

static int word_stats(Chat *c, const char *argument) {
    const Generation *g = &c->g;
    const Session *s = &g->e.session;
    char room[40] = "";
    (void)argument;
    if (!s->model->config.linear.form) snprintf(room, sizeof room, " of %zu", s->options.n_ctx);
    answer_line("template %s; %zu message%s, %zu%s positions in use", c->t->name, c->n, c->n == 1 ? "" : "s",
                chat_in_use(c), room);
    if (g->answered)
        answer_line("last answer: %zu tokens, %.1f tok/s, after %.2f s of reading; it ended %s", g->w.n_new,
                    generation_rate(g), g->prompt_s, endings[g->w.end]);
    const Ahead *ahead = drafting_ahead(g);
    if (ahead)
        answer_line("--draft: %zu tokens were read ahead, as guesses; of these %zu held", ahead->n_guessed,
                    ahead->n_held);
    return 0;
}

static int word_help(Chat *c, const char *argument);

static int word_quit(Chat *c, const char *argument) {
    (void)c, (void)argument;
    return -1;
}

static const Word words[] = {
    {"/clear", "begin a new conversation; the system prompt stays", 0, word_clear},
    {"/system", "TEXT: a system prompt; without TEXT the one there is", 0, word_system},
    {"/retry", "another answer to the last message", 0, word_retry},
    {"/undo", "take the last message and its answer back", 0, word_undo},
    {"/save", "FILE: keep what was read, for /load or --load-state", 1, word_save},
    {"/load", "FILE: go on from what was kept", 1, word_load},
    {"/stats", "how much was read, and how fast", 0, word_stats},
    {"/help", "this list", 0, word_help},
    {"/quit", "leave, as Ctrl-D does; /exit and /bye, too", 0, word_quit},
    {"/exit", NULL, 0, word_quit}, /* llama.cpp's and ollama's users type these; help: the row above */
    {"/bye", NULL, 0, word_quit},
};
enum { N_WORDS = sizeof words / sizeof *words };

static int word_help(Chat *c, const char *argument) {
    (void)c, (void)argument;
    for (int i = 0; i < N_WORDS; i++)
        if (words[i].help) answer_line("%-9s %s", words[i].name, words[i].help);
    answer_line("A line that ends in \\ goes on in the next one; a line \"\"\" begins and ends a text of several "
                "lines.");
    return 0;
}

static int command(Chat *c, const char *line) {
    size_t len = strcspn(line, " \t\n");
    const char *argument = line + len + strspn(line + len, " \t\n");
    for (int i = 0; i < N_WORDS; i++) {
        if (strlen(words[i].name) != len || memcmp(words[i].name, line, len) != 0) continue;
        if (!words[i].needs || *argument) return words[i].run(c, argument);
        c->code = fail("%s needs the name of a file", words[i].name);
        return 0;
    }
    char word[40];
    snprintf(word, sizeof word, "%.*s", (int)(len < 39 ? len : 39), line);
    c->code = fail("%s is no command; /help lists them", word);
    return 0;
}

/* ---- the loop ---- */

static int converse(Chat *c) {
    int got = 1, code = 0;
    while (code == 0 && !out.gone && !out.broken) {
        char *text = NULL;
        size_t n = 0;
        int block = 0;
        got = chat_input(c, &text, &n, &block);
        if (got > 0 && n > 0) code = text[0] == '/' && !block ? command(c, text) : say(c, text, n);
        free(text);
        if (got <= 0) break;
    }
    if (got < 0) return got == LINE_FAILED ? EXIT_FAILED : EXIT_INTERRUPTED;
    return code < 0 ? 0 : code;
}

/* What ends an answer: the template's tokens, or where the vocabulary lacks one, its text; and EOS. */
static void set_ends(Chat *c) {
    Generation *g = &c->g;
    int eos = tokenizer_eos(g->e.tokenizer);
    if (eos >= 0) g->ends[g->w.n_ends++] = eos;
    for (size_t i = 0; i < sizeof c->t->stop / sizeof *c->t->stop && c->t->stop[i]; i++) {
        int id = tokenizer_named(g->e.tokenizer, c->t->stop[i]);
        if (id >= 0) g->ends[g->w.n_ends++] = id;
        else {
            g->stops.texts[g->stops.n_texts++] = c->t->stop[i];
            if (c->plain) continue;
            note("this vocabulary has no token %s, with which answers of the template %s end: it is read and written "
                 "as text",
                 c->t->stop[i] + strspn(c->t->stop[i], "\n"), c->t->name);
        }
    }
}

/* The tokens that tell an answer's thoughts from the rest of it. */
static void set_shown(Chat *c) {
    Generation *g = &c->g;
    for (size_t i = 0; i < sizeof c->t->shown / sizeof *c->t->shown && c->t->shown[i]; i++) {
        int id = tokenizer_named(g->e.tokenizer, c->t->shown[i]);
        if (id >= 0) g->shown[g->w.n_shown++] = id;
    }
    g->in_channels = c->t->channel != NULL;
}

static int open_chat(Chat *c, Args *a) {
    Engine *e = &c->g.e;
    int code = engine_open(e, a, 1);
    if (code) return code;
    if (e->model.config.mask != MASK_CAUSAL)
        return fail("%s: chat is for models that write on (mask causal)", a->model);
    const char *given = a->in.chat_template;
    if (chat_template_of(&c->t, &c->standard, &e->model.weights, given, e->err, sizeof e->err))
        return given ? usage("%s", e->err) : fail("%s", e->err);
    if (!c->t) {
        c->t = chat_template_find("plain");
        c->plain = 1;
        if (a->model == compiled_in)
            note("the compiled-in model writes stories and does not converse: README.md, \"Where to get a model\", has "
                 "some that do");
        else note("this model has no chat template; it reads \"User: .. Assistant:\" (--chat-template gives another)");
    }
    c->g.own_seed = !a->in.mode; /* -m chat is llama2.c's */
    model_opened();
    suggested_take(a, &e->model.weights);
    if ((code = engine_session(e, a, USUAL_CONTEXT, draft_logits(a))) || (code = generation_init(&c->g, a)) ||
        (code = drafting_init(&c->g, a)))
        return code;
    note_price(e);
    set_ends(c);
    set_shown(c);
    c->g.keep_text = 1;
    c->g.wraps = out.terminal;
    c->g.w.keep_ids = c->g.w.ahead || !e->session.model->config.linear.form;
    c->g.w.make_room = chat_make_room;
    c->g.w.room_arg = c;
    c->loaded = e->n_loaded;
    if (!(c->messages = calloc(c->cap = 16, sizeof *c->messages))) return fail("out of memory");
    time_t t = time(NULL);
    struct tm *day = localtime(&t);
    if (day) chat_template_date(c->t, day, c->date, sizeof c->date);
    int rc = a->in.system ? chat_add(c, CHAT_SYSTEM, a->in.system, strlen(a->in.system)) : 0;
    if (a->in.system && c->t->place == CHAT_NOWHERE)
        note("-y: the template %s has no place for a system prompt: it is left out", c->t->name);
    c->stale = 0;
    files_opened(a);
    return rc ? fail("%s", e->err) : 0;
}

int run_chat(Args *a) {
    Chat c = {.a = a, .terminal = isatty(0) && isatty(2)};
    if (a->in.file || a->in.lines)
        return usage("%s: chat reads its turns from stdin", a->in.lines ? "--lines" : "-f");
    if (a->show.json || a->in.special) return usage("%s is not for chat", a->show.json ? "--json" : "--special");
    int code = open_chat(&c, a);
    catch_signals(&c);
    if (code == 0 && c.terminal) note("template %s; /help lists the commands, Ctrl-D ends", c.t->name);
    if (code == 0 && a->in.prompt && *a->in.prompt) {
        if (c.terminal) fprintf(stderr, "> %s\n", a->in.prompt);
        code = say(&c, a->in.prompt, strlen(a->in.prompt));
    }
    if (code == 0) code = converse(&c);
    if (code == EXIT_INTERRUPTED && a->context.save && !leaving) { /* Ctrl-C at the prompt is a way to leave */
        interrupted = 0;
        if (save(&c, a->context.save) == EXIT_FAILED) code = EXIT_FAILED;
    }
    if (code == 0 && a->context.save) code = save(&c, a->context.save);
    if (code == 0 && !c.terminal) code = c.code;
    chat_free(&c);
    terminal_free();
    return out_end(code);
}
