/* tests/test_layers_files.c - tensors of models in layers that are not there, or not as they should be: the line that
 * names them; and models whose files leave to their tensors what others say. */
#include "decoder_cases.h"
#include "model/model.h"
#include "program.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

/* In the header of a folder's file. */
static void in_folders(void) {
    static const struct { const char *name, *from, *to, *line; } rows[] = {
        {"seed_oss", "0.self_attn.q_proj.bias", "0.x", "tensor model.layers.0.self_attn.q_proj.bias is missing"},
        {"seed_oss", "1.self_attn.v_proj.bias", "1.x", "tensor model.layers.1.self_attn.v_proj.bias is missing"},
        {"stablelm_par", "0.input_layernorm.weight", "0.x", "tensor model.layers.0.input_layernorm.weight is missing"},
        {"stablelm_par", "0.self_attn.q_layernorm.norms.1.weight", "0.x",
         "tensor model.layers.0.self_attn.q_layernorm.norms.1.weight is missing"},
        {"mixtral", "0.block_sparse_moe.experts.0.w1.weight", "0.x",
         "tensor model.layers.0.block_sparse_moe.experts.0.w1.weight is missing"},
        {"mixtral", "1.block_sparse_moe.experts.3.w2.weight", "0.x",
         "tensor model.layers.1.block_sparse_moe.experts.3.w2.weight is missing"},
        {"qwen35moe", "0.mlp.experts.down_proj\"", "0.x\"",
         "tensor model.layers.0.mlp.experts.0.down_proj.weight is missing"},
        {"qwen35moe", "0.mlp.experts.gate_up_proj\":{\"dtype\":\"F32\",\"shape\":[4,32,32]",
         "0.mlp.experts.gate_up_proj\":{\"dtype\":\"F32\",\"shape\":[4,64,16]",
         "tensor model.layers.0.mlp.experts.gate_up_proj has shape [4, 64, 16], the model needs [128, 32]"},
        {"qwen35moe", "0.mlp.experts.down_proj\":{\"dtype\":\"F32\",\"shape\":[4,32,16]",
         "0.mlp.experts.down_proj\":{\"dtype\":\"F32\",\"shape\":[4,16,32]",
         "tensor model.layers.0.mlp.experts.down_proj has shape [4, 16, 32], the model needs [128, 16]"},
        {"qwen3next", "0.linear_attn.in_proj_qkvz.weight\":{\"dtype\":\"F32\",\"shape\":[96,32]",
         "0.linear_attn.in_proj_qkvz.weight\":{\"dtype\":\"F32\",\"shape\":[32,96]",
         "tensor model.layers.0.linear_attn.in_proj_qkvz.weight has shape [32, 96], the model needs [96, 32]"},
        {"deepseek_v2", "0.self_attn.kv_b_proj.weight", "0.x",
         "tensor model.layers.0.self_attn.kv_b_proj.weight is missing"},
        {"deepseek_v2", "1.self_attn.q_proj.weight", "1.x", "tensor model.layers.1.self_attn.q_proj.weight is missing"},
        {"deepseek_v3", "0.self_attn.q_a_layernorm.weight", "0.x",
         "tensor model.layers.0.self_attn.q_a_layernorm.weight is missing"},
        {"deepseek_v2", "0.self_attn.kv_b_proj.weight\":{\"dtype\":\"F32\",\"shape\":[64,16]",
         "0.self_attn.kv_b_proj.weight\":{\"dtype\":\"F32\",\"shape\":[16,64]",
         "tensor model.layers.0.self_attn.kv_b_proj.weight has shape [16, 64], the model needs [64, 16]"},
        {"neobert", "0.qkv.weight\":{\"dtype\":\"F32\",\"shape\":[96,32]",
         "0.qkv.weight\":{\"dtype\":\"F32\",\"shape\":[32,96]",
         "self_attn.qkv_proj.weight has shape [32, 96], the model needs [96, 32]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *folder = hf_folder(rows[i].name, "", TENSOR_F32, &sound);
        folder_change(folder, "model.safetensors", rows[i].from, rows[i].to);
        case_refused(rows[i].name, folder, rows[i].line);
    }
}

/* A GGUF file's tensor by another name: its last letter. */
static void in_gguf(void) {
    static const char *const rows[][2] = {
        {"mixtral", "blk.0.ffn_gate_exps.weight"}, {"qwen35moe", "blk.1.ffn_down_exps.weight"},
        {"gpt_oss", "blk.0.ffn_up_exps.weight"}, {"gpt_oss", "blk.0.ffn_gate_exps.bias"},
        {"gpt_oss", "blk.0.ffn_gate_inp.bias"}, {"stablelm", "blk.0.attn_norm.weight"},
        {"seed_oss", "blk.0.attn_q.bias"}, {"seed_oss", "blk.0.attn_k.bias"}, {"seed_oss", "blk.1.attn_v.bias"},
        {"qwen35", "blk.0.ssm_a"}, {"deepseek_v2", "blk.0.attn_k_b.weight"}, {"youtu", "blk.0.attn_v_b.weight"},
        {"deepseek_v3", "blk.1.attn_kv_a_norm.weight"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char line[100], all_but_one[60];
        snprintf(line, sizeof line, "tensor %s is missing", rows[i][1]);
        snprintf(all_but_one, sizeof all_but_one, "%.*s", (int)strlen(rows[i][1]) - 1, rows[i][1]);
        case_refused(rows[i][0], gguf_patched(gguf_file(rows[i][0], TENSOR_F32, &sound), all_but_one, 0, '?'), line);
    }
}

/* config.json without a word on it: norms of each head where they are there. */
static void tensors_say(void) {
    static const struct { const char *name, *from; } rows[] = {
        {"stablelm_par", "\"qk_layernorm\": true"}, {"stablelm", "\"qk_layernorm\": false"},
        {"stablelm", "\"use_qkv_bias\": true"}, {"seed_oss", "\"attention_bias\": true"}};
    static DecoderCase g;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Spoil s = {.from = rows[i].from, .to = "\"x\": 1"};
        if (!case_read(&g, rows[i].name)) continue;
        CHECK(case_distance(rows[i].name, hf_folder(rows[i].name, "", TENSOR_F32, &s), kernels_best(), &g) < 1e-4);
    }
}

/* A head for words of which the file has the bias alone multiplies by the embeddings. */
static void bias_alone(void) {
    static const Spoil tied = {.set = "decoder.weight", .how = SPOIL_LIKE, .with = "model.encoder.weight"};
    CHECK(run("logits %s --ids 1,5,7 --all -q", hf_folder("neobert", "", TENSOR_F32, &tied)) == 0);
    char *want = taken_out();
    const char *folder = hf_folder("neobert", "", TENSOR_F32, &sound);
    CHECK(run("logits %s --ids 1,5,7 --all -q", folder) == 0 && strcmp(out, want) != 0);
    folder_change(folder, "model.safetensors", "\"decoder.weight\"", "\"nobody's\"");
    CHECK(run("logits %s --ids 1,5,7 --all -q", folder) == 0 && strcmp(out, want) == 0);
    free(want);
}

/* Scores grow with the yarn that is used, not with the file's; and with the position, where a GGUF file says so. */
static void latent_scores(void) {
    static const Spoil plain = {.from = "\"rope_type\": \"yarn\"", .to = "\"rope_type\": \"default\""};
    const char *ids = "1,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37,39,41";
    CHECK(run("logits %s --ids %s -q --rope none", hf_folder("deepseek_v3", "", TENSOR_F32, &sound), ids) == 0);
    char *want = taken_out();
    CHECK(run("logits %s --ids %s -q", hf_folder("deepseek_v3", "", TENSOR_F32, &plain), ids) == 0);
    CHECK(strcmp(out, want) == 0);
    free(want);
    const char *path = gguf_file("deepseek_v3", TENSOR_F32, &sound);
    CHECK(run("logits %s --ids %s -q", path, ids) == 0);
    want = taken_out();
    path = gguf_with_key(path, "deepseek2.attention.temperature_scale", META_F32, "\0\0\0\77", 4);
    CHECK(run("logits %s --ids %s -q", path, ids) == 0 && strcmp(out, want) != 0);
    free(want);
}

extern const Test tests_layers_files[];
const Test tests_layers_files[] = {
    {"layers files/in folders", in_folders},
    {"layers files/in GGUF", in_gguf},
    {"layers files/what tensors say", tensors_say},
    {"layers files/a bias alone", bias_alone},
    {"layers files/scores of latent attention", latent_scores},
    {0}};
