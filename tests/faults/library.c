/* tests/faults/library.c - jobs beside the commands. Each call of roformer.h that fails says why, leaves its objects as
 * they were, and succeeds when it is made again; a text written with guesses goes on where a failure broke it off, from
 * the logits that it has without. What they print is what they print where nothing fails. */
#include "faults.h"

#include "roformer.h"
#include "base/hash.h"
#include "lab/plot/parts.h"
#include "model/timeline.h"
#include "text/ahead.h"
#include "text/edit.h"
#include "text/open.h"
#include "text/write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK = 32 }; /* ids whose attention is asked for */
enum { ATTEMPTS = 2, FAILED = 1, BROKEN = 7 }; /* exit codes; BROKEN: a promise of roformer.h is */

typedef struct {
    char err[300];
    int code;
    char text[4000]; /* what write gave */
    size_t n_text;
} Run;

/* What a call gave: 1, make it again. */
static int again(Run *r, int rc, int *attempts) {
    if (r->code || rc == 0) return 0;
    if (rc > 0 || !*r->err || strchr(r->err, '\n')) return r->code = BROKEN, 0;
    if (++*attempts < ATTEMPTS) return *r->err = 0, 1;
    fprintf(stderr, "run: %s\n", r->err);
    r->code = FAILED;
    return 0;
}

/* Make a call until it succeeds, at most ATTEMPTS times. */
#define TRY(r, call) do { \
    int attempts = 0; \
    while (!(r)->code && again(r, call, &attempts)) continue; \
    } while (0)
#define HOLDS(r, cond) do { if (!(r)->code && !(cond)) fprintf(stderr, "%s\n", #cond), (r)->code = BROKEN; } while (0)

static void print_numbers(const Run *r, const char *what, const void *data, size_t bytes) {
    if (r->code == 0) printf("%s %016llx\n", what, (unsigned long long)hash_bytes(HASH_START, data, bytes));
}

/* ---- roformer.h ---- */

static int take_text(void *arg, const char *text, size_t n) {
    Run *r = arg;
    if (n > sizeof r->text - r->n_text) n = sizeof r->text - r->n_text;
    memcpy(r->text + r->n_text, text, n);
    r->n_text += n;
    return 0;
}

/* From the beginning: a text that was broken off is written anew. */
static int write_text(Run *r, RoformerSession *s, RoformerSampler *sampler) {
    const RoformerWriteOptions o = {.size = sizeof o, .max_tokens = 12, .piece = take_text, .arg = r};
    int rc = roformer_rewind(s, 0, r->err, sizeof r->err);
    r->n_text = 0;
    return rc ? rc : roformer_write(s, sampler, "the sand", 8, &o, NULL, r->err, sizeof r->err);
}

static void use_session(Run *r, RoformerModel *m, const char *folder) {
    RoformerSession *s = NULL, *other = NULL;
    RoformerSampler *sampler = NULL;
    const RoformerSessionOptions so = {.size = sizeof so, .n_ctx = 48, .threads = 1};
    const RoformerSamplerOptions how = {.size = sizeof how, .dry_multiplier = 0.5f, .xtc_probability = 0.1f};
    const float *logits = NULL;
    size_t vocab = (size_t)roformer_number(m, ROFORMER_VOCAB_SIZE), n = 0, len = 0;
    int *ids = NULL;
    char path[600], *text = NULL;
    TRY(r, roformer_tokenize(m, "the sand and the sea", 20, ROFORMER_ADD_BOS, &ids, &n, r->err, sizeof r->err));
    TRY(r, roformer_detokenize(m, ids, n, 0, &text, &len, r->err, sizeof r->err));
    TRY(r, roformer_session_new(&s, m, &so, r->err, sizeof r->err));
    TRY(r, roformer_session_new(&other, m, &so, r->err, sizeof r->err));
    TRY(r, roformer_sampler_new(&sampler, m, &how, r->err, sizeof r->err));
    TRY(r, roformer_eval(s, ids, 2, &logits, r->err, sizeof r->err));
    HOLDS(r, roformer_position(s) == 2);
    TRY(r, roformer_eval(s, ids + 2, n - 2, &logits, r->err, sizeof r->err));
    HOLDS(r, roformer_position(s) == n && logits);
    if (logits) print_numbers(r, "logits", logits, vocab * sizeof *logits);
    if (folder) {
        snprintf(path, sizeof path, "%s/state", folder);
        TRY(r, roformer_session_save(s, path, r->err, sizeof r->err));
        TRY(r, roformer_session_load(other, path, &logits, r->err, sizeof r->err));
        if (logits) print_numbers(r, "loaded", logits, vocab * sizeof *logits);
    }
    TRY(r, write_text(r, s, sampler));
    print_numbers(r, "text", r->text, r->n_text);
    if (strcmp(roformer_word(m, ROFORMER_ARCH), "llama") == 0 && n <= LOOK) {
        static double weights[LOOK * LOOK];
        TRY(r, roformer_attention(m, ids, n, 0, 0, 1, weights, r->err, sizeof r->err));
        print_numbers(r, "attention", weights, n * n * sizeof *weights);
    }
    roformer_sampler_free(sampler);
    roformer_session_free(s);
    roformer_session_free(other);
    roformer_free(ids);
    roformer_free(text);
}

static void use_embedder(Run *r, RoformerModel *m) {
    const RoformerEmbedOptions o = {.size = sizeof o, .threads = 1};
    RoformerEmbedder *e = NULL;
    float vector[256];
    TRY(r, roformer_embedder_new(&e, m, &o, r->err, sizeof r->err));
    size_t width = e ? roformer_width(e) : 0;
    HOLDS(r, width && width <= sizeof vector / sizeof *vector);
    TRY(r, roformer_embed(e, "a the b", 7, vector, r->err, sizeof r->err));
    print_numbers(r, "vector", vector, width * sizeof *vector);
    roformer_embedder_free(e);
}

static int library_job(const char *path, const char *folder) {
    const RoformerOptions o = {.size = sizeof o, .threads = 1};
    Run r = {.code = 0};
    RoformerModel *m = NULL;
    TRY(&r, roformer_open(&m, path, &o, r.err, sizeof r.err));
    HOLDS(&r, (m != NULL));
    if (r.code == 0 && roformer_number(m, ROFORMER_READS_WHOLE) == 1) use_embedder(&r, m);
    else if (r.code == 0) use_session(&r, m, folder);
    roformer_close(m);
    return r.code;
}

/* ---- guesses ---- */

enum { PROMPT = 24, WRITTEN = 24, ROOM = 33, GUESSES = 4 }; /* the ids grow in the midst, while guesses are read */

/* Always as many as may be, right or wrong: so the session is ahead of the text whatever fails. */
static size_t guess(void *arg, const Sampler *sampler, const int *ids, size_t n, int *guesses, size_t most, int *kind) {
    (void)arg, (void)sampler;
    for (size_t i = 0; i < most; i++) guesses[i] = ids[(n + i) % PROMPT];
    *kind = 0;
    return most;
}

static int no_piece(void *arg, const char *text, size_t n) { return (void)arg, (void)text, (void)n, 0; }

/* Behind a failure the session has read ids [n_ids], or all but the last, which is read now: with the logits that
 * another session has of the same. */
static void go_on(Run *r, TextWriter *w, Session *s, Session *plain) {
    const float *logits, *own = s->logits;
    HOLDS(r, s->pos == w->n_ids || s->pos + 1 == w->n_ids);
    if (r->code == 0 && s->pos < w->n_ids) TRY(r, session_eval(s, w->ids + s->pos, 1, &own, r->err, sizeof r->err));
    HOLDS(r, session_rewind(plain, 0) == 0);
    TRY(r, session_eval(plain, w->ids, w->n_ids, &logits, r->err, sizeof r->err));
    HOLDS(r, memcmp(own, logits, (size_t)s->model->config.vocab_size * sizeof *own) == 0);
}

static void write_guessing(Run *r, const Model *m, Tokenizer *t, Session *s, Session *plain) {
    Sampler sampler = {.rng = 1};
    Ahead ahead = {.n_ids = 0};
    const float *logits = NULL;
    int prompt[PROMPT];
    for (int i = 0; i < PROMPT; i++) prompt[i] = 3 + i % 4;
    TRY(r, sampler_init(&sampler, (size_t)m->config.vocab_size, &(SamplerOptions){.repetition_penalty = 1}, r->err,
                        sizeof r->err));
    TextWriter w = {.session = s, .tokenizer = t, .sampler = &sampler, .limit = WRITTEN, .piece = no_piece,
                    .keep_ids = 1, .ignore_eos = 1, .n_ids = PROMPT, .cap_ids = ROOM};
    for (int i = 0; i < ATTEMPTS && !w.ids; i++) w.ids = malloc(ROOM * sizeof *w.ids);
    if (!w.ids) fprintf(stderr, "run: out of memory\n"), r->code = FAILED;
    if (r->code == 0) memcpy(w.ids, prompt, sizeof prompt);
    TRY(r, session_eval(s, prompt, PROMPT, &logits, r->err, sizeof r->err));
    if (r->code == 0) TRY(r, ahead_init(&ahead, s, (Draft){.guess = guess}, GUESSES, r->err, sizeof r->err));
    ahead.always = 1;
    w.ahead = &ahead;
    for (int i = 0; i < ATTEMPTS && r->code == 0 && w.n_ids < PROMPT + WRITTEN; i++) {
        w.limit = PROMPT + WRITTEN - w.n_ids;
        int rc = text_write(&w, s->logits, r->err, sizeof r->err);
        if (rc == 0) break;
        HOLDS(r, rc < 0 && *r->err);
        if (i + 1 == ATTEMPTS) fprintf(stderr, "run: %s\n", r->err), r->code = FAILED;
        else go_on(r, &w, s, plain);
    }
    HOLDS(r, w.n_ids == PROMPT + WRITTEN);
    if (r->code == 0) print_numbers(r, "ids", w.ids, w.n_ids * sizeof *w.ids);
    text_writer_free(&w);
    ahead_free(&ahead);
    sampler_free(&sampler);
}

static int guessing_job(const char *path, const char *folder) {
    (void)folder;
    Run r = {.code = 0};
    Model m = {.layers = NULL};
    Tokenizer *t = NULL;
    Session s = {.model = NULL}, plain = {.model = NULL};
    const SessionOptions o = {.n_ctx = 64, .threads = 1, .n_logits = GUESSES + 1};
    TRY(&r, model_open(&m, path, NULL, r.err, sizeof r.err));
    if (r.code) return r.code;
    TRY(&r, vocabulary_open(&t, &m.weights, NULL, 0, NULL, r.err, sizeof r.err));
    TRY(&r, session_init(&s, &m, &o, r.err, sizeof r.err));
    TRY(&r, session_init(&plain, &m, &o, r.err, sizeof r.err));
    if (r.code == 0) write_guessing(&r, &m, t, &s, &plain);
    session_free(&s);
    session_free(&plain);
    tokenizer_free(t);
    model_close(&m);
    return r.code;
}

/* ---- the line editor ---- */

/* Lines as they are typed, with each kind of key that keeps something: killed, taken back, older and newer, pasted.
 * Nothing that is printed hangs on history, for a line that cannot be remembered is no failure. */
static int editing_job(const char *model, const char *folder) {
    (void)model, (void)folder;
    static const char *const lines[] = {"the sand and the sea\1\13\31\31\r", "the \xe6\xb2\x99\xff\27\31 sea\r",
                                        "it was\033[A\033[A\033[B\033[B warm\r",
                                        "\033[200~two\nlines\033[201~\033bagain \025\031\f\r"};
    LineEditor e;
    EditWhat what = EDIT_MORE;
    edit_init(&e, plot_columns);
    for (size_t i = 0; i < sizeof lines / sizeof *lines && what != EDIT_FAILED; i++) {
        edit_begin(&e, "> ", 20);
        what = EDIT_MORE;
        for (const char *key = lines[i]; what == EDIT_MORE; key++)
            if ((what = edit_byte(&e, (unsigned char)*key)) != EDIT_FAILED && edit_draw(&e, 0)) what = EDIT_FAILED;
        if (what == EDIT_FAILED) fprintf(stderr, "run: out of memory for the line\n");
        else printf("%s\n", e.text), edit_remember(&e);
    }
    edit_free(&e);
    return what == EDIT_FAILED;
}

const char *const fault_program = "run";
const FaultJob fault_jobs[] = {{"library", library_job}, {"guessing", guessing_job}, {"editing", editing_job}, {0}};
