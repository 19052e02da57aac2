/* train/linear.c - y = W x + b, its gradients, and the table of embeddings. */
#include "parts.h"

#include <string.h>

void linear_forward(Work *k, float *y, int add, const float *x, const Param *w, const Param *b, size_t n) {
    size_t out = w->rows, in = w->cols;
    work_product(k, y, out, add, (Floats){x, in, 1}, (Floats){w->w, 1, in}, n, out, in); /* y = x W^T */
    for (Share t = team_share(&k->team, b ? n : 0); t.at < t.end; t.at++)
        for (size_t i = 0; i < out; i++) y[t.at * out + i] += b->w[i];
    if (b) team_wait(&k->team);
}

void linear_backward(Work *k, float *dx, int add, const float *x, const Mapped *maps, size_t n_maps, size_t n) {
    Product grown[MAPS_MOST];
    size_t in = maps->w->cols;
    for (size_t i = 0; i < n_maps; i++) {
        const Param *w = maps[i].w;
        Floats dy = {maps[i].dy, w->rows, 1};
        work_product(k, dx, in, add || i, dy, (Floats){w->w, in, 1}, n, in, w->rows);                 /* dx = dy W */
        grown[i] = (Product){w->g, in, 1, {maps[i].dy, 1, w->rows}, w->rows};                         /* dW += dy^T x */
        if (maps[i].b) work_sum_columns(k, maps[i].b->g, maps[i].dy, NULL, NULL, n, w->rows);
    }
    work_products(k, grown, n_maps, (Floats){x, in, 1}, in, n);
}

void embedding_forward(Work *k, float *x, const int *ids, const Param *table, size_t n) {
    size_t d = table->cols;
    for (Share t = team_share(&k->team, n); t.at < t.end; t.at++)
        memcpy(x + t.at * d, table->w + (size_t)ids[t.at] * d, d * sizeof *x);
    team_wait(&k->team);
}

/* Each thread has some columns, so that no two add to one number, and tokens come in order. */
void embedding_backward(Work *k, const float *dx, const int *ids, const Param *table, size_t n) {
    size_t d = table->cols;
    Share j = team_share(&k->team, d);
    for (size_t t = 0; t < n; t++)
        for (size_t i = j.at; i < j.end; i++) table->g[(size_t)ids[t] * d + i] += dx[t * d + i];
    team_wait(&k->team);
}
