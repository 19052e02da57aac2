/* weights-tools/pickle_machine.h - the inside of the pickle reader, shared by pickle.c (the machine and its opcodes) and
 * pickle_names.c (which names may be called, and what a call becomes). */
#ifndef PICKLE_MACHINE_H
#define PICKLE_MACHINE_H

#include "pickle.h"

typedef struct {
    Pickle *p;
    const uint8_t *data;
    size_t size, pos;
    int32_t *stack, *memo;  /* memo: PICKLE_NONE where nothing was put */
    size_t *marks;
    size_t n_stack, n_marks, n_memo;
    const char *name;
    char *err;
    size_t errlen;
} PickleMachine;

/* Each writes its line and returns -EINVAL: the bytes are no pickle; or they are one that is not read here. */
int pickle_damaged(PickleMachine *m, const char *what);
int pickle_refused(PickleMachine *m, const char *what);

int pickle_push(PickleMachine *m, int32_t value);
int pickle_push_new(PickleMachine *m, const PickleValue *v); /* a copy of *v */
int pickle_push_kind(PickleMachine *m, PickleType type);     /* empty, zero */
int pickle_pop(PickleMachine *m, int32_t *value);
int pickle_add_child(PickleMachine *m, int32_t container, int32_t child);

/* Opcodes: GLOBAL (two lines of text), STACK_GLOBAL, REDUCE and NEWOBJ, BUILD, BINPERSID. */
int pickle_global(PickleMachine *m);
int pickle_stack_global(PickleMachine *m);
int pickle_reduce(PickleMachine *m);
int pickle_build(PickleMachine *m);
int pickle_storage(PickleMachine *m);

#endif
