/* cli/topics.c - commands of several parts, and the lines of C that their numbers come from. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

const Topic *topic_named(const Topic *topics, const char *command, const char *word) {
    char known[400] = "";
    for (const Topic *t = topics; t->name; t++) {
        if (word && strcmp(t->name, word) == 0) return t;
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", *known ? ", " : "", t->name);
    }
    if (word) usage("%s: there is no \"%s\"; %s are known", command, word, known);
    else usage("%s needs to know what: %s", command, known);
    return NULL;
}

void topics_print(const Topic *topics) {
    for (const Topic *t = topics; t->name; t++) {
        char left[40];
        snprintf(left, sizeof left, "%s %s", t->name, t->words);
        printf("  %-30s  %s\n", left, t->summary);
    }
}

/* A test holds each line against its file: tests/test_topics.c. */
static const struct { const char *key, *file, *function, *line; } cited[] = {
    {"angle", "rope/rope.c", "rope_row64", "double angle = (double)pos * r->inv_freq[i];"},
    {"rotate", "rope/rope.c", "rope_rotate", "*a = a0 * c[i] - b0 * s[i];"},
};

static int find(const char *key) {
    size_t n = sizeof cited / sizeof *cited, i = 0;
    while (i + 1 < n && strcmp(cited[i].key, key) != 0) i++;
    return (int)i;
}

void cite(const char *key) {
    int i = find(key);
    out_printf("from %s, %s: %s\n", cited[i].file, cited[i].function, cited[i].line);
}

const char *cited_place(const char *key) {
    static char place[100];
    int i = find(key);
    snprintf(place, sizeof place, "%s %s", cited[i].file, cited[i].function);
    return place;
}
