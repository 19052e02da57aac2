/* kernels/encode_k.c - encoding of the K formats, IQ4_NL and IQ4_XS.
 *
 * A super-block of 256 values has eight or sixteen small blocks, each with a scale of its own, which is searched for.
 * Codes l[i] given, the best scale s and offset b are the solution of a weighted least squares
 *
 *     minimise  sum w (s l + b - x)^2      =>      s sum wll + b sum wl = sum wlx
 *                                                  s sum wl  + b sum w  = sum wx
 *
 * and its error is  sum wxx - s sum wlx - b sum wx.  Scale given, the best codes are the nearest ones. So some ranges a
 * little wider and narrower than the block's own are tried: round, solve, keep the solution of the smallest error.
 * Large values weigh more, because their products with the activations do.
 *
 * Sums are taken in eight lanes, in a fixed order: the same bytes from every compiler, and a compiler can use its
 * vectors. */
#include "codes.h"
#include "encode_parts.h"

#include "base/base.h"

#include <math.h>
#include <string.h>

enum { LANES = 8, SUPER = 256 };

/* A K format with minima: values that share a scale; the largest code; how far the search goes; the largest whole
 * scale. */
typedef struct {
    int small, top, spread, most;
} Kind;

static const Kind q2_k = {16, 3, 12, 15}, q4_k = {32, 15, 10, 63}, q5_k = {32, 31, 5, 63};

/* The nearest whole number, ties to even, for |v| < 2^22: beside 1.5 x 2^23 a float has no bits for a fraction. */
static float nearest(float v) { return v + 12582912.0f - 12582912.0f; }

static float clamp(float v, float low, float high) { return v < low ? low : v > high ? high : v; }

/* All sums of a trial: of w times 1, x, xx and of w times l, ll, lx. */
typedef struct {
    float w, wx, wxx, wl, wll, wlx;
} Sums;

static float fold(const float *lane) {
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static void sum_values(Sums *s, const float *w, const float *x, int n) {
    float a[LANES] = {0}, b[LANES] = {0}, c[LANES] = {0};
    for (int i = 0; i < n; i += LANES)
        for (int k = 0; k < LANES; k++) {
            float wx = w[i + k] * x[i + k];
            a[k] += w[i + k];
            b[k] += wx;
            c[k] += wx * x[i + k];
        }
    *s = (Sums){.w = fold(a), .wx = fold(b), .wxx = fold(c)};
}

/* Codes of x by (x - offset) * inv, and their sums. */
static void sum_codes(Sums *s, const float *w, const float *x, int n, float offset, float inv, float low, float high) {
    float a[LANES] = {0}, b[LANES] = {0}, c[LANES] = {0};
    for (int i = 0; i < n; i += LANES)
        for (int k = 0; k < LANES; k++) {
            float l = clamp(nearest((x[i + k] - offset) * inv), low, high), wl = w[i + k] * l;
            a[k] += wl;
            b[k] += wl * l;
            c[k] += wl * x[i + k];
        }
    s->wl = fold(a);
    s->wll = fold(b);
    s->wlx = fold(c);
}

/* value = scale code - min, with neither below zero: formats with minima store both without a sign. */
typedef struct {
    float scale, min;
} Affine;

/* Solve the two equations. Where the offset comes out above zero, or all codes are equal, it is zero and the scale
 * alone is solved for: equal codes leave a determinant of rounding, some 1e-7 of its terms, where codes of which one
 * differs have 5e-6. Returns the error; negative where there is no solution (all codes are zero). */
static float solve(Affine *a, const Sums *s) {
    float det = s->w * s->wll - s->wl * s->wl, offset = 1;
    if (!(s->wll > 0)) return -1;
    if (det > 1e-6f * (s->w * s->wll)) {
        a->scale = (s->w * s->wlx - s->wx * s->wl) / det;
        offset = (s->wll * s->wx - s->wl * s->wlx) / det;
    }
    if (offset > 0) {
        offset = 0;
        a->scale = s->wlx / s->wll;
    }
    a->min = -offset;
    float error = s->wxx - a->scale * s->wlx - offset * s->wx;
    return error > 0 ? error : 0;
}

/* Large values weigh more, and by what the block is like: |x| alone would not count the small ones at all. */
static void weigh(float *w, const float *x, int n) {
    float lane[LANES] = {0};
    for (int i = 0; i < n; i++) lane[i % LANES] += x[i] * x[i];
    float mean = sqrtf(fold(lane) / (float)n);
    for (int i = 0; i < n; i++) w[i] = mean + fabsf(x[i]);
}

/* The search for a small block, codes 0 .. top. The range is stretched to top + reach codes, reach in tenths up to
 * +-spread. What is better by rounding alone is no better: blocks of few different values, which many ranges fit, so
 * get alike scales, and alike scales are stored exactly. */
static Affine fit_affine(const float *x, const float *w, const Kind *k) {
    const int top = k->top;
    float low = 0, high = x[0], best = -1; /* the minimum is none above zero; all values may well be below */
    for (int i = 0; i < k->small; i++) {
        if (x[i] < low) low = x[i];
        if (x[i] > high) high = x[i];
    }
    Affine a, kept = {.scale = (high - low) / (float)top, .min = -low};
    Sums s;
    sum_values(&s, w, x, k->small);
    if (encode_inverse(high - low) == 0) return (Affine){.min = -low};
    for (int reach = -k->spread; reach <= k->spread; reach++) {
        sum_codes(&s, w, x, k->small, low, ((float)top + 0.1f * (float)reach) / (high - low), 0, (float)top);
        float error = solve(&a, &s);
        if (error >= 0 && a.scale >= 0 && (best < 0 || error + 1e-6f * s.wxx < best)) best = error, kept = a;
    }
    return kept;
}

/* The scales of eight small blocks, six bits each, and their minima: four bytes of the first four scales, four of the
 * first four minima, four of the low nibbles of the other eight; whose upper two bits are in the top of the first eight
 * bytes. */
static void pack_scales(uint8_t out[12], const uint8_t scale[8], const uint8_t min[8]) {
    for (int j = 0; j < 4; j++) {
        out[j] = (uint8_t)(scale[j] | (scale[j + 4] >> 4) << 6);
        out[j + 4] = (uint8_t)(min[j] | (min[j + 4] >> 4) << 6);
        out[j + 8] = (uint8_t)((scale[j + 4] & 15) | (min[j + 4] & 15) << 4);
    }
}

/* v [n], none below zero, as whole numbers up to `top` times a scale of their own, which is stored as a half and
 * returned so. */
static float whole_numbers(uint8_t *out, const float *v, int n, int top, uint8_t *half, int *fits) {
    float most = 0;
    for (int j = 0; j < n; j++)
        if (v[j] > most) most = v[j];
    float inv = (float)top * encode_inverse(most);
    for (int j = 0; j < n; j++) out[j] = (uint8_t)clamp(nearest(v[j] * inv), 0, (float)top);
    *fits &= encode_scale(half, most / (float)top);
    return f16_to_f32(load_u16(half));
}

/* Six bits are coarse, and four more so: d and dmin are stored now, so the scale is tried two steps down and up,
 * the codes are rounded to each, and the minimum that suits them (the derivative by b is zero: b = (sum wx - s sum
 * wl) / sum w) is rounded too. */
static void settle(uint8_t *scale_at, uint8_t *min_at, const float *x, const float *w, float d, float dmin,
                   const Kind *k) {
    int scale = *scale_at, min = *min_at;
    float best = -1, inv = encode_inverse(dmin);
    Sums s;
    sum_values(&s, w, x, k->small);
    for (int c = scale - 2; c <= scale + 2; c++) {
        if (c < 1 || c > k->most || d == 0 || !(s.w > 0)) continue; /* no weight: all zeros, which any scale holds */
        float step = d * (float)c;
        sum_codes(&s, w, x, k->small, -dmin * (float)min, encode_inverse(step), 0, (float)k->top);
        float m = nearest(clamp((step * s.wl - s.wx) / s.w * inv, 0, (float)k->most)), b = -dmin * m;
        float error = s.wxx + step * (step * s.wll + 2 * (b * s.wl - s.wlx)) + b * (b * s.w - 2 * s.wx);
        if (best >= 0 && error >= best) continue;
        best = error > 0 ? error : 0;
        *scale_at = (uint8_t)c;
        *min_at = (uint8_t)m;
    }
}

/* d and dmin of a super-block at `halves`, whole scales and minima, and the codes that fit best with them as they are
 * stored. */
static int encode_affine(uint8_t *halves, const float *x, const Kind *k, uint8_t scale[16], uint8_t min[16],
                         uint8_t code[SUPER]) {
    float scales[16] = {0}, minima[16] = {0}, w[SUPER];
    const int n = SUPER / k->small;
    int fits = 1;
    for (int j = 0; j < n; j++) {
        weigh(w + k->small * j, x + k->small * j, k->small);
        Affine a = fit_affine(x + k->small * j, w + k->small * j, k);
        scales[j] = a.scale;
        minima[j] = a.min;
    }
    float d = whole_numbers(scale, scales, n, k->most, halves, &fits),
          dmin = whole_numbers(min, minima, n, k->most, halves + 2, &fits);
    if (!fits) return 0;
    for (int j = 0; j < n; j++) settle(&scale[j], &min[j], x + k->small * j, w + k->small * j, d, dmin, k);
    for (int i = 0; i < SUPER; i++) {
        float s = d * scale[i / k->small], m = dmin * min[i / k->small];
        code[i] = (uint8_t)(s > 0 ? nearest(clamp((x[i] + m) / s, 0, (float)k->top)) : 0);
    }
    return 1;
}

/* Four times 32 bytes; in each the low nibbles of 32 values, and above them those of the next 32. */
static void pack_nibbles(uint8_t out[SUPER / 2], const uint8_t code[SUPER]) {
    for (int i = 0; i < SUPER / 2; i++) {
        const uint8_t *c = code + i / 32 * 64 + i % 32;
        out[i] = (uint8_t)((c[0] & 15) | (c[32] & 15) << 4);
    }
}

int encode_q4_k(uint8_t *out, const float *x) {
    uint8_t code[SUPER], scale[16], min[16];
    if (!encode_affine(out, x, &q4_k, scale, min, code)) return 0;
    pack_scales(out + 4, scale, min);
    pack_nibbles(out + 16, code);
    return 1;
}

/* One bit of each value in 32 bytes: bit j of byte i is that of value 32 j + i. */
static void pack_ones(uint8_t out[SUPER / 8], const uint8_t code[SUPER], int bit) {
    memset(out, 0, SUPER / 8);
    for (int i = 0; i < SUPER; i++) out[i % 32] |= (uint8_t)((code[i] >> bit & 1) << i / 32);
}

/* The fifth bits stand before the nibbles. */
int encode_q5_k(uint8_t *out, const float *x) {
    uint8_t code[SUPER], scale[16], min[16];
    if (!encode_affine(out, x, &q5_k, scale, min, code)) return 0;
    pack_scales(out + 4, scale, min);
    pack_ones(out + 16, code, 4);
    pack_nibbles(out + 48, code);
    return 1;
}

/* Two bits of each value: four values 32 apart in a byte, 128 in 32 bytes. */
static void pack_pairs(uint8_t out[SUPER / 4], const uint8_t code[SUPER]) {
    for (int i = 0; i < SUPER / 4; i++) {
        const uint8_t *c = code + i / 32 * 128 + i % 32;
        out[i] = (uint8_t)((c[0] & 3) | (c[32] & 3) << 2 | (c[64] & 3) << 4 | (c[96] & 3) << 6);
    }
}

/* Scale and minimum of each sixteen values in a byte, the codes, d and dmin. */
int encode_q2_k(uint8_t *out, const float *x) {
    uint8_t code[SUPER], scale[16], min[16];
    if (!encode_affine(out + 80, x, &q2_k, scale, min, code)) return 0;
    for (int j = 0; j < 16; j++) out[j] = (uint8_t)(scale[j] | min[j] << 4);
    pack_pairs(out + 16, code);
    return 1;
}

/* IQ4: codes stand for the values of a table. */
enum { THIRTY_TWO = 32 };

/* The code whose value is nearest to v: as many as there are middles between two values below it. */
static int table_code(float v) {
    int code = 0;
    for (int i = 0; i < 15; i++) code += v > 0.5f * (float)(iq4_values[i] + iq4_values[i + 1]);
    return code;
}

/* sum wll and wlx, l the values of x / scale: from the least, a step up for each middle below; 32 at a time. */
static void sum_table(Sums *s, const float *w, const float *x, float inv) {
    float b[LANES] = {0}, c[LANES] = {0}, v[THIRTY_TWO], l[THIRTY_TWO];
    for (int i = 0; i < THIRTY_TWO; i++) v[i] = x[i] * inv, l[i] = iq4_values[0];
    for (int k = 0; k < 15; k++) {
        int low = iq4_values[k], high = iq4_values[k + 1];
        float middle = 0.5f * (float)(low + high), step = (float)(high - low);
        for (int i = 0; i < THIRTY_TWO; i++) l[i] += v[i] > middle ? step : 0;
    }
    for (int i = 0; i < THIRTY_TWO; i++) {
        float wl = w[i] * l[i];
        b[i % LANES] += wl * l[i];
        c[i % LANES] += wl * x[i];
    }
    s->wll = fold(b);
    s->wlx = fold(c);
}

/* A format without minima: codes -half .. half - 1, scales -most .. most - 1, sixteen values each; the search. coarse:
 * its steps are, so that small values count and a scale is tried as it is stored. table: IQ4's, 32 values each. */
typedef struct {
    int half, most, spread, coarse, table;
} Signed;

enum { SIXTEEN = 16 };
static const Signed q3_k = {4, 32, 15, 1, 0}, q6_k = {32, 128, 9, 0, 0}, iq4 = {.most = 32, .table = 1};

/* sum wll and wlx of codes by x / scale, or of what these stand for. */
static void sum_signed(Sums *s, const float *w, const float *x, float inv, const Signed *k) {
    if (k->table) sum_table(s, w, x, inv);
    else sum_codes(s, w, x, SIXTEEN, 0, inv, (float)-k->half, (float)(k->half - 1));
}

/* The search for a scale alone. Nothing is subtracted, so the error is  sum wxx - s sum wlx : the largest s sum wlx,
 * *best, wins, and *scale is its. Of blocks of few different values many scales fit, and the first one tried, of the
 * largest codes, is kept: what is better by rounding alone is no better. */
static void try_scale(float *scale, float *best, const float *w, const float *x, float inv, const Signed *k) {
    Sums s = {0};
    sum_signed(&s, w, x, inv, k);
    if (!(s.wll > 0) || !(s.wlx / s.wll * s.wlx > *best * 1.000001f)) return;
    *scale = s.wlx / s.wll;
    *best = *scale * s.wlx;
}

/* As in Q4_0 the extreme value tells which sign has the code more. */
static float fit_scale(const float *x, const float *w, const Signed *k) {
    float inv = encode_inverse(encode_extreme(x, SIXTEEN)), scale = 0, best = 0;
    for (int reach = k->spread; reach >= -k->spread; reach--)
        try_scale(&scale, &best, w, x, -((float)k->half + 0.1f * (float)reach) * inv, k);
    return scale;
}

/* The whole scale near `scale`, not 0, for which the codes err least. */
static int settle_signed(int scale, const float *x, const float *w, float d, const Signed *k) {
    float best = INFINITY;
    int kept = scale;
    Sums s = {0};
    for (int c = scale - 2; c <= scale + 2; c++) {
        if (c < -k->most || c >= k->most || c == 0 || d == 0) continue;
        float step = d * (float)c;
        sum_signed(&s, w, x, encode_inverse(step), k);
        float error = step * (step * s.wll - 2 * s.wlx);
        if (error < best) best = error, kept = c;
    }
    return kept;
}

/* d of a super-block at `half`, whole scales, and codes from 0 on. */
static int encode_signed(uint8_t *half, const float *x, const Signed *k, int8_t scale[16], uint8_t code[SUPER]) {
    float scales[16], w[SUPER];
    for (int i = 0; i < SUPER; i++) w[i] = x[i] * x[i];
    for (int j = 0; j < 16 && k->coarse; j++) weigh(w + SIXTEEN * j, x + SIXTEEN * j, SIXTEEN);
    for (int j = 0; j < 16; j++) scales[j] = fit_scale(x + SIXTEEN * j, w + SIXTEEN * j, k);
    float most = encode_extreme(scales, 16), inv = (float)-k->most * encode_inverse(most);
    if (!encode_scale(half, most / (float)-k->most)) return 0;
    float d = f16_to_f32(load_u16(half));
    for (int j = 0; j < 16; j++) {
        int s = (int)clamp(nearest(scales[j] * inv), (float)-k->most, (float)(k->most - 1));
        if (k->coarse) s = settle_signed(s, x + SIXTEEN * j, w + SIXTEEN * j, d, k);
        float step = d * (float)s;
        scale[j] = (int8_t)s;
        for (int i = j * SIXTEEN; i < (j + 1) * SIXTEEN; i++) {
            float c = step != 0 ? nearest(clamp(x[i] / step, (float)-k->half, (float)(k->half - 1))) : 0;
            code[i] = (uint8_t)(k->half + (int)c);
        }
    }
    return 1;
}

/* Six bits a value: for each 128 values 64 bytes of low nibbles; then for each 128 their upper two bits in 32 bytes. */
static void pack_q6_k(uint8_t *low, uint8_t *high, const uint8_t code[SUPER]) {
    for (int half = 0; half < 2; half++, low += 64, high += 32, code += 128)
        for (int i = 0; i < 32; i++) {
            const uint8_t *c = code + i;
            low[i] = (uint8_t)((c[0] & 15) | (c[64] & 15) << 4);
            low[i + 32] = (uint8_t)((c[32] & 15) | (c[96] & 15) << 4);
            high[i] = (uint8_t)(c[0] >> 4 | (c[32] >> 4) << 2 | (c[64] >> 4) << 4 | (c[96] >> 4) << 6);
        }
}

/* Low nibbles [128], upper bits [64], sixteen scales of eight bits with a sign, and d. */
int encode_q6_k(uint8_t *out, const float *x) {
    uint8_t code[SUPER];
    int8_t scale[16];
    if (!encode_signed(out + 208, x, &q6_k, scale, code)) return 0;
    memcpy(out + 192, scale, 16);
    pack_q6_k(out, out + 128, code);
    return 1;
}

/* Third bits [32], the others [64]; sixteen scales of six bits, 32 more: the low nibbles of two in a byte [8], the
 * upper pairs of four [4]; d. */
int encode_q3_k(uint8_t *out, const float *x) {
    uint8_t code[SUPER], *low = out + 96, *high = out + 104;
    int8_t scale[16];
    if (!encode_signed(out + 108, x, &q3_k, scale, code)) return 0;
    pack_ones(out, code, 2);
    pack_pairs(out + 32, code);
    memset(low, 0, 12);
    for (int j = 0; j < 16; j++) {
        int six = scale[j] + 32;
        low[j % 8] |= (uint8_t)((six & 15) << j / 8 * 4);
        high[j % 4] |= (uint8_t)((six >> 4) << j / 4 * 2);
    }
    return 1;
}

/* ---- IQ4 ---- */

/* The extreme value near the table's first, -127, or near its last, 113; both wider and narrower. */
static float fit_table(const float *x, const float *w) {
    float inv = encode_inverse(encode_extreme(x, THIRTY_TWO)), scale = 0, best = 0;
    for (int wider = 9; wider >= -9; wider--)
        for (int end = 0; end < 16; end += 15)
            try_scale(&scale, &best, w, x, (float)iq4_values[end] * (1 + 0.012f * (float)wider) * inv, &iq4);
    return scale;
}

/* Codes by a scale, two to a byte: i and i + 16. */
static void pack_table(uint8_t out[16], const float *x, float scale) {
    float inv = encode_inverse(scale);
    for (int i = 0; i < 16; i++) out[i] = (uint8_t)(table_code(x[i] * inv) | table_code(x[i + 16] * inv) << 4);
}

/* d, codes. The half that d becomes is what codes are taken by. */
int encode_iq4_nl(uint8_t *out, const float *x) {
    float w[THIRTY_TWO];
    weigh(w, x, THIRTY_TWO);
    if (!encode_scale(out, fit_table(x, w))) return 0;
    pack_table(out + 2, x, f16_to_f32(load_u16(out)));
    return 1;
}

/* d; eight scales of six bits, 32 more: the upper pairs in 16 bits, the low nibbles of two in a byte [4]; codes. */
int encode_iq4_xs(uint8_t *out, const float *x) {
    float scales[8], w[SUPER];
    unsigned high = 0;
    for (int j = 0; j < 8; j++) {
        weigh(w + 32 * j, x + 32 * j, 32);
        scales[j] = fit_table(x + 32 * j, w + 32 * j);
    }
    float most = encode_extreme(scales, 8), inv = -32 * encode_inverse(most);
    if (!encode_scale(out, most / -32)) return 0;
    float d = f16_to_f32(load_u16(out));
    memset(out + 4, 0, 4);
    for (int j = 0; j < 8; j++) {
        int s = (int)clamp(nearest(scales[j] * inv), -32, 31);
        s = settle_signed(s, x + 32 * j, w + 32 * j, d, &iq4);
        out[4 + j / 2] |= (uint8_t)(((s + 32) & 15) << j % 2 * 4);
        high |= (unsigned)(s + 32) >> 4 << 2 * j;
        pack_table(out + 8 + 16 * j, x + 32 * j, d * (float)s);
    }
    out[2] = (uint8_t)high, out[3] = (uint8_t)(high >> 8);
    return 1;
}
