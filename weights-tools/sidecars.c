/* weights-tools/sidecars.c - config.json, vocab.txt and their like. */
#include "sidecars.h"
#include "base/base.h"
#include "base/newfile.h"
#include "base/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int sidecar_find(char **path, const char *given, const char *folder, const char *const *names, size_t n) {
    if (!given) return file_find(path, folder, names, n, file_exists);
    return (*path = strdup(given)) ? 0 : -ENOMEM;
}

int sidecars_begin(Sidecars *s, const char *out) {
    memset(s, 0, sizeof *s);
    s->folder = file_folder(out);
    return s->folder ? 0 : -ENOMEM;
}

void sidecars_copy(Sidecars *s, const char *name, const char *path) {
    if (s->n < SIDECARS_MAX) s->items[s->n++] = (Sidecar){.name = name, .source = strdup(path)};
}

void sidecars_write(Sidecars *s, const char *name, Buffer text) {
    if (s->n < SIDECARS_MAX) s->items[s->n++] = (Sidecar){.name = name, .text = text};
    else free(text.data);
}

/* The model's, then the tokenizer's. */
enum { OF_MODEL = 2 };
static const char *const names[] = {"config.json", "generation_config.json", "vocab.txt", "tokenizer.json",
                                    "tokenizer.model", "spiece.model", "tokenizer.bin", "tekken.json",
                                    "encoder.json", "vocab.bpe", "tokenizer_config.json",
                                    "special_tokens_map.json", "added_tokens.json", "merges.txt", "vocab.json",
                                    "chat_template.jinja", "chat_template.json", NULL};

const char *sidecar_name(size_t i) { return names[i]; }

int sidecars_common(Sidecars *s, const char *folder, int tokenizer) {
    for (size_t i = 0; names[i] && (tokenizer || i < OF_MODEL); i++) {
        int listed = 0;
        for (int k = 0; k < s->n; k++) listed |= strcmp(s->items[k].name, names[i]) == 0;
        char *path = NULL;
        if (!listed && file_find(&path, folder, &names[i], 1, file_exists)) return -ENOMEM;
        if (path) sidecars_copy(s, names[i], path);
        free(path);
    }
    return 0;
}

/* The bytes of item c: mapped into *f, or its own text. */
static int contents(const Sidecar *c, MappedFile *f, const uint8_t **data, size_t *n, char *err, size_t errlen) {
    *f = (MappedFile){.data = NULL};
    if (c->text.failed) return base_error(err, errlen, -ENOMEM, "%s: out of memory", c->name);
    *data = c->text.data;
    *n = c->text.n;
    if (c->text.data) return 0;
    if (!c->source) return base_error(err, errlen, -ENOMEM, "%s: out of memory", c->name);
    int rc = file_map(f, c->source, err, errlen);
    *data = f->data;
    *n = f->size;
    return rc;
}

/* 1 where path holds exactly these bytes, 0 where nothing is there, -EEXIST and a line where it is another file. */
static int is_there(const char *path, const uint8_t *data, size_t n, char *err, size_t errlen) {
    MappedFile old;
    if (!file_exists(path)) return 0;
    int rc = file_map(&old, path, err, errlen), same = rc == 0 && old.size == n && memcmp(old.data, data, n) == 0;
    file_unmap(&old);
    if (same) return 1;
    if (errno_is_passing(rc)) return rc;
    return base_error(err, errlen, -EEXIST,
                      "%s: is there already and differs from what belongs beside the new file: write to another folder",
                      path);
}

static int put(const char *path, const uint8_t *data, size_t n, char *err, size_t errlen) {
    NewFile f;
    int rc = newfile_open(&f, path, err, errlen);
    if (rc) return rc;
    newfile_write(&f, data, n);
    return newfile_close(&f, 1, err, errlen);
}

static int each(const Sidecars *s, int write, char *err, size_t errlen) {
    int rc = 0;
    for (int i = 0; i < s->n && rc == 0; i++) {
        MappedFile f = {.data = NULL};
        const uint8_t *data = NULL;
        size_t n = 0;
        char *path = file_join(s->folder, s->items[i].name);
        rc = path ? contents(&s->items[i], &f, &data, &n, err, errlen)
                  : base_error(err, errlen, -ENOMEM, "%s: out of memory", s->folder);
        int there = rc ? 0 : is_there(path, data, n, err, errlen);
        if (rc == 0 && there < 0) rc = there;
        if (rc == 0 && there == 0 && write) rc = put(path, data, n, err, errlen);
        file_unmap(&f);
        free(path);
    }
    return rc;
}

int sidecars_check(const Sidecars *s, char *err, size_t errlen) { return each(s, 0, err, errlen); }
int sidecars_finish(const Sidecars *s, char *err, size_t errlen) { return each(s, 1, err, errlen); }

void sidecars_free(Sidecars *s) {
    for (int i = 0; i < s->n; i++) {
        free(s->items[i].source);
        free(s->items[i].text.data);
    }
    free(s->folder);
    memset(s, 0, sizeof *s);
}
