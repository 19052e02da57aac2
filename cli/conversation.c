/* cli/conversation.c - the messages of a conversation, and the session that reads them. */
#include "chat.h"
#include "model/state.h"
#include "model/timeline.h"
#include "base/base.h"
#include "base/system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int out_of_memory(Chat *c) { return base_error(c->g.e.err, sizeof c->g.e.err, -ENOMEM, "out of memory"); }

int chat_add(Chat *c, ChatRole role, const char *text, size_t n) {
    if (array_reserve(&c->messages, &c->cap, c->n + 2, sizeof *c->messages)) return out_of_memory(c);
    char *copy = malloc(n + 1);
    if (!copy) return out_of_memory(c);
    memcpy(copy, text, n);
    copy[n] = 0;
    ChatMessage *m = &c->messages[role == CHAT_SYSTEM ? 0 : ++c->n];
    if (role == CHAT_SYSTEM) {
        free((char *)(uintptr_t)m->text);
        c->stale = 1;
    }
    *m = (ChatMessage){role, copy, n};
    return 0;
}

static void forget(Chat *c, size_t from, size_t n) {
    for (size_t i = 0; i < n; i++) free((char *)(uintptr_t)c->messages[1 + from + i].text);
    if (n) memmove(c->messages + 1 + from, c->messages + 1 + from + n, (c->n - from - n) * sizeof *c->messages);
    c->n -= n;
    c->stale = 1;
}

void chat_drop_last(Chat *c) { forget(c, c->n - 1, 1); }

void chat_clear(Chat *c) {
    forget(c, 0, c->n);
    c->loaded = 0;
    c->system_behind = 0;
}

void chat_free(Chat *c) {
    if (c->messages) {
        chat_clear(c);
        free((char *)(uintptr_t)c->messages[0].text);
    }
    free(c->messages);
    free(c->standard);
    generation_close(&c->g);
}

/* ---- ids ---- */

static int linear(const Chat *c) { return c->g.e.session.model->config.linear.form != NULL; }

static int render(Chat *c, int generate, ChatParts *parts, size_t *first) {
    ChatOptions o = {.date = c->date, .system = c->standard, .generate = generate, .goes_on = c->loaded > 0};
    int with_system = c->messages[0].text && (c->loaded == 0 || c->system_behind);
    *first = with_system ? 0 : 1;
    return chat_render(parts, c->t, c->messages + *first, c->n + (size_t)with_system, &o, c->g.e.err,
                       sizeof c->g.e.err);
}

/* The first part that linear attention has not read: what stands behind the last content that it has. */
static size_t unread(const Chat *c, const ChatParts *p, size_t first) {
    size_t n_read = c->n_read + 1 - first, i = p->n; /* as the parts count: the system message is one */
    if (c->n_read == 0) return 0;
    while (i > 0 && !(p->parts[i - 1].message < n_read && (c->closed || p->parts[i - 1].kind == CHAT_CONTENT))) i--;
    return i;
}

/* Where something was loaded: is its last id text? Linear attention does not know its ids, and most texts end in text.
 */
static int behind_text(const Chat *c) {
    const Session *s = &c->g.e.session;
    return c->loaded > 0 &&
           (linear(c) || s->pos < c->loaded || s->ids[c->loaded - 1] != tokenizer_eos(c->g.e.tokenizer));
}

/* The conversation's ids, or where linear attention goes on, the ids of what is new. *ids is malloc'ed. */
static int conversation_ids(Chat *c, int generate, int **ids, size_t *n) {
    ChatParts parts;
    size_t first, from = 0;
    int rc = render(c, generate, &parts, &first);
    *ids = NULL, *n = 0;
    if (rc) return rc;
    if (linear(c) && !c->stale) from = unread(c, &parts, first);
    rc = chat_encode(&parts, from, c->g.e.tokenizer, behind_text(c), ids, n, c->g.e.err, sizeof c->g.e.err);
    chat_parts_free(&parts);
    return rc;
}

/* ids and more behind them: *ids grows. */
static int append(Chat *c, int **ids, size_t *n, const int *more, size_t n_more) {
    size_t cap = *n;
    if (array_reserve(ids, &cap, *n + n_more, sizeof **ids)) return out_of_memory(c);
    if (n_more) memcpy(*ids + *n, more, n_more * sizeof *more);
    *n += n_more;
    return 0;
}

/* From the beginning, what was loaded first: delta nets cannot go back to where ids part from the session's. */
static int read_again(Chat *c, const int *ids, size_t n, const float **logits) {
    Session *s = &c->g.e.session;
    int *all = NULL;
    size_t n_all = 0;
    int rc = append(c, &all, &n_all, s->ids, c->loaded);
    if (rc == 0) rc = append(c, &all, &n_all, ids, n);
    if (rc == 0) rc = session_rewind(s, 0);
    if (rc == 0) rc = session_eval(s, all, n_all, logits, c->g.e.err, sizeof c->g.e.err);
    free(all);
    return rc;
}

/* How many of ids [n] the session has, behind what was loaded. */
static size_t shared(const Chat *c, const int *ids, size_t n) {
    const Session *s = &c->g.e.session;
    size_t same = 0;
    while (same < n && c->loaded + same < s->pos && s->ids[c->loaded + same] == ids[same]) same++;
    return same;
}

/* Softmax: keep what the session's ids and these have in common, and read the others. */
static int read_softmax(Chat *c, const int *ids, size_t n, const float **logits) {
    Session *s = &c->g.e.session;
    size_t same = shared(c, ids, n);
    if (same == n && s->pos == c->loaded + n && s->has_logits) {
        *logits = s->logits;
        return 0;
    }
    if (n == 0) return base_error(c->g.e.err, sizeof c->g.e.err, -EINVAL, "there is nothing to read yet");
    if (same == n) same--; /* the last id once more, for its logits */
    if (session_rewind(s, c->loaded + same)) return read_again(c, ids, n, logits);
    return session_eval(s, ids + same, n - same, logits, c->g.e.err, sizeof c->g.e.err);
}

/* Linear: read what is new, or where that is not enough, everything. */
static int read_linear(Chat *c, int *ids, size_t n, const float **logits) {
    Session *s = &c->g.e.session;
    int rc = 0;
    if (c->stale) rc = session_rewind(s, 0);
    else if (c->has_pending) rc = session_eval(s, &c->pending, 1, logits, c->g.e.err, sizeof c->g.e.err);
    if (rc == 0 && n) rc = session_eval(s, ids, n, logits, c->g.e.err, sizeof c->g.e.err);
    else if (rc == 0 && !c->has_pending && s->has_logits) *logits = s->logits;
    c->stale = rc != 0;
    c->has_pending = 0;
    return rc;
}

int chat_read(Chat *c, int generate, const int *extra, size_t n_extra, const float **logits) {
    int *ids;
    size_t n;
    if (linear(c) && c->stale && c->loaded) {
        note("linear attention keeps no past to go back to: what was loaded is forgotten");
        c->loaded = 0;
    }
    int rc = conversation_ids(c, generate, &ids, &n);
    if (rc == 0) rc = append(c, &ids, &n, extra, n_extra);
    c->g.e.progress.start = clock_seconds();
    if (rc == 0) rc = linear(c) ? read_linear(c, ids, n, logits) : read_softmax(c, ids, n, logits);
    progress_clear(&c->g.e.progress);
    c->n_read = c->n;
    c->closed = !generate;
    if (rc == 0 && !extra) { /* the penalties look back on them */
        free(c->g.w.ids);
        c->g.w.ids = ids;
        c->g.w.n_ids = c->g.w.cap_ids = c->g.n_prompt = n;
    } else {
        free(ids);
    }
    return rc;
}

size_t chat_in_use(Chat *c) {
    int *ids;
    size_t n, pos = c->g.e.session.pos;
    if (linear(c)) return c->stale ? 0 : pos;
    if (conversation_ids(c, 0, &ids, &n) == 0) pos = c->loaded + n;
    if (pos > c->g.e.session.options.n_ctx) pos = c->g.e.session.options.n_ctx; /* the last turn's end has no place */
    free(ids);
    return pos;
}

/* ---- a full context ---- */

/* How many ids the conversation has. */
static int count(Chat *c, size_t *n) {
    int *ids, rc = conversation_ids(c, 1, &ids, n);
    free(ids);
    *n += c->loaded;
    return rc;
}

/* Those of the system message and the last one, which stay when all others have left. */
static int count_last(Chat *c, size_t *n) {
    ChatMessage two[2] = {c->messages[0], c->messages[c->n]}, *all = c->messages;
    size_t n_all = c->n, loaded = c->loaded;
    c->messages = two, c->n = 1, c->loaded = 0;
    int rc = count(c, n);
    c->messages = all, c->n = n_all, c->loaded = loaded;
    return rc;
}

static int too_long(Chat *c, size_t n) {
    size_t n_ctx = c->g.e.session.options.n_ctx;
    return base_error(c->g.e.err, sizeof c->g.e.err, -ENOSPC,
                      "%zu tokens do not fit the context of %zu; -c makes room for more", n, n_ctx);
}

void chat_say_left(Chat *c) {
    size_t n_ctx = c->g.e.session.options.n_ctx;
    if (c->loaded_left) note("the context of %zu positions is full: what was loaded leaves it", n_ctx);
    if (c->n_left)
        note("the context of %zu positions is full: the oldest %zu messages leave it, the rest is read again", n_ctx,
             c->n_left);
    c->n_left = (size_t)(c->loaded_left = 0);
}

int chat_fit(Chat *c, size_t extra) {
    size_t n_ctx = c->g.e.session.options.n_ctx, n, least;
    if (linear(c)) return 0;
    int rc = count(c, &n);
    if (rc || n + extra <= n_ctx - n_ctx / 8) return rc;
    if ((rc = count_last(c, &least)) || least + extra >= n_ctx) return rc ? rc : too_long(c, least + extra);
    size_t enough = n_ctx - n_ctx / 4; /* more leave than must: not every turn is to read all again */
    while (rc == 0 && n + extra > enough && (c->loaded || c->n > 2)) {
        if (c->loaded) {
            c->loaded_left = 1;
            c->loaded = 0;
            c->system_behind = 0;
        } else {
            forget(c, 0, 2);
            c->n_left += 2;
        }
        rc = count(c, &n);
    }
    return rc == 0 && n + extra >= n_ctx ? too_long(c, n + extra) : rc;
}

int chat_make_room(void *arg) {
    Chat *c = arg;
    const TextWriter *w = &c->g.w;
    size_t n_before = c->n, loaded = c->loaded;
    const float *logits;
    if (linear(c) || chat_fit(c, w->n_new) || (c->n == n_before && c->loaded == loaded)) return 0;
    return chat_read(c, 1, w->ids + c->g.n_prompt, w->n_new - 1, &logits) == 0;
}

/* ---- files ---- */

int chat_save(Chat *c, const char *path) {
    const float *logits;
    int rc = chat_read(c, 0, NULL, 0, &logits);
    return rc ? rc : session_save(&c->g.e.session, path, c->g.e.err, sizeof c->g.e.err);
}

int chat_load(Chat *c, const char *path) {
    Session *s = &c->g.e.session;
    CacheType type;
    const float *logits;
    size_t n;
    int rc = session_saved_ids(path, &n, &type, c->g.e.err, sizeof c->g.e.err);
    if (rc == 0 && n >= s->options.n_ctx)
        rc = base_error(c->g.e.err, sizeof c->g.e.err, -ENOSPC,
                        "%s: its %zu ids leave no room in the context of %zu; -c makes room for more", path, n,
                        s->options.n_ctx);
    if (rc) return rc; /* nothing has happened */
    rc = session_load(s, path, &logits, c->g.e.err, sizeof c->g.e.err);
    if (rc == 0) chat_clear(c);
    c->loaded = rc == 0 ? s->pos : 0;
    c->stale = rc != 0;
    c->n_read = 0;
    c->has_pending = 0;
    return rc;
}
