/* tokenizer/pipeline/pipeline.c - text to ids through the parts of a tokenizer.json, and ids back to text. */
#include "pipeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- making one ---- */

static void close_body(Tokenizer *t) {
    struct Pipeline *p = t->own;
    if (!p) return;
    for (size_t i = 0; i < p->n_normalizers; i++) {
        text_release(&p->normalizers[i].from);
        text_release(&p->normalizers[i].to);
        charsmap_free(p->normalizers[i].map);
    }
    for (size_t i = 0; i < p->n_cuts; i++) text_release(&p->cuts[i].text);
    for (size_t i = 0; i < p->n_decoders; i++) {
        text_release(&p->decoders[i].from);
        text_release(&p->decoders[i].to);
    }
    bpe_free(&p->bpe);
    unigram_free(p->unigram);
    text_release(&p->prefix);
    trie_free(&p->words);
    text_release(&p->patterns);
    free(p->spelled);
    matcher_free(&p->raw);
    matcher_free(&p->normalized);
    free(p->normalizers);
    free(p->cuts);
    free(p->decoders);
    free(p->added);
    free(p->single.items);
    free(p->pair.items);
    free(p);
}

/* list [n] of elements of that size with room for one more, zeroed; NULL without memory. */
static void *grown(void *list, size_t n, size_t size) {
    char *p = realloc(list, (n + 1) * size);
    if (p) memset(p + n * size, 0, size);
    return p;
}

int pipeline_add_normalizer(struct Pipeline *p, NormalizerKind kind, Normalizer **out) {
    Normalizer *list = grown(p->normalizers, p->n_normalizers, sizeof *list);
    if (!list) return -ENOMEM;
    p->normalizers = list;
    *out = &list[p->n_normalizers++];
    (*out)->kind = kind;
    return 0;
}

int pipeline_add_cut(struct Pipeline *p, CutKind kind, Cut **out) {
    Cut *list = grown(p->cuts, p->n_cuts, sizeof *list);
    if (!list) return -ENOMEM;
    p->cuts = list;
    *out = &list[p->n_cuts++];
    (*out)->kind = kind;
    return 0;
}

int pipeline_space_first(struct Pipeline *p) {
    Cut *c;
    if (pipeline_add_cut(p, CUT_SPACE, &c)) return -ENOMEM;
    Cut first = *c;
    memmove(p->cuts + 1, p->cuts, (p->n_cuts - 1) * sizeof *p->cuts);
    p->cuts[0] = first;
    p->pre = NULL;
    return 0;
}

int pipeline_add_decoder(struct Pipeline *p, DecoderKind kind, Decoder **out) {
    Decoder *list = grown(p->decoders, p->n_decoders, sizeof *list);
    if (!list) return -ENOMEM;
    p->decoders = list;
    *out = &list[p->n_decoders++];
    (*out)->kind = kind;
    return 0;
}

int pipeline_adds(const Tokenizer *t, int end) {
    const Template *p = &pipeline_of(t)->single;
    if (p->n == 0) return end ? t->add_eos && t->eos >= 0 : t->add_bos && t->bos >= 0;
    return p->items[end ? p->n - 1 : 0].id >= 0;
}

/* ---- text to ids ---- */

typedef struct {
    const Tokenizer *t;
    const struct Pipeline *p;
    Ids *out;
    NormalizeScratch normal;
    Points points;
    Text text, next_text; /* the words so far; what the next step makes of them */
    Spans words, next;
    BpeScratch bpe;
    UnigramRun unigram;
} PipelineWork;

/* One word as it goes into next_text: 0 or -ENOMEM. */
static int rewrite(const Cut *c, const char *s, size_t n, int first, Text *out) {
    int rc = 0;
    if (c->kind == CUT_SPACE) {
        rc = s[0] == ' ' ? 0 : text_put(out, " ", 1);
        return rc ? rc : text_put(out, s, n);
    }
    if (c->kind == CUT_BYTES) return bytes_as_text(s, n, out);
    int has = s[0] == ' ' || (n >= c->text.n && memcmp(s, c->text.p, c->text.n) == 0);
    if (!has && (c->scheme == PREPEND_ALWAYS || (c->scheme == PREPEND_FIRST && first)))
        rc = text_put(out, c->text.p, c->text.n);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = s[i] == ' ' ? text_put(out, c->text.p, c->text.n) : text_put(out, s + i, 1);
    return rc;
}

/* All words through a step that changes the text; *s is the text before and after. */
static int rewrite_words(PipelineWork *w, const Cut *c, const char **s, int first, size_t limit) {
    int rc = 0;
    w->next_text.n = 0;
    for (size_t i = 0; i < w->words.n && rc == 0; i++) {
        size_t begin = w->words.at[i].begin, n = w->words.at[i].end - begin, from = w->next_text.n;
        rc = rewrite(c, *s + begin, n, first && begin == 0, &w->next_text);
        w->words.at[i] = (Span){from, w->next_text.n};
        if (w->next_text.n > limit) rc = -EFBIG;
    }
    Text x = w->text;
    w->text = w->next_text;
    w->next_text = x;
    *s = w->text.p;
    return rc;
}

static int split_words(PipelineWork *w, const Cut *c, const char *s) {
    int rc = 0;
    w->next.n = 0;
    for (size_t i = 0; i < w->words.n && rc == 0; i++)
        rc = split_apply(&c->split, s, w->words.at[i].begin, w->words.at[i].end, &w->next);
    Spans x = w->words;
    w->words = w->next;
    w->next = x;
    return rc;
}

static int encode_word(PipelineWork *w, const char *word, size_t n) {
    switch (w->p->model) {
    case MODEL_BPE: return bpe_encode(&w->p->bpe, w->t, word, n, &w->bpe, w->out);
    case MODEL_UNIGRAM: return unigram_encode(w->p->unigram, w->t, word, n, &w->unigram, w->out);
    case MODEL_WORDPIECE: return pipeline_encode_words(w->t, word, n, &w->points, w->out);
    case MODEL_WORDLEVEL: break;
    }
    int id = bpe_find(&w->p->bpe, w->t, word, n); /* as a word that BPE takes as it is */
    if (id < 0) id = w->t->unk;
    return id < 0 ? -EINVAL : ids_push(w->out, id);
}

/* Plain text [n], normalized. first: it is the whole text's beginning, which METASPACE's scheme may ask. */
static int encode_plain(PipelineWork *w, const char *s, size_t n, int first) {
    int rc = 0;
    w->words.n = 0;
    if (spans_push(&w->words, 0, n)) return -ENOMEM;
    for (size_t i = 0; i < w->p->n_cuts && rc == 0; i++) {
        const Cut *c = &w->p->cuts[i];
        rc = c->kind == CUT_SPLIT ? split_words(w, c, s) : rewrite_words(w, c, &s, first, grown_limit(n));
    }
    for (size_t i = 0; i < w->words.n && rc == 0; i++) {
        size_t begin = w->words.at[i].begin, len = w->words.at[i].end - begin;
        rc = encode_word(w, s + begin, len);
    }
    return rc;
}

/* Text between the tokens that are found in the raw text. */
static int encode_stretch(PipelineWork *w, const char *text, size_t n, int at_start, int continues, int special) {
    const char *s;
    size_t begin, end, n_out;
    int id, rc = pipeline_normalize(w->p, &w->normal, text, n, !continues, &s, &n_out);
    AddedScan scan = {.t = w->t, .m = &w->p->normalized, .s = s, .n = n_out, .special = special};
    while (rc == 0 && added_next(&scan, &id, &begin, &end))
        rc = id >= 0 ? ids_push(w->out, id)
            : encode_plain(w, s + begin, end - begin, at_start && begin == 0 && !continues);
    return rc;
}

static int encode_all(const Tokenizer *t, const char *text, size_t len, int flags, Ids *out, char *err, size_t errlen) {
    if (flags & ENCODE_ADDED) return template_encode(t, text, len, NULL, 0, flags, out, NULL, err, errlen);
    PipelineWork w = {.t = t, .p = t->own, .out = out};
    char *repaired = NULL;
    size_t begin, end;
    int id, special = (flags & ENCODE_SPECIAL) != 0, rc = len > INT32_MAX / 3 ? -EFBIG
        : utf8_repair(text, len, &repaired, &len);
    if (repaired) text = repaired;
    AddedScan scan = {.t = t, .m = &w.p->raw, .s = text, .n = len, .special = special};
    while (rc == 0 && added_next(&scan, &id, &begin, &end))
        rc = id >= 0 ? ids_push(out, id)
                     : encode_stretch(&w, text + begin, end - begin, begin == 0, flags & ENCODE_CONTINUE && begin == 0,
                                      special);
    free(repaired);
    normalize_scratch_free(&w.normal);
    points_free(&w.points);
    text_release(&w.text);
    text_release(&w.next_text);
    spans_free(&w.words);
    spans_free(&w.next);
    bpe_scratch_free(&w.bpe);
    unigram_run_free(&w.unigram);
    if (rc == -EINVAL)
        return base_error(err, errlen, rc,
                          "the text has a word or character that is no piece, and the model has no unknown one");
    if (rc == -EFBIG && len <= INT32_MAX / 3)
        return base_error(err, errlen, -EINVAL,
                          "the tokenizer's normalizers and pre-tokenizers let a text of %zu bytes grow beyond all "
                          "measure", len);
    if (rc == -EFBIG)
        return base_error(err, errlen, -EINVAL, "a text of %zu bytes is too long to encode at once (the limit is %d)",
                          len, INT32_MAX / 3);
    return rc;
}

static const Template *template_of(const Tokenizer *t, int pair) {
    const struct Pipeline *p = t->own;
    const Template *own = pair ? &p->pair : &p->single;
    return own->n ? own : NULL;
}

static const Body pipeline_body = {encode_all, pipeline_decode, NULL, pipeline_spell, template_of, close_body};

struct Pipeline *pipeline_of(const Tokenizer *t) { return t->body == &pipeline_body ? t->own : NULL; }

int pipeline_begin(Tokenizer *t, char *err, size_t errlen) {
    struct Pipeline *p = calloc(1, sizeof *p);
    t->body = &pipeline_body;
    t->own = p;
    t->found = ~0u;
    return p && bpe_init(&p->bpe) == 0 ? 0 : base_error(err, errlen, -ENOMEM, "%s: no memory", t->name);
}
