/* rope/spec.c - a stretch as one line of text: its parts, keys and values, read and printed by the rows' tables. */
#include "spec.h"

#include "base/base.h"
#include "base/nearest.h"
#include "relative.h"
#include "scores.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KEYS = 16, WORD = ROPE_FILE_NAME };

static const RopeKey nope_keys[] = {{"layers", ROPE_LAYERS, ROPE_AT(nope), 0, ROPE_MOST_LAYERS - 1, 1, NULL,
                                     "layers that turn nothing: 0-3/7 (all)"}, {0}};
static const RopeKey file_keys[] = {{0}};

typedef struct {
    const char *at; /* what is still to be read */
    RopeConfig *c;
    char name[64];  /* the part at hand */
    char *err;
    size_t errlen;
    int frequencies, distances; /* parts seen */
    int others;                 /* those that are read now: 0: of frequencies; 1: all others */
} Parser;

static int complain(const Parser *p, const char *format, ...) {
    char line[300];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    return base_error(p->err, p->errlen, -EINVAL, "rope: %s%s%s", p->name, *p->name ? ": " : "", line);
}

/* ---- words ---- */

/* The length of the word at s, up to one of `ends`: quotes hide these, and a + behind a number's e is the number's. */
static size_t word_length(const char *s, const char *ends) {
    int quoted = 0;
    size_t i = 0;
    for (; s[i] && (quoted || !strchr(ends, s[i])); i++) {
        int digit = i && (strchr("0123456789.", s[i - 1]) != NULL);
        if (s[i] == '"') quoted = !quoted;
        else if (!quoted && digit && (s[i] == 'e' || s[i] == 'E') && s[i + 1] == '+' &&
                 strchr("0123456789", s[i + 2]) && s[i + 2])
            i++;
    }
    return i;
}

/* The word at p->at, without its quotes, into out [WORD]; p->at moves behind it. */
static int take_word(Parser *p, const char *ends, char *out) {
    size_t n = word_length(p->at, ends), to = 0, quotes = 0;
    for (size_t i = 0; i < n; i++) {
        if (p->at[i] == '"') {
            quotes++;
            continue;
        }
        if (to + 1 >= WORD) return complain(p, "\"%.40s..\" is too long", p->at);
        out[to++] = p->at[i];
    }
    out[to] = 0;
    p->at += n;
    return quotes % 2 ? complain(p, "a quote is not closed") : 0;
}

/* ---- values ---- */

static void *field(const RopeConfig *c, const RopeKey *k) { return (char *)c->numbers + k->at; }

static double value_of(const RopeConfig *c, const RopeKey *k) {
    if (k->kind == ROPE_WHOLE) return (double)*(int64_t *)field(c, k);
    if (k->kind == ROPE_NOT) return *(int64_t *)field(c, k) ? 0 : 1;
    return *(double *)field(c, k);
}

static void set_value(const RopeConfig *c, const RopeKey *k, double v) {
    if (k->kind == ROPE_WHOLE) *(int64_t *)field(c, k) = (int64_t)v;
    else if (k->kind == ROPE_NOT) *(int64_t *)field(c, k) = v == 0;
    else *(double *)field(c, k) = v;
}

static int take_number(Parser *p, const RopeKey *k, const char *word) {
    char *end;
    double v = strtod(word, &end);
    if (end == word || *end) return complain(p, "%s=%s is not a number", k->name, word);
    if (!(v >= k->min && v <= k->max))
        return complain(p, "%s=%s is out of range (%.12g to %.12g)", k->name, word, k->min, k->max);
    if (k->kind != ROPE_NUMBER && k->kind != ROPE_OPTIONAL && v != floor(v))
        return complain(p, "%s=%s is not a whole number", k->name, word);
    set_value(p->c, k, v);
    return 0;
}

/* The layer at *s, digits alone; *s moves behind it. -1: there is none. */
static long take_layer(const char **s) {
    char *end;
    if (**s < '0' || **s > '9') return -1;
    long v = strtol(*s, &end, 10);
    *s = end;
    return v;
}

/* 0-3/7/11 */
static int take_layers(Parser *p, const RopeKey *k, const char *word) {
    RopeNumbers *n = p->c->numbers;
    const char *s = word;
    memset(n->nope, 0, sizeof n->nope);
    for (;; s++) {
        long a = take_layer(&s), b = a;
        if (a >= 0 && *s == '-') s++, b = take_layer(&s);
        if (a < 0 || b < a) return complain(p, "%s=%s is not a list of layers (0-3/7/11)", k->name, word);
        if (b >= n->n_layers)
            return complain(p, "%s=%s: the model has layers 0 to %lld", k->name, word, (long long)n->n_layers - 1);
        memset(n->nope + a, 1, (size_t)(b - a + 1));
        if (*s != '/') break;
    }
    return *s ? complain(p, "%s=%s is not a list of layers (0-3/7/11)", k->name, word) : 0;
}

/* Numbers with anything between them that belongs to none, into the list's field. */
static int parse_list(Parser *p, const RopeKey *k, const char *text, const char *where) {
    double *out = field(p->c, k);
    int n = 0;
    for (const char *s = text; *s;) {
        char *end;
        if (strchr(" \t\r\n,/[]", *s)) {
            s++;
            continue;
        }
        double v = strtod(s, &end);
        if (end == s) return complain(p, "%s: %s holds something that is not a number", k->name, where);
        if (!(v >= k->min && v <= k->max))
            return complain(p, "%s: %s holds a divisor that is out of range", k->name, where);
        if (n == ROPE_MAX_PAIRS)
            return complain(p, "%s: %s holds more than %d numbers", k->name, where, ROPE_MAX_PAIRS);
        out[n++] = v;
        s = end;
    }
    if (p->c->rotary_dim && n != p->c->rotary_dim / 2)
        return complain(p, "%s: %s holds %d numbers, and a head has %d pairs", k->name, where, n, p->c->rotary_dim / 2);
    return n;
}

/* A list, or the name of a file that holds one: what begins like a number and holds only what lists do is a list. */
static int take_list(Parser *p, const RopeKey *k, const char *word) {
    RopeNumbers *n = p->c->numbers;
    int is_long = k->at == ROPE_AT(long_factor), count;
    char *name = is_long ? n->long_file : n->short_file;
    name[0] = 0;
    if (strspn(word, "0123456789.eE/+-") == strlen(word) && *word) count = parse_list(p, k, word, word);
    else {
        MappedFile f;
        char why[250];
        if (file_map(&f, word, why, sizeof why)) return complain(p, "%s: %s", k->name, why);
        int is_text = f.size < 1000000 && !memchr(f.data, 0, f.size);
        char *text = is_text ? strndup((const char *)f.data, f.size) : NULL;
        count = text ? parse_list(p, k, text, word) : complain(p, "%s: %s is no list of numbers", k->name, word);
        free(text);
        file_unmap(&f);
        snprintf(name, ROPE_FILE_NAME, "%.*s", ROPE_FILE_NAME - 1, word);
    }
    if (count < 0) return count;
    if (is_long) n->n_long = count;
    else n->n_short = count;
    return 0;
}

static int take_value(Parser *p, const RopeKey *k, const char *word) {
    if (k->kind == ROPE_LAYERS) return take_layers(p, k, word);
    return k->kind == ROPE_LIST ? take_list(p, k, word) : take_number(p, k, word);
}

/* ---- what is not given ---- */

static void settle_list(const RopeConfig *c, const RopeKey *k) {
    double *list = field(c, k);
    int *count = k->at == ROPE_AT(long_factor) ? &c->numbers->n_long : &c->numbers->n_short;
    if (*count || k->at == ROPE_AT(long_factor)) return; /* the file's; without it there is nothing to go by */
    for (int i = 0; i < c->rotary_dim / 2; i++) list[i] = k->usual;
    *count = c->rotary_dim / 2;
}

static void settle(const RopeConfig *c, const RopeKey *k, int keeps) {
    RopeNumbers *n = c->numbers;
    if (k->kind == ROPE_LAYERS) memset(n->nope, 1, (size_t)n->n_layers);
    else if (k->kind == ROPE_LIST) settle_list(c, k);
    else if (!keeps || (value_of(c, k) == 0 && k->kind != ROPE_NOT))
        set_value(c, k, k->usually ? k->usually(n) : k->usual);
}

/* The keys of a part, from p->at on. keeps: what is there already holds where nothing is given. */
static int take_keys(Parser *p, const RopeKey *keys, int keeps) {
    char values[MOST_KEYS][WORD], name[WORD];
    int given[MOST_KEYS] = {0}, rc = 0;
    while (rc == 0 && *p->at == ':') {
        int i = 0;
        p->at++;
        if ((rc = take_word(p, ":=+,", name))) break;
        while (keys[i].name && strcmp(keys[i].name, name) != 0) i++;
        if (!keys[i].name) {
            char all[200] = "";
            for (int j = 0; keys[j].name; j++)
                snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", j ? ", " : "", keys[j].name);
            return complain(p, "there is no key \"%.40s\"; it has %s", name, *all ? all : "none");
        }
        if (*p->at != '=') return complain(p, "%s has no value (%s=..)", name, name);
        if (given[i]++) return complain(p, "%s is given twice", name);
        p->at++;
        rc = take_word(p, ":+,", values[i]);
    }
    for (int i = 0; rc == 0 && keys[i].name; i++) /* in their order: what is usual may depend on those before */
        if (given[i]) rc = take_value(p, &keys[i], values[i]);
        else settle(p->c, &keys[i], keeps);
    return rc;
}

/* ---- parts ---- */

static int frequencies(Parser *p, const RopeScaling *row) {
    RopeNumbers *n = p->c->numbers;
    int same = row == p->c->scaling;
    if (p->frequencies++) return complain(p, "is the second part that changes frequencies; give one");
    if (row->method->growth && !same && p->c->rotary_dim) /* 0: any model's (rope_spec_check) */
        return complain(p, "this model was not trained with it, and can not be stretched by it");
    n->none_named = row == &rope_none;
    n->n_divisors = 0;
    if (!same) n->attention_factor = n->attention_multiplier = 0; /* they belonged to the file's method */
    p->c->scaling = row;
    return take_keys(p, row->method->keys, same);
}

static int distances(Parser *p, const RopeRelative *row) {
    if (p->distances++) return complain(p, "is the second part that changes distances; give one");
    int rc = take_keys(p, row->keys, 0);
    const char *why = rc == 0 && row->wrong ? row->wrong(&p->c->numbers->distance) : NULL;
    p->c->numbers->relative = row;
    return why ? complain(p, "%s", why) : rc;
}

static int score(Parser *p, const RopeScore *row) {
    const RopeScore **s = p->c->numbers->scores;
    int n = 0;
    for (; s[n]; n++)
        if (s[n] == row) return complain(p, "is given twice");
    s[n] = row; /* as many as there are rows */
    return take_keys(p, row->keys, 0);
}

static int nope(Parser *p) {
    if (p->c->numbers->any_nope) return complain(p, "is given twice");
    p->c->numbers->any_nope = 1;
    return take_keys(p, nope_keys, 0);
}

static int unknown(const Parser *p, const char *word) {
    const char *near = nearest_word(word, rope_spec_name);
    return complain(p, "there is no method \"%.60s\"%s%s; --rope help lists them", word, near ? "; did you mean " : "",
                    near ? near : "");
}

static int part(Parser *p) {
    char word[WORD];
    p->name[0] = 0;
    if (take_word(p, ":+,", word)) return -EINVAL;
    if (*word == 0) return complain(p, "a method's name is missing");
    const RopeScaling *scaling = rope_scaling(word);
    const RopeRelative *relative = rope_relative(word);
    const RopeScore *row = rope_score_row(word);
    if (!scaling && !relative && !row && strcmp(word, "nope") != 0 && strcmp(word, "file") != 0)
        return unknown(p, word);
    int is_other = !scaling && strcmp(word, "file") != 0;
    if (is_other != p->others) { /* its turn was before, or comes */
        p->at += word_length(p->at, "+,");
        return 0;
    }
    snprintf(p->name, sizeof p->name, "%.60s", word);
    if (scaling) return frequencies(p, scaling);
    if (relative) return distances(p, relative);
    if (row) return score(p, row);
    if (strcmp(word, "nope") == 0) return nope(p);
    if (p->frequencies++) return complain(p, "is the second part that says which frequencies; give one");
    return take_keys(p, file_keys, 1);
}

int rope_spec_apply(RopeConfig *c, const char *spec, char *err, size_t errlen) {
    Parser p = {.at = spec, .c = c, .err = err, .errlen = errlen};
    RopeNumbers *n = c->numbers;
    if (n->n_ctx_original == 0) n->n_ctx_original = n->n_ctx_train;
    n->relative = NULL; /* whatever spec was in force before */
    n->distance = (RelativeNumbers){.heads = n->distance.heads};
    n->any_nope = 0;
    memset(n->nope, 0, sizeof n->nope);
    memset(n->scores, 0, sizeof n->scores);
    for (; p.others < 2; p.others++) /* others' defaults go by the original length, which frequencies may give */
        for (p.at = spec;; p.at++) {
            int rc = part(&p);
            if (rc) return rc;
            if (*p.at != '+') break;
        }
    p.name[0] = 0;
    return *p.at ? complain(&p, "\"%.40s\" does not belong to a spec", p.at) : 0;
}

int rope_spec_check(const char *spec, char *err, size_t errlen) {
    RopeNumbers *n = calloc(1, sizeof *n);
    RopeConfig c = {.scaling = &rope_none, .numbers = n};
    if (!n) return base_error(err, errlen, -ENOMEM, "out of memory");
    n->n_ctx_train = ROPE_KEY_MOST;
    n->n_layers = ROPE_MOST_LAYERS;
    n->n_pairs = ROPE_MAX_PAIRS;
    int rc = rope_spec_apply(&c, spec, err, errlen);
    free(n);
    return rc;
}

/* ---- printing ---- */

typedef struct {
    char *out;
    size_t size, n; /* n: what it would take, without the 0 */
} Text;

static void put(Text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->n < t->size ? t->out + t->n : NULL, t->n < t->size ? t->size - t->n : 0, format, args);
    va_end(args);
    if (n > 0) t->n += (size_t)n;
}

/* With as few digits as say the same number. */
static void put_number(Text *t, double v) {
    char s[40];
    int digits = 15;
    do snprintf(s, sizeof s, "%.*g", digits, v);
    while (strtod(s, NULL) != v && ++digits <= 17);
    put(t, "%s", s);
}

static void put_list(Text *t, const RopeConfig *c, const RopeKey *k) {
    const RopeNumbers *n = c->numbers;
    int is_long = k->at == ROPE_AT(long_factor), count = is_long ? n->n_long : n->n_short;
    const char *name = is_long ? n->long_file : n->short_file;
    if (*name) put(t, "\"%s\"", name);
    for (int i = 0; !*name && i < count; i++) {
        put(t, "%s", i ? "/" : "");
        put_number(t, ((double *)field(c, k))[i]);
    }
}

static void put_layers(Text *t, const RopeNumbers *n) {
    for (int l = 0, first = 1; l < n->n_layers; l++) {
        int end = l;
        if (!n->nope[l]) continue;
        while (end + 1 < n->n_layers && n->nope[end + 1]) end++;
        put(t, end > l ? "%s%d-%d" : "%s%d", first ? "" : "/", l, end);
        first = 0;
        l = end;
    }
}

/* What a file leaves open prints as what it is taken as. */
static double shown_value(const RopeConfig *c, const RopeKey *k) {
    double v = value_of(c, k);
    if (v != 0 || k->kind != ROPE_NUMBER || k->min <= 0) return v;
    return k->usually ? k->usually(c->numbers) : k->usual;
}

static void put_part(Text *t, const RopeConfig *c, const char *name, const RopeKey *keys) {
    put(t, "%s%s", t->n ? "+" : "", name);
    for (const RopeKey *k = keys; k->name; k++) {
        if (k->kind == ROPE_OPTIONAL && value_of(c, k) == 0) continue;
        put(t, ":%s=", k->name);
        if (k->kind == ROPE_LIST) put_list(t, c, k);
        else if (k->kind == ROPE_LAYERS) put_layers(t, c->numbers);
        else put_number(t, shown_value(c, k));
    }
}

int rope_spec_print(const RopeConfig *c, char *out, size_t size) {
    const RopeNumbers *n = rope_numbers(c);
    Text t = {.out = out, .size = size};
    int others = n->relative || n->any_nope || n->scores[0];
    if (size) *out = 0;
    if (n->n_divisors) put(&t, "file");
    else if (c->scaling != &rope_none || !others || n->none_named)
        put_part(&t, c, c->scaling->name, c->scaling->method->keys);
    if (n->any_nope) put_part(&t, c, "nope", nope_keys);
    if (n->relative) put_part(&t, c, n->relative->name, n->relative->keys);
    for (const RopeScore *const *r = n->scores; *r; r++) put_part(&t, c, (*r)->name, (*r)->keys);
    return t.n < size ? 0 : -ENOSPC;
}

int rope_spec_next(const char **list, char *out, size_t size) {
    const char *s = *list;
    if (!s || !*s) return 0;
    size_t n = word_length(s, ",");
    if (n >= size) return -EINVAL;
    memcpy(out, s, n);
    out[n] = 0;
    *list = s[n] ? s + n + 1 : s + n;
    return 1;
}

const RopeKey *rope_spec_keys(const char *name, const char **source) {
    const RopeScaling *scaling = rope_scaling(name);
    const RopeRelative *relative = rope_relative(name);
    const RopeScore *score = rope_score_row(name);
    *source = scaling ? scaling->method->source : relative ? relative->source : score ? score->source
                                                                                      : "arXiv:2305.19466";
    return scaling ? scaling->method->keys : relative ? relative->keys : score ? score->keys : nope_keys;
}

const char *rope_spec_name(int i) {
    int at = i;
    for (const RopeScaling *const *r = rope_scalings; *r; r++)
        if (at-- == 0) return (*r)->name;
    for (const RopeRelative *const *r = rope_relatives; *r; r++)
        if (at-- == 0) return (*r)->name;
    for (const RopeScore *const *r = rope_scores; *r; r++)
        if (at-- == 0) return (*r)->name;
    return at == 0 ? "nope" : NULL;
}

const char *const rope_pairing_names[] = {"interleaved", "half", NULL};
