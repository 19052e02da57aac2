/* tests/test_bpe.c - byte-level BPE, tokenizer.json and GGUF's gpt2 and bert on whole vocabularies: against
 * `tokenizers`, tiktoken and SentencePiece (golden/bpe.h), llama.cpp's vectors and those of swift-transformers; there
 * and back; hostile texts. */
#include "base/base.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/utf8.h"
#include "model/files/weights.h"
#include "text/open.h"
#include "tokenizer/open.h"
#include "tokenizer/pipeline/pipeline.h"
#include "tests/golden/bpe.h"
#include "build.h"
#include "random_text.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static char err[300];

/* ---- the models ---- */

/* BERT's vocab.txt as the tokenizer.json that its authors publish beside it. */
static const char *bert_json(const char *vocab) {
    static const char head[] = "{\"normalizer\": {\"type\": \"BertNormalizer\", \"clean_text\": true, "
                               "\"handle_chinese_chars\": true, "
        "\"strip_accents\": null, \"lowercase\": true}, \"pre_tokenizer\": {\"type\": \"BertPreTokenizer\"}, "
        "\"post_processor\": "
        "{\"type\": \"BertProcessing\", \"sep\": [\"[SEP]\", 102], \"cls\": [\"[CLS]\", 101]}, \"decoder\": {\"type\": "
        "\"WordPiece\", "
        "\"prefix\": \"##\", \"cleanup\": true}, \"added_tokens\": [";
    static const char *const special[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    static const int ids[] = {0, 100, 101, 102, 103};
    const char *path = test_tmp("bert.json");
    MappedFile f;
    FILE *out = fopen(path, "wb");
    if (!out || file_map(&f, vocab, err, sizeof err)) return NULL;
    fputs(head, out);
    for (int i = 0; i < 5; i++)
        fprintf(out, "%s{\"id\": %d, \"content\": \"%s\", \"special\": true}", i ? ", " : "", ids[i], special[i]);
    fputs("], \"model\": {\"type\": \"WordPiece\", \"unk_token\": \"[UNK]\", \"continuing_subword_prefix\": \"##\", "
          "\"max_input_chars_per_word\": 100, \"vocab\": {\"", out);
    for (size_t i = 0, id = 0; i + 1 < f.size; i++) {
        char c = (char)f.data[i];
        if (c == '\n') fprintf(out, "\": %zu, \"", id++);
        else if (c == '"' || c == '\\') fprintf(out, "\\%c", c);
        else putc(c, out);
        if (i + 2 == f.size) fprintf(out, "\": %zu}}}", id);
    }
    file_unmap(&f);
    fclose(out);
    return path;
}

static int open_gguf(Tokenizer **t, const char *path) {
    Weights w;
    int rc = weights_open(&w, path, err, sizeof err);
    if (rc) return rc;
    rc = vocabulary_open(t, &w, NULL, 0, NULL, err, sizeof err);
    weights_close(&w);
    return rc;
}

/* NULL and a skip where it is not there. */
static Tokenizer *open_model(const char *name) {
    const char *path = test_data(name);
    Tokenizer *t = NULL;
    if (!path) return NULL;
    int rc = strstr(name, ".gguf") ? open_gguf(&t, path)
        : tokenizer_open(&t, strstr(name, "vocab.txt") ? bert_json(path) : path, err, sizeof err);
    if (rc) printf("    %s\n", err);
    CHECK(rc == 0);
    return rc ? NULL : t;
}

/* ---- ids and texts ---- */

static int *encode(const Tokenizer *t, const char *s, size_t len, int flags, size_t *n) {
    int *ids;
    int rc = tokenizer_encode(t, s, len, flags, &ids, n, err, sizeof err);
    if (rc) printf("    %s\n", err);
    CHECK(rc == 0);
    return ids;
}

/* As a stream; malloc'ed. No call writes more than the bound, in a buffer of its own so that the sanitizer sees a byte
 * too many. */
static char *decode(const Tokenizer *t, const int *ids, size_t n, size_t *len) {
    size_t bound = tokenizer_decode_bound(t), cap = 16 * n + bound, size = 0;
    char *text = malloc(cap), *out = malloc(bound);
    TokenStream s = {0};
    for (size_t i = 0; text && out && i <= n; i++) {
        size_t k = i < n ? tokenizer_decode(t, &s, ids[i], out) : tokenizer_decode_end(t, &s, out);
        CHECK(k <= bound);
        if (size + k > cap) text = realloc(text, cap = 2 * cap + k);
        memcpy(text + size, out, k);
        size += k;
    }
    free(out);
    *len = size;
    return text;
}

static uint64_t mix(uint64_t h, uint64_t x) { return (h ^ x) * 0x100000001b3u; }

static uint64_t mix_ids(uint64_t h, const int *ids, size_t n) {
    for (size_t i = 0; i < n; i++) h = mix(h, (uint64_t)ids[i]);
    return h;
}

static uint64_t mix_decoded(uint64_t h, const Tokenizer *t, const int *ids, size_t n) {
    size_t len;
    char *text = decode(t, ids, n, &len);
    for (size_t i = 0; i < len; i++) h = mix(h, (unsigned char)text[i]);
    free(text);
    return h;
}

static const uint64_t END = 0xffffffff; /* of a list */

static uint64_t hash_literals(const Tokenizer *t, const char *model, int flags, uint64_t *decoded) {
    uint64_t h = HASH_START;
    for (size_t i = 0; bpe_literals[i].s; i++) {
        size_t n, len = bpe_literals[i].n;
        if (strstr(model, "phi-3") && strstr(bpe_literals[i].s, "</s>")) continue; /* a token of its own there */
        int *ids = encode(t, bpe_literals[i].s, len, flags, &n);
        h = mix(mix_ids(h, ids, n), END);
        if (decoded) *decoded = mix(mix_decoded(*decoded, t, ids, n), END);
        free(ids);
    }
    return h;
}

static uint64_t hash_random(const Tokenizer *t, uint64_t *decoded) {
    uint64_t h = HASH_START, state = 1;
    for (int i = 0; i < BPE_RANDOM; i++) {
        char s[RANDOM_TEXT_MAX];
        size_t n, len = random_text(&state, s);
        int *ids = encode(t, s, len, ENCODE_BARE, &n);
        h = mix(mix_ids(h, ids, n), END);
        *decoded = mix(mix_decoded(*decoded, t, ids, n), END);
        free(ids);
    }
    return h;
}

static void same(const char *model, const char *what, uint64_t got, uint64_t want) {
    CHECK(got == want);
    if (got != want) printf("    %s: %s\n", model, what);
}

static void strings(void) {
    for (size_t g = 0; bpe_golden[g].model; g++) {
        const char *model = bpe_golden[g].model;
        Tokenizer *t = open_model(model);
        if (!t) continue;
        uint64_t decoded = HASH_START;
        int spm = strstr(model, "llama-spm") || strstr(model, "phi-3"); /* their reference knows no special tokens */
        same(model, "literals", hash_literals(t, model, ENCODE_BARE, &decoded), bpe_golden[g].literals);
        if (!spm) same(model, "special", hash_literals(t, model, ENCODE_SPECIAL, NULL), bpe_golden[g].special);
        if (!spm) same(model, "added", hash_literals(t, model, ENCODE_ADDED, NULL), bpe_golden[g].added);
        same(model, "random strings", hash_random(t, &decoded), bpe_golden[g].random);
        same(model, "decoded", decoded, bpe_golden[g].decoded);
        tokenizer_free(t);
    }
}

static void texts(void) {
    for (size_t g = 0; bpe_golden[g].model; g++) {
        Tokenizer *t = open_model(bpe_golden[g].model);
        double bytes = 0, seconds = 0;
        for (size_t i = 0; t && bpe_texts[i] && !(test_sanitized && i > 0); i++) {
            const char *path = test_data(bpe_texts[i]);
            MappedFile f;
            if (!path || file_map(&f, path, err, sizeof err)) break;
            clock_t start = clock();
            size_t n;
            int *ids = encode(t, (const char *)f.data, f.size, ENCODE_BARE, &n);
            seconds += (double)(clock() - start) / CLOCKS_PER_SEC;
            bytes += (double)f.size;
            same(bpe_golden[g].model, bpe_texts[i], mix_ids(HASH_START, ids, n), bpe_golden[g].texts[i][0]);
            same(bpe_golden[g].model, "decoded", mix_decoded(HASH_START, t, ids, n), bpe_golden[g].texts[i][1]);
            free(ids);
            file_unmap(&f);
        }
        if (bytes > 0) printf("    %s: %.1f MB/s\n", bpe_golden[g].model, bytes / seconds / 1e6);
        tokenizer_free(t);
    }
}

/* ---- vectors of others ---- */

/* Texts in .inp between lines "__ggml_vocab_test__", ids in .out, a line each; written by llama.cpp. */
static void llama_cpp(const char *model, const char *vectors, int back) {
    static const char border[] = "\n__ggml_vocab_test__\n";
    char name[100];
    MappedFile in, out;
    Tokenizer *t = open_model(model);
    snprintf(name, sizeof name, "gguf-vocab/ggml-vocab-%s.gguf.inp", vectors);
    const char *inp = test_data(name);
    memcpy(strrchr(name, '.'), ".out", 4);
    const char *ids_path = test_data(name);
    if (!t || !inp || !ids_path || file_map(&in, inp, err, sizeof err)) return;
    if (file_map(&out, ids_path, err, sizeof err)) return;
    char *texts = calloc(1, in.size + sizeof border), *lines = calloc(1, out.size + 1), *line = lines;
    memcpy(texts, in.data, in.size);
    memcpy(lines, out.data, out.size);
    int count = 0, bad = 0;
    for (char *text = texts, *end; (end = strstr(text, border)); text = end + sizeof border - 1, count++) {
        size_t n, len, k = 0;
        int *ids = encode(t, text, (size_t)(end - text), ENCODE_BARE, &n), ok = 1;
        for (; *line && *line != '\n'; k++) ok &= k < n && strtol(line, &line, 10) == ids[k < n ? k : 0];
        line += *line == '\n';
        char *decoded = decode(t, ids, n, &len);
        if (back) ok &= len == (size_t)(end - text) && memcmp(decoded, text, len) == 0;
        if (!ok || k != n) printf("    %s, text %d: \"%.*s\"\n", vectors, count, (int)(end - text), text);
        bad += !ok || k != n;
        free(decoded);
        free(ids);
    }
    CHECK(count >= 46 && bad == 0);
    free(texts);
    free(lines);
    file_unmap(&in);
    file_unmap(&out);
    tokenizer_free(t);
}

static void vectors_llama_cpp(void) {
    llama_cpp("tok/llama3.2", "llama-bpe", 1);
    llama_cpp("tok/qwen.tiktoken", "qwen2", 1);
    llama_cpp("tok/gpt2", "gpt-2", 1);
    llama_cpp("gguf-vocab/ggml-vocab-gpt-2.gguf", "gpt-2", 1);
    llama_cpp("gguf-vocab/ggml-vocab-falcon.gguf", "falcon", 1);
    llama_cpp("gguf-vocab/ggml-vocab-bert-bge.gguf", "bert-bge", 0);
    llama_cpp("tok/bert_base_uncased_vocab.txt", "bert-bge", 0);
    llama_cpp("tok/hf-json/llama2", "llama-spm", 1);
}

/* {"text", "token_ids", "decoded_text"} of swift-transformers. */
static void vector(const char *model, const char *name) {
    Tokenizer *t = open_model(model);
    const char *path = test_data(name);
    Json j;
    if (!t || !path || json_open(&j, path, err, sizeof err)) return;
    const JsonValue *text = json_get(j.root, "text"), *want = json_get(j.root, "token_ids");
    size_t n, k = 0;
    int *ids = encode(t, text->str, text->len, ENCODE_ADDED, &n), ok = n == want->len;
    for (const JsonValue *v = want->child; v && ok; v = v->next) ok = ids[k++] == (int)v->number;
    CHECK(ok && n > 100);
    if (!ok) printf("    %s\n", name);
    free(ids);
    json_free(&j);
    tokenizer_free(t);
}

static void vectors_swift(void) {
    vector("tok/gpt2", "tok/vectors/gpt2_encoded_tokens.json");
    vector("tok/llama3.2", "tok/vectors/llama_3.2_encoded.json");
    vector("tok/hf-json/llama2", "tok/vectors/llama_encoded.json");
    vector("tok/bert_base_uncased_vocab.txt", "tok/vectors/bert_uncased_encoded.json");
}

/* ---- there and back ---- */

static void comes_back(const Tokenizer *t, const char *s, size_t len, const char *want, size_t n_want) {
    size_t n, n_back;
    int *ids = encode(t, s, len, ENCODE_BARE, &n);
    char *back = decode(t, ids, n, &n_back);
    int ok = n_back == n_want && memcmp(back, want, n_want) == 0;
    CHECK(ok);
    if (!ok) printf("    \"%.*s\" came back as \"%.*s\"\n", (int)len, s, (int)n_back, back);
    free(back);
    free(ids);
}

static void there_and_back(void) {
    /* Falcon has no pieces for some bytes */
    static const char *const models[] = {"tok/gpt2", "tok/llama3.2", "tok/hf-json/phi-2"};
    static const struct { const char *bytes, *text; } bad[] = { /* a maximal bad sequence each is one U+FFFD */
        {"\x80", "?"}, {"a\x80\x80z", "a??z"}, {"\xe2\x96", "?"}, {"\xe2\x96\x41", "?A"}, {"\xed\xa0\x80", "???"},
        {"\xc0\x80", "??"}, {"\xf4\x90\x80\x80", "????"}, {"\xf0\x9f\xa6", "?"}, {"\xf0\x9f\xa6 \xf0\x9f", "? ?"},
        {"\xff\xfe ok", "?? ok"}, {"\xe4\xb8\xe4\xb8\xad", "?\xe4\xb8\xad"}};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        Tokenizer *t = open_model(models[m]);
        uint64_t state = 1;
        if (!t) return;
        for (int i = 0; i < 1000; i++) {
            char s[RANDOM_TEXT_MAX];
            size_t len = random_text(&state, s);
            comes_back(t, s, len, s, len);
        }
        for (unsigned c = 0; c < 0x110000; c += c < 0x3000 ? 1 : 97) {
            char s[4];
            size_t len = c >= 0xd800 && c < 0xe000 ? 0 : (size_t)utf8_encode(c, s);
            comes_back(t, s, len, s, len);
        }
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            char want[40];
            size_t n = 0;
            for (const char *p = bad[i].text; *p; p++) {
                memcpy(want + n, *p == '?' ? "\xef\xbf\xbd" : p, *p == '?' ? 3 : 1);
                n += *p == '?' ? 3 : 1;
            }
            comes_back(t, bad[i].bytes, strlen(bad[i].bytes), want, n);
        }
        tokenizer_free(t);
    }
}

/* Ids in any order: half characters, ids that are none. What they decode to. */
static void any_ids(void) {
    Tokenizer *t = open_model("tok/gpt2");
    static const struct { int ids[4]; size_t n; const char *text; } some[] = {
        {{162}, 1, "\xef\xbf\xbd"}, {{162, 162}, 2, "\xef\xbf\xbd\xef\xbf\xbd"}, {{64, 162, 64}, 3,
            "a\xef\xbf\xbd" "a"}, {{162, 116, 253}, 3, "\xe6\xb8\x9f"},
        {{-1, 64, 60000}, 3, "a"}, {{162, 116, 50256}, 3, "\xef\xbf\xbd"}};
    for (size_t i = 0; t && i < sizeof some / sizeof *some; i++) {
        size_t len;
        char *text = decode(t, some[i].ids, some[i].n, &len);
        int ok = len == strlen(some[i].text) && memcmp(text, some[i].text, len) == 0;
        CHECK(ok);
        if (!ok) printf("    row %zu: \"%.*s\"\n", i, (int)len, text);
        free(text);
    }
    tokenizer_free(t);
}

/* ---- vocabularies that are known, in files that say nothing else ---- */

/* The byte that each character of a piece stands for, GPT-2's way. */
static size_t bytes_of(const char *piece, size_t len, char *out) {
    size_t n = 0, used;
    for (size_t i = 0; i < len; i += used) {
        uint32_t cp = 0;
        used = (size_t)utf8_decode(piece + i, len - i, &cp);
        out[n++] = (char)char_byte(cp);
    }
    return n;
}

/* The first n pieces of t as a file of ranks, but swapped: the two at that id and behind it changed. `more` follows. */
static const char *rank_file(const Tokenizer *t, size_t n, size_t swapped, const char *more) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *path = test_tmp("known.tiktoken");
    FILE *f = fopen(path, "wb");
    for (size_t i = 0; f && i < n; i++) {
        unsigned char b[600] = {0};
        size_t len, id = !swapped ? i : i == swapped ? i + 1 : i == swapped + 1 ? i - 1 : i;
        const char *piece = tokenizer_piece(t, (int)id, &len);
        len = bytes_of(piece, len, (char *)b);
        for (size_t k = 0; k < len; k += 3)
            fprintf(f, "%c%c%c%c", digits[b[k] >> 2], digits[(b[k] & 3) << 4 | b[k + 1] >> 4],
                    k + 1 < len ? digits[(b[k + 1] & 15) << 2 | b[k + 2] >> 6] : '=',
                    k + 2 < len ? digits[b[k + 2] & 63] : '=');
        fprintf(f, " %zu\n", i);
        memset(b, 0, sizeof b);
    }
    if (f) fputs(more, f), fclose(f);
    return path;
}

/* Of Llama 3's 128,000 pieces the first 100,256 are cl100k_base, whose special tokens have the ids that tiktoken gives
 * them; Qwen's, trained on, have no room where its published special tokens are. */
static void known(void) {
    static const struct {
        const char *model;
        size_t n, swapped;
        const char *more, *text; /* more: lines behind, of the bytes 0 to 5, or 6 */
        int ids[6];
        size_t n_ids, size;
    } rows[] = {
        {"tok/llama3.2", 100256, 0, "", "<|endoftext|><|fim_prefix|><|fim_suffix|><|endofprompt|><|im_end|>",
         {100257, 100258, 100260, 100276}, 4, 100277},
        {"tok/llama3.2", 100256, 0, "AAECAwQF 100257\n", "<|fim_prefix|><|endofprompt|>", {100258, 100276}, 2, 100277},
        {"tok/qwen.tiktoken", 151643, 0, "", "<|endoftext|><|im_start|><|im_end|><|extra_0|><|extra_204|>",
         {151643, 151644, 151645, 151646, 151850}, 5, 151851},
        {"tok/qwen.tiktoken", 151643, 0, "AAECAwQF 151643\nAAECAwQFBg== 151644\n", "a", {64}, 1, 151645},
        {"tok/qwen.tiktoken", 151643, 5000, "", NULL, {0}, 0, 0},
        {"tok/llama3.2", 100256, 5000, "", NULL, {0}, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Tokenizer *t = open_model(rows[i].model), *u;
        if (!t) return;
        const char *path = rank_file(t, rows[i].n, rows[i].swapped, rows[i].more);
        int rc = tokenizer_open(&u, path, err, sizeof err);
        tokenizer_free(t);
        CHECK(rows[i].text ? rc == 0 : rc < 0 && strstr(err, "known.tiktoken: nothing says how its text is cut"));
        if (rc) continue;
        size_t n, len = strlen(rows[i].text);
        int *ids = encode(u, rows[i].text, len, ENCODE_SPECIAL, &n), same_ids = n >= rows[i].n_ids;
        for (size_t k = 0; same_ids && k < rows[i].n_ids; k++) same_ids = ids[k] == rows[i].ids[k];
        CHECK(same_ids && tokenizer_size(u) == rows[i].size);
        if (!same_ids) printf("    row %zu: %zu ids, %d ..\n", i, n, n ? ids[0] : -1);
        free(ids);
        tokenizer_free(u);
    }
}

/* A known vocabulary's tokens are special whatever the folder says, and its BOS and EOS those that the folder names. */
static void known_beside(void) {
    const char *from[] = {test_data("tok/gpt2/encoder.json"), test_data("tok/gpt2/vocab.bpe")};
    static const char *const to[] = {"vocab.json", "merges.txt"};
    const char *folder = test_folder("known-gpt2");
    Tokenizer *t;
    for (int i = 0; i < 2; i++) {
        size_t n;
        char *data = from[i] ? file_read(from[i], &n) : NULL;
        if (!data) return;
        file_write(test_in(folder, to[i]), data, n);
        free(data);
    }
    static const char config[] = "{\"bos_token\":\"!\",\"eos_token\":\"\\\"\","
                                 "\"add_bos_token\":true,\"add_eos_token\":true}";
    file_write(test_in(folder, "tokenizer_config.json"), config, sizeof config - 1);
    CHECK(tokenizer_open(&t, folder, err, sizeof err) == 0 && tokenizer_bos(t) == 0 && tokenizer_eos(t) == 1);
    if (!t) return;
    size_t n;
    int *ids = encode(t, "<|endoftext|>", 13, ENCODE_ADDED | ENCODE_SPECIAL, &n);
    CHECK(n == 3 && ids[0] == 0 && ids[1] == 50256 && ids[2] == 1);
    free(ids);
    tokenizer_free(t);
}

/* ---- a megabyte of what is hard: none may take quadratic time (which would be minutes) ---- */

static void hostile(void) {
    enum { N = 1 << 20 };
    static const char *const models[] = {"tok/gpt2", "tok/llama3.2", "tok/qwen.tiktoken", "tok/hf-json/llama2",
                                         "tok/bert_base_uncased_vocab.txt",
                                         "gguf-vocab/ggml-vocab-falcon.gguf"};
    static const char *const units[] = {"a", " ", "ab", "aA1.", "\n", "7", "\xe4\xb8\xad", "\xcc\x81", "\xff", "the",
                                        "</s", "<|endoftext|>", "\xf0\x9f\xa6\x99"};
    char *s = malloc(N + 16);
    for (size_t m = 0; s && m < sizeof models / sizeof *models; m++) {
        Tokenizer *t = open_model(models[m]);
        if (!t) break;
        double worst = 0;
        size_t slow = 0;
        for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
            size_t len = strlen(units[u]), n = 0, n_ids;
            for (; n + len <= (test_sanitized ? N / 16 : N); n += len) memcpy(s + n, units[u], len);
            clock_t start = clock();
            int *ids = encode(t, s, n, u & 1 ? ENCODE_SPECIAL : ENCODE_BARE, &n_ids);
            double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
            /* BERT drops accents and what is no character */
            CHECK(n_ids <= 3 * n && (n_ids > 0 || strstr(models[m], "bert")));
            if (seconds > worst) worst = seconds, slow = u;
            free(ids);
        }
        printf("    %s: slowest of all 1 MB of \"%s\", %.1f MB/s\n", models[m], slow == 8 ? "\\xff" : units[slow],
               N / 1e6 / (worst + 1e-9));
        tokenizer_free(t);
    }
    free(s);
}

const Test tests_bpe[] = {
    {"bpe/strings", strings},
    {"bpe/texts", texts},
    {"bpe/llama.cpp", vectors_llama_cpp},
    {"bpe/swift-transformers", vectors_swift},
    {"bpe/there and back", there_and_back},
    {"bpe/any ids", any_ids},
    {"bpe/known", known},
    {"bpe/known beside", known_beside},
    {"bpe/hostile", hostile},
    {0}
};
