/* rope/scaling.c - methods that stretch RoPE to longer texts by changing its frequencies: one function and one row
 * each.
 *
 * w_i = theta^(-2i/d) is the frequency as trained, s the factor, L the length trained on (n_ctx_original).
 * Formulas and their traps: README.md; sources beside each. */
#include "scaling.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const RopeNumbers *rope_numbers(const RopeConfig *c) {
    static const RopeNumbers none;
    return c->numbers ? c->numbers : &none;
}

static const double PI = 3.14159265358979323846;

/* w_i / s: every position is squeezed, m becomes m/s. Position interpolation, arXiv:2306.15595. */
static double fill_linear(double *inv_freq, const RopeConfig *c, int64_t choice) {
    (void)choice;
    const RopeNumbers *n = rope_numbers(c);
    for (int i = 0; i < c->rotary_dim / 2; i++) inv_freq[i] /= n->factor;
    return 1;
}

/* Fast pairs stay, slow ones are divided by s, a ramp in wavelength joins them. Llama 3.1's reference code. */
static double fill_llama3(double *inv_freq, const RopeConfig *c, int64_t choice) {
    (void)choice;
    const RopeNumbers *n = rope_numbers(c);
    double L = (double)n->n_ctx_original, low = n->low_freq_factor, high = n->high_freq_factor;
    for (int i = 0; i < c->rotary_dim / 2; i++) {
        double w = inv_freq[i], turns = L * w / (2 * PI); /* L / wavelength: full turns within the trained length */
        double t = (turns - low) / (high - low);
        inv_freq[i] = turns > high ? w : turns < low ? w / n->factor : (1 - t) * w / n->factor + t * w;
    }
    return 1;
}

/* The pair that makes r full turns within L positions, as a real number. YaRN, arXiv:2309.00071, section 3.2. */
static double pair_of_turns(double r, const RopeConfig *c) {
    const RopeNumbers *n = rope_numbers(c);
    return c->rotary_dim * log((double)n->n_ctx_original / (r * 2 * PI)) / (2 * log(c->theta));
}

static double yarn_magnitude(double s, double mscale) { return s <= 1 ? 1 : 0.1 * mscale * log(s) + 1; }

/* By pairs: those that turn more than beta_fast times within L stay, those that turn less than beta_slow times are
 * interpolated, a ramp over the pair's index joins them; cos and sin grow a little, which sharpens attention. */
static double fill_yarn(double *inv_freq, const RopeConfig *c, int64_t choice) {
    (void)choice;
    const RopeNumbers *n = rope_numbers(c);
    double low = pair_of_turns(n->beta_fast > 0 ? n->beta_fast : 32, c);
    double high = pair_of_turns(n->beta_slow > 0 ? n->beta_slow : 1, c);
    if (!n->no_truncate) low = floor(low), high = ceil(high);
    low = fmax(low, 0);
    high = fmin(high, c->rotary_dim - 1); /* d-1, not d/2-1: so it was released */
    if (low == high) high += 0.001;
    for (int i = 0; i < c->rotary_dim / 2; i++) {
        double ramp = fmin(fmax((i - low) / (high - low), 0), 1);
        inv_freq[i] = inv_freq[i] / n->factor * ramp + inv_freq[i] * (1 - ramp);
    }
    if (n->mscale != 0 && n->mscale_all_dim != 0)
        return yarn_magnitude(n->factor, n->mscale) / yarn_magnitude(n->factor, n->mscale_all_dim);
    return yarn_magnitude(n->factor, 1);
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

static int check_original(const RopeConfig *c, char *err, size_t errlen) {
    const RopeNumbers *n = rope_numbers(c);
    if (n->n_ctx_original >= 1) return 0;
    return refuse(c, "the original context is missing (original_max_position_embeddings, --rope-original-context)",
                  err, errlen);
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
    int rc = check_factor(c, err, errlen);
    if (rc == 0) rc = check_original(c, err, errlen);
    if (rc) return rc;
    if (c->theta <= 1) return refuse(c, "rope_theta must be larger than 1", err, errlen);
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
        return refuse(c, "long_factor and short_factor must be given by the file, one number for each pair", err,
                       errlen);
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

const RopeScaling rope_none = {"none", check_numbers, NULL, fill, &(const RopeMethod){"default", 0, 0, NULL}};
static const RopeScaling
    linear = {"linear", check_factor, NULL, fill, &(const RopeMethod){NULL, 0, 0, fill_linear}},
    llama3 = {"llama3", check_llama3, NULL, fill, &(const RopeMethod){NULL, 0, 0, fill_llama3}},
    yarn = {"yarn", check_yarn, NULL, fill, &(const RopeMethod){NULL, 1, 1, fill_yarn}},
    longrope = {"longrope", check_longrope, choice_longrope, fill, &(const RopeMethod){"su", 1, 0, fill_longrope}};

const RopeScaling *const rope_scalings[] = {&rope_none, &linear, &llama3, &yarn, &longrope, NULL};

const RopeScaling *rope_scaling(const char *name) {
    for (const RopeScaling *const *r = rope_scalings; *r; r++) {
        const char *alias = (*r)->method->alias;
        if (strcmp(name, (*r)->name) == 0 || (alias && strcmp(name, alias) == 0)) return *r;
    }
    return NULL;
}
