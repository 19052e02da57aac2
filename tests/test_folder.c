/* tests/test_folder.c - folders of Hugging Face's as they lie about: which file holds the tokenizer, what
 * tokenizer_config.json and added_tokens.json change of it, and what they may not say. */
#include "build.h"
#include "test.h"
#include "tokenizer_files.h"

#include <stdlib.h>
#include <string.h>

typedef struct { const char *name, *text; } File; /* text NULL: SentencePiece's, as build.c makes it */

/* Everything that stood there before is gone. */
static const char *folder_of(const File *files, size_t n) {
    static const char *const all[] = {
        "vocab.json", "merges.txt", "encoder.json", "vocab.bpe", "vocab.txt", "tokenizer.model", "spiece.model",
        "tekken.json", "a.tiktoken", "b.tiktoken", "z.tiktoken", "tokenizer.json", "sentencepiece.bpe.model",
        "tokenizer_config.json", "added_tokens.json", "special_tokens_map.json", "config.json", "jieba.dict"};
    const char *folder = test_folder("hf-folder");
    for (size_t i = 0; i < COUNT(all); i++) remove(test_in(folder, all[i]));
    for (size_t i = 0; i < n && files[i].name; i++)
        if (files[i].text) write_text(test_in(folder, files[i].name), files[i].text);
        else build_tokenizer_model(test_in(folder, files[i].name));
    return folder;
}

/* Opens and gives these ids (those that the tokenizer itself adds, too), or does not and says so. */
typedef struct {
    const char *says; /* NULL: it opens */
    const char *text;
    int n, ids[6];
} Outcome;

static void expect(const char *what, const char *folder, const char *pre, const Outcome *o) {
    const TokenizerOptions options = {.lower_case = -1, .pre = pre};
    Tokenizer *t;
    *tokenizer_err = 0;
    int rc = tokenizer_open_with(&t, folder, &options, tokenizer_err, sizeof tokenizer_err);
    int right = o->says ? rc < 0 && strstr(tokenizer_err, o->says) && strstr(tokenizer_err, "hf-folder") : rc == 0;
    if (right && !o->says)
        right = encodes(t, o->text, strlen(o->text), ENCODE_SPECIAL | ENCODE_ADDED, o->ids, (size_t)o->n);
    if (!right) printf("    %s: %d, %s\n", what, rc, tokenizer_err);
    CHECK(right);
    tokenizer_free(t);
}

#define VOCAB "{\"a\":0,\"b\":1,\"ab\":2,\"1\":3,\"2\":4,\"12\":5,\"<e>\":6}"
#define MERGES "#version: 0.2\r\na b\r\n\r\n1 2"

static void which_file(void) {
    static const struct { File files[3]; const char *pre; Outcome outcome; } rows[] = {
        {{{0}}, NULL, {.says = "no tokenizer in this folder"}},
        {{{"vocab.json", VOCAB}}, NULL, {.says = "its tokenizer is vocab.json: this kind is not read yet"}},
        {{{"merges.txt", MERGES}}, NULL, {.says = "no tokenizer in this folder"}},
        {{{"tekken.json", "{}"}}, NULL, {.says = "tekken.json: JSON, but no tokenizer.json"}},
        {{{"sentencepiece.bpe.model", "x"}}, NULL, {.says = "its tokenizer is sentencepiece.bpe.model"}},
        {{{"vocab.txt", "a\nb\n"}}, NULL, {.says = "its tokenizer is vocab.txt"}},
        {{{"vocab.txt", "a\n[UNK]\n"}, {"tokenizer.model", NULL}}, NULL, {.text = "a c", .n = 2, .ids = {0, 1}}},
        {{{"vocab.txt", "a\nb\n"}, {"tokenizer.model", NULL}}, NULL, {.text = "<s>", .n = 2, .ids = {1, 1}}},
        {{{"vocab.json", VOCAB}, {"merges.txt", MERGES}}, "gpt-2", {.text = "ab12", .n = 2, .ids = {2, 5}}},
        {{{"vocab.json", VOCAB}, {"merges.txt", MERGES}}, "qwen2", {.text = "ab12", .n = 3, .ids = {2, 3, 4}}},
        {{{"vocab.json", VOCAB}, {"merges.txt", MERGES}}, "gpt-9",
         {.says = "the pre-tokenizer \"gpt-9\" is not known"}},
        {{{"vocab.json", VOCAB}, {"merges.txt", MERGES}}, NULL, {.says = "nothing says how its text is cut"}},
        {{{"vocab.json", VOCAB}, {"merges.txt", "a c"}}, "gpt-2", {.says = "merge 0"}},
        {{{"vocab.json", "[]"}, {"merges.txt", MERGES}}, "gpt-2", {.says = "the model's vocab is missing or of the"}},
        {{{"vocab.json", "{"}, {"merges.txt", MERGES}}, "gpt-2", {.says = "vocab.json: line 1"}},
        {{{"vocab.json", VOCAB}, {"merges.txt", ""}}, "gpt-2", {.says = "merges.txt: the file is empty"}},
        {{{"vocab.json", VOCAB}, {"merges.txt", "a b\n\n1 2\n"}}, "gpt-2", {.text = "ab12", .n = 2, .ids = {2, 5}}},
        {{{"encoder.json", VOCAB}, {"vocab.bpe", MERGES}}, "gpt-2", {.text = "ab", .n = 1, .ids = {2}}},
        {{{"b.tiktoken", "YQ== 0\n"}, {"a.tiktoken", "Yg== 0\nYQ== 1\r\n\nYWI= 2"}}, "gpt-2",
         {.text = "aab", .n = 2, .ids = {1, 2}}},
        {{{"a.tiktoken", "YQ== 0\nYg== 1\nYWI= 2\n"}}, "gpt-2", {.text = "aab", .n = 2, .ids = {0, 2}}},
        {{{"a.tiktoken", "YQ== 0\nYg== 0\n"}}, "gpt-2", {.says = "the rank 0 stands behind 1"}},
        {{{"a.tiktoken", "YQ== 0\nYg== 70000\n"}}, "gpt-2", {.says = "the rank 70000 stands behind 1"}},
        {{{"a.tiktoken", "YQ== 0\nYg==\n"}}, "gpt-2", {.says = "behind rank 1: a line that is not a piece"}},
        {{{"a.tiktoken", "YQ== 0\nYg== \n"}}, "gpt-2", {.says = "behind rank 1: a line that is not a piece"}},
        {{{"a.tiktoken", "YQ== 0\nYg== 1x\n"}}, "gpt-2", {.says = "behind rank 1: a line that is not a piece"}},
        {{{"a.tiktoken", "YQ== 0\n!!!! 1\n"}}, "gpt-2", {.says = "behind rank 1: a line that is not a piece"}},
        {{{"a.tiktoken", "YQ== 0\n 1\n"}}, "gpt-2", {.says = "behind rank 1: a line that is not a piece"}},
        {{{"z.tiktoken", "YQ== 0\n"}, {"b.tiktoken", "YQ== 0\n"}, {"a.tiktoken", "Yg== 0\nYQ== 1\n"}}, "gpt-2",
         {.text = "a", .n = 1, .ids = {1}}},
        {{{"tokenizer.model", NULL}}, "gpt-2", {.says = "no pre-tokenizer can be given"}},
        {{{"vocab.txt", "a\n[UNK]\n"}}, "gpt-2", {.says = "no pre-tokenizer can be given"}},
        {{{"tokenizer.json", "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[]}}"}}, "gpt-2",
         {.says = "no pre-tokenizer can be given"}},
        {{{"vocab.txt", "a\tb\n[UNK]\na\n"}}, NULL, {.text = "a", .n = 1, .ids = {2}}},
        {{{"a.tiktoken", "YQ== 0\nYg== 99999999999\n"}}, "gpt-2", {.says = "behind rank 1: a line that is not a"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char what[40];
        snprintf(what, sizeof what, "row %zu", i);
        expect(what, folder_of(rows[i].files, COUNT(rows[i].files)), rows[i].pre, &rows[i].outcome);
    }
}

/* tokenizer.json beside vocab.txt counts, but of a RoFormer, or where jieba is asked for. */
static void beside_vocab_txt(void) {
    static const char vocab[] = "a\n[UNK]\n",
                      json[] = "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"b\":0},\"merges\":[]}}";
    static const struct { File files[4]; int bert4keras, id; } rows[] = {
        {{{"vocab.txt", vocab}, {"tokenizer.json", json}}, 0, 0},
        {{{"vocab.txt", vocab}, {"tokenizer.json", json}}, 1, 1},
        {{{"vocab.txt", vocab}, {"tokenizer.json", json}, {"config.json", "{\"model_type\":\"bert\"}"},
          {"tokenizer_config.json", "{\"tokenizer_class\":\"BertTokenizer\"}"}}, 0, 0},
        {{{"vocab.txt", vocab}, {"tokenizer.json", json}, {"config.json", "{\"model_type\":\"roformer\"}"}}, 0, 1},
        {{{"vocab.txt", vocab}, {"tokenizer.json", json},
          {"tokenizer_config.json", "{\"tokenizer_class\":\"RoFormerTokenizerFast\"}"}}, 0, 1},
        {{{"vocab.txt", "a\n"}, {"tokenizer.json", json}, {"config.json", "{\"model_type\":\"roformer\"}"}}, 0, 0},
        {{{"vocab.txt", vocab}, {"tokenizer.json", json}, {"jieba.dict", "a 1\n"}}, 0, 1},
        {{{"tokenizer.json", json}, {"config.json", "{\"model_type\":\"roformer\"}"},
          {"tokenizer_config.json", "{\"tokenizer_class\":\"BertTokenizer\"}"}}, 0, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const TokenizerOptions options = {.lower_case = -1, .bert4keras = rows[i].bert4keras};
        Tokenizer *t;
        CHECK(tokenizer_open_with(&t, folder_of(rows[i].files, COUNT(rows[i].files)), &options, tokenizer_err,
                                  sizeof tokenizer_err) == 0);
        int right = t && encodes(t, "b", 1, 0, &rows[i].id, 1);
        if (!right) printf("    row %zu\n", i);
        CHECK(right);
        tokenizer_free(t);
    }
    const File alone[] = {{"tokenizer.json", json}};
    const TokenizerOptions keras = {.lower_case = -1, .bert4keras = 1}, jieba = {.lower_case = -1, .jieba = "dict.txt"};
    Tokenizer *t;
    for (int i = 0; i < 2; i++) {
        const char *folder = folder_of(alone, 1);
        CHECK(tokenizer_open_with(&t, folder, i ? &keras : &jieba, tokenizer_err, sizeof tokenizer_err) < 0 &&
              strstr(tokenizer_err, "are for WordPiece's vocab.txt, and this is BPE (tokenizer.json)"));
    }
    /* without it, a RoFormerTokenizer's tokenizer.json knows nothing of jieba */
    const Outcome refused = {.says = "a RoFormerTokenizer's tokenizer.json, which leaves out jieba (put the model's"};
    const File words[] = {{"tokenizer.json", json}, {"tokenizer_config.json",
                                                     "{\"tokenizer_class\":\"RoFormerTokenizer\"}"}};
    expect("RoFormerTokenizer", folder_of(words, 2), NULL, &refused);
}

/* vocab.json, merges.txt and one file more, or two. */
static void beside_merges(void) {
    static const struct { const char *config, *added, *pre; Outcome outcome; } rows[] = {
        {"{\"tokenizer_class\":\"GPT2Tokenizer\"}", NULL, NULL, {.text = "12", .n = 1, .ids = {5}}},
        {"{\"tokenizer_class\":\"GPT2TokenizerFast\"}", NULL, NULL, {.text = "12", .n = 1, .ids = {5}}},
        {"{\"tokenizer_class\":\"Qwen2Tokenizer\"}", NULL, NULL, {.text = "12", .n = 2, .ids = {3, 4}}},
        {"{\"tokenizer_class\":\"Qwen2Tokenizer\"}", NULL, "gpt-2", {.text = "12", .n = 1, .ids = {5}}},
        {"{\"tokenizer_class\":\"GPT2TokenizerSlow\"}", NULL, NULL, {.says = "nothing says how its text is cut"}},
        {"{\"tokenizer_class\":7}", NULL, NULL, {.says = "nothing says how its text is cut"}},
        {"{\"tokenizer_class\"", NULL, NULL, {.says = "tokenizer_config.json: line 1"}},
        {"{\"add_bos_token\":1}", NULL, "gpt-2", {.says = "add_bos_token is neither true nor false"}},
        {"{\"add_eos_token\":1}", NULL, "gpt-2", {.says = "add_eos_token is neither true nor false"}},
        {"{\"add_prefix_space\":1}", NULL, "gpt-2", {.says = "add_prefix_space is neither true nor false"}},
        {"{\"add_eos_token\":true,\"eos_token\":\"<e>\"}", NULL, "gpt-2", {.text = "a", .n = 2, .ids = {0, 6}}},
        {"{\"add_eos_token\":true,\"eos_token\":\"<none>\"}", NULL, "gpt-2", {.text = "a", .n = 1, .ids = {0}}},
        {"{\"add_bos_token\":null,\"bos_token\":\"<e>\"}", NULL, "gpt-2", {.text = "a", .n = 1, .ids = {0}}},
        {"{\"add_bos_token\":true,\"bos_token\":\"<e>\"}", NULL, "gpt-2", {.text = "a", .n = 2, .ids = {6, 0}}},
        {"{\"add_bos_token\":true,\"bos_token\":{\"content\":\"<e>\"}}", NULL, "gpt-2",
         {.text = "a", .n = 2, .ids = {6}}},
        {"{\"add_bos_token\":true,\"bos_token\":\"\"}", NULL, "gpt-2", {.text = "a", .n = 1, .ids = {0}}},
        {"{\"added_tokens_decoder\":{\"6\":{\"content\":\"<e>\",\"special\":true},\"8\":{\"content\":\"<y>\"}}}",
         "{\"<e>\":6,\"<y>\":8,\"<z>\":9}", "gpt-2", {.text = "a<z><e><y>", .n = 4, .ids = {0, 9, 6, 8}}},
        {"{\"added_tokens_decoder\":{\"8\":{\"content\":\"<y>\"},\"9\":{\"content\":\"<z>\",\"special\":true}}}",
         "{\"<y>\":10,\"<z>\":11}", "gpt-2", {.text = "<y><z>", .n = 2, .ids = {8, 9}}},
        {NULL, "{\"<z>\":7,\"ab\":2}", "gpt-2", {.text = "a<z>ab", .n = 3, .ids = {0, 7, 2}}},
        {NULL, "[]", "gpt-2", {.says = "added_tokens.json: not an object"}},
        {NULL, "{\"<z>\":\"7\"}", "gpt-2", {.says = "added_tokens.json: \"<z>\" has no id"}},
        {NULL, "{\"<z>\":-7}", "gpt-2", {.says = "has the id -7"}},
        {NULL, "{\"<z>\":1,", "gpt-2", {.says = "added_tokens.json: line 1"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        File files[4] = {{"vocab.json", VOCAB}, {"merges.txt", MERGES}};
        size_t n = 2;
        if (rows[i].config) files[n++] = (File){"tokenizer_config.json", rows[i].config};
        if (rows[i].added) files[n++] = (File){"added_tokens.json", rows[i].added};
        expect(rows[i].config ? rows[i].config : rows[i].added, folder_of(files, n), rows[i].pre, &rows[i].outcome);
    }
}

/* The ids of added_tokens_decoder: digits. */
static void added_ids(void) {
    static const struct { const char *config; Outcome outcome; } rows[] = {
        {"{\"added_tokens_decoder\":{\"-1\":{\"content\":\"x\"}}}", {.says = "\"-1\" is no id or has no content"}},
        {"{\"added_tokens_decoder\":{\"7.5\":{\"content\":\"x\"}}}", {.says = "\"7.5\" is no id or"}},
        {"{\"added_tokens_decoder\":{\"nan\":{\"content\":\"x\"}}}", {.says = "\"nan\" is no id or"}},
        {"{\"added_tokens_decoder\":{\"0x7\":{\"content\":\"x\"}}}", {.says = "\"0x7\" is no id or"}},
        {"{\"added_tokens_decoder\":{\"7e0\":{\"content\":\"x\"}}}", {.says = "\"7e0\" is no id or"}},
        {"{\"added_tokens_decoder\":{\" 7\":{\"content\":\"x\"}}}", {.says = "\" 7\" is no id or"}},
        {"{\"added_tokens_decoder\":{\"65543\":{\"content\":\"x\"}}}", {.says = "has the id 65543"}},
        {"{\"added_tokens_decoder\":{\"7\":{\"content\":\"\"}}}", {.says = "the added token 7 is empty"}},
        {"{\"added_tokens_decoder\":{\"x\":{\"content\":\"y\"}}}", {.says = "\"x\" is no id or has no"}},
        {"{\"added_tokens_decoder\":{\"7x\":{\"content\":\"y\"}}}", {.says = "\"7x\" is no id or has no"}},
        {"{\"added_tokens_decoder\":{\"\":{\"content\":\"y\"}}}", {.says = "\"\" is no id or has no"}},
        {"{\"added_tokens_decoder\":{\"7\":{\"content\":7}}}", {.says = "\"7\" is no id or has no"}},
        {"{\"added_tokens_decoder\":{\"1\":{\"content\":\"x\"}}}", {.says = "which is another piece's"}},
        {"{\"added_tokens_decoder\":7}", {.says = "added_tokens_decoder is no object"}},
        {"{\"added_tokens_decoder\":[]}", {.says = "added_tokens_decoder is no object"}},
        {"{\"added_tokens_decoder\":null}", {.text = "ab", .n = 1, .ids = {2}}},
        {"[]", {.says = "tokenizer_config.json: not an object"}},
        {"{\"added_tokens_decoder\":{\"2147483647\":{\"content\":\"x\"}}}",
         {.says = "has the id 2147483647, where the model has 7 pieces and whole numbers below 65543 are read"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const File files[] = {{"vocab.json", VOCAB}, {"merges.txt", MERGES}, {"tokenizer_config.json", rows[i].config}};
        expect(rows[i].config, folder_of(files, 3), "gpt-2", &rows[i].outcome);
    }
}

/* A space in front of a text, where it is asked for; GGUF has no name for a tokenizer that does so. */
static void space_in_front(void) {
    static const struct { const char *config; Outcome outcome; } rows[] = {
        {"{}", {.text = "ab ab", .n = 2, .ids = {2, 4}}},
        {"{\"add_prefix_space\":false}", {.text = "ab ab", .n = 2, .ids = {2, 4}}},
        {"{\"add_prefix_space\":true}", {.text = "ab ab", .n = 2, .ids = {4, 4}}},
        {"{\"add_prefix_space\":true}", {.text = " ab ab", .n = 2, .ids = {4, 4}}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const File files[] = {
            {"vocab.json", "{\"a\":0,\"b\":1,\"ab\":2,\"\\u0120\":3,\"\\u0120ab\":4}"},
            {"merges.txt", "a b\n\xc4\xa0 ab"}, {"tokenizer_config.json", rows[i].config}};
        const TokenizerOptions options = {.lower_case = -1, .pre = "gpt-2"};
        Tokenizer *t;
        Vocabulary v;
        const char *folder = folder_of(files, 3);
        expect(rows[i].config, folder, "gpt-2", &rows[i].outcome);
        CHECK(tokenizer_open_with(&t, folder, &options, tokenizer_err, sizeof tokenizer_err) == 0);
        int rc = t ? tokenizer_vocabulary(&v, t, "x", tokenizer_err, sizeof tokenizer_err) : -1;
        CHECK(i < 2 ? rc == 0 : rc < 0 && strstr(tokenizer_err, "GGUF has no name for"));
        if (rc == 0) free((void *)(uintptr_t)v.pieces);
        tokenizer_free(t);
    }
}

#define TOKEN(flag) "{\"added_tokens_decoder\":{\"300\":{\"content\":\"<z>\",\"" flag "\":true}}}"

/* The same of SentencePiece's: 300 pieces, of which <unk>, <s> and </s> are the first. */
static void beside_model(void) {
    static const struct { const char *config, *added; Outcome outcome; } rows[] = {
        {NULL, "{\"<z>\":300}", {.text = "<z></s>", .n = 3, .ids = {1, 300, 2}}},
        {NULL, "{\"<z>\":2}", {.text = "<z>", .n = 2, .ids = {1, 2}}},
        {NULL, "{\"</z>\":2,\"<s>\":1}", {.text = "</z><s>", .n = 3, .ids = {1, 2, 1}}},
        {NULL, "{\"<z>\":302}", {.text = "<z></s>", .n = 3, .ids = {1, 302, 2}}},
        {NULL, "{\"\":300}", {.says = "the added token 300 is empty"}},
        {NULL, "{\"<z>\":65836}", {.says = "an added token has the id 65836, where the model has 300 pieces"}},
        {NULL, "{\"<z>\":300.5}", {.says = "has the id 300.5"}},
        {NULL, "{\"<z>\":-1}", {.says = "has the id -1"}},
        {NULL, "7", {.says = "added_tokens.json: not an object"}},
        {"{\"added_tokens_decoder\":{\"2\":{\"content\":\"</s>\"},\"300\":{\"content\":\"<z>\",\"special\":true}}}",
         NULL,
         {.text = "<z></s>", .n = 3, .ids = {1, 300, 2}}},
        {"{\"added_tokens_decoder\":{\"2\":{\"content\":\"<z>\"}}}", NULL, {.text = "<z>", .n = 2, .ids = {1, 2}}},
        {"{\"added_tokens_decoder\":{\"300\":{\"content\":\"\"}}}", NULL, {.says = "the added token 300 is empty"}},
        {TOKEN("single_word"), NULL, {.says = "the added token \"<z>\" says single_word, which is read of"}},
        {TOKEN("lstrip"), NULL, {.says = "the added token \"<z>\" says lstrip"}},
        {TOKEN("rstrip"), NULL, {.says = "the added token \"<z>\" says rstrip"}},
        {TOKEN("normalized"), NULL, {.text = "<z>", .n = 2, .ids = {1, 300}}},
        {"{\"add_bos_token\":false}", NULL, {.text = "</s>", .n = 1, .ids = {2}}},
        {"{\"add_bos_token\":\"no\"}", NULL, {.says = "add_bos_token is neither true nor false"}},
        {"{\"add_eos_token\":0}", NULL, {.says = "add_eos_token is neither true nor false"}},
        {"{\"add_prefix_space\":0}", NULL, {.says = "add_prefix_space is neither true nor false"}},
        {"{\"add_eos_token\":true,\"eos_token\":\"<unk>\"}", NULL, {.text = "</s>", .n = 3, .ids = {1, 2, 0}}},
        {"{\"bos_token\":{\"content\":\"</s>\"}}", NULL, {.text = "<s>", .n = 2, .ids = {2, 1}}},
        {"{\"bos_token\":\"<none>\"}", NULL, {.says = "no piece is \"<none>\", the bos_token of the JSON files"}},
        {"{\"eos_token\":{\"content\":\"<none>\"}}", NULL, {.says = "no piece is \"<none>\", the eos_token"}},
        {"{\"bos_token\":\"<z>\"}", "{\"<z>\":300}", {.text = "", .n = 1, .ids = {300}}},
        {"[1]", NULL, {.says = "tokenizer_config.json: not an object"}},
        /* <unk> is the unknown id to transformers 4.57.3, 5.24 and llama.cpp, where special tokens are found */
        {NULL, NULL, {.text = "<s><unk></s>", .n = 4, .ids = {1, 1, 0, 2}}},
        {"{\"bos_token\":{\"content\":null}}", NULL, {.text = "<s>", .n = 2, .ids = {1, 1}}},
        {"{\"bos_token\":3}", NULL, {.text = "<s>", .n = 2, .ids = {1, 1}}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        File files[3] = {{"tokenizer.model", NULL}};
        size_t n = 1;
        if (rows[i].config) files[n++] = (File){"tokenizer_config.json", rows[i].config};
        if (rows[i].added) files[n++] = (File){"added_tokens.json", rows[i].added};
        expect(rows[i].config ? rows[i].config : rows[i].added ? rows[i].added : "alone", folder_of(files, n), NULL,
               &rows[i].outcome);
    }
}

/* special_tokens_map.json. transformers 4.57.3 begins a text with </s> where it alone says {"bos_token": "</s>",
 * "eos_token": "<s>"}, and where tokenizer_config.json says otherwise and has no added_tokens_decoder. */
static void beside_map(void) {
    static const struct { const char *config, *map; Outcome outcome; } rows[] = {
        {NULL, "{\"bos_token\":\"</s>\",\"eos_token\":\"<s>\"}", {.text = "", .n = 1, .ids = {2}}},
        {"{\"bos_token\":\"<s>\"}", "{\"bos_token\":{\"content\":\"</s>\"}}",
         {.text = "", .n = 1, .ids = {2}}},
        {"{\"bos_token\":\"<none>\"}", "{\"bos_token\":\"</s>\"}", {.text = "", .n = 1, .ids = {2}}},
        {"{\"bos_token\":\"</s>\",\"add_eos_token\":true}", "{\"eos_token\":\"<s>\"}",
         {.text = "", .n = 2, .ids = {2, 1}}},
        {"{\"added_tokens_decoder\":{}}", "{\"bos_token\":\"</s>\"}", {.text = "", .n = 1, .ids = {1}}},
        {"{\"added_tokens_decoder\":{}}", "[", {.text = "", .n = 1, .ids = {1}}},
        {NULL, "{\"bos_token\":\"<none>\"}", {.says = "no piece is \"<none>\", the bos_token"}},
        {NULL, "{\"bos_token\":null,\"pad_token\":\"<none>\"}", {.text = "", .n = 1, .ids = {1}}},
        {NULL, "[]", {.says = "special_tokens_map.json: not an object"}},
        {"{}", "{", {.says = "special_tokens_map.json: line 1"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const File files[] = {{"spiece.model", NULL}, {"special_tokens_map.json", rows[i].map},
                              {"tokenizer_config.json", rows[i].config}};
        expect(rows[i].map, folder_of(files, rows[i].config ? 3 : 2), NULL, &rows[i].outcome);
    }
}

/* tokenizer_class. Of a T5 with n pieces <extra_id_0> is n + 99 to transformers 4.57.3 and 5.24, <extra_id_99> n;
 * with "extra_ids": 3 it is n + 2. */
static void class_of_model(void) {
    static const char text[] = "<extra_id_0><extra_id_2>";
    static const struct { const char *config; Outcome outcome; } rows[] = {
        {"{\"tokenizer_class\":\"T5Tokenizer\"}", {.text = text, .n = 3, .ids = {1, 399, 397}}},
        {"{\"tokenizer_class\":\"T5TokenizerFast\"}", {.text = "<extra_id_99>", .n = 2, .ids = {1, 300}}},
        {"{\"tokenizer_class\":\"T5Tokenizer\",\"extra_ids\":3}", {.text = text, .n = 3, .ids = {1, 302, 300}}},
        {"{\"tokenizer_class\":\"T5Tokenizer\",\"extra_ids\":0}", {.text = "</s>", .n = 2, .ids = {1, 2}}},
        {"{\"tokenizer_class\":\"T5Tokenizer\",\"extra_ids\":\"3\"}", {.says = "extra_ids is no number"}},
        {"{\"tokenizer_class\":\"T5Tokenizer\",\"extra_ids\":1e9}", {.says = "has the id 1000000299, where"}},
        {"{\"tokenizer_class\":\"T5Tokenizer\",\"extra_ids\":0.5}", {.says = "has the id 299.5"}},
        {"{\"tokenizer_class\":\"T5Tokenizer\",\"added_tokens_decoder\":{\"300\":{\"content\":\"<extra_id_0>\"}}}",
         {.text = "<extra_id_0>", .n = 2, .ids = {1, 300}}},
        {"{\"tokenizer_class\":\"LlamaTokenizer\",\"extra_ids\":3}", {.text = "</s>", .n = 2, .ids = {1, 2}}},
        {"{\"tokenizer_class\":\"PegasusTokenizer\"}", {.says = "PegasusTokenizer gives other ids than its model's"}},
        {"{\"tokenizer_class\":\"XLNetTokenizerFast\"}", {.says = "XLNetTokenizerFast gives other ids"}},
        {"{\"tokenizer_class\":\"BigBirdTokenizer\"}", {.says = "BigBirdTokenizer gives other ids"}},
        {"{\"tokenizer_class\":\"FNetTokenizer\"}", {.says = "FNetTokenizer gives other ids"}},
        {"{\"tokenizer_class\":\"ReformerTokenizer\"}", {.says = "ReformerTokenizer gives other ids"}},
        {"{\"tokenizer_class\":\"BertGenerationTokenizer\"}", {.says = "BertGenerationTokenizer gives other"}},
        {"{\"tokenizer_class\":\"GPTSw3Tokenizer\"}", {.says = "GPTSw3Tokenizer gives other ids"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const File files[] = {{"spiece.model", NULL}, {"tokenizer_config.json", rows[i].config}};
        expect(rows[i].config, folder_of(files, 2), NULL, &rows[i].outcome);
    }
}

/* .. and of WordPiece's vocab.txt. */
static void beside_words(void) {
    static const struct { const char *config; Outcome outcome; } rows[] = {
        {"{\"do_lower_case\":7}", {.says = "do_lower_case is neither true nor false"}},
        {"{\"strip_accents\":\"\"}", {.says = "strip_accents is neither true nor false"}},
        {"{\"tokenize_chinese_chars\":0}", {.says = "tokenize_chinese_chars is neither true nor false"}},
        {"{\"do_basic_tokenize\":[]}", {.says = "do_basic_tokenize is neither true nor false"}},
        {"{\"clean_up_tokenization_spaces\":1}", {.says = "clean_up_tokenization_spaces is neither true nor false"}},
        {"{\"added_tokens_decoder\":{\"9\":{}}}", {.says = "\"9\" is no id or has no content"}},
        {TOKEN("single_word"), {.says = "\"<z>\" says single_word, which is read of tokenizer.json only"}},
        {TOKEN("lstrip"), {.text = "a <z>b", .n = 3, .ids = {1, 300, 2}}},
        {TOKEN("rstrip"), {.text = "a<z> b", .n = 3, .ids = {1, 300, 2}}},
        {"{\"do_lower_case\":true}", {.text = "A", .n = 1, .ids = {1}}},
        {"{\"do_lower_case\":false}", {.text = "A", .n = 1, .ids = {0}}},
        {"{\"cls_token\":\"b\",\"sep_token\":{\"content\":\"a\"}}", {.text = "a", .n = 3, .ids = {2, 1, 1}}},
        {"{\"unk_token\":\"b\"}", {.text = "x", .n = 1, .ids = {2}}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const File files[] = {{"vocab.txt", "[UNK]\na\nb\n"}, {"tokenizer_config.json", rows[i].config}};
        expect(rows[i].config, folder_of(files, 2), NULL, &rows[i].outcome);
    }
}

extern const Test tests_folder[];
const Test tests_folder[] = {
    {"folder/which file", which_file},
    {"folder/beside vocab.txt", beside_vocab_txt},
    {"folder/beside merges", beside_merges},
    {"folder/added ids", added_ids},
    {"folder/a space in front", space_in_front},
    {"folder/beside a model", beside_model},
    {"folder/special tokens map", beside_map},
    {"folder/class of a model", class_of_model},
    {"folder/beside words", beside_words},
    {0},
};
