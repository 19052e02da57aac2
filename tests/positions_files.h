/* tests/positions_files.h - what tests/oracle/positions.py stored: models of every kind of position, and their logits.
 *
 *     static PositionsCase c;
 *     if (positions_find(&c, "alibi") && positions_open(&m, &c, NULL) == 0) ...
 *
 * A failure is one of the running test. The file is written in the tests' own folder, until the next one is. */
#ifndef POSITIONS_FILES_H
#define POSITIONS_FILES_H

#include "kernels/kernels.h"
#include "model/session.h"

#include <stddef.h>
#include <stdint.h>

enum { MOST_IDS = 150, MOST_ROWS = 16, MOST_KEYS = 32, MOST_TENSORS = 64, EVERY = 4, VOCAB = 61, STORED = 16 };

typedef struct {
    char type[8], name[60], value[30];
} PositionsKey;

typedef struct {
    char name[60];
    size_t rows, cols;
    int per;
} PositionsPart;

typedef struct {
    size_t n;
    int ids[MOST_IDS], types[MOST_IDS];
    uint8_t keep[MOST_IDS];
} PositionsText;

typedef struct {
    char wrong[40]; /* "": the right ones */
    size_t text, n; /* of which text; decoders: after the first n ids, encoders: of token n */
    double at[STORED];
} PositionsRow;

typedef struct {
    char name[30], arch[10], option[40];
    PositionsKey keys[MOST_KEYS];
    PositionsPart parts[MOST_TENSORS];
    PositionsText texts[2];
    PositionsRow rows[MOST_ROWS * 4];
    size_t n_keys, n_parts, n_texts, n_rows;
} PositionsCase;

void positions_fail(const PositionsCase *c, const char *what, double by);

/* The next case of the golden text from p on; where to go on, or NULL: there is none. */
const char *positions_next(const char *p, PositionsCase *c);
int positions_find(PositionsCase *c, const char *name); /* 1, or 0 and a failure */

/* A key set, or one more. */
void positions_set_key(PositionsCase *c, const char *type, const char *name, const char *value);
size_t part_values(const PositionsPart *p); /* of a tensor */
const char *positions_write(const PositionsCase *c); /* its GGUF file's path */

/* The same as a Hugging Face folder of that kind of position: tensors by Hugging Face's names, q and k as they are. */
const char *positions_folder(const PositionsCase *c, const char *kind);

int positions_decoder(const PositionsCase *c);
/* model_open's and session_init's results; failures of the test where they are not 0. The session's context is
 * MOST_IDS, its team as large as it may be. */
int positions_open(Model *m, const PositionsCase *c, const Kernels *kernels);
int positions_start(Session *s, const Model *m, SessionOptions o);
/* Ids of its first text from where the session is up to n, in pieces of `step`; to [VOCAB]: the logits behind them. */
void positions_go_on(float *to, Session *s, const PositionsCase *c, size_t n, size_t step);

#endif
