/* model/keys.h - reading the keys of a file's metadata, whatever the file calls them; for what builds a Config of them.
 *
 *     c->n_heads = (int)key_int(r, "attention.head_count", "num_attention_heads", KEY_REQUIRED, 1, CONFIG_MAX_DIM);
 *
 * A key has two names: GGUF's, without the architecture in front, and Hugging Face's in config.json; NULL where one
 * world has none. Which of them counts, the file's source says. The first complaint stays, in err and rc; what is read
 * after it does not matter any more. */
#ifndef KEYS_H
#define KEYS_H

#include "config.h"

typedef struct KeyReader KeyReader;

typedef enum { KEY_ABSENT, KEY_NULL, KEY_NUMBER, KEY_FLAG, KEY_TEXT, KEY_OTHER } KeyKind;

typedef struct {
    KeyKind kind;
    double number;    /* KEY_NUMBER; KEY_FLAG: 0 or 1 */
    int is_float;     /* KEY_NUMBER: its type is none of whole numbers */
    const char *text; /* KEY_TEXT: [len], not NUL-terminated */
    size_t len;
} KeyValue;

/* A world of metadata: a row. */
typedef struct {
    TensorNames names;
    const char *architecture, *missing; /* the key that names it; what a complaint says of a key that is not there */
    /* Look one name up, r->key becoming the name in full. KEY_OTHER after a complaint. */
    KeyValue (*look)(KeyReader *r, const char *gguf, const char *hf);
    /* The parts that the two worlds say in different ways, once sizes are known: c->rope (its rotary_dim where the file
     * does not say: head_dim), the layers with a window (`usual` where the file has none), the ids that begin and end a
     * text. */
    void (*rope)(KeyReader *r, Config *c, RopePairing pairing);
    void (*window)(KeyReader *r, Config *c, int64_t usual, int by_layer);
    void (*ends)(KeyReader *r, Config *c);
} KeySource;
extern const KeySource *const key_sources[]; /* by WeightsFormat; NULL: unknown to this program (families.c) */

struct KeyReader {
    const Weights *w;
    const KeySource *source;
    const char *arch;         /* GGUF: the prefix of its keys */
    const JsonValue *object;  /* Hugging Face: where keys are looked for; NULL: config.json's top level */
    char key[120];            /* the last one looked for, as the file spells it */
    char *err;
    size_t errlen;
    int rc;                   /* 0, or -EINVAL */
};

#define KEY_REQUIRED (-1e300) /* instead of a value for absent keys: a complaint */

void key_complain(KeyReader *r, const char *key, const char *why); /* "file: key: why", and rc -EINVAL */
void key_unknown(KeyReader *r, const char *key, const char *word, size_t len,
                 const char *known); /* ".." is not known here (..) */
/* v, a whole number from min to max; else a complaint, and min. */
int64_t key_range(KeyReader *r, const char *key, double v, double min, double max);

double key_number(KeyReader *r, const char *gguf, const char *hf, double absent);
int64_t key_int(KeyReader *r, const char *gguf, const char *hf, double absent, double min, double max);
int key_flag(KeyReader *r, const char *gguf, const char *hf, int absent);
/* A word into out; where there is none out stays, and the result is 0. */
int key_word(KeyReader *r, const char *gguf, const char *hf, char *out, size_t outlen);

/* A table of keys and the fields they are read into: those that are absent leave their field as it is. */
typedef enum { FIELD_INT, FIELD_INT64, FIELD_FLOAT, FIELD_DOUBLE } FieldType;
typedef struct {
    const char *gguf, *hf;
    FieldType type;
    size_t at;          /* offset in the struct */
    double min, max;    /* of whole numbers */
    int required;       /* 1: it must be there, or the field be set already */
    int null_is_zero;   /* Hugging Face's null: 1 sets the field to 0, 0 counts as absent */
} KeyField;
void keys_read(KeyReader *r, const KeyField *fields, size_t n, void *into);
double key_field(const KeyField *f, const void *from); /* the other way: its value, for who writes keys */

/* What the file says of linear attention, and else its defaults; what is added to c's list of ends where it is an id.
 */
void config_read_attention(KeyReader *r, Config *c);
void config_add_end(Config *c, double id);
/* d_model / n_heads, or a complaint. */
int config_even_split(KeyReader *r, const Config *c);

#endif
