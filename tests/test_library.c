/* tests/test_library.c - what roformer.h promises, beside the program: linked in, so that sanitizers see it. */
#include "build.h"
#include "library/library.h"
#include "program.h"
#include "roformer.h"
#include "test.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char err[400];
static const char linear[] = "model/tales-1m-linear.gguf";

static RoformerModel *opened(const char *path, const RoformerOptions *o) {
    RoformerModel *m;
    int rc = roformer_open(&m, path, o, err, sizeof err);
    CHECK((rc == 0) == (m != NULL));
    if (rc) printf("    %s\n", err);
    return m;
}

static RoformerSession *begun(const RoformerModel *m, const char *cache, int threads) {
    RoformerSession *s;
    RoformerSessionOptions o = {.size = sizeof o, .cache = cache, .threads = threads, .n_ctx = 200};
    CHECK(roformer_session_new(&s, m, &o, err, sizeof err) == 0);
    return s;
}

/* ---- what is written ---- */

typedef struct { char text[4000]; size_t n, calls, stop_at; } Page;

static int put(void *arg, const char *text, size_t n) {
    Page *p = arg;
    CHECK(p->n + n < sizeof p->text);
    memcpy(p->text + p->n, text, n);
    p->text[p->n += n] = 0;
    return ++p->calls == p->stop_at;
}

/* A text by the library, behind its prompt; the text's end. */
static RoformerEnd written(Page *p, RoformerSession *s, const RoformerSamplerOptions *how, const RoformerModel *m,
                           const char *prompt, RoformerWriteOptions o) {
    RoformerSampler *sampler;
    RoformerWritten what = {.size = sizeof what};
    o.size = sizeof o, o.piece = put, o.arg = p;
    p->calls = 0;
    CHECK(roformer_sampler_new(&sampler, m, how, err, sizeof err) == 0);
    CHECK(roformer_write(s, sampler, prompt, strlen(prompt), &o, &what, err, sizeof err) == 0);
    roformer_sampler_free(sampler);
    return what.end;
}

static size_t guessed, held;

/* With guesses and without: the same text, the same end, and another text behind it; back, and once more. */
static void same_with_lookup(const char *model, RoformerSamplerOptions how, RoformerWriteOptions o) {
    static Page pages[2];
    RoformerModel *m = opened(model, NULL);
    RoformerEnd ends[2];
    size_t at[2];
    how.size = sizeof how;
    for (int lookup = 0; lookup < 2; lookup++) {
        Page *p = &pages[lookup];
        RoformerSession *s = begun(m, NULL, 2);
        *p = (Page){.n = 0};
        o.lookup = lookup;
        written(p, s, &how, m, "One day a day a day a day", o);
        s->ahead.always = 1; /* whether it pays or not */
        ends[lookup] = written(p, s, &how, m, " and a day", o);
        at[lookup] = roformer_position(s);
        CHECK(roformer_rewind(s, 0, err, sizeof err) == 0);
        written(p, s, &how, m, "The sand was a sand was", o);
        o.lookup = !o.lookup; /* nor does it matter to what was written before */
        written(p, s, &how, m, " and", o);
        guessed += s->ahead.n_guessed, held += s->ahead.n_held;
        roformer_session_free(s);
    }
    CHECK(pages[0].n > 15 && pages[0].n == pages[1].n && memcmp(pages[0].text, pages[1].text, pages[0].n) == 0);
    CHECK(ends[0] == ends[1] && at[0] == at[1]);
    roformer_close(m);
}

static void guesses(void) {
    static const char *const stops[] = {"a"};
    static const char *const models[] = {NULL, "model/tales-1m-linear.gguf"};
    for (int i = 0; i < 2; i++) {
        same_with_lookup(models[i], (RoformerSamplerOptions){0}, (RoformerWriteOptions){.max_tokens = 30});
        same_with_lookup(models[i], (RoformerSamplerOptions){.temperature = 1, .seed = 3},
                         (RoformerWriteOptions){.max_tokens = 25, .ignore_eos = 1});
        same_with_lookup(models[i],
                         (RoformerSamplerOptions){.temperature = 0.7f, .repetition_penalty = 1.2f, .seed = 9},
                         (RoformerWriteOptions){.max_tokens = 40, .stops = stops, .n_stops = 1});
    }
    same_with_lookup(NULL, (RoformerSamplerOptions){0}, (RoformerWriteOptions){.max_tokens = 90}); /* context full */
    CHECK(guessed > 100 && held > 20 && held < guessed);
}

/* The program's text and the library's, from the same options. */
static void same_text(const char *model, const char *flags, RoformerSamplerOptions how) {
    Page p = {.text = "One day"};
    p.n = strlen(p.text);
    RoformerModel *m = opened(model, NULL);
    RoformerSession *s = begun(m, NULL, 0);
    how.size = sizeof how;
    written(&p, s, &how, m, "One day", (RoformerWriteOptions){.max_tokens = 60});
    CHECK(run("%s -i 'One day' --max-tokens 60 -q %s", model ? model : "", flags) == 0);
    size_t n = strlen(out);
    CHECK(n && n - 1 == p.n && memcmp(out, p.text, p.n) == 0); /* but for the program's newline */
    roformer_session_free(s);
    roformer_close(m);
}

static void texts(void) {
    static const RoformerBias biases[] = {{300, 5}, {301, -INFINITY}};
    static const char *const breakers[] = {"."};
    same_text(NULL, "-t 0", (RoformerSamplerOptions){0});
    same_text(linear, "-t 0", (RoformerSamplerOptions){0});
    same_text(NULL, "-s 7", (RoformerSamplerOptions){.temperature = 1, .top_p = .9f, .seed = 7});
    same_text(NULL, "-s 7 -t 1.2 -p 0 --top-k 20 --min-p 0.02 --repetition-penalty 1.1 --presence-penalty 0.2 "
              "--frequency-penalty 0.1 --penalty-window 30",
              (RoformerSamplerOptions){.temperature = 1.2f, .top_k = 20, .min_p = .02f, .repetition_penalty = 1.1f,
                                       .presence_penalty = .2f, .frequency_penalty = .1f, .window = 30, .seed = 7});
    same_text(NULL, "-s 3 --logit-bias 300=5,301=-inf --dry-multiplier 0.8 --dry-sequence-breaker . "
              "--xtc-probability 0.5 --xtc-threshold 0.05",
              (RoformerSamplerOptions){.temperature = 1, .top_p = .9f, .seed = 3, .biases = biases, .n_biases = 2,
                                       .dry_multiplier = .8f, .breakers = breakers, .n_breakers = 1,
                                       .xtc_probability = .5f, .xtc_threshold = .05f});
}

/* Two calls, the second without a prompt, write what one does; a callback, a stop text, a full context end a text. */
static void ends(void) {
    static const char *const stops[] = {"upon", "day"};
    RoformerModel *m = opened(NULL, NULL);
    RoformerSession *s = begun(m, NULL, 0);
    RoformerSamplerOptions greedy = {.size = sizeof greedy};
    Page one = {0}, two = {0}, three = {0};
    CHECK(written(&one, s, &greedy, m, "Once", (RoformerWriteOptions){.max_tokens = 30}) == ROFORMER_END_LENGTH);
    size_t at = roformer_position(s);
    CHECK(roformer_rewind(s, 0, err, sizeof err) == 0 && roformer_position(s) == 0);
    CHECK(written(&two, s, &greedy, m, "Once", (RoformerWriteOptions){.max_tokens = 12}) == ROFORMER_END_LENGTH);
    CHECK(written(&two, s, &greedy, m, "", (RoformerWriteOptions){.max_tokens = 18}) == ROFORMER_END_LENGTH);
    CHECK(strcmp(one.text, two.text) == 0 && roformer_position(s) == at);
    roformer_rewind(s, 0, err, sizeof err);
    CHECK(written(&three, s, &greedy, m, "Once", (RoformerWriteOptions){.stops = stops, .n_stops = 2}) ==
          ROFORMER_END_STOP);
    CHECK(strcmp(three.text, " ") == 0);
    three = (Page){.stop_at = 5};
    roformer_rewind(s, 0, err, sizeof err);
    CHECK(written(&three, s, &greedy, m, "Once", (RoformerWriteOptions){0}) == ROFORMER_END_INTERRUPT);
    CHECK(three.n && strncmp(one.text, three.text, three.n) == 0 && three.n < one.n);
    roformer_rewind(s, 0, err, sizeof err);
    three = (Page){0};
    CHECK(written(&three, s, &greedy, m, "Once", (RoformerWriteOptions){.max_tokens = SIZE_MAX, .ignore_eos = 1}) ==
          ROFORMER_END_CONTEXT);
    CHECK(roformer_position(s) == 200);
    CHECK(roformer_eval(s, &(int){5}, 1, NULL, err, sizeof err) == -ENOSPC && strchr(err, '\n') == NULL);
    roformer_session_free(s);
    roformer_close(m);
}

/* A text that has filled its context goes on out of a file, in a longer one, as if it had been there all the time:
 * greedy or not, with guesses or without. */
static void longer(void) {
    RoformerSessionOptions few = {.size = sizeof few, .n_ctx = 16};
    RoformerWriteOptions o = {.size = sizeof o, .max_tokens = SIZE_MAX, .ignore_eos = 1, .piece = put};
    RoformerModel *m = opened(NULL, NULL);
    for (int i = 0; i < 4; i++) {
        RoformerSamplerOptions how = {.size = sizeof how, .temperature = i % 2 ? 1.3f : 0, .seed = 5};
        RoformerSession *s, *t = begun(m, NULL, 1);
        RoformerSampler *one, *two;
        RoformerWritten what = {.size = sizeof what};
        Page whole = {.n = 0}, parts = {.n = 0};
        o.lookup = i / 2;
        CHECK(roformer_session_new(&s, m, &few, err, sizeof err) == 0);
        CHECK(roformer_sampler_new(&one, m, &how, err, sizeof err) == 0);
        CHECK(roformer_sampler_new(&two, m, &how, err, sizeof err) == 0);
        o.arg = &whole;
        CHECK(roformer_write(t, one, "Once upon", 9, &o, NULL, err, sizeof err) == 0 && roformer_position(t) == 200);
        CHECK(roformer_rewind(t, 0, err, sizeof err) == 0);
        o.arg = &parts;
        CHECK(roformer_write(s, two, "Once upon", 9, &o, &what, err, sizeof err) == 0);
        CHECK(what.end == ROFORMER_END_CONTEXT && what.n_prompt + what.n_new == 16 && roformer_position(s) == 16);
        CHECK(roformer_session_save(s, test_tmp("full.state"), err, sizeof err) == 0 && roformer_position(s) == 16);
        CHECK(roformer_session_load(s, test_tmp("full.state"), NULL, err, sizeof err) == 0); /* it fits itself */
        CHECK(roformer_write(s, two, "", 0, &o, &what, err, sizeof err) == 0);
        CHECK(what.end == ROFORMER_END_CONTEXT && what.n_new == 0 && roformer_position(s) == 16);
        CHECK(roformer_session_load(t, test_tmp("full.state"), NULL, err, sizeof err) == 0);
        CHECK(roformer_write(t, two, "", 0, &o, &what, err, sizeof err) == 0 && what.n_new == 200 - 16);
        CHECK(strcmp(whole.text, parts.text) == 0 && roformer_position(t) == 200);
        roformer_sampler_free(one), roformer_sampler_free(two);
        roformer_session_free(s), roformer_session_free(t);
    }
    roformer_close(m);
}

/* ---- logits ---- */

enum { N = 40, VOCAB = 32768 };

static void keep_row(void *arg, size_t i, const float *logits) {
    float *rows = arg;
    memcpy(rows + i * VOCAB, logits, 512 * sizeof *rows);
}

/* In one call, in pieces, behind a way back, out of a file: the same bits, and those of the session below. */
static void logits(void) {
    static const char *const models[] = {NULL, linear};
    for (int i = 0; i < 2; i++) {
        RoformerModel *m = opened(models[i], NULL);
        RoformerSession *s = begun(m, NULL, 0), *t = begun(m, NULL, 1);
        const float *a, *b;
        size_t vocab = (size_t)roformer_number(m, ROFORMER_VOCAB_SIZE), bytes = vocab * sizeof *a;
        int ids[N];
        CHECK(vocab >= 512 && vocab <= VOCAB);
        for (int k = 0; k < N; k++) ids[k] = k ? (k * 37 + 11) % 500 : 1;
        CHECK(roformer_eval(s, ids, N, &a, err, sizeof err) == 0);
        for (int k = 0; k < N; k += 8) CHECK(roformer_eval(t, ids + k, 8, &b, err, sizeof err) == 0);
        CHECK(memcmp(a, b, bytes) == 0 && roformer_position(t) == N);
        const char *path = test_tmp("library.state");
        CHECK(roformer_session_save(s, path, err, sizeof err) == 0);
        CHECK(roformer_rewind(t, 10, err, sizeof err) == (i ? -EINVAL : 0));
        if (i == 0) CHECK(roformer_eval(t, ids + 10, N - 10, &b, err, sizeof err) == 0 && memcmp(a, b, bytes) == 0);
        CHECK(roformer_rewind(t, 0, err, sizeof err) == 0);
        CHECK(roformer_session_load(t, path, &b, err, sizeof err) == 0 && memcmp(a, b, bytes) == 0);
        CHECK(roformer_session_load(t, "/nowhere", &b, err, sizeof err) < 0 && b == NULL && roformer_position(t) == 0);
        float *rows = calloc((size_t)N * VOCAB, sizeof *rows);
        CHECK(roformer_eval_each(t, ids, N, keep_row, rows, err, sizeof err) == 0);
        CHECK(memcmp(rows + (size_t)(N - 1) * VOCAB, a, 512 * sizeof *a) == 0);
        free(rows);
        roformer_session_free(s), roformer_session_free(t), roformer_close(m);
    }
}

/* A session that went back, or whose logits nobody wanted, is saved all the same; linear attention wants its last id
 * read with them. */
static void saved_without_logits(void) {
    static const char *const models[] = {NULL, linear};
    const char *path = test_tmp("quiet.state");
    for (int i = 0; i < 2; i++) {
        RoformerModel *m = opened(models[i], NULL);
        RoformerSession *s = begun(m, NULL, 0), *t = begun(m, NULL, 0);
        const float *a, *b;
        size_t bytes = (size_t)roformer_number(m, ROFORMER_VOCAB_SIZE) * sizeof *a;
        int ids[N];
        for (int k = 0; k < N; k++) ids[k] = k ? (k * 37 + 11) % 500 : 1;
        for (int back = 0; back < 2; back++) {
            size_t n = back && i == 0 ? 10 : N;
            CHECK(roformer_rewind(s, 0, err, sizeof err) == 0 && roformer_rewind(t, 0, err, sizeof err) == 0);
            CHECK(roformer_eval(s, ids, N, back ? &a : NULL, err, sizeof err) == 0);
            if (n < N) CHECK(roformer_rewind(s, n, err, sizeof err) == 0);
            int rc = roformer_session_save(s, path, err, sizeof err);
            CHECK(rc == (i && !back ? -EINVAL : 0) && roformer_position(s) == n);
            if (rc) CHECK(strstr(err, "read an id with logits first") != NULL);
            if (rc) continue;
            CHECK(roformer_session_load(t, path, &b, err, sizeof err) == 0 && roformer_position(t) == n);
            CHECK(roformer_rewind(s, 0, err, sizeof err) == 0);
            CHECK(roformer_eval(s, ids, n, &a, err, sizeof err) == 0 && memcmp(a, b, bytes) == 0);
        }
        roformer_session_free(s), roformer_session_free(t), roformer_close(m);
    }
}

/* ---- threads ---- */

typedef struct { const RoformerModel *model; int seed; Page page; float *logits; } Reader;

static void *read_and_write(void *arg) {
    Reader *r = arg;
    RoformerSession *s = begun(r->model, NULL, 2);
    RoformerSamplerOptions how = {.size = sizeof how, .temperature = 1, .seed = (uint64_t)r->seed};
    const float *last;
    int id = 7;
    written(&r->page, s, &how, r->model, r->seed % 2 ? "Tom" : "A red ball",
            (RoformerWriteOptions){.max_tokens = 40});
    CHECK(roformer_eval(s, &id, 1, &last, err, sizeof err) == 0);
    memcpy(r->logits, last, (size_t)roformer_number(r->model, ROFORMER_VOCAB_SIZE) * sizeof *last);
    roformer_session_free(s);
    return NULL;
}

static void threads(void) {
    enum { MOST = 3 };
    RoformerModel *m = opened(NULL, NULL);
    size_t vocab = (size_t)roformer_number(m, ROFORMER_VOCAB_SIZE);
    static Reader alone[MOST], together[MOST];
    pthread_t thread[MOST];
    for (int i = 0; i < MOST; i++) {
        alone[i] = (Reader){.model = m, .seed = i + 1, .logits = calloc(vocab, sizeof(float))};
        together[i] = (Reader){.model = m, .seed = i + 1, .logits = calloc(vocab, sizeof(float))};
        read_and_write(&alone[i]);
    }
    for (int i = 0; i < MOST; i++) CHECK(pthread_create(&thread[i], NULL, read_and_write, &together[i]) == 0);
    for (int i = 0; i < MOST; i++) {
        pthread_join(thread[i], NULL);
        CHECK(strcmp(alone[i].page.text, together[i].page.text) == 0 && alone[i].page.n > 20);
        CHECK(memcmp(alone[i].logits, together[i].logits, vocab * sizeof(float)) == 0);
        free(alone[i].logits), free(together[i].logits);
    }
    roformer_close(m);
}

/* ---- texts, vectors, attention ---- */

static void tokenizer(void) {
    static const char text[] = "Tom's caf\303\251 \360\237\230\200";
    RoformerModel *m = opened(NULL, NULL);
    int *ids;
    size_t n, len;
    char *back;
    CHECK(roformer_tokenize(m, text, strlen(text), ROFORMER_ADD_BOS, &ids, &n, err, sizeof err) == 0 && n > 3);
    CHECK(ids[0] == roformer_number(m, ROFORMER_BOS) && roformer_number(m, ROFORMER_EOS) >= 0);
    CHECK(roformer_detokenize(m, ids, n, 0, &back, &len, err, sizeof err) == 0);
    CHECK(len == strlen(text) && strcmp(back, text) == 0);
    CHECK(roformer_piece(m, ids[1], &len) != NULL && len > 0);
    CHECK(roformer_piece(m, -1, &len) == NULL && roformer_piece(m, 1 << 20, &len) == NULL);
    roformer_free(ids), roformer_free(back);
    CHECK(roformer_tokenize(m, "", 0, 0, &ids, &n, err, sizeof err) == 0 && n == 0 && ids);
    roformer_free(ids);
    CHECK(roformer_detokenize(m, NULL, 0, 0, &back, &len, err, sizeof err) == 0 && len == 0 && back[0] == 0);
    roformer_free(back);
    CHECK(roformer_word(m, ROFORMER_TOKENIZER) && roformer_word(m, ROFORMER_KERNELS));
    CHECK(strcmp(roformer_word(m, ROFORMER_ARCH), "llama") == 0);
    CHECK(strcmp(roformer_word(m, ROFORMER_ROPE), "none") == 0);
    roformer_close(m);
}

static void vectors(void) {
    static const char *const models[] = {NULL, "model/words-1m.gguf"}, *const poolings[] = {"mean", "cls"};
    for (int i = 0; i < 2; i++) {
        RoformerModel *m = opened(models[i], NULL);
        RoformerEmbedder *e;
        RoformerEmbedOptions o = {.size = sizeof o, .pooling = poolings[i], .normalize = i};
        CHECK(roformer_embedder_new(&e, m, &o, err, sizeof err) == 0);
        size_t width = roformer_width(e);
        CHECK(width == (size_t)roformer_number(m, ROFORMER_D_MODEL));
        float *v = malloc(width * sizeof *v);
        CHECK(roformer_embed(e, "a red ball", 10, v, err, sizeof err) == 0);
        CHECK(run("embed %s 'a red ball' --pooling %s %s", models[i] ? models[i] : "model/tales-1m.gguf", poolings[i],
                  i ? "--normalize" : "") == 0);
        char *at = out;
        for (size_t k = 0; k < width; k++) CHECK(strtof(at, &at) == v[k]); /* nine digits: the same bits */
        free(v);
        roformer_embedder_free(e);
        o.pooling = "middle";
        CHECK(roformer_embedder_new(&e, m, &o, err, sizeof err) == -EINVAL && e == NULL && strstr(err, "middle"));
        o = (RoformerEmbedOptions){.size = sizeof o, .dimensions = width + 1};
        CHECK(roformer_embedder_new(&e, m, &o, err, sizeof err) == -EINVAL && strstr(err, "dimensions"));
        roformer_close(m);
    }
}

static void attention(void) {
    static const char *const models[] = {NULL, linear};
    int ids[N];
    for (int k = 0; k < N; k++) ids[k] = k ? (k * 37 + 11) % 500 : 1;
    for (int i = 0; i < 2; i++) {
        RoformerModel *m = opened(models[i], NULL);
        int heads = (int)roformer_number(m, ROFORMER_N_HEADS), layers = (int)roformer_number(m, ROFORMER_N_LAYERS);
        double *all = malloc((size_t)heads * N * N * sizeof *all), one[N * N];
        CHECK(roformer_attention(m, ids, N, layers - 1, -1, 0, all, err, sizeof err) == 0);
        CHECK(roformer_attention(m, ids, N, layers - 1, heads - 1, 1, one, err, sizeof err) == 0);
        CHECK(memcmp(one, all + (size_t)(heads - 1) * N * N, sizeof one) == 0);
        for (int q = 0; q < N; q++) {
            double sum = 0;
            for (int k = 0; k < N; k++) CHECK(isnan(one[q * N + k]) == (k > q));
            for (int k = 0; k <= q; k++) sum += one[q * N + k];
            if (i == 0) NEAR(sum, 1, 1e-12, 0);
        }
        CHECK(roformer_attention(m, ids, N, layers, 0, 0, one, err, sizeof err) == -EINVAL && strstr(err, "layer"));
        CHECK(roformer_attention(m, ids, N, 0, heads, 0, one, err, sizeof err) == -EINVAL && strstr(err, "head"));
        CHECK(roformer_attention(m, ids, 0, 0, 0, 0, one, err, sizeof err) == -EINVAL);
        CHECK(roformer_attention(m, &(int){-3}, 1, 0, 0, 0, one, err, sizeof err) == -EINVAL);
        free(all);
        roformer_close(m);
    }
}

/* An encoder reads each call as a text of its own, and cannot write. */
static void encoder(void) {
    RoformerModel *m = opened("model/words-1m.gguf", NULL);
    RoformerSession *s = begun(m, NULL, 0);
    RoformerSampler *sampler;
    const float *a;
    float *rows = calloc((size_t)N * VOCAB, sizeof *rows), first[512];
    int *ids;
    size_t n;
    CHECK(roformer_number(m, ROFORMER_READS_WHOLE) == 1 && roformer_number(m, ROFORMER_VOCAB_SIZE) >= 512);
    CHECK(roformer_tokenize(m, "The dog barked.", 15, ROFORMER_ADD_BOS | ROFORMER_ADD_EOS, &ids, &n, err,
                            sizeof err) == 0);
    CHECK(roformer_eval_each(s, ids, n, keep_row, rows, err, sizeof err) == 0);
    memcpy(first, rows + (n - 1) * VOCAB, sizeof first);
    CHECK(roformer_eval(s, ids, n, &a, err, sizeof err) == 0 && memcmp(first, a, sizeof first) == 0);
    CHECK(roformer_sampler_new(&sampler, m, NULL, err, sizeof err) == 0);
    CHECK(roformer_write(s, sampler, "The", 3, NULL, NULL, err, sizeof err) == -EINVAL && strstr(err, "write"));
    roformer_free(ids);
    free(rows);
    roformer_sampler_free(sampler), roformer_session_free(s), roformer_close(m);
}

/* ---- what is refused ---- */

static int refused(const char *path, const RoformerOptions *o, const char *why) {
    RoformerModel *m;
    int rc = roformer_open(&m, path, o, err, sizeof err);
    int good = rc < 0 && m == NULL && strstr(err, why) && !strchr(err, '\n');
    if (!good) printf("    %d: %s\n", rc, err);
    roformer_close(m);
    return good;
}

#define WITH(...) &(RoformerOptions){.size = sizeof(RoformerOptions), __VA_ARGS__}

static void refusals(void) {
    struct { RoformerOptions ours; int later; } next = {.ours.size = sizeof next, .later = 1};
    CHECK(refused("/nowhere/x.gguf", NULL, "/nowhere/x.gguf"));
    CHECK(refused("README.md", NULL, "README.md"));
    CHECK(refused(NULL, &(RoformerOptions){0}, "size") && refused(NULL, &next.ours, "does not know"));
    next.later = 0;
    roformer_close(opened(NULL, &next.ours));
    CHECK(refused(NULL, WITH(.rope = "yarm"), "yarm") && refused(NULL, WITH(.rope_theta = -1), "rope_theta"));
    CHECK(refused(NULL, WITH(.rope_theta = NAN), "rope_theta") && refused(NULL, WITH(.n_ctx = -1), "n_ctx"));
    CHECK(refused(NULL, WITH(.rope = "yarn:factor=2", .rope_factor = 2), "rope_factor"));
    CHECK(refused(NULL, WITH(.attention = "hard"), "hard") && refused(NULL, WITH(.kernels = "mmx"), "it has ref"));
    CHECK(refused(NULL, WITH(.phi = "x"), "phi") && refused(linear, WITH(.form = "x"), "form"));
    CHECK(refused(NULL, WITH(.threads = -1), "threads") && refused(NULL, WITH(.tokenizer = "/nowhere"), "/nowhere"));
    CHECK(refused(NULL, WITH(.mask = "lace"), "lace") && refused(NULL, WITH(.loras = NULL, .n_loras = 1), "n_loras"));
    CHECK(refused(linear, WITH(.epsilon = &(double){2}), "epsilon") && refused(linear, WITH(.favor_features = 3), "3"));
    CHECK(roformer_open(&(RoformerModel *){0}, "/nowhere", NULL, NULL, 0) == -ENOENT);

    RoformerModel *m = opened(NULL, WITH(.no_tokenizer = 1));
    RoformerSession *s;
    RoformerSampler *sampler;
    RoformerSessionOptions so = {.size = sizeof so, .cache = "f64"};
    RoformerSamplerOptions how = {.size = sizeof how, .temperature = -1};
    int *ids;
    size_t n;
    CHECK(roformer_number(m, ROFORMER_HAS_TOKENIZER) == 0 && roformer_word(m, ROFORMER_TOKENIZER) == NULL);
    CHECK(roformer_tokenize(m, "a", 1, 0, &ids, &n, err, sizeof err) == -EINVAL && ids == NULL && strstr(err, "token"));
    CHECK(roformer_session_new(&s, m, &so, err, sizeof err) == -EINVAL && s == NULL && strstr(err, "f64"));
    so.cache = NULL, so.n_ctx = SIZE_MAX / 2;
    CHECK(roformer_session_new(&s, m, &so, err, sizeof err) == -ENOMEM && s == NULL);
    CHECK(roformer_sampler_new(&sampler, m, &how, err, sizeof err) == -EINVAL && !sampler);
    CHECK(strstr(err, "temperature"));
    how = (RoformerSamplerOptions){.size = sizeof how, .xtc_probability = 2};
    CHECK(roformer_sampler_new(&sampler, m, &how, err, sizeof err) == -EINVAL && !sampler && strstr(err, "XTC"));
    how = (RoformerSamplerOptions){.size = sizeof how, .biases = &(RoformerBias){1 << 30, 1}, .n_biases = 1};
    CHECK(roformer_sampler_new(&sampler, m, &how, err, sizeof err) == -EINVAL && !sampler);
    s = begun(m, "f32", 0);
    CHECK(roformer_eval(s, &(int){1 << 30}, 1, NULL, err, sizeof err) == -EINVAL && roformer_position(s) == 0);
    CHECK(roformer_rewind(s, 1, err, sizeof err) == -EINVAL);
    CHECK(roformer_session_save(s, test_tmp("nothing"), err, sizeof err) < 0);
    roformer_session_free(s);
    roformer_close(m);
    roformer_session_free(NULL), roformer_sampler_free(NULL), roformer_embedder_free(NULL), roformer_close(NULL);
    CHECK(roformer_version() == ROFORMER_VERSION);
}

/* A state that was saved under one locale, of a model whose RoPE has a number with a point, is loaded under another. */
static void carried(const RoformerModel *m, const char *from, const char *to) {
    RoformerSession *s = begun(m, NULL, 1);
    const char *path = test_tmp("locale.state");
    const float *a, *b;
    int id = 5;
    float first = 0;
    (void)setlocale(LC_NUMERIC, from);
    CHECK(roformer_eval(s, &id, 1, &a, err, sizeof err) == 0);
    if (a) first = a[7];
    CHECK(roformer_session_save(s, path, err, sizeof err) == 0);
    (void)setlocale(LC_NUMERIC, to);
    CHECK(roformer_session_load(s, path, &b, err, sizeof err) == 0 && b && b[7] == first);
    roformer_session_free(s);
}

/* A program whose numbers are written with a comma, as in Germany. */
static void comma(void) {
    static const char *const ropes[] = {"yarn:factor=2.5", "yarn:factor=2.5+rerope:window=128"};
    const char *folder = test_folder("locales");
    setenv("LOCPATH", folder, 1);
    if (shell("localedef --no-archive -i de_DE -f UTF-8 %s/de_DE.UTF-8", folder) ||
        !setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
        test_skip("localedef or the locale de_DE is not here");
        return;
    }
    RoformerModel *m = opened(NULL, WITH(.rope = "yarn:factor=2.5"));
    if (m) CHECK(strstr(roformer_word(m, ROFORMER_ROPE), "factor=2.5"));
    CHECK(strtod("1,5", NULL) == 1.5); /* as the program had it */
    roformer_close(m);
    for (int i = 0; i < 2; i++) { /* the second's spec is in the model's fingerprint, too */
        if (!(m = opened(NULL, WITH(.rope = ropes[i])))) continue;
        carried(m, "de_DE.UTF-8", "C");
        carried(m, "C", "de_DE.UTF-8");
        carried(m, "de_DE.UTF-8", "de_DE.UTF-8");
        CHECK(strtod("1,5", NULL) == 1.5);
        roformer_close(m);
    }
    (void)setlocale(LC_NUMERIC, "C");
}

const Test tests_library[] = {{"library/texts as run writes them", texts}, {"library/ends of a text", ends},
                              {"library/a full context", longer},
                              {"library/guesses", guesses},
                              {"library/logits", logits},
                              {"library/saved without logits", saved_without_logits}, {"library/threads", threads},
                              {"library/tokenizer", tokenizer}, {"library/vectors", vectors},
                              {"library/attention", attention}, {"library/encoder", encoder},
                              {"library/refusals", refusals}, {"library/locale", comma}, {0}};
