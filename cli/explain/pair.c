/* cli/explain/pair.c - explain turn, score, slide: a query and a key, pair by pair. */
#include "explain.h"

#include "lab/explain/pairs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    Explain x;
    Place p;
    PairTerm *pairs; /* [half] */
    int half;
    double rest;     /* of the entries that do not turn */
} Pair;

static int open_pair(Pair *w, Args *a, const char *what) {
    *w = (Pair){0};
    static const char *const slides = " --layer  --head  --query  --key  -c ",
                             *const scores = " --layer  --head  --query  --key  --shift ";
    int code = explain_options(a, strcmp(what, "slide") == 0 ? slides
                                  : strcmp(what, "score") == 0 ? scores : " --layer  --head  --query  --key ");
    if (code == 0) code = explain_open(&w->x, a);
    if (code == 0) code = explain_softmax(&w->x, what);
    if (code == 0) code = needs_rope(&w->x.e, what);
    if (code == 0) code = explain_place(&w->x, &w->p);
    if (code) return code;
    a->explain.layer = w->p.layer; /* the others need not be kept */
    if ((code = explain_trace(&w->x, NULL, NULL, 0))) return code;
    if (!trace_sees(&w->x.t, w->p.layer, w->p.query, w->p.key))
        return usage("the query of token %zu does not see token %zu", w->p.query, w->p.key);
    w->half = w->x.e.model.config.rope.rotary_dim / 2;
    w->pairs = calloc((size_t)w->half, sizeof *w->pairs);
    if (!w->pairs) return fail("out of memory");
    pairs_of(&w->x.t, w->p.layer, w->p.head, w->p.query, w->p.key, w->pairs, &w->rest);
    return 0;
}

static int close_pair(Pair *w, int code) {
    free(w->pairs);
    explain_close(&w->x);
    return code;
}

static void heading(const Pair *w, const char *what, char *line, size_t n) {
    const char *const *words = (const char *const *)w->x.words;
    snprintf(line, n, "%s%slayer %d, head %d: query \"%s\" (%zu), key \"%s\" (%zu), %lld apart", what,
             *what ? "; " : "", w->p.layer, w->p.head, words[w->p.query], w->p.query, words[w->p.key], w->p.key,
             (long long)w->p.query - (long long)w->p.key);
}

/* ---- turn ---- */

static PlotHand hand(const double v[2], double by, double longest) {
    double angle = atan2(v[1], v[0]);
    return (PlotHand){.angle = angle + by, .length = hypot(v[0], v[1]) / longest, .from = by != 0 ? angle : NAN};
}

/* By an angle, and made so many times as long: yarn and longrope do. */
static void turned(const double v[2], double by, double scale, double to[2]) {
    to[0] = scale * (v[0] * cos(by) - v[1] * sin(by));
    to[1] = scale * (v[0] * sin(by) + v[1] * cos(by));
}

static int draw_turn(const Pair *w) {
    static const char *const rows[] = {"before", "after"}, *const names[] = {"query", "key"};
    PlotHand *hands = calloc(4 * (size_t)w->half, sizeof *hands);
    char(*labels)[24] = calloc(2 * (size_t)w->half, sizeof *labels), about[300];
    const char **shown = calloc(2 * (size_t)w->half, sizeof *shown), **columns = shown ? shown + w->half : NULL;
    double longest = 1e-30, scale = w->x.t.rope.scale;
    int code = hands && labels && shown ? 0 : fail("out of memory");
    for (int i = 0; code == 0 && i < w->half; i++)
        longest =
            fmax(longest, fmax(hypot(w->pairs[i].q[0], w->pairs[i].q[1]), hypot(w->pairs[i].k[0], w->pairs[i].k[1])));
    for (int i = 0; code == 0 && i < w->half; i++) {
        const PairTerm *p = &w->pairs[i];
        PlotHand *before = hands + 2 * i, *after = hands + 2 * (w->half + i);
        before[0] = hand(p->q, 0, longest), before[1] = hand(p->k, 0, longest);
        after[0] = hand(p->q, p->angle_q, longest / scale), after[1] = hand(p->k, p->angle_k, longest / scale);
        snprintf(labels[i], sizeof *labels, "pair %d", i);
        columns[i] = labels[i];
    }
    heading(w, "", about, sizeof about);
    PlotDials d = {.title = "Query and key, pair by pair", .subtitle = about, .rows = rows, .n_rows = 2,
                   .columns = columns, .n_columns = (size_t)w->half, .hands = hands, .n_hands = 2, .names = names};
    if (code == 0) code = figure_show((Figure){.dials = &d}, w->x.a);
    free(hands);
    free(labels);
    free(shown);
    return code;
}

static void csv_turn(const Pair *w) {
    double scale = w->x.t.rope.scale;
    out_printf("pair,q0,q1,k0,k1,angle_q,angle_k,q0_turned,q1_turned,k0_turned,k1_turned,line\n");
    for (int i = 0; i < w->half; i++) {
        const PairTerm *p = &w->pairs[i];
        double q[2], k[2];
        turned(p->q, p->angle_q, scale, q);
        turned(p->k, p->angle_k, scale, k);
        out_printf("%d,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%s\n", i, p->q[0], p->q[1], p->k[0], p->k[1],
                   p->angle_q, p->angle_k, q[0], q[1], k[0], k[1], cited_place("rotate"));
    }
}

static void print_turned(const double v[2], double by, double scale) {
    double to[2];
    turned(v, by, scale, to);
    out_printf("%10.4f%10.4f%11.4f%10.4f%10.4f", v[0], v[1], by, to[0], to[1]);
}

/* The query's columns, the key's, or both side by side. */
static void print_rows(const Pair *w, int query, int key) {
    out_printf("\n%4s", "pair");
    if (query) out_printf("%20s%11s%20s", "query", "by", "after");
    if (key) out_printf("%20s%11s%20s", "key", "by", "after");
    for (int i = 0; i < w->half; i++) {
        const PairTerm *p = &w->pairs[i];
        out_printf("\n%4d", i);
        if (query) print_turned(p->q, p->angle_q, w->x.t.rope.scale);
        if (key) print_turned(p->k, p->angle_k, w->x.t.rope.scale);
    }
    out_printf("\n");
}

static void print_turn(const Pair *w) {
    if (w->x.a->show.csv) {
        csv_turn(w);
        return;
    }
    int both = line_room() >= 106;
    print_rows(w, 1, both);
    if (!both) print_rows(w, 0, 1);
    teach("Each pair is a point in a plane and turns by its own angle, position times frequency, in radians "
          "(eq. 13): the fast ones first. Turning changes no length%s.", w->x.t.rope.scale == 1 ? "" : "; this method "
          "then makes all of them longer or shorter alike, as its factor on cos and sin has it");
    cite("angle");
    cite("rotate");
}

int explain_turn(Args *a) {
    Pair w;
    int code = open_pair(&w, a, "turn");
    if (code == 0) code = draw_turn(&w);
    if (code == 0) print_turn(&w);
    return close_pair(&w, code);
}

/* ---- score ---- */

static int draw_score(const Pair *w) {
    int n = w->half + (w->rest != 0);
    double *values = calloc((size_t)n, sizeof *values);
    char(*labels)[96] = calloc((size_t)n, sizeof *labels), about[300], wave[WAVELENGTH_SIZE];
    const char **names = calloc((size_t)n, sizeof *names);
    int code = values && labels && names ? 0 : fail("out of memory");
    int halves = w->x.e.model.config.rope.pairing == ROPE_HALF;
    for (int i = 0; code == 0 && i < n; i++) {
        values[i] = i < w->half ? w->pairs[i].term : w->rest;
        if (i < w->half) /* the entries of a head that it is made of */
            snprintf(labels[i], sizeof *labels, "%d (%d, %d), wavelength %s", i, halves ? i : 2 * i,
                     halves ? i + w->half : 2 * i + 1, explain_wavelength(wave, &w->x, i));
        else snprintf(labels[i], sizeof *labels, "entries that do not turn");
        names[i] = labels[i];
    }
    heading(w, "", about, sizeof about);
    PlotBars b = {.title = "A score, pair of entries by pair", .subtitle = about, .names = names, .values = values,
                  .n = (size_t)n, .waterfall = 1, .sum_name = "score", .decimals = 4};
    if (code == 0) code = figure_show((Figure){.bars = &b}, w->x.a);
    free(values);
    free(labels);
    free(names);
    return code;
}

static void print_score(const Pair *w) {
    const Place *p = &w->p;
    double sum = w->rest, size = fabs(w->rest), engine;
    if (w->x.a->show.csv) out_printf("pair,frequency,angle,term,line\n");
    for (int i = 0; i < w->half; i++) {
        const PairTerm *t = &w->pairs[i];
        sum += t->term, size += fabs(t->term);
        if (w->x.a->show.csv)
            out_printf("%d,%.9g,%.9g,%.9g,%s\n", i, w->x.t.rope.inv_freq[i], t->angle_q - t->angle_k, t->term,
                       cited_place("term"));
    }
    engine = pairs_engine_score(&w->x.t, p->layer, p->head, p->query, p->key);
    if (w->x.a->show.csv) {
        out_printf("rest,,,%.9g,%s\nsum,,,%.9g,%s\nengine,,,%.9g,%s\n", w->rest, cited_place("term"), sum,
                   cited_place("term"), engine, cited_place("scores"));
        return;
    }
    out_printf("\nsum over frequencies  %12.6f\nattention's own score %12.6f   off by %.1e of the sum of their sizes\n",
               sum, engine, fabs(sum - engine) / size);
    teach("Turned pairs meet as Re(q conj(k) e^(i (m - j) theta)), here over sqrt(head_dim): only the distance is left "
          "of the two positions (eq. 16). A pair, named with its entries of the head, whose arrow has come round adds; "
          "one that points away takes.");
    cite("term");
    cite("scores");
}

/* The same query and key with the text K positions on: the same score (eq. 16), unless scores go by positions. */
static int print_moved(Pair *w, double here) {
    const Place *p = &w->p;
    size_t by = (size_t)w->x.a->explain.shift;
    int code = explain_trace(&w->x, NULL, NULL, by);
    if (code) return code;
    double there = pairs_engine_score(&w->x.t, p->layer, p->head, p->query, p->key);
    if (w->x.a->show.csv) out_printf("moved,,,%.9g,%s\n", there, cited_place("scores"));
    else out_printf("\npositions %zu and %zu: %.6f; %zu and %zu: %.6f\n", p->query, p->key, here, p->query + by,
                    p->key + by, there);
    return 0;
}

int explain_score(Args *a) {
    Pair w;
    int code = open_pair(&w, a, "score");
    if (code == 0 && a->explain.shift >= 0 && w.x.e.model.config.mask != MASK_CAUSAL)
        code = fail("--shift is for models that read from left to right");
    if (code == 0) code = draw_score(&w);
    if (code == 0) print_score(&w);
    if (code == 0 && a->explain.shift >= 0)
        code = print_moved(&w, pairs_engine_score(&w.x.t, w.p.layer, w.p.head, w.p.query, w.p.key));
    return close_pair(&w, code);
}

/* ---- slide ---- */

/* In numbers: whether it falls is this pair's affair, not a law. side: -1 where the key is behind the query. */
static void print_slide(const PlotPoint *points, size_t n, int side) {
    size_t part = n / 8 ? n / 8 : 1, most = 0, least = 0, rises = 0;
    double near = 0, far = 0;
    for (size_t d = 0; d < n; d++) {
        most = points[d].y > points[most].y ? d : most;
        least = points[d].y < points[least].y ? d : least;
        rises += d && points[d].y > points[d - 1].y;
    }
    for (size_t d = 0; d < part; d++) near += points[d].y, far += points[n - 1 - d].y;
    out_printf("\n");
    prose("nearest %zu: mean %.4f; farthest %zu: mean %.4f; largest %.4f at %lld, smallest %.4f at %lld", part,
          near / (double)part, part, far / (double)part, points[most].y, side * (long long)most, points[least].y,
          side * (long long)least);
    out_printf("it rises in %zu of %zu steps\n", rises, n - 1);
    teach("RoPE alone does this: the vectors are the same everywhere, only e^(i d theta) changes (eq. 16). What falls "
          "with the distance, on the whole, is the bound of section 3.4.3 (./run rope decay); one query and key may "
          "do as they like under it.");
    cite("term");
}

int explain_slide(Args *a) {
    Pair w;
    int code = open_pair(&w, a, "slide");
    size_t n = code ? 0 : a->context.n ? (size_t)a->context.n : (size_t)w.x.e.model.config.n_ctx_train;
    PlotPoint *points = code ? NULL : calloc(n + 1, sizeof *points);
    int side = code == 0 && w.p.query < w.p.key ? -1 : 1; /* an encoder's key behind it stands at distances below 0 */
    if (code == 0 && !points) code = fail("out of memory");
    if (code == 0) {
        char about[300];
        for (size_t d = 0; d < n; d++) {
            double x = side * (double)d;
            points[d] = (PlotPoint){x, pairs_score_at(&w.x.t, w.p.layer, w.p.head, w.p.query, w.p.key, x), 0};
        }
        heading(&w, "", about, sizeof about);
        PlotSeries s = {"score", points, n, 0};
        PlotLines p = {.title = "The same two vectors at every distance",
                       .subtitle = about,
                       .x_name = "distance, positions",
                       .y_name = "score before softmax",
                       .series = &s,
                       .n_series = 1,
                       .mark = (double)w.p.query - (double)w.p.key,
                       .mark_name = "in the text"};
        code = figure_show((Figure){.lines = &p}, a);
    }
    if (code == 0 && a->show.csv) {
        out_printf("distance,score,line\n");
        for (size_t d = 0; d < n; d++)
            out_printf("%lld,%.9g,%s\n", side * (long long)d, points[d].y, cited_place("term"));
    } else if (code == 0) print_slide(points, n, side);
    free(points);
    return close_pair(&w, code);
}
