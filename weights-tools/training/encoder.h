/* weights-tools/training/encoder.h - what a RoFormer needs beside a decoder: WordPiece, masks, other keys. Functions
 * that return int return 0 or a negative errno and a line. */
#ifndef TRAINING_ENCODER_H
#define TRAINING_ENCODER_H

#include "options.h"
#include "train/corpus.h"
#include "weights-tools/source.h"

/* Lines of BERT's vocab.txt, from a file, a model or the texts' words. */
typedef struct {
    char *text;         /* [n]; owned */
    size_t n;
    uint8_t *continues; /* [lines]: MaskPlan's; owned */
} EncoderWords;

int encoder_words(EncoderWords *w, Tokenizer **t, const TrainingOptions *o, char *err, size_t errlen);
void encoder_words_free(EncoderWords *w); /* accepts a zeroed struct */
int encoder_masks(MaskPlan *m, EncoderWords *w, const TrainingOptions *o, char *err, size_t errlen);
int encoder_model(Config *c, const TrainingOptions *o, char *err, size_t errlen); /* beside sizes: what is RoFormer's */
int encoder_keys(Source *out, const EncoderWords *w, char *err, size_t errlen);

#endif
