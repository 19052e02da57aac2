/* lab/csv.h - tables with commas, as this program and others write them (RFC 4180; lines that begin with # are notes).
 *
 *     const char *paths[] = {"seed1.csv", "seed2.csv", "seed3.csv"};
 *     Series s = {0};
 *     int rc = series_read(&s, paths, 3, &(SeriesWish){.x = "step", .y = "loss", .bin = 50}, err, sizeof err);
 *     if (rc == 0) ... s.at[i].x, .y, .error ...
 *     series_free(&s); */
#ifndef CSV_H
#define CSV_H

#include <stddef.h>

/* line, NUL-terminated, is cut in place; how many fields it has, 0 where it is broken or has more than `most`. */
size_t csv_cut(char *line, char **fields, size_t most);

typedef struct {
    const char *x, *y;      /* columns */
    const char *where;      /* "column=value[,column=value..]": only rows that say so; NULL: all */
    double bin;             /* x up to the next multiple of it; 0: as it is */
} SeriesWish;

/* At x the mean of the files' y, its standard error, and its ends. */
typedef struct { double x, y, error, least, most; size_t n_files; } SeriesPoint;
typedef struct { SeriesPoint *at; size_t n; } Series; /* by x */

/* What several files say of one thing: a file's rows of one x are averaged first. Rows without a number in x or y are
 * left out. 0 or a negative errno and a line: -EINVAL (no such column, a broken line, nothing left), -ENOMEM, those of
 * opening. */
int series_read(Series *s, const char *const *paths, size_t n, const SeriesWish *w, char *err, size_t errlen);
void series_free(Series *s); /* accepts a zeroed struct */

#endif
