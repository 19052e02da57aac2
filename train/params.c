/* train/params.c - parameters in one block of memory. */
#include "params.h"

#include "base/base.h"
#include "base/system.h"
#include "rng.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t room_of(const Param *p) { return (p->rows * p->cols + 15) / 16 * 16; }

int params_add(Params *p, const char *name, size_t rows, size_t cols, int decays) {
    if (array_reserve(&p->at, &p->cap, p->n + 1, sizeof *p->at)) return -ENOMEM;
    Param *new = &p->at[p->n++];
    *new = (Param){.rows = cols ? rows : 1, .cols = cols ? cols : rows, .is_vector = cols == 0, .decays = decays};
    snprintf(new->name, sizeof new->name, "%s", name);
    p->floats += room_of(new);
    return 0;
}

int params_allocate(Params *p) {
    size_t bytes;
    if (!size_mul(p->floats, 4 * sizeof *p->memory, &bytes) || !(p->memory = pages_new(bytes))) return -ENOMEM;
    float *at = p->memory;
    for (size_t i = 0; i < p->n; at += room_of(&p->at[i++])) {
        Param *x = &p->at[i];
        x->w = at, x->g = at + p->floats, x->m = at + 2 * p->floats, x->v = at + 3 * p->floats;
    }
    return 0;
}

void params_free(Params *p) {
    pages_free(p->memory, 4 * p->floats * sizeof *p->memory);
    free(p->at);
    *p = (Params){0};
}

Param *params_find(const Params *p, const char *name) {
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->at[i].name, name) == 0) return &p->at[i];
    return NULL;
}

size_t params_numbers(const Params *p) {
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) n += p->at[i].rows * p->at[i].cols;
    return n;
}

static int ends_in(const char *name, const char *end) {
    size_t n = strlen(name), k = strlen(end);
    return n >= k && strcmp(name + n - k, end) == 0;
}

void params_begin(Params *p, uint64_t seed, int n_layers) {
    for (size_t i = 0; i < p->n; i++) {
        Param *x = &p->at[i];
        Rng r = rng_of(seed, rng_place(x->name));
        int ends_a_branch = ends_in(x->name, "attn_output.weight") || ends_in(x->name, "ffn_down.weight");
        int is_one = ends_in(x->name, "norm.weight") || ends_in(x->name, "rope_freqs.weight");
        double deviation = ends_a_branch ? 0.02 / sqrt(2.0 * n_layers) : 0.02;
        for (size_t j = 0; j < x->rows * x->cols; j++)
            x->w[j] = x->is_vector ? (float)is_one : (float)(deviation * rng_normal(&r));
    }
}
