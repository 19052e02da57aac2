/* cli/generation.c - the loop: draw an id, write its text, evaluate it. */
#include "generation.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int generation_init(Generation *g, const Args *a) {
    SamplerOptions so = {.temperature = (float)a->temperature,
                         .top_p = (float)a->top_p,
                         .top_k = (size_t)a->top_k,
                         .min_p = (float)a->min_p,
                         .repetition_penalty = (float)a->repetition,
                         .presence_penalty = (float)a->presence,
                         .frequency_penalty = (float)a->frequency,
                         .window = (size_t)a->penalty_window,
                         .seed = (uint64_t)a->seed};
    for (int i = 0; i < a->n_stop; i++) g->stops[g->n_stops++] = a->stop[i];
    g->piece = malloc(tokenizer_decode_bound(g->e.tokenizer));
    if (sampler_init(&g->sampler, (size_t)g->e.model.config.vocab_size, &so, g->e.err, sizeof g->e.err) || !g->piece)
        return fail("%s", *g->e.err ? g->e.err : "out of memory");
    return 0;
}

void generation_close(Generation *g) {
    engine_close(&g->e);
    sampler_free(&g->sampler);
    free(g->piece);
    free(g->text);
    free(g->ids);
}

int generation_add_text(Generation *g, const char *s, size_t n) {
    if (g->n_text + n >= g->cap_text) {
        size_t cap = 2 * (g->n_text + n) + 256;
        char *more = realloc(g->text, cap);
        if (!more) return -1;
        g->text = more;
        g->cap_text = cap;
    }
    memcpy(g->text + g->n_text, s, n);
    g->n_text += n;
    return 0;
}

/* On a terminal without control characters; tidy: without the white space in front of all. */
static void show(Generation *g, const char *s, size_t n) {
    for (; g->tidy && n && (*s == ' ' || *s == '\n'); s++) n--;
    if (n) g->tidy = 0;
    out_text(s, n);
    out_flush();
}

/* Write what is known to stay. Where a stop string has come, the text is cut before the first one, and the result is 1.
 * Otherwise an end of the text that may begin one is held back, unless this is the last call. */
static int write_text(Generation *g, int last) {
    size_t from = g->n_out, cut = g->n_text;
    for (int i = 0; i < g->n_stops; i++) {
        size_t at = find_bytes(g->text, from, g->n_text, g->stops[i]);
        if (at < cut) cut = at;
    }
    int stopped = cut < g->n_text;
    g->n_text = cut;
    for (int i = 0; i < g->n_stops && !stopped && !last; i++) {
        size_t len = strlen(g->stops[i]);
        for (size_t at = g->n_text > from + len - 1 ? g->n_text - (len - 1) : from; at < cut; at++)
            if (memcmp(g->text + at, g->stops[i], g->n_text - at) == 0) cut = at;
    }
    if (!g->silent) show(g, g->text + from, cut - from);
    g->n_out = cut;
    if (!g->keep_text) { /* what is written is not needed any more: a text without end takes no memory */
        memmove(g->text, g->text + cut, g->n_text - cut);
        g->n_text -= cut;
        g->n_out = 0;
    }
    return stopped;
}

/* One more id. The penalties look back on the last penalty_window of them; not everybody wants them all. -1: memory is out. */
static int keep_id(Generation *g, const Args *a, int id) {
    size_t recent = (size_t)a->penalty_window;
    if (g->n_ids == g->room && !g->keep_ids && g->n_ids >= 2 * recent) {
        memmove(g->ids, g->ids + g->n_ids - recent, recent * sizeof *g->ids);
        g->n_ids = recent;
    }
    if (g->n_ids == g->room) {
        int *more = realloc(g->ids, (2 * g->room + 64) * sizeof *more);
        if (!more) return -1;
        g->ids = more;
        g->room = 2 * g->room + 64;
    }
    g->ids[g->n_ids++] = id;
    return 0;
}

static int is_end(const Generation *g, int id) {
    const Config *c = &g->e.model.config;
    if (id == c->bos_id || (g->e.model.weights.format != FORMAT_LLAMA2C &&
                            (id == tokenizer_eos(g->e.tokenizer) || id == tokenizer_bos(g->e.tokenizer))))
        return 1;
    for (int i = 0; i < c->n_eos; i++)
        if (id == c->eos_id[i]) return 1;
    for (int i = 0; i < g->n_ends; i++)
        if (id == g->ends[i]) return 1;
    return 0;
}

double generation_rate(const Generation *g) {
    return g->n_new > 1 ? (double)(g->n_new - 1) / fmax(g->generation_s, 1e-9) : 0;
}

/* One more id and its text. 1 where the text ends, -1 where memory is out. */
static int take(Generation *g, const Args *a, int id, size_t limit) {
    const Session *s = &g->e.session;
    if (is_end(g, id) && !a->ignore_eos) {
        g->stop = id == tokenizer_bos(g->e.tokenizer) || id == g->e.model.config.bos_id ? "bos" : "eos";
        return 1;
    }
    if (keep_id(g, a, id)) return -1;
    g->n_new++;
    if (generation_add_text(g, g->piece, tokenizer_decode(g->e.tokenizer, &g->stream, id, g->piece))) return -1;
    if (write_text(g, 0)) g->stop = "stop";
    else if (interrupted) g->stop = "interrupt";
    else if (g->n_new == limit) g->stop = "length";
    else if (s->pos == s->options.n_ctx && !(g->make_room && g->make_room(g))) g->stop = interrupted ? "interrupt" : "context";
    else return out.gone || out.broken;
    return 1;
}

int generation_run(Generation *g, const Args *a, const float *logits, size_t limit) {
    double t0 = 0;
    int rc = 0, ended = limit == 0;
    g->stop = "length";
    while (rc == 0 && !ended) {
        int id = sampler_next(&g->sampler, logits, g->ids, g->n_ids);
        double t1 = clock_seconds();
        if (g->n_new == 0) g->first_token_s = t1 - started, t0 = t1;
        g->generation_s = t1 - t0;
        if ((ended = take(g, a, id, limit)) < 0) return fail("out of memory");
        if (!ended) rc = session_eval(&g->e.session, &id, 1, &logits, g->e.err, sizeof g->e.err);
    }
    if (rc == -EINTR) g->stop = "interrupt";
    else if (rc) return fail("%s", g->e.err);
    if (strcmp(g->stop, "stop") != 0) { /* the end of the text: nothing is held back any more */
        size_t n = tokenizer_decode_end(g->e.tokenizer, &g->stream, g->piece);
        if (generation_add_text(g, g->piece, n)) return fail("out of memory");
        if (write_text(g, 1)) g->stop = "stop";
    }
    return 0;
}
