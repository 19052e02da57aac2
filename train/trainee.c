/* train/trainee.c - what every family's page needs around it. */
#include "trainee.h"

#include "attention/favor.h"
#include "base/base.h"
#include "base/system.h"
#include "model/roformer.h"
#include "rope/scaling.h"
#include "rope/scores.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- angles ---- */

/* Every pair's frequency, as the file will have it. */
static void frequencies(const Trainee *t, double *inv_freq) {
    const Config *c = &t->config;
    Rope r;
    rope_init(&r, &c->rope, c->n_ctx_train);
    for (int i = 0; i < r.rotary_dim / 2; i++)
        inv_freq[i] = r.inv_freq[i] / (t->frequencies ? (double)t->frequencies->w[i] : 1);
}

/* The rows of all positions; again with every step where frequencies are learned. xPos' magnitudes count from the
 * middle: only differences matter, and so they stay floats. */
static void fill_angles(Trainee *t) {
    const Config *c = &t->config;
    size_t half = (size_t)c->rope.rotary_dim / 2, n = t->shape.length;
    Rope r;
    rope_init(&r, &c->rope, c->n_ctx_train);
    frequencies(t, r.inv_freq);
    for (size_t pos = 0; pos < n; pos++)
        rope_row(&r, (int64_t)pos, t->angles + pos * half, t->angles + (n + pos) * half);
    for (size_t i = 0; i < n * half && t->turning.grow[0]; i++) {
        double from_middle = (double)(i / half) - (double)n / 2,
               growth = from_middle * c->rope.scaling->method->growth(&c->rope, (int)(i % half));
        t->angles[2 * n * half + i] = (float)exp(growth), t->angles[3 * n * half + i] = (float)exp(-growth);
    }
}

/* f = plain / w: dw = -df plain / w^2 */
static void frequencies_backward(Trainee *t) {
    int half = t->config.rope.rotary_dim / 2;
    double inv_freq[ROPE_MAX_PAIRS];
    frequencies(t, inv_freq);
    for (int i = 0; i < half; i++) t->frequencies->g[i] = (float)(-t->grown[i] * inv_freq[i] / t->frequencies->w[i]);
}

/* ---- positions that do not rotate ---- */

/* Numbers of a head's bias: one for each distance of two tokens, either way. */
static size_t distances(const Trainee *t) { return t->shape.length ? 2 * t->shape.length - 1 : 0; }

/* Row i of a head's biases: of a query at distance i - (length - 1) from its key. */
static void fill_bias(Trainee *t) {
    size_t width = distances(t);
    for (size_t i = 0; i < (size_t)t->config.n_heads * width; i++)
        t->bias[i] = (float)t->positions.kind->bias(&t->positions, (int)(i / width),
                                                    (int64_t)(i % width) - (int64_t)t->shape.length + 1);
}

/* A bucket's number grows with the scores of all distances in it, layer by layer. A thread has its heads. */
static void bias_backward(Trainee *t) {
    const Positions *p = &t->positions;
    Work *w = &t->work;
    size_t heads = (size_t)t->config.n_heads, width = distances(t);
    for (Share h = team_share(&w->team, heads); h.at < h.end; h.at++)
        for (size_t i = 0; i < width; i++) {
            int64_t distance = (int64_t)i - (int64_t)t->shape.length + 1;
            double sum = 0;
            for (size_t text = 0; text < t->at_once; text++)
                sum += (double)t->grown_bias[(text * heads + h.at) * width + i];
            t->table->g[(size_t)position_bucket(distance, (int)p->n_buckets, p->max_distance, p->two_sided) * heads +
                        h.at] += (float)sum;
        }
    team_wait(&w->team);
}

void trainee_place(Trainee *t, float *x) {
    Work *w = &t->work;
    size_t d = (size_t)t->config.d_embed;
    if (!t->placed) return;
    for (Share i = team_share(&w->team, trainee_tokens(t)); i.at < i.end; i.at++)
        for (size_t k = 0; k < d; k++) x[i.at * d + k] += t->placed[i.at % t->shape.length * d + k];
    team_wait(&w->team);
}

void trainee_place_backward(Trainee *t, const float *dx) {
    Work *w = &t->work;
    size_t d = (size_t)t->config.d_embed;
    if (!t->placed || !t->table) return;
    for (Share pos = team_share(&w->team, t->shape.length); pos.at < pos.end; pos.at++)
        for (size_t text = 0; text < t->at_once; text++)
            for (size_t k = 0; k < d; k++)
                t->table->g[pos.at * d + k] += dx[(text * t->shape.length + pos.at) * d + k];
    team_wait(&w->team);
}

/* ---- attention ---- */

size_t trainee_kept(const Trainee *t) {
    return t->linear.c ? trainee_tokens(t) * (size_t)t->config.n_heads : softmax_kept(&t->attention);
}

void trainee_attend(Trainee *t, float *out, float *kept, float *q, float *k, const float *v) {
    const Config *c = &t->config;
    Work *w = &t->work;
    if (t->linear.c) {
        states_forward(w, out, kept, q, k, v, &t->linear, &t->attention);
        return;
    }
    if (t->turning.rotary_dim) {
        rotate_heads(w, q, &t->turning, TURNS_QUERY, trainee_tokens(t), (size_t)c->n_heads, 0);
        rotate_heads(w, k, &t->turning, TURNS_KEY, trainee_tokens(t), (size_t)c->n_kv_heads, 0);
    }
    softmax_forward(w, out, kept, q, k, v, &t->attention);
}

void trainee_attend_backward(Trainee *t, float *dq, float *dk, float *dv, const float *dout, const float *out,
                             float *kept, const float *q, const float *k, const float *v) {
    const Config *c = &t->config;
    Work *w = &t->work;
    if (t->linear.c) {
        states_backward(w, dq, dk, dv, dout, out, kept, q, k, v, &t->linear, &t->attention);
        return;
    }
    softmax_backward(w, dq, dk, dv, t->grown_bias, dout, out, kept, q, k, v, &t->attention);
    if (t->grown_bias) bias_backward(t);
    if (!t->turning.rotary_dim) return;
    if (t->frequencies) {
        rotate_frequencies(w, t->grown, q, dq, &t->turning, trainee_tokens(t), (size_t)c->n_heads);
        rotate_frequencies(w, t->grown, k, dk, &t->turning, trainee_tokens(t), (size_t)c->n_kv_heads);
    }
    rotate_heads(w, dq, &t->turning, TURNS_QUERY, trainee_tokens(t), (size_t)c->n_heads, 1);
    rotate_heads(w, dk, &t->turning, TURNS_KEY, trainee_tokens(t), (size_t)c->n_kv_heads, 1);
}

/* ---- a batch ---- */

/* Texts of a part, at most. */
static size_t texts_at_once(const BatchShape *shape, const Config *c) {
    size_t heads = (size_t)c->n_kv_heads, least = (PART_HEADS + heads - 1) / heads,
           texts = PART_TOKENS / shape->length;
    if (texts < least) texts = least;
    return texts < shape->texts ? texts : shape->texts;
}

static void compute_at_once(Trainee *t, size_t texts) { t->at_once = t->attention.texts = texts; }

typedef struct {
    Trainee *t;
    const int *ids, *targets; /* of the batch */
    size_t first, total;      /* a part's first token; how many targets the batch has */
    int learns;
} Step;

static void step(void *arg) {
    const Step *s = arg;
    Trainee *t = s->t;
    Param *bias, *head = t->family->head(t, &bias);
    const float *x = t->family->forward(t, s->ids + s->first);
    loss_of(&t->work, t->loss + s->first, t->right + s->first, s->learns ? t->dx : NULL, x, s->targets + s->first, head,
            bias, trainee_tokens(t), s->total, t->logits);
    if (s->learns) t->family->backward(t, s->ids + s->first, t->dx);
}

double trainee_loss(Trainee *t, const int *ids, const int *targets, int learns) {
    Step s = {.t = t, .ids = ids, .targets = targets, .learns = learns};
    size_t all = t->shape.texts * t->shape.length, at_once = texts_at_once(&t->shape, &t->config);
    double sum = 0;
    for (size_t i = 0; i < all; i++) s.total += targets[i] >= 0;
    if (t->frequencies) fill_angles(t);
    if (t->grown_bias) fill_bias(t);
    if (learns) {
        memset(t->params.memory + t->params.floats, 0, t->params.floats * sizeof(float));
        memset(t->grown, 0, sizeof *t->grown * ((size_t)t->config.rope.rotary_dim / 2));
    }
    for (size_t text = 0; text < t->shape.texts; text += at_once) {
        compute_at_once(t, t->shape.texts - text < at_once ? t->shape.texts - text : at_once);
        s.first = text * t->shape.length;
        team_run(&t->work.team, t->work.team.most, step, &s);
    }
    compute_at_once(t, at_once); /* what is freed goes by it */
    if (learns && t->frequencies) frequencies_backward(t);
    for (size_t i = 0; i < all; i++)
        if (targets[i] >= 0) sum += t->loss[i];
    return s.total ? sum / (double)s.total : 0; /* a batch of nothing that can be masked teaches nothing */
}

/* ---- begin and end ---- */

static float *floats_new(Trainee *t, size_t n) {
    size_t bytes;
    float *new = size_mul(n, sizeof *new, &bytes) ? pages_new(bytes) : NULL;
    t->bytes += new ? bytes : 0;
    return new;
}

enum { WEIGHTS_KEPT = 512 }; /* tokens of a text whose P stays in memory: twice as long, it would be most of it */

static void set_attention(Trainee *t) {
    const Config *c = &t->config;
    size_t half = (size_t)c->rope.rotary_dim / 2, n = t->shape.length;
    t->turning = (Turning){.cos = t->angles, .sin = t->angles + n * half, .length = n, .head_dim = (size_t)c->head_dim,
                           .rotary_dim = position_kind_of(c->positions)->rotates ? c->rope.rotary_dim : 0,
                           .pairing = c->rope.pairing};
    if (c->rope.scaling->method->growth)
        t->turning.grow[0] = t->angles + 2 * n * half, t->turning.grow[1] = t->angles + 3 * n * half;
    for (size_t i = 0; i < n; i++) {
        size_t seen = c->mask == MASK_CAUSAL ? i + 1 : n; /* as model/attend.c counts them */
        double scale = rope_score(&c->rope, (int64_t)i, 0) / sqrt((double)c->head_dim);
        t->scale[i] = (float)(c->log_scale ? scale * log(seen > 16 ? (double)seen : 16) / log(c->log_scale) : scale);
    }
    t->attention = (AttentionBatch){.texts = t->at_once, .length = n, .n_heads = (size_t)c->n_heads,
                                    .n_kv_heads = (size_t)c->n_kv_heads, .head_dim = (size_t)c->head_dim,
                                    .causal = c->mask == MASK_CAUSAL, .window = (size_t)c->window, .scale = t->scale,
                                    .bias = t->bias, .keeps_weights = n <= WEIGHTS_KEPT};
    if (c->linear.form)
        t->linear = (LinearParts){.c = &t->config.linear, .key_map = linear_key_map(&t->config.linear),
                                  .r = &t->turning, .projection = t->projection};
}

/* What another kind of position than RoPE adds, to embeddings or to scores. */
static int set_positions(Trainee *t) {
    const PositionKind *kind = t->positions.kind;
    size_t d = (size_t)t->config.d_embed, n = t->shape.length, biases = (size_t)t->config.n_heads * distances(t);
    if (!kind) return 0;
    if (t->table) t->positions.table = t->table->w;
    if (kind->bias && !(t->bias = floats_new(t, biases))) return -ENOMEM;
    if (kind->bias && t->table && !(t->grown_bias = floats_new(t, t->at_once * biases))) return -ENOMEM;
    if (kind->bias) fill_bias(t);
    if (kind->add) t->placed = t->table ? t->table->w : floats_new(t, n * d);
    for (size_t i = 0; t->placed && !t->table && i < n; i++) kind->add(&t->positions, t->placed + i * d, (int64_t)i);
    return kind->add && !t->placed ? -ENOMEM : 0;
}

/* Beside what the family has: frequencies, and a table of positions. */
static int declare_positions(Trainee *t, int learns_frequencies) {
    const PositionKind *kind = t->positions.kind;
    size_t rows, cols;
    if (learns_frequencies &&
        params_add(&t->params, "rope_freqs.weight", (size_t)t->config.rope.rotary_dim / 2, 0, 0))
        return -ENOMEM;
    if (!kind || !kind->table) return 0;
    kind->shape(&t->positions, &rows, &cols);
    return params_add(&t->params, kind->table, rows, cols, 0);
}

/* favor+'s projection, which the engine keeps in another order. */
static int set_projection(Trainee *t) {
    LinearConfig *c = &t->config.linear;
    size_t r = (size_t)c->favor_features, d = (size_t)c->head_dim;
    double *w = c->phi->projection(c);
    t->projection = w ? floats_new(t, r * d) : NULL;
    for (size_t i = 0; t->projection && i < r * d; i++)
        t->projection[i] = (float)linear_projection_get(w, c, i % r, i / r);
    free(w);
    return t->projection ? 0 : -ENOMEM;
}

static int allocate(Trainee *t, int learns_frequencies) {
    const Config *c = &t->config;
    size_t n = trainee_tokens(t), d = (size_t)c->d_model, half = (size_t)c->rope.rotary_dim / 2,
           all = t->shape.texts * t->shape.length;
    int rc = t->family->declare(t);
    if (rc == 0) rc = declare_positions(t, learns_frequencies);
    if (rc) return rc;
    if (params_allocate(&t->params)) return -ENOMEM;
    t->frequencies = params_find(&t->params, "rope_freqs.weight");
    if (t->positions.kind && t->positions.kind->table)
        t->table = params_find(&t->params, t->positions.kind->table);
    t->bytes += 4 * t->params.floats * sizeof(float);
    t->angles = floats_new(t, 4 * t->shape.length * half + 1);
    t->scale = floats_new(t, t->shape.length);
    t->dx = floats_new(t, n * d);
    t->logits = floats_new(t, LOSS_ROWS * (d + (size_t)c->vocab_size));
    t->loss = calloc(all, sizeof *t->loss);
    t->right = calloc(all, 1);
    t->grown = calloc(half + 1, sizeof *t->grown);
    if (!t->angles || !t->scale || !t->dx || !t->logits || !t->loss || !t->right || !t->grown) return -ENOMEM;
    if (c->linear.form && c->linear.phi->projection && set_projection(t)) return -ENOMEM;
    if (set_positions(t)) return -ENOMEM;
    set_attention(t);
    fill_angles(t);
    return t->family->allocate(t);
}

/* The largest of what parts need: forward, every matrix lies by columns. */
static int reserve(Trainee *t) {
    const Config *c = &t->config;
    Work *w = &t->work;
    size_t n = trainee_tokens(t), widest = 0;
    for (size_t i = 0; i < t->params.n; i++) {
        const Param *p = &t->params.at[i];
        if (p->is_vector) continue;
        work_reserve(w, work_panels(w, p->rows, p->cols), 0, 0);
        widest = p->cols > widest ? p->cols : widest;
    }
    parts_reserve(w, n, widest);
    if (c->linear.form) states_reserve(w, &t->linear, &t->attention);
    else softmax_reserve(w, &t->attention);
    t->bytes += work_bytes(w);
    return work_allocate(w);
}

int trainee_init(Trainee *t, const Config *c, int learns_frequencies, const BatchShape *shape, const Kernels *kernels,
                 int threads, char *err, size_t errlen) {
    *t = (Trainee){.config = *c, .shape = *shape, .at_once = texts_at_once(shape, c)};
    t->family = c->family == &family_roformer ? &trainee_encoder : &trainee_decoder;
    if (c->positions) t->positions = *c->positions, t->config.positions = &t->positions;
    int rc = work_init(&t->work, kernels, threads);
    if (rc == 0) rc = allocate(t, learns_frequencies);
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
    size_t n = trainee_tokens(t), d = (size_t)t->config.d_model, half = (size_t)t->config.rope.rotary_dim / 2,
           biases = (size_t)t->config.n_heads * distances(t);
    if (t->family && t->page) t->family->release(t);
    pages_free(t->angles, (4 * t->shape.length * half + 1) * sizeof(float));
    if (!t->table) pages_free(t->placed, t->shape.length * (size_t)t->config.d_embed * sizeof(float));
    pages_free(t->bias, biases * sizeof(float));
    pages_free(t->grown_bias, t->at_once * biases * sizeof(float));
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
