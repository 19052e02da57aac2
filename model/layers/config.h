/* model/layers/config.h - settings of models in layers, for their rows (rows.c). */
#ifndef LAYER_CONFIG_H
#define LAYER_CONFIG_H

#include "layers.h"
#include "model/keys_more.h"

/* Keys that some architectures have: tables for LayerTraits.keys, whose fields are a Decoder's. */
extern const KeyField layer_scales[], layer_caps[], layer_experts[], layer_ernie_experts[], layer_routed_experts[],
    layer_latent[], layer_delta[], layer_logits[], layer_clip[], layer_conv[];

int key_is_hf(const KeyReader *r);
int key_said(KeyReader *r, const char *hf); /* true 1, false 0, not there or GGUF -1 */

void layers_latent_scale(Config *c); /* what scores are multiplied by, under the RoPE that c has by now */
/* An encoder's window, which files give as a whole, as what a token sees on either side. */
void layer_window_sides(KeyReader *r, Config *c, const char *hf);

void layers_read_config(KeyReader *r, Config *c, const Architecture *a); /* family.h */
/* The adapter of that task, by its name or a word for it (query, document). Where there are none any task does. */
void layers_take_task(KeyReader *r, Config *c, const char *task);
/* Hugging Face's name of a tensor as this architecture has it becomes parts.c's: of one, in its place of `size` bytes;
 * of all. 0, -EINVAL or -ENOMEM. */
void layers_name(char *name, size_t size, const LayerTraits *t);
int layers_rename(Weights *w, const LayerTraits *t, char *err, size_t errlen);

#endif
