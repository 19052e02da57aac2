/* tests/test_plot.c - pictures: well-formed whatever a name holds, labels apart, everything within the frame. */
#include "test.h"
#include "base/base.h"
#include "lab/plot/parts.h"
#include "plot_checks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char err[200];

/* Every x, y, and every point of a line's path lies within the picture. */
static void check_within(const char *svg) {
    double w = strtod(strstr(svg, "width=\"") + 7, NULL), h = strtod(strstr(svg, "height=\"") + 8, NULL);
    for (const char *at = svg; (at = strstr(at, "<text class=\"label\" x=\"")); at++) {
        double x = strtod(at + 23, NULL), y = strtod(strstr(at, "y=\"") + 3, NULL);
        const char *name = strchr(at, '>') + 1;
        if (strncmp(name, "<title>", 7) == 0) name = strstr(name, "</title>") + 8;
        size_t n = (size_t)(strchr(name, '<') - name);
        CHECK(x > 0 && y > 12 && y < h);
        CHECK(memchr(name, '&', n) || x + plot_width(name, n, PLOT_FONT) < w);
    }
    for (const char *at = svg; (at = strstr(at, "class=\"line\"")); at++) {
        const char *d = strstr(at, " d=\"") + 4;
        while (*d == 'M' || *d == 'L') {
            char *end;
            double x = strtod(d + 1, &end), y = strtod(end, &end);
            CHECK(x >= 0 && x <= w && y >= 0 && y <= h);
            d = end;
        }
    }
}

static int drawn(PlotText *t, const PlotLines *p) {
    plot_text_free(t);
    err[0] = 0;
    int rc = plot_lines_svg(t, p, err, sizeof err);
    if (rc) return rc;
    CHECK(plot_well_formed(t->at));
    check_within(t->at);
    return 0;
}

static const PlotPoint rising[] = {{256, 2, 0.1}, {512, 2.5, 0.1}, {1024, 3, 0.1}};

static void names(void) {
    const PlotSeries series[] = {{"<a href=\"x\">&'</a>", rising, 3, 0},
                                 {"\x01\x7f\xff\xc2\x85 \xef\xbf\xbe", rising, 3, 0},
                                 {NULL, rising, 3, 0}, {"\xe5\xb9\xbf\xe5\xb7\x9e", rising, 3, 0}};
    PlotLines p = {.title = "a < b & c > \"d\" ]]>", .subtitle = "\x1b[31mred\n\xc3", .x_name = "<x>", .y_name = "y&",
                   .series = series, .n_series = 4, .log2_x = 1, .mark = 512, .mark_name = "<!-- -->"};
    PlotText t = {0}, again = {0};
    CHECK(drawn(&t, &p) == 0 && drawn(&again, &p) == 0 && strcmp(t.at, again.at) == 0);
    CHECK(strstr(t.at, "&lt;a href=&quot;x&quot;&gt;&amp;&#39;&lt;/a&gt;") && !strchr(t.at, 0x1b));
    CHECK(strstr(t.at, "\xe5\xb9\xbf\xe5\xb7\x9e</text>") != NULL);
    CHECK(!plot_well_formed("<a><b></a></b>") && !plot_well_formed("<a x=1/>") && !plot_well_formed("<a>&</a>"));
    plot_text_free(&t);
    plot_text_free(&again);
    plot_text_free(&again);
}

static void few_points(void) {
    const PlotPoint one[] = {{256, 2, 0}}, same[] = {{1, 5, 0}, {2, 5, 0}};
    const PlotSeries none = {"none", NULL, 0, 0}, single = {"single", one, 1, 0}, flat = {"flat", same, 2, 0};
    const PlotSeries both[] = {none, single};
    PlotText t = {0};
    CHECK(drawn(&t, &(PlotLines){.title = "nothing"}) == 0);
    CHECK(drawn(&t, &(PlotLines){.series = &none, .n_series = 1, .log2_x = 1}) == 0 && strstr(t.at, ">none</text>"));
    CHECK(drawn(&t, &(PlotLines){.series = &single, .n_series = 1, .log2_x = 1}) == 0 && strstr(t.at, ">256</text>"));
    CHECK(drawn(&t, &(PlotLines){.series = &flat, .n_series = 1}) == 0);
    CHECK(drawn(&t, &(PlotLines){.series = both, .n_series = 2}) == 0 && plot_count(t.at, "class=\"lead\"") == 1);
    const PlotPoint far[] = {{1e300, -1e299, 1}, {-1e299, 1e299, INFINITY}, {0, 1e308, 0}, {1, 1e-300, NAN}};
    const PlotSeries wild = {"wild", far, 4, 0}, alone = {"alone", far, 1, 0};
    CHECK(drawn(&t, &(PlotLines){.series = &alone, .n_series = 1}) == 0 && !strstr(t.at, "nan"));
    CHECK(drawn(&t, &(PlotLines){.series = &wild, .n_series = 1}) == 0 && !strstr(t.at, "nan") && !strstr(t.at, "inf"));
    CHECK(drawn(&t, &(PlotLines){.series = &wild, .n_series = 1, .log2_x = 1}) == 0 && !strstr(t.at, "nan"));
    plot_text_free(&t);
}

/* The path of the only line: how often the pen is put down, and how many points it goes to. */
static void pen(const char *svg, int *down, int *on) {
    const char *d = strstr(strstr(svg, "class=\"line\""), " d=\"") + 4, *end = strchr(d, '"');
    *down = *on = 0;
    for (; d < end; d++) *down += *d == 'M', *on += *d == 'L';
}

static void gaps(void) {
    const PlotPoint at[] = {{1, 1, 0}, {2, 2, 0}, {3, NAN, 0},      {4, 4, 0},
                            {5, 5, 0}, {INFINITY, 1, 0}, {7, 2, 0}, {8, 1, 0}};
    const PlotSeries series = {"s", at, 8, 0};
    PlotText t = {0};
    int down, on;
    CHECK(drawn(&t, &(PlotLines){.series = &series, .n_series = 1}) == 0);
    pen(t.at, &down, &on);
    CHECK(down == 3 && on == 3 && plot_count(t.at, "class=\"full\"") == 6 + 1); /* a mark a point, and the label's */
    CHECK(!strstr(t.at, "nan") && !strstr(t.at, "inf"));
    const PlotPoint below[] = {{0, 1, 0}, {1, 2, 0}, {2, 3, 0}}; /* 0 has no logarithm */
    const PlotSeries log_series = {"s", below, 3, 0};
    CHECK(drawn(&t, &(PlotLines){.series = &log_series, .n_series = 1, .log2_x = 1}) == 0);
    pen(t.at, &down, &on);
    CHECK(down == 1 && on == 1);
    plot_text_free(&t);
}

static void leaves_the_frame(void) {
    const PlotPoint up[] = {{1, 2, 0}, {2, 6, 0.1}, {3, 7, 0}, {4, 2.5, 0}, {5, 1.25, 0}};
    const PlotSeries series = {"up", up, 5, 0};
    PlotLines p = {.series = &series, .n_series = 1, .y_min = 2, .y_max = 4};
    PlotText t = {0};
    int down, on;
    CHECK(drawn(&t, &p) == 0);
    pen(t.at, &down, &on);
    CHECK(down == 2 && on == 3); /* out at the top, in again, to 2.5, out at the bottom */
    CHECK(strstr(t.at, "\xe2\x86\x91" "6.00<") && strstr(t.at, "\xe2\x86\x91" "7.00<") &&
          strstr(t.at, "\xe2\x86\x93" "1.25<"));
    CHECK(plot_count(t.at, "class=\"bar\"") == 0);
    const PlotPoint far[] = {{1, 3, 0}, {2, 9e299, 0}, {3, -9e299, 0}, {4, 3, 0}};
    const PlotSeries wild = {"wild", far, 4, 0};
    PlotLines w = {.series = &wild, .n_series = 1, .y_min = 2, .y_max = 4};
    CHECK(drawn(&t, &w) == 0);
    plot_text_free(&t);
    CHECK(plot_lines_terminal(&t, &w, err, sizeof err) == 0);
    p.y_min = 5;
    CHECK(drawn(&t, &p) == -EINVAL && strstr(err, "no height"));
    p.y_min = NAN;
    CHECK(drawn(&t, &p) == -EINVAL);
    p = (PlotLines){.series = &series, .n_series = PLOT_MOST_SERIES + 1};
    CHECK(drawn(&t, &p) == -EINVAL && strstr(err, "24"));
    plot_text_free(&t);
}

/* Heights of the labels, in the order of the series. */
static size_t label_heights(const char *svg, double *y) {
    size_t n = 0;
    for (const char *at = svg; (at = strstr(at, "<text class=\"label\"")); at++)
        y[n++] = strtod(strstr(at, "y=\"") + 3, NULL);
    return n;
}

static void labels_apart(void) {
    PlotPoint at[PLOT_MOST_SERIES][3];
    PlotSeries series[PLOT_MOST_SERIES];
    for (int bunch = 0; bunch < 3; bunch++)
        for (size_t n = 12; n <= PLOT_MOST_SERIES; n += 12) {
            PlotText t = {0};
            double y[PLOT_MOST_SERIES];
            for (size_t i = 0; i < n; i++) {
                double v = bunch == 0 ? 3 : bunch == 1 ? (double)(i * i % 13) : 1e-3 * (double)i;
                for (int j = 0; j < 3; j++) at[i][j] = (PlotPoint){j, v, 0.1};
                series[i] = (PlotSeries){"self-extend:group=8:window=64+log-n:and:more:until:it:is:cut", at[i], 3, 0};
            }
            CHECK(drawn(&t, &(PlotLines){.title = "t", .series = series, .n_series = n, .height = 300}) == 0);
            CHECK(label_heights(t.at, y) == n);
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < i; j++) CHECK(fabs(y[i] - y[j]) >= PLOT_FONT + 3);
            CHECK(strstr(t.at, "\xe2\x80\xa6</text>") != NULL); /* cut, with the whole as its tooltip */
            plot_text_free(&t);
        }
}

static void spread(void) {
    double at[PLOT_MOST_SERIES], wanted[PLOT_MOST_SERIES];
    uint32_t x = 1;
    for (int round = 0; round < 3000; round++) {
        size_t n = (size_t)(round % PLOT_MOST_SERIES) + 1;
        for (size_t i = 0; i < n; i++) {
            x = x * 1664525u + 1013904223u;
            at[i] = wanted[i] = (double)(x >> 8) / 16777216 * 120 - 10;
        }
        plot_spread(at, n, 4, 0, 100);
        for (size_t i = 0; i < n; i++) {
            CHECK(at[i] >= -1e-9 && at[i] <= 100 + 1e-9);
            int alone = wanted[i] >= 0 && wanted[i] <= 100;
            for (size_t j = 0; j < n; j++) {
                if (i == j) continue;
                CHECK(fabs(at[i] - at[j]) >= 4 - 1e-9 && (wanted[i] < wanted[j]) == (at[i] < at[j]));
                alone &= fabs(wanted[i] - wanted[j]) >= 8 && wanted[j] >= 0 && wanted[j] <= 100;
            }
            if (alone && n == 2) NEAR(at[i], wanted[i], 1e-9, 0);
        }
    }
    double tight[4] = {0, 0, 0, 0};
    plot_spread(tight, 4, 50, 0, 30); /* more than there is room for: evenly */
    for (int i = 0; i < 4; i++) NEAR(tight[i], 10.0 * i, 1e-9, 0);
}

static void axes(void) {
    PlotAxis a;
    char number[32];
    plot_axis(&a, 2.31, 4.87, 6, 0);
    CHECK(a.n_ticks == 7 && a.decimals == 1);
    NEAR(a.step, 0.5, 1e-12, 0);
    NEAR(plot_tick(&a, 0), 2, 1e-12, 0);
    plot_axis(&a, -1, 1, 5, 0);
    CHECK(plot_tick(&a, 2) >= 0 && plot_tick(&a, a.n_ticks - 1) >= 1 - 1e-9);
    plot_axis(&a, 3, 3, 5, 0);
    CHECK(a.n_ticks > 2 && a.low < 3 && a.high > 3);
    plot_number(number, -0.0001, 2);
    CHECK(strcmp(number, "0.00") == 0);
    plot_number(number, -1.5, 2);
    CHECK(strcmp(number, "-1.50") == 0);
    for (double size = 1e-12; size < 1e15; size *= 7) {
        plot_axis(&a, size, size * 3.3, 6, 1);
        CHECK(a.n_ticks >= 2 && a.n_ticks <= 8 && plot_tick(&a, 0) >= a.low * (1 - 1e-9) &&
              plot_tick(&a, a.n_ticks - 1) <= a.high * (1 + 1e-9));
    }
}

static void terminal(void) {
    PlotSeries series[PLOT_MOST_SERIES];
    for (size_t i = 0; i < PLOT_MOST_SERIES; i++) series[i] = (PlotSeries){"\xe5\xb9\xbf\x1b[2Jname", rising, 3, 0};
    for (int n = 0; n <= PLOT_MOST_SERIES; n += 4)
        for (int width = 40; width <= 120; width += 16)
            for (int colour = 0; colour < 2; colour++) {
                PlotLines p = {.title = "a\rtitle", .subtitle = "s", .x_name = "x", .y_name = "y", .series = series,
                               .n_series = (size_t)n, .width = width, .height = 16, .colour = colour, .log2_x = 1,
                               .mark = 512, .mark_name = "trained: 512", .y_min = 2.2, .y_max = 2.8};
                PlotText t = {0};
                size_t widest;
                CHECK(plot_lines_terminal(&t, &p, err, sizeof err) == 0);
                size_t lines = plot_screen(t.at, colour, &widest);
                CHECK(widest <= (size_t)width && lines == (size_t)(n < 16 ? 16 : n + 1));
                CHECK(n == 0 || (plot_count(t.at, "name") == n && strstr(t.at, "a\xe2\x86\x91" "3.00")));
                plot_text_free(&t);
            }
    PlotText t = {0};
    CHECK(plot_lines_terminal(&t, &(PlotLines){.series = series, .n_series = 25}, err, sizeof err) == -EINVAL);
    CHECK(plot_lines_terminal(&t, &(PlotLines){.width = 1, .height = 1}, err, sizeof err) == 0);
    plot_text_free(&t);
}

static void heat_maps(void) {
    static const char *const rows[] = {"a < b", "yarn:factor=4", NULL}, *const columns[] = {"256", "512"};
    const double values[] = {0, 1, NAN, 0.5, -3, INFINITY};
    PlotHeat p = {.title = "&", .x_name = "<", .y_name = "\x02", .columns = columns, .rows = rows, .n_columns = 2,
                  .n_rows = 3, .values = values, .decimals = 2};
    PlotText t = {0};
    size_t widest;
    CHECK(plot_heat_svg(&t, &p, err, sizeof err) == 0 && plot_well_formed(t.at));
    CHECK(plot_count(t.at, "class=\"missing\"") == 2 && plot_count(t.at, "cell\"") == 4);
    CHECK(strstr(t.at, ">0.50</text>"));
    plot_text_free(&t);
    for (p.colour = 0; p.colour < 2; p.colour++) {
        CHECK(plot_heat_terminal(&t, &p, err, sizeof err) == 0);
        CHECK(plot_screen(t.at, p.colour, &widest) == 3 + 3 && widest <= 80 && plot_count(t.at, "0.50") == 1);
        plot_text_free(&t);
    }
    static const char *const long_names[] = {"self-extend:group=8:window=64", "rerope"};
    double many[40];
    for (int i = 0; i < 40; i++) many[i] = i / 39.0;
    PlotHeat wide = {.rows = rows, .n_rows = 1, .columns = NULL, .n_columns = 40, .values = many, .decimals = 2};
    CHECK(plot_heat_svg(&t, &wide, err, sizeof err) == 0 && plot_well_formed(t.at) && plot_count(t.at, "cell\"") == 0);
    plot_text_free(&t);
    CHECK(plot_heat_terminal(&t, &wide, err, sizeof err) == 0);
    CHECK(plot_screen(t.at, 0, &widest) == 2 && widest <= 80); /* the scale, for there is no room for numbers */
    plot_text_free(&t);
    p.columns = long_names;
    CHECK(plot_heat_svg(&t, &p, err, sizeof err) == 0 && plot_well_formed(t.at) && strstr(t.at, "rotate(-45)"));
    plot_text_free(&t);
    p.low = 1;
    CHECK(plot_heat_svg(&t, &p, err, sizeof err) == -EINVAL && strstr(err, "no length"));
    p.n_rows = 0;
    CHECK(plot_heat_terminal(&t, &p, err, sizeof err) == -EINVAL && strstr(err, "no cell"));
    plot_text_free(&t);
}

/* CIE L* of the ramp falls, and evenly: no step is twice another. */
static void even_ramp(void) {
    double before = 0, least = 1e9, most = 0;
    for (int i = 0; i <= 20; i++) {
        int rgb[3];
        double linear[3];
        plot_ramp(i / 20.0, rgb);
        for (int k = 0; k < 3; k++)
            linear[k] = rgb[k] <= 10 ? rgb[k] / 255.0 / 12.92 : pow((rgb[k] / 255.0 + 0.055) / 1.055, 2.4);
        double lightness = 116 * cbrt(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]) - 16;
        if (i > 0) least = fmin(least, before - lightness), most = fmax(most, before - lightness);
        before = lightness;
    }
    CHECK(least > 0 && most < 2 * least && before < 25);
}

const Test tests_plot[] = {
    {"plot/any name, well-formed, the same each time", names},
    {"plot/no series, no point, one point, huge ones", few_points},
    {"plot/what is no number is a gap", gaps},
    {"plot/lines leave the frame and say their number", leaves_the_frame},
    {"plot/labels apart, within the frame", labels_apart},
    {"plot/spread", spread},
    {"plot/axes", axes},
    {"plot/terminal", terminal},
    {"plot/heat maps", heat_maps},
    {"plot/an even ramp", even_ramp},
    {0}};
