/* weights-tools/checkpoint/tf.h - TensorFlow's V2 checkpoints: PREFIX.index and PREFIX.data-00000-of-00001 (or more of
 * these).
 *
 * The index is a table (table.h) of tensors' names and protocol buffers that say type, shape and place; the data files
 * hold nothing but the tensors' bytes, little-endian, row-major.
 * Source: tensorflow/core/protobuf/tensor_bundle.proto, core/util/tensor_bundle/tensor_bundle.cc. */
#ifndef TF_H
#define TF_H

#include "checkpoint.h"
#include "base/base.h"

enum { TF_MAX_SHARDS = 4096 };

typedef struct {
    const char *name;      /* NUL-terminated; owned by the TfIndex */
    ElemType type;         /* ELEM_OTHER: text, complex numbers ..; such an entry has a place but no view */
    int n_dims;
    size_t shape[VIEW_MAX_DIMS];
    uint32_t shard, crc;   /* crc: masked, of the tensor's bytes */
    size_t offset, size;   /* bytes in the shard */
} TfEntry;

typedef struct {
    TfEntry *entries;   /* [n], in the order of their names */
    size_t n, cap;
    uint32_t n_shards;
    Weights names;      /* nothing but the owner of the names */
} TfIndex;

/* Read an index file from memory. Every size agrees with its type and shape, no two entries share bytes of a shard. 0,
 * -EINVAL or -ENOMEM and one line; x is zeroed then. data need not outlive the call. */
int tf_index_read(TfIndex *x, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen);
void tf_index_free(TfIndex *x); /* accepts a zeroed struct */

/* Append x's tensors to c; shards[i].data is NULL where no entry of x is in shard i. Bounds and checksums are compared.
 * Entries of ELEM_OTHER are counted in c->n_other. The shards must outlive c. */
int tf_place(Checkpoint *c, const TfIndex *x, const MappedFile *shards, const char *name, char *err, size_t errlen);

/* Open PREFIX.index and the shards it uses, which c then owns: tf_index_read and tf_place. */
int tf_open(Checkpoint *c, const char *prefix, char *err, size_t errlen);

#endif
