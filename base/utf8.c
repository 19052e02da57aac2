/* base/utf8.c - code points to UTF-8; a text in another. */
#include "utf8.h"

#include <string.h>

int utf8_encode(uint32_t cp, char out[4]) {
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    int len = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    for (int i = len - 1; i > 0; i--, cp >>= 6) out[i] = (char)(0x80 | (cp & 0x3f));
    out[0] = (char)((0xf00u >> len & 0xffu) | cp);
    return len;
}

size_t find_bytes(const char *text, size_t from, size_t n, const char *needle) {
    size_t len = strlen(needle);
    for (size_t at = from; at + len <= n; at++)
        if (memcmp(text + at, needle, len) == 0) return at;
    return n;
}
