/* tests/decoder_cases.h - what test_oracle.c and test_architectures.c do with a case: its golden, how far the engine is
 * from it, and what must hold of every case. */
#ifndef DECODER_CASES_H
#define DECODER_CASES_H

#include "decoder_files.h"
#include "kernels/rows.h"

enum { CASE_IDS = 72, CASE_ROWS = 6, CASE_VOCAB = 96 };

typedef struct {
    int n_ids, n_rows, ids[CASE_IDS], n[CASE_ROWS]; /* row r: after the first n[r] ids */
    int gguf;                                       /* GGUF has keys for it */
    double logits[CASE_ROWS][CASE_VOCAB];
} DecoderCase;

/* 1; or 0 and a failure: there is no such case. */
int case_read(DecoderCase *g, const char *name);

/* The largest difference of path's logits from the golden; NaN where anything fails or the engine's own logits differ
 * by a bit, whether the ids come in one call, in pieces of five or one by one. */
double case_distance(const char *name, const char *path, const Kernels *k, const DecoderCase *g);

/* Cases as a list that ends with NULL: every spelling of the config, every type, both formats, every kernel row must be
 * within a tolerance of the golden. s: what is done to all of them to be right. convert: what weights-tools/convert
 * makes of the folder, too. tolerance: 0 for that of float weights. */
typedef struct {
    const Spoil *s;
    int convert;
    double tolerance;
} CaseWish;
void cases_hold(const char *const *names, CaseWish wish);

/* A model at path that is wrong in one thing must be off. */
void case_misses(const char *name, const char *what, const char *path, const DecoderCase *g);

/* model_open refuses path with one line that holds these words. */
void case_refused(const char *name, const char *path, const char *line);

#endif
