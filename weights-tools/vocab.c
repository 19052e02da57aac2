/* weights-tools/vocab.c - a token a line. */
#include "vocab.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { NORMAL = 1, UNKNOWN = 2, CONTROL = 3, UNUSED = 5 }; /* GGUF's token types */

static const struct {
    const char *token, *key, *also;
} specials[] = {
    {"[CLS]", "tokenizer.ggml.cls_token_id", "tokenizer.ggml.bos_token_id"},
    {"[SEP]", "tokenizer.ggml.seperator_token_id", "tokenizer.ggml.eos_token_id"}, /* so spelled in GGUF */
    {"[PAD]", "tokenizer.ggml.padding_token_id", NULL},
    {"[MASK]", "tokenizer.ggml.mask_token_id", NULL},
    {"[UNK]", "tokenizer.ggml.unknown_token_id", NULL},
};
enum { N_SPECIALS = sizeof specials / sizeof *specials };

/* The line at *at, without its end (\n, \r or both, as Python reads text); 0 where the text is at its end. */
static int next_line(const char *text, size_t size, size_t *at, const char **line, size_t *n) {
    if (*at >= size) return 0;
    size_t end = *at;
    while (end < size && text[end] != '\n' && text[end] != '\r') end++;
    *line = text + *at;
    *n = end - *at;
    *at = end + (end < size) + (end + 1 < size && text[end] == '\r' && text[end + 1] == '\n');
    return 1;
}

static int is_text(const char *s, size_t n) {
    uint32_t cp = 1;
    for (size_t i = 0; i < n;) {
        int bytes = utf8_decode(s + i, n - i, &cp);
        if (bytes == 0 || cp == 0) return 0;
        i += (size_t)bytes;
    }
    return 1;
}

static int special_of(const char *line, size_t n) {
    for (int i = 0; i < N_SPECIALS; i++)
        if (strlen(specials[i].token) == n && memcmp(specials[i].token, line, n) == 0) return i;
    return -1;
}

static uint32_t type_of(const char *line, size_t n) {
    int special = special_of(line, n);
    if (special >= 0) return strcmp(specials[special].token, "[UNK]") == 0 ? UNKNOWN : CONTROL;
    return n > 8 && memcmp(line, "[unused", 7) == 0 && line[n - 1] == ']' ? UNUSED : NORMAL;
}

/* Count the lines, check them, note the ids of the special ones (of the last where one stands twice, as Python's
 * dict). */
static int scan(const char *text, size_t size, size_t vocab_size, long ids[N_SPECIALS], size_t *lines, const char *name,
                char *err, size_t errlen) {
    const char *line;
    size_t at = 0, n;
    for (int i = 0; i < N_SPECIALS; i++) ids[i] = -1;
    for (*lines = 0; next_line(text, size, &at, &line, &n); ++*lines) {
        if (!is_text(line, n)) return base_error(err, errlen, -EINVAL, "%s: line %zu is not UTF-8", name, *lines + 1);
        if (*lines >= vocab_size)
            return base_error(err, errlen, -EINVAL, "%s: more tokens than the model's %zu: not its vocabulary", name,
                              vocab_size);
        int special = special_of(line, n);
        if (special >= 0) ids[special] = (long)*lines;
    }
    if (ids[N_SPECIALS - 1] >= 0) return 0;
    return base_error(err, errlen, -EINVAL, "%s: no token [UNK] in it: not a WordPiece vocabulary", name);
}

int vocab_meta(GgufMeta *m, const char *text, size_t size, size_t vocab_size, int lower_case, const char *name,
               char *err, size_t errlen) {
    const char *line;
    long ids[N_SPECIALS];
    size_t lines, at = 0, n;
    int rc = scan(text, size, vocab_size, ids, &lines, name, err, errlen);
    if (rc) return rc;
    gguf_string(m, "tokenizer.ggml.model", "wordpiece");
    gguf_array(m, "tokenizer.ggml.tokens", META_STRING, vocab_size);
    while (next_line(text, size, &at, &line, &n)) gguf_text(m, line, n);
    for (size_t i = lines; i < vocab_size; i++) {
        char filler[40];
        snprintf(filler, sizeof filler, "[PAD%zu]", i);
        gguf_text(m, filler, strlen(filler));
    }
    gguf_array(m, "tokenizer.ggml.token_type", META_I32, vocab_size);
    for (at = 0; next_line(text, size, &at, &line, &n);) buffer_u32(&m->bytes, type_of(line, n));
    for (size_t i = lines; i < vocab_size; i++) buffer_u32(&m->bytes, UNUSED);
    for (int i = 0; i < N_SPECIALS; i++) {
        if (ids[i] < 0) continue;
        gguf_u32(m, specials[i].key, (uint32_t)ids[i]);
        if (specials[i].also) gguf_u32(m, specials[i].also, (uint32_t)ids[i]);
    }
    if (lower_case >= 0) gguf_bool(m, "tokenizer.ggml.lower_case", lower_case);
    return 0;
}
