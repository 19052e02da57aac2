/* tokenizer/split/split.h - cutting a text into the pieces that byte-pair encoding works on, before it begins.
 *
 *     SplitStep step = {.pattern = split_pattern(regex, len), .behavior = SPLIT_ISOLATED};
 *     if (!step.pattern) ... refused: a regex that nobody wrote a scanner for
 *     Spans spans = {0};
 *     if (split_apply(&step, text, 0, n, &spans) == 0) ... spans.at[0 .. spans.n-1] ...
 *     spans_free(&spans);
 *
 * Published tokenizers say with a regex where to cut. There are a few dozen of those regexes, so each is a scanner here,
 * written as a row of rules (split_patterns.c); there is no regex engine. A regex is known by its spelling.
 *
 * Texts are well-formed UTF-8 (anything else is read somehow, never past its end). Work is linear in the text. The
 * references are `tokenizers` 0.23.3 (Oniguruma, Unicode 16.0.0) and, for tiktoken's own spellings, tiktoken 0.14. */
#ifndef SPLIT_H
#define SPLIT_H

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

typedef struct SplitPattern SplitPattern;

void split_begin(SplitText *t, const char *s, size_t begin, size_t end);
/* The first match that begins at or behind from, never an empty one: 1 and *begin, *end, or 0. from goes forward from call to
 * call. What stands in front of SplitText's begin and behind its end does not exist for the pattern. */
int split_find(const SplitPattern *p, SplitText *t, size_t from, size_t *begin, size_t *end);

/* The scanner of a regex as tokenizer.json or tiktoken spells it, compared byte by byte (only that a backslash with r or n
 * may stand for the character itself). NULL: unknown. */
const SplitPattern *split_pattern(const char *regex, size_t len);
/* The scanner of another pre-tokenizer, by its type in tokenizer.json: "ByteLevel", "Digits", "Punctuation", "Whitespace",
 * "WhitespaceSplit". Each matches what the pre-tokenizer of that name calls a match (Whitespace: the words). "ByteLevel Digits"
 * is Digits behind a ByteLevel, which cuts inside characters. NULL: unknown. */
const SplitPattern *split_named(const char *name);
const char *split_name(const SplitPattern *p); /* "llama3": for messages */
/* All patterns, for tests: the i-th or NULL; and the j-th spelling of its regex, or NULL. */
const SplitPattern *split_list(size_t i);
const char *split_regex(const SplitPattern *p, size_t j);

/* What becomes of a match: `tokenizers`' SplitDelimiterBehavior. */
typedef enum {
    SPLIT_ISOLATED, SPLIT_REMOVED, SPLIT_MERGED_WITH_PREVIOUS, SPLIT_MERGED_WITH_NEXT, SPLIT_CONTIGUOUS
} SplitBehavior;

typedef struct {
    const SplitPattern *pattern; /* NULL: the text literal [literal_len], or, where that is NULL too, nothing is cut */
    SplitBehavior behavior;
    int invert;                  /* what lies between the matches counts as a match, and the matches as what lies between */
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
    const char *pattern; /* its split_name */
    SplitBehavior behavior;
} SplitCut;

typedef struct {
    const char *name;
    SplitCut cuts[SPLIT_GGUF_STEPS]; /* one after another, up to the first without a pattern; none: nothing is cut */
    int ignore_merges; /* a piece that is a token is taken whole, whatever the merges say */
    int add_bos;       /* where the file does not say: a BOS stands in front */
    int raw;           /* no byte-level spelling: pieces are UTF-8, a space is U+2581 */
    int nfc;           /* the model's tokenizer.json normalizes to NFC first, which a GGUF file does not say */
} PreTokenizer;

const PreTokenizer *split_gguf(const char *name, size_t len); /* NULL: unknown */
const PreTokenizer *split_gguf_list(size_t i);                /* the i-th, or NULL */
size_t split_gguf_steps(const PreTokenizer *p, SplitStep steps[SPLIT_GGUF_STEPS]); /* how many */

#endif
