/* weights-tools/source_gguf.c - a GGUF file (or the parts of a split one): its keys byte for byte, its tensors as they
 * are. */
#include "source.h"

#include "model/family.h"
#include "model/files/gguf_scales.h"

#include <errno.h>
#include <string.h>

/* Bytes of a value, from v->data on. */
static size_t value_bytes(const MetaValue *v) {
    if (v->type == META_STRING) return (size_t)v->n;
    if (v->type != META_ARRAY) return meta_size(v->type);
    if (v->elem != META_STRING) return (size_t)v->n * meta_size(v->elem);
    const uint8_t *cursor = v->data;
    MetaValue element;
    for (uint64_t i = 0; i < v->n; i++) meta_next(v, &cursor, &element);
    return (size_t)(cursor - v->data);
}

/* The pair as the file has it: what stands before data is written again, the rest is copied. */
static void copy_pair(GgufMeta *m, const MetaValue *v) {
    gguf_text(m, v->key, strlen(v->key));
    buffer_u32(&m->bytes, (uint32_t)v->type);
    if (v->type == META_ARRAY) buffer_u32(&m->bytes, (uint32_t)v->elem);
    if (v->type == META_ARRAY || v->type == META_STRING) buffer_u64(&m->bytes, v->n);
    buffer_bytes(&m->bytes, v->data, value_bytes(v));
    m->n++;
}

static void copy_keys(Source *s, const SourceWish *wish) {
    int64_t n;
    for (size_t i = 0; i < s->weights.n_meta; i++) {
        const MetaValue *v = &s->weights.meta[i];
        int other = strncmp(v->key, "split.", 6) == 0 || /* the new file is whole */
                    (wish->name && strcmp(v->key, "general.name") == 0);
        if (strcmp(v->key, "general.file_type") == 0) s->file_type = meta_integer(v, &n) && n >= 0 && n < 1024 ? n : -1;
        else if (strcmp(v->key, "general.quantization_version") == 0)
            s->quantization_version = meta_integer(v, &n) && n >= 0 && n < 1024 ? n : -1;
        else if (!other) copy_pair(&s->meta, v);
        if (strcmp(v->key, "general.alignment") == 0) s->alignment = load_u32(v->data); /* gguf.c has checked it */
    }
    if (wish->name) gguf_string(&s->meta, "general.name", wish->name);
}

static int add_tensor(Source *s, const Tensor *t) {
    Item i = {.n_dims = t->n_dims, .rows = 1, .cols = 1};
    for (int d = 0; d < t->n_dims; d++) {
        i.shape[d] = (size_t)t->shape[d];
        if (d < t->n_dims - 1) i.rows *= (size_t)t->shape[d];
        else i.cols = (size_t)t->shape[d];
    }
    i.from = (Matrix){.type = (TensorType)t->type, .group = t->group, .rows = i.rows, .cols = i.cols};
    i.from.data = t->data;
    i.from.scales = t->scales;
    const Tensor *scaled = gguf_scaled(&s->weights, t->name);
    i.scaled = scaled ? 1 + (size_t)(scaled - s->weights.tensors) : 0;
    return source_add(s, t->name, &i);
}

/* GGUF has at most 4 dimensions, llama2.c's files 2; every size was checked when the file was opened. That there are
 * tensors config_read has seen. */
static int add_tensors(Source *s, char *err, size_t errlen) {
    int rc = 0;
    for (size_t i = 0; i < s->weights.n_tensors && rc == 0; i++)
        if (add_tensor(s, &s->weights.tensors[i])) rc = source_no_memory(s, err, errlen);
    return rc;
}

int source_gguf(Source *s, const SourceWish *wish, const Report *r, char *err, size_t errlen) {
    (void)r;
    if (wish->tokenizer || wish->no_tokenizer)
        return base_error(err, errlen, -EINVAL, "%s: a GGUF file keeps its own tokenizer", s->path);
    int rc = config_read(&s->config, &s->weights, NULL, err, errlen);
    if (rc == 0) rc = gguf_find_scales(&s->weights, err, errlen);
    if (rc == 0) rc = add_tensors(s, err, errlen);
    if (rc == 0) copy_keys(s, wish);
    return rc;
}

/* llama2.c names nothing; its reader gives GGUF's names, and its pairs lie as GGUF's "llama" has them. A text ends
 * where the next would begin (BOS), so that id is one of those that end it. */
int source_llama2c(Source *s, const SourceWish *wish, const Report *r, char *err, size_t errlen) {
    char name[200];
    int rc = config_read(&s->config, &s->weights, NULL, err, errlen);
    if (rc) return rc;
    source_name(wish, s->weights.folder, "llama", name, sizeof name);
    rc = source_keys(s, "llama", name, err, errlen);
    if (rc == 0) rc = add_tensors(s, err, errlen);
    return rc ? rc : source_tokenizer(s, wish, s->weights.folder, 1, r, err, errlen);
}
