/* lab/csv.c - tables with commas: a line into fields; columns of several files into one line of means. */
#include "csv.h"

#include "base/base.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FIELDS = 64 };

size_t csv_cut(char *s, char **fields, size_t most) {
    for (size_t i = 0; i < most; s++) {
        char *to = s;
        fields[i] = s;
        if (*s == '"') {
            for (s++; *s && (*s != '"' || s[1] == '"'); s++) s += *s == '"', *to++ = *s;
            if (*s++ != '"') return 0;
        } else
            while (*s && *s != ',' && *s != '"') *to++ = *s++;
        int more = *s == ',';
        if (*s && !more) return 0;
        *to = 0;
        i++;
        if (!more) return i;
    }
    return 0;
}

/* ---- a file's rows ---- */

typedef struct { double x, y; size_t file; } Row;
typedef struct {
    Row *rows;
    size_t n, cap;
} Rows;

/* Which column is x, which is y; what the others must say. */
typedef struct {
    size_t x, y, n_fields, n_tests, column[MOST_FIELDS];
    char *value[MOST_FIELDS];
} Head;

static int find(const char *name, char **fields, size_t n, size_t *at) {
    for (*at = 0; *at < n; ++*at)
        if (strcmp(fields[*at], name) == 0) return 1;
    return 0;
}

static int no_column(const char *path, const char *name, char *err, size_t errlen) {
    return base_error(err, errlen, -EINVAL, "%s: has no column \"%s\"", path, name);
}

/* where is cut in place. */
static int read_tests(Head *h, char **fields, char *where, const char *path, char *err, size_t errlen) {
    char *tests[MOST_FIELDS];
    size_t n = csv_cut(where, tests, MOST_FIELDS);
    if (!n) return base_error(err, errlen, -EINVAL, "\"%s\" is no list of column=value", where);
    for (size_t i = 0; i < n; i++) {
        char *equals = strchr(tests[i], '=');
        if (!equals) return base_error(err, errlen, -EINVAL, "\"%s\": column=value is how it is written", tests[i]);
        *equals = 0;
        if (!find(tests[i], fields, h->n_fields, &h->column[i])) return no_column(path, tests[i], err, errlen);
        h->value[h->n_tests++] = equals + 1;
    }
    return 0;
}

static int read_head(Head *h, char *line, const SeriesWish *w, char *where, const char *path, char *err,
                     size_t errlen) {
    char *fields[MOST_FIELDS];
    *h = (Head){.n_fields = csv_cut(line, fields, MOST_FIELDS)};
    if (!h->n_fields) return base_error(err, errlen, -EINVAL, "%s: is no table with commas", path);
    if (!find(w->x, fields, h->n_fields, &h->x)) return no_column(path, w->x, err, errlen);
    if (!find(w->y, fields, h->n_fields, &h->y)) return no_column(path, w->y, err, errlen);
    return where ? read_tests(h, fields, where, path, err, errlen) : 0;
}

static int number(const char *s, double *v) {
    char *end;
    *v = strtod(s, &end);
    return end != s && *end == 0 && isfinite(*v);
}

static int take_row(Rows *r, const Head *h, char *line, double bin, size_t file) {
    char *fields[MOST_FIELDS];
    Row row = {.file = file};
    if (csv_cut(line, fields, MOST_FIELDS) != h->n_fields) return -EINVAL;
    for (size_t i = 0; i < h->n_tests; i++)
        if (strcmp(fields[h->column[i]], h->value[i]) != 0) return 0;
    if (!number(fields[h->x], &row.x) || !number(fields[h->y], &row.y)) return 0;
    if (bin > 0) row.x = ceil(row.x / bin) * bin;
    if (array_reserve(&r->rows, &r->cap, r->n + 1, sizeof *r->rows)) return -ENOMEM;
    r->rows[r->n++] = row;
    return 0;
}

/* text is NUL-terminated, and cut in place. */
static int take_text(Rows *r, char *text, const SeriesWish *w, char *where, const char *path, size_t file, char *err,
                     size_t errlen) {
    Head h = {0};
    size_t number = 0;
    int rc = 0, begun = 0;
    for (char *line = text, *next; rc == 0 && line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        size_t n = strlen(line);
        number++;
        if (n && line[n - 1] == '\r') line[n - 1] = 0;
        if (!*line || *line == '#') continue;
        if (!begun) rc = read_head(&h, line, w, where, path, err, errlen), begun = 1;
        else if ((rc = take_row(r, &h, line, w->bin, file)))
            base_error(err, errlen, rc, "%s: line %zu %s", path, number,
                       rc == -ENOMEM ? "finds no memory" : "has other fields than the head");
    }
    return rc || begun ? rc : base_error(err, errlen, -EINVAL, "%s: is empty", path);
}

static int take_file(Rows *r, const char *path, const SeriesWish *w, size_t file, char *err, size_t errlen) {
    MappedFile f;
    int rc = file_map(&f, path, err, errlen);
    if (rc) return rc;
    char *text = malloc(f.size + 1), *where = w->where ? strdup(w->where) : NULL;
    if (!text || (w->where && !where)) rc = base_error(err, errlen, -ENOMEM, "%s: out of memory", path);
    else {
        memcpy(text, f.data, f.size);
        text[f.size] = 0;
        rc = take_text(r, text, w, where, path, file, err, errlen);
    }
    free(where);
    free(text);
    file_unmap(&f);
    return rc;
}

/* ---- means ---- */

static int by_x(const void *a, const void *b) {
    const Row *x = a, *y = b;
    if (x->x != y->x) return x->x < y->x ? -1 : 1;
    return (x->file > y->file) - (x->file < y->file);
}

/* Rows of one x, from i on, as a point; where the next x begins. */
static size_t point_of(SeriesPoint *p, const Rows *r, size_t i) {
    double sum = 0, squares = 0;
    *p = (SeriesPoint){.x = r->rows[i].x, .least = INFINITY, .most = -INFINITY};
    while (i < r->n && r->rows[i].x == p->x) {
        size_t file = r->rows[i].file, n = 0;
        double all = 0;
        for (; i < r->n && r->rows[i].x == p->x && r->rows[i].file == file; i++, n++) all += r->rows[i].y;
        double y = all / (double)n;
        sum += y, squares += y * y, p->n_files++;
        p->least = fmin(p->least, y), p->most = fmax(p->most, y);
    }
    double n = (double)p->n_files;
    p->y = sum / n;
    p->error = p->n_files > 1 ? sqrt(fmax(squares - n * p->y * p->y, 0) / (n - 1) / n) : 0;
    return i;
}

int series_read(Series *s, const char *const *paths, size_t n, const SeriesWish *w, char *err, size_t errlen) {
    Rows r = {0};
    int rc = 0;
    *s = (Series){0};
    for (size_t i = 0; i < n && rc == 0; i++) rc = take_file(&r, paths[i], w, i, err, errlen);
    if (rc == 0 && r.n == 0)
        rc = base_error(err, errlen, -EINVAL, "%s: no row has numbers for %s and %s", paths[0], w->x, w->y);
    if (rc == 0 && !(s->at = calloc(r.n, sizeof *s->at))) rc = base_error(err, errlen, -ENOMEM, "out of memory");
    if (rc == 0) {
        qsort(r.rows, r.n, sizeof *r.rows, by_x);
        for (size_t i = 0; i < r.n;) i = point_of(&s->at[s->n++], &r, i);
    }
    free(r.rows);
    return rc;
}

void series_free(Series *s) {
    free(s->at);
    *s = (Series){0};
}
