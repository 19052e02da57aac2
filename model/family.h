/* model/family.h - families of models: what they have of their own, a row each, and what they read their models with:
 * a file's keys, whatever the file calls them, into a Config; tensors, each with its type and shape checked, into a
 * Model.
 *
 *     c->n_heads = (int)key_int(r, "attention.head_count", "num_attention_heads", 1, 1, CONFIG_MAX_DIM);
 *     m->tok_emb = load_matrix(ld, weights_find(&m->weights, name), name, vocab_size, d_model);
 *
 * A key has two names: GGUF's, without the architecture in front, and Hugging Face's in config.json; NULL where one
 * world has none. Which of them counts, the file's source says. The first complaint stays; what is read after it does
 * not matter any more. */
#ifndef FAMILY_H
#define FAMILY_H

#include "model.h"

typedef struct Session Session; /* session.h */
struct Carver;                  /* scratch.h */

/* An architecture. */
typedef struct {
    const char *name; /* that files have for it */
    const Family *family;
    RopePairing pairing; /* of its GGUF files; Hugging Face's decoders are all halves */
    int qk_norm;
    const struct DecoderDefaults *hf; /* a decoder's: of its config.json (keys_more.h) */
    const struct LayerTraits *traits; /* of family_layers (layers/layers.h) */
    const void *with_experts;         /* the Architecture that a GGUF file of this name has where it has experts */
} Architecture;
extern const Architecture *const architectures[]; /* NULL after the last (families.c) */

typedef struct {
    Weights *w;
    const struct KeySource *source;
    const char *arch; /* GGUF: the prefix of its keys */
    char key[120];    /* the last one looked for, as the file spells it */
    MetaValue value;  /* room for what look returns */
    ErrorLine line;
} KeyReader;

/* A world of metadata: a row. */
typedef struct KeySource {
    const char *missing; /* what a complaint says of a key that is not there */
    /* What stands at a key, r->key becoming its name in full; NULL: nothing. */
    const MetaValue *(*look)(KeyReader *r, const char *gguf, const char *hf);
    /* What the worlds say in ways of their own: a decoder's sizes where no key has them; once they are known, c->rope
     * (rotary_dim as head_dim where it is not said), the ids that begin and end a text, a decoder's windows, biases. */
    void (*begin)(KeyReader *r, Config *c, const Architecture *a);
    void (*finish)(KeyReader *r, Config *c, const Architecture *a);
} KeySource;
extern const KeySource *const key_sources[]; /* by WeightsFormat (families.c) */

/* ---- a family ---- */

typedef struct {
    Model *m;
    ErrorLine line;
} Loader;

struct Family {
    /* Its keys, sizes first, into c, which holds the architecture's name. */
    void (*read_config)(KeyReader *r, Config *c, const Architecture *a);
    void (*load)(Loader *ld); /* its tensors into ld->m, whose layers are there, zeroed */
    /* Why session_eval cannot go on with single ids; NULL: it can. The hook may be NULL: always. */
    const char *(*refuses)(const Model *m);
    const struct LinearSteps *linear; /* for SessionOptions.linear; NULL: one by one */
    /* Arrays of its own for a batch, counted or carved (scratch.h); returns what its widest matrix meets. NULL: none */
    size_t (*carve)(struct Carver *k, Session *s);
    /* An encoder's: layer l of the n tokens of the scratch, l -1: their embeddings; NULL: forward reads them in one. */
    void (*step)(Session *s, int l, size_t n);
    /* The n tokens of the scratch, n <= n_batch: the past takes them in; the logits of the last n_last of them (0 <=
     * n_last <= n_logits; 0 where there is no head for logits) go to s->logits. Cannot fail. */
    void (*forward)(Session *s, size_t n, size_t n_last);
    /* The logits of tokens t .. t+n-1 of the last forward into s->logits (n <= n_logits); NULL: lm_head xn. */
    void (*logits)(Session *s, size_t t, size_t n);
};

/* Read c from w's metadata, apply o (may be NULL), check everything for plausibility. 0, or -EINVAL and one line that
 * names the file and the key. Shapes of tensors are checked by model_open. */
int config_read(Config *c, Weights *w, const ModelOptions *o, char *err, size_t errlen);
/* The tensors of m->weights into m, whose config is read. */
int model_load(Model *m, char *err, size_t errlen);
/* The settings that the core does not know (more.c): further keys, o, and what does not go together. */
void config_more(KeyReader *r, Config *c, const ModelOptions *o);

/* ---- reading keys ---- */

void key_complain(KeyReader *r, const char *key, const char *why); /* "file: key: why" */
/* v, a whole number from min to max; else a complaint, and min. */
int64_t key_range(KeyReader *r, const char *key, double v, double min, double max);
double key_number(KeyReader *r, const char *gguf, const char *hf, double absent);
int64_t key_int(KeyReader *r, const char *gguf, const char *hf, double absent, double min, double max);
/* A word into out; where there is none out stays, and the result is 0. */
int key_word(KeyReader *r, const char *gguf, const char *hf, char *out, size_t outlen);
/* The row whose name is the word at a key, or `usual` where there is none (NULL: there must be one); NULL after a
 * complaint, which says what it is. rows: pointers to structs that begin with their names, NULL after the last. */
const void *key_row(KeyReader *r, const char *gguf, const char *hf, const char *usual, const char *what,
                    const void *rows);

/* A table of keys and their fields of a Config, ended by a zeroed row. What is absent leaves its field as it is. */
typedef struct {
    const char *gguf, *hf;
    enum { FIELD_INT, FIELD_INT64, FIELD_FLOAT } type;
    size_t at;       /* offset in the Config, or whatever struct it is of */
    double min, max; /* of whole numbers */
    int required;    /* 1: it must be there, or the field be set already */
} KeyField;
void keys_read(KeyReader *r, const KeyField *fields, void *c);
double key_field(const KeyField *f, const void *c); /* the other way: its value, for who writes keys */

int config_add_end(Config *c, double id); /* an id that ends a text, where it is one; 0, or -ENOSPC: they are full */
int config_even_split(KeyReader *r, const Config *c); /* d_model / n_heads, or a complaint */

/* ---- taking tensors ---- */

/* t as a matrix [rows, cols]; as a vector [n] of floats in the model's own memory. NULL is refused as missing. name is
 * what error lines call it. */
Matrix load_matrix(Loader *ld, const Tensor *t, const char *name, size_t rows, size_t cols);
const float *load_vector(Loader *ld, const Tensor *t, const char *name, size_t n);
void load_out_of_memory(Loader *ld);

/* ---- decoders of the LLaMA family (decoder.c): for whoever reads such models or writes them ---- */

extern const KeySource keys_gguf; /* of llama2.c's header too, which is handed out in the same form */
extern const KeyField decoder_keys[]; /* sizes, the vocabulary's first; ended by a zeroed row */

/* A tensor: '#' in its names is the layer. Rows and columns in letters: V vocabulary, D d_model, F d_ff, Q, K and W all
 * heads of queries, keys and values, H one head; cols 0: a vector. */
typedef struct {
    const char *gguf, *hf;
    char rows, cols;
    size_t said; /* where a Config says whether it is there; 0: always */
    size_t at;   /* its place in a Layer (names with '#') or in the Model */
} DecoderTensor;
extern const DecoderTensor decoder_tensors[]; /* in the order in which files list them; ended by a zeroed row */

size_t decoder_size(const Config *c, char letter);
/* 1 where the model must have the tensor, 0 not, -1: where the file has it. */
int decoder_has(const Config *c, const DecoderTensor *t);

void decoder_read_config(KeyReader *r, Config *c, const Architecture *a); /* of the row family_llama */
void decoder_load(Loader *ld);
extern const Family family_llama; /* llama.c */

#endif
