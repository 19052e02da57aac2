/* rope/numbers.c - see numbers.h. */
#include "numbers.h"

double rope_usual_original(const RopeNumbers *n) {
    if (n->n_ctx_original > 0) return (double)n->n_ctx_original;
    return n->n_ctx_train > 0 ? (double)n->n_ctx_train : 1;
}

double rope_usual_factor(const RopeNumbers *n) {
    double original = rope_usual_original(n);
    return (double)n->n_ctx > original ? (double)n->n_ctx / original : 1;
}

const RopeNumbers *rope_numbers(const RopeConfig *c) {
    static const RopeNumbers none;
    return c->numbers ? c->numbers : &none;
}
