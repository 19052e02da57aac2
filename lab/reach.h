/* lab/reach.h - what a model's RoPE can do: how far each pair turned in training, and what a method makes of it in a
 * longer text.
 *
 *     Reach p;
 *     rc = reach_init(&p, &model, 4096, err, errlen);             the pairs
 *     rc = reach_add(&p, &model, "yarn", err, errlen);            once for each method
 *     rc = reach_svg(&text, &p, "model.gguf", NULL, err, errlen);
 *     reach_free(&p); */
#ifndef REACH_H
#define REACH_H

#include "model/model.h"
#include "lab/plot/plot.h"
#include "rope/spec.h"

enum { REACH_MOST = 16 };

typedef struct {
    char name[64];           /* its specs' parts, without keys */
    char spec[ROPE_SPEC_MOST];
    double inv_freq[ROPE_MAX_PAIRS]; /* at the end of the text */
    double scale;            /* on scores: of the method's magnitude, and of score methods there */
    double farthest;         /* the largest distance that the last query sees a key at, in positions, in any layer and
                              * head; 0: none rotates */
    int64_t keys;            /* that it sees, in the layer that sees most; infllm: at most */
    int unseen;              /* pairs that meet angles there which they never had in training */
} ReachMethod;

typedef struct {
    int64_t trained, context;
    int n_pairs, n_full;     /* n_full: pairs that made a full turn in training; they have had every angle */
    double inv_freq[ROPE_MAX_PAIRS]; /* as trained */
    ReachMethod *methods;     /* [n_methods], owned */
    size_t n_methods;
} Reach;

/* context 0: four times the trained one. */
int reach_init(Reach *p, const Model *m, int64_t context, char *err, size_t errlen);
int reach_add(Reach *p, const Model *m, const char *spec, char *err, size_t errlen); /* a method, at that context */
void reach_free(Reach *p); /* accepts a zeroed struct */

double reach_turns(const Reach *p, int pair); /* full turns within the trained context */
enum { REACH_RINGS = 7 };
/* A dial for each pair: what it turned in training, and rings of what it turns by the first REACH_RINGS methods, in the
 * colours of styles [n_methods] (plot.h), by their places where that is NULL. 0, or -ENOMEM. */
int reach_svg(PlotText *out, const Reach *p, const char *title, const int *styles, char *err, size_t errlen);

#endif
