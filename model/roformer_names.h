/* model/roformer_names.h - the tensors of a RoFormer and what three worlds call them: GGUF, PyTorch, TensorFlow.
 *
 *     int layer;
 *     const char *theirs = "bert/encoder/layer_3/attention/self/query/kernel";
 *     const RoformerName *row = roformer_names_find(ROFORMER_IN_TF, theirs, &layer);
 *     char name[ROFORMER_NAME_MAX];
 *     roformer_names_write(name, row, ROFORMER_IN_GGUF, layer, 0);        "blk.3.attn_q.weight"
 *
 * One table, read in every direction, needing libc alone: convert renames with it, and the engine's
 * loader looks its tensors up with it. '#' stands for the layer. PyTorch's body has a prefix (roformer., gau_alpha.,
 * electra., bert., or none): roformer_names_find takes any of them; roformer_names_write writes "roformer.", or
 * "gau_alpha." where asked to. Source: transformers' modeling_roformer.py and modeling_electra.py,
 * JunnYu/RoFormer_pytorch, JunnYu/GAU-alpha-pytorch, bert4keras' variable_mapping; llama.cpp's names where it has one
 * for BERT. */
#ifndef ROFORMER_NAMES_H
#define ROFORMER_NAMES_H

#include <stddef.h>
#include <stdint.h>

enum { ROFORMER_NAME_MAX = 128, ROFORMER_MAX_LAYERS = 1024 };

typedef enum { ROFORMER_IN_GGUF, ROFORMER_IN_TORCH, ROFORMER_IN_TF } RoformerWorld;

enum {
    NAME_BODY = 1,       /* part of the encoder; in PyTorch it has the model's prefix */
    NAME_TRANSPOSED = 2, /* TensorFlow holds it as [in, out] */
    NAME_ALIAS = 4,      /* another name of an earlier row: read, never written */
    NAME_COMPUTED = 8,   /* a table the engine computes itself: read and left out; it has no GGUF name */
    NAME_OPTIONAL = 16,  /* its group may lack it */
    /* which models must have it */
    NAME_V1 = 32, NAME_V2 = 64, NAME_GAU = 128, NAME_ALL = NAME_V1 | NAME_V2 | NAME_GAU,
    NAME_PROJECTED = 256, /* .. only where the embeddings are narrower than the model */
    NAME_POSITIONS = 512, /* a table of learned positions: only where the configuration says so (rope/positions.h) */
};

typedef struct {
    const char *gguf, *torch, *tf; /* NULL: has none */
    const char *shape;             /* a letter for each dimension, [out, in] order: see RoformerSizes */
    unsigned flags;
    char group;                    /* rows of a head: all or none; 0: the body */
} RoformerName;

/* What the letters of a shape stand for; 0: any length. */
typedef struct {
    size_t vocab;   /* V */
    size_t types;   /* T token types */
    size_t d_embed; /* E width of the embeddings */
    size_t d_model; /* H */
    size_t d_ff;    /* I */
    size_t keys;    /* K all heads' keys together */
    size_t values;  /* D all heads' values together */
    size_t gau_in;  /* G 2 I + S */
    size_t gau_key; /* S */
    size_t labels;  /* L */
    size_t places;  /* P positions of a learned table */
    size_t buckets; /* B of T5's biases */
    size_t heads;   /* A */
} RoformerSizes;  /* and 1, 2: themselves */

/* Row i of the table, in the order in which GGUF files list the tensors; NULL past the end. */
const RoformerName *roformer_names_row(size_t i);

/* The row of that name and its layer (-1: the row has none); NULL where the name is none of the table's. */
const RoformerName *roformer_names_find(RoformerWorld world, const char *name, int *layer);

/* The row's name in a world into out, ROFORMER_NAME_MAX bytes: 1; 0 where it has none there. gau: prefix PyTorch's body
 * with "gau_alpha." */
int roformer_names_write(char *out, const RoformerName *row, RoformerWorld world, int layer, int gau);

/* The row's shape: the number of dimensions, 1 or 2; shape[i] is 0 where any length will do. */
int roformer_names_shape(const RoformerName *row, const RoformerSizes *s, size_t shape[2]);

/* 1 where the name looks like a part of the encoder, whether the table knows it or not. */
int roformer_names_is_body(RoformerWorld world, const char *name);

/* 1 where a TensorFlow name is an optimizer's: its slots (adam_m, adam_v ..), its counters, global_step. */
int roformer_names_is_optimizer(const char *name);

#endif
