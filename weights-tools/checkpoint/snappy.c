/* weights-tools/checkpoint/snappy.c - literals and copies of what was produced before.
 *
 *     varint length, then elements; the two low bits of an element's first byte:
 *     0  literal   length-1 in the upper six bits, or 60 .. 63: in the 1 .. 4 bytes that follow
 *     1  copy      length 4 + 3 bits, offset 11 bits: 3 here, 8 in the next byte
 *     2  copy      length 1 + 6 bits, offset in the next two bytes
 *     3  copy      length 1 + 6 bits, offset in the next four bytes */
#include "snappy.h"
#include "base/base.h"

#include <string.h>

enum { MAX_GROWTH = 22 }; /* the best element: 3 bytes that copy 64 */

typedef struct {
    const uint8_t *in;
    size_t left; /* of in */
    uint8_t *out;
    size_t n, made;
} Decoder;

static size_t read_length(const uint8_t *data, size_t size, size_t *out) {
    uint64_t v = 0;
    for (size_t i = 0; i < size && i < 5; i++) {
        v |= (uint64_t)(data[i] & 127) << (7 * i);
        if (data[i] & 128) continue;
        if (v > UINT32_MAX) return 0;
        *out = (size_t)v;
        return i + 1;
    }
    return 0;
}

int snappy_length(const uint8_t *data, size_t size, size_t *out) {
    size_t header = read_length(data, size, out);
    return header > 0 && *out / MAX_GROWTH <= size - header;
}

/* The n little-endian bytes in front, 1 .. 4 of them. */
static int take(Decoder *d, size_t n, uint32_t *v) {
    if (n > d->left) return 0;
    *v = 0;
    for (size_t i = 0; i < n; i++) *v |= (uint32_t)d->in[i] << (8 * i);
    d->in += n;
    d->left -= n;
    return 1;
}

static int literal(Decoder *d, uint32_t tag) {
    uint32_t last = tag >> 2; /* length - 1: a literal is never empty */
    if (last >= 60 && !take(d, last - 59, &last)) return 0;
    if (last >= d->left || last >= d->n - d->made) return 0;
    memcpy(d->out + d->made, d->in, (size_t)last + 1);
    d->in += (size_t)last + 1;
    d->left -= (size_t)last + 1;
    d->made += (size_t)last + 1;
    return 1;
}

static int copy(Decoder *d, uint32_t tag) {
    uint32_t kind = tag & 3, offset, length = kind == 1 ? 4 + (tag >> 2 & 7) : 1 + (tag >> 2);
    if (!take(d, kind == 1 ? 1 : kind == 2 ? 2 : 4, &offset)) return 0;
    if (kind == 1) offset |= tag >> 5 << 8;
    if (offset == 0 || offset > d->made || length > d->n - d->made) return 0;
    uint8_t *to = d->out + d->made;
    for (uint32_t i = 0; i < length; i++) to[i] = to[(ptrdiff_t)i - (ptrdiff_t)offset]; /* may overlap: byte by byte */
    d->made += length;
    return 1;
}

int snappy_decode(const uint8_t *data, size_t size, uint8_t *out, size_t n) {
    size_t length, header = read_length(data, size, &length);
    if (header == 0 || length != n) return 0;
    Decoder d = {.in = data + header, .left = size - header, .out = out, .n = n};
    uint32_t tag;
    while (d.left > 0)
        if (!take(&d, 1, &tag) || !(tag & 3 ? copy(&d, tag) : literal(&d, tag))) return 0;
    return d.made == n;
}
