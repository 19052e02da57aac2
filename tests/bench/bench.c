/* tests/bench/bench.c - how fast the engine reads and writes, beside what this machine can do, measured in the same run.
 *     make bench                       random models of two shapes, and the trained ones of ../shared/data
 *     make bench M="model.gguf ..."    these
 *     LLAMA2C=path/to/run make bench   llama2.c's program too, on .bin files, run by run in turn with ours
 * Medians of RUNS. Decoding reads every weight once a token, so its ceiling is the rate at which memory can be read. */
#include "../../model/session.h"
#include "../build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { RUNS = 5, PROMPT = 256, DECODE = 64 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v) {
    qsort(v, RUNS, sizeof *v, ascending);
    return v[RUNS / 2];
}

/* Bytes a second of summing 1 GB of integers, more than caches hold. */
static double read_rate(void) {
    enum { WORDS = 1 << 27 };
    uint64_t *p = malloc(WORDS * sizeof *p), sum = 0;
    double v[RUNS];
    if (!p) return 0;
    for (size_t i = 0; i < WORDS; i++) p[i] = i;
    for (int r = 0; r < RUNS; r++) {
        double t0 = now();
        #pragma omp parallel for reduction(+:sum) schedule(static)
        for (size_t i = 0; i < WORDS; i++) sum += p[i];
        v[r] = WORDS * sizeof *p / (now() - t0);
    }
    if (sum == 1) puts(""); /* the sum is used */
    free(p);
    return median(v);
}

static size_t weight_bytes(const Model *m) { /* what decoding one token reads */
    size_t n = 0;
    for (size_t i = 0; i < m->weights.n_tensors; i++)
        if (m->used[i] && (m->weights.tensors[i].data != m->tok_emb.data || m->lm_head.data == m->tok_emb.data))
            n += m->weights.tensors[i].size;
    return n;
}

/* Tokens a second of llama2.c's program, from its own last line; 0 where it says none. */
static double peer_rate(const char *program, const char *model, const char *tokenizer) {
    char cmd[2000], line[300];
    double rate = 0;
    snprintf(cmd, sizeof cmd, "%s %s -t 0 -n %d -z %s 2>&1 >/dev/null", program, model, DECODE, tokenizer);
    FILE *f = popen(cmd, "r");
    while (f && fgets(line, sizeof line, f)) sscanf(line, "achieved tok/s: %lf", &rate);
    if (f) pclose(f);
    return rate;
}

static int measure(const char *path, const char *tokenizer, double bandwidth) {
    Model m;
    Session s;
    char err[512];
    const char *peer = getenv("LLAMA2C"), *slash = strrchr(path, '/');
    double prompt[RUNS], decode[RUNS], other[RUNS];
    if (model_open(&m, path, NULL, err, sizeof err) || session_init(&s, &m, &(SessionOptions){.n_ctx = PROMPT + DECODE}, err, sizeof err)) {
        fprintf(stderr, "bench: %s\n", err);
        return 1;
    }
    int ids[PROMPT];
    const float *logits;
    for (int i = 0; i < PROMPT; i++) ids[i] = 3 + i % (m.config.vocab_size > 300 ? 290 : m.config.vocab_size - 3);
    for (int r = -1; r < RUNS; r++) { /* one run to warm up */
        session_rewind(&s, 0);
        double t0 = now();
        session_eval(&s, ids, PROMPT, &logits, err, sizeof err);
        double t1 = now();
        session_rewind(&s, 1);
        double t2 = now();
        for (int i = 0; i < DECODE; i++) session_eval(&s, ids + i, 1, &logits, err, sizeof err);
        double t3 = now();
        if (r >= 0) prompt[r] = PROMPT / (t1 - t0), decode[r] = DECODE / (t3 - t2);
        if (r >= 0) other[r] = peer && tokenizer ? peer_rate(peer, path, tokenizer) : 0;
    }
    double d = median(decode), p = median(prompt), o = median(other), bytes = (double)weight_bytes(&m);
    char name[80];
    snprintf(name, sizeof name, "%s %s", slash ? slash + 1 : path, quant_format((int)m.layers->wq.type)->name);
    printf("| %-28s | %8.1f | %9.1f | %7.2f | %5.0f %% | %8.1f | %7.1f |", name, bytes / 1e6, d, d * bytes / 1e9,
           100 * d * bytes / bandwidth, p, 2e-9 * p * (double)m.n_parameters);
    if (o > 0) printf(" %9.1f | %5.2f |", o, d / o);
    else printf("         – |     – |");
    putchar('\n');
    session_free(&s);
    model_close(&m);
    return 0;
}

int main(int argc, char **argv) {
    char tokenizer[64] = "/tmp/roformer-bench.tok";
    double bandwidth = read_rate();
    int threads = 1;
#ifdef _OPENMP
    threads = omp_get_max_threads();
#endif
    printf("kernels %s, %d threads; memory reads %.1f GB/s (median of %d). Context %d, prompt of %d.\n\n", kernels_best()->name,
           threads, bandwidth / 1e9, RUNS, PROMPT + DECODE, PROMPT);
    printf(
        "| model                        | MB/token | decode/s  | GB/s    | of read | prompt/s | GFLOP/s | llama2.c  | ratio |\n|---|---|---|---|---|---|---|---|---|\n");
    for (int i = 1; i < argc; i++) measure(argv[i], NULL, bandwidth);
    if (argc > 1) return 0;
    static const struct { const char *path; BuildShape s; } shapes[] = {
        {"/tmp/stories15M-shape", {288, 768, 6, 6, 6, 512}}, {"/tmp/stories110M-shape", {768, 2048, 12, 12, 12, 512}}};
    build_tokenizer_bin(tokenizer);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        build_llama2c(shapes[i].path, &shapes[i].s, 0, 0);
        measure(shapes[i].path, tokenizer, bandwidth);
        build_gguf(shapes[i].path, &shapes[i].s, TENSOR_Q8_0);
        measure(shapes[i].path, NULL, bandwidth);
        build_gguf(shapes[i].path, &shapes[i].s, TENSOR_Q4_0);
        measure(shapes[i].path, NULL, bandwidth);
        remove(shapes[i].path);
    }
    remove(tokenizer);
    static const char *const trained[] = {"../shared/data/tales/tales-1m.gguf", "../shared/data/tales/tales-1m-f32.gguf",
                                          "../shared/data/llama2c/stories260K.bin"};
    for (size_t i = 0; i < sizeof trained / sizeof *trained; i++) {
        FILE *f = fopen(trained[i], "rb");
        if (f) fclose(f), measure(trained[i], i == 2 ? "../shared/data/llama2c/tok512.bin" : NULL, bandwidth);
    }
    return 0;
}
