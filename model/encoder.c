/* model/encoder.c - texts laid out as a batch of tokens under a mask, and the heads that are asked for a token. */
#include "encoder.h"

#include "kernels/encoder_kernels.h"
#include "model/layers/scratch.h"
#include "past.h"
#include "roformer.h"
#include "roformer_kinds.h"
#include "scratch.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Why texts cannot be read side by side; NULL: they can. */
static const char *unreadable(const Config *c) {
    if (c->family->step) return NULL;
    if (c->linear.form) return "a state holds one text, not several";
    return c->rope.scaling->choice ? "RoPE's frequencies depend on a text's length: texts share no batch" : NULL;
}

static int check(const Session *s, const EncoderText *texts, size_t n_texts, char *err, size_t errlen) {
    const Config *c = &s->model->config;
    size_t total = 0;
    const char *why = unreadable(c);
    if (why) return base_error(err, errlen, -EINVAL, "%s", why);
    for (size_t i = 0; i < n_texts; i++) {
        const EncoderText *x = &texts[i];
        size_t kept = 0;
        for (size_t t = 0; t < x->n; t++) {
            if (x->ids[t] < 0 || x->ids[t] >= c->vocab_size)
                return base_error(err, errlen, -EINVAL, "id %d is outside the model's vocabulary of %d", x->ids[t],
                                  c->vocab_size);
            if (x->types && c->roformer.n_types > 1 && (x->types[t] < 0 || x->types[t] >= c->roformer.n_types))
                return base_error(err, errlen, -EINVAL, "token type %d is not one of the model's %d", x->types[t],
                                  c->roformer.n_types);
            kept += !x->keep || x->keep[t];
        }
        if (c->n_places && x->n > c->n_places)
            return base_error(err, errlen, -ENOSPC, "a text of %zu tokens, and this model has learned %zu positions "
                              "(--position-extend hierarchical makes more of them)", x->n, c->n_places);
        if (rope_choice(&c->rope, (int64_t)x->n) != s->rope.choice) /* the session's are those of a short one */
            return base_error(err, errlen, -EINVAL, "a text of %zu tokens: rope method %s has other frequencies for "
                              "it, which texts read whole do not know; --rope names another", x->n,
                              c->rope.scaling->name);
        if (kept == 0) return base_error(err, errlen, -EINVAL, "a text without a token that is not padding");
        if (x->n > s->options.n_batch - total && s->options.n_batch < s->options.n_ctx)
            return base_error(err, errlen, -ENOSPC, "%zu tokens do not fit into one batch of %zu", total + x->n,
                              s->options.n_batch);
        if (x->n > s->options.n_batch - total)
            return base_error(err, errlen, -ENOSPC, "%zu tokens do not fit into %zu; give more room (-c)", total + x->n,
                              s->options.n_batch);
        total += x->n;
    }
    return 0;
}

/* Where the group of tokens that token t belongs to ends: those of a group see each other and all groups before. */
static size_t group_end(const EncoderText *x, Mask mask, size_t t) {
    if (mask == MASK_PADDING) return x->n;
    if (mask == MASK_CAUSAL) return t + 1;
    for (t++; t < x->n && !(x->types && x->types[t]);)
        t++; /* c[j], the running sum of the types, grows at every type above 0 */
    return t;
}

/* Text x as tokens from number `from` on; its keys take slots from *slots on. */
static void take_text(Session *s, const EncoderText *x, size_t from, size_t *slots) {
    Mask mask = s->model->config.mask;
    const int *types = s->model->config.roformer.n_types > 1 ? x->types : NULL;
    size_t first = *slots;
    for (size_t t = 0, end; t < x->n; t = end) {
        end = group_end(x, mask, t);
        for (size_t i = t; i < end; i++) {
            int keep = !x->keep || x->keep[i];
            s->scratch->tokens[from + i] = (Token){.id = x->ids[i],
                                                   .type = types ? types[i] : 0,
                                                   .pos = i,
                                                   .first = first,
                                                   .slot = keep ? *slots : TOKEN_PADDING};
            *slots += (size_t)keep;
        }
        for (size_t i = t; i < end; i++) s->scratch->tokens[from + i].end = *slots;
    }
}

int encoder_read(Session *s, const EncoderText *texts, size_t n_texts, char *err, size_t errlen) {
    int rc = check(s, texts, n_texts, err, errlen);
    if (rc) return rc;
    size_t total = 0, slots = 0;
    session_rewind(s, 0);
    for (size_t i = 0; i < n_texts; total += texts[i].n, i++) take_text(s, &texts[i], total, &slots);
    const Family *family = s->model->config.family;
    int layers = s->model->config.n_layers;
    if (!family->step) family->forward(s, total, 0);
    for (int l = -1; family->step && l < layers; l++) {
        family->step(s, l, total);
        if (l + 1 < layers && s->options.progress &&
            s->options.progress(s->options.progress_arg, total * (size_t)(l + 1) / (size_t)layers, total))
            return base_error(err, errlen, -EINTR, "interrupted");
    }
    if (n_texts == 1 && slots == total && s->model->config.mask != MASK_PADDING) {
        session_set_pos(s, total);
        if (s->ids) memcpy(s->ids, texts->ids, total * sizeof *s->ids);
    } else if (s->past->state.S) {
        linear_clear(&s->past->state);
    }
    return 0;
}

const float *encoder_hidden(const Session *s, size_t t) {
    return (s->model->encoder ? s->scratch->x : s->scratch->xn) + t * (size_t)s->model->config.d_model;
}

static void only_computed(void *arg, size_t i, const float *logits) { (void)arg, (void)i, (void)logits; }

const float *encoder_logits(Session *s, size_t t) {
    session_hand_out(s, t, 1, 0, only_computed, NULL);
    s->has_logits = t + 1 == s->pos; /* what session_eval goes on from, and session_save writes */
    return s->logits;
}

void encoder_logits_each(Session *s, size_t t, size_t n, SessionEach *each, void *arg) {
    session_hand_out(s, t, n, 0, each, arg);
    s->has_logits = n && t + n == s->pos;
}

/* y = W x + b for one vector */
static void dense(Session *s, float *y, const float *x, const Matrix *w, const float *b) {
    const Kernels *kernels = s->model->kernels;
    Activations a = {.n = 1, .d = w->cols, .group = matrix_group(w), .data = s->scratch->packed};
    kernels->mat->pack(s->scratch->packed, x, 1, a.d, a.group, 0);
    kernels->mat->matmul(y, w->rows, &a, w, 0, w->rows);
    for (size_t i = 0; b && i < w->rows; i++) y[i] += b[i];
}

void encoder_pool(Session *s, size_t t, float *out) {
    const Config *c = &s->model->config;
    dense(s, out, encoder_hidden(s, t), &s->model->encoder->pooler, s->model->encoder->pooler_b);
    for (int i = 0; c->roformer.pooler == POOLER_TANH && i < c->d_model; i++) out[i] = tanhf(out[i]);
}

/* xn = norm(act(Wd x)), what some classifiers begin with; returns what their output meets. */
static const float *classifier_input(Session *s, const float *x) {
    const Encoder *e = s->model->encoder;
    const Kernels *k = s->model->kernels;
    float *y = s->scratch->xn; /* nothing stands there any more; x itself may */
    size_t d = e->cls_dense.rows;
    if (!e->cls_dense.data) return x;
    dense(s, y, x, &e->cls_dense, e->cls_dense_b);
    k->enc->activate(y, d, s->model->config.roformer.activation);
    const float *bias = e->cls_norm_b || !s->scratch->more ? e->cls_norm_b : s->scratch->more->zeroes;
    if (e->cls_norm) k->enc->layernorm(y, y, e->cls_norm, bias, d, s->model->config.norm_eps);
    return y;
}

void encoder_mean(const Session *s, size_t t, size_t n, float *out) {
    for (size_t j = 0; j < (size_t)s->model->config.d_model; j++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) sum += (double)encoder_hidden(s, t + i)[j];
        out[j] = (float)(sum / (double)n);
    }
}

/* The mean of what the output meets for each of n tokens, which is linear. */
static const float *mean_input(Session *s, size_t t, size_t n) {
    size_t d = (size_t)s->model->config.d_model;
    double *sum = s->scratch->more->mean;
    memset(sum, 0, d * sizeof *sum);
    for (size_t i = 0; i < n; i++) {
        const float *y = classifier_input(s, encoder_hidden(s, t + i));
        for (size_t j = 0; j < d; j++) sum[j] += (double)y[j];
    }
    for (size_t j = 0; j < d; j++) s->scratch->xn[j] = (float)(sum[j] / (double)n);
    return s->scratch->xn;
}

void encoder_classify(Session *s, size_t t, size_t n, float *out) {
    const Encoder *e = s->model->encoder;
    const RoformerConfig *f = &s->model->config.roformer;
    int reads = f->classifier == CLASSIFIER_SEQUENCE ? f->reads : CLASSIFIER_READS_FIRST;
    const float *x = encoder_hidden(s, t);
    if (reads == CLASSIFIER_READS_POOLED) encoder_pool(s, t, s->scratch->xn), x = s->scratch->xn;
    if (reads == CLASSIFIER_READS_MEAN) encoder_mean(s, t, n, s->scratch->xn), x = s->scratch->xn;
    x = reads == CLASSIFIER_READS_EACH ? mean_input(s, t, n) : classifier_input(s, x);
    dense(s, out, x, &e->cls_out, e->cls_out_b);
}
