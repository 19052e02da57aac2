/* tokenizer/special.c - a text is cut at its special tokens, the longest first; the body encodes what lies between. */
#include "special.h"

#include "match.h"

#include <errno.h>

enum { ADDED = 1 << PIECE_ADDED, SPECIAL = ADDED | 1 << PIECE_CONTROL };

int special_finish(Tokenizer *t, char *err, size_t errlen) {
    int rc = pieces_finish(t, err, errlen);
    for (size_t i = 0; i < t->n && rc == 0; i++) {
        const Entry *e = &t->pieces[i];
        uint16_t *most = &t->special_len[(unsigned char)t->bytes[e->start]];
        if (e->len == 0 || !(SPECIAL & ~t->found & 1u << e->kind)) continue;
        if (e->len > MATCH_MAX)
            return base_error(err, errlen, -EINVAL, "%s: piece %zu is matched whole and longer than %d bytes", t->name,
                              i,
                              MATCH_MAX);
        if (e->len > *most) *most = (uint16_t)e->len;
    }
    return rc;
}

int special_longest(const Tokenizer *t, const char *s, size_t n, int control, size_t *len) {
    uint64_t h = HASH_START;
    int longest = -1, others;
    for (size_t i = 0; i < n && i < t->special_len[(unsigned char)*s]; i++) {
        h = hash_bytes(h, s + i, 1);
        int id = *pieces_place(t, h, s, i + 1, control ? SPECIAL : ADDED, &others);
        if (id >= 0) *len = i + 1, longest = id;
    }
    return longest;
}

int special_encode(const Tokenizer *t, const char *text, size_t len, int flags, Ids *out, char *err, size_t errlen) {
    int rc = flags & ENCODE_BOS && t->add_bos && t->bos >= 0 ? ids_push(out, t->bos) : 0;
    int first = !(flags & ENCODE_CONTINUE);
    for (size_t from = 0, i = 0, n = 0; i < len && rc == 0; from = i += n) {
        int id = -1;
        while (i < len && (!t->special_len[(unsigned char)text[i]] ||
                           (id = special_longest(t, text + i, len - i, flags & ENCODE_SPECIAL, &n)) < 0)) i++;
        size_t before = out->n;
        if (i > from) rc = t->body->encode(t, text + from, i - from, first, out, err, errlen);
        first &= out->n == before;
        if (rc == 0 && id >= 0) rc = ids_push(out, id);
    }
    if (rc == 0 && flags & ENCODE_EOS && t->add_eos && t->eos >= 0) rc = ids_push(out, t->eos);
    return rc;
}
