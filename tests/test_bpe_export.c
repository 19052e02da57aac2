/* tests/test_bpe_export.c - pipelines as GGUF vocabularies: the same ids on both sides, or refused; and
 * weights-tools/convert on a tiny model. */
#include "base/base.h"
#include "base/json.h"
#include "model/files/weights.h"
#include "text/open.h"
#include "tokenizer/open.h"
#include "build.h"
#include "random_text.h"
#include "test.h"
#include "tokenizer_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char err[300];

static int same_ids(const Tokenizer *a, const Tokenizer *b, const char *s, size_t len, int flags) {
    int *x = NULL, *y = NULL;
    size_t n, m;
    int rc = tokenizer_encode(a, s, len, flags, &x, &n, err, sizeof err);
    if (rc == 0) rc = tokenizer_encode(b, s, len, flags, &y, &m, err, sizeof err);
    int same = rc == 0 && n == m && (n == 0 || memcmp(x, y, n * sizeof *x) == 0);
    if (!same) printf("    flags %d: \"%.*s\"\n", flags, (int)len, s);
    free(x);
    free(y);
    return same;
}

/* Where GGUF's "llama" is another thing than tokenizer.json: it takes bytes that are not UTF-8 as they are, and puts
 * its space in front of the text once, not behind each special token. */
static int otherwise(const char *model, const char *s, int flags) {
    return strcmp(model, "llama") == 0 && (strchr(s, '\xff') || (flags & ENCODE_SPECIAL && strstr(s, "<s>")));
}

/* t and u on tricky and random strings. */
static void same(const Tokenizer *t, const Tokenizer *u, const char *name, const char *model) {
    static const char *const texts[] = {"", " ", "Hello, world!", "  a  b ", "don't I'LL", "12345", "x<|endoftext|>y",
                                        "<s>a</s>", "[CLS] a [MASK]", "\n\n a\t",
        "\xe4\xb8\xad\xe6\x96\x87", "caf\xc3\xa9 cafe\xcc\x81", "\xf0\x9f\xa6\x99", "\xff\xe4\xb8",
        ("\xe2\x96\x81" "a \xe2\x96\x81"), "<|im_start|>user"};
    uint64_t state = 1;
    int bad = 0;
    CHECK(tokenizer_size(t) == tokenizer_size(u) && (tokenizer_bos(t) < 0 || tokenizer_bos(t) == tokenizer_bos(u)));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int flags = 0; flags < 8; flags += flags ? 3 : 2)
            bad += !otherwise(model, texts[i], flags) && !same_ids(t, u, texts[i], strlen(texts[i]), flags);
    for (int i = 0; i < 500; i++) {
        char s[RANDOM_TEXT_MAX];
        size_t n = random_text(&state, s);
        bad += !same_ids(t, u, s, n, i & 1 ? ENCODE_ADDED : ENCODE_SPECIAL);
    }
    CHECK(bad == 0);
    if (bad) printf("    %s: %d texts differ\n", name, bad);
}

/* A tokenizer's vocabulary opens as the same tokenizer. */
static void there_and_back(const Tokenizer *t, const char *name, const char *model, const char *pre) {
    Vocabulary v;
    Tokenizer *u;
    int rc = tokenizer_vocabulary(&v, t, name, err, sizeof err);
    CHECK(rc == 0);
    if (rc == 0) CHECK(strcmp(v.model, model) == 0 && (!pre || (v.pre && strcmp(v.pre, pre) == 0)));
    if (rc == 0) rc = tokenizer_from_vocabulary(&u, &v, name, err, sizeof err);
    CHECK(rc == 0);
    free((void *)(uintptr_t)v.pieces);
    if (rc) printf("    %s: %s\n", name, err);
    if (rc) return;
    same(t, u, name, model);
    tokenizer_free(u);
}

static void published(void) {
    static const struct { const char *name, *model, *pre; } rows[] = {
        {"tok/gpt2", "gpt2", "gpt-2"}, {"tok/llama3.2", "gpt2", "llama-bpe"}, {"tok/qwen.tiktoken", "gpt2", "qwen2"},
        {"tok/hf-json/phi-2", "gpt2", "gpt-2"}, {"tok/hf-json/llama2", "llama", NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *path = test_data(rows[i].name);
        Tokenizer *t;
        if (!path) return;
        CHECK(tokenizer_open(&t, path, err, sizeof err) == 0);
        if (!t) continue;
        there_and_back(t, rows[i].name, rows[i].model, rows[i].pre);
        tokenizer_free(t);
    }
}

/* ---- rows of golden/pipelines.json ---- */

/* The row's tokenizer.json into folder. */
static int write_row(const Json *golden, const char *name, const char *folder) {
    const JsonValue *row = json_get(golden->root, "rows"), *model = json_get(golden->root, "models");
    for (row = row->child; row && !json_is(json_get(row, "name"), name); row = row->next) {}
    CHECK(row != NULL);
    if (!row) return 0;
    model = model->child;
    for (int i = (int)json_get(row, "model")->number; i > 0; i--) model = model->next;
    char path[600];
    snprintf(path, sizeof path, "%.500s/tokenizer.json", folder);
    FILE *f = fopen(path, "w");
    CHECK(f != NULL);
    if (!f) return 0;
    const char *parts = json_get(row, "parts")->str;
    fprintf(f, "{\"model\":%s%s%s", model->str, parts[1] == '}' ? "" : ",", parts + 1);
    fclose(f);
    return 1;
}

/* What becomes of each row: the model it is in GGUF, and what no key says of it; or what the refusal says. */
static const struct { const char *row, *model, *refusal, *lost; } small[] = {
    {"BERT", "bert", NULL, NULL}, {"BERT cased", "bert", NULL, NULL}, {"RobertaProcessing", "gpt2", NULL, NULL},
    {"model fallback", NULL, "no name", NULL}, {"Prepend", NULL, "do not join", NULL},
    {"Template, others", "gpt2", NULL, "more than one token"},
    {"special tokens that strip", "gpt2", NULL, "spaces around them"}, {"model suffix", NULL, "suffix", NULL},
    {"family llama3", "gpt2", NULL, NULL}, {"family qwen2", "gpt2", NULL, NULL}, {"family qwen35", "gpt2", NULL, NULL},
    {"family seed_oss", "gpt2", NULL, NULL}, {"family gpt_oss", "gpt2", NULL, NULL},
    {"family tekken", "gpt2", NULL, NULL}, {"family phi4-mini", "gpt2", NULL, NULL},
    {"family olmo2", "gpt2", NULL, NULL}, {"family granite3", "gpt2", NULL, NULL},
    {"family hunyuan", "gpt2", NULL, NULL}, {"family gemma", NULL, "do not join", NULL},
    {"family mistral", NULL, "do not join", NULL}, {"family glm4", "gpt2", NULL, "more than one token"},
    {"family phi3", NULL, "do not join", NULL}, {"model words", NULL, "no name", NULL},
    {"Split Isolated False", NULL, "no name", NULL}, {"NFKC", NULL, "no name", NULL}};

static void rows_of_golden(void) {
    Json golden;
    char folder[600];
    if (json_open(&golden, "tests/golden/pipelines.json", err, sizeof err)) {
        CHECK(!"tests/golden/pipelines.json opens");
        return;
    }
    snprintf(folder, sizeof folder, "%s", test_tmp("rows"));
    mkdir(folder, 0755);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        Tokenizer *t = NULL;
        Vocabulary v;
        if (!write_row(&golden, small[i].row, folder)) continue;
        int opens = tokenizer_open(&t, folder, err, sizeof err);
        CHECK(opens == 0);
        if (opens) printf("    %s: %s\n", small[i].row, err);
        if (t && small[i].model && !small[i].lost) there_and_back(t, small[i].row, small[i].model, NULL);
        if (t && small[i].lost) {
            CHECK(tokenizer_vocabulary(&v, t, "x", err, sizeof err) == 0);
            CHECK(v.lost && strstr(v.lost, small[i].lost) && strcmp(v.model, small[i].model) == 0);
            free((void *)(uintptr_t)v.pieces);
        } else if (t && small[i].refusal) {
            int rc = tokenizer_vocabulary(&v, t, "x", err, sizeof err), said = rc == -EINVAL &&
                strstr(err, small[i].refusal);
            CHECK(said && v.pieces == NULL);
            if (!said) printf("    %s: %d, %s\n", small[i].row, rc, rc ? err : "");
            free((void *)(uintptr_t)v.pieces);
        }
        tokenizer_free(t);
    }
    json_free(&golden);
}

static const char no_merges[] =
    "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true},\"model\":{"
    "\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1},\"merges\":[]}}";

/* Tokens that are found whole, one of them the unknown one; bytes without a piece; pieces that no merge makes. */
static void made(void) {
    static const struct { const char *name, *json, *model, *lost; } rows[] = {
        {"[UNK] in a text",
         "{\"added_tokens\":[{\"id\":0,\"content\":\"[UNK]\",\"special\":true},{\"id\":4,\"content\":\"<x>\","
         "\"normalized\":false}],"
         "\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_chars\":true,"
         "\"lowercase\":true},\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"model\":{\"type\":\"WordPiece\","
         "\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":100,"
         "\"vocab\":{\"[UNK]\":0,\"a\":1,\"##a\":2,\"b\":3}}}", "bert", NULL},
        {"bytes that are unknown",
         "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true},\"model\":{"
         "\"type\":\"BPE\",\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"a\":1,\"b\":2,\"ab\":3},\"merges\":[\"a b\"]}}",
         "gpt2", "unknown"},
        {"no merges", no_merges, "gpt2", NULL},
        {"a text twice",
         "{\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},"
         "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}],\"pair\":[{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},"
         "{\"Sequence\":{\"id\":\"B\",\"type_id\":0}}],\"special_tokens\":{}},"
         "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true},\"model\":{"
         "\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1},\"merges\":[]}}", "gpt2", "more than once"}};
    static const char *const texts[] = {"a[UNK]b", "aa<x>a", "ab ba", "[unk]"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *path = test_tmp("made.json");
        Tokenizer *t, *u = NULL;
        Vocabulary v = {0};
        file_write(path, rows[i].json, strlen(rows[i].json));
        int rc = tokenizer_open(&t, path, err, sizeof err);
        if (rc == 0) rc = tokenizer_vocabulary(&v, t, "x", err, sizeof err);
        if (rc == 0) rc = tokenizer_from_vocabulary(&u, &v, "x", err, sizeof err);
        int right = rc == 0 && strcmp(v.model, rows[i].model) == 0 && !v.lost == !rows[i].lost &&
                    (!v.lost || strstr(v.lost, rows[i].lost));
        for (size_t k = 0; right && !v.lost && k < sizeof texts / sizeof *texts; k++)
            for (int flags = 0; flags < 4; flags++) right &= same_ids(t, u, texts[k], strlen(texts[k]), flags);
        if (!right) printf("    %s: %s\n", rows[i].name, err), test_fail(__FILE__, __LINE__, rows[i].name);
        free((void *)(uintptr_t)v.pieces);
        tokenizer_free(t), tokenizer_free(u);
    }
}

/* Where every byte has a piece, nothing is unknown: what is called so is no loss. */
static void all_bytes(void) {
    static char text[8000];
    const char *path = test_tmp("bytes.json");
    Tokenizer *t;
    Vocabulary v = {0};
    size_t n = (size_t)sprintf(text, "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false},"
                               "\"model\":{\"type\":\"BPE\",\"unk_token\":\"<?>\",\"merges\":[],"
                               "\"vocab\":{\"<?>\":256");
    for (int b = 0; b < 256; b++) { /* GPT-2's character for it: itself where it can be seen, else one from U+0100 on */
        static int more;
        int seen = (b > 32 && b < 127) || (b > 160 && b != 173), cp = seen ? b : 256 + more++;
        n += (size_t)sprintf(text + n, ",\"\\u%04x\":%d", (unsigned)cp, b);
    }
    strcpy(text + n, "}}}");
    file_write(path, text, strlen(text));
    CHECK(tokenizer_open(&t, path, err, sizeof err) == 0);
    CHECK(t && tokenizer_vocabulary(&v, t, "x", err, sizeof err) == 0 && strcmp(v.model, "gpt2") == 0 && !v.lost);
    free((void *)(uintptr_t)v.pieces);
    tokenizer_free(t);
}

/* ---- what each part of a tokenizer.json leads to ---- */

#define MARK "\xe2\x96\x81"
#define BYTES "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}"
#define BARE_BYTES "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}"
#define PRE(cut) "\"pre_tokenizer\":" cut
#define CUTS(list) PRE("{\"type\":\"Sequence\",\"pretokenizers\":[" list "]}")
#define NORM(list) "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[" list "]}"
#define SPLIT(pattern, behavior) \
    "{\"type\":\"Split\",\"pattern\":{\"String\":\"" pattern "\"},\"behavior\":\"" behavior "\",\"invert\":false}"
#define REPLACE(from, to) "{\"type\":\"Replace\",\"pattern\":{\"String\":\"" from "\"},\"content\":\"" to "\"}"
#define PREPEND(text) "{\"type\":\"Prepend\",\"prepend\":\"" text "\"}"
#define BERT(clean, chinese, strip, lower) "{\"type\":\"BertNormalizer\",\"clean_text\":" clean \
    ",\"handle_chinese_chars\":" chinese ",\"strip_accents\":" strip ",\"lowercase\":" lower "}"
#define DIGITS(each) "{\"type\":\"Digits\",\"individual_digits\":" #each "}"
#define THREE(invert) \
    "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"[0-9][0-9][0-9]\"},\"behavior\":\"Isolated\",\"invert\":" invert "}"
#define OWN(id, text) "\"added_tokens\":[{\"id\":" id ",\"content\":\"" text "\"}]" /* one of the model's pieces */
#define TOKEN(flag) ",\"added_tokens\":[{\"id\":3,\"content\":\"<x>\",\"" flag "\":true}]"
#define LOWER NORM(BERT("true", "true", "true", "true"))
#define WORDS "{\"type\":\"BertPreTokenizer\"}"

/* model: 'b' bytes, 'w' those that are taken whole, 's' SentencePiece's spaces, 'o' with a pair that is no merge, 'u'
 * unigram, 'y' one with bytes, 'e' with an empty piece, 'p' WordPiece, 'l' a long-worded one,
 * '@' with another prefix. says: the kind in GGUF, or of the refusal. */
static const struct { const char *parts; char model; const char *says, *lost; } kinds[] = {
    {PRE(BYTES), 'b', "gpt2 gpt-2", NULL},
    {NORM("{\"type\":\"NFC\"}") "," PRE(BYTES), 'b', "gpt2 mpt", NULL},
    {NORM("{\"type\":\"Lowercase\"}") "," PRE(BYTES), 'b', "no name", NULL},
    {PRE(BYTES), 'w', "no name", NULL},
    {PRE(BARE_BYTES), 'b', "no name", NULL},
    {CUTS(BYTES "," BARE_BYTES), 'b', "no name", NULL},
    {CUTS("{\"type\":\"Digits\",\"individual_digits\":true}," BYTES), 'b', "gpt2 starcoder", NULL},
    {CUTS("{\"type\":\"Digits\",\"individual_digits\":false}," BYTES), 'b', "no name", NULL},
    {CUTS(SPLIT("a", "Isolated") "," BYTES), 'b', "no name", NULL},
    {PRE("{\"type\":\"Whitespace\"}"), 'b', "no name", NULL},
    {CUTS("{\"type\":\"Punctuation\",\"behavior\":\"Contiguous\"}," BYTES "," DIGITS(false) "," THREE("false")), 'b',
     "gpt2 falcon", NULL},
    {CUTS("{\"type\":\"Punctuation\",\"behavior\":\"Contiguous\"}," BYTES "," DIGITS(true) "," THREE("false")), 'b',
     "no name", NULL},
    {CUTS("{\"type\":\"Punctuation\",\"behavior\":\"Contiguous\"}," BYTES "," DIGITS(false) "," THREE("true")), 'b',
     "no name", NULL},
    {PRE(BYTES) TOKEN("lstrip"), 'b', "gpt2 gpt-2", "the spaces around them"},
    {PRE(BYTES) TOKEN("rstrip"), 'b', "gpt2 gpt-2", "the spaces around them"},
    {PRE(BYTES) TOKEN("single_word"), 'b', "gpt2 gpt-2", "as words only"},
    {PRE(BYTES) TOKEN("normalized"), 'b', "gpt2 gpt-2", NULL},
    {NORM(REPLACE(" ", MARK)), 's', "llama", NULL},
    {NORM(REPLACE(" ", "abc")), 's', "no name", NULL},
    {NORM(REPLACE("a", MARK)), 's', "no name", NULL},
    {NORM(REPLACE(" ", MARK)), 'e', "llama", NULL},
    {NORM(REPLACE(" ", MARK)) "," OWN("1", "a"), 's', "llama", NULL},
    {NORM(REPLACE(" ", MARK)) "," OWN("6", "<x>"), 's', "llama", NULL},
    {NORM(REPLACE(" ", MARK)) "," OWN("6", "<x> "), 's', "llama", "behind its normalizers"},
    {NORM(PREPEND(MARK) "," REPLACE(" ", MARK)) "," OWN("6", "<x>"), 's', "llama", "behind its normalizers"},
    {NORM("{\"type\":\"NFC\"}") "," PRE(BYTES) TOKEN("normalized"), 'b', "gpt2 mpt", NULL},
    {NORM("{\"type\":\"NFC\"}") "," PRE(BYTES) "," OWN("6", "<\xc3\xa9>"), 'b', "gpt2 mpt", "behind its normalizers"},
    {LOWER "," PRE(WORDS) "," OWN("6", "<x>"), 'p', "bert", "behind its normalizers"},
    {NORM(REPLACE(" ", MARK)) "," OWN("2", MARK), 's', "llama", "behind its normalizers"},
    {NORM(REPLACE(" ", MARK)) "," OWN("3", MARK "a"), 's', "llama", "behind its normalizers"},
    {NORM(PREPEND(MARK) "," REPLACE(" ", MARK)), 's', "llama", NULL},
    {NORM(REPLACE(" ", MARK)), 'o', "has pieces that its merges do not join", NULL},
    {NORM(REPLACE(" ", MARK)) "," PRE(SPLIT(" ", "MergedWithPrevious")), 's', "llama", NULL},
    {NORM(REPLACE(" ", MARK)) "," PRE(SPLIT("x", "MergedWithPrevious")), 's', "no name", NULL},
    {NORM(REPLACE(" ", MARK)) "," PRE(SPLIT("  ", "MergedWithPrevious")), 's', "no name", NULL},
    {NORM(REPLACE(" ", MARK)) "," PRE("{\"type\":\"Whitespace\"}"), 's', "no name", NULL},
    {NORM(REPLACE(" ", MARK)) "," PRE("{\"type\":\"Metaspace\",\"split\":false}"), 's', "no name", NULL},
    {NORM(REPLACE(" ", MARK)) "," CUTS(SPLIT(" ", "Isolated") "," SPLIT(" ", "Isolated")), 's', "no name", NULL},
    {NORM(REPLACE(" ", MARK)) "," PRE("{\"type\":\"Split\",\"pattern\":{\"String\":\" \"},\"behavior\":\"Removed\","
                                      "\"invert\":true}"), 's', "no name", NULL},
    {NORM(PREPEND("_") "," REPLACE(" ", MARK)), 's', "no name", NULL},
    {NORM(PREPEND(MARK) "," REPLACE(" ", "_")), 's', "no name", NULL},
    {NORM(PREPEND(MARK) "," REPLACE("", MARK)), 's', "no name", NULL},
    {NORM(PREPEND(MARK) "," REPLACE(" ", MARK) "," REPLACE("x", "y")), 's', "no name", NULL},
    {NORM(PREPEND(MARK)), 's', "no name", NULL},
    {PRE("{\"type\":\"Metaspace\"}"), 's', "llama", NULL},
    {PRE("{\"type\":\"Metaspace\",\"prepend_scheme\":\"never\",\"split\":false}"), 's', "llama", NULL},
    {PRE("{\"type\":\"Metaspace\",\"replacement\":\"_\"}"), 's', "no name", NULL},
    {CUTS("{\"type\":\"Metaspace\",\"split\":false}," SPLIT("x", "Removed")), 's', "no name", NULL},
    {CUTS("{\"type\":\"Metaspace\",\"split\":false}," BARE_BYTES), 's', "no name", NULL},
    {CUTS("{\"type\":\"Metaspace\"}," SPLIT("x", "Removed")), 's', "no name", NULL},
    {PRE(WORDS), 's', "no name", NULL},
    {PRE("{\"type\":\"Metaspace\"}"), 'u', "t5", NULL},
    {NORM("{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"\"}") "," PRE("{\"type\":\"Metaspace\"}"), 'u', "t5",
     NULL},
    {NORM("{\"type\":\"NFKC\"}") "," PRE("{\"type\":\"Metaspace\"}"), 'u', "no name", NULL},
    {PRE("{\"type\":\"Metaspace\"}"), 'y', "t5", "spells in bytes what is no piece"},
    {LOWER "," PRE(WORDS), 'p', "bert", NULL},
    {NORM(BERT("true", "true", "false", "false")) "," PRE(WORDS), 'p', "bert", NULL},
    {NORM(BERT("true", "true", "false", "true")) "," PRE(WORDS), 'p', "bert", NULL},
    {NORM(BERT("true", "true", "true", "false")) "," PRE(WORDS), 'p', "bert", NULL},
    {NORM(BERT("true", "true", "null", "false")) "," PRE(WORDS), 'p', "bert", NULL},
    {NORM(BERT("false", "true", "true", "true")) "," PRE(WORDS), 'p', "no name", NULL},
    {NORM(BERT("true", "false", "true", "true")) "," PRE(WORDS), 'p', "no name", NULL},
    {NORM("{\"type\":\"Lowercase\"}") "," PRE(WORDS), 'p', "no name", NULL},
    {NORM(BERT("true", "true", "true", "true") ",{\"type\":\"NFC\"}") "," PRE(WORDS), 'p', "no name", NULL},
    {LOWER "," PRE("{\"type\":\"WhitespaceSplit\"}"), 'p', "no name", NULL},
    {LOWER "," CUTS("{\"type\":\"WhitespaceSplit\"},{\"type\":\"Whitespace\"}"), 'p', "no name", NULL},
    {LOWER "," CUTS("{\"type\":\"Whitespace\"},{\"type\":\"Punctuation\"}"), 'p', "no name", NULL},
    {LOWER "," PRE(WORDS), 'l', "no name", NULL},
    {LOWER "," PRE(WORDS), '@', "no name", NULL},
};

static const char *model_of(char c) {
    switch (c) {
    case 'b': return "{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"merges\":[\"a b\"]}";
    case 'w': return "{\"type\":\"BPE\",\"ignore_merges\":true,"
                     "\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"merges\":[\"a b\"]}";
    case 's': return "{\"type\":\"BPE\",\"byte_fallback\":true,\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"a\":1,\"" MARK
                     "\":2,\"" MARK "a\":3,\"<0x41>\":5},\"merges\":[\"" MARK " a\"]}";
    case 'e': return "{\"type\":\"BPE\",\"byte_fallback\":true,\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"a\":1,\"" MARK
                     "\":2,\"" MARK "a\":3,\"\":4},\"merges\":[\"" MARK " a\"]}";
    case 'o': return "{\"type\":\"BPE\",\"byte_fallback\":true,\"vocab\":{\"a\":0,\"" MARK "\":1,\"" MARK "a\":2,"
                     "\"aa\":3},\"merges\":[\"" MARK " a\"]}";
    case 'u': return "{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"?\",0],[\"a\",-1],[\"" MARK "\",-2],[\"" MARK
                     "a\",-1.5]]}";
    case 'y': return "{\"type\":\"Unigram\",\"unk_id\":0,\"byte_fallback\":true,\"vocab\":[[\"?\",0],[\"a\",-1],"
                     "[\"<0x41>\",-2]]}";
    case 'l': return "{\"type\":\"WordPiece\",\"max_input_chars_per_word\":99,\"unk_token\":\"[UNK]\",\"vocab\":"
                     "{\"[UNK]\":0,\"a\":1}}";
    case '@': return "{\"type\":\"WordPiece\",\"continuing_subword_prefix\":\"@\",\"unk_token\":\"[UNK]\",\"vocab\":"
                     "{\"[UNK]\":0,\"a\":1}}";
    default: return "{\"type\":\"WordPiece\",\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"a\":1,\"##a\":2}}";
    }
}

/* Accepted, it has the same ids on the other side, or the line says what is lost. */
static void each_part(void) {
    static const char *const texts[] = {"a", "ab aab", "a a  a", "a1", "A \xc3\xa1 \xc3\x81"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *path = test_tmp("part.json");
        char text[1500], kind[80] = "";
        Tokenizer *t, *u = NULL;
        Vocabulary v = {0};
        snprintf(text, sizeof text, "{%s,\"model\":%s}", kinds[i].parts, model_of(kinds[i].model));
        file_write(path, text, strlen(text));
        *err = 0;
        int rc = tokenizer_open(&t, path, err, sizeof err), opens = rc == 0;
        if (opens) rc = tokenizer_vocabulary(&v, t, "x", err, sizeof err);
        if (rc == 0) snprintf(kind, sizeof kind, "%s%s%s", v.model, v.pre ? " " : "", v.pre ? v.pre : "");
        int right = opens && (rc == 0 ? strcmp(kind, kinds[i].says) == 0 : strstr(err, kinds[i].says) != NULL);
        right = right && !v.lost == !kinds[i].lost && (!v.lost || strstr(v.lost, kinds[i].lost));
        if (right && rc == 0 && !v.lost) {
            right = tokenizer_from_vocabulary(&u, &v, "x", err, sizeof err) == 0;
            for (size_t k = 0; right && k < sizeof texts / sizeof *texts; k++)
                right = same_ids(t, u, texts[k], strlen(texts[k]), ENCODE_ADDED);
        }
        if (!right) printf("    %s: %s %s %s\n", text, kind, v.lost ? v.lost : "", err);
        CHECK(right);
        free((void *)(uintptr_t)v.pieces);
        tokenizer_free(t), tokenizer_free(u);
    }
}

/* ---- character maps ---- */

static void put_base64(FILE *f, const uint8_t *data, size_t n) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        uint32_t x = (uint32_t)data[i] << 16 | (i + 1 < n ? (uint32_t)data[i + 1] << 8 : 0) | (i + 2 < n ? data[i + 2]
                                                                                               : 0u);
        fprintf(f, "%c%c%c%c", digits[x >> 18], digits[x >> 12 & 63], i + 1 < n ? digits[x >> 6 & 63] : '=',
                i + 2 < n ? digits[x & 63] : '=');
    }
}

/* tokenizers looks up clusters, and takes the shortest rule: with "aa" to "b" it leaves "aa" alone; SentencePiece, and
 * so GGUF's "t5", makes a "b" of it. So the map goes into the file's key, and all of tokenizer.json beside it. */
static void precompiled(void) {
    static const int one[][2] = {{2, 2}, {1, 1}}, other[] = {2};
    static uint8_t map[CHAIN_MAP_MAX];
    for (size_t rule = 1; rule <= 2; rule++) {
        const char *path = test_tmp("precompiled.json");
        size_t n = chain_map(map, rule, 1);
        Tokenizer *t, *u = NULL;
        Vocabulary v = {0};
        FILE *f = fopen(path, "w");
        fputs("{\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"", f);
        put_base64(f, map, n);
        fputs("\"}," PRE("{\"type\":\"Metaspace\",\"prepend_scheme\":\"never\"}") ",\"model\":{\"type\":\"Unigram\","
              "\"unk_id\":0,\"vocab\":[[\"?\",0],[\"a\",-1],[\"b\",-1]]}}", f);
        fclose(f);
        CHECK(tokenizer_open(&t, path, err, sizeof err) == 0);
        CHECK(t && encodes(t, "aa", 2, ENCODE_BARE, one[rule - 1], 2));
        CHECK(t && tokenizer_vocabulary(&v, t, "x", err, sizeof err) == 0);
        CHECK(v.model && strcmp(v.model, "t5") == 0 && v.charsmap_size == n && memcmp(v.charsmap, map, n) == 0);
        CHECK(v.lost && strstr(v.lost, "the shortest rule"));
        CHECK(tokenizer_from_vocabulary(&u, &v, "x", err, sizeof err) == 0);
        CHECK(u && encodes(u, "aa", 2, ENCODE_BARE, rule == 1 ? one[0] : other, rule == 1 ? 2 : 1));
        free((void *)(uintptr_t)v.pieces);
        tokenizer_free(t), tokenizer_free(u);
    }
}

/* ---- the program ---- */

static int open_gguf(Tokenizer **t, const char *path) {
    Weights w;
    *t = NULL;
    int rc = weights_open(&w, path, err, sizeof err);
    if (rc) return rc;
    rc = vocabulary_open(t, &w, NULL, 0, NULL, err, sizeof err);
    weights_close(&w);
    return rc;
}

static void convert(void) {
    static const char added[] = "{\"add_bos_token\":true,\"bos_token\":\"[CLS]\",\"add_eos_token\":true,"
                                "\"eos_token\":\"[SEP]\"}";
    /* whole: tokenizer.json goes along; config: tokenizer_config.json, or NULL */
    static const struct { const char *name; int whole; const char *config; } rows[] = {
        {"RobertaProcessing", 0, NULL}, {"BERT", 0, NULL}, {"Metaspace always True", 0, NULL},
        {"Template, others", 1, NULL}, {"special tokens that strip", 1, NULL}, {"family glm4", 1, NULL},
        {"no merges", 0, NULL}, {"ByteLevel False True", 0, added}, {"special tokens that strip", 1, added}};
    static const BuildShape shape = {.d = 32, .ff = 32, .layers = 1, .heads = 2, .kv_heads = 1, .n_ctx = 16};
    char folder[600], command[2000], *out = NULL, *said = NULL;
    Json golden;
    if (json_open(&golden, "tests/golden/pipelines.json", err, sizeof err)) return;
    snprintf(folder, sizeof folder, "%s", test_tmp("export-hf"));
    mkdir(folder, 0755);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Tokenizer *t = NULL, *u = NULL;
        build_hf(folder, &shape, TENSOR_F32, 1);
        if (strcmp(rows[i].name, "no merges") == 0)
            file_write(test_in(folder, "tokenizer.json"), no_merges, strlen(no_merges));
        else if (!write_row(&golden, rows[i].name, folder)) continue;
        const char *config = rows[i].config ? rows[i].config : "{}";
        file_write(test_in(folder, "tokenizer_config.json"), config, strlen(config));
        snprintf(command, sizeof command,
                 "rm -f %.500s/tokenizer.model; %s/convert %.500s %.500s/m.gguf -f -q < /dev/null", folder,
                 test_beside("weights-tools"), folder, folder);
        int code = test_shell(command, &out, &said);
        CHECK(code == 0);
        if (code) printf("    %s: %s\n", rows[i].name, said);
        snprintf(command, sizeof command, "%.500s/m.gguf", folder);
        CHECK(tokenizer_open(&t, folder, err, sizeof err) == 0);
        if (code == 0) CHECK(open_gguf(&u, command) == 0);
        if (t && u) {
            CHECK(tokenizer_size(u) == (rows[i].whole ? tokenizer_size(t) : BUILD_VOCAB)); /* the model's, filled up */
            uint64_t state = 1;
            int bad = 0;
            for (int k = 0; k < 300; k++) {
                char s[RANDOM_TEXT_MAX];
                size_t n = random_text(&state, s);
                /* Metaspace adds no second space, GGUF does */
                if (rows[i].whole || s[0] != ' ') bad += !same_ids(t, u, s, n, k & 1 ? ENCODE_ADDED : ENCODE_BARE);
            }
            CHECK(bad == 0);
        }
        tokenizer_free(t);
        tokenizer_free(u);
    }
    json_free(&golden);
    free(out);
    free(said);
}

const Test tests_bpe_export[] = {
    {"bpe export/published", published},
    {"bpe export/small", rows_of_golden},
    {"bpe export/made", made},
    {"bpe export/all bytes", all_bytes},
    {"bpe export/each part", each_part},
    {"bpe export/precompiled", precompiled},
    {"bpe export/convert", convert},
    {0}
};
