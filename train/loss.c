/* train/loss.c - cross entropy, fused with the softmax that it is of: with p = softmax(z), the loss -log p_y of target
 * y has the gradient dz = p - e_y. */
#include "parts.h"

#include <math.h>
#include <string.h>

/* One token's logits z [n] become their gradient, times scale; returns the loss. right: no logit was larger. */
static double cross_entropy(const TrainKernels *k, float *z, size_t n, size_t target, float scale, uint8_t *right) {
    float of_target = z[target], max = k->largest(z, n);
    *right = of_target == max;
    double below = (double)of_target - max, sum = k->exp(z, n, 1, max);
    float by = (float)(scale / sum);
    for (size_t i = 0; i < n; i++) z[i] *= by;
    z[target] -= scale;
    return log(sum) - below;
}

/* The rows of x that have a target, LOSS_ROWS at most from *t on, into room; their numbers in which. */
static size_t gather(Work *k, size_t *which, float *room, const float *x, const int *targets, size_t d, size_t *t,
                     size_t n) {
    size_t found = 0;
    for (; *t < n && found < LOSS_ROWS; ++*t)
        if (targets[*t] >= 0) which[found++] = *t;
    for (Share i = team_share(&k->team, found); i.at < i.end; i.at++)
        memcpy(room + i.at * d, x + which[i.at] * d, d * sizeof *x);
    team_wait(&k->team);
    return found;
}

void loss_of(Work *k, double *loss, uint8_t *right, float *dx, const float *x, const int *targets, const Param *w,
             const Param *b, size_t n, size_t total, float *room) {
    size_t d = w->cols, vocabulary = w->rows, which[LOSS_ROWS];
    float *rows = room, *logits = room + LOSS_ROWS * d;
    for (Share t = team_share(&k->team, n); t.at < t.end; t.at++) {
        loss[t.at] = right[t.at] = 0;
        if (dx) memset(dx + t.at * d, 0, d * sizeof *dx);
    }
    for (size_t t = 0; t < n;) {
        size_t m = gather(k, which, rows, x, targets, d, &t, n);
        linear_forward(k, logits, 0, rows, w, b, m);
        for (Share i = team_share(&k->team, m); i.at < i.end; i.at++)
            loss[which[i.at]] = cross_entropy(k->k, logits + i.at * vocabulary, vocabulary,
                                              (size_t)targets[which[i.at]], 1 / (float)total, &right[which[i.at]]);
        team_wait(&k->team);
        if (!dx) continue;
        work_product(k, w->g, d, 1, (Floats){logits, 1, vocabulary}, (Floats){rows, d, 1}, vocabulary, d, m);
        if (b) work_sum_columns(k, b->g, logits, NULL, NULL, m, vocabulary);
        work_product(k, rows, d, 0, (Floats){logits, vocabulary, 1}, (Floats){w->w, d, 1}, m, d, vocabulary);
        for (Share i = team_share(&k->team, m); i.at < i.end; i.at++)
            memcpy(dx + which[i.at] * d, rows + i.at * d, d * sizeof *dx);
        team_wait(&k->team);
    }
    team_wait(&k->team);
}
