/* weights-tools/training/encoder.c - a vocabulary of whole words, what is masked, and how the file says it. */
#include "encoder.h"

#include "base/base.h"
#include "kernels/encoder_kernels.h"
#include "model/roformer.h"
#include "text/documents.h"
#include "text/vocabulary.h"
#include "weights-tools/vocab.h"
#include "words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(char *err, size_t errlen) {
    return base_error(err, errlen, -ENOMEM, "out of memory for the vocabulary");
}

/* ---- the vocabulary: lines of vocab.txt, whatever it came from ---- */

static int read_file(EncoderWords *w, const char *path, char *err, size_t errlen) {
    MappedFile f;
    int rc = file_map(&f, path, err, errlen);
    if (rc) return rc;
    w->text = malloc(f.size + 1);
    if (w->text) memcpy(w->text, f.data, w->n = f.size);
    file_unmap(&f);
    return w->text ? 0 : no_memory(err, errlen);
}

static int read_vocabulary(EncoderWords *to, const Vocabulary *v, const char *path, char *err, size_t errlen) {
    Buffer b = {0};
    if (strcmp(v->model, "wordpiece") != 0)
        return base_error(err, errlen, -EINVAL, "%s: its vocabulary is no WordPiece, which an encoder reads", path);
    for (size_t i = 0; i < v->n; i++) {
        buffer_bytes(&b, v->pieces[i].text, v->pieces[i].len);
        buffer_bytes(&b, "\n", 1);
    }
    to->text = (char *)b.data, to->n = b.n;
    return b.failed ? no_memory(err, errlen) : 0;
}

static int read_model(EncoderWords *to, const char *path, char *err, size_t errlen) {
    Weights w;
    Vocabulary v;
    int rc = weights_open(&w, path, err, errlen);
    if (rc) return rc;
    rc = vocabulary_from_weights(&v, &w, err, errlen);
    if (rc == 0) {
        rc = read_vocabulary(to, &v, path, err, errlen);
        vocabulary_free(&v);
    }
    weights_close(&w);
    return rc;
}

static int make(EncoderWords *to, const TrainingOptions *o, char *err, size_t errlen) {
    Words w = {0};
    int rc = 0;
    for (int i = 0; i < o->n_texts && rc == 0; i++) {
        MappedFile f;
        const char *document;
        size_t at = 0, n;
        if ((rc = file_map(&f, o->texts[i], err, errlen)) != 0) break;
        while (rc == 0 && document_next((const char *)f.data, f.size, o->separator, &at, &document, &n))
            if (words_count(&w, document, n)) rc = no_memory(err, errlen);
        file_unmap(&f);
    }
    if (rc == 0 && !(to->text = words_vocabulary(&w, (size_t)o->words, &to->n))) rc = no_memory(err, errlen);
    words_free(&w);
    return rc;
}

/* The next line's length, without its end; *at goes behind that. */
static size_t line_at(const EncoderWords *w, size_t *at, const char **line) {
    const char *end = memchr(w->text + *at, '\n', w->n - *at);
    size_t n = end ? (size_t)(end - w->text) - *at : w->n - *at;
    *line = w->text + *at;
    *at += n + 1;
    return n && (*line)[n - 1] == '\r' ? n - 1 : n;
}

static const char *const specials[] = {"[CLS]", "[SEP]", "[MASK]", "[UNK]", "[PAD]"};
enum { CLS, SEP, MASK, UNK, PAD, SPECIALS };

static size_t find_specials(const EncoderWords *w, int ids[SPECIALS]) {
    const char *line;
    size_t lines = 0;
    for (int k = 0; k < SPECIALS; k++) ids[k] = -1;
    for (size_t at = 0; at < w->n; lines++) {
        size_t n = line_at(w, &at, &line);
        for (int k = 0; k < SPECIALS; k++)
            if (strlen(specials[k]) == n && memcmp(specials[k], line, n) == 0) ids[k] = (int)lines;
    }
    return lines;
}

/* from: what error lines call them. */
static int open_tokenizer(Tokenizer **t, const EncoderWords *w, const char *from, char *err, size_t errlen) {
    const char *line;
    int ids[SPECIALS];
    size_t n = find_specials(w, ids), i = 0;
    for (int k = 0; k < PAD; k++)
        if (ids[k] < 0)
            return base_error(err, errlen, -EINVAL, "%s: no token %s in it: an encoder's vocabulary is BERT's", from,
                              specials[k]);
    Piece *pieces = calloc(n, sizeof *pieces);
    if (!pieces) return no_memory(err, errlen);
    for (size_t at = 0; at < w->n; i++) {
        size_t len = line_at(w, &at, &line);
        int special = (int)i == ids[CLS] || (int)i == ids[SEP] || (int)i == ids[MASK] || (int)i == ids[PAD];
        pieces[i] = (Piece){line, len, 0, special ? PIECE_CONTROL : (int)i == ids[UNK] ? PIECE_UNKNOWN : PIECE_NORMAL};
    }
    Vocabulary v = {.model = "wordpiece", .pieces = pieces, .n = n, .bos_id = ids[CLS], .eos_id = ids[SEP],
                    .unk_id = ids[UNK], .add_bos = -1, .add_eos = -1, .add_space_prefix = -1,
                    .remove_extra_whitespaces = -1};
    int rc = tokenizer_from_vocabulary(t, &v, from, err, errlen);
    free(pieces);
    return rc;
}

int encoder_words(EncoderWords *w, Tokenizer **t, const TrainingOptions *o, char *err, size_t errlen) {
    const char *from = o->tokenizer ? o->tokenizer : o->from;
    int known = from ? tokenizer_probe(from) : 0;
    int rc = !from ? make(w, o, err, errlen)
             : known < 0 ? base_error(err, errlen, known, "%s: %s", from, strerror(-known))
             : known ? read_file(w, from, err, errlen) : read_model(w, from, err, errlen);
    return rc ? rc : open_tokenizer(t, w, from ? from : "the texts", err, errlen);
}

void encoder_words_free(EncoderWords *w) {
    free(w->text);
    free(w->continues);
    *w = (EncoderWords){0};
}

/* ---- the model ---- */

static const char *decoders_option(const TrainingOptions *o) {
    if (o->log_n) return "--log-n";
    if (o->window) return "--window";
    if (o->own_head) return "--own-head";
    if (o->kv_heads) return "--kv-heads";
    if (strcmp(o->mix, training_usual.mix) != 0) return "--mix";
    if (strcmp(o->pairing, training_usual.pairing) != 0) return "--pairing";
    return strcmp(o->position, "xpos") == 0 ? "--position xpos" : NULL;
}

int encoder_model(Config *c, const TrainingOptions *o, char *err, size_t errlen) {
    const char *not = decoders_option(o);
    if (not) return base_error(err, errlen, -EINVAL, "%s: is for decoders", not);
    c->family = &family_roformer;
    snprintf(c->arch, sizeof c->arch, "roformer");
    if (!o->d_ff) c->d_ff = c->ff_rows = 4 * c->d_model;
    c->norm_eps = 1e-12f;
    c->mask = MASK_PADDING;
    c->roformer.variant = ROFORMER_V1;
    c->roformer.activation = ACTIVATION_GELU;
    c->roformer.n_types = 1;
    return 0;
}

int encoder_masks(MaskPlan *m, EncoderWords *w, const TrainingOptions *o, char *err, size_t errlen) {
    int ids[SPECIALS];
    const char *line;
    size_t n = find_specials(w, ids), i = 0;
    *m = (MaskPlan){.mask = ids[MASK], .first = ids[CLS], .last = ids[SEP], .share = o->mask_share};
    for (int k = 0; k < SPECIALS; k++) m->n_special = ids[k] >= m->n_special ? ids[k] + 1 : m->n_special;
    if (m->n_special >= (int)n)
        return base_error(err, errlen, -EINVAL, "the vocabulary has no word behind its special tokens");
    if (!o->whole_words) return 0;
    if (!(w->continues = calloc(n, 1))) return no_memory(err, errlen);
    for (size_t at = 0; at < w->n; i++) {
        size_t len = line_at(w, &at, &line);
        w->continues[i] = len > 2 && memcmp(line, "##", 2) == 0;
    }
    m->continues = w->continues;
    return 0;
}

/* ---- the file ---- */

int encoder_keys(Source *out, const EncoderWords *w, char *err, size_t errlen) {
    int rc = source_keys(out, "roformer", "trained here", err, errlen);
    if (rc) return rc;
    gguf_string(&out->meta, "roformer.variant", "v1");
    gguf_string(&out->meta, "roformer.mask", "padding");
    gguf_string(&out->meta, "roformer.hidden_act", "gelu");
    gguf_u32(&out->meta, "roformer.token_type_count", (uint32_t)out->config.roformer.n_types);
    return vocab_meta(&out->meta, w->text, w->n, (size_t)out->config.vocab_size, 1, "the vocabulary", err, errlen);
}
