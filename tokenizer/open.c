/* tokenizer/open.c - which reader a file, a folder or a vocabulary needs, and what comes behind each. The formats do
 * not know this one. */
#include "open.h"

#include "folder.h"
#include "names.h"
#include "tokenizer/pipeline/bpe_files.h"
#include "tokenizer/pipeline/tokenizer_json.h"
#include "tokenizer/sentencepiece/model.h"
#include "tokenizer/wordpiece/wordpiece.h"
#include "base/base.h"
#include "base/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Where a Tokenizer comes from, for tokenizer_make. */
typedef struct {
    const TokenizerOptions *options;
    const char *folder; /* where JSON files with more settings stand, or NULL */
    const char *beside; /* where the vocabulary is, or NULL */
    const FolderFiles *pair;      /* vocab.json and merges.txt; or .. */
    const uint8_t *data;          /* [size] a file's bytes; or .. */
    size_t size;
    const Vocabulary *vocabulary; /* .. this */
} Source;

typedef int FileReader(Tokenizer *t, const Source *s, char *err, size_t errlen);

static int read_llama2c(Tokenizer *t, const Source *s, char *err, size_t errlen) {
    return llama2c_vocab_read(t, s->data, s->size, err, errlen);
}

static int read_model(Tokenizer *t, const Source *s, char *err, size_t errlen) {
    return model_proto_read(t, s->data, s->size, err, errlen);
}

static int read_wordpiece(Tokenizer *t, const Source *s, char *err, size_t errlen) {
    return wordpiece_vocab_read(t, s->data, s->size, err, errlen);
}

static int read_json(Tokenizer *t, const Source *s, char *err, size_t errlen) {
    return tokenizer_json_open(t, s->data, s->size, err, errlen);
}

static int read_ranks(Tokenizer *t, const Source *s, char *err, size_t errlen) {
    return tiktoken_read(t, s->data, s->size, s->options->pre, err, errlen);
}

/* The reader of these bytes, or NULL. */
static FileReader *reader_of(const uint8_t *data, size_t size) {
    int bin = llama2c_vocab_is(data, size);
    if (bin == 2) return read_llama2c;
    if (model_proto_is(data, size)) return read_model;
    if (wordpiece_vocab_is(data, size)) return read_wordpiece; /* its first piece may well be a brace */
    if (tokenizer_json_is(data, size)) return read_json;
    if (tiktoken_is(data, size)) return read_ranks;
    return bin ? read_llama2c : NULL; /* broken, but the reader can say where */
}

static int refuse_unknown(const MappedFile *f, const char *path, char *err, size_t errlen) {
    if (f->size >= 4 && memcmp(f->data, "GGUF", 4) == 0)
        return base_error(err, errlen, -EINVAL, "%s: a GGUF file, not a tokenizer's: open it as a model", path);
    return base_error(err, errlen, -EINVAL,
                      "%s: no tokenizer's file: neither tokenizer.json nor SentencePiece's tokenizer.model, tiktoken's "
                      "ranks, llama2.c's tokenizer.bin or a vocab.txt with [UNK]", path);
}

static const TokenizerOptions defaults = {.lower_case = -1};

/* ---- what comes behind a reader ---- */

static int finish_wordpiece(Tokenizer *t, const Source *s, char *err, size_t errlen) {
    const TokenizerOptions *o = s->options;
    const char *where = o->folder ? o->folder : s->beside;
    char *beside = NULL;
    if (where && file_find(&beside, where, jieba_names, 3, file_there))
        return base_error(err, errlen, -ENOMEM, "%s: no memory", t->name);
    const WordPieceChoice choice = {o->jieba, beside, o->lower_case, o->bert4keras};
    int rc = wordpiece_finish(t, &choice, err, errlen);
    free(beside);
    return rc;
}

static int finish(Tokenizer *t, const Source *s, char *err, size_t errlen) {
    const struct Pipeline *p = pipeline_of(t);
    if (s->options->pre && !(p && p->pre))
        return base_error(err, errlen, -EINVAL,
                          "%s: this tokenizer says itself how its text is cut, so no pre-tokenizer can be given",
                          t->name);
    if ((s->options->jieba || s->options->bert4keras) && !wordpiece_of(t))
        return base_error(err, errlen, -EINVAL,
                          "%s: jieba and bert4keras are for WordPiece's vocab.txt, and this is %s", t->name, t->kind);
    int rc = s->folder ? folder_settings(t, s->folder, err, errlen) : 0;
    if (rc) return rc;
    if (p && !p->whole && p->n_added == 0) rc = known_tokens(t, err, errlen);
    if (p) return rc ? rc : pipeline_finish_added(t, err, errlen);
    if (wordpiece_of(t)) return finish_wordpiece(t, s, err, errlen);
    return spm_model_finish(t, s->vocabulary == NULL, err, errlen);
}

/* ---- files and folders ---- */

/* Does o ask for SentencePiece's library? */
static int wants_library(const TokenizerOptions *o) { return o->backend && strcmp(o->backend, "own") != 0; }

static int use_library(Tokenizer *t, const Source *s, FileReader *read, char *err, size_t errlen) {
    if (strcmp(s->options->backend, "sentencepiece") != 0)
        return base_error(err, errlen, -EINVAL, "%s: there is no tokenizer backend \"%s\": own or sentencepiece",
                          t->name, s->options->backend);
    if (read != read_model)
        return base_error(err, errlen, -EINVAL, "%s: SentencePiece's library reads its own tokenizer.model only",
                          t->name);
    return spm_backend_attach(t, s->data, s->size, err, errlen);
}

static int read_file(Tokenizer *t, const void *from, char *err, size_t errlen) {
    const Source *s = from;
    FileReader *read = reader_of(s->data, s->size);
    int rc = read(t, s, err, errlen);
    if (rc == 0 && wants_library(s->options)) rc = use_library(t, s, read, err, errlen);
    return rc ? rc : finish(t, s, err, errlen);
}

static int open_file(Tokenizer **t, const char *path, const char *folder, const TokenizerOptions *o, char *err,
                     size_t errlen) {
    MappedFile f;
    *t = NULL;
    int rc = file_map(&f, path, err, errlen);
    if (rc) return rc;
    char *beside = file_folder(path);
    const Source s = {.options = o, .folder = folder, .beside = beside, .data = f.data, .size = f.size};
    if (!reader_of(f.data, f.size)) rc = refuse_unknown(&f, path, err, errlen);
    else if (!beside) rc = base_error(err, errlen, -ENOMEM, "%s: no memory", path);
    else rc = tokenizer_make(t, path, read_file, &s, err, errlen);
    file_unmap(&f);
    free(beside);
    return rc;
}

static int read_pair(Tokenizer *t, const void *from, char *err, size_t errlen) {
    const Source *s = from;
    const char *class_pre;
    int rc = folder_class(s->folder, &class_pre, err, errlen);
    if (rc == 0)
        rc = vocab_merges_read(t, s->pair->vocabulary, s->pair->merges, s->options->pre, class_pre, err, errlen);
    return rc ? rc : finish(t, s, err, errlen);
}

static int open_folder(Tokenizer **t, const char *path, const TokenizerOptions *o, char *err, size_t errlen) {
    FolderFiles f;
    const Source pair = {.options = o, .folder = path, .beside = path, .pair = &f};
    int rc = folder_find(&f, path, o->jieba || o->bert4keras);
    if (rc) rc = base_error(err, errlen, rc, "%s: %s", path, rc == -ENOMEM ? "no memory" : strerror(-rc));
    else if (f.vocabulary && f.merges) rc = tokenizer_make(t, f.vocabulary, read_pair, &pair, err, errlen);
    else if (f.vocabulary) rc = open_file(t, f.vocabulary, path, o, err, errlen);
    else if (f.other)
        rc = base_error(err, errlen, -EINVAL, "%s: its tokenizer is %s: this kind is not read yet", path, f.other);
    else
        rc = base_error(err, errlen, -ENOENT,
                        "%s: no tokenizer in this folder (tokenizer.json, tokenizer.model, tokenizer.bin, tekken.json, "
                        "vocab.txt, vocab.json with merges.txt, *.tiktoken)", path);
    folder_files_free(&f);
    return rc;
}

int tokenizer_open_with(Tokenizer **t, const char *path, const TokenizerOptions *o, char *err, size_t errlen) {
    *t = NULL;
    if (!o) o = &defaults;
    return file_is_folder(path) ? open_folder(t, path, o, err, errlen) : open_file(t, path, NULL, o, err, errlen);
}

int tokenizer_open(Tokenizer **t, const char *path, char *err, size_t errlen) {
    return tokenizer_open_with(t, path, NULL, err, errlen);
}

int tokenizer_probe(const char *path) {
    MappedFile m;
    int folder = file_is_folder(path);
    FolderFiles f = {.merges = NULL};
    int rc = folder ? folder_find(&f, path, 0) : file_map(&m, path, NULL, 0);
    int known = f.vocabulary != NULL; /* by its name, and its reader can say what is wrong with it */
    if (!folder && rc == 0) {
        known = reader_of(m.data, m.size) != NULL;
        file_unmap(&m);
    }
    folder_files_free(&f);
    return errno_is_passing(rc) ? rc : known;
}

/* ---- vocabularies ---- */

static int take_ids(Tokenizer *t, const Vocabulary *v, char *err, size_t errlen) {
    t->unk = v->unk_id < 0 ? -1 : v->unk_id;
    t->bos = v->bos_id < 0 ? -1 : v->bos_id;
    t->eos = v->eos_id < 0 ? -1 : v->eos_id;
    return pieces_check_ids(t, err, errlen);
}

/* Whether BOS and EOS are added; otherwise where the file does not say. */
static void take_added(Tokenizer *t, const Vocabulary *v, int bos, int eos) {
    t->add_bos = v->add_bos < 0 ? bos : v->add_bos;
    t->add_eos = v->add_eos < 0 ? eos : v->add_eos;
}

static int from_sentencepiece(Tokenizer *t, const Source *s, char *err, size_t errlen) {
    return spm_model_vocabulary(t, s->vocabulary, err, errlen);
}

static int from_wordpiece(Tokenizer *t, const Source *s, char *err, size_t errlen) {
    int rc = wordpiece_vocabulary(t, s->vocabulary, err, errlen);
    return rc ? rc : take_ids(t, s->vocabulary, err, errlen);
}

static int from_gpt2(Tokenizer *t, const Source *s, char *err, size_t errlen) {
    int rc = gpt2_vocabulary(t, s->vocabulary, s->options->pre, err, errlen);
    if (rc == 0) rc = take_ids(t, s->vocabulary, err, errlen);
    if (rc) return rc;
    int bos = pipeline_of(t)->pre->add_bos;
    take_added(t, s->vocabulary, bos > 0, 0);
    t->add_bos |= bos == 2;
    return 0;
}

/* What a "bert" does not say is as llama.cpp has it: bert-base's [UNK], [CLS] and [SEP]. */
static void usual_bert(Tokenizer *t) {
    int *const ids[] = {&t->unk, &t->bos, &t->eos};
    for (int i = 0; i < 3; i++)
        if (*ids[i] < 0 && t->n > (size_t)i + 100) *ids[i] = i + 100;
}

static int from_bert(Tokenizer *t, const Source *s, char *err, size_t errlen) {
    int rc = bert_vocabulary(t, s->vocabulary, s->options->lower_case, err, errlen);
    if (rc == 0) rc = take_ids(t, s->vocabulary, err, errlen);
    usual_bert(t);
    take_added(t, s->vocabulary, 1, 1);
    return rc;
}

/* The whole of it; which tokens begin and end a text stands beside it. */
static int from_json(Tokenizer *t, const Source *s, char *err, size_t errlen) {
    const Vocabulary *v = s->vocabulary;
    int rc = tokenizer_json_open(t, (const uint8_t *)v->json, v->json_size, err, errlen);
    if (rc) return rc;
    if (v->bos_id >= 0) t->bos = v->bos_id;
    if (v->eos_id >= 0) t->eos = v->eos_id;
    take_added(t, v, 0, 0); /* counts where it has no template */
    return pieces_check_ids(t, err, errlen);
}

static const struct {
    const char *model;
    FileReader *read;
} models[] = {
    {"llama", from_sentencepiece}, {"t5", from_sentencepiece}, {"gpt2", from_gpt2}, {"gemma4", from_gpt2},
    {"bert", from_bert}, {"wordpiece", from_wordpiece}};

static FileReader *model_reader(const char *model) {
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strcmp(model, models[i].model) == 0) return models[i].read;
    return NULL;
}

static int read_vocabulary(Tokenizer *t, const void *from, char *err, size_t errlen) {
    const Source *s = from;
    FileReader *read = s->vocabulary->json ? from_json : model_reader(s->vocabulary->model);
    int rc = read(t, s, err, errlen);
    return rc ? rc : finish(t, s, err, errlen);
}

int tokenizer_from_vocabulary_with(Tokenizer **t, const Vocabulary *v, const TokenizerOptions *o, const char *name,
                                   char *err, size_t errlen) {
    const Source s = {.options = o ? o : &defaults, .vocabulary = v};
    *t = NULL;
    if (!model_reader(v->model))
        return base_error(err, errlen, -EINVAL, "%s: its tokenizer is \"%.80s\" (%s): this kind is not read yet", name,
                          v->model, strcmp(v->model, "rwkv") == 0 ? "RWKV's" : "unknown");
    if (wants_library(s.options))
        return base_error(err, errlen, -EINVAL,
                          "%s: SentencePiece's library reads tokenizer.model only, no GGUF file's pieces", name);
    if (v->n == 0) return base_error(err, errlen, -EINVAL, "%s: a vocabulary of no pieces", name);
    return tokenizer_make(t, name, read_vocabulary, &s, err, errlen);
}

int tokenizer_from_vocabulary(Tokenizer **t, const Vocabulary *v, const char *name, char *err, size_t errlen) {
    return tokenizer_from_vocabulary_with(t, v, NULL, name, err, errlen);
}

const char *tokenizer_pre(size_t i) {
    const PreTokenizer *p = split_gguf_list(i);
    return p ? p->name : NULL;
}
