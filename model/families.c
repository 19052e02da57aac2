/* model/families.c - the architectures of models and the worlds of metadata that this program knows. */
#include "family.h"
#include "keys_more.h"
#include "model/layers/rows.h"
#include "past.h"
#include "roformer.h"
#include "scratch.h"

const Attention *const session_attention = &attention_tiles;

#define DECODER(...) .hf = &(const DecoderDefaults){__VA_ARGS__}
static const Architecture
    llama = {.name = "llama", .family = &family_llama, .pairing = ROPE_INTERLEAVED, .with_experts = &mixtral_row,
             DECODER(.n_ctx = 2048, .qkv_bias = -1, .o_bias = -1, .mlp_bias = -1)},
    mistral = {.name = "mistral", .family = &family_llama, .pairing = ROPE_INTERLEAVED,
               DECODER(.kv_heads = 8, .n_ctx = 131072, .window = 4096)},
    qwen2 = {.name = "qwen2", .family = &family_llama, .pairing = ROPE_HALF,
             DECODER(.kv_heads = 32, .n_ctx = 32768, .window = 4096, .qkv_bias = 1, .window_by_layer = 1)},
    qwen3 = {.name = "qwen3", .family = &family_llama, .pairing = ROPE_HALF, .qk_norm = 1,
             DECODER(.kv_heads = 32, .head_dim = 128, .n_ctx = 32768, .window = 4096, .qkv_bias = -1, .o_bias = -1,
                     .window_by_layer = 1)},
    roformer = {.name = "roformer", .family = &family_roformer},
    gau_alpha = {.name = "gau_alpha", .family = &family_roformer};

const Architecture *const architectures[] = {
    &llama, &mistral, &qwen2, &qwen3, &roformer, &gau_alpha,
    &gemma2_row, &gemma3_row, &gemma3_text_row, &gemma_embedding_row,
    &phi3_row, &smollm3_row, &olmo2_row, &olmo3_row, &granite_row,
    &ministral_row, &ministral3_row, &mistral3_row, &qwen3_moe_row, &qwen3moe_row, &qwen35_text_row,
    &qwen35_row, &qwen35_moe_text_row, &qwen35moe_row, &qwen3_next_row, &qwen3next_row, &ernie_row,
    &exaone4_row, &seed_oss_row, &hunyuan_row, &hunyuan_gguf_row, &stablelm_row, &glm4_row, &arcee_row,
    &gpt_oss_row, &gpt_oss_gguf_row, &mixtral_row,
    &nomic_row, &nomic_gguf_row, &modern_row, &modern_gguf_row, &euro_row, &neo_row, &neo_gguf_row, &gte_row,
    &gte_old_row, &jina_row, &jina_old_row, &jina_gguf_row, NULL};

const KeySource *const key_sources[] = {
    [FORMAT_GGUF] = &keys_llamacpp,
    [FORMAT_HF] = &keys_hf,
    [FORMAT_LLAMA2C] = &keys_llamacpp,
};
