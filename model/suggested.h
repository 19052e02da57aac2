/* model/suggested.h - how a model's authors would have its tokens drawn: five of general.sampling's keys of GGUF, as
 * llama.cpp takes them, and generation_config.json where do_sample is true, as transformers does. */
#ifndef SUGGESTED_H
#define SUGGESTED_H

#include "model/files/weights.h"

typedef enum {
    SUGGEST_TEMPERATURE, SUGGEST_TOP_P, SUGGEST_TOP_K, SUGGEST_MIN_P, SUGGEST_REPETITION, SUGGESTED
} Suggestion;

typedef struct {
    const char *gguf, *hf;
    double least, most;
    int whole;
} SuggestedNumber;
extern const SuggestedNumber suggested_numbers[SUGGESTED];

/* 1: the file says it, a number within these bounds. */
int suggested_number(const Weights *w, Suggestion what, double *value);

#endif
