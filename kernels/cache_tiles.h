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

/* Weights of Q_BLOCK slots from t0 on, of Q queries: p times the slots' scales, none below 0; 0 outside of a query's
 * span, where p may be anything. */
typedef struct {
    const float *p, *scales; /* slot t0's, a query's p SCORE_ROW behind that of the one before; [Q_BLOCK] */
    const Span *spans;       /* [Q] */
    int t0;
    size_t off; /* where slot t0 goes in a query's bytes */
} WeightsJob;

/* Query t's, w [Q_BLOCK]. */
INLINE void span_weights(float *w, const WeightsJob *job, int t) {
    const float *p = job->p + (size_t)t * SCORE_ROW;
    Span span = job->spans[t];
    UNROLL
    for (int i = 0; i < Q_BLOCK; i += VEC) vec_store(w + i, vec_mul(vec_load(p + i), vec_load(job->scales + i)));
    for (int i = 0; i < Q_BLOCK && job->t0 + i < span.lo; i++) w[i] = 0;
    for (int i = Q_BLOCK; i > 0 && job->t0 + i > span.hi; i--) w[i - 1] = 0;
}

/* MatmulKernels.quantize of the weights of each of Q queries, into q[..][off ..]. */
INLINE void weight_bytes(int Q, int8_t (*q)[WEIGHTS], float *scale, const WeightsJob *job);

/* The same one query after the other, by a row's own quantize. */
INLINE void weight_bytes_by(void (*quantize)(int8_t *q, float *scale, const float *x, size_t d, int group), int Q,
                            int8_t (*q)[WEIGHTS], float *scale, const WeightsJob *job) {
    for (int t = 0; t < Q; t++) {
        float w[Q_BLOCK];
        span_weights(w, job, t);
        quantize(q[t] + job->off, &scale[t], w, Q_BLOCK, Q_BLOCK);
    }
}

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

/* A tile of queries and a block of the cache's values. */
typedef struct {
    float *acc; /* [Q, width] */
    const float *p;
    const Span *spans;
    Span all; /* from the first slot that any of them sees to the last; none: lo >= hi */
    const uint8_t *v; /* the block's groups; slot t is their (first + t)-th */
    size_t first, width, group;
} MixJob;

INLINE Span seen_by(const Span *spans, size_t n) {
    Span all = {.lo = KEY_BLOCK, .hi = 0};
    for (size_t j = 0; j < n; j++) {
        if (spans[j].lo >= spans[j].hi) continue;
        all.lo = spans[j].lo < all.lo ? spans[j].lo : all.lo;
        all.hi = spans[j].hi > all.hi ? spans[j].hi : all.hi;
    }
    return all;
}

/* The scales of the slots that are seen, by a block of columns: slot t's at [first + t]. */
INLINE void slot_scales(float *scales, const MixJob *job, size_t column) {
    size_t g = (job->first + (size_t)job->all.lo) / KEY_LANES, end = job->first + (size_t)job->all.hi;
    for (; g * KEY_LANES < end; g++)
        UNROLL
        for (size_t x = 0; x < KEY_LANES; x += VEC)
            vec_store(scales + g * KEY_LANES + x,
                      vec_load_half(job->v + g * job->group + 2 * (column / Q_BLOCK * KEY_LANES + x)));
}

/* What is seen of the Q_BLOCK slots from t0 on, counted from there; nothing: lo >= hi. */
INLINE Span part_of(Span all, int t0) {
    return (Span){all.lo > t0 ? all.lo - t0 : 0, all.hi < t0 + Q_BLOCK ? all.hi - t0 : Q_BLOCK};
}

/* Q_BLOCK columns from `column` on. Weights of all parts come before any line: a maximum, a division and packing are a
 * long chain, which the next part's need not wait for. */
INLINE void mix_columns(int Q, const MixJob *job, size_t column, Fetch *fetch) {
    enum { PARTS = KEY_BLOCK / Q_BLOCK };
    size_t rest = job->width - column, strips = (rest < Q_BLOCK ? rest : Q_BLOCK) / VEC;
    size_t scale_bytes = 2 * KEY_LANES * scale_blocks(job->width), off = job->first % 4;
    int8_t bytes[PARTS][MOST_ROWS][WEIGHTS] = {{{0}}};
    float scales[SCORE_ROW] = {0}, scale[PARTS][MOST_ROWS];
    slot_scales(scales, job, column);
    for (int i = 0; i < PARTS; i++) {
        int t0 = i * Q_BLOCK;
        Span part = part_of(job->all, t0);
        if (part.lo >= part.hi) continue;
        weight_bytes(Q, bytes[i], scale[i],
                     &(WeightsJob){job->p + t0, scales + job->first + t0, job->spans, t0, off});
    }
    for (int i = 0; i < PARTS; i++) {
        int t0 = i * Q_BLOCK;
        Span part = part_of(job->all, t0);
        if (part.lo >= part.hi) continue;
        size_t from = (off + (size_t)part.lo) / 4, quad = (job->first + (size_t)t0) / 4 + from;
        mix_strips(Q, (MixTile){.acc = job->acc + column, .ld = job->width, .w = bytes[i], .scale = scale[i],
                                .v = job->v + quad / (KEY_LANES / 4) * job->group + scale_bytes + 4 * column,
                                .first = quad % (KEY_LANES / 4), .i = from, .end = (off + (size_t)part.hi + 3) / 4,
                                .line = 4 * job->width, .scales = scale_bytes}, strips, fetch);
    }
}

INLINE void mix_rows(int Q, const MixJob *job, Fetch fetch) {
    if (job->all.lo >= job->all.hi) return;
    for (size_t column = 0; column < job->width; column += Q_BLOCK) mix_columns(Q, job, column, &fetch);
}

static void mix_q8(float *acc, const float *p, const Span *spans, const Running *run, size_t n, const uint8_t *v,
                   size_t first, size_t width, Soon soon) {
    Fetch fetch = fetch_of(soon, n, KEY_BLOCK / 4 * ((width + 2 * VEC - 1) / (2 * VEC)));
    shrink_rows(acc, width, run, n, width);
    for (size_t j = 0, rows; j < n; j += rows, fetch = (Fetch){0}) {
        rows = next_rows(n - j);
        const MixJob job = {.acc = acc + j * width, .p = p + j * SCORE_ROW, .spans = spans + j, .v = v, .first = first,
                            .width = width, .group = group_bytes(width, width), .all = seen_by(spans + j, rows)};
        switch (rows) {
        case 1: mix_rows(1, &job, fetch); break;
        case 2: mix_rows(2, &job, fetch); break;
        case 4: mix_rows(4, &job, fetch); break;
        default: mix_rows(MOST_ROWS, &job, fetch);
        }
    }
}

#endif
