/* cli/wrap.c - words that are not cut at a terminal's edge. */
#include "wrap.h"

#include "cli.h"
#include "lab/plot/parts.h"

#include <string.h>

/* The word, behind its spaces or, where it does not fit, on a line of its own. */
static void put_word(Wrap *w) {
    int width, height, colour;
    screen(&width, &height, &colour);
    size_t columns = plot_columns(w->word, w->n), edge = width > 0 ? (size_t)width : 80;
    if (!w->n) return;
    if (w->column && w->column + w->spaces + columns > edge) {
        out_bytes("\n", 1);
        w->column = w->spaces = 0;
    }
    for (; w->spaces; w->spaces--) out_bytes(" ", 1), w->column++;
    out_text(w->word, w->n);
    w->column += columns;
    if (w->column > edge) w->column %= edge; /* a word wider than a line */
    w->n = 0;
}

void wrap_text(Wrap *w, const char *s, size_t n) {
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        int len = utf8_decode(s + i, n - i, &cp);
        size_t size = len > 0 ? (size_t)len : 1;
        if (s[i] == ' ' || s[i] == '\n' || s[i] == '\t') put_word(w);
        else {
            if (w->n + size > sizeof w->word) put_word(w);
            memcpy(w->word + w->n, s + i, size);
            w->n += size;
            if (plot_columns(s + i, size) == 2) put_word(w); /* between these a line may break anywhere */
        }
        if (s[i] == ' ') w->spaces++;
        if (s[i] == '\n' || s[i] == '\t') {
            out_bytes(s + i, 1);
            w->column = s[i] == '\n' ? 0 : (w->column + w->spaces) / 8 * 8 + 8;
            w->spaces = 0;
        }
        i += size;
    }
}

void wrap_lines(char *s, size_t edge) {
    char *space = NULL; /* the last one of this line, behind a word */
    size_t column = 0, len;
    for (int words = 0; *s; s += len) {
        uint32_t cp;
        int bytes = utf8_decode(s, strnlen(s, 4), &cp);
        len = bytes > 0 ? (size_t)bytes : 1;
        if (*s == '\n') space = NULL, words = 0, column = 0;
        else column += plot_columns(s, len);
        if (*s == ' ' && words) space = s;
        else words |= *s != ' ' && *s != '\n';
        if (column <= edge || !space) continue;
        *space = '\n';
        column = s > space ? plot_columns(space + 1, (size_t)(s - space - 1) + len) : 0;
        space = NULL;
    }
}

void wrap_end(Wrap *w) {
    put_word(w);
    *w = (Wrap){.n = 0};
}
