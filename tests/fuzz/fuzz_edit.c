/* tests/fuzz/fuzz_edit.c - any bytes as keys: the text stays whole UTF-8, the cursor in it, and it can be drawn. */
#include "base/base.h"
#include "text/edit.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t one_each(const char *s, size_t n) { return (void)s, n > 0; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    LineEditor e;
    uint32_t cp;
    edit_init(&e, one_each);
    edit_begin(&e, "> ", size ? data[0] : 80);
    for (size_t i = 1; i < size; i++) {
        EditWhat what = edit_byte(&e, data[i]);
        if (e.cursor > e.n || e.text[e.n]) abort();
        if (i % 7 == 0 && edit_draw(&e, 0)) abort();
        if (what != EDIT_MORE && what != EDIT_STOP) edit_remember(&e), edit_begin(&e, "> ", 20);
    }
    for (size_t i = 0; i < e.n;) {
        int len = utf8_decode(e.text + i, e.n - i, &cp);
        if (len <= 0) abort();
        i += (size_t)len;
    }
    edit_free(&e);
    return 0;
}
