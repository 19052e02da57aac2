/* tests/delays/jobs.c - what threads do together, each kind of it: see delays.h. */
#include "delays.h"

#include "base/base.h"
#include "base/hash.h"
#include "kernels/rows.h"
#include "model/encoder.h"
#include "model/entropy.h"
#include "model/layers/layers.h"
#include "model/matrices.h"
#include "model/options.h"
#include "model/probe.h"
#include "model/roformer.h"
#include "model/several.h"
#include "tests/build.h"
#include "text/ahead.h"
#include "train/adamw.h"
#include "train/rng.h"
#include "weights-tools/mixture.h"
#include "weights-tools/model_write.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N_CTX = 64, PROMPT = 40, GUESSES = 4, TEXTS = 3 };

static char err[400];

static void must(int rc, const char *what) {
    if (rc) job_fails(what, err);
}

/* ---- draws, and the hash of what comes of them ---- */

typedef struct { uint64_t seed, hash; } Lot;

static size_t below(Lot *l, size_t n) { return hash_mix(l->seed += 0x9e3779b97f4a7c15u) % n; }

static void add(Lot *l, const void *data, size_t n) { l->hash = hash_bytes(l->hash, data, n); }

static void add_logits(Lot *l, const Model *m, const float *logits) {
    add(l, logits, (size_t)m->config.vocab_size * sizeof *logits);
}

static void draw_ids(Lot *l, const Model *m, int *ids, size_t n) {
    for (size_t i = 0; i < n; i++) ids[i] = (int)below(l, (size_t)m->config.vocab_size);
}

static size_t argmax(const float *x, size_t n) {
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (x[i] > x[best]) best = i;
    return best;
}

/* ---- models and sessions ---- */

static void open_model(Model *m, const Job *j, int threads) {
    int dynamic = j->spec && strncmp(j->spec, "dyn", 3) == 0; /* its border is to be within the text */
    ModelOptions o = {.threads = threads, .rope = {.spec = j->spec, .n_ctx_original = dynamic ? 20 : 0}};
    if (j->linear) o.attention.kind = ATTENTION_LINEAR;
    const char *path = *j->path ? j->path : "built in";
    if (*j->path) must(model_open(m, path, &o, err, sizeof err), path);
    else must(model_open_memory(m, builtin_model, builtin_model_size, path, &o, err, sizeof err), path);
}

/* grain: threads have work with small models, too; as many in each run, or more for longer ones. */
static SessionOptions some_options(Lot *l, const Job *j, int threads) {
    static const size_t batches[] = {3, 8, N_CTX};
    size_t grain = below(l, 3) ? 1 : 20000;
    return (SessionOptions){.n_ctx = N_CTX, .threads = threads, .n_batch = batches[below(l, 3)], .n_logits = 3,
                            .grain = *j->path ? grain : 100 * grain, .cache = (CacheType)j->cache};
}

static void add_row(void *arg, size_t i, const float *logits) {
    Session *s = ((void **)arg)[0];
    (void)i;
    add_logits(((void **)arg)[1], s->model, logits);
}

/* A prompt with the logits of each id, then ids one by one, then back, and on from there. */
static void read_text(Lot *l, Session *s) {
    int ids[PROMPT];
    size_t n = 1 + below(l, 12);
    const float *logits;
    draw_ids(l, s->model, ids, PROMPT);
    must(session_eval_each(s, ids, n, add_row, (void *[]){s, l}, err, sizeof err), "session_eval_each");
    for (size_t i = n; i < n + 3; i++) {
        must(session_eval(s, &ids[i], 1, &logits, err, sizeof err), "session_eval");
        add_logits(l, s->model, logits);
    }
    if (session_rewind(s, n / 2)) must(session_rewind(s, 0), "session_rewind");
    must(session_eval(s, ids, 7, &logits, err, sizeof err), "session_eval");
    add_logits(l, s->model, logits);
}

static uint64_t reading(const Job *j, uint64_t seed, int threads) {
    Lot l = {seed, HASH_START};
    Model m;
    Session s;
    open_model(&m, j, threads);
    SessionOptions o = some_options(&l, j, threads);
    must(session_init(&s, &m, &o, err, sizeof err), m.weights.path);
    read_text(&l, &s);
    session_free(&s), model_close(&m);
    return l.hash;
}

/* ---- guesses: drawn by chance, and now and then what the text goes on with ---- */

static size_t guess(void *arg, const Sampler *sampler, const int *ids, size_t n, int *guesses, size_t most, int *kind) {
    Lot *l = arg;
    (void)sampler;
    for (size_t i = 0; i < most; i++) guesses[i] = ids[n - 1 - below(l, n)];
    *kind = 0;
    return most;
}

static uint64_t guessing(const Job *j, uint64_t seed, int threads) {
    Lot l = {seed, HASH_START}, guesses = {seed + 1, 0};
    Model m;
    Session s;
    Ahead a;
    int ids[N_CTX];
    const float *logits;
    size_t n = 1 + below(&l, 12);
    open_model(&m, j, threads);
    SessionOptions o = some_options(&l, j, threads);
    o.n_logits = GUESSES + 1;
    must(session_init(&s, &m, &o, err, sizeof err), m.weights.path);
    draw_ids(&l, &m, ids, n);
    must(session_eval(&s, ids, n, &logits, err, sizeof err), "session_eval");
    must(ahead_init(&a, &s, (Draft){.guess = guess, .arg = &guesses}, GUESSES, err, sizeof err), "ahead_init");
    a.always = 1;
    for (size_t end = n + 8; n < end;) {
        ids[n++] = (int)(argmax(logits, (size_t)m.config.vocab_size) % 7 + 3); /* few: some guesses hold */
        must(ahead_read(&a, NULL, ids, n, end - n, &logits, err, sizeof err), "ahead_read");
        add_logits(&l, &m, logits);
    }
    must(ahead_settle(&a, err, sizeof err), "ahead_settle");
    add_logits(&l, &m, s.logits);
    ahead_free(&a), session_free(&s), model_close(&m);
    return l.hash;
}

/* ---- texts that share a read ---- */

static void add_step(Lot *l, Several *v, const Model *m) {
    size_t texts[TEXTS], n = 0;
    int ids[TEXTS];
    for (size_t i = 0; i < TEXTS; i++)
        if (below(l, 4)) texts[n] = i, draw_ids(l, m, &ids[n++], 1);
    if (n == 0) return;
    must(several_eval(v, texts, ids, n, err, sizeof err), "several_eval");
    for (size_t k = 0; k < n; k++) add_logits(l, m, several_logits(v, k));
}

static void read_texts(Lot *l, const Job *j, const Model *m, int threads) {
    Several v;
    SessionOptions o = some_options(l, j, threads);
    must(several_init(&v, m, &o, TEXTS, err, sizeof err), m->weights.path);
    for (int round = 0; round < 2; round++) {
        int ids[8];
        size_t at = below(l, TEXTS), n = 1 + below(l, 8);
        draw_ids(l, m, ids, n);
        must(session_rewind(&v.sessions[at], 0), "session_rewind");
        must(session_eval(&v.sessions[at], ids, n, NULL, err, sizeof err), "session_eval");
        for (int i = 0; i < 3; i++) add_step(l, &v, m);
    }
    several_free(&v);
}

static uint64_t sharing(const Job *j, uint64_t seed, int threads) {
    Lot l = {seed, HASH_START};
    Model m;
    open_model(&m, j, threads);
    read_texts(&l, j, &m, threads);
    model_close(&m);
    return l.hash;
}

/* ---- several callers: threads of the program's own, each with sessions and their team, on one model ---- */

typedef struct {
    Lot l;
    const Job *j;
    const Model *m;
    int threads;
} Caller;

static void *call(void *arg) {
    Caller *c = arg;
    Session s;
    SessionOptions o = some_options(&c->l, c->j, c->threads);
    must(session_init(&s, c->m, &o, err, sizeof err), "session_init");
    read_text(&c->l, &s);
    session_free(&s);
    read_texts(&c->l, c->j, c->m, c->threads);
    return NULL;
}

static uint64_t calling(const Job *j, uint64_t seed, int threads) {
    Lot l = {seed, HASH_START};
    Model m;
    Caller callers[TEXTS];
    pthread_t thread[TEXTS];
    open_model(&m, j, threads);
    for (size_t i = 0; i < TEXTS; i++) {
        callers[i] = (Caller){{seed + i, HASH_START}, j, &m, threads};
        must(pthread_create(&thread[i], NULL, call, &callers[i]), "pthread_create");
    }
    for (size_t i = 0; i < TEXTS; i++) {
        pthread_join(thread[i], NULL);
        add(&l, &callers[i].l.hash, sizeof l.hash);
    }
    model_close(&m);
    return l.hash;
}

/* ---- a window into attention, and its entropy ---- */

static void see(void *arg, const Session *s, int layer, size_t n) {
    const Config *c = &s->model->config;
    (void)layer;
    add(arg, s->scratch->att, n * (size_t)c->n_heads * (size_t)c->value_dim * sizeof(float));
    add(arg, s->scratch->q, n * (size_t)c->n_heads * (size_t)c->head_dim * sizeof(float));
}

static uint64_t looking(const Job *j, uint64_t seed, int threads) {
    Lot l = {seed, HASH_START};
    Model m;
    Session s;
    Probe probe;
    EntropyMeter meter;
    open_model(&m, j, threads);
    SessionOptions o = some_options(&l, j, threads);
    probe_init(&probe, &l, see, NULL);
    o.attention = &probe.attention;
    must(session_init(&s, &m, &o, err, sizeof err), m.weights.path);
    read_text(&l, &s);
    session_free(&s);
    if (!j->linear) {
        entropy_meter(&meter);
        o.attention = &meter.attention;
        must(session_init(&s, &m, &o, err, sizeof err), m.weights.path);
        read_text(&l, &s);
        add(&l, &meter.sum, sizeof meter.sum);
        session_free(&s);
    }
    model_close(&m);
    return l.hash;
}

/* ---- encoders ---- */

static void add_token(Lot *l, Session *s, size_t t) {
    const Config *c = &s->model->config;
    add(l, encoder_hidden(s, t), (size_t)c->d_model * sizeof(float));
    if (s->model->has_logits) add_logits(l, s->model, encoder_logits(s, t));
}

static uint64_t encoding(const Job *j, uint64_t seed, int threads) {
    Lot l = {seed, HASH_START};
    Model m;
    Session s;
    int ids[TEXTS][12];
    EncoderText texts[TEXTS];
    float out[1024];
    open_model(&m, j, threads);
    SessionOptions o = some_options(&l, j, threads);
    o.n_batch = N_CTX;
    must(session_init(&s, &m, &o, err, sizeof err), m.weights.path);
    for (int i = 0; i < TEXTS; i++) {
        texts[i] = (EncoderText){.ids = ids[i], .n = 1 + below(&l, 12)};
        draw_ids(&l, &m, ids[i], texts[i].n);
    }
    must(encoder_read(&s, texts, TEXTS, err, sizeof err), m.weights.path);
    for (size_t i = 0, t = 0; i < TEXTS; t += texts[i++].n) {
        const RoformerConfig *r = &m.config.roformer;
        for (size_t k = 0; k < texts[i].n; k++) add_token(&l, &s, t + k);
        encoder_mean(&s, t, texts[i].n, out);
        add(&l, out, (size_t)m.config.d_model * sizeof *out);
        if (m.encoder && r->pooler) encoder_pool(&s, t, out), add(&l, out, (size_t)m.config.d_model * sizeof *out);
        if (m.encoder && r->classifier)
            encoder_classify(&s, t, texts[i].n, out), add(&l, out, (size_t)r->n_labels * sizeof *out);
    }
    session_free(&s), model_close(&m);
    return l.hash;
}

/* ---- training ---- */

static uint64_t training(const Job *j, uint64_t seed, int threads) {
    static const KindSizes sizes = {.vocab = 50, .d = 20, .d_ff = 28, .texts = 2, .length = 20};
    enum { N = 40 };
    Lot l = {seed, HASH_START};
    Positions p = {0};
    Trainee t;
    int ids[N], targets[N];
    must(kind_begin(&t, j->kind, &sizes, &p, kernels_best(), threads), j->kind->name);
    params_begin(&t.params, seed, t.config.n_layers);
    for (int step = 1; step <= 2; step++) {
        for (int i = 0; i < N; i++) ids[i] = (int)below(&l, 50), targets[i] = (int)below(&l, 50);
        double loss = trainee_loss(&t, ids, targets, 1);
        adamw_step(&t.work, &t.params, &adamw_usual, 1e-2, (uint64_t)step);
        add(&l, &loss, sizeof loss);
    }
    add(&l, t.params.memory, t.params.floats * sizeof *t.params.memory);
    trainee_free(&t);
    return l.hash;
}

/* ---- weights: read, laid out, kept in a file, quantized ---- */

static void add_matrices(Lot *l, const Job *j, const ModelOptions *o) {
    Model m;
    MatrixEntry e;
    must(model_open(&m, j->path, o, err, sizeof err), j->path);
    for (size_t i = 0; model_matrix(&m, i, &e); i++) add(l, e.matrix->data, matrix_bytes(e.matrix));
    model_close(&m);
}

static void temporary(char *path, size_t n, const char *end) {
    snprintf(path, n, "/tmp/roformer-delays-%ld.%s", (long)getpid(), end);
}

static uint64_t opening(const Job *j, uint64_t seed, int threads) {
    Lot l = {seed, HASH_START};
    char kept[100];
    temporary(kept, sizeof kept, "panels");
    unlink(kept);
    ModelOptions o = {.threads = threads, .copy = 1, .panels = kept};
    add_matrices(&l, j, &o); /* laid out, and written */
    add_matrices(&l, j, &o); /* mapped, and its sum checked */
    unlink(kept);
    return l.hash;
}

static uint64_t quantizing(const Job *j, uint64_t seed, int threads) {
    Lot l = {seed, HASH_START};
    const Report r = {0};
    const SourceWish wish = {0};
    const Mixture *m = mixture_find(j->spec);
    char path[100];
    Source s;
    NewFile f;
    size_t n = 0;
    temporary(path, sizeof path, "gguf");
    must(source_open(&s, j->path, &wish, &r, err, sizeof err), j->path);
    mixture_apply(m, &s, &r);
    source_file_type(&s, m->file_type);
    must(newfile_open(&f, path, err, sizeof err), path);
    must(model_write(&f, &s, threads, &r, err, sizeof err), path);
    must(newfile_close(&f, 1, err, sizeof err), path);
    source_close(&s);
    char *bytes = file_read(path, &n);
    add(&l, bytes, n);
    free(bytes);
    unlink(path);
    return l.hash;
}

/* ---- the list ---- */

typedef struct { Job *jobs; size_t n, cap; } List;

static void put(List *to, Job j) {
    if (array_reserve(&to->jobs, &to->cap, to->n + 1, sizeof j)) exit(1);
    to->jobs[to->n++] = j;
}

/* What can be done with a model: found out by opening it. */
static void put_model(List *to, const char *path) {
    Job j = {.name = "encode"};
    Model m;
    snprintf(j.path, sizeof j.path, "%s", path);
    open_model(&m, &j, 1);
    if (m.encoder || m.config.mask != MASK_CAUSAL) {
        j.run = encoding, put(to, j);
    } else {
        j.name = "read", j.run = reading, put(to, j);
        j.name = "guess", j.run = guessing, put(to, j);
        if (!m.config.decoder || !m.config.decoder->n_states) j.name = "share", j.run = sharing, put(to, j);
    }
    model_close(&m);
}

static void put_built_in(List *to) {
    static const char *const specs[] = {"dynamic", "yarn:factor=4", "rerope:window=16", "self-extend:group=4:window=16",
                                        "sinks:window=16", "infllm:local=32:block=8:top=2", "power", "log-n"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        put(to, (Job){.name = "read", .run = reading, .spec = specs[i]});
        put(to, (Job){.name = "share", .run = sharing, .spec = specs[i]});
    }
    for (int cache = CACHE_F32; cache <= CACHE_Q8_0; cache++) {
        put(to, (Job){.name = "read", .run = reading, .cache = cache});
        put(to, (Job){.name = "guess", .run = guessing, .cache = cache});
        put(to, (Job){.name = "share", .run = sharing, .cache = cache});
    }
    for (int linear = 0; linear < 2; linear++) {
        put(to, (Job){.name = "call", .run = calling, .linear = linear});
        put(to, (Job){.name = "look", .run = looking, .linear = linear});
    }
    put(to, (Job){.name = "guess", .run = guessing, .linear = 1});
    put(to, (Job){.name = "share", .run = sharing, .linear = 1});
}

static void put_training(List *to) {
    static const Kind kinds[] = {
        {.name = "rope"}, {.name = "grouped", .kv_heads = 1, .half = 1}, {.name = "window", .window = 8},
        {.name = "frequencies", .learns_frequencies = 1}, {.name = "learned", .position = "learned"},
        {.name = "alibi", .position = "alibi"}, {.name = "t5", .position = "t5"}, {.name = "xpos", .position = "xpos"},
        {.name = "eq. 19", .form = "numerator"}, {.name = "both", .form = "both"}, {.name = "cosine", .form = "cosine"},
        {.name = "favor+", .form = "numerator", .phi = "favor+"}, {.name = "encoder", .encodes = 1},
        {.name = "encoder, t5", .position = "t5", .encodes = 1},
        {.name = "encoder, eq. 19", .form = "numerator", .encodes = 1}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        put(to, (Job){.name = "train", .run = training, .kind = &kinds[i]});
}

static void put_files(List *to, const char *folder) {
    static const char *const types[] = {"Q8_0", "Q4_0", "F16", "Q4_K_M"};
    Job j = {.name = "quantize", .run = quantizing};
    snprintf(j.path, sizeof j.path, "%s/f32.gguf", folder);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) j.spec = types[i], put(to, j);
    j = (Job){.name = "open", .run = opening};
    snprintf(j.path, sizeof j.path, "%s/wide/q8_0.gguf", folder);
    put(to, j);
    snprintf(j.path, sizeof j.path, "%s/wide/f32.gguf", folder);
    put(to, j);
}

size_t jobs_of(const char *folder, Job **jobs) {
    List all = {NULL, 0, 0};
    struct dirent **names;
    int n = scandir(folder, &names, NULL, alphasort);
    put_built_in(&all);
    put_training(&all);
    put_files(&all, folder);
    for (int i = 0; i < n; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (names[i]->d_name[0] != '.' && strcmp(names[i]->d_name, "wide") != 0) put_model(&all, path);
        free(names[i]);
    }
    if (n > 0) free(names);
    *jobs = all.jobs;
    return all.n;
}
