/* cli/rope/rope.h - what the topics of the command rope share: frequencies, a model's or the paper's. */
#ifndef ROPE_CLI_H
#define ROPE_CLI_H

#include "cli/cli.h"
#include "rope/numbers.h"

typedef struct {
    Args *a;
    Engine e;        /* open where a MODEL is named */
    RopeConfig config;
    RopeNumbers *numbers; /* without a model: owned, for --rope */
    Rope rope;
    int d;           /* entries of a head: config.rotary_dim of them turn */
    int64_t trained; /* 0: not known */
    char of[200];    /* "tales-1m.gguf" or "theta 10000, 8 entries": what it is of */
} Lesson;

/* The frequencies of the model that word i of the command line names, where there are so many, else --theta's and
 * --dims' (usual_dims). used: the options that the topic takes, " --theta  --dims ". An exit code; lesson_close comes
 * in any case. */
int lesson_open(Lesson *x, Args *a, int i, int usual_dims, const char *used);
void lesson_close(Lesson *x);
int lesson_numbers(const char *option, const char *list, double *out, int most, int *n); /* an exit code */
size_t lesson_positions(const Lesson *x, size_t usual); /* --positions */

int rope_table(Args *a), rope_clock(Args *a), rope_turn(Args *a), rope_decay(Args *a), rope_wavelengths(Args *a),
    rope_matrix(Args *a), rope_relatively(Args *a), rope_axes(Args *a);

#endif
