/* text/chat_template.h - a conversation as the text a model was trained to go on from.
 *
 *     const ChatTemplate *t = chat_template_recognise(jinja, len);           NULL: chat_template_find("chatml")
 *     ChatParts parts;
 *     ChatOptions o = {.bos = "<s>", .eos = "</s>", .generate = 1};
 *     if (chat_render(&parts, t, messages, n, &o, err, sizeof err)) ...
 *     int *ids; size_t n_ids;
 *     if (chat_encode(&parts, 0, tokenizer, 0, &ids, &n_ids, err, sizeof err)) ...
 *     free(ids); chat_parts_free(&parts);
 *
 * Models come with their template as a program in the language Jinja. It is never executed here: it is recognised by
 * what it contains, and one row of a table says the same. What a row renders is, byte for byte, what transformers'
 * apply_chat_template renders of the published template (tests/oracle/chat.py). */
#ifndef CHAT_TEMPLATE_H
#define CHAT_TEMPLATE_H

#include "tokenizer/open.h"

#include <time.h>

typedef enum { CHAT_SYSTEM, CHAT_USER, CHAT_ASSISTANT } ChatRole;

typedef struct {
    ChatRole role;
    const char *text; /* any bytes */
    size_t len;
} ChatMessage;

/* Where the system message goes. */
typedef enum {
    CHAT_OWN,        /* a message of its own, before the others */
    CHAT_FIRST_USER, /* in the first user message, in front of its text */
    CHAT_LAST_USER,  /* the same in the last message, where that is the user's; so it moves from turn to turn */
    CHAT_NOWHERE     /* the template leaves it out */
} ChatPlace;

enum {
    CHAT_TRIM_SYSTEM = 1, CHAT_TRIM_USER = 2, CHAT_TRIM_ANSWER = 4, /* white space off both ends, as Python's strip() */
    CHAT_TRIM = 7,
    CHAT_TRIM_MERGED = 8,     /* the user message is trimmed with the system message already in it */
    CHAT_EMPTY_SYSTEM = 16,   /* an empty system message counts as none; the default, if there is one, stands instead */
    CHAT_DROP_THINKING = 32,  /* of an answer only what stands behind its last </think> */
    CHAT_DROP_LINES = 64,     /* .. and behind the newlines there */
    CHAT_KEEP_LAST = 128,     /* .. but a last message that is an answer stays whole */
    CHAT_SHOW_LAST = 256,     /* .. and a last message that is an answer gets its thoughts, or empty ones, in <think> */
    CHAT_DROP_SPACES = 512,   /* what stands behind the thoughts loses the white space at both its ends */
    CHAT_SKIP_LINES = 1024,   /* an answer loses the newlines in front of it */
    CHAT_DEFAULT_WHOLE = 2048,  /* nothing stands around a default system message: system_default has all of it */
    CHAT_DEFAULT_IN_FILE = 4096, /* the default system message is in the published template: ChatOptions.system */
    CHAT_KEEP_ANSWER = 8192,  /* CHAT_DROP_THINKING, but the last answer stays whole, whatever follows it */
    CHAT_DROP_SHOWN = 16384   /* an answer loses what is between shown's two, and they; and white space at its ends */
};

/* A row of the table. In its texts {bos}, {eos} and {date} stand for what ChatOptions says. */
typedef struct {
    const char *name, *alias;
    const char *begin;                               /* in front of everything */
    const char *system[2], *user[2], *assistant[2]; /* before and after the content; with CHAT_FIRST_USER and
                                                     * CHAT_LAST_USER system's stand inside user's */
    const char *empty[2];       /* before and after an answer without text; NULL: as before and after any other */
    const char *system_default; /* the system message of a conversation that has none; NULL: none */
    const char *words[2], *other; /* words that leave the system message; with words[0] in it the row other renders */
    const char *generate;         /* what begins the answer */
    const char *stop[3]; /* what ends it beside EOS: control tokens, or texts; NULL ends the list */
    const char *shown[4]; /* control tokens that are text of an answer: they tell its thoughts from the rest */
    const char *channel;  /* answers come in channels: what stands in front of the one that is no thought */
    const char *date;     /* how today is written, as strftime has it; NULL: "%d %b %Y" */
    ChatPlace place;
    int flags;
    const char *has[8], *lacks[4]; /* what the published template contains and does not, quotes as ' */
} ChatTemplate;

/* The rows, in the order in which they are tried; NULL past the last one. */
const ChatTemplate *chat_template_row(int i);
/* The row of that name or alias, or NULL. */
const ChatTemplate *chat_template_find(const char *name);
/* The row that says what this Jinja text [len] says, or NULL: it is none that is known. -ENOMEM counts as none. */
const ChatTemplate *chat_template_recognise(const char *jinja, size_t len);
/* The default system message that a published template [len] sets, for CHAT_DEFAULT_IN_FILE: malloc'ed, {date} where it
 * prints today's. NULL: there is none that is a plain text, or no memory. */
char *chat_template_default(const char *jinja, size_t len);
/* Today as the row writes it, into text[size]. */
void chat_template_date(const ChatTemplate *t, const struct tm *today, char *text, size_t size);

typedef struct {
    const char *bos, *eos; /* their texts; NULL: none */
    /* Today, for templates that print it (chat_template_date); NULL: "26 Jul 2024", as Llama 3's have it */
    const char *date;
    const char *system; /* the default system message where it is in the file (chat_template_default); NULL: none */
    int generate;          /* 1: the beginning of an answer comes last */
    int goes_on; /* 1: these messages follow others: nothing stands in front of them, and no default system message */
} ChatOptions;

typedef enum {
    CHAT_TEXT,    /* plain text of the template */
    CHAT_CONTENT, /* of a message: whatever it spells, it is text */
    CHAT_CONTROL, /* a token that stands for itself, named by its text */
    CHAT_BOS, CHAT_EOS
} ChatKind;

typedef struct {
    const char *text;
    size_t len;
    ChatKind kind;
    size_t message; /* the number of the message it belongs to; SIZE_MAX: the beginning of the answer */
} ChatPart;

typedef struct {
    ChatPart *parts; /* [n]; texts belong to the row, the options and the messages */
    size_t n, cap;
} ChatParts;

/* The parts, in order, of messages [n]: a system message only as the first. Errors: -EINVAL (a system message
 * elsewhere), -ENOMEM; *p is zeroed then. */
int chat_render(ChatParts *p, const ChatTemplate *t, const ChatMessage *messages, size_t n, const ChatOptions *o,
                char *err, size_t errlen);
void chat_parts_free(ChatParts *p); /* accepts a zeroed struct */

/* The ids of parts[from ..], behind those of the parts before. goes_on, for from 0: text that was read stands in front.
 * A stretch of text between control tokens is encoded as one, as the tokenizer would in the whole string; a control
 * token that the vocabulary does not have is text. *ids is malloc'ed (never NULL on success), the caller frees it.
 * Errors: those of tokenizer_encode. */
int chat_encode(const ChatParts *p, size_t from, const Tokenizer *t, int goes_on, int **ids, size_t *n, char *err,
                size_t errlen);

#endif
