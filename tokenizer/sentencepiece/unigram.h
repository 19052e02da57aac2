/* tokenizer/sentencepiece/unigram.h - the best way to cut a text into pieces that each have a probability (Kudo,
 * arXiv:1804.10959).
 *
 *     UnigramRun run = {0};                    kept between calls: short words allocate nothing
 *     unigram_build(&u, t, UNIGRAM_LIBRARY, 0, err, errlen);
 *     unigram_encode(u, t, text, n, &run, &ids);
 *     unigram_run_free(&run);
 *     unigram_free(u); */
#ifndef UNIGRAM_H
#define UNIGRAM_H

#include "tokenizer/internal.h"

typedef struct Unigram Unigram;

/* Whose ids. The SentencePiece library (0.2.3) adds scores as float and takes pieces that text may become; Hugging
 * Face's tokenizers (0.23) adds them as double, takes every piece of the vocabulary ("</s>" too), and turns a run of
 * unknown characters into bytes as a whole or not at all. */
typedef enum { UNIGRAM_LIBRARY, UNIGRAM_TOKENIZERS } UnigramRules;

typedef struct {
    struct UnigramNode *nodes;
    size_t cap;
} UnigramRun;

enum { UNIGRAM_PIECE_MAX = 1024 }; /* bytes of the longest piece: bounds the work a character */

/* Build the tree of t's first n_pieces pieces (0: of all) from their texts and scores; t needs no pieces_finish yet. *u
 * is the caller's. Errors: -ENOMEM, -EINVAL (a piece longer than UNIGRAM_PIECE_MAX; no memory is kept then). */
int unigram_build(Unigram **u, const Tokenizer *t, UnigramRules rules, size_t n_pieces, char *err, size_t errlen);
void unigram_free(Unigram *u); /* accepts NULL */

/* text [n], n at most INT32_MAX, already normalized, as ids behind those in out. Unknown characters become byte pieces
 * where t has all of theirs, else unk, one for a run of them. t needs its pieces_finish. Work is n times the longest
 * piece, memory 16 bytes for each byte of the longest stretch over whose every character some piece leads (a word, in
 * text with spaces). Errors: -ENOMEM, -EINVAL (unknown text, and t has neither bytes nor unk; nothing is written into
 * err: the caller says it). */
int unigram_encode(const Unigram *u, const Tokenizer *t, const char *text, size_t n, UnigramRun *run, Ids *out);
void unigram_run_free(UnigramRun *run); /* accepts a zeroed one */
int unigram_has_bytes(const Tokenizer *t); /* some piece is a byte, which GGUF's "t5" makes no use of */

#endif
