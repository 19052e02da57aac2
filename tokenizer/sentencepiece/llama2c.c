/* tokenizer/sentencepiece/llama2c.c - llama2.c's tokenizer.bin, among other files (spm.c has its format and reads it).
 *
 * A file that was cut exactly between two pieces, behind its longest one, cannot be told from a whole one here; whoever
 * knows the model compares tokenizer_size with its vocabulary. */
#include "model.h"
#include "base/base.h"

#include <errno.h>

int llama2c_vocab_is(const uint8_t *data, size_t size) {
    size_t at = 4, longest = 0, n = 0, max = size < 4 ? 0 : load_u32(data);
    while (at < size && size - at >= 8) {
        size_t len = load_u32(data + at + 4);
        if (len == 0 || len > size - at - 8) break;
        n++;
        at += 8 + len;
        if (len > longest) longest = len;
    }
    if (n == 0 || longest > max || max > 1 << 20) return 0;
    return at == size ? 2 : n >= 3;
}

/* The two control pieces are spelled with a newline on either side, which a text does not have. */
static void trim_newlines(Tokenizer *t) {
    for (int id = 1; id <= 2; id++) {
        Entry *e = &t->pieces[id];
        if (e->len <= 2 || t->bytes[e->start] != '\n' || t->bytes[e->start + e->len - 1] != '\n') continue;
        e->start++;
        e->len -= 2;
    }
}

int llama2c_vocab_read(Tokenizer *t, const uint8_t *data, size_t size, char *err, size_t errlen) {
    const MappedFile f = {data, size};
    int rc = spm_model_begin(t, err, errlen);
    if (rc == 0) rc = spm_llama2c(t, &f, err, errlen);
    if (rc) return rc;
    SpmModel *m = t->own;
    t->kind = "llama2.c tokenizer.bin";
    trim_newlines(t);
    m->raw_bytes = 1;
    m->space_in = t->space;
    if (t->longest == load_u32(data)) return 0;
    return base_error(err, errlen, -EINVAL,
                      "%s: tokenizer.bin: its longest piece has %zu bytes, its header says %zu: truncated?", t->name,
                      t->longest, (size_t)load_u32(data));
}
