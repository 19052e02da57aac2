/* lab/perplexity.h - how well a model foresees a text: the negative log-likelihood of its ids.
 *
 *     Perplexity p = {0};
 *     perplexity_add(&p, &session, ids, n, bos, window, err, errlen);       once for each text
 *     printf("%g\n", exp(perplexity_mean(&p)));
 *
 * and cut in another way (cuts.h), by position in the window:
 *
 *     PerplexityBins by;
 *     perplexity_bins_init(&by, cut.window, 0, err, errlen);
 *     for (CutWindow w = {0}; rc == 0 && cut_next(&cut, n, &w);)
 *         rc = perplexity_window(&p, &session, ids, &cut, &w, &by, err, errlen); */
#ifndef PERPLEXITY_H
#define PERPLEXITY_H

#include "cuts.h"

#include "model/timeline.h"

typedef struct {
    double nll_sum;     /* nats: sum of -ln p(id | what stands before it in its window) */
    double nll_squares; /* sum of the squares of these */
    size_t tokens;      /* ids scored */
    size_t windows;     /* pieces that began from BOS */
    /* Where the result is a mean of windows' means: their weights, and these means by weight; where all windows count
     * alike, the squares of the means. */
    double weight, weighted_sum, alike_squares;
} Perplexity;

/* -ln softmax(logits)[id], in double; logits [vocab_size], m's. */
double perplexity_nll(const Model *m, const float *logits, int id);

void perplexity_count(Perplexity *p, double nll); /* one id more, scored */

/* Nats a token; 0 where nothing was scored. Of the ids, or of the windows' means where the cut says so. */
double perplexity_mean(const Perplexity *p);
/* Standard error of that mean, as if ids (where windows count alike: windows) were independent; 0 below two. */
double perplexity_stderr(const Perplexity *p);

/* Score ids [n] (with no BOS among them) and add to p. They are cut into windows of `window` positions, window >= 2:
 * each is bos and the next window-1 ids, and every id after bos is scored. bos -1: the first id of a window takes its
 * place and is not scored. The session is rewound for each window; its n_ctx must hold one, or all ids and bos where
 * these are fewer. Errors: those of session_eval. */
int perplexity_add(Perplexity *p, Session *s, const int *ids, size_t n, int bos, size_t window, char *err,
                   size_t errlen);

/* Loss by position: an id's position is the number of ids before it in its window, BOS included. Bin i holds positions
 * i width .. (i+1) width - 1, the last one up to the window's end. */
typedef struct {
    Perplexity *at; /* [n]: sums and tokens */
    size_t n, width, window;
} PerplexityBins;
/* width 0: a sixteenth of the window, at least 1. Errors: -ENOMEM, -EINVAL (wider than the window). */
int perplexity_bins_init(PerplexityBins *b, size_t window, size_t width, char *err, size_t errlen);
void perplexity_bins_free(PerplexityBins *b); /* accepts a zeroed struct */

/* The session, rewound, reads a window ids [n]: each(arg, i, logits), in order, of the logits that foretell id i + 1,
 * from id `first` (1 .. n-1) to the last. That one is not read itself, for nothing follows it, but counts where
 * frequencies go by the length, as in a model that is given the whole window. before: the positions before it of
 * `total`, for progress. Errors: those of session_eval. */
int perplexity_read(Session *s, const int *ids, size_t n, size_t first, SessionEach *each, void *arg, size_t before,
                    size_t total, char *err, size_t errlen);

/* One window of a text, ids [..]: the session is rewound, reads it, and its scored ids are added to p, and to by where
 * that is not NULL. A window that scores nothing is not read. Ids before those that are scored cost no logits. Errors:
 * those of session_eval; -EINVAL for an id outside the vocabulary; -ENOMEM. */
int perplexity_window(Perplexity *p, Session *s, const int *ids, const Cut *cut, const CutWindow *w,
                      PerplexityBins *by, char *err, size_t errlen);

#endif
