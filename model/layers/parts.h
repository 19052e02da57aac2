/* model/layers/parts.h - which tensors a model in layers has, and where they go: a table. */
#ifndef LAYER_PARTS_H
#define LAYER_PARTS_H

#include "layers.h"

/* Which models have it, or in a model which layers. */
typedef enum {
    PART_ALWAYS, PART_HEAD, PART_HEAD_BIAS, PART_FINAL_BIAS, PART_NORM_IN, PART_NORM_IN_BIAS, PART_SOFTMAX,
    PART_QKV_BIAS, PART_QK_NORM, PART_SINKS, PART_O_BIAS, PART_DELTA, PART_CONV, PART_NORM_OUT, PART_FFN_NORM,
    PART_FFN_NORM_BIAS, PART_EXPERTS, PART_EXPERT_BIAS, PART_SHARED, PART_GATE, PART_GATE_BIAS, PART_DENSE,
    PART_DENSE_BIAS, PART_FINAL_NORM, PART_SUM_NORM, PART_TYPES, PART_EMBED_NORM, PART_EMBED_NORM_BIAS, PART_WORDS,
    PART_POOLER, PART_CLASSIFIER, PART_LABELS, PART_CORRECTION, PART_SHARED_ROUTER, PART_Q,
    PART_KV, PART_V, PART_K_NORM, PART_LATENT, PART_LATENT_Q, PART_EXPERT_NORMS, PART_PER_LAYER,
    PART_OUT_SCALE,
} LayerPartWhen;

/* How files store it, where that is more than a tensor of this shape. */
typedef enum {
    FORM_PLAIN,
    FORM_NORM,                        /* LayerTraits.plus_one; QK_EACH: a list of vectors */
    FORM_Q, FORM_K, FORM_V,           /* rows of one matrix with all three, in this order */
    FORM_GATE, FORM_UP,               /* the same with these two */
    FORM_GATES, FORM_UPS, FORM_DOWNS, /* of all experts, one behind the other, or one by one */
    FORM_MIX, FORM_Z,                 /* Qwen3-Next: q, k, v and z of a key head together, key head by key head */
    FORM_BETA, FORM_ALPHA,            /* the same with these two */
    FORM_CONV_B, FORM_CONV_C, FORM_CONV_X, /* of a convolution: thirds of one matrix, in this order */
    FORM_CONV,                        /* [channels, 1, conv] */
    FORM_DECAY,                       /* a: the decay is -e^a; GGUF has the decay */
    FORM_SHARED_GATE, FORM_SHARED_UP, /* of the shared expert, as FORM_GATE and FORM_UP */
    FORM_K_B, FORM_V_B,               /* of all heads K^T, or V (latent.h), one behind the other; or of each head K's
                                         rows and V's, in one matrix */
} LayerForm;

/* A tensor, as DecoderTensor (family.h); a layer's names stand behind "blk.N." and "model.layers.N.", and '@' in
 * Hugging Face's is an expert's or a head's number. Letters of sizes
 * beside family.h's: G rows of q with gates, O what o_proj meets, q, k what norms of q and k have, h n_heads, E
 * n_experts, X d_expert, x and y the experts' d_expert and d_model together, S d_shared, p per_layer, P that of all
 * layers, 1 one; of latent attention a q_rank, c kv_rank, n nope_dim, v v_dim; of the delta net C channels, Z all
 * values, N value heads, I a value head, T conv; of encoders Y n_types, L n_labels. */
typedef struct {
    const char *gguf, *hf;
    char rows, cols;
    LayerPartWhen when;
    enum { IN_MODEL, IN_LAYER, IN_MORE, IN_DECODER, IN_ENCODER } in; /* where it goes: at in a Model, a Layer .. */
    size_t at;
    LayerForm form;
} LayerPart;
extern const LayerPart layer_parts[]; /* in the order in which files list them; ended by a zeroed row */

/* 1: every layer may have one. */
static inline int layer_part_repeats(const LayerPart *p) { return p->in == IN_LAYER || p->in == IN_MORE; }
/* 1: a norm's weight of a model whose files may have none. */
static inline int layer_part_is_bare(const Decoder *x, const LayerPart *p) {
    return x->traits->bare_norms && p->form == FORM_NORM;
}
/* What files call it, behind a layer's own beginning: the architecture's name for it, or the usual one; or NULL. */
const char *layer_part_name(const Decoder *x, const LayerPart *p, int hf);
size_t layer_size(const Config *c, char letter); /* c: layer_view's, where the letter is of a layer */
/* How many matrices the part is a list of, experts' or heads'; 0: it is one, or a vector. */
size_t layer_part_list(const Config *c, const LayerPart *p);
/* 1 where layer l (-1: the model) must have it, 0 not, -1: where the file has it. */
int layer_has(const Config *c, const LayerPart *p, int l);

#endif
