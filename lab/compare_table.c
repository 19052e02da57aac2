/* lab/compare_table.c - cells in memory, found, joined and put in order. Their file: compare_csv.c. */
#include "compare_table.h"

#include "base/base.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void cell_free(CompareCell *c) {
    free(c->rope);
    free(c->spec);
}

void compare_table_free(CompareTable *t) {
    for (size_t i = 0; i < t->n; i++) cell_free(&t->cells[i]);
    free(t->cells);
    free(t->head);
    memset(t, 0, sizeof *t);
}

int compare_table_head(CompareTable *t, const char *head, int by_position, char *err, size_t errlen) {
    free(t->head);
    t->head = strdup(head);
    t->by_position = by_position;
    return t->head ? 0 : base_error(err, errlen, -ENOMEM, "out of memory");
}

size_t compare_head_value(const char *head, const char *key, const char **value) {
    size_t len = strlen(key);
    for (const char *line = head; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        if (strncmp(line, "# ", 2) != 0 || strncmp(line + 2, key, len) != 0 || strncmp(line + 2 + len, ": ", 2) != 0)
            continue;
        *value = line + len + 4;
        return strcspn(*value, "\n");
    }
    return 0;
}

/* ---- cells ---- */

static int same_place(const CompareCell *c, const char *rope, size_t length, size_t position) {
    return c->length == length && c->position == position && strcmp(c->rope, rope) == 0;
}

const CompareCell *compare_table_find(const CompareTable *t, const char *rope, size_t length, size_t position) {
    for (size_t i = 0; i < t->n; i++)
        if (same_place(&t->cells[i], rope, length, position)) return &t->cells[i];
    return NULL;
}

/* The same number but for rounding; what is no number is like any other such. */
static int alike(double a, double b) {
    if (!isfinite(a) || !isfinite(b)) return isfinite(a) == isfinite(b);
    return fabs(a - b) <= 1e-5 * fmax(1, fabs(a));
}

/* What is there becomes the lesser of both, so that the order of files does not matter. */
static int join(CompareCell *there, const CompareCell *c, const char *name, char *err, size_t errlen) {
    int entropy_missing = isnan(there->entropy) || isnan(c->entropy);
    if (!alike(there->nll, c->nll) || !alike(there->error, c->error) || there->tokens != c->tokens ||
        (!entropy_missing && !alike(there->entropy, c->entropy)))
        return base_error(err, errlen, -EEXIST,
                          "%s: %s at %zu is %.9g nats of %zu tokens, and %.9g of %zu elsewhere", name, c->rope,
                          c->length, c->nll, c->tokens, there->nll, there->tokens);
    if (c->nll < there->nll) there->nll = c->nll;
    if (c->error < there->error) there->error = c->error;
    if (isnan(there->entropy) || c->entropy < there->entropy) there->entropy = c->entropy;
    if (c->spec && there->spec && strcmp(c->spec, there->spec) != 0)
        return base_error(err, errlen, -EEXIST, "%s: %s at %zu is %s, and %s elsewhere", name, c->rope, c->length,
                          c->spec, there->spec);
    if (c->spec && !there->spec && !(there->spec = strdup(c->spec)))
        return base_error(err, errlen, -ENOMEM, "out of memory");
    return 0;
}

int compare_table_add(CompareTable *t, const CompareCell *c, const char *name, char *err, size_t errlen) {
    for (size_t i = 0; i < t->n; i++)
        if (same_place(&t->cells[i], c->rope, c->length, c->position)) return join(&t->cells[i], c, name, err, errlen);
    CompareCell made = *c;
    made.rope = strdup(c->rope);
    made.spec = c->spec ? strdup(c->spec) : NULL;
    if (!made.rope || (c->spec && !made.spec) || array_reserve(&t->cells, &t->cap, t->n + 1, sizeof *t->cells)) {
        cell_free(&made);
        return base_error(err, errlen, -ENOMEM, "out of memory");
    }
    t->cells[t->n++] = made;
    return 0;
}

/* ---- order ---- */

static size_t rank(const char *rope, const char *const *order, size_t n) {
    size_t i = 0;
    while (i < n && strcmp(order[i], rope) != 0) i++;
    return i;
}

static int after(const CompareCell *a, const CompareCell *b, const char *const *order, size_t n) {
    size_t i = rank(a->rope, order, n), j = rank(b->rope, order, n);
    int names = strcmp(a->rope, b->rope);
    if (i != j) return i > j;
    if (names) return names > 0;
    return a->length != b->length ? a->length > b->length : a->position > b->position;
}

/* By insertion: tables are mostly in order, and some thousand cells at most. */
void compare_table_sort(CompareTable *t, const char *const *order, size_t n_order) {
    for (size_t i = 1; i < t->n; i++) {
        CompareCell c = t->cells[i];
        size_t j = i;
        for (; j > 0 && after(&t->cells[j - 1], &c, order, n_order); j--) t->cells[j] = t->cells[j - 1];
        t->cells[j] = c;
    }
}
