/* weights-tools/checkpoint.h - one view of any checkpoint: named windows on mapped files.
 *
 *     Checkpoint c;
 *     if (checkpoint_open(&c, "folder/pytorch_model.bin", err, sizeof err)) ...
 *     for (size_t i = 0; i < c.n_views; i++) ... c.views[i].name, view_read(&c.views[i], ...)
 *     checkpoint_close(&c);
 *
 * When checkpoint_open returns 0, every element of every view lies inside a mapped file, no name stands twice, every
 * checksum that the container has was compared, and all views together are at most CHECKPOINT_MAX_SHARING times as long
 * as the files (PyTorch lets tensors share bytes). Nothing from a file has been executed. */
#ifndef CHECKPOINT_H
#define CHECKPOINT_H

#include "model/weights.h"

enum { CHECKPOINT_MAX_DIMS = TENSOR_MAX_DIMS, CHECKPOINT_MAX_SHARING = 16 };

typedef enum {
    ELEM_F32, ELEM_F16, ELEM_BF16, ELEM_F64, /* the kinds that are weights */
    ELEM_I64, ELEM_I32, ELEM_I16, ELEM_I8, ELEM_U8, ELEM_BOOL,
    ELEM_OTHER, /* known to be there; cannot be read (text, complex numbers ..) */
} ElemType;

const char *elem_name(ElemType type);   /* "F32" .. as safetensors spells it; "?" for ELEM_OTHER */
size_t elem_bytes(ElemType type);       /* 0 for ELEM_OTHER */
int elem_is_float(ElemType type);       /* 1 for the first four */

/* A tensor where it lies: element [i, j ..] stands at data + (i * stride[0] + j * stride[1] + ..) * elem_bytes(type). */
typedef struct {
    const char *name; /* NUL-terminated UTF-8; owned by the Checkpoint */
    ElemType type;
    int n_dims;       /* 0 .. CHECKPOINT_MAX_DIMS */
    size_t shape[CHECKPOINT_MAX_DIMS];
    size_t stride[CHECKPOINT_MAX_DIMS]; /* in elements */
    size_t values;    /* the product of shape */
    const uint8_t *data;
} View;

/* Fill values and row-major strides from v's n_dims and shape: 1, or 0 where the product (or its bytes) exceeds a size_t. */
int view_init(View *v);
/* 1 where the elements stand one after another in row-major order. */
int view_is_contiguous(const View *v);
/* 1 where a and b are the same elements of the same file, or (view_equal) have the same type, shape and bits. */
int view_is_same(const View *a, const View *b);
int view_equal(const View *a, const View *b);
/* The transposed view of a matrix. */
View view_transposed(const View *v);
/* Elements first .. first+n-1 in row-major order into out as type `to`: F32, F16 (rounded to nearest even), or v's own
 * type. out is n * elem_bytes(to) bytes, little-endian. Returns how many finite numbers became infinite. */
size_t view_read(const View *v, size_t first, size_t n, ElemType to, uint8_t *out);

typedef enum { CONTAINER_ZIP, CONTAINER_LEGACY, CONTAINER_TF, CONTAINER_SAFETENSORS } Container;

typedef struct {
    Container container;
    char *folder;         /* where config.json and vocab.txt would stand */
    View *views;          /* [n_views], in the order of the file */
    size_t n_views;
    Weights weights;      /* owns the mapped files and the names; CONTAINER_SAFETENSORS: the tensors too */
    size_t file_bytes;    /* of all files */
    size_t n_other;       /* entries that are not tensors of numbers (text, a step count ..): left out */
} Checkpoint;

/* Open path: a PyTorch file (zip or legacy), a TensorFlow V2 checkpoint (its prefix or its .index file), a safetensors
 * file, or a folder that holds one of these. 0, or a negative errno and one line; c is zeroed then. Errors: -ENOENT,
 * -EINVAL (not a checkpoint, damaged, refused), -ENOMEM. */
int checkpoint_open(Checkpoint *c, const char *path, char *err, size_t errlen);
void checkpoint_close(Checkpoint *c); /* accepts a zeroed struct */
const char *container_name(Container container); /* "PyTorch (zip)" .. */

/* For the readers of each container: append a view whose name is copied from name[0 .. n-1] (it must be printable UTF-8);
 * compare names and lengths at the end. */
int checkpoint_add(Checkpoint *c, const View *v, const char *name, size_t n, const char *file, char *err, size_t errlen);
int checkpoint_finish(Checkpoint *c, const char *file, char *err, size_t errlen);

#endif
