/* base/utf8.h - code points to UTF-8; base.h has the way back. */
#ifndef UTF8_H
#define UTF8_H

#include <stdint.h>

int utf8_encode(uint32_t cp, char out[4]); /* cp into out[0..3]; the bytes written, 1..4 */

#endif
