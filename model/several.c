/* model/several.c - see several.h. The host runs the forward pass over one token a text; where it attends, each text's
 * own session does, in a view of the host's arrays that begins with its token. Of a small model each thread has a host
 * for its part of the texts: threads need not meet in the middle of a layer, nor, while none of them ends, between
 * tokens. */
#include "several.h"

#include "base/base.h"
#include "family.h"
#include "past.h"
#include "timeline.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Of session i: its view, a team of one for it, and of the batch under way the k-th id's text and row. */
typedef struct SeveralPart {
    Scratch view;
    Team one;
    size_t text, row;
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

/* Where there are as many texts as threads, each of these attends for whole ones and waits for nobody. */
static void host_attend(Session *host, int l, size_t n) {
    const HostPast *of = (const HostPast *)host->past;
    const Several *v = of->of;
    Team *team = &host->scratch->team;
    const Part *first = v->parts + of->first;
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

/* Session i sees a host's scratch from token t on. */
static void look_from(Several *v, const Session *host, size_t i, size_t t, int alone) {
    const Config *c = &host->model->config;
    Scratch *w = &v->parts[i].view;
    size_t half = (size_t)c->rope.rotary_dim / 2, heads = (size_t)c->n_heads, kv = (size_t)c->n_kv_heads,
           hd = (size_t)c->head_dim, vd = (size_t)c->value_dim;
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
    look_from(v, &v->host, i, 0, 0);
    if (!c->linear.form && !(s->ids = calloc(n_ctx, sizeof *s->ids)))
        return base_error(err, errlen, -ENOMEM, "out of memory");
    return team_init(&v->parts[i].one, 1) ? base_error(err, errlen, -ENOMEM, "out of memory") : 0;
}

/* A host for each thread where a token alone is not worth a second one (step_run). */
static int init_own(Several *v, const SessionOptions *options, char *err, size_t errlen) {
    const Session *host = &v->host;
    size_t n = (size_t)host->options.threads;
    if (n > v->n) n = v->n;
    if (n < 2 || host->model->n_parameters >= host->options.grain) return 0;
    SessionOptions o = *options;
    o.threads = 1;
    o.n_batch = o.n_logits = (v->n + n - 1) / n;
    if (!(v->own = calloc(n, sizeof *v->own))) return base_error(err, errlen, -ENOMEM, "out of memory");
    for (int rc; v->n_own < n; v->n_own++)
        if ((rc = session_init(&v->own[v->n_own], host->model, &o, err, errlen))) return rc;
    return 0;
}

/* s is a host of these sessions, which rotates keys where they do not. */
static void bind_host(Several *v, Session *s) {
    ((HostPast *)s->past)->of = v;
    s->rotates = v->sessions[0].rotates;
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
    if (rc == 0) rc = init_own(v, &o, err, errlen);
    if (rc) return several_free(v), rc;
    v->logits = v->host.logits;
    v->parts = calloc(n, sizeof *v->parts);
    v->sessions = calloc(n, sizeof *v->sessions);
    if (!v->parts || !v->sessions) rc = base_error(err, errlen, -ENOMEM, "out of memory");
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = init_session(v, i, c->linear.form ? v->host.options.n_ctx : n_ctx, attention, err, errlen);
    if (rc) return several_free(v), rc;
    bind_host(v, &v->host);
    for (size_t i = 0; i < v->n_own; i++) bind_host(v, &v->own[i]);
    return 0;
}

void several_free(Several *v) {
    for (size_t i = 0; v->sessions && v->parts && i < v->n; i++) {
        Session *s = &v->sessions[i];
        if (s->options.attention) s->options.attention->free(s);
        free(s->ids);
        team_free(&v->parts[i].one);
    }
    for (size_t i = 0; i < v->n_own; i++) session_free(&v->own[i]);
    session_free(&v->host);
    free(v->own);
    free(v->sessions);
    free(v->parts);
    memset(v, 0, sizeof *v);
}

size_t several_bytes(const Several *v) {
    size_t bytes = v->host.scratch->bytes;
    for (size_t i = 0; i < v->n_own; i++) bytes += v->own[i].scratch->bytes;
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

/* The ids of parts from .. end-1 in one batch of this host, whose logits are rows from .. end-1. */
static void run_host(Several *v, Session *host, const int *ids, size_t from, size_t end) {
    HostPast *of = (HostPast *)host->past;
    host->rope = v->sessions[v->parts[from].text].rope;
    host->logits = v->logits + from * (size_t)host->model->config.vocab_size;
    of->first = from;
    of->alone = end - from >= (size_t)host->options.threads;
    for (size_t i = from; i < end; i++) {
        Session *s = &v->sessions[v->parts[i].text];
        int id = ids[v->parts[i].row];
        host->scratch->tokens[i - from] = (Token){.id = id, .pos = s->pos + s->options.origin, .slot = s->pos,
                                                  .end = s->pos + 1};
        if (s->ids) s->ids[s->pos] = id;
        host->past->deltas[i - from] = s->past->delta;
        look_from(v, host, v->parts[i].text, i - from, of->alone);
    }
    host->model->config.family->forward(host, end - from, end - from);
    for (size_t i = from; i < end; i++) {
        Session *s = &v->sessions[v->parts[i].text];
        s->pos++;
        s->has_logits = 0; /* they are several_logits' */
        look_from(v, &v->host, v->parts[i].text, 0, 0);
    }
}

/* The texts of parts from .. end-1, under way. */
typedef struct {
    Several *v;
    int *ids;
    size_t from, end, hosts;
    SeveralNext *next; /* NULL: one id each, and no more */
    void *arg;
    atomic_int ended, meet; /* one of the texts is at its end; something is to be done together */
} Reading;

static const float *logits_of(const Several *v, size_t i) {
    return v->logits + i * (size_t)v->host.model->config.vocab_size;
}

static void next_of(Reading *b, size_t i) {
    size_t k = b->v->parts[i].row;
    if (b->next(b->arg, k, logits_of(b->v, i), &b->ids[k])) b->ended = b->meet = 1;
}

/* The text's next id can be read as it is: by the same frequencies, with nothing to read again. */
static int goes_on(const Reading *b, size_t i) {
    Session *s = &b->v->sessions[b->v->parts[i].text];
    return session_together(s, 0, 1) && session_begin(s, &b->ids[b->v->parts[i].row], 1, 1, NULL, 0) == 0;
}

/* Host i's part of the texts, until it has to meet the others. */
static void run_own_host(Reading *b, size_t i) {
    size_t n = b->end - b->from, from = b->from + n * i / b->hosts, end = b->from + n * (i + 1) / b->hosts;
    do {
        run_host(b->v, &b->v->own[i], b->ids, from, end);
        if (!b->next) return;
        for (size_t j = from; j < end; j++) next_of(b, j);
        for (size_t j = from; j < end && !b->meet; j++)
            if (!goes_on(b, j)) b->meet = 1;
    } while (!b->meet);
}

/* What every thread runs: a host's part each. They meet first, for it is while it waits that a team learns that it
 * lacks a core (base/threads.c). */
static void run_own(void *arg) {
    Reading *b = arg;
    Team *team = &b->v->host.scratch->team;
    team_wait(team);
    for (Share i = team_share(team, b->hosts); i.at < i.end; i.at++) {
        int me = team_become(0);
        run_own_host(b, i.at);
        team_become(me);
    }
}

static void next_of_all(void *arg) {
    Reading *b = arg;
    Team *team = &b->v->host.scratch->team;
    team_wait(team); /* as run_own does */
    for (Share i; team_take(team, b->end - b->from, &i);)
        for (; i.at < i.end; i.at++) next_of(b, b->from + i.at);
}

static void run_batch(Reading *b) {
    Several *v = b->v;
    Team *team = &v->host.scratch->team;
    size_t n = b->end - b->from;
    b->hosts = n < v->n_own ? n : v->n_own;
    if (b->hosts) {
        team_run(team, (int)b->hosts, run_own, b);
        return;
    }
    run_host(v, &v->host, b->ids, b->from, b->end);
    if (b->next) team_run(team, n < (size_t)team->most ? (int)n : team->most, next_of_all, b);
}

/* Each text's next id is read, of those with the same frequencies together; or more than one. Result: 1: a text is at
 * its end; 0; or an error. */
static int read_next(Reading *b, const size_t *texts, size_t n, char *err, size_t errlen) {
    Several *v = b->v;
    for (size_t i = 0; i < n; i++) {
        v->parts[i].text = texts[i], v->parts[i].row = i;
        int rc = session_begin(&v->sessions[texts[i]], &b->ids[i], 1, 1, err, errlen);
        if (rc) return rc;
    }
    for (b->from = 0; b->from < n; b->from = b->end) {
        b->meet = 0;
        b->end = gather(v, b->from, n);
        run_batch(b);
    }
    return b->ended;
}

int several_eval(Several *v, const size_t *texts, const int *ids, size_t n, char *err, size_t errlen) {
    Reading b = {.v = v, .ids = (int *)ids}; /* which nobody changes */
    return read_next(&b, texts, n, err, errlen);
}

int several_write(Several *v, const size_t *texts, int *ids, size_t n, SeveralNext *next, void *arg, char *err,
                  size_t errlen) {
    Reading b = {.v = v, .ids = ids, .next = next, .arg = arg};
    int rc = 0;
    while (rc == 0) rc = read_next(&b, texts, n, err, errlen);
    return rc < 0 ? rc : 0;
}

const float *several_logits(const Several *v, size_t k) {
    size_t row = 0;
    while (v->parts[row].row != k) row++;
    return logits_of(v, row);
}
