/* tests/lines.c - the words of a line are cut where they stand: a NUL behind each. */
#include "lines.h"
#include "build.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

int lines_open(Lines *l, const char *path) {
    *l = (Lines){.text = file_read(path, NULL)};
    l->next = l->text;
    if (!l->text) test_fail(path, 0, "is not there");
    return l->text != NULL;
}

void lines_close(Lines *l) {
    free(l->text);
    *l = (Lines){0};
}

int lines_next(Lines *l) {
    while (*l->next) {
        char *line = l->next, *end = strchr(line, '\n');
        l->next = end ? end + 1 : line + strlen(line);
        if (end) *end = 0;
        l->at = line;
        if (*line == '#') continue;
        l->first = (char *)lines_word(l);
        if (*l->first) return 1;
    }
    return 0;
}

int lines_is(const Lines *l, const char *word) { return strcmp(l->first, word) == 0; }

const char *lines_word(Lines *l) {
    char *word = l->at + strspn(l->at, " "), *end = word + strcspn(word, " ");
    l->at = *end ? end + 1 : end;
    *end = 0;
    return word;
}

double lines_number(Lines *l) {
    const char *word = lines_word(l);
    char *end;
    double v = strtod(word, &end);
    return *word && !*end ? v : NAN;
}

long lines_whole(Lines *l) { return strtol(lines_word(l), NULL, 10); }
uint64_t lines_hex(Lines *l) { return strtoull(lines_word(l), NULL, 16); }

size_t lines_numbers(Lines *l, double *out, size_t most) {
    size_t n = 0;
    while (n < most && l->at[strspn(l->at, " ")]) out[n++] = lines_number(l);
    return n;
}
