/* tests/positions_files.c - see positions_files.h. */
#include "positions_files.h"

#include "model/family.h"
#include "model/options.h"
#include "model/roformer_names.h"
#include "rope/positions.h"
#include "build.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

void positions_fail(const PositionsCase *c, const char *what, double by) {
    char line[300];
    snprintf(line, sizeof line, "%s: %s %.3g", c->name, what, by);
    test_fail(__FILE__, __LINE__, line);
}

/* ---- goldens ---- */

static void read_numbers(const char *p, PositionsText *t, int which) { /* N V V .. */
    char *at;
    t->n = strtoul(p, &at, 10);
    for (size_t i = 0; i < t->n && i < MOST_IDS; i++) {
        long v = strtol(at, &at, 10);
        if (which == 0) t->ids[i] = (int)v, t->keep[i] = 1;
        else if (which == 1) t->types[i] = (int)v;
        else t->keep[i] = v != 0;
    }
}

static void read_line(PositionsCase *c, const char *line, char *wrong) {
    PositionsKey *key = &c->keys[c->n_keys];
    PositionsPart *part = &c->parts[c->n_parts];
    PositionsText *text = c->n_texts ? &c->texts[c->n_texts - 1] : NULL;
    char *at;
    if (sscanf(line, "key %7s %59s %29s", key->type, key->name, key->value) == 3) c->n_keys++;
    else if (sscanf(line, "tensor %59s %zu %zu %d", part->name, &part->rows, &part->cols, &part->per) == 4)
        c->n_parts++;
    else if (strncmp(line, "option ", 7) == 0) sscanf(line, "option %39s", c->option);
    else if (strncmp(line, "text ", 5) == 0) read_numbers(line + 5, &c->texts[c->n_texts++], 0), *wrong = 0;
    else if (strncmp(line, "types ", 6) == 0) read_numbers(line + 6, text, 1);
    else if (strncmp(line, "keep ", 5) == 0) read_numbers(line + 5, text, 2);
    else if (strncmp(line, "wrong ", 6) == 0) sscanf(line, "wrong %39[^\n]", wrong);
    else if (strncmp(line, "row ", 4) == 0 && c->n_rows < sizeof c->rows / sizeof *c->rows) {
        PositionsRow *r = &c->rows[c->n_rows++];
        snprintf(r->wrong, sizeof r->wrong, "%s", wrong);
        r->text = *wrong ? 0 : c->n_texts - 1; /* a mistake is made in the first text */
        r->n = strtoul(line + 4, &at, 10);
        for (int i = 0; i < STORED; i++) r->at[i] = strtod(at, &at);
    }
}

/* The next case from p on; where to go on, or NULL: there is none. */
const char *positions_next(const char *p, PositionsCase *c) {
    char wrong[40] = "";
    int in = 0;
    memset(c, 0, sizeof *c);
    for (; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL) {
        if (strncmp(p, "case ", 5) == 0) {
            if (in++) return p;
            sscanf(p, "case %29s %9s", c->name, c->arch);
        } else if (in) read_line(c, p, wrong);
    }
    return in ? "" : NULL;
}

/* ---- a model's file ---- */

static void put_key(Bytes *b, const char *arch, const PositionsKey *k) {
    char name[80];
    snprintf(name, sizeof name, "%s.%s", arch, k->name);
    bytes_string(b, name);
    bytes_u32(b, strcmp(k->type, "u32") == 0 ? META_U32 : strcmp(k->type, "f32") == 0 ? META_F32 : META_STRING);
    if (strcmp(k->type, "u32") == 0) bytes_u32(b, (uint32_t)strtoul(k->value, NULL, 10));
    else if (strcmp(k->type, "f32") == 0) bytes_f32(b, strtof(k->value, NULL));
    else bytes_string(b, k->value);
}

size_t part_values(const PositionsPart *p) { return p->rows * (p->cols ? p->cols : 1); }

static void put_values(Bytes *b, const PositionsPart *p) {
    for (size_t i = 0; i < part_values(p); i++) {
        int u = name_value(p->name, i);
        bytes_f32(b, p->per ? (float)u / (float)p->per : (float)(128 + u / 2) / 128);
    }
}

const char *positions_write(const PositionsCase *c) {
    const char *path = test_tmp("positions.gguf");
    Bytes b = {0};
    size_t at = 0;
    bytes_put(&b, "GGUF", 4), bytes_u32(&b, 3), bytes_u64(&b, c->n_parts), bytes_u64(&b, c->n_keys + 1);
    bytes_string(&b, "general.architecture"), bytes_u32(&b, META_STRING), bytes_string(&b, c->arch);
    for (size_t i = 0; i < c->n_keys; i++) put_key(&b, c->arch, &c->keys[i]);
    for (size_t i = 0; i < c->n_parts; i++) {
        const PositionsPart *p = &c->parts[i];
        bytes_string(&b, p->name);
        bytes_u32(&b, p->cols ? 2 : 1);
        if (p->cols) bytes_u64(&b, p->cols);
        bytes_u64(&b, p->rows), bytes_u32(&b, TENSOR_F32), bytes_u64(&b, at);
        at = (at + 4 * part_values(p) + 31) / 32 * 32;
    }
    for (size_t i = 0; i < c->n_parts; i++) bytes_pad(&b, 32), put_values(&b, &c->parts[i]);
    bytes_pad(&b, 32);
    file_write(path, b.data, b.n);
    free(b.data);
    return path;
}

/* ---- as a folder ---- */

static void name_in_hf(char *name, const PositionsCase *c, const char *gguf, const char *kind) {
    const PositionKind *k = position_kind(kind);
    int layer = -1;
    char pattern[TENSOR_NAME];
    if (strcmp(c->arch, "roformer") == 0) {
        const RoformerName *row = roformer_names_find(ROFORMER_IN_GGUF, gguf, &layer);
        roformer_names_write(name, row, ROFORMER_IN_TORCH, layer, 0);
        return;
    }
    if (k->table && strcmp(k->table, gguf) == 0) {
        snprintf(name, TENSOR_NAME, "%s", k->table_hf);
        return;
    }
    for (const DecoderTensor *t = decoder_tensors; t->gguf; t++)
        for (layer = 0; layer < 2; layer++) {
            weights_layer_name(pattern, t->gguf, layer);
            if (strcmp(pattern, gguf) == 0) weights_layer_name(name, t->hf, layer);
        }
}

static void put_config(const PositionsCase *c, const char *folder, const char *kind) {
    static const struct { const char *gguf, *hf; } names[] = {
        {"embedding_length", "hidden_size"}, {"embedding_length_in", "embedding_size"},
        {"block_count", "num_hidden_layers"}, {"feed_forward_length", "intermediate_size"},
        {"attention.head_count", "num_attention_heads"}, {"attention.head_count_kv", "num_key_value_heads"},
        {"attention.key_length", "head_dim"}, {"context_length", "max_position_embeddings"},
        {"attention.layer_norm_rms_epsilon", "rms_norm_eps"}, {"attention.layer_norm_epsilon", "layer_norm_eps"},
        {"attention.relative_buckets_count", "relative_attention_num_buckets"},
        {"attention.relative_max_distance", "relative_attention_max_distance"}};
    FILE *f = fopen(test_in(folder, "config.json"), "w");
    fprintf(f, "{\"model_type\":\"%s\",\"position_embedding_type\":\"%s\",\"vocab_size\":%d", c->arch, kind, VOCAB);
    fprintf(f, ",\"tie_word_embeddings\":true");
    for (size_t i = 0; i < c->n_keys; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (strcmp(names[k].gguf, c->keys[i].name) == 0)
                fprintf(f, ",\"%s\":%s", names[k].hf, c->keys[i].value);
    fprintf(f, "}\n");
    fclose(f);
}

const char *positions_folder(const PositionsCase *c, const char *kind) {
    const char *folder = test_folder("positions-folder");
    Bytes data = {0}, file = {0};
    char head[16384] = "{";
    size_t n = 1;
    for (size_t i = 0; i < c->n_parts; i++) {
        const PositionsPart *p = &c->parts[i];
        char name[TENSOR_NAME] = "", cols[24] = "";
        size_t begin = data.n;
        name_in_hf(name, c, p->name, strcmp(kind, "absolute") == 0 ? "learned" : kind);
        put_values(&data, p);
        if (p->cols) snprintf(cols, sizeof cols, ",%zu", p->cols);
        n += (size_t)snprintf(head + n, sizeof head - n,
                              "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%zu%s],\"data_offsets\":[%zu,%zu]}", i ? "," : "",
                              name, p->rows, cols, begin, data.n);
    }
    n += (size_t)snprintf(head + n, sizeof head - n, "}");
    bytes_u64(&file, n), bytes_put(&file, head, n), bytes_put(&file, data.data, data.n);
    file_write(test_in(folder, "model.safetensors"), file.data, file.n);
    put_config(c, folder, kind);
    free(file.data);
    free(data.data);
    return folder;
}

int positions_decoder(const PositionsCase *c) { return strcmp(c->arch, "llama") == 0; }

int positions_open(Model *m, const PositionsCase *c, const Kernels *kernels) {
    char err[400] = "";
    ModelOptions o = {.kernels = kernels, .position_extend = *c->option ? c->option : NULL};
    int rc = model_open(m, positions_write(c), &o, err, sizeof err);
    if (rc) test_fail(__FILE__, __LINE__, err);
    return rc;
}

int positions_start(Session *s, const Model *m, SessionOptions o) {
    char err[400] = "";
    o.n_ctx = MOST_IDS, o.grain = 1;
    int rc = session_init(s, m, &o, err, sizeof err);
    if (rc) test_fail(__FILE__, __LINE__, err);
    return rc;
}

int positions_find(PositionsCase *c, const char *name) {
    char *golden = file_read("tests/golden/positions.txt", NULL);
    const char *p = golden;
    while (p && (p = positions_next(p, c)) && strcmp(c->name, name) != 0) {}
    free(golden);
    if (p) return 1;
    test_fail(__FILE__, __LINE__, name);
    return 0;
}

/* n ids from where the session is on, in pieces of `step`; the logits behind the last. */
void positions_go_on(float *to, Session *s, const PositionsCase *c, size_t n, size_t step) {
    char err[300] = "";
    const float *logits = NULL;
    const int *ids = c->texts[0].ids;
    for (size_t at = s->pos; at < n; at += step)
        if (session_eval(s, ids + at, n - at < step ? n - at : step, &logits, err, sizeof err))
            test_fail(__FILE__, __LINE__, err);
    memset(to, 0, VOCAB * sizeof *to);
    if (logits) memcpy(to, logits, VOCAB * sizeof *to);
}

void positions_set_key(PositionsCase *c, const char *type, const char *name, const char *value) {
    size_t i = 0;
    while (i < c->n_keys && strcmp(c->keys[i].name, name) != 0) i++;
    if (i == c->n_keys) c->n_keys++;
    snprintf(c->keys[i].type, sizeof c->keys[i].type, "%s", type);
    snprintf(c->keys[i].name, sizeof c->keys[i].name, "%s", name);
    snprintf(c->keys[i].value, sizeof c->keys[i].value, "%s", value);
}
