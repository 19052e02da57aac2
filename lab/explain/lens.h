/* lab/explain/lens.h - what each layer would say next: the final norm and the output applied to the residual behind it
 * (nostalgebraist's logit lens). It is the model with its upper layers left out, and so computed: a view of the model
 * that has fewer of them. */
#ifndef LENS_H
#define LENS_H

#include "model/model.h"
#include "text/texts.h"

/* best[(l * n + t) * k]: the k most probable ids behind id t of ids [n] after layer l, with their probabilities, best
 * first. Causal models: what comes next; encoders: what stands there. progress as in session.h. Errors: those of
 * session_init, session_eval and encoder_read; -EINVAL (a model without a head for logits). */
int lens_read(Candidate *best, size_t k, const Model *m, const int *ids, size_t n, int threads,
              int (*progress)(void *arg, size_t done, size_t total), void *arg, char *err, size_t errlen);

#endif
