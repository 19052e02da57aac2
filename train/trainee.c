/* train/trainee.c - what every family's page needs around it. */
#include "trainee.h"

#include "attention/favor.h"
#include "base/base.h"
#include "base/system.h"
#include "rope/scores.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t n_of(const Trainee *t) { return t->shape.texts * t->shape.length; }

/* ---- angles ---- */

/* Every pair's frequency, as the file will have it. */
static void frequencies(const Trainee *t, double *inv_freq) {
    const Config *c = &t->config;
    Rope r;
    rope_init(&r, &c->rope, c->n_ctx_train);
    for (int i = 0; i < r.rotary_dim / 2; i++)
        inv_freq[i] = !t->frequencies ? r.inv_freq[i]
                                      : pow(c->rope.theta, -2.0 * i / r.rotary_dim) / t->frequencies->w[i];
}

/* The rows of all positions; again with every step where frequencies are learned. */
static void fill_angles(Trainee *t) {
    const Config *c = &t->config;
    size_t half = (size_t)c->rope.rotary_dim / 2, n = t->shape.length;
    Rope r;
    rope_init(&r, &c->rope, c->n_ctx_train);
    frequencies(t, r.inv_freq);
    for (size_t pos = 0; pos < n; pos++)
        rope_row(&r, (int64_t)pos, t->angles + pos * half, t->angles + (n + pos) * half);
}

/* f = plain / w: dw = -df plain / w^2 */
static void frequencies_backward(Trainee *t) {
    int half = t->config.rope.rotary_dim / 2;
    double inv_freq[ROPE_MAX_PAIRS];
    frequencies(t, inv_freq);
    for (int i = 0; i < half; i++) t->frequencies->g[i] = (float)(-t->grown[i] * inv_freq[i] / t->frequencies->w[i]);
}

/* ---- attention ---- */

void trainee_attend(Trainee *t, float *out, float *kept, float *q, float *k, const float *v) {
    const Config *c = &t->config;
    Work *w = &t->work;
    if (t->linear.c) {
        states_forward(w, out, kept, q, k, v, &t->linear, &t->attention);
        return;
    }
    if (t->turning.rotary_dim) {
        rotate_heads(w, q, &t->turning, n_of(t), (size_t)c->n_heads, 0);
        rotate_heads(w, k, &t->turning, n_of(t), (size_t)c->n_kv_heads, 0);
    }
    softmax_forward(w, out, kept, q, k, v, &t->attention);
}

void trainee_attend_backward(Trainee *t, float *dq, float *dk, float *dv, const float *dout, const float *out,
                             const float *kept, const float *q, const float *k, const float *v) {
    const Config *c = &t->config;
    Work *w = &t->work;
    if (t->linear.c) {
        states_backward(w, dq, dk, dv, dout, out, kept, q, k, v, &t->linear, &t->attention);
        return;
    }
    softmax_backward(w, dq, dk, dv, NULL, dout, out, kept, q, k, v, &t->attention);
    if (!t->turning.rotary_dim) return;
    if (t->frequencies) {
        rotate_frequencies(w, t->grown, q, dq, &t->turning, n_of(t), (size_t)c->n_heads);
        rotate_frequencies(w, t->grown, k, dk, &t->turning, n_of(t), (size_t)c->n_kv_heads);
    }
    rotate_heads(w, dq, &t->turning, n_of(t), (size_t)c->n_heads, 1);
    rotate_heads(w, dk, &t->turning, n_of(t), (size_t)c->n_kv_heads, 1);
}

/* ---- a batch ---- */

typedef struct {
    Trainee *t;
    const int *ids, *targets;
    int learns;
} Step;

static void step(void *arg) {
    Step *s = arg;
    Trainee *t = s->t;
    Param *bias, *head = t->family->head(t, &bias);
    const float *x = t->family->forward(t, s->ids);
    loss_of(&t->work, t->loss, t->right, s->learns ? t->dx : NULL, x, s->targets, head, bias, n_of(t), t->logits);
    if (s->learns) t->family->backward(t, s->ids, t->dx);
}

double trainee_loss(Trainee *t, const int *ids, const int *targets, int learns) {
    Step s = {t, ids, targets, learns};
    double sum = 0;
    size_t n = 0;
    if (t->frequencies) fill_angles(t);
    if (learns) {
        memset(t->params.memory + t->params.floats, 0, t->params.floats * sizeof(float));
        memset(t->grown, 0, sizeof *t->grown * ((size_t)t->config.rope.rotary_dim / 2));
    }
    team_run(&t->work.team, t->work.team.most, step, &s);
    if (learns && t->frequencies) frequencies_backward(t);
    for (size_t i = 0; i < n_of(t); i++)
        if (targets[i] >= 0) sum += t->loss[i], n++;
    return n ? sum / (double)n : NAN;
}

/* ---- begin and end ---- */

static float *floats_new(Trainee *t, size_t n) {
    size_t bytes;
    float *new = size_mul(n, sizeof *new, &bytes) ? pages_new(bytes) : NULL;
    t->bytes += new ? bytes : 0;
    return new;
}

static void set_attention(Trainee *t) {
    const Config *c = &t->config;
    size_t half = (size_t)c->rope.rotary_dim / 2;
    t->turning = (Turning){.cos = t->angles, .sin = t->angles + t->shape.length * half, .length = t->shape.length,
                           .head_dim = (size_t)c->head_dim, .rotary_dim = c->rope.rotary_dim,
                           .pairing = c->rope.pairing};
    for (size_t i = 0; i < t->shape.length; i++) {
        t->scale[i] = (float)(rope_score(&c->rope, (int64_t)i, 0) / sqrt((double)c->head_dim));
    }
    t->attention = (AttentionBatch){.texts = t->shape.texts, .length = t->shape.length, .n_heads = (size_t)c->n_heads,
                                    .n_kv_heads = (size_t)c->n_kv_heads, .head_dim = (size_t)c->head_dim,
                                    .causal = c->mask == MASK_CAUSAL, .window = (size_t)c->window, .scale = t->scale};
    if (c->linear.form)
        t->linear = (LinearParts){.c = &t->config.linear, .key_map = c->linear.phi, .r = &t->turning,
                                  .projection = t->projection};
}

/* favor+'s projection, which the engine keeps in another order. */
static int set_projection(Trainee *t) {
    LinearConfig *c = &t->config.linear;
    size_t r = (size_t)c->favor_features, d = (size_t)c->head_dim;
    double *w = c->phi->projection(c);
    t->projection = w ? floats_new(t, r * d) : NULL;
    for (size_t i = 0; t->projection && i < r * d; i++)
        t->projection[i] = (float)linear_projection_get(w, c, i / d, i % d);
    free(w);
    return t->projection ? 0 : -ENOMEM;
}

static int allocate(Trainee *t) {
    const Config *c = &t->config;
    size_t n = n_of(t), d = (size_t)c->d_model, half = (size_t)c->rope.rotary_dim / 2;
    int rc = t->family->declare(t);
    if (rc) return rc;
    if (params_allocate(&t->params)) return -ENOMEM;
    t->bytes += 4 * t->params.floats * sizeof(float);
    t->angles = floats_new(t, 2 * t->shape.length * half + 1);
    t->scale = floats_new(t, t->shape.length);
    t->dx = floats_new(t, n * d);
    t->logits = floats_new(t, LOSS_ROWS * (d + (size_t)c->vocab_size));
    t->loss = calloc(n, sizeof *t->loss);
    t->right = calloc(n, 1);
    t->grown = calloc(half + 1, sizeof *t->grown);
    if (!t->angles || !t->scale || !t->dx || !t->logits || !t->loss || !t->right || !t->grown) return -ENOMEM;
    if (c->linear.form && c->linear.phi->projection && set_projection(t)) return -ENOMEM;
    fill_angles(t);
    set_attention(t);
    return t->family->allocate(t);
}

/* The largest of what parts need: every matrix meets a batch three ways. */
static int reserve(Trainee *t) {
    const Config *c = &t->config;
    Work *w = &t->work;
    size_t n = n_of(t), widest = 0;
    for (size_t i = 0; i < t->params.n; i++) {
        const Param *p = &t->params.at[i];
        size_t tokens = p->rows == (size_t)c->vocab_size && LOSS_ROWS < n ? LOSS_ROWS : n;
        if (p->is_vector) continue;
        work_reserve(w, work_panels(w, p->rows, p->cols), 0, 0);
        work_reserve(w, work_panels(w, p->cols, p->rows), 0, 0);
        work_reserve(w, work_panels(w, p->cols, tokens), 0, 0);
        widest = p->cols > widest ? p->cols : widest;
    }
    parts_reserve(w, n, widest);
    if (c->linear.form) states_reserve(w, &t->linear, &t->attention);
    else softmax_reserve(w, &t->attention);
    t->bytes += 4 * (w->panels_size + w->room_size * (size_t)w->team.most + w->rows_size);
    return work_allocate(w);
}

int trainee_init(Trainee *t, const Config *c, const BatchShape *shape, const Kernels *kernels, int threads, char *err,
                 size_t errlen) {
    *t = (Trainee){.config = *c, .shape = *shape, .family = &trainee_decoder};
    int rc = work_init(&t->work, kernels, threads);
    if (rc == 0) rc = allocate(t);
    if (rc == 0 && c->linear.form && (rc = states_check(&t->linear, err, errlen)) != 0) {
        trainee_free(t);
        return rc;
    }
    if (rc == 0) rc = reserve(t);
    if (rc == 0) return 0;
    trainee_free(t);
    return base_error(err, errlen, rc, "out of memory for a batch of %zu texts of %zu tokens", shape->texts,
                      shape->length);
}

void trainee_free(Trainee *t) {
    size_t n = n_of(t), d = (size_t)t->config.d_model, half = (size_t)t->config.rope.rotary_dim / 2;
    if (t->family && t->page) t->family->release(t);
    pages_free(t->angles, (2 * t->shape.length * half + 1) * sizeof(float));
    pages_free(t->scale, t->shape.length * sizeof(float));
    pages_free(t->dx, n * d * sizeof(float));
    pages_free(t->logits, LOSS_ROWS * (d + (size_t)t->config.vocab_size) * sizeof(float));
    pages_free(t->projection, (size_t)t->config.linear.favor_features * (size_t)t->config.head_dim * sizeof(float));
    free(t->loss);
    free(t->right);
    free(t->grown);
    params_free(&t->params);
    work_free(&t->work);
    *t = (Trainee){0};
}
