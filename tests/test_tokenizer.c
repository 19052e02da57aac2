/* tests/test_tokenizer.c - tokenizer/ and text/vocabulary.c against ids and texts from the SentencePiece library, from
 * llama.cpp's vocabulary vectors and from llama2.c; broken files; speed in print. */
#include "test.h"

#include "base/base.h"
#include "base/file.h"
#include "model/files/open.h"
#include "text/vocabulary.h"
#include "tokenizer/open.h"
#include "tests/golden/tokenizers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define COUNT(a) (sizeof (a) / sizeof *(a))

static char err[300];

/* ---- helpers ---- */

static void write_file(const char *path, const void *data, size_t n) {
    FILE *f = fopen(path, "wb");
    CHECK(f != NULL);
    if (!f) return;
    CHECK(fwrite(data, 1, n, f) == n);
    fclose(f);
}

static void write_text(const char *path, const char *text) { write_file(path, text, strlen(text)); }

/* A file of ../shared/data, or nothing and a skip. */
static int open_data(Tokenizer **t, const char *name) {
    const char *path = test_data(name);
    *t = NULL;
    if (!path) return 0;
    err[0] = 0;
    int rc = tokenizer_open(t, path, err, sizeof err);
    if (rc) printf("    %s\n", err);
    CHECK(rc == 0);
    return rc == 0;
}

static int open_bytes(Tokenizer **t, const void *data, size_t n) {
    const char *path = test_tmp("tokenizer.file");
    write_file(path, data, n);
    err[0] = 0;
    return tokenizer_open(t, path, err, sizeof err);
}

/* Does text become exactly these ids? Says what it became instead. */
static int encodes(const Tokenizer *t, const char *text, size_t len, int flags, const int *want, size_t n_want) {
    int *ids;
    size_t n;
    if (tokenizer_encode(t, text, len, flags, &ids, &n, err, sizeof err)) {
        printf("    %s\n", err);
        return 0;
    }
    int same = ids && n == n_want && memcmp(ids, want, n * sizeof *ids) == 0;
    if (!same) {
        printf("    \"%.*s\" became", (int)(len < 60 ? len : 60), text);
        for (size_t i = 0; i < n && i < 30; i++) printf(" %d", ids[i]);
        printf("\n");
    }
    free(ids);
    return same;
}

/* The ids decoded as a stream, into malloc'ed memory; no call writes more than the bound. */
static char *decode_all(const Tokenizer *t, const int *ids, size_t n, size_t *len) {
    size_t bound = tokenizer_decode_bound(t);
    /* out by itself: the sanitizer sees a byte too many */
    char *text = malloc((n + 1) * bound + 1), *out = malloc(bound);
    TokenStream s = {0};
    *len = 0;
    for (size_t i = 0; i <= n; i++) {
        size_t k = i < n ? tokenizer_decode(t, &s, ids[i], out) : tokenizer_decode_end(t, &s, out);
        CHECK(k <= bound);
        memcpy(text + *len, out, k);
        *len += k;
    }
    free(out);
    return text;
}

static int decodes(const Tokenizer *t, const int *ids, size_t n, const char *want, size_t n_want) {
    size_t len;
    char *text = decode_all(t, ids, n, &len);
    int same = len == n_want && memcmp(text, want, len) == 0;
    if (!same) printf("    decoded to \"%.*s\", not \"%.*s\"\n", (int)len, text, (int)n_want, want);
    free(text);
    return same;
}

#define ENCODES(t, text, flags, ...) do { \
    static const int want_[] = {__VA_ARGS__}; \
    CHECK(encodes(t, text, sizeof (text) - 1, flags, want_, COUNT(want_))); } while (0)

/* ---- against the SentencePiece library ---- */

static void golden(void) {
    for (size_t k = 0; k < COUNT(golden_tokenizers); k++) {
        const GoldenTokenizer *g = &golden_tokenizers[k];
        Tokenizer *t = NULL;
        if (g->model_size) CHECK(open_bytes(&t, g->model, g->model_size) == 0);
        else if (!open_data(&t, g->model)) continue;
        if (!t) continue;
        for (size_t i = 0; i < g->n_encode; i++)
            CHECK(encodes(t, g->encode[i].text, g->encode[i].len, ENCODE_BARE, g->encode[i].ids, g->encode[i].n));
        for (size_t i = 0; i < g->n_decode; i++)
            CHECK(decodes(t, g->decode[i].ids, g->decode[i].n, g->decode[i].text, g->decode[i].len));
        tokenizer_free(t);
    }
}

static void golden_texts(void) {
    for (size_t k = 0; k < COUNT(golden_files); k++) {
        Tokenizer *t;
        MappedFile f;
        const char *text = test_data(golden_files[k].text);
        if (!text || !open_data(&t, golden_files[k].model)) return;
        CHECK(file_map(&f, text, err, sizeof err) == 0 && f.size >= GOLDEN_PREFIX);
        int *ids;
        size_t n;
        CHECK(tokenizer_encode(t, (const char *)f.data, GOLDEN_PREFIX, ENCODE_BARE, &ids, &n, err, sizeof err) == 0);
        uint64_t h = 0xcbf29ce484222325u;
        for (size_t i = 0; i < n; i++) h = (h ^ (uint64_t)ids[i]) * 0x100000001b3u;
        CHECK(n == golden_files[k].n && h == golden_files[k].hash);
        free(ids);
        file_unmap(&f);
        tokenizer_free(t);
    }
}

/* ---- llama2.c's tokenizer.bin ---- */

static void llama2c(void) {
    Tokenizer *t;
    if (!open_data(&t, "llama2c/tok512.bin")) return;
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
    if (!path || !open_data(&bin, "llama2c/tokenizer_llama2_32000.bin") ||
        !open_data(&model, "spm/llama2_tokenizer.model")) return;
    CHECK(file_map(&f, path, err, sizeof err) == 0);
    int *a;
    size_t n;
    CHECK(tokenizer_encode(model, (const char *)f.data, f.size, ENCODE_BARE, &a, &n, err, sizeof err) == 0);
    CHECK(encodes(bin, (const char *)f.data, f.size, ENCODE_BARE, a, n));
    CHECK(decodes(bin, a, n, (const char *)f.data, f.size) && decodes(model, a, n, (const char *)f.data, f.size));
    free(a);
    file_unmap(&f);
    tokenizer_free(bin);
    tokenizer_free(model);
    static const char *const texts[] = {"Once upon a time, there was a little girl.", "<0x41>", "naïve\nwords", "中文🦙"};
    if (!open_data(&bin, "llama2c/tok512.bin") || !open_data(&model, "llama2c/tok512.model")) return;
    for (size_t i = 0; i < COUNT(texts); i++) {
        CHECK(tokenizer_encode(model, texts[i], strlen(texts[i]), ENCODE_ADDED, &a, &n, err, sizeof err) == 0);
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
    int rc = weights_open(&w, path, err, sizeof err);
    if (rc) return rc;
    rc = vocabulary_from_weights(&v, &w, err, sizeof err);
    if (rc == 0) rc = tokenizer_from_vocabulary(t, &v, path, err, sizeof err);
    vocabulary_free(&v);
    weights_close(&w);
    return rc;
}

/* whole: decoding gives the text back. Texts in .inp, between lines "__ggml_vocab_test__"; their ids in .out, a line
 * each. */
static void check_vectors(const Tokenizer *t, const char *inp, const char *out, int whole) {
    static const char border[] = "\n__ggml_vocab_test__\n";
    MappedFile in, want;
    CHECK(file_map(&in, inp, err, sizeof err) == 0 && file_map(&want, out, err, sizeof err) == 0);
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
static void gguf_equals_model(void) {
    const char *path = test_data("tales/tales-1m.gguf"), *text = test_data("tales/heldout.txt");
    Tokenizer *t, *model;
    MappedFile f;
    int *ids;
    size_t n;
    if (!path || !text || !open_data(&model, "tales/tok1024.model")) return;
    CHECK(open_gguf(&t, path) == 0 && file_map(&f, text, err, sizeof err) == 0);
    if (!t) return;
    CHECK(tokenizer_encode(model, (const char *)f.data, f.size, ENCODE_ADDED, &ids, &n, err, sizeof err) == 0);
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
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof err) == -EINVAL && t == NULL);
    CHECK(strstr(err, "RWKV") && strstr(err, "not read yet"));
}

/* ---- vocabularies made here ---- */

static Piece piece(const char *text, float score, int type) { return (Piece){text, strlen(text), score, type}; }

static int from_pieces(Tokenizer **t, const Piece *p, size_t n, long unk) {
    Vocabulary v = {.model = "llama", .pieces = p, .n = n, .bos_id = -1, .eos_id = -1, .unk_id = unk, .add_bos = -1,
                    .add_eos = -1, .add_space_prefix = 0, .remove_extra_whitespaces = -1};
    err[0] = 0;
    return tokenizer_from_vocabulary(t, &v, "made", err, sizeof err);
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
    CHECK(decodes(t, (const int[]){5, 3, 7, 99, -1, 1, 6}, 7, "<x>aA", 5));
    tokenizer_free(t);

    p[0].type = PIECE_NORMAL; /* now no unknown piece, and not every byte has one */
    int *ids;
    size_t n;
    CHECK(from_pieces(&t, p, COUNT(p), -1) == 0);
    ENCODES(t, "aA", ENCODE_BARE, 3, 6);
    CHECK(tokenizer_encode(t, "ab", 2, ENCODE_BARE, &ids, &n, err, sizeof err) == -EINVAL && ids == NULL &&
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
    CHECK(file_map(&f, data, err, sizeof err) == 0);
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
    CHECK(tokenizer_open(&t, dir, err, sizeof err) == -ENOENT && !tokenizer_probe(dir));
    snprintf(path, sizeof path, "%s/tokenizer.json", dir);
    write_text(path, "{}");
    CHECK(tokenizer_open(&t, dir, err, sizeof err) == -EINVAL && strstr(err, "tokenizer.json"));
    unlink(path);
    copy_data(dir, "tokenizer.model", model);
    CHECK(tokenizer_probe(dir) && tokenizer_open(&t, dir, err, sizeof err) == 0);
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
    CHECK(tokenizer_open(&t, dir, err, sizeof err) == 0);
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
        CHECK(tokenizer_open(&t, dir, err, sizeof err) == -EINVAL && t == NULL && strlen(err) > 10);
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
        int *ids = NULL, rc = tokenizer_open(&t, path, err, sizeof err);
        if (rc == 0) rc = tokenizer_encode(t, "a a", 3, ENCODE_BARE, &ids, &n, err, sizeof err);
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
    CHECK(tokenizer_open_with(&t, ranks, &o, err, sizeof err) == -EINVAL && strstr(err, "the rank 130000"));
    snprintf(dir, sizeof dir, "%s", test_tmp("claims"));
    mkdir(dir, 0700);
    snprintf(path, sizeof path, "%s/vocab.json", dir);
    write_text(path, "{\"a\": 0}");
    snprintf(path, sizeof path, "%s/merges.txt", dir);
    write_text(path, "#version: 0.2\n");
    snprintf(path, sizeof path, "%s/tokenizer_config.json", dir);
    write_text(path, "{\"added_tokens_decoder\": {\"60000\": {\"content\": \"<x>\"}, \"120000\": {\"content\": "
                     "\"<y>\"}}}");
    CHECK(tokenizer_open_with(&t, dir, &o, err, sizeof err) == -EINVAL && strstr(err, "120000"));
    write_text(path, "{\"added_tokens_decoder\": {\"1\": {\"content\": \"<x>\"}}}");
    snprintf(path, sizeof path, "%s/added_tokens.json", dir);
    write_text(path, "{\"<x>\": 1, \"<y>\": 2}");
    CHECK(tokenizer_open_with(&t, dir, &o, err, sizeof err) == 0 && tokenizer_size(t) == 3);
    tokenizer_free(t);
    unlink(path);
    CHECK(symlink("nowhere", path) == 0);
    CHECK(tokenizer_open_with(&t, dir, &o, err, sizeof err) == -ENOENT && strstr(err, "added_tokens.json"));
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
        CHECK(tokenizer_open(&t, path, err, sizeof err) == -EINVAL && t == NULL && strstr(err, rows[i].says));
    }
    Tokenizer *t;
    CHECK(tokenizer_open(&t, "/nonexistent", err, sizeof err) == -ENOENT && !tokenizer_probe("/nonexistent"));
}

/* Every truncation is refused; of tokenizer.bin those between two pieces behind the longest one cannot be seen. */
static void truncated(void) {
    static const char *const files[] = {"llama2c/tok512.model", "tales/tok1024.model", "llama2c/tok512.bin"};
    for (size_t k = 0; k < COUNT(files); k++) {
        const char *path = test_data(files[k]);
        MappedFile f;
        Tokenizer *t;
        if (!path) return;
        CHECK(file_map(&f, path, err, sizeof err) == 0);
        size_t opened = 0;
        for (size_t n = 1; n < f.size; n++) {
            int rc = open_bytes(&t, f.data, n);
            CHECK(rc == 0 || (rc == -EINVAL && err[0] && !strchr(err, '\n')));
            opened += rc == 0;
            tokenizer_free(t);
        }
        CHECK(opened <= (k == 2 ? 253 : 0));
        file_unmap(&f);
    }
}

/* Each byte of a model turned to 0x00, 0x80 and 0xff, and its lowest bit flipped: opened or refused, and what opens
 * works. */
static void flipped(void) {
    const GoldenTokenizer *g = &golden_tokenizers[COUNT(golden_tokenizers) - 1];
    CHECK(g->model_size > 0);
    for (size_t i = 0; i < g->model_size; i++)
        for (int k = 0; k < 4; k++) {
            char *copy = malloc(g->model_size);
            memcpy(copy, g->model, g->model_size);
            copy[i] = (char)(k == 0 ? 0 : k == 1 ? 0x80 : k == 2 ? 0xff : copy[i] ^ 1);
            Tokenizer *t;
            int *ids;
            size_t n;
            int rc = open_bytes(&t, copy, g->model_size);
            CHECK(rc == 0 || rc == -EINVAL);
            if (rc == 0 && tokenizer_encode(t, "abcabc <sep>\xff <s>ccc", 20, ENCODE_ADDED | ENCODE_SPECIAL, &ids, &n,
                                            err, sizeof err) == 0) {
                size_t len;
                free(decode_all(t, ids, n, &len));
                free(ids);
            }
            tokenizer_free(t);
            free(copy);
        }
}

#define REFUSED(bytes, says) do { \
    Tokenizer *t_; \
    CHECK(open_bytes(&t_, bytes, sizeof (bytes) - 1) == -EINVAL && t_ == NULL); \
    if (!strstr(err, says)) printf("    \"%s\" does not say \"%s\"\n", err, says); \
    CHECK(strstr(err, says)); } while (0)

static void hostile_models(void) {
    /* a model: <unk>, "a", BPE, no bytes, spaces not squeezed */
    #define UNK "\x0a\x09\x0a\x05<unk>\x18\x02"
    #define TAIL "\x12\x02\x18\x02\x1a\x02\x20\x00"
    Tokenizer *t;
    CHECK(open_bytes(&t, UNK "\x0a\x03\x0a\x01" "a" TAIL, sizeof UNK - 1 + 5 + sizeof TAIL - 1) == 0);
    if (t) ENCODES(t, "a", ENCODE_ADDED, 0, 1);
    tokenizer_free(t);
    REFUSED(UNK "\x0a\x03\x0a\x01" "a" "\x12\x02\x18\x02", "no normalizer");
    REFUSED(UNK "\x0a\x03\x0a\x01" "a", "truncated?");
    REFUSED(UNK "\x12\x02\x18\x09\x1a\x00", "unknown kind");
    REFUSED(UNK "\x12\x02\x18\x02\x1a\x03\x12\x01x", "character map");
    REFUSED(UNK "\x0a\x03\x0a\x01" "a" "\x0a\x03\x0a\x01" "a" TAIL, "spelled alike");
    REFUSED(UNK UNK TAIL, "both the unknown");
    REFUSED("\x0a\x03\x0a\x01" "a" TAIL, "no unknown");
    REFUSED(UNK "\x0a\x02\x0a\x00" TAIL, "empty");
    REFUSED(UNK "\x0a\x05\x0a\x01" "a\x18\x07" TAIL, "kind 7");
    REFUSED(UNK "\x0a\x0a\x0a\x06<0xZZ>\x18\x06" TAIL, "names no byte");
    REFUSED(UNK "\x0a\x0a\x0a\x06<0x41>\x18\x06" TAIL, "byte_fallback is off");
    REFUSED(UNK "\x0a\x08\x0a\x01" "a\x15\x00\x00\xc0\x7f" TAIL, "score");
    REFUSED(UNK "\x0a\x05\x0a\x01" "a\x10\x01" TAIL, "wire type");
    /* field 41: 8 million */
    REFUSED(UNK "\x12\x08\x18\x02\xc8\x02\x80\x94\xeb\x03\x1a\x00", "bos_id");
    /* a length of 2^63 */
    REFUSED(UNK "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f" TAIL, "protobuf");
    /* a varint without end */
    REFUSED(UNK "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" TAIL, "protobuf");
    /* longer inside than outside */
    REFUSED(UNK "\x0a\x05\x0a\x09" "abc" TAIL, "a piece");
    REFUSED(UNK "\x13\x14" TAIL, "protobuf");                                                       /* a group */
    REFUSED("\x0a", "neither");
}

/* tokenizer.bin with n pieces, one letter a piece but the last; max is the header's. */
static size_t make_bin(uint8_t *out, size_t n, uint32_t max, uint32_t last_len, float score) {
    uint8_t *p = out;
    memcpy(p, &max, 4); /* tests run on little-endian machines */
    p += 4;
    for (size_t i = 0; i < n; i++) {
        uint32_t len = i + 1 == n ? last_len : 3;
        memcpy(p, &score, 4);
        memcpy(p + 4, &len, 4);
        snprintf((char *)p + 8, 4, "%03u", (unsigned)i);
        p += 11;
    }
    return (size_t)(p - out);
}

static void hostile_bins(void) {
    uint8_t *b = malloc(11 * 1000 + 16);
    Tokenizer *t;
    size_t size = make_bin(b, 300, 3, 3, 0);
    CHECK(open_bytes(&t, b, size) == 0 && tokenizer_size(t) == 300);
    int *ids;
    size_t n;
    CHECK(t && tokenizer_encode(t, "x", 1, ENCODE_BARE, &ids, &n, err, sizeof err) == -EINVAL && ids == NULL &&
          strstr(err, "no piece for the byte"));
    tokenizer_free(t);
    CHECK(open_bytes(&t, b, make_bin(b, 200, 3, 3, 0)) == -EINVAL && strstr(err, "259"));
    CHECK(open_bytes(&t, b, make_bin(b, 300, 4, 3, 0)) == -EINVAL && strstr(err, "longest"));
    CHECK(open_bytes(&t, b, make_bin(b, 300, 2, 3, 0)) == -EINVAL);
    CHECK(open_bytes(&t, b, make_bin(b, 300, 3, 0xffffffffu, 0)) == -EINVAL && strstr(err, "fit"));
    CHECK(open_bytes(&t, b, make_bin(b, 300, 3, 0, 0)) == -EINVAL);
    CHECK(open_bytes(&t, b, make_bin(b, 300, 3, 3, NAN)) == -EINVAL && strstr(err, "score"));
    free(b);
}

/* ---- streams ---- */

/* A text decoded id by id is what it was, whatever bytes it holds; and begun = 1 keeps the first space. */
static void streams(void) {
    Tokenizer *t;
    if (!open_data(&t, "spm/llama2_tokenizer.model")) return;
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
        CHECK(tokenizer_encode(t, text, len, ENCODE_ADDED, &ids, &n, err, sizeof err) == 0);
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
    if (!path || !open_data(&t, "spm/llama2_tokenizer.model")) return;
    CHECK(file_map(&f, path, err, sizeof err) == 0);
    enum { N = 1000000 };
    char *same = malloc(N);
    memset(same, 'a', N);
    const char *texts[] = {(const char *)f.data, same};
    static const char *const names[] = {"English", "one letter"};
    for (int i = 0; i < 2; i++) {
        int *ids;
        size_t n;
        clock_t t0 = clock();
        CHECK(tokenizer_encode(t, texts[i], N, ENCODE_BARE, &ids, &n, err, sizeof err) == 0);
        printf("    1 MB of %s: %.3f s, %zu ids\n", names[i], (double)(clock() - t0) / CLOCKS_PER_SEC, n);
        free(ids);
    }
    free(same);
    file_unmap(&f);
    tokenizer_free(t);
}

extern const Test tests_tokenizer[];
const Test tests_tokenizer[] = {
    {"tokenizer/golden", golden},
    {"tokenizer/golden_texts", golden_texts},
    {"tokenizer/llama2c", llama2c},
    {"tokenizer/llama2c_equals_model", llama2c_equals_model},
    {"tokenizer/gguf_vectors", gguf_vectors},
    {"tokenizer/gguf_specials", gguf_specials},
    {"tokenizer/gguf_equals_model", gguf_equals_model},
    {"tokenizer/gguf_other_kinds", gguf_other_kinds},
    {"tokenizer/vocabulary_rules", vocabulary_rules},
    {"tokenizer/folder", folder},
    {"tokenizer/claims", claims},
    {"tokenizer/folder_claims", folder_claims},
    {"tokenizer/other_models", other_models},
    {"tokenizer/truncated", truncated},
    {"tokenizer/flipped", flipped},
    {"tokenizer/hostile_models", hostile_models},
    {"tokenizer/hostile_bins", hostile_bins},
    {"tokenizer/streams", streams},
    {"tokenizer/speed", speed},
    {0},
};
