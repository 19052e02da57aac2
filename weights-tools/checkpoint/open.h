/* weights-tools/checkpoint/open.h - any checkpoint from its path: the one place that knows the containers.
 *
 *     Checkpoint c;
 *     if (checkpoint_open(&c, "folder/pytorch_model.bin", err, sizeof err)) ...
 *     for (size_t i = 0; i < c.n_views; i++) ... c.views[i].name, view_read(&c.views[i], ...)
 *     checkpoint_close(&c); */
#ifndef CHECKPOINT_OPEN_H
#define CHECKPOINT_OPEN_H

#include "checkpoint.h"

/* Open path: a PyTorch file (zip or legacy), a TensorFlow V2 checkpoint (its prefix or its .index file), a safetensors
 * file, or a folder that holds one of these. 0, or a negative errno and one line; c is zeroed then. Errors: -ENOENT,
 * -ENOEXEC (none of these), -EINVAL (damaged, refused), -ENOMEM. */
int checkpoint_open(Checkpoint *c, const char *path, char *err, size_t errlen);

#endif
