/* weights-tools/training/words.h - a WordPiece vocabulary of a text's own words.
 *
 *     Words w = {0};
 *     if (words_count(&w, text, n)) ...                          any number of times
 *     char *vocab = words_vocabulary(&w, 2000, &n);              vocab.txt, as BERT's
 *     words_free(&w);
 *
 * [PAD] [UNK] [CLS] [SEP] [MASK], each character of the text as a piece and with ## in front, so that no word of it is
 * [UNK], and then the words by how often they stand there. Words are BERT's (tokenizer/wordpiece/basic.h): in lower
 * case, without accents, marks of punctuation apart. */
#ifndef WORDS_H
#define WORDS_H

#include "tokenizer/wordpiece/trie.h"
#include "weights-tools/buffer.h"

typedef struct { size_t times, at, len; } Word; /* at, len: its UTF-8 in Words.text */
typedef struct {
    Trie trie;      /* value: the word's number */
    Word *words;    /* [n]; owned */
    size_t n, cap;
    Buffer text;
} Words;

int words_count(Words *w, const char *text, size_t n); /* 0 or -ENOMEM */
/* At most `most` lines, but all characters; malloc'ed, *n bytes; NULL: out of memory. */
char *words_vocabulary(Words *w, size_t most, size_t *n);
void words_free(Words *w); /* accepts a zeroed struct */

#endif
