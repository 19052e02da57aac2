/* tokenizer/sentencepiece/charsmap.c - a character map's trie: checked once, then walked without further questions.
 *
 * A unit of the double array holds a label (the byte that leads to it, bits 0-7 and 31), an offset (bits 10-30, times
 * 256 where bit 9 is set), and in bit 8 whether a rule ends here. The children of unit p stand at p ^ offset ^ byte,
 * and count where their label is that byte. Where a rule ends, the unit at p ^ offset holds the place of its text, with
 * bit 31 set. Call p ^ offset p's base: units with the same base share their children, which Darts uses to store equal
 * endings once. */
#include "charsmap.h"

#include "tokenizer/unicode/grapheme.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct CharsMap {
    uint32_t *units;   /* [n_units] */
    size_t n_units;
    const char *texts; /* [n_texts], in blob */
    size_t n_texts;
    uint16_t *len;     /* [n_texts] bytes from here to the NUL; CHARSMAP_TEXT_MAX + 1 means more */
    size_t longest;    /* bytes of the longest rule */
    uint8_t starts[256]; /* 1: some rule begins with this byte */
    uint8_t *blob;
    size_t size;
};

static uint32_t label(uint32_t unit) { return unit & 0x800000ffu; }
static uint32_t offset(uint32_t unit) { return (unit >> 10) << ((unit & 0x200u) >> 6); }
static int ends_rule(uint32_t unit) { return unit >> 8 & 1; }

/* ---- the check ---- */

enum { UNSEEN = 0, OPEN = 1 }; /* else 2 + the bytes of the longest walk below this base */

enum { DEPTH = CHARSMAP_RULE_MAX + 1 };

typedef struct {
    const CharsMap *m;
    /* [n_units] the units that are children of base b: first[b], next of that, ..; 0 ends the list */
    uint32_t *first, *next;
    uint32_t *state;        /* [n_units] of each base */
    uint32_t base[DEPTH], child[DEPTH], best[DEPTH]; /* the walk: bases, the child each is at, its longest so far */
} Check;

/* Is the base below unit p inside the trie, and the text there where a rule ends? */
static int fits(const CharsMap *m, uint32_t p, uint32_t below) {
    if ((below | 0xff) >= m->n_units) return 0;
    if (!ends_rule(m->units[p])) return 1;
    uint32_t value = m->units[below], place = value & 0x7fffffffu;
    return value >> 31 && place < m->n_texts && m->len[place] <= CHARSMAP_TEXT_MAX;
}

static void enter(Check *c, size_t depth, uint32_t base) {
    c->base[depth] = base;
    c->child[depth] = c->first[base];
    c->best[depth] = 2;
    c->state[base] = OPEN;
}

static void longer(Check *c, size_t depth, uint32_t than) {
    if (c->best[depth] < than + 1) c->best[depth] = than + 1;
    c->child[depth] = c->next[c->child[depth]];
}

/* The longest walk that begins at the root, in 2 + bytes; 0: one leaves the trie, finds no text, or is too long. A base
 * that is open and comes up again is a walk without end. Every base is walked once. */
static uint32_t measure(Check *c, uint32_t root) {
    const CharsMap *m = c->m;
    size_t depth = 0;
    if ((root | 0xff) >= m->n_units || label(m->units[0]) != 0) return 0;
    enter(c, 0, root);
    for (;;) {
        uint32_t p = c->child[depth];
        if (p == 0) { /* all children done */
            c->state[c->base[depth]] = c->best[depth];
            if (depth == 0) return c->best[0] > CHARSMAP_RULE_MAX + 2 ? 0 : c->best[0];
            depth--;
            longer(c, depth, c->best[depth + 1]);
            continue;
        }
        uint32_t below = p ^ offset(m->units[p]);
        if (!fits(m, p, below) || c->state[below] == OPEN) return 0;
        if (c->state[below] != UNSEEN) longer(c, depth, c->state[below]);
        else if (depth + 1 == DEPTH) return 0;
        else enter(c, ++depth, below);
    }
}

/* 0, -EINVAL or -ENOMEM; the longest rule into m. */
static int check_trie(CharsMap *m) {
    Check c = {.m = m};
    size_t n = m->n_units;
    c.first = calloc(n, sizeof *c.first);
    c.next = calloc(n, sizeof *c.next);
    c.state = calloc(n, sizeof *c.state);
    int rc = c.first && c.next && c.state ? 0 : -ENOMEM;
    for (size_t p = n; rc == 0 && p-- > 1;) {
        uint32_t byte = label(m->units[p]), base = (uint32_t)p ^ byte;
        if (byte == 0 || byte > 255 || base >= n) continue; /* a text's place; and no rule goes on with NUL */
        c.next[p] = c.first[base];
        c.first[base] = (uint32_t)p;
    }
    uint32_t root = offset(m->units[0]), longest = rc ? 0 : measure(&c, root);
    if (rc == 0 && longest == 0) rc = -EINVAL;
    if (rc == 0) m->longest = longest - 2;
    for (uint32_t p = rc ? 0 : c.first[root]; p; p = c.next[p]) m->starts[p ^ root] = 1;
    free(c.first);
    free(c.next);
    free(c.state);
    return rc;
}

/* The length of every text from every place in it, from the end backwards. */
static int measure_texts(CharsMap *m) {
    m->len = calloc(m->n_texts, sizeof *m->len);
    if (!m->len) return -ENOMEM;
    uint16_t len = 0;
    for (size_t i = m->n_texts; i-- > 0;) {
        len = m->texts[i] == 0 ? 0 : len <= CHARSMAP_TEXT_MAX ? (uint16_t)(len + 1) : len;
        m->len[i] = len;
    }
    return 0;
}

static int read_map(CharsMap *m, const uint8_t *blob, size_t size) {
    uint32_t trie = size >= 4 ? load_u32(blob) : 0;
    if (size < 9 || trie < 4 || trie % 4 || trie >= size - 4 || blob[size - 1] != 0) return -EINVAL;
    m->blob = malloc(size);
    m->units = malloc(trie);
    if (!m->blob || !m->units) return -ENOMEM;
    memcpy(m->blob, blob, size);
    m->size = size;
    m->n_units = trie / 4;
    for (size_t i = 0; i < m->n_units; i++) m->units[i] = load_u32(blob + 4 + 4 * i);
    m->texts = (const char *)m->blob + 4 + trie;
    m->n_texts = size - 4 - trie;
    int rc = measure_texts(m);
    return rc ? rc : check_trie(m);
}

int charsmap_open(CharsMap **out, const uint8_t *blob, size_t size, const char *name, const char *what, char *err,
                  size_t errlen) {
    CharsMap *m = calloc(1, sizeof *m);
    *out = NULL;
    int rc = m ? read_map(m, blob, size) : -ENOMEM;
    if (rc == 0) {
        *out = m;
        return 0;
    }
    charsmap_free(m);
    if (rc == -ENOMEM)
        return base_error(err, errlen, rc, "%s: no memory for %s's character map of %zu bytes", name, what, size);
    return base_error(err, errlen, rc, "%s: %s's character map is broken: a size, a rule or a text does not fit", name,
                      what);
}

void charsmap_free(CharsMap *m) {
    if (!m) return;
    free(m->units);
    free(m->len);
    free(m->blob);
    free(m);
}

const uint8_t *charsmap_blob(const CharsMap *m, size_t *size) {
    *size = m->size;
    return m->blob;
}

size_t charsmap_longest_rule(const CharsMap *m) { return m->longest; }

size_t charsmap_longest_text(const CharsMap *m) {
    size_t longest = 0;
    for (size_t i = 0; i < m->n_texts; i++)
        if (m->len[i] > longest) longest = m->len[i];
    return longest;
}

/* ---- looking up ---- */

/* The longest rule that s [n] begins with, or the shortest. */
static size_t look_up(const CharsMap *m, const char *s, size_t n, int shortest, const char **to, size_t *to_len) {
    size_t len = 0;
    if (n == 0 || !m->starts[(unsigned char)*s]) return 0;
    uint32_t base = offset(m->units[0]), place = 0;
    for (size_t i = 0; i < n && s[i]; i++) {
        uint32_t p = base ^ (unsigned char)s[i], unit = m->units[p];
        if (label(unit) != (unsigned char)s[i]) break;
        base = p ^ offset(unit);
        if (!ends_rule(unit)) continue;
        len = i + 1;
        place = m->units[base] & 0x7fffffffu;
        if (shortest) break;
    }
    if (len) {
        *to = m->texts + place;
        *to_len = m->len[place];
    }
    return len;
}

size_t charsmap_longest(const CharsMap *m, const char *s, size_t n, const char **to, size_t *to_len) {
    return look_up(m, s, n, 0, to, to_len);
}

int charsmap_precompiled(const CharsMap *m, const char *s, size_t n, Text *out) {
    enum { WHOLE = 6 }; /* clusters shorter than this are looked up whole */
    int rc = 0;
    for (size_t i = 0, cluster; i < n && rc == 0; i += cluster) {
        const char *to;
        size_t to_len;
        cluster = grapheme_next(s + i, n - i);
        if (cluster < WHOLE && look_up(m, s + i, cluster, 1, &to, &to_len)) {
            rc = text_put(out, to, to_len);
            continue;
        }
        for (size_t k = 0, one; k < cluster && rc == 0; k += one) {
            uint32_t cp;
            one = (size_t)utf8_decode(s + i + k, cluster - k, &cp);
            if (one == 0) one = 1;
            rc = look_up(m, s + i + k, one, 1, &to, &to_len) ? text_put(out, to, to_len)
                : text_put(out, s + i + k, one);
        }
    }
    return rc;
}
