/* model/files/weights.h - one view of any model file: metadata and named tensors, all mapped.
 *
 *     if (weights_open(&w, "model.gguf", err, sizeof err) == 0) t = weights_find(&w, "token_embd.weight");
 *     ...
 *     weights_close(&w);
 *
 * When weights_open returns 0, every tensor's bytes lie inside the mapped file, its size is what its type and shape ask
 * for, no two tensors share a byte, no name stands twice. What the numbers mean (family.h) and which tensors a model
 * needs (decoder.c) is not decided here. */
#ifndef WEIGHTS_H
#define WEIGHTS_H

#include "base/base.h"
#include "kernels/quants.h"

enum { TENSOR_MAX_DIMS = 8, TENSOR_NAME = 128 };

typedef struct {
    const char *name;                /* NUL-terminated UTF-8; owned by Weights */
    int type;                        /* GGML type id, TENSOR_I8_GROUPS, or -1 for a dtype that is not computed with */
    const char *type_name;           /* for error lines: "Q6_K", "F64" */
    int n_dims;                      /* 0 .. TENSOR_MAX_DIMS */
    uint64_t shape[TENSOR_MAX_DIMS]; /* as PyTorch counts, whatever the file does: shape[n_dims-1] is contiguous */
    const uint8_t *data;             /* mapped, possibly unaligned */
    size_t size;                     /* bytes */
    const uint8_t *scales;           /* as a Matrix has them, or NULL, and: */
    int group;
} Tensor;

/* GGUF's metadata value types. */
typedef enum { META_U8, META_I8, META_U16, META_I16, META_U32, META_I32, META_F32, META_BOOL, META_STRING, META_ARRAY,
               META_U64, META_I64, META_F64 } MetaType;

typedef struct {
    const char *key;     /* NUL-terminated; owned by Weights */
    MetaType type;
    MetaType elem;       /* META_ARRAY: the elements' type (arrays of arrays are refused); otherwise nothing */
    uint64_t n;          /* META_STRING: bytes; META_ARRAY: elements; otherwise 1 */
    const uint8_t *data; /* the value's bytes, little-endian, unaligned; a string's bytes; an array's first element */
} MetaValue;

typedef enum { FORMAT_GGUF, FORMAT_HF, FORMAT_LLAMA2C } WeightsFormat;

typedef struct {
    WeightsFormat format;
    const char *path;      /* as given */
    const char *folder;    /* where a tokenizer would stand: the folder itself, or the file's */
    Tensor *tensors;       /* [n_tensors], in file order */
    MetaValue *meta;       /* [n_meta]: GGUF's, of the first file; of llama2.c's header what GGUF would say */
    MappedFile *files;     /* [n_files]; none of a model in memory */
    size_t n_tensors, n_meta, n_files, cap_tensors, cap_meta, cap_files, file_bytes; /* file_bytes: of all files */
    const struct JsonValue *config, *generation; /* FORMAT_HF: config.json; generation_config.json, or NULL */
    const struct JsonValue *outer; /* what config is the text_config of: a model's that sees pictures; or NULL */
    const void **by_name;  /* [n_tensors]: tensors sorted, for weights_find */
    struct Note *notes;    /* what was decided about it (model/notes.h) */
    struct Owned *owned;   /* weights_own's */
} Weights;

/* Open path, a file or a folder, by its bytes, never by its name: 0, or a negative errno and one line in err that names
 * the file and the reason; nothing is held then. -ENOENT, -ENOEXEC (of none of the formats, or PyTorch's), -EINVAL
 * (truncated, overlapping, unknown type ..), -ENOMEM. A GGUF file with no tensors (a vocabulary) opens too. */
int weights_open(Weights *w, const char *path, char *err, size_t errlen);
/* The same for a file that lies in memory already and outlives w; where data is NULL it is weights_open. */
int weights_open_memory(Weights *w, const void *data, size_t size, const char *name, char *err, size_t errlen);
int weights_expand(Weights *w, char *err, size_t errlen); /* as models want them: quantized.h, gguf_*.h */
void weights_close(Weights *w); /* accepts a zeroed struct */

const Tensor *weights_find(const Weights *w, const char *name);   /* or NULL; binary search */
const MetaValue *weights_meta(const Weights *w, const char *key); /* or NULL */

/* A value as a number: 1 where it is one (any integer type that fits, or a bool; or a float), 0 where it is not, or
 * NULL. */
int meta_integer(const MetaValue *v, int64_t *out);
int meta_number(const MetaValue *v, double *out); /* floats and integers */
size_t meta_size(MetaType type); /* bytes of a value; 0 for strings and arrays */
/* Walk an array: *cursor starts at array->data; out gets each element in turn. The caller counts to array->n. */
void meta_next(const MetaValue *array, const uint8_t **cursor, MetaValue *out);

/* ---- for the formats: each appends what it meets, so memory grows with what was found, never with what a header
 * claims, and ends with weights_finish. Where one fails it just returns: who opened closes what is there. ---- */

/* A format: a row. w->path and w->folder are set; w->files[0] is the file, where it was not opened from memory. Of a
 * folder data is NULL, and size 0. */
typedef struct {
    int (*is)(const uint8_t *data, size_t size); /* do these bytes look like it? */
    int (*open)(Weights *w, const uint8_t *data, size_t size, char *err, size_t errlen);
} WeightsReader;
extern const WeightsReader weights_readers[]; /* tried in order; ended by a zeroed row (formats.c) */

/* Memory that goes when w goes, by let_go: returned. NULL where there is none to keep, or none to keep it with. */
void *weights_own(Weights *w, void *memory, void (*let_go)(void *memory));
const char *weights_keep(Weights *w, const char *s, size_t n); /* a copy of s [n] and a NUL, w's; NULL: no memory */
void weights_layer_name(char *out, const char *name, int layer); /* with the layer for its '#', into [TENSOR_NAME] */
int weights_add_tensor(Weights *w, const Tensor *t);           /* 0 or -ENOMEM; *t is copied */
int weights_add_meta(Weights *w, const MetaValue *m);
int weights_add_file(Weights *w, const char *path, char *err, size_t errlen); /* map it as w->files[w->n_files - 1] */
int weights_finish(Weights *w, char *err, size_t errlen); /* by_name; names that stand twice, shared bytes: refused */
/* n rows' addresses (Tensors, MetaValues) by name: w's, or NULL without memory. *twice: a name that is so, or NULL */
const void **weights_sort(Weights *w, const void *rows, size_t n, size_t row_bytes, const char **twice);
int weights_index(Weights *w, char *err, size_t errlen); /* by_name anew, for other tensors or names (formats.c) */
int weights_is_name(const char *s, size_t n); /* 1 where s can be printed and compared: not empty, UTF-8, no NUL */
int weights_no_memory(const char *name, char *err, size_t errlen); /* writes the line, returns -ENOMEM */

#endif
