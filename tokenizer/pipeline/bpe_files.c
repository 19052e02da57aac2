/* tokenizer/pipeline/bpe_files.c - byte-level BPE without a tokenizer.json: GPT-2's pair of vocab.json and merges.txt,
 * tiktoken's rank files (Llama 3's tokenizer.model, Qwen's qwen.tiktoken), GGUF's "gpt2". None of them says all: how
 * the text is cut into words comes from tokenizer.ggml.pre, from --pre, or from the vocabulary, where it is a known one
 * (bpe_known.c). */
#include "bpe_files.h"
#include "tokenizer_json.h"
#include "base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(const Tokenizer *t, char *err, size_t errlen) {
    return base_error(err, errlen, -ENOMEM, "%s: no memory", t->name);
}

int bytes_begin(Tokenizer *t, char *err, size_t errlen) {
    Decoder *d;
    int rc = pipeline_begin(t, err, errlen);
    if (rc == 0) pipeline_of(t)->spells_bytes = 1;
    if (rc == 0 && pipeline_add_decoder(t->own, DECODE_BYTES, &d)) rc = no_memory(t, err, errlen);
    return rc;
}

/* Spaces as U+2581 and no byte-level spelling: unknown characters are byte pieces. */
static int raw_text(Tokenizer *t) {
    struct Pipeline *p = t->own;
    Normalizer *z;
    int rc = pipeline_add_normalizer(p, NORMALIZE_REPLACE, &z);
    if (rc == 0) rc = text_put(&z->from, " ", 1);
    if (rc == 0) rc = text_put(&z->to, "\xe2\x96\x81", 3);
    p->bpe.byte_fallback = 1;
    p->decoders[0].kind = DECODE_REPLACE;
    if (rc == 0) rc = text_put(&p->decoders[0].from, "\xe2\x96\x81", 3);
    if (rc == 0) rc = text_put(&p->decoders[0].to, " ", 1);
    p->spells_bytes = 0;
    for (size_t i = 0; i < t->n; i++)
        if (pieces_byte_value(t->bytes + t->pieces[i].start, t->pieces[i].len) >= 0) t->pieces[i].kind = PIECE_BYTE;
    return rc ? rc : special_finish(t, NULL, 0);
}

/* The steps that cut a text, then its bytes as characters. */
static int cut_by(Tokenizer *t, const PreTokenizer *pre) {
    struct Pipeline *p = t->own;
    Normalizer *z;
    Cut *c;
    SplitStep steps[SPLIT_GGUF_STEPS];
    size_t n = split_gguf_steps(pre, steps);
    int rc = pre->nfc ? pipeline_add_normalizer(p, NORMALIZE_NFC, &z) : 0;
    for (size_t i = 0; i < n && rc == 0; i++)
        if ((rc = pipeline_add_cut(p, CUT_SPLIT, &c)) == 0) c->split = steps[i];
    p->pre = pre;
    p->bpe.ignore_merges = pre->ignore_merges;
    if (rc == 0) rc = pre->raw ? raw_text(t) : pipeline_add_cut(p, CUT_BYTES, &c);
    return rc;
}

/* wanted: the caller's choice; says: what the file says; folder_class: what a file beside it says. Each may be NULL. */
static int choose_pre(Tokenizer *t, const char *wanted, const char *says, const char *folder_class, char *err,
                      size_t errlen) {
    const KnownVocabulary *known = NULL;
    const char *name = wanted ? wanted : says;
    if (!name && (known = known_vocabulary(t))) name = known->pre;
    if (!name) name = folder_class;
    if (!name)
        return base_error(err, errlen, -EINVAL,
                          "%s: nothing says how its text is cut into words, and the vocabulary is none that is known: "
                          "give its pre-tokenizer with --pre (gpt-2, llama-bpe, qwen2 ..)", t->name);
    const PreTokenizer *pre = split_gguf(name, strlen(name));
    if (!pre) return base_error(err, errlen, -EINVAL, "%s: the pre-tokenizer \"%.80s\" is not known", t->name, name);
    return cut_by(t, pre) ? no_memory(t, err, errlen) : 0;
}

/* ---- tiktoken: lines "base64 rank"; the rank is the id, and says in which order pairs join ---- */

static const char *line_end(const char *p, const char *end) {
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    return newline ? newline : end;
}

int tiktoken_is(const uint8_t *data, size_t size) {
    const char *p = (const char *)data, *end = line_end(p, p + size), *space = memchr(p, ' ', (size_t)(end - p));
    if (!space || space == p || space + 1 == end || space[1] < '0' || space[1] > '9') return 0;
    return base64_decode(p, (size_t)(space - p), NULL) == 0; /* no memory: a file is the same kind with and without */
}

enum {
    RANK_BYTES_MAX = 512, /* of a piece: bounds the ways to cut it in two */
    HOLES_MAX = 65536     /* ranks that a file leaves out in all: some leave the special tokens' */
};

int rank_add(Tokenizer *t, const Text *raw, char *err, size_t errlen) {
    Text text = {.n = 0};
    if (raw->n > RANK_BYTES_MAX)
        return base_error(err, errlen, -EINVAL, "%s: piece %zu is longer than %d bytes", t->name, t->n, RANK_BYTES_MAX);
    int rc = bytes_as_text(raw->p, raw->n, &text);
    rc = rc ? no_memory(t, err, errlen) : pieces_add(t, text.p, text.n, 0, PIECE_NORMAL, err, errlen);
    text_release(&text);
    return rc;
}

/* One line, which `lines` others precede. */
static int read_rank(Tokenizer *t, const char *line, size_t n, size_t lines, Text *raw, char *err, size_t errlen) {
    const char *space = memchr(line, ' ', n);
    unsigned long rank = 0;
    size_t i = space ? (size_t)(space - line) + 1 : n;
    int rc = space ? 0 : -EINVAL;
    raw->n = 0;
    for (; i < n && line[i] >= '0' && line[i] <= '9' && rank < INT32_MAX; i++)
        rank = rank * 10 + (unsigned long)(line[i] - '0');
    if (rc == 0) rc = base64_decode(line, (size_t)(space - line), raw);
    if (rc == -ENOMEM) return no_memory(t, err, errlen);
    if (rc || line[n - 1] == ' ' || (i < n && line[i] != '\r') || raw->n == 0)
        return base_error(err, errlen, -EINVAL,
                          "%s: behind rank %zu: a line that is not a piece in base64 and its rank", t->name, t->n);
    if (rank < t->n || rank - lines > HOLES_MAX)
        return base_error(err, errlen, -EINVAL, "%s: the rank %lu stands behind %zu", t->name, rank, t->n);
    while (t->n < rank)
        if ((rc = pieces_add(t, "", 0, 0, PIECE_UNUSED, err, errlen))) return rc;
    return rank_add(t, raw, err, errlen);
}

/* All ways to cut a piece into two. */
static int add_cuts(Tokenizer *t, int id) {
    const Entry *e = &t->pieces[id];
    const char *s = t->bytes + e->start;
    int rc = 0;
    for (size_t i = e->len ? pieces_char(t, s, e->len) : 0; i < e->len &&
         rc == 0; i += pieces_char(t, s + i, e->len - i)) {
        int left = pieces_find(t, s, i), right = pieces_find(t, s + i, e->len - i);
        if (left >= 0 && right >= 0) rc = bpe_add(&pipeline_of(t)->bpe, left, right, (uint32_t)id, id);
    }
    return rc;
}

int ranks_join(Tokenizer *t, size_t first, char *err, size_t errlen) {
    int rc = 0;
    for (size_t i = first; i < t->n && rc == 0; i++) rc = add_cuts(t, (int)i);
    pipeline_of(t)->bpe.ignore_merges = 1; /* tiktoken takes a word that is a piece as it is */
    return rc == 0 ? 0 : base_error(err, errlen, rc, "%s: %s", t->name,
                                    rc == -ENOMEM ? "no memory for its merges" : "the pieces all hash alike");
}

int tiktoken_read(Tokenizer *t, const uint8_t *data, size_t size, const char *pre, char *err, size_t errlen) {
    const char *p = (const char *)data, *end = p + size, *stop;
    Text raw = {.n = 0};
    size_t lines = 0;
    int rc = bytes_begin(t, err, errlen);
    for (; p < end && rc == 0; p = stop + 1) {
        stop = line_end(p, end);
        if (stop > p) rc = read_rank(t, p, (size_t)(stop - p), lines++, &raw, err, errlen);
        if (stop == end && rc == 0) break;
    }
    text_release(&raw);
    if (rc == 0) rc = pieces_finish_unique(t, err, errlen);
    if (rc == 0) pipeline_of(t)->bpe.n_model = (int)t->n;
    t->kind = "byte-level BPE (tiktoken)";
    if (rc == 0) rc = choose_pre(t, pre, NULL, NULL, err, errlen);
    return rc ? rc : ranks_join(t, 0, err, errlen);
}

/* ---- vocab.json and merges.txt ---- */

static int read_merge_lines(Tokenizer *t, const char *data, size_t size, char *err, size_t errlen) {
    const char *end = data + size, *stop;
    uint32_t rank = 0;
    int rc = 0;
    for (const char *p = data; p < end && rc == 0; p = stop + 1) {
        stop = line_end(p, end);
        size_t n = (size_t)(stop - p);
        if (n && p[n - 1] == '\r') n--;
        if (n && !(n >= 8 && memcmp(p, "#version", 8) == 0)) rc = bpe_add_line(&pipeline_of(t)->bpe, t, p, n, rank++);
        if (stop == end) break;
    }
    return rc ? bpe_refuse(t, rc, rank - 1, err, errlen) : 0;
}

int vocab_merges_read(Tokenizer *t, const char *vocab, const char *merges, const char *pre, const char *folder_class,
                      char *err,
                      size_t errlen) {
    Json j;
    MappedFile f;
    int rc = json_open(&j, vocab, err, errlen);
    if (rc) return rc;
    rc = bytes_begin(t, err, errlen);
    if (rc == 0) rc = json_vocabulary(t, j.root, err, errlen);
    if (rc == 0) pipeline_of(t)->bpe.n_model = (int)t->n;
    json_free(&j);
    if (rc == 0) rc = pieces_finish_unique(t, err, errlen);
    if (rc == 0) rc = file_map(&f, merges, err, errlen);
    if (rc) return rc;
    rc = read_merge_lines(t, (const char *)f.data, f.size, err, errlen);
    file_unmap(&f);
    t->kind = "byte-level BPE (vocab.json and merges.txt)";
    return rc ? rc : choose_pre(t, pre, NULL, folder_class, err, errlen);
}

/* ---- GGUF: tokenizer.ggml.model gpt2 ---- */

static int is_added(const Piece *p) {
    return p->type == PIECE_CONTROL || p->type == PIECE_USER_DEFINED || p->type == PIECE_UNKNOWN;
}

int gpt2_vocabulary(Tokenizer *t, const Vocabulary *v, const char *wanted, char *err, size_t errlen) {
    int rc = bytes_begin(t, err, errlen);
    for (size_t i = 0; i < v->n && rc == 0; i++)
        rc = pieces_add(t, v->pieces[i].text, v->pieces[i].len, 0, PIECE_NORMAL, err, errlen);
    if (rc == 0 && !v->merges) rc = base_error(err, errlen, -EINVAL, "%s: no tokenizer.ggml.merges", t->name);
    if (rc == 0) rc = special_finish(t, err, errlen);
    for (size_t i = 0; i < v->n_merges && rc == 0; i++) {
        rc = bpe_add_line(&pipeline_of(t)->bpe, t, v->merges[i].text, v->merges[i].len, (uint32_t)i);
        if (rc) bpe_refuse(t, rc, (uint32_t)i, err, errlen);
    }
    for (size_t i = 0; i < v->n && rc == 0; i++) {
        AddedToken token = {.id = (int)i, .special = v->pieces[i].type != PIECE_USER_DEFINED};
        if (is_added(&v->pieces[i]) && v->pieces[i].len) rc = pipeline_add_token(t, token, err, errlen);
    }
    t->kind = "byte-level BPE (GGUF)";
    const char *pre = v->pre ? v->pre : strcmp(v->model, "gpt2") == 0 ? NULL : v->model; /* "gemma4" is its own */
    return rc ? rc : choose_pre(t, wanted, pre, NULL, err, errlen);
}
