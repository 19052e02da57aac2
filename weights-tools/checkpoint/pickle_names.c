/* weights-tools/checkpoint/pickle_names.c - the names that may stand in a pickle, and what a call of one becomes: a
 * value that records its arguments. Names are compared with a list, never looked up anywhere; there is nothing here
 * that could be called. */
#include "pickle_names.h"

#include <errno.h>
#include <string.h>

/* All that a state dict refers to. */
static const struct {
    const char *module, *name;
    uint8_t which, elem;
} globals[] = {
    {"collections", "OrderedDict", GLOBAL_ORDERED_DICT, 0},
    {"torch._utils", "_rebuild_tensor", GLOBAL_TENSOR, 0},
    {"torch._utils", "_rebuild_tensor_v2", GLOBAL_TENSOR_V2, 0},
    {"torch._utils", "_rebuild_parameter", GLOBAL_PARAMETER, 0},
    {"torch.nn.parameter", "Parameter", GLOBAL_PARAMETER, 0},
    {"torch", "Size", GLOBAL_SIZE, 0},
    {"torch", "FloatStorage", GLOBAL_STORAGE, ELEM_F32},
    {"torch", "HalfStorage", GLOBAL_STORAGE, ELEM_F16},
    {"torch", "BFloat16Storage", GLOBAL_STORAGE, ELEM_BF16},
    {"torch", "DoubleStorage", GLOBAL_STORAGE, ELEM_F64},
    {"torch", "LongStorage", GLOBAL_STORAGE, ELEM_I64},
    {"torch", "IntStorage", GLOBAL_STORAGE, ELEM_I32},
    {"torch", "ShortStorage", GLOBAL_STORAGE, ELEM_I16},
    {"torch", "CharStorage", GLOBAL_STORAGE, ELEM_I8},
    {"torch", "ByteStorage", GLOBAL_STORAGE, ELEM_U8},
    {"torch", "BoolStorage", GLOBAL_STORAGE, ELEM_BOOL},
};

static int push_global(PickleMachine *m, const char *module, size_t module_n, const char *name, size_t name_n) {
    for (size_t i = 0; i < sizeof globals / sizeof *globals; i++)
        if (strlen(globals[i].module) == module_n && memcmp(globals[i].module, module, module_n) == 0 &&
            strlen(globals[i].name) == name_n && memcmp(globals[i].name, name, name_n) == 0)
            return pickle_push_new(m, &(PickleValue){.type = PV_GLOBAL, .first = PICKLE_NONE, .last = PICKLE_NONE,
                                                     .which = globals[i].which, .elem = globals[i].elem});
    char what[200];
    base_error(what, sizeof what, 0, "asks for %.*s.%.*s, which is no part of a state dict",
               module_n < 60 ? (int)module_n : 60, module, name_n < 60 ? (int)name_n : 60, name);
    return pickle_refused(m, what);
}

/* Two lines of text. */
int pickle_global(PickleMachine *m) {
    const char *text = (const char *)m->data + m->pos, *end = memchr(text, '\n', m->size - m->pos);
    const char *second = end ? end + 1 : NULL;
    const char *end2 = end ? memchr(second, '\n', m->size - m->pos - (size_t)(second - text)) : NULL;
    if (!end2) return pickle_damaged(m, "a name that never ends");
    m->pos += (size_t)(end2 + 1 - text);
    return push_global(m, text, (size_t)(end - text), second, (size_t)(end2 - second));
}

int pickle_stack_global(PickleMachine *m) {
    int32_t name, module;
    int rc = pickle_pop(m, &name);
    if (rc == 0) rc = pickle_pop(m, &module);
    if (rc) return rc;
    PickleValue n = *pickle_value(m, name), o = *pickle_value(m, module);
    if (n.type != PV_STRING || o.type != PV_STRING) return pickle_damaged(m, "a name that is no text");
    return push_global(m, o.as.text, o.n, n.as.text, n.n);
}

/* OrderedDict([[key, value], ..]), as Python 2 wrote it; c is the list's first cell. */
static int dict_of_pairs(PickleMachine *m, int32_t c) {
    int32_t dict;
    int rc = pickle_push_kind(m, PV_DICT);
    if (rc) return rc;
    dict = m->stack[m->n_stack - 1];
    for (; c != PICKLE_NONE && rc == 0; c = m->p->cells[c].next) {
        PickleValue pair = *pickle_at(m->p, c);
        if ((pair.type != PV_LIST && pair.type != PV_TUPLE) || pair.n != 2)
            return pickle_damaged(m, "an OrderedDict of something else than pairs");
        int32_t key = m->p->cells[pair.first].value, value = m->p->cells[pair.last].value;
        rc = pickle_add_child(m, dict, key);
        if (rc == 0) rc = pickle_add_child(m, dict, value);
    }
    return rc;
}

/* The value that a call of an allowed name stands for. */
int pickle_reduce(PickleMachine *m) {
    int32_t arguments, callee;
    int rc = pickle_pop(m, &arguments);
    if (rc == 0) rc = pickle_pop(m, &callee);
    if (rc) return rc;
    PickleValue f = *pickle_value(m, callee), a = *pickle_value(m, arguments);
    if (f.type != PV_GLOBAL || a.type != PV_TUPLE) return pickle_refused(m, "calls something that is no name");
    const PickleValue *first = pickle_child(m->p, &a, 0);
    if (f.which == GLOBAL_ORDERED_DICT && a.n == 0) return pickle_push_kind(m, PV_DICT);
    if (f.which == GLOBAL_ORDERED_DICT && a.n == 1 && first->type == PV_LIST) return dict_of_pairs(m, first->first);
    int is_size = f.which == GLOBAL_SIZE && a.n == 1 && first->type == PV_TUPLE;
    int is_parameter = f.which == GLOBAL_PARAMETER && a.n >= 1 && a.n <= 3 && first->type == PV_TENSOR;
    if (is_size || is_parameter) return pickle_push(m, m->p->cells[a.first].value); /* what is wrapped */
    if ((f.which == GLOBAL_TENSOR && a.n == 4) || (f.which == GLOBAL_TENSOR_V2 && a.n >= 5 && a.n <= 7)) {
        a.type = PV_TENSOR;
        return pickle_push_new(m, &a);
    }
    return pickle_refused(m, "calls an allowed name with arguments that torch.save does not write");
}

/* obj.__setstate__(state): torch.save writes it for a dict's _metadata, which says nothing about the weights. */
int pickle_build(PickleMachine *m) {
    int32_t state, object;
    int rc = pickle_pop(m, &state);
    if (rc == 0) rc = pickle_pop(m, &object);
    if (rc) return rc;
    if (pickle_value(m, object)->type != PV_DICT || pickle_value(m, state)->type != PV_DICT)
        return pickle_refused(m, "sets the state of an object that is no dict");
    return pickle_push(m, object);
}

int pickle_storage(PickleMachine *m) {
    int32_t id;
    int rc = pickle_pop(m, &id);
    if (rc) return rc;
    PickleValue v = *pickle_value(m, id);
    const PickleValue *class = pickle_child(m->p, &v, 1), *key = pickle_child(m->p, &v, 2);
    const PickleValue *numel = pickle_child(m->p, &v, 4), *view = pickle_child(m->p, &v, 5);
    int named = v.type == PV_TUPLE && v.n >= 5 && v.n <= 6 && pickle_is(pickle_child(m->p, &v, 0), "storage");
    if (!named || class->type != PV_GLOBAL || class->which != GLOBAL_STORAGE || key->type != PV_STRING ||
        numel->type != PV_INT || numel->as.integer < 0)
        return pickle_damaged(m, "a storage that torch.save would not write");
    if (view && view->type != PV_NONE)
        return pickle_refused(m, "has a storage that is a part of another (PyTorch 0.3 and before)");
    v.type = PV_STORAGE;
    return pickle_push_new(m, &v);
}
