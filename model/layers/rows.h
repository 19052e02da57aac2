/* model/layers/rows.h - the architectures in layers: rows for families.c. */
#ifndef LAYER_ROWS_H
#define LAYER_ROWS_H

#include "layers.h"

extern const Architecture gemma_row, gemma2_row, gemma3_row, gemma_embedding_row, gemma3_text_row, phi3_row,
    smollm3_row, olmo2_row, olmo3_row, granite_row, ministral_row, ministral3_row, mistral3_row, qwen3_moe_row,
    qwen3moe_row, qwen35_text_row, qwen35_row, qwen35_moe_text_row, qwen35moe_row, qwen3_next_row, qwen3next_row,
    ernie_row, exaone4_row, seed_oss_row, hunyuan_row, hunyuan_gguf_row, stablelm_row, glm4_row, arcee_row,
    gpt_oss_row, gpt_oss_gguf_row, mixtral_row, gpt_neox_row, gptneox_row, phi_row, phi2_row, starcoder2_row,
    cohere_row, qwen3vlmoe_row, command_r_row, cohere2_row, olmo_row, nemotron_row, internlm2_row, internlm3_row,
    minicpm_row, lfm2_row, exaone_row, olmoe_row, qwen2_moe_row, qwen2moe_row, granite_moe_row, granite_moe_shared_row,
    ernie_moe_row, ernie_moe_gguf_row, lfm2_moe_row, lfm2moe_row, dots1_row, glm4_moe_row, glm4moe_row,
    deepseek_v2_row, deepseek_v3_row, kimi_k2_row, deepseek2_row, glm4_moe_lite_row, youtu_row, mistral4_row,
    minicpm3_row, gemma4_row, gemma4_text_row, gemma4_unified_row, granite_hybrid_row;
extern const Architecture nomic_row, nomic_gguf_row, modern_row, modern_gguf_row, euro_row, neo_row, neo_gguf_row,
    gte_row, gte_old_row, jina_row, jina_old_row, jina_gguf_row; /* encoders.c */

/* What rows of several files read. `usual` and other numbers: the class's, where config.json does not say them. */
void rows_only(KeyReader *r, const char *key, int value); /* a flag of config.json, known here only so */
void rows_shares(KeyReader *r, Config *c, int usual);     /* whether the chosen experts' sum to 1 */
/* Layers from a first one on have experts, or every so many of them; the others have a network of their own. */
void rows_experts_from(KeyReader *r, Config *c, const char *hf_first, int usual, const char *hf_step);
/* Experts are chosen in so many of their groups alone, and a group is as good as so many of its best (1 or 2). */
void rows_groups(KeyReader *r, Config *c, int n, int used, int best);
void rows_routed(KeyReader *r, Config *c, int sum_to_1, int dense, int n_groups); /* experts of DeepSeek-V3's kind */
/* Scores grow with the position, in steps of the length that it was trained on at first. */
void rows_temperature(KeyReader *r, Config *c);
/* Granite's scales by other keys in config.json. GGUF files of 2024 have none: they are the first MiniCPM's. */
void rows_minicpm(KeyReader *r, Config *c, double words, double depth, double base);
extern const LayerName rows_shared_experts[];

/* A row and transformers' defaults; what: its traits. */
#define ROW(id, called, pairs, what, ...) \
    const Architecture id = {.name = called, .family = &family_layers, .pairing = pairs, .traits = &what, \
                             .hf = &(const DecoderDefaults){__VA_ARGS__}}

#endif
