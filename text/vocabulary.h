/* text/vocabulary.h - the bridge between a GGUF file and its tokenizer: neither of the two folders knows the other.
 *
 *     Vocabulary v;
 *     Tokenizer *t;
 *     if (vocabulary_from_weights(&v, &w, err, sizeof err)) ...
 *     int rc = tokenizer_from_vocabulary(&t, &v, w.path, err, sizeof err);
 *     vocabulary_free(&v);         the tokenizer has copied what it needs */
#ifndef VOCABULARY_H
#define VOCABULARY_H

#include "model/files/weights.h"
#include "tokenizer/vocabulary.h"

/* The vocabulary in a GGUF file's metadata (keys tokenizer.ggml.*). The pieces' texts and the character map point into
 * w's mapped file; the arrays of pieces and merges, v->model and v->pre are malloc'ed and belong to v: keep w open
 * while v lives, and free v with vocabulary_free. Errors: -ENOENT (no vocabulary in the file), -EINVAL (a key of the
 * wrong type, arrays of different lengths, a number out of range), -ENOMEM; then v is zeroed. */
int vocabulary_from_weights(Vocabulary *v, const Weights *w, char *err, size_t errlen);
void vocabulary_free(Vocabulary *v); /* accepts a zeroed struct */
#endif
