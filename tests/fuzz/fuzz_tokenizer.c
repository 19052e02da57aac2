/* tests/fuzz/fuzz_tokenizer.c - libFuzzer target for tokenizer/. The first byte chooses:
 *   0  tokenizer.model's reader   1  tokenizer.bin's reader   (what opens must encode and decode)
 *   2  text to ids, 3 ids to text, with a vocabulary that has every kind of piece
 *   4  text there and back with every byte in the vocabulary: well-formed text must come back */
#include "tokens.h"

#include "base/base.h"
#include "tokenizer/sentencepiece/model.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char err[200];

/* from: whether every byte is there */
static int read_made(Tokenizer *t, const void *from, char *e, size_t e_len) {
    static const struct { const char *text; float score; int type; } rows[] = {
        {"<unk>", 0, PIECE_UNKNOWN}, {"<s>", 0, PIECE_CONTROL}, {"</s>", 0, PIECE_CONTROL}, {"a", -9, PIECE_NORMAL},
        {"b", -9, PIECE_NORMAL}, {"\xe2\x96\x81", -9, PIECE_NORMAL}, {"ab", -1, PIECE_UNUSED},
        {"abb", -1, PIECE_NORMAL}, {"aa", -2, PIECE_NORMAL}, {"aaaa", -3, PIECE_UNUSED}, {"\xe2\x96\x81" "a", -1,
            PIECE_NORMAL}, {"<x>", 0, PIECE_USER_DEFINED}, {"<x><x>", 0, PIECE_USER_DEFINED},
                {"\xc3\xa9" "a", -2, PIECE_NORMAL}};
    int all_bytes = *(const int *)from;
    if (spm_model_begin(t, e, e_len)) abort();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (pieces_add(t, rows[i].text, strlen(rows[i].text), rows[i].score, rows[i].type, e, e_len)) abort();
    for (int b = 0; b < 256; b++) {
        static const char digits[] = "0123456789ABCDEF";
        char name[7] = {'<', '0', 'x', digits[b >> 4], digits[b & 15], '>'};
        if ((all_bytes || b % 3) && pieces_add(t, name, 6, 0, PIECE_BYTE, e, e_len)) abort();
    }
    t->unk = 0;
    t->bos = 1;
    t->eos = 2;
    t->dummy_prefix = t->add_bos = 1;
    ((SpmModel *)t->own)->raw_bytes = all_bytes;
    return spm_model_finish(t, 1, e, e_len);
}

static Tokenizer *made(int all_bytes) {
    Tokenizer *t;
    if (tokenizer_make(&t, "fuzz", read_made, &all_bytes, err, sizeof err)) abort();
    return t;
}

static int read_model(Tokenizer *t, const void *from, char *e, size_t e_len) {
    const MappedFile *f = from;
    int rc = model_proto_read(t, f->data, f->size, e, e_len);
    return rc ? rc : spm_model_finish(t, 1, e, e_len);
}

static int read_bin(Tokenizer *t, const void *from, char *e, size_t e_len) {
    const MappedFile *f = from;
    int rc = llama2c_vocab_read(t, f->data, f->size, e, e_len);
    return rc ? rc : spm_model_finish(t, 1, e, e_len);
}

/* What the whole tokenizer makes of a tokenizer.bin, the core makes, too. */
static void same_as_core(const Tokenizer *t, const MappedFile *f, const char *text, size_t n) {
    Tokenizer *core;
    int *a, *b;
    size_t n_a, n_b;
    if (tokenizer_make(&core, "fuzz", spm_llama2c, f, err, sizeof err)) abort();
    int flags = ENCODE_ADDED | ENCODE_SPECIAL, rc = tokenizer_encode(t, text, n, flags, &a, &n_a, err, sizeof err);
    if (tokenizer_encode(core, text, n, flags, &b, &n_b, err, sizeof err) != rc) abort();
    if (rc == 0 && (n_a != n_b || memcmp(a, b, n_a * sizeof *a) != 0)) abort();
    free(a);
    free(b);
    tokenizer_free(core);
}

static void read_file(const uint8_t *data, size_t size, int bin) {
    const MappedFile f = {data, size};
    Tokenizer *t;
    int rc = tokenizer_make(&t, "fuzz", bin ? read_bin : read_model, &f, err, sizeof err);
    if (rc == 0 && bin) same_as_core(t, &f, (const char *)data, size < 2000 ? size : 2000);
    if (rc == 0) {
        tokens_hold(t, (const char *)data, size < 2000 ? size : 2000, ENCODE_ADDED | ENCODE_SPECIAL, NULL, NULL);
        tokens_in_gguf(t, (const char *)data, size < 2000 ? size : 2000, ENCODE_ADDED);
    }
    if (rc && rc != -22 && rc != -12) abort();
    tokenizer_free(t);
}

static void there_and_back(const Tokenizer *t, const char *text, size_t size) {
    uint32_t cp;
    for (size_t i = 0; i < size;) {
        int len = utf8_decode(text + i, size - i, &cp);
        if (len == 0 || cp == 0x2581) return;
        i += (size_t)len;
    }
    int *ids;
    size_t n, len;
    if (tokenizer_encode(t, text, size, ENCODE_ADDED, &ids, &n, err, sizeof err)) abort();
    char *back = tokens_text(t, ids, n, &len);
    if (len != size || memcmp(back, text, len) != 0) abort();
    free(back);
    free(ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static Tokenizer *some, *all;
    if (!some) {
        some = made(0);
        all = made(1);
    }
    if (size == 0) return 0;
    int what = *data++ % 5;
    size--;
    if (what < 2) read_file(data, size, what);
    if (what == 2) tokens_hold(some, (const char *)data, size, size & 1 ? ENCODE_SPECIAL : ENCODE_ADDED, NULL, NULL);
    if (what == 3) {
        int *ids = malloc((size + 1) * sizeof *ids);
        size_t len;
        if (!ids) abort();
        for (size_t i = 0; i < size; i++) ids[i] = data[i] + (i & 1 ? 20 : -1);
        free(tokens_text(some, ids, size, &len));
        free(ids);
    }
    if (what == 4) there_and_back(all, (const char *)data, size);
    return 0;
}
