/* cli/lines.h - lines of text through a model: what the commands fill, embed, classify and rank share (lines.c). */
#ifndef LINES_H
#define LINES_H

#include "cli.h"
#include "model/encoder.h"
#include "text/sentence.h"

typedef struct Lines Lines;
/* What a command does with text i of those that were read: an exit code. */
typedef int LineWork(Lines *l, size_t i);
/* What it needs of the model; width: floats that work wants for one vector. 0, or an exit code. */
typedef int LinesCheck(Lines *l, size_t *width);

struct Lines {
    Engine e;
    const Args *a;
    Texts texts;
    char **line;    /* [cap]: the lines that texts holds, malloc'ed; with --pair two texts are a line's */
    size_t *len;    /* [cap]: their bytes; a line may hold a NUL */
    size_t n, cap;
    size_t numbers; /* lines seen so far: the number of the next */
    size_t most;    /* tokens that are read at a time */
    LineWork *work;
    int (*begin)(Lines *l), (*end)(Lines *l); /* before the first line, behind the last; NULL: nothing more */
    float *vector;  /* [2, width]: scratch for work */
    Candidate *candidates;
    const char *mask;           /* what this vocabulary calls [MASK]; NULL: nobody asks */
    const char *prompt;         /* what stands in front of each text; NULL: nothing */
    const char *before, *after; /* around both, control tokens counting as such; NULL: what the tokenizer puts there */
    int longer;                 /* 1: a text was longer than Sentence.longest, and a note said so */
    int whole;                  /* 1: a tab parts no text */
    int mask_id;
    int text_is_query; /* the text of the command line is no line */
    Sentence sentence; /* embed's and rank's */
    size_t dimensions; /* of a vector that is cut; 0: it is whole */
    void *own;         /* the command's */
};

/* Lines of -f FILE or stdin, or the one text of the command line, each given to work when it was read: an exit code. */
int run_lines(Lines *l, Args *a, LinesCheck *check, LineWork *work);
double sigmoid(double x);
extern const char *const rank_ways[]; /* --by of rank (embed.c) */
int lines_add(Lines *l, const char *line, size_t len); /* one line more, beside those that are read */

#endif
