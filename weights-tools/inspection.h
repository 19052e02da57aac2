/* weights-tools/inspection.h - what a file of weights holds, gathered and put into words: for a reader, or as JSON.
 *
 *     Inspection i;
 *     if (inspection_open(&i, "model.gguf", err, sizeof err)) ...
 *     Buffer text = {0};
 *     inspection_text(&i, &text, 1, 0);
 *     ... text.data [text.n] ...
 *     free(text.data);
 *     inspection_close(&i); */
#ifndef INSPECTION_H
#define INSPECTION_H

#include "model/model.h"
#include "buffer.h"
#include "weights-tools/checkpoint/checkpoint.h"

typedef struct {
    const char *name, *type; /* type: "Q4_K", "F32"; "?" for what has no name */
    int n_dims;
    uint64_t shape[TENSOR_MAX_DIMS];
    uint64_t values, bytes;
} TensorLine;

/* Tensors of one type. */
typedef struct {
    const char *type;
    size_t tensors;
    uint64_t values, bytes;
} TypeLine;

typedef struct {
    const char *path, *format; /* "GGUF", "safetensors", "llama2.c version 0", "PyTorch (zip)" .. */
    uint64_t file_bytes;
    size_t n_files;
    TensorLine *tensors;       /* [n_tensors], in file order */
    size_t n_tensors, cap_tensors;
    TypeLine *types;           /* [n_types], the most bytes first */
    size_t n_types, cap_types;
    uint64_t values;           /* of all tensors */
    int has_config;            /* config is what ./run would take */
    Config config;
    char refused[400];         /* why not, where it would not */
    char tokenizer[200];       /* kind; empty: there is none */
    size_t pieces;
    int bos, eos;              /* -1: none */
    char no_tokenizer[400];    /* why a tokenizer that is there cannot be opened */
    Weights *weights;    /* with the keys of a GGUF file; NULL for a checkpoint */
    Weights own_weights;
    Checkpoint checkpoint;
    char word[40];
} Inspection;

/* Open path, whatever model/files/weights.h or checkpoint.h reads. A model that is of no kind known here, or a
 * tokenizer, is no error: refused and no_tokenizer say why. 0, or a negative errno and one line; i is zeroed then. */
int inspection_open(Inspection *i, const char *path, char *err, size_t errlen);
void inspection_close(Inspection *i); /* accepts a zeroed struct */

/* Append a report in lines (with the table of tensors, and with a GGUF file's keys, where asked for), or as one JSON
 * object. Control characters of names become '?', bytes that are no UTF-8 U+FFFD. */
void inspection_text(const Inspection *i, Buffer *out, int with_tensors, int with_keys);
void inspection_json(const Inspection *i, Buffer *out);

/* For both: s[0 .. n-1] as printable UTF-8. */
void buffer_clean(Buffer *b, const char *s, size_t n);

#endif
