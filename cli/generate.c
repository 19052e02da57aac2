/* cli/generate.c - the command generate: a prompt is read, and what the model says goes out as it comes. */
#include "generate.h"
#include "model/encoder.h"
#include "model/shift.h"
#include "model/timeline.h"
#include "base/paths.h"
#include "base/base.h"
#include "base/system.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_NEW = 256 };

const char *const generate_modes[] = {"generate", "chat", NULL};

/* The last line: why it stopped. */
static void report_end(const Generation *g, const Args *a) {
    switch (g->w.end) {
    case TEXT_EOS: case TEXT_BOS: note("stopped: the text is at its end"); return;
    case TEXT_STOP: note("stopped: a --stop text came"); return;
    case TEXT_INTERRUPT:
        if (out.broken) return; /* out_end says which write failed */
        note("stopped: %s", out.gone ? "the reader of the text went away" : "interrupted");
        return;
    case TEXT_LENGTH:
        if (a->sampling.n_given || a->sampling.max_given) note("stopped: as long as -n or --max-tokens says");
        else note("stopped: %d new tokens, where nothing else is said; --max-tokens says how many", USUAL_NEW);
        return;
    case TEXT_CONTEXT:
        note("stopped: the context of %zu positions is used up; -c makes room for more, --shift keep=4 goes on without "
             "end", g->e.session.options.n_ctx);
    }
}

static void report(const Generation *g, const Args *a) {
    const Session *s = &g->e.session;
    if (g->prompt_s == 0 && g->n_prompt) /* nothing was asked of the model */
        note("nothing new: --max-tokens 0 allows none");
    if (g->prompt_s == 0) return;
    if (a->context.save && !g->saved) note("interrupted before the prompt was read: no state was saved");
    size_t n_read = a->context.shift || s->pos - g->e.n_loaded > g->n_prompt ? g->n_prompt : s->pos - g->e.n_loaded;
    char speed[64] = "";
    if (g->w.n_new > 1) snprintf(speed, sizeof speed, " at %.1f tok/s", generation_rate(g));
    note("%zu prompt token%s in %.3f s (%.1f tok/s), first token after %.3f s, %zu new token%s%s; seed %lld", n_read,
         n_read == 1 ? "" : "s", g->prompt_s, (double)n_read / g->prompt_s, generation_first_token_s(g), g->w.n_new,
         g->w.n_new == 1 ? "" : "s", speed, a->sampling.seed);
    const Ahead *ahead = drafting_ahead(g);
    if (ahead)
        note("--draft: %zu tokens were read ahead, as guesses; of these %zu held", ahead->n_guessed, ahead->n_held);
    report_end(g, a);
}

/* A line a token on stderr: stdout is the text. */
static void report_logprobs(const Generation *g) {
    char line[4000];
    for (size_t i = 0; i < g->logprobs.n; i++) {
        logprobs_line(&g->logprobs, i, g->e.tokenizer, line, sizeof line);
        answer_line("%s", line);
    }
}

void generate_report_json(const Generation *g, size_t line) {
    out_printf("{");
    if (line) out_printf("\"line\":%zu,", line);
    json_ids("prompt_tokens", g->w.ids, g->n_prompt);
    json_ids("tokens", g->w.ids + g->n_prompt, g->w.n_new);
    out_printf("\"text\":");
    json_string(g->text, g->n_text);
    if (g->w.drawn) out_printf(",\"logprobs\":"), logprobs_json(&g->logprobs, g->e.tokenizer);
    out_printf(",\"stop\":\"%s\"", text_end_names[g->w.end]);
    if (line) { /* timings are the program's, which has read others before it */
        out_printf("}\n");
        return;
    }
    const Ahead *ahead = drafting_ahead(g);
    if (ahead) out_printf(",\"draft\":{\"guessed\":%zu,\"held\":%zu}", ahead->n_guessed, ahead->n_held);
    out_printf(",\"timings\":{\"load_s\":%.6f,\"prompt_s\":%.6f,\"prompt_tokens_per_s\":%.3f,\"first_"
               "token_s\":%.6f,\"generation_s\":%.6f,\"generation_tokens_per_s\":%.3f}}\n",
               g->e.load_s, g->prompt_s,
               g->prompt_s > 0 ? (double)g->n_prompt / g->prompt_s : 0, generation_first_token_s(g), generation_s(g),
               generation_rate(g));
}

/* The prompt's ids, BOS in front; its text goes out first unless --no-echo. An exit code. */
int generate_read_prompt(Generation *g, const Args *a) {
    size_t len;
    const char *text;
    char *file;
    if (a->in.prompt && a->in.file) return usage("-i and -f both give a prompt; one is enough");
    int code = read_prompt_text(a, &text, &len, &file);
    if (code) return code;
    Tokenizer *t = g->e.tokenizer;
    int *ids = NULL, bos = engine_bos(&g->e);
    int flags = (a->context.load ? ENCODE_CONTINUE : ENCODE_BOS) | (a->in.special ? ENCODE_SPECIAL : 0);
    int source = g->e.model.config.mask == MASK_UNILM; /* the prompt is a text of its own, what comes is another one */
    if (source && !a->context.load) flags |= ENCODE_EOS;
    int rc = tokenizer_encode(t, text, len, flags, &ids, &g->n_prompt, g->e.err, sizeof g->e.err);
    if (rc == 0 && !a->show.no_echo && !source && generation_add_text(g, text, len))
        rc = base_error(g->e.err, sizeof g->e.err, -ENOMEM, "out of memory");
    if (rc == 0 && g->n_prompt == 0 && bos < 0 && !a->context.load)
        rc = base_error(g->e.err, sizeof g->e.err, -EINVAL,
                        "this model has no token to begin a text with; give a prompt that is not empty (-i)");
    if (rc == 0 && g->n_prompt == 0 && !a->context.load)
        ids[0] = bos, g->n_prompt = 1; /* encode always leaves room for one */
    g->w.ids = ids;
    g->w.n_ids = g->w.cap_ids = g->n_prompt;
    g->w.stream.tight = 1; /* WordPiece's spaces are not Chinese text's */
    g->w.stream.begun = (len > 0 && !source) || a->context.load; /* after a prompt, a leading space is the text's own */
    free(file);
    return rc ? fail("%s%s", g->where, g->e.err) : 0;
}

/* How many new tokens -n and --max-tokens allow: -n counts positions, and the last new token takes none. */
size_t generate_new_tokens(const Generation *g, const Args *a) {
    size_t most = (size_t)a->sampling.max_tokens, P = g->n_prompt;
    if (!a->sampling.n_given) return a->sampling.max_given ? most : USUAL_NEW;
    size_t by_n = a->sampling.n == 0 ? SIZE_MAX : (size_t)a->sampling.n + 1 > P ? (size_t)a->sampling.n + 1 - P : 0;
    return a->sampling.max_given && most < by_n ? most : by_n;
}

/* The prompt into the session. Under the UniLM mask it is the first segment, read whole. A negative errno, and a line
 * in e->err. */
static int eval_prompt(Engine *e, const Args *a, const int *ids, size_t n, const float **logits) {
    Session *s = &e->session;
    if (a->context.shift) return session_eval_shifting(s, e->keep, ids, n, logits, e->err, sizeof e->err);
    if (e->model.config.mask != MASK_UNILM || a->context.load)
        return session_eval(s, ids, n, logits, e->err, sizeof e->err);
    EncoderText text = {.ids = ids, .n = n};
    if (!e->model.has_logits)
        return base_error(e->err, sizeof e->err, -EINVAL, "this model has no head for logits");
    int rc = encoder_read(s, &text, 1, e->err, sizeof e->err);
    if (rc == 0) *logits = encoder_logits(s, n - 1);
    return rc;
}

static int make_room(void *arg) {
    Engine *e = arg;
    session_shift(&e->session, e->keep);
    return 1;
}

/* --shift keep=S, where the model can. An exit code. */
static int read_shift(Generation *g, const Args *a, size_t n_ctx) {
    Engine *e = &g->e;
    const char *digits = a->context.shift && strncmp(a->context.shift, "keep=", 5) == 0 ? a->context.shift + 5 : "";
    char *end;
    if (!a->context.shift) return 0;
    errno = 0;
    unsigned long long keep = strtoull(digits, &end, 10);
    if (errno || *digits < '0' || *digits > '9' || *end)
        return usage("--shift: \"%s\" is not keep=S, S the positions that stay (keep=4)", a->context.shift);
    if (session_can_shift(&e->model, (size_t)keep, n_ctx, e->err, sizeof e->err)) return fail("--shift: %s", e->err);
    e->keep = (size_t)keep;
    g->w.make_room = make_room;
    g->w.room_arg = e;
    return 0;
}

/* Evaluate and draw until something ends the text. An exit code. */
int generate_text(Generation *g, const Args *a) {
    size_t limit = generate_new_tokens(g, a);
    const float *logits = g->e.logits; /* of a loaded state that nothing is added to */
    if (limit == 0 && !a->context.save) return 0;
    double t0 = clock_seconds();
    int rc = g->n_prompt || !logits ? eval_prompt(&g->e, a, g->w.ids, g->n_prompt, &logits) : 0;
    progress_clear(&g->e.progress);
    g->prompt_s = clock_seconds() - t0;
    if (rc == 0 && save_state(&g->e, a)) return EXIT_FAILED;
    g->saved = rc == 0;
    if (rc == -EINTR) g->w.end = TEXT_INTERRUPT;
    else if (rc) return fail("%s", g->e.err);
    return rc ? 0 : generation_run(g, logits, limit);
}

/* Before anything is printed: a prompt that leaves no room. */
static int check_prompt(const Generation *g, const Args *a, size_t limit, size_t most) {
    if (limit == 0 && !a->context.save && !(a->sampling.max_given && a->sampling.max_tokens == 0))
        return fail("%sthe prompt's %zu tokens are more than -n %lld allows: give -n %zu or more, or --max-tokens",
                    g->where, g->n_prompt, a->sampling.n, g->n_prompt);
    if ((limit || a->context.save) && g->n_prompt > most)
        return fail("%sthe prompt's %zu tokens do not fit the context of %zu: -c %zu makes room%s",
                    g->where, g->n_prompt, most, g->n_prompt + (limit < USUAL_NEW ? limit : USUAL_NEW),
                    most >= (size_t)g->e.model.config.n_ctx_train ? ", and --rope stretches what the model has learned"
                                                                  : "");
    return 0;
}

/* The same behind what a state has read. */
static int check_room(const Generation *g) {
    size_t n_ctx = g->e.session.options.n_ctx, needed = g->e.n_loaded + g->n_prompt;
    if (needed <= n_ctx) return 0;
    return fail("the prompt's %zu tokens do not fit behind the state's %zu in the context of %zu: -c %zu or more makes "
                "room", g->n_prompt, g->e.n_loaded, n_ctx, needed + 1);
}

/* A session with room for the prompt's g->n_prompt ids and what may come behind them. An exit code. */
int generate_make_room(Generation *g, const Args *a) {
    size_t limit = generate_new_tokens(g, a);
    size_t wanted = limit > SIZE_MAX / 2 ? SIZE_MAX : g->n_prompt + (limit ? limit - 1 : 0);
    size_t trained = (size_t)g->e.model.config.n_ctx_train, most = a->context.n ? (size_t)a->context.n : trained;
    int endless = g->e.model.config.linear.form || a->context.shift;
    if (!a->sampling.n_given && !a->sampling.max_given && !endless && wanted > most) wanted = most;
    int code = check_prompt(g, a, limit, endless ? SIZE_MAX : most);
    if (code == 0) code = read_shift(g, a, most);
    if (code == 0)
        code = engine_session(&g->e, a, a->context.shift ? most : limit ? wanted : g->n_prompt, draft_logits(a));
    if (code == 0 && (limit || a->context.save) && !endless) code = check_room(g);
    return code ? code : drafting_init(g, a);
}

int run_generate(Args *a) {
    Generation g = {0};
    if (a->in.mode && file_exists(a->in.mode))
        return usage("-m is llama2.c's mode; the model is the first word: ./run %s", a->in.mode);
    if (a->in.parallel_given && !a->in.lines) return usage("--parallel goes with --lines FILE");
    int mode = a->in.mode ? named("-m", a->in.mode, generate_modes, 0) : 0;
    if (mode) return mode < 0 ? EXIT_USAGE : run_chat(a);
    if (a->in.system || a->in.chat_template)
        return usage("%s is for chat: ./run chat, or -m chat", a->in.system ? "-y" : "--chat-template");
    if (!a->in.prompt && !a->in.file && !a->in.lines) a->in.file = piped_text();
    int code = engine_open(&g.e, a, 1);
    if (code) return code;
    if (g.e.model.config.mask == MASK_PADDING) {
        code = fail("%s: this RoFormer reads texts whole (mask padding); ask it with ./run fill, embed or classify, or "
                    "let --mask causal write",
                    a->model);
        goto done;
    }
    suggested_take(a, &g.e.model.weights);
    if ((code = generation_init(&g, a))) goto done;
    if (a->in.lines) code = generate_lines(&g, a);
    if (a->in.lines || (code = generate_read_prompt(&g, a))) goto done;
    if ((code = generate_make_room(&g, a))) goto done;
    files_opened(a);
    note_price(&g.e);
    g.silent = g.keep_text = a->show.json;
    g.w.keep_ids = a->show.json || g.w.ahead;
    if (!a->show.json) { /* the prompt is the user's own text: as it is */
        out_bytes(g.text, g.n_text);
        out_flush();
    }
    code = generate_text(&g, a);
    if (code == 0) {
        if (a->show.json) generate_report_json(&g, 0);
        else out_bytes("\n", 1);
        out_flush();
        if (!a->show.json) report_logprobs(&g);
        report(&g, a);
        if (g.w.end == TEXT_INTERRUPT && interrupted) code = EXIT_INTERRUPTED;
    }
done:
    generation_close(&g);
    return out_end(code);
}
