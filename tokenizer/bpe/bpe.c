/* tokenizer/bpe/bpe.c - a word to ids by a list of merges, in the steps of Hugging Face's BPE: its characters' pieces
 * first, what is unknown among them as bytes or as the unknown piece, then the merges. */
#include "bpe.h"

#include "base/utf8.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PROBES = 512 };

/* ---- the table of merges ---- */

static uint64_t hash_pair(uint32_t left, uint32_t right) {
    uint64_t h = ((uint64_t)left << 32 | right) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
    return h ^ h >> 32;
}

/* Most pairs join to nothing: a table of bits, small enough to stay in the cache, knows most of those. */
enum { SEEN_BITS = 20 };

static size_t seen_bit(uint64_t hash) { return hash >> 40 & (((size_t)1 << SEEN_BITS) - 1); }

static int set_slots(Bpe *b, size_t size) {
    MergeSlot *old = b->slots, *slots = calloc(size, sizeof *slots);
    size_t n = old ? b->mask + 1 : 0;
    if (!slots) return -ENOMEM;
    for (size_t i = 0; i < size; i++) slots[i].id = -1;
    b->slots = slots;
    b->mask = size - 1;
    b->n = 0;
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++)
        if (old[i].id >= 0) rc = bpe_add(b, (int)old[i].left, (int)old[i].right, old[i].rank, old[i].id);
    free(old);
    return rc;
}

int bpe_init(Bpe *b) {
    memset(b, 0, sizeof *b);
    b->unk = -1;
    b->n_model = INT_MAX;
    b->seen = calloc(1, (size_t)1 << (SEEN_BITS - 3));
    return b->seen ? set_slots(b, 16) : -ENOMEM;
}

void bpe_free(Bpe *b) {
    free(b->slots);
    free(b->seen);
    free(b->joins);
    free(b->prefix);
    free(b->suffix);
    memset(b, 0, sizeof *b);
}

/* The slot where the pair stands, or the free one where it would. */
static MergeSlot *slot_of(const Bpe *b, uint32_t left, uint32_t right, int *probes) {
    *probes = 0;
    for (size_t i = hash_pair(left, right) & b->mask;; i = (i + 1) & b->mask, ++*probes) {
        MergeSlot *s = &b->slots[i];
        if (s->id < 0 || (s->left == left && s->right == right)) return s;
    }
}

int bpe_add(Bpe *b, int left, int right, uint32_t rank, int id) {
    int probes, rc = b->n > b->mask / 2 ? set_slots(b, (b->mask + 1) * 2) : 0;
    if (rc) return rc;
    MergeSlot *s = slot_of(b, (uint32_t)left, (uint32_t)right, &probes);
    if (probes > MAX_PROBES) return -EINVAL;
    size_t bit = seen_bit(hash_pair((uint32_t)left, (uint32_t)right));
    b->seen[bit >> 3] |= (unsigned char)(1 << (bit & 7));
    b->n += s->id < 0;
    *s = (MergeSlot){(uint32_t)left, (uint32_t)right, rank, id};
    return 0;
}

int bpe_find(const Bpe *b, const Tokenizer *t, const char *text, size_t len) {
    int id = pieces_find(t, text, len);
    return id < b->n_model ? id : -1;
}

int bpe_add_texts(Bpe *b, const Tokenizer *t, const char *left, size_t n_left, const char *right, size_t n_right,
                  uint32_t rank) {
    char usual[256], *text = usual;
    int l = bpe_find(b, t, left, n_left), r = bpe_find(b, t, right, n_right);
    size_t skip = b->prefix_len; /* which all have but a word's first character */
    if (l < 0 || r < 0 || n_right < skip || (skip && memcmp(right, b->prefix, skip) != 0)) return -EINVAL;
    if (n_left + n_right > sizeof usual && !(text = malloc(n_left + n_right))) return -ENOMEM;
    memcpy(text, left, n_left);
    memcpy(text + n_left, right + skip, n_right - skip);
    int id = bpe_find(b, t, text, n_left + n_right - skip);
    if (text != usual) free(text);
    return id < 0 ? -EINVAL : bpe_add(b, l, r, rank, id);
}

int bpe_add_line(Bpe *b, const Tokenizer *t, const char *line, size_t n, uint32_t rank) {
    const char *space = n > 1 ? memchr(line + 1, ' ', n - 1) : NULL; /* a piece may begin with a space */
    if (!space) return -EINVAL;
    return bpe_add_texts(b, t, line, (size_t)(space - line), space + 1, n - (size_t)(space - line) - 1, rank);
}

int bpe_refuse(const Tokenizer *t, int rc, uint32_t rank, char *err, size_t errlen) {
    if (rc == -ENOMEM) return base_error(err, errlen, rc, "%s: no memory for its merges", t->name);
    return base_error(err, errlen, rc, "%s: merge %u is not two pieces that make a third (or all merges hash alike)",
                      t->name, (unsigned)rank);
}

/* The merge of two pieces, or NULL. */
static const MergeSlot *merge_of(const Bpe *b, int left, int right) {
    uint64_t h = hash_pair((uint32_t)left, (uint32_t)right);
    size_t bit = seen_bit(h);
    if (!(b->seen[bit >> 3] >> (bit & 7) & 1)) return NULL;
    for (size_t i = h & b->mask;; i = (i + 1) & b->mask) {
        const MergeSlot *s = &b->slots[i];
        if (s->id < 0) return NULL;
        if (s->left == (uint32_t)left && s->right == (uint32_t)right) return s;
    }
}

static int join(void *arg, const Symbol *a, const Symbol *b, uint32_t *order) {
    const MergeSlot *s = merge_of(arg, a->id, b->id);
    if (!s) return -1;
    *order = s->rank;
    return s->id;
}

/* ---- words that came before ---- */

enum { CACHED_WORDS = 1 << 14, CACHED_BYTES = 30, CACHED_IDS = 8 };

typedef struct {
    uint8_t len, n; /* bytes, 0: the place is free; ids */
    char text[CACHED_BYTES];
    int ids[CACHED_IDS];
} CachedWord;

struct WordCache {
    CachedWord words[CACHED_WORDS]; /* each word has one place, and the last that came holds it */
};

static size_t hash_word(const char *s, size_t n) {
    uint64_t h = n, x;
    for (; n >= 8; s += 8, n -= 8) {
        memcpy(&x, s, 8);
        h = (h ^ x) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    x = 0;
    memcpy(&x, s, n);
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return (size_t)(h >> 32 ^ h);
}

/* The place of a word, or NULL: it is too long to be kept, or there is no memory for keeping. */
static CachedWord *cached(BpeScratch *s, const char *word, size_t n) {
    if (n > CACHED_BYTES) return NULL;
    if (!s->cache) s->cache = calloc(1, sizeof *s->cache);
    return s->cache ? &s->cache->words[hash_word(word, n) % CACHED_WORDS] : NULL;
}

static void keep_word(CachedWord *c, const char *word, size_t n, const int *ids, size_t n_ids) {
    if (!c || n_ids > CACHED_IDS) return;
    c->len = (uint8_t)n;
    c->n = (uint8_t)n_ids;
    memcpy(c->text, word, n);
    if (n_ids) memcpy(c->ids, ids, n_ids * sizeof *ids);
}

void bpe_scratch_free(BpeScratch *s) {
    merging_free(&s->merging);
    free(s->cache);
    *s = (BpeScratch){.cache = NULL};
}

/* ---- a word's characters ---- */

typedef struct {
    const Bpe *b;
    const Tokenizer *t;
    Merging *m;
    const char *text;
    size_t unk_at, unk_len; /* an unknown piece that is not written yet; unk_len 0: there is none */
} Word;

static int end_unknown(Word *w) {
    int rc = w->unk_len ? merge_add(w->m, w->unk_at, w->unk_len, w->b->unk) : 0;
    w->unk_len = 0;
    return rc;
}

int bpe_finish(Bpe *b, const Tokenizer *t) {
    char s[4];
    free(b->joins);
    b->joins = joins_new(t);
    for (uint32_t cp = 0; cp < LATIN; cp++) b->latin[cp] = bpe_find(b, t, s, (size_t)utf8_encode(cp, s));
    return b->joins ? 0 : -ENOMEM;
}

/* The piece of a character with what the model puts around it, or -1. */
static int find_char(const Word *w, const char *s, size_t len, int first, int last) {
    const Bpe *b = w->b;
    char text[2 * BPE_AFFIX_MAX + 4];
    size_t before = first ? 0 : b->prefix_len, behind = last ? b->suffix_len : 0;
    uint32_t cp = LATIN;
    if (len == 1 && (unsigned char)*s < 0x80) cp = (unsigned char)*s;
    if (len == 2) cp = (uint32_t)(s[0] & 0x1f) << 6 | (uint32_t)(s[1] & 0x3f);
    if (before + behind == 0) return cp < LATIN ? b->latin[cp] : bpe_find(b, w->t, s, len);
    if (before) memcpy(text, b->prefix, before);
    memcpy(text + before, s, len);
    if (behind) memcpy(text + before + len, b->suffix, behind);
    return bpe_find(b, w->t, text, before + len + behind);
}

static int has_bytes(const Tokenizer *t, const char *s, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (t->byte_id[(unsigned char)s[i]] < 0) return 0;
    return 1;
}

static int add_char(Word *w, size_t at, size_t len, int first, int last) {
    const Bpe *b = w->b;
    const char *s = w->text + at;
    int id = find_char(w, s, len, first, last), rc = 0;
    if (id >= 0) {
        rc = end_unknown(w);
        return rc ? rc : merge_add(w->m, at, len, id);
    }
    if (b->byte_fallback && has_bytes(w->t, s, len)) {
        for (size_t i = 0; i < len && rc == 0; i++) rc = merge_add(w->m, at + i, 1, w->t->byte_id[(unsigned char)s[i]]);
        return rc;
    }
    if (b->unk < 0) return b->unk == BPE_UNK_MISSING ? -EINVAL : 0;
    if (w->unk_len && !b->fuse_unk) rc = end_unknown(w);
    if (!w->unk_len) w->unk_at = at;
    w->unk_len += len;
    return rc;
}

enum { FEW = 64 };

/* The merges of n <= FEW pieces, in place: the same as merge_all, by looking at all pairs each time. Returns how many
 * are left. */
static size_t merge_few(const Bpe *b, int *ids, size_t n) {
    const MergeSlot *pair[FEW];
    int32_t rank[FEW]; /* signed: any machine has an instruction to compare these */
    for (size_t i = 0; i + 1 < n; i++)
        rank[i] = (pair[i] = merge_of(b, ids[i], ids[i + 1])) ? (int32_t)pair[i]->rank : INT32_MAX;
    while (n > 1) {
        int32_t least = INT32_MAX;
        size_t i = 0;
        for (size_t k = 0; k + 1 < n; k++) least = rank[k] < least ? rank[k] : least;
        if (least == INT32_MAX) break;
        while (rank[i] != least) i++;
        ids[i] = pair[i]->id;
        n--;
        memmove(ids + i + 1, ids + i + 2, (n - i - 1) * sizeof *ids);
        memmove(pair + i, pair + i + 1, (n - i - 1) * sizeof *pair); /* n - 1 pairs were left, and i goes */
        memmove(rank + i, rank + i + 1, (n - i - 1) * sizeof *rank);
        for (size_t k = i ? i - 1 : 0; k <= i && k + 1 < n; k++)
            rank[k] = (pair[k] = merge_of(b, ids[k], ids[k + 1])) ? (int32_t)pair[k]->rank : INT32_MAX;
    }
    return n;
}

/* Merge what was gathered and write its ids. */
static int finish_word(Word *w, Ids *out) {
    Merging *m = w->m;
    int rc = end_unknown(w), ids[FEW];
    size_t n = m->n;
    if (rc == 0 && n <= FEW) {
        for (size_t i = 0; i < n; i++) ids[i] = m->symbols[i].id;
        n = merge_few(w->b, ids, n);
        for (size_t i = 0; i < n && rc == 0; i++) rc = ids_push(out, ids[i]);
    } else {
        if (rc == 0) rc = merge_all(m, join, (void *)(uintptr_t)w->b);
        for (int i = 0; i >= 0 && rc == 0; i = m->symbols[i].next) rc = ids_push(out, m->symbols[i].id);
    }
    m->n = 0;
    return rc;
}

static int encode_part(Word *w, size_t from, size_t end, BpeScratch *s, Ids *out) {
    CachedWord *c = cached(s, w->text + from, end - from);
    size_t before = out->n;
    int rc = 0;
    if (c && c->len == end - from && memcmp(c->text, w->text + from, c->len) == 0) {
        for (int i = 0; i < c->n && rc == 0; i++) rc = ids_push(out, c->ids[i]);
        return rc;
    }
    int whole = w->b->ignore_merges ? bpe_find(w->b, w->t, w->text + from, end - from) : -1;
    if (whole >= 0 && w->t->pieces[whole].kind == PIECE_CONTROL) whole = -1; /* which is found in raw texts only */
    if (whole >= 0) rc = ids_push(out, whole);
    for (size_t i = from, len; whole < 0 && i < end && rc == 0; i += len) {
        len = pieces_char(w->t, w->text + i, end - i);
        rc = add_char(w, i, len, i == from, i + len == end);
    }
    if (whole < 0 && rc == 0) rc = finish_word(w, out);
    if (rc == 0) keep_word(c, w->text + from, end - from, out->ids + before, out->n - before);
    return rc;
}

/* Every character is some pieces: itself, or its bytes. */
static int all_known(const Bpe *b, const Tokenizer *t) {
    for (int i = 0; i < 256; i++)
        if (t->byte_id[i] < 0) return 0;
    return b->byte_fallback;
}

/* Where in text [from, end) nothing can ever join: the end of the stretch that begins at from. No piece holds the
 * characters on both sides, and both are pieces: one that is not may be dropped, or wait for what follows, and then its
 * neighbours meet. */
static size_t next_border(const Bpe *b, const Tokenizer *t, const char *text, size_t from, size_t end, int known) {
    size_t len = pieces_char(t, text + from, end - from), i = from + len;
    while (i < end) {
        size_t next = pieces_char(t, text + i, end - i);
        if (!joins_may(b->joins, text + i - len, len + next) &&
            (known || (bpe_find(b, t, text + i - len, len) >= 0 && bpe_find(b, t, text + i, next) >= 0)))
            break;
        i += len = next;
    }
    return i;
}

/* A long word, or a text that no pre-tokenizer cuts, is cut at such borders. */
int bpe_encode(const Bpe *b, const Tokenizer *t, const char *word, size_t n, BpeScratch *s, Ids *out) {
    Word w = {.b = b, .t = t, .m = &s->merging, .text = word};
    enum { LONG = 64 };
    int rc = 0;
    if (n > INT32_MAX / 2) return -EFBIG;
    w.m->n = 0;
    if (n <= LONG || b->prefix_len + b->suffix_len || b->ignore_merges) return encode_part(&w, 0, n, s, out);
    int known = all_known(b, t);
    for (size_t i = 0, end; i < n && rc == 0; i = end) {
        end = next_border(b, t, word, i, n, known);
        rc = encode_part(&w, i, end, s, out);
    }
    return rc;
}
