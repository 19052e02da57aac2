/* model/roformer_names.c - the table of names, and matching against it. */
#include "roformer_names.h"

#include <stdio.h>
#include <string.h>

enum { MATRIX = NAME_BODY | NAME_TRANSPOSED | NAME_V1 | NAME_V2, VECTOR = NAME_BODY | NAME_V1 };

static const RoformerName rows[] = {
    {"token_embd.weight", "embeddings.word_embeddings.weight", "bert/embeddings/word_embeddings", "VE",
     NAME_BODY | NAME_ALL, 0},
    {"token_types.weight", "embeddings.token_type_embeddings.weight", "bert/embeddings/token_type_embeddings", "TE",
     NAME_BODY | NAME_ALL, 0},
    {"token_embd_norm.weight", "embeddings.LayerNorm.weight", "bert/embeddings/LayerNorm/gamma", "E", VECTOR, 0},
    {"token_embd_norm.bias", "embeddings.LayerNorm.bias", "bert/embeddings/LayerNorm/beta", "E", VECTOR, 0},
    {"token_embd_proj.weight", "embeddings_project.weight", "bert/encoder/embedding_hidden_mapping_in/kernel", "HE",
     MATRIX | NAME_PROJECTED, 0},
    {"token_embd_proj.bias", "embeddings_project.bias", "bert/encoder/embedding_hidden_mapping_in/bias", "H",
     VECTOR | NAME_PROJECTED, 0},
    {"blk.#.attn_q.weight", "encoder.layer.#.attention.self.query.weight",
     "bert/encoder/layer_#/attention/self/query/kernel", "KH", MATRIX, 0},
    {"blk.#.attn_q.bias", "encoder.layer.#.attention.self.query.bias", "bert/encoder/layer_#/attention/self/query/bias",
     "K", VECTOR, 0},
    {"blk.#.attn_k.weight", "encoder.layer.#.attention.self.key.weight",
     "bert/encoder/layer_#/attention/self/key/kernel", "KH", MATRIX, 0},
    {"blk.#.attn_k.bias", "encoder.layer.#.attention.self.key.bias", "bert/encoder/layer_#/attention/self/key/bias",
     "K", VECTOR, 0},
    {"blk.#.attn_v.weight", "encoder.layer.#.attention.self.value.weight",
     "bert/encoder/layer_#/attention/self/value/kernel", "DH", MATRIX, 0},
    {"blk.#.attn_v.bias", "encoder.layer.#.attention.self.value.bias", "bert/encoder/layer_#/attention/self/value/bias",
     "D", VECTOR, 0},
    {"blk.#.attn_output.weight", "encoder.layer.#.attention.output.dense.weight",
     "bert/encoder/layer_#/attention/output/dense/kernel", "HD", MATRIX, 0},
    {"blk.#.attn_output.bias", "encoder.layer.#.attention.output.dense.bias",
     "bert/encoder/layer_#/attention/output/dense/bias", "H", VECTOR, 0},
    {"blk.#.attn_output_norm.weight", "encoder.layer.#.attention.output.LayerNorm.weight",
     "bert/encoder/layer_#/attention/output/LayerNorm/gamma", "H", VECTOR, 0},
    {"blk.#.attn_output_norm.bias", "encoder.layer.#.attention.output.LayerNorm.bias",
     "bert/encoder/layer_#/attention/output/LayerNorm/beta", "H", VECTOR, 0},
    {"blk.#.ffn_up.weight", "encoder.layer.#.intermediate.dense.weight",
     "bert/encoder/layer_#/intermediate/dense/kernel", "IH", MATRIX, 0},
    {"blk.#.ffn_up.bias", "encoder.layer.#.intermediate.dense.bias", "bert/encoder/layer_#/intermediate/dense/bias",
     "I", VECTOR, 0},
    {"blk.#.ffn_down.weight", "encoder.layer.#.output.dense.weight", "bert/encoder/layer_#/output/dense/kernel", "HI",
     MATRIX, 0},
    {"blk.#.ffn_down.bias", "encoder.layer.#.output.dense.bias", "bert/encoder/layer_#/output/dense/bias", "H", VECTOR,
     0},
    {"blk.#.layer_output_norm.weight", "encoder.layer.#.output.LayerNorm.weight",
     "bert/encoder/layer_#/output/LayerNorm/gamma", "H", VECTOR, 0},
    {"blk.#.layer_output_norm.bias", "encoder.layer.#.output.LayerNorm.bias",
     "bert/encoder/layer_#/output/LayerNorm/beta", "H", VECTOR, 0},
    {"blk.#.gau_in.weight", "encoder.layer.#.gau.i_dense.weight", "GAU_alpha/encoder/layer_#/gau/i_dense/kernel", "GH",
     NAME_BODY | NAME_TRANSPOSED | NAME_GAU, 0},
    {"blk.#.gau_q_scale.weight", "encoder.layer.#.gau.q_scaleoffset.weight",
     "GAU_alpha/encoder/layer_#/gau/q_scaleoffset/gamma", "S", NAME_BODY | NAME_GAU, 0},
    {"blk.#.gau_k_scale.weight", "encoder.layer.#.gau.k_scaleoffset.weight",
     "GAU_alpha/encoder/layer_#/gau/k_scaleoffset/gamma", "S", NAME_BODY | NAME_GAU, 0},
    {"blk.#.gau_out.weight", "encoder.layer.#.gau.o_dense.weight", "GAU_alpha/encoder/layer_#/gau/o_dense/kernel", "HI",
     NAME_BODY | NAME_TRANSPOSED | NAME_GAU, 0},
    {"position_embd.weight", "embeddings.position_embeddings.weight", "bert/embeddings/position_embeddings", "PE",
     NAME_BODY | NAME_POSITIONS, 0},
    {"blk.0.attn_rel_b.weight", "encoder.relative_attention_bias.weight", NULL, "BA", NAME_BODY | NAME_POSITIONS, 0},
    {NULL, "encoder.embed_positions.weight", NULL, "", NAME_BODY | NAME_COMPUTED, 0},
    {NULL, "embeddings.position_ids", NULL, "", NAME_BODY | NAME_COMPUTED, 0},
    {"pooler.weight", "pooler.dense.weight", "bert/pooler/dense/kernel", "HH", NAME_BODY | NAME_TRANSPOSED, 'p'},
    {"pooler.bias", "pooler.dense.bias", "bert/pooler/dense/bias", "H", NAME_BODY, 'p'},
    {"mlm.dense.weight", "cls.predictions.transform.dense.weight", "cls/predictions/transform/dense/kernel", "EH",
     NAME_TRANSPOSED, 'm'},
    {"mlm.dense.bias", "cls.predictions.transform.dense.bias", "cls/predictions/transform/dense/bias", "E", 0, 'm'},
    {"mlm.norm.weight", "cls.predictions.transform.LayerNorm.weight", "cls/predictions/transform/LayerNorm/gamma", "E",
     0, 'm'},
    {"mlm.norm.bias", "cls.predictions.transform.LayerNorm.bias", "cls/predictions/transform/LayerNorm/beta", "E", 0,
     'm'},
    {"mlm.bias", "cls.predictions.bias", "cls/predictions/output_bias", "V", 0, 'm'},
    {"mlm.decoder.weight", "cls.predictions.decoder.weight", NULL, "VE", NAME_OPTIONAL, 't'},
    {"mlm.bias", "cls.predictions.decoder.bias", NULL, "V", NAME_ALIAS, 'm'},
    {"mlm.dense.weight", "generator_predictions.dense.weight", NULL, "EH", NAME_ALIAS, 'm'},
    {"mlm.dense.bias", "generator_predictions.dense.bias", NULL, "E", NAME_ALIAS, 'm'},
    {"mlm.norm.weight", "generator_predictions.LayerNorm.weight", NULL, "E", NAME_ALIAS, 'm'},
    {"mlm.norm.bias", "generator_predictions.LayerNorm.bias", NULL, "E", NAME_ALIAS, 'm'},
    {"mlm.bias", "generator_lm_head.bias", NULL, "V", NAME_ALIAS, 'm'},
    {"mlm.decoder.weight", "generator_lm_head.weight", NULL, "VE", NAME_ALIAS, 't'},
    {"disc.dense.weight", "discriminator_predictions.dense.weight", NULL, "HH", 0, 'd'},
    {"disc.dense.bias", "discriminator_predictions.dense.bias", NULL, "H", 0, 'd'},
    {"disc.out.weight", "discriminator_predictions.dense_prediction.weight", NULL, "1H", 0, 'd'},
    {"disc.out.bias", "discriminator_predictions.dense_prediction.bias", NULL, "1", 0, 'd'},
    {"nsp.weight", "cls.seq_relationship.weight", "cls/seq_relationship/output_weights", "2H", 0, 'n'},
    {"nsp.bias", "cls.seq_relationship.bias", "cls/seq_relationship/output_bias", "2", 0, 'n'},
    {"cls.dense.weight", "classifier.dense.weight", NULL, "HH", 0, 's'},
    {"cls.dense.bias", "classifier.dense.bias", NULL, "H", 0, 's'},
    {"cls.out.weight", "classifier.out_proj.weight", NULL, "LH", 0, 's'},
    {"cls.out.bias", "classifier.out_proj.bias", NULL, "L", 0, 's'},
    {"cls.weight", "classifier.weight", NULL, "LH", 0, 'c'},
    {"cls.bias", "classifier.bias", NULL, "L", 0, 'c'},
    {"qa.weight", "qa_outputs.weight", NULL, "LH", 0, 'q'},
    {"qa.bias", "qa_outputs.bias", NULL, "L", 0, 'q'},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static const char *const prefixes[] = {"roformer.", "gau_alpha.", "electra.", "bert.", ""};
enum { N_PREFIXES = sizeof prefixes / sizeof *prefixes };

const RoformerName *roformer_names_row(size_t i) { return i < N_ROWS ? &rows[i] : NULL; }

static const char *name_in(const RoformerName *row, RoformerWorld world) {
    return world == ROFORMER_IN_GGUF ? row->gguf : world == ROFORMER_IN_TORCH ? row->torch : row->tf;
}

/* 1 where name is the pattern with a number for its '#', written as numbers are: no sign, no leading zero. */
static int matches(const char *pattern, const char *name, int *layer) {
    *layer = -1;
    for (; *pattern; pattern++) {
        if (*pattern != '#') {
            if (*name++ != *pattern) return 0;
            continue;
        }
        int n = 0, digits = 0;
        for (; *name >= '0' && *name <= '9' && digits < 5; name++, digits++) n = n * 10 + (*name - '0');
        if (digits == 0 || n >= ROFORMER_MAX_LAYERS || (digits > 1 && name[-digits] == '0')) return 0;
        *layer = n;
    }
    return *name == 0;
}

/* Old PyTorch files say gamma and beta where newer ones say weight and bias, as transformers reads them. */
static const char *modern(const char *name, char *room) {
    static const char *const olds[] = {"LayerNorm.gamma", "LayerNorm.beta"};
    static const char *const news[] = {"LayerNorm.weight", "LayerNorm.bias"};
    size_t n = strlen(name);
    for (int i = 0; i < 2; i++) {
        size_t k = strlen(olds[i]);
        if (n < k || n >= ROFORMER_NAME_MAX - 8 || strcmp(name + n - k, olds[i]) != 0) continue;
        memcpy(room, name, n - k);
        memcpy(room + n - k, news[i], strlen(news[i]) + 1);
        return room;
    }
    return name;
}

const RoformerName *roformer_names_find(RoformerWorld world, const char *name, int *layer) {
    char room[ROFORMER_NAME_MAX + 16];
    if (world == ROFORMER_IN_TORCH) name = modern(name, room);
    for (size_t i = 0; i < N_ROWS; i++) {
        const char *pattern = name_in(&rows[i], world);
        if (!pattern || (world == ROFORMER_IN_GGUF && rows[i].flags & NAME_ALIAS)) continue;
        int prefixed = world == ROFORMER_IN_TORCH && rows[i].flags & NAME_BODY;
        for (int k = prefixed ? 0 : N_PREFIXES - 1; k < N_PREFIXES; k++) {
            size_t n = strlen(prefixes[k]);
            if (strncmp(name, prefixes[k], n) == 0 && matches(pattern, name + n, layer)) return &rows[i];
        }
    }
    return NULL;
}

int roformer_names_write(char *out, const RoformerName *row, RoformerWorld world, int layer, int gau) {
    const char *pattern = name_in(row, world), *hash = pattern ? strchr(pattern, '#') : NULL;
    const char *prefix = world != ROFORMER_IN_TORCH || !(row->flags & NAME_BODY) ? ""
                         : gau                                                   ? "gau_alpha."
                                                                                 : "roformer.";
    if (!pattern) return 0;
    if (!hash) snprintf(out, ROFORMER_NAME_MAX, "%s%s", prefix, pattern);
    else snprintf(out, ROFORMER_NAME_MAX, "%s%.*s%d%s", prefix, (int)(hash - pattern), pattern, layer, hash + 1);
    return 1;
}

int roformer_names_shape(const RoformerName *row, const RoformerSizes *s, size_t shape[2]) {
    const struct { char letter; size_t size; } sizes[] = {
        {'V', s->vocab}, {'T', s->types}, {'E', s->d_embed}, {'H', s->d_model}, {'I', s->d_ff}, {'K', s->keys},
        {'D', s->values}, {'G', s->gau_in}, {'S', s->gau_key}, {'L', s->labels}, {'P', s->places},
        {'B', s->buckets}, {'A', s->heads}, {'1', 1}, {'2', 2},
    };
    int n = 0;
    for (const char *c = row->shape; *c; c++, n++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            if (sizes[i].letter == *c) shape[n] = sizes[i].size;
    return n;
}

int roformer_names_is_body(RoformerWorld world, const char *name) {
    static const char *const torch[] = {"embeddings.", "embeddings_project.", "encoder."}, *const tf[] = {"bert/",
                                                                                                          "GAU_alpha/"};
    for (int i = 0; world == ROFORMER_IN_TF && i < 2; i++)
        if (strncmp(name, tf[i], strlen(tf[i])) == 0) return 1;
    for (int i = 0; world == ROFORMER_IN_TORCH && i < 3; i++)
        for (int k = 0; k < N_PREFIXES; k++) {
            size_t n = strlen(prefixes[k]);
            if (strncmp(name, prefixes[k], n) == 0 && strncmp(name + n, torch[i], strlen(torch[i])) == 0) return 1;
        }
    return 0;
}

int roformer_names_is_optimizer(const char *name) {
    static const char *const parts[] = {"adam_m",
                                        "adam_v",
                                        "lamb_m",
                                        "lamb_v",
                                        "Adam",
                                        "Adam_1",
                                        "beta1_power",
                                        "beta2_power",
                                        "global_step",
                                        "AdamWeightDecayOptimizer",
                                        "AdamWeightDecayOptimizer_1",
                                        "Momentum"};
    for (const char *p = name; p; p = strchr(p, '/') ? strchr(p, '/') + 1 : NULL) {
        size_t n = strcspn(p, "/");
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            if (strlen(parts[i]) == n && memcmp(parts[i], p, n) == 0) return 1;
    }
    return 0;
}
