/* library/library.h - what stands behind roformer.h's opaque types. Only this folder includes it. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include "model/session.h"
#include "roformer.h"
#include "text/ahead.h"
#include "text/lookup.h"
#include "tokenizer/tokenizer.h"

#include <locale.h>

struct RoformerModel {
    Model model;
    Tokenizer *tokenizer;  /* NULL: why says why there is none */
    char why[300], *rope;  /* rope: its settings as a spec, malloc'ed */
};

struct RoformerSession {
    const RoformerModel *model;
    Session session;
    const float *logits; /* behind the last id read, where somebody wanted them; else NULL */
    /* The text so far, for penalties: read, and behind it at most one id that was drawn and is not read yet (owes). A
     * state of linear attention holds no ids, so after loading one it begins there; and of a text without end, which
     * is to take no memory, its last `kept` ids stay (all: SIZE_MAX), more than DRY ever looks back on. */
    int *ids;
    size_t n_ids, cap_ids, kept;
    int owes;
    Ahead ahead;         /* where a text was wanted with guesses; lookup is NULL until then */
    Lookup *lookup;
};

enum {
    LIBRARY_DRY_MOST = 1 << 20, /* ids that DRY looks back on, at most */
    LIBRARY_GUESSES = 8         /* ids read with one that was drawn, at most */
};

/* A caller's options (NULL: none) of whatever version into ours [n], zeroed where it has no such field. 0, or -EINVAL
 * and a line: a size that cannot be, or a field that is set and not known here. */
int options_take(void *ours, size_t n, const void *given, char *err, size_t errlen);

int library_threads(int threads, char *err, size_t errlen);                    /* 0 to 1024; else -EINVAL and a line */
int library_needs_tokenizer(const RoformerModel *m, char *err, size_t errlen); /* 0, or -EINVAL and a line */
int library_bos(const RoformerModel *m); /* the tokenizer's, else the model's; -1: neither has one */

/* A cache's format by its name: 0, or -EINVAL and a line. NULL leaves *cache as it is. */
int library_cache(CacheType *cache, const RoformerModel *m, const char *name, char *err, size_t errlen);

/* What was drawn and is not read yet is read: before anything else is done with a session. */
int session_settle(RoformerSession *s, char *err, size_t errlen);
/* ids [n] read as the model's mask wants it: whole, or behind the others. s->logits are those behind the last, where
 * wanted. */
int session_read(RoformerSession *s, const int *ids, size_t n, int wants_logits, char *err, size_t errlen);

/* This thread's numbers are written with a point while a file is read, whatever the program's locale says. */
typedef struct { locale_t point, was; } Numerals;
Numerals numerals_begin(void);
void numerals_end(Numerals *n);

#endif
