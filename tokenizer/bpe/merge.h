/* tokenizer/bpe/merge.h - byte-pair merging: the best pair of neighbours is joined, and again, until nothing joins. Add
 * the text's characters, merge them all, then go from symbols[0] by next; n = 0 begins the next word. */
#ifndef MERGE_H
#define MERGE_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t start, len; /* its bytes of the text; len 0: joined into its left neighbour */
    int prev, next;      /* -1 at the ends */
    int id;              /* the piece; -1: none is spelled so */
} Symbol;

typedef struct {
    Symbol *symbols;   /* [n], a linked list in an array */
    struct Pair *heap; /* [n_heap] pairs that may be joined, the best on top */
    size_t n, cap, n_heap, cap_heap;
} Merging;

/* The piece that a and b make together, and its order (smaller joins first, of equal ones the leftmost); -1: none. */
typedef int Join(void *arg, const Symbol *a, const Symbol *b, uint32_t *order);

int merge_add(Merging *m, size_t start, size_t len, int id); /* one more symbol: 0 or -ENOMEM */
int merge_all(Merging *m, Join *join, void *arg);            /* 0 or -ENOMEM; work O(n log n) */
void merging_free(Merging *m);                               /* accepts a zeroed struct */

#endif
