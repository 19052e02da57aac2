/* text/chat_template.c - recognising a template, rendering a conversation by its row, and the ids of what was rendered.
 */
#include "chat_template.h"
#include "base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- recognising ---- */

/* The text with one kind of quotes, and \n as the newline that it stands for: files differ in these two. */
static char *normalised(const char *jinja, size_t len) {
    char *text = malloc(len + 1);
    size_t n = 0;
    for (size_t i = 0; text && i < len; i++) {
        char c = jinja[i];
        if (c == '\\' && i + 1 < len && jinja[i + 1] == 'n') c = '\n', i++;
        text[n++] = c == '"' ? '\'' : c ? c : ' ';
    }
    if (text) text[n] = 0;
    return text;
}

static int matches(const ChatTemplate *t, const char *text) {
    enum { HAS = sizeof t->has / sizeof *t->has, LACKS = sizeof t->lacks / sizeof *t->lacks };
    if (!t->has[0]) return 0; /* by name only */
    for (int i = 0; i < HAS && t->has[i]; i++)
        if (!strstr(text, t->has[i])) return 0;
    for (int i = 0; i < LACKS && t->lacks[i]; i++)
        if (strstr(text, t->lacks[i])) return 0;
    return 1;
}

const ChatTemplate *chat_template_recognise(const char *jinja, size_t len) {
    char *text = normalised(jinja, len);
    const ChatTemplate *t = NULL;
    for (int i = 0; text && (t = chat_template_row(i)) && !matches(t, text);) i++;
    free(text);
    return t;
}

/* ---- rendering ---- */

/* What stands for itself where a row spells it. No two begin alike at one place but the longer is a token, too. */
static const char *const controls[] = {"<|im_start|>",
                                       "<|im_end|>",
                                       "<|im_sep|>",
                                       "<|start_header_id|>",
                                       "<|end_header_id|>",
                                       "<|eot_id|>",
                                       "[INST]",
                                       "[/INST]",
                                       "[SYSTEM_PROMPT]",
                                       "[/SYSTEM_PROMPT]",
                                       "<|system|>",
                                       "<|user|>",
                                       "<|assistant|>",
                                       "<|end|>",
                                       "<start_of_turn>",
                                       "<end_of_turn>",
                                       "<｜User｜>",
                                       "<｜Assistant｜>",
                                       "<｜end▁of▁sentence｜>",
                                       "<think>",
                                       "</think>",
                                       "<|EOT|>",
                                       "<|START_OF_TURN_TOKEN|>",
                                       "<|END_OF_TURN_TOKEN|>",
                                       "<|SYSTEM_TOKEN|>",
                                       "<|USER_TOKEN|>",
                                       "<|CHATBOT_TOKEN|>",
                                       "<|end_of_turn|>",
                                       "<|start_of_role|>",
                                       "<|end_of_role|>",
                                       "<|end_of_text|>"};

typedef struct {
    ChatParts *parts;
    const ChatTemplate *t;
    const ChatOptions *o;
    size_t message;
    int failed; /* memory is out */
} Rendering;

static void add_part(Rendering *r, const char *text, size_t len, ChatKind kind) {
    ChatParts *p = r->parts;
    if (r->failed || (len == 0 && (kind == CHAT_TEXT || kind == CHAT_CONTROL))) return;
    r->failed = array_reserve(&p->parts, &p->cap, p->n + 1, sizeof *p->parts) != 0;
    if (!r->failed) p->parts[p->n++] = (ChatPart){.text = text, .len = len, .kind = kind, .message = r->message};
}

/* How many bytes of text, which begins a row's text, are one control token or one of {bos}, {eos}, {date}; 0: plain
 * text. */
static size_t marked(const Rendering *r, const char *text, ChatPart *part) {
    const struct { const char *name, *text; ChatKind kind; } named[] = {
        {"{bos}", r->o->bos, CHAT_BOS}, {"{eos}", r->o->eos, CHAT_EOS},
        {"{date}", r->o->date ? r->o->date : "26 Jul 2024", CHAT_TEXT}};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strncmp(text, named[i].name, strlen(named[i].name)) == 0) {
            *part = (ChatPart){.text = named[i].text ? named[i].text : "", .kind = named[i].kind};
            part->len = strlen(part->text);
            return strlen(named[i].name);
        }
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
        if (strncmp(text, controls[i], strlen(controls[i])) == 0) {
            *part = (ChatPart){.text = text, .len = strlen(controls[i]), .kind = CHAT_CONTROL};
            return part->len;
        }
    return 0;
}

/* A text of the row [len], cut at what stands for itself. */
static void add_template(Rendering *r, const char *text, size_t len) {
    size_t from = 0;
    for (size_t i = 0; i < len;) {
        ChatPart part;
        size_t n = strchr("<[{", text[i]) ? marked(r, text + i, &part) : 0;
        if (n == 0) {
            i++;
            continue;
        }
        add_part(r, text + from, i - from, CHAT_TEXT);
        add_part(r, part.text, part.len, part.kind);
        from = i += n;
    }
    add_part(r, text + from, len - from, CHAT_TEXT);
}

static void add_row_text(Rendering *r, const char *text) {
    if (text) add_template(r, text, strlen(text));
}

/* Bytes of the white space character at s[0 .. n-1], as Python's str.isspace knows it; 0 where there is none. */
static size_t space_at(const char *s, size_t n) {
    uint32_t c;
    int len = n ? utf8_decode(s, n, &c) : 0;
    if (len == 0) return 0;
    int space = (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
                (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
    return space ? (size_t)len : 0;
}

static void trim_left(const char **s, size_t *n) {
    for (size_t k; (k = space_at(*s, *n)) > 0; *n -= k) *s += k;
}

static void trim_right(const char *s, size_t *n) {
    for (;;) {
        size_t k = 1, had = *n;
        while (k <= 3 && k <= *n && space_at(s + *n - k, k) != k) k++;
        if (k <= 3 && k <= *n) *n -= k;
        if (*n == had) return;
    }
}

/* Where needle stands last in s [n]; NULL: nowhere. */
static const char *last_place(const char *s, size_t n, const char *needle) {
    size_t len = strlen(needle);
    for (size_t i = n < len ? 0 : n - len + 1; i-- > 0;)
        if (memcmp(s + i, needle, len) == 0) return s + i;
    return NULL;
}

static void skip_lines(const char **s, size_t *n) {
    while (*n && **s == '\n') ++*s, --*n;
}

static void drop_lines(const char *s, size_t *n) {
    while (*n && s[*n - 1] == '\n') --*n;
}

/* What Qwen3's template makes of a last answer: the thoughts in front of the first </think>, and what follows the last
 * one. */
static void add_thinking(Rendering *r, const char *s, size_t n) {
    const char *end = last_place(s, n, "</think>"), *thoughts = s;
    size_t len = 0;
    if (end) {
        while (len < n && !(n - len >= 8 && memcmp(s + len, "</think>", 8) == 0)) len++;
        n -= (size_t)(end + 8 - s);
        s = end + 8;
        drop_lines(thoughts, &len);
        const char *begin = last_place(thoughts, len, "<think>");
        if (begin) len -= (size_t)(begin + 7 - thoughts), thoughts = begin + 7;
        skip_lines(&thoughts, &len);
    }
    skip_lines(&s, &n);
    add_row_text(r, "<think>\n");
    add_part(r, thoughts, len, CHAT_CONTENT);
    add_row_text(r, "\n</think>\n\n");
    add_part(r, s, n, CHAT_CONTENT);
}

static void add_answer(Rendering *r, const ChatMessage *m, int last) {
    int flags = r->t->flags;
    const char *s = m->text;
    size_t n = m->len;
    if (last && flags & CHAT_SHOW_LAST) {
        add_thinking(r, s, n);
        return;
    }
    const char *thoughts =
        flags & CHAT_DROP_THINKING && !(last && flags & CHAT_KEEP_LAST) ? last_place(s, n, "</think>") : NULL;
    if (thoughts) {
        n -= (size_t)(thoughts + 8 - s);
        s = thoughts + 8;
    }
    if (flags & CHAT_DROP_LINES && (thoughts || flags & CHAT_KEEP_LAST) && !(last && flags & CHAT_KEEP_LAST))
        skip_lines(&s, &n);
    if (flags & CHAT_TRIM_ANSWER) trim_left(&s, &n), trim_right(s, &n);
    add_part(r, s, n, CHAT_CONTENT);
}

/* The system message [len] and what stands around it; the end of what follows may be trimmed away with it. */
static void add_system(Rendering *r, const char *s, size_t n, int trim_end) {
    const char *after = r->t->system[1] ? r->t->system[1] : "";
    size_t len = strlen(after);
    if (r->t->flags & CHAT_EMPTY_SYSTEM && n == 0) return;
    if (r->t->flags & CHAT_TRIM_SYSTEM) trim_left(&s, &n), trim_right(s, &n);
    if (trim_end) trim_right(after, &len);
    add_row_text(r, r->t->system[0]);
    add_part(r, s, n, CHAT_CONTENT);
    add_template(r, after, len);
}

static void add_user(Rendering *r, const ChatMessage *m, const ChatMessage *system) {
    const char *s = m->text;
    size_t n = m->len;
    if (r->t->flags & CHAT_TRIM_USER) {
        if (!system || !(r->t->flags & CHAT_TRIM_MERGED)) trim_left(&s, &n);
        trim_right(s, &n);
    }
    add_row_text(r, r->t->user[0]);
    if (system) add_system(r, system->text, system->len, n == 0 && r->t->flags & CHAT_TRIM_MERGED);
    add_part(r, s, n, CHAT_CONTENT);
    add_row_text(r, r->t->user[1]);
}

int chat_render(ChatParts *p, const ChatTemplate *t, const ChatMessage *messages, size_t n, const ChatOptions *o,
                char *err, size_t errlen) {
    Rendering r = {.parts = p, .t = t, .o = o};
    memset(p, 0, sizeof *p);
    for (size_t i = 1; i < n; i++)
        if (messages[i].role == CHAT_SYSTEM)
            return base_error(err, errlen, -EINVAL, "a system message stands only at the beginning of a conversation");
    int given = n && messages[0].role == CHAT_SYSTEM, wanted = given || (t->system_default && !o->goes_on);
    ChatMessage standard = {CHAT_SYSTEM, t->system_default, t->system_default ? strlen(t->system_default) : 0};
    const ChatMessage *system = given ? messages : wanted ? &standard : NULL;
    if (!o->goes_on) add_row_text(&r, t->begin);
    if (system && t->place == CHAT_OWN) add_system(&r, system->text, system->len, 0);
    for (size_t i = (size_t)given; i < n; i++) {
        int here = t->place == CHAT_FIRST_USER ? i == (size_t)given : t->place == CHAT_LAST_USER && i + 1 == n;
        r.message = i;
        if (messages[i].role == CHAT_USER) {
            add_user(&r, &messages[i], here ? system : NULL);
            continue;
        }
        add_row_text(&r, t->assistant[0]);
        add_answer(&r, &messages[i], i + 1 == n);
        add_row_text(&r, t->assistant[1]);
    }
    r.message = SIZE_MAX;
    if (o->generate) add_row_text(&r, t->generate);
    if (!r.failed) return 0;
    chat_parts_free(p);
    return base_error(err, errlen, -ENOMEM, "no memory for a conversation of %zu messages", n);
}

void chat_parts_free(ChatParts *p) {
    free(p->parts);
    memset(p, 0, sizeof *p);
}

/* ---- encoding ---- */

typedef struct {
    const Tokenizer *t;
    int flags_behind; /* how a stretch behind a control token is encoded */
    int goes_on;      /* the stretch that is gathered goes on from text that was read */
    int begun;        /* something stands in front */
    int swallows;     /* the control token in front swallows white space behind it */
    char *text;       /* the stretch [n_text] */
    size_t n_text, cap_text;
    int *ids;
    size_t n, cap;
    char *err;
    size_t errlen;
} Encoding;

static int out_of_memory(Encoding *e) {
    return base_error(e->err, e->errlen, -ENOMEM, "no memory to encode a conversation");
}

static int add_ids(Encoding *e, const int *ids, size_t n) {
    size_t want;
    if (!size_add(e->n, n, &want) || array_reserve(&e->ids, &e->cap, want, sizeof *e->ids)) return out_of_memory(e);
    if (n) memcpy(e->ids + e->n, ids, n * sizeof *ids);
    e->n = want;
    return 0;
}

static int add_text(Encoding *e, const char *s, size_t n) {
    size_t want;
    if (!size_add(e->n_text, n, &want) || array_reserve(&e->text, &e->cap_text, want, 1)) return out_of_memory(e);
    memcpy(e->text + e->n_text, s, n);
    e->n_text = want;
    return 0;
}

/* 1 where the tokenizer reads text, control tokens in it counting, as the token id and then the ids of rest. */
static int reads_as(const Tokenizer *t, const char *text, int id, const char *rest, int flags) {
    char err[128];
    int *x = NULL, *y = NULL, same = 0;
    size_t n = 0, m = 0;
    if (tokenizer_encode(t, text, strlen(text), ENCODE_SPECIAL, &x, &n, err, sizeof err) == 0 &&
        tokenizer_encode(t, rest, strlen(rest), flags, &y, &m, err, sizeof err) == 0)
        same = n == m + 1 && x[0] == id && memcmp(x + 1, y, m * sizeof *x) == 0;
    free(x);
    free(y);
    return same;
}

/* Does this tokenizer put SentencePiece's space in front of a text behind a control token? Some do before every
 * stretch, some only where nothing at all stands in front: ask it. */
static int flags_behind(const Tokenizer *t) {
    char text[256];
    size_t len = 0;
    int id = tokenizer_bos(t) >= 0 ? tokenizer_bos(t) : tokenizer_eos(t);
    const char *piece = tokenizer_piece(t, id, &len);
    if (!piece || len == 0 || len > 200) return ENCODE_BARE;
    memcpy(text, piece, len);
    memcpy(text + len, "a", 2);
    int bare = reads_as(t, text, id, "a", ENCODE_BARE) || !reads_as(t, text, id, "a", ENCODE_CONTINUE);
    return bare ? ENCODE_BARE : ENCODE_CONTINUE;
}

/* Some files say that a token swallows the white space behind it (Phi-3's <|end|>): asked in the same way. */
static int swallows_behind(const Encoding *e, const char *token, size_t len, int id) {
    char with[256];
    if (len > 200) return 0;
    memcpy(with, token, len);
    memcpy(with + len, "\n \na", 5);
    return !reads_as(e->t, with, id, "\n \na", e->flags_behind) && reads_as(e->t, with, id, "a", e->flags_behind);
}

/* The stretch gathered so far, to ids. */
static int flush(Encoding *e) {
    const char *s = e->text;
    size_t n = e->n_text, k;
    int *ids = NULL, flags = e->goes_on ? ENCODE_CONTINUE : e->begun ? e->flags_behind : ENCODE_BARE;
    if (e->swallows) trim_left(&s, &n);
    e->n_text = 0;
    if (n == 0) return 0;
    int rc = tokenizer_encode(e->t, s, n, flags, &ids, &k, e->err, e->errlen);
    if (rc == 0) rc = add_ids(e, ids, k);
    free(ids);
    e->begun = 1;
    return rc;
}

/* The id that a part stands for, or -1: it is text, or a BOS or EOS that this vocabulary has not. */
static int part_id(const Tokenizer *t, const ChatPart *p) {
    char name[64];
    if (p->kind == CHAT_BOS) return tokenizer_bos(t);
    if (p->kind == CHAT_EOS) return tokenizer_eos(t);
    if (p->kind != CHAT_CONTROL || p->len >= sizeof name) return -1;
    memcpy(name, p->text, p->len);
    name[p->len] = 0;
    return tokenizer_named(t, name);
}

static int encode_part(Encoding *e, const ChatPart *p) {
    int id = part_id(e->t, p);
    if (id < 0) return p->kind == CHAT_BOS || p->kind == CHAT_EOS || p->len == 0 ? 0 : add_text(e, p->text, p->len);
    int rc = flush(e);
    if (rc == 0) rc = add_ids(e, &id, 1);
    e->begun = 1;
    e->goes_on = 0;
    e->swallows = p->kind == CHAT_CONTROL && swallows_behind(e, p->text, p->len, id);
    return rc;
}

int chat_encode(const ChatParts *p, size_t from, const Tokenizer *t, int goes_on, int **ids, size_t *n, char *err,
                size_t errlen) {
    Encoding e = {.t = t, .flags_behind = flags_behind(t), .goes_on = goes_on, .begun = goes_on || from > 0, .err = err,
                  .errlen = errlen};
    if (from > 0) e.goes_on = part_id(t, &p->parts[from - 1]) < 0;
    *ids = NULL;
    *n = 0;
    int rc = add_ids(&e, NULL, 0);
    if (rc == 0 && !e.ids && !(e.ids = malloc(64 * sizeof *e.ids))) rc = out_of_memory(&e);
    for (size_t i = from; i < p->n && rc == 0; i++) rc = encode_part(&e, &p->parts[i]);
    if (rc == 0) rc = flush(&e);
    free(e.text);
    if (rc) {
        free(e.ids);
        return rc;
    }
    *ids = e.ids;
    *n = e.n;
    return 0;
}
