/* tokenizer/bpe/merge.h - byte-pair merging: the best pair of neighbours is joined, and again, until nothing joins.
 *
 *     Merging m = {0};
 *     merge_add(&m, start, len, id) ...         the text's characters, one after another
 *     merge_all(&m, join, arg);
 *     for (int i = 0; i >= 0; i = m.symbols[i].next) ... m.symbols[i].id ...
 *     m.n = 0;                                  the next word; merging_free at the end */
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
    uint64_t key; /* the join's order, then the left symbol's number: the smallest is the best */
    uint32_t len; /* of the joined text */
    int id;
} Pair;

typedef struct {
    Symbol *symbols; /* [n], a linked list in an array */
    size_t n, cap;
    Pair *heap;      /* [n_heap] pairs that may be joined, the best on top */
    size_t n_heap;
    int in_order;    /* the heap is sorted from its beginning to its end */
    Pair *row;       /* [n_row] others, sorted; those before row_at are done */
    size_t n_row, row_at;
    size_t cap_pairs; /* of heap and of row */
} Merging;

/* The piece that a and b make together, and its order (smaller joins first, of equal ones the leftmost); -1: none. */
typedef int Join(void *arg, const Symbol *a, const Symbol *b, uint32_t *order);

int merge_add(Merging *m, size_t start, size_t len, int id); /* one more symbol: 0 or -ENOMEM */
int merge_all(Merging *m, Join *join, void *arg);            /* 0 or -ENOMEM; work O(n log n) */
void merging_free(Merging *m);                               /* accepts a zeroed struct */

#endif
