/* cli/generate_lines.c - generate --lines: each line a prompt, several of them written at once (model/several.h). What
 * a line is given depends on that line alone, and lines come out in order. */
#include "generate.h"

#include "base/base.h"
#include "base/system.h"
#include "model/several.h"
#include "model/timeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AHEAD = 4 }; /* times as many lines as are written may be begun before the first of them is printed */

/* A line under way, or waiting for those before it. */
typedef struct {
    Generation g; /* in the engine of another: its model and tokenizer are borrowed */
    size_t at;    /* which session it has */
    int ended;    /* text_step's answer */
    int runs, done;
} Line;

typedef struct {
    Args *a;
    Generation *first; /* whose engine it is */
    Several several;
    Line *lines;       /* [cap]: line i, from 0, is lines[i % cap] while it is in use */
    size_t n_texts, cap, *free, n_free;
    Line **under_way; /* [n_texts]: those of a read, their sessions and ids */
    size_t *texts;
    int *ids;
    const char *next, *end;  /* of the text: lines that end in 0 */
    size_t n_begun, n_printed, n_lines;
    Progress progress;
} Work;

/* ---- the text ---- */

static size_t count_lines(const char *s, const char *end) {
    size_t n = 0;
    for (; s < end; s += strlen(s) + 1) n++;
    return n;
}

static int check(const Args *a) {
    const char *other = a->in.prompt ? "-i" : a->in.file ? "-f" : a->context.save ? "--save-state"
                        : a->context.load ? "--load-state" : a->context.shift ? "--shift" : NULL;
    return other ? usage("--lines and %s do not go together", other) : 0;
}

/* As it was before the first text. */
static void begin_again(Generation *g, uint64_t rng) {
    free(g->w.ids);
    g->w.ids = NULL;
    g->n_text = g->logprobs.n = 0;
    g->prompt_s = 0;
    g->sampler.rng = rng;
}

/* An error is of this line. */
static void stand_at(Generation *g, const Args *a, size_t line) {
    snprintf(g->where, sizeof g->where, "%.250s:%zu: ", strcmp(a->in.lines, "-") ? a->in.lines : "stdin", line);
}

/* The longest line's ids to g->n_prompt, where it is to g->where. An exit code. */
static int find_longest(Generation *g, Args *a, const char *s, const char *end) {
    const uint64_t rng = g->sampler.rng;
    size_t longest = 0, at = 1;
    int code = 0;
    for (size_t line = 1; s < end && code == 0 && !interrupted; s += strlen(s) + 1, line++) {
        begin_again(g, rng);
        a->in.prompt = s;
        stand_at(g, a, line);
        code = generate_read_prompt(g, a);
        if (g->n_prompt > longest) longest = g->n_prompt, at = line;
    }
    begin_again(g, rng);
    g->n_prompt = longest;
    stand_at(g, a, at);
    return code;
}

/* ---- one after the other ---- */

static int each_line(Work *w) {
    Generation *g = w->first;
    const uint64_t rng = g->sampler.rng;
    int code = 0;
    for (; w->next < w->end && code == 0 && !interrupted && !out.gone; w->next += strlen(w->next) + 1) {
        begin_again(g, rng);
        w->a->in.prompt = w->next;
        code = generate_read_prompt(g, w->a);
        session_rewind(&g->e.session, 0);
        if (code == 0) code = generate_text(g, w->a);
        progress_clear(&w->progress);
        if (code == 0) generate_report_json(g, ++w->n_printed), out_flush();
        progress_show(&w->progress, w->n_printed, w->n_lines);
    }
    progress_clear(&w->progress);
    return code;
}

/* ---- several at once ---- */

static void print_in_order(Work *w) {
    for (Line *l; w->n_printed < w->n_begun && (l = &w->lines[w->n_printed % w->cap])->done;) {
        progress_clear(&w->progress);
        generate_report_json(&l->g, ++w->n_printed);
        out_flush();
        generation_free(&l->g);
        memset(l, 0, sizeof *l);
    }
    progress_show(&w->progress, w->n_printed, w->n_lines);
}

/* At its text's end its session is free. An exit code. */
static int leave(Work *w, Line *l) {
    if (l->ended < 0) return fail("%s", l->g.e.err);
    if (!l->ended) return 0;
    l->runs = 0, l->done = 1;
    w->free[w->n_free++] = l->at;
    return generation_end(&l->g);
}

static void step(Line *l, const float *logits) {
    l->ended = text_step(&l->g.w, logits, text_draw(&l->g.w, logits), l->g.e.err, sizeof l->g.e.err);
}

static int last_id(const Line *l) { return l->g.w.ids[l->g.w.n_ids - 1]; }

static int next(void *arg, size_t k, const float *logits, int *id) {
    Line *l = ((const Work *)arg)->under_way[k];
    step(l, logits);
    if (!l->ended) *id = last_id(l);
    return l->ended != 0;
}

/* The next line, its prompt read and its first id drawn. An exit code. */
static int begin_line(Work *w) {
    Line *l = &w->lines[w->n_begun % w->cap];
    Generation *g = &l->g;
    const float *logits = NULL;
    *l = (Line){.at = w->free[--w->n_free], .runs = 1};
    w->n_begun++;
    g->e.model = w->first->e.model, g->e.tokenizer = w->first->e.tokenizer;
    int code = generation_init(g, w->a);
    g->w.session = &w->several.sessions[l->at];
    g->silent = g->keep_text = g->w.keep_ids = 1;
    w->a->in.prompt = w->next;
    w->next += strlen(w->next) + 1;
    if (code == 0) code = generate_read_prompt(g, w->a);
    size_t limit = code ? 0 : generate_new_tokens(g, w->a);
    if (code || (code = generation_begin(g, limit))) return code;
    session_rewind(g->w.session, 0);
    int rc = limit ? session_eval(g->w.session, g->w.ids, g->n_prompt, &logits, g->e.err, sizeof g->e.err) : 0;
    if (rc) return rc == -EINTR ? EXIT_INTERRUPTED : fail("%s", g->e.err);
    step(l, logits);
    return leave(w, l);
}

/* All lines under way go on until one ends. An exit code. */
static int write_on(Work *w) {
    size_t n = 0;
    for (size_t i = w->n_printed; i < w->n_begun; i++) {
        Line *l = &w->lines[i % w->cap];
        if (!l->runs) continue;
        w->texts[n] = l->at, w->ids[n] = last_id(l), w->under_way[n++] = l;
    }
    if (n == 0) return 0;
    Engine *e = &w->first->e;
    if (several_write(&w->several, w->texts, w->ids, n, next, w, e->err, sizeof e->err)) return fail("%s", e->err);
    int code = 0;
    for (size_t k = 0; k < n && code == 0; k++) code = leave(w, w->under_way[k]);
    return code;
}

static int write_all(Work *w) {
    int code = 0;
    w->texts = calloc(w->n_texts, sizeof *w->texts);
    w->ids = calloc(w->n_texts, sizeof *w->ids);
    w->under_way = calloc(w->n_texts, sizeof *w->under_way);
    w->lines = calloc(w->cap, sizeof *w->lines);
    w->free = calloc(w->n_texts, sizeof *w->free);
    if (!w->texts || !w->ids || !w->under_way || !w->lines || !w->free) code = fail("out of memory");
    for (size_t i = w->n_texts; code == 0 && i > 0; i--) w->free[w->n_free++] = i - 1;
    while (code == 0 && w->n_printed < w->n_lines && !interrupted && !out.gone && !out.broken) {
        while (code == 0 && w->n_free && w->next < w->end && w->n_begun - w->n_printed < w->cap && !interrupted)
            code = begin_line(w), print_in_order(w);
        if (code == 0) code = write_on(w);
        if (code == 0) print_in_order(w);
    }
    progress_clear(&w->progress);
    for (size_t i = 0; w->lines && i < w->cap; i++) generation_free(&w->lines[i].g);
    free(w->lines);
    free(w->free);
    free(w->texts);
    free(w->ids);
    free(w->under_way);
    return code;
}

/* As many as were asked for; guesses are of one text. */
static size_t texts_at_once(const Args *a, size_t n_lines) {
    size_t n = a->sampling.draft ? 1 : (size_t)a->in.parallel;
    return n < n_lines ? n : n_lines;
}

/* Lines end with \n or \r\n: a NUL behind each, and behind the last. The text's length then. */
static size_t cut_lines(char *text, size_t n) {
    size_t to = 0;
    for (size_t i = 0; i < n; i++)
        if (text[i] != '\r' || text[i + 1] != '\n') text[to++] = text[i] == '\n' ? 0 : text[i];
    text[to] = 0;
    return to;
}

int generate_lines(Generation *g, Args *a) {
    char *text;
    size_t n;
    int code = check(a);
    if (code || (code = read_text(a->in.lines, &text, &n))) return code;
    if (memchr(text, 0, n)) code = fail("%s: a line has a NUL byte", a->in.lines);
    n = cut_lines(text, n);
    g->silent = g->keep_text = g->w.keep_ids = 1;
    if (code == 0) code = find_longest(g, a, text, text + n);
    Work w = {.a = a, .first = g, .next = text, .end = text + n, .n_lines = count_lines(text, text + n),
              .progress = {.what = "writing", .start = clock_seconds(), .unit = "lines", .each = 1}};
    w.n_texts = texts_at_once(a, w.n_lines);
    w.cap = AHEAD * w.n_texts;
    if (code == 0) code = generate_make_room(g, a);
    g->where[0] = 0;
    if (code == 0) files_opened(a);
    Engine *e = &g->e;
    if (code == 0 && w.n_texts > 1 &&
        several_init(&w.several, &e->model, &e->session.options, w.n_texts, e->err, sizeof e->err) == 0) {
        session_free(&e->session); /* its options were what was wanted of it */
        if (a->show.verbose)
            fprintf(stderr, "  %zu texts at once, %.1f MB of memory for them\n", w.n_texts,
                    (double)several_bytes(&w.several) / 1e6);
        code = write_all(&w);
        several_free(&w.several);
    } else if (code == 0) {
        if (w.n_texts > 1 && a->show.verbose) fprintf(stderr, "  %s\n", e->err);
        code = each_line(&w);
    }
    free(text);
    return code || !interrupted ? code : EXIT_INTERRUPTED;
}
