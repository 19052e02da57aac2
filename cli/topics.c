/* cli/topics.c - commands of several parts, and the lines of C that their numbers come from. */
#include "cli.h"
#include "wrap.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const Topic *topic_named(const Topic *topics, const char *command, const char *word) {
    char known[400] = "";
    for (const Topic *t = topics; t->name; t++) {
        if (word && strcmp(t->name, word) == 0) return t;
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", *known ? ", " : "", t->name);
    }
    if (word) usage("%s: there is no \"%s\"; %s are known", command, word, known);
    else usage("%s needs to know what: %s", command, known);
    return NULL;
}

const Topic *topic_among(const Topic *topics, char *const *words, int n) {
    for (const Topic *t = topics; t->name; t++)
        for (int i = 0; i < n; i++)
            if (strcmp(t->name, words[i]) == 0) return t;
    return NULL;
}

void teach(const char *fmt, ...) {
    char text[2000];
    int width, height, colour;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    screen(&width, &height, &colour);
    wrap_lines(text, width < 100 ? (size_t)width : 100);
    out_bytes("\n", 1);
    out_text(text, strlen(text));
    out_bytes("\n", 1);
}

/* A test holds each line against its file: tests/test_topics.c. */
static const struct { const char *key, *file, *function, *line;
} cited[] = {
    {"angle", "rope/rope.c", "rope_row64", "double angle = (double)pos * r->inv_freq[i];"},
    {"frequency", "rope/rope.c", "rope_init", "r->inv_freq[i] = pow(c->theta, -2.0 * i / c->rotary_dim);"},
    {"rotate", "rope/rope.c", "rope_rotate", "*a = a0 * c[i] - b0 * s[i];"},
    {"matrix", "lab/lesson/forms.c", "form_matrix",
     "out[a * d + a] = cos(angle) * r->scale, out[a * d + b] = -sin(angle) * r->scale;"},
    {"series", "lab/lesson/forms.c", "form_exponential",
     "for (size_t i = 0; i < n; i++) term[i] = next[i] / k, out[i] += term[i];"},
    {"complex", "lab/lesson/forms.c", "form_complex",
     "double complex z = (x[a] + x[b] * I) * cexp(I * angle_of(r, pos, i)) * r->scale;"},
    {"bound", "lab/lesson/decay.c", "decay_bound", "sum += hypot(re, im); /* |S_j|, eq. 37 */"},
    {"score at", "lab/lesson/decay.c", "decay_score", "sum += (qa * ka + qb * kb) * c - (qb * ka - qa * kb) * s;"},
    {"place", "rope/axes.c", "axes_place", "k->patch(out, s, last, f, a, b, n);"},
    {"axis", "rope/axes.c", "axes_row", "double angle = pos[k->axis(i, pairs, n_axes)] * freq;"},
    {"term", "lab/explain/pairs.c", "pairs_of", "p->term = turned * product(p, p->angle_q - p->angle_k);"},
    {"scores", "lab/explain/pairs.c", "pairs_engine_score",
     "t->model->kernels->att->scores(s, trace_rq(t, l, h, m), 1, (Numbers){keys, 0}, d, 1, (Soon){0});"},
    {"weight", "lab/explain/trace.c", "softmax_row", "if (!isnan(out[j])) sum += out[j] = exp(out[j] - max);"},
    {"weight linear", "lab/explain/trace.c", "linear_row",
     "out[j] = exp(so_far - top) * dot_d(q_num, t->k_num + (keys + j) * r, r);"},
    {"kind", "lab/explain/heads.c", "head_kind", "if (j == m - period + 1) out->induction += share;"},
    {"use", "lab/explain/use.c", "use_loss",
     "if (rc == 0) rc = session_eval_each(&s, ids, n, add, &sum, err, errlen);"},
    {"state", "lab/explain/filling.c", "fill", "S[i * vd + k] += num[i] * (double)v[k];"},
    {"lens", "lab/explain/lens.c", "lens_read", "view.config.n_layers = l + 1;"},
    {"left", "model/sampler.c", "sampler_left", "if (!isnan(s->probs[0])) return choose(s, sum);"},
};

static int find(const char *key) {
    size_t n = sizeof cited / sizeof *cited, i = 0;
    while (i + 1 < n && strcmp(cited[i].key, key) != 0) i++;
    return (int)i;
}

void cite(const char *key) {
    int i = find(key);
    prose("from %s, %s: %s", cited[i].file, cited[i].function, cited[i].line);
}

const char *cited_place(const char *key) {
    static char place[100];
    int i = find(key);
    snprintf(place, sizeof place, "%s %s", cited[i].file, cited[i].function);
    return place;
}
