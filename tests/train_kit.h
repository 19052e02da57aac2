/* tests/train_kit.h - small models to train, of every kind of position and of linear attention.
 *
 *     static const KindSizes sizes = {.vocab = 50, .d = 20, .d_ff = 28, .texts = 2, .length = 70};
 *     Positions p = {0};
 *     Trainee t;
 *     if (kind_begin(&t, &(Kind){.name = "alibi", .position = "alibi"}, &sizes, &p, kernels_best(), 1)) return; */
#ifndef TRAIN_KIT_H
#define TRAIN_KIT_H

#include "train/trainee.h"

/* What stands at 0 or NULL is usual: RoPE of whole heads in interleaved pairs, softmax, tied embeddings. */
typedef struct {
    const char *name, *position, *form, *phi, *phi_key; /* form: linear attention */
    int heads, kv_heads;   /* 0: 2, and as many */
    int head_dim;          /* 0: d / heads */
    int window, log_n, half, learns_frequencies, rotary_dim, own_head;
    int encodes;           /* a RoFormer */
    double epsilon;        /* linear attention's; 0: 1e-6, and with favor+ none */
} Kind;

typedef struct {
    int vocab, d, d_ff;
    size_t texts, length;
} KindSizes;

/* Two layers; learned positions are as many as a text has, T5 has 16 buckets up to 40, FAVOR+ 24 features. *p is where
 * another kind than RoPE has its numbers, and must live as long as the Config. */
Config kind_config(const Kind *k, const KindSizes *z, Positions *p);

/* trainee_init with all parameters at zero; where it refuses, that is a failure of the test, and the result. */
int kind_begin(Trainee *t, const Kind *k, const KindSizes *z, Positions *p, const Kernels *kernels, int threads);

#endif
