/* model/several.c - see several.h. The host runs the forward pass over one token a text; where it attends, each text's
 * own session does, in a view of the host's arrays that begins with its token. */
#include "several.h"

#include "base/base.h"
#include "family.h"
#include "model/layers/layers.h"
#include "past.h"
#include "timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of session i: its view, a team of one for it, and of the batch under way the k-th id's text and row. */
typedef struct SeveralPart {
    Scratch view;
    Team one;
    size_t text, row; /* whose id, and which of the caller's it is */
    size_t at;        /* where the id of this row of the caller's is: parts[at].row */
} Part;

/* A host keeps no text, but knows whose they are. */
typedef struct {
    Past past;
    Several *of;
    size_t first; /* the part with which the batch under way begins */
    int alone;    /* 1: a thread attends for a whole text */
} HostPast;

static int host_init(Session *s, char *err, size_t errlen) {
    HostPast *p = calloc(1, sizeof *p);
    if (p) s->past = &p->past;
    if (p) p->past.deltas = calloc(s->options.n_logits, sizeof *p->past.deltas); /* a token's: as many as texts */
    return p && p->past.deltas ? 0 : base_error(err, errlen, -ENOMEM, "out of memory");
}

static void host_free(Session *s) {
    if (s->past) free(s->past->deltas);
    free(s->past);
}

/* Session i sees the host's scratch from token t on, as layer l's heads lie in it. */
static void look_from(Several *v, size_t i, size_t t, int alone, int l) {
    const Session *host = &v->host;
    const Config *c = &host->model->config;
    Scratch *w = &v->parts[i].view;
    size_t half = (size_t)c->rope.rotary_dim / 2, heads = (size_t)c->n_heads, kv = (size_t)layer_kv_heads(c, l),
           hd = (size_t)layer_head_dim(c, l), vd = (size_t)layer_value_dim(c, l);
    *w = *host->scratch;
    w->block = NULL;
    w->tokens += t;
    w->q += t * heads * hd, w->k += t * kv * hd;
    w->att += t * heads * vd, w->v += t * kv * vd;
    if (w->cos) w->cos += t * half, w->sin += t * half;
    if (w->cos64) w->cos64 += t * half, w->sin64 += t * half;
    if (alone) w->team = v->parts[i].one;
    v->sessions[i].options.threads = alone ? 1 : host->options.threads;
}

/* Where there are as many texts as threads, each of these attends for whole ones and waits for nobody. */
static void host_attend(Session *host, int l, size_t n) {
    const HostPast *of = (const HostPast *)host->past;
    Several *v = of->of;
    Team *team = &host->scratch->team;
    const Part *first = v->parts + of->first;
    const Decoder *x = host->model->config.decoder;
    for (Share i = team_share(team, x && x->local_dim ? n : 0); i.at < i.end; i.at++)
        look_from(v, first[i.at].text, i.at, of->alone, l);
    team_wait(team); /* queries and keys are there, of all */
    if (of->alone)
        for (Share i; team_take(team, n, &i);)
            for (; i.at < i.end; i.at++) {
                Session *s = &v->sessions[first[i.at].text];
                int me = team_become(0);
                s->options.attention->attend(s, l, 1);
                team_become(me);
            }
    else
        for (size_t i = 0; i < n; i++) {
            Session *s = &v->sessions[first[i].text];
            s->options.attention->attend(s, l, 1);
        }
    team_wait(team);
}

static const Attention attention_host = {host_init, host_free, host_attend, NULL};

static int init_session(Several *v, size_t i, size_t n_ctx, const Attention *attention, char *err, size_t errlen) {
    Session *s = &v->sessions[i];
    const Config *c = &v->host.model->config;
    *s = (Session){.model = v->host.model, .options = v->host.options, .logits = v->logits};
    s->options.n_ctx = n_ctx;
    s->options.attention = attention;
    rope_init(&s->rope, &c->rope, 1);
    int rc = attention->init(s, err, errlen);
    if (rc) return rc;
    s->scratch = &v->parts[i].view;
    look_from(v, i, 0, 0, 0);
    if (!c->linear.form && !(s->ids = calloc(n_ctx, sizeof *s->ids)))
        return base_error(err, errlen, -ENOMEM, "out of memory");
    return team_init(&v->parts[i].one, 1) ? base_error(err, errlen, -ENOMEM, "out of memory") : 0;
}

int several_init(Several *v, const Model *m, const SessionOptions *options, size_t n, char *err, size_t errlen) {
    const Config *c = &m->config;
    SessionOptions o = *options;
    const Attention *attention = o.attention ? o.attention : session_attention;
    size_t n_ctx = o.n_ctx ? o.n_ctx : (size_t)c->n_ctx_train;
    *v = (Several){.n = n};
    if (c->mask != MASK_CAUSAL)
        return base_error(err, errlen, -EINVAL, "texts of this model are read one by one: it reads them whole");
    o.attention = &attention_host;
    o.chunk = 0;
    if (n_ctx < n) o.n_ctx = n;
    if (o.n_batch && o.n_batch < n) o.n_batch = n;
    if (o.n_logits < n) o.n_logits = n;
    int rc = session_init(&v->host, m, &o, err, errlen);
    if (rc == 0 && v->host.options.n_batch < n) { /* a wide model's usual batch */
        session_free(&v->host);
        o.n_batch = n;
        rc = session_init(&v->host, m, &o, err, errlen);
    }
    if (rc) return several_free(v), rc;
    v->logits = v->host.logits;
    v->parts = calloc(n, sizeof *v->parts);
    v->sessions = calloc(n, sizeof *v->sessions);
    if (!v->parts || !v->sessions) rc = base_error(err, errlen, -ENOMEM, "out of memory");
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = init_session(v, i, c->linear.form ? v->host.options.n_ctx : n_ctx, attention, err, errlen);
    if (rc) return several_free(v), rc;
    ((HostPast *)v->host.past)->of = v;
    v->host.rotates = v->sessions[0].rotates; /* keys, where they do not */
    return 0;
}

void several_free(Several *v) {
    for (size_t i = 0; v->sessions && v->parts && i < v->n; i++) {
        Session *s = &v->sessions[i];
        if (s->options.attention) s->options.attention->free(s);
        free(s->ids);
        team_free(&v->parts[i].one);
    }
    session_free(&v->host);
    free(v->sessions);
    free(v->parts);
    memset(v, 0, sizeof *v);
}

size_t several_bytes(const Several *v) {
    size_t bytes = v->host.scratch->bytes;
    for (size_t i = 0; i < v->n; i++) bytes += session_bytes(&v->sessions[i]) - v->host.scratch->bytes;
    return bytes;
}

/* The parts from `from` on whose frequencies are the first one's, which come to stand behind it; where they end. */
static size_t gather(Several *v, size_t from, size_t n) {
    size_t end = from + 1;
    for (size_t i = end; i < n; i++) {
        if (v->sessions[v->parts[i].text].rope.choice != v->sessions[v->parts[from].text].rope.choice) continue;
        size_t text = v->parts[i].text, row = v->parts[i].row;
        v->parts[i].text = v->parts[end].text, v->parts[i].row = v->parts[end].row;
        v->parts[end].text = text, v->parts[end++].row = row;
    }
    return end;
}

static float *logits_of(const Several *v, size_t row) {
    return v->logits + row * (size_t)v->host.model->config.vocab_size;
}

/* The ids of parts from .. end-1 in one batch, whose logits are rows from .. end-1. */
static void run_host(Several *v, const int *ids, size_t from, size_t end) {
    Session *host = &v->host;
    HostPast *of = (HostPast *)host->past;
    host->rope = v->sessions[v->parts[from].text].rope;
    host->logits = logits_of(v, from);
    of->first = from;
    of->alone = end - from >= (size_t)host->options.threads;
    for (size_t i = from; i < end; i++) {
        Session *s = &v->sessions[v->parts[i].text];
        int id = ids[v->parts[i].row];
        host->scratch->tokens[i - from] = (Token){.id = id, .pos = s->pos + s->options.origin, .slot = s->pos,
                                                  .end = s->pos + 1};
        if (s->ids) s->ids[s->pos] = id;
        host->past->deltas[i - from] = s->past->delta;
        look_from(v, v->parts[i].text, i - from, of->alone, 0);
    }
    host->model->config.family->forward(host, end - from, end - from);
    for (size_t i = from; i < end; i++) {
        Session *s = &v->sessions[v->parts[i].text];
        s->pos++;
        s->has_logits = 0; /* they are several_logits' */
        v->parts[v->parts[i].row].at = i;
        look_from(v, v->parts[i].text, 0, 0, 0);
    }
}

int several_eval(Several *v, const size_t *texts, const int *ids, size_t n, char *err, size_t errlen) {
    for (size_t i = 0; i < n; i++) {
        v->parts[i].text = texts[i], v->parts[i].row = i;
        int rc = session_begin(&v->sessions[texts[i]], &ids[i], 1, 1, err, errlen);
        if (rc) return rc;
    }
    for (size_t from = 0, end; from < n; from = end) {
        end = gather(v, from, n);
        run_host(v, ids, from, end);
    }
    return 0;
}

const float *several_logits(const Several *v, size_t k) {
    return logits_of(v, v->parts[k].at);
}

typedef struct {
    Team *team;
    size_t n;
    void (*each)(void *arg, size_t k);
    void *arg;
} Each;

/* The threads meet first, for it is while it waits that a team learns that it lacks a core (base/threads.c). */
static void run_each(void *arg) {
    const Each *e = arg;
    team_wait(e->team);
    for (Share i; team_take(e->team, e->n, &i);)
        for (; i.at < i.end; i.at++) e->each(e->arg, i.at);
}

void several_each(Several *v, size_t n, void (*each)(void *arg, size_t k), void *arg) {
    Team *team = &v->host.scratch->team;
    team_run(team, n < (size_t)team->most ? (int)n : team->most, run_each, &(Each){team, n, each, arg});
}
