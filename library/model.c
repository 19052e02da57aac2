/* library/model.c - a model and its tokenizer behind one handle: opening, facts, texts to ids and back. */
#include "library.h"

#include "attention/maps.h"
#include "base/base.h"
#include "kernels/rows.h"
#include "model/family.h"
#include "model/options.h"
#include "rope/positions.h"
#include "rope/spec.h"
#include "text/open.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int roformer_version(void) { return ROFORMER_VERSION; }
void roformer_free(void *p) { free(p); }

/* ---- options ---- */

int options_take(void *ours, size_t n, const void *given, char *err, size_t errlen) {
    size_t size = n;
    memset(ours, 0, n);
    if (!given) return 0;
    memcpy(&size, given, sizeof size);
    if (size < sizeof size)
        return base_error(err, errlen, -EINVAL, "options: the first field is their size: {.size = sizeof options}");
    for (size_t i = n; i < size; i++)
        if (((const char *)given)[i])
            return base_error(err, errlen, -EINVAL, "options: a field is set that this library, %d.%d, does not know",
                              ROFORMER_VERSION / 10000, ROFORMER_VERSION / 100 % 100);
    memcpy(ours, given, size < n ? size : n);
    return 0;
}

int library_threads(int threads, char *err, size_t errlen) {
    enum { MOST = 1024 };
    if (threads >= 0 && threads <= MOST) return 0;
    return base_error(err, errlen, -EINVAL, "threads: %d is not from 0 to %d", threads, MOST);
}

Numerals numerals_begin(void) {
    Numerals n = {.point = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0)};
    if (n.point) n.was = uselocale(n.point);
    return n;
}

void numerals_end(Numerals *n) {
    if (!n->point) return;
    uselocale(n->was);
    freelocale(n->point);
}

static int take_attention(AttentionOverride *to, const RoformerOptions *o, char *err, size_t errlen) {
    int linear = o->attention && strcmp(o->attention, "linear") == 0;
    *to = (AttentionOverride){.epsilon = o->epsilon, .favor_features = o->favor_features, .favor_seed = o->favor_seed};
    if (o->attention && !linear && strcmp(o->attention, "softmax") != 0)
        return base_error(err, errlen, -EINVAL, "attention: there is no \"%s\"; softmax and linear are known",
                          o->attention);
    if (o->attention) to->kind = linear ? ATTENTION_LINEAR : ATTENTION_SOFTMAX;
    if (o->phi && !(to->phi = feature_map(o->phi)))
        return base_error(err, errlen, -EINVAL, "phi: there is no feature map \"%s\"", o->phi);
    if (o->phi_key && !(to->phi_key = feature_map(o->phi_key)))
        return base_error(err, errlen, -EINVAL, "phi_key: there is no feature map \"%s\"", o->phi_key);
    if (o->form && !(to->form = linear_form(o->form)))
        return base_error(err, errlen, -EINVAL, "form: there is no form \"%s\"", o->form);
    if (to->form && to->form->cosine && to->phi && strcmp(to->phi->name, "identity") != 0)
        return base_error(err, errlen, -EINVAL, "form: %s takes phi identity only", o->form);
    if (o->favor_features % 2 || o->favor_features < 0 || o->favor_features > 1024)
        return base_error(err, errlen, -EINVAL, "favor_features: %d is not an even number from 2 to 1024",
                          o->favor_features);
    if (o->epsilon && !(*o->epsilon >= 0 && *o->epsilon < 1))
        return base_error(err, errlen, -EINVAL, "epsilon: %g is not from 0 to 1", *o->epsilon);
    return 0;
}

/* Where word stands among names, from first on; -1 after a line. */
static int named(const char *option, const char *word, const char *const *names, int first, char *err, size_t errlen) {
    int i = name_index(names, word);
    if (i < first) base_error(err, errlen, -EINVAL, "%s: there is no \"%s\"", option, word), i = -1;
    return i;
}

/* mask, pooler: where the values go. */
static int take_roformer(RoformerOverride *to, const RoformerOptions *o, Mask *mask, Pooler *pooler, char *err,
                         size_t errlen) {
    int variant = o->arch ? named("arch", o->arch, roformer_variant_names, 1, err, errlen) : 0,
        m = variant >= 0 && o->mask ? named("mask", o->mask, mask_names, 0, err, errlen) : 0,
        p = variant >= 0 && m >= 0 && o->pooler ? named("pooler", o->pooler, pooler_names, 0, err, errlen) : 0;
    if (variant < 0 || m < 0 || p < 0) return -EINVAL;
    *mask = (Mask)m, *pooler = (Pooler)p;
    *to = (RoformerOverride){.variant = (RoformerVariant)variant, .mask = o->mask ? mask : NULL,
                             .pooler = o->pooler ? pooler : NULL};
    return 0;
}

/* Numbers out of range; what the readers of files never meet, because the program's options are checked before. */
static int check_numbers(const RoformerOptions *o, char *err, size_t errlen) {
    const char *bad = !(o->rope_theta == 0 || (o->rope_theta >= 1e-6 && o->rope_theta <= 1e30)) ? "rope_theta"
                      : !(o->rope_factor == 0 || (o->rope_factor >= 1 && o->rope_factor <= 1e9)) ? "rope_factor"
                      : o->rope_original < 0 || o->rope_original > (int64_t)1e15 ? "rope_original"
                      : o->n_ctx < 0 || o->n_ctx > (int64_t)MOST_COUNTED           ? "n_ctx"
                      : o->n_loras > INT_MAX || (o->n_loras && !o->loras)        ? "n_loras"
                                                                                 : NULL;
    if (bad) return base_error(err, errlen, -EINVAL, "%s: the number is out of range", bad);
    if (o->rope && strstr(o->rope, "factor=") && o->rope_factor > 0)
        return base_error(err, errlen, -EINVAL, "rope_factor: rope has a factor of its own");
    int rc = library_threads(o->threads, err, errlen);
    return rc || !o->rope ? rc : rope_spec_check(o->rope, err, errlen);
}

/* ---- opening ---- */

static int open_tokenizer(RoformerModel *m, const RoformerOptions *o, char *err, size_t errlen) {
    const TokenizerOptions to = {.lower_case = -1, .pre = o->pre, .jieba = o->jieba};
    if (o->no_tokenizer) return base_error(m->why, sizeof m->why, 0, "this model was opened without a tokenizer");
    int rc = vocabulary_open(&m->tokenizer, &m->model.weights, o->tokenizer, (size_t)m->model.config.vocab_size, &to,
                             err, errlen);
    if (rc != -ENOENT || o->tokenizer) return rc;
    return base_error(m->why, sizeof m->why, 0, "%s: no tokenizer in it or beside it; name one in the options",
                      m->model.weights.path);
}

/* The settings of its RoPE, for roformer_word. */
static int describe_rope(RoformerModel *m, char *err, size_t errlen) {
    char spec[ROPE_SPEC_MOST];
    if (!position_kind_of(m->model.config.positions)->rotates) return 0;
    rope_spec_print(&m->model.config.rope, spec, sizeof spec);
    m->rope = strdup(spec);
    return m->rope ? 0 : base_error(err, errlen, -ENOMEM, "out of memory");
}

static int open_all(RoformerModel *m, const char *path, const RoformerOptions *o, char *err, size_t errlen) {
    Mask mask;
    Pooler pooler;
    char why[200];
    ModelOptions mo = {.rope = {.spec = o->rope, .theta = o->rope_theta, .factor = o->rope_factor,
                                .n_ctx_original = o->rope_original, .n_ctx = o->n_ctx},
                       .position_extend = o->position_extend, .task = o->task, .loras = o->loras,
                       .n_loras = (int)o->n_loras, .threads = o->threads, .copy = o->copy, .progress = o->progress,
                       .progress_arg = o->progress_arg, .panels = o->panels};
    int rc = check_numbers(o, err, errlen);
    if (rc == 0) rc = take_attention(&mo.attention, o, err, errlen);
    if (rc == 0) rc = take_roformer(&mo.roformer, o, &mask, &pooler, err, errlen);
    if (rc == 0 && o->kernels && !(mo.kernels = kernels_find(o->kernels, why, sizeof why)))
        rc = base_error(err, errlen, -EINVAL, "kernels: %s", why);
    if (rc) return rc;
    rc = model_open_memory(&m->model, path ? NULL : builtin_model, builtin_model_size,
                           path ? path : "the compiled-in model", &mo, err, errlen);
    if (rc == 0) rc = open_tokenizer(m, o, err, errlen);
    return rc ? rc : describe_rope(m, err, errlen);
}

int roformer_open(RoformerModel **model, const char *path, const RoformerOptions *options, char *err, size_t errlen) {
    RoformerOptions o;
    *model = NULL;
    int rc = options_take(&o, sizeof o, options, err, errlen);
    RoformerModel *m = rc ? NULL : calloc(1, sizeof *m);
    if (!m) return rc ? rc : base_error(err, errlen, -ENOMEM, "out of memory");
    Numerals n = numerals_begin();
    rc = open_all(m, path, &o, err, errlen);
    numerals_end(&n);
    if (rc == -ENOEXEC) rc = -EINVAL; /* what is no model, in roformer.h's words */
    if (rc) roformer_close(m);
    else *model = m;
    return rc;
}

void roformer_close(RoformerModel *m) {
    if (!m) return;
    tokenizer_free(m->tokenizer);
    model_close(&m->model);
    free(m->rope);
    free(m);
}

/* ---- facts ---- */

int library_bos(const RoformerModel *m) {
    int id = m->tokenizer ? tokenizer_bos(m->tokenizer) : -1;
    return id >= 0 ? id : m->model.config.bos_id;
}

static int end_of(const RoformerModel *m) {
    const Config *c = &m->model.config;
    return c->n_eos ? c->eos_id[0] : m->tokenizer ? tokenizer_eos(m->tokenizer) : -1;
}

int64_t roformer_number(const RoformerModel *m, RoformerNumber which) {
    const Config *c = &m->model.config;
    switch (which) {
    case ROFORMER_N_CTX_TRAIN: return c->n_ctx_train;
    case ROFORMER_VOCAB_SIZE: return c->vocab_size;
    case ROFORMER_D_MODEL: return c->d_model;
    case ROFORMER_N_LAYERS: return c->n_layers;
    case ROFORMER_N_HEADS: return c->n_heads;
    case ROFORMER_N_KV_HEADS: return c->n_kv_heads;
    case ROFORMER_HEAD_DIM: return c->head_dim;
    case ROFORMER_N_PARAMETERS: return (int64_t)m->model.n_parameters;
    case ROFORMER_BOS: return library_bos(m);
    case ROFORMER_EOS: return end_of(m);
    case ROFORMER_HAS_LOGITS: return m->model.has_logits;
    case ROFORMER_HAS_TOKENIZER: return m->tokenizer != NULL;
    case ROFORMER_READS_WHOLE: return c->mask == MASK_PADDING;
    case ROFORMER_IS_LINEAR: return c->linear.form != NULL;
    }
    return -1;
}

const char *roformer_word(const RoformerModel *m, RoformerWord which) {
    switch (which) {
    case ROFORMER_ARCH: return m->model.config.arch;
    case ROFORMER_KERNELS: return m->model.kernels->name;
    case ROFORMER_TOKENIZER: return m->tokenizer ? tokenizer_kind(m->tokenizer) : NULL;
    case ROFORMER_ROPE: return m->rope;
    }
    return NULL;
}

/* ---- texts and ids ---- */

int library_needs_tokenizer(const RoformerModel *m, char *err, size_t errlen) {
    return m->tokenizer ? 0 : base_error(err, errlen, -EINVAL, "%s", m->why);
}

int roformer_tokenize(const RoformerModel *m, const char *text, size_t len, int flags, int **ids, size_t *n, char *err,
                      size_t errlen) {
    *ids = NULL, *n = 0;
    int rc = library_needs_tokenizer(m, err, errlen);
    int to = (flags & ROFORMER_ADD_BOS ? ENCODE_BOS : 0) | (flags & ROFORMER_SPECIAL ? ENCODE_SPECIAL : 0) |
             (flags & ROFORMER_ADD_EOS ? ENCODE_EOS : 0) | (flags & ROFORMER_CONTINUES ? ENCODE_CONTINUE : 0);
    return rc ? rc : tokenizer_encode(m->tokenizer, len ? text : "", len, to, ids, n, err, errlen);
}

int roformer_detokenize(const RoformerModel *m, const int *ids, size_t n, int flags, char **text, size_t *len,
                        char *err, size_t errlen) {
    TokenStream stream = {.begun = (flags & ROFORMER_CONTINUES) != 0, .tight = 1};
    size_t cap = 0;
    *text = NULL, *len = 0;
    int rc = library_needs_tokenizer(m, err, errlen);
    if (rc) return rc;
    size_t most = tokenizer_decode_bound(m->tokenizer);
    for (size_t i = 0; i <= n; i++) {
        if (array_reserve(text, &cap, *len + most + 1, 1)) {
            free(*text);
            *text = NULL, *len = 0;
            return base_error(err, errlen, -ENOMEM, "out of memory");
        }
        *len += i < n ? tokenizer_decode(m->tokenizer, &stream, ids[i], *text + *len)
                      : tokenizer_decode_end(m->tokenizer, &stream, *text + *len);
    }
    (*text)[*len] = 0;
    return 0;
}

const char *roformer_piece(const RoformerModel *m, int id, size_t *len) {
    *len = 0;
    return m->tokenizer ? tokenizer_piece(m->tokenizer, id, len) : NULL;
}
