/* lab/proof.h - does a model see distances alone? The same text is read from two positions on, and what it expects is
 * compared. With RoPE's angles rounded as other programs round them, the same comparison says what that costs.
 *
 *     Proof p;
 *     rc = proof_run(&p, &model, (ProofPlace){0}, (ProofPlace){.origin = 1000}, ids, n, threads, NULL, NULL, err,
 *                    errlen); */
#ifndef PROOF_H
#define PROOF_H

#include "model/session.h"
#include "rope/angles.h"

typedef struct {
    size_t tokens;         /* rows of logits that were compared; ids scored is one less */
    double logit_off;      /* the largest difference of two logits */
    double logit_ulps;     /* the same, in units in the last place of its row's largest logit */
    double nll_off;        /* the largest difference of an id's loss, nats */
    double nll[2];         /* mean loss at either place */
} Proof;

typedef struct {
    size_t origin;             /* where the text's first id stands */
    const RopeAngles *angles;  /* NULL: in double */
} ProofPlace;

/* ids [n], n >= 2, read from a and from b. progress, where it is not NULL, is called between pieces with the ids done;
 * non-zero stops (-EINTR). 0, or a negative errno and a line (-EINVAL: the angles need another method;
 * the position is too far). */
int proof_run(Proof *p, const Model *m, ProofPlace a, ProofPlace b, const int *ids, size_t n, int threads,
              int (*progress)(void *arg, size_t done, size_t total), void *arg, char *err, size_t errlen);

#endif
