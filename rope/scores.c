/* rope/scores.c - factors on the scores of a query, by its position: one function and one row each. With more keys a
 * softmax spreads over more of them; larger scores keep its entropy (Su, kexue.fm/archives/8823). */
#include "scores.h"

#include <math.h>
#include <string.h>

/* ln of how many keys the query sees over ln L; not below 1, unless the model was trained with it. Su, kexue.fm 8823,
 * 9948. */
static double log_n(int64_t pos, int64_t original, int64_t always) {
    double f = log((double)pos + 1) / log((double)original);
    return always || f > 1 ? f : 1;
}

static double factor_log_n(const RopeNumbers *n, int64_t pos, int l) {
    (void)l;
    return log_n(pos, n->score.log_original, n->score.log_always);
}

static double factor_temperature(const RopeNumbers *n, int64_t pos, int l) {
    (void)pos, (void)l;
    return 1 / n->score.temperature;
}

/* A step each time the trained length is full. transformers, modeling_ministral3.py. */
static double factor_ministral(const RopeNumbers *n, int64_t pos, int l) {
    (void)l;
    return 1 + n->score.ministral_beta * log1p((double)(pos / n->score.ministral_original));
}

/* Only layers without rotation have it; where the spec names none of these, all do. transformers, modeling_llama4.py.
 */
static double factor_llama4(const RopeNumbers *n, int64_t pos, int l) {
    if (n->any_nope && !n->nope[l]) return 1;
    return 1 + n->score.llama4_scale * log1p((double)((pos + 1) / n->score.llama4_floor));
}

/* log n, but for the first layers. LongPPL's repository (PKU-ML), arXiv:2410.23771. */
static double factor_eabf(const RopeNumbers *n, int64_t pos, int l) {
    return l < n->score.eabf_skip ? 1 : log_n(pos, n->score.eabf_original, 0);
}

static double usual_log(const RopeNumbers *n) { return fmax(rope_usual_original(n), 2); }

static const RopeKey
    log_n_keys[] = {{"original", ROPE_WHOLE, ROPE_AT(score.log_original), 2, ROPE_KEY_MOST, 0, usual_log,
                     "L: factor ln(p+1) / ln L (the length trained on)"},
                    {"always", ROPE_WHOLE, ROPE_AT(score.log_always), 0, 1, 0, NULL,
                     "1: also where that is below 1, for models trained with it (0)"},
                    {0}},
    temperature_keys[] = {{"t", ROPE_NUMBER, ROPE_AT(score.temperature), 1e-6, 1e6, 1, NULL, "scores over t (1)"}, {0}},
    ministral_keys[] = {{"beta", ROPE_NUMBER, ROPE_AT(score.ministral_beta), 0, 1e6, 0.1, NULL,
                         "factor 1 + beta ln(1 + floor(p/L)) (0.1)"},
                        {"original", ROPE_WHOLE, ROPE_AT(score.ministral_original), 1, ROPE_KEY_MOST, 0,
                         rope_usual_original, "L (the length trained on)"},
                        {0}},
    llama4_keys[] = {{"scale", ROPE_NUMBER, ROPE_AT(score.llama4_scale), 0, 1e6, 0.1, NULL,
                      "factor 1 + scale ln(1 + floor((p+1)/F)) (0.1)"},
                     {"floor", ROPE_WHOLE, ROPE_AT(score.llama4_floor), 1, ROPE_KEY_MOST, 8192, NULL, "F (8192)"},
                     {0}},
    eabf_keys[] = {{"original", ROPE_WHOLE, ROPE_AT(score.eabf_original), 2, ROPE_KEY_MOST, 0, usual_log,
                    "L: factor ln(p+1) / ln L, at least 1 (the length trained on)"},
                   {"skip", ROPE_WHOLE, ROPE_AT(score.eabf_skip), 0, ROPE_MOST_LAYERS, 2, NULL,
                    "the first layers, left as they are (2)"},
                   {0}};

static const RopeScore
    row_log_n = {"log-n", log_n_keys, factor_log_n, "Su, kexue.fm 8823 and 9948"},
    row_temperature = {"temperature", temperature_keys, factor_temperature, "YaRN, arXiv:2309.00071, section 3.4"},
    row_ministral = {"ministral", ministral_keys, factor_ministral, "transformers, modeling_ministral3.py"},
    row_llama4 = {"llama4", llama4_keys, factor_llama4, "transformers, modeling_llama4.py"},
    row_eabf = {"eabf", eabf_keys, factor_eabf, "LongPPL, arXiv:2410.23771, its repository"};

const RopeScore *const rope_scores[] = {&row_log_n, &row_temperature, &row_ministral, &row_llama4, &row_eabf, NULL};

const RopeScore *rope_score_row(const char *name) {
    for (const RopeScore *const *r = rope_scores; *r; r++)
        if (strcmp(name, (*r)->name) == 0) return *r;
    return NULL;
}

double rope_score(const RopeConfig *c, int64_t pos, int l) {
    const RopeNumbers *n = rope_numbers(c);
    double f = 1;
    for (const RopeScore *const *r = n->scores; *r; r++) f *= (*r)->factor(n, pos, l);
    return f;
}
