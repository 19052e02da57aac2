/* tests/test_mixtures.c - what the config.json of a mixture of experts leaves open, or says beside its class; what is
 * refused; GGUF's keys; names of tensors as transformers' modules have them. */
#include "decoder_cases.h"
#include "model/model.h"
#include "program.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is left open ---- */

/* The case's logits still, of the folder and of what convert makes of it. */
static void test_defaults(void) {
    static const struct { const char *name, *from, *to; } rows[] = {
        {"olmoe", "\"norm_topk_prob\": false", "\"x\": 1"},
        {"olmoe", "\"num_experts\": 3", "\"num_local_experts\": 3"},
        {"granite_hybrid", "\"full_attention\"", "\"attention\""}, /* as transformers 4 called it */
        {"qwen2moe", "\"norm_topk_prob\": false", "\"x\": 1"},
        {"qwen2moe", "\"qkv_bias\": true", "\"x\": 1"},
        {"dots1", "\"norm_topk_prob\": false", "\"x\": 1"},
        {"dots1", "\"scoring_func\": \"sigmoid\"", "\"x\": 1"},
        {"dots1", "\"scoring_func\": \"sigmoid\"", "\"scoring_func\": \"noaux_tc\""},
        {"dots1", "\"n_group\": 1", "\"n_group\": null"},
        {"glm4_moe", "\"norm_topk_prob\": true", "\"x\": 1"},
        {"glm4_moe", "\"first_k_dense_replace\": 1", "\"x\": 1"},
        {"glm4_moe", "\"partial_rotary_factor\": 0.5,", ""},
        {"ernie4_5_moe", "\"moe_layer_start_index\": 1", "\"x\": 1"},
        {"ernie4_5_moe", "\"moe_layer_end_index\": 1", "\"moe_layer_end_index\": -1"},
        {"ernie4_5_moe", "\"moe_layer_interval\": 1,\n  \"moe_layer_start_index\": 1",
         "\"moe_layer_interval\": 2, \"moe_layer_start_index\": 0"},
        {"ernie4_5_moe", "\"tie_word_embeddings\": true", "\"x\": 1"},
    };
    static DecoderCase g;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Spoil s = {.from = rows[i].from, .to = rows[i].to};
        if (!case_read(&g, rows[i].name)) continue;
        const char *folder = hf_folder(rows[i].name, "", TENSOR_F32, &s);
        double d = case_distance(rows[i].name, folder, kernels_best(), &g), c = NAN;
        const char *made = converted(rows[i].name, folder, NULL, 0);
        if (made) c = case_distance(rows[i].name, made, kernels_best(), &g);
        if (!(d < 1e-4 && c < 1e-4)) decoder_fail(rows[i].name, "has other logits with", rows[i].to);
    }
}

/* Which layers have the window that config.json gives: '1' for each that has. */
static void has_windows(const char *name, const char *path, const char *wanted) {
    char err[300] = "", got[CONFIG_MAX_LAYERS + 1] = "";
    Model m;
    if (model_open(&m, path, NULL, err, sizeof err)) {
        decoder_fail(name, "model_open:", err);
        return;
    }
    for (int l = 0; l < m.config.n_layers; l++) strcat(got, m.config.windowed[l] ? "1" : "0");
    if (strcmp(got, wanted) != 0 || (strchr(wanted, '1') && m.config.window != 8))
        decoder_fail(name, "has its window in layers", got);
    model_close(&m);
}

/* Qwen2's: every other layer below max_window_layers, where it is used; dots1's: those from there on. layer_types
 * stands above both. */
static void test_windows(void) {
    static const struct { const char *name, *window, *from, *to, *use, *wanted; } rows[] = {
        {"qwen2moe", "0", "28", "28", "true", "1"},      {"qwen2moe", "0", "28", "0", "true", "0"},
        {"qwen2moe", "0", "28", "28", "null", "0"},      {"dots1", "4096", "62", "1", NULL, "01"},
        {"dots1", "4096", "62", "0", NULL, "11"},        {"dots1", "4096", "62", "null", NULL, "00"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char from[60], to[60];
        const char *folder = hf_folder(rows[i].name, "", TENSOR_F32, &sound);
        folder_change(folder, "config.json", "\"layer_types\": [", "\"layer_types\": null, \"x\": [");
        snprintf(from, sizeof from, "\"sliding_window\": %s", rows[i].window);
        folder_change(folder, "config.json", from, "\"sliding_window\": 8");
        snprintf(from, sizeof from, "\"max_window_layers\": %s", rows[i].from);
        snprintf(to, sizeof to, "\"max_window_layers\": %s", rows[i].to);
        folder_change(folder, "config.json", from, to);
        snprintf(to, sizeof to, "\"use_sliding_window\": %s", rows[i].use ? rows[i].use : "");
        if (rows[i].use) folder_change(folder, "config.json", "\"use_sliding_window\": false", to);
        has_windows(rows[i].name, folder, rows[i].wanted);
        const char *made = converted(rows[i].name, folder, NULL, 0);
        if (made) has_windows(rows[i].name, made, rows[i].wanted);
    }
    const Spoil s = {.from = "\"max_window_layers\": 62", .to = "\"max_window_layers\": 0"};
    has_windows("dots1", hf_folder("dots1", "", TENSOR_F32, &s), "00");
}

/* ---- tensors ---- */

/* As save_pretrained wrote them, and as the module calls them: the same numbers behind the other name. */
static void test_names(void) {
    static const struct { const char *name, *from, *to; } rows[] = {
        {"granitemoe", "0.block_sparse_moe.input_linear.weight", "0.block_sparse_moe.experts.gate_up_proj"},
        {"granitemoe", "0.block_sparse_moe.output_linear.weight", "0.block_sparse_moe.experts.down_proj"},
        {"granitemoe", "0.block_sparse_moe.router.layer.weight", "0.block_sparse_moe.router.weight"},
        {"ernie4_5_moe", "1.mlp.moe_statics.e_score", "1.mlp.gate.moe_statics.e_score"},
    };
    static DecoderCase g;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!case_read(&g, rows[i].name)) continue;
        const char *folder = hf_folder(rows[i].name, "", TENSOR_F32, &sound);
        folder_change(folder, "model.safetensors", rows[i].from, rows[i].to);
        CHECK(case_distance(rows[i].name, folder, kernels_best(), &g) < 1e-4);
    }
}

static void test_missing(void) {
    static const struct { const char *name, *from, *to, *line; } rows[] = {
        {"ernie4_5_moe", "1.mlp.moe_statics.e_score_correction_bias", "1.x",
         "tensor model.layers.1.mlp.moe_statics.e_score_correction_bias is missing"},
        {"dots1", "1.mlp.gate.e_score_correction_bias", "1.x",
         "tensor model.layers.1.mlp.gate.e_score_correction_bias is missing"},
        {"dots1", "1.mlp.shared_experts.up_proj.weight", "1.x",
         "tensor model.layers.1.mlp.shared_experts.up_proj.weight is missing"},
        {"glm4_moe", "0.mlp.down_proj.weight", "0.x", "tensor model.layers.0.mlp.down_proj.weight is missing"},
        {"glm4_moe", "1.mlp.experts.2.down_proj.weight", "1.x",
         "tensor model.layers.1.mlp.experts.2.down_proj.weight is missing"},
        {"qwen2moe", "0.mlp.shared_expert_gate.weight", "0.x",
         "tensor model.layers.0.mlp.shared_expert_gate.weight is missing"},
        {"granitemoe", "0.shared_mlp.input_linear.weight\":{\"dtype\":\"F32\",\"shape\":[16,32]",
         "0.shared_mlp.input_linear.weight\":{\"dtype\":\"F32\",\"shape\":[32,16]",
         "mlp.shared_expert.gate_up_proj.weight has shape [32, 16], the model needs [16, 32]"},
        {"granitemoe", "0.block_sparse_moe.input_linear.weight\":{\"dtype\":\"F32\",\"shape\":[4,32,32]",
         "0.block_sparse_moe.input_linear.weight\":{\"dtype\":\"F32\",\"shape\":[4,16,64]",
         "mlp.experts.gate_up_proj has shape [4, 16, 64], the model needs [128, 32]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *folder = hf_folder(rows[i].name, "", TENSOR_F32, &sound);
        folder_change(folder, "model.safetensors", rows[i].from, rows[i].to);
        case_refused(rows[i].name, folder, rows[i].line);
    }
    static const char *const gguf[][2] = {{"ernie4_5_moe", "blk.1.exp_probs_b.bias"},
                                          {"granitemoe", "blk.0.ffn_up_shexp.weight"},
                                          {"dots1", "blk.0.ffn_down.weight"},
                                          {"glm4_moe", "blk.1.ffn_down_exps.weight"}};
    for (size_t i = 0; i < sizeof gguf / sizeof *gguf; i++) {
        char line[100], all_but_one[60];
        snprintf(line, sizeof line, "tensor %s is missing", gguf[i][1]);
        snprintf(all_but_one, sizeof all_but_one, "%.*s", (int)strlen(gguf[i][1]) - 1, gguf[i][1]);
        case_refused(gguf[i][0], gguf_patched(gguf_file(gguf[i][0], TENSOR_F32, &sound), all_but_one, 0, '?'), line);
    }
}

/* A draft's belong to nobody here, and nothing is said; behind it somebody's are missed. */
static void test_drafts(void) {
    const char *folder = hf_folder("glm4_moe", "", TENSOR_F32, &sound);
    CHECK(run("logits %s --ids 1,5", folder) == 0 && *said == 0);
    CHECK(run("logits %s --ids 1,5", gguf_file("glm4_moe", TENSOR_F32, &sound)) == 0 && *said == 0);
    folder_change(folder, "model.safetensors", "layers.2.enorm", "layers.3.enorm");
    CHECK(run("logits %s --ids 1,5", folder) == 0 && said_line("does not use: model.layers.3.enorm.weight"));
}

/* ---- what is refused ---- */

static void test_refused(void) {
    static const struct { const char *name, *from, *to, *line; } rows[] = {
        {"olmoe", "\"num_experts\": 3", "\"num_experts\": 1", "expert_used_count: is more than there are experts"},
        {"dots1", "\"n_group\": 1", "\"n_group\": 3", "n_group: does not fit the numbers of experts"},
        {"dots1", "\"scoring_func\": \"sigmoid\"", "\"scoring_func\": \"softmax\"",
         "scoring_func: only sigmoid is known here"},
        {"dots1", "\"n_shared_experts\": 2", "\"n_shared_experts\": null",
         "n_shared_experts: is missing in config.json"},
        {"dots1", "\"n_shared_experts\": 2", "\"n_shared_experts\": 0", "n_shared_experts: 0 is not a whole number"},
        {"dots1", "\"n_routed_experts\": 3", "\"x\": 3", "n_routed_experts: is missing in config.json"},
        {"dots1", "\"moe_intermediate_size\": 16", "\"moe_intermediate_size\": 1048576",
         "the shared expert's width: 2097152 is not a whole number"},
        {"dots1", "\"routed_scaling_factor\": 1.5", "\"routed_scaling_factor\": 0",
         "a scale: of experts is out of range"},
        {"glm4_moe", "\"n_group\": 1", "\"n_group\": 2", "n_group: does not fit the numbers of experts"},
        {"deepseek_v3", "\"topk_group\": 1", "\"topk_group\": 4", "n_group: does not fit the numbers of experts"},
        {"deepseek_v3", "\"topk_group\": 1", "\"topk_group\": 0", "topk_group: 0 is not a whole number"},
        {"deepseek_v3", "\"num_experts_per_tok\": 2", "\"num_experts_per_tok\": 3", "n_group: does not fit"},
        {"deepseek_v3", "\"num_experts_per_tok\": 2", "\"num_experts_per_tok\": 0", "expert_used_count: is more"},
        {"deepseek_v3", "\"rope_interleave\": true", "\"rope_interleave\": false",
         "rope_interleave: of false is not known here"},
        {"deepseek_v2", "\"topk_method\": \"greedy\"", "\"topk_method\": \"noaux_tc\"", "topk_method: only greedy and"},
        {"deepseek_v2", "\"kv_lora_rank\": 16", "\"x\": 16", "kv_lora_rank: is missing in config.json"},
        {"deepseek_v2", "\"kv_lora_rank\": 16", "\"kv_lora_rank\": 15", "head_dim: must be even"},
        {"deepseek_v2", "\"qk_nope_head_dim\": 6", "\"x\": 6", "qk_nope_head_dim: is missing in config.json"},
        {"deepseek_v2", "\"v_head_dim\": 10", "\"v_head_dim\": 1000000", "latent attention's heads: are too wide"},
        {"deepseek_v2", "\"attention_bias\": false", "\"attention_bias\": true", "attention_bias: of true is not"},
        {"deepseek_v2", "\"v_head_dim\": 10", "\"x\": 10", "v_head_dim: is missing in config.json"},
        {"deepseek_v2", "\"q_lora_rank\": null", "\"x\": null", "q_lora_rank: is missing in config.json"},
        {"deepseek_v2", "\"n_shared_experts\": 1", "\"n_shared_experts\": null", "n_shared_experts: is missing"},
        {"deepseek_v2", "\"n_routed_experts\": 6", "\"n_routed_experts\": 0", "the number of experts: is missing"},
        {"deepseek_v3", "\"routed_scaling_factor\": 1.5", "\"x\": 1.5", "routed_scaling_factor: is missing"},
        {"deepseek_v3", "\"norm_topk_prob\": true", "\"norm_topk_prob\": null", "norm_topk_prob: must be true"},
        {"youtu", "\"rope_interleave\": true", "\"rope_interleave\": null", "rope_interleave: must be true or false"},
        {"glm4_moe_lite", "\"dense\",", "", "mlp_layer_types: must be a list with an entry for each layer"},
        {"ernie4_5_moe", "\"use_bias\": false", "\"use_bias\": true", "use_bias: of true is not known here"},
        {"ernie4_5_moe", "\"moe_norm_min\": 1e-12", "\"moe_norm_min\": 1e-3", "moe_norm_min: only 1e-12 is known here"},
        {"ernie4_5_moe", "\"moe_num_shared_experts\"", "\"x\"", "moe_num_shared_experts: is missing in config.json"},
        {"ernie4_5_moe", "\"moe_num_experts\": 4", "\"moe_num_experts\": [4, 4]",
         "moe_num_experts: must be a whole number"},
        {"ernie4_5_moe", "\"moe_layer_interval\": 1", "\"moe_layer_interval\": 0", "moe_layer_interval: 0 is not"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Spoil s = {.from = rows[i].from, .to = rows[i].to};
        case_refused(rows[i].name, hf_folder(rows[i].name, "", TENSOR_F32, &s), rows[i].line);
    }
}

/* A class of hybrids is known where nothing in it is one. */
static void test_hybrids(void) {
    static const struct { const char *from, *to, *line; } rows[] = {
        {"\"full_attention\"", "\"mamba\"", "layer_types: only layers that all attend are known here"},
        {"\"layer_types\"", "\"x\"", "layer_types: only layers that all attend are known here"},
        {"\"num_local_experts\": 0", "\"num_local_experts\": 8", "num_local_experts: of 0 alone is known here"},
        {"\"position_embedding_type\": \"rope\"", "\"position_embedding_type\": null", "only rope is known here"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Spoil s = {.from = rows[i].from, .to = rows[i].to};
        case_refused("granite_hybrid", hf_folder("granite_hybrid", "", TENSOR_F32, &s), rows[i].line);
    }
}

/* A byte of a value behind a key's name and type. */
static void test_gguf_keys(void) {
    static DecoderCase g;
    const char *path = gguf_file("dots1", TENSOR_F32, &sound);
    case_refused("dots1", gguf_patched(path, "dots1.expert_group_count", 4, 3),
                 "dots1.expert_group_count: does not fit the numbers of experts");
    path = gguf_file("deepseek_v3", TENSOR_F32, &sound);
    case_refused("deepseek_v3", gguf_patched(path, "deepseek2.expert_gating_func", 4, 3),
                 "deepseek2.expert_gating_func: only 1, a softmax, and 2, a sigmoid, are known here");
    path = gguf_file("deepseek_v3", TENSOR_F32, &sound);
    case_refused("deepseek_v3", gguf_patched(path, "deepseek2.rope.scaling.yarn_log_multiplie", 0, '?'),
                 "rope.scaling.yarn_log_multiplier: is missing");
    path = gguf_file("deepseek_v3", TENSOR_F32, &sound);
    case_refused("deepseek_v3", gguf_with_key(path, "deepseek2.rope.scaling.attn_factor", META_F32, "\0\0\300\77", 4),
                 "deepseek2.rope.scaling.attn_factor: is not known here for this architecture");
    path = gguf_file("deepseek_v3", TENSOR_F32, &sound);
    case_refused("deepseek_v3", gguf_patched(path, "deepseek2.expert_shared_coun", 0, '?'),
                 "deepseek2.expert_shared_count: is missing");
    path = gguf_file("deepseek_v2", TENSOR_F32, &sound);
    case_refused("deepseek_v2", gguf_patched(path, "deepseek2.attention.key_length_mla", 4, 4),
                 "latent attention's heads: are too wide, or have nothing that does not turn");
    path = gguf_file("dots1", TENSOR_F32, &sound);
    case_refused("dots1", gguf_patched(path, "dots1.expert_gating_func", 4, 1),
                 "dots1.expert_gating_func: only 2, a sigmoid, is known here");
    path = gguf_file("olmoe", TENSOR_F32, &sound);
    case_refused("olmoe", gguf_with_key(path, "olmoe.attention.clamp_kqv", META_F32, "\0\0\200\277", 4),
                 "clip_qkv: must be 0 or more");
    path = gguf_file("qwen2moe", TENSOR_F32, &sound); /* an old file has only feed_forward_length, 48 */
    case_refused("qwen2moe", gguf_patched(path, "qwen2moe.expert_feed_forward_lengt", 0, '?'),
                 "tensor blk.0.ffn_gate_exps.weight has shape [3, 16, 32], the model needs [72, 32]");
    path = gguf_file("qwen2moe", TENSOR_F32, &sound);
    case_refused("qwen2moe", gguf_patched(path, "qwen2moe.expert_shared_feed_forward_lengt", 0, '?'),
                 "tensor blk.0.ffn_gate_shexp.weight has shape [16, 32], the model needs [48, 32]");
    if (!case_read(&g, "dots1")) return;
    path = gguf_patched(gguf_file("dots1", TENSOR_F32, &sound), "dots1.expert_gating_func", 4, 0); /* unsaid */
    CHECK(case_distance("dots1", path, kernels_best(), &g) < 1e-4);
    path = gguf_patched(gguf_file("dots1", TENSOR_F32, &sound), "dots1.expert_weights_norm", 4, 1);
    case_misses("dots1", "shares that sum to 1", path, &g);
    path = gguf_patched(gguf_file("dots1", TENSOR_F32, &sound), "dots1.expert_weights_scale", 6, 0);
    path = gguf_patched(path, "dots1.expert_weights_scale", 7, 0); /* 0 is none */
    case_misses("dots1", "a scale of 1", path, &g);
}

/* Runs as a folder, and convert says what GGUF has no key for. */
static void test_no_key(void) {
    static const char *const names[] = {"olmoe", "qwen2moe"};
    const Spoil s = {.from = "\"norm_topk_prob\": false", .to = "\"norm_topk_prob\": true"};
    for (int i = 0; i < 2; i++) {
        const char *folder = hf_folder(names[i], "", TENSOR_F32, &s);
        CHECK(run("logits %s --ids 1,5 -q", folder) == 0);
        CHECK(tool("", "convert", "%s %s --no-tokenizer -q", folder, test_tmp("no-key.gguf")) == 1 &&
              said_line("GGUF has no key for experts of such a model whose shares sum to 1 (norm_topk_prob true)"));
    }
}

extern const Test tests_mixtures[];
const Test tests_mixtures[] = {
    {"mixtures/defaults", test_defaults},
    {"mixtures/windows", test_windows},
    {"mixtures/hybrids", test_hybrids},
    {"mixtures/names of tensors", test_names},
    {"mixtures/tensors missing", test_missing},
    {"mixtures/drafts", test_drafts},
    {"mixtures/refused", test_refused},
    {"mixtures/keys of GGUF", test_gguf_keys},
    {"mixtures/no key", test_no_key},
    {0}};
