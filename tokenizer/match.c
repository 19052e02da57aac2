/* tokenizer/match.c - the longest of many texts that the input begins with.
 *
 * Invariant: items are sorted by bytes, a shorter text before the longer ones it begins. So the items that share the
 * input's first d bytes are one range, and the one that ends there, if any, stands first in it. */
#include "match.h"

#include "base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int matcher_add(Matcher *m, uint32_t start, uint32_t len, int id) {
    if (array_reserve(&m->items, &m->cap, m->n + 1, sizeof *m->items)) return -ENOMEM;
    m->items[m->n++] = (Match){start, len, id};
    return 0;
}

static int compare(const char *bytes, const Match *a, const Match *b) {
    int c = memcmp(bytes + a->start, bytes + b->start, a->len < b->len ? a->len : b->len);
    if (c) return c;
    if (a->len != b->len) return a->len < b->len ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Heap sort: qsort has no place for `bytes`, and its worst case is anybody's guess. */
static void sift(Match *a, size_t i, size_t n, const char *bytes) {
    for (size_t c; (c = 2 * i + 1) < n; i = c) {
        if (c + 1 < n && compare(bytes, &a[c], &a[c + 1]) < 0) c++;
        if (compare(bytes, &a[i], &a[c]) >= 0) return;
        Match x = a[i];
        a[i] = a[c];
        a[c] = x;
    }
}

void matcher_sort(Matcher *m, const char *bytes) {
    Match *a = m->items;
    for (size_t i = m->n / 2; i-- > 0;) sift(a, i, m->n, bytes);
    for (size_t n = m->n; n > 1;) {
        Match x = a[0];
        a[0] = a[--n];
        a[n] = x;
        sift(a, 0, n, bytes);
    }
    size_t n = 0; /* of equal texts the smallest id stays */
    for (size_t i = 0; i < m->n; i++)
        if (n == 0 || a[n - 1].len != a[i].len || memcmp(bytes + a[n - 1].start, bytes + a[i].start, a[i].len) != 0)
            a[n++] = a[i];
    m->n = n;
    size_t i = 0;
    for (int b = 0; b <= 256; b++) {
        while (i < n && (unsigned char)bytes[a[i].start] < b) i++;
        m->first[b] = (uint32_t)i;
    }
}

void matcher_free(Matcher *m) {
    free(m->items);
    memset(m, 0, sizeof *m);
}

/* The first item of lo .. hi-1 whose byte d is at least c; all of them are longer than d. */
static uint32_t lower(const Matcher *m, const char *bytes, uint32_t lo, uint32_t hi, uint32_t d, int c) {
    if (lo < hi && (unsigned char)bytes[m->items[lo].start + d] >= c) return lo; /* mostly nothing is left to narrow */
    if (lo < hi && (unsigned char)bytes[m->items[hi - 1].start + d] < c) return hi;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if ((unsigned char)bytes[m->items[mid].start + d] < c) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

int matcher_longest(const Matcher *m, const char *bytes, const char *s, size_t n, size_t *len) {
    unsigned char c = (unsigned char)s[0];
    uint32_t lo = m->first[c], hi = m->first[c + 1];
    int id = -1;
    for (uint32_t d = 1; lo < hi; d++) { /* all of lo .. hi-1 begin with the input's first d bytes */
        if (m->items[lo].len == d) {
            id = m->items[lo++].id;
            *len = d;
        }
        if (d == n || lo == hi) break;
        c = (unsigned char)s[d];
        lo = lower(m, bytes, lo, hi, d, c);
        hi = lower(m, bytes, lo, hi, d, c + 1);
    }
    return id;
}
