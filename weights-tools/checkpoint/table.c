/* weights-tools/checkpoint/table.c - footer, index block, data blocks. Offsets are compared with what is there before
 * they are used; blocks must follow one another, so no block is read twice. */
#include "table.h"
#include "base/base.h"
#include "checksum.h"
#include "snappy.h"
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FOOTER_BYTES = 48, TRAILER_BYTES = 5 };
static const uint8_t magic[8] = {0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb};

typedef struct {
    const uint8_t *data;
    size_t size;
    Crc crc;
    const char *name;
    char *err;
    size_t errlen;
    TableVisitor *visit;
    void *arg;
    size_t next;                  /* where the next data block may begin */
    char last_key[TABLE_MAX_KEY]; /* of all data blocks so far */
    size_t last_len;
    int any;
} Table;

/* A block's contents; owned where it was compressed. */
typedef struct {
    const uint8_t *data;
    size_t size;     /* of the entries */
    size_t restarts; /* how many */
    uint8_t *owned;
} Block;

/* Walks the entries of a block. */
typedef struct {
    const uint8_t *p, *end;
    const uint8_t *value;
    size_t value_len, key_len;
    char key[TABLE_MAX_KEY];
} Cursor;

int table_is(const uint8_t *data, size_t size) {
    return size >= FOOTER_BYTES && memcmp(data + size - sizeof magic, magic, sizeof magic) == 0;
}

static int damaged(Table *t, const char *what) {
    return base_error(t->err, t->errlen, -EINVAL, "%s: the index is damaged: %s", t->name, what);
}

int varint_take(const uint8_t **p, const uint8_t *end, uint64_t *v) {
    *v = 0;
    for (unsigned shift = 0; shift < 64 && *p < end; shift += 7) {
        uint8_t b = *(*p)++;
        if (shift == 63 && b > 1) return 0;
        *v |= (uint64_t)(b & 127) << shift;
        if (b < 128) return 1;
    }
    return 0;
}

/* ---- blocks ---- */

static int inflate(Table *t, Block *b) {
    size_t n;
    if (!snappy_length(b->data, b->size, &n))
        return damaged(t, "a block claims to be more than 22 times as long as its Snappy data, which cannot be");
    if (!(b->owned = malloc(n ? n : 1)))
        return base_error(t->err, t->errlen, -ENOMEM, "%s: out of memory while reading it", t->name);
    if (!snappy_decode(b->data, b->size, b->owned, n)) return damaged(t, "the Snappy data of a block");
    b->data = b->owned;
    b->size = n;
    return 0;
}

/* Restart points are where a key is written whole. Their list ends the block; the first is 0, they ascend. */
static int check_restarts(Table *t, Block *b) {
    if (b->size < 4) return damaged(t, "a block without its list of restarts");
    b->restarts = load_u32(b->data + b->size - 4);
    if (b->restarts == 0 || b->restarts > (b->size - 4) / 4)
        return damaged(t, "a block whose list of restarts does not fit");
    b->size -= 4 + 4 * b->restarts;
    for (size_t i = 0; i < b->restarts; i++) {
        size_t at = load_u32(b->data + b->size + 4 * i), before = i ? load_u32(b->data + b->size + 4 * (i - 1)) : 0;
        if (i == 0 ? at != 0 : at <= before || at >= b->size) return damaged(t, "a block whose restarts do not ascend");
    }
    return 0;
}

static int open_block(Table *t, uint64_t offset, uint64_t size, Block *b) {
    size_t room = t->size - FOOTER_BYTES;
    *b = (Block){.data = NULL};
    if (offset > room || size > room - offset || room - offset - size < TRAILER_BYTES)
        return damaged(t, "a block lies outside the file");
    b->data = t->data + offset;
    b->size = (size_t)size;
    const uint8_t *trailer = b->data + size;
    if (crc_of(&t->crc, b->data, b->size + 1) != crc_unmask(load_u32(trailer + 1)))
        return damaged(t, "a block does not have its checksum");
    if (*trailer > 1) return damaged(t, "a block is compressed by something other than Snappy");
    int rc = *trailer ? inflate(t, b) : 0;
    if (rc == 0) rc = check_restarts(t, b);
    if (rc) free(b->owned);
    return rc;
}

/* ---- entries ---- */

static int is_restart(const Block *b, size_t at) {
    size_t low = 0, high = b->restarts;
    while (low < high) {
        size_t middle = low + (high - low) / 2, r = load_u32(b->data + b->size + 4 * middle);
        if (r == at) return 1;
        if (r < at) low = middle + 1;
        else high = middle;
    }
    return 0;
}

/* The next entry, or 0 at the end; a negative errno where it is damaged. *restarts counts the restart points met. */
static int next_entry(Table *t, const Block *b, Cursor *c, size_t *restarts) {
    uint64_t shared, unshared, length;
    if (c->p == c->end) return 0;
    int whole = is_restart(b, (size_t)(c->p - b->data));
    if (!varint_take(&c->p, c->end, &shared) || !varint_take(&c->p, c->end, &unshared) ||
        !varint_take(&c->p, c->end, &length))
        return damaged(t, "an entry ends too early");
    if (shared > c->key_len || (whole && shared != 0)) return damaged(t, "a key shares more than there is");
    size_t left = (size_t)(c->end - c->p);
    if (unshared > left || length > left - unshared) return damaged(t, "an entry ends too early");
    if (unshared > TABLE_MAX_KEY - shared) return damaged(t, "a key is longer than any tensor's name");
    memcpy(c->key + shared, c->p, (size_t)unshared);
    c->key_len = (size_t)(shared + unshared);
    c->value = c->p + unshared;
    c->value_len = (size_t)length;
    c->p = c->value + length;
    *restarts += (size_t)whole;
    return 1;
}

static int visit_entry(Table *t, const Cursor *c) {
    if (t->any && text_compare(t->last_key, t->last_len, c->key, c->key_len) >= 0)
        return damaged(t, "its keys do not ascend");
    memcpy(t->last_key, c->key, c->key_len);
    t->last_len = c->key_len;
    t->any = 1;
    return t->visit(t->arg, c->key, c->key_len, c->value, c->value_len);
}

typedef int EntryVisitor(Table *t, const Cursor *c);

/* Every entry of the block at offset, in order. */
static int visit_block(Table *t, uint64_t offset, uint64_t size, EntryVisitor *visit) {
    Block b;
    Cursor c = {.key_len = 0};
    size_t restarts = 0;
    int rc = open_block(t, offset, size, &b), more = 1;
    if (rc) return rc;
    c.p = b.data;
    c.end = b.data + b.size;
    while (rc == 0 && (more = next_entry(t, &b, &c, &restarts)) > 0) rc = visit(t, &c);
    if (rc == 0) rc = more;
    if (rc == 0 && b.size > 0 && restarts != b.restarts) rc = damaged(t, "a restart point lies inside an entry");
    free(b.owned);
    return rc;
}

/* An entry of the index block: a data block's handle, under a key not before the block's last. */
static int visit_index_entry(Table *t, const Cursor *c) {
    const uint8_t *p = c->value, *end = c->value + c->value_len;
    uint64_t offset, size;
    if (!varint_take(&p, end, &offset) || !varint_take(&p, end, &size) || p != end)
        return damaged(t, "a block's place is not two numbers");
    if (offset < t->next) return damaged(t, "its blocks overlap");
    int rc = visit_block(t, offset, size, visit_entry);
    if (rc) return rc;
    if (t->any && text_compare(t->last_key, t->last_len, c->key, c->key_len) > 0)
        return damaged(t, "a key stands in the wrong block");
    t->next = (size_t)(offset + size + TRAILER_BYTES);
    return 0;
}

int table_each(const uint8_t *data, size_t size, const char *name, TableVisitor *visit, void *arg, char *err,
               size_t errlen) {
    Table *t = calloc(1, sizeof *t);
    if (!t) return base_error(err, errlen, -ENOMEM, "%s: out of memory while reading it", name);
    *t = (Table){.data = data, .size = size, .name = name, .err = err, .errlen = errlen, .visit = visit, .arg = arg};
    uint64_t meta_offset, meta_size, offset = 0, length = 0;
    int rc = table_is(data, size)
                 ? 0
                 : damaged(t, "its last bytes are not those of an index: it is truncated, fetch it again");
    if (rc == 0) {
        const uint8_t *p = data + size - FOOTER_BYTES, *end = data + size - sizeof magic;
        crc_init(&t->crc, CRC32C_TF);
        if (!varint_take(&p, end, &meta_offset) || !varint_take(&p, end, &meta_size) ||
            !varint_take(&p, end, &offset) || !varint_take(&p, end, &length))
            rc = damaged(t, "its footer");
        for (; rc == 0 && p < end; p++)
            if (*p) rc = damaged(t, "its footer");
    }
    if (rc == 0) rc = visit_block(t, offset, length, visit_index_entry);
    free(t);
    return rc;
}
