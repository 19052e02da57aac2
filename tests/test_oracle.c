/* tests/test_oracle.c - the whole decoder against logits that were computed outside it.
 *
 * tests/oracle/decoders.py made tests/golden/decoders: for each case the config.json that transformers wrote, the
 * headers that the safetensors and gguf packages wrote, and float64 logits. The weights come from a formula, here and
 * there the same (value_at); a test puts header and values together in its temporary folder and opens that like any
 * model. The values have at most 8 significant bits, so that one golden serves F32, F16 and BF16 files.
 *
 * Last come the tests of the test: models that are wrong in one thing must miss the golden by a wide margin. */
#include "decoder_cases.h"
#include "test.h"

#include "attention/maps.h"
#include "model/timeline.h"
#include "model/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void run_cases(const char *const *names) { cases_hold(names, (CaseWish){.s = &sound, .convert = 1}); }

static void test_llama(void) { run_cases((const char *const[]){"mha", "gqa", "mqa", "tied", "bias", "eps", NULL}); }
static void test_rope(void) {
    run_cases((const char *const[]){"theta", "linear", "linear_old", "llama3", "partial", NULL});
}
static void test_yarn(void) {
    run_cases((const char *const[]){"yarn", "yarn_attn", "yarn_mscale", "yarn_betas", "yarn_notrunc", "qwen2_yarn",
                                    NULL});
}
static void test_longrope(void) { run_cases((const char *const[]){"longrope", "longrope_f", NULL}); }
/* Its length is max_position_embeddings, whatever a file says beside it. */
static void test_dynamic(void) {
    static const Spoil others[] = {
        {.from = "\"factor\": 2.0", .to = "\"factor\": 2.0, \"original_max_position_embeddings\": 8"},
        {.from = "\"pad_token_id\"", .to = "\"original_max_position_embeddings\": 8, \"pad_token_id\""}};
    const char *const names[] = {"dynamic", NULL};
    run_cases(names);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) cases_hold(names, (CaseWish){.s = &others[i]});
}
static void test_window(void) { run_cases((const char *const[]){"mistral", "qwen2_window", NULL}); }
static void test_qwen(void) { run_cases((const char *const[]){"qwen2", "qwen3", "qwen3_bias", NULL}); }
static void test_feature_maps(void) {
    run_cases((const char *const[]){"linear_elu", "linear_relu", "linear_relu2", "linear_exp", "linear_softmax",
                                    "linear_identity", NULL});
}
static void test_forms(void) {
    run_cases((const char *const[]){"linear_both", "linear_none", "linear_before", "linear_cosine",
                                    "linear_cosine_none", NULL});
}

static void test_linear_models(void) {
    run_cases((const char *const[]){"linear_qwen3", "linear_yarn", "linear_favor", NULL});
}

/* ---- tests of the test ---- */

/* Behind each row: how far off it was when measured (ORACLE_PRINT=1 prints them). */
static void test_spoiled_config(void) {
    static const struct { const char *name, *what; Spoil s; } rows[] = {
        {"linear", "no linear", {.from = "\"linear\"", .to = "\"default\""}}, /* 6 */
        {"llama3", "no llama3", {.from = "\"llama3\"", .to = "\"default\""}}, /* 6.4 */
        {"yarn", "no yarn", {.from = "\"yarn\"", .to = "\"default\""}}, /* 6 */
        {"qwen2_yarn", "no yarn", {.from = "\"yarn\"", .to = "\"default\""}}, /* 5.7 */
        {"longrope", "no longrope", {.from = "\"longrope\"", .to = "\"default\""}}, /* 5.1 */
        {"yarn_attn", "no attention_factor", {.from = "\"attention_factor\": 1.3,", .to = ""}}, /* 1.4 */
        {"yarn_mscale", "no mscale", {.from = "\"mscale\": 1.2,", .to = ""}}, /* 0.53 */
        {"yarn_betas", "other betas", {.from = "\"beta_slow\": 0.25,", .to = ""}}, /* 7.5 */
        {"yarn_notrunc", "truncated", {.from = "\"truncate\": false", .to = "\"truncate\": true"}}, /* 6.6 */
        {"longrope_f", "another factor", {.from = "\"factor\": 8.0,", .to = ""}}, /* 1.5 */
        {"partial", "whole heads", {.from = "\"partial_rotary_factor\": 0.5,", .to = ""}}, /* 6.8 */
        {"theta", "theta 10000", {.from = "500000.0", .to = "10000.0"}}, /* 5.3 */
        {"eps", "another epsilon", {.from = "0.01", .to = "1e-5"}}, /* 0.67 */
        {"mistral", "no window", {.from = "\"sliding_window\": 8", .to = "\"sliding_window\": 64"}}, /* 5.8 */
        {"mistral", "a window of 9", {.from = "\"sliding_window\": 8", .to = "\"sliding_window\": 9"}}, /* 4.3 */
        {"qwen2_window", "no window", {.from = "\"sliding_window\": 8", .to = "\"sliding_window\": 64"}}, /* 3.1 */
        /* 6.9 */
        {"qwen2_window", "a window in layer 0", {.from = "\"full_attention\"", .to = "\"sliding_attention\""}},
        {"bias", "no biases in q", {.set = "q_proj.bias"}}, /* 1.9 */
        {"bias", "no biases in o", {.set = "o_proj.bias"}}, /* 1.7 */
        {"bias", "no biases in v", {.set = "v_proj.bias"}}, /* 2.5 */
        {"bias", "no biases in gate", {.set = "gate_proj.bias"}}, /* 0.82 */
        {"bias", "no biases in up", {.set = "up_proj.bias"}}, /* 1.8 */
        {"bias", "no biases in down", {.set = "down_proj.bias"}}, /* 0.54 */
        {"qwen2", "no biases in k", {.set = "k_proj.bias"}}, /* 1.4 */
        {"qwen3", "no q norm", {.set = "q_norm.weight", .value = 1}}, /* 2 */
        {"qwen3", "no k norm", {.set = "k_norm.weight", .value = 1}}, /* 1.2 */
    };
    static DecoderCase g;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (case_read(&g, rows[i].name))
            case_misses(rows[i].name, rows[i].what, hf_folder(rows[i].name, "", TENSOR_F32, &rows[i].s), &g);
}

/* The same for linear attention: another form, map or epsilon. */
static void test_spoiled_linear(void) {
    static const struct { const char *name, *what; Spoil s; } rows[] = {
        {"linear_elu", "softmax attention", {.from = "\"linear\"", .to = "\"softmax\""}}, /* 5.3 */
        {"linear_elu", "form none", {.from = "\"numerator\"", .to = "\"none\""}}, /* 5.9 */
        {"linear_elu", "form both", {.from = "\"numerator\"", .to = "\"both\""}}, /* 5.9 */
        {"linear_elu", "form before-phi", {.from = "\"numerator\"", .to = "\"before-phi\""}}, /* 5.3 */
        {"linear_elu", "map exp", {.from = "\"elu+1\"", .to = "\"exp\""}}, /* 6.2 */
        {"linear_elu", "map relu", {.from = "\"elu+1\"", .to = "\"relu\""}}, /* 5.6 */
        {"linear_elu", "map favor+", {.from = "\"elu+1\"", .to = "\"favor+\""}}, /* 7.6 */
        {"linear_relu", "no epsilon", {.from = "0.5", .to = "1e-6"}}, /* 3.6 */
        {"linear_relu", "map relu2", {.from = "\"relu\"", .to = "\"relu2\""}}, /* 3.6 */
        {"linear_relu2", "map relu", {.from = "\"relu2\"", .to = "\"relu\""}}, /* 1.7 */
        {"linear_exp", "map softmax", {.from = "\"exp\"", .to = "\"softmax\""}}, /* 5.7 */
        {"linear_softmax", "map exp", {.from = "\"softmax\"", .to = "\"exp\""}}, /* 5.7 */
        {"linear_identity", "form none", {.from = "\"numerator\"", .to = "\"none\""}}, /* 5.9 */
        {"linear_identity", "form cosine", {.from = "\"numerator\"", .to = "\"cosine\""}}, /* 7.3 */
        {"linear_both", "form numerator", {.from = "\"both\"", .to = "\"numerator\""}}, /* 2.2 */
        {"linear_none", "form numerator", {.from = "\"none\"", .to = "\"numerator\""}}, /* 5.9 */
        {"linear_before", "form both", {.from = "\"before-phi\"", .to = "\"both\""}}, /* 5.9 */
        {"linear_before", "form none", {.from = "\"before-phi\"", .to = "\"none\""}}, /* 3.1 */
        {"linear_cosine", "no epsilon", {.from = "0.125", .to = "1e-6"}}, /* 0.44 */
        {"linear_cosine", "form cosine-none", {.from = "\"cosine\"", .to = "\"cosine-none\""}}, /* 4.2 */
        {"linear_cosine_none", "form none", {.from = "\"cosine-none\"", .to = "\"none\""}}, /* 6.5 */
        {"linear_qwen3", "no q norm", {.set = "q_norm.weight", .value = 1}}, /* 0.7 */
        {"linear_qwen3", "no k norm", {.set = "k_norm.weight", .value = 1}}, /* 0.54 */
        {"linear_yarn", "no yarn", {.from = "\"yarn\"", .to = "\"default\""}}, /* 3.9 */
        {"linear_favor", "other features", {.from = "favor_features\": 20", .to = "favor_features\": 18"}}, /* 4.1 */
        {"linear_favor", "another seed", {.from = "favor_seed\": 5", .to = "favor_seed\": 6"}}, /* 7.3 */
        /* 8.5 */
        {"linear_favor", "no epsilon", {.from = "denominator_epsilon\": 0.5", .to = "denominator_epsilon\": 1e-6"}},
        /* 1.1 */
        {"linear_yarn", "no factor", {.from = "\"rope_type\"", .to = "\"attention_factor\": 1,\"rope_type\""}},
    };
    static DecoderCase g;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (case_read(&g, rows[i].name))
            case_misses(rows[i].name, rows[i].what, hf_folder(rows[i].name, "", TENSOR_F32, &rows[i].s), &g);
}

static void test_spoiled_pairing(void) {
    static const char *const names[] = {"mha", "gqa", "mqa", "bias", "mistral", "yarn", "linear_elu", "linear_both"};
    /* 7.5 6.9 5.1 5.9 6.4 7.3 5.9 4.5 */
    static DecoderCase g;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (case_read(&g, names[i]))
            case_misses(names[i], "the other pairing", gguf_file(names[i], TENSOR_F32, &(Spoil){.unpermuted = 1}), &g);
}

/* ---- what linear attention cannot be given ---- */

static void expect_refused(const char *path, const ModelOptions *o, const char *says) {
    Model m;
    char err[300] = "";
    int rc = path ? model_open(&m, path, o, err, sizeof err) : 0;
    if (rc == -EINVAL && strstr(err, says)) return;
    decoder_fail(says, "is not what is refused:", err);
    if (path && rc == 0) model_close(&m);
}

static void test_linear_refused(void) {
    const ModelOptions none = {.rope = {.theta = 0}}, linear = {.attention = {.kind = ATTENTION_LINEAR}};
    const ModelOptions favor = {.attention = {.kind = ATTENTION_LINEAR, .phi = feature_map("favor+"),
                                                .favor_features = 32}};
    const Spoil window = {.from = "\"sliding_window\"", .to = "\"attention_kind\": \"linear\", \"sliding_window\""};
    const Spoil cubic = {.from = "\"linear\"", .to = "\"cubic\""};
    expect_refused(hf_folder("mistral", "", TENSOR_F32, &window), &none, "window");
    expect_refused(hf_folder("longrope", "", TENSOR_F32, &sound), &linear, "longrope");
    expect_refused(gguf_file("llama3", TENSOR_F32, &sound), &favor, "rope_freqs.weight"); /* 32 features, heads of 16 */
    expect_refused(hf_folder("linear_elu", "", TENSOR_F32, &cubic), &none, "cubic");

    /* The command line's linear attention takes a trained window away, in every layer. */
    static const char *const windows[] = {"mistral", "qwen2_window"};
    for (int i = 0; i < 2; i++)
        for (int is_linear = 0; is_linear < 2; is_linear++) {
            Model m;
            char err[300];
            const char *path = hf_folder(windows[i], "", TENSOR_F32, &sound);
            CHECK(path && model_open(&m, path, is_linear ? &linear : &none, err,
                                     sizeof err) == 0);
            int windowed = 0;
            for (int l = 0; l < m.config.n_layers; l++) windowed += m.config.windowed[l] || m.layers[l].window;
            CHECK(is_linear ? m.config.window == 0 && windowed == 0 : m.config.window == 8 && windowed == 2);
            model_close(&m);
        }
}

const Test tests_oracle[] = {
    {"oracle/llama", test_llama},
    {"oracle/rope", test_rope},
    {"oracle/yarn", test_yarn},
    {"oracle/longrope", test_longrope},
    {"oracle/dynamic", test_dynamic},
    {"oracle/window", test_window},
    {"oracle/qwen", test_qwen},
    {"oracle/feature maps", test_feature_maps},
    {"oracle/linear forms", test_forms},
    {"oracle/linear models", test_linear_models},
    {"oracle/spoiled-config", test_spoiled_config},
    {"oracle/spoiled-linear", test_spoiled_linear},
    {"oracle/spoiled-pairing", test_spoiled_pairing},
    {"oracle/linear attention's refusals", test_linear_refused},
    {0},
};
