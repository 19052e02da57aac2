/* weights-tools/checkpoint/pickle_machine.h - the stack machine that a pickle is a program for: what its opcodes are
 * made of. pickle_names.c has the opcodes that name and call, pickle_read.c all others.
 *
 * Memory: an opcode makes at most one value, there are at most two cells a byte, and none of the arrays grows past
 * PICKLE_MAX_VALUES. */
#ifndef PICKLE_MACHINE_H
#define PICKLE_MACHINE_H

#include "pickle.h"

enum { PICKLE_MAX_VALUES = 1 << 22 };

typedef struct {
    Pickle *p;
    const uint8_t *data;
    size_t size, pos;
    int32_t *stack, *memo;  /* memo: PICKLE_NONE where nothing was put */
    size_t *marks;
    size_t n_stack, n_marks, n_memo, cap_stack, cap_marks, cap_memo;
    const char *name;
    char *err;
    size_t errlen;
} PickleMachine;

/* Each writes its line and returns -EINVAL: the bytes are no pickle; or they are one that is not read here. */
int pickle_damaged(PickleMachine *m, const char *what);
int pickle_refused(PickleMachine *m, const char *what);
int pickle_no_memory(PickleMachine *m); /* -ENOMEM */

PickleValue *pickle_value(PickleMachine *m, int32_t value);

int pickle_push(PickleMachine *m, int32_t value);
int pickle_push_new(PickleMachine *m, const PickleValue *v); /* a copy of *v */
int pickle_push_kind(PickleMachine *m, PickleType type);     /* empty, zero */
int pickle_push_integer(PickleMachine *m, PickleType type, int64_t v);
int pickle_pop(PickleMachine *m, int32_t *value);
int pickle_mark(PickleMachine *m);

int pickle_add_child(PickleMachine *m, int32_t container, int32_t child);
/* The n values on top, or all above the mark, become a tuple. */
int pickle_tuple(PickleMachine *m, size_t n);
int pickle_marked_tuple(PickleMachine *m);
/* The n values on top, or all above the mark (a multiple of n), go into the list (n 1) or the dict (n 2) below them. */
int pickle_fill_one(PickleMachine *m, PickleType type, size_t n);
int pickle_fill_marked(PickleMachine *m, PickleType type, size_t n);

/* The memo: what lies on top is kept under a number, or the next free one; a kept value is pushed again. */
int pickle_put(PickleMachine *m, size_t at);
int pickle_memoize(PickleMachine *m);
int pickle_get_memo(PickleMachine *m, size_t at);

#endif
