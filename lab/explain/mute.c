/* lab/explain/mute.c - see mute.h. */
#include "mute.h"

#include "base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t half_of(const Model *m) { return (size_t)m->config.rope.rotary_dim / 2; }

static void set(Mute *m, int layer, int kv, int pair) {
    uint8_t *off = &m->off[((size_t)layer * (size_t)m->model->config.n_kv_heads + (size_t)kv) * half_of(m->model) +
                           (size_t)pair];
    m->n += !*off;
    *off = 1;
}

/* A number below n, or * (-1), at *s, which moves behind it; -2: neither. */
static long take(const char **s, long n) {
    char *end;
    if (**s == '*') return ++*s, -1;
    if (**s < '0' || **s > '9') return -2;
    long v = strtol(*s, &end, 10);
    *s = end;
    return v < n ? v : -2;
}

static int take_part(Mute *m, const char **s) {
    const Config *c = &m->model->config;
    long n[3] = {c->n_layers, c->n_heads, (long)half_of(m->model)}, at[3] = {-1, -1, -1};
    for (int i = 0; i < 3; i++) {
        if ((at[i] = take(s, n[i])) == -2) return -EINVAL;
        if (**s != '.') break;
        if (i < 2) ++*s;
    }
    int group = c->n_heads / c->n_kv_heads;
    for (int l = 0; l < c->n_layers; l++)
        for (int h = 0; h < c->n_kv_heads; h++)
            for (int p = 0; p < (int)n[2]; p++)
                if ((at[0] < 0 || at[0] == l) && (at[1] < 0 || at[1] / group == h) && (at[2] < 0 || at[2] == p))
                    set(m, l, h, p);
    return 0;
}

int mute_init(Mute *m, const Model *model, const char *parts, char *err, size_t errlen) {
    const Config *c = &model->config;
    const char *s = parts && *parts ? parts : "*";
    *m = (Mute){.model = model};
    m->off = calloc((size_t)c->n_layers * (size_t)c->n_kv_heads, half_of(model));
    if (!m->off) return base_error(err, errlen, -ENOMEM, "out of memory");
    for (;; s++) {
        if (take_part(m, &s) || (*s && *s != ',')) {
            mute_free(m);
            return base_error(err, errlen, -EINVAL, "\"%.60s\" is no list of layers, heads and pairs (2,0.1,3.*.5); "
                              "there are layers 0 to %d, heads 0 to %d, pairs 0 to %zu", parts ? parts : "",
                              c->n_layers - 1, c->n_heads - 1, half_of(model) - 1);
        }
        if (!*s) return 0;
    }
}

void mute_free(Mute *m) {
    free(m->off);
    *m = (Mute){0};
}

void mute_part(Mute *m, int layer, int kv_head, int pair) {
    const Config *c = &m->model->config;
    memset(m->off, 0, (size_t)c->n_layers * (size_t)c->n_kv_heads * half_of(m->model));
    m->n = 0;
    set(m, layer, kv_head, pair);
}

void mute_turn(void *arg, const Session *s, int l, size_t t, size_t head, double *cos, double *sin) {
    const Mute *m = arg;
    const Config *c = &m->model->config;
    size_t heads = (size_t)c->n_heads, kv = head < heads ? head / (heads / (size_t)c->n_kv_heads) : head - heads;
    const uint8_t *off = &m->off[((size_t)l * (size_t)c->n_kv_heads + kv) * half_of(m->model)];
    (void)t;
    for (size_t i = 0; i < half_of(m->model); i++)
        if (off[i]) cos[i] = s->rope.scale, sin[i] = 0;
}
