/* bench/programs/probe.c - what a window into the forward pass costs: bench-probe MODEL [THREADS]. Sessions without a
 * probe, with one that looks at nothing, and with one that copies everything read and write in turn; the medians of
 * nine rounds, as times the first. */
#include "base/base.h"
#include "base/system.h"
#include "bench/ceilings.h"
#include "model/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 9, PROMPT = 512, WRITTEN = 64 };

static char sink[1 << 20];

/* As trace.c keeps things: what attention saw, copied. */
static void copy(void *arg, const Session *s, int l, size_t n) {
    const Config *c = &s->model->config;
    size_t wide = n * (size_t)(c->n_heads * c->head_dim), narrow = n * (size_t)(c->n_kv_heads * c->head_dim);
    const struct { const float *at; size_t n;
    } from[] = {{s->scratch->x, n * (size_t)c->d_model},
                {s->scratch->q, wide},
                {s->scratch->k, narrow},
                {s->scratch->att, wide}};
    (void)arg, (void)l;
    for (int i = 0; i < 4; i++) {
        size_t bytes = from[i].n * sizeof(float);
        memcpy(sink, from[i].at, bytes < sizeof sink ? bytes : sizeof sink);
    }
}

/* Seconds of reading a prompt and of writing behind it. */
static int measure(double *read, double *write, const Model *m, int threads, Probe *p, const int *ids, char *err) {
    Session s;
    SessionOptions o = {.n_ctx = PROMPT + WRITTEN, .threads = threads, .attention = p ? &p->attention : NULL};
    int rc = session_init(&s, m, &o, err, 500);
    double t0 = clock_seconds();
    if (rc == 0) rc = session_eval(&s, ids, PROMPT, NULL, err, 500);
    *read = clock_seconds() - t0;
    t0 = clock_seconds();
    for (int i = 0; rc == 0 && i < WRITTEN; i++) rc = session_eval(&s, ids + PROMPT + i, 1, NULL, err, 500);
    *write = clock_seconds() - t0;
    session_free(&s);
    return rc;
}

int main(int argc, char **argv) {
    static const char *const names[] = {"no probe", "a probe that looks at nothing", "one that copies"};
    char err[500] = "";
    static int ids[PROMPT + WRITTEN];
    double read[3][ROUNDS], write[3][ROUNDS];
    Model m;
    if (argc < 2) return fprintf(stderr, "usage: bench-probe MODEL [THREADS]\n"), 2;
    int rc = model_open(&m, argv[1], NULL, err, sizeof err), threads = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
    for (int i = 0; i < PROMPT + WRITTEN && rc == 0; i++) ids[i] = i * 7919 % m.config.vocab_size;
    for (int k = 0; k < 3 * ROUNDS && rc == 0; k++) {
        Probe p;
        probe_init(&p, NULL, k % 3 == 2 ? copy : NULL, NULL);
        rc = measure(&read[k % 3][k / 3], &write[k % 3][k / 3], &m, threads, k % 3 ? &p : NULL, ids, err);
    }
    if (rc) return fprintf(stderr, "bench-probe: %s\n", err), 1;
    printf("%-32s%12s%12s\n", "time, as times the first", "prompt", "decoding");
    for (int k = 0; k < 3; k++) {
        double reads = spread_of(read[k], ROUNDS).median, writes = spread_of(write[k], ROUNDS).median;
        printf("%-32s%12.3f%12.3f\n", names[k], reads / spread_of(read[0], ROUNDS).median,
               writes / spread_of(write[0], ROUNDS).median);
    }
    model_close(&m);
    return 0;
}
