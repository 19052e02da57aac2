/* model/layers/tensors.c - a model loaded by its table of tensors (parts.h), whatever form its file keeps them in. */
#include "tensors.h"

#include "base/base.h"
#include "base/json.h"
#include "base/paths.h"
#include "gpt_oss.h"
#include "model/roformer.h"
#include "model/roformer_kinds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a tensor by its name ---- */

typedef struct {
    Loader *ld;
    const LayerPart *part;
    const Config *c;        /* layer_view's */
    int l;                  /* the layer, or -1 */
    char name[TENSOR_NAME]; /* the last one looked for */
} Place;

static const char original[] = ".parametrizations.weight.original"; /* jina-embeddings-v3's, LoRA beside it */

static int is_hf(const Place *p) { return p->ld->m->weights.format == FORMAT_HF; }
static const Config *config(const Place *p) { return p->c; }

/* The weights that adapters are added to have a name of their own. */
static const Tensor *adapted(const Place *p) {
    char name[TENSOR_NAME + 40];
    if (!is_hf(p) || !text_ends_with(p->name, ".weight")) return NULL;
    snprintf(name, sizeof name, "%.*s%s", (int)(strlen(p->name) - strlen(".weight")), p->name, original);
    return weights_find(&p->ld->m->weights, name);
}

/* The tensor that these names call, number `each` where there are several (-1: there is one). */
static const Tensor *named(Place *p, const char *gguf, const char *hf, int each) {
    const char *pattern = is_hf(p) ? hf : gguf, *hole = pattern ? strchr(pattern, '@') : NULL;
    char layer[40] = "";
    if (!pattern || (hole && each < 0)) return NULL;
    if (p->l >= 0) snprintf(layer, sizeof layer, is_hf(p) ? "model.layers.%d." : "blk.%d.", p->l);
    if (hole) snprintf(p->name, sizeof p->name, "%s%.*s%d%s", layer, (int)(hole - pattern), pattern, each, hole + 1);
    else snprintf(p->name, sizeof p->name, "%s%s", layer, pattern);
    const Tensor *t = weights_find(&p->ld->m->weights, p->name);
    return t ? t : adapted(p);
}

/* The part's own, by the names that its architecture has for it. */
static const Tensor *own(Place *p, int each) {
    const Decoder *x = config(p)->decoder;
    return named(p, layer_part_name(x, p->part, 0), layer_part_name(x, p->part, 1), each);
}

/* ---- matrices ---- */

/* A tensor of adapters [tasks, rows, cols] beside t; the task's rows, or NULL. */
static const float *adapter(Place *p, const Tensor *t, const char *which, size_t *rows, size_t *cols) {
    char name[TENSOR_NAME + 40];
    const Decoder *x = config(p)->decoder;
    snprintf(name, sizeof name, "%.*s.parametrizations.weight.0.%s", (int)(strlen(t->name) - strlen(original)), t->name,
             which);
    const Tensor *a = weights_find(&p->ld->m->weights, name);
    if (!a || a->n_dims != 3 || a->shape[0] <= (uint64_t)x->adapter) {
        base_complain(&p->ld->line, "tensor %s is missing, or has no task %d", name, x->adapter);
        return NULL;
    }
    *rows = (size_t)a->shape[1], *cols = (size_t)a->shape[2];
    const float *all = load_vector(p->ld, a, name, (size_t)a->shape[0] * *rows * *cols);
    return all ? all + (size_t)x->adapter * *rows * *cols : NULL;
}

/* w, rows first.. of t, becomes w + scale B A in memory of its own: LoRA, arXiv:2106.09685. Of embeddings the two
 * factors stand the other way round. */
static void adapt(Place *p, Matrix *w, const Tensor *t, size_t first) {
    size_t ra, ca, rb, cb;
    if (config(p)->decoder->adapter < 0 || !w->data || !text_ends_with(t->name, original)) return;
    const float *a = adapter(p, t, "lora_A", &ra, &ca), *b = a ? adapter(p, t, "lora_B", &rb, &cb) : NULL;
    if (!a || !b) return;
    int embeds = p->part->in == IN_MODEL || p->part->in == IN_ENCODER;
    const float *left = embeds ? a : b, *right = embeds ? b : a; /* [rows, rank], [rank, cols] */
    size_t rank = embeds ? ca : cb, left_rows = embeds ? ra : rb, right_cols = embeds ? cb : ca;
    if (rank != (embeds ? rb : ra) || left_rows < first + w->rows || right_cols != w->cols) {
        base_complain(&p->ld->line, "tensor %s: its adapters have other shapes", t->name);
        return;
    }
    float *out = weights_own(&p->ld->m->weights, calloc(w->rows * w->cols, sizeof *out), free);
    if (!out) load_out_of_memory(p->ld);
    for (size_t r = 0; out && r < w->rows; r++) {
        float *row = out + r * w->cols;
        matrix_row(row, w, r);
        for (size_t k = 0; k < rank; k++) {
            float by = config(p)->decoder->adapter_scale * left[(first + r) * rank + k];
            for (size_t c = 0; c < w->cols; c++) row[c] += by * right[k * w->cols + c];
        }
    }
    *w = (Matrix){.type = TENSOR_F32, .rows = w->rows, .cols = w->cols, .data = out};
}

/* Rows first .. first+n-1 of a matrix of `all` rows. */
static Matrix rows_of(Place *p, const Tensor *t, size_t first, size_t n, size_t all, size_t cols) {
    Matrix w = load_matrix(p->ld, t, p->name, all, cols);
    if (w.data && n != all) {
        w.data = (const uint8_t *)w.data + first * (matrix_bytes(&w) / all);
        w.rows = n;
        p->ld->m->n_parameters -= (all - n) * cols;
    }
    adapt(p, &w, t, first);
    return w;
}

/* The rows of t [all, cols] that `row` names, into memory of our own: they do not lie side by side. */
static Matrix gathered(Place *p, const Tensor *t, size_t n, size_t all, size_t cols,
                       size_t (*row)(const Config *c, LayerForm form, size_t i)) {
    Matrix w = load_matrix(p->ld, t, p->name, all, cols);
    if (!w.data) return w;
    size_t bytes = matrix_bytes(&w) / all;
    uint8_t *to = weights_own(&p->ld->m->weights, malloc(n * bytes), free);
    if (!to) {
        load_out_of_memory(p->ld);
        return (Matrix){0};
    }
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * bytes, (const uint8_t *)w.data + row(config(p), p->part->form, i) * bytes, bytes);
    w.data = to, w.rows = n;
    p->ld->m->n_parameters -= (all - n) * cols;
    return w;
}

/* A third, or half, of a matrix that holds several: of those of rows [3] the k-th (0 rows: not there). */
static Matrix part_of_fused(Place *p, const Tensor *t, const size_t rows[3], int k) {
    size_t first = 0;
    for (int i = 0; i < k; i++) first += rows[i];
    return rows_of(p, t, first, rows[k], rows[0] + rows[1] + rows[2], (size_t)config(p)->d_model);
}

/* Qwen3-Next keeps what belongs to a key head together: q, k, its value heads' v and their z; and beta, alpha. */
static size_t in_key_head(size_t i, size_t each, size_t from, size_t block) {
    return i / each * block + from + i % each;
}

static size_t row_of_delta(const Config *c, LayerForm form, size_t i) {
    const Decoder *x = c->decoder;
    size_t each = (size_t)x->value_heads / (size_t)x->key_heads, dk = (size_t)x->key_dim,
           keys = (size_t)x->key_heads * dk, dv = each * (size_t)x->value_dim, block = 2 * dk + 2 * dv;
    switch (form) {
    case FORM_BETA: return in_key_head(i, each, 0, 2 * each);
    case FORM_ALPHA: return in_key_head(i, each, each, 2 * each);
    case FORM_Z: return in_key_head(i, dv, 2 * dk + dv, block);
    default: break;
    }
    if (i < keys) return in_key_head(i, dk, 0, block);
    if (i < 2 * keys) return in_key_head(i - keys, dk, dk, block);
    return in_key_head(i - 2 * keys, dv, 2 * dk, block);
}

static Matrix part_of_heads(Place *p, size_t n) {
    const Config *c = config(p);
    int wide = p->part->form == FORM_MIX || p->part->form == FORM_Z;
    size_t all = wide ? layer_size(c, 'C') + layer_size(c, 'Z') : 2 * layer_size(c, 'N');
    const Tensor *t = wide ? named(p, "ssm_in.weight", "linear_attn.in_proj_qkvz.weight", -1)
                           : named(p, "ssm_ba.weight", "linear_attn.in_proj_ba.weight", -1);
    return gathered(p, t, n, all, (size_t)c->d_model, row_of_delta);
}

/* A key head's queries, its key and its value stand together (NeoBERT, GPT-NeoX, InternLM2). */
static size_t row_of_head(const Config *c, LayerForm form, size_t i) {
    size_t d = (size_t)c->head_dim, q = (size_t)(c->n_heads / c->n_kv_heads) * d, block = q + 2 * d;
    return form == FORM_Q ? in_key_head(i, q, 0, block) : in_key_head(i, d, form == FORM_K ? q : q + d, block);
}

/* Where the file has them so; some are in order in GGUF. */
static int fuses_heads(const Place *p) {
    FusedHeads fused = config(p)->decoder->traits->fused_heads;
    return fused == FUSED_HEADS || (fused == FUSED_HEADS_IN_HF && is_hf(p));
}

/* q, k and v are tensors of their own, though one of them may be missing. */
static int stand_apart(Place *p) {
    return named(p, "attn_q.weight", "self_attn.q_proj.weight", -1) ||
           named(p, "attn_k.weight", "self_attn.k_proj.weight", -1);
}

/* Where it is no tensor of its own: its place in another. */
static Matrix elsewhere(Place *p, size_t rows) {
    const Config *c = config(p);
    const size_t qkv[3] = {layer_size(c, 'G'), layer_size(c, 'K'), layer_size(c, 'W')},
                 ff[3] = {(size_t)c->d_ff, (size_t)c->d_ff}, shared[3] = {rows, rows};
    const Tensor *fused, *reversed;
    switch (p->part->form) {
    case FORM_Q: case FORM_K: case FORM_V:
        if (c->decoder->traits->latent || stand_apart(p)) break;
        fused = named(p, "attn_qkv.weight", "self_attn.qkv_proj.weight", -1);
        if (fuses_heads(p))
            return gathered(p, fused, rows, qkv[0] + qkv[1] + qkv[2], (size_t)c->d_model, row_of_head);
        return part_of_fused(p, fused, qkv, (int)(p->part->form - FORM_Q));
    case FORM_GATE: case FORM_UP:
        reversed = named(p, NULL, "mlp.up_gate_proj.weight", -1); /* GTE's */
        if (reversed)
            return rows_of(p, reversed, p->part->form == FORM_GATE ? rows : 0, rows, 2 * rows, (size_t)c->d_model);
        fused = named(p, "ffn_up.weight", "mlp.gate_up_proj.weight", -1);
        if (!fused && !c->decoder->traits->fused_gate_up) break;
        return part_of_fused(p, fused, ff, (int)(p->part->form - FORM_GATE));
    case FORM_SHARED_GATE: case FORM_SHARED_UP:
        fused = named(p, NULL, "mlp.shared_expert.gate_up_proj.weight", -1); /* Granite's */
        return fused ? part_of_fused(p, fused, shared, (int)(p->part->form - FORM_SHARED_GATE)) : (Matrix){0};
    case FORM_MIX: case FORM_Z: case FORM_BETA: case FORM_ALPHA: return part_of_heads(p, rows);
    default: break;
    }
    return (Matrix){0};
}

static Matrix matrix(Place *p, size_t rows, size_t cols) {
    if (p->part->form >= FORM_CONV_B && p->part->form <= FORM_CONV_X) {
        const Tensor *all = own(p, -1);
        return part_of_fused(p, all, (size_t[]){rows, rows, rows}, (int)(p->part->form - FORM_CONV_B));
    }
    int fused = config(p)->decoder->traits->fused_gate_up && (p->part->form == FORM_GATE || p->part->form == FORM_UP);
    const Tensor *t = fused ? NULL : own(p, -1);
    Matrix w = {0};
    if (!t) w = elsewhere(p, rows);
    if (w.data || p->ld->line.rc) return w;
    t = own(p, -1); /* names it, where it is missing */
    return rows_of(p, t, 0, rows, rows, cols);
}

/* ---- experts, heads ---- */

static Matrix *list_new(Place *p) {
    Matrix *out = weights_own(&p->ld->m->weights, calloc(layer_part_list(config(p), p->part), sizeof *out), free);
    if (!out) load_out_of_memory(p->ld);
    return out;
}

/* Rows first .. first+rows-1 of each of the matrices [all, cols] that t holds. */
static void from_stack(Place *p, Matrix *out, const Tensor *t, size_t first, size_t rows, size_t all, size_t cols) {
    size_t n = layer_part_list(config(p), p->part);
    Matrix w = load_matrix(p->ld, t, p->name, n * all, cols);
    size_t row = w.data ? matrix_bytes(&w) / w.rows : 0;
    if (!w.data) return;
    p->ld->m->n_parameters -= n * (all - rows) * cols;
    for (size_t e = 0; e < n; e++) {
        out[e] = w;
        out[e].rows = rows;
        out[e].data = (const uint8_t *)w.data + (e * all + first) * row;
        if (w.scales) out[e].scales = (const uint8_t *)w.scales + (e * all + first) / (size_t)w.group * 4;
    }
}

/* Every expert's: one by one, all in one tensor, or gate and up together in one. */
static Matrix *experts(Place *p, size_t rows, size_t cols) {
    const LayerForm form = p->part->form;
    Matrix *out = list_new(p);
    const Tensor *t = own(p, -1), *both;
    if (!out) return out;
    if (t) { /* GGUF's */
        from_stack(p, out, t, 0, rows, rows, cols);
        return out;
    }
    if (is_hf(p) && config(p)->decoder->traits->gate == GATE_CLAMPED) {
        gpt_oss_experts(p->ld, out, p->part, p->l, rows, cols);
        return out;
    }
    both = form == FORM_DOWNS ? NULL
           : named(p, "ffn_gate_up_exps.weight", "mlp.experts.gate_up_proj", -1);
    if (both) from_stack(p, out, both, form == FORM_UPS ? rows : 0, rows, 2 * rows, cols);
    else if (form == FORM_DOWNS && is_hf(p) && (t = named(p, NULL, "mlp.experts.down_proj", -1)))
        from_stack(p, out, t, 0, rows, rows, cols);
    else
        for (int e = 0; e < config(p)->decoder->n_experts && p->ld->line.rc == 0; e++) {
            t = own(p, e);
            out[e] = load_matrix(p->ld, t, p->name, rows, cols);
        }
    return out;
}

/* w becomes its transposed, in memory of its own: floats as they are, blocks as floats. row: room for one. */
static void transpose(Place *p, Matrix *w, float *row) {
    const size_t each = w->type == TENSOR_F16 || w->type == TENSOR_BF16 ? 2 : 4;
    const int floats = matrix_group(w) == 0;
    uint8_t *out = weights_own(&p->ld->m->weights, malloc(w->rows * w->cols * each), free);
    for (size_t r = 0; out && r < w->rows; r++) {
        const uint8_t *from = floats ? (const uint8_t *)w->data + r * w->cols * each : (const uint8_t *)row;
        if (!floats) matrix_row(row, w, r);
        for (size_t c = 0; c < w->cols; c++) memcpy(out + (c * w->rows + r) * each, from + c * each, each);
    }
    if (!out) load_out_of_memory(p->ld);
    *w = (Matrix){.type = floats ? w->type : TENSOR_F32, .rows = w->cols, .cols = w->rows, .data = out};
}

/* Of each head, of a matrix that has both: K^T or V. */
static void parted(Place *p, Matrix *out, const Tensor *both) {
    const Decoder *x = config(p)->decoder;
    const size_t nope = (size_t)x->nope_dim, value = (size_t)x->v_dim, cols = (size_t)x->kv_rank;
    if (p->part->form == FORM_V_B) {
        from_stack(p, out, both, nope, value, nope + value, cols);
        return;
    }
    from_stack(p, out, both, 0, nope, nope + value, cols);
    float *row = out->data ? calloc(cols, sizeof *row) : NULL;
    if (out->data && !row) load_out_of_memory(p->ld);
    for (size_t h = 0; row && h < (size_t)config(p)->n_heads; h++) transpose(p, &out[h], row);
    free(row);
}

static Matrix *heads(Place *p, size_t rows, size_t cols) {
    const Tensor *both = named(p, "attn_kv_b.weight", p->part->hf, -1);
    Matrix *out = list_new(p);
    if (out && both) parted(p, out, both);
    else if (out) from_stack(p, out, own(p, -1), 0, rows, rows, cols);
    return out;
}

/* ---- vectors ---- */

static float *floats_new(Place *p, size_t n) {
    float *out = weights_own(&p->ld->m->weights, calloc(n, sizeof *out), free);
    if (!out) load_out_of_memory(p->ld);
    return out;
}

/* One after the other, of a list of heads' vectors. */
static const float *of_each_head(Place *p, size_t n) {
    size_t d = (size_t)config(p)->head_dim;
    float *out = floats_new(p, n);
    for (size_t h = 0; out && h < n / d; h++) {
        const Tensor *t = own(p, (int)h);
        const float *one = load_vector(p->ld, t, p->name, d);
        if (!one) return NULL;
        memcpy(out + h * d, one, d * sizeof *out);
    }
    return out;
}

/* ModernBERT's: the gate's and the other one. */
static const Tensor *gate_up_bias(Place *p) {
    int gated = p->part->form == FORM_GATE || p->part->form == FORM_UP;
    return gated ? named(p, NULL, "mlp.gate_up_proj.bias", -1) : NULL;
}

/* A bias of q, k and v: all of it in memory, in this order, of which the part's begins where it points. */
static const float *fused_bias(Place *p, const Tensor *t) {
    const Config *c = config(p);
    const size_t q = layer_size(c, 'G'), k = layer_size(c, 'K'), all = q + k + layer_size(c, 'W');
    const LayerForm form = p->part->form;
    const float *x = load_vector(p->ld, t, p->name, all);
    float *out = x && fuses_heads(p) ? floats_new(p, all) : (float *)(uintptr_t)x;
    for (size_t i = 0; out && out != x && i < all; i++)
        out[i] = x[i < q ? row_of_head(c, FORM_Q, i) : i < q + k ? row_of_head(c, FORM_K, i - q)
                                                                 : row_of_head(c, FORM_V, i - q - k)];
    return out ? out + (form == FORM_Q ? 0 : form == FORM_K ? q : q + k) : NULL;
}

static const float *vector(Place *p, size_t n) {
    const Config *c = config(p);
    const LayerForm form = p->part->form;
    const Tensor *t = own(p, -1);
    const float *x;
    if (!t && form >= FORM_Q && form <= FORM_V) {
        t = named(p, "attn_qkv.bias", "self_attn.qkv_proj.bias", -1);
        if (t) return fused_bias(p, t);
        t = own(p, -1); /* names it, where it is missing */
    }
    const Tensor *both = t ? NULL : gate_up_bias(p);
    if (both) {
        x = load_vector(p->ld, both, p->name, 2 * n);
        return x && form == FORM_UP ? x + n : x;
    }
    if (!t && form >= FORM_GATES && form <= FORM_DOWNS && is_hf(p))
        return gpt_oss_biases(p->ld, p->part, p->l, n / (size_t)c->decoder->n_experts);
    if (!t && form == FORM_NORM && c->decoder->traits->qk == QK_EACH && is_hf(p)) return of_each_head(p, n);
    x = load_vector(p->ld, t, p->name, n);
    float *changed = (float *)(uintptr_t)x; /* our own memory */
    for (size_t i = 0; x && is_hf(p) && i < n; i++)
        if (form == FORM_NORM && c->decoder->traits->plus_one) changed[i] += 1;
        else if (form == FORM_DECAY) changed[i] = -expf(x[i]);
    return x;
}

/* ---- all of them ---- */

void *layer_place(const Model *m, const LayerPart *part, int l) {
    const void *base = part->in == IN_MODEL ? (const void *)m
                       : part->in == IN_ENCODER ? (const void *)m->encoder
                       : part->in == IN_DECODER ? (const void *)m->config.decoder
                       : part->in == IN_LAYER ? (const void *)&m->layers[l] : (const void *)m->layers[l].more;
    return (char *)(uintptr_t)base + part->at;
}

/* q, k and v have biases together, if they have any. */
static int is_there(Place *p) {
    static const char *const biases[][2] = {
        {"attn_qkv.bias", "self_attn.qkv_proj.bias"}, {"attn_q.bias", "self_attn.q_proj.bias"},
        {"attn_k.bias", "self_attn.k_proj.bias"}, {"attn_v.bias", "self_attn.v_proj.bias"}};
    int there = own(p, -1) || own(p, 0), together = p->part->when == PART_QKV_BIAS;
    for (size_t i = 0; !there && together && i < sizeof biases / sizeof *biases; i++)
        there = named(p, biases[i][0], biases[i][1], -1) != NULL;
    if (!there && p->part->when == PART_V)
        there = !stand_apart(p) && named(p, "attn_qkv.weight", "self_attn.qkv_proj.weight", -1);
    return there || gate_up_bias(p);
}

/* Norms of LayerNorm always have a bias, which may be all zeroes. */
static int is_norm_bias(const Config *c, const LayerPart *p) {
    return c->decoder->traits->layernorm && (p->when == PART_NORM_IN_BIAS || p->when == PART_FFN_NORM_BIAS ||
                                             p->when == PART_FINAL_BIAS || p->when == PART_EMBED_NORM_BIAS);
}

static const float *alike(Place *p, size_t n, float value) {
    float *out = floats_new(p, n);
    for (size_t i = 0; out && i < n; i++) out[i] = value;
    return out;
}

static void take(Place *p) {
    Model *m = p->ld->m;
    const LayerPart *part = p->part;
    size_t rows = layer_size(p->c, part->rows), cols = part->cols ? layer_size(p->c, part->cols) : 0;
    int has = layer_has(p->c, part, p->l), there = has > 0 || (has < 0 && is_there(p));
    int bare = layer_part_is_bare(m->config.decoder, part);
    if (!there && (has == 0 || !(bare || is_norm_bias(p->c, part)))) return;
    void *to = layer_place(m, part, p->l); /* layer -1 has no place for what layers have */
    if (!there) *(const float **)to = alike(p, rows, bare ? 1 : 0);
    else if (part->form == FORM_CONV) *(const float **)to = vector(p, rows * cols);
    else if (!cols) *(const float **)to = vector(p, rows);
    else if (part->form == FORM_K_B || part->form == FORM_V_B) *(Matrix **)to = heads(p, rows, cols);
    else if (layer_part_list(p->c, part)) *(Matrix **)to = experts(p, rows, cols);
    else *(Matrix *)to = matrix(p, rows, cols);
}

/* Whether there is a head for words at all, and how wide it is. */
static void settle_heads(Model *m, int own) {
    Encoder *e = m->encoder;
    const RoformerConfig *f = &m->config.roformer;
    int named = json_list_holds(m->weights.config, "architectures", "MaskedLM");
    m->has_logits = f->classifier == CLASSIFIER_NONE && (named || own || e->mlm_dense.data || e->mlm_bias);
    m->config.roformer.head_width = e->mlm_dense.data ? m->config.d_model : 0;
}

/* Each layer's past is the next one of its mixer and shape, or the last one's of its kind where it borrows. */
static void place_pasts(Model *m) {
    const Config *c = &m->config;
    int of_mixer[3] = {0}, last[2] = {0};
    for (int l = 0; l < c->n_layers; l++) {
        const LayerKind *kind = &c->decoder->kinds[l];
        const int local = kind->turn == TURN_LOCAL;
        int *next = &of_mixer[kind->mixer != MIXER_SOFTMAX ? 2 : layer_is_local(c->decoder, l)];
        m->layers[l].more->past = layer_borrows(c, l) ? last[local] : (*next)++;
        last[local] = m->layers[l].more->past;
    }
    c->decoder->n_softmax = of_mixer[0], c->decoder->n_local = of_mixer[1];
}

void layers_load(Loader *ld) {
    Model *m = ld->m;
    int layers = m->config.n_layers, encoder = m->config.mask != MASK_CAUSAL;
    LayerMore *more = weights_own(&m->weights, calloc((size_t)layers, sizeof *more), free);
    if (encoder) m->encoder = weights_own(&m->weights, calloc(1, sizeof *m->encoder), free);
    if (!more || (encoder && !m->encoder)) {
        load_out_of_memory(ld);
        return;
    }
    for (int l = 0; l < layers; l++) m->layers[l].more = &more[l];
    place_pasts(m);
    for (int l = -1; l < layers; l++) {
        const Config own = layer_view(&m->config, l);
        for (const LayerPart *part = layer_parts; part->gguf && ld->line.rc == 0; part++)
            take(&(Place){.ld = ld, .part = part, .c = &own, .l = l});
    }
    int own = m->lm_head.data != NULL;
    if (!own) m->lm_head = m->tok_emb;
    if (encoder) settle_heads(m, own);
}

int layer_has_lent(const Model *m, const char *name) {
    const Config *c = &m->config;
    const int hf = m->weights.format == FORMAT_HF;
    int l = 0, end = 0;
    if (sscanf(name, hf ? "model.layers.%9d.%n" : "blk.%9d.%n", &l, &end) != 1 || !end || l < 0 || l >= c->n_layers ||
        !layer_borrows(c, l))
        return 0;
    for (const LayerPart *p = layer_parts; p->gguf; p++)
        if ((p->when == PART_KV || p->when == PART_V || p->when == PART_K_NORM) &&
            strcmp(layer_part_name(c->decoder, p, hf), name + end) == 0)
            return 1;
    return 0;
}

/* ---- one by one ---- */

/* How many matrices a row of the table stands for, in a layer. */
static size_t matrices_of(const Config *c, const LayerPart *p) {
    if (!p->cols || p->form == FORM_CONV || !layer_part_repeats(p)) return 0;
    size_t list = layer_part_list(c, p);
    return list ? list : 1;
}

size_t layer_matrices(const Config *c) {
    size_t n = 0;
    for (const LayerPart *p = layer_parts; p->gguf; p++) n += matrices_of(c, p);
    return n;
}

Matrix *layer_matrix(const Model *m, int l, size_t i, int *expert) {
    static const Matrix none; /* which nobody fills */
    const LayerPart *p = layer_parts;
    for (size_t n; (n = matrices_of(&m->config, p)) <= i; p++) i -= n;
    size_t list = layer_part_list(&m->config, p);
    *expert = list && p->form >= FORM_GATES && p->form <= FORM_DOWNS;
    int has = layer_has(&m->config, p, l); /* parts of layers of two kinds may share a place */
    void *at = layer_place(m, p, l);
    if (!has) return (Matrix *)(uintptr_t)&none;
    return list ? *(Matrix **)at + i : at;
}
