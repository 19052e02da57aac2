/* model/files/llama2c.c - the .bin files of llama2.c as its run reads them, version 0: 7 int32 (a negative vocab_size
 * means: the classifier is not the embedding), then arrays of float32 in a fixed order, the table below.
 *
 * Nothing in the file says how long it is, so the header must describe exactly the bytes that are there. Sources:
 * export.py, run.c, runq.c of llama2.c. */
#include "llama2c.h"

#include <errno.h>
#include <string.h>

enum { HEADER_BYTES = 28, DIM_MAX = 1 << 24, LAYERS_MAX = 1 << 16 };

static const Llama2cArray arrays[] = {
    {"token_embd.weight", 'V', 'D'},
    {"blk.#.attn_norm.weight", 'D', 0},
    {"blk.#.attn_q.weight", 'D', 'D'}, {"blk.#.attn_k.weight", 'K', 'D'}, {"blk.#.attn_v.weight", 'K', 'D'},
    {"blk.#.attn_output.weight", 'D', 'D'},
    {"blk.#.ffn_norm.weight", 'D', 0},
    {"blk.#.ffn_gate.weight", 'F', 'D'}, {"blk.#.ffn_down.weight", 'D', 'F'}, {"blk.#.ffn_up.weight", 'F', 'D'},
    {"output_norm.weight", 'D', 0},
    {NULL, 'S', 'R'}, /* cos and sin, half a head each: computed here */
    {"output.weight", 'V', 'D'},
    {0},
};

/* ---- the header ---- */

void llama2c_numbers(Llama2cHeader *h, const uint8_t *p) {
    int *fields[] = {&h->dim, &h->hidden_dim, &h->n_layers, &h->n_heads, &h->n_kv_heads, &h->vocab_size, &h->seq_len};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) *fields[i] = (int32_t)load_u32(p + 4 * i);
}

static int between(int x, int low, int high) { return x >= low && x <= high; }

const char *llama2c_implausible(const Llama2cHeader *h) {
    if (!between(h->dim, 1, DIM_MAX) || !between(h->hidden_dim, 1, DIM_MAX))
        return "dim and hidden_dim must be 1 to 16777216";
    if (!between(h->n_layers, 1, LAYERS_MAX)) return "n_layers must be 1 to 65536";
    if (!between(h->vocab_size, 1, DIM_MAX) || !between(h->seq_len, 1, DIM_MAX))
        return "vocab_size and seq_len must be 1 to 16777216";
    if (!between(h->n_heads, 1, h->dim) || h->dim % h->n_heads != 0) return "n_heads must divide dim";
    if (!between(h->n_kv_heads, 1, h->n_heads) || h->n_heads % h->n_kv_heads != 0)
        return "n_kv_heads must divide n_heads";
    return h->dim / h->n_heads % 2 ? "the size of a head, dim / n_heads, must be even" : NULL;
}

static Llama2cHeader read_header(const uint8_t *data) {
    Llama2cHeader h = {.bytes = HEADER_BYTES, .arrays = arrays};
    llama2c_numbers(&h, data);
    h.shared_classifier = h.vocab_size > 0;
    if (h.vocab_size < 0 && h.vocab_size >= -DIM_MAX) h.vocab_size = -h.vocab_size;
    return h;
}

int llama2c_is(const uint8_t *data, size_t size) { /* no magic: only a header that makes sense tells it from others */
    if (size < HEADER_BYTES) return 0;
    Llama2cHeader h = read_header(data);
    return llama2c_implausible(&h) == NULL;
}

int llama2c_open(Weights *w, const uint8_t *data, size_t size, char *err, size_t errlen) {
    Llama2cHeader h = read_header(data);
    return llama2c_read(w, &h, data, size, err, errlen);
}

/* ---- the arrays ---- */

static size_t size_of(const Llama2cHeader *h, char letter) {
    static const char letters[] = "DFKVSR";
    int head = h->dim / h->n_heads;
    const int sizes[] = {h->dim, h->hidden_dim, head * h->n_kv_heads, h->vocab_size, h->seq_len, head};
    return (size_t)sizes[strchr(letters, letter) - letters];
}

/* Where an array at `at` ends; SIZE_MAX: too far. A row is at most 2^24 values: only the product can be too large. */
static size_t behind(size_t at, size_t rows, size_t row_bytes) {
    size_t bytes;
    return size_mul(rows, row_bytes, &bytes) && size_add(at, bytes, &at) ? at : SIZE_MAX;
}

/* One array, or one layer's: *at moves behind it, and it is added to w where that is not NULL. 0 or -ENOMEM. */
static int place(const Llama2cHeader *h, const Llama2cArray *a, int layer, Weights *w, const uint8_t *data,
                 size_t *at) {
    size_t rows = a->cols ? size_of(h, a->rows) : 1, cols = size_of(h, a->cols ? a->cols : a->rows), from = *at;
    int grouped = h->group_size && a->cols;
    size_t scales = behind(from, rows, cols * (grouped ? 1 : 4));
    *at = grouped ? behind(scales, rows, cols / (size_t)h->group_size * 4) : scales;
    if (!w || !a->name) return 0; /* a header may announce 65536 layers: measuring them must stay cheap */
    char name[TENSOR_NAME];
    weights_layer_name(name, a->name, layer);
    Tensor t = {.name = weights_keep(w, name, strlen(name)), .type = TENSOR_F32, .type_name = "F32", .n_dims = 1,
                .shape = {cols}, .data = data + from, .size = scales - from};
    if (a->cols) {
        t.n_dims = 2;
        t.shape[0] = rows, t.shape[1] = cols;
    }
    if (grouped) {
        t.type = TENSOR_I8_GROUPS, t.type_name = "I8_GROUPS";
        t.scales = data + scales, t.group = h->group_size;
    }
    return t.name ? weights_add_tensor(w, &t) : -ENOMEM;
}

static int lay_out(const Llama2cHeader *h, Weights *w, const uint8_t *data, size_t *at) {
    int rc = 0;
    *at = h->bytes;
    for (const Llama2cArray *a = h->arrays; a->rows && rc == 0; a++) {
        int n = a->name && strchr(a->name, '#') ? h->n_layers : 1;
        if (a->name && strcmp(a->name, "output.weight") == 0 && h->shared_classifier) continue;
        for (int i = 0; i < n && rc == 0; i++) rc = place(h, a, i, w, data, at);
    }
    return rc;
}

/* ---- what GGUF would say of it ---- */

static int add_keys(Weights *w, const Llama2cHeader *header) {
    static const float epsilon = 1e-5f; /* this and the base of its angles, GGUF's default, stand in llama2.c's code */
    static const int bos = 1;           /* it ends a text at BOS, not at EOS */
    const Llama2cHeader *h = (const void *)weights_keep(w, (const char *)header, sizeof *header);
    if (!h) return -ENOMEM;
    const struct { const char *key; MetaType type; const void *value; } rows[] = {
        {"general.architecture", META_STRING, "llama"}, {"llama.attention.layer_norm_rms_epsilon", META_F32, &epsilon},
        {"llama2c.version", META_I32, &h->version}, {"llama.embedding_length", META_I32, &h->dim},
        {"llama.feed_forward_length", META_I32, &h->hidden_dim}, {"llama.block_count", META_I32, &h->n_layers},
        {"llama.attention.head_count", META_I32, &h->n_heads},
        {"llama.attention.head_count_kv", META_I32, &h->n_kv_heads}, {"llama.context_length", META_I32, &h->seq_len},
        {"tokenizer.ggml.bos_token_id", META_I32, &bos}, {"tokenizer.ggml.eos_token_id", META_I32, &bos}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        MetaValue m = {.key = rows[i].key, .type = rows[i].type, .n = rows[i].type == META_STRING ? 5 : 1,
                       .data = rows[i].value};
        if (weights_add_meta(w, &m)) return -ENOMEM;
    }
    return 0;
}

int llama2c_read(Weights *w, const Llama2cHeader *h, const uint8_t *data, size_t size, char *err, size_t errlen) {
    size_t end;
    w->format = FORMAT_LLAMA2C;
    lay_out(h, NULL, NULL, &end);
    if (end != size)
        return base_error(err, errlen, -EINVAL, "%s: a llama2.c version %d file with this header has %zu bytes%s, this "
                          "one has %zu: it is truncated or not a model",
                          w->path, h->version, end, end == SIZE_MAX ? " or more" : "", size);
    if (lay_out(h, w, data, &end) || add_keys(w, h)) return weights_no_memory(w->path, err, errlen);
    return weights_finish(w, err, errlen);
}
