/* tokenizer/wordpiece/wordpiece.h - what the files of WordPiece share: the tree of words, jieba's dictionary, BasicTokenizer's rules. */
#ifndef WORDPIECE_H
#define WORDPIECE_H

#include "tokenizer/internal.h"
#include "tokenizer/unicode/unicode.h"

/* ---- trie.c: words to numbers, walked one character at a time ---- */

/* Node 0 is the root. A node's children are found by hashing (node, character): no lists, no sorting. */
typedef struct {
    uint32_t parent, cp;
    int32_t value; /* of the word that ends here; -1: none does */
} TrieNode;

typedef struct {
    TrieNode *nodes; /* [n] */
    size_t n, cap;
    uint32_t *slots; /* [mask + 1] nodes, 0 where free; a power of two, at most 5/8 full */
    size_t mask;
} Trie;

enum { WORD_MAX = 256 }; /* characters of the longest word taken: bounds the steps from one character of a text */

/* Room for about that many nodes to begin with: 0 or -ENOMEM. */
int trie_init(Trie *t, size_t expected);
void trie_free(Trie *t); /* accepts a zeroed struct */
/* The child of node by cp, made where there is none. 0, -ENOMEM, or -EINVAL where the words were made to collide. */
int trie_add(Trie *t, uint32_t node, uint32_t cp, uint32_t *child);
uint32_t trie_child(const Trie *t, uint32_t node, uint32_t cp); /* 0: there is none */
int32_t trie_find(const Trie *t, const uint32_t *word, size_t n); /* its value, or -1 */

/* The longest word that word [n] begins with, from `node` on: its value, its length in *len; -1: there is none. */
int trie_longest(const Trie *t, uint32_t node, const uint32_t *word, size_t n, size_t *len);

/* The characters of text [len], which must be well-formed UTF-8, into cp [max]; how many. 0: ill-formed, *long_ 0, or more
 * than max, *long_ 1. */
size_t word_decode(const char *text, size_t len, uint32_t *cp, size_t max, int *long_);

/* ---- jieba.c: the dictionary, and the cut of a text into its words ---- */

typedef struct {
    Trie words;     /* value: place in weight */
    double *weight; /* [n] ln of a word's frequency minus ln of all words'; -INFINITY: only the beginning of others */
    double alone;   /* the same for a frequency of 1: a character that begins no word */
    size_t n, cap;
} Jieba;

/* dict.txt: a word, its frequency and anything more, one a line, in UTF-8. A word that stands twice has the last frequency.
 * Errors: those of file_map, -EINVAL with the line's number, -ENOMEM; then *j is zeroed. */
int jieba_open(Jieba *j, const char *path, char *err, size_t errlen);
int jieba_read(Jieba *j, const char *data, size_t size, const char *name, char *err, size_t errlen); /* the same from memory */
void jieba_close(Jieba *j); /* accepts a zeroed struct */

/* The best cut of text [n]: next [n] says for each i on the way where the word that begins there ends. score [n + 1] is
 * scratch. narrow: words are made of Python jieba's characters (U+4E00 to U+9FD5 of the Chinese ones), otherwise of rjieba's. */
void jieba_route(const Jieba *j, const uint32_t *text, size_t n, int narrow, double *score, uint32_t *next);
/* Where the word that begins at i ends: a step of the route, or several where single letters and digits follow each other. */
size_t jieba_word(const uint32_t *text, size_t n, const uint32_t *next, size_t i);

/* ---- basic.c: BERT's BasicTokenizer ---- */

typedef struct {
    int lower;   /* lower case */
    int strip;   /* accents go */
    int chinese; /* each Chinese character is a word */
    int keras;   /* bert4keras: lower-cased and stripped before words are cut, and characters told apart a little otherwise */
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

/* ---- wordpiece.c ---- */

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
/* After the settings: the special tokens, the rules, the dictionary. Then comes pieces_finish. o is never NULL. */
int wordpiece_finish(Tokenizer *t, const TokenizerOptions *o, const char *folder, char *err, size_t errlen);

#endif
