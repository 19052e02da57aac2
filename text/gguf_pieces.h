/* text/gguf_pieces.h - the keys tokenizer.ggml.* of a GGUF file, as far as SentencePiece's BPE needs them. */
#ifndef GGUF_PIECES_H
#define GGUF_PIECES_H

#include "model/files/weights.h"
#include "tokenizer/tokenizer.h"

/* Pieces, ids and flags into v: 0, or -EINVAL (a key of the wrong type, arrays of different lengths), -ENOMEM. Texts
 * point into w's mapped file; v->pieces is malloc'ed, and the caller frees it whatever comes back. */
int vocabulary_pieces(Vocabulary *v, const Weights *w, char *err, size_t errlen);
int vocabulary_is(const Weights *w, const char *model); /* 1 where tokenizer.ggml.model is this text */
/* A flag or an id into *out, -1 where the key is absent; and the line of a key that is not as it should be. */
int vocabulary_number(int *out, const Weights *w, const char *key, int flag, char *err, size_t errlen);
int vocabulary_wrong(const Weights *w, const char *key, const char *want, char *err, size_t errlen);

#endif
