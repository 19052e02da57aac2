/* text/gguf_pieces.h - the keys tokenizer.ggml.* of a GGUF file, as far as SentencePiece's BPE needs them. */
#ifndef GGUF_PIECES_H
#define GGUF_PIECES_H

#include "model/files/weights.h"
#include "tokenizer/sentencepiece/spm.h"

/* For tokenizer_make: a const Weights whose vocabulary is a "llama". -EINVAL too where it has what spm.c cannot do. */
int gguf_spm(Tokenizer *t, const void *weights, char *err, size_t errlen);

/* The rest is for other vocabularies, too. 0, or -EINVAL: a key of the wrong type, arrays of different lengths.
 * vocabulary_pieces: each piece in turn to add, which may refuse it; the texts lie in w's mapped file. */
typedef int AddPiece(void *to, const char *text, size_t len, float score, int type, char *err, size_t errlen);
int vocabulary_pieces(const Weights *w, AddPiece *add, void *to, char *err, size_t errlen);
/* Ids and flags, what is absent stays: BOS, EOS, unknown; whether to add BOS, EOS, a space, and remove spaces. */
int vocabulary_numbers(const Weights *w, int *const to[7], char *err, size_t errlen);
int vocabulary_number(int *out, const Weights *w, const char *key, int flag, char *err, size_t errlen);
int vocabulary_is(const Weights *w, const char *model); /* 1 where tokenizer.ggml.model is this text */
int vocabulary_wrong(const Weights *w, const char *key, const char *want, char *err, size_t errlen); /* the line */

#endif
