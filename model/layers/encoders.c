/* model/layers/encoders.c - the encoders with RoPE, a row each: nomic-embed, ModernBERT, EuroBERT, NeoBERT, GTE, jina
 * v3. (EmbeddingGemma is a Gemma 3 whose config.json says that it sees both sides.) Sources: transformers'
 * modeling_*.py; the code beside the models on the Hub; llama.cpp's files of the same names. */
#include "rows.h"

#include "base/json.h"
#include "config.h"
#include "model/roformer_kinds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- names ---- */

static const char *const nomic_renames[][2] = {
    {"nomic_bert.", ""}, {"bert.", ""}, {"embeddings.word_embeddings.", "model.embed_tokens."},
    {"encoder.layers.", "model.layers."}, {"emb_ln.", "embeddings.LayerNorm."},
    {".attn.Wqkv.", ".self_attn.qkv_proj."}, {".attn.out_proj.", ".self_attn.o_proj."},
    {".mlp.fc11.", ".mlp.up_proj."}, {".mlp.fc12.", ".mlp.gate_proj."}, {".mlp.fc2.", ".mlp.down_proj."},
    {".norm1.", ".post_attention_layernorm."}, {".norm2.", ".post_mlp_layernorm."},
    {"cls.predictions.transform.dense.", "head.dense."}, {"cls.predictions.transform.layer_norm.", "head.norm."},
    {"cls.predictions.decoder.", "lm_head."}, {"cls.predictions.bias", "lm_head.bias"}, {0}};
static const char *const modern_renames[][2] = {
    {"model.embeddings.", "embeddings."}, {"embeddings.norm.", "embeddings.LayerNorm."},
    {"embeddings.tok_embeddings.", "model.embed_tokens."}, {".attn_norm.", ".input_layernorm."},
    {".mlp_norm.", ".post_attention_layernorm."}, {".attn.Wqkv.", ".self_attn.qkv_proj."},
    {".attn.Wo.", ".self_attn.o_proj."}, {".mlp.Wi.", ".mlp.gate_up_proj."}, {".mlp.Wo.", ".mlp.down_proj."},
    {"model.final_norm.", "model.norm."}, {"final_norm.", "model.norm."}, {"decoder.", "lm_head."}, {0}};
static const char *const neo_renames[][2] = {
    {"model.encoder.", "model.embed_tokens."}, {"model.transformer_encoder.", "model.layers."},
    {"transformer_encoder.", "model.layers."}, {"encoder.weight", "model.embed_tokens.weight"},
    {".qkv.", ".self_attn.qkv_proj."}, {".wo.", ".self_attn.o_proj."}, {".ffn.w12.", ".mlp.gate_up_proj."},
    {".ffn.w3.", ".mlp.down_proj."}, {".attention_norm.", ".input_layernorm."},
    {".ffn_norm.", ".post_attention_layernorm."}, {"model.layer_norm.", "model.norm."},
    {"layer_norm.", "model.norm."}, {"decoder.", "lm_head."}, {"dense.", "head.dense."}, {0}};
static const char *const gte_renames[][2] = {
    {"new.", ""}, {"gte.", ""}, {"embeddings.word_embeddings.", "model.embed_tokens."},
    {"encoder.layer.", "model.layers."}, {".attention.qkv_proj.", ".self_attn.qkv_proj."},
    {".attention.q_proj.", ".self_attn.q_proj."}, {".attention.k_proj.", ".self_attn.k_proj."},
    {".attention.v_proj.", ".self_attn.v_proj."},
    {".attention.o_proj.", ".self_attn.o_proj."}, {".attn_ln.", ".post_attention_layernorm."},
    {".mlp_ln.", ".post_mlp_layernorm."}, {"lm_head.dense.", "head.dense."}, {"lm_head.norm.", "head.norm."},
    {"lm_head.layer_norm.", "head.norm."}, {"lm_head.decoder.", "lm_head."}, {0}};
static const char *const jina_renames[][2] = {
    {"roberta.", ""}, {"jina_embeddings_v3.", ""}, {"lm_head.dense.", "head.dense."},
    {"lm_head.layer_norm.", "head.norm."}, {"lm_head.decoder.", "lm_head."}, {"classifier.dense.", "head.dense."},
    {"classifier.out_proj.", "classifier."}, {"embeddings.word_embeddings.", "model.embed_tokens."},
    {"encoder.layers.", "model.layers."}, {"emb_ln.", "embeddings.LayerNorm."},
    {".mixer.Wqkv.", ".self_attn.qkv_proj."}, {".mixer.out_proj.", ".self_attn.o_proj."},
    {".mlp.fc1.", ".mlp.up_proj."}, {".mlp.fc2.", ".mlp.down_proj."}, {".norm1.", ".post_attention_layernorm."},
    {".norm2.", ".post_mlp_layernorm."}, {0}};
static const char *const euro_renames[][2] = {{"dense.", "head.dense."}, {0}};

static const LayerName neo_names[] = {{"output_norm.weight", "enc.output_norm.weight", NULL}, {0}};

/* ---- keys ---- */

/* The classifier that the tensors have: of whole texts, or (by the class's name) of tokens. */
static void read_classifier(KeyReader *r, Config *c, const char *out) {
    RoformerConfig *f = &c->roformer;
    const Tensor *t = weights_find(r->w, key_is_hf(r) ? out : "cls.output.weight");
    char kind[32] = "";
    int of_tokens = key_word(r, "classifier.kind", NULL, kind, sizeof kind) && strcmp(kind, "token") == 0;
    if (key_is_hf(r)) of_tokens = json_list_holds(r->w->config, "architectures", "TokenClassification");
    if (!t || t->n_dims != 2) return;
    if (key_is_hf(r) && json_list_holds(r->w->config, "architectures", "QuestionAnswering"))
        key_complain(r, "architectures", "a head that points at an answer's first and last token is not read here");
    f->classifier = of_tokens ? CLASSIFIER_TOKEN : CLASSIFIER_SEQUENCE;
    f->n_labels = (int)key_range(r, out, (double)t->shape[0], 1, 65536);
}

/* A text's classifier asks BERT's pooler. */
static void read_pooler(RoformerConfig *f) {
    if (f->classifier == CLASSIFIER_SEQUENCE) f->reads = CLASSIFIER_READS_POOLED, f->pooler = POOLER_TANH;
}

static void read_types(KeyReader *r, Config *c, double usual) {
    const MetaValue *v = weights_meta(r->w, "tokenizer.ggml.token_type_count");
    int64_t n = 0;
    if (key_is_hf(r)) c->roformer.n_types = (int)key_int(r, NULL, "type_vocab_size", usual, 0, 65536);
    else if (meta_integer(v, &n) && weights_find(r->w, "token_types.weight"))
        c->roformer.n_types = (int)key_range(r, v->key, (double)n, 0, 65536);
}

static void refuse(KeyReader *r, const char *key, int bad, const char *why) {
    const MetaValue *v = key_is_hf(r) ? r->source->look(r, NULL, key) : NULL;
    if (v && bad) key_complain(r, r->key, why);
}

/* Of flash-attention's rotary embedding, which nomic's and jina's code have. */
static void refuse_turns(KeyReader *r) {
    refuse(r, "rotary_emb_interleaved", key_said(r, "rotary_emb_interleaved") == 1, "pairs side by side are not known");
    refuse(r, "rotary_emb_scale_base", 1, "xpos is not known for encoders");
}

static void nomic(KeyReader *r, Config *c) {
    char word[32] = "";
    Decoder *x = c->decoder;
    read_types(r, c, 2);
    if (key_word(r, NULL, "activation_function", word, sizeof word)) {
        int gelu = strcmp(word, "geglu") == 0;
        x->activation = gelu ? ACTIVATION_GELU : ACTIVATION_SILU;
        if (!gelu && strcmp(word, "swiglu") != 0) key_complain(r, r->key, "only swiglu and geglu are known here");
    }
    c->roformer.activation = x->activation;
    refuse(r, "rotary_scaling_factor", 1, "frequencies that change with the length are not known for encoders");
    refuse(r, "prenorm", key_said(r, "prenorm") == 1, "norms in front are not known here");
    refuse_turns(r);
    refuse(r, "use_rms_norm", key_said(r, "use_rms_norm") == 1, "RMSNorm is not known here");
    refuse(r, "parallel_block", key_said(r, "parallel_block") == 1, "branches side by side are not known here");
    refuse(r, "scale_attn_weights", key_said(r, "scale_attn_weights") == 0, "scores without a scale are not known");
    refuse(r, "causal", key_said(r, "causal") == 1, "a causal nomic-bert is not known here");
    if (weights_find(r->w, "embeddings.position_embeddings.weight") && !key_number(r, NULL, "rotary_emb_fraction", 0))
        key_complain(r, "rotary_emb_fraction", "is missing: that means learned positions, which are not known here");
    refuse(r, "moe_every_n_layers", key_number(r, NULL, "moe_every_n_layers", 0) > 0, "experts are not known here");
    read_classifier(r, c, "classifier.weight");
    read_pooler(&c->roformer);
}

static void modern(KeyReader *r, Config *c) {
    char word[32] = "mean"; /* llama.cpp's files do not say it, and mean this */
    RoformerConfig *f = &c->roformer;
    if (key_is_hf(r)) snprintf(word, sizeof word, "cls");
    c->norm_eps = (float)key_number(r, NULL, "norm_eps", (double)c->norm_eps);
    if (key_is_hf(r)) c->window = key_int(r, NULL, "local_attention", 128, 1, MOST_COUNTED);
    layer_window_sides(r, c, "local_attention");
    key_word(r, "classifier.pooling", "classifier_pooling", word, sizeof word);
    f->reads = strcmp(word, "mean") == 0 ? CLASSIFIER_READS_MEAN : CLASSIFIER_READS_FIRST;
    if (strcmp(word, "mean") != 0 && strcmp(word, "cls") != 0)
        key_complain(r, "classifier_pooling", "only cls and mean are known here");
    snprintf(word, sizeof word, "gelu");
    key_word(r, NULL, "classifier_activation", word, sizeof word);
    f->activation = (int)key_activation(r, word);
    read_classifier(r, c, "classifier.weight");
}

static void euro(KeyReader *r, Config *c) {
    char word[32] = "late";
    RoformerConfig *f = &c->roformer;
    key_word(r, "classifier.pooling", "classifier_pooling", word, sizeof word);
    f->reads = strcmp(word, "late") == 0 ? CLASSIFIER_READS_EACH
               : strcmp(word, "mean") == 0 ? CLASSIFIER_READS_MEAN : CLASSIFIER_READS_FIRST;
    if (f->reads == CLASSIFIER_READS_FIRST && strcmp(word, "bos") != 0 && strcmp(word, "cls") != 0)
        key_complain(r, "classifier_pooling", "only bos, mean and late are known here");
    f->activation = ACTIVATION_GELU;
    read_classifier(r, c, "classifier.weight");
}

/* Its width is two thirds of intermediate_size in whole eights, but not in all its descendants: the matrix says it. */
static void neo(KeyReader *r, Config *c) {
    const char *name = key_is_hf(r) ? "model.layers.0.mlp.gate_up_proj.weight" : "blk.0.ffn_up.weight";
    const Tensor *t = weights_find(r->w, name);
    if (key_is_hf(r)) c->norm_eps = (float)key_number(r, NULL, "norm_eps", 1e-6);
    if (t && t->n_dims == 2)
        c->d_ff = c->ff_rows = (int)key_range(r, t->name, (double)(t->shape[0] / 2), 1, CONFIG_MAX_DIM);
    refuse(r, "rope", key_said(r, "rope") == 0, "learned positions are not known here");
    refuse(r, "rms_norm", key_said(r, "rms_norm") == 0, "LayerNorm is not known here");
    c->roformer.activation = ACTIVATION_TANH;
    read_classifier(r, c, "classifier.weight");
}

/* Su's fixed NTK is linear interpolation by s^(2/d) of a base that is s times as large. */
static void gte(KeyReader *r, Config *c) {
    RoformerConfig *f = &c->roformer;
    read_types(r, c, 1);
    if (strcmp(c->rope.scaling->name, "ntk-fixed") == 0 && c->rope.numbers->factor >= 1) {
        double s = c->rope.numbers->factor;
        c->rope.theta *= s;
        c->rope.scaling = rope_scaling("linear");
        c->rope.numbers->factor = pow(s, 2.0 / c->rope.rotary_dim);
    }
    int hub = key_is_hf(r) && json_is(json_get(r->w->config, "model_type"), "new");
    f->activation = hub ? c->decoder->activation : ACTIVATION_GELU; /* of the head of words: transformers has GELU */
    read_classifier(r, c, "classifier.weight");
    int pools = weights_find(r->w, key_is_hf(r) ? "pooler.dense.weight" : "pooler.weight") != NULL;
    if (!pools && f->n_labels == 1) f->classifier = CLASSIFIER_NONE; /* how much a token counts in a search */
    read_pooler(f);
    refuse(r, "logn_attention_scale", key_said(r, "logn_attention_scale") == 1, "log n is not known here");
    char norm[32] = "layer_norm", positions[32] = "rope";
    if (key_word(r, NULL, "position_embedding_type", positions, sizeof positions) && strcmp(positions, "rope") != 0)
        key_complain(r, r->key, "only rope is known here");
    if (key_word(r, NULL, "layer_norm_type", norm, sizeof norm) && strcmp(norm, "layer_norm") != 0)
        key_complain(r, r->key, "only layer_norm is known here");
}

/* XLM-RoBERTa's own model_type, but rotary. */
static void jina(KeyReader *r, Config *c) {
    char word[32] = "rotary";
    if (key_is_hf(r) && json_is(json_get(r->w->config, "model_type"), "xlm-roberta"))
        snprintf(word, sizeof word, "absolute");
    key_word(r, NULL, "position_embedding_type", word, sizeof word);
    if (strcmp(word, "rotary") != 0)
        key_complain(r, "position_embedding_type", "only jina-embeddings-v3's rotary ones are known here");
    refuse_turns(r);
    read_types(r, c, 1);
    read_classifier(r, c, "classifier.weight");
    c->roformer.activation = c->roformer.classifier == CLASSIFIER_NONE ? ACTIVATION_GELU : ACTIVATION_TANH;
}

/* ---- rows ---- */

static const LayerTraits nomic_is = {.gguf = "nomic-bert", .encoder = 1, .norm_sum = 1, .layernorm = 1,
                                     .renames = nomic_renames, .settle = nomic},
    modern_is = {.gguf = "modern-bert", .encoder = 1, .norm_in = 1, .layernorm = 1, .first_bare = 1, .gelu = 2,
                 .fused_gate_up = 1, .period = 3, .full_first = 1, .others = OTHERS_HAVE_WINDOW, .local_rope = 1,
                 .renames = modern_renames, .settle = modern},
    euro_is = {.encoder = 1, .norm_in = 1, .renames = euro_renames, .settle = euro},
    neo_is = {.gguf = "neo-bert", .encoder = 1, .norm_in = 1, .fused_heads = FUSED_HEADS, .fused_gate_up = 1,
              .names = neo_names, .renames = neo_renames, .settle = neo},
    gte_is = {.gguf = "gte", .encoder = 1, .norm_sum = 1, .layernorm = 1, .gelu = 2,
              .renames = gte_renames, .settle = gte},
    jina_is = {.gguf = "jina-bert-v3", .encoder = 1, .norm_sum = 1, .layernorm = 1, .gate = GATE_NONE, .gelu = 2,
               .renames = jina_renames, .settle = jina};

ROW(nomic_row, "nomic_bert", ROPE_HALF, nomic_is, .n_ctx = 2048, .tied = 1, .theta = 1000, .partial = 1,
    .eps = 1e-12f);
ROW(nomic_gguf_row, "nomic-bert", ROPE_HALF, nomic_is, .n_ctx = 2048, .tied = 1);
ROW(modern_row, "modernbert", ROPE_HALF, modern_is, .n_ctx = 8192, .window = 128, .tied = 1, .theta = 160000,
    .local_theta = 10000, .eps = 1e-5f);
ROW(modern_gguf_row, "modern-bert", ROPE_HALF, modern_is, .n_ctx = 8192, .tied = 1, .local_theta = 10000);
ROW(euro_row, "eurobert", ROPE_HALF, euro_is, .n_ctx = 8192, .eps = 1e-5f);
ROW(neo_row, "neobert", ROPE_INTERLEAVED, neo_is, .n_ctx = 4096, .interleaved = 1, .eps = 1e-6f);
ROW(neo_gguf_row, "neo-bert", ROPE_INTERLEAVED, neo_is, .n_ctx = 4096);
ROW(gte_row, "gte", ROPE_HALF, gte_is, .n_ctx = 8192, .tied = 1, .theta = 160000, .eps = 1e-12f);
ROW(gte_old_row, "new", ROPE_HALF, gte_is, .n_ctx = 8192, .tied = 1, .eps = 1e-12f);
ROW(jina_row, "jina_embeddings_v3", ROPE_HALF, jina_is, .n_ctx = 8194, .tied = 1, .theta = 20000, .eps = 1e-5f);
ROW(jina_old_row, "xlm-roberta", ROPE_HALF, jina_is, .n_ctx = 8194, .tied = 1, .theta = 10000, .eps = 1e-5f);
ROW(jina_gguf_row, "jina-bert-v3", ROPE_HALF, jina_is, .n_ctx = 8194, .tied = 1);
