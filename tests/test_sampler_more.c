/* tests/test_sampler_more.c - biases, DRY and XTC against libllama's own samplers (golden/sampler.txt says how its
 * numbers were made) and against the definition, one repeat after another. */
#include "model/model.h"
#include "model/sampler_more.h"
#include "test.h"
#include "text/breakers.h"
#include "text/open.h"

#include "build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const SamplerOptions plain = {.temperature = 1, .repetition_penalty = 1, .window = 64, .seed = 1};
static const SamplerMore off = {.dry_base = 1.75f, .dry_allowed = 2, .xtc_threshold = 0.1f};
static char err[300];

/* A sampler of v ids with m's links, which is the caller's to free. */
static Sampler sampler(SamplerMore *m, size_t v) {
    Sampler s;
    SamplerOptions o = plain;
    o.more = m;
    CHECK(sampler_more_init(m, v, err, sizeof err) == 0);
    CHECK(sampler_init(&s, v, &o, err, sizeof err) == 0);
    return s;
}

static void done(Sampler *s, SamplerMore *m) {
    sampler_free(s);
    sampler_more_free(m);
}

/* Each line of the file that begins with word, handed to check behind it; how many there are. */
static int each_line(const char *word, void (*check)(char *line)) {
    char *text = file_read("tests/golden/sampler.txt", NULL), *rest = text;
    int n = 0;
    CHECK(text != NULL);
    for (char *line; rest && *rest;) {
        line = rest, rest = strchr(line, '\n');
        if (rest) *rest++ = 0;
        if (strncmp(line, word, strlen(word)) == 0) check(line + strlen(word)), n++;
    }
    free(text);
    return n;
}

static Tokenizer *builtin_tokenizer(void) {
    Model m;
    Tokenizer *t = NULL;
    CHECK(model_open_memory(&m, builtin_model, builtin_model_size, "built in", NULL, err, sizeof err) == 0);
    CHECK(vocabulary_open(&t, &m.weights, NULL, 0, NULL, err, sizeof err) == 0);
    model_close(&m);
    return t;
}

static SamplerBreaker *usual;
static size_t n_usual;

/* The exponent is a power in double there, too: the same float, but for the sum it is taken from. */
static void dry_line(char *line) {
    enum { V = 1024, MOST = 300 };
    int ids[MOST];
    size_t n = 0;
    SamplerMore m = off;
    m.dry_multiplier = strtof(line, &line), m.dry_base = strtof(line, &line);
    m.dry_allowed = (size_t)strtol(line, &line, 10);
    long last = strtol(line, &line, 10);
    m.dry_window = last < 0 ? 4096 : (size_t)last;
    if (strtol(line, &line, 10)) m.breakers = usual, m.n_breakers = n_usual;
    for (line += 2; *line == ' ' && line[1] != ':' && n < MOST;) ids[n++] = (int)strtol(line, &line, 10);
    Sampler s = sampler(&m, V);
    for (int i = 0; i < V; i++) s.probs[i] = 0;
    sampler_more_dry(&s, ids, n);
    float want[V] = {0};
    for (line += 2; *line == ' ';) {
        long id = strtol(line, &line, 10);
        CHECK(id >= 0 && id < V && *line == '=');
        want[id] = strtof(line + 1, &line);
    }
    for (int i = 0; i < V; i++) NEAR(s.probs[i], want[i], 0, 1e-6);
    done(&s, &m);
}

static void dry(void) {
    static const char *const texts[] = {"\n", ":", "\"", "*"};
    Tokenizer *t = builtin_tokenizer();
    CHECK(breakers_find(&usual, &n_usual, t, texts, 4, err, sizeof err) == 0 && n_usual >= 4);
    CHECK(each_line("dry", dry_line) == 36);
    free(usual);
    tokenizer_free(t);
}

/* The longest repeat that x would carry on, looked for place by place. */
static size_t repeat_of(int x, const int *ids, size_t n, size_t limit) {
    size_t most = 0;
    for (size_t at = 0; at + 1 < n; at++) {
        size_t len = 0;
        while (len < limit && len <= at && ids[at - len] == ids[n - 1 - len]) len++;
        if (ids[at + 1] == x && len > most) most = len;
    }
    return most;
}

/* Breakers of several ids, which the usual texts are not; the limit is found from the front: where the last one ends
 * that begins last. */
static void dry_by_hand(void) {
    SamplerBreaker breakers[] = {{2, {3, 1}}, {1, {4}}, {3, {3, 1, 0}}};
    uint64_t state = 5;
    for (int round = 0; round < 3000; round++) {
        enum { V = 6, MOST = 40 };
        int ids[MOST];
        size_t n = 1 + (size_t)(sampler_coin(&state) * MOST), alphabet = 2 + (size_t)(sampler_coin(&state) * 4);
        for (size_t i = 0; i < n; i++) ids[i] = (int)(sampler_coin(&state) * (float)alphabet);
        SamplerMore m = off;
        m.dry_multiplier = 1, m.dry_base = 2, m.dry_allowed = 1 + (size_t)(round % 3);
        m.dry_window = 1 + n / (1 + (size_t)round % 2);
        m.breakers = breakers, m.n_breakers = 3;
        Sampler s = sampler(&m, V);
        for (int i = 0; i < V; i++) s.probs[i] = 0;
        sampler_more_dry(&s, ids, n);
        size_t w = n < m.dry_window ? n : m.dry_window, limit = w;
        const int *last = ids + n - w;
        for (size_t i = 0; i < w; i++) {
            if (last[i] == 4) limit = w - i - 1;
            if (last[i] != 3 || i + 1 >= w || last[i + 1] != 1) continue;
            limit = w - i - 2;
            if (i + 2 < w && last[i + 2] == 0) limit--;
        }
        for (int x = 0; x < V; x++) {
            size_t len = repeat_of(x, last, w, limit);
            NEAR(s.probs[x], x == 4 || len < m.dry_allowed ? 0 : -pow(2, (double)(len - m.dry_allowed)), 0, 1e-6);
        }
        done(&s, &m);
    }
}

static void xtc_line(char *line) {
    enum { MOST = 16 };
    float logits[MOST], sum = 0;
    size_t n = 0, stay = 0;
    int want[MOST] = {0}, got[MOST] = {0};
    SamplerMore m = off;
    m.xtc_probability = 1, m.xtc_threshold = strtof(line, &line);
    for (line += 2; *line == ' ' && line[1] != ':' && n < MOST;) logits[n++] = strtof(line, &line);
    for (line += 2; *line == ' ';) want[strtol(line, &line, 10) % MOST] = 1;
    for (int sorted = 0; sorted < 2; sorted++) { /* candidates by id, and the most probable first */
        Sampler s = sampler(&m, n);
        s.options.top_k = sorted ? n : 0;
        stay = sampler_more_exclude(&s, sampler_left(&s, logits, NULL, 0, &sum), &sum);
        memset(got, 0, sizeof got);
        float left = 0;
        for (size_t i = 0; i < stay; i++) got[s.candidates[i].id] = 1, left += s.candidates[i].prob;
        CHECK(memcmp(got, want, sizeof got) == 0);
        NEAR(sum, left, 0, 1e-6);
        done(&s, &m);
    }
}

/* At .25 a quarter of the draws is without the first choices: 40,000 draws, five standard deviations. */
static void xtc(void) {
    CHECK(each_line("xtc", xtc_line) == 27);
    static const float logits[] = {0, 2, 1, -1, 2.5f, -3};
    SamplerMore m = off;
    m.xtc_probability = 0.25f, m.xtc_threshold = 0.2f; /* above it: 4 and 1, of which 1 stays */
    Sampler s = sampler(&m, 6);
    double share = 0, sum = 0;
    for (int i = 0; i < 40000; i++) share += sampler_next(&s, logits, NULL, 0) == 4;
    for (int i = 0; i < 6; i++) sum += exp((double)logits[i]);
    NEAR(share / 40000, 0.75 * exp(2.5) / sum, 0.0125, 0);
    done(&s, &m);
}

static void bias_line(char *line) {
    static const SamplerBias biases[] = {{3, 1.5f}, {5, -INFINITY}, {3, -0.25f}, {0, -2}};
    SamplerMore m = off;
    m.biases = biases, m.n_biases = 4;
    Sampler s = sampler(&m, 8);
    for (int i = 0; i < 8; i++) s.probs[i] = (float)i / 2;
    sampler_more_bias(&s);
    line += 2;
    for (int i = 0; i < 8; i++) CHECK(s.probs[i] == strtof(line, &line));
    done(&s, &m);
}

/* A forbidden id is never drawn, the last of all least of all; a penalty meets the biased logit. */
static void bias(void) {
    CHECK(each_line("bias", bias_line) == 1);
    static const SamplerBias biases[] = {{0, 6}, {1, -INFINITY}, {3, -INFINITY}};
    static const float logits[] = {0, 9, 1, 9};
    SamplerMore m = off;
    m.biases = biases, m.n_biases = 3;
    Sampler s = sampler(&m, 4);
    for (int i = 0; i < 20000; i++) CHECK(sampler_next(&s, logits, NULL, 0) % 2 == 0);
    s.options.temperature = 0;
    CHECK(sampler_next(&s, logits, NULL, 0) == 0);
    s.options.repetition_penalty = 10; /* 6 / 10 is less than 1 */
    CHECK(sampler_next(&s, logits, (const int[]){0}, 1) == 2);
    done(&s, &m);
}

/* All off, and there: not a coin is drawn more. */
static void seeds(void) {
    static const float logits[] = {0, 2, 1, -1, 2, -3};
    SamplerMore m = off;
    Sampler with = sampler(&m, 6), without = sampler(&m, 6);
    without.options.more = NULL;
    for (int i = 0; i < 500; i++) {
        int id = sampler_next(&with, logits, NULL, 0);
        CHECK(id == sampler_next(&without, logits, NULL, 0));
    }
    done(&without, &m), done(&with, &m);
}

static void breakers(void) {
    static const char *const texts[] = {"e end"};
    SamplerBreaker *b;
    size_t n;
    int whole = 0;
    Tokenizer *t = builtin_tokenizer();
    CHECK(breakers_find(&b, &n, t, texts, 1, err, sizeof err) == 0 && n > 1);
    for (size_t i = 0; i < n; i++) { /* each, read, holds the text */
        char text[1000];
        size_t len = 0;
        TokenStream s = {.begun = 1};
        for (int j = 0; j < b[i].n; j++) len += tokenizer_decode(t, &s, b[i].ids[j], text + len);
        text[len + tokenizer_decode_end(t, &s, text + len)] = 0;
        whole += strstr(text, "e end") != NULL;
    }
    CHECK(whole == (int)n);
    free(b);
    CHECK(breakers_find(&b, &n, t, texts, 0, err, sizeof err) == 0 && b == NULL && n == 0);
    tokenizer_free(t);
}

static void refusals(void) {
    static const SamplerBias wrong[] = {{6, 0}, {-1, 0}, {0, NAN}, {0, INFINITY}};
    for (int i = 0; i < 10; i++) {
        SamplerMore m = off;
        if (i < 4) m.biases = &wrong[i], m.n_biases = 1;
        if (i == 4) m.dry_multiplier = NAN;
        if (i == 5) m.dry_base = 0.5f;
        if (i == 6) m.dry_allowed = 0;
        if (i == 7) m.xtc_probability = 1.5f;
        if (i == 8) m.xtc_threshold = -1;
        if (i == 9) m.dry_multiplier = 1, m.dry_window = SIZE_MAX;
        *err = 0;
        CHECK(sampler_more_init(&m, 6, err, sizeof err) == (i == 9 ? -ENOMEM : -EINVAL) && *err);
        sampler_more_free(&m);
    }
}

/* Options of the program, and what it says of wrong ones. */
static void program(void) {
    static const struct { const char *options, *says; } rows[] = {
        {"--logit-bias 1024=1", "there is no token 1024"},
        {"--logit-bias 7", "\"7\" is not ID=X"},
        {"--logit-bias 7=1x", "\"7=1x\" is not ID=X"},
        {"--logit-bias 7=1,8=inf", "\"8=inf\" is not ID=X"},
        {"--logit-bias 7=1,8=nan", "\"8=nan\" is not ID=X"},
        {"--logit-bias -7=1", "\"-7=1\" is not ID=X"},
        {"--logit-bias ,", "\",\" is not ID=X"},
        {"--dry-base 0.5", "out of range"},
        {"--xtc-probability 2", "out of range"},
        {"--dry-sequence-breaker ''", "is empty"},
    };
    char command[600], *out = NULL, *said = NULL, *first = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(command, sizeof command, "%s generate -i Lily %s < /dev/null", test_run_path(), rows[i].options);
        CHECK(test_shell(command, &out, &said) == 2 && strstr(said, rows[i].says));
    }
    static const char *const forced[] = {"", "--logit-bias 261=1e30", "--logit-bias 5=0,261=1e30",
                                         "--logit-bias 261+1e30"};
    for (int i = 0; i < 4; i++) {
        snprintf(command, sizeof command, "%s generate -i Lily -t 0 --max-tokens 3 %s", test_run_path(), forced[i]);
        CHECK(test_shell(command, &out, &said) == 0);
        if (i == 1) first = out, out = NULL;
        if (i > 1) CHECK(first && strcmp(out, first) == 0);
    }
    free(first), first = NULL;
    for (int i = 0; i < 2; i++) { /* one id for ever, which DRY ends */
        snprintf(command, sizeof command, "%s generate -i Lily -t 0 --max-tokens 20 --logit-bias 261=50 %s",
                 test_run_path(), i ? "--dry-multiplier 9 --dry-base 4" : "");
        CHECK(test_shell(command, &out, &said) == 0);
        if (i == 0) first = out, out = NULL;
    }
    CHECK(out && first && strcmp(out, first) != 0);
    free(out), free(said), free(first);
}

extern const Test tests_sampler_more[];
const Test tests_sampler_more[] = {
    {"sampler more/DRY, libllama", dry},
    {"sampler more/DRY, place by place", dry_by_hand},
    {"sampler more/XTC, libllama", xtc},
    {"sampler more/biases, libllama", bias},
    {"sampler more/all off: the same coins", seeds},
    {"sampler more/breakers", breakers},
    {"sampler more/refusals", refusals},
    {"sampler more/options", program},
    {0},
};
