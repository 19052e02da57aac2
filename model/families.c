/* model/families.c - the architectures of models and the worlds of metadata that this program knows. */
#include "family.h"
#include "keys_more.h"
#include "model/layers/rows.h"
#include "past.h"
#include "roformer.h"
#include "scratch.h"

const Attention *const session_attention = &attention_tiles;

/* The text part of models that see pictures, which is a Qwen 2 or 3: of text alone all three coordinates of a position
 * are equal, and angles by three axes are plain RoPE's. */
#define QWEN2_VL(called)                                                                                         \
    {.name = called, .family = &family_llama, .pairing = ROPE_HALF,                                              \
     DECODER(.gguf = "qwen2", .kv_heads = 8, .n_ctx = 32768, .window = 4096, .qkv_bias = 1, .window_by_layer = 1, \
             .theta = 1e6, .eps = 1e-5f)}
#define QWEN3_VL(called)                                                                                     \
    {.name = called, .family = &family_llama, .pairing = ROPE_HALF, .qk_norm = 1,                            \
     DECODER(.gguf = "qwen3", .kv_heads = 32, .head_dim = 128, .n_ctx = 128000, .qkv_bias = -1, .o_bias = -1, \
             .theta = 5e5)}

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
    qwen2_vl = QWEN2_VL("qwen2_vl"), qwen2_vl_text = QWEN2_VL("qwen2_vl_text"), qwen2vl = QWEN2_VL("qwen2vl"),
    qwen25_vl = QWEN2_VL("qwen2_5_vl"), qwen25_vl_text = QWEN2_VL("qwen2_5_vl_text"),
    qwen3_vl_text = QWEN3_VL("qwen3_vl_text"), qwen3vl = QWEN3_VL("qwen3vl"),
    roformer = {.name = "roformer", .family = &family_roformer},
    gau_alpha = {.name = "gau_alpha", .family = &family_roformer};

/* ---- models that are known, and cannot run ---- */

typedef struct {
    Architecture is; /* first: it is in the list with the others */
    const char *lacks;
} Missing;

static void refuse(KeyReader *r, Config *c, const Architecture *a) {
    (void)c;
    base_complain(&r->line, "%s: architecture \"%s\" is not known here: it %s", r->key, a->name, architecture_lacks(a));
}

static const Family family_missing = {.read_config = refuse};

const char *architecture_lacks(const Architecture *a) {
    return a->family == &family_missing ? ((const Missing *)(const void *)a)->lacks : NULL;
}

#define MISSING(called, what) &(&(const Missing){{.name = called, .family = &family_missing}, what})->is
#define CHOOSES "attends only to tokens that a network of its own chooses"
#define MAMBA "has layers of Mamba among those that attend"
#define GPT "is of GPT's line, and not one of those that are here (gpt_neox, phi, starcoder2)"
#define LEARNED "has a learned vector for each position, no RoPE"
#define ALIBI "has layers of its own around ALiBi"
#define EXPERTS "is a mixture of experts that is not written yet (mixtral, qwen3_moe and olmoe are)"
#define TWO_HALVES "is an encoder and a decoder"

const Architecture *const architectures[] = {
    &llama, &mistral, &qwen2, &qwen3, &qwen2_vl, &qwen2_vl_text, &qwen2vl, &qwen25_vl, &qwen25_vl_text, &qwen3_vl_text,
    &qwen3vl, &qwen3vlmoe_row, &roformer, &gau_alpha,
    &gemma_row, &gemma2_row, &gemma3_row, &gemma3_text_row, &gemma_embedding_row, &phi3_row, &smollm3_row, &olmo2_row,
    &olmo3_row, &granite_row, &ministral_row, &ministral3_row, &mistral3_row, &qwen3_moe_row, &qwen3moe_row,
    &qwen35_text_row, &qwen35_row, &qwen35_moe_text_row, &qwen35moe_row, &qwen3_next_row, &qwen3next_row, &ernie_row,
    &exaone4_row, &seed_oss_row, &hunyuan_row, &hunyuan_gguf_row, &stablelm_row, &glm4_row, &arcee_row, &gpt_oss_row,
    &gpt_oss_gguf_row, &mixtral_row, &gpt_neox_row, &gptneox_row, &phi_row, &phi2_row, &starcoder2_row, &cohere_row,
    &command_r_row, &cohere2_row, &olmo_row, &nemotron_row, &internlm2_row, &internlm3_row, &minicpm_row, &lfm2_row,
    &exaone_row, &olmoe_row, &qwen2_moe_row, &qwen2moe_row, &granite_moe_row, &granite_moe_shared_row, &ernie_moe_row,
    &ernie_moe_gguf_row, &lfm2_moe_row, &lfm2moe_row, &dots1_row, &glm4_moe_row, &glm4moe_row, &deepseek_v2_row,
    &deepseek_v3_row, &kimi_k2_row, &deepseek2_row, &glm4_moe_lite_row, &youtu_row, &mistral4_row, &minicpm3_row,
    &gemma4_row, &gemma4_text_row, &gemma4_unified_row, &granite_hybrid_row,
    &nomic_row, &nomic_gguf_row, &modern_row, &modern_gguf_row, &euro_row, &neo_row, &neo_gguf_row, &gte_row,
    &gte_old_row, &jina_row, &jina_old_row, &jina_gguf_row,
    MISSING("gemma3n", "shares keys and values between layers, and has four residual streams"),
    MISSING("gemma3n_text", "shares keys and values between layers, and has four residual streams"),
    MISSING("llama4", "attends in chunks, and mixes experts in a way of its own"),
    MISSING("llama4_text", "attends in chunks, and mixes experts in a way of its own"),
    MISSING("deepseek_v32", CHOOSES), MISSING("glm_moe_dsa", CHOOSES),
    MISSING("deepseek_v4", "compresses what lies behind a window before it attends to it"),
    MISSING("kimi_linear", "has layers of a delta net of its own among those that attend"),
    MISSING("longcat_flash", "attends twice a layer, and has experts that do nothing"),
    MISSING("mamba", "has no attention"), MISSING("mamba2", "has no attention"),
    MISSING("falcon_mamba", "has no attention"), MISSING("rwkv", "has no attention"),
    MISSING("rwkv6", "has no attention"), MISSING("rwkv7", "has no attention"), MISSING("xlstm", "has no attention"),
    MISSING("jamba", MAMBA), MISSING("bamba", MAMBA), MISSING("falcon_h1", MAMBA), MISSING("falcon-h1", MAMBA),
    MISSING("zamba2", MAMBA), MISSING("nemotron_h", MAMBA),
    MISSING("granitehybrid", MAMBA), MISSING("recurrent_gemma", "has recurrent layers among those that attend"),
    MISSING("bert", LEARNED), MISSING("roberta", LEARNED),
    MISSING("distilbert", LEARNED), MISSING("albert", LEARNED), MISSING("camembert", LEARNED),
    MISSING("electra", LEARNED), MISSING("gpt2", LEARNED), MISSING("gpt_neo", LEARNED),
    MISSING("gpt_bigcode", LEARNED), MISSING("opt", LEARNED), MISSING("bloom", ALIBI), MISSING("mpt", ALIBI),
    MISSING("jina-bert-v2", ALIBI), MISSING("mpnet", "adds a bias for each distance, no RoPE"),
    MISSING("deberta-v2", "scores distances by vectors of their own, no RoPE"),
    MISSING("t5", TWO_HALVES), MISSING("bart", TWO_HALVES), MISSING("whisper", TWO_HALVES),
    MISSING("gptj", GPT), MISSING("codegen", GPT), MISSING("persimmon", GPT), MISSING("falcon", GPT),
    MISSING("phimoe", EXPERTS),
    MISSING("qwen3_vl_moe_text", "keeps its experts' matrices transposed (GGUF files of it run)"),
    MISSING("mllama", "has layers that look at a picture"), NULL};

const KeySource *const key_sources[] = {
    [FORMAT_GGUF] = &keys_llamacpp,
    [FORMAT_HF] = &keys_hf,
    [FORMAT_LLAMA2C] = &keys_llamacpp,
};
