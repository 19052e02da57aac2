/* tokenizer/wordpiece/trie.c - words to numbers, walked one character at a time.
 *
 * The edges of the tree stand in one hash table, keyed by (node, character): a step is one look-up, whatever the
 * fan-out, and a word costs as many nodes as it has characters that no word before it had. Open addressing with linear
 * probing. Words that were made to collide are refused when they come in, so that no look-up is longer than MAX_PROBES.
 * Invariant: the slots hold every node but the root, each once. */
#include "trie.h"

#include "base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PROBES = 512, MIN_SLOTS = 64 };

static size_t hash(uint32_t node, uint32_t cp) {
    uint64_t h = ((uint64_t)node << 21 | cp) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
    return (size_t)(h ^ h >> 32);
}

static int set_slots(Trie *t, size_t n) {
    size_t size = MIN_SLOTS;
    while (size / 8 * 5 < n) size *= 2;
    uint32_t *slots = calloc(size, sizeof *slots);
    if (!slots) return -ENOMEM;
    free(t->slots);
    t->slots = slots;
    t->mask = size - 1;
    for (size_t id = 1; id < t->n; id++) {
        size_t i = hash(t->nodes[id].parent, t->nodes[id].cp) & t->mask;
        while (slots[i]) i = (i + 1) & t->mask;
        slots[i] = (uint32_t)id;
    }
    return 0;
}

int trie_init(Trie *t, size_t expected) {
    memset(t, 0, sizeof *t);
    t->cap = expected < 16 ? 16 : expected;
    t->nodes = calloc(t->cap, sizeof *t->nodes);
    if (!t->nodes) return -ENOMEM;
    t->nodes[t->n++] = (TrieNode){0, 0, -1};
    return set_slots(t, t->cap);
}

void trie_free(Trie *t) {
    free(t->nodes);
    free(t->slots);
    memset(t, 0, sizeof *t);
}

/* The slot of the child, or the free one where it would stand. */
static size_t slot_of(const Trie *t, uint32_t node, uint32_t cp, int *probes) {
    *probes = 0;
    for (size_t i = hash(node, cp) & t->mask;; i = (i + 1) & t->mask, ++*probes) {
        uint32_t id = t->slots[i];
        if (id == 0 || (t->nodes[id].parent == node && t->nodes[id].cp == cp)) return i;
    }
}

uint32_t trie_child(const Trie *t, uint32_t node, uint32_t cp) {
    int probes;
    return t->slots[slot_of(t, node, cp, &probes)];
}

int trie_add(Trie *t, uint32_t node, uint32_t cp, uint32_t *child) {
    int probes;
    size_t i = slot_of(t, node, cp, &probes);
    *child = t->slots[i];
    if (*child) return 0;
    if (probes > MAX_PROBES || t->n >= UINT32_MAX) return -EINVAL;
    if (t->n == t->cap) {
        TrieNode *p = realloc(t->nodes, t->cap * 2 * sizeof *p);
        if (!p) return -ENOMEM;
        t->nodes = p;
        t->cap *= 2;
    }
    if (t->n >= (t->mask + 1) / 8 * 5) {
        if (set_slots(t, t->n * 2)) return -ENOMEM;
        i = slot_of(t, node, cp, &probes);
    }
    *child = t->slots[i] = (uint32_t)t->n;
    t->nodes[t->n++] = (TrieNode){node, cp, -1};
    return 0;
}

int32_t trie_find(const Trie *t, const uint32_t *word, size_t n) {
    uint32_t node = 0;
    for (size_t i = 0; i < n; i++)
        if (!(node = trie_child(t, node, word[i]))) return -1;
    return t->nodes[node].value;
}

size_t word_decode(const char *text, size_t len, uint32_t *cp, size_t max, int *long_) {
    size_t n = 0;
    *long_ = 0;
    for (size_t i = 0; i < len; n++) {
        uint32_t c;
        int k = utf8_decode(text + i, len - i, &c);
        if (k == 0) return 0;
        if (n == max) {
            *long_ = 1;
            return 0;
        }
        cp[n] = c;
        i += (size_t)k;
    }
    return n;
}

int trie_longest(const Trie *t, uint32_t node, const uint32_t *word, size_t n, size_t *len) {
    int value = -1;
    for (size_t i = 0; i < n && (node = trie_child(t, node, word[i])) != 0; i++)
        if (t->nodes[node].value >= 0) {
            value = t->nodes[node].value;
            *len = i + 1;
        }
    return value;
}
