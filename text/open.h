/* text/open.h - the tokenizer of a model, wherever it stands.
 *
 *     Tokenizer *t;
 *     if (vocabulary_open(&t, &model.weights, NULL, (size_t)model.config.vocab_size, NULL, err, sizeof err)) ... */
#ifndef TEXT_OPEN_H
#define TEXT_OPEN_H

#include "model/files/weights.h"
#include "tokenizer/open.h"

/* The tokenizer of the model in w: the file `given` (NULL: none), else the file's or folder's own, else tokenizer.bin,
 * tokenizer.json, tokenizer.model, spiece.model or vocab.txt beside it, else in the current folder. vocab_size: the
 * model's, or 0 where only the tokenizer is wanted. A tokenizer with more pieces than that is refused, for its ids
 * would be too; one with fewer is common (a vocabulary padded to a round number), but refused for llama2.c's files,
 * where tokenizer.bin was cut short then, and in the current folder, where it may be another model's. o (may be NULL):
 * WordPiece's settings; a dictionary is looked for beside the model, and a GGUF file's own tokenizer.ggml.lower_case
 * holds where o does not say otherwise. The caller frees *t. Errors: -ENOENT (none found), those of tokenizer_open,
 * -EINVAL (they do not belong together). */
int vocabulary_open(Tokenizer **t, const Weights *w, const char *given, size_t vocab_size, const TokenizerOptions *o,
                    char *err, size_t errlen);
/* Which file of the current folder that would be, where a model's own folder has none: *path malloc'ed, or NULL where
 * there is none here either. 0 or -ENOMEM. */
int vocabulary_here(char **path);

#endif
