/* weights-tools/buffer.c - bytes that grow. */
#include "buffer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *reserve(Buffer *b, size_t n) {
    size_t need;
    if (b->failed) return NULL;
    if (!size_add(b->n, n, &need) || array_reserve(&b->data, &b->cap, need, 1)) {
        b->failed = 1;
        return NULL;
    }
    b->n = need;
    return b->data + need - n;
}

void buffer_bytes(Buffer *b, const void *p, size_t n) {
    uint8_t *to = n ? reserve(b, n) : NULL;
    if (to) memcpy(to, p, n);
}

void buffer_fill(Buffer *b, int byte, size_t n) {
    uint8_t *to = n ? reserve(b, n) : NULL;
    if (to) memset(to, byte, n);
}

void buffer_u32(Buffer *b, uint32_t v) {
    for (int i = 0; i < 4; i++, v >>= 8) buffer_fill(b, (int)(v & 255), 1);
}

void buffer_u64(Buffer *b, uint64_t v) {
    buffer_u32(b, (uint32_t)v);
    buffer_u32(b, (uint32_t)(v >> 32));
}

void buffer_print(Buffer *b, const char *fmt, ...) {
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof text) b->failed = 1;
    else buffer_bytes(b, text, (size_t)n);
}

const char *plural(size_t n) { return n == 1 ? "" : "s"; }

void buffer_json(Buffer *b, const char *s, size_t n) {
    buffer_bytes(b, "\"", 1);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\') buffer_print(b, "\\%c", c);
        else if (c < 0x20 || c == 0x7f) buffer_print(b, "\\u%04x", c);
        else buffer_bytes(b, &c, 1);
    }
    buffer_bytes(b, "\"", 1);
}
