/* tokenizer/split/split.c - a pattern laid over a text, and what becomes of its matches. */
#include "split.h"

#include "split_rules.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int spans_push(Spans *spans, size_t begin, size_t end) {
    if (spans->n == spans->cap) {
        if (spans->cap > SIZE_MAX / 2 / sizeof *spans->at) return -ENOMEM;
        size_t cap = spans->cap ? spans->cap * 2 : 64;
        Span *at = realloc(spans->at, cap * sizeof *at);
        if (!at) return -ENOMEM;
        spans->at = at;
        spans->cap = cap;
    }
    spans->at[spans->n++] = (Span){begin, end};
    return 0;
}

void spans_free(Spans *spans) {
    free(spans->at);
    memset(spans, 0, sizeof *spans);
}

void split_begin(SplitText *t, const char *s, size_t begin, size_t end) {
    memset(t, 0, sizeof *t);
    t->s = s;
    t->end = end;
    t->space_from = t->space_end = t->digits_from = t->digits_end = begin;
}

/* ---- which patterns there are ---- */

const SplitPattern *split_list(size_t i) {
    size_t n = 0;
    for (const SplitPattern *p = split_words; p->rules; p++)
        if (n++ == i) return p;
    for (const SplitPattern *p = split_sets; p->rules; p++)
        if (n++ == i) return p;
    return NULL;
}

const char *split_name(const SplitPattern *p) { return p->name; }

const char *split_regex(const SplitPattern *p, size_t j) {
    if (!p->regexes) return NULL;
    for (size_t k = 0; k <= j; k++)
        if (!p->regexes[k]) return NULL;
    return p->regexes[j];
}

/* Is regex [len] spelled like known, where \\r and \\n are known's and may be the characters themselves in regex? */
static int same_spelling(const char *regex, size_t len, const char *known) {
    size_t i = 0;
    for (; *known; known++, i++) {
        if (i == len) return 0;
        if (regex[i] == *known) continue;
        if (*known != '\\' || !((known[1] == 'r' && regex[i] == '\r') || (known[1] == 'n' && regex[i] == '\n'))) return 0;
        known++;
    }
    return i == len;
}

const SplitPattern *split_pattern(const char *regex, size_t len) {
    const SplitPattern *p;
    for (size_t i = 0; (p = split_list(i)) != NULL; i++)
        for (size_t j = 0; p->regexes && p->regexes[j]; j++)
            if (same_spelling(regex, len, p->regexes[j])) return p;
    return NULL;
}

const SplitPattern *split_named(const char *name) {
    if (strcmp(name, "ByteLevel") == 0) return split_words; /* GPT-2's regex is the first */
    for (const SplitPattern *p = split_sets; p->rules; p++)
        if (!p->regexes && strcmp(p->name, name) == 0) return p;
    return NULL;
}

/* ---- scanning ---- */

/* Where the character at i ends, as far as its first byte says. */
static size_t next_char(const SplitText *t, size_t i) {
    unsigned char c = (unsigned char)t->s[i];
    size_t n = c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    return n < t->end - i ? i + n : t->end;
}

int split_find(const SplitPattern *p, SplitText *t, size_t from, size_t *begin, size_t *end) {
    int one = p->search == SPLIT_CHARACTERS && !p->rules[1].match;
    for (size_t i = from; i < t->end; i = p->search == SPLIT_BYTES ? i + 1 : next_char(t, i)) {
        if (one && (i = rule_start(t, p->rules, i)) >= t->end) break;
        for (const SplitRule *r = p->rules; r->match; r++) {
            size_t j = r->match(t, r, i);
            if (j == i) continue;
            *begin = i;
            *end = j;
            return 1;
        }
        if (p->search == SPLIT_ANCHORED) break;
    }
    return 0;
}

/* The next place where the literal stands. */
static int find_literal(const SplitStep *step, SplitText *t, size_t from, size_t *begin, size_t *end) {
    size_t n = step->literal_len;
    if (!step->literal || n == 0) return 0;
    while (t->end - from >= n) {
        const char *at = memchr(t->s + from, step->literal[0], t->end - from - n + 1);
        if (!at) return 0;
        from = (size_t)(at - t->s);
        if (memcmp(at, step->literal, n) == 0) {
            *begin = from;
            *end = from + n;
            return 1;
        }
        from++;
    }
    return 0;
}

/* What a step has made so far: the stretch that may still grow is the last one of out, if there is one behind `first`. */
typedef struct {
    const SplitStep *step;
    Spans *out;
    size_t first;            /* out's length when the step began */
    int previous;            /* the last stretch was a match */
    size_t held, held_end;   /* SPLIT_MERGED_WITH_NEXT: a match that waits for what follows */
    int holds;
} Maker;

/* One stretch, a match or what lies between two. The rules are those of `tokenizers`' NormalizedString::split, where of
 * several matches in a row only the one beside other text is merged with it. */
static int make(Maker *m, size_t begin, size_t end, int match) {
    Spans *out = m->out;
    SplitBehavior how = m->step->behavior;
    int was = m->previous, rc = 0;
    if (begin == end) return 0;
    match ^= m->step->invert != 0;
    m->previous = match;
    if (how == SPLIT_REMOVED) return match ? 0 : spans_push(out, begin, end);
    if (how == SPLIT_CONTIGUOUS && match == was && out->n > m->first) {
        out->at[out->n - 1].end = end;
        return 0;
    }
    if (how == SPLIT_MERGED_WITH_PREVIOUS && match && !was && out->n > m->first) {
        out->at[out->n - 1].end = end;
        return 0;
    }
    if (how == SPLIT_MERGED_WITH_NEXT) {
        if (m->holds && match) rc = spans_push(out, m->held, m->held_end);
        else if (m->holds) begin = m->held;
        m->holds = match;
        m->held = begin;
        m->held_end = end;
        if (match || rc) return rc;
    }
    return spans_push(out, begin, end);
}

int split_apply(const SplitStep *step, const char *s, size_t begin, size_t end, Spans *out) {
    SplitText t;
    Maker m = {.step = step, .out = out, .first = out->n};
    size_t at = begin, a, b;
    int rc = 0;
    split_begin(&t, s, begin, end);
    while (rc == 0 && (step->pattern ? split_find(step->pattern, &t, at, &a, &b) : find_literal(step, &t, at, &a, &b))) {
        rc = make(&m, at, a, 0);
        if (rc == 0) rc = make(&m, a, b, 1);
        at = b;
    }
    if (rc == 0) rc = make(&m, at, end, 0);
    if (rc == 0 && m.holds) rc = spans_push(out, m.held, m.held_end);
    return rc;
}

int split_steps(const SplitStep *steps, size_t n, const char *s, size_t begin, size_t end, Spans *out) {
    if (n == 0) return begin == end ? 0 : spans_push(out, begin, end);
    if (n == 1) return split_apply(steps, s, begin, end, out);
    Spans from = {0}, to = {0};
    int rc = split_apply(steps, s, begin, end, &from);
    for (size_t k = 1; k < n && rc == 0; k++) {
        Spans *target = k + 1 == n ? out : &to;
        for (size_t i = 0; i < from.n && rc == 0; i++) rc = split_apply(&steps[k], s, from.at[i].begin, from.at[i].end, target);
        from.n = 0;
        if (target == &to) {
            Spans swap = from;
            from = to;
            to = swap;
        }
    }
    spans_free(&from);
    spans_free(&to);
    return rc;
}
