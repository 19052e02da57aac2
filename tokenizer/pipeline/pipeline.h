/* tokenizer/pipeline/pipeline.h - a tokenizer made of parts, as Hugging Face's tokenizer.json describes it. Other files
 * of byte-level BPE (merges.txt, tiktoken's ranks, GGUF's gpt2) become the same parts.
 *
 *     text -> added tokens are cut out -> normalizers -> added tokens again -> pre-tokenizers -> the model, a word at a
 *     time
 *     ids  -> their pieces -> decoders -> text */
#ifndef PIPELINE_H
#define PIPELINE_H

#include "base/json.h"
#include "tokenizer/bpe/bpe.h"
#include "tokenizer/match.h"
#include "tokenizer/sentencepiece/charsmap.h"
#include "tokenizer/sentencepiece/unigram.h"
#include "tokenizer/special.h"
#include "tokenizer/split/split.h"
#include "tokenizer/template.h"
#include "tokenizer/unicode/unicode_text.h"
#include "tokenizer/vocabulary.h"
#include "tokenizer/wordpiece/trie.h"

typedef enum {
    NORMALIZE_NFC, NORMALIZE_NFD, NORMALIZE_NFKC, NORMALIZE_NFKD, NORMALIZE_LOWERCASE, NORMALIZE_STRIP,
        NORMALIZE_STRIP_ACCENTS,
    NORMALIZE_PREPEND, NORMALIZE_REPLACE, NORMALIZE_PRECOMPILED, NORMALIZE_NMT, NORMALIZE_BERT, NORMALIZE_BYTES
} NormalizerKind;

typedef struct {
    NormalizerKind kind;
    Text from, to;               /* REPLACE; PREPEND: to */
    SplitPattern pattern;         /* REPLACE what this finds; of no rules: from */
    CharsMap *map;                /* PRECOMPILED */
    int left, right;              /* STRIP */
    BertNormalizer bert;
} Normalizer;

typedef enum { CUT_SPLIT, CUT_SPACE, CUT_METASPACE, CUT_BYTES } CutKind;
typedef enum { PREPEND_ALWAYS, PREPEND_FIRST, PREPEND_NEVER } PrependScheme;

typedef struct {
    CutKind kind;
    SplitStep split;      /* SPLIT */
    Text text;            /* SPLIT: the literal that split points to; METASPACE: the replacement */
    PrependScheme scheme; /* METASPACE */
} Cut;
/* CUT_SPACE: a space in front of a word that has none. CUT_BYTES: each byte becomes a character (byte_char). */

typedef enum { DECODE_BYTES, DECODE_REPLACE, DECODE_METASPACE, DECODE_WORDPIECE, DECODE_SUFFIX,
              DECODE_STRIP } DecoderKind;

typedef struct {
    DecoderKind kind;
    /* REPLACE; WORDPIECE: the prefix, SUFFIX: the suffix, METASPACE: the replacement, STRIP: the character in from */
    Text from, to;
    int first;      /* METASPACE: the first piece's goes. STRIP: only in front of the whole text */
    int strip;      /* STRIP: how many */
    int cleanup;    /* WORDPIECE */
} Decoder;

typedef struct {
    int id;
    int special, single_word, lstrip, rstrip, normalized;
} AddedToken;

typedef enum { MODEL_BPE, MODEL_UNIGRAM, MODEL_WORDPIECE, MODEL_WORDLEVEL } ModelKind;

struct Pipeline {
    ModelKind model;
    Bpe bpe;
    Unigram *unigram;
    Text prefix;          /* WORDPIECE: of pieces that go on */
    size_t max_chars;     /* WORDPIECE: of a word */
    Trie words;           /* WORDPIECE: the pieces */
    uint32_t tail;        /* WORDPIECE: the node of prefix, from where a word goes on, .. */
    int goes_on;          /* .. where some piece begins so */
    Normalizer *normalizers;
    size_t n_normalizers;
    Cut *cuts;
    size_t n_cuts;
    Decoder *decoders;
    size_t n_decoders;
    int joins;            /* no decoder: pieces are joined by spaces */
    int spells_bytes;     /* the decoders give bytes that need not be whole characters */
    int bytes_named;      /* byte pieces decode to their names: no decoder makes bytes of them */
    AddedToken *added;
    size_t n_added;
    Matcher raw, normalized; /* their ids are places in added */
    Text patterns;          /* the texts that these match */
    /* [n_spelled] by id: tokens whose text the normalizers change; decoded, they are the changed one, in patterns */
    Match *spelled;
    size_t n_spelled;
    Template single, pair;
    int whole;               /* tokenizer.json said all: files beside it add no tokens */
    const PreTokenizer *pre; /* GGUF's name for the cuts, or NULL: none is known */
};

struct Pipeline *pipeline_of(const Tokenizer *t); /* NULL: t is another kind */

/* pipeline_decode.c: Body's decode and spell, and the bytes that spell may write: each decoder may put a space in
 * front. */
size_t pipeline_decode(const Tokenizer *t, TokenStream *s, int id, char *out);
size_t pipeline_spell(const Tokenizer *t, TokenStream *s, int id, char *out);
size_t pipeline_room(const Tokenizer *t);

/* One more, zeroed, behind the others: *out. 0 or -ENOMEM. */
int pipeline_add_normalizer(struct Pipeline *p, NormalizerKind kind, Normalizer **out);
int pipeline_add_cut(struct Pipeline *p, CutKind kind, Cut **out);
int pipeline_add_decoder(struct Pipeline *p, DecoderKind kind, Decoder **out);

/* A space in front of a text that has none, before anything else cuts it: 0 or -ENOMEM. GGUF has no name for that. */
int pipeline_space_first(struct Pipeline *p);

/* pipeline_added.c: tokens beside the model. token.id is a piece's; they are found once pipeline_finish_added was
 * called, when the normalizers are known. */
int pipeline_add_token(Tokenizer *t, AddedToken token, char *err, size_t errlen);
int pipeline_finish_added(Tokenizer *t, char *err, size_t errlen);

typedef struct {
    const Tokenizer *t;
    const Matcher *m;
    const char *s;
    size_t n, i, from;
    size_t spaces; /* where the white space ends that a token took last: nobody walks along it twice */
    int special; /* special tokens are found too */
    int waits, id;
    size_t begin, end; /* of the token that waits */
} AddedScan; /* begin with {t, m, s, n, .special} */

/* The next part of the text: 1, *id a token's or -1 for plain text s[*begin, *end); 0: no more. */
int added_next(AddedScan *a, int *id, size_t *begin, size_t *end);

/* What the steps may make of a text of n bytes: what a file can claim to do with it. No step of a real one makes 20
 * bytes of one. */
static inline size_t grown_limit(size_t n) { return 64 * n + ((size_t)1 << 24); }

/* normalizers.c: text [n], well-formed UTF-8, through all normalizers; the result is w->a or the text itself. first: a
 * prefix may be put in front of it. 0, -ENOMEM, -EFBIG beyond grown_limit. */
typedef struct {
    Text a, b;
} NormalizeScratch;

void normalize_scratch_free(NormalizeScratch *w);
int pipeline_normalize(const struct Pipeline *p, NormalizeScratch *w, const char *text, size_t n, int first,
                       const char **out, size_t *n_out);

/* base64 s [n] behind what out has (NULL: only looked at): 0, -EINVAL, -ENOMEM. */
int base64_decode(const char *s, size_t n, Text *out);
/* GPT-2's way to write any byte as a printable character: UTF-8 into out[0..1], its length 1 or 2; and the byte of
 * such a character, or -1. */
int byte_char(unsigned char byte, char out[2]);
int char_byte(uint32_t cp);
int bytes_as_text(const char *s, size_t n, Text *out); /* s [n] so written, behind what out has: 0, -ENOMEM, -EFBIG */

/* A Tokenizer becomes a pipeline without parts: 0, -ENOMEM. */
int pipeline_begin(Tokenizer *t, char *err, size_t errlen);

/* pipeline_words.c: WordPiece's first n pieces, once prefix is known: 0, -EINVAL, -ENOMEM. */
int pipeline_build_words(Tokenizer *t, size_t n, char *err, size_t errlen);
/* One word [n]: the longest piece it begins with, and again with the prefix in front; where nothing fits all of it is
 * unknown. -EINVAL: there is no unknown piece. */
int pipeline_encode_words(const Tokenizer *t, const char *word, size_t n, Points *scratch, Ids *out);

/* pipeline_export.c: tokenizer_vocabulary of a pipeline; *v is zeroed. */
int pipeline_vocabulary(Vocabulary *v, const Tokenizer *t, const char *name, char *err, size_t errlen);
/* Whether a token stands in front of a text (end 0), or behind it (1), where tokens are added. */
int pipeline_adds(const Tokenizer *t, int end);

/* bert_gguf.c. lower_case: 1, 0, or -1: as v says, else where no piece has a capital. Accents go as v says, else with
 * the capitals. */
int bert_vocabulary(Tokenizer *t, const Vocabulary *v, int lower_case, char *err, size_t errlen);

/* The readers. Each leaves a Tokenizer whose pieces are finished. */
int tokenizer_json_is(const uint8_t *data, size_t size); /* an object in JSON */
int tokenizer_json_open(Tokenizer *t, const uint8_t *data, size_t size, char *err, size_t errlen);

#endif
