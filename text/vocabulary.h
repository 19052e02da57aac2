/* text/vocabulary.h - the bridge between a GGUF file and its tokenizer: neither of the two folders knows the other.
 *
 *     Vocabulary v;
 *     Tokenizer *t;
 *     if (vocabulary_from_weights(&v, &w, err, sizeof err)) ...
 *     int rc = tokenizer_from_vocabulary(&t, &v, w.path, err, sizeof err);
 *     vocabulary_free(&v);         the tokenizer has copied what it needs */
#ifndef VOCABULARY_H
#define VOCABULARY_H

#include "model/files/open.h"
#include "tokenizer/open.h"

/* The vocabulary in a GGUF file's metadata (keys tokenizer.ggml.*). The pieces' texts and the character map point into w's mapped
 * file; the arrays of pieces and merges, v->model and v->pre are malloc'ed and belong to v: keep w open while v lives, and free v
 * with vocabulary_free.
 * Errors: -ENOENT (no vocabulary in the file), -EINVAL (a key of the wrong type, arrays of different lengths, a number
 * out of range), -ENOMEM; then v is zeroed. */
int vocabulary_from_weights(Vocabulary *v, const Weights *w, char *err, size_t errlen);
void vocabulary_free(Vocabulary *v); /* accepts a zeroed struct */

/* The tokenizer of the model in w: the file `given` (NULL: none), else the file's or folder's own, else tokenizer.bin,
 * tokenizer.json, tokenizer.model, spiece.model or vocab.txt beside it, else in the current folder. vocab_size: the model's, or 0
 * where only the tokenizer is wanted.
 * A tokenizer with more pieces than that is refused, for its ids would be too; one with fewer is common (a vocabulary
 * padded to a round number), except in llama2.c's files, where it means that tokenizer.bin was cut short. o (may be NULL):
 * WordPiece's settings; a dictionary is looked for beside the model, and a GGUF file's own tokenizer.ggml.lower_case holds where o
 * does not say otherwise. The caller frees *t. Errors: -ENOENT (none found), those of tokenizer_open, -EINVAL (they do not belong together). */
int vocabulary_open(Tokenizer **t, const Weights *w, const char *given, size_t vocab_size, const TokenizerOptions *o, char *err,
                    size_t errlen);

#endif
