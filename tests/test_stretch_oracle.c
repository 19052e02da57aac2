/* tests/test_stretch_oracle.c - every way to stretch RoPE (--rope SPEC) against logits that were computed outside it.
 *
 * tests/oracle/stretch.py made tests/golden/stretch: the heads of two small models trained at 32 (a LLaMA as GGUF, with
 * interleaved pairs; a Qwen3 as a Hugging Face folder, half-split, half a head turned), and of each spec float64 logits
 * after several lengths. The weights come from a formula, here and there the same (name_value).
 *
 * Last come the tests of the test. A golden must be missed under another spec, and the engine must miss what the right
 * formula gives with one mistake in it, where no spec can say that mistake. */
#include "test.h"

#include "kernels/rows.h"
#include "model/options.h"
#include "model/shift.h"
#include "model/timeline.h"
#include "build.h"

#include <stdlib.h>
#include <string.h>

#define GOLDEN "tests/golden/stretch/"

enum { MAX_IDS = 140, MAX_ROWS = 10, MAX_WRONG = 4, MAX_MISS = 8, VOCAB = 96, EVERY = 6, STORED = VOCAB / EVERY };

/* Logits are -6 .. 6. The oracle itself run in float32 is at most 4e-5 off (stretch.py --float32). */
static const double TOLERANCE = 1e-4, WRONG = 1e-2;

typedef struct {
    int n;             /* after the first n ids, read in one call */
    double squares;    /* the sum of all squared logits */
    double at[STORED]; /* logits 0, 6, 12 .. */
} Row;

typedef struct {
    char what[40];
    int n_rows;
    Row rows[MAX_ROWS];
} Rows;

typedef struct {
    char name[40], model[10], spec[500];
    int n_ids, ids[MAX_IDS];
    Rows right, wrong[MAX_WRONG];
    char miss[MAX_MISS][500];
    int n_wrong, n_miss;
} Case;

/* "name, model: what more", as a failure of the running test. */
static void fail(const Case *c, const char *what, const char *more) {
    char line[700];
    snprintf(line, sizeof line, "%s, %s: %s %s", c->name, c->model, what, more);
    test_fail(__FILE__, __LINE__, line);
}

/* ---- goldens ---- */

static char *golden_text(const char *name, const char *suffix, size_t *size) {
    char path[200];
    snprintf(path, sizeof path, GOLDEN "%s%s", name, suffix);
    char *text = file_read(path, size);
    if (!text) test_fail(__FILE__, __LINE__, path);
    return text;
}

static void read_row(Rows *r, const char *p) { /* row N SQUARES v v .. */
    Row *row = &r->rows[r->n_rows++];
    char *at;
    row->n = (int)strtol(p, &at, 10);
    row->squares = strtod(at, &at);
    for (int i = 0; i < STORED; i++) row->at[i] = strtod(at, &at);
}

static void read_ids(Case *c, const char *p) {
    char *at = (char *)p;
    for (c->n_ids = 0; *at != '\n' && c->n_ids < MAX_IDS; c->n_ids++) c->ids[c->n_ids] = (int)strtol(at, &at, 10);
}

/* The next case of a file from p on; where to go on, or NULL: there is none. c keeps its ids where none are given. */
static const char *next_case(const char *p, Case *c) {
    Rows *into = NULL;
    for (; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL) {
        if (into && (strncmp(p, "case ", 5) == 0 || strncmp(p, "ids ", 4) == 0)) return p;
        if (strncmp(p, "ids ", 4) == 0) read_ids(c, p + 4);
        if (strncmp(p, "case ", 5) == 0) {
            sscanf(p, "case %39s %9s", c->name, c->model);
            into = &c->right;
            into->n_rows = c->n_wrong = c->n_miss = 0;
        }
        if (strncmp(p, "spec ", 5) == 0) sscanf(p, "spec %499s", c->spec);
        if (strncmp(p, "wrong ", 6) == 0 && c->n_wrong < MAX_WRONG) {
            into = &c->wrong[c->n_wrong++];
            into->n_rows = 0;
            sscanf(p, "wrong %39[^\n]", into->what);
        }
        if (strncmp(p, "miss ", 5) == 0 && c->n_miss < MAX_MISS) sscanf(p, "miss %499s", c->miss[c->n_miss++]);
        if (strncmp(p, "row ", 4) == 0 && into && into->n_rows < MAX_ROWS) read_row(into, p + 4);
    }
    return into ? "" : NULL;
}

/* Case name of the llama in the file of a group; 0: not there. */
static int find_case(const char *group, const char *name, Case *c) {
    char *text = golden_text(group, ".logits", NULL);
    const char *p = text;
    int found = 0;
    while (!found && (p = next_case(p, c))) found = strcmp(c->name, name) == 0 && strcmp(c->model, "llama") == 0;
    free(text);
    if (!found) test_fail(__FILE__, __LINE__, name);
    return found;
}

/* ---- the two models ---- */

static float value_at(const char *name, uint64_t i) {
    size_t n = strlen(name);
    int u = name_value(name, i), norm = n > 11 && strcmp(name + n - 11, "norm.weight") == 0;
    return norm ? (float)(128 + u / 2) / 128 : (float)u / 256;
}

/* The head, then a tensor a line of llama.gguf.map: GGUF_NAME NAME COUNT COLUMNS plain | permute HEADS (rows of q and k
 * come from half-split order). */
static void write_llama(const char *path) {
    size_t n_head;
    char *head = golden_text("llama", ".gguf.head", &n_head), *map = golden_text("llama", ".gguf.map", NULL);
    char name[100], how[20];
    unsigned long count, cols, heads;
    Bytes b = {0};
    if (!head || !map) abort();
    bytes_put(&b, head, n_head);
    for (char *line = map; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        int read = sscanf(line, "%*s %99s %lu %lu %19s %lu", name, &count, &cols, how, &heads);
        if (read < 4) continue;
        unsigned long head_dim = read == 5 && strcmp(how, "permute") == 0 ? count / cols / heads : 0;
        bytes_pad(&b, 32);
        for (unsigned long i = 0; i < count; i++) {
            unsigned long row = i / cols, j = head_dim ? row % head_dim : 0;
            if (head_dim) row = row - j + j % 2 * (head_dim / 2) + j / 2;
            bytes_f32(&b, value_at(name, (uint64_t)row * cols + i % cols));
        }
    }
    bytes_pad(&b, 32);
    file_write(path, b.data, b.n);
    free(b.data), free(map), free(head);
}

/* The header that the safetensors package wrote, and the values where it says. */
static void write_qwen3(const char *folder) {
    size_t n_head, n_config, size = 0;
    char *head = golden_text("qwen3", ".safetensors.head", &n_head);
    char *config = golden_text("qwen3", ".config.json", &n_config);
    float *data = calloc(1 << 18, sizeof *data);
    if (!head || !config || !data) abort();
    for (char *p = head + 8; (p = strstr(p, ":{\"dtype\":\"F32\"")); p++) {
        unsigned long from, to;
        char name[100], *start = p - 1;
        while (start[-1] != '"') start--;
        snprintf(name, sizeof name, "%.*s", (int)(p - 1 - start), start);
        if (sscanf(strstr(p, "data_offsets"), "data_offsets\":[%lu,%lu]", &from, &to) != 2) abort();
        for (unsigned long i = 0; i < (to - from) / 4; i++) data[from / 4 + i] = value_at(name, i);
        if (to > size) size = to;
    }
    Bytes b = {0};
    bytes_put(&b, head, n_head);
    for (size_t i = 0; i < size / 4; i++) bytes_f32(&b, data[i]);
    file_write(test_in(folder, "model.safetensors"), b.data, b.n);
    file_write(test_in(folder, "config.json"), config, n_config);
    free(b.data), free(data), free(config), free(head);
}

/* Both models, written for the running test. */
typedef struct { char llama[500], qwen3[500]; } Models;

static const Models *models(void) {
    static Models m;
    snprintf(m.llama, sizeof m.llama, "%s", test_tmp("stretch.gguf"));
    snprintf(m.qwen3, sizeof m.qwen3, "%s", test_folder("stretch-hf"));
    write_llama(m.llama);
    write_qwen3(m.qwen3);
    return &m;
}

/* ---- the engine ---- */

/* How far the engine's logits after the first n ids are from a row: the largest difference of a stored logit, or what
 * the difference of the norms tells of the others, if that is more. */
static double row_distance(const float *logits, const Row *r) {
    double worst = 0, squares = 0;
    for (int i = 0; i < VOCAB; i++) squares += (double)logits[i] * logits[i];
    for (int i = 0; i < STORED; i++) {
        double d = fabs((double)logits[EVERY * i] - r->at[i]);
        if (!(d <= worst)) worst = d; /* a NaN stays */
    }
    double d = fabs(sqrt(squares) - sqrt(r->squares)) / sqrt(VOCAB);
    return d <= worst ? worst : d;
}

/* "SPEC+shift:context=C:keep=K": the part in front into plain [500], and how the session is to be; else {0}. */
static SessionOptions take_shift(const char *spec, char *plain, size_t *keep) {
    const char *at = strstr(spec, "shift:context=");
    unsigned long context = 0, first = 0;
    snprintf(plain, 500, "%s", at == spec ? "none" : spec);
    if (!at || sscanf(at, "shift:context=%lu:keep=%lu", &context, &first) != 2) return (SessionOptions){0};
    if (at > spec) plain[at - spec - 1] = 0;
    *keep = first;
    return (SessionOptions){.n_ctx = context, .shifts = 1};
}

/* The largest distance of the rows, each its ids in one call, under a spec; NaN where anything fails. n_ctx: the
 * context asked for (0: none), which gives a factor that is not written; longer rows are left out then. */
static double distance(const char *path, const Case *c, const Rows *rows, const char *spec, int n_ctx,
                       const Kernels *k) {
    char err[300] = "";
    Model m;
    Session s;
    double worst = 0;
    size_t keep = 0;
    char plain[500];
    SessionOptions so = take_shift(spec, plain, &keep);
    ModelOptions o = {.kernels = k, .rope = {.spec = plain, .n_ctx = n_ctx}};
    if (so.n_ctx == 0) so.n_ctx = MAX_IDS;
    so.threads = 1;
    if (model_open(&m, path, &o, err, sizeof err)) {
        fail(c, spec, err);
        return NAN;
    }
    if (session_init(&s, &m, &so, err, sizeof err)) {
        fail(c, spec, err);
        model_close(&m);
        return NAN;
    }
    for (int r = 0; r < rows->n_rows && worst == worst; r++) {
        const float *logits = NULL;
        if (n_ctx && rows->rows[r].n > n_ctx) continue;
        if (k == kernels_row(0) && rows->rows[r].n > 65) continue; /* ref takes its time */
        session_rewind(&s, 0);
        if (session_eval_shifting(&s, keep, c->ids, (size_t)rows->rows[r].n, &logits, err, sizeof err))
            fail(c, spec, err);
        double d = logits ? row_distance(logits, &rows->rows[r]) : NAN;
        if (!(d <= worst)) worst = d;
    }
    session_free(&s);
    model_close(&m);
    return worst;
}

/* All cases of a group's file in rows ref and the fastest. */
static void run_group(const char *group) {
    static Case c;
    const Models *m = models();
    const Kernels *rows[] = {kernels_row(0), kernels_best()};
    char *text = golden_text(group, ".logits", NULL);
    int n = 0;
    double worst = 0;
    for (const char *p = text; p && (p = next_case(p, &c)); n++)
        for (int i = 0; i < 2; i++) {
            const char *path = strcmp(c.model, "llama") == 0 ? m->llama : m->qwen3;
            double d = distance(path, &c, &c.right, c.spec, 0, rows[i]);
            if (!(d <= worst)) worst = d;
            if (d <= TOLERANCE) continue;
            char what[100];
            snprintf(what, sizeof what, "off by %.2e with kernels %s under", d, rows[i]->name);
            fail(&c, what, c.spec);
        }
    free(text);
    CHECK(n > 0);
    if (getenv("ORACLE_PRINT")) printf("    %s: %d cases, worst difference %.2e\n", group, n, worst);
}

static void test_frequency(void) { run_group("frequency"); }
static void test_distance(void) { run_group("distance"); }
static void test_layers(void) { run_group("layers"); }
static void test_score(void) { run_group("score"); }
static void test_combination(void) { run_group("combination"); }
static void test_memory(void) { run_group("memory"); }
static void test_shift(void) { run_group("shift"); }

/* ---- numbers that a spec leaves out ---- */

static void test_defaults(void) {
    static const struct { const char *group, *name, *spec; int n_ctx; } rows[] = {
        {"frequency", "linear", "linear", 128},
        {"frequency", "linear-2.5", "linear", 80},
        {"frequency", "ntk", "ntk", 128},
        {"frequency", "ntk-fixed", "ntk-fixed", 128},
        {"frequency", "ntk-mixed", "ntk-mixed", 128},
        {"frequency", "by-parts", "by-parts", 128},
        {"frequency", "dynamic", "dynamic:factor=2", 0},
        {"frequency", "dynamic-each", "dynamic-each:factor=2", 0},
        {"frequency", "dynamic-yarn", "dynamic-yarn", 0},
        {"frequency", "yarn", "yarn", 128},
        {"frequency", "yarn-attention", "yarn:attention_factor=1.3", 128},
        {"frequency", "llama3", "llama3:factor=8", 0},
        {"frequency", "proportional", "proportional", 0},
        {"frequency", "proportional", "p-rope", 0},
        {"frequency", "qwen-dynamic", "qwen-dynamic", 0},
        {"frequency", "resonance", "resonance", 128},
        {"layers", "nope", "nope", 0},
        {"distance", "dca", "dca:chunk=24:local=4", 0},
        {"score", "log-n", "log-n", 0},
        {"score", "log-n-always", "log-n:always=1", 0},
        {"score", "ministral", "ministral", 0},
        {"score", "eabf", "eabf", 0},
        {"combination", "ntk+log-n", "ntk+log-n", 128},
        {"combination", "yarn+rerope", "rerope:window=8+yarn", 128},
    };
    static Case c;
    const Models *m = models();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (find_case(rows[i].group, rows[i].name, &c)) {
            double d = distance(m->llama, &c, &c.right, rows[i].spec, rows[i].n_ctx, kernels_best());
            if (!(d <= TOLERANCE)) fail(&c, "is not what this means:", rows[i].spec);
        }
}

/* ---- frequencies ---- */

/* One line of frequencies.txt: SPEC D THETA LENGTH MAGNITUDE w w .. against rope_init's numbers in a model whose heads
 * are D wide. */
static void check_frequencies(const char *line) {
    char spec[500], err[300] = "";
    int d, used = 0;
    long length;
    double theta, magnitude;
    if (sscanf(line, "%499s %d %lf %ld %lf%n", spec, &d, &theta, &length, &magnitude, &used) != 5) return;
    const char *path = test_tmp("stretch-frequencies.gguf");
    build_gguf(path, &(BuildShape){.d = d, .ff = 32, .layers = 1, .heads = 1, .kv_heads = 1, .n_ctx = 64}, TENSOR_F32);
    Model m;
    if (model_open(&m, path, &(ModelOptions){.rope = {.spec = spec, .theta = theta}}, err, sizeof err)) {
        test_fail(__FILE__, __LINE__, err);
        return;
    }
    Rope r;
    rope_init(&r, &m.config.rope, length);
    char *p = (char *)line + used;
    double worst = fabs(r.scale / magnitude - 1);
    for (int i = 0; i < d / 2; i++) {
        double w = strtod(p, &p), off = w ? fabs(r.inv_freq[i] / w - 1) : fabs(r.inv_freq[i]);
        if (!(off <= worst)) worst = off;
    }
    if (!(worst <= 1e-12)) {
        snprintf(err, sizeof err, "frequencies off by %.1e: %.100s d %d length %ld", worst, spec, d, length);
        test_fail(__FILE__, __LINE__, err);
    }
    model_close(&m);
}

static void test_frequencies(void) {
    char *text = golden_text("frequencies", ".txt", NULL);
    for (const char *p = text; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
        if (*p != '#') check_frequencies(p);
    free(text);
}

/* ---- tests of the test ---- */

static void expect_wrong(const Case *c, const char *what, double d) {
    if (getenv("ORACLE_PRINT")) printf("    %s, %s: off by %.2g\n", c->name, what, d);
    if (!(d > WRONG)) fail(c, "the golden does not see", what);
}

/* Every case of the llama in every group: specs that must miss its rows (`miss` in the goldens); and rows of its
 * formula with a mistake (`wrong`), which its own spec must miss. */
static void run_wrong(int formulas) {
    static const char *const groups[] = {"frequency", "distance", "layers", "score", "combination", "memory", "shift"};
    static Case c;
    const Models *m = models();
    const Kernels *k = kernels_best();
    int n = 0;
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        char *text = golden_text(groups[g], ".logits", NULL);
        for (const char *p = text; p && (p = next_case(p, &c));) {
            for (int i = 0; i < c.n_wrong && formulas; i++, n++)
                expect_wrong(&c, c.wrong[i].what, distance(m->llama, &c, &c.wrong[i], c.spec, 0, k));
            for (int i = 0; i < c.n_miss && !formulas; i++, n++)
                expect_wrong(&c, c.miss[i], distance(m->llama, &c, &c.right, c.miss[i], 0, k));
        }
        free(text);
    }
    CHECK(n > 20);
}

static void test_wrong_specs(void) { run_wrong(0); }
static void test_wrong_formulas(void) { run_wrong(1); }

const Test tests_stretch_oracle[] = {
    {"stretch oracle/frequency rows", test_frequency},
    {"stretch oracle/distance rows", test_distance},
    {"stretch oracle/layers", test_layers},
    {"stretch oracle/score rows", test_score},
    {"stretch oracle/combinations", test_combination},
    {"stretch oracle/infllm and ms-poe", test_memory},
    {"stretch oracle/contexts that shift", test_shift},
    {"stretch oracle/defaults", test_defaults},
    {"stretch oracle/frequencies", test_frequencies},
    {"stretch oracle/wrong specs", test_wrong_specs},
    {"stretch oracle/wrong formulas", test_wrong_formulas},
    {0},
};
