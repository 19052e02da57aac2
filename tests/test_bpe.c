/* tests/test_bpe.c - byte-level BPE, tokenizer.json and GGUF's gpt2 and bert on whole vocabularies: against `tokenizers`, tiktoken and
 * SentencePiece (golden/bpe.h), llama.cpp's vectors and those of swift-transformers; there and back; hostile texts. */
#include "../base/base.h"
#include "../base/json.h"
#include "../lab/vocabulary.h"
#include "../tokenizer/tokenizer.h"
#include "golden/bpe.h"
#include "random_text.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static char err[300];

/* ---- the models ---- */

/* BERT's vocab.txt as the tokenizer.json that its authors publish beside it. */
static const char *bert_json(const char *vocab) {
    static const char head[] = "{\"normalizer\": {\"type\": \"BertNormalizer\", \"clean_text\": true, \"handle_chinese_chars\": true, "
        "\"strip_accents\": null, \"lowercase\": true}, \"pre_tokenizer\": {\"type\": \"BertPreTokenizer\"}, \"post_processor\": "
        "{\"type\": \"BertProcessing\", \"sep\": [\"[SEP]\", 102], \"cls\": [\"[CLS]\", 101]}, \"decoder\": {\"type\": \"WordPiece\", "
        "\"prefix\": \"##\", \"cleanup\": true}, \"added_tokens\": [";
    static const char *const special[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    static const int ids[] = {0, 100, 101, 102, 103};
    const char *path = test_tmp("bert.json");
    MappedFile f;
    FILE *out = fopen(path, "wb");
    if (!out || file_map(&f, vocab, err, sizeof err)) return NULL;
    fputs(head, out);
    for (int i = 0; i < 5; i++) fprintf(out, "%s{\"id\": %d, \"content\": \"%s\", \"special\": true}", i ? ", " : "", ids[i], special[i]);
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
    int rc = strstr(name, ".gguf") ? open_gguf(&t, path) : tokenizer_open(&t, strstr(name, "vocab.txt") ? bert_json(path) : path, err, sizeof err);
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

/* As a stream; malloc'ed. No call writes more than the bound, in a buffer of its own so that the sanitizer sees a byte too many. */
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

static void strings(void) {
    for (size_t g = 0; bpe_golden[g].model; g++) {
        const char *model = bpe_golden[g].model;
        Tokenizer *t = open_model(model);
        if (!t) continue;
        uint64_t decoded = HASH_START;
        int spm = strstr(model, "llama-spm") || strstr(model, "phi-3"), before = 0;
        CHECK(hash_literals(t, model, ENCODE_BARE, &decoded) == bpe_golden[g].literals || ++before == 0);
        CHECK(spm || hash_literals(t, model, ENCODE_SPECIAL, NULL) == bpe_golden[g].special || ++before == 0);
        CHECK(spm || hash_literals(t, model, ENCODE_ADDED, NULL) == bpe_golden[g].added || ++before == 0);
        CHECK(hash_random(t, &decoded) == bpe_golden[g].random || ++before == 0);
        CHECK(decoded == bpe_golden[g].decoded || ++before == 0);
        if (before) printf("    %s\n", model);
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
            int same = mix_ids(HASH_START, ids, n) == bpe_golden[g].texts[i][0], back = mix_decoded(HASH_START, t, ids, n) == bpe_golden[g].texts[i][1];
            CHECK(same);
            CHECK(back);
            if (!same || !back) printf("    %s, %s\n", bpe_golden[g].model, bpe_texts[i]);
            free(ids);
            file_unmap(&f);
        }
        if (bytes > 0) printf("    %s: %.1f MB/s\n", bpe_golden[g].model, bytes / seconds / 1e6);
        tokenizer_free(t);
    }
}

const Test tests_bpe[] = {
    {"bpe/strings", strings},
    {"bpe/texts", texts},
    {0}
};
