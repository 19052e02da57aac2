/* tests/test_sampler.c - the chain, link by link. */
#include "model/sampler_more.h"
#include "test.h"

#include "base/hash.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { V = 6 };
static const SamplerOptions plain = {.temperature = 1, .repetition_penalty = 1, .window = 64, .seed = 1};
static const float logits[V] = {0, 2, 1, -1, 2, -3};

static Sampler sampler(SamplerOptions o) {
    Sampler s;
    char err[200];
    CHECK(sampler_init(&s, V, &o, err, sizeof err) == 0);
    return s;
}

/* What the chain leaves, by its definition: all probabilities sorted, then cut. c [n] has them all. */
static size_t cut_sorted(SamplerCandidate *c, size_t n, const SamplerOptions *o, float *sum) {
    float whole = 1;
    qsort(c, n, sizeof *c, sampler_order);
    if (o->top_k && o->top_k < n) n = o->top_k;
    for (size_t i = 0; o->top_k && i < n; i++) whole = i ? whole + c[i].prob : c[0].prob;
    while (o->min_p > 0 && c[n - 1].prob < o->min_p * c[0].prob) n--;
    *sum = 0;
    for (size_t i = 0; i < n; i++)
        if ((*sum += c[i].prob) > o->top_p * whole && o->top_p > 0 && o->top_p < 1) return i + 1;
    return n;
}

/* A p that double sums of the most probable exceed just behind a power of two, where float sums may still be below. */
static float doubtful_p(const float *probs, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        if (probs[i] >= 0x1p-9f) sum += (double)probs[i];
    return sum > 0 && sum < 0.999 ? (float)sum : 0.5f;
}

/* Vocabularies of 1 to 3,000, peaked and flat, with and without equals. */
static void left_as_sorted(void) {
    enum { MOST = 3000, TIMES = 3000 };
    static float x[MOST];
    static SamplerCandidate want[MOST];
    uint64_t rng = 7;
    char err[200];
    for (int time = 0; time < TIMES; time++) {
        size_t n = 1 + (size_t)(sampler_coin(&rng) * (time % 2 ? MOST : 40));
        float wide = 20 * sampler_coin(&rng), step = time % 3 ? 0 : sampler_coin(&rng), sum, want_sum;
        for (size_t i = 0; i < n; i++) {
            x[i] = wide * sampler_coin(&rng) * sampler_coin(&rng) * sampler_coin(&rng);
            if (step > 0) x[i] = step * floorf(x[i] / step);
        }
        SamplerOptions o = plain;
        Sampler s;
        if (time % 4) o.top_p = sampler_coin(&rng);
        if (time % 5 == 0) o.top_k = 1 + (size_t)(sampler_coin(&rng) * sampler_coin(&rng) * (float)n);
        if (time % 5 == 1) o.top_k = 1 + n / 300; /* few */
        if (time % 7 == 0) o.min_p = sampler_coin(&rng) * sampler_coin(&rng);
        CHECK(sampler_init(&s, n, &o, err, sizeof err) == 0);
        sampler_left(&s, x, NULL, 0, &sum);
        if (time % 4 == 3 && n > 1) s.options.top_p = o.top_p = doubtful_p(s.probs, n);
        size_t left = sampler_left(&s, x, NULL, 0, &sum);
        for (size_t i = 0; i < n; i++) want[i] = (SamplerCandidate){s.probs[i], (int)i};
        if (n > 1 && (o.top_p > 0 || o.top_k || o.min_p > 0)) {
            CHECK(left == cut_sorted(want, n, &o, &want_sum) && sum == want_sum);
            for (size_t i = 0; i < left; i++) CHECK(s.candidates[i].id == want[i].id);
        } else CHECK(left == (n > 1 ? n : 0));
        sampler_free(&s);
    }
}

/* How often each id comes in n draws. */
static void histogram(double *share, SamplerOptions o, const int *ids, size_t n_ids) {
    enum { DRAWS = 40000 };
    Sampler s = sampler(o);
    memset(share, 0, V * sizeof *share);
    for (int i = 0; i < DRAWS; i++) share[sampler_next(&s, logits, ids, n_ids)] += 1.0 / DRAWS;
    sampler_free(&s);
}

/* Shares against weights w (any scale): 40,000 draws have a standard deviation of at most 0.0025; 5 of them. */
static void check_shares(const double *share, const double *w) {
    double sum = 0;
    for (int i = 0; i < V; i++) sum += w[i];
    for (int i = 0; i < V; i++) NEAR(share[i], w[i] / sum, w[i] == 0 ? 0 : 0.0125, 0);
}

/* python3: s = 42; s ^= s >> 12; s ^= s << 25 mod 2^64; s ^= s >> 27; ((s * 0x2545F4914F6CDD1D mod 2^64) >> 40) /
 * 2^24 */
static void coins(void) {
    uint64_t state = 42;
    static const double want[] = {5688906 / 16777216.0, 13124075 / 16777216.0, 13256299 / 16777216.0,
                                  15838407 / 16777216.0};
    for (int i = 0; i < 4; i++) NEAR(sampler_coin(&state), want[i], 0, 0);
    for (int i = 0; i < 100000; i++) {
        float c = sampler_coin(&state);
        CHECK(c >= 0 && c < 1);
    }
}

static void greedy(void) {
    SamplerOptions o = plain;
    o.temperature = 0, o.repetition_penalty = 100, o.top_k = 3;
    Sampler s = sampler(o);
    CHECK(sampler_next(&s, logits, NULL, 0) == 1);                /* the lower of two equals */
    CHECK(sampler_next(&s, logits, (const int[]){1, 1}, 2) != 1); /* penalties come first */
    CHECK(sampler_next(&s, (const float[]){NAN, NAN, -INFINITY, -1, NAN, -2}, NULL, 0) == 3);
    sampler_free(&s);
}

static void temperature(void) {
    double share[V], w[V];
    SamplerOptions o = plain;
    for (int t = 0; t < 3; t++) {
        o.temperature = (const float[]){1, 0.5f, 4}[t];
        histogram(share, o, NULL, 0);
        for (int i = 0; i < V; i++) w[i] = exp((double)logits[i] / (double)o.temperature);
        check_shares(share, w);
    }
}

static void truncation(void) {
    double share[V], e1 = exp(1), e2 = exp(2);
    SamplerOptions o = plain;
    o.top_k = 3;
    histogram(share, o, NULL, 0);
    check_shares(share, (const double[]){0, e2, e1, 0, e2, 0});
    o.top_k = 1;
    histogram(share, o, NULL, 0);
    check_shares(share, (const double[]){0, 1, 0, 0, 0, 0});
    o = plain, o.top_p = 0.75f; /* e2 / sum is .39: two make .79 */
    histogram(share, o, NULL, 0);
    check_shares(share, (const double[]){0, 1, 0, 0, 1, 0});
    o.top_p = 0.85f; /* .79 + .145 */
    histogram(share, o, NULL, 0);
    check_shares(share, (const double[]){0, e2, e1, 0, e2, 0});
    o.top_k = 2; /* of the two that top-k leaves, the first is .5: not more than .85 */
    histogram(share, o, NULL, 0);
    check_shares(share, (const double[]){0, 1, 0, 0, 1, 0});
    o = plain, o.min_p = 0.3f; /* 1/e is .37, 1/e2 .14 */
    histogram(share, o, NULL, 0);
    check_shares(share, (const double[]){0, e2, e1, 0, e2, 0});
    o.min_p = 1;
    histogram(share, o, NULL, 0);
    check_shares(share, (const double[]){0, 1, 0, 0, 1, 0});
}

static void penalties(void) {
    double share[V], w[V];
    static const int ids[] = {5, 1, 3, 1, 1, 2}; /* the window of 5 leaves the first out */
    SamplerOptions o = plain;
    o.window = 5, o.repetition_penalty = 2, o.presence_penalty = 0.5f, o.frequency_penalty = 0.25f;
    histogram(share, o, ids, 6);
    const double x[V] = {0, 2 / 2.0 - .5 - .75, 1 / 2.0 - .75, -1 * 2.0 - .75, 2, -3};
    for (int i = 0; i < V; i++) w[i] = exp(x[i]);
    check_shares(share, w);
    o.window = 0; /* looks back on nothing */
    histogram(share, o, ids, 6);
    for (int i = 0; i < V; i++) w[i] = exp((double)logits[i]);
    check_shares(share, w);
}

static void same_seed(void) {
    SamplerOptions o = plain;
    o.seed = 12345;
    Sampler a = sampler(o), b = sampler(o);
    for (int i = 0; i < 100; i++) CHECK(sampler_next(&a, logits, NULL, 0) == sampler_next(&b, logits, NULL, 0));
    sampler_free(&a), sampler_free(&b);
}

/* Correlation of the first coins of seeds i and i + 1: llama2.c's own seeds are not far from each other; scrambled as
 * the program does they are (0.03 is three standard errors of 10,000 pairs). */
static void adjacent_seeds(void) {
    for (int scrambled = 0; scrambled < 2; scrambled++) {
        double sum = 0, squares = 0, products = 0, before = 0;
        int n = 10000;
        for (int i = 1; i <= n + 1; i++) {
            uint64_t state = scrambled ? hash_mix((uint64_t)i) : (uint64_t)i;
            double coin = (double)sampler_coin(&state) - 0.5;
            if (i > 1) products += coin * before;
            if (i <= n) sum += coin, squares += coin * coin;
            before = coin;
        }
        double mean = sum / n, correlation = (products / n - mean * mean) / (squares / n - mean * mean);
        CHECK(scrambled ? fabs(correlation) < 0.03 : correlation > 0.15);
    }
}

static void odd_logits(void) {
    SamplerOptions o = plain;
    o.top_p = 0.9f;
    for (int sorted = 0; sorted < 2; sorted++, o.top_p = 0) {
        Sampler s = sampler(o);
        for (int i = 0; i < 100; i++) {
            CHECK(sampler_next(&s, (const float[]){-INFINITY, -INFINITY, 3, -INFINITY, -INFINITY, -INFINITY}, NULL,
                               0) == 2);
            int id = sampler_next(&s, (const float[]){NAN, 1, INFINITY, NAN, 0, -1}, NULL, 0);
            CHECK(id == 2);
            id = sampler_next(&s, (const float[]){NAN, NAN, NAN, NAN, NAN, NAN}, NULL, 0);
            CHECK(id >= 0 && id < V);
        }
        sampler_free(&s);
    }
}

/* No chance in it, but penalties and biases count as at T = 0: 5 / 1e-40 is infinite, and so is -5 / 1e-40. */
static void no_numbers(void) {
    static const float x[][V] = {{5, 4.5f, 1, 0, -1, -2}, {-5, -6, -7, -8, -9, -10}, {INFINITY, INFINITY, 0, 0, 0, 0}};
    SamplerMore more = {.biases = (const SamplerBias[]){{0, -INFINITY}}, .n_biases = 1, .dry_base = 1.75f,
                        .dry_allowed = 2};
    for (int i = 0; i < 12; i++) {
        SamplerOptions o = plain;
        o.temperature = i < 9 ? (const float[]){1e-45f, 1e-40f, 0}[i / 3] : 1;
        o.top_p = 0.9f;
        Sampler s = sampler(o);
        CHECK(sampler_next(&s, x[i < 9 ? i % 3 : 2], NULL, 0) == 0);
        s.options.more = &more;
        CHECK(sampler_next(&s, x[i < 9 ? i % 3 : 2], NULL, 0) == 1);
        s.options.more = NULL, s.options.presence_penalty = 3;
        CHECK(sampler_next(&s, x[i < 9 ? i % 3 : 2], (const int[]){0}, 1) == (i < 9 && i % 3 < 2));
        sampler_free(&s);
    }
}

static void refusals(void) {
    Sampler s;
    char err[200];
    SamplerOptions o[4] = {plain, plain, plain, plain};
    o[0].temperature = NAN, o[1].top_p = 1.5f, o[2].min_p = -1, o[3].repetition_penalty = 0;
    for (int i = 0; i < 4; i++) CHECK(sampler_init(&s, V, &o[i], err, sizeof err) == -EINVAL && *err);
}

extern const Test tests_sampler[];
const Test tests_sampler[] = {
    {"sampler/coins", coins},
    {"sampler/greedy", greedy},
    {"sampler/temperature", temperature},
    {"sampler/top-k, top-p, min-p", truncation},
    {"sampler/left as all sorted", left_as_sorted},
    {"sampler/penalties", penalties},
    {"sampler/same seed, same ids", same_seed},
    {"sampler/adjacent seeds", adjacent_seeds},
    {"sampler/NaN and infinite logits", odd_logits},
    {"sampler/no numbers: as at T = 0", no_numbers},
    {"sampler/refusals", refusals},
    {0},
};
