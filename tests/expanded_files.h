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

/* With `to` for `from` in its config.json a layout is of a way to quantize that is not read: the tensor of codes stays
 * as it is. */
void expanded_not_read(const char *golden, const char *layout, const char *from, const char *to, const char *codes);
/* That file of a layout is refused when it is cut, at each length. */
void expanded_cut(const char *golden, const char *layout);

/* A tensor's entry, of t's shape, in a header of safetensors; and the file of both. */
void expanded_entry(Bytes *header, const char *name, const char *dtype, const Tensor *t, size_t begin, size_t bytes);
void expanded_write(const char *path, Bytes *header, Bytes *data); /* frees them */

#endif
