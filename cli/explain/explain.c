/* cli/explain/explain.c - the command explain: what happened in attention while a text was read. */
#include "explain.h"

#include "base/base.h"
#include "base/system.h"
#include "lab/plot/parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const Topic explain_topics[] = {
    {"map", "", "where each head looks: all layers and heads as a sheet; --layer, --head: one, with its words",
     explain_map},
    {"heads", "", "what the heads do, told by where they look when the text comes twice", explain_heads},
    {"turn", "", "one token's query and another's key, pair by pair: before, by which angle, after", explain_turn},
    {"score", "", "their score as a sum over frequencies", explain_score},
    {"slide", "", "the score of the same two vectors at every distance", explain_slide},
    {"shift", "", "the text moved by --shift positions: is anything else?", explain_shift},
    {"pairing", "", "the file read with its pairs taken the other way", explain_pairing},
    {"use", "", "which frequencies the model uses: each pair's size, and the loss without it", explain_use},
    {"state", "", "linear attention's S and z as they fill", explain_state},
    {"lens", "", "what each layer would say next", explain_lens},
    {"next", "", "the candidates for what comes next, and what the sampler's filters leave of them", explain_next},
    {0}};

/* ---- words ---- */

char *explain_word(const Tokenizer *t, int id) {
    static const char space[] = "\xe2\x96\x81", byte_space[] = "\xc4\xa0"; /* of SentencePiece, of byte-level BPE */
    size_t len = 0, at = 0;
    const char *piece = tokenizer_piece(t, id, &len);
    char *word = malloc(len + 32);
    if (!word) out.broken = ENOMEM; /* whoever goes on without it ends with exit code 1 */
    for (size_t i = 0; word && piece && i < len; i++) {
        size_t skip = len - i >= 3 && memcmp(piece + i, space, 3) == 0 ? 3
                      : len - i >= 2 && memcmp(piece + i, byte_space, 2) == 0 ? 2 : 0;
        if (skip == 0) word[at++] = piece[i];
        else if (i > 0) word[at++] = ' ';
        if (skip) i += skip - 1;
    }
    if (word && at == 0) at = (size_t)snprintf(word, 32, "#%d", id);
    if (word) word[at] = 0;
    return word;
}

void explain_put_word(const char *word, size_t width) {
    size_t n = strlen(word), columns = 0;
    for (size_t at = 0, len; at < n; at += len) {
        uint32_t cp;
        int bytes = utf8_decode(word + at, n - at, &cp);
        int seen = bytes > 0 && cp >= 0x20 && (cp < 0x7f || cp >= 0xa0);
        len = bytes > 0 ? (size_t)bytes : 1;
        if (width && columns + 2 > width) break;
        columns += seen ? plot_columns(word + at, len) : 1;
        out_bytes(seen ? word + at : "?", seen ? len : 1);
    }
    for (; columns < width; columns++) out_bytes(" ", 1);
}

static int take_words(Explain *x) {
    x->words = calloc(x->n, sizeof *x->words);
    for (size_t i = 0; x->words && i < x->n; i++)
        if (!(x->words[i] = explain_word(x->e.tokenizer, x->ids[i]))) return fail("out of memory");
    return x->words ? 0 : fail("out of memory");
}

/* ---- opening ---- */

int explain_open(Explain *x, Args *a) {
    const char *text = a->text;
    *x = (Explain){.a = a};
    int code = engine_open(&x->e, a, 1);
    if (code) return code;
    files_opened(a);
    int added = x->e.model.config.mask == MASK_CAUSAL ? ENCODE_BOS : ENCODE_ADDED;
    if (tokenizer_encode(x->e.tokenizer, text, strlen(text), added | ENCODE_SPECIAL, &x->ids, &x->n, x->e.err,
                         sizeof x->e.err))
        return fail("%s", x->e.err);
    if (x->n == 0) return fail("there is no token in this text");
    x->e.progress = (Progress){.what = "reading", .start = clock_seconds()};
    return take_words(x);
}

void explain_close(Explain *x) {
    trace_free(&x->t);
    for (size_t i = 0; x->words && i < x->n; i++) free(x->words[i]);
    free(x->words);
    free(x->ids);
    engine_close(&x->e);
}

int explain_trace(Explain *x, ProbeTurn turn, void *turn_arg, size_t origin) {
    const Args *a = x->a;
    TraceOptions o = {.threads = (int)a->machine.threads, .layer_given = a->explain.layer >= 0,
                      .layer = (int)a->explain.layer, .origin = origin, .turn = turn, .turn_arg = turn_arg,
                      .progress = on_progress, .progress_arg = &x->e.progress};
    double bytes = trace_bytes(&x->e.model, x->n, &o);
    if (bytes > 256e6) note("what attention sees of %zu tokens takes %.1f GB%s", x->n, bytes / 1e9,
                            o.layer_given ? "" : "; --layer keeps one");
    trace_free(&x->t);
    int rc = trace_read(&x->t, &x->e.model, x->ids, x->n, &o, x->e.err, sizeof x->e.err);
    progress_clear(&x->e.progress);
    return rc == -EINTR ? EXIT_INTERRUPTED : rc ? fail("%s", x->e.err) : 0;
}

int explain_place(const Explain *x, Place *p) {
    const ExplainArgs *e = &x->a->explain;
    const Config *c = &x->e.model.config;
    if (e->layer >= c->n_layers) return usage("--layer %lld: layers are 0 to %d", e->layer, c->n_layers - 1);
    if (e->head >= c->n_heads) return usage("--head %lld: heads are 0 to %d", e->head, c->n_heads - 1);
    if (e->query >= (long long)x->n) return usage("--query %lld: tokens are 0 to %zu", e->query, x->n - 1);
    if (e->key >= (long long)x->n) return usage("--key %lld: tokens are 0 to %zu", e->key, x->n - 1);
    *p = (Place){.layer = e->layer < 0 ? 0 : (int)e->layer, .head = e->head < 0 ? 0 : (int)e->head,
                 .query = e->query < 0 ? x->n - 1 : (size_t)e->query};
    p->key = e->key >= 0 ? (size_t)e->key : p->query > 0 ? p->query - 1 : 0;
    return 0;
}

const char *explain_wavelength(char *text, const Explain *x, int i) {
    double wavelength = TURN / x->t.rope.inv_freq[i];
    snprintf(text, WAVELENGTH_SIZE, wavelength < 9999.5 ? "%.4g" : "%.0f", wavelength);
    return text;
}

int explain_square(const Explain *x) {
    enum { MOST = 4096 }; /* 128 MB of weights */
    return x->n <= MOST ? 0
                        : fail("the text has %zu tokens, and every pair of them is looked at: at most %d", x->n, MOST);
}

int explain_softmax(const Explain *x, const char *what) {
    if (!x->e.model.config.linear.form) return 0;
    return fail(
        "%s is of softmax attention, where a query meets each key; linear attention turns features (state shows "
        "these)",
        what);
}

int explain_options(const Args *a, const char *used) {
    const ExplainArgs *e = &a->explain;
    const struct { const char *name; int given; } options[] = {
        {" --layer ", e->layer >= 0}, {" --head ", e->head >= 0}, {" --query ", e->query >= 0},
        {" --key ", e->key >= 0}, {" --shift ", e->shift >= 0}, {" --without-rope ", e->without_given},
        {" -c ", a->context.n > 0}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].given && !strstr(used, options[i].name))
            return usage("explain %s does not use%.*s", a->words[a->n_words - 1], (int)strlen(options[i].name) - 1,
                         options[i].name);
    return 0;
}

int run_explain(Args *a) {
    int named = a->n_words > 0 && (a->n_words > 2 || is_model_word(a->words[0]));
    const Topic *meant = topic_among(explain_topics, a->words, a->n_words);
    if (a->n_words < 1 + named) return usage("explain needs a text and WHAT");
    if (meant && a->n_words == 1 + named)
        return usage("explain needs a text in front of %s: ./run explain [MODEL] TEXT %s", meant->name, meant->name);
    if (meant && a->n_words <= 2 + named && !topic_among(explain_topics, a->words + a->n_words - 1, 1))
        return usage("explain: WHAT stands last: ./run explain [MODEL] TEXT %s", meant->name);
    const Topic *t = topic_named(explain_topics, "explain", a->n_words > 1 + named ? a->words[1 + named] : NULL);
    if (!t) return EXIT_USAGE;
    if (a->n_words > 2 + named) return usage("\"%s\" is one word too many", a->words[2 + named]);
    a->model = named ? a->words[0] : compiled_in;
    a->text = a->words[named];
    return out_end(t->run(a));
}
