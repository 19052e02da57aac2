/* tests/roformer_files.h - what tests/oracle/roformer.py stored: goldens, and from them whole models in every format;
 * goldens of encoders.py, too.
 *
 *     static Golden g;                                       a few 100 kB
 *     if (golden_read(&g, "unilm")) ...
 *     path = roformer_folder("unilm", TENSOR_F16, NULL);     or roformer_gguf: in the tests' own folder, until the next
 *
 * Weights come from a formula (value_of in roformer.py); headers are those of the safetensors and gguf packages. */
#ifndef ROFORMER_FILES_H
#define ROFORMER_FILES_H

#include "model/encoder.h"
#include "build.h"

enum { GOLDEN_TEXTS = 6, GOLDEN_ROWS = 48, GOLDEN_TOKENS = 1536, GOLDEN_WIDTH = 96 };

typedef struct {
    char name[16];
    size_t n;
    int has_types, has_keep;
    int ids[GOLDEN_TOKENS], types[GOLDEN_TOKENS];
    uint8_t keep[GOLDEN_TOKENS];
} GoldenText;

typedef enum { GOLDEN_HIDDEN, GOLDEN_LOGITS, GOLDEN_POOL, GOLDEN_LABEL, GOLDEN_EMBED, GOLDEN_CUT } GoldenKind;

/* What one head says of one token. GOLDEN_EMBED and _CUT: what sentence-transformers makes of the text, and that cut to
 * n numbers, of length 1; token is n, too. */
typedef struct {
    GoldenKind kind;
    size_t text, token, n;
    double v[GOLDEN_WIDTH];
} GoldenRow;

typedef struct {
    size_t n_texts, n_rows;
    GoldenText texts[GOLDEN_TEXTS];
    GoldenRow rows[GOLDEN_ROWS];
} Golden;

/* 1, or 0 and a failure of the running test. */
int golden_read(Golden *g, const char *name);
/* Text i as encoder_read takes it; points into g. */
EncoderText golden_text(const Golden *g, size_t i);

/* What makes a model another one; NULL or zeroed: nothing. */
typedef struct {
    const char *from, *to;           /* config.json */
    const char *head_from, *head_to; /* a header (safetensors, GGUF): texts of one length */
    const char *set;                 /* tensors whose PyTorch name holds this .. */
    float value;                     /* .. have this value throughout, or .. */
    const char *like;                /* .. those of the tensor called so */
    int half_split;                  /* head_dim: rows of q and k as if pairs were halves */
} Change;

const char *roformer_folder(const char *name, TensorType type, const Change *change); /* F32, F16, BF16 */
const char *roformer_gguf(const char *name, TensorType type, const Change *change);   /* vectors stay F32 */

/* The row of that kind, of text i and token; NULL: there is none. */
const GoldenRow *golden_row(const Golden *g, GoldenKind kind, size_t i, size_t token);

/* The largest difference of the model at path from the golden, embeddings left aside, over its texts of at most
 * `longest` tokens, each read alone; NaN, and a failure of the running test, where it cannot be opened or lacks a
 * head. */
double golden_distance(const char *name, const char *path, const ModelOptions *options, const Golden *g,
                       size_t longest);

/* Value i of the tensor with that PyTorch name. */
float roformer_value(const char *name, uint64_t i);

/* "name: what more", as a failure of the running test. */
void roformer_fail(const char *name, const char *what, const char *more);

#endif
