/* tests/test_rope.c - rope/: frequencies against published anchors, rotation against its definition. */
#include "rope/scaling.h"
#include "test.h"

#include <string.h>

/* Anchors were computed in float64 by the methods' published formulas (nine digits, or five where
 * transformers' own test vectors have five). */
typedef struct {
    int i;
    double value;
} Anchor;

static void check_anchors(const RopeConfig *c, int64_t length, const Anchor *a, int count, double rtol) {
    char err[200];
    Rope r;
    CHECK(rope_check(c, err, sizeof err) == 0);
    rope_init(&r, c, length);
    for (int k = 0; k < count; k++) NEAR(r.inv_freq[a[k].i], a[k].value, 0, rtol);
}
#define ANCHORS(c, n, rtol, ...) do { \
    const Anchor anchors_[] = {__VA_ARGS__}; \
    check_anchors(c, n, anchors_, (int)(sizeof anchors_ / sizeof *anchors_), rtol); } while (0)

static RopeNumbers n; /* of the last config */

static RopeConfig config(const char *method, int d, double theta) {
    n = (RopeNumbers){0};
    return (RopeConfig){.scaling = rope_scaling(method), .rotary_dim = d, .theta = theta, .numbers = &n};
}

static double scale_of(const RopeConfig *c) {
    Rope r;
    rope_init(&r, c, 1);
    return r.scale;
}

static void anchors_none(void) {
    RopeConfig c = config("none", 128, 1e4);
    ANCHORS(&c, 1, 1e-8, {0, 1}, {1, .865964323}, {16, .1}, {31, .0115478198}, {32, .01}, {48, .001},
            {63, 1.15478198e-4});
    NEAR(scale_of(&c), 1, 0, 0);
}

static void anchors_linear(void) {
    RopeConfig c = config("linear", 128, 1e4);
    n.factor = 4;
    ANCHORS(&c, 1, 1e-8, {0, .25}, {1, .216491081}, {16, .025}, {31, .00288695496}, {32, .0025}, {48, 2.5e-4},
            {63, 2.88695496e-5});
    NEAR(scale_of(&c), 1, 0, 0);
}

static void anchors_llama3(void) {
    RopeConfig c = config("llama3", 128, 5e5);
    n.factor = 8, n.low_freq_factor = 1, n.high_freq_factor = 4, n.n_ctx_original = 8192;
    ANCHORS(&c, 1, 1e-8, {0, 1}, {1, .814617234}, {16, .0376060309}, {31, 8.56751413e-4}, {32, 5.24846161e-4},
            {48, 6.64786987e-6}, {63, 3.06892599e-7});
    ANCHORS(&c, 1, 1e-5, {20, .0165604}, {28, .00321145}, {29, .00216657}, {30, .00137189}, {31, .000856751},
            {32, .000524846}, {33, .000312694},
            {34, .000178508}, {35, 9.55621e-5}, {36, 7.78466e-5}, {40, 3.4281e-5}, {63, 3.06893e-7});
    c = config("llama3", 64, 5e5);
    n.factor = 32, n.low_freq_factor = 1, n.high_freq_factor = 4, n.n_ctx_original = 8192;
    ANCHORS(&c, 1, 1e-8, {15, .00129054793}, {16, 4.29556797e-4}, {17, 9.7082878e-5}, {31, 9.41830673e-8});
    c = config("llama3", 128, 1e4); /* transformers' own vectors have five digits */
    n.factor = 10, n.low_freq_factor = 1, n.high_freq_factor = 4, n.n_ctx_original = 2048;
    ANCHORS(&c, 1, 5e-5, {30, .013335}, {31, .01073}, {32, .0077785}, {33, .0056009}, {34, .0039991}, {35, .0028248},
            {36, .0019675}, {37, .0013449},
            {38, .00089549}, {39, .00057363}, {40, .00034539}, {41, .00027384}, {63, 1.1548e-5});
}

static void anchors_yarn(void) {
    RopeConfig c = config("yarn", 128, 1e4);
    n.factor = 16, n.n_ctx_original = 4096;
    ANCHORS(&c, 1, 1e-8, {0, 1}, {1, .865964323}, {16, .1}, {31, .00696755476}, {32, .00567307692}, {48, 6.25e-5},
            {63, 7.2173874e-6});
    static const double magnitude[][2] = {
        {1, 1}, {2, 1.06931472}, {4, 1.13862944}, {8, 1.20794415}, {16, 1.27725887}, {32, 1.34657359},
    };
    for (int k = 0; k < 6; k++) {
        n.factor = magnitude[k][0];
        NEAR(scale_of(&c), magnitude[k][1], 5e-9, 0);
    }
    n.factor = 10, n.n_ctx_original = 2048;
    ANCHORS(&c, 1, 5e-5, {0, 1}, {1, .86596}, {15, .11548}, {16, .1}, {17, .083479}, {18, .06959}, {19, .057925},
            {20, .048136}, {25, .018512},
            {30, .0066143}, {35, .002052}, {39, .0006281}, {40, .00043007}, {41, .00027384}, {63, 1.1548e-5});
    n.attention_factor = 0.5;
    NEAR(scale_of(&c), 0.5, 0, 0);
    n.attention_factor = 0, n.factor = 40, n.mscale = 0.707, n.mscale_all_dim = 0.707;
    NEAR(scale_of(&c), 1, 1e-15, 0);
    n.mscale_all_dim = 1; /* g(40, .707) / g(40, 1) by hand: (1 + .0707 ln 40) / (1 + .1 ln 40) */
    NEAR(scale_of(&c), 1.260804 / 1.368888, 1e-6, 0);
}

/* gpt-oss: the borders are not rounded. lo = 8.09277912, hi = 17.3980245: pair 8 is untouched, 9 and 17 lie on the
 * ramp. */
static void anchors_yarn_untruncated(void) {
    RopeConfig c = config("yarn", 64, 150000);
    n.factor = 32, n.n_ctx_original = 4096, n.no_truncate = 1;
    Rope r;
    rope_init(&r, &c, 1);
    NEAR(r.scale, 1.34657359, 5e-9, 0);
    for (int i = 0; i < 32; i++) {
        double w = pow(150000, -2.0 * i / 64), ramp = fmin(fmax((i - 8.09277912) / (17.3980245 - 8.09277912), 0), 1);
        NEAR(r.inv_freq[i], w / 32 * ramp + w * (1 - ramp), 0, 1e-7);
    }
}

static void anchors_longrope(void) {
    RopeConfig c = config("longrope", 8, 1e4);
    n.n_ctx_original = 4096, n.n_ctx_train = 131072, n.n_long = n.n_short = 4;
    for (int i = 0; i < 4; i++) n.short_factor[i] = 1 + i, n.long_factor[i] = 10 + i;
    static const double magnitude[][2] = {
        {2, 1.04083300}, {4, 1.08012345}, {8, 1.11803399}, {16, 1.15470054}, {32, 1.19023807},
    };
    for (int k = 0; k < 5; k++) {
        n.factor = magnitude[k][0];
        NEAR(scale_of(&c), magnitude[k][1], 5e-9, 0);
    }
    n.factor = 0; /* from 131072 / 4096 = 32 */
    NEAR(scale_of(&c), 1.19023807, 5e-9, 0);
    ANCHORS(&c, 4096, 1e-12, {0, 1}, {1, .1 / 2}, {3, .001 / 4});
    ANCHORS(&c, 4097, 1e-12, {0, .1}, {1, .1 / 11}, {3, .001 / 13});
    CHECK(rope_choice(&c, 4096) != rope_choice(&c, 4097));
    CHECK(c.scaling->choice != NULL);
}

static void divisors(void) {
    RopeConfig c = config("none", 8, 1e4);
    n.n_divisors = 4;
    for (int i = 0; i < 4; i++) n.divisors[i] = 1 << i;
    ANCHORS(&c, 1, 1e-12, {0, 1}, {1, .05}, {2, .0025}, {3, .000125});
}

static void refusals(void) {
    char err[200];
    const char *nan_names[] = {"linear", "llama3", "yarn", "longrope"};
    for (int i = 0; i < 4; i++) { /* incomplete: nothing but the name is given */
        RopeConfig c = config(nan_names[i], 8, 1e4);
        CHECK(rope_check(&c, err, sizeof err) != 0 && strstr(err, nan_names[i]) != NULL);
    }
    RopeConfig good = config("yarn", 128, 1e4);
    n.factor = 4, n.n_ctx_original = 64;
    CHECK(rope_check(&good, err, sizeof err) == 0);
    RopeConfig c = good;
    n.factor = 0.5;
    CHECK(rope_check(&c, err, sizeof err) != 0);
    n.factor = NAN;
    CHECK(rope_check(&c, err, sizeof err) != 0);
    n.factor = 4, c.theta = INFINITY;
    CHECK(rope_check(&c, err, sizeof err) != 0);
    c = good, c.theta = 0;
    CHECK(rope_check(&c, err, sizeof err) != 0);
    c = good, c.rotary_dim = 7;
    CHECK(rope_check(&c, err, sizeof err) != 0);
    c = good, c.rotary_dim = 2 * ROPE_MAX_PAIRS + 2;
    CHECK(rope_check(&c, err, sizeof err) != 0);
    CHECK(rope_scaling("ntk-something") == NULL);
    CHECK(rope_scaling("default") == rope_scaling("none"));
}

/* The angle must be right to 3e-7 rad up to 2^31. The true angle in long double (64-bit mantissa) is good to 2^31 *
 * 2^-64. */
static void precision(void) {
    if (sizeof(long double) == sizeof(double)) {
        test_skip("long double is no wider than double here");
        return;
    }
    RopeConfig c = config("none", 128, 1e4);
    Rope r;
    rope_init(&r, &c, 1);
    static const int64_t at[] = {1, 2047, 131071, 10485759, 2147483647, 2147483648};
    float cs[64], sn[64];
    for (int k = 0; k < 6; k++) {
        rope_row(&r, at[k], cs, sn);
        for (int i = 0; i < 64; i++) {
            long double angle = (long double)at[k] * powl(10000.0L, -2.0L * i / 128);
            NEAR(cs[i], (double)cosl(angle), 3e-7 + 6e-8, 0); /* and the float's own half ulp */
            NEAR(sn[i], (double)sinl(angle), 3e-7 + 6e-8, 0);
        }
    }
}

/* RoFormer 3.4.3: the mean over j of |S_j|, S_j = sum over i < j of e^(i m theta_i), falls with the distance m. d =
 * 128. */
static void decay(void) {
    RopeConfig c = config("none", 128, 1e4);
    Rope r;
    rope_init(&r, &c, 1);
    static const double bound[][2] = {
        {0, 32.5}, {1, 31.5382}, {10, 17.9541}, {50, 12.6295}, {100, 10.2273}, {250, 6.5482},
    };
    for (int k = 0; k < 6; k++) {
        float cs[64], sn[64];
        double re = 0, im = 0, sum = 0;
        rope_row(&r, (int64_t)bound[k][0], cs, sn);
        for (int i = 0; i < 64; i++) {
            re += (double)cs[i], im += (double)sn[i];
            sum += hypot(re, im);
        }
        NEAR(sum / 64, bound[k][1], 5.1e-5, 0); /* four decimals are published */
    }
}

static void turn(float *x, int64_t pos, const Rope *r, RopePairing pairing) {
    float c[ROPE_MAX_PAIRS], s[ROPE_MAX_PAIRS];
    rope_row(r, pos, c, s);
    rope_rotate(x, c, s, r->rotary_dim, pairing);
}

/* Which way, and which pairs: a unit vector on each first entry turns towards its partner. */
static void direction(void) {
    RopeConfig cfg = config("none", 6, 1e4);
    Rope r;
    rope_init(&r, &cfg, 1);
    for (int pairing = 0; pairing < 2; pairing++)
        for (int i = 0; i < 3; i++) {
            int first = pairing == ROPE_INTERLEAVED ? 2 * i : i,
                second = pairing == ROPE_INTERLEAVED ? 2 * i + 1 : i + 3;
            double angle = 5 * pow(1e4, -2.0 * i / 6);
            float x[6] = {0};
            x[first] = 1;
            turn(x, 5, &r, (RopePairing)pairing);
            for (int j = 0; j < 6; j++) NEAR(x[j], j == first ? cos(angle) : j == second ? sin(angle) : 0, 1e-7, 0);
        }
}

static float wave(int i) { return (float)sin(i * 1.7 + 0.3); }

/* q.k depends on the distance only: moved by 1000 both, the same; partial: entries beyond rotary_dim stay; norms
 * stay. */
static void relative(void) {
    for (int pairing = 0; pairing < 2; pairing++) {
        RopeConfig cfg = config("none", 24, 1e4);
        Rope r;
        rope_init(&r, &cfg, 1);
        double dots[3];
        static const int64_t shift[] = {0, 1000, 1000000};
        for (int k = 0; k < 3; k++) {
            float q[32], key[32];
            for (int i = 0; i < 32; i++) q[i] = wave(i), key[i] = wave(i + 50);
            turn(q, 7 + shift[k], &r, (RopePairing)pairing);
            turn(key, 3 + shift[k], &r, (RopePairing)pairing);
            double dot = 0, norm = 0, norm0 = 0;
            for (int i = 0; i < 32; i++)
                dot += (double)q[i] * key[i], norm += (double)q[i] * q[i], norm0 += (double)wave(i) * wave(i);
            for (int i = 24; i < 32; i++) CHECK(q[i] == wave(i));
            dots[k] = dot;
            NEAR(norm, norm0, 0, 1e-6); /* 24 float roundings */
        }
        NEAR(dots[1], dots[0], 1e-5, 0);
        NEAR(dots[2], dots[0], 1e-5, 0);
    }
}

/* The two pairings are the same rotation after the permutation of rope/README.md: half[c*d/2 + i] = interleaved[2i +
 * c]. */
static void pairings_agree(void) {
    enum { D = 20 };
    RopeConfig cfg = config("none", D, 500);
    Rope r;
    rope_init(&r, &cfg, 1);
    float a[D], b[D];
    for (int i = 0; i < D / 2; i++)
        for (int c = 0; c < 2; c++) b[c * D / 2 + i] = a[2 * i + c] = wave(2 * i + c);
    turn(a, 11, &r, ROPE_INTERLEAVED);
    turn(b, 11, &r, ROPE_HALF);
    for (int i = 0; i < D / 2; i++)
        for (int c = 0; c < 2; c++) CHECK(b[c * D / 2 + i] == a[2 * i + c]);
}

extern const Test tests_rope[];
const Test tests_rope[] = {
    {"rope/anchors none", anchors_none},
    {"rope/anchors linear", anchors_linear},
    {"rope/anchors llama3", anchors_llama3},
    {"rope/anchors yarn", anchors_yarn},
    {"rope/anchors yarn, borders not rounded", anchors_yarn_untruncated},
    {"rope/anchors longrope", anchors_longrope},
    {"rope/divisors of rope_freqs", divisors},
    {"rope/refuses what is incomplete", refusals},
    {"rope/angles to 3e-7 up to 2^31", precision},
    {"rope/long-term decay", decay},
    {"rope/direction and pairs", direction},
    {"rope/relative, partial", relative},
    {"rope/pairings agree", pairings_agree},
    {0},
};
