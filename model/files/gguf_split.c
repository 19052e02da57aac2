/* model/files/gguf_split.c - a GGUF model in several files: NAME-00001-of-00003.gguf and so on, each a GGUF file of its
 * own whose keys say which part it is. It opens by any of its parts; the first one's keys are the model's. */
#include "gguf_split.h"
#include "base/base.h"
#include "base/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int split_integer(Gguf *g, const char *key, int64_t *out) {
    if (meta_integer(weights_meta(g->w, key), out) && *out >= 0) return 0;
    return base_complain(&g->line, "a part of a split file, but its key %s is missing or no count", key);
}

/* NAME-00002-of-00003.gguf -> the same of shard i (from 0), in malloc'ed memory. */
static char *shard_path(const char *path, int64_t i, int64_t count) {
    size_t n = strlen(path);
    char *s = malloc(n + 1);
    if (!s) return NULL;
    memcpy(s, path, n + 1);
    char tail[32];
    snprintf(tail, sizeof tail, "-%05d-of-%05d.gguf", (int)i + 1, (int)count);
    memcpy(s + n - strlen(tail), tail, strlen(tail));
    return s;
}

static int ends_like_shard(const char *path, int64_t i, int64_t count) {
    char tail[32];
    int len = snprintf(tail, sizeof tail, "-%05d-of-%05d.gguf", (int)i + 1, (int)count);
    size_t n = strlen(path);
    return n >= (size_t)len && strcmp(path + n - len, tail) == 0;
}

/* Shard i of count: its head must say so; its tensors are appended. Only the first shard's keys are kept. */
static int read_shard(Weights *w, const MappedFile *f, const char *name, int64_t i, int64_t count, char *err,
                      size_t errlen) {
    Weights own = {.path = NULL}; /* the others' keys */
    Gguf g = {.w = i ? &own : w, .data = f->data, .size = f->size, .line = {name, err, errlen, 0}};
    int64_t no, n;
    int rc = gguf_read_head(&g);
    if (rc == 0) rc = split_integer(&g, "split.no", &no);
    if (rc == 0) rc = split_integer(&g, "split.count", &n);
    if (rc == 0 && (no != i || n != count))
        rc = base_complain(&g.line, "says it is part %lld of %lld, its name says part %lld of %lld", (long long)no + 1,
                           (long long)n, (long long)i + 1, (long long)count);
    g.w = w;
    if (rc == 0) rc = gguf_read_tensors(&g);
    weights_close(&own);
    return rc;
}

static int open_shard(Weights *w, const char *given, int64_t i, int64_t given_no, int64_t count, char *err,
                      size_t errlen) {
    char *path = shard_path(given, i, count);
    if (!path) return weights_no_memory(given, err, errlen);
    int rc = 0;
    if (i != given_no && !file_exists(path))
        rc = base_error(err, errlen, -ENOENT,
                        "%s: part %lld of %lld is missing: all parts of a split file must stand in one folder", path,
                        (long long)i + 1, (long long)count);
    if (rc == 0 && i != given_no) rc = weights_add_file(w, path, err, errlen);
    if (rc == 0) rc = read_shard(w, &w->files[i == given_no ? 0 : w->n_files - 1], path, i, count, err, errlen);
    free(path);
    return rc;
}

/* g has read the head of one shard, whichever was given: open all of them, in order. */
static int open_split(Gguf *g, int64_t count) {
    int64_t no, total;
    Weights *w = g->w;
    int rc = split_integer(g, "split.no", &no);
    if (rc == 0) rc = split_integer(g, "split.tensors.count", &total);
    if (rc) return rc;
    if (w->n_files == 0) return base_complain(&g->line, "part of a split file, which opens by its path only");
    if (no >= count || count > 99999 || !ends_like_shard(g->line.name, no, count))
        return base_complain(&g->line, "part %lld of %lld of a split file, but its name does not end in "
                             "-%05lld-of-%05lld.gguf: give it its name back",
                             (long long)no + 1, (long long)count, (long long)no + 1, (long long)count);
    w->n_meta = 0; /* the first shard's keys are the model's */
    for (int64_t i = 0; rc == 0 && i < count; i++)
        rc = open_shard(w, g->line.name, i, no, count, g->line.err, g->line.errlen);
    if (rc == 0 && (uint64_t)total != w->n_tensors)
        rc = base_complain(&g->line, "split.tensors.count says %lld, the parts hold %zu tensors", (long long)total,
                           w->n_tensors);
    return rc;
}

int gguf_split_open(Weights *w, const uint8_t *data, size_t size, char *err, size_t errlen) {
    Gguf g = {.w = w, .data = data, .size = size, .line = {w->path, err, errlen, 0}};
    int64_t count = 0;
    w->format = FORMAT_GGUF;
    int rc = gguf_read_head(&g);
    if (rc) return rc;
    if (weights_meta(w, "split.count") && (rc = split_integer(&g, "split.count", &count)) != 0) return rc;
    rc = count > 1 ? open_split(&g, count) : gguf_read_tensors(&g);
    return rc ? rc : weights_finish(w, err, errlen);
}
