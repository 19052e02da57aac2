/* weights-tools/checkpoint/torch.h - PyTorch's two file formats, read without Python: a pickle, and storages beside it.
 * Source: torch/serialization.py. */
#ifndef TORCH_H
#define TORCH_H

#include "checkpoint.h"

/* 1 where the bytes begin like a file of the older format, without zip (PyTorch before 1.6, and most RoFormer
 * releases). */
int torch_legacy_is(const uint8_t *data, size_t size);

/* Read a whole file from memory: append its tensors to c. data must outlive c. */
int torch_zip_read(Checkpoint *c, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen);
int torch_legacy_read(Checkpoint *c, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen);

#endif
