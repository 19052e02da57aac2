/* tokenizer/bpe/merge.c - the merge loop. README.md tells why the two structures make it fast.
 *
 * A pair is never taken out of the queue when one of its halves changes: it carries the length it had, and when it comes up with
 * another length it is out of date and dropped. (Symbols only grow, so one place and one length are one text in one cut.)
 * Invariant: each neighbouring pair that joins is in the queue with its right length. */
#include "merge.h"

#include <errno.h>
#include <stdlib.h>

/* The queue of pairs is a heap, and beside it a row that is sorted already. Pairs that came in order are a row: in a text of one
 * letter, where a round of merges offers the next round from left to right, that is all of them, and nothing is sifted. */
static void push(Merging *m, Pair p) {
    size_t i = m->n_heap++;
    if (i == 0) m->in_order = 1;
    else if (p.key < m->heap[i - 1].key) m->in_order = 0;
    for (size_t up; i > 0 && m->heap[up = (i - 1) / 2].key > p.key; i = up) m->heap[i] = m->heap[up];
    m->heap[i] = p;
}

static Pair heap_pop(Merging *m) {
    Pair top = m->heap[0], last = m->heap[--m->n_heap];
    size_t i = 0, n = m->n_heap;
    m->in_order = 0;
    for (size_t c; (c = 2 * i + 1) < n; i = c) {
        if (c + 1 < n && m->heap[c + 1].key < m->heap[c].key) c++;
        if (last.key <= m->heap[c].key) break;
        m->heap[i] = m->heap[c];
    }
    m->heap[i] = last;
    return top;
}

/* 1 and the best pair, or 0: there is none. */
static int pop(Merging *m, Pair *best) {
    if (m->row_at == m->n_row && m->in_order) { /* all that is left came in order */
        Pair *row = m->row;
        m->row = m->heap;
        m->heap = row;
        m->n_row = m->n_heap;
        m->row_at = m->n_heap = 0;
    }
    if (m->row_at < m->n_row && (m->n_heap == 0 || m->row[m->row_at].key <= m->heap[0].key)) *best = m->row[m->row_at++];
    else if (m->n_heap) *best = heap_pop(m);
    else return 0;
    return 1;
}

int merge_add(Merging *m, size_t start, size_t len, int id) {
    if (m->n == m->cap) {
        size_t c = m->cap ? m->cap * 2 : 64;
        Symbol *p = realloc(m->symbols, c * sizeof *p);
        if (!p) return -ENOMEM;
        m->symbols = p;
        m->cap = c;
    }
    int i = (int)m->n++;
    m->symbols[i] = (Symbol){(uint32_t)start, (uint32_t)len, i - 1, i + 1, id};
    return 0;
}

static void offer(Merging *m, int left, int right, Join *join, void *arg) {
    uint32_t order;
    if (left < 0 || right < 0) return;
    const Symbol *a = &m->symbols[left], *b = &m->symbols[right];
    int id = join(arg, a, b, &order);
    if (id >= 0) push(m, (Pair){(uint64_t)order << 32 | (uint32_t)left, a->len + b->len, id});
}

static int reserve(Merging *m, size_t n) {
    if (n <= m->cap_pairs) return 0;
    if (n < 2 * m->cap_pairs) n = 2 * m->cap_pairs;
    Pair *heap = malloc(n * sizeof *heap), *row = malloc(n * sizeof *row);
    if (!heap || !row) {
        free(heap);
        free(row);
        return -ENOMEM;
    }
    free(m->heap);
    free(m->row);
    m->heap = heap;
    m->row = row;
    m->cap_pairs = n;
    return 0;
}

int merge_all(Merging *m, Join *join, void *arg) {
    Symbol *s = m->symbols;
    if (m->n == 0) return 0;
    int rc = reserve(m, 2 * m->n); /* at most n-1 pairs at first, and each merge takes one and adds two */
    if (rc) return rc;
    s[m->n - 1].next = -1;
    m->n_heap = m->n_row = m->row_at = 0;
    m->in_order = 1;
    for (int i = 1; i < (int)m->n; i++) offer(m, i - 1, i, join, arg);
    for (Pair p; pop(m, &p);) {
        int left = (int)(uint32_t)p.key, right = s[left].next;
        if (s[left].len == 0 || right < 0 || s[left].len + s[right].len != p.len) continue; /* out of date */
        s[left].len = p.len;
        s[left].id = p.id;
        s[left].next = s[right].next;
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
    free(m->row);
    *m = (Merging){.n = 0};
}
