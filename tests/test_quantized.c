/* tests/test_quantized.c - a whole decoder in every block format against logits that were computed outside the engine.
 *
 * tests/oracle/quantized.py made tests/golden/quantized: for each format the head of a GGUF file as the gguf package
 * writes it, and float64 logits from weights as that package decodes them. The blocks come from a formula, here and
 * there the same (raw_bytes). Rows have 256 columns and 512, there are 300 words, which fill no tile, and two query
 * heads share a key head.
 *
 * `rounded` are the logits where what meets a matrix is rounded as kernels.h says (quantize), `exact` where it is
 * not. */
#include "kernels/rows.h"
#include "test.h"

#include "model/options.h"
#include "model/session.h"
#include "build.h"

#include <stdlib.h>
#include <string.h>

#define GOLDEN "tests/golden/quantized/"

enum { VOCAB = 300, MAX_IDS = 24, MAX_HALVES = 4 };

/* Against `rounded`: its ids are such that no code comes within 2.9e-4 of a half. The codes of a float32 program, up to
 * 127, err by less than that, so it rounds all of them as float64 does, and what remains are float sums: logits are up
 * to 6, worst seen 1.4e-6. One code rounded the other way moves logits by 1e-3 to 3e-2 (some of `long`, ref beside
 * avx2), so one would be seen. */
static const double SAME_CODES = 2e-5;
/* Against `exact`, as a share of the logits' root mean square: a code errs by up to half a step, 0.6 % of an entry's
 * usual size, and nine products, one behind the other, make that 2 to 3 %; the worst of 300 logits has four times that.
 * Worst seen 0.13. */
static const double ROUNDING = 0.2;

typedef struct {
    char *head;      /* the GGUF file up to its data */
    size_t n_head;
    char *text;      /* NAME.txt */
    uint8_t *file;   /* head and data */
    size_t size;
    int n_short, n_long, shorts[MAX_IDS], longs[MAX_IDS];
    double rounded[VOCAB], exact[VOCAB], exact_long[VOCAB];
} Golden;

static void fail(const char *name, const char *kernels, const char *what) {
    char line[300];
    snprintf(line, sizeof line, "%s, %s: %s", name, kernels, what);
    test_fail(__FILE__, __LINE__, line);
}

/* The numbers of the line that begins with key, at most max; how many. */
static int numbers(double *out, int max, const char *text, const char *key) {
    const char *p = strstr(text, key);
    int n = 0;
    if (!p) return 0;
    for (p += strlen(key); *p == ' ' && n < max; n++) {
        char *end;
        out[n] = strtod(p, &end);
        p = end;
    }
    return n;
}

static int ids_of(int *out, const char *text, const char *key) {
    double x[MAX_IDS];
    int n = numbers(x, MAX_IDS, text, key);
    for (int i = 0; i < n; i++) out[i] = (int)x[i];
    return n;
}

/* ---- the file: as quantized.py makes it ---- */

typedef struct {
    char name[64];
    int type, n_halves, at[MAX_HALVES], exponent[MAX_HALVES];
    size_t rows, cols;
} Part;

static size_t tensor_bytes(const Part *t) {
    Matrix m = {.type = (TensorType)t->type, .rows = t->rows, .cols = t->cols};
    return matrix_bytes(&m);
}

/* raw_bytes: eight bytes a hash; each block's halves (NVFP4's scales) keep sign and fraction and get an exponent. */
static void put_blocks(uint8_t *out, const Part *t) {
    size_t n = tensor_bytes(t), step = (size_t)quant_format(t->type)->bytes;
    uint64_t hash = 0;
    for (size_t i = 0; i < n; i++) {
        if (i % 8 == 0) hash = name_hash(t->name, i / 8);
        out[i] = (uint8_t)(hash >> 8 * (i % 8));
    }
    for (size_t block = 0; block < n; block += step)
        for (int h = 0; h < t->n_halves; h++) {
            uint8_t *high = out + block + t->at[h] + 1;
            if (t->type == TENSOR_NVFP4) high[-1] = (uint8_t)((high[-1] & 0x87) | t->exponent[h] << 3);
            else *high = (uint8_t)((*high & 0x83) | t->exponent[h] << 2);
        }
}

static void put_norm(uint8_t *out, const Part *t) {
    for (size_t i = 0; i < t->cols; i++)
        float_encode(out + 4 * i, (float)(128 + name_value(t->name, i) / 2) / 128, TENSOR_F32);
}

/* The tensor of the line at *text, which moves on; 0 after the last. */
static int next_tensor(Part *t, const char **text) {
    const char *p = strstr(*text, "\ntensor ");
    int used = 0;
    if (!p) return 0;
    memset(t, 0, sizeof *t);
    int got = sscanf(p + 8, "%63s %d %zu %zu %d%n", t->name, &t->type, &t->rows, &t->cols, &t->n_halves, &used);
    if (got != 5 || t->n_halves > MAX_HALVES) return 0;
    *text = p += 8 + used;
    for (int h = 0; h < t->n_halves; h++, p += used)
        if (sscanf(p, "%d %d%n", &t->at[h], &t->exponent[h], &used) != 2) return 0;
    return 1;
}

static int build(Golden *g) {
    const char *text = g->text;
    Part t;
    size_t size = g->n_head;
    while (next_tensor(&t, &text)) size += (tensor_bytes(&t) + 31) / 32 * 32;
    g->file = calloc(1, size);
    if (!g->file) return 0;
    memcpy(g->file, g->head, g->n_head);
    g->size = g->n_head;
    uint64_t sum = 0;
    for (text = g->text; next_tensor(&t, &text); g->size += (tensor_bytes(&t) + 31) / 32 * 32) {
        uint8_t *data = g->file + g->size;
        if (t.type == TENSOR_F32) put_norm(data, &t);
        else put_blocks(data, &t);
        for (size_t i = 0; i < tensor_bytes(&t); i++) sum += data[i] * (uint64_t)(i + 1);
    }
    const char *told = strstr(g->text, "\nsum ");
    return told && strtoull(told + 5, NULL, 10) == sum;
}

static void golden_free(Golden *g) {
    free(g->head), free(g->text), free(g->file);
    *g = (Golden){0};
}

static int golden_read(Golden *g, const char *name) {
    char path[200];
    *g = (Golden){0};
    snprintf(path, sizeof path, GOLDEN "%s.gguf.head", name);
    g->head = file_read(path, &g->n_head);
    snprintf(path, sizeof path, GOLDEN "%s.txt", name);
    g->text = file_read(path, NULL);
    int good = g->head && g->text && build(g);
    if (good) {
        g->n_short = ids_of(g->shorts, g->text, "\nshort");
        g->n_long = ids_of(g->longs, g->text, "\nlong");
        good = g->n_short && g->n_long == MAX_IDS && numbers(g->rounded, VOCAB, g->text, "\nrounded") == VOCAB &&
               numbers(g->exact, VOCAB, g->text, "\nexact") == VOCAB &&
               numbers(g->exact_long, VOCAB, g->text, "\nexact_long") == VOCAB;
    }
    if (!good) {
        fail(name, "-", "no golden in " GOLDEN ", or a file whose bytes are not the golden's");
        golden_free(g);
    }
    return good;
}

/* ---- comparing ---- */

/* The logits after the last of ids, in `call` ids at a time. */
static int logits_of(float *out, const Model *m, const int *ids, int n, int call, int threads) {
    Session s;
    const float *logits = NULL;
    char err[300] = "";
    int rc = session_init(&s, m, &(SessionOptions){.threads = threads, .cache = CACHE_F32, .grain = 1000}, err,
                          sizeof err);
    for (int i = 0; i < n && rc == 0; i += call)
        rc = session_eval(&s, ids + i, (size_t)(n - i < call ? n - i : call), &logits, err, sizeof err);
    if (rc == 0) memcpy(out, logits, VOCAB * sizeof *out);
    else fail("session", m->kernels->name, err);
    session_free(&s);
    return rc == 0;
}

static double worst(const float *logits, const double *golden) {
    double most = 0;
    for (int i = 0; i < VOCAB; i++) {
        double d = fabs((double)logits[i] - golden[i]);
        if (!(d <= most)) most = d; /* a NaN stays */
    }
    return most;
}

static double rms(const double *x) {
    double sum = 0;
    for (int i = 0; i < VOCAB; i++) sum += x[i] * x[i];
    return sqrt(sum / VOCAB);
}

static const char *const cases[] = {"Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K",
                                    "IQ4_NL", "IQ4_XS", "mixed", "IQ2_S", "TQ1_0", "small", "Q1_0", "NVFP4"};
enum { N_CASES = sizeof cases / sizeof *cases };

/* What to do with each case and row. */
static void each_model(void (*check)(const char *name, const Model *m, const Golden *g)) {
    for (int c = 0; c < N_CASES; c++) {
        Golden g;
        const Kernels *k;
        if (!golden_read(&g, cases[c])) continue;
        for (int row = 0; (k = kernels_row(row)); row++) {
            Model m;
            char err[300] = "";
            int rc = model_open_memory(&m, g.file, g.size, cases[c], &(ModelOptions){.kernels = k}, err, sizeof err);
            if (rc == 0) check(cases[c], &m, &g);
            else fail(cases[c], k->name, err);
            model_close(&m);
        }
        golden_free(&g);
    }
}

static void check_rounded(const char *name, const Model *m, const Golden *g) {
    float logits[VOCAB];
    if (!logits_of(logits, m, g->shorts, g->n_short, g->n_short, 1)) return;
    double d = worst(logits, g->rounded);
    if (getenv("ORACLE_PRINT")) printf("    %s, %s: off by %.1e\n", name, m->kernels->name, d);
    if (!(d <= SAME_CODES)) fail(name, m->kernels->name, "not the logits that rounded activations give");
    if (!(worst(logits, g->exact) > 100 * SAME_CODES))
        fail(name, m->kernels->name, "nothing is rounded, or nothing shows it");
}

static void check_exact(const char *name, const Model *m, const Golden *g) {
    float a[VOCAB], b[VOCAB];
    if (!logits_of(a, m, g->shorts, g->n_short, g->n_short, 1)) return;
    if (!logits_of(b, m, g->longs, g->n_long, g->n_long, 2)) return;
    double d = fmax(worst(a, g->exact) / rms(g->exact), worst(b, g->exact_long) / rms(g->exact_long));
    if (getenv("ORACLE_PRINT")) printf("    %s, %s: off by %.3f\n", name, m->kernels->name, d);
    if (!(d <= ROUNDING)) fail(name, m->kernels->name, "too far from exact activations");
}

/* 24 ids fill the widest tiles of tokens and leave some over; 7 and 1 take narrow ones. */
static void check_batches(const char *name, const Model *m, const Golden *g) {
    float whole[VOCAB], parts[VOCAB];
    int n = m->kernels->lanes ? g->n_long : 8; /* ref computes token by token anyway, slowly */
    if (!logits_of(whole, m, g->longs, n, n, 2)) return;
    for (int call = 1; call <= 7; call += 6)
        if (logits_of(parts, m, g->longs, n, call, 1) && memcmp(whole, parts, sizeof whole) != 0)
            fail(name, m->kernels->name, call == 1 ? "other bits one by one" : "other bits in calls of seven");
}

/* A file that is mapped gives what one in memory does. */
static void test_files(void) {
    for (int c = 0; c < N_CASES; c++) {
        Golden g;
        Model mapped, held;
        char err[300] = "";
        float a[VOCAB] = {0}, b[VOCAB] = {0};
        if (!golden_read(&g, cases[c])) continue;
        const char *path = test_tmp("quantized.gguf");
        file_write(path, g.file, g.size);
        int rc = model_open(&mapped, path, NULL, err, sizeof err);
        if (rc == 0 && (rc = model_open_memory(&held, g.file, g.size, cases[c], NULL, err, sizeof err)) == 0) {
            CHECK(logits_of(a, &mapped, g.shorts, g.n_short, g.n_short, 1));
            CHECK(logits_of(b, &held, g.shorts, g.n_short, g.n_short, 1));
            CHECK(memcmp(a, b, sizeof a) == 0);
            CHECK(worst(a, g.rounded) <= SAME_CODES);
            model_close(&held);
        }
        if (rc) fail(cases[c], "file", err);
        model_close(&mapped);
        golden_free(&g);
    }
}

/* A test of the test: the same blocks, called by the name of a format as large (Q4_0 and IQ4_NL), are far from both
 * goldens. */
static void test_wrong_format(void) {
    Golden g;
    Model m;
    char err[300] = "";
    float logits[VOCAB];
    if (!golden_read(&g, "Q4_0")) return;
    for (size_t i = 0; i + 30 < g.n_head; i++) /* behind a tensor's name: two dimensions, two sizes, then the type */
        if (memcmp(g.file + i, ".weight\2\0\0\0", 11) == 0) g.file[i + 27] = TENSOR_IQ4_NL;
    if (model_open_memory(&m, g.file, g.size, "wrong", NULL, err, sizeof err) == 0) {
        CHECK(logits_of(logits, &m, g.shorts, g.n_short, g.n_short, 1));
        CHECK(worst(logits, g.rounded) > 100 * SAME_CODES && worst(logits, g.exact) > ROUNDING * rms(g.exact));
    } else fail("Q4_0 as IQ4_NL", "-", err);
    model_close(&m);
    golden_free(&g);
}

static void test_rounded(void) { each_model(check_rounded); }
static void test_exact(void) { each_model(check_exact); }
static void test_batches(void) { each_model(check_batches); }

const Test tests_quantized[] = {
    {"quantized/rounded", test_rounded},
    {"quantized/exact", test_exact},
    {"quantized/batches", test_batches},
    {"quantized/files", test_files},
    {"quantized/wrong_format", test_wrong_format},
    {0},
};
