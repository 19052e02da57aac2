/* tests/build.h - small random models written in every format, for tests that need a whole file and not a certain one.
 * Weights are u / 256 with u from -127 to 127: exact in F32, F16, BF16 and Q8_0 (scale 1/256) alike. */
#ifndef BUILD_H
#define BUILD_H

#include "base/base.h"
#include "kernels/quants.h"

typedef struct {
    int d, ff, layers, heads, kv_heads, n_ctx; /* d and ff multiples of 32 where a block format is wanted */
    const char *phi, *form; /* linear attention: its keys are written (GGUF, Hugging Face); NULL: none are */
} BuildShape;

enum { BUILD_VOCAB = 300 }; /* <unk> <s> </s>, 256 bytes, and 41 pieces of English */

int build_id(int i); /* the i-th id of a text in that vocabulary: bytes, mostly */

void build_llama2c(const char *path, const BuildShape *s, int version, int group);
void build_gguf(const char *path, const BuildShape *s, TensorType type); /* architecture llama, with its vocabulary */
void build_gguf_vocabulary(const char *path);                            /* no tensors */
/* F32, F16, BF16; with tokenizer.model */
void build_hf(const char *folder, const BuildShape *s, TensorType type, int shards);
void build_tokenizer_bin(const char *path);
void build_tokenizer_model(const char *path);

/* v as little-endian F32, F16 or BF16 into out; the bytes written. Exact for what the tests use (8 significant bits,
 * 2^-8 <= |v| < 2 or 0). */
size_t float_encode(uint8_t *out, float v, TensorType type);

/* A number that a tensor's name and an index give, here and in tests/oracle (linear.py, decoders.py, roformer.py,
 * checkpoints.py): FNV-1a of the name, splitmix64 of that and the index. name_value: of its upper half -127 .. 127. */
uint64_t name_hash(const char *name, uint64_t i);
int name_value(const char *name, uint64_t i);

/* A file as bytes, NUL-terminated in malloc'ed memory (NULL: not there), and back. */
char *file_read(const char *path, size_t *size);
void file_write(const char *path, const void *data, size_t size);
int file_copy(const char *from, const char *to); /* 1, or 0: there is no such file */
int files_equal(const char *a, const char *b);   /* 1: both are there, with the same bytes */

/* Bytes that grow: files as tests write them. The test program ends where there is no memory. */
typedef struct {
    uint8_t *data; /* [n], malloc'ed; the caller frees it */
    size_t n, cap;
} Bytes;

void bytes_put(Bytes *b, const void *p, size_t n);
void bytes_number(Bytes *b, uint64_t v, int n); /* little-endian, in n bytes */
void bytes_u8(Bytes *b, unsigned v);
void bytes_u32(Bytes *b, uint32_t v);
void bytes_u64(Bytes *b, uint64_t v);
void bytes_f32(Bytes *b, float f);
void bytes_string(Bytes *b, const char *s); /* as GGUF has it: its length in 8 bytes, its text */
void bytes_pad(Bytes *b, size_t multiple);  /* zeros to a multiple of so many bytes */

#endif
