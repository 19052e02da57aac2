/* tokenizer/split/split.c - what becomes of a pattern's matches in a text. */
#include "split.h"

#include "base/base.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int spans_push(Spans *spans, size_t begin, size_t end) {
    if (array_reserve(&spans->at, &spans->cap, spans->n + 1, sizeof *spans->at)) return -ENOMEM;
    spans->at[spans->n++] = (Span){begin, end};
    return 0;
}

void spans_free(Spans *spans) {
    free(spans->at);
    memset(spans, 0, sizeof *spans);
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

/* What a step has made so far: the stretch that may still grow is the last one of out, if there is one behind
 * `first`. */
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
    while (rc == 0 && (step->pattern.n ? split_find(&step->pattern, &t, at, &a, &b)
                       : find_literal(step, &t, at, &a, &b))) {
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
        for (size_t i = 0; i < from.n && rc == 0; i++)
            rc = split_apply(&steps[k], s, from.at[i].begin, from.at[i].end, target);
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
