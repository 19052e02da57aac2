/* tests/expanded_files.h - folders of quantized matrices: small ones that tests/oracle stored with what they become,
 * and models of safetensors written tensor by tensor. */
#ifndef EXPANDED_FILES_H
#define EXPANDED_FILES_H

#include "build.h"
#include "model/files/weights.h"

/* path as a model computes with it. */
int expanded_open(Weights *w, const char *path, char *err, size_t errlen);
/* golden/layout holds a matrix, a.weight, that becomes a.expected, and nothing else stays; otherwise a failure. */
void expanded_as_expected(const char *golden, const char *layout);
/* That folder once more, in one of the tests' own. */
const char *expanded_copy(const char *golden, const char *layout, const char *name);

/* With `to` for `from` in one of its files a layout is refused with this line. */
typedef struct {
    const char *layout, *file, *from, *to, *line;
} ExpandRefusal;
void expanded_refused(const char *golden, const ExpandRefusal *row);

/* A tensor's entry, of t's shape, in a header of safetensors; and the file of both. */
void expanded_entry(Bytes *header, const char *name, const char *dtype, const Tensor *t, size_t begin, size_t bytes);
void expanded_write(const char *path, Bytes *header, Bytes *data); /* frees them */

#endif
