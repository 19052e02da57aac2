/* cli/generate_lines.c - generate --lines: each line a prompt, several of them written at once (model/several.h). What
 * a line is given depends on that line alone, and lines come out in order. */
#include "generate.h"

#include "base/base.h"
#include "base/system.h"
#include "base/threads.h"
#include "model/several.h"
#include "model/timeline.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AHEAD = 4 }; /* times as many lines as are written may be begun before the first of them is printed */

/* A line under way, or waiting for those before it. */
typedef struct {
    Generation g; /* in the engine of another: its model and tokenizer are borrowed */
    int ended;    /* text_step's answer */
    int done;
} Line;

/* Who writes some of the texts: all threads together; or, of a model whose tokens are not worth a second thread, a
 * thread by itself, which meets the others only where lines are taken and printed. */
typedef struct {
    struct Work *of;
    Several several;
    Line **lines;  /* [several.n]: session i's; NULL: none */
    size_t n;      /* of a read: how many, */
    size_t *texts; /* whose, */
    int *ids;      /* and their ids */
} Writer;

/* What writers share is for who holds the mutex; a line under way is its writer's. */
typedef struct Work {
    Args *a;
    Generation *first; /* whose engine it is */
    Writer *writers;   /* [n_writers]; the first one's thread prints, for it is the one that hears of Ctrl-C */
    Line *lines;       /* [cap]: line i, from 0, is lines[i % cap] while it is in use */
    size_t n_texts, n_writers, cap;
    const char *next, *end; /* of the text: lines that end in 0 */
    size_t n_begun, n_printed, n_lines;
    int code; /* an exit code: what went wrong first */
    Progress progress;
    Team team; /* [n_writers] */
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* lines are done, or printed, or a writer is */
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
    return code;
}

/* ---- several at once ---- */

static int stops(const Work *w) { return w->code || interrupted || out.gone || out.broken; }

static int may_begin(const Work *w) { return w->next < w->end && w->n_begun - w->n_printed < w->cap && !stops(w); }

static void print_in_order(Work *w) {
    for (Line *l; w->n_printed < w->n_begun && (l = &w->lines[w->n_printed % w->cap])->done && out_room();) {
        progress_clear(&w->progress);
        generate_report_json(&l->g, ++w->n_printed);
        out_flush();
        generation_free(&l->g);
        memset(l, 0, sizeof *l);
        pthread_cond_broadcast(&w->changed);
    }
    progress_show(&w->progress, w->n_printed, w->n_lines);
}

static void step(Line *l, const float *logits) {
    l->ended = text_step(&l->g.w, logits, text_draw(&l->g.w, logits), l->g.e.err, sizeof l->g.e.err);
}

/* Of several writers that an error meets one says it. */
static int went_wrong(const Work *w, const char *err) { return w->code ? w->code : fail("%s", err); }

/* Whose text is at its end leaves its session. An exit code. */
static int leave(Writer *x, size_t i) {
    Line *l = x->lines[i];
    if (l->ended < 0) return went_wrong(x->of, l->g.e.err);
    if (!l->ended) return 0;
    x->lines[i] = NULL;
    int code = generation_end(&l->g);
    l->done = code == 0;
    return code;
}

/* The next line's prompt. An exit code. */
static int take_line(Work *w, Line *l, Session *s) {
    Generation *g = &l->g;
    g->e.model = w->first->e.model, g->e.tokenizer = w->first->e.tokenizer;
    int code = generation_init(g, w->a);
    g->w.session = s;
    g->silent = g->keep_text = g->w.keep_ids = 1;
    w->a->in.prompt = w->next;
    w->next += strlen(w->next) + 1;
    if (code == 0) code = generate_read_prompt(g, w->a);
    return code ? code : generation_begin(g, generate_new_tokens(g, w->a));
}

/* The next line is session i's: its prompt is read, and its first id drawn. An exit code. */
static int begin_line(Writer *x, size_t i) {
    Work *w = x->of;
    Line *l = &w->lines[w->n_begun++ % w->cap];
    Generation *g = &l->g;
    Session *s = &x->several.sessions[i];
    const float *logits = NULL;
    int code = take_line(w, l, s), rc = 0;
    if (code) return code;
    pthread_mutex_unlock(&w->mutex);
    session_rewind(s, 0);
    if (g->w.limit) rc = session_eval(s, g->w.ids, g->n_prompt, &logits, g->e.err, sizeof g->e.err);
    if (rc == 0) step(l, logits);
    pthread_mutex_lock(&w->mutex);
    if (rc) return rc == -EINTR ? EXIT_INTERRUPTED : went_wrong(w, g->e.err);
    x->lines[i] = l;
    return leave(x, i);
}

static Line *line_of(const Writer *x, size_t k) { return x->lines[x->texts[k]]; }

static void step_of(void *arg, size_t k) {
    const Writer *x = arg;
    step(line_of(x, k), several_logits(&x->several, k));
}

static size_t gather(Writer *x) {
    x->n = 0;
    for (size_t i = 0; i < x->several.n; i++)
        if (x->lines[i]) x->texts[x->n++] = i;
    return x->n;
}

static int last_id(const Line *l) { return l->g.w.ids[l->g.w.n_ids - 1]; }

/* The lines gathered go on until one of them ends. A negative errno, and a line in err. */
static int write_on(Writer *x, char *err, size_t errlen) {
    for (int ended = 0; !ended;) {
        for (size_t k = 0; k < x->n; k++) x->ids[k] = last_id(line_of(x, k));
        int rc = several_eval(&x->several, x->texts, x->ids, x->n, err, errlen);
        if (rc) return rc;
        several_each(&x->several, x->n, step_of, x);
        for (size_t k = 0; k < x->n; k++) ended |= line_of(x, k)->ended;
    }
    return 0;
}

/* They go on without the mutex. An exit code. */
static int write_gathered(Writer *x) {
    char err[300];
    int code = 0;
    pthread_mutex_unlock(&x->of->mutex);
    int rc = write_on(x, err, sizeof err);
    pthread_mutex_lock(&x->of->mutex);
    if (rc) return went_wrong(x->of, err);
    for (size_t k = 0; k < x->n && code == 0; k++) code = leave(x, x->texts[k]);
    return code;
}

/* Lines are begun, go on and leave; who prints stays until all are printed. The mutex is held, but while it reads and
 * draws. */
static void write_lines(Writer *x) {
    Work *w = x->of;
    int prints = x == w->writers;
    while (!stops(w)) {
        size_t i = 0;
        int code;
        if (prints) print_in_order(w);
        while (i < x->several.n && x->lines[i]) i++;
        if (i < x->several.n && may_begin(w)) code = begin_line(x, i);
        else if (gather(x)) code = write_gathered(x);
        else if (w->next < w->end || (prints && w->n_printed < w->n_begun)) {
            pthread_cond_wait(&w->changed, &w->mutex);
            continue;
        } else break;
        if (!w->code) w->code = code;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_cond_broadcast(&w->changed);
}

/* What each thread of the team runs. */
static void write_all(void *arg) {
    Work *w = arg;
    for (Share i = team_share(&w->team, w->n_writers); i.at < i.end; i.at++) {
        int me = team_become(0);
        pthread_mutex_lock(&w->mutex);
        write_lines(&w->writers[i.at]);
        pthread_mutex_unlock(&w->mutex);
        team_become(me);
    }
}

static int writer_init(Writer *x, Work *w, const SessionOptions *o, size_t n, char *err, size_t errlen) {
    x->of = w;
    x->lines = calloc(n, sizeof *x->lines);
    x->texts = calloc(n, sizeof *x->texts);
    x->ids = calloc(n, sizeof *x->ids);
    if (!x->lines || !x->texts || !x->ids) return base_error(err, errlen, -ENOMEM, "out of memory");
    return several_init(&x->several, &w->first->e.model, o, n, err, errlen);
}

static void work_end(Work *w) {
    for (size_t i = 0; w->lines && i < w->cap; i++) generation_free(&w->lines[i].g);
    for (size_t i = 0; w->writers && i < w->n_writers; i++) {
        Writer *x = &w->writers[i];
        several_free(&x->several);
        free(x->lines), free(x->texts), free(x->ids);
    }
    team_free(&w->team);
    free(w->lines);
    free(w->writers);
    w->lines = NULL, w->writers = NULL;
}

/* For n_texts at a time, shared out to the writers, whose sessions have the engine's options. A negative errno, and a
 * line in its err. */
static int work_begin(Work *w, int verbose) {
    Engine *e = &w->first->e;
    SessionOptions o = e->session.options;
    size_t bytes = 0, n = w->n_texts;
    o.n_logits = 1; /* guesses had more */
    int alone = e->model.n_parameters < o.grain; /* step_run shares no token of it */
    w->n_writers = !alone ? 1 : (size_t)o.threads < n ? (size_t)o.threads : n;
    if (alone) o.threads = 1;
    o.progress = on_batch; /* the lines' progress is shown, not a prompt's */
    w->cap = AHEAD * n;
    w->lines = calloc(w->cap, sizeof *w->lines);
    w->writers = calloc(w->n_writers, sizeof *w->writers);
    int rc = w->lines && w->writers ? team_init(&w->team, (int)w->n_writers) : -ENOMEM;
    if (rc) base_error(e->err, sizeof e->err, rc, "out of memory");
    for (size_t i = 0; i < w->n_writers && rc == 0; i++) {
        size_t share = n * (i + 1) / w->n_writers - n * i / w->n_writers;
        rc = writer_init(&w->writers[i], w, &o, share, e->err, sizeof e->err);
        if (rc == 0) bytes += several_bytes(&w->writers[i].several);
    }
    if (verbose && rc) fprintf(stderr, "  %s\n", e->err);
    else if (verbose) fprintf(stderr, "  %zu texts at once, %.1f MB of memory for them\n", n, (double)bytes / 1e6);
    if (rc) work_end(w);
    return rc;
}

/* Several texts are written: of the first one's engine only the model and the tokenizer are needed then. Ids of texts
 * fill a read, and no guesses. */
static void let_go(Generation *g, size_t n_texts) {
    if (g->drafting) note("--draft: %zu texts at once fill each read by themselves; --parallel 1 guesses", n_texts);
    drafting_free(g->drafting);
    g->drafting = NULL, g->w.ahead = NULL;
    session_free(&g->e.session); /* its options were what was wanted of it */
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
              .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER,
              .progress = {.what = "writing", .start = clock_seconds(), .unit = "lines", .each = 1}};
    w.n_texts = (size_t)a->in.parallel < w.n_lines ? (size_t)a->in.parallel : w.n_lines;
    if (code == 0) code = generate_make_room(g, a);
    g->where[0] = 0;
    if (code == 0) files_opened(a);
    if (code == 0 && w.n_texts > 1 && work_begin(&w, a->show.verbose) == 0) {
        let_go(g, w.n_texts);
        team_run(&w.team, w.team.most, write_all, &w);
        code = w.code;
        if (code == 0 || code == EXIT_INTERRUPTED) print_in_order(&w); /* what Ctrl-C ended */
    } else if (code == 0) {
        code = each_line(&w);
    }
    progress_clear(&w.progress);
    work_end(&w);
    free(text);
    return code || !interrupted ? code : EXIT_INTERRUPTED;
}
