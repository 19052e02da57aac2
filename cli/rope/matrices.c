/* cli/rope/matrices.c - rope matrix, relative, axes: R_N as what it is, and what it makes of positions. */
#include "cli/rope/rope.h"

#include "lab/lesson/forms.h"
#include "rope/axes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- matrix ---- */

static int draw_matrix(const Lesson *x, const double *m, int64_t n) {
    char title[100], about[300];
    snprintf(title, sizeof title, "R_%lld", (long long)n);
    snprintf(about, sizeof about, "%s: a block a pair on the diagonal, zeros elsewhere (eq. 15)", x->of);
    PlotHeat h = {.title = title, .subtitle = about, .n_rows = (size_t)x->d, .n_columns = (size_t)x->d, .values = m,
                  .decimals = x->d <= 10 ? 2 : -1, .diverging = 1};
    return figure_show((Figure){.heat = &h}, x->a);
}

/* The length of exp(B) e_0 where B is symmetric, [[0, 1], [1, 0]], and where it is not, [[0, -1], [1, 0]]. */
static void lengths(double *symmetric, double *antisymmetric) {
    double B[2][4] = {{0, 1, 1, 0}, {0, -1, 1, 0}}, e[4], scratch[12], *to[2] = {symmetric, antisymmetric};
    for (int i = 0; i < 2; i++) {
        form_exponential(e, B[i], 1, 2, scratch);
        *to[i] = hypot(e[0], e[2]);
    }
}

static void print_matrix(const Lesson *x, const double *m, const double *e, int64_t n) {
    int d = x->d;
    double symmetric, antisymmetric;
    if (x->a->show.csv) {
        out_printf("row,column,R,exp,line\n");
        for (int i = 0; i < d * d; i++)
            out_printf("%d,%d,%.9g,%.9g,%s\n", i / d, i % d, m[i], e[i], cited_place("matrix"));
        return;
    }
    lengths(&symmetric, &antisymmetric);
    teach("R_%lld and exp(%lld B), summed as a series, differ by %.1e at most.", (long long)n, (long long)n,
          form_apart(m, e, d * d));
    teach("B has -theta_i and theta_i in the two corners of each pair's block, zeros elsewhere. R_m R_n = "
          "R_(m+n) asks for an exponential; R^T R = 1, that lengths stay, asks B to be antisymmetric, B^T = "
          "-B: exp of [[0, -1], [1, 0]] makes of (1, 0) a vector of length %.6f, exp of [[0, 1], [1, 0]] "
          "one of length %.6f.", antisymmetric, symmetric);
    cite("matrix");
    cite("series");
}

int rope_matrix(Args *a) {
    Lesson x = {0};
    double pos;
    int n, code;
    if (a->n_words < 2) return usage("rope matrix needs a position: ./run rope matrix 3");
    code = lesson_numbers("N", a->words[1], &pos, 1, &n);
    if (code == 0 && (pos != floor(pos) || fabs(pos) > 1e6))
        code = usage("N: %s is no position up to a million", a->words[1]);
    if (code) return code;
    code = lesson_open(&x, a, 2, 8, " --theta  --dims  --pairing  --rope  -c ");
    if (code == 0 && x.d > 128) code = usage("a head of %d makes a matrix that nobody reads; --dims 8", x.d);
    size_t size = code ? 0 : (size_t)x.d * (size_t)x.d;
    double *m = code ? NULL : calloc(6 * size, sizeof *m), *e = m ? m + size : NULL, *B = m ? m + 2 * size : NULL;
    if (code == 0 && !m) code = fail("out of memory");
    if (code == 0) {
        form_matrix(m, &x.rope, x.d, (int64_t)pos, x.config.pairing);
        form_generator(B, &x.rope, x.d, x.config.pairing);
        form_exponential(e, B, pos, x.d, B + size);
        for (size_t i = 0; i < size; i++) /* yarn's magnitude is no rotation */
            if ((int)(i % (size_t)x.d) < x.rope.rotary_dim) e[i] *= x.rope.scale;
        code = draw_matrix(&x, m, (int64_t)pos);
    }
    if (code == 0) print_matrix(&x, m, e, (int64_t)pos);
    free(m);
    lesson_close(&x);
    return code;
}

/* ---- relative ---- */

typedef struct { double q[2 * ROPE_MAX_PAIRS], k[2 * ROPE_MAX_PAIRS]; } Vectors;

/* --q and --k; else vectors that are not alike in any pair. */
static int take_vectors(const Lesson *x, Vectors *v) {
    const LessonArgs *l = &x->a->lesson;
    int n = x->d, m = x->d, code = 0;
    for (int i = 0; i < x->d; i++) v->q[i] = sin(i + 1.0), v->k[i] = cos(0.7 * i);
    if (l->q) code = lesson_numbers("--q", l->q, v->q, 2 * ROPE_MAX_PAIRS, &n);
    if (code == 0 && l->k) code = lesson_numbers("--k", l->k, v->k, 2 * ROPE_MAX_PAIRS, &m);
    if (code == 0 && (n != x->d || m != x->d)) code = usage("--q and --k: %d numbers each, as many as --dims", x->d);
    return code;
}

static void print_vector(const char *name, const double *v, int n) {
    out_printf("%s = (", name);
    for (int i = 0; i < n && i < 8; i++) out_printf("%s%.4g", i ? ", " : "", v[i]);
    out_printf(n > 8 ? ", ..)\n" : ")\n");
}

/* Scores of q at m and k at j for all m, j < n, and the largest difference along a diagonal; turned 0: without
 * rotation. */
static double grid(const Lesson *x, const Vectors *v, size_t n, int turned, double *to) {
    double q[2 * ROPE_MAX_PAIRS], k[2 * ROPE_MAX_PAIRS], c[ROPE_MAX_PAIRS], s[ROPE_MAX_PAIRS], off = 0;
    size_t d = (size_t)x->d;
    for (size_t m = 0; m < n; m++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t i = 0; i < d; i++) q[i] = v->q[i], k[i] = v->k[i];
            rope_row64(&x->rope, (int64_t)m, c, s);
            if (turned) rope_rotate64(q, c, s, x->rope.rotary_dim, x->config.pairing);
            rope_row64(&x->rope, (int64_t)j, c, s);
            if (turned) rope_rotate64(k, c, s, x->rope.rotary_dim, x->config.pairing);
            for (size_t i = 0; i < d; i++) sum += q[i] * k[i];
            to[m * n + j] = sum;
        }
    for (size_t m = 1; m < n; m++)
        for (size_t j = 1; j < n; j++) off = fmax(off, fabs(to[m * n + j] - to[(m - 1) * n + j - 1]));
    return off;
}

int rope_relatively(Args *a) {
    Lesson x;
    Vectors v;
    int code = lesson_open(&x, a, 1, 8, " --theta  --dims  --positions  --pairing  --rope  --q  --k  -c ");
    if (code == 0) code = take_vectors(&x, &v);
    size_t n = code ? 0 : lesson_positions(&x, 12);
    if (code == 0 && n > 200) code = usage("--positions: at most 200 here");
    double *scores = code ? NULL : calloc(n, n * sizeof *scores), *plain = code ? NULL : calloc(n, n * sizeof *plain);
    if (code == 0 && (!scores || !plain)) code = fail("out of memory");
    if (code == 0) {
        char about[300];
        double off = grid(&x, &v, n, 1, scores), most = 0;
        grid(&x, &v, n, 0, plain);
        for (size_t i = 0; i < n * n; i++) most = fmax(most, fabs(scores[i]));
        snprintf(about, sizeof about, "%s: (R_m q) . (R_n k), m down, n across", x.of);
        PlotHeat h = {.title = "Scores by both positions", .subtitle = about, .x_name = "key's position n",
                      .y_name = "query's position m", .n_rows = n, .n_columns = n, .values = scores, .low = -most,
                      .high = most, .decimals = n <= 12 ? 1 : -1, .diverging = 1};
        code = figure_show((Figure){.heat = &h}, a);
        if (code == 0 && a->show.csv) {
            out_printf("m,n,score,without_rope,line\n");
            for (size_t i = 0; i < n * n; i++)
                out_printf("%zu,%zu,%.9g,%.9g,%s\n", i / n, i % n, scores[i], plain[i], cited_place("rotate"));
        } else if (code == 0) {
            out_printf("\n");
            print_vector("q", v.q, x.d);
            print_vector("k", v.k, x.d);
            teach("Along a diagonal, where n - m stays, the score stays: it differs by %.1e at most, which is "
                  "rounding (eq. 16: (R_m q) . (R_n k) = q . R_(n-m) k). Across the diagonal, as (2, 5) and (5, 2), "
                  "n - m changes its sign: another score, unless q = k. Without the rotation it is %.4f everywhere. "
                  "--q and --k take others.",
                  off, plain[0]);
            cite("rotate");
        }
    }
    free(scores);
    free(plain);
    lesson_close(&x);
    return code;
}

/* ---- axes ---- */

/* The tokens' places in a plane: columns are the last coordinate, rows the one before. */
static int draw_axes(const Lesson *x, const AxesKind *k, const AxesLayout *layout, const double *pos, int n_axes) {
    static const char *const names[] = {"text", "image", "video"};
    PlotPoint *points = calloc(layout->n_tokens, sizeof *points);
    PlotSeries series[AXES_SEGMENTS];
    char labels[AXES_SEGMENTS][40], about[300], xs[60], ys[60];
    int row = n_axes > 2 && strcmp(k->axes[0], "frame") == 0 ? 1 : 0, code = 0;
    size_t shown = layout->n < PLOT_MOST_SERIES ? layout->n : PLOT_MOST_SERIES;
    if (!points) return fail("out of memory");
    for (size_t i = 0, t = 0; i < shown; i++) {
        size_t n = (size_t)(layout->at[i].t * layout->at[i].h * layout->at[i].w), first = t;
        for (size_t j = 0; j < n; j++, t++)
            points[t] =
                (PlotPoint){pos[t * (size_t)n_axes + (size_t)row + 1], -pos[t * (size_t)n_axes + (size_t)row], 0};
        snprintf(labels[i], sizeof labels[i], "%s %zu", names[layout->at[i].medium], i + 1);
        series[i] = (PlotSeries){labels[i], points + first, n, 0};
    }
    snprintf(about, sizeof about, "%s: %s (%s)", k->name, k->about, k->source);
    snprintf(xs, sizeof xs, "%s", k->axes[row + 1]);
    snprintf(ys, sizeof ys, "%s, downwards", k->axes[row]);
    PlotLines p = {.title = "Where tokens stand", .subtitle = about, .x_name = xs, .y_name = ys, .series = series,
                   .n_series = shown};
    code = figure_show((Figure){.lines = &p}, x->a);
    free(points);
    return code;
}

static void print_places(const Lesson *x, const AxesKind *k, const AxesLayout *layout, const double *pos, int n_axes,
                         double next) {
    int csv = x->a->show.csv;
    size_t t = 0, shown = csv ? layout->n_tokens : 60;
    static const char *const names[] = {"text", "image", "video"};
    out_printf(csv ? "token,medium" : "\n%5s  %-6s", "token", "");
    for (int a = 0; a < n_axes; a++) out_printf(csv ? ",%s" : "%10s", k->axes[a]);
    out_printf(csv ? ",line\n" : "\n");
    for (size_t i = 0; i < layout->n; i++)
        for (int64_t j = 0; j < layout->at[i].t * layout->at[i].h * layout->at[i].w && t < shown; j++, t++) {
            out_printf(csv ? "%zu,%s" : "%5zu  %-6s", t, names[layout->at[i].medium]);
            for (int a = 0; a < n_axes; a++) out_printf(csv ? ",%.9g" : "%10.4g", pos[t * (size_t)n_axes + (size_t)a]);
            if (csv) out_printf(",%s", cited_place("place"));
            out_printf("\n");
        }
    if (csv) return;
    if (t < layout->n_tokens) out_printf("  ..   %zu more (--csv has all)\n", layout->n_tokens - t);
    out_printf("\nthe next token would stand at %g: %+g beside its place in the row of tokens\n", next,
               next - (double)layout->n_tokens - k->first);
    out_printf("pairs turn by");
    for (int a = 0; a < n_axes; a++) {
        int count = 0;
        for (int i = 0; i < x->rope.rotary_dim / 2; i++) count += k->axis(i, x->rope.rotary_dim / 2, n_axes) == a;
        out_printf("%s %s: %d", a ? "," : "", k->axes[a], count);
    }
    out_printf("\n");
}

/* exp(x B1 + y B2) against exp(x B1) exp(y B2), for two generators [4, 4]. */
static double apart(const double *B1, const double *B2, double p, double q) {
    double sum[16], whole[16], a[16], b[16], product[16], scratch[48];
    for (int i = 0; i < 16; i++) sum[i] = p * B1[i] + q * B2[i];
    form_exponential(whole, sum, 1, 4, scratch);
    form_exponential(a, B1, p, 4, scratch);
    form_exponential(b, B2, q, 4, scratch);
    form_product(product, a, b, 4);
    return form_apart(whole, product, 16);
}

static void print_commuting(void) {
    static const double first[16] = {0, -1, 0, 0, 1, 0}, second[16] = {[11] = -1, [14] = 1},
                        crossed[16] = {[6] = -1, [9] = 1};
    teach("Two coordinates turn one vector by exp(x B1 + y B2). Where B1 and B2 turn different pairs they "
          "commute, and it is exp(x B1) exp(y B2): off by %.1e at (2, 3). Were B2 to turn entries 1 and 2, "
          "one of which B1 turns as well, it would be off by %.2f: so each pair has one coordinate.",
          apart(first, second, 2, 3), apart(first, crossed, 2, 3));
    cite("place");
    cite("axis");
}

int rope_axes(Args *a) {
    Lesson x = {0};
    AxesLayout layout;
    char err[300];
    double next;
    if (a->n_words < 2) return usage("rope axes needs a layout: ./run rope axes \"text:3 image:2x3 text:2\"");
    if (axes_parse(&layout, a->words[1], err, sizeof err)) return usage("axes: %s", err);
    const AxesKind *k = axes_kind(a->lesson.kind ? a->lesson.kind : "mrope");
    if (!k) return usage("--kind: there is no \"%s\"; 2d, tie, tie-real, tie-v2, mrope and mrope-interleaved are known",
                         a->lesson.kind);
    int code = lesson_open(&x, a, 2, 128, " --theta  --dims  --kind  --rope  -c "), n_axes = axes_count(k, &layout);
    double *pos = code ? NULL : calloc(layout.n_tokens * (size_t)n_axes, sizeof *pos);
    if (code == 0 && !pos) code = fail("out of memory");
    if (code == 0 && axes_place(pos, &next, k, &layout, err, sizeof err)) code = usage("--kind: %s", err);
    if (code == 0) code = draw_axes(&x, k, &layout, pos, n_axes);
    if (code == 0) print_places(&x, k, &layout, pos, n_axes, next);
    if (code == 0 && !a->show.csv) print_commuting();
    free(pos);
    lesson_close(&x);
    return code;
}
