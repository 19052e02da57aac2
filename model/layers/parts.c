/* model/layers/parts.c - the table of tensors. The names are GGUF's and Hugging Face's usual ones; where an
 * architecture has others, its row says so (LayerTraits.names). */
#include "parts.h"

#include "model/roformer.h"
#include "model/roformer_kinds.h"

#include <string.h>

#define OF(field) IN_MODEL, offsetof(Model, field)
#define EACH(field) IN_LAYER, offsetof(Layer, field)
#define MORE(field) IN_MORE, offsetof(LayerMore, field)
#define OF_DECODER(field) IN_DECODER, offsetof(Decoder, field)
#define AROUND(field) IN_ENCODER, offsetof(Encoder, field)
const LayerPart layer_parts[] = {
    {"token_embd.weight", "model.embed_tokens.weight", 'V', 'D', PART_ALWAYS, OF(tok_emb), 0},
    {"per_layer_token_embd.weight", "model.embed_tokens_per_layer.weight", 'V', 'P', PART_PER_LAYER,
     OF_DECODER(per_layer_rows), 0},
    {"per_layer_model_proj.weight", "model.per_layer_model_projection.weight", 'P', 'D', PART_PER_LAYER,
     OF_DECODER(per_layer_proj), 0},
    {"per_layer_proj_norm.weight", "model.per_layer_projection_norm.weight", 'p', 0, PART_PER_LAYER,
     OF_DECODER(per_layer_norm), FORM_NORM},
    {"token_types.weight", "embeddings.token_type_embeddings.weight", 'Y', 'D', PART_TYPES, AROUND(types), 0},
    {"token_embd_norm.weight", "embeddings.LayerNorm.weight", 'D', 0, PART_EMBED_NORM, AROUND(emb_norm), 0},
    {"token_embd_norm.bias", "embeddings.LayerNorm.bias", 'D', 0, PART_EMBED_NORM_BIAS, AROUND(emb_norm_b), 0},
    {"attn_norm.weight", "input_layernorm.weight", 'D', 0, PART_NORM_IN, EACH(attn_norm), FORM_NORM},
    {"attn_norm.bias", "input_layernorm.bias", 'D', 0, PART_NORM_IN_BIAS, MORE(attn_norm_b), 0},
    {"attn_q.weight", "self_attn.q_proj.weight", 'G', 'D', PART_Q, EACH(wq), FORM_Q},
    {"attn_q.bias", "self_attn.q_proj.bias", 'G', 0, PART_QKV_BIAS, EACH(bq), FORM_Q},
    {"attn_k.weight", "self_attn.k_proj.weight", 'K', 'D', PART_KV, EACH(wk), FORM_K},
    {"attn_k.bias", "self_attn.k_proj.bias", 'K', 0, PART_QKV_BIAS, EACH(bk), FORM_K},
    {"attn_v.weight", "self_attn.v_proj.weight", 'W', 'D', PART_V, EACH(wv), FORM_V},
    {"attn_v.bias", "self_attn.v_proj.bias", 'W', 0, PART_QKV_BIAS, EACH(bv), FORM_V},
    {"attn_q_norm.weight", "self_attn.q_norm.weight", 'q', 0, PART_QK_NORM, EACH(q_norm), FORM_NORM},
    {"attn_k_norm.weight", "self_attn.k_norm.weight", 'k', 0, PART_K_NORM, EACH(k_norm), FORM_NORM},
    {"attn_q_a.weight", "self_attn.q_a_proj.weight", 'a', 'D', PART_LATENT_Q, MORE(q_a), 0},
    {"attn_q_a_norm.weight", "self_attn.q_a_layernorm.weight", 'a', 0, PART_LATENT_Q, MORE(q_a_norm), 0},
    {"attn_q_b.weight", "self_attn.q_b_proj.weight", 'G', 'a', PART_LATENT_Q, EACH(wq), 0},
    {"attn_kv_a_mqa.weight", "self_attn.kv_a_proj_with_mqa.weight", 'H', 'D', PART_LATENT, EACH(wk), 0},
    {"attn_kv_a_norm.weight", "self_attn.kv_a_layernorm.weight", 'c', 0, PART_LATENT, MORE(latent_norm), 0},
    {"attn_k_b.weight", "self_attn.kv_b_proj.weight", 'c', 'n', PART_LATENT, MORE(k_b), FORM_K_B},
    {"attn_v_b.weight", "self_attn.kv_b_proj.weight", 'v', 'c', PART_LATENT, MORE(v_b), FORM_V_B},
    {"attn_sinks.weight", "self_attn.sinks", 'h', 0, PART_SINKS, MORE(sinks), 0},
    {"attn_output.weight", "self_attn.o_proj.weight", 'D', 'O', PART_SOFTMAX, EACH(wo), 0},
    {"attn_output.bias", "self_attn.o_proj.bias", 'D', 0, PART_O_BIAS, EACH(bo), 0},
    {"attn_qkv.weight", "linear_attn.in_proj_qkv.weight", 'C', 'D', PART_DELTA, MORE(mix), FORM_MIX},
    {"attn_gate.weight", "linear_attn.in_proj_z.weight", 'Z', 'D', PART_DELTA, MORE(z), FORM_Z},
    {"ssm_beta.weight", "linear_attn.in_proj_b.weight", 'N', 'D', PART_DELTA, MORE(beta), FORM_BETA},
    {"ssm_alpha.weight", "linear_attn.in_proj_a.weight", 'N', 'D', PART_DELTA, MORE(alpha), FORM_ALPHA},
    {"ssm_conv1d.weight", "linear_attn.conv1d.weight", 'C', 'T', PART_DELTA, MORE(conv), FORM_CONV},
    {"ssm_dt.bias", "linear_attn.dt_bias", 'N', 0, PART_DELTA, MORE(dt), 0},
    {"ssm_a", "linear_attn.A_log", 'N', 0, PART_DELTA, MORE(decay), FORM_DECAY},
    {"ssm_norm.weight", "linear_attn.norm.weight", 'I', 0, PART_DELTA, MORE(delta_norm), 0},
    {"ssm_out.weight", "linear_attn.out_proj.weight", 'D', 'Z', PART_DELTA, EACH(wo), 0},
    {"shortconv.in_proj.weight", "conv.in_proj.weight", 'Z', 'D', PART_CONV, MORE(beta), FORM_CONV_B},
    {"shortconv.in_proj.weight", "conv.in_proj.weight", 'Z', 'D', PART_CONV, MORE(z), FORM_CONV_C},
    {"shortconv.in_proj.weight", "conv.in_proj.weight", 'Z', 'D', PART_CONV, MORE(mix), FORM_CONV_X},
    {"shortconv.conv.weight", "conv.conv.weight", 'C', 'T', PART_CONV, MORE(conv), FORM_CONV},
    {"shortconv.out_proj.weight", "conv.out_proj.weight", 'D', 'Z', PART_CONV, EACH(wo), 0},
    {"attn_output_norm.weight", "post_attention_layernorm.weight", 'D', 0, PART_SUM_NORM, EACH(attn_norm), 0},
    {"attn_output_norm.bias", "post_attention_layernorm.bias", 'D', 0, PART_SUM_NORM, MORE(attn_norm_b), 0},
    {"post_attention_norm.weight", "post_attention_layernorm.weight", 'D', 0, PART_NORM_OUT, MORE(attn_out), FORM_NORM},
    {"ffn_norm.weight", "post_attention_layernorm.weight", 'D', 0, PART_FFN_NORM, EACH(ffn_norm), FORM_NORM},
    {"ffn_norm.bias", "post_attention_layernorm.bias", 'D', 0, PART_FFN_NORM_BIAS, MORE(ffn_norm_b), 0},
    {"ffn_gate_inp.weight", "mlp.gate.weight", 'E', 'D', PART_EXPERTS, MORE(router), 0},
    {"ffn_gate_inp.bias", "mlp.gate.bias", 'E', 0, PART_EXPERT_BIAS, MORE(router_b), 0},
    {"exp_probs_b.bias", "mlp.gate.e_score_correction_bias", 'E', 0, PART_CORRECTION, MORE(correction), 0},
    {"ffn_gate_exps.weight", "mlp.experts.@.gate_proj.weight", 'X', 'D', PART_EXPERTS, MORE(gates), FORM_GATES},
    {"ffn_gate_exps.bias", "mlp.experts.@.gate_proj.bias", 'x', 0, PART_EXPERT_BIAS, MORE(gates_b), FORM_GATES},
    {"ffn_up_exps.weight", "mlp.experts.@.up_proj.weight", 'X', 'D', PART_EXPERTS, MORE(ups), FORM_UPS},
    {"ffn_up_exps.bias", "mlp.experts.@.up_proj.bias", 'x', 0, PART_EXPERT_BIAS, MORE(ups_b), FORM_UPS},
    {"ffn_down_exps.weight", "mlp.experts.@.down_proj.weight", 'D', 'X', PART_EXPERTS, MORE(downs), FORM_DOWNS},
    {"ffn_down_exps.bias", "mlp.experts.@.down_proj.bias", 'y', 0, PART_EXPERT_BIAS, MORE(downs_b), FORM_DOWNS},
    {"ffn_gate_inp_shexp.weight", "mlp.shared_expert_gate.weight", 'D', 0, PART_SHARED_ROUTER, MORE(shared_router), 0},
    {"ffn_gate_inp.scale", "mlp.gate.scale", 'D', 0, PART_EXPERT_NORMS, MORE(router_norm), 0},
    {"ffn_down_exps.scale", "mlp.gate.per_expert_scale", 'E', 0, PART_EXPERT_NORMS, MORE(expert_scale), 0},
    {"pre_ffw_norm_2.weight", "pre_feedforward_layernorm_2.weight", 'D', 0, PART_EXPERT_NORMS, MORE(expert_in),
     FORM_NORM},
    {"post_ffw_norm_2.weight", "post_feedforward_layernorm_2.weight", 'D', 0, PART_EXPERT_NORMS, MORE(expert_out),
     FORM_NORM},
    {"post_ffw_norm_1.weight", "post_feedforward_layernorm_1.weight", 'D', 0, PART_EXPERT_NORMS, MORE(shared_out),
     FORM_NORM},
    {"ffn_gate_shexp.weight", "mlp.shared_expert.gate_proj.weight", 'S', 'D', PART_SHARED, EACH(w_gate),
     FORM_SHARED_GATE},
    {"ffn_up_shexp.weight", "mlp.shared_expert.up_proj.weight", 'S', 'D', PART_SHARED, EACH(w_up), FORM_SHARED_UP},
    {"ffn_down_shexp.weight", "mlp.shared_expert.down_proj.weight", 'D', 'S', PART_SHARED, EACH(w_down), 0},
    {"ffn_gate.weight", "mlp.gate_proj.weight", 'F', 'D', PART_GATE, EACH(w_gate), FORM_GATE},
    {"ffn_gate.bias", "mlp.gate_proj.bias", 'F', 0, PART_GATE_BIAS, EACH(b_gate), FORM_GATE},
    {"ffn_up.weight", "mlp.up_proj.weight", 'F', 'D', PART_DENSE, EACH(w_up), FORM_UP},
    {"ffn_up.bias", "mlp.up_proj.bias", 'F', 0, PART_DENSE_BIAS, EACH(b_up), FORM_UP},
    {"ffn_down.weight", "mlp.down_proj.weight", 'D', 'F', PART_DENSE, EACH(w_down), 0},
    {"ffn_down.bias", "mlp.down_proj.bias", 'D', 0, PART_DENSE_BIAS, EACH(b_down), 0},
    {"post_ffw_norm.weight", "post_feedforward_layernorm.weight", 'D', 0, PART_NORM_OUT, MORE(ffn_out), FORM_NORM},
    {"inp_gate.weight", "per_layer_input_gate.weight", 'p', 'D', PART_PER_LAYER, MORE(per_layer_gate), 0},
    {"proj.weight", "per_layer_projection.weight", 'D', 'p', PART_PER_LAYER, MORE(per_layer_out), 0},
    {"post_norm.weight", "post_per_layer_input_norm.weight", 'D', 0, PART_PER_LAYER, MORE(per_layer_after), FORM_NORM},
    {"layer_output_scale.weight", "layer_scalar", '1', 0, PART_OUT_SCALE, MORE(out_scale), 0},
    {"layer_output_norm.weight", "post_mlp_layernorm.weight", 'D', 0, PART_SUM_NORM, EACH(ffn_norm), 0},
    {"layer_output_norm.bias", "post_mlp_layernorm.bias", 'D', 0, PART_SUM_NORM, MORE(ffn_norm_b), 0},
    {"output_norm.weight", "model.norm.weight", 'D', 0, PART_FINAL_NORM, OF(final_norm), FORM_NORM},
    {"output_norm.bias", "model.norm.bias", 'D', 0, PART_FINAL_BIAS, OF_DECODER(final_norm_b), 0},
    {"mlm.dense.weight", "head.dense.weight", 'D', 'D', PART_WORDS, AROUND(mlm_dense), 0},
    {"mlm.dense.bias", "head.dense.bias", 'D', 0, PART_WORDS, AROUND(mlm_dense_b), 0},
    {"mlm.norm.weight", "head.norm.weight", 'D', 0, PART_WORDS, AROUND(mlm_norm), 0},
    {"mlm.norm.bias", "head.norm.bias", 'D', 0, PART_WORDS, AROUND(mlm_norm_b), 0},
    {"output.weight", "lm_head.weight", 'V', 'D', PART_HEAD, OF(lm_head), 0},
    {"output.bias", "lm_head.bias", 'V', 0, PART_HEAD_BIAS, OF_DECODER(head_b), 0},
    {"mlm.bias", "lm_head.bias", 'V', 0, PART_WORDS, AROUND(mlm_bias), 0},
    {"pooler.weight", "pooler.dense.weight", 'D', 'D', PART_POOLER, AROUND(pooler), 0},
    {"pooler.bias", "pooler.dense.bias", 'D', 0, PART_POOLER, AROUND(pooler_b), 0},
    {"cls.weight", "head.dense.weight", 'D', 'D', PART_CLASSIFIER, AROUND(cls_dense), 0},
    {"cls.bias", "head.dense.bias", 'D', 0, PART_CLASSIFIER, AROUND(cls_dense_b), 0},
    {"cls.norm.weight", "head.norm.weight", 'D', 0, PART_CLASSIFIER, AROUND(cls_norm), 0},
    {"cls.norm.bias", "head.norm.bias", 'D', 0, PART_CLASSIFIER, AROUND(cls_norm_b), 0},
    {"cls.output.weight", "classifier.weight", 'L', 'D', PART_LABELS, AROUND(cls_out), 0},
    {"cls.output.bias", "classifier.bias", 'L', 0, PART_CLASSIFIER, AROUND(cls_out_b), 0},
    {0},
};

/* ---- what there is ---- */

const char *layer_part_name(const Decoder *x, const LayerPart *p, int hf) {
    for (const LayerName *n = x->traits->names; n && n->part; n++)
        if (strcmp(n->part, p->gguf) == 0 && (hf ? n->hf : n->gguf)) return hf ? n->hf : n->gguf;
    return hf ? p->hf : p->gguf;
}

size_t layer_size(const Config *c, char letter) {
    const Decoder *x = c->decoder;
    const size_t q = decoder_size(c, 'Q'), k = decoder_size(c, 'K'), head = decoder_size(c, 'H'),
                 keys = (size_t)x->key_heads * (size_t)x->key_dim,
                 values = x->traits->others == OTHERS_ARE_CONV ? (size_t)c->d_model
                                                               : (size_t)x->value_heads * (size_t)x->value_dim,
                 experts = (size_t)x->n_experts, heads = (size_t)c->n_heads;
    const QkNorm qk = x->traits->qk;
    const int latent = x->traits->latent;
    switch (letter) {
    case 'G': return latent ? heads * (size_t)(x->nope_dim + c->rope.rotary_dim) : x->traits->gated_output ? 2 * q : q;
    case 'O': return latent ? heads * (size_t)x->v_dim : q;
    case 'a': return (size_t)x->q_rank;
    case 'c': return (size_t)x->kv_rank;
    case 'n': return (size_t)x->nope_dim;
    case 'v': return (size_t)x->v_dim;
    case 'p': return (size_t)x->per_layer;
    case 'P': return (size_t)x->per_layer * (size_t)c->n_layers;
    case '1': return 1;
    case 'q': return qk == QK_HEAD ? head : q;
    case 'k': return qk == QK_HEAD ? head : k;
    case 'h': return heads;
    case 'E': return experts;
    case 'X': return (size_t)x->d_expert;
    case 'x': return experts * (size_t)x->d_expert;
    case 'y': return experts * (size_t)c->d_model;
    case 'S': return x->traits->expert_norms ? decoder_size(c, 'F') : (size_t)x->d_shared; /* the usual network's */
    case 'C': return 2 * keys + values;
    case 'Z': return values;
    case 'N': return (size_t)x->value_heads;
    case 'I': return (size_t)x->value_dim;
    case 'T': return (size_t)x->conv;
    case 'Y': return (size_t)c->roformer.n_types;
    case 'L': return (size_t)c->roformer.n_labels;
    default: return decoder_size(c, letter);
    }
}

size_t layer_part_list(const Config *c, const LayerPart *p) {
    if (!p->cols) return 0;
    if (p->form >= FORM_GATES && p->form <= FORM_DOWNS) return (size_t)c->decoder->n_experts;
    return c->decoder->traits->latent && (p->form == FORM_K_B || p->form == FORM_V_B) ? (size_t)c->n_heads : 0;
}

/* What an encoder has around its layers, a decoder not. */
static int around_has(const Config *c, const LayerPart *p) {
    const RoformerConfig *f = &c->roformer;
    switch (p->when) {
    case PART_TYPES: return f->n_types > 0;
    case PART_EMBED_NORM: return c->decoder->traits->layernorm;
    case PART_POOLER: return f->pooler != POOLER_NONE;
    case PART_CLASSIFIER: return f->classifier != CLASSIFIER_NONE ? -1 : 0;
    case PART_LABELS: return f->classifier != CLASSIFIER_NONE;
    case PART_WORDS: return f->classifier == CLASSIFIER_NONE ? -1 : 0;
    default: return -1;
    }
}

/* Of layers that attend: matrices for q, k and v, or latent.h's; k and v of those alone that keep them. */
static int attending_has(const Config *c, LayerPartWhen when, int l) {
    const Decoder *x = c->decoder;
    switch (when) {
    case PART_SOFTMAX: return 1;
    case PART_QKV_BIAS: return c->qkv_bias;
    case PART_O_BIAS: return c->o_bias;
    case PART_QK_NORM: return x->traits->qk ? c->qk_norm : 0;
    case PART_Q: return x->q_rank == 0;
    case PART_K_NORM: return x->traits->qk && !layer_borrows(c, l) ? c->qk_norm : 0;
    case PART_KV: return x->traits->latent == LATENT_NOT && !layer_borrows(c, l);
    case PART_V:
        if (x->traits->latent || layer_borrows(c, l)) return 0;
        return x->k_is_v < 0 ? -1 : !x->k_is_v || c->windowed[l];
    case PART_LATENT: return x->traits->latent != LATENT_NOT;
    default: return x->q_rank > 0;
    }
}

int layer_has(const Config *c, const LayerPart *p, int l) {
    const Decoder *x = c->decoder;
    const LayerTraits *t = x->traits;
    const LayerKind *kind = l < 0 ? NULL : &x->kinds[l];
    if (layer_part_repeats(p) != (l >= 0)) return 0;
    if (p->in == IN_ENCODER) return c->mask == MASK_CAUSAL ? 0 : around_has(c, p);
    int softmax = kind && kind->mixer == MIXER_SOFTMAX, dense = kind && !kind->experts, norm = t->bare_norms ? -1 : 1;
    switch (p->when) {
    case PART_HEAD: return c->mask == MASK_CAUSAL ? c->own_head : c->own_head ? -1 : 0;
    case PART_HEAD_BIAS: return c->mask == MASK_CAUSAL ? -1 : 0;
    case PART_FINAL_NORM: return t->norm_sum ? 0 : norm;
    case PART_FINAL_BIAS: return t->layernorm && !t->norm_sum ? -1 : 0;
    case PART_SUM_NORM: return t->norm_sum;
    case PART_NORM_IN: return t->norm_in && !(t->first_bare && l == 0) ? norm : 0;
    case PART_NORM_IN_BIAS: return t->norm_in && t->layernorm && !(t->first_bare && l == 0) ? -1 : 0;
    case PART_SOFTMAX: case PART_Q: case PART_KV: case PART_V: case PART_QKV_BIAS: case PART_QK_NORM: case PART_K_NORM:
    case PART_LATENT: case PART_LATENT_Q: case PART_O_BIAS:
        return softmax ? attending_has(c, p->when, l) : 0;
    case PART_PER_LAYER: return x->per_layer > 0;
    case PART_OUT_SCALE: return t->value_norm ? -1 : 0;
    case PART_EXPERT_NORMS: return !dense && t->expert_norms;
    case PART_SINKS: return t->sinks;
    case PART_DELTA: return kind && kind->mixer == MIXER_DELTA;
    case PART_CONV: return kind && kind->mixer == MIXER_CONV;
    case PART_NORM_OUT: return t->norm_out;
    case PART_FFN_NORM: return t->norm_in && x->parallel != SHARED_NORM ? norm : 0;
    case PART_FFN_NORM_BIAS: return t->norm_in && x->parallel != SHARED_NORM && t->layernorm ? -1 : 0;
    case PART_EXPERTS: return !dense;
    case PART_EXPERT_BIAS: return !dense && t->gate == GATE_CLAMPED;
    case PART_CORRECTION: return dense ? 0 : t->correction == CORRECTION_IF_THERE ? -1 : t->correction == CORRECTION;
    case PART_SHARED: return !dense && x->d_shared > 0;
    case PART_SHARED_ROUTER: return !dense && x->d_shared > 0 && t->shared_expert == 1;
    case PART_GATE: return dense && t->gate != GATE_NONE;
    case PART_GATE_BIAS: return dense && t->gate != GATE_NONE ? c->mlp_bias : 0;
    case PART_DENSE: return dense;
    case PART_DENSE_BIAS: return dense ? c->mlp_bias : 0;
    default: return 1;
    }
}
