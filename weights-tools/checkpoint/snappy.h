/* weights-tools/checkpoint/snappy.h - Snappy's raw format, decompression only: the blocks of a TensorFlow index.
 * Source: google/snappy format_description.txt. */
#ifndef SNAPPY_H
#define SNAPPY_H

#include <stddef.h>
#include <stdint.h>

/* How many bytes data[0 .. size-1] says it becomes, into *out: 1, or 0 where that is not a plausible number. No
 * element of the format makes more than 64 bytes of 3, so what this returns is at most 22 times size: allocate it
 * without fear. */
int snappy_length(const uint8_t *data, size_t size, size_t *out);

/* Decompress into out[0 .. n-1], n from snappy_length. 1, or 0 where the data is damaged (out then holds anything). */
int snappy_decode(const uint8_t *data, size_t size, uint8_t *out, size_t n);

#endif
