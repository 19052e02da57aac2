/* weights-tools/checkpoint/torch_legacy.c - PyTorch before 1.6, and what _use_new_zipfile_serialization=False writes to
 * this day.
 *
 *     five pickles: a magic number, the protocol 1001, a dict about the machine, the state dict, the storages' keys
 *     for each key of that list, in its order:  i64 numel, then the elements
 *
 * How long an element is stands only in the state dict, so its storages are collected first. */
#include "torch.h"
#include "pickle_read.h"
#include "statedict.h"
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* PROTO 2, LONG1 of ten bytes 0x1950a86a20f9469cfc6c, STOP. */
static const uint8_t magic[] = {0x80, 2, 0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, '.'};

typedef struct {
    const char *key; /* in the file */
    size_t n;
    ElemType elem;
    size_t numel;
    const uint8_t *data; /* NULL until its bytes were met */
} Storage;

typedef struct {
    StorageFinder finder; /* first: a StorageFinder * is a LegacyFinder * */
    Storage *storages;    /* [n], sorted by key */
    size_t n, cap;
    const uint8_t *data;
    size_t size, pos;
} LegacyFinder;

int torch_legacy_is(const uint8_t *data, size_t size) {
    return size >= sizeof magic && memcmp(data, magic, sizeof magic) == 0;
}

static int bad(LegacyFinder *l, const char *what) {
    return base_error(l->finder.err, l->finder.errlen, -EINVAL, "%s: %s", l->finder.name, what);
}

static int next_pickle(LegacyFinder *l, Pickle *p) {
    size_t used = 0;
    int rc = pickle_read(p, l->data + l->pos, l->size - l->pos, &used, l->finder.name, l->finder.err, l->finder.errlen);
    l->pos += used;
    return rc;
}

/* ---- storages ---- */

static int compare_storages(const void *a, const void *b) {
    const Storage *x = a, *y = b;
    return text_compare(x->key, x->n, y->key, y->n);
}

static Storage *find(const LegacyFinder *l, const char *key, size_t n) {
    return l->n ? bsearch(&(Storage){.key = key, .n = n}, l->storages, l->n, sizeof *l->storages, compare_storages)
                : NULL;
}

static int find_storage(StorageFinder *f, const char *key, size_t n, ElemType elem, size_t numel,
                        const uint8_t **data) {
    const Storage *s = find((void *)f, key, n);
    (void)elem, (void)numel; /* collect saw to it that all tensors of a key agree */
    if (!s || !s->data)
        return base_error(f->err, f->errlen, -EINVAL, "%s: storage %.*s is not in the file", f->name,
                          n < 60 ? (int)n : 60, key);
    *data = s->data;
    return 0;
}

/* Every storage that the state dict mentions, once. */
static int collect(LegacyFinder *l, const Pickle *p) {
    for (size_t i = 0; i < p->n_values; i++) {
        const PickleValue *v = &p->values[i];
        if (v->type != PV_STORAGE) continue;
        const PickleValue *class = pickle_child(p, v, 1), *key = pickle_child(p, v, 2), *numel = pickle_child(p, v, 4);
        if (array_reserve(&l->storages, &l->cap, l->n + 1, sizeof *l->storages))
            return bad(l, "out of memory while opening it"), -ENOMEM;
        l->storages[l->n++] = (Storage){key->as.text, key->n, (ElemType)class->elem, (size_t)numel->as.integer, NULL};
    }
    if (l->n == 0) return 0;
    qsort(l->storages, l->n, sizeof *l->storages, compare_storages);
    size_t kept = 1;
    for (size_t i = 1; i < l->n; i++) {
        Storage *last = &l->storages[kept - 1], *s = &l->storages[i];
        if (compare_storages(last, s) != 0) l->storages[kept++] = *s;
        else if (last->elem != s->elem || last->numel != s->numel)
            return bad(l, "two tensors disagree about the storage they share");
    }
    l->n = kept;
    return 0;
}

/* One storage's bytes, at l->pos. */
static int place(LegacyFinder *l, const PickleValue *key) {
    Storage *s = key->type == PV_STRING ? find(l, key->as.text, key->n) : NULL;
    size_t bytes;
    if (!s) return bad(l, "it holds a storage that no tensor uses");
    if (s->data) return bad(l, "it holds a storage twice");
    if (l->size - l->pos < 8) return bad(l, "the file ends inside its storages: it is truncated, fetch it again");
    if (load_u64(l->data + l->pos) != s->numel) return bad(l, "a storage has another length than its tensors say");
    l->pos += 8;
    if (!size_mul(s->numel, elem_bytes(s->elem), &bytes) || bytes > l->size - l->pos)
        return bad(l, "the file ends inside its storages: it is truncated, fetch it again");
    s->data = l->data + l->pos;
    l->pos += bytes;
    return 0;
}

/* The fifth pickle and what follows it, to the end of the file. */
static int read_storages(LegacyFinder *l) {
    Pickle keys;
    int rc = next_pickle(l, &keys);
    if (rc) return rc;
    const PickleValue *list = &keys.values[keys.root];
    if (list->type != PV_LIST) rc = bad(l, "its list of storages is no list");
    for (int32_t c = list->first; c != PICKLE_NONE && rc == 0; c = keys.cells[c].next)
        rc = place(l, pickle_at(&keys, c));
    if (rc == 0 && l->pos != l->size)
        rc = bad(l, "something stands behind its last storage: not the file its lists describe");
    pickle_free(&keys);
    return rc;
}

/* ---- the file ---- */

/* The second and third pickle. */
static int check_machine(LegacyFinder *l) {
    Pickle p;
    int rc = next_pickle(l, &p);
    if (rc) return rc;
    const PickleValue *root = &p.values[p.root];
    if (root->type != PV_INT || root->as.integer != 1001) rc = bad(l, "a PyTorch file of an unknown version");
    pickle_free(&p);
    if (rc == 0) rc = next_pickle(l, &p);
    if (rc) return rc;
    const PickleValue *little = pickle_get(&p, &p.values[p.root], "little_endian");
    if (!little || little->type != PV_BOOL || !little->as.integer)
        rc = bad(l, "its byte order is not little-endian, which is not read");
    pickle_free(&p);
    return rc;
}

int torch_legacy_read(Checkpoint *c, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen) {
    LegacyFinder l = {.finder = {find_storage, name, err, errlen}, .data = data, .size = size, .pos = sizeof magic};
    Pickle p;
    if (!torch_legacy_is(data, size)) return bad(&l, "not a file that torch.save wrote");
    int rc = check_machine(&l);
    if (rc == 0) rc = next_pickle(&l, &p);
    if (rc) return rc;
    rc = collect(&l, &p);
    if (rc == 0) rc = read_storages(&l);
    if (rc == 0) rc = state_dict_read(c, &p, &l.finder);
    pickle_free(&p);
    free(l.storages);
    return rc;
}
