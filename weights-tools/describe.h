/* weights-tools/describe.h - what a checkpoint and its configuration say together: which RoFormer this is.
 *
 *     Description m;
 *     if (describe_open(&m, &checkpoint, config.root, "config.json", &wish, &report, err, sizeof err)) ...
 *     describe_plan(&m, &plan, ROFORMER_IN_GGUF) ..
 *     describe_meta(&m, &meta, "a name");  describe_config(&m, &text);
 *     describe_free(&m);
 *
 * Nothing is guessed: every tensor that the variant needs must be there, none may be there that it has not, every shape
 * must be what the configuration says. The configuration is Hugging Face's config.json or bert4keras' bert_config.json. */
#ifndef DESCRIBE_H
#define DESCRIBE_H

#include "gguf_write.h"
#include "model/config.h"
#include "model/roformer_names.h"

/* A tensor that has a place in the model; the view is [out, in] already. */
typedef struct {
    const RoformerName *row;
    int layer; /* -1: none */
    View view;
} Slot;

/* What the command line says about things that old files leave open; NULL: as the file says. */
typedef struct {
    const char *mask;   /* "padding", "causal", "unilm" */
    const char *pooler; /* "tanh", "linear" */
} DescribeWish;

typedef struct {
    RoformerVariant variant; /* never ROFORMER_NONE */
    RoformerSizes sizes;
    int n_layers, n_heads;
    size_t key_length;        /* of a head; attention_key_size */
    int key_given;            /* the configuration names it */
    double n_ctx, rope_theta, norm_eps, dropout, attention_dropout, initializer_range;
    int rotary_value, tied, pad_id;
    char hidden_act[32];
    const char *mask, *pooler; /* as in DescribeWish; pooler may be "none" */
    const char *classifier;    /* "sequence", "token", "choice", "qa", or NULL */
    const JsonValue *labels;   /* id2label, or NULL; points into the configuration, as the next */
    const JsonValue *config;   /* all of it: for the attention keys */
    Slot *slots;               /* [n_slots], in the order GGUF files list them */
    size_t n_slots;
    const char *name;          /* of the checkpoint, for error lines */
} Description;

/* 1 where the checkpoint's names are a RoFormer's (or a BERT's: the embeddings' names are the same). */
int describe_is_roformer(const Checkpoint *c);

/* Fill m: 0, -EINVAL or -ENOMEM and one line; m is zeroed then. config_name is what error lines call it. Tensors without a
 * place (optimizer slots, integer buffers, unknown heads) are left out with a note. m's views and labels point into c and
 * the configuration, which must outlive it. */
int describe_open(Description *m, const Checkpoint *c, const JsonValue *config, const char *config_name,
                      const DescribeWish *wish, const Report *r, char *err, size_t errlen);
void describe_free(Description *m); /* accepts a zeroed struct */

/* Every slot into the plan, by its name in that world (GGUF or PyTorch). 0 or -ENOMEM. */
int describe_plan(const Description *m, Plan *p, RoformerWorld world);

/* The metadata of architecture "roformer", without the vocabulary. */
void describe_meta(const Description *m, GgufMeta *meta, const char *model_name);

/* Hugging Face's config.json of the model, for checkpoints that came without. */
void describe_config(const Description *m, Buffer *text);

#endif
