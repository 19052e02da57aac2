/* model/files/huggingface.c - Hugging Face models: a folder with config.json and safetensors, one file or several
 * shards, those that model.safetensors.index.json names. */
#include "huggingface.h"

#include "base/json.h"
#include "safetensors.h"
#include "base/base.h"
#include "base/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the tensors ---- */

static int read_path(Weights *w, const char *path, char *err, size_t errlen) {
    int rc = weights_add_file(w, path, err, errlen);
    if (rc) return rc;
    const MappedFile *f = &w->files[w->n_files - 1];
    return safetensors_read(w, f->data, f->size, path, err, errlen);
}

static int is_plain_name(const JsonValue *v) {
    return v->type == JSON_STRING && weights_is_name(v->str, v->len) && !strchr(v->str, '/') && !strchr(v->str, '\\') &&
           !strstr(v->str, "..");
}

static int compare_shards(const void *a, const void *b) {
    return strcmp((*(const JsonValue *const *)a)->str, (*(const JsonValue *const *)b)->str);
}

/* weight_map's entries sorted by shard, in malloc'ed memory (*n of them). */
static int sort_entries(const Json *index, const char *name, const JsonValue ***out, size_t *n, char *err,
                        size_t errlen) {
    const JsonValue *map = json_typed(index->root, "weight_map", JSON_OBJECT);
    if (!map || map->len == 0)
        return base_error(err, errlen, -EINVAL, "%s: has no weight_map that names shards", name);
    const JsonValue **order = calloc(map->len, sizeof *order);
    if (!order) return weights_no_memory(name, err, errlen);
    *out = order;
    *n = 0;
    for (const JsonValue *e = map->child; e; e = e->next) {
        if (!weights_is_name(e->key, e->key_len) || !is_plain_name(e))
            return base_error(err, errlen, -EINVAL,
                              "%s: weight_map entry %.60s: a shard must be the plain name of a file in this folder",
                              name, e->key);
        order[(*n)++] = e;
    }
    qsort(order, *n, sizeof *order, compare_shards);
    return 0;
}

static int open_shard(Weights *w, const JsonValue *entry, const char *index_name, char *err, size_t errlen) {
    char *path = file_join(w->folder, entry->str);
    if (!path) return weights_no_memory(index_name, err, errlen);
    int rc = file_exists(path) ? read_path(w, path, err, errlen)
                               : base_error(err, errlen, -ENOENT, "%s: is missing, but %s names it (for tensor %.60s)",
                                            path, index_name, entry->key);
    free(path);
    return rc;
}

/* The tensors from `first` on came from the shard of these n entries: the same names, no more and no fewer. (Those
 * before it are entries of shards that have been checked so.) */
static int check_entries(const Weights *w, const JsonValue **entries, size_t n, size_t first, size_t end,
                         const char *name, char *err, size_t errlen) {
    for (size_t i = 0; i < n; i++) {
        const Tensor *t = weights_find(w, entries[i]->key);
        size_t at = t ? (size_t)(t - w->tensors) : end;
        if (at >= end)
            return base_error(err, errlen, -EINVAL, "%s: tensor %.80s is not in %.60s, where weight_map has it", name,
                              entries[i]->key, entries[i]->str);
    }
    if (end - first == n) return 0;
    return base_error(err, errlen, -EINVAL, "%s: %.60s holds %zu tensors, weight_map has %zu there", name,
                      entries[0]->str, end - first, n);
}

/* All shards in the order of their names; then, with the index of names sorted, every entry of weight_map. */
static int open_shards(Weights *w, const JsonValue **entries, size_t n, const char *name, char *err, size_t errlen) {
    size_t *ends = calloc(n, sizeof *ends); /* ends[k]: tensors after shard k */
    if (!ends) return weights_no_memory(name, err, errlen);
    int rc = 0;
    size_t shards = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        if (i > 0 && strcmp(entries[i - 1]->str, entries[i]->str) == 0) continue;
        rc = open_shard(w, entries[i], name, err, errlen);
        ends[shards++] = w->n_tensors;
    }
    if (rc == 0) rc = weights_finish(w, err, errlen);
    for (size_t k = 0, i = 0, j; k < shards && rc == 0; k++, i = j) {
        for (j = i + 1; j < n && strcmp(entries[i]->str, entries[j]->str) == 0; j++) {}
        rc = check_entries(w, entries + i, j - i, k ? ends[k - 1] : 0, ends[k], name, err, errlen);
    }
    free(ends);
    return rc;
}

/* Open the set that index_path lists. `file` is the one that was asked for by name, or NULL: where the index does not
 * know it, *listed is 0 and nothing is opened. */
static int open_indexed(Weights *w, const char *index_path, const char *file, int *listed, char *err, size_t errlen) {
    Json index;
    const JsonValue **entries = NULL;
    size_t n = 0;
    int rc = json_open(&index, index_path, err, errlen);
    if (rc) return rc;
    rc = sort_entries(&index, index_path, &entries, &n, err, errlen);
    *listed = file == NULL;
    for (size_t i = 0; i < n && !*listed; i++) *listed = json_is(entries[i], file);
    if (rc == 0 && *listed) rc = open_shards(w, entries, n, index_path, err, errlen);
    free(entries);
    json_free(&index);
    return rc;
}

static int open_single(Weights *w, const char *path, char *err, size_t errlen) {
    int rc = read_path(w, path, err, errlen);
    return rc ? rc : weights_finish(w, err, errlen);
}

static int refuse_folder(const Weights *w, char *err, size_t errlen) {
    int pickles = file_has(w->folder, "pytorch_model.bin") || file_has(w->folder, "pytorch_model.bin.index.json");
    if (file_has(w->folder, "adapter_config.json"))
        return base_error(err, errlen, -ENOENT, "%s: an adapter: name its model, and this folder by --lora", w->folder);
    if (file_has(w->folder, "consolidated.00.pth") || file_has(w->folder, "consolidated.safetensors"))
        return base_error(err, errlen, -ENOEXEC, "%s: only its authors' consolidated files: ./run convert makes a GGUF "
                          "file of them", w->folder);
    return base_error(err, errlen, pickles ? -ENOEXEC : -ENOENT, "%s: %s", w->folder,
                      pickles ? "only pytorch_model.bin, a pickle, which can run code: convert it to safetensors first"
                              : "no model.safetensors and no model.safetensors.index.json in this folder; a GGUF file "
                                "is named itself");
}

/* The weights of w->folder, or of `path` in it where it is not NULL. */
static int open_weights(Weights *w, const char *path, const char *single, const char *index, char *err, size_t errlen) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    int listed = 0, rc = 0;
    if (path && file_exists(index)) rc = open_indexed(w, index, slash ? slash + 1 : path, &listed, err, errlen);
    if (rc || listed) return rc;
    if (path) return open_single(w, path, err, errlen);
    if (file_exists(single)) return open_single(w, single, err, errlen);
    if (file_exists(index)) return open_indexed(w, index, NULL, &listed, err, errlen);
    return refuse_folder(w, err, errlen);
}

/* ---- the configuration ---- */

typedef struct {
    Json config, generation;
} Configs;

static void free_configs(void *own) {
    Configs *c = own;
    json_free(&c->config);
    json_free(&c->generation);
    free(c);
}

static int open_object(Json *j, const JsonValue **root, const char *path, char *err, size_t errlen) {
    int rc = json_open(j, path, err, errlen);
    if (rc == 0 && j->root->type != JSON_OBJECT)
        rc = base_error(err, errlen, -EINVAL, "%s: is not a JSON object", path);
    *root = rc ? NULL : j->root;
    return rc;
}

int huggingface_configs(Weights *w, const char *config, const char *generation, char *err, size_t errlen) {
    Configs *c = weights_own(w, calloc(1, sizeof *c), free_configs);
    if (!c) return weights_no_memory(config, err, errlen);
    w->format = FORMAT_HF;
    int rc = open_object(&c->config, &w->config, config, err, errlen);
    const JsonValue *text = rc ? NULL : json_get(w->config, "text_config");
    if (json_get(text, "model_type")) w->outer = w->config, w->config = text;
    return rc || !generation ? rc : open_object(&c->generation, &w->generation, generation, err, errlen);
}

int huggingface_name(char *to, size_t size, const char *name) {
    static const char *const heads[][2] = {
        {"model.language_model.", "model."}, {"language_model.model.", "model."}, {"model.text_model.", "model."},
        {"language_model.lm_head.", "lm_head."}, {"language_model.", "model."}, {"layers.", "model.layers."},
        {"embed_tokens.", "model.embed_tokens."},
        {"norm.weight", "model.norm.weight"}, {"norm.bias", "model.norm.bias"}};
    for (size_t k = 0; k < sizeof heads / sizeof *heads; k++) {
        size_t n = strlen(heads[k][0]);
        if (strncmp(name, heads[k][0], n) != 0) continue;
        snprintf(to, size, "%s%s", heads[k][1], name + n);
        return 1;
    }
    return 0;
}

int huggingface_rename(Weights *w, void *rows, size_t n_rows, size_t row_bytes, char *err, size_t errlen) {
    static const char tie[] = "tie_word_embeddings";
    char name[TENSOR_NAME + 16];
    const char **head = NULL;
    int embedded = 0, tied = json_flag(w->outer, tie, json_flag(w->config, tie, 1));
    for (size_t i = 0; i < n_rows; i++) {
        const char **own = (const char **)((uintptr_t)rows + i * row_bytes);
        if (huggingface_name(name, sizeof name, *own) && !(*own = weights_keep(w, name, strlen(name))))
            return weights_no_memory(w->path, err, errlen);
        if (strcmp(*own, "lm_head.weight") == 0) head = own;
        embedded |= strcmp(*own, "model.embed_tokens.weight") == 0;
    }
    if (head && !embedded && tied) *head = "model.embed_tokens.weight"; /* kept under its other name */
    return 0;
}

/* The tensors by their new names. */
static int rename_tensors(Weights *w, char *err, size_t errlen) {
    int rc = huggingface_rename(w, w->tensors, w->n_tensors, sizeof *w->tensors, err, errlen);
    return rc ? rc : weights_index(w, err, errlen);
}

/* Everything of w->folder, or of the weights only `path` in it where it is not NULL. */
static int open_model(Weights *w, const char *path, char *err, size_t errlen) {
    static const char *const names[] = {"model.safetensors", "model.safetensors.index.json", "config.json",
                                        "generation_config.json"};
    char *paths[4];
    int rc = 0;
    w->format = FORMAT_HF;
    for (int i = 0; i < 4; i++)
        if (!(paths[i] = file_join(w->folder, names[i]))) rc = weights_no_memory(w->path, err, errlen);
    if (rc == 0) rc = open_weights(w, path, paths[0], paths[1], err, errlen);
    if (rc == 0 && !file_exists(paths[2]))
        rc = base_error(err, errlen, -ENOENT, "%s: is missing: a safetensors model needs its config.json beside it",
                        paths[2]);
    if (rc == 0) rc = huggingface_configs(w, paths[2], file_exists(paths[3]) ? paths[3] : NULL, err, errlen);
    if (rc == 0) rc = rename_tensors(w, err, errlen);
    for (int i = 0; i < 4; i++) free(paths[i]);
    return rc;
}

int huggingface_is(const uint8_t *data, size_t size) { return !data || safetensors_is(data, size); }

int huggingface_open(Weights *w, const uint8_t *data, size_t size, char *err, size_t errlen) {
    (void)size;
    if (!data) return open_model(w, NULL, err, errlen);
    if (w->n_files == 0)
        return base_error(err, errlen, -EINVAL, "%s: a safetensors model opens by its path only", w->path);
    file_unmap(&w->files[0]); /* it is mapped again, maybe as one of several */
    w->n_files = 0;
    w->file_bytes = 0;
    return open_model(w, w->path, err, errlen);
}
