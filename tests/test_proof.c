/* tests/test_proof.c - lab/proof.c: a text from two places, and angles as others round them. */
#include "lab/proof.h"
#include "model/options.h"
#include "rope/angles.h"
#include "build.h"
#include "test.h"

#include <string.h>

enum { N = 60 };
static const BuildShape shape = {.d = 64, .ff = 96, .layers = 2, .heads = 4, .kv_heads = 2, .n_ctx = 64};

static Proof prove(const char *spec, int linear, size_t origin, const char *angles) {
    Model m;
    Proof p = {0};
    char err[400] = "";
    int ids[N];
    ModelOptions o = {.rope = {.spec = spec, .n_ctx = 256},
                      .attention = {.kind = linear ? ATTENTION_LINEAR : ATTENTION_AS_FILE}};
    ProofPlace at = {.origin = origin, .angles = angles ? rope_angles_row(angles) : NULL};
    for (int i = 0; i < N; i++) ids[i] = build_id(i);
    build_gguf(test_tmp("proof.gguf"), &shape, TENSOR_F32);
    int rc = model_open(&m, test_tmp("proof.gguf"), &o, err, sizeof err);
    if (rc == 0) rc = proof_run(&p, &m, (ProofPlace){0}, at, ids, N, 2, NULL, NULL, err, sizeof err);
    if (rc) printf("    %s\n", err);
    CHECK(rc == 0 && p.tokens == N);
    model_close(&m);
    return p;
}

/* Float sums round otherwise where angles differ: 1e-5 of logits up to 6. A wrong distance: 1e-2 and more. */
static void distances_alone(void) {
    static const struct { const char *spec; size_t origin; int same; } rows[] = {
        {NULL, 0, 1}, {NULL, 1000, 1}, {NULL, 1000000, 1}, {"yarn:factor=4", 5000, 1}, {"rerope:window=9", 777, 1},
        {"leaky:window=9:factor=3", 777, 1}, {"string:shift=20:window=3", 777, 1}, {"window:size=11", 777, 1},
        {"self-extend:group=3:window=9", 3 * 777, 1}, {"self-extend:group=3:window=9", 3 * 777 + 1, 0},
        {"power:c=100", 777, 0}, {"dca:chunk=12:local=4", 4, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Proof p = prove(rows[i].spec, 0, rows[i].origin, NULL);
        if ((p.logit_off < 1e-4) != rows[i].same) printf("    row %zu: %g\n", i, p.logit_off);
        CHECK((p.logit_off < 1e-4) == rows[i].same);
        CHECK(rows[i].origin || p.logit_off == 0);
        CHECK(!rows[i].same || (p.logit_ulps < 1000 && p.nll_off < 1e-4 && fabs(p.nll[0] - p.nll[1]) < 1e-4));
    }
    CHECK(prove(NULL, 1, 1000000, NULL).logit_off < 1e-4);
}

/* The worst phase errors of rope-methods.md 2.15, where they are large and where they are small. */
static void rounded_angles(void) {
    CHECK(prove(NULL, 0, 0, "f32").logit_off < 1e-4 && prove(NULL, 0, 0, "double").logit_off == 0);
    CHECK(prove(NULL, 0, 10485759, "f32").logit_off > 1e-2 && prove(NULL, 0, 10485759, "double").logit_off < 1e-4);
    CHECK(prove(NULL, 0, 10485759, "ggml").logit_off > 1e-2 && prove(NULL, 0, 0, "bf16").logit_off > 1e-4);
    const RopeConfig c = {.scaling = &rope_none, .rotary_dim = 128, .theta = 10000};
    static const struct { const char *name; int64_t pos; double worst; } phase[] = {
        {"f32", 2047, 5.8e-5}, {"ggml", 2047, 1.9e-4}, {"f32", 131071, 4.2e-3}, {"ggml", 131071, 1.3e-2},
        {"f32", 1048575, 3.1e-2}, {"ggml", 1048575, 1.0e-1}, {"bf16", 2047, 2.5}};
    Rope r;
    rope_init(&r, &c, 1);
    CHECK(rope_geometric(&r));
    for (size_t i = 0; i < sizeof phase / sizeof *phase; i++) {
        double worst = 0;
        for (int64_t pos = phase[i].pos - 200; pos <= phase[i].pos; pos++)
            for (int k = 0; k < 64; k++) {
                double off = rope_angles_row(phase[i].name)->angle(&r, pos, k) - (double)pos * r.inv_freq[k];
                worst = fmax(worst, fabs(remainder(off, 6.283185307179586)));
            }
        if (worst < phase[i].worst / 4 || worst > phase[i].worst * 3) printf("    %s: %g\n", phase[i].name, worst);
        CHECK(worst > phase[i].worst / 4 && worst < phase[i].worst * 3); /* theirs is of one position */
    }
}

extern const Test tests_proof[];
const Test tests_proof[] = {
    {"proof/distances alone", distances_alone},
    {"proof/angles as others round them", rounded_angles},
    {0},
};
