/* model/attend_texts.c - see attend_texts.h. A batch is a row of groups: the tokens of a group see the same keys, each
 * other and all groups of their text before. The state takes a group's keys in first, and then all its queries read. */
#include "attend_texts.h"

#include "attention/chunked.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

/* Where the group that begins with token t ends. */
static size_t group_end(const Scratch *w, size_t n, size_t t) {
    size_t end = t + 1;
    while (end < n && w->tokens[end].first == w->tokens[t].first && w->tokens[end].end == w->tokens[t].end)
        end++;
    return end;
}

static int is_padding(const Scratch *w, size_t t) { return w->tokens[t].slot == TOKEN_PADDING; }

static void denominators(Session *s, const LinearBatch *b, int l, int h) {
    const Scratch *w = s->scratch;
    const LinearConfig *c = &s->model->config.linear;
    LinearState *state = &s->past->state;
    size_t head = (size_t)l * (size_t)state->n_heads + (size_t)h, rows = state->rows;
    for (size_t t = 0, end; t < b->n; t = end) {
        end = group_end(w, b->n, t);
        if (w->tokens[t].pos == 0) { /* a text begins */
            memset(state->z + head * rows, 0, rows * sizeof *state->z);
            state->top[head] = -INFINITY;
        }
        for (size_t i = t; i < end; i++)
            if (!is_padding(w, i)) linear_take_z(state, c, b, l, h, i);
        for (size_t i = t; i < end; i++) linear_read_z(state, c, b, l, h, i);
    }
}

/* Where the run of groups of one token, no padding, that begins with token t ends: with its text at the latest. */
static size_t run_end(const Scratch *w, size_t n, size_t t) {
    size_t end = t;
    while (end < n && group_end(w, n, end) == end + 1 && !is_padding(w, end) && (end == t || w->tokens[end].pos))
        end++;
    return end;
}

/* Tokens from `from` on, n of them, as a batch of their own. */
static LinearBatch part(const LinearBatch *b, size_t rows, size_t from, size_t n) {
    LinearBatch p = *b;
    p.n = n;
    p.q_num += from * rows, p.q_den += from * rows;
    p.k_num += from * rows, p.k_den += from * rows;
    p.k_log += from, p.keep += from, p.inverse += from;
    return p;
}

static void numerators(Session *s, const LinearBatch *b, int l, int h, size_t strip) {
    const Config *c = &s->model->config;
    const Scratch *w = s->scratch;
    LinearState *state = &s->past->state;
    double *room = s->past->chunk + (size_t)team_member() * s->past->chunk_doubles;
    size_t d = state->head_dim, n_bytes = state->rows * STATE_COLUMNS * sizeof *state->S;
    Strip p = strip_of(state, b, l, h, strip, s->model->kernels);
    for (size_t t = 0, end; t < b->n; t = end) {
        if (w->tokens[t].pos == 0) memset(p.S, 0, n_bytes);
        if (s->options.chunk > 1 && (end = run_end(w, b->n, t)) > t) {
            LinearBatch run = part(b, state->rows, t, end - t);
            linear_numerators_chunked(w->att + t * (size_t)c->n_heads * d, w->v + t * (size_t)c->n_kv_heads * d, state,
                                      &run, l, h, strip, s->options.chunk, room, s->model->kernels);
            continue;
        }
        end = group_end(w, b->n, t);
        int one = end == t + 1 && !is_padding(w, t); /* taken in and read at once */
        for (size_t i = t; i < end; i++)
            if (!is_padding(w, i)) strip_step(&p, one ? w->att : NULL, w->v, i, d, 1);
        for (size_t i = t; !one && i < end; i++) strip_step(&p, w->att, w->v, i, d, 0);
    }
}

const LinearSteps linear_texts = {denominators, numerators, linear_chunk_scratch};
