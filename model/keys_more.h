/* model/keys_more.h - the reading of keys beyond the core: llama.cpp's extras, Hugging Face's config.json. */
#ifndef KEYS_MORE_H
#define KEYS_MORE_H

#include "keys.h"

extern const KeySource keys_hf;

/* keys_llamacpp.c: scaled frequencies, and a decoder's windows and experts, of a GGUF file whose sizes are read. */
void keys_llamacpp(KeyReader *r, Config *c);

/* keys_hf.c: true (1) or false (0). */
int key_flag(KeyReader *r, const char *gguf, const char *hf, int absent);

#endif
