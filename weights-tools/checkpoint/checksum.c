/* weights-tools/checkpoint/checksum.c - eight bytes at a time: table[k] has pushed a byte through k more zeros. */
#include "checksum.h"
#include "base/base.h"

void crc_init(Crc *crc, int kind) {
    static const uint32_t polynomials[] = {0xedb88320, 0x82f63b78};
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t c = b;
        for (int bit = 0; bit < 8; bit++) c = c >> 1 ^ (c & 1 ? polynomials[kind] : 0);
        crc->table[0][b] = c;
    }
    for (uint32_t b = 0; b < 256; b++)
        for (int k = 1; k < 8; k++) {
            uint32_t c = crc->table[k - 1][b];
            crc->table[k][b] = c >> 8 ^ crc->table[0][c & 255];
        }
}

uint32_t crc_of(const Crc *crc, const uint8_t *data, size_t size) {
    const uint32_t(*t)[256] = crc->table;
    uint32_t c = 0xffffffff;
    for (; size >= 8; data += 8, size -= 8) {
        uint32_t a = c ^ load_u32(data), b = load_u32(data + 4);
        c = t[7][a & 255] ^ t[6][a >> 8 & 255] ^ t[5][a >> 16 & 255] ^ t[4][a >> 24] ^ t[3][b & 255] ^
            t[2][b >> 8 & 255] ^ t[1][b >> 16 & 255] ^ t[0][b >> 24];
    }
    for (; size > 0; data++, size--) c = c >> 8 ^ t[0][(c ^ *data) & 255];
    return ~c;
}

uint32_t crc_unmask(uint32_t stored) {
    uint32_t rotated = stored - 0xa282ead8u;
    return rotated >> 17 | rotated << 15;
}
