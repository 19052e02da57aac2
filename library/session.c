/* library/session.c - a text on its way through a model: ids in, logits out; back, into a file and out of it. */
#include "library.h"

#include "attention/cache.h"
#include "base/base.h"
#include "model/encoder.h"
#include "model/state.h"
#include "model/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_CONTEXT = 4096 };

int library_cache(CacheType *cache, const RoformerModel *m, const char *name, char *err, size_t errlen) {
    int i = 0;
    if (!name) return 0;
    if (m->model.config.linear.form)
        return base_error(err, errlen, -EINVAL, "cache: linear attention keeps a state and no cache");
    while (cache_formats[i].name && strcmp(cache_formats[i].name, name) != 0) i++;
    if (!cache_formats[i].name)
        return base_error(err, errlen, -EINVAL, "cache: there is no \"%s\"; f32, f16 and q8_0 are known", name);
    *cache = (CacheType)i;
    return 0;
}

int roformer_session_new(RoformerSession **session, const RoformerModel *m, const RoformerSessionOptions *options,
                         char *err, size_t errlen) {
    RoformerSessionOptions o;
    CacheType cache = session_usual_cache(&m->model);
    size_t trained = (size_t)m->model.config.n_ctx_train;
    *session = NULL;
    int rc = options_take(&o, sizeof o, options, err, errlen);
    if (rc == 0) rc = library_cache(&cache, m, o.cache, err, errlen);
    if (rc == 0) rc = library_threads(o.threads, err, errlen);
    if (rc) return rc;
    RoformerSession *s = calloc(1, sizeof *s);
    if (!s) return base_error(err, errlen, -ENOMEM, "out of memory");
    s->model = m;
    s->kept = roformer_number(m, ROFORMER_IS_LINEAR) == 1 ? LIBRARY_DRY_MOST : SIZE_MAX;
    SessionOptions so = {.n_ctx = o.n_ctx ? o.n_ctx : trained < USUAL_CONTEXT ? trained : USUAL_CONTEXT,
                         .threads = o.threads, .n_batch = o.n_batch, .cache = cache, .n_logits = LIBRARY_GUESSES + 1,
                         .progress = o.progress, .progress_arg = o.progress_arg};
    if (m->model.encoder) so.n_batch = so.n_ctx; /* encoder_read takes a text whole */
    rc = session_init(&s->session, &m->model, &so, err, errlen);
    if (rc) free(s);
    else *session = s;
    return rc;
}

void roformer_session_free(RoformerSession *s) {
    if (!s) return;
    ahead_free(&s->ahead);
    lookup_free(s->lookup);
    session_free(&s->session);
    free(s->ids);
    free(s);
}

/* ---- reading ---- */

/* The first n of the text's ids stay, or the last of these; ids [more] come behind them. 0 or -ENOMEM and a line. */
static int remember(RoformerSession *s, size_t n, const int *ids, size_t more, char *err, size_t errlen) {
    if (n + more > s->cap_ids && n / 3 >= s->kept / 2) {
        memmove(s->ids, s->ids + n - s->kept, s->kept * sizeof *s->ids);
        s->n_ids = n = s->kept;
    }
    if (array_reserve(&s->ids, &s->cap_ids, n + more, sizeof *s->ids))
        return base_error(err, errlen, -ENOMEM, "out of memory");
    if (more) memcpy(s->ids + n, ids, more * sizeof *ids);
    s->n_ids = n + more;
    return 0;
}

/* 1: ids are read now as a text of their own, all at once. */
static int reads_whole(const RoformerSession *s) {
    Mask mask = s->model->model.config.mask;
    return mask == MASK_PADDING || (mask == MASK_UNILM && s->session.pos == 0);
}

static int read_whole(RoformerSession *s, const int *ids, size_t n, int wants_logits, char *err, size_t errlen) {
    EncoderText text = {.ids = ids, .n = n};
    if (wants_logits && !s->model->model.has_logits)
        return base_error(err, errlen, -EINVAL, "this model has no head for logits");
    if (n == 0) return base_error(err, errlen, -EINVAL, "there are no ids");
    return encoder_read(&s->session, &text, 1, err, errlen);
}

typedef void Each(void *arg, size_t i, const float *logits);

/* ids behind the others, or whole; each NULL: the logits behind the last alone, where wanted. */
static int read_ids(RoformerSession *s, const int *ids, size_t n, int wants_logits, Each *each, void *arg, char *err,
                    size_t errlen) {
    int whole = reads_whole(s);
    size_t before = whole ? 0 : s->session.pos;
    int rc = remember(s, whole ? 0 : s->n_ids, ids, n, err, errlen);
    s->logits = NULL;
    if (rc) return rc;
    if (whole) rc = read_whole(s, ids, n, wants_logits, err, errlen);
    else if (each) rc = session_eval_each(&s->session, ids, n, each, arg, err, errlen);
    else rc = session_eval(&s->session, ids, n, wants_logits ? &s->logits : NULL, err, errlen);
    if (rc) s->n_ids -= n - (s->session.pos - before); /* progress stops between batches */
    else if (whole && each) encoder_logits_each(&s->session, 0, n, each, arg);
    else if (whole && wants_logits) s->logits = encoder_logits(&s->session, n - 1);
    else if (each) s->logits = s->session.logits;
    return rc;
}

int session_read(RoformerSession *s, const int *ids, size_t n, int wants_logits, char *err, size_t errlen) {
    return read_ids(s, ids, n, wants_logits, NULL, NULL, err, errlen);
}

int session_settle(RoformerSession *s, char *err, size_t errlen) {
    if (!s->owes) return 0;
    int id = s->ids[s->n_ids - 1], rc = session_eval(&s->session, &id, 1, &s->logits, err, errlen);
    if (rc == 0) s->owes = 0;
    return rc;
}

int roformer_eval(RoformerSession *s, const int *ids, size_t n, const float **logits, char *err, size_t errlen) {
    int rc = session_settle(s, err, errlen);
    if (rc == 0) rc = session_read(s, ids, n, logits != NULL, err, errlen);
    if (logits) *logits = rc ? NULL : s->logits;
    return rc;
}

int roformer_eval_each(RoformerSession *s, const int *ids, size_t n,
                       void (*each)(void *arg, size_t i, const float *logits), void *arg, char *err, size_t errlen) {
    int rc = session_settle(s, err, errlen);
    return rc ? rc : read_ids(s, ids, n, 1, each, arg, err, errlen);
}

size_t roformer_position(const RoformerSession *s) { return s->session.pos + (s->owes != 0); }

int roformer_rewind(RoformerSession *s, size_t n, char *err, size_t errlen) {
    size_t at = roformer_position(s);
    if (n == at) return 0;
    if (n > at) return base_error(err, errlen, -EINVAL, "there is no going back to %zu: %zu ids were read", n, at);
    if (n < s->session.pos && session_rewind(&s->session, n))
        return base_error(err, errlen, -EINVAL, "linear attention keeps no past to go back to; it can only forget all");
    s->n_ids -= s->n_ids < at - n ? s->n_ids : at - n;
    s->owes = 0;
    s->logits = NULL;
    return 0;
}

/* ---- a past in a file ---- */

/* A state holds the logits behind the last id. Whoever went back, or did not ask for them, has none: then it is read
 * again. Not under the UniLM mask, where a first text's ids are read in another way than those behind it. */
static void owe_logits(RoformerSession *s) {
    Session *in = &s->session;
    int may = s->model->model.has_logits && s->model->model.config.mask == MASK_CAUSAL;
    if (may && !s->owes && !in->has_logits && in->pos && session_rewind(in, in->pos - 1) == 0) s->owes = 1;
}

int roformer_session_save(RoformerSession *s, const char *path, char *err, size_t errlen) {
    owe_logits(s);
    int rc = session_settle(s, err, errlen);
    if (rc) return rc;
    Numerals n = numerals_begin(); /* a state holds its RoPE as a text with numbers */
    rc = session_save(&s->session, path, err, errlen);
    numerals_end(&n);
    return rc;
}

int roformer_session_load(RoformerSession *s, const char *path, const float **logits, char *err, size_t errlen) {
    s->logits = NULL;
    s->n_ids = 0, s->owes = 0;
    Numerals n = numerals_begin();
    int rc = session_load(&s->session, path, &s->logits, err, errlen);
    numerals_end(&n);
    if (rc == 0 && s->session.ids) rc = remember(s, 0, s->session.ids, s->session.pos, err, errlen);
    if (rc) session_rewind(&s->session, 0), s->logits = NULL;
    if (logits) *logits = s->logits;
    return rc;
}
