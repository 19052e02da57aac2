/* tokenizer/vocabulary.h - a vocabulary as a plain struct: between the files that hold one and the tokenizers. */
#ifndef TOKENIZER_VOCABULARY_H
#define TOKENIZER_VOCABULARY_H

#include "tokenizer.h"

/* text [len] is UTF-8, not NUL-terminated; that of a merge is "left right", as merges.txt writes it. */
typedef struct { const char *text; size_t len; float score; int type; } Piece;
typedef struct { const char *text; size_t len; } Merge;

/* A vocabulary as a GGUF file holds it. Numbers are -1 where it has no such key: then the model's default holds. */
typedef struct {
    const char *model;    /* tokenizer.ggml.model: "llama", "t5", "gpt2", "wordpiece" (pieces as in vocab.txt) .. */
    const Piece *pieces;  /* [n]; the texts need not outlive the call */
    const Merge *merges;  /* [n_merges] of a "gpt2", the first joins first; NULL: it has no such key */
    const void *charsmap; /* [charsmap_size] of a "t5": the normalizer's, as in tokenizer.model; NULL: none */
    size_t n, n_merges, charsmap_size;
    const char *pre;      /* tokenizer.ggml.pre of a "gpt2", or NULL */
    const char *json;     /* [json_size] tokenizer.huggingface.json: all of a tokenizer.json, which counts; or NULL */
    size_t json_size;
    const char *lost;     /* of a tokenizer at hand (tokenizer_vocabulary): what no other key says; NULL: nothing */
    int strips_behind;    /* 1: a Phi-3's, whose control pieces take the spaces behind them */
    const char *differs;  /* .. in what a GGUF's readers differ from it, though it is written; NULL: in nothing */
    int bos_id, eos_id, unk_id;
    int add_bos, add_eos, add_space_prefix, remove_extra_whitespaces; /* 0, 1 or -1 */
    int lower_case, strip_accents; /* 0, 1 or -1: tokenizer.ggml.normalizer.* of a "bert" */
} Vocabulary;

#endif
