/* model/steps.c - matrix times batch: what is done with every weight of a model. */
#include "steps.h"

void step_run(Session *s, size_t multiplications, void (*text)(void *batch), Batch batch) {
    size_t most = 1 + multiplications / s->options.grain, threads = (size_t)s->options.threads;
    batch.s = s;
    team_run(&s->scratch->team, (int)(most < threads ? most : threads), text, &batch);
}

/* Tokens of a piece: as many as the cache holds, pieces of about equal length, and whole tiles, which are 16, 12, 8, 6
 * or 4 tokens wide. Float weights are transposed for each piece, so there a batch is one. */
enum { TILES = 48 };

static size_t piece_tokens(const Session *s, size_t n, int group, size_t bytes) {
    if (n == 0 || group == 0) return n ? n : 1; /* all in one piece */
    size_t most = s->scratch->piece_bytes / bytes / TILES * TILES;
    if (most < TILES) most = TILES;
    size_t pieces = (n + most - 1) / most, each = (n + pieces - 1) / pieces;
    return (each + TILES - 1) / TILES * TILES;
}

Packed step_pack(Session *s, const float *x, size_t n, size_t d, const Matrix *w) {
    const Kernels *k = s->model->kernels;
    Scratch *to = s->scratch;
    Packed a = {.x = x, .n = n, .d = d, .group = matrix_group(w)};
    a.token_bytes = scratch_packed_bytes(k, d, a.group);
    a.most = piece_tokens(s, n, a.group, a.token_bytes);
    for (Share t = team_share(&to->team, n); t.at < t.end; t.at++) {
        size_t first = t.at / a.most * a.most, m = n - first < a.most ? n - first : a.most;
        k->mat->pack(to->packed + first * a.token_bytes, x + t.at * d, m, d, a.group, t.at - first);
    }
    team_wait(&to->team);
    return a;
}

/* Threads share the rows of W in strips of 16, a cache line of outputs, and long batches in pieces and strips of 32: of
 * float weights two vectors of rows are transposed together then. */
enum { STRIP = 16 };

void step_linear_nowait(Session *s, float *y, Packed *a, const Matrix *w, const float *b) {
    Team *team = &s->scratch->team;
    if (matrix_group(w) != a->group) {
        team_wait(team);
        *a = step_pack(s, a->x, a->n, a->d, w);
    }
    size_t strip = a->n < FLOAT_MANY ? STRIP : 2 * STRIP;
    size_t pieces = (a->n + a->most - 1) / a->most, strips = (w->rows + strip - 1) / strip;
    for (Share i; team_take(team, pieces * strips, &i);)
        for (size_t next; i.at < i.end; i.at = next) { /* the strips of one piece together */
            size_t t0 = i.at / strips * a->most, first = i.at / strips * strips;
            next = i.end < first + strips ? i.end : first + strips;
            size_t r0 = (i.at - first) * strip, r1 = next < first + strips ? (next - first) * strip : w->rows;
            Activations part = {.n = a->n - t0 < a->most ? a->n - t0 : a->most, .d = a->d, .group = a->group,
                                .data = s->scratch->packed + t0 * a->token_bytes};
            s->model->kernels->mat->matmul(y + t0 * w->rows, w->rows, &part, w, r0, r1);
            for (size_t t = t0; b && t < t0 + part.n; t++)
                for (size_t r = r0; r < r1; r++) y[t * w->rows + r] += b[r];
        }
}

void step_angles_nowait(Session *s, size_t t) {
    Scratch *w = s->scratch;
    size_t half = (size_t)s->model->config.rope.rotary_dim / 2;
    int64_t pos = (int64_t)w->tokens[t].pos;
    if (w->cos) rope_row(&s->rope, pos, w->cos + t * half, w->sin + t * half);
    if (w->cos64) rope_row64(&s->rope, pos, w->cos64 + t * half, w->sin64 + t * half);
}

void step_attend(Session *s, int l, size_t n) { s->options.attention->attend(s, l, n); }
