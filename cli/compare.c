/* cli/compare.c - the command compare: what is to be measured, of which text, and whether that can be. */
#include "compare.h"

#include "attention/cache.h"
#include "base/hash.h"
#include "model/fingerprint.h"
#include "model/options.h"
#include "rope/spec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void compare_free(Comparison *c) {
    for (size_t i = 0; i < c->n_ropes; i++) free(c->ropes[i]);
    free(c->ids);
    compare_table_free(&c->table);
    engine_close(&c->e);
}

/* ---- what was asked for ---- */

int compare_ropes(Comparison *c) {
    const char *list = c->a->compare.ropes;
    char spec[ROPE_SPEC_MOST], err[500];
    int more = 0;
    while (list && (more = rope_spec_next(&list, spec, sizeof spec)) == 1) {
        if (c->n_ropes == COMPARE_ROPES) return usage("--rope: at most %d specs", COMPARE_ROPES);
        for (const char *s = spec; *s; s++)
            if ((unsigned char)*s < 0x20) return usage("--rope: a spec has no control characters");
        int rc = rope_spec_check(spec, err, sizeof err);
        if (rc) return (rc == -EINVAL ? usage : fail)("--rope: \"%.200s\": %s", spec, err);
        for (size_t i = 0; i < c->n_ropes; i++)
            if (strcmp(c->ropes[i], spec) == 0) return usage("--rope: %s is given twice", spec);
        if (!(c->ropes[c->n_ropes] = strdup(spec))) return fail("out of memory");
        c->n_ropes++;
    }
    if (more < 0) return usage("--rope: a spec is longer than %d characters", ROPE_SPEC_MOST - 1);
    return c->a->compare.ropes && c->n_ropes == 0 ? usage("--rope: no method is named") : 0;
}

static int ascending(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

int compare_lengths(Comparison *c) {
    const char *list = c->a->compare.lengths;
    size_t n = 0;
    int *numbers, code = list ? parse_ids(&numbers, &n, "--lengths", list) : 0;
    if (!list || code) return code;
    if (n > COMPARE_LENGTHS) code = usage("--lengths: at most %d", COMPARE_LENGTHS);
    for (size_t i = 0; i < n && code == 0; i++) {
        if (numbers[i] < COMPARE_LEAST_LENGTH)
            code = usage("--lengths: %d: a window has at least %d positions", numbers[i], COMPARE_LEAST_LENGTH);
        else c->lengths[c->n_lengths++] = (size_t)numbers[i];
    }
    free(numbers);
    qsort(c->lengths, c->n_lengths, sizeof *c->lengths, ascending);
    n = c->n_lengths;
    c->n_lengths = n > 0;
    for (size_t i = 1; i < n; i++) /* the same twice is no other cell */
        if (c->lengths[i] != c->lengths[c->n_lengths - 1]) c->lengths[c->n_lengths++] = c->lengths[i];
    return code;
}

static int check_options(const Args *a) {
    if (!a->in.file) return usage("compare needs a text (-f FILE)");
    if (!a->compare.ropes || !*a->compare.ropes) return usage("compare needs specs (--rope none,linear,yarn)");
    if (a->n_words > 1) return usage("\"%s\" is one word too many", a->words[1]);
    if (a->cut.by_position && a->compare.entropy) return usage("--entropy goes by length, not by position");
    if (a->cut.by_position && a->compare.from_given) return usage("--from has no meaning with --by-position");
    if (a->compare.jobs && (a->compare.resume || a->show.svg || a->show.json))
        return usage("--jobs prints commands that write CSV; --resume, --svg and --json are for one run or --merge");
    if (a->compare.jobs && strcmp(a->in.file, "-") == 0) return usage("--jobs: the commands cannot share one stdin");
    return 0;
}

/* ---- the text ---- */

int compare_read(Comparison *c) {
    Engine *e = &c->e;
    char *text;
    size_t n;
    int code = read_text(c->a->in.file, &text, &n);
    if (code) return code;
    int rc = tokenizer_encode(e->tokenizer, text, n, ENCODE_BARE, &c->ids, &c->n_ids, e->err, sizeof e->err);
    free(text);
    c->bos = engine_bos(e);
    return rc ? fail("%s", e->err) : 0;
}

int compare_cache(Comparison *c) {
    c->cache = session_usual_cache(&c->e.model);
    return cache_option(&c->cache, c->a, &c->e.model);
}

uint64_t compare_draw(const Comparison *c, size_t i) {
    return hash_mix((uint64_t)c->a->sampling.seed * 0x9e3779b97f4a7c15u + (i + 1) * 0xbf58476d1ce4e5b9u);
}

/* Which ids are scored; the text must have them. */
static int take_cut(Comparison *c) {
    const CompareArgs *o = &c->a->compare;
    size_t longest = c->lengths[c->n_lengths - 1], score = o->score_given ? (size_t)o->score : 2048;
    size_t whole = compare_whole(c->n_ids, c->bos, longest), step = longest - (c->bos >= 0);
    if (c->a->cut.by_position) {
        c->bin = c->a->cut.bin ? (size_t)c->a->cut.bin : (longest + COMPARE_BINS - 1) / COMPARE_BINS;
        if (c->bin > longest)
            return usage("--by-position: bins of %zu are wider than the window of %zu", c->bin, longest);
        c->windows = o->score_given && whole > (score + step - 1) / step ? (score + step - 1) / step : whole;
        return whole ? 0 : fail("%s: has %zu ids, and a window of %zu holds %zu: give a longer text or a shorter "
                                "--lengths", c->a->in.file, c->n_ids, longest, step);
    }
    c->cut = (CompareCut){.from = o->from_given ? (size_t)o->from : compare_from(longest), .score = score};
    if (c->cut.from < compare_from(longest))
        return usage("--from %zu: windows of %zu need %zu or more", c->cut.from, longest, compare_from(longest));
    if (c->cut.from < c->n_ids && c->cut.score <= c->n_ids - c->cut.from) return 0;
    size_t left = c->n_ids > c->cut.from ? c->n_ids - c->cut.from : 0;
    size_t fits = c->n_ids > score ? c->n_ids - score + 1 : 0;
    if (left && fits >= 2)
        return fail("%s: has %zu ids, of which %zu behind the first %zu are to be scored; with this length --score %zu "
                    "fits, with this --score lengths up to %zu", c->a->in.file, c->n_ids, score, c->cut.from, left,
                    fits);
    if (o->from_given && c->cut.from > compare_from(longest))
        return fail("--from %zu: %s has %zu ids", c->cut.from, c->a->in.file, c->n_ids);
    if (fits < 2)
        return fail("%s: has %zu ids, too few for --score %zu", c->a->in.file, c->n_ids, score);
    return fail("%s: has %zu ids: too few for windows of %zu; with --score %zu lengths up to %zu fit", c->a->in.file,
                c->n_ids, longest, score, fits);
}

/* 1, 2, 4, 8 and 16 times the trained context; by position only the longest counts. */
static void settle_lengths(Comparison *c) {
    size_t trained = (size_t)c->e.model.config.n_ctx_train;
    for (size_t i = 0; c->a->compare.lengths == NULL && i < 5; i++) c->lengths[c->n_lengths++] = trained << i;
    if (c->a->cut.by_position) c->lengths[0] = c->lengths[c->n_lengths - 1], c->n_lengths = 1;
}

/* ---- what a table says of itself ---- */

static void put_cut(const Comparison *c, FILE *f) {
    const char *bos = c->bos >= 0 ? "BOS first" : "no BOS, as the vocabulary has none";
    if (c->bin)
        fprintf(f, "# cut: %zu windows of %zu positions, %s, one behind the other from the text's first id on; every "
                "id scored, in bins of %zu positions\n", c->windows, c->lengths[0], bos, c->bin);
    else
        fprintf(f, "# cut: ids %zu to %zu of the text, counted from 0, in every cell; windows of LENGTH positions, %s, "
                "each scoring its last LENGTH/4\n", c->cut.from, c->cut.from + c->cut.score - 1, bos);
}

static int take_head(Comparison *c) {
    const Model *m = &c->e.model;
    const LinearConfig *linear = &m->config.linear;
    char *head = NULL;
    size_t n;
    FILE *f = open_memstream(&head, &n);
    if (!f) return fail("out of memory");
    fprintf(f, COMPARE_HEAD "loss in nats a token, by method and %s\n", c->bin ? "position" : "length of context");
    fprintf(f, "# model: %s of %zu parameters, fingerprint %016llx\n", m->config.arch, m->n_parameters,
            (unsigned long long)model_fingerprint(m));
    fprintf(f, "# model file: %s\n# trained: %lld\n", c->a->model, (long long)m->config.n_ctx_train);
    fprintf(f, "# text: %zu ids, hash %016llx\n# text file: %s\n", c->n_ids,
            (unsigned long long)hash_bytes(HASH_START, c->ids, c->n_ids * sizeof *c->ids), c->a->in.file);
    put_cut(c, f);
    if (linear->form)
        fprintf(f, "# attention: linear, form %s, phi %s%s%s\n", linear->form->name, linear->phi->name,
                linear->phi_key ? ", of keys " : "", linear->phi_key ? linear->phi_key->name : "");
    else fprintf(f, "# attention: softmax, keys and values as %s\n", cache_formats[c->cache].name);
    fprintf(f, "# seed: none, as nothing is drawn\n");
    int rc = close_written(f) ? -1 : 0;
    for (char *s = head; rc == 0 && *s; s++) /* in the name of a file */
        if (*s == '\n' && s[1] && s[1] != '#') *s = '?';
    if (rc == 0) text_harmless(head, "\n");
    if (rc == 0) rc = compare_table_head(&c->table, head, c->bin > 0, c->e.err, sizeof c->e.err);
    free(head);
    return rc ? fail("out of memory") : 0;
}

/* ---- */

int compare_view(const Comparison *c, Model *model, RopeNumbers *numbers, const char *rope, size_t length) {
    char err[500];
    RopeOverride o = {.spec = rope, .n_ctx = (int64_t)length};
    return model_stretch(model, numbers, &c->e.model, &o, err, sizeof err) == 0
               ? 0 : fail("--rope %s, at %zu: %s", rope, length, err);
}

const char *compare_said(const char *rope) { return strcmp(rope, "file") == 0 ? "as the file says" : rope; }

int compare_spec(const Comparison *c, const char *rope, size_t length, char *spec, size_t size) {
    RopeNumbers *numbers = malloc(sizeof *numbers);
    Model view;
    int code = numbers ? compare_view(c, &view, numbers, rope, length) : fail("out of memory");
    if (code == 0) rope_spec_print(&view.config.rope, spec, size);
    free(numbers);
    return code;
}

/* Everything that could be wrong, before the first cell is measured. */
static int check_cells(const Comparison *c) {
    RopeNumbers *numbers = malloc(sizeof *numbers);
    int code = numbers ? 0 : fail("out of memory");
    for (size_t i = 0; i < c->n_ropes && code == 0; i++)
        for (size_t j = 0; j < c->n_lengths && code == 0; j++) {
            Model view;
            code = compare_view(c, &view, numbers, c->ropes[i], c->lengths[j]);
        }
    free(numbers);
    return code;
}

static int prepare(Comparison *c) {
    Args *a = c->a;
    int code = compare_ropes(c);
    if (code == 0) code = compare_lengths(c);
    if (code == 0) code = compare_check_svg(a, c->n_ropes);
    if (code == 0) code = engine_open(&c->e, a, 1);
    if (code) return code;
    code = compare_cache(c);
    settle_lengths(c);
    if (code == 0) code = compare_read(c);
    if (code == 0) code = take_cut(c);
    if (code == 0) code = check_cells(c);
    return code ? code : take_head(c);
}

int run_compare(Args *a) {
    Comparison c = {.a = a};
    if (a->compare.merge) return compare_merge(a);
    if (!a->model) a->model = compiled_in;
    int code = check_options(a);
    if (code) return code;
    code = prepare(&c);
    if (code == 0 && a->compare.jobs) code = compare_jobs(&c);
    else if (code == 0) {
        code = compare_measure(&c);
        int streamed = a->show.csv && !a->compare.resume; /* is out already */
        if ((code == 0 || code == EXIT_INTERRUPTED) && c.table.n && !(streamed && !a->show.svg)) {
            int shown = compare_show(&c);
            if (code == 0) code = shown;
        }
    }
    compare_free(&c);
    return out_end(code);
}
