/* tokenizer/split/split_rules.c - the alternatives that regexes of pre-tokenizers consist of, each as a loop.
 *
 * A regex backtracks; these loops know beforehand where it would come to rest. Two facts make that easy: of a run of
 * one class the longest part is always taken, and where an optional prefix leads nowhere the match begins without
 * it. */
#include "split_rules.h"

#include "base/base.h"

#include <string.h>

void split_begin(SplitText *t, const char *s, size_t begin, size_t end) {
    memset(t, 0, sizeof *t);
    t->s = s;
    t->end = end;
    t->space_from = t->space_end = t->digits_from = t->digits_end = begin;
}

static uint64_t kinds_of(UnicodeClass c) { return unicode_class_kinds[c]; }

/* The character at i < t->end; where the next begins. Ill-formed bytes count as characters of no assigned kind. */
static inline size_t char_at(const SplitText *t, size_t i, uint32_t *cp) {
    const unsigned char *s = (const unsigned char *)t->s + i;
    size_t left = t->end - i;
    uint32_t c = s[0];
    *cp = c;
    if (c < 0x80) return i + 1;
    *cp = 0xffff;
    if (c < 0xc0) return i + 1;
    if (c < 0xe0 && left >= 2) {
        *cp = (c & 31) << 6 | (s[1] & 63);
        return i + 2;
    }
    if (c >= 0xe0 && c < 0xf0 && left >= 3) {
        *cp = (c & 15) << 12 | (uint32_t)(s[1] & 63) << 6 | (s[2] & 63);
        return i + 3;
    }
    if (c >= 0xf0 && c < 0xf5 && left >= 4) {
        uint32_t x = (c & 7) << 18 | (uint32_t)(s[1] & 63) << 12 | (uint32_t)(s[2] & 63) << 6 | (s[3] & 63);
        if (x <= 0x10ffff) *cp = x;
        return i + 4;
    }
    return i + 1;
}

/* The bit of the kind of the character at i, 0 at the end of the text. */
static inline uint64_t kind_at(const SplitText *t, size_t i, size_t *next) {
    *next = i;
    if (i >= t->end) return 0;
    unsigned char c = (unsigned char)t->s[i];
    if (c < 0x80) {
        *next = i + 1;
        return (uint64_t)1 << unicode_ascii_kinds[c];
    }
    uint32_t cp;
    *next = char_at(t, i, &cp);
    return (uint64_t)1 << unicode_kind(cp);
}

/* Where the run of characters of these kinds ends that begins at i, after max of them at most. */
static inline size_t run_end(const SplitText *t, size_t i, uint64_t kinds, size_t max, size_t *count) {
    size_t n = 0, next;
    for (; n < max && (kind_at(t, i, &next) & kinds); i = next) n++;
    *count = n;
    return i;
}

static inline size_t all_end(const SplitText *t, size_t i, uint64_t kinds) {
    size_t next;
    for (; kind_at(t, i, &next) & kinds; i = next) {}
    return i;
}

/* Behind the character at i where that is of the class, else i. */
static inline size_t skip_one(const SplitText *t, size_t i, UnicodeClass c) {
    size_t next;
    return kind_at(t, i, &next) & kinds_of(c) ? next : i;
}

size_t rule_run(SplitText *t, const SplitRule *r, size_t i) {
    uint64_t body = kinds_of(r->body);
    size_t min = r->min ? r->min : 1, max = r->max ? r->max : SIZE_MAX, n;
    size_t start = skip_one(t, i, r->prefix), end = run_end(t, start, body, max, &n);
    if (n < min && start != i) end = run_end(t, i, body, max, &n);
    if (n < min) return i;
    if (r->tail) end = run_end(t, end, kinds_of(r->tail), r->tail_max ? r->tail_max : SIZE_MAX, &n);
    return end;
}

size_t rule_led(SplitText *t, const SplitRule *r, size_t i) {
    size_t start = skip_one(t, i, r->prefix);
    if (start == i) return i;
    size_t end = all_end(t, start, kinds_of(r->body));
    return end == start ? i : end;
}

size_t rule_begun(SplitText *t, const SplitRule *r, size_t i) {
    size_t start = skip_one(t, i, r->prefix), first = skip_one(t, start, r->tail);
    if (first == start) {
        first = skip_one(t, i, r->tail);
        if (first == i) return i;
    }
    return all_end(t, first, kinds_of(r->body));
}

size_t rule_phrase(SplitText *t, const SplitRule *r, size_t i) {
    size_t start = skip_one(t, i, r->prefix), end = skip_one(t, start, CLASS_LETTER);
    if (end == start) return i; /* the prefix is no letter: without it there is none either */
    for (;;) {
        end = all_end(t, end, kinds_of(CLASS_LETTER_MARK));
        size_t blank = skip_one(t, end, CLASS_BLANK), letter = skip_one(t, blank, CLASS_LETTER);
        if (blank == end || letter == blank) return end;
        end = letter;
    }
}

static int in_set(const SplitText *t, const SplitSet *set, size_t i, size_t *next) {
    *next = i;
    if (i >= t->end) return 0;
    uint32_t cp;
    *next = char_at(t, i, &cp);
    size_t lo = 0, hi = set->n;
    if (cp < 0x80) { /* the first few ranges: a short walk is faster than a long search */
        while (lo < hi && set->ranges[lo][1] < cp) lo++;
        if (lo < hi && set->ranges[lo][0] <= cp) return !set->negated;
        hi = lo;
    }
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (cp < set->ranges[mid][0]) hi = mid;
        else if (cp > set->ranges[mid][1]) lo = mid + 1;
        else return !set->negated;
    }
    int also = set->also && (kinds_of(set->also) >> unicode_kind(cp) & 1);
    return also != set->negated;
}

static size_t set_end(const SplitText *t, const SplitSet *set, size_t i, size_t max, size_t *count) {
    size_t n = 0, next;
    for (; n < max && in_set(t, set, i, &next); i = next) n++;
    *count = n;
    return i;
}

size_t rule_set(SplitText *t, const SplitRule *r, size_t i) {
    size_t min = r->min ? r->min : 1, max = r->max ? r->max : SIZE_MAX, n;
    size_t start = skip_one(t, i, r->prefix), end = set_end(t, r->set, start, max, &n);
    if (n < min && start != i) end = set_end(t, r->set, i, max, &n);
    return n < min ? i : end;
}

/* Where r may match at the earliest: a pattern of one rule passes by what cannot begin a match without asking each
 * time. */
size_t rule_start(const SplitText *t, const SplitRule *r, size_t i) {
    size_t next;
    uint64_t kind, prefix = kinds_of(r->prefix), begins = prefix | kinds_of(r->body);
    if (r->match == rule_spaces_at_line_end) begins = kinds_of(CLASS_SPACE);
    if (r->match == rule_run || r->match == rule_spaces_at_line_end)
        for (; (kind = kind_at(t, i, &next)) != 0 && !(kind & begins); i = next) {}
    if (r->match == rule_set)
        for (; (kind = kind_at(t, i, &next)) != 0 && !(kind & prefix) && !in_set(t, r->set, i, &next); i = next) {}
    return i;
}

size_t rule_literal(SplitText *t, const SplitRule *r, size_t i) {
    size_t n = strlen(r->literal);
    return t->end - i >= n && memcmp(t->s + i, r->literal, n) == 0 ? i + n : i;
}

/* ---- contractions ---- */

static int letter_at(const SplitText *t, size_t i, int fold) {
    if (i >= t->end) return 0;
    unsigned char c = (unsigned char)t->s[i];
    return fold && c >= 'A' && c <= 'Z' ? c + 32 : c;
}

static size_t contraction(const SplitText *t, size_t i, int fold) {
    if (i >= t->end || t->s[i] != '\'') return i;
    int a = letter_at(t, i + 1, fold), b = letter_at(t, i + 2, fold);
    if (a == 's' || a == 't' || a == 'm' || a == 'd') return i + 2;
    if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l')) return i + 3;
    if (fold && a == 0xc5 && b == 0xbf) return i + 3; /* U+017F, the long s, is an s to both engines */
    return i;
}

size_t rule_contraction(SplitText *t, const SplitRule *r, size_t i) {
    (void)r;
    return contraction(t, i, 0);
}

size_t rule_contraction_fold(SplitText *t, const SplitRule *r, size_t i) {
    (void)r;
    return contraction(t, i, 1);
}

/* ---- words whose capitals stand in front: b*t+ and b+t*, where some kinds are of both classes ---- */

/* b*t+ from i: all of b, then t; where no t follows, b gives back down to its last character that is a t as well. */
static size_t lower_end(const SplitText *t, const SplitRule *r, size_t i) {
    uint64_t upper = kinds_of(r->body), lower = kinds_of(r->tail), kind;
    size_t next, both = i, j = i;
    while ((kind = kind_at(t, j, &next)) & upper) {
        j = next;
        if (kind & lower) both = j;
    }
    return kind & lower ? all_end(t, next, lower) : both;
}

size_t rule_lower(SplitText *t, const SplitRule *r, size_t i) {
    size_t start = skip_one(t, i, r->prefix), end = lower_end(t, r, start);
    return end != start ? end : lower_end(t, r, i);
}

static size_t upper_end(const SplitText *t, const SplitRule *r, size_t i) {
    size_t end = all_end(t, i, kinds_of(r->body));
    return end == i ? i : all_end(t, end, kinds_of(r->tail));
}

size_t rule_upper(SplitText *t, const SplitRule *r, size_t i) {
    size_t start = skip_one(t, i, r->prefix), end = upper_end(t, r, start);
    return end != start ? end : upper_end(t, r, i);
}

size_t rule_lower_fold(SplitText *t, const SplitRule *r, size_t i) {
    size_t end = rule_lower(t, r, i);
    return end == i ? i : contraction(t, end, 1);
}

size_t rule_upper_fold(SplitText *t, const SplitRule *r, size_t i) {
    size_t end = rule_upper(t, r, i);
    return end == i ? i : contraction(t, end, 1);
}

/* ---- white space ---- */

/* Learn the run of white space at i, if it is not known; 1 where there is one. */
static int space_run(SplitText *t, size_t i) {
    if (i >= t->space_from && i < t->space_end) return 1;
    uint64_t space = kinds_of(CLASS_SPACE), newline = kinds_of(CLASS_NEWLINE), kind;
    size_t next, j = i;
    t->space_from = i;
    t->newline_end = 0;
    t->linefeed = SIZE_MAX;
    while ((kind = kind_at(t, j, &next)) & space) {
        t->space_last = j;
        if (kind & newline) t->newline_end = next;
        if (t->s[j] == '\n') t->linefeed = j;
        j = next;
    }
    t->space_end = j;
    return j > i;
}

size_t rule_newlines(SplitText *t, const SplitRule *r, size_t i) {
    (void)r;
    return space_run(t, i) && t->newline_end > i ? t->newline_end : i;
}

size_t rule_spaces_but_last(SplitText *t, const SplitRule *r, size_t i) {
    (void)r;
    if (!space_run(t, i)) return i;
    return t->space_end == t->end ? t->end : t->space_last;
}

size_t rule_spaces_at_end(SplitText *t, const SplitRule *r, size_t i) {
    (void)r;
    return space_run(t, i) && t->space_end == t->end ? t->end : i;
}

size_t rule_spaces_at_line_end(SplitText *t, const SplitRule *r, size_t i) {
    (void)r;
    if (!space_run(t, i)) return i;
    if (t->space_end == t->end) return t->end;
    return t->linefeed != SIZE_MAX && t->linefeed > i ? t->linefeed : i;
}

/* No run is long to the few steps back that this takes: the counts are at most 512. */
size_t rule_spaces_count(SplitText *t, const SplitRule *r, size_t i) {
    if (!space_run(t, i)) return i;
    for (size_t count = r->max; count >= r->min; count--) {
        size_t n, end = run_end(t, i, kinds_of(CLASS_SPACE), count, &n);
        if (n == count && (end == t->end || end < t->space_end)) return end;
    }
    return i;
}

/* ---- digits ---- */

/* How many characters of r->body stand from i to the end of their run. i goes forward, so the count is kept and goes
 * down. */
static size_t digits_left(SplitText *t, const SplitRule *r, size_t i) {
    uint64_t digits = kinds_of(r->body);
    size_t next;
    if (!(kind_at(t, i, &next) & digits)) return 0;
    if (i < t->digits_from || i >= t->digits_end) {
        t->digits_from = i;
        t->digits_end = run_end(t, i, digits, SIZE_MAX, &t->digits_left);
    }
    for (; t->digits_from < i; t->digits_from = next, t->digits_left--) kind_at(t, t->digits_from, &next);
    return t->digits_left;
}

static size_t digits_end(const SplitText *t, const SplitRule *r, size_t i, size_t count) {
    size_t n;
    return run_end(t, i, kinds_of(r->body), count, &n);
}

size_t rule_groups(SplitText *t, const SplitRule *r, size_t i) {
    size_t left = digits_left(t, r, i), next;
    if (!left || (r->tail && (kind_at(t, t->digits_end, &next) & kinds_of(r->tail)))) return i;
    return digits_end(t, r, i, left % r->max ? left % r->max : r->max);
}

size_t rule_group_rest(SplitText *t, const SplitRule *r, size_t i) {
    size_t left = digits_left(t, r, i);
    return left > r->max && left % r->max && t->digits_end == t->end ? digits_end(t, r, i, left % r->max) : i;
}

/* (?=(\d{3})+(?!\d)) matches nothing, but cuts: a piece goes from one such place to the next. */
size_t rule_group_cuts(SplitText *t, const SplitRule *r, size_t i) {
    size_t left = digits_left(t, r, i), next;
    if (!left || left % r->max) return i;
    i = digits_end(t, r, i, r->max);
    if (left > r->max) return i;
    for (; i < t->end; i = next) {
        left = digits_left(t, r, i);
        if (left >= r->max) return digits_end(t, r, i, left % r->max);
        if (left) next = t->digits_end;
        else kind_at(t, i, &next);
    }
    return i;
}

/* Behind a ByteLevel, Digits sees each byte as a character: bytes b2, b3, b9 and bc to be are then two, three, one and
 * three fractions, so that a Chinese character may be cut inside. Falcon was trained so. */
size_t rule_byte_digit(SplitText *t, const SplitRule *r, size_t i) {
    unsigned char c = (unsigned char)t->s[i];
    (void)r;
    return (c >= '0' && c <= '9') || c == 0xb2 || c == 0xb3 || c == 0xb9 || (c >= 0xbc && c <= 0xbe) ? i + 1 : i;
}
