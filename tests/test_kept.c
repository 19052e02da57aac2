/* tests/test_kept.c - repacked weights kept in a file (model/kept.h): the next start maps them and has the same bits;
 * whatever does not fit is said and written again, what is no such file is left alone. */
#include "build.h"
#include "program.h"
#include "test.h"

#include "base/hash.h"
#include "kernels/rows.h"
#include "model/notes.h"
#include "model/options.h"
#include "model/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const BuildShape shape = {.d = 64, .ff = 96, .layers = 2, .heads = 4, .kv_heads = 2, .n_ctx = 32};

/* Opens it, and compares the logits of five ids with want where that is not NULL. *note: the last thing that was noted,
 * or "". 1: weights are mapped from a kept file. */
static int mapped(const char *path, const ModelOptions *o, const float *want, float *got, char *note) {
    static const int ids[] = {1, 40, 77, 101, 9};
    char err[300];
    const float *logits;
    Model m;
    Session s;
    *note = 0;
    if (model_open(&m, path, o, err, sizeof err)) {
        test_fail(__FILE__, __LINE__, err);
        return -1;
    }
    for (const struct Note *n = m.weights.notes; n; n = n->next) snprintf(note, 300, "%s", n->line);
    int is_mapped = m.layers[0].wq.panels && !m.panels;
    SessionOptions so = {.n_ctx = 8, .threads = 1};
    CHECK(session_init(&s, &m, &so, err, sizeof err) == 0);
    CHECK(session_eval(&s, ids, 5, &logits, err, sizeof err) == 0);
    if (want) CHECK(memcmp(logits, want, BUILD_VOCAB * sizeof *logits) == 0);
    if (got) memcpy(got, logits, BUILD_VOCAB * sizeof *logits);
    session_free(&s);
    model_close(&m);
    return is_mapped;
}

/* 1: what it copies of it is a kept file's. */
static int from_file(const char *path, const ModelOptions *o) {
    char err[300];
    Model m;
    int rc = model_open(&m, path, o, err, sizeof err), is = rc == 0 && !m.panels;
    CHECK(rc == 0);
    if (rc == 0) model_close(&m);
    return is;
}

/* The row with panels of so many lanes, or NULL. */
static const Kernels *row_of(int lanes) {
    const Kernels *k;
    for (int i = 0; (k = kernels_row(i)); i++)
        if (k->lanes == lanes) return k;
    return NULL;
}

static const Kernels *any_row(void) {
    const Kernels *k = row_of(16) ? row_of(16) : row_of(8);
    if (!k) test_skip("no row of kernels here repacks weights");
    return k;
}

/* A byte of a file becomes another. */
static void spoil(const char *path, long at) {
    size_t n;
    char *data = file_read(path, &n);
    if (!data) {
        test_fail(__FILE__, __LINE__, path);
        return;
    }
    data[at < 0 ? (size_t)((long)n + at) : (size_t)at] ^= 1;
    file_write(path, data, n);
    free(data);
}

static void kept_and_mapped(void) {
    static const TensorType types[] = {TENSOR_Q8_0, TENSOR_Q4_0};
    const Kernels *row = any_row();
    for (size_t i = 0; row && i < 2; i++) {
        float want[BUILD_VOCAB];
        char note[300], model[600], file[600];
        snprintf(model, sizeof model, "%s", test_tmp("kept.gguf"));
        snprintf(file, sizeof file, "%s", test_tmp("kept.panels"));
        build_gguf(model, &shape, types[i]);
        unlink(file);
        ModelOptions plain = {.kernels = row, .threads = 1}, o = plain;
        o.panels = file;
        CHECK(mapped(model, &plain, NULL, want, note) == 0);
        CHECK(mapped(model, &o, want, NULL, note) == 0 && strstr(note, "are kept in"));
        CHECK(mapped(model, &o, want, NULL, note) == 1 && !*note);
        o.threads = 3;
        CHECK(mapped(model, &o, want, NULL, note) == 1);
        CHECK(mapped(model, &plain, want, NULL, note) == 0); /* never unasked */
    }
}

/* Every way in which a file does not fit: what is said, and that the next start has a new one. */
static void made_again(void) {
    const Kernels *row = any_row(), *other = row ? row_of(24 - row->lanes) : NULL;
    float want[BUILD_VOCAB];
    char note[300], model[600], file[600];
    if (!row) return;
    snprintf(model, sizeof model, "%s", test_tmp("again.gguf"));
    snprintf(file, sizeof file, "%s", test_tmp("again.panels"));
    unlink(file);
    build_gguf(model, &shape, TENSOR_Q8_0);
    ModelOptions o = {.kernels = row, .threads = 2, .panels = file}, with = o;
    CHECK(mapped(model, &o, NULL, want, note) == 0);
    for (long at = 8; at < 48; at++) { /* each byte of the header behind the first word, which says what it is */
        spoil(file, at);
        CHECK(mapped(model, &o, want, NULL, note) == 0);
        CHECK(mapped(model, &o, want, NULL, note) == 1);
    }
    static const long places[] = {4096, 5000, -1};
    for (size_t i = 0; i < 3; i++) {
        spoil(file, places[i]);
        CHECK(mapped(model, &o, want, NULL, note) == 0);
        CHECK(mapped(model, &o, want, NULL, note) == 1);
    }
    size_t n;
    char *data = file_read(file, &n);
    for (size_t cut = 4096; data && cut < n; cut += 997) {
        file_write(file, data, cut);
        CHECK(mapped(model, &o, want, NULL, note) == 0);
    }
    free(data);
    CHECK(mapped(model, &o, want, NULL, note) == 1);
    if (other) {
        with.kernels = other;
        CHECK(mapped(model, &with, NULL, NULL, note) == 0);
        CHECK(mapped(model, &o, want, NULL, note) == 0);
    }
    with = o, with.copy = 1;
    CHECK(mapped(model, &with, want, NULL, note) == 0 && mapped(model, &with, want, NULL, note) == 1);
    struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    CHECK(mapped(model, &o, want, NULL, note) == 0 && utimensat(AT_FDCWD, model, times, 0) == 0); /* another time */
    CHECK(mapped(model, &o, want, NULL, note) == 0 && mapped(model, &o, want, NULL, note) == 1);
    BuildShape wider = shape;
    wider.ff = 128;
    build_gguf(model, &wider, TENSOR_Q8_0);
    CHECK(mapped(model, &o, NULL, want, note) == 0 && mapped(model, &o, want, NULL, note) == 1);
}

/* A number of the header, whose own sum is right. */
static void another_header(void) {
    static const struct { size_t at; const char *why; } rows[] = {
        {8, "of another version, or for other kernels"}, {12, "of another version, or for other kernels"},
        {16, "of another model, or older than this one"}, {24, "of another model, or older than this one"}};
    const Kernels *row = any_row();
    char note[300], model[600], file[600];
    float want[BUILD_VOCAB];
    if (!row) return;
    snprintf(model, sizeof model, "%s", test_tmp("header.gguf"));
    snprintf(file, sizeof file, "%s", test_tmp("header.panels"));
    build_gguf(model, &shape, TENSOR_Q8_0);
    ModelOptions o = {.kernels = row, .threads = 1, .panels = file};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n;
        Model m;
        CHECK(mapped(model, &o, NULL, want, note) >= 0 && mapped(model, &o, want, NULL, note) == 1);
        char *data = file_read(file, &n);
        data[rows[i].at] ^= 1;
        uint64_t sum = hash_bytes(HASH_START, data, 40);
        memcpy(data + 40, &sum, 8);
        file_write(file, data, n);
        free(data);
        CHECK(model_open(&m, model, &o, note, sizeof note) == 0 && m.panels);
        const struct Note *first = m.weights.notes;
        CHECK(first && strstr(first->line, rows[i].why) && strstr(first->line, "header.panels is "));
        model_close(&m);
    }
}

/* Sums are of pieces of a megabyte: a byte of each counts. */
static void of_megabytes(void) {
    static const BuildShape large = {.d = 256, .ff = 1024, .layers = 2, .heads = 4, .kv_heads = 4, .n_ctx = 32};
    const Kernels *row = any_row();
    char note[300], model[600], file[600];
    size_t n = 0;
    if (!row) return;
    snprintf(model, sizeof model, "%s", test_tmp("large.gguf"));
    snprintf(file, sizeof file, "%s", test_tmp("large.panels"));
    build_gguf(model, &large, TENSOR_Q8_0);
    ModelOptions o = {.kernels = row, .threads = 2, .panels = file};
    CHECK(mapped(model, &o, NULL, NULL, note) == 0 && mapped(model, &o, NULL, NULL, note) == 1);
    free(file_read(file, &n));
    CHECK(n > (2u << 20));
    for (long at = 4096 + 7; (size_t)at < n; at += 1 << 20) {
        spoil(file, at);
        CHECK(mapped(model, &o, NULL, NULL, note) == 0 && mapped(model, &o, NULL, NULL, note) == 1);
    }
}

/* A folder of several files, one of which changes; "auto" beside a file and in a folder. */
static void beside(void) {
    const Kernels *row = any_row();
    char note[300], folder[600], file[700];
    if (!row) return;
    snprintf(folder, sizeof folder, "%s", test_folder("kept-folder"));
    build_hf(folder, &shape, TENSOR_F32, 3);
    ModelOptions o = {.kernels = row, .threads = 1, .panels = "auto", .copy = 1}; /* floats: copied, so that there is
                                                                                     something to keep */
    snprintf(file, sizeof file, "%s/model.%d.panels", folder, row->lanes);
    CHECK(mapped(folder, &o, NULL, NULL, note) == 0 && access(file, R_OK) == 0);
    Model m;
    CHECK(model_open(&m, folder, &o, note, sizeof note) == 0 && !m.panels);
    model_close(&m);
    char *shard = strdup(test_in(folder, "model-00002-of-00003.safetensors"));
    spoil(shard, -1);
    CHECK(model_open(&m, folder, &o, note, sizeof note) == 0 && m.panels);
    model_close(&m);
    free(shard);
    char *broken = strdup(test_in(folder, "link")); /* to nowhere: no file of the model's, and no reason */
    CHECK(from_file(folder, &o) && symlink("nowhere", broken) == 0 && from_file(folder, &o));
    CHECK(unlink(broken) == 0);
    free(broken);
}

/* "auto" beside a file; in a folder of one file, which another time makes another model. */
static void beside_one(void) {
    static const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    const Kernels *row = any_row();
    char note[300], folder[600], file[700], model[600];
    if (!row) return;
    ModelOptions o = {.kernels = row, .threads = 1, .panels = "auto", .copy = 1};
    snprintf(model, sizeof model, "%s", test_tmp("auto.gguf"));
    snprintf(file, sizeof file, "%s.%d.panels", model, row->lanes);
    build_gguf(model, &shape, TENSOR_Q8_0);
    CHECK(mapped(model, &o, NULL, NULL, note) == 0 && access(file, R_OK) == 0);
    CHECK(mapped(model, &o, NULL, NULL, note) == 1);
    snprintf(folder, sizeof folder, "%s", test_folder("kept-one"));
    build_hf(folder, &shape, TENSOR_F32, 1);
    snprintf(file, sizeof file, "%s/model.%d.panels", folder, row->lanes);
    CHECK(!from_file(folder, &o) && access(file, R_OK) == 0 && from_file(folder, &o));
    CHECK(utimensat(AT_FDCWD, test_in(folder, "model.safetensors"), times, 0) == 0);
    CHECK(!from_file(folder, &o) && from_file(folder, &o));
}

static void left_alone(void) {
    const Kernels *row = any_row();
    char err[300], model[600], file[600];
    if (!row) return;
    snprintf(model, sizeof model, "%s", test_tmp("alone.gguf"));
    snprintf(file, sizeof file, "%s", test_tmp("alone.txt"));
    build_gguf(model, &shape, TENSOR_Q8_0);
    file_write(file, "a letter", 8);
    ModelOptions o = {.kernels = row, .threads = 1, .panels = file};
    Model m;
    CHECK(model_open(&m, model, &o, err, sizeof err) == -EINVAL && strstr(err, "alone.txt") && strstr(err, "--panels"));
    o.panels = model; /* the model itself */
    CHECK(model_open(&m, model, &o, err, sizeof err) == -EINVAL);
    o.panels = test_tmp("");
    CHECK(model_open(&m, model, &o, err, sizeof err) == -EISDIR);
    size_t n;
    char *letter = file_read(file, &n);
    CHECK(letter && n == 8 && memcmp(letter, "a letter", 8) == 0);
    free(letter);
    o.panels = "/nowhere/at/all.panels"; /* cannot be written: the model runs all the same */
    CHECK(mapped(model, &o, NULL, NULL, err) == 0 && strstr(err, "not kept"));
    snprintf(file, sizeof file, "%s", test_tmp("never.panels"));
    CHECK(run("generate --max-tokens 3 -i a --panels ''") == 2 && said_line("--panels: the name of the file is empty"));
    CHECK(run("generate --max-tokens 3 -i a --panels %s", file) == 0 && strstr(said, "has no file"));
    CHECK(access(file, F_OK) != 0);
    CHECK(run("generate %s --max-tokens 3 -i a --panels %s", model, model) == 1 && said_line("--panels") && !*out);
}

/* That cannot be read, whether it may be written or not: it is done without, and the file stays. */
static void not_read(void) {
    const Kernels *row = any_row();
    char note[300], model[600], file[600];
    if (!row) return;
    if (geteuid() == 0) {
        test_skip("root may read everything");
        return;
    }
    snprintf(model, sizeof model, "%s", test_tmp("unread.gguf"));
    snprintf(file, sizeof file, "%s", test_tmp("unread.panels"));
    build_gguf(model, &shape, TENSOR_Q8_0);
    file_write(file, "a letter", 8);
    ModelOptions o = {.kernels = row, .threads = 1, .panels = file};
    for (mode_t mode = 0; mode <= 0200; mode += 0200) {
        struct stat before, after;
        CHECK(chmod(file, mode) == 0 && stat(file, &before) == 0);
        CHECK(mapped(model, &o, NULL, NULL, note) == 0 && strstr(note, "repacked without it"));
        CHECK(stat(file, &after) == 0 && after.st_ino == before.st_ino && after.st_size == 8);
    }
}

extern const Test tests_kept[];
const Test tests_kept[] = {
    {"kept/mapped, the same bits", kept_and_mapped},
    {"kept/made again", made_again},
    {"kept/another header", another_header},
    {"kept/of megabytes", of_megabytes},
    {"kept/beside the model", beside},
    {"kept/beside one file", beside_one},
    {"kept/left alone", left_alone},
    {"kept/not read", not_read},
    {0},
};
