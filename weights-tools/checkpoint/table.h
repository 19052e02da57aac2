/* weights-tools/checkpoint/table.h - LevelDB's table file, as TensorFlow uses it for the index of a checkpoint: sorted
 * keys and values.
 *
 *     data blocks .. metaindex block  index block  footer
 *     block    entries, u32 restarts[n], u32 n; then outside: type (0 plain, 1 Snappy), u32 masked crc32c of both
 *     entry    varint shared, unshared, length; the unshared end of the key; the value
 *     footer   48 bytes: handles (offset, size) of metaindex and index as varints, zeros, 57 fb 80 8b 24 75 47 db
 *
 * Source: leveldb doc/table_format.md; tensorflow/tsl lib/io/format.cc. */
#ifndef TABLE_H
#define TABLE_H

#include <stddef.h>
#include <stdint.h>

enum { TABLE_MAX_KEY = 1024 };

int table_is(const uint8_t *data, size_t size);

/* What table_each calls for every entry, keys strictly ascending; key and value live only as long as the call. A value
 * other than 0 ends the walk and is returned; the callee has written its own line then. */
typedef int TableVisitor(void *arg, const char *key, size_t key_len, const uint8_t *value, size_t value_len);

/* Walk a table: 0, what the visitor returned, -EINVAL or -ENOMEM and one line. Every block's checksum, the restarts and
 * the order of keys and blocks are checked. Memory: one block, at most 22 times as long as it is in the file. */
int table_each(const uint8_t *data, size_t size, const char *name, TableVisitor *visit, void *arg, char *err,
               size_t errlen);

/* Protocol buffers' and LevelDB's variable-length number at *p, which is moved on: 1, or 0 where it does not end before
 * `end` or does not fit 64 bits. */
int varint_take(const uint8_t **p, const uint8_t *end, uint64_t *v);

#endif
