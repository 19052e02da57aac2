/* train/trainee.h - a model that learns: its parameters, room for a part of a batch, and its forward pass, with
 * the way back.
 *
 *     Trainee t;
 *     if (trainee_init(&t, &config, 0, &shape, kernels, threads, err, sizeof err)) ...
 *     params_begin(&t.params, seed, config.n_layers);
 *     double loss = trainee_loss(&t, ids, targets, 1);            t.params' gradients are those of this batch
 *     adamw_step(..);                                             adamw.h
 *     trainee_free(&t);
 *
 * What the model is, is a Config, as the engine reads it from a file: sizes, positions, linear attention, window. Its
 * family's page (decoder.c, encoder.c) is the engine's page with the way back beside it. */
#ifndef TRAINEE_H
#define TRAINEE_H

#include "attention.h"
#include "model/model.h"
#include "rope/positions.h"

typedef struct Trainee Trainee;

typedef struct {
    size_t texts, length; /* of a batch: texts * length tokens */
} BatchShape;

/* A part of a batch goes forward and back at once: at most PART_TOKENS tokens, but at least a text, and as many texts
 * as have PART_HEADS heads of keys: attention's work for threads. Memory is a part's then, and the caches have more of
 * what backward needs. Gradients add up over parts; these follow from sizes, not from threads, and so do bits. */
enum { PART_TOKENS = 1024, PART_HEADS = 8 };

/* A family: a page. */
typedef struct {
    const char *arch;
    int (*declare)(Trainee *t);   /* t->params, by the names of GGUF. 0 or -ENOMEM */
    int (*allocate)(Trainee *t);  /* t->page: its parameters at hand, and room for a part. 0 or -ENOMEM */
    void (*release)(Trainee *t);
    /* Every thread calls them: the final hidden states of a part's ids [n]; all gradients, from dx, theirs. */
    const float *(*forward)(Trainee *t, const int *ids);
    void (*backward)(Trainee *t, const int *ids, float *dx);
    Param *(*head)(Trainee *t, Param **bias); /* what makes logits of hidden states */
} TraineeFamily;
extern const TraineeFamily trainee_decoder, trainee_encoder;

struct Trainee {
    Config config;         /* its own copy; pointers in it are the caller's */
    BatchShape shape;
    size_t at_once;        /* texts of it that are computed at once */
    const TraineeFamily *family;
    Params params;
    Work work;
    Turning turning;       /* rotary_dim 0: nothing turns */
    float *angles;         /* [4, length, rotary_dim / 2]: cos, sin, xPos' magnitudes of turning; owned */
    Param *frequencies;    /* rope_freqs.weight [rotary_dim / 2]: what frequencies are divided by, where they are
                            * learned; else NULL */
    double *grown;         /* [rotary_dim / 2]: how the loss grows with each frequency */
    Positions positions;   /* where the model has another kind than RoPE; its table is learned's */
    Param *table;          /* that table, or NULL: none is learned */
    float *placed;         /* [length, d_embed]: what positions add to an embedding, table's own where there is one, or
                            * NULL */
    float *bias, *grown_bias; /* [n_heads, 2 length - 1] added to scores (attention.h), or NULL; how the loss grows with
                            * it, [at_once, n_heads, 2 length - 1], where it is learned; owned */
    float *scale;          /* [length], of attention; owned */
    AttentionBatch attention;
    LinearParts linear;
    float *projection;     /* [head_dim, favor_features] or NULL; owned */
    void *page;            /* the family's */
    double *loss;          /* [texts, length]: of each token of the last batch */
    uint8_t *right;        /* the same: 1 where the target was the most probable id */
    float *dx, *logits;    /* [n, d_model]; loss_of's room */
    size_t bytes;          /* of all that, for people */
};

/* Memory for all of it. learns_frequencies: RoPE's are learned, too (not with linear attention). 0, -ENOMEM, or -EINVAL
 * with a line: a setting that cannot be trained. On error t is zeroed. */
int trainee_init(Trainee *t, const Config *c, int learns_frequencies, const BatchShape *shape, const Kernels *kernels,
                 int threads, char *err, size_t errlen);
void trainee_free(Trainee *t); /* accepts a zeroed struct */

/* Tokens at work: of a part; in `allocate`, of the largest. */
static inline size_t trainee_tokens(const Trainee *t) { return t->at_once * t->shape.length; }

/* ids, targets [texts, length]; a target below 0 does not count. Returns the mean loss in nats, 0 where none counts;
 * t->loss has each. learns: gradients become those of this batch; else they stay. */
double trainee_loss(Trainee *t, const int *ids, const int *targets, int learns);

/* For pages: x [n, d_embed] += what its tokens' positions add; and the gradient of what is learned of it. Every thread
 * calls them. */
void trainee_place(Trainee *t, float *x);
void trainee_place_backward(Trainee *t, const float *dx);

/* For pages: attention of q, k, v, rotated where they are to be, and its gradients. kept [trainee_kept]: what backward
 * needs of forward, of a layer. */
size_t trainee_kept(const Trainee *t);
void trainee_attend(Trainee *t, float *out, float *kept, float *q, float *k, const float *v);
void trainee_attend_backward(Trainee *t, float *dq, float *dk, float *dv, const float *dout, const float *out,
                             float *kept, const float *q, const float *k, const float *v);

#endif
