/* kernels/cache_tiles.h - a cache's half floats made floats and back, and products of its bytes (cache_kernels.h),
 * whatever the width of a vector. A row includes it behind its vectors (vectors.h) and
 *     enum { MOST_ROWS };       queries of the widest tile: 4 or 8
 *     enum { KEYS_OFF_128 };    whether dot_keys takes keys to be 128 more than they are; sums then begin at
 *                               -128 * sum of q
 *     typedef .. Line;          4 bytes for each of VEC slots or columns
 *     typedef .. Keys;          a line of keys, as dot_keys wants it
 * and defines the functions declared first. As in panel_tiles.h a lane belongs to a slot (a column, of values), and
 * nothing is summed across lanes. Every sum of bytes is exact, whatever tile it falls into. */
#ifndef CACHE_TILES_H
#define CACHE_TILES_H

#include "block_parts.h"
#include "cache_kernels.h"
#include "inline.h"

INLINE Line line_load(const uint8_t *p); /* into a register, now: gcc would load it again for each use */
INLINE Line line_all(const int8_t *p); /* the 4 bytes at p for every lane */
INLINE Vec line_floats(Line v, int i); /* of byte i < 4 of every lane */
INLINE Keys keys_of(Line k);
INLINE Ints dot_keys(Ints sum, Keys k, Line q);
INLINE Ints dot_values(Ints sum, Line w, Line v); /* 0 <= w */
INLINE size_t strips_at_once(size_t rows); /* of VEC slots, that a tile of so many queries takes: 1, 2 or 4 */

enum { WEIGHTS = Q_BLOCK + 4 }; /* of slots that may begin inside of a line's four */

/* MatmulKernels.quantize of Q times Q_BLOCK numbers, none below 0, into q[..][off ..]. */
INLINE void weight_bytes(int Q, int8_t (*q)[WEIGHTS], size_t off, float *scale, float (*w)[Q_BLOCK]);

enum { STRIPS = KEY_LANES / VEC, LINE = 4 * VEC }; /* of VEC slots, in a group; bytes of a Line */

static void narrow(uint16_t *out, const float *x, size_t n) {
    size_t i = 0;
    for (; i + VEC <= n; i += VEC) vec_store_half(out + i, vec_load(x + i));
    for (; i < n; i++) out[i] = float_to_half(x[i]);
}

static void widen(float *out, const uint16_t *x, size_t n) {
    size_t i = 0;
    for (; i + VEC <= n; i += VEC) vec_store(out + i, vec_load_half(x + i));
    for (; i < n; i++) out[i] = half_to_float(x[i]);
}

static void widen_keys(float *out, const uint8_t *group, size_t head_dim) {
    const uint8_t *lines = group_lines(group, head_dim);
    for (size_t i = 0; i < head_dim; i++, out += KEY_LANES) {
        const uint8_t *scales = group + i / Q_BLOCK * 2 * KEY_LANES;
        UNROLL
        for (size_t s = 0; s < STRIPS; s++) {
            Line line = line_load(lines + (i / 4 * STRIPS + s) * LINE);
            vec_store(out + s * VEC, vec_mul(vec_load_half(scales + s * 2 * VEC), line_floats(line, (int)(i % 4))));
        }
    }
}

/* ---- scores ---- */

typedef struct {
    float *s;
    const QueryBlock *q;
    const uint8_t *k;
    size_t head_dim, group; /* group: bytes of one */
    Fetch fetch;
} ScoresJob;

/* sum += n lines by the bytes from q on, of each of Q queries, `apart` blocks apart. */
INLINE void score_lines(int Q, int S, Ints (*sum)[4], const uint8_t *const *lines, size_t at, const QueryBlock *q,
                        size_t apart, size_t i, size_t n, Fetch *fetch) {
    UNROLL
    for (size_t end = i + n; i < end; i++) {
        Keys k[4];
        fetch_step(fetch);
        UNROLL
        for (int v = 0; v < S; v++) k[v] = keys_of(line_load(lines[v] + (at + i) * STRIPS * LINE));
        UNROLL
        for (size_t t = 0; t < (size_t)Q; t++) {
            Line four = line_all(q[t * apart].q + 4 * i);
            UNROLL
            for (int v = 0; v < S; v++) sum[t][v] = dot_keys(sum[t][v], k[v], four);
        }
    }
}

/* Queries j .. j+Q-1, strips x .. x+S-1. */
INLINE void score_tile(int Q, int S, ScoresJob *job, size_t j, size_t x) {
    const size_t blocks = scale_blocks(job->head_dim), n_lines = (job->head_dim + 3) / 4;
    const QueryBlock *q = job->q + j * blocks;
    const uint8_t *scales[4], *lines[4];
    Fetch fetch = j ? (Fetch){0} : job->fetch;
    Vec acc[MOST_ROWS][4];
    UNROLL
    for (size_t v = 0; v < (size_t)S; v++) {
        scales[v] = job->k + (x + v) / STRIPS * job->group + (x + v) % STRIPS * 2 * VEC;
        lines[v] = group_lines(job->k + (x + v) / STRIPS * job->group, job->head_dim) + (x + v) % STRIPS * LINE;
    }
    UNROLL
    for (int t = 0; t < Q; t++)
        UNROLL
        for (int v = 0; v < S; v++) acc[t][v] = vec_zero();
    for (size_t at = 0; at < n_lines; at += Q_BLOCK / 4, q++) {
        size_t n = n_lines - at < Q_BLOCK / 4 ? n_lines - at : Q_BLOCK / 4;
        Ints sum[MOST_ROWS][4];
        UNROLL
        for (size_t t = 0; t < (size_t)Q; t++)
            UNROLL
            for (int v = 0; v < S; v++) sum[t][v] = ints_all(KEYS_OFF_128 ? -128 * q[t * blocks].sum : 0);
        if (n == Q_BLOCK / 4) score_lines(Q, S, sum, lines, at, q, blocks, 0, Q_BLOCK / 4, &fetch);
        else
            for (size_t i = 0; i < n; i++) score_lines(Q, S, sum, lines, at, q, blocks, i, 1, &fetch);
        UNROLL
        for (int v = 0; v < S; v++) {
            Vec scale = vec_load_half(scales[v] + at / (Q_BLOCK / 4) * 2 * KEY_LANES);
            UNROLL
            for (size_t t = 0; t < (size_t)Q; t++)
                acc[t][v] = vec_fma(acc[t][v], ints_to_floats(sum[t][v]), vec_mul(scale, vec_all(q[t * blocks].scale)));
        }
    }
    UNROLL
    for (size_t t = 0; t < (size_t)Q; t++)
        UNROLL
        for (size_t v = 0; v < (size_t)S; v++) vec_store(job->s + (j + t) * SCORE_ROW + (x + v) * VEC, acc[t][v]);
    if (j == 0) job->fetch = fetch;
}

INLINE void score_rows(int Q, ScoresJob *job, size_t j, size_t strips) {
    const size_t most = strips_at_once((size_t)Q);
    size_t x = 0;
    for (; x + most <= strips; x += most) score_tile(Q, (int)most, job, j, x);
    for (; x < strips; x++) score_tile(Q, 1, job, j, x);
}

/* Queries of the next tile where n are left. */
INLINE size_t next_rows(size_t n) { return n >= MOST_ROWS ? MOST_ROWS : n >= 4 ? 4 : n >= 2 ? 2 : 1; }

static void scores_q8(float *s, const QueryBlock *q, size_t n, const uint8_t *k, size_t head_dim, size_t groups,
                      Soon soon) {
    size_t most = strips_at_once(next_rows(n)), strips = groups * STRIPS;
    ScoresJob job = {s, q, k, head_dim, group_bytes(head_dim, key_line_bytes(head_dim)),
                     fetch_of(soon, n, (strips / most + strips % most) * ((head_dim + 3) / 4))};
    for (size_t j = 0, rows; j < n; j += rows) switch (rows = next_rows(n - j)) {
        case 1: score_rows(1, &job, j, strips); break;
        case 2: score_rows(2, &job, j, strips); break;
        case 4: score_rows(4, &job, j, strips); break;
        default: score_rows(MOST_ROWS, &job, j, strips);
        }
}

/* ---- values ---- */

/* Queries' sums acc, whose weights meet lines of 4 slots by some columns. */
typedef struct {
    float *acc;
    size_t ld; /* from a query's sums to the next one's */
    int8_t (*w)[WEIGHTS];
    float *scale;
    const uint8_t *v; /* these columns of the group's first line */
    size_t first, i, end; /* the group's line that is the i-th of w's; end of w's */
    size_t line, scales; /* bytes of a line of all columns; of a group's scales, between its last line and the next */
} MixTile;

INLINE void mix_lines(int Q, int S, Ints (*sum)[2], const MixTile *m, size_t first, size_t i, size_t n,
                      Fetch *fetch) {
    UNROLL
    for (size_t x = 0; x < n; x++) {
        Line line[2];
        fetch_step(fetch);
        UNROLL
        for (int v = 0; v < S; v++) line[v] = line_load(m->v + (first + x) * m->line + v * LINE);
        UNROLL
        for (int t = 0; t < Q; t++) {
            Line w = line_all(m->w[t] + 4 * (i + x));
            UNROLL
            for (int v = 0; v < S; v++) sum[t][v] = dot_values(sum[t][v], w, line[v]);
        }
    }
}

INLINE void mix_tile(int Q, int S, MixTile m, Fetch *soon) {
    const size_t whole = KEY_LANES / 4;
    Fetch fetch = *soon;
    Ints sum[MOST_ROWS][2];
    UNROLL
    for (int t = 0; t < Q; t++)
        UNROLL
        for (int x = 0; x < S; x++) sum[t][x] = ints_all(0);
    for (; m.i < m.end; m.v += whole * m.line + m.scales, m.i += whole - m.first, m.first = 0) {
        if (m.first == 0 && m.end - m.i >= whole) mix_lines(Q, S, sum, &m, 0, m.i, whole, &fetch);
        else
            for (size_t x = m.first, i = m.i; x < whole && i < m.end; x++, i++)
                mix_lines(Q, S, sum, &m, x, i, 1, &fetch);
    }
    UNROLL
    for (size_t t = 0; t < (size_t)Q; t++)
        UNROLL
        for (size_t x = 0; x < (size_t)S; x++) {
            float *acc = m.acc + t * m.ld + x * VEC;
            vec_store(acc, vec_fma(vec_load(acc), ints_to_floats(sum[t][x]), vec_all(m.scale[t])));
        }
    *soon = fetch;
}

/* All columns of a block of them, so many strips of VEC. */
INLINE void mix_strips(int Q, MixTile m, size_t strips, Fetch *fetch) {
    for (; strips >= 2; strips -= 2, m.acc += 2 * VEC, m.v += 2 * LINE) mix_tile(Q, 2, m, fetch);
    if (STRIPS == 1 && strips) mix_tile(Q, 1, m, fetch);
}

/* p_t scale_t of the Q_BLOCK slots from t0 on; 0 outside of the span. */
INLINE void span_weights(float *w, const float *p, const float *scales, Span span, int t0) {
    UNROLL
    for (int t = 0; t < Q_BLOCK; t += VEC)
        vec_store(w + t, vec_mul(vec_load(p + t0 + t), vec_load(scales + t0 + t)));
    for (int t = 0; t < Q_BLOCK && t0 + t < span.lo; t++) w[t] = 0;
    for (int t = Q_BLOCK; t > 0 && t0 + t > span.hi; t--) w[t - 1] = 0;
}

/* A block of the cache's values, or Q_BLOCK columns of it. */
typedef struct {
    const uint8_t *v; /* its groups; slot t is their (first + t)-th */
    size_t first, width, group;
    const float *scales; /* slot t's at [first + t] */
    size_t column;
} MixJob;

/* From the first slot that any of n queries sees to the last; none: lo >= hi. */
INLINE Span seen_by(const Span *spans, size_t n) {
    Span all = {.lo = KEY_BLOCK, .hi = 0};
    for (size_t j = 0; j < n; j++) {
        if (spans[j].lo >= spans[j].hi) continue;
        all.lo = spans[j].lo < all.lo ? spans[j].lo : all.lo;
        all.hi = spans[j].hi > all.hi ? spans[j].hi : all.hi;
    }
    return all;
}

/* Rows of the next tile from p, spans and acc on, and one block of columns. */
INLINE void mix_rows(int Q, const MixJob *job, float *acc, const float *p, const Span *spans, Fetch *fetch) {
    size_t rest = job->width - job->column, strips = (rest < Q_BLOCK ? rest : Q_BLOCK) / VEC;
    size_t scale_bytes = 2 * KEY_LANES * scale_blocks(job->width), off = job->first % 4;
    Span all = seen_by(spans, (size_t)Q);
    for (int t0 = 0; t0 < KEY_BLOCK; t0 += Q_BLOCK) {
        int lo = all.lo > t0 ? all.lo - t0 : 0, hi = all.hi < t0 + Q_BLOCK ? all.hi - t0 : Q_BLOCK;
        if (lo >= hi) continue;
        int8_t bytes[MOST_ROWS][WEIGHTS] = {{0}};
        float scale[MOST_ROWS], w[MOST_ROWS][Q_BLOCK];
        for (size_t t = 0; t < (size_t)Q; t++)
            span_weights(w[t], p + t * SCORE_ROW, job->scales + job->first, spans[t], t0);
        weight_bytes(Q, bytes, off, scale, w);
        size_t from = (off + (size_t)lo) / 4, quad = (job->first + (size_t)t0) / 4 + from;
        mix_strips(Q, (MixTile){.acc = acc + job->column, .ld = job->width, .w = bytes, .scale = scale,
                                .v = job->v + quad / (KEY_LANES / 4) * job->group + scale_bytes + 4 * job->column,
                                .first = quad % (KEY_LANES / 4), .i = from, .end = (off + (size_t)hi + 3) / 4,
                                .line = 4 * job->width, .scales = scale_bytes}, strips, fetch);
    }
}

static void mix_q8(float *acc, const float *p, const Span *spans, const Running *run, size_t n, const uint8_t *v,
                   size_t first, size_t width, Soon soon) {
    MixJob job = {.v = v, .first = first, .width = width, .group = group_bytes(width, width)};
    Span all = seen_by(spans, n);
    size_t lo = (size_t)all.lo, hi = (size_t)all.hi;
    Fetch fetch = fetch_of(soon, n, KEY_BLOCK / 4 * ((width + 2 * VEC - 1) / (2 * VEC))), none = {0};
    shrink_rows(acc, width, run, n, width);
    for (; job.column < width && lo < hi; job.column += Q_BLOCK) {
        float scales[SCORE_ROW] = {0};
        for (size_t g = (first + lo) / KEY_LANES; g * KEY_LANES < first + hi; g++)
            UNROLL
            for (size_t x = 0; x < KEY_LANES; x += VEC)
                vec_store(scales + g * KEY_LANES + x,
                          vec_load_half(v + g * job.group + 2 * (job.column / Q_BLOCK * KEY_LANES + x)));
        job.scales = scales;
        for (size_t j = 0, rows; j < n; j += rows) {
            float *to = acc + j * width;
            const float *from = p + j * SCORE_ROW;
            Fetch *soon_too = j ? &none : &fetch;
            switch (rows = next_rows(n - j)) {
            case 1: mix_rows(1, &job, to, from, spans + j, soon_too); break;
            case 2: mix_rows(2, &job, to, from, spans + j, soon_too); break;
            case 4: mix_rows(4, &job, to, from, spans + j, soon_too); break;
            default: mix_rows(MOST_ROWS, &job, to, from, spans + j, soon_too);
            }
        }
    }
}

#endif
