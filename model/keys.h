/* model/keys.h - reading the keys of a file's metadata, whatever the file calls them, into a Config.
 *
 *     c->n_heads = (int)key_int(r, "attention.head_count", "num_attention_heads", 1, 1, CONFIG_MAX_DIM);
 *
 * A key has two names: GGUF's, without the architecture in front, and Hugging Face's in config.json; NULL where one
 * world has none. Which of them counts, the file's source says. The first complaint stays, in err and rc; what is read
 * after it does not matter any more. */
#ifndef KEYS_H
#define KEYS_H

#include "config.h"
#include "model/files/weights.h"

typedef struct KeyReader KeyReader;
typedef struct Family Family;                 /* family.h */
typedef struct DecoderArch DecoderArch;       /* decoder.h */
typedef struct ModelOptions ModelOptions;     /* options.h */

typedef struct {
    enum { KEY_ABSENT, KEY_NUMBER, KEY_FLAG, KEY_TEXT, KEY_OTHER } kind;
    double number;    /* KEY_NUMBER; KEY_FLAG: 0 or 1 */
    int is_float;     /* KEY_NUMBER: its type is none of whole numbers */
    const char *text; /* KEY_TEXT: [len], not NUL-terminated */
    size_t len;
} KeyValue;

/* A world of metadata: a row. */
typedef struct {
    TensorNames names;
    const char *architecture, *missing; /* the key that names it; what a complaint says of a key that is not there */
    /* Look one name up, r->key becoming the name in full. */
    KeyValue (*look)(KeyReader *r, const char *gguf, const char *hf);
    /* What the worlds say in ways of their own: what a decoder's sizes are where no key says so; once they are known,
     * its windows and biases; c->rope (rotary_dim where the file does not say: head_dim); the ids that begin and end
     * a text. */
    void (*presume)(KeyReader *r, Config *c, const DecoderArch *a);
    void (*parts)(KeyReader *r, Config *c, const DecoderArch *a);
    void (*rope)(KeyReader *r, Config *c, RopePairing pairing);
    void (*ends)(KeyReader *r, Config *c);
} KeySource;
extern const KeySource keys_gguf;
extern const KeySource *const key_sources[]; /* by WeightsFormat */

struct KeyReader {
    const Weights *w;
    const KeySource *source;
    const char *arch;        /* GGUF: the prefix of its keys */
    const JsonValue *object; /* Hugging Face: where keys are looked for; NULL: config.json's top level */
    char key[120];           /* the last one looked for, as the file spells it */
    char *err;
    size_t errlen;
    int rc; /* 0, or -EINVAL */
};

/* Read c from w's metadata, apply o (may be NULL), check everything for plausibility; *family (may be NULL) is whose it
 * is. 0, or -EINVAL and one line that names the file and the key. Shapes of tensors are checked by model_open. */
int config_read(Config *c, const Family **family, const Weights *w, const ModelOptions *o, char *err, size_t errlen);
/* The settings that the core does not know (more.c): further keys, the command line (o may be NULL), and what does not
 * go together. */
void config_more(KeyReader *r, Config *c, const Family *f, const ModelOptions *o);

void key_complain(KeyReader *r, const char *key, const char *why); /* "file: key: why", and rc -EINVAL */
/* what "word" is not known here (known are) */
void key_unknown(KeyReader *r, const char *key, const char *what, const char *word, size_t len, const char *known);

/* v, a whole number from min to max; else a complaint, and min. */
int64_t key_range(KeyReader *r, const char *key, double v, double min, double max);
double key_number(KeyReader *r, const char *gguf, const char *hf, double absent);
int64_t key_int(KeyReader *r, const char *gguf, const char *hf, double absent, double min, double max);
/* A word into out; where there is none out stays, and the result is 0. */
int key_word(KeyReader *r, const char *gguf, const char *hf, char *out, size_t outlen);

/* A table of keys and the fields they are read into: those that are absent leave their field as it is. */
typedef struct {
    const char *gguf, *hf;
    enum { FIELD_INT, FIELD_INT64, FIELD_FLOAT } type;
    size_t at;       /* offset in the Config */
    double min, max; /* of whole numbers */
    int required;    /* 1: it must be there, or the field be set already */
} KeyField;
void keys_read(KeyReader *r, const KeyField *fields, size_t n, Config *c);
double key_field(const KeyField *f, const Config *c); /* the other way: its value, for who writes keys */

void config_add_end(Config *c, double id);            /* an id that ends a text, where it is an id */
int config_even_split(KeyReader *r, const Config *c); /* d_model / n_heads, or a complaint */

#endif
