/* cli/logits.c - the command logits: what the model expects after given ids, for comparing. */
#include "cli.h"
#include "lab/lesson/places.h"
#include "model/encoder.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

typedef struct {
    size_t vocab_size;
    int json, begun; /* begun: a row is out */
} LogitsPrinter;

static void print_logits(void *arg, size_t i, const float *logits) {
    LogitsPrinter *p = arg;
    p->begun = 1;
    if (p->json) out_printf(i ? ",[" : "{\"logits\":[["); /* the opening only now: an error leaves stdout empty */
    for (size_t v = 0; v < p->vocab_size; v++)
        out_printf(p->json && !isfinite(logits[v]) ? "%snull" : "%s%.9g",
                   v == 0    ? ""
                   : p->json ? ","
                             : " ",
                   (double)logits[v]);
    out_printf(p->json ? "]" : "\n");
}

/* RoFormer: the ids as one text under the model's mask. */
static int encoder_rows(Engine *e, const Args *a, const EncoderText *text, LogitsPrinter *p) {
    if (!e->model.has_logits)
        return base_error(e->err, sizeof e->err, -EINVAL, "this model has no head for logits");
    int rc = encoder_read(&e->session, text, 1, e->err, sizeof e->err);
    if (rc == 0)
        encoder_logits_each(&e->session, a->show.all ? 0 : text->n - 1, a->show.all ? text->n : 1, print_logits, p);
    return rc;
}

static int print_rows(Engine *e, const Args *a, const EncoderText *text) {
    LogitsPrinter p = {.vocab_size = (size_t)e->model.config.vocab_size, .json = a->show.json};
    const float *logits = NULL;
    int rc, whole = text->types || text->keep || e->model.config.mask != MASK_CAUSAL;
    if (whole && a->context.load)
        return usage("--load-state: these ids are read as a text of their own (mask, --type-ids, --attention-mask)");
    if (whole) rc = encoder_rows(e, a, text, &p);
    else if (a->show.all)
        rc = session_eval_each(&e->session, text->ids, text->n, print_logits, &p, e->err, sizeof e->err);
    else rc = session_eval(&e->session, text->ids, text->n, &logits, e->err, sizeof e->err);
    progress_clear(&e->progress);
    if (logits) print_logits(&p, 0, logits);
    if (a->show.json && p.begun) out_printf("]}\n"); /* interrupted: what there is, closed */
    return rc == -EINTR ? EXIT_INTERRUPTED : rc ? fail("%s", e->err) : save_state(e, a);
}

/* A list that stands beside --ids, of the same length: malloc'ed, NULL where s is; *code where it is wrong. */
static int *parse_beside(const char *option, const char *s, size_t n, int *code) {
    size_t count;
    int *list = NULL;
    if (!s || *code) return NULL;
    *code = parse_ids(&list, &count, option, s);
    if (list && count != n) *code = usage("%s has %zu entries, and there are %zu ids", option, count, n);
    return list;
}

/* --positions: where the ids stand. */
static int read_places(Places *p, const Args *a, size_t n) {
    char err[300], *text;
    size_t len;
    const AxesKind *kind = a->in.axes ? axes_kind(a->in.axes) : NULL;
    if (!a->in.positions) return a->in.axes ? usage("--axes goes with --positions") : 0;
    if (a->in.axes && !kind) return usage("--axes: there is no \"%s\"", a->in.axes);
    if (a->context.load || a->context.save) return usage("--positions: a state holds keys by their own positions");
    int code = read_text(a->in.positions, &text, &len);
    if (code) return code;
    if (places_read(p, text, len, a->in.positions, kind, err, sizeof err)) code = fail("%s", err);
    else if (p->n != n) code = usage("--positions has %zu tokens, and there are %zu ids", p->n, n);
    free(text);
    return code;
}

/* The ids of -i, -f or stdin, as generate reads a prompt; an encoder's text stands between its own signs. malloc'ed. */
static int read_ids(Engine *e, const Args *a, int **ids, size_t *n) {
    const char *text;
    char *file;
    size_t len;
    int code = read_prompt_text(a, &text, &len, &file);
    if (code) return code;
    int flags = (e->model.config.mask == MASK_CAUSAL ? ENCODE_BOS : ENCODE_ADDED) |
                (a->in.special ? ENCODE_SPECIAL : 0);
    if (tokenizer_encode(e->tokenizer, text, len, flags, ids, n, e->err, sizeof e->err))
        code = fail("%s", e->err);
    else if (*n == 0) code = fail("there is no token in this text");
    free(file);
    return code;
}

/* Where the ids come from: one place. */
static int check_input(Args *a) {
    if (a->in.prompt && a->in.file) return usage("-i and -f both give a text; one is enough");
    if (a->in.ids && (a->in.prompt || a->in.file)) return usage("--ids and a text are both given; one is enough");
    if (!a->in.ids && !a->in.prompt && !a->in.file) a->in.file = piped_text();
    if (!a->in.ids && !a->in.prompt && !a->in.file) return usage("logits needs --ids, or a text: -i, -f or a pipe");
    return 0;
}

int run_logits(Args *a) {
    Engine e = {0};
    Places places = {0};
    Probe probe;
    size_t n = 0;
    int *ids = NULL, code = check_input(a);
    if (code) return code;
    a->context.exact = 1;
    if (a->in.ids && (code = parse_ids(&ids, &n, "--ids", a->in.ids))) return code;
    if (!a->in.ids && (code = engine_open(&e, a, 1)) == 0) code = read_ids(&e, a, &ids, &n);
    int *types = parse_beside("--type-ids", a->in.type_ids, n, &code),
        *mask = parse_beside("--attention-mask", a->in.attention_mask, n, &code);
    uint8_t *keep = mask && code == 0 ? malloc(n) : NULL;
    for (size_t i = 0; keep && i < n; i++) keep[i] = mask[i] != 0;
    if (code == 0 && mask && !keep) code = fail("out of memory");
    if (code == 0) code = read_places(&places, a, n);
    if (code == 0 && a->in.ids) code = engine_open(&e, a, 0);
    if (code == 0 && places.n) code = needs_rope(&e, "--positions");
    probe_init(&probe, &places, NULL, places_turn);
    if (code == 0 && places.n) e.attention = &probe.attention;
    if (code == 0) code = engine_session(&e, a, n, a->show.all ? 8 : 1);
    if (code == 0) files_opened(a);
    if (code == 0) code = print_rows(&e, a, &(EncoderText){.ids = ids, .types = types, .keep = keep, .n = n});
    engine_close(&e);
    places_free(&places);
    free(ids);
    free(types);
    free(mask);
    free(keep);
    return out_end(code);
}
