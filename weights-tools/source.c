/* weights-tools/source.c - which reader a path takes, and the rows of what it found. */
#include "source.h"

#include "model/files/gguf.h"
#include "model/files/llama2c.h"
#include "model/files/llama2c_export.h"
#include "model/files/weights.h"
#include "model/files/safetensors.h"
#include "model/notes.h"
#include "sidecars.h"
#include "weights-tools/checkpoint/open.h"
#include "base/base.h"
#include "base/system.h"
#include "base/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ALIGNMENT = 32, QUANTIZATION_VERSION = 2 }; /* ggml's GGML_QNT_VERSION: the K formats' layout */

/* ---- items ---- */

int source_add(Source *s, const char *name, const Item *item) {
    Item copy = *item;
    copy.name = weights_keep(&s->plan.names, name, strlen(name));
    if (!copy.name || array_reserve(&s->items, &s->cap_items, s->n_items + 1, sizeof copy)) return -ENOMEM;
    copy.type = item_own_type(&copy);
    if (copy.type < 0 || copy.type == TENSOR_I8_GROUPS)
        copy.type = TENSOR_F32; /* GGUF has no such types, or nobody reads them */
    s->items[s->n_items++] = copy;
    return 0;
}

Item source_item(const View *v) {
    Item i = {.n_dims = v->n_dims, .rows = 1, .cols = 1, .view = *v};
    for (int d = 0; d < v->n_dims; d++) i.shape[d] = v->shape[d];
    i.cols = v->shape[v->n_dims - 1];
    i.rows = v->values / i.cols;
    return i;
}

int item_is_weight(const Item *i) {
    static const char *const stay[] = {"_norm.weight", "token_types.weight", "position_embd.weight",
                                       "attn_rel_b.weight", "ffn_gate_inp.weight", "ssm_conv1d.weight",
                                       "shortconv.conv.weight"};
    if (i->n_dims < 2 || i->rows < 2 || !text_ends_with(i->name, "weight")) return 0;
    for (size_t k = 0; k < sizeof stay / sizeof *stay; k++)
        if (strstr(i->name, stay[k])) return 0;
    return 1;
}

int item_own_type(const Item *i) {
    static const int of_elem[] = {[ELEM_F32] = TENSOR_F32, [ELEM_F16] = TENSOR_F16, [ELEM_BF16] = TENSOR_BF16};
    for (size_t k = 0; k < i->n_below; k++)
        if (i->below[k].type != i->from.type) return -1;
    if (i->from.data) return (int)i->from.type;
    return i->view.type <= ELEM_BF16 ? of_elem[i->view.type] : -1;
}

int item_readable(const Item *i) {
    if (!i->from.data) return elem_is_float(i->view.type);
    const QuantFormat *f = quant_format(i->from.type);
    return f && f->row;
}

size_t *source_order(Source *s, size_t n) { return weights_own(&s->plan.names, calloc(n, sizeof(size_t)), free); }

const size_t *source_pairs(Source *s, size_t n, size_t head_dim, size_t rotary_dim) {
    size_t *order = source_order(s, n);
    for (size_t r = 0; order && r < n; r++) {
        size_t k = r % head_dim;
        order[r] = k < rotary_dim ? r - k + k / 2 + k % 2 * (rotary_dim / 2) : r;
    }
    return order;
}

/* The matrix that row r of the new file comes from, a checkpoint's window one without data; *row: its row there. */
static const Matrix *matrix_of(const Item *i, size_t r, size_t *row) {
    const Matrix *m = &i->from;
    *row = i->row_order ? i->row_order[r] : r;
    for (size_t k = 0; k < i->n_below && *row >= m->rows; k++) {
        *row -= m->rows;
        m = &i->below[k];
    }
    return m;
}

static void read_values(const Item *i, const Matrix *m, size_t first, size_t n, float *out) {
    if (m->data) matrix_floats(out, m, first, n);
    else view_read(&i->view, first, n, ELEM_F32, (uint8_t *)out);
}

void item_row(const Item *i, size_t r, float *out) {
    size_t row;
    const Matrix *m = matrix_of(i, r, &row);
    if (m->data && !i->col_order) matrix_row(out, m, row);
    else if (!i->col_order) read_values(i, m, row * i->cols, i->cols, out);
    else
        for (size_t b = 0; b < i->cols / i->col_block; b++)
            read_values(i, m, row * i->cols + i->col_order[b] * i->col_block, i->col_block, out + b * i->col_block);
}

const uint8_t *item_raw_row(const Item *i, size_t r) {
    size_t row;
    const Matrix *m = matrix_of(i, r, &row);
    if (i->col_order) return NULL;
    if (!m->data) return view_is_contiguous(&i->view) ? i->view.data + row * i->cols * elem_bytes(i->view.type) : NULL;
    const QuantFormat *f = quant_format(m->type);
    return (const uint8_t *)m->data + row * (i->cols / (size_t)f->block) * (size_t)f->bytes;
}

static int is_mapped(const Weights *w, const uint8_t *data) {
    for (size_t f = 0; f < w->n_files; f++)
        if ((uintptr_t)data - (uintptr_t)w->files[f].data < w->files[f].size) return 1;
    return 0;
}

/* Memory of our own would come back as zeros: only what lies in a file is dropped. */
void item_drop(const Source *s, const Item *i) {
    const uint8_t *data = i->from.data ? i->from.data : i->view.data;
    if (!is_mapped(&s->weights, data) && !is_mapped(&s->checkpoint.weights, data)) return;
    if (i->from.data) pages_drop(data, matrix_bytes(&i->from));
    for (size_t k = 0; k < i->n_below; k++) pages_drop(i->below[k].data, matrix_bytes(&i->below[k]));
    if (!i->from.data && view_is_contiguous(&i->view)) pages_drop(data, i->view.values * elem_bytes(i->view.type));
}

int item_bytes(const Item *i, size_t *bytes) {
    const QuantFormat *f = quant_format(i->type);
    if (!f || i->cols % (size_t)f->block != 0) return 0;
    return size_mul(i->cols / (size_t)f->block, (size_t)f->bytes, bytes) && size_mul(*bytes, i->rows, bytes);
}

int source_no_memory(const Source *s, char *err, size_t errlen) {
    return base_error(err, errlen, -ENOMEM, "%s: out of memory", s->path);
}

int source_check_keys(const Source *s, char *err, size_t errlen) {
    if (s->meta.beyond)
        return base_error(err, errlen, -EINVAL, "%s: a number of its configuration is too large for GGUF's F32",
                          s->path);
    return s->meta.bytes.failed ? source_no_memory(s, err, errlen) : 0;
}

int source_twice(const Source *s, const char *tensor, char *err, size_t errlen) {
    return base_error(err, errlen, -EINVAL, "%s: tensor %.100s stands twice", s->path, tensor);
}

int source_refuse(const Source *s, const SourceWish *wish, int takes, char *err, size_t errlen) {
    const struct { const char *said, *why; int takes; } rows[] = {
        {wish->config, "--config: this file says itself what it holds", TAKES_CONFIG},
        {wish->pre, "--pre: its tokenizer says itself how a text is cut", TAKES_PRE},
        {wish->task, "--task: this model has no adapters", TAKES_TASK},
        {wish->roformer.mask, "--mask: is for RoFormer models", TAKES_ROFORMER},
        {wish->roformer.pooler, "--pooler: is for RoFormer models", TAKES_ROFORMER}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].said && !(takes & rows[i].takes))
            return base_error(err, errlen, -EINVAL, "%s: %s", s->path, rows[i].why);
    return 0;
}

/* ---- metadata that all have ---- */

void source_name(const SourceWish *wish, const char *folder, const char *otherwise, char *out, size_t n) {
    char here[4096] = "";
    const char *path = strcmp(folder, ".") == 0 && getcwd(here, sizeof here) ? here : folder, *last = path;
    size_t len = strlen(path);
    while (len > 0 && path[len - 1] == '/') len--;
    for (size_t i = 0; i < len; i++)
        if (path[i] == '/') last = path + i + 1;
    len -= (size_t)(last - path);
    int usable = len && !(len <= 2 && strncmp(last, "..", len) == 0);
    if (wish->name || !usable) snprintf(out, n, "%s", wish->name ? wish->name : otherwise);
    else snprintf(out, n, "%.*s", len < n ? (int)len : (int)n, last);
    uint32_t cp;
    for (size_t i = 0; out[i];) { /* a name cut or spelled so that it is no UTF-8 ends there */
        int bytes = utf8_decode(out + i, strlen(out + i), &cp);
        if (bytes == 0) out[i] = 0;
        i += (size_t)bytes;
    }
}

static void drop_scales(Source *s) {
    size_t kept = 0;
    for (size_t i = 0; i < s->n_items; i++) { /* while all stand in their places */
        const Item *of = s->items[i].scaled ? &s->items[s->items[i].scaled - 1] : NULL;
        if (of && of->type != item_own_type(of)) s->items[i].n_dims = -1;
    }
    for (size_t i = 0; i < s->n_items; i++)
        if (s->items[i].n_dims >= 0) s->items[kept++] = s->items[i];
    s->n_items = kept;
}

void source_file_type(Source *s, int file_type) {
    drop_scales(s);
    int64_t version = file_type < 0 ? s->quantization_version : QUANTIZATION_VERSION;
    if (file_type < 0) file_type = (int)s->file_type;
    if (version >= 0) gguf_u32(&s->meta, "general.quantization_version", (uint32_t)version);
    if (file_type >= 0) gguf_u32(&s->meta, "general.file_type", (uint32_t)file_type);
}

/* ---- opening ---- */

/* 1 where path is a file whose bytes only model/files/ reads: GGUF, or a llama2.c model. A negative errno and a line
 * where that cannot be told. */
static int is_weights_file(const char *path, char *err, size_t errlen) {
    MappedFile f;
    int rc = file_is_folder(path) ? 1 : file_map(&f, path, err, errlen);
    if (rc) return errno_is_passing(rc) ? rc : 0;
    int llama2c = llama2c_is(f.data, f.size) || llama2c_export_is(f.data, f.size);
    int yes = gguf_is(f.data, f.size) || (!safetensors_is(f.data, f.size) && llama2c);
    file_unmap(&f);
    return yes;
}

static int open_weights(Source *s, const SourceWish *wish, const Report *r, char *err, size_t errlen) {
    int rc = weights_open(&s->weights, s->path, err, errlen);
    if (rc) return rc;
    s->is_gguf = s->weights.format == FORMAT_GGUF;
    rc = source_refuse(s, wish, s->is_gguf ? 0 : TAKES_PRE, err, errlen);
    if (rc) return rc;
    return s->is_gguf ? source_gguf(s, wish, r, err, errlen) : source_llama2c(s, wish, r, err, errlen);
}

static int open_checkpoint(Source *s, const SourceWish *wish, const Report *r, char *err, size_t errlen) {
    int rc = checkpoint_open(&s->checkpoint, s->path, err, errlen);
    if (rc) return rc;
    if (s->checkpoint.n_other)
        report_note(r, "left out: %zu %s of numbers", s->checkpoint.n_other,
                    s->checkpoint.n_other == 1 ? "entry that is no tensor" : "entries that are no tensors");
    int layers = describe_is_roformer(&s->checkpoint) ? source_is_layers(s, wish, err, errlen) : 1;
    if (layers < 0) return layers;
    return !layers ? source_roformer(s, wish, r, err, errlen) : source_hf(s, wish, r, err, errlen);
}

static void report_notes(const Report *r, const Weights *w) {
    for (const Note *n = w->notes; n; n = n->next) report_note(r, "%s", n->line);
}

int source_open(Source *s, const char *path, const SourceWish *wish, const Report *r, char *err, size_t errlen) {
    memset(s, 0, sizeof *s);
    s->path = path;
    s->file_type = s->quantization_version = -1;
    s->alignment = ALIGNMENT;
    int rc = is_weights_file(path, err, errlen);
    if (rc >= 0) rc = rc ? open_weights(s, wish, r, err, errlen) : open_checkpoint(s, wish, r, err, errlen);
    if (rc == 0) report_notes(r, &s->checkpoint.weights), report_notes(r, &s->weights);
    if (rc == 0) rc = source_check_keys(s, err, errlen);
    if (rc) source_close(s);
    return rc;
}

void source_close(Source *s) {
    plan_free(&s->plan);
    describe_free(&s->roformer);
    sentence_close(&s->sentence);
    checkpoint_close(&s->checkpoint);
    weights_close(&s->weights);
    free(s->items);
    free(s->meta.bytes.data);
    memset(s, 0, sizeof *s);
}
