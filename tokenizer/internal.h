/* tokenizer/internal.h - what the files of this folder share: the opaque Tokenizer, its table of pieces, its bodies.
 *
 * Opening a tokenizer goes in two steps, whoever reads the file: pieces_add once a piece and the settings as the file has
 * them, then pieces_finish, which builds what encoding looks things up in. After that nothing changes any more, so one
 * Tokenizer serves any number of threads. */
#ifndef TOKENIZER_INTERNAL_H
#define TOKENIZER_INTERNAL_H

#include "base/base.h"
#include "tokenizer.h"

/* A piece's kind is its PieceType, or this: a token added beside the model, always matched whole in the raw text. */
enum { PIECE_ADDED = 7 };

typedef struct {
    uint32_t start, len; /* its bytes in Tokenizer.bytes */
    uint32_t order;      /* of its score: smaller merges first */
    int kind;            /* PieceType or PIECE_ADDED */
} Entry;

typedef struct {
    uint32_t tag; /* upper half of the hash */
    int id;       /* -1: the slot is free */
} Slot;

/* Texts that are matched whole, longest first. Sorted by their bytes, so that one walk along the text narrows a range. */
typedef struct {
    uint32_t start, len; /* in Tokenizer.bytes */
    int id;
} Match;

typedef struct {
    Match *items; /* [n], sorted, no text twice */
    size_t n;
    uint32_t first[257]; /* items whose text begins with byte b: first[b] .. first[b+1]-1 */
} Matcher;

enum { DECODE_HELD_MAX = sizeof ((TokenStream *)0)->rest }; /* bytes of a denormalizer's rule, and of what it becomes */
enum { MATCH_MAX = 256 }; /* longest text a matcher takes: bounds the work per character on hostile files */

/* Ids as they are found. */
typedef struct {
    int *ids;
    size_t n, cap;
} Ids;

/* What stands around one text or two. */
enum { TEMPLATE_A = -1, TEMPLATE_B = -2 };
typedef struct {
    int id, type; /* id: a token's, or TEMPLATE_A, TEMPLATE_B where the texts go; type: that of its ids */
} TemplateItem;

typedef struct {
    TemplateItem *items; /* [n] */
    size_t n;
} Template;

/* What another kind of tokenizer brings (byte-level BPE, WordPiece ..): one row. */
typedef struct {
    /* text [len], holding no special or added token, to ids; first: nothing was written of the whole text yet. */
    int (*encode)(const Tokenizer *t, const char *text, size_t len, int first, Ids *out, char *err, size_t errlen);
    /* the text of a piece that is neither control nor byte, into out; the bytes written. */
    size_t (*spell)(const Tokenizer *t, TokenStream *s, int id, char *out);
    /* instead of encode: the whole text, in which special and added tokens stand as flags (ENCODE_SPECIAL, ENCODE_CONTINUE) say. */
    int (*encode_whole)(const Tokenizer *t, const char *text, size_t len, int flags, Ids *out, char *err, size_t errlen);
    /* what it held back of a stream, at the end; may be NULL */
    size_t (*end)(const Tokenizer *t, TokenStream *s, char *out);
    /* what encoding needs besides the pieces, built at the end of pieces_finish; may be NULL */
    int (*finish)(Tokenizer *t, char *err, size_t errlen);
    void (*close)(Tokenizer *t); /* free what it keeps in t; may be NULL */
    int finds_special;           /* control pieces written in the text always count as such */
} Body;

/* The kinds of a SentencePiece model; BPE is what every other file with its pieces means. */
typedef enum { SPM_BPE, SPM_UNIGRAM, SPM_WORD, SPM_CHAR } SpmModel;

enum { JOIN_BITS = 18 };

struct Tokenizer {
    const Body *body;
    const char *kind;
    const char *name; /* the file, for error lines; only while it is opened */

    /* the pieces */
    char *bytes; /* [n_bytes] every piece's text, one after another */
    size_t n_bytes, cap_bytes;
    Entry *pieces; /* [n] */
    size_t n, cap;
    size_t longest; /* bytes of the longest piece */
    Slot *slots;    /* [slot_mask + 1], a power of two, at most half full */
    size_t slot_mask;
    int ascii[128];              /* id of a one-character piece, or -1 */
    int byte_id[256];            /* id of the byte piece, or -1 */
    unsigned char *joins;        /* [2^JOIN_BITS / 8] see pieces_may_join */
    Matcher added;               /* added tokens */
    Matcher special;             /* added tokens and control pieces */
    Matcher user;                /* SentencePiece's user-defined pieces: matched inside normalization */
    int has_unused;              /* some piece is PIECE_UNUSED */

    /* ids, -1 where there is none */
    int bos, eos, unk;
    int add_bos, add_eos;        /* what ENCODE_ADDED adds */

    /* SentencePiece's settings */
    SpmModel spm;                 /* how it looks for pieces */
    struct Unigram *unigram;      /* unigram.h; SPM_UNIGRAM: its tree */
    struct CharsMap *map;         /* charsmap.h; what normalization replaces; NULL: nothing */
    struct CharsMap *unmap;       /* .. and what decoding does to the text; NULL: nothing */
    struct SpmLibrary *library, *library_tight; /* spm_wrapper.h; the second puts no space in front. NULL: our own code */
    int dummy_prefix;             /* a space in front of the text */
    int space_as_suffix;          /* .. or rather behind it */
    int remove_extra_whitespaces; /* runs of spaces to one, none at the ends */
    const char *space_in;         /* what a space becomes before merging: U+2581 or " " */
    const char *space_out;        /* what becomes a space in decoding */
    int raw_bytes;                /* ill-formed UTF-8 goes through as bytes; otherwise it becomes U+FFFD first */
    int llama2c;                  /* characters are cut as llama2.c cuts them, and unknown ones never merge */
    struct WordPiece *wordpiece;  /* wordpiece.h; NULL: another kind */
    struct Pipeline *pipeline;    /* pipeline.h; NULL: another kind */
    int all_found;                /* text may become a piece of any kind (pieces_find); a pipeline has its own way to find added tokens */
    int bytes_named;              /* byte pieces decode to their names: no decoder makes bytes of them */
    size_t spell_more;            /* bytes that body->spell may give beyond those of the piece */
    int spells_bytes;             /* body->spell gives bytes that need not be whole characters */
    const char *pre_wanted;       /* the caller's choice of a pre-tokenizer, or NULL; only while it is opened */
    char *unk_text;               /* what the unknown piece decodes to, malloc'ed; NULL: its own text */
    size_t unk_len;
};

extern const Body sentencepiece_body;

/* pieces.c */
Tokenizer *pieces_new(const char *name); /* all settings zero, all ids -1; NULL without memory */
/* Append a piece: 0, -ENOMEM, or -EINVAL (score not finite, texts above 4 GiB). */
int pieces_add(Tokenizer *t, const char *text, size_t len, float score, int kind, char *err, size_t errlen);
/* Give id (< t->n) another text and kind. */
int pieces_rename(Tokenizer *t, int id, const char *text, size_t len, int kind, char *err, size_t errlen);
float pieces_score(const Entry *e);
/* What the unknown piece decodes to; NULL: SentencePiece's usual " U+2047 ". 0 or -ENOMEM. */
int pieces_unknown_text(Tokenizer *t, const char *text, size_t len, char *err, size_t errlen);
/* Build the look-up tables, or build them again. strict: a text that stands twice is refused; otherwise the last one is found. */
int pieces_finish(Tokenizer *t, int strict, char *err, size_t errlen);
/* The id of a piece that text may become (NORMAL, USER_DEFINED, UNUSED), or -1. */
int pieces_find(const Tokenizer *t, const char *text, size_t len);
/* The first id spelled so, of any kind, or -1. Walks all pieces: for opening only. */
int pieces_named(const Tokenizer *t, const char *text, size_t len);
/* The byte that "<0x41>" names, or -1. */
int pieces_byte_value(const char *text, size_t len);
/* The length of the character at s, n >= 1, never 0. */
size_t pieces_char(const Tokenizer *t, const char *s, size_t n);
/* 0: no piece holds character a and then character b, so nothing ever merges across that border.
 * 1: some piece may (a hash decides: sometimes 1 for nothing, never 0 in error). */
int pieces_may_join(const Tokenizer *t, const char *a, size_t a_len, const char *b, size_t b_len);

/* match.c */
int matcher_add(Matcher *m, size_t *cap, uint32_t start, uint32_t len, int id); /* 0 or -ENOMEM */
void matcher_sort(Matcher *m, const char *bytes);
void matcher_free(Matcher *m);
/* The id of the longest text that s [n] begins with, its length in *len; -1 where there is none. */
int matcher_longest(const Matcher *m, const char *bytes, const char *s, size_t n, size_t *len);

typedef struct {
    char *p; /* malloc'ed, the caller frees; NULL: nothing yet */
    size_t n, cap;
} Text;
int text_put(Text *out, const char *s, size_t n); /* s [n] behind what is there: 0, -ENOMEM or -EFBIG */

/* normalize.c: text [n] as SentencePiece sees it, behind what is in out. 0, -ENOMEM, or -EFBIG (it has more than INT32_MAX bytes). */
int normalize(const Tokenizer *t, const char *text, size_t n, int first, Text *out);

/* the readers: each fills a new Tokenizer up to, but not with, pieces_finish */
int model_proto_is(const uint8_t *data, size_t size);
int model_proto_read(Tokenizer *t, const uint8_t *data, size_t size, char *err, size_t errlen);
int llama2c_vocab_is(const uint8_t *data, size_t size); /* 2: every record fits; 1: it begins like one; 0: neither */
int llama2c_vocab_read(Tokenizer *t, const uint8_t *data, size_t size, char *err, size_t errlen);
/* spm_backend.c: let SentencePiece's own library do what t, read from data by model_proto_read, does. 0, -ENOMEM or -EINVAL. */
int spm_backend_attach(Tokenizer *t, const uint8_t *data, size_t size, char *err, size_t errlen);
/* folder.c: a Hugging Face folder. */
/* The first of these names that is there, as a malloc'ed path, or NULL. */
char *folder_first(const char *folder, const char *const *names, size_t n);
typedef struct {
    char *vocabulary, *merges; /* malloc'ed paths, or NULL; merges: of a vocab.json that goes with it */
    const char *other;         /* without a vocabulary: what else is there that is not read, or NULL */
} FolderFiles;
FolderFiles folder_find(const char *folder);
void folder_files_free(FolderFiles *f);
/* GGUF's name of the pre-tokenizer that tokenizer_config.json's tokenizer_class has, or NULL. */
int folder_class(const char *folder, const char **pre, char *err, size_t errlen);
int folder_settings(Tokenizer *t, const char *folder, char *err, size_t errlen);

/* tokenizer.c */
int ids_push(Ids *out, int id); /* 0 or -ENOMEM */

#endif
