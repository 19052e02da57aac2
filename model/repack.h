/* model/repack.h - the matrices' panels or copies. */
#ifndef REPACK_H
#define REPACK_H

#include "model.h"

/* Where m->kernels or the options (may be NULL) want them, when a model is opened. 0, or -ENOMEM, -EINVAL (a hostile
 * file's), -EINTR (o->progress said stop), and a line. */
int model_repack(Model *m, const ModelOptions *o, char *err, size_t errlen);

#endif
