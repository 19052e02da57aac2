/* model/layers/layers.h - models that are one step from LLaMA, a layer at a time: other norms, windows and angles by
 * layer, soft caps, experts, a delta net in attention's place. What differs is told by tables; one page (forward.c)
 * reads them, and llama.c does not know of it.
 *
 *     static const LayerTraits gemma3 = {.norm_in = 1, .norm_out = 1, .plus_one = 1, .qk = QK_HEAD, ..};      rows.c
 *     {"gemma3", &family_layers, ROPE_HALF, .hf = &(const DecoderDefaults){..}, .traits = &gemma3}         families.c
 *
 * A model's settings are in Config.decoder, a layer's own weights in Layer.more. */
#ifndef LAYERS_H
#define LAYERS_H

#include "kernels/encoder_kernels.h"
#include "model/family.h"

typedef enum { MIXER_SOFTMAX, MIXER_DELTA, MIXER_CONV } Mixer; /* what lets tokens see each other: delta.h has two */
typedef enum { TURN_MAIN, TURN_LOCAL, TURN_NOT } Turn;         /* q and k by Config.rope, Decoder.local, not at all */
typedef enum { QK_PLAIN, QK_HEAD, QK_WHOLE, QK_EACH } QkNorm;  /* QK_EACH: LayerNorm, each head its own weights */
typedef enum { FUSED_NOT, FUSED_HEADS, FUSED_HEADS_IN_HF } FusedHeads;
typedef enum { GATE_PLAIN, GATE_NONE, GATE_CLAMPED } Gate;     /* act(g) u; act(u); gpt-oss's (forward.c) */

/* Whether keys and values are made of one short vector a token (latent.h); and of GGUF files whether they have a head's
 * two matrices apart, or as one as Hugging Face's do. */
typedef enum { LATENT_NOT, LATENT_PARTED, LATENT_WHOLE } Latent;

/* Whether a bias joins the scores where experts are chosen, not in their shares. */
typedef enum { CORRECTION_NOT, CORRECTION, CORRECTION_IF_THERE } Correction;

/* Whether shares of the chosen experts are made to sum to 1, in GGUF files: what llama.cpp takes for granted, or what
 * expert_weights_norm says. */
typedef enum { SHARES_SUM_TO_1, SHARES_AS_THEY_ARE, SHARES_AS_SAID } Shares;

enum { LAYER_KEYS = 3, LAYER_GROUPS = 256, GROUP_BEST = 2 }; /* tables of keys; most groups of experts, group_best */

/* What an architecture is: the same for all of its models. */
typedef struct LayerTraits {
    const char *gguf;         /* its name in GGUF files, where it is not the row's */
    uint8_t norm_in;          /* a branch's input is normalised: what LLaMA does */
    uint8_t norm_out;         /* what it gives, before it is added */
    uint8_t norm_sum;         /* x = norm(x + branch), BERT's way: in place of both */
    uint8_t first_bare;       /* layer 0's attention takes x as it is */
    uint8_t layernorm;        /* LayerNorm, not RMSNorm; a bias that the file has not is 0 */
    uint8_t bare_norms;       /* norms are without weights, which are 1 where the file has none */
    uint8_t plus_one;         /* Hugging Face's files hold a norm's weights less 1 */
    QkNorm qk;
    uint8_t qk_after;         /* q and k are normalised behind the rotation */
    Gate gate;
    uint8_t gelu;             /* its usual activation is GELU, not SiLU: 1 its approximation, 2 itself */
    uint8_t encoder;          /* tokens see what follows them; windows reach to both sides */
    FusedHeads fused_heads;   /* one matrix for q, k and v, a key head's queries, its key and its value together */
    uint8_t fused_gate_up;    /* one matrix, the gate's rows first, in GGUF files as well */
    uint8_t tiled;            /* in GGUF files value head h is key head h % key_heads's */
    Latent latent;
    uint8_t gated_output;     /* wq has twice the rows: behind each head's q its gate, sigmoid of which meets att */
    uint8_t scaled_embedding; /* times sqrt(d_model) */
    uint8_t sinks;            /* a number a head that joins each softmax as a key without a value */
    uint8_t experts;          /* a feed-forward network may be a mixture of these */
    uint8_t shared_expert;    /* and one more is asked by every token: 1 behind a sigmoid of its own, 2 as it is */
    uint8_t sigmoid;          /* an expert's score is the sigmoid of its own, not a part of a softmax; unless a key
                                 says otherwise (Decoder.sigmoid) */
    float sum_more;           /* is added to the sum of the chosen experts' scores */
    Correction correction;
    uint8_t dense_first;      /* the first layers may have none: GGUF has a key for how many */
    Shares gguf_shares;
    int period, full_first;   /* every so many layers one (the last of them, or the first) sees all; the others .. */
    enum { OTHERS_SEE_ALL, OTHERS_HAVE_WINDOW, OTHERS_ARE_DELTA, OTHERS_ARE_CONV } others; /* .. do what this says */
    uint8_t alike;            /* .. in all layers: its class in transformers does not ask layer_types */
    uint8_t local_rope;       /* layers with a window are rotated by angles of their own */
    uint8_t value_norm;       /* v is normalised by head, without weights; where no matrix makes it, it is k so far */
    uint8_t expert_norms;     /* experts and what all tokens ask have norms of their own, on both sides (experts.h) */
    uint8_t nope_on_full;     /* where others have a window, those that see all are not rotated */
    uint8_t temperature;      /* scores grow with the logarithm of the position */
    const KeyField *keys[LAYER_KEYS]; /* of a Decoder's fields (config.h); NULL ends them */
    const struct LayerName *names;    /* of tensors, where they are not parts.c's */
    const char *const (*renames)[2];  /* Hugging Face's names, piece by piece, that become parts.c's; {0} ends them */
    void (*settle)(KeyReader *r, Config *c); /* keys in ways of its own; NULL: none */
} LayerTraits;

/* Other names for a part (tensors.h, by its name in GGUF); NULL: the usual one. */
typedef struct LayerName { const char *part, *gguf, *hf; } LayerName;

typedef struct { uint8_t mixer, turn, experts; } LayerKind; /* Config.windowed says which have a window */

/* A model's settings beside Config's. 0 and NULL: as in LLaMA. */
typedef struct Decoder {
    const LayerTraits *traits;
    float embed_scale, residual_scale; /* HF embedding_multiplier, residual_multiplier; 1: none */
    float logit_scale, logit_cap;      /* HF 1 / logits_scaling; final_logit_softcapping or 0 */
    float score_scale, score_cap;      /* HF attention_multiplier, query_pre_attn_scalar; attn_logit_softcapping or 0 */
    float temperature;                 /* scores grow by 1 + temperature ln(1 + floor(position / temperature_n)) */
    int64_t temperature_n;
    float clip;                        /* HF clip_qkv: q, k and v stay within +-clip; 0: as they are */
    enum { IN_TURN, SHARED_NORM, OWN_NORMS } parallel; /* both branches read x as the layer began, by .. */
    RopeConfig local;                  /* of layers that turn by it; its method has one choice of frequencies */
    int n_experts, n_used;             /* HF num_experts, num_experts_per_tok */
    int d_expert, d_shared;            /* HF moe_intermediate_size; of the shared expert, 0: there is none */
    int n_shared;                      /* HF n_shared_experts: the shared expert is as wide as so many; 0: unsaid */
    float share_scale;                 /* HF routed_scaling_factor: the chosen experts' shares are times this */
    int renormalise;                   /* HF norm_topk_prob: the chosen experts' shares sum to 1 */
    int sigmoid;                       /* HF scoring_func: scores are sigmoids */
    int n_groups, groups_used;         /* HF n_group, topk_group: experts are chosen in the best groups alone; 0: all */
    int group_best;                    /* a group is as good as its best experts' scores together, so many of them */
    int local_dim, local_kv;           /* head_dim and n_kv_heads of layers with a window, where the others' are HF
                                          global_head_dim, num_global_key_value_heads; 0: all are alike */
    int n_borrowers;                   /* HF num_kv_shared_layers: so many, the last, attend to what an earlier kept */
    int first_borrower;                /* the first of them; n_layers: none borrows */
    int wide_borrowers;                /* HF use_double_wide_mlp: they have twice the d_ff */
    int k_is_v;                        /* HF attention_k_eq_v: layers that see all have no matrix for v; -1: unsaid */
    int per_layer;                     /* HF hidden_size_per_layer_input: per_layer.h; 0: none */
    int q_rank, kv_rank;               /* HF q_lora_rank (0: q is of xn), kv_lora_rank: latent.h's short vectors */
    int nope_dim, v_dim;               /* HF qk_nope_head_dim, v_head_dim: of a head */
    float latent_eps;                  /* of their norms */
    Activation activation;             /* HF hidden_act, hidden_activation */
    float clamp, alpha;                /* GATE_CLAMPED: HF swiglu_limit, swiglu_alpha */
    int conv, key_heads, value_heads, key_dim, value_dim; /* delta net: HF linear_conv_kernel_dim, linear_num_.. */
    int adapter;                       /* LoRA: number of the one that is taken; -1: none. What it adds times .. */
    float adapter_scale;               /* .. HF lora_alpha / lora_rank */
    int tiled;                         /* value head h belongs to key head h % key_heads, not h / (their ratio) */
    int n_softmax, n_local, n_states;  /* layers that keep keys and values, those of local_dim, those with a state */
    const float *final_norm_b;         /* [d_model]: LayerNorm's */
    const float *head_b;               /* [vocab_size]: lm_head's */
    Matrix per_layer_rows;             /* [vocab_size, n_layers * per_layer] */
    Matrix per_layer_proj;             /* [n_layers * per_layer, d_model] */
    const float *per_layer_norm;       /* [per_layer] */
    LayerKind kinds[];                 /* [n_layers] */
} Decoder;

/* A layer's beside Layer's, whose w_gate, w_up and w_down are the shared expert's where kinds says experts. */
typedef struct LayerMore {
    int past;                                          /* where its past is: a number among those of its mixer and
                                                          shape, which a borrower has of the one it borrows from */
    const float *attn_norm_b, *ffn_norm_b;             /* [d_model]: LayerNorm's */
    const float *attn_out, *ffn_out;                   /* [d_model]: norms of what a branch gives */
    const float *sinks;                                /* [n_heads] */
    Matrix q_a;                                        /* [q_rank, d_model] */
    const float *q_a_norm, *latent_norm;               /* [q_rank], [kv_rank] */
    Matrix *k_b, *v_b;                                 /* [n_heads] of [kv_rank, nope_dim]: K^T; [v_dim, kv_rank] */
    Matrix router;                                     /* [n_experts, d_model] */
    const float *router_b, *correction;                /* [n_experts] x 2 */
    Matrix *gates, *ups, *downs;                       /* [n_experts] of [d_expert, d_model] x 2, [d_model, d_expert] */
    const float *gates_b, *ups_b, *downs_b;            /* [n_experts, d_expert] x 2, [n_experts, d_model] */
    const float *shared_router;                        /* [d_model] */
    const float *router_norm, *expert_scale;           /* [d_model], [n_experts]: expert_norms */
    const float *expert_in, *expert_out, *shared_out;  /* [d_model]: norms */
    Matrix per_layer_gate, per_layer_out;              /* [per_layer, d_model], [d_model, per_layer] */
    const float *per_layer_after, *out_scale;          /* [d_model]; [1]: the layer's x is times this, or NULL */
    Matrix mix, z, beta, alpha;                        /* [.., d_model]: channels, all values, value_heads x 2; of a
                                                          convolution x, its gates behind and in front: d_model each */
    const float *conv, *decay, *dt, *delta_norm;       /* [channels, conv], [value_heads] x 2, [value_dim] */
} LayerMore;

extern const Family family_layers; /* forward.c */

/* 1 where layer l attends to the past of an earlier one of its kind. */
static inline int layer_borrows(const Config *c, int l) { return l >= c->decoder->first_borrower; }
/* 1 where its heads are of local_dim. */
static inline int layer_is_local(const Decoder *x, int l) { return x->local_dim && x->kinds[l].turn == TURN_LOCAL; }
/* A layer's own; c may be of a model that is not in layers. */
static inline int layer_head_dim(const Config *c, int l) {
    return c->decoder && layer_is_local(c->decoder, l) ? c->decoder->local_dim : c->head_dim;
}
static inline int layer_value_dim(const Config *c, int l) {
    return c->decoder && layer_is_local(c->decoder, l) ? c->decoder->local_dim : c->value_dim;
}
static inline int layer_kv_heads(const Config *c, int l) {
    return c->decoder && layer_is_local(c->decoder, l) ? c->decoder->local_kv : c->n_kv_heads;
}
/* The settings as layer l sees them: its own head_dim, value_dim, n_kv_heads and d_ff. l may be -1. */
Config layer_view(const Config *c, int l);

/* What a file means that names no activation. */
static inline Activation layers_usual_activation(const LayerTraits *t) {
    if (t->gelu) return t->gelu == 1 ? ACTIVATION_GELU_TANH : ACTIVATION_GELU;
    return t->gate == GATE_NONE ? ACTIVATION_RELU2 : ACTIVATION_SILU;
}

int layers_turn_apart(const Config *c); /* 1 where some layers have a RoPE of their own */
/* What keeps a method that rewrites distances, or moves keys, from such a model: a noun; NULL: nothing. */
const char *layers_unstretched(const Config *c, const struct RopeNumbers *n);

/* What scores of a query at pos are multiplied by. */
float layers_score(const Decoder *x, int64_t pos);

#endif
