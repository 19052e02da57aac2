/* tests/test_recall.c - lab/recall.c and lab/passkey.c: against sums from a session's logits, id by id. */
#include "lab/passkey.h"
#include "lab/perplexity.h"
#include "lab/recall.h"
#include "model/timeline.h"
#include "text/vocabulary.h"
#include "text/open.h"
#include "build.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { N = 400, BOS = 1 };
static const BuildShape shape = {.d = 64, .ff = 96, .layers = 2, .heads = 4, .kv_heads = 2, .n_ctx = 64};

static void open_it(Model *m, Tokenizer **t) {
    char err[300] = "";
    build_gguf(test_tmp("recall.gguf"), &shape, TENSOR_F32);
    CHECK(model_open(m, test_tmp("recall.gguf"), NULL, err, sizeof err) == 0);
    *t = NULL;
    CHECK(vocabulary_open(t, &m->weights, NULL, BUILD_VOCAB, &(TokenizerOptions){.lower_case = -1}, err, sizeof err) ==
          0);
}

/* The loss of read[i], with all before it in front, one id a call. */
static double loss_at(Session *s, const int *read, size_t i) {
    char err[300];
    const float *logits = NULL;
    session_rewind(s, 0);
    CHECK(session_eval(s, read, i, &logits, err, sizeof err) == 0);
    return perplexity_nll(s->model, logits, read[i]);
}

static void spans(void) {
    Model m;
    Tokenizer *t;
    Session s;
    RecallTrial got;
    char err[300];
    int ids[N], read[N];
    RecallCut cut = {.span = 7, .between = 30, .at = 50, .other = 200};
    open_it(&m, &t);
    for (int i = 0; i < N; i++) ids[i] = build_id(i);
    CHECK(session_init(&s, &m, &(SessionOptions){.n_ctx = 100, .n_logits = 3, .n_batch = 10}, err, sizeof err) == 0);
    for (int bos = -1; bos <= BOS; bos += 2) {
        size_t n = 0, first, second;
        double want[2] = {0};
        CHECK(recall_trial(&got, &s, ids, N, bos, &cut, err, sizeof err) == 0);
        if (bos >= 0) read[n++] = bos;
        for (size_t i = 43; i < 57; i++) read[n++] = ids[i];
        first = n - 7;
        for (size_t i = 200; i < 230; i++) read[n++] = ids[i];
        second = n;
        for (size_t i = 50; i < 57; i++) read[n++] = ids[i];
        CHECK(n == recall_length(&cut, bos));
        for (size_t i = 0; i < 7; i++)
            want[0] += loss_at(&s, read, first + i) / 7, want[1] += loss_at(&s, read, second + i) / 7;
        CHECK(fabs(got.nll[0] - want[0]) < 1e-9 && fabs(got.nll[1] - want[1]) < 1e-9 && want[0] != want[1]);
        CHECK(got.right[0] >= 0 && got.right[0] <= 1);
    }
    cut.at = N - 3;
    CHECK(recall_trial(&got, &s, ids, N, -1, &cut, err, sizeof err) < 0 && strstr(err, "too short"));
    session_free(&s);
    tokenizer_free(t);
    model_close(&m);
}

/* Key tokens: easier by more than 2 nats, and then below 2; the mean of these. */
static void long_ppl(void) {
    const double whole[] = {1, 1.5, 1.9, 2.1, 0.5, 3}, brief[] = {2.9, 3.6, 4, 9, 2.6, 9};
    size_t keys;
    CHECK(fabs(recall_long_nll(whole, brief, 6, 2, 2, &keys) - (1.5 + 1.9 + 0.5) / 3) < 1e-12 && keys == 3);
    CHECK(recall_long_nll(whole, brief, 1, 2, 2, &keys) == 0 && keys == 0);
    Model m;
    Tokenizer *t;
    Session s;
    char err[300];
    int ids[N], read[N];
    double all[60], few[60];
    open_it(&m, &t);
    for (int i = 0; i < N; i++) ids[i] = build_id(i);
    CHECK(session_init(&s, &m, &(SessionOptions){.n_ctx = 61, .n_logits = 5}, err, sizeof err) == 0);
    CHECK(recall_losses(all, few, &s, ids, 60, BOS, 16, err, sizeof err) == 0);
    read[0] = BOS;
    memcpy(read + 1, ids, 60 * sizeof *ids);
    for (size_t i = 1; i < 60; i += 7) CHECK(fabs(all[i] - loss_at(&s, read, i + 1)) < 1e-9);
    for (size_t i = 1; i < 16; i++) CHECK(few[i] == all[i]); /* so few stand before it either way */
    memcpy(read + 1, ids + 20 - 16,
           16 * sizeof *ids); /* the second window: ids 4 .. 19, of which 16 .. 19 are scored */
    for (size_t i = 16; i < 20; i++) CHECK(fabs(few[i] - loss_at(&s, read, i - 4 + 1)) < 1e-9);
    session_free(&s);
    tokenizer_free(t);
    model_close(&m);
}

static void passkeys(void) {
    Model m;
    Tokenizer *t;
    Session s;
    char err[300];
    double last = -1;
    size_t longest = 0;
    open_it(&m, &t);
    CHECK(session_init(&s, &m, &(SessionOptions){.n_ctx = 1200}, err, sizeof err) == 0);
    for (size_t length = 700; length <= 1200; length += 250) {
        PasskeyTrial p;
        CHECK(passkey_trial(&p, &s, t, &passkey_published, "71432", length, 0.5, err, sizeof err) == 0);
        CHECK(p.n_prompt + p.n_answer <= length && p.n_prompt + p.n_answer + 40 > length && p.n_prompt > longest);
        CHECK(s.pos == p.n_prompt + p.n_answer - 1 && p.nll > 0 && !p.match);
        longest = p.n_prompt;
        /* the answer's loss, from the session's own ids */
        int *ids = malloc((p.n_prompt + p.n_answer) * sizeof *ids);
        memcpy(ids, s.ids, s.pos * sizeof *ids);
        double sum = 0;
        for (size_t i = 0; i + 1 < p.n_answer; i++) sum += loss_at(&s, ids, p.n_prompt + i);
        CHECK(sum / (double)p.n_answer < p.nll && sum > 0);
        free(ids);
    }
    for (int depth = 0; depth <= 100; depth += 25) {
        PasskeyTrial p;
        CHECK(passkey_trial(&p, &s, t, &passkey_published, "10007", 1200, depth / 100.0, err, sizeof err) == 0);
        CHECK(p.at > last);
        last = p.at;
    }
    PasskeyTrial p;
    CHECK(passkey_trial(&p, &s, t, &passkey_published, "1", 20, 0, err, sizeof err) < 0 && strstr(err, "no room"));
    session_free(&s);
    tokenizer_free(t);
    model_close(&m);
}

static void templates(void) {
    static const struct { const char *text, *says;
    } rows[] = {{"", "no line before"},
                {"before: a\nfiller: b.\nneedle: c\nquestion: d", "no {key}"},
                {"before: a\nbefore: b\n", "two lines"},
                {"what: a\n", "begins with none"},
                {"before: a\nfiller:\nneedle: {key}\nquestion: d", "empty"},
                {"before: a\nfiller: b.\nneedle: {key}\n", "no line"}};
    PasskeyTemplate t;
    char err[300], text[200];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(text, sizeof text, "%s", rows[i].text);
        CHECK(passkey_template(&t, text, strlen(text), err, sizeof err) < 0 && strstr(err, rows[i].says));
    }
    snprintf(text, sizeof text, "question: q?\r\n\nneedle:  the {key} \nfiller: a. b.\nbefore: x\n");
    CHECK(passkey_template(&t, text, strlen(text), err, sizeof err) == 0 && strcmp(t.question, "q?") == 0 &&
          strcmp(t.needle, "the {key} ") == 0 && strcmp(t.before, "x") == 0);
}

extern const Test tests_recall[];
const Test tests_recall[] = {
    {"recall/a span read twice", spans},
    {"recall/key tokens", long_ppl},
    {"recall/passkey", passkeys},
    {"recall/templates", templates},
    {0},
};
