/* tokenizer/tokenizer.h - text to ids and back; one interface, several bodies.
 *
 *     Tokenizer *t;
 *     if (tokenizer_open(&t, "tokenizer.model", err, sizeof err)) ...
 *     int *ids; size_t n;
 *     if (tokenizer_encode(t, text, len, ENCODE_BOS, &ids, &n, err, sizeof err)) ...
 *     TokenStream s = {0};
 *     char *out = malloc(tokenizer_decode_bound(t));
 *     for (size_t i = 0; i < n; i++) fwrite(out, 1, tokenizer_decode(t, &s, ids[i], out), stdout);
 *     fwrite(out, 1, tokenizer_decode_end(t, &s, out), stdout);
 *     free(out); free(ids); tokenizer_free(t); */
#ifndef TOKENIZER_H
#define TOKENIZER_H

#include <stddef.h>

typedef struct Tokenizer Tokenizer;

/* What a piece is; the numbers are SentencePiece's and GGUF's. */
typedef enum { PIECE_NORMAL = 1, PIECE_UNKNOWN, PIECE_CONTROL, PIECE_USER_DEFINED, PIECE_UNUSED, PIECE_BYTE } PieceType;

typedef struct {
    const char *text; /* UTF-8, not NUL-terminated */
    size_t len;
    float score;
    int type;         /* PieceType */
} Piece;

/* A vocabulary as a GGUF file's metadata holds it, handed over as a plain struct (the tokenizer knows no files of weights).
 * Numbers are -1 where the file has no such key; then the model's default holds. */
typedef struct {
    const char *model;              /* tokenizer.ggml.model: "llama", "gpt2" .. */
    const Piece *pieces;            /* [n]; the texts need not outlive the call */
    size_t n;
    long bos_id, eos_id, unk_id;
    int add_bos, add_eos;           /* 0, 1 or -1 */
    int add_space_prefix;           /* 0, 1 or -1 */
    int remove_extra_whitespaces;   /* 0, 1 or -1 */
} Vocabulary;

/* Open a tokenizer file, told by its bytes: SentencePiece's tokenizer.model, llama2.c's tokenizer.bin; or a folder that
 * holds one of that name; there tokenizer_config.json and added_tokens.json are read too. Errors: -ENOENT, -EINVAL (broken,
 * or of a kind that is named in the line), -ENOMEM. *t is NULL then; otherwise the caller frees it. A tokenizer.bin that
 * was cut between two pieces may open: compare tokenizer_size with the model's vocabulary. */
int tokenizer_open(Tokenizer **t, const char *path, char *err, size_t errlen);
/* The same from a vocabulary; name is what error lines call it. */
int tokenizer_from_vocabulary(Tokenizer **t, const Vocabulary *v, const char *name, char *err, size_t errlen);
void tokenizer_free(Tokenizer *t); /* accepts NULL */

/* 1 where path is a file that tokenizer_open would know by its bytes (it may still be broken), or a folder with one; nothing
 * is reported. */
int tokenizer_probe(const char *path);

size_t tokenizer_size(const Tokenizer *t); /* number of ids: valid ids are 0 .. size-1 */
int tokenizer_bos(const Tokenizer *t);     /* an id, or -1 */
int tokenizer_eos(const Tokenizer *t);     /* an id, or -1 */
const char *tokenizer_kind(const Tokenizer *t); /* "SentencePiece BPE", "llama2.c tokenizer.bin": for -v */
/* The piece of an id as its file spells it (U+2581 for a space): not NUL-terminated, owned by t. NULL where id is out of range. */
const char *tokenizer_piece(const Tokenizer *t, int id, size_t *len);

enum {
    ENCODE_BARE = 0,    /* the text's own ids only */
    ENCODE_BOS = 1,     /* BOS before, where the tokenizer's file says it is added */
    ENCODE_EOS = 4,     /* EOS after, where the tokenizer's file says it is added */
    ENCODE_ADDED = ENCODE_BOS | ENCODE_EOS,
    ENCODE_CONTINUE = 8, /* the text goes on from one already read: no space is put in front */
    ENCODE_SPECIAL = 2, /* control pieces written in the text ("</s>") count as such; otherwise they are text */
};
/* User-defined pieces and added tokens are always found in the text, longest first. The space that SentencePiece puts in
 * front of a text is put in front once: before its first ordinary stretch, so "<s>Hello" is <s> and " Hello". */

/* text [len] bytes, any bytes (NUL and ill-formed UTF-8 too), to ids. *ids is malloc'ed, the caller frees it (never NULL
 * on success). Ill-formed UTF-8: from a tokenizer.model each bad byte is read as U+FFFD, as the library does; from
 * tokenizer.bin and GGUF it becomes byte pieces. Work is O(len log len), memory O(len). Errors: -ENOMEM, -EINVAL (a byte the
 * vocabulary cannot spell and no unk; a text above 700 MB); *ids is NULL then. */
int tokenizer_encode(const Tokenizer *t, const char *text, size_t len, int flags, int **ids, size_t *n, char *err, size_t errlen);

/* Decoding streams: the bytes of a character that is not whole yet are held back in the stream. Start from {0}. */
typedef struct {
    char held[4]; /* bytes of an unfinished UTF-8 character */
    int n_held;
    int begun;    /* 0 until the first piece of text: there the space that encoding put in front is dropped.
                   * Set it to 1 to go on behind a prompt: then the first space is part of the text */
} TokenStream;

size_t tokenizer_decode_bound(const Tokenizer *t); /* bytes that out must hold */
/* One more id into out; the bytes written. Control pieces and ids out of range are no text; but every piece that is no byte
 * first ends what was held back. Bytes that make no character come out as U+FFFD each, as the SentencePiece library decodes. */
size_t tokenizer_decode(const Tokenizer *t, TokenStream *s, int id, char *out);
/* The end: what was still held back, now known to be ill-formed, as U+FFFD. */
size_t tokenizer_decode_end(const Tokenizer *t, TokenStream *s, char *out);

#endif
