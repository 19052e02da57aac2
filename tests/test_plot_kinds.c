/* tests/test_plot_kinds.c - large and signed heat maps, contact sheets, dials, bars, styles of lines. */
#include "test.h"
#include "lab/plot/canvas.h"
#include "plot_checks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char err[200];

#define MOST 200
static double values[MOST * MOST];
static const char *const odd[] = {"<b>&'\"", "\x01\x7f\xff", "\xe5\xb9\xbf\xe5\xb7\x9e\xe5\xb8\x82", NULL, "",
                                  "\x1b[31mred",
                                  "a name that is far too long for any cell of any picture, however wide it may be"};
enum { N_ODD = sizeof odd / sizeof *odd };

static const char **names(size_t n) {
    const char **of = malloc((n + 1) * sizeof *of);
    for (size_t i = 0; of && i < n; i++) of[i] = odd[i % N_ODD];
    return of;
}

/* Every picture, in every way: well-formed, within its columns, without escapes where no colour was asked for. */
#define DRAW_ALL(kind, p) do { \
    PlotText t = {0}; \
    CHECK(plot_##kind##_svg(&t, &(p), err, sizeof err) == 0 && plot_well_formed(t.at)); \
    CHECK(!strstr(t.at, "nan") && !strstr(t.at, "inf\"")); \
    plot_text_free(&t); \
    for (int draw = 0; draw < 8; draw++) { \
        size_t widest; \
        (p).width = 40 + 20 * (draw / 2), (p).colour = draw % 2; \
        CHECK(plot_##kind##_terminal(&t, &(p), err, sizeof err) == 0); \
        CHECK(plot_screen(t.at, draw % 2, &widest) > 0 && widest <= (size_t)(p).width); \
        plot_text_free(&t); \
    } \
    (p).width = (p).colour = 0; \
} while (0)

static void fill(size_t n) {
    for (size_t i = 0; i < n; i++) values[i] = i % 17 == 3 ? NAN : cos((double)i);
    values[0] = 1;
}

static void heat_of_any_size(void) {
    static const size_t sizes[][2] = {{1, 1}, {1, 200}, {200, 1}, {2, 3}, {12, 12}, {31, 31}, {66, 66}, {200, 200}};
    fill(MOST * MOST);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int way = 0; way < 8; way++) {
            const char **rows = way & 1 ? names(sizes[i][0]) : NULL, **columns = way & 1 ? names(sizes[i][1]) : NULL;
            PlotHeat p = {.title = "<&", .subtitle = way & 1 ? "s" : NULL, .x_name = "x", .y_name = "y", .rows = rows,
                          .columns = columns, .n_rows = sizes[i][0], .n_columns = sizes[i][1], .values = values,
                          .decimals = way & 2 ? 2 : -1, .diverging = way & 4 ? 1 : 0};
            DRAW_ALL(heat, p);
            free(rows);
            free(columns);
        }
}

static void large_maps_are_binned(void) {
    PlotText t = {0};
    PlotHeat p = {.title = "t", .subtitle = "weights", .n_rows = MOST, .n_columns = MOST, .values = values,
                  .decimals = -1};
    fill(MOST * MOST);
    CHECK(plot_heat_svg(&t, &p, err, sizeof err) == 0 && !strstr(t.at, "mean") && t.n < 1000000);
    plot_text_free(&t);
    CHECK(plot_heat_terminal(&t, &p, err, sizeof err) == 0);
    CHECK(strstr(t.at, "weights; each cell is the mean of 6 rows x 3 columns"));
    plot_text_free(&t);
    p.colour = 1; /* half a line a row */
    CHECK(plot_heat_terminal(&t, &p, err, sizeof err) == 0 && strstr(t.at, "the mean of 3 x 3"));
    plot_text_free(&t);
    PlotCells in = {.values = (const double[]){1, 2, NAN, 3, NAN, NAN}, .rows = 2, .columns = 3}, out;
    CHECK(plot_bin(&out, &in, 2, 2) == 0 && out.rows == 1 && out.columns == 2);
    NEAR(out.values[0], 2, 1e-12, 0);
    CHECK(isnan(out.values[1]));
    free((void *)out.values);
}

/* Both sides fall evenly in lightness from one pale grey; above 0 is blue, below it red. */
static void signed_ramp(void) {
    for (int side = -1; side <= 1; side += 2) {
        double before = 0, least = 1e9, most = 0;
        for (int i = 0; i <= 20; i++) {
            int rgb[3];
            double linear[3];
            plot_ramp_signed(side * i / 20.0, rgb);
            CHECK(i < 3 || (side > 0 ? rgb[2] > rgb[0] + 10 : rgb[0] > rgb[2] + 10));
            CHECK(i > 0 || (rgb[0] > 230 && abs(rgb[0] - rgb[2]) < 4));
            for (int k = 0; k < 3; k++)
                linear[k] = rgb[k] <= 10 ? rgb[k] / 255.0 / 12.92 : pow((rgb[k] / 255.0 + 0.055) / 1.055, 2.4);
            double lightness = 116 * cbrt(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]) - 16;
            if (i > 0) least = fmin(least, before - lightness), most = fmax(most, before - lightness);
            before = lightness;
        }
        CHECK(least > 0 && most < 2.5 * least && before < 35);
    }
}

static void signs_without_colour(void) {
    const double v[] = {0.9, -0.9, 0.5, -0.5, 0};
    PlotCells c = {.values = v, .rows = 1, .columns = 5, .low = -1, .high = 1, .diverging = 1};
    for (double x = 0.25; x <= 2; x += 0.25) CHECK(canvas_shade(&c, fmin(x, 1)) != canvas_shade(&c, -fmin(x, 1)));
    PlotHeat p = {.n_rows = 1, .n_columns = 5, .values = v, .decimals = -1, .diverging = 1};
    PlotText t = {0};
    CHECK(plot_heat_terminal(&t, &p, err, sizeof err) == 0);
    CHECK(strncmp(t.at, "\xe2\x96\x88", 3) == 0 && strstr(t.at, "\xe2\x89\xa1\xe2\x89\xa1") && strstr(t.at, "-1 "));
    plot_text_free(&t);
    p.high = p.low = 0, p.n_rows = 0;
    CHECK(plot_heat_svg(&t, &p, err, sizeof err) == -EINVAL);
    p.n_rows = 1, p.high = -1;
    CHECK(plot_heat_svg(&t, &p, err, sizeof err) == -EINVAL && strstr(err, "no length"));
    plot_text_free(&t);
}

static void sheets(void) {
    static const size_t sizes[][3] = {{1, 1, 1}, {4, 4, 13}, {24, 32, 6}, {2, 8, 40}, {1, 40, 5}};
    double *maps = calloc(24 * 32 * 48, sizeof *maps);
    for (size_t i = 0; maps && i < 24 * 32 * 48; i++) maps[i] = i % 5 == 4 ? NAN : sin((double)i);
    for (size_t i = 0; maps && i < sizeof sizes / sizeof *sizes; i++)
        for (int way = 0; way < 4; way++) {
            size_t r = sizes[i][0], c = sizes[i][1];
            const char **rows = names(r), **columns = names(c), **labels = names(r * c);
            PlotSheet p = {.title = "<t>", .subtitle = "s", .n_rows = r, .n_columns = c, .side = sizes[i][2],
                           .values = maps, .diverging = way & 1};
            if (way & 2) p.rows = rows, p.columns = columns, p.labels = labels;
            DRAW_ALL(sheet, p);
            free(rows);
            free(columns);
            free(labels);
        }
    PlotText t = {0};
    PlotSheet p = {.n_rows = 2, .n_columns = 2, .side = 200, .values = maps};
    size_t widest;
    CHECK(plot_sheet_terminal(&t, &(PlotSheet){.n_rows = 1, .n_columns = 2, .side = 60, .values = maps}, err,
                              sizeof err) == 0 && strstr(t.at, "Each cell is the mean of 4 rows x 2 columns"));
    CHECK(plot_screen(t.at, 0, &widest) > 15 && widest > 60 && widest <= 80);
    p.side = 0;
    CHECK(plot_sheet_svg(&t, &p, err, sizeof err) == -EINVAL);
    plot_text_free(&t);
    const char *const pair[] = {"head 0", "no RoPE"}; /* a heading has room, however small its map is */
    p = (PlotSheet){.n_rows = 1, .n_columns = 2, .side = 3, .values = maps, .columns = pair};
    CHECK(plot_sheet_terminal(&t, &p, err, sizeof err) == 0 && strncmp(t.at, "head 0  no RoPE\n", 16) == 0);
    p.side = 0;
    CHECK(plot_sheet_terminal(&t, &p, err, sizeof err) == -EINVAL && strstr(err, "no cell"));
    plot_text_free(&t);
    free(maps);
}

static void dials(void) {
    enum { N = 64 };
    static PlotHand hands[N * 4];
    for (int i = 0; i < N * 4; i++)
        hands[i] = (PlotHand){0.37 * i, i % 7 ? 0.25 * (i % 7) : NAN, i % 3 ? 0.1 * i - (i % 11 ? 0 : 1e5) : NAN};
    hands[9].angle = NAN, hands[10].angle = INFINITY, hands[11].length = -1;
    for (size_t columns = 1; columns <= 16; columns += 5)
        for (size_t rows = 1; rows <= 4; rows += 3)
            for (size_t n = 0; n <= 4; n += 2) {
                const char **row_names = names(rows), **column_names = names(columns), **labels = names(rows * columns);
                PlotDials p = {.title = "<t>", .subtitle = "s", .n_rows = rows, .n_columns = columns, .hands = hands,
                               .n_hands = n, .names = odd};
                DRAW_ALL(dials, p);
                p.rows = row_names, p.columns = column_names, p.labels = labels;
                DRAW_ALL(dials, p);
                free(row_names);
                free(column_names);
                free(labels);
            }
    PlotText t = {0};
    PlotDials p = {.n_rows = 1, .n_columns = 1, .hands = &(PlotHand){0, 1, -1e9}, .n_hands = 1};
    CHECK(plot_dials_svg(&t, &p, err, sizeof err) == 0 && t.n < 20000); /* 1.6e8 turns: the last ones are drawn */
    CHECK(plot_count(t.at, "class=\"rim\"") == 1 && plot_count(t.at, "class=\"hand\"") == 1);
    CHECK(plot_count(t.at, "class=\"turn\"") == 1);
    plot_text_free(&t);
    CHECK(plot_dials_terminal(&t, &p, err, sizeof err) == 0 && strstr(t.at, "\xe2\xa0"));
    p.n_hands = 5;
    CHECK(plot_dials_svg(&t, &p, err, sizeof err) == -EINVAL && strstr(err, "4 hands"));
    p.n_columns = 0;
    CHECK(plot_dials_terminal(&t, &p, err, sizeof err) == -EINVAL);
    plot_text_free(&t);
}

static void bars(void) {
    static const double sets[][N_ODD] = {{1, -2, 3, NAN, 0, 1e-9, -1e-9}, {0}, {NAN, NAN, NAN, NAN, NAN, NAN, NAN},
                                         {-1, -2, -3, -4, -5, -6, -7}, {1e200, 1, -1e200, INFINITY, 5, 5, 5}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        for (size_t n = 1; n <= N_ODD; n += 6)
            for (int waterfall = 0; waterfall < 2; waterfall++) {
                PlotBars p = {.title = "<t>", .subtitle = "s", .x_name = "nats", .names = odd, .values = sets[i],
                              .n = n, .waterfall = waterfall, .sum_name = waterfall ? "<sum>" : NULL, .decimals = 3};
                DRAW_ALL(bars, p);
            }
    const char *const three[] = {"a", "b", "c"};
    PlotBars p = {.names = three, .values = (const double[]){2, -0.5, 1}, .n = 3, .waterfall = 1, .sum_name = "sum",
                  .decimals = 2};
    PlotText t = {0};
    CHECK(plot_bars_svg(&t, &p, err, sizeof err) == 0 && strstr(t.at, ">+2.00<") && strstr(t.at, ">-0.50<"));
    CHECK(strstr(t.at, ">2.50<") && plot_count(t.at, "full s0") == 2 && plot_count(t.at, "full s1") == 1);
    plot_text_free(&t);
    CHECK(plot_bars_terminal(&t, &p, err, sizeof err) == 0 && strstr(t.at, "\nsum  2.50 \xe2\x96\x88"));
    p.values = (const double[]){1e301, 1, 1};
    CHECK(plot_bars_svg(&t, &p, err, sizeof err) == -EINVAL && strstr(err, "no scale"));
    p.n = 0;
    CHECK(plot_bars_terminal(&t, &p, err, sizeof err) == -EINVAL && strstr(err, "no bar"));
    plot_text_free(&t);
}

/* 48 styles differ in colour and mark; 24 lines of a picture do so by their order. */
static void styles_differ(void) {
    for (int i = 1; i <= 48; i++)
        for (int j = 1; j < i; j++) {
            PlotStyle a = plot_style(&(PlotSeries){.style = i}, 0), b = plot_style(&(PlotSeries){.style = j}, 0);
            CHECK(a.colour != b.colour || a.mark != b.mark);
            CHECK(i > 24 || a.colour != b.colour || a.dash != b.dash);
        }
    CHECK(plot_style(&(PlotSeries){0}, 5).mark == plot_style(&(PlotSeries){.style = 6}, 0).mark);
}

extern const Test tests_plot_kinds[];
const Test tests_plot_kinds[] = {
    {"plot/heat maps of any size", heat_of_any_size},
    {"plot/large maps are means", large_maps_are_binned},
    {"plot/a ramp with signs", signed_ramp},
    {"plot/signs without colour", signs_without_colour},
    {"plot/contact sheets", sheets},
    {"plot/dials", dials},
    {"plot/bars", bars},
    {"plot/styles differ", styles_differ},
    {0}};
