/* tests/test_curve.c - the losses of a training as a table: read as they were written, up to the step gone on from;
 * lines that are none; the chart that they make. */
#include "build.h"
#include "test.h"
#include "weights-tools/training/curve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "step,loss,rate,norm,tokens,seconds,held,first,again,answer\n"
#define GOOD "1,4.5,0.001,2,64,0.5,,,,\n"

static char err[300];

static const char *put(const void *text, size_t n) {
    const char *path = test_tmp("curve.csv");
    file_write(path, text, n);
    return path;
}

static int same(double a, double b) { return isnan(a) ? isnan(b) : a == b; }

/* What was measured and what was not, written, read, written again: the same bytes; a table without a file has no
 * points, and those behind the step that is gone on from are another run's. */
static void there_and_back(void) {
    const CoursePoint none = {.loss = NAN, .held = {NAN, NAN}, .first = {NAN, NAN}, .again = {NAN, NAN},
                              .answer = {NAN, NAN}};
    CoursePoint points[4] = {none, none, none, none};
    Curve c = {0}, d = {0};
    const char *path = test_tmp("curve.csv"), *again = test_tmp("again.csv");
    for (size_t i = 0; i < 4; i++) {
        points[i].step = 10 * (i + 1), points[i].loss = 4 - 0.125 * (double)i, points[i].rate = 0.25;
        points[i].norm = 1, points[i].tokens = 64 * (double)i, points[i].seconds = 0.5 * (double)i;
    }
    points[1].has_held = 1, points[1].held.loss = 3.5;
    points[2].has_held = 1, points[2].first.loss = 5, points[2].again.loss = 0.5, points[2].answer.right = 0.75;
    for (size_t i = 0; i < 4; i++) CHECK(curve_add(&c, &points[i]) == 0);
    remove(path);
    CHECK(curve_read(&d, path, 100, err, sizeof err) == 0 && d.n == 0);
    CHECK(curve_write_csv(&c, path, err, sizeof err) == 0 && curve_read(&d, path, 40, err, sizeof err) == 0);
    CHECK(d.n == 4 && curve_write_csv(&d, again, err, sizeof err) == 0 && files_equal(path, again));
    for (size_t i = 0; i < d.n; i++)
        CHECK(d.at[i].step == points[i].step && d.at[i].has_held == points[i].has_held &&
              same(d.at[i].loss, points[i].loss) && same(d.at[i].held.loss, points[i].held.loss) &&
              same(d.at[i].first.loss, points[i].first.loss) && same(d.at[i].again.loss, points[i].again.loss) &&
              same(d.at[i].answer.right, points[i].answer.right));
    curve_free(&d);
    CHECK(curve_read(&d, path, 39, err, sizeof err) == 0 && d.n == 3 && d.at[2].step == 30);
    curve_free(&d), curve_free(&c);
    CHECK(curve_read(&d, put("", 0), 9, err, sizeof err) == 0 && d.n == 0);
    CHECK(curve_read(&d, put(HEAD, sizeof HEAD - 1), 9, err, sizeof err) == 0 && d.n == 0);
    CHECK(curve_read(&d, put(HEAD GOOD, sizeof HEAD GOOD - 2), 9, err, sizeof err) == 0 && d.n == 1); /* no newline */
    curve_free(&d);
}

/* Each stands behind a good line, but for the tables that are none. */
static void damaged(void) {
    static const char line[] = "line 3 is no line of losses", table[] = "is no table of losses: name another";
#define BEHIND(text) HEAD GOOD text, sizeof HEAD GOOD text - 1
    static const struct { const char *text; size_t n; const char *says; } rows[] = {
        {"step,loss\n", 10, table},
        {"Step" HEAD, sizeof HEAD, table},
        {BEHIND("\n"), line},
        {BEHIND("2"), line},
        {BEHIND("2,4,1,1,1,1\n"), line},
        {BEHIND("2,4,1,1,1,1,,,"), line},
        {BEHIND("2,,1,1,1,1,,,,\n"), line},
        {BEHIND("2,x,1,1,1,1,,,,\n"), line},
        {BEHIND("2,nan,1,1,1,1,,,,\n"), line},
        {BEHIND("2,inf,1,1,1,1,,,,\n"), line},
        {BEHIND("2, 4,1,1,1,1,,,,\n"), line},
        {BEHIND("2,4;1,1,1,1,,,,\n"), line},
        {BEHIND("2,4,1,1,1,1,nan,,,\n"), line},
        {BEHIND("2,4,1,1,1,1,,,,x\n"), line},
        {BEHIND("2,4,1,1,1,1,,,,5 \n"), line},
        {BEHIND("2,4,1,1,1,1,,,,5,6\n"), line},
        {BEHIND("0,4,1,1,1,1,,,,\n"), line},
        {BEHIND("1e15,4,1,1,1,1,,,,\n"), line},
        {BEHIND("1,4,1,1,1,1,,,,\n"), line},
        {BEHIND("2,4,1,1,\0,1,,,,\n"), line},
        {BEHIND("\0\n"), line},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Curve c = {0};
        *err = 0;
        int rc = curve_read(&c, put(rows[i].text, rows[i].n), UINT64_MAX, err, sizeof err);
        int right = rc == -EINVAL && strstr(err, rows[i].says) && strstr(err, "curve.csv");
        if (!right) printf("    row %zu: %d, %s\n", i, rc, err);
        CHECK(right);
        curve_free(&c);
    }
    Curve c = {0};
    CHECK(curve_read(&c, test_folder("curve"), 9, err, sizeof err) < 0 && strstr(err, "curve"));
    CHECK(curve_write_csv(&c, test_tmp("none/c.csv"), err, sizeof err) < 0 && strstr(err, "none/c.csv"));
    CHECK(curve_write_svg(&c, test_tmp("none/c.svg"), err, sizeof err) < 0 && strstr(err, "none/c.svg"));
}

/* A line for each thing that was measured somewhere, and no other; of many steps the means. */
static void chart(void) {
    static const char *const names[] = {"training", "held out", "copy", "its second"};
    for (int held = 0; held < 3; held++) {
        const char *path = test_tmp("curve.svg");
        Curve c = {0};
        for (uint64_t step = 1; step <= 1001; step++) {
            CoursePoint p = {.step = step, .loss = step % 5 ? 2 : 3, .held = {NAN, NAN}, .first = {NAN, NAN},
                             .again = {NAN, NAN}, .answer = {NAN, NAN}};
            p.has_held = held && step % 100 == 0;
            if (held) p.held.loss = p.has_held ? 2.5 : 9; /* 9: not measured, so not drawn */
            if (held == 2) p.first.loss = p.again.loss = 1.5;
            CHECK(curve_add(&c, &p) == 0);
        }
        CHECK(curve_write_svg(&c, path, err, sizeof err) == 0);
        char *svg = file_read(path, NULL);
        for (int i = 0; svg && i < 4; i++) CHECK(!strstr(svg, names[i]) == (i > held + (held > 1)));
        CHECK(svg && !strstr(svg, ">10<") && !strstr(svg, ">3.0<")); /* as the axis would say: means, below 2.4 */
        free(svg), curve_free(&c);
    }
}

extern const Test tests_curve[];
const Test tests_curve[] = {
    {"curve/there and back", there_and_back},
    {"curve/damaged", damaged},
    {"curve/chart", chart},
    {0},
};
