/* model/families.c - the families of models, the architectures of decoders and the worlds of metadata that this program
 * knows. */
#include "decoder.h"
#include "keys_more.h"
#include "past.h"
#include "roformer.h"
#include "scratch.h"

const Attention *const session_attention = &attention_tiles;
const Family *const families[] = {&family_llama, &family_roformer, NULL};

const DecoderArch decoder_archs[] = {
    {"llama", ROPE_INTERLEAVED, 0, &(const DecoderDefaults){0, 0, 2048, 0, -1, -1, -1, 0}},
    {"mistral", ROPE_INTERLEAVED, 0, &(const DecoderDefaults){8, 0, 131072, 4096, 0, 0, 0, 0}},
    {"qwen2", ROPE_HALF, 0, &(const DecoderDefaults){32, 0, 32768, 4096, 1, 0, 0, 1}},
    {"qwen3", ROPE_HALF, 1, &(const DecoderDefaults){32, 128, 32768, 4096, -1, -1, 0, 1}},
    {0},
};

const KeySource *const key_sources[] = {
    [FORMAT_GGUF] = &keys_llamacpp,
    [FORMAT_HF] = &keys_hf,
    [FORMAT_LLAMA2C] = &keys_llamacpp,
};
