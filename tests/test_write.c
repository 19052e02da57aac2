/* tests/test_write.c - text_write as a library call, on the compiled-in model: the program's text, each piece once, and
 * every reason to end. */
#include "model/sampler_more.h"
#include "program.h"
#include "test.h"
#include "text/open.h"
#include "text/stops.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char prompt[] = "Lily found a key";

typedef struct {
    Model model;
    Session session;
    Sampler sampler;
    Tokenizer *tokenizer;
    TextWriter w;
    TextStops stops;
    char text[4000], err[200];
    size_t n, pieces, most; /* most: pieces after which it is enough */
    SamplerOptions options; /* window 0: greedy, with a window of 4 */
} Writing;

static int take(void *arg, const char *text, size_t n) {
    Writing *t = arg;
    CHECK(t->n + n < sizeof t->text);
    if (n) memcpy(t->text + t->n, text, n);
    t->n += n;
    t->text[t->n] = 0;
    return ++t->pieces == t->most;
}

/* Greedy from the prompt, in a session of n_ctx positions, until w says so. */
static int write_text(Writing *t, size_t n_ctx) {
    const SamplerOptions greedy = {.top_p = 1, .repetition_penalty = 1, .window = 4};
    const SamplerOptions *how = t->options.window ? &t->options : &greedy;
    const float *logits;
    int *ids, rc;
    size_t n;
    CHECK(model_open_memory(&t->model, builtin_model, builtin_model_size, "built in", NULL, t->err, sizeof t->err) ==
          0);
    CHECK(vocabulary_open(&t->tokenizer, &t->model.weights, NULL, 0, NULL, t->err, sizeof t->err) == 0);
    SessionOptions so = {.n_ctx = n_ctx, .threads = 1, .n_logits = 1};
    CHECK(session_init(&t->session, &t->model, &so, t->err, sizeof t->err) == 0);
    CHECK(sampler_init(&t->sampler, (size_t)t->model.config.vocab_size, how, t->err, sizeof t->err) == 0);
    CHECK(tokenizer_encode(t->tokenizer, prompt, strlen(prompt), ENCODE_BOS, &ids, &n, t->err, sizeof t->err) == 0);
    CHECK(session_eval(&t->session, ids, n, &logits, t->err, sizeof t->err) == 0);
    t->w.session = &t->session, t->w.tokenizer = t->tokenizer, t->w.sampler = &t->sampler;
    t->stops.piece = take, t->stops.arg = t;
    t->w.piece = text_stops_piece, t->w.arg = &t->stops;
    t->w.ids = ids, t->w.n_ids = t->w.cap_ids = n;
    t->w.stream.begun = 1;
    if (t->w.limit == 0) t->w.limit = 40;
    rc = text_write(&t->w, logits, t->err, sizeof t->err);
    return rc ? rc : text_stops_finish(&t->stops, &t->w, t->err, sizeof t->err);
}

static void done(Writing *t) {
    text_writer_free(&t->w);
    text_stops_free(&t->stops);
    sampler_free(&t->sampler);
    session_free(&t->session);
    tokenizer_free(t->tokenizer);
    model_close(&t->model);
}

static void same_as_program(void) {
    Writing t = {.w.keep_ids = 1}, u = {0};
    CHECK(write_text(&t, 256) == 0 && t.w.end == TEXT_LENGTH && t.w.n_new == 40 && t.pieces == 42);
    CHECK(run("-t 0 -q --no-echo --max-tokens 40 -i '%s'", prompt) == 0);
    CHECK(strlen(out) == t.n + 1 && memcmp(out, t.text, t.n) == 0);
    CHECK(t.w.n_ids > 40 && t.w.room == NULL); /* a caller that keeps the ids has nothing else to free */
    CHECK(write_text(&u, 256) == 0 && strcmp(u.text, t.text) == 0);
    CHECK(u.w.n_ids <= 16 + 8); /* a window of 4 needs no more */
    done(&t);
    done(&u);
}

/* Ids that nobody asked to keep stay as long as DRY looks back on them, and no longer. */
static void long_memory(void) {
    static const SamplerOptions none = {.top_p = 1, .repetition_penalty = 1, .window = 4};
    Writing t = {.w = {.keep_ids = 1, .limit = 200, .ignore_eos = 1}}, u = t, v = t;
    SamplerMore more = {.dry_multiplier = 2, .dry_base = 2, .dry_allowed = 1, .dry_window = 40};
    u.w.keep_ids = v.w.keep_ids = 0;
    t.options = u.options = v.options = none;
    CHECK(sampler_more_init(&more, 1024, t.err, sizeof t.err) == 0);
    t.options.more = u.options.more = &more;
    CHECK(write_text(&t, 256) == 0 && write_text(&u, 256) == 0 && write_text(&v, 256) == 0);
    CHECK(t.w.n_new == 200 && strcmp(u.text, t.text) == 0 && strcmp(v.text, t.text) != 0);
    CHECK(t.w.n_ids > 200 && u.w.n_ids < 160 && v.w.n_ids <= 16 + 8);
    done(&t), done(&u), done(&v);
    sampler_more_free(&more);
}

/* A stop text that begins in one piece and ends in a later one: the text before it, and no byte of it. */
static void stops(void) {
    Writing whole = {0};
    CHECK(write_text(&whole, 256) == 0 && whole.n > 60);
    for (size_t at = 1; at < 40; at += 3) {
        char stop[16];
        snprintf(stop, sizeof stop, "%.9s", whole.text + at);
        Writing t = {.stops = {.texts = {"never written", stop}, .n_texts = 2}};
        CHECK(write_text(&t, 256) == 0 && t.w.end == TEXT_STOP);
        CHECK(t.n <= at && memcmp(t.text, whole.text, t.n) == 0 && strstr(whole.text, stop) == whole.text + t.n);
        done(&t);
    }
    done(&whole);
}

/* What may become a stop text is held back, and comes when the text ends otherwise. */
static void held(void) {
    Writing whole = {.w.limit = 10};
    CHECK(write_text(&whole, 256) == 0 && whole.n > 4);
    char stop[200];
    snprintf(stop, sizeof stop, "%s, which does not come", whole.text + whole.n - 4);
    Writing t = {.stops = {.texts = {stop}, .n_texts = 1}, .w.limit = 10};
    CHECK(write_text(&t, 256) == 0 && t.w.end == TEXT_LENGTH && strcmp(t.text, whole.text) == 0);
    done(&t);
    done(&whole);
}

static void other_ends(void) {
    Writing enough = {.most = 3}, full = {0}, eos = {0}, on = {.w.ignore_eos = 1};
    CHECK(write_text(&enough, 256) == 0 && enough.w.end == TEXT_INTERRUPT && enough.w.n_new == 3);
    CHECK(write_text(&full, 16) == 0 && full.w.end == TEXT_CONTEXT && full.session.pos == 16);
    const int end = enough.w.ids[enough.w.n_ids - 1]; /* as if it ended texts */
    eos.w.ends = on.w.ends = &end;
    eos.w.n_ends = on.w.n_ends = 1;
    CHECK(write_text(&eos, 256) == 0 && eos.w.end == TEXT_EOS && eos.w.n_new < 3);
    CHECK(write_text(&on, 256) == 0 && on.w.end == TEXT_LENGTH && on.w.n_new == 40);
    CHECK(strcmp(text_end_names[eos.w.end], "eos") == 0 && strcmp(text_end_names[TEXT_INTERRUPT], "interrupt") == 0);
    done(&enough);
    done(&full);
    done(&eos);
    done(&on);
}

/* Control pieces whose names are text: each as often as it was drawn, and nothing else in the text is otherwise. 1
 * where the seed's text has one. */
static int is_shown(uint64_t seed) {
    Writing plain = {.w.ignore_eos = 1, .w.limit = 250, .w.keep_ids = 1,
                     .options = {.temperature = 1, .top_p = 1, .repetition_penalty = 1, .window = 4, .seed = seed}},
            named = plain;
    int ids[2];
    size_t n_drawn = 0, n_named = 0, len, extra = 0;
    CHECK(write_text(&plain, 512) == 0);
    ids[0] = tokenizer_bos(plain.tokenizer), ids[1] = tokenizer_eos(plain.tokenizer);
    named.w.shown = ids;
    named.w.n_shown = 2;
    CHECK(write_text(&named, 512) == 0);
    for (int k = 0; k < 2; k++) {
        char name[40];
        const char *piece = tokenizer_piece(plain.tokenizer, ids[k], &len);
        snprintf(name, sizeof name, "%.*s", (int)len, piece);
        for (const char *at = named.text; (at = strstr(at, name)); at += len) n_named++;
        for (size_t i = named.w.n_ids - named.w.n_new; i < named.w.n_ids; i++)
            if (named.w.ids[i] == ids[k]) n_drawn++, extra += len;
    }
    CHECK(n_named == n_drawn && named.n == plain.n + extra);
    done(&plain);
    done(&named);
    return n_drawn > 0;
}

/* Which of the texts end, and go on, hangs on the row's last bits. */
static void shown(void) {
    int n = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) n += is_shown(seed);
    CHECK(n > 0);
}

const Test tests_write[] = {
    {"write/the program's text", same_as_program},
    {"write/stop texts", stops},
    {"write/what is held comes at the end", held},
    {"write/every other end", other_ends},
    {"write/DRY's memory", long_memory},
    {"write/control pieces that are text", shown},
    {0}};
