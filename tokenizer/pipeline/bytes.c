/* tokenizer/pipeline/bytes.c - base64, and GPT-2's way to write bytes as text: a byte that is a visible character of
 * Latin-1 is that character, the others are U+0100 and on, in their order. So every byte string is a text without
 * spaces or controls. */
#include "pipeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int digit_of(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *p = c ? strchr(digits, c) : NULL;
    return p ? (int)(p - digits) : -1;
}

int base64_decode(const char *s, size_t n, Text *out) {
    while (n && s[n - 1] == '=') n--;
    for (size_t i = 0; i < n; i += 4) {
        uint32_t bits = 0;
        size_t k = n - i < 4 ? n - i : 4;
        for (size_t j = 0; j < 4; j++) {
            int d = j < k ? digit_of(s[i + j]) : 0;
            if (d < 0) return -EINVAL;
            bits = bits << 6 | (uint32_t)d;
        }
        char three[3] = {(char)(bits >> 16), (char)(bits >> 8), (char)bits};
        if (k == 1) return -EINVAL;
        if (out && text_put(out, three, k - 1)) return -ENOMEM;
    }
    return 0;
}

static int visible(unsigned b) { return (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b != 0xad); }

/* How many bytes below b are not visible. */
static unsigned hidden_below(unsigned b) {
    return b <= 0x21 ? b : b <= 0x7f ? 0x21 : b <= 0xa1 ? b - 0x7f + 0x21 : 0x21 + 0xa1 - 0x7f;
}

int byte_char(unsigned char byte, char out[2]) {
    unsigned cp = visible(byte) ? byte : 0x100 + hidden_below(byte);
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    out[0] = (char)(0xc0 | cp >> 6);
    out[1] = (char)(0x80 | (cp & 0x3f));
    return 2;
}

int char_byte(uint32_t cp) {
    if (cp < 0x100) return visible(cp) ? (int)cp : -1;
    unsigned i = cp - 0x100;
    if (i < 0x21) return (int)i;
    if (i < 0x43) return (int)(0x7f + i - 0x21); /* 0x7f .. 0xa0 */
    return i == 0x43 ? 0xad : -1;
}

int bytes_as_text(const char *s, size_t n, Text *out) {
    char part[128];
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0;) {
        size_t k = 0;
        while (i < n && k + 2 <= sizeof part) k += (size_t)byte_char((unsigned char)s[i++], part + k);
        rc = text_put(out, part, k);
    }
    return rc;
}
