/* tokenizer/unicode/unicode.c - walks through the tables of unicode_tables.h, which tests/oracle/unicode.py prints
 * (categories come from unicode_classes.h, corrected where 14.0.0 had another one):
 *
 *   class_runs       first << 15 | length << 7 | place in class_values, of characters whose combining class is not 0
 *   single_runs      {first, length, place in single_values}: characters whose decomposition is one other character
 *   pairs            {character, first half, second half}, sorted
 *   composable       places in pairs, sorted by the two halves, of those pairs that composition joins again
 *   lower_runs       {first, last, step, difference}: capitals, and how far behind them their small letter is
 *   cased_others, ignorable_others   Unicode's Cased ({first, last}) and Case_Ignorable where categories do not say
 *   them
 *
 * and, where `tokenizers` does otherwise, through those of unicode_forms.h (tests/oracle/unicode_forms.py):
 *
 *   newer_marks       {first, last}: marks that Unicode 9.0 did not have; bert_newer_marks: of category Mn, in 8.0
 *   bert_controls     {first, last}: what BertNormalizer takes out of a text
 *   compat_runs       {first, how many, length of each, place in compat_pool}: full compatibility decompositions
 *   newer_lower_runs  as lower_runs: capitals that came after 14.0.0
 *
 * Normalization is the algorithm of UAX 15; Hangul syllables are computed (The Unicode Standard, 3.12). */
#include "unicode.h"

#include "base/base.h"
#include "unicode_classes.h"
#include "tokenizer/tables/unicode_forms.h"
#include "tokenizer/tables/unicode_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { HANGUL = 0xac00, LEAD = 0x1100, VOWEL = 0x1161, TRAIL = 0x11a7 };
enum { LEAD_N = 19, VOWEL_N = 21, TRAIL_N = 28, HANGUL_N = LEAD_N * VOWEL_N * TRAIL_N };
enum { MAX_DECOMPOSED = 4, MAX_COMPATIBLE = 18, SHORT_RUN = 16 };

enum {
    N_CLASS_RUNS = sizeof class_runs / sizeof *class_runs,
    N_SINGLE_RUNS = sizeof single_runs / sizeof *single_runs,
    N_PAIRS = sizeof pairs / sizeof *pairs,
    N_COMPOSABLE = sizeof composable / sizeof *composable,
    N_LOWER_RUNS = sizeof lower_runs / sizeof *lower_runs,
    N_NEWER_LOWER_RUNS = sizeof newer_lower_runs / sizeof *newer_lower_runs,
    N_NEWER_MARKS = sizeof newer_marks / sizeof *newer_marks,
    N_BERT_NEWER_MARKS = sizeof bert_newer_marks / sizeof *bert_newer_marks,
    N_BERT_CONTROLS = sizeof bert_controls / sizeof *bert_controls,
    N_COMPAT_RUNS = sizeof compat_runs / sizeof *compat_runs,
    N_CASED_OTHERS = sizeof cased_others / sizeof *cased_others,
    N_IGNORABLE_OTHERS = sizeof ignorable_others / sizeof *ignorable_others
};

int points_reserve(Points *p, size_t more) {
    size_t need, bytes;
    if (!size_add(p->n, more, &need)) return -ENOMEM;
    if (need <= p->cap) return 0;
    size_t cap = need > p->cap * 2 ? need : p->cap * 2;
    if (!size_mul(cap, sizeof *p->cp, &bytes)) return -ENOMEM;
    uint32_t *cp = realloc(p->cp, bytes);
    if (!cp) return -ENOMEM;
    p->cp = cp;
    p->cap = cap;
    return 0;
}

int points_push(Points *p, uint32_t cp) {
    if (p->n == p->cap && points_reserve(p, 64)) return -ENOMEM;
    p->cp[p->n++] = cp;
    return 0;
}

void points_free(Points *p) {
    free(p->cp);
    memset(p, 0, sizeof *p);
}

const char *unicode_version(void) { return version; }

UnicodeCategory unicode_category(uint32_t cp) {
    if (cp > 0x10ffff) return CATEGORY_CN;
    size_t lo = 0, hi = UNICODE_OLDER_N;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const uint32_t *run = unicode_older[mid];
        if (cp < run[0]) hi = mid;
        else if (cp - run[0] >= run[1]) lo = mid + 1;
        else return (UnicodeCategory)run[2];
    }
    return (UnicodeCategory)unicode_kind_categories[unicode_kind(cp)];
}

int unicode_is_punctuation(uint32_t cp) {
    UnicodeCategory k = unicode_category(cp);
    return k >= CATEGORY_PC && k <= CATEGORY_PS;
}

int unicode_combining_class(uint32_t cp) {
    if (cp < 0x300 || cp >= 0x20000) return 0;
    size_t lo = 0, hi = N_CLASS_RUNS;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        uint32_t first = class_runs[mid] >> 15, n = class_runs[mid] >> 7 & 255;
        if (cp < first) hi = mid;
        else if (cp - first >= n) lo = mid + 1;
        else return class_values[class_runs[mid] & 127];
    }
    return 0;
}

static int in_ranges(const uint32_t (*ranges)[2], size_t n, uint32_t cp) {
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (cp < ranges[mid][0]) hi = mid;
        else if (cp > ranges[mid][1]) lo = mid + 1;
        else return 1;
    }
    return 0;
}

int unicode_is_accent(uint32_t cp) {
    if (cp < 0x300 || cp > 0x10ffff) return 0;
    UnicodeCategory k = (UnicodeCategory)unicode_kind_categories[unicode_kind(cp)];
    if (k != CATEGORY_MN && k != CATEGORY_MC && k != CATEGORY_ME) return cp == 0x1cf2 || cp == 0x1cf3; /* once marks */
    return !in_ranges(newer_marks, N_NEWER_MARKS, cp);
}

int unicode_is_bert_accent(uint32_t cp) {
    if (cp < 0x300 || cp > 0x10ffff) return 0;
    if (unicode_kind_categories[unicode_kind(cp)] != CATEGORY_MN) return cp == 0x1734 || cp == 0x1171e; /* once of Mn */
    return !in_ranges(bert_newer_marks, N_BERT_NEWER_MARKS, cp);
}

int unicode_is_bert_control(uint32_t cp) { return in_ranges(bert_controls, N_BERT_CONTROLS, cp); }

/* The combining class in 14.0.0 or, old, in 9.0. */
static int class_of(uint32_t cp, int old) {
    int k = unicode_combining_class(cp);
    return k && old && in_ranges(newer_marks, N_NEWER_MARKS, cp) ? 0 : k;
}

/* ---- lower case ---- */

static uint32_t lower_in(const int32_t (*runs)[4], size_t n, uint32_t cp) {
    size_t lo = 0, hi = n;
    int32_t c = (int32_t)cp;
    while (lo < hi && cp <= 0x10ffff) {
        size_t mid = lo + (hi - lo) / 2;
        const int32_t *run = runs[mid];
        if (c < run[0]) hi = mid;
        else if (c > run[1]) lo = mid + 1;
        else return (c - run[0]) % run[2] == 0 ? (uint32_t)(c + run[3]) : cp;
    }
    return cp;
}

int unicode_lower(uint32_t cp, uint32_t out[2]) {
    out[0] = cp;
    if (cp < 0x80) {
        out[0] += cp >= 'A' && cp <= 'Z' ? 32 : 0;
        return 1;
    }
    if (cp == 0x130) { /* the capital i with a dot: an i and the dot */
        out[0] = 'i';
        out[1] = 0x307;
        return 2;
    }
    out[0] = lower_in(lower_runs, N_LOWER_RUNS, cp);
    return 1;
}

int unicode_lower_rust(uint32_t cp, uint32_t out[2]) {
    int n = unicode_lower(cp, out);
    if (n == 1 && out[0] == cp && cp >= 0x80) out[0] = lower_in(newer_lower_runs, N_NEWER_LOWER_RUNS, cp);
    return n;
}

/* Unicode's Case_Ignorable. */
static int case_ignorable(uint32_t cp) {
    UnicodeCategory k = unicode_category(cp);
    if (k == CATEGORY_MN || k == CATEGORY_ME || k == CATEGORY_CF || k == CATEGORY_LM || k == CATEGORY_SK) return 1;
    for (size_t i = 0; i < N_IGNORABLE_OTHERS; i++)
        if (ignorable_others[i] == cp) return 1;
    return 0;
}

/* Unicode's Cased, of characters that are not ignorable. */
static int cased(uint32_t cp) {
    UnicodeCategory k = unicode_category(cp);
    if (k == CATEGORY_LU || k == CATEGORY_LL || k == CATEGORY_LT) return 1;
    for (size_t i = 0; i < N_CASED_OTHERS; i++)
        if (cp >= cased_others[i][0] && cp <= cased_others[i][1]) return 1;
    return 0;
}

/* Does what stands at i, behind a cased letter, end a word? Nobody walks twice: a sigma is not ignorable. */
static int ends_word(const uint32_t *text, size_t n, size_t i) {
    do i++;
    while (i < n && case_ignorable(text[i]));
    return i == n || !cased(text[i]);
}

int unicode_lower_text(const uint32_t *text, size_t n, Points *p) {
    int after_cased = 0, rc = 0; /* of what stands before, the last character that is not ignorable is cased */
    for (size_t i = 0; i < n && rc == 0; i++) {
        uint32_t low[2];
        int k = unicode_lower(text[i], low);
        if (text[i] == 0x3a3 && after_cased && ends_word(text, n, i)) low[0] = 0x3c2;
        rc = points_push(p, low[0]);
        if (rc == 0 && k == 2) rc = points_push(p, low[1]);
        if (!case_ignorable(text[i])) after_cased = cased(text[i]);
    }
    return rc;
}

/* ---- canonical decomposition ---- */

/* The row of pairs whose character is cp, or NULL. */
static const uint32_t *pair_of(uint32_t cp) {
    size_t lo = 0, hi = N_PAIRS;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (pairs[mid][0] < cp) lo = mid + 1;
        else if (pairs[mid][0] > cp) hi = mid;
        else return pairs[mid];
    }
    return NULL;
}

static uint32_t single_of(uint32_t cp) {
    size_t lo = 0, hi = N_SINGLE_RUNS;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const uint32_t *run = single_runs[mid];
        if (cp < run[0]) hi = mid;
        else if (cp - run[0] >= run[1]) lo = mid + 1;
        else return single_values[run[2] + (cp - run[0])];
    }
    return cp;
}

/* cp taken apart as far as it goes; how many. Second halves never come apart again, so the halves are found from the
 * back. */
static int decompose(uint32_t cp, uint32_t out[MAX_DECOMPOSED]) {
    if (cp < 0xc0 || (cp >= 0x3400 && cp < HANGUL)) {
        out[0] = cp;
        return 1;
    }
    if (cp - HANGUL < HANGUL_N) {
        uint32_t s = cp - HANGUL;
        out[0] = LEAD + s / (VOWEL_N * TRAIL_N);
        out[1] = VOWEL + s / TRAIL_N % VOWEL_N;
        out[2] = TRAIL + s % TRAIL_N;
        return s % TRAIL_N ? 3 : 2;
    }
    uint32_t halves[MAX_DECOMPOSED];
    int n = 0, k = 0;
    cp = single_of(cp);
    for (const uint32_t *row; n < MAX_DECOMPOSED - 1 && (row = pair_of(cp)) != NULL; cp = single_of(row[1]))
        halves[n++] = single_of(row[2]);
    for (out[k++] = cp; n > 0;) out[k++] = halves[--n];
    return k;
}

/* .. and apart into what is compatible with it, as it was in 9.0. */
static int decompose_compatible(uint32_t cp, uint32_t out[MAX_COMPATIBLE]) {
    size_t lo = 0, hi = cp < 0xa0 ? 0 : N_COMPAT_RUNS;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const uint32_t *run = compat_runs[mid];
        if (cp < run[0]) hi = mid;
        else if (cp - run[0] >= run[1]) lo = mid + 1;
        else {
            for (uint32_t i = 0; i < run[2]; i++) out[i] = compat_pool[run[3] + (cp - run[0]) * run[2] + i];
            return (int)run[2];
        }
    }
    return decompose(cp, out);
}

/* The marks run [k] in the order of their classes, equal ones as they stand. tmp [k]. */
static void order_marks(uint32_t *run, size_t k, uint32_t *tmp, int old) {
    if (k <= SHORT_RUN) {
        for (size_t i = 1; i < k; i++)
            for (size_t j = i; j > 0 && class_of(run[j - 1], old) > class_of(run[j], old); j--) {
                uint32_t x = run[j];
                run[j] = run[j - 1];
                run[j - 1] = x;
            }
        return;
    }
    size_t at[257] = {0};
    for (size_t i = 0; i < k; i++) at[class_of(run[i], old) + 1]++;
    for (int c = 0; c < 256; c++) at[c + 1] += at[c];
    for (size_t i = 0; i < k; i++) tmp[at[class_of(run[i], old)]++] = run[i];
    memcpy(run, tmp, k * sizeof *run);
}

static int decompose_text(const uint32_t *text, size_t n, int old, int compatible, Points *p) {
    size_t from = p->n, longest = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t d[MAX_COMPATIBLE];
        int k = compatible ? decompose_compatible(text[i], d) : decompose(text[i], d);
        if (old && text[i] == 0x11938) d[0] = text[i], k = 1; /* came with 13.0 */
        for (int j = 0; j < k; j++)
            if (points_push(p, d[j])) return -ENOMEM;
    }
    for (size_t i = from, run = 0; i < p->n; i++) {
        run = class_of(p->cp[i], old) ? run + 1 : 0;
        if (run > longest) longest = run;
    }
    if (longest < 2) return 0;
    if (longest > SHORT_RUN && points_reserve(p, longest)) return -ENOMEM;
    for (size_t i = from; i < p->n; i++) {
        size_t end = i;
        while (end < p->n && class_of(p->cp[end], old)) end++;
        if (end > i + 1) order_marks(p->cp + i, end - i, p->cp + p->n, old);
        if (end > i) i = end - 1;
    }
    return 0;
}

int unicode_decompose(const uint32_t *text, size_t n, Points *p) { return decompose_text(text, n, 0, 0, p); }

/* ---- canonical composition ---- */

/* The character that a and b join to, or 0. */
static uint32_t join(uint32_t a, uint32_t b) {
    if (a - LEAD < LEAD_N && b - VOWEL < VOWEL_N) return HANGUL + ((a - LEAD) * VOWEL_N + (b - VOWEL)) * TRAIL_N;
    if (a - HANGUL < HANGUL_N && (a - HANGUL) % TRAIL_N == 0 && b > TRAIL && b - TRAIL < TRAIL_N)
        return a + (b - TRAIL);
    if (b < 0x300 || (b > 0x309a && b < 0x110ba)) return 0; /* no second half is there */
    size_t lo = 0, hi = N_COMPOSABLE;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const uint32_t *row = pairs[composable[mid]];
        if (row[1] < a || (row[1] == a && row[2] < b)) lo = mid + 1;
        else if (row[1] == a && row[2] == b) return row[0];
        else hi = mid;
    }
    return 0;
}

static void compose(Points *p, int old) {
    size_t out = 0, starter = SIZE_MAX;
    int last = 0; /* class of the last mark left standing behind the starter */
    for (size_t i = 0; i < p->n; i++) {
        uint32_t c = p->cp[i], joined = 0;
        int k = class_of(c, old);
        /* nothing between the starter and c keeps them apart */
        int near = starter != SIZE_MAX && (out == starter + 1 || (last != 0 && last < k));
        if (near) joined = join(p->cp[starter], c);
        if (old && joined == 0x11938) joined = 0;
        if (joined) {
            p->cp[starter] = joined;
            continue;
        }
        if (k == 0) starter = out;
        last = k;
        p->cp[out++] = c;
    }
    p->n = out;
}

void unicode_compose(Points *p) { compose(p, 0); }

int unicode_form(UnicodeForm form, const uint32_t *text, size_t n, Points *p) {
    p->n = 0;
    int rc = decompose_text(text, n, 1, form == UNICODE_NFKD || form == UNICODE_NFKC, p);
    if (rc == 0 && (form == UNICODE_NFC || form == UNICODE_NFKC)) compose(p, 1);
    return rc;
}
