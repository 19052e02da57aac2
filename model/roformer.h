/* model/roformer.h - RoFormer, a family: v1, v2 and GAU-alpha; and what all encoders have around their layers. */
#ifndef ROFORMER_H
#define ROFORMER_H

#include "family.h"
#include "kernels/encoder_kernels.h"

/* What RoFormer has in a layer beside model.h's Layer: its norms stand behind attention and feed-forward network, and
 * have biases in v1. GAU-alpha: w_up [2 d_ff + head_dim, d_model] makes u, v and the base of q and k; w_down ends the
 * unit, and only attn_norm is there. */
typedef struct {
    const float *attn_norm_b, *ffn_norm_b; /* [d_model] or NULL */
    const float *gau_q, *gau_k;            /* [head_dim]: what the base is multiplied by */
} EncoderLayer;

/* What an encoder has around its layers. A Matrix without data and a NULL: not there. H = d_model, E = d_embed. */
typedef struct Encoder {
    Matrix types;                                       /* [n_types, E] */
    const float *emb_norm, *emb_norm_b;                 /* [E] */
    Matrix emb_proj;                                    /* [H, E], where E is not H */
    const float *emb_proj_b;                            /* [H] */
    Matrix mlm_dense;                                   /* [E, H]: in v1, before lm_head [vocab_size, E] */
    Activation mlm_activation;                          /* between the two: a RoFormer's */
    const float *mlm_dense_b, *mlm_norm, *mlm_norm_b;   /* [E] each */
    const float *mlm_bias;                              /* [vocab_size] */
    Matrix pooler, cls_dense, cls_out;                  /* [H, H] x 2, [n_labels, H] */
    const float *pooler_b, *cls_dense_b, *cls_out_b;    /* [H] x 2, [n_labels] */
    const float *cls_norm, *cls_norm_b;                 /* [H]: behind cls_dense, in some */
    EncoderLayer layers[];                              /* [n_layers] of a RoFormer's */
} Encoder;

extern const Family family_roformer; /* roformer.c */

/* Its row's functions (family.h): roformer_config.c, roformer_load.c and roformer.c. */
void roformer_read_config(KeyReader *r, Config *c, const Architecture *a);
void roformer_load(Loader *ld);

/* What the command line says of a RoFormer (o may be NULL), and what does not go together; complaints go to r. */
void roformer_settle(KeyReader *r, Config *c, const ModelOptions *o);

/* A table of sines in the file that is none of RoPE's: a note. */
void roformer_check_table(Model *m);
/* The name of the classifier's label i, 0 <= i < n_labels, not NUL-terminated, *len bytes; *len 0: the file gives it
 * none. Owned by the file. (roformer_load.c) */
const char *model_label(const Model *m, int i, size_t *len);

#endif
