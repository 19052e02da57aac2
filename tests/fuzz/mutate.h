/* tests/fuzz/mutate.h - mutators that know a format: one thing of a file's structure changes, and what depends on it is
 * put right, or, now and then, is not. Half of the time libFuzzer's own mutation is taken, so nothing is out of reach.
 *
 *     size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
 *         return mutate(mutate_gguf, data, size, most, seed);
 *     } */
#ifndef MUTATE_H
#define MUTATE_H

#include <stddef.h>
#include <stdint.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most); /* libFuzzer's */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

typedef struct {
    uint8_t *data; /* [most], of which size are in use */
    size_t size, most;
    uint64_t state;
} Mutant;

/* Changes m; 0 where there is nothing to change, or no room for it. */
typedef int Mutator(Mutant *m);
Mutator mutate_gguf, mutate_json, mutate_safetensors;

/* One of its changes, or a few, or libFuzzer's; the new size. */
size_t mutate(Mutator *how, uint8_t *data, size_t size, size_t most, unsigned seed);

/* Offsets as the tensors of a GGUF head, in the first size bytes, ask for: 1, and where the data begin and their bytes;
 * 0 where the head was not understood to its end, or more than that is asked for. */
int gguf_layout(uint8_t *data, size_t size, size_t most, size_t *begin, size_t *bytes);

/* ---- what mutators are made of ---- */

uint32_t chance(Mutant *m, uint32_t n); /* 0 .. n - 1, of n > 0 */
/* A count, size or offset as files have them where they go wrong: a border, or near what it was. */
uint64_t chance_number(Mutant *m, uint64_t was);
/* size bytes of m from at become with [n], which may be a part of m: 1, or 0 without room. */
int splice(Mutant *m, size_t at, size_t size, const void *with, size_t n);
/* The same two places trade their bytes; a lies before b, and they do not overlap. */
int trade(Mutant *m, size_t a, size_t a_size, size_t b, size_t b_size);
/* libFuzzer's mutation of the size bytes from at, which may grow or shrink; the new size, or 0. */
size_t remake(Mutant *m, size_t at, size_t size);

/* A value in a text of JSON: s[begin .. end), and where the name before it begins (without one: begin). */
typedef struct { size_t name, begin, end; } JsonSpan;
enum { JSON_SPANS = 400 };
/* The values of s [n], outer ones before what is in them, however damaged the text is; how many. */
size_t json_spans(const char *s, size_t n, JsonSpan *spans);

#endif
