/* model/bias.c - see bias.h. */
#include "bias.h"

#include "base/base.h"
#include "rope/positions.h"

#include <errno.h>
#include <stdlib.h>

int bias_init(Bias **out, const Session *s, char *err, size_t errlen) {
    const Config *c = &s->model->config;
    const Positions *p = c->positions;
    size_t n = s->options.n_ctx, ahead = c->mask == MASK_CAUSAL ? 0 : n - 1, floats, bytes, places = 0;
    *out = NULL;
    if (!p || !p->kind->bias) return 0;
    Bias *b = *out = calloc(1, sizeof *b);
    if (!b) return base_error(err, errlen, -ENOMEM, "out of memory");
    b->zero = n - 1, b->n_ctx = n;
    int fits = size_add(n, ahead, &b->width) && size_mul((size_t)c->n_heads, b->width, &floats) &&
               size_mul(floats, sizeof *b->rows, &bytes);
    b->rows = fits ? malloc(bytes) : NULL;
    if (s->model->encoder) b->places = calloc(n, places = sizeof *b->places);
    if (!b->rows || (places && !b->places))
        return base_error(err, errlen, -ENOMEM,
                          "out of memory: what %s adds to scores in a context of %zu; give a smaller one (-c)",
                          p->kind->name, n);
    b->bytes = bytes + n * places;
    bias_restart(b);
    for (int h = 0; h < c->n_heads; h++)
        for (size_t i = 0; i < b->width; i++)
            b->rows[(size_t)h * b->width + i] = (float)p->kind->bias(p, h, (int64_t)b->zero - (int64_t)i);
    return 0;
}

void bias_restart(Bias *b) {
    for (size_t i = 0; b && b->places && i < b->n_ctx; i++) b->places[i] = i;
}

void bias_free(Bias *b) {
    if (!b) return;
    free(b->rows);
    free(b->places);
    free(b);
}

ScoreBias bias_of(const Bias *b, size_t h, size_t at) {
    return b ? (ScoreBias){.row = b->rows + h * b->width, .from = b->zero - at, .places = b->places} : (ScoreBias){0};
}

ScoreBias bias_of_token(const Bias *b, size_t h, const Token *t) {
    return bias_of(b, h, b && b->places ? t->pos : t->slot);
}

double bias_at(const ScoreBias *b, size_t slot) {
    return b->row ? (double)b->row[b->from + (b->places ? b->places[slot] : slot)] : 0;
}
