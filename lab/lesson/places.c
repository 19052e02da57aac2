/* lab/lesson/places.c - see places.h. */
#include "places.h"

#include "base/base.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void places_free(Places *p) {
    free(p->at);
    *p = (Places){0};
}

/* The numbers of a line into out [AXES_MOST]: how many, or -1. */
static int take_line(const char *line, double *out) {
    int n = 0;
    for (const char *s = line; *s && *s != '#';) {
        char *end;
        if (strchr(" \t,\r", *s)) {
            s++;
            continue;
        }
        double v = strtod(s, &end);
        if (end == s || !isfinite(v) || fabs(v) > 1e12 || n == AXES_MOST || (*end && !strchr(" \t,\r#", *end)))
            return -1;
        out[n++] = v;
        s = end;
    }
    return n;
}

int places_read(Places *p, const char *text, size_t n, const char *name, const AxesKind *kind, char *err,
                size_t errlen) {
    size_t cap = 0, number = 1;
    *p = (Places){.kind = kind};
    for (size_t at = 0, len; at < n; at += len + 1, number++) {
        double v[AXES_MOST];
        char line[200];
        const char *newline = memchr(text + at, '\n', n - at);
        len = newline ? (size_t)(newline - text) - at : n - at;
        int count = -1;
        if (len < sizeof line && !memchr(text + at, 0, len)) {
            memcpy(line, text + at, len);
            line[len] = 0;
            count = take_line(line, v);
        }
        if (count == 0) continue;
        if (count < 0 || (p->n && count != p->n_axes)) {
            places_free(p);
            return base_error(err, errlen, -EINVAL, "%s: line %zu is not %s", name, number,
                              count < 0 ? "one, two or three numbers" : "as many numbers as the first");
        }
        p->n_axes = count;
        if (array_reserve(&p->at, &cap, (p->n + 1) * (size_t)count, sizeof *p->at)) {
            places_free(p);
            return base_error(err, errlen, -ENOMEM, "out of memory");
        }
        memcpy(p->at + p->n++ * (size_t)count, v, (size_t)count * sizeof *v);
    }
    if (p->n == 0) return base_error(err, errlen, -EINVAL, "%s: holds no position", name);
    if (!p->kind) p->kind = axes_kind(p->n_axes == 2 ? "tie" : "mrope");
    if (p->n_axes == 1 || p->kind->n_axes == 0 || p->kind->n_axes == p->n_axes) return 0;
    int axes = p->n_axes;
    places_free(p);
    return base_error(err, errlen, -EINVAL, "%s: has %d coordinates a token, and %s has %d", name, axes, kind->name,
                      kind->n_axes);
}

void places_turn(void *arg, const Session *s, int l, size_t t, size_t head, double *cosines, double *sines) {
    const Places *p = arg;
    const RopeConfig *c = &s->model->config.rope;
    const double *at = p->at + (s->scratch->tokens[t].pos - s->options.origin) * (size_t)p->n_axes;
    (void)l, (void)head;
    if (p->n_axes > 1) {
        axes_row(&s->rope, c, p->kind, p->n_axes, at, cosines, sines);
        return;
    }
    for (int i = 0; i < c->rotary_dim / 2; i++) {
        double angle = at[0] * s->rope.inv_freq[i];
        cosines[i] = cos(angle) * s->rope.scale, sines[i] = sin(angle) * s->rope.scale;
    }
}
