/* model/families.c - the families of models and the worlds of metadata that this program knows. */
#include "decoder.h"
#include "roformer.h"

const Family *const families[] = {&family_llama, &family_roformer, NULL};

extern const KeySource keys_gguf, keys_hf;
const KeySource *const key_sources[] = {
    [FORMAT_GGUF] = &keys_gguf,
    [FORMAT_HF] = &keys_hf,
    [FORMAT_LLAMA2C] = &keys_gguf,
};
