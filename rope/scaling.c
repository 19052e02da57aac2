/* rope/scaling.c - methods that stretch RoPE to longer texts by changing its frequencies: one function and one row
 * each.
 *
 * w_i = theta^(-2i/d) is the frequency as trained, s the factor, L the length trained on (n_ctx_original).
 * Formulas and their traps: README.md; sources beside each. */
#include "scaling.h"

#include "base/base.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* w_i / s: every position is squeezed, m becomes m/s. Position interpolation, arXiv:2306.15595. */
static double fill_linear(double *inv_freq, const RopeConfig *c, int64_t choice) {
    (void)choice;
    const RopeNumbers *n = rope_numbers(c);
    for (int i = 0; i < c->rotary_dim / 2; i++) inv_freq[i] /= n->factor;
    return 1;
}

/* theta^(-2i/d) */
static void plain(double *inv_freq, const RopeConfig *c, double theta) {
    for (int i = 0; i < c->rotary_dim / 2; i++) inv_freq[i] = pow(theta, -2.0 * i / c->rotary_dim);
}

/* The base with which the slowest pair is x times slower, while the fastest stays. */
static double ntk_base(const RopeConfig *c, double x) {
    return c->theta * pow(x, (double)c->rotary_dim / (c->rotary_dim - 2));
}

/* A larger base: the fastest pair stays, the slowest turns s times slower. bloc97, 2023; the yarn repository's
 * LlamaNTKScaledRotaryEmbedding. */
static double fill_ntk(double *inv_freq, const RopeConfig *c, int64_t choice) {
    (void)choice;
    plain(inv_freq, c, ntk_base(c, rope_numbers(c)->factor));
    return 1;
}

/* Positions as numbers of d/2 digits, to a base that is s^(2/d) times as large in every digit. Su, kexue.fm 9706. */
static double fill_ntk_fixed(double *inv_freq, const RopeConfig *c, int64_t choice) {
    (void)choice;
    double s = rope_numbers(c)->factor;
    for (int i = 0; i < c->rotary_dim / 2; i++) inv_freq[i] /= pow(s, 2.0 * (i + 1) / c->rotary_dim);
    return 1;
}

/* Digits whose bases grow unevenly, w_i exp(-a (i+1)^b): the slowest by s. Su, kexue.fm 9706; bojone/rerope,
 * ntk_patch.py, where b is 0.75. */
static double fill_ntk_mixed(double *inv_freq, const RopeConfig *c, int64_t choice) {
    (void)choice;
    const RopeNumbers *n = rope_numbers(c);
    double a = log(n->factor) / pow(c->rotary_dim / 2.0, n->power);
    for (int i = 0; i < c->rotary_dim / 2; i++) inv_freq[i] *= exp(-a * pow(i + 1, n->power));
    return 1;
}

/* A base that grows with the text, so that what is not too long is read as trained. emozilla, 2023; transformers'
 * dynamic. */
static int64_t choice_dynamic(const RopeConfig *c, int64_t n) { return n > rope_numbers(c)->n_ctx_original ? n : 0; }

static double fill_dynamic(double *inv_freq, const RopeConfig *c, int64_t choice) {
    const RopeNumbers *n = rope_numbers(c);
    if (choice)
        plain(inv_freq, c, ntk_base(c, n->factor * (double)choice / (double)n->n_ctx_original - (n->factor - 1)));
    return 1;
}

/* The base grows in steps: 3 and 7 times as long, and so on. Qwen-7B, modeling_qwen.py; it adds log-n. */
static int64_t choice_qwen(const RopeConfig *c, int64_t n) {
    int64_t original = rope_numbers(c)->n_ctx_original, steps = 0, length = original;
    while (length < n && length < INT64_MAX / 2) length *= 2, steps++; /* ceil(log2(n / L)) */
    return steps;
}

static double fill_qwen(double *inv_freq, const RopeConfig *c, int64_t choice) {
    if (choice) plain(inv_freq, c, ntk_base(c, pow(2, (double)choice + 1) - 1));
    return 1;
}

/* Fast pairs stay, slow ones are divided by s, a ramp in wavelength joins them. Llama 3.1's reference code. */
static double fill_llama3(double *inv_freq, const RopeConfig *c, int64_t choice) {
    (void)choice;
    const RopeNumbers *n = rope_numbers(c);
    double L = (double)n->n_ctx_original, low = n->low_freq_factor, high = n->high_freq_factor;
    for (int i = 0; i < c->rotary_dim / 2; i++) {
        double w = inv_freq[i], turns = L * w / TURN; /* L / wavelength: full turns within the trained length */
        double t = (turns - low) / (high - low);
        inv_freq[i] = turns > high ? w : turns < low ? w / n->factor : (1 - t) * w / n->factor + t * w;
    }
    return 1;
}

/* The pair that makes r full turns within L positions, as a real number. YaRN, arXiv:2309.00071, section 3.2. */
static double pair_of_turns(double r, const RopeConfig *c) {
    const RopeNumbers *n = rope_numbers(c);
    return c->rotary_dim * log((double)n->n_ctx_original / (r * TURN)) / (2 * log(c->theta));
}

/* 0 up to the pair that turns a times within L, 1 from the one that turns b times on, straight between. */
static void ramp(double *out, const RopeConfig *c, double a, double b, int whole) {
    double low = pair_of_turns(a, c), high = pair_of_turns(b, c);
    if (whole) low = floor(low), high = ceil(high);
    low = fmax(low, 0);
    high = fmin(high, c->rotary_dim - 1); /* d-1, not d/2-1: so it was released */
    if (low == high) high += 0.001;
    for (int i = 0; i < c->rotary_dim / 2; i++) out[i] = fmin(fmax((i - low) / (high - low), 0), 1);
}

/* Interpolated, NTK and plain frequencies by pairs, joined by two ramps. bloc97, 2023; the yarn repository's
 * LlamaPartNTKScaledRotaryEmbedding. */
static double fill_by_parts(double *inv_freq, const RopeConfig *c, int64_t choice) {
    (void)choice;
    const RopeNumbers *n = rope_numbers(c);
    double ntk[ROPE_MAX_PAIRS], beta[ROPE_MAX_PAIRS], gamma[ROPE_MAX_PAIRS];
    plain(ntk, c, ntk_base(c, n->factor));
    ramp(beta, c, n->beta_0, n->beta_1, 1);
    ramp(gamma, c, n->gamma_0, n->gamma_1, 1);
    for (int i = 0; i < c->rotary_dim / 2; i++) {
        double slow = inv_freq[i] / n->factor * beta[i] + ntk[i] * (1 - beta[i]);
        inv_freq[i] = slow * gamma[i] + inv_freq[i] * (1 - gamma[i]);
    }
    return 1;
}

static double yarn_magnitude(double s, double mscale) { return s <= 1 ? 1 : 0.1 * mscale * log(s) + 1; }

/* By pairs: those that turn more than beta_fast times within L stay, those that turn less than beta_slow times are
 * interpolated, a ramp over the pair's index joins them; cos and sin grow a little, which sharpens attention. */
static double yarn(double *inv_freq, const RopeConfig *c, double s) {
    const RopeNumbers *n = rope_numbers(c);
    double interpolated[ROPE_MAX_PAIRS];
    ramp(interpolated, c, n->beta_fast > 0 ? n->beta_fast : 32, n->beta_slow > 0 ? n->beta_slow : 1, !n->no_truncate);
    for (int i = 0; i < c->rotary_dim / 2; i++)
        inv_freq[i] = inv_freq[i] / s * interpolated[i] + inv_freq[i] * (1 - interpolated[i]);
    if (n->mscale != 0 && n->mscale_all_dim != 0)
        return yarn_magnitude(s, n->mscale) / yarn_magnitude(s, n->mscale_all_dim);
    return yarn_magnitude(s, 1);
}

static double fill_yarn(double *inv_freq, const RopeConfig *c, int64_t choice) {
    (void)choice;
    return yarn(inv_freq, c, rope_numbers(c)->factor);
}

/* The factor is how long the text has become. The yarn repository's LlamaDynamicYaRNScaledRotaryEmbedding. */
static double fill_dynamic_yarn(double *inv_freq, const RopeConfig *c, int64_t choice) {
    return choice ? yarn(inv_freq, c, (double)choice / (double)rope_numbers(c)->n_ctx_original) : 1;
}

/* YaRN, then every wavelength a whole number of positions: no angle is ever new. Wang et al., arXiv:2403.00071. */
static double fill_resonance(double *inv_freq, const RopeConfig *c, int64_t choice) {
    double magnitude = fill_yarn(inv_freq, c, choice);
    for (int i = 0; i < c->rotary_dim / 2; i++) inv_freq[i] = TURN / round(TURN / inv_freq[i]);
    return magnitude;
}

/* The highest share of the frequencies stays, the others stand still. p-RoPE, Barbero et al., arXiv:2410.06205;
 * transformers' proportional. */
static double fill_proportional(double *inv_freq, const RopeConfig *c, int64_t choice) {
    (void)choice;
    const RopeNumbers *n = rope_numbers(c);
    int live = (int)(n->share * c->rotary_dim / 2);
    for (int i = 0; i < c->rotary_dim / 2; i++) inv_freq[i] = i < live ? inv_freq[i] / fmax(n->factor, 1) : 0;
    return 1;
}

/* The lowest N fade out along half a cosine, or stand still. Clipped RoPE, arXiv:2602.05258; hrlics/CoPE. */
static double fill_clip(double *inv_freq, const RopeConfig *c, int64_t choice) {
    (void)choice;
    const RopeNumbers *n = rope_numbers(c);
    int half = c->rotary_dim / 2, N = (int)n->clip_pairs;
    for (int t = 0; t < N; t++)
        inv_freq[half - N + t] *= n->clip_hard ? 0 : (1 + cos(TURN / 2 * t / (N > 1 ? N - 1 : 1))) / 2;
    return 1;
}

/* LongRoPE, arXiv:2402.13753, as Phi-3 has it: each pair has its own divisor, one list up to L positions, another
 * beyond. */
static int64_t choice_longrope(const RopeConfig *c, int64_t n) { return n > rope_numbers(c)->n_ctx_original; }

static double longrope_factor(const RopeConfig *c) {
    const RopeNumbers *n = rope_numbers(c);
    return n->factor > 0 ? n->factor : (double)n->n_ctx_train / (double)n->n_ctx_original;
}

static double fill_longrope(double *inv_freq, const RopeConfig *c, int64_t choice) {
    const RopeNumbers *n = rope_numbers(c);
    const double *divisor = choice ? n->long_factor : n->short_factor;
    for (int i = 0; i < c->rotary_dim / 2; i++) inv_freq[i] /= divisor[i];
    double s = longrope_factor(c);
    return s <= 1 ? 1 : sqrt(1 + log(s) / log((double)n->n_ctx_original)); /* the same for both lists */
}

/* zeta_i^((m - j) / 512): slow pairs, which cannot tell far distances apart, count less there. Sun et al.,
 * arXiv:2212.10554, section 3; torchscale's xpos_relative_position.py. */
static double growth_xpos(const RopeConfig *c, int i) {
    double base = rope_numbers(c)->scale_base, d = c->rotary_dim;
    return log((2 * i + 0.4 * d) / (1.4 * d)) / (base > 0 ? base : 512);
}

static double fill_still(double *inv_freq, const RopeConfig *c, int64_t choice) {
    (void)choice;
    memset(inv_freq, 0, (size_t)c->rotary_dim / 2 * sizeof *inv_freq);
    return 1;
}

static int refuse(const RopeConfig *c, const char *what, char *err, size_t errlen) {
    snprintf(err, errlen, "rope method %s: %s", c->scaling->name, what);
    return -EINVAL;
}

static int check_numbers(const RopeConfig *c, char *err, size_t errlen) {
    const RopeNumbers *n = rope_numbers(c);
    const double numbers[] = {n->factor, n->attention_factor, n->attention_multiplier, n->mscale, n->mscale_all_dim,
                              n->beta_fast, n->beta_slow, n->low_freq_factor, n->high_freq_factor};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!isfinite(numbers[i])) return refuse(c, "a setting is not a finite number", err, errlen);
    if (n->attention_factor < 0) return refuse(c, "the attention factor must be above 0", err, errlen);
    if (n->n_divisors && n->n_divisors != c->rotary_dim / 2)
        return refuse(c, "rope_freqs must hold one divisor for each pair", err, errlen);
    for (int i = 0; i < n->n_divisors; i++)
        if (!(n->divisors[i] > 0) || isinf(n->divisors[i]))
            return refuse(c, "rope_freqs holds a divisor that is not above 0", err, errlen);
    return 0;
}

static int check_factor(const RopeConfig *c, char *err, size_t errlen) {
    const RopeNumbers *n = rope_numbers(c);
    int rc = check_numbers(c, err, errlen);
    if (rc || n->factor >= 1) return rc;
    return refuse(c,
                  n->factor == 0 ? "the factor is missing (factor, --rope-factor)" : "the factor must be at least 1",
                  err, errlen);
}

static int check_mixed(const RopeConfig *c, char *err, size_t errlen) {
    double b = rope_numbers(c)->power;
    int rc = check_factor(c, err, errlen);
    return rc || (b >= 0 && b <= 10) ? rc : refuse(c, "the power must be from 0 to 10 (mixed_b)", err, errlen);
}

static int check_original(const RopeConfig *c, char *err, size_t errlen) {
    const RopeNumbers *n = rope_numbers(c);
    if (n->n_ctx_original >= 1) return 0;
    return refuse(c, "the original context is missing (original_max_position_embeddings, --rope-original-context)",
                  err, errlen);
}

/* What pair_of_turns needs. */
static int check_turns(const RopeConfig *c, char *err, size_t errlen) {
    int rc = check_original(c, err, errlen);
    if (rc == 0 && c->theta <= 1) return refuse(c, "rope_theta must be larger than 1", err, errlen);
    return rc;
}

/* What ntk_base needs. */
static int check_pairs(const RopeConfig *c, char *err, size_t errlen) {
    return c->rotary_dim < 4 ? refuse(c, "a base for one pair alone cannot be found", err, errlen) : 0;
}

static int check_ntk(const RopeConfig *c, char *err, size_t errlen) {
    int rc = check_pairs(c, err, errlen);
    return rc ? rc : check_factor(c, err, errlen);
}

static int check_dynamic(const RopeConfig *c, char *err, size_t errlen) {
    int rc = check_ntk(c, err, errlen);
    return rc ? rc : check_original(c, err, errlen);
}

static int check_length(const RopeConfig *c, char *err, size_t errlen) {
    int rc = check_numbers(c, err, errlen);
    if (rc == 0) rc = check_pairs(c, err, errlen);
    return rc ? rc : check_original(c, err, errlen);
}

static int check_by_parts(const RopeConfig *c, char *err, size_t errlen) {
    const RopeNumbers *n = rope_numbers(c);
    int rc = check_ntk(c, err, errlen);
    if (rc == 0) rc = check_turns(c, err, errlen);
    if (rc) return rc;
    if (!(n->beta_1 > 0) || !(n->gamma_1 > 0) || n->beta_0 < n->beta_1 || n->gamma_0 < n->gamma_1)
        return refuse(c, "its turns must be above 0, beta_0 not below beta_1 and gamma_0 not below gamma_1", err,
                      errlen);
    return 0;
}

static int check_clip(const RopeConfig *c, char *err, size_t errlen) {
    int64_t pairs = rope_numbers(c)->clip_pairs;
    if (pairs < 0 || pairs > c->rotary_dim / 2) return refuse(c, "clips more pairs than a head has", err, errlen);
    return check_numbers(c, err, errlen);
}

static int check_xpos(const RopeConfig *c, char *err, size_t errlen) {
    double base = rope_numbers(c)->scale_base;
    if (base < 0 || (base > 0 && base < 1) || !isfinite(base))
        return refuse(c, "scale_base must be at least 1", err, errlen);
    return check_numbers(c, err, errlen);
}

static int check_share(const RopeConfig *c, char *err, size_t errlen) {
    double share = rope_numbers(c)->share;
    if (!(share > 0) || share > 1) return refuse(c, "the share must be above 0 and at most 1", err, errlen);
    return check_numbers(c, err, errlen);
}

static int check_llama3(const RopeConfig *c, char *err, size_t errlen) {
    const RopeNumbers *n = rope_numbers(c);
    int rc = check_factor(c, err, errlen);
    if (rc == 0) rc = check_original(c, err, errlen);
    if (rc) return rc;
    if (!(n->low_freq_factor > 0) || !(n->high_freq_factor > 0))
        return refuse(c, "low_freq_factor and high_freq_factor must be given, above 0", err, errlen);
    if (!(n->high_freq_factor > n->low_freq_factor))
        return refuse(c, "high_freq_factor must be larger than low_freq_factor", err, errlen);
    return 0;
}

static int check_yarn(const RopeConfig *c, char *err, size_t errlen) {
    const RopeNumbers *n = rope_numbers(c);
    int rc = c->scaling->choice ? check_numbers(c, err, errlen) : check_factor(c, err, errlen);
    if (rc == 0) rc = check_turns(c, err, errlen);
    if (rc) return rc;
    if (n->beta_fast < 0 || n->beta_slow < 0) return refuse(c, "beta_fast and beta_slow must be above 0", err, errlen);
    if (n->mscale < 0 || n->mscale_all_dim < 0)
        return refuse(c, "mscale and mscale_all_dim must not be negative", err, errlen);
    if ((n->beta_fast > 0 ? n->beta_fast : 32) < (n->beta_slow > 0 ? n->beta_slow : 1))
        return refuse(c, "beta_fast must not be smaller than beta_slow", err, errlen);
    return 0;
}

static int check_longrope(const RopeConfig *c, char *err, size_t errlen) {
    const RopeNumbers *n = rope_numbers(c);
    int rc = check_numbers(c, err, errlen);
    if (rc == 0) rc = check_original(c, err, errlen);
    if (rc) return rc;
    if (n->n_ctx_original < 2) return refuse(c, "the original context must be at least 2", err, errlen);
    if (n->n_long != c->rotary_dim / 2 || n->n_short != c->rotary_dim / 2)
        return refuse(c, "its divisors are not known, one for each pair: long_factor and short_factor of the model's "
                      "file, or long=FILE, long=1/1.2/..", err, errlen);
    for (int i = 0; i < n->n_long; i++)
        if (!(n->long_factor[i] > 0) || !(n->short_factor[i] > 0) || isinf(n->long_factor[i]) ||
            isinf(n->short_factor[i]))
            return refuse(c, "long_factor and short_factor must be above 0", err, errlen);
    if (n->attention_factor == 0 && longrope_factor(c) <= 0)
        return refuse(c, "neither a factor nor the trained context is given", err, errlen);
    return 0;
}

/* What is said of any method, on top of its own. */
static double fill(double *inv_freq, const RopeConfig *c, int64_t choice) {
    const RopeNumbers *n = rope_numbers(c);
    const RopeMethod *method = c->scaling->method;
    double own = method->fill ? method->fill(inv_freq, c, choice) : 1;
    for (int i = 0; i < n->n_divisors; i++) inv_freq[i] /= n->divisors[i];
    if (n->attention_factor > 0) own = n->attention_factor;
    return n->attention_multiplier > 0 ? own * n->attention_multiplier : own;
}

/* ---- rows ---- */

static double usual_pairs(const RopeNumbers *n) { return floor(20.0 / 64 * (double)n->n_pairs + 0.5); }

#define FACTOR {"factor", ROPE_NUMBER, ROPE_AT(factor), 1, 1e9, 0, rope_usual_factor, \
                "s: how many times longer (-c over the original length)"}
#define ORIGINAL {"original", ROPE_WHOLE, ROPE_AT(n_ctx_original), 1, 1e15, 0, rope_usual_original, \
                  "L: the length trained on (the file's)"}
#define OPTIONAL(name, about) {#name, ROPE_OPTIONAL, ROPE_AT(name), 0, 1e9, 0, NULL, about}
#define NUMBER(name, usual, about) {#name, ROPE_NUMBER, ROPE_AT(name), 1e-9, 1e9, usual, NULL, about}
#define ATTENTION OPTIONAL(attention_factor, "on cos and sin, in place of the method's own (0: its own)")
#define YARN NUMBER(beta_fast, 32, "pairs of more turns within L stay (32)"), \
             NUMBER(beta_slow, 1, "pairs of fewer are divided by s (1)"), \
             {"truncate", ROPE_NOT, ROPE_AT(no_truncate), 0, 1, 1, NULL, "0: the ramp's ends are not rounded (1)"}, \
             OPTIONAL(mscale, "DeepSeek's: cos and sin by (0.1 mscale ln s + 1) over the same of .. (0: not so)"), \
             OPTIONAL(mscale_all_dim, ".. this (0)"), ATTENTION, \
             OPTIONAL(attention_multiplier, "on cos and sin, beside the method's own (0: 1)")
/* name, kind, where, min, max, usual, usually, about (numbers.h) */
static const RopeKey
    none_keys[] = {{0}}, factor_keys[] = {FACTOR, {0}},
    mixed_keys[] = {FACTOR, {"b", ROPE_NUMBER, ROPE_AT(power), 0, 10, 0.75, NULL,
                             "0: as linear, 1: as ntk-fixed (0.75)"}, {0}},
    parts_keys[] = {ORIGINAL, FACTOR, NUMBER(beta_0, 1.25, "turns where its first ramp, to ntk, begins (1.25)"),
                    NUMBER(beta_1, 0.75, ".. and ends: fewer are divided by s (0.75)"),
                    NUMBER(gamma_0, 16, "turns where its second ends: more stay (16)"),
                    NUMBER(gamma_1, 2, ".. and begins (2)"), {0}},
    dynamic_keys[] = {ORIGINAL, FACTOR, {0}}, length_keys[] = {ORIGINAL, {0}},
    yarn_keys[] = {ORIGINAL, FACTOR, YARN, {0}}, dynamic_yarn_keys[] = {ORIGINAL, YARN, {0}},
    longrope_keys[] = {ORIGINAL, FACTOR,
                       {"long", ROPE_LIST, ROPE_AT(long_factor), 1e-9, 1e9, 1, NULL,
                        "divisors beyond L: 1/1.5/.. or a file (the model file's)"},
                       {"short", ROPE_LIST, ROPE_AT(short_factor), 1e-9, 1e9, 1, NULL,
                        "divisors up to L (the model file's, else all 1)"},
                       ATTENTION, {0}},
    llama3_keys[] = {ORIGINAL, FACTOR, NUMBER(low_freq_factor, 1, "pairs of fewer turns within L are divided (1)"),
                     NUMBER(high_freq_factor, 4, "pairs of more stay (4)"), {0}},
    xpos_keys[] = {NUMBER(scale_base, 512, "positions over which a pair shrinks by its share (the file's)"), {0}},
    share_keys[] = {{"share", ROPE_NUMBER, ROPE_AT(share), 1e-9, 1, 0.75, NULL, "of the pairs that turn (0.75)"},
                    {"factor", ROPE_NUMBER, ROPE_AT(factor), 1, 1e9, 1, NULL, "s, which divides these (1)"},
                    {0}},
    clip_keys[] = {{"pairs", ROPE_WHOLE, ROPE_AT(clip_pairs), 0, ROPE_MAX_PAIRS, 0, usual_pairs,
                    "the slowest, which fade out (20 of 64)"},
                   {"hard", ROPE_WHOLE, ROPE_AT(clip_hard), 0, 1, 0, NULL, "1: they stop (0)"},
                   {0}};

const RopeScaling rope_none = {.name = "none", .check = check_numbers, .fill = fill,
    .method = &(const RopeMethod){.alias = "default", .in_files = 1, .keys = none_keys,
                                  .source = "RoFormer, arXiv:2104.09864"}};
const RopeScaling rope_still = {.name = "none", .check = check_numbers, .fill = fill_still,
    .method = &(const RopeMethod){.keys = none_keys, .source = "no RoPE (positions.h)"}};
static const RopeScaling
    row_linear = {.name = "linear", .check = check_factor, .fill = fill,
        .method = &(const RopeMethod){.alias = "pi", .in_files = 1, .fill = fill_linear, .keys = factor_keys,
                                      .source = "arXiv:2306.15595"}},
    row_ntk = {.name = "ntk", .check = check_ntk, .fill = fill,
        .method = &(const RopeMethod){.fill = fill_ntk, .keys = factor_keys,
                                      .source = "jquesnelle/yarn, LlamaNTKScaledRotaryEmbedding.py"}},
    row_ntk_fixed = {.name = "ntk-fixed", .check = check_factor, .fill = fill,
        .method = &(const RopeMethod){.fill = fill_ntk_fixed, .keys = factor_keys, .source = "Su, kexue.fm 9706"}},
    row_ntk_mixed = {.name = "ntk-mixed", .check = check_mixed, .fill = fill,
        .method = &(const RopeMethod){.fill = fill_ntk_mixed, .keys = mixed_keys,
                                      .source = "Su, kexue.fm 9706; bojone/rerope"}},
    row_by_parts = {.name = "by-parts", .check = check_by_parts, .fill = fill,
        .method = &(const RopeMethod){.fill = fill_by_parts, .keys = parts_keys,
                                      .source = "jquesnelle/yarn, LlamaPartNTKScaled..py"}},
    row_dynamic = {.name = "dynamic", .check = check_dynamic, .choice = choice_dynamic, .fill = fill,
        .method = &(const RopeMethod){.in_files = 1, .fill = fill_dynamic, .keys = dynamic_keys,
                                      .source = "transformers, modeling_rope_utils.py"}},
    row_dynamic_each = {.name = "dynamic-each", .check = check_dynamic, .fill = fill,
        .method = &(const RopeMethod){.fill = fill_dynamic, .each = choice_dynamic, .keys = dynamic_keys,
                                      .source = "the same, a query at a time"}},
    row_dynamic_yarn = {.name = "dynamic-yarn", .check = check_yarn, .choice = choice_dynamic, .fill = fill,
        .method = &(const RopeMethod){.fill = fill_dynamic_yarn, .keys = dynamic_yarn_keys,
                                      .source = "jquesnelle/yarn"}},
    row_yarn = {.name = "yarn", .check = check_yarn, .fill = fill,
        .method = &(const RopeMethod){.in_files = 1, .factor_from_lengths = 1, .own_attention = 1, .fill = fill_yarn,
                                      .keys = yarn_keys, .source = "arXiv:2309.00071"}},
    row_longrope = {.name = "longrope", .check = check_longrope, .choice = choice_longrope, .fill = fill,
        .method = &(const RopeMethod){.alias = "su", .in_files = 1, .factor_from_lengths = 1, .fill = fill_longrope,
                                      .keys = longrope_keys, .source = "arXiv:2402.13753"}},
    row_llama3 = {.name = "llama3", .check = check_llama3, .fill = fill,
        .method = &(const RopeMethod){.in_files = 1, .fill = fill_llama3, .keys = llama3_keys,
                                      .source = "meta-llama, llama3.1's model.py"}},
    row_proportional = {.name = "proportional", .check = check_share, .fill = fill,
        .method = &(const RopeMethod){.alias = "p-rope", .in_files = 1, .fill = fill_proportional, .keys = share_keys,
                                      .source = "arXiv:2410.06205"}},
    row_qwen = {.name = "qwen-dynamic", .check = check_length, .choice = choice_qwen, .fill = fill,
        .method = &(const RopeMethod){.fill = fill_qwen, .keys = length_keys,
                                      .source = "QwenLM/Qwen-7B, modeling_qwen.py"}},
    row_resonance = {.name = "resonance", .check = check_yarn, .fill = fill,
        .method = &(const RopeMethod){.factor_from_lengths = 1, .own_attention = 1, .fill = fill_resonance,
                                      .keys = yarn_keys, .source = "arXiv:2403.00071"}},
    row_xpos = {.name = "xpos", .check = check_xpos, .fill = fill,
        .method = &(const RopeMethod){.in_files = 1, .growth = growth_xpos, .keys = xpos_keys,
                                      .source = "arXiv:2212.10554"}},
    row_clip = {.name = "clip", .check = check_clip, .fill = fill,
        .method = &(const RopeMethod){.fill = fill_clip, .keys = clip_keys, .source = "arXiv:2602.05258"}};

const RopeScaling *const rope_scalings[] = {
    &rope_none, &row_linear, &row_ntk, &row_ntk_fixed, &row_ntk_mixed, &row_by_parts, &row_dynamic, &row_dynamic_each,
    &row_dynamic_yarn, &row_yarn, &row_longrope, &row_llama3, &row_proportional, &row_qwen, &row_resonance, &row_clip,
    &row_xpos, NULL};

const RopeScaling *rope_scaling(const char *name) {
    for (const RopeScaling *const *r = rope_scalings; *r; r++) {
        const char *alias = (*r)->method->alias;
        if (strcmp(name, (*r)->name) == 0 || (alias && strcmp(name, alias) == 0)) return *r;
    }
    return NULL;
}

const RopeScaling *rope_scaling_of_file(const char *name) {
    const RopeScaling *row = rope_scaling(name);
    return row && row->method->in_files ? row : NULL;
}

int rope_still_pairs(const RopeConfig *c) {
    Rope r;
    int n = 0;
    rope_init(&r, c, 1);
    for (int i = 0; i < r.rotary_dim / 2; i++) n += r.inv_freq[i] < 1e-20;
    return n;
}

void rope_init_each(Rope *r, const RopeConfig *c, int64_t n) {
    const RopeMethod *method = c->scaling->method;
    rope_init(r, c, n);
    if (!method->each || (r->choice = method->each(c, n)) == 0) return;
    plain(r->inv_freq, c, c->theta);
    r->scale = fill(r->inv_freq, c, r->choice);
}
