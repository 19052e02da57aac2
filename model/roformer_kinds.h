/* model/roformer_kinds.h - what the numbers of a RoformerConfig (model.h) mean, and the words for them. */
#ifndef ROFORMER_KINDS_H
#define ROFORMER_KINDS_H

/* Mask (model.h) is which keys a query sees: those up to itself; all that are not padding; or (UniLM) all of the text's
 * first segment and, in the second, those up to itself: with type ids as segments, key j where c[j] <= c[i], c the
 * running sum of the ids. */
/* NONE: no RoFormer. */
typedef enum { ROFORMER_NONE, ROFORMER_V1, ROFORMER_V2, ROFORMER_GAU } RoformerVariant;
typedef enum { POOLER_NONE, POOLER_TANH, POOLER_LINEAR } Pooler;
/* What the classifier reads: the text's first token; every token; every token, for ELECTRA's question "was it
 * replaced?". */
typedef enum { CLASSIFIER_NONE, CLASSIFIER_SEQUENCE, CLASSIFIER_TOKEN, CLASSIFIER_REPLACED } Classifier;

/* What CLASSIFIER_SEQUENCE asks: the first token; what the pooler makes of it; the mean of all tokens; or each, whose
 * logits' mean it takes. */
typedef enum { CLASSIFIER_READS_FIRST, CLASSIFIER_READS_POOLED, CLASSIFIER_READS_MEAN, CLASSIFIER_READS_EACH }
    ClassifierReads;

/* What its numbers are: which one of the labels; which of them, each for itself; or numbers that were to be found. */
typedef enum { PROBLEM_NONE, PROBLEM_SINGLE, PROBLEM_MULTI, PROBLEM_REGRESSION } Problem;

/* The words that files and options have for these, in the order of the values; NULL after the last. */
extern const char *const roformer_variant_names[]; /* "", "v1", "v2", "gau-alpha" */
extern const char *const mask_names[];             /* "causal", "padding", "unilm" (Mask, model.h) */
extern const char *const pooler_names[];           /* "none", "tanh", "linear" */
extern const char *const problem_names[];          /* "", and Hugging Face's for problem_type */
/* Where word stands among names, or -1. */
int name_index(const char *const *names, const char *word);

#endif
