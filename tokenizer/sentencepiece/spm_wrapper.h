/* tokenizer/sentencepiece/spm_wrapper.h - a C face on SentencePiece's own C++ library, and the Tokenizer's body that
 * asks it. Linked in by `make SENTENCEPIECE=1` (Debian: libsentencepiece-dev); the six spm_library_ functions are there
 * only then.
 *
 * A model is opened from the bytes of its tokenizer.model. Nothing here throws; errors are the library's own words. */
#ifndef SPM_WRAPPER_H
#define SPM_WRAPPER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SpmLibrary SpmLibrary;

/* data [size] need not outlive the call. 0, -EINVAL (the library refuses it) or -ENOMEM; *l is NULL then. */
int spm_library_open(SpmLibrary **l, const void *data, size_t size, char *err, size_t errlen);
void spm_library_close(SpmLibrary *l); /* accepts NULL */
int spm_library_size(const SpmLibrary *l); /* pieces */
/* text [len] to ids; *ids is malloc'ed, never NULL on success. */
int spm_library_encode(const SpmLibrary *l, const char *text, size_t len, int **ids, size_t *n, char *err,
                       size_t errlen);
/* ids [n] to text; *text is malloc'ed, never NULL on success, not NUL-terminated. */
int spm_library_decode(const SpmLibrary *l, const int *ids, size_t n, char **text, size_t *len, char *err,
                       size_t errlen);
/* The text of one id that stands behind others, so that no space in front of it is dropped. */
int spm_library_decode_behind(const SpmLibrary *l, int id, char **text, size_t *len, char *err, size_t errlen);

#ifdef __cplusplus
}
#endif

#endif
