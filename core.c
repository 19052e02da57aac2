/* core.c - the engine without its breadth: the whole way from a model file to a text. The page to begin with.
 *
 *     ./core [MODEL] [-i PROMPT] [-n POSITIONS] [-t TEMPERATURE] [-p TOP_P] [-s SEED]
 *
 * MODEL is a GGUF llama with SentencePiece's BPE, or one that llama2.c's run reads, with tokenizer.bin beside it;
 * without MODEL the compiled-in one writes. `make core` links it with the files that the Makefile lists as CORE; the
 * text is that of ./run --kernels ref. */
#include "model/family.h"
#include "model/files/gguf.h"
#include "model/files/llama2c.h"
#include "model/sampler.h"
#include "model/scratch.h"
#include "model/session.h"
#include "text/gguf_pieces.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- what it knows: one row of each table that the whole program fills ---- */

const RopeScaling rope_none = {.name = "none"};
const FeatureMap *const feature_maps[] = {&phi_elu_plus_1, NULL};
const LinearForm *const linear_forms[] = {&linear_numerator, NULL};

const Attention *const session_attention = &attention_plain;
const Kernels kernels_ref = {.name = "ref", .mat = &ref_matmul, .vec = &ref_vector};
const Kernels *kernels_best(void) { return &kernels_ref; }
const QuantFormat *const quant_formats[] = {formats_plain, NULL};

const WeightsReader weights_readers[] = {{gguf_is, gguf_open}, {llama2c_is, llama2c_open}, {0}};
const SamplerFilters *const sampler_filters = NULL;
const Architecture *const architectures[] = {&(const Architecture){.name = "llama", .family = &family_llama}, NULL};
const KeySource *const key_sources[] = {[FORMAT_GGUF] = &keys_gguf, [FORMAT_LLAMA2C] = &keys_gguf};

/* ---- what it does without: weights rearranged for fast kernels, scaled RoPE, options, threads ---- */

void model_unpack(Model *m) { (void)m; }
int model_more(Model *m, const ModelOptions *o, char *err, size_t errlen) {
    return (void)m, (void)o, (void)err, (void)errlen, 0;
}
int weights_expand(Weights *w, char *err, size_t errlen) { return (void)w, (void)err, (void)errlen, 0; }

void config_more(KeyReader *r, Config *c, const ModelOptions *o) {
    static const char *const more[] = {"rope.scaling.type", "rope.scaling.factor", "rope.scale_linear",
                                       "rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight",
                                       "rope.scaling.attn_factor", "attention.sliding_window", "expert_count",
                                       "attention.position", "attention.max_alibi_bias", "attention.log_scale",
                                       "attention.feature_map_key"};
    int64_t parts;
    (void)o;
    if (c->linear.form && !(c->linear.epsilon >= 0 && c->linear.epsilon < 1))
        key_complain(r, "attention.denominator_epsilon", "must be from 0 to below 1");
    if (meta_integer(weights_meta(r->w, "split.count"), &parts) && parts > 1)
        key_complain(r, "split.count", "the parts of a split file are not known to the core");
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) /* keys and tensors */
        if (r->source->look(r, more[i], NULL) || weights_find(r->w, more[i]))
            key_complain(r, more[i], "is not known to the core");
}

int threads_most(void) { return 1; }
int team_member(void) { return 0; }
int team_init(Team *t, int most) {
    *t = (Team){.most = most > 0};
    return 0;
}
void team_free(Team *t) { *t = (Team){0}; }
void team_run(Team *t, int n, void (*text)(void *arg), void *arg) {
    (void)t, (void)n;
    text(arg);
}
void team_wait(Team *t) { (void)t; }
Share team_share(const Team *t, size_t n) {
    (void)t;
    return (Share){0, n};
}
int team_take(Team *t, size_t n, Share *share) { /* all of it, and then nothing more */
    static int taken;
    (void)t, *share = (Share){0, n};
    return taken = !taken;
}

size_t cache_second_level(void) { return 512 << 10; }

/* ---- the program ---- */

static char err[500];

typedef struct {
    const char *model, *prompt;
    size_t n;
    SamplerOptions sampler;
} Options;

/* 0 where a word is none of those in the first comment, or no number where one is wanted. */
static int read_options(Options *o, int argc, char **argv) {
    *o = (Options){.prompt = "", .n = 256, .sampler = {.temperature = 1, .top_p = 0.9f, .repetition_penalty = 1}};
    o->sampler.seed = (uint64_t)time(NULL) | 1;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (argv[i][0] != '-' && !o->model) {
            o->model = argv[i];
            continue;
        }
        if (argv[i][0] != '-' || !argv[i][1] || argv[i][2] || !value) return 0;
        char *end = "", letter = argv[i++][1];
        switch (letter) {
        case 'i': o->prompt = value; break;
        case 'n': o->n = strtoul(value, &end, 10); break;
        case 't': o->sampler.temperature = strtof(value, &end); break;
        case 'p': o->sampler.top_p = strtof(value, &end); break;
        case 's': o->sampler.seed = strtoull(value, &end, 10); break;
        default: return 0;
        }
        if (*end || end == value || (*value == '-' && (letter == 'n' || letter == 's'))) return 0;
    }
    return 1;
}

/* A GGUF file's own vocabulary; of llama2.c's models tokenizer.bin, beside the file. */
static int open_tokenizer(Tokenizer **t, const Weights *w) {
    if (w->format == FORMAT_GGUF) return tokenizer_make(t, w->path, gguf_spm, w, err, sizeof err);
    char path[4096];
    MappedFile f;
    int n = snprintf(path, sizeof path, "%s/tokenizer.bin", w->folder);
    if (n < 0 || (size_t)n >= sizeof path) return base_error(err, sizeof err, -1, "%s: the path is too long", w->path);
    int rc = file_map(&f, path, err, sizeof err);
    if (rc == 0) rc = tokenizer_make(t, path, spm_llama2c, &f, err, sizeof err);
    file_unmap(&f);
    return rc;
}

static int show(const char *text, size_t n) {
    if (fwrite(text, 1, n, stdout) == n && fflush(stdout) == 0) return 0;
    return base_error(err, sizeof err, -errno, "cannot write the output: %s", strerror(errno));
}

/* 1 where a text ends with this id. llama2.c's tokenizer names ends that its models were not taught. */
static int ends_text(const Model *m, const Tokenizer *t, int id) {
    const Config *c = &m->config;
    int own = m->weights.format != FORMAT_LLAMA2C && (id == tokenizer_bos(t) || id == tokenizer_eos(t));
    for (int i = 0; i < c->n_eos; i++) own |= id == c->eos_id[i];
    return own || id == c->bos_id;
}

/* At most n ids more, behind those that the session has read: draw an id, show what it adds, evaluate it. */
static int write_text(Session *s, const Tokenizer *t, Sampler *sampler, const float *logits, int begun, size_t n) {
    char *text = malloc(tokenizer_decode_bound(t));
    int rc = text ? 0 : base_error(err, sizeof err, -ENOMEM, "out of memory");
    TokenStream stream = {.begun = begun};
    for (; rc == 0 && n > 0; n--) {
        int id = sampler_next(sampler, logits, NULL, 0);
        if (ends_text(s->model, t, id)) break;
        rc = show(text, tokenizer_decode(t, &stream, id, text));
        if (s->pos == s->options.n_ctx) break;
        if (rc == 0 && n > 1) rc = session_eval(s, &id, 1, &logits, err, sizeof err);
    }
    if (rc == 0) rc = show(text, tokenizer_decode_end(t, &stream, text));
    free(text);
    return rc ? rc : show("\n", 1);
}

/* The prompt is read, and the text goes on from it. */
static int generate(const Model *m, const Tokenizer *t, const Options *o) {
    size_t trained = (size_t)m->config.n_ctx_train, end = o->n ? o->n : SIZE_MAX, n, left;
    SessionOptions so = {.n_ctx = end < trained ? end : trained, .cache = session_usual_cache(m)};
    const float *logits;
    Sampler sampler = {0};
    Session s = {0};
    int *ids, rc = tokenizer_encode(t, o->prompt, strlen(o->prompt), ENCODE_BOS, &ids, &n, err, sizeof err);
    if (rc == 0) rc = sampler_init(&sampler, (size_t)m->config.vocab_size, &o->sampler, err, sizeof err);
    if (rc == 0) rc = session_init(&s, m, &so, err, sizeof err);
    if (rc == 0) rc = show(o->prompt, strlen(o->prompt));
    if (rc == 0) rc = session_eval(&s, ids, n, &logits, err, sizeof err);
    left = end == SIZE_MAX ? end : end + 1 > n ? end + 1 - n : 0; /* the last one drawn needs no position */
    if (rc == 0) rc = write_text(&s, t, &sampler, logits, *o->prompt != 0, left);
    free(ids);
    session_free(&s);
    sampler_free(&sampler);
    return rc;
}

int main(int argc, char **argv) {
    Options o;
    Model m;
    Tokenizer *t;
    if (!read_options(&o, argc, argv)) {
        fprintf(stderr, "usage: %s [MODEL] [-i PROMPT] [-n POSITIONS] [-t TEMPERATURE] [-p TOP_P] [-s SEED]\n",
                argv[0]);
        return 2;
    }
    int rc = model_open_memory(&m, o.model ? NULL : builtin_model, builtin_model_size,
                               o.model ? o.model : "the compiled-in model", NULL, err, sizeof err);
    if (rc == 0 && (rc = open_tokenizer(&t, &m.weights)) == 0) {
        rc = generate(&m, t, &o);
        tokenizer_free(t);
    }
    model_close(&m);
    if (rc) fprintf(stderr, "core: %s\n", err);
    return rc ? 1 : 0;
}
