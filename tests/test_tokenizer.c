/* tests/test_tokenizer.c - tokenizer/ and text/vocabulary.c against ids and texts from the SentencePiece library, from
 * llama.cpp's vocabulary vectors and from llama2.c; speed in print. */
#include "test.h"
#include "tokenizer_files.h"

#include "base/base.h"
#include "base/hash.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "model/files/weights.h"
#include "text/vocabulary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char *const err = tokenizer_err;
enum { ERR = sizeof tokenizer_err };

/* ---- against the SentencePiece library: golden/tokenizers.txt ---- */

static const char golden_path[] = "tests/golden/tokenizers.txt";

/* "encode TEXT IDS .." or "decode TEXT IDS .." */
static void check_case(const Tokenizer *t, Lines *l) {
    int ids[400];
    size_t n_text, n = 0;
    char *text = lines_bytes(l, &n_text);
    for (const char *word; n < COUNT(ids) && *(word = lines_word(l));) ids[n++] = atoi(word);
    if (lines_is(l, "encode")) CHECK(encodes(t, text, n_text, ENCODE_BARE, ids, n));
    else CHECK(decodes(t, ids, n, text, n_text));
}

static void golden(void) {
    Lines l;
    Tokenizer *t = NULL;
    if (!lines_open(&l, golden_path)) return;
    while (lines_next(&l)) {
        int model = lines_is(&l, "model"), bytes = lines_is(&l, "bytes");
        if (model || bytes) tokenizer_free(t), t = NULL;
        if (model) tokenizer_data(&t, lines_word(&l));
        else if (bytes) {
            size_t n;
            const char *data = lines_bytes(&l, &n);
            CHECK(tokenizer_bytes(&t, data, n) == 0);
        } else if (t && (lines_is(&l, "encode") || lines_is(&l, "decode"))) check_case(t, &l);
    }
    tokenizer_free(t);
    lines_close(&l);
}

/* MODEL TEXT N HASH */
static void check_text(Lines *l, size_t prefix) {
    Tokenizer *t;
    MappedFile f;
    const char *model = lines_word(l), *text = test_data(lines_word(l));
    size_t want = (size_t)lines_whole(l), n;
    if (!text || !tokenizer_data(&t, model)) return;
    CHECK(file_map(&f, text, err, ERR) == 0 && f.size >= prefix);
    int *ids;
    CHECK(tokenizer_encode(t, (const char *)f.data, prefix, ENCODE_BARE, &ids, &n, err, ERR) == 0);
    uint64_t h = HASH_START;
    for (size_t i = 0; i < n; i++) h = (h ^ (uint64_t)ids[i]) * 0x100000001b3u;
    CHECK(n == want && h == lines_hex(l));
    free(ids);
    file_unmap(&f);
    tokenizer_free(t);
}

static void golden_texts(void) {
    Lines l;
    size_t prefix = 0;
    if (!lines_open(&l, golden_path)) return;
    while (lines_next(&l)) {
        if (lines_is(&l, "prefix")) prefix = (size_t)lines_whole(&l);
        if (lines_is(&l, "file")) check_text(&l, prefix);
    }
    CHECK(prefix > 0);
    lines_close(&l);
}

static void llama2c(void) {
    Tokenizer *t;
    if (!tokenizer_data(&t, "llama2c/tok512.bin")) return;
    CHECK(tokenizer_size(t) == 512 && tokenizer_bos(t) == 1 && tokenizer_eos(t) == 2);
    size_t len;
    const char *p = tokenizer_piece(t, 1, &len);
    CHECK(len == 5 && memcmp(p, "\n<s>\n", 5) == 0);
    CHECK(tokenizer_piece(t, 512, &len) == NULL && tokenizer_piece(t, -1, &len) == NULL);
    /* the right-hand sides were printed by llama2.c's own encode() (run.c at 350e04fe) */
    ENCODES(t, "\xb3\xddT\xf7\x8b\xe8\x93\x92\x1b\xb7", ENCODE_BARE, 410, 182, 224, 434, 250, 142, 235, 150, 149, 30,
            186);
    ENCODES(t, "\x9fx\x96" "a\xf0" "baAx", ENCODE_BARE, 410, 162, 123, 153, 412, 243, 430, 412, 447, 444);
    ENCODES(t, "a", ENCODE_ADDED, 1, 261);
    ENCODES(t, "", ENCODE_ADDED, 1);
    ENCODES(t, "a</s>", ENCODE_SPECIAL, 261, 2);
    CHECK(encodes(t, "", 0, ENCODE_BARE, (const int[]){0}, 0));
    tokenizer_free(t);
}

/* The same vocabulary as .bin and .model gives the same ids. tok512's model squeezes spaces, llama2.c does not: words
 * only. */
static void llama2c_equals_model(void) {
    Tokenizer *bin, *model;
    MappedFile f;
    const char *path = test_data("text/botchan.txt");
    if (!path || !tokenizer_data(&bin, "llama2c/tokenizer_llama2_32000.bin") ||
        !tokenizer_data(&model, "spm/llama2_tokenizer.model")) return;
    CHECK(file_map(&f, path, err, ERR) == 0);
    int *a;
    size_t n;
    CHECK(tokenizer_encode(model, (const char *)f.data, f.size, ENCODE_BARE, &a, &n, err, ERR) == 0);
    CHECK(encodes(bin, (const char *)f.data, f.size, ENCODE_BARE, a, n));
    CHECK(decodes(bin, a, n, (const char *)f.data, f.size) && decodes(model, a, n, (const char *)f.data, f.size));
    free(a);
    file_unmap(&f);
    tokenizer_free(bin);
    tokenizer_free(model);
    static const char *const texts[] = {"Once upon a time, there was a little girl.", "<0x41>", "naïve\nwords", "中文🦙"};
    if (!tokenizer_data(&bin, "llama2c/tok512.bin") || !tokenizer_data(&model, "llama2c/tok512.model")) return;
    for (size_t i = 0; i < COUNT(texts); i++) {
        CHECK(tokenizer_encode(model, texts[i], strlen(texts[i]), ENCODE_ADDED, &a, &n, err, ERR) == 0);
        CHECK(encodes(bin, texts[i], strlen(texts[i]), ENCODE_ADDED, a, n));
        free(a);
    }
    tokenizer_free(bin);
    tokenizer_free(model);
}

/* ---- GGUF vocabularies ---- */

static int open_gguf(Tokenizer **t, const char *path) {
    Weights w;
    Vocabulary v;
    *t = NULL;
    int rc = weights_open(&w, path, err, ERR);
    if (rc) return rc;
    rc = vocabulary_from_weights(&v, &w, err, ERR);
    if (rc == 0) rc = tokenizer_from_vocabulary(t, &v, path, err, ERR);
    vocabulary_free(&v);
    weights_close(&w);
    return rc;
}

/* whole: decoding gives the text back. Texts in .inp, between lines "__ggml_vocab_test__"; their ids in .out, a line
 * each. */
static void check_vectors(const Tokenizer *t, const char *inp, const char *out, int whole) {
    static const char border[] = "\n__ggml_vocab_test__\n";
    MappedFile in, want;
    CHECK(file_map(&in, inp, err, ERR) == 0 && file_map(&want, out, err, ERR) == 0);
    const char *p = (const char *)in.data, *end = p + in.size, *q = (const char *)want.data, *q_end = q + want.size;
    int n_texts = 0;
    while (p < end && q < q_end) {
        const char *stop = p;
        while (stop < end && ((size_t)(end - stop) < sizeof border - 1 || memcmp(stop, border, sizeof border - 1) != 0))
            stop++;
        if (stop == end) break; /* behind the last border stands nothing */
        int ids[300];
        size_t n = 0;
        for (; q < q_end && *q != '\n'; q++)
            if (*q >= '0' && *q <= '9' && n < COUNT(ids)) {
                ids[n++] = atoi(q);
                while (q[1] >= '0' && q[1] <= '9') q++;
            }
        q++;
        CHECK(encodes(t, p, (size_t)(stop - p), ENCODE_BARE, ids, n));
        CHECK(!whole || decodes(t, ids, n, p, (size_t)(stop - p)));
        n_texts++;
        p = stop + sizeof border - 1;
    }
    CHECK(n_texts >= 46);
    file_unmap(&in);
    file_unmap(&want);
}

static void gguf_vectors(void) {
    static const char *const names[] = {"llama-spm", "phi-3", "gpt-2", "falcon", "bert-bge"};
    for (size_t i = 0; i < COUNT(names); i++) {
        char file[3][80];
        static const char *const ends[] = {"", ".inp", ".out"};
        for (int k = 0; k < 3; k++)
            snprintf(file[k], sizeof file[k], "gguf-vocab/ggml-vocab-%s.gguf%s", names[i], ends[k]);
        const char *path = test_data(file[0]), *inp = test_data(file[1]), *out = test_data(file[2]);
        Tokenizer *t;
        if (!path) return;
        CHECK(open_gguf(&t, path) == 0);
        if (!t) continue;
        check_vectors(t, inp, out, strcmp(names[i], "bert-bge") != 0);
        tokenizer_free(t);
    }
}

static void gguf_specials(void) {
    const char *path = test_data("gguf-vocab/ggml-vocab-phi-3.gguf");
    Tokenizer *t;
    if (!path) return;
    CHECK(open_gguf(&t, path) == 0);
    if (!t) return;
    CHECK(tokenizer_bos(t) == 1 && tokenizer_size(t) == 32064);
    ENCODES(t, "<|user|>Hello<|end|>", ENCODE_SPECIAL, 32010, 15043, 32007);
    ENCODES(t, "Hello", ENCODE_ADDED, 1, 15043);
    CHECK(decodes(t, (const int[]){1, 15043, 3186}, 3, "Hello world", 11));
    tokenizer_free(t);
}

/* The vocabulary inside a GGUF file gives the ids of the tokenizer.model it was made from. */
/* A Phi-3's control pieces take the spaces behind them, and what follows begins a text of its own: ids of tokenizers
 * 0.22 from hf-json/llama2/tokenizer.json with Phi-3.5's AddedTokens (rstrip, but <|endoftext|>'s). */
static void gguf_phi3(void) {
    static const struct { const char *text; int ids[12]; size_t n; } cases[] = {
        {"<|user|>\nHello there<|end|>\n<|assistant|>\n", {32010, 15043, 727, 32007, 32001}, 5},
        {"<|system|>\n  You are.<|end|>\n<|user|> \t x <|endoftext|> y",
         {32006, 887, 526, 29889, 32007, 32010, 921, 29871, 32000, 29871, 343}, 11},
        {"a<|end|>b", {263, 32007, 289}, 3}};
    Tokenizer *t;
    const char *path = test_data("gguf-vocab/ggml-vocab-phi-3.gguf");
    if (!path) return;
    CHECK(open_gguf(&t, path) == 0);
    for (size_t i = 0; t && i < sizeof cases / sizeof *cases; i++)
        CHECK(encodes(t, cases[i].text, strlen(cases[i].text), ENCODE_SPECIAL, cases[i].ids, cases[i].n));
    if (t) ENCODES(t, "<|end|> \0 <|end|>", ENCODE_SPECIAL, 32007, 29871, 3, 29871, 32007); /* a NUL is no space */
    tokenizer_free(t);
}

static void gguf_equals_model(void) {
    const char *path = test_data("tales/tales-1m.gguf"), *text = test_data("tales/heldout.txt");
    Tokenizer *t, *model;
    MappedFile f;
    int *ids;
    size_t n;
    if (!path || !text || !tokenizer_data(&model, "tales/tok1024.model")) return;
    CHECK(open_gguf(&t, path) == 0 && file_map(&f, text, err, ERR) == 0);
    if (!t) return;
    CHECK(tokenizer_encode(model, (const char *)f.data, f.size, ENCODE_ADDED, &ids, &n, err, ERR) == 0);
    CHECK(encodes(t, (const char *)f.data, f.size, ENCODE_ADDED, ids, n));
    free(ids);
    file_unmap(&f);
    tokenizer_free(t);
    tokenizer_free(model);
}

static void gguf_other_kinds(void) {
    const Piece p[] = {{"a", 1, 0, PIECE_NORMAL}};
    Vocabulary v = {.model = "rwkv", .pieces = p, .n = 1};
    Tokenizer *t;
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, ERR) == -EINVAL && t == NULL);
    CHECK(strstr(err, "RWKV") && strstr(err, "not read yet"));
}

/* Vocabularies as a GGUF file may hold them, with little in them or with what only some have. */
static void gguf_small(void) {
    static const Piece bare[] = {{"a", 1, 0, PIECE_NORMAL}, {"</s>", 4, 0, PIECE_CONTROL},
                                 {"<unk>", 5, 0, PIECE_UNKNOWN}};
    Vocabulary v = {.model = "t5", .pieces = bare, .n = 1, .bos_id = -1, .eos_id = -1, .unk_id = -1, .add_bos = -1,
                    .add_eos = -1, .add_space_prefix = -1, .remove_extra_whitespaces = -1};
    Tokenizer *t;
    for (v.n = 1; v.n <= 3; v.n++) { /* EOS is the second piece, unknown the third; nothing else says so */
        CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, ERR) == 0 && tokenizer_eos(t) == (v.n > 1 ? 1 : -1));
        if (t) CHECK(encodes(t, "a", 1, ENCODE_ADDED, (const int[]){0, 1}, v.n > 1 ? 2 : 1));
        int *ids;
        size_t n;
        int rc = tokenizer_encode(t, "z", 1, ENCODE_BARE, &ids, &n, err, ERR);
        if (v.n < 3) CHECK(rc == -EINVAL && strstr(err, "nor an unknown piece"));
        else CHECK(rc == 0 && n == 1 && ids[0] == 2);
        free(ids);
        tokenizer_free(t);
    }
    const TokenizerOptions library = {.lower_case = -1, .backend = "sentencepiece"};
    v.n = 3;
    CHECK(tokenizer_from_vocabulary_with(&t, &v, &library, "made", err, ERR) == -EINVAL &&
          strstr(err, "no GGUF file's"));
}

/* A "llama" that squeezes spaces. */
static void gguf_squeezed(void) {
    static const Piece p[] = {{"<unk>", 5, 0, PIECE_UNKNOWN}, {"<s>", 3, 0, PIECE_CONTROL},
                              {"</s>", 4, 0, PIECE_CONTROL}, {"a", 1, -1, PIECE_NORMAL},
                              {"\xe2\x96\x81", 3, 0, PIECE_NORMAL}};
    const Vocabulary v = {.model = "llama", .pieces = p, .n = COUNT(p), .bos_id = -1, .eos_id = -1, .unk_id = -1,
                          .add_bos = -1, .add_eos = -1, .add_space_prefix = 0, .remove_extra_whitespaces = 1};
    Tokenizer *t;
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, ERR) == 0);
    if (t) ENCODES(t, "  a   a ", ENCODE_BARE, 3, 4, 3);
    CHECK(t && decodes(t, (const int[]){4, 3, 4, 3}, 4, "a a", 3));
    tokenizer_free(t);
}

/* BPE of bytes, and Gemma 4's of text: without merges, with a control piece that is empty, with byte pieces. */
static void gguf_bpe(void) {
    static const Piece p[] = {{"a", 1, 0, PIECE_NORMAL}, {"b", 1, 0, PIECE_NORMAL}, {"ab", 2, 0, PIECE_NORMAL},
                              {"", 0, 0, PIECE_CONTROL}, {"<0xC3>", 6, 0, PIECE_BYTE}, {"<0xA9>", 6, 0, PIECE_BYTE},
                              {"<x>", 3, 0, PIECE_USER_DEFINED}, {"\xe2\x96\x81", 3, 0, PIECE_NORMAL}};
    static const Merge merges[] = {{"a b", 3}};
    Vocabulary v = {.model = "gpt2", .pieces = p, .n = COUNT(p), .bos_id = -1, .eos_id = -1, .unk_id = -1,
                    .add_bos = -1, .add_eos = 1, .add_space_prefix = -1, .remove_extra_whitespaces = -1};
    Tokenizer *t;
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, ERR) == -EINVAL && strstr(err, "no tokenizer.ggml.merges"));
    v.merges = merges, v.n_merges = 1;
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, ERR) == -EINVAL &&
          strstr(err, "nothing says how its text is"));
    v.pre = "gpt-2";
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, ERR) == 0);
    if (t) ENCODES(t, "ab<x>ab", ENCODE_ADDED, 2, 6, 2); /* EOS is asked for, and there is none */
    tokenizer_free(t);
    v.eos_id = 1;
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, ERR) == 0);
    if (t) ENCODES(t, "ab", ENCODE_ADDED, 2, 1);
    tokenizer_free(t);
    v.model = "gemma4", v.pre = NULL, v.eos_id = -1; /* its name is that of its cuts, too */
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, ERR) == 0);
    if (t) ENCODES(t, "ab\xc3\xa9 <x>", ENCODE_BARE, 2, 4, 5, 7, 6);
    CHECK(t && decodes(t, (const int[]){2, 4, 5, 7, 6}, 5, "ab\xc3\xa9 <x>", 8));
    tokenizer_free(t);
}

/* A Gemma 4 without its BOS writes nonsense, and files were published that say false: llama.cpp (pull request 21500)
 * overrides them, and granite's name with them. Its ids of "ab a", whether the key is absent, false or true: 2 7 8. */
static void gguf_gemma4(void) {
    static const Piece p[] = {{"<pad>", 5, 0, PIECE_CONTROL}, {"<eos>", 5, 0, PIECE_CONTROL},
                              {"<bos>", 5, 0, PIECE_CONTROL}, {"<unk>", 5, 0, PIECE_UNKNOWN},
                              {"\xe2\x96\x81", 3, 0, PIECE_NORMAL}, {"a", 1, 0, PIECE_NORMAL},
                              {"b", 1, 0, PIECE_NORMAL}, {"ab", 2, 0, PIECE_NORMAL},
                              {"\xe2\x96\x81" "a", 4, 0, PIECE_NORMAL}};
    static const Merge merges[] = {{"a b", 3}, {"\xe2\x96\x81 a", 5}};
    static const char *const names[][2] = {{"gemma4", NULL}, {"gpt2", "gemma4"}, {"gpt2", "granite-embed-multi-311m"}};
    for (size_t i = 0; i < COUNT(names); i++)
        for (int says = -1; says <= 1; says++) {
            const Vocabulary v = {.model = names[i][0], .pre = names[i][1], .pieces = p, .n = COUNT(p),
                                  .merges = merges, .n_merges = COUNT(merges), .bos_id = 2, .eos_id = 1, .unk_id = 3,
                                  .add_bos = says, .add_eos = -1, .add_space_prefix = -1,
                                  .remove_extra_whitespaces = -1};
            Tokenizer *t;
            CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, ERR) == 0);
            if (t) ENCODES(t, "ab a", ENCODE_ADDED, 2, 7, 8);
            tokenizer_free(t);
        }
}

/* ---- vocabularies made here ---- */

static Piece piece(const char *text, float score, int type) { return (Piece){text, strlen(text), score, type}; }

static int from_pieces(Tokenizer **t, const Piece *p, size_t n, long unk) {
    Vocabulary v = {.model = "llama", .pieces = p, .n = n, .bos_id = -1, .eos_id = -1, .unk_id = unk, .add_bos = -1,
                    .add_eos = -1, .add_space_prefix = 0, .remove_extra_whitespaces = -1};
    err[0] = 0;
    return tokenizer_from_vocabulary(t, &v, "made", err, ERR);
}

static void vocabulary_rules(void) {
    static char s[1 << 20];
    memset(s, 'a', sizeof s);
    Piece p[] = {piece("<unk>", 0, PIECE_UNKNOWN), piece("<s>", 0, PIECE_CONTROL), piece("</s>", 0, PIECE_CONTROL),
                 piece("a", -1, PIECE_NORMAL),
                 piece("aa", -2, PIECE_NORMAL), piece("<x>", 0, PIECE_USER_DEFINED), piece("<0x41>", 0, PIECE_BYTE),
                     piece("", 0, PIECE_NORMAL)};
    Tokenizer *t;
    CHECK(from_pieces(&t, p, COUNT(p), -1) == 0);
    ENCODES(t, "aaa", ENCODE_ADDED, 1, 4, 3);           /* leftmost first */
    ENCODES(t, "a<x>aa", ENCODE_BARE, 3, 5, 4);
    ENCODES(t, "aAa", ENCODE_BARE, 3, 6, 3);            /* a byte piece */
    ENCODES(t, "abc\xff" "aA", ENCODE_BARE, 3, 0, 3, 6); /* a run of unknowns is one */
    ENCODES(t, "<s>a", ENCODE_BARE, 0, 3);
    ENCODES(t, "<s>a", ENCODE_SPECIAL, 1, 3);
    ENCODES(t, "<un<unk>a", ENCODE_SPECIAL, 0, 0, 3); /* a run of unknowns, and the token itself */
    ENCODES(t, "<un<unk>a", ENCODE_BARE, 0, 3);
    CHECK(decodes(t, (const int[]){5, 3, 7, 99, -1, 1, 6}, 7, "<x>aA", 5));
    tokenizer_free(t);

    p[0].type = PIECE_NORMAL; /* now no unknown piece, and not every byte has one */
    int *ids;
    size_t n;
    CHECK(from_pieces(&t, p, COUNT(p), -1) == 0);
    ENCODES(t, "aA", ENCODE_BARE, 3, 6);
    CHECK(tokenizer_encode(t, "ab", 2, ENCODE_BARE, &ids, &n, err, ERR) == -EINVAL && ids == NULL &&
          strstr(err, "0x62"));
    tokenizer_free(t);

    CHECK(from_pieces(&t, p, COUNT(p), 100) == -EINVAL && strstr(err, "100"));
    CHECK(from_pieces(&t, p, 0, -1) == -EINVAL);
    p[3].score = NAN;
    CHECK(from_pieces(&t, p, COUNT(p), -1) == -EINVAL && strstr(err, "score"));
    p[3].score = 0;
    p[6].text = "<0xZZ>";
    CHECK(from_pieces(&t, p, COUNT(p), -1) == -EINVAL && strstr(err, "names no byte"));
    p[6].text = "<0x41>";
    p[5].type = 9;
    CHECK(from_pieces(&t, p, COUNT(p), -1) == -EINVAL && strstr(err, "kind 9"));
    p[5] = (Piece){s, sizeof s - 1, 0, PIECE_USER_DEFINED};
    CHECK(from_pieces(&t, p, COUNT(p), -1) == -EINVAL && strstr(err, "longer than"));
    p[5].type = PIECE_NORMAL; /* a megabyte in one piece is nothing special */
    CHECK(from_pieces(&t, p, COUNT(p), -1) == 0);
    ENCODES(t, "aA", ENCODE_BARE, 3, 6);
    tokenizer_free(t);
}

/* ---- a folder ---- */

/* A copy, never a link: another test that wrote into this folder would write into ../shared. */
static void copy_data(const char *folder, const char *name, const char *data) {
    char *to = file_join(folder, name);
    MappedFile f;
    CHECK(file_map(&f, data, err, ERR) == 0);
    unlink(to);
    write_file(to, f.data, f.size);
    file_unmap(&f);
    free(to);
}

static void folder(void) {
    const char *model = test_data("spm/llama2_tokenizer.model");
    if (!model) return;
    char dir[300], path[400];
    snprintf(dir, sizeof dir, "%s", test_tmp("linked-hf"));
    mkdir(dir, 0700);
    Tokenizer *t;
    CHECK(tokenizer_open(&t, dir, err, ERR) == -ENOENT && !tokenizer_probe(dir));
    snprintf(path, sizeof path, "%s/tokenizer.json", dir);
    write_text(path, "{}");
    CHECK(tokenizer_open(&t, dir, err, ERR) == -EINVAL && strstr(err, "tokenizer.json"));
    unlink(path);
    copy_data(dir, "tokenizer.model", model);
    CHECK(tokenizer_probe(dir) && tokenizer_open(&t, dir, err, ERR) == 0);
    ENCODES(t, "Hello", ENCODE_ADDED, 1, 15043);
    tokenizer_free(t);

    snprintf(path, sizeof path, "%s/added_tokens.json", dir);
    write_text(path, "{\"<pad>\": 32000}");
    snprintf(path, sizeof path, "%s/tokenizer_config.json", dir);
    write_text(path, "{\"add_bos_token\": false, \"add_eos_token\": true, \"eos_token\": {\"content\": "
                     "\"<|im_end|>\"}, \"added_tokens_decoder\": {"
                     "\"1\": {\"content\": \"<s>\", \"special\": true}, \"32001\": {\"content\": \"<|im_end|>\", "
                     "\"special\": true},"
                     "\"32002\": {\"content\": \"<tool>\", \"special\": false}}}");
    CHECK(tokenizer_open(&t, dir, err, ERR) == 0);
    CHECK(tokenizer_size(t) == 32003 && tokenizer_eos(t) == 32001 && tokenizer_bos(t) == 1);
    ENCODES(t, "Hello<tool>", ENCODE_ADDED, 15043, 32002, 32001);
    ENCODES(t, "<|im_end|>Hello", ENCODE_SPECIAL, 32001, 15043);
    ENCODES(t, "<pad>", ENCODE_BARE, 32000);
    /* the space in front is dropped behind an added token too */
    CHECK(decodes(t, (const int[]){32002, 15043, 32001}, 3, "<tool>Hello", 11));
    tokenizer_free(t);

    static const char *const bad[] = {"{", "{\"add_bos_token\": 3}",
                                      "{\"added_tokens_decoder\": {\"1000000000\": {\"content\": \"x\"}}}",
                                      "{\"added_tokens_decoder\": {\"-1\": {\"content\": \"x\"}}}",
                                      "{\"added_tokens_decoder\": {\"32000\": {}}}",
                                      "{\"added_tokens_decoder\": {\"nan\": {\"content\": \"x\"}}}",
                                      "{\"added_tokens_decoder\": {\"32000.5\": {\"content\": \"x\"}}}"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        write_text(path, bad[i]);
        CHECK(tokenizer_open(&t, dir, err, ERR) == -EINVAL && t == NULL && strlen(err) > 10);
    }
}

/* Small files that would have much done: each is refused, or says why it cannot encode. */
static void claims(void) {
    static const char head[] = "\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}, \"merges\": []}}";
    static const struct { const char *field, *begin, *item, *end, *says; int n; } rows[] = {
        {"post_processor", "{\"type\": \"TemplateProcessing\", \"pair\": [], \"single\": [",
        "{\"Sequence\": {\"id\": \"A\"}}", "]}", "repeats its texts", 9},
        {"normalizer", "{\"type\": \"Sequence\", \"normalizers\": [",
         "{\"type\": \"Replace\", \"pattern\": {\"String\": \"a\"}, \"content\": \"aa\"}", "]}",
         "grow beyond", 60},
        {"pre_tokenizer", "{\"type\": \"Sequence\", \"pretokenizers\": [",
         "{\"type\": \"Metaspace\", \"replacement\": \"      \", \"split\": false}", "]}", "grow beyond", 60}};
    static char text[8192];
    const char *path = test_tmp("claims.json");
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t n = (size_t)snprintf(text, sizeof text, "{\"%s\": %s", rows[i].field, rows[i].begin);
        for (int k = 0; k < rows[i].n; k++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", k ? ", " : "", rows[i].item);
        snprintf(text + n, sizeof text - n, "%s, %s", rows[i].end, head);
        write_text(path, text);
        Tokenizer *t;
        int *ids = NULL, rc = tokenizer_open(&t, path, err, ERR);
        if (rc == 0) rc = tokenizer_encode(t, "a a", 3, ENCODE_BARE, &ids, &n, err, ERR);
        CHECK(rc == -EINVAL && strstr(err, rows[i].says));
        tokenizer_free(t);
    }
}

/* Ids that a few lines claim, in files of two kinds; a link that leads nowhere is no file that is not there. */
static void folder_claims(void) {
    char dir[300], path[400];
    Tokenizer *t;
    const TokenizerOptions o = {.lower_case = -1, .pre = "gpt-2"};
    const char *ranks = test_tmp("claims.tiktoken");
    write_text(ranks, "YQ== 0\nYg== 65000\nYw== 130000\n");
    CHECK(tokenizer_open_with(&t, ranks, &o, err, ERR) == -EINVAL && strstr(err, "the rank 130000"));
    char line[800] = "YQ== 0\n"; /* 513 bytes, one more than is read */
    memset(line + 7, 'Y', 684);
    memcpy(line + 7 + 684, " 1\n", 4);
    write_text(ranks, line);
    CHECK(tokenizer_open_with(&t, ranks, &o, err, ERR) == -EINVAL && strstr(err, "piece 1 is longer than 512 bytes"));
    memcpy(line + 7 + 682, "==", 2); /* 511 */
    write_text(ranks, line);
    CHECK(tokenizer_open_with(&t, ranks, &o, err, ERR) == 0 && tokenizer_size(t) == 2);
    tokenizer_free(t);
    snprintf(dir, sizeof dir, "%s", test_tmp("claims"));
    mkdir(dir, 0700);
    snprintf(path, sizeof path, "%s/vocab.json", dir);
    write_text(path, "{\"a\": 0}");
    snprintf(path, sizeof path, "%s/merges.txt", dir);
    write_text(path, "#version: 0.2\n");
    snprintf(path, sizeof path, "%s/tokenizer_config.json", dir);
    write_text(path, "{\"added_tokens_decoder\": {\"60000\": {\"content\": \"<x>\"}, \"120000\": {\"content\": "
                     "\"<y>\"}}}");
    CHECK(tokenizer_open_with(&t, dir, &o, err, ERR) == -EINVAL && strstr(err, "120000"));
    write_text(path, "{\"added_tokens_decoder\": {\"1\": {\"content\": \"<x>\"}}}");
    snprintf(path, sizeof path, "%s/added_tokens.json", dir);
    write_text(path, "{\"<x>\": 1, \"<y>\": 2}");
    CHECK(tokenizer_open_with(&t, dir, &o, err, ERR) == 0 && tokenizer_size(t) == 3);
    tokenizer_free(t);
    unlink(path);
    CHECK(symlink("nowhere", path) == 0);
    CHECK(tokenizer_open_with(&t, dir, &o, err, ERR) == -ENOENT && strstr(err, "added_tokens.json"));
    unlink(path);
}

/* ---- broken and foreign files ---- */

static void other_models(void) {
    static const struct { const char *file, *says; } rows[] = {
        {"gguf-vocab/ggml-vocab-llama-spm.gguf", "GGUF"}, {"tok/hf-json/phi-2/tokenizer_config.json", "JSON"},
        {"text/botchan.txt", "neither"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *path = test_data(rows[i].file);
        Tokenizer *t;
        if (!path) return;
        CHECK(tokenizer_open(&t, path, err, ERR) == -EINVAL && t == NULL && strstr(err, rows[i].says));
    }
    Tokenizer *t;
    CHECK(tokenizer_open(&t, "/nonexistent", err, ERR) == -ENOENT && !tokenizer_probe("/nonexistent"));
}

/* ---- streams ---- */

/* A text decoded id by id is what it was, whatever bytes it holds; and begun = 1 keeps the first space. */
static void streams(void) {
    Tokenizer *t;
    if (!tokenizer_data(&t, "spm/llama2_tokenizer.model")) return;
    char out[512];
    CHECK(tokenizer_decode_bound(t) <= sizeof out);
    TokenStream s = {.begun = 1};
    CHECK(tokenizer_decode(t, &s, 15043, out) == 6 && memcmp(out, " Hello", 6) == 0);
    s = (TokenStream){0};
    CHECK(tokenizer_decode(t, &s, 0xf0 + 3, out) == 0 && tokenizer_decode(t, &s, 0x9f + 3, out) == 0 &&
          tokenizer_decode(t, &s, 0xa6 + 3, out) == 0);
    CHECK(tokenizer_decode(t, &s, 0x99 + 3, out) == 4 && memcmp(out, "\xf0\x9f\xa6\x99", 4) == 0);
    CHECK(tokenizer_decode(t, &s, 0xe2 + 3, out) == 0 && tokenizer_decode(t, &s, 29874, out) == 4 &&
          memcmp(out, "\xef\xbf\xbd" "a", 4) == 0);
    CHECK(tokenizer_decode(t, &s, 0xe2 + 3, out) == 0 && tokenizer_decode_end(t, &s, out) == 3 &&
          tokenizer_decode_end(t, &s, out) == 0);
    uint32_t r = 1;
    for (int k = 0; k < 300; k++) { /* random well-formed text comes back */
        char text[120];
        size_t len = 0, n;
        int *ids;
        while (len < 100) {
            r = r * 1664525u + 1013904223u;
            uint32_t cp = r >> (8 + (r >> 3) % 18);
            if (cp <= 0x10ffff && (cp < 0xd800 || cp > 0xdfff) && cp != 0x2581)
                len += (size_t)utf8_encode(cp, text + len);
        }
        CHECK(tokenizer_encode(t, text, len, ENCODE_ADDED, &ids, &n, err, ERR) == 0);
        CHECK(decodes(t, ids, n, text, len));
        free(ids);
    }
    tokenizer_free(t);
}

/* ---- speed, in print ---- */

static void speed(void) {
    Tokenizer *t;
    MappedFile f;
    const char *path = test_data("text/war-and-peace.txt");
    if (!path || !tokenizer_data(&t, "spm/llama2_tokenizer.model")) return;
    CHECK(file_map(&f, path, err, ERR) == 0);
    enum { N = 1000000 };
    char *same = malloc(N);
    memset(same, 'a', N);
    const char *texts[] = {(const char *)f.data, same};
    static const char *const names[] = {"English", "one letter"};
    for (int i = 0; i < 2; i++) {
        int *ids;
        size_t n;
        clock_t t0 = clock();
        CHECK(tokenizer_encode(t, texts[i], N, ENCODE_BARE, &ids, &n, err, ERR) == 0);
        printf("    1 MB of %s: %.3f s, %zu ids\n", names[i], (double)(clock() - t0) / CLOCKS_PER_SEC, n);
        free(ids);
    }
    free(same);
    file_unmap(&f);
    tokenizer_free(t);
}

const Test tests_tokenizer[] = {
    {"tokenizer/golden", golden},
    {"tokenizer/golden_texts", golden_texts},
    {"tokenizer/llama2c", llama2c},
    {"tokenizer/llama2c_equals_model", llama2c_equals_model},
    {"tokenizer/gguf_vectors", gguf_vectors},
    {"tokenizer/gguf_specials", gguf_specials},
    {"tokenizer/gguf_phi3", gguf_phi3},
    {"tokenizer/gguf_equals_model", gguf_equals_model},
    {"tokenizer/gguf_other_kinds", gguf_other_kinds},
    {"tokenizer/gguf_small", gguf_small},
    {"tokenizer/gguf_squeezed", gguf_squeezed},
    {"tokenizer/gguf_bpe", gguf_bpe},
    {"tokenizer/gguf_gemma4", gguf_gemma4},
    {"tokenizer/vocabulary_rules", vocabulary_rules},
    {"tokenizer/folder", folder},
    {"tokenizer/claims", claims},
    {"tokenizer/folder_claims", folder_claims},
    {"tokenizer/other_models", other_models},
    {"tokenizer/streams", streams},
    {"tokenizer/speed", speed},
    {0}
};
