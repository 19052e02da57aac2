/* tests/test_extreme.c - files that are valid and as extreme as the formats allow: where chance does not lead a fuzzer.
 * Each is opened, inspected and run by ./run, within seconds of processor time. */
#include "build.h"
#include "program.h"
#include "test.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { PLAIN, ONE_PIECE, ALL_JOIN, LONG_PIECES };

/* A LLaMA as GGUF. 0: something usual. */
typedef struct {
    const char *name;
    uint32_t d, heads, kv, ff, layers, align;
    int pieces;                        /* PLAIN .. */
    uint32_t more_tensors, more_keys;  /* that nobody asks for */
    size_t name_length;                /* of these tensors */
} Extreme;

static void key(Bytes *b, const char *name, uint32_t type) { bytes_string(b, name), bytes_u32(b, type); }
static void key_u32(Bytes *b, const char *name, uint32_t v) { key(b, name, 4), bytes_u32(b, v); }
static void key_f32(Bytes *b, const char *name, float v) { key(b, name, 6), bytes_f32(b, v); }
static void key_array(Bytes *b, const char *name, uint32_t type, uint64_t n) {
    key(b, name, 9), bytes_u32(b, type), bytes_u64(b, n);
}

/* ---- vocabularies: SentencePiece's pieces, scores and types ---- */

static size_t n_pieces(const Extreme *x) {
    return x->pieces == ONE_PIECE ? 1 : 259 + (x->pieces == ALL_JOIN ? 12 : x->pieces == LONG_PIECES ? 20 : 0);
}

/* Behind <unk>, <s>, </s> and 256 bytes: a, aa, aaaa ..; or pieces of 32,768 letters. */
static void put_piece(Bytes *b, const Extreme *x, size_t i) {
    static const char *const named[] = {"<unk>", "<s>", "</s>"};
    char byte[8], *longer;
    if (i < 3) bytes_string(b, named[i]);
    else if (i < 259) snprintf(byte, sizeof byte, "<0x%02X>", (unsigned)(i - 3)), bytes_string(b, byte);
    else {
        size_t n = x->pieces == ALL_JOIN ? (size_t)1 << (i - 259) : 32768;
        longer = malloc(n + 1);
        memset(longer, 'a', n), longer[n] = 0;
        if (x->pieces == LONG_PIECES) longer[0] = (char)('a' + i - 259);
        bytes_string(b, longer);
        free(longer);
    }
}

static void put_vocabulary(Bytes *b, const Extreme *x) {
    size_t n = n_pieces(x);
    key(b, "tokenizer.ggml.model", 8), bytes_string(b, "llama");
    key_array(b, "tokenizer.ggml.tokens", 8, n);
    for (size_t i = 0; i < n; i++) put_piece(b, x, i);
    key_array(b, "tokenizer.ggml.scores", 6, n);
    for (size_t i = 0; i < n; i++) bytes_f32(b, -(float)i);
    key_array(b, "tokenizer.ggml.token_type", 5, n);
    for (size_t i = 0; i < n; i++) bytes_u32(b, i == 0 ? 2 : i < 3 ? 3 : i < 259 ? 6 : 1);
}

/* ---- tensors ---- */

typedef struct {
    Bytes *head;
    Bytes data;
    uint32_t align;
    uint64_t n;
} Tensors;

static void put_tensor(Tensors *t, const char *name, uint64_t cols, uint64_t rows) {
    bytes_pad(&t->data, t->align);
    bytes_string(t->head, name);
    bytes_u32(t->head, rows ? 2 : 1);
    bytes_u64(t->head, cols);
    if (rows) bytes_u64(t->head, rows);
    bytes_u32(t->head, TENSOR_F32);
    bytes_u64(t->head, t->data.n);
    for (uint64_t i = 0; i < cols * (rows ? rows : 1); i++)
        bytes_f32(&t->data, rows ? (float)(name_value(name, i) % 100) / 1000 : 1);
    t->n++;
}

static void put_layer(Tensors *t, const Extreme *x, uint32_t l) {
    const uint64_t kv = x->d / x->heads * x->kv;
    const struct { const char *name; uint64_t cols, rows; } parts[] = {
        {"attn_norm", x->d, 0},   {"attn_q", x->d, x->d},    {"attn_k", x->d, kv},      {"attn_v", x->d, kv},
        {"attn_output", x->d, x->d}, {"ffn_norm", x->d, 0},  {"ffn_gate", x->d, x->ff}, {"ffn_up", x->d, x->ff},
        {"ffn_down", x->ff, x->d}};
    char name[80];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(name, sizeof name, "blk.%u.%s.weight", l, parts[i].name);
        put_tensor(t, name, parts[i].cols, parts[i].rows);
    }
}

static void put_more(Tensors *t, const Extreme *x) {
    char name[200];
    for (uint32_t i = 0; i < x->more_tensors; i++) {
        int n = snprintf(name, sizeof name, "extra.%u.", i);
        while ((size_t)n < x->name_length) name[n++] = 'x';
        name[n] = 0;
        put_tensor(t, name, 1, 0);
    }
}

static char *written(const Extreme *given) {
    Extreme x = *given;
    Bytes b = {0}, head = {0};
    if (!x.d) x.d = 8;
    if (!x.heads) x.heads = 2;
    if (!x.kv) x.kv = x.heads;
    if (!x.ff) x.ff = 12;
    if (!x.layers) x.layers = 1;
    Tensors t = {.head = &head, .align = x.align ? x.align : 32};
    put_tensor(&t, "token_embd.weight", x.d, n_pieces(&x));
    put_tensor(&t, "output_norm.weight", x.d, 0);
    for (uint32_t l = 0; l < x.layers; l++) put_layer(&t, &x, l);
    put_more(&t, &x);
    bytes_pad(&t.data, t.align);
    bytes_put(&b, "GGUF", 4), bytes_u32(&b, 3), bytes_u64(&b, t.n), bytes_u64(&b, 14 + x.more_keys + (x.align > 0));
    key(&b, "general.architecture", 8), bytes_string(&b, "llama");
    if (x.align) key_u32(&b, "general.alignment", x.align);
    key_u32(&b, "llama.context_length", 64), key_u32(&b, "llama.embedding_length", x.d);
    key_u32(&b, "llama.block_count", x.layers), key_u32(&b, "llama.feed_forward_length", x.ff);
    key_u32(&b, "llama.attention.head_count", x.heads), key_u32(&b, "llama.attention.head_count_kv", x.kv);
    key_u32(&b, "llama.rope.dimension_count", x.d / x.heads);
    key_f32(&b, "llama.attention.layer_norm_rms_epsilon", 1e-5f), key_f32(&b, "llama.rope.freq_base", 10000);
    put_vocabulary(&b, &x);
    for (uint32_t i = 0; i < x.more_keys; i++) {
        char name[40];
        snprintf(name, sizeof name, "extra.%u", i);
        key_u32(&b, name, i);
    }
    bytes_put(&b, head.data, head.n);
    bytes_pad(&b, t.align);
    bytes_put(&b, t.data.data, t.data.n);
    char *path = strdup(test_tmp("extreme.gguf"));
    file_write(path, b.data, b.n);
    free(b.data), free(head.data), free(t.data.data);
    return path;
}

static void gguf(void) {
    static const Extreme all[] = {
        {.name = "alignment 1", .align = 1},
        {.name = "alignment 8", .align = 8},
        {.name = "alignment 65536", .align = 65536},
        {.name = "heads of two", .d = 256, .heads = 128},
        {.name = "one key head for 96", .d = 192, .heads = 96, .kv = 1},
        {.name = "one key head for 97", .d = 194, .heads = 97, .kv = 1},
        {.name = "one head of 1024", .d = 1024, .heads = 1},
        {.name = "one head of two", .d = 2, .heads = 1, .ff = 1},
        {.name = "odd widths", .d = 42, .heads = 7, .ff = 1},
        {.name = "300 layers", .d = 2, .heads = 1, .ff = 1, .layers = 300},
        {.name = "a vocabulary of one", .pieces = ONE_PIECE},
        {.name = "pieces that all join", .pieces = ALL_JOIN},
        {.name = "pieces of 32768 letters", .pieces = LONG_PIECES},
        {.name = "20000 tensors", .more_tensors = 20000, .align = 1},
        {.name = "names of 127 letters", .more_tensors = 2000, .name_length = 127},
        {.name = "20000 keys", .more_keys = 20000},
    };
    enum { LONG = 100000 };
    char *letters = malloc(LONG), *text = strdup(test_tmp("extreme.txt"));
    memset(letters, 'a', LONG);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char *path = written(&all[i]);
        int joins = all[i].pieces == ALL_JOIN, bad = 0;
        file_write(text, letters, joins || all[i].pieces == LONG_PIECES ? LONG : 2);
        bad += run_behind("ulimit -t 20;", "inspect %s", path) != 0;
        bad += run_behind("ulimit -t 20;", "tokenize %s -f %s", path, text) != 0;
        if (joins) bad += strlen(out) > 2000; /* 100000 / 2048 ids and some */
        bad += run_behind("ulimit -t 20;", "generate %s -i ab -t 0 --max-tokens 5 -q", path) != 0;
        bad += run_behind("ulimit -t 20;", "generate %s -i ab -t 0 --max-tokens 5 -q --kv q8_0", path) != 0;
        if (bad) printf("    %s: %s", all[i].name, said), test_fail(__FILE__, __LINE__, all[i].name);
        free(path);
    }
    free(letters), free(text);
}

/* ---- tokenizer.json ---- */

static void words(Bytes *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void words(Bytes *b, const char *fmt, ...) {
    char line[300];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    bytes_put(b, line, (size_t)n);
}

static void repeated(Bytes *b, char c, size_t n) {
    while (n--) bytes_put(b, &c, 1);
}

/* BPE of so many pieces a, aa, aaaa .., each the two before joined; letters: of one piece more. */
static void put_bpe(Bytes *b, int pieces, size_t letters) {
    words(b, "\"model\":{\"type\":\"BPE\",\"vocab\":{");
    for (int i = 0; i < pieces; i++) {
        words(b, "%s\"", i ? "," : ""), repeated(b, 'a', (size_t)1 << i), words(b, "\":%d", i);
    }
    if (letters) words(b, ",\""), repeated(b, 'b', letters), words(b, "\":%d", pieces);
    words(b, "},\"merges\":[");
    for (int i = 1; i < pieces; i++) {
        words(b, "%s\"", i > 1 ? "," : ""), repeated(b, 'a', (size_t)1 << (i - 1));
        words(b, " "), repeated(b, 'a', (size_t)1 << (i - 1)), words(b, "\"");
    }
    words(b, "]}}");
}

static void tokenizer_json(void) {
    enum { LONG = 100000 };
    static const struct { const char *name; int pieces, added, normalizers; size_t letters; } all[] = {
        {"a vocabulary of one", 1, 0, 0, 0},        {"pieces that all join", 16, 0, 0, 0},
        {"20000 added tokens", 2, 20000, 0, 0},     {"300 normalizers", 2, 0, 300, 0},
        {"a piece of a million letters", 2, 0, 0, 1000000},
    };
    char *letters = malloc(LONG), *text = strdup(test_tmp("extreme.txt"));
    memset(letters, 'a', LONG);
    file_write(text, letters, LONG);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        Bytes b = {0};
        words(&b, "{\"added_tokens\":[");
        for (int t = 0; t < all[i].added; t++)
            words(&b, "%s{\"id\":%d,\"content\":\"<%d>\",\"special\":true,\"single_word\":false,\"lstrip\":false,"
                  "\"rstrip\":false,\"normalized\":false}", t ? "," : "", all[i].pieces + t, t);
        words(&b, "],\"normalizer\":");
        words(&b, all[i].normalizers ? "{\"type\":\"Sequence\",\"normalizers\":[" : "null");
        for (int t = 0; t < all[i].normalizers; t++) words(&b, "%s{\"type\":\"NFC\"}", t ? "," : "");
        words(&b, all[i].normalizers ? "]}," : ",");
        put_bpe(&b, all[i].pieces, all[i].letters);
        const char *path = test_tmp("extreme.json");
        file_write(path, b.data, b.n);
        if (run_behind("ulimit -t 20;", "tokenize %s -f %s", path, text) != 0 || !*out)
            printf("    %s: %s", all[i].name, said), test_fail(__FILE__, __LINE__, all[i].name);
        if (all[i].pieces == 16) CHECK(strlen(out) < 2000);
        free(b.data);
    }
    free(letters), free(text);
}

/* ---- safetensors ---- */

/* As many files as tensors; and a header behind a million spaces. */
static void safetensors(void) {
    static const BuildShape shape = {.d = 8, .ff = 12, .layers = 2, .heads = 2, .kv_heads = 1, .n_ctx = 16};
    char *folder = strdup(test_folder("extreme-shards")), *file;
    build_hf(folder, &shape, TENSOR_F32, 21); /* nine tensors a layer and three */
    CHECK(run("generate %s -i ab -t 0 --max-tokens 5", folder) == 0);
    char *first = strdup(out);
    free(folder);
    folder = strdup(test_folder("extreme-spaces"));
    build_hf(folder, &shape, TENSOR_F32, 1);
    file = strdup(test_in(folder, "model.safetensors"));
    size_t n;
    char *was = file_read(file, &n);
    Bytes b = {0};
    CHECK(was != NULL);
    uint64_t header = was ? load_u64(was) : 0, spaces = 1000000;
    bytes_u64(&b, header + spaces);
    if (was) bytes_put(&b, was + 8, header), repeated(&b, ' ', spaces), bytes_put(&b, was + 8 + header, n - 8 - header);
    file_write(file, b.data, b.n);
    CHECK(run("generate %s -i ab -t 0 --max-tokens 5", folder) == 0 && strcmp(out, first) == 0);
    free(b.data), free(was), free(file), free(folder), free(first);
}

extern const Test tests_extreme[];
const Test tests_extreme[] = {
    {"extreme/GGUF", gguf},
    {"extreme/tokenizer.json", tokenizer_json},
    {"extreme/safetensors", safetensors},
    {0},
};
