/* tokenizer/sentencepiece/llama2c.c - llama2.c's tokenizer.bin.
 *
 *     int32   max_token_length: of the longest piece
 *     then, to the end of the file, for each piece:  float32 score, int32 length, bytes [length]
 *
 * There is no count and no kind of piece. Kinds are told by place and spelling: 0 is unknown if it is "<unk>", 1 begins
 * and 2 ends a text ("\n<s>\n", "\n</s>\n"), "<0x41>" is a byte. A space is a space. A file that was cut exactly between
 * two pieces, behind its longest one, cannot be told from a whole one here; whoever knows the model compares
 * tokenizer_size with its vocabulary. */
#include "tokenizer/internal.h"

#include <errno.h>
#include <string.h>

enum { MIN_PIECES = 3 + 256 };

/* The record at *p: 1 where it fits in front of end, which moves *p behind it. */
static int next_record(const uint8_t **p, const uint8_t *end, float *score, const char **text, size_t *len) {
    if (end - *p < 8) return 0;
    *score = load_f32(*p);
    *len = load_u32(*p + 4);
    if (*len == 0 || *len > (size_t)(end - *p - 8)) return 0;
    *text = (const char *)*p + 8;
    *p += 8 + *len;
    return 1;
}

int llama2c_vocab_is(const uint8_t *data, size_t size) {
    if (size < 4) return 0;
    const uint8_t *p = data + 4, *end = data + size;
    const char *text;
    float score;
    size_t len, longest = 0, n = 0, max = load_u32(data);
    while (p < end && next_record(&p, end, &score, &text, &len)) {
        n++;
        if (len > longest) longest = len;
    }
    if (n == 0 || longest > max || max > 1 << 20) return 0;
    return p == end ? 2 : n >= 3;
}

static int kind_of(size_t i, const char *text, size_t len) {
    if (i == 1 || i == 2) return PIECE_CONTROL;
    if (i == 0 && len == 5 && memcmp(text, "<unk>", 5) == 0) return PIECE_UNKNOWN;
    return pieces_byte_value(text, len) >= 0 ? PIECE_BYTE : PIECE_NORMAL;
}

int llama2c_vocab_read(Tokenizer *t, const uint8_t *data, size_t size, char *err, size_t errlen) {
    if (size < 4) return base_error(err, errlen, -EINVAL, "%s: tokenizer.bin: truncated", t->name);
    const uint8_t *p = data + 4, *end = data + size;
    const char *text;
    float score;
    size_t len, longest = 0, max = load_u32(data);
    while (p < end) {
        if (!next_record(&p, end, &score, &text, &len))
            return base_error(err, errlen, -EINVAL, "%s: tokenizer.bin: piece %zu at byte %zu is empty or does not fit the file",
                              t->name, t->n, (size_t)(p - data));
        if (len > longest) longest = len;
        int rc = pieces_add(t, text, len, score, kind_of(t->n, text, len), err, errlen);
        if (rc) return rc;
    }
    if (t->n < MIN_PIECES)
        return base_error(err, errlen, -EINVAL, "%s: tokenizer.bin: %zu pieces, the special ones and the bytes alone are %d",
                          t->name, t->n, MIN_PIECES);
    if (longest != max)
        return base_error(err, errlen, -EINVAL,
                          "%s: tokenizer.bin: its longest piece has %zu bytes, its header says %zu: truncated?", t->name, longest,
                          max);
    t->kind = "llama2.c tokenizer.bin";
    t->body = &sentencepiece_body;
    t->llama2c = t->raw_bytes = t->dummy_prefix = 1;
    t->space_in = t->space_out = " ";
    t->unk = t->pieces[0].kind == PIECE_UNKNOWN ? 0 : -1;
    t->bos = 1;
    t->eos = 2;
    t->add_bos = 1;
    return 0;
}
