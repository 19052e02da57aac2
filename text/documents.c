/* text/documents.c - a walk from separator line to separator line. */
#include "documents.h"

#include <string.h>

/* The next line that holds exactly separator, from `from` on: its start, or NULL; *behind: of what follows. Lines end
 * with \n or \r\n. */
static const char *find_separator(const char *from, const char *end, const char *separator, const char **behind) {
    size_t len = strlen(separator);
    for (const char *line = from; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *stop = newline ? newline : end;
        size_t have = (size_t)(stop - line);
        *behind = stop + 1;
        if (have == len + 1 && stop[-1] == '\r') have--;
        if (have == len && memcmp(line, separator, len) == 0) return line;
        if (!newline) break;
        line = newline + 1;
    }
    return NULL;
}

int document_next(const char *text, size_t n, const char *separator, size_t *at, const char **doc, size_t *len) {
    if (*at > n || (n == 0 && *at == 0)) return 0;
    const char *start = text + *at, *end = text + n, *behind,
               *line = separator ? find_separator(start, end, separator, &behind) : NULL;
    *doc = start;
    if (line) {
        const char *stop = line > start ? line - 1 : line; /* without the newline before the separator */
        if (stop > start && stop < line && stop[-1] == '\r') stop--;
        *len = (size_t)(stop - start);
        *at = (size_t)(behind - text); /* past the separator's own newline, or past the end */
        return 1;
    }
    *len = (size_t)(end - start);
    if (*at && *len && end[-1] == '\n') { /* a text without separators is one document, as it stands */
        --*len;
        if (*len && end[-2] == '\r') --*len;
    }
    *at = n + 1;
    return 1;
}
