/* text/lookup.c - see lookup.h. As in LZ77's coders: a table from two ids to the last place where they stood, each
 * place with the one before it; of the latest places the one whose ids before agree furthest is taken. */
#include "lookup.h"

#include "base/base.h"
#include "base/hash.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PAIR = 2, FURTHEST = 32, PLACES = 64, TABLE_LEAST = 1024 };

/* A place is the index of the id behind a pair; 0 is none, for nothing stands before a text's first pair. */
struct Lookup {
    uint32_t *last;   /* [n_table], a power of 2: by a pair's hash */
    uint32_t *before; /* [cap]: of a place, the one before with that hash */
    int *ids;         /* [cap]: of which n are here */
    size_t n_table, cap, cap_ids, n;
};

Lookup *lookup_new(void) { return calloc(1, sizeof(Lookup)); }

void lookup_free(Lookup *l) {
    if (!l) return;
    free(l->last);
    free(l->before);
    free(l->ids);
    free(l);
}

static uint32_t *slot(const Lookup *l, const int *pair) {
    uint64_t both = (uint64_t)(uint32_t)pair[0] << 32 | (uint32_t)pair[1];
    return &l->last[hash_mix(both) & (l->n_table - 1)];
}

static void enter(Lookup *l, size_t place) {
    uint32_t *last = slot(l, l->ids + place - PAIR);
    l->before[place] = *last;
    *last = (uint32_t)place;
}

/* The table is at least as long as the text, so that chains are of one pair mostly. -1 without memory. */
static int reserve(Lookup *l, size_t n) {
    if (n >= UINT32_MAX / 2) return -1;
    if (array_reserve(&l->ids, &l->cap_ids, n, sizeof *l->ids)) return -1;
    if (array_reserve(&l->before, &l->cap, n, sizeof *l->before)) return -1;
    size_t want = l->n_table ? l->n_table : TABLE_LEAST;
    while (want < n) want *= 2;
    if (want == l->n_table) return 0;
    uint32_t *last = calloc(want, sizeof *last);
    if (!last) return -1;
    free(l->last);
    l->last = last, l->n_table = want;
    for (size_t place = PAIR; place < l->n; place++) enter(l, place);
    return 0;
}

/* ids [n] are the text now. Another one than what was followed, as its last ids tell, begins anew. -1: no memory. */
static int follow(Lookup *l, const int *ids, size_t n) {
    size_t tail = l->n < FURTHEST ? l->n : FURTHEST, from = l->n - tail;
    if (l->n && (l->n > n || memcmp(l->ids + from, ids + from, tail * sizeof *ids) != 0)) {
        l->n = 0;
        memset(l->last, 0, l->n_table * sizeof *l->last);
    }
    if (reserve(l, n)) return -1;
    memcpy(l->ids + l->n, ids + l->n, (n - l->n) * sizeof *ids);
    for (size_t place = l->n > PAIR ? l->n : PAIR; place < n; place++) enter(l, place);
    l->n = n;
    return 0;
}

/* How many ids before `place` are those at the end. */
static size_t agreement(const Lookup *l, size_t place) {
    size_t k = 0, most = place < FURTHEST ? place : FURTHEST;
    while (k < most && l->ids[place - 1 - k] == l->ids[l->n - 1 - k]) k++;
    return k;
}

static size_t lookup_guess(void *arg, const Sampler *sampler, const int *ids, size_t n, int *guesses, size_t most,
                           int *kind) {
    Lookup *l = arg;
    size_t best = 0, from = 0;
    (void)sampler;
    if (follow(l, ids, n) || n < PAIR + 1) return 0;
    uint32_t place = *slot(l, ids + n - PAIR);
    for (int i = 0; place && i < PLACES && best < FURTHEST; i++, place = l->before[place]) {
        size_t k = agreement(l, place);
        if (k > best) best = k, from = place;
    }
    if (best < PAIR) return 0;
    *kind = best < 3 ? 0 : best < 4 ? 1 : best < 8 ? 2 : best < 16 ? 3 : 4;
    for (size_t i = 0; i < most; i++) /* a place so near that its text reaches here goes on with itself */
        guesses[i] = from + i < n ? l->ids[from + i] : guesses[from + i - n];
    return most;
}

Draft lookup_draft(Lookup *l) {
    return (Draft){.guess = lookup_guess, .arg = l, .usual = {0.3, 0.5, 0.7, 0.85, 0.9}};
}
