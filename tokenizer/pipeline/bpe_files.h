/* tokenizer/pipeline/bpe_files.h - the readers of byte-level BPE without a tokenizer.json, and the vocabularies they
 * know by their content. After each of them t's pieces are finished; its added tokens are not (pipeline_finish_added),
 * so that more may come. */
#ifndef BPE_FILES_H
#define BPE_FILES_H

#include "pipeline.h"

int tiktoken_is(const uint8_t *data, size_t size);
/* pre: GGUF's name of the pre-tokenizer that the caller wants; folder_class: of the one that tokenizer_config.json's
 * class has. Each may be NULL. */
int tiktoken_read(Tokenizer *t, const uint8_t *data, size_t size, const char *pre, char *err, size_t errlen);
int vocab_merges_read(Tokenizer *t, const char *vocab, const char *merges, const char *pre, const char *folder_class,
                      char *err, size_t errlen);
int gpt2_vocabulary(Tokenizer *t, const Vocabulary *v, const char *pre, char *err, size_t errlen);

/* Their parts: a pipeline that spells bytes; a piece, given as bytes, behind the others; and once the pieces are
 * finished all that joins two pieces into one, by the rank of that, from id `first` on. */
int bytes_begin(Tokenizer *t, char *err, size_t errlen);
int rank_add(Tokenizer *t, const Text *raw, char *err, size_t errlen);
int ranks_join(Tokenizer *t, size_t first, char *err, size_t errlen);

/* bpe_known.c: a vocabulary whose pieces are those of a published one. */
typedef struct {
    const char *name, *pre;    /* pre: GGUF's name of its pre-tokenizer */
    uint64_t hash;
    size_t least, most;        /* pieces, where others have the same hash; 0: no bound */
    const char *const *tokens; /* its special tokens, up to NULL; "": an id that none has */
    /* the id of the first, where they stand behind the pieces; 0: they are among the pieces */
    int first;
    int reserved, reserved_from; /* how many more come behind them, from which number on */
    const char *reserved_name;
    const char *bos, *eos;     /* or NULL */
    int add_bos;
} KnownVocabulary;

const KnownVocabulary *known_vocabulary(const Tokenizer *t); /* NULL: none */
int known_tokens(Tokenizer *t, char *err, size_t errlen);    /* its special tokens, where it is known */

#endif
