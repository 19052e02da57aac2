/* cli/engine.c - what a command runs on: texts, the model, its tokenizer, a session, as the options ask. */
#include "cli.h"
#include "attention/maps.h"
#include "text/open.h"
#include "model/attend_texts.h"
#include "kernels/rows.h"
#include "model/family.h"
#include "model/layers/layers.h"
#include "model/notes.h"
#include "model/options.h"
#include "model/roformer_kinds.h"
#include "model/state.h"
#include "model/timeline.h"
#include "base/newfile.h"
#include "base/paths.h"
#include "rope/positions.h"
#include "rope/spec.h"
#include "base/base.h"
#include "base/system.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 29 }; /* 512 MB: an endless pipe ends here, and the tokenizer takes little more */

/* All of f, and a 0 behind it: 0, or an exit code after saying why. *text is malloc'ed. */
static int read_all(FILE *f, const char *name, char **text, size_t *n) {
    size_t cap = 0;
    for (;;) {
        if (*n > TEXT_MAX) return fail("%s: the text is longer than 512 MB", name);
        if (*n + 1 >= cap && array_reserve(text, &cap, *n + 65536, 1))
            return fail("%s: out of memory for the text", name);
        size_t room = cap - 1 - *n, left = TEXT_MAX + 1 - *n; /* one byte more tells that it is longer */
        size_t got = fread(*text + *n, 1, room < left ? room : left, f);
        (*text)[*n += got] = 0;
        if (feof(f)) return 0; /* asked again, a terminal would want another Ctrl-D */
        if (got == 0) return interrupted ? EXIT_INTERRUPTED : fail("%s: %s", name, strerror(errno));
    }
}

int read_prompt_text(const Args *a, const char **text, size_t *n, char **file) {
    *file = NULL;
    *text = a->in.prompt ? a->in.prompt : "";
    *n = strlen(*text);
    int code = a->in.file ? read_text(a->in.file, file, n) : 0;
    if (code || !*file) return code;
    *text = *file;
    if (*n && (*text)[*n - 1] == '\n') --*n;
    return 0;
}

const char *piped_text(void) {
    struct stat s;
    return fstat(0, &s) == 0 && (S_ISFIFO(s.st_mode) || S_ISREG(s.st_mode)) ? "-" : NULL;
}

/* A pipe that nobody writes into looks like a program that hangs. */
static void say_if_silent(void) {
    struct pollfd f = {.fd = 0, .events = POLLIN};
    if (poll(&f, 1, 1000) == 0)
        note("waiting for a text on stdin; -i or -f gives one, and < /dev/null none");
}

void note_terminal(void) {
    if (isatty(0)) note("reading lines from the terminal; Ctrl-D ends them");
}

int read_text(const char *path, char **text, size_t *n) {
    int from_stdin = strcmp(path, "-") == 0;
    FILE *f = from_stdin ? stdin : fopen(path, "rb");
    *text = NULL;
    *n = 0;
    if (!f) return interrupted ? EXIT_INTERRUPTED : fail("%s: %s", path, strerror(errno));
    if (from_stdin) note_terminal();
    if (from_stdin && !isatty(0)) say_if_silent();
    int code = read_all(f, from_stdin ? "stdin" : path, text, n);
    if (!from_stdin) fclose(f);
    if (code) {
        free(*text);
        *text = NULL;
    }
    return code;
}

static void describe_roformer(const Model *m) {
    static const char *const classifiers[] = {"", ", sequence classifier", ", token classifier",
                                              ", replaced-token detector"};
    const RoformerConfig *f = &m->config.roformer;
    fprintf(stderr, "\n  RoFormer %s: embeddings of %d, %d token types, mask %s%s; heads:%s%s%s%s",
            roformer_variant_names[f->variant], m->config.d_embed, f->n_types, mask_names[m->config.mask],
            m->config.rotary_value ? ", values turn too" : "", m->has_logits ? " language model" : "",
            f->pooler ? ", pooler " : "", f->pooler ? pooler_names[f->pooler] : "", classifiers[f->classifier]);
}

static void describe(const Model *m, const Tokenizer *t) {
    const Config *c = &m->config;
    const LinearForm *form = c->linear.form;
    int turns = !form || form->before_phi || form->in_numerator || form->in_denominator;
    fprintf(stderr, "%s: %s, %.2f M parameters, %s, %.2f MB\n", m->weights.path, c->arch, (double)m->n_parameters / 1e6,
            ((const char *const[]){"GGUF", "Hugging Face", "llama2.c"})[m->weights.format],
            (double)m->weights.file_bytes / 1e6);
    fprintf(
        stderr,
        "  d_model %d, d_ff %d, %d layers, %d heads of %d, %d key/value heads, vocabulary %d, trained context %lld\n",
        c->d_model, c->d_ff, c->n_layers, c->n_heads, c->head_dim, c->n_kv_heads, c->vocab_size,
        (long long)c->n_ctx_train);
    char spec[ROPE_SPEC_MOST];
    rope_spec_print(&c->rope, spec, sizeof spec);
    fprintf(stderr, "  weights %s, output %s; ", quant_format((int)m->layers->w_up.type)->name,
            m->lm_head.data == m->tok_emb.data ? "tied" : "its own");
    if (!position_kind_of(c->positions)->rotates)
        fprintf(stderr, "positions %s, no rope", c->positions->kind->name);
    else
        fprintf(stderr, "rope theta %g, %s, %s pairs, %d of %d entries turn", c->rope.theta,
                rope_numbers(&c->rope)->n_divisors ? "divided as rope_freqs.weight says" : spec,
                c->rope.pairing == ROPE_HALF ? "half-split" : "interleaved",
                turns ? c->rope.rotary_dim - 2 * rope_still_pairs(&c->rope) : 0,
                c->linear.form && !c->linear.form->before_phi ? linear_features_n(&c->linear) : c->head_dim);
    if (c->decoder && c->decoder->traits->local_rope)
        fprintf(stderr, ", theta %g in layers with a window", c->decoder->local.theta);
    if (c->decoder && c->decoder->local_dim)
        fprintf(stderr, ", whose %d heads are of %d, with %d of keys and values", c->n_heads, c->decoder->local_dim,
                c->decoder->local_kv);
    if (c->window) fprintf(stderr, "; window %lld", (long long)c->window);
    if (c->roformer.variant) describe_roformer(m);
    if (c->linear.form)
        fprintf(stderr, "\n  linear attention: form %s, phi %s%s%s, %d features a head, epsilon %g",
                c->linear.form->name, c->linear.phi->name, c->linear.phi_key ? ", of keys " : "",
                c->linear.phi_key ? c->linear.phi_key->name : "", linear_features_n(&c->linear), c->linear.epsilon);
    fprintf(stderr, "\n  kernels %s", m->kernels->name);
    if (t) fprintf(stderr, "; tokenizer: %s, %zu pieces", tokenizer_kind(t), tokenizer_size(t));
    fputc('\n', stderr);
    for (size_t i = 0; i < m->weights.n_tensors; i++)
        if (!m->used[i]) answer_line("  not used: tensor %s", m->weights.tensors[i].name);
}

void engine_close(Engine *e) {
    session_free(&e->session);
    tokenizer_free(e->tokenizer);
    model_close(&e->model);
}

/* --attention and its kind: 0, or an exit code after saying why. seed is where --favor-seed goes. */
static int attention_options(AttentionOverride *o, const Args *a, uint64_t *seed) {
    int linear = a->attention.kind && strcmp(a->attention.kind, "linear") == 0;
    if (a->attention.kind) o->kind = linear ? ATTENTION_LINEAR : ATTENTION_SOFTMAX;
    const char *own = a->attention.phi                ? "--phi"
                      : a->attention.phi_key          ? "--phi-key"
                      : a->attention.form             ? "--form"
                      : a->attention.epsilon_given    ? "--epsilon"
                      : a->attention.favor_features   ? "--favor-features"
                      : a->attention.favor_seed_given ? "--favor-seed"
                                                      : NULL;
    if (o->kind == ATTENTION_SOFTMAX && own)
        return usage("%s is for linear attention, and --attention softmax is given", own);
    if (a->attention.phi && !(o->phi = feature_map(a->attention.phi)))
        return usage("--phi: there is no feature map \"%s\"", a->attention.phi);
    if (a->attention.phi_key && !(o->phi_key = feature_map(a->attention.phi_key)))
        return usage("--phi-key: there is no feature map \"%s\"", a->attention.phi_key);
    if (a->attention.form && !(o->form = linear_form(a->attention.form)))
        return usage("--form: there is no form \"%s\"", a->attention.form);
    if (o->form && o->form->cosine && o->phi && strcmp(o->phi->name, "identity") != 0)
        return usage("--form %s takes --phi identity only", a->attention.form);
    if (a->attention.favor_features % 2)
        return usage("--favor-features: %lld is odd; RoPE turns pairs", a->attention.favor_features);
    *seed = (uint64_t)a->attention.favor_seed;
    if (a->attention.epsilon_given) o->epsilon = &a->attention.epsilon;
    if (a->attention.favor_seed_given) o->favor_seed = seed;
    o->favor_features = (int)a->attention.favor_features;
    return 0;
}

/* --arch, --mask, --pooler, whose words are known; mask, pooler are where the values go. */
static void roformer_options(RoformerOverride *o, const Args *a, Mask *mask, Pooler *pooler) {
    int variant = a->roformer.arch ? name_index(roformer_variant_names, a->roformer.arch) : 0;
    if (a->roformer.mask) *mask = (Mask)name_index(mask_names, a->roformer.mask);
    if (a->roformer.pooler) *pooler = (Pooler)name_index(pooler_names, a->roformer.pooler);
    *o = (RoformerOverride){.variant = (RoformerVariant)variant,
                            .mask = a->roformer.mask ? mask : NULL,
                            .pooler = a->roformer.pooler ? pooler : NULL};
}

int tokenizer_options(TokenizerOptions *o, const Args *a) {
    const char *name = NULL;
    size_t i = 0;
    while (a->tokenizer.pre && (name = tokenizer_pre(i)) && strcmp(name, a->tokenizer.pre) != 0) i++;
    if (a->tokenizer.pre && !name)
        return usage(
            "--pre: there is no pre-tokenizer \"%s\"; GGUF's names are known: gpt-2, llama-bpe, qwen2, deepseek-v3 ..",
            a->tokenizer.pre);
    *o = (TokenizerOptions){.jieba = a->tokenizer.jieba,
                            .lower_case = -1,
                            .bert4keras = a->tokenizer.bert4keras,
                            .pre = a->tokenizer.pre,
                            .backend = a->tokenizer.backend};
    return 0;
}

/* What a spec has become, with every number that it left out. */
static void note_rope(const Model *m) {
    char spec[ROPE_SPEC_MOST];
    if (rope_spec_print(&m->config.rope, spec, sizeof spec) == 0) note("rope: %s", spec);
}

int needs_rope(const Engine *e, const char *what) {
    const PositionKind *kind = position_kind_of(e->model.config.positions);
    if (kind->rotates) return 0;
    return fail("%s is of RoPE, and this model has none: its positions are %s", what, kind->name);
}

void note_price(const Engine *e) {
    const RopeConfig *c = &e->model.config.rope;
    int64_t n = rope_numbers(c)->n_ctx_original;
    if ((int64_t)e->session.options.n_ctx <= n || rope_choice(c, n + 1) == rope_choice(c, n + 2)) return;
    note(
        "rope %s: beyond %lld positions every token changes the frequencies, and the whole text is read again for it%s",
        c->scaling->name, (long long)n,
        strcmp(c->scaling->name, "dynamic") == 0 ? "; --rope dynamic-each gives each token its own and reads once"
                                                 : "");
}

static void say_what_was_opened(const Engine *e, const Args *a) {
    for (const Note *n = e->model.weights.notes; n; n = n->next) note("%s", n->line);
    const LinearConfig *linear = &e->model.config.linear;
    if (e->model.config.attention_changed)
        note("attention: %s%s%s%s%s%s%s, which this model was not trained with: expect worse text",
             linear->form ? "linear (" : "softmax", linear->form ? linear->form->name : "", linear->form ? ", " : "",
             linear->form ? linear->phi->name : "", linear->form && linear->phi_key ? ", of keys " : "",
             linear->form && linear->phi_key ? linear->phi_key->name : "", linear->form ? ")" : "");
    if (a->rope.method) note_rope(&e->model);
    if (a->show.verbose) describe(&e->model, e->tokenizer);
}

int engine_open(Engine *e, const Args *a, int want_tokenizer) {
    memset(e, 0, sizeof *e);
    ModelOptions o = {
        .rope = {.spec = a->rope.method, .theta = a->rope.theta, .factor = a->rope.factor,
                 .n_ctx_original = a->rope.n_original, .n_ctx = a->context.n},
        .position_extend = a->rope.extend,
        .task = a->embed.task,
        .loras = a->machine.loras.at,
        .n_loras = a->machine.loras.n,
        .threads = (int)a->machine.threads,
        .progress = on_progress,
        .progress_arg = &e->progress,
        .panels = a->machine.panels,
        .copy = a->machine.no_mmap};
    e->progress = (Progress){.what = "loading", .start = started, .unit = "MB", .each = 1e6};
    uint64_t favor_seed;
    Mask mask;
    Pooler pooler;
    TokenizerOptions to;
    int code = tokenizer_options(&to, a);
    if (code == 0) code = attention_options(&o.attention, a, &favor_seed);
    if (code) return code;
    roformer_options(&o.roformer, a, &mask, &pooler);
    if (a->machine.kernels && !(o.kernels = kernels_find(a->machine.kernels, e->err, sizeof e->err)))
        return usage("--kernels: %s", e->err);
    if (a->rope.method && strstr(a->rope.method, ":factor=") && a->rope.factor > 0)
        return usage("--rope-factor: --rope has a factor of its own");
    int rc = a->rope.method ? rope_spec_check(a->rope.method, e->err, sizeof e->err) : 0;
    if (rc) return option_refused(rc, "--", e->err);
    rc = model_open_memory(&e->model, a->model == compiled_in ? builtin_model : NULL, builtin_model_size, a->model,
                               &o, e->err, sizeof e->err);
    if (rc == 0 && want_tokenizer)
        rc = vocabulary_open(&e->tokenizer, &e->model.weights, a->tokenizer.file, (size_t)e->model.config.vocab_size,
                             &to, e->err, sizeof e->err);
    progress_clear(&e->progress);
    if (rc) {
        int no_model = rc == -ENOENT && a->model != compiled_in && !file_exists(a->model);
        engine_close(e);
        fail("%s%s", e->err, no_model ? "; README.md, \"Where to get a model\", has some" : "");
        return rc == -EINTR ? EXIT_INTERRUPTED : EXIT_FAILED;
    }
    e->load_s = clock_seconds() - started;
    say_what_was_opened(e, a);
    return 0;
}

int state_may_write(const char *path, char *err, size_t errlen) {
    size_t ids;
    int rc = newfile_check(path, err, errlen);
    if (rc || !file_there(path)) return rc;
    rc = session_saved_ids(path, &ids, NULL, err, errlen);
    if (rc == 0 || rc == -EACCES || errno_is_passing(rc)) return rc;
    return base_error(err, errlen, -EEXIST, "%s is there and is not a saved state; it stays as it is", path);
}

/* Before anything is read: will --save-state be able to write? An exit code. */
static int check_save(const Args *a, const Model *m, char *err, size_t errlen) {
    NewFile f;
    if (!a->context.save) return 0;
    if (m->config.mask == MASK_PADDING)
        return fail("--save-state: this model reads texts whole (mask padding), so there is no state to go on from");
    if (newfile_open(&f, a->context.save, err, errlen)) return fail("%s", err);
    newfile_close(&f, 0, err, errlen);
    return state_may_write(a->context.save, err, errlen) ? fail("--save-state: %s", err) : 0;
}

int engine_bos(const Engine *e) {
    int id = tokenizer_bos(e->tokenizer);
    return id >= 0 ? id : e->model.config.bos_id;
}

const char *kv_name(int i) {
    int n = 0;
    while (cache_formats[n].name) n++;
    return i < n ? cache_formats[i].name : i == n ? "auto" : NULL;
}

int cache_option(CacheType *cache, const Args *a, const Model *m) {
    if (a->context.kv && m->config.linear.form)
        return usage("--kv is for softmax attention; linear attention keeps a state and no cache");
    if (a->context.kv && strcmp(a->context.kv, "auto") == 0 && !a->context.load) *cache = session_usual_cache(m);
    if (!a->context.kv || strcmp(a->context.kv, "auto") == 0) return 0;
    int i = 0;
    while (cache_formats[i].name && strcmp(cache_formats[i].name, a->context.kv) != 0) i++;
    if (!cache_formats[i].name)
        return usage("--kv: there is no \"%s\"; f32, f16, q8_0 and auto are known", a->context.kv);
    *cache = (CacheType)i;
    return 0;
}

int engine_session(Engine *e, const Args *a, size_t wanted, size_t n_logits) {
    size_t trained = (size_t)e->model.config.n_ctx_train, saved = 0;
    int linear = e->model.config.linear.form != NULL, endless = linear && e->model.config.mask == MASK_CAUSAL;
    int code = check_save(a, &e->model, e->err, sizeof e->err);
    if (code) return code;
    CacheType cache = a->context.exact ? CACHE_F32 : session_usual_cache(&e->model);
    if (a->context.load && session_saved_ids(a->context.load, &saved, &cache, e->err, sizeof e->err))
        return fail("%s", e->err);
    if ((code = cache_option(&cache, a, &e->model))) return code;
    if (wanted < SIZE_MAX - saved) wanted += saved;
    size_t n_ctx = a->context.n ? (size_t)a->context.n : wanted < trained ? wanted : trained;
    if (a->context.n && endless) note("-c: linear attention has no context to fill, so it ends nothing");
    int stretched = a->rope.method && strcmp(a->rope.method, "none") != 0 && strcmp(a->rope.method, "file") != 0;
    if (n_ctx > trained && !endless && stretched)
        note("context %zu: the %zu positions this model was trained on, stretched by --rope %s", n_ctx, trained,
             a->rope.method);
    else if (n_ctx > trained && !endless)
        note("context %zu goes beyond the %zu positions this model was trained on%s", n_ctx, trained,
             e->model.config.positions ? "" : "; --rope can stretch it");
    e->progress = (Progress){.what = "reading", .start = clock_seconds()};
    SessionOptions o = {.n_ctx = n_ctx ? n_ctx : 1,
                        .threads = (int)a->machine.threads,
                        .chunk = (size_t)a->attention.chunk,
                        .linear = a->attention.chunk ? &linear_texts : NULL,
                        .cache = cache,
                        .shifts = a->context.shift != NULL,
                        .n_logits = n_logits,
                        .attention = e->attention,
                        .progress = on_progress,
                        .progress_arg = &e->progress};
    if (e->model.encoder) o.n_batch = o.n_ctx; /* encoder_read takes a text whole */
    if (a->attention.chunk && !linear) return usage("--chunk is for linear attention; this model's is softmax");
    if (session_init(&e->session, &e->model, &o, e->err, sizeof e->err)) return fail("%s", e->err);
    const char *many = e->session.options.threads == 1 ? "" : "s";
    if (a->show.verbose && endless)
        fprintf(stderr, "  context without end, chunks of %zu, %d thread%s, %.1f MB of memory beside the file\n",
                e->session.options.chunk ? e->session.options.chunk : 1, e->session.options.threads, many,
                (double)(session_bytes(&e->session) + e->model.panels_size) / 1e6);
    else if (a->show.verbose)
        fprintf(stderr, "  context %zu%s%s, %d thread%s, %.1f MB of memory beside the file\n", n_ctx,
                linear ? "" : ", keys and values as ", linear ? "" : cache_formats[cache].name,
                e->session.options.threads, many,
                (double)(session_bytes(&e->session) + e->model.panels_size) / 1e6);
    if (a->context.load && session_load(&e->session, a->context.load, &e->logits, e->err, sizeof e->err))
        return fail("%s", e->err);
    if (a->context.load && a->show.verbose)
        fprintf(stderr, "  state of %zu ids from %s\n", e->session.pos, a->context.load);
    e->n_loaded = e->session.pos;
    return 0;
}

int save_state(Engine *e, const Args *a) {
    if (!a->context.save) return 0;
    if (session_save(&e->session, a->context.save, e->err, sizeof e->err)) return fail("%s", e->err);
    note("state of %zu ids saved to %s", e->session.pos, a->context.save);
    return 0;
}
