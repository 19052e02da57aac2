/* base/utf8.h - code points to UTF-8, whose way back is in base.h; and looking for a text in another. */
#ifndef UTF8_H
#define UTF8_H

#include <stddef.h>
#include <stdint.h>

int utf8_encode(uint32_t cp, char out[4]); /* cp into out[0..3]; the bytes written, 1..4 */
/* Where needle, NUL-terminated, first stands in text[from .. n-1], or n. */
size_t find_bytes(const char *text, size_t from, size_t n, const char *needle);

#endif
