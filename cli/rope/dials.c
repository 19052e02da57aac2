/* cli/rope/dials.c - rope table, clock, rotate: angles, and vectors that turn by them. */
#include "cli/rope/rope.h"

#include "lab/lesson/forms.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 64 }; /* dials of a picture */

/* ---- table ---- */

static int is_narrow(void) { return line_room() < 84; }

static void print_row(const Lesson *x, size_t pos) {
    const char *form = x->a->show.csv ? "%zu,%d,%.9g,%.9g,%.9g,%.9g,%.9g,%s\n"
                       : is_narrow() ? "%8zu%5d%12.6g%13.6g%12.6f%14.10f%14.10f\n"
                                     : "%8zu%6d%14.6g%14.6g%14.6f%14.10f%14.10f\n";
    double c[ROPE_MAX_PAIRS], s[ROPE_MAX_PAIRS];
    rope_row64(&x->rope, (int64_t)pos, c, s);
    for (int i = 0; i < x->rope.rotary_dim / 2; i++) {
        double angle = x->rope.angle ? x->rope.angle(&x->rope, (int64_t)pos, i) : (double)pos * x->rope.inv_freq[i];
        out_printf(form, pos, i, x->rope.inv_freq[i], TURN / x->rope.inv_freq[i], angle, c[i], s[i],
                   cited_place("angle"));
    }
}

/* Pairs down, positions across: how far round each is. */
static int draw_table(const Lesson *x, size_t n) {
    size_t pairs = (size_t)x->rope.rotary_dim / 2;
    double *turns = calloc(pairs * n, sizeof *turns);
    char(*names)[24] = calloc(pairs + n, sizeof *names), about[300];
    const char **shown = calloc(pairs + n, sizeof *shown);
    int code = turns && names && shown ? 0 : fail("out of memory");
    for (size_t i = 0; code == 0 && i < pairs + n; i++) {
        snprintf(names[i], sizeof *names, i < pairs ? "pair %zu" : "%zu", i < pairs ? i : i - pairs);
        shown[i] = names[i];
    }
    for (size_t i = 0; code == 0 && i < pairs; i++)
        for (size_t m = 0; m < n; m++) turns[i * n + m] = cos((double)m * x->rope.inv_freq[i]);
    snprintf(about, sizeof about, "%s: cos of every pair's angle, position by position", x->of);
    PlotHeat h = {.title = "Angles",
                  .subtitle = about,
                  .x_name = "position",
                  .rows = shown,
                  .n_rows = pairs,
                  .columns = shown + pairs,
                  .n_columns = n,
                  .values = turns,
                  .decimals = n <= 8 ? 2 : -1,
                  .diverging = 1};
    if (code == 0) code = figure_show((Figure){.heat = &h}, x->a);
    free(turns);
    free(names);
    free(shown);
    return code;
}

int rope_table(Args *a) {
    Lesson x;
    int code = lesson_open(&x, a, 1, 8, " --theta  --dims  --positions  --rope  -c ");
    size_t n = code ? 0 : lesson_positions(&x, 5);
    if (code == 0) code = draw_table(&x, n);
    if (code == 0 && a->show.csv) out_printf("position,pair,frequency,wavelength,angle,cos,sin,line\n");
    else if (code == 0)
        out_printf(is_narrow() ? "\n%8s%5s%12s%13s%12s%14s%14s\n" : "\n%8s%6s%14s%14s%14s%14s%14s\n", "position",
                   "pair", "frequency", "wavelength", "angle", "cos", "sin");
    for (size_t pos = 0; pos < n; pos++) print_row(&x, pos);
    if (code == 0 && !a->show.csv) {
        teach("frequency theta_i = theta^(-2i/d), radians a position (eq. 15); angle = position times "
              "frequency; wavelength: positions for a whole turn.");
        cite("frequency");
        cite("angle");
    }
    lesson_close(&x);
    return code;
}

/* ---- clock ---- */

static int draw_clock(const Lesson *x, size_t n) {
    size_t pairs = (size_t)x->rope.rotary_dim / 2, step = (pairs * n + SHOWN - 1) / SHOWN, shown_pairs = 0;
    PlotHand *hands = calloc(pairs * n, sizeof *hands);
    char(*names)[40] = calloc(pairs + n, sizeof *names), about[300];
    const char **rows = calloc(pairs + n, sizeof *rows), **columns = rows ? rows + pairs : NULL;
    int code = hands && names && rows ? 0 : fail("out of memory");
    for (size_t i = 0; code == 0 && i < pairs; i += step, shown_pairs++) {
        snprintf(names[shown_pairs], sizeof *names, "pair %zu", i);
        rows[shown_pairs] = names[shown_pairs];
        for (size_t m = 0; m < n; m++) {
            double angle = (double)m * x->rope.inv_freq[i];
            hands[shown_pairs * n + m] = (PlotHand){.angle = angle, .length = 1, .from = m ? 0 : NAN};
        }
    }
    for (size_t m = 0; code == 0 && m < n; m++) {
        snprintf(names[pairs + m], sizeof *names, "%zu", m);
        columns[m] = names[pairs + m];
    }
    snprintf(about, sizeof about, "%s: a row a pair, a column a position%s", x->of,
             step > 1 ? "; some of the pairs, fast ones first" : "");
    PlotDials d = {.title = "Every pair is a hand of its own clock",
                   .subtitle = about,
                   .rows = rows,
                   .n_rows = shown_pairs,
                   .columns = columns,
                   .n_columns = n,
                   .hands = hands,
                   .n_hands = 1};
    if (code == 0) code = figure_show((Figure){.dials = &d}, x->a);
    free(hands);
    free(names);
    free(rows);
    return code;
}

int rope_clock(Args *a) {
    Lesson x;
    int code = lesson_open(&x, a, 1, 8, " --theta  --dims  --positions  --rope  -c ");
    size_t n = code ? 0 : lesson_positions(&x, 6);
    if (code == 0) code = draw_clock(&x, n);
    if (code == 0 && a->show.csv) {
        out_printf("position,pair,angle,turns,line\n");
        for (size_t m = 0; m < n; m++)
            for (int i = 0; i < x.rope.rotary_dim / 2; i++)
                out_printf("%zu,%d,%.9g,%.9g,%s\n", m, i, (double)m * x.rope.inv_freq[i],
                           (double)m * x.rope.inv_freq[i] / TURN, cited_place("angle"));
    } else if (code == 0) {
        teach("The first hand turns a radian a position, the last takes %.0f positions for a turn. Together "
              "they say where a token stands, as the hands of a clock say the time; two tokens are compared by "
              "how far their hands are apart.", TURN / x.rope.inv_freq[x.rope.rotary_dim / 2 - 1]);
        cite("angle");
    }
    lesson_close(&x);
    return code;
}

/* ---- rotate ---- */

/* The vector and what it becomes in each form, [4, d]: before, matrix, element by element, complex. */
static int forms(const Lesson *x, const double *q, int64_t pos, double *v) {
    int d = x->d;
    double c[ROPE_MAX_PAIRS], s[ROPE_MAX_PAIRS], *m = calloc((size_t)d * (size_t)d, sizeof *m);
    if (!m) return fail("out of memory");
    memcpy(v, q, (size_t)d * sizeof *v);
    form_matrix(m, &x->rope, d, pos, x->config.pairing);
    form_apply(v + d, m, q, d);
    memcpy(v + 2 * d, q, (size_t)d * sizeof *v);
    rope_row64(&x->rope, pos, c, s);
    rope_rotate64(v + 2 * d, c, s, x->rope.rotary_dim, x->config.pairing);
    form_complex(v + 3 * d, q, &x->rope, d, pos, x->config.pairing);
    free(m);
    return 0;
}

/* A pair of a vector's entries, as the hand of a dial. */
static PlotHand hand_of(const Lesson *x, const double *v, int pair) {
    int half = x->rope.rotary_dim / 2, halves = x->config.pairing == ROPE_HALF;
    int a = halves ? pair : 2 * pair, b = halves ? pair + half : a + 1;
    return (PlotHand){.angle = atan2(v[b], v[a]), .length = hypot(v[a], v[b]), .from = NAN};
}

static int draw_rotation(const Lesson *x, const double *v, int64_t pos) {
    int pairs = x->rope.rotary_dim / 2 < SHOWN ? x->rope.rotary_dim / 2 : SHOWN;
    PlotHand *hands = calloc(2 * (size_t)pairs, sizeof *hands);
    char(*names)[24] = calloc((size_t)pairs, sizeof *names), about[300];
    const char **columns = calloc((size_t)pairs, sizeof *columns);
    static const char *const legend[] = {"before", "after"};
    double longest = 1e-30;
    int code = hands && names && columns ? 0 : fail("out of memory");
    for (int i = 0; i < pairs; i++) longest = fmax(longest, hand_of(x, v, i).length);
    for (int i = 0; code == 0 && i < pairs; i++) {
        PlotHand before = hand_of(x, v, i);
        before.length /= longest;
        hands[2 * i] = before;
        hands[2 * i + 1] = (PlotHand){.angle = before.angle + (double)pos * x->rope.inv_freq[i],
                                      .length = before.length, .from = before.angle};
        snprintf(names[i], sizeof *names, "pair %d", i);
        columns[i] = names[i];
    }
    snprintf(about, sizeof about, "%s, position %lld", x->of, (long long)pos);
    PlotDials p = {.title = "A vector turns, pair by pair",
                   .subtitle = about,
                   .columns = columns,
                   .n_columns = (size_t)pairs,
                   .n_rows = 1,
                   .hands = hands,
                   .n_hands = 2,
                   .names = legend};
    if (code == 0) code = figure_show((Figure){.dials = &p}, x->a);
    free(hands);
    free(names);
    free(columns);
    return code;
}

static void print_rotation(const Lesson *x, const double *v) {
    int d = x->d, csv = x->a->show.csv;
    double before = 0, after = 0;
    out_printf(csv ? "entry,before,matrix,elements,complex,line\n" : "\n%5s%14s%14s%14s%14s\n", "entry", "before",
               "R q", "eq. 34", "complex");
    for (int i = 0; i < d; i++) {
        before += v[i] * v[i], after += v[2 * d + i] * v[2 * d + i];
        out_printf(csv ? "%d,%.9g,%.9g,%.9g,%.9g,%s\n" : "%5d%14.8f%14.8f%14.8f%14.8f\n", i, v[i], v[d + i],
                   v[2 * d + i], v[3 * d + i], cited_place("rotate"));
    }
    if (csv) return;
    teach("the three forms differ by %.1e at most; the length was %.8f and is %.8f",
          fmax(form_apart(v + d, v + 2 * d, d), form_apart(v + 2 * d, v + 3 * d, d)), sqrt(before), sqrt(after));
    teach("As a matrix (eq. 15) it has d squared entries, nearly all zero; element by element (eq. 34) it "
          "is two products an entry; as complex numbers (eq. 12) each pair is multiplied by e^(i m theta).");
    cite("matrix");
    cite("rotate");
    cite("complex");
}

int rope_turn(Args *a) {
    Lesson x = {0};
    double q[2 * ROPE_MAX_PAIRS], pos;
    int n, m, code;
    if (a->n_words < 3) return usage("rope rotate needs a vector and a position: ./run rope rotate 1,0,1,0 3");
    code = lesson_numbers("Q", a->words[1], q, 2 * ROPE_MAX_PAIRS, &n);
    if (code == 0) code = lesson_numbers("POS", a->words[2], &pos, 1, &m);
    if (code == 0 && (pos != floor(pos) || fabs(pos) > 1e15)) code = usage("POS: %s is no position", a->words[2]);
    if (code == 0 && n % 2) code = usage("Q: %d is not an even number of entries", n);
    if (code) return code;
    code = lesson_open(&x, a, 3, n, " --theta  --pairing  --rope  -c ");
    if (code == 0 && n != x.d) code = usage("Q has %d numbers, and a head has %d", n, x.d);
    double *v = code == 0 ? calloc(4 * (size_t)x.d, sizeof *v) : NULL;
    if (code == 0) code = v ? forms(&x, q, (int64_t)pos, v) : fail("out of memory");
    if (code == 0) code = draw_rotation(&x, v, (int64_t)pos);
    if (code == 0) print_rotation(&x, v);
    free(v);
    lesson_close(&x);
    return code;
}
