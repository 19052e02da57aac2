/* tokenizer/split/split_rules.h - the loops that do what an alternative of a regex does. Between split*.c only. */
#ifndef SPLIT_RULES_H
#define SPLIT_RULES_H

#include "tokenizer/unicode/unicode_classes.h"

#include <stddef.h>

/* A text that is scanned from front to back; split_begin fills it. */
typedef struct {
    const char *s;
    size_t end;
    /* what is known of the run of white space that was met last: nobody walks along it twice */
    size_t space_from, space_end; /* from here to there all is white space */
    size_t space_last;            /* where its last character begins */
    size_t newline_end;           /* behind its last \r or \n; 0: it has none */
    size_t linefeed;              /* where its last \n stands; SIZE_MAX: it has none */
    /* the same of the run of digits that was met last */
    size_t digits_from, digits_end, digits_left;
} SplitText;

void split_begin(SplitText *t, const char *s, size_t begin, size_t end);

/* A class that no union of kinds is: a range after the other, sorted, and the characters of one class besides. */
typedef struct {
    const uint32_t (*ranges)[2]; /* first, last */
    size_t n;
    UnicodeClass also;
    int negated;
} SplitSet;

/* One alternative. match says where the longest match that begins at i ends as the regex would have it, or i: none. */
typedef struct SplitRule SplitRule;
struct SplitRule {
    size_t (*match)(SplitText *t, const SplitRule *r, size_t i);
    UnicodeClass prefix, body, tail; /* CLASS_NONE: it has none */
    size_t min, max;                 /* of body; 0: min is 1, there is no max */
    size_t tail_max;                 /* 0: there is no max */
    const SplitSet *set;
    const char *literal;
};

/* Where a match may begin: at a character; where the one before ended (the first, at the beginning); at a byte. */
typedef enum { SPLIT_CHARACTERS, SPLIT_ANCHORED, SPLIT_BYTES } SplitSearch;

size_t rule_start(const SplitText *t, const SplitRule *r, size_t i); /* no match of r begins between i and there */

/* The regex each stands for; p, b, t: prefix, body, tail. */
size_t rule_run(SplitText *t, const SplitRule *r, size_t i);              /* p?b{min,max}t* */
size_t rule_led(SplitText *t, const SplitRule *r, size_t i);              /* pb+ */
size_t rule_begun(SplitText *t, const SplitRule *r, size_t i);            /* p?tb*: t is how it begins */
size_t rule_phrase(SplitText *t, const SplitRule *r, size_t i);           /* p?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+ */
size_t rule_set(SplitText *t, const SplitRule *r, size_t i);              /* p?[set]{min,max} */
size_t rule_literal(SplitText *t, const SplitRule *r, size_t i);
size_t rule_contraction(SplitText *t, const SplitRule *r, size_t i);      /* 's|'t|'re|'ve|'m|'ll|'d */
size_t rule_contraction_fold(SplitText *t, const SplitRule *r, size_t i); /* (?i:..) of that */
/* p?b*t+, and .._fold: (?i:'s|..)? behind it */
size_t rule_lower(SplitText *t, const SplitRule *r, size_t i);
size_t rule_lower_fold(SplitText *t, const SplitRule *r, size_t i);
size_t rule_upper(SplitText *t, const SplitRule *r, size_t i);            /* p?b+t* */
size_t rule_upper_fold(SplitText *t, const SplitRule *r, size_t i);
size_t rule_newlines(SplitText *t, const SplitRule *r, size_t i);         /* \s*[\r\n]+, which is \s*[\r\n] too */
size_t rule_spaces_but_last(SplitText *t, const SplitRule *r, size_t i);  /* \s+(?!\S) */
size_t rule_spaces_at_end(SplitText *t, const SplitRule *r, size_t i);    /* \s++$ */
size_t rule_spaces_at_line_end(SplitText *t, const SplitRule *r, size_t i); /* \s+$ with Oniguruma's $ */
size_t rule_spaces_count(SplitText *t, const SplitRule *r, size_t i);     /* \s{min,max}(?!\S) */
/* digits b, from the right in groups of max; only those of a run behind which no t stands */
size_t rule_groups(SplitText *t, const SplitRule *r, size_t i);           /* \d{1,3}(?=(?:\d{3})*\b) */
size_t rule_group_rest(SplitText *t, const SplitRule *r, size_t i);       /* \d{1,2}(?=\d{3}+\z) */
size_t rule_group_cuts(SplitText *t, const SplitRule *r, size_t i);       /* (?=(\d{3})+(?!\d)) */
size_t rule_byte_digit(SplitText *t, const SplitRule *r, size_t i);       /* a byte that GPT-2 spells as a number */

#endif
