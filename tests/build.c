/* tests/build.c - small random models in every format. */
#include "build.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void bytes_put(Bytes *b, const void *p, size_t n) {
    if (array_reserve(&b->data, &b->cap, b->n + n + 1, 1)) abort();
    if (n) memcpy(b->data + b->n, p, n);
    b->n += n;
}

void bytes_number(Bytes *b, uint64_t v, int n) {
    for (int i = 0; i < n; i++, v >>= 8) bytes_put(b, &(uint8_t){(uint8_t)v}, 1);
}

void bytes_u8(Bytes *b, unsigned v) { bytes_number(b, v, 1); }
void bytes_u32(Bytes *b, uint32_t v) { bytes_number(b, v, 4); }
void bytes_u64(Bytes *b, uint64_t v) { bytes_number(b, v, 8); }

void bytes_f32(Bytes *b, float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    bytes_u32(b, u);
}

void bytes_string(Bytes *b, const char *s) {
    bytes_u64(b, strlen(s));
    bytes_put(b, s, strlen(s));
}

void bytes_pad(Bytes *b, size_t multiple) {
    while (b->n % multiple) bytes_u8(b, 0);
}

static void put_text(Bytes *b, const char *fmt, ...) {
    char line[600];
    va_list ap;
    va_start(ap, fmt);
    bytes_put(b, line, (size_t)vsnprintf(line, sizeof line, fmt, ap));
    va_end(ap);
}

void file_write(const char *path, const void *data, size_t size) {
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0) {
        perror(path);
        abort();
    }
}

char *file_read(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    Bytes b = {0};
    char part[4096];
    if (!f) return NULL;
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;) bytes_put(&b, part, n);
    fclose(f);
    if (size) *size = b.n;
    bytes_u8(&b, 0);
    return (char *)b.data;
}

int files_equal(const char *a, const char *b) {
    size_t n = 0, m = 1;
    char *x = file_read(a, &n), *y = file_read(b, &m);
    int same = x && y && n == m && memcmp(x, y, n) == 0;
    free(x), free(y);
    return same;
}

int file_copy(const char *from, const char *to) {
    size_t n;
    char *bytes = file_read(from, &n);
    if (bytes) file_write(to, bytes, n);
    free(bytes);
    return bytes != NULL;
}

static void finish(Bytes *b, const char *path) {
    file_write(path, b->data, b->n);
    free(b->data);
    *b = (Bytes){0};
}

/* ---- values ---- */

static int u_at(uint64_t seed, uint64_t i) {
    uint64_t z = seed * 0x9e3779b97f4a7c15u + i * 0xd1342543de82ef95u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (int)((z >> 33) % 255) - 127;
}

uint64_t name_hash(const char *name, uint64_t i) {
    uint64_t z = 0xcbf29ce484222325u;
    for (const char *c = name; *c; c++) z = (z ^ (unsigned char)*c) * 0x100000001b3u;
    z += i + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

int name_value(const char *name, uint64_t i) { return (int)((name_hash(name, i) >> 32) % 255) - 127; }

size_t float_encode(uint8_t *out, float v, TensorType type) {
    uint32_t bits;
    memcpy(&bits, &v, 4);
    if (type == TENSOR_F16)
        bits = v == 0 ? 0 : (bits >> 16 & 0x8000) | ((bits >> 23 & 255) - 112) << 10 | (bits >> 13 & 1023);
    if (type == TENSOR_BF16) bits >>= 16;
    size_t n = type == TENSOR_F32 ? 4 : 2;
    for (size_t i = 0; i < n; i++) out[i] = (uint8_t)(bits >> 8 * i);
    return n;
}

static void put_value(Bytes *b, int u, TensorType type) {
    uint8_t bytes[4];
    bytes_put(b, bytes, float_encode(bytes, (float)u / 256, type));
}

/* n values of tensor number `seed`: matrices as they are, norms (cols == 0) as 1 + value. */
static void put_values(Bytes *b, uint64_t seed, size_t n, TensorType type) {
    for (size_t i = 0; i < n; i++) {
        if (type == TENSOR_Q8_0 && i % 32 == 0) bytes_u8(b, 0), bytes_u8(b, 0x1c);  /* 2^-8 in f16 */
        if (type == TENSOR_Q4_0 && i % 32 == 0) bytes_u8(b, 0), bytes_u8(b, 0x2c);  /* 2^-4 */
        if (type == TENSOR_Q8_0 || (type == TENSOR_Q4_0 && i % 2)) bytes_u8(b, (unsigned)u_at(seed, i) & 255);
        else if (type != TENSOR_Q4_0) put_value(b, u_at(seed, i), type);
    }
}
static void put_norm(Bytes *b, uint64_t seed, size_t n) {
    for (size_t i = 0; i < n; i++) bytes_f32(b, 1 + (float)u_at(seed, i) / 512);
}

/* ---- the tensors of a model, in one order for all formats ---- */

typedef struct {
    const char *gguf, *hf; /* %d: the layer */
    int rows, cols;        /* cols 0: a norm of `rows` entries */
    int layer;             /* -1: none */
    uint64_t seed;
} Part;

static int parts_of(const BuildShape *s, Part *out) {
    int hd = s->d / s->heads, kv = hd * s->kv_heads, n = 0;
    out[n++] = (Part){"token_embd", "model.embed_tokens", BUILD_VOCAB, s->d, -1, 1};
    for (int l = 0; l < s->layers; l++) {
        const Part layer[] = {
            {"blk.%d.attn_norm", "model.layers.%d.input_layernorm", s->d, 0, l, 2},
            {"blk.%d.attn_q", "model.layers.%d.self_attn.q_proj", s->d, s->d, l, 3},
            {"blk.%d.attn_k", "model.layers.%d.self_attn.k_proj", kv, s->d, l, 4},
            {"blk.%d.attn_v", "model.layers.%d.self_attn.v_proj", kv, s->d, l, 5},
            {"blk.%d.attn_output", "model.layers.%d.self_attn.o_proj", s->d, s->d, l, 6},
            {"blk.%d.ffn_norm", "model.layers.%d.post_attention_layernorm", s->d, 0, l, 7},
            {"blk.%d.ffn_gate", "model.layers.%d.mlp.gate_proj", s->ff, s->d, l, 8},
            {"blk.%d.ffn_down", "model.layers.%d.mlp.down_proj", s->d, s->ff, l, 9},
            {"blk.%d.ffn_up", "model.layers.%d.mlp.up_proj", s->ff, s->d, l, 10},
        };
        for (int i = 0; i < 9; i++) {
            out[n] = layer[i];
            out[n++].seed += 100 * (uint64_t)(l + 1);
        }
    }
    out[n++] = (Part){"output_norm", "model.norm", s->d, 0, -1, 11};
    return n;
}
enum { MAX_PARTS = 400 }; /* 44 layers */

static size_t count(const Part *p) { return (size_t)p->rows * (size_t)(p->cols ? p->cols : 1); }

/* ---- vocabulary ---- */

typedef struct {
    char text[16];
    float score;
    int type;
} BuildPiece;

static const BuildPiece *vocabulary(void) {
    static BuildPiece v[BUILD_VOCAB];
    static const char *const words[BUILD_VOCAB - 259] = {
        "\xe2\x96\x81t", "he", "\xe2\x96\x81" "a", "in", "\xe2\x96\x81the", "nd", "\xe2\x96\x81" "and", "on", "er",
        "re", "ed", "\xe2\x96\x81s", "\xe2\x96\x81", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m",
        "n", "o", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z", ".", ","};
    for (int i = 0; i < BUILD_VOCAB; i++) {
        static const char *const control[] = {"<unk>", "<s>", "</s>"};
        if (i < 3) snprintf(v[i].text, sizeof v[i].text, "%s", control[i]);
        else if (i < 259) snprintf(v[i].text, sizeof v[i].text, "<0x%02X>", i - 3);
        else snprintf(v[i].text, sizeof v[i].text, "%s", words[i - 259]);
        v[i].score = i < 259 ? 0 : (float)-(i - 259);
        v[i].type = i == 0 ? 2 : i < 3 ? 3 : i < 259 ? 6 : 1;
    }
    return v;
}

void build_tokenizer_bin(const char *path) {
    const BuildPiece *v = vocabulary();
    Bytes b = {0};
    bytes_u32(&b, 6); /* the longest texts: "<0x00>", "\n</s>\n" */
    for (int i = 0; i < BUILD_VOCAB; i++) {
        char text[20];
        const char *space = strstr(v[i].text, "\xe2\x96\x81");
        if (i == 1 || i == 2) snprintf(text, sizeof text, "\n%s\n", v[i].text);
        else if (space) snprintf(text, sizeof text, " %s", v[i].text + 3);
        else snprintf(text, sizeof text, "%s", v[i].text);
        bytes_f32(&b, v[i].score);
        bytes_u32(&b, (uint32_t)strlen(text));
        bytes_put(&b, text, strlen(text));
    }
    finish(&b, path);
}

static void put_message(Bytes *b, int field, Bytes *m) {
    bytes_u8(b, (unsigned)field << 3 | 2);
    if (m->n > 127) bytes_u8(b, (m->n & 127) | 128), bytes_u8(b, (unsigned)(m->n >> 7));
    else bytes_u8(b, (unsigned)m->n);
    bytes_put(b, m->data, m->n);
    free(m->data);
    *m = (Bytes){0};
}

void build_tokenizer_model(const char *path) {
    const BuildPiece *v = vocabulary();
    Bytes b = {0}, m = {0};
    for (int i = 0; i < BUILD_VOCAB; i++) { /* pieces: 1 text, 2 score, 3 type */
        bytes_u8(&m, 10), bytes_u8(&m, (unsigned)strlen(v[i].text)), bytes_put(&m, v[i].text, strlen(v[i].text));
        bytes_u8(&m, 21), bytes_f32(&m, v[i].score);
        bytes_u8(&m, 24), bytes_u8(&m, (unsigned)v[i].type);
        put_message(&b, 1, &m);
    }
    bytes_put(&m, "\x18\x02\x98\x02\x01", 5);          /* trainer_spec: model_type BPE, byte_fallback */
    put_message(&b, 2, &m);
    /* normalizer_spec: name, add_dummy_prefix, no remove_extra, escape */
    bytes_put(&m, "\x0a\x08identity\x18\x01\x20\x00\x28\x01", 16);
    put_message(&b, 3, &m);
    finish(&b, path);
}

int build_id(int i) { return 3 + (i * 37 + i * i * 11) % 250; }

/* ---- llama2.c ---- */

static void put_group_matrix(Bytes *b, const Part *p, int group) {
    for (size_t i = 0; i < count(p); i++) bytes_u8(b, (unsigned)u_at(p->seed, i) & 255);
    for (size_t i = 0; i < count(p) / (size_t)group; i++) bytes_f32(b, 1.0f / 256);
}

void build_llama2c(const char *path, const BuildShape *s, int version, int group) {
    Part p[MAX_PARTS];
    int n = parts_of(s, p);
    Bytes b = {0};
    if (version) bytes_u32(&b, 0x616b3432), bytes_u32(&b, (uint32_t)version);
    const int header[7] = {s->d, s->ff, s->layers, s->heads, s->kv_heads, BUILD_VOCAB, s->n_ctx};
    for (int i = 0; i < 7; i++) bytes_u32(&b, (uint32_t)header[i]);
    if (version) bytes_u8(&b, 1);
    if (version == 2) bytes_u32(&b, (uint32_t)group);
    if (version) while (b.n < 256) bytes_u8(&b, 0);
    /* which part of a layer comes when; 0 is the embedding, 1 + 9*l + k the k-th of layer l (parts_of), n-1 the final
     * norm */
    static const int norms[] = {0, 5}, matrices[] = {1, 2, 3, 4, 6, 7, 8};
    if (version == 0) {
        put_values(&b, p[0].seed, count(&p[0]), TENSOR_F32);
        for (int k = 0; k < 9; k++)
            for (int l = 0; l < s->layers; l++) {
                const Part *q = &p[1 + 9 * l + k];
                if (q->cols) put_values(&b, q->seed, count(q), TENSOR_F32);
                else put_norm(&b, q->seed, count(q));
            }
        put_norm(&b, p[n - 1].seed, count(&p[n - 1]));
        for (int i = 0; i < s->n_ctx * (s->d / s->heads); i++) bytes_f32(&b, 0);
    } else {
        for (int k = 0; k < 2; k++)
            for (int l = 0; l < s->layers; l++) put_norm(&b, p[1 + 9 * l + norms[k]].seed, (size_t)s->d);
        put_norm(&b, p[n - 1].seed, count(&p[n - 1]));
        if (version == 1) put_values(&b, p[0].seed, count(&p[0]), TENSOR_F32);
        else put_group_matrix(&b, &p[0], group);
        for (int k = 0; k < 7; k++)
            for (int l = 0; l < s->layers; l++) {
                const Part *q = &p[1 + 9 * l + matrices[k]];
                if (version == 1) put_values(&b, q->seed, count(q), TENSOR_F32);
                else put_group_matrix(&b, q, group);
            }
    }
    finish(&b, path);
}

/* ---- GGUF ---- */

static void key_u32(Bytes *b, const char *key, uint32_t v) { bytes_string(b, key), bytes_u32(b, 4), bytes_u32(b, v); }
static void key_f32(Bytes *b, const char *key, float v) { bytes_string(b, key), bytes_u32(b, 6), bytes_f32(b, v); }
static void key_string(Bytes *b, const char *key, const char *v) {
    bytes_string(b, key), bytes_u32(b, 8), bytes_string(b, v);
}

enum { VOCABULARY_KEYS = 6 };
static void put_vocabulary(Bytes *b) {
    const BuildPiece *v = vocabulary();
    key_string(b, "tokenizer.ggml.model", "llama");
    bytes_string(b, "tokenizer.ggml.tokens"), bytes_u32(b, 9), bytes_u32(b, 8), bytes_u64(b, BUILD_VOCAB);
    for (int i = 0; i < BUILD_VOCAB; i++) bytes_string(b, v[i].text);
    bytes_string(b, "tokenizer.ggml.scores"), bytes_u32(b, 9), bytes_u32(b, 6), bytes_u64(b, BUILD_VOCAB);
    for (int i = 0; i < BUILD_VOCAB; i++) bytes_f32(b, v[i].score);
    bytes_string(b, "tokenizer.ggml.token_type"), bytes_u32(b, 9), bytes_u32(b, 5), bytes_u64(b, BUILD_VOCAB);
    for (int i = 0; i < BUILD_VOCAB; i++) bytes_u32(b, (uint32_t)v[i].type);
    key_u32(b, "tokenizer.ggml.bos_token_id", 1);
    key_u32(b, "tokenizer.ggml.eos_token_id", 2);
}

static size_t bytes_of(const Part *p, TensorType type) {
    size_t n = count(p);
    if (!p->cols) return 4 * n;
    return type == TENSOR_F32 ? 4 * n : type == TENSOR_Q8_0 ? n / 32 * 34 : type == TENSOR_Q4_0 ? n / 32 * 18 : 2 * n;
}

void build_gguf(const char *path, const BuildShape *s, TensorType type) {
    Part p[MAX_PARTS];
    int n = parts_of(s, p);
    Bytes b = {0};
    unsigned keys = 10 + VOCABULARY_KEYS + (!s->form ? 0 : *s->form ? 3 : 1);
    bytes_put(&b, "GGUF", 4), bytes_u32(&b, 3), bytes_u64(&b, (uint64_t)n), bytes_u64(&b, keys);
    key_string(&b, "general.architecture", "llama");
    key_u32(&b, "llama.context_length", (uint32_t)s->n_ctx);
    key_u32(&b, "llama.embedding_length", (uint32_t)s->d);
    key_u32(&b, "llama.block_count", (uint32_t)s->layers);
    key_u32(&b, "llama.feed_forward_length", (uint32_t)s->ff);
    key_u32(&b, "llama.attention.head_count", (uint32_t)s->heads);
    key_u32(&b, "llama.attention.head_count_kv", (uint32_t)s->kv_heads);
    key_u32(&b, "llama.rope.dimension_count", (uint32_t)(s->d / s->heads));
    key_f32(&b, "llama.attention.layer_norm_rms_epsilon", 1e-5f);
    key_f32(&b, "llama.rope.freq_base", 10000);
    if (s->form) {
        key_string(&b, "llama.attention.kind", "linear");
        if (*s->form) key_string(&b, "llama.attention.feature_map", s->phi); /* empty words: the defaults */
        if (*s->form) key_string(&b, "llama.attention.form", s->form);
    }
    put_vocabulary(&b);
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        char name[64], full[80];
        snprintf(name, sizeof name, p[i].gguf, p[i].layer);
        snprintf(full, sizeof full, "%s.weight", name);
        bytes_string(&b, full);
        bytes_u32(&b, p[i].cols ? 2 : 1);
        if (p[i].cols) bytes_u64(&b, (uint64_t)p[i].cols);
        bytes_u64(&b, (uint64_t)p[i].rows);
        bytes_u32(&b, p[i].cols ? type : TENSOR_F32);
        bytes_u64(&b, at);
        at = (at + bytes_of(&p[i], type) + 31) / 32 * 32;
    }
    for (int i = 0; i < n; i++) {
        bytes_pad(&b, 32);
        if (p[i].cols) put_values(&b, p[i].seed, count(&p[i]), type);
        else put_norm(&b, p[i].seed, count(&p[i]));
    }
    bytes_pad(&b, 32);
    finish(&b, path);
}

void build_gguf_vocabulary(const char *path) {
    Bytes b = {0};
    bytes_put(&b, "GGUF", 4), bytes_u32(&b, 3), bytes_u64(&b, 0), bytes_u64(&b, 1 + VOCABULARY_KEYS);
    key_string(&b, "general.architecture", "llama");
    put_vocabulary(&b);
    finish(&b, path);
}

/* ---- Hugging Face ---- */

/* One safetensors file of parts [from, to), with q and k rows put in half-split order; its tensors' names into
 * index. */
static void build_safetensors(const char *path, const char *file, const Part *p, int from, int to, const BuildShape *s,
                              TensorType type, Bytes *index) {
    Bytes json = {0}, data = {0}, b = {0};
    const char *dtype = type == TENSOR_F32 ? "F32" : type == TENSOR_F16 ? "F16" : "BF16";
    size_t hd = (size_t)(s->d / s->heads);
    put_text(&json, "{\"__metadata__\":{\"format\":\"pt\"}");
    for (int i = from; i < to; i++) {
        char name[80];
        size_t begin = data.n;
        int turned = strstr(p[i].hf, "q_proj") || strstr(p[i].hf, "k_proj");
        for (size_t r = 0; r < (size_t)p[i].rows && p[i].cols; r++) {
            size_t h = r / hd, j = r % hd, row = turned ? h * hd + (j < hd / 2 ? 2 * j : 2 * (j - hd / 2) + 1) : r;
            for (size_t c = 0; c < (size_t)p[i].cols; c++)
                put_value(&data, u_at(p[i].seed, row * (size_t)p[i].cols + c), type);
        }
        for (size_t r = 0; r < (size_t)p[i].rows && !p[i].cols; r++) { /* 1 + u/512 rounds in 16 bits: norms stay F32 */
            bytes_f32(&data, 1 + (float)u_at(p[i].seed, r) / 512);
        }
        snprintf(name, sizeof name, p[i].hf, p[i].layer);
        put_text(&json, ",\"%s.weight\":{\"dtype\":\"%s\",\"shape\":[%d", name, p[i].cols ? dtype : "F32", p[i].rows);
        if (p[i].cols) put_text(&json, ",%d", p[i].cols);
        put_text(&json, "],\"data_offsets\":[%zu,%zu]}", begin, data.n);
        if (index) put_text(index, "%s\"%s.weight\":\"%s\"", i ? "," : "", name, file);
    }
    put_text(&json, "}");
    bytes_u64(&b, json.n), bytes_put(&b, json.data, json.n), bytes_put(&b, data.data, data.n);
    finish(&b, path);
    free(json.data), free(data.data);
}

void build_hf(const char *folder, const BuildShape *s, TensorType type, int shards) {
    Part p[MAX_PARTS];
    int n = parts_of(s, p);
    char path[600];
    Bytes b = {0};
    mkdir(folder, 0700);
    put_text(&b, "{\"model_type\":\"llama\",\"hidden_size\":%d,\"intermediate_size\":%d,", s->d, s->ff);
    put_text(&b, "\"num_hidden_layers\":%d,\"num_attention_heads\":%d,", s->layers, s->heads);
    put_text(&b, "\"num_key_value_heads\":%d,", s->kv_heads);
    if (s->form) put_text(&b, "\"attention_kind\":\"linear\",");
    if (s->form && *s->form)
        put_text(&b, "\"attention_feature_map\":\"%s\",\"attention_form\":\"%s\",", s->phi, s->form);
    put_text(&b, "\"vocab_size\":%d,\"max_position_embeddings\":%d,", BUILD_VOCAB, s->n_ctx);
    put_text(&b, "\"rms_norm_eps\":1e-05,\"rope_theta\":10000.0,\"tie_word_embeddings\":true,");
    put_text(&b, "\"bos_token_id\":1,\"eos_token_id\":2}\n");
    snprintf(path, sizeof path, "%s/config.json", folder);
    finish(&b, path);
    snprintf(path, sizeof path, "%s/tokenizer.model", folder);
    build_tokenizer_model(path);
    if (shards < 2) {
        snprintf(path, sizeof path, "%s/model.safetensors", folder);
        build_safetensors(path, "", p, 0, n, s, type, NULL);
        return;
    }
    put_text(&b, "{\"metadata\":{},\"weight_map\":{");
    for (int i = 0; i < shards; i++) {
        char file[64];
        snprintf(file, sizeof file, "model-%05d-of-%05d.safetensors", i + 1, shards);
        snprintf(path, sizeof path, "%s/%s", folder, file);
        build_safetensors(path, file, p, n * i / shards, n * (i + 1) / shards, s, type, &b);
    }
    put_text(&b, "}}");
    snprintf(path, sizeof path, "%s/model.safetensors.index.json", folder);
    finish(&b, path);
}
