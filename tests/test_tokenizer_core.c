/* tests/test_tokenizer_core.c - the tokenizer of `make core`, spm.c and what it includes by themselves: the same ids
 * and texts as the whole tokenizer has, and what it cannot do is refused. */
#include "test.h"
#include "tokenizer_files.h"

#include "base/base.h"
#include "model/files/weights.h"
#include "text/gguf_pieces.h"
#include "text/open.h"
#include "tokenizer/sentencepiece/spm.h"

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
    Vocabulary v = {.n = 0};
    Tokenizer *core, *whole = NULL;
    CHECK(weights_open(&w, "model/tales-1m.gguf", err, ERR) == 0);
    CHECK(vocabulary_is(&w, "llama") && !vocabulary_is(&w, "llam") && vocabulary_pieces(&v, &w, err, ERR) == 0);
    CHECK(tokenizer_make(&core, "core", spm_vocabulary, &v, err, ERR) == 0);
    CHECK(vocabulary_open(&whole, &w, NULL, 0, NULL, err, ERR) == 0);
    if (core && whole) same_texts(core, whole);
    tokenizer_free(core);
    tokenizer_free(whole);
    free((void *)(uintptr_t)v.pieces);
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

static void refused(void) {
    Piece p[] = {{"<unk>", 5, 0, PIECE_UNKNOWN}, {"a", 1, 0, PIECE_NORMAL}, {"<x>", 3, 0, PIECE_USER_DEFINED}};
    Vocabulary v = {.model = "llama", .pieces = p, .n = 3, .bos_id = -1, .eos_id = -1, .unk_id = -1};
    Tokenizer *t;
    CHECK(tokenizer_make(&t, "core", spm_vocabulary, &v, err, ERR) == -EINVAL && !t && strstr(err, "added"));
    p[2].type = PIECE_UNUSED;
    CHECK(tokenizer_make(&t, "core", spm_vocabulary, &v, err, ERR) == -EINVAL && !t && strstr(err, "unused"));
    p[2].type = PIECE_NORMAL;
    v.remove_extra_whitespaces = 1;
    CHECK(tokenizer_make(&t, "core", spm_vocabulary, &v, err, ERR) == -EINVAL && !t && strstr(err, "spaces"));
    v.remove_extra_whitespaces = 0;
    CHECK(tokenizer_make(&t, "core", spm_vocabulary, &v, err, ERR) == 0);
    tokenizer_free(t);
    for (size_t n = 0; n < 300; n += 7) { /* files that are too short for 259 pieces */
        uint8_t data[300] = {3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 'a'};
        const MappedFile f = {data, n};
        CHECK(tokenizer_make(&t, "core", spm_llama2c, &f, err, ERR) == -EINVAL && !t);
    }
}

const Test tests_tokenizer_core[] = {
    {"tokenizer core/gguf", gguf},
    {"tokenizer core/llama2c", llama2c},
    {"tokenizer core/refused", refused},
    {0}
};
