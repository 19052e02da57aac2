/* weights-tools/describe.h - what a checkpoint and its configuration say together: which RoFormer this is.
 *
 *     Description m;
 *     if (describe_open(&m, &checkpoint, config.root, "config.json", &wish, &report, err, sizeof err)) ...
 *     describe_plan(&m, &plan, ROFORMER_IN_GGUF) ..
 *     describe_meta(&m, &meta, "a name");  describe_config(&m, &text);
 *     describe_free(&m);
 *
 * Nothing is guessed: every tensor that the variant needs must be there, none may be there that it has not, every
 * shape must be what the configuration says. The configuration is Hugging Face's config.json or bert4keras'
 * bert_config.json. */
#ifndef DESCRIBE_H
#define DESCRIBE_H

#include "weights-tools/checkpoint/checkpoint.h"
#include "description.h"
#include "gguf_write.h"
#include "plan.h"

/* 1 where the checkpoint's names are a RoFormer's (or a BERT's: the embeddings' names are the same). */
int describe_is_roformer(const Checkpoint *c);

/* Fill m: 0, -EINVAL or -ENOMEM and one line; m is zeroed then. config_name is what error lines call it. Tensors
 * without a place (optimizer slots, integer buffers, unknown heads) are left out with a note. m's views and labels
 * point into c and the configuration, which must outlive it. */
int describe_open(Description *m, const Checkpoint *c, const JsonValue *config, const char *config_name,
                  const DescribeWish *wish, const Report *r, char *err, size_t errlen);

/* Every slot into the plan, by its name in that world (GGUF or PyTorch). 0 or -ENOMEM. */
int describe_plan(const Description *m, Plan *p, RoformerWorld world);

/* The metadata of architecture "roformer", without the vocabulary. */
void describe_meta(const Description *m, GgufMeta *meta, const char *model_name);

/* Hugging Face's config.json of the model, for checkpoints that came without. */
void describe_config(const Description *m, Buffer *text);

#endif
