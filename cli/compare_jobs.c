/* cli/compare_jobs.c - a comparison on several machines: its cells as commands, and what they wrote as one table. */
#include "compare.h"

#include "base/paths.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- jobs ---- */

/* A word as a shell reads it back. */
static void put_word(const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=+,@%-";
    if (*word && strspn(word, plain) == strlen(word)) {
        out_printf("%s ", word);
        return;
    }
    out_printf("'");
    for (; *word; word++) out_printf(*word == '\'' ? "'\\''" : "%c", *word);
    out_printf("' ");
}

/* Is word an option that each job has for itself? 2: with a value behind it. */
static int is_own(const char *word) {
    static const char *const names[] = {"--rope", "--lengths", "--score", "--from"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (strncmp(word, names[i], n) == 0 && (word[n] == '=' || word[n] == 0)) return word[n] ? 1 : 2;
    }
    return strcmp(word, "--jobs") == 0 || strcmp(word, "--csv") == 0 || strcmp(word, "--") == 0;
}

int compare_jobs(const Comparison *c) {
    const Args *a = c->a;
    for (size_t i = 0; i < c->n_ropes; i++)
        for (size_t j = 0; j < c->n_lengths; j++) {
            put_word(a->program);
            put_word("compare");
            for (int k = 0, own; k < a->n_options; k += own ? own : 1)
                if ((own = is_own(a->options[k])) == 0) put_word(a->options[k]);
            put_word("--rope");
            put_word(c->ropes[i]);
            out_printf("--lengths %zu ", c->lengths[j]);
            if (!c->bin) out_printf("--from %zu --score %zu ", c->cut.from, c->cut.score);
            else if (a->compare.score_given) out_printf("--score %lld ", a->compare.score);
            out_printf("--csv ");
            if (*a->model == '-') out_printf("-- ");
            if (a->model != compiled_in) put_word(a->model);
            out_printf("\n");
        }
    return 0;
}

/* ---- merge ---- */

static int read_table(Comparison *c, const char *path, int *contradictions) {
    char *text;
    size_t n, whole, rows = c->table.n;
    int code = read_text(path, &text, &n);
    if (code) return code;
    int rc = compare_table_read(&c->table, path, text, n, 1, &whole, c->e.err, sizeof c->e.err);
    int begun = n == 0 || strncmp(text, COMPARE_HEAD, n < sizeof COMPARE_HEAD - 1 ? n : sizeof COMPARE_HEAD - 1) == 0;
    free(text);
    if (rc == -EEXIST) { /* more of them may follow */
        ++*contradictions;
        fail("%s", c->e.err);
        return 0;
    }
    if (rc || (whole == 0 && !begun)) return rc ? fail("%s", c->e.err) : fail("%s: is no table of compare", path);
    if (c->table.n == rows && whole == 0) note("%s: has no cell yet", path);
    return 0;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* All *.csv of a folder, by name. */
static int read_folder(Comparison *c, const char *path, int *contradictions) {
    DIR *d = opendir(path);
    if (!d) return fail("%s: %s", path, strerror(errno));
    char **names = NULL;
    size_t n = 0, cap = 0;
    int code = 0;
    for (struct dirent *entry; code == 0 && (entry = readdir(d));) {
        size_t len = strlen(entry->d_name);
        if (len < 5 || strcmp(entry->d_name + len - 4, ".csv") != 0) continue;
        if (array_reserve(&names, &cap, n + 1, sizeof *names) || !(names[n] = file_join(path, entry->d_name)))
            code = fail("out of memory");
        else n++;
    }
    closedir(d);
    if (n) qsort(names, n, sizeof *names, by_name);
    if (code == 0 && n == 0) code = fail("%s: has no file *.csv", path);
    for (size_t i = 0; i < n; i++) {
        if (code == 0) code = read_table(c, names[i], contradictions);
        free(names[i]);
    }
    free(names);
    return code;
}

typedef struct {
    const char **ropes;
    CompareCell *places; /* of these length and position count */
    size_t n_ropes, n_places;
} Product;

static void add_rope(Product *p, const char *rope) {
    size_t i = 0;
    while (i < p->n_ropes && strcmp(p->ropes[i], rope) != 0) i++;
    if (i == p->n_ropes) p->ropes[p->n_ropes++] = rope;
}

static void add_place(Product *p, size_t length, size_t position) {
    size_t i = 0;
    while (i < p->n_places && (p->places[i].length != length || p->places[i].position != position)) i++;
    if (i == p->n_places) p->places[p->n_places++] = (CompareCell){.length = length, .position = position};
}

static int by_place(const void *a, const void *b) {
    const CompareCell *x = a, *y = b;
    if (x->length != y->length) return x->length > y->length ? 1 : -1;
    return (x->position > y->position) - (x->position < y->position);
}

/* Every method at every length (and bin) that the table has, or that is asked for: which of these are not there? */
static int say_missing(const Comparison *c) {
    const CompareTable *t = &c->table;
    Product p = {.ropes = calloc(t->n + COMPARE_ROPES, sizeof *p.ropes),
                 .places = calloc(t->n + COMPARE_LENGTHS, sizeof *p.places)};
    size_t missing = 0, said = 0;
    char which[600] = "";
    int code = p.ropes && p.places ? 0 : fail("out of memory");
    for (size_t i = 0; i < c->n_ropes && code == 0; i++) add_rope(&p, c->ropes[i]);
    for (size_t i = 0; i < c->n_lengths && code == 0 && !t->by_position; i++) add_place(&p, c->lengths[i], 0);
    for (size_t i = 0; i < t->n && code == 0; i++)
        add_rope(&p, t->cells[i].rope), add_place(&p, t->cells[i].length, t->cells[i].position);
    if (code == 0) qsort(p.places, p.n_places, sizeof *p.places, by_place);
    for (size_t i = 0; i < p.n_ropes && code == 0; i++)
        for (size_t j = 0; j < p.n_places; j++) {
            char one[200];
            if (compare_table_find(t, p.ropes[i], p.places[j].length, p.places[j].position)) continue;
            missing++;
            snprintf(one, sizeof one, "%s%.120s at %zu", missing > 1 ? ", " : "", p.ropes[i],
                     t->by_position ? p.places[j].position : p.places[j].length);
            if (strlen(which) + strlen(one) + 8 < sizeof which) strcat(which, one), said++;
        }
    if (missing)
        note("missing: %zu of %zu cells: %s%s", missing, p.n_ropes * p.n_places, which, said < missing ? ", .." : "");
    free(p.ropes);
    free(p.places);
    return code;
}

static int check_options(const Args *a) {
    if (a->n_words == 0) return usage("--merge needs files or folders");
    if (a->compare.jobs || a->compare.resume || a->in.file)
        return usage("--merge joins what was measured: --jobs, --resume and -f have no meaning beside it");
    return 0;
}

int compare_merge(Args *a) {
    Comparison c = {.a = a};
    int contradictions = 0, code = check_options(a);
    if (code == 0) code = compare_ropes(&c);
    if (code == 0) code = compare_lengths(&c);
    for (int i = 0; i < a->n_words && code == 0; i++)
        code = file_is_folder(a->words[i]) ? read_folder(&c, a->words[i], &contradictions)
                                           : read_table(&c, a->words[i], &contradictions);
    if (code == 0) code = compare_check_entropy(&c);
    files_opened(NULL);
    if (code == 0 && contradictions) code = EXIT_FAILED;
    if (code == 0 && c.table.n == 0) code = fail("--merge: there is no cell in these files");
    compare_table_sort(&c.table, (const char *const *)c.ropes, c.n_ropes);
    if (code == 0) code = say_missing(&c);
    if (code == 0) code = compare_show(&c);
    compare_free(&c);
    return out_end(code);
}
