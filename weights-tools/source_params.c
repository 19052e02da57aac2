/* weights-tools/source_params.c - a LLaMA or a Mistral as its authors publish it (params.json and consolidated.*), and
 * a training checkpoint of llama2.c's, whose tensors have the same names: they get Hugging Face's, and what params.json
 * says becomes what a config.json would.
 *
 * Sources: meta-llama/llama-models, models/llama3/args.py and model.py; transformers,
 * models/llama/convert_llama_weights_to_hf.py; mistralai/mistral-inference, args.py and transformer.py;
 * karpathy/llama2.c, train.py. */
#include "source.h"

#include "base/json.h"
#include "base/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { const char *from, *to; } Name; /* to NULL: what the engine computes */

static const Name names[] = {{"tok_embeddings.weight", "model.embed_tokens.weight"},
                             {"norm.weight", "model.norm.weight"}, {"output.weight", "lm_head.weight"},
                             {"rope.freqs", NULL}, {"freqs_cos", NULL}, {"freqs_sin", NULL}, {NULL, NULL}};
static const Name layer_names[] = {
    {"attention_norm.weight", "input_layernorm.weight"}, {"attention.wq.weight", "self_attn.q_proj.weight"},
    {"attention.wk.weight", "self_attn.k_proj.weight"}, {"attention.wv.weight", "self_attn.v_proj.weight"},
    {"attention.wo.weight", "self_attn.o_proj.weight"}, {"ffn_norm.weight", "post_attention_layernorm.weight"},
    {"feed_forward.w1.weight", "mlp.gate_proj.weight"}, {"feed_forward.w2.weight", "mlp.down_proj.weight"},
    {"feed_forward.w3.weight", "mlp.up_proj.weight"}, {"attention.mask", NULL},
    {"attention.inner_attention.rope.freqs", NULL}, {NULL, NULL}};

/* ---- names ---- */

/* torch.compile's prefix is no part of a name. */
static const char *plain(const char *name) {
    static const char compiled[] = "_orig_mod.";
    return strncmp(name, compiled, sizeof compiled - 1) == 0 ? name + sizeof compiled - 1 : name;
}

static const View *view_called(const Checkpoint *c, const char *name) {
    for (size_t i = 0; i < c->n_views; i++)
        if (strcmp(plain(c->views[i].name), name) == 0) return &c->views[i];
    return NULL;
}

int source_has_params(const Checkpoint *c) { return view_called(c, "tok_embeddings.weight") != NULL; }

/* *name becomes Hugging Face's; NULL: nobody needs it; one that is not known stays. 0 or -ENOMEM. */
static int rename_tensor(Source *s, const char **name) {
    const char *own = plain(*name), *tail = own;
    char head[40] = "", full[TENSOR_NAME];
    size_t digits = strncmp(own, "layers.", 7) == 0 ? strspn(own + 7, "0123456789") : 0;
    if (digits && digits < 10 && own[7 + digits] == '.') {
        snprintf(head, sizeof head, "model.%.*s", (int)(7 + digits + 1), own);
        tail = own + 7 + digits + 1;
    }
    for (const Name *row = *head ? layer_names : names; row->from; row++) {
        if (strcmp(row->from, tail) != 0) continue;
        snprintf(full, sizeof full, "%s%s", head, row->to ? row->to : "");
        *name = row->to ? weights_keep(&s->weights, full, strlen(full)) : NULL;
        return row->to && !*name ? -ENOMEM : 0;
    }
    return 0;
}

int source_params_rename(Source *s, const Report *r, char *err, size_t errlen) {
    Checkpoint *c = &s->checkpoint;
    size_t kept = 0;
    for (size_t i = 0; i < c->n_views; i++) {
        View v = c->views[i];
        if (rename_tensor(s, &v.name)) return source_no_memory(s, err, errlen);
        if (v.name) c->views[kept++] = v;
    }
    size_t left = c->n_views - kept;
    if (left)
        report_note(r, "left out: %zu tensor%s of frequencies or masks, which the engine computes", left, plural(left));
    c->n_views = kept;
    return 0;
}

/* ---- what params.json says ---- */

typedef struct {
    const JsonValue *o;
    const char *path; /* the file's */
    int settings;     /* it is what llama2.c keeps in its checkpoint */
    int mistral;
    char *err;
    size_t errlen;
} Params;

/* 0 where every key is one that counts, or that a matrix's size says as well: what changes the arithmetic must not be
 * passed over. */
static int check_keys(const Params *p) {
    static const char *const known[] = {
        "dim", "n_layers", "n_heads", "n_kv_heads", "head_dim", "hidden_dim", "vocab_size", "multiple_of",
        "ffn_dim_multiplier", "norm_eps", "rope_theta", "use_scaled_rope", "max_seq_len", "max_position_embeddings",
        "max_batch_size", "sliding_window", "dropout", "tied_embeddings", "model_type", NULL};
    for (const JsonValue *v = p->o->child; v; v = v->next) {
        int i = 0;
        while (known[i] && strcmp(known[i], v->key) != 0) i++;
        int off = v->type == JSON_NULL || (v->type == JSON_BOOL && !v->boolean);
        if (!known[i] && !off)
            return base_error(p->err, p->errlen, -EINVAL, "%s: %.60s: not known of a LLaMA or a Mistral in their "
                              "authors' layout: convert Hugging Face's folder of this model", p->path, v->key);
    }
    const JsonValue *type = json_get(p->o, "model_type");
    if (json_absent(type) || json_is(type, "transformer")) return 0;
    return base_error(p->err, p->errlen, -EINVAL, "%s: model_type: only \"transformer\" is known here", p->path);
}

static double number(const Params *p, const char *key, double otherwise) {
    const JsonValue *v = json_typed(p->o, key, JSON_NUMBER);
    return v ? v->number : otherwise;
}

static size_t rows_of(const Source *s, const char *name) {
    const View *v = view_called(&s->checkpoint, name);
    return v && v->n_dims == 2 ? v->shape[0] : 0;
}

/* 0 where numbers are numbers above 0 and flags are flags, and those that must be there are. */
static int check_values(const Params *p) {
    static const struct { const char *key; int needed; double most; } numbers[] = {
        {"dim", 1, 1e9}, {"n_layers", 1, 1e9}, {"n_heads", 1, 1e9}, {"n_kv_heads", 0, 1e9}, {"head_dim", 0, 1e9},
        {"hidden_dim", 0, 1e9}, {"norm_eps", 0, 1}, {"rope_theta", 0, 1e30}, {"max_seq_len", 0, 1e15},
        {"max_position_embeddings", 0, 1e15}, {"sliding_window", 0, 1e15}};
    static const char *const flags[] = {"use_scaled_rope", "tied_embeddings"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const JsonValue *v = json_get(p->o, numbers[i].key);
        if (json_absent(v) && !numbers[i].needed) continue;
        if (json_absent(v)) return base_error(p->err, p->errlen, -EINVAL, "%s: %s is missing", p->path, numbers[i].key);
        if (v->type != JSON_NUMBER || !(v->number > 0 && v->number <= numbers[i].most))
            return base_error(p->err, p->errlen, -EINVAL, "%s: %s must be a number above 0 and at most %g", p->path,
                              numbers[i].key, numbers[i].most);
    }
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (!json_absent(json_get(p->o, flags[i])) && json_get(p->o, flags[i])->type != JSON_BOOL)
            return base_error(p->err, p->errlen, -EINVAL, "%s: %s must be true or false", p->path, flags[i]);
    return 0;
}

/* 0 where the matrices that say the other sizes are there, whole, and what is said of them is so. */
static int check_sizes(const Source *s, const Params *p) {
    static const char first[] = "layers.0.feed_forward.w1.weight", query[] = "layers.0.attention.wq.weight";
    size_t words = rows_of(s, "tok_embeddings.weight"), hidden = rows_of(s, first), q = rows_of(s, query);
    double heads = number(p, "n_heads", 0), d = number(p, "head_dim", number(p, "dim", 0) / heads);
    double said_words = number(p, "vocab_size", -1), said_hidden = number(p, "hidden_dim", (double)hidden);
    const char *missing = !words ? "tok_embeddings.weight" : !hidden ? first : !q ? query : NULL;
    if (missing)
        return base_error(p->err, p->errlen, -EINVAL, "%s: tensor %s is missing, or no matrix", s->path, missing);
    if ((double)q < heads * d)
        return base_error(p->err, p->errlen, -EINVAL, "%s: tensor %s has %zu rows of %.0f: is one of the files "
                          "consolidated.NN.pth missing?", s->path, query, q, heads * d);
    if (said_hidden != (double)hidden || (said_words > 0 && said_words != (double)words))
        return base_error(p->err, p->errlen, -EINVAL, "%s: %s: the tensors have %zu", p->path,
                          said_hidden != (double)hidden ? "hidden_dim" : "vocab_size",
                          said_hidden != (double)hidden ? hidden : words);
    return 0;
}

static int is_scaled(const Params *p) { return json_flag(p->o, "use_scaled_rope", 0); }

/* How far the model was trained, where the file does not say so: by what tells one publication from another. */
static double context(const Params *p, const Report *r) {
    double said = number(p, "max_position_embeddings", number(p, "max_seq_len", 0));
    double theta = number(p, "rope_theta", 10000), eps = number(p, "norm_eps", 1e-5);
    if (said > 0) return said;
    double n = p->mistral ? 32768 : is_scaled(p) ? 131072 : theta == 500000 ? 8192
               : theta == 1000000 ? 16384 : eps < 1e-5 ? 2048 : 4096;
    report_note(r, "%s: does not say how long a text was in training: %.0f tokens, as models of its settings were",
                p->path, n);
    return n;
}

/* Where a file without a head does not say that it is tied, the head is missing. */
static int is_tied(const Source *s, const Params *p) {
    const View *head = view_called(&s->checkpoint, "output.weight"),
               *words = view_called(&s->checkpoint, "tok_embeddings.weight");
    return head ? view_is_same(head, words) || view_equal(head, words) : json_flag(p->o, "tied_embeddings", 0);
}

/* The config.json of a Hugging Face folder of this model. */
static void write_config(const Source *s, const Params *p, Buffer *b, const Report *r) {
    size_t words = rows_of(s, "tok_embeddings.weight");
    double heads = number(p, "n_heads", 0), window = number(p, "sliding_window", 0);
    double theta = number(p, "rope_theta", p->mistral && window == 0 ? 1e6 : 1e4);
    buffer_print(b, "{\"model_type\":\"%s\",\"hidden_act\":\"silu\",\"vocab_size\":%zu,\"intermediate_size\":%zu",
                 p->mistral ? "mistral" : "llama", words, rows_of(s, "layers.0.feed_forward.w1.weight"));
    buffer_print(b, ",\"hidden_size\":%.17g,\"num_hidden_layers\":%.17g,\"num_attention_heads\":%.17g",
                 number(p, "dim", 0), number(p, "n_layers", 0), heads);
    buffer_print(b, ",\"num_key_value_heads\":%.17g,\"head_dim\":", number(p, "n_kv_heads", heads));
    if (json_typed(p->o, "head_dim", JSON_NUMBER)) buffer_print(b, "%.17g", number(p, "head_dim", 0));
    else buffer_print(b, "null");
    buffer_print(b, ",\"rms_norm_eps\":%.17g,\"rope_theta\":%.17g,\"max_position_embeddings\":%.17g",
                 number(p, "norm_eps", 1e-5), theta, context(p, r));
    buffer_print(b, ",\"tie_word_embeddings\":%s,\"sliding_window\":", is_tied(s, p) ? "true" : "false");
    if (window > 0) buffer_print(b, "%.17g", window);
    else buffer_print(b, "null");
    if (words == 128256) /* LLaMA 3's: of a text, of a message, of a turn */
        buffer_print(b, ",\"bos_token_id\":128000,\"eos_token_id\":[128001,128008,128009]");
    else if (!p->settings && (p->mistral || words < 100000)) /* of others the tokenizer knows */
        buffer_print(b, ",\"bos_token_id\":1,\"eos_token_id\":2");
    if (is_scaled(p)) {
        report_note(r, "%s: use_scaled_rope does not say the factor: 8, as Meta's code has it (config.json of LLaMA "
                    "3.2 says 32: --config takes one)", p->path);
        buffer_print(b, ",\"rope_scaling\":{\"rope_type\":\"llama3\",\"factor\":8,\"low_freq_factor\":1,"
                     "\"high_freq_factor\":4,\"original_max_position_embeddings\":8192}");
    }
    buffer_print(b, "}");
}

static void free_json(void *own) {
    json_free(own);
    free(own);
}

static int to_config(Source *s, Params *p, const JsonValue *root, const Report *r) {
    const JsonValue *inner = json_typed(root, "model", JSON_OBJECT); /* as transformers' script has it */
    Buffer b = {0};
    p->o = inner ? inner : root;
    if (p->o->type != JSON_OBJECT)
        return base_error(p->err, p->errlen, -EINVAL, "%s: is not a JSON object", p->path);
    p->mistral = !p->settings && (json_typed(p->o, "head_dim", JSON_NUMBER) || json_get(p->o, "sliding_window"));
    int rc = check_keys(p);
    if (rc == 0) rc = check_values(p);
    if (rc == 0) rc = check_sizes(s, p);
    if (rc) return rc;
    write_config(s, p, &b, r);
    Json *own = weights_own(&s->weights, calloc(1, sizeof *own), free_json);
    rc = b.failed || !own ? source_no_memory(s, p->err, p->errlen)
                          : json_parse(own, (const char *)b.data, b.n, p->path, p->err, p->errlen);
    free(b.data);
    if (rc) return rc;
    s->weights.format = FORMAT_HF;
    s->weights.config = own->root;
    return 0;
}

int source_params(Source *s, const Report *r, char *err, size_t errlen) {
    Checkpoint *c = &s->checkpoint;
    char *path = c->settings ? strdup(s->path) : file_join(c->folder, "params.json");
    Params p = {.path = path, .settings = c->settings != NULL, .err = err, .errlen = errlen};
    Json json = {0};
    s->weights.path = weights_own(&s->weights, path, free);
    if (!s->weights.path) return source_no_memory(s, err, errlen);
    int rc = c->settings ? json_parse(&json, c->settings, strlen(c->settings), path, err, errlen)
             : file_there(path) ? json_open(&json, path, err, errlen)
             : base_error(err, errlen, -ENOENT, "%s: is missing: a model in its authors' layout needs it, or a "
                          "config.json by --config", path);
    if (rc == 0) rc = to_config(s, &p, json.root, r);
    json_free(&json);
    return rc;
}
