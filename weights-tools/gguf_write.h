/* weights-tools/gguf_write.h - metadata pairs for a GGUF file, appended to a Buffer: key, type, value.
 *
 *     GgufMeta m = {0};
 *     gguf_string(&m, "general.architecture", "roformer");
 *     ...                                                 model_write.h writes the file
 *     free(m.bytes.data);
 *
 * Source: ggml docs/gguf.md. A failed allocation is remembered in m.bytes.failed. */
#ifndef GGUF_WRITE_H
#define GGUF_WRITE_H

#include "buffer.h"
#include "plan.h"

typedef struct {
    Buffer bytes;
    uint64_t n; /* pairs */
    int beyond; /* 1: a number that F32 does not hold */
} GgufMeta;

void gguf_string(GgufMeta *m, const char *key, const char *value);
void gguf_string_of(GgufMeta *m, const char *key, const char *value, size_t n);
void gguf_u32(GgufMeta *m, const char *key, uint32_t value);
void gguf_u64(GgufMeta *m, const char *key, uint64_t value);
void gguf_f32(GgufMeta *m, const char *key, float value);
void gguf_bool(GgufMeta *m, const char *key, int value);
/* The head of an array of n values of a MetaType; the caller appends them: gguf_text, or buffer_u32(&m->bytes, ..). */
void gguf_array(GgufMeta *m, const char *key, MetaType elem, uint64_t n);
void gguf_text(GgufMeta *m, const char *s, size_t n);

#endif
