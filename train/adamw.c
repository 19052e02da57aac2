/* train/adamw.c - one step of AdamW:
 *
 *     m = beta1 m + (1 - beta1) g        v = beta2 v + (1 - beta2) g^2
 *     w = w - rate decay w - rate m' / (sqrt(v') + eps)        m' = m / (1 - beta1^t), v' = v / (1 - beta2^t) */
#include "adamw.h"

#include <math.h>
#include <stdlib.h>

const AdamW adamw_usual = {.beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .decay = 0.1, .clip = 1};

enum { LOT = 4096, MOST_SUMS = 1024 };

typedef struct {
    Work *w;
    Params *p;
    const AdamW *o;
    double rate;
    uint64_t step;
    size_t per_sum;          /* lots that one sum is of */
    double sums[MOST_SUMS];
    float by;                /* what gradients are multiplied by */
} Job;

static void add_squares(void *arg) {
    Job *j = arg;
    const float *g = j->p->memory + j->p->floats;
    size_t floats = j->p->floats, chunk = j->per_sum * LOT;
    for (Share s = team_share(&j->w->team, (floats + chunk - 1) / chunk); s.at < s.end; s.at++) {
        double sum = 0;
        for (size_t i = s.at * chunk; i < floats && i < (s.at + 1) * chunk; i++) sum += (double)g[i] * g[i];
        j->sums[s.at] = sum;
    }
}

static void change(void *arg) {
    const Job *j = arg;
    const AdamW *o = j->o;
    float beta1 = (float)o->beta1, beta2 = (float)o->beta2, eps = (float)o->eps,
          rest1 = (float)(1 - o->beta1), rest2 = (float)(1 - o->beta2), /* a float near 1 is no measure of its rest */
          first = (float)(j->rate / (1 - pow(o->beta1, (double)j->step))),
          second = (float)(1 / sqrt(1 - pow(o->beta2, (double)j->step)));
    for (size_t k = 0; k < j->p->n; k++) {
        const Param *p = &j->p->at[k];
        float keep = p->decays ? (float)(1 - j->rate * o->decay) : 1;
        for (Share s = team_share(&j->w->team, (p->rows * p->cols + LOT - 1) / LOT); s.at < s.end; s.at++) {
            size_t end = (s.at + 1) * LOT < p->rows * p->cols ? (s.at + 1) * LOT : p->rows * p->cols;
            for (size_t i = s.at * LOT; i < end; i++) {
                float g = p->g[i] * j->by;
                p->m[i] = beta1 * p->m[i] + rest1 * g;
                p->v[i] = beta2 * p->v[i] + rest2 * g * g;
                p->w[i] = p->w[i] * keep - first * p->m[i] / (sqrtf(p->v[i]) * second + eps);
            }
        }
    }
}

double adamw_step(Work *w, Params *p, const AdamW *o, double rate, uint64_t step) {
    size_t lots = (p->floats + LOT - 1) / LOT;
    double square = 0;
    Job j = {.w = w, .p = p, .o = o, .rate = rate, .step = step, .by = 1};
    j.per_sum = (lots + MOST_SUMS - 1) / MOST_SUMS;
    team_run(&w->team, w->team.most, add_squares, &j);
    for (size_t i = 0; i < MOST_SUMS; i++) square += j.sums[i];
    double norm = sqrt(square);
    if (!isfinite(norm)) return norm;
    if (o->clip > 0 && norm > o->clip) j.by = (float)(o->clip / norm);
    team_run(&w->team, w->team.most, change, &j);
    return norm;
}

double rate_at(double rate, double least, uint64_t warmup, uint64_t step, uint64_t steps) {
    if (step < warmup) return rate * (double)(step + 1) / (double)(warmup + 1);
    if (step >= steps || steps <= warmup) return rate * least;
    double way = (double)(step - warmup) / (double)(steps - warmup);
    return rate * (least + (1 - least) * (1 + cos(3.141592653589793 * way)) / 2);
}
