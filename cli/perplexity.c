/* cli/perplexity.c - the command perplexity: how well the model foresees a text. */
#include "cli.h"
#include "lab/perplexity.h"
#include "base/base.h"
#include "base/system.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int on_batch(void *arg, size_t done, size_t total) {
    (void)arg, (void)done, (void)total;
    return interrupted;
}

/* Progress goes by bytes of text, as the number of tokens is not known before the end. */
static int score_documents(Engine *e, const Args *a, const char *text, size_t n, size_t window, Perplexity *p,
                           size_t *documents) {
    size_t at = 0, len, n_ids;
    const char *doc;
    int rc = 0, bos = tokenizer_bos(e->tokenizer) >= 0 ? tokenizer_bos(e->tokenizer) : e->model.config.bos_id;
    while (rc == 0 && perplexity_document(text, n, a->in.separator, &at, &doc, &len)) {
        int *ids;
        if (len == 0) continue;
        rc = tokenizer_encode(e->tokenizer, doc, len, ENCODE_BARE, &ids, &n_ids, e->err, sizeof e->err);
        if (rc) break;
        ++*documents;
        size_t step = window - (bos >= 0);
        for (size_t i = 0; i < n_ids && rc == 0; i += step) { /* a window at a time, so that progress can be shown */
            rc = interrupted ? -EINTR
                             : perplexity_add(p, &e->session, ids + i, n_ids - i < step ? n_ids - i : step, bos, window,
                                              e->err, sizeof e->err);
            size_t bytes = (size_t)(doc - text) +
                           (size_t)((double)len * (double)(i + step < n_ids ? i + step : n_ids) / (double)n_ids);
            if (p->tokens)
                progress_show(&e->progress, p->tokens,
                              (size_t)((double)p->tokens * (double)n / (double)(bytes ? bytes : 1)));
        }
        free(ids);
    }
    return rc;
}

static int print_perplexity(const Perplexity *p, const Args *a, double seconds, size_t window, size_t documents) {
    double mean = perplexity_mean(p), error = perplexity_stderr(p), rate = (double)p->tokens / fmax(seconds, 1e-9);
    if (a->show.json) {
        if (!isfinite(exp(mean)))
            return fail("%s: a mean of %.9g nats has no perplexity that a number can hold", a->model, mean);
        out_printf("{\"nll_mean\":%.9g,\"nll_sum\":%.9g,\"perplexity\":%.9g,\"stderr\":%.9g,\"tokens\":%zu,"
                   "\"tokens_per_second\":%.3f,\"window\":%zu}\n",
                   mean, p->nll_sum, exp(mean), error, p->tokens, rate, window);
        return 0;
    }
    out_printf("nll_mean    %.7f nats a token\nnll_sum     %.7f\nperplexity  %.7f\nstderr      %.7f of nll_mean\n"
               "tokens      %zu\ntokens/s    %.1f\nwindow      %zu positions\n",
               mean, p->nll_sum, exp(mean), error, p->tokens, rate, window);
    if (a->in.separator)
        out_printf("cut         %zu documents, %zu windows, each from BOS\n", documents, p->windows);
    else out_printf("cut         one stream, %zu windows, each from BOS\n", p->windows);
    return 0;
}

/* text [n] through the engine's session, and what came of it. An exit code. */
static int score(Engine *e, const Args *a, const char *text, size_t n, size_t window) {
    Perplexity p = {0};
    size_t documents = 0;
    e->session.options.progress = on_batch; /* only the whole file's progress is shown */
    e->progress.what = "scoring";
    double t0 = clock_seconds();
    int rc = score_documents(e, a, text, n, window, &p, &documents), code = 0;
    double seconds = clock_seconds() - t0;
    progress_clear(&e->progress);
    if (rc == -EINTR) note("interrupted: what follows is of the text's beginning only");
    if (rc && rc != -EINTR) return fail("%s", e->err);
    if (rc == -EINTR && p.tokens == 0) return EXIT_INTERRUPTED;
    if (p.tokens == 0) return fail("%s: no text to score", a->in.file);
    if (!isfinite(p.nll_sum))
        code = fail("%s: the model's logits are not finite; its weights may be damaged", a->model);
    else code = print_perplexity(&p, a, seconds, window, documents);
    return rc == -EINTR ? EXIT_INTERRUPTED : code;
}

int run_perplexity(Args *a) {
    Engine e;
    size_t n;
    char *text;
    if (!a->model) return usage("perplexity needs a MODEL");
    if (!a->in.file) return usage("perplexity needs a text (-f FILE)");
    if (a->context.n == 1) return usage("-c 1: a window of one position leaves nothing to score");
    int code = engine_open(&e, a, 1);
    if (code) return code;
    size_t window = a->context.n ? (size_t)a->context.n : (size_t)e.model.config.n_ctx_train;
    code = read_text(a->in.file, &text, &n);
    /* a text has no more ids than bytes, and a space and BOS in front */
    if (code == 0) code = engine_session(&e, a, n + 2, 16);
    if (code == 0) code = score(&e, a, text, n, window);
    free(text);
    engine_close(&e);
    return out_end(code);
}
