/* text/channels.c - see channels.h. */
#include "channels.h"

#include "base/utf8.h"

#include <string.h>

static const char message[] = "<|message|>";

static void show(TextChannels *c, const char *text, size_t n) {
    if (n) c->show(c->arg, text, n);
}

static void show_text(TextChannels *c, const char *text) { show(c, text, strlen(text)); }

static void drop(TextChannels *c, size_t n) {
    memmove(c->held, c->held + n, c->n_held - n);
    c->n_held -= n;
}

/* A header is whole: its channel says whether what follows is thought. */
static void begin_body(TextChannels *c, size_t len) {
    int named = find_bytes(c->held, 0, len, "<|channel|>") < len;
    int thinking = named && find_bytes(c->held, 0, len, "<|channel|>final") == len;
    if (thinking && !c->thinking) show_text(c, "<think>\n");
    if (!thinking && c->thinking) show_text(c, "\n</think>\n\n");
    else if (thinking && c->thinking) show_text(c, "\n");
    c->thinking = thinking;
    c->body = 1;
    drop(c, len + strlen(message));
}

/* Text up to where a token begins that ends it, or may begin: the rest is held. 1 where a header follows. */
static int show_body(TextChannels *c) {
    static const char *const ends[] = {"<|end|>", "<|start|>", "<|channel|>"};
    size_t at = c->n_held;
    int found = 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t here = find_bytes(c->held, 0, c->n_held, ends[i]);
        if (here < at) at = here, found = 1;
    }
    for (size_t i = 0; i < sizeof ends / sizeof *ends && !found; i++)
        for (size_t from = c->n_held > strlen(ends[i]) ? c->n_held - strlen(ends[i]) : 0; from < at; from++)
            if (memcmp(c->held + from, ends[i], c->n_held - from) == 0) at = from;
    show(c, c->held, at);
    drop(c, at);
    c->body = !found;
    return found;
}

/* What is held, as far as it is decided. */
static void settle(TextChannels *c) {
    for (;;) {
        if (c->body) {
            if (!show_body(c)) return;
            continue;
        }
        size_t at = find_bytes(c->held, 0, c->n_held, message);
        if (at < c->n_held) begin_body(c, at);
        else if (c->n_held == sizeof c->held) { /* no header is that long; what it begins with is no header's again */
            show(c, c->held, 1);
            drop(c, 1);
            c->body = 1;
        } else return;
    }
}

void text_channels_begin(TextChannels *c) { c->n_held = (size_t)(c->body = c->thinking = 0); }

void text_channels_piece(TextChannels *c, const char *text, size_t n) {
    while (n > 0) {
        size_t room = sizeof c->held - c->n_held, some = n < room ? n : room;
        memcpy(c->held + c->n_held, text, some);
        c->n_held += some;
        text += some;
        n -= some;
        settle(c);
    }
}

void text_channels_end(TextChannels *c) {
    int header = c->n_held > 1 && memcmp(c->held, "<|", 2) == 0;
    if (c->body || !header) show(c, c->held, c->n_held);
    if (c->thinking) show_text(c, "\n</think>\n");
    text_channels_begin(c);
}
