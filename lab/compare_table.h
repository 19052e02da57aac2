/* lab/compare_table.h - the cells of a comparison as a CSV file, which can be gone on with and joined with others.
 *
 *     CompareTable t = {0};
 *     compare_table_head(&t, "# model: ..\n# cut: ..\n", 0, err, errlen);
 *     compare_table_add(&t, &cell, "this run", err, errlen);
 *     compare_put_head(f, &t);
 *     for each cell: compare_put_cell(f, &t, cell);
 *     compare_table_free(&t);
 *
 * The file: comments that say what was measured ("# key: value"), the columns' names, and cells. Before a cell stands
 * "# cell: SPEC", the method with all its numbers. Tables may be joined where all their comments are the same, but the
 * names of files (keys that end in "file"). A table by position has a cell for each bin of positions. */
#ifndef COMPARE_TABLE_H
#define COMPARE_TABLE_H

#include <stddef.h>
#include <stdio.h>

#define COMPARE_HEAD "# compare: " /* what a head begins with */
#define COMPARE_COLUMNS "rope,length,nll,stderr,tokens,entropy" /* entropy is empty where it was not measured */
#define COMPARE_COLUMNS_BY_POSITION "rope,length,position,nll,stderr,tokens"

typedef struct {
    char *rope;               /* the spec as it was given, without control characters */
    char *spec;               /* with all its numbers; NULL: not said */
    size_t length;
    size_t position;          /* by position: the bin's first; else 0 */
    double nll, error;        /* mean loss, its standard error; NaN where the model's logits were no numbers */
    double entropy;           /* NaN: not measured */
    size_t tokens;
} CompareCell;

typedef struct {
    char *head;               /* "# key: value" lines */
    int by_position;
    CompareCell *cells;
    size_t n, cap;
} CompareTable;

/* Every function that returns int returns 0 or a negative errno and a line in err. */
void compare_table_free(CompareTable *t); /* accepts a zeroed struct */
int compare_table_head(CompareTable *t, const char *head, int by_position, char *err, size_t errlen);

/* A copy of c, its strings too. A cell that is there already stays once, where the numbers are the same but for
 * rounding (1e-5: machines differ in the last bits; the lesser stays); -EEXIST where they are not. name: whose c is,
 * for err. */
int compare_table_add(CompareTable *t, const CompareCell *c, const char *name, char *err, size_t errlen);
const CompareCell *compare_table_find(const CompareTable *t, const char *rope, size_t length, size_t position);

/* All cells of a CSV text [n] into t, whose head and columns they must have (t->head NULL: it becomes the text's).
 * Tables may stand one behind the other. Rows come in cells of `group` (bins; else 1), and an unfinished cell or line
 * at the end is no error: *whole is where the last finished cell ends; 0: not even the head is finished. -EINVAL: it is
 * no such table, or another's. */
int compare_table_read(CompareTable *t, const char *name, const char *text, size_t n, size_t group, size_t *whole,
                       char *err, size_t errlen);

/* By method, as they stand in order [n_order] and then by name, by length, by position. */
void compare_table_sort(CompareTable *t, const char *const *order, size_t n_order);

/* A value of the head, without its end; 0: there is none. */
size_t compare_head_value(const char *head, const char *key, const char **value);

void compare_put_head(FILE *f, const CompareTable *t); /* and the columns' names */
/* With its spec, but where the cell before it (NULL: none) says the same. */
void compare_put_cell(FILE *f, const CompareTable *t, const CompareCell *c, const CompareCell *before);

#endif
