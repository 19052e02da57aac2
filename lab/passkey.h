/* lab/passkey.h - can a model find again what it has read? A number is hidden in text that says nothing, at some depth
 * of a context of some length, and asked for at the end.
 *
 *     PasskeyTrial t;
 *     rc = passkey_trial(&t, &session, tokenizer, &passkey_published, "71432", 1024, 0.5, err, errlen);
 *     t.match, t.nll */
#ifndef PASSKEY_H
#define PASSKEY_H

#include "model/session.h"
#include "tokenizer/tokenizer.h"

/* The parts of a prompt, each a line: {key} in needle stands for the number. The filler's sentences (they end in a full
 * stop) go round as often as there is room. */
typedef struct { const char *before, *filler, *needle, *question; } PasskeyTemplate;
/* Mohtashami and Jaggi, arXiv:2305.16300, as jquesnelle/yarn's eval/passkey.py has it. */
extern const PasskeyTemplate passkey_published;

/* A template of a file: lines "before: ..", "filler: ..", "needle: .. {key} ..", "question: ..", each once, in any
 * order. text [n] is changed, and must outlive it. 0, or -EINVAL and a line. */
int passkey_template(PasskeyTemplate *t, char *text, size_t n, char *err, size_t errlen);

typedef struct {
    size_t n_prompt, n_answer; /* ids; together at most the length */
    double at;                 /* where the needle begins, of the prompt's characters: 0 to 1 */
    double nll;                /* mean loss of the answer's ids, each behind the right ones */
    int match;                 /* 1: greedy writing gives the answer: each of its ids is the most probable one */
} PasskeyTrial;

/* One prompt of at most `length` ids with the answer, the needle behind `depth` (0 to 1) of the filler. The session is
 * rewound, its n_ctx >= length. 0, or a negative errno and a line (-EINVAL: the length has no room for a prompt). */
int passkey_trial(PasskeyTrial *out, Session *s, const Tokenizer *t, const PasskeyTemplate *p, const char *key,
                  size_t length, double depth, char *err, size_t errlen);

#endif
