/* tokenizer/bpe/bpe.h - byte-pair encoding by a list of merges (tokenizer.json, merges.txt, tiktoken, GGUF's gpt2):
 * which two pieces join is told by their ids, and the first of the list joins first. */
#ifndef BPE_H
#define BPE_H

#include "joins.h"
#include "tokenizer/internal.h"
#include "merge.h"

typedef struct {
    uint32_t left, right; /* ids */
    uint32_t rank;        /* smaller first */
    int id;               /* what they make; -1: the slot is free */
} MergeSlot;

enum { LATIN = 0x180 }; /* U+0000 to U+017F */

enum { BPE_UNK_MISSING = -2 }; /* the model names an unknown piece, and has no such piece */

enum { BPE_AFFIX_MAX = 64 }; /* bytes of what a model puts around a character: bounds the work a character */

typedef struct {
    MergeSlot *slots; /* [mask + 1], a power of two, at most half full */
    size_t mask, n;
    unsigned char *seen; /* a bit for each hash that some pair has */
    int latin[LATIN];    /* the pieces of the first characters, in which bytes are spelled; -1: none (bpe_finish) */
    Joins *joins;        /* which characters stand side by side in a piece (bpe_finish) */
    /* "##" in front of a character that goes on, "</w>" behind a word's last; malloc'ed, or NULL */
    char *prefix, *suffix;
    size_t prefix_len, suffix_len;
    int n_model;       /* ids from here on are tokens beside the model, which no word becomes; INT_MAX: nobody tells */
    int unk;           /* id; -1: an unknown character is dropped; BPE_UNK_MISSING: no text may have one */
    int fuse_unk;      /* a run of unknown characters is one unknown piece */
    int byte_fallback; /* an unknown character becomes its bytes' pieces, where all of them are there */
    int ignore_merges; /* a word that is a piece is taken as it is */
} Bpe;

int bpe_init(Bpe *b);  /* no merges, no unknown piece: 0 or -ENOMEM */
void bpe_free(Bpe *b); /* accepts a zeroed struct */
/* The piece of the model that is spelled so, or -1. */
int bpe_find(const Bpe *b, const Tokenizer *t, const char *text, size_t len);
/* left and right make id; of equal pairs the last holds. 0, -ENOMEM, or -EINVAL where the pairs were made to
 * collide. */
int bpe_add(Bpe *b, int left, int right, uint32_t rank, int id);
/* The same by their texts: what they make is a piece, too. -EINVAL where one of the three is none. */
int bpe_add_texts(Bpe *b, const Tokenizer *t, const char *left, size_t n_left, const char *right, size_t n_right,
                  uint32_t rank);

/* The same from a line "left right". */
int bpe_add_line(Bpe *b, const Tokenizer *t, const char *line, size_t n, uint32_t rank);
/* The error line for what these three return of merge number `rank`; returns rc. */
int bpe_refuse(const Tokenizer *t, int rc, uint32_t rank, char *err, size_t errlen);

/* Once t's pieces are finished, and before anything is encoded: 0 or -ENOMEM. */
int bpe_finish(Bpe *b, const Tokenizer *t);

/* Words that were encoded before, so that the next one costs a look-up. */
typedef struct WordCache WordCache;

typedef struct {
    Merging merging;
    WordCache *cache; /* malloc'ed with the first word */
} BpeScratch;

void bpe_scratch_free(BpeScratch *s); /* accepts a zeroed struct */
/* One word [n >= 1] to ids: 0, -ENOMEM, -EINVAL of BPE_UNK_MISSING. Work is O(n log n). */
int bpe_encode(const Bpe *b, const Tokenizer *t, const char *word, size_t n, BpeScratch *s, Ids *out);

#endif
