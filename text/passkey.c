/* text/passkey.c - see passkey.h. */
#include "passkey.h"

#include "base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const PasskeyTemplate passkey_published = {
    "There is an important info hidden inside a lot of irrelevant text. Find it and memorize them. I will quiz you "
    "about the important information there.",
    "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again.",
    "The pass key is {key}. Remember it. {key} is the pass key.", "What is the pass key? The pass key is"};

/* ---- a template's file ---- */

int passkey_template(PasskeyTemplate *t, char *text, size_t n, char *err, size_t errlen) {
    static const char *const names[] = {"before", "filler", "needle", "question"};
    const char **fields[] = {&t->before, &t->filler, &t->needle, &t->question};
    memset(t, 0, sizeof *t);
    if (memchr(text, 0, n)) return base_error(err, errlen, -EINVAL, "the template is no text");
    for (char *line = text, *end; *line; line = end) {
        size_t len = strcspn(line, "\r\n"), i = 0;
        end = line + len + strspn(line + len, "\r\n");
        line[len] = 0;
        if (len == 0) continue;
        while (i < 4 && (strncmp(line, names[i], strlen(names[i])) != 0 || line[strlen(names[i])] != ':')) i++;
        if (i == 4)
            return base_error(err, errlen, -EINVAL,
                              "the template's line \"%.40s\" begins with none of before:, filler:, "
                              "needle:, question:",
                              line);
        if (*fields[i]) return base_error(err, errlen, -EINVAL, "the template has two lines %s:", names[i]);
        line += strlen(names[i]) + 1;
        *fields[i] = line + strspn(line, " ");
    }
    for (int i = 0; i < 4; i++)
        if (!*fields[i]) return base_error(err, errlen, -EINVAL, "the template has no line %s:", names[i]);
    if (!strstr(t->needle, "{key}")) return base_error(err, errlen, -EINVAL, "the template's needle has no {key}");
    return *t->filler ? 0 : base_error(err, errlen, -EINVAL, "the template's filler is empty");
}

/* ---- the prompt ---- */

typedef struct {
    char *at;
    size_t n, cap;
    int failed;
} Text;

static void add(Text *t, const char *s, size_t n) {
    if (t->failed || (t->failed = array_reserve(&t->at, &t->cap, t->n + n + 1, 1) != 0)) return;
    memcpy(t->at + t->n, s, n);
    t->n += n;
    t->at[t->n] = 0;
}

/* s with every {key} replaced. */
static void add_needle(Text *t, const char *s, const char *key) {
    for (const char *hole; (hole = strstr(s, "{key}")); s = hole + 5) {
        add(t, s, (size_t)(hole - s));
        add(t, key, strlen(key));
    }
    add(t, s, strlen(s));
}

/* n sentences of the filler, from its first on, with spaces between. */
static void add_filler(Text *t, const char *filler, size_t n) {
    const char *s = filler;
    for (size_t i = 0; i < n; i++) {
        const char *stop = strchr(s, '.');
        size_t len = stop ? (size_t)(stop - s) + 1 : strlen(s);
        if (i) add(t, " ", 1);
        add(t, s, len);
        s += len + strspn(s + len, " ");
        if (!*s) s = filler;
    }
}

/* The prompt with n sentences, so many of them before the needle; *at: where that begins. */
static void compose(Text *t, const PasskeyTemplate *p, const char *key, size_t n, double depth, size_t *at) {
    size_t before = (size_t)((double)n * depth + 0.5);
    t->n = 0;
    add(t, p->before, strlen(p->before));
    add(t, "\n", 1);
    add_filler(t, p->filler, before);
    add(t, "\n", 1);
    *at = t->n;
    add_needle(t, p->needle, key);
    add(t, "\n", 1);
    add_filler(t, p->filler, n - before);
    add(t, "\n", 1);
    add(t, p->question, strlen(p->question));
}

/* The answer's ids are what the key adds to the prompt's. */
static int encode(PasskeyPrompt *out, const Tokenizer *t, const PasskeyTemplate *p, const char *key, size_t n,
                  double depth, char *err, size_t errlen) {
    Text text = {0};
    size_t at = 0, n_bare = 0, length = 0;
    int *bare = NULL, rc;
    compose(&text, p, key, n, depth, &at);
    length = text.n;
    add(&text, " ", 1);
    add(&text, key, strlen(key));
    *out = (PasskeyPrompt){.at = (double)at / (double)(length ? length : 1)};
    if (text.failed) {
        free(text.at);
        return base_error(err, errlen, -ENOMEM, "out of memory");
    }
    rc = tokenizer_encode(t, text.at, length, ENCODE_BOS, &bare, &n_bare, err, errlen);
    if (rc == 0) rc = tokenizer_encode(t, text.at, text.n, ENCODE_BOS, &out->ids, &out->n, err, errlen);
    while (rc == 0 && out->n_prompt < n_bare && out->n_prompt + 1 < out->n &&
           bare[out->n_prompt] == out->ids[out->n_prompt])
        out->n_prompt++;
    free(bare);
    free(text.at);
    return rc;
}

/* As many sentences as fit: ids grow with them. */
int passkey_prompt(PasskeyPrompt *out, const Tokenizer *t, const PasskeyTemplate *p, const char *key, size_t length,
                   double depth, char *err, size_t errlen) {
    size_t low = 0, high = length; /* a sentence is an id at least */
    int rc = encode(out, t, p, key, 0, depth, err, errlen);
    if (rc == 0 && out->n > length)
        rc = base_error(err, errlen, -EINVAL, "a length of %zu has no room for a prompt, which takes %zu ids", length,
                        out->n);
    while (rc == 0 && low < high) {
        size_t middle = low + (high - low + 1) / 2;
        PasskeyPrompt tried;
        if ((rc = encode(&tried, t, p, key, middle, depth, err, errlen))) break;
        if (tried.n <= length) low = middle;
        else high = middle - 1;
        int *worse = tried.n <= length ? out->ids : tried.ids;
        if (tried.n <= length) *out = tried;
        free(worse);
    }
    if (rc) {
        free(out->ids);
        *out = (PasskeyPrompt){0};
    }
    return rc;
}
