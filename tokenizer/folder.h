/* tokenizer/folder.h - a Hugging Face folder: which file holds the vocabulary, and what the JSON files beside it
 * change. */
#ifndef TOKENIZER_FOLDER_H
#define TOKENIZER_FOLDER_H

#include "internal.h"

typedef struct {
    char *vocabulary, *merges; /* malloc'ed paths, or NULL; merges: of a vocab.json that goes with it */
    const char *other;         /* without a vocabulary: what else is there that is not read, or NULL */
} FolderFiles;

/* words: a vocab.txt counts, whatever stands beside it. 0, or a negative errno: it cannot be told, and f is empty. */
int folder_find(FolderFiles *f, const char *folder, int words);
void folder_files_free(FolderFiles *f);
/* GGUF's name of the pre-tokenizer that tokenizer_config.json's tokenizer_class has, or NULL. */
int folder_class(const char *folder, const char **pre, char *err, size_t errlen);
/* What the JSON files say, of a Tokenizer that was read and is not finished. */
int folder_settings(Tokenizer *t, const char *folder, char *err, size_t errlen);

#endif
