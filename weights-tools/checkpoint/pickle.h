/* weights-tools/checkpoint/pickle.h - what a pickle of torch.save holds: values that refer to one another.
 * pickle_read.h makes one, statedict.c walks it.
 *
 *     for (int32_t c = v->first; c != PICKLE_NONE; c = p->cells[c].next) ... pickle_at(p, c)
 *
 * Strings point into the file. What pickle_read returns holds no cycle, so it can be walked. */
#ifndef PICKLE_H
#define PICKLE_H

#include "view.h"

enum { PICKLE_NONE = -1 };

typedef enum {
    PV_NONE, PV_BOOL, PV_INT, PV_FLOAT, PV_STRING,
    PV_BIG,     /* an integer beyond 64 bits: text holds its bytes, little-endian */
    PV_GLOBAL,  /* one of the names allowed: which is a PickleGlobal */
    PV_TUPLE, PV_LIST,
    PV_DICT,    /* children: key, value, key, value .. */
    PV_STORAGE, /* children: those of the persistent id, ("storage", class, key, location, numel ..) */
    PV_TENSOR,  /* children: the arguments of _rebuild_tensor: storage, offset, size, stride .. */
} PickleType;

typedef enum {
    GLOBAL_ORDERED_DICT, GLOBAL_TENSOR, GLOBAL_TENSOR_V2, GLOBAL_PARAMETER, GLOBAL_SIZE, GLOBAL_STORAGE
} PickleGlobal;

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
    size_t n_values, cap_values, n_cells, cap_cells;
    int32_t root;
} Pickle;

void pickle_free(Pickle *p); /* accepts a zeroed struct */

/* The value in a cell. */
const PickleValue *pickle_at(const Pickle *p, int32_t cell);
/* Child number i, or NULL. Walks. */
const PickleValue *pickle_child(const Pickle *p, const PickleValue *v, size_t i);
/* The value of a dict's key, or NULL (also where v is no dict). */
const PickleValue *pickle_get(const Pickle *p, const PickleValue *v, const char *key);
int pickle_is(const PickleValue *v, const char *text); /* 1 where v is that string */

#endif
