/* tests/decoder_files.c - headers and a formula's values put together. */
#include "decoder_files.h"

#include "base/newfile.h"
#include "build.h"
#include "test.h"
#include "weights-tools/model_write.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define GOLDEN "tests/golden/decoders/"
enum { NAME = 100 };

const Spoil sound = {0};

char *decoder_golden(const char *name, const char *suffix, size_t *size) {
    char path[200];
    snprintf(path, sizeof path, GOLDEN "%s%s", name, suffix);
    return file_read(path, size);
}

static void write_two(const char *path, const void *a, size_t na, const void *b, size_t nb) {
    FILE *f = fopen(path, "wb");
    int good = f && fwrite(a, 1, na, f) == na && fwrite(b, 1, nb, f) == nb;
    if (f && fclose(f) != 0) good = 0;
    if (!good) test_fail(__FILE__, __LINE__, path);
}

void decoder_fail(const char *name, const char *what, const char *more) {
    char line[500];
    snprintf(line, sizeof line, "%s: %s %s", name, what, more);
    test_fail(__FILE__, __LINE__, line);
}

/* ---- weights by formula: value_of of decoders.py ---- */

static int ends_with(const char *s, const char *end) {
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

static float value_at(const char *name, uint64_t i, const Spoil *s) {
    if (s->set && strstr(name, s->set)) return s->value;
    int u = name_value(name, i);
    return ends_with(name, "norm.weight") ? (float)(128 + u / 2) / 128 : (float)u / 256;
}

/* ---- a Hugging Face folder ---- */

/* header: 8 bytes of length and JSON, as the safetensors package wrote it for F32. Appends this tensor's line for type
 * to json and its values to data; returns where to look for the next one, or NULL after the last. */
static char *hf_tensor(char *header, char *json, uint8_t *data, size_t *size, TensorType type, const Spoil *s) {
    char *p = strstr(header, ":{\"dtype\":\"F32\""), name[NAME] = "", shape[40] = "";
    if (!p) return NULL;
    char *start = p - 1;
    while (start[-1] != '"') start--;
    unsigned long from = 0, to = 0;
    snprintf(name, sizeof name, "%.*s", (int)(p - 1 - start), start);
    if (sscanf(p, ":{\"dtype\":\"F32\",\"shape\":[%39[0-9,]],\"data_offsets\":[%lu,%lu]", shape, &from, &to) != 3)
        return NULL;
    size_t begin = *size;
    for (uint64_t i = 0; i < (to - from) / 4; i++) *size += float_encode(data + *size, value_at(name, i, s), type);
    sprintf(json + strlen(json), "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
            json[1] ? "," : "", name,
            type == TENSOR_F32 ? "F32" : type == TENSOR_F16 ? "F16" : "BF16", shape, begin, *size);
    return p + 1;
}

const char *hf_folder(const char *name, const char *config, TensorType type, const Spoil *s) {
    static char folder[500];
    char path[600], suffix[40];
    size_t n_config, n_head, size = 0;
    snprintf(suffix, sizeof suffix, ".config%s.json", config);
    char *text = decoder_golden(name, suffix, &n_config);
    if (!text) return NULL;
    char *at = s->from ? strstr(text, s->from) : text, *rest = at;
    if (!at) decoder_fail(name, "config.json does not hold", s->from);
    if (s->from && at) rest = at + strlen(s->from);
    snprintf(folder, sizeof folder, "%s", test_tmp("oracle-hf"));
    mkdir(folder, 0700);
    snprintf(path, sizeof path, "%s/config.json", folder);
    if (at && s->from) { /* text up to at, s->to, rest */
        char *spoiled = malloc(n_config + strlen(s->to) + 1);
        if (!spoiled) abort();
        sprintf(spoiled, "%.*s%s", (int)(at - text), text, s->to);
        write_two(path, spoiled, strlen(spoiled), rest, strlen(rest));
        free(spoiled);
    } else {
        write_two(path, text, n_config, "", 0);
    }
    free(text);

    char *head = decoder_golden(name, ".safetensors.head", &n_head), *json = calloc(1, 2 * n_head + 1000),
         *p = head + 8;
    uint8_t *data = malloc(1 << 20);
    if (!head || !json || !data) abort();
    strcpy(json + 8, "{");
    while ((p = hf_tensor(p, json + 8, data, &size, type, s))) { }
    strcat(json + 8, "}");
    size_t n_json = strlen(json + 8);
    for (size_t i = 0; i < 8; i++) json[i] = (char)(n_json >> 8 * i & 255);
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    if (type == TENSOR_F32) write_two(path, head, n_head, data, size); /* the package's own header */
    else write_two(path, json, n_json + 8, data, size);
    free(data);
    free(json);
    free(head);
    return folder;
}

/* ---- a GGUF file ---- */

/* The tensor's entry in the head, written for F32, gets this type (matrices only) and offset; the type it has now. */
static TensorType gguf_retype(char *head, size_t n_head, const char *name, TensorType type, size_t offset) {
    size_t len = strlen(name), at = 8;
    while (at + len + 8 < n_head &&
           !(memcmp(head + at, name, len) == 0 && (unsigned char)head[at - 8] == len && head[at - 7] == 0)) at++;
    char *dims = head + at + len, *p = dims + 4 + 8 * dims[0]; /* name, n_dims, dims, type, offset */
    if (dims[0] != 2) type = TENSOR_F32;
    *p = (char)type;
    for (int i = 0; i < 8; i++) p[4 + i] = (char)(offset >> 8 * i & 255);
    return type;
}

/* One line of NAME.gguf.map: GGUF_NAME HF_NAME COUNT COLUMNS plain | permute N_HEAD | values v v v .. */
static void gguf_tensor(const char *line, char *head, size_t head_size, TensorType type, uint8_t *data, size_t *size,
                        const Spoil *s) {
    char gguf_name[NAME], name[NAME], how[20];
    unsigned long count, cols, n_head = 1;
    int used = 0;
    *size = (*size + 31) / 32 * 32;
    if (sscanf(line, "%99s %99s %lu %lu %19s%n", gguf_name, name, &count, &cols, how, &used) != 5) return;
    type = gguf_retype(head, head_size, gguf_name, type, *size);
    char *p = (char *)line + used;
    if (strcmp(how, "permute") == 0) n_head = strtoul(p, &p, 10);
    unsigned long head_dim = count / cols / n_head;
    for (unsigned long i = 0; i < count; i++) {
        unsigned long row = i / cols, h = row / head_dim, j = row % head_dim;
        if (strcmp(how, "permute") == 0 && !s->unpermuted) row = h * head_dim + j % 2 * (head_dim / 2) + j / 2;
        float v = strcmp(how, "values") == 0 ? strtof(p, &p) : value_at(name, (uint64_t)row * cols + i % cols, s);
        *size += float_encode(data + *size, v, type);
    }
}

const char *gguf_file(const char *name, TensorType type, const Spoil *s) {
    size_t n_head, size = 0;
    char *head = decoder_golden(name, ".gguf.head", &n_head), *map = decoder_golden(name, ".gguf.map", NULL);
    if (!head || !map) {
        free(head);
        free(map);
        return NULL;
    }
    uint8_t *data = calloc(1, 1 << 20);
    if (!data) abort();
    for (char *line = map; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        gguf_tensor(line, head, n_head, type, data, &size, s);
    const char *path = test_tmp("oracle.gguf");
    write_two(path, head, n_head, data, (size + 31) / 32 * 32);
    free(data);
    free(map);
    free(head);
    return path;
}

const char *converted(const char *name, const char *folder) {
    char err[300] = "";
    Source s;
    NewFile f;
    const Report quiet = {0};
    const char *path = test_tmp("oracle-converted.gguf");
    if (!folder) return NULL;
    int rc = source_open(&s, folder, &(SourceWish){.no_tokenizer = 1}, &quiet, err, sizeof err);
    if (rc == 0) {
        source_file_type(&s, 0);
        rc = newfile_open(&f, path, err, sizeof err);
        if (rc == 0) {
            rc = model_write(&f, &s, 1, &quiet, err, sizeof err);
            int closed = newfile_close(&f, rc == 0, err, sizeof err);
            if (rc == 0) rc = closed;
        }
        source_close(&s);
    }
    if (rc) decoder_fail(name, "is not converted:", err);
    return rc ? NULL : path;
}
