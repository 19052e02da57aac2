/* text/sentence.h - how a text becomes one vector, as the model's files say it.
 *
 *     Sentence x;
 *     if (sentence_open(&x, &model, err, sizeof err)) ...
 *     const char *prompt = sentence_prompt(&x, "query");    what stands in front of such a text; NULL: no such task
 *     encoder_read(&session, texts.texts, texts.n, ..);
 *     sentence_vector(&x, &session, &texts, i, 0, v);             [x.width]
 *     sentence_close(&x);
 *
 * In a folder sentence-transformers' modules.json says it, and the files that it names: pooling, dense layers, a norm;
 * prompts stand in config_sentence_transformers.json, or config.json's task_instructions; what is done to a text before
 * it is read, in sentence_bert_config.json and the tokenizer's files. A GGUF file has pooling_type, dense layers, and
 * convert's keys. What neither says goes by the architecture (sentence.c has the table). */
#ifndef SENTENCE_H
#define SENTENCE_H

#include "texts.h"

enum { SENTENCE_DENSE = 4, SENTENCE_PROMPTS = 256 };

typedef struct {
    Weights file;    /* its folder's; closed with the Sentence */
    Matrix weight;   /* [out, in] */
    const float *bias; /* [out], or NULL */
    int tanh;        /* 1: behind it; 0: nothing is */
} SentenceDense;

typedef struct { const char *task, *text; } SentencePrompt;

typedef struct {
    const Model *model;
    Pooling pooling;
    int normalize;   /* to length 1 */
    int layer_norm;  /* before a vector is cut: mean 0 and variance 1 (nomic-embed) */
    int unpooled;    /* 1: modules.json has no Pooling, so a text has no vector by it */
    size_t width;    /* of a vector that is not cut */
    size_t longest;  /* tokens that sentence-transformers reads of a text, which is not cut here; 0: not said */
    size_t cut;      /* entries of a vector that it would leave, likewise */
    SentenceDense dense[SENTENCE_DENSE];
    size_t n_dense;
    SentencePrompt prompts[SENTENCE_PROMPTS];
    size_t n_prompts;
    const char *usual; /* the task of a text where none is said; NULL: none */
    Weights memory;  /* owns texts and arrays */
    float *room[2];  /* [widest] */
    uint8_t *packed;
} Sentence;

/* m must outlive x. Errors: -EINVAL (a module that is not known here, shapes that do not fit), those of the files,
 * -ENOMEM; nothing is held then. */
int sentence_open(Sentence *x, const Model *m, char *err, size_t errlen);
void sentence_close(Sentence *x); /* accepts a zeroed struct */

/* What stands in front of a text of that task (NULL: of the usual one, or "" where there is none): query and document
 * go by the names that models have for them. NULL: no such task. */
const char *sentence_prompt(const Sentence *x, const char *task);
/* The tasks' names with commas between, into out [n]. */
void sentence_tasks(const Sentence *x, char *out, size_t n);

/* Text i of texts, which s has just read, as a vector out [width]: pooled, through dense layers, cut to its first
 * `dimensions` entries (0: not) and normalised as the files say. */
void sentence_vector(const Sentence *x, Session *s, const Texts *texts, size_t i, size_t dimensions, float *out);

#endif
