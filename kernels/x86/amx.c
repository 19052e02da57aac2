/* kernels/x86/amx.c - the row for x86-64 with AMX: matrices of bytes multiplied 16 x 16 x 32 at a time. For long
 * batches of block formats; everything else is avx512vnni's, whose bits it has: the integer sums are exact, and what is
 * done with them is the same in the same order.
 *
 * A panel's codes are taken apart once for a whole batch, 1024 columns at a time, into signed bytes and float scales.
 * Then, for every 16 tokens and each 32 columns (Q6_K: 16, a sub-block), the tile unit makes 16 x 16 sums, which are
 * stored and read back a token a vector:
 *     acc[t] += f32(sum[t]) * (scale_w * scale_x)  -  minimum_w * (scale_x * sum of q_x)
 * The codes of Q2_K and Q3_K come times sc (scaled_codes), and their sums go in panel_super.h's order. */
#include "avx2.h"
#include "avx512.h"
#include "avx512_panels.h"
#include "kernels/codes.h"

#include <string.h>

enum { TOKENS = 16, CHUNK = 32 }; /* of a tile; blocks of 32 columns taken apart at a time */

/* A chunk of a panel. */
typedef struct {
    _Alignas(64) int8_t q[CHUNK][8][64]; /* [block][line][row, 4 columns] */
    _Alignas(64) float scale[CHUNK][2][VEC], minimum[CHUNK][2][VEC]; /* scaled_codes: none; mn */
    _Alignas(64) float d[CHUNK / 8][VEC], dmin[CHUNK / 8][VEC];      /* of scaled_codes */
} Chunk;

static int values_name(const int8_t *table) {
    for (int v = VALUES_IQ4; table && v < N_VALUES; v++)
        if (value_table(v) == table) return v;
    return 0;
}

static Form form_of(const Matrix *w) {
    if (w->type == TENSOR_I8_GROUPS) return (Form){.bits = 8, .sub = 32, .groups = 1};
    const BlockFormat *f = block_format(w->type);
    int block = quant_format(w->type)->block;
    return (Form){.bits = f->bits, .sub = f->sub, .minima = f->minima, .super = block == 256, .mini = f->mini,
                  .values = values_name(f->values), .wide = f->wide, .halvings = f->halvings,
                  .together = block == 128 ? 2 : block == 64};
}

static void take_scaled_apart(Chunk *c, Form f, const uint8_t *panel, const PanelShape *s, size_t b0, size_t n) {
    __m512i z = _mm512_set1_epi8(negates(f) ? -128 : 0);
    for (size_t b = 0; b < n; b++) {
        const uint8_t *lines = panel + s->lines + (b0 + b) * s->line_bytes;
        for (size_t h = 0; h < 2; h++) {
            size_t at = ((b0 + b) * 2 + h) * VEC;
            Products p = products_of(f, panel + s->sc + at);
            for (int j = 4 * (int)h; j < 4 * (int)h + 4; j++)
                _mm512_store_si512(c->q[b][j], _mm512_sub_epi8(scaled_codes_at(f, lines, j, p), z));
            if (f.minima) _mm512_store_ps(c->minimum[b][h], vec_load_bytes(panel + s->mn + at));
        }
        size_t super = (b0 + b) / 8 * 2 * VEC;
        _mm512_store_ps(c->d[b / 8], vec_load_half(panel + s->d + super));
        if (f.minima) _mm512_store_ps(c->dmin[b / 8], vec_load_half(panel + s->dmin + super));
    }
}

static void take_apart(Chunk *c, Form f, int zero, const uint8_t *panel, const PanelShape *s, size_t b0, size_t n) {
    __m512i z = _mm512_set1_epi8((char)zero);
    for (size_t b = 0; b < n; b++) {
        const uint8_t *lines = panel + s->lines + (b0 + b) * s->line_bytes;
        for (int j = 0; j < 8; j++) _mm512_store_si512(c->q[b][j], _mm512_sub_epi8(codes_at(f, lines, j), z));
        for (int h = 0; h < 32 / f.sub; h++) {
            _mm512_store_ps(c->scale[b][h], scales_at(f, panel, s->d, s->sc, b0 + b, h));
            if (f.minima) _mm512_store_ps(c->minimum[b][h], scales_at(f, panel, s->dmin, s->mn, b0 + b, h));
        }
    }
}

/* Tiles 0 and 1: sums [16 tokens][16 rows]; 2: activations [16 tokens][sub]; 3: weights [sub/4][16 rows, 4 columns]. */
static void configure(int sub) {
    struct {
        uint8_t palette, start, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } t = {.palette = 1, .bytes = {64, 64, (uint16_t)sub, 64}, .rows = {TOKENS, TOKENS, TOKENS, (uint8_t)(sub / 4)}};
    __asm__ volatile("" : : "r"(&t) : "memory"); /* gcc 12 takes the next line to read only the first bytes of t */
    _tile_loadconfig(&t);
}

/* Sub-block i of a chunk by 16 tokens, into tile 0 or 1: the numbers of tiles are part of an instruction. */
INLINE void multiply(int sub, size_t i, const ActBlock *x, const Chunk *c) {
    size_t b = i / (size_t)(32 / sub), h = i % (size_t)(32 / sub);
    _tile_loadd(2, x[b * TOKENS].q + h * 16, sizeof *x);
    _tile_loadd(3, c->q[b][4 * h], 64);
    if (i % 2) {
        _tile_zero(1);
        _tile_dpbssd(1, 2, 3);
    } else {
        _tile_zero(0);
        _tile_dpbssd(0, 2, 3);
    }
}

INLINE void add_sums(int sub, int minima, Vec *acc, int32_t (*sum)[VEC], size_t i, const ActBlock *x, const Chunk *c) {
    size_t b = i / (size_t)(32 / sub), h = i % (size_t)(32 / sub);
    Vec scale = vec_load(c->scale[b][h]), minimum = minima ? vec_load(c->minimum[b][h]) : scale;
    x += b * TOKENS;
    UNROLL
    for (int t = 0; t < TOKENS; t++) {
        Vec sums = _mm512_cvtepi32_ps(_mm512_load_si512(sum[t]));
        acc[t] = vec_fma(acc[t], sums, vec_mul(scale, vec_all(x[t].scale)));
        if (minima) acc[t] = vec_fnma(acc[t], minimum, vec_all(sub == 32 ? x[t].scaled_sum : x[t].scaled_half[h]));
    }
}

/* Blocks b-7 .. b of scaled_codes, whose parts are all there. */
INLINE void end_super(Form f, Vec *acc, Vec *part, size_t b, const ActBlock *x, const Chunk *c) {
    Vec d = vec_load(c->d[b / 8]), least[TOKENS];
    UNROLL
    for (int t = 0; t < TOKENS; t++) {
        acc[t] = negates(f) ? vec_fnma(acc[t], d, part[t]) : vec_fma(acc[t], d, part[t]);
        part[t] = least[t] = vec_zero();
    }
    if (!f.minima) return;
    Vec dmin = vec_load(c->dmin[b / 8]);
    for (size_t k = b - 7; k <= b; k++)
        for (int h = 0; h < 2; h++)
            UNROLL
            for (int t = 0; t < TOKENS; t++)
                least[t] = vec_fma(least[t], vec_load(c->minimum[k][h]), vec_all(x[k * TOKENS + t].scaled_half[h]));
    UNROLL
    for (int t = 0; t < TOKENS; t++) acc[t] = vec_fnma(acc[t], dmin, least[t]);
}

INLINE void add_scaled(Form f, Vec *acc, Vec *part, int32_t (*sum)[VEC], size_t b, const ActBlock *x,
                       const Chunk *c) {
    UNROLL
    for (int t = 0; t < TOKENS; t++)
        part[t] = vec_fma(part[t], _mm512_cvtepi32_ps(_mm512_load_si512(sum[t])), vec_all(x[b * TOKENS + t].scale));
    if (b % 8 == 7) end_super(f, acc, part, b, x, c);
}

/* A tile of sums: 16 tokens from y on, and the rows that exist; n products of the unit. */
typedef struct {
    float *y;
    size_t ldy, n;
    __mmask16 rows;
    const ActBlock *x;
    const Chunk *c;
    int first; /* columns: sums begin as 0; otherwise y has those of earlier ones */
} SumsTile;

/* Sums are stored a step after they were asked for, and read two steps later: a store would wait for its tile, and a
 * load cannot be served from a tile's store under way. */
INLINE void tile(Form f, const SumsTile p) {
    enum { STORE = 1, READ = 3 };
    const int scaled = scaled_codes(f), sub = scaled ? 32 : f.sub;
    _Alignas(64) int32_t sums[4][TOKENS][VEC];
    Vec acc[TOKENS], part[TOKENS];
    UNROLL
    for (size_t t = 0; t < TOKENS; t++) {
        acc[t] = p.first ? vec_zero() : _mm512_maskz_loadu_ps(p.rows, p.y + t * p.ldy);
        part[t] = vec_zero();
    }
    for (size_t i = 0; i < p.n + READ; i++) {
        if (i < p.n) multiply(sub, i, p.x, p.c);
        if (i >= STORE && i < p.n + STORE) {
            if (i % 2) _tile_stored(0, sums[(i - STORE) % 4], 64);
            else _tile_stored(1, sums[(i - STORE) % 4], 64);
        }
        if (i < READ) continue;
        if (scaled) add_scaled(f, acc, part, sums[(i - READ) % 4], i - READ, p.x, p.c);
        else add_sums(sub, f.minima, acc, sums[(i - READ) % 4], i - READ, p.x, p.c);
    }
    UNROLL
    for (size_t t = 0; t < TOKENS; t++) _mm512_mask_storeu_ps(p.y + t * p.ldy, p.rows, acc[t]);
}

static void tile_of(Form f, const SumsTile p) {
    if (scaled_codes(f) && f.minima) tile((Form){.bits = 2, .sub = 16, .minima = 1}, p);
    else if (scaled_codes(f)) tile((Form){.bits = 3, .sub = 16}, p);
    else if (f.sub == 32 && f.minima) tile((Form){.bits = 8, .sub = 32, .minima = 1}, p);
    else if (f.sub == 32) tile((Form){.bits = 8, .sub = 32}, p);
    else tile((Form){.bits = 6, .sub = 16}, p); /* no format has minima there */
}

/* Part i of n of the same columns of the next panel. */
static void fetch(const uint8_t *panel, const PanelShape *s, size_t b, size_t blocks, size_t i, size_t n) {
    size_t bytes = blocks * (s->size / s->blocks);
    const uint8_t *from = panel + s->size + b * (s->size / s->blocks) + bytes * i / n;
    for (size_t at = 0; at < bytes / n + 64; at += 64) _mm_prefetch((const char *)from + at, _MM_HINT_T1);
}

static void matmul_long(float *y, size_t ldy, const Activations *a, size_t n, const Matrix *w, size_t r0, size_t r1) {
    PanelShape s = panel_shape(w, VEC);
    Form f = form_of(w);
    int zero = f.minima ? 0 : f.groups || f.values ? 128 : block_format(w->type)->zero;
    const int scaled = scaled_codes(f), sub = scaled ? 32 : f.sub;
    Chunk chunk;
    configure(sub);
    for (size_t r = r0; r < r1; r += VEC) {
        const uint8_t *panel = panel_of(w, &s, r);
        for (size_t b = 0; b < s.blocks; b += CHUNK) {
            size_t blocks = s.blocks - b < CHUNK ? s.blocks - b : CHUNK;
            if (scaled) take_scaled_apart(&chunk, f, panel, &s, b, blocks);
            else take_apart(&chunk, f, zero, panel, &s, b, blocks);
            for (size_t t = 0; t < n; t += TOKENS) {
                fetch(panel, &s, b, blocks, t / TOKENS, n / TOKENS);
                SumsTile p = {.y = y + t * ldy + r, .ldy = ldy, .rows = first16(r1 - r), .c = &chunk, .first = b == 0};
                p.n = blocks * (size_t)(32 / sub);
                p.x = (const ActBlock *)a->data + t * s.blocks + b * TOKENS;
                tile_of(f, p);
            }
        }
    }
    _tile_release();
}

static void matmul(float *y, size_t ldy, const Activations *a, const Matrix *w, size_t r0, size_t r1) {
    size_t n = w->panels ? a->n / TOKENS * TOKENS : 0;
    Activations rest = *a;
    if (avx512_matmul_floats(y, ldy, a, w, r0, r1)) return;
    if (n) {
        matmul_long(y, ldy, a, n, w, r0, r1);
        rest.n -= n;
        rest.data = (const ActBlock *)a->data + n * (a->d / Q_BLOCK);
    }
    if (rest.n) avx512vnni_matmul_blocks(TOKENS, y + n * ldy, ldy, &rest, w, r0, r1);
}

static const Packing packing = {
    .lanes = VEC, .blocks = TOKENS, .floats = AVX512_FLOATS, .pack_blocks = avx2_pack_wide_blocks,
};

static void pack(void *out, const float *x, size_t n, size_t d, int group, size_t t) {
    packing_pack(&packing, out, x, n, d, group, t);
}

static const MatmulKernels own = {
    .matmul = matmul, .packed_bytes = avx512_packed_bytes, .pack = pack, .quantize = avx2_quantize,
};

extern const Kernels kernels_amx;
const Kernels kernels_amx = {
    .name = "amx", .lanes = VEC, .mat = &own, .att = &avx512_attention, .vec = &avx2_vector,
    .enc = &avx2_encoder, .cache = &avx512vnni_cache, .train = &avx512_train,
};
