/* weights-tools/buffer.c - bytes that grow. */
#include "buffer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *reserve(Buffer *b, size_t n) {
    size_t need, twice;
    if (b->failed) return NULL;
    if (!size_add(b->n, n, &need) || !size_mul(need, 2, &twice)) {
        b->failed = 1;
        return NULL;
    }
    if (need > b->room) {
        uint8_t *p = realloc(b->data, twice);
        if (!p) {
            b->failed = 1;
            return NULL;
        }
        b->data = p;
        b->room = twice;
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

int text_compare(const char *a, size_t a_n, const char *b, size_t b_n) {
    int d = memcmp(a, b, a_n < b_n ? a_n : b_n);
    return d ? d : a_n < b_n ? -1 : a_n > b_n;
}

int text_ends_with(const char *s, const char *tail) {
    size_t n = strlen(s), t = strlen(tail);
    return n > t && strcmp(s + n - t, tail) == 0;
}

int array_grow(void **array, size_t n, size_t element) {
    size_t bytes;
    if (n != 0 && (n & (n - 1)) != 0) return 0;
    if (!size_mul(n ? 2 * n : 1, element, &bytes)) return -ENOMEM;
    void *p = realloc(*array, bytes);
    if (!p) return -ENOMEM;
    *array = p;
    return 0;
}
