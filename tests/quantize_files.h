/* tests/quantize_files.h - what the tests of quantize, and of convert of decoders, share: one model in seven
 * containers, and a place for what the programs write. */
#ifndef QUANTIZE_FILES_H
#define QUANTIZE_FILES_H

#include "model/timeline.h"
#include "build.h"

extern const BuildShape quantize_wide, quantize_narrow; /* rows of 256, and of 64 and 96 */

const char *at(const char *name); /* a path in a folder of these suites' own; the last sixteen live */
int leftovers(void);              /* unfinished files there */

int model_opened(Model *m, const char *path); /* 1, or 0 and a failure of the running test */
/* The same tensors, bit for bit: b's are found by name. */
int same_tensors(const Weights *a, const Weights *b);

/* The same weights in seven containers; the values are exact in each, so all must come out alike, whichever way q's and
 * k's rows lie. Names for at(). */
enum { N_INPUTS = 7 };
extern const char *const inputs[N_INPUTS];
void build_inputs(const BuildShape *s);
const char *tokenizer_of(int input); /* the words that give it its tokenizer, or "" */

#endif
