/* tokenizer/text.h - bytes that grow. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

typedef struct {
    char *p; /* [n], malloc'ed; NULL: nothing yet */
    size_t n, cap;
} Text;

/* room for n bytes more: 0, -ENOMEM, or -EFBIG above INT32_MAX in all */
int text_reserve(Text *out, size_t n);
int text_put(Text *out, const char *s, size_t n); /* s [n] behind what is there: as text_reserve */
void text_release(Text *t);                       /* accepts a zeroed struct */

#endif
