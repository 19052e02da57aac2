/* tests/test_train_files.c - what a training reads besides its text: vocabularies of every kind, models to go on from,
 * checkpoints; and what the file that it writes says of the options. */
#include "base/paths.h"
#include "build.h"
#include "convert_files.h"
#include "program.h"
#include "test.h"
#include "weights-tools/training/setup.h"
#include "weights-tools/training/words.h"

#include <stdlib.h>
#include <string.h>

#define TINY "--d-model 8 --layers 1 --heads 2 --context 8 --batch 1 --steps 1 -q -j 1 "
#define LICENSE_TEXT "--force --text LICENSE " TINY

static const BuildShape small = {.d = 8, .ff = 8, .layers = 1, .heads = 2, .kv_heads = 2, .n_ctx = 64};

/* ---- vocabularies ---- */

#define WORDS "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\n##s\nsoft\nof"
#define WORDS_CRLF "[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\n[MASK]\r\nthe\r\n##s\r\nsoft\r\nof\r\n"

/* An encoder's words as vocab.txt, its lines ended in any way, or from a model that has them: the same file. */
static void words_from_files(void) {
    char dir[4096], a[4096], b[4096];
    snprintf(dir, sizeof dir, "%s", test_folder("train-words"));
    snprintf(a, sizeof a, "%s", test_in(dir, "a.gguf"));
    snprintf(b, sizeof b, "%s", test_in(dir, "b.gguf"));
    file_write(test_in(dir, "vocab.txt"), WORDS, strlen(WORDS));
    file_write(test_in(dir, "crlf.txt"), WORDS_CRLF, strlen(WORDS_CRLF));
    CHECK(tool("", "train", "%s " LICENSE_TEXT "--family roformer --whole-words -z %s", a,
               test_in(dir, "vocab.txt")) == 0);
    Weights w;
    if (weights_opened(&w, a)) {
        CHECK(strcmp(meta_text(&w, "tokenizer.ggml.tokens"), "[PAD]|[UNK]|[CLS]|[SEP]|[MASK]|the|##s|soft|of") == 0);
        CHECK(strcmp(meta_text(&w, "tokenizer.ggml.mask_token_id"), "4") == 0);
        weights_close(&w);
    }
    static const char *const others[] = {"crlf.txt", "a.gguf"};
    for (int i = 0; i < 2; i++) {
        CHECK(tool("", "train", "%s " LICENSE_TEXT "--family roformer --whole-words -z %s", b,
                   test_in(dir, others[i])) == 0);
        CHECK(files_equal(a, b));
    }
    CHECK(tool("", "train", "%s " LICENSE_TEXT "--family roformer --d-ff 24 -z %s", b, test_in(dir, "vocab.txt")) == 0);
    keys_are(b, (const Key[]){{"roformer.feed_forward_length", "24"}}, 1);
}

static void words_refused(void) {
    static const struct { const char *text, *line; } rows[] = {
        {"[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\n", "vocab.txt: no token [MASK] in it: an encoder's vocabulary is BERT's"},
        {"[UNK]\n[SEP]\n[MASK]\nthe\n", "vocab.txt: no token [CLS] in it: an encoder's vocabulary is BERT's"},
        {"[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n", "the vocabulary has no word behind its special tokens"},
        {"the\n[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]", "the vocabulary has no word behind its special tokens"},
    };
    const char *dir = test_folder("train-words");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        file_write(test_in(dir, "vocab.txt"), rows[i].text, strlen(rows[i].text));
        CHECK(tool("", "train", "%s " LICENSE_TEXT "--family roformer -z %s", test_in(dir, "x.gguf"),
                   test_in(dir, "vocab.txt")) == 1 && said_line(rows[i].line));
    }
    CHECK(!file_exists(test_in(dir, "x.gguf")));
}

/* A decoder's: files of several kinds, and what lies beside the weights that are gone on from. */
static void decoders(void) {
    char dir[4096], a[4096];
    snprintf(dir, sizeof dir, "%s", test_folder("train-decoders"));
    snprintf(a, sizeof a, "%s", test_in(dir, "a.gguf"));
    build_hf(test_in(dir, "hf"), &small, TENSOR_F32, 1);
    build_tokenizer_bin(test_in(dir, "tokenizer.bin"));
    static const char *const words[] = {"-z %s/tokenizer.bin", "-z %s/hf/tokenizer.model", "-z %s/hf",
                                        "--from %s/hf --d-ff 8", "--from %s/hf --d-ff 8 -z %s/tokenizer.bin"};
    for (int i = 0; i < 5; i++) {
        char with[9000];
        snprintf(with, sizeof with, words[i], dir, dir);
        CHECK(tool("", "train", "%s " LICENSE_TEXT "%s", a, with) == 0);
        CHECK(run("tokenize %s 'the sand'", a) == 0);
        char *one = taken_out();
        CHECK(run("tokenize %s/hf 'the sand'", dir) == 0 && strcmp(one, out) == 0 && *one);
        free(one);
    }
    CHECK(tool("", "train", "%s " LICENSE_TEXT "--d-ff 40", a) == 0);
    keys_are(a, (const Key[]){{"llama.feed_forward_length", "40"}, {"tokenizer.ggml.model", "llama"}}, 2);
    CHECK(tool("", "train", "%s " LICENSE_TEXT "--from %s/hf --d-ff 8 -z %s", test_in(dir, "b.gguf"), dir,
               a) == 1 && said_line("tensor token_embd.weight has another shape; give the sizes of the model"));
    CHECK(tool("", "train", "%s " LICENSE_TEXT "--attention linear --epsilon 0.5", a) == 0);
    keys_are(a, (const Key[]){{"llama.attention.denominator_epsilon", "0.5"}}, 1);
    remove(test_in(dir, "hf/tokenizer.model"));
    CHECK(tool("", "train", "%s " LICENSE_TEXT "--from %s/hf --d-ff 8", a, dir) == 1 &&
          said_line("no tokenizer in this folder"));
}

#define BYTES "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}," \
              "\"decoder\":{\"type\":\"ByteLevel\"}"
#define MERGES "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"merges\":[\"a b\"]}}"

/* What the new file could not say is refused before the first step, and not when all is learned. */
static void not_written(void) {
    static const struct { const char *name, *text, *family, *line; } rows[] = {
        {"tokenizer.json", BYTES ",\"added_tokens\":[{\"id\":3,\"content\":\"<x>\",\"lstrip\":true}]," MERGES, "llama",
         "that has tokens that take the spaces around them or stand as words only, and GGUF has no key for that"},
        {"tokenizer.json", "{\"pre_tokenizer\":{\"type\":\"Whitespace\"}," MERGES, "llama",
         "a tokenizer that cuts its text in a way that GGUF has no name for"},
        {"vocab.txt", "[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n\xff\n", "roformer", "piece 5 is not UTF-8"},
    };
    const char *dir = test_folder("train-not-written"), *text = test_in(dir, "text"), *model = test_in(dir, "m.gguf");
    file_write(text, "ab ab ab ab ba ab ab ab ab ab ab ab ab aba", 42);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        file_write(test_in(dir, rows[i].name), rows[i].text, strlen(rows[i].text));
        CHECK(tool("timeout 20 ", "train", "%s --text %s --held-share 0 -z %s --family %s " TINY "--steps 100000000",
                   model, text, test_in(dir, rows[i].name), rows[i].family) == 1 && said_line(rows[i].line));
    }
}

/* ---- texts ---- */

/* Whole documents are held out, as many as lie in that share of the text; where none does, the last one's end. */
static void held_out(void) {
    static const struct { const char *text, *separator; double share; size_t documents, held; } rows[] = {
        {"aaaa\n--\nbbbb\n--\ncccc\n--\ndddd", "--", 0.3, 3, 1},
        {"aaaa\n--\nbbbb\n--\ncccc\n--\ndddd", "--", 0.6, 2, 2},
        {"aaaa\n--\nbbbb\n--\ncccc\n--\ndddddddddddddddddddddddddddddddd", "--", 0.2, 4, 1},
        {"aaaa bbbb cccc dddd", NULL, 0.5, 1, 1},
        {"aaaa bbbb cccc dddd", NULL, 0, 1, 0},
    };
    const char *text = test_tmp("held.txt"), *path = test_tmp("held.gguf");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        TrainingOptions o = training_usual;
        TrainingSetup s;
        char err[300] = "";
        file_write(text, rows[i].text, strlen(rows[i].text));
        o.texts[0] = text, o.n_texts = 1, o.out = i == 1 ? "m" : i == 2 ? "a-name" : path;
        o.held_share = rows[i].share, o.separator = rows[i].separator;
        o.layers = 1, o.d_model = 8, o.heads = 2, o.context = 4, o.batch = 1, o.threads = 1;
        int rc = setup_init(&s, &o, err, sizeof err);
        if (rc) test_fail(__FILE__, __LINE__, err);
        if (rc) continue;
        if (i == 1) CHECK(strcmp(s.checkpoint, "m.checkpoint.gguf") == 0);
        if (i == 2) CHECK(strcmp(s.checkpoint, "a-name.checkpoint.gguf") == 0);
        CHECK(s.corpus.n_documents == rows[i].documents && s.held.n_documents == rows[i].held);
        CHECK(rows[i].held == 0 || (s.held.starts[0] == 0 && s.held.n > 0));
        setup_free(&s);
    }
    file_write(text, "--\n--\n", 6);
    CHECK(tool("", "train", "%s --text %s --separator -- " TINY, path, text) == 1 &&
          said_line("held.txt: no text in it"));
    file_write(text, "", 0);
    CHECK(tool("", "train", "%s --text %s " TINY, path, text) == 1 && said_line("held.txt: the file is empty"));
}

/* The words of a text, by hand: characters first, each once more behind ##, then words by how often they came. What is
 * no UTF-8 is left out, as is what no word is as long as; a text may end without a newline, and have no word at all. */
static void words_of_texts(void) {
    static const char specials[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    static const struct { const char *text, *lines; size_t most; } rows[] = {
        {"ab ab c", "a\n##a\nb\n##b\nc\n##c\nab\n", 100},
        {"ab ab c", "a\n##a\nb\n##b\nc\n##c\n", 11}, /* no room for more than characters */
        {"ab\xff c\n", "a\n##a\nb\n##b\nc\n##c\nab\n", 100},
        {"a b\nc", "a\n##a\nb\n##b\nc\n##c\n", 100},
        {NULL, "a\n##a\nb\n##b\nc\n##c\nab\n", 100},
        {"", "", 100},
    };
    char longest[400];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Words w = {0};
        size_t n = 0;
        const char *text = rows[i].text ? rows[i].text : longest;
        memset(longest, 'b', sizeof longest);
        snprintf(longest + WORD_MAX + 1, sizeof longest - WORD_MAX - 1, " ab ab c");
        CHECK(words_count(&w, text, strlen(text)) == 0);
        char *all = words_vocabulary(&w, rows[i].most, &n);
        size_t head = strlen(specials), lines = strlen(rows[i].lines);
        int good = all && n == head + lines && memcmp(all, specials, head) == 0 &&
                   memcmp(all + head, rows[i].lines, lines) == 0;
        if (!good) printf("    row %zu: %.*s", i, (int)n, all ? all : "");
        CHECK(good);
        free(all);
        words_free(&w);
    }
}

static void words_of_options(void) {
    char many[4000] = "";
    for (int i = 0; i <= TRAINING_TEXTS; i++) strcat(many, "-f LICENSE ");
    CHECK(tool("", "train", "%s %s", test_tmp("x.gguf"), many) == 2 && said_line("-f: more than 16 texts: join them"));
    CHECK(tool("", "train", "%s -f LICENSE --zzzzzzzzzzzzzz", test_tmp("x.gguf")) == 2 &&
          said_line("run: --zzzzzzzzzzzzzz is no option"));
    CHECK(tool("", "train", "- -f LICENSE " TINY) == 2 && said_line("run: -: the name of what is written must end in"));
}

/* ---- checkpoints ---- */

static TrainingOptions options_of(const char *text, const char *path, int seed) {
    TrainingOptions o = training_usual;
    o.texts[0] = text, o.n_texts = 1, o.out = path, o.seed = seed;
    o.layers = 1, o.d_model = 8, o.heads = 2, o.context = 8, o.batch = 1, o.threads = 1, o.steps = 9;
    return o;
}

/* The checkpoint of a run that was stopped behind that step. */
static void stopped_at(const TrainingOptions *o, uint64_t step) {
    TrainingSetup s;
    TrainingOptions anew = *o;
    char err[300] = "";
    anew.force = 1;
    int rc = setup_init(&s, &anew, err, sizeof err);
    if (rc == 0) rc = setup_write(&s, s.checkpoint, step, 1, err, sizeof err);
    if (rc) test_fail(__FILE__, __LINE__, err);
    setup_free(&s);
}

/* Going on: the line of the refusal, "" where it does. */
static const char *resumed(const TrainingOptions *o) {
    static char err[600];
    TrainingSetup s;
    TrainingOptions on = *o;
    *err = 0;
    on.resume = 1;
    if (setup_init(&s, &on, err, sizeof err) == 0) setup_free(&s);
    return err;
}

static void other_settings(void) {
    char text[4096], path[4096], named[4096];
    snprintf(text, sizeof text, "%s", test_tmp("resumed.txt"));
    snprintf(path, sizeof path, "%s", test_tmp("resumed.gguf"));
    file_write(text, "the sand was warm, and the sea came in", 38);
    TrainingOptions one = options_of(text, path, 1), other = options_of(text, path, 12);
    stopped_at(&one, 3);
    CHECK(*resumed(&one) == 0);
    CHECK(strstr(resumed(&other), "was made with --seed=1, not --seed=12: give the same options"));
    stopped_at(&other, 3);
    CHECK(strstr(resumed(&one), "was made with --seed=12, not --seed=1: give the same options"));
    one.texts[0] = "LICENSE", one.seed = 12; /* the first word of all, which is long in the file */
    snprintf(named, sizeof named, "%s", test_in(test_folder("a-folder-with-a-name-that-has-more-letters-than-the-line-"
                                                            "shows-of-what-an-option-was-when-the-run-began"), "t"));
    CHECK(file_copy(text, named));
    other.texts[0] = named;
    stopped_at(&other, 3);
    const char *line = resumed(&one), *made = strstr(line, "was made with --text=");
    CHECK(made && strstr(line, ", not --text=LICENSE: give the same options"));
    CHECK(made && strstr(made, ", not") - made == 16 + 100);
}

/* A number of a checkpoint that is another one, or none. */
static void damaged(void) {
    char text[4096], path[4096], kept[4096];
    snprintf(text, sizeof text, "%s", test_tmp("damaged.txt"));
    snprintf(path, sizeof path, "%s", test_tmp("damaged.gguf"));
    snprintf(kept, sizeof kept, "%s", test_tmp("damaged.checkpoint.gguf"));
    file_write(text, "the sand was warm, and the sea came in", 38);
    TrainingOptions o = options_of(text, path, 1);
    static const struct { const char *key; size_t behind; unsigned char byte; const char *line; } rows[] = {
        {"train.step", 4, 0, "key train.step is missing"},
        {"train.step", 4, 10, "key train.step: is beyond --steps"},
        {"train.step", 4, 9, ""},
        {"train.m.output_norm.weight", 4 + 8, TENSOR_F16,
         "tensor train.m.output_norm.weight is missing or has another shape"},
        {"train.v.output_norm.weight", 4, 4, "tensor train.v.output_norm.weight is missing or has another shape"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = 0, at = 24, len = strlen(rows[i].key);
        stopped_at(&o, 3);
        char *bytes = file_read(kept, &n);
        while (bytes && at + len + 20 < n && memcmp(bytes + at, rows[i].key, len) != 0) at++;
        CHECK(bytes && at + len + 20 < n);
        if (bytes) bytes[at + len + rows[i].behind] = (char)rows[i].byte, file_write(kept, bytes, n);
        free(bytes);
        const char *line = resumed(&o);
        if (!strstr(line, rows[i].line) || (!*rows[i].line && *line)) printf("    row %zu: \"%s\"\n", i, line);
        CHECK(*rows[i].line ? strstr(line, rows[i].line) != NULL : *line == 0);
    }
}

const Test tests_train_files[] = {
    {"train/words from files", words_from_files},
    {"train/words refused", words_refused},
    {"train/decoders' files", decoders},
    {"train/what could not be written", not_written},
    {"train/held out", held_out},
    {"train/words of texts", words_of_texts},
    {"train/words of the command line", words_of_options},
    {"train/other settings", other_settings},
    {"train/damaged checkpoints", damaged},
    {0},
};
