/* tokenizer/tokenizer.h - text to ids and back: one interface, several bodies. open.h opens files and shows the use. */
#ifndef TOKENIZER_H
#define TOKENIZER_H

#include <stddef.h>

typedef struct Tokenizer Tokenizer;

void tokenizer_free(Tokenizer *t);         /* accepts NULL */
size_t tokenizer_size(const Tokenizer *t); /* number of ids: valid ids are 0 .. size-1 */
int tokenizer_bos(const Tokenizer *t);     /* an id, or -1 */
int tokenizer_eos(const Tokenizer *t);     /* an id, or -1 */

enum {
    ENCODE_BARE = 0,     /* the text's own ids only */
    ENCODE_BOS = 1,      /* BOS before, where the tokenizer's file says it is added */
    ENCODE_SPECIAL = 2,  /* control pieces written in the text ("</s>") count as such; otherwise they are text */
    ENCODE_EOS = 4, ENCODE_ADDED = ENCODE_BOS | ENCODE_EOS, /* EOS after, where the file says so; both of them */
    ENCODE_CONTINUE = 8, /* the text goes on from one already read: no space is put in front */
};

/* text [len], any bytes, to *ids [*n]: malloc'ed, the caller frees (never NULL on success). Added tokens are always
 * found, the longest first; the space that SentencePiece puts in front is put before the first ordinary stretch, once.
 * Work is O(len log len), memory O(len). -ENOMEM, -EINVAL (what no piece spells; a text above 2 GB): *ids is NULL. */
int tokenizer_encode(const Tokenizer *t, const char *text, size_t len, int flags, int **ids, size_t *n, char *err,
                     size_t errlen);

/* A stream of text from ids. Start from {0}. */
typedef struct {
    int begun; /* 0: at the first piece, the space that encoding put in front is dropped. Set it to 1 behind a prompt */
    int tight; /* the caller's, too: 1 leaves out WordPiece's spaces beside a Chinese or Japanese character */
    int n_held, n_rest, wide, waits; /* the body's */
    char held[4], rest[64];          /* bytes of a character that is not whole yet; text that a rule may still change */
} TokenStream;

size_t tokenizer_decode_bound(const Tokenizer *t); /* bytes that out must hold */
/* One more id into out; the bytes written. Control pieces and ids out of range are no text; but every piece that is no
 * byte first ends what was held. Bytes that make no character come out as U+FFFD each, as SentencePiece decodes. */
size_t tokenizer_decode(const Tokenizer *t, TokenStream *s, int id, char *out);
size_t tokenizer_decode_end(const Tokenizer *t, TokenStream *s, char *out); /* what was still held */

/* What a piece is: SentencePiece's and GGUF's numbers; the last: added beside the model, and always found whole. */
enum { PIECE_NORMAL = 1, PIECE_UNKNOWN, PIECE_CONTROL, PIECE_USER_DEFINED, PIECE_UNUSED, PIECE_BYTE, PIECE_ADDED };

#endif
