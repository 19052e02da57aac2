/* model/matrices.c - the places of matrices: in a Model and a Layer as decoder_tensors says, and in an Encoder. */
#include "matrices.h"

#include "family.h"
#include "model/layers/tensors.h"
#include "roformer.h"

#include <string.h>

typedef struct {
    size_t at;
    MatrixUse use;
} Around;

static const Around in_encoder[] = {{offsetof(Encoder, types), USE_LOOKUP},   {offsetof(Encoder, emb_proj), USE_TOKEN},
                  {offsetof(Encoder, mlm_dense), USE_HEAD}, {offsetof(Encoder, pooler), USE_TEXT},
                  {offsetof(Encoder, cls_dense), USE_TEXT}, {offsetof(Encoder, cls_out), USE_TEXT}};
enum { AROUND_ENCODER = sizeof in_encoder / sizeof *in_encoder };

/* Of models in layers, before these. */
static const Around in_decoder[] = {{offsetof(Decoder, per_layer_rows), USE_LOOKUP},
                                    {offsetof(Decoder, per_layer_proj), USE_TOKEN}};
enum { AROUND_DECODER = sizeof in_decoder / sizeof *in_decoder };

/* Matrix i of the table, in a layer or in none; NULL after the last. */
static const DecoderTensor *row(size_t i, int in_layer) {
    for (const DecoderTensor *t = decoder_tensors; t->gguf; t++)
        if (t->cols && (strchr(t->gguf, '#') != NULL) == in_layer && i-- == 0) return t;
    return NULL;
}

static int entry(MatrixEntry *out, const void *base, size_t at, MatrixUse use) {
    *out = (MatrixEntry){(Matrix *)((uintptr_t)base + at), use};
    return 1;
}

int model_matrix(const Model *m, size_t i, MatrixEntry *out) {
    const DecoderTensor *t = row(i, 0);
    size_t outside = 0, each = 0, encoder = m->encoder ? AROUND_ENCODER : 0;
    while (row(outside, 0)) outside++;
    while (row(each, 1)) each++;
    if (t) return entry(out, m, t->at, t->at == offsetof(Model, tok_emb) ? USE_LOOKUP : USE_HEAD);
    i -= outside;
    if (i < encoder) return entry(out, m->encoder, in_encoder[i].at, in_encoder[i].use);
    i -= encoder;
    if (m->config.decoder && i < AROUND_DECODER)
        return entry(out, m->config.decoder, in_decoder[i].at, in_decoder[i].use);
    if (m->config.decoder) {
        i -= AROUND_DECODER;
        size_t n = layer_matrices(&m->config), l = i / n;
        if (l >= (size_t)m->config.n_layers) return 0;
        int expert;
        Matrix *matrix = layer_matrix(m, (int)l, i % n, &expert);
        *out = (MatrixEntry){matrix, expert ? USE_EXPERT : USE_TOKEN};
        return 1;
    }
    if (i / each >= (size_t)m->config.n_layers) return 0;
    return entry(out, &m->layers[i / each], row(i % each, 1)->at, USE_TOKEN);
}
