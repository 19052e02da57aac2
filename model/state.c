/* model/state.c - a session's past in a file: what attention has kept, and the logits after the last id.
 *
 *     0   "roformer"                    8 bytes
 *     8   version 1                     u32; this and the numbers below little-endian
 *     12  kind: 1 softmax, 2 linear     u32
 *     16  model_fingerprint             u64
 *     24  ids read                      u64
 *     32  1.0 as this machine's double  8 bytes: what follows is in this machine's order of bytes
 *     40  logits                        f32 [vocab_size]
 *         linear: S, z, top             f64 [LinearState.n]: the same size however much was read
 *         softmax: ids, keys, values    i32 [n], f32 [n_layers, n_kv_heads, n, head_dim] twice
 *     end hash_bytes of all before it, u64 */
#include "session.h"

#include <errno.h>
#include <string.h>

enum { VERSION = 1, HEADER = 40, FOOTER = 8 };

static void store_u64(uint8_t *p, uint64_t v) {
    for (int i = 0; i < 8; i++) p[i] = (uint8_t)(v >> 8 * i);
}

static void header_of(const Session *s, uint8_t h[HEADER]) {
    const double one = 1;
    memcpy(h, "roformer", 8);
    store_u64(h + 8, VERSION | (uint64_t)(s->state.S ? 2 : 1) << 32);
    store_u64(h + 16, model_fingerprint(s->model));
    store_u64(h + 24, s->pos);
    memcpy(h + 32, &one, 8);
}

/* ---- the parts of a file, in order, written or read ---- */

typedef void Part(void *arg, void *data, size_t n);

static void each_part(const Session *s, size_t n_ids, Part *part, void *arg) {
    const KVCache *c = &s->cache;
    part(arg, s->logits, (size_t)s->model->config.vocab_size * sizeof *s->logits);
    if (s->state.S) {
        part(arg, s->state.S, s->state.n * sizeof *s->state.S);
        return;
    }
    part(arg, s->ids, n_ids * sizeof *s->ids);
    for (int values = 0; values < 2; values++) {
        size_t width = (size_t)(values ? c->value_dim : c->head_dim);
        for (size_t h = 0; h < (size_t)c->n_layers * (size_t)c->n_kv_heads; h++)
            part(arg, (values ? c->v : c->k) + h * c->n_ctx * width, n_ids * width * sizeof *c->k);
    }
}

static void count_part(void *arg, void *data, size_t n) {
    (void)data;
    *(size_t *)arg += n; /* no overflow: all of it is memory that s has */
}

typedef struct {
    NewFile file;
    uint64_t hash;
} Writer;

static void write_part(void *arg, void *data, size_t n) {
    Writer *w = arg;
    w->hash = hash_bytes(w->hash, data, n);
    newfile_write(&w->file, data, n);
}

static void read_part(void *arg, void *data, size_t n) {
    const uint8_t **from = arg;
    if (n) memcpy(data, *from, n);
    *from += n;
}

int session_save(const Session *s, const char *path, char *err, size_t errlen) {
    Writer w = {.hash = HASH_START};
    uint8_t header[HEADER], footer[FOOTER];
    if (!s->has_logits) return base_error(err, errlen, -EINVAL, "%s: there are no logits to save with what was read (session_eval with logits comes first)", path);
    int rc = newfile_open(&w.file, path, err, errlen);
    if (rc) return rc;
    header_of(s, header);
    write_part(&w, header, HEADER);
    each_part(s, s->pos, write_part, &w);
    store_u64(footer, w.hash);
    newfile_write(&w.file, footer, FOOTER);
    return newfile_close(&w.file, 1, err, errlen);
}

/* ---- reading ---- */

/* What can be told without a session. */
static int check_header(const uint8_t *data, size_t size, const char *name, char *err, size_t errlen) {
    const double one = 1;
    if (size < HEADER + FOOTER || memcmp(data, "roformer", 8) != 0)
        return base_error(err, errlen, -EINVAL, "%s: is not a saved state", name);
    if (load_u32(data + 8) != VERSION)
        return base_error(err, errlen, -EINVAL, "%s: a state of version %u; this program reads version %d", name, load_u32(data + 8), VERSION);
    if (memcmp(data + 32, &one, 8) != 0) return base_error(err, errlen, -EINVAL, "%s: was saved on a machine with another order of bytes", name);
    if (load_u32(data + 12) == 1 && load_u64(data + 24) > size / sizeof(int)) return base_error(err, errlen, -EINVAL, "%s: the state is damaged", name);
    return 0;
}

static int refuse(Session *s, char *err, size_t errlen, const char *name, const char *why) {
    session_rewind(s, 0);
    return base_error(err, errlen, -EINVAL, "%s: %s", name, why);
}

int session_load_memory(Session *s, const void *bytes, size_t size, const char *name, const float **logits, char *err, size_t errlen) {
    const uint8_t *data = bytes, *from = data + HEADER;
    size_t want = HEADER + FOOTER;
    session_rewind(s, 0);
    if (logits) *logits = NULL;
    int rc = check_header(data, size, name, err, errlen);
    if (rc) return rc;
    uint64_t n = load_u64(data + 24);
    if (load_u32(data + 12) != (s->state.S ? 2 : 1))
        return refuse(s, err, errlen, name, s->state.S ? "a state of softmax attention; this session's is linear" : "a state of linear attention; this session's is softmax");
    if (load_u64(data + 16) != model_fingerprint(s->model))
        return refuse(s, err, errlen, name, "a state of another model, or of other rope or attention settings");
    if (n == 0 || n > INT64_MAX) return refuse(s, err, errlen, name, "the state is damaged");
    if (n > s->options.n_ctx) {
        rc = base_error(err, errlen, -ENOSPC, "%s: the state of %llu ids does not fit a context of %zu; give a longer one (-c)", name,
                        (unsigned long long)n, s->options.n_ctx);
        return rc;
    }
    each_part(s, (size_t)n, count_part, &want);
    if (size != want) return refuse(s, err, errlen, name, size < want ? "the state is cut short" : "the state is longer than it says");
    if (load_u64(data + size - FOOTER) != hash_bytes(HASH_START, data, size - FOOTER)) return refuse(s, err, errlen, name, "the state is damaged: its checksum is wrong");
    each_part(s, (size_t)n, read_part, &from);
    for (size_t i = 0; s->ids && i < n; i++)
        if (s->ids[i] < 0 || s->ids[i] >= s->model->config.vocab_size) return refuse(s, err, errlen, name, "an id is outside the vocabulary");
    rope_init(&s->rope, &s->model->config.rope, (int64_t)n); /* the frequencies that these ids were read with */
    s->pos = (size_t)n;
    s->has_logits = 1;
    if (logits) *logits = s->logits;
    return 0;
}

int session_load(Session *s, const char *path, const float **logits, char *err, size_t errlen) {
    MappedFile f;
    session_rewind(s, 0);
    if (logits) *logits = NULL;
    int rc = file_map(&f, path, err, errlen);
    if (rc) return rc;
    rc = session_load_memory(s, f.data, f.size, path, logits, err, errlen);
    file_unmap(&f);
    return rc;
}

int session_saved_ids(const char *path, size_t *n, char *err, size_t errlen) {
    MappedFile f;
    int rc = file_map(&f, path, err, errlen);
    if (rc) return rc;
    rc = check_header(f.data, f.size, path, err, errlen);
    if (rc == 0) {
        uint64_t ids = load_u64(f.data + 24);
        *n = ids > SIZE_MAX / 2 ? SIZE_MAX / 2 : (size_t)ids;
    }
    file_unmap(&f);
    return rc;
}
