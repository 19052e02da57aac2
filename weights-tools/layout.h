/* weights-tools/layout.h - which entries of a head make a pair: what a file says, and what its weights want. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include "rope/rope.h"

#include <stddef.h>

typedef struct {
    double loss[2];    /* nats a token of a sentence, by RopePairing */
    RopePairing says;  /* the file, or who made its format */
    RopePairing wants; /* the smaller loss */
    size_t n;          /* tokens of the sentence */
} LayoutCheck;

/* Read a sentence twice, in either layout. tokenizer NULL: the model's own. 0, or a negative errno and a line: what
 * model_open and vocabulary_open say; -EINVAL (a model that does not read from left to right, or whose RoPE turns less
 * than four entries, where both layouts are one). */
int layout_check(LayoutCheck *out, const char *path, const char *tokenizer, char *err, size_t errlen);

#endif
