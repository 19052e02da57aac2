/* weights-tools/checkpoint/open.c - which container a path leads to. */
#include "open.h"
#include "base/json.h"
#include "consolidated.h"
#include "model/files/safetensors.h"
#include "table.h"
#include "tf.h"
#include "torch.h"
#include "zip.h"
#include "base/base.h"
#include "base/paths.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- PyTorch ---- */

static int add_torch(Checkpoint *c, const char *path, char *err, size_t errlen) {
    int rc = weights_add_file(&c->weights, path, err, errlen);
    if (rc) return rc;
    const MappedFile *f = &c->weights.files[c->weights.n_files - 1];
    c->file_bytes = c->weights.file_bytes;
    c->container = zip_is(f->data, f->size) ? CONTAINER_ZIP : CONTAINER_LEGACY;
    if (c->container == CONTAINER_ZIP) return torch_zip_read(c, f->data, f->size, path, err, errlen);
    if (torch_legacy_is(f->data, f->size)) return torch_legacy_read(c, f->data, f->size, path, err, errlen);
    const char *what = NULL;
    if (safetensors_is(f->data, f->size)) what = "safetensors by another name: rename it model.safetensors";
    else if (f->size > 4 && memcmp(f->data, "GGUF", 4) == 0)
        what = "a GGUF file, which is not turned into safetensors: ./run opens it, ./run inspect lists it";
    else if (f->size > 2 && f->data[0] == 0x80 && f->data[1] <= 5) what = "a pickle, but not one that torch.save wrote";
    else if (f->size > 262 && memcmp(f->data + 257, "ustar", 5) == 0)
        what = "a tar archive, as PyTorch wrote before 0.2: load and save it with a newer PyTorch";
    if (what) return base_error(err, errlen, -EINVAL, "%s: %s", path, what);
    return base_error(err, errlen, -ENOEXEC, "%s: neither a PyTorch file, nor a TensorFlow index, nor safetensors",
                      path);
}

enum { SHARDED_MAX_TENSORS = 20000 }; /* the look-ups below compare every pair */

/* All consolidated.NN.pth of the folder, from 00 on. */
static int add_consolidated(Checkpoint *c, const char *path, char *err, size_t errlen) {
    char name[24];
    size_t ends[CONSOLIDATED_MAX_FILES], n = 0;
    int rc = 0;
    for (; rc == 0 && n < CONSOLIDATED_MAX_FILES; n++) {
        consolidated_name(name, n);
        if (n > 0 && !file_has(c->folder, name)) break;
        char *file = file_join(c->folder, name);
        rc = file ? add_torch(c, file, err, errlen) : weights_no_memory(path, err, errlen);
        ends[n] = c->n_views;
        free(file);
    }
    if (rc == 0 && n == CONSOLIDATED_MAX_FILES)
        rc = base_error(err, errlen, -EINVAL, "%s: %zu files or more, where LLaMA has 16 at most", path, n);
    if (rc == 0 && c->n_views > SHARDED_MAX_TENSORS)
        rc = base_error(err, errlen, -EINVAL, "%s: its files hold %zu tensors, and at most %d are read", path,
                        c->n_views, SHARDED_MAX_TENSORS);
    return rc ? rc : consolidated_join(c, ends, n, path, err, errlen);
}

/* A shard is named once for every tensor in it. */
static int is_repeated(const JsonValue *map, const JsonValue *entry) {
    for (const JsonValue *e = map->child; e != entry; e = e->next)
        if (json_is(e, entry->str)) return 1;
    return 0;
}

static int is_plain_name(const JsonValue *v) {
    return v->type == JSON_STRING && weights_is_name(v->str, v->len) && !strchr(v->str, '/') &&
           strcmp(v->str, "..") != 0;
}

/* Every tensor of the list must have come, and no other. */
static int check_map(const Checkpoint *c, const JsonValue *map, const char *path, char *err, size_t errlen) {
    for (size_t i = 0; i < c->n_views; i++)
        if (!json_get(map, c->views[i].name))
            return base_error(err, errlen, -EINVAL, "%s: does not list tensor %.80s, which a shard holds", path,
                              c->views[i].name);
    if (c->n_views == map->len) return 0;
    return base_error(err, errlen, -EINVAL, "%s: lists %zu tensors, the shards hold %zu", path, map->len, c->n_views);
}

static int add_torch_shards(Checkpoint *c, const char *index, char *err, size_t errlen) {
    Json j;
    int rc = json_open(&j, index, err, errlen);
    if (rc) return rc;
    const JsonValue *map = json_typed(j.root, "weight_map", JSON_OBJECT);
    if (map && map->len > SHARDED_MAX_TENSORS)
        rc = base_error(err, errlen, -EINVAL, "%s: weight_map names %zu tensors, and at most %d are read", index,
                        map->len, SHARDED_MAX_TENSORS);
    else if (!map || map->len == 0)
        rc = base_error(err, errlen, -EINVAL, "%s: has no weight_map that names shards", index);
    for (const JsonValue *e = rc ? NULL : map->child; e && rc == 0; e = e->next) {
        if (!is_plain_name(e)) {
            rc = base_error(err, errlen, -EINVAL,
                            "%s: weight_map entry %.60s: a shard must be the plain name of a file here", index, e->key);
            break;
        }
        if (is_repeated(map, e)) continue;
        char *path = file_join(c->folder, e->str);
        rc = path ? add_torch(c, path, err, errlen) : weights_no_memory(index, err, errlen);
        free(path);
    }
    if (rc == 0) rc = check_map(c, map, index, err, errlen);
    json_free(&j);
    return rc;
}

/* ---- safetensors ---- */

static ElemType type_of(const Tensor *t) {
    for (int e = ELEM_F32; e < ELEM_OTHER; e++)
        if (strcmp(elem_name((ElemType)e), t->type_name) == 0) return (ElemType)e;
    return ELEM_OTHER;
}

static int add_safetensors_views(Checkpoint *c, const char *path, char *err, size_t errlen) {
    int rc = 0;
    for (size_t i = 0; i < c->weights.n_tensors && rc == 0; i++) {
        const Tensor *t = &c->weights.tensors[i];
        View v = {.type = type_of(t), .n_dims = t->n_dims, .data = t->data};
        for (int d = 0; d < t->n_dims; d++) v.shape[d] = (size_t)t->shape[d];
        if (v.type == ELEM_OTHER)
            rc = base_error(err, errlen, -EINVAL, "%s: tensor %.80s: its type %.20s is not read here", path,
                            t->name, t->type_name);
        else if (!view_init(&v))
            rc = base_error(err, errlen, -EINVAL, "%s: tensor %.80s: its shape is larger than any file", path, t->name);
        else
            rc = checkpoint_add(c, &v, t->name, strlen(t->name), path, err, errlen);
    }
    return rc;
}

/* A lone file without config.json is fine here: --config may name one. */
static int add_safetensors(Checkpoint *c, const char *path, char *err, size_t errlen) {
    int beside = file_has(c->folder, "config.json") || file_has(c->folder, "model.safetensors.index.json"), rc;
    int whole = file_is_folder(path) || (beside && !consolidated_is_mistrals(path)); /* whose names are its authors' */
    c->container = CONTAINER_SAFETENSORS;
    if (whole) {
        rc = weights_open(&c->weights, path, err, errlen);
        if (rc == 0) rc = weights_expand(&c->weights, err, errlen);
    } else {
        rc = weights_add_file(&c->weights, path, err, errlen);
        if (rc == 0)
            rc = safetensors_read(&c->weights, c->weights.files[0].data, c->weights.files[0].size, path, err, errlen);
        c->weights.path = weights_keep(&c->weights, path, strlen(path));
        if (rc == 0 && !c->weights.path) rc = weights_no_memory(path, err, errlen);
        if (rc == 0) rc = weights_finish(&c->weights, err, errlen);
    }
    c->file_bytes = c->weights.file_bytes;
    return rc ? rc : add_safetensors_views(c, path, err, errlen);
}

/* ---- which one ---- */

static int add_tf(Checkpoint *c, const char *path, char *err, size_t errlen) {
    char *prefix = strdup(path);
    if (!prefix) return weights_no_memory(path, err, errlen);
    if (text_ends_with(prefix, ".index")) prefix[strlen(prefix) - strlen(".index")] = 0;
    c->container = CONTAINER_TF;
    int rc = tf_open(c, prefix, err, errlen);
    free(prefix);
    return rc;
}

/* The folder's TensorFlow index, *path in malloc'ed memory: bert_model.ckpt.index, or the only *.index there is.
 * -ENOENT: none, or several. */
static int find_index(char **path, const char *folder, char *err, size_t errlen) {
    static const char *const usual[] = {"bert_model.ckpt.index"};
    int rc = file_find(path, folder, usual, 1, file_exists), n = 0;
    if (rc) return weights_no_memory(folder, err, errlen);
    if (*path) return 0;
    DIR *d = opendir(folder);
    struct dirent *e = NULL;
    char found[sizeof e->d_name];
    rc = d || !errno_is_passing(-errno) ? 0 : -errno;
    while (d && n < 2 && (errno = 0, e = readdir(d)))
        if (text_ends_with(e->d_name, ".index")) n++, memcpy(found, e->d_name, strlen(e->d_name) + 1);
    if (d && n < 2 && errno) rc = -errno;
    if (d) closedir(d);
    if (rc) return base_error(err, errlen, rc, "%s: %s", folder, strerror(-rc));
    if (n > 1)
        return base_error(err, errlen, -ENOENT, "%s: holds several TensorFlow checkpoints: name one of the .index "
                          "files", folder);
    if (n == 0)
        return base_error(err, errlen, -ENOENT, "%s: no model.safetensors, pytorch_model.bin, consolidated.00.pth or "
                          ".safetensors, or bert_model.ckpt.index in this folder", folder);
    return (*path = file_join(folder, found)) ? 0 : weights_no_memory(folder, err, errlen);
}

static int open_folder(Checkpoint *c, const char *path, char *err, size_t errlen) {
    static const struct {
        const char *name;
        int (*add)(Checkpoint *c, const char *file, char *err, size_t errlen);
        int of_folder; /* what is added is the folder's */
    } rows[] = {{"model.safetensors", add_safetensors, 1}, {"model.safetensors.index.json", add_safetensors, 1},
                {"pytorch_model.bin", add_torch, 0}, {"pytorch_model.bin.index.json", add_torch_shards, 0},
                {"consolidated.00.pth", add_consolidated, 0}, {"consolidated.safetensors", add_safetensors, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!file_has(path, rows[i].name)) continue;
        char *file = rows[i].of_folder ? strdup(path) : file_join(path, rows[i].name);
        int rc = file ? rows[i].add(c, file, err, errlen) : weights_no_memory(path, err, errlen);
        free(file);
        return rc;
    }
    char *index;
    int rc = find_index(&index, path, err, errlen);
    if (rc == 0) rc = add_tf(c, index, err, errlen);
    free(index);
    return rc;
}

static int open_file(Checkpoint *c, const char *path, char *err, size_t errlen) {
    MappedFile f;
    if (text_ends_with(path, ".bin.index.json")) return add_torch_shards(c, path, err, errlen);
    if (consolidated_is(path)) return add_consolidated(c, path, err, errlen);
    int rc = file_map(&f, path, err, errlen);
    if (rc) return rc;
    int is_safetensors = !zip_is(f.data, f.size) && safetensors_is(f.data, f.size);
    file_unmap(&f);
    if (text_ends_with(path, ".index")) return add_tf(c, path, err, errlen);
    if (is_safetensors || text_ends_with(path, ".safetensors")) return add_safetensors(c, path, err, errlen);
    if (strstr(path, ".data-0"))
        return base_error(err, errlen, -EINVAL, "%s: the data of a TensorFlow checkpoint: give its .index file", path);
    return add_torch(c, path, err, errlen);
}

/* A TensorFlow prefix is the name of no file; PREFIX.index is. */
static int is_prefix(const char *path) {
    char index[4096 + sizeof ".index"]; /* PATH_MAX */
    int n = snprintf(index, sizeof index, "%s.index", path);
    return (size_t)n < sizeof index && file_exists(index);
}

int checkpoint_open(Checkpoint *c, const char *path, char *err, size_t errlen) {
    memset(c, 0, sizeof *c);
    int is_folder = file_is_folder(path), rc;
    c->folder = is_folder ? strdup(path) : file_folder(path);
    if (!c->folder) rc = weights_no_memory(path, err, errlen);
    else if (is_folder) rc = open_folder(c, path, err, errlen);
    else if (!file_exists(path) && is_prefix(path)) rc = add_tf(c, path, err, errlen);
    else rc = open_file(c, path, err, errlen);
    if (rc == 0) rc = checkpoint_finish(c, path, err, errlen);
    if (rc) checkpoint_close(c);
    return rc;
}
