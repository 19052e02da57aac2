/* tests/test_perplexity_cuts.c - each way of cutting a text against a plain computation, in the terms of the program
 * that it comes from: labels masked with -100 and shifted, chunks, halves. And against numbers these programs gave. */
#include "build.h"
#include "cli_files.h"
#include "lab/perplexity.h"
#include "model/options.h"
#include "model/timeline.h"
#include "program.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { W = 8, MOST = 64, BOS = 1, MASKED = -100 };
static const BuildShape shape = {.d = 32, .ff = 32, .layers = 1, .heads = 2, .kv_heads = 1, .n_ctx = W};

static char err[300];
static Model model;
static Session session;

static int begin(void) {
    build_gguf(test_tmp("cuts.gguf"), &shape, TENSOR_F32);
    if (model_open(&model, test_tmp("cuts.gguf"), &(ModelOptions){0}, err, sizeof err)) return 0;
    return session_init(&session, &model, &(SessionOptions){.n_ctx = 2 * W, .threads = 1}, err, sizeof err) == 0;
}

static void end(void) {
    session_free(&session);
    model_close(&model);
}

/* What a text's ids cost, by the plain way: sum, ids scored, and the mean as that program takes it. */
typedef struct {
    double sum, mean;
    size_t tokens, at[W]; /* .. and how many at each position */
} Plain;

/* loss: the mean of -ln p(labels[i] | window[..i-1]) over labels that are not masked, never the first; their number. */
static int window_loss(Plain *p, const int *window, const int *labels, size_t n, double *loss) {
    const float *logits;
    int scored = 0;
    *loss = 0;
    session_rewind(&session, 0);
    for (size_t i = 0; i + 1 < n; i++) {
        CHECK(session_eval(&session, &window[i], 1, &logits, err, sizeof err) == 0);
        if (labels[i + 1] == MASKED) continue;
        double sum = 0;
        for (int v = 0; v < model.config.vocab_size; v++) sum += exp((double)logits[v]);
        double x = log(sum) - (double)logits[labels[i + 1]];
        *loss += x, scored++;
        p->sum += x, p->tokens++, p->at[i + 1]++;
    }
    if (scored) *loss /= scored;
    return scored;
}

/* transformers' page and yarn's program share the walk: a window's last trg_len ids are its labels. */
static void plain_sliding(Plain *p, const int *ids, int n, int room, int stride, int bos, int yarn) {
    double sum = 0, weight = 0, loss;
    int before = 0, window[W + 1], labels[W + 1];
    for (int at = 0; at < n; at += stride) {
        int stop = at + room < n ? at + room : n, target = stop - before, len = 0, valid = 0;
        if (yarn && bos >= 0) window[len++] = bos;
        for (int i = at; i < stop; i++) window[len++] = ids[i];
        for (int i = 0; i < len; i++) {
            labels[i] = i < len - target ? MASKED : window[i];
            valid += labels[i] != MASKED;
        }
        int scored = window_loss(p, window, labels, (size_t)len, &loss);
        if (yarn && scored) sum += loss, weight++;
        if (!yarn) sum += loss * (valid - 1), weight += valid - 1;
        before = stop;
        if (stop == n) break;
    }
    p->mean = weight > 0 ? sum / weight : 0;
}

/* llama-perplexity: whole chunks, the first id BOS, logits from n_ctx/2 on. */
static void plain_llama_cpp(Plain *p, const int *ids, int n, int n_ctx, int bos) {
    double loss;
    for (int chunk = 0; chunk < n / n_ctx; chunk++) {
        int window[W], labels[W], first = n_ctx / 2;
        for (int k = 0; k < n_ctx; k++) {
            window[k] = ids[chunk * n_ctx + k];
            labels[k] = k > first ? window[k] : MASKED;
        }
        if (bos >= 0) window[0] = bos;
        window_loss(p, window, labels, (size_t)n_ctx, &loss);
    }
    p->mean = p->tokens ? p->sum / (double)p->tokens : 0;
}

/* Ours: BOS and room ids; scored once each, by the first window that has them; or the last ids of whole windows. */
static void plain_stream(Plain *p, const int *ids, int n, int room, int stride, int last, int bos) {
    int seen = 0;
    double loss;
    for (int at = 0; at < n && seen < n; at += stride) {
        int window[W + 1], labels[W + 1], len = 0, stop = at + room < n ? at + room : n;
        if (last && at > 0 && stop - at < room) break;
        if (bos >= 0) window[len] = bos, labels[len++] = MASKED;
        for (int i = at; i < stop; i++) {
            window[len] = ids[i];
            labels[len++] = i >= seen && (!last || i >= stop - last) ? ids[i] : MASKED;
        }
        window_loss(p, window, labels, (size_t)len, &loss);
        seen = stop;
    }
    p->mean = p->tokens ? p->sum / (double)p->tokens : 0;
}

static int texts(int *ids) {
    for (int i = 0; i < MOST; i++) ids[i] = build_id(i);
    return 1;
}

/* The cut against the plain way, for one text. */
static void compare(const CutOptions *o, const int *ids, size_t n, int bos, const Plain *want) {
    Perplexity p = {0};
    PerplexityBins by;
    Cut cut;
    int rc = cut_init(&cut, o, W, bos, err, sizeof err);
    CHECK(rc == 0 && perplexity_bins_init(&by, cut.window, 1, err, sizeof err) == 0);
    for (CutWindow w = {0}; rc == 0 && cut_next(&cut, n, &w);)
        rc = perplexity_window(&p, &session, ids, &cut, &w, &by, err, sizeof err);
    CHECK(rc == 0 && p.tokens == want->tokens && by.n == cut.window);
    NEAR(p.nll_sum, want->sum, 1e-9, 1e-12); /* the same logits, bit for bit: only the order of the sums differs */
    NEAR(perplexity_mean(&p), want->mean, 1e-9, 1e-12);
    for (size_t i = 0; i < by.n; i++) CHECK(by.at[i].tokens == want->at[i]);
    perplexity_bins_free(&by);
}

/* Texts of no id, one, a window less one, a window, one more, two windows, some more. */
static const int lengths[] = {0, 1, 2, W - 2, W - 1, W, W + 1, 2 * W - 3, 2 * W - 2, 2 * W - 1, 2 * W, 3 * W + 5, 37};
enum { N_LENGTHS = sizeof lengths / sizeof *lengths };

/* Some widths of a window: small ones, half, all but one, all. */
static int next(int width) {
    static const int widths[] = {1, 2, 3, 5, W / 2, W - 1, W};
    int i = 0;
    while (i < 7 && widths[i] <= width) i++;
    return i < 7 ? widths[i] : W + 1;
}

static void against_plain(void) {
    int ids[MOST];
    CHECK(begin() && texts(ids));
    for (int i = 0; i < N_LENGTHS; i++)
        for (int bos = -1; bos <= BOS; bos += 1 + BOS) {
            int n = lengths[i], room = W - (bos >= 0);
            for (int stride = 1; stride <= W; stride = next(stride)) {
                CutOptions o = {.window = W, .stride = (size_t)stride};
                Plain hf = {0}, yarn = {0}, ours = {0};
                plain_sliding(&hf, ids, n, W, stride, -1, 0);
                o.convention = cut_convention("hf-sliding");
                compare(&o, ids, (size_t)n, bos, &hf);
                plain_sliding(&yarn, ids, n, room, stride, bos, 1);
                o.convention = cut_convention("yarn");
                compare(&o, ids, (size_t)n, bos, &yarn);
                o.convention = NULL;
                if (stride > room) continue;
                plain_stream(&ours, ids, n, room, stride, 0, bos);
                compare(&o, ids, (size_t)n, bos, &ours);
                for (int last = 1; last <= stride && last < W; last = next(last)) {
                    Plain few = {0};
                    plain_stream(&few, ids, n, room, stride, last, bos);
                    o.last = (size_t)last;
                    compare(&o, ids, (size_t)n, bos, &few);
                }
            }
            for (int n_ctx = 3; n_ctx <= W; n_ctx = next(n_ctx)) {
                Plain p = {0};
                plain_llama_cpp(&p, ids, n, n_ctx, bos);
                CutOptions o = {cut_convention("llama.cpp"), (size_t)n_ctx, 0, 0};
                compare(&o, ids, (size_t)n, bos, &p);
            }
        }
    end();
}

/* perplexity_add is the plain stream, and stderr that of ids, or of yarn's windows. */
static void sums(void) {
    int ids[MOST];
    Plain want = {0};
    Perplexity p = {0}, yarn = {0};
    Cut cut;
    double squares = 0, sum = 0, n = 0;
    CHECK(begin() && texts(ids));
    plain_stream(&want, ids, 37, W - 1, W - 1, 0, BOS);
    CHECK(perplexity_add(&p, &session, ids, 37, BOS, W, err, sizeof err) == 0);
    NEAR(p.nll_sum, want.sum, 1e-9, 1e-12);
    CHECK(p.tokens == 37 && p.windows == 6);
    CutOptions o = {.convention = cut_convention("yarn"), .stride = 3};
    CHECK(cut_init(&cut, &o, W, BOS, err, sizeof err) == 0);
    for (CutWindow w = {0}; cut_next(&cut, 37, &w);) {
        Perplexity one = {0};
        CHECK(perplexity_window(&yarn, &session, ids, &cut, &w, NULL, err, sizeof err) == 0);
        CHECK(perplexity_window(&one, &session, ids, &cut, &w, NULL, err, sizeof err) == 0);
        double mean = one.nll_sum / (double)one.tokens;
        sum += mean, squares += mean * mean, n++;
    }
    NEAR(perplexity_stderr(&yarn), sqrt((squares - sum * sum / n) / (n - 1) / n), 1e-12, 1e-9);
    int wrong[] = {5, 5, 300};
    CHECK(perplexity_add(&p, &session, wrong, 3, BOS, W, err, sizeof err) == -EINVAL && strstr(err, "300"));
    end();
}

/* Bins of three: positions 0-2, 3-5, 6-7. */
static void bins(void) {
    int ids[MOST];
    PerplexityBins by = {0};
    Perplexity p = {0};
    Cut cut;
    CHECK(begin() && texts(ids));
    CHECK(cut_init(&cut, &(CutOptions){.window = W}, W, BOS, err, sizeof err) == 0);
    CHECK(perplexity_bins_init(&by, W, 3, err, sizeof err) == 0 && by.n == 3);
    for (CutWindow w = {0}; cut_next(&cut, 21, &w);)
        CHECK(perplexity_window(&p, &session, ids, &cut, &w, &by, err, sizeof err) == 0);
    CHECK(by.at[0].tokens == 6 && by.at[1].tokens == 9 && by.at[2].tokens == 6);
    NEAR(by.at[0].nll_sum + by.at[1].nll_sum + by.at[2].nll_sum, p.nll_sum, 1e-9, 0);
    perplexity_bins_free(&by);
    CHECK(perplexity_bins_init(&by, 64, 0, err, sizeof err) == 0 && by.width == 4 && by.n == 16);
    perplexity_bins_free(&by);
    CHECK(perplexity_bins_init(&by, 8, 9, err, sizeof err) == -EINVAL && strstr(err, "wider"));
    perplexity_bins_free(&by);
    end();
}

static void refused(void) {
    static const struct { const char *convention; size_t window, stride, last; const char *line; } rows[] = {
        {"stream", 1, 0, 0, "nothing to score"},    {"llama.cpp", 2, 0, 0, "nothing to score"},
        {"stream", 8, 9, 0, "longer than the window"}, {"hf-sliding", 8, 9, 0, "longer than the window"},
        {"stream", 8, 0, 8, "no last 8"},            {"stream", 8, 4, 5, "scored twice"},
        {"llama.cpp", 8, 4, 0, "no stride"},         {"llama.cpp", 8, 0, 4, "says itself"},
        {"yarn", 8, 0, 4, "says itself"},            {"hf-sliding", 8, 0, 4, "says itself"},
    };
    Cut cut;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CutOptions o = {cut_convention(rows[i].convention), rows[i].window, rows[i].stride, rows[i].last};
        CHECK(o.convention && cut_init(&cut, &o, W, BOS, err, sizeof err) == -EINVAL && strstr(err, rows[i].line));
    }
    CHECK(cut_convention("perplexed") == NULL && strcmp(cut_convention(NULL)->name, "stream") == 0);
    CHECK(cut_init(&cut, &(CutOptions){.convention = cut_convention("llama.cpp")}, W, BOS, err, sizeof err) == 0);
    CHECK(cut.window == 512 && cut_check(&cut, 1023, err, sizeof err) == -EINVAL && strstr(err, "1023"));
    CHECK(cut_check(&cut, 1024, err, sizeof err) == 0);
    CHECK(cut_init(&cut, &(CutOptions){.convention = cut_convention("yarn")}, 4096, BOS, err, sizeof err) == 0);
    CHECK(cut.window == 4096 && cut.room == 4095 && cut.stride == 256);
    CHECK(cut_init(&cut, &(CutOptions){.convention = cut_convention("hf-sliding")}, 128, BOS, err, sizeof err) == 0);
    CHECK(cut.window == 128 && cut.room == 128 && cut.stride == 128 && cut.bos == -1);
}

static void options(void) {
    CliModel m = cli_model();
    char text[400] = "";
    for (int i = 0; i < 20; i++) strcat(text, "the sand and a hat ");
    file_write(test_tmp("cut.txt"), text, strlen(text));
    static const struct { const char *options, *line; int code; } rows[] = {
        {"--convention other", "there is no \"other\"", 2},
        {"--convention llama.cpp --stride 4", "no stride", 2},
        {"--convention yarn --last 3", "says itself", 2},
        {"--convention hf-sliding --separator ==", "one stream", 2},
        {"-c 8 --last 8", "no last 8", 2},
        {"-c 8 --stride 9", "longer than the window", 2},
        {"-c 8 --by-position=9", "wider than the window", 2},
        {"--by-position=0", "out of range", 2},
        {"--by-position=x", "not a whole number", 2},
        {"--svg a.svg", "add --by-position", 2},
        {"--by-position --svg ''", "empty", 2},
        {"--json --csv", "both given", 2},
        {"--convention llama.cpp -c 4096", "two windows of 4096", 1},
        {"-c 8 --by-position --svg /nowhere/a.svg", "/nowhere/a.svg", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(run("perplexity %s -f %s -q %s", m.gguf, test_tmp("cut.txt"), rows[i].options) == rows[i].code);
        CHECK(strstr(said, rows[i].line) || (printf("    %s: %s", rows[i].options, said), 0));
    }
    CHECK(run("perplexity %s -f %s -c 8 --stride 3 --last 2 --by-position=2 --csv -q", m.gguf, test_tmp("cut.txt")) ==
          0);
    CHECK(strncmp(out, "from,to,nll,stderr,tokens\n", 26) == 0 && count_lines(out) == 2); /* positions 6 and 7 */
    CHECK(run("perplexity %s -f %s -c 8 --csv -q", m.gguf, test_tmp("cut.txt")) == 0);
    CHECK(strncmp(out, "convention,", 11) == 0 && strstr(out, "\nstream,8,7,0,") && count_lines(out) == 2);
    CHECK(run("perplexity %s -f %s -c 8 --by-position --svg %s --json -q", m.gguf, test_tmp("cut.txt"),
              test_tmp("cut.svg")) == 0);
    CHECK(strstr(out, "\"by_position\":[{\"from\":1,\"to\":1,") && strstr(out, "\"convention\":\"stream\"") &&
          strstr(out, "\"seed\":null"));
    char *svg = file_read(test_tmp("cut.svg"), NULL);
    CHECK(svg && strstr(svg, "</svg>") && strstr(svg, "cut.txt; windows of 8"));
    free(svg);
    CHECK(run("perplexity %s -f %s -c 8 --convention yarn --stride 4 -q", m.gguf, test_tmp("cut.txt")) == 0);
    CHECK(strstr(out, "4 ids apart, the mean of their means") && strstr(out, "convention  yarn: "));
}

/* heldout-full.txt, by the programs themselves: transformers 5.23 in float64 with its page's loop, yarn's
 * compute_perplexity over the same, and llama-perplexity 0c1e5709 with f32 caches, which prints four digits. */
static void peers(void) {
    static const struct { const char *options; double perplexity, tolerance; } rows[] = {
        {"--convention hf-sliding", 13.812377, 1e-5},
        {"--convention yarn --stride 128", 13.331064, 1e-5},
        {"--convention llama.cpp -c 256", 12.9391, 1e-4},
        {"--convention llama.cpp -c 1024", 70.4531, 1e-4},
    };
    size_t n = test_sanitized ? 1 : sizeof rows / sizeof *rows; /* 14,003 ids each */
    if (!test_data("tales/tales-1m-f32.gguf")) return;
    for (size_t i = 0; i < n; i++) {
        CHECK(run("perplexity %s -f %s --json -q %s", test_data("tales/tales-1m-f32.gguf"),
                  test_data("tales/heldout-full.txt"), rows[i].options) == 0);
        NEAR(json_number("perplexity"), rows[i].perplexity, rows[i].tolerance, 0);
    }
}

const Test tests_perplexity_cuts[] = {
    {"perplexity/each cut as its program writes it", against_plain},
    {"perplexity/sums and errors", sums},
    {"perplexity/bins", bins},
    {"perplexity/what is refused, and defaults", refused},
    {"perplexity/the command's options", options},
    {"perplexity/numbers of llama.cpp, transformers, yarn", peers},
    {0}};
