/* kernels/codes.c - rows of blocks by way of their codes. */
#include "codes.h"

#include "base/base.h"

const BlockFormat *block_format(int type) {
    const BlockFormat *const tables[] = {blocks_32, blocks_k, blocks_iq};
    for (int t = 0; t < 3; t++)
        for (const BlockFormat *f = tables[t]; f->codes; f++)
            if (f->id == type) return f;
    return NULL;
}

float block_d(const BlockFormat *f, uint16_t d) {
    return f->wide ? bf16_to_f32(d) : f16_to_f32(d) / (float)(1 << f->halvings);
}

float matrix_scale(const Matrix *m, size_t r) {
    return m->scales ? load_f32((const uint8_t *)m->scales + r / (size_t)m->group * 4) : 1;
}

/* Of sub-block s of a block in row r. */
static float scale_of(const Matrix *m, size_t r, const BlockFormat *b, const Codes *c, int s) {
    return b->mini ? matrix_scale(m, r) * minifloat(c->sc[s]) : block_d(b, c->d) * (float)c->sc[s];
}

int code_value(const BlockFormat *f, int code) { return f->values ? f->values[code] : code - f->zero; }

static const uint8_t *row_of(const Matrix *m, const QuantFormat *f, size_t r) {
    return (const uint8_t *)m->data + r * (m->cols / (size_t)f->block) * (size_t)f->bytes;
}

void codes_row(float *out, const Matrix *m, size_t r) {
    const QuantFormat *f = quant_format(m->type);
    const BlockFormat *b = block_format(m->type);
    const uint8_t *block = row_of(m, f, r);
    Codes c;
    for (size_t at = 0; at < m->cols; at += (size_t)f->block, block += f->bytes, out += f->block) {
        b->codes(&c, block);
        float dmin = b->minima ? f16_to_f32(c.dmin) : 0;
        for (int s = 0; s < f->block / b->sub; s++) {
            float scale = scale_of(m, r, b, &c, s), minimum = b->minima ? dmin * (float)c.mn[s] : 0;
            for (int i = s * b->sub; i < (s + 1) * b->sub; i++) out[i] = scale * (float)code_value(b, c.q[i]) - minimum;
        }
    }
}

/* Of each sub-block  scale * scale_x * (sum of q_w q_x, exact)  -  dmin * mn * scale_x * (sum of q_x). */
float codes_dot(const Matrix *m, size_t r, const int8_t *q, const float *scale) {
    const QuantFormat *f = quant_format(m->type);
    const BlockFormat *b = block_format(m->type);
    const uint8_t *block = row_of(m, f, r);
    Codes c;
    float sum = 0;
    for (size_t i = 0; i < m->cols; i += (size_t)f->block, block += f->bytes) {
        b->codes(&c, block);
        for (int s = 0; s < f->block / b->sub; s++) {
            const int8_t *x = q + i + (size_t)(s * b->sub);
            float sx = scale[(i + (size_t)(s * b->sub)) / Q_BLOCK];
            int isum = 0, xsum = 0;
            for (int j = 0; j < b->sub; j++) {
                isum += code_value(b, c.q[s * b->sub + j]) * x[j];
                xsum += x[j];
            }
            sum += scale_of(m, r, b, &c, s) * sx * (float)isum;
            if (b->minima) sum -= f16_to_f32(c.dmin) * (float)c.mn[s] * (sx * (float)xsum);
        }
    }
    return sum;
}

void block_nibbles(uint8_t *q, const uint8_t *bytes) {
    for (int i = 0; i < 16; i++) {
        q[i] = bytes[i] & 15;
        q[i + 16] = bytes[i] >> 4;
    }
}

void block_codes_q4_0(Codes *c, const uint8_t *block) {
    block_scale(c, block);
    block_nibbles(c->q, block + 2);
}
