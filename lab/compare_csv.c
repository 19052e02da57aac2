/* lab/compare_csv.c - a comparison's file, written cell by cell and read back (compare_table.h). */
#include "compare_table.h"

#include "base/base.h"
#include "csv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {COMPARE_COLUMNS, COMPARE_COLUMNS_BY_POSITION};
enum { FIELDS = 6 };
static const char cell_line[] = "# cell: ";

/* ---- writing ---- */

void compare_put_head(FILE *f, const CompareTable *t) { fprintf(f, "%s%s\n", t->head, columns[t->by_position]); }

/* RFC 4180: in quotes where it has a comma or a quote, which is doubled. */
static void put_field(FILE *f, const char *s) {
    if (!strpbrk(s, ",\"")) {
        fputs(s, f);
        return;
    }
    fputc('"', f);
    for (; *s; s++) fprintf(f, *s == '"' ? "\"\"" : "%c", *s);
    fputc('"', f);
}

/* The sign of what is no number says nothing. */
static void put_number(FILE *f, double v) { isnan(v) ? fputs(",nan", f) : fprintf(f, ",%.9g", v); }

void compare_put_cell(FILE *f, const CompareTable *t, const CompareCell *c, const CompareCell *before) {
    int said = before && before->length == c->length && strcmp(before->rope, c->rope) == 0;
    if (c->spec && !said) fprintf(f, "%s%s\n", cell_line, c->spec);
    put_field(f, c->rope);
    fprintf(f, ",%zu", c->length);
    if (t->by_position) fprintf(f, ",%zu", c->position);
    put_number(f, c->nll);
    put_number(f, c->error);
    fprintf(f, ",%zu", c->tokens);
    if (!t->by_position && isnan(c->entropy)) fputc(',', f);
    else if (!t->by_position) put_number(f, c->entropy);
    fputc('\n', f);
}

/* ---- reading ---- */

typedef struct {
    CompareTable *t;
    const char *name;
    size_t line;    /* its number, from 1 */
    char *spec;     /* of the cell that begins */
    CompareCell *rows; /* [group]: read, and not yet a whole cell */
    size_t n_rows, group;
    char *err;
    size_t errlen;
} Reader;

static int wrong(const Reader *r, const char *what) {
    return base_error(r->err, r->errlen, -EINVAL, "%s: line %zu %s", r->name, r->line, what);
}

static int no_memory(const Reader *r) {
    return base_error(r->err, r->errlen, -ENOMEM, "%s: out of memory", r->name);
}

static int take_count(const char *s, size_t *n) {
    char *end;
    errno = 0;
    unsigned long long v = strtoull(s, &end, 10);
    *n = (size_t)v;
    return *s >= '0' && *s <= '9' && *end == 0 && errno == 0;
}

static int take_number(const char *s, double *v) {
    char *end;
    *v = strtod(s, &end);
    return end != s && *end == 0;
}

static void drop_rows(Reader *r) {
    for (size_t i = 0; i < r->n_rows; i++) free(r->rows[i].rope), free(r->rows[i].spec);
    r->n_rows = 0;
}

/* A row behind its "# cell:" line. A cell of several rows has them one behind the other. */
static int take_row(Reader *r, char *line) {
    CompareCell c = {.entropy = NAN};
    char *f[FIELDS];
    if (csv_cut(line, f, FIELDS) != FIELDS) return wrong(r, "has not six fields");
    char **numbers = f + 2 + r->t->by_position;
    if (!*f[0] || !take_count(f[1], &c.length) || (r->t->by_position && !take_count(f[2], &c.position)) ||
        !take_number(numbers[0], &c.nll) || !take_number(numbers[1], &c.error) || !take_count(numbers[2], &c.tokens) ||
        (!r->t->by_position && *f[5] && !take_number(f[5], &c.entropy)))
        return wrong(r, "is no cell of a comparison");
    const CompareCell *last = r->n_rows ? &r->rows[r->n_rows - 1] : NULL;
    if (last && (last->length != c.length || strcmp(last->rope, f[0]) != 0))
        return wrong(r, "begins a cell within another");
    if (last && c.position <= last->position) return wrong(r, "has a position that the cell has had");
    c.rope = strdup(f[0]);
    c.spec = r->spec ? strdup(r->spec) : NULL;
    r->rows[r->n_rows++] = c;
    return c.rope && (!r->spec || c.spec) ? 0 : no_memory(r);
}

static int finish_cell(Reader *r) {
    int rc = 0;
    for (size_t i = 0; i < r->n_rows && rc == 0; i++)
        rc = compare_table_add(r->t, &r->rows[i], r->name, r->err, r->errlen);
    drop_rows(r);
    return rc;
}

/* A line [n] behind the head. */
static int take_line(Reader *r, const char *s, size_t n) {
    char *line = strndup(s, n);
    int rc = 0;
    if (line) text_harmless(line, "");
    if (!line || memchr(s, 0, n)) rc = line ? wrong(r, "holds a byte 0") : no_memory(r);
    else if (strncmp(line, cell_line, sizeof cell_line - 1) == 0) {
        free(r->spec);
        r->spec = strdup(line + sizeof cell_line - 1);
        if (!r->spec) rc = no_memory(r);
    } else if (*line && *line != '#') rc = take_row(r, line);
    free(line);
    return rc;
}

static int is_file_line(const char *s, size_t n) {
    const char *colon = memchr(s, ':', n);
    return colon && colon - s >= 4 && memcmp(colon - 4, "file", 4) == 0;
}

/* Do both say the same, but for names of files? */
static int same_head(Reader *r, const char *a, const char *b) {
    while (*a || *b) {
        size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
        int files = is_file_line(a, n) && is_file_line(b, m);
        if (!files && (n != m || memcmp(a, b, n) != 0))
            return base_error(r->err, r->errlen, -EINVAL,
                              "%s: is of another run: it says \"%.*s\", and this is \"%.*s\"", r->name,
                              (int)(m < 200 ? m : 200), b, (int)(n < 200 ? n : 200), a);
        a += n + (a[n] != 0);
        b += m + (b[m] != 0);
    }
    return 0;
}

/* Where the head that begins the text ends, behind the columns' names: *by_position says which. 0: it is not whole. */
static size_t head_end(const char *text, size_t n, size_t *head, int *by_position) {
    for (size_t at = 0; at < n;) {
        const char *newline = memchr(text + at, '\n', n - at);
        size_t len = newline ? (size_t)(newline - text) - at : 0;
        for (int i = 0; newline && i < 2; i++)
            if (len == strlen(columns[i]) && memcmp(text + at, columns[i], len) == 0) {
                *head = at;
                *by_position = i;
                return at + len + 1;
            }
        if (!newline || (len && text[at] != '#')) return 0;
        at += len + 1;
    }
    return 0;
}

/* The head [n] of text, which t's must be, or becomes. Of the names of files the first in order stay. */
static int take_head(Reader *r, const char *text, size_t n, int by_position) {
    CompareTable *t = r->t;
    char *head = strndup(text, n);
    int rc = 0;
    if (!head) return no_memory(r);
    text_harmless(head, "\n");
    if (!t->head) rc = compare_table_head(t, head, by_position, r->err, r->errlen);
    else if (t->by_position != by_position)
        rc = base_error(r->err, r->errlen, -EINVAL, "%s: is of another run: one of both goes by position", r->name);
    else rc = same_head(r, t->head, head);
    if (rc == 0 && strcmp(head, t->head) < 0) {
        char *was = t->head;
        t->head = head;
        head = was;
    }
    free(head);
    return rc;
}

/* Lines from *at on, up to the next head (tables may stand one behind the other) or the end. */
static int take_lines(Reader *r, const char *text, size_t n, size_t *at, size_t *whole) {
    const char *newline;
    int rc = 0;
    while (rc == 0 && *at < n && (newline = memchr(text + *at, '\n', n - *at))) {
        size_t len = (size_t)(newline - text) - *at;
        if (len >= sizeof COMPARE_HEAD - 1 && memcmp(text + *at, COMPARE_HEAD, sizeof COMPARE_HEAD - 1) == 0) return 0;
        r->line++;
        rc = take_line(r, text + *at, len);
        *at += len + 1;
        if (rc || r->n_rows < r->group) continue;
        rc = finish_cell(r);
        *whole = *at;
    }
    if (rc == 0) *at = n;
    return rc;
}

/* A head without its columns: comments alone, as a run leaves them that was stopped at once. */
static int broken_head(Reader *r, const char *text, size_t n) {
    for (size_t at = 0; at < n; at++) {
        const char *newline = memchr(text + at, '\n', n - at);
        size_t end = newline ? (size_t)(newline - text) : n;
        r->line++;
        if (newline && end > at && text[at] != '#') return wrong(r, "is no line of a table of compare");
        at = end;
    }
    return 0;
}

int compare_table_read(CompareTable *t, const char *name, const char *text, size_t n, size_t group, size_t *whole,
                       char *err, size_t errlen) {
    Reader r = {.t = t, .name = name, .group = group, .err = err, .errlen = errlen};
    int rc = 0;
    *whole = 0;
    if (!(r.rows = calloc(group, sizeof *r.rows))) return no_memory(&r);
    for (size_t at = 0, head, end; rc == 0 && at < n;) {
        int by_position;
        if ((end = head_end(text + at, n - at, &head, &by_position)) == 0) {
            if (*whole) rc = broken_head(&r, text + at, n - at);
            break;
        }
        rc = take_head(&r, text + at, head, by_position);
        for (size_t i = 0; i < end; i++) r.line += text[at + i] == '\n';
        at += end;
        *whole = at;
        if (rc == 0) rc = take_lines(&r, text, n, &at, whole);
        drop_rows(&r);
    }
    free(r.rows);
    free(r.spec);
    return rc;
}
