/* model/files/gguf.c - GGUF, versions 2 and 3, little-endian.
 *
 *     "GGUF"  u32 version  u64 n_tensors  u64 n_keys
 *     n_keys times     string key   u32 type   value   (a string is u64 length + bytes, an array u32 type + u64 n + ..)
 *     n_tensors times  string name  u32 n_dims  u64 dims[]  u32 type  u64 offset       (dims[0] is the contiguous one)
 *     padding to general.alignment (32 where the key is missing), then the tensors' bytes, each at its offset
 *
 * Every length is compared with the bytes that are left before it is believed: `n > size - pos`, never `pos + n >
 * size`. Source: docs/gguf.md of ggml. */
#include "gguf.h"

#include <string.h>

enum {
    KEY_MIN_BYTES = 13,    /* a metadata pair: length, type, one byte of value */
    TENSOR_MIN_BYTES = 24, /* a tensor's entry: length, n_dims, type, offset */
    COUNT_MAX = 1 << 17,   /* keys, and tensors, of a file: what is kept of each is more than its bytes there */
    KEY_MAX = 65535,       /* the specification's longest key */
    GGUF_MAX_DIMS = 4, ALIGNMENT_DEFAULT = 32, ALIGNMENT_MAX = 65536,
};

int gguf_is(const uint8_t *data, size_t size) { return size >= 4 && memcmp(data, "GGUF", 4) == 0; }

/* The next n bytes. Behind the file's end stand zeros for a number, and g->cut is set: to be asked before more than 8
 * bytes are looked at. */
static const uint8_t *take(Gguf *g, uint64_t n) {
    static const uint8_t zeros[8];
    if (n > g->size - g->pos) {
        g->cut = 1;
        return zeros;
    }
    g->pos += (size_t)n;
    return g->data + g->pos - n;
}

static uint32_t take_u32(Gguf *g) { return load_u32(take(g, 4)); }
static uint64_t take_u64(Gguf *g) { return load_u64(take(g, 8)); }

static const char *take_string(Gguf *g, uint64_t *n) {
    *n = take_u64(g);
    return (const char *)take(g, *n);
}

static int truncated(Gguf *g, const char *where) {
    return base_complain(&g->line, "the file ends inside its %s: it is damaged or truncated, fetch it again", where);
}

static int bad(Gguf *g, const char *what, const char *name, const char *why) {
    return base_complain(&g->line, "%s %.80s: %s", what, name, why);
}

static int no_memory(Gguf *g) { return weights_no_memory(g->line.name, g->line.err, g->line.errlen); }

/* ---- metadata ---- */

static int read_values(Gguf *g, MetaValue *m) {
    const char *where = m->type == META_ARRAY ? "metadata (an array longer than the file)" : "metadata";
    size_t size = m->elem == META_STRING ? 8 : meta_size(m->elem); /* at least */
    uint64_t len;
    m->data = g->data + g->pos;
    if (m->n > (g->size - g->pos) / size) return truncated(g, where);
    if (m->elem != META_STRING) take(g, m->n * size);
    else if (m->type == META_STRING) m->data = (const uint8_t *)take_string(g, &m->n);
    else
        for (uint64_t i = 0; i < m->n && !g->cut; i++) take_string(g, &len);
    if (g->cut) return truncated(g, m->type == META_ARRAY ? "metadata (strings of an array)" : where);
    for (uint64_t i = 0; m->elem == META_BOOL && i < m->n; i++)
        if (m->data[i] > 1) return bad(g, "key", m->key, "a bool that is neither 0 nor 1");
    return 0;
}

static int read_pair(Gguf *g) {
    MetaValue m = {.n = 1};
    uint64_t len;
    const char *key = take_string(g, &len);
    m.type = m.elem = (MetaType)take_u32(g);
    if (g->cut) return truncated(g, "metadata");
    if (len > KEY_MAX || !weights_is_name(key, (size_t)len))
        return base_complain(&g->line, "metadata key %zu is empty, too long or not text: the file is damaged",
                             g->w->n_meta + 1);
    if (!(m.key = weights_keep(g->w, key, (size_t)len))) return no_memory(g);
    if (m.type > META_F64) return bad(g, "key", m.key, "a value type that GGUF does not have");
    if (m.type == META_ARRAY) {
        m.elem = (MetaType)take_u32(g);
        m.n = take_u64(g);
        if (g->cut) return truncated(g, "metadata");
        if (m.elem == META_ARRAY) return bad(g, "key", m.key, "an array of arrays, which is not read");
        if (m.elem > META_F64) return bad(g, "key", m.key, "an array of a value type that GGUF does not have");
    }
    int rc = read_values(g, &m);
    return rc ? rc : weights_add_meta(g->w, &m) ? no_memory(g) : 0;
}

static int read_alignment(Gguf *g) {
    const MetaValue *m = weights_meta(g->w, "general.alignment");
    size_t a = g->alignment = !m ? ALIGNMENT_DEFAULT : m->type == META_U32 ? load_u32(m->data) : 0;
    if (a < 1 || a > ALIGNMENT_MAX || (a & (a - 1)) != 0)
        return bad(g, "key", m->key, "must be a u32, a power of two up to 65536");
    return 0;
}

int gguf_read_head(Gguf *g) {
    take(g, 4); /* the magic */
    uint32_t version = take_u32(g);
    if (g->cut) return truncated(g, "header");
    if ((version & 0xffff) == 0 && version != 0)
        return base_complain(&g->line, "a big-endian GGUF file: convert it with gguf-convert-endian");
    if (version != 2 && version != 3)
        return base_complain(&g->line, "GGUF version %u, only 2 and 3 are read: convert the model again", version);
    g->n_tensors = take_u64(g);
    uint64_t n = take_u64(g), left = g->size - g->pos;
    if (g->cut) return truncated(g, "header");
    if (n > left / KEY_MIN_BYTES) return truncated(g, "metadata (more keys are announced than fit)");
    if (g->n_tensors > left / TENSOR_MIN_BYTES)
        return truncated(g, "tensor list (more tensors are announced than fit)");
    if (n > COUNT_MAX || g->n_tensors > COUNT_MAX)
        return base_complain(&g->line, "more than %d keys or tensors: no model has so many", COUNT_MAX);
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && i < n; i++) rc = read_pair(g);
    if (rc) return rc;
    const char *twice;
    if (!weights_sort(g->w, g->w->meta, g->w->n_meta, sizeof *g->w->meta, &twice)) return no_memory(g);
    return twice ? bad(g, "key", twice, "stands twice") : read_alignment(g);
}

/* ---- tensors ---- */

/* t->size from shape and type; whole blocks in each row. */
static int measure(Gguf *g, Tensor *t) {
    const QuantFormat *f = quant_format(t->type);
    size_t values = 1, block = (size_t)f->block;
    int fits = 1;
    for (int i = t->n_dims; i-- > 0;) {
        if (t->shape[i] == 0) return bad(g, "tensor", t->name, "a dimension is 0");
        fits = fits && t->shape[i] <= SIZE_MAX && size_mul(values, (size_t)t->shape[i], &values);
    }
    if (!fits || !size_mul(values / block, (size_t)f->bytes, &t->size))
        return bad(g, "tensor", t->name, "its shape is larger than any file");
    if ((t->n_dims ? t->shape[t->n_dims - 1] : 1) % block != 0)
        return bad(g, "tensor", t->name, "its rows are not whole blocks of its type");
    return 0;
}

/* Append a tensor of the list. Where the bytes begin is known only behind it: its data is set as if at g->data, an
 * offset past the end being the end. */
static int read_tensor(Gguf *g) {
    uint64_t len;
    const char *name = take_string(g, &len);
    uint32_t n_dims = take_u32(g);
    if (g->cut) return truncated(g, "tensor list");
    if (!weights_is_name(name, (size_t)len))
        return base_complain(&g->line, "a tensor's name is empty or not text: the file is damaged");
    Tensor t = {.name = weights_keep(g->w, name, (size_t)len), .n_dims = (int)n_dims};
    if (!t.name) return no_memory(g);
    if (n_dims > GGUF_MAX_DIMS) return bad(g, "tensor", t.name, "more than 4 dimensions");
    for (uint32_t i = n_dims; i-- > 0;) t.shape[i] = take_u64(g); /* the file counts from the contiguous one */
    uint32_t type = take_u32(g);
    uint64_t offset = take_u64(g);
    if (g->cut) return truncated(g, "tensor list");
    const QuantFormat *f = type < TENSOR_I8_GROUPS ? quant_format((int)type) : NULL;
    if (!f)
        return base_complain(&g->line, "tensor %.80s: type %u is not known here: convert the model to Q8_0 or F16",
                             t.name, type);
    if (offset % g->alignment != 0)
        return bad(g, "tensor", t.name, "its offset is not a multiple of the file's alignment");
    t.type = f->id;
    t.type_name = f->name;
    t.data = g->data + (offset < g->size ? (size_t)offset : g->size);
    int rc = measure(g, &t);
    return rc ? rc : weights_add_tensor(g->w, &t) ? no_memory(g) : 0;
}

/* Bytes from `at` to the next multiple of the file's alignment. */
static size_t padding_of(const Gguf *g, size_t at) { return (g->alignment - at % g->alignment) % g->alignment; }

/* The tensor's bytes, from start on; *end grows to the furthest one used. */
static int place(Gguf *g, Tensor *t, size_t start, size_t *end) {
    size_t offset = (size_t)(t->data - g->data), room = g->size - start;
    size_t padded = t->size + padding_of(g, t->size); /* behind the last tensor too: so a cut there is seen */
    int in_file = offset <= room && t->size <= room - offset;
    if (!in_file || padded > room - offset)
        return bad(g, "tensor", t->name,
                   in_file ? "the padding behind its bytes is missing: the file is truncated, fetch it again"
                           : "its bytes reach past the end of the file: the file is truncated, fetch it again");
    t->data += start;
    if (start + offset + padded > *end) *end = start + offset + padded;
    return 0;
}

int gguf_read_tensors(Gguf *g) {
    size_t first = g->w->n_tensors;
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && i < g->n_tensors; i++) rc = read_tensor(g);
    if (rc) return rc;
    size_t end = g->pos, padding = padding_of(g, g->pos);
    if (g->n_tensors > 0 && padding > g->size - g->pos) return truncated(g, "padding before the tensors");
    for (size_t i = first; rc == 0 && i < g->w->n_tensors; i++)
        rc = place(g, &g->w->tensors[i], g->pos + padding, &end);
    if (rc == 0 && g->size - end >= (g->n_tensors ? 1 : g->alignment))
        return base_complain(&g->line, "%zu bytes stand behind the last tensor: not the file its header describes",
                             g->size - end);
    return rc;
}

int gguf_open(Weights *w, const uint8_t *data, size_t size, char *err, size_t errlen) {
    Gguf g = {.w = w, .data = data, .size = size, .line = {w->path, err, errlen, 0}};
    w->format = FORMAT_GGUF;
    int rc = gguf_read_head(&g);
    if (rc == 0) rc = gguf_read_tensors(&g);
    return rc ? rc : weights_finish(w, err, errlen);
}
