/* text/passkey.h - a number hidden in text that says nothing, and asked for at the end: what a model that finds again
 * what it has read can answer (lab/passkey.h), and can learn (train/corpus.h).
 *
 *     PasskeyPrompt p;
 *     rc = passkey_prompt(&p, tokenizer, &passkey_published, "71432", 1024, 0.5, err, errlen);
 *     p.ids, p.n_prompt; free(p.ids) */
#ifndef PASSKEY_H
#define PASSKEY_H

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
    int *ids;           /* [n]: the prompt's, BOS first where the tokenizer has one, and the answer's; the caller's */
    size_t n, n_prompt; /* at most the length; without the answer */
    double at;          /* where the needle begins, of the prompt's characters: 0 to 1 */
} PasskeyPrompt;

/* The longest of at most `length` ids with the answer, the needle behind `depth` (0 to 1) of the filler. 0, or a
 * negative errno and a line (-EINVAL: the length has no room for a prompt), and nothing is held. */
int passkey_prompt(PasskeyPrompt *out, const Tokenizer *t, const PasskeyTemplate *p, const char *key, size_t length,
                   double depth, char *err, size_t errlen);

#endif
