/* tests/test_plot.c - columns of tables as means of several files (lab/csv.h), and the command that draws them. */
#include "lab/csv.h"

#include "build.h"
#include "program.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static const char *put(const char *name, const char *text) {
    const char *path = test_tmp(name);
    file_write(path, text, strlen(text));
    return path;
}

/* Two files of a series: 10 has 1 and (2 + 4) / 2, so its mean is 2 and its standard error 1. */
static void means(void) {
    const char *paths[] = {put("a.csv", "# seed 1\nstep,loss,kind\n10,1,x\n30,7,x\n20,,x\n10,50,y\n"),
                           put("b.csv", "kind,loss,step\r\nx,2,9\r\nx,4,10\r\n\"x\",nan,30\r\n")};
    char err[300] = "";
    Series s;
    SeriesWish w = {.x = "step", .y = "loss", .where = "kind=x", .bin = 5};
    CHECK(series_read(&s, paths, 2, &w, err, sizeof err) == 0 && s.n == 2);
    if (s.n == 2) {
        const SeriesPoint *p = s.at;
        CHECK(p->x == 10 && p->y == 2 && p->error == 1 && p->least == 1 && p->most == 3 && p->n_files == 2);
        CHECK(p[1].x == 30 && p[1].y == 7 && p[1].error == 0 && p[1].n_files == 1);
    }
    series_free(&s);
    w.y = "los";
    CHECK(series_read(&s, paths, 2, &w, err, sizeof err) < 0 && strstr(err, "no column \"los\""));
    w.y = "loss", w.where = "kind=z";
    CHECK(series_read(&s, paths, 2, &w, err, sizeof err) < 0 && strstr(err, "no row"));
    w.where = "kind";
    CHECK(series_read(&s, paths, 2, &w, err, sizeof err) < 0 && strstr(err, "column=value"));
}

static void fields(void) {
    char *f[3], a[] = "1,\"a,\"\"b\"\"\",", b[] = "\"open,1", c[] = "\"a\"b,1", d[] = "1,2,3,4";
    CHECK(csv_cut(a, f, 3) == 3 && strcmp(f[1], "a,\"b\"") == 0 && !*f[2]);
    CHECK(csv_cut(b, f, 3) == 0 && csv_cut(c, f, 3) == 0 && csv_cut(d, f, 3) == 0);
}

static int holds(const char *name, const char *text) {
    size_t n;
    char *now = file_read(test_tmp(name), &n);
    int same = now && n == strlen(text) && memcmp(now, text, n) == 0;
    free(now);
    return same;
}

static void command(void) {
    const char *a = put("one.csv", "step,loss\n1,3\n2,2\n"), *b = put("two.csv", "step,loss\n1,5\n2,2\n"),
               *svg = test_tmp("plot.svg"), *bad = put("bad.csv", "step,loss\n1,3\n2\n"), *none = put("none.csv", "");
    CHECK(run("plot a=1=%s,%s %s --csv", a, b, a) == 0);
    CHECK(strcmp(out, "series,step,mean,stderr,least,most,files\na=1,1,4,1,3,5,2\na=1,2,2,0,2,2,2\n"
                      "one.csv,1,3,0,3,3,1\none.csv,2,2,0,2,2,1\n") == 0);
    CHECK(run("plot both=%s,%s --svg %s --title Loss", a, b, svg) == 0 && strstr(out, "both"));
    size_t n = 0;
    char *drawn = file_read(svg, &n);
    CHECK(drawn && strstr(drawn, "both") && strstr(drawn, "Loss"));
    free(drawn);
    CHECK(run("plot") == 2 && said_line("NAME=FILE"));
    CHECK(run("plot %s", bad) == 1 && said_line("line 3"));
    CHECK(run("plot %s", none) == 1 && said_line("is empty"));
    CHECK(run("plot x=") == 2 && said_line("NAME=FILE"));
    CHECK(run("plot %s --x time", a) == 1 && said_line("no column \"time\""));
    CHECK(run("plot %s --y-min 3 --y-max 1", a) == 2 && said_line("the smaller first"));
    CHECK(run("plot x=/nowhere.csv") == 1 && said_line("/nowhere.csv"));
}

/* What is there and is no picture stays, and so does what the command reads, also of pictures beside --svg's. */
static void stays(void) {
    static const struct { const char *command, *line; } rows[] = {
        {"plan $F --svg $F", "is read by this command"},
        {"compare model/tales-1m.gguf -f $F --rope none --lengths 16 --score 8 --svg $F", "is read by this command"},
        {"perplexity model/tales-1m.gguf -f $F -c 16 --by-position --svg $F", "is read by this command"},
        {"plot a=$F --svg $F", "drawn here; it stays"},
        {"rope clock --svg $F", "drawn here; it stays"},
        {"plan model/tales-1m.gguf --svg $F", "drawn here; it stays"},
        {"compare model/tales-1m.gguf -f LICENSE --rope none --lengths 16 --score 8 --entropy --svg $S",
         "drawn here; it stays"},
        {"passkey --rope none,ntk --lengths 128 --depths 50 --trials 1 --svg $S", "drawn here; it stays"}};
    static const char table[] = "step,loss\n1,3\n2,2\n";
    put("stays-entropy.svg", table), put("stays-2.svg", table);
    char file[400], svg[400];
    snprintf(file, sizeof file, "%s", put("stays.csv", table));
    snprintf(svg, sizeof svg, "%s", test_tmp("stays.svg"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int code = shell("F=%s S=%s; %s %s -q", file, svg, test_run_path(), rows[i].command);
        if (code != 1) printf("    %s: %d\n", rows[i].command, code);
        CHECK(code == 1 && *out == 0 && said_line(rows[i].line));
        CHECK(holds("stays.csv", table) && holds("stays-entropy.svg", table) && holds("stays-2.svg", table));
    }
    const char *text = put("stays.xml", "<svg>a picture as a text, of some words more than eight</svg>");
    CHECK(run("perplexity model/tales-1m.gguf -f %s -c 8 --by-position --svg %s -q", text, text) == 1 &&
          said_line("is read by this command"));
    CHECK(run("rope clock -q --svg -") == 2 && said_line("a picture goes into a file"));
    static const char *const may[] = {"", "<svg", "<svg "};
    for (size_t i = 0; i < sizeof may / sizeof *may; i++)
        for (int twice = 0; twice < 2; twice++)
            CHECK(run("rope clock -q --svg %s", twice ? test_tmp("may.svg") : put("may.svg", may[i])) == 0);
    CHECK(shell("cp %s %s && cp %s %s", test_tmp("may.svg"), test_tmp("stays-2.svg"), test_tmp("may.svg"),
                test_tmp("stays-entropy.svg")) == 0);
    CHECK(run("passkey --rope none,ntk --lengths 128 --depths 50 --trials 1 -q --svg %s", svg) == 0);
    CHECK(run("compare model/tales-1m.gguf -f LICENSE --rope none --lengths 16 --score 8 --entropy -q --svg %s",
              svg) == 0);
}

const Test tests_plot[] = {{"plot/means", means}, {"plot/fields", fields}, {"plot/command", command},
                           {"plot/what stays", stays}, {0}};
