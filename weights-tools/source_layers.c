/* weights-tools/source_layers.c - a model of Hugging Face's in layers (Gemma, Qwen 3.5, ModernBERT ..): the engine's
 * loader takes its tensors apart, and here they are listed as llama.cpp's files have them. */
#include "source.h"

#include "model/family.h"
#include "model/keys_more.h"
#include "model/layers/tensors.h"
#include "model/options.h"
#include "model/roformer.h"
#include "base/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    Source *s;
    Model m;        /* its weights are s's while it is loaded, then s has them again */
    int permutes;   /* the file's pairs are halves, GGUF's stand side by side */
    int fused_qkv, fused_gate_up, fused_beta; /* matrices that llama.cpp's files keep together */
} Layers;

static const Decoder *decoder(const Layers *x) { return x->m.config.decoder; }

/* ---- a checkpoint's windows as tensors ---- */

static int add_view(Source *s, const View *v, char *err, size_t errlen) {
    static const int types[] = {[ELEM_F32] = TENSOR_F32, [ELEM_F16] = TENSOR_F16, [ELEM_BF16] = TENSOR_BF16};
    Tensor t = {.name = v->name, .type = v->type <= ELEM_BF16 ? types[v->type] : -1, .type_name = elem_name(v->type),
                .n_dims = v->n_dims, .data = v->data, .size = v->values * elem_bytes(v->type)};
    for (int d = 0; d < v->n_dims; d++) t.shape[d] = v->shape[d];
    if (!view_is_contiguous(v))
        return base_error(err, errlen, -EINVAL, "%s: tensor %.100s: its rows do not lie one behind the other: convert "
                          "it to safetensors first", s->path, v->name);
    return weights_add_tensor(&s->weights, &t) ? source_no_memory(s, err, errlen) : 0;
}

int source_layers_views(Source *s, const SourceWish *wish, char *err, size_t errlen) {
    const ModelOptions o = {.task = wish->task};
    const char *twice;
    int rc = 0;
    for (size_t i = 0; i < s->checkpoint.n_views && rc == 0; i++)
        rc = add_view(s, &s->checkpoint.views[i], err, errlen);
    if (rc) return rc;
    s->weights.by_name = weights_sort(&s->weights, s->weights.tensors, s->weights.n_tensors, sizeof(Tensor), &twice);
    if (!s->weights.by_name) return source_no_memory(s, err, errlen);
    if (twice) return source_twice(s, twice, err, errlen);
    rc = config_read(&s->config, &s->weights, &o, err, errlen);
    if (rc == 0 && wish->task && s->config.decoder->adapter < 0)
        rc = base_error(err, errlen, -EINVAL, "%s: --task: this model has no adapters", s->path);
    return rc;
}

static int load(Layers *x, char *err, size_t errlen) {
    Source *s = x->s;
    x->m.config = s->config;
    x->m.weights = s->weights;
    int rc = model_load(&x->m, err, errlen);
    s->weights = x->m.weights; /* with what belongs to it */
    return rc;
}

/* ---- what is left over ---- */

static int check_rest(const Layers *x, const Report *r, char *err, size_t errlen) {
    static const char *const kinds[REST_KINDS] = {
        [REST_PART] = "of other parts than the text's (pictures, drafts)",
        [REST_COMPUTED] = "of frequencies or integers, which the engine computes",
        [REST_ADAPTER] = "of the tasks' adapters: --task NAME merges one",
        [REST_HEAD] = "of a head that nothing here reads (a pooler, words' weights)",
        [REST_BIAS] = "of a head that has two biases: its matrix's own is kept",
        [REST_LENT] = "of keys and values, in layers that take an earlier one's"};
    size_t n[REST_KINDS] = {0};
    for (size_t i = 0; i < x->m.weights.n_tensors; i++) {
        const Tensor *t = &x->m.weights.tensors[i];
        if (x->m.used[i]) continue;
        TensorRest rest = model_rest(&x->m, t);
        n[rest]++;
        if (rest == REST_UNKNOWN)
            return base_error(err, errlen, -EINVAL, "%s: tensor %.100s: no %s known here has it", x->s->path, t->name,
                              x->m.config.arch);
    }
    if (n[REST_TIED]) report_note(r, "left out: lm_head.weight: the model ties it to the embeddings");
    for (int i = 0; i < REST_KINDS; i++)
        if (n[i] && kinds[i]) report_note(r, "left out: %zu tensor%s %s", n[i], plural(n[i]), kinds[i]);
    return 0;
}

/* ---- orders ---- */

/* GGUF's value head j of Qwen 3.5, whose own lie key head by key head. */
static size_t value_head(const Decoder *d, size_t j) {
    size_t keys = (size_t)d->key_heads, each = (size_t)d->value_heads / keys;
    return j % keys * each + j / keys;
}

/* n blocks of which those from `first` on are value heads' of `each` rows or columns. */
static size_t *of_value_heads(Layers *x, size_t n, size_t first, size_t each) {
    size_t *order = source_order(x->s, n);
    for (size_t i = 0; order && i < n; i++)
        order[i] = i < first ? i : first + value_head(decoder(x), (i - first) / each) * each + (i - first) % each;
    return order;
}

/* Beta's rows and then alpha's, as Qwen3-Next has them: those of a key head together. */
static size_t *of_key_heads(Layers *x, size_t n) {
    size_t *order = source_order(x->s, 2 * n), each = n / (size_t)decoder(x)->key_heads;
    for (size_t i = 0; order && i < 2 * n; i++) {
        size_t in_head = i % (2 * each);
        order[i] = i / (2 * each) * each + in_head % each + (in_head < each ? 0 : n);
    }
    return order;
}

/* All heads' q, k and v as a NeoBERT's file has them: a head's three together. */
static size_t *of_heads(Layers *x, size_t n) {
    size_t *order = source_order(x->s, 3 * n), d = (size_t)x->m.config.head_dim;
    for (size_t i = 0; order && i < 3 * n; i++) order[i] = i % (3 * d) / d * n + i / (3 * d) * d + i % d;
    return order;
}

/* Rows and columns to their places in GGUF. 0, or -ENOMEM. */
static int set_orders(Layers *x, const LayerPart *p, Item *i) {
    const Config *c = &x->m.config;
    const Decoder *d = c->decoder;
    const size_t *order = NULL;
    size_t values = d->n_states && d->traits->tiled ? (size_t)d->value_dim : 0;
    int rotated = x->permutes && (p->form == FORM_Q || p->form == FORM_K) && i->n_below == 0;
    if (values && p->cols == 'Z') {
        i->col_block = values;
        return (i->col_order = of_value_heads(x, i->cols / values, 0, 1)) ? 0 : -ENOMEM;
    }
    if (rotated)
        order = source_pairs(x->s, i->shape[0], (size_t)c->head_dim, (size_t)c->rope.rotary_dim);
    else if (values && p->rows == 'C')
        order = of_value_heads(x, i->shape[0], layer_size(c, 'C') - layer_size(c, 'Z'), values);
    else if (values && p->rows == 'Z') order = of_value_heads(x, i->shape[0], 0, values);
    else if (values && p->rows == 'N') order = of_value_heads(x, i->shape[0], 0, 1);
    else if (x->fused_beta && p->form == FORM_BETA) order = of_key_heads(x, i->from.rows);
    else if (d->traits->fused_heads == FUSED_HEADS && p->form == FORM_Q) order = of_heads(x, i->from.rows);
    else return 0;
    if (i->n_dims > 1) i->row_order = order;
    else i->col_order = order, i->col_block = 1;
    return order ? 0 : -ENOMEM;
}

/* ---- one item ---- */

static Item matrix_item(const Matrix *m) {
    return (Item){.n_dims = 2, .shape = {m->rows, m->cols}, .rows = m->rows, .cols = m->cols, .from = *m};
}

/* With others below the first. */
static int put_below(Layers *x, Item *i, const Matrix *below, size_t n) {
    Matrix *copy = weights_own(&x->s->plan.names, calloc(n, sizeof *copy), free);
    if (!copy) return -ENOMEM;
    memcpy(copy, below, n * sizeof *copy);
    for (size_t k = 0; k < n; k++) i->rows += below[k].rows;
    i->shape[0] = i->rows;
    i->below = copy, i->n_below = n;
    return 0;
}

/* All experts' or heads' in one. */
static int list_item(Layers *x, Item *i, const Matrix *first, size_t n) {
    *i = matrix_item(first);
    if (n > 1 && put_below(x, i, first + 1, n - 1)) return -ENOMEM;
    *i = (Item){.n_dims = 3, .shape = {n, first->rows, first->cols}, .rows = i->rows, .cols = i->cols,
                .from = i->from, .below = i->below, .n_below = i->n_below};
    return 0;
}

/* The tensor that p's matrices were made from. */
static Item as_it_is(const Layers *x, const LayerPart *p, int l) {
    char name[TENSOR_NAME + 40];
    snprintf(name, sizeof name, "model.layers.%d.%s", l, p->hf);
    const Tensor *t = weights_find(&x->m.weights, name); /* was loaded, so it is there */
    const Config *c = &x->m.config;
    const size_t each = (size_t)(c->decoder->nope_dim + c->decoder->v_dim);
    return matrix_item(&(Matrix){.type = (TensorType)t->type, .group = t->group, .rows = (size_t)c->n_heads * each,
                                 .cols = layer_size(c, 'c'), .data = t->data, .scales = t->scales});
}

/* A vector, or what is one in memory and a matrix in the file. */
static Item vector_item(Layers *x, const LayerPart *p, int l, const float *v) {
    const Config own = layer_view(&x->m.config, l), *c = &own;
    size_t n = layer_size(c, p->rows), cols = p->form == FORM_CONV ? layer_size(c, p->cols) : 0;
    if (x->fused_qkv && p->form == FORM_Q) n += layer_size(c, 'K') + layer_size(c, 'W'); /* they follow in memory */
    Item i = {.n_dims = 1, .shape = {n}, .rows = 1, .cols = n};
    if (p->rows == 'x' || p->rows == 'y') cols = n / (size_t)c->decoder->n_experts, n /= cols;
    if (p->form == FORM_NORM && c->decoder->traits->qk == QK_EACH && (p->rows == 'q' || p->rows == 'k'))
        cols = (size_t)c->head_dim, n /= cols;
    if (cols) i = (Item){.n_dims = 2, .shape = {n, cols}, .rows = n, .cols = cols};
    i.from = (Matrix){.type = TENSOR_F32, .rows = i.rows, .cols = i.cols, .data = v};
    return i;
}

/* The file's name of p's tensor; NULL: another part's tensor has it. */
static const char *name_of(const Layers *x, const LayerPart *p) {
    int matrix = p->cols != 0, latent = decoder(x)->traits->latent;
    if (x->fused_qkv && (p->form == FORM_K || p->form == FORM_V)) return NULL;
    if (x->fused_gate_up && p->form == FORM_UP) return NULL;
    if (x->fused_beta && p->form == FORM_ALPHA) return NULL;
    if (p->form == FORM_CONV_C || p->form == FORM_CONV_X) return NULL;
    if (p->form == FORM_V_B && latent == LATENT_WHOLE) return NULL;
    if (p->form == FORM_K_B && latent == LATENT_WHOLE) return "attn_kv_b.weight";
    if (x->fused_qkv && p->form == FORM_Q) return matrix ? "attn_qkv.weight" : "attn_qkv.bias";
    if (x->fused_gate_up && p->form == FORM_GATE) return "ffn_up.weight";
    if (x->fused_beta && p->form == FORM_BETA) return "ssm_ba.weight";
    return layer_part_name(decoder(x), p, 0);
}

/* What stands with the first of several matrices in one tensor. */
static int put_fused(Layers *x, const LayerPart *p, Item *i, int l) {
    const Layer *layer = l < 0 ? NULL : &x->m.layers[l];
    if (x->fused_qkv && p->form == FORM_Q) return put_below(x, i, (Matrix[]){layer->wk, layer->wv}, 2);
    if (x->fused_gate_up && p->form == FORM_GATE) return put_below(x, i, &layer->w_up, 1);
    if (p->form == FORM_CONV_B) return put_below(x, i, (Matrix[]){layer->more->z, layer->more->mix}, 2);
    return x->fused_beta && p->form == FORM_BETA ? put_below(x, i, &layer->more->alpha, 1) : 0;
}

/* 1 for a norm's bias or weight that is 0 or 1 in memory because the file has none (tensors.c). */
static int is_made_up(const Layers *x, const LayerPart *p, int l) {
    char name[2 * TENSOR_NAME], layer[40] = "";
    if (!text_ends_with(p->gguf, "norm.bias") && !layer_part_is_bare(decoder(x), p)) return 0;
    if (l >= 0) snprintf(layer, sizeof layer, "model.layers.%d.", l);
    snprintf(name, sizeof name, "%s%s", layer, layer_part_name(decoder(x), p, 1));
    return !weights_find(&x->s->weights, name);
}

/* An encoder's GGUF says by a head's parts that there is one: where the embedding is all of it, it is written twice. */
static int is_whole_head(const Model *m, const LayerPart *p) {
    const Encoder *e = m->encoder;
    return p->when == PART_HEAD && e && m->has_logits && !e->mlm_dense.data && !e->mlm_bias;
}

/* Where the model has it. 0 or -ENOMEM. */
static int add_part(Layers *x, const LayerPart *p, int l) {
    const void *at = layer_place(&x->m, p, l);
    const char *name = name_of(x, p);
    char full[TENSOR_NAME + 40];
    Item i;
    if (!name) return 0;
    char block[20] = "";
    if (l >= 0) snprintf(block, sizeof block, "blk.%d.", l);
    snprintf(full, sizeof full, "%s%s", block, name);
    const size_t list = layer_part_list(&x->m.config, p);
    if (p->form == FORM_K_B && decoder(x)->traits->latent == LATENT_WHOLE) i = as_it_is(x, p, l);
    else if (list) {
        const Matrix *first = *(Matrix *const *)at;
        if (!first || list_item(x, &i, first, list)) return first ? -ENOMEM : 0;
    } else if (p->cols && p->form != FORM_CONV) {
        const Matrix *m = at;
        if (!m->data || (p->when == PART_HEAD && m->data == x->m.tok_emb.data && !is_whole_head(&x->m, p)))
            return 0;
        i = matrix_item(m);
        if (put_fused(x, p, &i, l)) return -ENOMEM;
    } else {
        const float *v = *(const float *const *)at;
        if (!v || is_made_up(x, p, l)) return 0;
        i = vector_item(x, p, l, v);
    }
    if (set_orders(x, p, &i) || source_add(x->s, full, &i)) return -ENOMEM;
    Item *added = &x->s->items[x->s->n_items - 1];
    if (!item_is_weight(added)) added->type = TENSOR_F32; /* as llama.cpp keeps routers and convolutions */
    return 0;
}

static int add_parts(Layers *x) {
    int rc = 0;
    for (const LayerPart *p = layer_parts, *end; p->gguf; p = end) { /* those of layers, layer by layer */
        int each = layer_part_repeats(p);
        for (end = p + 1; end->gguf && layer_part_repeats(end) == each;) end++;
        for (int l = each ? 0 : -1; l < (each ? x->m.config.n_layers : 0); l++)
            for (const LayerPart *q = p; q < end && rc == 0; q++)
                if (layer_has(&x->m.config, q, l) || is_whole_head(&x->m, q)) rc = add_part(x, q, l);
    }
    return rc;
}

static int is_there(const Layers *x, const char *name) { return weights_find(&x->s->weights, name) != NULL; }

int source_layers(Source *s, const Report *r, char *err, size_t errlen) {
    Layers x = {.s = s};
    int rc = load(&x, err, errlen);
    if (rc == 0) rc = check_rest(&x, r, err, errlen);
    if (rc) return rc;
    for (int i = 0; architectures[i]; i++)
        if (strcmp(architectures[i]->name, s->config.arch) == 0)
            x.permutes = architectures[i]->pairing == ROPE_INTERLEAVED && s->config.rope.pairing == ROPE_HALF;
    x.fused_qkv = !x.permutes && (is_there(&x, "model.layers.0.self_attn.qkv_proj.weight") ||
                                  is_there(&x, "model.layers.0.self_attn.qkv_proj.parametrizations.weight.original"));
    x.fused_gate_up = decoder(&x)->traits->fused_gate_up;
    x.fused_beta = decoder(&x)->n_states && !decoder(&x)->traits->tiled;
    if (x.fused_gate_up && x.m.layers[0].b_up)
        return base_error(err, errlen, -EINVAL, "%s: GGUF has no tensor for the gate's biases of such a model",
                          s->path);
    return add_parts(&x) ? source_no_memory(s, err, errlen) : 0;
}
