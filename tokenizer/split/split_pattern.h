/* tokenizer/split/split_pattern.h - a regex as the rules that do what its alternatives do, and the matches it finds. */
#ifndef SPLIT_PATTERN_H
#define SPLIT_PATTERN_H

#include "split_rules.h"

enum { SPLIT_ALTERNATIVES = 24 };

typedef struct {
    const SplitRule *rules[SPLIT_ALTERNATIVES]; /* [n], in the regex's order */
    size_t n;
    SplitSearch search;
} SplitPattern;

/* What regex [len] does, spelled as in tokenizer.json or by tiktoken: 1, or 0 where an alternative is unknown. An
 * alternative is compared byte by byte (only that a backslash with r or n may stand for the character itself). */
int split_pattern(SplitPattern *p, const char *regex, size_t len);
/* Another pre-tokenizer, by its type in tokenizer.json: "ByteLevel", "Digits", "Punctuation", "Whitespace",
 * "WhitespaceSplit". Each matches what the pre-tokenizer of that name calls a match (Whitespace: the words). "ByteLevel
 * Digits" is Digits behind a ByteLevel, which cuts inside characters; and an alternative may have a name. 1, or 0:
 * unknown. */
int split_named(SplitPattern *p, const char *name);
int split_same(const SplitPattern *a, const SplitPattern *b); /* 1 where both are made of the same rules */
const char *split_alternative(size_t i); /* the i-th spelling that is known, or NULL: for tests */

/* The first match that begins at or behind from, never an empty one: 1 and *begin, *end, or 0. from goes forward from
 * call to call. What stands in front of SplitText's begin and behind its end does not exist for the pattern. */
int split_find(const SplitPattern *p, SplitText *t, size_t from, size_t *begin, size_t *end);

#endif
