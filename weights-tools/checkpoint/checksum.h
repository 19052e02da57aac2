/* weights-tools/checkpoint/checksum.h - the two checksums of checkpoints: CRC-32 (zip) and CRC-32C (TensorFlow).
 *
 *     Crc crc;
 *     crc_init(&crc, CRC32_ZIP);
 *     if (crc_of(&crc, data, size) != stored) ...
 *
 * Both are the reflected kind, start from ~0 and end inverted. Source: PKWARE APPNOTE 4.4.7; RFC 3720 B.4 (CRC-32C);
 * the masking: leveldb util/crc32c.h. "123456789" gives cbf43926 and e3069283. */
#ifndef CHECKSUM_H
#define CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

enum { CRC32_ZIP = 0, CRC32C_TF = 1 };

typedef struct {
    uint32_t table[8][256]; /* [k][b]: what byte b does k bytes further on */
} Crc;

void crc_init(Crc *crc, int kind);
uint32_t crc_of(const Crc *crc, const uint8_t *data, size_t size);

/* What TensorFlow stores is masked, so that a checksum of bytes that hold checksums stays a good one. */
uint32_t crc_unmask(uint32_t stored);

#endif
