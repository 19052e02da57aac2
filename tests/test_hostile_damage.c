/* tests/test_hostile_damage.c - checkpoints that are cut or damaged. Where a container has checksums, a flipped bit
 * must either be refused or change nothing. */
#include "hostile_files.h"
#include "build.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char *golden(const char *name, size_t *n) {
    char path[200];
    snprintf(path, sizeof path, "tests/golden/convert/%s", name);
    char *bytes = file_read(path, n);
    CHECK(bytes != NULL);
    return bytes;
}

/* The same names, shapes, types and bits. */
static int same_checkpoint(const Checkpoint *a, const Checkpoint *b) {
    int same = a->n_views == b->n_views;
    for (size_t i = 0; i < a->n_views && same; i++)
        same = strcmp(a->views[i].name, b->views[i].name) == 0 && view_equal(&a->views[i], &b->views[i]);
    return same;
}

/* Every cut is refused; a flipped bit (another one in each byte; all eight where the file is short) is refused, or,
 * where the container has checksums, changes nothing that is read. part: 0 the file is damaged, 1 its shard. */
static void damage(int as, const char *file, size_t n, const char *shard, size_t shard_n, int part, int checked) {
    size_t size = part ? shard_n : n, opened = 0;
    Read whole, r;
    CHECK(read_memory(&whole, as, file, n, shard, shard_n) == 0);
    if (whole.rc) printf("    %s\n", whole.err);
    for (size_t cut = 0; cut < size; cut++) {
        CHECK(read_memory(&r, as, file, part ? n : cut, shard, part ? cut : shard_n) < 0);
        read_done(&r);
    }
    char *copy = malloc(size);
    memcpy(copy, part ? shard : file, size);
    int bits = size < 2500 ? 8 : 1;
    for (size_t i = 0; i < size; i++)
        for (int k = 0; k < bits; k++) {
            char flip = (char)(1 << ((i + (size_t)k) % 8));
            copy[i] ^= flip;
            int rc = read_memory(&r, as, part ? file : copy, n, part ? copy : shard, shard_n);
            opened += rc == 0;
            if (rc == 0 && checked) CHECK(same_checkpoint(&whole.c, &r.c));
            read_done(&r);
            copy[i] ^= flip;
        }
    if (!checked) CHECK(opened > 0); /* a legacy file's numbers have no checksum */
    CHECK(opened < size * (size_t)bits);
    free(copy);
    read_done(&whole);
}

/* A golden and a real file of PyTorch's. */
static void damage_both(int as, const char *name, const char *real, int checked) {
    size_t n;
    char *file = golden(name, &n);
    if (file) damage(as, file, n, NULL, 0, 0, checked);
    free(file);
    const char *path = test_data(real);
    file = path ? file_read(path, &n) : NULL;
    if (file) damage(as, file, n, NULL, 0, 0, checked);
    free(file);
}

static void damaged_zip(void) { damage_both(AS_ZIP, "gau.bin", "checkpoints/tiny_zip.pth", 1); }
static void damaged_legacy(void) { damage_both(AS_LEGACY, "sequence.legacy.bin", "checkpoints/tiny_legacy.pth", 0); }

static void damaged_tf(void) {
    static const char *const names[][2] = {
        {"gau.ckpt.index", "gau.ckpt.data-00000-of-00001"}, {"v1.raw.ckpt.index", "v1.raw.ckpt.data-00000-of-00001"},
    };
    for (int i = 0; i < 2; i++) {
        size_t n, shard_n;
        char *index = golden(names[i][0], &n), *shard = golden(names[i][1], &shard_n);
        if (index && shard) damage(AS_TF, index, n, shard, shard_n, 0, 1);
        if (index && shard && i == 0) damage(AS_TF, index, n, shard, shard_n, 1, 1);
        free(index);
        free(shard);
    }
}

const Test tests_hostile_damage[] = {
    {"convert/damaged_zip", damaged_zip},
    {"convert/damaged_legacy", damaged_legacy},
    {"convert/damaged_tf", damaged_tf},
    {0},
};
