/* tokenizer/internal.h - a Tokenizer inside: a table of pieces, and a body that turns text into them and back. A reader
 * adds the pieces, and the settings as its file has them; pieces_finish builds what encoding looks things up in. After
 * that nothing changes any more, so one Tokenizer serves any number of threads. */
#ifndef TOKENIZER_INTERNAL_H
#define TOKENIZER_INTERNAL_H

#include "base/base.h"
#include "tokenizer.h"

typedef struct {
    uint32_t start, len; /* its bytes in Tokenizer.bytes */
    float score;
    int kind;
} Entry;

typedef struct { int *ids; size_t n, cap; } Ids; /* ids [n] as they are found, malloc'ed */

/* A kind of tokenizer: a whole text, with all that flags ask for, to ids behind those in out; and the text of an id, or
 * of what is left at the end, id -1, into out, which returns the bytes written. */
typedef struct {
    int (*encode_all)(const Tokenizer *t, const char *text, size_t len, int flags, Ids *out, char *err, size_t errlen);
    size_t (*decode)(const Tokenizer *t, TokenStream *s, int id, char *out);
    /* what special_encode asks for: text without special tokens; and decode_piece: a piece neither control nor byte */
    int (*encode)(const Tokenizer *t, const char *text, size_t len, int first, Ids *out, char *err, size_t errlen);
    size_t (*spell)(const Tokenizer *t, TokenStream *s, int id, char *out);
    const struct Template *(*template_of)(const Tokenizer *t, int pair); /* template.h; may be NULL */
    void (*close)(Tokenizer *t);                                         /* frees own; may be NULL */
} Body;

struct Tokenizer {
    const Body *body;
    void *own;               /* the body's */
    const char *kind, *name; /* "SentencePiece BPE": for -v; the file, for error lines, only while it is opened */
    int bos, eos, unk;       /* ids, -1 where there is none .. */
    int add_bos, add_eos;    /* .. and which of them ENCODE_ADDED adds */

    char *bytes;             /* [n_bytes] every piece's text, one after another */
    Entry *pieces;           /* [n] */
    size_t n_bytes, cap_bytes, n, cap, longest, decode_bound; /* longest: bytes of a piece */
    int *table, shift;       /* [1 << (64 - shift)] ids of the found ones by their texts' hashes, -1 between them */
    int byte_id[256];        /* id of the byte piece, or -1 */
    struct Special *special; /* special.h; NULL: none is found in a raw text */
    unsigned found;          /* a bit for each kind that text may become */

    const char *space;       /* what pieces have for a space: U+2581 or " " */
    int dummy_prefix;        /* a space is put in front of the text */
    int strips_behind;       /* control pieces take the spaces behind them (special.c) */
    int llama2c;             /* characters are cut as llama2.c cuts them, and unknown ones never merge */
};

/* A Tokenizer that read fills, and finishes or leaves to be finished; name is for error lines. *out may be NULL. */
typedef int Read(Tokenizer *t, const void *from, char *err, size_t errlen);
int tokenizer_make(Tokenizer **out, const char *name, Read *read, const void *from, char *err, size_t errlen);

/* Append a piece: 0, -ENOMEM, or -EINVAL (score not finite, no byte's name, texts above 4 GiB). */
int pieces_add(Tokenizer *t, const char *text, size_t len, float score, int kind, char *err, size_t errlen);
int pieces_finish(Tokenizer *t, char *err, size_t errlen);         /* build the look-up tables, or build them again */
int pieces_find(const Tokenizer *t, const char *text, size_t len); /* the id that text may become, or -1 */
int pieces_check_ids(const Tokenizer *t, char *err, size_t errlen); /* -EINVAL: unk, bos or eos is no piece's id */
int pieces_byte_value(const char *text, size_t len);             /* the byte that "<0x41>" names, or -1 */
size_t pieces_char(const Tokenizer *t, const char *s, size_t n); /* length of the character at s, n >= 1, never 0 */

int ids_push(Ids *out, int id); /* 0 or -ENOMEM */
size_t decode_piece(const Tokenizer *t, TokenStream *s, int id, char *out); /* Body.decode of one with a spell */

#endif
