/* cli/score.c - the command score: how probable texts are after a prompt, which is read once. */
#include "logprobs.h"

#include "base/base.h"
#include "model/timeline.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int *ids; /* [n]: the prompt's, the text's */
    size_t n;
} Text;

typedef struct {
    const Args *a;
    Engine e;
    Logprobs logprobs;
    Text *texts;     /* [a->in.texts.n] */
    const Text *now; /* the one that is scored */
    const char *prompt;
    int *prompt_ids; /* [n_prompt]: with which each text's begin */
    size_t n_prompt;
    size_t read;     /* of which so many stay read from one text to the next */
    void *mark;      /* the way back to there, where the model keeps no past */
    int failed;
} Task;

/* The ids of prompt and text as they are cut together, where these begin with the prompt's; else each by itself: then
 * the text begins with a token that joins the prompt's last letters to its first, and the prompt would be another. */
static int read_ids(Task *t, Text *x, const char *text) {
    Engine *e = &t->e;
    size_t len = strlen(t->prompt), n_more = 0;
    char *both = malloc(len + strlen(text) + 1);
    int *more = NULL;
    if (!both) return base_error(e->err, sizeof e->err, -ENOMEM, "out of memory");
    memcpy(both, t->prompt, len);
    strcpy(both + len, text);
    int rc = tokenizer_encode(e->tokenizer, both, strlen(both), ENCODE_BOS, &x->ids, &x->n, e->err, sizeof e->err);
    if (rc == 0 && (x->n < t->n_prompt || memcmp(x->ids, t->prompt_ids, t->n_prompt * sizeof *x->ids) != 0)) {
        int how = t->n_prompt ? ENCODE_CONTINUE : 0;
        rc = tokenizer_encode(e->tokenizer, text, strlen(text), how, &more, &n_more, e->err, sizeof e->err);
        free(x->ids);
        x->ids = rc == 0 ? calloc(t->n_prompt + n_more + 1, sizeof *x->ids) : NULL;
        if (rc == 0 && !x->ids) rc = base_error(e->err, sizeof e->err, -ENOMEM, "out of memory");
        if (rc == 0) memcpy(x->ids, t->prompt_ids, t->n_prompt * sizeof *x->ids);
        if (rc == 0) memcpy(x->ids + t->n_prompt, more, n_more * sizeof *more);
        x->n = t->n_prompt + n_more;
    }
    free(both);
    free(more);
    return rc;
}

static void take(void *arg, size_t i, const float *logits) {
    Task *t = arg;
    size_t next = t->read + i + 1;
    if (next >= t->n_prompt && next < t->now->n && logprobs_add(&t->logprobs, logits, t->now->ids[next])) t->failed = 1;
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

/* All texts as ids. An exit code. */
static int read_texts(Task *t, size_t *longest) {
    Engine *e = &t->e;
    t->texts = calloc((size_t)t->a->in.texts.n, sizeof *t->texts);
    if (!t->texts) return fail("out of memory");
    if (tokenizer_encode(e->tokenizer, t->prompt, strlen(t->prompt), ENCODE_BOS, &t->prompt_ids, &t->n_prompt, e->err,
                         sizeof e->err))
        return fail("%s", e->err);
    for (int i = 0; i < t->a->in.texts.n; i++) {
        Text *x = &t->texts[i];
        if (read_ids(t, x, t->a->in.texts.at[i])) return fail("%s", e->err);
        if (x->n == t->n_prompt) return fail("--text: there is no token in it");
        if (t->n_prompt == 0 && x->n == 1)
            return fail("this model has no token to begin a text with; give a prompt (-i)");
        *longest = x->n > *longest ? x->n : *longest;
    }
    if (t->n_prompt == 0) note("this model has no token to begin a text with: the first token is not scored");
    return 0;
}

/* each: NULL: nobody wants logits. An exit code. */
static int evaluate(Task *t, const int *ids, size_t n, SessionEach *each) {
    Engine *e = &t->e;
    int rc = each ? session_eval_each(&e->session, ids, n, each, t, e->err, sizeof e->err)
                  : session_eval(&e->session, ids, n, NULL, e->err, sizeof e->err);
    progress_clear(&e->progress);
    return rc == -EINTR ? EXIT_INTERRUPTED : rc ? fail("%s", e->err) : 0;
}

/* Each text fits into the context, so that nothing is printed of some where others cannot follow. An exit code. */
static int check_lengths(const Task *t) {
    size_t n_ctx = t->e.session.options.n_ctx;
    for (int i = 0; i < t->a->in.texts.n; i++)
        if (t->texts[i].n - 1 > n_ctx)
            return fail("text %d has %zu ids with its prompt, and the context %zu positions: give a longer one (-c)",
                        i + 1, t->texts[i].n, n_ctx);
    return 0;
}

/* What texts have in common, but for the prompt's last id, whose logits each wants: unless a text's own length decides
 * how its beginning is read. An exit code. */
static int read_prompt(Task *t, size_t longest) {
    Session *s = &t->e.session;
    size_t n = t->n_prompt ? t->n_prompt - 1 : 0, bytes = session_mark_bytes(s);
    if (n == 0 || session_together(s, n, longest - n) < longest - n) return 0;
    int code = evaluate(t, t->prompt_ids, n, NULL);
    if (code) return code;
    if (bytes && !(t->mark = malloc(bytes))) return fail("out of memory");
    if (bytes) session_mark(s, t->mark);
    t->read = n;
    return 0;
}

/* One text. An exit code. */
static int score(Task *t, const char *text, int first) {
    Session *s = &t->e.session;
    if (t->mark) session_return(s, t->mark, t->read);
    else if (session_rewind(s, t->read)) return fail("%s: cannot forget a text", t->a->model);
    int code = evaluate(t, t->now->ids + t->read, t->now->n - 1 - t->read, take);
    if (code || t->failed) return code ? code : fail("out of memory");
    if (!isfinite(logprobs_sum(&t->logprobs)))
        return fail("%s: the model's logits are not finite; its weights may be damaged", t->a->model);
    if (t->a->show.json) print_json(t, text, first);
    else print_text(t, text, t->a->in.texts.n > 1);
    return 0;
}

int run_score(Args *a) {
    Task t = {.a = a, .prompt = a->in.prompt ? a->in.prompt : ""};
    size_t longest = 0;
    if (a->in.texts.n == 0) return usage("score needs a text (--text \"..\")");
    int code = engine_open(&t.e, a, 1);
    if (code) return code;
    files_opened(a);
    const Config *c = &t.e.model.config;
    if (c->mask != MASK_CAUSAL) code = fail("%s: score is for models that read from left to right", a->model);
    if (code == 0 && a->show.logprobs > c->vocab_size)
        code = usage("--logprobs: the vocabulary has only %d tokens", c->vocab_size);
    if (code == 0) code = read_texts(&t, &longest);
    if (code == 0) code = engine_session(&t.e, a, longest, 8);
    if (code == 0) code = check_lengths(&t);
    if (code == 0) code = read_prompt(&t, longest);
    for (int i = 0; code == 0 && i < a->in.texts.n; i++) {
        t.logprobs = (Logprobs){.model = &t.e.model, .most = (size_t)a->show.logprobs};
        t.now = &t.texts[i];
        if (a->show.json && i == 0) {
            out_printf("{\"prompt\":");
            json_string(t.prompt, strlen(t.prompt));
            out_printf(",\"texts\":[");
        }
        code = score(&t, a->in.texts.at[i], i == 0);
        logprobs_free(&t.logprobs);
    }
    if (a->show.json && code == 0) out_printf("]}\n");
    for (int i = 0; t.texts && i < a->in.texts.n; i++) free(t.texts[i].ids);
    free(t.texts);
    free(t.prompt_ids);
    free(t.mark);
    engine_close(&t.e);
    return out_end(code);
}
