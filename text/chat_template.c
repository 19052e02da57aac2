/* text/chat_template.c - rendering a conversation by its template's row. */
#include "chat_template.h"
#include "trim.h"
#include "base/base.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What stands for itself where a row spells it. No two begin alike at one place but the longer is a token, too. */
static const char *const controls[] = {
    "<|im_start|>", "<|im_end|>", "<|im_sep|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "[INST]",
    "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[THINK]", "[/THINK]", "<|system|>", "<|user|>", "<|assistant|>",
    "<|end|>", "<start_of_turn>", "<end_of_turn>", "<｜User｜>", "<｜Assistant｜>", "<｜end▁of▁sentence｜>", "<think>",
    "</think>", "<|EOT|>", "<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<|SYSTEM_TOKEN|>", "<|USER_TOKEN|>",
    "<|CHATBOT_TOKEN|>", "<|end_of_turn|>", "<|start_of_role|>", "<|end_of_role|>", "<|end_of_text|>", "<|start|>",
    "<|message|>", "<|channel|>", "<seed:bos>", "<seed:eos>", "<seed:think>", "</seed:think>", "[|system|]", "[|user|]",
    "[|assistant|]", "[|endofturn|]", "[gMASK]", "<sop>", "<|begin_of_sentence|>", "<|end_of_sentence|>",
    "<｜hy_begin▁of▁sentence｜>", "<｜hy_User｜>", "<｜hy_Assistant｜>", "<｜hy_place▁holder▁no▁3｜>",
    "<｜hy_place▁holder▁no▁2｜>", "<functions>", "</functions>", "<|turn>", "<turn|>", "<|channel>", "<channel|>",
    "<|im_system|>", "<|im_user|>", "<|im_assistant|>", "<|im_middle|>"};

typedef struct {
    ChatParts *parts;
    const ChatTemplate *t;
    const ChatOptions *o;
    const char *system; /* [n_system] the system message; NULL: none */
    size_t n_system;
    int standard; /* .. is the default one, the template's own text */
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
        len = find_bytes(s, 0, n, "</think>");
        n -= (size_t)(end + 8 - s);
        s = end + 8;
        drop_lines(thoughts, &len);
        const char *begin = last_place(thoughts, len, "<think>");
        if (begin) len -= (size_t)(begin + 7 - thoughts), thoughts = begin + 7;
        skip_lines(&thoughts, &len);
    }
    skip_lines(&s, &n);
    if (r->t->flags & CHAT_TRIM_ANSWER) trim_left(&thoughts, &len), trim_right(thoughts, &len);
    add_row_text(r, "<think>\n");
    add_part(r, thoughts, len, CHAT_CONTENT);
    add_row_text(r, "\n</think>\n\n");
    add_part(r, s, n, CHAT_CONTENT);
}

/* The text of an answer; control tokens that belong to it stand for themselves again. */
static void add_answer_text(Rendering *r, const char *s, size_t n) {
    enum { SHOWN = sizeof r->t->shown / sizeof *r->t->shown };
    for (;;) {
        size_t at = n, len = 0;
        for (int i = 0; i < SHOWN && r->t->shown[i]; i++) {
            size_t here = find_bytes(s, 0, n, r->t->shown[i]);
            if (here < at) at = here, len = strlen(r->t->shown[i]);
        }
        if (at > 0 || len == 0) add_part(r, s, at, CHAT_CONTENT);
        if (len == 0) return;
        add_part(r, s + at, len, CHAT_CONTROL);
        s += at + len;
        n -= at + len;
    }
}

/* An answer without what it shows as thought: of each stretch up to shown[1] what stands in front of shown[0]. */
static void add_unshown(Rendering *r, const char *s, size_t n) {
    ChatParts *p = r->parts;
    size_t first = p->n;
    for (int begun = 0;;) {
        size_t end = find_bytes(s, 0, n, r->t->shown[1]), len = find_bytes(s, 0, end, r->t->shown[0]);
        const char *text = s;
        if (!begun) trim_left(&text, &len);
        begun |= len > 0;
        add_part(r, text, len, CHAT_CONTENT);
        if (end == n) break;
        end += strlen(r->t->shown[1]);
        s += end, n -= end;
    }
    for (size_t i = p->n; i-- > first;) {
        trim_right(p->parts[i].text, &p->parts[i].len);
        if (p->parts[i].len > 0) break;
    }
}

/* Of an answer in channels what the last one says that is no thought: nothing where it did not come to it. */
static void drop_channels(const char *channel, const char **s, size_t *n) {
    static const char begin[] = "<|channel|>";
    const char *answer = last_place(*s, *n, channel), *end = *s + *n;
    if (answer) *s = answer + strlen(channel);
    else if (*n >= strlen(begin) && memcmp(*s, begin, strlen(begin)) == 0) *s = end;
    *n = (size_t)(end - *s);
}

/* What stands of an answer's s [n] in a conversation; last: nothing follows it, newest: no other answer does. */
static void add_answer(Rendering *r, const char *s, size_t n, int last, int newest) {
    int flags = r->t->flags, whole = (last && flags & CHAT_KEEP_LAST) || (newest && flags & CHAT_KEEP_ANSWER);
    if (last && flags & CHAT_SHOW_LAST) {
        add_thinking(r, s, n);
        return;
    }
    if (flags & CHAT_DROP_SHOWN) {
        add_unshown(r, s, n);
        return;
    }
    const char *thoughts = flags & CHAT_DROP_THINKING && !whole ? last_place(s, n, "</think>") : NULL;
    if (thoughts) {
        n -= (size_t)(thoughts + 8 - s);
        s = thoughts + 8;
        if (flags & CHAT_DROP_SPACES) trim_left(&s, &n), trim_right(s, &n);
    }
    if (flags & CHAT_DROP_LINES && (thoughts || flags & CHAT_KEEP_LAST) && !whole) skip_lines(&s, &n);
    if (flags & CHAT_SKIP_LINES) skip_lines(&s, &n);
    add_answer_text(r, s, n);
}

static void add_assistant(Rendering *r, const ChatMessage *m, int last, int newest) {
    const char *s = m->text, *const *around = r->t->assistant;
    size_t n = m->len;
    if (r->t->channel) drop_channels(r->t->channel, &s, &n);
    if (r->t->flags & CHAT_TRIM_ANSWER) trim_left(&s, &n), trim_right(s, &n);
    if (n == 0 && r->t->empty[0]) around = r->t->empty;
    add_row_text(r, around[0]);
    add_answer(r, s, n, last, newest);
    add_row_text(r, around[1]);
}

/* ---- the system message ---- */

/* Where the first of the row's words stands in s [n], and its length; n and 0: nowhere. */
static size_t word_in(const ChatTemplate *t, const char *s, size_t n, size_t *len) {
    size_t at = n;
    *len = 0;
    for (size_t i = 0; i < sizeof t->words / sizeof *t->words && t->words[i]; i++) {
        size_t here = find_bytes(s, 0, n, t->words[i]);
        if (here < at) at = here, *len = strlen(t->words[i]);
    }
    return at;
}

/* How much of s [n] stays when the words are out, and the white space behind the rest; without words all of it. */
static size_t without_words(const ChatTemplate *t, const char *s, size_t n) {
    if (!t->words[0]) return n;
    for (size_t had = n + 1; n < had;) {
        had = n;
        trim_right(s, &n);
        for (size_t i = 0; i < sizeof t->words / sizeof *t->words && t->words[i]; i++) {
            size_t len = strlen(t->words[i]);
            if (n >= len && memcmp(s + n - len, t->words[i], len) == 0) n -= len;
        }
    }
    return n;
}

/* The row of the conversation, which a word in its system message may change; and the system message. */
static void choose_system(Rendering *r, const ChatMessage *given) {
    const ChatTemplate *t = r->t;
    if (given && t->other && find_bytes(given->text, 0, given->len, t->words[0]) < given->len)
        t = r->t = chat_template_find(t->other);
    const char *standard = t->flags & CHAT_DEFAULT_IN_FILE ? r->o->system : t->system_default;
    if (given && (!(t->flags & CHAT_EMPTY_SYSTEM) || without_words(t, given->text, given->len) > 0)) {
        r->system = given->text;
        r->n_system = without_words(t, given->text, given->len);
    } else if (standard && !r->o->goes_on) {
        r->system = standard;
        r->n_system = strlen(standard);
        r->standard = 1;
    }
}

/* The system message and what stands around it; the end of what follows may be trimmed away with it. */
static void add_system(Rendering *r, int trim_end) {
    const char *after = r->t->system[1] ? r->t->system[1] : "", *s = r->system;
    size_t len = strlen(after), n = r->n_system, word;
    if (r->standard && r->t->flags & CHAT_DEFAULT_WHOLE) {
        add_template(r, s, n);
        return;
    }
    if (r->t->flags & CHAT_TRIM_SYSTEM) trim_left(&s, &n), trim_right(s, &n);
    if (trim_end) trim_right(after, &len);
    add_row_text(r, r->t->system[0]);
    if (r->standard) add_template(r, s, n), n = 0;
    else do {
        size_t at = word_in(r->t, s, n, &word);
        add_part(r, s, at, CHAT_CONTENT);
        s += at + word;
        n -= at + word;
    } while (n > 0);
    add_template(r, after, len);
}

static void add_user(Rendering *r, const ChatMessage *m, int with_system) {
    const char *s = m->text;
    size_t n = m->len;
    if (r->t->flags & CHAT_TRIM_USER) {
        if (!with_system || !(r->t->flags & CHAT_TRIM_MERGED)) trim_left(&s, &n);
        trim_right(s, &n);
    }
    add_row_text(r, r->t->user[0]);
    if (with_system) add_system(r, n == 0 && r->t->flags & CHAT_TRIM_MERGED);
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
    size_t first = n && messages[0].role == CHAT_SYSTEM;
    choose_system(&r, first ? messages : NULL);
    t = r.t;
    if (!o->goes_on) add_row_text(&r, t->begin);
    if (r.system && t->place == CHAT_OWN) add_system(&r, 0);
    size_t newest = n;
    while (newest > 0 && messages[newest - 1].role != CHAT_ASSISTANT) newest--;
    for (size_t i = first; i < n; i++) {
        int here = t->place == CHAT_FIRST_USER ? i == first : t->place == CHAT_LAST_USER && i + 1 == n;
        r.message = i;
        if (messages[i].role == CHAT_USER) add_user(&r, &messages[i], r.system && here);
        else add_assistant(&r, &messages[i], i + 1 == n, i + 1 == newest);
    }
    r.message = SIZE_MAX;
    if (o->generate) add_row_text(&r, t->generate);
    if (!r.failed) return 0;
    chat_parts_free(p);
    return base_error(err, errlen, -ENOMEM, "no memory for a conversation of %zu messages", n);
}

void chat_template_date(const ChatTemplate *t, const struct tm *today, char *text, size_t size) {
    if (strftime(text, size, t->date ? t->date : "%d %b %Y", today) == 0) *text = 0;
}

void chat_parts_free(ChatParts *p) {
    free(p->parts);
    memset(p, 0, sizeof *p);
}
