/* tests/test_axes_models.c - models with positions of several axes, against transformers' own Qwen2-VL and Qwen3-VL
 * (tests/oracle/axes.py): `logits --positions` and what stands below it. */
#include "build.h"
#include "decoder_files.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { VOCAB = 96 };

/* Logits are -6 .. 6; float32 against float64, and transformers' angles in float32: 1e-5 and 1e-6. */
static const double TOLERANCE = 1e-4, WRONG = 5e-3; /* of four pairs the wrong one is the slowest */

/* Line t of what `logits --all` wrote. */
static const char *line_of(const char *out, long t) {
    for (; out && t > 0; t--) out = strchr(out, '\n') ? strchr(out, '\n') + 1 : NULL;
    return out;
}

/* The largest difference of a row "t v v v .." from what the program wrote. */
static double distance(char *row, const char *out) {
    double worst = 0;
    const char *p = line_of(out, strtol(row, &row, 10));
    for (int i = 0; i < VOCAB; i++) {
        char *end = NULL;
        double got = p ? strtod(p, &end) : NAN, d = fabs(got - strtod(row, &row));
        if (!(d <= worst)) worst = d;
        p = end;
    }
    return worst;
}

/* One case of the file from its line on; its logits as `kind` has them. */
static double run_case(char *text, const char *model, const char *kind) {
    char *out = NULL, *err = NULL, ids[200] = "", command[2000];
    const char *places = test_tmp("places.txt");
    double worst = 0;
    FILE *f = fopen(places, "w");
    if (!f) return NAN;
    for (char *line = text; line && strncmp(line, "case ", 5) != 0;
         line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        size_t n = strcspn(line, "\n");
        if (strncmp(line, "at ", 3) == 0) fprintf(f, "%.*s\n", (int)n - 3, line + 3);
        if (strncmp(line, "ids ", 4) == 0) snprintf(ids, sizeof ids, "%.*s", (int)n - 4, line + 4);
    }
    fclose(f);
    snprintf(command, sizeof command, "%s logits %s --ids %s --positions %s --axes %s --all", test_run_path(), model,
             ids, places, kind);
    CHECK(test_shell(command, &out, &err) == 0);
    for (char *line = text; line && strncmp(line, "case ", 5) != 0;
         line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, "row ", 4) == 0) {
            double d = distance(line + 4, out);
            if (!(d <= worst)) worst = d;
        }
    free(out);
    free(err);
    return worst;
}

static void qwen(void) {
    char *text = file_read("tests/golden/axes.txt", NULL);
    int cases = 0;
    for (char *at = text; at && (at = strstr(at, "\ncase ")); cases++) {
        char name[20], kind[40];
        CHECK(sscanf(at, "\ncase %19s %39s", name, kind) == 2);
        const char *model = gguf_file(name, TENSOR_F32, &sound);
        at = strchr(at + 1, '\n') + 1;
        NEAR(run_case(at, model, kind), 0, TOLERANCE, 0);
        const char *other = strcmp(kind, "mrope") == 0 ? "mrope-interleaved" : "mrope"; /* the wrong pairs by an axis */
        CHECK(run_case(at, model, other) > WRONG);
    }
    CHECK(cases == 4);
    free(text);
}

extern const Test tests_axes_models[];
const Test tests_axes_models[] = {{"axes models/Qwen2-VL and Qwen3-VL of transformers", qwen}, {0}};
