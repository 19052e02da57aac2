/* lab/compare.h - the loss of one text under many stretches of RoPE and many lengths of context: each on the same ids.
 *
 *     CompareCut cut = {.from = 4095, .score = 2048};            lengths up to 4096
 *     for each stretch (model_stretch) and length, s being a session of it with n_ctx = length:
 *         Perplexity p = {0};
 *         compare_cell(&p, &s, ids, n_ids, bos, &cut, length, err, errlen);
 *         perplexity_mean(&p), perplexity_stderr(&p)
 *
 * The cut. A text is one stream of ids, counted from 0. Scored are from .. from+score-1, in every cell. A window of
 * `length` positions is BOS and the length-1 ids up to and with the last that it scores, which are its last
 * max(1, length/4), or what is left of them: so each scored id has at least three quarters of the length before it, and
 * windows follow each other by a quarter. No cell sees anything before its window. bos -1: the window's first id is one
 * more of the text's. Windows of a cell have one model, session and cache in common, not what they read: an id stands
 * at another position in each. */
#ifndef COMPARE_H
#define COMPARE_H

#include "perplexity.h"

enum { COMPARE_LEAST_LENGTH = 2 };

typedef struct { size_t from, score; } CompareCut;

/* The least `from` that has room for windows of that length. */
size_t compare_from(size_t longest);
/* The windows of a cell, and the positions they read: each one less than it has, as nothing follows its last id. */
size_t compare_windows(const CompareCut *cut, size_t length);

/* Score the cut's ids with windows of length positions, and add to p. cut->from >= compare_from(length), from + score
 * <= n_ids; the session has n_ctx >= length. Its options.progress hears positions of the whole cell, and stops it
 * (-EINTR: p holds whole windows). A text's loss is as if each window were one call of session_eval_each. Errors: those
 * of session_eval; -EINVAL where the ids are too few. A session's meter (model/entropy.h) measures the queries whose
 * logits are scored. */
int compare_cell(Perplexity *p, Session *s, const int *ids, size_t n_ids, int bos, const CompareCut *cut, size_t length,
                 char *err, size_t errlen);

/* Loss by position: `windows` windows that follow each other from the text's first id, of length positions, and all of
 * their ids scored: the one at position i of a window (BOS stands at 0) is added to bins[i / bin]. Whole windows only,
 * as many as compare_whole says at most. Else as compare_cell. */
int compare_by_position(Perplexity *bins, size_t bin, Session *s, const int *ids, size_t n_ids, int bos, size_t windows,
                        size_t length, char *err, size_t errlen);
size_t compare_whole(size_t n_ids, int bos, size_t length);

#endif
