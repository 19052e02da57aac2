/* tokenizer/sentencepiece/unigram_tree.h - pieces by their bytes: a double array, walked a byte a step.
 *
 * The child of node x by byte c is node y = units[x].base ^ c, if units[y].check == x. base and c never leave a block
 * of 256 units, so y is always inside the array. Node 0 is the root. */
#ifndef UNIGRAM_TREE_H
#define UNIGRAM_TREE_H

#include "tokenizer/internal.h"

static const uint32_t UNIT_FREE = UINT32_MAX; /* a check that no node has */

typedef struct {
    uint32_t base, check;
    int32_t id;  /* of the piece that ends here, or -1 */
    float score; /* its score */
} Unit;

typedef struct {
    Unit *units; /* [n], n a multiple of 256 */
    size_t n;
} UnigramTree;

typedef struct {
    const char *text;
    uint32_t len; /* at least 1 */
    int32_t id;
    float score;
} TreeItem;

/* items [n] in any order, which is changed; of equal texts the largest id stays. 0 or -ENOMEM; the caller frees. */
int unigram_tree_build(UnigramTree *tree, TreeItem *items, size_t n);
void unigram_tree_free(UnigramTree *tree); /* accepts a zeroed one */

#endif
