/* text/texts.h - lines of text as an encoder reads them: several at a time, so that all cores have work.
 *
 *     Texts x;
 *     texts_init(&x, tokenizer);
 *     for each line:  texts_add(&x, line, len, err, sizeof err);             [CLS] a [SEP], or [CLS] a [SEP] b [SEP] at
 * a tab encoder_read(&session, x.texts, x.n, err, sizeof err);                  (model/encoder.h)
 *     encoder_hidden(&session, x.first[i])                                    text i's first token
 *     texts_clear(&x);  ...  texts_free(&x); */
#ifndef TEXTS_H
#define TEXTS_H

#include "model/encoder.h"
#include "tokenizer/open.h"

typedef struct {
    const Tokenizer *tokenizer;
    EncoderText *texts; /* [n]; their ids and types are malloc'ed and belong to this struct */
    size_t *first;      /* [n]: the number of text i's first token in the call that reads them all */
    size_t n, cap;
    size_t n_tokens;    /* of all texts */
    int special;        /* the caller's, 1: [MASK] and its like are found in a text, as WordPiece always does */
} Texts;

void texts_init(Texts *x, const Tokenizer *t); /* t must outlive x */
void texts_clear(Texts *x);                    /* no texts any more */
void texts_drop(Texts *x, size_t n);           /* the last n of them are forgotten */
void texts_free(Texts *x);                     /* accepts a zeroed struct */

/* One more text, [CLS] and [SEP] around it; where split is not 0, what stands behind the first tab is the second of a
 * pair. Errors: those of tokenizer_encode_pair, -EINVAL (not an id in it), -ENOMEM; nothing is added then. */
int texts_add(Texts *x, const char *line, size_t len, int split, char *err, size_t errlen);

/* One more text: that of before and after, in which control tokens are what they spell, around line as it is. */
int texts_add_between(Texts *x, const char *before, const char *line, size_t len, const char *after, char *err,
                      size_t errlen);

/* How a text becomes one vector. */
typedef enum { POOLING_CLS, POOLING_MEAN, POOLING_POOLER, POOLING_LAST } Pooling;
extern const char *const pooling_names[]; /* "cls", "mean", "pooler", "last", NULL */

/* Text i of x, which s has just read, as a vector out [d_model]: its first token's hidden state; the mean of all its
 * tokens', [CLS] and [SEP] among them; what the model's pooler makes of the first; its last token's. */
void texts_pool(const Texts *x, Session *s, size_t i, Pooling how, float *out);
/* v [n] divided by its length; a vector of zeroes stays. Summed in double. */
void texts_normalize(float *v, size_t n);
double texts_cosine(const float *a, const float *b, size_t n); /* 0 where one of them is all zeroes */

/* A candidate for a masked token. */
typedef struct {
    int id;
    double p; /* softmax over the whole vocabulary, in double */
} Candidate;

/* The k most probable ids of logits [n], best first, of equal ones the smaller id first; k <= n. */
void texts_best(const float *logits, size_t n, Candidate *out, size_t k);

#endif
