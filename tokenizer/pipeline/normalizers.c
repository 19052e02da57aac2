/* tokenizer/pipeline/normalizers.c - what tokenizer.json's normalizers do to a text: one function each, from one buffer
 * into the next. */
#include "pipeline.h"

#include "tokenizer/unicode/unicode_classes.h"
#include "tokenizer/unicode/unicode_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void normalize_scratch_free(NormalizeScratch *w) {
    text_release(&w->a);
    text_release(&w->b);
}

/* Google's neural translation: controls go, odd spaces become spaces. */
static int nmt(const char *s, size_t n, Text *out) {
    uint32_t cp;
    int rc = 0;
    for (size_t i = 0, len; i < n && rc == 0; i += len) {
        len = (size_t)utf8_decode(s + i, n - i, &cp);
        if ((cp >= 1 && cp <= 8) || cp == 0xb || (cp >= 0xe && cp <= 0x1f) || cp == 0x7f || cp == 0x8f || cp == 0x9f)
            continue;
        int space = cp == 9 || cp == 0xa || cp == 0xc || cp == 0xd || cp == 0x1680 || (cp >= 0x200b && cp <= 0x200f) ||
            cp == 0x2028 ||
                    cp == 0x2029 || cp == 0x2581 || cp == 0xfeff || cp == 0xfffd;
        rc = space ? text_put(out, " ", 1) : text_put(out, s + i, len);
    }
    return rc;
}

static int strip(const Normalizer *z, const char *s, size_t n, Text *out) {
    size_t from = 0, end = n;
    uint32_t cp;
    for (int len; z->left && from < n && (len = utf8_decode(s + from, n - from, &cp)) && unicode_is(CLASS_SPACE, cp);)
        from += (size_t)len;
    while (z->right && end > from) {
        size_t i = end - 1;
        while (i > from && ((unsigned char)s[i] & 0xc0) == 0x80) i--;
        utf8_decode(s + i, end - i, &cp);
        if (!unicode_is(CLASS_SPACE, cp)) break;
        end = i;
    }
    return text_put(out, s + from, end - from);
}

static int replace(const Normalizer *z, const char *s, size_t n, size_t limit, Text *out) {
    size_t i = 0, begin = 0, end = 0;
    SplitText scan;
    int rc = 0;
    split_begin(&scan, s, 0, n);
    while (rc == 0 && i < n) {
        const char *hit = NULL;
        if (z->pattern.n) hit = split_find(&z->pattern, &scan, i, &begin, &end) ? s + begin : NULL;
        else if (z->from.n) {
            const char *p = s + i;
            while ((p = memchr(p, z->from.p[0], n - (size_t)(p - s))) && n - (size_t)(p - s) >= z->from.n &&
                   memcmp(p, z->from.p, z->from.n) != 0) p++;
            hit = p && n - (size_t)(p - s) >= z->from.n ? p : NULL;
            begin = hit ? (size_t)(hit - s) : 0, end = begin + z->from.n;
        }
        if (!hit) break;
        rc = text_put(out, s + i, begin - i);
        if (rc == 0) rc = out->n > limit ? -EFBIG : text_put(out, z->to.p, z->to.n);
        i = end;
    }
    return rc ? rc : text_put(out, s + i, n - i);
}

/* Those of unicode_text.h: s as it is, or what they made of it. */
static int unicode_step(const Normalizer *z, const char *s, size_t n, Text *out) {
    char *made = NULL;
    int rc = 0;
    switch (z->kind) {
    case NORMALIZE_NFC: rc = utf8_form(UNICODE_NFC, s, n, &made, &n); break;
    case NORMALIZE_NFD: rc = utf8_form(UNICODE_NFD, s, n, &made, &n); break;
    case NORMALIZE_NFKC: rc = utf8_form(UNICODE_NFKC, s, n, &made, &n); break;
    case NORMALIZE_NFKD: rc = utf8_form(UNICODE_NFKD, s, n, &made, &n); break;
    case NORMALIZE_LOWERCASE: rc = utf8_lower(s, n, &made, &n); break;
    case NORMALIZE_STRIP_ACCENTS: rc = utf8_strip_accents(s, n, &made, &n); break;
    default: rc = utf8_bert(&z->bert, s, n, &made, &n);
    }
    if (rc == 0) rc = text_put(out, made ? made : s, n);
    free(made);
    return rc;
}

static int apply(const Normalizer *z, const char *s, size_t n, int first, size_t limit, Text *out) {
    int rc;
    switch (z->kind) {
    case NORMALIZE_NMT: return nmt(s, n, out);
    case NORMALIZE_STRIP: return strip(z, s, n, out);
    case NORMALIZE_REPLACE: return replace(z, s, n, limit, out);
    case NORMALIZE_BYTES: return bytes_as_text(s, n, out);
    case NORMALIZE_PRECOMPILED: return z->map ? charsmap_precompiled(z->map, s, n, out) : text_put(out, s, n);
    case NORMALIZE_PREPEND:
        rc = n && first ? text_put(out, z->to.p, z->to.n) : 0;
        return rc ? rc : text_put(out, s, n);
    default: return unicode_step(z, s, n, out);
    }
}

int pipeline_normalize(const struct Pipeline *p, NormalizeScratch *w, const char *text, size_t n, int first,
                       const char **out, size_t *n_out) {
    *out = text;
    *n_out = n;
    for (size_t i = 0; i < p->n_normalizers; i++) {
        Text tmp = w->a; /* what the last step wrote is in b, and becomes the text */
        w->a = w->b;
        w->b = tmp;
        w->b.n = 0;
        int rc = apply(&p->normalizers[i], *out, *n_out, first, grown_limit(n), &w->b);
        if (rc == 0 && w->b.n > grown_limit(n)) rc = -EFBIG;
        if (rc) return rc;
        *out = w->b.n ? w->b.p : "";
        *n_out = w->b.n;
    }
    return 0;
}
