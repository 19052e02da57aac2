/* tokenizer/unicode/unicode.h - what Unicode says of a character: category, lower case, canonical decomposition and
 * composition.
 *
 *     Points p = {0};
 *     if (unicode_decompose(cp, n, &p)) ...       p is NFD
 *     unicode_compose(&p);                        now it is NFC
 *     points_free(&p);
 *
 * A code point is any number up to 0x10ffff; one above is unassigned and stays as it is. The tables are those of
 * Python's unicodedata (tests/oracle/unicode.py), because the tokenizers that are followed here ask that module. */
#ifndef UNICODE_H
#define UNICODE_H

#include <stddef.h>
#include <stdint.h>

/* Unicode's general categories (UAX 44, table 12), Cn being "not assigned". */
typedef enum {
    CATEGORY_CN, CATEGORY_CC, CATEGORY_CF, CATEGORY_CO, CATEGORY_CS,
    CATEGORY_LL, CATEGORY_LM, CATEGORY_LO, CATEGORY_LT, CATEGORY_LU,
    CATEGORY_MC, CATEGORY_ME, CATEGORY_MN, CATEGORY_ND, CATEGORY_NL, CATEGORY_NO,
    CATEGORY_PC, CATEGORY_PD, CATEGORY_PE, CATEGORY_PF, CATEGORY_PI, CATEGORY_PO, CATEGORY_PS,
    CATEGORY_SC, CATEGORY_SK, CATEGORY_SM, CATEGORY_SO, CATEGORY_ZL, CATEGORY_ZP, CATEGORY_ZS
} UnicodeCategory;

/* Code points that grow. Zeroed is empty. */
typedef struct {
    uint32_t *cp; /* [n], malloc'ed */
    size_t n, cap;
} Points;

int points_reserve(Points *p, size_t more); /* room for more beyond p->n: 0 or -ENOMEM */
int points_push(Points *p, uint32_t cp);    /* 0 or -ENOMEM */
void points_free(Points *p);                /* accepts a zeroed struct */

const char *unicode_version(void); /* "14.0.0" */
UnicodeCategory unicode_category(uint32_t cp);
int unicode_is_punctuation(uint32_t cp);  /* category P* */
int unicode_combining_class(uint32_t cp); /* canonical: 0 for a starter, else 1 .. 254 */

/* The full lower case of cp by itself into out; how many, 1 or 2 (U+0130 alone has 2). What is no capital stays. */
int unicode_lower(uint32_t cp, uint32_t out[2]);
/* The lower case of a whole text behind p: as Python's str.lower, a capital sigma that ends a word becomes U+03C2.
 * 0 or -ENOMEM. */
int unicode_lower_text(const uint32_t *text, size_t n, Points *p);

/* NFD of text [n] behind p: 0 or -ENOMEM. Work is O(n) however many marks stand on one letter. */
int unicode_decompose(const uint32_t *text, size_t n, Points *p);
/* What was decomposed, composed in place: NFD becomes NFC. */
void unicode_compose(Points *p);

/* ---- what the normalizers of `tokenizers` do: old Unicodes, but a new one for lower case ---- */

typedef enum { UNICODE_NFD, UNICODE_NFC, UNICODE_NFKD, UNICODE_NFKC } UnicodeForm;

/* text [n] in that form of Unicode 9.0, in p instead of what was there: 0 or -ENOMEM. O(n). */
int unicode_form(UnicodeForm form, const uint32_t *text, size_t n, Points *p);
int unicode_lower_rust(uint32_t cp, uint32_t out[2]); /* unicode_lower of Unicode 17.0 */
int unicode_is_accent(uint32_t cp);       /* StripAccents takes it out: a mark of Unicode 9.0 */
int unicode_is_bert_accent(uint32_t cp);  /* BertNormalizer's strip_accents does: category Mn of 8.0 */
int unicode_is_bert_control(uint32_t cp); /* BertNormalizer's clean_text does */

#endif
