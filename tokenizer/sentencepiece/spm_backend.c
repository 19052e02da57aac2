/* tokenizer/sentencepiece/spm_backend.c - a Tokenizer whose ids and texts come from SentencePiece's own library.
 *
 * The model is read by our own reader first, for the table of pieces and the settings, which the interface needs; then
 * the library gets the same bytes, and this body takes the place of ours. The library always puts its space in front; a
 * text that goes on is encoded by a second copy of the model whose last field, appended here, says add_dummy_prefix =
 * false (protobuf merges a message that comes twice). A denormalizer works on whole texts, and we decode id by id: it
 * is taken from the library in the same way, and sentencepiece.c does it. */
#include "model.h"
#include "spm_wrapper.h"
#include "tokenizer/special.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef WITH_SENTENCEPIECE

static int encode(const Tokenizer *t, const char *text, size_t len, int first, Ids *out, char *err, size_t errlen) {
    int *ids;
    size_t n;
    const SpmModel *m = t->own;
    const SpmLibrary *l = !first && m->library_tight ? m->library_tight : m->library;
    int rc = spm_library_encode(l, text, len, &ids, &n, err, errlen);
    if (rc) return rc;
    for (size_t i = 0; i < n && rc == 0; i++) rc = ids_push(out, ids[i]);
    free(ids);
    return rc;
}

/* As sentencepiece.c's spell, asked of the library: the bytes that the caller's buffer holds are those of the piece at
 * most. */
static size_t spell(const Tokenizer *t, TokenStream *s, int id, char *out) {
    const Entry *e = &t->pieces[id];
    const SpmModel *m = t->own;
    char *text, err[200];
    size_t len, bound = e->kind != PIECE_UNKNOWN ? e->len : m->unk_text ? m->unk_len : sizeof " \xe2\x81\x87 " - 1;
    if (e->kind == PIECE_ADDED || id >= spm_library_size(m->library)) return spm_model_body.spell(t, s, id, out);
    int rc = s->begun ? spm_library_decode_behind(m->library, id, &text, &len, err, sizeof err)
                      : spm_library_decode(m->library, &id, 1, &text, &len, err, sizeof err);
    if (rc) return 0;
    if (len > bound) len = bound;
    memcpy(out, text, len);
    free(text);
    size_t space = strlen(t->space);
    int dropped = t->dummy_prefix && !m->remove_extra_whitespaces && e->len >= space &&
                  memcmp(t->bytes + e->start, t->space, space) == 0;
    if (len || dropped) s->begun = 1;
    return len;
}

static void close_library(Tokenizer *t) {
    spm_library_close(((SpmModel *)t->own)->library);
    spm_library_close(((SpmModel *)t->own)->library_tight);
    spm_model_body.close(t);
}

static const Body library_body = {special_encode, spm_model_decode, encode, spell, NULL, close_library};

/* Open data [size] with more fields [n] behind it. */
static int open_with(SpmLibrary **l, const Tokenizer *t, const uint8_t *data, size_t size, const char *fields, size_t n,
                     char *err, size_t errlen) {
    char *copy = malloc(size + n);
    if (!copy) return base_error(err, errlen, -ENOMEM, "%s: no memory", t->name);
    memcpy(copy, data, size);
    memcpy(copy + size, fields, n);
    int rc = spm_library_open(l, copy, size + n, err, errlen);
    free(copy);
    return rc;
}

int spm_backend_attach(Tokenizer *t, const uint8_t *data, size_t size, char *err, size_t errlen) {
    /* denormalizer_spec { precompiled_charsmap: "" }, normalizer_spec { add_dummy_prefix: 0 } */
    static const char fields[] = {0x2a, 2, 0x12, 0, 0x1a, 2, 0x18, 0};
    t->body = &library_body;
    t->kind = "SentencePiece's own library";
    SpmModel *m = t->own;
    int rc = open_with(&m->library, t, data, size, fields, 4, err, errlen);
    return rc || !t->dummy_prefix ? rc
        : open_with(&m->library_tight, t, data, size, fields, sizeof fields, err, errlen);
}

#else

int spm_backend_attach(Tokenizer *t, const uint8_t *data, size_t size, char *err, size_t errlen) {
    (void)data, (void)size;
    return base_error(err, errlen, -EINVAL,
                      "%s: SentencePiece's own library is not built in: make SENTENCEPIECE=1 (Debian: "
                      "libsentencepiece-dev) links it", t->name);
}

#endif
