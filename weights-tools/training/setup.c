/* weights-tools/training/setup.c - from options to a course. */
#include "setup.h"

#include "attention/maps.h"
#include "base/base.h"
#include "base/hash.h"
#include "base/newfile.h"
#include "base/paths.h"
#include "kernels/rows.h"
#include "model/family.h"
#include "restore.h"
#include "rope/positions.h"
#include "rope/scaling.h"
#include "rope/spec.h"
#include "text/vocabulary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the tokenizer ---- */

/* Each byte an id, behind <unk>, <s> and </s>: a vocabulary that every text has. A space is SentencePiece's U+2581. */
static int open_bytes(Tokenizer **t, char *err, size_t errlen) {
    enum { SPECIAL = 3, N = SPECIAL + 256 };
    static const char *const names[SPECIAL] = {"<unk>", "<s>", "</s>"};
    char room[N][8];
    Piece pieces[N];
    for (int i = 0; i < N; i++) {
        if (i < SPECIAL) snprintf(room[i], sizeof room[i], "%s", names[i]);
        else if (i == SPECIAL + ' ') snprintf(room[i], sizeof room[i], "\xe2\x96\x81");
        else snprintf(room[i], sizeof room[i], "<0x%02X>", (unsigned)(i - SPECIAL));
        pieces[i] = (Piece){room[i], strlen(room[i]), 0,
                            i == 0                 ? PIECE_UNKNOWN
                            : i < SPECIAL          ? PIECE_CONTROL
                            : i == SPECIAL + ' '   ? PIECE_NORMAL
                                                   : PIECE_BYTE};
    }
    Vocabulary v = {.model = "llama", .pieces = pieces, .n = N, .bos_id = 1, .eos_id = 2, .unk_id = 0, .add_bos = 1,
                    .add_eos = 0, .add_space_prefix = 0, .remove_extra_whitespaces = -1};
    return tokenizer_from_vocabulary(t, &v, "bytes", err, errlen);
}

/* The vocabulary of a model's file. */
static int open_of_model(Tokenizer **t, const char *path, char *err, size_t errlen) {
    Weights w;
    Vocabulary v;
    int rc = weights_open(&w, path, err, errlen);
    if (rc) return rc;
    rc = vocabulary_from_weights(&v, &w, err, errlen);
    if (rc == -ENOENT) rc = tokenizer_open(t, w.folder, err, errlen); /* of a folder: beside the weights */
    else if (rc == 0) {
        rc = tokenizer_from_vocabulary(t, &v, path, err, errlen);
        vocabulary_free(&v);
    }
    weights_close(&w);
    return rc;
}

static int open_tokenizer(TrainingSetup *s, char *err, size_t errlen) {
    const TrainingOptions *o = s->options;
    if (s->encodes) return encoder_words(&s->words, &s->tokenizer, o, err, errlen);
    int known = o->tokenizer ? tokenizer_probe(o->tokenizer) : 0;
    if (known < 0) return base_error(err, errlen, known, "%s: %s", o->tokenizer, strerror(-known));
    if (known) return tokenizer_open(&s->tokenizer, o->tokenizer, err, errlen);
    if (o->tokenizer || o->from)
        return open_of_model(&s->tokenizer, o->tokenizer ? o->tokenizer : o->from, err, errlen);
    return open_bytes(&s->tokenizer, err, errlen);
}

/* ---- the texts ---- */

static int read_text(Corpus *c, const TrainingSetup *s, const char *path, char *err, size_t errlen) {
    MappedFile f;
    int rc = file_map(&f, path, err, errlen);
    if (rc) return rc;
    int end = s->encodes ? tokenizer_eos(s->tokenizer) : -1;
    rc = corpus_add(c, s->tokenizer, (const char *)f.data, f.size, s->options->separator, end, err, errlen);
    file_unmap(&f);
    return rc;
}

/* The end of the corpus becomes what is measured on: whole documents where there are several. */
static int hold_out(TrainingSetup *s) {
    Corpus *c = &s->corpus, *held = &s->held;
    size_t keep = c->n - (size_t)(s->options->held_share * (double)c->n), documents = c->n_documents;
    while (documents > 1 && c->starts[documents - 1] >= keep) documents--;
    if (documents < c->n_documents) keep = c->starts[documents];
    if (keep == c->n) return 0;
    held->ids = calloc(c->n - keep, sizeof *held->ids);
    held->starts = calloc(c->n_documents - documents + 1, sizeof *held->starts);
    if (!held->ids || !held->starts) return -ENOMEM;
    memcpy(held->ids, c->ids + keep, (c->n - keep) * sizeof *held->ids);
    held->n = c->n - keep;
    for (size_t d = documents; d < c->n_documents; d++) held->starts[held->n_documents++] = c->starts[d] - keep;
    if (documents == c->n_documents) held->starts[held->n_documents++] = 0; /* one document: its end */
    c->n = keep;
    c->n_documents = documents;
    return 0;
}

static int read_texts(TrainingSetup *s, char *err, size_t errlen) {
    const TrainingOptions *o = s->options;
    int rc = 0;
    for (int i = 0; i < o->n_texts && rc == 0; i++) rc = read_text(&s->corpus, s, o->texts[i], err, errlen);
    if (rc) return rc;
    if (s->corpus.n == 0) return base_error(err, errlen, -EINVAL, "%s: no text in it", o->texts[0]);
    if (o->held) return read_text(&s->held, s, o->held, err, errlen);
    return hold_out(s) ? base_error(err, errlen, -ENOMEM, "out of memory for the texts") : 0;
}

/* "text=1,copy=0.5" */
static int read_mix(TrainingSetup *s, char *err, size_t errlen) {
    const char *at = s->options->mix;
    while (*at) {
        size_t n = strcspn(at, "=");
        int kind = 0;
        char *end;
        while (kind < PIECE_KINDS && (strlen(piece_names[kind]) != n || strncmp(piece_names[kind], at, n) != 0)) kind++;
        double share = at[n] ? strtod(at + n + 1, &end) : -1;
        if (kind == PIECE_KINDS || !(share >= 0 && share <= 1e9) || (*end && *end != ','))
            return base_error(err, errlen, -ENOTSUP,
                              "--mix: \"%s\": text=1,copy=0.5,recall=0.5 is how it is written", at);
        s->plan.shares[kind] = share;
        at = *end ? end + 1 : end;
    }
    return 0;
}

/* ---- the model ---- */

static int refuse(char *err, size_t errlen, const char *why) { return base_error(err, errlen, -EINVAL, "%s", why); }

static int read_attention(Config *c, const TrainingOptions *o, char *err, size_t errlen) {
    LinearConfig *l = &c->linear;
    int linear = name_index(attention_names, o->attention);
    if (linear < 0) return refuse(err, errlen, "--attention: softmax or linear");
    c->window = linear ? 0 : o->window;
    for (int i = 0; i < c->n_layers; i++) c->windowed[i] = c->window > 0;
    if (!linear) return 0;
    l->form = linear_form(o->form ? o->form : "numerator");
    if (!l->form) return base_error(err, errlen, -EINVAL, "--form: there is no form %s", o->form);
    l->phi = o->phi ? feature_map(o->phi) : l->form->usual;
    if (!l->phi) return base_error(err, errlen, -EINVAL, "--phi: there is no map %s", o->phi);
    if (o->phi_key && !(l->phi_key = feature_map(o->phi_key)))
        return base_error(err, errlen, -EINVAL, "--phi-key: there is no map %s", o->phi_key);
    l->head_dim = c->head_dim;
    l->favor_features = o->favor_features;
    l->favor_seed = 1;
    l->epsilon = o->epsilon >= 0 ? o->epsilon : l->phi->projection ? 0 : 1e-6;
    if (o->window) return refuse(err, errlen, "--window: linear attention cannot forget");
    return linear_check(l, err, errlen);
}

/* What the engine reads of a file by model/position_keys.c. */
static int read_kind(TrainingSetup *s, Config *c, char *err, size_t errlen) {
    Positions *p = &s->positions;
    const PositionKind *kind = p->kind = position_kind(s->options->position);
    if (!kind)
        return base_error(err, errlen, -EINVAL, "--position: there is no kind \"%s\"; rope, nope, sinusoidal, learned, "
                          "alibi, t5 and xpos are known", s->options->position);
    if (kind->scaling) c->rope.scaling = rope_scaling(kind->scaling);
    if (kind->bias && c->linear.form)
        return base_error(err, errlen, -EINVAL, "--position %s is a number for each query and key; linear attention "
                          "keeps a sum of keys, which has no place for it", kind->name);
    if (kind->scaling && c->linear.form)
        return base_error(err, errlen, -EINVAL, "--position %s is for softmax attention", kind->name);
    if (kind->rotates) return 0;
    c->rope.scaling = &rope_still;
    c->positions = p;
    p->width = c->d_embed, p->n_heads = c->n_heads, p->n_trained = c->n_ctx_train;
    p->two_sided = c->mask != MASK_CAUSAL;
    for (const PositionNumber *n = kind->numbers; n && n->gguf; n++) {
        char *at = (char *)p + n->at;
        if (n->whole) *(int64_t *)(void *)at = (int64_t)n->usual;
        else *(double *)(void *)at = n->usual;
    }
    return positions_check(p, err, errlen);
}

int heads_rotary_dim(const TrainingOptions *o, const Config *c) { return o->rotary_dim ? o->rotary_dim : c->head_dim; }

static int read_positions(TrainingSetup *s, Config *c, char *err, size_t errlen) {
    const TrainingOptions *o = s->options;
    int half = name_index(rope_pairing_names, o->pairing);
    if (half < 0) return refuse(err, errlen, "--pairing: interleaved or half");
    c->rope = (RopeConfig){
        .scaling = &rope_none, .theta = o->theta, .rotary_dim = heads_rotary_dim(o, c)};
    if (c->linear.form && !c->linear.form->before_phi)
        c->rope.rotary_dim = (int)((int64_t)linear_features_n(&c->linear) * c->rope.rotary_dim / c->head_dim) / 2 * 2;
    if (half) { /* GGUF's architecture says the pairing */
        c->rope.pairing = ROPE_HALF;
        snprintf(c->arch, sizeof c->arch, "qwen2");
    }
    if (heads_rotary_dim(o, c) > c->head_dim) return refuse(err, errlen, "--rotary-dim: a head has fewer entries");
    if (c->rope.rotary_dim % 2)
        return refuse(err, errlen, "RoPE rotates pairs: --head-dim or --rotary-dim must be even");
    int rc = read_kind(s, c, err, errlen);
    if (rc) return rc;
    if (o->train_frequencies && (c->linear.form || !s->positions.kind->rotates))
        return refuse(err, errlen, "--train-frequencies is for softmax attention with RoPE");
    if (o->log_n && c->linear.form)
        return refuse(err, errlen, "--log-n is for softmax; linear attention divides by its own sum");
    c->log_scale = o->log_n ? o->context : 0;
    return rope_check(&c->rope, err, errlen);
}

static int read_model(TrainingSetup *s, Config *c, char *err, size_t errlen) {
    const TrainingOptions *o = s->options;
    int kv = o->kv_heads ? o->kv_heads : o->heads, head = o->head_dim ? o->head_dim : o->d_model / o->heads;
    *c = (Config){.family = &family_llama, .arch = "llama", .d_model = o->d_model, .d_embed = o->d_model,
                  .d_ff = o->d_ff ? o->d_ff : (o->d_model * 8 / 3 + 31) / 32 * 32, .n_layers = o->layers,
                  .n_heads = o->heads, .n_kv_heads = kv, .head_dim = head, .value_dim = head,
                  .vocab_size = (int)tokenizer_size(s->tokenizer), .n_ctx_train = o->context, .norm_eps = 1e-5f,
                  .mask = MASK_CAUSAL, .own_head = o->own_head, .bos_id = tokenizer_bos(s->tokenizer)};
    c->ff_rows = c->d_ff;
    if (o->heads % kv) return refuse(err, errlen, "--kv-heads must divide --heads");
    if (!o->head_dim && o->d_model % o->heads)
        return refuse(err, errlen, "--heads must divide --d-model, or --head-dim be given");
    int rc = s->encodes ? encoder_model(c, o, err, errlen) : 0;
    if (rc == 0) rc = read_attention(c, o, err, errlen);
    return rc ? rc : read_positions(s, c, err, errlen);
}

/* ---- all of it ---- */

static void set_course(TrainingSetup *s) {
    const TrainingOptions *o = s->options;
    s->plan.corpus = &s->corpus;
    s->plan.tokenizer = s->tokenizer;
    s->plan.seed = (uint64_t)o->seed;
    s->plan.by_document = o->documents;
    s->plan.bos = tokenizer_bos(s->tokenizer);
    s->plan.vocab_size = (int)tokenizer_size(s->tokenizer);
    s->course = (Course){.plan = &s->plan, .held = s->held.n ? &s->held : NULL, .bos = s->plan.bos,
                         .steps = (uint64_t)o->steps, .warmup = (uint64_t)o->warmup, .rate = o->rate, .least = o->least,
                         .adamw = {o->beta1, o->beta2, adamw_usual.eps, o->decay, o->clip},
                         .held_every = (uint64_t)o->held_every, .save_seconds = o->save_every};
}

static int set_trainee(TrainingSetup *s, char *err, size_t errlen) {
    const TrainingOptions *o = s->options;
    char why[200];
    const Kernels *kernels = o->kernels ? kernels_find(o->kernels, why, sizeof why) : kernels_best();
    BatchShape shape = {(size_t)o->batch, (size_t)o->context};
    Config c;
    if (!kernels) return base_error(err, errlen, -ENOTSUP, "--kernels: %s", why);
    int rc = s->encodes ? encoder_masks(&s->plan.masks, &s->words, o, err, errlen) : 0;
    if (rc) return rc;
    rc = read_model(s, &c, err, errlen);
    if (rc == 0) rc = batch_check(&s->plan, &shape, err, errlen);
    if (rc == 0) rc = trainee_init(&s->trainee, &c, o->train_frequencies, &shape, kernels, o->threads, err, errlen);
    if (rc) return rc == -EINVAL ? -ENOTSUP : rc;
    params_begin(&s->trainee.params, (uint64_t)o->seed, c.n_layers);
    return 0;
}

static int name_checkpoint(TrainingSetup *s) {
    const char *out = s->options->out;
    size_t n = strlen(out), stem = n > 5 && strcmp(out + n - 5, ".gguf") == 0 ? n - 5 : n, room = stem + 17;
    s->checkpoint = malloc(room);
    if (!s->checkpoint) return -ENOMEM;
    snprintf(s->checkpoint, room, "%.*s.checkpoint.gguf", (int)stem, out);
    return 0;
}

static int note_settings(TrainingSetup *s) {
    uint64_t ids = hash_bytes(HASH_START, s->corpus.ids, s->corpus.n * sizeof *s->corpus.ids);
    ids = hash_bytes(ids, s->held.ids, s->held.n * sizeof *s->held.ids);
    s->settings = training_settings(s->options, ids);
    return s->settings ? 0 : -ENOMEM;
}

/* What stands where the run would write: nothing is lost by a word that was forgotten. */
static int check_place(const TrainingSetup *s, char *err, size_t errlen) {
    const TrainingOptions *o = s->options;
    char *folder = file_folder(o->out);
    if (!folder) return base_error(err, errlen, -ENOMEM, "out of memory");
    int writable = access(folder, W_OK) == 0, there = file_exists(s->checkpoint);
    free(folder);
    if (!writable) return base_error(err, errlen, -EACCES, "%s: no file can be written there", o->out);
    int rc = newfile_check(o->out, err, errlen); /* now, and not when all is learned */
    if (rc) return rc;
    if (o->resume && !there && file_exists(o->out))
        return base_error(err, errlen, -ENOENT, "nothing to resume: %s is finished; --from goes on from it", o->out);
    if (there && !o->resume && !o->force)
        return base_error(err, errlen, -EEXIST, "%s is there, of a run that was stopped: --resume goes on with it, "
                          "--force begins anew", s->checkpoint);
    return 0;
}

int setup_init(TrainingSetup *s, const TrainingOptions *o, char *err, size_t errlen) {
    int family = name_index(training_families, o->family);
    *s = (TrainingSetup){.options = o, .encodes = family == 1};
    if (family < 0) return base_error(err, errlen, -ENOTSUP, "--family: llama or roformer");
    int rc = read_mix(s, err, errlen);
    if (rc == 0 && name_checkpoint(s)) rc = base_error(err, errlen, -ENOMEM, "out of memory");
    if (rc == 0) rc = check_place(s, err, errlen);
    if (rc == 0) rc = open_tokenizer(s, err, errlen);
    if (rc == 0) rc = read_texts(s, err, errlen);
    if (rc == 0 && note_settings(s)) rc = base_error(err, errlen, -ENOMEM, "out of memory");
    if (rc == 0) {
        set_course(s);
        rc = set_trainee(s, err, errlen);
    }
    if (rc == 0) rc = setup_check(s, err, errlen);
    if (rc == 0 && o->from) rc = restore_model(&s->trainee, o->from, err, errlen);
    if (rc == 0 && o->resume) rc = restore_checkpoint(&s->trainee, s->checkpoint, s->settings, &s->from, err, errlen);
    if (rc == 0 && s->from > (uint64_t)o->steps)
        rc = base_error(err, errlen, -EINVAL, "%s: key train.step: is beyond --steps", s->checkpoint);
    if (rc) setup_free(s);
    return rc;
}

void setup_free(TrainingSetup *s) {
    trainee_free(&s->trainee);
    corpus_free(&s->corpus);
    corpus_free(&s->held);
    tokenizer_free(s->tokenizer);
    free(s->settings);
    encoder_words_free(&s->words);
    free(s->checkpoint);
    *s = (TrainingSetup){0};
}
