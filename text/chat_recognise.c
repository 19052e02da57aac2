/* text/chat_recognise.c - the row that says what a published template says. A row is found by phrases that only its
 * template has. What stands between them, say a system message that somebody put in front, phrases would pass over: so
 * all texts of the program are looked at, those between its tags and those in quotes that it prints or keeps, and each
 * has to be in the row. Texts that no conversation here comes to (about tools, pictures, thinking on demand) may be
 * anything. This is against a template that somebody edited, not against one that hides what it prints: macros that are
 * called, lists and arguments are not followed. */
#include "chat_template.h"
#include "base/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- phrases ---- */

/* The text with one kind of quotes, and \n as the newline that it stands for: files differ in these two. */
static char *normalised(const char *jinja, size_t len) {
    char *text = malloc(len + 1);
    size_t n = 0;
    for (size_t i = 0; text && i < len; i++) {
        char c = jinja[i];
        if (c == '\\' && i + 1 < len && jinja[i + 1] == 'n') c = '\n', i++;
        text[n++] = c == '"' ? '\'' : c ? c : ' ';
    }
    if (text) text[n] = 0;
    return text;
}

static int matches(const ChatTemplate *t, const char *text) {
    enum { HAS = sizeof t->has / sizeof *t->has, LACKS = sizeof t->lacks / sizeof *t->lacks };
    if (!t->has[0]) return 0; /* by name only */
    for (int i = 0; i < HAS && t->has[i]; i++)
        if (!strstr(text, t->has[i])) return 0;
    for (int i = 0; i < LACKS && t->lacks[i]; i++)
        if (strstr(text, t->lacks[i])) return 0;
    return 1;
}

/* ---- texts ---- */

enum { DEEP = 64 };               /* blocks within blocks; deeper ones count as the one around */
enum { IDLE = 1, ELSE_IDLE = 2 }; /* no conversation here comes to a block; to the one behind its else */

typedef struct {
    const ChatTemplate *t;
    char *known; /* [n_known] the row's texts as they meet, \1 between and where they are filled in */
    size_t n_known;
    char *literal; /* room for one */
    int idle[DEEP], depth; /* of each open block */
    size_t n_bos; /* how often BOS is printed */
    int more;
} Reading;

/* In the condition of a block, or the name of what is set: what it is about is not here, or never so. */
static const char *const elsewhere[] = {
    "tool", "function", "image", "video", "audio", "document", "builtin", "developer", "environment", "observation",
    "ipython", "citation", "budget", "typescript", "effort", "thinking", "pad_token", "false == true",
    "USE_DEFAULT_PROMPT", "and meta", NULL};
/* In a text: it is of roles and lists that are not here; or DeepSeek's BOS, which some templates spell. */
static const char *const others[] = {"environment\n", "tool", "TOOL", "<function", "ipython",
                                     "<｜begin▁of▁sentence｜>", NULL};

static int has_one(const char *const *words, const char *s, size_t n) {
    for (; *words; words++)
        if (find_bytes(s, 0, n, *words) < n) return 1;
    return 0;
}

/* ---- what the row knows ---- */

static void add_known(Reading *r, const char *s) {
    static const char *const marks[] = {"{bos}", "{eos}", "{date}"};
    while (*s) {
        size_t len = 0;
        for (size_t i = 0; i < sizeof marks / sizeof *marks && len == 0; i++)
            if (strncmp(s, marks[i], strlen(marks[i])) == 0) len = strlen(marks[i]);
        r->known[r->n_known++] = len ? '\1' : *s;
        s += len ? len : 1;
    }
    r->known[r->n_known] = 0;
}

static const char *of(const char *text) { return text ? text : ""; }

static void add_row(Reading *r, const ChatTemplate *t) {
    const char *standard = of(t->system_default), *s0 = of(t->system[0]), *s1 = of(t->system[1]), *u0 = of(t->user[0]);
    const char *u1 = of(t->user[1]), *a0 = of(t->assistant[0]), *a1 = of(t->assistant[1]), *begin = of(t->begin);
    int thinks = t->flags & (CHAT_DROP_THINKING | CHAT_SHOW_LAST), whole = t->flags & CHAT_DEFAULT_WHOLE;
    const char *const runs[][6] = { /* what may stand side by side */
        {begin, s0, standard, s1, u0}, {whole ? standard : ""}, {begin, u0, s0}, {s1, u0}, {u1, a0},
        {u1, of(t->generate)}, {a1, u0}, {a1, of(t->generate)}, {of(t->empty[0]), of(t->empty[1])},
        {a0, "<think>\n"}, {thinks ? "<think>\n\n</think>\n\n" : ""}, {of(t->words[0])}, {of(t->words[1])},
        {of(t->channel)}, {of(t->date)}, {of(t->stop[0])}, {of(t->stop[1])}, {of(t->stop[2])}, {of(t->shown[0])},
        {of(t->shown[1])}, {of(t->shown[2])}, {of(t->shown[3])}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        for (size_t k = 0; runs[i][k]; k++) add_known(r, runs[i][k]);
        r->known[r->n_known++] = '\1';
    }
}

/* Room for what add_row makes of a row, none of whose texts stands in more than five runs. */
static size_t room_for(const ChatTemplate *t) {
    const char *const texts[] = {t->begin, t->system[0], t->system[1], t->user[0], t->user[1], t->assistant[0],
                                 t->assistant[1], t->empty[0], t->empty[1], t->system_default, t->words[0], t->words[1],
                                 t->generate, t->stop[0], t->stop[1], t->stop[2], t->shown[0], t->shown[1], t->shown[2],
                                 t->shown[3], t->channel, t->date};
    size_t n = 256;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) n += 5 * strlen(of(texts[i]));
    return n;
}

static int in_word(char a, char b) { return isalnum((unsigned char)a) && isalnum((unsigned char)b); }

/* Does text [n > 0] stand in s [n_s], and begins and ends in no word there? */
static int stands_in(const char *s, size_t n_s, const char *text, size_t n) {
    for (size_t i = 0; (i = find_bytes(s, i, n_s, text)) < n_s; i++)
        if ((i == 0 || !in_word(s[i - 1], text[0])) && (i + n == n_s || !in_word(text[n - 1], s[i + n]))) return 1;
    return 0;
}

/* A text of the template, with a NUL behind: is it the row's? The phrases that it is recognised by are, too; in these
 * all quotes are alike. */
static int is_known(const Reading *r, char *text, size_t n) {
    if (strlen(text) != n) return 0;
    if (n == 0 || stands_in(r->known, r->n_known, text, n) || has_one(others, text, n)) return 1;
    for (char *c = text; *c; c++)
        if (*c == '"') *c = '\'';
    for (size_t i = 0; i < sizeof r->t->has / sizeof *r->t->has && r->t->has[i]; i++)
        if (stands_in(r->t->has[i], strlen(r->t->has[i]), text, n)) return 1;
    return 0;
}

/* ---- texts in quotes ---- */

/* The one at s [n] as r->literal [*len]; the bytes it takes, quotes and all. */
static size_t read_literal(Reading *r, const char *s, size_t n, size_t *len) {
    size_t i = 1;
    for (*len = 0; i < n && s[i] != s[0]; i++) {
        char c = s[i];
        if (c == '\\' && i + 1 < n) c = s[++i] == 'n' ? '\n' : s[i] == 't' ? '\t' : s[i];
        r->literal[(*len)++] = c;
    }
    r->literal[*len] = 0;
    return i < n ? i + 1 : n;
}

static int begins(const char *s, size_t n, const char *word) {
    return n >= strlen(word) && memcmp(s, word, strlen(word)) == 0;
}

/* Is what stands from s[i] to s[end] of a comparison? Then it is printed nowhere. */
static int is_compared(const char *s, size_t i, size_t end, size_t n) {
    while (i > 0 && isspace((unsigned char)s[i - 1])) i--;
    while (end < n && isspace((unsigned char)s[end])) end++;
    return (i > 1 && s[i - 1] == '=' && memchr("=!", s[i - 2], 2)) || begins(s + end, n - end, "in ") ||
           begins(s + end, n - end, "not in ");
}

/* The texts of an expression s [n], but for keys in brackets and what functions are called with. */
static void read_expression(Reading *r, const char *s, size_t n) {
    int open = 0, quiet = 0; /* brackets; of these the one from which on all is a key, or an argument */
    for (size_t i = 0; i < n;) {
        size_t len, from = i++;
        char c = s[from];
        if (c == '(' || c == '[') {
            open++;
            if (!quiet && (c == '[' || (from > 0 && (isalnum((unsigned char)s[from - 1]) || s[from - 1] == '_'))))
                quiet = open;
        } else if ((c == ')' || c == ']') && open > 0) {
            if (quiet == open--) quiet = 0;
        } else if (c == '\'' || c == '"') {
            i = from + read_literal(r, s + from, n - from, &len);
            if (!quiet && !is_compared(s, from, i, n) && !is_known(r, r->literal, len)) r->more = 1;
        } else if (begins(s + from, n - from, "bos_token")) {
            r->n_bos++;
        }
    }
}

/* ---- tags ---- */

static int is_idle(const Reading *r) {
    for (int i = 0; i < r->depth && i < DEEP; i++)
        if (r->idle[i] & IDLE) return 1;
    return 0;
}

/* Of a block that begins, or goes on with another condition s [n]. Where a system message may stand, one does here. */
static int idleness(const char *s, size_t n) {
    if (begins(s, n, "macro ")) return IDLE;
    if (!has_one(elsewhere, s, n) || find_bytes(s, 0, n, "'system', 'developer'") < n) return 0;
    int negated = find_bytes(s, 0, n, "not ") < n;
    int unlike = find_bytes(s, 0, n, "!=") < n && find_bytes(s, 0, n, "==") == n;
    return begins(s, n, "if not ") || (!negated && (unlike || find_bytes(s, 0, n, " is none") < n)) ? ELSE_IDLE : IDLE;
}

/* Whoever calls the template leaves enable_thinking alone; one that sets it itself says something else. */
static void read_set(Reading *r, const char *s, size_t n) {
    const char *sign = memchr(s, '=', n);
    size_t at = (size_t)(sign - s); /* what has no sign is a block */
    if (begins(s, at, "set enable_thinking") && !is_idle(r) && find_bytes(s, at, n, "default(false)") == n) r->more = 1;
    int in_file = r->t->flags & CHAT_DEFAULT_IN_FILE && find_bytes(s, 0, at, "default_system_message") < at;
    if (!in_file && !is_idle(r) && !has_one(elsewhere, s, at)) read_expression(r, sign + 1, n - at - 1);
}

static void read_block(Reading *r, const char *s, size_t n) {
    int *last = r->depth > 0 && r->depth <= DEEP ? &r->idle[r->depth - 1] : NULL, sets = begins(s, n, "set ");
    if (sets && memchr(s, '=', n)) {
        read_set(r, s, n);
    } else if (sets || begins(s, n, "if ") || begins(s, n, "for ") || begins(s, n, "macro ")) {
        if (r->depth++ < DEEP) r->idle[r->depth - 1] = idleness(s, n);
    } else if (begins(s, n, "elif ")) {
        if (last) *last = idleness(s, n);
    } else if (begins(s, n, "else")) {
        if (last) *last = *last & ELSE_IDLE ? IDLE : 0;
    } else if (begins(s, n, "end") && !begins(s, n, "endgeneration")) {
        if (r->depth > 0) r->depth--;
    }
}

/* Where the tag at s [n], which begins with {{, {% or {#, is over: behind its end, or n. */
static size_t tag_end(const char *s, size_t n) {
    char close = s[1] == '{' ? '}' : s[1], quote = 0;
    for (size_t i = 2; i + 1 < n; i++) {
        if (quote && s[i] == '\\') i++;
        else if (quote) quote = s[i] == quote ? 0 : quote;
        else if (close != '#' && (s[i] == '\'' || s[i] == '"')) quote = s[i];
        else if (s[i] == close && s[i + 1] == '}') return i + 2;
    }
    return n;
}

static void read_tag(Reading *r, const char *s, size_t n) {
    char kind = s[1];
    if (n < 4 || kind == '#') return;
    for (s += 2, n -= 4; n && (isspace((unsigned char)*s) || *s == '-' || *s == '+');) s++, n--;
    while (n && (isspace((unsigned char)s[n - 1]) || s[n - 1] == '-')) n--;
    if (kind == '%') read_block(r, s, n);
    else if (!is_idle(r)) read_expression(r, s, n);
}

/* The text s [*n] between two tags as Jinja cuts it with trim_blocks and lstrip_blocks, which transformers sets; before
 * [2] and after [3] are the ends that face it ("-%", "{%-"; "": there is none). */
static void cut(const char **s, size_t *n, const char *before, const char *after) {
    int starts = !*before; /* at a line's beginning */
    if (*before == '-') {
        while (*n && isspace((unsigned char)**s)) ++*s, --*n;
    } else if (*before && before[1] != '}') {
        size_t line = begins(*s, *n, "\r\n") ? 2 : begins(*s, *n, "\n") ? 1 : 0;
        *s += line, *n -= line;
        starts = line > 0;
    }
    if (after[0] && after[2] == '-') {
        while (*n && isspace((unsigned char)(*s)[*n - 1])) --*n;
    } else if (after[0] && after[1] != '{' && after[2] != '+') {
        size_t line = *n, end = *n;
        while (line > 0 && (*s)[line - 1] != '\n') line--;
        while (end > line && isspace((unsigned char)(*s)[end - 1])) end--;
        if (end == line && (line > 0 || starts)) *n = line;
    } else if (!after[0] && *n && (*s)[*n - 1] == '\n') {
        --*n;
    }
}

/* White space alone is easily overlooked: a phrase has it, behind the tag that prints. */
static int is_known_blank(const Reading *r, const char *text, const char *before) {
    for (size_t i = 0; before[0] && before[1] == '}' && i < sizeof r->t->has / sizeof *r->t->has && r->t->has[i]; i++) {
        const char *end = strstr(r->t->has[i], "}}");
        if (end && strcmp(end + 2, text) == 0) return 1;
    }
    return 0;
}

static void read_between(Reading *r, const char *s, size_t n, const char *before, const char *after) {
    cut(&s, &n, before, after);
    if (n == 0 || is_idle(r)) return;
    memcpy(r->literal, s, n);
    r->literal[n] = 0;
    size_t blanks = 0;
    while (blanks < n && isspace((unsigned char)s[blanks])) blanks++;
    if (blanks == n ? !is_known_blank(r, r->literal, before) : !is_known(r, r->literal, n)) r->more = 1;
}

static void read_all(Reading *r, const char *s, size_t n) {
    char before[3] = "";
    for (size_t i = 0, tag; i < n; i = tag) {
        for (tag = i; tag < n && !(s[tag] == '{' && tag + 1 < n && memchr("{%#", s[tag + 1], 3));) tag++;
        char after[4] = "";
        for (size_t k = 0; k < 3 && tag + k < n; k++) after[k] = s[tag + k];
        read_between(r, s + i, tag - i, before, after);
        if (tag == n) return;
        size_t len = tag_end(s + tag, n - tag);
        read_tag(r, s + tag, len);
        tag += len;
        before[0] = len > 4 ? s[tag - 3] : ' ', before[1] = s[tag - 2], before[2] = 0;
    }
}

/* Does a template that has the row's phrases write texts that are none of the row's? 1 also without memory. */
static int says_more(const ChatTemplate *t, const char *jinja, size_t len) {
    const ChatTemplate *other = t->other ? chat_template_find(t->other) : NULL;
    Reading r = {.t = t, .literal = malloc(len + 1),
                 .known = malloc(room_for(t) + (other ? room_for(other) : 0))};
    r.more = !r.literal || !r.known;
    if (!r.more) {
        add_row(&r, t);
        if (other) add_row(&r, other);
        read_all(&r, jinja, len);
    }
    size_t most = strstr(of(t->begin), "{bos}") || strstr(of(t->user[0]), "{bos}");
    if (r.n_bos > most && find_bytes(jinja, 0, len, "set bos_token") == len) r.more = 1;
    free(r.literal);
    free(r.known);
    return r.more;
}

const ChatTemplate *chat_template_recognise(const char *jinja, size_t len) {
    char *text = normalised(jinja, len);
    const ChatTemplate *t = NULL;
    for (int i = 0; text && (t = chat_template_row(i)) && (!matches(t, text) || says_more(t, jinja, len));) i++;
    free(text);
    return t;
}
