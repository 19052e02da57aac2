/* tests/test_compare.c - the command compare and what it is made of: the same ids in every cell, files that are gone on
 * with and joined. */
#include "cli_files.h"
#include "lab/compare.h"
#include "lab/compare_table.h"
#include "model/options.h"
#include "model/timeline.h"
#include "program.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { IDS = 260, FROM = 99, SCORE = 37, LONGEST = 100 };
static const BuildShape shape = {.d = 32, .ff = 64, .layers = 2, .heads = 4, .kv_heads = 2, .n_ctx = 64};
static const char *const specs[] = {"none", "yarn", "dynamic", "rerope:window=9",
                                    "self-extend:group=3:window=8+log-n", "longrope:factor=2:long=2/2/2/2"};
enum { N_SPECS = sizeof specs / sizeof *specs };

static int ids[IDS];

static int open_random(Model *m) {
    char err[300] = "";
    build_gguf(test_tmp("compare.gguf"), &shape, TENSOR_F32);
    for (int i = 0; i < IDS; i++) ids[i] = build_id(i);
    int rc = model_open(m, test_tmp("compare.gguf"), NULL, err, sizeof err);
    CHECK(rc == 0);
    return rc;
}

static int open_cell(Model *view, RopeNumbers *numbers, Session *s, const Model *m, const char *spec, size_t length) {
    char err[400] = "";
    RopeOverride rope = {.spec = spec, .n_ctx = (int64_t)length};
    SessionOptions o = {.n_ctx = length, .n_batch = 13, .n_logits = 3};
    int rc = model_stretch(view, numbers, m, &rope, err, sizeof err);
    if (rc == 0) rc = session_init(s, view, &o, err, sizeof err);
    if (rc) printf("    %s at %zu: %s\n", spec, length, err);
    CHECK(rc == 0);
    return rc;
}

/* ---- which ids, and what each sees ---- */

typedef struct { size_t at; int id; double loss; } Wanted;

static void look(void *arg, size_t i, const float *logits) {
    Wanted *w = arg;
    double sum = 0;
    if (i != w->at) return;
    for (int k = 0; k < BUILD_VOCAB; k++) sum += exp((double)logits[k]);
    w->loss = log(sum) - (double)logits[w->id];
}

/* The rule of compare.h for one id alone: its window ends where its quarter does. */
static double naive(Session *s, size_t id, int bos, size_t length) {
    size_t quarter = length / 4 ? length / 4 : 1, end = FROM + ((id - FROM) / quarter + 1) * quarter, n = 0;
    int w[LONGEST];
    char err[300] = "";
    if (end > FROM + SCORE) end = FROM + SCORE;
    Wanted wanted = {.at = length - (end - id) - 1, .id = ids[id], .loss = NAN};
    if (bos >= 0) w[n++] = bos;
    for (size_t i = end - (length - n); n < length; i++) w[n++] = ids[i];
    session_rewind(s, 0);
    CHECK(session_eval_each(s, w, length, look, &wanted, err, sizeof err) == 0);
    return wanted.loss;
}

static void same_ids(void) {
    static const size_t lengths[] = {2, 3, 7, 16, 64, 99, LONGEST};
    static RopeNumbers numbers;
    const CompareCut cut = {.from = FROM, .score = SCORE};
    char err[300] = "";
    Model m, view;
    Session s;
    if (open_random(&m)) return;
    CHECK(compare_from(LONGEST) == FROM);
    for (int spec = 0; spec < N_SPECS; spec++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            for (int bos = -1; bos <= 1; bos += 2) {
                double sum = 0, squares = 0;
                Perplexity p = {0};
                if (open_cell(&view, &numbers, &s, &m, specs[spec], lengths[l])) continue;
                CHECK(compare_cell(&p, &s, ids, IDS, bos, &cut, lengths[l], err, sizeof err) == 0);
                for (size_t id = FROM; id < FROM + SCORE; id++) {
                    double x = naive(&s, id, bos, lengths[l]);
                    sum += x, squares += x * x;
                }
                CHECK(p.tokens == SCORE && p.windows == compare_windows(&cut, lengths[l]));
                NEAR(p.nll_sum, sum, 1e-9, 1e-9);
                NEAR(p.nll_squares, squares, 1e-9, 1e-9);
                session_free(&s);
            }
    model_close(&m);
}

typedef struct { const Model *m; double nll; } Sum;

static void sum_all(void *arg, size_t i, const float *logits) {
    Sum *sum = arg;
    if (i + 1 < LONGEST) sum->nll += perplexity_nll(sum->m, logits, ids[i + 1]);
}

/* A window's frequencies go by all of its ids, though the last one is not read. */
static void whole_window(void) {
    static RopeNumbers numbers;
    char err[300] = "";
    Model m, view;
    Session s;
    Perplexity p = {0};
    Sum whole = {.m = &view}, short_of_one = whole;
    if (open_random(&m)) return;
    if (open_cell(&view, &numbers, &s, &m, "dynamic:factor=2", LONGEST)) return;
    CHECK(perplexity_add(&p, &s, ids, LONGEST, -1, LONGEST, err, sizeof err) == 0 && p.tokens == LONGEST - 1);
    session_rewind(&s, 0);
    CHECK(session_eval_each(&s, ids, LONGEST, sum_all, &whole, err, sizeof err) == 0);
    session_rewind(&s, 0);
    CHECK(session_eval_each(&s, ids, LONGEST - 1, sum_all, &short_of_one, err, sizeof err) == 0);
    NEAR(p.nll_sum, whole.nll, 0, 1e-9);
    CHECK(fabs(short_of_one.nll - whole.nll) > 1e-4 * whole.nll);
    session_free(&s);
    model_close(&m);
}

/* Windows over the whole text are those of perplexity, and the bins add up to its sum. */
static void by_position(void) {
    static const size_t lengths[] = {2, 16, 64, LONGEST};
    static RopeNumbers numbers;
    char err[300] = "";
    Model m, view;
    Session s;
    if (open_random(&m)) return;
    for (size_t l = 0; l < 4; l++)
        for (int bos = -1; bos <= 1; bos += 2) {
            size_t length = lengths[l], windows = compare_whole(IDS, bos, length), tokens = 0;
            Perplexity want = {0}, bins[LONGEST / 10 + 1] = {0};
            double sum = 0;
            if (open_cell(&view, &numbers, &s, &m, "none", length)) continue;
            CHECK(windows == IDS / (length - (bos >= 0)));
            CHECK(perplexity_add(&want, &s, ids, windows * (length - (bos >= 0)), bos, length, err, sizeof err) == 0);
            CHECK(compare_by_position(bins, 10, &s, ids, IDS, bos, windows, length, err, sizeof err) == 0);
            for (size_t i = 0; i <= LONGEST / 10; i++) {
                size_t positions = length <= i * 10 ? 0 : length - i * 10 < 10 ? length - i * 10 : 10;
                CHECK(bins[i].tokens == windows * (positions - (i == 0)));
                sum += bins[i].nll_sum, tokens += bins[i].tokens;
            }
            CHECK(tokens == want.tokens && bins->windows == want.windows);
            NEAR(sum, want.nll_sum, 0, 1e-12);
            CHECK(compare_by_position(bins, 10, &s, ids, IDS, bos, windows + 1, length, err, sizeof err) == -EINVAL);
            session_free(&s);
        }
    model_close(&m);
}

static void too_few(void) {
    static RopeNumbers numbers;
    char err[300] = "";
    Model m, view;
    Session s;
    Perplexity p = {0};
    if (open_random(&m) || open_cell(&view, &numbers, &s, &m, "none", LONGEST)) return;
    CompareCut cut = {.from = FROM - 1, .score = SCORE};
    CHECK(compare_cell(&p, &s, ids, IDS, 1, &cut, LONGEST, err, sizeof err) == -EINVAL);
    cut = (CompareCut){.from = FROM, .score = IDS - FROM + 1};
    CHECK(compare_cell(&p, &s, ids, IDS, 1, &cut, LONGEST, err, sizeof err) == -EINVAL && strstr(err, "260"));
    cut.score--;
    CHECK(compare_cell(&p, &s, ids, IDS, 1, &cut, LONGEST, err, sizeof err) == 0 && p.tokens == cut.score);
    session_free(&s);
    model_close(&m);
}

/* ---- the program ---- */

/* "compare MODEL -f TEXT" in arguments [1000]: a text of some four hundred ids. */
static void command_begin(char *arguments) {
    CliModel m = cli_model();
    char text[2000] = "";
    while (strlen(text) < 1500)
        snprintf(text + strlen(text), 100, "a hand and the sand %zu, ", strlen(text) * 37 % 1009);
    file_write(test_tmp("compare.txt"), text, strlen(text));
    snprintf(arguments, 1000, "compare %s -f %s", m.gguf, test_tmp("compare.txt"));
}

#define LIST "--rope 'none,yarn,ntk:factor=4+log-n,rerope:window=20' --lengths 64,16,128,16 --score 50"

/* The row of CSV that begins so: its number in column i. */
static double field(const char *csv, const char *begin, int i) {
    const char *at = strstr(csv, begin);
    for (; at && i > 0; i--) at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
    return at ? strtod(at, NULL) : NAN;
}

static void outputs(void) {
    char begin[1000];
    command_begin(begin);
    CHECK(run("%s " LIST " --csv", begin) == 0);
    CHECK(strstr(said, "4 methods x 3 lengths, 50 ids each") && strstr(said, "MB"));
    CHECK(strstr(out, "# cut: ids 127 to 176 of the text") && strstr(out, "\nrope,length,nll,stderr,tokens,entropy\n"));
    CHECK(strstr(out, "\n# cell: yarn:original=64:factor=2") && strstr(out, "\n# cell: yarn:original=64:factor=1"));
    CHECK(strstr(out, "\nnone,16,") && strstr(out, "\nrerope:window=20,128,"));
    double nll = field(out, "\nyarn,128,", 2), error = field(out, "\nyarn,128,", 3);
    CHECK(nll > 1 && nll < 30 && error > 0 && field(out, "\nyarn,128,", 4) == 50);
    char *csv = taken_out(), want[60];
    CHECK(run("%s " LIST " --json -q", begin) == 0 && *said == 0 && count_lines(out) == 1);
    snprintf(want, sizeof want, "\"length\":128,\"nll\":%.9g,", nll);
    CHECK(strstr(out, want) && strstr(out, "\"model_file\":\"") && strstr(out, "\"spec\":\"yarn:original=64:factor=2"));
    CHECK(run("%s " LIST " --svg %s", begin, test_tmp("compare.svg")) == 0);
    snprintf(want, sizeof want, "%.4f (%.4f)", nll, error);
    CHECK(strstr(out, want) && strstr(out, "\nloss ") && strstr(out, "\nntk:factor=4+log-n"));
    char *svg = file_read(test_tmp("compare.svg"), NULL);
    CHECK(svg && strstr(svg, "<svg") && strstr(svg, "trained: 64") && strstr(svg, "rerope:window=20"));
    free(svg);
    CHECK(run("%s " LIST " --entropy --svg %s", begin, test_tmp("both.svg")) == 0 && strstr(out, "\nentropy "));
    svg = file_read(test_tmp("both-entropy.svg"), NULL);
    CHECK(svg && strstr(svg, "Entropy") && strstr(svg, "rerope:window=20"));
    free(svg);
    CHECK(run("%s " LIST " --entropy --csv", begin) == 0);
    CHECK(field(out, "\nyarn,128,", 2) == nll && field(out, "\nyarn,128,", 5) > 0);
    CHECK(field(out, "\nyarn,128,", 5) < log(128) && field(out, "\nyarn,16,", 5) < log(16));
    CHECK(run("%s --rope none --score 5 --csv", begin) == 1); /* 16 times 64 are more than the text has */
    CHECK(said_line("up to"));
    free(csv);
}

/* Direct, by position: the bins of one run; the same as perplexity of the same windows. */
static void positions(void) {
    char begin[1000];
    double sum = 0, tokens = 0;
    command_begin(begin);
    CHECK(run("%s --rope none,yarn --lengths 16,64 --by-position --csv", begin) == 0);
    CHECK(strstr(out, "\nrope,length,position,nll,stderr,tokens\n") && strstr(out, "in bins of 2 positions"));
    CHECK(!strstr(out, ",16,0,") && strstr(out, "\nyarn,64,62,"));
    for (int i = 0; i < 32; i++) {
        char row[40];
        snprintf(row, sizeof row, "\nnone,64,%d,", 2 * i);
        sum += field(out, row, 3) * field(out, row, 5);
        tokens += field(out, row, 5);
    }
    CHECK(tokens > 200 && fmod(tokens, 63) == 0);
    CHECK(run("%s --rope none,yarn --lengths 64 --by-position", begin) == 0 && strstr(out, "\n62 "));
    CHECK(run("perplexity %s --json", begin + strlen("compare ")) == 0); /* and the ids behind the last whole window */
    CHECK(json_number("tokens") - tokens >= 0 && json_number("tokens") - tokens < 63);
    if (json_number("tokens") == tokens) NEAR(json_number("nll_sum"), sum, 0, 1e-7);
}

/* Broken off anywhere, the same command makes the same file. */
static void resumed(void) {
    static const char *const modes[] = {LIST, "--rope none,yarn --lengths 64 --by-position"};
    char begin[1000];
    const char *path = test_tmp("resume.csv");
    command_begin(begin);
    for (int mode = 0; mode < 2; mode++) {
        size_t n = 0, cuts = 0;
        remove(path);
        CHECK(run("%s %s --resume %s", begin, modes[mode], path) == 0);
        char *whole = file_read(path, &n), *table = taken_out();
        CHECK(run("%s %s --csv", begin, modes[mode]) == 0 && strcmp(out, whole) == 0);
        for (size_t at = 0; at <= n; at++) {
            int line = at == 0 || at == n || whole[at - 1] == '\n';
            if (!line && at % 97 != 5) continue; /* at each line, and within some */
            if (mode == 1 && cuts % 5) { cuts++; continue; }
            cuts++;
            file_write(path, whole, at);
            CHECK(run("%s %s --resume %s", begin, modes[mode], path) == 0);
            CHECK(text_is_of(whole, path) && strcmp(out, table) == 0);
        }
        CHECK(cuts > 30);
        free(whole);
        free(table);
    }
    /* more of the same run may follow; another's stays as it is */
    CHECK(run("%s --rope none --lengths 64,128 --score 50 --resume %s", begin, path) == 1 && said_line("another run"));
    remove(path);
    CHECK(run("%s --rope none --lengths 16,128 --score 50 --resume %s", begin, path) == 0);
    CHECK(run("%s --rope none,yarn --lengths 64,128 --score 50 --resume %s --csv", begin, path) == 0);
    CHECK(strstr(out, "\nnone,16,") && strstr(out, "\nnone,64,") && strstr(out, "\nyarn,128,"));
    char *whole = taken_out(); /* the entropy may come later: losses stay, as do cells that have it */
    CHECK(run("%s --rope none --lengths 64 --from 127 --score 50 --entropy --resume %s --csv", begin, path) == 0);
    CHECK(field(out, "\nnone,64,", 5) > 0 && count_lines(out) == count_lines(whole));
    CHECK(field(out, "\nnone,64,", 2) == field(whole, "\nnone,64,", 2) && strstr(strstr(out, "\nnone,16,"), ",50,\n"));
    free(whole);
    CHECK(run("%s --rope none --lengths 128 --score 49 --resume %s", begin, path) == 1 && said_line("another run"));
    CHECK(run("%s --rope none --lengths 128 --score 50 --kv f16 --resume %s", begin, path) == 1 && said_line("f16"));
    file_write(path, "a letter\n", 9);
    CHECK(run("%s --rope none --lengths 128 --score 50 --resume %s", begin, path) == 1 && said_line("stays as it is"));
    CHECK(text_is_of("a letter\n", path));
}

/* ---- several machines ---- */

/* Each job's CSV in a folder; their count. */
static int do_jobs(const char *folder, const char *begin, const char *list) {
    CHECK(run("%s %s --jobs", begin, list) == 0);
    char *jobs = taken_out(), *o = NULL, *e = NULL, *line = jobs;
    int n = 0;
    for (char *end; (end = strchr(line, '\n')); line = end + 1, n++) {
        char name[40], command[3000];
        *end = 0;
        snprintf(command, sizeof command, "%s -q", line);
        CHECK(test_shell(command, &o, &e) == 0 && *e == 0);
        snprintf(name, sizeof name, "%d.csv", n);
        file_write(test_in(folder, name), o, strlen(o));
    }
    free(jobs);
    free(o);
    free(e);
    return n;
}

static void merged(void) {
    char begin[1000], quoted[1200];
    const char *folder = test_folder("cells");
    command_begin(begin);
    CHECK(do_jobs(folder, begin, LIST) == 12);
    CHECK(run("%s " LIST " --csv", begin) == 0);
    char *direct = taken_out();
    CHECK(run("compare --merge %s --csv " LIST, folder) == 0 && strcmp(out, direct) == 0 && *said == 0);
    CHECK(run("compare --merge %s %s/3.csv %s --csv " LIST, folder, folder, folder) == 0 && strcmp(out, direct) == 0);
    file_write(test_tmp("direct.csv"), direct, strlen(direct));
    CHECK(run("compare --csv " LIST " %s --merge", test_tmp("direct.csv")) == 0 && strcmp(out, direct) == 0);
    CHECK(run("%s " LIST, begin) == 0);
    char *table = taken_out();
    CHECK(run("compare --merge %s " LIST, folder) == 0 && strcmp(out, table) == 0);
    free(table);
    /* one behind the other, as xargs leaves them; in another order */
    snprintf(quoted, sizeof quoted, "cd %s && cat 7.csv 11.csv 0.csv 5.csv 1.csv 2.csv 3.csv 4.csv 8.csv 6.csv "
             "> all.txt && cat 9.csv 10.csv > rest.txt", folder);
    CHECK(system(quoted) == 0);
    CHECK(run("compare --merge %s/all.txt %s/rest.txt --csv", folder, folder) == 0);
    table = taken_out();
    CHECK(run("compare --merge %s/rest.txt %s/all.txt %s --csv", folder, folder, folder) == 0);
    CHECK(strcmp(out, table) == 0);
    /* what is missing, and what is more */
    CHECK(run("compare --merge %s/all.txt --csv", folder) == 0);
    CHECK(said_line("missing: 2 of 12 cells: rerope:window=20 at 16, rerope:window=20 at 64"));
    CHECK(run("compare --merge %s --rope none,linear --lengths 32", folder) == 0 && strstr(said, "missing: 8 of 20"));
    free(table);
    free(direct);
    /* names that a shell would take apart */
    mkdir(test_in(folder, "it's \"here\""), 0700);
    snprintf(quoted, sizeof quoted, "%s", test_in(folder, "it's \"here\""));
    CHECK(file_copy(test_tmp("compare.txt"), test_in(quoted, "$a b.txt")));
    CliModel m = cli_model();
    snprintf(begin, sizeof begin, "compare %s -f \"%s/it's \\\"here\\\"/\\$a b.txt\"", m.gguf, folder);
    CHECK(do_jobs(quoted, begin, "--rope none --lengths 16 --score 20") == 1);
    char *cell = file_read(test_in(quoted, "0.csv"), NULL);
    CHECK(cell && strstr(cell, "\nnone,16,") && strstr(cell, "it's \"here\"/$a b.txt\n"));
    free(cell);
}

static void contradicted(void) {
    char begin[1000], *other;
    const char *a = test_tmp("a.csv"), *b = test_tmp("b.csv");
    command_begin(begin);
    remove(a);
    CHECK(run("%s --rope none,yarn --lengths 16,32 --score 20 --resume %s", begin, a) == 0);
    char *whole = file_read(a, NULL);
    for (int i = 0; i < 2; i++) { /* a last digit more is rounding, a first one is not */
        other = strdup(whole);
        char *at = strstr(other, "\nyarn,32,") + strlen("\nyarn,32,");
        if (i == 0) at += strcspn(at, ",") - 1;
        *at = *at == '9' ? '8' : (char)(*at + 1);
        file_write(b, other, strlen(other));
        free(other);
        CHECK(run("compare --merge %s %s --csv", a, b) == i);
        if (i) CHECK(said_line("yarn at 32") && *out == 0);
        char *first = taken_out();
        CHECK(run("compare --merge %s %s --csv", b, a) == i && (i || strcmp(first, out) == 0));
        free(first);
    }
    CHECK(run("%s --rope none --lengths 16,32 --score 21 --csv", begin) == 0);
    file_write(b, out, strlen(out));
    CHECK(run("compare --merge %s %s --csv", a, b) == 1 && said_line("another run"));
    file_write(b, "", 0);
    CHECK(run("compare --merge %s %s --csv", a, b) == 0 && said_line("no cell yet"));
    CHECK(run("compare --merge %s", b) == 1);
    file_write(b, "rope,length\n", 12);
    CHECK(run("compare --merge %s %s", a, b) == 1 && said_line("no table"));
    char *spoken = strdup(whole);
    memcpy(strstr(spoken, "\nyarn,32,"), "\nya\033n", 5);
    memcpy(strstr(spoken, "text file: ") + 11, "\033", 1);
    file_write(b, spoken, strlen(spoken));
    free(spoken);
    CHECK(run("compare --merge %s", b) == 0 && strstr(out, "\nya?n ") && !strchr(out, 033));
    CHECK(run("compare --merge /nowhere") == 1 && said_line("/nowhere"));
    CHECK(run("compare --merge %s", test_folder("bare")) == 1 && said_line("*.csv"));
    free(whole);
}

/* A spec with a comma in it (a quoted name of a file) stands in quotes, and comes back. */
static void quoted_specs(void) {
    char begin[1000], spec[700];
    const char *list = test_tmp("long,\xc3\xa9.txt"), *path = test_tmp("quoted.csv");
    command_begin(begin);
    file_write(list, "2 2 2 2\n", 8);
    snprintf(spec, sizeof spec, "longrope:factor=2:long=\"%s\"", list);
    remove(path);
    CHECK(run("%s --rope '%s,none' --lengths 16 --score 20 --resume %s", begin, spec, path) == 0);
    CHECK(run("%s --rope '%s,none' --lengths 16 --score 20 --resume %s --csv", begin, spec, path) == 0);
    CHECK(strstr(out, "\n\"longrope:factor=2:long=\"\"") && count_lines(out) == 14);
    char *first = taken_out();
    CHECK(run("compare --merge %s %s --rope '%s' --csv", path, path, spec) == 0 && strcmp(first, out) == 0);
    free(first);
}

static void wrong_use(void) {
    char begin[1000], many[3000] = "1";
    command_begin(begin);
    for (int i = 2; i < 40; i++) snprintf(many + strlen(many), 20, ",%d", i);
    static const char *const usage[] = {"", "--rope ''", "--rope none,,yarn", "--rope none,nonsense",
                                        "--rope none,yarn:factor=0", "--rope none,yarn,none",
                                        "--rope none --lengths 0", "--rope none --lengths 1,64",
                                        "--rope none --lengths x", "--rope none --lengths ''", "--rope none --score 0",
                                        "--rope none --lengths 64 --from 62", "--rope none --json --csv",
                                        "--rope none --svg ''", "--rope none more words",
                                        "--rope none --by-position --from 3",
                                        "--rope none --by-position=65 --lengths 64",
                                        "--rope none --by-position --entropy", "--rope none --jobs --resume x.csv",
                                        "--rope none -c 64", "--rope none --merge -f x"};
    for (size_t i = 0; i < sizeof usage / sizeof *usage; i++) {
        CHECK(run("%s %s", begin, usage[i]) == 2 && *out == 0);
        if (count_lines(said) != 1) printf("    %s: %s", usage[i], said);
        CHECK(count_lines(said) == 1);
    }
    CHECK(run("%s --rope none,nonsense", begin) == 2 && said_line("nonsense"));
    CHECK(run("%s --rope none --lengths %s", begin, many) == 2 && said_line("at most 32"));
    for (int i = (int)strlen(strcpy(many, "none")), n = 0; n < 64; n++)
        i += snprintf(many + i, 30, ",yarn:factor=%d", n + 2);
    CHECK(run("%s --rope %s", begin, many) == 2 && said_line("at most 64"));
    static const char *const failed[] = {"--rope none --lengths 64 --svg /nowhere/a.svg",
                                         "--rope none --lengths 64 --score 5 --resume /nowhere/a.csv",
                                         "--rope none,nope:layers=9 --lengths 64 --score 5",
                                         "--rope none --lengths 5000", "--rope none --lengths 64 --score 9999",
                                         "--rope none --by-position --lengths 999"};
    for (size_t i = 0; i < sizeof failed / sizeof *failed; i++) {
        CHECK(run("%s %s", begin, failed[i]) == 1 && *out == 0);
        if (count_lines(said) != 1) printf("    %s: %s", failed[i], said);
        CHECK(count_lines(said) == 1);
    }
    CHECK(run("compare") == 2 && run("compare --merge") == 2);
    CHECK(run("compare --help") == 0 && strstr(out, "--lengths") && strstr(out, "last quarter"));
}

const Test tests_compare[] = {{"compare/the same ids in every cell", same_ids},
                              {"compare/a whole window", whole_window},
                              {"compare/by position", by_position},
                              {"compare/a text that is too short", too_few},
                              {"compare/what comes out", outputs},
                              {"compare/by position, printed", positions},
                              {"compare/broken off and gone on with", resumed},
                              {"compare/jobs and their tables", merged},
                              {"compare/tables that contradict", contradicted},
                              {"compare/specs in quotes", quoted_specs},
                              {"compare/wrong use", wrong_use},
                              {0}};
