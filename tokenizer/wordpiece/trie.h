/* tokenizer/wordpiece/trie.h - words to numbers, walked one character at a time. */
#ifndef TRIE_H
#define TRIE_H

#include <stddef.h>
#include <stdint.h>

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

/* The characters of text [len], which must be well-formed UTF-8, into cp [max]; how many. 0: ill-formed, *long_ 0, or
 * more than max, *long_ 1. */
size_t word_decode(const char *text, size_t len, uint32_t *cp, size_t max, int *long_);

#endif
