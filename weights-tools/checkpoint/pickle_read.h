/* weights-tools/checkpoint/pickle_read.h - the part of Python's pickle that torch.save writes for a state dict, and
 * nothing else.
 *
 *     Pickle p;
 *     size_t used;
 *     if (pickle_read(&p, data, size, &used, "model.bin", err, sizeof err)) ...
 *     const PickleValue *root = &p.values[p.root];
 *     pickle_free(&p);
 *
 * A pickle is a program for a stack machine whose language can name and call any Python function. Here nothing is ever
 * called: the opcodes are a list (read_one in pickle_read.c), the names that may stand in a GLOBAL are a list (globals
 * in pickle_names.c), and a call of one of these becomes a value that records its arguments. Anything else refuses the
 * file.
 *
 * Source: Lib/pickletools.py (the opcodes), torch/_utils.py and torch/serialization.py (what they are used for). */
#ifndef PICKLE_READ_H
#define PICKLE_READ_H

#include "pickle.h"

/* Read one pickle, protocol 2 to 5, from the front of data, which must outlive p; *used gets its length, STOP included.
 * 0, -EINVAL or -ENOMEM and one line; p is zeroed then. */
int pickle_read(Pickle *p, const uint8_t *data, size_t size, size_t *used, const char *name, char *err, size_t errlen);

#endif
