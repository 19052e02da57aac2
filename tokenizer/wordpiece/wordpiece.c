/* tokenizer/wordpiece/wordpiece.c - WordPiece (BERT, RoFormer): a word becomes the longest piece it begins with, and
 * again.
 *
 *     unaffable    un ##aff ##able      "##" marks a piece that goes on; no piece fits somewhere: the whole word is
 *     [UNK]
 *
 * The order is that of transformers' slow tokenizers (4.57): special tokens are cut out of the text, what lies between
 * is lower-cased; for a word model jieba cuts it, and a word of jieba's that is a piece is taken whole; everything else
 * goes through BasicTokenizer (basic.c), and each of its words through WordPiece. A line at a time: a newline ends
 * every word and touches nothing else, so no buffer is longer than the longest line. */
#include "wordpiece.h"

#include "tokenizer/special.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 64 << 20 }; /* of a vocabulary, and of a line; the buffers of a line take 40 times as much */

/* ---- text to ids ---- */

typedef struct {
    const Tokenizer *t;
    const struct WordPiece *w;
    Ids *out;
    Points line, before, tmp, clean;
    double *score;  /* jieba's: [cap + 1] */
    uint32_t *next; /* [cap] */
    size_t cap;
} WordWork;

static int emit_word(WordWork *k, const uint32_t *word, size_t n) {
    size_t begin = k->out->n, len = 0;
    int rc = 0, known = n <= k->w->max_chars;
    for (size_t i = 0; i < n && known && rc == 0; i += len) {
        int id = i && !k->w->tail ? -1 : trie_longest(&k->w->pieces, i ? k->w->tail : 0, word + i, n - i, &len);
        known = id >= 0;
        if (known) rc = ids_push(k->out, id);
    }
    if (known || rc) return rc;
    k->out->n = begin;
    return ids_push(k->out, k->t->unk);
}

/* A special token that came to light when the text was cleaned ("[MA\0SK]" in a cased model) is not cut up: its id, or
 * -1. */
static int never_split(const WordWork *k, const uint32_t *word, size_t n) {
    int id = k->w->rules.keras ? -1 : trie_find(&k->w->pieces, word, n);
    return id >= 0 && (id == k->t->unk || k->t->pieces[id].kind == PIECE_CONTROL) ? id : -1;
}

static int emit_text(WordWork *k, const uint32_t *text, size_t n) {
    int rc = basic_clean(&k->w->rules, text, n, &k->tmp, &k->clean);
    const uint32_t *cp = k->clean.cp;
    for (size_t i = 0, len; rc == 0 && (len = basic_stretch(cp, k->clean.n, &i)) > 0; i += len) {
        int id = never_split(k, cp + i, len);
        if (id >= 0) rc = ids_push(k->out, id);
        for (size_t j = 0, part; id < 0 && j < len && rc == 0; j += part) {
            part = basic_word(cp + i + j, len - j);
            rc = emit_word(k, cp + i + j, part);
        }
    }
    return rc;
}

static int emit_cut(WordWork *k, const uint32_t *text, size_t n) {
    if (n > k->cap) {
        size_t cap = n * 2;
        free(k->score);
        free(k->next);
        k->score = calloc(cap + 1, sizeof *k->score);
        k->next = calloc(cap, sizeof *k->next);
        k->cap = k->score && k->next ? cap : 0;
        if (!k->cap) return -ENOMEM;
    }
    jieba_route(&k->w->jieba, text, n, k->w->rules.keras, k->score, k->next);
    int rc = 0;
    for (size_t i = 0, end; i < n && rc == 0; i = end) {
        end = jieba_word(text, n, k->next, i);
        int id = trie_find(&k->w->pieces, text + i, end - i);
        rc = id >= 0 ? ids_push(k->out, id) : emit_text(k, text + i, end - i);
    }
    return rc;
}

/* Ill-formed UTF-8 is U+FFFD for each bad byte, and U+FFFD says nothing. */
static int emit_line(WordWork *k, const char *text, size_t len) {
    k->line.n = k->before.n = 0;
    if (points_reserve(&k->line, len)) return -ENOMEM;
    for (size_t i = 0; i < len;) {
        uint32_t c = 0xfffd;
        int n = utf8_decode(text + i, len - i, &c);
        k->line.cp[k->line.n++] = c;
        i += n ? (size_t)n : 1;
    }
    int rc = basic_before(&k->w->rules, k->line.cp, k->line.n, &k->tmp, &k->before);
    if (rc) return rc;
    const uint32_t *cp = k->before.cp;
    size_t n = k->before.n;
    return n == 0 ? 0 : k->w->cuts ? emit_cut(k, cp, n) : emit_text(k, cp, n);
}

static int encode(const Tokenizer *t, const char *text, size_t len, int first, Ids *out, char *err, size_t errlen) {
    WordWork k = {.t = t, .w = t->own, .out = out};
    int rc = 0;
    (void)first;
    for (size_t i = 0; i < len && rc == 0;) {
        const char *newline = memchr(text + i, '\n', len - i);
        size_t n = newline ? (size_t)(newline - text) - i : len - i;
        if (n <= MAX_BYTES) rc = emit_line(&k, text + i, n);
        else
            rc = base_error(err, errlen, -EINVAL, "a line of %zu bytes is too long to encode (the limit is %d)", n,
                            MAX_BYTES);
        i += n + 1;
    }
    points_free(&k.line);
    points_free(&k.before);
    points_free(&k.tmp);
    points_free(&k.clean);
    free(k.score);
    free(k.next);
    return rc;
}

/* ---- ids to text: pieces with spaces between, "##" glued on, then transformers' clean_up_tokenization ---- */

static int begins(const char *p, size_t n, const char *with) {
    size_t len = strlen(with);
    return n >= len && memcmp(p, with, len) == 0;
}

/* The clean-up takes spaces away: in front of . ? ! , then on both sides of an apostrophe, then in front of n't 'm 's
 * 've 're. So words wait in the stream until it is known what follows them: an apostrophe, an n, an n and an
 * apostrophe. */
enum { NOTHING, QUOTE, N, N_QUOTE };

static size_t put(char *out, const char *text) {
    size_t n = strlen(text);
    memcpy(out, text, n);
    return n;
}

/* What an apostrophe and this text make is a contraction. */
static int contracts(const char *p, size_t n) {
    return begins(p, n, "m") || begins(p, n, "s") || begins(p, n, "ve") || begins(p, n, "re");
}

/* Write what waits, now that p [n] follows it; *space: with a space between, which an apostrophe takes. */
static size_t write_waiting(int waits, const char *p, size_t n, int glued, int *space, char *out) {
    if (waits == NOTHING) return 0;
    if (waits == N) return put(out, " n");
    size_t k = 0;
    if (waits == N_QUOTE) k = put(out, *space && begins(p, n, "t") ? "n" : " n");
    k += put(out + k, *space || (glued && contracts(p, n)) ? "'" : " '");
    *space = 0;
    return k;
}

/* Characters that are written without spaces: Chinese ones, kana, and the punctuation between them. */
static int is_wide(uint32_t cp) {
    return basic_is_chinese(cp) || (cp >= 0x3000 && cp < 0x3100) || (cp >= 0xff00 && cp < 0xfff0);
}

/* Whether piece [n >= 1] begins with one; *wide: and whether it ends with one. */
static int begins_wide(const char *p, size_t n, int *wide) {
    uint32_t first = 0, last = 0;
    for (size_t i = 0; i < n;) {
        int len = utf8_decode(p + i, n - i, &last);
        if (i == 0) first = last;
        i += len ? (size_t)len : 1;
    }
    *wide = is_wide(last);
    return is_wide(first);
}

/* With spaces between; the first piece keeps its "##", as in transformers. */
static size_t spell(const Tokenizer *t, TokenStream *s, int id, char *out) {
    const Entry *e = &t->pieces[id];
    const char *p = t->bytes + e->start;
    size_t n = e->len, k = 0;
    const struct WordPiece *w = t->own;
    int clean = w->clean_up == 1, glued = s->begun && begins(p, n, "##"), space = s->begun && !glued,
        was_wide = s->wide;
    if (n == 0) return 0; /* an empty line of vocab.txt, or an id that nobody took */
    if ((begins_wide(p, n, &s->wide) || was_wide) && s->tight) space = 0;
    if (glued) {
        p += 2;
        n -= 2;
    }
    if (n == 0) return 0; /* a bare "##" parts nothing, and what waits goes on waiting */
    if (clean && memchr(".?!,", *p, 4)) space = 0;
    int quote = clean && space && n == 1 && *p == '\'', a_n = clean && space && n == 1 && *p == 'n';
    s->begun = 1;
    if (s->waits == N && quote) {
        s->waits = N_QUOTE;
        return 0;
    }
    k = write_waiting(s->waits, p, n, glued, &space, out);
    s->waits = !space ? NOTHING : quote ? QUOTE : a_n ? N : NOTHING;
    if (s->waits) return k;
    int shortens = clean && (begins(p, n, "n't") || (*p == '\'' && contracts(p + 1, n - 1)));
    if (space && !shortens) out[k++] = ' ';
    memcpy(out + k, p, n);
    return k + n;
}

static size_t end_of_text(TokenStream *s, char *out) {
    static const char *const waiting[] = {"", " '", " n", " n '"};
    int waits = s->waits;
    s->waits = NOTHING;
    return put(out, waiting[waits]);
}

/* Special tokens are always found, as transformers does it. */
static int encode_all(const Tokenizer *t, const char *text, size_t len, int flags, Ids *out, char *err, size_t errlen) {
    return special_encode(t, text, len, flags | ENCODE_SPECIAL, out, err, errlen);
}

static size_t decode(const Tokenizer *t, TokenStream *s, int id, char *out) {
    size_t n = decode_piece(t, s, id, out);
    return id < 0 ? n + end_of_text(s, out + n) : n;
}

static void close_body(Tokenizer *t) {
    struct WordPiece *w = t->own;
    special_free(t);
    if (!w) return;
    trie_free(&w->pieces);
    jieba_close(&w->jieba);
    free(w);
}

static const Body wordpiece_body = {encode_all, decode, encode, spell, NULL, close_body};

struct WordPiece *wordpiece_of(const Tokenizer *t) { return t->body == &wordpiece_body ? t->own : NULL; }

/* ---- the vocabulary ---- */

static int is_line(const char *p, const char *end) { return end - p == 5 && memcmp(p, "[UNK]", 5) == 0; }

/* The end of the line at p; *next is where the one behind it begins. As Python reads text: "\n", "\r\n" and "\r" end a
 * line. */
static const char *line_end(const char *p, const char *end, const char **next) {
    while (p < end && *p != '\n' && *p != '\r') p++;
    *next = p == end ? end : p + (*p == '\r' && p + 1 < end && p[1] == '\n' ? 2 : 1);
    return p;
}

int wordpiece_vocab_is(const uint8_t *data, size_t size) {
    const char *p = (const char *)data, *end = p + size, *next;
    if (size > MAX_BYTES) return 0;
    for (; p < end; p = next) {
        const char *stop = line_end(p, end, &next);
        if (is_line(p, stop)) return 1;
        for (const char *c = p; c < stop; c++)
            if ((unsigned char)*c < 0x20 && *c != '\t') return 0; /* no text: it ends here, however long the file is */
    }
    return 0;
}

static int begin(Tokenizer *t, size_t expected, char *err, size_t errlen) {
    t->kind = "WordPiece";
    struct WordPiece *w = calloc(1, sizeof *w);
    if (!w) return base_error(err, errlen, -ENOMEM, "%s: no memory", t->name);
    t->body = &wordpiece_body;
    t->own = w;
    w->pad = w->mask = w->clean_up = -1;
    w->do_lower_case = w->strip_accents = w->tokenize_chinese_chars = w->do_basic_tokenize = -1;
    if (trie_init(&w->pieces, expected))
        return base_error(err, errlen, -ENOMEM, "%s: no memory for the vocabulary", t->name);
    return 0;
}

/* The next piece. One that stood before: the last id counts, as in a Python dict. */
static int add_piece(Tokenizer *t, const char *text, size_t len, int kind, char *err, size_t errlen) {
    struct WordPiece *w = t->own;
    uint32_t cp[WORD_MAX], node = 0;
    int too_long, chinese = 0;
    size_t n = word_decode(text, len, cp, WORD_MAX, &too_long);
    if (n == 0 && len)
        return too_long ? base_error(err, errlen, -EINVAL, "%s: piece %zu has more than %d characters", t->name, t->n,
                                     WORD_MAX)
                        : base_error(err, errlen, -EINVAL, "%s: piece %zu is not UTF-8", t->name, t->n);
    int rc = pieces_add(t, text, len, 0, kind, err, errlen);
    for (size_t i = 0; i < n && rc == 0; i++) {
        rc = trie_add(&w->pieces, node, cp[i], &node);
        if (rc == -EINVAL) return base_error(err, errlen, rc, "%s: the vocabulary's texts all hash alike", t->name);
        if (rc) return base_error(err, errlen, rc, "%s: no memory for the vocabulary", t->name);
        chinese += basic_is_chinese(cp[i]);
    }
    if (rc == 0) w->pieces.nodes[node].value = (int32_t)(t->n - 1);
    if (chinese > 1 && cp[0] != '#') w->n_words++;
    return rc;
}

int wordpiece_vocab_read(Tokenizer *t, const uint8_t *data, size_t size, char *err, size_t errlen) {
    const char *p = (const char *)data, *end = p + size, *next;
    int rc = begin(t, size / 8, err, errlen);
    for (; p < end && rc == 0; p = next) {
        const char *stop = line_end(p, end, &next);
        rc = add_piece(t, p, (size_t)(stop - p), PIECE_NORMAL, err, errlen);
    }
    return rc;
}

int wordpiece_vocabulary(Tokenizer *t, const Vocabulary *v, char *err, size_t errlen) {
    int rc = begin(t, v->n, err, errlen);
    for (size_t i = 0; i < v->n && rc == 0; i++) {
        const Piece *p = &v->pieces[i];
        int kind = p->type == PIECE_USER_DEFINED ? PIECE_ADDED : p->type == PIECE_CONTROL ? PIECE_CONTROL
            : PIECE_NORMAL;
        if (p->type < PIECE_NORMAL || p->type > PIECE_UNUSED)
            rc = base_error(err, errlen, -EINVAL, "%s: piece %zu is of kind %d, which WordPiece has not", t->name, i,
                            p->type);
        else rc = add_piece(t, p->text, p->len, kind, err, errlen);
    }
    return rc;
}

/* ---- special tokens, rules, dictionary ---- */

/* The special token *id, by its usual name where no setting named it, becomes a piece of this kind. */
static void special(Tokenizer *t, int *id, const char *name, int kind) {
    uint32_t cp[8];
    int too_long;
    if (*id < 0) *id = trie_find(&wordpiece_of(t)->pieces, cp, word_decode(name, strlen(name), cp, 8, &too_long));
    if (*id >= 0) t->pieces[*id].kind = kind;
}

static int open_dictionary(Tokenizer *t, const WordPieceChoice *o, char *err, size_t errlen) {
    struct WordPiece *w = t->own;
    const char *path = o->jieba ? o->jieba : o->beside;
    if (path) return jieba_open(&w->jieba, path, err, errlen);
    return base_error(err, errlen, -EINVAL,
                      "%s: its %zu Chinese words need jieba's dictionary: put dict.txt of the Python package jieba "
                   "(pip download jieba, or github.com/fxsjy/jieba) beside the vocabulary, or name it with --jieba",
                   t->name, w->n_words);
}

static int or_else(int setting, int otherwise) { return setting >= 0 ? setting : otherwise; }

int wordpiece_finish(Tokenizer *t, const WordPieceChoice *o, char *err, size_t errlen) {
    static const char *const kinds[2][2] = {{"WordPiece", "WordPiece (bert4keras' order)"},
                                            {"WordPiece with jieba", "WordPiece with jieba (bert4keras' order)"}};
    struct WordPiece *w = t->own;
    /* found in a text like the others, but in one that comes out it is seen */
    special(t, &t->unk, "[UNK]", PIECE_ADDED);
    special(t, &t->bos, "[CLS]", PIECE_CONTROL);
    special(t, &t->eos, "[SEP]", PIECE_CONTROL);
    special(t, &w->pad, "[PAD]", PIECE_CONTROL);
    special(t, &w->mask, "[MASK]", PIECE_CONTROL);
    if (t->unk < 0) return base_error(err, errlen, -EINVAL, "%s: no piece [UNK] in this vocabulary", t->name);
    if (w->do_basic_tokenize == 0)
        return base_error(err, errlen, -EINVAL, "%s: do_basic_tokenize is false: this kind of WordPiece is not read",
                          t->name);
    t->add_bos = t->add_eos = 1;
    uint32_t tail = trie_child(&w->pieces, 0, '#');
    w->tail = tail ? trie_child(&w->pieces, tail, '#') : 0;
    int word_model = w->n_words > 0 && w->n_words >= t->n / 100;
    w->rules.keras = o->bert4keras != 0;
    w->rules.lower = or_else(o->lower_case, or_else(w->do_lower_case, 1));
    w->rules.strip = w->rules.keras ? w->rules.lower : or_else(w->strip_accents, w->rules.lower);
    w->rules.chinese = w->rules.keras || w->tokenize_chinese_chars != 0;
    w->max_chars = w->rules.keras ? 200 : 100;
    w->clean_up = or_else(w->clean_up, !word_model); /* BertTokenizer's default; RoFormerTokenizer has none */
    w->cuts = word_model || o->jieba;
    t->kind = kinds[w->cuts][w->rules.keras];
    int rc = w->cuts ? open_dictionary(t, o, err, errlen) : 0;
    return rc ? rc : special_finish(t, err, errlen);
}
