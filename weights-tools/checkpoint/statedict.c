/* weights-tools/checkpoint/statedict.c - from the values of a pickle to windows on storages. */
#include "statedict.h"

#include "weights-tools/buffer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int bad(StorageFinder *f, const PickleValue *name, const char *why) {
    int shown = name->n < 80 ? (int)name->n : 80;
    return base_error(f->err, f->errlen, -EINVAL, "%s: tensor %.*s: %s", f->name, shown, name->as.text, why);
}

/* ---- which dict ---- */

static size_t count_tensors(const Pickle *p, const PickleValue *dict) {
    size_t n = 0;
    if (!dict || dict->type != PV_DICT) return 0;
    for (int32_t c = dict->first; c != PICKLE_NONE; c = p->cells[p->cells[c].next].next)
        n += pickle_at(p, p->cells[c].next)->type == PV_TENSOR;
    return n;
}

static const PickleValue *find_dict(const Pickle *p) {
    static const char *const inner[] = {"state_dict", "model_state_dict", "model", "module"};
    const PickleValue *root = &p->values[p->root];
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
        const PickleValue *v = pickle_get(p, root, inner[i]);
        if (count_tensors(p, v) > 0) return v;
    }
    return count_tensors(p, root) > 0 ? root : NULL;
}

/* ---- one tensor ---- */

static int is_count(const PickleValue *v) {
    return v && v->type == PV_INT && v->as.integer >= 0 && (uint64_t)v->as.integer <= SIZE_MAX;
}

static int is_list(const PickleValue *v) { return v->type == PV_TUPLE || v->type == PV_LIST; }

/* Size and stride; both tuples (or lists) of the same length. */
static int read_shape(StorageFinder *f, const Pickle *p, const PickleValue *name, const PickleValue *t, View *v) {
    const PickleValue *size = pickle_child(p, t, 2), *stride = pickle_child(p, t, 3);
    if (!is_list(size) || !is_list(stride) || size->n != stride->n)
        return bad(f, name, "its size and its stride do not match");
    if (size->n > VIEW_MAX_DIMS) return bad(f, name, "more than 8 dimensions");
    v->n_dims = (int)size->n;
    int32_t a = size->first;
    for (int d = 0; d < v->n_dims; d++, a = p->cells[a].next) {
        if (!is_count(pickle_at(p, a))) return bad(f, name, "a dimension that is no count");
        v->shape[d] = (size_t)pickle_at(p, a)->as.integer;
    }
    if (!view_init(v)) return bad(f, name, "its shape is larger than any file");
    a = stride->first;
    for (int d = 0; d < v->n_dims; d++, a = p->cells[a].next) {
        if (!is_count(pickle_at(p, a))) return bad(f, name, "a stride that is no count");
        v->stride[d] = (size_t)pickle_at(p, a)->as.integer;
    }
    return 0;
}

/* The last element must lie in the storage, and the window must not show more elements than the storage has: one number
 * stretched over a terabyte by a stride of 0 is no weight. */
static int check_window(StorageFinder *f, const PickleValue *name, const View *v, size_t offset, size_t numel) {
    size_t last = offset, step;
    if (v->values == 0) return offset <= numel ? 0 : bad(f, name, "begins past the end of its storage");
    for (int d = 0; d < v->n_dims; d++)
        if (!size_mul(v->shape[d] - 1, v->stride[d], &step) || !size_add(last, step, &last))
            return bad(f, name, "reaches past the end of its storage");
    if (last >= numel) return bad(f, name, "reaches past the end of its storage");
    return v->values <= numel ? 0 : bad(f, name, "shows more elements than its storage has");
}

static int read_tensor(Checkpoint *c, const Pickle *p, StorageFinder *f, const PickleValue *name,
                       const PickleValue *t) {
    const PickleValue *storage = pickle_child(p, t, 0), *offset = pickle_child(p, t, 1);
    if (storage->type != PV_STORAGE || !is_count(offset))
        return bad(f, name, "is built from something that is no storage");
    if (t->n > 6 && pickle_child(p, t, 6)->n)
        return bad(f, name, "is a view with settings of its own, such as neg");
    const PickleValue *key = pickle_child(p, storage, 2), *numel = pickle_child(p, storage, 4);
    View v = {.type = (ElemType)pickle_child(p, storage, 1)->elem};
    if (!is_count(numel)) return bad(f, name, "has a storage larger than any file");
    size_t at = (size_t)offset->as.integer, n = (size_t)numel->as.integer, bytes;
    int rc = read_shape(f, p, name, t, &v);
    if (rc == 0) rc = check_window(f, name, &v, at, n);
    if (rc) return rc;
    if (!size_mul(n, elem_bytes(v.type), &bytes)) return bad(f, name, "has a storage larger than any file");
    rc = f->find(f, key->as.text, key->n, v.type, n, &v.data);
    if (rc) return rc;
    v.data += at * elem_bytes(v.type);
    return checkpoint_add(c, &v, name->as.text, name->n, f->name, f->err, f->errlen);
}

/* ---- what a training checkpoint says of its model ---- */

/* What JSON has no word for, or nobody needs, becomes an empty list: it is there, and no number. */
static void print_value(Buffer *b, const PickleValue *v) {
    int is_text = v->type == PV_STRING && weights_is_name(v->as.text, v->n);
    if (v->type == PV_INT) buffer_print(b, "%lld", (long long)v->as.integer);
    else if (v->type == PV_BOOL) buffer_print(b, v->as.integer ? "true" : "false");
    else if (v->type == PV_FLOAT && isfinite(v->as.number)) buffer_print(b, "%.17g", v->as.number);
    else if (is_text) buffer_json(b, v->as.text, v->n);
    else buffer_print(b, v->type == PV_NONE ? "null" : "[]");
}

/* The entry "model_args" of llama2.c's checkpoints, a dict, as JSON. */
static int keep_settings(Checkpoint *c, const Pickle *p, StorageFinder *f) {
    const PickleValue *args = pickle_get(p, &p->values[p->root], "model_args");
    Buffer b = {0};
    if (!args || args->type != PV_DICT) return 0;
    for (int32_t cell = args->first; cell != PICKLE_NONE; cell = p->cells[p->cells[cell].next].next) {
        const PickleValue *name = pickle_at(p, cell);
        if (name->type != PV_STRING || !weights_is_name(name->as.text, name->n)) continue;
        buffer_print(&b, b.n ? "," : "{");
        buffer_json(&b, name->as.text, name->n);
        buffer_print(&b, ":");
        print_value(&b, pickle_at(p, p->cells[cell].next));
    }
    if (b.n) buffer_print(&b, "}");
    if (b.n && !b.failed) c->settings = weights_keep(&c->weights, (const char *)b.data, b.n);
    int failed = b.failed || (b.n && !c->settings);
    free(b.data);
    return failed ? weights_no_memory(f->name, f->err, f->errlen) : 0;
}

int state_dict_read(Checkpoint *c, const Pickle *p, StorageFinder *f) {
    const PickleValue *dict = find_dict(p);
    if (!dict)
        return base_error(f->err, f->errlen, -EINVAL,
                          "%s: holds no dict of tensors: save it with torch.save(model.state_dict(), file)", f->name);
    int rc = keep_settings(c, p, f);
    for (int32_t cell = dict->first; cell != PICKLE_NONE && rc == 0; cell = p->cells[p->cells[cell].next].next) {
        const PickleValue *name = pickle_at(p, cell), *v = pickle_at(p, p->cells[cell].next);
        if (v->type != PV_TENSOR) c->n_other++;
        else if (name->type != PV_STRING)
            rc = base_error(f->err, f->errlen, -EINVAL, "%s: a tensor whose name is no text", f->name);
        else rc = read_tensor(c, p, f, name, v);
    }
    return rc;
}
