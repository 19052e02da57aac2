/* text/sentence.c - see sentence.h. Sources: sentence-transformers' modules (Pooling, Dense, Normalize) and the
 * models' own pages for what their files leave out. */
#include "sentence.h"

#include "base/base.h"
#include "base/json.h"
#include "base/paths.h"
#include "kernels/kernels.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is known of architectures ---- */

typedef struct {
    const char *arch;
    Pooling pooling;
    int normalize, layer_norm;
    SentencePrompt prompts[5];
} Known;

static const Known known[] = {
    {"nomic-bert", POOLING_MEAN, 0, 1,
     {{"query", "search_query: "}, {"document", "search_document: "}, {"clustering", "clustering: "},
      {"classification", "classification: "}}},
    {"modern-bert", POOLING_MEAN, 0, 0, {{0}}},
    {"eurobert", POOLING_MEAN, 0, 0, {{0}}},
    {"neo-bert", POOLING_CLS, 0, 0, {{0}}},
    {"gte", POOLING_CLS, 1, 0, {{0}}},
    {"jina-bert-v3", POOLING_MEAN, 1, 0,
     {{"retrieval.query", "Represent the query for retrieving evidence documents: "},
      {"retrieval.passage", "Represent the document for retrieval: "}, {"separation", ""}, {"classification", ""},
      {"text-matching", ""}}},
    {"gemma-embedding", POOLING_MEAN, 1, 0,
     {{"query", "task: search result | query: "}, {"document", "title: none | text: "}}},
    {"qwen3", POOLING_LAST, 1, 0,
     {{"query", "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"},
      {"document", ""}}},
};

static const Known *known_of(const Model *m) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].arch, m->config.arch) == 0) return &known[i];
    return NULL;
}

/* ---- files ---- */

typedef struct {
    Sentence *x;
    char *err;
    size_t errlen;
} Opening;

static int no_memory(Opening *o) { return base_error(o->err, o->errlen, -ENOMEM, "out of memory"); }

static int add_prompt(Opening *o, const char *task, const char *text) {
    Sentence *x = o->x;
    if (x->n_prompts == SENTENCE_PROMPTS)
        return base_error(o->err, o->errlen, -EINVAL, "%s: more than %d prompts", x->model->weights.path,
                          SENTENCE_PROMPTS);
    x->prompts[x->n_prompts++] = (SentencePrompt){task, text};
    return 0;
}

static void free_json(void *json) {
    json_free(json);
    free(json);
}

/* A JSON file of the model's folder, whose memory is x's: *root NULL where it is not there. */
static int read_json(Opening *o, const char *folder, const char *name, const JsonValue **root) {
    Json *j = weights_own(&o->x->memory, calloc(1, sizeof *j), free_json);
    *root = NULL;
    if (!j) return no_memory(o);
    int rc = json_open_in(j, folder, name, o->err, o->errlen);
    if (rc == 0) *root = j->root;
    return rc;
}

static int refuse(Opening *o, const char *what, const char *name) {
    const Weights *w = &o->x->model->weights;
    int hf = w->format == FORMAT_HF;
    return base_error(o->err, o->errlen, -EINVAL, "%s: %s%s \"%.80s\" is not known here", hf ? w->folder : w->path,
                      hf ? "modules.json: " : "", what, name);
}

/* The one way that 1_Pooling/config.json says: a word, a list of one, or a flag for each way; nothing is the mean.
 * *n: how many it says. */
static const char *pooling_said(const JsonValue *config, size_t *n) {
    const JsonValue *mode = json_get(config, "pooling_mode");
    const char *name = "mean";
    *n = 0;
    if (!json_absent(mode)) {
        int list = mode->type == JSON_ARRAY;
        *n = list ? mode->len : 1;
        if (list) mode = mode->child;
        return mode && mode->type == JSON_STRING ? mode->str : "";
    }
    for (const JsonValue *e = config->child; e; e = e->next)
        if (strncmp(e->key, "pooling_mode_", 13) == 0 && json_truth(e)) name = e->key, ++*n;
    return name;
}

static int read_pooling(Opening *o, const JsonValue *config) {
    static const struct { const char *flag, *word; Pooling pooling; } ways[] = {
        {"pooling_mode_mean_tokens", "mean", POOLING_MEAN}, {"pooling_mode_cls_token", "cls", POOLING_CLS},
        {"pooling_mode_lasttoken", "lasttoken", POOLING_LAST}};
    size_t n, found = 0;
    if (o->x->n_dense || o->x->normalize) return refuse(o, "the order of modules,", "pooling behind others");
    if (!config || config->type != JSON_OBJECT) return refuse(o, "pooling", "without its config.json");
    const char *name = pooling_said(config, &n);
    if (n > 1) return refuse(o, "pooling", "several ways at once");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(name, ways[i].flag) == 0 || strcmp(name, ways[i].word) == 0)
            o->x->pooling = ways[i].pooling, found++;
    o->x->unpooled = 0;
    if (!found) return refuse(o, "pooling", name);
    return json_flag(config, "include_prompt", 1) ? 0 : refuse(o, "pooling", "include_prompt false");
}

static size_t width_so_far(const Sentence *x) {
    return x->n_dense ? x->dense[x->n_dense - 1].weight.rows : (size_t)x->model->config.d_model;
}

/* t as a dense layer's matrix, and its bias where `bias` is not NULL. */
static int put_dense(Opening *o, const Tensor *t, const Tensor *bias, int has_tanh, const char *name) {
    Sentence *x = o->x;
    SentenceDense *d = &x->dense[x->n_dense];
    const QuantFormat *f = t ? quant_format(t->type) : NULL;
    if (!f || !f->row || t->n_dims != 2 || t->shape[1] != width_so_far(x) || t->shape[0] < 1 ||
        t->shape[0] > CONFIG_MAX_DIM)
        return refuse(o, "a dense layer without a fitting linear.weight,", name);
    d->weight = (Matrix){.type = (TensorType)t->type, .rows = (size_t)t->shape[0], .cols = (size_t)t->shape[1],
                         .data = t->data};
    d->tanh = has_tanh;
    if (bias) {
        float *b = weights_own(&x->memory, calloc(d->weight.rows, sizeof *b), free);
        const QuantFormat *g = quant_format(bias->type);
        if (!b) return no_memory(o);
        if (!g || bias->n_dims != 1 || bias->shape[0] != d->weight.rows)
            return refuse(o, "a dense layer's bias,", name);
        matrix_row(b, &(Matrix){.type = (TensorType)bias->type, .rows = 1, .cols = d->weight.rows,
                                .data = bias->data}, 0);
        d->bias = b;
    }
    x->n_dense++;
    return 0;
}

static int read_dense(Opening *o, const char *folder, const JsonValue *config, const char *name) {
    Sentence *x = o->x;
    if (x->normalize) return refuse(o, "the order of modules,", "a dense layer behind a norm");
    if (x->n_dense == SENTENCE_DENSE) return refuse(o, "more dense layers than four,", name);
    const JsonValue *act = json_get(config, "activation_function");
    const char *word = act && act->type == JSON_STRING ? act->str : "", *dot = strrchr(word, '.');
    const char *kind = dot ? dot + 1 : word;
    int identity = strcmp(kind, "Identity") == 0, has_tanh = !act || strcmp(kind, "Tanh") == 0; /* Dense's default */
    if (!identity && !has_tanh) return refuse(o, "activation", word);
    if (json_flag(config, "use_residual", 0)) return refuse(o, "a dense layer with", "use_residual");
    Weights *w = &x->dense[x->n_dense].file;
    int rc = weights_open(w, folder, o->err, o->errlen);
    return rc ? rc : put_dense(o, weights_find(w, "linear.weight"), weights_find(w, "linear.bias"), has_tanh, name);
}

/* Newer files may say which features a module reads and writes: here it is the text's vector. */
static int is_of_vector(const JsonValue *config) {
    static const char *const keys[] = {"module_input_name", "module_output_name"};
    for (int i = 0; i < 2; i++) {
        const JsonValue *v = json_get(config, keys[i]);
        if (!json_absent(v) && !json_is(v, "sentence_embedding")) return 0;
    }
    return 1;
}

static int read_module(Opening *o, const JsonValue *module) {
    Sentence *x = o->x;
    const JsonValue *type = json_typed(module, "type", JSON_STRING), *path = json_typed(module, "path", JSON_STRING),
                    *config = NULL;
    const char *dot = type ? strrchr(type->str, '.') : NULL, *kind = dot ? dot + 1 : "", *name = path ? path->str : "";
    int norm = strcmp(kind, "Normalize") == 0;
    if (strcmp(kind, "Transformer") == 0 || strcmp(kind, "Dropout") == 0) return 0;
    if (norm && !*name) {
        x->normalize = 1;
        return 0;
    }
    if (!*name || strchr(name, '/') || strstr(name, "..")) return refuse(o, "path", name);
    char *folder = file_join(x->model->weights.folder, name);
    int rc = folder ? read_json(o, folder, "config.json", &config) : no_memory(o);
    if (rc == 0 && !is_of_vector(config)) rc = refuse(o, "a module of other features than a text's vector,", name);
    else if (rc == 0 && norm) x->normalize = 1;
    else if (rc == 0 && strcmp(kind, "Pooling") == 0) rc = read_pooling(o, config);
    else if (rc == 0 && strcmp(kind, "Dense") == 0) rc = read_dense(o, folder, config, name);
    else if (rc == 0) rc = refuse(o, "module", kind);
    free(folder);
    return rc;
}

static int read_modules(Opening *o, const JsonValue *modules, const char *folder) {
    Sentence *x = o->x;
    int rc = 0;
    if (!modules) return 0;
    if (modules->type != JSON_ARRAY)
        return base_error(o->err, o->errlen, -EINVAL, "%s/modules.json: must be a list of modules", folder);
    x->normalize = 0, x->unpooled = 1; /* until a module says otherwise */
    for (const JsonValue *e = modules->child; e && rc == 0; e = e->next) rc = read_module(o, e);
    if (rc == 0 && x->unpooled && x->n_dense)
        rc = base_error(o->err, o->errlen, -EINVAL, "%s/modules.json: no Pooling: dense layers that make a vector of "
                        "each token (ColBERT's) are not known here", folder);
    return rc;
}

/* 1 where the tokenizer makes capitals small: a normalizer, or one of a sequence of them. */
static int is_lowering(const JsonValue *normalizer) {
    const JsonValue *list = json_typed(normalizer, "normalizers", JSON_ARRAY);
    for (const JsonValue *e = list ? list->child : normalizer; e; e = list ? e->next : NULL) {
        const JsonValue *type = json_get(e, "type");
        if (json_is(type, "Lowercase") || (json_is(type, "BertNormalizer") && json_flag(e, "lowercase", 1))) return 1;
    }
    return 0;
}

/* What sentence-transformers does to a text before the model: it cuts it, and may make its capitals small, which is
 * nothing where the tokenizer does so, too. */
static int read_texts(Opening *o, const char *folder) {
    const JsonValue *said, *settings, *tokenizer = NULL;
    int rc = read_json(o, folder, "sentence_bert_config.json", &said);
    if (rc == 0) rc = read_json(o, folder, "tokenizer_config.json", &settings);
    if (rc) return rc;
    const JsonValue *most = json_typed(said, "max_seq_length", JSON_NUMBER);
    if (!most) most = json_typed(settings, "model_max_length", JSON_NUMBER);
    if (most && most->number >= 1 && most->number < 1e9) o->x->longest = (size_t)most->number;
    if (!json_flag(said, "do_lower_case", 0)) return 0;
    rc = read_json(o, folder, "tokenizer.json", &tokenizer);
    if (rc) return rc;
    int small = tokenizer ? is_lowering(json_get(tokenizer, "normalizer"))
                          : file_has(folder, "vocab.txt") && json_flag(settings, "do_lower_case", 1);
    return small ? 0 : base_error(o->err, o->errlen, -EINVAL, "%s/sentence_bert_config.json: do_lower_case is not "
                                  "known here, and the tokenizer keeps capitals", folder);
}

static int read_prompts(Opening *o, const JsonValue *prompts, const JsonValue *usual) {
    int rc = 0;
    if (prompts && prompts->child) o->x->n_prompts = 0; /* rather than what is known */
    for (const JsonValue *e = prompts ? prompts->child : NULL; e && rc == 0; e = e->next)
        if (e->type == JSON_STRING) rc = add_prompt(o, e->key, e->str);
    if (usual) o->x->usual = usual->str;
    return rc;
}

static int of_folder(Opening *o) {
    const JsonValue *modules, *config;
    const char *folder = o->x->model->weights.folder;
    int rc = read_json(o, folder, "modules.json", &modules);
    if (rc == 0) rc = read_json(o, folder, "config_sentence_transformers.json", &config);
    if (rc) return rc;
    rc = read_modules(o, modules, folder);
    if (rc == 0 && modules) rc = read_texts(o, folder);
    const JsonValue *cut = json_typed(config, "truncate_dim", JSON_NUMBER);
    if (cut && cut->number >= 1 && cut->number < 1e9) o->x->cut = (size_t)cut->number;
    if (rc == 0)
        rc = read_prompts(o, json_typed(o->x->model->weights.config, "task_instructions", JSON_OBJECT), NULL);
    return rc ? rc : read_prompts(o, json_typed(config, "prompts", JSON_OBJECT),
                                  json_typed(config, "default_prompt_name", JSON_STRING));
}

/* A key's text; *out is NULL where v is. */
static int read_text(Opening *o, const MetaValue *v, const char **out) {
    *out = NULL;
    if (!v) return 0;
    if (v->type != META_STRING) return refuse(o, "the type of", v->key);
    *out = weights_keep(&o->x->memory, (const char *)v->data, v->n);
    return *out ? 0 : no_memory(o);
}

static int read_gguf_flag(Opening *o, const Weights *w, const char *key, int *flag) {
    const MetaValue *v = weights_meta(w, key);
    if (v && v->type != META_BOOL) return refuse(o, "the type of", key);
    if (v) *flag = v->data[0] != 0;
    return 0;
}

/* sentence.prompt.TASK, sentence.usual_prompt, sentence.normalize and sentence.unpooled: keys that convert writes. */
static int read_gguf_prompts(Opening *o, const Weights *w) {
    static const char begin[] = "sentence.prompt.";
    const char *text;
    int own = 0, rc = read_gguf_flag(o, w, "sentence.normalize", &o->x->normalize);
    if (rc == 0) rc = read_gguf_flag(o, w, "sentence.unpooled", &o->x->unpooled);
    for (size_t i = 0; i < w->n_meta && rc == 0; i++) {
        if (strncmp(w->meta[i].key, begin, sizeof begin - 1) != 0) continue;
        if (!own++) o->x->n_prompts = 0;
        rc = read_text(o, &w->meta[i], &text);
        if (rc == 0) rc = add_prompt(o, w->meta[i].key + sizeof begin - 1, text);
    }
    return rc ? rc : read_text(o, weights_meta(w, "sentence.usual_prompt"), &o->x->usual);
}

/* GGUF's pooling_type: 1 mean, 2 cls, 3 last; 0 and 4, none and that of rerankers, leave it to the architecture. */
static int read_pooling_type(Opening *o, const Weights *w) {
    static const Pooling kinds[] = {POOLING_MEAN, POOLING_CLS, POOLING_LAST};
    char key[80];
    int64_t kind = -1;
    snprintf(key, sizeof key, "%s.pooling_type", o->x->model->config.arch);
    const MetaValue *v = weights_meta(w, key);
    if (v && (!meta_integer(v, &kind) || kind < 0 || kind > 4)) return refuse(o, "the number or type of", key);
    if (kind >= 1 && kind <= 3) o->x->pooling = kinds[kind - 1];
    return 0;
}

/* dense_2 and dense_3 are EmbeddingGemma's. */
static int of_gguf(Opening *o) {
    static const char *const names[] = {"dense_2.weight", "dense_3.weight"};
    const Weights *w = &o->x->model->weights;
    int rc = read_pooling_type(o, w);
    for (int i = 0; i < 2 && rc == 0; i++)
        if (weights_find(w, names[i])) rc = put_dense(o, weights_find(w, names[i]), NULL, 0, names[i]);
    return rc ? rc : read_gguf_prompts(o, w);
}

/* ---- opening ---- */

static int take_room(Opening *o) {
    Sentence *x = o->x;
    const MatmulKernels *mat = x->model->kernels->mat;
    size_t widest = (size_t)x->model->config.d_model, packed = 0;
    for (size_t i = 0; i < x->n_dense; i++) {
        const Matrix *w = &x->dense[i].weight;
        size_t bytes = mat->packed_bytes(1, w->cols, matrix_group(w));
        if (w->rows > widest) widest = w->rows;
        if (bytes > packed) packed = bytes;
    }
    for (int i = 0; i < 2; i++)
        if (!(x->room[i] = weights_own(&x->memory, calloc(widest, sizeof **x->room), free))) return no_memory(o);
    void *block = packed ? weights_own(&x->memory, malloc(packed + 64), free) : NULL;
    if (packed && !block) return no_memory(o);
    x->packed = (uint8_t *)(((uintptr_t)block + 63) & ~(uintptr_t)63);
    x->width = width_so_far(x);
    return 0;
}

int sentence_open(Sentence *x, const Model *m, char *err, size_t errlen) {
    Opening o = {x, err, errlen};
    const Known *k = known_of(m);
    *x = (Sentence){.model = m, .pooling = m->encoder ? POOLING_MEAN : POOLING_LAST};
    if (m->config.roformer.variant && m->config.roformer.pooler) x->pooling = POOLING_POOLER;
    if (k) x->pooling = k->pooling, x->normalize = k->normalize, x->layer_norm = k->layer_norm;
    for (size_t i = 0; k && i < sizeof k->prompts / sizeof *k->prompts && k->prompts[i].task; i++)
        x->prompts[x->n_prompts++] = k->prompts[i];
    int rc = m->weights.format == FORMAT_HF ? of_folder(&o) : m->weights.format == FORMAT_GGUF ? of_gguf(&o) : 0;
    if (rc == 0) rc = take_room(&o);
    if (rc) sentence_close(x);
    return rc;
}

void sentence_close(Sentence *x) {
    for (size_t i = 0; i < SENTENCE_DENSE; i++) weights_close(&x->dense[i].file);
    weights_close(&x->memory);
    memset(x, 0, sizeof *x);
}

/* ---- prompts ---- */

static const char *prompt_of(const Sentence *x, const char *task) {
    for (size_t i = 0; i < x->n_prompts; i++)
        if (strcmp(x->prompts[i].task, task) == 0) return x->prompts[i].text;
    return NULL;
}

const char *sentence_prompt(const Sentence *x, const char *task) {
    static const char *const names[2][6] = {
        {"query", "retrieval.query", "Retrieval-query", "search_query", "s2p_query", NULL},
        {"document", "retrieval.passage", "Retrieval-document", "passage", "search_document", NULL}};
    if (!task) task = x->usual;
    if (!task) return "";
    const char *text = prompt_of(x, task);
    for (int i = 0; i < 2 && !text; i++)
        for (int k = 0; strcmp(task, names[i][0]) == 0 && names[i][k] && !text; k++) text = prompt_of(x, names[i][k]);
    return text;
}

void sentence_tasks(const Sentence *x, char *out, size_t n) {
    size_t at = 0;
    *out = 0;
    for (size_t i = 0; i < x->n_prompts && at < n; i++)
        at += (size_t)snprintf(out + at, n - at, "%s%s", i ? ", " : "", x->prompts[i].task);
}

/* ---- a vector ---- */

static void dense(const Sentence *x, const SentenceDense *d, float *y, const float *v) {
    const Kernels *k = x->model->kernels;
    const Matrix *w = &d->weight;
    Activations a = {.n = 1, .d = w->cols, .group = matrix_group(w), .data = x->packed};
    k->mat->pack(x->packed, v, 1, a.d, a.group, 0);
    k->mat->matmul(y, w->rows, &a, w, 0, w->rows);
    for (size_t i = 0; i < w->rows; i++) {
        if (d->bias) y[i] += d->bias[i];
        if (d->tanh) y[i] = tanhf(y[i]);
    }
}

/* Mean 0 and variance 1, eps 1e-5, without weights; in double. */
static void layer_norm(float *v, size_t n) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < n; i++) mean += (double)v[i] / (double)n;
    for (size_t i = 0; i < n; i++) square += ((double)v[i] - mean) * ((double)v[i] - mean) / (double)n;
    for (size_t i = 0; i < n; i++) v[i] = (float)(((double)v[i] - mean) / sqrt(square + 1e-5));
}

void sentence_vector(const Sentence *x, Session *s, const Texts *texts, size_t i, size_t dimensions, float *out) {
    float *v = x->room[0], *other = x->room[1];
    texts_pool(texts, s, i, x->pooling, v);
    for (size_t k = 0; k < x->n_dense; k++) {
        dense(x, &x->dense[k], other, v);
        float *swap = v;
        v = other, other = swap;
    }
    if (dimensions && x->layer_norm) layer_norm(v, x->width);
    size_t n = dimensions ? dimensions : x->width;
    if (x->normalize || (dimensions && x->layer_norm)) texts_normalize(v, n);
    memcpy(out, v, n * sizeof *out);
}
