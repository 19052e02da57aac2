/* base/nearest.c - see nearest.h. */
#include "nearest.h"

#include <stddef.h>
#include <string.h>

enum { MOST = 60 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* d[i][j]: from the first i letters of a to the first j of b. */
static size_t distance(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b), d[MOST + 1][MOST + 1];
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] = least(d[i - 1][j - 1] + (a[i - 1] != b[j - 1]), least(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

const char *nearest_word(const char *word, const char *(*name)(int i)) {
    const char *best = NULL;
    size_t fewest = MOST;
    if (strlen(word) > MOST) return NULL;
    for (int i = 0; name(i); i++) {
        size_t length = strlen(name(i)), off = length <= MOST ? distance(word, name(i)) : MOST;
        if (off > 0 && 3 * off <= length && off < fewest) fewest = off, best = name(i);
    }
    return best;
}
