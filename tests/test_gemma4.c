/* tests/test_gemma4.c - Gemma 4's settings: heads of two sizes, layers that borrow, and the ways in which files say it.
 * Its logits are tests/test_architectures.c's. */
#include "decoder_cases.h"
#include "lab/explain/lens.h"
#include "model/entropy.h"
#include "model/options.h"
#include "model/shift.h"
#include "program.h"
#include "test.h"

#include <string.h>

/* ---- the same model in other words ---- */

#define ONE_16 "\"1\": {\n      \"head_dim\": 16"
static void test_words(void) {
    static const struct { const char *name, *from, *to; } rows[] = {
        /* as the Hub's files say it, and as transformers 5 writes it */
        {"gemma4", "\"per_layer_config\": {\n    " ONE_16 "\n    },\n    \"3\": {\n      \"head_dim\": 16\n    }\n  }",
         "\"global_head_dim\": 16, \"num_global_key_value_heads\": null"},
        {"gemma4_moe", "\"per_layer_config\": {\n    " ONE_16 ",\n      \"num_key_value_heads\": 1\n    }\n  }",
         "\"global_head_dim\": 16, \"num_global_key_value_heads\": 1"},
        {"gemma4", "\"num_experts\": null", "\"num_experts\": 4"}, /* enable_moe_block is false */
        {"gemma4", "\"attention_k_eq_v\": false", "\"attn_logit_softcapping\": 1.0"}, /* nobody reads it */
        {"gemma4", "\"rope_theta\": 100.0", "\"partial_rotary_factor\": 0.5, \"rope_theta\": 100.0"}, /* nor this */
        {"gemma4_moe", "\"use_double_wide_mlp\": false", "\"use_double_wide_mlp\": true"}, /* with nobody to widen */
        {"gemma4", "\"use_bidirectional_attention\": null", "\"use_bidirectional_attention\": \"vision\""},
        {"gemma4_moe", "\"hidden_size_per_layer_input\": 0", "\"hidden_size_per_layer_input\": null"},
        /* the last layer sees all, whatever is said */
        {"gemma4_moe", "    \"full_attention\"\n  ],", "    \"sliding_attention\"\n  ],"},
    };
    static DecoderCase g;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Spoil s = {.from = rows[i].from, .to = rows[i].to};
        if (!case_read(&g, rows[i].name)) continue;
        const char *folder = hf_folder(rows[i].name, "", TENSOR_F32, &s);
        CHECK(case_distance(rows[i].name, folder, kernels_best(), &g) < 1e-4);
    }
}

/* ---- keys and values that are there, and lent ---- */

/* Files have matrices for them, of which nothing is said; behind them others are missed. */
static void test_lent(void) {
    const char *folder = hf_folder("gemma4", "", TENSOR_F32, &sound);
    CHECK(run("logits %s --ids 1,5", folder) == 0 && *said == 0);
    CHECK(run("logits %s --ids 1,5", gguf_file("gemma4", TENSOR_F32, &sound)) == 0 && *said == 0);
    CHECK(tool("", "inspect", "%s -s", folder) == 0 &&
          strstr(out, "2 of 16 on 1 of keys and values\n               with a window 2 of 8 on 1\n"));
    CHECK(tool("", "convert", "%s %s --no-tokenizer", folder, test_tmp("lent.gguf")) == 0 &&
          strstr(said, "left out: 6 tensors of keys and values, in layers that take an earlier one's\n"));
    folder_change(folder, "model.safetensors", "layers.3.self_attn.k_norm", "layers.1.self_attn.x_norm");
    CHECK(run("logits %s --ids 1,5", folder) == 0 && said_line("does not use: model.layers.1.self_attn.x_norm.weight"));
}

/* ---- what is refused ---- */

static void test_refused(void) {
    static const struct { const char *name, *from, *to, *line; } rows[] = {
        {"gemma4", "\"num_kv_shared_layers\": 2", "\"num_kv_shared_layers\": 3",
         "num_kv_shared_layers: leaves no layer of a kind that keeps keys and values"},
        {"gemma4", "\"num_kv_shared_layers\": 2", "\"num_kv_shared_layers\": 4", "num_kv_shared_layers: leaves no"},
        {"gemma4", "\"num_kv_shared_layers\": 2", "\"num_kv_shared_layers\": -1", "num_kv_shared_layers: -1 is not"},
        {"gemma4", "\"use_double_wide_mlp\": true", "\"use_double_wide_mlp\": false",
         "tensor model.layers.2.mlp.gate_proj.weight has shape [64, 32], the model needs [32, 32]"},
        {"gemma4", "\"vocab_size_per_layer_input\": 96", "\"vocab_size_per_layer_input\": 97",
         "vocab_size_per_layer_input: differs from vocab_size"},
        {"gemma4", "\"hidden_size_per_layer_input\": 8", "\"x\": 8",
         "tensor model.embed_tokens_per_layer.weight has shape [96, 32], the model needs [96, 1024]"},
        {"gemma4", "\"attention_bias\": false", "\"attention_bias\": true", "attention_bias: of true is not known"},
        {"gemma4", "\"use_bidirectional_attention\": null", "\"use_bidirectional_attention\": \"all\"",
         "use_bidirectional_attention: of all, where tokens see what follows"},
        {"gemma4", "\"head_dim\": 8,", "\"head_dim\": 18,", "head_dim: must be even, and at most that of other layers"},
        {"gemma4", "\"head_dim\": 8,", "\"head_dim\": 7,", "head_dim: must be even"},
        {"gemma4", ONE_16, "\"1\": {\n      \"head_dim\": 18",
         "per_layer_config: differs among layers of a kind, which is not known here"},
        {"gemma4", ONE_16, "\"1\": {\n      \"x\": 16", "per_layer_config: differs among layers of a kind"},
        {"gemma4", "\"rope_type\": \"proportional\"", "\"rope_type\": \"linear\", \"factor\": 2.0",
         "rope_parameters: only proportional and default are known here for full_attention"},
        {"gemma4", "\"rope_type\": \"default\"", "\"rope_type\": \"linear\", \"factor\": 2.0",
         "rope_parameters: of sliding_attention must be default"},
        {"gemma4_moe", "\"num_key_value_heads\": 2,", "\"num_key_value_heads\": 3,",
         "n_kv_heads: of layers with a window must divide n_heads"},
        {"gemma4_moe", "\"top_k_experts\": 2", "\"top_k_experts\": null", "expert_used_count: is more than there are"},
        {"gemma4_moe", "\"num_experts\": 6", "\"num_experts\": null", "num_experts: is missing in config.json"},
        {"gemma4", "\"sliding_attention\": {", "\"x\": {",
         "rope_parameters: must have full_attention and sliding_attention"},
        {"gemma4_moe", "\"attention_k_eq_v\": true", "\"attention_k_eq_v\": false",
         "tensor model.layers.1.self_attn.v_proj.weight is missing"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Spoil s = {.from = rows[i].from, .to = rows[i].to};
        case_refused(rows[i].name, hf_folder(rows[i].name, "", TENSOR_F32, &s), rows[i].line);
    }
}

/* A byte of a value behind a key's name: a list's numbers begin at 16. */
static void test_gguf_lists(void) {
    static const struct { const char *name, *key, *line; size_t at; uint8_t byte; } rows[] = {
        {"gemma4", "gemma4.feed_forward_length", "feed_forward_length: differs from layer to layer in a way", 20, 33},
        {"gemma4", "gemma4.feed_forward_length", "feed_forward_length: 0 is not", 16, 0},
        {"gemma4", "gemma4.attention.key_length_swa", "attention.key_length_swa: must be even, and at most", 4, 18},
        {"gemma4_moe", "gemma4.attention.shared_kv_layers", "num_kv_shared_layers: leaves no layer of a kind", 4, 2},
        {"gemma4_moe", "gemma4.attention.head_count_kv", "n_kv_heads: of layers with a window must divide", 16, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        case_refused(rows[i].name,
                     gguf_patched(gguf_file(rows[i].name, TENSOR_F32, &sound), rows[i].key, rows[i].at, rows[i].byte),
                     rows[i].line);
    static const char two[] = "\4\0\0\0\2\0\0\0\0\0\0\0\1\0\0\0\2\0\0"; /* u32, of which there are two: 1, 2 */
    const char *path = gguf_file("gemma4", TENSOR_F32, &sound);
    case_refused("gemma4", gguf_with_key(path, "gemma4.expert_count", META_ARRAY, two, sizeof two),
                 "gemma4.expert_count: differs from layer to layer, which is not known here");
    path = gguf_patched(gguf_file("gemma4", TENSOR_F32, &sound), "gemma4.attention.sliding_window_patter", 0, '?');
    case_refused("gemma4", path, "attention.sliding_window_pattern: is missing");
    path = gguf_patched(gguf_file("gemma4", TENSOR_F32, &sound), "rope_freqs.weigh", 0, '?');
    case_refused("gemma4", path, "tensor rope_freqs.weight: is missing");
}

/* A look behind each layer is a model of fewer of them: who borrows, and a token's vectors, stay what they are. */
static void test_lens(void) {
    enum { N = 5 };
    static const int ids[N] = {1, 9, 17, 33, 65};
    Candidate best[4 * N];
    char err[300];
    Model m;
    Session s;
    const float *logits = NULL;
    if (model_open(&m, gguf_file("gemma4", TENSOR_F32, &sound), NULL, err, sizeof err)) {
        decoder_fail("gemma4", "model_open:", err);
        return;
    }
    CHECK(lens_read(best, 1, &m, ids, N, 2, NULL, NULL, err, sizeof err) == 0);
    CHECK(session_init(&s, &m, &(SessionOptions){.n_ctx = N, .threads = 1}, err, sizeof err) == 0);
    CHECK(session_eval(&s, ids, N, &logits, err, sizeof err) == 0);
    int most = 0;
    for (int i = 1; i < m.config.vocab_size; i++) most = logits[i] > logits[most] ? i : most;
    CHECK(best[4 * N - 1].id == most);
    session_free(&s);
    model_close(&m);
}

/* Pairs that stand still are told apart from those that turn, and a method that would turn them says so. */
static void test_still(void) {
    const char *folder = hf_folder("gemma4", "", TENSOR_F32, &sound), *why = "stood still in training";
    CHECK(tool("", "inspect", "%s -s", folder) == 0 && strstr(out, "4 of a head's 16 entries"));
    CHECK(tool("", "inspect", "%s -s", gguf_file("gemma4", TENSOR_F32, &sound)) == 0 &&
          strstr(out, "4 of a head's 16 entries"));
    CHECK(run("logits %s --ids 1,5 --rope yarn:factor=2", folder) == 0 && strstr(said, why));
    CHECK(run("logits %s --ids 1,5 --rope rerope:window=4", folder) == 0 && !strstr(said, why));
}

/* A shift would move keys that another RoPE has turned, also where a method takes the main one apart; and the entropy
 * looks at keys of one size. */
static void test_not_known(void) {
    static const char *const names[] = {"gemma4", "gemma3_six"}, *const ropes[] = {NULL, "rerope:window=16"};
    char err[300];
    for (int i = 0; i < 4; i++) {
        Model m;
        const ModelOptions o = {.rope = {.spec = ropes[i % 2]}};
        if (model_open(&m, gguf_file(names[i / 2], TENSOR_F32, &sound), &o, err, sizeof err)) {
            decoder_fail(names[i / 2], "model_open:", err);
            continue;
        }
        CHECK(session_can_shift(&m, 2, 32, err, sizeof err) && strstr(err, "layers with a RoPE of their own"));
        model_close(&m);
    }
    Model m;
    Session s;
    EntropyMeter meter;
    entropy_meter(&meter);
    const SessionOptions o = {.n_ctx = 8, .threads = 1, .attention = &meter.attention};
    CHECK(model_open(&m, gguf_file("gemma4", TENSOR_F32, &sound), NULL, err, sizeof err) == 0);
    CHECK(session_init(&s, &m, &o, err, sizeof err) && strstr(err, "whose heads differ"));
    model_close(&m);
}

extern const Test tests_gemma4[];
const Test tests_gemma4[] = {
    {"gemma4/the same in other words", test_words},
    {"gemma4/keys and values that are lent", test_lent},
    {"gemma4/refused", test_refused},
    {"gemma4/keys of GGUF", test_gguf_lists},
    {"gemma4/behind each layer", test_lens},
    {"gemma4/pairs that stand still", test_still},
    {"gemma4/not known", test_not_known},
    {0},
};
