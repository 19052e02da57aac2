/* lab/lesson/places.h - a model whose tokens stand where a file says: RoPE turns by these positions, who sees whom goes
 * by the order of the tokens.
 *
 *     Places p;
 *     rc = places_read(&p, text, n_bytes, "positions.txt", axes_kind("mrope"), err, errlen);
 *     Probe probe;
 *     probe_init(&probe, &p, NULL, places_turn);
 *     places_free(&p); */
#ifndef PLACES_H
#define PLACES_H

#include "model/probe.h"
#include "rope/axes.h"

typedef struct {
    double *at;           /* [n, n_axes] */
    size_t n;
    int n_axes;           /* 1: RoPE as it is */
    const AxesKind *kind; /* which pair turns by which coordinate; unused where n_axes is 1 */
} Places;

/* A line a token, one, two or three numbers, the same number of them in each; what follows a # is a remark, empty lines
 * are none. kind NULL: tie for two, mrope for three. 0, or -EINVAL and a line with the number of the line that is
 * wrong; -ENOMEM. */
int places_read(Places *p, const char *text, size_t n, const char *name, const AxesKind *kind, char *err,
                size_t errlen);
void places_free(Places *p); /* accepts a zeroed struct */
/* A ProbeTurn; arg is the Places, which has at least as many tokens as are read. */
void places_turn(void *arg, const Session *s, int l, size_t t, size_t head, double *cos, double *sin);

#endif
