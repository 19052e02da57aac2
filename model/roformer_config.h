/* model/roformer_config.h - what config.c and roformer_config.c, which both build a Config, have of each other. */
#ifndef ROFORMER_CONFIG_H
#define ROFORMER_CONFIG_H

#include "config.h"
#include "keys.h"

/* roformer_config.c: a RoFormer's settings from its file: sizes and c->roformer; which variant it is and what heads there
 * are from its tensors. */
int roformer_is_hf(const JsonValue *model_type); /* "roformer", "gau_alpha" */
int roformer_is_gguf(const MetaValue *architecture);
void roformer_read_hf(KeyReader *r, Config *c);
void roformer_read_gguf(KeyReader *r, Config *c);
/* What the command line says, and what does not go together. */
void roformer_settle(KeyReader *r, Config *c, const RoformerOverride *o);

/* config.c: the parts that decoders and RoFormer read alike. n_ctx_train and head_dim stand in c already. */
int config_even_split(KeyReader *r, const Config *c);
void config_hf_rope(KeyReader *r, Config *c, RopePairing pairing);
void config_hf_attention(KeyReader *r, Config *c);
void config_gguf_rope(KeyReader *r, Config *c, RopePairing pairing);
void config_gguf_attention(KeyReader *r, Config *c);
void config_hf_eos(KeyReader *r, Config *c);
void config_gguf_eos(KeyReader *r, Config *c);

#endif
