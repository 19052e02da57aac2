/* text/open.c - the tokenizer of a model. */
#include "open.h"

#include "gguf_pieces.h"
#include "vocabulary.h"
#include "base/paths.h"

#include <errno.h>
#include <stdlib.h>

static int find_in(char **path, const char *folder) {
    static const char *const names[] = {"tokenizer.bin", "tokenizer.json", "tokenizer.model", "spiece.model",
                                        "vocab.txt"};
    return file_find(path, folder, names, 5, file_exists);
}

int vocabulary_here(char **path) { return find_in(path, "."); }

/* The file's own: a GGUF's metadata, a Hugging Face folder's files. -ENOENT where it has none. */
static int open_own(Tokenizer **t, const Weights *w, const TokenizerOptions *o, char *err, size_t errlen) {
    TokenizerOptions own = *o;
    if (w->format == FORMAT_HF) return tokenizer_open_with(t, w->folder, o, err, errlen);
    if (w->format != FORMAT_GGUF || !weights_meta(w, "tokenizer.ggml.model"))
        return base_error(err, errlen, -ENOENT, "%s: no tokenizer in it, no tokenizer.bin beside it; give one with -z",
                          w->path);
    Vocabulary v;
    int rc = vocabulary_from_weights(&v, w, err, errlen);
    if (rc == 0 && own.lower_case < 0)
        rc = vocabulary_number(&own.lower_case, w, "tokenizer.ggml.lower_case", 1, err, errlen);
    if (rc == 0) rc = tokenizer_from_vocabulary_with(t, &v, &own, w->path, err, errlen);
    vocabulary_free(&v);
    return rc;
}

/* The one beside the model, else in the current folder, where it may be anyone's: *exact becomes 1. Where there is none
 * the line in err stays. */
static int open_found(Tokenizer **t, const Weights *w, const TokenizerOptions *o, int *exact, char *err,
                      size_t errlen) {
    char *path = NULL;
    int rc = find_in(&path, w->folder);
    if (rc == 0 && !path) *exact = 1, rc = vocabulary_here(&path);
    if (rc) rc = base_error(err, errlen, -ENOMEM, "%s: no memory", w->folder);
    else rc = path ? tokenizer_open_with(t, path, o, err, errlen) : -ENOENT;
    free(path);
    return rc;
}

int vocabulary_open(Tokenizer **t, const Weights *w, const char *given, size_t vocab_size, const TokenizerOptions *o,
                    char *err, size_t errlen) {
    TokenizerOptions with = o ? *o : (TokenizerOptions){.lower_case = -1};
    *t = NULL;
    if (!with.folder && !given) with.folder = w->folder;
    int rc = given ? tokenizer_open_with(t, given, &with, err, errlen) : open_own(t, w, &with, err, errlen);
    int exact = w->format == FORMAT_LLAMA2C;
    if (rc == -ENOENT && !given) rc = open_found(t, w, &with, &exact, err, errlen);
    if (rc || vocab_size == 0) return rc;
    size_t n = tokenizer_size(*t);
    if (n == vocab_size || (n < vocab_size && !exact)) return 0;
    tokenizer_free(*t);
    *t = NULL;
    return base_error(err, errlen, -EINVAL,
                      "the tokenizer has %zu pieces and the model %zu: they do not belong together (-z gives another)",
                      n, vocab_size);
}
