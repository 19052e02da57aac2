/* model/keys.h - reading the keys of a file's metadata, for what builds a Config of them; nobody else includes it.
 *
 *     KeyReader r = {.w = w, .arch = "llama", .err = err, .errlen = errlen};
 *     c->d_model = (int)hf_int(&r, "hidden_size", 0, 1, CONFIG_MAX_DIM);
 *     ...
 *     return r.rc;
 *
 * The first complaint stays, in err and rc; what is read after it does not matter any more. */
#ifndef KEYS_H
#define KEYS_H

#include "weights.h"

typedef struct {
    const Weights *w;
    const char *arch; /* GGUF: the prefix of its keys */
    char *err;
    size_t errlen;
    int rc; /* 0, or -EINVAL */
} KeyReader;

/* "file: key: why", and rc -EINVAL. */
void key_complain(KeyReader *r, const char *key, const char *why);
/* v, a whole number from min to max; else a complaint, and min. */
int64_t key_range(KeyReader *r, const char *key, double v, double min, double max);
int key_absent(const JsonValue *v); /* not there, or null */

/* config.json: the number, whole number, boolean or word at key (in o; else at top level); absent where there is none, and
 * for hf_int 0 means that it must be there. Where there is no word, out stays. */
double hf_number(KeyReader *r, const JsonValue *o, const char *key, double absent);
int64_t hf_int(KeyReader *r, const char *key, int64_t absent, double min, double max);
int hf_bool(KeyReader *r, const char *key, int absent);
void hf_word(KeyReader *r, const char *key, char *out, size_t outlen);

/* GGUF: the value of <arch>.<name> or NULL; key gets that name. */
const MetaValue *gguf_get(KeyReader *r, const char *name, char *key, size_t keylen);
/* As hf_..; absent < 0: the whole number must be there. An array whose elements are all equal counts as its element. */
double gguf_number(KeyReader *r, const char *name, double absent);
int64_t gguf_int(KeyReader *r, const char *name, int64_t absent, double min, double max);
int gguf_flag(KeyReader *r, const char *name, int absent);
void gguf_word(KeyReader *r, const char *name, char *out, size_t outlen, char *key, size_t keylen);

#endif
