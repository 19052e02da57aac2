/* cli/score.c - the command score: how probable a text is after a prompt. */
#include "logprobs.h"

#include "base/base.h"
#include "model/timeline.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const Args *a;
    Engine e;
    Logprobs logprobs;
    int *ids; /* [n]: the prompt's, the text's */
    size_t n, n_prompt;
    int failed;
} Task;

/* The ids of prompt and text as they are cut together, where these begin with the prompt's; else each by itself: then
 * the text begins with a token that joins the prompt's last letters to its first, and the prompt would be another. */
static int read_ids(Task *t, const char *text) {
    Engine *e = &t->e;
    const char *prompt = t->a->in.prompt ? t->a->in.prompt : "";
    size_t len = strlen(prompt), n_more = 0;
    char *both = malloc(len + strlen(text) + 1);
    int *before = NULL, *more = NULL;
    if (!both) return base_error(e->err, sizeof e->err, -ENOMEM, "out of memory");
    memcpy(both, prompt, len);
    strcpy(both + len, text);
    int rc = tokenizer_encode(e->tokenizer, prompt, len, ENCODE_BOS, &before, &t->n_prompt, e->err, sizeof e->err);
    if (rc == 0)
        rc = tokenizer_encode(e->tokenizer, both, strlen(both), ENCODE_BOS, &t->ids, &t->n, e->err, sizeof e->err);
    if (rc == 0 && (t->n < t->n_prompt || memcmp(t->ids, before, t->n_prompt * sizeof *before) != 0)) {
        int how = t->n_prompt ? ENCODE_CONTINUE : 0;
        rc = tokenizer_encode(e->tokenizer, text, strlen(text), how, &more, &n_more, e->err, sizeof e->err);
        free(t->ids);
        t->ids = rc == 0 ? malloc((t->n_prompt + n_more + 1) * sizeof *t->ids) : NULL;
        if (rc == 0 && !t->ids) rc = base_error(e->err, sizeof e->err, -ENOMEM, "out of memory");
        if (rc == 0) memcpy(t->ids, before, t->n_prompt * sizeof *before);
        if (rc == 0) memcpy(t->ids + t->n_prompt, more, n_more * sizeof *more);
        t->n = t->n_prompt + n_more;
    }
    free(both);
    free(before);
    free(more);
    return rc;
}

static void take(void *arg, size_t i, const float *logits) {
    Task *t = arg;
    if (i + 1 >= t->n_prompt && i + 1 < t->n && logprobs_add(&t->logprobs, logits, t->ids[i + 1])) t->failed = 1;
}

static void print_json(const Task *t, const char *text, int first) {
    out_printf("%s{\"text\":", first ? "" : ",");
    json_string(text, strlen(text));
    out_printf(",\"logprob\":");
    json_number(logprobs_sum(&t->logprobs));
    out_printf(",\"n_tokens\":%zu,\"tokens\":", t->logprobs.n);
    logprobs_json(&t->logprobs, t->e.tokenizer);
    out_printf("}");
}

static void print_text(const Task *t, const char *text, int several) {
    double sum = logprobs_sum(&t->logprobs);
    for (size_t i = 0; i < t->logprobs.n && (!several || t->a->show.logprobs_given); i++) {
        char line[4000];
        logprobs_line(&t->logprobs, i, t->e.tokenizer, line, sizeof line);
        out_text(line, strlen(line));
        out_bytes("\n", 1);
    }
    out_printf("%8.4f in %zu token%s, %.4f a token", sum, t->logprobs.n, t->logprobs.n == 1 ? "" : "s",
               sum / (double)t->logprobs.n);
    if (several) out_bytes(": ", 2), out_text(text, strlen(text));
    out_bytes("\n", 1);
}

/* One text. An exit code. */
static int score(Task *t, const char *text, int first) {
    Engine *e = &t->e;
    if (read_ids(t, text)) return fail("%s", e->err);
    if (t->n == t->n_prompt) return fail("--text: there is no token in it");
    if (t->n_prompt == 0 && t->n == 1) return fail("this model has no token to begin a text with; give a prompt (-i)");
    if (t->n_prompt == 0) note("this model has no token to begin a text with: the first token is not scored");
    int code = engine_session(e, t->a, t->n, 8);
    if (code) return code;
    int rc = session_eval_each(&e->session, t->ids, t->n - 1, take, t, e->err, sizeof e->err);
    progress_clear(&e->progress);
    if (rc == -EINTR) return EXIT_INTERRUPTED;
    if (rc || t->failed) return fail("%s", rc ? e->err : "out of memory");
    if (!isfinite(logprobs_sum(&t->logprobs)))
        return fail("%s: the model's logits are not finite; its weights may be damaged", t->a->model);
    if (t->a->show.json) print_json(t, text, first);
    else print_text(t, text, t->a->in.texts.n > 1);
    return 0;
}

int run_score(Args *a) {
    Task t = {.a = a};
    if (a->in.texts.n == 0) return usage("score needs a text (--text \"..\")");
    int code = engine_open(&t.e, a, 1);
    if (code) return code;
    files_opened(a);
    const Config *c = &t.e.model.config;
    if (c->mask != MASK_CAUSAL) code = fail("%s: score is for models that read from left to right", a->model);
    if (code == 0 && a->show.logprobs > c->vocab_size)
        code = usage("--logprobs: the vocabulary has only %d tokens", c->vocab_size);
    for (int i = 0; code == 0 && i < a->in.texts.n; i++) {
        t.logprobs = (Logprobs){.vocab = (size_t)c->vocab_size, .most = (size_t)a->show.logprobs};
        if (a->show.json && i == 0) {
            out_printf("{\"prompt\":");
            json_string(a->in.prompt ? a->in.prompt : "", a->in.prompt ? strlen(a->in.prompt) : 0);
            out_printf(",\"texts\":[");
        }
        code = score(&t, a->in.texts.at[i], i == 0);
        session_free(&t.e.session);
        t.e.session = (Session){0};
        logprobs_free(&t.logprobs);
        free(t.ids);
        t.ids = NULL;
    }
    if (a->show.json && code == 0) out_printf("]}\n");
    engine_close(&t.e);
    return out_end(code);
}
