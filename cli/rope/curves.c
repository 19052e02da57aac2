/* cli/rope/curves.c - rope decay and wavelengths: what a distance does to a score, how far each pair gets. */
#include "cli/rope/rope.h"

#include "lab/lesson/decay.h"
#include "model/options.h"
#include "rope/spec.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { THETAS = 8, METHODS = 12 };

/* ---- decay ---- */

typedef struct {
    Lesson *x;
    double thetas[THETAS], q[2 * ROPE_MAX_PAIRS], k[2 * ROPE_MAX_PAIRS];
    int n_thetas, own; /* own: q, k are given */
    size_t n;          /* distances 0 .. n - 1 */
    PlotPoint *bound, *score; /* [n_thetas, n] */
    size_t rises[THETAS]; /* steps of each curve that is shown that go up: own ? score : bound */
} Decay;

static int take_vectors(Decay *d) {
    const LessonArgs *l = &d->x->a->lesson;
    int n = 0, m = 0, code = 0;
    if (!l->q && !l->k) return 0;
    if (!l->q || !l->k) return usage("--q and --k come together");
    if ((code = lesson_numbers("--q", l->q, d->q, 2 * ROPE_MAX_PAIRS, &n))) return code;
    if ((code = lesson_numbers("--k", l->k, d->k, 2 * ROPE_MAX_PAIRS, &m))) return code;
    if (n != d->x->rope.rotary_dim || m != n)
        return usage("--q and --k: %d and %d numbers, and %d entries turn", n, m, d->x->rope.rotary_dim);
    d->own = 1;
    return 0;
}

static int measure_decay(Decay *d) {
    d->bound = calloc((size_t)d->n_thetas * d->n, sizeof *d->bound);
    d->score = calloc((size_t)d->n_thetas * d->n, sizeof *d->score);
    if (!d->bound || !d->score) return fail("out of memory");
    for (int k = 0; k < d->n_thetas; k++) {
        RopeConfig c = d->x->config;
        Rope r;
        c.theta = d->thetas[k];
        rope_init(&r, &c, (int64_t)d->n);
        for (size_t m = 0; m < d->n; m++) {
            size_t at = (size_t)k * d->n + m;
            d->bound[at] = (PlotPoint){(double)m, decay_bound(&r, (double)m), 0};
            d->score[at] =
                (PlotPoint){(double)m, decay_score(&r, d->own ? d->q : NULL, d->own ? d->k : NULL, (double)m), 0};
            const PlotPoint *y = d->own ? d->score : d->bound;
            if (m > 0) d->rises[k] += y[at].y > y[at - 1].y;
        }
    }
    return 0;
}

static int draw_decay(const Decay *d) {
    PlotSeries series[THETAS];
    char names[THETAS][40], about[300];
    for (int k = 0; k < d->n_thetas; k++) {
        snprintf(names[k], sizeof names[k], "theta %g", d->thetas[k]);
        series[k] = (PlotSeries){names[k], (d->own ? d->score : d->bound) + (size_t)k * d->n, d->n, 0};
    }
    snprintf(about, sizeof about, d->own ? "%d entries: q . R k of the q and k that were given"
                                         : "%d entries: the mean of |S_j|, a factor of the bound (section 3.4.3)",
             d->x->rope.rotary_dim);
    PlotLines p = {.title = d->own ? "A score by distance" : "What bounds a score, by distance",
                   .subtitle = about,
                   .x_name = "distance, positions",
                   .y_name = d->own ? "score" : "mean of |S_j|",
                   .series = series,
                   .n_series = (size_t)d->n_thetas};
    return figure_show((Figure){.lines = &p}, d->x->a);
}

static void print_decay(const Decay *d) {
    if (d->x->a->show.csv) { /* one theta: the three columns that everyone expects; else the theta in front */
        out_printf(d->n_thetas > 1 ? "theta,distance,bound,score\n" : "distance,bound,score\n");
        for (size_t i = 0; i < (size_t)d->n_thetas * d->n; i++) {
            if (d->n_thetas > 1) out_printf("%.9g,", d->thetas[i / d->n]);
            out_printf("%zu,%.12f,%.9g\n", i % d->n, d->bound[i].y, d->score[i].y);
        }
        return;
    }
    const PlotPoint *y = d->own ? d->score : d->bound;
    out_printf("\n");
    for (int k = 0; k < d->n_thetas; k++)
        out_printf("theta %-10g from %.4f to %.4f; of %zu steps %zu rise\n", d->thetas[k],
                   y[(size_t)k * d->n].y, y[(size_t)(k + 1) * d->n - 1].y, d->n - 1, d->rises[k]);
    if (d->own)
        teach("One query and one key may do as they like; what falls with the distance, on the whole, is the bound of "
              "every score (section 3.4.3): ./run rope decay without --q and --k draws it.");
    else
        teach("A score is at most max |h_(j+1) - h_j| times the sum of |S_j|: this mean (the paper's figure 2) times "
              "the number of pairs. It falls on the whole, and ripples. A larger theta falls more slowly: its slow "
              "pairs hardly turn over these distances. So near tokens can count for more than far ones, without "
              "anybody having told them to.");
    if (!d->own) cite("bound");
    cite("score at");
}

int rope_decay(Args *a) {
    Lesson x;
    Decay d = {.x = &x, .thetas = {100, 10000, 1000000}, .n_thetas = 3};
    const char *asked = a->lesson.thetas;
    int code = 0;
    if (asked) code = lesson_numbers("--theta", asked, d.thetas, THETAS, &d.n_thetas);
    a->lesson.thetas = NULL;
    for (int i = 0; code == 0 && i < d.n_thetas; i++)
        if (d.thetas[i] <= 0) code = usage("--theta: %g is not above 0", d.thetas[i]);
    if (code) return code;
    code = lesson_open(&x, a, 1, 128, " --dims  --positions  --rope  --q  --k  -c ");
    if (code == 0 && a->model && asked) code = usage("--theta is for frequencies without a model");
    if (code == 0 && a->model) d.thetas[0] = x.config.theta, d.n_thetas = 1;
    d.n = code ? 0 : lesson_positions(&x, 257);
    if (code == 0) code = take_vectors(&d);
    if (code == 0) code = measure_decay(&d);
    if (code == 0) code = draw_decay(&d);
    if (code == 0) print_decay(&d);
    free(d.bound);
    free(d.score);
    lesson_close(&x);
    return code;
}

/* ---- wavelengths ---- */

typedef struct {
    char name[60];
    PlotPoint points[ROPE_MAX_PAIRS];
} Waves;

/* The frequencies of one spec, as points of pair and wavelength. */
static int take_waves(const Lesson *x, const char *spec, Waves *w) {
    RopeNumbers *numbers = calloc(1, sizeof *numbers);
    RopeConfig c = x->config;
    Model view;
    Rope r;
    char err[400];
    int64_t n = x->a->context.n ? x->a->context.n : 4 * (x->trained ? x->trained : 256);
    if (!numbers) return fail("out of memory");
    int rc = 0;
    if (x->a->model) {
        rc = model_stretch(&view, numbers, &x->e.model, &(RopeOverride){.spec = spec, .n_ctx = n}, err, sizeof err);
        c = view.config.rope;
    } else {
        *numbers = *rope_numbers(&x->config);
        numbers->n_ctx = n;
        c.numbers = numbers;
        rc = rope_spec_apply(&c, spec, err, sizeof err);
        if (rc == 0) rc = rope_check(&c, err, sizeof err);
    }
    if (rc == 0) rope_init(&r, &c, n);
    snprintf(w->name, sizeof w->name, "%.59s", spec);
    for (int i = 0; rc == 0 && i < r.rotary_dim / 2; i++)
        w->points[i] = (PlotPoint){i, r.inv_freq[i] > 0 ? log10(TURN / r.inv_freq[i]) : NAN, 0};
    free(numbers);
    return rc == -ENOMEM ? fail("--rope %s: %s", spec, err) : rc ? usage("--rope %s: %s", spec, err) : 0;
}

static int draw_waves(const Lesson *x, const Waves *w, int n) {
    PlotSeries series[METHODS];
    char about[400];
    size_t pairs = (size_t)x->rope.rotary_dim / 2;
    double trained = log10((double)x->trained);
    PlotPoint line[2] = {{0, trained, 0}, {(double)pairs - 1, trained, 0}};
    for (int i = 0; i < n; i++) series[i] = (PlotSeries){w[i].name, w[i].points, pairs, 0};
    plot_styles(series, (size_t)n);
    series[n] = (PlotSeries){"trained context", line, 2, 0};
    series[n].style = 7;
    snprintf(about, sizeof about, "%s: positions for a whole turn, as a power of ten%s", x->of,
             x->trained ? "; below the line a pair has been all around in training" : "");
    PlotLines p = {.title = "Wavelengths", .subtitle = about, .x_name = "pair", .y_name = "log10 of the wavelength",
                   .series = series, .n_series = (size_t)n + (x->trained > 0)};
    return figure_show((Figure){.lines = &p}, x->a);
}

/* turns: how often a pair has been around in training, where a model says how long that was. */
static void print_waves(const Lesson *x, const Waves *w) {
    for (int k = 0; k < x->rope.rotary_dim / 2; k++) {
        double wave = pow(10, w->points[k].y);
        csv_field(w->name);
        out_printf(",%d,%.9g,", k, wave);
        if (x->trained) out_printf("%.9g", (double)x->trained / wave);
        out_printf(",%s\n", cited_place("frequency"));
    }
}

int rope_wavelengths(Args *a) {
    Lesson x;
    const char *specs = a->rope.method ? a->rope.method : "none";
    char spec[ROPE_SPEC_MOST];
    Waves *w = NULL;
    int n = 0, more = 1;
    a->rope.method = NULL; /* a list, and not the model's own setting */
    int code = lesson_open(&x, a, 1, 128, " --theta  --dims  --rope  -c ");
    if (code == 0 && !(w = calloc(METHODS, sizeof *w))) code = fail("out of memory");
    while (code == 0 && (more = rope_spec_next(&specs, spec, sizeof spec)) > 0)
        if (n == METHODS - 1) code = usage("--rope: at most %d methods", METHODS - 1);
        else code = take_waves(&x, spec, &w[n++]);
    if (code == 0 && more < 0) code = usage("--rope: a spec is too long");
    if (code == 0 && n == 0) code = usage("--rope: no method is named");
    if (code == 0) code = draw_waves(&x, w, n);
    if (code == 0 && a->show.csv) {
        out_printf("rope,pair,wavelength,turns,line\n");
        for (int i = 0; i < n; i++) print_waves(&x, &w[i]);
    } else if (code == 0) {
        teach("A pair whose wavelength is below the context that was trained on has met every angle; one above "
              "it has not, and a longer text shows it new ones. What to do about it: ./run plan MODEL -c N.");
        cite("frequency");
    }
    free(w);
    lesson_close(&x);
    return code;
}
