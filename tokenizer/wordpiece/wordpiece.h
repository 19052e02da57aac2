/* tokenizer/wordpiece/wordpiece.h - WordPiece with BERT's BasicTokenizer, and with jieba: what is in Tokenizer.own. */
#ifndef WORDPIECE_H
#define WORDPIECE_H

#include "basic.h"
#include "jieba.h"
#include "tokenizer/internal.h"
#include "tokenizer/vocabulary.h"

struct WordPiece {
    Trie pieces;    /* the lines of vocab.txt as they stand, value: id */
    uint32_t tail;  /* the node of "##", from where a word goes on; 0: no piece begins so */
    size_t n_words; /* pieces of several Chinese characters */
    Jieba jieba;
    int cuts;       /* jieba cuts the text first */
    BasicRules rules;
    size_t max_chars; /* of a word; a longer one is unknown */
    int pad, mask;    /* ids, or -1 */
    /* tokenizer_config.json: 0, 1, or -1 where it says nothing */
    int do_lower_case, strip_accents, tokenize_chinese_chars, clean_up, do_basic_tokenize;
};

/* Told by its bytes: text, and one line is [UNK]. */
int wordpiece_vocab_is(const uint8_t *data, size_t size);
int wordpiece_vocab_read(Tokenizer *t, const uint8_t *data, size_t size, char *err, size_t errlen);
/* The same from a GGUF file's vocabulary, its pieces spelled as in vocab.txt. */
int wordpiece_vocabulary(Tokenizer *t, const Vocabulary *v, char *err, size_t errlen);
struct WordPiece *wordpiece_of(const Tokenizer *t); /* NULL: t is another kind */

typedef struct {
    const char *jieba;  /* path of the dictionary for any vocabulary, or NULL */
    const char *beside; /* that of one that a word model takes otherwise, or NULL */
    int lower_case;     /* 1, 0, or -1: as the settings say */
    int bert4keras;     /* its order of steps */
} WordPieceChoice;

/* After the settings: the special tokens, the rules, the dictionary, the tables. */
int wordpiece_finish(Tokenizer *t, const WordPieceChoice *o, char *err, size_t errlen);

#endif
