/* cli/compare.h - what the files of the command compare share: compare.c (what is to be measured), compare_cells.c
 * (measuring), compare_show.c (what comes out), compare_jobs.c (the same on several machines). recall and passkey take
 * their models, methods and texts as it does. */
#ifndef COMPARE_CLI_H
#define COMPARE_CLI_H

#include "cli.h"
#include "lab/compare.h"
#include "lab/compare_table.h"
#include "rope/scaling.h"

enum { COMPARE_ROPES = 64, COMPARE_LENGTHS = 32, COMPARE_BINS = 32 };

typedef struct {
    Args *a;
    Engine e;
    char *ropes[COMPARE_ROPES]; /* as given */
    size_t lengths[COMPARE_LENGTHS]; /* ascending; by position: one */
    size_t n_ropes, n_lengths;
    int *ids, bos;
    size_t n_ids;
    CompareCut cut;
    size_t bin, windows; /* by position */
    CacheType cache;
    CompareTable table;  /* the cells that are there */
    /* compare_cells.c */
    FILE *file;          /* --resume's, behind its last cell */
    size_t cell, n_cells;      /* that is being measured, of those to be measured */
    double work_done, work, work_cell, start, drawn; /* multiplications of the cells; seconds */
} Comparison;

/* Functions that return int return 0 or an exit code after saying why. */

int compare_ropes(Comparison *c);   /* --rope */
int compare_lengths(Comparison *c); /* --lengths; none where it is not given */
int compare_read(Comparison *c);    /* the text of -f as ids, and bos */
int compare_cache(Comparison *c);   /* cache: --kv's, or the model's usual one */
uint64_t compare_draw(const Comparison *c, size_t i); /* a random number by --seed: the i-th, the same for all cells */

const char *compare_said(const char *rope); /* a spec as a heading: what "file" means, in words */

/* model is the engine's stretched by rope to length; numbers is its memory. */
int compare_view(const Comparison *c, Model *model, RopeNumbers *numbers, const char *rope, size_t length);
/* What rope becomes at that length, with all its numbers, into spec [size, at least ROPE_SPEC_MOST]. An exit code. */
int compare_spec(const Comparison *c, const char *rope, size_t length, char *spec, size_t size);
int compare_measure(Comparison *c); /* all cells that are not in the table */
size_t compare_rows(const Comparison *c); /* of a cell */

int compare_show(Comparison *c);    /* the table, as the options ask */
int compare_check_svg(const Args *a, size_t n_series); /* do so many fit --svg's chart? */
/* May the picture of the entropy beside it be written? Before files_opened; the table is what is known of it. */
int compare_check_entropy(const Comparison *c);
/* CSV, malloc'ed [n], NULL without memory: the head, and the rows of a cell (NULL: none) that stand in the table. */
char *compare_text(const Comparison *c, int head, const CompareCell *cell, size_t *n);
/* That, to where it goes. A file that cannot be written says so by its ferror. */
int compare_stream(Comparison *c, int head, const CompareCell *cell);

int compare_jobs(const Comparison *c);
int compare_merge(Args *a);
void compare_free(Comparison *c);

#endif
