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
 *     free(out); free(ids); tokenizer_free(t);
 *
 * A pair of texts for an encoder (in a file, a tab between them; the caller cuts there):
 *     int *types;
 *     if (tokenizer_encode_pair(t, a, a_len, b, b_len, ENCODE_ADDED, &ids, &types, &n, err, sizeof err)) ... */
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

typedef struct {
    const char *text; /* "left right", as merges.txt writes it; not NUL-terminated */
    size_t len;
} Merge;

/* A vocabulary as a GGUF file's metadata holds it, handed over as a plain struct (the tokenizer knows no files of weights).
 * Numbers are -1 where the file has no such key; then the model's default holds. */
typedef struct {
    const char *model;              /* tokenizer.ggml.model: "llama", "t5", "wordpiece" (pieces as in vocab.txt), "gpt2" .. */
    const Piece *pieces;            /* [n]; the texts need not outlive the call */
    size_t n;
    long bos_id, eos_id, unk_id;
    int add_bos, add_eos;           /* 0, 1 or -1 */
    int add_space_prefix;           /* 0, 1 or -1 */
    int remove_extra_whitespaces;   /* 0, 1 or -1 */
    const char *pre;                /* tokenizer.ggml.pre of a "gpt2", or NULL */
    const Merge *merges;            /* [n_merges] of a "gpt2", the first joins first */
    size_t n_merges;
    const void *charsmap;           /* "t5": the normalizer's character map, as in tokenizer.model; NULL: none */
    size_t charsmap_size;           /* bytes */
} Vocabulary;

/* Open a tokenizer file, told by its bytes: tokenizer.json, SentencePiece's tokenizer.model, llama2.c's tokenizer.bin, WordPiece's
 * vocab.txt (text, a piece a line, one of them [UNK]), tiktoken's ranks; or a folder that holds one of them or a pair like vocab.json
 * and merges.txt (README.md has the order); there tokenizer_config.json and added_tokens.json are read too. Errors: -ENOENT,
 * -EINVAL (broken, or of a kind that is named in the line, or jieba's dictionary missing), -ENOMEM. *t is NULL then; otherwise the
 * caller frees it. A tokenizer.bin that was cut between two pieces may open, and so may a vocab.txt: compare tokenizer_size with
 * the model's vocabulary. */
int tokenizer_open(Tokenizer **t, const char *path, char *err, size_t errlen);
/* The same from a vocabulary; name is what error lines call it. */
int tokenizer_from_vocabulary(Tokenizer **t, const Vocabulary *v, const char *name, char *err, size_t errlen);

/* The other way: what a GGUF file would hold of t. v->pieces is one malloc'ed block, texts, merges and map and all, which the
 * caller frees; v->model and v->pre are static. Errors: -EINVAL (a kind or a setting that GGUF's keys cannot say;
 * name is what the line calls t), -ENOMEM; *v is zeroed then. */
int tokenizer_vocabulary(Vocabulary *v, const Tokenizer *t, const char *name, char *err, size_t errlen);

/* What only some kinds ask for; others pass over it. The first four are WordPiece's. A word model's vocabulary (one piece in
 * a hundred or more has several Chinese characters: RoFormer v1, WoBERT) needs jieba's dictionary. */
typedef struct {
    const char *jieba;  /* path of the dictionary: jieba cuts every text, as transformers' RoFormerTokenizer does, whatever the
                         * vocabulary. NULL: a word model's is looked for in folder, as jieba.dict, jieba.dict.utf8 or
                         * dict.txt; a vocabulary of characters does without, as BertTokenizer */
    const char *folder; /* where to look; NULL: where the vocabulary's file is (from a Vocabulary: nowhere) */
    int lower_case;     /* 1, 0, or -1: as tokenizer_config.json says (do_lower_case), else 1 */
    int bert4keras;     /* 1: bert4keras' order of steps; 0: transformers' */
    /* What other kinds ask for. */
    const char *pre;     /* name of GGUF's pre-tokenizer ("llama-bpe", "qwen2" ..) for files that do not say; NULL: none given */
    const char *backend; /* who encodes a tokenizer.model: NULL or "own", or "sentencepiece", its own library, which needs a
                          * program built with SENTENCEPIECE=1; anything else is refused, and so are other kinds of file then */
} TokenizerOptions;

/* The names that pre may have, the i-th, or NULL behind the last. */
const char *tokenizer_pre(size_t i);

/* tokenizer_open and tokenizer_from_vocabulary with options; NULL: {.lower_case = -1}, what those two take. */
int tokenizer_open_with(Tokenizer **t, const char *path, const TokenizerOptions *o, char *err, size_t errlen);
int tokenizer_from_vocabulary_with(Tokenizer **t, const Vocabulary *v, const TokenizerOptions *o, const char *name, char *err,
                                   size_t errlen);
void tokenizer_free(Tokenizer *t); /* accepts NULL */

/* 1 where path is a file that tokenizer_open would know by its bytes (it may still be broken), or a folder with one by its name; nothing
 * is reported. */
int tokenizer_probe(const char *path);

size_t tokenizer_size(const Tokenizer *t); /* number of ids: valid ids are 0 .. size-1 */
int tokenizer_bos(const Tokenizer *t);     /* an id, or -1 */
int tokenizer_eos(const Tokenizer *t);     /* an id, or -1 */
const char *tokenizer_kind(const Tokenizer *t); /* "SentencePiece BPE", "WordPiece with jieba": for -v */
int tokenizer_named(const Tokenizer *t, const char *piece); /* the id of the piece spelled so ("[MASK]"), or -1 */
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
 * tokenizer.bin and GGUF's "llama" it becomes byte pieces; for tokenizer.json and byte-level BPE each maximal bad sequence is one
 * U+FFFD. Work is O(len log len), memory O(len). Errors: -ENOMEM, -EINVAL (a
 * byte the vocabulary cannot spell and no unk; a text above 2 GB when normalized, 700 MB at least); *ids is NULL then. */
int tokenizer_encode(const Tokenizer *t, const char *text, size_t len, int flags, int **ids, size_t *n, char *err, size_t errlen);
/* WordPiece: BOS is [CLS] and EOS [SEP], special tokens are always found in the text, ill-formed UTF-8 counts for nothing,
 * a line has at most 64 MiB. */

/* Two texts as one sequence: BOS a EOS b EOS, which for WordPiece is [CLS] a [SEP] b [SEP]; (*types)[i] is 1 for b and its EOS,
 * otherwise 0. b NULL: one text, all types 0. Both arrays [n] are malloc'ed, the caller frees them; types may be
 * NULL. Errors as tokenizer_encode. */
int tokenizer_encode_pair(const Tokenizer *t, const char *a, size_t a_len, const char *b, size_t b_len, int flags, int **ids,
                          int **types, size_t *n, char *err, size_t errlen);

/* Decoding streams: the bytes of a character that is not whole yet are held back in the stream. Start from {0}. */
typedef struct {
    char held[4]; /* bytes of an unfinished UTF-8 character */
    int n_held;
    int tight;    /* the caller's: 1 leaves out WordPiece's spaces on either side of a Chinese or Japanese character */
    int wide;     /* the last piece ended in one */
    int waits;    /* WordPiece's clean-up: which words wait for what follows, 0 none */
    int begun;    /* 0 until the first piece of text: there the space that encoding put in front is dropped.
                   * Set it to 1 to go on behind a prompt: then the first space is part of the text */
    int n_rest;
    char rest[64]; /* text that a denormalizer's rule may still change, of the few models that have one */
} TokenStream;

size_t tokenizer_decode_bound(const Tokenizer *t); /* bytes that out must hold */
/* One more id into out; the bytes written. Control pieces and ids out of range are no text; but every piece that is no byte
 * first ends what was held back. Bytes that make no character come out as U+FFFD each, as the SentencePiece library decodes. */
size_t tokenizer_decode(const Tokenizer *t, TokenStream *s, int id, char *out);
/* The end: what was still held back, now known to be ill-formed, as U+FFFD. */
size_t tokenizer_decode_end(const Tokenizer *t, TokenStream *s, char *out);

#endif
