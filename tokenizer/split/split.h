/* tokenizer/split/split.h - cutting a text into the pieces that byte-pair encoding works on, before it begins.
 *
 *     SplitStep step = {.behavior = SPLIT_ISOLATED};
 *     if (!split_pattern(&step.pattern, regex, len)) ... refused: an alternative that nobody wrote a rule for
 *     Spans spans = {0};
 *     if (split_apply(&step, text, 0, n, &spans) == 0) ... spans.at[0 .. spans.n-1] ...
 *     spans_free(&spans);
 *
 * Published tokenizers say with a regex where to cut. There are a few dozen of those regexes, made of some hundred
 * alternatives (split_alternatives.c, split_sets.c), and each of those is a loop here; there is no regex engine.
 *
 * Texts are well-formed UTF-8 (anything else is read somehow, never past its end). Work is linear in the text. The
 * references are `tokenizers` 0.23.3 (Oniguruma, Unicode 16.0.0) and, for tiktoken's own spellings, tiktoken 0.14. */
#ifndef SPLIT_H
#define SPLIT_H

#include "split_pattern.h"

#include <stddef.h>

typedef struct {
    size_t begin, end;
} Span;

/* Spans that grow. Zeroed is empty. */
typedef struct {
    Span *at; /* [n], malloc'ed */
    size_t n, cap;
} Spans;

int spans_push(Spans *spans, size_t begin, size_t end); /* 0 or -ENOMEM */
void spans_free(Spans *spans);                          /* accepts a zeroed struct */

/* What becomes of a match: `tokenizers`' SplitDelimiterBehavior. */
typedef enum {
    SPLIT_ISOLATED, SPLIT_REMOVED, SPLIT_MERGED_WITH_PREVIOUS, SPLIT_MERGED_WITH_NEXT, SPLIT_CONTIGUOUS
} SplitBehavior;

typedef struct {
    SplitPattern pattern; /* of no rules: the text literal [literal_len], or, where that is NULL too, nothing is cut */
    SplitBehavior behavior;
    int invert; /* what lies between the matches counts as a match, and the matches as what lies between */
    const char *literal;
    size_t literal_len;
} SplitStep;

/* The pieces that a step makes of s[begin .. end-1], behind what is in out; offsets are into s. 0 or -ENOMEM. */
int split_apply(const SplitStep *step, const char *s, size_t begin, size_t end, Spans *out);
/* n steps, each on the pieces that the one before left, behind what is in out. 0 or -ENOMEM. */
int split_steps(const SplitStep *steps, size_t n, const char *s, size_t begin, size_t end, Spans *out);

/* What the names of a GGUF file's tokenizer.ggml.pre stand for (split_gguf.c). */
enum { SPLIT_GGUF_STEPS = 6 };

typedef struct {
    const char *pattern; /* by a name of split_gguf.c's, or of split_named's, or as its regex is spelled */
    SplitBehavior behavior;
} SplitCut;

typedef struct {
    const char *name;
    SplitCut cuts[SPLIT_GGUF_STEPS]; /* one after another, up to the first without a pattern; none: nothing is cut */
    int ignore_merges; /* a piece that is a token is taken whole, whatever the merges say */
    int add_bos;       /* 1: a BOS stands in front where the file does not say; 2: whatever it says */
    int raw;           /* no byte-level spelling: pieces are UTF-8, a space is U+2581 */
    int nfc;           /* the model's tokenizer.json normalizes to NFC first, which a GGUF file does not say */
} PreTokenizer;

const PreTokenizer *split_gguf(const char *name, size_t len); /* NULL: unknown */
const PreTokenizer *split_gguf_list(size_t i);                /* the i-th, or NULL */
size_t split_gguf_steps(const PreTokenizer *p, SplitStep steps[SPLIT_GGUF_STEPS]); /* how many */
/* 1: a regex of these whose matches leave nothing between them, so that SPLIT_REMOVED with invert, which is how some
 * files spell it, is SPLIT_ISOLATED. */
int split_gguf_whole(const SplitPattern *p);

#endif
