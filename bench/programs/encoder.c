/* bench/programs/encoder.c - how long a RoFormer takes to read a text: bench-encoder MODEL TOKENS THREADS REPEATS.
 * Prints the seconds of each repeat, one a line, after one that does not count. bench/encoder.py makes the models, and
 * runs this in turn with transformers. */
#include "model/encoder.h"
#include "base/base.h"
#include "base/system.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    char err[500];
    Model m;
    Session s;
    if (argc != 5) {
        fprintf(stderr, "usage: bench-encoder MODEL TOKENS THREADS REPEATS\n");
        return 2;
    }
    size_t n = (size_t)strtoul(argv[2], NULL, 10);
    int *ids = malloc((n + 1) * sizeof *ids), repeats = (int)strtol(argv[4], NULL, 10);
    for (size_t i = 0; ids && i < n; i++) ids[i] = (int)(i * 7919 % 1000);
    EncoderText text = {.ids = ids, .n = n};
    int rc = model_open(&m, argv[1], NULL, err, sizeof err), threads = (int)strtol(argv[3], NULL, 10);
    if (rc == 0) rc = session_init(&s, &m, &(SessionOptions){.n_ctx = n, .threads = threads}, err, sizeof err);
    for (int i = 0; rc == 0 && i <= repeats; i++) {
        double t0 = clock_seconds();
        rc = encoder_read(&s, &text, 1, err, sizeof err);
        if (i && rc == 0) printf("%.6f\n", clock_seconds() - t0);
    }
    if (rc) fprintf(stderr, "bench-encoder: %s\n", err);
    return rc != 0;
}
