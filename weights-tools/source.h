/* weights-tools/source.h - any readable model as a GGUF file would hold it: metadata, and tensors under GGUF's names.
 *
 *     Source s;
 *     if (source_open(&s, "folder", &wish, &report, err, sizeof err)) ...
 *     for (size_t i = 0; i < s.n_items; i++) s.items[i].type = ...;     what it is written as; at first: what it is
 *     source_file_type(&s, 7);
 *     model_write(&f, &s, threads, &report, err, sizeof err)            model_write.h
 *     source_close(&s);
 *
 * Read: GGUF; llama2.c's .bin; a decoder of Hugging Face and a RoFormer, in any container of checkpoint.h. Where GGUF
 * has rows or columns in another order (q and k of its "llama": pairs (2i, 2i + 1), Hugging Face's are (i, i + d/2)),
 * they change places on the way (Item.row_order, col_order). */
#ifndef SOURCE_H
#define SOURCE_H

#include "describe.h"
#include "text/sentence.h"
#include "tokenizer/tokenizer.h"

typedef struct {
    const char *name;             /* GGUF's */
    int n_dims;                   /* 0 .. 4 */
    size_t shape[4];              /* as PyTorch counts: the last is contiguous */
    size_t rows, cols; /* a row is cols contiguous values; a vector is one row (a transposed one: rows of 1) */
    Matrix from;                  /* where the values are: a matrix of a model's file .. */
    View view;                    /* .. or, where from.data is NULL, a checkpoint's window */
    const Matrix *below;          /* [n_below]: more matrices of its columns, one below the other */
    size_t n_below;
    const size_t *row_order;      /* [rows]: which row of the old file each is; NULL: as they stand */
    const size_t *col_order;      /* [cols / col_block]: the same of blocks of columns, of F32, F16 or BF16 */
    size_t col_block;
    int type;                     /* GGML type to write */
    size_t scaled;                /* 1 + the item that this one stands beside (gguf_scales.h) and goes with; 0: none */
} Item;

/* What the command line says; zeroed: as the files say. */
typedef struct {
    const char *config;    /* path of config.json or bert_config.json */
    const char *tokenizer; /* path of a tokenizer's file or folder */
    const char *pre;       /* its pre-tokenizer, where it does not say; or NULL */
    int no_tokenizer;      /* write none */
    const char *name;      /* general.name */
    const char *task;      /* the adapter to merge, of an encoder that has one a task; NULL: none */
    DescribeWish roformer;
} SourceWish;

typedef struct {
    const char *path;      /* as given */
    Config config;         /* of the model: what config_read says of it */
    Item *items;           /* [n_items], in the order of the new file */
    size_t n_items, cap_items;
    GgufMeta meta;         /* all keys but the next two */
    int64_t file_type;     /* general.file_type and general.quantization_version of a GGUF file; -1: it has none */
    int64_t quantization_version;
    size_t alignment;      /* of tensors, a power of two from 8 on */
    int is_gguf;           /* the input is one: tensors that stay keep their type */
    Weights weights;       /* what owns all that: mapped files, names .. */
    Checkpoint checkpoint;
    Description roformer;
    Sentence sentence;     /* how a text becomes a vector, where the folder says it */
    Plan plan;
} Source;

/* Open path. Notes about what is left out go to r. 0, or a negative errno and one line; s is zeroed then. Errors: those
 * of weights_open, checkpoint_open, describe_open, config_read and of the tokenizers; -ENOENT where no tokenizer is
 * found; -EINVAL for what GGUF cannot say; -ENOMEM. */
int source_open(Source *s, const char *path, const SourceWish *wish, const Report *r, char *err, size_t errlen);
void source_close(Source *s); /* accepts a zeroed struct */

/* 1 for a matrix that is multiplied by, or an embedding's; norms, biases, routers, convolutions, single rows, tables of
 * positions and token types are few and matter, and stay as exact as they are. Goes by the name and the shape. */
int item_is_weight(const Item *i);
/* The type that i has in its file: a GGML id, TENSOR_I8_GROUPS, or -1 for F64 and where its matrices have several. */
int item_own_type(const Item *i);
/* 1 where i's values can be read as floats. */
int item_readable(const Item *i);
/* Row r, as the new file counts, as floats into out [cols]. i is readable. Safe to call from many threads. */
void item_row(const Item *i, size_t r, float *out);
/* Row r's bytes as they lie in the file, of its own type, which is one of GGML's; NULL where a window is not contiguous
 * or columns change places. */
const uint8_t *item_raw_row(const Item *i, size_t r);
/* i is written: its pages of the mapped file need not stay in memory. What is read again comes back. */
void item_drop(const Source *s, const Item *i);
/* Bytes in the new file: 1, or 0 where they exceed a size_t or rows are no whole blocks. */
int item_bytes(const Item *i, size_t *bytes);

/* Append general.quantization_version (2) and general.file_type, as llama.cpp does: the last thing before writing. -1:
 * those that the GGUF file had. What stands beside matrices that get another type leaves the list: it is in them. */
void source_file_type(Source *s, int file_type);

/* ---- for the readers of source_*.c ---- */

int source_no_memory(const Source *s, char *err, size_t errlen); /* -ENOMEM and its line */
/* Once all keys are there: 0, or -EINVAL (a number that F32 does not hold), -ENOMEM and a line. */
int source_check_keys(const Source *s, char *err, size_t errlen);
/* -EINVAL and its line: two tensors that Hugging Face spells differently have one name here. */
int source_twice(const Source *s, const char *tensor, char *err, size_t errlen);
/* What the command line says of a file that says it itself, or has no such thing, is refused: -EINVAL and its line.
 * takes: what this kind of file leaves open. */
enum { TAKES_CONFIG = 1, TAKES_PRE = 2, TAKES_TASK = 4, TAKES_ROFORMER = 8 };
int source_refuse(const Source *s, const SourceWish *wish, int takes, char *err, size_t errlen);
/* Append an item with its own type; name is copied. 0 or -ENOMEM. */
int source_add(Source *s, const char *name, const Item *item);
/* v, whose shape somebody asked for (one dimension or two, and none of them 0), as an item. */
Item source_item(const View *v);
/* An order of n rows, or blocks of columns, for the caller to fill; s keeps it. NULL: no memory. */
size_t *source_order(Source *s, size_t n);
/* That of n rows in heads of head_dim, whose first rotary_dim go from halves (i, i + d/2) to pairs (2i, 2i + 1). */
const size_t *source_pairs(Source *s, size_t n, size_t head_dim, size_t rotary_dim);
/* general.name: the wish's, else the folder's name, else `otherwise`. */
void source_name(const SourceWish *wish, const char *folder, const char *otherwise, char *out, size_t n);

int source_gguf(Source *s, const SourceWish *wish, const Report *r, char *err, size_t errlen);
int source_llama2c(Source *s, const SourceWish *wish, const Report *r, char *err, size_t errlen);
int source_hf(Source *s, const SourceWish *wish, const Report *r, char *err, size_t errlen);
/* 1 where the tensors have the names of LLaMA's authors (tok_embeddings.weight ..), and their rows GGUF's pairs. */
int source_has_params(const Checkpoint *c);
/* What their params.json, or llama2.c's training checkpoint, says, as s->weights.config, which s owns: the config.json
 * of such a model. -ENOENT (no params.json), -EINVAL (what is not known of a LLaMA or a Mistral ..), -ENOMEM. */
int source_params(Source *s, const Report *r, char *err, size_t errlen);
/* Then: the tensors by Hugging Face's names. 0 or -ENOMEM. */
int source_params_rename(Source *s, const Report *r, char *err, size_t errlen);
/* 1 where the configuration names an architecture in layers, whatever its tensors are called (many have BERT's).
 * A negative errno and a line where it cannot be read. */
int source_is_layers(const Source *s, const SourceWish *wish, char *err, size_t errlen);
/* A model in layers (model/layers/), whose configuration source_hf has read. First the checkpoint's tensors become
 * s->weights', and the configuration is read again, for they say a part of it; behind the keys, what is written. */
int source_layers_views(Source *s, const SourceWish *wish, char *err, size_t errlen);
int source_layers(Source *s, const Report *r, char *err, size_t errlen);
/* How a text becomes a vector (text/sentence.h) as keys and tensors, of an encoder or of a folder with modules.json. */
int source_sentence(Source *s, const SourceWish *wish, char *err, size_t errlen);
int source_roformer(Source *s, const SourceWish *wish, const Report *r, char *err, size_t errlen);

/* Keys of architecture arch from c, for decoders: sizes, norms, rope, window. -EINVAL: a setting that GGUF has no key
 * for. */
int source_keys(Source *s, const char *arch, const char *name, char *err, size_t errlen);
/* Those of s->config.rope's method alone, and the lists of numbers that are tensors. */
int source_rope(Source *s, const char *arch, char *err, size_t errlen);
/* The vocabulary of a SentencePiece tokenizer, from the wish's file, else from folder, filled up to the model's size.
 * end_id: one more id that ends a text, or -1. */
int source_tokenizer(Source *s, const SourceWish *wish, const char *folder, int end_id, const Report *r, char *err,
                     size_t errlen);
/* The same of a tokenizer at hand; from is what error lines call it. *lost: what no key says, NULL: nothing; lost NULL:
 * that is refused. r may be NULL: nobody is told more. */
int source_vocabulary(Source *s, const Tokenizer *t, const char *from, int end_id, const char **lost, const Report *r,
                      char *err, size_t errlen);

#endif
