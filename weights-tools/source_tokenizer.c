/* weights-tools/source_tokenizer.c - a decoder's tokenizer into the keys tokenizer.ggml.* that llama.cpp reads as
 * "llama" and "t5". */
#include "source.h"

#include "base/paths.h"
#include "tokenizer/open.h"
#include "tokenizer/wordpiece/wordpiece.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void id(GgufMeta *m, const char *key, long v) {
    if (v >= 0) gguf_u32(m, key, (uint32_t)v);
}

/* Ids beyond the tokenizer's, which a model padded to a round number has: pieces that nothing is ever read as. */
static void filler(char out[40], size_t i) { snprintf(out, 40, "[PAD%zu]", i); }

static void write_pieces(GgufMeta *m, const Vocabulary *v, size_t n) {
    char text[40];
    gguf_array(m, "tokenizer.ggml.tokens", META_STRING, n);
    for (size_t i = 0; i < n; i++) {
        if (i >= v->n || v->pieces[i].len == 0) filler(text, i);
        if (i < v->n && v->pieces[i].len) gguf_text(m, v->pieces[i].text, v->pieces[i].len);
        else gguf_text(m, text, strlen(text));
    }
    if (!v->merges) gguf_array(m, "tokenizer.ggml.scores", META_F32, n);
    for (size_t i = 0; i < n && !v->merges; i++) {
        float score = i < v->n ? v->pieces[i].score : -10000; /* as llama.cpp's converter fills */
        uint32_t bits;
        memcpy(&bits, &score, sizeof bits);
        buffer_u32(&m->bytes, bits);
    }
    gguf_array(m, "tokenizer.ggml.token_type", META_I32, n);
    for (size_t i = 0; i < n; i++)
        buffer_u32(&m->bytes, i < v->n && v->pieces[i].len ? (uint32_t)v->pieces[i].type : PIECE_UNUSED);
}

/* The ids that end a text, of which Hugging Face may name several: the tokenizer's own, the caller's (-1: none), the
 * configuration's, as far as GGUF has keys for them. How many are left out. */
static int write_ends(GgufMeta *m, const Config *c, int own, int end_id) {
    static const char *const keys[] = {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                                       "tokenizer.ggml.eom_token_id"};
    int written[] = {own, -1, -1}, n = 1, left_out = 0;
    id(m, keys[0], own);
    for (int i = -1; i < c->n_eos; i++) {
        int v = i < 0 ? end_id : c->eos_id[i], there = v < 0;
        for (int k = 0; k < n; k++) there |= written[k] == v;
        if (there) continue;
        if (n == 3) left_out++;
        else id(m, keys[n], v), written[n++] = v;
    }
    return left_out;
}

/* llama.cpp ends a "bert" with its separator, whatever EOS is. */
static void write_bert(GgufMeta *m, const Vocabulary *v) {
    id(m, "tokenizer.ggml.seperator_token_id", v->eos_id); /* so spelled in GGUF */
    gguf_bool(m, "tokenizer.ggml.normalizer.lowercase", v->lower_case);
    gguf_bool(m, "tokenizer.ggml.normalizer.strip_accents", v->strip_accents);
}

static void write_vocabulary(GgufMeta *m, const Vocabulary *v, size_t n) {
    gguf_string(m, "tokenizer.ggml.model", v->model);
    write_pieces(m, v, n);
    if (v->pre) gguf_string(m, "tokenizer.ggml.pre", v->pre);
    if (v->merges) gguf_array(m, "tokenizer.ggml.merges", META_STRING, v->n_merges);
    for (size_t i = 0; i < v->n_merges; i++) gguf_text(m, v->merges[i].text, v->merges[i].len);
    if (v->charsmap_size) gguf_array(m, "tokenizer.ggml.precompiled_charsmap", META_U8, v->charsmap_size);
    buffer_bytes(&m->bytes, v->charsmap, v->charsmap_size);
    id(m, "tokenizer.ggml.bos_token_id", v->bos_id);
    id(m, "tokenizer.ggml.unknown_token_id", v->unk_id);
    gguf_bool(m, "tokenizer.ggml.add_bos_token", v->add_bos);
    gguf_bool(m, "tokenizer.ggml.add_eos_token", v->add_eos);
    gguf_bool(m, "tokenizer.ggml.add_space_prefix", v->add_space_prefix);
    if (v->remove_extra_whitespaces) gguf_bool(m, "tokenizer.ggml.remove_extra_whitespaces", 1);
    if (strcmp(v->model, "bert") == 0) write_bert(m, v);
}

static void note_ends(const Report *r, int left_out) {
    if (left_out && r) report_note(r, "GGUF has keys for three ids that end a text: %d more are left out", left_out);
}

/* No vocabulary: llama.cpp wants to be told so. The ids that end a text are the configuration's. */
static void write_none(Source *s, const Report *r) {
    const Config *c = &s->config;
    gguf_string(&s->meta, "tokenizer.ggml.model", "none");
    id(&s->meta, "tokenizer.ggml.bos_token_id", c->bos_id);
    note_ends(r, write_ends(&s->meta, c, c->n_eos ? c->eos_id[0] : -1, -1));
}

int source_vocabulary(Source *s, const Tokenizer *t, const char *from, int end_id, const char **lost, const Report *r,
                      char *err, size_t errlen) {
    const Config *c = &s->config;
    size_t n = (size_t)c->vocab_size;
    Vocabulary v;
    if (tokenizer_size(t) > n)
        return base_error(err, errlen, -EINVAL,
                          "%s: the tokenizer has %zu pieces and the model %zu: they do not belong together", from,
                          tokenizer_size(t), n);
    int rc = tokenizer_vocabulary(&v, t, from, err, errlen);
    size_t said = rc == -EINVAL && r ? strlen(err) : errlen; /* r: it is convert */
    if (said < errlen)
        snprintf(err + said, errlen - said, "; --no-tokenizer writes the model alone, for ./run -z FILE");
    if (rc) return rc;
    if (lost) *lost = v.lost;
    else if (v.lost)
        rc = base_error(err, errlen, -EINVAL, "%s: a tokenizer that %s, and GGUF has no key for that", from, v.lost);
    if (rc == 0) {
        write_vocabulary(&s->meta, &v, n);
        if (v.differs && r)
            report_note(r, "the tokenizer %s: some texts get other ids, or come back otherwise; --no-tokenizer writes "
                        "the model alone, for ./run -z %s", v.differs, from);
        note_ends(r, write_ends(&s->meta, c, v.eos_id, end_id));
    }
    free((void *)(uintptr_t)v.pieces);
    return rc;
}

/* What the keys cannot say: then all of tokenizer.json goes along. */
static int write_whole(Source *s, const char *from, const char *lost, const Report *r, char *err, size_t errlen) {
    char *path = file_is_folder(from) ? file_join(from, "tokenizer.json") : strdup(from);
    MappedFile f;
    int rc = path ? file_map(&f, path, err, errlen) : base_error(err, errlen, -ENOMEM, "%s: out of memory", from);
    if (rc == 0) {
        gguf_string_of(&s->meta, "tokenizer.huggingface.json", (const char *)f.data, f.size);
        file_unmap(&f);
        report_note(r, "the tokenizer %s, for which llama.cpp has no key: all of tokenizer.json goes along, and ./run "
                    "reads that", lost);
    } else if (rc == -ENOENT) /* else file_map has said why */
        base_error(err, errlen, rc, "%s: a tokenizer that %s, and GGUF has no key for that", from, lost);
    free(path);
    return rc;
}

int source_tokenizer(Source *s, const SourceWish *wish, const char *folder, int end_id, const Report *r, char *err,
                     size_t errlen) {
    Tokenizer *t;
    const char *from = wish->tokenizer ? wish->tokenizer : folder;
    if (wish->no_tokenizer) {
        write_none(s, r);
        return 0;
    }
    TokenizerOptions o = {.lower_case = -1, .pre = wish->pre};
    int rc = tokenizer_open_with(&t, from, &o, err, errlen);
    if (rc == -ENOENT && !wish->tokenizer)
        return base_error(err, errlen, rc, "%s: no tokenizer beside it: give one with -z, or "
                          "--no-tokenizer", s->path);
    if (rc == 0 && wordpiece_of(t)) {
        tokenizer_free(t);
        rc = base_error(err, errlen, -EINVAL, "%s: its vocab.txt does not say how GGUF's \"bert\" reads a text: give a "
                        "tokenizer.json with -z, or --no-tokenizer", from);
    }
    if (rc) return rc;
    const char *lost = NULL;
    rc = source_vocabulary(s, t, from, end_id, &lost, r, err, errlen);
    if (rc == 0 && lost) rc = write_whole(s, from, lost, r, err, errlen);
    tokenizer_free(t);
    return rc;
}
