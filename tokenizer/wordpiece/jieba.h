/* tokenizer/wordpiece/jieba.h - jieba's dictionary, and the cut of a text into its words. */
#ifndef JIEBA_H
#define JIEBA_H

#include "trie.h"

typedef struct {
    Trie words;     /* value: place in weight */
    double *weight; /* [n] ln of a word's frequency minus ln of all words'; -INFINITY: only the beginning of others */
    double alone;   /* the same for a frequency of 1: a character that begins no word */
    size_t n, cap;
} Jieba;

extern const char *const jieba_names[3]; /* what the dictionary is called where it lies beside a vocabulary */

/* dict.txt: a word, its frequency and anything more, one a line, in UTF-8. A word that stands twice has the last
 * frequency. Errors: those of file_map, -EINVAL with the line's number, -ENOMEM; then *j is zeroed. */
int jieba_open(Jieba *j, const char *path, char *err, size_t errlen);
/* the same from memory */
int jieba_read(Jieba *j, const char *data, size_t size, const char *name, char *err, size_t errlen);
void jieba_close(Jieba *j); /* accepts a zeroed struct */

/* The best cut of text [n]: next [n] says for each i on the way where the word that begins there ends. score [n + 1] is
 * scratch. narrow: words are made of Python jieba's characters (U+4E00 to U+9FD5 of the Chinese ones), otherwise of
 * rjieba's. */
void jieba_route(const Jieba *j, const uint32_t *text, size_t n, int narrow, double *score, uint32_t *next);
/* Where the word that begins at i ends: a step of the route, or several where single letters and digits follow each
 * other. */
size_t jieba_word(const uint32_t *text, size_t n, const uint32_t *next, size_t i);

#endif
