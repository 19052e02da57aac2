/* train/corpus.h - texts as ids, and what a step reads of them: windows cut at random places, or made tasks.
 *
 *     Corpus c = {0};
 *     corpus_add(&c, tokenizer, text, n, "<|endoftext|>", -1, err, errlen);
 *     BatchPlan plan = {.corpus = &c, .seed = 1, .shares = {[PIECE_TEXT] = 1}};
 *     if (batch_check(&plan, &shape, err, errlen)) ...
 *     batch_fill(&batch, &plan, step);
 *
 * A step's batch follows from the seed and the step's number alone: a run that goes on needs nothing else. */
#ifndef CORPUS_H
#define CORPUS_H

#include "rng.h"
#include "tokenizer/open.h"
#include "trainee.h"

typedef struct {
    int *ids;         /* [n]: every document's, BOS first where the tokenizer has one, or an end behind; owned */
    size_t n, cap;
    size_t *starts;   /* [n_documents]: where each begins; owned */
    size_t n_documents, cap_documents;
    size_t bytes;     /* of text */
} Corpus;

/* text [n] cut at lines that are `separator` (NULL: one document). end: the id behind each document, for an encoder,
 * which has no BOS in front of it then; -1: none. Errors: those of tokenizer_encode, -ENOMEM. */
int corpus_add(Corpus *c, const Tokenizer *t, const char *text, size_t n, const char *separator, int end, char *err,
               size_t errlen);
void corpus_free(Corpus *c); /* accepts a zeroed struct */

/* What one text of a batch may be. Made tasks stand in real text, and are of its ids. */
typedef enum {
    PIECE_TEXT,   /* a window of the corpus */
    PIECE_COPY,   /* a span of the corpus, or of its ids in a random order; text; the span again */
    PIECE_RECALL, /* pairs of a key and a value; text; the keys in another order, each with its value */
    PIECE_PASSKEY, /* a number of five digits among sentences that say nothing, asked for (text/passkey.h) */
    PIECE_KINDS
} PieceKind;
extern const char *const piece_names[PIECE_KINDS];

/* What a target is, for whoever measures: marks. */
typedef enum { MARK_NONE, MARK_FIRST, MARK_AGAIN, MARK_ANSWER } Mark;

/* How an encoder's ids are masked; mask 0: it is no encoder. BERT's rule: of `share` of the ids 80 in 100 become mask,
 * 10 any id, 10 stay. whole_words: an id that continues a word is chosen with its first. */
typedef struct {
    int mask, first, last;   /* [MASK], [CLS], [SEP] */
    int n_special;           /* ids below it are never drawn */
    double share;            /* 0.15 */
    const uint8_t *continues; /* [vocab_size]: 1 where an id goes on with a word; NULL: no whole words */
} MaskPlan;

typedef struct {
    const Corpus *corpus;
    const Tokenizer *tokenizer; /* that made it: passkeys are written with it */
    uint64_t seed;
    double shares[PIECE_KINDS]; /* of a batch's texts, on the whole; they need not sum to 1 */
    int by_document;            /* 1: a window begins where a document does */
    int bos;                    /* in front of a document's beginning that leads to a copy; -1: none */
    int vocab_size;
    MaskPlan masks;
} BatchPlan;

/* 0, or -EINVAL and a line: a corpus shorter than a window, no shares, a length with no room for a task. */
int batch_check(const BatchPlan *p, const BatchShape *shape, char *err, size_t errlen);

/* What a step reads. All arrays are the batch's own. */
typedef struct {
    BatchShape shape;
    int *ids, *targets; /* [texts, length]; a target below 0 does not count */
    uint8_t *marks;     /* [texts, length]: Mark of the target */
    int *page;          /* [length + 1]: a text in the making, and its marks */
    uint8_t *page_marks;
} Batch;
int batch_init(Batch *b, const BatchShape *shape); /* 0 or -ENOMEM */
void batch_free(Batch *b);                         /* accepts a zeroed struct */

int batch_fill(Batch *b, const BatchPlan *p, uint64_t step); /* 0 or -ENOMEM */

/* A corpus to measure on is cut as `run perplexity` cuts it: document by document, bos (-1: none) in front of each
 * window of length - 1 ids, every one of them scored. How many windows there are; and window i as text t of a batch. */
size_t corpus_windows(const Corpus *c, int bos, size_t length);
void batch_window(Batch *b, size_t t, const Corpus *c, int bos, size_t i); /* i beyond the last: nothing counts */

#endif
