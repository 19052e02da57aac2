/* kernels/panel.c - from the rows of a file to panels, once, when a model is opened; and where activations of floats
 * stand. Plain C. */
#include "panel.h"

#include "base/base.h"
#include "codes.h"
#include "kernels.h"

#include <string.h>

static int is_groups(const Matrix *w) { return w->type == TENSOR_I8_GROUPS; }

int panel_fits(const Matrix *w) {
    return is_groups(w) ? w->group % Q_BLOCK == 0 : block_format(w->type) != NULL;
}

/* Scales of their own that 32 columns have in a panel: whole numbers of K formats, floats of 8 bits. */
static size_t subs_of(const QuantFormat *f, const BlockFormat *b) {
    return b && (f->block == 256 || b->mini) ? Q_BLOCK / (size_t)b->sub : 0;
}

PanelShape panel_shape(const Matrix *w, int lanes) {
    const QuantFormat *f = quant_format(w->type);
    const BlockFormat *b = block_format(w->type);
    size_t L = (size_t)lanes, blocks = w->cols / Q_BLOCK;
    size_t scales = is_groups(w) ? 4 * blocks : b->mini ? 4 : 2 * (w->cols / (size_t)f->block);
    size_t bits = is_groups(w) ? 8 : (size_t)b->bits, subs = blocks * subs_of(f, b);
    int minima = b && b->minima;
    PanelShape s = {.lanes = lanes, .blocks = blocks, .line_bytes = 4 * L * bits};
    s.dmin = s.d + scales * L;
    s.sc = s.dmin + (minima ? scales * L : 0);
    s.mn = s.sc + subs * L;
    s.lines = (s.mn + (minima ? subs * L : 0) + 63) & ~(size_t)63;
    s.size = (s.lines + blocks * s.line_bytes + 63) & ~(size_t)63;
    s.n = (w->rows + L - 1) / L;
    return s;
}

static void put(uint8_t *line, uint32_t u) { memcpy(line, &u, 4); }

/* 32 codes of a row into its words of a block's lines, 4 codes to a word; bytes come with 128 added, which 8 lanes do
 * not keep. */
static inline void fill_lines(uint8_t *to, const uint8_t *codes, int bits, size_t lanes) {
    size_t line = 4 * lanes;
    uint32_t u[8];
    memcpy(u, codes, sizeof u); /* little-endian: code 4j in the lowest byte of word j */
    if (bits == 8) {
        for (size_t j = 0; j < 8; j++) put(to + j * line, lanes == 8 ? u[j] ^ 0x80808080 : u[j]);
        return;
    }
    int done = 0;
    if (bits >= 4) {
        for (size_t j = 0; j < 4; j++, to += line) put(to, (u[j] & 0x0f0f0f0f) | (u[j + 4] & 0x0f0f0f0f) << 4);
        done = 4;
    }
    if ((bits - done) & 2) {
        for (size_t h = 0; h < 8; h += 4, to += line) {
            uint32_t pairs = 0;
            for (size_t j = 0; j < 4; j++) pairs |= (u[h + j] >> done & 0x03030303) << 2 * j;
            put(to, pairs);
        }
        done += 2;
    }
    if ((bits - done) & 1) {
        uint32_t ones = 0;
        for (size_t j = 0; j < 8; j++) ones |= (u[j] >> done & 0x01010101) << j;
        put(to, ones);
    }
}

/* A row whose codes need only be put where they belong. */
static void fill_plain(uint8_t *out, const PanelShape *s, const QuantFormat *f, const BlockFormat *form,
                       const uint8_t *row, size_t r) {
    const size_t L = (size_t)s->lanes, line = 4 * L, words = (size_t)form->bits;
    const uint32_t flip = form->bits == 8 && L != 8 ? 0x80808080 : 0;
    uint8_t *lines = out + s->lines + 4 * r, *d = out + s->d + 2 * r;
    for (size_t b = 0; b < s->blocks; b++, row += f->bytes, d += 2 * L) {
        memcpy(d, row, 2);
        for (size_t j = 0; j < words; j++, lines += line) {
            uint32_t u;
            memcpy(&u, row + form->plain + 4 * j, 4);
            put(lines, u ^ flip);
        }
    }
}

/* Row r of the panel, `row` in the file; scale: a mini format's d. */
static void fill_row(uint8_t *out, const PanelShape *s, const QuantFormat *f, const uint8_t *row, float scale,
                     size_t r) {
    size_t L = (size_t)s->lanes, per = (size_t)f->block / Q_BLOCK;
    const BlockFormat *form = block_format(f->id);
    size_t subs = subs_of(f, form);
    Codes c;
    if (form->plain) {
        fill_plain(out, s, f, form, row, r);
        return;
    }
    if (form->mini) memcpy(out + s->d + 4 * r, &scale, 4);
    for (size_t b = 0; b < s->blocks; b += per, row += f->bytes) {
        form->codes(&c, row);
        if (!form->mini) memcpy(out + s->d + (b / per * L + r) * 2, &c.d, 2);
        if (form->minima) memcpy(out + s->dmin + (b / per * L + r) * 2, &c.dmin, 2);
        for (size_t i = 0; i < per * subs; i++) {
            out[s->sc + (b * subs + i) * L + r] = (uint8_t)c.sc[i];
            if (form->minima) out[s->mn + (b * subs + i) * L + r] = (uint8_t)c.mn[i];
        }
        uint8_t *lines = out + s->lines + b * s->line_bytes + 4 * r;
        for (size_t i = 0; i < per; i++) fill_lines(lines + i * s->line_bytes, c.q + i * Q_BLOCK, form->bits, L);
    }
}

static void fill_groups(uint8_t *out, const PanelShape *s, const Matrix *w, size_t at, size_t r) {
    size_t L = (size_t)s->lanes, group = (size_t)w->group;
    const uint8_t *q = (const uint8_t *)w->data + at * w->cols;
    const uint8_t *scales = (const uint8_t *)w->scales + at * (w->cols / group) * 4;
    uint8_t codes[Q_BLOCK];
    for (size_t b = 0; b < s->blocks; b++) {
        memcpy(out + s->d + (b * L + r) * 4, scales + b * Q_BLOCK / group * 4, 4);
        for (size_t i = 0; i < Q_BLOCK; i++) codes[i] = q[b * Q_BLOCK + i] ^ 0x80;
        fill_lines(out + s->lines + b * s->line_bytes + 4 * r, codes, 8, L);
    }
}

void panel_fill(uint8_t *out, const Matrix *w, const PanelShape *s, size_t i) {
    const QuantFormat *f = quant_format(w->type);
    size_t first = i * (size_t)s->lanes, row_bytes = w->cols / (size_t)f->block * (size_t)f->bytes;
    if (first + (size_t)s->lanes > w->rows) memset(out, 0, s->size);
    for (size_t r = 0; r < (size_t)s->lanes && first + r < w->rows; r++)
        if (is_groups(w)) fill_groups(out, s, w, first + r, r);
        else
            fill_row(out, s, f, (const uint8_t *)w->data + (first + r) * row_bytes,
                     MINI_SCALE * matrix_scale(w, first + r), r);
}

TokenTile token_tile(size_t t, size_t n, size_t widest) {
    size_t wide = n / widest * widest, eight = tile_of_eight(n, widest);
    if (t < wide) return (TokenTile){t / widest * widest, widest};
    if (t < wide + eight) return (TokenTile){wide, eight};
    size_t first = wide + (t - wide) / 4 * 4;
    return (TokenTile){first, n - first < 4 ? n - first : 4};
}

size_t float_columns(size_t d, size_t lanes) { return (d + lanes - 1) / lanes * lanes; }

/* A vector of each token of the tile in turn; a tile of one token is its row, which is copied at once. */
static void pack_few_floats(const Packing *p, float *out, const float *x, size_t n, size_t d, size_t t) {
    size_t few = few_tokens(n, FEW_OF(p->floats)), first = t / few * few, tile = n - first < few ? n - first : few;
    size_t padded = float_columns(d, p->lanes), each = tile == 1 ? padded : p->lanes;
    out += first * padded + (t - first) * each;
    for (size_t k = 0; k < padded; k += each, out += tile * each) {
        size_t has = d - k < each ? d - k : each;
        memcpy(out, x + k, has * sizeof *x);
        memset(out + has, 0, (each - has) * sizeof *x);
    }
}

static void pack_floats(const Packing *p, float *out, const float *x, size_t n, size_t d, size_t t) {
    size_t lanes = p->lanes, padded = float_columns(d, lanes);
    if (n < FLOAT_MANY) {
        pack_few_floats(p, out, x, n, d, t);
        return;
    }
    TokenTile tile = token_tile(t, n, p->floats);
    for (size_t k0 = 0; k0 < padded; k0 += FLOAT_COLUMNS) {
        size_t columns = padded - k0 < FLOAT_COLUMNS ? padded - k0 : FLOAT_COLUMNS;
        float *to = out + tile.first * padded + k0 * tile.n + (t - tile.first);
        for (size_t lane = 0; lane < lanes; lane++)
            for (size_t k = k0 + lane; k < k0 + columns; k += lanes, to += tile.n) *to = k < d ? x[k] : 0;
    }
}

float *float_scratch(void) {
    static _Thread_local _Alignas(64) float scratch[(FLOAT_COLUMNS + 16) * 32];
    return scratch;
}

size_t packing_bytes(const Packing *p, size_t n, size_t d, int group) {
    if (group % Q_BLOCK) return ref_matmul.packed_bytes(n, d, group);
    return group ? n * (d / Q_BLOCK) * sizeof(ActBlock) : n * float_columns(d, p->lanes) * sizeof(float);
}

void packing_pack(const Packing *p, void *out, const float *x, size_t n, size_t d, int group, size_t t) {
    if (group == 0) pack_floats(p, out, x, n, d, t);
    else if (group % Q_BLOCK) ref_matmul.pack(out, x, n, d, group, t);
    else {
        TokenTile tile = token_tile(t, n, p->blocks);
        p->pack_blocks((ActBlock *)out + tile.first * (d / Q_BLOCK) + (t - tile.first), tile.n, x, d, group);
    }
}
