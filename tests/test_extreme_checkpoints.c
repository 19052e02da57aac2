/* tests/test_extreme_checkpoints.c - the other end of test_hostile*.c: SentencePiece models, TensorFlow's indexes and
 * PyTorch's pickles that are valid and as extreme as they may be. A checkpoint must convert to the very bytes that the
 * plain one of the same model converts to; that file, or the tokenizer, is then run. */
#include "convert_files.h"
#include "hostile_files.h"
#include "program.h"
#include "test.h"
#include "weights-tools/checkpoint/checksum.h"
#include "weights-tools/checkpoint/open.h"
#include "weights-tools/checkpoint/table.h"

#include <stdlib.h>
#include <string.h>

static void varint(Buffer *b, uint64_t v) {
    for (; v > 127; v >>= 7) buffer_fill(b, (int)(v & 127) | 128, 1);
    buffer_fill(b, (int)v, 1);
}

/* Field `number` of a message: bytes. */
static void field(Buffer *b, int number, const void *data, size_t n) {
    varint(b, (uint64_t)number << 3 | 2);
    varint(b, n);
    buffer_bytes(b, data, n);
}

static void field_varint(Buffer *b, int number, uint64_t v) {
    varint(b, (uint64_t)number << 3);
    varint(b, v);
}

/* n letters, and as many digits of i as it takes to be another one each time. */
static char *long_name(const char *begin, size_t i, size_t n) {
    char *s = malloc(n + 60);
    int head = snprintf(s, 60, "%s%06zu", begin, i);
    for (size_t k = (size_t)head; k < n; k++) s[k] = 'x';
    s[n > (size_t)head ? n : (size_t)head] = 0;
    return s;
}

/* ---- SentencePiece ---- */

static void piece(Buffer *b, const char *text, size_t n, float score, int kind) {
    Buffer m = {0};
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    field(&m, 1, text, n);
    varint(&m, 2 << 3 | 5), buffer_u32(&m, bits);
    if (kind != 1) field_varint(&m, 3, (uint64_t)kind);
    field(b, 1, m.data, m.n);
    free(m.data);
}

typedef struct {
    const char *name;
    int type;                  /* 1 unigram, 2 BPE, 3 words, 4 characters */
    size_t pieces, length;     /* beside <unk>: so many of so many letters .. */
    int joins;                 /* .. or a, aa, aaaa .. */
    float score;               /* of the first; each next is one less */
    int kind, bytes;           /* of them; 256 byte pieces, too */
    size_t unknown_fields;     /* bytes of a field that nobody knows */
} Spm;

static void put_spm(const char *path, const Spm *x) {
    Buffer b = {0}, m = {0};
    piece(&b, "<unk>", 5, 0, 2);
    for (int i = 0; x->bytes && i < 256; i++) {
        char byte[8];
        snprintf(byte, sizeof byte, "<0x%02X>", (unsigned)i);
        piece(&b, byte, 6, 0, 6);
    }
    for (size_t i = 0; i < x->pieces; i++) {
        char *s = long_name("", i, x->joins ? (size_t)1 << i : x->length);
        if (x->joins) memset(s, 'a', (size_t)1 << i);
        piece(&b, s, x->joins ? (size_t)1 << i : strlen(s), x->score - (float)i, x->kind ? x->kind : 1);
        free(s);
    }
    if (x->unknown_fields) {
        char *s = long_name("", 0, x->unknown_fields);
        field(&b, 999, s, x->unknown_fields);
        free(s);
    }
    field_varint(&m, 3, (uint64_t)x->type);
    if (x->bytes) field_varint(&m, 35, 1);
    field_varint(&m, 41, UINT64_MAX), field_varint(&m, 42, UINT64_MAX), field_varint(&m, 43, UINT64_MAX);
    field(&b, 2, m.data, m.n);
    m.n = 0;
    field_varint(&m, 3, 0);
    field(&b, 3, m.data, m.n);
    file_write(path, b.data, b.n);
    free(b.data), free(m.data);
}

static void sentencepiece(void) {
    enum { LONG = 100000 };
    static const Spm all[] = {
        {.name = "a vocabulary of one, BPE", .type = 2},
        {.name = "a vocabulary of one, unigram", .type = 1},
        {.name = "a vocabulary of one, words", .type = 3},
        {.name = "a vocabulary of one, characters", .type = 4},
        {.name = "pieces that all join, BPE", .type = 2, .pieces = 12, .joins = 1},
        {.name = "pieces that all join, unigram", .type = 1, .pieces = 11, .joins = 1, .bytes = 1, .score = -20},
        {.name = "100000 pieces", .type = 1, .pieces = 100000, .length = 6},
        {.name = "pieces of 32768 letters, BPE", .type = 2, .pieces = 20, .length = 32768, .bytes = 1},
        {.name = "pieces of 1024 letters, unigram", .type = 1, .pieces = 20, .length = 1024},
        {.name = "2000 symbols of users", .type = 2, .pieces = 2000, .length = 200, .kind = 4, .bytes = 1},
        {.name = "large scores", .type = 1, .pieces = 11, .joins = 1, .score = 3e38f},
        {.name = "small scores", .type = 2, .pieces = 12, .joins = 1, .score = -3e38f},
        {.name = "a megabyte that nobody knows", .type = 1, .pieces = 11, .joins = 1, .score = -20,
         .unknown_fields = 1 << 20},
    };
    static const BuildShape shape = {.d = 8, .ff = 12, .layers = 1, .heads = 2, .kv_heads = 1, .n_ctx = 16};
    char *letters = malloc(LONG), *text = strdup(test_tmp("extreme.txt")), *folder = strdup(test_folder("extreme-spm"));
    char *path = strdup(test_in(folder, "tokenizer.model"));
    memset(letters, 'a', LONG);
    file_write(text, letters, LONG);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        build_hf(folder, &shape, TENSOR_F32, 1);
        put_spm(path, &all[i]);
        int bad = run_behind("ulimit -t 20;", "tokenize %s -f %s", path, text) != 0 || !*out;
        if (all[i].joins && all[i].score < 1e38f) bad += strlen(out) > 2000; /* 100000 / 1024 ids and some */
        if (all[i].pieces < 40)
            bad += run_behind("ulimit -t 20;", "generate %s -i aa -t 0 --max-tokens 5", folder) != 0;
        if (bad) printf("    %s: %s", all[i].name, said), test_fail(__FILE__, __LINE__, all[i].name);
    }
    free(letters), free(text), free(folder), free(path);
}

/* ---- one model, and what it is beside an extreme checkpoint ---- */

/* path, converted, is the file that the plain checkpoint gives; and it runs. */
static int same_model(const char *path) {
    const char *folder = convert_folder("extreme");
    char *plain = strdup(test_in(folder, "plain.gguf")), *made = strdup(test_in(folder, "made.gguf"));
    int good = tool("", "convert", CONVERT_GOLDEN "v1.safetensors %s -q " CONVERT_V1, plain) == 0 &&
               run_behind("ulimit -t 20;", "inspect %s", path) == 0 &&
               tool("ulimit -t 20;", "convert", "%s %s -q " CONVERT_V1, path, made) == 0 && files_equal(plain, made) &&
               run("logits %s --ids 2,6,4,9,3", made) == 0;
    free(plain), free(made);
    return good;
}

/* ---- TensorFlow's index ---- */

typedef struct {
    const char *name;
    size_t more, length;   /* variables that no model has, of names so long .. */
    int dims, empty;       /* .. of so many dimensions, all 1, or (empty) the last 0 */
    size_t block, restart; /* entries of a block; of a restart */
    uint64_t shards;       /* announced; the first three have bytes */
} Index;

typedef struct {
    Buffer file, index, block, restarts;
    char last[TABLE_MAX_KEY + 1];
    size_t in_block, n_restarts;
    const Index *x;
} TableWriter;

static uint32_t masked(const void *data, size_t n) {
    static Crc crc;
    if (!crc.table[0][1]) crc_init(&crc, CRC32C_TF);
    uint32_t c = crc_of(&crc, data, n);
    return (c >> 15 | c << 17) + 0xa282ead8u;
}

/* Append a block with its type and checksum; its handle to *handle. */
static void put_block(Buffer *f, const Buffer *block, Buffer *handle) {
    size_t at = f->n;
    varint(handle, at), varint(handle, block->n);
    buffer_bytes(f, block->data, block->n);
    buffer_fill(f, 0, 1);
    buffer_u32(f, masked(f->data + at, block->n + 1));
}

static void entry(Buffer *b, const char *key, size_t shared, const Buffer *value) {
    varint(b, shared), varint(b, strlen(key) - shared), varint(b, value->n);
    buffer_bytes(b, key + shared, strlen(key) - shared);
    buffer_bytes(b, value->data, value->n);
}

static void end_block(TableWriter *t) {
    Buffer handle = {0};
    if (t->in_block == 0) return;
    buffer_bytes(&t->block, t->restarts.data, t->restarts.n);
    buffer_u32(&t->block, (uint32_t)t->n_restarts);
    put_block(&t->file, &t->block, &handle);
    entry(&t->index, t->last, 0, &handle);
    free(handle.data);
    t->block.n = t->restarts.n = t->in_block = t->n_restarts = 0;
}

static void put_entry(TableWriter *t, const char *key, const Buffer *value) {
    size_t shared = 0;
    if (t->in_block == t->x->block) end_block(t);
    if (t->in_block % t->x->restart == 0) buffer_u32(&t->restarts, (uint32_t)t->block.n), t->n_restarts++;
    else while (key[shared] && key[shared] == t->last[shared]) shared++;
    entry(&t->block, key, shared, value);
    snprintf(t->last, sizeof t->last, "%s", key);
    t->in_block++;
}

static void end_table(TableWriter *t, const char *path) {
    Buffer handle = {0};
    end_block(t);
    buffer_u32(&t->index, 0), buffer_u32(&t->index, 1);
    buffer_bytes(&handle, "\0\0", 2); /* the metaindex, which is not read */
    put_block(&t->file, &t->index, &handle);
    buffer_bytes(&t->file, handle.data, handle.n);
    buffer_fill(&t->file, 0, 40 - handle.n);
    buffer_bytes(&t->file, "\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
    file_write(path, t->file.data, t->file.n);
    free(handle.data), free(t->file.data), free(t->index.data), free(t->block.data), free(t->restarts.data);
}

/* A float variable behind what its shard has. */
static void variable(TableWriter *t, Buffer *shard, size_t number, const char *key, const size_t *shape, int n_dims,
                     const void *data, size_t n) {
    Buffer value = {0}, dims = {0};
    for (int i = 0; i < n_dims; i++) {
        Buffer dim = {0};
        field_varint(&dim, 1, shape[i]);
        field(&dims, 2, dim.data, dim.n);
        free(dim.data);
    }
    field_varint(&value, 1, 1);
    field(&value, 2, dims.data, dims.n);
    field_varint(&value, 3, number), field_varint(&value, 4, shard->n), field_varint(&value, 5, n);
    varint(&value, 6 << 3 | 5), buffer_u32(&value, masked(data, n));
    put_entry(t, key, &value);
    buffer_bytes(shard, data, n);
    free(value.data), free(dims.data);
}

/* The variables of v1, then those that no model has. */
static char *put_index(const Index *x) {
    static const size_t ones[] = {1, 1, 1, 1, 1, 1, 1, 1}, none[] = {1, 1, 1, 1, 1, 1, 1, 0};
    const char *folder = convert_folder("extreme-tf");
    Checkpoint c;
    char err[300], name[60], *path = strdup(test_in(folder, "m.ckpt.index"));
    TableWriter t = {.x = x};
    Buffer header = {0}, shards[3] = {{0}};
    field_varint(&header, 1, x->shards), field(&header, 3, "\x08\x01", 2);
    put_entry(&t, "", &header);
    CHECK(checkpoint_open(&c, CONVERT_GOLDEN "v1.raw.ckpt.index", err, sizeof err) == 0);
    for (size_t i = 0; i < c.n_views; i++) {
        const View *v = &c.views[i];
        size_t k = x->shards < 3 ? 0 : i % 3;
        if (v->type != ELEM_F32) continue; /* the step of the training */
        float *data = malloc(v->values * sizeof *data);
        view_read(v, 0, v->values, ELEM_F32, (uint8_t *)data);
        variable(&t, &shards[k], k, v->name, v->shape, v->n_dims, data, v->values * sizeof *data);
        free(data);
    }
    checkpoint_close(&c);
    for (size_t i = 0; i < x->more; i++) {
        char *key = long_name("zz/", i, x->length);
        variable(&t, &shards[0], 0, key, x->empty ? none + 8 - x->dims : ones, x->dims, "\0\0\0\0", x->empty ? 0 : 4);
        free(key);
    }
    end_table(&t, path);
    for (unsigned i = 0; i < 3 && i < x->shards; i++) {
        snprintf(name, sizeof name, "m.ckpt.data-%05u-of-%05u", i, (unsigned)x->shards);
        file_write(test_in(folder, name), shards[i].data, shards[i].n);
    }
    for (int i = 0; i < 3; i++) free(shards[i].data);
    free(header.data);
    return path;
}

static void tf_index(void) {
    static const Index all[] = {
        {.name = "names of 1024 letters", .more = 40, .length = TABLE_MAX_KEY, .block = 1000, .restart = 1000},
        {.name = "20000 variables", .more = 20000, .block = 100, .restart = 16},
        {.name = "20000 in one block", .more = 20000, .block = 100000, .restart = 100000},
        {.name = "every entry a block", .more = 300, .block = 1, .restart = 1},
        {.name = "every key a restart", .more = 300, .block = 100000, .restart = 1},
        {.name = "eight dimensions", .more = 10, .dims = 8, .block = 16, .restart = 16},
        {.name = "no values", .more = 10, .dims = 8, .empty = 1, .block = 16, .restart = 16},
        {.name = "4096 files", .block = 16, .restart = 16, .shards = 4096},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        Index x = all[i];
        if (!x.shards) x.shards = 1;
        char *path = put_index(&x);
        if (!same_model(path)) printf("    %s: %s", x.name, said), test_fail(__FILE__, __LINE__, x.name);
        free(path);
    }
}

/* ---- PyTorch's pickle ---- */

typedef struct {
    const char *name;
    size_t more, length; /* tensors of integers that no model has, of names so long, windows on one storage .. */
    int dims, empty;     /* .. of so many dimensions, all 1, or the last 0 */
    int transposed;      /* matrices are windows on their transposes */
    int memo;            /* everything is remembered */
    int protocol;
} Dict;

static void text(Buffer *b, const char *s, const Dict *x) {
    size_t n = strlen(s);
    if (x->protocol >= 4 && n < 256) buffer_fill(b, 0x8c, 1), buffer_fill(b, (int)n, 1);
    else if (x->protocol >= 4) buffer_fill(b, 0x8d, 1), buffer_u64(b, n);
    else buffer_fill(b, 'X', 1), buffer_u32(b, (uint32_t)n);
    buffer_bytes(b, s, n);
    if (x->memo && x->protocol >= 4) buffer_fill(b, 0x94, 1);
    else if (x->memo) buffer_fill(b, 'r', 1), buffer_u32(b, (uint32_t)b->n);
}

static void integer(Buffer *b, size_t v) { buffer_fill(b, 'J', 1), buffer_u32(b, (uint32_t)v); }

static void words(Buffer *b, const char *s) { buffer_bytes(b, s, strlen(s)); }

static void integers(Buffer *b, const size_t *v, int n) {
    words(b, "(");
    for (int i = 0; i < n; i++) integer(b, v[i]);
    words(b, "t");
}

static void tensor(Buffer *b, const Dict *x, const char *name, const char *class, const char *key, size_t numel,
                   const size_t *shape, const size_t *stride, int n_dims) {
    text(b, name, x);
    words(b, "ctorch._utils\n_rebuild_tensor_v2\n((");
    text(b, "storage", x), words(b, "ctorch\n"), words(b, class), words(b, "\n"), text(b, key, x), text(b, "cpu", x);
    integer(b, numel), words(b, "tQ"), integer(b, 0);
    integers(b, shape, n_dims), integers(b, stride, n_dims);
    words(b, "\x89" "ccollections\nOrderedDict\n)RtR");
}

enum { MOST = 100 };

/* A tensor of v1, its values as a storage of their own. */
static void put_view(Buffer *b, const Dict *x, const View *v, Entry *e, char names[][40], size_t i) {
    uint8_t *data = malloc(v->values * 4), *turned = malloc(v->values * 4);
    size_t stride[8] = {0}, step = 1, rows = v->n_dims == 2 ? v->shape[0] : 1, cols = v->values / rows;
    int turns = x->transposed && v->n_dims == 2;
    view_read(v, 0, v->values, ELEM_F32, data);
    for (int k = v->n_dims; k-- > 0; step *= v->shape[k]) stride[k] = step;
    if (turns) stride[0] = 1, stride[1] = rows;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++)
            memcpy(turned + 4 * (turns ? c * rows + r : r * cols + c), data + 4 * (r * cols + c), 4);
    snprintf(names[i], 40, "m/data/%zu", i);
    e[i] = (Entry){.name = names[i], .data = turned, .n = v->values * 4};
    tensor(b, x, v->name, "FloatStorage", names[i] + 7, v->values, v->shape, stride, v->n_dims);
    free(data);
}

static char *put_dict(const Dict *x) {
    static const size_t ones[] = {1, 1, 1, 1, 1, 1, 1, 1}, none[] = {1, 1, 1, 1, 1, 1, 1, 0};
    static char names[MOST][40];
    Checkpoint c;
    Entry e[MOST + 2] = {{0}};
    Buffer b = {0};
    char err[300], *path = strdup(test_in(convert_folder("extreme-torch"), "m.bin"));
    buffer_fill(&b, 0x80, 1), buffer_fill(&b, x->protocol ? x->protocol : 2, 1);
    words(&b, "}(");
    CHECK(checkpoint_open(&c, CONVERT_GOLDEN "v1.safetensors", err, sizeof err) == 0 && c.n_views < MOST);
    size_t n = c.n_views;
    for (size_t i = 0; i < n; i++) put_view(&b, x, &c.views[i], e, names, i);
    for (size_t i = 0; i < x->more; i++) {
        char *name = long_name("more.", i, x->length);
        tensor(&b, x, name, "LongStorage", "more", 1, x->empty ? none + 8 - x->dims : ones, ones, x->dims);
        free(name);
    }
    words(&b, "u.");
    e[n++] = (Entry){.name = "m/data/more", .data = "\0\0\0\0\0\0\0\0", .n = 8};
    e[n++] = (Entry){.name = "m/data.pkl", .data = b.data, .n = b.n};
    Buffer zip = zip_build(e, n, 0);
    file_write(path, zip.data, zip.n);
    for (size_t i = 0; i < c.n_views; i++) free((void *)(uintptr_t)e[i].data);
    checkpoint_close(&c);
    free(zip.data), free(b.data);
    return path;
}

static void pickle(void) {
    static const Dict all[] = {
        {.name = "20000 tensors of one storage", .more = 20000},
        {.name = "names of 30000 letters", .more = 20, .length = 30000, .protocol = 4},
        {.name = "eight dimensions", .more = 10, .dims = 8},
        {.name = "no values", .more = 10, .dims = 8, .empty = 1},
        {.name = "windows on transposes", .transposed = 1},
        {.name = "a memo of everything", .more = 5000, .memo = 1},
        {.name = "a memo of everything, protocol 5", .more = 5000, .memo = 1, .protocol = 5},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char *path = put_dict(&all[i]);
        if (!same_model(path)) printf("    %s: %s", all[i].name, said), test_fail(__FILE__, __LINE__, all[i].name);
        free(path);
    }
}

extern const Test tests_extreme_checkpoints[];
const Test tests_extreme_checkpoints[] = {
    {"extreme/SentencePiece", sentencepiece},
    {"extreme/TF index", tf_index},
    {"extreme/pickle", pickle},
    {0},
};
