/* tokenizer/tokenizer.c - the interface: what a file is, and what every kind of tokenizer has in common. */
#include "charsmap.h"
#include "wordpiece.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef int Read(Tokenizer *t, const uint8_t *data, size_t size, char *err, size_t errlen);

/* The reader of these bytes, or NULL. */
static Read *reader_of(const uint8_t *data, size_t size) {
    int bin = llama2c_vocab_is(data, size);
    if (bin == 2) return llama2c_vocab_read;
    if (model_proto_is(data, size)) return model_proto_read;
    if (wordpiece_vocab_is(data, size)) return wordpiece_vocab_read;
    return bin ? llama2c_vocab_read : NULL; /* broken, but the reader can say where */
}

static int refuse_unknown(const MappedFile *f, const char *path, char *err, size_t errlen) {
    if (f->size >= 4 && memcmp(f->data, "GGUF", 4) == 0)
        return base_error(err, errlen, -EINVAL, "%s: a GGUF file, not a tokenizer's: open it as a model", path);
    if (f->data[0] == '{') return base_error(err, errlen, -EINVAL, "%s: a tokenizer in JSON: this kind is not read yet", path);
    return base_error(err, errlen, -EINVAL,
                      "%s: neither SentencePiece's tokenizer.model nor llama2.c's tokenizer.bin nor a vocab.txt with [UNK]",
                      path);
}

static const TokenizerOptions defaults = {.lower_case = -1};

/* What comes behind a reader of any kind. folder: where JSON files with more settings stand, or NULL; beside: where the
 * vocabulary is, or NULL. */
static int finish(Tokenizer *t, const TokenizerOptions *o, const char *folder, const char *beside, int strict, char *err,
                  size_t errlen) {
    int rc = folder ? folder_settings(t, folder, err, errlen) : 0;
    if (rc == 0 && t->wordpiece) rc = wordpiece_finish(t, o, o->folder ? o->folder : beside, err, errlen);
    return rc ? rc : pieces_finish(t, strict && !t->wordpiece, err, errlen);
}

/* Does o ask for SentencePiece's library? */
static int wants_library(const TokenizerOptions *o) { return o->backend && strcmp(o->backend, "own") != 0; }

static int use_library(Tokenizer *t, const TokenizerOptions *o, Read *read, const MappedFile *f, char *err, size_t errlen) {
    if (strcmp(o->backend, "sentencepiece") != 0)
        return base_error(err, errlen, -EINVAL, "%s: there is no tokenizer backend \"%s\": own or sentencepiece", t->name,
                          o->backend);
    if (read != model_proto_read)
        return base_error(err, errlen, -EINVAL, "%s: SentencePiece's library reads its own tokenizer.model only", t->name);
    return spm_backend_attach(t, f->data, f->size, err, errlen);
}

static int open_file(Tokenizer **out, const char *path, const char *folder, const TokenizerOptions *o, char *err,
                     size_t errlen) {
    MappedFile f;
    int rc = file_map(&f, path, err, errlen);
    if (rc) return rc;
    Tokenizer *t = pieces_new(path);
    char *beside = file_folder(path);
    Read *read = reader_of(f.data, f.size);
    if (!read) rc = refuse_unknown(&f, path, err, errlen);
    else if (!t || !beside) rc = base_error(err, errlen, -ENOMEM, "%s: no memory", path);
    if (rc == 0) rc = read(t, f.data, f.size, err, errlen);
    if (rc == 0 && wants_library(o)) rc = use_library(t, o, read, &f, err, errlen);
    if (rc == 0) rc = finish(t, o, folder, beside, 1, err, errlen);
    file_unmap(&f);
    free(beside);
    if (rc) tokenizer_free(t);
    else *out = t;
    return rc;
}

int tokenizer_open(Tokenizer **t, const char *path, char *err, size_t errlen) {
    return tokenizer_open_with(t, path, NULL, err, errlen);
}

int tokenizer_open_with(Tokenizer **t, const char *path, const TokenizerOptions *o, char *err, size_t errlen) {
    *t = NULL;
    if (!o) o = &defaults;
    if (!file_is_folder(path)) return open_file(t, path, NULL, o, err, errlen);
    const char *other;
    char *file = folder_find(path, &other);
    if (!file && other)
        return base_error(err, errlen, -EINVAL, "%s: its tokenizer is %s: this kind is not read yet", path, other);
    if (!file)
        return base_error(err, errlen, -ENOENT, "%s: no tokenizer.model, no tokenizer.bin and no vocab.txt in this folder", path);
    int rc = open_file(t, file, path, o, err, errlen);
    free(file);
    return rc;
}

int tokenizer_probe(const char *path) {
    const char *other;
    MappedFile f;
    char *file = file_is_folder(path) ? folder_find(path, &other) : NULL;
    int known = 0;
    if ((file || !file_is_folder(path)) && file_map(&f, file ? file : path, NULL, 0) == 0) {
        known = reader_of(f.data, f.size) != NULL;
        file_unmap(&f);
    }
    free(file);
    return known;
}

/* A GGUF file's tokenizers that are not read yet, and what they are called elsewhere. */
static const char *other_model(const char *model) {
    static const char *const names[][2] = {
        {"gpt2", "byte-level BPE"},
        {"bert", "WordPiece, spelled as llama.cpp spells it"},
        {"rwkv", "RWKV's"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(model, names[i][0]) == 0) return names[i][1];
    return "unknown";
}

static int take_id(const Tokenizer *t, long given, long otherwise, const char *which, int *id, char *err, size_t errlen) {
    if (given < 0) given = otherwise < (long)t->n ? otherwise : -1;
    if (given >= (long)t->n) return base_error(err, errlen, -EINVAL, "%s: the %s id is %ld, of %zu pieces", t->name, which, given, t->n);
    *id = (int)given;
    return 0;
}

static int take_pieces(Tokenizer *t, const Vocabulary *v, char *err, size_t errlen) {
    for (size_t i = 0; i < v->n; i++) {
        const Piece *p = &v->pieces[i];
        if (p->type < PIECE_NORMAL || p->type > PIECE_BYTE)
            return base_error(err, errlen, -EINVAL, "%s: piece %zu is of the unknown kind %d", t->name, i, p->type);
        if (p->type == PIECE_BYTE && pieces_byte_value(p->text, p->len) < 0)
            return base_error(err, errlen, -EINVAL, "%s: byte piece %zu names no byte", t->name, i);
        /* the converters write tokens added beside the model as user-defined ones */
        int kind = p->type == PIECE_USER_DEFINED ? PIECE_ADDED : p->type;
        int rc = pieces_add(t, p->text, p->len, p->score, kind, err, errlen);
        if (rc) return rc;
    }
    return 0;
}

/* The pieces and settings of a SentencePiece vocabulary. What a file does not say is as llama.cpp has it: "llama" begins with
 * BOS and a space, "t5" with neither, and ends with EOS. */
static int read_sentencepiece(Tokenizer *t, const Vocabulary *v, char *err, size_t errlen) {
    int t5 = strcmp(v->model, "t5") == 0;
    long none = (long)v->n, unk = t5 ? 2 : 0;
    int rc = take_pieces(t, v, err, errlen);
    if (unk >= none || v->pieces[unk].type != PIECE_UNKNOWN) unk = none;
    if (rc == 0) rc = take_id(t, v->unk_id, unk, "unknown", &t->unk, err, errlen);
    if (rc == 0) rc = take_id(t, v->bos_id, t5 ? none : 1, "bos", &t->bos, err, errlen);
    if (rc == 0) rc = take_id(t, v->eos_id, t5 ? 1 : 2, "eos", &t->eos, err, errlen);
    if (rc == 0) rc = pieces_unknown_text(t, NULL, 0, err, errlen);
    t->kind = t5 ? "SentencePiece unigram (GGUF)" : "SentencePiece BPE (GGUF)";
    t->body = &sentencepiece_body;
    t->spm = t5 ? SPM_UNIGRAM : SPM_BPE;
    t->raw_bytes = !t5;
    t->add_bos = t5 ? v->add_bos == 1 : v->add_bos != 0;
    t->add_eos = t5 ? v->add_eos != 0 : v->add_eos == 1;
    t->dummy_prefix = t5 ? v->add_space_prefix == 1 : v->add_space_prefix != 0;
    t->remove_extra_whitespaces = v->remove_extra_whitespaces == 1;
    if (rc || !t5 || !v->charsmap_size) return rc;
    return charsmap_open(&t->map, v->charsmap, v->charsmap_size, t->name, "the normalizer", err, errlen);
}

static int read_wordpiece(Tokenizer *t, const Vocabulary *v, char *err, size_t errlen) {
    int rc = wordpiece_vocabulary(t, v, err, errlen), none = (int)v->n;
    if (rc == 0) rc = take_id(t, v->unk_id, none, "unknown", &t->unk, err, errlen);
    if (rc == 0) rc = take_id(t, v->bos_id, none, "bos", &t->bos, err, errlen);
    return rc ? rc : take_id(t, v->eos_id, none, "eos", &t->eos, err, errlen);
}

int tokenizer_from_vocabulary(Tokenizer **t, const Vocabulary *v, const char *name, char *err, size_t errlen) {
    return tokenizer_from_vocabulary_with(t, v, NULL, name, err, errlen);
}

int tokenizer_from_vocabulary_with(Tokenizer **out, const Vocabulary *v, const TokenizerOptions *o, const char *name, char *err,
                                   size_t errlen) {
    *out = NULL;
    int wordpiece = strcmp(v->model, "wordpiece") == 0;
    if (!wordpiece && strcmp(v->model, "llama") != 0 && strcmp(v->model, "t5") != 0)
        return base_error(err, errlen, -EINVAL, "%s: its tokenizer is \"%s\" (%s): this kind is not read yet", name, v->model,
                          other_model(v->model));
    if (o && wants_library(o))
        return base_error(err, errlen, -EINVAL, "%s: SentencePiece's library reads tokenizer.model only, no GGUF file's pieces",
                          name);
    if (v->n == 0) return base_error(err, errlen, -EINVAL, "%s: a vocabulary of no pieces", name);
    Tokenizer *t = pieces_new(name);
    if (!t) return base_error(err, errlen, -ENOMEM, "%s: no memory", name);
    int rc = wordpiece ? read_wordpiece(t, v, err, errlen) : read_sentencepiece(t, v, err, errlen);
    if (rc == 0) rc = finish(t, o ? o : &defaults, NULL, NULL, 0, err, errlen);
    if (rc) tokenizer_free(t);
    else *out = t;
    return rc;
}

size_t tokenizer_size(const Tokenizer *t) { return t->n; }
int tokenizer_bos(const Tokenizer *t) { return t->bos; }
int tokenizer_eos(const Tokenizer *t) { return t->eos; }
const char *tokenizer_kind(const Tokenizer *t) { return t->kind; }

const char *tokenizer_piece(const Tokenizer *t, int id, size_t *len) {
    if (id < 0 || (size_t)id >= t->n) return NULL;
    *len = t->pieces[id].len;
    return t->bytes + t->pieces[id].start;
}

int tokenizer_named(const Tokenizer *t, const char *piece) { return pieces_named(t, piece, strlen(piece)); }

int ids_push(Ids *out, int id) {
    if (out->n == out->cap) {
        size_t c = out->cap ? out->cap * 2 : 64;
        int *p = realloc(out->ids, c * sizeof *p);
        if (!p) return -ENOMEM;
        out->ids = p;
        out->cap = c;
    }
    out->ids[out->n++] = id;
    return 0;
}

/* Cut the text at added tokens, and at control pieces where m has them; what lies between is the body's. */
static int encode_between(const Tokenizer *t, const Matcher *m, const char *text, size_t len, int first, Ids *out, char *err,
                          size_t errlen) {
    size_t from = 0, n;
    int rc = 0;
    for (size_t i = 0; i <= len && rc == 0;) {
        int id = i < len ? matcher_longest(m, t->bytes, text + i, len - i, &n) : -1;
        if (id < 0 && i < len) {
            i = m->n ? i + 1 : len;
            continue;
        }
        if (i > from) {
            size_t before = out->n;
            rc = t->body->encode(t, text + from, i - from, first, out, err, errlen);
            if (out->n > before) first = 0;
        }
        if (i == len) break;
        if (rc == 0) rc = ids_push(out, id);
        from = i += n;
    }
    return rc;
}

/* One text and the EOS behind it. */
static int encode_one(const Tokenizer *t, const char *text, size_t len, int flags, Ids *out, char *err, size_t errlen) {
    const Matcher *m = flags & ENCODE_SPECIAL || t->body->finds_special ? &t->special : &t->added;
    int rc = encode_between(t, m, text, len, !(flags & ENCODE_CONTINUE), out, err, errlen);
    if (rc == 0 && flags & ENCODE_EOS && t->add_eos && t->eos >= 0) rc = ids_push(out, t->eos);
    return rc == -ENOMEM ? base_error(err, errlen, rc, "no memory to encode a text of %zu bytes", len) : rc;
}

int tokenizer_encode_pair(const Tokenizer *t, const char *a, size_t a_len, const char *b, size_t b_len, int flags, int **ids,
                          int **types, size_t *n, char *err, size_t errlen) {
    Ids out = {.ids = malloc(64 * sizeof *out.ids), .cap = 64};
    int *type = NULL;
    *ids = NULL;
    *n = 0;
    if (types) *types = NULL;
    int rc = out.ids ? 0 : base_error(err, errlen, -ENOMEM, "no memory to encode a text of %zu bytes", a_len);
    if (rc == 0 && flags & ENCODE_BOS && t->add_bos && t->bos >= 0) rc = ids_push(&out, t->bos);
    if (rc == 0) rc = encode_one(t, a, a_len, flags, &out, err, errlen);
    size_t first = out.n;
    if (rc == 0 && b) rc = encode_one(t, b, b_len, flags, &out, err, errlen);
    if (rc == 0 && types && !(type = calloc(out.n + 1, sizeof *type)))
        rc = base_error(err, errlen, -ENOMEM, "no memory for the types of %zu ids", out.n);
    for (size_t i = first; i < out.n && type; i++) type[i] = 1;
    if (rc) {
        free(out.ids);
        return rc;
    }
    *ids = out.ids;
    *n = out.n;
    if (types) *types = type;
    return 0;
}

int tokenizer_encode(const Tokenizer *t, const char *text, size_t len, int flags, int **ids, size_t *n, char *err, size_t errlen) {
    return tokenizer_encode_pair(t, text, len, NULL, 0, flags, ids, NULL, n, err, errlen);
}
