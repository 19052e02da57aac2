/* model/llama2c.c - the .bin files of llama2.c, versions 0, 1 and 2: a header, then arrays in a fixed order.
 *
 *     v0   7 int32 (a negative vocab_size means: the classifier is not the embedding), then f32:
 *          tok_emb, attn_norm[], wq[], wk[], wv[], wo[], ffn_norm[], w1[], w2[], w3[], final_norm, cos and sin tables, [classifier]
 *     v1   "24ka" (0x616b3432), 1, 7 int32, u8 shared classifier, zeros up to byte 256, then f32:
 *          attn_norm[], ffn_norm[], final_norm, tok_emb, wq[], wk[], wv[], wo[], w1[], w2[], w3[], [classifier]
 *     v2   the same with 2, and int32 group_size behind the u8; norms f32, every matrix int8 values then its f32 scales
 *
 * x[] is one array a layer, all layers in turn. Nothing in the file says how long it is, so the header must describe
 * exactly the bytes that are there. Sources: export.py, run.c, runq.c of llama2.c. */
#include "reader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { HEADER_V0 = 28, HEADER_V1 = 256, MAGIC = 0x616b3432, DIM_MAX = 1 << 24, GROUP_MAX = 65536, LAYERS_MAX = 1 << 16 };

/* A pen that moves over the file: measures where w is NULL, appends tensors where it is not. */
typedef struct {
    Weights *w;
    const Llama2cHeader *h;
    const uint8_t *data;
    size_t pos;
    int too_large; /* pos would not fit a size_t */
    int no_memory;
} Layout;

/* rows and the bytes of one: a row is at most 2^24 values, so only the product can be too large. */
static void advance(Layout *l, size_t rows, size_t row_bytes) {
    size_t bytes;
    if (!size_mul(rows, row_bytes, &bytes) || !size_add(l->pos, bytes, &l->pos)) l->too_large = 1;
}

static void append(Layout *l, const Tensor *t, const char *name) {
    Tensor copy = *t;
    copy.name = weights_keep(l->w, name, strlen(name));
    if (!copy.name || weights_add_tensor(l->w, &copy)) l->no_memory = 1;
}

static void norm(Layout *l, const char *name) {
    size_t from = l->pos, n = (size_t)l->h->dim;
    advance(l, 1, n * 4);
    if (!l->w) return;
    Tensor t = {.type = TENSOR_F32, .type_name = "F32", .n_dims = 1, .shape = {n}, .data = l->data + from, .size = n * 4};
    append(l, &t, name);
}

static void matrix_f32(Layout *l, const char *name, size_t rows, size_t cols) {
    size_t from = l->pos;
    advance(l, rows, cols * 4);
    if (!l->w) return;
    Tensor t = {.type = TENSOR_F32,
                .type_name = "F32",
                .n_dims = 2,
                .shape = {rows, cols},
                .data = l->data + from,
                .size = rows * cols * 4};
    append(l, &t, name);
}

static void matrix_i8(Layout *l, const char *name, size_t rows, size_t cols) {
    size_t from = l->pos, group = (size_t)l->h->group_size;
    advance(l, rows, cols);
    size_t scales = l->pos;
    advance(l, rows, cols / group * 4);
    if (!l->w) return;
    Tensor t = {.type = TENSOR_I8_GROUPS,
                .type_name = "I8_GROUPS",
                .n_dims = 2,
                .shape = {rows, cols},
                .data = l->data + from,
                .size = rows * cols,
                .scales = l->data + scales,
                .group = l->h->group_size};
    append(l, &t, name);
}

static void matrix(Layout *l, const char *name, size_t rows, size_t cols) {
    if (l->h->version == 2) matrix_i8(l, name, rows, cols);
    else matrix_f32(l, name, rows, cols);
}

static const char *layer_name(const Layout *l, char buffer[64], int layer, const char *name) {
    if (!l->w) return NULL; /* a header may announce 65536 layers: measuring them must stay cheap */
    snprintf(buffer, 64, "blk.%d.%s.weight", layer, name);
    return buffer;
}

static void norms(Layout *l, const char *name) {
    char buffer[64];
    for (int i = 0; i < l->h->n_layers; i++) norm(l, layer_name(l, buffer, i, name));
}

static void matrices(Layout *l, const char *name, size_t rows, size_t cols) {
    char buffer[64];
    for (int i = 0; i < l->h->n_layers; i++) matrix(l, layer_name(l, buffer, i, name), rows, cols);
}

static void attention(Layout *l) {
    size_t dim = (size_t)l->h->dim, kv_dim = dim / (size_t)l->h->n_heads * (size_t)l->h->n_kv_heads;
    matrices(l, "attn_q", dim, dim);
    matrices(l, "attn_k", kv_dim, dim);
    matrices(l, "attn_v", kv_dim, dim);
    matrices(l, "attn_output", dim, dim);
}

static void feed_forward(Layout *l) {
    size_t dim = (size_t)l->h->dim, hidden = (size_t)l->h->hidden_dim;
    matrices(l, "ffn_gate", hidden, dim); /* w1 */
    matrices(l, "ffn_down", dim, hidden); /* w2 */
    matrices(l, "ffn_up", hidden, dim);   /* w3 */
}

static void lay_out_v0(Layout *l) {
    size_t dim = (size_t)l->h->dim, vocab = (size_t)l->h->vocab_size;
    l->pos = HEADER_V0;
    matrix(l, "token_embd.weight", vocab, dim);
    norms(l, "attn_norm");
    attention(l);
    norms(l, "ffn_norm");
    feed_forward(l);
    norm(l, "output_norm.weight");
    advance(l, (size_t)l->h->seq_len, dim / (size_t)l->h->n_heads * 4); /* cos and sin tables, half a head each, not needed */
    if (!l->h->shared_classifier) matrix(l, "output.weight", vocab, dim);
}

static void lay_out_v1(Layout *l) {
    size_t dim = (size_t)l->h->dim, vocab = (size_t)l->h->vocab_size;
    l->pos = HEADER_V1;
    norms(l, "attn_norm");
    norms(l, "ffn_norm");
    norm(l, "output_norm.weight");
    matrix(l, "token_embd.weight", vocab, dim);
    attention(l);
    feed_forward(l);
    if (!l->h->shared_classifier) matrix(l, "output.weight", vocab, dim);
}

static void lay_out(Layout *l) {
    if (l->h->version == 0) lay_out_v0(l);
    else lay_out_v1(l);
}

/* ---- the header ---- */

static int has_magic(const uint8_t *data, size_t size) { return size >= 4 && load_u32(data) == MAGIC; }

static void read_config(const uint8_t *p, Llama2cHeader *h) {
    int *fields[] = {&h->dim, &h->hidden_dim, &h->n_layers, &h->n_heads, &h->n_kv_heads, &h->vocab_size, &h->seq_len};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) *fields[i] = (int32_t)load_u32(p + 4 * i);
}

static int between(int x, int low, int high) { return x >= low && x <= high; }

/* NULL where the header can be a model's, else what is wrong with it. */
static const char *implausible(const Llama2cHeader *h) {
    if (!between(h->dim, 1, DIM_MAX) || !between(h->hidden_dim, 1, DIM_MAX)) return "dim and hidden_dim must be 1 to 16777216";
    if (!between(h->n_layers, 1, LAYERS_MAX)) return "n_layers must be 1 to 65536";
    if (!between(h->vocab_size, 1, DIM_MAX) || !between(h->seq_len, 1, DIM_MAX)) return "vocab_size and seq_len must be 1 to 16777216";
    if (!between(h->n_heads, 1, h->dim) || h->dim % h->n_heads != 0) return "n_heads must divide dim";
    if (!between(h->n_kv_heads, 1, h->n_heads) || h->n_heads % h->n_kv_heads != 0) return "n_kv_heads must divide n_heads";
    if (h->dim / h->n_heads % 2 != 0) return "the size of a head, dim / n_heads, must be even";
    if (h->version == 2 && (h->group_size < 1 || h->dim % h->group_size != 0 || h->hidden_dim % h->group_size != 0))
        return "group_size must divide dim and hidden_dim";
    if (h->version == 2 && h->group_size > GROUP_MAX)
        return "group_size must be at most 65536"; /* the integer sum of a group fits 32 bits */
    return NULL;
}

static void read_v0(const uint8_t *data, Llama2cHeader *h) {
    *h = (Llama2cHeader){.version = 0};
    read_config(data, h);
    h->shared_classifier = h->vocab_size > 0;
    if (h->vocab_size < 0 && h->vocab_size >= -DIM_MAX) h->vocab_size = -h->vocab_size;
}

int llama2c_is(const uint8_t *data, size_t size) {
    Llama2cHeader h;
    if (has_magic(data, size)) return 1;
    if (size < HEADER_V0) return 0;
    read_v0(data, &h); /* no magic: only a header that makes sense tells it from any other file */
    return implausible(&h) == NULL;
}

static int read_header(Llama2cHeader *h, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen) {
    if (!has_magic(data, size)) {
        read_v0(data, h);
        return 0;
    }
    if (size < HEADER_V1)
        return base_error(err, errlen, -EINVAL,
                          "%s: the file ends inside its llama2.c header of 256 bytes: it is truncated, fetch it again", name);
    uint32_t version = load_u32(data + 4);
    if (version != 1 && version != 2)
        return base_error(err, errlen, -EINVAL, "%s: llama2.c version %u, only 0, 1 and 2 are read: export the model again", name, version);
    *h = (Llama2cHeader){.version = (int)version, .shared_classifier = data[36]};
    read_config(data + 8, h);
    if (version == 2) h->group_size = (int32_t)load_u32(data + 37); /* behind one byte, so unaligned */
    if (data[36] > 1) return base_error(err, errlen, -EINVAL, "%s: llama2.c header: the shared-classifier byte is neither 0 nor 1", name);
    return 0;
}

int llama2c_open(Weights *w, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen) {
    Llama2cHeader *h = &w->llama2c;
    w->format = FORMAT_LLAMA2C;
    int rc = read_header(h, data, size, name, err, errlen);
    if (rc) return rc;
    const char *wrong = implausible(h);
    if (wrong) return base_error(err, errlen, -EINVAL, "%s: llama2.c version %d header: %s", name, h->version, wrong);
    Layout l = {.h = h};
    lay_out(&l);
    if (l.too_large || l.pos != size)
        return base_error(
            err, errlen, -EINVAL,
            "%s: a llama2.c version %d file with this header has %zu bytes%s, this one has %zu: it is truncated or not a model",
            name, h->version, l.too_large ? SIZE_MAX : l.pos, l.too_large ? " or more" : "", size);
    l = (Layout){.w = w, .h = h, .data = data};
    lay_out(&l);
    return l.no_memory ? reader_no_memory(name, err, errlen) : weights_finish(w, err, errlen);
}
