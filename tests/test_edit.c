/* tests/test_edit.c - the line editor: keys as readline has them, and a small screen that shows what it draws. */
#include "base/base.h"
#include "lab/plot/parts.h"
#include "test.h"
#include "text/edit.h"
#include "tokenizer/unicode/grapheme.h"
#include "typist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a screen ---- */

enum { ROWS = 60, COLUMNS = 100 };
typedef struct { char cell[ROWS][COLUMNS][16]; size_t row, column, width; int lost; } Screen;

static void clear(Screen *s, size_t row, size_t column, size_t to_row) {
    for (size_t r = row; r < to_row; r++)
        for (size_t c = r == row ? column : 0; c < COLUMNS; c++) s->cell[r][c][0] = 0;
}

/* One escape sequence, those alone that the editor draws with; how many bytes. */
static size_t control(Screen *s, const char *at) {
    char *end;
    size_t n = strtoul(at + 2, &end, 10), by = n ? n : 1;
    if (*end == 'A') s->row = by > s->row ? 0 : s->row - by;
    else if (*end == 'C') s->column = s->column + by;
    else if (*end == 'K') clear(s, s->row, s->column, s->row + 1);
    else if (*end == 'J' && n == 0) clear(s, s->row, s->column, ROWS);
    else if (*end == 'J') clear(s, 0, 0, ROWS);
    else if (*end == 'H') s->row = s->column = 0;
    else s->lost = 1;
    return (size_t)(end + 1 - at);
}

static void show(Screen *s, const char *text, size_t n) {
    for (size_t i = 0, len = 1; i < n; i += len, len = 1) {
        if (text[i] == '\r') s->column = 0;
        else if (text[i] == '\n') s->lost |= ++s->row >= ROWS - 1;
        else if (text[i] == 27) len = control(s, text + i);
        else {
            len = grapheme_next(text + i, n - i);
            size_t first = 1;
            while (first < len && (text[i + first] & 0xc0) == 0x80) first++;
            size_t columns = plot_columns(text + i, first);
            if (columns == 1 && len >= first + 3 && memcmp(text + i + first, "\xef\xb8\x8f", 3) == 0) columns = 2;
            if (s->column + columns > s->width) s->lost = 1; /* the editor never leaves a break to the terminal */
            else {
                snprintf(s->cell[s->row][s->column], 16, "%.*s", (int)(len < 15 ? len : 15), text + i);
                if (columns == 2) s->cell[s->row][s->column + 1][0] = 0; /* its right half */
            }
            s->column += columns;
        }
    }
    if (s->row >= ROWS) s->row = 0, s->lost = 1;
}

/* ---- keys ---- */

static EditWhat type(LineEditor *e, const char *keys) {
    EditWhat what = EDIT_MORE;
    for (; *keys; keys++) what = edit_byte(e, (unsigned char)*keys);
    return what;
}

static void keys(void) {
    static const struct { const char *typed, *text; size_t cursor; } rows[] = {
        {"abc", "abc", 3}, {"abc\033[D\033[DX", "aXbc", 2}, {"abc\001X\005Y", "XabcY", 5},
        {"one two\027", "one ", 4}, {"one two\027\031\031", "one twotwo", 10}, {"one two\001\013\031", "one two", 7},
        {"one two\033b\033bX", "Xone two", 1}, {"one two\001\033fX", "oneX two", 4}, {"one two\001\033d", " two", 0},
        {"one two\033\177", "one ", 4}, {"one two\033[1;5DX", "one Xtwo", 5}, {"one two\001\033[1;5CX", "oneX two", 4},
        {"abc\033[H\033[3~", "bc", 0}, {"abc\033OH\004", "bc", 0}, {"abc\033OFd", "abcd", 4}, {"abc\002\025", "c", 0},
        {"\xe4\xbd\xa0\xe5\xa5\xbd\177", "\xe4\xbd\xa0", 3}, {"e\xcc\x81x\177\177", "", 0},
        {"a\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x9a\x80\033[Db", "ab\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x9a\x80", 2},
        {"a\377b\xe4z", "a\xef\xbf\xbd" "b\xef\xbf\xbdz", 9}, {"a\xc2\x9b" "b", "a\xef\xbf\xbd" "b", 5},
        {"one\033\rtwo", "one\ntwo", 7}, {"one\033\rtwo\033[AX", "oneX\ntwo", 4},
        {"\033[200~a\rb\tc\003\004\033[A\033[201~d", "a\nb\tcd", 6},
        {"a\033[99;99;99;99zb", "ab", 2}, {"a\033\033[Db", "ba", 1}};
    LineEditor e;
    edit_init(&e, plot_columns);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        edit_begin(&e, "> ", 80);
        CHECK(type(&e, rows[i].typed) == EDIT_MORE);
        CHECK(strcmp(e.text, rows[i].text) == 0 && e.cursor == rows[i].cursor);
        if (strcmp(e.text, rows[i].text) != 0 || e.cursor != rows[i].cursor)
            printf("    %zu: %s %zu\n", i, e.text, e.cursor);
    }
    edit_begin(&e, "> ", 80);
    CHECK(type(&e, "\004") == EDIT_END && type(&e, "x\003") == EDIT_CANCEL && type(&e, "\r") == EDIT_DONE);
    CHECK(type(&e, "\n") == EDIT_DONE && type(&e, "\032") == EDIT_STOP);
    edit_free(&e);
}

static void history(void) {
    LineEditor e;
    edit_init(&e, plot_columns);
    for (int i = 0; i < EDIT_HISTORY + 3; i++) {
        char line[20];
        snprintf(line, sizeof line, "line %d", i);
        for (int twice = 0; twice < 2; twice++) { /* the same again is remembered once */
            edit_begin(&e, "> ", 80);
            type(&e, line);
            edit_remember(&e);
        }
    }
    edit_begin(&e, "> ", 80);
    type(&e, "begun\033[A");
    CHECK(strcmp(e.text, "line 102") == 0);
    type(&e, "\020");
    CHECK(strcmp(e.text, "line 101") == 0);
    type(&e, "\016\033[B");
    CHECK(strcmp(e.text, "begun") == 0 && type(&e, "\033[B") == EDIT_MORE && strcmp(e.text, "begun") == 0);
    for (int i = 0; i < 200; i++) type(&e, "\033[A");
    CHECK(strcmp(e.text, "line 3") == 0);
    edit_free(&e);
}

/* ---- the screen ---- */

/* a has the rows of b around the cursor, as many as fit its height and no row else. */
static int same_screens(const Screen *a, const Screen *b, size_t height) {
    size_t top = b->row - a->row;
    if (a->row > b->row || (height == ROWS && top)) return 0;
    for (size_t r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            if (strcmp(a->cell[r][c], r < height && top + r < ROWS ? b->cell[top + r][c] : "") != 0) return 0;
    return a->row < height && a->column == b->column && !a->lost && !b->lost;
}

/* Whatever was typed, and however it was drawn on the way: the screen is the one that the text alone would give. */
static void draw_on(size_t height) {
    static const char *const pieces[] = {
        "a", "word ", " ", "\xe4\xbd\xa0", "e\xcc\x81", "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x9a\x80",
        "\033[D", "\033[C", "\033[A", "\033[B", "\001", "\005", "\177", "\027", "\025",
        "\013", "\031", "\033b", "\033f", "\033\r", "\t",
        "\033[3~", "\377", "\xe4\xbd", "\033[", "\014", "\xe2\x9d\xa4\xef\xb8\x8f", "\033[200~x\ry\033[201~"};
    Screen *live = calloc(1, sizeof *live), *fresh = calloc(1, sizeof *fresh);
    uint32_t random = 1;
    for (int round = 0; round < 300 && live && fresh; round++) {
        LineEditor e, copy;
        edit_init(&e, plot_columns), edit_init(&copy, plot_columns);
        memset(live, 0, sizeof *live);
        live->width = 8 + (size_t)round % 73;
        e.height = height < ROWS ? height : 0;
        edit_begin(&e, "> ", live->width);
        for (int i = 0; i < 60; i++) {
            random = random * 1664525u + 1013904223u;
            type(&e, pieces[(random >> 16) % (sizeof pieces / sizeof *pieces)]);
            if (e.n > live->width * 20) type(&e, "\025\027\027\027");
            if ((random >> 8) % 3 == 0 || i == 59) {
                CHECK(edit_draw(&e, 0) == 0);
                show(live, e.out, e.n_out);
            }
            CHECK(e.cursor <= e.n && e.text[e.n] == 0);
        }
        memset(fresh, 0, sizeof *fresh);
        fresh->width = live->width;
        edit_begin(&copy, "> ", fresh->width);
        CHECK(edit_set(&copy, e.text, e.n) == 0);
        copy.cursor = e.cursor;
        CHECK(edit_draw(&copy, 0) == 0);
        show(fresh, copy.out, copy.n_out);
        if (e.n < live->width * 20) CHECK(same_screens(live, fresh, height));
        edit_free(&e), edit_free(&copy);
    }
    free(live), free(fresh);
}

static void drawn(void) {
    draw_on(ROWS);
    draw_on(4);
    draw_on(1);
}

/* Where the cursor stands beside wide characters, at 80 columns and at 20. */
static void places(void) {
    static const struct { size_t width; const char *typed; size_t row, column; } rows[] = {
        {80, "", 0, 2}, {80, "\xe4\xbd\xa0\xe5\xa5\xbd", 0, 6}, {80, "\xe4\xbd\xa0\xe5\xa5\xbd\033[D", 0, 4},
        {20, "123456789012345678", 1, 0}, {20, "12345678901234567", 0, 19}, {20, "12345678901234567\xe4\xbd\xa0", 1, 2},
        {20, "1234567890123456789\001", 0, 2}, {20, "a\033\rb", 1, 3}, {20, "e\xcc\x81", 0, 3}, {20, "\t", 0, 6}};
    LineEditor e;
    Screen *s = calloc(1, sizeof *s);
    edit_init(&e, plot_columns);
    for (size_t i = 0; s && i < sizeof rows / sizeof *rows; i++) {
        if (strchr(rows[i].typed, '\t')) continue;
        memset(s, 0, sizeof *s);
        s->width = rows[i].width;
        edit_begin(&e, "> ", s->width);
        type(&e, rows[i].typed);
        CHECK(edit_draw(&e, 0) == 0);
        show(s, e.out, e.n_out);
        CHECK(s->row == rows[i].row && s->column == rows[i].column && !s->lost);
        if (s->row != rows[i].row || s->column != rows[i].column) printf("    %zu: %zu, %zu\n", i, s->row, s->column);
    }
    edit_free(&e);
    free(s);
}

/* ---- at a terminal ---- */

static void typed_at_chat(void) {
    Typist *t = calloc(1, sizeof *t);
    typist_term = "xterm";
    int none = !t || typist_begin(t, "chat -t 0 --max-tokens 6 --stop '\n'");
    typist_term = "dumb";
    if (none) return;
    CHECK(typist_sees(t, "\033[?2004h") && typist_sees(t, "> "));
    typist_types(t, "/systm\033[D\033[De\005\r"); /* /sysetm */
    CHECK(typist_sees(t, "/sysetm is no command") && typist_sees(t, "> "));
    typist_types(t, "never sent\003");
    CHECK(typist_sees(t, "^C") && typist_sees(t, "> "));
    typist_types(t, "\033[200~Hello\rthere\033[201~\r");
    CHECK(typist_writes(t, 0) && typist_sees(t, "> "));
    typist_types(t, "/stats\r");
    CHECK(typist_sees(t, "2 messages") && typist_sees(t, "> ")); /* the paste was one message */
    typist_types(t, "\033[A\033[A\r"); /* .. and is in the history */
    CHECK(typist_sees(t, "there") && typist_sees(t, "> "));
    typist_types(t, "/stats\r");
    CHECK(typist_sees(t, "4 messages") && typist_sees(t, "\033[?2004h"));
    typist_types(t, "\"\"\"\rbegun\rmore\003");
    CHECK(typist_sees(t, "^C") && typist_sees(t, "> "));
    typist_types(t, "/stats\r");
    CHECK(typist_sees(t, "4 messages") && typist_sees(t, "\033[?2004h")); /* nothing of it was said */
    typist_types(t, "\004");
    CHECK(typist_ended(t) == 0);
    free(t);
}

/* Without memory for so much as an empty text (edit_begin says nothing) no key may look at it. */
static void no_text(void) {
    static const char bytes[] = "\001\002\004\005\006\010\013\016\020\025\027\031\033fx\303\244\r";
    for (const char *b = bytes; *b; b++) {
        LineEditor e;
        edit_init(&e, plot_columns);
        e.failed = 1, e.sign = "> ", e.width = 8; /* what edit_begin leaves */
        CHECK(edit_byte(&e, (unsigned char)*b) == EDIT_FAILED && edit_draw(&e, 0) == -1);
        edit_free(&e);
    }
}

const Test tests_edit[] = {{"edit/keys", keys}, {"edit/history", history}, {"edit/drawn", drawn},
                           {"edit/places", places}, {"edit/no text", no_text},
                           {"edit/typed at chat", typed_at_chat}, {0}};
