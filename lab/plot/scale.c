/* lab/plot/scale.c - axes with round numbers, and places for labels that keep apart. */
#include "parts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double HUGE_NUMBER = 1e300; /* beyond it differences are no numbers any more */

int plot_counts(const PlotLines *p, const PlotPoint *at) {
    return isfinite(at->x) && isfinite(at->y) && fabs(at->x) < HUGE_NUMBER && fabs(at->y) < HUGE_NUMBER &&
           (!p->log2_x || at->x > 0);
}

double plot_x(const PlotLines *p, double x) { return p->log2_x ? log2(x) : x; }

static double error_of(const PlotPoint *at) { return at->error > 0 && at->error < HUGE_NUMBER ? at->error : 0; }

static int tick_counts(const PlotLines *p, double x) {
    return isfinite(x) && fabs(x) < HUGE_NUMBER && (!p->log2_x || x > 0);
}

int plot_has_mark(const PlotLines *p) { return p->mark_name && tick_counts(p, p->mark); }

static void widen(PlotSpan *s, const PlotLines *p, double x) {
    if (!tick_counts(p, x)) return;
    s->x_low = fmin(s->x_low, plot_x(p, x));
    s->x_high = fmax(s->x_high, plot_x(p, x));
}

void plot_span(PlotSpan *s, const PlotLines *p) {
    *s = (PlotSpan){INFINITY, -INFINITY, INFINITY, -INFINITY, 0};
    for (size_t i = 0; i < p->n_series; i++)
        for (size_t j = 0; j < p->series[i].n; j++) {
            const PlotPoint *at = &p->series[i].points[j];
            if (!plot_counts(p, at)) continue;
            widen(s, p, at->x);
            s->y_low = fmin(s->y_low, at->y - error_of(at));
            s->y_high = fmax(s->y_high, at->y + error_of(at));
            s->n++;
        }
    for (size_t i = 0; p->ticks && i < p->n_ticks; i++) widen(s, p, p->ticks[i]);
    if (plot_has_mark(p)) widen(s, p, p->mark);
    if (s->x_low > s->x_high) s->x_low = 0, s->x_high = 1;
    if (s->y_low > s->y_high) s->y_low = 0, s->y_high = 1;
    if (p->y_min < p->y_max) s->y_low = p->y_min, s->y_high = p->y_max;
    double size = fmax(fabs(s->x_low), fabs(s->x_high));
    if (s->x_high - s->x_low <= 1e-9 * size || s->x_high - s->x_low < 1e-300) {
        s->x_low -= fmax(0.5, 1e-3 * size);
        s->x_high += fmax(0.5, 1e-3 * size);
    }
}

const PlotPoint *plot_last(const PlotLines *p, size_t series) {
    const PlotSeries *s = &p->series[series];
    for (size_t j = s->n; j-- > 0;)
        if (plot_counts(p, &s->points[j])) return &s->points[j];
    return NULL;
}

int plot_check(const PlotLines *p, char *err, size_t errlen) {
    if (p->n_series > PLOT_MOST_SERIES)
        return base_error(err, errlen, -EINVAL, "a chart has room for %d lines; these are %zu", PLOT_MOST_SERIES,
                          p->n_series);
    if (p->y_min == 0 && p->y_max == 0) return 0;
    if (!(p->y_min < p->y_max) || !isfinite(p->y_min) || !isfinite(p->y_max) || fabs(p->y_min) >= HUGE_NUMBER ||
        fabs(p->y_max) >= HUGE_NUMBER)
        return base_error(err, errlen, -EINVAL, "a chart from %g to %g has no height", p->y_min, p->y_max);
    return 0;
}

/* ---- axes ---- */

/* 1, 2 or 5 times a power of ten: the smallest that is not below v. */
static double round_step(double v) {
    double ten = pow(10, floor(log10(v)));
    static const double steps[] = {1, 2, 5};
    for (int i = 0; i < 3; i++)
        if (v <= steps[i] * ten * (1 + 1e-9)) return steps[i] * ten;
    return 10 * ten;
}

void plot_axis(PlotAxis *a, double low, double high, int ticks, int exact) {
    double size = fmax(fabs(low), fabs(high)), least = size > 0 ? size * 1e-9 : 1e-9;
    if (high - low < least) low -= size > 0 ? 0.05 * size : 0.5, high += size > 0 ? 0.05 * size : 0.5;
    a->step = round_step((high - low) / (ticks > 1 ? ticks : 1));
    a->low = exact ? low : floor(low / a->step + 1e-9) * a->step;
    a->high = exact ? high : ceil(high / a->step - 1e-9) * a->step;
    a->first = ceil(a->low / a->step - 1e-9) * a->step;
    a->n_ticks = (int)floor((a->high - a->first) / a->step + 1e-6) + 1;
    double digits = -floor(log10(a->step) + 1e-9);
    a->decimals = size >= 1e6 || digits > 6 ? -1 : digits > 0 ? (int)digits : 0;
}

double plot_tick(const PlotAxis *a, int i) {
    double v = a->first + i * a->step;
    return fabs(v) < a->step * 1e-6 ? 0 : v; /* no -0, no 1e-17 */
}

int plot_beyond(const PlotAxis *a, double v) {
    double rounding = 1e-9 * (a->high - a->low);
    return v > a->high + rounding ? 1 : v < a->low - rounding ? -1 : 0;
}

void plot_number(char text[32], double v, int decimals) {
    if (decimals < 0 || fabs(v) >= 1e9) snprintf(text, 32, "%.4g", v);
    else snprintf(text, 32, "%.*f", decimals, v);
    if (text[0] == '-' && strspn(text + 1, "0.") == strlen(text + 1)) memmove(text, text + 1, strlen(text));
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The different xs of the points; more than most of them are not listed. */
static size_t different_xs(const PlotLines *p, double *xs, size_t most) {
    size_t n = 0;
    for (size_t i = 0; i < p->n_series; i++)
        for (size_t j = 0; j < p->series[i].n; j++) {
            const PlotPoint *at = &p->series[i].points[j];
            size_t k = 0;
            if (!plot_counts(p, at)) continue;
            while (k < n && xs[k] != at->x) k++;
            if (k == n && n == most) return n + 1;
            if (k == n) xs[n++] = at->x;
        }
    qsort(xs, n, sizeof *xs, by_size);
    return n;
}

double *plot_ticks(const PlotLines *p, const PlotSpan *span, size_t *n) {
    enum { FEW = 12, MOST = 64 };
    double *ticks = calloc(p->n_ticks + MOST, sizeof *ticks);
    *n = 0;
    if (!ticks) return NULL;
    for (size_t i = 0; p->ticks && i < p->n_ticks; i++)
        if (tick_counts(p, p->ticks[i])) ticks[(*n)++] = p->ticks[i];
    if (*n == 0 && (*n = different_xs(p, ticks, FEW)) > FEW) *n = 0;
    if (*n) {
        qsort(ticks, *n, sizeof *ticks, by_size);
        return ticks;
    }
    PlotAxis axis;
    plot_axis(&axis, span->x_low, span->x_high, 6, 1);
    if (p->log2_x) axis.step = fmax(1, floor(axis.step)), axis.first = ceil(span->x_low);
    for (double v = axis.first; v <= span->x_high + 1e-9 * axis.step && *n < MOST; v += axis.step)
        ticks[(*n)++] = p->log2_x ? exp2(v) : fabs(v) < axis.step * 1e-6 ? 0 : v;
    return ticks;
}

/* ---- labels ---- */

/* Labels that would touch become a block, which stands where its members are best off on average; blocks that touch
 * then are one. From top to bottom each block is final but for those that come. */
void plot_spread(double *at, size_t n, double gap, double low, double high) {
    size_t order[PLOT_MOST_SERIES], first[PLOT_MOST_SERIES], blocks = 0;
    double sum[PLOT_MOST_SERIES]; /* of a block: where its first label would be, wished by each member */
    if (n > 1 && gap * (double)(n - 1) > high - low) gap = (high - low) / (double)(n - 1);
    for (size_t i = 0; i < n; i++) { /* insertion: stable */
        size_t j = i;
        for (; j > 0 && at[order[j - 1]] > at[i]; j--) order[j] = order[j - 1];
        order[j] = i;
    }
    for (size_t i = 0; i < n; i++) {
        first[blocks] = i;
        sum[blocks++] = fmin(fmax(at[order[i]], low), high);
        for (; blocks > 1; blocks--) {
            size_t a = first[blocks - 2], b = first[blocks - 1], in_a = b - a, in_b = i + 1 - b;
            double end = sum[blocks - 2] / (double)in_a + gap * (double)in_a;
            if (sum[blocks - 1] / (double)in_b >= end) break;
            sum[blocks - 2] += sum[blocks - 1] - gap * (double)in_a * (double)in_b;
        }
    }
    double from = low; /* and nothing before the edge or the block before */
    for (size_t b = 0; b < blocks; b++) {
        size_t end = b + 1 < blocks ? first[b + 1] : n;
        double place = fmax(sum[b] / (double)(end - first[b]), from);
        for (size_t i = first[b]; i < end; i++) at[order[i]] = place + gap * (double)(i - first[b]);
        from = place + gap * (double)(end - first[b]);
    }
    double to = high; /* the same from the other end */
    for (size_t i = n; i-- > 0; to = at[order[i]] - gap)
        if (at[order[i]] > to) at[order[i]] = to;
}

int plot_free_row(PlotRows *r, double x0, double x1, double gap) {
    int row = 0;
    for (size_t i = 0; i < r->n;) {
        int taken = r->at[i].row == row && x0 < r->at[i].x1 + gap && r->at[i].x0 < x1 + gap;
        i = taken ? 0 : i + 1; /* a row higher, all are looked at again */
        row += taken;
    }
    if (r->n < sizeof r->at / sizeof *r->at) {
        r->at[r->n].x0 = x0, r->at[r->n].x1 = x1;
        r->at[r->n++].row = row;
    }
    return row;
}
