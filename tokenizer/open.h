/* tokenizer/open.h - tokenizers from files, and what one may ask of them besides tokenizer.h.
 *
 *     Tokenizer *t;
 *     if (tokenizer_open(&t, "tokenizer.model", err, sizeof err)) ... err holds one English line ...
 *     int *ids;
 *     size_t n;
 *     if (tokenizer_encode(t, text, len, ENCODE_BOS, &ids, &n, err, sizeof err)) ...
 *     free(ids);
 *     tokenizer_free(t);
 */
#ifndef TOKENIZER_OPEN_H
#define TOKENIZER_OPEN_H

#include "inspect.h"
#include "vocabulary.h"

/* Open a tokenizer file, told by its bytes: tokenizer.json, SentencePiece's tokenizer.model, llama2.c's tokenizer.bin,
 * WordPiece's vocab.txt (text, a piece a line, one of them [UNK]), tiktoken's ranks; or a folder that holds one of them
 * or a pair like vocab.json and merges.txt (README.md has the order); there tokenizer_config.json and added_tokens.json
 * are read too. Errors: -ENOENT, -EINVAL (broken, or of a kind that is named in the line, or jieba's dictionary
 * missing), -ENOMEM. *t is NULL then; otherwise the caller frees it. A tokenizer.bin that was cut between two pieces
 * may open, and so may a vocab.txt: compare tokenizer_size with the model's vocabulary. */
int tokenizer_open(Tokenizer **t, const char *path, char *err, size_t errlen);
/* The same from a vocabulary; name is what error lines call it. */
int tokenizer_from_vocabulary(Tokenizer **t, const Vocabulary *v, const char *name, char *err, size_t errlen);

/* The other way: what a GGUF file would hold of t. v->pieces is one malloc'ed block, texts, merges and map and all,
 * which the caller frees; v->model and v->pre are static. Errors: -EINVAL (a kind or a setting that GGUF's keys cannot
 * say; name is what the line calls t), -ENOMEM; *v is zeroed then. */
int tokenizer_vocabulary(Vocabulary *v, const Tokenizer *t, const char *name, char *err, size_t errlen);

/* What only some kinds ask for; others pass over it. The first four are WordPiece's. A word model's vocabulary (one
 * piece in a hundred or more has several Chinese characters: RoFormer v1, WoBERT) needs jieba's dictionary. */
typedef struct {
    /* Path of the dictionary: jieba cuts every text, as transformers' RoFormerTokenizer does, whatever the vocabulary.
     * NULL: a word model's is looked for in folder, as jieba.dict, jieba.dict.utf8 or dict.txt; a vocabulary of
     * characters does without, as BertTokenizer. */
    const char *jieba;
    const char *folder; /* where to look; NULL: where the vocabulary's file is (from a Vocabulary: nowhere) */
    int lower_case;     /* 1, 0, or -1: as tokenizer_config.json says (do_lower_case), else 1 */
    int bert4keras;     /* 1: bert4keras' order of steps; 0: transformers' */
    /* What other kinds ask for: GGUF's name of the pre-tokenizer ("llama-bpe", "qwen2" ..) for files that do not say,
     * or NULL; and who encodes a tokenizer.model: NULL or "own", or "sentencepiece", its own library, for a program
     * built with SENTENCEPIECE=1. Anything else is refused, and so are other files then. */
    const char *pre, *backend;
} TokenizerOptions;

/* The names that pre may have, the i-th, or NULL behind the last. */
const char *tokenizer_pre(size_t i);

/* tokenizer_open and tokenizer_from_vocabulary with options; NULL: {.lower_case = -1}, what those two take. */
int tokenizer_open_with(Tokenizer **t, const char *path, const TokenizerOptions *o, char *err, size_t errlen);
int tokenizer_from_vocabulary_with(Tokenizer **t, const Vocabulary *v, const TokenizerOptions *o, const char *name,
                                   char *err, size_t errlen);

/* 1 where path is a file that tokenizer_open would know by its bytes (it may still be broken), or a folder with one by
 * its name; nothing is reported. A negative errno where that cannot be told (memory, descriptors, the disk). */
int tokenizer_probe(const char *path);

#endif
