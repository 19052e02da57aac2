/* weights-tools/plan.c - the list of what will be written, and the way of a tensor from its map into the file. */
#include "plan.h"
#include "base/newfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 1 << 18 };

void report_note(const Report *r, const char *fmt, ...) {
    char line[600];
    va_list ap;
    va_start(ap, fmt);
    base_verror(line, sizeof line, 0, fmt, ap);
    va_end(ap);
    if (r->note) r->note(r->arg, line);
}

const char *const type_choice_names[] = {"keep", "f32", "f16", NULL};

int plan_add(Plan *p, const char *name, const View *v) {
    Output o = {.name = weights_keep(&p->names, name, strlen(name)), .view = *v, .type = v->type};
    if (!o.name || array_reserve(&p->items, &p->cap, p->n + 1, sizeof o)) return -ENOMEM;
    p->items[p->n++] = o;
    return 0;
}

void plan_set_types(Plan *p, TypeChoice choice) {
    for (size_t i = 0; i < p->n; i++)
        p->items[i].type = choice == TYPE_KEEP ? p->items[i].view.type
                           : choice == TYPE_F16 && p->items[i].view.n_dims >= 2 ? ELEM_F16 : ELEM_F32;
}

void plan_free(Plan *p) {
    weights_close(&p->names);
    free(p->items);
    memset(p, 0, sizeof *p);
}

size_t output_bytes(const Output *o) { return o->view.values * elem_bytes(o->type); }

uint64_t plan_bytes(const Plan *p) {
    uint64_t total = 0;
    for (size_t i = 0; i < p->n; i++) total += output_bytes(&p->items[i]);
    return total;
}

int output_write(NewFile *f, const Output *o, const Report *r, uint64_t *done, uint64_t total, char *err,
                 size_t errlen) {
    uint8_t *piece = malloc(PIECE_BYTES);
    size_t some = PIECE_BYTES / elem_bytes(o->type);
    int rc = piece ? 0 : base_error(err, errlen, -ENOMEM, "%s: out of memory", f->path);
    for (size_t i = 0; i < o->view.values && rc == 0; i += some) {
        size_t n = o->view.values - i < some ? o->view.values - i : some;
        if (view_read(&o->view, i, n, o->type, piece) > 0)
            rc = base_error(err, errlen, -EINVAL, "%s: tensor %.80s holds numbers too large for %s%s", f->path, o->name,
                            elem_name(o->type), o->type == ELEM_F16 ? ": use --type keep" : "");
        if (rc == 0) {
            newfile_write(f, piece, n * elem_bytes(o->type));
            rc = f->rc;
        }
        *done += n * elem_bytes(o->type);
        if (rc == 0 && r->progress && r->progress(r->arg, *done, total))
            rc = base_error(err, errlen, -EINTR, "%s: interrupted, nothing was written", f->path);
    }
    free(piece);
    return rc;
}

/* ---- safetensors ---- */

static int compare_outputs(const void *a, const void *b) {
    const Output *x = a, *y = b;
    size_t p = elem_bytes(x->type), q = elem_bytes(y->type);
    return p != q ? (p > q ? -1 : 1) : strcmp(x->name, y->name);
}

/* The JSON header; its length is a multiple of 8, so that the widest type is aligned. */
static void make_header(Buffer *b, const Plan *p) {
    size_t at = 0;
    buffer_print(b, "{\"__metadata__\":{\"format\":\"pt\"}");
    for (size_t i = 0; i < p->n; i++) {
        const Output *o = &p->items[i];
        buffer_print(b, ",");
        buffer_json(b, o->name, strlen(o->name));
        buffer_print(b, ":{\"dtype\":\"%s\",\"shape\":[", elem_name(o->type));
        for (int d = 0; d < o->view.n_dims; d++) buffer_print(b, "%s%zu", d ? "," : "", o->view.shape[d]);
        buffer_print(b, "],\"data_offsets\":[%zu,%zu]}", at, at + output_bytes(o));
        at += output_bytes(o);
    }
    buffer_print(b, "}");
    buffer_fill(b, ' ', (8 - b->n % 8) % 8);
}

int safetensors_write(NewFile *f, Plan *p, const Report *r, char *err, size_t errlen) {
    Buffer header = {0}, length = {0};
    uint64_t done = 0, total = plan_bytes(p);
    qsort(p->items, p->n, sizeof *p->items, compare_outputs);
    make_header(&header, p);
    buffer_u64(&length, header.n);
    int rc = 0;
    if (header.failed || length.failed) rc = base_error(err, errlen, -ENOMEM, "%s: out of memory", f->path);
    else if (header.n > 100000000)
        rc = base_error(err, errlen, -EINVAL, "%s: more tensors than safetensors can list", f->path);
    if (rc == 0) {
        newfile_write(f, length.data, length.n);
        newfile_write(f, header.data, header.n);
    }
    for (size_t i = 0; i < p->n && rc == 0; i++) rc = output_write(f, &p->items[i], r, &done, total, err, errlen);
    free(header.data);
    free(length.data);
    return rc;
}
