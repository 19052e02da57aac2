/* weights-tools/training/restore.h - parameters from files. */
#ifndef TRAINING_RESTORE_H
#define TRAINING_RESTORE_H

#include "train/trainee.h"

/* All of t's parameters by their names in a GGUF, from any file that source.h reads. 0, or a negative errno and a line:
 * -EINVAL where one is missing or has another shape. */
int restore_model(Trainee *t, const char *path, char *err, size_t errlen);
/* A checkpoint: parameters, both moments, and how many steps were done. -EINVAL where its settings are others. */
int restore_checkpoint(Trainee *t, const char *path, const char *settings, uint64_t *step, char *err, size_t errlen);

#endif
