/* lab/passkey.c - see passkey.h. */
#include "passkey.h"

#include "model/timeline.h"
#include "perplexity.h"

#include <stdlib.h>

typedef struct {
    const int *answer;
    size_t n;
    const Model *model;
    double nll;
    int match;
} Scorer;

static void score(Scorer *w, size_t i, const float *logits) {
    size_t best = 0;
    for (size_t v = 1; v < (size_t)w->model->config.vocab_size; v++)
        if (logits[v] > logits[best]) best = v;
    w->nll += perplexity_nll(w->model, logits, w->answer[i]);
    w->match &= (int)best == w->answer[i];
}

static void next(void *arg, size_t i, const float *logits) { score(arg, i + 1, logits); }

int passkey_trial(PasskeyTrial *out, Session *s, const Tokenizer *t, const PasskeyTemplate *p, const char *key,
                  size_t length, double depth, char *err, size_t errlen) {
    PasskeyPrompt prompt;
    const float *logits;
    int rc = passkey_prompt(&prompt, t, p, key, length, depth, err, errlen);
    if (rc) return rc;
    Scorer w = {.answer = prompt.ids + prompt.n_prompt, .n = prompt.n - prompt.n_prompt, .match = 1,
                .model = s->model};
    session_rewind(s, 0);
    rc = session_eval(s, prompt.ids, prompt.n_prompt, &logits, err, errlen);
    if (rc == 0) score(&w, 0, logits);
    if (rc == 0 && w.n > 1) rc = session_eval_each(s, w.answer, w.n - 1, next, &w, err, errlen);
    *out = (PasskeyTrial){.n_prompt = prompt.n_prompt, .n_answer = w.n, .at = prompt.at, .nll = w.nll / (double)w.n,
                          .match = w.match};
    free(prompt.ids);
    return rc;
}
