/* tokenizer/bpe/merge.c - the merge loop. A pair stays in the heap when one of its halves changes: it carries the
 * length it had, and when it comes up with another it is out of date and dropped. (Symbols only grow: one place, one
 * length are one text in one cut.) Invariant: each neighbouring pair that joins is in the heap with its length. */
#include "merge.h"

#include "base/base.h"

#include <errno.h>
#include <stdlib.h>

typedef struct Pair {
    uint64_t key; /* the join's order, then the left symbol's number: the smallest is the best */
    uint32_t len; /* of the joined text */
    int id;
} Pair;

static Pair pop(Merging *m) {
    Pair *heap = m->heap, top = heap[0], last = heap[--m->n_heap];
    size_t i = 0, n = m->n_heap;
    for (size_t c; (c = 2 * i + 1) < n; i = c) {
        if (c + 1 < n && heap[c + 1].key < heap[c].key) c++;
        if (last.key <= heap[c].key) break;
        heap[i] = heap[c];
    }
    heap[i] = last;
    return top;
}

int merge_add(Merging *m, size_t start, size_t len, int id) {
    if (m->n == m->cap && array_reserve(&m->symbols, &m->cap, m->n + 1, sizeof *m->symbols)) return -ENOMEM;
    int i = (int)m->n++;
    m->symbols[i] = (Symbol){(uint32_t)start, (uint32_t)len, i - 1, i + 1, id};
    return 0;
}

static void offer(Merging *m, int left, int right, Join *join, void *arg) {
    uint32_t order;
    int id = left < 0 || right < 0 ? -1 : join(arg, &m->symbols[left], &m->symbols[right], &order);
    if (id < 0) return;
    Pair p = {(uint64_t)order << 32 | (uint32_t)left, m->symbols[left].len + m->symbols[right].len, id};
    size_t i = m->n_heap++;
    for (size_t up; i > 0 && m->heap[up = (i - 1) / 2].key > p.key; i = up) m->heap[i] = m->heap[up];
    m->heap[i] = p;
}

int merge_all(Merging *m, Join *join, void *arg) {
    Symbol *s = m->symbols;
    if (m->n == 0) return 0;
    if (array_reserve(&m->heap, &m->cap_heap, 2 * m->n, sizeof *m->heap)) return -ENOMEM; /* a merge takes 1, adds 2 */
    s[m->n - 1].next = -1;
    for (int i = 1; i < (int)m->n; i++) offer(m, i - 1, i, join, arg);
    while (m->n_heap) {
        Pair p = pop(m);
        int left = (int)(uint32_t)p.key, right = s[left].next;
        if (s[left].len == 0 || right < 0 || s[left].len + s[right].len != p.len) continue; /* out of date */
        s[left] = (Symbol){s[left].start, p.len, s[left].prev, s[right].next, p.id};
        s[right].len = 0;
        if (s[left].next >= 0) s[s[left].next].prev = left;
        offer(m, s[left].prev, left, join, arg);
        offer(m, left, s[left].next, join, arg);
    }
    return 0;
}

void merging_free(Merging *m) {
    free(m->symbols);
    free(m->heap);
    *m = (Merging){.n = 0};
}
