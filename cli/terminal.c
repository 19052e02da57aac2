/* cli/terminal.c - the terminal around text/edit.c: raw mode, bytes, signals, the screen's width. */
#include "terminal.h"

#include "cli.h"
#include "base/system.h"
#include "lab/plot/parts.h"
#include "text/edit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static LineEditor editor;
static struct termios usual;
static unsigned char typed[4096]; /* [from .. to]: what was read and is not a key yet: the next line's, too */
static size_t from, to;
static volatile sig_atomic_t resized;

static void on_size(int sig) {
    (void)sig;
    resized = 1;
}

static void say(const char *s, size_t n) {
    for (ssize_t put; n > 0 && (put = write(2, s, n)) > 0; s += put) n -= (size_t)put;
}

size_t terminal_width(size_t *height) {
    struct winsize w;
    int known = ioctl(2, TIOCGWINSZ, &w) == 0;
    if (height) *height = known ? w.ws_row : 0;
    return known && w.ws_col > 0 ? w.ws_col : 80;
}

int terminal_moves(void) {
    const char *term = getenv("TERM");
    return term && *term && strcmp(term, "dumb") != 0;
}

int terminal_edits(void) { return isatty(0) && isatty(2) && terminal_moves(); }

/* Keys come as they are, one by one; a paste comes between two signs (bracketed paste). */
static int begin(void) {
    if (tcgetattr(0, &usual)) return -1;
    struct termios raw = usual;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
    raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IXON | ISTRIP);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (tcsetattr(0, TCSADRAIN, &raw)) return -1;
    say("\033[?2004h", 8);
    return 0;
}

static void end(void) {
    say("\033[?2004l", 8);
    tcsetattr(0, TCSADRAIN, &usual);
}

static int draw(int last) {
    if (edit_draw(&editor, last)) return -1;
    say(editor.out, editor.n_out);
    return 0;
}

/* Behind the line: the cursor on a line of its own, with a word where there is one to say. */
static void leave(const char *word) {
    draw(1);
    say(word, strlen(word));
    say("\r\n", 2);
}

/* Ctrl-Z: the shell gets its terminal back, and we ours when it lets us go on. */
static void stop(void) {
    draw(1);
    end();
    raise(SIGTSTP);
    begin();
    editor.row = 0;
}

/* The next keys, once all that came before is drawn: EDIT_MORE; EDIT_CANCEL after a signal; EDIT_END: none come. */
static EditWhat read_keys(void) {
    while (from == to) {
        if (draw(0)) return EDIT_FAILED;
        ssize_t got = read(0, typed, sizeof typed);
        if (interrupted) return EDIT_CANCEL;
        if (got == 0 || (got < 0 && !resized)) return EDIT_END;
        if (resized) edit_resize(&editor, terminal_width(&editor.height));
        resized = 0;
        from = 0;
        to = got > 0 ? (size_t)got : 0;
    }
    return EDIT_MORE;
}

static EditWhat edit(const char *sign, int goes_on) {
    edit_begin(&editor, sign, terminal_width(&editor.height));
    for (EditWhat what;;) {
        if ((what = read_keys()) != EDIT_MORE) return what;
        what = edit_byte(&editor, typed[from++]);
        if (what == EDIT_STOP) stop();
        else if (what == EDIT_CANCEL && editor.n && !goes_on) {
            leave("^C");
            edit_begin(&editor, sign, terminal_width(&editor.height));
        } else if (what != EDIT_MORE) return what;
    }
}

int terminal_line(const char *sign, int goes_on, char **line, size_t *cap, size_t *n) {
    if (!editor.columns) edit_init(&editor, plot_columns);
    if (begin()) return 0;
    signal_catch(SIGWINCH, on_size, 0);
    EditWhat what = edit(sign, goes_on);
    leave(goes_on && what == EDIT_CANCEL ? "^C" : "");
    end();
    if (what != EDIT_DONE && what != EDIT_FAILED) return what == EDIT_CANCEL ? -1 : 0;
    if (what == EDIT_DONE) edit_remember(&editor);
    if (what == EDIT_FAILED || array_reserve(line, cap, editor.n + 1, 1)) {
        fail("out of memory for the line");
        return LINE_FAILED;
    }
    memcpy(*line, editor.text, editor.n + 1);
    *n = editor.n;
    return 1;
}

void terminal_free(void) { edit_free(&editor); }
