/* model/suggested.c - see suggested.h. */
#include "suggested.h"

#include "base/json.h"

const SuggestedNumber suggested_numbers[SUGGESTED] = {
    [SUGGEST_TEMPERATURE] = {"general.sampling.temp", "temperature", 0, 1e6, 0},
    [SUGGEST_TOP_P] = {"general.sampling.top_p", "top_p", 1e-9, 1, 0}, /* a 0, which is one token there, is off here */
    [SUGGEST_TOP_K] = {"general.sampling.top_k", "top_k", 0, 1e9, 1},
    [SUGGEST_MIN_P] = {"general.sampling.min_p", "min_p", 0, 1, 0},
    [SUGGEST_REPETITION] = {"general.sampling.penalty_repeat", "repetition_penalty", 1e-6, 1e6, 0},
};

int suggested_number(const Weights *w, Suggestion what, double *value) {
    const SuggestedNumber *n = &suggested_numbers[what];
    const JsonValue *v = json_typed(w->generation, n->hf, JSON_NUMBER);
    int hf = w->format == FORMAT_HF;
    if (hf ? !v || !json_flag(w->generation, "do_sample", 0) : !meta_number(weights_meta(w, n->gguf), value)) return 0;
    *value = (hf ? v->number : *value) + 0.0; /* not -0 */
    return *value >= n->least && *value <= n->most && (!n->whole || *value == (double)(long long)*value);
}
