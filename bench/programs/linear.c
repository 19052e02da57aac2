/* bench/programs/linear.c - linear attention beside softmax, measured: speed and memory against the context, long
 * texts, drift. make bench-linear                   all four tables make bench-linear T=context         one of: context
 * prompt million drift Both kinds run on the same weights: linear attention is asked for as --attention linear does it.
 * Random weights of two shapes; million takes ../shared/data/tales/tales-1m-linear-f32.gguf where it is. */
#include "attention/maps.h"
#include "attention/cache_bytes.h"
#include "model/attend_texts.h"
#include "model/timeline.h"
#include "model/options.h"
#include "tests/build.h"
#include "base/base.h"
#include "base/system.h"
#include "bench/ceilings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 5, MILLION = 1000000 };

/* A line of /proc/self/status in kB, 0 where there is none. */
static long status_kb(const char *key) {
    char line[200];
    long kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0) kb = strtol(line + strlen(key) + 1, NULL, 10);
    if (f) fclose(f);
    return kb;
}

/* What this machine still has, in bytes; without /proc, 4 GB. */
static double memory_free(void) {
    char line[200];
    double kb = 4e6;
    FILE *f = fopen("/proc/meminfo", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "MemAvailable:", 13) == 0) kb = strtod(line + 13, NULL);
    if (f) fclose(f);
    return kb * 1e3;
}

static const struct {
    const char *name, *path;
    BuildShape s;
} shapes[] = {
    {"1M", "/tmp/bench-linear-1M", {.d = 128, .ff = 352, .layers = 6, .heads = 4, .kv_heads = 2, .n_ctx = 256}},
    {"110M",
     "/tmp/bench-linear-110M",
     {.d = 768, .ff = 2048, .layers = 12, .heads = 12, .kv_heads = 12, .n_ctx = 1024}}};

static int id_at(size_t i) { return 3 + (int)((i * 7919 + i / 13) % 290); }

static int open_session(Model *m, Session *s, const char *path, int linear, SessionOptions so) {
    char err[300];
    ModelOptions o = {
        .attention.kind = linear ? ATTENTION_LINEAR : ATTENTION_SOFTMAX};
    if (model_open(m, path, &o, err, sizeof err) == 0) {
        if (session_init(s, m, &so, err, sizeof err) == 0) return 0;
        model_close(m);
    }
    fprintf(stderr, "%s\n", err);
    return -1;
}

/* ---- tokens a second and memory, at a context ---- */

/* As if n ids had been read: softmax's cache is filled with numbers that are not a text's, which costs the same to
 * read. */
static void pretend_read(Session *s, size_t n) {
    float *kept = (float *)(void *)s->past->cache.k; /* keys, and values behind them */
    for (size_t i = 0; kept && i < cache_bytes(&s->past->cache) / sizeof(float); i++)
        kept[i] = (float)(i % 1021) / 1021 - 0.5f;
    s->pos = n;
}

static void context_row(const char *shape, const char *path, int linear, size_t n) {
    enum { STEPS = 9 };
    Model m;
    Session s;
    char err[300];
    const float *logits;
    double t[STEPS];
    if (open_session(&m, &s, path, linear, (SessionOptions){.n_ctx = n + STEPS + 2})) return;
    pretend_read(&s, n);
    for (int i = -2; i < STEPS; i++) {
        double t0 = clock_seconds();
        session_eval(&s, &(int){id_at((size_t)i + 2)}, 1, &logits, err, sizeof err);
        if (i >= 0) t[i] = clock_seconds() - t0;
    }
    printf("%s,%s,%zu,%.2f,%.3f\n", shape, linear ? "linear" : "softmax", n, 1 / spread_of(t, STEPS).median,
           (double)session_bytes(&s) / 1e6);
    fflush(stdout);
    session_free(&s);
    model_close(&m);
}

static void context_table(void) {
    printf("shape,attention,context,tokens_per_s,memory_mb\n");
    for (size_t i = 0; i < 2; i++)
        for (int linear = 0; linear < 2; linear++)
            for (size_t n = 1024; n <= 1 << 20; n *= 2) {
                const BuildShape *s = &shapes[i].s;
                double cache = 8.0 * s->layers * s->kv_heads * (s->d / s->heads) * (double)n;
                if (linear || cache < 0.9 * memory_free()) context_row(shapes[i].name, shapes[i].path, linear, n);
                else
                    fprintf(stderr, "%s: a context of %zu needs %.0f GB for softmax's cache, which is not here\n",
                            shapes[i].name, n, cache / 1e9);
            }
}

/* ---- reading a prompt ---- */

static double prompt_rate(const char *path, int linear, size_t chunk, size_t n) {
    Model m;
    Session s;
    char err[300];
    const float *logits;
    double t[RUNS];
    SessionOptions so = {.n_ctx = n, .chunk = chunk, .linear = chunk ? &linear_texts : NULL};
    int *ids = malloc(n * sizeof *ids);
    if (!ids || open_session(&m, &s, path, linear, so)) {
        free(ids);
        return 0;
    }
    for (size_t i = 0; i < n; i++) ids[i] = id_at(i);
    for (int r = -1; r < RUNS; r++) {
        session_rewind(&s, 0);
        double t0 = clock_seconds();
        session_eval(&s, ids, n, &logits, err, sizeof err);
        if (r >= 0) t[r] = clock_seconds() - t0;
    }
    free(ids);
    session_free(&s);
    model_close(&m);
    return (double)n / spread_of(t, RUNS).median;
}

static void prompt_table(void) {
    printf("| shape | prompt | softmax tok/s | linear tok/s | ratio | linear, chunks of 16 | of 64 "
           "|\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < 2; i++)
        for (size_t n = 64; n <= (i ? 2048 : 8192); n *= 2) {
            double softmax = prompt_rate(shapes[i].path, 0, 0, n), linear = prompt_rate(shapes[i].path, 1, 0, n);
            double c16 = prompt_rate(shapes[i].path, 1, 16, n), c64 = prompt_rate(shapes[i].path, 1, 64, n);
            printf("| %s | %zu | %.0f | %.0f | %.2f | %.0f | %.0f |\n", shapes[i].name, n, softmax, linear,
                   linear / softmax, c16, c64);
            fflush(stdout);
        }
}

/* ---- a million tokens ---- */

static void million_table(void) {
    static const char path[] = "../shared/data/tales/tales-1m-linear-f32.gguf";
    FILE *f = fopen(path, "rb");
    if (f) fclose(f);
    Model m;
    Session s;
    char err[300];
    const float *logits;
    double ten[100];
    long held[100];
    size_t bad = 0;
    if (open_session(&m, &s, f ? path : shapes[0].path, 1, (SessionOptions){0})) return;
    double t0 = clock_seconds();
    for (size_t i = 0; i < MILLION; i++) {
        session_eval(&s, &(int){id_at(i)}, 1, &logits, err, sizeof err);
        for (int v = 0; v < m.config.vocab_size; v++) bad += !isfinite(logits[v]);
        if ((i + 1) % 10000 == 0) {
            ten[i / 10000] = 10000 / (clock_seconds() - t0);
            held[i / 10000] = status_kb("VmRSS");
            t0 = clock_seconds();
        }
    }
    printf("%s, one token at a time, 1,000,000 of them; each line 10,000:\n\n| tokens | tok/s | memory held, kB "
           "|\n|---|---|---|\n",
           f ? path : "random weights");
    for (int i = 0; i < 100; i = i == 0 ? 1 : i < 9 ? 9 : i < 49 ? 49 : i < 98 ? 98 : i + 1)
        printf("| %d-%d | %.0f | %ld |\n", 10000 * i, 10000 * (i + 1), ten[i], held[i]);
    double first = ten[0], last = ten[99];
    double early = spread_of(ten + 1, 9).median, late = spread_of(ten + 90, 9).median;
    printf("\nlast 10,000 / first 10,000: %.3f; medians of nine at either end: %.3f; memory %+ld kB; logits not "
           "finite: %zu\n",
           last / first, late / early, held[99] - held[0], bad);
    session_free(&s);
    model_close(&m);
}

/* ---- what a state in float loses ---- */

/* One head of 64, phi = elu+1, form numerator; state in float, in float with Kahan's compensation, in double, and in
 * long double to compare with. The same features for all, from independent normal q, k, v. */
enum { HEAD = 64 };

typedef struct {
    float S[HEAD][HEAD], z[HEAD];
    float Sk[HEAD][HEAD], zk[HEAD], Sc[HEAD][HEAD], zc[HEAD]; /* Kahan: sums and what they lost */
    double S64[HEAD][HEAD], z64[HEAD];
    long double Sx[HEAD][HEAD], zx[HEAD];
} Sums;

static uint64_t rng = 88172645463325252u;
static double normal(void) {
    double u[2];
    for (int i = 0; i < 2; i++) {
        rng ^= rng << 13, rng ^= rng >> 7, rng ^= rng << 17;
        u[i] = (double)((rng >> 11) + 1) * 0x1p-53;
    }
    return sqrt(-2 * log(u[0])) * cos(TURN * u[1]);
}

static void kahan(float *sum, float *lost, float x) {
    float y = x - *lost, t = *sum + y;
    *lost = (t - *sum) - y;
    *sum = t;
}

static void take(Sums *s, const double *num, const double *den, const float *v) {
    for (int i = 0; i < HEAD; i++) {
        s->z[i] += (float)den[i], s->z64[i] += den[i], s->zx[i] += (long double)den[i];
        kahan(&s->zk[i], &s->zc[i], (float)den[i]);
        for (int j = 0; j < HEAD; j++) {
            s->S[i][j] += (float)num[i] * v[j];
            kahan(&s->Sk[i][j], &s->Sc[i][j], (float)num[i] * v[j]);
            s->S64[i][j] += num[i] * (double)v[j];
            s->Sx[i][j] += (long double)num[i] * (long double)v[j];
        }
    }
}

static void features(double *num, double *den, const Rope *r, int64_t pos, const LinearConfig *c) {
    double x[HEAD], cs[HEAD / 2], sn[HEAD / 2];
    for (int i = 0; i < HEAD; i++) x[i] = (double)(float)normal();
    c->phi->map(den, x, c, &kernels_ref);
    memcpy(num, den, HEAD * sizeof *num);
    rope_row64(r, pos, cs, sn);
    rope_rotate64(num, cs, sn, HEAD, ROPE_INTERLEAVED);
}

/* |row of the sums in question - row in long double| / |row in long double|, three times. */
static void drift_row(const Sums *s, const double *num, const double *den, size_t n) {
    long double want_den = 0, d32 = 0, dk = 0, d64 = 0, error[3] = {0}, size = 0;
    for (int i = 0; i < HEAD; i++) {
        want_den += (long double)den[i] * s->zx[i], d64 += (long double)den[i] * (long double)s->z64[i];
        d32 += (long double)den[i] * (long double)s->z[i], dk += (long double)den[i] * (long double)s->zk[i];
    }
    for (int j = 0; j < HEAD; j++) {
        long double o[4] = {0};
        for (int i = 0; i < HEAD; i++) {
            long double q = (long double)num[i];
            o[0] += q * (long double)s->S[i][j], o[1] += q * (long double)s->Sk[i][j],
                o[2] += q * (long double)s->S64[i][j], o[3] += q * s->Sx[i][j];
        }
        o[0] /= d32, o[1] /= dk, o[2] /= d64, o[3] /= want_den;
        for (int k = 0; k < 3; k++) error[k] += (o[k] - o[3]) * (o[k] - o[3]);
        size += o[3] * o[3];
    }
    printf("| %zu | %.1Le | %.1Le | %.1Le |\n", n, sqrtl(error[0] / size), sqrtl(error[1] / size),
           sqrtl(error[2] / size));
    fflush(stdout);
}

static void drift_table(void) {
    Sums *s = calloc(1, sizeof *s);
    Rope r;
    RopeConfig rc = {.scaling = &rope_none, .rotary_dim = HEAD, .theta = 10000};
    LinearConfig c = {.phi = feature_map("elu+1"), .form = linear_form("numerator"), .head_dim = HEAD};
    double num[HEAD], den[HEAD];
    float v[HEAD];
    if (!s) return;
    rope_init(&r, &rc, MILLION);
    printf("A row after n tokens, relative to sums in long double:\n\n| n | float | float, compensated | double "
           "|\n|---|---|---|---|\n");
    for (size_t n = 1, shown = 1000; n <= MILLION; n++) {
        features(num, den, &r, (int64_t)n, &c);
        for (int i = 0; i < HEAD; i++) v[i] = (float)normal();
        take(s, num, den, v);
        if (n != shown) continue;
        features(num, den, &r, (int64_t)n, &c); /* a query */
        drift_row(s, num, den, n);
        shown *= 10;
    }
    free(s);
}

int main(int argc, char **argv) {
    static const struct { const char *name; void (*table)(void); } tables[] = {
        {"context", context_table}, {"prompt", prompt_table}, {"million", million_table}, {"drift", drift_table}};
    fprintf(stderr, "kernels %s\n", kernels_best()->name);
    for (size_t i = 0; i < 2; i++) build_llama2c(shapes[i].path, &shapes[i].s, 0, 0);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (int a = 1; a < argc || (argc == 1 && a == 1); a++)
            if (argc == 1 || strcmp(argv[a], tables[i].name) == 0) tables[i].table(), putchar('\n');
    for (size_t i = 0; i < 2; i++) remove(shapes[i].path);
    return 0;
}
