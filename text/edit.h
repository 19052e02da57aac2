/* text/edit.h - a line that somebody types: bytes of a terminal go in, a text and what to draw come out. It reads and
 * writes nothing itself; cli/terminal.c does.
 *
 *     LineEditor e;
 *     edit_init(&e, columns_of);
 *     e.height = 24;
 *     edit_begin(&e, "> ", 80);
 *     while ((what = edit_byte(&e, next_byte())) == EDIT_MORE) edit_draw(&e), write(2, e.out, e.n_out);
 *     if (what == EDIT_DONE) use(e.text, e.n);
 *     edit_free(&e);
 *
 * Keys are those of readline's Emacs mode: arrows, Home, End, Ctrl-A E B F K U W Y D P N L, Alt-B F D, Backspace and
 * Delete. Alt-Enter, or a paste of several lines, makes a text of several lines. The cursor moves by what a reader sees
 * as one character (UAX 29); a byte that is no UTF-8 becomes U+FFFD, a control character nothing. */
#ifndef EDIT_H
#define EDIT_H

#include <stddef.h>

enum { EDIT_HISTORY = 100, EDIT_MOST = 1 << 20 }; /* lines that are remembered; bytes of a text: more are left out */

typedef enum {
    EDIT_MORE,
    EDIT_DONE,   /* Enter */
    EDIT_END,    /* Ctrl-D on an empty line */
    EDIT_CANCEL, /* Ctrl-C */
    EDIT_STOP,   /* Ctrl-Z: the program is to stop, and then to draw */
    EDIT_FAILED  /* no memory */
} EditWhat;

typedef struct {
    char *text; /* [n], and a 0 */
    size_t n, cap, cursor;
    char *out; /* [n_out]: what edit_draw wants written */
    size_t n_out, cap_out;
    size_t height; /* rows of the screen, which shows those around the cursor of a longer text; 0: all are drawn */

    /* Its own. */
    size_t (*columns)(const char *s, size_t n);
    const char *sign;
    size_t width, row, top; /* of the screen; the row of what is drawn where the cursor stands; its first, of all */
    char *killed, *draft;               /* for Ctrl-Y; the line that history took the place of */
    char *history[EDIT_HISTORY];        /* [n_history], the oldest first */
    size_t n_history, at;               /* at: which of them is shown; n_history: none */
    enum { EDIT_GROUND, EDIT_ESCAPE, EDIT_SEQUENCE, EDIT_SHIFT } state;
    char seq[8], part[4];               /* parameters of an escape sequence; a character that is not whole */
    size_t n_seq, n_part;
    int pasting, clear, failed;
} LineEditor;

/* columns: of a terminal, that a text takes (plot_columns). */
void edit_init(LineEditor *e, size_t (*columns)(const char *s, size_t n));
void edit_free(LineEditor *e);
/* An empty text behind sign, which must outlive it, on a screen so wide. Nothing is drawn yet. */
void edit_begin(LineEditor *e, const char *sign, size_t width);
void edit_resize(LineEditor *e, size_t width);
EditWhat edit_byte(LineEditor *e, unsigned char byte);
/* The text that is given instead, the cursor behind it. 0, or -1 without memory. */
int edit_set(LineEditor *e, const char *text, size_t n);
void edit_remember(LineEditor *e); /* its text is history now, where it is not empty and not the last one again */
/* e->out: the line anew, from its first row, or the first that a screen of height shows. 0, or -1 without memory. last:
 * all of it, and the cursor is to stand behind it. */
int edit_draw(LineEditor *e, int last);

#endif
