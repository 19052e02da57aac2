/* lab/reach.c - see reach.h. */
#include "reach.h"

#include "base/base.h"
#include "model/layers/layers.h"
#include "model/options.h"
#include "lab/plot/parts.h"
#include "rope/relative.h"
#include "rope/scores.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int reach_init(Reach *p, const Model *m, int64_t context, char *err, size_t errlen) {
    const Config *c = &m->config;
    Rope r;
    RopeConfig plain = c->rope;
    *p = (Reach){.trained = c->n_ctx_train, .context = context ? context : 4 * c->n_ctx_train,
                .n_pairs = c->rope.rotary_dim / 2};
    if (rope_numbers(&c->rope)->n_ctx_original > 0) p->trained = rope_numbers(&c->rope)->n_ctx_original;
    p->methods = calloc(REACH_MOST, sizeof *p->methods);
    if (!p->methods) return base_error(err, errlen, -ENOMEM, "out of memory");
    plain.scaling = &rope_none; /* before any stretch that the file itself has */
    plain.numbers = NULL;
    rope_init(&r, &plain, 1);
    memcpy(p->inv_freq, r.inv_freq, (size_t)p->n_pairs * sizeof *r.inv_freq);
    for (int i = 0; i < p->n_pairs; i++) p->n_full += reach_turns(p, i) >= 1;
    return 0;
}

void reach_free(Reach *p) {
    free(p->methods);
    memset(p, 0, sizeof *p);
}

double reach_turns(const Reach *p, int pair) { return (double)p->trained * p->inv_freq[pair] / TURN; }

/* 1 where layer l rotates by the model's main frequencies. */
static int turns(const Model *m, const RopeNumbers *n, int l) {
    const Decoder *d = m->config.decoder;
    return !n->nope[l] && (!d || d->kinds[l].turn == TURN_MAIN);
}

/* The first position that the query at `last` sees in some layer, by the model's windows; rotating: in one that
 * rotates. */
static int64_t first_seen(const Model *m, const RopeNumbers *n, int rotating, int64_t last) {
    int64_t first = last;
    for (int l = 0; l < m->config.n_layers; l++) {
        int64_t window = (int64_t)m->layers[l].window, from = window && window <= last ? last - window + 1 : 0;
        if ((!rotating || turns(m, n, l)) && from < first) first = from;
    }
    return first;
}

/* What the last query sees: the farthest distance, and how many keys. Without rotation it is as if all keys stood where
 * it does; ms-poe leaves its first layers as they are. */
static void look(ReachMethod *to, const RopeConfig *c, const Model *model, int64_t m) {
    const RopeNumbers *n = rope_numbers(c);
    const RopeRelative *row = n->relative ? n->relative : &rope_plainly;
    RopeSegment s[ROPE_SEGMENTS];
    int count = row->look(&n->distance, m, s), turning = 0, n_layers = model->config.n_layers; /* turning: the first */
    int64_t seen = first_seen(model, n, 0, m), turned = first_seen(model, n, 1, m);
    for (int i = 0; i < count; i++) {
        int64_t first = s[i].first > turned ? s[i].first : turned, begin = s[i].first > seen ? s[i].first : seen;
        if (first < s[i].end && s[i].map == ROPE_UNTURNED) to->farthest = fmax(to->farthest, s[i].at);
        else if (first < s[i].end)
            to->farthest = fmax(to->farthest, s[i].at - row->key(&n->distance, s[i].map, first));
        if (begin < s[i].end) to->keys += s[i].end - begin;
    }
    while (turning < n_layers && !turns(model, n, turning)) turning++;
    if (turning == n_layers) to->farthest = 0;
    else if (row->chooses == ROPE_BY_HEADS && turning >= n->distance.skip && m >= n->distance.at)
        to->farthest = row->key(&n->distance, 1, m - turned); /* the head that is squeezed least */
    int64_t most = n->distance.init + n->distance.top * n->distance.block + n->distance.local + n->distance.block +
                   n->distance.every;
    if (row->chooses == ROPE_BY_BLOCKS && to->keys > most) to->keys = most;
}

/* "yarn+rerope" of a spec with all its keys. */
static void name_of(char *name, size_t size, const char *spec) {
    size_t n = 0;
    for (const char *s = spec; *s && n + 1 < size;) {
        size_t word = strcspn(s, ":+");
        for (size_t i = 0; i < word && n + 1 < size; i++) name[n++] = s[i];
        s += word;
        for (int quoted = 0; *s && (*s != '+' || quoted); s++) quoted ^= *s == '"';
        if (*s == '+' && n + 1 < size) name[n++] = *s++;
    }
    name[n] = 0;
}

int reach_add(Reach *p, const Model *m, const char *spec, char *err, size_t errlen) {
    ReachMethod *to = &p->methods[p->n_methods];
    Model view;
    RopeNumbers *numbers = calloc(1, sizeof *numbers);
    Rope r;
    int rc = numbers ? 0 : base_error(err, errlen, -ENOMEM, "out of memory");
    if (rc == 0 && p->n_methods == REACH_MOST)
        rc = base_error(err, errlen, -EINVAL, "at most %d methods at a time", REACH_MOST);
    if (rc == 0)
        rc = model_stretch(&view, numbers, m, &(RopeOverride){.spec = spec, .n_ctx = p->context}, err, errlen);
    if (rc == 0) {
        const RopeConfig *c = &view.config.rope;
        rope_init(&r, c, p->context);
        if (c->scaling->method->each) rope_init_each(&r, c, p->context);
        memcpy(to->inv_freq, r.inv_freq, (size_t)p->n_pairs * sizeof *r.inv_freq);
        to->scale = r.scale * r.scale * rope_score(c, p->context - 1, m->config.n_layers - 1);
        look(to, c, m, p->context - 1);
        for (int i = 0; i < p->n_pairs; i++)
            to->unseen += reach_turns(p, i) < 1 &&
                          to->farthest * to->inv_freq[i] > (double)p->trained * p->inv_freq[i] * (1 + 1e-9);
        rc = rope_spec_print(c, to->spec, sizeof to->spec);
        name_of(to->name, sizeof to->name, to->spec);
        p->n_methods++;
    }
    free(numbers);
    return rc;
}

/* ---- the dials ---- */

enum { COLUMNS = 8, DIAL = 96, RADIUS = 38 };

/* An arc of so much of a turn, clockwise from the top; whole where it is a turn or more. */
static void arc(PlotText *t, double x, double y, double r, double turns, const char *class, size_t colour) {
    double angle = turns * TURN;
    if (turns >= 1) {
        plot_put(t, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" class=\"%s s%zu\"/>\n", x, y, r, class, colour);
        return;
    }
    plot_put(t, "<path d=\"M%.2f %.2fA%.1f %.1f 0 %d 1 %.2f %.2f\" class=\"%s s%zu\"/>\n", x, y - r, r, r,
             turns > 0.5, x + r * sin(angle), y - r * cos(angle), class, colour);
}

static size_t colour_of(const int *styles, size_t i) { return (styles ? (size_t)styles[i] : i) % PLOT_COLOURS; }

/* Pairs that were all around in training meet no new angle: they are drawn pale. */
static void dial(PlotText *t, const Reach *p, const int *styles, int pair, double x, double y) {
    char label[64];
    double turns = reach_turns(p, pair);
    size_t rings = p->n_methods < REACH_RINGS ? p->n_methods : REACH_RINGS;
    plot_put(t, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" class=\"grid dial\"/>\n", x, y, RADIUS);
    plot_put(t, "<g opacity=\"%s\">\n", turns >= 1 ? ".35" : "1");
    arc(t, x, y, RADIUS, turns, "axis trained", 0);
    for (size_t i = 0; i < rings; i++)
        arc(t, x, y, RADIUS - 6 - 4 * (double)i, p->methods[i].farthest * p->methods[i].inv_freq[pair] / TURN, "ring",
            colour_of(styles, i));
    plot_put(t, "</g>\n");
    double wavelength = TURN / p->inv_freq[pair];
    snprintf(label, sizeof label, wavelength < 1000 ? "%d: %.3g" : "%d: %.0f", pair, wavelength);
    plot_svg_text(t, "mid", x, y + RADIUS + 15, label, strlen(label), DIAL);
}

int reach_svg(PlotText *out, const Reach *p, const char *title, const int *styles, char *err, size_t errlen) {
    char about[400], rest[100] = "";
    double width = COLUMNS * DIAL + 2 * PLOT_MARGIN, top, rows = (p->n_pairs + COLUMNS - 1) / COLUMNS;
    size_t rings = p->n_methods < REACH_RINGS ? p->n_methods : REACH_RINGS;
    if (rings < p->n_methods) snprintf(rest, sizeof rest, " (%zu more have no ring)", p->n_methods - rings);
    snprintf(about, sizeof about,
             "A dial a pair: its number and wavelength. Outside: how far it turned in training (%lld "
             "positions); pale: all around. Rings: how far the farthest key at %lld turns it%s.",
             (long long)p->trained, (long long)p->context, rest);
    top = plot_svg_header(NULL, title, about, width) + 18 * (double)((rings + 3) / 4) + 10;
    plot_svg_begin(out, width, top + rows * (DIAL + 14) + PLOT_MARGIN, title);
    plot_put(out, "<style>.dial{fill:none}.trained{fill:none;stroke-width:4}"
                  ".ring{fill:none;stroke:currentColor;stroke-width:2.5}</style>\n");
    double y = plot_svg_header(out, title, about, width) + 12;
    for (size_t i = 0; i < rings; i++) {
        double x = PLOT_MARGIN + (double)(i % 4) * (width / 4), at = y + 18 * (double)(i / 4);
        plot_put(out, "<path d=\"M%.1f %.1fh18\" class=\"ring s%zu\"/>\n", x, at - 4, colour_of(styles, i));
        plot_svg_text(out, "", x + 24, at, p->methods[i].name, strlen(p->methods[i].name), width / 4 - 30);
    }
    for (int i = 0; i < p->n_pairs; i++)
        dial(out, p, styles, i, PLOT_MARGIN + DIAL * (i % COLUMNS + 0.5), top + (DIAL + 14) * (i / COLUMNS) + RADIUS);
    plot_put(out, "</svg>\n");
    return plot_done(out, err, errlen);
}
