/* weights-tools/checkpoint/checkpoint.h - one view of any checkpoint: named windows on mapped files. open.h opens one;
 * the readers of containers (torch.h, tf.h) fill it.
 *
 * When checkpoint_open returns 0, every element of every view lies inside a mapped file, no name stands twice, every
 * checksum that the container has was compared, and all views together are at most CHECKPOINT_MAX_SHARING times as long
 * as the files (PyTorch lets tensors share bytes). Nothing from a file has been executed. */
#ifndef CHECKPOINT_H
#define CHECKPOINT_H

#include "view.h"

enum { CHECKPOINT_MAX_SHARING = 16 };

typedef enum { CONTAINER_ZIP, CONTAINER_LEGACY, CONTAINER_TF, CONTAINER_SAFETENSORS } Container;

const char *container_name(Container container); /* "PyTorch (zip)" .. */

typedef struct {
    Container container;
    char *folder;         /* where config.json and vocab.txt would stand */
    View *views;          /* [n_views], in the order of the file */
    size_t n_views, cap_views;
    Weights weights;      /* owns the mapped files and the names; CONTAINER_SAFETENSORS: the tensors too */
    size_t file_bytes;    /* of all files */
    const char *settings; /* a JSON object of what a training checkpoint of llama2.c says of its model; or NULL */
    size_t n_other;       /* entries that are not tensors of numbers (text, a step count ..): left out */
} Checkpoint;

/* Append a view whose name is copied from name[0 .. n-1] (it must be printable UTF-8). 0, -EINVAL or -ENOMEM and one
 * line, in which the file is called `file`. */
int checkpoint_add(Checkpoint *c, const View *v, const char *name, size_t n, const char *file, char *err,
                   size_t errlen);
/* When all are there: compare names and lengths. */
int checkpoint_finish(Checkpoint *c, const char *file, char *err, size_t errlen);
void checkpoint_close(Checkpoint *c); /* accepts a zeroed struct */

#endif
