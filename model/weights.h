/* model/weights.h - one view of any model file: metadata and named tensors, all mapped.
 *
 *     Weights w;
 *     if (weights_open(&w, "model.gguf", err, sizeof err)) ...
 *     const Tensor *t = weights_find(&w, "token_embd.weight");
 *     ...
 *     weights_close(&w);
 *
 * The reader looks at the bytes, never at the name: GGUF v2/v3 (split files too), a Hugging Face folder or one of its
 * safetensors files (config.json beside it), llama2.c .bin versions 0, 1, 2. When weights_open returns 0, every tensor's
 * bytes lie inside the mapped file, its size is what its type and shape ask for, no two tensors share a byte, no name
 * stands twice. What the numbers mean (config.c) and which tensors a model needs (llama.c) is not decided here. */
#ifndef WEIGHTS_H
#define WEIGHTS_H

#include "base/base.h"
#include "base/json.h"
#include "kernels/quants.h"

enum { TENSOR_MAX_DIMS = 8 };

typedef struct {
    const char *name;                /* NUL-terminated UTF-8; owned by Weights */
    int type;                        /* GGML type id, TENSOR_I8_GROUPS, or -1 for a safetensors dtype we do not compute with */
    const char *type_name;           /* for error lines: "Q6_K", "F64" */
    int n_dims;                      /* 0 .. TENSOR_MAX_DIMS */
    uint64_t shape[TENSOR_MAX_DIMS]; /* as PyTorch counts: shape[n_dims-1] is contiguous (GGUF files count the other way; turned here) */
    const uint8_t *data;             /* mapped, possibly unaligned */
    size_t size;                     /* bytes */
    const uint8_t *scales;           /* TENSOR_I8_GROUPS only */
    int group;                       /* TENSOR_I8_GROUPS only */
} Tensor;

/* GGUF's metadata value types. */
typedef enum {
    META_U8 = 0, META_I8, META_U16, META_I16, META_U32, META_I32, META_F32, META_BOOL, META_STRING, META_ARRAY, META_U64, META_I64, META_F64
} MetaType;

typedef struct {
    const char *key;     /* NUL-terminated; owned by Weights */
    MetaType type;
    MetaType elem;       /* META_ARRAY: the elements' type (arrays of arrays are refused) */
    uint64_t n;          /* META_STRING: bytes; META_ARRAY: elements; otherwise 1 */
    const uint8_t *data; /* the value's bytes in the file, little-endian, unaligned; a string's bytes; an array's first element */
} MetaValue;

typedef enum { FORMAT_GGUF, FORMAT_HF, FORMAT_LLAMA2C } WeightsFormat;

/* llama2.c's header, all versions. */
typedef struct {
    int version; /* 0, 1, 2 */
    int dim, hidden_dim, n_layers, n_heads, n_kv_heads, vocab_size, seq_len;
    int shared_classifier;
    int group_size; /* version 2 */
} Llama2cHeader;

typedef struct {
    WeightsFormat format;
    char *path;            /* as given */
    char *folder;          /* where a tokenizer would stand: the folder itself, or the file's */
    Tensor *tensors;       /* [n_tensors], in file order */
    size_t n_tensors;
    MetaValue *meta;       /* FORMAT_GGUF: [n_meta], of the first file */
    size_t n_meta;
    Json config;           /* FORMAT_HF: config.json */
    Json generation;       /* FORMAT_HF: generation_config.json, or root == NULL */
    Llama2cHeader llama2c; /* FORMAT_LLAMA2C */
    size_t file_bytes;     /* of all files */
    MappedFile *files;     /* [n_files]; none for weights_open_memory */
    size_t n_files;
    size_t *index;         /* [n_tensors]: tensors by name, for weights_find */
    char *names;           /* owns names and keys */
} Weights;

/* Open path: 0, or a negative errno and one line in err that names the file and the reason; nothing is held then.
 * Errors: -ENOENT, -EINVAL (not a model file, truncated, overlapping, unknown type ..), -ENOMEM. A GGUF file with no
 * tensors (a vocabulary) opens too. */
int weights_open(Weights *w, const char *path, char *err, size_t errlen);
/* The same for a GGUF or llama2.c file that lies in memory already and outlives w. */
int weights_open_memory(Weights *w, const void *data, size_t size, const char *name, char *err, size_t errlen);
void weights_close(Weights *w); /* accepts a zeroed struct */

/* The tensor of that name, or NULL. Binary search. */
const Tensor *weights_find(const Weights *w, const char *name);

/* GGUF metadata: the value of key, or NULL. */
const MetaValue *weights_meta(const Weights *w, const char *key);

/* Read a value as a number: 1 where it is one (any integer type that fits, or a bool / any float type), 0 where it is not. */
int meta_integer(const MetaValue *v, int64_t *out);
int meta_number(const MetaValue *v, double *out); /* floats and integers */
/* Element i of an array, as a value of its own. For strings this walks; use meta_next to walk in order. */
int meta_element(const MetaValue *array, uint64_t i, MetaValue *out);
/* Walk an array in order: *cursor starts at array->data; out gets each element in turn. The caller counts to array->n. */
void meta_next(const MetaValue *array, const uint8_t **cursor, MetaValue *out);

/* For the readers: each fills w from files already mapped or from a folder (weights.c calls them and cleans up). */
int gguf_is(const uint8_t *data, size_t size);
int gguf_open(Weights *w, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen);
int llama2c_is(const uint8_t *data, size_t size);
int llama2c_open(Weights *w, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen);
int safetensors_is(const uint8_t *data, size_t size);
int safetensors_open(Weights *w, const char *path, char *err, size_t errlen); /* a folder or a file */

#endif
