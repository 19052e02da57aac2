/* text/draft_model.h - guesses of a smaller model with the same vocabulary. It draws with the sampler's own next coins:
 * where its probabilities are alike, so is what it draws, and a sampled text is guessed as well as a greedy one. */
#ifndef TEXT_DRAFT_MODEL_H
#define TEXT_DRAFT_MODEL_H

#include "ahead.h"
#include "tokenizer/tokenizer.h"

typedef struct DraftModel DraftModel;

/* Room for texts of n_ctx ids, which sampler draws. The model must outlive it. -ENOMEM, -EINVAL and a
 * line. */
int draft_model_new(DraftModel **d, const Model *m, size_t n_ctx, int threads, const Sampler *sampler, char *err,
                    size_t errlen);
void draft_model_free(DraftModel *d); /* accepts NULL */
Draft draft_model_draft(DraftModel *d); /* for ahead_init; d must outlive it */

/* Do the ids that both have mean the same pieces? Models of one family pad their tables to different lengths. */
int same_vocabulary(const Tokenizer *a, const Tokenizer *b);

#endif
