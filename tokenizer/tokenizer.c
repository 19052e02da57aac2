/* tokenizer/tokenizer.c - the interface: what a file is, and what every kind of tokenizer has in common. */
#include "tokenizer/pipeline/bpe_files.h"
#include "tokenizer/sentencepiece/charsmap.h"
#include "tokenizer/pipeline/tokenizer_json.h"
#include "tokenizer/wordpiece/wordpiece.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef int Read(Tokenizer *t, const uint8_t *data, size_t size, char *err, size_t errlen);

/* The reader of these bytes, or NULL. */
static Read *reader_of(const uint8_t *data, size_t size) {
    int bin = llama2c_vocab_is(data, size);
    if (bin == 2) return llama2c_vocab_read;
    if (model_proto_is(data, size)) return model_proto_read;
    if (wordpiece_vocab_is(data, size)) return wordpiece_vocab_read; /* its first piece may well be a brace */
    if (tokenizer_json_is(data, size)) return tokenizer_json_open;
    if (tiktoken_is(data, size)) return tiktoken_read;
    return bin ? llama2c_vocab_read : NULL; /* broken, but the reader can say where */
}

static int refuse_unknown(const MappedFile *f, const char *path, char *err, size_t errlen) {
    if (f->size >= 4 && memcmp(f->data, "GGUF", 4) == 0)
        return base_error(err, errlen, -EINVAL, "%s: a GGUF file, not a tokenizer's: open it as a model", path);
    return base_error(err, errlen, -EINVAL,
                      "%s: no tokenizer's file: neither tokenizer.json nor SentencePiece's tokenizer.model, tiktoken's ranks, llama2.c's "
                      "tokenizer.bin or a vocab.txt with [UNK]", path);
}

static const TokenizerOptions defaults = {.lower_case = -1};

/* What comes behind a reader of any kind. folder: where JSON files with more settings stand, or NULL; beside: where the
 * vocabulary is, or NULL. */
static int finish(Tokenizer *t, const TokenizerOptions *o, const char *folder, const char *beside, int strict, char *err,
                  size_t errlen) {
    if (o->pre && !(t->pipeline && t->pipeline->pre))
        return base_error(err, errlen, -EINVAL, "%s: this tokenizer says itself how its text is cut, so no pre-tokenizer can be given", t->name);
    int rc = folder ? folder_settings(t, folder, err, errlen) : 0;
    if (t->pipeline && rc == 0 && !t->pipeline->whole && t->pipeline->n_added == 0) rc = known_tokens(t, err, errlen);
    if (t->pipeline) return rc ? rc : pipeline_finish_added(t, err, errlen);
    if (rc == 0 && t->wordpiece) rc = wordpiece_finish(t, o, o->folder ? o->folder : beside, err, errlen);
    return rc ? rc : pieces_finish(t, strict && !t->wordpiece, err, errlen);
}

/* What every way to open ends with. */
static int opened(Tokenizer **out, Tokenizer *t, int rc) {
    if (rc) tokenizer_free(t);
    else {
        t->name = t->pre_wanted = NULL;
        *out = t;
    }
    return rc;
}

static int open_pair(Tokenizer **out, const FolderFiles *files, const char *folder, const TokenizerOptions *o, char *err, size_t errlen) {
    Tokenizer *t = pieces_new(files->vocabulary);
    if (!t) return base_error(err, errlen, -ENOMEM, "%s: no memory", folder);
    t->pre_wanted = o->pre;
    int rc = vocab_merges_read(t, files->vocabulary, files->merges, folder, err, errlen);
    if (rc == 0) rc = finish(t, o, folder, folder, 1, err, errlen);
    return opened(out, t, rc);
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
    if (t) t->pre_wanted = o->pre;
    if (rc == 0) rc = read(t, f.data, f.size, err, errlen);
    if (rc == 0 && wants_library(o)) rc = use_library(t, o, read, &f, err, errlen);
    if (rc == 0) rc = finish(t, o, folder, beside, 1, err, errlen);
    file_unmap(&f);
    free(beside);
    return opened(out, t, rc);
}

int tokenizer_open(Tokenizer **t, const char *path, char *err, size_t errlen) {
    return tokenizer_open_with(t, path, NULL, err, errlen);
}

int tokenizer_open_with(Tokenizer **t, const char *path, const TokenizerOptions *o, char *err, size_t errlen) {
    *t = NULL;
    if (!o) o = &defaults;
    if (!file_is_folder(path)) return open_file(t, path, NULL, o, err, errlen);
    FolderFiles f = folder_find(path);
    int rc;
    if (f.vocabulary && f.merges) rc = open_pair(t, &f, path, o, err, errlen);
    else if (f.vocabulary) rc = open_file(t, f.vocabulary, path, o, err, errlen);
    else if (f.other) rc = base_error(err, errlen, -EINVAL, "%s: its tokenizer is %s: this kind is not read yet", path, f.other);
    else
        rc = base_error(err, errlen, -ENOENT, "%s: no tokenizer in this folder (tokenizer.json, tokenizer.model, tokenizer.bin, vocab.txt, "
                        "vocab.json with merges.txt, *.tiktoken)", path);
    folder_files_free(&f);
    return rc;
}

int tokenizer_probe(const char *path) {
    MappedFile m;
    FolderFiles f = file_is_folder(path) ? folder_find(path) : (FolderFiles){.merges = NULL};
    int known = f.vocabulary != NULL; /* by its name, and its reader can say what is wrong with it */
    if (!known && !file_is_folder(path) && file_map(&m, path, NULL, 0) == 0) {
        known = reader_of(m.data, m.size) != NULL;
        file_unmap(&m);
    }
    folder_files_free(&f);
    return known;
}

/* A GGUF file's tokenizers that are not read yet, and what they are called elsewhere. */
static const char *other_model(const char *model) {
    static const char *const names[][2] = {
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
static int read_sentencepiece(Tokenizer *t, const Vocabulary *v, const TokenizerOptions *o, char *err, size_t errlen) {
    (void)o;
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

static int read_wordpiece(Tokenizer *t, const Vocabulary *v, const TokenizerOptions *o, char *err, size_t errlen) {
    (void)o;
    int rc = wordpiece_vocabulary(t, v, err, errlen), none = (int)v->n;
    if (rc == 0) rc = take_id(t, v->unk_id, none, "unknown", &t->unk, err, errlen);
    if (rc == 0) rc = take_id(t, v->bos_id, none, "bos", &t->bos, err, errlen);
    return rc ? rc : take_id(t, v->eos_id, none, "eos", &t->eos, err, errlen);
}

/* The ids of a pipeline's vocabulary; whether BOS and EOS are added where the file does not say. */
static int take_ids(Tokenizer *t, const Vocabulary *v, int bos, int eos, char *err, size_t errlen) {
    int none = (int)v->n, rc = take_id(t, v->unk_id, none, "unknown", &t->unk, err, errlen);
    if (rc == 0) rc = take_id(t, v->bos_id, none, "bos", &t->bos, err, errlen);
    if (rc == 0) rc = take_id(t, v->eos_id, none, "eos", &t->eos, err, errlen);
    t->add_bos = v->add_bos < 0 ? bos : v->add_bos;
    t->add_eos = v->add_eos < 0 ? eos : v->add_eos;
    return rc;
}

static int read_gpt2(Tokenizer *t, const Vocabulary *v, const TokenizerOptions *o, char *err, size_t errlen) {
    (void)o;
    int rc = gpt2_vocabulary(t, v, err, errlen);
    return rc ? rc : take_ids(t, v, t->pipeline->pre->add_bos, 0, err, errlen);
}

static int read_bert(Tokenizer *t, const Vocabulary *v, const TokenizerOptions *o, char *err, size_t errlen) {
    int rc = bert_vocabulary(t, v, o->lower_case, err, errlen);
    return rc ? rc : take_ids(t, v, 1, 1, err, errlen);
}

int tokenizer_from_vocabulary(Tokenizer **t, const Vocabulary *v, const char *name, char *err, size_t errlen) {
    return tokenizer_from_vocabulary_with(t, v, NULL, name, err, errlen);
}

int tokenizer_from_vocabulary_with(Tokenizer **out, const Vocabulary *v, const TokenizerOptions *o, const char *name, char *err,
                                   size_t errlen) {
    static const struct { const char *model; int (*read)(Tokenizer *t, const Vocabulary *v, const TokenizerOptions *o, char *err, size_t errlen); } readers[] = {
        {"llama", read_sentencepiece}, {"t5", read_sentencepiece}, {"gpt2", read_gpt2}, {"gemma4", read_gpt2}, {"bert", read_bert}, {"wordpiece", read_wordpiece}};
    size_t i = 0, n = sizeof readers / sizeof *readers;
    *out = NULL;
    if (!o) o = &defaults;
    while (i < n && strcmp(v->model, readers[i].model) != 0) i++;
    if (i == n)
        return base_error(err, errlen, -EINVAL, "%s: its tokenizer is \"%s\" (%s): this kind is not read yet", name, v->model,
                          other_model(v->model));
    if (o && wants_library(o))
        return base_error(err, errlen, -EINVAL, "%s: SentencePiece's library reads tokenizer.model only, no GGUF file's pieces",
                          name);
    if (v->n == 0) return base_error(err, errlen, -EINVAL, "%s: a vocabulary of no pieces", name);
    Tokenizer *t = pieces_new(name);
    if (!t) return base_error(err, errlen, -ENOMEM, "%s: no memory", name);
    t->pre_wanted = o->pre;
    int rc = readers[i].read(t, v, o, err, errlen);
    if (rc == 0) rc = finish(t, o, NULL, NULL, 0, err, errlen);
    return opened(out, t, rc);
}

const char *tokenizer_pre(size_t i) {
    const PreTokenizer *p = split_gguf_list(i);
    return p ? p->name : NULL;
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

static int encode_one(const Tokenizer *t, const char *text, size_t len, int flags, Ids *out, char *err, size_t errlen) {
    const Matcher *m = flags & ENCODE_SPECIAL || t->body->finds_special ? &t->special : &t->added;
    int rc = t->body->encode_whole ? t->body->encode_whole(t, text, len, flags, out, err, errlen)
                                   : encode_between(t, m, text, len, !(flags & ENCODE_CONTINUE), out, err, errlen);
    return rc == -ENOMEM ? base_error(err, errlen, rc, "no memory to encode a text of %zu bytes", len) : rc;
}

/* BOS a EOS b EOS, or what the file's own template says. */
static Template template_of(const Tokenizer *t, int pair, TemplateItem items[5]) {
    if (t->pipeline && pair && t->pipeline->pair.n) return t->pipeline->pair;
    if (t->pipeline && !pair && t->pipeline->single.n) return t->pipeline->single;
    int bos = t->add_bos && t->bos >= 0, eos = t->add_eos && t->eos >= 0;
    size_t n = 0;
    if (bos) items[n++] = (TemplateItem){t->bos, 0};
    for (int i = 0; i < 1 + pair; i++) {
        items[n++] = (TemplateItem){i ? TEMPLATE_B : TEMPLATE_A, i};
        if (eos) items[n++] = (TemplateItem){t->eos, i};
    }
    return (Template){items, n};
}

typedef struct {
    const char *text;
    size_t len;
} Input;

/* The template's tokens in front of the first text are flags' BOS, the others its EOS. type may be NULL. */
static int fill_template(const Tokenizer *t, const Template *p, const Input texts[2], int flags, Ids *out, Ids *types, char *err, size_t errlen) {
    int rc = 0, begun = 0;
    for (size_t i = 0; i < p->n && rc == 0; i++) {
        int id = p->items[i].id;
        const Input *x = &texts[id == TEMPLATE_B];
        if (id < 0 && x->text) rc = encode_one(t, x->text, x->len, flags, out, err, errlen);
        else if (id >= 0 && flags & (begun ? ENCODE_EOS : ENCODE_BOS)) rc = ids_push(out, id);
        begun |= id < 0;
        while (rc == 0 && types && types->n < out->n) rc = ids_push(types, p->items[i].type);
    }
    return rc;
}

int tokenizer_encode_pair(const Tokenizer *t, const char *a, size_t a_len, const char *b, size_t b_len, int flags, int **ids,
                          int **types, size_t *n, char *err, size_t errlen) {
    enum { ROOM = 64 };
    Ids out = {.ids = malloc(ROOM * sizeof *out.ids), .cap = ROOM}, type = {.ids = types ? malloc(ROOM * sizeof *out.ids) : NULL, .cap = ROOM};
    TemplateItem items[5];
    const Input texts[2] = {{a, a_len}, {b, b_len}};
    Template p = template_of(t, b != NULL, items);
    *ids = NULL;
    *n = 0;
    if (types) *types = NULL;
    int rc = out.ids && (type.ids || !types) ? 0 : -ENOMEM;
    if (rc == 0) rc = fill_template(t, &p, texts, flags, &out, types ? &type : NULL, err, errlen);
    if (rc == -ENOMEM) base_error(err, errlen, rc, "no memory to encode a text of %zu bytes", a_len);
    if (rc) {
        free(out.ids);
        free(type.ids);
        return rc;
    }
    *ids = out.ids;
    *n = out.n;
    if (types) *types = type.ids;
    return 0;
}

int tokenizer_encode(const Tokenizer *t, const char *text, size_t len, int flags, int **ids, size_t *n, char *err, size_t errlen) {
    return tokenizer_encode_pair(t, text, len, NULL, 0, flags, ids, NULL, n, err, errlen);
}
