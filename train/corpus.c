/* train/corpus.c - ids of documents, and windows of them. */
#include "corpus.h"

#include "base/base.h"
#include "text/documents.h"
#include "text/passkey.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int append(Corpus *c, const int *ids, size_t n, int end) {
    if (array_reserve(&c->ids, &c->cap, c->n + n + 1, sizeof *c->ids) ||
        array_reserve(&c->starts, &c->cap_documents, c->n_documents + 1, sizeof *c->starts))
        return -ENOMEM;
    c->starts[c->n_documents++] = c->n;
    memcpy(c->ids + c->n, ids, n * sizeof *ids);
    c->n += n;
    if (end >= 0) c->ids[c->n++] = end;
    return 0;
}

int corpus_add(Corpus *c, const Tokenizer *t, const char *text, size_t n, const char *separator, int end, char *err,
               size_t errlen) {
    const char *document;
    size_t at = 0, len, n_ids;
    while (document_next(text, n, separator, &at, &document, &len)) {
        int *ids, rc;
        if (len == 0) continue;
        rc = tokenizer_encode(t, document, len, end < 0 ? ENCODE_BOS : ENCODE_BARE, &ids, &n_ids, err, errlen);
        if (rc) return rc;
        rc = n_ids ? append(c, ids, n_ids, end) : 0;
        free(ids);
        if (rc) return base_error(err, errlen, rc, "out of memory for the text's ids");
        c->bytes += len;
    }
    return 0;
}

void corpus_free(Corpus *c) {
    free(c->ids);
    free(c->starts);
    *c = (Corpus){0};
}

/* ---- windows ---- */

/* n ids from `from` on; the corpus goes round. */
static void copy_from(const Corpus *c, size_t from, int *out, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = c->ids[(from + i) % c->n];
}

static size_t somewhere(const BatchPlan *p, Rng *r, size_t n) {
    const Corpus *c = p->corpus;
    return p->by_document ? c->starts[rng_below(r, c->n_documents)] : rng_below(r, c->n > n ? c->n - n + 1 : 1);
}

/* ---- made tasks: length + 1 ids and their marks ---- */

typedef struct {
    int *ids;
    uint8_t *marks; /* of ids */
    size_t n, most;
} Page;

static void put(Page *page, const int *ids, size_t n, Mark mark) {
    for (size_t i = 0; i < n && page->n < page->most; i++, page->n++) {
        page->ids[page->n] = ids[i];
        page->marks[page->n] = (uint8_t)mark;
    }
}

static void put_text(const BatchPlan *p, Page *page, Rng *r, size_t n) {
    size_t at = rng_below(r, p->corpus->n);
    for (size_t i = 0; i < n; i++) put(page, &p->corpus->ids[(at + i) % p->corpus->n], 1, MARK_NONE);
}

/* A document's beginning, or where there is but one anything behind bos; bos stands nowhere else. */
static void put_beginning(const BatchPlan *p, Page *page, Rng *r, size_t n) {
    const Corpus *c = p->corpus;
    size_t at = c->n_documents > 1 ? c->starts[rng_below(r, c->n_documents)] : rng_below(r, c->n),
           bos = p->bos >= 0 && c->ids[at] != p->bos;
    if (n && bos) put(page, &p->bos, 1, MARK_NONE);
    for (size_t i = bos; i < n; i++, at++) put(page, &c->ids[at % c->n], 1, MARK_NONE);
}

/* [lead] span [gap] span [gap] span .. to the end; half of the pages have no gaps, half of the spans are ids in no
 * order, which nothing foresees but the copy. */
static int make_copy(const BatchPlan *p, Page *page, Rng *r) {
    size_t room = page->most - page->n, most = room / 3 > 128 ? 128 : room / 3, span = 8 + rng_below(r, most - 7),
           widest = rng_below(r, 2) ? room - 2 * span : 0;
    int shuffled = rng_below(r, 2) == 0;
    put_beginning(p, page, r, rng_below(r, room - 2 * span - widest + 1));
    size_t first = page->n;
    put_text(p, page, r, span);
    for (size_t i = first; shuffled && i < first + span; i++) page->ids[i] = p->corpus->ids[rng_below(r, p->corpus->n)];
    memset(page->marks + first, MARK_FIRST, span);
    while (page->n < page->most) {
        put_text(p, page, r, rng_below(r, widest + 1));
        size_t again = page->n;
        put(page, page->ids + first, span, MARK_AGAIN);
        if (again < page->n) page->marks[again] = MARK_NONE; /* nothing says yet that a copy begins */
    }
    return 0;
}

/* Keys of two ids, values of one: k k v .., text, k k v .. in another order. A value is known from its second time. */
static int make_recall(const BatchPlan *p, Page *page, Rng *r) {
    enum { MOST = 32, KEY = 2, PAIR = KEY + 1 };
    size_t room = page->most - page->n, most = room / (2 * PAIR) < MOST ? room / (2 * PAIR) : MOST,
           pairs = 1 + rng_below(r, most), rest = room - 2 * PAIR * pairs, between = rng_below(r, rest + 1),
           order[MOST];
    int pair[MOST][PAIR];
    for (size_t i = 0; i < pairs; i++) {
        order[i] = i;
        for (int k = 0; k < PAIR; k++) pair[i][k] = p->corpus->ids[rng_below(r, p->corpus->n)];
        put(page, pair[i], PAIR, MARK_NONE);
    }
    put_text(p, page, r, between);
    for (size_t i = pairs; i > 1; i--) { /* Fisher and Yates */
        size_t j = rng_below(r, i), kept = order[i - 1];
        order[i - 1] = order[j], order[j] = kept;
    }
    for (size_t i = 0; i < pairs; i++) {
        put(page, pair[order[i]], KEY, MARK_NONE);
        put(page, pair[order[i]] + KEY, 1, MARK_ANSWER);
    }
    put_text(p, page, r, page->most - page->n);
    return 0;
}

/* The whole page is the prompt, the key at any depth of it. */
static int make_passkey(const BatchPlan *p, Page *page, Rng *r) {
    PasskeyPrompt prompt;
    char key[8], err[200];
    snprintf(key, sizeof key, "%u", (unsigned)(10000 + rng_below(r, 90000)));
    if (passkey_prompt(&prompt, p->tokenizer, &passkey_published, key, page->most, rng_uniform(r), err, sizeof err))
        return -ENOMEM; /* batch_check has seen that there is room */
    put(page, prompt.ids, prompt.n_prompt, MARK_NONE);
    put(page, prompt.ids + prompt.n_prompt, prompt.n - prompt.n_prompt, MARK_ANSWER);
    put_text(p, page, r, page->most - page->n);
    free(prompt.ids);
    return 0;
}

static int make_text(const BatchPlan *p, Page *page, Rng *r) {
    copy_from(p->corpus, somewhere(p, r, page->most), page->ids, page->most);
    memset(page->marks, MARK_NONE, page->most);
    return 0;
}

static int (*const makers[PIECE_KINDS])(const BatchPlan *p, Page *page, Rng *r) = {make_text, make_copy, make_recall,
                                                                                   make_passkey};
const char *const piece_names[PIECE_KINDS] = {"text", "copy", "recall", "passkey"};

static PieceKind draw_kind(const BatchPlan *p, Rng *r) {
    double all = 0, at;
    for (int k = 0; k < PIECE_KINDS; k++) all += p->shares[k];
    at = rng_uniform(r) * all;
    for (int k = 0; k < PIECE_KINDS; k++)
        if ((at -= p->shares[k]) < 0) return (PieceKind)k;
    return PIECE_TEXT;
}

/* ---- masks ---- */

static void mask_page(const BatchPlan *p, const int *text, int *ids, int *targets, size_t length, Rng *r) {
    const MaskPlan *m = &p->masks;
    ids[0] = m->first, targets[0] = -1;
    ids[length - 1] = m->last, targets[length - 1] = -1;
    int masked = 0;
    for (size_t i = 1; i + 1 < length; i++) {
        int id = text[i];
        int goes_on = m->continues && i > 1 && m->continues[id];
        if (!goes_on) masked = rng_uniform(r) < m->share;
        int chosen = masked && id >= m->n_special;
        double how = chosen ? rng_uniform(r) : 1;
        targets[i] = chosen ? id : -1;
        ids[i] = how < 0.8 && chosen ? m->mask
                 : how < 0.9 && chosen ? m->n_special + (int)rng_below(r, (size_t)(p->vocab_size - m->n_special)) : id;
    }
}

/* ---- batches ---- */

int batch_check(const BatchPlan *p, const BatchShape *shape, char *err, size_t errlen) {
    double all = 0, made = p->shares[PIECE_COPY] + p->shares[PIECE_RECALL];
    for (int k = 0; k < PIECE_KINDS; k++) all += p->shares[k];
    if (!(all > 0)) return base_error(err, errlen, -EINVAL, "nothing to train on: all shares of the batch are 0");
    if (p->corpus->n < shape->length + 1)
        return base_error(err, errlen, -EINVAL, "the text has %zu ids, fewer than a window of %zu: shorten --context",
                          p->corpus->n, shape->length + 1);
    if (made > 0 && shape->length < 32)
        return base_error(err, errlen, -EINVAL, "a context of %zu has no room for copies and recalls: 32 at least",
                          shape->length);
    PasskeyPrompt prompt = {0};
    int rc = p->shares[PIECE_PASSKEY] > 0 ? passkey_prompt(&prompt, p->tokenizer, &passkey_published, "12345",
                                                           shape->length + 1, 0, err, errlen) : 0;
    free(prompt.ids);
    if (rc) return rc;
    if (p->masks.mask && shape->length < 3)
        return base_error(err, errlen, -EINVAL, "a context of %zu has no room between [CLS] and [SEP]", shape->length);
    return 0;
}

int batch_init(Batch *b, const BatchShape *shape) {
    size_t n = shape->texts * shape->length;
    *b = (Batch){.shape = *shape, .ids = calloc(n, sizeof *b->ids), .targets = calloc(n, sizeof *b->targets),
                 .marks = calloc(n, 1), .page = calloc(shape->length + 1, sizeof *b->page),
                 .page_marks = calloc(shape->length + 1, 1)};
    return b->ids && b->targets && b->marks && b->page && b->page_marks ? 0 : -ENOMEM;
}

void batch_free(Batch *b) {
    free(b->ids);
    free(b->targets);
    free(b->marks);
    free(b->page);
    free(b->page_marks);
    *b = (Batch){0};
}

int batch_fill(Batch *b, const BatchPlan *p, uint64_t step) {
    size_t length = b->shape.length;
    int rc = 0;
    for (size_t t = 0; t < b->shape.texts && rc == 0; t++) {
        int *ids = b->ids + t * length, *targets = b->targets + t * length;
        Rng r = rng_of(p->seed, step * b->shape.texts + t);
        Page page = {b->page, b->page_marks, 0, length + 1};
        rc = makers[draw_kind(p, &r)](p, &page, &r);
        if (p->masks.mask) mask_page(p, b->page, ids, targets, length, &r);
        for (size_t i = 0; !p->masks.mask && i < length; i++) ids[i] = b->page[i], targets[i] = b->page[i + 1];
        for (size_t i = 0; i < length; i++) b->marks[t * length + i] = b->page_marks[i + 1];
    }
    return rc;
}

/* ---- to measure on ---- */

/* A document's ids without the BOS that the tokenizer put there: how many, and where. */
static size_t document_ids(const Corpus *c, size_t d, int bos, const int **ids) {
    size_t end = d + 1 < c->n_documents ? c->starts[d + 1] : c->n, from = c->starts[d];
    if (from < end && c->ids[from] == bos) from++;
    *ids = c->ids + from;
    return end - from;
}

static size_t windows_of(size_t n, int bos, size_t length) {
    size_t room = bos < 0 ? length : length - 1;
    return (n + room - 1) / room;
}

size_t corpus_windows(const Corpus *c, int bos, size_t length) {
    const int *ids;
    size_t n = 0;
    for (size_t d = 0; d < c->n_documents; d++) n += windows_of(document_ids(c, d, bos, &ids), bos, length);
    return n;
}

void batch_window(Batch *b, size_t t, const Corpus *c, int bos, size_t i) {
    size_t length = b->shape.length, room = bos < 0 ? length : length - 1, n = 0, d = 0;
    const int *ids = NULL;
    int *out = b->ids + t * length, *targets = b->targets + t * length;
    for (; d < c->n_documents; d++) {
        n = document_ids(c, d, bos, &ids);
        if (i < windows_of(n, bos, length)) break;
        i -= windows_of(n, bos, length);
    }
    for (size_t j = 0; j < length; j++) out[j] = 0, targets[j] = -1;
    if (d == c->n_documents) return;
    size_t from = i * room, some = n - from < room ? n - from : room, shift = bos >= 0;
    if (shift) out[0] = bos;
    for (size_t j = 0; j < some; j++) {
        if (j + shift < length) out[j + shift] = ids[from + j];
        if (j + shift > 0) targets[j + shift - 1] = ids[from + j];
    }
}
