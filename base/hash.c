/* base/hash.c - FNV-1a. */
#include "hash.h"

uint64_t hash_bytes(uint64_t hash, const void *data, size_t n) {
    for (size_t i = 0; i < n; i++) hash = (hash ^ ((const uint8_t *)data)[i]) * 0x100000001b3u;
    return hash;
}
