/* model/families.c - the architectures of models and the worlds of metadata that this program knows. */
#include "family.h"
#include "keys_more.h"
#include "past.h"
#include "roformer.h"
#include "scratch.h"

const Attention *const session_attention = &attention_tiles;

static const Architecture
    llama = {"llama", &family_llama, ROPE_INTERLEAVED, 0, &(const DecoderDefaults){0, 0, 2048, 0, -1, -1, -1, 0}},
    mistral = {"mistral", &family_llama, ROPE_INTERLEAVED, 0, &(const DecoderDefaults){8, 0, 131072, 4096, 0, 0, 0, 0}},
    qwen2 = {"qwen2", &family_llama, ROPE_HALF, 0, &(const DecoderDefaults){32, 0, 32768, 4096, 1, 0, 0, 1}},
    qwen3 = {"qwen3", &family_llama, ROPE_HALF, 1, &(const DecoderDefaults){32, 128, 32768, 4096, -1, -1, 0, 1}},
    roformer = {.name = "roformer", .family = &family_roformer},
    gau_alpha = {.name = "gau_alpha", .family = &family_roformer};

const Architecture *const architectures[] = {&llama, &mistral, &qwen2, &qwen3, &roformer, &gau_alpha, NULL};

const KeySource *const key_sources[] = {
    [FORMAT_GGUF] = &keys_llamacpp,
    [FORMAT_HF] = &keys_hf,
    [FORMAT_LLAMA2C] = &keys_llamacpp,
};
