/* rope/positions.c - kinds of position: the formulas, and a row each. */
#include "positions.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the formulas ---- */

double position_sinusoid(int64_t pos, int i, int width) {
    double angle = (double)pos * pow(10000, -(double)(i - i % 2) / width);
    return i % 2 ? cos(angle) : sin(angle);
}

double position_slope(int h, int n, double max_bias) {
    int power = 1;
    while (2 * power <= n) power *= 2;
    if (h < power) return pow(2, -max_bias * (h + 1) / power);
    return pow(2, -max_bias * (2 * (h - power) + 1) / (2 * power)); /* of twice as many heads every second one */
}

int position_bucket(int64_t distance, int n_buckets, int64_t most, int both_ways) {
    int first = 0;
    if (both_ways) {
        n_buckets /= 2;
        if (distance < 0) first = n_buckets;
        distance = distance < 0 ? -distance : distance;
    } else if (distance < 0) distance = 0;
    int exact = n_buckets / 2;
    if (distance < exact) return first + (int)distance;
    if (distance >= most) return first + n_buckets - 1;
    double share = log((double)distance / exact) / log((double)most / exact);
    int bucket = exact + (int)(share * (n_buckets - exact) + 1e-12); /* an exact power is its own bucket */
    return first + (bucket < n_buckets ? bucket : n_buckets - 1);
}

double position_hierarchical(const float *e, size_t n, size_t d, double alpha, size_t k, size_t i) {
    double first = (double)e[i], high = ((double)e[k / n * d + i] - alpha * first) / (1 - alpha),
           low = ((double)e[k % n * d + i] - alpha * first) / (1 - alpha);
    return k < n ? (double)e[k * d + i] : alpha * high + (1 - alpha) * low;
}

/* ---- what kinds add ---- */

static void add_sinusoid(const Positions *p, float *x, int64_t pos) {
    for (int i = 0; i < p->width; i++) x[i] += (float)position_sinusoid(pos, i, p->width);
}

static void add_learned(const Positions *p, float *x, int64_t pos) {
    size_t n = (size_t)p->n_trained, d = (size_t)p->width;
    for (size_t i = 0; i < d; i++) x[i] += (float)position_hierarchical(p->table, n, d, p->alpha, (size_t)pos, i);
}

static double bias_alibi(const Positions *p, int h, int64_t distance) {
    return -position_slope(h, p->n_heads, p->max_bias) * fabs((double)distance);
}

static double bias_t5(const Positions *p, int h, int64_t distance) {
    int bucket = position_bucket(distance, (int)p->n_buckets, p->max_distance, p->two_sided);
    return (double)p->table[(size_t)bucket * (size_t)p->n_heads + (size_t)h];
}

/* ---- their tables and numbers ---- */

static void shape_learned(const Positions *p, size_t *rows, size_t *cols) {
    *rows = (size_t)p->n_trained, *cols = (size_t)p->width;
}

static int64_t most_learned(const Positions *p) {
    if (p->alpha <= 0) return p->n_trained;
    return p->n_trained < (int64_t)1 << 31 ? p->n_trained * p->n_trained : INT64_MAX;
}

static void shape_t5(const Positions *p, size_t *rows, size_t *cols) {
    *rows = (size_t)p->n_buckets, *cols = (size_t)p->n_heads;
}

static const char *wrong_alibi(const Positions *p) {
    return p->max_bias > 0 && p->max_bias <= 1000 ? NULL : "max_alibi_bias must be above 0 and at most 1000";
}

static const char *wrong_t5(const Positions *p) {
    int64_t side = p->two_sided ? p->n_buckets / 2 : p->n_buckets;
    if (p->n_buckets > 1 << 20) return "there cannot be so many buckets";
    if (p->two_sided && p->n_buckets % 2) return "the buckets of two directions must be an even number";
    if (side < 2) return p->two_sided ? "there must be at least 4 buckets" : "there must be at least 2 buckets";
    return p->max_distance > side / 2 ? NULL : "the largest distance must be above that of the last exact bucket";
}

/* ---- rows ---- */

#define AT(field) offsetof(Positions, field)
static const PositionNumber
    alibi_numbers[] = {{"attention.max_alibi_bias", "alibi_bias_max", AT(max_bias), 0, 8}, {0}},
    t5_numbers[] = {{"attention.relative_buckets_count", "relative_attention_num_buckets", AT(n_buckets), 1, 32},
                    {"attention.relative_max_distance", "relative_attention_max_distance", AT(max_distance), 1, 128},
                    {0}};

static const PositionKind
    rope = {.name = "rope", .rotates = 1, .source = "RoFormer, arXiv:2104.09864"},
    nope = {.name = "nope", .source = "none at all: Kazemnejad et al., arXiv:2305.19466"},
    sinusoidal = {.name = "sinusoidal", .add = add_sinusoid, .source = "Vaswani et al. 2017, arXiv:1706.03762"},
    learned = {.name = "learned", .add = add_learned, .table = "position_embd.weight",
               .table_hf = "model.embed_positions.weight", .shape = shape_learned,
               .most = most_learned, .source = "BERT, arXiv:1810.04805; GPT-2"},
    alibi = {.name = "alibi", .bias = bias_alibi, .numbers = alibi_numbers, .wrong = wrong_alibi,
             .source = "Press et al., arXiv:2108.12409"},
    t5 = {.name = "t5", .bias = bias_t5, .table = "blk.0.attn_rel_b.weight",
          .table_hf = "model.relative_attention_bias.weight", .shape = shape_t5, .numbers = t5_numbers,
          .wrong = wrong_t5, .source = "Raffel et al., arXiv:1910.10683"},
    xpos = {.name = "xpos", .rotates = 1, .scaling = "xpos", .source = "Sun et al., arXiv:2212.10554"};

const PositionKind *const position_kinds[] = {&rope, &nope, &sinusoidal, &learned, &alibi, &t5, &xpos, NULL};

const PositionKind *position_kind(const char *name) {
    for (const PositionKind *const *k = position_kinds; *k; k++)
        if (strcmp((*k)->name, name) == 0) return *k;
    return NULL;
}

const PositionKind *position_kind_of(const Positions *p) { return p ? p->kind : &rope; }

/* ---- a model's ---- */

static int refuse(const Positions *p, const char *why, char *err, size_t errlen) {
    snprintf(err, errlen, "positions %s: %s", p->kind->name, why);
    return -EINVAL;
}

int positions_check(const Positions *p, char *err, size_t errlen) {
    const char *why = p->kind->wrong ? p->kind->wrong(p) : NULL;
    return why ? refuse(p, why, err, errlen) : 0;
}

int64_t positions_most(const Positions *p) { return p && p->kind->most ? p->kind->most(p) : 0; }

int positions_extend(Positions *p, const char *spec, char *err, size_t errlen) {
    static const char name[] = "hierarchical", key[] = ":alpha=";
    size_t n = sizeof name - 1;
    double alpha = 0.4;
    if (!p->kind->most) return refuse(p, "there is no table that ends, and nothing to extend", err, errlen);
    if (strncmp(spec, name, n) != 0 || (spec[n] && strncmp(spec + n, key, sizeof key - 1) != 0))
        return refuse(p, "they are extended by hierarchical or hierarchical:alpha=.4", err, errlen);
    if (spec[n]) {
        const char *value = spec + n + sizeof key - 1;
        char *end;
        alpha = strtod(value, &end);
        if (end == value || *end) return refuse(p, "alpha is not a number", err, errlen);
    }
    if (!(alpha > 0 && alpha < 1) || alpha == 0.5)
        return refuse(p, "alpha must lie between 0 and 1, and not be 0.5, with which (i, j) and (j, i) are one place",
                      err, errlen);
    p->alpha = alpha;
    return 0;
}
