/* bench/programs/ids.c - texts to ids and back for the long comparisons of tests/oracle (spm_models.py).
 *     make build/release/bench-ids && build/release/bench-ids MODEL [BACKEND]
 * reads texts from stdin (a 32-bit length, the bytes) and writes for each its ids (a 32-bit number, the ids) and those
 * decoded again (a length, the bytes), all in the machine's own byte order. */
#include "base/base.h"
#include "tokenizer/open.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(const void *data, size_t size, size_t n) {
    uint32_t count = (uint32_t)n;
    fwrite(&count, 4, 1, stdout);
    fwrite(data, size, n, stdout);
}

static char *decode(const Tokenizer *t, const int *ids, size_t n, size_t *len) {
    size_t bound = tokenizer_decode_bound(t), cap = 0;
    char *text = NULL;
    TokenStream s = {0};
    *len = 0;
    for (size_t i = 0; i <= n; i++) {
        if (array_reserve(&text, &cap, *len + bound, 1)) {
            free(text);
            return NULL;
        }
        *len += i < n ? tokenizer_decode(t, &s, ids[i], text + *len) : tokenizer_decode_end(t, &s, text + *len);
    }
    return text;
}

static int answer(const Tokenizer *t, const char *text, size_t len, char *err, size_t errlen) {
    int *ids;
    size_t n, back_len;
    int rc = tokenizer_encode(t, text, len, ENCODE_BARE, &ids, &n, err, errlen);
    if (rc) return rc;
    char *back = decode(t, ids, n, &back_len);
    if (back) {
        put(ids, sizeof *ids, n);
        put(back, 1, back_len);
    } else rc = base_error(err, errlen, -ENOMEM, "out of memory");
    free(back);
    free(ids);
    return rc;
}

int main(int argc, char **argv) {
    char err[300] = "usage: bench-ids MODEL [BACKEND] < texts > ids";
    Tokenizer *t = NULL;
    TokenizerOptions o = {.lower_case = -1, .backend = argc > 2 ? argv[2] : NULL};
    int rc = argc < 2 ? 2 : tokenizer_open_with(&t, argv[1], &o, err, sizeof err);
    char *text = NULL;
    size_t cap = 0;
    uint32_t len;
    while (rc == 0 && fread(&len, 4, 1, stdin) == 1) {
        if (array_reserve(&text, &cap, (size_t)len + 1, 1))
            rc = base_error(err, sizeof err, -ENOMEM, "out of memory");
        else if (fread(text, 1, len, stdin) != len)
            rc = base_error(err, sizeof err, -EINVAL, "the last text is cut off");
        else rc = answer(t, text, len, err, sizeof err);
    }
    free(text);
    tokenizer_free(t);
    if (rc) fprintf(stderr, "%s\n", err);
    return rc != 0;
}
