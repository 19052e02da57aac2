/* lab/plot/text.c - the text that pictures are drawn into: escapes, and how wide words are. */
#include "parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void plot_text_free(PlotText *t) {
    free(t->at);
    memset(t, 0, sizeof *t);
}

void plot_put_bytes(PlotText *t, const char *s, size_t n) {
    if (t->failed || array_reserve(&t->at, &t->cap, t->n + n + 1, 1)) {
        t->failed = 1;
        return;
    }
    if (n) memcpy(t->at + t->n, s, n);
    t->n += n;
    t->at[t->n] = 0;
}

void plot_put(PlotText *t, const char *fmt, ...) {
    char line[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    if (n > 0) plot_put_bytes(t, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

int plot_done(const PlotText *t, char *err, size_t errlen) {
    return t->failed ? base_error(err, errlen, -ENOMEM, "out of memory") : 0;
}

/* A character that may be shown, or U+FFFD; *len bytes of s were it. */
static uint32_t shown_character(const char *s, size_t n, size_t *len) {
    uint32_t cp = 0;
    int bytes = utf8_decode(s, n, &cp);
    *len = bytes ? (size_t)bytes : 1;
    int control = cp < 0x20 || (cp >= 0x7f && cp < 0xa0), no_character = (cp & 0xfffe) == 0xfffe;
    return bytes && !control && !no_character ? cp : 0xfffd;
}

void plot_put_xml(PlotText *t, const char *s, size_t n) {
    for (size_t len; n > 0; s += len, n -= len) {
        uint32_t cp = shown_character(s, n, &len);
        if (cp == '&') plot_put(t, "&amp;");
        else if (cp == '<') plot_put(t, "&lt;");
        else if (cp == '>') plot_put(t, "&gt;");
        else if (cp == '"') plot_put(t, "&quot;");
        else if (cp == '\'') plot_put(t, "&#39;");
        else if (cp == 0xfffd) plot_put(t, "\xef\xbf\xbd");
        else plot_put_bytes(t, s, len);
    }
}

/* East Asian wide characters and emoji, roughly: what a terminal gives two columns. */
static int wide(uint32_t cp) {
    return (cp >= 0x1100 && cp < 0x1160) || (cp >= 0x2e80 && cp < 0xa4d0) || (cp >= 0xac00 && cp < 0xd7a4) ||
           (cp >= 0xf900 && cp < 0xfb00) || (cp >= 0xfe30 && cp < 0xfe70) || (cp >= 0xff00 && cp < 0xff61) ||
           (cp >= 0x1f300 && cp < 0x1fb00) || (cp >= 0x20000 && cp < 0x40000);
}

/* In parts of the font's size. */
static double character_width(uint32_t cp) {
    if (cp >= 0x80) return wide(cp) ? 1.05 : 0.68;
    if (strchr("ijl'|.,:;! ", (int)cp)) return 0.34;
    if (strchr("fIrt()[]-/\\\"", (int)cp)) return 0.43;
    if (strchr("mMWw@%+=<>#~", (int)cp)) return 0.9;
    return cp >= 'A' && cp <= 'Z' ? 0.74 : 0.64;
}

double plot_width(const char *s, size_t n, double size) {
    double sum = 0;
    for (size_t len; n > 0; s += len, n -= len) sum += character_width(shown_character(s, n, &len));
    return sum * size;
}

size_t plot_fitting(const char *s, size_t n, double size, double pixels) {
    if (plot_width(s, n, size) <= pixels) return n;
    double sum = character_width(0x2026) * size;
    size_t at = 0;
    for (size_t len; at < n; at += len) {
        sum += character_width(shown_character(s + at, n - at, &len)) * size;
        if (sum > pixels) break;
    }
    return at;
}

size_t plot_line_break(const char *s, size_t n, double size, double pixels) {
    size_t at = 0, space = 0, len;
    for (double sum = 0; at < n; at += len) {
        sum += character_width(shown_character(s + at, n - at, &len)) * size;
        if (sum > pixels && at > 0) return space ? space : at;
        if (s[at] == ' ') space = at;
    }
    return n;
}

size_t plot_columns(const char *s, size_t n) {
    size_t sum = 0;
    for (size_t len; n > 0; s += len, n -= len) sum += wide(shown_character(s, n, &len)) ? 2 : 1;
    return sum;
}

const char *plot_name(const char *const *names, size_t i) { return names && names[i] ? names[i] : ""; }

size_t plot_longest(const char *const *names, size_t n) {
    size_t most = 0;
    for (size_t i = 0; names && i < n; i++) {
        size_t columns = plot_columns(plot_name(names, i), strlen(plot_name(names, i)));
        most = columns > most ? columns : most;
    }
    return most;
}
