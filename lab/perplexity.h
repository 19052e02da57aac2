/* lab/perplexity.h - how well a model foresees a text: the negative log-likelihood of its ids.
 *
 *     Perplexity p = {0};
 *     perplexity_add(&p, &session, ids, n, bos, window, err, errlen);       once for each text
 *     printf("%g\n", exp(perplexity_mean(&p))); */
#ifndef PERPLEXITY_H
#define PERPLEXITY_H

#include "model/session.h"

typedef struct {
    double nll_sum;     /* nats: sum of -ln p(id | what stands before it in its window) */
    double nll_squares; /* sum of the squares of these */
    size_t tokens;      /* ids scored */
    size_t windows;     /* pieces that began from BOS */
} Perplexity;

double perplexity_mean(const Perplexity *p);   /* nats a token; 0 where nothing was scored */
double perplexity_stderr(
    const Perplexity *p); /* standard error of that mean, as if tokens were independent; 0 below two */

/* Score ids [n] (with no BOS among them) and add to p. They are cut into windows of `window` positions, window >= 2:
 * each is bos and the next window-1 ids, and every id after bos is scored. bos -1: the first id of a window takes its
 * place and is not scored. The session is rewound for each window; its n_ctx must hold one, or all ids and bos where
 * these are fewer. Errors: those of session_eval. */
int perplexity_add(Perplexity *p, Session *s, const int *ids, size_t n, int bos, size_t window, char *err,
                   size_t errlen);

/* The next document of a text: documents stand between lines that hold exactly `separator`; the newline before such a
 * line and the text's last newline belong to no document. *at walks from 0; 1 while there is one, 0 at the end. An
 * empty document has *len 0. separator NULL: the whole text, byte for byte, is one document. */
int perplexity_document(const char *text, size_t n, const char *separator, size_t *at, const char **doc, size_t *len);

#endif
