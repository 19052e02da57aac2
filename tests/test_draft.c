/* tests/test_draft.c - guesses change no text: whoever guesses, and however badly, ids, text, end, position and logits
 * are those of the writer that reads one id at a time. */
#include "decoder_files.h"
#include "program.h"
#include "test.h"

#include "base/hash.h"
#include "model/options.h"
#include "model/sampler_more.h"
#include "model/timeline.h"
#include "text/draft_model.h"
#include "text/lookup.h"
#include "text/open.h"
#include "text/stops.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROMPT = 12, MOST = 9 };

/* A model, and a way to read and draw. */
typedef struct {
    const char *path; /* NULL: built in */
    ModelOptions model;
    SessionOptions session;
    SamplerOptions sampler;
    SamplerMore more; /* where .sampler.more is set */
    size_t limit;
    const char *stop;
} World;

typedef struct {
    Model model;
    Session session;
    Sampler sampler;
    SamplerMore more;
    Tokenizer *tokenizer;
    char err[300];
} Opened;

typedef struct {
    char text[8000];
    size_t n, n_ids, n_new, pos;
    int ids[2000], has_logits;
    TextEnd end;
    float *logits; /* after the last id that was read */
} Written;

static void open_world(Opened *o, const World *w, size_t n_logits) {
    SessionOptions so = w->session;
    SamplerOptions sampler = w->sampler;
    so.n_logits = n_logits;
    if (!so.threads) so.threads = 1;
    int rc = w->path ? model_open(&o->model, w->path, &w->model, o->err, sizeof o->err)
                     : model_open_memory(&o->model, builtin_model, builtin_model_size, "built in", &w->model, o->err,
                                         sizeof o->err);
    CHECK(rc == 0);
    CHECK(vocabulary_open(&o->tokenizer, &o->model.weights, NULL, 0, NULL, o->err, sizeof o->err) == 0);
    CHECK(session_init(&o->session, &o->model, &so, o->err, sizeof o->err) == 0);
    if (sampler.more) {
        o->more = w->more;
        CHECK(sampler_more_init(&o->more, (size_t)o->model.config.vocab_size, o->err, sizeof o->err) == 0);
        sampler.more = &o->more;
    }
    CHECK(sampler_init(&o->sampler, (size_t)o->model.config.vocab_size, &sampler, o->err, sizeof o->err) == 0);
}

static void close_world(Opened *o) {
    sampler_free(&o->sampler);
    sampler_more_free(&o->more);
    session_free(&o->session);
    tokenizer_free(o->tokenizer);
    model_close(&o->model);
}

static int take(void *arg, const char *s, size_t n) {
    Written *t = arg;
    CHECK(t->n + n < sizeof t->text);
    if (n) memcpy(t->text + t->n, s, n);
    t->n += n;
    return 0;
}

/* A prompt of some ids, the last of which stood there before, so that something is found to begin with. */
static void make_prompt(const Model *m, uint64_t seed, int *ids) {
    ids[0] = m->config.bos_id >= 0 ? m->config.bos_id : 0;
    for (uint64_t i = 1; i < PROMPT; i++)
        ids[i] = i < PROMPT - 3 ? (int)(3 + hash_mix(seed * 31 + i) % ((uint64_t)m->config.vocab_size - 3))
                                : ids[i - 5];
}

static void write_text(Written *t, Opened *o, const World *w, uint64_t seed, Ahead *ahead) {
    const float *logits;
    int *ids = malloc(PROMPT * sizeof *ids);
    TextStops stops = {.piece = take, .arg = t};
    CHECK(ids != NULL);
    if (w->stop) stops.texts[stops.n_texts++] = w->stop;
    *t = (Written){.n = 0};
    session_rewind(&o->session, 0);
    make_prompt(&o->model, seed, ids);
    o->sampler.rng = seed + 1;
    TextWriter writer = {.session = &o->session, .tokenizer = o->tokenizer, .sampler = &o->sampler, .limit = w->limit,
                         .piece = text_stops_piece, .arg = &stops, .ids = ids, .n_ids = PROMPT, .cap_ids = PROMPT,
                         .keep_ids = 1, .stream = {.begun = 1}, .ahead = ahead};
    CHECK(session_eval(&o->session, ids, PROMPT, &logits, o->err, sizeof o->err) == 0);
    CHECK(text_write(&writer, logits, o->err, sizeof o->err) == 0);
    CHECK(text_stops_finish(&stops, &writer, o->err, sizeof o->err) == 0);
    CHECK(writer.n_ids <= sizeof t->ids / sizeof *t->ids);
    memcpy(t->ids, writer.ids, writer.n_ids * sizeof *t->ids);
    t->n_ids = writer.n_ids, t->n_new = writer.n_new, t->end = writer.end;
    t->pos = o->session.pos, t->has_logits = o->session.has_logits;
    size_t bytes = (size_t)o->model.config.vocab_size * sizeof *t->logits;
    t->logits = malloc(bytes);
    CHECK(t->logits != NULL);
    memcpy(t->logits, o->session.logits, bytes);
    text_stops_free(&stops);
    text_writer_free(&writer);
}

static int alike(const Written *a, const Written *b, size_t vocab) {
    return a->n == b->n && memcmp(a->text, b->text, a->n) == 0 && a->n_ids == b->n_ids && a->n_new == b->n_new &&
           memcmp(a->ids, b->ids, a->n_ids * sizeof *a->ids) == 0 && a->end == b->end && a->pos == b->pos &&
           a->has_logits == b->has_logits && memcmp(a->logits, b->logits, vocab * sizeof *a->logits) == 0;
}

/* Who knows the text, and says something else as often as it is told to. */
typedef struct {
    const Written *text;
    uint64_t state;
    int wrong, vocab; /* of 100 */
} Knower;

static size_t know(void *arg, const Sampler *sampler, const int *ids, size_t n, int *guesses, size_t most,
                   int *kind) {
    Knower *k = arg;
    (void)sampler, (void)ids;
    *kind = 1;
    most = 1 + (size_t)(hash_mix(++k->state) % most);
    for (size_t i = 0; i < most; i++) {
        int right = n + i < k->text->n_ids ? k->text->ids[n + i] : 5;
        uint64_t x = hash_mix(++k->state);
        guesses[i] = (int)(x % 100) < k->wrong ? (int)((x >> 32) % (uint64_t)k->vocab) : right;
    }
    return most;
}

/* `texts` texts of a world, with guesses right in all, most, half and no cases, and looked up; how many held. */
static size_t check_world(const World *w, int texts) {
    static const int wrong[] = {0, 10, 50, 100};
    static Written plain, guessed;
    Opened one = {0}, many = {0};
    size_t held = 0, n_guessed = 0;
    open_world(&one, w, 1);
    open_world(&many, w, MOST + 1);
    size_t vocab = (size_t)one.model.config.vocab_size;
    Lookup *lookup = lookup_new();
    CHECK(lookup != NULL);
    for (int seed = 1; seed <= texts; seed++) {
        Knower k = {.text = &plain, .state = (uint64_t)seed, .wrong = wrong[seed % 4], .vocab = (int)vocab};
        Draft draft = seed % 5 ? (Draft){.guess = know, .arg = &k} : lookup_draft(lookup);
        Ahead ahead;
        write_text(&plain, &one, w, (uint64_t)seed, NULL);
        CHECK(ahead_init(&ahead, &many.session, draft, MOST, many.err, sizeof many.err) == 0);
        ahead.always = 1;
        write_text(&guessed, &many, w, (uint64_t)seed, &ahead);
        CHECK(alike(&plain, &guessed, vocab));
        held += ahead.n_held, n_guessed += ahead.n_guessed;
        CHECK(ahead.n_held <= ahead.n_guessed);
        ahead_free(&ahead);
        free(plain.logits);
        free(guessed.logits);
    }
    CHECK(held < n_guessed || n_guessed == 0);
    lookup_free(lookup);
    close_world(&one);
    close_world(&many);
    return held;
}

#define USUAL {.temperature = 1, .top_p = 0.9f, .repetition_penalty = 1, .window = 64}

static void samplers(void) {
    World w = {.session = {.n_ctx = 200}, .sampler = USUAL, .limit = 50};
    CHECK(check_world(&w, 250) > 1000);
    w.sampler.temperature = 0;
    w.session.threads = 2;
    CHECK(check_world(&w, 250) > 1000);
    w.sampler = (SamplerOptions){.temperature = 0.8f, .top_p = 1, .top_k = 40, .min_p = 0.02f, .window = 20,
                                 .repetition_penalty = 1.2f, .presence_penalty = 0.1f, .frequency_penalty = 0.1f};
    CHECK(check_world(&w, 250) > 1000);
    w.more = (SamplerMore){.dry_multiplier = 0.8f, .dry_base = 1.75f, .dry_allowed = 2, .dry_window = 200,
                           .xtc_probability = 0.5f, .xtc_threshold = 0.1f};
    w.sampler.more = &w.more;
    CHECK(check_world(&w, 250) > 1000);
}

static void caches(void) {
    static const CacheType caches[] = {CACHE_F32, CACHE_F16, CACHE_Q8_0};
    for (size_t i = 0; i < 3; i++) {
        World w = {.session = {.n_ctx = 200, .cache = caches[i]}, .sampler = USUAL, .limit = 40};
        CHECK(check_world(&w, 20) > 50);
    }
}

/* The context ends while guesses are left, and a stop text comes in the middle of them. */
static void ends(void) {
    World w = {.session = {.n_ctx = PROMPT + 23}, .sampler = USUAL, .limit = SIZE_MAX};
    CHECK(check_world(&w, 40) > 100);
    w = (World){.session = {.n_ctx = 200}, .sampler = USUAL, .limit = 60, .stop = " the"};
    CHECK(check_world(&w, 40) > 50);
    w.limit = 1;
    CHECK(check_world(&w, 4) == 0);
}

/* What keeps no past goes back to a copy of its state. */
static void linear(void) {
    World w = {.path = "model/tales-1m-linear.gguf", .sampler = USUAL, .limit = 50};
    CHECK(check_world(&w, 60) > 200);
    if (!(w.path = delta_folder())) return;
    w.session.n_ctx = 120;
    CHECK(check_world(&w, 60) > 200);
}

/* Frequencies that change with the length, keys that are not rotated in the cache, a text that decides what it sees. */
static void stretched(void) {
    static const char *const specs[] = {"dynamic", "yarn:factor=4", "rerope:window=16",
                                        "self-extend:group=4:window=16", "sinks:window=32",
                                        "infllm:local=32:block=8:top=2", "power", "log-n"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        World w = {.model.rope = {.spec = specs[i], .n_ctx_original = i < 2 ? 40 : 0}, .session = {.n_ctx = 400},
                   .sampler = USUAL, .limit = 60};
        size_t held = check_world(&w, 8);
        CHECK(held > 0 || strncmp(specs[i], "infllm", 6) == 0);
    }
}

/* A model that guesses with the same weights is right but where batches end; another one is right at times. */
static void by_model(void) {
    static Written plain, guessed;
    static const char *const drafts[] = {NULL, "model/tales-1m-linear.gguf"};
    World w = {.session = {.n_ctx = 200}, .sampler = USUAL, .limit = 60};
    for (size_t i = 0; i < 2; i++) {
        Opened one = {0}, many = {0}, small = {0};
        World s = w;
        s.path = drafts[i];
        open_world(&one, &w, 1);
        open_world(&many, &w, MOST + 1);
        open_world(&small, &s, 1);
        DraftModel *d;
        CHECK(same_vocabulary(one.tokenizer, small.tokenizer) == 1);
        CHECK(draft_model_new(&d, &small.model, 200, 1, &many.sampler, many.err, sizeof many.err) == 0);
        size_t held = 0, n = 0;
        for (uint64_t seed = 1; seed <= 30; seed++) {
            Ahead ahead;
            write_text(&plain, &one, &w, seed, NULL);
            CHECK(ahead_init(&ahead, &many.session, draft_model_draft(d), MOST, many.err, sizeof many.err) == 0);
            ahead.always = 1;
            write_text(&guessed, &many, &w, seed, &ahead);
            CHECK(alike(&plain, &guessed, (size_t)one.model.config.vocab_size));
            held += ahead.n_held, n += ahead.n_guessed;
            ahead_free(&ahead);
            free(plain.logits);
            free(guessed.logits);
        }
        CHECK(i == 0 ? held * 100 > n * 95 : held > 50 && held < n);
        draft_model_free(d);
        close_world(&one);
        close_world(&many);
        close_world(&small);
    }
}

/* A text that repeats itself is found; what is found is what stood there. */
static void looked_up(void) {
    enum { N = 400, PERIOD = 37 };
    static int ids[N];
    int guesses[8], kind = -1;
    Lookup *l = lookup_new();
    CHECK(l != NULL);
    Draft d = lookup_draft(l);
    for (int i = 0; i < N; i++) ids[i] = (int)(hash_mix((uint64_t)(i % PERIOD)) % 1000);
    for (size_t n = 1; n < N - 8; n++) {
        size_t found = d.guess(d.arg, NULL, ids, n, guesses, 8, &kind);
        CHECK(found == (n < PERIOD + 2 ? 0 : 8));
        CHECK(found == 0 || memcmp(guesses, ids + n, sizeof guesses) == 0);
        CHECK(found == 0 || (kind >= 0 && kind < AHEAD_KINDS));
    }
    for (int i = 0; i < N; i++) ids[i] = 7; /* one id for ever: it goes on with itself */
    CHECK(d.guess(d.arg, NULL, ids, 50, guesses, 8, &kind) == 8 && guesses[0] == 7 && guesses[7] == 7);
    for (int i = 0; i < N; i++) ids[i] = i; /* another text, in which nothing comes twice */
    CHECK(d.guess(d.arg, NULL, ids, 300, guesses, 8, &kind) == 0);
    lookup_free(l);
}

static void options(void) {
    char *plain;
    CHECK(run("-s 7 -n 120 -q") == 0);
    plain = taken_out();
    CHECK(run("-s 7 -n 120 -q --draft lookup") == 0 && strcmp(out, plain) == 0);
    CHECK(run("-s 7 -n 120 --draft lookup --draft-max 3") == 0 && strcmp(out, plain) == 0);
    CHECK(strstr(said, "read ahead"));
    CHECK(run("-s 7 -n 120 -q --draft model/tales-1m-linear.gguf") == 0 && strcmp(out, plain) == 0);
    free(plain);
    CHECK(run("model/tales-1m-linear.gguf -s 7 --max-tokens 400 -q") == 0); /* beyond what the draft can read */
    plain = taken_out();
    CHECK(run("model/tales-1m-linear.gguf -s 7 --max-tokens 400 -q --draft model/tales-1m.gguf") == 0 &&
          strcmp(out, plain) == 0);
    CHECK(run("-s 7 -n 120 --json --draft lookup") == 0 && strstr(out, "\"draft\":{\"guessed\":"));
    free(plain);
    CHECK(run("-s 7 --attention linear -n 300 -q") == 0);
    plain = taken_out();
    CHECK(run("-s 7 --attention linear -n 300 -q --draft lookup") == 0 && strcmp(out, plain) == 0);
    free(plain);
    CHECK(piped("Hello\nHow are you?\nHello\n", "chat -s 3 -q --max-tokens 40") == 0);
    plain = taken_out();
    CHECK(piped("Hello\nHow are you?\nHello\n", "chat -s 3 -q --max-tokens 40 --draft lookup") == 0);
    CHECK(strcmp(out, plain) == 0);
    CHECK(piped("Hello\nHow are you?\nHello\n", "chat -s 3 -q --max-tokens 40 --draft model/tales-1m.gguf") == 0);
    CHECK(strcmp(out, plain) == 0);
    free(plain);
    CHECK(run("--draft nosuch") == 1 && said_line("there is no file nosuch; lookup"));
    CHECK(run("--draft model/words-1m.gguf") == 1 && said_line("does not write text"));
    CHECK(run("--draft lookup --draft-max 0") == 2 && said_line("--draft-max"));
}

const Test tests_draft[] = {
    {"draft/1,000 texts, sampled and greedy", samplers},
    {"draft/caches", caches},
    {"draft/ends", ends},
    {"draft/linear attention, delta nets", linear},
    {"draft/stretched", stretched},
    {"draft/a smaller model", by_model},
    {"draft/looked up", looked_up},
    {"draft/options", options},
    {0}};
