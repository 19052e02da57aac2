/* lab/explain/heads.h - what the heads of attention do, told by where they look while a text is read twice in a row. */
#ifndef HEADS_H
#define HEADS_H

#include "trace.h"

typedef enum { HEAD_NONE, HEAD_PREVIOUS, HEAD_FIRST, HEAD_LOCAL, HEAD_INDUCTION } HeadName;
extern const char *const head_names[]; /* "none", "previous token", "first token", "local", "induction" */

/* Shares of a query's weight, mean over the queries of the second reading (linear attention: of the weights' absolute
 * values): on the token before; on the text's first token; on itself and the three before; on the token that came, the
 * first time, behind the one that is read now (Olsson et al., arXiv:2209.11895). */
typedef struct {
    double previous, first, local, induction;
    HeadName name; /* induction or previous token from 0.4 on, first token from 0.5, local from 0.6, in this order */
    double score;  /* the share that it is called by; none: the largest of them */
} HeadKind;

/* Head h of layer l. t has read begin tokens, then period, then the same period again. weights [n, n] is scratch, and
 * holds the head's weights after it. */
void head_kind(HeadKind *out, const Trace *t, int l, int h, size_t begin, size_t period, double *weights);

#endif
