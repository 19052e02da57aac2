/* weights-tools/sidecars.h - the small files beside the weights: found beside a checkpoint, put beside a safetensors
 * file.
 *
 * Nothing is ever overwritten: a file that is there already must hold the same bytes. */
#ifndef SIDECARS_H
#define SIDECARS_H

#include "buffer.h"

/* What was given, else the first of names [n] that is in folder: *path malloc'ed, NULL where none is. 0 or -ENOMEM. */
int sidecar_find(char **path, const char *given, const char *folder, const char *const *names, size_t n);

typedef struct {
    const char *name;  /* in the new folder: "config.json" */
    char *source;      /* the file to copy; or NULL */
    Buffer text;       /* what to write where there is no source */
} Sidecar;

enum { SIDECARS_MAX = 24 };

typedef struct {
    char *folder; /* where they go */
    Sidecar items[SIDECARS_MAX];
    int n;
} Sidecars;

/* Start a list for the folder that `out` will stand in. 0 or -ENOMEM. */
int sidecars_begin(Sidecars *s, const char *out);
/* A file that is copied (path is copied, too), or text that s owns from now on. */
void sidecars_copy(Sidecars *s, const char *name, const char *path);
void sidecars_write(Sidecars *s, const char *name, Buffer text);
/* The files that Hugging Face's folders have, from `folder`, except those listed already; the tokenizer's only where
 * told. 0 or -ENOMEM. */
int sidecars_common(Sidecars *s, const char *folder, int tokenizer);

/* The names that they may have; NULL behind the last. */
const char *sidecar_name(size_t i);

/* 0 where each can be put there: no other file has the name. To be asked before anything is written. */
int sidecars_check(const Sidecars *s, char *err, size_t errlen);
/* Write those that are not there yet. */
int sidecars_finish(const Sidecars *s, char *err, size_t errlen);
void sidecars_free(Sidecars *s); /* accepts a zeroed struct */

#endif
