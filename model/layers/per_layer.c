/* model/layers/per_layer.c - per_layer.h's two lines. */
#include "per_layer.h"

#include "experts.h"
#include "kernels/kernels.h"
#include "model/steps.h"
#include "scratch.h"

#include <math.h>

void per_layer_embed(Session *s, size_t n) {
    const Config *c = &s->model->config;
    const Decoder *x = c->decoder;
    Scratch *w = s->scratch;
    size_t p = (size_t)x->per_layer, layers = x->per_layer_rows.cols / p, d = (size_t)c->d_model;
    float *e = w->more->per_layer, *row = w->more->per_layer_row;
    Packed a = step_pack(s, w->x, n, d, &x->per_layer_proj);
    step_linear_nowait(s, e, &a, &x->per_layer_proj, NULL);
    team_wait(&w->team);
    const float narrow = 1 / sqrtf((float)d), wide = sqrtf((float)p), half = sqrtf(0.5f);
    for (Share t = team_share(&w->team, n); t.at < t.end; t.at++) {
        matrix_row(row + t.at * layers * p, &x->per_layer_rows, (size_t)w->tokens[t.at].id);
        for (size_t l = t.at * layers; l < (t.at + 1) * layers; l++) {
            for (size_t i = l * p; i < (l + 1) * p; i++) e[i] *= narrow;
            s->model->kernels->vec->rmsnorm(e + l * p, e + l * p, x->per_layer_norm, p, c->norm_eps);
            for (size_t i = l * p; i < (l + 1) * p; i++) e[i] = (e[i] + wide * row[i]) * half;
        }
    }
    team_wait(&w->team);
}

void per_layer_branch(Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    const LayerMore *m = s->model->layers[l].more;
    Scratch *w = s->scratch;
    size_t p = (size_t)c->decoder->per_layer, layers = c->decoder->per_layer_rows.cols / p;
    float *gate = w->more->per_layer_row; /* whose rows are in e by now */
    Packed a = step_pack(s, w->x, n, (size_t)c->d_model, &m->per_layer_gate);
    step_linear_nowait(s, gate, &a, &m->per_layer_gate, NULL);
    team_wait(&w->team);
    for (Share t = team_share(&w->team, n); t.at < t.end; t.at++)
        layers_activate(s, gate + t.at * p, w->more->per_layer + (t.at * layers + (size_t)l) * p, p);
    a = step_pack(s, gate, n, p, &m->per_layer_out);
    step_linear_nowait(s, w->more->branch, &a, &m->per_layer_out, NULL);
    team_wait(&w->team);
}
