/* model/layers/gpt_oss.c - see gpt_oss.h. Source: openai/gpt-oss-20b's files; transformers' integrations/mxfp4.py. */
#include "gpt_oss.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 32, BLOCK_BYTES = 17 };

/* What part is of the tensor that holds it: how many of these rows take turns, and whose turn is first. */
typedef struct { const char *name; size_t turns, first; } Turns;

static Turns turns_of(const LayerPart *part) {
    if (part->form == FORM_DOWNS) return (Turns){"down_proj", 1, 0};
    return (Turns){"gate_up_proj", 2, part->form == FORM_UPS};
}

static const Tensor *find(Loader *ld, const Turns *t, const char *end, int l, char name[TENSOR_NAME]) {
    snprintf(name, TENSOR_NAME, "model.layers.%d.mlp.experts.%s%s", l, t->name, end);
    const Tensor *found = weights_find(&ld->m->weights, name);
    if (found) ld->m->used[found - ld->m->weights.tensors] = 1;
    return found;
}

static void *room(Loader *ld, size_t n, size_t bytes) {
    size_t all;
    void *to = size_mul(n, bytes, &all) ? weights_own(&ld->m->weights, malloc(all ? all : 1), free) : NULL;
    if (!to) load_out_of_memory(ld);
    return to;
}

/* Values 2i, 2i + 1 of 32 stand in byte i; GGML's block has i and i + 16 there. */
static void pack(uint8_t *block, uint8_t scale, const uint8_t *pairs) {
    block[0] = scale;
    for (int i = 0; i < 16; i++) {
        int low = pairs[i / 2] >> 4 * (i % 2) & 15, high = pairs[8 + i / 2] >> 4 * (i % 2) & 15;
        block[1 + i] = (uint8_t)(low | high << 4);
    }
}

static int has_shape(const Tensor *t, const size_t *shape, int n) {
    int same = t->n_dims == n;
    for (int d = 0; d < n && same; d++) same = t->shape[d] == shape[d];
    return same;
}

static void from_blocks(Loader *ld, Matrix *out, const Tensor *blocks, const char *name, const Tensor *scales,
                        const Turns *turns, size_t rows, size_t cols) {
    size_t n = (size_t)ld->m->config.decoder->n_experts, each = cols / BLOCK, in_file = n * rows * turns->turns * each;
    const size_t shape[] = {n, rows * turns->turns, each, 16};
    /* shapes, and bytes of whatever type */
    if (cols % BLOCK || !has_shape(blocks, shape, 4) || blocks->size != in_file * 16 || !scales ||
        !has_shape(scales, shape, 3) || scales->size != in_file) {
        base_complain(&ld->line, "tensor %s: its blocks and scales are not what the model needs", name);
        return;
    }
    uint8_t *to = room(ld, n * rows * each, BLOCK_BYTES);
    for (size_t e = 0; to && e < n; e++) {
        out[e] = (Matrix){.type = TENSOR_MXFP4, .rows = rows, .cols = cols, .data = to};
        for (size_t r = 0; r < rows; r++)
            for (size_t b = 0; b < each; b++, to += BLOCK_BYTES) {
                size_t at = ((e * rows + r) * turns->turns + turns->first) * each + b;
                pack(to, scales->data[at], blocks->data + at * 16);
            }
    }
    ld->m->min_group = Q_BLOCK;
    ld->m->n_parameters += n * rows * cols;
}

/* [n_experts, cols, turns * rows] in the file. */
static void from_floats(Loader *ld, Matrix *out, const Tensor *t, const char *name, const Turns *turns, size_t rows,
                        size_t cols) {
    size_t n = (size_t)ld->m->config.decoder->n_experts, wide = rows * turns->turns;
    Matrix w = load_matrix(ld, t, name, n * cols, wide);
    if (!w.data) return;
    size_t bytes = w.type == TENSOR_F32 ? 4 : 2;
    uint8_t *to = matrix_group(&w) ? NULL : room(ld, n * rows * cols, bytes);
    if (matrix_group(&w)) base_complain(&ld->line, "tensor %s must be of floats", name);
    for (size_t e = 0; to && e < n; e++) {
        out[e] = (Matrix){.type = w.type, .rows = rows, .cols = cols, .data = to};
        for (size_t r = 0; r < rows; r++)
            for (size_t c = 0; c < cols; c++, to += bytes)
                memcpy(to, t->data + ((e * cols + c) * wide + r * turns->turns + turns->first) * bytes, bytes);
    }
}

void gpt_oss_experts(Loader *ld, Matrix *out, const LayerPart *part, int l, size_t rows, size_t cols) {
    char name[TENSOR_NAME], of_scales[TENSOR_NAME];
    Turns turns = turns_of(part);
    const Tensor *blocks = find(ld, &turns, "_blocks", l, name);
    if (blocks) from_blocks(ld, out, blocks, name, find(ld, &turns, "_scales", l, of_scales), &turns, rows, cols);
    else from_floats(ld, out, find(ld, &turns, "", l, name), name, &turns, rows, cols);
}

const float *gpt_oss_biases(Loader *ld, const LayerPart *part, int l, size_t rows) {
    char name[TENSOR_NAME];
    Turns turns = turns_of(part);
    size_t n = (size_t)ld->m->config.decoder->n_experts;
    const Tensor *t = find(ld, &turns, "_bias", l, name);
    const float *all = load_vector(ld, t, name, n * rows * turns.turns);
    float *out = all ? room(ld, n * rows, sizeof *out) : NULL;
    for (size_t i = 0; out && i < n * rows; i++) out[i] = all[i * turns.turns + turns.first];
    return out;
}
