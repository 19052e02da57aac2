/* tokenizer/unicode/grapheme.c - extended grapheme clusters, as a walk from one cluster's first character to the next
 * one's.
 *
 * UAX 29 says between which two characters there is no border. Three of its rules look further back, but never over the
 * cluster's beginning, so the walk remembers what they ask: how many regional indicators stand in a row (GB12, GB13),
 * whether a pictograph is followed by Extend and then ZWJ only (GB11), and whether a consonant is followed by a linker
 * and nothing but such marks (GB9c). */
#include "grapheme.h"

#include "base/base.h"

/* Properties of a character; 0 for most. */
enum {
    G_CR = 1, G_LF = 2, G_CONTROL = 4, G_EXTEND = 8, G_ZWJ = 16, G_REGIONAL = 32, G_PREPEND = 64, G_SPACING = 128,
    G_L = 256, G_V = 512, G_T = 1024, G_LV = 2048, G_LVT = 4096, /* Hangul: letters and syllables */
    G_PICTOGRAPHIC = 8192,
    G_LINKER = 16384, G_INCB_EXTEND = 32768, G_CONSONANT = 65536, /* Indic_Conjunct_Break */
};

typedef struct {
    uint32_t first, last;
    uint32_t what;
} GraphemeRange;

#include "tokenizer/tables/grapheme_tables.h"

static uint32_t properties(uint32_t cp) {
    if (cp < 0x80) return cp >= 0x20 && cp < 0x7f ? 0 : cp == '\r' ? G_CR : cp == '\n' ? G_LF : G_CONTROL;
    if (cp >= 0xac00 && cp <= 0xd7a3) return (cp - 0xac00) % 28 == 0 ? G_LV : G_LVT;
    size_t n = sizeof grapheme_ranges / sizeof *grapheme_ranges, lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (grapheme_ranges[mid].last < cp) lo = mid + 1;
        else hi = mid;
    }
    return lo < n && grapheme_ranges[lo].first <= cp ? grapheme_ranges[lo].what : 0;
}

/* What the cluster so far answers to the rules that look back. */
typedef struct {
    int regionals;             /* in a row, up to here */
    int pictograph;            /* 1: pictograph, then Extend; 2: and ZWJ last */
    int consonant;             /* 1: consonant, then marks; 2: a linker among them */
} Past;

static void remember(Past *p, uint32_t what) {
    p->regionals = what & G_REGIONAL ? p->regionals + 1 : 0;
    if (what & G_PICTOGRAPHIC) p->pictograph = 1;
    else if (what & G_ZWJ && p->pictograph == 1) p->pictograph = 2;
    else if (!(what & G_EXTEND) || p->pictograph == 2) p->pictograph = 0;
    if (what & G_CONSONANT) p->consonant = 1;
    else if (what & G_LINKER && p->consonant) p->consonant = 2;
    else if (!(what & G_INCB_EXTEND)) p->consonant = 0;
}

/* Is there a border between a and b? */
static int border(uint32_t a, uint32_t b, const Past *p) {
    const uint32_t breaks = G_CONTROL | G_CR | G_LF;
    if (a & G_CR && b & G_LF) return 0;                                       /* GB3 */
    if ((a | b) & breaks) return 1;                                           /* GB4, GB5 */
    if (a & G_L && b & (G_L | G_V | G_LV | G_LVT)) return 0;                  /* GB6 */
    if (a & (G_LV | G_V) && b & (G_V | G_T)) return 0;                        /* GB7 */
    if (a & (G_LVT | G_T) && b & G_T) return 0;                               /* GB8 */
    if (b & (G_EXTEND | G_ZWJ | G_SPACING)) return 0;                         /* GB9, GB9a */
    if (a & G_PREPEND) return 0;                                              /* GB9b */
    if (b & G_CONSONANT && p->consonant == 2) return 0;                       /* GB9c */
    if (b & G_PICTOGRAPHIC && p->pictograph == 2) return 0;                   /* GB11 */
    return !(b & G_REGIONAL && p->regionals % 2);                             /* GB12, GB13, GB999 */
}

size_t grapheme_next(const char *s, size_t n) {
    uint32_t cp;
    Past past = {0};
    size_t len = (size_t)utf8_decode(s, n, &cp);
    if (len == 0) return 1;
    if ((unsigned char)*s >= 0x20 && (unsigned char)*s < 0x7f && n > 1 && (unsigned char)s[1] < 0x7f) return 1;
    uint32_t before = properties(cp);
    remember(&past, before);
    while (len < n) {
        size_t one = (size_t)utf8_decode(s + len, n - len, &cp);
        uint32_t what = properties(cp);
        if (one == 0 || border(before, what, &past)) break;
        remember(&past, what);
        before = what;
        len += one;
    }
    return len;
}
