/* tokenizer/sentencepiece/unigram_tree.c - the double array of unigram_tree.h from a list of texts.
 *
 * The items that share their first `depth` bytes are one range of the list; a range is one node. Splitting a range by
 * the next byte, by counting, is a sort and gives the node's children. Each node then needs a base with all its
 * children's places free. Free units stand in a list. An only child takes the oldest one, which fills old holes;
 * several look through the newest MAX_TRIES, then take a new block: so building is linear, and a block is rarely left
 * half empty. */
#include "unigram_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 256, MAX_TRIES = 256, NO_BYTE = 0 }; /* in a split, label 0 is "ends here", label c + 1 is byte c */

typedef struct {
    uint32_t node, lo, hi, depth; /* items[lo .. hi-1] share depth bytes */
} Range;

typedef struct {
    UnigramTree *tree;
    size_t cap;               /* units */
    uint32_t *newer, *older;  /* [cap] the list of free units, both ways; UNIT_FREE at the ends */
    uint32_t newest, oldest;
    TreeItem *items, *spare;  /* [n] each */
    Range *todo;              /* a stack */
    size_t n_todo, cap_todo;
} Builder;

static int add_block(Builder *b) {
    size_t n = b->tree->n, need = n + BLOCK;
    if (need > UINT32_MAX / 2) return -ENOMEM;
    if (need > b->cap) {
        size_t c = b->cap ? b->cap * 2 : 16 * BLOCK;
        Unit *units = realloc(b->tree->units, c * sizeof *units);
        if (units) b->tree->units = units;
        uint32_t *newer = realloc(b->newer, c * sizeof *newer);
        if (newer) b->newer = newer;
        uint32_t *older = realloc(b->older, c * sizeof *older);
        if (older) b->older = older;
        if (!units || !newer || !older) return -ENOMEM;
        b->cap = c;
    }
    for (size_t i = n; i < need; i++) {
        b->tree->units[i] = (Unit){.check = UNIT_FREE, .id = -1};
        b->older[i] = b->newest;
        b->newer[i] = UNIT_FREE;
        if (b->newest != UNIT_FREE) b->newer[b->newest] = (uint32_t)i;
        else b->oldest = (uint32_t)i;
        b->newest = (uint32_t)i;
    }
    b->tree->n = need;
    return 0;
}

static void take(Builder *b, uint32_t i, uint32_t parent) {
    uint32_t newer = b->newer[i], older = b->older[i];
    if (newer != UNIT_FREE) b->older[newer] = older;
    else b->newest = older;
    if (older != UNIT_FREE) b->newer[older] = newer;
    else b->oldest = newer;
    b->tree->units[i].check = parent;
}

static int all_free(const Builder *b, uint32_t base, const unsigned char *labels, int n) {
    for (int i = 1; i < n; i++)
        if (b->tree->units[base ^ labels[i]].check != UNIT_FREE) return 0;
    return 1;
}

/* A base under which labels [n] are free. */
static int find_base(Builder *b, const unsigned char *labels, int n, uint32_t *base) {
    if (n == 1 && b->oldest != UNIT_FREE) {
        *base = b->oldest ^ labels[0];
        return 0;
    }
    uint32_t at = b->newest;
    for (int tries = 0; at != UNIT_FREE && tries < MAX_TRIES; at = b->older[at], tries++) {
        *base = at ^ labels[0];
        if (all_free(b, *base, labels, n)) return 0;
    }
    int rc = add_block(b);
    *base = b->newest ^ labels[0];
    return rc;
}

static int label_of(const TreeItem *item, uint32_t depth) {
    return depth < item->len ? (unsigned char)item->text[depth] + 1 : NO_BYTE;
}

/* Sort the range by the byte at depth, those that end here first. */
static void split(Builder *b, const Range *r) {
    TreeItem *items = b->items;
    uint32_t n = r->hi - r->lo, at[258] = {0};
    if (n < 32) {
        for (uint32_t i = r->lo + 1; i < r->hi; i++)
            for (uint32_t k = i; k > r->lo && label_of(&items[k], r->depth) < label_of(&items[k - 1], r->depth); k--) {
                TreeItem x = items[k];
                items[k] = items[k - 1];
                items[k - 1] = x;
            }
        return;
    }
    for (uint32_t i = r->lo; i < r->hi; i++) at[label_of(&items[i], r->depth) + 1]++;
    for (int c = 1; c < 258; c++) at[c] += at[c - 1];
    for (uint32_t i = r->lo; i < r->hi; i++) b->spare[at[label_of(&items[i], r->depth)]++] = items[i];
    memcpy(items + r->lo, b->spare, n * sizeof *items);
}

static int push(Builder *b, Range r) {
    if (b->n_todo == b->cap_todo) {
        size_t c = b->cap_todo ? b->cap_todo * 2 : 256;
        Range *p = realloc(b->todo, c * sizeof *p);
        if (!p) return -ENOMEM;
        b->todo = p;
        b->cap_todo = c;
    }
    b->todo[b->n_todo++] = r;
    return 0;
}

/* Make the node of a range: its own piece, its children's places, their ranges to do. */
static int make_node(Builder *b, Range r) {
    unsigned char labels[256];
    uint32_t first[257];
    int n = 0, rc = 0;
    uint32_t i = r.lo, base;
    if (r.hi - r.lo > 1) split(b, &r);
    for (; i < r.hi && b->items[i].len == r.depth; i++) {
        Unit *unit = &b->tree->units[r.node];
        if (unit->id > b->items[i].id) continue;
        unit->id = b->items[i].id;
        unit->score = b->items[i].score;
    }
    for (; i < r.hi; i++)
        if (n == 0 || (unsigned char)b->items[i].text[r.depth] != labels[n - 1]) {
            first[n] = i;
            labels[n++] = (unsigned char)b->items[i].text[r.depth];
        }
    if (n == 0) return 0;
    first[n] = r.hi;
    rc = find_base(b, labels, n, &base);
    if (rc) return rc;
    b->tree->units[r.node].base = base;
    for (int k = 0; k < n; k++) take(b, base ^ labels[k], r.node);
    for (int k = n; k-- > 0 && rc == 0;) rc = push(b, (Range){base ^ labels[k], first[k], first[k + 1], r.depth + 1});
    return rc;
}

int unigram_tree_build(UnigramTree *tree, TreeItem *items, size_t n) {
    Builder b = {.tree = tree, .items = items, .newest = UNIT_FREE, .oldest = UNIT_FREE};
    memset(tree, 0, sizeof *tree);
    b.spare = calloc(n + 1, sizeof *b.spare);
    int rc = b.spare ? add_block(&b) : -ENOMEM;
    if (rc == 0) {
        take(&b, 0, UNIT_FREE - 1);
        rc = push(&b, (Range){0, 0, (uint32_t)n, 0});
    }
    while (rc == 0 && b.n_todo) rc = make_node(&b, b.todo[--b.n_todo]);
    free(b.spare);
    free(b.todo);
    free(b.newer);
    free(b.older);
    if (rc) unigram_tree_free(tree);
    return rc;
}

void unigram_tree_free(UnigramTree *tree) {
    free(tree->units);
    memset(tree, 0, sizeof *tree);
}
