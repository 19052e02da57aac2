/* tokenizer/wordpiece/basic.h - BERT's BasicTokenizer. */
#ifndef BASIC_H
#define BASIC_H

#include "tokenizer/unicode/unicode.h"

typedef struct {
    int lower;   /* lower case */
    int strip;   /* accents go */
    int chinese; /* each Chinese character is a word */
    /* bert4keras: lower-cased and stripped before words are cut, and characters told apart a little otherwise */
    int keras;
} BasicRules;

int basic_is_chinese(uint32_t cp);
/* What is done to the whole text, before jieba cuts it, behind out. tmp is scratch. 0 or -ENOMEM. */
int basic_before(const BasicRules *r, const uint32_t *text, size_t n, Points *tmp, Points *out);
/* The rest, into out (emptied first): clean, spaces where words end, accents gone or composed. 0 or -ENOMEM. */
int basic_clean(const BasicRules *r, const uint32_t *text, size_t n, Points *tmp, Points *out);
/* The next stretch without a space at or behind *i: its length, its beginning in *i; 0 at the end. */
size_t basic_stretch(const uint32_t *text, size_t n, size_t *i);
/* The length of the first word of a stretch [n >= 1]: one mark of punctuation, or all up to the next. */
size_t basic_word(const uint32_t *stretch, size_t n);

#endif
