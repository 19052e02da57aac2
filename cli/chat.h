/* cli/chat.h - a conversation and the session that has read it: what the files of the command chat share. */
#ifndef CLI_CHAT_H
#define CLI_CHAT_H

#include "text/chat_template.h"
#include "generation.h"

/* The invariant: with softmax attention the session's ids are looked at before every evaluation; what they share
 * with the conversation as it is now, encoded as a whole, stays, and the rest is read. So an answer never depends on
 * how the conversation came about. Delta nets keep no past to go back to: where the ids part before the session's
 * end, all is read again, so the same holds. Linear attention cannot go back: there only what is new is encoded and
 * read, behind the very ids that were drawn. */
typedef struct {
    Generation g;           /* first: the writer's callbacks find the Chat by it */
    const Args *a;
    const ChatTemplate *t;
    int plain;              /* the model has none: t is the plain one */
    char *standard;         /* the default system message of the model's own template; NULL: none */
    /* [1 + n]: the system message, which may have no text, then the turns; texts are malloc'ed */
    ChatMessage *messages;
    size_t n, cap;
    size_t loaded;          /* ids in front of all messages that came from a file: their text is not known */
    int system_behind;      /* .. and the system message stands behind them */
    int stale, closed;      /* linear: another text was read than the messages'; the last answer's end has been read */
    size_t n_read;          /* linear: messages that have been read */
    int pending, has_pending; /* linear: the last id drawn, which was not read */
    char date[40];
    int terminal;           /* somebody types */
    int code;               /* how a script ends */
    size_t n_left;          /* messages that have left a full context, and whether what was loaded has: not yet said */
    int loaded_left;
} Chat;

/* ---- conversation.c: 0 or a negative errno with a line in c->g.e.err, unless it says otherwise ---- */

int chat_add(Chat *c, ChatRole role, const char *text, size_t n); /* a copy; CHAT_SYSTEM: instead of the one before */
void chat_drop_last(Chat *c);
void chat_clear(Chat *c); /* all turns, and what was loaded; the system message stays */
void chat_free(Chat *c);

/* Read the conversation, and the ids extra [n_extra] behind it; what is in the session already is not read again.
 * generate: up to where the next answer begins. *logits as from session_eval. */
int chat_read(Chat *c, int generate, const int *extra, size_t n_extra, const float **logits);
/* How many positions the conversation, as it is now, takes when it goes on. */
size_t chat_in_use(Chat *c);
/* Let the oldest turns go until the conversation and extra ids leave room for an answer. -ENOSPC: the last message
 * alone is too long, and nothing has gone. */
int chat_fit(Chat *c, size_t extra);
void chat_say_left(Chat *c); /* what has gone since this was last called: not in the midst of an answer */
/* The same in the midst of an answer, and all but its last id read again: TextWriter.make_room; arg is
 * the Chat's Generation. */
int chat_make_room(void *arg);
/* The session is where the file's was; the conversation is empty. */
int chat_load(Chat *c, const char *path);
int chat_save(Chat *c, const char *path);

/* ---- input.c ---- */

/* The next turn from stdin: a line, at a terminal edited as it is typed (terminal.h), lines that end in a backslash
 * with the one behind them, or the lines between two of """; block: it has several, and a / in front is no command.
 * *text is malloc'ed. 1, 0 at the end of input, -1 after Ctrl-C, LINE_FAILED (terminal.h) after saying why. */
int chat_input(const Chat *c, char **text, size_t *n, int *block);

#endif
