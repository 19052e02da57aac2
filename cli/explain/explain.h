/* cli/explain/explain.h - what the topics of the command explain share: a model, a text's ids and their words. */
#ifndef EXPLAIN_H
#define EXPLAIN_H

#include "cli/cli.h"
#include "lab/explain/trace.h"

typedef struct {
    Args *a;
    Engine e;
    int *ids;
    size_t n;
    char **words; /* [n]: explain_word of each id */
    Trace t;
} Explain;

/* The model and the text of the command line, BOS in front where the vocabulary has it; a RoFormer's [MASK] and the
 * like count as such. 0, or an exit code after saying why; explain_close comes in any case. */
int explain_open(Explain *x, Args *a);
/* What an id says: its piece, without the sign for a space in front of a word; a number where it says nothing.
 * malloc'ed; NULL without memory. Pieces are the model's file's, control characters and all. */
char *explain_word(const Tokenizer *t, int id);
/* A word among a table's, in so many columns; 0: in as many as it takes. What is no character to look at is "?". */
void explain_put_word(const char *word, size_t width);
void explain_close(Explain *x);
/* x->t: everything attention saw; of --layer alone where it is given. turn: other angles, or NULL. */
int explain_trace(Explain *x, ProbeTurn turn, void *turn_arg, size_t origin);
/* --layer, --head, --query and --key, in range; what is not given: layer 0, head 0, the last token, and the one before
 * it. An exit code. */
typedef struct { int layer, head; size_t query, key; } Place;
int explain_place(const Explain *x, Place *p);
/* The wavelength of pair i: four digits, or all in front of the point. text [WAVELENGTH_SIZE], which comes back. */
enum { WAVELENGTH_SIZE = 32 };
const char *explain_wavelength(char *text, const Explain *x, int i);
/* Options that this topic does not use: names with spaces around each, those it uses. An exit code. */
int explain_options(const Args *a, const char *used);
const char *explain_row_sums(const Config *c); /* what a row of weights adds up to, by where the rotation goes */
int explain_square(const Explain *x); /* refuses texts whose weights [n, n] would be too many */
/* Maps of all kept layers, a row each, of all heads or one, of one text read in n_traces ways, side by side. */
typedef struct {
    const char *title;
    const Trace *const *traces;
    const char *const *of; /* [n_traces]: what stands behind a head's number */
    size_t n_traces;
    int head; /* -1: all */
} Sheet;
int explain_sheet(Explain *x, const Sheet *want);
int explain_softmax(const Explain *x, const char *what); /* refuses linear attention */

int explain_map(Args *a), explain_heads(Args *a), explain_turn(Args *a), explain_score(Args *a),
    explain_slide(Args *a), explain_shift(Args *a), explain_pairing(Args *a), explain_use(Args *a),
    explain_state(Args *a), explain_lens(Args *a), explain_next(Args *a);

#endif
