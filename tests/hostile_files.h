/* tests/hostile_files.h - what the tests of hostile and damaged checkpoints share: archives and pickles made in memory,
 * read and judged.
 *
 * What is read lies in an allocation of exactly its size, so that the sanitizers see a read of one byte too many. */
#ifndef HOSTILE_FILES_H
#define HOSTILE_FILES_H

#include "weights-tools/buffer.h"
#include "weights-tools/checkpoint/checkpoint.h"

typedef enum { AS_ZIP, AS_LEGACY, AS_TF } ReadAs;

typedef struct {
    uint8_t *bytes, *shard; /* exactly as long as they are said to be */
    Checkpoint c;
    int rc;
    char err[300];
} Read;

/* 0 where it was read, and then to its last element; otherwise an error and its line. AS_TF: data is an index, all of
 * whose shards are the same bytes. */
int read_memory(Read *r, ReadAs as, const void *data, size_t n, const void *shard, size_t shard_n);
void read_done(Read *r);
/* 1 where it is refused so; otherwise what it was is printed. f is freed by the second. */
int refused_bytes(ReadAs as, const void *data, size_t n, const void *shard, size_t shard_n, const char *expected);
int refused_file(ReadAs as, Buffer f, const char *expected);

uint8_t *exactly(const void *data, size_t n); /* a copy in an allocation of that size */

/* Text to bytes: %HH is the byte of that hexadecimal number. */
Buffer bytes_of(const char *text);

/* A zip archive of stored entries, with the fields that a test may spoil. */
typedef struct {
    const char *name;
    const void *data;
    size_t n;
    const char *local_name; /* NULL: the same */
    uint32_t flags, method, crc_change, size_change, packed_change;
    size_t at_change;
    int zip64;
} Entry;

Buffer zip_build(const Entry *e, size_t n, int end64);
/* A file whose data.pkl is that text, as bytes_of reads it, with storages "0" and "1" of 64 bytes each. */
Buffer zip_of_pickle(const char *text);

/* The text of a state dict with one tensor: name, storage class, storage key, numel, more of the storage, then offset,
 * size, stride; and of one whose tensor w is a window on a storage of 16 floats. The text lives until the next. */
const char *tensor_text(const char *name, const char *class, const char *key, const char *numel, const char *more,
                        const char *window);
const char *with_tensor(const char *key, const char *window);

#endif
