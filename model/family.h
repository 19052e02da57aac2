/* model/family.h - families of models: what they have of their own, a row each; and the reading of a Config, which
 * begins by asking whose it is. */
#ifndef FAMILY_H
#define FAMILY_H

#include "keys.h"

typedef struct Loader Loader;   /* load.h */
typedef struct Model Model;     /* model.h */
typedef struct Session Session; /* session.h */

typedef struct Family {
    const char *const *architectures; /* the names that files have for it; NULL after the last */
    int encoder;                      /* 1: it reads texts whole, too (encoder.h) */
    /* Its keys, sizes first, into c, which holds the architecture's name; complaints go to r. */
    void (*read_config)(KeyReader *r, Config *c);
    /* What the command line says of this family alone (o may be NULL), and what does not go together; NULL: nothing. */
    void (*settle)(KeyReader *r, Config *c, const ConfigOverride *o);
    /* Its tensors into ld->m. Called twice (load.h). */
    void (*load)(Loader *ld);
    /* Why session_eval cannot go on with single ids, or has no logits where they are wanted; NULL: it can. The hook may
     * be NULL: always. */
    const char *(*refuses)(const Model *m, int wants_logits);
    const struct LinearSteps *linear; /* for SessionOptions.linear; NULL: one by one */
    /* The n tokens of the scratch, n <= n_batch: the past takes them in; the logits of the last n_last of them (0 <=
     * n_last <= n_logits; 0 where there is no head for logits) go to s->logits. Cannot fail. */
    void (*forward)(Session *s, size_t n, size_t n_last);
    /* The logits of tokens t .. t+n-1 of the last forward into s->logits (n <= n_logits). Cannot fail. */
    void (*logits)(Session *s, size_t t, size_t n);
} Family;
extern const Family *const families[]; /* NULL after the last (families.c) */

/* Read c from w's metadata, apply o (may be NULL), check everything for plausibility; *family (may be NULL) is whose it
 * is. 0, or -EINVAL and one line that names the file and the key. Shapes of tensors are checked by model_open. */
int config_read(Config *c, const Family **family, const Weights *w, const ConfigOverride *o, char *err, size_t errlen);

/* override.c: what the command line says of any family. */
void config_override(KeyReader *r, Config *c, const Family *f, const ConfigOverride *o);

#endif
