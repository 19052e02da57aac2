/* weights-tools/checkpoint/torch_zip.c - PyTorch since 1.6: ROOT/data.pkl, ROOT/byteorder, ROOT/data/KEY a storage. */
#include "torch.h"
#include "pickle_read.h"
#include "statedict.h"
#include "zip.h"

#include <errno.h>
#include <string.h>

enum { KEY_MAX = 64, ROOT_MAX = 512 };

typedef struct {
    StorageFinder finder; /* first: a StorageFinder * is a ZipFinder * */
    const Zip *zip;
    const Crc *crc;
    const char *root; /* with its slash */
    size_t root_len;
} ZipFinder;

/* A storage is as long as its entry, no more, no less; then its checksum counts. */
static int find_storage(StorageFinder *f, const char *key, size_t n, ElemType elem, size_t numel,
                        const uint8_t **data) {
    ZipFinder *z = (void *)f;
    char path[ROOT_MAX + KEY_MAX + 8];
    if (n > KEY_MAX)
        return base_error(f->err, f->errlen, -EINVAL, "%s: a storage's name is longer than PyTorch makes one", f->name);
    memcpy(path, z->root, z->root_len);
    memcpy(path + z->root_len, "data/", 5);
    memcpy(path + z->root_len + 5, key, n);
    ZipEntry *e = zip_find(z->zip, path, z->root_len + 5 + n);
    if (!e)
        return base_error(f->err, f->errlen, -EINVAL, "%s: storage data/%.*s is not in the archive", f->name, (int)n,
                          key);
    if (e->size != numel * elem_bytes(elem))
        return base_error(f->err, f->errlen, -EINVAL,
                          "%s: storage data/%.*s has %zu bytes, its tensors ask for %zu of %s", f->name, (int)n, key,
                          e->size, numel, elem_name(elem));
    *data = e->data;
    return zip_check(e, z->crc, f->name, f->err, f->errlen);
}

/* The one entry that ends in "data.pkl" right behind the archive's root folder. */
static ZipEntry *find_pickle(const Zip *z) {
    for (size_t i = 0; i < z->n; i++) {
        ZipEntry *e = &z->entries[i];
        const char *slash = memchr(e->name, '/', e->name_len);
        size_t root = slash ? (size_t)(slash + 1 - e->name) : 0;
        if (root <= ROOT_MAX && e->name_len - root == 8 && memcmp(e->name + root, "data.pkl", 8) == 0) return e;
    }
    return NULL;
}

static int check_byteorder(ZipFinder *f) {
    char path[ROOT_MAX + 16];
    memcpy(path, f->root, f->root_len);
    memcpy(path + f->root_len, "byteorder", 9);
    const ZipEntry *e = zip_find(f->zip, path, f->root_len + 9);
    if (!e || (e->size == 6 && memcmp(e->data, "little", 6) == 0)) return 0;
    return base_error(f->finder.err, f->finder.errlen, -EINVAL,
                      "%s: its byte order is not little-endian, which is not read", f->finder.name);
}

static int read_pickle(Checkpoint *c, ZipFinder *f, ZipEntry *e) {
    Pickle p;
    size_t used;
    StorageFinder *s = &f->finder;
    int rc = zip_check(e, f->crc, s->name, s->err, s->errlen);
    if (rc == 0) rc = pickle_read(&p, e->data, e->size, &used, s->name, s->err, s->errlen);
    if (rc) return rc;
    rc = used == e->size
             ? state_dict_read(c, &p, s)
             : base_error(s->err, s->errlen, -EINVAL, "%s: something stands behind the pickle in data.pkl", s->name);
    pickle_free(&p);
    return rc;
}

int torch_zip_read(Checkpoint *c, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen) {
    Zip z;
    Crc crc;
    int rc = zip_open(&z, data, size, name, err, errlen);
    if (rc) return rc;
    crc_init(&crc, CRC32_ZIP);
    ZipEntry *e = find_pickle(&z);
    ZipFinder f = {.finder = {find_storage, name, err, errlen}, .zip = &z, .crc = &crc};
    if (!e)
        rc = base_error(err, errlen, -EINVAL,
                        "%s: a zip archive, but no data.pkl in it: not a file that torch.save wrote", name);
    else {
        f.root = e->name;
        f.root_len = e->name_len - 8;
        rc = check_byteorder(&f);
        if (rc == 0) rc = read_pickle(c, &f, e);
    }
    zip_close(&z);
    return rc;
}
