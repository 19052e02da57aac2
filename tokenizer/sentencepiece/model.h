/* tokenizer/sentencepiece/model.h - all that a SentencePiece model may say beyond spm.h: kinds without merges,
 * character maps, white space to remove, pieces that are matched whole or not used. */
#ifndef SPM_MODEL_H
#define SPM_MODEL_H

#include "charsmap.h"
#include "spm.h"
#include "tokenizer/bpe/joins.h"
#include "tokenizer/match.h"
#include "tokenizer/vocabulary.h"
#include "unigram.h"

/* The kinds of a model; BPE is what every other file with its pieces means. */
typedef enum { SPM_BPE, SPM_UNIGRAM, SPM_WORD, SPM_CHAR } SpmKind;

enum { DECODE_HELD_MAX = sizeof ((TokenStream *)0)->rest }; /* bytes of a denormalizer's rule, and of what it becomes */

/* Tokenizer.own */
typedef struct {
    SpmKind kind;       /* how it looks for pieces */
    Unigram *unigram;   /* SPM_UNIGRAM: its tree */
    Joins *joins;       /* SPM_BPE */
    CharsMap *map;      /* what normalization replaces; NULL: nothing */
    CharsMap *unmap;    /* .. and what decoding does to the text; NULL: nothing */
    Matcher user;       /* user-defined pieces: matched inside normalization */
    int has_unused;     /* some piece is PIECE_UNUSED */
    int space_as_suffix; /* dummy_prefix is rather behind the text */
    int remove_extra_whitespaces; /* runs of spaces to one, none at the ends */
    int raw_bytes;        /* ill-formed UTF-8 goes through as bytes; otherwise it becomes U+FFFD first */
    const char *space_in; /* what a space becomes; t->space is what becomes a space in decoding */
    char *unk_text;       /* [unk_len] what the unknown piece decodes to, malloc'ed; NULL: SentencePiece's usual */
    size_t unk_len;
    /* spm_backend.c; the second puts no space in front. NULL: our own code */
    struct SpmLibrary *library, *library_tight;
} SpmModel;

/* t becomes a SentencePiece model without settings: 0 or -ENOMEM. Then come the pieces and the settings, then
 * spm_model_finish. */
int spm_model_begin(Tokenizer *t, char *err, size_t errlen);
int spm_model_finish(Tokenizer *t, int unique, char *err, size_t errlen); /* unique: no text may stand twice */
extern const Body spm_model_body;
size_t spm_model_decode(const Tokenizer *t, TokenStream *s, int id, char *out);

/* Readers: each fills a new Tokenizer up to, but not with, spm_model_finish. */
int model_proto_is(const uint8_t *data, size_t size);
int model_proto_read(Tokenizer *t, const uint8_t *data, size_t size, char *err, size_t errlen);
int llama2c_vocab_is(const uint8_t *data, size_t size); /* 2: every record fits; 1: it begins like one; 0: neither */
int llama2c_vocab_read(Tokenizer *t, const uint8_t *data, size_t size, char *err, size_t errlen);
int spm_model_vocabulary(Tokenizer *t, const Vocabulary *v, char *err, size_t errlen); /* GGUF's "llama" and "t5" */
/* spm_backend.c: let SentencePiece's own library do what t, read from data by model_proto_read, does. 0, -ENOMEM or
 * -EINVAL. */
int spm_backend_attach(Tokenizer *t, const uint8_t *data, size_t size, char *err, size_t errlen);

#endif
