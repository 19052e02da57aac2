/* tests/decoder_files.h - what tests/oracle/decoders.py and architectures.py stored of their cases, and from them whole
 * models.
 *
 *     path = gguf_file("qwen2", TENSOR_F32, &sound);       in the tests' own folder, until the next
 *
 * Weights come from a formula (value_of in decoders.py); headers are those of the safetensors and gguf packages, and of
 * llama.cpp's converter. */
#ifndef DECODER_FILES_H
#define DECODER_FILES_H

#include "kernels/quants.h"

#include <stddef.h>

/* What is done to a model to spoil it; all NULL and 0: nothing. */
typedef struct {
    const char *from, *to; /* in config.json, once */
    const char *set;       /* tensors whose name holds this .. */
    float value;           /* .. have this value throughout, or what how says: */
    enum {
        SPOIL_SET,
        SPOIL_ADD,   /* it is added to theirs */
        SPOIL_SWAP,  /* value i is that of i ^ it */
        SPOIL_REPEAT, /* they repeat after so many */
        SPOIL_LIKE    /* they are those of the tensor called like */
    } how;
    const char *like;
    int unpermuted; /* GGUF: numbers in the order that Hugging Face has them in */
} Spoil;
extern const Spoil sound;

/* tests/golden/decoders/NAMESUFFIX or architectures/NAMESUFFIX, NUL-terminated, malloc'ed; NULL: it is not there. size
 * may be NULL. */
char *decoder_golden(const char *name, const char *suffix, size_t *size);
/* "name: what more", as a failure of the running test. */
void decoder_fail(const char *name, const char *what, const char *more);

/* A case as a folder of Hugging Face's (with NAME.configCONFIG.json), as a GGUF file; what weights-tools/convert makes
 * of a folder (NULL: of none). NULL: there is no such config or head, or a failure. */
const char *hf_folder(const char *name, const char *config, TensorType type, const Spoil *s);
const char *gguf_file(const char *name, TensorType type, const Spoil *s);
const char *converted(const char *name, const char *folder, int floats); /* 1: all of it as F32 */

#endif
