/* weights-tools/description.h - one RoFormer in words and numbers: what describe.h finds out about a checkpoint. */
#ifndef DESCRIPTION_H
#define DESCRIPTION_H

#include "base/json.h"
#include "model/model.h"
#include "model/roformer_kinds.h"
#include "model/roformer_names.h"
#include "rope/positions.h"
#include "weights-tools/checkpoint/view.h"

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
    int rotary_dim;           /* entries of a head that turn; for describe_meta */
    int rotary_value, tied, pad_id;
    char hidden_act[32];
    const char *mask, *pooler; /* as in DescribeWish; pooler may be "none" */
    const PositionKind *position; /* NULL: RoPE */
    const char *classifier;    /* "sequence", "token", "choice", "qa", or NULL */
    const JsonValue *labels;   /* id2label, or NULL; points into the configuration, as the next */
    const JsonValue *config;   /* all of it: for the attention keys */
    Slot *slots;               /* [n_slots], in the order GGUF files list them */
    size_t n_slots, cap_slots;
    const char *name;          /* of the checkpoint, for error lines */
} Description;

void describe_free(Description *m); /* accepts a zeroed struct */

/* The slot of that GGUF name and layer, from number `from` on; -1 where there is none. Linear. */
long describe_slot(const Description *m, const char *gguf, int layer, size_t from);

#endif
