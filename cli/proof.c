/* cli/proof.c - the command proof: the same text from two positions on. */
#include "cli.h"
#include "base/base.h"
#include "base/system.h"
#include "lab/proof.h"
#include "rope/positions.h"
#include "rope/spec.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where nothing else is given to read. */
static const char usual_text[] =
    "Once upon a time there was a little girl who found a key. She did not know which door it "
    "opened, so she tried them all. The last door was small and green, and behind it was a "
    "garden.";
static const char usual_shifts[] = "1000", usual_far[] = "0,2047,32767,131071,1048575,10485759";

enum { MOST = 32 };

typedef struct {
    const Args *a;
    const RopeAngles *angles; /* NULL: none were asked for */
    size_t shifts[MOST], n_shifts;
    int *ids;
    size_t n;
    int begun; /* a row is out */
    int softmax_only; /* the model's positions, windows or layers are no part of linear attention */
    PlotPoint points[2][MOST]; /* of the picture: softmax's, linear attention's */
    size_t n_points[2];
} Task;

static int read_shifts(Task *t) {
    const char *s = t->a->proof.shifts ? t->a->proof.shifts : t->angles ? usual_far : usual_shifts;
    for (char *end;; s = end + 1) {
        errno = 0;
        unsigned long long v = strtoull(s, &end, 10);
        if (end == s || *s == '-' || errno || (*end && *end != ','))
            return usage("--shift: \"%s\" is not a list of positions (1000,1000000)", s);
        if (t->n_shifts == MOST) return usage("--shift: at most %d positions at a time", MOST);
        t->shifts[t->n_shifts++] = (size_t)v;
        if (!*end) return 0;
    }
}

static int is_narrow(void) { return line_room() < 96; }

static void print_head(const Task *t, const Config *c) {
    char spec[ROPE_SPEC_MOST];
    rope_spec_print(&c->rope, spec, sizeof spec);
    if (t->a->show.json) {
        out_printf("{");
        json_text("model", t->a->model);
        json_text("rope", spec);
        out_printf("\"tokens\":%zu,\"angles\":\"%s\",\"rows\":[", t->n, t->angles ? t->angles->name : "double");
        return;
    }
    if (t->a->show.csv) {
        out_printf("attention,angles,shift,logit_off,logit_ulps,nll_off,nll_at_0,nll_shifted\n");
        return;
    }
    prose("%s, --rope %s: a text of %zu ids, read from position 0 and from others", file_name(t->a->model), spec, t->n);
    out_printf(is_narrow() ? "\n%-10s%-7s%11s%12s%9s%11s%10s%10s\n" : "\n%-10s%-8s%12s%16s%10s%16s%12s%12s\n",
               "attention", "angles", "shift", is_narrow() ? "logits off" : "logits off by", "in ulps",
               is_narrow() ? "losses off" : "losses off by", "loss at 0", "shifted");
}

static void print_row(Task *t, const Config *c, const char *attention, size_t shift, const Proof *p) {
    const char *angles = t->angles ? t->angles->name : "double";
    if (!t->begun) print_head(t, c);
    if (t->a->show.json)
        out_printf("%s{\"attention\":\"%s\",\"shift\":%zu,\"logit_off\":%.9g,\"logit_ulps\":%.9g,\"nll_off\":%.9g,"
                   "\"nll_at_0\":%.9g,\"nll_shifted\":%.9g}",
                   t->begun ? "," : "", attention, shift, p->logit_off, p->logit_ulps, p->nll_off, p->nll[0],
                   p->nll[1]);
    else
        out_printf(t->a->show.csv ? "%s,%s,%zu,%.9g,%.9g,%.9g,%.9g,%.9g\n"
                   : is_narrow() ? "%-10s%-7s%11zu%12.2e%9.0f%11.2e%10.6f%10.6f\n"
                                 : "%-10s%-8s%12zu%16.2e%10.0f%16.2e%12.6f%12.6f\n",
                   attention, angles, shift, p->logit_off, p->logit_ulps, p->nll_off, p->nll[0], p->nll[1]);
    t->begun = 1;
    out_flush();
}

/* The text's ids: --prompt's, or the usual text, over and over where far keys are read in another way than near ones:
 * up to twice the length that the model was trained on, at most FAR. */
static int read_ids(Task *t, Engine *e) {
    enum { FAR = 1024 };
    const Config *c = &e->model.config;
    size_t len = strlen(usual_text), want = 0, times = 1;
    if (t->a->in.prompt) return tokenizer_encode(e->tokenizer, t->a->in.prompt, strlen(t->a->in.prompt), ENCODE_BOS,
                                                 &t->ids, &t->n, e->err, sizeof e->err);
    if (rope_numbers(&c->rope)->relative) want = 2 * (size_t)c->n_ctx_train < FAR ? 2 * (size_t)c->n_ctx_train : FAR;
    for (;; times *= 2) {
        char *text = malloc(times * (len + 1) + 1);
        if (!text) return base_error(e->err, sizeof e->err, -ENOMEM, "out of memory");
        for (size_t i = 0; i < times; i++) snprintf(text + i * (len + 1), len + 2, "%s ", usual_text);
        int rc = tokenizer_encode(e->tokenizer, text, times * (len + 1) - 1, ENCODE_BOS, &t->ids, &t->n, e->err,
                                  sizeof e->err);
        free(text);
        if (rc || t->n >= want) return rc;
        free(t->ids);
        t->ids = NULL;
    }
}

/* A model attends in one way; it is opened again to attend in the other. */
static int prove(Task *t, Args *a, const char *attention) {
    Engine e;
    a->attention.kind = attention;
    int code = engine_open(&e, a, t->ids == NULL);
    if (code) return code;
    const Config *c = &e.model.config;
    if (c->mask != MASK_CAUSAL) code = fail("%s: proof is for models that read from left to right", a->model);
    if (code == 0 && !t->ids && read_ids(t, &e)) code = fail("%s", e.err);
    t->softmax_only = (c->positions && c->positions->kind->bias) || c->log_scale || c->decoder || c->window;
    if (code == 0 && t->angles) code = needs_rope(&e, "--angles");
    if (code == 0 && t->n < 2) code = fail("a text of one token says nothing of distances");
    if (code == 0 && !t->begun && e.model.min_group)
        note(
            "blocks of weights meet activations rounded to 8 bits, and one rounding that falls otherwise shows: a file "
            "of F32 says more");
    e.progress = (Progress){.what = "reading", .start = clock_seconds()};
    for (size_t i = 0; code == 0 && i < t->n_shifts; i++) {
        Proof p;
        ProofPlace at = {.origin = t->shifts[i], .angles = t->angles};
        int rc = proof_run(&p, &e.model, (ProofPlace){0}, at, t->ids, t->n, (int)a->machine.threads, on_progress,
                           &e.progress, e.err, sizeof e.err);
        progress_clear(&e.progress);
        int linear = c->linear.form != NULL;
        if (rc == -EINTR) code = EXIT_INTERRUPTED;
        else if (rc) code = fail("%s", e.err);
        else print_row(t, c, linear ? "linear" : "softmax", t->shifts[i], &p);
        if (rc == 0 && t->shifts[i]) /* 0 has no place on a logarithmic axis */
            t->points[linear][t->n_points[linear]++] = (PlotPoint){(double)t->shifts[i], p.nll_off, 0};
    }
    engine_close(&e);
    return code;
}

static int draw(Task *t) {
    PlotSeries series[2] = {{"softmax", t->points[0], t->n_points[0], 0},
                            {"linear", t->points[1], t->n_points[1], 0}};
    int first = t->n_points[0] == 0, n = (t->n_points[0] > 0) + (t->n_points[1] > 0);
    char about[200];
    snprintf(about, sizeof about, "%s: a text of %zu ids from position 0, and with angles %s from others on",
             file_name(t->a->model), t->n, t->angles ? t->angles->name : "in double");
    PlotLines p = {.title = "What a position costs", .subtitle = about, .x_name = "the text's first position",
                   .y_name = "largest change of an id's loss, nats", .series = series + first, .n_series = (size_t)n,
                   .log2_x = 1};
    return n ? plot_show(&p, t->a) : 0;
}

int run_proof(Args *a) {
    Task t = {.a = a};
    const char *asked = a->attention.kind;
    if (a->proof.angles && !(t.angles = rope_angles_row(a->proof.angles)))
        return usage("--angles: there is no \"%s\"; double, f32, bf16 and ggml are known", a->proof.angles);
    int code = read_shifts(&t);
    if (code) return code;
    int stretched = a->rope.method != NULL; /* distances are softmax's to change */
    if (asked) code = prove(&t, a, asked);
    else if ((code = prove(&t, a, "softmax")) == 0 && !stretched && !t.softmax_only) code = prove(&t, a, "linear");
    if (a->show.json && t.begun) out_printf("]}\n");
    if (code == 0) code = draw(&t);
    free(t.ids);
    return out_end(code);
}
