/* tests/test_wordpiece_files.c - WordPiece's vocabularies: small and hostile ones, folders with their settings,
 * dictionaries beside them, GGUF. */
#include "test.h"
#include "build.h"
#include "tokenizer_files.h"

#include "tokenizer/open.h"
#include "tokenizer/wordpiece/wordpiece.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char *const err = tokenizer_err;

static int open_with(Tokenizer **t, const char *path, const TokenizerOptions *o) {
    err[0] = 0;
    int rc = tokenizer_open_with(t, path, o, err, sizeof tokenizer_err);
    CHECK((rc == 0) == (*t != NULL) && (rc == 0) == (err[0] == 0));
    return rc;
}

/* ---- small vocabularies ---- */

static const char bert[] =
    "[UNK]\n[CLS]\n[SEP]\n[PAD]\n[MASK]\nwant\n##want\n##ed\nwa\nun\nrunn\n##ing\n,\nlow\nlowest\n";

static int open_text(Tokenizer **t, const char *text, size_t n, const TokenizerOptions *o) {
    const char *path = test_tmp("wordpiece.txt");
    file_write(path, text, n);
    return open_with(t, path, o);
}

static void small_vocabulary(void) {
    Tokenizer *t;
    int *ids;
    size_t n, len;
    CHECK(open_text(&t, bert, sizeof bert - 1, NULL) == 0);
    if (!t) return;
    CHECK(tokenizer_size(t) == 15 && tokenizer_bos(t) == 1 && tokenizer_eos(t) == 2);
    CHECK(strcmp(tokenizer_kind(t), "WordPiece") == 0);
    CHECK(tokenizer_named(t, "[MASK]") == 4 && tokenizer_named(t, "##ing") == 11 && tokenizer_named(t, "x") == -1);
    CHECK(memcmp(tokenizer_piece(t, 6, &len), "##want", 6) == 0 && len == 6 && tokenizer_piece(t, 15, &len) == NULL);
    ENCODES(t, "UNwant\xc3\xa9" "d,running", ENCODE_BARE, 9, 6, 7, 12, 10, 11);
    ENCODES(t, "unwantedX running", ENCODE_BARE, 0, 10, 11);
    ENCODES(t, "UNwant\xc3\xa9" "d,running", ENCODE_ADDED, 1, 9, 6, 7, 12, 10, 11, 2);
    ENCODES(t, "low", ENCODE_BOS, 1, 13);
    ENCODES(t, "low[MASK]low[SEP][mask]", ENCODE_EOS, 13, 4, 13, 2, 0, 0, 0, 2);
    ENCODES(t, "\xff\xfelow\x80 \xe2\x82low", ENCODE_BARE, 13, 13); /* bad bytes are no text */
    CHECK(tokenizer_encode(t, "", 0, ENCODE_BARE, &ids, &n, err, sizeof tokenizer_err) == 0 && ids && n == 0);
    free(ids);
    CHECK(tokenizer_encode(t, "\n \n\n\0", 5, ENCODE_ADDED, &ids, &n, err, sizeof tokenizer_err) == 0 && n == 2);
    free(ids);
    CHECK(tokenizer_probe(test_tmp("wordpiece.txt")) == 1);
    tokenizer_free(t);
    CHECK(open_text(&t, bert, sizeof bert - 1, &(TokenizerOptions){.lower_case = 0}) == 0);
    /* no space before the '[' */
    ENCODES(t, "low Low want\xc3\xa9" "d want[MA\0SK]", ENCODE_BARE, 13, 0, 0, 5, 0, 0, 0);
    ENCODES(t, "[MA\0SK] low", ENCODE_BARE, 4, 13);
    ENCODES(t, "[U\0NK] [UN\0K", ENCODE_BARE, 0, 0, 0); /* the first is one piece, the second a mark and a word */
    tokenizer_free(t);
    /* without "##" pieces, [CLS], [SEP]; a piece twice, empty lines, "\r\n" and "\r" */
    CHECK(open_text(&t, "a\r\nb\r[UNK]\n\na\n\n\n", 16, NULL) == 0 && tokenizer_size(t) == 7);
    ENCODES(t, "a b ab c", ENCODE_ADDED, 4, 1, 2, 2);
    CHECK(tokenizer_bos(t) == -1 && tokenizer_named(t, "[MASK]") == -1);
    tokenizer_free(t);
}

/* ---- pieces to text ---- */

/* What transformers' clean_up_tokenization replaces, one after the other. */
static void clean(char *text) {
    static const char *const rules[][2] = {{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"},
                                           {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"},
                                           {" 're", "'re"}};
    for (size_t i = 0; i < COUNT(rules); i++) {
        size_t from = strlen(rules[i][0]), to = strlen(rules[i][1]);
        for (char *p = text; (p = strstr(p, rules[i][0])) != NULL; p += to) {
            memcpy(p, rules[i][1], to);
            memmove(p + to, p + from, strlen(p + from) + 1);
        }
    }
}

/* Pieces that are joined and cleaned up as a whole text are what the stream writes, piece by piece. */
static void cleaned_up(void) {
    static const char *const pieces[] = {"[UNK]", "it", "n", "'", "t", "##t", "m", "##m", "s", "##s", "ve", "##ve",
                                         "re", "##re", "n't", "'m", "'s", "'ve", "'re", "'d", ".", "!", ",", "?", "##",
                                         "##x", "'x"};
    char vocabulary[400] = "", out[64], joined[400], text[400];
    Tokenizer *t;
    for (size_t i = 0; i < COUNT(pieces); i++) strcat(strcat(vocabulary, pieces[i]), "\n");
    CHECK(open_text(&t, vocabulary, strlen(vocabulary), NULL) == 0);
    if (!t) return;
    CHECK(tokenizer_decode_bound(t) <= sizeof out);
    uint32_t r = 1;
    int bad = 0;
    for (int k = 0; k < 20000; k++) {
        TokenStream s = {0};
        *joined = *text = 0;
        for (int i = 0; i < 6; i++) {
            r = r * 1664525u + 1013904223u;
            size_t id = i ? 1 + (r >> 8) % (COUNT(pieces) - 1) : 1; /* "it" comes first: the text is never trimmed */
            int glued = i && strncmp(pieces[id], "##", 2) == 0;
            strcat(strcat(joined, i && !glued ? " " : ""), pieces[id] + (glued ? 2 : 0));
            strncat(text, out, tokenizer_decode(t, &s, (int)id, out));
        }
        strncat(text, out, tokenizer_decode_end(t, &s, out));
        clean(joined);
        if (strcmp(text, joined) != 0 && ++bad < 5) printf("    \"%s\", not \"%s\"\n", text, joined);
    }
    CHECK(bad == 0);
    tokenizer_free(t);
}

/* Beside what is written without spaces there is none, where the caller wants it so. */
static void tight(void) {
    static const char vocabulary[] = "[UNK]\na\n\xe4\xb8\xad\n\xe3\x82\xab\n\xef\xbc\x81\n\xe3\x84\xb1\n"
                                     "\xf0\x9f\x98\x80\n\xef\xbb\xbe\n";
    static const struct { int ids[5]; const char *text; } rows[] = {
        {{1, 2, 1, 3, 4}, "a\xe4\xb8\xad" "a\xe3\x82\xab\xef\xbc\x81"}, /* a Chinese one, a katakana, a wide mark */
        {{1, 5, 1, 6, 1}, "a \xe3\x84\xb1 a \xf0\x9f\x98\x80 a"},           /* a Korean letter, a face */
        {{5, 7, 2, 7, 6}, "\xe3\x84\xb1 \xef\xbb\xbe\xe4\xb8\xad\xef\xbb\xbe \xf0\x9f\x98\x80"}};
    Tokenizer *t;
    CHECK(open_text(&t, vocabulary, sizeof vocabulary - 1, NULL) == 0);
    for (size_t i = 0; t && i < COUNT(rows); i++) {
        TokenStream s = {.tight = 1};
        char out[64], text[100] = "";
        for (int k = 0; k < 5; k++) strncat(text, out, tokenizer_decode(t, &s, rows[i].ids[k], out));
        if (strcmp(text, rows[i].text) != 0) printf("    row %zu: \"%s\"\n", i, text);
        CHECK(strcmp(text, rows[i].text) == 0);
    }
    tokenizer_free(t);
}

static void hostile_vocabularies(void) {
    static const struct { const char *text; size_t n; const char *says; } bad[] = {
        {"a\nb\n", 4, "neither"}, {"[UNK] \n", 7, "neither"}, {"\x01[UNK]\n[UNK]", 12, "neither"},
        {"\xff\n[UNK]\n", 8, "piece 0 is not UTF-8"},
        {"[UNK]\na\0b\n\xc3", 11, "piece 2 is not UTF-8"}, {"{\n[UNK]\n}", 9, NULL},
    };
    Tokenizer *t;
    for (size_t i = 0; i < COUNT(bad); i++) {
        int rc = open_text(&t, bad[i].text, bad[i].n, NULL);
        if (rc && bad[i].says && !strstr(err, bad[i].says)) printf("    %s\n", err);
        CHECK(bad[i].says ? rc == -EINVAL && strstr(err, bad[i].says) != NULL : rc == 0);
        tokenizer_free(t);
    }
    char *big = malloc(1 << 20);
    memset(big, 'a', 1 << 20);
    memcpy(big, "[UNK]\n", 6);
    CHECK(open_text(&t, big, 6 + WORD_MAX, NULL) == 0);
    tokenizer_free(t);
    CHECK(open_text(&t, big, 7 + WORD_MAX, NULL) == -EINVAL && strstr(err, "more than 256"));
    CHECK(open_text(&t, big, 1 << 20, NULL) == -EINVAL && strstr(err, "more than 256"));
    for (size_t i = 6; i < 1 << 20; i++) big[i] = i & 1 ? 'a' : '\n'; /* half a million times the same piece */
    CHECK(open_text(&t, big, 1 << 20, NULL) == 0 && tokenizer_size(t) > 500000);
    if (t) ENCODES(t, "a", ENCODE_BARE, 524286);
    tokenizer_free(t);
    free(big);
    char copy[sizeof bert];
    for (size_t n = 1; n < sizeof bert; n++)
        for (int byte = 0; byte < 256; byte += n % 8 ? 37 : 1) {
            memcpy(copy, bert, sizeof bert);
            copy[n - 1] = (char)byte;
            int rc = open_text(&t, copy, n, NULL), *ids;
            size_t k;
            CHECK(rc == 0 || (rc == -EINVAL && err[0]));
            if (rc) continue;
            CHECK(tokenizer_encode(t, bert, sizeof bert - 1, ENCODE_ADDED, &ids, &k, err, sizeof tokenizer_err) == 0);
            for (size_t i = 0; i < k; i++) CHECK(ids[i] >= 0 && (size_t)ids[i] < tokenizer_size(t));
            free(ids);
            tokenizer_free(t);
        }
}

/* ---- folders, dictionaries, GGUF ---- */

#define YONGHE "\xe6\xb0\xb8\xe5\x92\x8c"
static const char words[] =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n" YONGHE "\n\xe6\xb0\xb8\n\xe5\x92\x8c\nabc\n\xc3\xa9\ne\n";

static char *in(const char *folder, const char *name) {
    static char path[4][700];
    static int turn;
    snprintf(path[turn = (turn + 1) % 4], sizeof path[0], "%s/%s", folder, name);
    return path[turn];
}

static void put_text(const char *path, const char *text) { file_write(path, text, strlen(text)); }

static void dictionaries(void) {
    const char *folder = test_tmp("wordpiece-words");
    Tokenizer *t;
    mkdir(folder, 0700);
    put_text(in(folder, "vocab.txt"), words);
    CHECK(open_with(&t, folder, NULL) == -EINVAL && strstr(err, "its 1 Chinese words need jieba's dictionary"));
    CHECK(strstr(err, "dict.txt") && strstr(err, "beside the vocabulary") && strstr(err, "--jieba"));
    CHECK(tokenizer_probe(folder) == 1);
    put_text(in(folder, "dict.txt"), YONGHE " 5 n\n\xe6\xb0\xb8 1\n\xe5\x92\x8c 1\n");
    CHECK(open_with(&t, folder, NULL) == 0 && strcmp(tokenizer_kind(t), "WordPiece with jieba") == 0);
    ENCODES(t, YONGHE "ABC\xc3\x89", ENCODE_ADDED, 2, 5, 8, 9, 3); /* "\u00e9" is a word of jieba's, and a piece */
    tokenizer_free(t);
    CHECK(open_with(&t, in(folder, "vocab.txt"), NULL) == 0); /* the file itself: beside it */
    tokenizer_free(t);
    CHECK(open_with(&t, folder, &(TokenizerOptions){.lower_case = -1, .bert4keras = 1}) == 0);
    CHECK(t && strcmp(tokenizer_kind(t), "WordPiece with jieba (bert4keras' order)") == 0);
    ENCODES(t, YONGHE "ABC\xc3\x89", ENCODE_ADDED, 2, 5, 1, 3); /* accents go first: one word "abce", unknown */
    tokenizer_free(t);
    put_text(in(folder, "jieba.dict"), "\xe6\xb0\xb8 1\n"); /* this name comes first */
    CHECK(open_with(&t, folder, NULL) == 0);
    ENCODES(t, YONGHE, ENCODE_BARE, 6, 7);
    tokenizer_free(t);
    CHECK(open_with(&t, folder, &(TokenizerOptions){.jieba = in(folder, "dict.txt"), .lower_case = -1}) == 0);
    ENCODES(t, YONGHE, ENCODE_BARE, 5);
    tokenizer_free(t);
    put_text(in(folder, "jieba.dict"), "\xe6\xb0\xb8\n");
    CHECK(open_with(&t, folder, NULL) == -EINVAL && strstr(err, "jieba.dict: line 1"));
    CHECK(open_with(&t, folder, &(TokenizerOptions){.jieba = in(folder, "none")}) == -ENOENT && strstr(err, "none"));
    const char *other = test_tmp("wordpiece-other");
    mkdir(other, 0700);
    CHECK(open_with(&t, folder, &(TokenizerOptions){.folder = other}) == -EINVAL && strstr(err, "jieba's dictionary"));
    remove(in(folder, "jieba.dict"));
}

static void config(void) {
    const char *folder = test_tmp("wordpiece-config");
    Tokenizer *t;
    mkdir(folder, 0700);
    put_text(in(folder, "vocab.txt"), "<p>\n<u>\n<c>\n<s>\n<m>\nA\na\n##b\nx\n[UNK]\ndo\n'\nn\n.\n");
    put_text(in(folder, "tokenizer_config.json"),
             "{\"do_lower_case\": false, \"cls_token\": \"<c>\", \"sep_token\": {\"content\": \"<s>\"}, \"unk_token\": "
             "\"<u>\","
             " \"mask_token\": \"<m>\", \"pad_token\": \"<p>\", \"clean_up_tokenization_spaces\": false,"
             " \"added_tokens_decoder\": {\"8\": {\"content\": \"x\", \"special\": false},"
             " \"20\": {\"content\": \"[new]\", \"special\": true}}}");
    CHECK(open_with(&t, folder, NULL) == 0);
    if (!t) return;
    CHECK(tokenizer_size(t) == 21 && tokenizer_bos(t) == 2 && tokenizer_eos(t) == 3);
    ENCODES(t, "Aab<m>axb[new]zb<u><p>", ENCODE_ADDED, 2, 1, 4, 6, 8, 1, 20, 1, 1, 0, 3); /* "Aab": there is no ##a */
    ENCODES(t, "[UNK]ab", ENCODE_BARE, 1, 1, 1, 6, 7);
    char out[64];
    TokenStream s = {0};
    CHECK(tokenizer_decode(t, &s, 10, out) == 2 && tokenizer_decode(t, &s, 13, out) == 2 && memcmp(out, " .", 2) == 0);
    tokenizer_free(t);
    CHECK(open_with(&t, folder, &(TokenizerOptions){.lower_case = 1}) == 0); /* the option is stronger than the file */
    ENCODES(t, "AB", ENCODE_BARE, 6, 7);
    tokenizer_free(t);
    put_text(in(folder, "tokenizer_config.json"), "{\"do_basic_tokenize\": false}");
    CHECK(open_with(&t, folder, NULL) == -EINVAL && strstr(err, "do_basic_tokenize"));
    put_text(in(folder, "tokenizer_config.json"), "{\"do_lower_case\": 1}");
    CHECK(open_with(&t, folder, NULL) == -EINVAL && strstr(err, "do_lower_case"));
    put_text(in(folder, "tokenizer_config.json"), "{\"unk_token\": \"<none>\"}");
    CHECK(open_with(&t, folder, NULL) == 0); /* a name that is none: the usual one holds */
    tokenizer_free(t);
}

static void gguf(void) {
    Piece p[] = {{"[UNK]", 5, 0, PIECE_UNKNOWN}, {"[CLS]", 5, 0, PIECE_CONTROL}, {"[SEP]", 5, 0, PIECE_CONTROL},
                 {"a", 1, 0, PIECE_NORMAL}, {"##b", 3, 0, PIECE_NORMAL}, {"<x>", 3, 0, PIECE_USER_DEFINED},
                 {"[unused]", 8, 0, PIECE_UNUSED}, {YONGHE, 6, 0, PIECE_NORMAL}};
    Vocabulary v = {.model = "wordpiece", .pieces = p, .n = 7, .bos_id = -1, .eos_id = -1, .unk_id = -1};
    TokenizerOptions cased = {.lower_case = 0};
    Tokenizer *t;
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof tokenizer_err) == 0);
    ENCODES(t, "AB<x>a[UNK]", ENCODE_ADDED, 1, 3, 4, 5, 3, 0, 2);
    tokenizer_free(t);
    CHECK(tokenizer_from_vocabulary_with(&t, &v, &cased, "made", err, sizeof tokenizer_err) == 0);
    ENCODES(t, "Ab ab", ENCODE_BARE, 0, 3, 4);
    tokenizer_free(t);
    v.n = 8; /* now one piece of eight is a Chinese word */
    CHECK(tokenizer_from_vocabulary(&t, &v, "made.gguf", err, sizeof tokenizer_err) == -EINVAL && t == NULL);
    CHECK(strstr(err, "made.gguf: its 1 Chinese words need jieba"));
    const char *folder = test_tmp("wordpiece-beside");
    mkdir(folder, 0700);
    put_text(in(folder, "dict.txt"), YONGHE " 5 n\n");
    TokenizerOptions beside = {.folder = folder, .lower_case = -1};
    CHECK(tokenizer_from_vocabulary_with(&t, &v, &beside, "made", err, sizeof tokenizer_err) == 0);
    ENCODES(t, YONGHE "a", ENCODE_BARE, 7, 3);
    tokenizer_free(t);
    v.n = 7;
    v.eos_id = 3;
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof tokenizer_err) == 0 && tokenizer_eos(t) == 3);
    tokenizer_free(t);
    v.eos_id = 7;
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof tokenizer_err) == -EINVAL &&
          strstr(err, "eos id is 7"));
    v.eos_id = -1;
    p[6].type = PIECE_BYTE;
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof tokenizer_err) == -EINVAL && strstr(err, "piece 6"));
    p[6].type = 0;
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof tokenizer_err) == -EINVAL &&
          strstr(err, "piece 6 is of kind 0"));
    p[6] = (Piece){"\xff", 1, 0, PIECE_NORMAL};
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof tokenizer_err) == -EINVAL &&
          strstr(err, "piece 6 is not UTF-8"));
    v.n = 6;
    p[0].text = "[unk]";
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof tokenizer_err) == -EINVAL &&
          strstr(err, "no piece [UNK]"));
    v.n = 0;
    CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof tokenizer_err) == -EINVAL);
}

/* GGUF's "bert", whose keys say nothing: lower case where no piece has a capital, or as the caller says .. */
static void bert_case(void) {
    static const Piece p[] = {{"[UNK]", 5, 0, PIECE_UNKNOWN}, {"\xe2\x96\x81" "a", 4, 0, PIECE_NORMAL},
                              {"\xe2\x96\x81" "A", 4, 0, PIECE_NORMAL}, {"b", 1, 0, PIECE_NORMAL}};
    static const struct { size_t first, n; int lower_case, ids[2], n_ids; } rows[] = {
        {0, 4, -1, {2, 3}, 2}, {0, 4, 0, {2, 3}, 2}, {0, 4, 1, {1, 3}, 2}, {0, 2, -1, {0}, 1}, {0, 2, 0, {0}, 1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const Vocabulary v = {.model = "bert", .pieces = p, .n = rows[i].n, .bos_id = -1, .eos_id = -1, .unk_id = 0,
                              .add_bos = 0, .add_eos = 0, .lower_case = -1, .strip_accents = -1};
        const TokenizerOptions o = {.lower_case = rows[i].lower_case};
        Tokenizer *t;
        CHECK(tokenizer_from_vocabulary_with(&t, &v, &o, "made", err, sizeof tokenizer_err) == 0);
        CHECK(t && encodes(t, "Ab", 2, ENCODE_BARE, rows[i].ids, (size_t)rows[i].n_ids));
        tokenizer_free(t);
    }
}

/* .. or as its keys say, the capitals and the accents each for themselves. The ids are llama.cpp's (of llama_cpp_python
 * 0.3.36, on a GGUF of these pieces and keys). */
static void bert_normalizer(void) {
#define WORD "\xe2\x96\x81"
    static const Piece p[] = {{"[PAD]", 5, 0, PIECE_CONTROL}, {"[UNK]", 5, 0, PIECE_UNKNOWN},
                              {WORD "uber", 7, 0, PIECE_NORMAL}, {WORD "\xc3\xbc" "ber", 8, 0, PIECE_NORMAL},
                              {WORD "Uber", 7, 0, PIECE_NORMAL}, {WORD "\xc3\x9c" "ber", 8, 0, PIECE_NORMAL}};
    static const struct { int lower_case, strip_accents, ids[2]; } rows[] = {
        {0, -1, {5, 3}}, {0, 0, {5, 3}}, {0, 1, {4, 2}}, {1, -1, {2, 2}}, {1, 0, {3, 3}}, {1, 1, {2, 2}}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const Vocabulary v = {.model = "bert", .pieces = p, .n = COUNT(p), .bos_id = -1, .eos_id = -1, .unk_id = 1,
                              .lower_case = rows[i].lower_case, .strip_accents = rows[i].strip_accents};
        Tokenizer *t;
        CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof tokenizer_err) == 0);
        CHECK(t && encodes(t, "\xc3\x9c" "ber \xc3\xbc" "ber", 11, ENCODE_BARE, rows[i].ids, 2));
        tokenizer_free(t);
        const TokenizerOptions cased = {.lower_case = 0}; /* the option is stronger than the key */
        CHECK(tokenizer_from_vocabulary_with(&t, &v, &cased, "made", err, sizeof tokenizer_err) == 0);
        if (t) CHECK(encodes(t, "Uber", 4, ENCODE_BARE, (const int[]){4}, 1));
        tokenizer_free(t);
    }
}

/* Without a key [UNK], [CLS] and [SEP] are 100, 101 and 102, where the vocabulary goes so far; llama.cpp's ids
 * again, of the second row with 6 for its separator. */
static void bert_usual(void) {
    static Piece p[104];
    static char names[COUNT(p)][12];
    static const struct { int bos, eos, unk, n, ids[4]; } rows[] = {
        {-1, -1, -1, 104, {101, 103, 100, 102}}, {4, 6, -1, 104, {4, 103, 100, 6}}, {4, -1, 7, 104, {4, 103, 7, 102}}};
    for (size_t i = 0; i < COUNT(p); i++) {
        int special = i == 0 || (i >= 100 && i < 103), n = snprintf(names[i], sizeof names[i], special ? "[%zu]"
                                                                     : WORD "w%zu", i);
        p[i] = (Piece){names[i], (size_t)n, 0, special ? PIECE_CONTROL : PIECE_NORMAL};
    }
    for (size_t i = 0; i < COUNT(rows); i++) {
        Vocabulary v = {.model = "bert", .pieces = p, .n = COUNT(p), .bos_id = rows[i].bos, .eos_id = rows[i].eos,
                        .unk_id = rows[i].unk, .add_bos = -1, .add_eos = -1, .lower_case = -1, .strip_accents = -1};
        Tokenizer *t;
        CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof tokenizer_err) == 0);
        CHECK(t && encodes(t, "w103 zzz", 8, ENCODE_ADDED, rows[i].ids, 4));
        tokenizer_free(t);
        v.n = 100; /* it does not go so far */
        CHECK(tokenizer_from_vocabulary(&t, &v, "made", err, sizeof tokenizer_err) == 0);
        CHECK(t && tokenizer_bos(t) == rows[i].bos && tokenizer_eos(t) == rows[i].eos);
        tokenizer_free(t);
    }
}

/* One Chinese word among three hundred pieces makes no word model, and needs no dictionary. */
static void few_words(void) {
    char text[4000] = YONGHE "\n[UNK]\n\xe6\xb0\xb8\n\xe5\x92\x8c\n";
    for (int i = 4; i < 300; i++) sprintf(text + strlen(text), "w%d\n", i);
    Tokenizer *t;
    CHECK(open_text(&t, text, strlen(text), NULL) == 0 && strcmp(tokenizer_kind(t), "WordPiece") == 0);
    if (t) ENCODES(t, YONGHE "w77", ENCODE_BARE, 2, 3, 77);
    tokenizer_free(t);
}

const Test tests_wordpiece_files[] = {
    {"wordpiece files/small_vocabulary", small_vocabulary},
    {"wordpiece files/cleaned up", cleaned_up},
    {"wordpiece files/tight", tight},
    {"wordpiece files/hostile_vocabularies", hostile_vocabularies},
    {"wordpiece files/dictionaries", dictionaries},
    {"wordpiece files/config", config},
    {"wordpiece files/gguf", gguf},
    {"wordpiece files/bert's case", bert_case},
    {"wordpiece files/GGUF's normalizer", bert_normalizer},
    {"wordpiece files/GGUF's usual ids", bert_usual},
    {"wordpiece files/few words", few_words},
    {0},
};
