/* cli/suggested.c - options of sampling that nobody gave, as the model has them (model/suggested.h). */
#include "generation.h"

#include "model/suggested.h"

#include <stdio.h>
#include <string.h>

#define ROW(field, name) {name, offsetof(SamplingArgs, field), offsetof(SamplingArgs, field##_given)}
static const struct {
    const char *name;
    size_t at, given;
} rows[SUGGESTED] = {
    [SUGGEST_TEMPERATURE] = ROW(temperature, "-t"), [SUGGEST_TOP_P] = ROW(top_p, "-p"),
    [SUGGEST_TOP_K] = ROW(top_k, "--top-k"), [SUGGEST_MIN_P] = ROW(min_p, "--min-p"),
    [SUGGEST_REPETITION] = ROW(repetition, "--repetition-penalty"),
};

void suggested_take(Args *a, const Weights *w) {
    char *s = (char *)&a->sampling, line[200] = "";
    for (int i = 0; i < SUGGESTED; i++) {
        void *at = s + rows[i].at, *given = s + rows[i].given;
        int whole = suggested_numbers[i].whole;
        double was = whole ? (double)*(long long *)at : *(double *)at, value;
        if (*(int *)given || !suggested_number(w, (Suggestion)i, &value) || value == was) continue;
        if (whole) *(long long *)at = (long long)value;
        else *(double *)at = value;
        snprintf(line + strlen(line), sizeof line - strlen(line), " %s %g", rows[i].name, value);
    }
    if (*line) note("sampled as the model suggests:%s", line);
}
