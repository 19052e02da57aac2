/* tests/test_encoder.c - what encoder.h and session.h promise of a RoFormer: a text's bits do not depend on what is
 * read beside it, on threads or batches, or on how its ids came in; and what is refused, with which line. Models:
 * roformer_files.h. */
#include "kernels/rows.h"
#include "model/options.h"
#include "model/roformer_kinds.h"
#include "model/state.h"
#include "roformer_files.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 100, WIDTH = 32, VOCAB = 61 }; /* tokens of all short texts together; an output's */

static Golden golden;
static const BuildShape decoder = {.d = 32, .ff = 32, .layers = 1, .heads = 2, .kv_heads = 2, .n_ctx = 32,
                                   .phi = "elu+1", .form = "numerator"};

/* ---- the bits of all tokens ---- */

typedef struct {
    size_t n;
    float hidden[MOST][WIDTH], logits[MOST][VOCAB];
} Bits;

static int open_model(Model *m, const char *path, const ModelOptions *o) {
    char err[400] = "";
    int rc = model_open(m, path, o, err, sizeof err);
    if (rc) roformer_fail(path, "model_open:", err);
    return rc == 0;
}

static int open_session(Session *s, const Model *m, SessionOptions o) {
    char err[400] = "";
    o.n_ctx = o.n_ctx ? o.n_ctx : MOST;
    if (!o.n_batch) o.n_batch = o.n_ctx;
    int rc = session_init(s, m, &o, err, sizeof err);
    if (rc) roformer_fail(m->weights.path, "session_init:", err);
    return rc == 0;
}

static void add_token(Bits *b, Session *s, size_t t) {
    memcpy(b->hidden[b->n], encoder_hidden(s, t), (size_t)s->model->config.d_model * sizeof(float));
    if (s->model->has_logits) memcpy(b->logits[b->n], encoder_logits(s, t), VOCAB * sizeof(float));
    b->n++;
}

/* Reads texts in one call and appends every token's bits. */
static void read_texts(Bits *b, Session *s, const EncoderText *texts, size_t n_texts) {
    char err[400] = "";
    size_t n = 0;
    for (size_t i = 0; i < n_texts; i++) n += texts[i].n;
    if (b->n + n > MOST) abort();
    if (encoder_read(s, texts, n_texts, err, sizeof err)) roformer_fail("encoder_read", err, "");
    else for (size_t t = 0; t < n; t++) add_token(b, s, t);
}

static int same(const Bits *a, const Bits *b) { return a->n == b->n && memcmp(a, b, sizeof *a) == 0; }

/* The golden's short texts. */
static size_t short_texts(EncoderText out[GOLDEN_TEXTS]) {
    size_t n = 0;
    for (size_t i = 0; i < golden.n_texts; i++)
        if (golden.texts[i].n <= 30) out[n++] = golden_text(&golden, i);
    return n;
}

static const char *const kinds[] = {"mlm", "rotary", "causal", "unilm", "sim", "v2", "v2_unilm", "gau", "gau_causal",
                                    "gau_unilm",
                                    "linear", "linear_both", "linear_causal", "linear_unilm", NULL};

/* Each text alone; all in one call, in either order; with 1, 2 and 3 threads. */
static void company(const char *name, const Kernels *kernels) {
    static Bits alone, together;
    EncoderText texts[GOLDEN_TEXTS], back[GOLDEN_TEXTS];
    Model m;
    Session s;
    size_t n = short_texts(texts), at[GOLDEN_TEXTS + 1] = {0};
    if (!open_model(&m, roformer_folder(name, TENSOR_F32, NULL), &(ModelOptions){.kernels = kernels})) return;
    memset(&alone, 0, sizeof alone);
    for (size_t i = 0; i < n; i++) back[n - 1 - i] = texts[i], at[i + 1] = at[i] + texts[i].n;
    if (open_session(&s, &m, (SessionOptions){.threads = 1}))
        for (size_t i = 0; i < n; i++) read_texts(&alone, &s, &texts[i], 1);
    session_free(&s);
    for (int threads = 1; threads <= 3; threads++) {
        if (!open_session(&s, &m, (SessionOptions){.threads = threads, .grain = 1})) continue;
        memset(&together, 0, sizeof together);
        read_texts(&together, &s, texts, n);
        if (!same(&alone, &together))
            roformer_fail(name, "a text's bits depend on the texts behind it, or on threads; kernels", kernels->name);
        memset(&together, 0, sizeof together);
        read_texts(&together, &s, back, n);
        for (size_t i = 0, from = 0; i < n; from += back[i++].n)
            if (memcmp(together.hidden[from], alone.hidden[at[n - 1 - i]], back[i].n * sizeof *alone.hidden) != 0)
                roformer_fail(name, "a text's bits depend on the texts in front of it; kernels", kernels->name);
        session_free(&s);
    }
    model_close(&m);
}

static void test_company(void) {
    for (const char *const *name = kinds; *name; name++) {
        const Kernels *k;
        if (!golden_read(&golden, *name)) continue;
        for (int row = 0; (k = kernels_row(row)); row++) company(*name, k);
    }
}

/* ---- padding and types ---- */

/* Rows of `a` from token `from` on, n of them, are those of b. */
static int same_rows(const Bits *a, size_t from, const Bits *b, size_t to, size_t n) {
    return memcmp(a->hidden[from], b->hidden[to], n * sizeof *a->hidden) == 0 &&
           memcmp(a->logits[from], b->logits[to], n * sizeof *a->logits) == 0;
}

static void padding(const char *name) {
    static Bits padded, bare, other;
    static const int types[14] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1}, none[14] = {0};
    static const uint8_t tail[14] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                         holes[14] = {0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1};
    int ids[14], changed[14];
    Model m;
    Session s;
    for (int i = 0; i < 14; i++) ids[i] = 3 + i * 4, changed[i] = holes[i] ? ids[i] : 60 - i;
    if (!open_model(&m, roformer_folder(name, TENSOR_F32, NULL), NULL)) return;
    if (open_session(&s, &m, (SessionOptions){.threads = 2, .grain = 1})) {
        memset(&padded, 0, sizeof padded);
        memset(&bare, 0, sizeof bare);
        memset(&other, 0, sizeof other);
        read_texts(&padded, &s, &(EncoderText){.ids = ids, .types = types, .keep = tail, .n = 14}, 1);
        read_texts(&bare, &s, &(EncoderText){.ids = ids, .types = types, .n = 10}, 1);
        if (!same_rows(&padded, 0, &bare, 0, 10)) roformer_fail(name, "padding changes a text's bits", "");
        read_texts(&padded, &s, &(EncoderText){.ids = ids, .keep = holes, .n = 14}, 1);
        read_texts(&other, &s, &(EncoderText){.ids = changed, .types = none, .keep = holes, .n = 14}, 1);
        for (size_t t = 0; t < 14; t++) {
            if (holes[t] && !same_rows(&padded, 14 + t, &other, t, 1))
                roformer_fail(name, "a padding token is seen", "");
            /* even what sees nothing is a number */
            for (size_t i = 0; i < WIDTH; i++) CHECK(isfinite(padded.hidden[14 + t][i]));
        }
        read_texts(&bare, &s, &(EncoderText){.ids = ids, .n = 10}, 1);
        double moved = 0; /* by the types of the last four */
        for (size_t i = 0; i < WIDTH; i++) {
            double by = fabs((double)(bare.hidden[9][i] - bare.hidden[19][i]));
            moved = by > moved ? by : moved; /* with fmax gcc 12 for arm64 stops: "internal compiler error" */
        }
        CHECK(moved > 1e-2);
    }
    session_free(&s);
    model_close(&m);
}

static void test_padding(void) {
    for (const char *const *name = kinds; *name; name++) padding(*name);
}

/* ---- causal and UniLM: read whole, or on and on ---- */

typedef struct {
    Bits *bits;
    size_t from;
} Each;

static void keep_logits(void *arg, size_t i, const float *logits) {
    Each *e = arg;
    memcpy(e->bits->logits[e->from + i], logits, VOCAB * sizeof *logits);
}

/* The logits after each id from `from` on, handed over in calls of `step` ids. */
static void eval_rest(Bits *b, Session *s, const int *ids, size_t from, size_t n, size_t step) {
    char err[400] = "";
    for (size_t at = from; at < n; at += step) {
        size_t k = n - at < step ? n - at : step;
        if (session_eval_each(s, ids + at, k, keep_logits, &(Each){.bits = b, .from = at}, err, sizeof err)) {
            roformer_fail("session_eval_each", err, "");
            return;
        }
    }
}

/* After `source` tokens by encoder_read (0: none), the others by session_eval: the bits of one encoder_read. */
static void onward(const char *name, const Kernels *kernels, const EncoderText *text, size_t source) {
    static Bits whole, parts;
    static const size_t steps[] = {MOST, 5, 1};
    static const SessionOptions ways[] = {
        {.threads = 1}, {.threads = 3, .grain = 1}, {.threads = 2, .grain = 1, .n_batch = 7},
        {.threads = 1, .n_logits = 4}};
    Model m;
    Session s;
    if (!open_model(&m, roformer_folder(name, TENSOR_F32, NULL), &(ModelOptions){.kernels = kernels})) return;
    memset(&whole, 0, sizeof whole);
    if (open_session(&s, &m, ways[0])) read_texts(&whole, &s, text, 1);
    session_free(&s);
    for (size_t way = 0; way < 4; way++)
        for (size_t step = 0; step < 3; step++) {
            if (source > 7 && m.config.mask == MASK_CAUSAL && ways[way].n_batch) continue; /* does not fit the batch */
            if (!open_session(&s, &m, ways[way])) continue;
            memset(&parts, 0, sizeof parts);
            if (source) read_texts(&parts, &s, &(EncoderText){.ids = text->ids, .types = text->types, .n = source}, 1);
            eval_rest(&parts, &s, text->ids, source, text->n, steps[step]);
            CHECK(s.pos == text->n);
            if (memcmp(whole.logits, parts.logits, sizeof whole.logits) != 0)
                roformer_fail(name, "read on, it has other bits; kernels", kernels->name);
            session_free(&s);
        }
    model_close(&m);
}

static void test_onward(void) {
    static const char *const causal[] = {"causal", "v2_causal", "gau_causal", "linear_causal"};
    static const char *const unilm[] = {"unilm", "sim", "v2_unilm", "gau_unilm", "linear_unilm"};
    const Kernels *k;
    static int ones[GOLDEN_TOKENS];
    for (int i = 0; i < GOLDEN_TOKENS; i++) ones[i] = 1;
    for (int row = 0; (k = kernels_row(row)); row++) {
        for (size_t i = 0; i < 4; i++) {
            if (!golden_read(&golden, causal[i])) continue;
            EncoderText text = {.ids = golden.texts[0].ids, .n = golden.texts[0].n};
            onward(causal[i], k, &text, 0);
            onward(causal[i], k, &text, 9);
        }
        for (size_t i = 0; i < 5; i++) {
            if (!golden_read(&golden, unilm[i])) continue;
            EncoderText text = golden_text(&golden, 0); /* pair: 13 of type 0, 10 of type 1 */
            onward(unilm[i], k, &text, 13);
            text.types = ones;
            onward(unilm[i], k, &text, 0);
        }
    }
}

/* ---- a state ---- */

static void state(const char *name) {
    const float *logits, *again;
    char err[400] = "", path[600];
    float want[VOCAB];
    Model m, other;
    Session s, t;
    int ids[20];
    snprintf(path, sizeof path, "%s", test_tmp("roformer.state"));
    for (int i = 0; i < 20; i++) ids[i] = 5 + i * 2;
    if (!open_model(&m, roformer_folder(name, TENSOR_F32, NULL), NULL)) return;
    const SessionOptions one = {.threads = 1}, two = {.threads = 2, .grain = 1};
    if (open_session(&s, &m, one) && open_session(&t, &m, two)) {
        CHECK(encoder_read(&s, &(EncoderText){.ids = ids, .n = 9}, 1, err, sizeof err) == 0);
        CHECK(session_save(&s, path, err, sizeof err) == -EINVAL && strstr(err, "no logits to save"));
        CHECK(session_eval(&s, ids + 9, 3, &logits, err, sizeof err) == 0);
        memcpy(want, logits, sizeof want);
        CHECK(session_save(&s, path, err, sizeof err) == 0);
        CHECK(session_load(&t, path, &again, err, sizeof err) == 0 && memcmp(want, again, sizeof want) == 0);
        CHECK(session_eval(&s, ids + 12, 8, &logits, err, sizeof err) == 0);
        CHECK(session_eval(&t, ids + 12, 8, &again, err, sizeof err) == 0);
        CHECK(t.pos == 20 && memcmp(logits, again, sizeof want) == 0);
        session_free(&t);
    }
    session_free(&s);
    const Mask mask = m.config.mask == MASK_UNILM ? MASK_CAUSAL : MASK_UNILM;
    if (open_model(&other, m.weights.path, &(ModelOptions){.roformer.mask = &mask})) {
        if (open_session(&t, &other, one))
            CHECK(session_load(&t, path, &again, err, sizeof err) == -EINVAL &&
                  strstr(err, "a state of another model"));
        session_free(&t);
        model_close(&other);
    }
    model_close(&m);
}

static void test_state(void) {
    static const char *const names[] = {"causal", "v2_causal", "gau_causal", "linear_causal", "unilm", "linear_unilm"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) state(names[i]);
}

/* ---- the command line's settings ---- */

/* The model of case `name` under settings that make it that of case `as`. */
static void becomes(const char *name, const char *as, RoformerOverride o) {
    const char *files[] = {roformer_folder(name, TENSOR_F32, NULL), roformer_gguf(name, TENSOR_F32, NULL)};
    if (!golden_read(&golden, as)) return;
    const ModelOptions options = {.roformer = o};
    for (int i = 0; i < 2; i++)
        /* test_roformer.c's */
        if (!(golden_distance(name, files[i], &options, &golden, 30) < 1e-4))
            roformer_fail(name, "with overrides is not", as);
}

static void refused(const char *path, RoformerOverride o, const char *line) {
    char err[400] = "";
    Model m;
    if (model_open(&m, path, &(ModelOptions){.roformer = o}, err, sizeof err) == 0) {
        roformer_fail(path, "opens, where it should say", line);
        model_close(&m);
    } else if (!strstr(err, line)) {
        roformer_fail(line, "is not in", err);
    }
}

static void test_overrides(void) {
    static const Mask causal = MASK_CAUSAL, unilm = MASK_UNILM, padded = MASK_PADDING;
    static const Pooler linear = POOLER_LINEAR, tanh_ = POOLER_TANH;
    float turned[WIDTH], flat[WIDTH];
    char err[400];
    becomes("mlm", "causal", (RoformerOverride){.mask = &causal});
    becomes("mlm", "unilm", (RoformerOverride){.mask = &unilm});
    becomes("causal", "unilm", (RoformerOverride){.mask = &unilm});
    becomes("unilm", "mlm", (RoformerOverride){.mask = &padded});
    becomes("relu", "v2_narrow", (RoformerOverride){.variant = ROFORMER_V2}); /* the same weights, fewer of them */
    refused(roformer_folder("mlm", TENSOR_F32, NULL), (RoformerOverride){.pooler = &tanh_},
            "--pooler: the file has no pooler");
    refused(roformer_folder("v2", TENSOR_F32, NULL), (RoformerOverride){.variant = ROFORMER_V1},
            "roformer.embeddings.LayerNorm.weight is missing");
    refused(roformer_gguf("gau", TENSOR_F32, NULL), (RoformerOverride){.variant = ROFORMER_V2},
            "blk.0.attn_q.weight is missing");
    build_gguf(test_tmp("llama.gguf"), &decoder, TENSOR_F32);
    refused(test_tmp("llama.gguf"), (RoformerOverride){.mask = &unilm},
            "--arch, --mask and --pooler are for RoFormer models");
    const char *path = roformer_folder("tanh", TENSOR_F32, NULL);
    for (int i = 0; i < 2; i++) {
        Model m;
        Session s;
        const ModelOptions said = {.roformer.pooler = i ? &linear : NULL};
        if (!open_model(&m, path, &said)) return;
        if (open_session(&s, &m, (SessionOptions){.threads = 1})) {
            CHECK(encoder_read(&s, &(EncoderText){.ids = (int[]){7, 8, 9}, .n = 3}, 1, err, sizeof err) == 0);
            encoder_pool(&s, 0, i ? flat : turned);
        }
        session_free(&s);
        model_close(&m);
    }
    for (int i = 0; i < 20; i++) NEAR(tanh((double)flat[i]), (double)turned[i], 1e-6, 0); /* an ulp or two of tanhf */
}

/* ---- what is refused ---- */

static void expect_error(Session *s, const EncoderText *texts, size_t n_texts, int rc, const char *line) {
    char err[400] = "";
    CHECK(encoder_read(s, texts, n_texts, err, sizeof err) == rc);
    if (strcmp(err, line) != 0) roformer_fail(line, "expected, not", err);
}

static void test_errors(void) {
    static const int many[200] = {0}, ids[] = {4, 5, 6, 7}, high[] = {4, 61}, low[] = {4, -1};
    static const int types[] = {0, 1, 2, 0}, below[] = {0, -1};
    static const uint8_t gone[] = {0, 0, 0, 0};
    static Bits before, after;
    const EncoderText good = {.ids = ids, .n = 4}, bad_id = {.ids = high, .n = 2}, long_ = {.ids = many, .n = 200};
    const EncoderText bad_types = {.ids = ids, .types = types, .n = 4},
                      bad_below = {.ids = ids, .types = below, .n = 2};
    const EncoderText padding_only = {.ids = ids, .keep = gone, .n = 4}, three[] = {good, good, good},
                      second[] = {good, bad_id};
    char err[400] = "";
    Model m;
    Session s;
    const float *logits;
    if (!open_model(&m, roformer_folder("causal", TENSOR_F32, NULL), NULL)) return;
    if (open_session(&s, &m, (SessionOptions){.n_ctx = 11})) {
        CHECK(encoder_read(&s, &good, 1, err, sizeof err) == 0);
        add_token(&before, &s, 3);
        expect_error(&s, &bad_id, 1, -EINVAL, "id 61 is outside the model's vocabulary of 61");
        expect_error(&s, second, 2, -EINVAL, "id 61 is outside the model's vocabulary of 61");
        expect_error(&s, &(EncoderText){.ids = low, .n = 2}, 1, -EINVAL,
                     "id -1 is outside the model's vocabulary of 61");
        expect_error(&s, &bad_types, 1, -EINVAL, "token type 2 is not one of the model's 2");
        expect_error(&s, &bad_below, 1, -EINVAL, "token type -1 is not one of the model's 2");
        expect_error(&s, &padding_only, 1, -EINVAL, "a text without a token that is not padding");
        expect_error(&s, &(EncoderText){.ids = ids, .n = 0}, 1, -EINVAL, "a text without a token that is not padding");
        expect_error(&s, three, 3, -ENOSPC, "12 tokens do not fit into 11; give more room (-c)");
        add_token(&after, &s, 3); /* nothing was read: what stood there stands there, and goes on */
        CHECK(same(&before, &after) && s.pos == 4 && session_eval(&s, ids, 2, &logits, err, sizeof err) == 0);
    }
    session_free(&s);
    if (session_init(&s, &m, &(SessionOptions){.n_ctx = 256, .n_batch = 192}, err, sizeof err) == 0)
        expect_error(&s, &long_, 1, -ENOSPC, "200 tokens do not fit into one batch of 192");
    session_free(&s);
    model_close(&m);
}

/* What session_eval does not do for an encoder, and encoder_read for a decoder. */
static void test_wrong_calls(void) {
    static const int ids[] = {4, 5, 6, 7};
    const EncoderText good = {.ids = ids, .n = 4};
    char err[400] = "";
    Model m;
    Session s;
    const float *logits;
    if (!open_model(&m, roformer_gguf("body", TENSOR_F32, NULL), NULL)) return;
    if (open_session(&s, &m, (SessionOptions){.n_ctx = 8}))
        CHECK(session_eval(&s, ids, 2, &logits, err, sizeof err) == -EINVAL &&
              strcmp(err, "this encoder reads a text whole, not id by id (its mask is not causal)") == 0);
    session_free(&s);
    model_close(&m);
    const Mask causal = MASK_CAUSAL;
    const ModelOptions said = {.roformer.mask = &causal};
    if (!open_model(&m, roformer_gguf("seq", TENSOR_F32, NULL), &said)) return;
    if (open_session(&s, &m, (SessionOptions){.n_ctx = 8})) {
        CHECK(session_eval(&s, ids, 2, NULL, err, sizeof err) == 0);
        CHECK(session_eval(&s, ids, 2, &logits, err, sizeof err) == -EINVAL &&
              strcmp(err, "this model has no head for logits") == 0);
    }
    session_free(&s);
    model_close(&m);
    build_gguf(test_tmp("llama.gguf"), &decoder, TENSOR_F32);
    if (!open_model(&m, test_tmp("llama.gguf"), NULL)) return;
    if (open_session(&s, &m, (SessionOptions){.n_ctx = 8}))
        expect_error(&s, &good, 1, -EINVAL, "a state holds one text, not several");
    session_free(&s);
    model_close(&m);
}

extern const Test tests_encoder[];
const Test tests_encoder[] = {
    {"roformer/company", test_company},
    {"roformer/padding", test_padding},
    {"roformer/onward", test_onward},
    {"roformer/state", test_state},
    {"roformer/overrides", test_overrides},
    {"roformer/errors", test_errors},
    {"roformer/wrong calls", test_wrong_calls},
    {0},
};
