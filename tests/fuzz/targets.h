/* tests/fuzz/targets.h - the targets beside each other, in one program, as the Makefile lists them. */
#ifndef TARGETS_H
#define TARGETS_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *name;                              /* "gguf" */
    int (*run)(const uint8_t *data, size_t size);  /* LLVMFuzzerTestOneInput */
    size_t (*mutator)(uint8_t *data, size_t size, size_t most, unsigned seed); /* its own, or NULL */
} FuzzTarget;

extern const FuzzTarget fuzz_targets[]; /* ended by a row without a name */

#endif
