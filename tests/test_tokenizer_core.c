/* tests/test_tokenizer_core.c - the tokenizer of `make core`, spm.c and what it includes by themselves: the same ids
 * and texts as the whole tokenizer has, and what it cannot do is refused. */
#include "test.h"
#include "tokenizer_files.h"

#include "base/base.h"
#include "model/files/weights.h"
#include "text/gguf_pieces.h"
#include "text/open.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char *const err = tokenizer_err;
enum { ERR = sizeof tokenizer_err };

static void same(const Tokenizer *core, const Tokenizer *whole, const char *text, size_t n, int flags) {
    int *a, *b;
    size_t n_a, n_b, len_a, len_b;
    CHECK(tokenizer_encode(core, text, n, flags, &a, &n_a, err, ERR) == 0);
    CHECK(tokenizer_encode(whole, text, n, flags, &b, &n_b, err, ERR) == 0);
    CHECK(a && b && n_a == n_b && memcmp(a, b, n_a * sizeof *a) == 0);
    char *text_a = decode_all(core, a, n_a, &len_a), *text_b = decode_all(whole, b, n_b, &len_b);
    CHECK(len_a == len_b && memcmp(text_a, text_b, len_a) == 0);
    free(text_a), free(text_b), free(a), free(b);
}

static void same_texts(const Tokenizer *core, const Tokenizer *whole) {
    static const char *const texts[] = {"", " ", "  a  b ", "Once upon a time", "\xff\xfe\x80", "\x80 a\xe4",
                                        "\xe4\xb8\xad\n<s></s><0x41>",
                                        "\xe2\x96\x81x"};
    MappedFile f;
    const char *path = test_data("text/botchan.txt");
    for (size_t i = 0; i < COUNT(texts); i++)
        for (int flags = 0; flags < 16; flags++)
            if (!(flags & ENCODE_SPECIAL)) same(core, whole, texts[i], strlen(texts[i]), flags);
    if (!path || file_map(&f, path, err, ERR)) return;
    same(core, whole, (const char *)f.data, f.size < 300000 ? f.size : 300000, ENCODE_ADDED);
    file_unmap(&f);
}

static void gguf(void) {
    Weights w;
    Tokenizer *core, *whole = NULL;
    CHECK(weights_open(&w, "model/tales-1m.gguf", err, ERR) == 0);
    CHECK(vocabulary_is(&w, "llama") && !vocabulary_is(&w, "llam"));
    CHECK(tokenizer_make(&core, "core", gguf_spm, &w, err, ERR) == 0);
    CHECK(vocabulary_open(&whole, &w, NULL, 0, NULL, err, ERR) == 0);
    if (core && whole) same_texts(core, whole);
    tokenizer_free(core);
    tokenizer_free(whole);
    weights_close(&w);
}

static void llama2c(void) {
    static const char *const names[] = {"llama2c/tok512.bin", "llama2c/tokenizer_llama2_32000.bin"};
    for (size_t i = 0; i < COUNT(names); i++) {
        Tokenizer *core, *whole = NULL;
        MappedFile f;
        const char *path = test_data(names[i]);
        if (!path || file_map(&f, path, err, ERR)) return;
        CHECK(tokenizer_make(&core, "core", spm_llama2c, &f, err, ERR) == 0 && tokenizer_data(&whole, names[i]));
        if (core && whole) same_texts(core, whole);
        tokenizer_free(core);
        tokenizer_free(whole);
        file_unmap(&f);
    }
}

enum { KEYS = 5 };

/* A vocabulary of "<unk>", "a", "<x>", or the first n of them, as a GGUF file holds it: the last piece's type, and a
 * key more. */
static void make_keys(MetaValue out[KEYS], uint64_t n, uint8_t type, const char *key, uint8_t value,
                      MetaType value_type) {
    static uint8_t types[] = {PIECE_UNKNOWN, 0, 0, 0, PIECE_NORMAL, 0, 0, 0, 0, 0, 0, 0}, number[4];
    static const uint8_t texts[] = {5, 0, 0, 0, 0, 0, 0, 0, '<', 'u', 'n', 'k', '>', 1, 0, 0, 0, 0, 0, 0, 0, 'a',
                                    3, 0, 0, 0, 0, 0, 0, 0, '<', 'x', '>'};
    static const uint8_t scores[12];
    types[8] = type, number[0] = value;
    const MetaValue keys[KEYS] = {
        {"tokenizer.ggml.model", META_STRING, 0, 5, (const uint8_t *)"llama"},
        {"tokenizer.ggml.tokens", META_ARRAY, META_STRING, n, texts},
        {"tokenizer.ggml.scores", META_ARRAY, META_F32, n, scores},
        {"tokenizer.ggml.token_type", META_ARRAY, META_I32, n, types}, {key, value_type, 0, 1, number}};
    memcpy(out, keys, sizeof keys);
}

static int open_made(Tokenizer **t, uint8_t type, const char *key, uint8_t value, MetaType value_type) {
    MetaValue meta[KEYS];
    make_keys(meta, 3, type, key, value, value_type);
    const Weights w = {.path = "core", .meta = meta, .n_meta = KEYS};
    return tokenizer_make(t, "core", gguf_spm, &w, err, ERR);
}

static void refused(void) {
    static const char strip[] = "tokenizer.ggml.remove_extra_whitespaces", bos[] = "tokenizer.ggml.bos_token_id";
    Tokenizer *t;
    CHECK(open_made(&t, PIECE_USER_DEFINED, strip, 0, META_BOOL) == -EINVAL && !t && strstr(err, "added"));
    CHECK(open_made(&t, PIECE_UNUSED, strip, 0, META_BOOL) == -EINVAL && !t && strstr(err, "unused"));
    CHECK(open_made(&t, PIECE_NORMAL, strip, 1, META_BOOL) == -EINVAL && !t && strstr(err, "spaces"));
    CHECK(open_made(&t, PIECE_BYTE, strip, 0, META_BOOL) == -EINVAL && !t && strstr(err, "names no byte"));
    CHECK(open_made(&t, 7, strip, 0, META_BOOL) == -EINVAL && !t && strstr(err, "piece 2 is of the unknown kind 7"));
    CHECK(open_made(&t, PIECE_NORMAL, bos, 3, META_U32) == -EINVAL && !t && strstr(err, "bos id is 3, of 3 pieces"));
    CHECK(open_made(&t, PIECE_NORMAL, bos, 1, META_BOOL) == -EINVAL && !t && strstr(err, "bos_token_id is not an id"));
    CHECK(open_made(&t, PIECE_NORMAL, bos, 1, META_U8) == 0 && tokenizer_bos(t) == 1 && tokenizer_eos(t) == 2);
    tokenizer_free(t);
    CHECK(open_made(&t, PIECE_NORMAL, bos, 2, META_U32) == 0 && tokenizer_bos(t) == 2);
    tokenizer_free(t);
    for (size_t n = 0; n < 300; n += 7) { /* files that are too short for 259 pieces */
        uint8_t data[300] = {3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 'a'};
        const MappedFile f = {data, n};
        CHECK(tokenizer_make(&t, "core", spm_llama2c, &f, err, ERR) == -EINVAL && !t);
    }
}

/* What a file says of BOS, EOS and the space in front, and where it has too few pieces for the usual ids. */
static void settings(void) {
    static const struct { const char *key; uint8_t value; uint64_t n; } rows[] = {
        {"tokenizer.ggml.add_bos_token", 0, 3}, {"tokenizer.ggml.add_bos_token", 1, 3},
        {"tokenizer.ggml.add_eos_token", 0, 3}, {"tokenizer.ggml.add_eos_token", 1, 3},
        {"tokenizer.ggml.add_space_prefix", 0, 3}, {"tokenizer.ggml.add_bos_token", 1, 1},
        {"tokenizer.ggml.add_eos_token", 1, 2}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        Tokenizer *core, *whole;
        MetaValue meta[KEYS];
        make_keys(meta, rows[i].n, PIECE_NORMAL, rows[i].key, rows[i].value, META_BOOL);
        const Weights w = {.path = "core", .meta = meta, .n_meta = KEYS};
        CHECK(tokenizer_make(&core, "core", gguf_spm, &w, err, ERR) == 0);
        CHECK(vocabulary_open(&whole, &w, NULL, 0, NULL, err, ERR) == 0);
        for (int flags = 0; core && whole && flags < 16; flags++)
            if (!(flags & ENCODE_SPECIAL)) same(core, whole, "aa", 2, flags), same(core, whole, "", 0, flags);
        CHECK(tokenizer_bos(core) == (rows[i].n > 1 ? 1 : -1) && tokenizer_eos(core) == (rows[i].n > 2 ? 2 : -1));
        tokenizer_free(core);
        tokenizer_free(whole);
    }
}

/* Texts that all begin in one place of the table of pieces.c, whose hash this is. */
static void collisions(void) {
    enum { PIECES = 700, EACH = 12, SHIFT = 64 - 12 }; /* the table has 4096 places */
    static uint8_t data[4 + PIECES * EACH];
    const MappedFile f = {data, sizeof data};
    size_t n = 0;
    for (uint32_t i = 0; n < PIECES; i++) {
        uint64_t h = 0;
        uint8_t text[4] = {(uint8_t)i, (uint8_t)(i >> 8), (uint8_t)(i >> 16), 'x'};
        for (int k = 0; k < 4; k++) h = (h ^ text[k]) * 0x9e3779b97f4a7c15u;
        if (h >> SHIFT) continue;
        data[4 + n * EACH + 4] = 4;
        memcpy(data + 4 + n++ * EACH + 8, text, 4);
    }
    Tokenizer *t;
    CHECK(tokenizer_make(&t, "core", spm_llama2c, &f, err, ERR) == -EINVAL && !t && strstr(err, "all hash alike"));
    for (n = 0; n < PIECES; n += 2) data[4 + n * EACH + 11] = 'y'; /* half of them: a long row, but no endless one */
    CHECK(tokenizer_make(&t, "core", spm_llama2c, &f, err, ERR) == 0);
    tokenizer_free(t);
}

const Test tests_tokenizer_core[] = {
    {"tokenizer core/gguf", gguf},
    {"tokenizer core/llama2c", llama2c},
    {"tokenizer core/settings", settings},
    {"tokenizer core/refused", refused},
    {"tokenizer core/collisions", collisions},
    {0}
};
