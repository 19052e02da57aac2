/* weights-tools/gguf_write.c - metadata pairs of a GGUF file: key, type, value. */
#include "gguf_write.h"

#include <math.h>
#include <string.h>

static void pair(GgufMeta *m, const char *key, MetaType type) {
    gguf_text(m, key, strlen(key));
    buffer_u32(&m->bytes, (uint32_t)type);
    m->n++;
}

void gguf_text(GgufMeta *m, const char *s, size_t n) {
    buffer_u64(&m->bytes, n);
    buffer_bytes(&m->bytes, s, n);
}

void gguf_string(GgufMeta *m, const char *key, const char *value) { gguf_string_of(m, key, value, strlen(value)); }

void gguf_string_of(GgufMeta *m, const char *key, const char *value, size_t n) {
    pair(m, key, META_STRING);
    gguf_text(m, value, n);
}

void gguf_u32(GgufMeta *m, const char *key, uint32_t value) {
    pair(m, key, META_U32);
    buffer_u32(&m->bytes, value);
}

void gguf_u64(GgufMeta *m, const char *key, uint64_t value) {
    pair(m, key, META_U64);
    buffer_u64(&m->bytes, value);
}

void gguf_f32(GgufMeta *m, const char *key, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    m->beyond |= !isfinite(value);
    pair(m, key, META_F32);
    buffer_u32(&m->bytes, bits);
}

void gguf_bool(GgufMeta *m, const char *key, int value) {
    pair(m, key, META_BOOL);
    buffer_fill(&m->bytes, value != 0, 1);
}

void gguf_array(GgufMeta *m, const char *key, MetaType elem, uint64_t n) {
    pair(m, key, META_ARRAY);
    buffer_u32(&m->bytes, (uint32_t)elem);
    buffer_u64(&m->bytes, n);
}
