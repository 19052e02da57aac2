/* tokenizer/text.c - bytes that grow by half, as far as an int counts. */
#include "text.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int text_reserve(Text *out, size_t n) {
    if (n <= out->cap - out->n) return 0;
    if (n > INT32_MAX - out->n) return -EFBIG;
    size_t c = out->cap + out->cap / 2 > out->n + n ? out->cap + out->cap / 2 : out->n + n + 64;
    char *p = realloc(out->p, c);
    if (!p) return -ENOMEM;
    out->p = p;
    out->cap = c;
    return 0;
}

int text_put(Text *out, const char *s, size_t n) {
    int rc = text_reserve(out, n);
    if (rc == 0 && n) memcpy(out->p + out->n, s, n);
    if (rc == 0) out->n += n;
    return rc;
}

void text_release(Text *t) {
    free(t->p);
    *t = (Text){.n = 0};
}
