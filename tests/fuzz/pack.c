/* tests/fuzz/pack.c - a folder of inputs as one file, and back: each behind its length in two bytes, short ones first,
 * and no more than MOST bytes in all: what is in git should stay small.
 *
 *     pack FILE FOLDER        pack -x FILE FOLDER */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 65535, MOST = 48 << 10 };

typedef struct {
    size_t n;
    unsigned char *data;
} Input;

static int compare(const void *a, const void *b) {
    const Input *x = a, *y = b;
    return x->n != y->n ? (x->n < y->n ? -1 : 1) : memcmp(x->data, y->data, x->n);
}

static FILE *opened(const char *folder, const char *name, const char *mode) {
    char path[4000];
    snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", name);
    FILE *f = fopen(path, mode);
    if (!f) perror(path), exit(1);
    return f;
}

static void pack(const char *file, const char *folder) {
    DIR *d = opendir(folder);
    Input *all = NULL;
    size_t n = 0;
    if (!d) perror(folder), exit(1);
    for (struct dirent *e; (e = readdir(d));) {
        if (*e->d_name == '.') continue;
        FILE *f = opened(folder, e->d_name, "rb");
        if (!(all = realloc(all, (n + 1) * sizeof *all)) || !(all[n].data = malloc(LONGEST))) exit(1);
        all[n].n = fread(all[n].data, 1, LONGEST, f);
        n++, fclose(f);
    }
    closedir(d);
    if (n) qsort(all, n, sizeof *all, compare);
    FILE *out = opened("", file, "wb");
    for (size_t i = 0, sum = 0; i < n; i++) {
        if ((sum += all[i].n + 2) > MOST) break;
        fputc((int)(all[i].n & 255), out), fputc((int)(all[i].n >> 8), out);
        fwrite(all[i].data, 1, all[i].n, out);
    }
    if (fclose(out)) exit(1);
}

static void unpack(const char *file, const char *folder) {
    static unsigned char data[LONGEST];
    FILE *in = opened("", file, "rb");
    for (int i = 0, low; (low = fgetc(in)) != EOF; i++) {
        char name[30];
        size_t n = (size_t)low | (size_t)fgetc(in) << 8;
        snprintf(name, sizeof name, "seed-%d", i);
        FILE *out = opened(folder, name, "wb");
        if (n > LONGEST || fread(data, 1, n, in) != n || fwrite(data, 1, n, out) != n || fclose(out)) exit(1);
    }
    fclose(in);
}

int main(int argc, char **argv) {
    int extract = argc > 1 && strcmp(argv[1], "-x") == 0;
    if (argc != 3 + extract) return fprintf(stderr, "usage: pack [-x] FILE FOLDER\n"), 2;
    (extract ? unpack : pack)(argv[1 + extract], argv[2 + extract]);
    return 0;
}
