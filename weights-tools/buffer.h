/* weights-tools/buffer.h - bytes that grow: headers of files, and JSON text.
 *
 *     Buffer b = {0};
 *     buffer_u32(&b, 3);
 *     buffer_print(&b, "%d", 7);
 *     if (b.failed) ... out of memory; everything after that was ignored
 *     free(b.data); */
#ifndef BUFFER_H
#define BUFFER_H

#include "base/base.h"

typedef struct {
    uint8_t *data; /* [n], malloc'ed; the caller frees it */
    size_t n, cap;
    int failed;
} Buffer;

void buffer_bytes(Buffer *b, const void *p, size_t n);
void buffer_u32(Buffer *b, uint32_t v); /* little-endian */
void buffer_u64(Buffer *b, uint64_t v);
void buffer_fill(Buffer *b, int byte, size_t n);
void buffer_print(Buffer *b, const char *fmt, ...) BASE_PRINTF(2, 3); /* at most 511 bytes */
/* "3 tensors", "1 tensor": what "%zu tensor%s" has for its %s. */
const char *plural(size_t n);
/* s[0 .. n-1], which is UTF-8, as a JSON string with its quotes. */
void buffer_json(Buffer *b, const char *s, size_t n);

#endif
