/* weights-tools/source_hf.c - a decoder of Hugging Face's (LLaMA, Mistral, Qwen2, Qwen3) from safetensors or PyTorch's
 * files.
 *
 * Every tensor that the configuration asks for must be there with its shape; buffers and a tied lm_head are left out
 * with a note, anything else that is left over is refused. */
#include "source.h"

#include "base/json.h"
#include "base/paths.h"
#include "model/family.h"
#include "model/files/huggingface.h"
#include "model/keys_more.h"
#include "model/options.h"
#include "rope/positions.h"
#include "sidecars.h"
#include "text/chat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    Source *s;
    const View **order; /* [n_views], by name */
    char *used;         /* [n_views] */
    int permutes;       /* the file's pairs are halves, GGUF's stand side by side */
    char *err;
    size_t errlen;
} HfReader;

static int compare_views(const void *a, const void *b) {
    return strcmp((*(const View *const *)a)->name, (*(const View *const *)b)->name);
}

static const View *find(HfReader *r, const char *name) {
    View wanted = {.name = name};
    const View *p = &wanted;
    const View *const *at = bsearch(&p, r->order, r->s->checkpoint.n_views, sizeof *r->order, compare_views);
    if (at) r->used[*at - r->s->checkpoint.views] = 1;
    return at ? *at : NULL;
}

static int no_memory(HfReader *r) { return source_no_memory(r->s, r->err, r->errlen); }

/* The tensor hf, of rows x cols (0: a vector), under GGUF's name. rotated: its rows are those of q's or k's heads. */
static int take(HfReader *r, const char *hf, const char *gguf, size_t rows, size_t cols, int rotated) {
    const View *v = find(r, hf);
    if (!v) return base_error(r->err, r->errlen, -EINVAL, "%s: tensor %s is missing", r->s->path, hf);
    if (!elem_is_float(v->type) || v->n_dims != (cols ? 2 : 1) || v->shape[0] != rows || (cols && v->shape[1] != cols))
        return base_error(
            r->err, r->errlen, -EINVAL,
            "%s: tensor %s: its shape or type is not what the configuration asks for: [%zu%s%.0zu] of floats",
            r->s->path, hf, rows, cols ? ", " : "", cols);
    Item i = source_item(v);
    if (rotated && r->permutes) {
        const size_t *order = source_pairs(r->s, rows, (size_t)r->s->config.head_dim,
                                           (size_t)r->s->config.rope.rotary_dim);
        if (!order) return no_memory(r);
        if (cols) i.row_order = order;
        else i.col_order = order, i.col_block = 1;
    }
    return source_add(r->s, gguf, &i) ? no_memory(r) : 0;
}

static int take_tensor(HfReader *r, const DecoderTensor *t, int layer) {
    const Config *c = &r->s->config;
    char hf[TENSOR_NAME], gguf[TENSOR_NAME];
    size_t rows = decoder_size(c, t->rows), cols = decoder_size(c, t->cols);
    if (!decoder_has(c, t)) return 0;
    weights_layer_name(hf, t->hf, layer);
    weights_layer_name(gguf, t->gguf, layer);
    return take(r, hf, gguf, rows, cols, t->rows == 'Q' || t->rows == 'K');
}

/* The table's rows as they stand; those of layers for one layer after the other. */
static int take_all(HfReader *r) {
    int rc = 0;
    for (const DecoderTensor *t = decoder_tensors, *end; t->gguf; t = end) {
        int of_layers = strchr(t->gguf, '#') != NULL;
        for (end = t + 1; end->gguf && (strchr(end->gguf, '#') != NULL) == of_layers;) end++;
        for (int l = 0; l < (of_layers ? r->s->config.n_layers : 1); l++)
            for (const DecoderTensor *p = t; p < end && rc == 0; p++) rc = take_tensor(r, p, l);
    }
    return rc;
}

/* The table of positions that are learned, where the model has one. */
static int take_positions(HfReader *r) {
    const Positions *p = r->s->config.positions;
    size_t rows, cols;
    if (!p || !p->kind->table) return 0;
    p->kind->shape(p, &rows, &cols);
    return take(r, p->kind->table_hf, p->kind->table, rows, cols, 0);
}

/* What is left over: old files' table of frequencies and a tied head are known; anything else would be lost
 * silently. */
static int check_rest(HfReader *r, const Report *report) {
    const Checkpoint *c = &r->s->checkpoint;
    size_t buffers = 0, parts = 0;
    for (size_t i = 0; i < c->n_views; i++) {
        const View *v = &c->views[i];
        if (r->used[i]) continue;
        if (strcmp(v->name, "lm_head.weight") == 0) /* nobody took it */
            report_note(report, "left out: lm_head.weight: the model ties it to the embeddings");
        else if (weights_is_other_part(&r->s->weights, v->name)) parts++;
        else if (text_ends_with(v->name, ".rotary_emb.inv_freq") || !elem_is_float(v->type)) buffers++;
        else
            return base_error(r->err, r->errlen, -EINVAL, "%s: tensor %.100s: no %s known here has it", r->s->path,
                              v->name, r->s->config.arch);
    }
    if (parts) report_note(report, "left out: %zu tensor%s of other parts than the text's (pictures, drafts)", parts,
                           plural(parts));
    if (buffers)
        report_note(report, "left out: %zu tensor%s of frequencies or integers, which the engine computes", buffers,
                    plural(buffers));
    return 0;
}

static int read_tensors(HfReader *r, const Report *report) {
    Checkpoint *c = &r->s->checkpoint;
    r->order = calloc(c->n_views + 1, sizeof *r->order);
    r->used = calloc(c->n_views + 1, 1);
    int rc = r->order && r->used ? 0 : no_memory(r);
    for (size_t i = 0; i < c->n_views && rc == 0; i++) r->order[i] = &c->views[i];
    if (rc == 0) qsort(r->order, c->n_views, sizeof *r->order, compare_views);
    for (size_t i = 1; i < c->n_views && rc == 0; i++)
        if (compare_views(&r->order[i - 1], &r->order[i]) == 0)
            rc = source_twice(r->s, r->order[i]->name, r->err, r->errlen);
    if (rc == 0) rc = take_all(r);
    if (rc == 0) rc = take_positions(r);
    if (rc == 0) rc = check_rest(r, report);
    free(r->order);
    free(r->used);
    return rc;
}

/* With more or fewer features than a head has entries, config_read counts the turned ones among the features. A file
 * counts them among the entries, as a softmax model does. */
static int rope_of_file(Source *s, char *err, size_t errlen) {
    Config softmax;
    const ModelOptions o = {.attention = {.kind = ATTENTION_SOFTMAX}};
    int rc = config_read(&softmax, &s->weights, &o, err, errlen);
    if (rc == 0) s->config.rope = softmax.rope;
    return rc;
}

int source_is_layers(const Source *s, const SourceWish *wish, char *err, size_t errlen) {
    static const char *const configs[] = {"config.json"};
    char *path;
    Json json = {0};
    if (sidecar_find(&path, wish->config, s->checkpoint.folder, configs, 1)) return source_no_memory(s, err, errlen);
    int rc = path ? json_open(&json, path, err, errlen) : 0, found = 0;
    if (path && rc == 0) {
        const JsonValue *type = json_get(json.root, "model_type");
        for (int i = 0; architectures[i] && !found; i++)
            found = architectures[i]->traits && json_is(type, architectures[i]->name);
    }
    json_free(&json);
    free(path);
    return rc ? rc : found;
}

/* config.json and generation_config.json into s->weights. */
static int open_configs(Source *s, const SourceWish *wish, char *err, size_t errlen) {
    static const char *const configs[] = {"config.json"}, *const generations[] = {"generation_config.json"};
    char *path, *generation = NULL;
    if (sidecar_find(&path, wish->config, s->checkpoint.folder, configs, 1) ||
        sidecar_find(&generation, NULL, s->checkpoint.folder, generations, 1)) {
        free(path);
        return source_no_memory(s, err, errlen);
    }
    int rc = path ? huggingface_configs(&s->weights, path, generation, err, errlen)
                  : base_error(err, errlen, -ENOENT, "%s: no RoFormer's tensors, and no config.json beside it "
                               "that says what it is: give one with --config", s->path);
    s->weights.path = weights_own(&s->weights, path, free);
    free(generation);
    if (rc == 0 && !json_get(s->weights.config, "model_type"))
        rc = base_error(err, errlen, -EINVAL, "%s: no RoFormer's tensors, and its configuration has no model_type",
                        s->path);
    return rc;
}

/* What the model's files say into s->config. */
static int read_config(Source *s, const SourceWish *wish, const Report *r, char *err, size_t errlen) {
    int of_authors = source_has_params(&s->checkpoint);
    int rc = of_authors && !wish->config ? source_params(s, r, err, errlen) : open_configs(s, wish, err, errlen);
    if (rc == 0) rc = config_read(&s->config, &s->weights, NULL, err, errlen);
    if (rc == 0 && of_authors) {
        if (s->config.decoder || strncmp(s->config.arch, "qwen", 4) == 0)
            return base_error(err, errlen, -EINVAL, "%s: tensors named as a LLaMA's authors name them, but the "
                              "configuration is of a %s", s->path, s->config.arch);
        rc = source_params_rename(s, r, err, errlen);
    }
    if (rc == 0 && s->config.linear.form) rc = rope_of_file(s, err, errlen);
    if (of_authors) s->config.rope.pairing = ROPE_INTERLEAVED;
    return rc;
}

static const View *view_named(const Source *s, const char *name) {
    for (size_t i = 0; i < s->checkpoint.n_views; i++)
        if (strcmp(s->checkpoint.views[i].name, name) == 0) return &s->checkpoint.views[i];
    return NULL;
}

/* As model/more.c, of a checkpoint's windows. A head without embeddings has their name by now. */
static void look_at_head(Source *s) {
    const View *head = view_named(s, "lm_head.weight"), *words = view_named(s, "model.embed_tokens.weight");
    if (s->config.own_head || !head || view_is_same(head, words) || view_equal(head, words)) return;
    config_untie(&s->config, &s->weights);
}

/* The template of conversations, as it was published: whoever reads the file recognises it, or runs it. */
static int write_chat_template(Source *s, char *err, size_t errlen) {
    char *text;
    size_t len;
    int rc = chat_template_text(&text, &len, s->checkpoint.folder, err, errlen);
    if (rc == 0 && text) gguf_string(&s->meta, "tokenizer.chat_template", text);
    free(text);
    return rc;
}

int source_hf(Source *s, const SourceWish *wish, const Report *r, char *err, size_t errlen) {
    HfReader reader = {.s = s, .err = err, .errlen = errlen};
    char name[200];
    int llama2c = s->checkpoint.settings && source_has_params(&s->checkpoint);
    int rc = read_config(s, wish, r, err, errlen);
    if (rc) return rc;
    if (s->config.roformer.variant)
        return base_error(err, errlen, -EINVAL, "%s: the configuration is a RoFormer's, the tensors are not", s->path);
    rc = source_refuse(s, wish, TAKES_CONFIG | TAKES_PRE | (s->config.decoder ? TAKES_TASK : 0), err, errlen);
    if (rc) return rc;
    int is_llama = !s->config.decoder && strncmp(s->config.arch, "qwen", 4) != 0; /* llama.cpp's Mistral is a "llama" */
    reader.permutes = is_llama && s->config.rope.pairing == ROPE_HALF;
    if (is_llama && s->config.linear.form && s->config.linear.phi->projection)
        return base_error(
            err, errlen, -EINVAL,
            "%s: feature map %s projects a head in the order of its entries, and GGUF's \"llama\" has another order",
            s->path, s->config.linear.phi->name);
    source_name(wish, s->checkpoint.folder, s->config.arch, name, sizeof name);
    rc = huggingface_rename(&s->weights, s->checkpoint.views, s->checkpoint.n_views, sizeof *s->checkpoint.views, err,
                            errlen);
    if (rc == 0 && s->config.decoder) rc = source_layers_views(s, wish, err, errlen); /* and looks at its head */
    else if (rc == 0) look_at_head(s);
    if (rc == 0) rc = source_keys(s, is_llama ? "llama" : s->config.arch, name, err, errlen);
    if (rc == 0) rc = s->config.decoder ? source_layers(s, r, err, errlen) : read_tensors(&reader, r);
    if (rc == 0) rc = source_sentence(s, wish, err, errlen);
    if (rc == 0) /* llama2.c ends a text at BOS */
        rc = source_tokenizer(s, wish, s->checkpoint.folder, llama2c ? 1 : -1, r, err, errlen);
    return rc || wish->no_tokenizer ? rc : write_chat_template(s, err, errlen);
}
