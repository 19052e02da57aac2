/* weights-tools/checkpoint/zip.h - a zip archive of stored entries, as torch.save writes it; ZIP64 too. No
 * decompression, so no bomb.
 *
 *     Zip z;
 *     if (zip_open(&z, data, size, "model.bin", err, sizeof err)) ...
 *     ZipEntry *e = zip_find(&z, "archive/data.pkl", 16);
 *     zip_close(&z);
 *
 * What zip_open lets pass: one disk, every entry stored (not compressed, not encrypted), every entry's bytes inside the
 * file and apart from every other's, the name of its local header the same as in the directory, no name twice.
 * Source: PKWARE APPNOTE 6.3.10, 4.3 and 4.5.3. */
#ifndef ZIP_H
#define ZIP_H

#include "checksum.h"

typedef struct {
    const char *name;    /* in the file, no NUL behind it */
    size_t name_len;
    const uint8_t *data; /* in the file */
    size_t size;
    uint32_t crc;        /* as the directory has it; zip_check compares */
    int checked;         /* 1: it did, and they agree */
} ZipEntry;

typedef struct {
    ZipEntry *entries; /* [n], sorted by name */
    size_t n;
} Zip;

int zip_is(const uint8_t *data, size_t size);

/* 0, -EINVAL or -ENOMEM and one line; z is zeroed then. data must outlive z. */
int zip_open(Zip *z, const uint8_t *data, size_t size, const char *name, char *err, size_t errlen);
void zip_close(Zip *z); /* accepts a zeroed struct */

/* The entry of that name, or NULL. Binary search. */
ZipEntry *zip_find(const Zip *z, const char *name, size_t len);

/* Compare an entry's bytes with its checksum, the first time: 0, or -EINVAL and a line. crc is of kind CRC32_ZIP. */
int zip_check(ZipEntry *e, const Crc *crc, const char *name, char *err, size_t errlen);

#endif
