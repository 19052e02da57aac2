/* tokenizer/wordpiece/basic.c - BERT's BasicTokenizer: what becomes of a text before WordPiece sees its words.
 *
 *   1. characters that say nothing go: U+0000, U+FFFD, controls, formats, unassigned ones
 *   2. each Chinese character gets a space on either side
 *   3. NFC
 *   4. cut at spaces; each word lower-cased, taken apart (NFD), its accents (Mn) dropped
 *   5. each mark of punctuation is a word of its own
 *
 * As transformers' slow tokenizers do it: they lower-case each character by itself before all this, so nothing is left
 * to lower in step 4; and where accents are dropped, NFC before NFD changes nothing. So either NFC is done here or NFD.
 *
 * bert4keras does it in another order: lower-casing (a whole text's: a sigma at a word's end is a final one), NFD and
 * dropping accents first, then jieba, then spaces around Chinese characters and punctuation; and only controls and
 * formats go. */
#include "basic.h"

#include <errno.h>

int basic_is_chinese(uint32_t c) {
    if (c >= 0x4e00 && c <= 0x9fff) return 1;
    return (c >= 0x3400 && c <= 0x4dbf) || (c >= 0xf900 && c <= 0xfaff) || (c >= 0x20000 && c <= 0x2a6df) ||
           (c >= 0x2a700 && c <= 0x2ceaf) || (c >= 0x2f800 && c <= 0x2fa1f);
}

/* All of ASCII that is neither letter, digit, space nor control counts, also "$+<=>^`|~", which Unicode calls
 * symbols. */
static int is_punctuation(uint32_t c) {
    if (c < 0x80) return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
    return unicode_is_punctuation(c);
}

static int is_space(uint32_t c) {
    if (c < 0x80) return c == ' ' || c == '\t' || c == '\r'; /* a newline ends the text */
    return unicode_category(c) == CATEGORY_ZS;
}

/* Characters that say nothing. Of the categories C*, bert4keras keeps the unassigned and the private ones. */
static int is_nothing(const BasicRules *r, uint32_t c) {
    if (c == 0 || c == 0xfffd) return 1;
    UnicodeCategory k = unicode_category(c);
    return k == CATEGORY_CC || k == CATEGORY_CF ||
        (!r->keras && (k == CATEGORY_CN || k == CATEGORY_CO || k == CATEGORY_CS));
}

static void drop_accents(Points *p) {
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        if (p->cp[i] < 0x300 || unicode_category(p->cp[i]) != CATEGORY_MN) p->cp[n++] = p->cp[i];
    p->n = n;
}

int basic_before(const BasicRules *r, const uint32_t *text, size_t n, Points *tmp, Points *out) {
    int rc = 0;
    if (r->lower && r->keras) {
        tmp->n = out->n = 0;
        rc = unicode_lower_text(text, n, tmp);
        if (rc == 0) rc = unicode_decompose(tmp->cp, tmp->n, out);
        drop_accents(out);
        return rc;
    }
    if (points_reserve(out, n)) return -ENOMEM;
    for (size_t i = 0; i < n && rc == 0; i++) {
        uint32_t low[2] = {text[i], 0};
        int k = r->lower ? unicode_lower(text[i], low) : 1;
        for (int j = 0; j < k && rc == 0; j++) rc = points_push(out, low[j]);
    }
    return rc;
}

static int push_alone(Points *p, uint32_t c) {
    return points_push(p, ' ') || points_push(p, c) || points_push(p, ' ') ? -ENOMEM : 0;
}

int basic_clean(const BasicRules *r, const uint32_t *text, size_t n, Points *tmp, Points *out) {
    Points *to = r->keras ? out : tmp;
    int rc = 0;
    tmp->n = out->n = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        uint32_t c = text[i];
        int alone = r->chinese && basic_is_chinese(c);
        if (is_space(c)) rc = points_push(to, ' ');
        else if (is_nothing(r, c)) continue; /* also a Chinese character not assigned yet, but for bert4keras */
        else rc = alone ? push_alone(to, c) : points_push(to, c);
    }
    if (rc || r->keras) return rc;
    rc = unicode_decompose(tmp->cp, tmp->n, out);
    if (r->strip) drop_accents(out);
    else unicode_compose(out);
    return rc;
}

/* What Python's str.split takes for a space, of the characters that cleaning has left. */
static int splits(uint32_t c) { return c == ' ' || c == 0x2028 || c == 0x2029; }

size_t basic_stretch(const uint32_t *text, size_t n, size_t *i) {
    while (*i < n && splits(text[*i])) ++*i;
    size_t end = *i;
    while (end < n && !splits(text[end])) end++;
    return end - *i;
}

size_t basic_word(const uint32_t *stretch, size_t n) {
    size_t len = 1;
    if (is_punctuation(stretch[0])) return 1;
    while (len < n && !is_punctuation(stretch[len])) len++;
    return len;
}
