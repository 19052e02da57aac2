/* cli/passkey.c - the command passkey: a number hidden in a long text, asked for at its end. */
#include "compare.h"

#include "base/base.h"
#include "base/system.h"
#include "lab/passkey.h"
#include "rope/spec.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTHS = 101 };
static const char usual_depths[] = "0,25,50,75,100";

typedef struct { double match, nll; size_t n_prompt; } Cell;

typedef struct {
    Comparison c; /* model, specs, lengths */
    const Args *a;
    PasskeyTemplate template;
    char *text;   /* the template's, where a file has it */
    int *depths;
    size_t n_depths, trials, done;
    Cell *cells;  /* [n_ropes, n_lengths, n_depths] */
} Grid;

static Cell *cell_at(const Grid *g, size_t rope, size_t length, size_t depth) {
    return &g->cells[(rope * g->c.n_lengths + length) * g->n_depths + depth];
}

/* Cells are measured in their order; Ctrl-C leaves the rest. */
static int is_measured(const Grid *g, const Cell *cell) {
    return (size_t)(cell - g->cells + 1) * g->trials <= g->done;
}

/* ---- what is asked ---- */

static int take_depths(Grid *g) {
    int code = parse_ids(&g->depths, &g->n_depths, "--depths", g->a->probe.depths ? g->a->probe.depths : usual_depths);
    if (code) return code;
    if (g->n_depths > MOST_DEPTHS) return usage("--depths: at most %d", MOST_DEPTHS);
    for (size_t i = 0; i < g->n_depths; i++)
        if (g->depths[i] < 0 || g->depths[i] > 100)
            return usage("--depths: %d is no percentage (0 to 100)", g->depths[i]);
    return 0;
}

static int take_template(Grid *g) {
    size_t n;
    char err[300];
    g->template = passkey_published;
    if (!g->a->probe.template_file) return 0;
    int code = read_text(g->a->probe.template_file, &g->text, &n);
    if (code) return code;
    char *ended = realloc(g->text, n + 1);
    if (!ended) return fail("out of memory");
    g->text = ended;
    g->text[n] = 0;
    return passkey_template(&g->template, g->text, n, err, sizeof err) ? fail("%s: %s", g->a->probe.template_file, err)
                                                                        : 0;
}

/* The key of a trial, five digits; the same for every cell. */
static void key_of(char key[8], const Grid *g, size_t trial) {
    snprintf(key, 8, "%u", 10000 + (unsigned)(compare_draw(&g->c, trial) % 40000));
}

/* ---- measuring ---- */

static void stream(const Grid *g, size_t rope, size_t length, size_t depth) {
    const Cell *cell = cell_at(g, rope, length, depth);
    if (!g->a->show.csv) return;
    csv_field(g->c.ropes[rope]);
    out_printf(",%zu,%d,%zu,%.6g,%.9g,%zu\n", g->c.lengths[length], g->depths[depth], g->trials, cell->match, cell->nll,
               cell->n_prompt);
    out_flush();
}

static int measure_depth(Grid *g, Session *s, size_t rope, size_t length, size_t depth) {
    Engine *e = &g->c.e;
    Cell *cell = cell_at(g, rope, length, depth);
    for (size_t i = 0; i < g->trials; i++) {
        PasskeyTrial t;
        char key[8];
        key_of(key, g, i);
        int rc = interrupted ? -EINTR
                             : passkey_trial(&t, s, e->tokenizer, &g->template, key, g->c.lengths[length],
                                             g->depths[depth] / 100.0, e->err, sizeof e->err);
        progress_clear(&e->progress);
        if (rc == -EINTR) return EXIT_INTERRUPTED;
        if (rc) return fail("%s", e->err);
        cell->match += (double)t.match / (double)g->trials;
        cell->nll += t.nll / (double)g->trials;
        cell->n_prompt = t.n_prompt > cell->n_prompt ? t.n_prompt : cell->n_prompt;
        progress_show(&e->progress, ++g->done, g->c.n_ropes * g->c.n_lengths * g->n_depths * g->trials);
    }
    progress_clear(&e->progress);
    stream(g, rope, length, depth);
    return 0;
}

static int measure(Grid *g, size_t rope, size_t length) {
    Engine *e = &g->c.e;
    Session s;
    Model view;
    RopeNumbers *numbers = malloc(sizeof *numbers);
    SessionOptions o = {.n_ctx = g->c.lengths[length], .threads = (int)g->a->machine.threads, .cache = g->c.cache,
                        .progress = on_batch};
    int code = numbers ? compare_view(&g->c, &view, numbers, g->c.ropes[rope], o.n_ctx) : fail("out of memory");
    if (code == 0 && session_init(&s, &view, &o, e->err, sizeof e->err)) code = fail("%s", e->err);
    else if (code == 0) {
        for (size_t d = 0; code == 0 && d < g->n_depths; d++) code = measure_depth(g, &s, rope, length, d);
        session_free(&s);
    }
    free(numbers);
    return code;
}

/* ---- what came out ---- */

static void print_head(const Grid *g) {
    if (g->a->show.csv)
        out_printf(
            "# passkey: model %s, template %s, seed %lld; match: share of %zu keys that greedy writing finds, nll: the "
            "key's loss in nats a token\nrope,length,depth,trials,match,nll,prompt_tokens\n",
            g->a->model, g->a->probe.template_file ? g->a->probe.template_file : "arXiv:2305.16300",
            g->a->sampling.seed, g->trials);
}

static void print_tables(const Grid *g) {
    out_printf("%s, prompt: %s, seed %lld\n\n", file_name(g->a->model),
               g->a->probe.template_file ? g->a->probe.template_file : "arXiv:2305.16300", g->a->sampling.seed);
    for (size_t r = 0; r < g->c.n_ropes && is_measured(g, cell_at(g, r, 0, 0)); r++) {
        out_printf("%s%s\n%-8s", r ? "\n" : "", compare_said(g->c.ropes[r]), "depth");
        for (size_t i = 0; i < g->c.n_lengths; i++) out_printf("%17zu", g->c.lengths[i]);
        for (size_t d = 0; d < g->n_depths; d++) {
            out_printf("\n%6d %%", g->depths[d]);
            for (size_t i = 0; i < g->c.n_lengths; i++) {
                const Cell *cell = cell_at(g, r, i, d);
                if (is_measured(g, cell)) out_printf("%6.0f %% %8.4f", 100 * cell->match, cell->nll);
                else out_printf("%17s", "-");
            }
        }
        out_printf("\n");
    }
    out_printf("\nfound by greedy writing, of %zu key%s; and the key's loss in nats a token\n", g->trials,
               g->trials == 1 ? "" : "s");
}

static void print_json(const Grid *g) {
    char spec[ROPE_SPEC_MOST];
    out_printf("{");
    json_text("model", g->a->model);
    json_text("template", g->a->probe.template_file);
    out_printf("\"seed\":%lld,\"trials\":%zu,\"cells\":[", g->a->sampling.seed, g->trials);
    for (size_t r = 0; r < g->c.n_ropes; r++)
        for (size_t i = 0; i < g->c.n_lengths; i++)
            for (size_t d = 0; d < g->n_depths; d++) {
                const Cell *cell = cell_at(g, r, i, d);
                if (!is_measured(g, cell)) continue;
                out_printf("%s{", r + i + d ? "," : "");
                json_text("rope", g->c.ropes[r]);
                json_text("spec", compare_spec(&g->c, g->c.ropes[r], g->c.lengths[i], spec, sizeof spec) ? NULL : spec);
                out_printf("\"length\":%zu,\"depth\":%d,\"match\":%.6g,\"nll\":%.9g,\"prompt_tokens\":%zu}",
                           g->c.lengths[i], g->depths[d], cell->match, cell->nll, cell->n_prompt);
            }
    out_printf("]}\n");
}

/* --svg's file, of one of several methods "heat-2.svg"; malloc'ed. */
static char *picture_of(const Grid *g, size_t i) {
    char number[24];
    snprintf(number, sizeof number, "%zu", i + 1);
    return g->c.n_ropes < 2 ? strdup(g->a->show.svg) : svg_beside(g->a->show.svg, number);
}

static int check_pictures(const Grid *g) {
    int code = 0;
    for (size_t i = 0; g->a->show.svg && i < g->c.n_ropes && code == 0; i++) {
        char *path = picture_of(g, i);
        code = path ? svg_may_write(path) : fail("out of memory");
        free(path);
    }
    return code;
}

/* A heat map a method: what was found; where nothing was, by any method, how probable the key was at least. */
static int draw(const Grid *g) {
    size_t n = g->c.n_lengths * g->n_depths;
    double *values = calloc(n, sizeof *values), found = 0;
    char columns[COMPARE_LENGTHS][24], rows[MOST_DEPTHS][24];
    char about[300];
    const char *column_names[COMPARE_LENGTHS], *row_names[MOST_DEPTHS];
    int code = values ? 0 : fail("out of memory");
    for (size_t i = 0; i < g->c.n_ropes * n; i++) found += g->cells[i].match;
    for (size_t i = 0; i < g->c.n_lengths; i++)
        snprintf(columns[i], 24, "%zu", g->c.lengths[i]), column_names[i] = columns[i];
    for (size_t i = 0; i < g->n_depths; i++) snprintf(rows[i], 24, "%d %%", g->depths[i]), row_names[i] = rows[i];
    for (size_t r = 0; code == 0 && r < g->c.n_ropes; r++) {
        Args a = *g->a;
        snprintf(about, sizeof about, "%s, %zu keys each: %s", file_name(g->a->model), g->trials,
                 found > 0 ? "found by greedy writing" : "none was found: e to the minus loss of the key's tokens");
        PlotHeat p = {.title = compare_said(g->c.ropes[r]),
                      .x_name = "length of context",
                      .y_name = "depth of the key",
                      .subtitle = about,
                      .columns = column_names,
                      .rows = row_names,
                      .n_columns = g->c.n_lengths,
                      .n_rows = g->n_depths,
                      .values = values,
                      .decimals = 2};
        for (size_t i = 0; i < g->c.n_lengths; i++)
            for (size_t d = 0; d < g->n_depths; d++) {
                const Cell *cell = cell_at(g, r, i, d);
                values[d * g->c.n_lengths + i] = found > 0 ? cell->match : exp(-cell->nll);
            }
        char *path = a.show.svg ? picture_of(g, r) : NULL;
        code = a.show.svg && !path ? fail("out of memory") : 0;
        a.show.svg = path;
        if (code == 0) code = heat_show(&p, &a);
        free(path);
    }
    free(values);
    return code;
}

/* Everything that could be wrong, before the first key is hidden: each method at each length, room for the longest. */
static int check_all(Grid *g) {
    Comparison *c = &g->c;
    Session s;
    SessionOptions o = {.n_ctx = c->lengths[c->n_lengths - 1], .threads = 1, .cache = c->cache};
    char spec[ROPE_SPEC_MOST];
    int code = 0;
    for (size_t r = 0; code == 0 && r < c->n_ropes; r++)
        for (size_t i = 0; code == 0 && i < c->n_lengths; i++)
            code = compare_spec(c, c->ropes[r], c->lengths[i], spec, sizeof spec);
    if (code) return code;
    if (session_init(&s, &c->e.model, &o, c->e.err, sizeof c->e.err)) return fail("--lengths: %s", c->e.err);
    session_free(&s);
    return 0;
}

static int run_grid(Grid *g) {
    Comparison *c = &g->c;
    int code = 0;
    if (c->n_lengths == 0)
        for (size_t f = 1; f <= 4; f *= 2) c->lengths[c->n_lengths++] = f * (size_t)c->e.model.config.n_ctx_train;
    g->cells = calloc(c->n_ropes * c->n_lengths * g->n_depths, sizeof *g->cells);
    if (!g->cells) return fail("out of memory");
    if ((code = compare_cache(c))) return code;
    if ((code = check_all(g))) return code;
    c->e.progress = (Progress){.what = "asking", .start = clock_seconds()};
    print_head(g);
    for (size_t r = 0; code == 0 && r < c->n_ropes; r++)
        for (size_t i = 0; code == 0 && i < c->n_lengths; i++) code = measure(g, r, i);
    size_t n = c->n_ropes * c->n_lengths * g->n_depths, measured = g->done / g->trials;
    if (code == EXIT_INTERRUPTED) note("interrupted: %zu of %zu cells were not measured", n - measured, n);
    if (code && (code != EXIT_INTERRUPTED || measured == 0)) return code;
    if (g->a->show.json) print_json(g);
    else if (!g->a->show.csv) print_tables(g);
    return code ? code : draw(g);
}

int run_passkey(Args *a) {
    Grid g = {.a = a, .c.a = a, .trials = a->probe.trials ? (size_t)a->probe.trials : 5};
    if (!a->compare.ropes) a->compare.ropes = "file";
    if (!a->sampling.seed_given) a->sampling.seed = 42;
    int code = compare_ropes(&g.c);
    if (code == 0) code = compare_lengths(&g.c);
    if (code == 0) code = take_depths(&g);
    if (code == 0) code = take_template(&g);
    if (code == 0) code = check_pictures(&g);
    if (code == 0) code = engine_open(&g.c.e, a, 1);
    if (code == 0 && g.c.e.model.config.mask != MASK_CAUSAL)
        code = fail("%s: passkey is for models that read from left to right", a->model);
    if (code == 0) files_opened(a);
    if (code == 0) code = run_grid(&g);
    compare_free(&g.c);
    free(g.cells);
    free(g.depths);
    free(g.text);
    return out_end(code);
}
