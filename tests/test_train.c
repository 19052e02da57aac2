/* tests/test_train.c - the trainer: gradients against differences of the loss, the same bits for any number of threads,
 * and what it wrote as the engine reads it. */
#include "kernels/rows.h"
#include "model/encoder.h"
#include "build.h"
#include "program.h"
#include "test.h"
#include "text/open.h"
#include "train/adamw.h"
#include "train/rng.h"
#include "train_kit.h"
#include "weights-tools/training/setup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A model of two layers with odd sizes, and a batch of two texts. */
enum { VOCAB = 50, TEXTS = 2, LENGTH = 70, N = TEXTS * LENGTH };

static const Kind kinds[] = {
    {.name = "rope"},
    {.name = "grouped, half pairs", .kv_heads = 1, .half = 1},
    {.name = "window", .window = 20},
    {.name = "log n", .log_n = 64},
    {.name = "frequencies", .learns_frequencies = 1},
    {.name = "partial", .rotary_dim = 6},
    {.name = "nope", .position = "nope"},
    {.name = "sinusoidal", .position = "sinusoidal"},
    {.name = "learned", .position = "learned"},
    {.name = "alibi", .position = "alibi"},
    {.name = "t5", .position = "t5"},
    {.name = "xpos", .position = "xpos"},
    {.name = "eq. 19", .form = "numerator"},
    {.name = "both", .form = "both"},
    {.name = "none", .form = "none"},
    {.name = "cosine", .form = "cosine"},
    {.name = "before phi", .form = "before-phi"},
    {.name = "favor+", .form = "numerator", .phi = "favor+"},
    {.name = "efficient", .form = "numerator", .phi = "softmax", .phi_key = "exp"},
    {.name = "linear, learned", .form = "numerator", .position = "learned"},
    {.name = "encoder", .encodes = 1},
    {.name = "encoder, sinusoidal", .position = "sinusoidal", .encodes = 1},
    {.name = "encoder, learned", .position = "learned", .encodes = 1},
    {.name = "encoder, nope", .position = "nope", .encodes = 1},
    {.name = "encoder, alibi", .position = "alibi", .encodes = 1},
    {.name = "encoder, t5", .position = "t5", .encodes = 1},
    {.name = "encoder, eq. 19", .form = "numerator", .encodes = 1},
    {0},
};

static void fill(int *ids, int *targets, size_t n) {
    Rng r = rng_of(1, 2);
    for (size_t i = 0; i < n; i++) {
        ids[i] = (int)rng_below(&r, VOCAB);
        targets[i] = i % LENGTH ? ids[i - 1] * 7 % VOCAB : -1; /* what stood before: attention must find it */
    }
}

static void batch(int *ids, int *targets) { fill(ids, targets, N); }

static int begin(Trainee *t, const Kind *k, Positions *p, int threads) {
    static const KindSizes sizes = {.vocab = VOCAB, .d = 20, .d_ff = 28, .texts = TEXTS, .length = LENGTH};
    int rc = kind_begin(t, k, &sizes, p, kernels_best(), threads);
    if (rc) return rc;
    params_begin(&t->params, 1, t->config.n_layers);
    Rng r = rng_of(3, 4);
    for (size_t i = 0; i < t->params.n; i++) { /* away from where all scores are nearly 0 */
        Param *x = &t->params.at[i];
        double far = x->is_vector ? 0.1 : 0.3;
        for (size_t j = 0; j < x->rows * x->cols; j++) x->w[j] += (float)(far * rng_normal(&r));
    }
    return 0;
}

static double length_of(const float *g, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)g[i] * (double)g[i];
    return sqrt(sum);
}

/* How fast the loss grows along g from where p is, over |g|: 1 where g is the gradient. Differences at one and at two
 * steps, joined so that the third derivative falls out; a step moves the loss by 3e-6 at least, of which noise is some
 * 1e-8. */
static double share(Trainee *t, Param *p, const float *g, const int *ids, const int *targets) {
    static const double at[] = {1, -1, 2, -2}, weight[] = {8, -8, -1, 1};
    size_t n = p->rows * p->cols;
    double size = length_of(g, n), least = 3e-6 / size, step = 3e-4 * (1 + length_of(p->w, n)), sum = 0;
    if (step < least) step = least;
    float *kept = malloc(n * sizeof *kept);
    memcpy(kept, p->w, n * sizeof *kept);
    for (int k = 0; k < 4; k++) {
        for (size_t i = 0; i < n; i++) p->w[i] = kept[i] + (float)(at[k] * step * (double)g[i] / size);
        sum += weight[k] * trainee_loss(t, ids, targets, 0);
    }
    memcpy(p->w, kept, n * sizeof *kept);
    free(kept);
    return sum / (12 * step * size);
}

/* 2 %: the third derivative times the step's square, and floats' noise over the step; both were seen below 1 %. */
static void gradients(void) {
    int ids[N], targets[N];
    batch(ids, targets);
    for (const Kind *k = kinds; k->name; k++) {
        Positions p = {0};
        Trainee t;
        if (begin(&t, k, &p, 2)) continue;
        CHECK(isfinite(trainee_loss(&t, ids, targets, 1)));
        for (size_t i = 0; i < t.params.n; i++) {
            Param *x = &t.params.at[i];
            size_t bytes = x->rows * x->cols * sizeof *x->g;
            float *g = malloc(bytes);
            memcpy(g, x->g, bytes);
            /* softmax does not see what all keys have in common; under RoPE they have nothing */
            int unseen = strstr(x->name, "attn_k.bias") && length_of(g, x->rows * x->cols) < 1e-6;
            double along = unseen ? 1 : share(&t, x, g, ids, targets);
            if (!(fabs(along - 1) < 0.02)) printf("    %s, %s: %.4f\n", k->name, x->name, along);
            CHECK(fabs(along - 1) < 0.02);
            free(g);
        }
        trainee_free(&t);
    }
}

/* Gradients of a model that is wrong in one thing are no gradients of this one. */
static void wrong(void) {
    static const Kind right = {.name = "rope"}, others[] = {{.name = "half pairs", .half = 1},
                                                            {.name = "nope", .position = "nope"},
                                                            {.name = "log n", .log_n = 16},
                                                            {.name = "window", .window = 20}};
    int ids[N], targets[N];
    batch(ids, targets);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        Positions p = {0};
        Trainee a, b;
        if (begin(&a, &right, &p, 1)) return;
        if (begin(&b, &others[i], &p, 1)) return;
        trainee_loss(&b, ids, targets, 1);
        Param *x = params_find(&a.params, "blk.0.attn_q.weight");
        double along = share(&a, x, params_find(&b.params, x->name)->g, ids, targets);
        if (!(fabs(along - 1) > 0.05)) printf("    %s: %.4f\n", others[i].name, along);
        CHECK(fabs(along - 1) > 0.05);
        trainee_free(&a);
        trainee_free(&b);
    }
}

static void threads(void) {
    int ids[N], targets[N];
    batch(ids, targets);
    for (const Kind *k = kinds; k->name; k++) {
        float *first = NULL;
        for (int n = 1; n <= 3; n++) {
            Positions p = {0};
            Trainee t;
            if (begin(&t, k, &p, n)) continue;
            size_t bytes = t.params.floats * sizeof *first;
            for (uint64_t step = 1; step <= 3; step++) {
                trainee_loss(&t, ids, targets, 1);
                adamw_step(&t.work, &t.params, &adamw_usual, 1e-2, step);
            }
            if (first) CHECK(memcmp(first, t.params.memory, bytes) == 0);
            else if ((first = malloc(bytes))) memcpy(first, t.params.memory, bytes);
            trainee_free(&t);
        }
        free(first);
    }
}

/* A gradient that never changes moves a weight by the rate at each step, whatever the betas: m' and sqrt(v') are it. In
 * float, 1 less beta2 is 2e-7 of the rest for 0.95, but a hundredth of it for 0.999999. */
static void constant_gradient(void) {
    static const double betas[][2] = {{0.9, 0.95}, {0, 0}, {0.99, 0.999}, {0.9999, 0.99999}, {0.999999, 0.999999}};
    for (size_t i = 0; i < sizeof betas / sizeof *betas; i++) {
        AdamW o = {.beta1 = betas[i][0], .beta2 = betas[i][1], .eps = 1e-8};
        Positions p = {0};
        Trainee t;
        if (begin(&t, &(Kind){.name = "rope"}, &p, 1)) return;
        const Param *x = params_find(&t.params, "output_norm.weight");
        double began = (double)x->w[0];
        for (uint64_t step = 1; step <= 3; step++) {
            for (size_t j = 0; j < x->cols; j++) x->g[j] = -0.25f;
            adamw_step(&t.work, &t.params, &o, 0.5, step);
            NEAR(x->w[0] - began, 0.5 * (double)step, 0, 2e-6);
        }
        trainee_free(&t);
    }
}

/* A batch of more texts than are computed at once, the last of its parts a smaller one without a target, learns what
 * its texts do one by one, with attention's weights made again in backward; what differs is the order of sums. */
static void parts(void) {
    enum { MANY = 33, TAUGHT = 28 };
    static int ids[MANY * LENGTH], targets[MANY * LENGTH];
    const KindSizes one = {.vocab = VOCAB, .d = 20, .d_ff = 28, .texts = 1, .length = LENGTH};
    KindSizes all = one;
    all.texts = MANY;
    fill(ids, targets, MANY * LENGTH);
    for (size_t i = TAUGHT * LENGTH; i < MANY * LENGTH; i++) targets[i] = -1;
    for (const Kind *k = kinds; k->name; k++) {
        Positions p = {0}, q = {0};
        Trainee a, b;
        if (kind_begin(&a, k, &all, &p, kernels_best(), 2)) return;
        if (kind_begin(&b, k, &one, &q, kernels_best(), 2)) {
            trainee_free(&a);
            return;
        }
        params_begin(&a.params, 3, 2);
        params_begin(&b.params, 3, 2);
        double loss = trainee_loss(&a, ids, targets, 1), sum = 0, off = 0, size = 0;
        size_t n = a.params.floats;
        float *g = calloc(n, sizeof *g);
        CHECK(TAUGHT % a.at_once == 0 && MANY % a.at_once != 0 && a.attention.keeps_weights);
        b.attention.keeps_weights = 0;
        for (size_t text = 0; g && text < MANY; text++) {
            sum += trainee_loss(&b, ids + text * LENGTH, targets + text * LENGTH, 1) / TAUGHT;
            for (size_t i = 0; i < n; i++) g[i] += b.params.memory[n + i] / TAUGHT;
        }
        for (size_t i = 0; g && i < n; i++) off += pow(a.params.memory[n + i] - g[i], 2), size += pow(g[i], 2);
        NEAR(loss, sum, 0, 1e-6);
        NEAR(sqrt(off), 0, 1e-5 * sqrt(size), 0); /* as against PyTorch */
        free(g);
        trainee_free(&a);
        trainee_free(&b);
    }
}

typedef struct {
    Work *work;
    Product p[2];
    Floats b;
    size_t n, depth;
} ProductsCase;

static void products_of(void *arg) {
    const ProductsCase *c = arg;
    work_products(c->work, c->p, 2, c->b, c->n, c->depth);
}

/* Products of a team: of matrices that lie by rows and by columns, that are larger than a block, that share a side. */
static void products(void) {
    static const struct { size_t m, n, depth; } shapes[] = {{7, 5, 3},     {150, 300, 270}, {157, 64, 513},
                                                            {61, 517, 30}, {37, 64, 270}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int by_columns = 0; by_columns < 2; by_columns++) {
            size_t m = shapes[s].m, n = shapes[s].n, depth = shapes[s].depth, few = m / 3 + 1;
            float *a = calloc(m * depth, sizeof *a), *b = calloc(depth * n, sizeof *b), *c = calloc(m * n, sizeof *c),
                  *d = calloc(few * n, sizeof *d), *first = calloc(m * n, sizeof *first);
            Floats right = by_columns ? (Floats){b, 1, depth} : (Floats){b, n, 1};
            Rng r = rng_of(5, s);
            for (size_t i = 0; i < m * depth; i++) a[i] = (float)rng_uniform(&r) - 0.5f;
            for (size_t i = 0; i < depth * n; i++) b[i] = (float)rng_uniform(&r) - 0.5f;
            for (int threads = 1; threads <= 3; threads++) {
                Work w;
                CHECK(work_init(&w, kernels_best(), threads) == 0);
                work_reserve(&w, work_panels(&w, n, depth), 0, 0);
                CHECK(work_allocate(&w) == 0);
                for (size_t i = 0; i < m * n; i++) c[i] = 1;
                for (size_t i = 0; i < few * n; i++) d[i] = NAN;
                ProductsCase all = {&w, {{c, n, 1, {a, 1, m}, m}, {d, n, 0, {a, 1, m}, few}}, right, n, depth};
                team_run(&w.team, threads, products_of, &all);
                for (size_t i = 0; i < m; i++)
                    for (size_t j = 0; j < n; j++) {
                        double sum = 0;
                        for (size_t t = 0; t < depth; t++)
                            sum += (double)a[t * m + i] * b[by_columns ? t + j * depth : t * n + j];
                        NEAR(c[i * n + j], 1 + sum, 1e-6 * (double)depth, 0); /* half an ulp of sums below 16 */
                        if (i < few) NEAR(d[i * n + j], sum, 1e-6 * (double)depth, 0);
                    }
                if (threads == 1) memcpy(first, c, m * n * sizeof *c);
                CHECK(memcmp(first, c, m * n * sizeof *c) == 0);
                work_free(&w);
            }
            free(a), free(b), free(c), free(d), free(first);
        }
}

/* ---- the program ---- */

#define SIZES " --layers 2 --d-model 48 --heads 3 --context 64 --batch 4 --warmup 2 -q "
#define RECIPE " --force --text README.md --held-out LICENSE --steps 6 --rate 0.02 --held-every 6" SIZES

static double number_behind(const char *text, const char *word) {
    const char *at = text ? strstr(text, word) : NULL;
    return at ? strtod(at + strlen(word), NULL) : NAN;
}

/* The seventh number of the last line: the held-out part's loss. */
static double held_of(const char *csv) {
    size_t n = 0;
    char *text = file_read(csv, &n), *line = text;
    if (!text) return NAN;
    for (char *next = line; next && next[1]; next = strchr(next + 1, '\n')) line = next;
    for (int i = 0; line && i < 6; i++) line = strchr(line + 1, ',');
    double held = line ? strtod(line + 1, NULL) : NAN;
    free(text);
    return held;
}

/* A table in pieces: each step's tokens stand in it, however often the run stopped, and time does not go back. */
static int goes_on(const char *csv) {
    size_t n = 0;
    char *text = file_read(csv, &n), *line = text ? strchr(text, '\n') : NULL;
    double of_a_step = 0, before = 0;
    int rows = 0, well = 1;
    for (; line && line[1]; line = strchr(line + 1, '\n'), rows++) {
        double step, tokens, seconds;
        well &= sscanf(line + 1, "%lf,%*f,%*f,%*f,%lf,%lf", &step, &tokens, &seconds) == 3 && seconds >= before;
        if (!of_a_step) of_a_step = tokens / step;
        well &= tokens == step * of_a_step;
        before = seconds;
    }
    free(text);
    return well && rows > 1;
}

/* To 1e-5: both are sums of floats, in another order. */
static void same_loss(void) {
    static const char *const ways[] = {
        "", "--position t5 --log-n", "--position learned --own-head", "--kv-heads 1 --pairing half",
        "--position xpos", "--train-frequencies", "--position alibi --window 20", "--attention linear",
        "--attention linear --phi favor+", "--attention linear --phi favor+ --form before-phi",
        "--attention linear --phi softmax --phi-key exp --rotary-dim 8"};
    const char *model = test_tmp("trained.gguf"), *csv = test_tmp("trained.csv");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        remove(csv);
        CHECK(tool("", "train", "%s" RECIPE "--csv %s %s", model, csv, ways[i]) == 0);
        const char *cache = strstr(ways[i], "linear") ? "" : " --kv f32";
        CHECK(run("perplexity %s -f LICENSE --json%s", model, cache) == 0);
        NEAR(number_behind(out, "\"nll_mean\":"), held_of(csv), 1e-5, 0);
    }
}

/* What tensors' shapes leave open, and tensors that would be left out. */
static void not_gone_on(const char *model, const char *next) {
    static const struct { const char *options, *line;
    } rows[] = {{"--heads 6", "has 3 heads of queries, 3 of keys, not 6 and 6: --heads, --kv-heads"},
                {"--pairing half", "its pairs are interleaved, not half: --pairing"},
                {"--layers 1", "tensor blk.1.attn_norm.weight would be left out; give the options"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(tool("", "train", "%s" RECIPE "--from %s %s", next, model, rows[i].options) == 1 &&
              said_line(rows[i].line));
    CHECK(tool("", "train", "%s" RECIPE "--pairing half --steps 1", next) == 0);
    CHECK(tool("", "train", "%s" RECIPE "--position nope --from %s", model, next) == 0); /* no pair turns */
    CHECK(tool("", "train", "%s" RECIPE "--own-head --steps 1", next) == 0);
    CHECK(tool("", "train", "%s" RECIPE "--from %s", model, next) == 1 &&
          said_line("tensor output.weight would be left out"));
}

/* From a model's weights, a step of next to nothing: the loss that it ended with. */
static void gone_on(void) {
    const char *model = test_tmp("first.gguf"), *next = test_tmp("next.gguf"), *csv = test_tmp("first.csv"),
               *after = test_tmp("next.csv");
    CHECK(tool("", "train", "%s" RECIPE "--csv %s", model, csv) == 0);
    CHECK(tool("", "train", "%s" RECIPE "--csv %s --from %s --steps 1 --rate 1e-9", next, after, model) == 0);
    NEAR(held_of(csv), held_of(after), 1e-6, 0); /* a step of 1e-9 moves no float of this size */
    CHECK(tool("", "train", "%s" RECIPE "--from %s --d-model 24", next, model) == 1 && said_line("another shape"));
    CHECK(tool("", "train", "%s" RECIPE "--from README.md", next) == 1 && said_line("README.md"));
    not_gone_on(model, next);
}

/* The mean loss of the masked ids of a batch, as the engine reads its texts; their number in *n. */
static double engine_loss(Session *s, const Batch *b, size_t *n) {
    char err[300];
    double sum = 0;
    for (size_t text = 0; text < b->shape.texts; text++) {
        const size_t length = b->shape.length, vocab = (size_t)s->model->config.vocab_size;
        CHECK(encoder_read(s, &(EncoderText){.ids = b->ids + text * length, .n = length}, 1, err, sizeof err) == 0);
        for (size_t i = 0; i < length; i++) {
            int target = b->targets[text * length + i];
            if (target < 0) continue;
            const float *z = encoder_logits(s, i);
            double all = 0;
            for (size_t k = 0; k < vocab; k++) all += exp((double)z[k]);
            sum += log(all) - (double)z[target], ++*n;
        }
    }
    return sum;
}

/* An encoder's file: the masked loss that the trainer reports is the engine's, to 1e-5. */
static void encoder_loss(void) {
    static const char *const ways[] = {"", "--position learned --whole-words", "--position t5", "--attention linear"};
    const char *path = test_tmp("encoder.gguf");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        CHECK(tool("", "train", "%s" RECIPE "--family roformer --words 300 %s", path, ways[i]) == 0);
        TrainingOptions o = training_usual;
        o.texts[0] = "README.md", o.n_texts = 1, o.held = "LICENSE", o.family = "roformer", o.from = o.out = path;
        o.layers = 2, o.d_model = 48, o.heads = 3, o.context = 64, o.batch = 4, o.whole_words = i == 1;
        o.position = i == 1 ? "learned" : i == 2 ? "t5" : "rope", o.attention = i == 3 ? "linear" : "softmax";
        TrainingSetup setup;
        Model m;
        Session s;
        Batch b;
        char err[300] = "";
        if (setup_init(&setup, &o, err, sizeof err) || model_open(&m, path, NULL, err, sizeof err) ||
            session_init(&s, &m, &(SessionOptions){.n_ctx = 64}, err, sizeof err) ||
            batch_init(&b, &setup.trainee.shape)) {
            test_fail(__FILE__, __LINE__, err);
            return;
        }
        double loss = 0;
        size_t n = 0;
        CoursePoint p;
        BatchPlan plan = *setup.course.plan;
        plan.corpus = &setup.held, plan.seed = 0;
        for (uint64_t step = 0; step < COURSE_MASKED; step += b.shape.texts) {
            CHECK(batch_fill(&b, &plan, step) == 0);
            loss += engine_loss(&s, &b, &n);
        }
        CHECK(course_measure(&setup.trainee, &setup.course, &p) == 0 && n > 100);
        NEAR(loss / (double)n, p.held.loss, 1e-5, 0);
        CHECK(run("fill %s \"The [MASK] is\"", path) == 0 && strstr(out, "The "));
        batch_free(&b);
        session_free(&s);
        model_close(&m);
        setup_free(&setup);
    }
}

static const char *const words = "--text README.md --steps 60 --held-every 20 --save-every 0" SIZES;

/* However often it is killed, at whatever moment, and on however many threads it goes on: the bits of the whole run. */
static void resumed(void) {
    const char *dir = test_folder("resumed"), *whole = test_in(dir, "whole.gguf"), *parts = test_in(dir, "parts.gguf"),
               *kept = test_in(dir, "parts.checkpoint.gguf"), *csv = test_in(dir, "parts.csv");
    CHECK(tool("", "train", "%s %s", whole, words) == 0);
    CHECK(access(test_in(dir, "whole.checkpoint.gguf"), F_OK) != 0); /* done: it is needed no longer */
    int rc = 137, times = 0;
    for (; rc != 0 && times < 60; times++) {
        char before[80];
        snprintf(before, sizeof before, "timeout --preserve-status -s %s %.2f ", times % 3 == 2 ? "INT" : "KILL",
                 0.1 + 0.03 * times * (test_sanitized ? 5 : 1));
        rc = tool(before, "train", "%s %s -j %d --csv %s %s", parts, words, 1 + times % 2, csv,
                  access(kept, F_OK) == 0 ? "--resume" : "");
        CHECK(rc == 0 || rc == 137 || rc == 130);
        if (rc == 130) CHECK(strstr(said, "interrupted, and saved"));
        if (rc != 0 && access(kept, F_OK) == 0) CHECK(run("perplexity %s -f LICENSE -q", kept) == 0);
        if (rc == 137 && access(kept, F_OK) != 0 && access(parts, F_OK) == 0) rc = 0; /* killed when all was written */
    }
    CHECK(rc == 0 && times > 1 && files_equal(whole, parts) && goes_on(csv));
}

/* A full disk, another recipe, a file cut short: what was there stays, and one line says why. */
static void kept(void) {
    const char *dir = test_folder("kept"), *model = test_in(dir, "m.gguf"), *kept = test_in(dir, "m.checkpoint.gguf"),
               *copy = test_in(dir, "copy.gguf");
    CHECK(tool(INTERRUPT_AFTER "2 ", "train", "%s %s --steps 1000000", model, words) == 130);
    CHECK(access(kept, F_OK) == 0 && access(model, F_OK) != 0);
    size_t n = 0;
    char *bytes = file_read(kept, &n);
    file_write(copy, bytes, n);
    CHECK(tool("ulimit -f 100; ", "train", "%s %s --steps 1000000 --resume", model, words) == 1 &&
          said_line("m.checkpoint.gguf"));
    CHECK(files_equal(kept, copy) && access(model, F_OK) != 0);
    CHECK(tool("", "train", "%s %s --steps 1000000 --resume --rate 0.5", model, words) == 1 &&
          said_line("give the same options"));
    CHECK(tool("", "train", "%s %s --steps 1", model, words) == 1 && said_line("--resume goes on with it"));
    CHECK(files_equal(kept, copy));
    for (size_t cut = 0; cut < n; cut += n / 7 + 1) {
        file_write(kept, bytes, cut);
        CHECK(tool("", "train", "%s %s --steps 1000000 --resume", model, words) == 1 && said_line("m.checkpoint.gguf"));
    }
    CHECK(tool("", "train", "%s %s --steps 1 --force", model, words) == 0 && access(kept, F_OK) != 0);
    CHECK(tool("", "train", "%s %s --steps 1 --resume", model, words) == 1 && said_line("is finished"));
    CHECK(tool("", "train", "%s/none/m.gguf %s --steps 1", dir, words) == 1 && said_line("no file can be written"));
    CHECK(shell("mkdir %s/there.gguf", dir) == 0);
    CHECK(tool("", "train", "%s/there.gguf %s --steps 1", dir, words) == 1 && said_line("is not a regular file"));
    CHECK(shell("test ! -e %s/there.checkpoint.gguf", dir) == 0); /* nothing was learned for it */
    CHECK(tool("", "train", "%s %s --steps 1 --csv %s", model, words, model) == 2 && said_line("written already"));
    CHECK(tool("", "train", "%s %s --steps 1 --text %s", model, words, model) == 2 && said_line("read or written"));
    CHECK(tool("", "train", "%s %s --steps 1 --from %s", model, words, model) == 2 && said_line("read or written"));
    CHECK(tool("", "train", "%s %s --steps 1", model, words) == 1 && said_line("--force writes over it"));
    const char *notes = test_in(dir, "notes");
    file_write(notes, "step,loss\n", 10);
    CHECK(tool("", "train", "%s %s --steps 1 --force --csv %s", model, words, notes) == 1 &&
          said_line("is not a table of losses; it stays as it is"));
    CHECK(tool("", "train", "%s %s --steps 1 --force --svg %s", model, words, notes) == 1 &&
          said_line("drawn here; it stays as it is"));
    CHECK(shell("grep -q step,loss$ %s", notes) == 0);
    CHECK(tool("", "train", "%s %s --steps 1 --force --csv -", model, words) == 2 && said_line("into a file"));
    file_write(notes, "", 0);
    for (int twice = 0; twice < 2; twice++)
        CHECK(tool("", "train", "%s %s --steps 1 --force -q --csv %s", model, words, notes) == 0);
    /* a batch in which nothing is masked teaches nothing */
    CHECK(tool("", "train", "%s %s --force --family roformer --mask-share 0.001 --batch 1 --steps 9 -q", model,
               words) == 0);
    free(bytes);
}

static const struct { const char *words, *says; int code; } refused_words[] = {
    {"--position abc", "rope, nope, sinusoidal", 2},
    {"--layers 0", "--layers", 2},
    {"--rate nan", "--rate", 2},
    {"--attention linear --position t5", "no place for it", 2},
    {"--mix text=x", "--mix", 2},
    {"--heads 5", "--heads", 2},
    {"--context 16000", "shorten --context", 2},
    {"--mix text=0", "all shares of the batch are 0", 2},
    {"--mix copy=1 --context 8", "no room for copies", 2},
    {"--attention linear --phi favor+ --epsilon 0.1", "trained with an epsilon of 0", 2},
    {"--resume", "checkpoint", 1},
    {"--phi relu", "linear attention", 2},
    {"--text /nowhere/at/all", "/nowhere/at/all", 1},
    {"--layrs 2", "did you mean --layers", 2},
    {"--layers 2.5", "--layers: \"2.5\" is no whole number from", 2},
    {"--layers two", "--layers: \"two\" is no whole number from", 2},
    {"--layers ''", "--layers: \"\" is no whole number from", 2},
    {"--layers", "--layers needs a value", 2},
    {"other.gguf", "other.gguf is one word too many; texts: --text FILE", 2},
    {"--attention other", "--attention: softmax or linear", 2},
    {"--form both", "--form: is linear attention's (--attention linear)", 2},
    {"--phi-key exp", "--phi-key: is linear attention's", 2},
    {"--epsilon 0.1", "--epsilon: is linear attention's", 2},
    {"--favor-features 8", "--favor-features: is for the map favor+", 2},
    {"--attention linear --phi exp --favor-features 8", "--favor-features: is for the map favor+", 2},
    {"--words 20", "--words: is for a RoFormer without a tokenizer", 2},
    {"--family roformer --words 20 -z LICENSE", "--words: is for a RoFormer without a tokenizer", 2},
    {"--whole-words", "--whole-words: is for a RoFormer", 2},
    {"--mask-share 0.2", "--mask-share: is for a RoFormer", 2},
    {"--position alibi --theta 500", "--theta: is RoPE's (--position rope)", 2},
    {"--rotary-dim 4 --position nope", "--rotary-dim: is RoPE's", 2},
    {"--position t5 --pairing half", "--pairing: is RoPE's", 2},
    {"--held-out README.md --held-share 0.1", "--held-share: is of --text's end, and --held-out is given", 2},
    {"--attention linear --form x", "--form: there is no form x", 2},
    {"--attention linear --phi x", "--phi: there is no map x", 2},
    {"--attention linear --phi exp --phi-key x", "--phi-key: there is no map x", 2},
    {"--attention linear --window 9", "--window: linear attention cannot forget", 2},
    {"--attention linear --position xpos", "is for softmax attention", 2},
    {"--attention linear --log-n", "--log-n is for softmax", 2},
    {"--attention linear --train-frequencies", "--train-frequencies is for softmax attention with RoPE", 2},
    {"--position alibi --train-frequencies", "--train-frequencies is for softmax attention with RoPE", 2},
    {"--pairing thirds", "--pairing: interleaved or half", 2},
    {"--head-dim 7", "must be even", 2},
    {"--rotary-dim 5", "must be even", 2},
    {"--rotary-dim 18", "--rotary-dim: a head has fewer entries", 2},
    {"--attention linear --rotary-dim 18", "--rotary-dim: a head has fewer entries", 2},
    {"--kv-heads 2", "--kv-heads must divide --heads", 2},
    {"--kernels none", "--kernels: there is no row \"none\" that this processor can run; it has ref", 2},
    {"-z /nowhere/at/all", "/nowhere/at/all", 1},
    {"--mix text", "--mix: \"text\": text=1,copy=0.5", 2},
    {"--mix none=1", "--mix: \"none=1\": text=1,copy=0.5", 2},
    {"--mix text=1,text=-1", "--mix: \"text=-1\": text=1,copy=0.5", 2},
    {"--mix text=1e10", "--mix: \"text=1e10\": text=1,copy=0.5", 2},
    {"--mix 'text=1;copy=1'", "--mix: \"text=1;copy=1\": text=1,copy=0.5", 2},
    {"--family roformer --log-n", "--log-n: is for decoders", 2},
    {"--family roformer --own-head", "--own-head: is for decoders", 2},
    {"--family roformer --kv-heads 1", "--kv-heads: is for decoders", 2},
    {"--family roformer --pairing half", "--pairing: is for decoders", 2},
    {"--family roformer --position xpos", "--position xpos: is for decoders", 2},
    {"--family roformer -z /nowhere/at/all", "/nowhere/at/all", 1},
    {"--family bert", "llama or roformer", 2},
    {"--family roformer --window 3", "--window: is for decoders", 2},
    {"--family roformer --mix copy=1", "--mix: is for decoders", 2},
    {"--family roformer -z model/tales-1m.gguf", "no WordPiece", 1},
    {"--family roformer -z README.md", "not a model file", 1},
    {"--mask-share 2", "--mask-share", 2},
    {"--rate 10 --clip 0 --warmup 0 --beta2 0 --decay 1 --steps 60", "no number", 1},
};

static void refusals(void) {
    for (size_t i = 0; i < sizeof refused_words / sizeof *refused_words; i++) {
        int rc = tool("", "train", "%s" RECIPE "%s", test_tmp("refused.gguf"), refused_words[i].words);
        if (rc != refused_words[i].code) printf("    %s: exit code %d\n", refused_words[i].words, rc);
        CHECK(rc == refused_words[i].code && said_line(refused_words[i].says));
    }
    CHECK(tool("", "train", "--text README.md") == 2 && said_line("no file to write: OUT.gguf"));
    CHECK(tool("", "train", "%s", test_tmp("refused.gguf")) == 2 && said_line("nothing to learn from: --text FILE"));
    CHECK(tool("", "train", "--help") == 0 && strstr(out, "--rotary-dim") && *said == 0);
}

/* What is no checkpoint of this training, or a damaged one: a model, one with other tensors, a text. */
static void not_resumed(void) {
    const char *dir = test_folder("not-resumed"), *model = test_in(dir, "m.gguf"), *from = test_in(dir, "from.gguf"),
               *kept = test_in(dir, "m.checkpoint.gguf");
    static const struct { const char *from, *to, *says; } rows[] = {
        {"train.step", "train.stop", "m.checkpoint.gguf: key train.step is missing"},
        {"train.settings", "train.sattings", "m.checkpoint.gguf: is no checkpoint"},
        {"train.m.blk.0.attn_k.weight", "train.x.blk.0.attn_k.weight",
         "tensor train.m.blk.0.attn_k.weight is missing or has another shape"},
        {"train.v.blk.1.attn_q.weight", "train.x.blk.1.attn_q.weight",
         "tensor train.v.blk.1.attn_q.weight is missing or has another shape"},
    };
    CHECK(tool(INTERRUPT_AFTER "1 ", "train", "%s %s --steps 1000000", model, words) == 130);
    size_t n = 0;
    char *bytes = file_read(kept, &n);
    for (size_t i = 0; bytes && i < sizeof rows / sizeof *rows; i++) {
        char *at = bytes;
        size_t length = strlen(rows[i].from);
        while (at && at < bytes + n - length && memcmp(at, rows[i].from, length) != 0) at++;
        if (at == bytes + n - length) at = NULL;
        CHECK(at != NULL);
        if (at) memcpy(at, rows[i].to, length);
        file_write(kept, bytes, n);
        if (at) memcpy(at, rows[i].from, length);
        CHECK(tool("", "train", "%s %s --steps 1000000 --resume", model, words) == 1 && said_line(rows[i].says));
    }
    if (bytes) file_write(kept, bytes, n);
    CHECK(tool("", "train", "%s %s --steps 1 --resume", model, words) == 1 &&
          said_line("not --steps=1: give the same options"));
    CHECK(tool("", "train", "%s %s --steps 1000000 --layers 3 --resume", model, words) == 1 &&
          said_line("give the same options"));
    free(bytes);
    /* the same text's name, and another text */
    const char *book = test_in(dir, "book.txt"), *again = "%s --text %s --steps 1000000 --save-every 0" SIZES "%s";
    char *text = file_read("LICENSE", &n);
    for (int i = 0; i < 3; i++) {
        text[n / 2] = (char)(text[n / 2] ^ 1 * (i > 0)); /* as it was, another, as it was */
        file_write(book, text, n);
        int rc = tool(INTERRUPT_AFTER "1 ", "train", again, model, book, i ? "--resume" : "--force");
        if (i != 1) CHECK(rc == 130);
        else CHECK(rc == 1 && said_line("m.checkpoint.gguf: was made of other texts than those that are there now"));
    }
    free(text);
    /* a model to go on from that lacks what this one has */
    CHECK(tool("", "train", "%s" RECIPE, from) == 0);
    CHECK(tool("", "train", "%s" RECIPE "--own-head --from %s", model, from) == 1 &&
          said_line("is missing; give the sizes of the model"));
}

static char *text_of(const Tokenizer *t, const int *ids, size_t n) {
    char *text = calloc(n + 1, tokenizer_decode_bound(t)), *at = text;
    TokenStream s = {0};
    for (size_t i = 0; text && i < n; i++) at += tokenizer_decode(t, &s, ids[i], at);
    return text;
}

/* A page is a prompt that asks for the number hidden in it, and the targets marked as the answer are that number. */
static void passkeys(void) {
    static const char prompt[] = "What is the pass key? The pass key is";
    BatchShape shape = {.texts = 4, .length = 256};
    Corpus c = {0};
    Tokenizer *t = NULL;
    Weights w;
    Batch b;
    char err[300] = "", key[8], needle[40];
    CHECK(weights_open(&w, "model/tales-1m.gguf", err, sizeof err) == 0);
    CHECK(vocabulary_open(&t, &w, NULL, 0, NULL, err, sizeof err) == 0);
    for (int i = 0; i < 8; i++) CHECK(corpus_add(&c, t, prompt, sizeof prompt - 1, NULL, -1, err, sizeof err) == 0);
    BatchPlan plan = {.corpus = &c, .tokenizer = t, .seed = 1, .shares = {[PIECE_PASSKEY] = 1}, .bos = -1};
    CHECK(batch_init(&b, &shape) == 0 && batch_fill(&b, &plan, 0) == 0);
    for (size_t text = 0; text < shape.texts; text++) {
        const int *ids = b.ids + text * shape.length, *targets = b.targets + text * shape.length;
        size_t n = 0;
        int of_answer[16];
        for (size_t i = 0; i < shape.length; i++)
            if (b.marks[text * shape.length + i] == MARK_ANSWER && n < 16) of_answer[n++] = targets[i];
        char *page = text_of(t, ids, shape.length), *answer = text_of(t, of_answer, n);
        snprintf(key, sizeof key, "%.5s", answer + (*answer == ' '));
        snprintf(needle, sizeof needle, "Remember it. %s is the pass key.", key);
        CHECK(strspn(key, "0123456789") == 5 && strstr(page, needle) && strstr(page, prompt));
        free(page), free(answer);
    }
    shape.length = 64;
    CHECK(batch_check(&plan, &shape, err, sizeof err) < 0 && strstr(err, "no room"));
    batch_free(&b);
    corpus_free(&c);
    tokenizer_free(t);
    weights_close(&w);
}

const Test tests_train[] = {{"train/gradients", gradients}, {"train/wrong", wrong}, {"train/threads", threads},
                            {"train/parts", parts},         {"train/products", products},
                            {"train/constant gradient", constant_gradient},
                            {"train/same loss", same_loss}, {"train/from", gone_on}, {"train/encoder", encoder_loss},
                            {"train/resumed", resumed},     {"train/kept", kept},        {"train/refuses", refusals},
                            {"train/not resumed", not_resumed},
                            {"train/passkeys", passkeys},   {0}};
