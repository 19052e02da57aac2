/* model/files/llama2c.c - the .bin files of llama2.c, versions 0, 1 and 2: a header, then arrays in a fixed order (the
 * tables below).
 *
 *     v0   7 int32 (a negative vocab_size means: the classifier is not the embedding), then f32
 *     v1   "24ka" (0x616b3432), 1, 7 int32, u8 shared classifier, zeros up to byte 256, then f32
 *     v2   the same with 2, and int32 group_size behind the u8; norms f32, every matrix int8 values then its f32 scales
 *
 * Nothing in the file says how long it is, so the header must describe exactly the bytes that are there. Sources:
 * export.py, run.c, runq.c of llama2.c. */
#include "llama2c.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    HEADER_V0 = 28,
    HEADER_V1 = 256,
    MAGIC = 0x616b3432,
    DIM_MAX = 1 << 24,
    GROUP_MAX = 65536,
    LAYERS_MAX = 1 << 16
};

typedef struct {
    int version; /* 0, 1, 2 */
    int dim, hidden_dim, n_layers, n_heads, n_kv_heads, vocab_size, seq_len;
    int shared_classifier;
    int group_size; /* version 2 */
} Header;

/* An array, under GGUF's name (# is the layer: one for each); its rows and columns in letters: D dim, F hidden_dim, K
 * all key heads, V vocab_size, S seq_len, R a head; no columns: a vector. */
typedef struct {
    const char *name;
    char rows, cols;
} Array;

static const Array version0[] = {
    {"token_embd.weight", 'V', 'D'},
    {"blk.#.attn_norm.weight", 'D', 0},
    {"blk.#.attn_q.weight", 'D', 'D'},
    {"blk.#.attn_k.weight", 'K', 'D'},
    {"blk.#.attn_v.weight", 'K', 'D'},
    {"blk.#.attn_output.weight", 'D', 'D'},
    {"blk.#.ffn_norm.weight", 'D', 0},
    {"blk.#.ffn_gate.weight", 'F', 'D'},
    {"blk.#.ffn_down.weight", 'D', 'F'},
    {"blk.#.ffn_up.weight", 'F', 'D'},
    {"output_norm.weight", 'D', 0},
    {NULL, 'S', 'R'}, /* cos and sin, half a head each: computed here */
    {"output.weight", 'V', 'D'},
    {0},
};

static const Array version1[] = {
    {"blk.#.attn_norm.weight", 'D', 0},
    {"blk.#.ffn_norm.weight", 'D', 0},
    {"output_norm.weight", 'D', 0},
    {"token_embd.weight", 'V', 'D'},
    {"blk.#.attn_q.weight", 'D', 'D'},
    {"blk.#.attn_k.weight", 'K', 'D'},
    {"blk.#.attn_v.weight", 'K', 'D'},
    {"blk.#.attn_output.weight", 'D', 'D'},
    {"blk.#.ffn_gate.weight", 'F', 'D'},
    {"blk.#.ffn_down.weight", 'D', 'F'},
    {"blk.#.ffn_up.weight", 'F', 'D'},
    {"output.weight", 'V', 'D'},
    {0},
};

/* A pen that moves over the file: measures where w is NULL, appends tensors where it is not. */
typedef struct {
    Weights *w;
    const Header *h;
    const uint8_t *data;
    size_t pos;
    int too_large; /* pos would not fit a size_t */
    int no_memory;
} Layout;

static size_t size_of(const Header *h, char letter) {
    size_t dim = (size_t)h->dim, head = dim / (size_t)h->n_heads;
    switch (letter) {
    case 'D': return dim;
    case 'F': return (size_t)h->hidden_dim;
    case 'K': return head * (size_t)h->n_kv_heads;
    case 'V': return (size_t)h->vocab_size;
    case 'S': return (size_t)h->seq_len;
    case 'R': return head;
    default: return 1;
    }
}

/* A row is at most 2^24 values, so only the product can be too large. */
static void advance(Layout *l, size_t rows, size_t row_bytes) {
    size_t bytes;
    if (!size_mul(rows, row_bytes, &bytes) || !size_add(l->pos, bytes, &l->pos)) l->too_large = 1;
}

static void append(Layout *l, Tensor *t, const char *name, int layer) {
    char own[64];
    const char *hash = strchr(name, '#');
    int n = hash ? snprintf(own, sizeof own, "%.*s%d%s", (int)(hash - name), name, layer, hash + 1)
                 : snprintf(own, sizeof own, "%s", name);
    t->name = weights_keep(l->w, own, (size_t)n);
    if (!t->name || weights_add_tensor(l->w, t)) l->no_memory = 1;
}

static void place(Layout *l, const Array *a, int layer) {
    size_t rows = size_of(l->h, a->rows), cols = a->cols ? size_of(l->h, a->cols) : rows, from = l->pos;
    int quantized = l->h->version == 2 && a->cols;
    size_t each = quantized ? 1 : 4, group = (size_t)l->h->group_size;
    if (!a->cols) rows = 1;
    advance(l, rows, cols * each);
    size_t scales = l->pos;
    if (quantized) advance(l, rows, cols / group * 4);
    if (!l->w || !a->name) return; /* a header may announce 65536 layers: measuring them must stay cheap */
    Tensor t = {.type = TENSOR_F32,
                .type_name = "F32",
                .n_dims = a->cols ? 2 : 1,
                .data = l->data + from,
                .size = rows * cols * each};
    t.shape[0] = a->cols ? rows : cols;
    t.shape[1] = a->cols ? cols : 0;
    if (quantized) {
        t.type = TENSOR_I8_GROUPS, t.type_name = "I8_GROUPS";
        t.scales = l->data + scales, t.group = l->h->group_size;
    }
    append(l, &t, a->name, layer);
}

static void lay_out(Layout *l) {
    l->pos = l->h->version == 0 ? HEADER_V0 : HEADER_V1;
    for (const Array *a = l->h->version == 0 ? version0 : version1; a->rows; a++) {
        if (a->name && strcmp(a->name, "output.weight") == 0 && l->h->shared_classifier) continue;
        int each = a->name && strchr(a->name, '#');
        for (int i = 0; i < (each ? l->h->n_layers : 1); i++) place(l, a, i);
    }
}

/* ---- the header ---- */

static int has_magic(const uint8_t *data, size_t size) { return size >= 4 && load_u32(data) == MAGIC; }

static void read_config(const uint8_t *p, Header *h) {
    int *fields[] = {&h->dim, &h->hidden_dim, &h->n_layers, &h->n_heads, &h->n_kv_heads, &h->vocab_size, &h->seq_len};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) *fields[i] = (int32_t)load_u32(p + 4 * i);
}

static int between(int x, int low, int high) { return x >= low && x <= high; }

/* NULL where the header can be a model's, else what is wrong with it. */
static const char *implausible(const Header *h) {
    if (!between(h->dim, 1, DIM_MAX) || !between(h->hidden_dim, 1, DIM_MAX))
        return "dim and hidden_dim must be 1 to 16777216";
    if (!between(h->n_layers, 1, LAYERS_MAX)) return "n_layers must be 1 to 65536";
    if (!between(h->vocab_size, 1, DIM_MAX) || !between(h->seq_len, 1, DIM_MAX))
        return "vocab_size and seq_len must be 1 to 16777216";
    if (!between(h->n_heads, 1, h->dim) || h->dim % h->n_heads != 0) return "n_heads must divide dim";
    if (!between(h->n_kv_heads, 1, h->n_heads) || h->n_heads % h->n_kv_heads != 0)
        return "n_kv_heads must divide n_heads";
    if (h->dim / h->n_heads % 2 != 0) return "the size of a head, dim / n_heads, must be even";
    if (h->version == 2 && (h->group_size < 1 || h->dim % h->group_size != 0 || h->hidden_dim % h->group_size != 0))
        return "group_size must divide dim and hidden_dim";
    if (h->version == 2 && h->group_size > GROUP_MAX)
        return "group_size must be at most 65536"; /* the integer sum of a group fits 32 bits */
    return NULL;
}

static void read_v0(const uint8_t *data, Header *h) {
    *h = (Header){.version = 0};
    read_config(data, h);
    h->shared_classifier = h->vocab_size > 0;
    if (h->vocab_size < 0 && h->vocab_size >= -DIM_MAX) h->vocab_size = -h->vocab_size;
}

int llama2c_is(const uint8_t *data, size_t size) {
    Header h;
    if (has_magic(data, size)) return 1;
    if (size < HEADER_V0) return 0;
    read_v0(data, &h); /* no magic: only a header that makes sense tells it from any other file */
    return implausible(&h) == NULL;
}

static int read_header(Header *h, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen) {
    if (!has_magic(data, size)) {
        read_v0(data, h);
        return 0;
    }
    if (size < HEADER_V1)
        return base_error(err, errlen, -EINVAL,
                          "%s: the file ends inside its llama2.c header of 256 bytes: it is truncated, fetch it again",
                          name);
    uint32_t version = load_u32(data + 4);
    if (version != 1 && version != 2)
        return base_error(err, errlen, -EINVAL,
                          "%s: llama2.c version %u, only 0, 1 and 2 are read: export the model again", name, version);
    *h = (Header){.version = (int)version, .shared_classifier = data[36]};
    read_config(data + 8, h);
    if (version == 2) h->group_size = (int32_t)load_u32(data + 37); /* behind one byte, so unaligned */
    if (data[36] > 1)
        return base_error(err, errlen, -EINVAL, "%s: llama2.c header: the shared-classifier byte is neither 0 nor 1",
                          name);
    return 0;
}

/* ---- what GGUF would say of it ---- */

static int add_key(Weights *w, const char *key, MetaType type, const void *value, size_t n) {
    const char *kept = weights_keep(w, value, n);
    MetaValue m = {.key = key, .type = type, .n = type == META_STRING ? n : 1, .data = (const uint8_t *)kept};
    return kept ? weights_add_meta(w, &m) : -ENOMEM;
}

static int add_keys(Weights *w, const Header *h) {
    static const float epsilon = 1e-5f; /* this and the base of its angles, GGUF's default, stand in llama2.c's code */
    const struct {
        const char *key;
        int value;
    } rows[] = {
        {"llama2c.version", h->version},
        {"llama.embedding_length", h->dim},
        {"llama.feed_forward_length", h->hidden_dim},
        {"llama.block_count", h->n_layers},
        {"llama.attention.head_count", h->n_heads},
        {"llama.attention.head_count_kv", h->n_kv_heads},
        {"llama.context_length", h->seq_len},
        {"tokenizer.ggml.bos_token_id", 1},
        {"tokenizer.ggml.eos_token_id", 1}, /* llama2.c ends a text at BOS, not at EOS */
    };
    int rc = add_key(w, "general.architecture", META_STRING, "llama", 5);
    if (rc == 0) rc = add_key(w, "llama.attention.layer_norm_rms_epsilon", META_F32, &epsilon, 4);
    for (size_t i = 0; i < sizeof rows / sizeof *rows && rc == 0; i++)
        rc = add_key(w, rows[i].key, META_I32, &rows[i].value, 4);
    return rc;
}

int llama2c_open(Weights *w, const uint8_t *data, size_t size, char *err, size_t errlen) {
    const char *name = w->path;
    Header h;
    w->format = FORMAT_LLAMA2C;
    int rc = read_header(&h, data, size, name, err, errlen);
    if (rc) return rc;
    const char *wrong = implausible(&h);
    if (wrong) return base_error(err, errlen, -EINVAL, "%s: llama2.c version %d header: %s", name, h.version, wrong);
    Layout l = {.h = &h};
    lay_out(&l);
    if (l.too_large || l.pos != size)
        return base_error(err, errlen, -EINVAL,
                          "%s: a llama2.c version %d file with this header has %zu bytes%s, this one has %zu: it is "
                          "truncated or not a model",
                          name, h.version, l.too_large ? SIZE_MAX : l.pos, l.too_large ? " or more" : "", size);
    l = (Layout){.w = w, .h = &h, .data = data};
    lay_out(&l);
    if (l.no_memory || add_keys(w, &h)) return weights_no_memory(name, err, errlen);
    return weights_finish(w, err, errlen);
}
