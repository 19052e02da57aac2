/* tests/reader_files.h - what the tests of GGUF, safetensors and llama2.c readers share: small files built in memory,
 * opened and judged.
 *
 * What is opened lies in an allocation of exactly its size, so that the sanitizers see a read of one byte too many;
 * whatever opens is then read to its last byte. */
#ifndef READER_FILES_H
#define READER_FILES_H

#include "model/files/gguf.h"
#include "model/files/llama2c.h"
#include "model/files/weights.h"
#include "model/files/safetensors.h"
#include "build.h"

unsigned read_all(const Weights *w); /* every byte that an opened file promises */
int is_line(const char *err);

/* The bytes of a whole file: 0 and read through, or an error and its line. */
typedef int OpenBytes(const uint8_t *data, size_t n, char *err, size_t errlen);
int open_bytes(const uint8_t *data, size_t n, char *err, size_t errlen);             /* GGUF, llama2.c */
int open_safetensors_bytes(const uint8_t *data, size_t n, char *err, size_t errlen);

/* 1 where it is as expected; otherwise what it was is printed. */
int opens(const Bytes *f);
int refused(const Bytes *f, const char *expected);
int refused_path(const char *path, const char *expected);
int open_data(Weights *w, const char *name); /* a file of ../shared/data: 1, or 0 and a failure, or a skip */

void cut_everywhere(const Bytes *f);                   /* to every length: refused */
void flip_everywhere(const Bytes *f, OpenBytes *open); /* every bit: opens whole or is refused, nothing else */

int save(const char *path, const void *data, size_t n); /* 1, or 0 */
void put_floats(Bytes *f, int n, float first);          /* counting up */

/* ---- GGUF ---- */

void put_gguf(Bytes *f, uint32_t version, uint64_t n_tensors, uint64_t n_meta); /* f is emptied first */
void put_key(Bytes *f, const char *name, uint32_t type, uint64_t value, int bytes);
void put_array(Bytes *f, const char *name, uint32_t elem, uint64_t n);
void put_tensor(Bytes *f, const char *name, int n_dims, uint64_t d0, uint64_t d1, uint32_t type, uint64_t offset);
/* A file of one key, without tensors; and of one tensor, t, its bytes behind it: what the file lacks to a multiple of
 * 32 is left to the caller. */
void put_key_file(Bytes *f);
void put_tensor_file(Bytes *f, int n_dims, uint64_t d0, uint64_t d1, uint32_t type, uint64_t offset, int bytes);
/* The GGUF file from as file to, with n keys more in front of its own: their bytes, which are freed; and one that fills
 * up, so that the data stays where it is aligned. */
void gguf_with(const char *to, const char *from, Bytes *keys, uint64_t n);

/* ---- llama2.c ---- */

enum {
    LLAMA2C_DIM = 4, LLAMA2C_HIDDEN = 6, LLAMA2C_LAYERS = 2, LLAMA2C_HEADS = 2, LLAMA2C_KV_HEADS = 1, LLAMA2C_VOCAB = 5,
    LLAMA2C_SEQ = 3, LLAMA2C_GROUP = 2,
    LLAMA2C_NORMS = LLAMA2C_LAYERS * 2 * LLAMA2C_DIM + LLAMA2C_DIM, /* values of all norms */
};

void good_llama2c(Bytes *f, uint32_t version, int shared);

/* ---- safetensors ---- */

/* header may hold NULs, so it has a length of its own. */
void safetensors_file(Bytes *f, const char *header, size_t n, int data_bytes);
/* The file at path with the first `from` of its header replaced, and so many zeros more at its end. */
void safetensors_with(const char *path, const char *from, const char *to, int more);

/* A tensor's entry of the header, from texts. */
#define T(dtype, shape, begin, end) "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" begin "," end "]}"

#endif
