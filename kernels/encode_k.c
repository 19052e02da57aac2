/* kernels/encode_k.c - encoding of Q4_K, Q5_K and Q6_K.
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
#include "encode_parts.h"

#include "base/base.h"

#include <math.h>
#include <string.h>

enum { LANES = 8, SUPER = 256, SMALL = 32, SMALL_Q6 = 16 };

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

/* value = scale code - min, with neither below zero: Q4_K and Q5_K store both without a sign. */
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
static void weigh(float *w, const float *x) {
    float lane[LANES] = {0};
    for (int i = 0; i < SMALL; i++) lane[i % LANES] += x[i] * x[i];
    float mean = sqrtf(fold(lane) / SMALL);
    for (int i = 0; i < SMALL; i++) w[i] = mean + fabsf(x[i]);
}

/* The search for SMALL values, codes 0 .. top. The range is stretched to top + reach codes, reach in tenths up to
 * +-spread. What is better by rounding alone is no better: blocks of few different values, which many ranges fit, so
 * get alike scales, and alike scales are stored exactly. */
static Affine fit_affine(const float *x, const float *w, int top, int spread) {
    float low = 0, high = x[0], best = -1; /* the minimum is none above zero; all values may well be below */
    for (int i = 0; i < SMALL; i++) {
        if (x[i] < low) low = x[i];
        if (x[i] > high) high = x[i];
    }
    Affine a, kept = {.scale = (high - low) / (float)top, .min = -low};
    Sums s;
    sum_values(&s, w, x, SMALL);
    if (encode_inverse(high - low) == 0) return (Affine){.min = -low};
    for (int reach = -spread; reach <= spread; reach++) {
        sum_codes(&s, w, x, SMALL, low, ((float)top + 0.1f * (float)reach) / (high - low), 0, (float)top);
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

/* v [8], none below zero, as six bits each times a scale of their own, which is stored as a half and returned so. */
static float six_bits(uint8_t out[8], const float v[8], uint8_t *half, int *fits) {
    float most = 0;
    for (int j = 0; j < 8; j++)
        if (v[j] > most) most = v[j];
    float inv = 63 * encode_inverse(most);
    for (int j = 0; j < 8; j++) out[j] = (uint8_t)clamp(nearest(v[j] * inv), 0, 63);
    *fits &= encode_scale(half, most / 63);
    return f16_to_f32(load_u16(half));
}

/* Six bits are coarse: d and dmin are stored now, so the scale is tried two steps down and up, the codes are rounded to
 * each, and the minimum that suits them (the derivative by b is zero: b = (sum wx - s sum wl) / sum w) is rounded
 * too. */
static void settle(uint8_t *scale6, uint8_t *min6, const float *x, const float *w, float d, float dmin, int top) {
    int scale = *scale6, min = *min6;
    float best = -1, inv = encode_inverse(dmin);
    Sums s;
    sum_values(&s, w, x, SMALL);
    for (int c = scale - 2; c <= scale + 2; c++) {
        if (c < 1 || c > 63 || d == 0 || !(s.w > 0)) continue; /* no weight: all zeros, which any scale holds */
        float step = d * (float)c;
        sum_codes(&s, w, x, SMALL, -dmin * (float)min, encode_inverse(step), 0, (float)top);
        float m = clamp(nearest(clamp((step * s.wl - s.wx) / s.w * inv, 0, 63)), 0, 63), b = -dmin * m;
        float error = s.wxx + step * (step * s.wll + 2 * (b * s.wl - s.wlx)) + b * (b * s.w - 2 * s.wx);
        if (best >= 0 && error >= best) continue;
        best = error > 0 ? error : 0;
        *scale6 = (uint8_t)c;
        *min6 = (uint8_t)m;
    }
}

/* d, dmin, scales[12] of a super-block, and the codes that fit best with them as they are stored. */
static int encode_affine(uint8_t *out, const float *x, int top, int spread, uint8_t code[SUPER]) {
    float scale[8], min[8], w[SUPER];
    uint8_t scale6[8], min6[8];
    int fits = 1;
    for (int j = 0; j < 8; j++) {
        weigh(w + SMALL * j, x + SMALL * j);
        Affine a = fit_affine(x + SMALL * j, w + SMALL * j, top, spread);
        scale[j] = a.scale;
        min[j] = a.min;
    }
    float d = six_bits(scale6, scale, out, &fits), dmin = six_bits(min6, min, out + 2, &fits);
    if (!fits) return 0;
    for (int j = 0; j < 8; j++) settle(&scale6[j], &min6[j], x + SMALL * j, w + SMALL * j, d, dmin, top);
    pack_scales(out + 4, scale6, min6);
    for (int i = 0; i < SUPER; i++) {
        float s = d * scale6[i / SMALL], m = dmin * min6[i / SMALL];
        code[i] = (uint8_t)(s > 0 ? nearest(clamp((x[i] + m) / s, 0, (float)top)) : 0);
    }
    return fits;
}

/* Four times 32 bytes; in each the low nibbles of 32 values, and above them those of the next 32. */
static void pack_nibbles(uint8_t out[SUPER / 2], const uint8_t code[SUPER]) {
    for (int i = 0; i < SUPER / 2; i++) {
        const uint8_t *c = code + i / 32 * 64 + i % 32;
        out[i] = (uint8_t)((c[0] & 15) | (c[32] & 15) << 4);
    }
}

int encode_q4_k(uint8_t *out, const float *x) {
    uint8_t code[SUPER];
    if (!encode_affine(out, x, 15, 10, code)) return 0;
    pack_nibbles(out + 16, code);
    return 1;
}

/* The fifth bits stand in 32 bytes before the nibbles: bit j of byte i is that of value 32 j + i. */
int encode_q5_k(uint8_t *out, const float *x) {
    uint8_t code[SUPER];
    if (!encode_affine(out, x, 31, 5, code)) return 0;
    memset(out + 16, 0, SMALL);
    for (int i = 0; i < SUPER; i++) out[16 + i % 32] |= (uint8_t)((code[i] >> 4) << i / 32);
    pack_nibbles(out + 48, code);
    return 1;
}

/* The search for a scale alone, codes -32 .. 31. Nothing is subtracted, so the error is  sum wxx - s sum wlx : the
 * largest s sum wlx wins. As in Q4_0 the extreme value tells which sign has the code more. */
static float fit_scale(const float *x) {
    float w[SMALL_Q6], most = encode_extreme(x, SMALL_Q6), inv = encode_inverse(most), scale = 0, best = 0;
    Sums s = {0};
    for (int i = 0; i < SMALL_Q6; i++) w[i] = x[i] * x[i];
    for (int reach = -9; reach <= 9; reach++) {
        sum_codes(&s, w, x, SMALL_Q6, 0, -(32 + 0.1f * (float)reach) * inv, -32, 31);
        if (!(s.wll > 0) || !(s.wlx / s.wll * s.wlx > best)) continue;
        scale = s.wlx / s.wll;
        best = scale * s.wlx;
    }
    return scale;
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
    float scale[SUPER / SMALL_Q6];
    uint8_t code[SUPER], *scale8 = out + 192;
    for (int j = 0; j < SUPER / SMALL_Q6; j++) scale[j] = fit_scale(x + SMALL_Q6 * j);
    float most = encode_extreme(scale, SUPER / SMALL_Q6), inv = -128 * encode_inverse(most);
    if (!encode_scale(out + 208, most / -128)) return 0;
    float d = f16_to_f32(load_u16(out + 208));
    for (int j = 0; j < SUPER / SMALL_Q6; j++) {
        int8_t s = (int8_t)clamp(nearest(scale[j] * inv), -128, 127);
        float step = d * s;
        scale8[j] = (uint8_t)s;
        for (int i = j * SMALL_Q6; i < (j + 1) * SMALL_Q6; i++)
            code[i] = (uint8_t)(step != 0 ? 32 + nearest(clamp(x[i] / step, -32, 31)) : 32);
    }
    pack_q6_k(out, out + 128, code);
    return 1;
}
