/* weights-tools/training/setup.h - options as what a course needs: a tokenizer, texts, a Config, a trainee. And files:
 * the model, and a checkpoint, which is a model with AdamW's state beside it, so that ./run opens it, too.
 *
 *     TrainingSetup s;
 *     if (setup_init(&s, &options, err, errlen)) ...
 *     course_run(&s.trainee, &s.course, s.from, ...)
 *     setup_write(&s, path, step, err, errlen);
 *     setup_free(&s); */
#ifndef TRAINING_SETUP_H
#define TRAINING_SETUP_H

#include "encoder.h"
#include "train/course.h"

typedef struct {
    const TrainingOptions *options;
    char *settings;         /* training_settings; owned */
    char *checkpoint;       /* path; owned */
    Tokenizer *tokenizer;
    int encodes;            /* a RoFormer */
    EncoderWords words;     /* its vocabulary */
    Corpus corpus, held;
    Positions positions;    /* where they are no RoPE: trainee.config's */
    Trainee trainee;
    BatchPlan plan;
    Course course;
    uint64_t from;          /* steps done already */
} TrainingSetup;

/* 0, or a negative errno and a line: -ENOTSUP where options are at fault, for themselves, together or for so
 * short a text. With options->resume the trainee is as the checkpoint has it: -ENOENT where there is none, -EINVAL
 * where it was made with other settings. */
int setup_init(TrainingSetup *s, const TrainingOptions *o, char *err, size_t errlen);
void setup_free(TrainingSetup *s); /* accepts a zeroed struct */

/* Entries of a head that rotate, as the file says them. */
int heads_rotary_dim(const TrainingOptions *o, const Config *c);

/* 0, or the line of what setup_write would refuse: now, and not when all is learned. setup_init asks. */
int setup_check(const TrainingSetup *s, char *err, size_t errlen);

/* The model after `step` steps as a GGUF file in F32; moments: AdamW's state, too, as tensors train.m.NAME and
 * train.v.NAME, and keys train.step and train.settings. A file appears whole or not at all. */
int setup_write(TrainingSetup *s, const char *path, uint64_t step, int moments, char *err, size_t errlen);

#endif
