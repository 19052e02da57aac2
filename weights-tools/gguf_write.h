/* weights-tools/gguf_write.h - metadata pairs for a GGUF file, appended to a Buffer: key, type, value.
 *
 *     GgufMeta m = {0};
 *     gguf_string(&m, "general.architecture", "roformer");
 *     gguf_write(&f, &plan, &m, &report, err, sizeof err);
 *     free(m.bytes.data);
 *
 * Source: ggml docs/gguf.md. A failed allocation is remembered in m.bytes.failed and reported by gguf_write. */
#ifndef GGUF_WRITE_H
#define GGUF_WRITE_H

#include "buffer.h"
#include "plan.h"

typedef struct {
    Buffer bytes;
    uint64_t n; /* pairs */
} GgufMeta;

void gguf_string(GgufMeta *m, const char *key, const char *value);
void gguf_u32(GgufMeta *m, const char *key, uint32_t value);
void gguf_f32(GgufMeta *m, const char *key, float value);
void gguf_bool(GgufMeta *m, const char *key, int value);
/* The head of an array of n values of a MetaType; the caller appends them: gguf_text, or buffer_u32(&m->bytes, ..). */
void gguf_array(GgufMeta *m, const char *key, MetaType elem, uint64_t n);
void gguf_text(GgufMeta *m, const char *s, size_t n);

/* A GGUF v3 file: m's pairs, then the tensors in the plan's order, each at a multiple of 32 bytes. Errors: -EINVAL (a tensor
 * with no element or more than 4 dimensions, or of a type other than F32, F16, BF16), and those of output_write. */
int gguf_write(NewFile *f, const Plan *p, const GgufMeta *m, const Report *r, char *err, size_t errlen);

#endif
