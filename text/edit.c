/* text/edit.c - keys of a terminal, the text that they make, and how it is drawn. */
#include "edit.h"

#include "base/base.h"
#include "tokenizer/unicode/grapheme.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void edit_init(LineEditor *e, size_t (*columns)(const char *s, size_t n)) { *e = (LineEditor){.columns = columns}; }

void edit_free(LineEditor *e) {
    for (size_t i = 0; i < e->n_history; i++) free(e->history[i]);
    free(e->text), free(e->out), free(e->killed), free(e->draft);
    *e = (LineEditor){.text = NULL};
}

/* ---- the text ---- */

static int room(LineEditor *e, size_t n) {
    if (array_reserve(&e->text, &e->cap, n + 1, 1)) e->failed = 1;
    return e->failed;
}

/* The bytes from .. to become s [n]. */
static void replace(LineEditor *e, size_t from, size_t to, const char *s, size_t n) {
    size_t all = e->n - (to - from) + n;
    if (all > EDIT_MOST || room(e, all)) return;
    memmove(e->text + from + n, e->text + to, e->n - to);
    if (n) memcpy(e->text + from, s, n);
    e->n = all;
    e->text[e->n] = 0;
    e->cursor = from + n;
}

static size_t next_of(const LineEditor *e, size_t at) {
    return at < e->n ? at + grapheme_next(e->text + at, e->n - at) : e->n;
}

static size_t before(const LineEditor *e, size_t at) {
    size_t i = 0, last = 0;
    while (i < at) last = i, i = next_of(e, i);
    return last;
}

static int is_space(const LineEditor *e, size_t at) { return e->text[at] == ' ' || e->text[at] == '\n'; }

static size_t word_end(const LineEditor *e, size_t at) {
    while (at < e->n && is_space(e, at)) at++;
    while (at < e->n && !is_space(e, at)) at++;
    return at;
}

static size_t word_begin(const LineEditor *e, size_t at) {
    while (at > 0 && is_space(e, at - 1)) at--;
    while (at > 0 && !is_space(e, at - 1)) at--;
    return at;
}

/* The ends of the line of the text that the cursor is in. */
static size_t line_begin(const LineEditor *e) {
    size_t at = e->cursor;
    while (at > 0 && e->text[at - 1] != '\n') at--;
    return at;
}
static size_t line_end(const LineEditor *e) { return e->cursor + strcspn(e->text + e->cursor, "\n"); }

static void erase(LineEditor *e, size_t from, size_t to, int keep) {
    if (from == to) return;
    if (keep) {
        free(e->killed);
        e->killed = malloc(to - from + 1);
        if (!e->killed) e->failed = 1;
        else memcpy(e->killed, e->text + from, to - from), e->killed[to - from] = 0;
    }
    replace(e, from, to, "", 0);
}

int edit_set(LineEditor *e, const char *text, size_t n) {
    replace(e, 0, e->n, text, n);
    return e->failed ? -1 : 0;
}

/* ---- history ---- */

void edit_remember(LineEditor *e) {
    if (e->n == 0 || (e->n_history && strcmp(e->history[e->n_history - 1], e->text) == 0)) return;
    char *copy = strdup(e->text);
    if (!copy) return; /* a line that is forgotten is no failure */
    if (e->n_history == EDIT_HISTORY) {
        free(e->history[0]);
        memmove(e->history, e->history + 1, --e->n_history * sizeof *e->history);
    }
    e->history[e->n_history++] = copy;
}

/* The older (-1) or the newer (1) line; what was begun comes back behind the newest. */
static void recall(LineEditor *e, int by) {
    if (by < 0 ? e->at == 0 : e->at == e->n_history) return;
    if (e->at == e->n_history) {
        free(e->draft);
        if (!(e->draft = strdup(e->text))) e->failed = 1;
    }
    e->at = by < 0 ? e->at - 1 : e->at + 1;
    const char *line = e->at == e->n_history ? e->draft : e->history[e->at];
    if (line) replace(e, 0, e->n, line, strlen(line));
}

/* One line up (-1) or down (1) in a text of several, at the same column; past them, history. */
static void vertical(LineEditor *e, int by) {
    size_t begin = line_begin(e), end = line_end(e), into = e->cursor - begin, at;
    if (by < 0 ? begin == 0 : end == e->n) {
        recall(e, by);
        return;
    }
    e->cursor = by < 0 ? begin - 1 : end + 1;
    begin = line_begin(e), end = line_end(e);
    for (at = begin; at < end && at < begin + into;) at = next_of(e, at);
    e->cursor = at;
}

/* ---- keys ---- */

static void sequence(LineEditor *e, unsigned char final) {
    long number = strtol(e->seq, NULL, 10);
    int far = strstr(e->seq, ";5") || strstr(e->seq, ";3");
    if (final == '~' && (number == 200 || number == 201)) e->pasting = number == 200;
    else if (e->pasting) return; /* no key, but a part of what is pasted */
    else if (final == 'A') vertical(e, -1);
    else if (final == 'B') vertical(e, 1);
    else if (final == 'C') e->cursor = far ? word_end(e, e->cursor) : next_of(e, e->cursor);
    else if (final == 'D') e->cursor = far ? word_begin(e, e->cursor) : before(e, e->cursor);
    else if (final == 'H' || (final == '~' && (number == 1 || number == 7))) e->cursor = line_begin(e);
    else if (final == 'F' || (final == '~' && (number == 4 || number == 8))) e->cursor = line_end(e);
    else if (final == '~' && number == 3) erase(e, e->cursor, next_of(e, e->cursor), 0);
}

static void escaped(LineEditor *e, unsigned char byte) {
    if (e->pasting) return;
    if (byte == 'b') e->cursor = word_begin(e, e->cursor);
    else if (byte == 'f') e->cursor = word_end(e, e->cursor);
    else if (byte == 'd') erase(e, e->cursor, word_end(e, e->cursor), 1);
    else if (byte == 127 || byte == 8) erase(e, word_begin(e, e->cursor), e->cursor, 1);
    else if (byte == '\r' || byte == '\n') replace(e, e->cursor, e->cursor, "\n", 1);
}

static EditWhat control(LineEditor *e, unsigned char byte) {
    if (e->pasting) {
        if (byte == '\r' || byte == '\n' || byte == '\t')
            replace(e, e->cursor, e->cursor, byte == '\t' ? "\t" : "\n", 1);
        return EDIT_MORE;
    }
    switch (byte) {
    case '\r': case '\n': return EDIT_DONE;
    case 1: e->cursor = line_begin(e); break;
    case 2: e->cursor = before(e, e->cursor); break;
    case 3: return EDIT_CANCEL;
    case 4:
        if (e->n == 0) return EDIT_END;
        erase(e, e->cursor, next_of(e, e->cursor), 0);
        break;
    case 5: e->cursor = line_end(e); break;
    case 6: e->cursor = next_of(e, e->cursor); break;
    case 8: case 127: erase(e, before(e, e->cursor), e->cursor, 0); break;
    case 11: erase(e, e->cursor, line_end(e), 1); break;
    case 12: e->clear = 1; break;
    case 14: vertical(e, 1); break;
    case 16: vertical(e, -1); break;
    case 21: erase(e, line_begin(e), e->cursor, 1); break;
    case 23: erase(e, word_begin(e, e->cursor), e->cursor, 1); break;
    case 25: if (e->killed) replace(e, e->cursor, e->cursor, e->killed, strlen(e->killed)); break;
    case 26: return EDIT_STOP;
    default: break;
    }
    return EDIT_MORE;
}

/* Bytes of characters: whole ones are inserted, what is none becomes U+FFFD. */
static void character(LineEditor *e, unsigned char byte) {
    uint32_t cp;
    if (e->n_part && (byte & 0xc0) != 0x80) {
        e->n_part = 0;
        replace(e, e->cursor, e->cursor, "\xef\xbf\xbd", 3);
    }
    e->part[e->n_part++] = (char)byte;
    size_t wanted = (unsigned char)e->part[0] < 0x80 ? 1 : (unsigned char)e->part[0] < 0xe0 ? 2
                    : (unsigned char)e->part[0] < 0xf0 ? 3 : 4;
    int bad = e->n_part == 1 && byte >= 0x80 && (byte < 0xc2 || byte > 0xf4);
    if (!bad && e->n_part < wanted) return;
    int good = !bad && utf8_decode(e->part, e->n_part, &cp) == (int)e->n_part && !(cp >= 0x80 && cp < 0xa0);
    replace(e, e->cursor, e->cursor, good ? e->part : "\xef\xbf\xbd", good ? e->n_part : 3);
    e->n_part = 0;
}

EditWhat edit_byte(LineEditor *e, unsigned char byte) {
    EditWhat what = EDIT_MORE;
    if (e->failed) return EDIT_FAILED; /* there may be no text at all */
    if (e->state == EDIT_SEQUENCE) {
        int parameter = byte >= 0x20 && byte < 0x40;
        if (parameter && e->n_seq + 1 < sizeof e->seq) e->seq[e->n_seq++] = (char)byte, e->seq[e->n_seq] = 0;
        if (!parameter) e->state = EDIT_GROUND;
        if (byte >= 0x40 && byte < 0x7f) sequence(e, byte);
    } else if (e->state == EDIT_SHIFT) {
        e->state = EDIT_GROUND;
        e->seq[0] = 0;
        sequence(e, byte);
    } else if (e->state == EDIT_ESCAPE) {
        e->state = byte == '[' ? EDIT_SEQUENCE : byte == 'O' ? EDIT_SHIFT : byte == 27 ? EDIT_ESCAPE : EDIT_GROUND;
        e->n_seq = 0;
        e->seq[0] = 0;
        if (e->state == EDIT_GROUND) escaped(e, byte);
    } else if (byte == 27) e->state = EDIT_ESCAPE;
    else if (byte < 0x20 || byte == 127) what = control(e, byte);
    else character(e, byte);
    return e->failed ? EDIT_FAILED : what;
}

/* ---- drawing ---- */

void edit_begin(LineEditor *e, const char *sign, size_t width) {
    e->n = e->cursor = e->row = e->top = e->n_part = 0;
    e->state = EDIT_GROUND;
    e->pasting = e->clear = 0;
    e->at = e->n_history;
    e->sign = sign;
    if (room(e, 0) == 0) e->text[0] = 0;
    edit_resize(e, width);
}

void edit_resize(LineEditor *e, size_t width) { e->width = width < 8 ? 8 : width; }

static void put(LineEditor *e, const char *s, size_t n) {
    if (array_reserve(&e->out, &e->cap_out, e->n_out + n + 1, 1)) e->failed = 1;
    else memcpy(e->out + e->n_out, s, n), e->n_out += n;
}

static void put_move(LineEditor *e, size_t n, char how) {
    char move[32];
    if (n) put(e, move, (size_t)snprintf(move, sizeof move, "\033[%zu%c", n, how));
}

/* What the characters at text[at] take, *n bytes of them; drawn, where that is asked. A tab is four spaces. */
static size_t cluster(LineEditor *e, size_t at, size_t *n, int draw) {
    int tab = e->text[at] == '\t';
    *n = next_of(e, at) - at;
    if (draw) put(e, tab ? "    " : e->text + at, tab ? 4 : *n);
    if (tab) return 4;
    size_t first = 1;
    while (first < *n && (e->text[at + first] & 0xc0) == 0x80) first++;
    size_t columns = e->columns(e->text + at, first); /* marks behind it take none */
    return columns == 1 && *n >= first + 3 && memcmp(e->text + at + first, "\xef\xb8\x8f", 3) == 0 ? 2 : columns;
}

/* A text's rows of which top .. end - 1 are drawn, those where end > 0; and what they were found to be. */
typedef struct { size_t top, end, rows, to_row, to_column; } Rows;

static int shown(const Rows *r, size_t row) { return row >= r->top && row < r->end; }

/* The end of a row: what stood behind it is cleared; in a full row that would take its last character. */
static void put_break(LineEditor *e, const Rows *r, size_t row, size_t column) {
    if (!shown(r, row) || !shown(r, row + 1)) return;
    if (column < e->width) put(e, "\033[K", 3);
    put(e, "\r\n", 2);
}

static void lay_out(LineEditor *e, Rows *r) {
    size_t begin = strlen(e->sign), row = 0, column = begin, n;
    if (shown(r, 0)) put(e, e->sign, begin);
    for (size_t at = 0; at <= e->n; at += n) {
        size_t columns = at < e->n && e->text[at] != '\n' ? cluster(e, at, &n, 0) : 0;
        if (column + columns > e->width || (at == e->n && column == e->width)) {
            put_break(e, r, row, column);
            row++, column = 0;
        }
        if (at <= e->cursor) r->to_row = row, r->to_column = column;
        if (at == e->n) break;
        n = 1;
        if (e->text[at] == '\n') {
            put_break(e, r, row++, column);
            for (column = 0; column < begin; column++)
                if (shown(r, row)) put(e, " ", 1);
        } else column += cluster(e, at, &n, shown(r, row));
    }
    r->rows = row + 1;
}

int edit_draw(LineEditor *e, int last) {
    Rows r = {.end = 0};
    lay_out(e, &r);
    if (last || !e->height || r.rows <= e->height) e->top = 0, r.end = r.rows;
    else { /* so many of them that the cursor's is there, and no more than must leave */
        if (e->top > r.to_row) e->top = r.to_row;
        if (e->top + e->height <= r.to_row) e->top = r.to_row - e->height + 1;
        if (e->top + e->height > r.rows) e->top = r.rows - e->height;
        r.top = e->top, r.end = r.top + e->height;
    }
    e->n_out = 0;
    if (e->clear) put(e, "\033[H\033[2J", 7), e->row = 0, e->clear = 0;
    put_move(e, e->row, 'A');
    put(e, "\r", 1);
    lay_out(e, &r);
    put(e, "\033[J", 3);
    e->row = (last ? r.rows - 1 : r.to_row) - r.top;
    if (!last) {
        put_move(e, r.end - 1 - r.to_row, 'A');
        put(e, "\r", 1);
        put_move(e, r.to_column, 'C');
    }
    return e->failed ? -1 : 0;
}
