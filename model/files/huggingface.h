/* model/files/huggingface.h - Hugging Face models: config.json, and safetensors in one file or several. */
#ifndef HUGGINGFACE_H
#define HUGGINGFACE_H

#include "weights.h"

int huggingface_is(const uint8_t *data, size_t size);
/* The file w->path, or the set of shards that it belongs to, with the config.json of its folder; where data is NULL,
 * the folder w->folder. 0, or -ENOENT, -ENOEXEC (it has pickles alone), -EINVAL, -ENOMEM and one line. */
int huggingface_open(Weights *w, const uint8_t *data, size_t size, char *err, size_t errlen);

/* The configuration alone into w, for whoever has the tensors elsewhere: w->config, and w->generation where a path is
 * given. */
int huggingface_configs(Weights *w, const char *config, const char *generation, char *err, size_t errlen);
/* 1, and into `to` what a tensor is called in a decoder of its own: model.layers.0.., lm_head.weight. Where that is a
 * part of a model that sees pictures it stands behind other names; a body alone has no "model.". 0: the name is that
 * one. */
int huggingface_name(char *to, size_t size, const char *name);
/* Tensors (rows that begin with their names) get those names, which are w's. Where there is an lm_head and no table of
 * embeddings it becomes the table, unless the configuration says that they are not tied. */
int huggingface_rename(Weights *w, void *rows, size_t n, size_t row_bytes, char *err, size_t errlen);

#endif
