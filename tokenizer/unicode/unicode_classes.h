/* tokenizer/unicode/unicode_classes.h - the classes of characters that pre-tokenizers name in their regexes, at Unicode
 * 16.0.0. All characters fall into fewer than 64 kinds such that every class is a union of kinds: whether a character
 * is of a class is one bit. The kind comes from a trie of three stages, blocks of 16 characters in blocks of 32;
 * unicode_classes.c holds it, printed and checked against Oniguruma for every code point by
 * tests/oracle/unicode_classes.py. */
#ifndef UNICODE_CLASSES_H
#define UNICODE_CLASSES_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
    CLASS_NONE, CLASS_ANY,
    CLASS_LETTER, CLASS_NUMBER, CLASS_DECIMAL,     /* \p{L}  \p{N}  \d */
    CLASS_SPACE, CLASS_NOT_SPACE, CLASS_BLANK,     /* \s  \S  ' ' */
    CLASS_LF, CLASS_NOT_LF,                        /* \n  [^\n] */
    CLASS_NEWLINE, CLASS_NEWLINE_SLASH,            /* [\r\n]  [\r\n/] */
    CLASS_LEAD, CLASS_OTHER,                       /* [^\r\n\p{L}\p{N}]  [^\s\p{L}\p{N}] */
    CLASS_LETTER_MARK, CLASS_OTHER_NO_MARK,        /* [\p{L}\p{M}]  [^\s\p{L}\p{M}\p{N}] */
    CLASS_UPPER, CLASS_LOWER,                      /* [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]  [\p{Ll}\p{Lm}\p{Lo}\p{M}] */
    CLASS_UPPER_NO_HAN, CLASS_LOWER_NO_HAN, CLASS_HAN,
    CLASS_PUNCT, CLASS_PUNCT_SYMBOL,               /* \p{P}  [\p{P}\p{S}] */
    CLASS_LEAD_NO_SYMBOL,                          /* [^\r\n\p{L}\p{P}\p{S}] */
    CLASS_ASCII_PUNCT, CLASS_ASCII_LETTER, CLASS_ASCII_DIGIT,
    CLASS_WORD, CLASS_NOT_WORD,                    /* Oniguruma's \w  [^\w\s] */
    CLASS_RUST_WORD, CLASS_RUST_NOT_WORD,          /* the same two of Rust's regex */
    CLASS_PUNCTUATION,                             /* what `tokenizers` calls punctuation, but U+166D and U+111C9 */
    CLASS_END
} UnicodeClass;

enum { UNICODE_OLDER_N = 76 };

extern const uint64_t unicode_class_kinds[CLASS_END];   /* bit k: the kind k is of the class */
extern const uint8_t unicode_ascii_kinds[128];
extern const uint8_t unicode_kind_categories[64];       /* UnicodeCategory of a kind */
extern const uint8_t unicode_kind_top[2176];            /* [cp >> 9]: which 32 of unicode_kind_middle */
extern const uint16_t unicode_kind_middle[];            /* which 16 of unicode_kind_leaf */
extern const uint8_t unicode_kind_leaf[];
extern const uint32_t unicode_older[UNICODE_OLDER_N][3]; /* first, length, category in 14.0.0, where it was another */

/* The kind of cp, which is at most 0x10ffff. */
static inline unsigned unicode_kind(uint32_t cp) {
    size_t block = unicode_kind_middle[(size_t)unicode_kind_top[cp >> 9] * 32 + (cp >> 4 & 31)];
    return unicode_kind_leaf[block * 16 + (cp & 15)];
}

static inline int unicode_is(UnicodeClass c, uint32_t cp) {
    return cp <= 0x10ffff && (unicode_class_kinds[c] >> unicode_kind(cp) & 1);
}

#endif
