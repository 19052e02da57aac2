/* model/roformer.h - RoFormer, a family: v1, v2 and GAU-alpha. */
#ifndef ROFORMER_H
#define ROFORMER_H

#include "family.h"

extern const Family family_roformer; /* roformer.c */

/* Its row's functions (family.h): roformer_config.c, roformer_load.c and roformer.c. */
void roformer_read_config(KeyReader *r, Config *c);
void roformer_settle(KeyReader *r, Config *c, const ConfigOverride *o);
void roformer_load(Loader *ld);
void roformer_forward(Session *s, size_t n, size_t n_last); /* the last layer's output stands in the scratch's x */
void roformer_logits(Session *s, size_t t, size_t n);

/* The forward pass in steps, for who wants to be asked between them: first l = -1, the embeddings, then every layer. */
void roformer_step(Session *s, int l, size_t n);

#endif
