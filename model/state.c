/* model/state.c - a session's past in a file: what attention has kept, and the logits after the last id.
 *
 *     0   "roformer"                    8 bytes
 *     8   version                       u32: 1, or 2 where RoPE is stretched; these numbers are little-endian
 *     12  kind                          u32: 2 linear; softmax with a cache of f32 1, of f16 3, of q8_0 4
 *     16  model_fingerprint             u64
 *     24  ids read                      u64
 *     32  1.0 as this machine's double  8 bytes: what follows is in this machine's order of bytes
 *     40  version 2: the stretch        u32, and so many bytes of text: rope/spec.h, with all its numbers
 *         logits                        f32 [vocab_size]
 *         linear: S, z, top             f64 [LinearState.n]: the same size however much was read
 *         softmax: ids, keys, values    i32 [n], [n_layers, n_kv_heads, n] of cache_slot_bytes, twice; and again of
 *                                       Past.local, where there is one
 *         delta nets beside it: states  f32 (layers/delta.h)
 *     end hash_bytes of all before it, u64 */
#include "state.h"

#include "attention/cache_bytes.h"
#include "base/newfile.h"
#include "bias.h"
#include "fingerprint.h"
#include "model/layers/delta.h"
#include "past.h"
#include "rope/spec.h"
#include "scratch.h"
#include "timeline.h"
#include "base/base.h"
#include "base/hash.h"

#include <errno.h>
#include <string.h>

enum { PLAIN = 1, STRETCHED = 2, HEADER = 40, FOOTER = 8 };

static const uint32_t kind_of_cache[] = {[CACHE_F32] = 1, [CACHE_F16] = 3, [CACHE_Q8_0] = 4};
enum { KIND_LINEAR = 2, CACHES = sizeof kind_of_cache / sizeof *kind_of_cache };

static uint32_t kind_of(const Session *s) {
    return s->past->state.S ? KIND_LINEAR : kind_of_cache[s->past->cache.type];
}

/* The cache that a kind stands for, or -1: linear, or none of ours. */
static int cache_of(uint32_t kind) {
    for (int i = 0; i < CACHES; i++)
        if (kind_of_cache[i] == kind) return i;
    return -1;
}

static void store_u64(uint8_t *p, uint64_t v) {
    for (int i = 0; i < 8; i++) p[i] = (uint8_t)(v >> 8 * i);
}

enum { SPEC = ROPE_SPEC_MOST + 8 };

/* How s is stretched; its length, 0 where it is not. Keys that may move are cached otherwise, too. */
static size_t spec_of(const Session *s, char spec[SPEC]) {
    rope_spec_print(&s->model->config.rope, spec, ROPE_SPEC_MOST);
    if (s->options.shifts) strcat(spec, "+shift");
    return strcmp(spec, "none") == 0 ? 0 : strlen(spec);
}

static void header_of(const Session *s, uint8_t h[HEADER], int version) {
    const double one = 1;
    memcpy(h, "roformer", 8);
    store_u64(h + 8, (uint64_t)version | (uint64_t)kind_of(s) << 32);
    store_u64(h + 16, model_fingerprint(s->model));
    store_u64(h + 24, s->pos);
    memcpy(h + 32, &one, 8);
}

/* ---- the parts of a file, in order, written or read ---- */

typedef void Part(void *arg, void *data, size_t n);

/* A slot's key or value passes through scratch (of the forward pass, at rest now), for keys do not lie side by side. */
static void slot_part(const Session *s, const KVCache *c, size_t head, size_t slot, int values, int reading, Part *part,
                      void *arg) {
    KVCache into = *c; /* the same memory */
    int l = (int)(head / (size_t)c->n_kv_heads), h = (int)(head % (size_t)c->n_kv_heads);
    void *bytes = values ? s->scratch->v : s->scratch->k;
    if (!reading) cache_get(c, l, h, slot, values, bytes);
    part(arg, bytes, cache_slot_bytes(c, values));
    if (reading) cache_put(&into, l, h, slot, values, bytes);
}

static void cache_part(const Session *s, const KVCache *c, size_t n_ids, int reading, Part *part, void *arg) {
    for (int values = 0; values < 2; values++)
        for (size_t head = 0; head < (size_t)c->n_layers * (size_t)c->n_kv_heads; head++)
            for (size_t slot = 0; slot < n_ids; slot++) slot_part(s, c, head, slot, values, reading, part, arg);
}

static void each_part(const Session *s, size_t n_ids, int reading, Part *part, void *arg) {
    part(arg, s->logits, (size_t)s->model->config.vocab_size * sizeof *s->logits);
    if (s->past->state.S) {
        part(arg, s->past->state.S, s->past->state.n * sizeof *s->past->state.S);
        return;
    }
    part(arg, s->ids, n_ids * sizeof *s->ids);
    cache_part(s, &s->past->cache, n_ids, reading, part, arg);
    cache_part(s, &s->past->local, n_ids, reading, part, arg);
    if (s->past->delta) part(arg, s->past->delta->block, s->past->delta->bytes);
}

/* What a cache keeps of an id. */
static size_t id_bytes(const KVCache *c) {
    size_t heads = (size_t)c->n_layers * (size_t)c->n_kv_heads;
    return heads ? heads * (cache_slot_bytes(c, 0) + cache_slot_bytes(c, 1)) : 0;
}

/* The bytes of all parts. No overflow: all of it is memory that s has. */
static size_t parts_bytes(const Session *s, size_t n_ids) {
    size_t n = (size_t)s->model->config.vocab_size * sizeof *s->logits;
    if (s->past->state.S) return n + s->past->state.n * sizeof *s->past->state.S;
    if (s->past->delta) n += s->past->delta->bytes;
    return n + n_ids * (sizeof *s->ids + id_bytes(&s->past->cache) + id_bytes(&s->past->local));
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
    memcpy(data, *from, n);
    *from += n;
}

int session_save(const Session *s, const char *path, char *err, size_t errlen) {
    Writer w = {.hash = HASH_START};
    uint8_t header[HEADER], footer[FOOTER], length[8];
    char spec[SPEC];
    size_t n_spec = spec_of(s, spec);
    if (s->options.origin)
        return base_error(err, errlen, -EINVAL, "%s: a state holds a text from position 0, and this begins at %zu",
                          path, s->options.origin);
    if (!s->has_logits)
        return base_error(err, errlen, -EINVAL,
                          "%s: there are no logits to save with what was read (read an id with logits first)",
                          path);
    int rc = newfile_open(&w.file, path, err, errlen);
    if (rc) return rc;
    header_of(s, header, n_spec ? STRETCHED : PLAIN);
    write_part(&w, header, HEADER);
    store_u64(length, n_spec);
    if (n_spec) write_part(&w, length, 4), write_part(&w, spec, n_spec);
    each_part(s, s->pos, 0, write_part, &w);
    store_u64(footer, w.hash);
    newfile_write(&w.file, footer, FOOTER);
    return newfile_close(&w.file, 1, err, errlen);
}

/* ---- reading ---- */

/* What can be told without a session. */
static int check_header(const uint8_t *data, size_t size, const char *name, char *err, size_t errlen) {
    double one;
    if (size < HEADER + FOOTER || memcmp(data, "roformer", 8) != 0)
        return base_error(err, errlen, -EINVAL, "%s: is not a saved state", name);
    uint32_t version = load_u32(data + 8);
    if (version != PLAIN && version != STRETCHED)
        return base_error(err, errlen, -EINVAL, "%s: a state of version %u; this program reads versions %d and %d",
                          name, version, PLAIN, STRETCHED);
    memcpy(&one, data + 32, sizeof one);
    if (one != 1)
        return base_error(err, errlen, -EINVAL, "%s: was saved on a machine with another order of bytes", name);
    if (cache_of(load_u32(data + 12)) >= 0 && load_u64(data + 24) > size / sizeof(int))
        return base_error(err, errlen, -EINVAL, "%s: the state is damaged", name);
    return 0;
}

static int refuse(Session *s, char *err, size_t errlen, const char *name, const char *why) {
    session_rewind(s, 0);
    return base_error(err, errlen, -EINVAL, "%s: %s", name, why);
}

static int check_kind(const Session *s, uint32_t kind, const char *name, char *err, size_t errlen) {
    int cache = cache_of(kind);
    if (kind == kind_of(s)) return 0;
    if (cache < 0 && kind != KIND_LINEAR)
        return base_error(err, errlen, -EINVAL, "%s: a state of a kind that this program does not know (%u)", name,
                          kind);
    if (s->past->state.S)
        return base_error(err, errlen, -EINVAL, "%s: a state of softmax attention; this session's is linear", name);
    if (cache < 0)
        return base_error(err, errlen, -EINVAL, "%s: a state of linear attention; this session's is softmax", name);
    return base_error(err, errlen, -EINVAL, "%s: holds keys and values as %s, and this session keeps them as %s (--kv)",
                      name, cache_formats[cache].name, cache_formats[s->past->cache.type].name);
}

/* Nothing but frequencies makes s another than its model unstretched. */
static int only_frequencies(const Session *s) {
    const RopeConfig *c = &s->model->config.rope;
    const RopeNumbers *n = rope_numbers(c);
    return !n->relative && !n->any_nope && !n->scores[0] && !c->scaling->method->each && !s->options.shifts;
}

/* The bytes of a state's stretch, behind its header, or -EINVAL and a line: another than the session's. */
static int check_spec(const Session *s, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen) {
    char mine[SPEC];
    size_t want = spec_of(s, mine), n = 0;
    const char *theirs = (const char *)data + HEADER + 4;
    if (load_u32(data + 8) == STRETCHED) {
        if (size < HEADER + 4 + FOOTER || (n = load_u32(data + HEADER)) > size - HEADER - 4 - FOOTER ||
            n >= SPEC)
            return base_error(err, errlen, -EINVAL, "%s: the state is damaged", name);
    }
    if (n == want && memcmp(theirs, mine, n) == 0) return n ? (int)n + 4 : 0;
    if (load_u32(data + 8) == PLAIN && only_frequencies(s)) return 0; /* those are in the model's fingerprint */
    if (n == 0) theirs = "none", n = 4;
    if (want == 0) strcpy(mine, "none");
    size_t from = 0, shown = 100; /* a spec may hold a thousand numbers: what is shown begins near the difference */
    size_t len = strlen(mine);
    while (from < n && from < len && mine[from] == theirs[from]) from++;
    from = from > shown / 2 && len + n > 2 * shown ? from - shown / 2 : 0;
    int of_theirs = (int)(n - from < shown ? n - from : shown);
    return base_error(err, errlen, -EINVAL, "%s: was read with --rope %s%.*s, and this session has %s%.*s: give the "
                      "same, or read the text again", name, from ? ".." : "", of_theirs, theirs + from,
                      from ? ".." : "", (int)shown, mine + from);
}

int session_load_memory(Session *s, const void *bytes, size_t size, const char *name, const float **logits, char *err,
                        size_t errlen) {
    const uint8_t *data = bytes, *from = data + HEADER;
    size_t want = HEADER + FOOTER;
    session_rewind(s, 0);
    if (logits) *logits = NULL;
    int rc = check_header(data, size, name, err, errlen);
    if (rc) return rc;
    uint64_t n = load_u64(data + 24);
    if ((rc = check_kind(s, load_u32(data + 12), name, err, errlen))) return rc;
    if ((rc = check_spec(s, data, size, name, err, errlen)) < 0) return rc;
    from += rc, want += (size_t)rc;
    if (load_u64(data + 16) != model_fingerprint(s->model))
        return refuse(s, err, errlen, name, "a state of another model, or of other rope or attention settings");
    if (n == 0 || n > INT64_MAX) return refuse(s, err, errlen, name, "the state is damaged");
    if (n > s->options.n_ctx) {
        rc = base_error(err, errlen, -ENOSPC,
                        "%s: the state of %llu ids does not fit a context of %zu; give a longer one (-c)", name,
                        (unsigned long long)n, s->options.n_ctx);
        return rc;
    }
    want += parts_bytes(s, (size_t)n);
    if (size != want)
        return refuse(s, err, errlen, name,
                      size < want ? "the state is cut short" : "the state is longer than it says");
    if (load_u64(data + size - FOOTER) != hash_bytes(HASH_START, data, size - FOOTER))
        return refuse(s, err, errlen, name, "the state is damaged: its checksum is wrong");
    each_part(s, (size_t)n, 1, read_part, &from);
    for (size_t i = 0; s->ids && i < n; i++)
        if (s->ids[i] < 0 || s->ids[i] >= s->model->config.vocab_size)
            return refuse(s, err, errlen, name, "an id is outside the vocabulary");
    rope_init(&s->rope, &s->model->config.rope, (int64_t)n); /* the frequencies that these ids were read with */
    s->pos = (size_t)n;
    s->past->upto = SIZE_MAX;
    bias_restart(s->past->bias);
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

int session_saved_ids(const char *path, size_t *n, CacheType *cache, char *err, size_t errlen) {
    MappedFile f;
    int rc = file_map(&f, path, err, errlen);
    if (rc) return rc;
    rc = check_header(f.data, f.size, path, err, errlen);
    if (rc == 0) {
        uint64_t ids = load_u64(f.data + 24);
        int kept = cache_of(load_u32(f.data + 12));
        *n = ids > SIZE_MAX / 2 ? SIZE_MAX / 2 : (size_t)ids;
        if (cache && kept >= 0) *cache = (CacheType)kept;
    }
    file_unmap(&f);
    return rc;
}
