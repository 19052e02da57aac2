/* model/matrices.c - where a Model, an Encoder and a Layer have their matrices. */
#include "matrices.h"

#include "roformer.h"

typedef struct {
    size_t at;
    MatrixUse use;
} Place;

#define COUNT(array) (sizeof(array) / sizeof *(array))
static const Place in_model[] = {{offsetof(Model, tok_emb), USE_LOOKUP}, {offsetof(Model, lm_head), USE_HEAD}};
static const Place in_encoder[] = {
    {offsetof(Encoder, types), USE_LOOKUP},   {offsetof(Encoder, emb_proj), USE_TOKEN},
    {offsetof(Encoder, mlm_dense), USE_HEAD}, {offsetof(Encoder, pooler), USE_TEXT},
    {offsetof(Encoder, cls_dense), USE_TEXT}, {offsetof(Encoder, cls_out), USE_TEXT},
};
static const Place in_layer[] = {
    {offsetof(Layer, wq), USE_TOKEN},     {offsetof(Layer, wk), USE_TOKEN},   {offsetof(Layer, wv), USE_TOKEN},
    {offsetof(Layer, wo), USE_TOKEN},     {offsetof(Layer, w_gate), USE_TOKEN}, {offsetof(Layer, w_up), USE_TOKEN},
    {offsetof(Layer, w_down), USE_TOKEN},
};

static int entry(MatrixEntry *out, const void *base, const Place *p) {
    *out = (MatrixEntry){(Matrix *)((uintptr_t)base + p->at), p->use};
    return 1;
}

int model_matrix(const Model *m, size_t i, MatrixEntry *out) {
    size_t encoder = m->encoder ? COUNT(in_encoder) : 0, l;
    if (i < COUNT(in_model)) return entry(out, m, &in_model[i]);
    i -= COUNT(in_model);
    if (i < encoder) return entry(out, m->encoder, &in_encoder[i]);
    i -= encoder;
    l = i / COUNT(in_layer);
    return l < (size_t)m->config.n_layers && entry(out, &m->layers[l], &in_layer[i % COUNT(in_layer)]);
}
