/* tokenizer/split/split_pattern.c - a regex is cut at the | between its alternatives, and each of them is looked up. An
 * alternative may have a | inside; but a known one is whole, so what stands behind it is the regex's own. */
#include "split_pattern.h"

#include "split_alternatives.h"

#include <string.h>

/* The length of what regex [len] begins with, where that is spelled like known; else 0. */
static size_t spelled_length(const char *regex, size_t len, const char *known) {
    size_t i = 0;
    for (; *known; known++, i++) {
        if (i == len) return 0;
        if (regex[i] == *known) continue;
        if (*known != '\\' || !((known[1] == 'r' && regex[i] == '\r') || (known[1] == 'n' && regex[i] == '\n')))
            return 0;
        known++;
    }
    return i;
}

static const SplitAlternative *const tables[] = {split_words, split_sets};

/* The alternative that regex [len] begins with, behind which it ends or a | stands; NULL: none is known. */
static const SplitAlternative *first_alternative(const char *regex, size_t len, size_t *used) {
    const SplitAlternative *best = NULL;
    *used = 0;
    for (int k = 0; k < 2; k++)
        for (const SplitAlternative *a = tables[k]; a->spelled[0]; a++)
            for (size_t j = 0; j < 4 && a->spelled[j]; j++) {
                size_t n = spelled_length(regex, len, a->spelled[j]);
                if (n <= *used || (n < len && regex[n] != '|')) continue;
                best = a;
                *used = n;
            }
    return best;
}

static int spelled(const char *regex, size_t len, const char *known) {
    return strlen(known) == len && memcmp(regex, known, len) == 0;
}

/* Behind \s+(?!\S), where white space has one character left, \s and \s+ are the same, and in front of it \s++$ takes
 * nothing that it would not: said one way, regexes that do the same are the same. */
static void add_rule(SplitPattern *p, const SplitRule *r) {
    static const SplitRule spaces = {.match = rule_run, .body = CLASS_SPACE};
    const SplitRule *last = p->n ? p->rules[p->n - 1] : NULL;
    int run = r->match == rule_run && r->body == CLASS_SPACE && !r->prefix && !r->tail && !r->min && r->max <= 1;
    if (last && last->match == rule_spaces_at_end && r->match == rule_spaces_but_last) p->n--;
    p->rules[p->n++] = run && last && last->match == rule_spaces_but_last ? &spaces : r;
}

static int read_alternatives(SplitPattern *p, const char *regex, size_t len) {
    *p = (SplitPattern){.n = 0};
    for (size_t at = 0, used; p->n < SPLIT_ALTERNATIVES; at += used + 1) {
        const SplitAlternative *a = at < len ? first_alternative(regex + at, len - at, &used) : NULL;
        if (!a || (a->alone && used < len) || (a->only && !spelled(regex, len, a->only))) return 0;
        add_rule(p, &a->rule);
        p->search = a->search;
        if (at + used == len) return 1;
    }
    return 0;
}

/* A pair of parentheses around all of it changes nothing. */
int split_pattern(SplitPattern *p, const char *regex, size_t len) {
    size_t open = len > 3 && memcmp(regex, "(?:", 3) == 0 ? 3 : 1;
    if (read_alternatives(p, regex, len)) return 1;
    if (len > open + 1 && *regex == '(' && regex[len - 1] == ')' && read_alternatives(p, regex + open, len - open - 1))
        return 1;
    *p = (SplitPattern){.n = 0};
    return 0;
}

int split_named(SplitPattern *p, const char *name) {
    static const char gpt2[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
    if (strcmp(name, "ByteLevel") == 0) return split_pattern(p, gpt2, strlen(gpt2));
    *p = (SplitPattern){.n = 0};
    for (const SplitNamed *s = split_named_rules; s->name; s++)
        if (strcmp(s->name, name) == 0) {
            for (; s->rules[p->n].match; p->n++) p->rules[p->n] = &s->rules[p->n];
            p->search = s->search;
            return 1;
        }
    for (int k = 0; k < 2; k++)
        for (const SplitAlternative *a = tables[k]; a->spelled[0]; a++)
            if (a->name && strcmp(a->name, name) == 0)
                return read_alternatives(p, a->spelled[0], strlen(a->spelled[0]));
    return 0;
}

int split_same(const SplitPattern *a, const SplitPattern *b) {
    for (size_t i = 0; a->n == b->n && i < a->n; i++)
        if (a->rules[i] != b->rules[i]) return 0;
    return a->n == b->n && a->search == b->search;
}

const char *split_alternative(size_t i) {
    for (int k = 0; k < 2; k++)
        for (const SplitAlternative *a = tables[k]; a->spelled[0]; a++)
            for (size_t j = 0; j < 4 && a->spelled[j]; j++)
                if (i-- == 0) return a->spelled[j];
    return NULL;
}

/* Where the character at i ends, as far as its first byte says. */
static size_t next_char(const SplitText *t, size_t i) {
    unsigned char c = (unsigned char)t->s[i];
    size_t n = c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    return n < t->end - i ? i + n : t->end;
}

int split_find(const SplitPattern *p, SplitText *t, size_t from, size_t *begin, size_t *end) {
    int one = p->search == SPLIT_CHARACTERS && p->n == 1;
    for (size_t i = from; i < t->end; i = p->search == SPLIT_BYTES ? i + 1 : next_char(t, i)) {
        if (one && (i = rule_start(t, p->rules[0], i)) >= t->end) break;
        for (size_t k = 0; k < p->n; k++) {
            size_t j = p->rules[k]->match(t, p->rules[k], i);
            if (j == i) continue;
            *begin = i;
            *end = j;
            return 1;
        }
        if (p->search == SPLIT_ANCHORED) break;
    }
    return 0;
}
