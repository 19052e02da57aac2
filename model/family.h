/* model/family.h - families of models: what they have of their own, a row each; and taking tensors into a Model, each
 * with its type and shape checked. */
#ifndef FAMILY_H
#define FAMILY_H

#include "model.h"

typedef struct KeyReader KeyReader; /* keys.h */
typedef struct Session Session;     /* session.h */

typedef struct {
    Model *m;
    char *err;
    size_t errlen;
    int rc; /* 0, or the first complaint's; what is loaded after it does not matter */
} Loader;

struct Family {
    const char *(*architecture)(int i); /* the names that files have for it, i = 0, 1 ..; NULL after the last */
    int encoder;                        /* 1: it reads texts whole, too (encoder.h) */
    /* Its keys, sizes first, into c, which holds the architecture's name; complaints go to r. */
    void (*read_config)(KeyReader *r, Config *c);
    /* What the command line says of this family alone (o may be NULL), and what does not go together; NULL: nothing. */
    void (*settle)(KeyReader *r, Config *c, const ModelOptions *o);
    void (*load)(Loader *ld); /* its tensors into ld->m, whose layers are there, zeroed */
    /* The n tokens of the scratch, n <= n_batch: the past takes them in; the logits of the last n_last of them (0 <=
     * n_last <= n_logits; 0 where there is no head for logits) go to s->logits. Cannot fail. */
    void (*forward)(Session *s, size_t n, size_t n_last);
    /* The logits of tokens t .. t+n-1 of the last forward into s->logits (n <= n_logits). Cannot fail. */
    void (*logits)(Session *s, size_t t, size_t n);
};
extern const Family *const families[]; /* NULL after the last (families.c) */

/* t as a matrix [rows, cols]; as a vector [n] of floats in the model's own memory. t NULL is refused as missing. name
 * is what error lines call it. (open.c) */
Matrix load_matrix(Loader *ld, const Tensor *t, const char *name, size_t rows, size_t cols);
const float *load_vector(Loader *ld, const Tensor *t, const char *name, size_t n);
void load_refuse(Loader *ld, const char *name, const char *why); /* "file: tensor name why" */
void load_out_of_memory(Loader *ld);
void load_seen(Loader *ld, const Tensor *t); /* somebody reads it: it is not extra */

#endif
