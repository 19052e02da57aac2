/* lab/explain/heads.c - see heads.h. */
#include "heads.h"

#include <math.h>

const char *const head_names[] = {"none", "previous token", "first token", "local", "induction"};

void head_kind(HeadKind *out, const Trace *t, int l, int h, size_t begin, size_t period, double *weights) {
    size_t n = t->n, queries = 0;
    *out = (HeadKind){0};
    trace_weights(t, l, h, weights);
    for (size_t m = begin + period; m < n && m < begin + 2 * period; m++, queries++) {
        const double *row = weights + m * n;
        double sum = 0;
        for (size_t j = 0; j < n; j++) sum += isnan(row[j]) ? 0 : fabs(row[j]);
        for (size_t j = 0; j < n && sum > 0; j++) {
            double share = isnan(row[j]) ? 0 : fabs(row[j]) / sum;
            if (j + 1 == m) out->previous += share;
            if (j == 0) out->first += share;
            if (j <= m && m - j < 4) out->local += share;
            if (j == m - period + 1) out->induction += share;
        }
    }
    if (queries == 0) return;
    double *shares[] = {&out->induction, &out->previous, &out->first, &out->local};
    static const struct { HeadName name; double least; } rules[] = {
        {HEAD_INDUCTION, 0.4}, {HEAD_PREVIOUS, 0.4}, {HEAD_FIRST, 0.5}, {HEAD_LOCAL, 0.6}};
    for (int i = 0; i < 4; i++) {
        *shares[i] /= (double)queries;
        out->score = fmax(out->score, *shares[i]);
    }
    for (int i = 3; i >= 0; i--)
        if (*shares[i] >= rules[i].least) out->name = rules[i].name, out->score = *shares[i];
}
