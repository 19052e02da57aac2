/* lab/plot/cells.c - what heat maps and contact sheets share: the colours of a scale, and means of many cells.
 *
 * The colours run evenly from pale to deep: lightness falls in a straight line in Oklab (B. Ottosson, "A perceptual
 * color space for image processing", 2020), so that equal steps of the value look equal, in grey, too. Blue and red
 * are told apart with any kind of colour vision. */
#include "parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double srgb(double linear) {
    double v = linear < 0 ? 0 : linear > 1 ? 1 : linear;
    return v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055;
}

static void oklab(double lightness, double chroma, double hue, int rgb[3]) {
    double a = chroma * cos(hue), b = chroma * sin(hue);
    double l = pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
    double m = pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
    double s = pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
    double linear[3] = {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
                        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
                        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
    for (int i = 0; i < 3; i++) rgb[i] = (int)(255 * srgb(linear[i]) + 0.5);
}

void plot_ramp(double v, int rgb[3]) {
    double at = v < 0 ? 0 : v > 1 ? 1 : v;
    oklab(0.97 - 0.67 * at, 0.012 + 0.125 * sin(2.26 * at), 4.42 + 0.2 * at, rgb);
}

void plot_ramp_signed(double v, int rgb[3]) {
    double at = fabs(v) > 1 ? 1 : fabs(v);
    if (v < 0) oklab(0.97 - 0.60 * at, 0.185 * sin(2.2 * at), 0.62 - 0.10 * at, rgb);
    else oklab(0.97 - 0.60 * at, 0.150 * sin(2.2 * at), 4.42 + 0.2 * at, rgb);
}

double plot_part(const PlotCells *c, double v) {
    if (!isfinite(v)) return NAN;
    double part = c->diverging ? v / c->high : (v - c->low) / (c->high - c->low);
    double most = fabs(part) > 1 ? 1 : fabs(part);
    if (!c->diverging && part < 0) return 0;
    return copysign(c->root ? sqrt(most) : most, part);
}

void plot_colour(const PlotCells *c, double part, int rgb[3]) {
    if (c->diverging) plot_ramp_signed(part, rgb);
    else plot_ramp(part, rgb);
}

static double mean(const PlotCells *c, size_t row, size_t column, size_t down, size_t across) {
    double sum = 0;
    size_t n = 0;
    for (size_t i = row; i < row + down && i < c->rows; i++)
        for (size_t j = column; j < column + across && j < c->columns; j++)
            if (isfinite(c->values[i * c->columns + j])) sum += c->values[i * c->columns + j], n++;
    return n ? sum / (double)n : NAN;
}

int plot_bin(PlotCells *out, const PlotCells *in, size_t down, size_t across) {
    *out = *in;
    out->rows = (in->rows + down - 1) / down;
    out->columns = (in->columns + across - 1) / across;
    double *values = calloc(out->rows * out->columns, sizeof *values);
    out->values = values;
    if (!values) return -ENOMEM;
    for (size_t i = 0; i < out->rows; i++)
        for (size_t j = 0; j < out->columns; j++)
            values[i * out->columns + j] = mean(in, i * down, j * across, down, across);
    return 0;
}

void plot_put_binned(PlotText *t, const char *subtitle, size_t down, size_t across) {
    if (subtitle) plot_put_bytes(t, subtitle, strlen(subtitle));
    if (down == 1 && across == 1) return;
    plot_put(t, "%sach cell is the mean of ", subtitle && *subtitle ? "; e" : "E");
    if (across == 1) plot_put(t, "%zu rows", down);
    else if (down == 1) plot_put(t, "%zu columns", across);
    else if (down == across) plot_put(t, "%zu x %zu", down, across);
    else plot_put(t, "%zu rows x %zu columns", down, across);
}

/* Means of many cells are small: where nobody chose the scale, it ends at the largest (in size). */
static double largest(const PlotCells *c) {
    double most = 0;
    for (size_t i = 0; i < c->rows * c->columns; i++)
        if (isfinite(c->values[i])) most = fmax(most, fabs(c->values[i]));
    return most;
}

static void set_high(PlotCells *c, double high) {
    if (!(high > 0)) return;
    c->high = high;
    if (c->diverging) c->low = -high;
}

static int scale_check(const PlotCells *c, char *err, size_t errlen) {
    if (c->low < c->high && isfinite(c->high - c->low)) return 0;
    return base_error(err, errlen, -EINVAL, "a scale from %g to %g has no length", c->low, c->high);
}

int plot_heat_check(const PlotHeat *p, PlotCells *c, char *err, size_t errlen) {
    *c = (PlotCells){p->values, p->n_rows, p->n_columns, p->low, p->high, p->diverging, 0};
    if (p->n_rows == 0 || p->n_columns == 0)
        return base_error(err, errlen, -EINVAL, "a heat map of %zu rows and %zu columns has no cell", p->n_rows,
                          p->n_columns);
    if (c->low == 0 && c->high == 0) c->high = 1;
    if (c->diverging) c->low = -c->high;
    return scale_check(c, err, errlen);
}

int plot_heat_bin(PlotCells *out, const PlotHeat *p, const PlotCells *all, size_t down, size_t across) {
    int rc = plot_bin(out, all, down, across);
    if (rc == 0 && p->low == 0 && p->high == 0 && down * across > 1) set_high(out, largest(out));
    return rc;
}

int plot_sheet_check(const PlotSheet *p, PlotCells *first, char *err, size_t errlen) {
    *first = (PlotCells){p->values, p->side, p->side, 0, p->high == 0 ? 1 : p->high, p->diverging, 1};
    if (p->n_rows == 0 || p->n_columns == 0 || p->side == 0)
        return base_error(err, errlen, -EINVAL, "a sheet of %zu by %zu maps of %zu by %zu cells has no cell", p->n_rows,
                          p->n_columns, p->side, p->side);
    if (p->diverging) first->low = -first->high;
    return scale_check(first, err, errlen);
}

int plot_sheet_high(const PlotSheet *p, PlotCells *first, size_t down, size_t across) {
    double most = 0;
    int rc = 0;
    PlotCells map = *first, binned;
    if (p->high != 0 || (down == 1 && across == 1)) return 0;
    for (size_t i = 0; rc == 0 && i < p->n_rows * p->n_columns; i++) {
        map.values = p->values + i * p->side * p->side;
        rc = plot_bin(&binned, &map, down, across);
        if (rc == 0) most = fmax(most, largest(&binned));
        free((void *)binned.values);
    }
    set_high(first, most);
    return rc;
}

size_t plot_block(size_t columns, size_t room) {
    if (room < 1) room = 1;
    size_t blocks = (columns + room - 1) / room;
    return (columns + blocks - 1) / blocks;
}
