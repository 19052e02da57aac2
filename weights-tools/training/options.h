/* weights-tools/training/options.h - what ./run train is told, and its table. */
#ifndef TRAINING_OPTIONS_H
#define TRAINING_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

enum { TRAINING_TEXTS = 16 };

typedef struct TrainingOptions {
    const char *out;
    /* data */
    const char *texts[TRAINING_TEXTS];
    int n_texts;
    const char *held, *separator, *tokenizer, *mix;
    double held_share;
    int documents, words, whole_words;
    double mask_share;
    /* the model */
    const char *family, *from;
    int layers, d_model, heads, kv_heads, head_dim, d_ff, context, own_head;
    const char *attention, *form, *phi, *phi_key;
    double epsilon;
    int favor_features, window;
    /* positions */
    const char *position, *pairing;
    double theta;
    int rotary_dim, log_n, train_frequencies;
    /* steps */
    int steps, batch, warmup, seed;
    double rate, least, decay, clip, beta1, beta2;
    /* running */
    int threads, held_every, resume, force, quiet, help;
    double save_every;
    const char *csv, *svg, *kernels;
    int sandbox, no_sandbox; /* the program's */
} TrainingOptions;

typedef struct {
    const char *name, *letter, *value; /* "--layers", NULL or "-j", "N"; value NULL: a flag */
    enum { TRAINING_WORD, TRAINING_WHOLE, TRAINING_REAL, TRAINING_FLAG, TRAINING_TEXT } type;
    size_t at;                         /* its place in TrainingOptions */
    double min, max;
    int settles;                       /* 1: a run that goes on must have the same */
    const char *help;                  /* NULL name: a heading */
    const char *(*choice)(int i);      /* the i-th value, NULL behind the last; help lists them behind a colon */
    const char *const *words;          /* .. or all of them, NULL behind the last */
    const char *(*no_use)(const TrainingOptions *o); /* why that training has none for it, or NULL; NULL: all have */
} TrainingOption;
extern const TrainingOption training_options[]; /* ended by a row without help */

extern const TrainingOptions training_usual;
extern const char *const training_families[]; /* "llama", "roformer", NULL */
/* The words behind the program's name into o, which is training_usual. 0, or -EINVAL and a line: an unknown option
 * (with the nearest one), no value, a value out of range, an option that this training has no use for, one word too
 * many, none. */
int training_parse(TrainingOptions *o, int argc, char **argv, char *err, size_t errlen);
/* What a run that goes on must share, as one line "layers=6 d-model=128 .. ids=..", the last a hash of what its texts
 * became: malloc'ed, or NULL without memory. */
char *training_settings(const TrainingOptions *o, uint64_t ids);

#endif
