/* weights-tools/checkpoint/statedict.h - from the values of a pickle to windows on storages.
 *
 * A state dict is a dict of names and tensors; a tensor is a window (offset, size, stride) on a storage; a storage is a
 * run of bytes that several tensors may share. The dict is a pickle, the storages stand beside it. A dict whose entry
 * "state_dict", "model_state_dict", "model" or "module" is a dict of tensors (a training checkpoint) is read as that
 * one. Source: torch/_utils.py. */
#ifndef STATEDICT_H
#define STATEDICT_H

#include "checkpoint.h"
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

/* Append the tensors of the state dict in p to c, and keep what an entry "model_args" says (c->settings). Every window
 * is checked against its storage's numel: no negative stride, no element outside. 0, -EINVAL or -ENOMEM. */
int state_dict_read(Checkpoint *c, const Pickle *p, StorageFinder *f);

#endif
