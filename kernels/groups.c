/* kernels/groups.c - the format of llama2.c's version 2: int8 values, and a float scale for each group of them; the
 * scales of all rows stand behind the values of all rows. */
#include "codes.h"

#include "base/base.h"

static void row_floats(float *out, const Matrix *m, size_t r) {
    const uint8_t *q = (const uint8_t *)m->data + r * m->cols;
    size_t group = (size_t)m->group;
    const uint8_t *scales = (const uint8_t *)m->scales + r * (m->cols / group) * 4;
    for (size_t i = 0; i < m->cols; i++) out[i] = load_f32(scales + i / group * 4) * (float)(int8_t)q[i];
}

/* Of each group  scale_w * scale_x * (sum of q_w q_x). */
static float dot(const Matrix *w, size_t r, const int8_t *q, const float *scale) {
    size_t group = (size_t)w->group, n_groups = w->cols / group;
    const int8_t *wq = (const int8_t *)w->data + r * w->cols;
    const uint8_t *ws = (const uint8_t *)w->scales + 4 * r * n_groups;
    float sum = 0;
    for (size_t g = 0; g < n_groups; g++, wq += group, q += group) {
        int isum = 0;
        for (size_t j = 0; j < group; j++) isum += wq[j] * q[j];
        sum += load_f32(ws + 4 * g) * scale[g] * (float)isum;
    }
    return sum;
}

const QuantFormat formats_groups[] = {
    {TENSOR_I8_GROUPS, "I8_GROUPS", 1, 1, row_floats, dot},
    {0},
};
