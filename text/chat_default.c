/* text/chat_default.c - the default system message that a published template sets: of Jinja no more than texts in
 * quotes, and today between them. */
#include "chat_template.h"
#include "base/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The text in quotes at s [n], behind out[*n_out]; the bytes it takes, quotes and all. 0: it does not end, or has an
 * escape that is not read here. */
static size_t literal(const char *s, size_t n, char *out, size_t *n_out) {
    static const char escaped[] = "nt\\'\"", meant[] = "\n\t\\'\"";
    for (size_t i = 1; i < n; i++) {
        char c = s[i];
        if (c == s[0]) return i + 1;
        if (c == '\\') {
            const char *e = i + 1 < n && s[i + 1] ? strchr(escaped, s[++i]) : NULL;
            if (!e) return 0;
            c = meant[e - escaped];
        }
        out[(*n_out)++] = c;
    }
    return 0;
}

/* today at s [n], where the template has it as Mistral's do, as {date}; the bytes it takes, or 0. */
static size_t today(const char *s, size_t n, int known, char *out, size_t *n_out) {
    static const char name[] = "today", date[] = "{date}";
    if (!known || n <= strlen(name) || memcmp(s, name, strlen(name)) != 0 || isalnum((unsigned char)s[strlen(name)]))
        return 0;
    memcpy(out + *n_out, date, strlen(date));
    *n_out += strlen(date);
    return strlen(name);
}

/* The sum at s [n] to out, which has room for twice as much; its length, or -1 where it is more than texts and today.
 */
static long long sum(const char *s, size_t n, int known, char *out) {
    size_t i = 0, n_out = 0;
    for (int wants = 1;;) { /* a text, or a sign between two */
        while (i < n && isspace((unsigned char)s[i])) i++;
        if (i == n) return -1;
        size_t len = 0;
        if (!wants && (s[i] == '+' || s[i] == '~')) len = 1;
        else if (!wants) return s[i] == '%' || s[i] == '-' ? (long long)n_out : -1;
        else if (s[i] == '\'' || s[i] == '"') len = literal(s + i, n - i, out, &n_out);
        else len = today(s + i, n - i, known, out, &n_out);
        if (len == 0) return -1;
        i += len;
        wants = !wants;
    }
}

char *chat_template_default(const char *jinja, size_t len) {
    static const char begin[] = "set default_system_message = ";
    size_t from = find_bytes(jinja, 0, len, begin);
    int known = find_bytes(jinja, 0, len, "set today = strftime_now(\"%Y-%m-%d\")") < len;
    if (from == len) return NULL;
    from += strlen(begin);
    char *text = malloc(2 * (len - from) + 1);
    long long n = text ? sum(jinja + from, len - from, known, text) : -1;
    if (n >= 0) text[n] = 0;
    else free(text), text = NULL;
    return text;
}
