/* base/paths.c - paths: what stands there. */
#include "paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *file_join(const char *dir, const char *name) {
    size_t a = strlen(dir), b = strlen(name);
    char *s = malloc(a + b + 2);
    if (!s) return NULL;
    memcpy(s, dir, a);
    s[a] = '/';
    memcpy(s + a + 1, name, b + 1);
    return s;
}

int file_find(char **path, const char *folder, const char *const *names, size_t n, int (*there)(const char *path)) {
    *path = NULL;
    for (size_t i = 0; i < n; i++) {
        char *is = file_join(folder, names[i]);
        if (!is) return -ENOMEM;
        if (there(is)) return *path = is, 0;
        free(is);
    }
    return 0;
}

int file_has(const char *folder, const char *name) {
    char path[4096 + 256]; /* PATH_MAX and a name: nothing has a longer one */
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    return n > 0 && (size_t)n < sizeof path && file_exists(path);
}

int errno_is_passing(int rc) {
    return rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE || rc == -EIO || rc == -EINTR || rc == -ENODEV;
}

int file_exists(const char *path) { return access(path, R_OK) == 0; }

int file_same(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

int file_is_regular(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

int file_there(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0;
}

int text_ends_with(const char *s, const char *tail) {
    size_t n = strlen(s), t = strlen(tail);
    return n > t && strcmp(s + n - t, tail) == 0;
}
