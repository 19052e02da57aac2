/* tokenizer/pipeline/pipeline_export.c - a pipeline as a GGUF file holds it: "gpt2" with a name for its cuts, "llama"
 * or "t5" where its parts are SentencePiece's, "bert". What a file cannot say is refused, never written as something
 * near it. */
#include "pipeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char mark[] = "\xe2\x96\x81"; /* U+2581, SentencePiece's space */

static int text_is(const Text *t, const char *s) {
    return t->n == strlen(s) && memcmp(t->p, s, t->n) == 0;
}

static int is_named(const SplitStep *step, const char *name) {
    SplitPattern pattern;
    split_named(&pattern, name); /* one of its own */
    return split_same(&pattern, &step->pattern);
}

/* behind_bytes: a sees bytes spelled as characters, of which some are numbers; a row's steps see the text. */
static int same_step(const SplitStep *a, const SplitStep *b, int behind_bytes) {
    SplitPattern pattern = a->pattern;
    SplitBehavior behavior = a->behavior;
    int invert = a->invert;
    if (behind_bytes && is_named(a, "Digits")) split_named(&pattern, "ByteLevel Digits");
    if (behavior == SPLIT_REMOVED && invert && split_gguf_whole(&pattern)) behavior = SPLIT_ISOLATED, invert = 0;
    /* no row has a literal */
    return split_same(&pattern, &b->pattern) && behavior == b->behavior && invert == b->invert;
}

/* GGUF's name of these cuts: the steps of one row, and bytes as characters somewhere. */
static const PreTokenizer *pre_of(const struct Pipeline *p) {
    int nfc = p->n_normalizers == 1 && p->normalizers[0].kind == NORMALIZE_NFC;
    if (p->pre || (p->n_normalizers && !nfc)) return p->pre;
    const PreTokenizer *row;
    for (size_t i = 0; (row = split_gguf_list(i)); i++) {
        SplitStep steps[SPLIT_GGUF_STEPS];
        size_t n = 0, same = 1, bytes = 0, n_steps = split_gguf_steps(row, steps);
        for (size_t k = 0; k < p->n_cuts && same; k++) {
            const Cut *c = &p->cuts[k];
            if (c->kind == CUT_BYTES) bytes++;
            else same = c->kind == CUT_SPLIT && n < n_steps && same_step(&c->split, &steps[n++], bytes > 0);
        }
        if (same && bytes == 1 && n == n_steps && row->ignore_merges == p->bpe.ignore_merges && row->nfc == nfc &&
            !row->raw) return row;
    }
    return NULL;
}

/* Gemma's cut at spaces where none are left. */
static int cuts_nothing(const Cut *c) {
    return c->kind == CUT_SPLIT && c->split.pattern.n == 0 && !c->split.invert && c->split.literal_len == 1 &&
           *c->split.literal == ' ';
}

/* SentencePiece's spaces as parts: [Prepend mark,] Replace " " by mark, or Metaspace; *prefix: one is put in front. */
static int spaces_of(const struct Pipeline *p, int *prefix) {
    size_t i = 0;
    *prefix = 0;
    if (i < p->n_normalizers && p->normalizers[i].kind == NORMALIZE_PREPEND && text_is(&p->normalizers[i].to, mark))
        *prefix = 1, i++;
    if (i + 1 == p->n_normalizers && p->normalizers[i].kind == NORMALIZE_REPLACE &&
        text_is(&p->normalizers[i].from, " ") && text_is(&p->normalizers[i].to, mark))
        return p->n_cuts == 0 || (p->n_cuts == 1 && cuts_nothing(&p->cuts[0]));
    if (i < p->n_normalizers || p->n_cuts == 0 || p->cuts[0].kind != CUT_METASPACE || !text_is(&p->cuts[0].text, mark))
        return 0;
    *prefix = p->cuts[0].scheme != PREPEND_NEVER;
    return p->n_cuts == 1 || (p->n_cuts == 2 && p->cuts[1].kind == CUT_SPLIT &&
                              p->cuts[1].split.behavior == SPLIT_MERGED_WITH_NEXT);
}

/* What a "t5" may have in front: one character map. */
static int map_of(const struct Pipeline *p, const CharsMap **map, int *prefix) {
    struct Pipeline rest = *p;
    *map = NULL;
    if (rest.n_normalizers && rest.normalizers[0].kind == NORMALIZE_PRECOMPILED) {
        *map = rest.normalizers[0].map;
        rest.normalizers++, rest.n_normalizers--;
    }
    return spaces_of(&rest, prefix);
}

static int is_bert(const struct Pipeline *p) {
    return p->n_normalizers == 1 && p->normalizers[0].kind == NORMALIZE_BERT && p->normalizers[0].bert.clean_text &&
        p->normalizers[0].bert.handle_chinese_chars && p->n_cuts == 2 &&
           is_named(&p->cuts[0].split, "WhitespaceSplit") &&
           is_named(&p->cuts[1].split, "Punctuation") && text_is(&p->prefix, "##") && p->max_chars == 100;
}

static int is_normal(const Tokenizer *t, int id) { return id >= 0 && t->pieces[id].kind == PIECE_NORMAL; }

/* "llama" joins whatever two pieces make a third: is each such pair a merge? Then there are as many of these as of
 * those. */
static int joins_all(const Tokenizer *t) {
    const Bpe *b = &pipeline_of(t)->bpe;
    size_t pairs = 0, merges = 0;
    for (size_t i = 0; i <= b->mask; i++) {
        const MergeSlot *m = &b->slots[i];
        merges += is_normal(t, m->id) && is_normal(t, (int)m->left) && is_normal(t, (int)m->right);
    }
    for (size_t i = 0; i < t->n; i++) {
        const Entry *e = &t->pieces[i];
        const char *s = t->bytes + e->start;
        if (e->kind != PIECE_NORMAL || e->len == 0) continue;
        for (size_t k = pieces_char(t, s, e->len); k < e->len; k += pieces_char(t, s + k, e->len - k))
            pairs += is_normal(t, pieces_find(t, s, k)) && is_normal(t, pieces_find(t, s + k, e->len - k));
    }
    return pairs == merges;
}

/* The kind, and what is wrong where there is none. */
static const char *kind_of(const Tokenizer *t, Vocabulary *v, const CharsMap **map) {
    const struct Pipeline *p = t->own;
    int prefix = 0;
    if (p->model == MODEL_BPE && p->bpe.prefix_len + p->bpe.suffix_len)
        return "is BPE with a prefix or suffix, and GGUF has no key for that";
    if (p->model == MODEL_BPE && pre_of(p)) {
        v->model = "gpt2";
        v->pre = pre_of(p)->name;
        return NULL;
    }
    if (p->model == MODEL_BPE && p->bpe.byte_fallback && spaces_of(p, &prefix)) {
        if (!joins_all(t)) return "has pieces that its merges do not join, and GGUF's \"llama\" would";
        v->model = "llama";
    }
    if (p->model == MODEL_UNIGRAM && map_of(p, map, &prefix)) v->model = "t5";
    if (p->model == MODEL_WORDPIECE && is_bert(p)) {
        v->model = "bert";
        v->lower_case = p->normalizers[0].bert.lowercase;
        v->strip_accents = p->normalizers[0].bert.strip_accents;
    }
    v->add_space_prefix = prefix;
    return v->model ? NULL : "cuts its text in a way that GGUF has no name for";
}

/* How many tokens the template puts in front of a text (end 0) or behind it (1), and the outermost one's id, if any. */
static size_t around(const Tokenizer *t, int end, long *id) {
    const Template *p = &pipeline_of(t)->single;
    size_t n = 0;
    while (n < p->n && p->items[end ? p->n - 1 - n : n].id >= 0) n++;
    if (n) *id = p->items[end ? p->n - 1 : 0].id;
    return n;
}

/* Whether text of bytes spelled as characters can hold one that is no piece. */
static int lacks_bytes(const Tokenizer *t) {
    char name[4];
    for (int b = 0; b < 256; b++)
        if (pieces_find(t, name, (size_t)byte_char((uint8_t)b, name)) < 0) return 1;
    return 0;
}

/* Neither makes this token's text of another text, nor another one of it. */
static int leaves_alone(const Normalizer *z, const char *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] >= 0x80 || s[i] == ' ') return 0;
    return z->kind == NORMALIZE_NFC || (z->kind == NORMALIZE_REPLACE && text_is(&z->from, " "));
}

/* Whether a token is found in the text as the normalizers leave it, and that is another one for it. */
static int found_in_another(const Tokenizer *t, const AddedToken *token) {
    const struct Pipeline *p = pipeline_of(t);
    const Entry *e = &t->pieces[token->id];
    for (size_t i = 0; token->normalized && i < p->n_normalizers; i++)
        if (!leaves_alone(&p->normalizers[i], t->bytes + e->start, e->len)) return 1;
    return 0;
}

/* What GGUF's keys do not say, and llama.cpp's converter leaves out. */
static const char *lost_of(const Tokenizer *t, const char *model, const CharsMap *map, size_t front, size_t behind) {
    const struct Pipeline *p = pipeline_of(t);
    if (strcmp(model, "gpt2") == 0 && (p->bpe.unk != -1 || p->bpe.byte_fallback) && lacks_bytes(t))
        return "has no piece for some bytes, and names one for what is unknown";
    for (size_t i = 0; i < p->n_added; i++)
        if (p->added[i].lstrip || p->added[i].rstrip || p->added[i].single_word)
            return "has tokens that take the spaces around them or stand as words only";
    for (size_t i = 0; i < p->n_added; i++)
        if (found_in_another(t, &p->added[i])) return "has tokens that are found behind its normalizers";
    if (p->model == MODEL_UNIGRAM && unigram_has_bytes(t)) return "spells in bytes what is no piece of a unigram model";
    if (map) return "looks up clusters of characters in its map, and takes the shortest rule";
    if (p->single.n && p->single.n != front + behind + 1) return "puts tokens into a text, or the text more than once";
    return front > 1 || behind > 1 ? "puts more than one token in front of a text or behind it" : NULL;
}

static int by_rank(const void *a, const void *b) {
    const MergeSlot *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return x->left != y->left ? (x->left < y->left ? -1 : 1) : (x->right > y->right) - (x->right < y->right);
}

/* The merges in their order: malloc'ed, *n of them; NULL without memory. */
static MergeSlot *merges_of(const Bpe *b, size_t *n) {
    MergeSlot *list = calloc(b->n + 1, sizeof *list);
    *n = 0;
    for (size_t i = 0; list && i <= b->mask; i++)
        if (b->slots[i].id >= 0) list[(*n)++] = b->slots[i];
    if (list) qsort(list, *n, sizeof *list, by_rank);
    return list;
}

static char *copy_piece(const Tokenizer *t, size_t id, char *to) {
    const Entry *e = &t->pieces[id];
    memcpy(to, t->bytes + e->start, e->len);
    return to + e->len;
}

/* A piece's text as the kind spells it. */
static char *spell(const Tokenizer *t, const char *model, size_t id, char *to) {
    const Entry *e = &t->pieces[id];
    const char *s = t->bytes + e->start;
    if (strcmp(model, "bert") != 0 || e->kind != PIECE_NORMAL) return copy_piece(t, id, to);
    int goes_on = e->len > 2 && memcmp(s, "##", 2) == 0;
    if (!goes_on) memcpy(to, mark, 3);
    memcpy(to + (goes_on ? 0 : 3), s + (goes_on ? 2 : 0), e->len - (goes_on ? 2 : 0));
    return to + e->len + (goes_on ? -2 : 3);
}

static int type_of(const Tokenizer *t, size_t id) {
    int kind = t->pieces[id].kind;
    const struct Pipeline *p = pipeline_of(t);
    int unknown = (int)id == t->unk && !p->spells_bytes && p->model != MODEL_WORDPIECE;
    return unknown ? PIECE_UNKNOWN : kind == PIECE_ADDED ? PIECE_USER_DEFINED : kind;
}

/* "llama" merges by the pieces' scores: minus the rank of the first merge that makes a piece, characters last. */
static void score(Piece *pieces, size_t n, const MergeSlot *merges, size_t n_merges) {
    for (size_t i = 0; i < n; i++)
        if (pieces[i].type == PIECE_NORMAL) pieces[i].score = -(float)n_merges - 1;
    for (size_t i = n_merges; i-- > 0;) pieces[merges[i].id].score = -(float)i;
}

/* The merges as merges.txt spells them, their texts from `text` on; where these end. */
static char *spell_merges(const Tokenizer *t, const MergeSlot *list, size_t n, Merge *merges, char *text) {
    for (size_t i = 0; i < n; i++) {
        char *end = copy_piece(t, list[i].left, text);
        *end++ = ' ';
        end = copy_piece(t, list[i].right, end);
        merges[i] = (Merge){.text = text, .len = (size_t)(end - text)};
        text = end;
    }
    return text;
}

int pipeline_vocabulary(Vocabulary *v, const Tokenizer *t, const char *name, char *err, size_t errlen) {
    const struct Pipeline *p = t->own;
    const CharsMap *map = NULL;
    long bos = t->bos, eos = t->eos;
    v->lower_case = v->strip_accents = -1;
    const char *why = kind_of(t, v, &map);
    if (why) return base_error(err, errlen, -EINVAL, "%s: a tokenizer that %s", name, why);
    v->lost = lost_of(t, v->model, map, around(t, 0, &bos), around(t, 1, &eos));
    size_t n_merges, map_size = 0, texts = 0, room;
    const uint8_t *blob = map ? charsmap_blob(map, &map_size) : NULL;
    MergeSlot *list = merges_of(&p->bpe, &n_merges);
    int gpt2 = strcmp(v->model, "gpt2") == 0;
    for (size_t i = 0; i < t->n; i++) texts += (size_t)t->pieces[i].len + 3;
    for (size_t i = 0; list && gpt2 && i < n_merges; i++)
        texts += (size_t)t->pieces[list[i].left].len + t->pieces[list[i].right].len + 1;
    /* of things that are in memory already */
    room = texts + map_size + t->n * sizeof(Piece) + (gpt2 ? n_merges : 0) * sizeof(Merge) + 1;
    Piece *pieces = list ? malloc(room) : NULL;
    if (!pieces) {
        free(list);
        return base_error(err, errlen, -ENOMEM, "%s: no memory for its vocabulary", name);
    }
    Merge *merges = (Merge *)(pieces + t->n);
    char *text = (char *)(merges + (gpt2 ? n_merges : 0));
    for (size_t i = 0; i < t->n; i++) {
        char *end = spell(t, v->model, i, text);
        pieces[i] = (Piece){.text = text, .len = (size_t)(end - text), .score = p->model == MODEL_UNIGRAM
                            ? t->pieces[i].score : 0, .type = type_of(t, i)};
        text = end;
    }
    if (gpt2) text = spell_merges(t, list, n_merges, merges, text);
    if (p->model == MODEL_BPE && !gpt2) score(pieces, t->n, list, n_merges);
    free(list);
    if (map_size) memcpy(text, blob, map_size);
    v->pieces = pieces, v->n = t->n;
    v->merges = gpt2 ? merges : NULL, v->n_merges = gpt2 ? n_merges : 0;
    v->charsmap = map_size ? text : NULL, v->charsmap_size = map_size;
    v->bos_id = bos, v->eos_id = eos, v->unk_id = t->unk;
    v->add_bos = pipeline_adds(t, 0), v->add_eos = pipeline_adds(t, 1);
    v->remove_extra_whitespaces = 0;
    return 0;
}
