/* cli/generation.c - text_write with the program's options, and its pieces on stdout. */
#include "generation.h"

#include "base/hash.h"
#include "base/system.h"
#include "text/breakers.h"

#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* On a terminal without control characters; tidy: without the white space in front of all. */
static void show(void *arg, const char *s, size_t n) {
    Generation *g = arg;
    for (; g->tidy && n && (*s == ' ' || *s == '\n'); s++) n--;
    if (n) g->tidy = 0;
    if (g->wraps) wrap_text(&g->wrap, s, n);
    else out_text(s, n);
    out_flush();
}

static int take_piece(void *arg, const char *s, size_t n) {
    Generation *g = arg;
    if (g->w.n_new > g->n_seen) g->last_s = clock_seconds();
    if (g->w.n_new > g->n_seen && ++g->n_seen == 1) g->first_s = g->last_s;
    if (!g->silent && n && g->in_channels) text_channels_piece(&g->channels, s, n);
    else if (!g->silent && n) show(g, s, n);
    if (g->keep_text && generation_add_text(g, s, n)) out.broken = ENOMEM;
    return interrupted || out.gone || out.broken;
}

static void take_logprob(void *arg, const float *logits, int id) {
    if (logprobs_add(arg, logits, id)) out.broken = ENOMEM;
}

static int wants_more(const SamplingArgs *s) {
    return s->biases.n || s->dry_multiplier > 0 || s->xtc_probability > 0;
}

/* "7=-1.5,9=false": what is at *s, up to a comma or the end, which *s then is behind. llama.cpp's 7-1.5 is the same. */
static int parse_bias(SamplerBias *b, const char **s) {
    char *end;
    errno = 0;
    long id = **s >= '0' && **s <= '9' ? strtol(*s, &end, 10) : -1;
    if (id < 0 || errno || id > INT_MAX) return -1;
    const char *value = *end == '=' ? end + 1 : *end == '+' || *end == '-' ? end : NULL;
    if (!value) return -1;
    double x = strncmp(value, "false", 5) == 0 ? -INFINITY : strtod(value, &end);
    if (x == -INFINITY && *value == 'f') end = (char *)value + 5;
    if (end == value || (*end && *end != ',') || !(x < (double)FLT_MAX) || (isfinite(x) && x < -(double)FLT_MAX))
        return -1;
    *b = (SamplerBias){(int)id, (float)x};
    *s = *end ? end + 1 : end;
    return 0;
}

static int biases_init(Generation *g, const StringList *given) {
    size_t cap = 0, vocab = (size_t)g->e.model.config.vocab_size;
    for (int i = 0; i < given->n; i++)
        for (const char *at = given->at[i]; *at;) {
            size_t n = g->more.n_biases;
            const char *from = at;
            if (array_reserve(&g->biases, &cap, n + 1, sizeof *g->biases)) return fail("out of memory");
            if (parse_bias(&g->biases[n], &at))
                return usage("--logit-bias: \"%s\" is not ID=X, with a number, -inf or false for X", from);
            if ((size_t)g->biases[n].id >= vocab)
                return usage("--logit-bias: there is no token %d; the vocabulary has %zu", g->biases[n].id, vocab);
            g->more.n_biases++;
        }
    g->more.biases = g->biases;
    return 0;
}

/* Biases, DRY, XTC; breakers that are given stand in place of the usual ones. */
static int more_init(Generation *g, const Args *a) {
    enum { CONTEXT_MOST = 1 << 20 }; /* 8 MB of lengths */
    const SamplingArgs *s = &a->sampling;
    const char *const *texts = s->breakers.n ? s->breakers.at : NULL; /* NULL: the usual ones */
    int none = s->breakers.n == 1 && strcmp(s->breakers.at[0], "none") == 0;
    size_t n_texts = none ? 0 : (size_t)s->breakers.n;
    long long context = g->e.model.config.n_ctx_train > a->context.n ? g->e.model.config.n_ctx_train : a->context.n;
    long long window = s->dry_last < 0 ? context : s->dry_last;
    if (window > CONTEXT_MOST || (window == 0 && s->dry_last < 0)) window = CONTEXT_MOST;
    g->more = (SamplerMore){.dry_multiplier = (float)s->dry_multiplier,
                            .dry_base = (float)s->dry_base,
                            .dry_allowed = (size_t)s->dry_allowed,
                            .dry_window = (size_t)window,
                            .xtc_probability = (float)s->xtc_probability,
                            .xtc_threshold = (float)s->xtc_threshold};
    int code = biases_init(g, &s->biases);
    if (code) return code;
    if (s->dry_multiplier > 0 && breakers_find(&g->breakers, &g->more.n_breakers, g->e.tokenizer, texts, n_texts,
                                               g->e.err, sizeof g->e.err))
        return fail("--dry-sequence-breaker: %s", g->e.err);
    g->more.breakers = g->breakers;
    size_t vocab = (size_t)g->e.model.config.vocab_size;
    return sampler_more_init(&g->more, vocab, g->e.err, sizeof g->e.err) ? fail("%s", g->e.err) : 0;
}

int generation_init(Generation *g, const Args *a) {
    const SamplingArgs *s = &a->sampling;
    SamplerOptions so = {.temperature = (float)s->temperature,
                         .top_p = (float)s->top_p,
                         .top_k = (size_t)s->top_k,
                         .min_p = (float)s->min_p,
                         .repetition_penalty = (float)s->repetition,
                         .presence_penalty = (float)s->presence,
                         .frequency_penalty = (float)s->frequency,
                         .window = (size_t)s->penalty_window,
                         .more = wants_more(s) ? &g->more : NULL};
    so.seed = g->own_seed ? hash_mix((uint64_t)s->seed) : sampler_seed(&so, (uint64_t)s->seed); /* own: chat's */
    int code = so.more ? more_init(g, a) : 0;
    if (code) return code;
    if (sampler_init(&g->sampler, (size_t)g->e.model.config.vocab_size, &so, g->e.err, sizeof g->e.err))
        return fail("%s", g->e.err);
    TextWriter *w = &g->w;
    *w = (TextWriter){.session = &g->e.session, .tokenizer = g->e.tokenizer, .sampler = &g->sampler, .ends = g->ends,
                      .shown = g->shown, .ignore_eos = s->ignore_eos, .piece = text_stops_piece, .arg = &g->stops};
    if (a->show.logprobs > (long long)g->e.model.config.vocab_size)
        return usage("--logprobs: the vocabulary has only %d tokens", g->e.model.config.vocab_size);
    g->logprobs = (Logprobs){.model = &g->e.model, .most = (size_t)a->show.logprobs};
    if (a->show.logprobs_given) w->drawn = take_logprob, w->drawn_arg = &g->logprobs;
    g->stops = (TextStops){.piece = take_piece, .arg = g};
    g->channels = (TextChannels){.show = show, .arg = g};
    for (int i = 0; i < s->stop.n; i++) g->stops.texts[g->stops.n_texts++] = s->stop.at[i];
    return 0;
}

void generation_close(Generation *g) {
    generation_free(g);
    engine_close(&g->e);
}

void generation_free(Generation *g) {
    text_writer_free(&g->w);
    text_stops_free(&g->stops);
    logprobs_free(&g->logprobs);
    drafting_free(g->drafting);
    sampler_free(&g->sampler);
    sampler_more_free(&g->more);
    free(g->biases);
    free(g->breakers);
    free(g->text);
}

int generation_add_text(Generation *g, const char *s, size_t n) {
    if (array_reserve(&g->text, &g->cap_text, g->n_text + n + 1, 1)) return -1;
    memcpy(g->text + g->n_text, s, n);
    g->n_text += n;
    return 0;
}

double generation_first_token_s(const Generation *g) { return g->first_s > 0 ? g->first_s - started : 0; }
double generation_s(const Generation *g) { return g->last_s - g->first_s; }
double generation_rate(const Generation *g) {
    return g->w.n_new > 1 ? (double)(g->w.n_new - 1) / fmax(generation_s(g), 1e-9) : 0;
}

static void begin(Generation *g, size_t limit) {
    g->w.limit = limit;
    g->answered = 1;
    g->n_seen = 0;
    text_channels_begin(&g->channels);
}

int generation_begin(Generation *g, size_t limit) {
    begin(g, limit);
    return text_begin(&g->w, g->e.err, sizeof g->e.err) ? fail("%s", g->e.err) : 0;
}

int generation_end(Generation *g) {
    text_end(&g->w);
    return text_stops_finish(&g->stops, &g->w, g->e.err, sizeof g->e.err) ? fail("%s", g->e.err) : 0;
}

int generation_run(Generation *g, const float *logits, size_t limit) {
    begin(g, limit);
    int rc = text_write(&g->w, logits, g->e.err, sizeof g->e.err);
    if (rc == 0) rc = text_stops_finish(&g->stops, &g->w, g->e.err, sizeof g->e.err);
    else text_stops_free(&g->stops);
    if (g->in_channels) text_channels_end(&g->channels);
    wrap_end(&g->wrap);
    return rc ? fail("%s", g->e.err) : 0;
}
