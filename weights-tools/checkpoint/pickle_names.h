/* weights-tools/checkpoint/pickle_names.h - the opcodes that name and call: GLOBAL (two lines of text), STACK_GLOBAL,
 * REDUCE and NEWOBJ, BUILD, BINPERSID. Nothing is looked up and nothing is called: a name must be one of a list, and a
 * call of it becomes a value that records its arguments. */
#ifndef PICKLE_NAMES_H
#define PICKLE_NAMES_H

#include "pickle_machine.h"

int pickle_global(PickleMachine *m);
int pickle_stack_global(PickleMachine *m);
int pickle_reduce(PickleMachine *m);
int pickle_build(PickleMachine *m);
int pickle_storage(PickleMachine *m);

#endif
