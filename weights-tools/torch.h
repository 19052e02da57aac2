/* weights-tools/torch.h - PyTorch's two file formats, read without Python. Used by checkpoint.c and the fuzz target.
 *
 * A state dict is a dict of names and tensors; a tensor is a window (offset, size, stride) on a storage; a storage is a
 * run of bytes that several tensors may share. The dict is a pickle, the storages stand beside it. A dict whose entry
 * "state_dict", "model_state_dict", "model" or "module" is a dict of tensors (a training checkpoint) is read as that one.
 * Source: torch/serialization.py. */
#ifndef TORCH_H
#define TORCH_H

#include "pickle.h"

/* Where the bytes of a storage are: key[0 .. n-1] as the pickle names it, numel elements of type elem. Writes *data; on
 * failure one line into err and -EINVAL. */
typedef struct StorageFinder StorageFinder;
struct StorageFinder {
    int (*find)(StorageFinder *f, const char *key, size_t n, ElemType elem, size_t numel, const uint8_t **data);
    const char *name; /* of the file, for error lines */
    char *err;
    size_t errlen;
};

/* Append the tensors of the state dict in p to c. Every window is checked against its storage's numel: no negative
 * stride, no element outside. 0, -EINVAL or -ENOMEM. */
int state_dict_read(Checkpoint *c, const Pickle *p, StorageFinder *f);

/* 1 where the bytes begin like a file of the older format, without zip (PyTorch before 1.6, and most RoFormer releases). */
int torch_legacy_is(const uint8_t *data, size_t size);

/* Read a whole file from memory: append its tensors to c. data must outlive c. */
int torch_zip_read(Checkpoint *c, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen);
int torch_legacy_read(Checkpoint *c, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen);

#endif
