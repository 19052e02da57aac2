/* tests/convert_files.c - reading what convert wrote. */
#include "convert_files.h"
#include "test.h"
#include "weights-tools/checkpoint/open.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

const char *convert_folder(const char *name) {
    char path[200];
    test_folder("convert");
    snprintf(path, sizeof path, "convert/%s", name);
    return test_folder(path);
}

void golden_into(const char *golden, const char *dir, const char *name) {
    char path[300];
    snprintf(path, sizeof path, CONVERT_GOLDEN "%s", golden);
    CHECK(file_copy(path, test_in(dir, name)));
}

int files_in(const char *dir) {
    int n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) n += e->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}

void with_config(const char *path, const char *from, const char *to) { golden_with(path, "v1.config.json", from, to); }

void golden_with(const char *path, const char *golden, const char *from, const char *to) {
    char text[3000], *config;
    snprintf(text, sizeof text, CONVERT_GOLDEN "%s", golden);
    config = file_read(text, NULL);
    const char *at = config ? strstr(config, from) : NULL;
    CHECK(at != NULL);
    if (!at) return;
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - config), config, to, at + strlen(from));
    file_write(path, text, strlen(text));
    free(config);
}

float value_of(const char *name, size_t i) {
    return (float)((double)(int32_t)(uint32_t)(name_hash(name, i) >> 32) / 4294967296.0);
}

int values_are(const Tensor *t, const char *name) {
    size_t n = t->size / (t->type == TENSOR_F32 ? 4 : 2);
    int good = n > 0;
    for (size_t i = 0; i < n && good; i++) {
        float v = value_of(name, i);
        uint32_t bits;
        memcpy(&bits, &v, 4);
        if (t->type == TENSOR_F32) good = load_u32(t->data + 4 * i) == bits;
        else if (t->type == TENSOR_F16)
            good = fabs((double)f16_to_f32(load_u16(t->data + 2 * i)) - v) <= fmax(fabs(v) * 0x1p-11, 0x1p-25);
        else good = t->type == TENSOR_BF16 && load_u16(t->data + 2 * i) == bits >> 16;
    }
    if (!good) printf("    %s: not the values of %s\n", t->name, name);
    return good;
}

void torch_name(char *name, const char *gguf, const char *prefix, const char *heads) {
    int layer;
    const RoformerName *row = roformer_names_find(ROFORMER_IN_GGUF, gguf, &layer);
    name[0] = 0;
    if (!row) return;
    for (size_t i = 0; roformer_names_row(i); i++) {
        const RoformerName *r = roformer_names_row(i);
        if (r->flags & NAME_ALIAS && strcmp(r->gguf, row->gguf) == 0 && strncmp(r->torch, heads, strlen(heads)) == 0 &&
            *heads)
            row = r;
    }
    char full[ROFORMER_NAME_MAX];
    roformer_names_write(full, row, ROFORMER_IN_TORCH, layer, 0);
    if (row->flags & NAME_BODY) snprintf(name, TORCH_NAME_MAX, "%s%s", prefix, full + strlen("roformer."));
    else snprintf(name, TORCH_NAME_MAX, "%s", full);
}

int weights_opened(Weights *w, const char *path) {
    char err[400] = "";
    int rc = weights_open(w, path, err, sizeof err);
    if (rc) printf("    %s\n", err);
    CHECK(rc == 0);
    return rc == 0;
}

int gguf_holds(const char *path, size_t n, const char *prefix, const char *heads) {
    Weights w;
    char name[TORCH_NAME_MAX];
    if (!weights_opened(&w, path)) return 0;
    int good = w.format == FORMAT_GGUF && w.n_tensors == n;
    if (!good) printf("    %zu tensors, not %zu\n", w.n_tensors, n);
    for (size_t i = 0; i < w.n_tensors && good; i++) {
        torch_name(name, w.tensors[i].name, prefix, heads);
        good = values_are(&w.tensors[i], name);
    }
    weights_close(&w);
    return good;
}

const char *meta_text(const Weights *w, const char *key) {
    static char text[2000];
    const MetaValue *v = weights_meta(w, key);
    double d;
    text[0] = 0;
    if (!v) return "absent";
    const uint8_t *cursor = v->data;
    MetaValue e = *v;
    for (uint64_t i = 0; i < (v->type == META_ARRAY ? v->n : 1); i++) {
        size_t at = strlen(text);
        if (at + 2 > sizeof text) break;
        if (v->type == META_ARRAY) meta_next(v, &cursor, &e);
        if (i > 0) text[at++] = '|';
        if (e.type == META_STRING) snprintf(text + at, sizeof text - at, "%.*s", (int)e.n, (const char *)e.data);
        else if (e.type == META_BOOL) snprintf(text + at, sizeof text - at, e.data[0] ? "true" : "false");
        else if (meta_number(&e, &d)) snprintf(text + at, sizeof text - at, "%.6g", d);
    }
    return text;
}

void keys_are(const char *path, const Key *keys, size_t n) {
    Weights w;
    if (!weights_opened(&w, path)) return;
    for (size_t i = 0; i < n; i++) {
        int good = strcmp(meta_text(&w, keys[i].key), keys[i].value) == 0;
        if (!good) printf("    %s is %s, not %s\n", keys[i].key, meta_text(&w, keys[i].key), keys[i].value);
        CHECK(good);
    }
    weights_close(&w);
}

int checkpoints_equal(const char *a, const char *b, size_t n) {
    Checkpoint x, y;
    char err[300];
    size_t same = 0;
    if (checkpoint_open(&x, a, err, sizeof err)) return 0;
    if (checkpoint_open(&y, b, err, sizeof err) == 0) {
        for (size_t i = 0; i < x.n_views; i++)
            for (size_t k = 0; k < y.n_views; k++)
                same += strcmp(x.views[i].name, y.views[k].name) == 0 && view_equal(&x.views[i], &y.views[k]);
        if (x.n_views != n || y.n_views != n) same = 0;
        checkpoint_close(&y);
    }
    checkpoint_close(&x);
    return same == n;
}
