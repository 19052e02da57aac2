/* model/layers/experts.c - who is asked, tokens sorted by expert, and their answers summed in the order of the shares.
 *
 * A token's sum does not depend on the batch it came in: which experts it asks follows from its own xn, what an expert
 * says of it has the same bits among others (kernels.h), and the sum goes by rank. */
#include "experts.h"

#include "model/steps.h"
#include "scratch.h"

#include <math.h>
#include <string.h>

static const Decoder *decoder(const Session *s) { return s->model->config.decoder; }

/* ---- who is asked ---- */

/* What numbers are chosen by: z [n], each with its bias (NULL: none has one), those alone whose group of `each` is in
 * `open` (NULL: all are). */
typedef struct {
    const float *z, *bias;
    const uint8_t *open;
    size_t n, each;
} Choice;

static float number(const Choice *c, size_t i) { return c->bias ? c->z[i] + c->bias[i] : c->z[i]; }

/* The largest that is not among chosen [k]; of equal ones the first. -1: none is left. */
static int next_largest(const Choice *c, const int *chosen, size_t k) {
    int best = -1;
    float most = 0;
    for (size_t e = 0; e < c->n; e++) {
        float v = number(c, e);
        int taken = c->open && !c->open[e / c->each];
        for (size_t i = 0; i < k; i++) taken |= chosen[i] == (int)e;
        if (!taken && (best < 0 || v > most)) best = (int)e, most = v;
    }
    return best;
}

/* z [n_experts] becomes the experts' scores, each below 1. */
static void score(const Decoder *x, float *z) {
    size_t E = (size_t)x->n_experts;
    float most = z[0];
    double sum = 0;
    for (size_t e = 0; x->sigmoid && e < E; e++) z[e] = (float)(1 / (1 + exp(-(double)z[e])));
    if (x->sigmoid) return;
    for (size_t e = 1; e < E; e++) most = fmaxf(most, z[e]);
    for (size_t e = 0; e < E; e++) sum += exp((double)z[e] - (double)most);
    for (size_t e = 0; e < E; e++) z[e] = (float)(exp((double)z[e] - (double)most) / sum);
}

/* Their scores, divided by the sum, which is kept from 0, where renormalised. */
static void share_scores(const Decoder *x, const float *z, const int *chosen, float *share) {
    size_t used = (size_t)x->n_used;
    double sum = 0;
    for (size_t i = 0; i < used; i++) sum += (double)z[chosen[i]];
    sum += (double)x->traits->sum_more;
    sum = x->renormalise ? fmax(sum, x->sigmoid ? 1e-20 : 1e-12) : 1; /* ERNIE's moe_norm_min */
    for (size_t i = 0; i < used; i++) share[i] = (float)((double)x->share_scale * (double)z[chosen[i]] / sum);
}

/* Which groups of experts are the best ones, a group by the sum of its best experts. */
static void open_groups(const Decoder *x, const float *z, const float *bias, uint8_t *open) {
    const size_t each = (size_t)x->n_experts / (size_t)x->n_groups;
    float sums[LAYER_GROUPS];
    int chosen[LAYER_GROUPS];
    for (size_t g = 0; g < (size_t)x->n_groups; g++) {
        const Choice own = {.z = z + g * each, .bias = bias ? bias + g * each : NULL, .n = each, .each = 1};
        int best[GROUP_BEST];
        sums[g] = 0, open[g] = 0;
        for (size_t i = 0; i < (size_t)x->group_best; i++) {
            best[i] = next_largest(&own, best, i);
            sums[g] += number(&own, (size_t)best[i]);
        }
    }
    const Choice groups = {.z = sums, .n = (size_t)x->n_groups, .each = 1};
    for (size_t i = 0; i < (size_t)x->groups_used; i++) {
        chosen[i] = next_largest(&groups, chosen, i);
        open[chosen[i]] = 1;
    }
}

/* Token t's experts by rank, and their shares: softmax over all experts, or over those chosen, where renormalised; or
 * by scores of their own, where a bias corrects these (NULL: none does), they are sigmoids, scaled, or in groups. */
static void choose_by(Session *s, const float *bias, size_t t) {
    const Decoder *x = decoder(s);
    LayerScratch *w = s->scratch->more;
    size_t E = (size_t)x->n_experts, used = (size_t)x->n_used;
    float *z = w->shares + t * E;
    float *share = w->shares + s->options.n_batch * E + t * used;
    int *chosen = w->chosen + t * used;
    double sum = 0;
    uint8_t open[LAYER_GROUPS];
    int grouped = x->n_groups > 1, scored = bias || x->sigmoid || x->share_scale != 1 || grouped;
    if (scored) score(x, z);
    if (grouped) open_groups(x, z, bias, open);
    const Choice all = {z, bias, grouped ? open : NULL, E, grouped ? E / (size_t)x->n_groups : 1};
    for (size_t i = 0; i < used; i++) chosen[i] = next_largest(&all, chosen, i);
    if (scored) {
        share_scores(x, z, chosen, share);
        return;
    }
    for (size_t e = 0; !x->renormalise && e < E; e++) sum += exp((double)z[e] - (double)z[chosen[0]]);
    for (size_t i = 0; x->renormalise && i < used; i++) sum += exp((double)z[chosen[i]] - (double)z[chosen[0]]);
    for (size_t i = 0; i < used; i++) share[i] = (float)(exp((double)z[chosen[i]] - (double)z[chosen[0]]) / sum);
}

/* The same, and what an expert's answer is multiplied by whoever asks. */
static void choose(Session *s, const LayerMore *m, size_t t) {
    const Decoder *x = decoder(s);
    const LayerScratch *w = s->scratch->more;
    size_t used = (size_t)x->n_used;
    choose_by(s, m->correction, t);
    float *share = w->shares + s->options.n_batch * (size_t)x->n_experts + t * used;
    for (size_t i = 0; m->expert_scale && i < used; i++) share[i] *= m->expert_scale[w->chosen[t * used + i]];
}

/* Slots: all tokens of expert 0, in order, then all of expert 1. One thread's work. */
static void sort_by_expert(Session *s, size_t n) {
    const Decoder *x = decoder(s);
    LayerScratch *w = s->scratch->more;
    size_t E = (size_t)x->n_experts, slots = n * (size_t)x->n_used, *at = w->first;
    memset(at, 0, (E + 1) * sizeof *at);
    for (size_t i = 0; i < slots; i++) at[w->chosen[i] + 1]++;
    for (size_t e = 0; e < E; e++) at[e + 1] += at[e];
    for (size_t i = 0; i < slots; i++) w->slot[i] = at[w->chosen[i]]++; /* at[e] becomes the end of expert e */
    for (size_t e = E; e > 0; e--) at[e] = at[e - 1];
    at[0] = 0;
    for (size_t i = 0; i < slots; i++) w->token[w->slot[i]] = i / (size_t)x->n_used;
}

/* ---- what they say ---- */

/* Whose slot i is. */
static size_t expert_of(const LayerScratch *w, size_t n_experts, size_t i) {
    size_t low = 0, high = n_experts;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (w->first[middle] <= i) low = middle;
        else high = middle;
    }
    while (w->first[low + 1] <= i) low++; /* behind experts without a slot */
    return low;
}

/* Rows of x, a slot's own (or its token's), packed for its expert's matrix. */
static size_t pack(Session *s, const float *x, int by_token, size_t slots, size_t d, const Matrix *of) {
    const Kernels *k = s->model->kernels;
    LayerScratch *w = s->scratch->more;
    size_t E = (size_t)decoder(s)->n_experts;
    int group = matrix_group(of);
    size_t bytes = scratch_packed_bytes(k, d, group);
    for (Share i = team_share(&s->scratch->team, slots); i.at < i.end; i.at++) {
        size_t e = expert_of(w, E, i.at), from = w->first[e], n = w->first[e + 1] - from;
        const float *row = x + (by_token ? w->token[i.at] : i.at) * d;
        k->mat->pack(w->slot_packed + from * bytes, row, n, d, group, i.at - from);
    }
    team_wait(&s->scratch->team);
    return bytes;
}

enum { STRIP = 16 };

/* y [slots, rows] = each slot's expert's matrix times what was packed, plus its bias. */
static void multiply_nowait(Session *s, float *y, const Matrix *of, const float *bias, size_t bytes) {
    const Kernels *k = s->model->kernels;
    LayerScratch *w = s->scratch->more;
    size_t E = (size_t)decoder(s)->n_experts, rows = of->rows, strips = (rows + STRIP - 1) / STRIP;
    for (Share i; team_take(&s->scratch->team, E * strips, &i);)
        for (size_t next; i.at < i.end; i.at = next) { /* the strips of one expert together */
            size_t e = i.at / strips, from = w->first[e], n = w->first[e + 1] - from;
            next = i.end < (e + 1) * strips ? i.end : (e + 1) * strips;
            if (n == 0) continue;
            size_t r0 = i.at % strips * STRIP, r1 = next % strips ? next % strips * STRIP : rows;
            Activations a = {.n = n, .d = of->cols, .group = matrix_group(&of[e])};
            a.data = w->slot_packed + from * bytes;
            k->mat->matmul(y + from * rows, rows, &a, &of[e], r0, r1);
            for (size_t t = from; bias && t < from + n; t++)
                for (size_t r = r0; r < r1; r++) y[t * rows + r] += bias[e * rows + r];
        }
}

/* The shared expert's share in token t: sigmoid(router . xn); all of it where it has no router. */
static float shared_share(const Session *s, const float *router, size_t t) {
    size_t d = (size_t)s->model->config.d_model;
    const float *xn = s->scratch->xn + t * d;
    double z = 0;
    for (size_t i = 0; router && i < d; i++) z += (double)router[i] * (double)xn[i];
    return router ? (float)(1 / (1 + exp(-z))) : 1;
}

/* out += the chosen ones' answers to token t, by rank. */
static void add_chosen(const Session *s, float *out, size_t t) {
    const Decoder *x = decoder(s);
    const LayerScratch *w = s->scratch->more;
    size_t d = (size_t)s->model->config.d_model, used = (size_t)x->n_used;
    const float *shares = w->shares + s->options.n_batch * (size_t)x->n_experts;
    for (size_t k = 0; k < used; k++) {
        const float *said = w->slot_out + w->slot[t * used + k] * d, by = shares[t * used + k];
        for (size_t i = 0; i < d; i++) out[i] += by * said[i];
    }
}

/* branch = the shared expert's, by its sigmoid, and the chosen ones'. */
static void sum_up(Session *s, const Layer *y, size_t n) {
    const Decoder *x = decoder(s);
    size_t d = (size_t)s->model->config.d_model;
    for (Share t = team_share(&s->scratch->team, n); t.at < t.end; t.at++) {
        float *out = s->scratch->more->branch + t.at * d;
        float own = x->d_shared ? shared_share(s, y->more->shared_router, t.at) : 0;
        for (size_t i = 0; i < d; i++) out[i] = x->d_shared ? own * out[i] : 0;
        add_chosen(s, out, t.at);
    }
}

/* branch = norm(the shared expert's) + norm(the chosen ones'). xn has been read, and is room. */
static void sum_up_normed(Session *s, const LayerMore *m, size_t n) {
    const Config *c = &s->model->config;
    const VectorKernels *vec = s->model->kernels->vec;
    size_t d = (size_t)c->d_model;
    for (Share t = team_share(&s->scratch->team, n); t.at < t.end; t.at++) {
        float *out = s->scratch->more->branch + t.at * d, *sum = s->scratch->xn + t.at * d;
        memset(sum, 0, d * sizeof *sum);
        add_chosen(s, sum, t.at);
        vec->rmsnorm(sum, sum, m->expert_out, d, c->norm_eps);
        vec->rmsnorm(out, out, m->shared_out, d, c->norm_eps);
        for (size_t i = 0; i < d; i++) out[i] += sum[i];
    }
}

void experts_ask(Session *s, int l, size_t n) {
    const Layer *y = &s->model->layers[l];
    const LayerMore *m = y->more;
    const Decoder *x = decoder(s);
    Scratch *c = s->scratch;
    LayerScratch *w = c->more;
    size_t d = (size_t)s->model->config.d_model, ff = (size_t)x->d_expert, slots = n * (size_t)x->n_used;
    if (m->router_norm) layers_take_in_nowait(s, m->router_norm, NULL, n);
    if (m->router_norm) layers_scale_nowait(s, c->xn, 1 / sqrtf((float)d), n);
    Packed a = step_pack(s, c->xn, n, d, &m->router);
    step_linear_nowait(s, w->shares, &a, &m->router, m->router_b);
    team_wait(&c->team);
    for (Share t = team_share(&c->team, n); t.at < t.end; t.at++) choose(s, m, t.at);
    if (m->expert_in) layers_take_in_nowait(s, m->expert_in, NULL, n);
    team_wait(&c->team);
    if (team_member() == 0) sort_by_expert(s, n);
    team_wait(&c->team);
    size_t bytes = pack(s, c->xn, 1, slots, d, m->gates);
    multiply_nowait(s, w->slot_gate, m->gates, m->gates_b, bytes);
    if (matrix_group(m->ups) != matrix_group(m->gates)) { /* a file that mixes groups */
        team_wait(&c->team);
        bytes = pack(s, c->xn, 1, slots, d, m->ups);
    }
    multiply_nowait(s, w->slot_up, m->ups, m->ups_b, bytes);
    team_wait(&c->team);
    for (Share i = team_share(&c->team, slots); i.at < i.end; i.at++)
        layers_activate(s, w->slot_gate + i.at * ff, w->slot_up + i.at * ff, ff);
    bytes = pack(s, w->slot_gate, 0, slots, ff, m->downs);
    multiply_nowait(s, w->slot_out, m->downs, m->downs_b, bytes);
    team_wait(&c->team);
    if (m->expert_out) sum_up_normed(s, m, n);
    else sum_up(s, y, n);
    team_wait(&c->team);
}
