/* lab/passkey.h - can a model find again what it has read? A number is hidden at some depth of a context of some length
 * (text/passkey.h), and asked for.
 *
 *     PasskeyTrial t;
 *     rc = passkey_trial(&t, &session, tokenizer, &passkey_published, "71432", 1024, 0.5, err, errlen);
 *     t.match, t.nll */
#ifndef LAB_PASSKEY_H
#define LAB_PASSKEY_H

#include "model/session.h"
#include "text/passkey.h"

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
