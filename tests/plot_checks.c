/* tests/plot_checks.c - see plot_checks.h. */
#include "plot_checks.h"

#include "base/base.h"
#include "base/utf8.h"
#include "lab/plot/parts.h"
#include "test.h"

#include <string.h>

static const char *entity(const char *s) {
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(s, known[i], strlen(known[i])) == 0) return s + strlen(known[i]);
    return NULL;
}

/* From behind a < to behind its >, or NULL; *empty: it closed itself. */
static const char *tag_end(const char *s, int *empty) {
    while (*s && !strchr(" />", *s)) s++;
    while (*s == ' ') {
        while (*s == ' ') s++;
        while (*s && !strchr("= <>\"", *s)) s++;
        if (s[0] != '=' || s[1] != '"') return NULL;
        for (s += 2; *s != '"'; s++) {
            if (*s == 0 || *s == '<') return NULL;
            if (*s == '&' && !entity(s)) return NULL;
        }
        s++;
    }
    *empty = *s == '/';
    s += *empty;
    return *s == '>' ? s + 1 : NULL;
}

int plot_well_formed(const char *s) {
    const char *open[32], *end = s + strlen(s);
    size_t depth = 0, elements = 0;
    while (*s) {
        uint32_t cp;
        int empty, len = utf8_decode(s, (size_t)(end - s), &cp);
        if (len == 0 || (cp < 0x20 && cp != '\n') || cp == 0xfffe || cp == 0xffff) return 0;
        if (*s == '&') {
            if (!(s = entity(s))) return 0;
        } else if (s[0] == '<' && s[1] == '/') {
            size_t n = strcspn(s + 2, ">");
            if (depth == 0 || strncmp(open[--depth], s + 2, n) != 0 || !strchr(" >", open[depth][n])) return 0;
            s += n + 3;
        } else if (*s == '<') {
            const char *name = s + 1;
            if (depth == 0 && elements++) return 0;
            if (!(s = tag_end(name, &empty))) return 0;
            if (!empty && depth == 32) return 0;
            if (!empty) open[depth++] = name;
        } else s += len;
    }
    return depth == 0 && elements == 1;
}

int plot_count(const char *text, const char *what) {
    int n = 0;
    for (; (text = strstr(text, what)); text += strlen(what)) n++;
    return n;
}

size_t plot_screen(const char *s, int colour, size_t *widest) {
    size_t lines = 0;
    *widest = 0;
    for (char line[4000]; *s; lines++) {
        size_t n = 0, len = strcspn(s, "\n");
        for (size_t i = 0; i < len && n < sizeof line; i++) {
            if (s[i] == 0x1b) {
                CHECK(colour);
                i += strcspn(s + i, "m");
            } else {
                CHECK((unsigned char)s[i] >= 0x20 && s[i] != 0x7f);
                line[n++] = s[i];
            }
        }
        size_t columns = plot_columns(line, n);
        if (columns > *widest) *widest = columns;
        CHECK(s[len] == '\n' && (n == 0 || line[n - 1] != ' ' || colour));
        s += len + 1;
    }
    return lines;
}
