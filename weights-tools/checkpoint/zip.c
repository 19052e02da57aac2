/* weights-tools/checkpoint/zip.c - the directory at the end of the file, and what it points at.
 *
 *     local header + name + extra + bytes, for each entry ..  directory  [zip64 end, its locator]  end record + comment
 *
 * Sizes are those of the directory: PyTorch leaves them zero in the local headers. A size or offset of 0xffffffff
 * stands for 64 bits in the entry's extra field 1. */
#include "zip.h"
#include "base/base.h"
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOCAL_BYTES = 30, ENTRY_BYTES = 46, END_BYTES = 22, LOCATOR_BYTES = 20, END64_BYTES = 56, COMMENT_MAX = 65535,
    ENTRIES_MAX = 1 << 20,
};

typedef struct {
    Zip *z;
    const uint8_t *data;
    size_t size;
    uint64_t n, at, length; /* the directory: entries, offset, bytes */
    const char *name;
    char *err;
    size_t errlen;
} ZipReader;

/* An entry of the directory as it stands there. */
typedef struct {
    ZipEntry entry;
    uint64_t packed, size, at; /* at: of the local header */
    uint32_t flags, method;
} Raw;

int zip_is(const uint8_t *data, size_t size) { return size >= 4 && memcmp(data, "PK\3\4", 4) == 0; }

static int damaged(ZipReader *r, const char *what) {
    return base_error(r->err, r->errlen, -EINVAL, "%s: a damaged or truncated zip archive: %s", r->name, what);
}

static int bad_entry(ZipReader *r, const ZipEntry *e, const char *what) {
    int shown = e->name_len < 80 ? (int)e->name_len : 80;
    return base_error(r->err, r->errlen, -EINVAL, "%s: zip entry %.*s: %s", r->name, shown, e->name, what);
}

/* ---- the end of the file ---- */

static int read_end64(ZipReader *r, size_t end) {
    if (end < LOCATOR_BYTES) return damaged(r, "the record of its 64-bit sizes is missing");
    const uint8_t *locator = r->data + end - LOCATOR_BYTES;
    if (memcmp(locator, "PK\6\7", 4) != 0) return damaged(r, "the record of its 64-bit sizes is missing");
    uint64_t at = load_u64(locator + 8);
    if (load_u32(locator + 4) != 0 || load_u32(locator + 16) > 1) return damaged(r, "it is one of several disks");
    if (end - LOCATOR_BYTES < END64_BYTES || at > end - LOCATOR_BYTES - END64_BYTES ||
        memcmp(r->data + at, "PK\6\6", 4) != 0)
        return damaged(r, "the record of its 64-bit sizes is not where it should be");
    const uint8_t *p = r->data + at;
    if (load_u32(p + 16) != 0 || load_u32(p + 20) != 0 || load_u64(p + 24) != load_u64(p + 32))
        return damaged(r, "it is one of several disks");
    r->n = load_u64(p + 32);
    r->length = load_u64(p + 40);
    r->at = load_u64(p + 48);
    if (r->at > at || r->length > at - r->at) return damaged(r, "its directory reaches past its end");
    return 0;
}

/* The end record is the last one whose comment ends where the file ends. */
static int read_end(ZipReader *r) {
    size_t furthest = r->size < END_BYTES ? 0 : r->size - END_BYTES;
    for (size_t back = 0; r->size >= END_BYTES && back <= COMMENT_MAX && back <= furthest; back++) {
        const uint8_t *p = r->data + furthest - back;
        if (memcmp(p, "PK\5\6", 4) != 0 || load_u16(p + 20) != back) continue;
        r->n = load_u16(p + 10);
        r->length = load_u32(p + 12);
        r->at = load_u32(p + 16);
        if (r->n == 0xffff || r->length == 0xffffffff || r->at == 0xffffffff) return read_end64(r, furthest - back);
        if (load_u16(p + 4) != 0 || load_u16(p + 6) != 0 || load_u16(p + 8) != r->n)
            return damaged(r, "it is one of several disks");
        if (r->at > furthest - back || r->length > furthest - back - r->at)
            return damaged(r, "its directory reaches past its end");
        return 0;
    }
    return damaged(r, "its end is missing");
}

/* ---- one entry ---- */

/* The 64-bit values of extra field 1: those of size, packed, at that are 0xffffffff in the entry, in this order. */
static int read_extra(ZipReader *r, Raw *raw, const uint8_t *p, size_t n) {
    uint64_t *const wanted[] = {&raw->size, &raw->packed, &raw->at};
    while (n >= 4) {
        size_t id = load_u16(p), length = load_u16(p + 2), used = 0;
        if (length > n - 4) return bad_entry(r, &raw->entry, "its extra field reaches past the entry");
        for (int i = 0; id == 1 && i < 3; i++) {
            if (*wanted[i] != 0xffffffff) continue;
            if (length - used < 8) return bad_entry(r, &raw->entry, "a 64-bit size is missing");
            *wanted[i] = load_u64(p + 4 + used);
            used += 8;
        }
        p += 4 + length;
        n -= 4 + length;
        if (id == 1) return 0;
    }
    return 0;
}

/* Find the entry's bytes through its local header. */
static int place(ZipReader *r, Raw *raw) {
    ZipEntry *e = &raw->entry;
    if (raw->flags & 1) return bad_entry(r, e, "is encrypted");
    if (raw->method != 0)
        return bad_entry(r, e, "is compressed, which torch.save never does: unpack the archive and zip it with -0");
    if (raw->packed != raw->size) return bad_entry(r, e, "is stored, yet its two sizes differ");
    if (raw->at > r->at || r->at - raw->at < LOCAL_BYTES) return bad_entry(r, e, "lies outside the archive");
    const uint8_t *p = r->data + raw->at;
    size_t room = (size_t)(r->at - raw->at) - LOCAL_BYTES, name = load_u16(p + 26), extra = load_u16(p + 28);
    if (memcmp(p, "PK\3\4", 4) != 0 || load_u16(p + 8) != 0) return bad_entry(r, e, "its local header is not there");
    if (name + extra > room || raw->size > room - name - extra)
        return bad_entry(r, e, "its bytes reach into the directory");
    if (name != e->name_len || memcmp(p + LOCAL_BYTES, e->name, name) != 0)
        return bad_entry(r, e, "has another name in its local header");
    e->data = p + LOCAL_BYTES + name + extra;
    e->size = (size_t)raw->size;
    return 0;
}

/* The entry at *p, which *left bytes of directory are left for; both move on. */
static int read_entry(ZipReader *r, const uint8_t **p, size_t *left) {
    const uint8_t *q = *p;
    if (*left < ENTRY_BYTES || memcmp(q, "PK\1\2", 4) != 0) return damaged(r, "its directory ends too early");
    size_t name = load_u16(q + 28), extra = load_u16(q + 30), comment = load_u16(q + 32);
    if (name + extra + comment > *left - ENTRY_BYTES) return damaged(r, "its directory ends too early");
    Raw raw = {.entry = {.name = (const char *)q + ENTRY_BYTES, .name_len = name, .crc = load_u32(q + 16)},
               .flags = load_u16(q + 8), .method = load_u16(q + 10),
               .packed = load_u32(q + 20), .size = load_u32(q + 24), .at = load_u32(q + 42)};
    int rc = read_extra(r, &raw, q + ENTRY_BYTES + name, extra);
    if (rc == 0) rc = place(r, &raw);
    *p += ENTRY_BYTES + name + extra + comment;
    *left -= ENTRY_BYTES + name + extra + comment;
    r->z->entries[r->z->n++] = raw.entry;
    return rc;
}

/* ---- all of them ---- */

static int compare_places(const void *a, const void *b) {
    const ZipEntry *x = a, *y = b;
    return x->data < y->data ? -1 : x->data > y->data ? 1 : x->size < y->size ? -1 : x->size > y->size;
}

static int compare_names(const void *a, const void *b) {
    const ZipEntry *x = a, *y = b;
    return text_compare(x->name, x->name_len, y->name, y->name_len);
}

/* Entries that share bytes are how a small archive unpacks to a huge one; sorted by place, neighbours show it. */
static int check_all(ZipReader *r) {
    ZipEntry *e = r->z->entries;
    qsort(e, r->z->n, sizeof *e, compare_places);
    for (size_t i = 1; i < r->z->n; i++)
        if ((size_t)(e[i].data - e[i - 1].data) < e[i - 1].size)
            return bad_entry(r, &e[i], "shares bytes with another entry");
    qsort(e, r->z->n, sizeof *e, compare_names);
    for (size_t i = 1; i < r->z->n; i++)
        if (compare_names(&e[i - 1], &e[i]) == 0) return bad_entry(r, &e[i], "stands twice in the archive");
    return 0;
}

int zip_open(Zip *z, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen) {
    memset(z, 0, sizeof *z);
    ZipReader r = {.z = z, .data = data, .size = size, .name = name, .err = err, .errlen = errlen};
    int rc = read_end(&r);
    if (rc == 0 && (r.n > r.length / ENTRY_BYTES || r.n > ENTRIES_MAX))
        rc = damaged(&r, "more entries are announced than fit");
    if (rc == 0 && r.n == 0) rc = damaged(&r, "it is empty");
    if (rc == 0 && !(z->entries = calloc((size_t)r.n, sizeof *z->entries)))
        rc = base_error(err, errlen, -ENOMEM, "%s: out of memory while opening it", name);
    const uint8_t *p = rc ? NULL : data + r.at;
    size_t left = (size_t)r.length;
    for (uint64_t i = 0; rc == 0 && i < r.n; i++) rc = read_entry(&r, &p, &left);
    if (rc == 0) rc = check_all(&r);
    if (rc) zip_close(z);
    return rc;
}

void zip_close(Zip *z) {
    free(z->entries);
    memset(z, 0, sizeof *z);
}

ZipEntry *zip_find(const Zip *z, const char *name, size_t len) {
    size_t low = 0, high = z->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        ZipEntry *e = &z->entries[middle];
        int d = text_compare(name, len, e->name, e->name_len);
        if (d == 0) return e;
        if (d < 0) high = middle;
        else low = middle + 1;
    }
    return NULL;
}

int zip_check(ZipEntry *e, const Crc *crc, const char *name, char *err, size_t errlen) {
    if (!e->checked) e->checked = crc_of(crc, e->data, e->size) == e->crc;
    if (e->checked) return 0;
    int shown = e->name_len < 80 ? (int)e->name_len : 80;
    return base_error(err, errlen, -EINVAL,
                      "%s: zip entry %.*s: its bytes do not have its checksum: fetch the file again", name, shown,
                      e->name);
}
