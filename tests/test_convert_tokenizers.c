/* tests/test_convert_tokenizers.c - weights-tools/convert of decoders and encoders whose tokenizer is odd: ids without
 * a piece, maps of characters, vocab.txt beside or without tokenizer.json, several ids that end a text. */
#include "base/paths.h"
#include "convert_files.h"
#include "decoder_files.h"
#include "model/model.h"
#include "program.h"
#include "reader_files.h"
#include "test.h"
#include "tests/golden/sentencepiece.h"

#include <stdlib.h>
#include <string.h>

static const BuildShape small = {.d = 32, .ff = 32, .layers = 1, .heads = 2, .kv_heads = 1, .n_ctx = 16};

static char folder[4096], gguf[4096];

static void begin(void) {
    snprintf(folder, sizeof folder, "%s", test_folder("odd-tokenizers"));
    snprintf(gguf, sizeof gguf, "%s", test_tmp("odd-tokenizers.gguf"));
    CHECK(shell("rm -rf %s", folder) == 0);
    build_hf(folder, &small, TENSOR_F32, 1);
}

/* The same ids from the folder and from what convert made of it. */
static void same_ids(const char *text) {
    CHECK(run("tokenize %s '%s'", folder, text) == 0 && *out);
    char *before = taken_out();
    CHECK(run("tokenize %s '%s'", gguf, text) == 0);
    if (strcmp(before, out) != 0) printf("    %s: %s and %s\n", text, before, out);
    CHECK(strcmp(before, out) == 0);
    free(before);
}

/* ---- what the keys say ---- */

/* An id that no piece has is one that nothing is ever read as. */
static void gaps(void) {
    static const char json[] = "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"
                               "\"use_regex\":true},"
                               "\"decoder\":{\"type\":\"ByteLevel\"},\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,"
                               "\"b\":3,\"ab\":5},\"merges\":[\"a b\"]}}";
    begin();
    remove(test_in(folder, "tokenizer.model"));
    file_write(test_in(folder, "tokenizer.json"), json, strlen(json));
    CHECK(tool("", "convert", "%s %s -q", folder, gguf) == 0);
    Weights w;
    if (!weights_opened(&w, gguf)) return;
    CHECK(strncmp(meta_text(&w, "tokenizer.ggml.tokens"), "a|[PAD1]|[PAD2]|b|[PAD4]|ab|[PAD6]|", 35) == 0);
    CHECK(strncmp(meta_text(&w, "tokenizer.ggml.token_type"), "1|5|5|1|5|1|5|", 14) == 0);
    weights_close(&w);
    same_ids("abba");
}

static void put_varint(Bytes *b, size_t v) {
    for (; v > 127; v >>= 7) bytes_u8(b, ((unsigned)v & 127u) | 128u);
    bytes_u8(b, (unsigned)v);
}

static void put_field(Bytes *b, int field, const void *data, size_t n) {
    put_varint(b, (size_t)field << 3 | 2), put_varint(b, n), bytes_put(b, data, n);
}

/* A SentencePiece model with settings more at its end, which go on from those it has. */
static void settings_more(const char *trainer, size_t n, const Bytes *normalizer) {
    const char *path = test_in(folder, "tokenizer.model");
    size_t size = 0;
    char *model = file_read(path, &size);
    Bytes b = {0};
    CHECK(model != NULL);
    bytes_put(&b, model, size);
    if (n) put_field(&b, 2, trainer, n);
    if (normalizer) put_field(&b, 3, normalizer->data, normalizer->n);
    file_write(path, b.data, b.n);
    free(b.data), free(model);
}

/* Of bytes in a unigram model llama.cpp makes nothing: to its "t5" such a character is unknown. We read them. */
static void unigram_of_bytes(void) {
    begin();
    settings_more("\x18\x01", 2, NULL);
    CHECK(tool("", "convert", "%s %s", folder, gguf) == 0 && strstr(said, "is a unigram model with byte pieces"));
    CHECK(strstr(said, "--no-tokenizer writes the model alone, for ./run -z"));
    same_ids("h\xc3\xa9llo \xe2\x9c\x93");
}

/* A map of characters, and spaces that are taken away. */
static void maps(void) {
    Bytes normalizer = {0};
    begin();
    put_field(&normalizer, 2, golden_map, sizeof golden_map - 1);
    bytes_put(&normalizer, "\x20\x01", 2); /* remove_extra_whitespaces */
    settings_more("\x18\x01", 2, &normalizer); /* model_type: unigram */
    free(normalizer.data);
    CHECK(tool("", "convert", "%s %s -q", folder, gguf) == 0);
    keys_are(gguf, (const Key[]){{"tokenizer.ggml.model", "t5"},
                                 {"tokenizer.ggml.remove_extra_whitespaces", "true"}}, 2);
    Weights w;
    if (!weights_opened(&w, gguf)) return;
    const MetaValue *map = weights_meta(&w, "tokenizer.ggml.precompiled_charsmap");
    CHECK(map && map->n == sizeof golden_map - 1 && memcmp(map->data, golden_map, sizeof golden_map - 1) == 0);
    weights_close(&w);
    same_ids("the  sAnd   ABCD \xef\xac\x81 ");
}

/* ---- ids that end a text ---- */

static void with_ends(const char *ends) {
    char to[100];
    begin();
    snprintf(to, sizeof to, "{\"eos_token_id\": %s}", ends);
    file_write(test_in(folder, "generation_config.json"), to, strlen(to));
}

static void ends(void) {
    with_ends("[2, 7]");
    CHECK(tool("", "convert", "%s %s -q --no-tokenizer", folder, gguf) == 0);
    keys_are(gguf, (const Key[]){{"tokenizer.ggml.model", "none"}, {"tokenizer.ggml.eos_token_id", "2"},
                                 {"tokenizer.ggml.eot_token_id", "7"}}, 3);
    CHECK(tool("", "convert", "%s %s -q", folder, gguf) == 0);
    keys_are(gguf, (const Key[]){{"tokenizer.ggml.eos_token_id", "2"}, {"tokenizer.ggml.eot_token_id", "7"}}, 2);
    static const char *const many[] = {"[2, 7, 5]", "[2, 7, 5, 9, 11]"}; /* Llama 3.1 and GLM-4 name three */
    for (int i = 0; i < 2; i++)
        for (int none = 0; none < 2; none++) {
            with_ends(many[i]);
            CHECK(tool("", "convert", "%s %s %s", folder, gguf, none ? "--no-tokenizer" : "") == 0);
            CHECK(!i == !strstr(said, "GGUF has keys for three ids that end a text: 2 more are left out"));
            keys_are(gguf, (const Key[]){{"tokenizer.ggml.eos_token_id", "2"}, {"tokenizer.ggml.eot_token_id", "7"},
                                         {"tokenizer.ggml.eom_token_id", "5"}}, 3);
            Model m;
            char err[300];
            CHECK(model_open(&m, gguf, NULL, err, sizeof err) == 0 && m.config.n_eos == 3 && m.config.eos_id[2] == 5);
            model_close(&m);
        }
    with_ends("2");
    CHECK(tool("", "convert", "%s %s -q", folder, gguf) == 0);
    keys_are(gguf, (const Key[]){{"tokenizer.ggml.eos_token_id", "2"}, {"tokenizer.ggml.eot_token_id", "absent"}}, 2);
    /* llama2.c ends a text where the next one begins: with a tokenizer that says so, too, nothing is said twice */
    settings_more("\xfa\x02\x03<s>", 6, NULL); /* eos_piece */
    build_llama2c(test_in(folder, "model.bin"), &small, 0, 0);
    CHECK(tool("", "convert", "%s/model.bin %s -q -z %s/tokenizer.model", folder, gguf, folder) == 0);
    keys_are(gguf, (const Key[]){{"tokenizer.ggml.eos_token_id", "1"}, {"tokenizer.ggml.eot_token_id", "absent"}}, 2);
}

/* ---- WordPiece ---- */

#define TOKEN(id, text) "{\"id\":" id ",\"content\":\"" text "\",\"special\":true,\"normalized\":false}"

/* With vocab.txt and tokenizer.json the latter is GGUF's "bert", with the same ids; vocab.txt alone does not say it. */
static void word_pieces(void) {
    static const char vocab[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\n##s\nsand\n";
    static const char json[] =
        "{\"added_tokens\":[" TOKEN("0", "[PAD]") "," TOKEN("1", "[UNK]") "," TOKEN("2", "[CLS]") ","
        TOKEN("3", "[SEP]") "," TOKEN("4", "[MASK]") "],"
        "\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,"
        "\"handle_chinese_chars\":true,\"strip_accents\":null,\"lowercase\":true},"
        "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},\"post_processor\":{\"type\":\"BertProcessing\","
        "\"sep\":[\"[SEP]\",3],\"cls\":[\"[CLS]\",2]},\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\","
        "\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":100,\"vocab\":{\"[PAD]\":0,\"[UNK]\":1,"
        "\"[CLS]\":2,\"[SEP]\":3,\"[MASK]\":4,\"the\":5,\"##s\":6,\"sand\":7}}}";
    static const Key bert_keys[] = { /* as gguf-py's vocab.py writes them; null is what lowercase is */
        {"tokenizer.ggml.model", "bert"}, {"tokenizer.ggml.normalizer.lowercase", "true"},
        {"tokenizer.ggml.normalizer.strip_accents", "true"}, {"tokenizer.ggml.bos_token_id", "2"},
        {"tokenizer.ggml.seperator_token_id", "3"}, {"tokenizer.ggml.eos_token_id", "3"}};
    static const char alone[] = ": its vocab.txt does not say how GGUF's \"bert\" reads a text: give a tokenizer.json";
    for (int i = 0; i < 3; i++) {
        begin();
        CHECK(shell("rm -rf %s && cp -R %s %s", folder, hf_folder("gte", "", TENSOR_F32, &sound), folder) == 0);
        file_write(test_in(folder, "vocab.txt"), vocab, strlen(vocab));
        if (i == 1) file_write(test_in(folder, "tokenizer.json"), json, strlen(json));
        if (i == 2) file_write(test_in(folder, "tokenizer.json"), "{}", 2);
        int code = tool("", "convert", "%s %s -q", folder, gguf);
        if (i != 1) CHECK(code == 1 && said_line(i ? "tokenizer.json: JSON, but no tokenizer.json" : alone));
        if (i != 1) continue;
        if (code) printf("    %s", said);
        CHECK(code == 0);
        keys_are(gguf, bert_keys, sizeof bert_keys / sizeof *bert_keys);
        same_ids("The sands, and sand");
        CHECK(tool("", "convert", "%s %s -q -z %s/vocab.txt", folder, gguf, folder) == 1 && said_line(alone));
        CHECK(tool("", "convert", "%s %s -q -z %s/nothing", folder, gguf, folder) == 1 &&
              said_line("odd-tokenizers/nothing: No such file or directory"));
    }
}

/* ---- how a text becomes a vector ---- */

/* Dense layers and prompts for which GGUF has no key. */
static void sentences(void) {
    static const struct { const char *change, *line; } rows[] = {
        {"sed -i s/linear.Identity/activation.Tanh/ %s/2_Dense/config.json", "GGUF has no key for these dense layers"},
        {"sed -i s/linear.Identity/activation.Tanh/ %s/3_Dense/config.json", "GGUF has no key for these dense layers"},
        {"sed -i 's/\"bias\": false/\"bias\": true/' %s/3_Dense/config.json", "GGUF has no key for these dense layers"},
        {"echo '[' > %s/modules.json", "modules.json: line 2"},
        {"echo '{\"prompts\": {\"'$(printf %%0101d 0)'\": \"a\"}}' > %s/config_sentence_transformers.json",
         "the name of a task has more than 100 bytes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char change[9000];
        begin();
        CHECK(shell("rm -rf %s && cp -R %s %s", folder, hf_folder("embeddinggemma", "", TENSOR_F32, &sound),
                    folder) == 0);
        snprintf(change, sizeof change, rows[i].change, folder);
        CHECK(shell("%s", change) == 0);
        if (i == 2) safetensors_with(test_in(folder, "3_Dense/model.safetensors"), "{", "{\"linear.bias\":{\"dtype\":"
                                     "\"F32\",\"shape\":[32],\"data_offsets\":[8192,8320]},", 128);
        CHECK(tool("", "convert", "%s %s -q --no-tokenizer", folder, gguf) == 1 && said_line(rows[i].line));
    }
}

const Test tests_convert_tokenizers[] = {
    {"convert/ids without a piece", gaps},
    {"convert/a unigram model of bytes", unigram_of_bytes},
    {"convert/maps of characters", maps},
    {"convert/ids that end a text", ends},
    {"convert/WordPiece of folders", word_pieces},
    {"convert/dense layers and prompts", sentences},
    {0},
};
