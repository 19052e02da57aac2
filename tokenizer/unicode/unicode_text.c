/* tokenizer/unicode/unicode_text.c - normalizers on UTF-8: decode, let unicode.c work on the code points, encode. */
#include "unicode_text.h"

#include "base/base.h"
#include "base/utf8.h"
#include "unicode_classes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- ill-formed bytes ---- */

size_t utf8_ill_formed(const char *text, size_t n) {
    const unsigned char *s = (const unsigned char *)text;
    unsigned char low = s[0] == 0xe0 ? 0xa0 : s[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = s[0] == 0xed ? 0x9f : s[0] == 0xf4 ? 0x8f : 0xbf;
    size_t whole = (size_t)utf8_length(s[0]), k = 1;
    if (whole < 2 || n < 2 || s[1] < low || s[1] > high) return 1;
    while (k < n && (s[k] & 0xc0) == 0x80) k++;
    return k;
}

/* The length of what is well-formed from s [n] on. */
static size_t well_formed(const char *s, size_t n) {
    size_t i = 0;
    uint32_t cp;
    while (i < n) {
        int k = (unsigned char)s[i] < 0x80 ? 1 : utf8_decode(s + i, n - i, &cp);
        if (k == 0) break;
        i += (size_t)k;
    }
    return i;
}

int utf8_repair(const char *s, size_t n, char **out, size_t *len) {
    size_t good = well_formed(s, n), need = 0, bytes;
    *out = NULL;
    *len = n;
    if (good == n) return 0;
    /* a byte becomes three at most */
    if (!size_mul(n - good, 3, &bytes) || !size_add(bytes, good, &bytes)) return -ENOMEM;
    char *to = malloc(bytes);
    if (!to) return -ENOMEM;
    for (size_t i = 0;;) {
        memcpy(to + need, s + i, good);
        need += good;
        i += good;
        if (i == n) break;
        need += (size_t)utf8_encode(0xfffd, to + need);
        i += utf8_ill_formed(s + i, n - i);
        good = well_formed(s + i, n - i);
    }
    *out = to;
    *len = need;
    return 0;
}

/* ---- there and back ---- */

static int is_ascii(const char *s, size_t n) {
    unsigned char all = 0;
    for (size_t i = 0; i < n; i++) all |= (unsigned char)s[i];
    return all < 0x80;
}

static int decode(const char *s, size_t n, Points *p) {
    if (points_reserve(p, n)) return -ENOMEM;
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        int k = utf8_decode(s + i, n - i, &cp);
        p->cp[p->n++] = k ? cp : 0xfffd;
        i += k ? (size_t)k : 1;
    }
    return 0;
}

/* p as UTF-8, unless that is s [n] again. */
static int encode(const Points *p, const char *s, size_t n, char **out, size_t *len) {
    size_t bytes = 1;
    char unit[4];
    for (size_t i = 0; i < p->n; i++)
        if (!size_add(bytes, (size_t)utf8_encode(p->cp[i], unit), &bytes)) return -ENOMEM;
    char *to = malloc(bytes);
    size_t at = 0;
    if (!to) return -ENOMEM;
    for (size_t i = 0; i < p->n; i++) at += (size_t)utf8_encode(p->cp[i], to + at);
    if (at == n && memcmp(to, s, n) == 0) {
        free(to);
        return 0;
    }
    *out = to;
    *len = at;
    return 0;
}

/* ---- normalizers ---- */

/* Characters that NFC leaves alone whatever stands beside them of these: most of most texts. */
static int composed(const char *s, size_t n) {
    static const uint32_t ranges[][2] = {{0, 0x2ff}, {0x400, 0x482}, {0x2010, 0x2027}, {0x3001, 0x3029},
                                         {0x3041, 0x3096},
        {0x30a0, 0x30ff}, {0x3400, 0x9fff}, {0xac00, 0xd7a3}, {0xff01, 0xff5e}, {0x1f300, 0x1faff}};
    for (size_t i = 0; i < n;) {
        if ((unsigned char)s[i] < 0x80) {
            i++;
            continue;
        }
        uint32_t cp;
        int k = utf8_decode(s + i, n - i, &cp);
        if (k == 0) return 0;
        size_t r = 0;
        while (r < sizeof ranges / sizeof *ranges && cp > ranges[r][1]) r++;
        if (r == sizeof ranges / sizeof *ranges || cp < ranges[r][0]) return 0;
        i += (size_t)k;
    }
    return 1;
}

int utf8_form(UnicodeForm form, const char *s, size_t n, char **out, size_t *len) {
    Points from = {0}, to = {0};
    *out = NULL;
    *len = n;
    if (is_ascii(s, n) || (form == UNICODE_NFC && composed(s, n))) return 0;
    int rc = decode(s, n, &from);
    if (rc == 0) rc = unicode_form(form, from.cp, from.n, &to);
    if (rc == 0) rc = encode(&to, s, n, out, len);
    points_free(&from);
    points_free(&to);
    return rc;
}

static int lower_points(const Points *from, Points *to) {
    for (size_t i = 0; i < from->n; i++) {
        uint32_t low[2];
        int k = unicode_lower_rust(from->cp[i], low);
        for (int j = 0; j < k; j++)
            if (points_push(to, low[j])) return -ENOMEM;
    }
    return 0;
}

int utf8_lower(const char *s, size_t n, char **out, size_t *len) {
    Points from = {0}, to = {0};
    *out = NULL;
    *len = n;
    int rc = decode(s, n, &from);
    if (rc == 0) rc = lower_points(&from, &to);
    if (rc == 0) rc = encode(&to, s, n, out, len);
    points_free(&from);
    points_free(&to);
    return rc;
}

int utf8_strip_accents(const char *s, size_t n, char **out, size_t *len) {
    Points p = {0};
    size_t kept = 0;
    *out = NULL;
    *len = n;
    if (is_ascii(s, n)) return 0;
    int rc = decode(s, n, &p);
    for (size_t i = 0; rc == 0 && i < p.n; i++)
        if (!unicode_is_accent(p.cp[i])) p.cp[kept++] = p.cp[i];
    p.n = kept;
    if (rc == 0) rc = encode(&p, s, n, out, len);
    points_free(&p);
    return rc;
}

/* BERT's Chinese characters, as `tokenizers` has them: U+2B820 to U+2B91F are missing there, by a slip of the pen. */
static int is_chinese(uint32_t c) {
    return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) || (c >= 0xf900 && c <= 0xfaff)
        || (c >= 0x20000 && c <= 0x2a6df) || (c >= 0x2a700 && c <= 0x2b81f) || (c >= 0x2b920 && c <= 0x2ceaf)
        || (c >= 0x2f800 && c <= 0x2fa1f);
}

static int clean_points(const BertNormalizer *how, const Points *from, Points *to) {
    for (size_t i = 0; i < from->n; i++) {
        uint32_t c = from->cp[i];
        if (how->clean_text) {
            if (unicode_is_bert_control(c)) continue;
            if (unicode_is(CLASS_SPACE, c)) c = ' ';
        }
        int around = how->handle_chinese_chars && is_chinese(c);
        if (around && points_push(to, ' ')) return -ENOMEM;
        if (points_push(to, c)) return -ENOMEM;
        if (around && points_push(to, ' ')) return -ENOMEM;
    }
    return 0;
}

static int strip_bert(const Points *from, Points *to) {
    size_t kept = 0;
    int rc = unicode_form(UNICODE_NFD, from->cp, from->n, to);
    for (size_t i = 0; rc == 0 && i < to->n; i++)
        if (!unicode_is_bert_accent(to->cp[i])) to->cp[kept++] = to->cp[i];
    to->n = kept;
    return rc;
}

int utf8_bert(const BertNormalizer *how, const char *s, size_t n, char **out, size_t *len) {
    Points a = {0}, b = {0};
    *out = NULL;
    *len = n;
    int rc = decode(s, n, &a);
    if (rc == 0) rc = clean_points(how, &a, &b);
    if (rc == 0 && how->strip_accents) {
        rc = strip_bert(&b, &a);
        Points swap = a;
        a = b;
        b = swap;
    }
    if (rc == 0 && how->lowercase) {
        a.n = 0;
        rc = lower_points(&b, &a);
        Points swap = a;
        a = b;
        b = swap;
    }
    if (rc == 0) rc = encode(&b, s, n, out, len);
    points_free(&a);
    points_free(&b);
    return rc;
}
