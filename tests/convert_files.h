/* tests/convert_files.h - what the tests of weights-tools/convert share: its files opened by the engine's own reader,
 * every value and key compared.
 *
 * tests/oracle/checkpoints.py made tests/golden/convert; a weight's value comes from its name and index (value_of here
 * and there). */
#ifndef CONVERT_FILES_H
#define CONVERT_FILES_H

#include "model/roformer_names.h"
#include "model/files/weights.h"
#include "build.h"

#define CONVERT_GOLDEN "tests/golden/convert/"
/* What says of v1's containers which model they hold. */
#define CONVERT_V1_FILES "--config " CONVERT_GOLDEN "v1.config.json --vocab " CONVERT_GOLDEN "vocab.txt"
#define CONVERT_V1 "--name m " CONVERT_V1_FILES

enum { TORCH_NAME_MAX = ROFORMER_NAME_MAX + 16 };

/* FNV-1a of the name, splitmix64 of that and the index; the upper 32 bits as a signed integer / 2^32, rounded to
 * float. */
float value_of(const char *name, size_t i);
/* 1 where t's values are those of `name`: exactly (F32), to half a step of F16 (2^-11 of the value; 2^-25 below 2^-14),
 * or the upper halves of the floats (BF16). */
int values_are(const Tensor *t, const char *name);
/* The name under which the oracle made a tensor's values, into name [TORCH_NAME_MAX]: PyTorch's, with the body's
 * prefix; of a head with several PyTorch names, the one that begins with `heads`. */
void torch_name(char *name, const char *gguf, const char *prefix, const char *heads);

int weights_opened(Weights *w, const char *path); /* 1, or 0 and a failure of the running test */
/* 1: a GGUF file with n tensors, every one of which holds what its name says. */
int gguf_holds(const char *path, size_t n, const char *prefix, const char *heads);

/* 1: checkpoints of n tensors, the same bits under the same names. */
int checkpoints_equal(const char *a, const char *b, size_t n);

/* A key's value as text, 2 kB of it at most: numbers, true and false, strings; an array's elements with | between;
 * "absent". Lives until the next. */
const char *meta_text(const Weights *w, const char *key);

typedef struct { const char *key, *value; } Key;

void keys_are(const char *path, const Key *keys, size_t n);

/* A folder NAME in a folder of these suites' own; a golden into a folder under another name; a folder's files,
 * counted. */
const char *convert_folder(const char *name);
void golden_into(const char *golden, const char *dir, const char *name);
int files_in(const char *dir);
/* A golden with the first `from` replaced, at path; and v1.config.json. */
void golden_with(const char *path, const char *golden, const char *from, const char *to);
void with_config(const char *path, const char *from, const char *to);

#endif
