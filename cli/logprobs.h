/* cli/logprobs.h - log-probabilities of tokens, beside the most probable ones, as generate and score print them. */
#ifndef LOGPROBS_H
#define LOGPROBS_H

#include "cli.h"
#include "text/texts.h"

typedef struct {
    int id;
    double logprob; /* nats, of the model's own distribution: before temperature, penalties, filters */
} Logprob;

typedef struct {
    const Model *model;
    size_t most;     /* so many of the most probable ids beside each */
    Logprob *at;     /* [n] */
    Candidate *best; /* [n, most]; p is the logarithm here, for what is less probable than e^-745, too */
    size_t n, cap, cap_best;
} Logprobs;

int logprobs_add(Logprobs *p, const float *logits, int id); /* 0, or -1: out of memory */
void logprobs_free(Logprobs *p);                            /* accepts a zeroed struct */
double logprobs_sum(const Logprobs *p);
void logprobs_json(const Logprobs *p, const Tokenizer *t);  /* an array */
/* Token i as a line: its log-probability and piece, and those of the most probable. Cut where it does not fit. */
void logprobs_line(const Logprobs *p, size_t i, const Tokenizer *t, char *line, size_t n);

#endif
