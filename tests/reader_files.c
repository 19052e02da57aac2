/* tests/reader_files.c - small files for the readers, and what is expected of those. */
#include "reader_files.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening and judging ---- */

/* Read every byte that an opened file promises; the sum only keeps the reads alive. */
unsigned read_all(const Weights *w) {
    unsigned sum = 0;
    for (size_t i = 0; i < w->n_tensors; i++) {
        const Tensor *t = &w->tensors[i];
        for (size_t k = 0; k < t->size; k++) sum += t->data[k];
        for (size_t k = 0; t->scales && k < t->size / (size_t)t->group * 4; k++) sum += t->scales[k];
        CHECK(weights_find(w, t->name) == t);
    }
    for (size_t i = 0; i < w->n_meta; i++) {
        const MetaValue *m = &w->meta[i];
        const uint8_t *cursor = m->data;
        MetaValue v = *m;
        for (uint64_t k = 0; k < (m->type == META_ARRAY ? m->n : 1); k++) {
            if (m->type == META_ARRAY) meta_next(m, &cursor, &v);
            for (uint64_t b = 0; b < (v.type == META_STRING ? v.n : 1); b++) sum += v.data[b];
        }
    }
    return sum;
}

int is_line(const char *err) { return err[0] && !strchr(err, '\n') && strchr(err, ':'); }

static int is_closed(const Weights *w) {
    static const Weights zero;
    return memcmp(w, &zero, sizeof zero) == 0;
}

/* The bytes from an allocation of their own: 0 and read through, or an error and its line. */
int open_bytes(const uint8_t *data, size_t n, char *err, size_t errlen) {
    uint8_t *copy = malloc(n ? n : 1);
    Weights w;
    if (!copy) return -ENOMEM;
    if (n) memcpy(copy, data, n);
    err[0] = 0;
    int rc = weights_open_memory(&w, n ? copy : copy + 1, n, "mem", err, errlen);
    if (rc == 0) read_all(&w);
    else CHECK(is_line(err) && is_closed(&w));
    weights_close(&w);
    free(copy);
    return rc;
}

int refused(const Bytes *f, const char *expected) {
    char err[256];
    int rc = open_bytes(f->data, f->n, err, sizeof err);
    if (rc < 0 && strstr(err, expected)) return 1;
    printf("    expected \"%s\", got %d \"%s\"\n", expected, rc, err);
    return 0;
}

int opens(const Bytes *f) {
    char err[256];
    int rc = open_bytes(f->data, f->n, err, sizeof err);
    if (rc) printf("    %s\n", err);
    return rc == 0;
}

int refused_path(const char *path, const char *expected) {
    char err[900] = "";
    Weights w;
    int rc = weights_open(&w, path, err, sizeof err);
    int good = rc < 0 && strstr(err, expected) && is_line(err) && is_closed(&w);
    if (!good) printf("    expected \"%s\", got %d \"%s\"\n", expected, rc, err);
    weights_close(&w);
    return good;
}

void cut_everywhere(const Bytes *f) {
    char err[256];
    for (size_t n = 0; n < f->n; n++)
        if (open_bytes(f->data, n, err, sizeof err) == 0) {
            printf("    %zu of %zu bytes open\n", n, f->n);
            CHECK(!"a truncated file opens");
        }
}

/* All eight bits of every byte, then 0 and 0xff. */
void flip_everywhere(const Bytes *f, OpenBytes *open) {
    uint8_t *copy = malloc(f->n);
    char err[256];
    if (!copy) abort();
    memcpy(copy, f->data, f->n);
    for (size_t i = 0; i < f->n; i++) {
        for (int bit = 0; bit < 10; bit++) {
            copy[i] = bit < 8 ? f->data[i] ^ (uint8_t)(1 << bit) : bit == 8 ? 0 : 0xff;
            open(copy, f->n, err, sizeof err);
        }
        copy[i] = f->data[i];
    }
    free(copy);
}

int open_safetensors_bytes(const uint8_t *data, size_t n, char *err, size_t errlen) {
    uint8_t *copy = malloc(n ? n : 1);
    Weights w;
    memset(&w, 0, sizeof w);
    if (!copy) return -ENOMEM;
    if (n) memcpy(copy, data, n);
    err[0] = 0;
    int rc = safetensors_read(&w, n ? copy : copy + 1, n, "mem", err, errlen);
    if (rc == 0) rc = weights_finish(&w, err, errlen);
    if (rc == 0) read_all(&w);
    else CHECK(is_line(err));
    weights_close(&w);
    free(copy);
    return rc;
}

int open_data(Weights *w, const char *name) {
    char err[900] = "";
    const char *path = test_data(name);
    if (!path) return 0;
    int rc = weights_open(w, path, err, sizeof err);
    if (rc) printf("    %s\n", err);
    CHECK(rc == 0);
    return rc == 0;
}

/* ---- files ---- */

int save(const char *path, const void *data, size_t n) {
    FILE *out = fopen(path, "wb");
    if (!out) return 0;
    int ok = fwrite(data, 1, n, out) == n;
    return fclose(out) == 0 && ok;
}

void put_floats(Bytes *f, int n, float first) {
    for (int i = 0; i < n; i++) bytes_put(f, &(float){first + (float)i}, 4); /* a little-endian machine */
}

void put_gguf(Bytes *f, uint32_t version, uint64_t n_tensors, uint64_t n_meta) {
    f->n = 0;
    bytes_put(f, "GGUF", 4);
    bytes_u32(f, version);
    bytes_u64(f, n_tensors);
    bytes_u64(f, n_meta);
}

void put_key(Bytes *f, const char *name, uint32_t type, uint64_t value, int bytes) {
    bytes_string(f, name);
    bytes_u32(f, type);
    bytes_number(f, value, bytes);
}

void gguf_with(const char *to, const char *from, Bytes *keys, uint64_t n) {
    static const char filler[] = "x.filler";
    size_t size = 0, most = 64, fixed = 8 + sizeof filler - 1 + 4 + 8;
    char *old = file_read(from, &size);
    Bytes f = {0};
    CHECK(old && size > 24);
    if (!old) return;
    bytes_put(&f, old, 16), bytes_u64(&f, load_u64(old + 16) + n + 1), bytes_put(&f, keys->data, keys->n);
    bytes_string(&f, filler), bytes_u32(&f, META_STRING);
    size_t fill = (most - (keys->n + fixed) % most) % most;
    bytes_u64(&f, fill);
    for (size_t i = 0; i < fill; i++) bytes_u8(&f, 'x');
    bytes_put(&f, old + 24, size - 24);
    file_write(to, f.data, f.n);
    free(f.data), free(keys->data), free(old);
    *keys = (Bytes){0};
}

void put_array(Bytes *f, const char *name, uint32_t elem, uint64_t n) {
    bytes_string(f, name);
    bytes_u32(f, META_ARRAY);
    bytes_u32(f, elem);
    bytes_u64(f, n);
}

void put_tensor(Bytes *f, const char *name, int n_dims, uint64_t d0, uint64_t d1, uint32_t type, uint64_t offset) {
    bytes_string(f, name);
    bytes_u32(f, (uint32_t)n_dims);
    for (int i = 0; i < n_dims; i++) bytes_u64(f, i == 0 ? d0 : i == 1 ? d1 : 1);
    bytes_u32(f, type);
    bytes_u64(f, offset);
}

void put_key_file(Bytes *f) { put_gguf(f, 3, 0, 1); }

void put_tensor_file(Bytes *f, int n_dims, uint64_t d0, uint64_t d1, uint32_t type, uint64_t offset, int bytes) {
    put_gguf(f, 3, 1, 0);
    put_tensor(f, "t", n_dims, d0, d1, type, offset);
    bytes_pad(f, 32);
    for (int i = 0; i < bytes; i++) bytes_number(f, 1, 1);
}

static void llama2c_config(Bytes *f, int vocab) {
    const int sizes[] = {LLAMA2C_DIM,      LLAMA2C_HIDDEN, LLAMA2C_LAYERS, LLAMA2C_HEADS,
                         LLAMA2C_KV_HEADS, vocab,          LLAMA2C_SEQ};
    for (int i = 0; i < 7; i++) bytes_u32(f, (uint32_t)sizes[i]);
}

/* Values of all matrices but the embedding: q, o are [4, 4], k, v [2, 4], three of [6, 4], in two layers. */
enum {
    MATRICES = LLAMA2C_LAYERS * (2 * 16 + 2 * 8 + 3 * 24),
    EMBEDDING = LLAMA2C_VOCAB * LLAMA2C_DIM,
    TABLES = LLAMA2C_SEQ * 2,
};

static void llama2c_head(Bytes *f, uint32_t version, int shared, uint32_t group) {
    f->n = 0;
    bytes_u32(f, 0x616b3432);
    bytes_u32(f, version);
    llama2c_config(f, LLAMA2C_VOCAB);
    bytes_number(f, (uint64_t)shared, 1);
    bytes_u32(f, group);
    bytes_pad(f, 256);
}

void good_llama2c(Bytes *f, uint32_t version, int shared) {
    f->n = 0;
    int values = MATRICES + EMBEDDING * (shared ? 1 : 2);
    if (version == 0) {
        llama2c_config(f, shared ? LLAMA2C_VOCAB : -LLAMA2C_VOCAB);
        put_floats(f, values + LLAMA2C_NORMS + TABLES, 0);
    } else if (version == 1) {
        llama2c_head(f, 1, shared, 0);
        put_floats(f, values + LLAMA2C_NORMS, 0);
    } else {
        llama2c_head(f, 2, shared, LLAMA2C_GROUP);
        put_floats(f, LLAMA2C_NORMS, 0);
        for (int i = 0; i < values + values / LLAMA2C_GROUP * 4; i++) bytes_number(f, (uint64_t)i % 100, 1);
    }
}

void safetensors_with(const char *path, const char *from, const char *to, int more) {
    size_t size = 0, n;
    char *old = file_read(path, &size);
    Bytes f = {0}, header = {0};
    CHECK(old && size > 8);
    if (!old) return;
    n = (size_t)load_u64(old);
    bytes_put(&header, old + 8, n), bytes_u8(&header, 0);
    const char *at = strstr((char *)header.data, from);
    if (!at) test_fail(__FILE__, __LINE__, from);
    else {
        size_t before = (size_t)(at - (char *)header.data);
        bytes_u64(&f, n + strlen(to) - strlen(from)), bytes_put(&f, old + 8, before), bytes_put(&f, to, strlen(to));
        bytes_put(&f, at + strlen(from), n - before - strlen(from)), bytes_put(&f, old + 8 + n, size - 8 - n);
        for (int i = 0; i < more; i++) bytes_u8(&f, 0);
        file_write(path, f.data, f.n);
    }
    free(f.data), free(header.data), free(old);
}

void safetensors_file(Bytes *f, const char *header, size_t n, int data_bytes) {
    f->n = 0;
    bytes_u64(f, n);
    bytes_put(f, header, n);
    for (int i = 0; i < data_bytes; i++) bytes_number(f, (uint64_t)i, 1);
}
