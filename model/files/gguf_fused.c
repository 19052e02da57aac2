/* model/files/gguf_fused.c - see gguf_fused.h. */
#include "gguf_fused.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ARCH.key, of a list its first number. */
static uint64_t count(const Weights *w, const char *arch, const char *key, uint64_t otherwise) {
    char name[100];
    int64_t n = 0;
    MetaValue first;
    snprintf(name, sizeof name, "%s.%s", arch, key);
    const MetaValue *m = weights_meta(w, name);
    const uint8_t *at = m ? m->data : NULL;
    if (m && m->type == META_ARRAY && m->n) meta_next(m, &at, &first), m = &first;
    return meta_integer(m, &n) && n > 0 && n < 1 << 24 ? (uint64_t)n : otherwise;
}

static const char *family_of(const Weights *w) {
    static const char *const names[] = {"llama", "qwen2", "qwen3"};
    const MetaValue *m = w->format == FORMAT_GGUF ? weights_meta(w, "general.architecture") : NULL;
    for (int i = 0; m && m->type == META_STRING && i < 3; i++)
        if (m->n == strlen(names[i]) && memcmp(m->data, names[i], (size_t)m->n) == 0) return names[i];
    return NULL;
}

/* Tensor i, whose name, shorter than TENSOR_NAME, holds ".attn_qkv." at `at`, becomes q; k and v come behind the last.
 * 0 or -ENOMEM. */
static int take_apart(Weights *w, size_t i, const char *at, const uint64_t rows[3]) {
    Tensor whole = w->tensors[i];
    size_t row = whole.size / (size_t)whole.shape[0];
    for (int k = 0, rc; k < 3; k++) {
        Tensor part = whole;
        char name[TENSOR_NAME];
        int n = snprintf(name, sizeof name, "%.*s.attn_%c.%s", (int)(at - whole.name), whole.name, "qkv"[k], at + 10);
        part.name = weights_keep(w, name, (size_t)n);
        part.shape[0] = rows[k];
        part.size = row * (size_t)rows[k];
        if (!part.name) return -ENOMEM;
        if (k == 0) w->tensors[i] = part;
        else if ((rc = weights_add_tensor(w, &part))) return rc;
        whole.data += part.size;
    }
    return 0;
}

int gguf_take_apart(Weights *w, char *err, size_t errlen) {
    const char *arch = family_of(w);
    size_t n = w->n_tensors;
    if (!arch) return 0;
    uint64_t heads = count(w, arch, "attention.head_count", 1), kv = count(w, arch, "attention.head_count_kv", heads),
             each = count(w, arch, "attention.key_length", count(w, arch, "embedding_length", 0) / heads),
             rows[] = {heads * each, kv * each, kv * count(w, arch, "attention.value_length", each)};
    for (size_t i = 0; i < n; i++) {
        const Tensor *t = &w->tensors[i];
        const char *at = strncmp(t->name, "blk.", 4) == 0 ? strstr(t->name, ".attn_qkv.") : NULL;
        int fits = at && t->n_dims > 0 && t->shape[0] && t->shape[0] == rows[0] + rows[1] + rows[2] &&
                   strlen(t->name) < TENSOR_NAME; /* a longer one is nobody's: it stays */
        if (fits && take_apart(w, i, at, rows)) return weights_no_memory(w->path, err, errlen);
    }
    return 0;
}
