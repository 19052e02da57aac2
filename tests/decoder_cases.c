/* tests/decoder_cases.c - cases of decoder_files.h put before the engine. */
#include "decoder_cases.h"

#include "model/options.h"
#include "model/timeline.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Logits are -6 .. 6 (Gemma's and Qwen 3.5's -13 .. 13). Worst seen of float32 against float64: stock transformers
 * 1.2e-5 (3e-5), llama.cpp 1.5e-5 (tests/oracle/README.md). */
static const double TOLERANCE = 1e-4, WRONG = 1e-2;

int case_read(DecoderCase *g, const char *name) {
    char *text = decoder_golden(name, ".logits", NULL);
    memset(g, 0, sizeof *g);
    if (!text) {
        decoder_fail(name, "no golden in", "tests/golden/decoders or architectures");
        return 0;
    }
    g->gguf = !strstr(text, "\n# no GGUF");
    char *p = strstr(text, "\nids ");
    for (p += 5; *p != '\n' && g->n_ids < CASE_IDS; g->n_ids++) g->ids[g->n_ids] = (int)strtol(p, &p, 10);
    while ((p = strstr(p, "\nrow ")) && g->n_rows < CASE_ROWS) { /* row LENGTH_OF_CALL POSITION v v v .. */
        (void)strtol(p + 5, &p, 10);
        g->n[g->n_rows] = (int)strtol(p, &p, 10) + 1; /* shorter calls have the same row: attention looks back only */
        for (int i = 0; i < CASE_VOCAB; i++) g->logits[g->n_rows][i] = strtod(p, &p);
        g->n_rows++;
    }
    free(text);
    return g->n_rows == CASE_ROWS;
}

/* ---- the engine ---- */

/* Go on to the first n ids, `step` a call; the last logits, NULL after a failure. */
static const float *read_on(const char *name, Session *s, const DecoderCase *g, int n, int step) {
    char err[300] = "";
    const float *logits = NULL;
    while ((int)s->pos < n) {
        size_t left = (size_t)(n - (int)s->pos), now = left < (size_t)step ? left : (size_t)step;
        if (session_eval(s, g->ids + s->pos, now, &logits, err, sizeof err)) {
            decoder_fail(name, "session_eval:", err);
            return NULL;
        }
    }
    return logits;
}

/* Every row three times: its ids in one call from an empty session; in pieces of five, and one by one, that go on from
 * the row before (longrope's other list must then rule the old ids too). */
static double worst_row(const char *name, Session *s, const DecoderCase *g) {
    static float whole[CASE_ROWS][CASE_VOCAB];
    static const int steps[] = {CASE_IDS, 5, 1};
    double worst = 0;
    for (int way = 0; way < 3; way++)
        for (int r = 0; r < g->n_rows; r++) {
            if (way == 0 || r == 0) session_rewind(s, 0);
            const float *logits = read_on(name, s, g, g->n[r], steps[way]);
            if (!logits) return NAN;
            if (way == 0) memcpy(whole[r], logits, sizeof whole[r]);
            if (memcmp(whole[r], logits, sizeof whole[r]) != 0) {
                decoder_fail(name, "has other bits", way == 1 ? "in pieces of five" : "one by one");
                return NAN;
            }
            for (int i = 0; i < CASE_VOCAB; i++) {
                double d = fabs((double)logits[i] - g->logits[r][i]);
                if (!(d <= worst)) worst = d; /* a NaN stays */
            }
        }
    return worst;
}

double case_distance(const char *name, const char *path, const Kernels *k, const DecoderCase *g) {
    char err[300] = "";
    Model m;
    Session s;
    double worst = NAN;
    if (model_open(&m, path, &(ModelOptions){.kernels = k}, err, sizeof err)) {
        decoder_fail(name, "model_open:", err);
        return NAN;
    }
    if (session_init(&s, &m, &(SessionOptions){.n_ctx = CASE_IDS, .threads = 1}, err, sizeof err)) {
        decoder_fail(name, "session_init:", err);
    } else {
        worst = worst_row(name, &s, g);
        session_free(&s);
    }
    model_close(&m);
    return worst;
}

/* ---- every case ---- */

static void expect(const char *name, const char *file, const char *path, const Kernels *k, const DecoderCase *g,
                   double tolerance, double *worst) {
    double d = path ? case_distance(name, path, k, g) : NAN;
    if (!(d <= *worst)) *worst = d;
    if (d <= (tolerance > 0 ? tolerance : TOLERANCE)) return;
    char what[200];
    snprintf(what, sizeof what, "off by %.2e with kernels %s in", d, k->name);
    decoder_fail(name, what, file);
}

/* Blocks as floats, which meet exact activations. */
static void floats_hold(const char *name, CaseWish wish, const DecoderCase *g, double *worst) {
    const char *path = converted(name, hf_folder(name, "", TENSOR_F32, wish.s), NULL, 1);
    expect(name, "blocks converted to F32", path, kernels_best(), g, 0, worst);
}

static void case_holds(const char *name, CaseWish wish, const DecoderCase *g, double *worst) {
    static const char *const configs[] = {"4", "4type", "4top", "5null"};
    static const struct { TensorType type; const char *hf, *gguf; } types[] = {
        {TENSOR_F32, "F32 safetensors", "F32 GGUF"}, {TENSOR_F16, "F16 safetensors", "F16 GGUF"},
        {TENSOR_BF16, "BF16 safetensors", "BF16 GGUF"},
    };
    const Kernels *k = kernels_row(0);
    for (int row = 0; k; k = kernels_row(++row))
        for (int t = 0; t < 3; t++) {
            expect(name, types[t].hf, hf_folder(name, "", types[t].type, wish.s), k, g, wish.tolerance, worst);
            const char *path = g->gguf ? gguf_file(name, types[t].type, wish.s) : NULL;
            if (path) expect(name, types[t].gguf, path, k, g, wish.tolerance, worst);
        }
    if (g->gguf && wish.convert) {
        const char *path = converted(name, hf_folder(name, "", TENSOR_F32, wish.s), NULL, 0);
        expect(name, "F32 converted to GGUF", path, kernels_best(), g, wish.tolerance, worst);
        path = converted(name, hf_folder(name, "", TENSOR_BF16, wish.s), NULL, 0);
        expect(name, "BF16 converted to GGUF", path, kernels_best(), g, wish.tolerance, worst);
    }
    if (wish.tolerance > 0) floats_hold(name, wish, g, worst);
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        const char *folder = hf_folder(name, configs[i], TENSOR_F32, wish.s);
        if (folder) expect(name, configs[i], folder, kernels_best(), g, wish.tolerance, worst);
    }
}

void cases_hold(const char *const *names, CaseWish wish) {
    static DecoderCase g;
    double worst = 0;
    for (; *names; names++)
        if (case_read(&g, *names)) case_holds(*names, wish, &g, &worst);
    if (getenv("ORACLE_PRINT")) printf("    worst difference %.2e\n", worst);
}

void case_misses(const char *name, const char *what, const char *path, const DecoderCase *g) {
    double d = path ? case_distance(name, path, kernels_best(), g) : NAN;
    if (getenv("ORACLE_PRINT")) printf("    %s, %s: off by %.2g\n", name, what, d);
    if (!(d > WRONG)) decoder_fail(name, "the golden does not see", what);
}

void case_refused(const char *name, const char *path, const char *line) {
    char err[500] = "";
    Model m;
    int rc = model_open(&m, path, NULL, err, sizeof err);
    if (rc == 0) model_close(&m);
    if (rc != -EINVAL || !strstr(err, line) || strchr(err, '\n')) decoder_fail(name, line, rc ? err : "is not refused");
}
