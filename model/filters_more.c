/* model/filters_more.c - the links of sampler_more.h: biases, DRY, XTC.
 *
 * DRY ("don't repeat yourself", p-e-w) looks for the text's end earlier in the text. Where the last L ids stand there
 * too, and id x came next, drawing x would make the repeat L + 1 long; so for L >= allowed
 *
 *     logit[x] -= multiplier * base^(L - allowed)         L: the longest such repeat that x would carry on
 *
 * A repeat does not reach over a breaker (a newline, a quote ..), and a breaker of one id is never made dearer: what
 * every line has in common is form, not repetition. */
#include "sampler_more.h"

#include "base/base.h"
#include "base/hash.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_head(const void *a, const void *b) {
    const SamplerBreaker *x = a, *y = b;
    return (x->ids[0] > y->ids[0]) - (x->ids[0] < y->ids[0]);
}

uint64_t sampler_seed(const SamplerOptions *o, uint64_t seed) {
    int own = o->top_k || o->min_p > 0 || o->repetition_penalty != 1 || o->presence_penalty != 0 ||
              o->frequency_penalty != 0 || o->more;
    return own ? hash_mix(seed) : seed;
}

int sampler_more_init(SamplerMore *m, size_t vocab_size, char *err, size_t errlen) {
    const struct { const char *name; float value, min, max; } limits[] = {
        {"DRY multiplier", m->dry_multiplier, 0, 1e6f},
        {"DRY base", m->dry_base, 1, 1e6f},
        {"XTC probability", m->xtc_probability, 0, 1},
        {"XTC threshold", m->xtc_threshold, 0, 1},
    };
    m->z = NULL;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (!(limits[i].value >= limits[i].min && limits[i].value <= limits[i].max)) /* NaN fails both */
            return base_error(err, errlen, -EINVAL, "%s must be from %g to %g", limits[i].name, (double)limits[i].min,
                              (double)limits[i].max);
    if (m->dry_allowed == 0) return base_error(err, errlen, -EINVAL, "DRY allowed length must be 1 or more");
    for (size_t i = 0; i < m->n_biases; i++) {
        if (m->biases[i].id < 0 || (size_t)m->biases[i].id >= vocab_size)
            return base_error(err, errlen, -EINVAL, "logit bias: there is no id %d; the vocabulary has %zu",
                              m->biases[i].id, vocab_size);
        if (!(m->biases[i].bias < INFINITY)) /* NaN, too */
            return base_error(err, errlen, -EINVAL, "logit bias: of id %d it is neither a number nor -inf",
                              m->biases[i].id);
    }
    if (m->n_breakers) qsort(m->breakers, m->n_breakers, sizeof *m->breakers, by_head);
    if (m->dry_multiplier == 0 || m->dry_window == 0) return 0;
    if (m->dry_window > SIZE_MAX / sizeof *m->z || !(m->z = calloc(m->dry_window, sizeof *m->z)))
        return base_error(err, errlen, -ENOMEM, "out of memory for a DRY window of %zu", m->dry_window);
    return 0;
}

void sampler_more_free(SamplerMore *m) {
    free(m->z);
    m->z = NULL;
}

size_t sampler_looks_back(const SamplerOptions *o) {
    size_t dry = o->more && o->more->z ? o->more->dry_window : 0;
    return o->window > dry ? o->window : dry;
}

void sampler_more_bias(Sampler *s) {
    const SamplerMore *m = s->options.more;
    for (size_t i = 0; i < m->n_biases; i++) s->probs[m->biases[i].id] += m->biases[i].bias;
}

/* ---- DRY; the text is read backwards: back[0] is its last id, back[-1] the one before ---- */

/* The first breaker that begins with id, or NULL; those behind it begin alike. */
static const SamplerBreaker *breakers_of(const SamplerMore *m, int id) {
    size_t lo = 0;
    for (size_t hi = m->n_breakers; lo < hi;) {
        size_t mid = lo + (hi - lo) / 2;
        if (m->breakers[mid].ids[0] < id) lo = mid + 1;
        else hi = mid;
    }
    return lo < m->n_breakers && m->breakers[lo].ids[0] == id ? &m->breakers[lo] : NULL;
}

/* How many ids stand behind the last breaker in the last n: a repeat may not be longer. */
static size_t since_breaker(const SamplerMore *m, const int *back, size_t n) {
    for (size_t i = 0; i < n; i++) {
        int longest = 0, head = *(back - i);
        const SamplerBreaker *b = breakers_of(m, head);
        for (; b && b < m->breakers + m->n_breakers && b->ids[0] == head; b++) {
            int j = 1;
            if ((size_t)b->n > i + 1) continue;
            while (j < b->n && b->ids[j] == *(back - i + j)) j++;
            if (j == b->n && j > longest) longest = j;
        }
        if (longest) return i + 1 - (size_t)longest;
    }
    return n;
}

/* z[k]: how many ids the text that ends k ids before the end has in common with the text's end, going back. The
 * Z-algorithm: [lo, hi) is the match that reaches furthest; inside it the answer of k - lo is known. O(n). */
static void matches(size_t *z, const int *back, size_t n) {
    z[0] = n;
    for (size_t k = 1, lo = 0, hi = 0; k < n; k++) {
        size_t len = k < hi ? (z[k - lo] < hi - k ? z[k - lo] : hi - k) : 0;
        if (k + len >= hi) { /* what lies beyond it was never compared */
            while (k + len < n && *(back - len) == *(back - k - len)) len++;
            lo = k, hi = k + len;
        }
        z[k] = len;
    }
}

static float price(const SamplerMore *m, size_t repeat) {
    size_t power = repeat - m->dry_allowed;
    if (m->dry_base > 1.000001f) { /* where base^power is still a float: as other programs bound it */
        size_t most = (size_t)(88.7228391f / logf(m->dry_base));
        if (most > 0 && power > most) power = most;
    }
    return (float)((double)m->dry_multiplier * pow((double)m->dry_base, (double)power));
}

/* The longest repeat of each id is kept in the numbers of the candidates, which are not chosen yet (filters.c's way):
 * clear, find, take. */
void sampler_more_dry(Sampler *s, const int *ids, size_t n) {
    const SamplerMore *m = s->options.more;
    size_t window = n < m->dry_window ? n : m->dry_window, allowed = m->dry_allowed;
    if (!m->z || window <= allowed) return;
    const int *back = ids + n - 1;
    size_t limit = since_breaker(m, back, window);
    if (limit < allowed) return;
    matches(m->z, back, window);
    for (int pass = 0; pass < 3; pass++)
        for (size_t k = 1; k < window; k++) {
            size_t repeat = m->z[k] < limit ? m->z[k] : limit;
            int next = *(back - (k - 1));
            if (repeat < allowed || next < 0 || (size_t)next >= s->vocab_size) continue;
            int *longest = &s->candidates[next].id;
            if (pass == 0) *longest = 0;
            if (pass == 1 && (size_t)*longest < repeat) *longest = repeat < INT32_MAX ? (int)repeat : INT32_MAX;
            if (pass < 2 || *longest == 0) continue;
            int alone = 0;
            const SamplerBreaker *b = breakers_of(m, next);
            for (; b && b < m->breakers + m->n_breakers && b->ids[0] == next; b++) alone |= b->n == 1;
            if (!alone) s->probs[next] -= price(m, (size_t)*longest);
            *longest = 0;
        }
}

/* ---- XTC ---- */

/* "Exclude top choices" (p-e-w): of the candidates above the threshold only the least probable stays, which so is there
 * whatever else goes: a way that the text may well take, but not the first that comes to mind. */
size_t sampler_more_exclude(Sampler *s, size_t n, float *sum) {
    const SamplerMore *m = s->options.more;
    SamplerCandidate *c = s->candidates;
    while (n > 1 && c[n - 1].prob == 0) n--; /* forbidden: not even by rounding the last that is left */
    if (m->xtc_probability <= 0 || m->xtc_threshold > 0.5f || n < 2) return n;
    if (sampler_coin(&s->rng) >= m->xtc_probability) return n;
    float bar = m->xtc_threshold * *sum, left = 0;
    size_t stays = n, kept = 0;
    for (size_t i = 0; i < n; i++)
        if (c[i].prob >= bar && (stays == n || sampler_order(&c[stays], &c[i]) < 0)) stays = i;
    for (size_t i = 0; i < n; i++)
        if (c[i].prob < bar || i == stays) left += c[i].prob, c[kept++] = c[i];
    *sum = left;
    return kept;
}
