/* tokenizer/split/split_alternatives.h - what is known of regexes: how an alternative is spelled, and the rule that
 * does it. */
#ifndef SPLIT_ALTERNATIVES_H
#define SPLIT_ALTERNATIVES_H

#include "split_rules.h"

typedef struct {
    const char *spelled[4]; /* ended by NULL; \\r and \\n of it may be the characters themselves in a regex */
    SplitRule rule;
    const char *name;   /* what split_gguf.c calls one that is long; NULL: its spelling */
    const char *only;   /* the only regex that means this by it; NULL: all do */
    int alone;          /* it is a whole regex, for it looks at more than the text behind it */
    SplitSearch search;
} SplitAlternative;

extern const SplitAlternative split_words[], split_sets[]; /* each ended by one without a spelling */

/* Pre-tokenizers that are no regex; rules: up to the first without match. */
typedef struct {
    const char *name;
    SplitRule rules[3];
    SplitSearch search;
} SplitNamed;

extern const SplitNamed split_named_rules[]; /* ended by one without a name */

#endif
