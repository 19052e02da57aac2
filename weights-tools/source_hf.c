/* weights-tools/source_hf.c - a decoder of Hugging Face's (LLaMA, Mistral, Qwen2, Qwen3) from safetensors or PyTorch's
 * files.
 *
 * Every tensor that the configuration asks for must be there with its shape; buffers and a tied lm_head are left out
 * with a note, anything else that is left over is refused. */
#include "source.h"

#include "sidecars.h"
#include "text/chat.h"
#include "weights-tools/checkpoint/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a part's bias hangs on in a Config. */
typedef enum { NO_BIAS, QKV_BIAS, O_BIAS, MLP_BIAS } BiasKind;

/* A tensor of a layer: its rows and columns in letters - D model, F feed-forward, Q and K all heads of queries and
 * keys, H one head, 0 none: a vector. */
static const struct {
    const char *hf, *gguf;
    char rows, cols;
    BiasKind bias;
} parts[] = {
    {"input_layernorm", "attn_norm", 'D', 0, NO_BIAS},
    {"self_attn.q_proj", "attn_q", 'Q', 'D', QKV_BIAS},
    {"self_attn.k_proj", "attn_k", 'K', 'D', QKV_BIAS},
    {"self_attn.v_proj", "attn_v", 'K', 'D', QKV_BIAS},
    {"self_attn.q_norm", "attn_q_norm", 'H', 0, NO_BIAS},
    {"self_attn.k_norm", "attn_k_norm", 'H', 0, NO_BIAS},
    {"self_attn.o_proj", "attn_output", 'D', 'Q', O_BIAS},
    {"post_attention_layernorm", "ffn_norm", 'D', 0, NO_BIAS},
    {"mlp.gate_proj", "ffn_gate", 'F', 'D', MLP_BIAS},
    {"mlp.up_proj", "ffn_up", 'F', 'D', MLP_BIAS},
    {"mlp.down_proj", "ffn_down", 'D', 'F', MLP_BIAS},
};

enum { N_PARTS = sizeof parts / sizeof *parts };

typedef struct {
    Source *s;
    const View **order; /* [n_views], by name */
    char *used;         /* [n_views] */
    int permutes;       /* the file's pairs are halves, GGUF's stand side by side */
    char *err;
    size_t errlen;
} Reader;

static int compare_views(const void *a, const void *b) {
    return strcmp((*(const View *const *)a)->name, (*(const View *const *)b)->name);
}

static const View *find(Reader *r, const char *name) {
    View wanted = {.name = name};
    const View *p = &wanted;
    const View *const *at = bsearch(&p, r->order, r->s->checkpoint.n_views, sizeof *r->order, compare_views);
    if (at) r->used[*at - r->s->checkpoint.views] = 1;
    return at ? *at : NULL;
}

static int no_memory(Reader *r) { return base_error(r->err, r->errlen, -ENOMEM, "%s: out of memory", r->s->path); }

static size_t size_of(const Config *c, char letter) {
    switch (letter) {
    case 'D': return (size_t)c->d_model;
    case 'F': return (size_t)c->d_ff;
    case 'Q': return (size_t)c->n_heads * (size_t)c->head_dim;
    case 'K': return (size_t)c->n_kv_heads * (size_t)c->head_dim;
    case 'H': return (size_t)c->head_dim;
    default: return (size_t)c->vocab_size;
    }
}

/* The tensor hf, of rows x cols (0: a vector), under GGUF's name. turns: its rows are those of q's or k's heads. */
static int take(Reader *r, const char *hf, const char *gguf, size_t rows, size_t cols, int turns) {
    const View *v = find(r, hf);
    if (!v) return base_error(r->err, r->errlen, -EINVAL, "%s: tensor %s is missing", r->s->path, hf);
    if (!elem_is_float(v->type) || v->n_dims != (cols ? 2 : 1) || v->shape[0] != rows || (cols && v->shape[1] != cols))
        return base_error(
            r->err, r->errlen, -EINVAL,
            "%s: tensor %s: its shape or type is not what the configuration asks for: [%zu%s%.0zu] of floats",
            r->s->path, hf, rows, cols ? ", " : "", cols);
    Item i = source_item(v);
    if (turns && r->permutes) {
        i.head_dim = (size_t)r->s->config.head_dim;
        i.rotary_dim = (size_t)r->s->config.rope.rotary_dim;
        i.rows = rows; /* a bias: rows of one value, so that they can change places */
        i.cols = cols ? cols : 1;
    }
    return source_add(r->s, gguf, &i) ? no_memory(r) : 0;
}

static int take_part(Reader *r, int part, int layer) {
    const Config *c = &r->s->config;
    char hf[128], gguf[64];
    int turns = parts[part].rows == 'Q' || parts[part].rows == 'K';
    if (strstr(parts[part].hf, "v_proj")) turns = 0;
    if (parts[part].rows == 'H' && !c->qk_norm) return 0;
    size_t rows = size_of(c, parts[part].rows), cols = parts[part].cols ? size_of(c, parts[part].cols) : 0;
    snprintf(hf, sizeof hf, "model.layers.%d.%s.weight", layer, parts[part].hf);
    snprintf(gguf, sizeof gguf, "blk.%d.%s.weight", layer, parts[part].gguf);
    int rc = take(r, hf, gguf, rows, cols, turns);
    int biased = parts[part].bias == QKV_BIAS ? c->qkv_bias : parts[part].bias == O_BIAS ? c->o_bias
                 : parts[part].bias == MLP_BIAS ? c->mlp_bias : 0;
    if (rc || !biased) return rc;
    snprintf(hf, sizeof hf, "model.layers.%d.%s.bias", layer, parts[part].hf);
    snprintf(gguf, sizeof gguf, "blk.%d.%s.bias", layer, parts[part].gguf);
    return take(r, hf, gguf, rows, 0, turns);
}

static int take_all(Reader *r) {
    const Config *c = &r->s->config;
    size_t vocab = (size_t)c->vocab_size, d = (size_t)c->d_model;
    int rc = take(r, "model.embed_tokens.weight", "token_embd.weight", vocab, d, 0);
    for (int l = 0; l < c->n_layers && rc == 0; l++)
        for (int p = 0; p < N_PARTS && rc == 0; p++) rc = take_part(r, p, l);
    if (rc == 0) rc = take(r, "model.norm.weight", "output_norm.weight", d, 0, 0);
    if (rc == 0 && !c->tied) rc = take(r, "lm_head.weight", "output.weight", vocab, d, 0);
    return rc;
}

/* What is left over: old files' table of frequencies and a tied head are known; anything else would be lost
 * silently. */
static int check_rest(Reader *r, const Report *report) {
    const Checkpoint *c = &r->s->checkpoint;
    size_t buffers = 0;
    for (size_t i = 0; i < c->n_views; i++) {
        const View *v = &c->views[i];
        if (r->used[i]) continue;
        if (strcmp(v->name, "lm_head.weight") == 0 && r->s->config.tied)
            report_note(report, "left out: lm_head.weight: the model ties it to the embeddings");
        else if (text_ends_with(v->name, ".rotary_emb.inv_freq") || !elem_is_float(v->type)) buffers++;
        else
            return base_error(r->err, r->errlen, -EINVAL, "%s: tensor %.100s: no %s known here has it", r->s->path,
                              v->name, r->s->config.arch);
    }
    if (buffers)
        report_note(report, "left out: %zu tensors of frequencies or integers, which the engine computes", buffers);
    return 0;
}

static int read_tensors(Reader *r, const Report *report) {
    Checkpoint *c = &r->s->checkpoint;
    r->order = calloc(c->n_views + 1, sizeof *r->order);
    r->used = calloc(c->n_views + 1, 1);
    int rc = r->order && r->used ? 0 : no_memory(r);
    for (size_t i = 0; i < c->n_views && rc == 0; i++) r->order[i] = &c->views[i];
    if (rc == 0) qsort(r->order, c->n_views, sizeof *r->order, compare_views);
    if (rc == 0) rc = take_all(r);
    if (rc == 0) rc = check_rest(r, report);
    free(r->order);
    free(r->used);
    return rc;
}

/* With more or fewer features than a head has entries, config_read counts the turned ones among the features. A file
 * counts them among the entries, as a softmax model does. */
static int rope_of_file(Source *s, char *err, size_t errlen) {
    Config softmax;
    const ConfigOverride o = {.attention = {.kind = ATTENTION_SOFTMAX}};
    int rc = config_read(&softmax, &s->weights, &o, err, errlen);
    if (rc == 0) s->config.rope = softmax.rope;
    return rc;
}

/* config.json and generation_config.json into s->weights, for config_read. */
static int read_config(Source *s, const SourceWish *wish, char *err, size_t errlen) {
    static const char *const configs[] = {"config.json"}, *const generations[] = {"generation_config.json"};
    char *path = wish->config ? strdup(wish->config) : sidecar_find(s->checkpoint.folder, configs, 1);
    char *generation = sidecar_find(s->checkpoint.folder, generations, 1);
    int rc = path ? json_open(&s->weights.config, path, err, errlen)
                  : base_error(err, errlen, -ENOENT, "%s: no RoFormer's tensors, and no config.json beside it "
                               "that says what it is: give one with --config", s->path);
    if (rc == 0 && generation) rc = json_open(&s->weights.generation, generation, err, errlen);
    s->weights.format = FORMAT_HF;
    s->weights.path = path;
    free(generation);
    if (rc == 0 && !json_get(s->weights.config.root, "model_type"))
        rc = base_error(err, errlen, -EINVAL, "%s: no RoFormer's tensors, and its configuration has no model_type",
                        s->path);
    if (rc == 0) rc = config_read(&s->config, &s->weights, NULL, err, errlen);
    return rc || !s->config.linear.form ? rc : rope_of_file(s, err, errlen);
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
    Reader reader = {.s = s, .err = err, .errlen = errlen};
    char name[200];
    int rc = read_config(s, wish, err, errlen);
    if (rc) return rc;
    if (s->config.roformer.variant)
        return base_error(err, errlen, -EINVAL, "%s: the configuration is a RoFormer's, the tensors are not", s->path);
    int is_llama = strncmp(s->config.arch, "qwen", 4) != 0; /* llama.cpp knows a Mistral as "llama" */
    reader.permutes = is_llama;
    if (is_llama && s->config.linear.form && s->config.linear.phi->projected)
        return base_error(
            err, errlen, -EINVAL,
            "%s: feature map %s projects a head in the order of its entries, and GGUF's \"llama\" has another order",
            s->path, s->config.linear.phi->name);
    source_name(wish, s->checkpoint.folder, s->config.arch, name, sizeof name);
    rc = source_keys(s, is_llama ? "llama" : s->config.arch, name, err, errlen);
    if (rc == 0) rc = read_tensors(&reader, r);
    if (rc == 0) rc = source_tokenizer(s, wish, s->checkpoint.folder, -1, err, errlen);
    return rc || wish->no_tokenizer ? rc : write_chat_template(s, err, errlen);
}
