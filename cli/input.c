/* cli/input.c - turns from stdin, where somebody types them or a script has them line by line. */
#include "chat.h"
#include "terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char *text;
    size_t n, cap;
} Text;

static int add(Text *t, const char *s, size_t n) {
    if (array_reserve(&t->text, &t->cap, t->n + n + 1, 1)) return -1;
    memcpy(t->text + t->n, s, n);
    t->n += n;
    t->text[t->n] = 0;
    return 0;
}

enum { LINE_MOST = 4094 }; /* bytes that a terminal gives of a line, without its end */

/* After saying why: LINE_FAILED. */
static int no_room(void) {
    fail("out of memory for the text");
    return LINE_FAILED;
}

/* getline gave none: 0 at the end of input, -1 after Ctrl-C, LINE_FAILED after saying why. */
static int no_line(void) {
    int code = errno;
    if (interrupted) return -1;
    if (feof(stdin) && !ferror(stdin)) return 0;
    if (code == ENOMEM) return no_room();
    fail("stdin: %s", strerror(code));
    return LINE_FAILED;
}

/* One line without its end, goes_on: of a text that has others: 1, 0 at the end of input, -1 after Ctrl-C,
 * LINE_FAILED. */
static int read_line(const Chat *c, int goes_on, char **line, size_t *cap, size_t *n) {
    const char *sign = goes_on ? ". " : "> ";
    if (c->terminal && terminal_edits()) return interrupted ? -1 : terminal_line(sign, goes_on, line, cap, n);
    if (c->terminal) fputs(sign, stderr);
    ssize_t got = interrupted ? -1 : getline(line, cap, stdin);
    if (got < 0) {
        int why = no_line();
        if (c->terminal && why != LINE_FAILED) fputc('\n', stderr);
        return why;
    }
    while (got > 0 && strchr("\r\n", (*line)[got - 1]) && (*line)[got - 1]) got--;
    *n = (size_t)got;
    if (c->terminal && got >= LINE_MOST)
        fprintf(stderr, "this line has %zd bytes: terminals cut lines at 4095; a pipe or a file takes longer ones\n",
                got);
    return 1;
}

static int is_fence(const char *line, size_t n) { return n == 3 && memcmp(line, "\"\"\"", 3) == 0; }

/* The lines up to the next fence, or to the end of input. */
static int read_block(const Chat *c, Text *t, char **line, size_t *cap) {
    size_t n;
    int got;
    while ((got = read_line(c, 1, line, cap, &n)) > 0 && !is_fence(*line, n))
        if ((t->n && add(t, "\n", 1)) || add(t, *line, n)) return no_room();
    return got < 0 ? got : 1;
}

int chat_input(const Chat *c, char **text, size_t *n_text, int *block) {
    Text t = {0};
    char *line = NULL;
    size_t cap = 0, n = 0;
    int got = read_line(c, 0, &line, &cap, &n), more = 1;
    int again = got > 0; /* a first line is there */
    *block = got > 0 && is_fence(line, n);
    if (got >= 0 && add(&t, "", 0)) got = no_room();
    if (got < 0) *block = 0;
    if (*block) got = read_block(c, &t, &line, &cap);
    while (got > 0 && !*block && more) {
        more = n > 0 && line[n - 1] == '\\';
        if (add(&t, line, n - (size_t)more) || (more && add(&t, "\n", 1))) got = no_room();
        else if (more && (more = read_line(c, 1, &line, &cap, &n)) < 0) got = more;
    }
    free(line);
    if (got == -1 && again && terminal_edits() && !interrupted) { /* Ctrl-C in a text that was begun drops all of it */
        free(t.text);
        return chat_input(c, text, n_text, block);
    }
    *block |= t.n && strchr(t.text, '\n') != NULL; /* a paste is no command */
    *text = t.text;
    *n_text = t.n;
    return got;
}
