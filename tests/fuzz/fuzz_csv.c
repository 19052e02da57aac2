/* tests/fuzz/fuzz_csv.c - libFuzzer target for tables with commas: lab/csv.c's columns as means of two files, and the
 * trainer's table of losses, which must be refused or read, and written again as it was read. */
#include "lab/csv.h"
#include "weights-tools/training/curve.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64];

static void put(const void *data, size_t size) {
    if (!*path) snprintf(path, sizeof path, "/tmp/fuzz-csv-%ld", (long)getpid());
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char err[400];
    if (size < 1) return 0;
    put(data + 1, size - 1);
    const char *paths[] = {path, path};
    SeriesWish w = {.x = data[0] & 1 ? "step" : "a", .y = data[0] & 2 ? "loss" : "b",
                    .where = data[0] & 4 ? "c=1,\"d\"=x" : NULL, .bin = data[0] & 8 ? 10 : 0};
    Series s;
    if (series_read(&s, paths, 2, &w, err, sizeof err) == 0)
        for (size_t i = 0; i < s.n; i++)
            if (!isfinite(s.at[i].x) || (i && s.at[i].x <= s.at[i - 1].x) || s.at[i].n_files != 2) abort();
    series_free(&s);
    Curve c = {0};
    int read = curve_read(&c, path, 1000, err, sizeof err) == 0;
    if (read && curve_write_csv(&c, path, err, sizeof err)) abort();
    size_t n = c.n;
    curve_free(&c);
    if (read && (curve_read(&c, path, 1000, err, sizeof err) || c.n != n)) abort();
    curve_free(&c);
    unlink(path);
    return 0;
}
