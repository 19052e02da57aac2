/* cli/explain/check.c - explain shift and pairing: what must not matter, and what does. */
#include "explain.h"

#include "lab/explain/use.h"
#include "rope/positions.h"
#include "text/write.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- shift ---- */

/* What is not a number, as a weight that is not seen, is no difference. (fmax ends gcc 12 for arm64 by an internal
 * error.) */
static double larger(double most, double by) { return by > most ? by : most; }

/* The largest difference of weights and of rotated keys (linear attention: of S's features) of a's and b's text. */
static int compare(const Trace *a, const Trace *b, double *weights, double *keys) {
    const Config *c = &a->model->config;
    size_t n = a->n, n_keys = (size_t)a->n_layers * n * (size_t)c->n_kv_heads;
    double *wa = calloc(n, n * sizeof *wa), *wb = calloc(n, n * sizeof *wb);
    *weights = *keys = 0;
    for (int l = a->first; wa && wb && l < a->first + a->n_layers; l++)
        for (int h = 0; h < c->n_heads; h++) {
            trace_weights(a, l, h, wa);
            trace_weights(b, l, h, wb);
            for (size_t i = 0; i < n * n; i++) *weights = larger(*weights, fabs(wa[i] - wb[i]));
        }
    for (size_t i = 0; a->rk && i < n_keys * (size_t)c->head_dim; i++)
        *keys = larger(*keys, fabs((double)a->rk[i] - (double)b->rk[i]));
    for (size_t i = 0; a->k_num && i < n_keys * a->rows; i++) *keys = larger(*keys, fabs(a->k_num[i] - b->k_num[i]));
    int rc = wa && wb ? 0 : fail("out of memory");
    free(wa);
    free(wb);
    return rc;
}

/* 1 where a's and b's scores go by the places themselves: other frequencies there, or another factor. */
static int goes_by_place(const Trace *a, const Trace *b) {
    int other = memcmp(a->rope.inv_freq, b->rope.inv_freq, sizeof a->rope.inv_freq) != 0;
    for (int l = a->first; l < a->first + a->n_layers; l++)
        other |= trace_scale(a, l, a->n - 1) != trace_scale(b, l, a->n - 1);
    return other;
}

static void print_shift(const Explain *x, const Trace *here, size_t by, double weights, double keys) {
    const Config *c = &x->e.model.config;
    const PositionKind *kind = position_kind_of(c->positions);
    int turns = kind->rotates && (!c->linear.form || c->linear.form->in_numerator || c->linear.form->before_phi);
    char angle[60];
    snprintf(angle, sizeof angle, ": each is turned by %zu theta more", by);
    out_printf("The same %zu token%s at positions 0 to %zu and at %zu to %zu\n\n", x->n, x->n == 1 ? "" : "s",
               x->n - 1, by, by + x->n - 1);
    prose("keys, as attention has them    off by up to %.4g%s", keys, turns ? angle : ": nothing turns them");
    out_printf("attention's weights            off by up to %.1e\n", weights);
    if (goes_by_place(here, &x->t))
        teach("This is no rounding: with this method frequencies or the size of scores go by the position itself, and "
              "not by the distance alone.");
    else if (!turns) teach("This model's positions are %s; what they do to weights is all that is off.",
                           kind->rotates ? "in no key" : kind->name);
    else if (c->linear.form && !c->linear.form->in_numerator)
        teach("Keys turn before the feature map here: unless that turns with them, what is off is more than rounding.");
    else
        teach("Both vectors of a score turn by the same angle more, and that cancels: R_m^T R_n = R_(n-m) (eq. 16). "
              "What is left is rounding. With weights in blocks a rounding to 8 bits may fall otherwise; F32 shows the "
              "last bits (and ./run proof the logits).");
    cite("angle");
}

static int draw_shift(Explain *x, const Trace *here, int head, size_t by) {
    const Trace *traces[] = {here, &x->t};
    char far[40];
    const char *of[] = {"", far};
    snprintf(far, sizeof far, "at %zu", by);
    return explain_sheet(
        x, &(Sheet){.title = "The same text from two places", .traces = traces, .of = of, .n_traces = 2, .head = head});
}

int explain_shift(Args *a) {
    Explain x;
    Trace here = {0};
    double weights = 0, keys = 0;
    size_t by = a->explain.shift < 0 ? 1000 : (size_t)a->explain.shift;
    Place p;
    int code = explain_options(a, " --layer  --head  --shift ");
    if (code) return code;
    code = explain_open(&x, a);
    if (code == 0 && x.e.model.config.mask != MASK_CAUSAL)
        code = fail("shift is for models that read from left to right");
    if (code == 0) code = explain_place(&x, &p);
    if (code == 0) code = explain_square(&x);
    if (code == 0) code = explain_trace(&x, NULL, NULL, 0);
    if (code == 0) here = x.t, x.t = (Trace){0};
    if (code == 0) code = explain_trace(&x, NULL, NULL, by);
    if (code == 0) code = compare(&here, &x.t, &weights, &keys);
    if (code == 0 && a->show.csv)
        out_printf("shift,tokens,weights_off,keys_off,line\n%zu,%zu,%.9g,%.9g,%s\n", by, x.n, weights, keys,
                   cited_place("angle"));
    else if (code == 0) print_shift(&x, &here, by, weights, keys);
    if (code == 0) code = draw_shift(&x, &here, p.head, by);
    trace_free(&here);
    explain_close(&x);
    return code;
}

/* ---- pairing ---- */

static int write_on(const Explain *x, const Model *m, char *text, size_t room) {
    enum { MORE = 24 };
    Session s = {.model = NULL};
    const float *logits;
    size_t at = 0;
    char err[300], *piece = malloc(tokenizer_decode_bound(x->e.tokenizer));
    TokenStream stream = {.begun = 1};
    int rc = piece ? 0 : base_error(err, sizeof err, -ENOMEM, "out of memory");
    if (rc == 0)
        rc = session_init(&s, m, &(SessionOptions){.n_ctx = x->n + MORE, .threads = (int)x->a->machine.threads}, err,
                          sizeof err);
    if (rc == 0) rc = session_eval(&s, x->ids, x->n, &logits, err, sizeof err);
    for (int i = 0; rc == 0 && i < MORE; i++) {
        int id = 0;
        for (int v = 1; v < m->config.vocab_size; v++)
            if (logits[v] > logits[id]) id = v;
        size_t n = tokenizer_decode(x->e.tokenizer, &stream, id, piece);
        for (size_t k = 0; k < n && at + 1 < room; k++) text[at++] = piece[k] == '\n' ? ' ' : piece[k];
        if (id == m->config.bos_id || id == tokenizer_eos(x->e.tokenizer)) break;
        rc = session_eval(&s, &id, 1, &logits, err, sizeof err);
    }
    text[at] = 0;
    session_free(&s);
    free(piece);
    return rc ? fail("%s", err) : 0;
}

int explain_pairing(Args *a) {
    static const char *const names[] = {"interleaved (2i, 2i+1)", "half-split (i, i + d/2)"};
    Explain x;
    double loss[2];
    char text[2][400];
    int code = explain_options(a, " ");
    if (code) return code;
    code = explain_open(&x, a);
    const Config *c = &x.e.model.config;
    if (code == 0) code = needs_rope(&x.e, "pairing");
    if (code == 0 && c->mask != MASK_CAUSAL) code = fail("pairing is for models that read from left to right");
    if (code == 0 && x.n < 2) code = fail("a text of one token says nothing of pairs");
    for (int i = 0; code == 0 && i < 2; i++) {
        Model view = x.e.model;
        view.config.rope.pairing = i ? ROPE_HALF : ROPE_INTERLEAVED;
        if (use_loss(&loss[i], &view, x.ids, x.n, NULL, (int)a->machine.threads, x.e.err, sizeof x.e.err))
            code = fail("%s", x.e.err);
        if (code == 0) code = write_on(&x, &view, text[i], sizeof text[i]);
    }
    PlotBars bars = {.title = "Which entries are a pair?", .subtitle = "the loss of the text, read either way",
                     .x_name = "nats a token", .names = names, .values = loss, .n = 2, .decimals = 4};
    if (code == 0) code = figure_show((Figure){.bars = &bars}, a);
    if (code == 0 && a->show.csv) out_printf("pairing,as_the_file_says,loss,line\n");
    else if (code == 0) out_printf("\n");
    for (int i = 0; code == 0 && i < 2; i++) {
        int own = c->rope.pairing == (i ? ROPE_HALF : ROPE_INTERLEAVED);
        if (a->show.csv)
            out_printf("%s,%d,%.9g,%s\n", i ? "half" : "interleaved", own, loss[i], cited_place("rotate"));
        else {
            out_printf("%s%s: loss %.4f nats a token; it goes on:\n", names[i], own ? ", as the file says" : "",
                       loss[i]);
            prose("   %s", text[i]);
            out_printf("%s", i ? "" : "\n");
        }
    }
    if (code == 0 && !a->show.csv) {
        teach("Both turn the same angles; which two entries make a pair is how the weights were trained and "
              "stored.");
        cite("rotate");
    }
    explain_close(&x);
    return code;
}
