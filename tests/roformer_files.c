/* tests/roformer_files.c - goldens read, models written. */
#include "roformer_files.h"
#include "build.h"
#include "decoder_files.h"
#include "model/roformer.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define GOLDEN "tests/golden/roformer/"

enum { NAME = 100 };

void roformer_fail(const char *name, const char *what, const char *more) {
    char line[700];
    snprintf(line, sizeof line, "%s: %s %s", name, what, more);
    test_fail(__FILE__, __LINE__, line);
}

static char *stored(const char *name, const char *suffix, size_t *size) {
    char path[200];
    snprintf(path, sizeof path, GOLDEN "%s%s", name, suffix);
    char *data = file_read(path, size);
    if (!data) roformer_fail(path, "is not there", "");
    return data;
}

static void *allocate(size_t n) {
    void *p = calloc(1, n);
    if (!p) abort();
    return p;
}

/* ---- goldens ---- */

static void read_ints(const char *p, int *out, size_t n) {
    char *end = (char *)p;
    for (size_t i = 0; i < n; i++) out[i] = (int)strtol(end, &end, 10);
}

static void read_row(Golden *g, GoldenKind kind, const char *p) {
    GoldenRow *r = &g->rows[g->n_rows++];
    char *end;
    *r = (GoldenRow){.kind = kind, .text = g->n_texts - 1, .token = (size_t)strtol(p, &end, 10)};
    while (*end == ' ' && r->n < GOLDEN_WIDTH) r->v[r->n++] = strtod(end, &end);
}

static void read_line(Golden *g, const char *line) {
    static const char *const kinds[] = {"hidden ", "logits ", "pool ", "label ", "embed ", "cut "};
    GoldenText *t = g->n_texts ? &g->texts[g->n_texts - 1] : NULL;
    if (strncmp(line, "text ", 5) == 0 && g->n_texts < GOLDEN_TEXTS) {
        t = &g->texts[g->n_texts++];
        sscanf(line + 5, "%15s %zu", t->name, &t->n);
        if (t->n == 0 || t->n > GOLDEN_TOKENS) abort();
    } else if (strncmp(line, "ids ", 4) == 0) {
        read_ints(line + 4, t->ids, t->n);
    } else if (strncmp(line, "types ", 6) == 0) {
        read_ints(line + 6, t->types, t->n);
        t->has_types = 1;
    } else if (strncmp(line, "keep ", 5) == 0) {
        for (size_t i = 0; i < t->n; i++) t->keep[i] = line[5 + 2 * i] == '1';
        t->has_keep = 1;
    }
    for (int k = 0; k < 6 && g->n_rows < GOLDEN_ROWS; k++)
        if (strncmp(line, kinds[k], strlen(kinds[k])) == 0) read_row(g, (GoldenKind)k, line + strlen(kinds[k]));
}

int golden_read(Golden *g, const char *name) {
    char *text = decoder_golden(name, ".golden", NULL);
    if (!text) text = stored(name, ".txt", NULL);
    memset(g, 0, sizeof *g);
    if (!text) return 0;
    for (char *line = text; line; line = strchr(line, '\n')) {
        if (line != text) line++;
        read_line(g, line);
    }
    free(text);
    if (g->n_rows < 4) roformer_fail(name, "has too few rows", "");
    return g->n_rows >= 4;
}

const GoldenRow *golden_row(const Golden *g, GoldenKind kind, size_t i, size_t token) {
    for (const GoldenRow *r = g->rows; r < g->rows + g->n_rows; r++)
        if (r->kind == kind && r->text == i && r->token == token) return r;
    return NULL;
}

EncoderText golden_text(const Golden *g, size_t i) {
    const GoldenText *t = &g->texts[i];
    return (EncoderText){.ids = t->ids, .types = t->has_types ? t->types : NULL, .keep = t->has_keep ? t->keep : NULL,
                         .n = t->n};
}

/* The safetensors header's name for the case. */
static void head_name(const char *name, char out[40]) {
    char *text = stored(name, ".txt", NULL), *p = text ? strstr(text, "\nhead ") : NULL;
    *out = 0;
    if (p) sscanf(p, " head %39s", out);
    free(text);
}

/* ---- weights by formula ---- */

static int ends_with(const char *s, const char *end) {
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

float roformer_value(const char *name, uint64_t i) {
    int u = name_value(name, i), near_one = ends_with(name, "LayerNorm.weight") ||
        ends_with(name, "scaleoffset.weight");
    return near_one ? (float)(128 + u / 2) / 128 : (float)u / 256;
}

/* One tensor as a safetensors header has it. */
typedef struct {
    char name[NAME], shape[40];
    size_t count, cols;
} Entry;

/* The entry at or behind p; where to look for the next, or NULL after the last. */
static const char *next_entry(const char *p, Entry *e) {
    unsigned long from = 0, to = 0, cols = 1;
    const char *dtype = strstr(p, ":{\"dtype\":\"F32\"");
    if (!dtype) return NULL;
    const char *start = dtype - 1;
    while (start[-1] != '"') start--;
    *e = (Entry){0};
    snprintf(e->name, sizeof e->name, "%.*s", (int)(dtype - 1 - start), start);
    if (sscanf(dtype, ":{\"dtype\":\"F32\",\"shape\":[%39[0-9,]],\"data_offsets\":[%lu,%lu]", e->shape, &from,
               &to) != 3) abort();
    const char *comma = strchr(e->shape, ',');
    if (comma) cols = strtoul(comma + 1, NULL, 10);
    e->count = (to - from) / 4;
    e->cols = cols;
    return dtype + 1;
}

/* Entry j of RoPE's table at a position: sines, then cosines. */
static float table_value(size_t pos, size_t j, size_t head_dim) {
    size_t i = j % (head_dim / 2);
    double angle = (double)pos * pow(10000, -2.0 * (double)i / (double)head_dim);
    return (float)(j < head_dim / 2 ? sin(angle) : cos(angle));
}

/* The entry's values, in the order of the file, to out; the bytes written. */
static size_t put_values(uint8_t *out, const Entry *e, TensorType type, const Change *c) {
    size_t size = 0, hd = c ? (size_t)c->half_split : 0;
    int set = c && c->set && strstr(e->name, c->set);
    int turned = hd && (strstr(e->name, "self.query.") || strstr(e->name, "self.key."));
    const char *name = set && c->like ? c->like : e->name;
    for (size_t i = 0; i < e->count; i++) {
        size_t row = i / e->cols, j = turned ? row % hd : 0;
        if (turned) row = row - j + j % 2 * (hd / 2) + j / 2;
        float v = set && !c->like ? c->value : roformer_value(name, (uint64_t)(row * e->cols + i % e->cols));
        if (!set && strstr(e->name, "embed_positions")) v = table_value(row, i % e->cols, e->cols);
        size += float_encode(out + size, v, type);
    }
    return size;
}

/* The largest of the models' tensors: a table of sines and cosines, which the engine must leave alone. */
enum { MOST_BYTES = 1 << 18 };

/* ---- headers ---- */

static void change_head(const char *name, char *head, size_t n, const Change *c) {
    size_t len = c && c->head_from ? strlen(c->head_from) : 0;
    if (!len) return;
    if (strlen(c->head_to) != len) abort();
    for (size_t at = 0; at + len <= n; at++)
        if (memcmp(head + at, c->head_from, len) == 0) {
            memcpy(head + at, c->head_to, len);
            return;
        }
    roformer_fail(name, "no header holds", c->head_from);
}

static void write_two(const char *path, const void *a, size_t na, const void *b, size_t nb) {
    char *all = allocate(na + nb);
    memcpy(all, a, na);
    if (nb) memcpy(all + na, b, nb);
    file_write(path, all, na + nb);
    free(all);
}

/* ---- a Hugging Face folder ---- */

static void write_config(const char *name, const char *folder, const Change *c) {
    char path[600], *text = stored(name, ".config.json", NULL);
    char *at = text && c && c->from ? strstr(text, c->from) : NULL;
    snprintf(path, sizeof path, "%s/config.json", folder);
    if (!text) return;
    if (c && c->from && !at) roformer_fail(name, "config.json does not hold", c->from);
    if (at) {
        char *changed = allocate(strlen(text) + strlen(c->to) + 1);
        sprintf(changed, "%.*s%s%s", (int)(at - text), text, c->to, at + strlen(c->from));
        file_write(path, changed, strlen(changed));
        free(changed);
    } else {
        file_write(path, text, strlen(text));
    }
    free(text);
}

const char *roformer_folder(const char *name, TensorType type, const Change *change) {
    static char folder[500];
    char path[600], head_file[40];
    size_t n_head = 0, size = 0;
    Entry e;
    snprintf(folder, sizeof folder, "%s", test_tmp("roformer-hf"));
    mkdir(folder, 0700);
    write_config(name, folder, change);
    head_name(name, head_file);
    char *head = stored(head_file, ".safetensors.head", &n_head);
    if (!head) return NULL;
    char *json = allocate(2 * n_head + 1000), *w = json + 8;
    uint8_t *data = allocate(MOST_BYTES);
    w += sprintf(w, "{");
    for (const char *p = head + 8; (p = next_entry(p, &e));) {
        size_t begin = size;
        size += put_values(data + size, &e, type, change);
        w += sprintf(w, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}", begin ? "," : "",
                     e.name,
                     type == TENSOR_F32 ? "F32" : type == TENSOR_F16 ? "F16" : "BF16", e.shape, begin, size);
    }
    w += sprintf(w, "}");
    size_t n_json = (size_t)(w - json) - 8;
    for (size_t i = 0; i < 8; i++) json[i] = (char)(n_json >> 8 * i & 255);
    char *used = type == TENSOR_F32 ? head : json; /* F32: the package's own header */
    size_t n_used = type == TENSOR_F32 ? n_head : n_json + 8;
    change_head(name, used + 8, n_used - 8, change);
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    write_two(path, used, n_used, data, size);
    free(data);
    free(json);
    free(head);
    return folder;
}

/* ---- a GGUF file ---- */

/* The GGUF name of a PyTorch tensor, by names.map; 0 where it has none there. */
static int gguf_name(const char *map, const char *torch, char out[NAME]) {
    static const char *const prefixes[] = {"roformer.", "gau_alpha.", "electra."};
    char pattern[NAME], gguf[NAME], layer[8] = "";
    for (int i = 0; i < 3; i++)
        if (strncmp(torch, prefixes[i], strlen(prefixes[i])) == 0) torch += strlen(prefixes[i]);
    snprintf(pattern, sizeof pattern, "%.99s", torch);
    if (strncmp(torch, "encoder.layer.", 14) == 0) {
        sscanf(torch + 14, "%7[0-9]", layer);
        snprintf(pattern, sizeof pattern, "encoder.layer.#%.80s", torch + 14 + strlen(layer));
    }
    for (const char *line = map; line; line = strchr(line, '\n')) {
        char name[NAME] = "";
        if (line != map) line++;
        if (sscanf(line, "%99s %99s", gguf, name) != 2 || strcmp(name, pattern) != 0) continue;
        char *hash = strchr(gguf, '#');
        if (hash) snprintf(out, NAME, "%.*s%s%s", (int)(hash - gguf), gguf, layer, hash + 1);
        else snprintf(out, NAME, "%s", gguf);
        return 1;
    }
    return 0;
}

/* Where the head has that tensor's entry, behind its name; NULL: nowhere. */
static char *gguf_entry(char *head, size_t n_head, const char *name) {
    size_t len = strlen(name);
    for (size_t at = 8; at + len + 24 <= n_head; at++)
        if (memcmp(head + at, name, len) == 0 && load_u64((const uint8_t *)head + at - 8) == len)
            return head + at + len;
    return NULL;
}

const char *roformer_gguf(const char *name, TensorType type, const Change *change) {
    size_t n_head = 0, size = 0;
    char head_file[40], gguf[NAME];
    Entry e;
    head_name(name, head_file);
    char *head = stored(name, ".gguf.head", &n_head), *torch = stored(head_file, ".safetensors.head", NULL);
    char *map = stored("names", ".map", NULL);
    if (!head || !torch || !map) abort();
    uint8_t *data = allocate(MOST_BYTES);
    for (const char *p = torch + 8; (p = next_entry(p, &e));) {
        char *at = gguf_name(map, e.name, gguf) ? gguf_entry(head, n_head, gguf) : NULL;
        if (!at) { /* what the engine computes itself, and a bias that transformers does not use */
            if (!strstr(e.name, "embed_positions") && strcmp(e.name, "cls.predictions.bias") != 0)
                roformer_fail(name, "not in GGUF:", e.name);
            continue;
        }
        char *end = at + 4 + 8 * at[0]; /* n_dims, dims, type, offset */
        TensorType own = at[0] == 2 ? type : TENSOR_F32;
        size = (size + 31) / 32 * 32;
        end[0] = (char)own;
        for (int i = 0; i < 8; i++) end[4 + i] = (char)(size >> 8 * i & 255);
        size += put_values(data + size, &e, own, change);
    }
    change_head(name, head, n_head, change);
    const char *path = test_tmp("roformer.gguf");
    write_two(path, head, n_head, data, (size + 31) / 32 * 32);
    free(data);
    free(map);
    free(torch);
    free(head);
    return path;
}

/* ---- a model beside a golden ---- */

static double difference(const float *got, const GoldenRow *r, double worst) {
    for (size_t i = 0; i < r->n; i++) {
        double d = fabs((double)got[i] - r->v[i]);
        if (!(d <= worst)) worst = d; /* a NaN stays */
    }
    return worst;
}

/* The rows of text i, which s has read alone. */
static double rows_apart(Session *s, const Golden *g, size_t i, double worst) {
    const Model *m = s->model;
    const Encoder none = {0}, *e = m->encoder ? m->encoder : &none; /* a decoder, of which hidden states are asked */
    const GoldenText *t = &g->texts[i];
    float out[GOLDEN_WIDTH];
    size_t n = t->n;
    while (t->has_keep && !t->keep[n - 1]) n--;
    for (const GoldenRow *r = g->rows; r < g->rows + g->n_rows; r++) {
        int n_of[] = {m->config.d_model, m->config.vocab_size, m->config.d_model, m->config.roformer.n_labels};
        int there[] = {1, m->has_logits, e->pooler.data != NULL, e->cls_out.data != NULL};
        if (r->text != i || r->kind > GOLDEN_LABEL) continue;
        if (!there[r->kind] || r->n != (size_t)n_of[r->kind]) return NAN;
        if (r->kind == GOLDEN_POOL) encoder_pool(s, r->token, out);
        if (r->kind == GOLDEN_LABEL) encoder_classify(s, r->token, n - r->token, out);
        const float *got = r->kind == GOLDEN_HIDDEN   ? encoder_hidden(s, r->token)
                           : r->kind == GOLDEN_LOGITS ? encoder_logits(s, r->token)
                                                      : out;
        worst = difference(got, r, worst);
    }
    return worst;
}

double golden_distance(const char *name, const char *path, const ModelOptions *options, const Golden *g,
                       size_t longest) {
    char err[400] = "";
    Model m;
    Session s;
    double worst = 0;
    if (!path || model_open(&m, path, options, err, sizeof err)) {
        roformer_fail(name, "model_open:", err);
        return NAN;
    }
    if (session_init(&s, &m, &(SessionOptions){.n_ctx = longest, .n_batch = longest, .threads = 1}, err, sizeof err)) {
        roformer_fail(name, "session_init:", err);
        model_close(&m);
        return NAN;
    }
    for (size_t i = 0; i < g->n_texts; i++) {
        EncoderText t = golden_text(g, i);
        if (t.n > longest) continue;
        if (encoder_read(&s, &t, 1, err, sizeof err)) {
            roformer_fail(name, "encoder_read:", err);
            worst = NAN;
        }
        worst = rows_apart(&s, g, i, worst);
    }
    session_free(&s);
    model_close(&m);
    return worst;
}
