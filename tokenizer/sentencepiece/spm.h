/* tokenizer/sentencepiece/spm.h - SentencePiece's byte-pair encoding, and the two files that ask for nothing more. */
#ifndef SPM_H
#define SPM_H

#include "tokenizer/bpe/merge.h"
#include "tokenizer/internal.h"

/* For tokenizer_make: llama2.c's tokenizer.bin, a const MappedFile. A body that the Tokenizer has stays; otherwise it
 * gets one that merges. */
int spm_llama2c(Tokenizer *t, const void *file, char *err, size_t errlen);
/* A GGUF file's "llama": its pieces, one after another, of GGUF's types; then, before the ids and switches that the
 * file has, those of one that says nothing, as llama.cpp has them: BOS, and a space in front. */
int spm_add(void *tokenizer, const char *text, size_t len, float score, int type, char *err, size_t errlen);
void spm_usual(Tokenizer *t);

/* For bodies that do more to a text. Begin with the first five; merging_free at the end. */
typedef struct {
    const Tokenizer *t;
    const char *text; /* spaces as the pieces have them */
    Ids *out;
    char *err; size_t errlen;
    Merging merging;   /* symbols that are not merged yet */
    int after_unknown; /* the last id written stands for unknown text */
} SpmWork;

int spm_merge(SpmWork *w, size_t from, size_t end); /* byte-pair encoding of text [from .. end-1] */
int spm_join(void *work, const Symbol *a, const Symbol *b, uint32_t *order);
/* Piece id; -1, or an unused one: text [len] as byte pieces or, where one is not there, as unk, one for a whole run. */
int spm_emit(SpmWork *w, size_t start, size_t len, int id);
size_t spm_spell(const Tokenizer *t, TokenStream *s, int id, char *out);

#endif
