/* library/write.c - a sampler with all its links, and the loop that writes (text/write.h), behind handles. */
#include "library.h"

#include "base/base.h"
#include "model/sampler_more.h"
#include "text/breakers.h"
#include "text/stops.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_NEW = 256, USUAL_WINDOW = 64 };

struct RoformerSampler {
    Sampler sampler;
    SamplerMore more; /* what it points at is owned: */
    SamplerBias *biases;
    SamplerBreaker *breakers;
};

/* ---- the sampler ---- */

static int take_more(RoformerSampler *s, const RoformerModel *m, const RoformerSamplerOptions *o, char *err,
                     size_t errlen) {
    size_t trained = (size_t)m->model.config.n_ctx_train, window = o->dry_window ? o->dry_window : trained;
    s->more = (SamplerMore){.n_biases = o->n_biases,
                            .dry_multiplier = o->dry_multiplier,
                            .dry_base = o->dry_base != 0 ? o->dry_base : 1.75f,
                            .dry_allowed = o->dry_allowed ? o->dry_allowed : 2,
                            .dry_window = window && window < LIBRARY_DRY_MOST ? window : LIBRARY_DRY_MOST,
                            .xtc_probability = o->xtc_probability,
                            .xtc_threshold = o->xtc_threshold != 0 ? o->xtc_threshold : 0.1f};
    if (o->n_biases && !(s->biases = calloc(o->n_biases, sizeof *s->biases)))
        return base_error(err, errlen, -ENOMEM, "out of memory");
    for (size_t i = 0; i < o->n_biases; i++) s->biases[i] = (SamplerBias){o->biases[i].id, o->biases[i].bias};
    s->more.biases = s->biases;
    int rc = 0;
    if (o->dry_multiplier > 0) {
        if ((rc = library_needs_tokenizer(m, err, errlen))) return rc;
        rc = breakers_find(&s->breakers, &s->more.n_breakers, m->tokenizer, o->breakers, o->n_breakers, err, errlen);
    }
    s->more.breakers = s->breakers;
    return rc ? rc : sampler_more_init(&s->more, (size_t)m->model.config.vocab_size, err, errlen);
}

int roformer_sampler_new(RoformerSampler **sampler, const RoformerModel *m, const RoformerSamplerOptions *options,
                         char *err, size_t errlen) {
    RoformerSamplerOptions o;
    *sampler = NULL;
    int rc = options_take(&o, sizeof o, options, err, errlen);
    RoformerSampler *s = rc ? NULL : calloc(1, sizeof *s);
    if (!s) return rc ? rc : base_error(err, errlen, -ENOMEM, "out of memory");
    SamplerOptions so = {.temperature = o.temperature, .top_p = o.top_p, .top_k = o.top_k, .min_p = o.min_p,
                         .repetition_penalty = o.repetition_penalty != 0 ? o.repetition_penalty : 1,
                         .presence_penalty = o.presence_penalty, .frequency_penalty = o.frequency_penalty,
                         .window = o.window ? o.window : USUAL_WINDOW};
    /* a number below 0, or none, is told by the init of its part */
    int more = o.n_biases || o.dry_multiplier != 0 || o.xtc_probability != 0;
    if (more) rc = take_more(s, m, &o, err, errlen);
    if (more) so.more = &s->more;
    so.seed = sampler_seed(&so, o.seed ? o.seed : 1); /* as the program has it */
    if (rc == 0) rc = sampler_init(&s->sampler, (size_t)m->model.config.vocab_size, &so, err, errlen);
    if (rc) roformer_sampler_free(s);
    else *sampler = s;
    return rc;
}

void roformer_sampler_free(RoformerSampler *s) {
    if (!s) return;
    sampler_free(&s->sampler);
    sampler_more_free(&s->more);
    free(s->biases);
    free(s->breakers);
    free(s);
}

int roformer_sample(RoformerSampler *s, const float *logits, const int *ids, size_t n) {
    return sampler_next(&s->sampler, logits, ids, n);
}

/* ---- writing ---- */

static int no_piece(void *arg, const char *text, size_t n) {
    (void)arg, (void)text, (void)n;
    return 0;
}

/* The prompt's ids, BOS in front of a text that begins: malloc'ed. Under the UniLM mask it is a text of its own. */
static int encode_prompt(const RoformerSession *s, const char *prompt, size_t len, int special, int **ids, size_t *n,
                         char *err, size_t errlen) {
    const RoformerModel *m = s->model;
    int begins = s->session.pos == 0, bos = library_bos(m);
    int flags = (begins ? ROFORMER_ADD_BOS : ROFORMER_CONTINUES) | (special ? ROFORMER_SPECIAL : 0);
    if (begins && m->model.config.mask == MASK_UNILM) flags |= ROFORMER_ADD_EOS;
    int rc = roformer_tokenize(m, prompt, len, flags, ids, n, err, errlen);
    if (rc || *n || !begins) return rc;
    if (bos < 0)
        rc = base_error(err, errlen, -EINVAL, "this model has no id to begin a text with; give a prompt");
    else (*ids)[(*n)++] = bos; /* encode always leaves room for one */
    return rc;
}

/* What was measured of guesses stays for the session's next text. */
static int take_lookup(RoformerSession *s, char *err, size_t errlen) {
    if (s->lookup) return 0;
    Lookup *l = lookup_new();
    if (!l) return base_error(err, errlen, -ENOMEM, "out of memory");
    int rc = ahead_init(&s->ahead, &s->session, lookup_draft(l), LIBRARY_GUESSES, err, errlen);
    if (rc) lookup_free(l);
    else s->lookup = l;
    return rc;
}

/* The ids that may be drawn. Each is to have a position, the last one, too: a text that goes on, here or out of a file
 * in a longer context, reads it first. */
static size_t room_for(const RoformerSession *s, size_t wanted) {
    size_t room = s->session.options.n_ctx - s->session.pos;
    return wanted < room ? wanted : room;
}

/* Draw from s->logits, what the options say; the text's ids go to the writer and come back. */
static int write_on(RoformerSession *s, RoformerSampler *sampler, int begun, const RoformerWriteOptions *o,
                    RoformerWritten *written, char *err, size_t errlen) {
    size_t before = s->session.pos, wanted = o->max_tokens ? o->max_tokens : USUAL_NEW;
    TextStops stops = {.n_texts = o->n_stops, .piece = o->piece ? o->piece : no_piece, .arg = o->arg};
    TextWriter w = {.session = &s->session, .tokenizer = s->model->tokenizer, .sampler = &sampler->sampler,
                    .limit = room_for(s, wanted), .ignore_eos = o->ignore_eos,
                    .piece = text_stops_piece, .arg = &stops, .ids = s->ids, .n_ids = s->n_ids, .cap_ids = s->cap_ids,
                    .ahead = o->lookup ? &s->ahead : NULL, .keep_ids = o->lookup || s->kept == SIZE_MAX,
                    .keep_least = s->kept, .stream = {.begun = begun, .tight = 1}};
    for (size_t i = 0; i < o->n_stops; i++) stops.texts[i] = o->stops[i];
    int rc = text_write(&w, s->logits, err, errlen);
    if (rc == 0) rc = text_stops_finish(&stops, &w, err, errlen);
    text_stops_free(&stops);
    s->ids = w.ids, s->n_ids = w.n_ids, s->cap_ids = w.cap_ids;
    s->owes = w.n_new > s->session.pos - before;
    s->logits = s->owes ? NULL : s->session.logits;
    written->n_new = w.n_new;
    written->end = (RoformerEnd)w.end; /* in TextEnd's order */
    if (w.end == TEXT_LENGTH && w.n_new < wanted) written->end = ROFORMER_END_CONTEXT;
    return rc;
}

static int check_write(const RoformerSession *s, const RoformerWriteOptions *o, char *err, size_t errlen) {
    if (s->model->model.config.mask == MASK_PADDING)
        return base_error(err, errlen, -EINVAL, "this model reads texts whole (mask padding), so it cannot write");
    if (o->n_stops > STOPS_MOST)
        return base_error(err, errlen, -EINVAL, "stops: there are %zu, more than %d", o->n_stops, STOPS_MOST);
    for (size_t i = 0; i < o->n_stops; i++)
        if (!o->stops[i] || !*o->stops[i]) return base_error(err, errlen, -EINVAL, "stops: one of them is empty");
    return library_needs_tokenizer(s->model, err, errlen);
}

int roformer_write(RoformerSession *s, RoformerSampler *sampler, const char *prompt, size_t len,
                   const RoformerWriteOptions *options, RoformerWritten *written, char *err, size_t errlen) {
    RoformerWriteOptions o;
    RoformerWritten mine = {0};
    int *ids = NULL, begun = s->session.pos > 0 || (len > 0 && s->model->model.config.mask != MASK_UNILM);
    size_t n = 0;
    int rc = options_take(&o, sizeof o, options, err, errlen);
    if (rc == 0) rc = check_write(s, &o, err, errlen);
    if (rc == 0) rc = session_settle(s, err, errlen);
    if (rc == 0) rc = encode_prompt(s, prompt, len, o.special, &ids, &n, err, errlen);
    if (rc == 0 && n) rc = session_read(s, ids, n, 1, err, errlen);
    free(ids);
    mine.n_prompt = n;
    if (rc == 0 && !s->logits)
        rc = base_error(err, errlen, -EINVAL, "nobody knows what comes next: read an id with logits, or give a prompt");
    if (rc == 0 && o.lookup) rc = take_lookup(s, err, errlen);
    if (rc == 0) rc = write_on(s, sampler, begun, &o, &mine, err, errlen);
    if (written) { /* of whatever version */
        size_t size = written->size;
        mine.size = size;
        memcpy(written, &mine, size < sizeof mine ? size : sizeof mine);
    }
    return rc;
}
