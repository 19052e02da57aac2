/* tests/test_layers.c - models in layers beyond their logits (test_architectures.c): the delta rule against its form in
 * chunks, states, caches, threads, blocks. */
#include "decoder_cases.h"
#include "kernels/attention_kernels.h"
#include "model/encoder.h"
#include "model/layers/layers.h"
#include "model/state.h"
#include "model/timeline.h"
#include "test.h"
#include "weights-tools/mixture.h"
#include "weights-tools/model_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the delta rule ---- */

enum { T = 150, DK = 37, CHUNK = 64 };
static const size_t widths[] = {1, 7, 8, 16, 31, 32, 33, 64, 100};

typedef struct {
    size_t dv;
    float *q, *k, *v, *g, *b; /* [T, DK] x 2, [T, dv], [T] x 2 */
    double *S, *out;          /* [DK, dv], [T, dv]: in double, in chunks */
} Rule;

static float random_in(float lo, float hi) {
    static uint32_t x = 2463534242u;
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    return lo + (hi - lo) * (float)(x >> 8) / 16777216.0f;
}

static void unit(float *x) {
    float square = 0;
    for (int i = 0; i < DK; i++) x[i] = random_in(-1, 1), square += x[i] * x[i];
    for (int i = 0; i < DK; i++) x[i] /= sqrtf(square);
}

static Rule rule_new(size_t dv) {
    Rule r = {.dv = dv, .q = calloc(T * DK, 4), .k = calloc(T * DK, 4), .v = calloc(T * dv, 4), .g = calloc(T, 4),
              .b = calloc(T, 4), .S = calloc(DK * dv, 8), .out = calloc(T * dv, 8)};
    for (int t = 0; t < T; t++) {
        unit(r.q + t * DK), unit(r.k + t * DK);
        r.g[t] = random_in(0.7f, 1), r.b[t] = random_in(0, 1);
        for (size_t j = 0; j < dv; j++) r.v[(size_t)t * dv + j] = random_in(-2, 2);
    }
    return r;
}

static void rule_free(Rule *r) {
    free(r->q), free(r->k), free(r->v), free(r->g), free(r->b), free(r->S), free(r->out);
}

static double dot(const float *a, const float *b) {
    double sum = 0;
    for (int i = 0; i < DK; i++) sum += (double)a[i] * b[i];
    return sum;
}

/* Tokens from..from+n-1 together, as arXiv:2412.06464, 3.3 has it: the changes u of all of them from a triangular
 * system, u_i = b_i (v_i - d_i S^T k_i - sum over j < i of d_i/d_j (k_i.k_j) u_j), d the product of the g so far. */
static void chunk(Rule *r, size_t from, size_t n) {
    double d[CHUNK], u[CHUNK], before[DK];
    const float *k = r->k + from * DK, *q = r->q + from * DK;
    for (size_t i = 0; i < n; i++) d[i] = (i ? d[i - 1] : 1) * (double)r->g[from + i];
    for (size_t j = 0; j < r->dv; j++) {
        for (int x = 0; x < DK; x++) before[x] = r->S[(size_t)x * r->dv + j];
        for (size_t i = 0; i < n; i++) {
            double known = 0, read = 0;
            for (int x = 0; x < DK; x++) known += d[i] * (double)k[i * DK + (size_t)x] * before[x];
            for (int x = 0; x < DK; x++) read += d[i] * (double)q[i * DK + (size_t)x] * before[x];
            for (size_t m = 0; m < i; m++) known += d[i] / d[m] * dot(k + i * DK, k + m * DK) * u[m];
            u[i] = (double)r->b[from + i] * ((double)r->v[(from + i) * r->dv + j] - known);
            for (size_t m = 0; m <= i; m++) read += d[i] / d[m] * dot(q + i * DK, k + m * DK) * u[m];
            r->out[(from + i) * r->dv + j] = read;
        }
        for (int x = 0; x < DK; x++) {
            double s = d[n - 1] * before[x];
            for (size_t m = 0; m < n; m++) s += d[n - 1] / d[m] * (double)k[m * DK + (size_t)x] * u[m];
            r->S[(size_t)x * r->dv + j] = s;
        }
    }
}

/* By k's row, `step` tokens a call, `columns` columns a call; S has NaN behind each row. */
static void recur(const Kernels *k, const Rule *r, float *S, float *out, size_t step, size_t columns) {
    size_t ld = r->dv + 3;
    for (size_t i = 0; i < DK * ld; i++) S[i] = i % ld < r->dv ? 0 : NAN;
    for (size_t j = 0; j < r->dv; j += columns)
        for (size_t t = 0; t < T; t += step) {
            DeltaTokens x = {.q = r->q + t * DK, .k = r->k + t * DK, .v = r->v + t * r->dv + j, .g = r->g + t,
                             .b = r->b + t, .ld_qk = DK, .ld_v = r->dv, .ld_gb = 1, .out = out + t * r->dv + j,
                             .ld_out = r->dv};
            k->att->delta(S + j, ld, DK, r->dv - j < columns ? r->dv - j : columns, T - t < step ? T - t : step, &x);
        }
    for (size_t i = 0; i < DK * ld; i++) CHECK((i % ld < r->dv) == !isnan(S[i]));
}

/* Every row against chunks in double, and the same bits whatever the calls. Each of 150 tokens adds a rounding of 2^-24
 * of numbers below 5, and older ones fade: 1e-5 has room. */
static void delta_rule(void) {
    const Kernels *k;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        Rule r = rule_new(widths[w]);
        size_t n = DK * (r.dv + 3), bytes = T * r.dv * sizeof(float);
        float *S = malloc(n * sizeof *S), *again = malloc(n * sizeof *S), *out = malloc(bytes), *other = malloc(bytes);
        for (size_t t = 0; t < T; t += CHUNK) chunk(&r, t, T - t < CHUNK ? T - t : CHUNK);
        for (int row = 0; (k = kernels_row(row)); row++) {
            recur(k, &r, S, out, T, r.dv);
            for (size_t i = 0; i < T * r.dv; i++) NEAR(out[i], r.out[i], 1e-5, 0);
            for (size_t i = 0; i < DK * r.dv; i++) NEAR(S[i / r.dv * (r.dv + 3) + i % r.dv], r.S[i], 1e-5, 0);
            recur(k, &r, again, other, 1, 5);
            CHECK(memcmp(out, other, bytes) == 0);
            for (size_t i = 0; i < n; i++) CHECK(S[i] == again[i] || (isnan(S[i]) && isnan(again[i])));
        }
        free(S), free(again), free(out), free(other);
        rule_free(&r);
    }
}

/* ---- sessions ---- */

static const char *const cases[] = {"gemma3_six", "phi3_long", "mixtral", "qwen35", "qwen35moe", "qwen3next",
                                    "stablelm_par", "gpt_oss", "granite", "deepseek_v2", "deepseek_v3", "gemma4",
                                    "gemma4_moe", NULL};

static int opened(Model *m, const char *name) {
    char err[300];
    const char *path = gguf_file(name, TENSOR_F32, &sound);
    if (path && model_open(m, path, NULL, err, sizeof err) == 0) return 1;
    decoder_fail(name, "model_open:", path ? err : "no file");
    return 0;
}

/* The logits after the first n ids of g, in steps. */
static void read_ids(float *out, const char *name, Session *s, const DecoderCase *g, size_t n, size_t step) {
    char err[300];
    const float *logits = NULL;
    while (s->pos < n) {
        size_t now = n - s->pos < step ? n - s->pos : step;
        if (session_eval(s, g->ids + s->pos, now, &logits, err, sizeof err)) {
            decoder_fail(name, "session_eval:", err);
            return;
        }
    }
    if (logits) memcpy(out, logits, CASE_VOCAB * sizeof *out);
}

/* Saved in the middle and loaded elsewhere: the same bits as read on; of a model that is another in one setting it is
 * refused. */
static void states(void) {
    static DecoderCase g;
    for (const char *const *name = cases; *name; name++) {
        Model m;
        Session a, b;
        char err[300] = "";
        float want[CASE_VOCAB], got[CASE_VOCAB];
        const SessionOptions o = {.n_ctx = CASE_IDS, .threads = 1};
        const char *path = test_tmp("layers.state");
        if (!case_read(&g, *name) || !opened(&m, *name)) continue;
        CHECK(session_init(&a, &m, &o, err, sizeof err) == 0 && session_init(&b, &m, &o, err, sizeof err) == 0);
        read_ids(want, *name, &a, &g, 19, 19);
        CHECK(session_save(&a, path, err, sizeof err) == 0);
        read_ids(want, *name, &a, &g, 40, 21);
        read_ids(got, *name, &b, &g, 5, 5); /* forgotten */
        CHECK(session_load(&b, path, NULL, err, sizeof err) == 0 && b.pos == 19);
        read_ids(got, *name, &b, &g, 40, 3);
        CHECK(memcmp(got, want, sizeof got) == 0);
        session_rewind(&b, 0);
        m.config.decoder->kinds[0].turn ^= TURN_NOT; /* another model, that is */
        CHECK(session_load(&b, path, NULL, err, sizeof err) == -EINVAL);
        session_free(&a), session_free(&b);
        model_close(&m);
    }
}

/* Threads and batches change no bit, with any cache; and caches of fewer bits little: keys and values are rounded to
 * 2^-11 or 1/254 of the largest of 32, and logits are -13 .. 13. */
static void caches(void) {
    static const struct { int threads; size_t batch, step; } ways[] = {{1, 64, 40}, {3, 64, 40}, {2, 7, 11}, {2, 3, 1}};
    static const double most[] = {[CACHE_F32] = 1e-4, [CACHE_F16] = 0.1, [CACHE_Q8_0] = 1.5};
    static DecoderCase g;
    for (const char *const *name = cases; *name; name++) {
        Model m;
        float exact[CASE_VOCAB], first[CASE_VOCAB], got[CASE_VOCAB];
        char err[300];
        if (!case_read(&g, *name) || !opened(&m, *name)) continue;
        for (int type = CACHE_F32; type <= CACHE_Q8_0; type++)
            for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
                Session s;
                float *out = w ? got : type == CACHE_F32 ? exact : first;
                CHECK(session_init(&s, &m, &(SessionOptions){.n_ctx = CASE_IDS, .cache = (CacheType)type, .grain = 1,
                                                             .threads = ways[w].threads, .n_batch = ways[w].batch},
                                   err, sizeof err) == 0);
                read_ids(out, *name, &s, &g, 40, ways[w].step);
                CHECK(!w || memcmp(got, type == CACHE_F32 ? exact : first, sizeof got) == 0);
                for (int i = 0; i < CASE_VOCAB; i++) NEAR(out[i], exact[i], most[type], 0);
                session_free(&s);
            }
        model_close(&m);
    }
}

/* ---- blocks ---- */

/* The model at `from` as a mixture; the path, or NULL. */
static const char *quantized(const char *name, const char *from, const char *mixture) {
    char err[300] = "";
    Source s;
    NewFile f;
    const Report quiet = {0};
    const char *path = test_tmp("layers-blocks.gguf");
    if (!from || source_open(&s, from, &(SourceWish){0}, &quiet, err, sizeof err)) {
        decoder_fail(name, "source_open:", err);
        return NULL;
    }
    mixture_apply(mixture_find(mixture), &s, &quiet);
    int rc = newfile_open(&f, path, err, sizeof err);
    if (rc == 0) rc = model_write(&f, &s, 1, &quiet, err, sizeof err);
    if (rc == 0) rc = newfile_close(&f, 1, err, sizeof err);
    source_close(&s);
    if (rc) decoder_fail(name, mixture, err);
    return rc ? NULL : path;
}

/* In blocks, too, whole = pieces = one by one, in every row of kernels (case_distance says it), and the rows agree, but
 * where the last bit of a float sum moves an activation to the next of its 255 steps: 1e-2 was seen. How far blocks are
 * from floats says little here, where a number changes which expert is chosen; with F16 nothing is lost. */
static void blocks(void) {
    static const struct { const char *mixture; double most; } types[] = {{"F16", 1e-4}, {"Q8_0", 15}, {"Q4_0", 15}};
    static DecoderCase g;
    for (const char *const *name = cases; *name; name++)
        for (size_t t = 0; t < sizeof types / sizeof *types && case_read(&g, *name); t++) {
            const char *path = quantized(*name, gguf_file(*name, TENSOR_F32, &sound), types[t].mixture);
            const Kernels *k;
            double of_ref = NAN;
            for (int row = 0; path && (k = kernels_row(row)); row++) {
                double d = case_distance(*name, path, k, &g);
                if (row == 0) of_ref = d;
                CHECK(d < types[t].most);
                NEAR(d, of_ref, 0.05, 0);
            }
        }
}

/* Texts read side by side, and one behind another, have the bits that each has alone: no state is left of the last. */
static void side_by_side(void) {
    enum { N = 12 };
    static const char *const names[] = {"qwen35", "qwen35moe", "qwen3next", "gemma3_six", "mixtral",
                                        "deepseek_v3"};
    for (size_t c = 0; c < sizeof names / sizeof *names; c++) {
        char err[300];
        static float alone[3][N][CASE_VOCAB];
        static DecoderCase g;
        Model m;
        Session s;
        if (!case_read(&g, names[c]) || !opened(&m, names[c])) continue;
        size_t d = (size_t)m.config.d_model;
        const EncoderText texts[] = {{.ids = g.ids, .n = 7}, {.ids = g.ids + 9, .n = 1}, {.ids = g.ids + 3, .n = N}};
        CHECK(session_init(&s, &m, &(SessionOptions){.n_ctx = 64, .threads = 2}, err, sizeof err) == 0);
        for (size_t i = 0; i < 3; i++) {
            CHECK(encoder_read(&s, &texts[i], 1, err, sizeof err) == 0);
            for (size_t t = 0; t < texts[i].n; t++) memcpy(alone[i][t], encoder_hidden(&s, t), d * sizeof(float));
        }
        CHECK(encoder_read(&s, texts, 3, err, sizeof err) == 0);
        int same = 1;
        for (size_t i = 0, at = 0; i < 3; at += texts[i++].n)
            for (size_t t = 0; t < texts[i].n; t++)
                same &= memcmp(alone[i][t], encoder_hidden(&s, at + t), d * sizeof(float)) == 0;
        if (!same) decoder_fail(names[c], "a text beside others is", "another");
        session_free(&s);
        model_close(&m);
    }
}

extern const Test tests_layers[];
const Test tests_layers[] = {
    {"layers/delta rule, by token and in chunks", delta_rule},
    {"layers/states", states},
    {"layers/caches, threads, batches", caches},
    {"layers/blocks", blocks},
    {"layers/texts side by side", side_by_side},
    {0},
};
