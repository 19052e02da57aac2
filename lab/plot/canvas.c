/* lab/plot/canvas.c - cells of a terminal: words, braille dots, colours. */
#include "canvas.h"

#include "base/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BRAILLE = 0x2800, ELLIPSIS = 0x2026 };

int canvas_init(Canvas *c, size_t columns, size_t rows) {
    *c = (Canvas){.at = calloc(columns * rows, sizeof *c->at), .columns = columns, .rows = rows};
    for (size_t i = 0; c->at && i < columns * rows; i++) c->at[i] = (Cell){0, -1, -1};
    return c->at ? 0 : -ENOMEM;
}

void canvas_free(Canvas *c) {
    free(c->at);
    memset(c, 0, sizeof *c);
}

const short canvas_colours[PLOT_COLOURS] = {33, 202, 35, 170, 38, 178, 245, 161};

long canvas_width(int width) { return width == 0 ? 80 : width > 40 ? width : 40; }

static Cell *cell(const Canvas *c, long column, long row) {
    if (column < 0 || row < 0 || (size_t)column >= c->columns || (size_t)row >= c->rows) return NULL;
    return &c->at[(size_t)row * c->columns + (size_t)column];
}

void canvas_put(Canvas *c, long column, long row, uint32_t cp, int fg) {
    Cell *at = cell(c, column, row);
    if (at) at->cp = cp, at->fg = (short)fg;
}

void canvas_text(Canvas *c, long column, long row, const char *s, size_t n, long columns, int fg) {
    int cut = (long)plot_columns(s, n) > columns;
    for (long left = columns - cut; n > 0;) {
        uint32_t cp;
        size_t len = (size_t)utf8_decode(s, n, &cp);
        if (len == 0 || cp < 0x20 || (cp >= 0x7f && cp < 0xa0)) cp = '?';
        if (len == 0) len = 1;
        long takes = (long)plot_columns(s, len);
        if (takes > left || column + takes > (long)c->columns) break;
        canvas_put(c, column, row, cp, fg);
        if (takes == 2) canvas_put(c, column + 1, row, CANVAS_BEHIND, fg);
        column += takes, left -= takes, s += len, n -= len;
    }
    if (cut && columns > 0) canvas_put(c, column, row, ELLIPSIS, fg);
}

void canvas_words(Canvas *c, long column, long row, const char *s, long columns, int fg) {
    if (s) canvas_text(c, column, row, s, strlen(s), columns, fg);
}

void canvas_upright(Canvas *c, long column, long bottom, const char *s, long rows, int fg) {
    size_t left = strlen(s);
    long n = 0;
    uint32_t cp;
    for (size_t i = 0, len; i < left; i += len, n++) len = (len = (size_t)utf8_decode(s + i, left - i, &cp)) ? len : 1;
    for (long row = bottom - (n < rows ? n : rows) + 1; row <= bottom; row++) {
        size_t len = (size_t)utf8_decode(s, left, &cp);
        int cut = row == bottom && n > rows;
        canvas_text(c, column, row, cut ? "\xe2\x8b\xae" : s, cut ? 3 : len ? len : 1, 2, fg);
        s += len ? len : 1, left -= len ? len : 1;
    }
}

static long head_lines(Canvas *c, const char *s, long row, long columns, int fg) {
    size_t n = s ? strlen(s) : 0;
    while (n > 0) {
        size_t at = 0, space = 0;
        for (size_t taken = 0, len; at < n; at += len) {
            uint32_t cp;
            len = (len = (size_t)utf8_decode(s + at, n - at, &cp)) ? len : 1;
            taken += plot_columns(s + at, len);
            if (taken > (size_t)columns) break;
            if (s[at] == ' ') space = at;
        }
        if (at < n && space) at = space;
        if (c) canvas_text(c, 0, row, s, at, columns, fg);
        s += at, n -= at, row++;
        while (n > 0 && *s == ' ') s++, n--;
    }
    return row;
}

long canvas_head(Canvas *c, const char *title, const char *subtitle, long columns) {
    return head_lines(c, subtitle, head_lines(c, title, 0, columns, -1), columns, CANVAS_MUTED);
}

void canvas_dot(Canvas *c, long x, long y, int fg) {
    static const uint8_t bits[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
    Cell *at = x < 0 || y < 0 ? NULL : cell(c, x / 2, y / 4);
    if (!at || (at->cp && (at->cp & ~0xffu) != BRAILLE)) return;
    if (at->cp == 0) at->fg = (short)fg; /* where lines cross, the first one's colour */
    at->cp |= BRAILLE | bits[y % 4][x % 2];
}

static void write_colour(PlotText *t, Cell to) {
    plot_put(t, "\x1b[0");
    if (to.fg >= 0) plot_put(t, ";38;5;%d", to.fg);
    if (to.bg >= 0) plot_put(t, ";48;5;%d", to.bg);
    plot_put(t, "m");
}

static int is_blank(const Cell *c, int colour) { return (c->cp == 0 || c->cp == ' ') && (!colour || c->bg < 0); }

void canvas_write(const Canvas *c, PlotText *t, int colour) {
    for (size_t row = 0; row < c->rows; row++) {
        Cell *line = &c->at[row * c->columns], now = {0, -1, -1};
        size_t end = c->columns;
        while (end > 0 && is_blank(&line[end - 1], colour)) end--;
        for (size_t i = 0; i < end; i++) {
            char utf8[4];
            if (line[i].cp == CANVAS_BEHIND) continue;
            if (colour && (line[i].fg != now.fg || line[i].bg != now.bg)) write_colour(t, now = line[i]);
            plot_put_bytes(t, utf8, (size_t)utf8_encode(line[i].cp ? line[i].cp : ' ', utf8));
        }
        if (now.fg >= 0 || now.bg >= 0) plot_put(t, "\x1b[0m");
        plot_put(t, "\n");
    }
}
