/* weights-tools/pickle.h - the part of Python's pickle that torch.save writes for a state dict, and nothing else.
 *
 *     Pickle p;
 *     size_t used;
 *     if (pickle_read(&p, data, size, &used, "model.bin", err, sizeof err)) ...
 *     const PickleValue *root = &p.values[p.root];
 *     pickle_free(&p);
 *
 * A pickle is a program for a stack machine whose language can name and call any Python function. Here nothing is ever
 * called: the opcodes are a list (read_one in pickle.c), the names that may stand in a GLOBAL are a list (globals in
 * pickle.c), and a call of one of these becomes a value that records its arguments. Anything else refuses the file.
 *
 * Memory: an opcode makes at most one value, there are at most two cells a byte, and none of the arrays below grows past
 * PICKLE_MAX_VALUES. Strings point into data, which must outlive p. What comes out holds no cycle, so it can be walked.
 * Source: Lib/pickletools.py (the opcodes), torch/_utils.py and torch/serialization.py (what they are used for). */
#ifndef PICKLE_H
#define PICKLE_H

#include "checkpoint.h"

enum { PICKLE_MAX_VALUES = 1 << 22, PICKLE_NONE = -1 };

typedef enum {
    PV_NONE, PV_BOOL, PV_INT, PV_FLOAT, PV_STRING,
    PV_BIG,     /* an integer beyond 64 bits: text holds its bytes, little-endian */
    PV_GLOBAL,  /* one of the names allowed: which is a PickleGlobal */
    PV_TUPLE, PV_LIST,
    PV_DICT,    /* children: key, value, key, value .. */
    PV_STORAGE, /* children: those of the persistent id, ("storage", class, key, location, numel ..) */
    PV_TENSOR,  /* children: the arguments of _rebuild_tensor: storage, offset, size, stride .. */
} PickleType;

typedef enum { GLOBAL_ORDERED_DICT, GLOBAL_TENSOR, GLOBAL_TENSOR_V2, GLOBAL_PARAMETER, GLOBAL_SIZE, GLOBAL_STORAGE } PickleGlobal;

typedef struct {
    uint8_t type;         /* PickleType */
    uint8_t which;        /* PV_GLOBAL: PickleGlobal */
    uint8_t elem;         /* PV_GLOBAL of a storage class: its ElemType */
    uint32_t n;           /* PV_STRING, PV_BIG: bytes; containers: children */
    int32_t first, last;  /* containers: cells of the first and the last child, or PICKLE_NONE */
    union {
        int64_t integer;  /* PV_INT, PV_BOOL */
        double number;    /* PV_FLOAT */
        const char *text; /* PV_STRING, PV_BIG: in the file, no NUL behind it */
    } as;
} PickleValue;

typedef struct {
    int32_t value, next; /* next: PICKLE_NONE at the end */
} PickleCell;

typedef struct {
    PickleValue *values;
    PickleCell *cells;
    size_t n_values, n_cells;
    int32_t root;
} Pickle;

/* Read one pickle, protocol 2 to 5, from the front of data; *used gets its length, STOP included. 0, -EINVAL or -ENOMEM
 * and one line; p is zeroed then. */
int pickle_read(Pickle *p, const uint8_t *data, size_t size, size_t *used, const char *name, char *err, size_t errlen);
void pickle_free(Pickle *p); /* accepts a zeroed struct */

/* Walk children: for (int32_t c = v->first; c != PICKLE_NONE; c = p->cells[c].next) ... pickle_at(p, c) */
const PickleValue *pickle_at(const Pickle *p, int32_t cell);
/* Child number i, or NULL. Walks. */
const PickleValue *pickle_child(const Pickle *p, const PickleValue *v, size_t i);
/* The value of a dict's key, or NULL (also where v is no dict). */
const PickleValue *pickle_get(const Pickle *p, const PickleValue *v, const char *key);
int pickle_is(const PickleValue *v, const char *text); /* 1 where v is that string */

#endif
