/* tokenizer/sentencepiece/unigram.c - Viterbi over the pieces of a text: of all ways to cut it, the one whose scores
 * sum highest.
 *
 * Every piece has a score, the logarithm of its probability. best(i), the highest sum of any cut of the first i bytes,
 * is
 *
 *     best(i) = max over pieces p that end at i of best(i - |p|) + score(p)
 *
 * The text is walked character by character; at each, every piece that begins there offers its end a sum. A character
 * that is no piece by itself offers its own end min_score - 10, so that some cut always exists. What an end keeps is
 * the piece that offered most, the first of equals, that is the longest: going back from the last end gives the cut.
 *
 * Where no offer reaches beyond the place at hand, every cut goes through it, and the stretch before is decided: its
 * ids are written, and only its sum is carried on. So memory is a word's and not the book's.
 *
 * Ids must equal the library's also where two cuts have nearly equal sums. So the additions stand in its order, rounded
 * to float as there (a double sum of two floats, rounded, is their float sum), and a sum that leaves +-100000 is
 * brought back to 0, with everything it offered, as there. */
#include "unigram.h"

#include "unigram_tree.h"

#include <errno.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

static const double UNKNOWN_PENALTY = 10, RESET_AT = 100000;
static const uint32_t NOTHING = UINT32_MAX; /* an end that no piece has reached */

struct Unigram {
    UnigramTree tree;
    UnigramRules rules;
    double unknown; /* score of a character that is no piece */
    size_t longest; /* bytes of the longest piece */
};

struct UnigramNode {
    union {
        double score;  /* on the way there: the best sum up to here */
        uint32_t next; /* on the way back: where the best cut goes from here */
    };
    uint32_t start; /* where the piece that ends here begins, or NOTHING */
    int id;         /* of it; -1: it is no piece */
};

/* ---- building ---- */

/* What a piece costs. User-defined ones are to win over everything else, longer ones over shorter ones. */
static float score_in(const Entry *e, UnigramRules rules) {
    if (rules == UNIGRAM_LIBRARY && e->kind == PIECE_USER_DEFINED) return (float)(0.1 * ((double)e->len - 1));
    return e->score;
}

static int takes(const Entry *e, UnigramRules rules) {
    if (e->len == 0) return 0;
    return rules == UNIGRAM_TOKENIZERS || e->kind == PIECE_NORMAL || e->kind == PIECE_USER_DEFINED;
}

/* The pieces that the tree is made of into items [*n], what is worth knowing of them into u. */
static int collect(Unigram *u, const Tokenizer *t, size_t n_pieces, TreeItem *items, size_t *n, char *err,
                   size_t errlen) {
    float lowest = FLT_MAX;
    *n = 0;
    for (size_t i = 0; i < n_pieces; i++) {
        const Entry *e = &t->pieces[i];
        if (!takes(e, u->rules)) continue;
        if (e->len > UNIGRAM_PIECE_MAX)
            return base_error(err, errlen, -EINVAL,
                              "%s: piece %zu has %u bytes, more than the %d that a unigram model may have",
                              t->name ? t->name : "tokenizer", i, (unsigned)e->len, UNIGRAM_PIECE_MAX);
        items[(*n)++] = (TreeItem){t->bytes + e->start, e->len, (int32_t)i, score_in(e, u->rules)};
        if (e->len > u->longest) u->longest = e->len;
        if ((u->rules == UNIGRAM_TOKENIZERS || e->kind == PIECE_NORMAL) && e->score < lowest) lowest = e->score;
    }
    u->unknown = (double)lowest - UNKNOWN_PENALTY;
    if (u->rules == UNIGRAM_LIBRARY) u->unknown = (float)u->unknown;
    return 0;
}

int unigram_build(Unigram **out, const Tokenizer *t, UnigramRules rules, size_t n_pieces, char *err, size_t errlen) {
    size_t n = n_pieces && n_pieces < t->n ? n_pieces : t->n, n_items = 0;
    const char *name = t->name ? t->name : "tokenizer";
    *out = NULL;
    Unigram *u = calloc(1, sizeof *u);
    TreeItem *items = calloc(n + 1, sizeof *items);
    int rc = u && items ? 0 : base_error(err, errlen, -ENOMEM, "%s: no memory for %zu pieces", name, n);
    if (rc == 0) {
        u->rules = rules;
        rc = collect(u, t, n, items, &n_items, err, errlen);
    }
    if (rc == 0 && unigram_tree_build(&u->tree, items, n_items))
        rc = base_error(err, errlen, -ENOMEM, "%s: no memory for the tree of %zu pieces", name, n);
    free(items);
    if (rc) unigram_free(u);
    else *out = u;
    return rc;
}

void unigram_free(Unigram *u) {
    if (!u) return;
    unigram_tree_free(&u->tree);
    free(u);
}

void unigram_run_free(UnigramRun *run) {
    free(run->nodes);
    *run = (UnigramRun){0};
}

/* ---- writing the ids of a stretch that is decided ---- */

static int has_bytes(const Tokenizer *t, const char *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (t->byte_id[(unsigned char)s[i]] < 0) return 0;
    return n > 0;
}

/* Text [n] that is no piece; again: what stands before it was written as unk. Sets *again for the next. */
static int emit_unknown(const Tokenizer *t, const char *s, size_t n, int *again, Ids *out) {
    int rc = 0, before = *again;
    *again = !has_bytes(t, s, n);
    if (*again) return before ? 0 : t->unk >= 0 ? ids_push(out, t->unk) : -EINVAL;
    for (size_t i = 0; i < n && rc == 0; i++) rc = ids_push(out, t->byte_id[(unsigned char)s[i]]);
    return rc;
}

/* tokenizers' way: the run as a whole is looked up, then spelled in bytes, then unknown. id: of its only node, or
 * -1. */
static int emit_run(const Tokenizer *t, const char *s, size_t n, int id, Ids *out) {
    int none = 0;
    if (id < 0) id = pieces_find(t, s, n);
    return id >= 0 ? ids_push(out, id) : emit_unknown(t, s, n, &none, out);
}

/* Is what ends here unknown text? */
static int unknown_at(const Tokenizer *t, const struct UnigramNode *nodes, uint32_t end) {
    return nodes[end].id < 0 || nodes[end].id == t->unk;
}

/* text [n] is the stretch, nodes [n + 1] its ends. *unknown: the last id written stands for unknown text. */
static int emit(const Unigram *u, const Tokenizer *t, const char *text, struct UnigramNode *nodes, uint32_t n,
                int *unknown, Ids *out) {
    int rc = 0;
    for (uint32_t at = n; at > 0;) {
        uint32_t from = nodes[at].start;
        nodes[from].next = at;
        at = from;
    }
    for (uint32_t at = 0, next; at < n && rc == 0; at = next) {
        next = nodes[at].next;
        int id = nodes[next].id;
        if (!unknown_at(t, nodes, next)) {
            *unknown = 0;
            rc = ids_push(out, id);
        } else if (u->rules == UNIGRAM_LIBRARY) rc = emit_unknown(t, text + at, next - at, unknown, out);
        else {
            while (next < n && unknown_at(t, nodes, nodes[next].next)) next = nodes[next].next;
            rc = emit_run(t, text + at, next - at, next == nodes[at].next ? id : -1, out);
        }
    }
    return rc;
}

/* ---- the walk ---- */

/* Room for n nodes. */
static int reserve(UnigramRun *run, size_t n) {
    if (n <= run->cap) return 0;
    size_t bytes, c = run->cap * 2 > n ? run->cap * 2 : n;
    struct UnigramNode *p = size_mul(c, sizeof *p, &bytes) ? realloc(run->nodes, bytes) : NULL;
    if (!p) return -ENOMEM;
    run->nodes = p;
    run->cap = c;
    return 0;
}

/* A stretch being decided. Places count from its beginning. */
typedef struct {
    struct UnigramNode *nodes;
    uint32_t reached; /* the furthest end that has an offer; nodes behind it are not set yet */
    int as_float;
} Stretch;

static void offer(Stretch *w, uint32_t start, uint32_t end, double sum, int id) {
    while (w->reached < end) w->nodes[++w->reached].start = NOTHING;
    struct UnigramNode *to = &w->nodes[end];
    if (w->as_float) sum = (float)sum;
    if (to->start != NOTHING && !(sum > to->score)) return;
    to->score = sum;
    to->start = start;
    to->id = id;
}

/* The sum at a place is brought to 0, and with it all it may still be compared with. */
static void reset(Stretch *w, uint32_t at) {
    double by = w->nodes[at].score;
    for (uint32_t i = at; i <= w->reached; i++)
        if (i == at || w->nodes[i].start != NOTHING) w->nodes[i].score = (float)(w->nodes[i].score - by);
}

/* All offers of the place `at`, where s [n] begins; the bytes of its first character. */
static uint32_t step(const Unigram *u, Stretch *w, uint32_t at, const char *s, size_t n) {
    const Unit *units = u->tree.units;
    uint32_t one = (uint32_t)utf8_length((unsigned char)*s), node = 0, k = 0;
    int alone = 0; /* the character is a piece by itself */
    double sum = w->nodes[at].score;
    if (one == 0) one = 1;
    if (one > n) one = (uint32_t)n;
    while (k < n) {
        uint32_t next = units[node].base ^ (unsigned char)s[k];
        if (units[next].check != node) break;
        node = next;
        k++;
        if (units[node].id < 0) continue;
        offer(w, at, at + k, sum + (double)units[node].score, units[node].id);
        if (k == one) alone = 1;
    }
    if (!alone) offer(w, at, at + one, sum + u->unknown, -1);
    return one;
}

int unigram_encode(const Unigram *u, const Tokenizer *t, const char *text, size_t n, UnigramRun *run, Ids *out) {
    Stretch w = {.as_float = u->rules == UNIGRAM_LIBRARY};
    size_t from = 0; /* where the stretch begins */
    uint32_t at = 0;
    int rc = 0, unknown = 0;
    for (;;) {
        rc = reserve(run, at + u->longest + 5);
        if (rc) return rc;
        w.nodes = run->nodes;
        if (from == 0 && at == 0) w.nodes[0] = (struct UnigramNode){.score = 0, .start = NOTHING, .id = -1};
        /* tokenizers' unknown runs are not cut */
        int whole = w.as_float || from + at == n || !unknown_at(t, w.nodes, at);
        if (w.reached == at && at > 0 && whole) {
            double sum = w.nodes[at].score;
            rc = emit(u, t, text + from, w.nodes, at, &unknown, out);
            if (rc) return rc;
            from += at;
            at = w.reached = 0;
            w.nodes[0].score = sum;
        }
        if (from + at >= n) return 0;
        if (w.as_float && (w.nodes[at].score > RESET_AT || w.nodes[at].score < -RESET_AT)) reset(&w, at);
        at += step(u, &w, at, text + from + at, n - from - at);
    }
}

int unigram_has_bytes(const Tokenizer *t) {
    for (int b = 0; b < 256; b++)
        if (t->byte_id[b] >= 0) return 1;
    return 0;
}
