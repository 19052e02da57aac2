/* tests/decoder_files.h - what tests/oracle/decoders.py, architectures.py and encoders.py stored of their cases, and
 * from them whole models.
 *
 *     path = gguf_file("qwen2", TENSOR_F32, &sound);       in the tests' own folder, until the next
 *
 * Weights come from a formula (value_of in decoders.py); headers are those of the safetensors and gguf packages, and of
 * llama.cpp's converter. */
#ifndef DECODER_FILES_H
#define DECODER_FILES_H

#include "kernels/quants.h"
#include "model/files/weights.h"

#include <stddef.h>

/* What is done to a model to spoil it; all NULL and 0: nothing. */
typedef struct {
    const char *from, *to; /* in config.json, once; or in `file`: "a": true and "b": false become false and true */
    const char *file;      /* of sentence-transformers', in the model's folder */
    const char *set;       /* tensors whose name holds this .. */
    float value;           /* .. have this value throughout, or what how says: */
    enum {
        SPOIL_SET,
        SPOIL_ADD,    /* it is added to theirs */
        SPOIL_SWAP,   /* value i is that of i ^ it */
        SPOIL_REPEAT, /* they repeat after so many */
        SPOIL_LIKE,   /* they are those of the tensor called `with` */
        SPOIL_TRADE   /* values of tensors whose name holds `with` in that place, and the other way round */
    } how;
    const char *with;
    int unpermuted; /* GGUF: numbers in the order that Hugging Face has them in */
} Spoil;
extern const Spoil sound;

/* A line of wrong.txt: case, what, how, to what, by what, how far the model's own program is off then. `pooled`: it is
 * about what is done with a token's output. */
typedef struct {
    char *field[6];
    int pooled;
    Spoil s;
} Wrong;
/* Read a line, which is cut up; the next one, NULL behind the last. A line that is none is a failure. */
char *wrong_read(char *line, Wrong *w);

/* tests/golden/{decoders,architectures,encoders}/NAMESUFFIX, NUL-terminated, malloc'ed; NULL: it is not there. size may
 * be NULL. */
char *decoder_golden(const char *name, const char *suffix, size_t *size);
/* "name: what more", as a failure of the running test. */
void decoder_fail(const char *name, const char *what, const char *more);

/* A case as a folder of Hugging Face's (with NAME.configCONFIG.json, and sentence-transformers' files), as a GGUF file;
 * what weights-tools/convert makes of a folder (NULL: of none), a task's adapter merged (floats 1: all of it as F32).
 * NULL: there is no such config or head, or a failure. */
const char *hf_folder(const char *name, const char *config, TensorType type, const Spoil *s);
const char *gguf_file(const char *name, TensorType type, const Spoil *s);
const char *converted(const char *name, const char *folder, const char *task, int floats);

/* In a file of such a folder `to` in the place of `from`, once; of a safetensors file in its header. */
void folder_change(const char *folder, const char *file, const char *from, const char *to);

/* The GGUF file at from with one key more (and one that fills up 32 bytes, so that its tensors stay where they are), in
 * another file; and one with a byte set, so far behind a name: of a key there stand its type and value, of a tensor its
 * dimensions and type. Both return the path. */
const char *gguf_with_key(const char *from, const char *key, MetaType type, const void *raw, size_t n_raw);
const char *gguf_patched(const char *path, const char *name, size_t at, unsigned byte);

/* A tiny Qwen3.5 with a tokenizer of the printable bytes (test_chat_delta.c); NULL: it could not be written. */
const char *delta_folder(void);
const char *convolution_folder(void); /* the same of LFM2 */

/* Adapters of W_q of a first layer of 32 columns and rows (test_lora.c): PEFT's folder, and llama.cpp's file. */
const char *lora_folder(void), *lora_file(void);

#endif
